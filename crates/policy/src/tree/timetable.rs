//! The windows of a partition on a core. A table has no state: whether a partition may run follows from the time alone, and so does
//! which schedule holds. So nothing is charged, and a window that was noticed late ends no later for that.

use crate::heap::Key;
use alloc::vec::Vec;
use tactus_task::{ScheduleSwitch, Window};
use tactus_time::{CoreId, Duration, Instant};

/// The windows of one partition on one core.
#[derive(Clone, Debug)]
pub(super) struct Table {
    frame: u64,
    /// Start and end in the frame, in their order, in each schedule.
    schedules: Vec<Vec<(u64, u64)>>,
    switches: Vec<ScheduleSwitch>,
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
    pub(super) fn new(frame: Duration, windows: &[Window], core: CoreId, switches: &[ScheduleSwitch]) -> Table {
        let schedules = (0..=last_of(switches)).map(|schedule| bounds(windows, core, schedule)).collect();
        Table { frame: frame.as_nanos().max(1), schedules, switches: switches.to_vec() }
    }

    /// The windows in a frame of this number.
    fn windows_in(&self, frame: u64) -> &[(u64, u64)] {
        &self.schedules[usize::from(ScheduleSwitch::schedule_in(&self.switches, frame))]
    }

    /// The start of the first window in a frame after that of this number.
    #[inline(never)]
    fn first_after(&self, frame: u64) -> Instant {
        let start = |frame: u64| {
            let (start, _) = self.windows_in(frame).first()?;
            Some(Instant::from_nanos(frame.saturating_mul(self.frame).saturating_add(*start)))
        };
        // What the next frame has not, no other one has before another schedule.
        let switched = self.switches.iter().map(|it| it.frame).filter(|n| *n > frame);
        core::iter::once(frame + 1).chain(switched).find_map(start).unwrap_or(Instant::NEVER)
    }

    /// Where `now` lies.
    pub(super) fn position(&self, now: Instant) -> Position {
        let now = now.as_nanos();
        let (frame, offset) = (now / self.frame, now % self.frame);
        let (begin, windows) = (now - offset, self.windows_in(frame));
        let until = |offset: u64| Instant::from_nanos(begin.saturating_add(offset));
        match windows.get(windows.partition_point(|(_, end)| *end <= offset)) {
            Some((start, end)) if *start <= offset => Position { inside: true, until: until(*end) },
            Some((start, _)) => Position { inside: false, until: until(*start) },
            None => Position { inside: false, until: self.first_after(frame) },
        }
    }
}

/// The last schedule that ever holds, by number.
fn last_of(switches: &[ScheduleSwitch]) -> u8 {
    switches.iter().map(|switch| switch.schedule).max().unwrap_or(0)
}

/// Start and end of the windows on a core in one schedule, in their order.
fn bounds(windows: &[Window], core: CoreId, schedule: u8) -> Vec<(u64, u64)> {
    let own = windows.iter().filter(|window| (window.core, window.schedule) == (core, schedule));
    let mut bounds: Vec<(u64, u64)> = own.map(|window| (window.start.as_nanos(), window.end().as_nanos())).collect();
    bounds.sort_unstable();
    bounds
}

/// When which schedule holds on a core, for those who see that it changes.
pub(super) struct Schedules {
    frame: u64,
    switches: Vec<ScheduleSwitch>,
    /// How many are past.
    past: usize,
    /// The windows in each schedule, but for those of the one that holds; nothing where the table alone does not tell.
    sequences: Vec<Option<Sequence>>,
    holds: usize,
}

impl Schedules {
    /// Nothing where there are no switches. `sequences`: the windows on the core in each schedule, in the order of their numbers.
    pub(super) fn new(
        frame: Duration,
        switches: &[ScheduleSwitch],
        sequence: impl Fn(u8) -> Option<Sequence>,
    ) -> Option<Schedules> {
        if switches.is_empty() {
            return None;
        }
        let sequences = (0..=last_of(switches)).map(sequence).collect();
        Some(Schedules { frame: frame.as_nanos(), switches: switches.to_vec(), past: 0, sequences, holds: 0 })
    }

    /// The windows of the schedule that holds from now on, in the place of those before.
    pub(super) fn change(&mut self, sequence: &mut Option<Sequence>) {
        let begun = self.past.checked_sub(1).and_then(|last| self.switches.get(last));
        let (from, schedule) = begun.map_or((0, 0), |switch| (switch.frame, usize::from(switch.schedule)));
        let until = self.switches.get(self.past).map_or(u64::MAX, |next| next.frame);
        if let Some(before) = self.sequences.get_mut(self.holds) {
            core::mem::swap(before, sequence);
        }
        self.holds = schedule;
        if let Some(next) = self.sequences.get_mut(schedule) {
            core::mem::swap(next, sequence);
        }
        if let Some(sequence) = sequence {
            sequence.hold(from, until);
        }
    }

