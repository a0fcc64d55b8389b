//! The checkers: silent on good traces, and each finds what it is for when a good trace is spoilt.

use crate::common::*;
use proptest::prelude::*;
use proptest::sample::Index;
use tactus_record::EntryReason::*;
use tactus_record::{EventKind, Record, SlotSwitch};
use tactus_task::{Overrun, ServerKind};
use tactus_time::{CoreId, CoreSet, Duration, Instant, Level, TaskId};
use tactus_trace::check::{self, InTree, Rank, Rule, ServerView, TreeView, Violation};
use tactus_trace::{Trace, View};

const NOW: Duration = Duration::ZERO;

fn rules(found: &[Violation]) -> Vec<Rule> {
    let mut rules: Vec<Rule> = found.iter().map(|v| v.rule).collect();
    rules.dedup();
    rules
}

/// Task sets for [`edf`] on two cores, from idle to overloaded.
fn sets() -> impl Strategy<Value = Vec<(u8, u64, u64)>> {
    prop::collection::vec((0..2_u8, 2..20_u64, 1..6_u64), 2..7)
}

fn good(tasks: &[(u8, u64, u64)]) -> (View, Trace) {
    let mut view = edf_view(2, tasks, 60);
    for (task, (_, _, cost)) in view.tasks.iter_mut().zip(tasks) {
        // Charged by nominal periods, a late job of an overloaded task may share a period with the next.
        task.budget = (*cost * 2 <= task.period.as_nanos() / UNIT).then_some(task.period);
    }
    (view, edf(2, tasks, 60))
}

/// The places of a kind of record, and one of them.
fn pick(trace: &Trace, index: &Index, wanted: impl Fn(&Record) -> bool) -> Option<(usize, usize)> {
    let places: Vec<(usize, usize)> = (trace.cores.iter().enumerate())
        .flat_map(|(c, r)| (0..r.len()).map(move |i| (c, i)))
        .filter(|(c, i)| wanted(&trace.cores[*c][*i]))
        .collect();
    (!places.is_empty()).then(|| *index.get(&places))
}

