//! Attacks on accepted systems: of each kind that random systems hardly meet, a generator of its own, phases and execution times that are
//! bad for somebody, and no bound beaten.

use crate::common::attack::{beaten, demands, longest};
use crate::common::Dice;
use std::ops::Range;
use std::path::Path;
use tactus_analysis::{check, Bound, TaskVerdict};
use tactus_model::{Costs, ServerKind, System};
use tactus_time::Duration;

/// Accepted systems: those of which some task has a bound, with runs of them, and those of which none has.
#[derive(Default, Debug)]
struct Tally {
    bounded: u32,
    untested: u32,
    runs: u32,
}

/// Attacks accepted systems of a generator until a number of them have a bound, with a number of phases each.
fn attack(
    seeds: Range<u64>,
    most: u32,
    (draw, phases): (impl Fn(u64) -> System, impl Fn(&mut System, &mut Dice)),
    runs: u32,
) -> Tally {
    let mut tally = Tally::default();
    for seed in seeds {
        if tally.bounded == most {
            break;
        }
        let mut dice = Dice::new(seed);
        let mut system = draw(seed);
        let costs = match dice.between(0, 3) {
            0 => {
                let mut us = || Duration::from_nanos(dice.between(100, 4_000));
                Costs { release: us(), schedule: us(), switch: us(), inter_core: us(), complete: us() }
            }
            _ => Costs::default(),
        };
        let found = check(&system, &costs);
        if !found.accepted {
            continue;
        }
        if found.tasks.iter().all(|task| task.bound().is_none()) {
            tally.untested += 1;
            continue;
        }
        tally.bounded += 1;
        for _ in 0..runs {
            phases(&mut system, &mut dice);
            // Where costs count, releases at one instant count once.
            let check = check(&system, &costs);
            let worst = longest(&system, &check, &costs, demands(&system, &mut dice));
            tally.runs += 1;
            if let Some((n, took, limit)) = beaten(&system, &check, &worst) {
                let name = &system.tasks[n].name;
                panic!(
                    "seed {seed}: {name} took {took} against {limit}\n{check}\n{:#?}\n{:#?}\n{costs:?}",
                    system.scheduling, system.tasks
                );
            }
        }
    }
    tally
}

/// A task of a soft server begins early, so that the server is ahead when others come, at one instant or soon after each other.
fn ahead(system: &mut System, dice: &mut Dice) {
    let soft = |n: usize| {
        let home = system.scheduling.places[n].server;
        home.is_some_and(|s| {
            matches!(system.scheduling.servers[s].kind, ServerKind::SoftBandwidth | ServerKind::HardBandwidth)
        })
    };
    let soft: Vec<bool> = (0..system.tasks.len()).map(soft).collect();
    let longest = system.tasks.iter().map(|task| task.period).max().unwrap_or_default();
    let at = Duration::from_nanos(dice.between(0, longest.as_nanos() / 2));
    for (task, soft) in system.tasks.iter_mut().zip(soft) {
        let apart = match dice.between(0, 3) {
            0 => 0,
            1 => dice.between(0, task.budget().as_nanos()),
            _ => dice.between(0, 15_000_000),
        };
        let near = Duration::from_nanos(apart);
        task.offset = if soft { at.saturating_sub(near) } else { at + near };
    }
    system.duration = (longest * 3).min(Duration::from_secs(4));
}

fn soft_servers(seeds: Range<u64>, most: u32) -> Tally {
    attack(seeds, most, (tactus_generate::soft, ahead), 6)
}

#[test]
fn soft_servers_that_run_ahead_beat_no_bound() {
    let tally = soft_servers(0..4_000, if cfg!(debug_assertions) { 60 } else { 400 });
    assert!(tally.bounded >= 60 && tally.untested == 0, "{tally:?}");
}

#[test]
#[ignore = "20,000 accepted systems; minutes: cargo test --release -p tactus-analysis --test all attacks:: -- --ignored --nocapture"]
fn twenty_thousand_systems_with_soft_servers_beat_no_bound() {
    let tally = soft_servers(10_000..1_000_000, 20_000);
    println!("{tally:?}");
    assert_eq!(tally.bounded, 20_000);
}

/// Somebody begins a section just before a job comes back that has waited, and others come about then.
fn as_it_returns(system: &mut System, dice: &mut Dice) {
    let waits: Vec<usize> = (0..system.tasks.len()).filter(|n| !system.scheduling.waits_of(*n).is_empty()).collect();
    let first = dice.pick(&waits);
    let wait = system.scheduling.waits_of(first)[0];
    let longest = system.tasks.iter().map(|task| task.period).max().unwrap_or_default();
    let at = Duration::from_nanos(dice.between(0, longest.as_nanos()));
    let back = at + wait.after + wait.length;
    for n in 0..system.tasks.len() {
        let time = system.tasks[n].budget().as_nanos();
        let near = Duration::from_nanos(dice.between(0, time));
        let holds = !system.scheduling.sections_of(n).is_empty();
        system.tasks[n].offset = match (n == first, holds, dice.between(0, 3)) {
            (true, ..) => at,
            // So that it has begun.
            (false, true, _) => back.saturating_sub(near.max(Duration::from_nanos(1))),
            (false, false, 0) => back + near,
            (false, false, 1) => at + near,
            (false, false, _) => back.saturating_sub(near / 8),
        };
    }
    system.duration = (longest * 3).min(Duration::from_secs(1));
}

