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
    assert!(matches!(tasks[0].bound(), Some(Bound::Response(_))), "{:?}", tasks[0]);
    for task in &tasks[1..] {
        assert_eq!(task.bound(), None);
        assert!(task.explanation().contains("best-effort work in server `s`"), "{}", task.explanation());
    }
    let (Some(Bound::Response(with)), Some(Bound::Response(alone))) = (tasks[0].bound(), bound(&without)[0].bound())
    else {
        panic!()
    };
    // Samples of two periods at most meet a job, and each costs an entry.
    assert!(with >= alone + us(20), "{with} beside {alone}");
}

/// Real-time tasks on two cores and best-effort ones that cause events, all drawn, with what the system's own work costs.
fn drawn(seed: u64) -> System {
    let mut state = seed;
    let mut draw = |from: u64, to: u64| {
        // SplitMix64.
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        from + (z ^ z >> 31) % (to - from)
    };
    let (order, inner) = (["edf", "rm", "dm"][draw(0, 3) as usize], ["edf", "rm", "fifo"][draw(0, 3) as usize]);
    let mut text = format!(
        "[system]\ncores = 2\nduration = '400 ms'\n[policy]\nkind = 'partitioned-{order}'\n\
         [[server]]\nname = 's'\nkind = 'yielding'\nthreshold = {}\nperiod = '{} us'\npolicy = 'partitioned-{inner}'\n",
        draw(1, 400),
        draw(400, 12_000),
    );
    for n in 0..draw(2, 7) {
        let period = draw(4, 40);
        let execution = draw(period * 20, period * 250);
        text += &format!(
            "[[task]]\nname = 'r{n}'\ncore = {}\nperiod = '{period} ms'\nexecution = '{execution} us'\n",
            n % 2
        );
    }
    for n in 0..draw(1, 5) {
        let period = draw(5, 60);
        let (execution, hitm) = (draw(period * 50, period * 900), draw(0, 8_000));
        text += &format!(
            "[[task]]\nname = 'b{n}'\nserver = 's'\ncore = {}\nperiod = '{period} ms'\nexecution = '{execution} us'\nhitm = {hitm}\n",
            n % 2
        );
    }
    parsed(&text)
}

#[test]
fn no_bound_of_real_time_work_is_beaten_beside_samples_that_cost_time() {
    let us = Duration::from_micros;
    let costs = Costs { release: us(20), schedule: us(30), switch: us(5), inter_core: us(20), complete: us(5) };
    let (mut accepted, mut stops) = (0, 0);
    for seed in 0..100 {
        let system = drawn(seed);
        let check = tactus_analysis::check(&system, &costs);
        if !check.accepted {
            continue;
        }
        accepted += 1;
        let plan = tactus_plan::plan(&system, &check, &costs);
        let demand = |task: TaskId, job| system.tasks[task.index()].demand(system.seed, task, job);
        let work = (demand, Vec::new());
        let trace = tactus_sim::simulate_with_steps(&plan.setup, system.duration, work, system.job_steps(), &costs);
        let trace = trace.expect("the policy makes progress");
        assert_eq!(tactus_trace::judge(&plan.view, &trace).verdict, Verdict::Held, "seed {seed}");
        let wrong = check::all(&plan.view, &trace, us(200));
        assert!(wrong.is_empty(), "seed {seed}: {:?}", wrong[0]);
        stops += trace.cores.iter().flatten().filter(|r| r.kind == EventKind::ServerExhausted).count();
    }
    println!("{accepted} accepted, {stops} times somebody gave way");
    assert!(accepted > 50 && stops > 1_000, "{accepted} accepted, {stops} times somebody gave way");
}
