//! Strictly periodic tasks with known offsets: the exact response times, from the schedule itself.
//!
//! Leung and Merrill, "A note on preemptive scheduling of periodic, real-time tasks", IPL 11(3), 1980: with U ≤ 1 the
//! schedule repeats with the hyperperiod H from the largest offset plus H on. So it is worked out, release by release,
//! until the work left of every task at the end of a hyperperiod is what it was at the end of the one before; by then
//! every job that differs from others has been seen. Jobs take their longest time: under both policies on one
//! preemptive processor a shorter one never makes another job later, so the result is the exact worst case over all
//! execution times. It is that of the given offsets only: where the first releases may shift, use
//! [`super::fixed_priority`] and [`super::edf_response`], or [`super::transactions`]. Tractable where the hyperperiod
//! is short; the effort limits it.

use crate::effort::Effort;
use crate::task::{to_duration, Sporadic};
use crate::uniprocessor::overloaded;
use crate::utilisation::gcd;
use tactus_time::Duration;

/// Which job goes first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// The task that stands first in the list.
    FixedPriority,
    /// The earliest absolute deadline; among equals the task that stands first.
    EarliestDeadline,
}

struct Job {
    deadline: u64,
    place: usize,
    release: u64,
    left: u64,
}

/// The longest response of every task, the first job of task i released at `offsets[i]`. Jitter is not looked at.
///
/// `None` on overload, with a missing offset, or where the effort did not do.
pub fn responses(tasks: &[Sporadic], offsets: &[Duration], order: Order, effort: &mut Effort) -> Option<Vec<Duration>> {
    if overloaded(tasks) || offsets.len() != tasks.len() {
        return None;
    }
    let mut cycle = 1u128;
    for τ in tasks {
        let t = u128::from(τ.period.as_nanos());
        cycle = (cycle / gcd(cycle, t)).checked_mul(t).filter(|c| *c < 1 << 62)?;
    }
    let cycle = u64::try_from(cycle).ok()?;
    let mut next: Vec<u64> = offsets.iter().map(|o| o.as_nanos()).collect();
    let mut boundary = next.iter().max().copied().unwrap_or(0).checked_add(cycle)?;
    let mut pending: Vec<Job> = Vec::new();
    let mut worst = vec![0u64; tasks.len()];
    let mut before: Option<Vec<u64>> = None;
    let mut now = 0;
    loop {
        if !effort.spend(tasks.len() + pending.len()) {
            return None;
        }
        if now == boundary {
            let mut state = vec![0; tasks.len()];
            pending.iter().for_each(|j| state[j.place] += j.left);
            if before.as_ref() == Some(&state) {
                return Some(worst.into_iter().map(|w| to_duration(i128::from(w))).collect());
            }
            before = Some(state);
            boundary = boundary.checked_add(cycle)?;
        }
        for (place, τ) in tasks.iter().enumerate() {
            if next[place] == now {
                let deadline = now.checked_add(τ.deadline.as_nanos())?;
                pending.push(Job { deadline, place, release: now, left: τ.execution.as_nanos() });
                next[place] = now.checked_add(τ.period.as_nanos())?;
            }
        }
        let coming = next.iter().copied().min().unwrap_or(boundary).min(boundary);
        let urgency = |j: &Job| match order {
            Order::FixedPriority => (0, j.place, j.release),
            Order::EarliestDeadline => (j.deadline, j.place, j.release),
        };
        let Some(first) = (0..pending.len()).min_by_key(|&i| urgency(&pending[i])) else {
            now = coming;
            continue;
        };
        let job = &mut pending[first];
        let stop = coming.min(now + job.left);
        job.left -= stop - now;
        now = stop;
        if job.left == 0 {
            worst[job.place] = worst[job.place].max(now - job.release);
            pending.swap_remove(first);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_make_a_set_fit_that_fails_when_released_together() {
        let ms = Duration::from_millis;
        let tasks = [Sporadic::new(ms(1), ms(4), ms(1)), Sporadic::new(ms(1), ms(4), ms(1))];
        let r = |second| responses(&tasks, &[ms(0), second], Order::FixedPriority, &mut Effort::default()).unwrap();
        assert_eq!(r(ms(0)), [ms(1), ms(2)]);
        assert_eq!(r(ms(2)), [ms(1), ms(1)]);
    }
}
