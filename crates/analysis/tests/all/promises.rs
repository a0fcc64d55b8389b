//! Whole systems: what the check promises, the policies keep, run by the simulator with and without costs.

use crate::common::Dice;
use std::path::PathBuf;
use tactus_analysis::{check, Bound, Check};
use tactus_model::{Body, Costs, Demand, Machine, Policy, System, Task};
use tactus_record::{EventKind, Record, Sink};
use tactus_time::{CoreId, Duration, Level, TaskId};

fn us(n: u64) -> Duration {
    Duration::from_micros(n)
}

/// Keeps the longest response of every task.
struct Responses<'s> {
    system: &'s System,
    finished: Vec<u32>,
    worst: Vec<Duration>,
}

impl Sink for Responses<'_> {
    fn record(&mut self, record: Record) {
        if let (EventKind::Complete, Some(task)) = (record.kind, record.task) {
            let t = &self.system.tasks[task.index()];
            let release = t.offset + t.period * u64::from(record.job);
            let response = Duration::from_nanos(record.time.as_nanos()) - release;
            let worst = &mut self.worst[task.index()];
            *worst = (*worst).max(response);
            self.finished[task.index()] = record.job + 1;
        }
    }
}

/// The longest response of every task in a run, unfinished jobs counted up to the end.
fn run(system: &System, check: &Check, costs: &Costs, demand: impl FnMut(TaskId, u32) -> Duration) -> Vec<Duration> {
    let table = |t: &tactus_analysis::Table| tactus_policy::Table {
        cycle: t.cycle,
        slots: t.slots.iter().map(|s| tactus_policy::Slot { task: s.task, start: s.start, end: s.end }).collect(),
    };
    let setup = tactus_plan::setup(system, check.tables.iter().map(table).collect(), &check.allowances);
    let n = system.tasks.len();
    let mut seen = Responses { system, finished: vec![0; n], worst: vec![Duration::ZERO; n] };
    tactus_sim::simulate_into(&setup, system.duration, demand, costs, &mut seen).expect("the policy takes the set-up");
    for (n, t) in system.tasks.iter().enumerate() {
        let release = t.offset + t.period * u64::from(seen.finished[n]);
        seen.worst[n] = seen.worst[n].max(system.duration.saturating_sub(release));
    }
    seen.worst
}

/// How many bounds were compared, how many were met by a response of at least half of them, and how many jobs' tasks
/// were tardy within their bound.
#[derive(Default, Debug)]
struct Tally {
    compared: u32,
    near: u32,
    tardy: u32,
    accepted: u32,
}

/// Runs the system at level `at` times, full or shorter, and holds every promise of that level and above to the run.
fn hold(system: &System, check: &Check, costs: &Costs, at: Level, dice: &mut Dice, full: bool, tally: &mut Tally) {
    let seed = dice.next();
    let worst = run(system, check, costs, |task, job| {
        let t = &system.tasks[task.index()];
        let assumed = t.execution[at.max(t.level.unwrap_or(Level::A)).index()].unwrap();
        let mut own = Dice::new(seed ^ (u64::from(task.0) << 32) ^ u64::from(job));
        if full || own.between(0, 3) == 0 {
            assumed
        } else {
            Duration::from_nanos(own.between(1, assumed.as_nanos()))
        }
    });
    for (n, t) in system.tasks.iter().enumerate() {
        if t.level.is_some_and(|own| own > at) {
            continue;
        }
        let limit = match check.tasks[n].bound() {
            Some(Bound::Response(r)) => r,
            Some(Bound::Tardiness(x)) => t.deadline + x,
            None => continue,
        };
        assert!(
            worst[n] <= limit,
            "{} (level {:?}, T {}, D {}) took {} against {} at level {at} times\n{check}\n{:?}\n{costs:?} {:?}",
            t.name,
            t.level,
            t.period,
            t.deadline,
            worst[n],
            limit,
            system.tasks,
            system.policy
        );
        tally.compared += 1;
        tally.near += u32::from(worst[n] * 2 >= limit);
        tally.tardy += u32::from(worst[n] > t.deadline);
    }
}

fn system(policy: Policy, cores: usize, tasks: Vec<Task>, duration: Duration) -> System {
    System {
        name: "drawn".into(),
        source: PathBuf::from("drawn.toml"),
        cores,
        memory: 1 << 28,
        duration,
        seed: 1,
        policy,
        chains: Vec::new(),
        channels: Vec::new(),
        mailboxes: Vec::new(),
        services: Vec::new(),
        slots: Vec::new(),
        loads: Vec::new(),
        machine: Machine { shift: 3, processor: Default::default(), overheads: true, beside: 0 },
        tasks,
        components: Vec::new(),
        scheduling: tactus_model::Scheduling::default(),
        platform: tactus_model::Platform::default(),
        disks: Vec::new(),
        monitors: Vec::new(),
        linux: Vec::new(),
        notes: Vec::new(),
    }
}

