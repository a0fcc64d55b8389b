//! One processor: bounds against simulation in unit steps, and against the `response-time-analysis` crate.

use crate::common::{ns, simulate, sporadics, task_set, Deadlines, Dice};
use response_time_analysis as oracle;
use response_time_analysis::demand::RBF;
use tactus_analysis::effort::Effort;
use tactus_analysis::task::{Dedicated, Sporadic};
use tactus_analysis::uniprocessor::edf_demand::{self, Demand};
use tactus_analysis::uniprocessor::utilisation_bounds::{hyperbolic, liu_layland};
use tactus_analysis::uniprocessor::{edf_response, fixed_priority};
use tactus_time::Duration;

const PERIODS: [u64; 8] = [5, 6, 8, 10, 12, 15, 20, 30];
/// A common multiple of the periods, more than once.
const LENGTH: u64 = 360;

fn fixed(set: &[Sporadic]) -> Vec<Option<u64>> {
    let r = |i: usize| fixed_priority::response(&set[i], &set[..i], Duration::ZERO, &Dedicated, &mut Effort::default());
    (0..set.len()).map(|i| r(i).map(Duration::as_nanos)).collect()
}

fn edf(set: &[Sporadic]) -> Option<Vec<u64>> {
    let r = edf_response::responses(set, Duration::ZERO, &Dedicated, &mut Effort::default())?;
    Some(r.into_iter().map(Duration::as_nanos).collect())
}

/// Sets and bounds of them, each met exactly.
fn met_by_fixed_priorities(seed: u64, drawn: u64) -> (u64, u64) {
    let mut dice = Dice::new(seed);
    let (mut sets, mut compared) = (0, 0);
    for _ in 0..drawn {
        let percent = dice.between(30, 100);
        let n = dice.between(1, 6) as usize;
        let mut set = task_set(&mut dice, n, percent, &PERIODS, Deadlines::Arbitrary);
        set.sort_by_key(|x| x.t);
        if crate::common::utilisation(&set) > 1.0 {
            continue;
        }
        sets += 1;
        let seen = simulate(&set, 1, false, LENGTH, |x| x.c, || 0);
        for (bound, seen) in fixed(&sporadics(&set)).into_iter().zip(seen) {
            assert_eq!(bound, Some(seen), "{set:?}");
            compared += 1;
        }
    }
    (sets, compared)
}

#[test]
fn fixed_priority_bounds_are_met_exactly_when_all_tasks_start_together() {
    let (_, compared) = met_by_fixed_priorities(1, 2000);
    assert!(compared > 3000, "{compared}");
}

/// Sets with bounds, bounds held against four schedules each, and responses that were as long as the bound.
fn falsify_edf(seed: u64, drawn: u64) -> (u64, u64, u64) {
    let mut dice = Dice::new(seed);
    let (mut sets, mut compared, mut met) = (0, 0, 0);
    for _ in 0..drawn {
        let percent = dice.between(30, 100);
        let n = dice.between(1, 6) as usize;
        let mut set = task_set(&mut dice, n, percent, &PERIODS, Deadlines::Arbitrary);
        let Some(bounds) = edf(&sporadics(&set)) else { continue };
        sets += 1;
        for start in 0..4 {
            for x in &mut set {
                x.offset = if start == 0 { 0 } else { dice.between(0, x.t - 1) };
            }
            let late = if start == 3 { 3 } else { 0 };
            let mut jitter = Dice::new(dice.next());
            let seen = simulate(&set, 1, true, LENGTH, |x| x.c, || jitter.between(0, late));
            for (bound, seen) in bounds.iter().zip(seen) {
                assert!(seen <= *bound, "{set:?} {bounds:?} {seen}");
                compared += 1;
                met += u64::from(seen == *bound);
            }
        }
    }
    (sets, compared, met)
}

#[test]
fn edf_bounds_are_never_exceeded_and_sometimes_met() {
    let (_, compared, met) = falsify_edf(2, 1500);
    assert!(compared > 8000 && met > compared / 10, "{met} of {compared}");
}

#[test]
#[ignore = "the long run of evidence"]
fn no_response_on_one_core_exceeds_its_bound_in_100_000_sets_each() {
    println!("fixed priorities: {:?} sets and bounds met exactly", met_by_fixed_priorities(101, 100_000));
    println!("EDF: {:?} sets, bounds, bounds met", falsify_edf(102, 100_000));
}

