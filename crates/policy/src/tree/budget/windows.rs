//! A partition: its time is the windows of a static table, and nothing that runs changes them (ARINC 653; Mok, Feng and Chen, RTAS 2001).

use super::rules::{Lengths, Rules};
use crate::tree::timetable::Table;
use tactus_time::{Duration, Instant};

#[derive(Clone, Default, Debug)]
pub(super) struct Windows(Option<Table>);

impl Windows {
    pub(super) fn follow(&mut self, table: Table) {
        self.0 = Some(table);
    }
}

impl Rules for Windows {
    fn restart(&mut self, _: Lengths, _: Instant) {}
    fn left(&self, _: Lengths, now: Instant) -> Duration {
        match self.0.as_ref().map(|table| table.position(now)) {
            Some(position) if position.inside => position.until.since(now),
            _ => Duration::ZERO,
        }
    }
    fn next(&self, _: Lengths, now: Instant) -> Instant {
        self.0.as_ref().map_or(Instant::NEVER, |table| table.position(now).until)
    }
    /// Partitions are never compared: no two have a core at once.
    fn deadline(&self, of: Lengths) -> Instant {
        Instant::ZERO.saturating_add(of.period)
    }
    fn refresh(&mut self, of: Lengths, now: Instant) -> Option<Duration> {
        Some(self.left(of, now)).filter(|left| !left.is_zero())
    }
    fn charge(&mut self, of: Lengths, now: Instant, _: Duration) -> bool {
        self.left(of, now).is_zero()
    }
}
