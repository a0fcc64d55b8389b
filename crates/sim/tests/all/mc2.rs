//! MC² systems of every shape: whatever levels there are and however full the cores, check and simulation end with an answer, and
//! what was accepted keeps its promises.

use tactus_generate::mc2;
use tactus_model::Costs;
use tactus_plan::plan;
use tactus_sim::simulate_with_arrivals;
use tactus_time::TaskId;
use tactus_trace::{judge, Verdict};

/// What came of some systems.
#[derive(Debug, Default)]
struct Seen {
    accepted: usize,
    refused: usize,
    /// Accepted ones of which some job took more than was assumed.
    void: usize,
    jobs: u64,
}

/// Checks, simulates and judges a system with these costs.
fn go_through(system: &tactus_model::System, costs: &Costs, seen: &mut Seen) {
    let check = tactus_analysis::check(system, costs);
    let growth = tactus_analysis::sensitivity(system, costs, tactus_analysis::check::QUICK);
    assert_eq!(growth.len(), system.tasks.len());
    assert!(!check.to_string().is_empty());
    let plan = plan(system, &check, costs);
    let demand = |task: TaskId, job| system.tasks[task.index()].demand(system.seed, task, job);
    let name = &system.name;
    let trace = match simulate_with_arrivals(&plan.setup, system.duration, (demand, Vec::new()), costs) {
        Ok(trace) => trace,
        Err(error) => {
            assert!(!check.accepted, "{name}: accepted, but {error}");
            seen.refused += 1;
            return;
        }
    };
    let summary = judge(&plan.view, &trace);
    seen.jobs += summary.total.released;
    match (check.accepted, &summary.verdict) {
        (false, _) => seen.refused += 1,
        (true, Verdict::Held | Verdict::NothingPromised | Verdict::NoJobEnded) => seen.accepted += 1,
        (true, Verdict::Void) => seen.void += 1,
        (true, verdict) => panic!("{name}: accepted, but {verdict:?} with {costs:?}\n{check}"),
    }
}

fn all(seeds: std::ops::Range<u64>) -> Seen {
    let mut seen = Seen::default();
    for seed in seeds {
        let system = mc2(seed);
        for costs in [Costs::default(), crate::common::small_costs()] {
            go_through(&system, &costs, &mut seen);
        }
    }
    seen
}

#[test]
fn whatever_levels_there_are_a_system_is_refused_or_keeps_its_promises() {
    let seen = all(0..112);
    println!("{seen:?}");
    assert!(seen.accepted > 60 && seen.refused > 60 && seen.void > 5, "{seen:?}");
}

/// As many as `TACTUS_SYSTEMS` says, from seed `TACTUS_FIRST` on.
#[test]
#[ignore = "takes minutes; run by name"]
fn the_same_for_as_many_as_are_asked_for() {
    let number = |name: &str, otherwise| std::env::var(name).ok().and_then(|it| it.parse().ok()).unwrap_or(otherwise);
    let first = number("TACTUS_FIRST", 112);
    println!("{:?}", all(first..first + number("TACTUS_SYSTEMS", 20_000)));
}
