//! The priority-inheriting bandwidth-preserving server (Danish, Li and West, RTAS 2011): one replenishment only. Having used `u` from `t` on, it
//! may run again at `t + u · period / budget`.

use super::rules::{Lengths, Rules};
use tactus_time::{Duration, Instant};

#[derive(Clone, Default, Debug)]
pub(super) struct PriorityInheriting {
    /// Since when it may run, or when it may again.
    from: Instant,
    /// Since when it has run under this budget, and for how long, if it has.
    begun: Option<(Instant, Duration)>,
}

impl PriorityInheriting {
    /// What was used returns in its own share.
    fn close(&mut self, of: Lengths) {
        let Some((since, used)) = self.begun.take() else { return };
        let (used, period) = (u128::from(used.as_nanos()), u128::from(of.period.as_nanos()));
        let wait = (used * period).div_ceil(u128::from(of.full.as_nanos().max(1)));
        self.from = since.saturating_add(Duration::from_nanos(u64::try_from(wait).unwrap_or(u64::MAX)));
    }
}

impl Rules for PriorityInheriting {
    fn restart(&mut self, _: Lengths, now: Instant) {
        (self.from, self.begun) = (now, None);
    }
    fn left(&self, of: Lengths, now: Instant) -> Duration {
        match self.begun {
            Some((_, used)) => of.full.saturating_sub(used),
            None if self.from <= now => of.full,
            None => Duration::ZERO,
        }
    }
    fn next(&self, _: Lengths, now: Instant) -> Instant {
        if self.begun.is_none() && self.from > now {
            return self.from;
        }
        Instant::NEVER
    }
    /// Counts from when it might run, whether or not it has begun.
    fn deadline(&self, of: Lengths) -> Instant {
        self.from.saturating_add(of.period)
    }
    fn refresh(&mut self, of: Lengths, now: Instant) -> Option<Duration> {
        Some(self.left(of, now)).filter(|left| !left.is_zero())
    }
    fn charge(&mut self, of: Lengths, now: Instant, ran: Duration) -> bool {
        let begin = || (Instant::from_nanos(now.as_nanos().saturating_sub(ran.as_nanos())), Duration::ZERO);
        let (since, used) = self.begun.unwrap_or_else(begin);
        let used = used.checked_add(ran).unwrap_or(Duration::MAX);
        self.begun = Some((since, used));
        if used >= of.full {
            self.close(of);
        }
        used >= of.full
    }
    fn wake(&mut self, _: Lengths, now: Instant) {
        if self.begun.is_none() {
            self.from = self.from.max(now);
        }
    }
    fn block(&mut self, of: Lengths, _: Instant) {
        self.close(of);
    }
}
