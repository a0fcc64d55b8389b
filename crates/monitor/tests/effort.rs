//! A synthesis ends: with its machine, or refused by the name of what it needs too much of, in the time and the memory that its budget
//! stands for.

mod common;

use common::{formula, Random};
use std::fmt::Write;
use std::time::{Duration, Instant};
use tactus_monitor::{
    Automaton, Budget, ComposeError, Composed, Formula, OverBudget, Specification, SynthesisError, Transition,
};

fn names(prefix: &str, count: usize) -> Vec<String> {
    (0..count).map(|n| format!("{prefix}{n}")).collect()
}

/// A hundredth and less of what a system file has.
const SMALL: Budget = Budget::new(2 << 20, 300_000);

fn specification(property: &str, events: Vec<String>, automata: Vec<Automaton>) -> Specification {
    let properties = vec![Formula::parse(property).expect("a formula")];
    Specification { automata, events, properties, silence: true, budget: SMALL }
}

/// `p0 until (p1 until (… p19))`
fn chain(word: &str, count: usize) -> String {
    let heads: String = (0..count - 1).map(|n| format!("p{n} {word} (")).collect();
    format!("{heads}p{}{}", count - 1, ")".repeat(count - 1))
}

/// An automaton with so many states in a ring; which event leads on, differs from state to state.
fn ring(name: &str, states: usize, events: &[String], random: &mut Random) -> Automaton {
    let of = |state: usize| format!("{name}_{}", state % states);
    let transition = |from: usize| Transition {
        from: of(from),
        event: events[random.below(events.len())].clone(),
        to: of(from + 1),
    };
    let transitions = (0..states).map(transition).collect();
    Automaton { name: name.into(), states: (0..states).map(of).collect(), transitions }
}

/// The most memory that this process has had, in bytes.
fn peak() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").expect("a process");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("the most memory");
    line.trim().trim_end_matches(" kB").parse::<usize>().expect("a number") << 10
}

/// A property that is hard for one step or another of the synthesis.
fn hard(seed: u64) -> Specification {
    let mut random = Random::new(seed);
    let count = 2 + random.below(30);
    let events = names("p", count);
    let atom = |random: &mut Random| format!("p{}", random.below(count));
    let list = |random: &mut Random, head: &str, join: &str, most: usize| {
        let all: Vec<String> = (0..1 + random.below(most)).map(|_| format!("({head} {})", atom(random))).collect();
        all.join(join)
    };
    let property = match random.below(9) {
        0 => chain(["until", "release", "unless"][random.below(3)], count),
        1 => list(&mut random, "eventually", " and ", 30),
        2 => list(&mut random, "", " <-> ", 40),
        3 => list(&mut random, "next next", " <-> ", 40),
        4 => format!("eventually (p0 and {} p1)", "next ".repeat(random.below(40))),
        5 => {
            let pairs = (0..1 + random.below(12))
                .map(|_| format!("(always ({} -> eventually {}))", atom(&mut random), atom(&mut random)));
            pairs.collect::<Vec<_>>().join([" and ", " or ", " -> "][random.below(3)])
        }
        6 => {
            let both = |random: &mut Random| format!("(next {} or eventually {})", atom(random), atom(random));
            (0..1 + random.below(40)).map(|_| both(&mut random)).collect::<Vec<_>>().join(" and ")
        }
        7 => {
            let operators = 10 + random.below(60);
            let text = formula(&mut random, operators, 4).to_string();
            let events = ["a", "b", "c", "d"].map(String::from).to_vec();
            return specification(&text, events, vec![]);
        }
        _ => {
            let (automata, states) = (1 + random.below(16), 2 + random.below(4));
            let named = 1 + random.below(automata);
            let automata: Vec<Automaton> =
                (0..automata).map(|n| ring(&format!("m{n}"), states, &events, &mut random)).collect();
            let mut text = String::from("always not (p0");
            (0..named).for_each(|n| write!(text, " and m{n}_{}", random.below(states)).expect("a text"));
            return specification(&format!("{text})"), events, automata);
        }
    };
    specification(&property, events, vec![])
}

