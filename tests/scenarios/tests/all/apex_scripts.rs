//! Random partitions of ARINC 653 on the machine against a reference model of the standard (`tactus_scenarios::apex`): what each process
//! does, with which return codes and when, and which deadlines are missed, noticed when.
//!
//! ```text
//! TACTUS_APEX_SYSTEMS=300 cargo test --release -p tactus-scenarios --test all apex_scripts -- --ignored --nocapture
//! ```

use std::time::Instant;
use tactus_scenarios::apex::{
    draw, predict, scripts, Handling, Partition, Said, Script, Step, StepResult, Story, System,
};
use tactus_scenarios::{Finished, Scratch};
use tactus_time::Duration;

/// What a step takes on the machine at most, with all that the system does about it, and how much later than the model something may come
/// in the end.
const STEP: Duration = Duration::from_micros(20);
const LATE: Duration = Duration::from_micros(400);
/// What is not looked at, at the end of a run.
const REST: Duration = Duration::from_millis(2);

/// When a run of a number of milliseconds is looked at no more.
fn end(duration: u64) -> Duration {
    Duration::from_millis(duration).saturating_sub(REST)
}

/// What the model says must come, if it is the same whether steps take time or not.
fn certain(partition: &Partition, duration: u64) -> Option<Story> {
    let end = end(duration);
    let cut = |step| {
        let mut story = predict(partition, duration, step);
        story.told.retain(|it| it.at < end);
        story.missed.retain(|(.., noticed)| *noticed < end);
        story
    };
    let (soon, late) = (cut(Duration::ZERO), cut(STEP));
    let same = |who: char| {
        let of = |story: &Story| -> Vec<(String, u32, u64)> {
            let of = story.told.iter().filter(|it| it.who == who);
            of.map(|it| (it.what.clone(), it.code, it.at / Duration::from_millis(1))).collect()
        };
        let missed = |story: &Story| -> Vec<(u64, u64)> {
            let of = story.missed.iter().filter(|(whose, ..)| *whose == who);
            of.map(|(_, at, noticed)| (*at / Duration::from_millis(1), *noticed / Duration::from_millis(1))).collect()
        };
        of(&soon) == of(&late) && missed(&soon) == missed(&late)
    };
    let all = partition.scripts.iter().map(|it| it.who).chain(['-', '!']);
    all.into_iter().all(same).then_some(soon)
}

/// The first thing of somebody that did not come as the model says.
fn difference(partition: &Partition, expected: &Story, came: &Story, end: Duration) -> Option<String> {
    let in_time = |expected: Duration, came: Duration| came >= expected && came <= expected + LATE;
    for who in partition.scripts.iter().map(|it| it.who).chain(['-', '!']) {
        let of = |story: &Story| -> Vec<StepResult> { story.told.iter().filter(|it| it.who == who).cloned().collect() };
        let (all, seen) = (of(expected), of(came));
        for (n, wanted) in all.iter().enumerate() {
            let good =
                |it: &&StepResult| (&it.what, it.code) == (&wanted.what, wanted.code) && in_time(wanted.at, it.at);
            if seen.get(n).filter(good).is_none() {
                return Some(format!("{who}: {wanted:?} must come, and {:?} does", seen.get(n)));
            }
        }
        if let Some(more) = seen.get(all.len()).filter(|it| it.at < end) {
            return Some(format!("{who}: {more:?} comes, and must not"));
        }
        let of =
            |story: &Story| -> Vec<_> { story.missed.iter().filter(|(whose, ..)| *whose == who).cloned().collect() };
        let (all, seen) = (of(expected), of(came));
        for (n, (_, deadline, noticed)) in all.iter().enumerate() {
            let good = |it: &&(char, Duration, Duration)| in_time(*deadline, it.1) && in_time(*noticed, it.2);
            if seen.get(n).filter(good).is_none() {
                let seen = seen.get(n);
                return Some(format!("{who}: misses {deadline}, noticed at {noticed}, and {seen:?} is recorded"));
            }
        }
        if let Some(more) = seen.get(all.len()).filter(|(.., noticed)| *noticed < end) {
            return Some(format!("{who}: {more:?} is recorded, and is no miss"));
        }
    }
    None
}

