//! What releases the jobs of a task.

use tactus_time::TaskId;

/// What releases the jobs of a task. The first job of a periodic task comes its offset after the start, each further one a
/// period later. All other tasks have at least a period between two releases: what comes earlier waits or is dropped.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Release {
    /// Time: every period.
    #[default]
    Periodic,
    /// An arrival from outside: an interrupt, or an event that a component raises.
    Sporadic(EarlyArrival),
    /// The completion of a job of another task. The period is that of the other task or shorter. (With
    /// [`EarlyArrival::Delay`] this is the release-guard protocol: Sun and Liu, ICDCS 1996.) Or of the task itself: the first job comes its
    /// offset after the start, each further one as soon as the one before it is complete, as a thread does that goes round.
    After(TaskId, EarlyArrival),
}

/// What becomes of an arrival that comes less than a period after the release before it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum EarlyArrival {
    /// `delay`: its job is released when the period is over.
    #[default]
    Delay,
    /// `drop`: it has no job.
    Drop,
}

impl Release {
    /// What becomes of early arrivals, where jobs have arrivals.
    pub const fn early(self) -> Option<EarlyArrival> {
        match self {
            Release::Periodic => None,
            Release::Sporadic(early) | Release::After(_, early) => Some(early),
        }
    }

    /// The task whose completions release this one.
    pub const fn predecessor(self) -> Option<TaskId> {
        match self {
            Release::After(task, _) => Some(task),
            Release::Periodic | Release::Sporadic(_) => None,
        }
    }
}
