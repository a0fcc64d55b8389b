//! The language of properties: what is printed is read back as the same, and no text makes the reader fall over.

mod common;

use common::{formula, Random};
use proptest::prelude::*;
use tactus_monitor::{Formula, Property, DEEPEST, LONGEST};

#[test]
fn printed_formulas_are_read_back_as_the_same() {
    for seed in 0..5_000 {
        let mut random = Random::new(seed);
        let operators = random.below(20);
        let formula = formula(&mut random, operators, 4);
        let text = formula.to_string();
        assert_eq!(Formula::parse(&text).as_ref(), Ok(&formula), "seed {seed}: {text}");
    }
}

#[test]
fn printed_properties_of_time_are_read_back_as_the_same() {
    for text in [
        "always (p -> eventually[<= 10 ms] q)",
        "always (p -> always[<= 1500 us] (q or r))",
        "always (p and not r -> once[<= 1 s] q)",
        "always (p -> r until[<= 10 ms] (q and s))",
        "always (p -> (r until q) since[<= 7 ns] (r since s))",
        "always (once p -> historically[<= 10 ms] not (p since r))",
        "distance(p and previously q) <= 7 ns",
        "distance(p or q) >= 5 ms",
        "distance(p) <= 7 ns",
        "latency(p, q, r) <= 20 ms",
    ] {
        let property = Property::parse(text).expect(text);
        assert_eq!(property.to_string(), text);
        assert_eq!(Property::parse(&property.to_string()), Ok(property));
    }
}

#[test]
fn the_signs_and_letters_of_other_tools_mean_the_same() {
    let ours = Formula::parse("always ((p and not q) -> (next r until eventually s))").expect("a formula");
    let past = Formula::parse("historically (p since previously once q)").expect("a formula");
    assert_eq!(Formula::parse("H (p S Y O q)"), Ok(past));
    for (one, other) in [("[<= 3]", "[0, 3]"), ("[<= 10 ms]", "[0 ms, 10 ms]")] {
        for text in ["eventuallyI p", "alwaysI p", "onceI p", "historicallyI p", "p untilI q", "p sinceI q"] {
            let read = |interval| Formula::parse(&text.replace('I', interval)).expect(text);
            assert_eq!(read(one), read(other), "{text}");
        }
    }
    for text in ["G ((p && !q) -> (X r U F s))", "[](p ∧ ¬q → X r U <>s)", "□((p & ~q) => (X r U ◇s))"] {
        assert_eq!(Formula::parse(text).as_ref(), Ok(&ours), "{text}");
    }
}

#[test]
fn texts_beyond_the_limits_are_refused() {
    let deep = format!("{}p{}", "(".repeat(DEEPEST * 5), ")".repeat(DEEPEST * 5));
    assert!(Formula::parse(&deep).expect_err("too deep").message.contains("nested more than"));
    let long = format!("p{}", " and p".repeat(LONGEST));
    assert!(Formula::parse(&long).expect_err("too long").message.contains("more than 4000 words"));
    let nots = format!("{}p", "not ".repeat(DEEPEST * 10));
    assert!(Formula::parse(&nots).expect_err("too deep").message.contains("nested more than"));
}

proptest! {
    #[test]
    fn no_text_makes_the_reader_fall_over(text in "\\PC{0,60}") {
        let _ = Property::parse(&text);
    }

    #[test]
    fn no_row_of_words_makes_the_reader_fall_over(
        words in proptest::collection::vec(
            proptest::sample::select(vec![
                "always", "eventually", "next", "until", "unless", "release", "once", "not", "and", "or", "->", "<->", "(", ")",
                "[", "<=", "]", "10", "ms", "p", "q", ",", "distance", "latency", ">=", "true", "false",
                "since", "previously", "historically", "0", "3",
            ]),
            0..25,
        ),
    ) {
        if let Ok(property) = Property::parse(&words.join(" ")) {
            prop_assert_eq!(Property::parse(&property.to_string()), Ok(property));
        }
    }
}
