//! Budgets of misses: who asks memory for too much stalls, whoever is beside him is counted with what is left to ask for.

use crate::common::oracle::{parsed, simulated};
use tactus_analysis::Bound;
use tactus_model::{Costs, System};
use tactus_record::{EventKind, InputKind, Record};
use tactus_sim::lockstep::lockstep;
use tactus_time::{Duration, TaskId};
use tactus_trace::{check, judge, Trace, Verdict};

/// A server on core 1 that may ask for 2,000 lines in a millisecond, of the 10,000 that memory serves, and a task in it; beside them one
/// on core 0.
fn system(misses: &str, cost: &str) -> System {
    with("misses = 2000", misses, cost)
}

/// The same with these budgets.
fn with(budgets: &str, of_jobs: &str, cost: &str) -> System {
    parsed(&format!(
        "[system]\ncores = 2\nduration = '300 ms'\n[policy]\nkind = 'partitioned-edf'\n\
         [machine]\noverheads = false\nmemory-line = '100 ns'\n{cost}\n\
         [[server]]\nname = 's'\nkind = 'misses'\ncores = [1]\n{budgets}\nperiod = '1 ms'\npolicy = 'partitioned-edf'\n\
         [[task]]\nname = 'copies'\nserver = 's'\ncore = 1\nperiod = '30 ms'\nexecution = '4 ms'\n{of_jobs}\n\
         [[task]]\nname = 'control'\ncore = 0\nperiod = '10 ms'\nexecution = '1 ms'\nmisses = 0\nwrite-backs = 0\n"
    ))
}

/// Whether a record tells how many lines of this kind were counted.
fn tells(record: &Record, kind: InputKind) -> bool {
    record.kind == EventKind::Input && record.level == kind as u8
}

/// Of ten jobs with 20,000 lines each, up to any time no more than 2,000 in each millisecond and 625 more: two looks are a sixteenth of a
/// millisecond apart, in which memory serves or takes so many. The server stalls nine times a job at least.
fn is_regulated(trace: &Trace, kind: InputKind) {
    let mut lines = 0;
    for record in trace.cores[1].iter().filter(|record| tells(record, kind)) {
        lines += record.arg;
        let periods = record.time.as_nanos().div_ceil(1_000_000);
        assert!(lines <= 2_000 * periods + 625, "{lines} lines up to {}", record.time);
    }
    assert_eq!(lines, 10 * 20_000);
    let stalls = trace.cores[1].iter().filter(|r| r.kind == EventKind::ServerExhausted).count();
    assert!(stalls >= 10 * 9, "{stalls}");
}

fn bounds(system: &System) -> Vec<(Option<Bound>, String)> {
    let check = tactus_analysis::check(system, &Costs::default());
    assert!(check.accepted, "{check}");
    check.tasks.into_iter().map(|task| (task.bound(), task.explanation().to_string())).collect()
}

fn us(n: u64) -> Duration {
    Duration::from_micros(n)
}

#[test]
fn a_task_that_uses_up_a_budget_of_misses_stalls_until_the_next_and_keeps_its_bound() {
    // Five lines in a microsecond: the 2,000 last for 400.
    let system = system("misses = 20000", "");
    let (trace, verdict) = simulated(&system);
    assert_eq!(verdict, Verdict::Held);
    let plan = tactus_plan::plan(&system, &tactus_analysis::check(&system, &Costs::default()), &Costs::default());
    assert_eq!(check::all(&plan.view, &trace, Duration::ZERO), []);
    is_regulated(&trace, InputKind::Misses);
    // A judge that allows for less finds too much.
    let mut strict = plan.view.tree.clone().expect("servers");
    strict.servers[1].supply.as_mut().expect("a budget").0 = us(100);
    assert!(!check::misses(&strict, &trace, Duration::ZERO).is_empty());
}

#[test]
fn lines_that_a_look_at_a_periods_end_finds_are_judged_with_that_period() {
    // 7,500 lines in each of four milliseconds. The job begins 700 µs before a period's end, at which the next look is; the one after
    // that is 800 µs later.
    let (_, verdict) = simulated(&with("misses = 8000", "misses = 30000\noffset = '300 us'", ""));
    assert_eq!(verdict, Verdict::Held);
}

#[test]
fn without_enough_misses_to_stall_a_task_has_its_whole_core() {
    // Of two jobs, one before and one after, 2,000 in any millisecond.
    assert_eq!(bounds(&system("misses = 1000", ""))[0].0, Some(Bound::Response(us(4_000))));
    // The budget is exhausted by 1,001 each: then memory's least time of 2,000 lines a millisecond is all that is sure.
    let (bound, _) = &bounds(&system("misses = 1001", ""))[0];
    assert!(matches!(bound, Some(Bound::Response(r)) if *r > us(20_000)), "{bound:?}");
}

