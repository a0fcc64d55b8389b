//! The windows of a partition on a core. A table has no state: whether a partition may run follows from the time alone. So nothing
//! is charged, and a window that was noticed late ends no later for that.

use alloc::vec::Vec;
use tactus_task::Window;
use tactus_time::{CoreId, Duration, Instant};

/// The windows of one partition on one core.
#[derive(Clone, Debug)]
pub(super) struct Table {
    frame: u64,
    /// Start and end in the frame, in their order.
    windows: Vec<(u64, u64)>,
}

/// Where an instant lies in a table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Position {
    /// Whether it lies in a window.
    pub inside: bool,
    /// The end of that window, or the start of the next one.
    pub until: Instant,
}

impl Table {
    pub(super) fn new(frame: Duration, windows: &[Window], core: CoreId) -> Table {
        let own = windows.iter().filter(|window| window.core == core);
        let mut windows: Vec<(u64, u64)> =
            own.map(|window| (window.start.as_nanos(), window.end().as_nanos())).collect();
        windows.sort_unstable();
        Table { frame: frame.as_nanos().max(1), windows }
    }

    /// Where `now` lies.
    pub(super) fn position(&self, now: Instant) -> Position {
        let now = now.as_nanos();
        let (begin, offset) = (now - now % self.frame, now % self.frame);
        let until = |offset: u64| Instant::from_nanos(begin.saturating_add(offset));
        match self.windows.get(self.windows.partition_point(|(_, end)| *end <= offset)) {
            Some((start, end)) if *start <= offset => Position { inside: true, until: until(*end) },
            Some((start, _)) => Position { inside: false, until: until(*start) },
            None => match self.windows.first() {
                Some((start, _)) => Position { inside: false, until: until(self.frame.saturating_add(*start)) },
                None => Position { inside: false, until: Instant::NEVER },
            },
        }
    }
}

/// The windows of all partitions on a core, in their order.
pub(super) struct Sequence {
    frame: u64,
    slots: Vec<Slot>,
    /// The slot that was found last, and the start of its frame.
    last: usize,
    base: u64,
    /// When virtual processors are looked at next, as passages had it, which the core's heap is not told yet.
    looks: Vec<(usize, Instant)>,
}

/// So many passages leave the core's heap as it is.
const MOST_LOOKS: usize = 8;

/// A window. Times are counted from the start of the frame.
#[derive(Clone, Copy)]
struct Slot {
    start: u64,
    end: u64,
    /// The start of the next window of the same partition.
    again: u64,
    /// The virtual processor of the partition.
    vp: usize,
}

/// From one window to the one behind it. All times are of the run.
pub(super) struct Passage {
    /// The virtual processor whose window has ended.
    pub(super) left: usize,
    /// When the window that is left began and ended, and when its partition has the next one.
    pub(super) began: u64,
    pub(super) ended: u64,
    pub(super) again: u64,
    /// That whose window has begun.
    pub(super) entered: usize,
    /// The end of the window that is entered.
    pub(super) until: u64,
}

impl Sequence {
    /// Of the windows on this core of each virtual processor, by its number; nothing if there are fewer than two.
    pub(super) fn new<'a>(
        frame: Duration,
        core: CoreId,
        windows: impl Iterator<Item = (usize, &'a [Window])>,
    ) -> Option<Sequence> {
        let frame = frame.as_nanos();
        let mut slots = Vec::new();
        for (vp, windows) in windows {
            let own = windows.iter().filter(|window| window.core == core);
            let mut own: Vec<(u64, u64)> =
                own.map(|window| (window.start.as_nanos(), window.end().as_nanos())).collect();
            own.sort_unstable();
            for (n, (start, end)) in own.iter().copied().enumerate() {
                let again = own.get(n + 1).map_or(own[0].0.saturating_add(frame), |next| next.0);
                slots.push(Slot { start, end, again, vp });
            }
        }
        slots.sort_unstable_by_key(|slot| slot.start);
        (slots.len() > 1).then_some(Sequence { frame, slots, last: 0, base: 0, looks: Vec::with_capacity(MOST_LOOKS) })
    }

    /// What the core's heap is to be told, the earliest first.
    pub(super) fn take_looks(&mut self) -> impl Iterator<Item = (usize, Instant)> + '_ {
        self.looks.drain(..)
    }

    /// Keeps what the passage is to the core's heap, after [`Sequence::pass`].
    #[inline(always)]
    pub(super) fn keep(&mut self, passage: &Passage) {
        let again = Instant::from_nanos(passage.again);
        match self.looks.last_mut() {
            Some(last) if last.0 == passage.left => last.1 = again,
            _ => self.looks.push((passage.left, again)),
        }
        self.looks.push((passage.entered, Instant::from_nanos(passage.until)));
    }

    /// The passage at whose end `now` lies, if it lies in a window.
    #[inline(always)]
    pub(super) fn pass(&mut self, now: u64) -> Option<Passage> {
        let count = self.slots.len();
        if self.looks.len() + 2 > MOST_LOOKS {
            return None;
        }
        // Mostly it is the next one.
        let (next, base) = match self.last + 1 {
            next if next < count => (next, self.base),
            _ => (0, self.base + self.frame),
        };
        let within = |slot: &Slot, base: u64| (base + slot.start..base + slot.end).contains(&now);
        if within(self.slots.get(next)?, base) {
            (self.last, self.base) = (next, base);
        } else {
            let base = now - now % self.frame;
            let at = self.slots.partition_point(|slot| base + slot.end <= now);
            if !self.slots.get(at).is_some_and(|slot| within(slot, base)) {
                return None;
            }
            (self.last, self.base) = (at, base);
        }
        let entered = self.slots[self.last];
        let (before, base) = match self.last.checked_sub(1) {
            Some(before) => (before, self.base),
            None => (count - 1, self.base.checked_sub(self.frame)?),
        };
        let left = self.slots[before];
        Some(Passage {
            left: left.vp,
            began: base + left.start,
            ended: base + left.end,
            again: base + left.again,
            entered: entered.vp,
            until: self.base + entered.end,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_tells_the_window_and_what_comes_next() {
        let ms = Duration::from_millis;
        let window = |start, length| Window { core: CoreId(0), start: ms(start), length: ms(length) };
        let table = Table::new(ms(20), &[window(12, 8), window(3, 4)], CoreId(0));
        let position = |at| {
            let Position { inside, until } = table.position(Instant::ZERO + ms(at));
            (inside, until.as_nanos() / 1_000_000)
        };
        let expected =
            [(0, (false, 3)), (3, (true, 7)), (6, (true, 7)), (7, (false, 12)), (12, (true, 20)), (20, (false, 23))];
        for (at, told) in expected {
            assert_eq!(position(at), told, "at {at}");
            assert_eq!(position(at + 40), (told.0, told.1 + 40), "at {at} of the third frame");
        }
        assert_eq!(Table::new(ms(20), &[], CoreId(0)).position(Instant::ZERO).until, Instant::NEVER);
    }
}
