//! The rules of servers hold in every run of the simulator, changing systems among them, and each is broken by a trace that is
//! spoilt for it.

use crate::common::*;
use std::sync::OnceLock;
use tactus_generate::{changing, lasting, tree};
use tactus_plan::{setup_with, tree_view, Admission};
use tactus_policy::{Action, Part, PolicyConfig, PolicySpec};
use tactus_record::{EventKind, Record};
use tactus_sim::{simulate, Costs};
use tactus_time::{Duration, Instant};
use tactus_trace::check::{self, Rule, TreeChange, TreeView};
use tactus_trace::Trace;

const NONE: Duration = Duration::ZERO;

/// The system of a seed, its view and its run without costs.
fn run(seed: u64) -> (PolicyConfig, TreeView, Trace) {
    let system = tree(seed);
    let setup = tactus_plan::setup(&system, Vec::new(), &[]);
    let view = match tree_view(&setup) {
        Some(view) => view,
        // MC² has rules of its own.
        None => TreeView {
            servers: Vec::new(),
            tasks: Vec::new(),
            changes: Vec::new(),
            per_server: false,
            ceilings: None,
            line: Duration::ZERO,
            misses: Vec::new(),
            write_backs: Vec::new(),
        },
    };
    let trace = simulate(&setup, ms(200), demands(&system), &Costs::default()).unwrap();
    (setup, view, trace)
}

/// Made once for all tests.
fn trees() -> impl Iterator<Item = (PolicyConfig, TreeView, Trace)> {
    static RUNS: OnceLock<Vec<(PolicyConfig, TreeView, Trace)>> = OnceLock::new();
    let all = || (0..40).map(run).filter(|(_, view, _)| !view.servers.is_empty()).collect();
    RUNS.get_or_init(all).iter().cloned()
}

fn breaks(view: &TreeView, trace: &Trace, rule: Rule) -> bool {
    check::servers(view, trace, NONE).iter().any(|v| v.rule == rule)
}

