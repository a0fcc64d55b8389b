//! Where a core is in its level-A table: a cyclic executive whose first cycle begins at time zero.

use crate::Table;
use alloc::vec::Vec;
use tactus_time::{Duration, Instant, TaskId};

/// A table and the place that was looked at last.
#[derive(Default)]
pub struct Position {
    cycle: Duration,
    slots: Vec<Slot>,
    /// Start of the present cycle.
    start: Instant,
    /// First slot that has not ended; past the last one towards the end of a cycle.
    slot: usize,
}

struct Slot {
    owner: usize,
    start: Duration,
    end: Duration,
}

/// What the table says at some time.
pub struct Now {
    /// The slot, if there is one.
    pub slot: Option<NowSlot>,
    /// When the next slot starts.
    pub next: Instant,
}

/// A slot of this cycle.
pub struct NowSlot {
    /// Whose it is.
    pub owner: usize,
    /// When it started.
    pub start: Instant,
    /// When it ends.
    pub end: Instant,
}

impl Position {
    /// `place` turns tasks into what the core calls them.
    pub fn new(table: &Table, place: impl Fn(TaskId) -> usize) -> Position {
        let slot = |slot: &crate::Slot| Slot { owner: place(slot.task), start: slot.start, end: slot.end };
        Position { cycle: table.cycle, slots: table.slots.iter().map(slot).collect(), start: Instant::ZERO, slot: 0 }
    }

    /// Moves on to `now`, which never goes back: one step for each slot that ended, and one for all cycles together.
    pub fn advance(&mut self, now: Instant) -> Now {
        let Some(first) = self.slots.first() else { return Now { slot: None, next: Instant::NEVER } };
        let inside = now.since(self.start);
        if inside >= self.cycle {
            self.start += inside - inside % self.cycle;
            self.slot = 0;
        }
        let inside = now.since(self.start);
        while self.slots.get(self.slot).is_some_and(|slot| slot.end <= inside) {
            self.slot += 1;
        }
        let again = self.start.saturating_add(self.cycle).saturating_add(first.start);
        let start_of = |n: usize| self.slots.get(n).map_or(again, |slot| self.start.saturating_add(slot.start));
        match self.slots.get(self.slot) {
            Some(slot) if slot.start <= inside => {
                let (start, end) = (self.start.saturating_add(slot.start), self.start.saturating_add(slot.end));
                Now { slot: Some(NowSlot { owner: slot.owner, start, end }), next: start_of(self.slot + 1) }
            }
            _ => Now { slot: None, next: start_of(self.slot) },
        }
    }
}
