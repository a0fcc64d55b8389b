//! What several tests need.
#![allow(dead_code)]

pub mod oracle;

use std::collections::VecDeque;
use std::sync::Mutex;
use tactus_plan::Admission;
use tactus_policy::{Decision, Event, Policy, PolicyConfig, PolicySpec, Running, Slot, Table, Task};
use tactus_record::{Record, Sink};
use tactus_sim::Costs;
use tactus_time::{CoreId, CoreSet, Duration, Instant, Level, TaskId};

pub fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}
pub fn us(n: u64) -> Duration {
    Duration::from_micros(n)
}
pub fn at(nanos: u64) -> Instant {
    Instant::from_nanos(nanos)
}

/// Costs of the size that the kernel has.
pub fn small_costs() -> Costs {
    Costs { release: us(4), schedule: us(9), switch: us(2), inter_core: us(6), complete: us(3) }
}

/// A task with an implicit deadline.
pub fn task(core: Option<u8>, period: Duration, budget: Duration) -> Task {
    Task { level: Level::A, core: core.map(CoreId), offset: Duration::ZERO, period, deadline: period, budget }
}

/// The budget of every job.
pub fn budgets(setup: &PolicyConfig) -> impl FnMut(TaskId, u32) -> Duration + '_ {
    |task, _| setup.tasks[task.index()].budget
}

pub fn partitioned_edf(cores: usize, tasks: Vec<Task>) -> PolicyConfig {
    PolicyConfig { cores, kind: PolicySpec::PartitionedEdf, tasks }
}

/// A policy that answers from a list and keeps what it was asked.
pub struct Script {
    answers: Vec<Mutex<VecDeque<Decision>>>,
    pub calls: Mutex<Vec<(u8, u64, Event)>>,
}

impl Script {
    /// One list of answers for each core; a core that has used up its list idles.
    pub fn new(answers: Vec<Vec<Decision>>) -> Script {
        let answers = answers.into_iter().map(|a| Mutex::new(a.into()));
        Script { answers: answers.collect(), calls: Mutex::default() }
    }
    pub fn cores(&self) -> Vec<CoreId> {
        (0..self.answers.len()).map(|core| CoreId(core as u8)).collect()
    }
    pub fn asked(&self) -> Vec<(u8, u64, Event)> {
        self.calls.lock().unwrap().clone()
    }
}

impl Policy for Script {
    type Core = CoreId;

    fn handle<S: Sink>(&self, core: &mut CoreId, now: Instant, event: Event, _: &mut S) -> Decision {
        self.calls.lock().unwrap().push((core.0, now.as_nanos(), event));
        self.answers[core.index()].lock().unwrap().pop_front().unwrap_or(idle())
    }
}

pub fn idle() -> Decision {
    Decision { run: None, timer: Instant::NEVER, notify: CoreSet::EMPTY, ticket: 0 }
}
pub fn wake(timer: u64) -> Decision {
    Decision { timer: at(timer), ..idle() }
}
pub fn run(task: u16, job: u32, charged: u64, timer: u64) -> Decision {
    let charged = Duration::from_nanos(charged);
    Decision { run: Some(Running { task: TaskId(task), job, charged, arrived: None }), timer: at(timer), ..idle() }
}
pub fn telling(cores: &[u8], decision: Decision) -> Decision {
    let mut notify = CoreSet::EMPTY;
    cores.iter().for_each(|core| notify.insert(CoreId(*core)));
    Decision { notify, ..decision }
}

/// Level-A tables by EDF over the hyperperiod of each core's level-A tasks, which have no offsets and implicit
/// deadlines.
pub fn tables(cores: usize, tasks: &[Task]) -> Vec<Table> {
    (0..cores).map(|core| table(CoreId(core as u8), tasks)).collect()
}

fn table(core: CoreId, tasks: &[Task]) -> Table {
    let mine = |t: &&(usize, &Task)| t.1.level == Level::A && t.1.core == Some(core);
    let numbered: Vec<(usize, &Task)> = tasks.iter().enumerate().collect();
    let mine: Vec<(usize, &Task)> = numbered.iter().filter(mine).copied().collect();
    let periods = mine.iter().map(|(_, t)| t.period.as_nanos());
    let cycle = periods.fold(0, |a, b| if a == 0 { b } else { a / gcd(a, b) * b });
    // (deadline, task, release, left)
    let mut jobs: Vec<(u64, usize, u64, u64)> = Vec::new();
    for (number, task) in &mine {
        let period = task.period.as_nanos();
        jobs.extend((0..cycle / period).map(|k| ((k + 1) * period, *number, k * period, task.budget.as_nanos())));
    }
    let mut slots: Vec<Slot> = Vec::new();
    let mut now = 0;
    loop {
        jobs.retain(|job| job.3 > 0);
        let Some(next_release) = jobs.iter().map(|j| j.2).filter(|r| *r > now).min().or(Some(cycle)) else { break };
        let Some(job) = jobs.iter_mut().filter(|j| j.2 <= now).min_by_key(|j| (j.0, j.1)) else {
            if jobs.is_empty() {
                break;
            }
            now = next_release;
            continue;
        };
        let end = (now + job.3).min(next_release);
        assert!(end > now && end <= job.0, "the table does not fit");
        let (task, start) = (TaskId(job.1 as u16), Duration::from_nanos(now));
        match slots.last_mut().filter(|s| s.task == task && s.end == start) {
            Some(slot) => slot.end = Duration::from_nanos(end),
            None => slots.push(Slot { task, start, end: Duration::from_nanos(end) }),
        }
        job.3 -= end - now;
        now = end;
    }
    Table { cycle: Duration::from_nanos(cycle), slots }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 {
        a
    } else {
        gcd(b, a % b)
    }
}

/// A core's records of one kind as (time, task, job).
pub fn of_kind(records: &[Record], kind: tactus_record::EventKind) -> Vec<(u64, u16, u32)> {
    let wanted = records.iter().filter(|r| r.kind == kind);
    wanted.map(|r| (r.time.as_nanos(), r.task.map_or(u16::MAX, |t| t.0), r.job)).collect()
}

/// The set-up of a system with tables of our own, and the same allowance for each task.
pub fn setup_of(system: &tactus_model::System, allowance: Duration) -> PolicyConfig {
    let rulings = vec![
        Admission {
            admitted: true,
            drains: true,
            allowances: vec![allowance; system.tasks.len()],
            tables: Vec::new()
        };
        system.scheduling.changes.len()
    ];
    let plain = tactus_plan::setup_with(system, Vec::new(), &[], &rulings);
    let tables = match plain.kind {
        PolicySpec::Mc2(_) | PolicySpec::ReconfigurableMc2(_) => tables(system.cores, &plain.tasks),
        _ => Vec::new(),
    };
    let rulings: Vec<Admission> = rulings.into_iter().map(|it| Admission { tables: tables.clone(), ..it }).collect();
    tactus_plan::setup_with(system, tables, &vec![allowance; system.tasks.len()], &rulings)
}

/// What the system's jobs take.
pub fn demands(system: &tactus_model::System) -> impl FnMut(TaskId, u32) -> Duration + Copy + '_ {
    |task, job| system.tasks[task.index()].demand(system.seed, task, job)
}
