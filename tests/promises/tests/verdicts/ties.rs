//! Jobs that end in the instant of their task's next release: completions of an instant come before its releases, on whatever cores. So
//! policy, simulator, replay and judge have it.

use crate::{planned, run};
use std::collections::HashMap;
use std::fmt::Write;
use tactus_generate::Random;
use tactus_record::{EventKind, Record};
use tactus_sim::lockstep::lockstep;
use tactus_time::{Duration, TaskId};
use tactus_trace::check::{self, Rule};
use tactus_trace::{judge, Trace, Verdict};

/// Both cores are full, and each job of `b` ends in the instant at which the next one is released.
const FULL: &str = "
    [system]
    cores = 2
    duration = '100 ms'
    [policy]
    kind = 'global-fp'
    [machine]
    overheads = false
    [[task]]
    name = 'a'
    period = '2 ms'
    execution = '2 ms'
    priority = 2
    [[task]]
    name = 'b'
    period = '6 ms'
    execution = '6 ms'
    priority = 1
    overrun = 'skip'";

/// How many jobs of the task were released, and how many of them left out.
fn left_out(trace: &Trace, task: TaskId) -> (usize, usize) {
    let own = |kind| trace.cores.iter().flatten().filter(move |r| r.kind == kind && r.task == Some(task));
    (own(EventKind::Release).count(), own(EventKind::Dropped).count())
}

#[test]
fn a_job_that_ends_in_the_instant_of_the_next_release_leaves_out_none() {
    let (system, promised) = planned(FULL);
    let mut trace = run(&system, &promised);
    assert_eq!(left_out(&trace, TaskId(1)), (17, 0));
    let summary = judge(&promised.view, &trace);
    assert_eq!(summary.verdict, Verdict::Held, "{}", summary.headline());
    // One that is left out for no reason, in place of its start.
    let records = &mut trace.cores;
    let start = records
        .iter_mut()
        .flatten()
        .find(|r| r.kind == EventKind::Dispatch && r.task == Some(TaskId(1)) && r.time.as_nanos() == 6_000_000);
    let start = start.expect("job 1 of b begins at 6 ms");
    *start = Record { kind: EventKind::Dropped, arg: 0, ..*start };
    let found = check::all(&promised.view, &trace, Duration::ZERO);
    assert!(found.iter().any(|it| it.rule == Rule::Overrun && it.job == Some(1)), "{found:?}");
}

/// A system whose jobs take whole milliseconds of whole milliseconds, so that much happens at once.
fn system(random: &mut Random) -> String {
    let cores = random.between(1, 3);
    let kinds = ["global-edf", "global-fp", "global-dm", "global-fifo", "global-rr", "clustered-rm", "partitioned-edf"];
    let kind = *random.of(&kinds);
    let clusters = match (kind.starts_with("clustered"), cores) {
        (false, _) => "",
        (true, 1) => "clusters = [[0]]\n",
        (true, 2) => "clusters = [[0, 1]]\n",
        (true, _) => "clusters = [[0, 1], [2]]\n",
    };
    let quantum = if kind == "global-rr" { "quantum = '1 ms'\n" } else { "" };
    let mut text = format!(
        "[system]\ncores = {cores}\nduration = '60 ms'\n[machine]\noverheads = false\n[policy]\nkind = '{kind}'\n{clusters}{quantum}"
    );
    for n in 0..random.between(2, 5) {
        let period = random.between(2, 8);
        let execution = random.between(1, period);
        let actual = random.between(1, period + 2);
        let overrun = *random.of(&["continue", "skip", "skip", "kill", "stop"]);
        let place = match kind {
            "clustered-rm" => format!("cluster = {}\n", random.between(0, u64::from(cores > 2))),
            "partitioned-edf" => format!("core = {}\n", random.between(0, cores - 1)),
            "global-fp" => format!("priority = {n}\n"),
            _ => String::new(),
        };
        let _ = write!(
            text,
            "[[task]]\nname = 't{n}'\nperiod = '{period} ms'\nexecution = '{execution} ms'\nactual = '{actual} ms'\n\
             overrun = '{overrun}'\n{place}"
        );
    }
    text
}

/// Runs one of them. How many jobs were left out, and how many ended in the instant of a release.
fn tied(seed: u64) -> (usize, usize) {
    let text = system(&mut Random::new(seed ^ 0x7469_6573));
    let (system, promised) = planned(&text);
    let trace = run(&system, &promised);
    let found = check::all(&promised.view, &trace, Duration::ZERO);
    assert!(found.is_empty(), "seed {seed}: {found:?}\n{text}");
    let demand = |task: TaskId, job| Some(system.tasks[task.index()].demand(system.seed, task, job));
    let replayed = lockstep(&promised.setup, demand, &trace, Duration::ZERO).expect("a good set-up");
    assert!(replayed.is_ok(), "seed {seed}: {replayed:?}\n{text}");
    let mut ended: HashMap<TaskId, Vec<u64>> = HashMap::new();
    for r in trace.cores.iter().flatten().filter(|r| r.kind == EventKind::Complete) {
        ended.entry(r.task.expect("a job's")).or_default().push(r.time.as_nanos());
    }
    let (mut all, mut ties) = (0, 0);
    for (task, ended) in &ended {
        let period = system.tasks[task.index()].period.as_nanos();
        ties += ended.iter().filter(|at| *at % period == 0).count();
    }
    for task in (0..system.tasks.len()).map(|n| TaskId(n as u16)) {
        all += left_out(&trace, task).1;
    }
    (all, ties)
}

/// The same for so many of them.
fn tied_in(systems: u64) -> (usize, usize) {
    (0..systems).map(tied).fold((0, 0), |sum, it| (sum.0 + it.0, sum.1 + it.1))
}

#[test]
fn systems_full_of_ties_are_judged_and_replayed_as_they_run() {
    let (left_out, ties) = tied_in(100);
    assert!(left_out > 100 && ties > 300, "{left_out} {ties}");
}

#[test]
#[ignore = "evidence, not a daily test"]
fn twenty_thousand_systems_full_of_ties_are_judged_and_replayed_as_they_run() {
    println!("left out, ties: {:?}", tied_in(20_000));
}
