//! A sample of what `tactus agree` shows over 200 generated systems: every decision on the machine is the policy's own,
//! and no promise is broken.

use std::ffi::OsStr;
use tactus_lab_scenarios::lab;
use tactus_scenarios::Scratch;

/// Asks whether this many systems agree, of the kind that the words name, and gives what was said.
fn agree(systems: &str, words: &[&str]) -> String {
    let folder = Scratch::new(&format!("agree-{}", words[0].trim_start_matches('-')));
    let out = folder.path().join("agree");
    let words = ["agree", "--systems", systems].into_iter().chain(words.iter().copied()).map(OsStr::new);
    let said = lab(words.chain([OsStr::new("--out"), out.as_os_str()]));
    assert_eq!(said.status, 0, "{}{}", said.output, said.errors);
    said.output
}

#[test]
fn generated_systems_of_every_policy_do_on_the_machine_what_they_do_in_the_simulator() {
    let said = agree("21", &["--seed", "500", "--duration", "200 ms", "--shift", "2"]);
    assert!(said.contains("all agree") && said.contains("21 systems"), "{said}");
}

#[test]
fn generated_systems_that_share_resources_do_on_the_machine_what_they_do_in_the_simulator() {
    let said = agree("16", &["--resources", "--duration", "200 ms", "--shift", "2"]);
    assert!(said.contains("all agree") && said.contains("16 systems"), "{said}");
}

#[test]
fn generated_systems_that_components_release_do_on_the_machine_what_the_policy_decides() {
    let said = agree("12", &["--raised", "--duration", "200 ms", "--shift", "2"]);
    assert!(said.contains("all agree"), "{said}");
}

#[test]
fn partition_systems_do_on_the_machine_what_they_do_in_the_simulator() {
    let said = agree("12", &["--partitions", "--seed", "20", "--duration", "400 ms"]);
    assert!(said.contains("12 systems"), "{said}");
}

/// Each decision is replayed in the scheduler that made it, and no rule of servers is broken.
#[test]
fn each_scheduler_of_random_trees_decides_on_the_machine_as_its_policy_does() {
    let said = agree("16", &["--per-server", "--duration", "200 ms", "--shift", "2"]);
    assert!(said.contains("all agree"), "{said}");
}
