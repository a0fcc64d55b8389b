//! Figures and verdicts.

use crate::common::*;
use proptest::prelude::*;
use tactus_record::EntryReason::*;
use tactus_record::{EventKind, FaultKind};
use tactus_time::{CoreId, Duration, Instant, Level, TaskId};
use tactus_trace::{judge, Bound, Broken, Trace, Verdict, View, What};

fn broken(view: &View, trace: &Trace) -> Broken {
    match judge(view, trace).verdict {
        Verdict::Broken(b) => b,
        other => panic!("{other:?}"),
    }
}

/// T1 runs [0,2) and [10,12), T2 [2,5) and, preempted at 10, [7,10) and [12,14); core 1 takes T2's second job over at 14.
fn two_cores() -> (View, Trace) {
    let mut b = Builder::new(2);
    b.call(0, 0, Start, |c| {
        c.release(0, 0, 0).release(1, 0, 0).dispatch(0, 0);
    });
    b.call(1, 0, Start, |c| {
        c.idle();
    });
    b.call(0, 2, Complete, |c| {
        c.complete(0, 0, 2).dispatch(1, 0);
    });
    b.call(0, 5, Complete, |c| {
        c.complete(1, 0, 3).idle();
    });
    b.call_ns(0, 7 * UNIT + 50, 7 * UNIT + 250, Timer, 7 * UNIT, |c| {
        c.release(1, 1, 7).dispatch(1, 1);
    });
    b.call(0, 10, Timer, |c| {
        c.release(0, 1, 10).preempt(1, 1).dispatch(0, 1);
    });
    b.call(0, 12, Complete, |c| {
        c.complete(0, 1, 2).dispatch(1, 1);
    });
    b.call_ns(0, 14 * UNIT, 14 * UNIT + 100, Timer, 14 * UNIT, |c| {
        c.preempt(1, 1).idle().put(EventKind::Notify, None, 0, 1, 0);
    });
    b.call_ns(1, 14 * UNIT + 400, 14 * UNIT + 500, Notify, 0, |c| {
        c.release(1, 2, 14).dispatch(1, 1);
    });
    b.call(1, 16, Complete, |c| {
        c.complete(1, 1, 7).dispatch(1, 2);
    });
    let mut t2 = task("T2", 7, Some(Bound::Tardiness(units(4))));
    t2.deadline = units(7);
    (view(2, 18, vec![task("T1", 10, Some(Bound::Response(units(4)))), t2]), b.end(18))
}

#[test]
fn figures_of_a_task_are_those_that_a_person_counts() {
    let (view, trace) = two_cores();
    let summary = judge(&view, &trace);
    assert_eq!(summary.verdict, Verdict::Held);
    let [t1, t2] = &summary.tasks[..] else { panic!() };
    assert_eq!((t1.jobs.released, t1.jobs.completed, t1.jobs.unfinished, t1.jobs.missed), (2, 2, 0, 0));
    let response = t1.response.unwrap();
    assert_eq!((response.min, response.median, response.p99, response.max), (units(2), units(2), units(2), units(2)));
    assert_eq!(t1.worst_over_bound, Some(0.5));
    // T2: responses 5 and 9 (deadline 7, so late by 2); its third job is unfinished at 18, released at 14.
    assert_eq!((t2.jobs.released, t2.jobs.completed, t2.jobs.unfinished, t2.jobs.missed), (3, 2, 1, 1));
    let response = t2.response.unwrap();
    assert_eq!((response.min, response.median, response.max), (units(5), units(5), units(9)));
    assert_eq!((t2.tardiness_max, t2.worst_over_bound), (units(2), Some(0.5)));
    assert_eq!(t2.charged.unwrap().max, units(7));
    assert_eq!(t2.charged_mean, Some(units(5)));
    assert_eq!((t2.preemptions, t2.migrations, t2.exhausted), (2, 1, 0));
    assert_eq!(summary.total.released, 5);
    assert_eq!((summary.levels.len(), summary.levels[0].level, summary.levels[0].tasks), (1, None, 2));
    assert_eq!(summary.levels[0].tardiness_bound, Some(units(4)));
}

