//! The jobs of one task: which are released, which is the oldest unfinished one, what it was charged. Jobs of a task
//! run in the order of their release, each with its own deadline, however late they are.

use crate::heap::Key;
use crate::PolicyConfig;
use tactus_record::Subject;
use tactus_time::{Duration, Instant, TaskId};

/// What makes one job more urgent than another.
pub trait Rule: Send + Sync {
    /// The urgency of the task's oldest unfinished job: less is more urgent. It may not change while the job waits.
    fn urgency(task: &Jobs) -> u64;
}

/// The shorter period first.
pub struct RateMonotonic;

impl Rule for RateMonotonic {
    #[inline]
    fn urgency(task: &Jobs) -> u64 {
        task.period.as_nanos()
    }
}

/// The shorter relative deadline first.
pub struct DeadlineMonotonic;

impl Rule for DeadlineMonotonic {
    #[inline]
    fn urgency(task: &Jobs) -> u64 {
        task.deadline.as_nanos()
    }
}

/// The earlier deadline first.
pub struct EarliestDeadline;

impl Rule for EarliestDeadline {
    #[inline]
    fn urgency(task: &Jobs) -> u64 {
        task.release.saturating_add(task.deadline).as_nanos()
    }
}

/// The larger number goes first.
pub struct FixedPriority;

impl Rule for FixedPriority {
    #[inline]
    fn urgency(task: &Jobs) -> u64 {
        u64::from(u32::MAX - task.priority)
    }
}

/// A task and its jobs.
#[derive(Clone, Debug)]
pub struct Jobs {
    id: TaskId,
    subject: Subject,
    period: Duration,
    deadline: Duration,
    /// The oldest unfinished job's number and release; the next one's if all are finished.
    job: u32,
    release: Instant,
    /// How many jobs are released and not finished.
    pending: u32,
    /// What the oldest unfinished job was charged.
    charged: Duration,
    priority: u32,
    removed: bool,
}

impl Jobs {
    /// The task of this number of the set-up, before its first release.
    pub(crate) fn new(setup: &PolicyConfig, number: usize) -> Jobs {
        let (id, task) = (TaskId(number as u16), &setup.tasks[number]);
        let priority = setup.kind.priorities().get(number).copied().unwrap_or(0);
        Jobs {
            id,
            subject: Subject::new(id, task.level as u8),
            period: task.period,
            deadline: task.deadline,
            job: 0,
            release: Instant::ZERO.saturating_add(task.offset),
            pending: 0,
            charged: Duration::ZERO,
            priority,
            removed: false,
        }
    }
    #[inline]
    pub(crate) fn id(&self) -> TaskId {
        self.id
    }
    /// How records name the task.
    #[inline]
    pub(crate) fn subject(&self) -> Subject {
        self.subject
    }
    #[inline]
    pub(crate) fn job(&self) -> u32 {
        self.job
    }
    #[inline]
    pub(crate) fn charged(&self) -> Duration {
        self.charged
    }
    #[inline]
    pub(crate) fn removed(&self) -> bool {
        self.removed
    }
    #[inline]
    pub(crate) fn charge(&mut self, elapsed: Duration) {
        self.charged = Duration::from_nanos(self.charged.as_nanos().saturating_add(elapsed.as_nanos()));
    }
    /// The place of the oldest unfinished job in a ready queue, for the task at `place`.
    #[inline]
    pub(crate) fn key<R: Rule>(&self, place: usize) -> Key {
        Key::new(R::urgency(self), place)
    }
    /// Releases the next job. Gives its number, and whether it is now the oldest unfinished one.
    #[inline]
    pub(crate) fn release(&mut self) -> (u32, bool) {
        let number = self.job.wrapping_add(self.pending);
        self.pending = self.pending.saturating_add(1);
        (number, self.pending == 1)
    }
    /// As [`Jobs::release`] of a task that has no pending job.
    #[inline(always)]
    pub(crate) fn release_alone(&mut self) -> u32 {
        self.pending = 1;
        self.job
    }
    /// The release after the one at `release`; nothing if it is later than every time.
    #[inline]
    pub(crate) fn next_release(&self, release: Instant) -> Option<Instant> {
        let next = release.saturating_add(self.period);
        (next < Instant::NEVER).then_some(next)
    }
    /// Whether no other job waits for the end of the oldest.
    #[inline(always)]
    pub(crate) fn has_one_job(&self) -> bool {
        self.pending == 1
    }
    /// The same if the task has no pending job and may have one.
    #[inline(always)]
    pub(crate) fn next_release_if_alone(&self, release: Instant) -> Option<Instant> {
        if self.pending != 0 {
            return None;
        }
        // Of a task that was removed, the next release is later than every time.
        release.as_nanos().checked_add(self.period.as_nanos()).map(Instant::from_nanos)
    }
    /// Ends the oldest unfinished job. Whether another one is pending.
    #[inline]
    pub(crate) fn complete(&mut self) -> bool {
        self.job = self.job.wrapping_add(1);
        self.release = self.release.saturating_add(self.period);
        self.charged = Duration::ZERO;
        self.pending = self.pending.saturating_sub(1);
        self.pending > 0
    }
    /// As [`Jobs::complete`] of a task that [`Jobs::has_one_job`].
    #[inline(always)]
    pub(crate) fn complete_alone(&mut self) {
        self.job = self.job.wrapping_add(1);
        self.release = self.release.saturating_add(self.period);
        self.charged = Duration::ZERO;
        self.pending = 0;
    }
    /// Takes the task out for good: no pending jobs, and none to come.
    pub(crate) fn remove(&mut self) {
        self.removed = true;
        self.pending = 0;
        self.period = Duration::from_nanos(u64::MAX);
    }
}

