//! A sample of what `tactus agree` shows over 200 generated systems: every decision on the machine is the policy's own,
//! and no promise is broken.

use tactus_scenarios::{tactus, Scratch};

#[test]
fn generated_systems_of_every_policy_do_on_the_machine_what_they_do_in_the_simulator() {
    let folder = Scratch::new("agree");
    let out = folder.path().join("agree");
    let words = ["agree", "--systems", "21", "--seed", "500", "--duration", "200 ms", "--shift", "2", "--out"];
    let said = tactus(words.iter().map(std::ffi::OsStr::new).chain([out.as_os_str()]));
    assert_eq!(said.status, 0, "{}{}", said.output, said.errors);
    assert!(said.output.contains("all agree"), "{}", said.output);
    assert!(said.output.contains("21 systems"), "{}", said.output);
}

#[test]
fn generated_systems_that_share_resources_do_on_the_machine_what_they_do_in_the_simulator() {
    let folder = Scratch::new("agree-resources");
    let out = folder.path().join("agree");
    let words = ["agree", "--systems", "16", "--resources", "--duration", "200 ms", "--shift", "2", "--out"];
    let said = tactus(words.iter().map(std::ffi::OsStr::new).chain([out.as_os_str()]));
    assert_eq!(said.status, 0, "{}{}", said.output, said.errors);
    assert!(said.output.contains("all agree") && said.output.contains("16 systems"), "{}", said.output);
}

#[test]
fn generated_systems_that_components_release_do_on_the_machine_what_the_policy_decides() {
    let folder = Scratch::new("agree-raised");
    let out = folder.path().join("agree");
    let words = ["agree", "--systems", "12", "--raised", "--duration", "200 ms", "--shift", "2", "--out"];
    let said = tactus(words.iter().map(std::ffi::OsStr::new).chain([out.as_os_str()]));
    assert_eq!(said.status, 0, "{}{}", said.output, said.errors);
    assert!(said.output.contains("all agree"), "{}", said.output);
}
