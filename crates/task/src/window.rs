//! Windows of partitions: a static table of who has a core when, repeated with each major frame. There may be several tables, *schedules* (ARINC 653
//! Part 2, multiple module schedules), of which one holds in each frame.

use tactus_time::{CoreId, Duration, Instant};

/// A window: one partition has this core from `start` on for `length`, in every major frame of its schedule.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Window {
    /// The core.
    pub core: CoreId,
    /// Start, counted from the start of the major frame.
    pub start: Duration,
    /// Length, greater than zero.
    pub length: Duration,
    /// The schedule, by number; 0 is that in which the system begins.
    pub schedule: u8,
}

/// From the start of a major frame on, windows are those of another schedule.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ScheduleSwitch {
    /// The frame, counted from 0.
    pub frame: u64,
    /// The schedule from then on.
    pub schedule: u8,
}

impl ScheduleSwitch {
    /// The schedule of a frame. `switches`: by frame.
    pub fn schedule_in(switches: &[ScheduleSwitch], frame: u64) -> u8 {
        let before = switches.partition_point(|it| it.frame <= frame);
        before.checked_sub(1).map_or(0, |last| switches[last].schedule)
    }
}

impl Window {
    /// Its end, counted from the start of the major frame.
    pub fn end(&self) -> Duration {
        self.start.checked_add(self.length).unwrap_or(Duration::MAX)
    }

    /// The first instant from `at` on that lies in one of these windows on the core; nothing if none does. `table`: the length of the
    /// major frame, and when another schedule begins.
    pub fn first_instant(
        windows: &[Window],
        core: CoreId,
        table: (Duration, &[ScheduleSwitch]),
        at: Instant,
    ) -> Option<Instant> {
        let (frame, switches) = (table.0.as_nanos().max(1), table.1);
        let (mut number, mut inside) = (at.as_nanos() / frame, Duration::from_nanos(at.as_nanos() % frame));
        loop {
            let schedule = ScheduleSwitch::schedule_in(switches, number);
            let here = windows.iter().filter(|window| (window.core, window.schedule) == (core, schedule));
            let ahead = here.filter(|window| window.end() > inside).map(|window| window.start.max(inside));
            if let Some(first) = ahead.min() {
                return number.checked_mul(frame).map(|start| Instant::from_nanos(start).saturating_add(first));
            }
            // A whole frame without one: there is none before the next schedule either.
            let next = || switches.iter().map(|it| it.frame).find(|next| *next > number);
            number = if inside.is_zero() { next()? } else { number + 1 };
            inside = Duration::ZERO;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    #[test]
    fn the_first_instant_in_a_window_is_found_in_this_frame_the_next_or_after_a_switch() {
        let window = |core, start, length, schedule| Window {
            core: CoreId(core),
            start: ms(start),
            length: ms(length),
            schedule,
        };
        let windows = [window(0, 2, 3, 0), window(0, 7, 1, 0), window(1, 0, 10, 0), window(0, 4, 2, 2)];
        let switches = [ScheduleSwitch { frame: 3, schedule: 1 }, ScheduleSwitch { frame: 5, schedule: 2 }];
        let first = |core, switches: &[ScheduleSwitch], at| {
            Window::first_instant(&windows, CoreId(core), (ms(10), switches), Instant::ZERO + ms(at))
                .map(|it| it.since(Instant::ZERO) / ms(1))
        };
        for (at, expected) in [(0, 2), (2, 2), (4, 4), (5, 7), (7, 7), (8, 12), (19, 22)] {
            assert_eq!(first(0, &[], at), Some(expected), "{at}");
        }
        // Frames 3 and 4 have none.
        for (at, expected) in [(27, 27), (28, 54), (30, 54), (35, 54), (56, 64)] {
            assert_eq!(first(0, &switches, at), Some(expected), "{at}");
        }
        assert_eq!([first(1, &switches, 29), first(1, &switches, 30)], [Some(29), None]);
        assert_eq!(first(2, &[], 0), None);
    }
}
