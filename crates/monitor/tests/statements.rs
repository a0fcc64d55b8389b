//! What the source says of its monitors, statement by statement.

#[path = "common/dataflow.rs"]
mod dataflow;

use dataflow::{machine, USE_CASE};
use tactus_monitor::{
    all_letters, bits_for, Budget, Composed, Encoded, Encoding, Formula, Layout, Operations, Step, Synthesis,
    TableError, Verdict,
};

#[test]
fn statement_01_the_intermediate_monitor_of_the_use_case_has_three_states() {
    let formula = Formula::parse(USE_CASE).expect("a formula");
    let atoms: Vec<String> = formula.atoms().into_iter().collect();
    let letters = all_letters(atoms.len()).expect("four atoms");
    let machine = Synthesis::new(&formula, &atoms, &letters, &mut Budget::default()).expect("a machine").machine;
    assert_eq!(machine.minimised().states(), 3);
    // Over the combinations that the automata allow, waiting for `begin` and having begun cannot be told apart: one less.
    assert_eq!(dataflow::machine(0).intermediate, [2]);
}

#[test]
fn statement_02_the_three_properties_have_the_published_states_and_events() {
    let sizes = [1, 2, 3].map(|number| (machine(number).machine.states(), machine(number).events.len()));
    assert_eq!(sizes, [(8, 5), (20, 5), (7, 3)]);
    let smallest = [1, 2, 3, 4].map(|number| machine(number).minimised().machine.states());
    assert_eq!(smallest, [8, 10, 5, 8]);
}

/// The bytes of a machine in each encoding, the source's order.
fn bytes(machine: &Composed) -> [usize; 4] {
    Encoding::ALL.map(|encoding| Encoded::new(machine, Some(encoding)).expect("it fits").bytes.len())
}

/// What the events lead to, from the start, one after the other.
fn run(machine: &Composed, events: &str) -> Vec<Step> {
    let encoded = Encoded::new(machine, None).expect("a table");
    let mut stepper = encoded.stepper(false).expect("a sound table");
    let column = |event| machine.events.iter().position(|known| known == event).expect("an event") as u32;
    events.split_whitespace().map(|event| stepper.step(column(event))).collect()
}

/// A generator of numbers for walks through tables.
fn numbers(mut seed: u64) -> impl FnMut(u32) -> u32 {
    move |limit| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as u32 % limit
    }
}

#[test]
fn statement_02_the_plain_tables_have_the_published_bytes() {
    assert_eq!([1, 2, 3].map(|number| bytes(&machine(number))[0]), [40, 100, 21]);
}

#[test]
fn statement_03_the_verdict_false_comes_on_the_very_event() {
    let machine = machine(0);
    for (events, broken) in [
        ("s00 r20", "T2 reads b0 while nothing was computed from the new value"),
        ("s00 r21", "T2 reads b1 while nothing was computed from the new value"),
        ("s00 r10 r20", "T2 reads b0 while T1 is computing"),
        ("s00 r10 r21", "T2 reads b1 while T1 is computing"),
        ("s00 r10 s11 r20 s00", "b0 is written between T2's two reads"),
        ("r21 s00", "b0 is written between T2's two reads, b1 first"),
    ] {
        let steps = run(&machine, events);
        let (last, before) = steps.split_last().expect("events");
        assert_eq!(*last, Step::Concluded(Verdict::False), "{broken}");
        assert!(before.iter().all(|step| *step == Step::Continues), "{broken}");
    }
}

#[test]
fn statement_04_runs_that_conform_get_no_verdict() {
    let (machine, mut below) = (machine(0), numbers(4));
    let rounds = (0..1_000).map(|_| ["s00 r10 s11 r20 r21 ", "s00 r10 s11 r21 r20 "][below(2) as usize]);
    assert!(run(&machine, &rounds.collect::<String>()).iter().all(|step| *step == Step::Continues));
}

#[test]
fn statement_05_a_verdict_is_final_unless_the_monitor_starts_anew() {
    let machine = machine(0);
    let encoded = Encoded::new(&machine, None).expect("a table");
    let [s00, s11, r10, r20, _] = [0, 1, 2, 3, 4];
    let broken = Step::Concluded(Verdict::False);
    let mut once = encoded.stepper(false).expect("a sound table");
    assert_eq!(
        [s00, r20, r10, s11].map(|event| once.step(event)),
        [Step::Continues, broken, Step::Stopped, Step::Stopped]
    );
    assert_eq!(once.verdict(), Verdict::False);
    let mut again = encoded.stepper(true).expect("a sound table");
    assert_eq!([s00, r20].map(|event| again.step(event)), [Step::Continues, broken]);
    assert_eq!(again.state(), 0);
    assert_eq!([r20, s00].map(|event| again.step(event)), [Step::Continues, broken]);
}

