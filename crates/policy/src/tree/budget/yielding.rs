//! Best-effort work that gives way to a counter: no budget, but a threshold of events in a period, kept as a nanosecond for each.

use super::rules::{Lengths, Rules};
use tactus_time::{Duration, Instant};

/// What was counted, and whether it gives way.
#[derive(Clone, Default, Debug)]
pub struct Yielding {
    /// The end of the period.
    next: Instant,
    counted: Duration,
    gives_way: bool,
}

impl Yielding {
    /// The events that were counted in the period that is over.
    pub(crate) fn note_sample(&mut self, events: u32) {
        self.counted = Duration::from_nanos(events.into());
    }

    /// Whether it gives way.
    pub(crate) fn gives_way(&self) -> bool {
        self.gives_way
    }

    /// A period is over: gives way for the next one if more was counted than the threshold.
    pub(crate) fn end_period(&mut self, (threshold, period): (Duration, Duration), now: Instant) {
        let periods = now.since(self.next) / period + 1;
        self.next = self.next.saturating_add(period * periods);
        self.gives_way = core::mem::take(&mut self.counted) > threshold;
    }
}

impl Rules for Yielding {
    fn restart(&mut self, of: Lengths, now: Instant) {
        *self = Yielding { next: now.saturating_add(of.period), ..Yielding::default() };
    }
    fn left(&self, _: Lengths, _: Instant) -> Duration {
        if self.gives_way {
            return Duration::ZERO;
        }
        Duration::MAX
    }
    fn next(&self, _: Lengths, _: Instant) -> Instant {
        self.next
    }
    /// Whoever has a deadline goes first.
    fn deadline(&self, _: Lengths) -> Instant {
        Instant::NEVER
    }
    /// Its owner looks at what was counted.
    fn refresh(&mut self, _: Lengths, _: Instant) -> Option<Duration> {
        None
    }
    fn charge(&mut self, _: Lengths, _: Instant, _: Duration) -> bool {
        false
    }
    fn ticks_on(&self) -> bool {
        true
    }
}