#[test]
fn no_tree_breaks_a_rule() {
    for (n, (_, view, trace)) in trees().enumerate() {
        let mut found = check::servers(&view, &trace, NONE);
        found.extend(check::no_events(&view, Vec::new(), &trace));
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
        if change(&mut spoilt, |r| r.kind == EventKind::ServerReplenish, |r| r.arg += 1_000_000_000) {
            assert!(breaks(&view, &spoilt, Rule::Replenishment));
            large += 1;
        }
        // Told to come one nanosecond later than it does.
        let came = |r: &Record| {
            r.kind == EventKind::ServerExhausted
                && trace.cores[r.core.index()].iter().any(|other| {
                    other.kind == EventKind::ServerReplenish && other.job == r.job && other.time.as_nanos() == r.arg
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
            r.kind == EventKind::ServerExhausted && r.arg != u64::MAX && !view.servers[r.job as usize].background
        };
        let Some(core) = spoilt.cores.iter().position(|records| records.iter().any(mine)) else { continue };
        for (_, records) in spoilt.cores.iter_mut().enumerate().filter(|(n, _)| *n != core) {
            records.clear();
        }
        if let Some(r) = spoilt.cores[core].iter_mut().find(|r| mine(r)) {
            r.time = Instant::ZERO;
        }
        found += usize::from(breaks(&view, &spoilt, Rule::Reservation));
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
        if change(&mut trace, |r| r.kind == EventKind::Idle, |r| r.kind = EventKind::Notify) {
            assert!(!check::no_events(&view, Vec::new(), &trace).is_empty());
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
                r.kind == EventKind::Dispatch && r.task.is_some_and(|task| view.tasks[task.index()].server == 0)
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

/// The changing system of a seed, all of whose changes are admitted.
fn changing_setup(seed: u64) -> Option<(tactus_model::System, PolicyConfig)> {
    let mut system = changing(seed)?;
    lasting(&mut system, ms(400));
    let ruled = Admission { admitted: true, drains: seed & 1 == 0, ..Admission::default() };
    let setup = setup_with(&system, Vec::new(), &[], &vec![ruled; system.scheduling.changes.len()]);
    Some((system, setup))
}

fn changing_run(seed: u64) -> Option<(PolicyConfig, TreeView, Trace)> {
    let (system, setup) = changing_setup(seed)?;
    let view = tree_view(&setup)?;
    let trace = simulate(&setup, system.duration, demands(&system), &Costs::default()).unwrap();
    Some((setup, view, trace))
}

/// Made once for all tests.
fn changing_trees() -> impl Iterator<Item = (PolicyConfig, TreeView, Trace)> {
    static RUNS: OnceLock<Vec<(PolicyConfig, TreeView, Trace)>> = OnceLock::new();
    RUNS.get_or_init(|| (0..160).filter_map(changing_run).collect()).iter().cloned()
}

/// The changes that were applied: what they were, their core, and the place of the record there.
fn effects(view: &TreeView, trace: &Trace) -> Vec<(TreeChange, usize, usize)> {
    let cores = trace.cores.iter().enumerate();
    let records = cores.flat_map(|(core, records)| records.iter().enumerate().map(move |(at, r)| (core, at, r)));
    let changed = records.filter(|(_, _, r)| r.kind == EventKind::ChangeApplied);
    changed.map(|(core, at, r)| (view.changes[r.job as usize], core, at)).collect()
}

#[test]
fn no_changing_system_breaks_a_rule() {
    let mut counts = [0; 5];
    for (n, (_, view, trace)) in changing_trees().enumerate() {
        let found = check::servers(&view, &trace, NONE);
        assert!(found.is_empty(), "changing system {n}: {:?}", &found[..found.len().min(3)]);
        for (change, ..) in effects(&view, &trace) {
            counts[match change {
                TreeChange::Nothing => 0,
                TreeChange::Task { .. } => 1,
                TreeChange::Begins(_) => 2,
                TreeChange::Ends(_) => 3,
                TreeChange::Lengths { .. } => 4,
            }] += 1;
        }
    }
    assert!(counts.iter().all(|count| *count > 10), "{counts:?}");
}

#[test]
fn a_server_that_is_given_three_times_its_new_budget_is_found() {
    let mut larger = 0;
    for seed in 0..160 {
        let Some((system, setup)) = changing_setup(seed) else { continue };
        let view = tree_view(&setup).unwrap();
        let mut spoilt = setup.clone();
        let PolicySpec::ReconfigurableTree(changing) = &mut spoilt.kind else { panic!("{:?}", setup.kind) };
        for change in &mut changing.changes {
            if let (Part::Server(n), Action::Alter(values)) = (change.part, &mut change.action) {
                let start = changing.tree.servers[usize::from(n)].supply.map_or(Duration::MAX, |supply| supply.period);
                values.time = values.time.map(|time| values.period.unwrap_or(start).min(time * 3));
            }
        }
        if spoilt == setup {
            continue;
        }
        let trace = simulate(&spoilt, system.duration, demands(&system), &Costs::default()).unwrap();
        // A server inside one that is not there gets its budget later.
        let altered = |(change, core, at): &(TreeChange, usize, usize)| {
            let TreeChange::Lengths { server, budget: Some(_), .. } = change else { return false };
            trace.cores[*core]
                .get(at + 1)
                .is_some_and(|r| r.kind == EventKind::ServerReplenish && r.job as usize == *server)
        };
        if effects(&view, &trace).iter().any(altered) {
            assert!(breaks(&view, &trace, Rule::Replenishment), "seed {seed}");
            larger += 1;
        }
    }
    assert!(larger > 10, "{larger}");
}

#[test]
fn a_changed_server_that_has_more_than_its_new_budget_is_found() {
    let mut found = 0;
    for (_, view, trace) in changing_trees() {
        let mut spoilt = view;
        for change in &mut spoilt.changes {
            if let TreeChange::Lengths { budget: Some(budget), .. } = change {
                *budget = *budget / 20;
            }
        }
        let broken = check::servers(&spoilt, &trace, NONE);
        let since = |v: &&check::Violation| v.rule == Rule::Supply && v.text.contains("since its change");
        assert_eq!(broken.iter().filter(since).count(), broken.iter().filter(|v| v.rule == Rule::Supply).count());
        found += usize::from(broken.iter().any(|v| v.rule == Rule::Supply));
    }
    assert!(found > 5, "{found}");
}

#[test]
fn a_changed_server_that_gets_its_budget_late_in_part_or_too_early_is_found() {
    let (mut part, mut none, mut early) = (0, 0, 0);
    for (_, view, trace) in changing_trees() {
        for (change, core, at) in effects(&view, &trace) {
            let (TreeChange::Begins(server) | TreeChange::Lengths { server, .. }) = change else { continue };
            let records = &trace.cores[core];
            let comes = |r: &Record| r.kind == EventKind::ServerReplenish && r.job as usize == server;
            let Some(first) = (at..records.len()).find(|n| comes(&records[*n])) else { continue };
            if records[first].time != records[at].time {
                // It was refused for lack of room before, and is not there.
                continue;
            }
            let mut spoilt = trace.clone();
            spoilt.cores[core][first].arg -= 1;
            assert!(breaks(&view, &spoilt, Rule::Replenishment));
            part += 1;
            let mut spoilt = trace.clone();
            spoilt.cores[core].remove(first);
            assert!(breaks(&view, &spoilt, Rule::Replenishment));
            none += 1;
            // Told to come one nanosecond later than it does, after the change.
            let later = first + 1..records.len();
            let again = later.clone().find(|n| records[*n].kind == EventKind::ChangeApplied).unwrap_or(records.len());
            let told = (first + 1..again).find(|n| {
                let r = &records[*n];
                let due = |other: &Record| comes(other) && other.time.as_nanos() == r.arg;
                r.kind == EventKind::ServerExhausted && r.job as usize == server && records[*n..again].iter().any(due)
            });
            if let Some(told) = told {
                let mut spoilt = trace.clone();
                spoilt.cores[core][told].arg += 1;
                assert!(breaks(&view, &spoilt, Rule::Replenishment));
                early += 1;
            }
        }
    }
    assert!(part > 10 && none > 10 && early > 3, "{part} {none} {early}");
}

#[test]
fn a_server_that_does_not_begin_anew_with_the_one_around_it_or_on_one_of_its_cores_is_found() {
    let (mut inner, mut wide) = (0, 0);
    for (_, view, trace) in changing_trees() {
        for (change, core, at) in effects(&view, &trace) {
            let TreeChange::Begins(server) = change else { continue };
            let records = &trace.cores[core];
            let begun = (at + 1..records.len()).take_while(|n| records[*n].kind == EventKind::ServerReplenish);
            // After the first, which is the server's own.
            for n in begun.skip(1) {
                let mut spoilt = trace.clone();
                spoilt.cores[core].remove(n);
                assert!(breaks(&view, &spoilt, Rule::Replenishment));
                *if records[n].job as usize == server { &mut wide } else { &mut inner } += 1;
            }
        }
    }
    assert!(inner > 3 && wide > 3, "{inner} {wide}");
}

#[test]
fn work_in_a_changed_server_without_budget_or_in_one_that_is_not_there_is_found() {
    let (mut without, mut absent) = (0, 0);
    for (_, view, trace) in changing_trees() {
        for (change, core, at) in effects(&view, &trace) {
            let (TreeChange::Begins(server) | TreeChange::Lengths { server, .. }) = change else { continue };
            let changed = trace.cores[core][at].time;
            let used = |r: &Record| {
                r.kind == EventKind::ServerExhausted
                    && r.job as usize == server
                    && r.time > changed
                    && r.arg != u64::MAX
            };
            if !view.servers[server].background {
                let mut spoilt = trace.clone();
                if let Some(r) = spoilt.cores[core].iter_mut().find(|r| used(r)) {
                    // It told so as soon as it was changed.
                    r.time = changed;
                    without += usize::from(breaks(&view, &spoilt, Rule::Reservation));
                }
            }
        }
        let mut spoilt = view.clone();
        for change in &mut spoilt.changes {
            if matches!(change, TreeChange::Begins(_)) {
                *change = TreeChange::Nothing;
            }
        }
        absent += usize::from(breaks(&spoilt, &trace, Rule::Change));
    }
    assert!(without > 3 && absent > 3, "{without} {absent}");
}

#[test]
fn a_task_that_keeps_its_place_among_others_when_it_is_to_have_another_is_found() {
    let (mut fixed, mut sooner, mut later) = (0, 0, 0);
    for (_, view, trace) in changing_trees() {
        let mut spoilt = view.clone();
        for change in &mut spoilt.changes {
            if let TreeChange::Task { rank: Some(check::Rank::Fixed(key)), .. } = change {
                *key = u64::MAX - *key;
            }
        }
        fixed += usize::from(breaks(&spoilt, &trace, Rule::Order));
        let due = |wrong: Duration| {
            let mut spoilt = view.clone();
            for change in &mut spoilt.changes {
                if let TreeChange::Task { rank: Some(check::Rank::Deadline), deadline, .. } = change {
                    *deadline = Some(wrong);
                }
            }
            usize::from(breaks(&spoilt, &trace, Rule::Order))
        };
        sooner += due(Duration::ZERO);
        later += due(ms(10_000));
    }
    assert!(fixed > 3 && sooner + later > 2, "{fixed} {sooner} {later}");
}

#[test]
fn a_job_that_waits_beside_an_idle_core_after_a_change_is_found() {
    let mut found = 0;
    for (_, view, mut trace) in changing_trees() {
        let Some((_, core, at)) = effects(&view, &trace).into_iter().next() else { continue };
        let changed = trace.cores[core][at].time;
        let root =
            |r: &Record| r.kind == EventKind::Dispatch && r.task.is_some_and(|t| view.tasks[t.index()].server == 0);
        trace.cores[core].retain(|r| r.time <= changed || !root(r));
        found += usize::from(breaks(&view, &trace, Rule::Conserving));
    }
    assert!(found > 10, "{found}");
}

#[test]
fn a_server_that_was_without_budget_when_it_changed_is_no_excuse_afterwards() {
    let mut found = 0;
    for (_, view, trace) in changing_trees() {
        for (change, core, at) in effects(&view, &trace) {
            let TreeChange::Lengths { server, .. } = change else { continue };
            let mut spoilt = trace.clone();
            let (changed, end) = (trace.cores[core][at].time, Instant::NEVER.as_nanos());
            let inside = |r: &Record| r.task.is_some_and(|task| view.tasks[task.index()].server == server);
            let of_server = |r: &Record| r.kind == EventKind::ServerExhausted && r.job as usize == server;
            // Before, it told that it has nothing until the end; afterwards nobody in it runs.
            let begins = |r: &Record| {
                inside(r) && matches!(r.kind, EventKind::Dispatch | EventKind::Complete | EventKind::Dropped)
            };
            spoilt.cores[core].retain(|r| r.time <= changed || !(of_server(r) || begins(r)));
            let told = Record {
                kind: EventKind::ServerExhausted,
                task: None,
                job: server as u32,
                arg: end,
                ..trace.cores[core][at]
            };
            spoilt.cores[core].insert(at, told);
            let waits = |v: &check::Violation| {
                v.rule == Rule::Conserving && v.task.is_some_and(|task| view.tasks[task.index()].server == server)
            };
            found += usize::from(check::servers(&view, &spoilt, NONE).iter().any(waits));
        }
    }
    assert!(found > 3, "{found}");
}
