//! Tasks that arrivals, bursts of them and completions release, against an oracle that sorts everything at every instant; and their bounds and
//! those of their chains.

use crate::ceilings::draw;
use crate::common::oracle::{parsed, releases_and_completions};
use std::fmt::Write;
use std::path::Path;
use tactus_generate::Random;
use tactus_model::{Release, System};
use tactus_plan::plan;
use tactus_record::EventKind;
use tactus_sim::{simulate_with_arrivals, Costs};
use tactus_task::{Burst, EarlyArrival};
use tactus_time::{Duration, TaskId};
use tactus_trace::{judge, Trace, Verdict};

const POLICIES: [(&str, bool, char); 6] = [
    ("partitioned-edf", true, 'd'),
    ("partitioned-fp", true, 'p'),
    ("partitioned-rm", true, 'r'),
    ("global-edf", false, 'd'),
    ("global-fp", false, 'p'),
    ("global-rm", false, 'r'),
];
const LENGTH: u64 = 400;

/// One task of a drawn system; all times in milliseconds.
#[derive(Debug)]
struct Drawn {
    core: u64,
    period: u64,
    deadline: u64,
    time: u64,
    priority: u64,
    release: Release,
    longest: u64,
}

impl Drawn {
    /// The least time from an arrival to the k-th after it.
    fn least(&self, k: u64) -> u64 {
        let Release::Bursts(_, Burst { jitter, distance }) = self.release else { return k * self.period };
        let [jitter, distance] = [jitter, distance].map(|it| it.as_nanos() / 1_000_000);
        (k * self.period).saturating_sub(jitter).max(k * distance)
    }
}

/// A system of up to seven tasks: periodic, sporadic, and released by others. `light`: little enough that many are accepted.
fn system(seed: u64, light: bool) -> (System, Vec<Drawn>, (bool, char)) {
    let mut draw = Random::new(seed);
    let (kind, partitioned, order) = POLICIES[draw.below(6) as usize];
    let cores = 1 + draw.below(2);
    let mut text = format!(
        "[system]\ncores = {cores}\nduration = '{LENGTH} ms'\nseed = {seed}\n[machine]\noverheads = false\n[policy]\nkind = '{kind}'\n"
    );
    let mut tasks: Vec<Drawn> = Vec::new();
    for n in 0..2 + draw.below(6) {
        let period = 5 + draw.below(36);
        let most = if light { 1 + period / 6 } else { 1 + period / 2 };
        let early = EarlyArrival::ALL[[0, 0, 0, 0, 1, 2][draw.below(6) as usize]];
        let mut one = Drawn {
            core: draw.below(cores),
            period,
            deadline: period,
            time: 1 + draw.below(most),
            priority: draw.below(5),
            release: Release::Periodic,
            longest: period + draw.below(30),
        };
        match draw.below(4) {
            0 if n > 0 && !matches!(tasks[n as usize / 2].release, Release::Bursts(..)) => {
                let before = n as usize / 2;
                // Not longer than that of its predecessor, and on its core.
                one.period = one.period.min(tasks[before].period).max(2);
                one.core = tasks[before].core;
                one.release = Release::After(TaskId(before as u16), early);
            }
            1 => one.release = Release::Sporadic(early),
            2 => {
                let ms = Duration::from_millis;
                let distance = ms(draw.below(4).min(period));
                one.release = Release::Bursts(early, Burst { jitter: ms(1 + draw.below(4 * period)), distance });
                one.longest = draw.below(2 * period);
            }
            _ => {}
        }
        if let Release::After(before, _) = one.release {
            one.period = one.period.min(tasks[before.index()].period);
        }
        if one.release.burst().is_none() {
            one.longest = one.longest.max(one.period);
        }
        one.time = one.time.min(one.period);
        one.deadline = one.time + draw.below(one.period - one.time + 1);
        write!(
            text,
            "[[task]]\nname = 't{n}'\nperiod = '{} ms'\ndeadline = '{} ms'\nexecution = '{} ms'\n",
            one.period, one.deadline, one.time
        )
        .expect("text");
        if partitioned {
            writeln!(text, "core = {}", one.core).expect("text");
        }
        if order == 'p' {
            writeln!(text, "priority = {}", one.priority).expect("text");
        }
        match one.release {
            Release::Periodic | Release::Jittered(_) => {}
            Release::Sporadic(_) => {
                writeln!(text, "release = 'sporadic'\nlongest-distance = '{} ms'", one.longest).expect("text")
            }
            Release::Bursts(_, Burst { jitter, distance }) => {
                let [jitter, distance] = [jitter, distance].map(|it| it.as_nanos() / 1_000_000);
                let (least, longest) = (format!("least-distance = '{distance} ms'"), one.longest);
                writeln!(
                    text,
                    "release = 'sporadic'\njitter = '{jitter} ms'\n{least}\nlongest-distance = '{longest} ms'"
                )
                .expect("text")
            }
            Release::After(before, _) => writeln!(text, "after = 't{}'", before.0).expect("text"),
        }
        match one.release.early() {
            None | Some(EarlyArrival::Delay) => {}
            Some(EarlyArrival::Drop) => text.push_str("early = 'drop'\n"),
            Some(EarlyArrival::Fault) => text.push_str("early = 'fault'\n"),
        }
        tasks.push(one);
    }
    // The longest way to each task along which nothing is dropped is a chain.
    for n in 0..tasks.len() {
        let mut way = vec![n];
        while let Release::After(before, EarlyArrival::Delay) = tasks[way[0]].release {
            way.insert(0, before.index());
        }
        if way.len() > 1 {
            let names: Vec<String> = way.iter().map(|n| format!("'t{n}'")).collect();
            let total: u64 = way.iter().map(|n| tasks[*n].period).sum();
            let names = names.join(", ");
            write!(text, "[[chain]]\nname = 'to t{n}'\ntasks = [{names}]\ndeadline = '{total} ms'\n").expect("text");
        }
    }
    let system =
        System::parse_toml(&text, Path::new("drawn.toml")).unwrap_or_else(|problems| panic!("{problems}\n{text}"));
    (system, tasks, (partitioned, order))
}