#[test]
fn every_nanosecond_of_a_core_is_busy_idle_or_in_the_scheduler() {
    let (view, trace) = two_cores();
    let summary = judge(&view, &trace);
    let [zero, one] = &summary.per_core[..] else { panic!() };
    // [0,5) and [7,14) are busy but for the 50 ns that T2 came late and the 200 ns of that decision.
    assert_eq!(zero.busy, Duration::from_nanos(12 * UNIT - 250));
    assert_eq!(zero.scheduler, Duration::from_nanos(200 + 100));
    assert_eq!(zero.idle + zero.busy + zero.scheduler, units(18));
    assert_eq!(one.idle + one.busy + one.scheduler, units(18));
    assert_eq!(one.busy, Duration::from_nanos(4 * UNIT - 500));
}

#[test]
fn overheads_are_told_by_kind() {
    let (view, trace) = two_cores();
    let o = judge(&view, &trace).overheads;
    let timer = o.entries.timer.unwrap();
    assert_eq!((timer.count, timer.max, timer.total), (3, Duration::from_nanos(200), Duration::from_nanos(300)));
    assert_eq!(o.entries.complete.unwrap().count, 4);
    assert_eq!(o.entries.notify.unwrap().median, Duration::from_nanos(100));
    assert_eq!(o.entries.fault, None);
    assert_eq!(o.timer_lateness.unwrap().max, Duration::from_nanos(50));
    assert_eq!(o.inter_core.unwrap().max, Duration::from_nanos(300));
    assert_eq!(o.release.unwrap().max, Duration::from_nanos(400));
    assert_eq!(o.schedule.unwrap().count, 10);
}

#[test]
fn a_response_over_its_bound_is_broken_when_the_bound_has_passed_and_says_what_ran_instead() {
    let (mut view, trace) = two_cores();
    view.tasks[1].promise = Some(Bound::Response(units(6)));
    view.tasks[1].core = Some(CoreId(0));
    let b = broken(&view, &trace);
    assert_eq!((b.what, b.task.as_deref(), b.job), (What::Response, Some("T2"), Some(1)));
    assert_eq!((b.time, b.limit, b.actual), (at(13), Some(units(6)), Some(units(9))));
    let ran: Vec<(&str, Duration)> = b.cause.ran.iter().map(|s| (s.task.as_str(), s.time)).collect();
    assert_eq!(ran, [("T1", units(2))]);
    assert_eq!(b.cause.own, Duration::from_nanos(5 * UNIT - 250));
    assert_eq!(
        b.cause.text,
        "T2 job 1 took longer than its bound: 9 ms where 6 ms was promised. Released at 7 ms, it ran for 5 ms until \
         16 ms; meanwhile on core 0: T1 2 ms (22 %), scheduler 300 ns (0 %), idle 2 ms (22 %)."
    );
}

#[test]
fn a_deadline_missed_by_a_hard_task_is_broken_at_the_deadline() {
    let (mut view, trace) = two_cores();
    view.tasks[1].promise = Some(Bound::Response(units(8)));
    let b = broken(&view, &trace);
    assert_eq!((b.what, b.job, b.time, b.limit), (What::Deadline, Some(1), at(14), Some(units(7))));
    assert!(b.cause.text.starts_with("T2 job 1 missed its deadline: 9 ms where 7 ms was promised."));
}

#[test]
fn a_tardiness_over_its_bound_is_broken() {
    let (mut view, trace) = two_cores();
    view.tasks[1].promise = Some(Bound::Tardiness(units(1)));
    let b = broken(&view, &trace);
    assert_eq!((b.what, b.job, b.time), (What::Tardiness, Some(1), at(15)));
    assert_eq!((b.limit, b.actual), (Some(units(1)), Some(units(2))));
}