#[cfg(test)]
mod tests {
    //! What `docs/adding-a-policy.md` shows of this file compiles, and does what the page says.

    use super::*;
    use crate::clustered::Clustered;
    use crate::partitioned::Partitioned;
    use crate::{Event, Policy, PolicySpec, Task};
    use tactus_record::{Record, Sink};
    use tactus_time::{CoreId, Level};

    // BEGIN order by release
    /// The job that was released first goes first.
    pub struct ByRelease;

    impl Rule for ByRelease {
        fn urgency(task: &Jobs) -> u64 {
            task.release.as_nanos()
        }
    }
    // END order by release

    struct NoRecords;

    impl Sink for NoRecords {
        fn record(&mut self, _: Record) {}
    }

    /// Who runs at 0 and at 1, when a job with an earlier deadline is released.
    fn runs<P: Policy>((policy, mut cores): (P, alloc::vec::Vec<P::Core>)) -> [Option<TaskId>; 2] {
        [(0, Event::Start), (1, Event::Timer)].map(|(millis, event)| {
            let now = Instant::ZERO + Duration::from_millis(millis);
            policy.handle(&mut cores[0], now, event, &mut NoRecords).run.map(|run| run.task)
        })
    }

    #[test]
    fn the_order_of_the_page_lets_nobody_overtake_partitioned_and_global() {
        let task = |offset, period| Task {
            level: Level::A,
            core: Some(CoreId(0)),
            offset: Duration::from_millis(offset),
            period: Duration::from_millis(period),
            deadline: Duration::from_millis(period),
            budget: Duration::ZERO,
        };
        let tasks = alloc::vec![task(1, 4), task(0, 10)];
        let setup = PolicyConfig { cores: 1, kind: PolicySpec::PartitionedEdf, tasks };
        assert_eq!(runs(Partitioned::<EarliestDeadline>::new(&setup)), [Some(TaskId(1)), Some(TaskId(0))]);
        assert_eq!(runs(Partitioned::<ByRelease>::new(&setup)), [Some(TaskId(1)); 2]);
        let setup = PolicyConfig { kind: PolicySpec::GlobalEdf, ..setup };
        assert_eq!(runs(Clustered::<ByRelease>::new(&setup)), [Some(TaskId(1)); 2]);
    }

    #[test]
    fn the_page_shows_this_very_code_and_numbers_that_are_free() {
        let page = include_str!("../../../docs/adding-a-policy.md");
        let code = include_str!("jobs.rs").split("    // BEGIN order by release\n").nth(1).expect("it begins");
        let code = code.split("    // END order by release\n").next().expect("and ends");
        let code: alloc::vec::Vec<&str> = code.lines().map(|line| line.strip_prefix("    ").unwrap_or(line)).collect();
        assert!(page.contains(&code.join("\n")), "docs/adding-a-policy.md shows other code");
        let numbers = |text: &'static str| {
            let line = |line: &'static str| {
                let (number, rest) = line.trim_start_matches([' ', '`']).split_once(' ')?;
                rest.contains(" => ").then(|| number.parse::<u8>().ok())?
            };
            text.lines().filter_map(line).collect::<alloc::vec::Vec<u8>>()
        };
        let (shown, taken) = (numbers(page), numbers(include_str!("list.rs")));
        assert!(shown.len() >= 3 && shown.iter().all(|number| !taken.contains(number)), "{shown:?} of {taken:?}");
    }
}