#[test]
fn what_a_regulated_core_may_ask_for_is_counted_in_the_bounds_of_the_others() {
    // In 20 ms, period and deadline: 21 budgets, and 625 that a look finds too late; 42,625 lines of 200 ns.
    let cost = "miss-cost = '200 ns'";
    assert_eq!(bounds(&system("", cost))[1].0, Some(Bound::Response(us(1_000 + 8_525))));
    // Without the server it is what the file says of the other core's jobs, of which two may run in that time; or nothing.
    let text = |misses: &str| {
        format!(
            "[system]\ncores = 2\nduration = '300 ms'\n[policy]\nkind = 'partitioned-edf'\n\
             [machine]\noverheads = false\nmemory-line = '100 ns'\nmiss-cost = '200 ns'\n\
             [[task]]\nname = 'copies'\ncore = 1\nperiod = '30 ms'\nexecution = '4 ms'\n{misses}\n\
             [[task]]\nname = 'control'\ncore = 0\nperiod = '10 ms'\nexecution = '1 ms'\nmisses = 0\n"
        )
    };
    assert_eq!(bounds(&parsed(&text("misses = 1000")))[1].0, Some(Bound::Response(us(1_400))));
    let (bound, why) = bounds(&parsed(&text("")))[1].clone();
    assert_eq!(bound, None);
    assert!(why.contains("`copies`") && why.contains("any number of lines"), "{why}");
}

#[test]
fn a_task_that_uses_up_a_budget_of_write_backs_stalls_until_the_next_period_and_the_judge_finds_one_too_many() {
    // All the lines that memory serves may be asked for; of those that are written back, five in a microsecond, 2,000 last for 400.
    let system = with("misses = 10000\nwrite-backs = 2000", "misses = 20000\nwrite-backs = 20000", "");
    let (mut trace, verdict) = simulated(&system);
    assert_eq!(verdict, Verdict::Held);
    let plan = tactus_plan::plan(&system, &tactus_analysis::check(&system, &Costs::default()), &Costs::default());
    assert_eq!(check::all(&plan.view, &trace, Duration::ZERO), []);
    let demand = |task: TaskId, job| Some(system.tasks[task.index()].demand(system.seed, task, job));
    assert!(lockstep(&plan.setup, demand, &trace, Duration::ZERO).unwrap().is_ok(), "a replay decides the same");
    is_regulated(&trace, InputKind::WriteBacks);
    // In the period in which it is used up for the first time, 626 lines more than the budget.
    let is_told = |r: &&mut Record| tells(r, InputKind::WriteBacks);
    let first = trace.cores[1].iter_mut().find(is_told).expect("a look");
    first.arg += 2_626;
    let found = check::all(&plan.view, &trace, Duration::ZERO);
    assert!(found.iter().any(|it| it.text.contains("server 1 wrote back")), "{found:?}");
    assert_ne!(judge(&plan.view, &trace).verdict, Verdict::Held);
}

#[test]
fn write_backs_count_in_bounds_by_their_budget_and_their_cost() {
    // Of two jobs, one before and one after, 2,000 in any millisecond; of 1,001 each the budget comes to an end.
    let bound = |lines: &str| bounds(&with("misses = 10000\nwrite-backs = 2000", lines, ""))[0].clone();
    assert_eq!(bound("misses = 5000\nwrite-backs = 1000").0, Some(Bound::Response(us(4_000))));
    let (stalls, _) = bound("misses = 5000\nwrite-backs = 1001");
    assert!(matches!(stalls, Some(Bound::Response(r)) if r > us(20_000)), "{stalls:?}");
    // In 20 ms, period and deadline: 21 budgets, and 625 that a look finds too late; 21,625 lines of 200 ns, and 11,125 of 100 ns.
    let cost = "miss-cost = '200 ns'\nwrite-back-cost = '100 ns'";
    let both = with("misses = 1000\nwrite-backs = 500", "", cost);
    assert_eq!(bounds(&both)[1].0, Some(Bound::Response(Duration::from_nanos(1_000_000 + 4_325_000 + 1_112_500))));
    // What nobody limits nobody knows, but for what the file says of jobs: two of them in that time.
    let (none, why) = bounds(&with("misses = 1000", "", cost))[1].clone();
    assert_eq!(none, None);
    assert!(why.contains("`copies`") && why.contains("write any number of lines back"), "{why}");
    let said = with("misses = 1000", "write-backs = 1000", cost);
    assert_eq!(bounds(&said)[1].0, Some(Bound::Response(us(1_000 + 4_325 + 200))));
}