proptest! {
    #[test]
    fn a_good_trace_breaks_no_rule(tasks in sets()) {
        let (view, trace) = good(&tasks);
        prop_assert_eq!(check::all(&view, &trace, NOW), vec![]);
    }

    /// A stretch that ends long after the run, of a task whose budget came last at its beginning, is one look and not one for each
    /// nanosecond.
    #[test]
    fn a_stretch_that_outlasts_the_run_is_found_at_once(tasks in sets(), index: Index) {
        let (mut view, mut trace) = good(&tasks);
        view.tasks.iter_mut().for_each(|task| task.budget = Some(task.period));
        let (c, i) = pick(&trace, &index, |r| r.kind == EventKind::Complete).unwrap();
        let came = Record { kind: EventKind::Replenish, time: Instant::ZERO, ..trace.cores[c][i] };
        let until = i - trace.cores[c][..i].iter().rev().take_while(|r| r.kind == EventKind::Enter).count();
        trace.cores[c][until..=i].iter_mut().for_each(|r| r.time = Instant::from_nanos(1 << 60));
        trace.cores[c].insert(0, came);
        prop_assert!(rules(&check::budget(&view, &trace, NOW)).contains(&Rule::Budget));
    }

    #[test]
    fn a_time_that_goes_back_is_found(tasks in sets(), index: Index) {
        let (view, mut trace) = good(&tasks);
        let (c, i) = pick(&trace, &index, |r| r.time > Instant::ZERO).unwrap();
        if i + 1 < trace.cores[c].len() {
            let after = trace.cores[c][i + 1].time;
            trace.cores[c][i].time = after + units(1);
            prop_assert!(rules(&check::monotone(&trace)).contains(&Rule::Monotone));
            prop_assert!(rules(&check::all(&view, &trace, NOW)).contains(&Rule::Monotone));
        }
    }

    #[test]
    fn a_lost_record_of_a_jobs_life_is_found(tasks in sets(), index: Index) {
        let (_, mut trace) = good(&tasks);
        let life = |r: &Record| matches!(r.kind, EventKind::Dispatch | EventKind::Complete | EventKind::Preempt);
        if let Some((c, i)) = pick(&trace, &index, life) {
            trace.cores[c].remove(i);
            prop_assert!(!check::sequence(&trace).is_empty());
        }
    }

    #[test]
    fn a_record_of_a_jobs_life_that_comes_twice_is_found(tasks in sets(), index: Index) {
        let (_, mut trace) = good(&tasks);
        let life = |r: &Record| matches!(r.kind, EventKind::Complete | EventKind::Preempt | EventKind::Release);
        let (c, i) = pick(&trace, &index, life).unwrap();
        let twice = trace.cores[c][i];
        trace.cores[c].insert(i, twice);
        prop_assert!(!check::sequence(&trace).is_empty());
    }

    #[test]
    fn a_job_that_another_core_runs_too_is_found(tasks in sets(), index: Index) {
        let (view, mut trace) = good(&tasks);
        let (c, i) = pick(&trace, &index, |r| r.kind == EventKind::Leave && r.task.is_some()).unwrap();
        let leave = trace.cores[c][i];
        let other = 1 - c;
        // The other core does nothing else than to run that job as well, as long as the first does.
        let until = trace.cores[c][i + 1].time;
        let at = |time, kind| Record { time, kind, core: CoreId(other as u8), ..leave };
        let end = *trace.cores[other].last().unwrap();
        trace.cores[other] = vec![at(leave.time, EventKind::Dispatch), at(until, EventKind::Preempt), end];
        prop_assert!(rules(&check::one_core(&trace)).contains(&Rule::OneCore));
        let all = check::all(&view, &trace, NOW);
        prop_assert!(all.iter().any(|v| v.rule == Rule::OneCore && v.time == leave.time));
        prop_assert!(all.iter().any(|v| v.rule == Rule::Sequence));
    }

    #[test]
    fn a_release_that_is_shifted_renamed_or_missing_is_found(tasks in sets(), index: Index, how in 0..3) {
        let (view, mut trace) = good(&tasks);
        let (c, i) = pick(&trace, &index, |r| r.kind == EventKind::Release).unwrap();
        let release = &mut trace.cores[c][i];
        let (task, nominal) = (release.task.unwrap(), release.arg);
        match how {
            0 => release.arg += 1,
            1 => release.job += 1,
            _ => {
                trace.cores[c].remove(i);
            }
        }
        let found = check::periodic(&view, &trace);
        // The last release of all leaves no gap; it is missed only if the run goes on for a period after it.
        let last = nominal + 2 * view.tasks[task.index()].period.as_nanos() > 60 * UNIT;
        prop_assert!(found.iter().any(|v| v.task == Some(task)) || (how == 2 && last), "{found:?}");
    }

    #[test]
    fn more_than_the_budget_is_found_and_so_is_the_tolerance_for_it(cost in 2..9_u64, over in 1..4_u64) {
        let tasks = [(0, 20, cost + over)];
        let mut view = edf_view(1, &tasks, 60);
        view.tasks[0].budget = Some(units(cost));
        let trace = edf(1, &tasks, 60);
        let found = check::budget(&view, &trace, NOW);
        prop_assert_eq!(found.len(), 3);
        prop_assert_eq!(&found[1].text, &format!("had {} of a budget of {}", units(cost + over), units(cost)));
        prop_assert_eq!(check::budget(&view, &trace, units(over)), vec![]);
    }
}

