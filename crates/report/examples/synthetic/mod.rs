//! A made-up run: a small scheduler (levels A and B bound to cores, C and D anywhere, earliest deadline first within
//! a level) over random tasks, which writes the records that a machine would. It feeds the demo and the tests, and
//! stands for no policy of Tactus.

use tactus_record::{EntryReason, EventKind, FaultKind, Record};
use tactus_time::{CoreId, Duration, Instant, Level, TaskId};
use tactus_trace::{Bound, TaskView, Trace, View};

/// What to make up.
pub struct Wanted {
    pub tasks: usize,
    pub cores: usize,
    pub seconds: u64,
    pub seed: u64,
    /// Whether one task takes far more than was assumed, for a while.
    pub overrun: bool,
    /// Whether one task's component writes where it may not, and is stopped.
    pub fault: bool,
}

/// Random numbers (splitmix64): the same for the same seed, everywhere.
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.roll() % (high - low + 1)
    }
}

#[derive(Clone, Copy)]
struct Job {
    task: usize,
    number: u32,
    deadline: u64,
    left: u64,
    charged: u64,
}

#[derive(Clone, Copy, Default)]
struct Core {
    /// Place of the running job in the ready list's numbering, and since when.
    since: u64,
    ghost: Option<(usize, u32, u64, u64)>,
    entered: bool,
}

struct Run {
    dice: Dice,
    view: View,
    budgets: Vec<u64>,
    ready: Vec<Job>,
    running: Vec<Option<Job>>,
    cores: Vec<Core>,
    trace: Trace,
    free_at: u64,
    ticket: u32,
    overrun: bool,
    /// The task that will fault, from when on; nothing once it has.
    fault: Option<(usize, u64)>,
    removed: Option<usize>,
}

const ROLES: [&str; 12] = [
    "attitude",
    "airspeed",
    "autopilot",
    "engine",
    "flaps",
    "display",
    "telemetry",
    "camera",
    "planner",
    "radio",
    "logger",
    "diagnosis",
];

/// Makes up a system and a run of it.
pub fn run(wanted: &Wanted) -> (View, Trace) {
    let mut dice = Dice(wanted.seed);
    let mut tasks = Vec::new();
    let mut budgets = Vec::new();
    for i in 0..wanted.tasks {
        let level = Level::ALL[[0, 1, 2, 2, 1, 0, 2, 1, 2, 3, 1, 2][i * 12 / wanted.tasks.max(12) % 12]];
        // More critical tasks have shorter periods, so that a run without overruns keeps its promises.
        let periods: [u64; 4] = match level {
            Level::A => [5, 5, 10, 10],
            Level::B => [20, 25, 40, 50],
            Level::C | Level::D => [40, 50, 80, 100],
        };
        let period = periods[dice.between(0, 3) as usize] * 1_000_000;
        // Per mille of a core, of which jobs take 70 % on average.
        let share = 850 * wanted.cores as u64 * dice.between(60, 130) / 100 / wanted.tasks.max(1) as u64;
        let budget = (period * share.clamp(1, 280) / 1000).max(20_000);
        let bound = matches!(level, Level::A | Level::B);
        budgets.push(budget);
        tasks.push(TaskView {
            releases: tactus_task::Release::Periodic,
            waits: tactus_task::WaitLimit::default(),
            name: format!("{}-{i}", ROLES[i % ROLES.len()]),
            level: Some(level),
            core: bound.then_some(CoreId((i % wanted.cores) as u8)),
            offset: Duration::ZERO,
            period: Duration::from_nanos(period),
            deadline: Duration::from_nanos(period),
            promise: match level {
                Level::A | Level::B => Some(Bound::Response(Duration::from_nanos(period))),
                Level::C => Some(Bound::Tardiness(Duration::from_nanos(period / 2))),
                Level::D => None,
            },
            assumed: [None; 4],
            budget: None,
            minimum: None,
        });
    }
    let view = View {
        name: "synthetic".into(),
        policy: "MC²-like".into(),
        cores: wanted.cores,
        duration: Duration::from_secs(wanted.seconds),
        accepted: true,
        tasks,
        tree: None,
        chains: Vec::new(),
        services: Vec::new(),
        changes: None,
        slots: Vec::new(),
        disks: Vec::new(),
        partitions: Vec::new(),
        heaps: Vec::new(),
        refuted: None,
        uncounted: false,
        monitors: Vec::new(),
        servers: Vec::new(),
    };
    let trace = Trace {
        cores: vec![Vec::new(); wanted.cores],
        dropped: vec![0; wanted.cores],
        disks: Vec::new(),
        observed: Vec::new(),
    };
    let mut run = Run {
        dice,
        view,
        budgets,
        ready: Vec::new(),
        running: vec![None; wanted.cores],
        cores: vec![Core::default(); wanted.cores],
        trace,
        free_at: 0,
        ticket: 0,
        overrun: wanted.overrun,
        fault: wanted.fault.then_some((wanted.tasks / 2, wanted.seconds * 420_000_000)),
        removed: None,
    };
    run.go();
    (run.view, run.trace)
}

