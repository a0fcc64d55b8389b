//! Sensitivity: by how much each execution time may grow, or has to shrink, all else the same.
//!
//! Every test is monotone in execution times, so a binary search over one task's time finds its margin, to a part in
//! 4096 of its period and never beyond it; each step asks the test that accepted the task (after Bini, Di Natale and Buttazzo, "Sensitivity analysis for
//! fixed-priority real-time systems", Real-Time Systems 39, 2008, who do it in closed form for one processor).
//! Under MC² the time in question is that of the task's own level, the other levels' times and the allowances for
//! overheads stay as they are, and what has to hold is what the task's level promises.
//!
//! The searches share an effort, and those that come after its end are left out. So a check of 120 tasks stays quick.

use crate::effort::Effort;
use crate::task::Sporadic;
use std::fmt;
use tactus_time::Duration;

/// How far one execution time is from where the verdict turns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Growth {
    /// It may grow by so much at most, and everything that shares its test still holds.
    By(Duration),
    /// It would have to shrink by so much at least; then everything that shares its test holds.
    Short(Duration),
    /// Its test fails even if it takes one nanosecond.
    NotAlone,
    /// Not looked for: the task has no promise, or the effort was spent before.
    Unknown,
}

impl fmt::Display for Growth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Growth::By(d) => write!(f, "+{d}"),
            Growth::Short(d) => write!(f, "−{d}"),
            Growth::NotAlone => f.write_str("not alone"),
            Growth::Unknown => f.write_str("–"),
        }
    }
}

/// The growth of task `i` of the set; `passes` asks the test with an effort, and says how much that took off it.
pub(crate) fn of(
    tasks: &[Sporadic],
    i: usize,
    most: Duration,
    passes: &mut dyn FnMut(&[Sporadic]) -> Option<bool>,
) -> Growth {
    let mut set = tasks.to_vec();
    let own = tasks[i].execution.as_nanos();
    let step = (tasks[i].period.as_nanos() / STEPS).max(1);
    let mut with = |time: u64| {
        set[i].execution = Duration::from_nanos(time);
        passes(&set)
    };
    match with(own) {
        None => Growth::Unknown,
        Some(true) => match turn(own, most.as_nanos().max(own) + 1, step, &mut with) {
            Some(last) => Growth::By(Duration::from_nanos(last - own)),
            None => Growth::Unknown,
        },
        Some(false) => match with(own.min(1)) {
            None => Growth::Unknown,
            Some(false) => Growth::NotAlone,
            Some(true) => match turn(own.min(1), own, step, &mut with) {
                Some(last) => Growth::Short(Duration::from_nanos(own - last)),
                None => Growth::Unknown,
            },
        },
    }
}

/// The last time that passes, or at most `step` less, where `low` does and `high` does not.
fn turn(mut low: u64, mut high: u64, step: u64, with: &mut dyn FnMut(u64) -> Option<bool>) -> Option<u64> {
    while high - low > step {
        let middle = low + (high - low) / 2;
        if with(middle)? {
            low = middle;
        } else {
            high = middle;
        }
    }
    Some(low)
}

/// Margins are found to this part of a period.
const STEPS: u64 = 4096;

/// A search that steps of a search spend from.
pub(crate) struct SearchBudget {
    left: Effort,
    /// What of it may be spent before the next share begins.
    share: Effort,
}

impl SearchBudget {
    /// With this in it.
    pub(crate) fn with(effort: Effort) -> SearchBudget {
        SearchBudget { left: effort, share: effort }
    }
    /// Keeps what is left for so many shares alike, of which this is one.
    pub(crate) fn part(&mut self, shares: usize) {
        self.share = self.left.part(shares);
    }
    /// One question to a test that may spend at most `step`; `None` once the share is spent. A step that runs out of its
    /// own effort counts as not passed.
    pub(crate) fn ask(&mut self, step: Effort, test: impl FnOnce(&mut Effort) -> bool) -> Option<bool> {
        let mut effort = step.at_most(self.share);
        let before = effort;
        let passed = test(&mut effort);
        self.share.take(before, effort);
        self.left.take(before, effort);
        if !passed && self.share.is_empty() {
            return None;
        }
        Some(passed)
    }
}
