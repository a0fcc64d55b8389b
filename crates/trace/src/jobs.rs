//! What became of each job.

use crate::order::in_order;
use crate::view::Trace;
use std::collections::HashMap;
use tactus_record::{EntryReason, EventKind, Record, Untold};
use tactus_time::{CoreId, Duration, Instant, TaskId};

/// One job of a task, from its release to the end of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Job {
    /// Whose.
    pub task: TaskId,
    /// Which, counted from 0 within its task.
    pub job: u32,
    /// Nominal release.
    pub release: Instant,
    /// When the release was noticed.
    pub noticed: Instant,
    /// When it first had a core.
    pub started: Option<Instant>,
    /// When it was finished.
    pub completed: Option<Instant>,
    /// When it ceased to exist without being finished: its task was taken out of the system with its component.
    pub removed: Option<Instant>,
    /// When the policy gave it up unfinished.
    pub dropped: Option<Instant>,
    /// Whether it ended unfinished because its program was unloaded, which nobody is owed anything for.
    pub unloaded: bool,
    /// Whether it ended unfinished because its component was stopped and restarted; it counts as completed then.
    pub aborted: bool,
    /// Whether it found nothing to do.
    pub idle: bool,
    /// What it was charged in all, as the policy recorded it at completion; zero before.
    pub charged: Duration,
    /// The core that it last had.
    pub core: Option<CoreId>,
    /// How often it lost its core before it was finished, other than by a used-up budget.
    pub preemptions: u32,
    /// How often it went on on another core.
    pub migrations: u32,
    /// How often it used up its budget.
    pub exhausted: u32,
    /// When it had ended at the latest, where the trace does not tell when it did, and why not.
    pub untold: Option<(Instant, Option<Untold>)>,
}

impl Job {
    /// The instant up to which it can be said to have waited; of a job whose end is untold, none after its release.
    pub(crate) fn seen_until(&self, end: Instant) -> Instant {
        let untold = self.untold.map(|_| self.release);
        self.completed.or(self.removed).or(untold).unwrap_or(end)
    }

    /// When it was there no more, or at the latest was not.
    pub(crate) fn ended(&self) -> Option<Instant> {
        self.completed.or(self.removed).or(self.untold.map(|(time, _)| time))
    }

    /// From nominal release to completion.
    pub fn response(&self) -> Option<Duration> {
        self.completed.map(|t| t.since(self.release))
    }

    /// The least that the job can have been charged, if it claims to be finished with less.
    pub(crate) fn ended_early(&self, minimum: Option<Duration>) -> Option<Duration> {
        minimum.filter(|minimum| self.completed.is_some() && !self.aborted && !self.idle && self.charged < *minimum)
    }
}

/// The `arg` of an [`EventKind::Dropped`] of all jobs of a task whose program was unloaded.
pub(crate) const UNLOADED: u64 = 4;

/// The jobs that the trace tells of, in the order in which their releases were noticed. Records about a job whose
/// release is missing are passed over; [`crate::check::sequence`] finds those.
pub fn jobs(trace: &Trace) -> Vec<Job> {
    let mut history = History::default();
    in_order(trace, |record| history.step(record));
    history.jobs
}

#[derive(Default)]
struct History {
    jobs: Vec<Job>,
    by_name: HashMap<(TaskId, u32), usize>,
    /// Each task's released and neither completed nor removed jobs.
    open: HashMap<TaskId, Vec<usize>>,
    /// Per job, when and where it was last preempted, and when its budget was last used up.
    last: Vec<(Option<Instant>, Option<Instant>)>,
    /// The task whose job found nothing to do, on which core and when that was told.
    idle: Option<(TaskId, CoreId, Instant)>,
}

impl History {
    fn step(&mut self, r: &Record) {
        let Some(task) = r.task else { return };
        match r.kind {
            EventKind::Release => {
                self.by_name.insert((task, r.job), self.jobs.len());
                self.open.entry(task).or_default().push(self.jobs.len());
                self.last.push((None, None));
                self.jobs.push(Job {
                    task,
                    job: r.job,
                    release: Instant::from_nanos(r.arg),
                    noticed: r.time,
                    started: None,
                    completed: None,
                    removed: None,
                    dropped: None,
                    unloaded: false,
                    aborted: false,
                    idle: false,
                    charged: Duration::ZERO,
                    core: None,
                    preemptions: 0,
                    migrations: 0,
                    exhausted: 0,
                    untold: None,
                });
                return;
            }
            EventKind::Removed => {
                for i in self.open.remove(&task).unwrap_or_default() {
                    self.jobs[i].removed = Some(r.time);
                }
                return;
            }
            EventKind::Dropped if r.arg == UNLOADED => {
                for i in self.open.remove(&task).unwrap_or_default() {
                    (self.jobs[i].removed, self.jobs[i].unloaded) = (Some(r.time), true);
                }
                return;
            }
            EventKind::Enter => {
                let idle = r.level == EntryReason::Complete as u8 && r.arg == 1;
                self.idle = if idle { Some((task, r.core, r.time)) } else { self.idle };
                return;
            }
            EventKind::Dispatch
            | EventKind::Preempt
            | EventKind::Complete
            | EventKind::Exhausted
            | EventKind::Dropped
            | EventKind::Untold
            | EventKind::Aborted => {}
            _ => return,
        }
        let Some(&i) = self.by_name.get(&(task, r.job)) else { return };
        let (job, last) = (&mut self.jobs[i], &mut self.last[i]);
        match r.kind {
            EventKind::Dispatch => {
                job.started.get_or_insert(r.time);
                job.migrations += u32::from(job.core.is_some_and(|c| c != r.core));
                job.core = Some(r.core);
            }
            // A budget that is used up takes the core away too; whichever way that is written, it is no preemption.
            EventKind::Preempt if last.1 != Some(r.time) => {
                job.preemptions += 1;
                last.0 = Some(r.time);
            }
            EventKind::Exhausted => {
                job.exhausted += 1;
                if last.0 == Some(r.time) {
                    job.preemptions -= 1;
                }
                *last = (None, Some(r.time));
            }
            EventKind::Dropped => job.dropped = Some(r.time),
            EventKind::Aborted => job.aborted = true,
            EventKind::Untold => {
                job.untold = Some((r.time, Untold::from_u64(r.arg)));
                if let Some(open) = self.open.get_mut(&task) {
                    open.retain(|&o| o != i);
                }
            }
            EventKind::Complete => {
                job.completed = Some(r.time);
                job.idle = self.idle == Some((task, r.core, r.time));
                job.charged = Duration::from_nanos(r.arg);
                if let Some(open) = self.open.get_mut(&task) {
                    open.retain(|&o| o != i);
                }
            }
            _ => {}
        }
    }
}