impl Run {
    /// `job` is a task and a number, `level` as the kind says.
    fn write(&mut self, core: usize, time: u64, kind: EventKind, job: Option<(usize, u32)>, level: u8, arg: u64) {
        self.trace.cores[core].push(Record {
            time: Instant::from_nanos(time),
            arg,
            job: job.map_or(0, |(_, number)| number),
            task: job.map(|(task, _)| TaskId(task as u16)),
            kind,
            level,
            core: CoreId(core as u8),
            ticket: 0,
        });
    }

    fn level(&self, task: usize) -> u8 {
        self.view.tasks[task].level.map_or(0, |l| l as u8)
    }

    fn policy(&mut self, core: usize, time: u64, kind: EventKind, job: Job, arg: u64) {
        self.write(core, time, kind, Some((job.task, job.number)), self.level(job.task), arg);
    }

    fn enter(&mut self, core: usize, time: u64, reason: EntryReason, arg: u64) {
        if !std::mem::replace(&mut self.cores[core].entered, true) {
            let job = self.running[core].map(|j| (j.task, 0));
            self.write(core, time, EventKind::Enter, job, reason as u8, arg);
        }
    }

    fn go(&mut self) {
        let end = self.view.duration.as_nanos();
        let mut next: Vec<(u64, u32)> = self.view.tasks.iter().map(|t| (t.offset.as_nanos(), 0)).collect();
        for core in 0..self.running.len() {
            self.enter(core, 0, EntryReason::Start, 0);
        }
        loop {
            let release = next.iter().map(|n| n.0).min().unwrap_or(end);
            let done = |(job, core): (&Option<Job>, &Core)| job.map(|j| core.since + j.left);
            let complete = self.running.iter().zip(&self.cores).filter_map(done).min().unwrap_or(end);
            let ghost = self.cores.iter().filter_map(|c| c.ghost.map(|(.., since, left)| since + left)).min();
            let event = release.min(complete).min(ghost.unwrap_or(end));
            let late = if event == release && event > 0 { self.dice.between(240, 1900) } else { 0 };
            let now = (event + late).max(self.free_at);
            if now >= end {
                break;
            }
            self.finish(now);
            self.stop_culprit(now);
            for (task, (time, number)) in next.iter_mut().enumerate() {
                if *time <= now {
                    self.release(task, *number, *time, now);
                    *time += self.view.tasks[task].period.as_nanos();
                    *number += 1;
                }
            }
            self.assign(now);
        }
        for core in 0..self.running.len() {
            self.write(core, end, EventKind::End, None, 0, 0);
        }
    }

    fn finish(&mut self, now: u64) {
        for core in 0..self.running.len() {
            if let Some((task, number, since, left)) = self.cores[core].ghost {
                if since + left <= now {
                    self.enter(core, now, EntryReason::Timer, since + left);
                    self.cores[core].ghost = None;
                    self.write(core, now, EventKind::GhostEnd, Some((task, number)), self.level(task), 0);
                }
            }
            let Some(mut job) = self.running[core] else { continue };
            if self.cores[core].since + job.left > now {
                continue;
            }
            self.enter(core, now, EntryReason::Complete, 0);
            job.charged += now - self.cores[core].since;
            self.policy(core, now, EventKind::Complete, job, job.charged);
            self.running[core] = None;
            let left = self.budgets[job.task].saturating_sub(job.charged);
            if self.view.tasks[job.task].core.is_some() && left > 10_000 && self.cores[core].ghost.is_none() {
                self.policy(core, now, EventKind::GhostBegin, job, left);
                self.cores[core].ghost = Some((job.task, job.number, now, left));
            }
        }
    }

    /// Once its time has come and it has a core, the culprit faults and is taken out.
    fn stop_culprit(&mut self, now: u64) {
        let Some((culprit, _)) = self.fault.filter(|(_, from)| now >= *from) else { return };
        let running = |job: &Option<Job>| job.is_some_and(|j| j.task == culprit);
        let Some(core) = self.running.iter().position(running) else { return };
        let level = self.level(culprit);
        self.write(core, now, EventKind::Fault, Some((culprit, 0)), FaultKind::Write as u8, 0x7f_dead_b000);
        self.enter(core, now, EntryReason::Fault, 0);
        self.write(core, now, EventKind::Removed, Some((culprit, 0)), level, 0);
        self.running[core] = None;
        self.ready.retain(|j| j.task != culprit);
        self.removed = Some(culprit);
        self.fault = None;
    }

