//! Colours chosen by the solver, against a dynamic program that knows no solver.

use proptest::prelude::*;
use tactus_cache::choose::{choose, even, utilisation, Curve, Decided, NoChoice};

/// The least sum of utilisations with at most `colours` colours, every group within `capacity`; the textbook's knapsack.
fn least(curves: &[Curve], colours: usize, capacity: u64) -> Option<u64> {
    let mut best: Vec<Option<u64>> = vec![Some(0); colours + 1];
    for curve in curves {
        let mut next = vec![None; colours + 1];
        for have in 0..=colours {
            for count in 1..=have {
                let takes = utilisation(curve, count);
                if let (true, Some(before)) = (takes <= capacity, best[have - count]) {
                    next[have] = Some(next[have].map_or(before + takes, |known: u64| known.min(before + takes)));
                }
            }
        }
        best = next;
    }
    best[colours]
}

fn sum(curves: &[Curve], counts: &[usize]) -> u64 {
    curves.iter().zip(counts).map(|(curve, count)| utilisation(curve, *count)).sum()
}

fn curve() -> impl Strategy<Value = Curve> {
    (50_000u64..700_000, prop::collection::vec(0u64..300_000, 1..8)).prop_map(|(base, mut extra)| {
        extra.sort_unstable_by(|a, b| b.cmp(a));
        extra.into_iter().map(|extra| base + extra).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn the_solver_finds_the_least_sum(curves in prop::collection::vec(curve(), 1..10), colours in 10usize..33) {
        let chosen = choose(&curves, colours, 1_000_000).unwrap();
        prop_assert_eq!(chosen.decided, Decided::Solver);
        prop_assert!(chosen.colours.iter().sum::<usize>() <= colours);
        prop_assert!(chosen.colours.iter().all(|count| *count >= 1));
        prop_assert_eq!(Some(sum(&curves, &chosen.colours)), least(&curves, colours, 1_000_000));
    }
}

#[test]
fn the_largest_case_ends_in_time() {
    let curves: Vec<Curve> =
        (0..24u64).map(|g| (1..9).map(|k| 100_000 + (g * 7919 % 50_000) * (9 - k)).collect()).collect();
    let start = std::time::Instant::now();
    let chosen = choose(&curves, 32, 1_000_000).unwrap();
    assert!(start.elapsed().as_secs() < 12);
    if chosen.decided == Decided::Solver {
        assert_eq!(Some(sum(&curves, &chosen.colours)), least(&curves, 32, 1_000_000));
    }
}

#[test]
fn what_the_solver_cannot_take_is_split_evenly_or_refused() {
    let curves = vec![vec![300_000, 200_000]; 25];
    assert_eq!(choose(&curves, 32, 1_000_000).unwrap(), even(&curves, 32).unwrap());
    assert_eq!(even(&curves, 32).unwrap().colours[..8], [2, 2, 2, 2, 2, 2, 2, 1]);
    let too_few = choose(&curves, 24, 1_000_000).unwrap_err();
    assert_eq!(too_few, NoChoice::TooFew { colours: 24, groups: 25 });
    assert!(too_few.to_string().contains("more colours"));
    assert_eq!(choose(&[vec![1], vec![]], 4, 1_000_000), Err(NoChoice::NoCurve(1)));
    // No number of colours is enough for this group: nothing better than the even split is known.
    assert_eq!(choose(&[vec![2_000_000], vec![1]], 4, 1_000_000).unwrap().decided, Decided::Even);
}
