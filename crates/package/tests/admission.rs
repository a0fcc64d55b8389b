//! Admission beside two oracles: every window in turn, and a simulation of the slot's worst supply unit by unit.

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, TestRunner};
use std::env;
use tactus_package::admission::{admit, admit_within, bound, Demand, Order, Supply, Work};
use tactus_package::Unschedulable;
use tactus_time::Duration;

fn ns(n: u64) -> Duration {
    Duration::from_nanos(n)
}

/// Small numbers, so that every window can be looked at.
fn small_task() -> impl Strategy<Value = Demand> {
    prop::sample::select(vec![3_u64, 4, 5, 6, 8, 10, 12, 15, 20, 24, 30]).prop_flat_map(|t| {
        (1..=t, Just(t), 0_u32..4).prop_flat_map(|(d, t, priority)| {
            (1..=d.min(3)).prop_map(move |c| Demand { execution: ns(c), period: ns(t), deadline: ns(d), priority })
        })
    })
}

fn small_supply() -> impl Strategy<Value = Supply> {
    (3_u64..12, 0_u64..6, 0_u64..6).prop_map(|(q, rest, more)| Supply {
        budget: ns(q),
        period: ns(q + rest),
        blackout: ns(rest + more.min(rest)),
    })
}

/// Whether the core belongs to the slot in unit `now` of the worst supply.
fn supplied(supply: &Supply, now: u64) -> bool {
    let blackout = supply.blackout.as_nanos();
    now >= blackout && (now - blackout) % supply.period.as_nanos() < supply.budget.as_nanos()
}

/// The first task that misses when all are released with the worst supply, within so many units.
fn simulated(tasks: &[Demand], order: Order, supply: &Supply, units: u64) -> Option<usize> {
    let mut left = vec![0_u64; tasks.len()];
    let mut due = vec![0_u64; tasks.len()];
    for now in 0..units {
        for (i, task) in tasks.iter().enumerate() {
            if left[i] > 0 && now >= due[i] {
                return Some(i);
            }
            if now % task.period.as_nanos() == 0 {
                left[i] = task.execution.as_nanos();
                due[i] = now + task.deadline.as_nanos();
            }
        }
        let ready = (0..tasks.len()).filter(|&i| left[i] > 0);
        let first = match order {
            Order::FixedPriority => ready.min_by_key(|&i| (tasks[i].priority, i)),
            Order::EarliestDeadline => ready.min_by_key(|&i| (due[i], i)),
        };
        if let (Some(i), true) = (first, supplied(supply, now)) {
            left[i] -= 1;
        }
    }
    None
}

/// dbf(t) ≤ sbf(t) in each of so many windows.
fn every_window_fits(tasks: &[Demand], supply: &Supply, units: u64) -> bool {
    let mut given = 0;
    (1..=units).all(|t| {
        given += u64::from(supplied(supply, t - 1));
        let due = |task: &Demand| {
            let (d, p) = (task.deadline.as_nanos(), task.period.as_nanos());
            if t < d {
                0
            } else {
                ((t - d) / p + 1) * task.execution.as_nanos()
            }
        };
        tasks.iter().map(due).sum::<u64>() <= given
    })
}

/// Long enough: all periods divide 120, servers have periods of at most 22.
const UNITS: u64 = 6_000;

#[derive(Default)]
struct Tally {
    drawn: u64,
    admitted: u64,
    exact: u64,
}

fn compare(runs: u32) -> Tally {
    let mut tally = Tally::default();
    let mut runner = TestRunner::new_with_rng(
        Config { cases: runs, failure_persistence: None, ..Config::default() },
        proptest::test_runner::TestRng::deterministic_rng(proptest::test_runner::RngAlgorithm::ChaCha),
    );
    let tally_of = std::cell::RefCell::new(&mut tally);
    let cases = (prop::collection::vec(small_task(), 1..6), small_supply(), any::<bool>());
    runner
        .run(&cases, |(tasks, supply, fixed)| {
            let order = if fixed { Order::FixedPriority } else { Order::EarliestDeadline };
            let verdict = admit(&tasks, order, &supply, Work::OF_AN_ADMISSION);
            let missed = simulated(&tasks, order, &supply, UNITS);
            if verdict.is_ok() {
                prop_assert_eq!(missed, None, "an admitted task misses");
            }
            // Under earliest deadline first another phase than all at once can be worse only where one window fails.
            let exact = match order {
                Order::FixedPriority => missed.is_none(),
                Order::EarliestDeadline => every_window_fits(&tasks, &supply, UNITS),
            };
            let mut tally = tally_of.borrow_mut();
            tally.drawn += 1;
            tally.admitted += u64::from(verdict.is_ok());
            tally.exact += u64::from(exact);
            prop_assert!(verdict.is_err() || exact);
            // A quick test accepts without any search only what the search accepts.
            prop_assert!(admit(&tasks, order, &supply, Work(0)).is_err() || exact);
            Ok(())
        })
        .expect("never a wrong yes");
    tally
}

