//! One processor without preemption, and with offsets: bounds against schedules in unit steps and against the
//! `response-time-analysis` crate.

use crate::common::{ns, sporadics, task_set, Deadlines, Dice, T};
use crate::one::{arrivals, run, Job};
use response_time_analysis as oracle;
use tactus_analysis::effort::Effort;
use tactus_analysis::task::Sporadic;
use tactus_analysis::uniprocessor::harmonic::harmonic_chains;
use tactus_analysis::uniprocessor::phased::{self, Order};
use tactus_analysis::uniprocessor::transactions::{self, Step, Transaction};
use tactus_analysis::uniprocessor::{fixed_priority, nonpreemptive_edf, nonpreemptive_fp};
use tactus_time::Duration;

const PERIODS: [u64; 8] = [5, 6, 8, 10, 12, 15, 20, 30];

fn fixed(set: &[Sporadic]) -> Vec<Option<u64>> {
    let r = |i: usize| {
        nonpreemptive_fp::response(&set[i], &set[..i], &set[i + 1..], &mut Effort::default()).map(Duration::as_nanos)
    };
    (0..set.len()).map(r).collect()
}

fn drawn(dice: &mut Dice, most: u64) -> Vec<T> {
    let percent = dice.between(20, 100);
    let n = dice.between(1, most) as usize;
    let mut set = task_set(dice, n, percent, &PERIODS, Deadlines::Arbitrary);
    set.sort_by_key(|x| x.t);
    set
}

/// How many times more optimised code draws.
const MORE: u64 = if cfg!(debug_assertions) { 1 } else { 8 };

/// Sets, responses compared, responses that reached their bound.
#[derive(Default, Debug)]
struct Tally(u64, u64, u64);

fn hold(bounds: &[Option<u64>], seen: &[u64], tally: &mut Tally, what: impl std::fmt::Debug) {
    tally.0 += 1;
    for (bound, seen) in bounds.iter().zip(seen) {
        if let Some(bound) = bound {
            assert!(seen <= bound, "{seen} > {bound}: {what:?}");
            tally.1 += 1;
            tally.2 += u64::from(seen == bound);
        }
    }
}

/// Jobs of every task within `length`, from random or common first arrivals.
fn jobs(set: &[T], edf: bool, jitter: u64, length: u64, dice: &mut Dice) -> Vec<Job> {
    let together = dice.between(0, 2) == 0;
    let late = if dice.between(0, 1) == 0 { 0 } else { 3 };
    let mut jobs = Vec::new();
    for (i, x) in set.iter().enumerate() {
        let first = if together { 0 } else { dice.between(0, x.t) };
        let urgency = |a: u64| if edf { a + x.d } else { i as u64 };
        arrivals(&mut jobs, i, (x.c, x.t, jitter), urgency, first, length, late, dice);
    }
    jobs
}

fn falsify_nonpreemptive(seed: u64, sets: u64) -> Tally {
    let mut dice = Dice::new(seed);
    let mut tally = Tally::default();
    while tally.0 < sets {
        let edf = dice.between(0, 1) == 0;
        let set = drawn(&mut dice, 6);
        let jitter = dice.pick(&[0, 0, 2, 4]);
        let with_jitter: Vec<Sporadic> =
            sporadics(&set).into_iter().map(|τ| Sporadic { jitter: ns(jitter), ..τ }).collect();
        let bounds = if edf {
            match nonpreemptive_edf::responses(&with_jitter, &mut Effort::default()) {
                Some(r) => r.into_iter().map(|r| Some(r.as_nanos())).collect(),
                None => continue,
            }
        } else {
            fixed(&with_jitter)
        };
        if crate::common::utilisation(&set) > 1.0 {
            continue;
        }
        let mut jobs = jobs(&set, edf, jitter, 240, &mut dice);
        hold(&bounds, &run(&mut jobs, set.len(), false, |_| true), &mut tally, (&with_jitter, edf));
    }
    tally
}

