//! What the reader of a file assumed or refuses is told by every command that reads it.

use tactus_scenarios::{file, tactus, Scratch};

#[test]
fn the_notes_of_the_reader_are_shown_by_check_and_simulate() {
    let scratch = Scratch::new("reading");
    let workload = file("examples/rt-app/deadline.json");
    let out = scratch.path().join("out");
    let check = tactus(["check".as_ref(), workload.as_os_str()]);
    let simulate = tactus(["simulate".as_ref(), workload.as_os_str(), "--out".as_ref(), out.as_os_str()]);
    for said in [check, simulate] {
        let note = |line: &str| line.starts_with("note") && line.contains("calibration");
        assert!(said.output.lines().any(note), "{}", said.output);
    }
}

#[test]
fn another_duration_is_held_to_the_limits_of_the_file() {
    let scratch = Scratch::new("reading");
    let system = file("examples/avionics.toml");
    let out = scratch.path().join("out");
    for (time, words) in [
        ("1 ns", "its first deadline is 25 ms, after the end of the run at 1 ns"),
        ("0 s", "no time at all"),
        ("86401 s", "more than the 86400 s"),
        ("18446744073709551615 ns", "more than the 86400 s"),
    ] {
        for verb in ["simulate", "run"] {
            let words_of = [verb.as_ref(), system.as_os_str(), "--duration".as_ref(), time.as_ref(), "--out".as_ref()];
            let said = tactus(words_of.into_iter().chain([out.as_os_str()]));
            assert_eq!(said.status, 2, "{verb} {time}: {}", said.errors);
            assert!(said.errors.contains(words), "{verb} {time}: {}", said.errors);
            assert!(!out.exists(), "{verb} {time} left something behind");
        }
    }
}

#[test]
fn an_accepted_system_says_of_how_many_tasks_something_is_promised() {
    let check = |name: &str| tactus(["check".as_ref(), file(name).as_os_str()]).output;
    let (some, all) = (check("examples/avionics.toml"), check("examples/global-edf.toml"));
    // Two of its tasks are of level D.
    assert!(some.contains("accepted: 22 of 24 tasks promised"), "{some}");
    assert!(all.lines().any(|line| line.starts_with("check") && line.ends_with("accepted")), "{all}");
}
