//! Task models that people bring: examples with known answers, and random systems of each model, whose bounds runs of the policy itself
//! attack.

use crate::common::attack::{beaten, demands, try_longest};
use crate::common::Dice;
use std::path::Path;
use tactus_analysis::{check, Bound, Check};
use tactus_generate::featured;
use tactus_model::{Costs, Feature, System};
use tactus_time::Duration;

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

/// A system of one core: kind of the policy, and the keys of each task.
fn system(kind: &str, tasks: &[&str]) -> System {
    let head = "[system]\ncores = 1\nduration = '1 s'\n[machine]\noverheads = false\n";
    let task = |(n, keys): (usize, &&str)| format!("[[task]]\nname = 't{n}'\ncore = 0\n{}\n", keys.replace(", ", "\n"));
    let tasks: String = tasks.iter().enumerate().map(task).collect();
    let text = format!("{head}[policy]\nkind = '{kind}'\n{tasks}");
    System::parse_toml(&text, Path::new("model.toml")).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn responses(kind: &str, tasks: &[&str]) -> (bool, Vec<Option<Duration>>) {
    let found = check(&system(kind, tasks), &Costs::default());
    let response = |bound| match bound {
        Some(Bound::Response(time)) => Some(time),
        Some(Bound::Tardiness(_)) | None => None,
    };
    (found.accepted, found.tasks.iter().map(|task| response(task.bound())).collect())
}

#[test]
fn without_preemption_jobs_with_jitter_respond_as_published() {
    // Brandenburg's np-schedulability-analysis, issue 3: the more urgent task responds in 4.
    let low = "period = '10 ms', execution = '2 ms', priority = 1, preemption-threshold = 2";
    let high = "period = '10 ms', execution = '2 ms', priority = 2, preemption-threshold = 2, jitter = '8 ms'";
    let sporadic = format!("{high}, release = 'sporadic'");
    for high in [high, &sporadic] {
        assert_eq!(responses("partitioned-fp", &[low, high]), (true, vec![Some(ms(6)), Some(ms(4))]));
    }
    // pyCPA, issue 22: two messages of a bus.
    let first = "period = '30 ms', execution = '2 ms', priority = 2, preemption-threshold = 2, release = 'sporadic', \
                 jitter = '8 ms', least-distance = '5 ms'";
    let second = "period = '15 ms', execution = '9 ms', priority = 1, preemption-threshold = 2, release = 'sporadic', \
                  jitter = '13 ms', least-distance = '1 ms'";
    assert_eq!(responses("partitioned-fp", &[first, second]), (false, vec![Some(ms(11)), Some(ms(18))]));
}

#[test]
fn sections_that_follow_at_once_block_together() {
    // When the first section's end is noticed, the second has begun, in which nobody takes the core.
    let text = "[system]\ncores = 1\nduration = '400 ms'\n[policy]\nkind = 'partitioned-fp'\n\
                [[resource]]\nname = 'r0'\nprotocol = 'ceiling'\n[[resource]]\nname = 'r1'\nprotocol = 'non-preemptive'\n\
                [[task]]\nname = 'low'\ncore = 0\npriority = 1\nperiod = '70 ms'\nexecution = '30 ms'\n\
                sections = [{ resource = 'r0', after = '3 ms', length = '6 ms' }, { resource = 'r1', after = '9 ms', length = '5 ms' }]\n\
                [[task]]\nname = 'high'\ncore = 0\npriority = 2\nperiod = '70 ms'\noffset = '4 ms'\nexecution = '2 ms'\n\
                sections = [{ resource = 'r0', after = '500 us', length = '500 us' }]\n";
    let system = System::parse_toml(text, Path::new("model.toml")).expect("a good file");
    let us = Duration::from_micros(2);
    let costs = Costs { release: us, schedule: us, switch: us, inter_core: us, complete: us };
    let found = check(&system, &costs);
    let worst = try_longest(&system, &found, &costs, |task, _| system.tasks[task.index()].budget()).expect("it runs");
    assert!(found.accepted && worst[1] > ms(12), "{worst:?}\n{found}");
    assert_eq!(beaten(&system, &found, &worst), None);
}

/// What became of random systems.
#[derive(Default, Debug)]
struct Tally {
    systems: u64,
    /// Tasks with a bound.
    bounded: u64,
    runs: u64,
    /// Responses that came within a tenth of their bound.
    near: u64,
}

/// Attacks random systems that have one of these features each, and perhaps others.
fn attack(choices: &[&[Feature]], systems: u64, seed: u64) -> Tally {
    let (mut tally, mut dice) = (Tally::default(), Dice::new(seed));
    while tally.systems < systems {
        let mut wanted: Vec<Feature> = choices.iter().map(|of| dice.pick(of)).collect();
        wanted.dedup();
        let load = dice.between(10, 90) as f64 / 100.0;
        let Some(system) = featured(&wanted, dice.next() >> 1, load) else { continue };
        tally.systems += 1;
        let mut us = || Duration::from_nanos(dice.between(100, 4_000));
        let costs = match system.machine.overheads {
            true => Costs { release: us(), schedule: us(), switch: us(), inter_core: us(), complete: us() },
            false => Costs::default(),
        };
        let found = check(&system, &costs);
        if !found.accepted || !found.tasks.iter().any(|task| task.bound().is_some()) {
            continue;
        }
        tally.bounded += found.tasks.iter().filter(|task| task.bound().is_some()).count() as u64;
        let Ok(worst) = try_longest(&system, &found, &costs, demands(&system, &mut dice)) else { continue };
        tally.runs += 1;
        if let Some((n, took, limit)) = beaten(&system, &found, &worst) {
            panic!("{wanted:?}: {} took {took} against {limit}\n{found}\n{system:#?}", system.tasks[n].name);
        }
        tally.near += near(&found, &worst);
    }
    tally
}

fn near(found: &Check, worst: &[Duration]) -> u64 {
    let near = |(task, worst): (&tactus_analysis::TaskCheck, &Duration)| match task.bound() {
        Some(Bound::Response(bound)) => *worst >= bound - bound / 10,
        Some(Bound::Tardiness(_)) | None => false,
    };
    found.tasks.iter().zip(worst).filter(|it| near(*it)).count() as u64
}

/// What arrives with jitter, beside all that one core's tests cover.
fn attack_jitter(systems: u64, seed: u64) -> Tally {
    let beside = [
        Feature::PreemptionThreshold,
        Feature::SectionNonPreemptive,
        Feature::SectionCeiling,
        Feature::SectionInheritance,
        Feature::SectionMsrp,
        Feature::SectionFmlp,
        Feature::SectionAcrossCores,
        Feature::NestedSections,
        Feature::Wait,
        Feature::ArbitraryDeadline,
        Feature::Kill,
    ];
    let orders =
        [Feature::FixedPriority, Feature::FixedPriority, Feature::EarliestDeadline, Feature::DeadlineMonotonic];
    attack(&[&[Feature::Jitter, Feature::Jitter, Feature::Burst], &orders, &beside, &beside], systems, seed)
}

#[test]
fn no_job_with_jitter_beats_its_bound_beside_thresholds_sections_and_waits() {
    let tally = attack_jitter(300, 1);
    assert!(tally.bounded > 300 && tally.runs > 60 && tally.near > 20, "{tally:?}");
}

#[test]
fn offsets_are_used() {
    for kind in ["partitioned-edf", "partitioned-fp"] {
        let priority = |n: u32| if kind == "partitioned-fp" { format!(", priority = {n}") } else { String::new() };
        let task = |offset: u32| {
            let priority = priority(2 - offset / 5);
            format!("period = '10 ms', execution = '5 ms', deadline = '5 ms', offset = '{offset} ms'{priority}")
        };
        assert_eq!(responses(kind, &[&task(0), &task(5)]), (true, vec![Some(ms(5)); 2]));
    }
    // Jobs at 1, 5, 12, 15 and 30 ms, as an exercise has them: in time in the order of their deadlines.
    let job = |(offset, execution, deadline)| {
        format!("period = '100 ms', execution = '{execution} ms', deadline = '{deadline} ms', offset = '{offset} ms'")
    };
    let jobs = [(1, 10, 19), (5, 6, 10), (12, 10, 28), (15, 6, 15), (30, 10, 20)].map(job);
    let jobs: Vec<&str> = jobs.iter().map(String::as_str).collect();
    let right = [16, 6, 21, 8, 13].map(|n| Some(ms(n)));
    assert_eq!(responses("partitioned-edf", &jobs), (true, right.to_vec()));
}

#[test]
fn the_schedule_of_periods_without_end_is_not_worked_out() {
    let primes = [101, 103, 107, 109, 113, 127, 131, 137, 139, 149];
    let task = |(n, period): (usize, u64)| {
        format!("period = '{period} ms', execution = '9 ms', offset = '{} ms', deadline = '80 ms'", n % 3)
    };
    let tasks: Vec<String> = primes.into_iter().enumerate().map(task).collect();
    let tasks: Vec<&str> = tasks.iter().map(String::as_str).collect();
    let found = check(&system("partitioned-edf", &tasks), &Costs::default());
    assert!(found.findings[0].what.contains("; offsets are not used: the schedule"), "{found}");
}

/// A system of one core whose tasks have offsets and short hyperperiods, and with `sections` perhaps a resource.
fn with_offsets(dice: &mut Dice, sections: bool) -> System {
    let kind = dice.pick(&["partitioned-fp", "partitioned-edf", "partitioned-dm", "partitioned-rm"]);
    let count = dice.between(2, 5);
    let load = dice.between(500, 1_050);
    let weights: Vec<u64> = (0..count).map(|_| dice.between(5, 100)).collect();
    let sum: u64 = weights.iter().sum();
    let overheads = sections && dice.between(0, 1) == 0;
    let head = format!(
        "[system]\ncores = 1\nduration = '600 ms'\n[machine]\noverheads = {overheads}\n[policy]\nkind = '{kind}'\n"
    );
    let protocol = dice.pick(&["ceiling", "non-preemptive", "inheritance"]);
    let resource =
        if sections { format!("[[resource]]\nname = 'r'\nprotocol = '{protocol}'\n") } else { String::new() };
    let mut text = head + &resource;
    for (n, weight) in weights.iter().enumerate() {
        let period = dice.pick(&[4, 5, 6, 8, 10, 12, 15, 20, 24, 30]) * 1_000;
        let execution = (period * load * weight / sum / 1_000).max(50);
        let offset = dice.between(0, 1) * dice.between(0, period);
        let (least, most) = (execution.max(period / 3), period * dice.pick(&[1, 1, 2]));
        let deadline = dice.between(least, most.max(least));
        text += &format!("[[task]]\nname = 't{n}'\ncore = 0\nperiod = '{period} us'\nexecution = '{execution} us'\n");
        text += &format!("offset = '{offset} us'\ndeadline = '{deadline} us'\n");
        if kind == "partitioned-fp" {
            text += &format!("priority = {}\n", dice.between(1, 4));
        }
        if sections && dice.between(0, 2) > 0 {
            let (after, length) = (execution / 4, dice.between(1, execution / 2));
            text += &format!("sections = [{{ resource = 'r', after = '{after} us', length = '{length} us' }}]\n");
        }
    }
    System::parse_toml(&text, Path::new("model.toml")).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Attacks systems with offsets by jobs that take all they may, and by some that take less: how many were accepted, how many of them by their
/// offsets, and how many responses reached their bound. Without sections and costs all do.
fn attack_offsets(systems: u64, sections: bool, seed: u64) -> [u64; 3] {
    let (mut dice, mut tally) = (Dice::new(seed), [0; 3]);
    for _ in 0..systems {
        let system = with_offsets(&mut dice, sections);
        let us = |dice: &mut Dice| Duration::from_nanos(dice.between(100, 9_000));
        let mut costs = Costs::default();
        if system.machine.overheads {
            let [release, schedule, switch, inter_core, complete] = [(); 5].map(|()| us(&mut dice));
            costs = Costs { release, schedule, switch, inter_core, complete };
        }
        let found = check(&system, &costs);
        if !found.accepted {
            continue;
        }
        tally[0] += 1;
        let by_offsets = |by: &str| by.contains("by its offsets");
        tally[1] += u64::from(found.tasks.iter().any(|task| by_offsets(task.explanation())));
        let full =
            try_longest(&system, &found, &costs, |task, _| system.tasks[task.index()].budget()).expect("it runs");
        let less = try_longest(&system, &found, &costs, demands(&system, &mut dice)).expect("it runs");
        for worst in [&full, &less] {
            if let Some((n, took, limit)) = beaten(&system, &found, worst) {
                panic!("{} took {took} against {limit}\n{found}\n{system:#?}", system.tasks[n].name);
            }
        }
        for (task, worst) in found.tasks.iter().zip(&full) {
            let exact = task.bound() == Some(Bound::Response(*worst));
            tally[2] += u64::from(exact);
            assert!(
                exact || sections || !by_offsets(task.explanation()),
                "{} took {worst} at most\n{found}",
                task.name
            );
        }
    }
    tally
}

#[test]
fn bounds_by_offsets_are_met_exactly_and_never_beaten_by_jobs_that_take_less() {
    let [accepted, by_offsets, exact] = attack_offsets(300, false, 11);
    assert!(accepted > 60 && by_offsets > 40 && exact > 150, "{accepted} {by_offsets} {exact}");
    let [accepted, by_offsets, _] = attack_offsets(300, true, 12);
    assert!(accepted > 60 && by_offsets > 30, "{accepted} {by_offsets}");
}

#[test]
fn a_later_job_of_a_busy_period_is_the_worst_where_deadlines_are_beyond_periods() {
    // Lehoczky 1990, table 1.
    let first = "period = '70 ms', execution = '26 ms'";
    let second = "period = '100 ms', execution = '62 ms', deadline = '118 ms'";
    let fixed = |keys: &str, priority: u32| format!("{keys}, priority = {priority}");
    let (accepted, found) = responses("partitioned-fp", &[&fixed(first, 2), &fixed(second, 1)]);
    assert_eq!((accepted, found), (true, vec![Some(ms(26)), Some(ms(118))]));
    let less = second.replace("118", "117");
    assert!(!responses("partitioned-fp", &[&fixed(first, 2), &fixed(&less, 1)]).0);
    // With the earliest deadline first it has room.
    assert!(responses("partitioned-edf", &[first, &less]).0);
}

/// Deadlines beyond the next release, in each order of one core.
fn attack_late_deadlines(systems: u64, seed: u64) -> Tally {
    let beside = [
        Feature::PreemptionThreshold,
        Feature::SectionCeiling,
        Feature::SectionInheritance,
        Feature::Wait,
        Feature::Sporadic,
        Feature::After,
        Feature::Offset,
        Feature::Jitter,
        Feature::Kill,
    ];
    let orders = [
        Feature::FixedPriority,
        Feature::DeadlineMonotonic,
        Feature::EarliestDeadline,
        Feature::FirstComeFirstServed,
        Feature::RoundRobin,
        Feature::LeastLaxity,
    ];
    attack(&[&[Feature::ArbitraryDeadline], &orders, &beside], systems, seed)
}

#[test]
fn no_job_that_is_due_after_the_next_release_beats_its_bound() {
    let tally = attack_late_deadlines(300, 21);
    assert!(tally.bounded > 300 && tally.runs > 60 && tally.near > 20, "{tally:?}");
}

/// A system of this many tasks on eight cores, each asked for 0.7 of its time.
fn crowd(tasks: u64, kind: &str) -> System {
    let mut text =
        format!("[system]\ncores = 8\nduration = '400 ms'\n[machine]\noverheads = false\n[policy]\nkind = '{kind}'\n");
    let mut dice = Dice::new(tasks);
    for n in 0..tasks {
        let period = dice.between(10_000, 200_000);
        let execution = (period * 56 / 10 / tasks).max(1);
        text += &format!(
            "[[task]]\nname = 't{n}'\ncore = {}\nperiod = '{period} us'\nexecution = '{execution} us'\n",
            n % 8
        );
    }
    System::parse_toml(&text, Path::new("crowd.toml")).unwrap_or_else(|error| panic!("{error}"))
}

/// Checks and simulates it, and says how long the check took.
fn crowd_holds(tasks: u64, kind: &str) -> std::time::Duration {
    let system = crowd(tasks, kind);
    let begin = std::time::Instant::now();
    let found = check(&system, &Costs::default());
    let took = begin.elapsed();
    assert!(found.accepted, "{kind}: {}", found.summary);
    let worst = try_longest(&system, &found, &Costs::default(), |task, _| system.tasks[task.index()].budget());
    assert_eq!(beaten(&system, &found, &worst.expect("it runs")), None);
    took
}

#[test]
fn five_hundred_tasks_with_periods_of_any_kind_are_checked_and_simulated() {
    for kind in ["partitioned-rm", "partitioned-edf"] {
        crowd_holds(500, kind);
    }
    // A motor's controller, with a period that no machine serves.
    assert!(responses("partitioned-fp", &["period = '50 us', execution = '5 us', priority = 3"]).0);
}

#[test]
#[ignore = "4,000 tasks: cargo test --release -p tactus-analysis --test all models::four -- --ignored --nocapture"]
fn four_thousand_tasks_are_checked_in_seconds() {
    for (tasks, kind) in [100, 1_000, 4_000].into_iter().flat_map(|n| [(n, "partitioned-rm"), (n, "partitioned-edf")]) {
        println!("{tasks} tasks, {kind}: {:?}", crowd_holds(tasks, kind));
    }
}

#[test]
#[ignore = "5,000 systems of each model; minutes: cargo test --release -p tactus-analysis --test all models:: -- --ignored --nocapture"]
fn many_systems_of_each_model() {
    println!("jitter: {:?}", attack_jitter(5_000, 2));
    println!("offsets: accepted, by their offsets, met: {:?}", attack_offsets(5_000, false, 13));
    println!("offsets beside sections: {:?}", attack_offsets(5_000, true, 14));
    println!("deadlines beyond periods: {:?}", attack_late_deadlines(5_000, 22));
}
