//! Synthetic traces, written step by step.
#![allow(dead_code)]

use tactus_record::{EntryReason, EventKind, Record};
use tactus_time::{CoreId, Duration, Instant, Level, TaskId};
use tactus_trace::{Bound, TaskView, Trace, View};

/// One unit of the test schedules.
pub const UNIT: u64 = 1_000_000;

pub fn units(n: u64) -> Duration {
    Duration::from_nanos(n * UNIT)
}

pub fn at(n: u64) -> Instant {
    Instant::from_nanos(n * UNIT)
}

pub fn task(name: &str, period: u64, promise: Option<Bound>) -> TaskView {
    TaskView {
        name: name.into(),
        level: None,
        core: None,
        releases: tactus_task::Release::Periodic,
        waits: tactus_task::WaitLimit::default(),
        offset: Duration::ZERO,
        period: units(period),
        deadline: units(period),
        promise,
        assumed: [None; 4],
        budget: None,
        minimum: None,
    }
}

pub fn at_level(mut task: TaskView, level: Level, core: Option<u8>) -> TaskView {
    task.level = Some(level);
    task.core = core.map(CoreId);
    task
}

pub fn view(cores: usize, duration: u64, tasks: Vec<TaskView>) -> View {
    View {
        name: "test".into(),
        policy: "EDF".into(),
        cores,
        duration: units(duration),
        accepted: true,
        tasks,
        tree: None,
        chains: Vec::new(),
        services: Vec::new(),
        changes: None,
        slots: Vec::new(),
        disks: Vec::new(),
        partitions: Vec::new(),
        monitors: Vec::new(),
        servers: Vec::new(),
        heaps: Vec::new(),
        refuted: None,
        uncounted: false,
    }
}

/// Writes a trace the way that a core does: calls of the scheduler, and in each the steps of the policy.
pub struct Builder {
    pub trace: Trace,
    ticket: u32,
    has: Vec<Option<(u16, u32)>>,
}

/// One call of the scheduler while it is written.
pub struct Call<'a> {
    trace: &'a mut Trace,
    core: u8,
    /// When it began, in ns.
    now: u64,
}

impl Builder {
    pub fn new(cores: usize) -> Builder {
        Builder {
            trace: Trace {
                cores: vec![Vec::new(); cores],
                dropped: vec![0; cores],
                disks: Vec::new(),
                observed: Vec::new(),
            },
            ticket: 0,
            has: vec![None; cores],
        }
    }

    /// A call at `now` units that takes no time.
    pub fn call(&mut self, core: u8, now: u64, reason: EntryReason, steps: impl FnOnce(&mut Call)) -> &mut Self {
        let ns = now * UNIT;
        self.call_ns(core, ns, ns, reason, ns, steps)
    }

    /// A call from `enter` to `leave` (ns); `due` is when the timer was to fire.
    pub fn call_ns(
        &mut self,
        core: u8,
        enter: u64,
        leave: u64,
        reason: EntryReason,
        due: u64,
        steps: impl FnOnce(&mut Call),
    ) -> &mut Self {
        let due = if reason == EntryReason::Timer { due } else { 0 };
        let from = self.trace.cores[core as usize].len();
        let mut call = Call { trace: &mut self.trace, core, now: enter };
        call.put(EventKind::Enter, None, 0, due, reason as u8);
        steps(&mut call);
        let runs = running(self.has[core as usize], &call.trace.cores[core as usize][from..]);
        self.has[core as usize] = runs;
        call.now = leave;
        call.put(EventKind::Leave, runs.map(|r| r.0), runs.map_or(0, |r| r.1), u64::MAX, 0);
        self.ticket += 1;
        if let Some(last) = self.trace.cores[core as usize].last_mut() {
            last.ticket = self.ticket;
        }
        self
    }

    /// The end of the run on every core, at `now` units.
    pub fn end(&mut self, now: u64) -> Trace {
        for core in 0..self.trace.cores.len() as u8 {
            Call { trace: &mut self.trace, core, now: now * UNIT }.put(EventKind::End, None, 0, 0, 0);
        }
        self.trace.clone()
    }
}

/// What the policy's records say that the core has.
fn running(mut has: Option<(u16, u32)>, records: &[Record]) -> Option<(u16, u32)> {
    for r in records {
        match (r.kind, r.task) {
            (EventKind::Dispatch, Some(t)) => has = Some((t.0, r.job)),
            (EventKind::Preempt | EventKind::Complete | EventKind::Exhausted | EventKind::Removed, Some(t))
                if has.is_some_and(|h| h.0 == t.0) =>
            {
                has = None;
            }
            (EventKind::Idle, _) => has = None,
            _ => {}
        }
    }
    has
}