#[test]
fn a_job_that_is_never_finished_breaks_its_promise_too() {
    let mut b = Builder::new(1);
    b.call(0, 0, Start, |c| {
        c.release(0, 0, 0).dispatch(0, 0);
    });
    let trace = b.end(18);
    let mut view = view(1, 18, vec![task("T1", 20, Some(Bound::Response(units(17))))]);
    let b = broken(&view, &trace);
    assert_eq!((b.what, b.time, b.actual), (What::Response, at(17), Some(units(18))));
    assert!(b.cause.text.contains("not done after 18 ms where 17 ms was promised"));
    // While the bound has not passed, the job may still keep it, and nothing can be said.
    view.tasks[0].promise = Some(Bound::Response(units(18)));
    let summary = judge(&view, &trace);
    assert_eq!(summary.verdict, Verdict::NoJobEnded);
    assert!(!summary.verdict.held());
    assert_eq!(
        summary.headline(),
        "nothing can be said: within 18 ms no job of a promised task came to its end or to its bound"
    );
}

#[test]
fn nothing_is_promised_where_analysis_did_not_accept() {
    let (mut view, trace) = two_cores();
    view.tasks[1].promise = Some(Bound::Response(units(1)));
    view.accepted = false;
    let summary = judge(&view, &trace);
    assert_eq!(summary.verdict, Verdict::Refused);
    assert_eq!(summary.total.missed, 1);
    assert!(!summary.verdict.held());
}

#[test]
fn lost_records_break_the_verdict_before_anything_that_may_come_of_them() {
    let (mut view, mut trace) = two_cores();
    trace.dropped[1] = 5;
    let b = broken(&view, &trace);
    assert_eq!((b.what, b.time), (What::Dropped, at(18)));
    assert!(b.cause.text.contains("the ring of core 1 was full: 5 records"));
    view.tasks[1].promise = Some(Bound::Tardiness(units(1)));
    assert_eq!(broken(&view, &trace).what, What::Tardiness);
}

#[test]
fn a_broken_rule_breaks_the_verdict() {
    let (view, mut trace) = two_cores();
    for r in trace.cores.iter_mut().flatten().filter(|r| r.kind == EventKind::Release && r.job == 1) {
        r.arg += 1;
    }
    let b = broken(&view, &trace);
    assert_eq!((b.what, b.task.as_deref(), b.job), (What::Rule, Some("T2"), Some(1)));
    assert!(
        b.cause.text.starts_with("the rule that releases are periodic was broken on core 0: T2 job 1 "),
        "{}",
        b.cause.text
    );
}

/// T1 faults at 3 in a system of two tasks on one core; T2 goes on.
fn faulty() -> (View, Trace) {
    let mut b = Builder::new(1);
    b.call(0, 0, Start, |c| {
        c.release(0, 0, 0).release(1, 0, 0).dispatch(0, 0);
    });
    b.trace.cores[0].push(tactus_record::Record {
        time: at(3),
        arg: 0xdead,
        job: 7,
        task: Some(TaskId(0)),
        kind: EventKind::Fault,
        level: FaultKind::Write as u8,
        core: CoreId(0),
        ticket: 0,
    });
    b.call(0, 3, Fault, |c| {
        c.put(EventKind::Removed, Some(0), 0, 0, 0).dispatch(1, 0);
    });
    b.call(0, 5, Complete, |c| {
        c.complete(1, 0, 2).idle();
    });
    b.call(0, 20, Timer, |c| {
        c.release(1, 1, 20).dispatch(1, 1);
    });
    let tasks =
        vec![task("bad", 5, Some(Bound::Response(units(4)))), task("good", 20, Some(Bound::Response(units(6))))];
    (view(1, 21, tasks), b.end(21))
}

#[test]
fn a_fault_names_its_culprit_and_voids_only_the_culprits_promise() {
    let (view, trace) = faulty();
    let summary = judge(&view, &trace);
    assert_eq!(summary.verdict, Verdict::Stopped);
    assert_eq!(
        summary.headline(),
        "component 7 was stopped; void by bad (its component was stopped): 1 job not as promised (bad 1)"
    );
    let [culprit] = &summary.culprits[..] else { panic!() };
    assert_eq!((culprit.component, culprit.task.as_deref(), culprit.address), (7, Some("bad"), 0xdead));
    assert_eq!(
        (culprit.time, culprit.fault.as_ref()),
        (at(3), "write to an address that it does not have or may only read")
    );
    assert_eq!(summary.tasks[0].removed_at, Some(at(3)));
    assert_eq!(summary.tasks[0].void.as_deref(), Some("its component was stopped"));
    let jobs = summary.tasks[0].jobs;
    assert_eq!((jobs.missed, jobs.aborted, summary.tasks[1].void.as_ref()), (1, 1, None));
}