/// When each job of each task was released and completed (ms), by an oracle that advances a millisecond at a time.
fn oracle(
    tasks: &[Drawn],
    (partitioned, order): (bool, char),
    cores: usize,
    arrivals: &mut [Vec<u64>],
) -> Vec<Vec<(u64, Option<u64>)>> {
    let mut jobs: Vec<Vec<(u64, Option<u64>, u64)>> = tasks.iter().map(|_| Vec::new()).collect();
    // All nominal releases of each task, in their order.
    let mut past: Vec<Vec<u64>> = vec![Vec::new(); tasks.len()];
    // What has been given a nominal release that is still to come.
    let mut waiting: Vec<Vec<u64>> = tasks.iter().map(|_| Vec::new()).collect();
    let mut ended: Vec<usize> = Vec::new();
    for now in 0..LENGTH {
        for (n, task) in tasks.iter().enumerate() {
            let arrived = match task.release {
                // None with jitter is drawn: see `jitter.rs`.
                Release::Periodic | Release::Jittered(_) => usize::from(now % task.period == 0),
                Release::Sporadic(_) | Release::Bursts(..) => {
                    let before = arrivals[n].len();
                    arrivals[n].retain(|at| *at != now);
                    before - arrivals[n].len()
                }
                Release::After(of, _) => ended.iter().filter(|it| **it == of.index()).count(),
            };
            for _ in 0..arrived {
                // Behind each release before it, the k-th last one, at least what the curve says of k arrivals.
                let behind = |(k, at): (u64, &u64)| at + task.least(k);
                let nominal = (1..).zip(past[n].iter().rev()).map(behind).fold(now, u64::max);
                if nominal > now && task.release.early() == Some(EarlyArrival::Drop) {
                    continue;
                }
                let queued = waiting[n].len() + jobs[n].iter().filter(|job| job.1.is_none()).count();
                assert!(queued <= 16, "too many for the policy to keep");
                past[n].push(nominal);
                waiting[n].push(nominal);
            }
            while waiting[n].first() == Some(&now) {
                jobs[n].push((waiting[n].remove(0), None, task.time));
            }
        }
        let key = |n: &usize, release: u64| match order {
            'd' => (release + tasks[*n].deadline, *n),
            'r' => (tasks[*n].period, *n),
            _ => (1_000 - tasks[*n].priority, *n),
        };
        // The first unfinished job of each task.
        let mut ready: Vec<(usize, usize)> = Vec::new();
        for (n, all) in jobs.iter().enumerate() {
            ready.extend(all.iter().position(|job| job.1.is_none()).map(|job| (n, job)));
        }
        ready.sort_by_key(|(n, job)| key(n, jobs[*n][*job].0));
        ended.clear();
        let mut free = vec![1; if partitioned { cores } else { 1 }];
        if !partitioned {
            free[0] = cores;
        }
        for (n, job) in ready {
            let core = if partitioned { tasks[n].core as usize } else { 0 };
            if free[core] > 0 {
                free[core] -= 1;
                let job = &mut jobs[n][job];
                job.2 -= 1;
                if job.2 == 0 {
                    job.1 = Some(now + 1);
                    ended.push(n);
                }
            }
        }
    }
    jobs.into_iter().map(|all| all.into_iter().map(|job| (job.0, job.1)).collect()).collect()
}

