//! The mutants of this tree: each changes a text that is there, for tests that are there and show its statement. Spoilt ones are told.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use tactus_sources::mutant::{read, Mutant, Program};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn text(name: &str) -> String {
    fs::read_to_string(root().join("docs/sources").join(name)).expect("it is there")
}

fn held(mutants: &str) -> Result<Vec<Mutant>, Vec<String>> {
    let statements = tactus_sources::read(&text("statements.toml")).expect("they are valid");
    read(mutants, &statements, &root())
}

#[test]
fn sixty_mutants_of_all_sources_change_what_is_there_once_for_tests_of_their_statements() {
    let mutants = held(&text("mutants.toml")).unwrap_or_else(|faults| panic!("{}", faults.join("\n")));
    let sources: BTreeSet<&str> = mutants.iter().filter_map(|it| it.statement.split(' ').next()).collect();
    assert!(mutants.len() >= 60, "{}", mutants.len());
    assert_eq!(sources.len(), 10, "{sources:?}");
}

#[test]
fn a_mutant_of_a_text_a_statement_or_a_test_that_is_not_there_is_told() {
    let good = "[[mutant]]\nstatement = \"disk 3\"\nfile = \"crates/disk/src/map.rs\"\nold = \"if form == Form::Symmetric { 4 }\"\n\
        new = \"if form == Form::Symmetric { 2 }\"\ntest = \"crates/disk/src/map.rs::sizes_follow_the_sources_formula\"\n";
    assert_eq!(held(good).map(|all| all.len()), Ok(1));
    for (from, to, words) in [
        ("disk 3", "disk 33", "there is no such statement"),
        ("src/map.rs\"\nold", "src/none.rs\"\nold", "No such file"),
        ("Symmetric { 4 }", "Symmetric { 5 }", "stands 0 times"),
        ("if form == Form::Symmetric { 4 }", "Form::Symmetric", "times in the file and not once"),
        ("Symmetric { 2 }", "Symmetric { 4 }", "changes nothing"),
        ("sizes_follow", "sizes_precede", "is none of the tests of the statement"),
        ("new =", "newer =", "unknown field"),
    ] {
        let spoilt = good.replacen(from, to, 1);
        let faults = held(&spoilt).expect_err(to).join("\n");
        assert!(faults.contains(words), "{to}: {faults}");
    }
}

#[test]
fn a_test_is_in_the_program_of_its_file_in_the_nearest_package_and_workspace() {
    let of = |test: &str| Program::of(test, &root()).map(|it| (it.workspace, it.package, it.target));
    let some = |workspace: &str, package: &str, target: &str| Some((workspace.into(), package.into(), target.into()));
    assert_eq!(of("crates/disk/src/map.rs::a"), some("", "tactus-disk", "--lib"));
    assert_eq!(of("crates/disk/tests/map.rs::a"), some("", "tactus-disk", "--test=map"));
    assert_eq!(of("crates/policy/tests/all/trees.rs::a"), some("", "tactus-policy", "--test=all"));
    assert_eq!(of("lab/studies/mc2/src/fine/timers.rs::a"), some("lab", "tactus-mc2-variants", "--lib"));
    assert_eq!(of("nowhere"), None);
}
