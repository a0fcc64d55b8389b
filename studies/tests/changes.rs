//! Random systems that change while they run: whatever is admitted, no promise is broken, and a change that does not wait
//! for its instant does break some.

use std::fmt::Write;
use std::path::Path;
use tactus_model::{Costs, System};
use tactus_policy::{Kind, Protocol};
use tactus_record::Kind as What;
use tactus_studies::promise::{made, Promised};
use tactus_time::{Duration, TaskId};
use tactus_trace::check::{changes as broken_changes, Rule};
use tactus_trace::{judge, Fate, Summary, Trace, Verdict};

/// Numbers that look random (Steele, Lea and Flood 2014: SplitMix).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    /// From the first to the last, both included.
    fn range(&mut self, first: u64, last: u64) -> u64 {
        first + self.next() % (last - first + 1)
    }
    fn of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.range(0, all.len() as u64 - 1) as usize]
    }
    fn chance(&mut self, percent: u64) -> bool {
        self.range(1, 100) <= percent
    }
}

const POLICIES: [&str; 7] = ["edf", "edf", "rm", "dm", "fp", "fifo", "llf"];
const KINDS: [&str; 6] = ["cbs-hard", "cbs-hard", "deferrable", "sporadic", "polling", "periodic"];
const PERIODS: [u64; 9] = [4_000, 5_000, 7_000, 10_000, 12_000, 15_000, 20_000, 30_000, 41_000];

/// A system as text: up to two cores; servers and tasks, of which some begin absent; and changes.
fn system(seed: u64) -> String {
    let mut random = Random(seed);
    let cores = random.range(1, 2);
    let policy = *random.of(&POLICIES);
    let servers_fit = matches!(policy, "edf" | "rm" | "dm" | "fp");
    let mut text = format!(
        "[system]\nname = 'r'\ncores = {cores}\nduration = '500 ms'\nseed = {seed}\n[machine]\noverheads = false\n\
         [policy]\nkind = 'partitioned-{policy}'\n"
    );
    let mut parts: Vec<(String, bool, u64, bool)> = Vec::new();
    let mut tasks = 0;
    for core in 0..cores {
        for s in 0..if servers_fit { random.range(0, 2) } else { 0 } {
            let (name, period) = (format!("s{core}{s}"), *random.of(&PERIODS));
            let (kind, inner) = (*random.of(&KINDS), *random.of(&["edf", "rm", "fp"]));
            let budget = period * random.range(15, 40) / 100;
            let _ = writeln!(
                text,
                "[[server]]\nname = '{name}'\ncores = [{core}]\nkind = '{kind}'\nbudget = '{budget} us'\n\
                 period = '{period} us'\npolicy = 'partitioned-{inner}'\npriority = {}",
                random.range(1, 9)
            )
            .map(|()| parts.push((name.clone(), true, period, policy == "fp")));
            for _ in 0..random.range(1, 2) {
                task(&mut random, &mut text, &mut parts, &mut tasks, core, Some((&name, budget, period)), inner);
            }
        }
        for _ in 0..random.range(2, 5) {
            task(&mut random, &mut text, &mut parts, &mut tasks, core, None, policy);
        }
    }
    // Priorities are for where they are looked at.
    if policy != "fp" {
        text = text.replace("policy = 'partitioned-edf'\npriority", "policy = 'partitioned-edf'\n#");
        text = text.replace("policy = 'partitioned-rm'\npriority", "policy = 'partitioned-rm'\n#");
        text = text.replace("policy = 'partitioned-fp'\npriority", "policy = 'partitioned-fp'\n#");
    }
    changes(&mut random, &mut text, &parts);
    text
}

fn task(
    random: &mut Random,
    text: &mut String,
    parts: &mut Vec<(String, bool, u64, bool)>,
    count: &mut u64,
    core: u64,
    server: Option<(&str, u64, u64)>,
    order: &str,
) {
    let name = format!("t{count}");
    *count += 1;
    let period = *random.of(&PERIODS) * if server.is_some() { 3 } else { 1 };
    let share = match server {
        Some((_, budget, length)) => random.range(15, 45) * budget / length,
        None => random.range(5, 35),
    };
    let execution = (period * share / 100).max(100);
    let _ = write!(
        text,
        "[[task]]\nname = '{name}'\ncore = {core}\nperiod = '{period} us'\nexecution = '{execution} us'\n\
         offset = '{} us'\n",
        random.range(0, 20) * 500 * random.range(0, 1)
    );
    if let Some((server, ..)) = server {
        let _ = writeln!(text, "server = '{server}'");
    }
    if order == "fp" {
        let _ = writeln!(text, "priority = {}", random.range(1, 9));
    }
    if random.chance(40) {
        let _ = writeln!(text, "actual = {{ min = '{} us', max = '{execution} us' }}", execution / 2);
    }
    parts.push((name, false, period, order == "fp"));
}

