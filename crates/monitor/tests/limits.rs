//! What is too large or damaged is refused, and says so.

use tactus_monitor::{
    all_letters, Automaton, Budget, ComposeError, Composed, Encoded, Encoding, Formula, OverBudget, Specification,
    Synthesis, SynthesisError, Table, TableError, MOST_FREE_ATOMS, MOST_OBLIGATIONS,
};

fn specification(property: &str, events: &[&str], budget: Budget) -> Specification {
    let properties = vec![Formula::parse(property).expect("a formula")];
    let events = events.iter().map(|&event| event.into()).collect();
    Specification { events, properties, budget, ..Specification::default() }
}

#[test]
fn a_synthesis_ends_where_its_budget_does() {
    // A window of ten events takes as many states as it has contents: over a thousand.
    let property = "eventually (a and next next next next next next next next next a)";
    let ample = Composed::new(&specification(property, &["a", "b"], Budget::default())).expect("a machine");
    assert!(ample.machine.states() > 500, "{}", ample.machine.states());
    let error = Composed::new(&specification(property, &["a", "b"], Budget::new(20_000, 1 << 40)))
        .expect_err("too small a budget");
    let memory = |error: &ComposeError| {
        let ComposeError::Synthesis { error: SynthesisError::OverBudget(error), .. } = error else { return false };
        matches!(error, OverBudget::Memory { total: 20_000, .. })
    };
    assert!(memory(&error), "{error}");
    assert!(error.to_string().contains("split the property into several monitors"), "{error}");
}

#[test]
fn too_many_subformulas_and_propositions_are_refused() {
    let property = format!("{}a", "next ".repeat(MOST_OBLIGATIONS + 1));
    let error = Composed::new(&specification(&property, &["a", "b"], Budget::default())).expect_err("too many");
    assert!(error.to_string().contains("more than 128 different temporal subformulas"), "{error}");
    let limit = SynthesisError::TooManyAtoms { count: MOST_FREE_ATOMS + 1, limit: MOST_FREE_ATOMS };
    assert_eq!(all_letters(MOST_FREE_ATOMS + 1), Err(limit));
    let timed = Formula::parse("always (a -> eventually[<= 1 ms] b)").expect("a formula");
    let error = Synthesis::new(&timed, &["a".into(), "b".into()], &[0], &mut Budget::default()).err();
    assert_eq!(error, Some(SynthesisError::Timed));
}

#[test]
fn a_machine_of_more_than_256_states_has_a_table_all_the_same() {
    let property = "eventually (a and next next next next next next next next next a)";
    let composed = Composed::new(&specification(property, &["a", "b"], Budget::default())).expect("a machine");
    let refused = Encoded::new(&composed, Some(Encoding::Plain));
    assert!(matches!(refused, Err(TableError::TooManyStates { limit: 256, .. })), "{refused:?}");
    let encoded = Encoded::new(&composed, None).expect("a table");
    let mut stepper = encoded.stepper(false).expect("a sound table");
    let mut state = composed.machine.initial;
    for n in 0_u32..5_000 {
        let event = (n * n / 7) % 2;
        if !composed.machine.output(state).is_final() {
            state = composed.machine.step(state, event as usize);
        }
        stepper.step(event);
        assert_eq!(stepper.state(), state);
    }
}

#[test]
fn damaged_tables_are_refused_and_unknown_events_change_nothing() {
    let composed =
        Composed::new(&specification("always (a -> next b)", &["a", "b"], Budget::default())).expect("a machine");
    for encoding in Encoding::ALL {
        let encoded = Encoded::new(&composed, Some(encoding)).expect("a table");
        let (states, events) = (encoded.layout.states, encoded.layout.events);
        let cut = &encoded.bytes[1..];
        let wrong = Table::new(encoding, states, events, cut).err();
        assert_eq!(wrong, Some(TableError::WrongLength { given: cut.len(), needed: encoded.bytes.len() }));
        let full = vec![0xFF; encoded.bytes.len()];
        assert!(matches!(Table::new(encoding, states, events, &full), Err(TableError::NoSuchState { state: 0, .. })));
        let mut stepper = encoded.stepper(false).expect("a sound table");
        stepper.step(0);
        let before = stepper.state();
        for event in [events, events + 1, u32::MAX] {
            stepper.step(event);
            assert_eq!(stepper.state(), before, "{encoding}, event {event}");
        }
    }
}

#[test]
fn two_automata_of_one_name_are_refused() {
    let automaton = Automaton { name: "m".into(), states: vec!["s".into()], transitions: vec![] };
    let mut twice = specification("always (a -> next b)", &["a", "b"], Budget::default());
    twice.automata = vec![automaton.clone(), automaton];
    let error = Composed::new(&twice).expect_err("two of one name");
    assert_eq!(error.to_string(), "two automata are called \"m\"; rename one");
}
