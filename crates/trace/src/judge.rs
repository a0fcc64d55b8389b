//! From a trace to its summary: figures per task, level and core, and the verdict.

mod updates;

use crate::changes::History;
use crate::extend;
use crate::jobs::{jobs, Job};
use crate::overhead::{samples, Samples};
use crate::schedule::{run_end, schedule_with, Boundary};
use crate::void::{void, Void};
use crate::{promise, schedule, Bound, Culprit, JobCounts, LevelSummary, Restart, Segment, SegmentKind};
use crate::{
    CoreSummary, Distribution, LoadFate, LoadSummary, LoadView, MonitorSummary, SlotSummary, SlotView, Summary,
    TaskSummary, TaskView, Trace, View, SUMMARY_FORMAT,
};
use tactus_record::{CallRefusal, EventKind, FaultKind, Record, SlotRefusal};
use tactus_time::{Duration, Instant, Level, TaskId};

/// Reads the trace against the promises. Never panics, whatever the trace holds; what makes no sense in it is passed
/// over in the figures and is a broken rule in the verdict.
pub fn judge(view: &View, trace: &Trace) -> Summary {
    let jobs: Vec<Job> = jobs(trace).into_iter().filter(|j| j.task.index() < view.tasks.len()).collect();
    // What a core still did after the end of the run, until it noticed, is no waiting that anybody was promised to be spared.
    let end = run_end(trace).min(Instant::ZERO.saturating_add(view.duration));
    let charges = schedule_with(trace, Boundary::Decision);
    let segments = schedule(trace);
    let samples = samples(trace);
    let mut all = Samples::default();
    samples.iter().for_each(|s| all.join(s));
    let overheads = all.sum_up();
    let history = &History::of(view, trace);
    let void = void(view, trace, &jobs, &charges, history, end);
    let case = promise::Case {
        view,
        trace,
        jobs: &jobs,
        segments: &segments,
        void: &void,
        overheads: &overheads,
        end,
        history,
    };
    let promise::Found { verdict, voids } = case.found();
    let chains =
        view.chains.iter().map(|chain| crate::chains::sum_up(chain, (&view.tasks, &jobs), trace, end)).collect();
    let disks = crate::disk::judge(view, &trace.disks, end);
    let verdict = promise::with_disks(verdict, &disks);
    // Tables of a system that was read can be built.
    let findings = crate::monitor(view, trace, &view.monitors).unwrap_or_default();
    let disputed = findings.iter().find_map(|finding| finding.disputed.clone());
    let monitors: Vec<MonitorSummary> =
        view.monitors.iter().zip(&findings).map(|(monitor, finding)| MonitorSummary::of(monitor, finding)).collect();
    let verdict = promise::with_monitors(verdict, &monitors, disputed, end);
    let verdict = promise::with_machine(verdict, view.refuted.as_deref(), end);

    let deadlines = crate::processes::misses(view, trace, &jobs, &void);
    let mut of_task = vec![Vec::new(); view.tasks.len()];
    for job in jobs {
        of_task[job.task.index()].push(job);
    }
    let mut tasks = Vec::with_capacity(view.tasks.len());
    for (i, (task, jobs)) in view.tasks.iter().zip(&of_task).enumerate() {
        let owed = |job: &Job| history.owed(view, job.task, job.release, job.dropped.unwrap_or(job.seen_until(end)));
        let mut summary = task_summary(task, jobs, &void[i], end, &owed);
        summary.id = TaskId(i as u16);
        // Where nothing was promised, nothing ceases to bind.
        let ended = void[i].first(i).filter(|_| task.promise.is_some());
        summary.void = ended.map(|it| match it.culprit {
            own if own == i => it.why.to_owned(),
            other => format!("{}: {}", view.tasks[other].name, it.why),
        });
        summary.void_from = ended.map(|it| it.from);
        tasks.push(summary);
    }
    for r in trace.cores.iter().flatten().filter(|r| r.kind == EventKind::Removed) {
        if let Some(task) = r.task.and_then(|t| tasks.get_mut(t.index())) {
            task.removed_at = Some(task.removed_at.map_or(r.time, |t: Instant| t.min(r.time)));
        }
    }
    let unwritten = |r: &&Record| r.kind == EventKind::CallRefused && r.arg == CallRefusal::NotWritten as u64;
    for r in trace.cores.iter().flatten().filter(unwritten) {
        if let Some(task) = r.task.and_then(|task| tasks.get_mut(task.index())) {
            task.written = Some(task.written.map_or(r.job, |least| least.min(r.job)));
        }
    }
    let mut total = JobCounts::default();
    tasks.iter().for_each(|t| total.add(&t.jobs));
    for r in trace.cores.iter().flatten().filter(|r| r.kind == EventKind::ArrivalLost) {
        if let Some(task) = r.task.and_then(|t| tasks.get_mut(t.index())) {
            match r.arg == ARRIVED_EARLY {
                true => task.arrivals_dropped += 1,
                false => task.arrivals_lost += 1,
            }
        }
    }
    let mut refused: u64 = 0;
    for r in trace.cores.iter().flatten().filter(|r| r.kind == EventKind::Refused) {
        let sum = match r.task {
            None => Some(&mut refused),
            Some(task) => tasks.get_mut(task.index()).map(|task| &mut task.refused),
        };
        sum.into_iter().for_each(|sum| *sum = sum.saturating_add(r.arg));
    }
    Summary {
        format: SUMMARY_FORMAT,
        system: view.name.clone(),
        policy: view.policy.clone(),
        cores: view.cores,
        duration: view.duration,
        accepted: view.accepted,
        verdict,
        promised: if view.accepted { view.promised() as u64 } else { 0 },
        voids,
        total,
        dropped: trace.dropped.iter().fold(0, |sum, d| sum.saturating_add(*d)),
        refused,
        culprits: culprits(view, trace),
        restarts: restarts(trace),
        deadlines,
        changes: history.summary(trace),
        slots: slots(view, trace),
        levels: levels(&tasks, &of_task),
        tasks,
        chains,
        per_core: per_core(trace, &segments, samples),
        overheads,
        disks,
        monitors,
        heaps: view.heaps.clone(),
    }
}