fn changes(random: &mut Random, text: &mut String, parts: &[(String, bool, u64, bool)]) {
    let mut there: Vec<Option<bool>> = vec![None; parts.len()];
    let mut at = 0;
    for _ in 0..random.range(3, 8) {
        at += random.range(0, 60_000) * random.range(0, 3) / 3;
        let n = random.range(0, parts.len() as u64 - 1) as usize;
        let (name, is_server, period, priority) = &parts[n];
        let _ = writeln!(text, "[[change]]\nat = '{at} us'");
        let _ = match (there[n], random.range(0, 3)) {
            (Some(false), _) | (None, 0 | 1) => {
                there[n] = Some(true);
                writeln!(text, "add = '{name}'")
            }
            (_, 2) => {
                there[n] = Some(false);
                writeln!(text, "remove = '{name}'")
            }
            _ => {
                there[n] = Some(true);
                let (what, time) = if *is_server { ("server", "budget") } else { ("task", "execution") };
                let _ = writeln!(text, "{what} = '{name}'");
                match random.range(0, if *priority { 2 } else { 1 }) {
                    0 => writeln!(text, "{time} = '{} us'", period * random.range(10, 45) / 100),
                    1 => writeln!(text, "period = '{} us'", period * random.range(60, 180) / 100),
                    _ => writeln!(text, "priority = {}", random.range(1, 9)),
                }
            }
        };
    }
}

#[derive(Default, Debug)]
struct Counts {
    accepted: u64,
    admitted: u64,
    refused: u64,
    effects: u64,
    waiting: u64,
    broken: u64,
}

fn simulated(system: &System, promised: &Promised) -> Trace {
    let demand = |task: TaskId, job| system.tasks[task.index()].demand(system.seed, task, job);
    tactus_sim::simulate(&promised.setup, system.duration, demand, &Costs::default()).expect("it runs")
}

fn run(system: &System, promised: &Promised) -> Summary {
    judge(&promised.view, &simulated(system, promised))
}

fn all(seeds: std::ops::Range<u64>, protocol: Protocol) -> Counts {
    let mut counts = Counts::default();
    for seed in seeds {
        let text = system(seed);
        let system = System::parse_toml(&text, Path::new("r.toml")).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let check = tactus_analysis::check(&system, &Costs::default());
        if !check.accepted {
            continue;
        }
        counts.accepted += 1;
        let mut promised = made(&system, &check, &Costs::default());
        let Kind::Changing(changing) = &mut promised.setup.kind else { panic!("{:?}", promised.setup.kind) };
        changing.protocol = protocol;
        counts.admitted += check.changes.iter().filter(|ruling| ruling.admitted()).count() as u64;
        let summary = run(&system, &promised);
        for change in &summary.changes {
            match change.fate {
                Fate::TookEffect => counts.effects += 1,
                Fate::Refused => counts.refused += 1,
                Fate::Waiting => counts.waiting += 1,
                Fate::NotAsked => {}
            }
        }
        if let Verdict::Broken(broken) = &summary.verdict {
            counts.broken += 1;
            assert!(protocol == Protocol::AtOnce, "seed {seed}: {broken:?}\n{text}\n{check}\n{:#?}", summary.changes);
        }
    }
    counts
}

fn hold(seeds: std::ops::Range<u64>) {
    let some = (seeds.end - seeds.start) / 20;
    let counts = all(seeds, Protocol::Quiet);
    println!("{counts:?}");
    assert!(counts.accepted > some && counts.effects > some && counts.refused > some, "{counts:?}");
}

#[test]
fn whatever_is_admitted_no_promise_is_broken() {
    hold(0..600);
}

#[test]
#[ignore = "takes minutes: evidence, not a daily test"]
fn whatever_is_admitted_no_promise_is_broken_in_twenty_thousand_systems() {
    hold(0..20_000);
}

#[test]
fn changes_that_do_not_wait_break_promises() {
    let counts = all(0..600, Protocol::AtOnce);
    println!("{counts:?}");
    assert!(counts.broken > 0, "{counts:?}");
}

/// The runs of systems that are accepted.
fn accepted(seeds: std::ops::Range<u64>) -> impl Iterator<Item = (Promised, Trace)> {
    seeds.filter_map(|seed| {
        let system = System::parse_toml(&system(seed), Path::new("r.toml")).expect("a good file");
        let check = tactus_analysis::check(&system, &Costs::default());
        let promised = check.accepted.then(|| made(&system, &check, &Costs::default()))?;
        let trace = simulated(&system, &promised);
        Some((promised, trace))
    })
}

