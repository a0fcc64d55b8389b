//! Reclaiming (GRUB: Lipari and Baruah, "Greedy reclamation of unused bandwidth in constant-bandwidth servers", ECRTS 2000).
//!
//! A server of Q per P has bandwidth U = Q/P, deadline D and virtual time V = D - q/U, where q is what remains of its budget.
//! While it runs, q falls at the rate of the sum of all active servers' bandwidths. It is *contending* while it has work;
//! without work it stays *non-contending* until time has reached V, and is *inactive* from then on, or from the next instant
//! at which the core has nothing to run. Contending and non-contending servers are active. An inactive server that gets work
//! starts with V = now and D = now + P. The owner keeps the sum ([`Budget::activity`](super::Budget::activity)) and sets the rate.

use super::constant_bandwidth::UntilDeadline;
use super::rules::{Lengths, Rules, ONE};
use tactus_time::{Duration, Instant};

/// A budget that is charged at the rate of what is active.
#[derive(Clone, Debug)]
pub struct Reclaiming {
    budget: UntilDeadline,
    /// What was charged beyond whole nanoseconds, in parts of [`ONE`].
    fraction: u64,
    /// The rate at which it is charged, in parts of [`ONE`].
    rate: u64,
    non_contending: bool,
}

impl Default for Reclaiming {
    fn default() -> Reclaiming {
        Reclaiming { budget: UntilDeadline::default(), fraction: 0, rate: ONE, non_contending: false }
    }
}

impl Reclaiming {
    pub(super) fn is_non_contending(&self) -> bool {
        self.non_contending
    }

    /// Charges it at this rate from now on, in parts of [`ONE`] and at most that.
    pub(crate) fn set_rate(&mut self, active: u64) {
        self.rate = active.clamp(1, ONE);
    }

    /// The core has nothing to run: it becomes inactive.
    pub(crate) fn processor_idle(&mut self) {
        self.non_contending = false;
    }

    /// What remains, in parts of a nanosecond.
    fn remaining(&self) -> u128 {
        let whole = u128::from(u64::try_from(self.budget.left).unwrap_or(0)) << 32;
        whole.saturating_sub(u128::from(self.fraction))
    }

    /// The first instant that is not before its virtual time.
    fn zero_lag(&self, of: Lengths) -> Instant {
        let ahead = self.remaining().saturating_mul(u128::from(of.period.as_nanos()))
            / (u128::from(of.full.as_nanos().max(1)) << 32);
        let deadline = self.budget.deadline.as_nanos();
        Instant::from_nanos(deadline.saturating_sub(u64::try_from(ahead).unwrap_or(u64::MAX)))
    }
}

impl Rules for Reclaiming {
    fn restart(&mut self, of: Lengths, now: Instant) {
        self.budget.restart(of, now);
        (self.fraction, self.non_contending) = (0, false);
    }
    fn left(&self, _: Lengths, _: Instant) -> Duration {
        let time = self.remaining().div_ceil(u128::from(self.rate));
        Duration::from_nanos(u64::try_from(time).unwrap_or(u64::MAX))
    }
    fn next(&self, of: Lengths, _: Instant) -> Instant {
        if self.non_contending {
            return self.zero_lag(of);
        }
        Instant::NEVER
    }
    fn deadline(&self, _: Lengths) -> Instant {
        self.budget.deadline
    }
    fn refresh(&mut self, of: Lengths, now: Instant) -> Option<Duration> {
        self.non_contending &= now < self.zero_lag(of);
        None
    }
    fn charge(&mut self, of: Lengths, now: Instant, ran: Duration) -> bool {
        let charge = u128::from(ran.as_nanos()) * u128::from(self.rate) + u128::from(self.fraction);
        self.fraction = (charge % u128::from(ONE)) as u64;
        self.budget.left = self.budget.left.saturating_sub(i64::try_from(charge >> 32).unwrap_or(i64::MAX));
        let exhausted = self.remaining() == 0;
        if exhausted {
            self.budget.postpone(of, now);
        }
        exhausted
    }
    fn wake(&mut self, of: Lengths, now: Instant) {
        if !core::mem::take(&mut self.non_contending) {
            self.restart(of, now);
        }
    }
    fn block(&mut self, of: Lengths, now: Instant) {
        self.non_contending = now < self.zero_lag(of);
    }
    fn ticks_on(&self) -> bool {
        self.non_contending
    }
}
