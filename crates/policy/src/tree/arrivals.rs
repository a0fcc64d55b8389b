//! The arrivals of a task whose jobs time does not release.

use tactus_task::{EarlyArrival, ReleaseGuard};
use tactus_time::Instant;

/// The most jobs of one task that may wait behind the oldest unfinished one; further arrivals are lost, and recorded as lost.
pub const MAX_WAITING_ARRIVALS: usize = 16;

/// The nominal releases of all jobs behind the oldest unfinished one: first those that are released, then those that wait for
/// the end of a period.
#[derive(Debug)]
pub(crate) struct Arrivals {
    early: EarlyArrival,
    times: [Instant; MAX_WAITING_ARRIVALS],
    head: usize,
    len: usize,
    guard: ReleaseGuard,
}

/// Why an arrival has no job: the `arg` of an `ArrivalLost` record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Lost {
    /// It came before it might.
    Early = 0,
    /// [`MAX_WAITING_ARRIVALS`] jobs wait already.
    Full = 1,
}

impl Arrivals {
    pub(crate) fn new(early: EarlyArrival, guard: ReleaseGuard) -> Arrivals {
        Arrivals { early, times: [Instant::NEVER; MAX_WAITING_ARRIVALS], head: 0, len: 0, guard }
    }

    /// Something arrived at `at`: its job is to be released at once, or as soon as it may be. Gives when, if that it comes so early is
    /// a fault.
    pub(crate) fn arrive(&mut self, at: Instant) -> Result<Option<Instant>, Lost> {
        let nominal = self.guard.nominal(at);
        if nominal > at && self.early == EarlyArrival::Drop {
            return Err(Lost::Early);
        }
        if self.len == self.times.len() {
            return Err(Lost::Full);
        }
        self.times[(self.head + self.len) % MAX_WAITING_ARRIVALS] = nominal;
        self.len += 1;
        self.guard.release(nominal);
        Ok((nominal > at && self.early == EarlyArrival::Fault).then_some(nominal))
    }

    /// Whether what arrives at `at` releases its job there and then, with no other one before it.
    #[inline(always)]
    pub(crate) fn is_alone(&self, at: Instant) -> bool {
        self.len == 0 && self.guard.allows(at)
    }

    /// What [`is_alone`](Arrivals::is_alone) has said of arrives, and its job is released.
    #[inline(always)]
    pub(crate) fn pass(&mut self, at: Instant) {
        self.guard.release(at);
    }

    /// How many jobs wait behind the oldest unfinished one.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The nominal release at this position, or [`Instant::NEVER`].
    pub(crate) fn get(&self, position: usize) -> Instant {
        if position < self.len {
            self.times[(self.head + position) % MAX_WAITING_ARRIVALS]
        } else {
            Instant::NEVER
        }
    }

    /// Takes the first out.
    pub(crate) fn pop(&mut self) -> Instant {
        let first = self.get(0);
        if self.len > 0 {
            self.head = (self.head + 1) % MAX_WAITING_ARRIVALS;
            self.len -= 1;
        }
        first
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use tactus_task::Burst;
    use tactus_time::Duration;

    fn every(ms: u64) -> ReleaseGuard {
        ReleaseGuard::new(Duration::from_millis(ms), None)
    }

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    #[test]
    fn what_comes_early_waits_until_its_period_is_over() {
        let mut arrivals = Arrivals::new(EarlyArrival::Delay, every(10));
        for ms in [3, 4, 30, 35] {
            assert_eq!(arrivals.arrive(at(ms)), Ok(None));
        }
        assert_eq!([0, 1, 2, 3].map(|n| arrivals.get(n)), [at(3), at(13), at(30), at(40)]);
        assert_eq!((arrivals.pop(), arrivals.get(0)), (at(3), at(13)));
    }

    #[test]
    fn what_comes_early_or_finds_no_place_is_lost() {
        let mut arrivals = Arrivals::new(EarlyArrival::Drop, every(10));
        assert_eq!([3, 12, 13].map(|ms| arrivals.arrive(at(ms))), [Ok(None), Err(Lost::Early), Ok(None)]);
        let mut arrivals = Arrivals::new(EarlyArrival::Fault, every(10));
        assert_eq!([3, 12, 30].map(|ms| arrivals.arrive(at(ms))), [Ok(None), Ok(Some(at(13))), Ok(None)]);
        let mut arrivals = Arrivals::new(EarlyArrival::Delay, every(10));
        let outcomes: std::vec::Vec<_> = (0..20).map(|ms| arrivals.arrive(at(ms))).collect();
        assert_eq!(outcomes.iter().filter(|it| it.is_ok()).count(), MAX_WAITING_ARRIVALS);
        assert_eq!(outcomes.last(), Some(&Err(Lost::Full)));
        for _ in 0..MAX_WAITING_ARRIVALS {
            arrivals.pop();
        }
        assert_eq!(arrivals.pop(), Instant::NEVER);
        assert_eq!(arrivals.arrive(at(1_000)), Ok(None));
    }

    #[test]
    fn a_burst_may_come_at_once_and_the_next_one_when_its_periods_are_over() {
        // Three at a distance of one, then one every ten.
        let burst = Burst { jitter: Duration::from_millis(20), distance: Duration::from_millis(1) };
        let guard = ReleaseGuard::new(Duration::from_millis(10), Some(burst));
        let mut arrivals = Arrivals::new(EarlyArrival::Delay, guard);
        (0..6).for_each(|_| assert_eq!(arrivals.arrive(at(5)), Ok(None)));
        assert_eq!([0, 1, 2, 3, 4, 5].map(|n| arrivals.get(n)), [5, 6, 7, 15, 25, 35].map(at));
    }
}
