//! From records to stretches of time: what each core did, and when.

use tactus_time::{CoreId, Instant, TaskId};

/// A stretch of time on one core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Segment {
    /// Where.
    pub core: CoreId,
    /// Whose; nothing for the scheduler and for idle time.
    pub task: Option<TaskId>,
    /// Which job, where there is a task.
    pub job: u32,
    /// First instant.
    pub start: Instant,
    /// First instant after it.
    pub end: Instant,
    /// What the core did. Ghosts lie beside the other kinds; the others never overlap on one core.
    pub kind: SegmentKind,
}

/// What a core did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SegmentKind {
    /// It ran the job.
    Run,
    /// A finished job used up its left-over budget while something else ran.
    Ghost,
    /// It was in the scheduler, from `Enter` to `Leave`.
    Scheduler,
    /// It had nothing to run.
    Idle,
}
