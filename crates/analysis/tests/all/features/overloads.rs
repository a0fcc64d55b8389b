//! An overload is refused whatever else a system has.

use tactus_analysis::check;
use tactus_generate::{featured, overload};
use tactus_model::{Costs, Feature};

/// Overloads of these features at once, as far as there are such systems: how many, and which of them are accepted.
fn overloads(wanted: &[Feature], seeds: u64) -> (u32, Vec<u64>) {
    let (mut drawn, mut accepted) = (0, Vec::new());
    for seed in 0..seeds {
        let Some(mut system) = featured(wanted, seed, 0.5) else { continue };
        if !overload(&mut system) {
            continue;
        }
        drawn += 1;
        if check(&system, &Costs::default()).accepted {
            accepted.push(seed);
        }
    }
    (drawn, accepted)
}

fn none_is_accepted(seeds: u64) -> u32 {
    let mut all = 0;
    for (i, one) in Feature::ALL.iter().enumerate() {
        for other in &Feature::ALL[i..] {
            let (drawn, accepted) = overloads(&[*one, *other], seeds);
            assert!(accepted.is_empty(), "{one:?} and {other:?}: seeds {accepted:?}");
            assert!(one != other || drawn > 0, "no system has {one:?}");
            all += drawn;
        }
    }
    all
}

#[test]
fn an_overload_with_any_two_features_is_refused() {
    let all = none_is_accepted(2);
    assert!(all > 4_000, "{all}");
}

#[test]
#[ignore = "forty systems of each pair; minutes: cargo test --release -p tactus-analysis --test all features:: -- --ignored --nocapture"]
fn many_overloads_with_any_two_features_are_refused() {
    println!("{} overloads", none_is_accepted(40));
}
