//! Which promises ceased to bind, and by whom: a promise rests on what the analysis assumed of every task that can delay
//! the promised one, and ends where one of them takes more.
//!
//! An overrun reaches only those that it can delay. A server's budget holds what happens inside it, so that nobody
//! outside is reached. Within a server, or within the root, a task is reached if it shares a core's queue and is not
//! more urgent: with fixed priorities, no task above the culprit; by deadline, no job that is due before the job that
//! overran; first come first served, no job that came before it. With fixed priorities, one whose overrun waits for its next
//! period reaches nobody; by deadline its job, which keeps its deadline, would go on before others. Where a job's urgency changes as it runs, everybody in
//! the queue is reached. Where there are levels of criticality, those of the same and of less critical levels are, on the
//! same core if both are bound to one, unless a budget within what was assumed holds the culprit (MC², section 2.2). A critical
//! section that is longer than declared reaches everybody on its core, and if cores share its resource everybody on those; but
//! nobody if the resource is withdrawn then.

use crate::chains;
use crate::changes::History;
use crate::check::{Rank, TreeChange, TreeView};
use crate::extend;
use crate::jobs::Job;
use crate::{Segment, SegmentKind, Trace, View};
use std::collections::HashMap;
use tactus_record::{CallRefusal, EventKind, InputKind};
use tactus_time::{Duration, Instant, Level, TaskId};

/// How far the promise of one task binds.
#[derive(Default)]
pub(crate) struct Void {
    /// The first of its own jobs after which nothing is owed to it any more.
    own: Option<Own>,
    /// When its component was stopped for good.
    stopped: Option<Instant>,
    /// Overruns of others that reach it.
    others: Vec<Overrun>,
}

struct Own {
    job: u32,
    release: Instant,
    why: String,
}

struct Overrun {
    culprit: usize,
    at: Instant,
    spares: Spares,
    why: String,
}

/// Which jobs of a task that is reached are not.
#[derive(Clone, Copy)]
enum Spares {
    None,
    DueBefore(Instant),
    ReleasedBefore(Instant),
}

/// Why a job was owed nothing.
#[derive(Clone, Copy)]
pub(crate) struct Ended<'a> {
    /// The task that did it.
    pub(crate) culprit: usize,
    /// From when on.
    pub(crate) from: Instant,
    /// What it did, without its name.
    pub(crate) why: &'a str,
}

impl Void {
    /// Why the job was owed nothing at this time any more; nothing while its promise bound. `due` is its deadline.
    pub(crate) fn ended(&self, job: &Job, due: Instant, time: Instant) -> Option<Ended<'_>> {
        let culprit = job.task.index();
        if let Some(own) = self.own.as_ref().filter(|own| own.job <= job.job) {
            return Some(Ended { culprit, from: own.release, why: &own.why });
        }
        let reached = |it: &&Overrun| match it.spares {
            Spares::None => true,
            Spares::DueBefore(first) => due >= first,
            Spares::ReleasedBefore(first) => job.release >= first,
        };
        let others = self.others.iter().filter(|it| it.at <= time).filter(reached);
        let others = others.map(|it| Ended { culprit: it.culprit, from: it.at, why: &it.why });
        let stopped = self.stopped.filter(|from| *from <= time);
        others.chain(stopped.map(|from| Ended { culprit, from, why: STOPPED })).min_by_key(|it| it.from)
    }

    /// What ended the promise first, if anything did. `task` is whose promise it is.
    pub(crate) fn first(&self, task: usize) -> Option<Ended<'_>> {
        let own = self.own.iter().map(|own| Ended { culprit: task, from: own.release, why: &own.why });
        let stopped = self.stopped.iter().map(|from| Ended { culprit: task, from: *from, why: STOPPED });
        let others = self.others.iter().map(|it| Ended { culprit: it.culprit, from: it.at, why: &it.why });
        own.chain(stopped).chain(others).min_by_key(|it| it.from)
    }

    fn own(&mut self, (job, release): (u32, Instant), why: impl FnOnce() -> String) {
        if self.own.as_ref().is_none_or(|own| job < own.job) {
            self.own = Some(Own { job, release, why: why() });
        }
    }
}

