//! The sporadic polling server (reservations of LITMUS^RT): a period begins when work comes and the last one is over, or at its end if there
//! is work then. The rest is forfeited when there is no more work.

use super::rules::{signed, unsigned, Lengths, Rules};
use tactus_time::{Duration, Instant};

#[derive(Clone, Default, Debug)]
pub(super) struct SporadicPolling {
    /// Below zero by as much as was used beyond the end.
    left: i64,
    /// The end of the last period that has begun.
    end: Instant,
    works: bool,
}

impl SporadicPolling {
    /// A debt of the last period is paid by this one.
    fn begin(&mut self, of: Lengths, end: Instant) {
        (self.left, self.end) = (signed(of.full) + self.left.min(0), end);
    }
}

impl Rules for SporadicPolling {
    /// Work begins a period.
    fn restart(&mut self, of: Lengths, now: Instant) {
        (self.left, self.end, self.works) = (signed(of.full), now, false);
    }
    fn left(&self, _: Lengths, _: Instant) -> Duration {
        unsigned(self.left)
    }
    fn next(&self, _: Lengths, _: Instant) -> Instant {
        if self.works {
            return self.end;
        }
        Instant::NEVER
    }
    fn deadline(&self, _: Lengths) -> Instant {
        self.end
    }
    fn refresh(&mut self, of: Lengths, now: Instant) -> Option<Duration> {
        if !self.works || now < self.end {
            return None;
        }
        let whole = now.since(self.end) / of.period;
        self.begin(of, self.end.saturating_add(of.period).saturating_add(of.period * whole));
        Some(of.full)
    }
    fn charge(&mut self, _: Lengths, _: Instant, ran: Duration) -> bool {
        self.left -= signed(ran);
        self.left <= 0
    }
    fn wake(&mut self, of: Lengths, now: Instant) {
        if !self.works && now >= self.end {
            self.begin(of, now.saturating_add(of.period));
        }
        self.works = true;
    }
    fn block(&mut self, _: Lengths, _: Instant) {
        (self.left, self.works) = (self.left.min(0), false);
    }
}
