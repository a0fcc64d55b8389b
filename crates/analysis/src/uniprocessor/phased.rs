//! Strictly periodic tasks with known offsets: response times from the schedule itself, exact where nothing blocks and nothing costs.
//!
//! Leung and Merrill, "A note on preemptive scheduling of periodic, real-time tasks", IPL 11(3), 1980: with U ≤ 1 the
//! schedule repeats with the hyperperiod H from the largest offset plus H on. So it is worked out, release by release,
//! until the work left of every task at the end of a hyperperiod is what it was at the end of the one before; by then
//! every job that differs from others has been seen.
//!
//! Jobs take their longest time there. A job that takes less makes no other one late: under both policies on one preemptive processor
//! a job ends when all that is as urgent and was released since some instant t₀ is done, and less of that is done sooner. For the same reason
//! less urgent work that is not preempted, and entries of the scheduler, enter as a bound. Let J be released at *r*, and t₀ ≤ r be the last
//! instant before which nothing as urgent as J was left undone. From t₀ until J ends the processor is busy with at most B of less urgent work that
//! had begun, one entry that was under way, and what was released since, so that J ends by the first instant t > r with, for all t₀ ≤ r,
//!
//! ```text
//! B + E + S(t₀, t) ≤ t − t₀,    S: the execution of jobs as urgent as J released in [t₀, t), and E for each instant of a release
//! ```
//!
//! The largest S(t₀, r) − (r − t₀) over all t₀ is what such jobs have left at *r* in the schedule without B, which is worked out anyway. It
//! holds for any execution times up to the longest, and for no other offsets: where first releases may shift, use
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
    /// The earliest absolute deadline; among equals the task with the least number of its own.
    EarliestDeadline,
}

/// Tasks with known offsets on one processor.
#[derive(Clone, Copy, Debug)]
pub struct Phased<'p> {
    /// The tasks; jitter is not looked at.
    pub tasks: &'p [Sporadic],
    /// When the first job of each is released.
    pub offsets: &'p [Duration],
    /// Which job goes first.
    pub order: Order,
    /// By task, what decides between equal deadlines, the least first; empty where the place in the list does.
    pub ties: &'p [usize],
    /// By task, how long less urgent jobs that have begun keep it from the processor in all; empty if they never do.
    pub blocking: &'p [Duration],
    /// What each instant of a release takes from whoever runs, and an entry that is under way from whoever comes.
    pub entry: Duration,
}

impl<'p> Phased<'p> {
    /// Tasks that nothing blocks, and of which no release costs anything.
    pub fn new(tasks: &'p [Sporadic], offsets: &'p [Duration], order: Order) -> Phased<'p> {
        Phased { tasks, offsets, order, ties: &[], blocking: &[], entry: Duration::ZERO }
    }

    /// The hyperperiod; nothing if it is over 146 years.
    pub fn cycle(&self) -> Option<Duration> {
        let mut cycle = 1u128;
        for τ in self.tasks {
            let t = u128::from(τ.period.as_nanos().max(1));
            cycle = (cycle / gcd(cycle, t)).checked_mul(t).filter(|c| *c < 1 << 62)?;
        }
        Some(Duration::from_nanos(u64::try_from(cycle).ok()?))
    }

    /// How many terms working out the schedule takes at least.
    pub fn terms(&self) -> Option<u64> {
        let last = self.offsets.iter().max().copied().unwrap_or_default();
        let length = self.cycle()?.checked_mul(2)?.checked_add(last)?;
        let jobs = self.tasks.iter().map(|τ| length.as_nanos() / τ.period.as_nanos().max(1) + 1);
        jobs.fold(0u64, u64::saturating_add).checked_mul(3)
    }

    fn urgency(&self, place: usize, release: u64) -> Urgency {
        match self.order {
            Order::FixedPriority => (0, place, release),
            Order::EarliestDeadline => {
                let deadline = release.saturating_add(self.tasks[place].deadline.as_nanos());
                (deadline, self.ties.get(place).copied().unwrap_or(place), release)
            }
        }
    }
}

/// The less, the more urgent.
type Urgency = (u64, usize, u64);

/// A job of the schedule in which nothing blocks.
struct Job {
    urgency: Urgency,
    place: usize,
    left: u64,
}

/// A job and what has to be done before it is sure to have ended.
struct Open {
    urgency: Urgency,
    place: usize,
    release: u64,
    owed: u64,
}

/// The longest response of every task, the first job of task i released at `offsets[i]`. Jitter is not looked at.
///
/// `None` on overload, with a missing offset, or where the effort did not do.
pub fn responses(tasks: &[Sporadic], offsets: &[Duration], order: Order, effort: &mut Effort) -> Option<Vec<Duration>> {
    responses_of(&Phased::new(tasks, offsets, order), effort)
}