const STOPPED: &str = "its component was stopped";

/// How far each task's promise binds.
pub(crate) fn void(
    view: &View,
    trace: &Trace,
    jobs: &[Job],
    charges: &[Segment],
    history: &History<'_>,
    end: Instant,
) -> Vec<Void> {
    let mut out: Vec<Void> = view.tasks.iter().map(|_| Void::default()).collect();
    for r in trace.cores.iter().flatten().filter(|r| r.kind == EventKind::Removed) {
        if let Some(it) = r.task.and_then(|task| out.get_mut(task.index())) {
            it.stopped = Some(it.stopped.map_or(r.time, |from| from.min(r.time)));
        }
    }
    for r in trace.cores.iter().flatten().filter(|r| r.kind == EventKind::SectionExceeded) {
        let Some(culprit) = r.task.map(TaskId::index).filter(|culprit| *culprit < view.tasks.len()) else { continue };
        let resources = view.tree.as_ref().and_then(|tree| tree.ceilings.as_ref()).map(|it| &it.resources);
        let resource = resources.and_then(|all| all.get(r.arg as usize));
        if resource.is_some_and(|it| it.withdrawn) {
            continue;
        }
        let cores = |victim: &usize| {
            let core = view.tasks[*victim].core;
            let shares = |user: &TaskId| view.tasks.get(user.index()).is_some_and(|user| user.core == core);
            core == view.tasks[culprit].core || resource.is_some_and(|it| it.users.iter().any(shares))
        };
        for victim in (0..view.tasks.len()).filter(|victim| *victim != culprit).filter(cores) {
            let why = format!("job {} held a resource for longer than it declares", r.job);
            out[victim].others.push(Overrun { culprit, at: r.time, spares: Spares::None, why });
        }
    }
    for (job, at, why) in asked_too_much(view, trace, jobs) {
        let Some(tree) = &view.tree else { continue };
        let culprit = job.task.index();
        for victim in
            (0..view.tasks.len()).filter(|n| *n != culprit && tree.tasks[*n].server == tree.tasks[culprit].server)
        {
            out[victim].others.push(Overrun { culprit, at, spares: Spares::None, why: why.clone() });
        }
        out[culprit].own((job.job, job.release), || why);
    }
    for r in trace.cores.iter().flatten().filter(|r| r.kind == EventKind::CallRefused) {
        let Some(it) = r.task.and_then(|task| out.get_mut(task.index())) else { continue };
        let first = jobs.iter().find(|job| Some(job.task) == r.task && job.job == r.job);
        let release = first.map_or(r.time, |job| job.release);
        it.own((r.job, release), || match CallRefusal::from_u64(r.arg) {
            Some(CallRefusal::TooOften) => {
                format!("job {} called the scheduler far more often than is declared", r.job)
            }
            Some(CallRefusal::NotWritten) => {
                format!("its jobs wrote to a sampling channel {} times, less often than they ended", r.job)
            }
            Some(CallRefusal::NotSent) => format!("job {} signalled a message that it had not sent", r.job),
            _ => format!("job {} called for what its task does not declare", r.job),
        });
    }
    for unsent in view.chains.iter().flat_map(|chain| chains::unsent(chain, jobs, trace)) {
        out[unsent.job.task.index()].own((unsent.job.job, unsent.job.release), || unsent.why);
    }
    let mut exceeded: Vec<[Option<Exceeded>; 4]> = vec![Default::default(); view.tasks.len()];
    // What a job was admitted with, where programs come and go.
    let admitted: HashMap<(TaskId, u32), Duration> = jobs
        .iter()
        .filter(|job| view.slot_of(job.task).is_some())
        .filter_map(|job| Some(((job.task, job.job), history.execution(view, job.task, job.release)?)))
        .collect();
    let assumed_of = |task: TaskId, job: u32| match view.slot_of(task) {
        Some(_) => [admitted.get(&(task, job)).copied(); 4],
        None => view.tasks[task.index()].assumed,
    };
    let charged = charged(view, charges, &assumed_of);
    for job in jobs {
        let i = job.task.index();
        let task = &view.tasks[i];
        if job.aborted {
            out[i].own((job.job, job.release), || format!("its component was stopped in job {}", job.job));
        } else if let Some(minimum) = job.ended_early(task.minimum) {
            out[i].own((job.job, job.release), || {
                format!("job {} ended after {}, less than its minimum of {minimum}", job.job, job.charged)
            });
        }
        let (sum, reached) = charged.get(&(job.task, job.job)).copied().unwrap_or_default();
        let own = task.level.unwrap_or(Level::A).index();
        for (level, assumed) in assumed_of(job.task, job.job).into_iter().enumerate() {
            let Some(assumed) = assumed else { continue };
            // A job that has had all that was assumed and is not finished needs more, though it may not get it soon.
            // Of one whose end is untold, nobody knows what was its own.
            let told = job.untold.is_none();
            let over = reached[level].filter(|_| told && (sum > assumed || job.completed.is_none()));
            if let Some(at) = over {
                let until = job.ended().unwrap_or(end);
                let due = job.release.saturating_add(history.owed(view, job.task, job.release, until).0);
                let this = Exceeded { at, job: job.job, release: job.release, due, assumed };
                let first = &mut exceeded[i][level];
                *first = Some(first.map_or(this, |f| if (this.at, this.job) < (f.at, f.job) { this } else { f }));
            }
            if level == own && (over.is_some() || job.exhausted > 0) {
                out[i].own((job.job, job.release), || {
                    format!("job {} took more than the {assumed} assumed of it", job.job)
                });
            }
        }
    }
    for (victim, hurt) in view.tasks.iter().enumerate() {
        let level = hurt.level.unwrap_or(Level::A).index();
        for (culprit, other) in view.tasks.iter().enumerate().filter(|(culprit, _)| *culprit != victim) {
            let Some(first) = exceeded[culprit][level] else { continue };
            let assumed = other.assumed[level].filter(|_| view.slot_of(TaskId(culprit as u16)).is_none());
            let assumed = assumed.unwrap_or(first.assumed);
            let spares = match reach(view, culprit, victim, assumed) {
                Reach::Never => continue,
                Reach::Always => Spares::None,
                Reach::ByDeadline => Spares::DueBefore(first.due),
                Reach::ByRelease => Spares::ReleasedBefore(first.release),
            };
            let why = format!("job {} took more than the {assumed} assumed of it", first.job);
            out[victim].others.push(Overrun { culprit, at: first.at, spares, why });
        }
    }
    out
}

