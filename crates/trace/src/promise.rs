//! Promises: until when they bind, and which was broken first.

use crate::cause::explain;
use crate::changes::History;
use crate::check::{self, Rule, TreeView};
use crate::extend;
use crate::jobs::Job;
use crate::{Broken, Cause, Overheads, Promise, Segment, SegmentKind, Trace, Verdict, View, What};
use std::collections::HashMap;
use tactus_record::Kind;
use tactus_time::{Duration, Instant, Level, TaskId};

/// How far the promise of one task binds.
#[derive(Default)]
pub(crate) struct Void {
    /// Since when it does not bind, by what others did or by the task's removal.
    from: Option<(Instant, String)>,
    /// The first job that took more than was assumed of it, and its release: from this job on it does not bind.
    own: Option<(u32, Instant, String)>,
}

impl Void {
    /// Whether the job was still owed its promise at this time.
    pub(crate) fn binds(&self, job: u32, time: Instant) -> bool {
        self.from.as_ref().is_none_or(|(from, _)| time < *from) && self.own.as_ref().is_none_or(|(own, ..)| job < *own)
    }

    /// Since when the promise does not bind, and why.
    pub(crate) fn first(&self) -> Option<(Instant, &str)> {
        let from = self.from.iter().map(|(from, why)| (*from, why.as_str()));
        from.chain(self.own.iter().map(|(_, release, why)| (*release, why.as_str()))).min_by_key(|v| v.0)
    }

    fn since(&mut self, from: Instant, why: impl FnOnce() -> String) {
        if self.from.as_ref().is_none_or(|v| from < v.0) {
            self.from = Some((from, why()));
        }
    }
}

/// Longest time for which a core may be said not to have noticed yet; a core that takes longer is at fault.
const PATIENCE: Duration = Duration::from_millis(1);

/// How far each task's promise binds.
///
/// It ends with the task's own removal; with the first of its own jobs that takes more than the analysis of its level
/// assumed; and when a task that it depends on has had, for one unfinished job, all that this analysis assumed of
/// it: one of the same or a more critical level, on the same core where both are bound. A task that is held to a
/// budget within what was assumed cannot harm others, only itself (MC², 2.2).
pub(crate) fn void(view: &View, trace: &Trace, jobs: &[Job], charges: &[Segment]) -> Vec<Void> {
    let mut out: Vec<Void> = view.tasks.iter().map(|_| Void::default()).collect();
    for r in trace.cores.iter().flatten() {
        let Some(task) = r.task.map(TaskId::index).filter(|t| *t < out.len()) else { continue };
        let why = match r.kind {
            Kind::Fault => "its component was stopped",
            Kind::Removed => "it was taken out of the system",
            _ => continue,
        };
        out[task].since(r.time, || why.into());
    }
    let mut exceeded = vec![[None; 4]; view.tasks.len()];
    let charged = charged(view, charges);
    for job in jobs {
        let i = job.task.index();
        let (sum, reached) = charged.get(&(job.task, job.job)).copied().unwrap_or_default();
        let own = view.tasks[i].level.unwrap_or(Level::A).index();
        for (level, assumed) in view.tasks[i].assumed.into_iter().enumerate() {
            let Some(assumed) = assumed else { continue };
            // A job that has had all that was assumed and is not finished needs more, though it may not get it soon.
            let over = reached[level].filter(|_| sum > assumed || job.completed.is_none());
            if let Some(at) = over {
                let first: &mut Option<(Instant, u32)> = &mut exceeded[i][level];
                *first = Some(first.map_or((at, job.job), |f| f.min((at, job.job))));
            }
            let own_job = out[i].own.as_ref().map_or(u32::MAX, |o| o.0);
            if level == own && job.job < own_job && (over.is_some() || job.exhausted > 0) {
                let why = format!("its job {} took more than the {assumed} assumed of it", job.job);
                out[i].own = Some((job.job, job.release, why));
            }
        }
    }
    for (slot, hurt) in view.tasks.iter().enumerate() {
        let level = hurt.level.unwrap_or(Level::A);
        for (i, other) in view.tasks.iter().enumerate().filter(|(i, _)| *i != slot) {
            let Some(assumed) = other.assumed[level.index()] else { continue };
            let Some((at, job)) = exceeded[i][level.index()] else { continue };
            let apart = matches!((hurt.core, other.core), (Some(a), Some(b)) if a != b);
            let below = other.level.unwrap_or(Level::A) > level;
            let held = other.budget.is_some_and(|b| b <= assumed);
            if !(apart || below || held) {
                let why = || format!("job {job} of {} took more than the {assumed} assumed of it", other.name);
                out[slot].since(at, why);
            }
        }
    }
    out
}

/// What a job was charged in all, and when that reached what each level assumed.
type Charged = (Duration, [Option<Instant>; 4]);

fn charged(view: &View, charges: &[Segment]) -> HashMap<(TaskId, u32), Charged> {
    let mut out: HashMap<(TaskId, u32), Charged> = HashMap::new();
    let concerned = |s: &&Segment| {
        let task = s.task.and_then(|t| view.tasks.get(t.index()));
        s.kind == SegmentKind::Run && task.is_some_and(|t| t.assumed.iter().any(Option::is_some))
    };
    let mut runs: Vec<&Segment> = charges.iter().filter(concerned).collect();
    runs.sort_by_key(|s| s.start);
    for run in runs {
        let Some(id) = run.task else { continue };
        let (sum, reached) = out.entry((id, run.job)).or_default();
        let before = *sum;
        extend(sum, run.end.since(run.start));
        for (reached, assumed) in reached.iter_mut().zip(view.tasks[id.index()].assumed) {
            if let Some(assumed) = assumed.filter(|a| *a <= *sum) {
                reached.get_or_insert(run.start.saturating_add(assumed.saturating_sub(before)));
            }
        }
    }
    out
}