#[test]
fn no_response_without_preemption_beats_its_bound() {
    let tally = falsify_nonpreemptive(31, 500 * MORE);
    assert!(tally.1 > 1000 * MORE && tally.2 > 16 * MORE, "{tally:?}");
}

#[test]
#[ignore = "the long run of evidence"]
fn no_response_without_preemption_beats_its_bound_in_250_000_sets() {
    println!("{:?}", falsify_nonpreemptive(131, 250_000));
}

#[test]
fn fixed_priority_bounds_without_preemption_are_met_exactly() {
    let mut dice = Dice::new(32);
    let mut compared = 0u64;
    for _ in 0..250 * MORE {
        let set = drawn(&mut dice, 6);
        if crate::common::utilisation(&set) > 1.0 {
            continue;
        }
        let bounds = fixed(&sporadics(&set));
        for i in 0..set.len() {
            // The longest less urgent job starts one step before everything that is as urgent.
            let longest = (i + 1..set.len()).max_by_key(|&k| set[k].c);
            let mut jobs = Vec::new();
            if let Some(k) = longest {
                jobs.push(Job { task: k, arrival: 0, release: 0, urgency: k as u64, left: set[k].c });
            }
            for (j, x) in set.iter().enumerate().take(i + 1) {
                arrivals(&mut jobs, j, (x.c, x.t, 0), |_| j as u64, 1, 600, 0, &mut dice);
            }
            let seen = run(&mut jobs, set.len(), false, |_| true);
            assert_eq!(bounds[i], Some(seen[i]), "task {i} of {set:?}");
            compared += 1;
        }
    }
    assert!(compared > 350 * MORE, "{compared}");
}

fn value(r: oracle::fixed_point::SearchResult) -> Option<u64> {
    r.ok().map(u64::from)
}

/// How many bounds under fixed priorities and EDF were compared, all equal.
fn equal_without_preemption(seed: u64, sets: u64) -> [u64; 2] {
    let mut dice = Dice::new(seed);
    let limit = oracle::time::Duration::from(1_000_000);
    let wcet = |τ: &Sporadic| oracle::wcet::Scalar::new(oracle::time::Service::from(τ.execution.as_nanos()));
    let d = |x: Duration| oracle::time::Duration::from(x.as_nanos());
    let mut compared = [0u64, 0];
    for _ in 0..sets {
        let percent = dice.between(20, 95);
        let n = dice.between(1, 7) as usize;
        let mut set = task_set(&mut dice, n, percent, &[100, 170, 250, 400, 630], Deadlines::Arbitrary);
        set.sort_by_key(|x| x.t);
        let set = sporadics(&set);
        let arrivals: Vec<_> =
            set.iter().map(|τ| oracle::arrival::Sporadic::new(d(τ.period), d(Duration::ZERO))).collect();
        let demand: Vec<_> = set.iter().zip(&arrivals).map(|(τ, a)| oracle::demand::RBF::new(*a, wcet(τ))).collect();
        for (i, ours) in fixed(&set).into_iter().enumerate() {
            use oracle::fixed_priority::fully_nonpreemptive as theirs;
            let blocking = set[i + 1..].iter().map(|τ| τ.execution.as_nanos() - 1).max().unwrap_or(0);
            let own = theirs::TaskUnderAnalysis {
                wcet: wcet(&set[i]),
                arrivals: &arrivals[i],
                blocking_bound: oracle::time::Service::from(blocking),
            };
            let others: Vec<_> = demand[..i].iter().collect();
            let theirs = theirs::dedicated_uniproc_rta(&own, &others, limit);
            assert_eq!(ours, value(theirs), "task {i} of {set:?}");
            compared[0] += 1;
        }
        let Some(ours) = nonpreemptive_edf::responses(&set, &mut Effort::default()) else { continue };
        for (i, ours) in ours.into_iter().enumerate() {
            use oracle::edf::fully_nonpreemptive as theirs;
            let task =
                |j: usize| theirs::Task { wcet: wcet(&set[j]), arrivals: &arrivals[j], deadline: d(set[j].deadline) };
            let others: Vec<_> = (0..set.len()).filter(|j| *j != i).map(task).collect();
            let theirs = value(theirs::dedicated_uniproc_rta(&task(i), &others, limit));
            assert_eq!(Some(ours.as_nanos()), theirs, "EDF, task {i} of {set:?}");
            compared[1] += 1;
        }
    }
    compared
}

