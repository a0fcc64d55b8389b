//! Verdicts come as early as they can, and no earlier: judged by an evaluator written separately.

mod common;

use common::{formula, satisfies, Random, ATOMS};
use tactus_monitor::{all_letters, Budget, Lasso, Letter, Synthesis, SynthesisError, Verdict};

/// What a number of cases came to.
#[derive(Default, Debug)]
struct Tally {
    formulas: usize,
    not_yet: usize,
    settled: usize,
    continuations: usize,
    over_budget: usize,
    most_states: usize,
}

/// One random formula on one random word, each verdict on the way confirmed.
fn try_one(seed: u64, tally: &mut Tally) {
    let mut random = Random::new(seed);
    let (operators, count) = (random.below(13), 1 + random.below(ATOMS.len()));
    let formula = formula(&mut random, operators, count);
    let atoms: Vec<String> = ATOMS[..count].iter().map(|&name| name.into()).collect();
    let letters = all_letters(count).expect("few atoms");
    let synthesis = match Synthesis::new(&formula, &atoms, &letters, &mut Budget::new(8 << 20, 10_000_000)) {
        Ok(synthesis) => synthesis,
        Err(SynthesisError::OverBudget(_)) => {
            tally.over_budget += 1;
            return;
        }
        Err(error) => panic!("seed {seed}, {formula}: {error}"),
    };
    tally.formulas += 1;
    tally.most_states = tally.most_states.max(synthesis.machine.states());
    let continued =
        |seen: &[Letter], rest: &Lasso| Lasso { prefix: [seen, &rest.prefix].concat(), cycle: rest.cycle.clone() };
    let mut seen: Vec<Letter> = vec![];
    let mut state = synthesis.machine.initial;
    for _ in 0..=6 {
        let verdict = synthesis.machine.output(state);
        if verdict == Verdict::NotYet {
            let good = synthesis.satisfying(state).expect("not yet: can still be satisfied");
            let bad = synthesis.violating(state).expect("not yet: can still be violated");
            assert!(satisfies(&formula, &continued(&seen, &good)), "seed {seed}: {formula} after {seen:?} by {good:?}");
            assert!(!satisfies(&formula, &continued(&seen, &bad)), "seed {seed}: {formula} after {seen:?} by {bad:?}");
            tally.not_yet += 1;
        } else {
            tally.settled += 1;
            let mut refute = |rest: Lasso| {
                let whole = continued(&seen, &rest);
                let agrees = satisfies(&formula, &whole) == (verdict == Verdict::True);
                assert!(agrees, "seed {seed}: {formula} is {verdict} after {seen:?}, but not with {rest:?}");
                tally.continuations += 1;
            };
            // All continuations with up to six bits of letters: the last letter, or all of them, is repeated.
            for length in 1..=6 / count {
                for code in 0..letters.len().pow(length as u32) {
                    let word: Vec<Letter> =
                        (0..length).map(|i| letters[code / letters.len().pow(i as u32) % letters.len()]).collect();
                    let (prefix, cycle) = word.split_at(length - 1);
                    refute(Lasso { prefix: prefix.to_vec(), cycle: cycle.to_vec() });
                    refute(Lasso { prefix: vec![], cycle: word });
                }
            }
            for _ in 0..8 {
                let mut word = |most: usize| -> Vec<Letter> {
                    let length = random.below(most);
                    (0..=length).map(|_| letters[random.below(letters.len())]).collect()
                };
                refute(Lasso { prefix: word(12), cycle: word(8) });
            }
            break;
        }
        let input = random.below(letters.len());
        seen.push(letters[input]);
        state = synthesis.machine.step(state, input);
    }
}

fn try_many(seeds: std::ops::Range<u64>) -> Tally {
    let mut tally = Tally::default();
    for seed in seeds {
        try_one(seed, &mut tally);
    }
    println!("{tally:?}");
    tally
}

#[test]
fn verdicts_of_random_formulas_are_the_earliest() {
    let tally = try_many(0..4_000);
    assert!(tally.over_budget * 100 < tally.formulas, "{tally:?}");
    assert!(tally.not_yet > 3_000 && tally.settled > 3_000, "{tally:?}");
}

/// `TACTUS_SEEDS=from..to cargo test --release -p tactus-monitor --test earliest -- --ignored --nocapture`
#[test]
#[ignore = "a million formulas take minutes"]
fn verdicts_of_a_million_random_formulas_are_the_earliest() {
    let seeds = std::env::var("TACTUS_SEEDS").unwrap_or("0..1000000".into());
    let (from, to) = seeds.split_once("..").expect("TACTUS_SEEDS=from..to");
    let tally = try_many(from.parse().expect("a number")..to.parse().expect("a number"));
    assert!(tally.over_budget * 100 < tally.formulas, "{tally:?}");
}