/// What became of each load of each slot.
fn slots(view: &View, trace: &Trace) -> Vec<SlotSummary> {
    let told = |r: &&Record| matches!(r.kind, EventKind::SlotLoaded | EventKind::SlotUnloaded | EventKind::SlotRefused);
    let records: Vec<&Record> = trace.cores.iter().flatten().filter(told).collect();
    let of = |number: usize, load: &LoadView| {
        let told_of = |r: &&&Record| (r.job as usize, r.arg) == (number, load.number as u64);
        // Of a program that could not be saved, the last one tells.
        let record = records.iter().rev().find(told_of);
        let update = updates::of(view, trace, number, load);
        let fate = record.map_or(LoadFate::Pending, |r| match r.kind {
            EventKind::SlotLoaded if r.level == 0 => LoadFate::Loaded,
            EventKind::SlotLoaded => LoadFate::Restored,
            EventKind::SlotUnloaded if r.level == 0 => LoadFate::Unloaded,
            EventKind::SlotUnloaded => LoadFate::Saved,
            _ => LoadFate::Refused,
        });
        let why = record.filter(|_| fate == LoadFate::Refused).map(|r| {
            let words = SlotRefusal::from_u8(r.level).map_or("for an unknown reason", SlotRefusal::words);
            load.refused.clone().unwrap_or_else(|| words.into())
        });
        let fate = match &update {
            Some(update) if update.decided.is_none() => LoadFate::Pending,
            Some(update) if update.back.is_some() => LoadFate::WentBack,
            Some(_) => LoadFate::Updated,
            None => fate,
        };
        let decided = record.map(|r| r.time).or(update.as_ref().and_then(|it| it.decided));
        LoadSummary {
            program: load.program.clone(),
            tasks: load.tasks.clone(),
            requested: Instant::ZERO.saturating_add(load.at),
            fate,
            decided,
            why,
            update,
        }
    };
    let one = |(n, slot): (usize, &SlotView)| SlotSummary {
        name: slot.name.clone(),
        loads: slot.loads.iter().map(|load| of(n, load)).collect(),
    };
    view.slots.iter().enumerate().map(one).collect()
}

