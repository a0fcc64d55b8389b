//! The windows of a partition on a core. A table has no state: whether a partition may run follows from the time alone, and so does
//! which schedule holds. So nothing is charged, and a window that was noticed late ends no later for that.

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
}

impl Schedules {
    /// Nothing where there are no switches.
    pub(super) fn new(frame: Duration, switches: &[ScheduleSwitch]) -> Option<Schedules> {
        let switches = switches.to_vec();
        (!switches.is_empty()).then(|| Schedules { frame: frame.as_nanos(), switches, past: 0 })
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

    /// The schedule that holds, if the last switch is one frame ago at least and the next one as far ahead.
    fn settled(&self, now: u64) -> Option<usize> {
        let (frame, switches) = (now / self.frame, &self.switches);
        let holds = ScheduleSwitch::schedule_in(switches, frame);
        let near = switches.iter().any(|it| frame.abs_diff(it.frame) <= 1) || self.next().as_nanos() <= now;
        (!near).then_some(usize::from(holds))
    }
}

/// The windows of all partitions on a core, in their order.
pub(super) struct Sequence {
    frame: u64,
    /// The slots of each schedule.
    tables: Vec<Vec<Slot>>,
    /// Whose slots these are.
    schedule: usize,
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
    /// Of the windows on this core of each virtual processor, by its number; nothing if no schedule has two.
    pub(super) fn new(
        frame: Duration,
        core: CoreId,
        windows: &[(usize, &[Window])],
        switches: &[ScheduleSwitch],
    ) -> Option<Sequence> {
        let frame = frame.as_nanos();
        let table = |schedule: u8| {
            let mut slots = Vec::new();
            for (vp, windows) in windows {
                let own = bounds(windows, core, schedule);
                for (n, (start, end)) in own.iter().copied().enumerate() {
                    let again = own.get(n + 1).map_or(own[0].0.saturating_add(frame), |next| next.0);
                    slots.push(Slot { start, end, again, vp: *vp });
                }
            }
            slots.sort_unstable_by_key(|slot| slot.start);
            slots
        };
        let tables: Vec<Vec<Slot>> = (0..=last_of(switches)).map(table).collect();
        let some = tables.iter().any(|slots| slots.len() > 1);
        let looks = Vec::with_capacity(MOST_LOOKS);
        some.then_some(Sequence { frame, tables, schedule: 0, last: 0, base: 0, looks })
    }

    /// The same for passages in the schedule that holds; nothing near a switch.
    pub(super) fn pass_in(&mut self, schedules: &Schedules, now: u64) -> Option<Passage> {
        self.schedule = schedules.settled(now)?;
        self.pass(now)
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
        let slots = &self.tables[self.schedule];
        let count = slots.len();
        if self.looks.len() + 2 > MOST_LOOKS || count < 2 {
            return None;
        }
        // Mostly it is the next one.
        let (next, base) = match self.last + 1 {
            next if next < count => (next, self.base),
            _ => (0, self.base + self.frame),
        };
        let within = |slot: &Slot, base: u64| (base + slot.start..base + slot.end).contains(&now);
        if within(slots.get(next)?, base) {
            (self.last, self.base) = (next, base);
        } else {
            let base = now - now % self.frame;
            let at = slots.partition_point(|slot| base + slot.end <= now);
            if !slots.get(at).is_some_and(|slot| within(slot, base)) {
                return None;
            }
            (self.last, self.base) = (at, base);
        }
        let entered = slots[self.last];
        let (before, base) = match self.last.checked_sub(1) {
            Some(before) => (before, self.base),
            None => (count - 1, self.base.checked_sub(self.frame)?),
        };
        let left = slots[before];
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
