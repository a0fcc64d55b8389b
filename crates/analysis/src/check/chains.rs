//! Chains: each task is released by the completion of the one before.
//!
//! A task that is released so has at least its period between two releases, whatever comes earlier: its job waits for the end
//! of the period. So every test for sporadic tasks holds for it, and its bound counts from that release. From end to end the
//! chain takes no longer than the sum of the bounds of its tasks (release guard: Sun and Liu, "Synchronization protocols in
//! distributed real-time systems", ICDCS 1996). Why: let R be the sum of the bounds of the tasks before one, whose period is
//! not longer than that of the first. Its job k is released when its predecessor's job k ends, or a period after its own job
//! k − 1. If the latter was released at the latest R after the chain's job k − 1, which came at least a period before the
//! chain's job k, job k is released at the latest R after that too; and job 0 waits for nobody.

use super::report::{Bound, Check, Finding};
use std::fmt;
use tactus_model::System;
use tactus_time::Duration;

/// The verdict on one chain.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ChainVerdict {
    /// Its name.
    pub name: String,
    /// Its deadline from end to end.
    pub deadline: Duration,
    /// It never takes longer than this, while no task takes longer than the file assumes; nothing if one of its tasks has no
    /// bound.
    pub bound: Option<Duration>,
    /// What a run has to keep: the bound, unless some task's declared demand exceeds what it assumes.
    pub promise: Option<Duration>,
    /// The bound of each of its tasks, in their order.
    pub parts: Vec<(String, Option<Duration>)>,
}

/// `chain x: 12 ms of 20 ms (a 3 ms + b 9 ms)`
impl fmt::Display for ChainVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "chain {}: ", self.name)?;
        match self.bound {
            Some(bound) => write!(f, "≤ {bound} of {} ({})", self.deadline, self.sum()),
            None => write!(f, "no bound ({})", self.sum()),
        }
    }
}

impl ChainVerdict {
    fn sum(&self) -> String {
        let part = |(name, bound): &(String, Option<Duration>)| match bound {
            Some(bound) => format!("{name} {bound}"),
            None => format!("{name} has none"),
        };
        self.parts.iter().map(part).collect::<Vec<_>>().join(" + ")
    }
}

/// Judges every chain.
pub(super) fn check(system: &System, check: &mut Check) {
    for chain in &system.chains {
        let of_task = |n: usize, bound: Bound| match bound {
            Bound::Response(response) => Some(response),
            Bound::Tardiness(late) => system.tasks[n].deadline.checked_add(late),
            Bound::None => None,
        };
        let total = |bound: &dyn Fn(usize) -> Bound| {
            chain.tasks.iter().try_fold(Duration::ZERO, |sum, &n| sum.checked_add(of_task(n, bound(n))?))
        };
        let tasks = &check.tasks;
        let parts = chain.tasks.iter().map(|&n| (system.tasks[n].name.clone(), of_task(n, tasks[n].bound))).collect();
        let verdict = ChainVerdict {
            name: chain.name.clone(),
            deadline: chain.deadline,
            bound: total(&|n| tasks[n].bound),
            promise: total(&|n| tasks[n].promise()),
            parts,
        };
        let (what, remedy) = match verdict.bound {
            Some(bound) if bound <= chain.deadline => {
                check.chains.push(verdict);
                continue;
            }
            Some(bound) => (
                format!(
                    "may take {bound} from end to end ({}), over its deadline of {}",
                    verdict.sum(),
                    chain.deadline
                ),
                "shorten its tasks' bounds (more urgent, or less before them), or allow more",
            ),
            None => (format!("has no bound ({})", verdict.sum()), "see what is said of its tasks"),
        };
        let what = format!("chain `{}` {what}", chain.name);
        check.findings.push(Finding { task: None, core: None, line: chain.line, what, remedy: remedy.into() });
        check.chains.push(verdict);
    }
}