#[test]
fn a_promise_that_a_fault_broke_for_another_task_is_broken_and_the_fault_is_told() {
    let (mut view, trace) = faulty();
    view.tasks[1].promise = Some(Bound::Response(units(4)));
    let b = broken(&view, &trace);
    assert_eq!((b.task.as_deref(), b.time, b.cause.fault), (Some("good"), at(4), true));
    assert!(b.cause.text.ends_with("A component was stopped in this time."), "{}", b.cause.text);
}

#[test]
fn a_task_that_takes_more_than_was_assumed_voids_the_promises_that_rest_on_it_and_no_others() {
    // A job of `x` takes 6 on core 0; `low` waits for it and is late.
    let levels = [(Level::B, Some(0)), (Level::A, Some(0)), (Level::C, None), (Level::B, Some(1))];
    let mut b = Builder::new(2);
    b.call(0, 0, Start, |c| {
        c.release(0, 0, 0).release(1, 0, 0).release(2, 0, 0).dispatch(1, 0);
    });
    b.call(1, 0, Start, |c| {
        c.release(3, 0, 0).dispatch(3, 0);
    });
    b.call(0, 1, Complete, |c| {
        c.complete(1, 0, 1).dispatch(0, 0);
    });
    b.call(0, 7, Complete, |c| {
        c.complete(0, 0, 6).dispatch(2, 0);
    });
    let trace = b.end(9);
    let names = ["x", "high", "low", "far"];
    let tasks = levels.iter().zip(names).map(|((level, core), name)| {
        let mut t = at_level(task(name, 20, Some(Bound::Response(units(8)))), *level, *core);
        t.assumed = [Some(units(20)); 4];
        t
    });
    let mut view = view(2, 9, tasks.collect());
    view.tasks[3].promise = Some(Bound::Response(units(9)));
    assert_eq!(broken(&view, &trace).task.as_deref(), Some("low"));

    // Level B assumed 4 of x, level C 2: x owes its own job nothing, and level C's promises end where x had 2.
    view.tasks[0].assumed = [None, Some(units(4)), Some(units(2)), None];
    let summary = judge(&view, &trace);
    assert_eq!(summary.verdict, Verdict::Void);
    assert_eq!(
        summary.headline(),
        "void by x (job 0 took more than the 2 ms assumed of it): 1 job not as promised (low 1)"
    );
    let from: Vec<Option<Instant>> = summary.tasks.iter().map(|t| t.void_from).collect();
    assert_eq!(from, [Some(at(0)), None, Some(at(3)), None]);
    let void = summary.levels.iter().map(|it| it.void);
    assert_eq!(void.collect::<Vec<_>>(), [0, 1, 1], "levels A to C");
    assert_eq!(summary.tasks[2].void.as_deref(), Some("x: job 0 took more than the 2 ms assumed of it"));

    // Held to a budget of 4, x can still harm level C, which assumed less; within level B only itself.
    view.tasks[0].budget = Some(units(4));
    view.tasks[3].core = Some(CoreId(0));
    let from: Vec<Option<Instant>> = judge(&view, &trace).tasks.iter().map(|t| t.void_from).collect();
    assert_eq!(from, [Some(at(0)), None, Some(at(3)), None]);
    view.tasks[0].budget = None;
    let from: Vec<Option<Instant>> = judge(&view, &trace).tasks.iter().map(|t| t.void_from).collect();
    assert_eq!(from, [Some(at(0)), None, Some(at(3)), Some(at(5))]);
    view.tasks[2].promise = None;
    assert_eq!(judge(&view, &trace).tasks[2].void, None);
}

