//! What releases the jobs of a task.

use tactus_time::{Duration, Instant, TaskId};

/// What releases the jobs of a task. The first job of a periodic task comes its offset after the start, each further one a
/// period later. All other tasks have at least a period between two releases, or are held to their [`Burst`]: what comes earlier
/// waits or has no job.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Release {
    /// Time: every period.
    #[default]
    Periodic,
    /// An arrival from outside: an interrupt, a message, or an event that a component raises.
    Sporadic(EarlyArrival),
    /// As [`Release::Sporadic`], but arrivals may come in bursts.
    Bursts(EarlyArrival, Burst),
    /// The completion of a job of another task. The period is that of the other task or shorter. (With
    /// [`EarlyArrival::Delay`] this is the release-guard protocol: Sun and Liu, ICDCS 1996.) Or of the task itself: the first job comes its
    /// offset after the start, each further one as soon as the one before it is complete, as a thread does that goes round.
    After(TaskId, EarlyArrival),
}

/// What becomes of an arrival that comes earlier than it may.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum EarlyArrival {
    /// `delay`: its job is released as soon as it may be.
    #[default]
    Delay,
    /// `drop`: it has no job.
    Drop,
    /// `fault`: as [`EarlyArrival::Delay`], and the verdict names its task.
    Fault,
}

impl EarlyArrival {
    /// All, in the order of their numbers in stored forms.
    pub const ALL: [EarlyArrival; 3] = [EarlyArrival::Delay, EarlyArrival::Drop, EarlyArrival::Fault];
}

/// How arrivals may bunch: the arrival curve of Richter, "Compositional scheduling analysis using standard event models" (PhD thesis,
/// TU Braunschweig 2005), which pyCPA calls PJd. In a half-open window of length w there are at most ⌈(w + J)/T⌉ and ⌈w/d⌉ of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Burst {
    /// J: by how much one may be earlier than one a period.
    pub jitter: Duration,
    /// d: the least distance of two.
    pub distance: Duration,
}

impl Burst {
    /// The most arrivals at once, or as good as, in a period of T.
    pub fn most(self, period: Duration) -> u64 {
        if period.is_zero() {
            return u64::MAX;
        }
        self.jitter / period + 1
    }
}

impl Release {
    /// What becomes of early arrivals, where jobs have arrivals.
    pub const fn early(self) -> Option<EarlyArrival> {
        match self {
            Release::Periodic => None,
            Release::Sporadic(early) | Release::Bursts(early, _) | Release::After(_, early) => Some(early),
        }
    }

    /// The task whose completions release this one.
    pub const fn predecessor(self) -> Option<TaskId> {
        match self {
            Release::After(task, _) => Some(task),
            Release::Periodic | Release::Sporadic(_) | Release::Bursts(..) => None,
        }
    }

    /// How arrivals bunch, where they may.
    pub const fn burst(self) -> Option<Burst> {
        match self {
            Release::Bursts(_, burst) => Some(burst),
            Release::Periodic | Release::Sporadic(_) | Release::After(..) => None,
        }
    }

    /// Whether arrivals from outside release it.
    pub const fn is_from_outside(self) -> bool {
        matches!(self, Release::Sporadic(_) | Release::Bursts(..))
    }
}

/// The earliest instants at which jobs may be released of a task that time does not release.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReleaseGuard {
    period: Duration,
    burst: Option<Burst>,
    /// The next release may not come before this.
    earliest: Instant,
    /// Where releases bunch: a period after the one before, or after when that was due; the next release may come before this by no more
    /// than the jitter.
    due: Instant,
}

impl ReleaseGuard {
    /// Before the first release. Without a burst, a period lies between two releases.
    pub fn new(period: Duration, burst: Option<Burst>) -> ReleaseGuard {
        ReleaseGuard { period, burst, earliest: Instant::ZERO, due: Instant::ZERO }
    }

    /// When the job of what arrived at `at` is to be released.
    pub fn nominal(&self, at: Instant) -> Instant {
        at.max(self.earliest)
    }

    /// Whether the job of what arrived at `at` is to be released at that very time.
    #[inline(always)]
    pub const fn allows(&self, at: Instant) -> bool {
        at.as_nanos() >= self.earliest.as_nanos()
    }

    /// A job is released then, which [`ReleaseGuard::nominal`] gave.
    #[inline]
    pub fn release(&mut self, nominal: Instant) {
        self.earliest = match self.burst {
            None => nominal.saturating_add(self.period),
            Some(Burst { jitter, distance }) => {
                self.due = self.due.max(nominal).saturating_add(self.period);
                let early = Instant::from_nanos(self.due.as_nanos().saturating_sub(jitter.as_nanos()));
                nominal.saturating_add(distance).max(early)
            }
        };
    }
}
