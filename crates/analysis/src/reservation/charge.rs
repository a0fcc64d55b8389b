//! What the system's own work takes of a core on which servers run, as an upper bound over windows.
//!
//! The model is that of [`crate::overhead`]: a core's time is cut by entries of the scheduler, each of which takes at most
//! E, charged to the job and the servers that ran. [`Work`] counts entries in a window of any length: those of release
//! instants exactly, all others (replenishments, budgets that end, turns) as so many per period.
//!
//! How it enters a test: every job takes C + `completion`; a server goes beyond its budget by E at most, which its next
//! budget pays for; an entry under way blocks for E; and whatever a window offers is less by [`Work`] of that window. The
//! last is taken off at every level of a tree, since the entries of a core are charged to whoever runs.

use crate::arrivals::Instants;
use crate::task::Withheld;
use crate::terms::{Source, Term};
use tactus_time::Duration;

/// The system's own work on one core, or on several that share queues.
#[derive(Clone, Debug, Default)]
pub struct Work<'i> {
    /// E: what one entry takes; the blocking by one under way, and how far a budget is overrun.
    pub entry: Duration,
    /// What the completion of a job adds to its execution time.
    pub completion: Duration,
    /// Release instants, and what each costs.
    pub instants: Option<(&'i Instants, Duration)>,
    /// Costs that come at most ⌈w/P⌉ + 1 times in a window w, as (cost, P).
    pub recurring: Vec<(Duration, Duration)>,
}

impl Work<'_> {
    /// A system that costs nothing.
    pub fn none() -> Work<'static> {
        Work::default()
    }
    /// Whether it costs nothing.
    pub fn is_none(&self) -> bool {
        self.entry.is_zero()
    }
    /// The long-run rates, each as (cost, P): their sum over a window, and [`Work::burst`], are never less than the work.
    pub fn rates(&self) -> impl Iterator<Item = (Duration, Duration)> + '_ {
        let releases = self.instants.iter().flat_map(|(instants, cost)| instants.periods().map(move |p| (*cost, p)));
        releases.chain(self.recurring.iter().copied())
    }
    /// What may come on top of the long-run rates.
    pub fn burst(&self) -> Duration {
        let releases = self.instants.map_or(Duration::ZERO, |(instants, cost)| times(cost, instants.burst() as usize));
        let recurring = self.recurring.iter().map(|(cost, _)| times(*cost, 2));
        recurring.fold(releases, |sum, more| sum.checked_add(more).unwrap_or(Duration::MAX))
    }
}

impl Work<'_> {
    /// The most entries in a window.
    pub fn entries(&self, window: Duration) -> u64 {
        if window.is_zero() {
            return 0;
        }
        let releases = self.instants.map_or(0, |(instants, _)| instants.most_in(window));
        let one = |(_, p): &(Duration, Duration)| window.div_ceil((*p).max(Duration::from_nanos(1))) + 1;
        self.recurring.iter().map(one).fold(releases, u64::saturating_add)
    }
}

/// How often what comes once in each `period` comes in a window at most.
fn times_in(window: Duration, period: Duration) -> u64 {
    window.as_nanos().div_ceil(period.as_nanos().max(1)).saturating_add(1)
}

fn times(cost: Duration, n: usize) -> Duration {
    cost.checked_mul(n as u64).unwrap_or(Duration::MAX)
}

impl Withheld for Work<'_> {
    fn at_most(&self, window: Duration) -> Duration {
        if window.is_zero() || self.is_none() {
            return Duration::ZERO;
        }
        let releases = self.instants.map_or(0, |(i, cost)| i.most_in(window).saturating_mul(cost.as_nanos()));
        let one = |(cost, p): &(Duration, Duration)| cost.as_nanos().saturating_mul(times_in(window, *p));
        Duration::from_nanos(self.recurring.iter().map(one).fold(releases, u64::saturating_add))
    }

    fn terms(&self, window: Duration) -> Vec<Term> {
        if window.is_zero() || self.is_none() {
            return Vec::new();
        }
        let term = |source, times, each| Term { source, times, each, added: Duration::ZERO };
        let releases = self.instants.map(|(i, cost)| term(Source::Releases, i.most_in(window), cost));
        let recurring = self.recurring.iter().map(|(cost, p)| term(Source::Recurring, times_in(window, *p), *cost));
        releases.into_iter().chain(recurring).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_and_burst_are_never_less_than_the_work() {
        let us = Duration::from_micros;
        let instants = Instants::of([(us(0), us(100)), (us(30), us(250))], us(100_000));
        let work = Work {
            entry: us(2),
            completion: us(2),
            instants: Some((&instants, us(2))),
            recurring: vec![(us(4), us(130)), (us(2), us(70))],
        };
        // 2 in 130: three starts of a period and one more.
        assert_eq!(work.at_most(us(131)), us(2 * 3 + 4 * 3 + 2 * 3));
        for w in (1..5_000).step_by(13) {
            let linear: f64 =
                work.rates().map(|(c, p)| c.as_nanos() as f64 * w as f64 * 1e3 / p.as_nanos() as f64).sum();
            assert!(
                work.at_most(us(w)).as_nanos() as f64 <= linear + work.burst().as_nanos() as f64 + 1.0,
                "window {w}"
            );
        }
        assert_eq!(Work::none().at_most(us(100)), Duration::ZERO);
    }
}