#[test]
fn the_headline_tells_misses_of_tasks_that_were_promised_nothing_and_arrivals_that_were_lost() {
    let mut b = Builder::new(1);
    b.call(0, 0, Start, |c| {
        c.release(0, 0, 0).release(1, 0, 0).release(2, 0, 0).dispatch(0, 0);
    });
    b.call(0, 2, Complete, |c| {
        c.complete(0, 0, 2).put(EventKind::ArrivalLost, Some(2), 1, 1, 0).dispatch(1, 0);
    });
    b.call(0, 5, Complete, |c| {
        c.complete(1, 0, 3).put(EventKind::ArrivalLost, Some(2), 1, 1, 0).dispatch(2, 0);
    });
    b.call(0, 7, Complete, |c| {
        c.complete(2, 0, 2).put(EventKind::ArrivalLost, Some(2), 1, 0, 0).idle();
    });
    let mut tasks: Vec<_> = ["p", "x", "y"].map(|name| task(name, 20, None)).into();
    (tasks[0].promise, tasks[1].deadline, tasks[2].deadline) = (Some(Bound::Response(units(4))), units(4), units(4));
    let (view, trace) = (view(1, 9, tasks), b.end(9));
    let summary = judge(&view, &trace);
    assert_eq!(
        summary.headline(),
        "every promise held (1 of 3 tasks were promised something); 2 jobs of tasks that were promised nothing missed \
         their deadlines (x 1, y 1); 2 arrivals of y were lost"
    );
    assert_eq!((summary.tasks[2].arrivals_lost, summary.tasks[2].arrivals_dropped), (2, 1));
}

#[test]
fn a_job_that_needs_more_than_was_assumed_of_it_is_owed_nothing_though_it_gets_no_more_in_time() {
    let mut b = Builder::new(1);
    b.call(0, 0, Start, |c| {
        c.release(0, 0, 0).replenish(0, 2).dispatch(0, 0);
    });
    b.call(0, 2, Timer, |c| {
        c.exhausted(0, 0).idle();
    });
    let trace = b.end(9);
    let mut view = view(1, 9, vec![task("over", 10, Some(Bound::Response(units(2))))]);
    view.tasks[0].budget = Some(units(2));
    assert_eq!(broken(&view, &trace).time, at(2));
    view.tasks[0].assumed = [Some(units(2)); 4];
    let summary = judge(&view, &trace);
    assert_eq!(summary.verdict, Verdict::Void);
    assert_eq!(summary.tasks[0].void.as_deref(), Some("job 0 took more than the 2 ms assumed of it"));
    // A job that takes all that was assumed and no more keeps its promise, and is owed it.
    let mut b = Builder::new(1);
    b.call(0, 0, Start, |c| {
        c.release(0, 0, 0).dispatch(0, 0);
    });
    b.call(0, 2, Complete, |c| {
        c.complete(0, 0, 2).idle();
    });
    assert_eq!(judge(&view, &b.end(9)).tasks[0].void, None);
}

#[test]
fn used_up_budgets_are_counted_and_are_no_preemptions() {
    for both in [false, true] {
        let mut b = Builder::new(1);
        b.call(0, 0, Start, |c| {
            c.release(0, 0, 0).dispatch(0, 0);
        });
        b.call(0, 2, Timer, |c| {
            if both {
                c.preempt(0, 0);
            }
            c.exhausted(0, 0).idle();
        });
        b.call(0, 5, Timer, |c| {
            c.release(0, 1, 5).replenish(0, 2).dispatch(0, 0);
        });
        b.call(0, 6, Complete, |c| {
            c.complete(0, 0, 3).dispatch(0, 1);
        });
        let view = view(1, 7, vec![task("over", 5, Some(Bound::Response(units(5))))]);
        let summary = judge(&view, &b.end(7));
        assert_eq!((summary.tasks[0].preemptions, summary.tasks[0].exhausted), (0, 1));
        let Verdict::Broken(b) = summary.verdict else { panic!() };
        assert!(b.cause.exhausted && b.cause.text.contains("It used up its budget once and waited for the next."));
    }
}