#[test]
fn nothing_is_admitted_that_misses_in_the_worst_supply() {
    let tally = compare(6_000);
    assert!(tally.exact * 10 > tally.drawn, "{} of {}: the systems drawn are worth a look", tally.exact, tally.drawn);
    assert_eq!(tally.admitted, tally.exact, "with small numbers the search always ends");
}

/// `TACTUS_RUNS` of them, a million if it is not set.
#[test]
#[ignore = "takes minutes"]
fn a_million_programs_and_slots() {
    let runs = env::var("TACTUS_RUNS").ok().and_then(|it| it.parse().ok()).unwrap_or(1_000_000);
    let tally = compare(runs);
    println!("{} drawn, {} schedulable by the exact test, {} admitted", tally.drawn, tally.exact, tally.admitted);
    assert!(tally.admitted * 100 >= tally.exact * 97);
}

/// Programs as people have them: periods of 1 ms to 1 s, at 30 to 100 % of the slot's share.
fn program(n: usize) -> impl Strategy<Value = (Vec<Demand>, Supply)> {
    let supply = (100_u64..10_000, 1_u64..=9).prop_map(|(p, tenths)| {
        let (p, q) = (p * 1_000, p * tenths * 100);
        Supply { budget: ns(q), period: ns(p), blackout: ns(2 * (p - q)) }
    });
    let task = (0.0_f64..3.0, 0.1_f64..1.0, 0.5_f64..1.0);
    (supply, prop::collection::vec(task, n), 0.3_f64..1.0).prop_map(|(supply, drawn, load)| {
        let share = supply.budget.as_nanos() as f64 / supply.period.as_nanos() as f64;
        let weights: f64 = drawn.iter().map(|it| it.1).sum();
        let mut tasks: Vec<Demand> = drawn
            .iter()
            .map(|&(decade, weight, tight)| {
                let period = (1e6 * 10_f64.powf(decade)) as u64;
                let execution = ((period as f64 * load * share * weight / weights) as u64).max(1);
                let deadline = execution + ((period - execution) as f64 * tight) as u64;
                Demand { execution: ns(execution), period: ns(period), deadline: ns(deadline), priority: 0 }
            })
            .collect();
        tasks.sort_by_key(|task| task.deadline);
        tasks.iter_mut().zip(0..).for_each(|(task, n)| task.priority = n);
        (tasks, supply)
    })
}

#[test]
fn with_the_loaders_work_at_least_97_of_100_schedulable_programs_are_admitted() {
    let mut runner = TestRunner::deterministic();
    for n in [1, 4, 12, 32] {
        for order in [Order::FixedPriority, Order::EarliestDeadline] {
            let (mut exact, mut admitted) = (0, 0);
            for _ in 0..300 {
                let (tasks, supply) = program(n).new_tree(&mut runner).expect("a program").current();
                let all = admit(&tasks, order, &supply, Work(u32::MAX));
                let quick = admit(&tasks, order, &supply, Work::OF_AN_ADMISSION);
                assert!(all.is_ok() || quick.is_err());
                exact += u32::from(all.is_ok());
                admitted += u32::from(quick.is_ok());
            }
            assert!(exact > 30, "{n} tasks, {order:?}: {exact} of 300 are schedulable");
            assert!(admitted * 100 >= exact * 97, "{n} tasks, {order:?}: {admitted} of {exact}");
        }
    }
}