    /// When the next one begins.
    pub(super) fn next(&self) -> Instant {
        let start = |switch: &ScheduleSwitch| Instant::from_nanos(switch.frame.saturating_mul(self.frame));
        self.switches.get(self.past).map_or(Instant::NEVER, start)
    }

    /// The next one that has begun, and when.
    pub(super) fn pass(&mut self, now: Instant) -> Option<(u8, Instant)> {
        let begun = self.next();
        let switch = self.switches.get(self.past).filter(|_| begun <= now)?;
        self.past += 1;
        Some((switch.schedule, begun))
    }
}

/// The windows of all partitions on a core, in their order.
pub(super) struct Sequence {
    frame: u64,
    slots: Vec<Slot>,
    /// The window that the core is in.
    last: Occurrence,
    /// How many passages led there that the core's heap was not told of; of more than a frame's, the last ones count.
    untold: usize,
    /// Whether the heap was not told either of the window that the core was in before them.
    entered: bool,
    /// It holds from then on for so long, and a frame before and after.
    from: u64,
    length: u64,
}

/// A slot in one of the frames: its number, and the start of the frame.
#[derive(Clone, Copy, Default)]
pub(super) struct Occurrence {
    slot: usize,
    base: u64,
}

/// So many passages leave the core's heap as it is at most: it is told of all of them at once.
const MOST_UNTOLD: usize = 16;

/// What of a partition on a core never changes.
#[derive(Clone, Copy)]
pub(super) struct Partition {
    /// Its virtual processor, and its server's index in the tree.
    pub(super) vp: usize,
    pub(super) server: u16,
    /// The queue of what is inside.
    pub(super) below: usize,
    /// The queue that it is in, and its key there.
    pub(super) queue: usize,
    pub(super) key: Key,
}

/// A window and the one before it. Times are counted from the start of the frame; what lies before that wraps around.
#[derive(Clone, Copy)]
pub(super) struct Slot {
    start: u64,
    end: u64,
    /// Whose it is.
    pub(super) partition: Partition,
    /// Whose the window before is, when that began and ended, and when that partition has its next one.
    pub(super) left: Partition,
    began: u64,
    ended: u64,
    again: u64,
}

/// From one window to the one behind it. All times are of the run.
pub(super) struct Passage<'a> {
    /// Whose window has begun, and whose has ended.
    pub(super) slot: &'a Slot,
    pub(super) occurrence: Occurrence,
}

impl Passage<'_> {
    /// When the window that is left began.
    #[inline(always)]
    pub(super) fn began(&self) -> u64 {
        self.occurrence.base.wrapping_add(self.slot.began)
    }
    /// When it ended.
    #[inline(always)]
    pub(super) fn ended(&self) -> u64 {
        self.occurrence.base.wrapping_add(self.slot.ended)
    }
    /// When its partition has the next one.
    #[inline(always)]
    pub(super) fn again(&self) -> u64 {
        self.occurrence.base.wrapping_add(self.slot.again)
    }
    /// The end of the window that is entered.
    #[inline(always)]
    pub(super) fn until(&self) -> u64 {
        self.occurrence.base.wrapping_add(self.slot.end)
    }
}

impl Sequence {
    /// Of the windows on this core of each virtual processor; nothing if there are fewer than two.
    pub(super) fn new<'a>(
        frame: Duration,
        core: CoreId,
        windows: impl Iterator<Item = (Partition, &'a [Window])>,
        schedule: u8,
    ) -> Option<Sequence> {
        let frame = frame.as_nanos();
        let mut slots = Vec::new();
        for (partition, windows) in windows {
            let own = bounds(windows, core, schedule);
            for (n, (start, end)) in own.iter().copied().enumerate() {
                let again = own.get(n + 1).map_or(own[0].0.saturating_add(frame), |next| next.0);
                slots.push(Slot { start, end, partition, left: partition, began: start, ended: end, again });
            }
        }
        slots.sort_unstable_by_key(|slot| slot.start);
        // Each has its own in the place of those of the window before.
        let mut before = *slots.last().filter(|_| slots.len() > 1)?;
        for time in [&mut before.began, &mut before.ended, &mut before.again] {
            *time = time.wrapping_sub(frame);
        }
        for slot in &mut slots {
            let Slot { left, began, ended, again, .. } = core::mem::replace(&mut before, *slot);
            *slot = Slot { left, began, ended, again, ..*slot };
        }
        Some(Sequence {
            frame,
            slots,
            last: Occurrence::default(),
            untold: 0,
            entered: false,
            from: 0,
            length: u64::MAX,
        })
    }

    /// It holds in the frames from this number to that one, which is not counted in. In the first and the last one a window before or
    /// behind may be another schedule's.
    fn hold(&mut self, from: u64, until: u64) {
        let first = if from == 0 { 0 } else { from + 1 };
        self.from = first.saturating_mul(self.frame);
        self.length = until.saturating_sub(1).saturating_mul(self.frame).saturating_sub(self.from);
    }