/// When something arrives for each task (ms): as the system says, rounded so that the oracle's steps meet it; or, for every other one
/// whose arrivals come in bursts, as they like, though hardly more often than once a period.
fn arrivals_of(seed: u64, system: &System, tasks: &[Drawn]) -> Vec<Vec<u64>> {
    let mut draw = Random::new(seed ^ 0x6275);
    let mut all: Vec<Vec<u64>> = vec![Vec::new(); tasks.len()];
    let ms = |at: tactus_time::Instant| at.as_nanos() / 1_000_000;
    for (task, arrivals) in system.arrivals() {
        let one = &tasks[task.index()];
        all[task.index()] = if one.release.burst().is_some() && draw.below(2) == 0 {
            let next = |at: &u64| Some(at + draw.below(5 * one.period / 2 + 1));
            std::iter::successors(Some(0), next).take_while(|at| *at < LENGTH).collect()
        } else {
            arrivals.map(ms).take_while(|at| *at < LENGTH).collect()
        };
    }
    all
}

fn simulated(system: &System, arrivals: &[Vec<u64>]) -> (Trace, Verdict) {
    let check = tactus_analysis::check(system, &Costs::default());
    let plan = plan(system, &check, &Costs::default());
    let instant = |ms: u64| tactus_time::Instant::ZERO + Duration::from_millis(ms);
    let boxed = |(n, all): (usize, &Vec<u64>)| -> tactus_sim::Arrivals {
        (TaskId(n as u16), Box::new(all.clone().into_iter().map(instant)))
    };
    let arrivals = arrivals.iter().enumerate().filter(|(_, all)| !all.is_empty()).map(boxed).collect();
    let demand = |task: TaskId, _| system.tasks[task.index()].budget();
    let trace = simulate_with_arrivals(&plan.setup, system.duration, (demand, arrivals), &Costs::default());
    let trace = trace.expect("the policy makes progress");
    let summary = judge(&plan.view, &trace);
    (trace, summary.verdict)
}

/// Gives how many were accepted and how many of those had chains.
fn compare(seeds: std::ops::Range<u64>) -> (usize, usize, usize) {
    let (mut accepted, mut chains, mut jobs, mut bursts, mut faults) = (0, 0, 0, 0, 0);
    for seed in seeds {
        let (system, tasks, kind) = system(seed, seed % 2 == 0);
        let total: u64 = tasks.iter().map(|task| task.time * 1_000 / task.period).sum();
        let of_core = |core: u64| {
            let on = tasks.iter().filter(|task| task.core == core);
            on.map(|task| task.time * 1_000 / task.period).sum::<u64>()
        };
        let full = if kind.0 { (0..2).any(|core| of_core(core) > 950) } else { total > 950 * system.cores as u64 };
        if full {
            // More and more jobs would wait.
            continue;
        }
        let arrivals = arrivals_of(seed, &system, &tasks);
        let (trace, verdict) = simulated(&system, &arrivals);
        let expected = oracle(&tasks, kind, system.cores, &mut arrivals.clone());
        let found = releases_and_completions(&trace, tasks.len());
        // What ends in the instant in which the run does is not recorded.
        let within = |jobs: &[(u64, Option<u64>)]| -> Vec<(u64, Option<u64>)> {
            jobs.iter().map(|job| (job.0, job.1.filter(|at| *at < LENGTH))).collect()
        };
        for (n, (expected, found)) in expected.iter().zip(&found).enumerate() {
            assert_eq!(within(found), within(expected), "seed {seed}: task {n} of {tasks:#?}");
            jobs += expected.len();
        }
        let early = |r: &tactus_record::Record| r.kind == EventKind::ArrivalEarly;
        let fault = trace.cores.iter().flatten().any(early);
        match verdict {
            Verdict::Broken(broken) if fault => {
                let text = &broken.cause.text;
                assert!(text.contains("earlier than it may"), "seed {seed}: {broken:?}");
                faults += 1;
            }
            Verdict::Held | Verdict::NothingPromised => {
                accepted += 1;
                chains += usize::from(!system.chains.is_empty());
                bursts += usize::from(tasks.iter().any(|task| task.release.burst().is_some()));
            }
            Verdict::Refused => {}
            other => panic!("seed {seed}: {other:?} of {tasks:#?}"),
        }
    }
    println!("{bursts} with bursts; {faults} with arrivals that were named as faults");
    (accepted, chains, jobs)
}

