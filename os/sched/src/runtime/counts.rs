//! What a scheduler counts of its tasks' jobs, so that the machine itself can say whether every promise held.

use tactus_policy::Task;
use tactus_record::{EventKind, Record, Sink, Stored, Subject};
use tactus_rt::abi::shared::TaskCard;
use tactus_rt::clock;
use tactus_rt::scheduler::RingWriter;
use tactus_rt::time::{CoreId, Duration, Instant, TaskId};

/// Counts of one task's jobs on one core.
#[derive(Clone, Copy)]
pub struct JobCounts {
    /// The component in which its thread is at home.
    pub home: u32,
    /// The first release, or where it would have been.
    pub offset: Duration,
    /// From release to release.
    pub period: Duration,
    /// From a release to its deadline.
    pub deadline: Duration,
    /// Jobs finished.
    pub finished: u64,
    /// Jobs that missed their deadlines.
    pub missed: u64,
    /// The longest response.
    pub worst: Duration,
    /// The greatest lateness after a deadline.
    pub tardiness: Duration,
    /// How long the job has waited that is unfinished at the end and was released first.
    pub waited: Duration,
    /// Jobs released.
    pub released: u64,
    /// Jobs that the policy ended unfinished.
    pub dropped: u64,
    /// The task was removed.
    pub removed: bool,
    /// How long after its release a job may end at most, by what was promised; by its deadline if nothing was.
    limit: Duration,
    /// The least that a finished job is charged (ns).
    minimum: u64,
    /// Jobs that ended unfinished, dropped or with their component, or with less than the least.
    pub undone: u64,
    /// The last job that ended with its component, or that has nothing to do: it is not expected to take as long as others.
    excused: u32,
    /// Jobs finished that had nothing to do.
    pub idle: u64,
}

/// The bound of what was promised for a task; none if nothing was.
pub fn bound(card: &TaskCard) -> Option<Duration> {
    (1..=2).contains(&card.promise).then(|| Duration::from_nanos(card.bound))
}

/// Whether a bound on the tardiness was promised, not one on the response.
pub fn is_tardiness(card: &TaskCard) -> bool {
    card.promise == 2
}

