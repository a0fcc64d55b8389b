//! A budget of lines from memory instead of time (MemGuard: Yun et al., RTAS 2013), and perhaps one of lines written back beside it.
//!
//! It is kept as the least time in which memory can serve the lines, and charged that time for each line that was counted. So it cannot be
//! used up earlier than what is left of it says, and its owner looks at the counter then, and again. Two looks are a part of the period
//! apart at least ([`MOST_LOOKS`]); what is used beyond the end meanwhile is a debt that the periods which follow pay. Whoever has used up
//! either waits for the next period.

use super::rules::{signed, unsigned, Lengths, Rules};
use tactus_task::MOST_LOOKS;
use tactus_time::{Duration, Instant};

/// What is left of lines from memory, and of lines written back.
#[derive(Clone, Debug)]
pub struct Misses {
    /// Below zero by as much as was used beyond the end.
    left: i64,
    /// The next boundary.
    next: Instant,
    /// What was written back and is not paid.
    written: Duration,
    /// How much may be written back; without end where nothing says so.
    writes: Duration,
    /// It came to an end, which nobody has asked for yet.
    ended: bool,
}

impl Misses {
    pub(super) fn new(writes: Option<Duration>) -> Misses {
        let writes = writes.unwrap_or(Duration::MAX);
        Misses { left: 0, next: Instant::ZERO, written: Duration::ZERO, writes, ended: false }
    }

    /// Lines were asked for and written back, each of which takes memory so long.
    pub(crate) fn charge_lines(&mut self, line: Duration, asked: u32, written: u32) {
        self.left = self.left.saturating_sub(signed(line * u64::from(asked)));
        self.written = self.written.checked_add(line * u64::from(written)).unwrap_or(Duration::MAX);
        self.ended |= (asked > 0 || written > 0) && self.is_out_of_lines();
    }

    /// Whether nothing is left of one of its budgets.
    fn is_out_of_lines(&self) -> bool {
        self.left <= 0 || self.written >= self.writes
    }
}

impl Rules for Misses {
    fn restart(&mut self, of: Lengths, now: Instant) {
        (self.left, self.next) = (signed(of.full), now.saturating_add(of.period));
        (self.written, self.ended) = (Duration::ZERO, false);
    }
    fn left(&self, of: Lengths, _: Instant) -> Duration {
        match unsigned(self.left).min(self.writes.saturating_sub(self.written)) {
            none if none.is_zero() => none,
            left => left.max(of.period / MOST_LOOKS),
        }
    }
    fn next(&self, of: Lengths, _: Instant) -> Instant {
        // As many budgets later as the larger debt takes whole.
        let asked = u64::try_from(-self.left).unwrap_or(0) / of.full.as_nanos().max(1);
        let debt = asked.max(self.written.saturating_sub(self.writes) / self.writes);
        self.next.saturating_add(Duration::from_nanos(of.period.as_nanos().saturating_mul(debt)))
    }
    fn deadline(&self, _: Lengths) -> Instant {
        self.next
    }
    fn refresh(&mut self, of: Lengths, now: Instant) -> Option<Duration> {
        if now < self.next {
            return None;
        }
        let periods = now.since(self.next) / of.period + 1;
        self.next = self.next.saturating_add(of.period * periods);
        // A debt may be of several budgets.
        let paid = signed(of.full).saturating_mul(i64::try_from(periods).unwrap_or(i64::MAX));
        self.left = self.left.min(0).saturating_add(paid).min(signed(of.full));
        self.written = self.written.saturating_sub(self.writes.checked_mul(periods).unwrap_or(Duration::MAX));
        Some(of.full).filter(|_| !self.is_out_of_lines())
    }
    /// Time is not charged: whether lines that were charged since this was called last brought it to an end.
    fn charge(&mut self, _: Lengths, _: Instant, _: Duration) -> bool {
        core::mem::take(&mut self.ended)
    }
}
