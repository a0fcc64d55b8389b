//! Colours chosen for the least sum, against all ways to share them out.

use proptest::prelude::*;
use tactus_cache::choose::{choose, even, utilisation, Curve, Decided, NoChoice};

/// The least sum of utilisations with at most this many colours, every group within `capacity`: every number for each group in turn.
fn least(curves: &[Curve], colours: usize, capacity: u64) -> Option<u64> {
    let Some((curve, others)) = curves.split_first() else { return Some(0) };
    let with = |count| {
        let takes = utilisation(curve, count);
        (takes <= capacity).then(|| least(others, colours - count, capacity)).flatten().map(|sum| sum + takes)
    };
    (1..=colours).filter_map(with).min()
}

fn sum(curves: &[Curve], counts: &[usize]) -> u64 {
    curves.iter().zip(counts).map(|(curve, count)| utilisation(curve, *count)).sum()
}

fn curve() -> impl Strategy<Value = Curve> {
    (50_000u64..900_000, prop::collection::vec(0u64..300_000, 1..8)).prop_map(|(base, mut extra)| {
        extra.sort_unstable_by(|a, b| b.cmp(a));
        extra.into_iter().map(|extra| base + extra).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn the_least_sum_is_found_and_nobody_gets_a_colour_for_nothing(
        curves in prop::collection::vec(curve(), 1..6), colours in 5usize..14
    ) {
        let chosen = choose(&curves, colours, 1_000_000).unwrap();
        prop_assert!(chosen.colours.iter().sum::<usize>() <= colours);
        prop_assert!(chosen.colours.iter().all(|count| *count >= 1));
        let least = least(&curves, colours, 1_000_000);
        prop_assert_eq!(chosen.decided == Decided::Least, least.is_some());
        if let Some(least) = least {
            prop_assert_eq!(sum(&curves, &chosen.colours), least);
            for n in 0..curves.len() {
                let mut fewer = chosen.colours.clone();
                fewer[n] -= 1;
                prop_assert!(fewer[n] == 0 || sum(&curves, &fewer) > least, "{curves:?} {chosen:?}");
            }
        }
    }
}

#[test]
fn the_largest_machine_is_no_trouble() {
    let curves: Vec<Curve> =
        (0..64u64).map(|g| (1..9).map(|k| 100_000 + (g * 7919 % 50_000) * (9 - k)).collect()).collect();
    let chosen = choose(&curves, 256, 1_000_000).unwrap();
    assert_eq!((chosen.decided, chosen.colours.iter().sum::<usize>()), (Decided::Least, 256));
}

#[test]
fn what_has_no_answer_is_split_evenly_or_refused() {
    let curves = vec![vec![300_000, 200_000]; 25];
    assert_eq!(even(&curves, 32).unwrap().colours[..8], [2, 2, 2, 2, 2, 2, 2, 1]);
    let too_few = choose(&curves, 24, 1_000_000).unwrap_err();
    assert_eq!(too_few, NoChoice::TooFew { colours: 24, groups: 25 });
    assert!(too_few.to_string().contains("more colours"));
    assert_eq!(choose(&[vec![1], vec![]], 4, 1_000_000), Err(NoChoice::NoCurve(1)));
    // No number of colours is enough for this group: nothing better than the even split is known.
    assert_eq!(choose(&[vec![2_000_000], vec![1]], 4, 1_000_000).unwrap().decided, Decided::Even);
}
