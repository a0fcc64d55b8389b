//! Best-effort work that gives way to a counter: only that work, only after a sample above the threshold, for one period.

use crate::common::oracle::{parsed, simulated};
use tactus_analysis::Bound;
use tactus_model::{Costs, System};
use tactus_record::{EventKind, InputKind, Record};
use tactus_time::{Duration, TaskId};
use tactus_trace::{check, Trace, Verdict};

/// A real-time task of 2 ms in 10 and two best-effort ones, of which the second makes the core's counter count 1,000 events in a
/// millisecond, for 20 ms of each 60.
fn system(event: &str, key: &str, threshold: u64) -> System {
    parsed(&format!(
        "[system]\ncores = 1\nduration = '600 ms'\n[policy]\nkind = 'partitioned-edf'\n\
         [machine]\noverheads = false\nmemory-line = '100 ns'\n\
         [[server]]\nname = 's'\nkind = 'yielding'\nevent = '{event}'\nthreshold = {threshold}\nperiod = '10 ms'\npolicy = 'partitioned-rm'\n\
         [[task]]\nname = 'control'\ncore = 0\nperiod = '10 ms'\nexecution = '2 ms'\n\
         [[task]]\nname = 'quiet'\nserver = 's'\ncore = 0\nperiod = '30 ms'\nexecution = '1 ms'\n\
         [[task]]\nname = 'sweeper'\nserver = 's'\ncore = 0\nperiod = '60 ms'\nexecution = '20 ms'\n{key} = 20000\n"
    ))
}

fn samples(trace: &Trace) -> Vec<&Record> {
    let sample = |r: &&Record| r.kind == EventKind::Input && r.level == InputKind::Sample as u8;
    trace.cores[0].iter().filter(sample).collect()
}

fn wrong(system: &System, trace: &Trace) -> Vec<check::Violation> {
    let plan = tactus_plan::plan(system, &tactus_analysis::check(system, &Costs::default()), &Costs::default());
    check::all(&plan.view, trace, Duration::ZERO)
}

#[test]
fn best_effort_work_gives_way_for_a_period_after_each_sample_above_the_threshold_and_nothing_else_does() {
    for (event, key) in [("hitm", "hitm"), ("misses", "misses")] {
        let system = system(event, key, 4);
        let (trace, verdict) = simulated(&system);
        assert_eq!((verdict, wrong(&system, &trace)), (Verdict::Held, vec![]), "{event}");
        let samples = samples(&trace);
        assert_eq!(samples.len(), 59, "{event}: at each 10 ms but the end");
        assert_eq!(samples.iter().map(|r| r.arg).sum::<u64>(), 10 * 20_000);
        let stops: Vec<u64> =
            trace.cores[0].iter().filter(|r| r.kind == EventKind::ServerExhausted).map(|r| r.arg).collect();
        let above = samples.iter().filter(|r| r.arg > 4).map(|r| (r.time + Duration::from_millis(10)).as_nanos());
        assert_eq!(stops, above.collect::<Vec<_>>(), "{event}: until the next sample, each time");
        // In 60 ms it has 7 ms (the other one takes its millisecond), none, 8, none, 5, none.
        assert_eq!(stops[..3], [20_000_000, 40_000_000, 60_000_000]);
        let preempted = trace.cores[0].iter().filter(|r| r.kind == EventKind::Preempt && r.task == Some(TaskId(0)));
        assert_eq!(preempted.count(), 0, "{event}: real-time work is never touched");
    }
}

#[test]
fn below_the_threshold_nobody_gives_way() {
    let system = system("hitm", "hitm", 10_000);
    let (trace, verdict) = simulated(&system);
    assert_eq!((verdict, wrong(&system, &trace)), (Verdict::Held, vec![]));
    assert!(!trace.cores[0].iter().any(|r| r.kind == EventKind::ServerExhausted));
    // The judge of another threshold sees who should have, and of a lower rate samples that nobody took.
    let doubtful = |threshold: u64| {
        let of_file = self::system("hitm", "hitm", threshold);
        wrong(&of_file, &trace).into_iter().filter(|v| v.rule == check::Rule::Yield).count()
    };
    assert_eq!(doubtful(10_000), 0);
    assert!(doubtful(5_000) >= 10, "{}", doubtful(5_000));
}

#[test]
fn the_judge_finds_who_gives_way_for_no_reason_and_what_was_not_sampled() {
    let system = system("hitm", "hitm", 4);
    let (trace, _) = simulated(&system);
    let broken = |change: &dyn Fn(&mut Vec<Record>)| {
        let mut trace = trace.clone();
        change(&mut trace.cores[0]);
        wrong(&system, &trace).into_iter().filter(|v| v.rule == check::Rule::Yield).map(|v| v.text).collect::<Vec<_>>()
    };
    let is_sample = |r: &Record| r.kind == EventKind::Input && r.level == InputKind::Sample as u8;
    let quiet = broken(&|all| all.iter_mut().filter(|r| is_sample(r)).for_each(|r| r.arg = 4));
    assert!(quiet.iter().any(|text| text == "server 1 gives way after 4 events, its threshold is 4"), "{quiet:?}");
    let none = broken(&|all| all.retain(|r| !is_sample(r)));
    assert!(none.iter().any(|text| text.contains("gives way after no sample")), "{none:?}");
    assert!(none.iter().any(|text| text.contains("no sample at")), "{none:?}");
    let deaf = broken(&|all| all.retain(|r| r.kind != EventKind::ServerExhausted));
    assert!(deaf.iter().any(|text| text.contains("does not give way after")), "{deaf:?}");
    // At a sample, the real-time job loses its core to nobody.
    let touched = broken(&|all| {
        let at = all.iter().position(is_sample).expect("a sample");
        let leave = (at..).find(|n| all[*n].kind == EventKind::Leave).expect("the end of the call");
        let (record, task) = (all[at], Some(TaskId(0)));
        all[leave].task = None;
        all.insert(at + 1, Record { kind: EventKind::Preempt, task, level: 0, ..record });
    });
    assert!(touched.iter().any(|text| text.contains("gives way though it is not in server 1")), "{touched:?}");
}

#[test]
fn sampling_is_counted_in_the_bounds_of_the_core_and_best_effort_work_has_none() {
    let us = Duration::from_micros;
    let costs = Costs { schedule: us(10), ..Costs::default() };
    let with = system("hitm", "hitm", 4);
    let mut without = with.clone();
    without.scheduling.servers.clear();
    without.scheduling.hitm.clear();
    without.scheduling.places.clear();
    without.tasks.truncate(1);
    let bound = |system: &System| {
        let system = System { machine: tactus_model::Machine { overheads: true, ..system.machine }, ..system.clone() };
        let check = tactus_analysis::check(&system, &costs);
        assert!(check.accepted, "{check}");
        check.tasks
    };
    let tasks = bound(&with);
    assert!(matches!(tasks[0].bound, Bound::Response(_)), "{:?}", tasks[0]);
    for task in &tasks[1..] {
        assert_eq!(task.bound, Bound::None);
        assert!(task.explanation.contains("best-effort work in server `s`"), "{}", task.explanation);
    }
    let (Bound::Response(with), Bound::Response(alone)) = (tasks[0].bound, bound(&without)[0].bound) else { panic!() };
    // Samples of two periods at most meet a job, and each costs an entry.
    assert!(with >= alone + us(20), "{with} beside {alone}");
}
