//! Systems of every order, spread and kind of server, and of two levels of criticality: what the check promises, the policies keep,
//! with and without costs.

use crate::common::Dice;
use std::collections::BTreeMap;
use tactus_analysis::{check, Bound, Check};
use tactus_generate::{tree, Draw};
use tactus_model::{Costs, Migration, Mixed, Overrun, Policy, System};
use tactus_record::{EventKind, Record, Sink};
use tactus_time::{Duration, Level, TaskId};

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
            let response = Duration::from_nanos(record.time.as_nanos()) - (t.offset + t.period * u64::from(record.job));
            let worst = &mut self.worst[task.index()];
            *worst = (*worst).max(response);
            self.finished[task.index()] = record.job + 1;
        }
    }
}

/// The longest response of every task in a run, unfinished jobs counted up to the end.
fn run(system: &System, check: &Check, costs: &Costs, demand: impl FnMut(TaskId, u32) -> Duration) -> Vec<Duration> {
    let setup = tactus_plan::setup(system, Vec::new(), &check.allowances);
    let n = system.tasks.len();
    let mut seen = Responses { system, finished: vec![0; n], worst: vec![Duration::ZERO; n] };
    tactus_sim::simulate_into(&setup, system.duration, demand, costs, &mut seen).expect("the policy takes the set-up");
    for (n, t) in system.tasks.iter().enumerate() {
        let release = t.offset + t.period * u64::from(seen.finished[n]);
        seen.worst[n] = seen.worst[n].max(system.duration.saturating_sub(release));
    }
    seen.worst
}

/// Bounds compared, and those met by a response of at least half of them.
#[derive(Default, Debug)]
struct Tally {
    compared: u32,
    near: u32,
    untested: u32,
    accepted: u32,
}

fn costs(dice: &mut Dice, some: bool) -> Costs {
    let mut us = || Duration::from_nanos(dice.between(100, 8_000));
    match some {
        false => Costs::default(),
        true => Costs { release: us(), schedule: us(), switch: us(), inter_core: us(), complete: us() },
    }
}

/// Draws a system by its seed, with times cut so that some systems pass and some fail, and holds every bound to a run.
fn hold(seed: u64, with_costs: bool, tallies: &mut BTreeMap<String, Tally>) {
    let mut system = tree(seed);
    let mut dice = Dice::new(seed ^ 0x7472_6565);
    let percent = dice.pick(&[5, 10, 20, 40, 70, 100]);
    for t in &mut system.tasks {
        let shorter = |d: Duration| Duration::from_nanos((d.as_nanos() * percent / 100).max(2_000));
        t.execution = t.execution.map(|e| e.map(shorter));
        if dice.between(0, 3) == 0 {
            t.offset = Duration::from_nanos(dice.between(0, t.period.as_nanos()));
        }
    }
    let costs = costs(&mut dice, with_costs);
    system.machine.overheads = with_costs;
    let check = check(&system, &costs);
    let shorten = dice.between(0, 1) == 0;
    let worst = run(&system, &check, &costs, |task, job| {
        let assumed = system.tasks[task.index()].execution[0].unwrap();
        let mut own = Dice::new(seed ^ (u64::from(task.0) << 32) ^ u64::from(job));
        match shorten && own.between(0, 3) > 0 {
            true => Duration::from_nanos(own.between(1, assumed.as_nanos())),
            false => assumed,
        }
    });
    for (n, t) in system.tasks.iter().enumerate() {
        let verdict = &check.tasks[n];
        let place = system.scheduling.places.get(n).copied().unwrap_or_default();
        let home = match place.server {
            None => "root".to_string(),
            Some(s) => {
                let s = &system.scheduling.servers[s];
                let many =
                    if s.spread != Migration::Partitioned && s.cores.iter().count() > 1 { " shared" } else { "" };
                format!("{:?} {:?}{many}", s.kind, s.order)
            }
        };
        let tally = tallies.entry(home).or_default();
        let limit = match verdict.bound() {
            Some(Bound::Response(r)) => r,
            Some(Bound::Tardiness(x)) => t.deadline + x,
            None => {
                tally.untested += u32::from(!verdict.fails());
                assert!(!verdict.explanation().is_empty(), "{}: nothing is said of {}", system.name, t.name);
                continue;
            }
        };
        // Jobs that are left out or killed have no response.
        if matches!(place.overrun, Overrun::Skip | Overrun::Kill) && limit > t.deadline {
            continue;
        }
        if worst[n] > limit && std::env::var("GO_ON").is_ok() {
            println!(
                "{} of seed {seed} (costs: {with_costs}) took {} against {limit}: {}",
                t.name,
                worst[n],
                verdict.explanation()
            );
            continue;
        }
        assert!(
            worst[n] <= limit,
            "{} (T {}, D {}) of seed {seed} (costs: {with_costs}, {percent} %) took {} against {}\n{check}\n{costs:?} {:?}\n{:?}",
            t.name,
            t.period,
            t.deadline,
            worst[n],
            limit,
            system.scheduling,
            system.tasks
        );
        tally.compared += 1;
        tally.near += u32::from(worst[n] * 2 >= limit);
        tally.accepted += u32::from(!verdict.fails());
    }
}