#[test]
fn a_budget_counts_from_replenishment_to_replenishment_and_ghosts_use_it_up() {
    let mut view = edf_view(1, &[(0, 10, 2)], 12);
    view.tasks[0].budget = Some(units(3));
    let trace = |again: u64, haunts: u64| {
        let mut b = Builder::new(1);
        b.call(0, 0, Start, |c| {
            c.release(0, 0, 0).replenish(0, 3).dispatch(0, 0);
        });
        b.call(0, again, Timer, |c| {
            c.replenish(0, 3);
        });
        b.call(0, 5, Complete, |c| {
            c.complete(0, 0, 5).ghost(0, 0).idle();
        });
        b.call(0, 5 + haunts, Timer, |c| {
            c.ghost_end(0, 0).idle();
        });
        b.end(12)
    };
    assert_eq!(check::budget(&view, &trace(3, 1), NOW), vec![]);
    assert_eq!(check::budget(&view, &trace(3, 2), NOW)[0].text, "had 4 ms of a budget of 3 ms");
    assert_eq!(check::budget(&view, &trace(4, 1), NOW)[0].text, "had 4 ms of a budget of 3 ms");
}

/// Level B on core 0, two tasks of level C, one of level D.
fn levels_view() -> View {
    let tasks = vec![
        at_level(task("b", 20, None), Level::B, Some(0)),
        at_level(task("c", 20, None), Level::C, None),
        at_level(task("c2", 20, None), Level::C, None),
        at_level(task("d", 20, None), Level::D, None),
    ];
    view(1, 20, tasks)
}

fn levels_trace(wrong: impl FnOnce(&mut Builder)) -> Trace {
    let mut b = Builder::new(1);
    b.call(0, 0, Start, |c| {
        (0..4).for_each(|t| {
            c.release(t, 0, 0);
        });
        c.dispatch(0, 0);
    });
    wrong(&mut b);
    b.end(20)
}

#[test]
fn a_core_that_runs_a_less_critical_job_while_level_b_waits_is_found() {
    let trace = levels_trace(|b| {
        b.call(0, 2, Timer, |c| {
            c.preempt(0, 0).dispatch(1, 0);
        });
        b.call(0, 3, Timer, |c| {
            c.preempt(1, 0).dispatch(0, 0);
        });
    });
    let found = check::level_order(&levels_view(), &trace, NOW);
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].time, found[0].task), (at(2), Some(TaskId(1))));
    assert_eq!(check::level_order(&levels_view(), &trace, units(1)), vec![]);
}

#[test]
fn a_core_that_idles_or_runs_level_d_while_level_c_waits_is_found() {
    for idle in [true, false] {
        let trace = levels_trace(|b| {
            b.call(0, 2, Complete, |c| {
                c.complete(0, 0, 2);
                if idle {
                    c.idle();
                } else {
                    c.dispatch(3, 0);
                }
            });
        });
        let found = check::level_order(&levels_view(), &trace, NOW);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].time, at(2));
    }
}

#[test]
fn who_waits_behind_a_ghost_or_for_a_budget_waits_rightly() {
    let trace = levels_trace(|b| {
        b.call(0, 2, Timer, |c| {
            c.exhausted(0, 0).dispatch(1, 0);
        });
        b.call(0, 4, Complete, |c| {
            c.complete(1, 0, 2).ghost(1, 0).dispatch(3, 0);
        });
        b.call(0, 6, Timer, |c| {
            c.ghost_end(1, 0).preempt(3, 0).dispatch(2, 0);
        });
        b.call(0, 8, Timer, |c| {
            c.replenish(0, 2).preempt(2, 0).dispatch(0, 0);
        });
    });
    assert_eq!(check::level_order(&levels_view(), &trace, NOW), vec![]);
    assert_eq!(check::sequence(&trace), vec![]);
}

/// A job that runs is dropped with its program; what comes after it in that decision.
fn dropped_while_it_runs(after: impl FnOnce(&mut Call)) -> Vec<Violation> {
    let mut b = Builder::new(1);
    b.call(0, 0, Start, |c| {
        c.release(0, 0, 0).dispatch(0, 0);
    });
    b.call(0, 5, Timer, |c| {
        c.put(EventKind::Dropped, Some(0), 0, 4, 0);
        after(c);
        c.idle();
    });
    check::sequence(&b.end(9))
}