fn task(n: usize, level: Option<Level>, core: Option<usize>, period: u64, times: [Option<u64>; 4]) -> Task {
    let execution = times.map(|t| t.map(us));
    Task {
        name: format!("t{n}"),
        level,
        core: core.map(|c| CoreId(c as u8)),
        offset: Duration::ZERO,
        period: us(period),
        deadline: us(period),
        execution,
        demand: Demand::Fixed(execution[level.unwrap_or(Level::C).index()].unwrap()),
        minimum: None,
        memory: 0,
        body: Body::Workload,
        line: n + 1,
    }
}

/// An MC² system: A at most about the whole of a core at level A, B up to the rest at level B, C up to `percent` of
/// what A and B leave at level-C times.
fn mixed(dice: &mut Dice, policy: Policy, percent: u64) -> System {
    let cores = dice.between(1, 4) as usize;
    let free = dice.between(0, cores as u64 - 1) as usize;
    let mut tasks: Vec<Task> = Vec::new();
    let mut left = 1_000_000 * cores as u64;
    for core in free..cores {
        let mut a_left = dice.between(200, 900);
        let mut b_left = 1000;
        for _ in 0..dice.between(0, 3) {
            let share = dice.between(10, a_left / 2 + 10).min(a_left);
            let period = dice.pick(&[2500, 5000, 10_000]);
            let a = (period * share / 1000).max(8);
            let b = (a * dice.between(3, 10) / 10).max(4);
            let c = (b * dice.between(2, 10) / 10).max(2);
            a_left -= share;
            b_left -= (b * 1000 / period).min(b_left);
            left -= (c * 1_000_000 / period).min(left);
            let mut t = task(tasks.len(), Some(Level::A), Some(core), period, [Some(a), Some(b), Some(c), Some(c)]);
            if dice.between(0, 3) == 0 {
                t.offset = us(dice.between(0, period));
            }
            tasks.push(t);
        }
        for _ in 0..dice.between(0, 3) {
            let share = dice.between(5, b_left / 2 + 5).min(b_left * 9 / 10);
            let period = dice.pick(&[7_000, 10_000, 20_000, 30_000, 13_000]);
            let b = (period * share / 1000).max(4);
            let c = (b * dice.between(2, 10) / 10).max(2);
            b_left -= share;
            left -= (c * 1_000_000 / period).min(left);
            let mut t = task(tasks.len(), Some(Level::B), Some(core), period, [None, Some(b), Some(c), Some(c)]);
            if dice.between(0, 3) == 0 {
                t.offset = us(dice.between(0, period));
            }
            tasks.push(t);
        }
    }
    let n = dice.between(1, 3 * cores as u64) as usize;
    let weights: Vec<u64> = (0..n).map(|_| dice.between(20, 100)).collect();
    for w in &weights {
        let period = 500 * dice.between(4, 40);
        let share = left * percent / 100 * w / weights.iter().sum::<u64>();
        let c = (period * share / 1_000_000).clamp(2, period);
        let mut t = task(tasks.len(), Some(Level::C), None, period, [None, None, Some(c), Some(c)]);
        if dice.between(0, 2) == 0 {
            t.offset = us(dice.between(0, period));
        }
        tasks.push(t);
    }
    // The check allows a user's component for more than a workload, and the simulator runs both alike: so the tasks of
    // one system have allowances that differ much.
    if dice.between(0, 2) == 0 {
        for t in &mut tasks {
            if dice.between(0, 3) == 0 {
                t.body = Body::Component(0);
            }
        }
    }
    for _ in 0..dice.between(0, 2) {
        tasks.push(task(tasks.len(), Some(Level::D), None, 9_000, [None, None, None, Some(700)]));
    }
    system(policy, cores, tasks, Duration::from_millis(400))
}

const MC2: [Policy; 3] = [
    Policy::Mc2 { enforce: true, slack_shifting: true },
    Policy::Mc2 { enforce: true, slack_shifting: false },
    Policy::Mc2 { enforce: false, slack_shifting: true },
];

fn hold_mixed(seed: u64, rounds: u32, costs: &Costs, percents: (u64, u64)) -> Tally {
    let mut dice = Dice::new(seed);
    let mut tally = Tally::default();
    for _ in 0..rounds {
        let policy = dice.pick(&MC2);
        let percent = dice.between(percents.0, percents.1);
        let system = mixed(&mut dice, policy, percent);
        let check = check(&system, costs);
        if check.tables.iter().enumerate().any(|(core, t)| {
            t.slots.is_empty()
                && system.tasks.iter().any(|t| t.level == Some(Level::A) && t.core == Some(CoreId(core as u8)))
        }) {
            continue;
        }
        tally.accepted += u32::from(check.accepted);
        for at in [Level::A, Level::B, Level::C] {
            hold(&system, &check, costs, at, &mut dice, true, &mut tally);
            hold(&system, &check, costs, at, &mut dice, false, &mut tally);
        }
    }
    tally
}