/// The schedules of docs/arrivals.md: what comes at 5 ms, 3 ms after the arrival before, has its job at 12 ms; no job; or its job at 12 ms
/// and a verdict that names the task.
#[test]
fn an_early_arrival_waits_or_is_dropped_or_is_named() {
    let drawn = |early: &str| {
        let system = parsed(&format!(
            "[system]\ncores = 1\nduration = '40 ms'\n[machine]\noverheads = false\n[policy]\nkind = 'partitioned-fp'\n\
            [[task]]\nname = 'valve'\nrelease = 'sporadic'\nearly = '{early}'\nperiod = '10 ms'\nexecution = '3 ms'\npriority = 2\n\
            [[task]]\nname = 'log'\nperiod = '40 ms'\nexecution = '20 ms'\npriority = 1\n"
        ));
        let (trace, verdict) = simulated(&system, &[vec![2, 5, 24], vec![]]);
        (draw(&trace, 1, 32), verdict)
    };
    //            0         10        20        30
    let delayed = "bbaaabbbbbbbaaabbbbbbbbbaaabb...";
    assert_eq!(drawn("delay"), (delayed.to_string(), Verdict::Held));
    assert_eq!(drawn("drop"), ("bbaaabbbbbbbbbbbbbbbbbb.aaa.....".to_string(), Verdict::Held));
    let (schedule, verdict) = drawn("fault");
    assert_eq!(schedule, delayed);
    assert!(matches!(&verdict, Verdict::Broken(it) if it.cause.text.contains("valve")), "{verdict:?}");
}

#[test]
fn what_arrives_is_scheduled_as_an_oracle_does_and_no_bound_is_beaten() {
    let (accepted, chains, jobs) = compare(0..500);
    println!("{accepted} accepted, {chains} of them with chains, {jobs} jobs equal");
    assert!(accepted > 80 && chains > 15, "{accepted}, {chains}");
}

#[test]
#[ignore = "takes minutes; run by name"]
fn the_same_for_a_hundred_thousand_systems() {
    println!("{:?} trees accepted and drawn", of_trees(300..10_300));
    let (accepted, chains, jobs) = compare(1_000..103_000);
    println!("{accepted} accepted, {chains} of them with chains, {jobs} jobs equal");
}

/// Trees of servers in which tasks release others: nothing that was accepted is broken, and every rule holds.
fn of_trees(seeds: std::ops::Range<u64>) -> (usize, usize) {
    let (mut accepted, mut drawn) = (0, 0);
    for seed in seeds {
        let Some(system) = tactus_generate::released(seed) else { continue };
        drawn += 1;
        let check = tactus_analysis::check(&system, &Costs::default());
        let plan = plan(&system, &check, &Costs::default());
        let demand = |task: TaskId, job| system.tasks[task.index()].demand(system.seed, task, job);
        let trace = simulate_with_arrivals(&plan.setup, system.duration, (demand, Vec::new()), &Costs::default());
        let summary = judge(&plan.view, &trace.expect("the policy makes progress"));
        let fine = matches!(
            summary.verdict,
            Verdict::Held | Verdict::Refused | Verdict::NothingPromised | Verdict::Void | Verdict::NoJobEnded
        );
        assert!(fine, "seed {seed}: {:?}", summary.verdict);
        accepted += usize::from(check.accepted);
    }
    (accepted, drawn)
}

#[test]
fn trees_in_which_tasks_release_others_keep_their_promises() {
    let (accepted, drawn) = of_trees(0..100);
    println!("{accepted} of {drawn} accepted");
    assert!(accepted > 1, "{accepted} of {drawn}");
}
