//! Random systems with levels of criticality that change while they run: whatever is admitted, no promise is broken, and a change
//! that does not wait for its instant does break some.

use std::fmt::Write;
use std::path::Path;
use tactus_generate::Random;
use tactus_model::{Costs, System};
use tactus_plan::{plan, RunPlan};
use tactus_policy::Protocol;
use tactus_record::EventKind;
use tactus_time::{Duration, Level, TaskId};
use tactus_trace::check::{budget, changes as broken_changes};
use tactus_trace::{judge, Fate, Trace, Verdict};

const PERIODS: [u64; 8] = [4_000, 5_000, 8_000, 10_000, 15_000, 20_000, 30_000, 40_000];

fn of<T: Copy>(random: &mut Random, all: &[T]) -> T {
    all[random.between(0, all.len() as u64 - 1) as usize]
}

/// AMC or EDF-VD on up to two cores, as text, with changes. Half of the tasks are critical, and some of their jobs take longer than
/// their LO time.
fn two_levels(seed: u64) -> String {
    let mut random = Random::new(seed);
    let cores = random.between(1, 2);
    let amc = random.chance(0.5);
    let mut text = format!(
        "[system]\nname = 'r'\ncores = {cores}\nduration = '500 ms'\nseed = {seed}\n[machine]\noverheads = false\n\
         [policy]\nkind = '{}'\n",
        if amc { "amc" } else { "edf-vd" }
    );
    let count = cores * random.between(3, 5);
    let mut tasks = Vec::new();
    for n in 0..count {
        let (period, critical) = (of(&mut random, &PERIODS), random.chance(0.5));
        let low = (period * random.between(6, 30) / 100).max(100);
        let high = if critical { (low * random.between(100, 220) / 100).min(period) } else { low };
        let _ = write!(
            text,
            "[[task]]\nname = 't{n}'\ncore = {}\nperiod = '{period} us'\noffset = '{} us'\n",
            n % cores,
            random.between(0, 20) * 500 * random.between(0, 1)
        );
        let _ = match critical {
            true => write!(text, "level = 'A'\nexecution = {{ A = '{high} us', B = '{low} us' }}\n"),
            false => write!(text, "level = 'B'\nexecution = '{low} us'\n"),
        };
        let most = if critical && random.chance(0.4) { high } else { low };
        let _ = writeln!(text, "actual = {{ min = '{} us', max = '{most} us' }}", low * 3 / 4);
        if amc {
            // Mostly the shorter period first.
            let priority = if random.chance(0.8) { 100_000 - period } else { random.between(1, 99_000) };
            let _ = writeln!(text, "priority = {priority}");
        }
        tasks.push((period, critical.then_some(high), low));
    }
    changes(&mut text, &mut random, (count, 50_000), |random, n| {
        let (period, high, low) = tasks[n];
        let part = random.between(60, 170);
        match (random.between(0, if amc { 3 } else { 2 }), high) {
            (0, Some(high)) => {
                let (low, high) = (low * part / 100, (high * random.between(90, 170) / 100).max(low * part / 100));
                format!("execution = {{ A = '{high} us', B = '{low} us' }}")
            }
            (0, None) => format!("execution = '{} us'", low * part / 100),
            (1, _) => format!("period = '{} us'", period * part / 100),
            (2, _) if amc => format!("deadline = '{} us'", period * random.between(50, 100) / 100),
            (2, _) => format!("period = '{} us'", period * random.between(80, 120) / 100),
            _ => format!("priority = {}", random.between(1, 99_000)),
        }
    });
    text
}

/// Some changes of so many tasks, at most so many microseconds apart: a task begins, ends, or gets what `alter` draws.
fn changes(
    text: &mut String,
    random: &mut Random,
    (count, apart): (u64, u64),
    alter: impl Fn(&mut Random, usize) -> String,
) {
    let mut there: Vec<Option<bool>> = vec![None; count as usize];
    let mut at = 0;
    for _ in 0..random.between(4, 9) {
        at += random.between(0, apart) * random.between(0, 3) / 3;
        let n = random.between(0, count - 1) as usize;
        let (is_there, what) = match (there[n], random.between(0, 3)) {
            (Some(false), _) | (None, 0 | 1) => (true, format!("add = 't{n}'")),
            (_, 2) => (false, format!("remove = 't{n}'")),
            _ => (true, format!("task = 't{n}'\n{}", alter(random, n))),
        };
        there[n] = Some(is_there);
        let _ = writeln!(text, "[[change]]\nat = '{at} us'\n{what}");
    }
}

