//! What the kinds of servers differ in: when a replenishment falls due and how much it brings, and what is charged.

use tactus_time::{Duration, Instant};

/// A whole processor, as a bandwidth.
pub(super) const ONE: u64 = 1 << 32;

/// The whole budget, and the period in which it is to be had.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lengths {
    pub(super) full: Duration,
    pub(super) period: Duration,
}

/// The rules of a kind of server by which its budget is consumed and replenished (Liu, "Real-Time Systems", 2000, section 7.2).
pub(super) trait Rules {
    /// Restarts it, full.
    fn restart(&mut self, of: Lengths, now: Instant);
    /// For how long work may run.
    fn left(&self, of: Lengths, now: Instant) -> Duration;
    /// When a replenishment comes that can make it eligible or give it another deadline.
    fn next(&self, of: Lengths, now: Instant) -> Instant;
    /// Its deadline among servers and tasks.
    fn deadline(&self, of: Lengths) -> Instant;
    /// Makes due what has come up to `now`. What arrived, if anything.
    fn refresh(&mut self, of: Lengths, now: Instant) -> Option<Duration>;
    /// Work has run under it. Whether it came to an end.
    fn charge(&mut self, of: Lengths, now: Instant, ran: Duration) -> bool;
    /// There is work again; what was due is there.
    fn wake(&mut self, _of: Lengths, _now: Instant) {}
    /// There is no more work.
    fn block(&mut self, _of: Lengths, _now: Instant) {}
    /// Whether it changes by time whether or not there is work.
    fn ticks_on(&self) -> bool {
        false
    }
}

pub(super) fn signed(length: Duration) -> i64 {
    i64::try_from(length.as_nanos()).unwrap_or(i64::MAX)
}

/// What is left, nothing of a debt.
pub(super) fn unsigned(left: i64) -> Duration {
    Duration::from_nanos(u64::try_from(left).unwrap_or(0))
}