/// The `arg` of an [`EventKind::ArrivalLost`] of an arrival that was dropped since it came early.
const ARRIVED_EARLY: u64 = 0;

impl JobCounts {
    fn add(&mut self, other: &JobCounts) {
        self.released += other.released;
        self.completed += other.completed;
        self.idle += other.idle;
        self.unfinished += other.unfinished;
        self.missed += other.missed;
        self.aborted += other.aborted;
        self.early += other.early;
        self.untold += other.untold;
    }
}

/// How a job ended, as far as its deadline is concerned.
struct Ended {
    /// Up to when it can be said to have waited.
    until: Instant,
    /// How long after its deadline that was.
    tardiness: Duration,
    /// Its component was stopped.
    aborted: bool,
    /// It was charged less than its task can have taken.
    early: bool,
}

impl Ended {
    fn of(job: &Job, task: &TaskView, deadline: Duration, end: Instant) -> Ended {
        let until = job.seen_until(end);
        let tardiness = until.since(job.release.saturating_add(deadline));
        let aborted = job.aborted || (job.removed.is_some() && !job.unloaded);
        Ended { until, tardiness, aborted, early: job.ended_early(task.minimum).is_some() }
    }

    fn is_miss(&self) -> bool {
        !self.tardiness.is_zero() || self.aborted || self.early
    }
}

/// A job that missed its deadline or was there longer than its bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LateJob {
    /// Whose.
    pub task: TaskId,
    /// Which, counted from 0 within its task.
    pub job: u32,
    /// When it missed: at its deadline, or before that when it ended unfinished.
    pub missed: Option<Instant>,
    /// When its bound ended, if it was still there then; whether the bound was a promise is not asked.
    pub outlived: Option<Instant>,
}

/// The jobs that [`judge`] counts as missed, and those that were there longer than their bound; in order of their releases.
pub fn late_jobs(view: &View, trace: &Trace) -> Vec<LateJob> {
    let end = run_end(trace).min(Instant::ZERO.saturating_add(view.duration));
    let history = &History::of(view, trace);
    let late = |job: Job| {
        let task = view.tasks.get(job.task.index())?;
        let seen = job.dropped.unwrap_or(job.seen_until(end));
        let (deadline, promise) = history.owed(view, job.task, job.release, seen);
        let ended = Ended::of(&job, task, deadline, end);
        let due = job.release.saturating_add(deadline);
        let missed = ended.is_miss().then(|| due.min(ended.until));
        let bound = match promise {
            Some(Bound::Response(bound)) => Some(job.release.saturating_add(bound)),
            Some(Bound::Tardiness(bound)) => Some(due.saturating_add(bound)),
            None => None,
        };
        let outlived = bound.filter(|bound| ended.until > *bound);
        (missed.is_some() || outlived.is_some()).then_some(LateJob { task: job.task, job: job.job, missed, outlived })
    };
    jobs(trace).into_iter().filter_map(late).collect()
}