    /// Whether the core's heap is to be told of passages.
    #[inline(always)]
    pub(super) fn has_untold(&self) -> bool {
        self.untold > 0 || self.entered
    }

    /// Whether it is to be told before the next passage.
    #[inline(always)]
    pub(super) fn is_full(&self) -> bool {
        self.untold >= MOST_UNTOLD
    }

    /// What the core's heap is told, the earliest first: when virtual processors are looked at next, as passages had it.
    pub(super) fn take_looks(&mut self) -> impl Iterator<Item = (usize, Instant)> {
        let untold = core::mem::take(&mut self.untold).min(MOST_UNTOLD);
        self.entered = false;
        let mut looks = [(0, Instant::NEVER); MOST_UNTOLD + 1];
        let Occurrence { slot: mut at, mut base } = self.last;
        looks[untold] = (self.slots[at].partition.vp, Instant::from_nanos(base.wrapping_add(self.slots[at].end)));
        for look in looks[..untold].iter_mut().rev() {
            let slot = &self.slots[at];
            *look = (slot.left.vp, Instant::from_nanos(base.wrapping_add(slot.again)));
            if at == 0 {
                (at, base) = (self.slots.len(), base.wrapping_sub(self.frame));
            }
            at -= 1;
        }
        looks.into_iter().take(untold + 1)
    }

    /// The core has gone a passage to this window: its heap is told later.
    #[inline(always)]
    pub(super) fn go(&mut self, occurrence: Occurrence) {
        self.last = occurrence;
        self.untold = (self.untold + 1).min(self.slots.len());
    }

    /// The core, which was idle, is in this window: its heap is told later.
    #[inline(always)]
    pub(super) fn enter(&mut self, occurrence: Occurrence) {
        (self.last, self.entered) = (occurrence, true);
    }

    /// Whose the window is.
    #[inline(always)]
    pub(super) fn partition(&self, occurrence: Occurrence) -> Option<&Partition> {
        self.slots.get(occurrence.slot).map(|slot| &slot.partition)
    }

    /// The passage at whose end `now` lies, if it lies in a window.
    #[inline(always)]
    pub(super) fn pass(&self, now: u64) -> Option<Passage<'_>> {
        if now.wrapping_sub(self.from) >= self.length {
            return None;
        }
        // Mostly it is the next one.
        let mut at = Occurrence { slot: self.last.slot + 1, base: self.last.base };
        if at.slot >= self.slots.len() {
            at = Occurrence { slot: 0, base: at.base + self.frame };
        }
        let within = |slot: &&Slot, base: u64| base + slot.start <= now && now < base + slot.end;
        let mut slot = self.slots.get(at.slot)?;
        if !within(&slot, at.base) {
            at = self.find(now);
            slot = self.slots.get(at.slot).filter(|slot| within(slot, at.base))?;
        }
        Some(Passage { slot, occurrence: at })
    }

    /// The first slot of the frame that has not ended by `now`.
    #[cold]
    #[inline(never)]
    fn find(&self, now: u64) -> Occurrence {
        let base = now - now % self.frame;
        Occurrence { slot: self.slots.partition_point(|slot| base + slot.end <= now), base }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_tells_the_window_and_what_comes_next() {
        let ms = Duration::from_millis;
        let window = |start, length| in_schedule(0, start, length);
        let table = Table::new(ms(20), &[window(12, 8), window(3, 4)], CoreId(0), &[]);
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
        assert_eq!(Table::new(ms(20), &[], CoreId(0), &[]).position(Instant::ZERO).until, Instant::NEVER);
    }

    fn in_schedule(schedule: u8, start: u64, length: u64) -> Window {
        let ms = Duration::from_millis;
        Window { core: CoreId(0), start: ms(start), length: ms(length), schedule }
    }

    #[test]
    fn windows_are_those_of_the_schedule_of_the_frame() {
        // In schedule 1 there are none; 2 has the last in the frame.
        let switches = [(2, 1), (5, 2), (6, 1)].map(|(frame, schedule)| ScheduleSwitch { frame, schedule });
        let windows = [in_schedule(0, 0, 4), in_schedule(2, 16, 4)];
        let table = Table::new(Duration::from_millis(20), &windows, CoreId(0), &switches);
        let expected = [
            (0, true, Some(4)),
            (4, false, Some(20)),
            (24, false, Some(116)),
            (41, false, Some(116)),
            (116, true, Some(120)),
            (120, false, None),
        ];
        for (at, inside, until) in expected {
            let position = table.position(Instant::ZERO + Duration::from_millis(at));
            let next = until.map_or(Instant::NEVER, |until| Instant::ZERO + Duration::from_millis(until));
            assert_eq!(position, Position { inside, until: next }, "at {at}");
        }
    }
}