#[test]
fn bounds_without_preemption_equal_those_of_the_verified_analysis() {
    let compared = equal_without_preemption(33, 150 * MORE);
    assert!(compared.iter().all(|n| *n > 300 * MORE), "{compared:?}");
}

#[test]
#[ignore = "the long run of evidence"]
fn bounds_without_preemption_equal_those_of_the_verified_analysis_in_100_000_sets() {
    println!("{:?} bounds under fixed priorities and EDF", equal_without_preemption(133, 100_000));
}

#[test]
fn with_known_offsets_the_bound_is_what_the_schedule_shows() {
    let mut dice = Dice::new(34);
    let mut compared = 0u64;
    for _ in 0..200 * MORE {
        let mut set = drawn(&mut dice, 5);
        if crate::common::utilisation(&set) > 1.0 {
            continue;
        }
        set.iter_mut().for_each(|x| x.offset = dice.between(0, x.t - 1));
        let offsets: Vec<Duration> = set.iter().map(|x| ns(x.offset)).collect();
        let edf = dice.between(0, 1) == 0;
        let order = if edf { Order::EarliestDeadline } else { Order::FixedPriority };
        let bounds = phased::responses(&sporadics(&set), &offsets, order, &mut Effort::default()).unwrap();
        let seen = crate::common::simulate(&set, 1, edf, 600, |x| x.c, || 0);
        for ((bound, seen), x) in bounds.iter().zip(seen).zip(&set) {
            // A job at the end of the run counts as long as it has lasted; those before decide.
            assert_eq!(bound.as_nanos(), seen, "{x:?} of {set:?} {edf}");
            compared += 1;
        }
    }
    assert!(compared > 250 * MORE, "{compared}");
}

fn transaction(dice: &mut Dice, period: u64, urgencies: &mut Vec<u32>) -> Transaction {
    let n = dice.between(1, 3);
    let steps = (0..n)
        .map(|_| Step {
            offset: ns(dice.between(0, period - 1)),
            execution: ns(dice.between(1, 3)),
            jitter: ns(0),
            priority: urgencies.swap_remove(dice.between(0, urgencies.len() as u64 - 1) as usize),
        })
        .collect();
    Transaction { period: ns(period), steps }
}

fn jobs_of(all: &[Transaction], phases: &[u64], jitter: bool, length: u64, dice: &mut Dice) -> (Vec<Job>, usize) {
    let (mut jobs, mut id) = (Vec::new(), 0);
    for (g, phase) in all.iter().zip(phases) {
        for s in &g.steps {
            let first = phase + s.offset.as_nanos();
            let j = if jitter { s.jitter.as_nanos() } else { 0 };
            let parameters = (s.execution.as_nanos(), g.period.as_nanos(), j);
            arrivals(&mut jobs, id, parameters, |_| u64::from(s.priority), first, length, 0, dice);
            id += 1;
        }
    }
    (jobs, id)
}

fn bounds_of(all: &[Transaction], exact_only: bool) -> Option<Vec<Option<u64>>> {
    let places = all.iter().enumerate().flat_map(|(i, g)| (0..g.steps.len()).map(move |j| (i, j)));
    let bound = |of| match transactions::response(all, of, Duration::ZERO, &mut Effort::default()) {
        Some(r) => (r.exact || !exact_only).then_some(Some(r.bound.as_nanos())),
        None => Some(None),
    };
    places.map(bound).collect()
}