fn returning(seeds: Range<u64>, most: u32) -> Tally {
    attack(seeds, most, (tactus_generate::returning, as_it_returns), 6)
}

#[test]
fn jobs_that_return_to_sections_of_others_beat_no_bound() {
    let tally = returning(0..8_000, if cfg!(debug_assertions) { 120 } else { 1_000 });
    assert!(tally.bounded >= 120 && tally.untested > 0, "{tally:?}");
}

#[test]
#[ignore = "20,000 accepted systems; minutes: cargo test --release -p tactus-analysis --test all attacks:: -- --ignored --nocapture"]
fn twenty_thousand_systems_of_jobs_that_return_to_sections_beat_no_bound() {
    let tally = returning(10_000..1_000_000, 20_000);
    println!("{tally:?}");
    assert_eq!(tally.bounded, 20_000);
}

/// Servers of which each budget is there again a period after its first use, with one task each, beside tasks, in a server or not.
fn own_servers(seed: u64) -> System {
    let mut dice = Dice::new(seed);
    let policy = dice.pick(&["partitioned-edf", "partitioned-rm", "partitioned-dm"]);
    let mut text = format!("[system]\ncores = 1\nduration = '1 s'\n[policy]\nkind = '{policy}'\n");
    let mut left = dice.between(500, 950);
    let mut parent = "";
    if dice.between(0, 3) == 0 {
        let (kind, period) =
            (dice.pick(&["periodic", "deferrable", "polling", "sporadic"]), dice.between(1_000, 4_000));
        let (budget, inside) = (period * left / 1000, dice.pick(&["partitioned-edf", "partitioned-dm"]));
        text += &format!(
            "[[server]]\nname = 'outer'\nkind = '{kind}'\nbudget = '{budget} us'\nperiod = '{period} us'\npolicy = '{inside}'\n"
        );
        parent = "parent = 'outer'\n";
        left = left * 8 / 10;
    }
    for n in 0..dice.between(1, 3) {
        let share = left * dice.between(150, 600) / 1000;
        left -= share;
        let (kind, period) = (dice.pick(&["cbs-hard", "sporadic"]), dice.between(4_000, 25_000));
        let budget = (period * share / 1000).max(400);
        let inside = dice.pick(&["partitioned-fifo", "partitioned-edf", "partitioned-fp", "partitioned-rr"]);
        let quantum = if inside == "partitioned-rr" { "quantum = '1 ms'\n" } else { "" };
        let time = if dice.between(0, 2) == 0 { budget } else { budget * dice.between(500, 1000) / 1000 };
        let every = if dice.between(0, 1) == 0 { period } else { period * dice.between(1000, 1700) / 1000 };
        let release = dice.pick(&["periodic", "sporadic"]);
        text += &format!(
            "[[server]]\nname = 's{n}'\nkind = '{kind}'\nbudget = '{budget} us'\nperiod = '{period} us'\n\
             policy = '{inside}'\n{quantum}{parent}[[task]]\nname = 'own{n}'\nserver = 's{n}'\nrelease = '{release}'\n\
             period = '{every} us'\nexecution = '{time} us'\n"
        );
        if inside == "partitioned-fp" {
            text += "priority = 1\n";
        }
    }
    let inside = if parent.is_empty() { "core = 0\n" } else { "server = 'outer'\n" };
    for n in 0..dice.between(0, 2) {
        let share = left * dice.between(200, 700) / 1000;
        left -= share;
        let period = dice.between(4_000, 60_000);
        let time = (period * share / 1000).max(50);
        text += &format!("[[task]]\nname = 'beside{n}'\n{inside}period = '{period} us'\nexecution = '{time} us'\n");
    }
    System::parse_toml(&text, Path::new("file.toml"))
        .unwrap_or_else(|problems| panic!("seed {seed}: {problems}\n{text}"))
}

/// At any phases.
fn any_phase(system: &mut System, dice: &mut Dice) {
    let longest = system.tasks.iter().map(|task| task.period).max().unwrap_or_default();
    for task in &mut system.tasks {
        task.offset = Duration::from_nanos(dice.between(0, task.period.as_nanos()));
    }
    system.duration = (longest * 12).min(Duration::from_secs(1));
}

#[test]
fn a_task_alone_in_its_server_beats_no_bound() {
    let most = if cfg!(debug_assertions) { 40 } else { 5_000 };
    let tally = attack(0..20_000, most, (own_servers, any_phase), 4);
    assert_eq!(tally.bounded, most, "{tally:?}");
    let by_it = |seed: &u64| {
        let found = check(&own_servers(*seed), &Costs::default());
        let alone = |task: &TaskVerdict| matches!(task, TaskVerdict::Bounded { by, .. } if by == "alone in its server");
        found.accepted && found.tasks.iter().any(|task| alone(&task.verdict))
    };
    let count = (0..200).filter(by_it).count();
    assert!(count > 40, "{count} of 200");
}