#[test]
fn a_job_that_runs_is_dropped_with_its_program_where_an_update_goes_back_and_nowhere_else() {
    let switched = |switch: SlotSwitch| {
        move |c: &mut Call| {
            c.put(EventKind::SlotSwitched, None, 0, 0, switch as u8);
        }
    };
    assert_eq!(dropped_while_it_runs(switched(SlotSwitch::Missed)), vec![]);
    let unloaded = dropped_while_it_runs(|_| {});
    assert!(unloaded[0].text.contains("while it runs, and no update ends"), "{unloaded:?}");
    for other in [SlotSwitch::Over, SlotSwitch::Kept] {
        assert_eq!(dropped_while_it_runs(switched(other)), unloaded);
    }
}

#[test]
fn the_second_job_of_a_task_waits_for_the_first_and_not_for_a_core() {
    let mut b = Builder::new(2);
    b.call(0, 0, Start, |c| {
        c.release(1, 0, 0).dispatch(1, 0);
    });
    b.call(1, 0, Start, |c| {
        c.idle();
    });
    b.call(0, 20, Timer, |c| {
        c.release(1, 1, 20);
    });
    assert_eq!(check::level_order(&levels_view(), &b.end(40), NOW), vec![]);
}

#[test]
fn decisions_are_taken_in_the_order_of_their_tickets_where_times_say_otherwise() {
    let mut b = Builder::new(2);
    b.call(0, 0, Start, |c| {
        c.release(0, 0, 0).dispatch(0, 0);
    });
    // Core 0 gives the job up in a call that began after that of core 1, which waited for the lock.
    b.call_ns(0, 5 * UNIT + 10, 5 * UNIT + 20, Timer, 5 * UNIT, |c| {
        c.preempt(0, 0).idle();
    });
    b.call_ns(1, 5 * UNIT, 5 * UNIT + 30, Timer, 5 * UNIT, |c| {
        c.dispatch(0, 0);
    });
    b.call(1, 7, Complete, |c| {
        c.complete(0, 0, 7).idle();
    });
    let mut trace = b.end(9);
    assert_eq!(check::sequence(&trace), vec![]);
    assert_eq!(check::one_core(&trace), vec![]);
    assert_eq!(tactus_trace::jobs(&trace)[0].migrations, 1);
    for r in trace.cores.iter_mut().flatten() {
        r.ticket = 0;
    }
    assert!(check::sequence(&trace)[0].text.contains("is dispatched while core 0 has it"));
}

/// A cycle of 10 with two slots of `a` on core 0; the first job is done in both, the second in one.
fn table_trace(second: u64) -> Trace {
    let mut b = Builder::new(1);
    b.call(0, 0, Start, |c| {
        c.release(0, 0, 0).release(1, 0, 0).dispatch(0, 0);
    });
    b.call(0, 2, Timer, |c| {
        c.preempt(0, 0).dispatch(1, 0);
    });
    b.call(0, 5, Timer, |c| {
        c.preempt(1, 0).dispatch(0, 0);
    });
    b.call(0, 7, Complete, |c| {
        c.complete(0, 0, 4).dispatch(1, 0);
    });
    b.call(0, 10, Timer, |c| {
        c.release(0, 1, 10);
        if second == 10 {
            c.preempt(1, 0).dispatch(0, 1);
        }
    });
    if second > 10 {
        b.call(0, second, Timer, |c| {
            c.preempt(1, 0).dispatch(0, 1);
        });
    }
    b.call(0, second + 1, Complete, |c| {
        c.complete(0, 1, 1).dispatch(1, 0);
    });
    b.end(20)
}

