//! Jobs that are not finished when they should be, held against what their tasks say of that.

use super::{Rule, TreeChange, TreeView, Violation};
use crate::jobs::UNLOADED;
use crate::order::in_order;
use crate::{run_end, Trace};
use tactus_record::{EventKind, Record};
use tactus_task::Overrun;
use tactus_time::{Duration, Instant, TaskId};

/// A job that was released.
#[derive(Clone, Copy)]
struct Job {
    release: Record,
    nominal: Instant,
}

/// A task's jobs.
struct Jobs {
    /// Those that have not ended.
    open: Vec<Job>,
    /// One that was released while another one was open, and is to be left out next.
    doomed: Option<Job>,
    /// The last that was left out.
    left_out: Option<Job>,
    /// When its task got another deadline.
    altered: Instant,
}

impl Jobs {
    /// A job ends.
    fn end(&mut self, r: &Record) -> Option<Job> {
        let place = self.open.iter().position(|job| job.release.job == r.job)?;
        Some(self.open.remove(place))
    }
}

/// Under `skip` a job is left out at its release if one before it is unfinished then, and only then: one that ends in that instant, on
/// whatever core, is finished. Under `kill` a job ends at its deadline if it is not finished, and not before. No other job ends unfinished.
/// `tolerance`: how much later than at once a core may notice what it should.
pub(super) fn of_tree(view: &TreeView, trace: &Trace, tolerance: Duration) -> Vec<Violation> {
    let mut tasks = view.tasks.clone();
    let begin = |_| Jobs { open: Vec::new(), doomed: None, left_out: None, altered: Instant::ZERO };
    let mut jobs: Vec<Jobs> = view.tasks.iter().map(begin).collect();
    let mut found = Vec::new();
    let mut wrong = |r: &Record, job: u32, text: String| {
        found.push(Violation { rule: Rule::Overrun, time: r.time, core: r.core, task: r.task, job: Some(job), text });
    };
    // By when a job that is to be killed must have ended. A scheduler that has no core kills nobody.
    let latest = |place: &super::InTree, it: &Jobs, job: &Job| {
        let due = job.nominal.saturating_add(place.deadline).max(it.altered);
        Some(due.saturating_add(tolerance)).filter(|_| place.overrun == Overrun::Kill && !view.per_server)
    };
    in_order(trace, |r| {
        if let Some(TreeChange::Task { task, rank, period, deadline }) = view.change(r) {
            if let (Some(place), Some(it)) = (tasks.get_mut(task.index()), jobs.get_mut(task.index())) {
                place.alter(rank, period, deadline);
                it.altered = r.time;
            }
        }
        let Some(n) = r.task.map(TaskId::index).filter(|n| *n < tasks.len()) else { return };
        let (place, it) = (&tasks[n], &mut jobs[n]);
        if let Some(job) = it.doomed.take() {
            if r.kind == EventKind::Dropped && (r.job, r.arg) == (job.release.job, 0) {
                it.left_out = Some(job);
                return;
            }
            wrong(&job.release, job.release.job, NOT_LEFT_OUT.into());
            it.open.push(job);
        }
        match r.kind {
            EventKind::Release => {
                let job = Job { release: *r, nominal: Instant::from_nanos(r.arg) };
                match place.overrun == Overrun::Skip && !it.open.is_empty() {
                    true => it.doomed = Some(job),
                    false => it.open.push(job),
                }
            }
            EventKind::Dropped if r.arg == UNLOADED => it.open.clear(),
            EventKind::Dropped => {
                let due = it.end(r).map_or(Instant::ZERO, |job| job.nominal.saturating_add(place.deadline));
                match (place.overrun, r.arg) {
                    (Overrun::Skip, 0) => wrong(r, r.job, "is left out although no job before it is unfinished".into()),
                    (Overrun::Kill, 1) if r.time >= due => {}
                    (Overrun::Kill, 1) => wrong(r, r.job, format!("ends unfinished before its deadline, {due}")),
                    _ => wrong(r, r.job, "ends unfinished, which its task does not say".into()),
                }
            }
            EventKind::Complete => {
                let ended = it.end(r);
                if let Some(due) = ended.and_then(|job| latest(place, it, &job)).filter(|due| r.time > *due) {
                    wrong(r, r.job, format!("ends at {}, and was to be ended by {due}", r.time));
                }
                if let Some(job) = it.left_out.filter(|job| r.time <= job.nominal) {
                    wrong(r, job.release.job, format!("was left out although job {} ended in that instant", r.job));
                }
            }
            EventKind::Removed => it.open.clear(),
            _ => {}
        }
    });
    let end = run_end(trace);
    for (place, it) in tasks.iter().zip(&jobs) {
        for job in it.open.iter().filter(|job| latest(place, it, job).is_some_and(|due| due < end)) {
            wrong(&job.release, job.release.job, "was to be ended at its deadline, and never was".into());
        }
        if let Some(job) = it.doomed {
            wrong(&job.release, job.release.job, NOT_LEFT_OUT.into());
        }
    }
    found
}

const NOT_LEFT_OUT: &str = "was released while a job before it was unfinished, and not left out";
