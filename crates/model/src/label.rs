//! Words for people: names of policies, counts of levels.

use crate::{Mixed, Policy, System};
use tactus_time::Level;

/// The policy's name in running text: `MC²`, `partitioned EDF` …
pub fn policy_label(policy: &Policy) -> &'static str {
    match policy {
        Policy::PartitionedRm => "partitioned RM",
        Policy::PartitionedEdf => "partitioned EDF",
        Policy::GlobalRm => "global RM",
        Policy::GlobalEdf => "global EDF",
        Policy::Ordered { spread, order } => order.policy_labels()[*spread as usize],
        Policy::Mixed(Mixed::Amc) => "AMC",
        Policy::Mixed(Mixed::EdfVd) => "EDF-VD",
        Policy::Partitions => "partitions",
        Policy::Mc2 { .. } => "MC²",
    }
}

/// The policy's name in a system file: `mc2`, `partitioned-edf` …
pub fn policy_key(policy: &Policy) -> &'static str {
    match policy {
        Policy::PartitionedRm => "partitioned-rm",
        Policy::PartitionedEdf => "partitioned-edf",
        Policy::GlobalRm => "global-rm",
        Policy::GlobalEdf => "global-edf",
        Policy::Ordered { spread, order } => order.policy_keys()[*spread as usize],
        Policy::Mixed(Mixed::Amc) => "amc",
        Policy::Mixed(Mixed::EdfVd) => "edf-vd",
        Policy::Partitions => "partitions",
        Policy::Mc2 { .. } => "mc2",
    }
}

impl System {
    /// How many tasks there are at each level, `[A, B, C, D]`; all zero where the policy knows no levels.
    pub fn level_counts(&self) -> [usize; 4] {
        let mut counts = [0; 4];
        for level in self.tasks.iter().filter_map(|task| task.level) {
            counts[level.index()] += 1;
        }
        counts
    }

    /// The same as text, levels without tasks left out: `A 6, B 6, C 10, D 2`; empty where the policy knows no levels.
    pub fn level_summary(&self) -> String {
        let counts = self.level_counts();
        let parts = Level::ALL.iter().filter(|level| counts[level.index()] > 0);
        parts.map(|level| format!("{level} {}", counts[level.index()])).collect::<Vec<_>>().join(", ")
    }
}