/// MC² on up to three cores, as text, with changes. Jobs keep to what level C assumes of them, some to their own level only.
fn mc2(seed: u64) -> String {
    let mut random = Random::new(!seed);
    let cores = random.between(1, 3);
    let mut text = format!(
        "[system]\nname = 'r'\ncores = {cores}\nduration = '800 ms'\nseed = {seed}\n[machine]\noverheads = false\n\
         [policy]\nkind = 'mc2'\nenforce = {}\nslack-shifting = {}\n",
        random.chance(0.7),
        random.chance(0.5)
    );
    let mut tasks: Vec<(char, u64, u64)> = Vec::new();
    let count = cores * random.between(3, 5);
    for n in 0..count {
        let level = of(&mut random, &['A', 'A', 'B', 'B', 'C', 'C', 'C', 'D']);
        let period = of(&mut random, if level == 'A' { &[10_000, 20_000, 40_000] } else { &PERIODS[..] });
        let own = (period * random.between(4, if level == 'C' { 45 } else { 18 }) / 100).max(100);
        let offset = random.between(0, 20) * 500 * random.between(0, 1);
        let _ = write!(
            text,
            "[[task]]\nname = 't{n}'\nlevel = '{level}'\nperiod = '{period} us'\noffset = '{offset} us'\n",
        );
        if level < 'C' {
            let _ = writeln!(text, "core = {}", n % cores);
        }
        let (b, c) = (own * random.between(70, 100) / 100, own * random.between(50, 70) / 100);
        let _ = match level {
            'A' => writeln!(text, "execution = {{ A = '{own} us', B = '{b} us', C = '{c} us' }}"),
            'B' => writeln!(text, "execution = {{ B = '{own} us', C = '{c} us' }}"),
            _ => writeln!(text, "execution = '{own} us'"),
        };
        let most = if level > 'B' || random.chance(0.2) { own } else { c };
        let _ = writeln!(text, "actual = {{ min = '{} us', max = '{most} us' }}", c / 2);
        tasks.push((level, period, own));
    }
    changes(&mut text, &mut random, (count, 80_000), |random, n| {
        let (level, period, own) = tasks[n];
        let part = random.between(60, 200);
        match random.between(0, 1) {
            0 if level == 'A' => format!("execution = {{ A = '{} us' }}", own * part.max(100) / 100),
            0 => format!("execution = '{} us'", own * part / 100),
            _ if level == 'A' => format!("period = '{} us'", period * of(random, &[1, 2, 4]) / 2),
            _ => format!("period = '{} us'", period * part / 100),
        }
    });
    text
}

#[derive(Default, Debug)]
struct Counts {
    accepted: u64,
    admitted: u64,
    refused: u64,
    effects: u64,
    waiting: u64,
    /// Systems in which a core gave up a level.
    gave_up: u64,
    broken: u64,
}

fn all(draw: fn(u64) -> String, seeds: std::ops::Range<u64>, protocol: Protocol) -> Counts {
    let mut counts = Counts::default();
    for seed in seeds {
        let text = draw(seed);
        let system = System::parse_toml(&text, Path::new("r.toml")).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let check = tactus_analysis::check(&system, &Costs::default());
        if !check.accepted {
            continue;
        }
        counts.accepted += 1;
        let mut promised = plan(&system, &check, &Costs::default());
        *promised.setup.kind.protocol_mut().expect("it changes") = protocol;
        counts.admitted += check.changes.iter().filter(|ruling| ruling.admitted()).count() as u64;
        let demand = |task: TaskId, job| system.tasks[task.index()].demand(system.seed, task, job);
        let trace = tactus_sim::simulate(&promised.setup, system.duration, demand, &Costs::default()).expect("it runs");
        let gave_up = trace.cores.iter().flatten().any(|r| r.kind == EventKind::Mode);
        counts.gave_up += u64::from(gave_up);
        let summary = judge(&promised.view, &trace);
        for change in &summary.changes {
            match change.fate {
                Fate::Applied => counts.effects += 1,
                Fate::Refused => counts.refused += 1,
                Fate::Waiting => counts.waiting += 1,
                Fate::NotRequested => {}
            }
        }
        if let Verdict::Broken(broken) = &summary.verdict {
            counts.broken += 1;
            assert!(
                protocol == Protocol::Immediate,
                "seed {seed}: {broken:?}\n{text}\n{check}\n{:#?}",
                summary.changes
            );
        }
    }
    counts
}

fn hold(draw: fn(u64) -> String, seeds: std::ops::Range<u64>) -> Counts {
    let some = (seeds.end - seeds.start) / 20;
    let counts = all(draw, seeds, Protocol::IdleInstant);
    println!("{counts:?}");
    assert!(counts.accepted > some && counts.effects > some && counts.refused > some, "{counts:?}");
    counts
}

#[test]
fn whatever_is_admitted_under_amc_and_edf_vd_no_promise_is_broken() {
    let counts = hold(two_levels, 0..250);
    assert!(counts.gave_up > 20, "{counts:?}");
}