/// The automata stepped one after the other and the formula's own machine fed with the names of their states.
#[test]
fn statement_06_the_direct_monitor_and_product_with_formula_agree_on_random_traces() {
    for (number, text, automata) in [
        (0, USE_CASE, &dataflow::automata()[..2]),
        (1, dataflow::PROP_1, &dataflow::automata()[..2]),
        (2, dataflow::PROP_2, &dataflow::automata()[..]),
        (3, dataflow::PROP_3, &dataflow::automata()[2..]),
    ] {
        let direct = machine(number);
        let encoded = Encoded::new(&direct, None).expect("a table");
        let formula = Formula::parse(text).expect("a formula");
        let atoms: Vec<String> = formula.atoms().into_iter().collect();
        let letters = all_letters(atoms.len()).expect("few atoms");
        let alone = Synthesis::new(&formula, &atoms, &letters, &mut Budget::default()).expect("a machine").machine;
        let (mut below, mut verdicts) = (numbers(6 + number as u64), 0);
        for _ in 0..2_000 {
            let mut stepper = encoded.stepper(false).expect("a sound table");
            let mut names: Vec<&str> = automata.iter().map(|automaton| automaton.states[0].as_str()).collect();
            let mut state = alone.initial;
            for _ in 0..30 {
                let column = below(direct.events.len() as u32);
                let event = &direct.events[column as usize];
                for (automaton, name) in automata.iter().zip(&mut names) {
                    let taken = automaton.transitions.iter().find(|t| t.from == *name && t.event == *event);
                    *name = taken.map_or(*name, |transition| &transition.to);
                }
                let holds = |atom: &String| u128::from(names.contains(&atom.as_str()));
                let letter = atoms.iter().enumerate().fold(0, |letter, (bit, atom)| letter | holds(atom) << bit);
                state = alone.step(state, letter as usize);
                stepper.step(column);
                assert_eq!(stepper.verdict(), alone.output(state), "{text}");
                verdicts += usize::from(stepper.verdict().is_final());
            }
        }
        assert!(verdicts > 100, "{text}");
    }
}

#[test]
fn statement_07_encodings_have_identical_transitions_and_the_published_bytes() {
    assert_eq!([1, 2, 3].map(|number| bytes(&machine(number))), [[40, 16, 15, 15], [100, 80, 68, 63], [21, 14, 9, 8]]);
    for number in 0..=4 {
        for composed in [machine(number), machine(number).minimised()] {
            let mut below = numbers(7);
            let encoded = Encoding::ALL.map(|encoding| Encoded::new(&composed, Some(encoding)).expect("it fits"));
            for _ in 0..200 {
                let mut steppers = encoded.each_ref().map(|encoded| encoded.stepper(false).expect("a sound table"));
                let mut state = composed.machine.initial;
                for _ in 0..20 {
                    let event = below(composed.events.len() as u32);
                    let running = !composed.machine.output(state).is_final();
                    state = if running { composed.machine.step(state, event as usize) } else { state };
                    for stepper in &mut steppers {
                        stepper.step(event);
                        assert_eq!(stepper.state(), state);
                    }
                }
            }
        }
    }
}

#[test]
fn statement_08_encodings_that_cannot_hold_a_table_are_refused() {
    assert_eq!(Layout::new(Encoding::Plain, 257, 5), Err(TableError::TooManyStates { states: 257, limit: 256 }));
    assert!(Layout::new(Encoding::Plain, 256, 5).is_ok());
    assert_eq!(Layout::new(Encoding::RowPerWord, 20, 7), Err(TableError::RowTooWide { bits: 35 }));
    assert!(Layout::new(Encoding::RowPerWord, 16, 8).is_ok());
}

