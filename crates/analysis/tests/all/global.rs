//! Several processors: whatever a test accepts meets its deadlines in simulation, and no bound is exceeded.

use crate::common::{simulate, sporadics, task_set, Deadlines, Dice, T};
use tactus_analysis::effort::Effort;
use tactus_analysis::global::tardiness::Supply;
use tactus_analysis::global::{bertogna_cirinei, devi_anderson, gfb, tardiness};
use tactus_analysis::task::Dedicated;

const PERIODS: [u64; 8] = [5, 6, 8, 10, 12, 15, 20, 30];
const LENGTH: u64 = 480;
/// Unoptimised code gets fewer sets.
const SETS: u32 = if cfg!(debug_assertions) { 800 } else { 4000 };

/// The largest responses over some starts: all together, and at random; always with full execution times, since
/// under global scheduling neither is the worst case.
fn worst(dice: &mut Dice, set: &mut [T], m: usize, edf: bool) -> Vec<u64> {
    let mut worst = vec![0; set.len()];
    for start in 0..4 {
        for x in set.iter_mut() {
            x.offset = if start == 0 { 0 } else { dice.between(0, x.t - 1) };
        }
        let mut shorter = Dice::new(dice.next());
        let mut later = Dice::new(dice.next());
        let seen = simulate(
            set,
            m,
            edf,
            LENGTH,
            |x| if start == 3 { shorter.between(1, x.c) } else { x.c },
            || if start == 2 { later.between(0, 4) } else { 0 },
        );
        for (w, s) in worst.iter_mut().zip(seen) {
            *w = (*w).max(s);
        }
    }
    worst
}

/// Sets with promises, bounds that responses were held against, sets accepted by density, of so many drawn.
fn falsify_edf(seed: u64, sets: u32) -> (u32, u32, u32) {
    let mut dice = Dice::new(seed);
    let (mut promised, mut accepted, mut by_density) = (0, 0, 0);
    for _ in 0..sets {
        let m = dice.between(2, 4) as usize;
        let n = dice.between(m as u64 + 1, 9) as usize;
        let percent = dice.between(20, 75) * m as u64;
        let deadlines = dice.pick(&[Deadlines::Implicit, Deadlines::Constrained]);
        let mut set = task_set(&mut dice, n, percent, &PERIODS, deadlines);
        let tasks = sporadics(&set);
        let responses = bertogna_cirinei::edf_responses(&tasks, m, &[], &Dedicated, &mut Effort::default());
        let dense = gfb::schedulable(&tasks, m);
        if !dense && responses.iter().any(Option::is_none) {
            continue;
        }
        promised += 1;
        let seen = worst(&mut dice, &mut set, m, true);
        for ((x, seen), bound) in set.iter().zip(&seen).zip(&responses) {
            assert!(*seen <= x.d, "{set:?} misses");
            if responses.iter().all(Option::is_some) {
                assert!(*seen <= bound.unwrap().as_nanos(), "{set:?} {responses:?} {seen}");
                accepted += 1;
            }
        }
        by_density += u32::from(dense);
    }
    (promised, accepted, by_density)
}

#[test]
fn no_response_under_global_edf_exceeds_its_bound() {
    let (_, accepted, by_density) = falsify_edf(11, SETS);
    assert!(accepted > SETS / 2 && by_density > SETS / 40, "{accepted} {by_density}");
}

/// Sets with a bound, and bounds, of so many drawn.
fn falsify_fixed_priorities(seed: u64, sets: u32) -> (u32, u32) {
    let mut dice = Dice::new(seed);
    let (mut promised, mut compared) = (0, 0);
    for _ in 0..sets {
        let m = dice.between(2, 4) as usize;
        let n = dice.between(m as u64 + 1, 9) as usize;
        let percent = dice.between(20, 75) * m as u64;
        let mut set = task_set(&mut dice, n, percent, &PERIODS, Deadlines::Constrained);
        set.sort_by_key(|x| x.t);
        let tasks = sporadics(&set);
        let responses = bertogna_cirinei::fixed_priority_responses(&tasks, m, &Dedicated, &mut Effort::default());
        promised += u32::from(responses.iter().any(Option::is_some));
        let seen = worst(&mut dice, &mut set, m, false);
        for (bound, seen) in responses.iter().zip(seen) {
            if let Some(bound) = bound {
                assert!(seen <= bound.as_nanos(), "{set:?} {responses:?} {seen}");
                compared += 1;
            }
        }
    }
    (promised, compared)
}

