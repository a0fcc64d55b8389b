//! Random systems over all features together.

use crate::common::attack::{beaten, demands, try_longest};
use crate::common::Dice;
use std::ops::Range;
use tactus_analysis::check::{features_of, tests};
use tactus_analysis::{check, TaskVerdict};
use tactus_generate::everything;
use tactus_model::{Costs, Policy, Release, System};
use tactus_time::{Duration, Level, TaskId};

#[derive(Default, Debug)]
struct Tally {
    systems: u32,
    accepted: u32,
    /// Asked for more than they have, by the count below.
    over: u32,
    /// Tasks that are promised something.
    bounded: u32,
    runs: u32,
}

/// Whether some core, or all of them, are asked for more than they have by tasks that can go nowhere else; counted another way than the
/// check does, and of fewer tasks.
fn asks_too_much(system: &System) -> bool {
    let counts = |n: &usize| {
        let place = &system.scheduling.places[*n];
        let yields = place.server.is_some_and(|s| system.scheduling.servers[s].kind.yields());
        let alone = matches!(place.release, Release::After(before, _) if before == TaskId(*n as u16));
        !yields && !alone && place.release.burst().is_none() && system.tasks[*n].level != Some(Level::D)
    };
    let by_level = matches!(system.policy, Policy::Mixed(_) | Policy::Mc2 { .. });
    let levels = if by_level { &[Level::A, Level::B, Level::C][..] } else { &[Level::A][..] };
    levels.iter().any(|level| {
        let served = |n: &usize| !by_level || system.tasks[*n].level.is_some_and(|own| own <= *level);
        let share = |n: usize| {
            let task = &system.tasks[n];
            let time = if by_level { task.execution[*level as usize].unwrap_or_default() } else { task.budget() };
            time.as_nanos() as f64 / task.period.as_nanos() as f64
        };
        let all: Vec<usize> = (0..system.tasks.len()).filter(counts).filter(served).collect();
        let on = |core: usize| {
            let bound = |n: &&usize| system.tasks[**n].core.is_some_and(|own| own.index() == core);
            all.iter().filter(bound).map(|n| share(*n)).sum::<f64>()
        };
        (0..system.cores).any(|core| on(core) > 1.000_001)
            || all.iter().map(|n| share(*n)).sum::<f64>() > system.cores as f64 + 1e-6
    })
}

fn survey(seeds: Range<u64>) -> Tally {
    let (mut tally, tests) = (Tally::default(), tests());
    for seed in seeds {
        let system = everything(seed);
        let mut dice = Dice::new(seed);
        let costs = match dice.between(0, 2) {
            0 if system.machine.overheads => {
                let mut us = || Duration::from_nanos(dice.between(100, 4_000));
                Costs { release: us(), schedule: us(), switch: us(), inter_core: us(), complete: us() }
            }
            _ => Costs::default(),
        };
        let found = check(&system, &costs);
        tally.systems += 1;
        tally.accepted += u32::from(found.accepted);
        if asks_too_much(&system) {
            tally.over += 1;
            assert!(!found.accepted, "seed {seed}: an overload is accepted\n{found}");
        }
        let mut bounded = 0;
        for (n, task) in found.tasks.iter().enumerate() {
            let TaskVerdict::Bounded { by, .. } = &task.verdict else { continue };
            let features = features_of(&system, n);
            let covers = tests.iter().any(|test| by.starts_with(test.name) && test.covers.cover(features));
            assert!(
                covers,
                "seed {seed}: {} is promised by `{by}`, which does not cover {features:?}\n{found}",
                task.name
            );
            bounded += 1;
        }
        tally.bounded += bounded;
        if bounded == 0 || !found.accepted {
            continue;
        }
        if let Ok(worst) = try_longest(&system, &found, &costs, demands(&system, &mut dice)) {
            tally.runs += 1;
            if let Some((n, took, limit)) = beaten(&system, &found, &worst) {
                panic!("seed {seed}: {} took {took} against {limit}\n{found}", system.tasks[n].name);
            }
        }
    }
    tally
}

#[test]
fn over_all_features_no_overload_is_accepted_and_each_promise_is_of_a_test_that_covers_what_the_task_meets() {
    let tally = survey(0..1_500);
    assert!(tally.over > 50 && tally.accepted > 1_000 && tally.bounded > 3_000 && tally.runs > 500, "{tally:?}");
}

#[test]
#[ignore = "100,000 systems, or those of TACTUS_SEEDS=FIRST..LAST: cargo test -p tactus-analysis --test all features:: -- --ignored --nocapture"]
fn a_hundred_thousand_systems_over_all_features() {
    let seeds = std::env::var("TACTUS_SEEDS").unwrap_or("10000..110000".into());
    let (first, last) = seeds.split_once("..").expect("FIRST..LAST");
    println!("{:?}", survey(first.parse().expect("a number")..last.parse().expect("a number")));
}