/// The longest response of each task when all are released with the worst supply, unit by unit; only the first job of each, which under
/// fixed priorities has the longest.
fn first_responses(tasks: &[Demand], supply: &Supply) -> Vec<u64> {
    let mut responses = vec![0; tasks.len()];
    for (i, response) in responses.iter_mut().enumerate() {
        let more_urgent = |j: usize| (tasks[j].priority, j) < (tasks[i].priority, i);
        let (mut own, mut others) = (tasks[i].execution.as_nanos(), 0);
        while own > 0 {
            let now = *response;
            let released = (0..tasks.len()).filter(|&j| more_urgent(j) && now % tasks[j].period.as_nanos() == 0);
            others += released.map(|j| tasks[j].execution.as_nanos()).sum::<u64>();
            match (supplied(supply, now), others) {
                (true, 0) => own -= 1,
                (true, _) => others -= 1,
                (false, _) => {}
            }
            *response += 1;
        }
    }
    responses
}

#[test]
fn the_bound_of_an_admitted_task_is_its_longest_response_in_the_worst_supply() {
    let mut runner = TestRunner::deterministic();
    let cases = (prop::collection::vec(small_task(), 1..6), small_supply());
    let (mut met, mut exact) = (0, 0);
    for _ in 0..3_000 {
        let (tasks, supply) = cases.new_tree(&mut runner).expect("a program").current();
        if admit(&tasks, Order::FixedPriority, &supply, Work::OF_AN_ADMISSION).is_ok() {
            for (i, response) in first_responses(&tasks, &supply).into_iter().enumerate() {
                let found = bound(&tasks, Order::FixedPriority, &supply, i).expect("admitted");
                met += 1;
                exact += u32::from(found == ns(response));
                assert!(ns(response) <= found && found <= tasks[i].deadline, "task {i} of {tasks:?}, {supply:?}");
            }
        }
        assert_eq!(bound(&tasks, Order::FixedPriority, &supply, tasks.len()), None);
    }
    assert!(met > 500 && exact == met, "{exact} of {met} are exact");
}

/// What an admission takes by number of tasks: the terms of the search, of programs as people have them.
#[test]
#[ignore = "prints a table"]
fn terms_by_number_of_tasks() {
    let mut runner = TestRunner::deterministic();
    println!("| Tasks | Order | Mean terms | Longest |");
    for n in [1, 2, 4, 8, 16, 32] {
        for order in [Order::FixedPriority, Order::EarliestDeadline] {
            let (mut sum, mut longest) = (0, 0);
            for _ in 0..2_000 {
                let (tasks, supply) = program(n).new_tree(&mut runner).expect("a program").current();
                let mut work = Work::OF_AN_ADMISSION;
                let _ = admit_within(&tasks, order, &supply, &mut work);
                let terms = Work::OF_AN_ADMISSION.0 - work.0;
                (sum, longest) = (sum + u64::from(terms), longest.max(terms));
            }
            println!("| {n} | {order:?} | {} | {longest} |", sum / 2_000);
        }
    }
}

#[test]
fn what_is_no_program_or_no_server_is_refused() {
    let good = Demand { execution: ns(1), period: ns(10), deadline: ns(10), priority: 0 };
    let supply = Supply { budget: ns(5), period: ns(10), blackout: ns(10) };
    let admit = |tasks: &[Demand], supply: &Supply| admit(tasks, Order::EarliestDeadline, supply, Work(1_000));
    assert_eq!(admit(&[], &supply), Ok(()));
    assert_eq!(admit(&[good; 33], &supply), Err(Unschedulable::TooMany));
    let far = ns(u64::MAX);
    for bad in [
        Demand { execution: ns(0), ..good },
        Demand { execution: ns(11), ..good },
        Demand { deadline: ns(11), ..good },
        Demand { period: far, ..good },
        Demand { execution: far, period: far, deadline: far, priority: 0 },
    ] {
        assert_eq!(admit(&[good, bad], &supply), Err(Unschedulable::Parameters { task: 1 }));
    }
    for bad in [
        Supply { budget: ns(0), ..supply },
        Supply { budget: ns(11), ..supply },
        Supply { period: far, ..supply },
        Supply { blackout: far, ..supply },
        Supply { blackout: ns(4), ..supply },
    ] {
        assert_eq!(admit(&[good], &bad), Err(Unschedulable::Supply));
    }
    // The longest values that are allowed do not overflow.
    let longest = ns(1 << 42);
    let heavy = Demand { execution: longest, period: longest, deadline: longest, priority: 0 };
    let slow = Supply { budget: ns(1), period: longest, blackout: ns(2 << 42) };
    for order in [Order::FixedPriority, Order::EarliestDeadline] {
        let refused = tactus_package::admission::admit(&[heavy; 32], order, &slow, Work::OF_AN_ADMISSION);
        assert!(refused.is_err());
    }
}