/// A reservation as Linux's SCHED_DEADLINE makes it: a budget of what the jobs take, in their period.
#[test]
fn a_task_alone_in_a_server_of_its_size_ends_within_the_servers_period() {
    let ms = Duration::from_millis;
    for (kind, budget, bound) in [("cbs-hard", 3, Some(ms(8))), ("sporadic", 3, Some(ms(8))), ("cbs-hard", 2, None)] {
        let text = format!(
            "[system]\ncores = 1\nduration = '1 s'\n[machine]\noverheads = false\n[policy]\nkind = 'partitioned-edf'\n\
             [[server]]\nname = 'S'\nkind = '{kind}'\nbudget = '{budget} ms'\nperiod = '8 ms'\npolicy = 'partitioned-fifo'\n\
             [[task]]\nname = 'o'\nperiod = '10 ms'\nexecution = '5 ms'\ncore = 0\n\
             [[task]]\nname = 'x'\nserver = 'S'\nperiod = '8 ms'\nexecution = '3 ms'\nrelease = 'sporadic'\n"
        );
        let system = System::parse_toml(&text, Path::new("file.toml")).unwrap_or_else(|problems| panic!("{problems}"));
        let found = check(&system, &Costs::default());
        let told = match found.tasks[1].bound() {
            Some(Bound::Response(told)) => Some(told),
            _ => None,
        };
        assert_eq!(told.is_some(), bound.is_some(), "{kind} {budget}: {found}");
        assert!(told <= bound, "{kind} {budget}: {found}");
    }
}

/// Four budgets of a millisecond at once, of which the last is due with the job beside.
#[test]
fn a_job_beside_a_soft_server_waits_for_all_that_is_due_before_it() {
    let text = "[system]\ncores = 1\nduration = '100 ms'\n[policy]\nkind = 'partitioned-edf'\n[machine]\noverheads = false\n\
                [[server]]\nname = 's'\nkind = 'cbs-soft'\nbudget = '1 ms'\nperiod = '5 ms'\npolicy = 'partitioned-fifo'\n\
                [[task]]\nname = 'beside'\nperiod = '20 ms'\nexecution = '2 ms'\n\
                [[task]]\nname = 'inside'\nserver = 's'\nperiod = '40 ms'\nexecution = '4 ms'\n";
    let system = System::parse_toml(text, Path::new("file.toml")).unwrap_or_else(|problems| panic!("{problems}"));
    let found = check(&system, &Costs::default());
    let worst = longest(&system, &found, &Costs::default(), |task, _| system.tasks[task.index()].budget());
    assert_eq!(worst[0], Duration::from_millis(5));
    // Of the server what is due in 20 ms, and an eighth of a budget above that from the next nanosecond on.
    assert_eq!(found.tasks[0].bound(), Some(Bound::Response(Duration::from_nanos(6_124_999))), "{found}");
}

/// The rule by which the job goes on that began last lets a job of a short relative deadline, which is due later, run before the holder of
/// what a third one waits for.
#[test]
fn under_deadlines_nothing_is_promised_where_jobs_wait_beside_ceilings() {
    let text = |protocol: &str| {
        format!(
            "[system]\ncores = 1\nduration = '1200 ms'\n[machine]\noverheads = false\n[policy]\nkind = 'partitioned-edf'\n\
             [[resource]]\nname = 'r'\nprotocol = '{protocol}'\n\
             [[task]]\nname = 'j'\nperiod = '400 ms'\ndeadline = '100 ms'\nexecution = '3 ms'\n\
             waits = [{{ after = '1 ms', length = '60 ms' }}]\nsections = [{{ resource = 'r', after = '1 ms', length = '1 ms' }}]\n\
             [[task]]\nname = 'm'\nperiod = '80 ms'\ndeadline = '60 ms'\nexecution = '20 ms'\n\
             [[task]]\nname = 'l'\nperiod = '1 s'\noffset = '79 ms'\nexecution = '4 ms'\n\
             sections = [{{ resource = 'r', after = '0 s', length = '3 ms' }}]\n"
        )
    };
    let system = |protocol: &str| {
        let parsed = System::parse_toml(&text(protocol), Path::new("file.toml"));
        parsed.unwrap_or_else(|problems| panic!("{problems}"))
    };
    for protocol in ["ceiling", "msrp"] {
        let system = system(protocol);
        let found = check(&system, &Costs::default());
        for task in &found.tasks {
            let TaskVerdict::Untested(why) = &task.verdict else { panic!("{found}") };
            assert!(why.contains("together with jobs that wait (`j`) and order by deadlines"), "{why}");
        }
        let worst = longest(&system, &found, &Costs::default(), |task, _| system.tasks[task.index()].budget());
        assert!(worst[0] > system.tasks[0].deadline, "{worst:?}");
    }
    for protocol in ["non-preemptive", "inheritance", "fmlp"] {
        let found = check(&system(protocol), &Costs::default());
        assert!(found.accepted && found.tasks.iter().all(|task| task.bound().is_some()), "{protocol}: {found}");
    }
}
