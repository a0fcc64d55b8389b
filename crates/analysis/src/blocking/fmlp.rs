//! FIFO spin locks, all requests of a job together: short resources of the FMLP, holistic bound.
//!
//! Block, Leontyev, Brandenburg and Anderson, "A flexible real-time locking protocol for multiprocessors", RTCSA 2007
//! (FMLP, short resources: non-preemptible FIFO spinning); bound after Brandenburg, "Scheduling and locking in
//! multiprocessor real-time operating systems", PhD thesis, UNC 2011, section 5.4 (holistic blocking analysis). Where
//! [`super::msrp`] lets every request meet the longest section of every core, here the requests of one job to r meet, from a
//! core k, at most as many sections as were requested, and at most those that k's jobs issue while the job is pending:
//!
//! ```text
//! spinᵢ = Σ_r Σ_{k ≠ P} the countᵢ(r) longest of { countₓ(r)·⌈(Rᵢ + Rₓ)/Tₓ⌉ sections of each x on k }
//! ```
//!
//! Responses depend on each other and are iterated upwards from C until none grows. Sufficient, never worse than MSRP
//! where both bounds exist within the periods.

use super::{msrp, responses_with, Sections, Sharing};
use crate::effort::Effort;
use crate::task::{ceil_div, to_duration, Sporadic};
use tactus_time::Duration;

/// The response-time bound of every task on its core; none for any where the iteration does not end within T (a job
/// then has more than one predecessor pending) or the effort does not do.
pub fn responses(tasks: &[Sharing], effort: &mut Effort) -> Vec<Option<Duration>> {
    let none = vec![None; tasks.len()];
    let sections = Sections::of(tasks);
    let blocking: Vec<Duration> = (0..tasks.len()).map(|i| msrp::blocking(&sections, i)).collect();
    let mut now: Vec<Duration> = tasks.iter().map(|s| s.task.execution).collect();
    loop {
        if !effort.spend(tasks.len() * tasks.len()) {
            return none;
        }
        let inflated: Vec<Sporadic> = (0..tasks.len()).map(|i| inflate(&sections, i, &now)).collect();
        let next = responses_with(tasks, &inflated, |i| blocking[i], effort);
        let within = next.iter().zip(tasks).all(|(r, s)| r.is_some_and(|r| r <= s.task.period));
        if !within {
            return none;
        }
        let next: Vec<Duration> = next.into_iter().flatten().zip(&now).map(|(r, now)| r.max(*now)).collect();
        if next == now {
            return now.into_iter().map(Some).collect();
        }
        now = next;
    }
}

/// The task with spinᵢ on top of its execution time, at most what MSRP puts there.
fn inflate(sections: &Sections, i: usize, responses: &[Duration]) -> Sporadic {
    let own = &sections.tasks[i];
    let ns = |d: Duration| i128::from(d.as_nanos());
    let mut spin = 0;
    for r in own.requests.iter().filter(|r| r.count > 0) {
        for core in sections.elsewhere(own.core, r.resource) {
            let mut left = i128::from(r.count);
            for section in &core.all {
                let task = &sections.tasks[section.task].task;
                let jobs = ceil_div(ns(responses[i]) + ns(responses[section.task]) + task.j(), task.t());
                let met = left.min(i128::from(section.count) * jobs);
                spin += ns(section.length) * met;
                left -= met;
                if left == 0 {
                    break;
                }
            }
        }
    }
    let execution = own.task.execution.checked_add(to_duration(spin)).unwrap_or(Duration::MAX);
    Sporadic { execution, ..own.task }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocking::Request;

    /// The example of SchedCAT's own tests (`tests/locking.py`, `Test_bounds`), with its figures: as many sections as a core's jobs bring
    /// while a job is pending for a period, and MSRP's blocking on arrival.
    #[test]
    fn waiting_and_blocking_of_schedcat_s_example_are_equal() {
        let ns = Duration::from_nanos;
        let task = |core, period, requests: &[(usize, u64, u64)]| Sharing {
            task: Sporadic::implicit(ns(1), ns(period)),
            core,
            requests: requests
                .iter()
                .map(|&(resource, count, length)| Request { resource, length: ns(length), count })
                .collect(),
        };
        let (shared, local) = (0, 99);
        let tasks = [
            task(0, 100, &[(shared, 1, 77)]),
            task(0, 50, &[(shared, 1, 6)]),
            task(0, 10, &[(shared, 1, 5)]),
            task(1, 10, &[(shared, 1, 7)]),
            task(2, 20, &[(shared, 4, 1)]),
            task(2, 30, &[(shared, 1, 7), (local, 1, 1)]),
            task(2, 100, &[(local, 100, 123_456)]),
        ];
        let blocking = [6 + 7 + 7, 5 + 7 + 7, 0, 0, 7 + 7 + 77, 123_456, 0];
        let sections = Sections::of(&tasks);
        assert_eq!([0, 1, 2, 3, 4, 5, 6].map(|i| msrp::blocking(&sections, i)), blocking.map(ns));
        // There a response is taken to be as long as the period.
        let responses: Vec<Duration> = tasks.iter().map(|s| s.task.period).collect();
        let waits = |i| inflate(&sections, i, &responses).execution - ns(1);
        assert_eq!([4, 5, 6].map(waits), [3 * 7 + 2 * 77 + 2 * 6, 7 + 77, 0].map(ns));
    }
}