#[test]
fn level_a_has_its_slots_and_no_others() {
    let slots = |times: &[(u64, u64)]| {
        let slots = times.iter().map(|(start, end)| (TaskId(0), units(*start), units(*end)));
        vec![check::TableView { cycle: units(10), slots: slots.collect() }]
    };
    let table = slots(&[(0, 2), (5, 7)]);
    assert_eq!(check::table_order(&table, &table_trace(10), NOW), vec![]);
    // The second job comes a unit late into its slot.
    let found = check::table_order(&table, &table_trace(11), NOW);
    assert_eq!((found.len(), found[0].time), (1, at(10)));
    assert_eq!(check::table_order(&table, &table_trace(11), units(1)), vec![]);
    // It runs where it has no slot.
    let found = check::table_order(&table, &table_trace(12), units(2));
    assert_eq!(found, vec![]);
    let found = check::table_order(&table, &table_trace(13), NOW);
    assert_eq!(found.iter().map(|v| v.time).collect::<Vec<_>>(), [at(10), at(13)]);
    let found = check::table_order(&slots(&[(0, 2), (6, 8)]), &table_trace(10), NOW);
    assert_eq!((found.len(), found[0].time), (1, at(5)));
    // A stretch may go through many whole slots.
    let mut b = Builder::new(1);
    b.call(0, 0, Start, |c| {
        c.release(0, 0, 0).dispatch(0, 0);
    });
    assert_eq!(check::table_order(&slots(&[(0, 10)]), &b.end(95), NOW), vec![]);
    assert_eq!(check::table_order(&slots(&[(0, 9)]), &b.end(95), NOW).len(), 1);
    // No table, no place to run.
    assert_eq!(check::table_order(&[], &table_trace(10), NOW), vec![]);
    let elsewhere = [vec![check::TableView::default()], slots(&[(0, 10)])].concat();
    assert_eq!(check::table_order(&elsewhere, &table_trace(10), NOW).len(), 3);
}

#[test]
fn a_run_that_was_not_recorded_to_its_end_is_found() {
    let tasks = [(0, 5, 2)];
    let (view, mut trace) = (edf_view(1, &tasks, 20), edf(1, &tasks, 20));
    assert_eq!(check::whole(&view, &trace), vec![]);
    trace.cores[0].pop();
    assert_eq!(check::whole(&view, &trace)[0].text, "the records stop at 17 ms; the run should have lasted 20 ms");
    assert_eq!(check::whole(&view, &edf(1, &tasks, 10))[0].text, "the run of 20 ms ended at 10 ms");
}

#[test]
fn tasks_and_cores_that_the_system_does_not_have_are_found() {
    let tasks = [(0, 5, 2), (1, 5, 2)];
    let view = edf_view(1, &tasks[..1], 20);
    let found = check::known(&view, &edf(2, &tasks, 20));
    assert_eq!(found[0].text, "the trace has 2 cores, the system 1");
    assert_eq!(found[1].text, "a record names task 1, the system has 1");
}

/// One core; a task in the root and one in a server, whose second job no record tells of.
fn a_release_that_nobody_noticed(per_server: bool, looked: bool) -> Vec<Rule> {
    let core = CoreSet::first(1);
    let server = |supply| ServerView {
        name: String::new(),
        parent: 0,
        cores: core,
        queues: vec![core],
        supply,
        write_backs: None,
        background: false,
        absent: false,
        rank: Rank::Dynamic,
    };
    let supply = (units(1), units(40), ServerKind::Deferrable);
    let place = |server| InTree {
        server,
        core: None,
        rank: Rank::Deadline,
        period: units(20),
        deadline: units(10),
        overrun: Overrun::Continue,
    };
    let mut view = view(1, 40, (0..3).map(|n| task(&format!("T{n}"), 10, None)).collect());
    view.tree = Some(TreeView {
        servers: vec![server(None), server(Some(supply))],
        tasks: vec![place(0), place(1), place(1)],
        changes: Vec::new(),
        per_server,
        ceilings: None,
        line: Duration::ZERO,
        misses: Vec::new(),
        write_backs: Vec::new(),
    });
    let mut builder = Builder::new(1);
    for n in 0..4 {
        builder.call(0, 10 * n, Timer, |call| {
            call.release(0, n as u32, 10 * n).dispatch(0, n as u32);
        });
        builder.call(0, 10 * n + 1, Complete, |call| {
            call.complete(0, n as u32, 1);
            if n == 0 || looked && n == 3 {
                (0..=n).for_each(|job| _ = call.release(2, job as u32, 10 * job));
            }
            if n == 0 {
                call.release(1, 0, 0).dispatch(1, 0);
            }
        });
        builder.call(0, 10 * n + 2, Complete, |call| _ = call.complete(1, 0, 1).idle());
    }
    let mut trace = builder.end(40);
    // The first job of the server's task ends once, and that of its other one never.
    let ended = trace.cores[0].iter().position(|r| r.kind == EventKind::Complete && r.task == Some(TaskId(1))).unwrap();
    let mut place = 0;
    trace.cores[0].retain(|r| {
        place += 1;
        place <= ended + 1 || r.task != Some(TaskId(1))
    });
    rules(&check::periodic(&view, &trace))
}