/// Runs the system, and holds each of its partitions against the model. How many it was held against, and how many things these told and
/// missed.
fn hold(system: &System, name: &str) -> (usize, usize, usize) {
    let certain: Vec<Option<Story>> = system.partitions.iter().map(|it| certain(it, system.duration)).collect();
    if certain.iter().all(Option::is_none) {
        return (0, 0, 0);
    }
    let scratch = Scratch::new(name);
    let run = Finished::run(&scratch.write("scripts.toml", &scripts(system)), &[]);
    let (trace, mut found) = (run.trace(), (0, 0, 0));
    for (n, expected) in certain.iter().enumerate() {
        let Some(expected) = expected else { continue };
        let came = Said { log: &run.log, trace: &trace }.story(system, n);
        let names: Vec<String> = system.partitions[n].scripts.iter().map(|it| it.name()).collect();
        if let Some(difference) = difference(&system.partitions[n], expected, &came, end(system.duration)) {
            panic!(
                "{difference}\npartition {n} of {names:?}\n{:?}\n{}\n{}",
                system.partitions[n], run.log, run.said.output
            );
        }
        found = (found.0 + 1, found.1 + expected.told.len(), found.2 + expected.missed.len());
    }
    found
}

fn several(seeds: std::ops::Range<u64>) -> (usize, usize, usize) {
    let mut sum = (0, 0, 0);
    for seed in seeds {
        let found = hold(&draw(seed), &format!("apex-scripts-{seed}"));
        sum = (sum.0 + found.0, sum.1 + found.1, sum.2 + found.2);
    }
    sum
}

/// A periodic process that never ends in its second job is restarted by its health table, one by the error handler, and an aperiodic one
/// that never ends at all: each as often as its deadline comes.
#[test]
fn processes_that_never_end_begin_again_and_again() {
    let process = |periodic, capacity, steps: &[Step]| Script {
        who: 'a',
        periodic,
        period: 20,
        capacity,
        hard: true,
        started: true,
        handling: Handling::Restart,
        steps: steps.into(),
    };
    let partition = |script, handler: Option<u64>, start| Partition {
        scripts: vec![script],
        handler,
        restarts: handler.is_none(),
        window: (start, 6),
        frame: 20,
    };
    let ends_once = [Step::Compute(1), Step::Period, Step::Forever];
    let partitions = vec![
        partition(process(true, 5, &ends_once), None, 0),
        partition(process(true, 10, &ends_once), Some(20), 7),
        partition(process(false, 15, &[Step::Compute(1), Step::Forever]), None, 14),
    ];
    let system = System { partitions, duration: 400 };
    let begins = |partition| {
        let story = certain(partition, system.duration).expect("nothing hangs on what steps take");
        story.told.iter().filter(|it| it.what == "begin").count()
    };
    let all: Vec<usize> = system.partitions.iter().map(begins).collect();
    assert_eq!(all, [10, 7, 20]);
    assert_eq!(hold(&system, "apex-never-ends").0, 3);
}

#[test]
fn the_error_handler_is_told_the_oldest_error_first_also_where_a_process_has_missed_two_deadlines() {
    let process = |who, periodic, period, capacity, steps: &[Step]| Script {
        who,
        periodic,
        period,
        capacity,
        hard: true,
        started: true,
        handling: Handling::Ignore,
        steps: steps.into(),
    };
    // Of 3, 5 and 13 ms, which the handler takes at 20.
    let late = process('a', true, 10, 3, &[Step::Compute(4), Step::Period, Step::Again]);
    let waits = process('b', false, 20, 5, &[Step::Compute(1), Step::Sleep(35)]);
    let scripts = vec![late, waits];
    let partition = Partition { scripts, handler: Some(20), restarts: false, window: (0, 20), frame: 20 };
    let system = System { partitions: vec![partition], duration: 100 };
    let story = certain(&system.partitions[0], system.duration).expect("nothing hangs on what steps take");
    let taken: String = story.told.iter().filter(|it| it.who == '!').map(|it| it.what.as_str()).collect();
    assert!(taken.starts_with("aba"), "{taken}");
    assert_eq!(hold(&system, "apex-oldest").0, 1);
}

#[test]
fn random_partitions_do_on_the_machine_what_the_standard_says() {
    let (partitions, told, missed) = several(0..4);
    println!("{partitions} partitions, {told} steps, {missed} deadlines missed");
    assert!(partitions >= 4 && told >= 200 && missed >= 10);
}

#[test]
#[ignore = "takes a second for each system; TACTUS_APEX_SYSTEMS says how many, TACTUS_APEX_SEED which is the first"]
fn many_random_partitions_do_on_the_machine_what_the_standard_says() {
    let number = |name: &str, usual: u64| std::env::var(name).ok().and_then(|it| it.parse().ok()).unwrap_or(usual);
    let (first, count) = (number("TACTUS_APEX_SEED", 1_000), number("TACTUS_APEX_SYSTEMS", 300));
    let begun = Instant::now();
    let (partitions, told, missed) = several(first..first + count);
    println!(
        "{count} systems, {partitions} partitions, {told} steps, {missed} deadlines missed, {:?}",
        begun.elapsed()
    );
    assert!(partitions as u64 >= count / 2);
}