#[test]
#[ignore = "takes minutes: evidence, not a daily test"]
fn whatever_is_admitted_under_amc_and_edf_vd_no_promise_is_broken_in_twenty_thousand_systems() {
    hold(two_levels, 0..20_000);
}

#[test]
fn changes_of_two_levels_that_do_not_wait_break_promises() {
    let counts = all(two_levels, 0..250, Protocol::Immediate);
    println!("{counts:?}");
    assert!(counts.broken > 0, "{counts:?}");
}

#[test]
fn whatever_is_admitted_under_mc2_no_promise_is_broken() {
    hold(mc2, 0..50);
}

#[test]
#[ignore = "takes minutes: evidence, not a daily test"]
fn whatever_is_admitted_under_mc2_no_promise_is_broken_in_ten_thousand_systems() {
    hold(mc2, 0..10_000);
}

#[test]
fn changes_of_mc2_that_do_not_wait_break_promises() {
    let counts = all(mc2, 0..50, Protocol::Immediate);
    println!("{counts:?}");
    assert!(counts.broken > 0, "{counts:?}");
}

/// The systems that are accepted, what they are promised, and what a policy makes of them that `spoil` has spoilt.
fn runs(
    draw: fn(u64) -> String,
    seeds: std::ops::Range<u64>,
    spoil: fn(&mut tactus_policy::PolicySpec),
) -> impl Iterator<Item = (RunPlan, Trace)> {
    seeds.filter_map(move |seed| {
        let system = System::parse_toml(&draw(seed), Path::new("r.toml")).expect("a good file");
        let check = tactus_analysis::check(&system, &Costs::default());
        let promised = check.accepted.then(|| plan(&system, &check, &Costs::default()))?;
        let mut setup = promised.setup.clone();
        spoil(&mut setup.kind);
        let demand = |task: TaskId, job| system.tasks[task.index()].demand(system.seed, task, job);
        let trace = tactus_sim::simulate(&setup, system.duration, demand, &Costs::default()).expect("it runs");
        Some((promised, trace))
    })
}

#[test]
fn a_policy_that_keeps_an_old_and_larger_budget_is_found() {
    let keeps = |kind: &mut tactus_policy::PolicySpec| {
        let tactus_policy::PolicySpec::ReconfigurableMc2(all) = kind else { panic!("{kind:?}") };
        all.effects.iter_mut().for_each(|effect| effect.budgets.clear());
    };
    let found = |spoil| {
        let broken = |(promised, trace): &(RunPlan, Trace)| !budget(&promised.view, trace, Duration::ZERO).is_empty();
        runs(mc2, 0..40, spoil).filter(broken).count()
    };
    assert_eq!(found(|_| ()), 0);
    let kept = found(keeps);
    assert!(kept > 0, "{kept}");
}

#[test]
fn a_job_of_level_a_that_comes_beside_the_grid_of_its_table_is_found() {
    let mut count = 0;
    for (promised, trace) in runs(mc2, 0..40, |_| ()) {
        assert_eq!(broken_changes(&promised.view, &trace), vec![]);
        let changed: Vec<_> = trace.cores.iter().flatten().filter(|r| r.kind == EventKind::ChangeApplied).collect();
        for core in 0..trace.cores.len() {
            let level_a = |r: &tactus_record::Record| r.kind == EventKind::Release && r.level == Level::A as u8;
            let after = |r: &tactus_record::Record| changed.iter().any(|changed| changed.time < r.time);
            let Some(first) = trace.cores[core].iter().position(|r| level_a(r) && after(r)) else { continue };
            let mut spoilt = trace.clone();
            spoilt.cores[core][first].arg -= 1;
            assert!(!broken_changes(&promised.view, &spoilt).is_empty());
            count += 1;
        }
    }
    assert!(count > 10, "{count}");
}

#[test]
fn a_level_that_a_core_has_given_up_is_found_where_it_runs_after_a_change() {
    let mut count = 0;
    for (promised, trace) in runs(two_levels, 0..100, |_| ()) {
        assert_eq!(broken_changes(&promised.view, &trace), vec![]);
        for core in 0..trace.cores.len() {
            // As if the core had not gone back when a changes were applied there.
            let records = &trace.cores[core];
            let back = |n: &usize| {
                let mode = records[*n];
                let change = |r: &tactus_record::Record| r.kind == EventKind::ChangeApplied && r.time == mode.time;
                mode.kind == EventKind::Mode && mode.task.is_none() && records.iter().any(change)
            };
            let Some(back) = (0..records.len()).find(back) else { continue };
            let mut spoilt = trace.clone();
            spoilt.cores[core].remove(back);
            // Where nothing of the lower level runs there before the next change of mode, nothing is wrong.
            count += usize::from(!tactus_trace::check::modes(&promised.view, &spoilt).is_empty());
        }
    }
    assert!(count > 5, "{count}");
}