/// Whether the judge finds a broken rule of changes, and finds the run broken.
fn found(promised: &Promised, trace: &Trace) -> bool {
    let found = broken_changes(&promised.view, trace);
    assert!(found.iter().all(|violation| violation.rule == Rule::Change));
    let broken = matches!(judge(&promised.view, trace).verdict, Verdict::Broken(_));
    assert!(broken || found.is_empty(), "{found:?}");
    !found.is_empty()
}

#[test]
fn a_first_release_after_a_change_that_is_late_lost_or_one_too_many_is_found() {
    let (mut late, mut lost, mut many) = (0, 0, 0);
    for (promised, trace) in accepted(0..150) {
        for core in 0..trace.cores.len() {
            let records = &trace.cores[core];
            let Some(changed) = records.iter().position(|r| r.kind == What::Changed) else { continue };
            let Some(first) = (changed..records.len()).find(|n| records[*n].kind == What::Release) else { continue };
            let mut spoilt = trace.clone();
            spoilt.cores[core][first].arg += 1;
            assert!(found(&promised, &spoilt));
            late += 1;
            let mut spoilt = trace.clone();
            let mut again = spoilt.cores[core][first];
            again.job += 1;
            spoilt.cores[core].insert(first + 1, again);
            assert!(found(&promised, &spoilt));
            many += 1;
            let mut spoilt = trace.clone();
            spoilt.cores[core].remove(first);
            lost += usize::from(found(&promised, &spoilt));
        }
    }
    // The last release of all leaves no gap.
    assert!(late > 50 && many > 50 && lost > late * 9 / 10, "{late} {many} {lost}");
}

#[test]
fn a_task_that_releases_jobs_after_its_removal_was_asked_for_is_found() {
    let mut count = 0;
    for (promised, trace) in accepted(0..150) {
        let changes = promised.view.changes.as_ref().expect("it changes");
        for (n, change) in changes.list.iter().enumerate().filter(|(_, it)| it.what.starts_with("remove task")) {
            let before = n.checked_sub(1).map_or(&changes.start, |last| &changes.list[last].tasks);
            let ends = before.iter().zip(&change.tasks).position(|(before, after)| before.there && !after.there);
            let took = trace.cores.iter().flatten().any(|r| r.kind == What::Changed && r.job as usize == n);
            let Some(task) = ends.filter(|_| took) else { continue };
            // As if it had been asked for a period earlier.
            let mut spoilt = promised.clone();
            let early = change.at.saturating_sub(before[task].period);
            spoilt.view.changes.as_mut().expect("it changes").list[n].at = early;
            let between = |r: &tactus_record::Record| {
                r.kind == What::Release
                    && r.task == Some(TaskId(task as u16))
                    && (early..change.at).contains(&Duration::from_nanos(r.arg))
            };
            // The ask is noticed late then; what was released before it tells the same.
            let asked = |r: &tactus_record::Record| r.kind == What::ChangeAsked && r.job as usize == n;
            let mut trace = trace.clone();
            for records in &mut trace.cores {
                let (Some(release), Some(asked)) = (records.iter().position(between), records.iter().position(asked))
                else {
                    continue;
                };
                let asked = records.remove(asked);
                records.insert(release, tactus_record::Record { time: records[release].time, ..asked });
                assert!(found(&spoilt, &trace), "{}", change.what);
                count += 1;
                break;
            }
        }
    }
    assert!(count > 10, "{count}");
}

#[test]
fn a_change_that_was_not_admitted_or_comes_out_of_its_turn_is_found() {
    let (mut admitted, mut turned) = (0, 0);
    for (promised, trace) in accepted(0..150) {
        for core in 0..trace.cores.len() {
            let effects: Vec<usize> =
                (0..trace.cores[core].len()).filter(|n| trace.cores[core][*n].kind == What::Changed).collect();
            for at in &effects {
                let mut spoilt = promised.clone();
                let change = trace.cores[core][*at].job as usize;
                spoilt.view.changes.as_mut().expect("it changes").list[change].refused = Some("no".into());
                assert!(found(&spoilt, &trace));
                admitted += 1;
            }
            if let [first, second, ..] = effects[..] {
                let mut spoilt = trace.clone();
                spoilt.cores[core][first].job = trace.cores[core][second].job;
                spoilt.cores[core][second].job = trace.cores[core][first].job;
                assert!(found(&promised, &spoilt));
                turned += 1;
            }
        }
    }
    assert!(admitted > 50 && turned > 20, "{admitted} {turned}");
}
