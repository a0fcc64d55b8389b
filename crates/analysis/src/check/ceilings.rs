//! What the jobs of one core keep from each other once they have begun.

use crate::effort::Effort;
use crate::task::{Sporadic, Withheld};
use crate::uniprocessor::{fixed_priority, preemption_threshold};
use tactus_model::System;
use tactus_time::Duration;

/// The ceilings of one core, whose tasks are in the order of their urgency.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Ceilings {
    /// By task: how many of the first tasks may preempt it once it has begun.
    preempting: Vec<usize>,
}

impl Ceilings {
    /// Those of the tasks at these places; nothing if there are none.
    pub(super) fn of(system: &System, places: &[usize]) -> Option<Ceilings> {
        let place = |n: &usize| system.scheduling.places.get(*n).copied().unwrap_or_default();
        places.iter().any(|n| place(n).threshold.is_some()).then(|| {
            let above = |(i, n): (usize, &usize)| match place(n).threshold {
                Some(threshold) => places.iter().filter(|other| place(other).priority > threshold).count(),
                None => i,
            };
            Ceilings { preempting: places.iter().enumerate().map(above).collect() }
        })
    }

    /// The test that gives the responses.
    pub(super) fn explanation(&self) -> &'static str {
        "response times with preemption thresholds (Wang and Saksena)"
    }

    /// For how long less urgent jobs that have begun keep the i-th task from its core.
    fn blocking(&self, tasks: &[Sporadic], i: usize) -> Duration {
        let below = (i + 1..tasks.len()).filter(|k| i >= self.preempting[*k]);
        below.map(|k| tasks[k].execution).max().unwrap_or(Duration::ZERO)
    }

    /// The response time of the i-th task. `blocking`: by what the system does.
    pub(super) fn response(
        &self,
        tasks: &[Sporadic],
        i: usize,
        blocking: Duration,
        withheld: &dyn Withheld,
        effort: &mut Effort,
    ) -> Option<Duration> {
        let blocking = blocking.checked_add(self.blocking(tasks, i))?;
        if self.preempting[i] == i {
            return fixed_priority::response(&tasks[i], &tasks[..i], blocking, withheld, effort);
        }
        preemption_threshold::response(&tasks[i], (&tasks[..i], self.preempting[i]), blocking, withheld, effort)
    }
}
