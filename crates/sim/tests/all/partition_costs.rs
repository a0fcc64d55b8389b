//! Random systems of partitions on a machine whose own work takes time: the rules of windows hold, no bound is beaten, and what
//! one partition does is nothing to the others.

use std::path::Path;
use tactus_formats::to_toml;
use tactus_generate::partitions;
use tactus_model::{Demand, System};
use tactus_plan::{plan, RunPlan};
use tactus_sim::{simulate, Costs};
use tactus_time::{Duration, TaskId};
use tactus_trace::check::{self, Rule};
use tactus_trace::{judge, schedule, Trace, Verdict};

const NONE: Costs = Costs {
    release: Duration::ZERO,
    schedule: Duration::ZERO,
    switch: Duration::ZERO,
    inter_core: Duration::ZERO,
    complete: Duration::ZERO,
};

/// About what the emulated machine takes.
fn costs() -> Costs {
    let us = Duration::from_micros;
    Costs { release: us(2), schedule: us(12), switch: us(1), inter_core: us(2), complete: us(2) }
}

fn run(system: &System, costs: &Costs) -> (RunPlan, Trace) {
    let check = tactus_analysis::check(system, costs);
    let plan = plan(system, &check, costs);
    let demand = |task: TaskId, job| system.tasks[task.index()].demand(system.seed, task, job);
    let trace = simulate(&plan.setup, system.duration, demand, costs).expect("the policy makes progress");
    (plan, trace)
}

/// What was found in all systems that were drawn.
#[derive(Default)]
struct Found {
    accepted: usize,
    promised: usize,
    /// Messages of channels that came to their end, and the nearest of them to its bound.
    messages: u64,
    nearest: f64,
}

/// Simulates the systems of these seeds: windows are kept, and nothing takes longer than was promised.
fn hold(seeds: std::ops::Range<u64>) -> Found {
    let mut found = Found::default();
    for seed in seeds {
        let system = partitions(seed);
        let (plan, trace) = run(&system, &costs());
        let late = Duration::from_micros(40) * system.cores as u64;
        let broken = check::windows(&plan.view, &trace, late);
        assert!(broken.is_empty(), "seed {seed}: {broken:?}");
        let summary = judge(&plan.view, &trace);
        assert!(!matches!(summary.verdict, Verdict::Broken(_)), "seed {seed}: {:?}", summary.verdict);
        found.accepted += usize::from(plan.view.accepted);
        found.promised += if plan.view.accepted { plan.view.promised() } else { 0 };
        for chain in summary.chains.iter().filter(|_| plan.view.accepted) {
            let Some((worst, bound)) = chain.response.zip(chain.bound) else { continue };
            assert!(worst.max <= bound, "seed {seed}: {} {} over {bound}", chain.name, worst.max);
            found.messages += chain.completed;
            found.nearest = found.nearest.max(worst.max.as_nanos() as f64 / bound.as_nanos() as f64);
        }
    }
    let Found { accepted, promised, messages, nearest } = &found;
    println!(
        "{accepted} accepted, {promised} tasks promised, {messages} messages, the nearest to its bound at {nearest:.3}"
    );
    found
}

#[test]
fn the_windows_are_kept_and_no_bound_is_beaten_whatever_the_systems_work_takes() {
    let found = hold(0..60);
    assert!(found.accepted > 5 && found.promised > 20);
    assert!(found.messages > 100 && found.nearest > 0.8);
}

/// Those that are refused carry no promise: about one in six is accepted.
#[test]
#[ignore = "takes minutes; run by name"]
fn no_message_takes_longer_than_its_bound_in_ten_thousand_systems_of_partitions() {
    let found = hold(0..10_000);
    assert!(found.accepted > 1_500 && found.messages > 60_000);
}

#[test]
fn a_trace_of_other_windows_breaks_the_rule() {
    let mut found = 0;
    for seed in 0..40 {
        let system = partitions(seed);
        let (plan, trace) = run(&system, &NONE);
        assert!(check::windows(&plan.view, &trace, Duration::ZERO).is_empty(), "seed {seed}");
        let mut other = plan.view.clone();
        for partition in other.partitions.iter_mut().filter(|partition| !partition.background) {
            let half = |window: &mut tactus_task::Window| window.length = window.length / 2;
            partition.windows.iter_mut().for_each(half);
        }
        let broken = check::windows(&other, &trace, Duration::ZERO);
        found += usize::from(broken.iter().any(|it| it.rule == Rule::Window));
    }
    assert!(found > 25, "{found}");
}

#[test]
fn what_one_partition_does_moves_no_other_one_by_a_nanosecond() {
    let mut moved = 0;
    for seed in 0..60 {
        let mut system = partitions(seed);
        // In the background what others leave is all that there is.
        system.scheduling.servers.iter_mut().for_each(|server| server.background = false);
        let wild = system.scheduling.servers.len() - 1;
        let calm = run(&system, &NONE).1;
        for n in (0..system.tasks.len()).filter(|n| system.partition_of(*n) == Some(wild)).collect::<Vec<_>>() {
            system.tasks[n].demand = Demand::Fixed(Duration::from_secs(3));
        }
        let beside = run(&system, &NONE).1;
        let others = |trace: &Trace, wanted: bool| {
            let mut all = schedule(trace);
            all.retain(|it| it.task.is_some_and(|task| (system.partition_of(task.index()) == Some(wild)) == wanted));
            all
        };
        assert_eq!(others(&calm, false), others(&beside, false), "seed {seed}");
        moved += usize::from(others(&calm, true) != others(&beside, true));
    }
    assert!(moved > 40, "{moved}");
}

#[test]
fn a_system_of_partitions_is_read_back_as_it_was_written() {
    for seed in 0..100 {
        let system = partitions(seed);
        let text = to_toml(&system).expect("all of it is in the file");
        let read = System::parse_toml(&text, Path::new("again.toml")).unwrap_or_else(|it| panic!("{it}\n{text}"));
        let plain = |system: &System| {
            let mut system = system.clone();
            system.scheduling.servers.iter_mut().for_each(|server| server.line = 0);
            system.tasks.iter_mut().for_each(|task| task.line = 0);
            system.channels.iter_mut().for_each(|channel| channel.line = 0);
            let System { scheduling, tasks, channels, duration, cores, .. } = system;
            format!("{scheduling:#?} {tasks:#?} {channels:#?} {duration:?} {cores}")
        };
        assert_eq!(plain(&read), plain(&system), "seed {seed}: {text}");
    }
}