fn task_summary(
    task: &TaskView,
    jobs: &[Job],
    void: &Void,
    end: Instant,
    owed: &dyn Fn(&Job) -> (Duration, Option<Bound>),
) -> TaskSummary {
    let mut counts = JobCounts { released: jobs.len() as u64, ..JobCounts::default() };
    let mut tardiness_max = Duration::ZERO;
    let mut worst: Option<f64> = None;
    for job in jobs {
        let (deadline, promise) = owed(job);
        let ended = Ended::of(job, task, deadline, end);
        match (job.completed, job.untold) {
            (Some(_), _) if job.idle => counts.idle += 1,
            (Some(_), _) => counts.completed += 1,
            (None, Some(_)) => counts.untold += 1,
            (None, None) => counts.unfinished += 1,
        }
        counts.aborted += u64::from(ended.aborted);
        counts.early += u64::from(ended.early);
        counts.missed += u64::from(ended.is_miss());
        tardiness_max = tardiness_max.max(ended.tardiness);
        let until = ended.until;
        let (figure, bound) = match promise {
            Some(Bound::Response(bound)) => (until.since(job.release), bound),
            Some(Bound::Tardiness(bound)) => (ended.tardiness, bound),
            None => continue,
        };
        let due = job.release.saturating_add(deadline);
        if !bound.is_zero() && void.ended(job, due, until).is_none() {
            let ratio = figure.as_nanos() as f64 / bound.as_nanos() as f64;
            worst = Some(worst.map_or(ratio, |w| w.max(ratio)));
        }
    }
    let done = || jobs.iter().filter(|job| job.completed.is_some() && !job.idle);
    let mut responses: Vec<Duration> = done().filter_map(Job::response).collect();
    let mut charges: Vec<Duration> = done().map(|job| job.charged).collect();
    let charged = Distribution::of(&mut charges);
    TaskSummary {
        id: TaskId(0),
        name: task.name.clone(),
        level: task.level,
        core: task.core,
        period: task.period,
        deadline: task.deadline,
        jobs: counts,
        response: Distribution::of(&mut responses),
        tardiness_max,
        charged,
        charged_mean: charged.map(|c| c.mean()),
        arrivals_lost: 0,
        arrivals_dropped: 0,
        preemptions: jobs.iter().map(|j| u64::from(j.preemptions)).sum(),
        migrations: jobs.iter().map(|j| u64::from(j.migrations)).sum(),
        exhausted: jobs.iter().map(|j| u64::from(j.exhausted)).sum(),
        refused: 0,
        written: None,
        promise: task.promise,
        worst_over_bound: worst,
        void: None,
        void_from: None,
        removed_at: None,
    }
}

fn levels(tasks: &[TaskSummary], jobs: &[Vec<Job>]) -> Vec<LevelSummary> {
    let mut out = Vec::new();
    for level in Level::ALL.map(Some).into_iter().chain([None]) {
        let mut sum = LevelSummary {
            level,
            tasks: 0,
            jobs: JobCounts::default(),
            response: None,
            tardiness_max: Duration::ZERO,
            tardiness_bound: None,
            worst_over_bound: None,
            worst_task: None,
            void: 0,
            preemptions: 0,
            migrations: 0,
            exhausted: 0,
        };
        let mut responses = Vec::new();
        for (task, jobs) in tasks.iter().zip(jobs).filter(|(t, _)| t.level == level) {
            sum.tasks += 1;
            sum.void += u64::from(task.void.is_some());
            sum.jobs.add(&task.jobs);
            responses.extend(jobs.iter().filter(|job| !job.idle).filter_map(Job::response));
            sum.tardiness_max = sum.tardiness_max.max(task.tardiness_max);
            if let Some(Bound::Tardiness(bound)) = task.promise {
                sum.tardiness_bound = Some(sum.tardiness_bound.map_or(bound, |b| b.max(bound)));
            }
            if task.worst_over_bound.is_some_and(|w| sum.worst_over_bound.is_none_or(|most| w > most)) {
                sum.worst_over_bound = task.worst_over_bound;
                sum.worst_task = Some(task.name.clone());
            }
            sum.preemptions += task.preemptions;
            sum.migrations += task.migrations;
            sum.exhausted += task.exhausted;
        }
        sum.response = Distribution::of(&mut responses);
        if sum.tasks > 0 {
            out.push(sum);
        }
    }
    out
}