/// What the verdict is drawn from.
pub(crate) struct Case<'a> {
    pub(crate) view: &'a View,
    pub(crate) trace: &'a Trace,
    pub(crate) jobs: &'a [Job],
    pub(crate) segments: &'a [Segment],
    pub(crate) void: &'a [Void],
    pub(crate) overheads: &'a Overheads,
    /// The end of the run.
    pub(crate) end: Instant,
    pub(crate) history: &'a History<'a>,
}

impl Case<'_> {
    /// The first broken promise, if any was.
    pub(crate) fn verdict(&self) -> Verdict {
        let job = self.jobs.iter().filter_map(|job| self.of_job(job).map(|b| (b, job))).min_by_key(|(b, _)| b.time);
        let rest = if self.trace.dropped.iter().any(|d| *d > 0) { self.dropped() } else { self.rule() };
        match (job, rest) {
            (Some((mut broken, job)), rest) if rest.as_ref().is_none_or(|r| broken.time <= r.time) => {
                broken.cause = explain(self, job, &broken);
                Verdict::Broken(broken)
            }
            (_, Some(rest)) => Verdict::Broken(rest),
            (_, None) => Verdict::Kept,
        }
    }

    /// The first promise that this job broke, its cause left open.
    fn of_job(&self, job: &Job) -> Option<Broken> {
        let task = &self.view.tasks[job.task.index()];
        let until = job.completed.or(job.removed).unwrap_or(self.end);
        let response = until.since(job.release);
        let (deadline, promise) = self.history.owed(self.view, job.task, job.release, until);
        let late = response.saturating_sub(deadline);
        let (what, limit, actual, time) = match promise {
            Promise::Response(bound) if response > bound.min(deadline) => {
                let what = if deadline <= bound { What::Deadline } else { What::Response };
                let limit = bound.min(deadline);
                (what, limit, response, job.release.saturating_add(limit))
            }
            Promise::Tardiness(bound) if late > bound => {
                (What::Tardiness, bound, late, job.release.saturating_add(deadline).saturating_add(bound))
            }
            _ => return None,
        };
        let binds = self.view.accepted && self.void[job.task.index()].binds(job.job, time);
        binds.then(|| Broken {
            what,
            task_id: Some(job.task),
            task: Some(task.name.clone()),
            job: Some(job.job),
            time,
            limit: Some(limit),
            actual: Some(actual),
            cause: Cause::default(),
        })
    }

    fn dropped(&self) -> Option<Broken> {
        let lost = self.trace.dropped.iter().enumerate().filter(|(_, d)| **d > 0);
        let last = |core: usize| self.trace.cores.get(core).and_then(|r| r.last()).map_or(Instant::ZERO, |r| r.time);
        let (time, core, dropped) = lost.map(|(core, d)| (last(core), core, *d)).min()?;
        let text = format!(
            "the ring of core {core} was full: {dropped} records after {time} are lost, and nothing can be said about \
             them; give the run larger rings or make it shorter"
        );
        Some(self.about_no_job(What::Dropped, time, text))
    }

    fn rule(&self) -> Option<Broken> {
        let max = |spread: Option<crate::Spread>| spread.map_or(0, |s| s.max.as_nanos());
        let o = self.overheads;
        let noticed = [max(o.timer_lateness), max(o.schedule), max(o.schedule), max(o.inter_core)];
        let each = noticed.iter().fold(0, |sum: u64, n| sum.saturating_add(*n));
        let times = self.view.tree.as_ref().map_or(1, TreeView::schedulers);
        let tolerance = Duration::from_nanos(each.saturating_mul(times)).min(PATIENCE);
        let first = check::all(self.view, self.trace, tolerance).into_iter().next()?;
        let name =
            first.task.map(|t| self.view.tasks.get(t.index()).map_or(format!("task {}", t.0), |t| t.name.clone()));
        let whose = match (&name, first.job) {
            (Some(name), Some(job)) => format!("{name} job {job} "),
            (Some(name), None) => format!("{name}: "),
            _ => String::new(),
        };
        let text = format!("the rule that {} was broken on core {}: {whose}{}", first.rule, first.core, first.text);
        let mut broken = self.about_no_job(What::Rule, first.time, text);
        (broken.task_id, broken.task, broken.job) = (first.task, name, first.job);
        broken.cause.fault = matches!(first.rule, Rule::Known | Rule::Sequence) && self.any_fault(first.time);
        Some(broken)
    }

    fn any_fault(&self, until: Instant) -> bool {
        self.trace.cores.iter().flatten().any(|r| r.kind == Kind::Fault && r.time <= until)
    }

    fn about_no_job(&self, what: What, time: Instant, text: String) -> Broken {
        let cause = Cause { text, from: time, to: time, ..Cause::default() };
        Broken { what, task_id: None, task: None, job: None, time, limit: None, actual: None, cause }
    }
}