#[test]
fn the_bound_of_two_transactions_is_met_at_some_phase() {
    let mut dice = Dice::new(35);
    let mut compared = 0;
    for _ in 0..150 {
        let periods = [dice.pick(&[8, 10, 12]), dice.pick(&[10, 15, 20])];
        let mut urgencies: Vec<u32> = (0..6).collect();
        let all = periods.map(|p| transaction(&mut dice, p, &mut urgencies));
        let bounds = bounds_of(&all, true).unwrap();
        if bounds.contains(&None) {
            continue;
        }
        let mut worst = vec![0; bounds.len()];
        for phase in 0..periods[0] {
            let (mut jobs, n) = jobs_of(&all, &[phase, 0], false, 240, &mut dice);
            let seen = run(&mut jobs, n, true, |_| true);
            worst.iter_mut().zip(seen).for_each(|(w, s)| *w = s.max(*w));
        }
        let bounds: Vec<u64> = bounds.into_iter().flatten().collect();
        assert_eq!(bounds, worst, "{all:?}");
        compared += bounds.len();
    }
    assert!(compared > 200, "{compared}");
}

fn falsify_transactions(seed: u64, sets: u64) -> Tally {
    let mut dice = Dice::new(seed);
    let mut tally = Tally::default();
    while tally.0 < sets {
        let n = dice.between(1, 3);
        let mut urgencies: Vec<u32> = (0..9).collect();
        let mut all: Vec<Transaction> = (0..n)
            .map(|_| {
                let period = dice.pick(&[10, 12, 15, 20, 30]);
                transaction(&mut dice, period, &mut urgencies)
            })
            .collect();
        for g in &mut all {
            let most = g.period.as_nanos();
            g.steps.iter_mut().for_each(|s| s.jitter = ns(dice.between(0, most).saturating_sub(most / 2)));
        }
        let load: f64 = all
            .iter()
            .flat_map(|g| g.steps.iter().map(|s| s.execution.as_nanos() as f64 / g.period.as_nanos() as f64))
            .sum();
        if load > 1.0 {
            continue;
        }
        let bounds = bounds_of(&all, false).unwrap();
        let phases: Vec<u64> = all.iter().map(|g| dice.between(0, g.period.as_nanos())).collect();
        let (mut jobs, n) = jobs_of(&all, &phases, true, 300, &mut dice);
        hold(&bounds, &run(&mut jobs, n, true, |_| true), &mut tally, &all);
    }
    tally
}

#[test]
fn no_step_of_a_transaction_beats_its_bound() {
    let tally = falsify_transactions(36, 300 * MORE);
    assert!(tally.1 > 600 * MORE && tally.2 > 30 * MORE, "{tally:?}");
}

#[test]
#[ignore = "the long run of evidence"]
fn no_step_of_a_transaction_beats_its_bound_in_150_000_sets() {
    println!("{:?}", falsify_transactions(136, 150_000));
}

#[test]
fn whatever_the_harmonic_bound_admits_response_times_admit() {
    let mut dice = Dice::new(37);
    let mut admitted = [0, 0];
    for _ in 0..3000 {
        let percent = dice.between(60, 100);
        let n = dice.between(1, 6) as usize;
        let mut set = task_set(&mut dice, n, percent, &[20, 40, 60, 80, 120, 240], Deadlines::Implicit);
        set.sort_by_key(|x| x.t);
        let set = sporadics(&set);
        if harmonic_chains(&set) {
            let dedicated = tactus_analysis::task::Dedicated;
            for i in 0..set.len() {
                let effort = &mut Effort::default();
                let r = fixed_priority::response(&set[i], &set[..i], Duration::ZERO, &dedicated, effort);
                assert!(r.is_some_and(|r| r <= set[i].deadline), "{set:?}");
            }
        }
        admitted[usize::from(harmonic_chains(&set))] += 1;
    }
    assert!(admitted.iter().all(|n| *n > 200), "{admitted:?}");
}