#[test]
fn the_demand_test_and_the_edf_bounds_agree_on_who_meets_deadlines() {
    let mut dice = Dice::new(3);
    let mut counts = [0, 0];
    for _ in 0..3000 {
        let percent = dice.between(50, 100);
        let n = dice.between(2, 6) as usize;
        let mut set = task_set(&mut dice, n, percent, &PERIODS, Deadlines::Arbitrary);
        if dice.between(0, 1) == 0 {
            set.iter_mut().for_each(|x| x.d = dice.between(x.c, x.t));
        }
        let set = sporadics(&set);
        let by_demand = edf_demand::schedulable(&set, Duration::ZERO, &Dedicated, &mut Effort::default());
        let Some(bounds) = edf(&set) else {
            assert_eq!(by_demand, Demand::Overload);
            continue;
        };
        let by_response = bounds.iter().zip(&set).all(|(r, τ)| ns(*r) <= τ.deadline);
        assert_eq!(by_demand == Demand::Fits, by_response, "{set:?} {bounds:?} {by_demand:?}");
        counts[usize::from(by_response)] += 1;
    }
    assert!(counts[0] > 100 && counts[1] > 100, "{counts:?}");
}

#[test]
fn whatever_a_utilisation_bound_admits_response_times_admit() {
    let mut dice = Dice::new(4);
    let mut admitted = [0, 0];
    for _ in 0..3000 {
        let percent = dice.between(60, 95);
        let n = dice.between(1, 6) as usize;
        let mut set = task_set(&mut dice, n, percent, &[20, 35, 50, 70, 110, 200], Deadlines::Implicit);
        set.sort_by_key(|x| x.t);
        let set = sporadics(&set);
        let (simple, product) = (liu_layland(&set), hyperbolic(&set));
        assert!(product || !simple, "the hyperbolic bound admits what Liu and Layland's does: {set:?}");
        if product {
            assert!(fixed(&set).iter().zip(&set).all(|(r, τ)| r.is_some_and(|r| ns(r) <= τ.deadline)), "{set:?}");
        }
        admitted[0] += u32::from(simple);
        admitted[1] += u32::from(product);
    }
    assert!(admitted[0] > 100 && admitted[1] > admitted[0], "{admitted:?}");
}

type Demanded = RBF<oracle::arrival::Sporadic, oracle::wcet::Scalar>;

fn demanded(τ: &Sporadic) -> Demanded {
    let d = |x: Duration| oracle::time::Duration::from(x.as_nanos());
    let arrivals = oracle::arrival::Sporadic::new(d(τ.period), d(τ.jitter));
    RBF::new(arrivals, oracle::wcet::Scalar::new(oracle::time::Service::from(τ.execution.as_nanos())))
}

fn value(r: oracle::fixed_point::SearchResult) -> Option<u64> {
    r.ok().map(u64::from)
}

/// How many bounds of so many sets were compared, all equal.
fn equal_under_fixed_priorities(seed: u64, sets: u64) -> u64 {
    let mut dice = Dice::new(seed);
    let limit = oracle::time::Duration::from(1_000_000);
    let mut compared = 0;
    for _ in 0..sets {
        let percent = dice.between(30, 98);
        let n = dice.between(1, 8) as usize;
        let mut set = task_set(&mut dice, n, percent, &[100, 170, 250, 400, 630, 1000], Deadlines::Implicit);
        set.sort_by_key(|x| x.t);
        let mut set = sporadics(&set);
        for τ in &mut set {
            τ.jitter = ns(dice.between(0, 40));
        }
        let all: Vec<Demanded> = set.iter().map(demanded).collect();
        for (i, ours) in fixed(&set).into_iter().enumerate() {
            // The oracle counts a response from the release; ours counts from the arrival.
            let own = Sporadic { jitter: Duration::ZERO, ..set[i] };
            let theirs =
                oracle::fixed_priority::fully_preemptive::dedicated_uniproc_rta(&demanded(&own), &all[..i], limit);
            let plain = fixed_priority::response(&own, &set[..i], Duration::ZERO, &Dedicated, &mut Effort::default());
            assert_eq!(plain.map(Duration::as_nanos), value(theirs), "{set:?}");
            if let (Some(ours), Some(plain)) = (ours, plain) {
                assert!(ours >= plain.as_nanos() + set[i].jitter.as_nanos());
            }
            compared += 1;
        }
    }
    compared
}