fn falsify(seeds: std::ops::Range<u64>) -> BTreeMap<String, Tally> {
    let mut tallies = BTreeMap::new();
    for seed in seeds {
        hold(seed, seed % 2 == 1, &mut tallies);
    }
    tallies
}

#[test]
fn no_run_of_a_tree_beats_a_bound() {
    let tallies = falsify(0..120);
    let all: u32 = tallies.values().map(|t| t.compared).sum();
    assert!(all > 400, "{tallies:#?}");
    let near: u32 = tallies.values().map(|t| t.near).sum();
    assert!(near * 10 > all, "bounds that nobody comes near show nothing: {tallies:#?}");
}

#[test]
#[ignore = "the long run of evidence"]
fn no_run_of_20_000_trees_beats_a_bound() {
    let first = std::env::var("FIRST").ok().and_then(|s| s.parse().ok()).unwrap_or(1_000);
    let many = std::env::var("MANY").ok().and_then(|s| s.parse().ok()).unwrap_or(20_000);
    for (home, t) in falsify(first..first + many) {
        println!("{home:46} {t:?}");
    }
}

/// Runs two levels of criticality while all keep to B, and while critical jobs take up to A. How many bounds were compared.
fn hold_mixed(seed: u64) -> u32 {
    let policy = Policy::Mixed(if seed % 2 == 0 { Mixed::Amc } else { Mixed::EdfVd });
    let mut system = Draw { policy, ..Draw::from_seed(seed) }.system();
    let mut dice = Dice::new(seed ^ 0x616d_6300);
    let percent = dice.pick(&[30, 50, 70, 100]);
    for t in &mut system.tasks {
        t.execution = t.execution.map(|e| e.map(|d| Duration::from_nanos((d.as_nanos() * percent / 100).max(20_000))));
    }
    system.machine.overheads = seed % 4 > 1;
    let costs = costs(&mut dice, system.machine.overheads);
    let check = check(&system, &costs);
    let mut compared = 0;
    for at in [Level::B, Level::A] {
        let seed = dice.next();
        let worst = run(&system, &check, &costs, |task, job| {
            let t = &system.tasks[task.index()];
            let mut own = Dice::new(seed ^ (u64::from(task.0) << 32) ^ u64::from(job));
            let assumed = t.execution[at.max(t.level.unwrap()).index()].unwrap();
            match own.between(0, 3) {
                0 => Duration::from_nanos(own.between(1, assumed.as_nanos())),
                1 => t.execution[Level::B.index()].unwrap(),
                _ => assumed,
            }
        });
        for (n, t) in system.tasks.iter().enumerate().filter(|(_, t)| t.level.is_some_and(|own| own <= at)) {
            let Some(Bound::Response(limit)) = check.tasks[n].bound() else { continue };
            // What a budget has ended is no response; a bound beyond the deadline supposes nothing of the sort.
            if limit > t.deadline {
                continue;
            }
            assert!(
                worst[n] <= limit,
                "{} of {} at {at} took {} against {limit}\n{check}",
                t.name,
                system.name,
                worst[n]
            );
            compared += 1;
        }
    }
    compared
}

#[test]
fn no_run_of_two_levels_beats_a_bound() {
    let compared: u32 = (0..60).map(hold_mixed).sum();
    assert!(compared > 500, "{compared}");
}
