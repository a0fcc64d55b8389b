//! The rules of servers hold in every run of the simulator, and each is broken by a trace that is spoilt for it.

mod common;

use common::*;
use std::sync::OnceLock;
use tactus_policy::Setup;
use tactus_record::{Kind, Record};
use tactus_sim::generate::tree;
use tactus_sim::{simulate, tree_view, Costs};
use tactus_time::{Duration, Instant};
use tactus_trace::check::{self, Rule, TreeView};
use tactus_trace::Trace;

const NONE: Duration = Duration::ZERO;

/// The system of a seed, its view and its run without costs.
fn run(seed: u64) -> (Setup, TreeView, Trace) {
    let system = tree(seed);
    let setup = tactus_sim::setup(&system, Vec::new(), &[]);
    let view = match tree_view(&setup) {
        Some(view) => view,
        // MC² has rules of its own.
        None => TreeView { servers: Vec::new(), tasks: Vec::new() },
    };
    let trace = simulate(&setup, ms(200), demands(&system), &Costs::default()).unwrap();
    (setup, view, trace)
}

/// Made once for all tests.
fn trees() -> impl Iterator<Item = (Setup, TreeView, Trace)> {
    static RUNS: OnceLock<Vec<(Setup, TreeView, Trace)>> = OnceLock::new();
    let all = || (0..40).map(run).filter(|(_, view, _)| !view.servers.is_empty()).collect();
    RUNS.get_or_init(all).iter().cloned()
}

fn breaks(view: &TreeView, trace: &Trace, rule: Rule) -> bool {
    check::servers(view, trace, NONE).iter().any(|v| v.rule == rule)
}

#[test]
fn no_tree_breaks_a_rule() {
    for (n, (_, view, trace)) in trees().enumerate() {
        let found = check::servers(&view, &trace, NONE);
        assert!(found.is_empty(), "tree {n}: {:?}", &found[..found.len().min(3)]);
    }
}

#[test]
fn a_server_that_has_less_than_the_trace_gives_it_is_found() {
    let mut found = 0;
    for (_, mut view, trace) in trees() {
        for server in view.servers.iter_mut().filter(|server| server.supply.is_some()) {
            server.supply = server.supply.map(|(budget, period, bound)| (budget / 20, period, bound));
        }
        found += usize::from(breaks(&view, &trace, Rule::Supply));
    }
    assert!(found > 10, "{found}");
}

/// Changes the first record of a kind, on any core, and tells whether there was one.
fn change(trace: &mut Trace, wanted: impl Fn(&Record) -> bool, how: impl Fn(&mut Record)) -> bool {
    let record = trace.cores.iter_mut().flatten().find(|r| wanted(r));
    record.map(how).is_some()
}

#[test]
fn a_budget_that_comes_too_large_or_too_early_is_found() {
    let (mut large, mut early) = (0, 0);
    for (_, view, trace) in trees() {
        let mut spoilt = trace.clone();
        if change(&mut spoilt, |r| r.kind == Kind::ServerReplenish, |r| r.arg += 1_000_000_000) {
            assert!(breaks(&view, &spoilt, Rule::Replenishment));
            large += 1;
        }
        // Told to come one nanosecond later than it does.
        let came = |r: &Record| {
            r.kind == Kind::ServerExhausted
                && trace.cores[r.core.index()].iter().any(|other| {
                    other.kind == Kind::ServerReplenish && other.job == r.job && other.time.as_nanos() == r.arg
                })
        };
        let mut spoilt = trace.clone();
        if change(&mut spoilt, came, |r| r.arg += 1) {
            assert!(breaks(&view, &spoilt, Rule::Replenishment));
            early += 1;
        }
    }
    assert!(large > 5 && early > 3, "{large} {early}");
}

#[test]
fn work_in_a_server_without_budget_is_found() {
    let mut found = 0;
    for (_, view, trace) in trees() {
        // It told that it had none a while before it really had none.
        let mut spoilt = trace.clone();
        let mine = |r: &Record| {
            r.kind == Kind::ServerExhausted && r.arg != u64::MAX && !view.servers[r.job as usize].background
        };
        for records in &mut spoilt.cores {
            let Some(at) = records.iter().position(mine) else { continue };
            records[at].time = Instant::ZERO;
            found += usize::from(breaks(
                &view,
                &Trace { cores: vec![records.clone()], dropped: vec![0] },
                Rule::Reservation,
            ));
            break;
        }
    }
    assert!(found > 3, "{found}");
}

#[test]
fn an_event_between_cores_that_share_nothing_is_found() {
    let mut found = 0;
    for (_, view, mut trace) in trees() {
        if view.servers.iter().flat_map(|s| &s.queues).any(|queue| queue.iter().nth(1).is_some()) {
            continue;
        }
        if change(&mut trace, |r| r.kind == Kind::Idle, |r| r.kind = Kind::Notify) {
            assert!(breaks(&view, &trace, Rule::NoEvents));
            found += 1;
        }
    }
    assert!(found > 3, "{found}");
}

#[test]
fn a_job_that_waits_beside_an_idle_core_or_behind_a_less_urgent_one_is_found() {
    let (mut idle, mut behind) = (0, 0);
    for (_, view, trace) in trees() {
        // A dispatch that never was leaves its job waiting beside a core that does nothing.
        let mut spoilt = trace.clone();
        for records in &mut spoilt.cores {
            let root = |r: &Record| {
                r.kind == Kind::Dispatch && r.task.is_some_and(|task| view.tasks[task.index()].server == 0)
            };
            records.retain(|r| !root(r));
        }
        idle += usize::from(breaks(&view, &spoilt, Rule::Conserving));
        // All ranks turned round: somebody now waits behind one that is less urgent.
        let mut turned = view.clone();
        for task in &mut turned.tasks {
            task.rank = match task.rank {
                check::Rank::Fixed(key) => check::Rank::Fixed(u64::MAX - key),
                other => other,
            };
        }
        behind += usize::from(breaks(&turned, &trace, Rule::Order));
    }
    assert!(idle > 5 && behind > 3, "{idle} {behind}");
}