#[test]
fn statement_09_the_formulas_of_the_source_bound_and_give_the_sizes() {
    // For each length of word, the source's bound where up to b - 1 bits are lost in each word.
    let bound = |states: u32, events: u32| {
        let bits = bits_for(states);
        let of = |n: u32| (states * events * bits).div_ceil(n - (bits - 1)) * n / 8;
        [8, 16, 24, 32].into_iter().filter(|&n| n >= bits).map(of).min().expect("a word")
    };
    assert_eq!(bound(20, 5), 72);
    for states in 2..=600 {
        for events in 1..=12 {
            let packed = Layout::new(Encoding::PackedWords, states, events).expect("it fits").bytes;
            let string = Layout::new(Encoding::BitString, states, events).expect("it fits").bytes;
            assert!(packed <= bound(states, events), "{states} states, {events} events");
            assert_eq!(string, (bits_for(states) * states * events).div_ceil(8));
        }
    }
}

/// The most modelled cycles of a look-up in each encoding, for a division of that many cycles.
fn cycles(machine: &Composed, division: u32) -> [u32; 4] {
    Encoding::ALL.map(|encoding| {
        let encoded = Encoded::new(machine, Some(encoding)).expect("it fits");
        let pairs =
            (0..machine.machine.states() as u32).flat_map(|s| (0..machine.events.len() as u32).map(move |e| (s, e)));
        let cost = pairs.map(|(s, e)| Operations::of(&encoded.layout, &encoded.bytes, s, e).cycles(division));
        cost.max().expect("a table")
    })
}

#[test]
fn statement_10_the_order_of_times_is_the_sources_where_a_division_is_slow() {
    let [plain, row, packed, string] = cycles(&machine(2), 20);
    println!("cycles: plain {plain}, row-per-word {row}, packed-words {packed}, bit-string {string}");
    assert!(plain < row && row < string && string < packed, "{plain} {row} {string} {packed}");
    // With a divider of the speed of a multiplication the last two change places.
    let [_, _, packed, string] = cycles(&machine(2), 2);
    assert!(packed < string, "{packed} {string}");
}

#[test]
fn statement_15_the_cost_of_several_monitors_on_an_event_is_proportional_to_their_number() {
    // A plain look-up does the same work whatever the state, so k of them do k times that of one.
    for number in 1..=3 {
        let machine = machine(number);
        let encoded = Encoded::new(&machine, Some(Encoding::Plain)).expect("a table");
        let one = Operations::of(&encoded.layout, &encoded.bytes, 0, 0);
        for state in 0..machine.machine.states() as u32 {
            for event in 0..machine.events.len() as u32 {
                assert_eq!(Operations::of(&encoded.layout, &encoded.bytes, state, event), one);
            }
        }
    }
}

#[test]
fn statement_16_two_properties_in_one_monitor_halve_the_bytes_and_keep_the_verdict() {
    let (both, first, second) = (machine(4), machine(1), machine(2));
    assert_eq!((both.machine.states(), bytes(&both)[0]), (14, 70));
    assert_eq!(bytes(&first)[0] + bytes(&second)[0], 140);
    let tables = [&both, &first, &second].map(|machine| Encoded::new(machine, None).expect("a table"));
    let mut below = numbers(16);
    for _ in 0..5_000 {
        let mut steppers = tables.each_ref().map(|table| table.stepper(false).expect("a sound table"));
        for _ in 0..20 {
            let event = below(5);
            let [both, first, second] = steppers.each_mut().map(|stepper| {
                stepper.step(event);
                stepper.verdict()
            });
            let pair = if [first, second].contains(&Verdict::False) { Verdict::False } else { Verdict::NotYet };
            assert_eq!(both, pair);
        }
    }
}

#[test]
fn statement_17_the_saving_falls_to_nothing_at_eight_bits() {
    // The fraction saved, in percent, for 2^x states.
    let saved = |encoding, events: u32| {
        [2_u32, 3, 4, 5, 6, 7, 8].map(|x| {
            let layout = Layout::new(encoding, 1 << x, events);
            layout.ok().map(|layout| 100 - (100 * layout.bytes).div_ceil(events << x))
        })
    };
    let string = [75, 62, 50, 37, 25, 12, 0].map(Some);
    assert_eq!((saved(Encoding::BitString, 3), saved(Encoding::BitString, 5)), (string, string));
    assert_eq!(saved(Encoding::RowPerWord, 3), [66, 33, 33, 33, 0, 0, 0].map(Some));
    assert_eq!(saved(Encoding::RowPerWord, 5), [Some(60), Some(60), Some(40), Some(20), Some(20), None, None]);
    for events in [3, 5] {
        let pairs = saved(Encoding::PackedWords, events).into_iter().zip(string);
        assert!(pairs.into_iter().all(|(packed, string)| packed <= string), "{events} events");
    }
}
