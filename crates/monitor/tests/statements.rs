//! What the source says of its monitors, statement by statement.

#[path = "common/dataflow.rs"]
mod dataflow;

use dataflow::{machine, USE_CASE};
use tactus_monitor::{all_letters, Budget, Formula, Synthesis};

#[test]
fn statement_01_the_intermediate_monitor_of_the_use_case_has_three_states() {
    let formula = Formula::parse(USE_CASE).expect("a formula");
    let atoms: Vec<String> = formula.atoms().into_iter().collect();
    let letters = all_letters(atoms.len()).expect("four atoms");
    let machine = Synthesis::new(&formula, &atoms, &letters, Budget::default()).expect("a machine").machine;
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
