//! Budgets that are full at each boundary of their periods: periodic, polling and deferrable servers, which differ in what becomes of budget
//! that nobody uses.

use super::rules::{signed, unsigned, Lengths, Rules};
use tactus_task::WhenIdle;
use tactus_time::{Duration, Instant};

#[derive(Clone, Debug)]
pub(super) struct AtBoundaries {
    /// Below zero by as much as was used beyond the end.
    left: i64,
    /// The next boundary.
    next: Instant,
    when_idle: WhenIdle,
}

impl AtBoundaries {
    pub(super) fn new(when_idle: WhenIdle) -> AtBoundaries {
        AtBoundaries { left: 0, next: Instant::ZERO, when_idle }
    }

    pub(super) fn when_idle(&self) -> WhenIdle {
        self.when_idle
    }

    pub(super) fn drain(&mut self, elapsed: Duration) {
        self.left = self.left.saturating_sub(signed(elapsed)).max(0);
    }
}

impl Rules for AtBoundaries {
    fn restart(&mut self, of: Lengths, now: Instant) {
        (self.left, self.next) = (signed(of.full), now.saturating_add(of.period));
    }
    fn left(&self, _: Lengths, _: Instant) -> Duration {
        unsigned(self.left)
    }
    fn next(&self, _: Lengths, _: Instant) -> Instant {
        self.next
    }
    fn deadline(&self, _: Lengths) -> Instant {
        self.next
    }
    fn refresh(&mut self, of: Lengths, now: Instant) -> Option<Duration> {
        if now < self.next {
            return None;
        }
        let whole = now.since(self.next) / of.period;
        self.next = self.next.saturating_add(of.period).saturating_add(of.period * whole);
        // A debt of the last period is paid by this one; it is at most a notice that came late.
        self.left = signed(of.full) + self.left.min(0);
        Some(of.full)
    }
    fn charge(&mut self, _: Lengths, _: Instant, ran: Duration) -> bool {
        self.left -= signed(ran);
        self.left <= 0
    }
    fn block(&mut self, _: Lengths, _: Instant) {
        if self.when_idle == WhenIdle::Forfeit {
            self.left = self.left.min(0);
        }
    }
    fn ticks_on(&self) -> bool {
        self.when_idle != WhenIdle::Preserve
    }
}