/// The same of tasks that others block, and whose releases cost something.
pub fn responses_of(set: &Phased, effort: &mut Effort) -> Option<Vec<Duration>> {
    let Phased { tasks, offsets, .. } = *set;
    if overloaded(tasks) || offsets.len() != tasks.len() {
        return None;
    }
    let cycle = set.cycle()?.as_nanos();
    let entry = set.entry.as_nanos();
    let blocking = |place: usize| set.blocking.get(place).map_or(0, |b| b.as_nanos()).saturating_add(entry);
    let mut next: Vec<u64> = offsets.iter().map(|o| o.as_nanos()).collect();
    let mut boundary = next.iter().max().copied().unwrap_or(0).checked_add(cycle)?;
    // The most urgent first.
    let (mut pending, mut open): (Vec<Job>, Vec<Open>) = (Vec::new(), Vec::new());
    let (mut entries, mut now, mut over) = (0u64, 0, false);
    let mut worst = vec![0u64; tasks.len()];
    let mut before: Option<Vec<u64>> = None;
    loop {
        if !effort.spend(pending.len().min(tasks.len()) + open.len() + 1) {
            return None;
        }
        let at = next.iter().copied().min().unwrap_or(boundary).min(boundary);
        serve(&mut pending, &mut entries, at - now);
        open.retain_mut(|job| {
            let ends = job.owed <= at - now;
            if ends {
                worst[job.place] = worst[job.place].max(now + job.owed - job.release);
            }
            job.owed = job.owed.saturating_sub(at - now);
            !ends
        });
        now = at;
        if over && open.is_empty() {
            return Some(worst.into_iter().map(|w| to_duration(i128::from(w))).collect());
        }
        if now == boundary && !over {
            let mut state = vec![0; tasks.len() + 1];
            pending.iter().for_each(|j| state[j.place] += j.left);
            state[tasks.len()] = entries;
            over = before.as_ref() == Some(&state);
            before = Some(state);
        }
        if now == boundary {
            boundary = boundary.checked_add(cycle)?;
        }
        if !next.contains(&now) {
            continue;
        }
        entries = entries.checked_add(entry)?;
        open.iter_mut().for_each(|job| job.owed = job.owed.saturating_add(entry));
        let released: Vec<usize> = (0..tasks.len()).filter(|place| next[*place] == now).collect();
        for &place in &released {
            let (urgency, left) = (set.urgency(place, now), tasks[place].execution.as_nanos());
            next[place] = now.checked_add(tasks[place].period.as_nanos())?;
            now.checked_add(tasks[place].deadline.as_nanos())?;
            let more = open.iter_mut().filter(|job| urgency < job.urgency);
            more.for_each(|job| job.owed = job.owed.saturating_add(left));
            let at = pending.partition_point(|job| job.urgency < urgency);
            pending.insert(at, Job { urgency, place, left });
        }
        // What comes after the schedule has begun to repeat has been seen.
        for &place in released.iter().filter(|_| !over) {
            let urgency = set.urgency(place, now);
            let ahead: u64 = pending.iter().take_while(|job| job.urgency <= urgency).map(|job| job.left).sum();
            let owed = ahead.checked_add(entries)?.checked_add(blocking(place))?;
            open.push(Open { urgency, place, release: now, owed });
        }
    }
}

/// Serves entries and then the most urgent jobs for a time.
fn serve(pending: &mut Vec<Job>, entries: &mut u64, mut time: u64) {
    let served = time.min(*entries);
    *entries -= served;
    time -= served;
    let mut done = 0;
    for job in pending.iter_mut() {
        let served = job.left.min(time);
        job.left -= served;
        time -= served;
        if job.left > 0 {
            break;
        }
        done += 1;
    }
    pending.drain(..done);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    #[test]
    fn offsets_make_a_set_fit_that_fails_when_released_together() {
        let tasks = [Sporadic::new(ms(1), ms(4), ms(1)), Sporadic::new(ms(1), ms(4), ms(1))];
        let r = |second| responses(&tasks, &[ms(0), second], Order::FixedPriority, &mut Effort::default()).unwrap();
        assert_eq!(r(ms(0)), [ms(1), ms(2)]);
        assert_eq!(r(ms(2)), [ms(1), ms(1)]);
    }

    #[test]
    fn blocking_and_entries_come_on_top_and_draw_in_what_is_released_meanwhile() {
        let tasks = [Sporadic::new(ms(2), ms(10), ms(10)), Sporadic::new(ms(3), ms(20), ms(20))];
        let offsets = [ms(4), ms(0)];
        let set = Phased::new(&tasks, &offsets, Order::FixedPriority);
        let of = |set: &Phased| responses_of(set, &mut Effort::default()).unwrap();
        assert_eq!(of(&set), [ms(2), ms(3)]);
        // Blocked by 1, the second ends at 4, when the first is released; by 2 it is preempted.
        assert_eq!(of(&Phased { blocking: &[ms(0), ms(1)], ..set }), [ms(2), ms(4)]);
        assert_eq!(of(&Phased { blocking: &[ms(0), ms(2)], ..set }), [ms(2), ms(7)]);
        // A release takes 1, and an entry may be under way: the second is preempted, and that release takes 1 more.
        assert_eq!(of(&Phased { entry: ms(1), ..set }), [ms(4), ms(8)]);
    }
}
