//! The use case of the source: T0 writes b0, T1 reads b0 and writes b1, T2 reads both.
#![allow(dead_code)]

use tactus_monitor::{Automaton, Budget, Composed, Formula, Specification, Transition};

pub const EVENTS: [&str; 5] = ["s00", "s11", "r10", "r20", "r21"];

pub const USE_CASE: &str = "always ((firstb0 or firstb1) -> (sync until begin))";
pub const PROP_1: &str = "always (firstb1 -> (sync until begin))";
pub const PROP_2: &str = "always (firstb0 -> ((not writeb0 and not begin) until (sync and begin)))";
pub const PROP_3: &str =
    "always (writeb0 -> next (b0read2 and (b0read2 -> next (b0read1 and (b0read1 -> next writeb0)))))";

fn automaton(name: &str, states: &str, transitions: &str) -> Automaton {
    let transition = |text: &str| {
        let words: Vec<&str> = text.split_whitespace().collect();
        Transition { from: words[0].into(), event: words[1].into(), to: words[2].into() }
    };
    Automaton {
        name: name.into(),
        states: states.split_whitespace().map(Into::into).collect(),
        transitions: transitions.split(',').map(transition).collect(),
    }
}

/// The automata of the source; that of b0 leaves its neutral state on any access.
pub fn automata() -> [Automaton; 3] {
    let accesses = |from: &str| format!("{from} s00 writeb0, {from} r10 b0read1, {from} r20 b0read2");
    let b0 = ["neutral", "writeb0", "b0read1", "b0read2"].map(accesses).join(",");
    [
        automaton(
            "m_sync",
            "sync nosync inprog",
            "sync s00 nosync, sync s11 sync, sync r10 sync, nosync s00 nosync, nosync s11 nosync, nosync r10 inprog, \
             inprog s00 nosync, inprog s11 sync",
        ),
        automaton(
            "m_t2",
            "begin firstb0 firstb1",
            "begin r20 firstb0, firstb0 r21 begin, begin r21 firstb1, firstb1 r20 begin",
        ),
        automaton("m_b0", "neutral writeb0 b0read1 b0read2", &b0),
    ]
}

pub fn specification(automata: &[Automaton], properties: &[&str]) -> Specification {
    let watched = |event: &&str| automata.iter().any(|automaton| automaton.events().contains(event));
    Specification {
        automata: automata.to_vec(),
        events: EVENTS.into_iter().filter(watched).map(Into::into).collect(),
        properties: properties.iter().map(|text| Formula::parse(text).expect("a formula")).collect(),
        silence: false,
        budget: Budget::default(),
    }
}

/// The machine of the use case (0), of properties 1, 2 and 3, and of 1 and 2 together (4).
pub fn machine(number: usize) -> Composed {
    let [sync, t2, b0] = automata();
    let specification = match number {
        0 => specification(&[sync, t2], &[USE_CASE]),
        1 => specification(&[sync, t2], &[PROP_1]),
        2 => specification(&[sync, t2, b0], &[PROP_2]),
        3 => specification(&[b0], &[PROP_3]),
        _ => specification(&[sync, t2, b0], &[PROP_1, PROP_2]),
    };
    Composed::new(&specification).expect("a machine")
}