/// Systems per test; unoptimised code gets fewer.
const ROUNDS: u32 = if cfg!(debug_assertions) { 60 } else { 400 };

#[test]
fn mc2_keeps_every_promise_without_costs() {
    let tally = hold_mixed(21, ROUNDS, &Costs::default(), (40, 100));
    assert!(tally.compared > 12 * ROUNDS && tally.accepted > ROUNDS / 4 && tally.tardy > ROUNDS / 20, "{tally:?}");
}

/// Costs of the order that the emulated machine shows, all different.
fn costs() -> Costs {
    Costs { release: us(3), schedule: us(5), switch: us(2), inter_core: us(4), complete: us(1) }
}

#[test]
fn mc2_keeps_every_promise_with_costs() {
    let tally = hold_mixed(22, ROUNDS, &costs(), (30, 90));
    assert!(tally.compared > 12 * ROUNDS && tally.accepted > ROUNDS / 8, "{tally:?}");
}

/// A system without levels, at most `percent` of the cores.
fn plain(dice: &mut Dice, policy: Policy, percent: u64) -> System {
    let cores = dice.between(1, 4) as usize;
    let bound = matches!(policy, Policy::PartitionedRm | Policy::PartitionedEdf);
    let n = cores * dice.between(2, 5) as usize;
    let weights: Vec<u64> = (0..n).map(|_| dice.between(10, 100)).collect();
    let mut tasks: Vec<Task> = Vec::new();
    for (i, w) in weights.iter().enumerate() {
        let peers: u64 = if bound { weights.iter().skip(i % cores).step_by(cores).sum() } else { weights.iter().sum() };
        let period = 250 * dice.between(4, 60);
        let share = percent * w * if bound { 1 } else { cores as u64 };
        let c = (period * share / peers / 100).clamp(2, period);
        let mut t = task(i, None, bound.then_some(i % cores), period, [Some(c); 4]);
        if dice.between(0, 2) == 0 {
            t.offset = us(dice.between(0, period));
        }
        if dice.between(0, 2) == 0 {
            t.deadline = us(dice.between(c.max(period * 2 / 3), period));
        }
        tasks.push(t);
    }
    system(policy, cores, tasks, Duration::from_millis(300))
}

fn hold_plain(seed: u64, rounds: u32, costs: &Costs) -> Tally {
    let mut dice = Dice::new(seed);
    let mut tally = Tally::default();
    for round in 0..rounds {
        let policy =
            [Policy::PartitionedRm, Policy::PartitionedEdf, Policy::GlobalRm, Policy::GlobalEdf][round as usize % 4];
        let percent = dice.between(20, 100);
        let system = plain(&mut dice, policy, percent);
        let check = check(&system, costs);
        tally.accepted += u32::from(check.accepted);
        for full in [true, false] {
            hold(&system, &check, costs, Level::C, &mut dice, full, &mut tally);
        }
    }
    tally
}

#[test]
fn partitioned_and_global_policies_keep_every_promise_without_costs() {
    let tally = hold_plain(23, ROUNDS, &Costs::default());
    assert!(tally.compared > 5 * ROUNDS && tally.accepted > ROUNDS / 6 && tally.near > 2 * ROUNDS, "{tally:?}");
    assert!(tally.tardy > 0, "{tally:?}");
}

#[test]
fn partitioned_and_global_policies_keep_every_promise_with_costs() {
    let tally = hold_plain(24, ROUNDS, &costs());
    assert!(tally.compared > 5 * ROUNDS && tally.accepted > ROUNDS / 6 && tally.near > ROUNDS, "{tally:?}");
}

/// Costs that are drawn anew for each batch, down to none of one kind and up to several times the usual.
#[test]
#[ignore = "150,000 systems; minutes: cargo test --release -p tactus-analysis --test all promises:: -- --ignored --nocapture"]
fn very_many_systems_keep_every_promise() {
    let mut dice = Dice::new(25);
    let mut sums = [Tally::default(), Tally::default()];
    for batch in 0..200 {
        let mut draw = |most| us(if dice.between(0, 3) == 0 { 0 } else { dice.between(0, most) });
        let costs = match batch % 4 {
            0 => Costs::default(),
            _ => Costs {
                release: draw(20),
                schedule: draw(20),
                switch: draw(10),
                inter_core: draw(20),
                complete: draw(10),
            },
        };
        let tallies = [hold_mixed(1000 + batch, 250, &costs, (40, 100)), hold_plain(2000 + batch, 500, &costs)];
        for (sum, tally) in sums.iter_mut().zip(tallies) {
            sum.compared += tally.compared;
            sum.near += tally.near;
            sum.tardy += tally.tardy;
            sum.accepted += tally.accepted;
        }
    }
    println!("50,000 systems of MC²: {:?}\n100,000 partitioned and global ones: {:?}", sums[0], sums[1]);
    assert!(sums.iter().all(|sum| sum.compared > 250_000), "{sums:?}");
}