    fn release(&mut self, task: usize, number: u32, nominal: u64, now: u64) {
        if self.removed == Some(task) {
            return;
        }
        let core = self.view.tasks[task].core.map_or(task % self.running.len(), CoreId::index);
        self.enter(core, now, EntryReason::Timer, nominal);
        let budget = self.budgets[task];
        let wild = self.overrun && task == self.budgets.len() / 3 && (300..330).contains(&(nominal / 10_000_000));
        let left =
            if wild { self.view.tasks[task].period.as_nanos() * 2 } else { self.dice.between(budget * 2 / 5, budget) };
        let deadline = nominal + self.view.tasks[task].deadline.as_nanos();
        let job = Job { task, number, deadline, left, charged: 0 };
        self.policy(core, now, EventKind::Release, job, nominal);
        self.ready.push(job);
    }

    /// Gives every core the job that it is to run from `now` on.
    fn assign(&mut self, now: u64) {
        let cores = self.running.len();
        for core in 0..cores {
            if let Some(job) = &mut self.running[core] {
                let ran = now.saturating_sub(self.cores[core].since);
                job.left = job.left.saturating_sub(ran).max(1);
                job.charged += ran;
                self.cores[core].since = now;
            }
        }
        let mut all: Vec<(Job, Option<usize>)> = self.ready.drain(..).map(|j| (j, None)).collect();
        all.extend(self.running.iter().enumerate().filter_map(|(c, j)| j.map(|j| (j, Some(c)))));
        all.sort_by_key(|(j, on)| (self.level(j.task), j.deadline, j.task, j.number, *on));
        let mut chosen: Vec<Option<Job>> = vec![None; cores];
        let mut begun: Vec<usize> = Vec::new();
        for (job, on) in all {
            let bound = self.view.tasks[job.task].core.map(CoreId::index);
            let free = |c: &usize| chosen[*c].is_none();
            let place = match bound {
                Some(core) => Some(core).filter(free),
                None => on.filter(free).or_else(|| (0..cores).find(free)),
            };
            // Two jobs of one task never run at once.
            match place.filter(|_| !begun.contains(&job.task)) {
                Some(core) => chosen[core] = Some(job),
                None => self.ready.push(job),
            }
            begun.push(job.task);
        }
        // A core that gives a job up decides before the one that takes it on.
        let key = |j: &Option<Job>| j.map(|j| (j.task, j.number));
        let mut left: Vec<usize> = (0..cores).collect();
        while let Some(&first) = left.first() {
            let held = |c: &usize, on: &usize| on != c && key(&chosen[*c]) == key(&self.running[*on]);
            let free = |c: &&usize| chosen[**c].is_none() || !left.iter().any(|on| held(c, on));
            let core = *left.iter().find(free).unwrap_or(&first);
            left.retain(|c| *c != core);
            self.run_on(core, now, chosen[core], key(&chosen[core]) != key(&self.running[core]));
        }
    }

    fn run_on(&mut self, core: usize, now: u64, job: Option<Job>, changed: bool) {
        if changed {
            self.enter(core, now, EntryReason::Notify, 0);
            if let Some(old) = self.running[core] {
                self.policy(core, now, EventKind::Preempt, old, 0);
            }
            if let (Some((task, number, since, left)), Some(new)) = (self.cores[core].ghost, job) {
                if self.view.tasks[new.task].core.is_some() {
                    self.cores[core].ghost = None;
                    self.write(
                        core,
                        now,
                        EventKind::GhostEnd,
                        Some((task, number)),
                        self.level(task),
                        since + left - now,
                    );
                }
            }
            match job {
                Some(job) => self.policy(core, now, EventKind::Dispatch, job, 0),
                None => self.write(core, now, EventKind::Idle, None, 0, 0),
            }
            self.running[core] = job;
            self.cores[core].since = now;
        }
        if std::mem::take(&mut self.cores[core].entered) {
            let usual = 700 + 12 * self.ready.len() as u64;
            let decided = now + usual + self.dice.between(0, 60) * self.dice.between(0, 60);
            let chosen = job.map(|j| (j.task, j.number));
            self.write(core, decided, EventKind::Leave, chosen, 0, u64::MAX);
            self.ticket += 1;
            if let Some(leave) = self.trace.cores[core].last_mut() {
                leave.ticket = self.ticket;
            }
            self.free_at = self.free_at.max(decided);
        }
    }
}