#[test]
fn no_response_under_global_fixed_priorities_exceeds_its_bound() {
    let (_, compared) = falsify_fixed_priorities(12, SETS);
    assert!(compared > SETS, "{compared}");
}

/// Sets with a bound, tasks that were tardy, values of Devi and Anderson's bound, of so many drawn.
fn falsify_tardiness(seed: u64, drawn: u32) -> (u32, u32, u32) {
    let mut dice = Dice::new(seed);
    let (mut sets, mut tardy, mut classic) = (0, 0, 0);
    for _ in 0..drawn {
        let m = dice.between(1, 4) as usize;
        let n = dice.between(m as u64 + 1, 10) as usize;
        let percent = dice.between(80, 108) * m as u64;
        let deadlines = dice.pick(&[Deadlines::Implicit, Deadlines::Arbitrary]);
        let mut set = task_set(&mut dice, n, percent, &PERIODS, deadlines);
        let tasks = sporadics(&set);
        let Ok(late) = tardiness::bounds(&tasks, &vec![Supply::full(); m]) else { continue };
        let first = devi_anderson::x(&tasks, m);
        let seen = worst(&mut dice, &mut set, m, true);
        for (i, (x, seen)) in set.iter().zip(&seen).enumerate() {
            let tardiness = seen.saturating_sub(x.d);
            assert!(tardiness <= late[i].as_nanos(), "m {m} {set:?} task {i} {late:?} {tardiness}");
            if let Some(first) = first.filter(|_| m > 1) {
                assert!(tardiness <= first.as_nanos() + x.c, "m {m} {set:?} task {i} {first} {tardiness}");
                classic += 1;
            }
            tardy += u32::from(tardiness > 0);
        }
        sets += 1;
    }
    (sets, tardy, classic)
}

#[test]
fn no_tardiness_under_global_edf_exceeds_its_bound_up_to_full_utilisation() {
    let (sets, tardy, classic) = falsify_tardiness(13, SETS);
    assert!(sets > SETS / 3 && tardy > SETS / 15 && classic > SETS / 2, "{sets} {tardy} {classic}");
}

#[test]
#[ignore = "the long run of evidence"]
fn no_global_bound_is_exceeded_in_very_many_sets() {
    println!("global EDF: {:?} sets with promises, bounds, sets by density", falsify_edf(111, 150_000));
    println!("global fixed priorities: {:?} sets with bounds, bounds", falsify_fixed_priorities(112, 100_000));
    println!("tardiness: {:?} sets with bounds, tardy tasks, bounds of 2008", falsify_tardiness(113, 150_000));
}

/// m = 2, the sums of both tests at their limit, beyond it by a nanosecond, and below it.
#[test]
fn a_set_beyond_the_exact_limit_of_gfb_and_bak_is_never_accepted_and_one_that_is_clear_of_it_always() {
    use tactus_analysis::global::edf::bak;
    use tactus_analysis::global::set::Set;
    use tactus_analysis::task::Sporadic;
    use tactus_time::Duration;
    let both = |unit: u64, times: [u64; 3], add: [i64; 3]| {
        let ns = Duration::from_nanos;
        let one = |(time, add): (u64, i64)| Sporadic::new(ns(time.saturating_add_signed(add)), ns(unit), ns(unit));
        let tasks: Vec<Sporadic> = times.into_iter().zip(add).map(one).collect();
        [gfb::schedulable(&tasks, 2), bak::bak(&Set::of(&tasks), 2)]
    };
    // Σδ + δ_max is 2. Halves have an end in base two, thirds and sevenths have none.
    let sets = [
        (1_000_000, [500_000; 3]),
        (3_000_000, [2_000_000, 1_000_000, 1_000_000]),
        (7_000_000, [4_000_000, 3_000_000, 3_000_000]),
    ];
    for (unit, times) in sets {
        assert_eq!(both(unit, times, [1, 0, 0]), [false, false], "{unit}: beyond");
        assert_eq!(both(unit, times, [-10; 3]), [true, true], "{unit}: clear of the limit");
    }
    // BAK at its very limit: with one task a little shorter, its own inequality still has equal sides, of rounded quotients.
    assert_eq!(both(1_000_000, [500_000; 3], [-10, 0, 0]), [true, false]);
}
