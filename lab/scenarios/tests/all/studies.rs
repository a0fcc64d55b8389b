//! Studies cut short: what they print decides their status, and what did not run is not said to agree.

use tactus_lab_scenarios::lab;
use tactus_scenarios::Scratch;

#[test]
fn statements_21_to_24_of_mc2_hold_in_a_short_sweep_and_a_kernel_that_was_not_asked_does_not_agree() {
    let scratch = Scratch::new("robustness");
    let out = scratch.path().join("out");
    let words = ["study", "mc2-robustness", "--systems", "3", "--duration", "10 s", "--kernel", "0 s", "--out"];
    let said = lab(words.iter().map(std::ffi::OsStr::new).chain([out.as_os_str()]));
    assert_eq!(said.status, 0, "{}{}", said.output, said.errors);
    assert!(said.output.contains("statements 21 to 24 hold; the kernel was not asked"), "{}", said.output);
    assert!(!said.output.contains("agree"), "{}", said.output);
}