#[test]
fn fixed_priority_bounds_equal_those_of_the_verified_analysis() {
    let compared = equal_under_fixed_priorities(5, 1000);
    assert!(compared > 3000, "{compared}");
}

/// The same for EDF; how many sets had bounds, and how many bounds.
fn equal_under_edf(seed: u64, sets: u64) -> (u64, u64) {
    let mut dice = Dice::new(seed);
    let limit = oracle::time::Duration::from(1_000_000);
    let (mut bounded, mut compared) = (0, 0);
    while bounded < sets {
        let percent = dice.between(30, 95);
        let n = dice.between(1, 8) as usize;
        let set = sporadics(&task_set(&mut dice, n, percent, &[100, 170, 250, 400, 630], Deadlines::Arbitrary));
        let all: Vec<Demanded> = set.iter().map(demanded).collect();
        let deadline = |i: usize| oracle::time::Duration::from(set[i].deadline.as_nanos());
        let Some(ours) = edf(&set) else { continue };
        bounded += 1;
        for (i, ours) in ours.into_iter().enumerate() {
            let own = oracle::edf::fully_preemptive::Task { rbf: &all[i], deadline: deadline(i) };
            let others: Vec<_> = (0..set.len())
                .filter(|j| *j != i)
                .map(|j| oracle::edf::fully_preemptive::Task { rbf: &all[j], deadline: deadline(j) })
                .collect();
            let theirs = oracle::edf::fully_preemptive::dedicated_uniproc_rta(&own, &others, limit);
            assert_eq!(Some(ours), value(theirs), "task {i} of {set:?}");
            compared += 1;
        }
    }
    (bounded, compared)
}

#[test]
fn edf_bounds_equal_those_of_the_verified_analysis() {
    let (_, compared) = equal_under_edf(6, 400);
    assert!(compared > 1000, "{compared}");
}

#[test]
#[ignore = "the long run of evidence"]
fn bounds_equal_those_of_the_verified_analysis_in_100_000_sets_each() {
    println!("fixed priorities: {} bounds of 100000 sets", equal_under_fixed_priorities(105, 100_000));
    println!("EDF: {:?} sets and bounds", equal_under_edf(106, 100_000));
}

/// The example of 18 tasks that SchedCAT's tests name after Audsley (`tests/fp.py`, `AudsleyExample`): execution, period, deadline, blocking,
/// jitter, and the response without the latter, all in µs.
#[test]
fn blocking_and_jitter_give_the_responses_of_audsley_s_example() {
    const TASKS: [[u64; 6]; 18] = [
        [51, 1_000, 1_000, 0, 0, 51],
        [3_000, 2_000_000, 5_000, 300, 0, 3_504],
        [2_000, 25_000, 25_000, 600, 0, 5_906],
        [5_000, 25_000, 25_000, 900, 0, 11_512],
        [1_000, 40_000, 40_000, 1_350, 0, 13_064],
        [3_000, 50_000, 50_000, 1_350, 0, 16_217],
        [5_000, 50_000, 50_000, 750, 0, 20_821],
        [8_000, 59_000, 59_000, 750, 0, 36_637],
        [9_000, 80_000, 80_000, 1_350, 0, 47_798],
        [2_000, 80_000, 80_000, 450, 0, 48_949],
        [5_000, 100_000, 100_000, 1_050, 0, 99_150],
        [1_000, 200_000, 200_000, 450, 1_000, 99_550],
        [3_000, 200_000, 200_000, 450, 0, 140_641],
        [1_000, 200_000, 200_000, 450, 0, 141_692],
        [1_000, 200_000, 200_000, 1_350, 0, 143_694],
        [3_000, 1_000_000, 1_000_000, 0, 0, 145_446],
        [1_000, 1_000_000, 1_000_000, 0, 0, 146_497],
        [1_000, 1_000_000, 1_000_000, 0, 0, 147_548],
    ];
    let us = Duration::from_micros;
    let task = |&[execution, period, deadline, _, jitter, _]: &[u64; 6]| Sporadic {
        jitter: us(jitter),
        ..Sporadic::new(us(execution), us(period), us(deadline))
    };
    let set: Vec<Sporadic> = TASKS.iter().map(task).collect();
    for (i, [.., blocking, jitter, response]) in TASKS.iter().enumerate() {
        let blocking = us(*blocking);
        let ours = fixed_priority::response(&set[i], &set[..i], blocking, &Dedicated, &mut Effort::default());
        assert_eq!(ours, Some(us(response + jitter)), "task {i}");
    }
}
