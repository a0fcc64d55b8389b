//! Partitions of ARINC 653 as small scripts, and what the standard says must come of them: a reference model that knows nothing of the
//! runtime, and a generator of random partitions. `tests/scenarios/apex/src/script.rs` is the program that does what the scripts say.

mod draw;
mod model;
mod process;
mod text;

pub use draw::draw;
pub use model::predict;
pub use text::{scripts, Said};

use tactus_time::Duration;

/// What a process does, one after the other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// It computes for a number of units.
    Compute(u64),
    /// `PERIODIC_WAIT`.
    Period,
    /// `TIMED_WAIT` of a number of milliseconds.
    Sleep(u64),
    /// `WAIT_EVENT` with this time-out (ms), 0 for none.
    Await(u64),
    /// `SET_EVENT`.
    Set,
    /// `RESET_EVENT`.
    Reset,
    /// `REPLENISH` with this budget (ms), 0 for an infinite one.
    Replenish(u64),
    /// `SUSPEND_SELF` with this time-out (ms), 0 for none.
    SuspendSelf(u64),
    /// `SUSPEND` of the process of this name.
    Suspend(char),
    /// `RESUME`.
    Resume(char),
    /// `STOP`.
    Stop(char),
    /// `START`.
    Start(char),
    /// `RAISE_APPLICATION_ERROR`.
    Raise,
    /// `STOP_SELF`.
    StopSelf,
    /// An endless loop.
    Forever,
    /// It begins its script again.
    Again,
}

/// What the error handler does with a process that has missed its deadline.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Handling {
    /// Nothing.
    Ignore,
    /// It stops it.
    Stop,
    /// It stops it and starts it again.
    Restart,
}

/// A process.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Script {
    /// Its name.
    pub who: char,
    /// Whether it is a periodic process, with the period of its task.
    pub periodic: bool,
    /// The period of its task (ms).
    pub period: u64,
    /// Its time capacity (ms); 0 for an infinite one.
    pub capacity: u64,
    /// Whether its deadline is a hard one, which makes no difference.
    pub hard: bool,
    /// Whether the initialisation starts it.
    pub started: bool,
    /// What the error handler does with it.
    pub handling: Handling,
    /// What it does.
    pub steps: Vec<Step>,
}

/// A partition on one core.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Partition {
    /// Its processes, the most urgent first.
    pub scripts: Vec<Script>,
    /// The period of its error handler's task (ms), which is the most urgent; nothing if it has none.
    pub handler: Option<u64>,
    /// Whether its health table has processes begin anew that miss a deadline.
    pub restarts: bool,
    /// Its window: start and length (ms), in each frame.
    pub window: (u64, u64),
    /// The length of the frame (ms).
    pub frame: u64,
}

/// A system of one core.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct System {
    /// Its partitions.
    pub partitions: Vec<Partition>,
    /// How long it runs (ms).
    pub duration: u64,
}

/// What came, or must come, of a partition.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Story {
    /// What each process has told: who, what, with which return code, and when.
    pub told: Vec<StepResult>,
    /// Deadlines that were missed: by which process, which one, and when that was noticed.
    pub missed: Vec<(char, Duration, Duration)>,
}

/// One thing that a process has told.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StepResult {
    /// Who.
    pub who: char,
    /// What.
    pub what: String,
    /// With which return code.
    pub code: u32,
    /// When.
    pub at: Duration,
}
