//! Windows of partitions: a static table of who has a core when, repeated with each major frame. There may be several tables, *schedules* (ARINC 653
//! Part 2, multiple module schedules), of which one holds in each frame.

use tactus_time::{CoreId, Duration};

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
}