fn per_core(trace: &Trace, segments: &[Segment], samples: Vec<Samples>) -> Vec<CoreSummary> {
    let mut out: Vec<CoreSummary> = samples
        .into_iter()
        .enumerate()
        .map(|(core, samples)| CoreSummary {
            core: core as u8,
            busy: Duration::ZERO,
            idle: Duration::ZERO,
            scheduler: Duration::ZERO,
            records: trace.cores[core].len() as u64,
            dropped: trace.dropped.get(core).copied().unwrap_or(0),
            overheads: samples.sum_up(),
        })
        .collect();
    for s in segments {
        let core = &mut out[s.core.index()];
        let sum = match s.kind {
            SegmentKind::Run => &mut core.busy,
            SegmentKind::Idle => &mut core.idle,
            SegmentKind::Scheduler => &mut core.scheduler,
            SegmentKind::Ghost => continue,
        };
        extend(sum, s.end.since(s.start));
    }
    out
}

fn restarts(trace: &Trace) -> Vec<Restart> {
    let mut all: Vec<_> =
        trace.cores.iter().flatten().filter(|r| r.kind == EventKind::Restarted && r.level < 2).collect();
    all.sort_by_key(|r| (r.time, r.core));
    let told = |r: &&tactus_record::Record| Restart {
        component: r.job,
        component_name: None,
        count: r.arg,
        given_up: r.level == 1,
        by: (r.ticket != 0).then_some(r.ticket),
        by_name: None,
        time: r.time,
    };
    all.iter().map(told).collect()
}

/// The job of the task that had the core last when the task's thread faulted.
fn job_at(trace: &Trace, fault: &tactus_record::Record) -> Option<u32> {
    let task = fault.task?;
    let records = trace.cores.get(usize::from(fault.core.0))?;
    let before =
        |r: &&tactus_record::Record| r.time <= fault.time && r.kind == EventKind::Dispatch && r.task == Some(task);
    records.iter().rev().find(before).map(|r| r.job)
}

fn culprits(view: &View, trace: &Trace) -> Vec<Culprit> {
    // Whoever is gone is no culprit: what ended its life before is.
    let is_fault = |r: &&tactus_record::Record| r.kind == EventKind::Fault && r.level != FaultKind::Gone as u8;
    let mut faults: Vec<_> = trace.cores.iter().flatten().filter(is_fault).collect();
    faults.sort_by_key(|r| (r.time, r.core));
    let words = |n| match FaultKind::from_u8(n) {
        Some(FaultKind::Read) => "read of an address that it does not have",
        Some(FaultKind::Write) => "write to an address that it does not have or may only read",
        Some(FaultKind::Execute) => "execution at an address that it does not have or may not execute",
        Some(FaultKind::StackOverflow) => "stack overflow",
        Some(FaultKind::Privileged) => "privileged instruction or another general-protection fault",
        Some(FaultKind::InvalidInstruction) => "invalid instruction",
        Some(FaultKind::Arithmetic) => "division by zero or overflow",
        Some(FaultKind::Other) => "an exception of another kind",
        Some(FaultKind::Panic) => "it gave up by itself (a panic)",
        Some(FaultKind::Gone) => "a thread came back to it from a call made in its life before",
        Some(FaultKind::Property) => "a monitor found a property violated for which it is stopped",
        None => "a fault of an unknown kind",
    };
    faults
        .into_iter()
        .map(|r| Culprit {
            component_name: None,
            component: r.job,
            task_id: r.task,
            task: r.task.and_then(|t| view.tasks.get(t.index())).map(|t| t.name.clone()),
            job: job_at(trace, r),
            fault: words(r.level).into(),
            panicked: FaultKind::from_u8(r.level) == Some(FaultKind::Panic),
            address: r.arg,
            instruction: r.stopped_at(),
            source: None,
            core: r.core.0,
            time: r.time,
        })
        .collect()
}
