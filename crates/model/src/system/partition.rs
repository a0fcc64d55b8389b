//! Partitions: parts of a system that have their cores in the windows of a static table (ARINC 653).

use std::fmt;
use tactus_task::{ScheduleSwitch, Window};
use tactus_time::{CoreId, Duration};

/// The partitions of a system; none where its policy is another one.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Partitions {
    /// The length of the major frame, with which all windows repeat; zero if there are no partitions.
    pub frame: Duration,
    /// The partitions. Each is the server at the same place in [`Scheduling::servers`](crate::Scheduling::servers).
    pub list: Vec<Partition>,
    /// The names of the schedules, that in which the system begins first; empty if there is one alone, which has no name.
    pub schedules: Vec<String>,
    /// When another schedule begins, by frame.
    pub switches: Vec<ScheduleSwitch>,
}

impl Partitions {
    /// The numbers of all schedules.
    pub fn numbers(&self) -> std::ops::Range<u8> {
        0..self.schedules.len().max(1) as u8
    }
}

/// What a partition is beyond a server.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Partition {
    /// How critical it is, if the file says.
    pub criticality: Option<Criticality>,
    /// The major frame in which it starts, counted from 0: offsets of its tasks count from the start of that frame.
    pub start_frame: u64,
    /// Whether its component is loaded while the system runs, in the partition's longest window until it starts.
    pub late: bool,
    /// Its windows in all schedules, by schedule, core and start.
    pub windows: Vec<Window>,
    /// In each of these it has its duration, on each of its cores; the major frame, if the file does not say.
    pub period: Duration,
    /// See the period; what it has in the frame on the core and in the schedule where it has least but some, if the file does not say.
    pub duration: Duration,
    /// The components that are its own, by their places in [`System::components`](crate::System::components).
    pub components: Vec<usize>,
    /// What is done about its errors.
    pub health: Health,
}

/// The health table of a partition: what is done about each kind of error. The reader has made monitors, overrun rules and rights to
/// restart of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Health {
    /// Its component faults or panics.
    pub fault: HealthAction,
    /// A job reaches its deadline unfinished.
    pub deadline_missed: HealthAction,
    /// A job has used its execution time up.
    pub overrun: HealthAction,
    /// It has been restarted as often as it may be, and is to be again.
    pub exhausted: HealthAction,
    /// Whether it restarts with a warm start.
    pub warm: bool,
}

/// What is done about an error.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum HealthAction {
    /// Nothing but that the trace tells of it; where that cannot be, the partition is idle.
    #[default]
    None,
    /// The job ends, and the process restarts with the next one.
    RestartProcess,
    /// The job goes on in the next period of its process.
    SuspendProcess,
    /// The partition is stopped, and stays so.
    Idle,
    /// The partition restarts as soon as it may.
    Wait,
    /// The partition restarts.
    Restart,
    /// The run ends.
    EndModule,
}

impl HealthAction {
    /// The word of the system file.
    pub const fn word(self) -> &'static str {
        match self {
            HealthAction::None => "note",
            HealthAction::RestartProcess => "restart-process",
            HealthAction::SuspendProcess => "suspend-process",
            HealthAction::Idle => "idle",
            HealthAction::Wait => "wait",
            HealthAction::Restart => "restart",
            HealthAction::EndModule => "end-module",
        }
    }
}

/// How critical a partition is: the levels of DO-178C, the most critical first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Criticality {
    /// A failure would be catastrophic.
    A,
    /// Hazardous.
    B,
    /// Major.
    C,
    /// Minor.
    D,
    /// Without effect on safety.
    E,
}

impl Criticality {
    /// All of them, the most critical first.
    pub const ALL: [Criticality; 5] = [Criticality::A, Criticality::B, Criticality::C, Criticality::D, Criticality::E];
}

impl fmt::Display for Criticality {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(["A", "B", "C", "D", "E"][*self as usize])
    }
}

impl Partition {
    /// How long its windows on a core are together, in each major frame of a schedule.
    pub fn time_on(&self, core: CoreId, schedule: u8) -> Duration {
        let own = self.windows.iter().filter(|window| window.core == core && window.schedule == schedule);
        own.fold(Duration::ZERO, |sum, window| sum + window.length)
    }

    /// The longest of its windows in the first schedule, in which it is loaded where it is loaded late.
    pub fn loaded_in(&self) -> Option<Window> {
        let first = self.windows.iter().filter(|window| window.schedule == 0);
        first.copied().max_by_key(|window| (window.length, std::cmp::Reverse((window.core, window.start))))
    }

    /// When it starts, in a system with major frames of this length.
    pub fn start(&self, frame: Duration) -> Duration {
        frame.checked_mul(self.start_frame).unwrap_or(Duration::MAX)
    }
}