/// A component's number, where there is one; else one that no component has.
fn component(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

impl JobCounts {
    /// Nothing yet.
    pub fn new(task: &Task, card: &TaskCard) -> JobCounts {
        JobCounts {
            home: component(card.home),
            offset: task.offset,
            period: task.period,
            deadline: task.deadline,
            finished: 0,
            missed: 0,
            worst: Duration::ZERO,
            tardiness: Duration::ZERO,
            waited: Duration::ZERO,
            released: 0,
            dropped: 0,
            removed: false,
            limit: limit(task, card),
            minimum: card.minimum,
            undone: 0,
            excused: u32::MAX,
            idle: 0,
        }
    }

    /// The nominal release of the job.
    #[inline(always)]
    pub fn release(&self, job: u32) -> Instant {
        // The offset may be less than zero: see `altered`.
        let after = self.period.as_nanos().wrapping_mul(u64::from(job));
        Instant::from_nanos(self.offset.as_nanos().wrapping_add(after))
    }

    /// A reconfiguration is applied: the job that is released next comes at `next`, and those after it in this period. No job is
    /// under way whose release could still be asked for.
    pub fn altered(&mut self, next: Instant, period: Duration, deadline: Duration) {
        let before = period.as_nanos().wrapping_mul(self.released);
        self.offset = Duration::from_nanos(next.as_nanos().wrapping_sub(before));
        (self.period, self.deadline) = (period, deadline);
    }

    /// The policy ended the job: it misses its deadline, if that lies in the run, which ends at `end`.
    #[cold]
    pub fn drop(&mut self, job: u32, end: Instant) {
        self.dropped += 1;
        let release = self.release(job);
        self.missed += u64::from(release + self.deadline < end);
        self.undone += u64::from(release + self.limit < end);
    }

    /// The job ends unfinished with its component; that it is finished is reported next.
    pub fn abort(&mut self, job: u32, now: Instant) {
        self.excused = job;
        self.undo(job, now);
    }

    /// The job has nothing to do; that it is finished is reported next.
    pub fn idle(&mut self, job: u32) {
        self.excused = job;
        self.idle += 1;
    }

    /// The job ended with less execution than the least that a job takes.
    #[cold]
    fn finish_early(&mut self, job: u32, now: u64) {
        if self.excused != job {
            self.undo(job, Instant::from_nanos(now));
        }
    }

    /// A job that did not do its work; one that is late as well is counted as missed for that.
    fn undo(&mut self, job: u32, now: Instant) {
        self.undone += 1;
        self.missed += u64::from(now.since(self.release(job)) <= self.deadline);
    }

    /// The job is finished at `now` (ns), and was charged this (ns).
    #[inline(always)]
    pub fn finish(&mut self, job: u32, now: u64, charged: u64) {
        let response = Instant::from_nanos(now).since(self.release(job));
        self.finished += 1;
        if charged < self.minimum {
            self.finish_early(job, now);
        }
        if response > self.worst {
            self.worst = response;
        }
        if response > self.deadline {
            self.missed += 1;
            self.tardiness = self.tardiness.max(response - self.deadline);
        }
    }

    /// After when the oldest unfinished job breaks what was promised for the task; never if nothing was, or it was removed.
    pub fn breaks_after(&self, card: &TaskCard) -> Instant {
        let Some(bound) = bound(card).filter(|_| !self.removed) else { return Instant::NEVER };
        let before = if is_tardiness(card) { self.deadline } else { Duration::ZERO };
        let oldest = (self.finished + self.dropped) as u32;
        let release = Instant::ZERO.saturating_add(self.offset).saturating_add(self.period * u64::from(oldest));
        release.saturating_add(before).saturating_add(bound)
    }
}

/// How long after its release a job may end at most, by what was promised.
fn limit(task: &Task, card: &TaskCard) -> Duration {
    match bound(card) {
        Some(bound) if is_tardiness(card) => task.deadline + bound,
        Some(bound) => bound.min(task.deadline),
        None => task.deadline,
    }
}

/// The tasks whose jobs a scheduler counts.
pub trait CountedTasks {
    /// Whether the scheduler has to know which calls changed its counts.
    const NOTES_CHANGES: bool;
    /// Where the counts of the task with this number are; none if they are not this scheduler's.
    fn index(&self, task: usize) -> Option<usize>;
    /// When the run ends.
    fn end(&self) -> Instant;
    /// The policy has ended this job of the task.
    fn dropped(&self, task: TaskId, job: u32);
    /// A reconfiguration was applied or refused.
    fn reconfigured(&self, counts: &mut [JobCounts], kind: EventKind, record: Stored);
}

/// Counts while it passes records on.
pub struct Counting<'a, T: CountedTasks> {
    /// Where records go.
    pub writer: RingWriter,
    /// Where counts are kept.
    pub counts: &'a mut [JobCounts],
    /// Which tasks these are.
    pub tasks: &'a T,
    /// The core.
    pub core: CoreId,
    /// Whether a job ended or a task was removed, where the scheduler has to know.
    pub changed: bool,
}

