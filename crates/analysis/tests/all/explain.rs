//! What bounds add up from: the terms that a test gives, against the bound that the check prints.

use crate::common::Dice;
use std::collections::BTreeMap;
use std::path::Path;
use tactus_analysis::check::explain;
use tactus_analysis::terms::{Equation, Source, Terms};
use tactus_analysis::{check_with_cache, CacheDelay, TaskVerdict};
use tactus_generate::{any, everything, featured, partitions, released, sharing, tree, waiting, Draw};
use tactus_model::{Costs, Feature, Migration, Policy, System, TaskOrder};
use tactus_task::Bound;
use tactus_time::Duration;

/// Tests whose bounds are no sum of terms: tables, schedules that are worked out, tardiness, comparisons with a supply, and trees by deadlines.
const WITHOUT: &[&str] = &[
    "table",
    "level B",
    "by its offsets",
    "thresholds and arrival curves",
    "arrival curves; waits count",
    "arrival curves and inheritance",
    "EDF demand with arrival curves",
    "EDF demand with reloads",
    "turns (Racu et al.)",
    "density test",
    "AMC",
    "EDF-VD",
    "while critical jobs keep to B",
    "response in its tree of servers",
    "soft server",
    "alone in",
    "virtual platform",
    "multiprocessor periodic resource",
    "global EDF beneath",
    "P-EDF",
];

/// Adds terms up in a way of its own.
fn added_up(terms: &Terms) -> u64 {
    let (mut others, mut plus, mut minus) = (0_u64, 0_u64, 0_u64);
    for term in &terms.list {
        let amount = term.times * term.each.as_nanos();
        match term.source {
            Source::Other(_) | Source::Server(_) => others += amount,
            Source::Arrival => minus += amount,
            _ => plus += amount,
        }
    }
    others / terms.cores + plus - minus
}

#[derive(Default)]
struct Tally {
    explained: BTreeMap<String, u32>,
}

fn attack(system: &System, costs: &Costs, cache: CacheDelay, tally: &mut Tally) {
    let check = check_with_cache(system, costs, cache);
    let all = explain(system, costs, cache, &(0..system.tasks.len()).collect::<Vec<_>>());
    for (task, terms) in check.tasks.iter().zip(&all) {
        let name = format!("{}: task {}, {}", system.name, task.name, task.explanation());
        let Some(terms) = terms else {
            if let TaskVerdict::Bounded { bound: Bound::Response(_), by } = &task.verdict {
                // What a turn holds up is no count of jobs.
                let turns = system.home(task.task.index()).map(|s| system.scheduling.servers[s].order);
                let turns = turns == Some(TaskOrder::RoundRobin);
                assert!(turns || WITHOUT.iter().any(|it| by.contains(it)), "{name}: no terms");
            }
            continue;
        };
        let sum = added_up(terms);
        match (terms.equation, task.bound()) {
            (Equation::Response, Some(Bound::Response(bound))) => {
                assert_eq!(sum, bound.as_nanos(), "{name}\n{terms:?}")
            }
            (Equation::Demand, Some(Bound::Response(bound))) => {
                assert_eq!(bound, task.deadline, "{name}");
                assert!(sum <= terms.window.as_nanos(), "{name}\n{terms:?}");
            }
            (_, other) => panic!("{name}: terms of {other:?}"),
        }
        // What is added is part of each, and the rest is what the file says.
        for term in terms.list.iter().filter(|term| term.source == Source::Own) {
            assert!(term.added <= term.each, "{name}\n{terms:?}");
        }
        *tally.explained.entry(task.explanation().to_string()).or_default() += 1;
    }
}

fn drawn_costs(seed: u64) -> Costs {
    let mut dice = Dice::new(seed);
    let mut us = || Duration::from_nanos(dice.between(100, 4_000));
    Costs { release: us(), schedule: us(), switch: us(), inter_core: us(), complete: us() }
}

#[test]
fn the_terms_of_a_thousand_random_tasks_add_up_to_the_bounds_that_the_check_gives() {
    let mut tally = Tally::default();
    for seed in 0..200 {
        let costs = if seed % 3 == 0 { Costs::default() } else { drawn_costs(seed) };
        let mut all = vec![everything(seed)];
        if seed < 30 {
            all.push(any(seed));
        }
        if seed < 10 {
            all.extend([tree(seed), partitions(seed), waiting(seed), sharing(seed)]);
            all.extend(released(seed));
        }
        for system in &all {
            attack(system, &costs, CacheDelay::None, &mut tally);
        }
    }
    let thresholds = [Feature::FixedPriority, Feature::PreemptionThreshold, Feature::Sporadic];
    for system in (0..20).filter_map(|seed| featured(&thresholds, seed, 0.3)) {
        attack(&system, &Costs::default(), CacheDelay::None, &mut tally);
    }
    for seed in 0..5 {
        let order = TaskOrder::FirstComeFirstServed;
        let policy = Policy::Ordered { spread: Migration::Global, order };
        let draw = Draw { policy, cores: 2, tasks: 6, utilisation: 0.3, ..Draw::from_seed(seed) };
        attack(&draw.system(), &Costs::default(), CacheDelay::None, &mut tally);
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/colours.toml");
    attack(&System::read(&path).expect("an example"), &drawn_costs(1), CacheDelay::Geometry, &mut tally);
    let explained: u32 = tally.explained.values().sum();
    assert!(explained > 1_000, "{explained}");
    for wanted in [
        "response-time analysis",
        "EDF response times (Spuri)",
        "EDF with the stack resource policy",
        "one blocking at a ceiling",
        "priority inheritance",
        "waits count as execution, or as jitter",
        "arrival curves (Richter)",
        "preemption thresholds",
        "FIFO",
        "within the windows of its partition",
        "tree of servers",
        "global response-time analysis",
        "any work-conserving order",
        "reloads by task",
    ] {
        let met: u32 = tally.explained.iter().filter(|(by, _)| by.contains(wanted)).map(|(_, n)| n).sum();
        assert!(met > 0, "no task by {wanted}: {:?}", tally.explained);
    }
}

#[test]
fn a_task_waits_for_the_jobs_that_a_person_counts() {
    let text = |policy: &str| {
        format!(
            "[system]\nname = \"three\"\ncores = 1\nduration = \"1 s\"\n[machine]\noverheads = false\n[policy]\nkind = \"{policy}\"\n{}",
            [("fast", 2, 10), ("middle", 5, 15), ("slow", 10, 40)]
                .map(|(name, c, t)| format!(
                    "[[task]]\nname = \"{name}\"\ncore = 0\nperiod = \"{t} ms\"\nexecution = \"{c} ms\"\n"
                ))
                .concat()
        )
    };
    let system = System::parse_toml(&text("partitioned-rm"), "three.toml".as_ref()).expect("a system");
    let terms = explain(&system, &Costs::default(), CacheDelay::None, &[2]);
    let terms = terms[2].as_ref().expect("it has terms");
    let ms = Duration::from_millis;
    // 10 of its own; 2 for each of 3 jobs of the first, and 5 for each of 2: 26, and within 26 come no others.
    let list: Vec<_> = terms.list.iter().map(|term| (term.source, term.times, term.each)).collect();
    assert_eq!(list, [(Source::Own, 1, ms(10)), (Source::Other(0), 3, ms(2)), (Source::Other(1), 2, ms(5))]);
    assert_eq!((terms.sum(), terms.window), (ms(26), ms(26)));
}