#[test]
fn the_json_has_figures_under_their_names() {
    let (view, trace) = two_cores();
    let summary = judge(&view, &trace);
    let json: serde_json::Value = serde_json::from_str(&summary.to_json()).unwrap();
    assert_eq!(json["format"], 4);
    assert_eq!(json["verdict"]["outcome"], "held");
    assert_eq!(json["tasks"][1]["promise"], serde_json::json!({"kind": "tardiness", "bound_ns": 4 * UNIT}));
    assert_eq!(json["tasks"][1]["response"]["median_ns"], 5 * UNIT);
    assert_eq!(json["tasks"][0]["level"], serde_json::Value::Null);
}

#[test]
fn promises_of_a_task_without_bound_are_told_as_none() {
    let (mut view, trace) = two_cores();
    view.tasks[0].promise = None;
    let summary = judge(&view, &trace);
    assert_eq!((summary.tasks[0].promise, summary.tasks[0].worst_over_bound), (None, None));
}

proptest! {
    /// The oracle goes through whole units of time and knows nothing of records.
    #[test]
    fn responses_and_misses_are_those_of_a_simulation_by_unit_steps(
        tasks in prop::collection::vec((0..2_u8, 2..20_u64, 1..6_u64), 1..6),
    ) {
        let length = 60;
        let summary = judge(&edf_view(2, &tasks, length), &edf(2, &tasks, length));
        for (i, task) in summary.tasks.iter().enumerate() {
            let (core, period, cost) = tasks[i];
            let mut responses = Vec::new();
            // Jobs of this core: deadline, task, number, left.
            let mut ready: Vec<(u64, usize, u64, u64)> = Vec::new();
            for now in 0..length {
                for (t, (c, p, e)) in tasks.iter().enumerate() {
                    if *c == core && now % p == 0 {
                        ready.push((now + p, t, now / p, *e));
                    }
                }
                let Some(best) = ready.iter_mut().min() else { continue };
                best.3 -= 1;
                // A completion at the very end of the run is not recorded.
                if best.3 == 0 && now + 1 < length {
                    let (_, t, job, _) = *best;
                    ready.retain(|j| j.3 > 0);
                    if t == i {
                        responses.push(now + 1 - job * tasks[t].1);
                    }
                }
                ready.retain(|j| j.3 > 0);
            }
            let released = length.div_ceil(period);
            let unfinished = released - responses.len() as u64;
            let late = responses.iter().filter(|r| **r > period).count() as u64;
            let open_late = (responses.len() as u64..released).filter(|job| (job + 1) * period < length).count() as u64;
            prop_assert_eq!(task.jobs.released, released);
            prop_assert_eq!((task.jobs.completed, task.jobs.unfinished), (responses.len() as u64, unfinished));
            prop_assert_eq!(task.jobs.missed, late + open_late);
            prop_assert_eq!(task.response.map(|r| r.max), responses.iter().max().map(|r| units(*r)));
            prop_assert_eq!(task.charged.map(|c| c.max), (!responses.is_empty()).then(|| units(cost)));
        }
    }
}

#[test]
fn who_is_late_is_owed_nothing_where_the_systems_own_work_takes_time_that_no_bound_counts() {
    let (mut view, trace) = two_cores();
    view.tasks[1].promise = Some(Bound::Response(units(6)));
    view.tasks[1].core = Some(CoreId(0));
    assert!(matches!(judge(&view, &trace).verdict, Verdict::Broken(_)));
    view.uncounted = true;
    let summary = judge(&view, &trace);
    assert_eq!(summary.verdict, Verdict::Void);
    assert!(summary.headline().contains("overheads = false"), "{}", summary.headline());
}

#[test]
fn a_machine_that_did_what_nobody_had_decided_has_not_held_its_promises() {
    let (mut view, trace) = two_cores();
    view.refuted = Some("core 1 decided what the policy does not".into());
    let b = broken(&view, &trace);
    assert_eq!((b.what, b.task.as_deref()), (What::Machine, None));
    let headline = judge(&view, &trace).headline();
    assert_eq!(headline, "broken: core 1 decided what the policy does not");
}