/// Jobs in servers with budgets of misses that asked for more lines than promises rest on, or wrote back more, and when they did.
fn asked_too_much<'j>(view: &View, trace: &Trace, jobs: &'j [Job]) -> Vec<(&'j Job, Instant, String)> {
    let Some(tree) = &view.tree else { return Vec::new() };
    let asked = beyond((&tree.misses, InputKind::Misses, "asked memory for"), trace, jobs);
    let written = beyond((&tree.write_backs, InputKind::WriteBacks, "wrote back"), trace, jobs);
    asked.into_iter().chain(written).collect()
}

/// Jobs that had more lines of one kind than these limits, by task.
fn beyond<'j>(
    (limits, kind, did): (&[Option<u32>], InputKind, &str),
    trace: &Trace,
    jobs: &'j [Job],
) -> Vec<(&'j Job, Instant, String)> {
    if limits.is_empty() {
        return Vec::new();
    }
    let mut asked: HashMap<(TaskId, u32), u64> = HashMap::new();
    let mut found = Vec::new();
    for core in &trace.cores {
        for r in core.iter().filter(|r| r.kind == EventKind::Input && r.level == kind as u8) {
            let limit = r.task.and_then(|task| Some((task, u64::from(limits.get(task.index()).copied().flatten()?))));
            let Some((task, limit)) = limit else { continue };
            let sum = asked.entry((task, r.job)).or_default();
            let before = *sum;
            *sum += r.arg;
            if before <= limit && *sum > limit {
                let why = format!("job {} {did} more than its {limit} lines", r.job);
                let job = jobs.iter().find(|job| (job.task, job.job) == (task, r.job));
                found.extend(job.map(|job| (job, r.time, why)));
            }
        }
    }
    found
}