impl Call<'_> {
    pub fn put(&mut self, kind: EventKind, task: Option<u16>, job: u32, arg: u64, level: u8) -> &mut Self {
        self.trace.cores[self.core as usize].push(Record {
            time: Instant::from_nanos(self.now),
            arg,
            job,
            task: task.map(TaskId),
            kind,
            level,
            core: CoreId(self.core),
            ticket: 0,
        });
        self
    }
    /// Release with its nominal time in units.
    pub fn release(&mut self, task: u16, job: u32, nominal: u64) -> &mut Self {
        self.put(EventKind::Release, Some(task), job, nominal * UNIT, 0)
    }
    pub fn dispatch(&mut self, task: u16, job: u32) -> &mut Self {
        self.put(EventKind::Dispatch, Some(task), job, 0, 0)
    }
    pub fn preempt(&mut self, task: u16, job: u32) -> &mut Self {
        self.put(EventKind::Preempt, Some(task), job, 0, 0)
    }
    /// Completion with the charge in units.
    pub fn complete(&mut self, task: u16, job: u32, charged: u64) -> &mut Self {
        self.put(EventKind::Complete, Some(task), job, charged * UNIT, 0)
    }
    pub fn exhausted(&mut self, task: u16, job: u32) -> &mut Self {
        self.put(EventKind::Exhausted, Some(task), job, 0, 0)
    }
    pub fn replenish(&mut self, task: u16, budget: u64) -> &mut Self {
        self.put(EventKind::Replenish, Some(task), 0, budget * UNIT, 0)
    }
    pub fn ghost(&mut self, task: u16, job: u32) -> &mut Self {
        self.put(EventKind::GhostBegin, Some(task), job, 0, 0)
    }
    pub fn ghost_end(&mut self, task: u16, job: u32) -> &mut Self {
        self.put(EventKind::GhostEnd, Some(task), job, 0, 0)
    }
    pub fn idle(&mut self) -> &mut Self {
        self.put(EventKind::Idle, None, 0, 0, 0)
    }
}

/// Partitioned EDF on one or more cores, simulated in whole units: a source of good traces that shares no code with
/// the policies. `tasks`: (core, period, execution time), by `TaskId`.
pub fn edf(cores: u8, tasks: &[(u8, u64, u64)], duration: u64) -> Trace {
    let mut builder = Builder::new(cores as usize);
    for core in 0..cores {
        // Per job: deadline, task, number, what is left.
        let mut ready: Vec<(u64, u16, u32, u64)> = Vec::new();
        let mut has: Option<(u16, u32)> = None;
        for now in 0..duration {
            let mine = || (0..tasks.len()).filter(|t| tasks[*t].0 == core);
            let due: Vec<usize> = mine().filter(|t| now % tasks[*t].1 == 0).collect();
            let done = has.filter(|h| ready.iter().any(|j| (j.1, j.2) == *h && j.3 == 0));
            if now == 0 || done.is_some() || !due.is_empty() {
                let reason = match (now, done) {
                    (0, _) => EntryReason::Start,
                    (_, Some(_)) => EntryReason::Complete,
                    _ => EntryReason::Timer,
                };
                builder.call(core, now, reason, |call| {
                    if let Some((task, job)) = done {
                        call.complete(task, job, tasks[task as usize].2);
                        ready.retain(|j| (j.1, j.2) != (task, job));
                        has = None;
                    }
                    for t in due {
                        let (_, period, cost) = tasks[t];
                        call.release(t as u16, (now / period) as u32, now);
                        ready.push((now + period, t as u16, (now / period) as u32, cost));
                    }
                    ready.sort_unstable();
                    let best = ready.first().map(|j| (j.1, j.2));
                    if best != has {
                        if let Some((task, job)) = has {
                            call.preempt(task, job);
                        }
                        match best {
                            Some((task, job)) => call.dispatch(task, job),
                            None => call.idle(),
                        };
                        has = best;
                    } else if has.is_none() {
                        call.idle();
                    }
                });
            }
            if let Some(h) = has {
                if let Some(job) = ready.iter_mut().find(|j| (j.1, j.2) == h) {
                    job.3 -= 1;
                }
            }
        }
    }
    // Cores were written one after another; tickets would say otherwise.
    for r in builder.trace.cores.iter_mut().flatten() {
        r.ticket = 0;
    }
    builder.end(duration)
}

/// The tasks that [`edf`] runs, with a hard promise of their period.
pub fn edf_view(cores: u8, tasks: &[(u8, u64, u64)], duration: u64) -> View {
    let tasks = tasks.iter().enumerate().map(|(i, (core, period, _))| {
        let mut t = task(&format!("T{}", i + 1), *period, Some(Bound::Response(units(*period))));
        t.core = Some(CoreId(*core));
        t
    });
    view(cores as usize, duration, tasks.collect())
}