#[test]
fn a_scheduler_of_its_own_notices_releases_when_it_has_the_core_and_no_sooner() {
    assert_eq!(a_release_that_nobody_noticed(false, false), [Rule::Periodic]);
    assert_eq!(a_release_that_nobody_noticed(true, false), []);
    // It looked at 31, and should have found what was due at 10 and 20.
    assert_eq!(a_release_that_nobody_noticed(true, true), [Rule::Periodic]);
}

#[test]
fn the_schedulers_of_a_tree_decide_all_the_way_up_and_down_on_each_core_that_shares_a_queue() {
    let server = |parent| ServerView {
        name: String::new(),
        parent,
        cores: CoreSet::first(1),
        queues: vec![CoreSet::first(1)],
        supply: None,
        write_backs: None,
        background: false,
        absent: false,
        rank: Rank::Dynamic,
    };
    let place = |server| InTree {
        server,
        core: None,
        rank: Rank::Deadline,
        period: units(20),
        deadline: units(10),
        overrun: Overrun::Continue,
    };
    let tree = |per_server| TreeView {
        servers: vec![server(0), server(0), server(1)],
        tasks: vec![place(0), place(2)],
        changes: Vec::new(),
        per_server,
        ceilings: None,
        line: Duration::ZERO,
        misses: Vec::new(),
        write_backs: Vec::new(),
    };
    assert_eq!([tree(false).schedulers(), tree(true).schedulers()], [1, 5]);
}

/// Core 0 is entered at 5 only; it has the job that core 1 released for it at once, or is idle until 9.
fn a_core_that_begins_late(at_once: bool) -> Vec<Rule> {
    let alone = |core: u8| CoreSet::from_bits(1 << core);
    let both = CoreSet::first(2);
    let root = ServerView {
        name: String::new(),
        parent: 0,
        cores: both,
        queues: vec![alone(0), alone(1)],
        supply: None,
        write_backs: None,
        background: false,
        absent: false,
        rank: Rank::Dynamic,
    };
    let place = |core| InTree {
        server: 0,
        core: Some(CoreId(core)),
        rank: Rank::Deadline,
        period: units(20),
        deadline: units(20),
        overrun: Overrun::Continue,
    };
    let view = TreeView {
        servers: vec![root],
        tasks: vec![place(0), place(1)],
        changes: Vec::new(),
        per_server: false,
        ceilings: None,
        line: Duration::ZERO,
        misses: Vec::new(),
        write_backs: Vec::new(),
    };
    let mut builder = Builder::new(2);
    builder.call(1, 0, Start, |call| _ = call.release(0, 0, 0).release(1, 0, 0).dispatch(1, 0));
    builder.call(0, 5, Start, |call| _ = if at_once { call.dispatch(0, 0) } else { call.idle() });
    builder.call(0, 9, Timer, |call| _ = if at_once { call } else { call.dispatch(0, 0) });
    rules(&check::waiting(&view, &builder.end(40), units(1)))
}

#[test]
fn a_core_does_not_idle_before_it_is_entered_first() {
    assert_eq!(a_core_that_begins_late(true), []);
    assert_eq!(a_core_that_begins_late(false), [Rule::Conserving]);
}