/// The first job of a task that took more than was assumed of it.
#[derive(Clone, Copy)]
struct Exceeded {
    /// When it had had all of that.
    at: Instant,
    job: u32,
    release: Instant,
    due: Instant,
    /// What that is.
    assumed: Duration,
}

/// Whether an overrun of one task can delay another.
#[derive(PartialEq, Eq, Debug)]
enum Reach {
    Never,
    Always,
    /// It can delay those of its jobs that are due no earlier than the job that overran.
    ByDeadline,
    /// It can delay those of its jobs that came no earlier than the job that overran.
    ByRelease,
}

fn reach(view: &View, culprit: usize, victim: usize, assumed: Duration) -> Reach {
    let there = |tree: &&TreeView| culprit.max(victim) < tree.tasks.len();
    let [mine, its] = [culprit, victim].map(|task| view.slot_of(TaskId(task as u16)));
    if mine.is_some() && mine == its {
        // Their order is that of the program that is there.
        return Reach::Always;
    }
    if let Some(tree) = view.tree.as_ref().filter(there) {
        return reach_in(tree, culprit, victim);
    }
    let (hurt, other) = (&view.tasks[victim], &view.tasks[culprit]);
    let other_core = matches!((hurt.core, other.core), (Some(a), Some(b)) if a != b);
    let below = other.level.unwrap_or(Level::A) > hurt.level.unwrap_or(Level::A);
    let held = other.budget.is_some_and(|budget| budget <= assumed);
    match other_core || below || held {
        true => Reach::Never,
        false => Reach::Always,
    }
}

fn reach_in(tree: &TreeView, culprit: usize, victim: usize) -> Reach {
    let [culprit, victim] = [culprit, victim].map(|task| TaskId(task as u16));
    let [from, to] = [culprit, victim].map(|task| &tree.tasks[task.index()]);
    // What competes with the culprit where it is: the victim itself, or the server in which the victim is.
    let (rank, cores) = if to.server == from.server {
        (to.fixed_rank(), tree.queue(victim))
    } else {
        let Some(server) = tree.above(victim).find(|server| tree.servers[*server].parent == from.server) else {
            return Reach::Never;
        };
        (tree.servers[server].rank, tree.servers[server].cores)
    };
    if tree.queue(culprit).bits() & cores.bits() == 0 {
        return Reach::Never;
    }
    let kept_off = tree.ceilings.as_ref().is_some_and(|ceilings| ceilings.may_keep_off(culprit, victim));
    let altered = tree.changes.iter().any(|change| matches!(change, TreeChange::Task { .. }));
    match (from.fixed_rank(), rank) {
        _ if altered => Reach::Always,
        _ if kept_off => Reach::Always,
        (Rank::Fixed(culprit), Rank::Fixed(victim)) if victim < culprit || from.is_held() => Reach::Never,
        (Rank::FixedInTurn(culprit), Rank::FixedInTurn(victim)) if victim < culprit => Reach::Never,
        (Rank::Deadline, Rank::Deadline) if to.server == from.server => Reach::ByDeadline,
        (Rank::Release, Rank::Release) if to.server == from.server => Reach::ByRelease,
        _ => Reach::Always,
    }
}

/// What a job was charged in all, and when that reached what each level assumed.
type Charged = (Duration, [Option<Instant>; 4]);

fn charged(
    view: &View,
    charges: &[Segment],
    assumed_of: &dyn Fn(TaskId, u32) -> [Option<Duration>; 4],
) -> HashMap<(TaskId, u32), Charged> {
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
        for (reached, assumed) in reached.iter_mut().zip(assumed_of(id, run.job)) {
            if let Some(assumed) = assumed.filter(|a| *a <= *sum) {
                reached.get_or_insert(run.start.saturating_add(assumed.saturating_sub(before)));
            }
        }
    }
    out
}
