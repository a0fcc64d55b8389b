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
#[ignore = "5,000 systems of each model; minutes: cargo test --release -p tactus-analysis --test all models:: -- --ignored --nocapture"]
fn many_systems_of_each_model() {
    println!("jitter: {:?}", attack_jitter(5_000, 2));
}