impl<T: CountedTasks> Sink for Counting<'_, T> {
    fn record(&mut self, record: Record) {
        self.store(record.stored());
    }

    fn store(&mut self, stored: Stored) {
        match EventKind::from_u8(stored.kind()) {
            Some(kind) => self.put(kind, stored),
            None => self.writer.store(stored),
        }
    }

    fn stage(&mut self) {
        self.writer.store(Stored::about(Subject::NONE, clock::now(), self.core, EventKind::Stage, 0, 0));
    }

    #[inline(always)]
    fn put(&mut self, kind: EventKind, stored: Stored) {
        self.writer.store(stored);
        if !matches!(kind, EventKind::Release | EventKind::Removed | EventKind::Complete | EventKind::Dropped) {
            if matches!(kind, EventKind::ChangeApplied | EventKind::ChangeRefused) {
                self.tasks.reconfigured(self.counts, kind, stored);
            }
            return;
        }
        // No task has the number that stands for none.
        let index = self.tasks.index(stored.task_number());
        let Some(counts) = index.and_then(|index| self.counts.get_mut(index)) else { return };
        if T::NOTES_CHANGES {
            self.changed |= kind != EventKind::Release;
        }
        match kind {
            EventKind::Release => counts.released += 1,
            EventKind::Removed => counts.removed = true,
            EventKind::Dropped => {
                counts.drop(stored.job(), self.tasks.end());
                self.tasks.dropped(TaskId(stored.task_number() as u16), stored.job());
            }
            _ => counts.finish(stored.job(), stored.time, stored.arg),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tactus_rt::time::Level;

    fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }
    fn at(n: u64) -> Instant {
        Instant::ZERO + ms(n)
    }
    fn counts(promise: u64, bound: u64) -> (JobCounts, TaskCard) {
        let (budget, period, deadline) = (ms(2), ms(10), ms(8));
        let task = Task { level: Level::A, core: None, offset: ms(1), period, deadline, budget };
        let card = TaskCard {
            name: Default::default(),
            component: Default::default(),
            home: 0,
            thread: 0,
            promise,
            bound: ms(bound).as_nanos(),
            deadline: deadline.as_nanos(),
            minimum: ms(1).as_nanos(),
            level: 255,
            raiser: u64::MAX,
            line: u64::MAX,
            calls: 0,
            arrivals: 0,
            events: 0,
        };
        (JobCounts::new(&task, &card), card)
    }

    /// Jobs of 1, 11, 21, … with deadlines eight later.
    #[test]
    fn jobs_are_counted_as_in_time_late_or_undone() {
        let (mut counts, _) = counts(1, 7);
        let finish = |counts: &mut JobCounts, job, end: u64, charged: u64| {
            counts.finish(job, at(end).as_nanos(), ms(charged).as_nanos());
        };
        finish(&mut counts, 0, 9, 2);
        assert_eq!((counts.finished, counts.missed, counts.worst, counts.tardiness), (1, 0, ms(8), ms(0)));
        finish(&mut counts, 1, 22, 2);
        assert_eq!((counts.finished, counts.missed, counts.worst, counts.tardiness), (2, 1, ms(11), ms(3)));
        // With less than the least it did not do its work, in time or not.
        finish(&mut counts, 2, 22, 0);
        assert_eq!((counts.missed, counts.undone), (2, 1));
        // With its component it ends once, though it is finished next.
        counts.abort(3, at(32));
        finish(&mut counts, 3, 32, 0);
        assert_eq!((counts.missed, counts.undone), (3, 2));
        // The policy's: within the run it misses its deadline.
        counts.drop(4, at(100));
        counts.drop(5, at(55));
        assert_eq!((counts.missed, counts.undone, counts.dropped), (4, 3, 2));
    }

    #[test]
    fn an_unfinished_job_breaks_its_promise_when_its_bound_is_over() {
        let (mut response, card) = counts(1, 7);
        assert_eq!(response.breaks_after(&card), at(8));
        response.finish(0, at(5).as_nanos(), u64::MAX);
        assert_eq!(response.breaks_after(&card), at(18));
        let (tardiness, card) = counts(2, 7);
        assert_eq!(tardiness.breaks_after(&card), at(16));
        let (nothing, card) = counts(0, 7);
        assert_eq!(nothing.breaks_after(&card), Instant::NEVER);
        response.removed = true;
        assert_eq!(response.breaks_after(&card), Instant::NEVER);
    }

    #[test]
    fn after_a_reconfiguration_releases_are_counted_from_the_next_one() {
        let (mut counts, _) = counts(1, 7);
        counts.released = 3;
        counts.altered(at(40), ms(5), ms(5));
        assert_eq!((counts.release(3), counts.release(5)), (at(40), at(50)));
    }
}