#[test]
fn a_chain_of_twenty_operators_over_events_that_exclude_each_other_is_soon_a_machine() {
    for (word, states) in [("until", 21), ("unless", 21), ("release", 2)] {
        let composed = Composed::smallest(&specification(&chain(word, 20), names("p", 20), vec![]));
        assert_eq!(composed.expect(word).machine.states(), states, "{word}");
    }
    // Nobody reads it so, but what is the same is said in so many ways.
    let equivalences = names("p", 20).join(" <-> ");
    let always = format!("always ({equivalences})");
    assert!(Composed::smallest(&specification(&always, names("p", 20), vec![])).is_ok());
}

#[test]
fn automata_that_the_property_does_not_name_take_no_part() {
    let (events, mut random) = (names("p", 3), Random::new(7));
    let automata: Vec<Automaton> = (0..16).map(|n| ring(&format!("m{n}"), 5, &events, &mut random)).collect();
    let property = "always (m3_1 -> next not m9_4)";
    let all = Composed::new(&specification(property, events.clone(), automata.clone())).expect("a machine");
    let two = [automata[3].clone(), automata[9].clone()].to_vec();
    let few = Composed::new(&specification(property, events.clone(), two)).expect("a machine");
    assert_eq!(all.machine, few.machine);
    // What is wrong with one of them is told all the same.
    let mut wrong = automata;
    wrong[5].transitions.clear();
    let error = Composed::new(&specification(property, events, wrong)).expect_err("states that nothing reaches");
    assert!(error.to_string().contains("automaton \"m5\": its state \"m5_1\" cannot be reached"), "{error}");
}

/// How many properties were made machines, and how many were refused for their need of memory, of work, of temporal subformulas, or
/// for another reason.
fn try_hard(seeds: std::ops::Range<u64>, budget: Budget) -> (usize, [usize; 4]) {
    let (mut made, mut refused, mut longest) = (0, [0; 4], Duration::ZERO);
    for seed in seeds {
        let specification = Specification { budget, ..hard(seed) };
        let began = Instant::now();
        let over = match Composed::smallest(&specification) {
            Err(ComposeError::OverBudget(over)) => Some(over),
            Err(ComposeError::Synthesis { error: SynthesisError::OverBudget(over), .. }) => Some(over),
            Err(_) => None,
            Ok(_) => {
                made += 1;
                continue;
            }
        };
        let reason = match over {
            Some(OverBudget::Memory { .. }) => 0,
            Some(OverBudget::Work { .. }) => 1,
            Some(OverBudget::Obligations) => 2,
            None => 3,
        };
        refused[reason] += 1;
        if began.elapsed() > longest {
            longest = began.elapsed();
            println!("seed {seed}: {longest:?} {over:?}, at most {} MiB until now", peak() >> 20);
        }
    }
    (made, refused)
}

#[test]
fn hard_properties_become_machines_or_are_refused_by_what_they_need_too_much_of() {
    let before = peak();
    let (made, [memory, work, ..]) = try_hard(0..60, SMALL);
    assert!(made > 20 && memory + work > 8, "{made} made, {memory} and {work} refused");
    assert!(peak() < before.max(8 << 20) + (8 << 20), "{} MiB", peak() >> 20);
}

/// `TACTUS_SEEDS=from..to cargo test --release -p tactus-monitor --test effort -- --ignored --nocapture`
#[test]
#[ignore = "thousands of hard properties take minutes"]
fn no_hard_property_takes_more_than_the_budget_of_a_system_file() {
    let seeds = std::env::var("TACTUS_SEEDS").unwrap_or("0..3000".into());
    let (from, to) = seeds.split_once("..").expect("TACTUS_SEEDS=from..to");
    let (made, refused) = try_hard(from.parse().expect("a number")..to.parse().expect("a number"), Budget::default());
    println!("{made} machines; refused for memory, work, subformulas, else: {refused:?}; {} MiB", peak() >> 20);
    assert!(peak() < 270 << 20, "{} MiB", peak() >> 20);
}
