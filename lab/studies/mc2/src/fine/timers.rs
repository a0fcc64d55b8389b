//! The timers of one core, one for each container whose releases it serves, and how they are merged (2.8): those that
//! expire within one microsecond share a timer, which is found by its window in constant time. When it expires, what it
//! stands for is handled in the order of criticality. Without merging each expires by itself, in the order in which they
//! were set where they expire at once.
//!
//! A merged timer expires at the end of its window, so that nothing is released early. Times that are whole microseconds
//! are not moved.

use alloc::vec::Vec;
use tactus_policy::parts::{Heap, Key};
use tactus_time::{CoreId, Instant, MAX_CORES};

/// Timers within so many nanoseconds are one.
const WINDOW: u64 = 1_000;
/// Twice as many as there can be timers.
const ROOM: usize = 2 * 4 * MAX_CORES;

/// What a timer is for: the releases of a level, on behalf of a core. The order is that of criticality.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Name(u8);

impl Name {
    pub(super) fn new(level: usize, core: CoreId) -> Name {
        Name((level * MAX_CORES + core.index()) as u8)
    }
    pub(super) fn level(self) -> usize {
        usize::from(self.0) / MAX_CORES
    }
    pub(super) fn core(self) -> CoreId {
        CoreId(self.0 % MAX_CORES as u8)
    }
}

/// Some of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Names(u32);

impl Iterator for Names {
    type Item = Name;

    /// The most critical first.
    fn next(&mut self) -> Option<Name> {
        let first = self.0.trailing_zeros();
        self.0 &= self.0.wrapping_sub(1);
        (first < u32::BITS).then_some(Name(first as u8))
    }
}

/// One core's timers; each name is set once at most.
pub(super) struct Timers {
    /// By expiry. A place is a window's, or the order of setting and then the name.
    first: Heap,
    /// By number, with room to spare; nothing without merging.
    windows: Vec<Window>,
    set: u64,
}

#[derive(Clone, Copy, Default)]
struct Window {
    number: u64,
    names: u32,
}

impl Timers {
    pub(super) fn new(merged: bool) -> Timers {
        let windows = if merged { alloc::vec![Window::default(); ROOM] } else { Vec::new() };
        Timers { first: Heap::with_capacity(ROOM), windows, set: 0 }
    }

    /// Sets a timer that is not set.
    pub(super) fn set(&mut self, at: Instant, name: Name) {
        if at == Instant::NEVER {
            return;
        }
        if self.windows.is_empty() {
            self.set += 1;
            self.first.push(Key::at(at, (self.set << 8) as usize | usize::from(name.0)));
            return;
        }
        let number = at.as_nanos().div_ceil(WINDOW);
        let mut place = number as usize % ROOM;
        // There are twice as many places as names, so one is free nearby.
        while self.windows[place].names != 0 && self.windows[place].number != number {
            place = (place + 1) % ROOM;
        }
        let window = &mut self.windows[place];
        if window.names == 0 {
            window.number = number;
            self.first.push(Key::new(number.saturating_mul(WINDOW), place));
        }
        window.names |= 1 << name.0;
    }

    /// When the first expires.
    pub(super) fn next(&self) -> Instant {
        self.first.peek().map_or(Instant::NEVER, Key::time)
    }

    /// Takes what has expired: all of it where timers are merged, else the first.
    pub(super) fn expired(&mut self, now: Instant) -> Names {
        let mut names = 0;
        while let Some(first) = self.first.peek() {
            if first.time() > now {
                break;
            }
            self.first.pop();
            if self.windows.is_empty() {
                return Names(1 << (first.place() & 0xff));
            }
            names |= core::mem::take(&mut self.windows[first.place()].names);
        }
        Names(names)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(nanos: u64) -> Instant {
        Instant::from_nanos(nanos)
    }
    fn name(level: usize, core: u8) -> Name {
        Name::new(level, CoreId(core))
    }

    #[test]
    fn releases_within_a_microsecond_are_one_timer_and_come_in_the_order_of_criticality() {
        let mut timers = Timers::new(true);
        timers.set(at(5_000), name(2, 1));
        timers.set(at(4_900), name(0, 3));
        timers.set(at(4_200), name(1, 0));
        timers.set(at(5_001), name(0, 0));
        assert_eq!(timers.next(), at(5_000));
        assert_eq!(timers.expired(at(4_999)).count(), 0);
        let order: Vec<_> = timers.expired(at(5_000)).map(|name| (name.level(), name.core().0)).collect();
        assert_eq!(order, [(0, 3), (1, 0), (2, 1)]);
        assert_eq!(timers.next(), at(6_000));
    }

    #[test]
    fn without_merging_each_expires_by_itself_the_one_set_first_before_the_others() {
        let mut timers = Timers::new(false);
        timers.set(at(5_000), name(2, 1));
        timers.set(at(5_000), name(0, 3));
        timers.set(at(4_999), name(1, 0));
        let mut taken = Vec::new();
        while let Some(name) = timers.expired(at(5_000)).next() {
            taken.push(name.level());
        }
        assert_eq!(taken, [1, 2, 0]);
    }

    #[test]
    fn windows_whose_numbers_share_a_place_are_kept_apart() {
        let mut timers = Timers::new(true);
        for n in 0..8 {
            timers.set(at((1 + n * ROOM as u64) * WINDOW), name(1, n as u8));
        }
        for n in 0..8 {
            let when = timers.next();
            assert_eq!(when, at((1 + n * ROOM as u64) * WINDOW));
            assert_eq!(timers.expired(when).map(|name| name.core().0).collect::<Vec<_>>(), [n as u8]);
        }
        assert_eq!(timers.next(), Instant::NEVER);
    }

    /// A timer is a container's and not a task's, so there are at most 32; a window is found in a step or two, and never in more steps
    /// than there are timers, whatever their times.
    #[test]
    fn a_window_is_found_in_two_steps_in_the_mean_however_many_timers_are_set() {
        let mut seed = 1u64;
        let mut draw = |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % below
        };
        for count in [4, 8, 16, 32] {
            let (mut steps, mut most, mut set) = (0, 0, 0);
            let mut timers = Timers::new(true);
            for name in 0..count {
                timers.set(at(draw(100_000)), Name(name));
            }
            for _ in 0..10_000 {
                let now = timers.next();
                for name in timers.expired(now) {
                    timers.set(at(now.as_nanos() + 1 + draw(100_000)), name);
                    let is_it = |window: &Window| window.names & 1 << name.0 != 0;
                    let place = timers.windows.iter().position(is_it).expect("it is set");
                    let first = timers.windows[place].number as usize % ROOM;
                    let looked_at = (place + ROOM - first) % ROOM + 1;
                    (steps, most, set) = (steps + looked_at, most.max(looked_at), set + 1);
                }
            }
            assert!(
                steps <= 2 * set && most <= usize::from(count),
                "{count} timers: {steps} for {set}, at most {most}"
            );
        }
    }
}
