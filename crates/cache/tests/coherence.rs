//! No state can be reached in which two cores disagree about a line: every state of small hierarchies, random walks of larger ones.

mod common;

use common::{coherent, dirty, Small, PROTOCOLS};
use proptest::prelude::*;
use std::collections::HashSet;
use tactus_cache::{Hierarchy, Inclusion, Kind, Owner, Protocol, State};

const KINDS: [Kind; 3] = [Kind::Fetch, Kind::Read, Kind::Write];

/// One access, and whether all is well after it.
fn step(model: &mut Hierarchy, numbers: u64, core: usize, number: u64, kind: Kind) -> Result<(), String> {
    let mut changed = dirty(model, numbers);
    if kind == Kind::Write {
        changed.insert(number);
    }
    let before = model.memory_writes();
    model.access(core, number * 64, kind, Owner(0));
    coherent(model, numbers)?;
    let now = model.caches().cores[core].state(number);
    if now == State::Invalid || (kind == Kind::Write && now != State::Modified) {
        return Err(format!("core {core} has line {number} {now:?} after {kind:?}"));
    }
    let vanished = changed.difference(&dirty(model, numbers)).count() as u64;
    if vanished > model.memory_writes() - before {
        return Err(format!("{vanished} changed lines are gone, {} were written", model.memory_writes() - before));
    }
    Ok(())
}

/// Visits every state that accesses of all cores to `numbers` lines can reach.
fn every_state(small: &Small, numbers: u64) -> usize {
    let start = Hierarchy::with_owners(small.geometry(), 1).unwrap();
    let mut seen = HashSet::from([start.caches()]);
    let mut open = vec![start];
    while let Some(model) = open.pop() {
        for core in 0..small.cores {
            for number in 0..numbers {
                for kind in KINDS {
                    let mut next = model.clone();
                    step(&mut next, numbers, core, number, kind).unwrap();
                    if seen.insert(next.caches()) {
                        open.push(next);
                    }
                }
            }
        }
    }
    seen.len()
}

fn shapes(protocol: Protocol) -> Vec<(&'static str, Small, u64)> {
    use Inclusion::{Inclusive, NonInclusive, Victim};
    let two = |shared| Small { cores: 2, first: (1, 1), second: None, shared, protocol, next_line: false };
    let three = |shared| Small { cores: 3, first: (1, 1), second: None, shared, protocol, next_line: false };
    let deep =
        |second, shared| Small { cores: 2, first: (1, 1), second: Some(second), shared, protocol, next_line: false };
    vec![
        ("two cores, inclusive", two((4, 4, Inclusive)), 2),
        ("two cores, non-inclusive", two((1, 1, NonInclusive)), 3),
        ("two cores, victim", two((1, 1, Victim)), 3),
        ("three cores, victim", three((1, 1, Victim)), 2),
        ("three cores, non-inclusive", three((1, 1, NonInclusive)), 2),
        ("second level inclusive, shared victim", deep((2, 2, Inclusive), (1, 1, Victim)), 2),
        ("second level non-inclusive, shared non-inclusive", deep((1, 1, NonInclusive), (1, 1, NonInclusive)), 2),
        ("prefetcher", Small { next_line: true, first: (2, 2), ..two((1, 1, NonInclusive)) }, 2),
    ]
}

#[test]
fn no_reachable_state_of_a_very_small_hierarchy_is_incoherent() {
    for protocol in PROTOCOLS {
        for (name, small, numbers) in shapes(protocol) {
            if small.cores == 2 && !small.next_line {
                let states = every_state(&small, if small.second.is_some() { numbers } else { 2 });
                assert!(states > 50, "{name}: only {states} states");
            }
        }
    }
}

#[test]
#[ignore = "two minutes of processor time"]
fn no_reachable_state_of_a_small_hierarchy_is_incoherent() {
    for protocol in PROTOCOLS {
        for (name, small, numbers) in shapes(protocol) {
            let states = every_state(&small, numbers);
            assert!(states > 50, "{name}: only {states} states");
            println!("{protocol:?}, {name}: {states} states");
        }
    }
}

/// The search finds a fault when there is one: a protocol whose reader leaves a modified line alone.
#[test]
fn two_modified_copies_would_be_found() {
    for protocol in PROTOCOLS {
        assert!(!protocol.compatible(State::Modified, State::Modified));
        assert!(!protocol.compatible(State::Modified, State::Shared));
        assert!(!protocol.compatible(State::Exclusive, State::Shared));
        assert!(!protocol.compatible(State::Owned, State::Owned));
        assert!(!protocol.compatible(State::Forward, State::Forward));
    }
    assert!(!Protocol::Mesi.compatible(State::Forward, State::Shared));
    assert!(!Protocol::Mesif.compatible(State::Owned, State::Shared));
}

fn any_small() -> impl Strategy<Value = Small> {
    let inclusion = prop_oneof![Just(Inclusion::Inclusive), Just(Inclusion::NonInclusive), Just(Inclusion::Victim)];
    let second = prop_oneof![
        Just(None),
        Just(Some((8, 2, Inclusion::Inclusive))),
        Just(Some((4, 2, Inclusion::NonInclusive))),
        Just(Some((8, 8, Inclusion::NonInclusive))),
    ];
    (1usize..=8, second, inclusion, 0..3usize, any::<bool>(), 0u32..2).prop_map(
        |(cores, second, inclusion, protocol, next_line, ways)| {
            let least = if inclusion == Inclusion::Inclusive { 16 * cores as u64 } else { 8 };
            let lines = least.next_power_of_two();
            let shared = (lines, 4 << ways, inclusion);
            Small { cores, first: (4, 2), second, shared, protocol: PROTOCOLS[protocol], next_line }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]
    #[test]
    fn random_accesses_keep_every_hierarchy_coherent(
        small in any_small(),
        accesses in prop::collection::vec((0usize..8, 0u64..40, 0usize..3), 1..300),
    ) {
        let mut model = Hierarchy::with_owners(small.geometry(), 1).unwrap();
        for (core, number, kind) in accesses {
            let outcome = step(&mut model, 41, core % small.cores, number, KINDS[kind]);
            prop_assert!(outcome.is_ok(), "{outcome:?}");
        }
    }
}
