//! What releases the jobs of a task.

use tactus_time::{Duration, Instant, TaskId};

/// What releases the jobs of a task. The first job of a periodic task comes its offset after the start, each further one a
/// period later, or with release jitter up to that later. All other tasks have at least a period between two releases, or are held to their [`Burst`]: what comes earlier
/// waits or has no job.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Release {
    /// Time: every period.
    #[default]
    Periodic,
    /// Time, as [`Release::Periodic`], with release jitter: each job comes later by up to this, as [`ReleaseInstants`] draws it. Greater than
    /// zero.
    Jittered(Duration),
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
            Release::Periodic | Release::Jittered(_) => None,
            Release::Sporadic(early) | Release::Bursts(early, _) | Release::After(_, early) => Some(early),
        }
    }

    /// The task whose completions release this one.
    pub const fn predecessor(self) -> Option<TaskId> {
        match self {
            Release::After(task, _) => Some(task),
            Release::Periodic | Release::Jittered(_) | Release::Sporadic(_) | Release::Bursts(..) => None,
        }
    }

    /// How releases bunch, where they may: those of a periodic task with release jitter may be at any distance.
    pub const fn burst(self) -> Option<Burst> {
        match self {
            Release::Bursts(_, burst) => Some(burst),
            Release::Jittered(jitter) => Some(Burst { jitter, distance: Duration::ZERO }),
            Release::Periodic | Release::Sporadic(_) | Release::After(..) => None,
        }
    }

    /// By how much time may release its jobs late, where it may.
    pub const fn jitter(self) -> Option<Duration> {
        match self {
            Release::Jittered(jitter) => Some(jitter),
            Release::Periodic | Release::Sporadic(_) | Release::Bursts(..) | Release::After(..) => None,
        }
    }

    /// Whether time releases its jobs.
    pub const fn is_timed(self) -> bool {
        matches!(self, Release::Periodic | Release::Jittered(_))
    }

    /// Whether arrivals from outside release it.
    pub const fn is_from_outside(self) -> bool {
        matches!(self, Release::Sporadic(_) | Release::Bursts(..))
    }
}

/// When the jobs of a periodic task with release jitter are released: a function of these fields and a job's number alone, so that
/// simulator, machine and replay have the same instants.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReleaseInstants {
    /// The task.
    pub task: TaskId,
    /// When its first job comes at the earliest.
    pub offset: Duration,
    /// From there to when the next one comes at the earliest.
    pub period: Duration,
    /// How much later each may come.
    pub jitter: Duration,
    /// What the lateness of each job is drawn from.
    pub seed: u64,
}

impl ReleaseInstants {
    /// The most periods that jitter may be: a job's release is found in one step for each of them.
    pub const MOST_PERIODS: u64 = 15;

    /// The release of the job with this number: offset + number · period, or later by up to the jitter, and not before the release of
    /// the job before it.
    pub fn of(&self, number: u32) -> Instant {
        let before = if self.period.is_zero() { 0 } else { (self.jitter / self.period).min(Self::MOST_PERIODS) as u32 };
        // One that was due a whole jitter earlier came no later than this one may.
        let each = (number.saturating_sub(before)..=number).map(|number| {
            let due = self.period.checked_mul(number.into()).unwrap_or(Duration::MAX);
            Instant::ZERO.saturating_add(self.offset).saturating_add(due).saturating_add(self.lateness(number))
        });
        each.max().unwrap_or(Instant::NEVER)
    }

    /// How late the job comes, by itself: one in four at once, one in four as late as it may, the others uniformly.
    fn lateness(&self, number: u32) -> Duration {
        let who = u64::from(self.task.0) << 32 | u64::from(number);
        let drawn = mixed(mixed(mixed(self.seed) ^ who));
        match drawn % 4 {
            0 => Duration::ZERO,
            1 => self.jitter,
            _ => Duration::from_nanos((drawn / 4) % self.jitter.as_nanos().saturating_add(1).max(1)),
        }
    }
}

/// The first number of SplitMix64 from this state (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014).
const fn mixed(state: u64) -> u64 {
    let z = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
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

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    #[test]
    fn jobs_with_jitter_come_at_their_instants_or_later_by_no_more_than_the_jitter_and_in_order() {
        for (jitter, seed) in [(3, 7), (10, 8), (25, 9), (159, 10)] {
            let instants = ReleaseInstants { task: TaskId(2), offset: ms(3), period: ms(10), jitter: ms(jitter), seed };
            let mut last = Instant::ZERO;
            let (mut none, mut whole) = (0, 0);
            for number in 0..1_000 {
                let (at, due) = (instants.of(number), Instant::ZERO + ms(3) + ms(10) * u64::from(number));
                assert!(at >= due && at <= due + ms(jitter) && at >= last, "job {number} at {at}, jitter {jitter} ms");
                (none, whole) = (none + u32::from(at == due), whole + u32::from(at == due + ms(jitter)));
                last = at;
            }
            assert!(whole > 200 && (none > 200 || jitter >= 10), "{none} {whole}");
        }
    }
}
