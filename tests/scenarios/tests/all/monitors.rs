//! The example's properties hold on its run, and for each there is a change of one line that breaks it.

use std::ffi::OsStr;
use std::fs;
use tactus_scenarios::{file, tactus, Said, Scratch};

/// Simulates a system and lets its monitors judge the run.
fn judged(scratch: &Scratch, text: &str) -> Said {
    let (system, out) = (scratch.path().join("monitors.toml"), scratch.path().join("out"));
    fs::write(&system, text).expect("a system file");
    let words = ["simulate".as_ref(), system.as_os_str(), "--out".as_ref(), out.as_os_str()];
    let simulated = tactus(words);
    assert!(simulated.status <= 1, "{}{}", simulated.output, simulated.errors);
    tactus(["monitor".as_ref(), system.as_os_str(), out.as_os_str()])
}

/// The line that says what a monitor made of the run.
fn line<'a>(said: &'a Said, monitor: &str) -> &'a str {
    let is = |line: &&str| line.split_whitespace().next() == Some(monitor);
    said.output.lines().find(is).unwrap_or_else(|| panic!("no {monitor} in\n{}{}", said.output, said.errors))
}

#[test]
fn the_properties_of_the_example_hold_and_one_changed_line_breaks_each() {
    let scratch = Scratch::new("monitors");
    let example = fs::read_to_string(file("examples/monitors.toml")).expect("the example");
    let whole = judged(&scratch, &example);
    assert_eq!(whole.status, 0, "{}{}", whole.output, whole.errors);
    let variants = [
        ("order", "offset = \"6 ms\"", "offset = \"3 ms\"", "by moves"),
        ("in-step", "offset = \"6 ms\"", "offset = \"3 ms\"", "by moves"),
        ("fresh", "offset = \"2 ms\"", "offset = \"7 ms\"", "by reads"),
        ("latency", "offset = \"6 ms\"", "offset = \"13500 us\"", "by moves"),
        ("radio-answers", "execution = \"8 ms\"", "execution = \"39 ms\"", "did not come"),
        (
            "not-too-often",
            "period = \"10 ms\"\ndeadline = \"3 ms\"",
            "period = \"4 ms\"\ndeadline = \"3 ms\"",
            "by moves",
        ),
        (
            "often-enough",
            "period = \"10 ms\"\ndeadline = \"3 ms\"",
            "period = \"25 ms\"\ndeadline = \"3 ms\"",
            "did not come",
        ),
        ("no-miss", "execution = \"2 ms\"", "execution = \"2 ms\"\nactual = \"6 ms\"", "by control"),
    ];
    for (monitor, written, changed, cause) in variants {
        assert!(line(&whole, monitor).contains("not yet"), "{}", whole.output);
        assert_eq!(example.matches(written).count(), 1, "{written} is not there once");
        let broken = judged(&scratch, &example.replace(written, changed));
        assert_eq!(broken.status, 1, "{monitor}: {}{}", broken.output, broken.errors);
        let verdict = line(&broken, monitor);
        assert!(verdict.contains("false at") && verdict.contains(cause), "{monitor}: {}", broken.output);
    }
}

#[test]
fn tables_and_graphs_are_shown_and_a_file_without_monitors_is_refused() {
    let scratch = Scratch::new("monitors");
    let example = file("examples/monitors.toml");
    let graphs = scratch.path().join("graphs");
    let words = ["monitor".as_ref(), example.as_os_str(), "--table".as_ref(), "--dot".as_ref(), graphs.as_os_str()];
    let said = tactus(words);
    assert_eq!(said.status, 0, "{}", said.errors);
    assert!(said.output.contains("measured -> next (not moves unless computed)"), "{}", said.output);
    let graph = fs::read_to_string(graphs.join("order.dot")).expect("a graph");
    assert!(graph.starts_with("digraph \"order\"") && graph.contains("0 -> 1 [label = \"measured\"]"), "{graph}");
    let none = file("examples/avionics.toml");
    let said = tactus(["monitor".as_ref(), none.as_os_str()]);
    assert_eq!(said.status, 2);
    assert!(said.errors.contains("has no monitor; add one with [[monitor]]"), "{}", said.errors);
}

/// An automaton of another tool judges a run by itself, and within a system file, to the same verdict at the same event.
#[test]
fn automata_of_other_tools_judge_a_run_by_themselves_and_as_models_of_a_system_file() {
    let scratch = Scratch::new("models");
    let example = fs::read_to_string(file("examples/monitors.toml")).expect("the example");
    // The controller starts once, and then once more, between two readings.
    let twice = example.replace("offset = \"2 ms\"\nperiod = \"10 ms\"", "offset = \"2 ms\"\nperiod = \"5 ms\"");
    for name in ["one-at-a-time.dot", "in-turn.hoa"] {
        fs::copy(file(&format!("examples/monitors/{name}")), scratch.path().join(name)).expect("a copy");
    }
    for (model, events, named) in [
        (
            "one-at-a-time.dot",
            ["start=start control", "complete=complete sensor"],
            "start = 'start control', complete = 'complete sensor'",
        ),
        (
            "in-turn.hoa",
            ["read=start control", "write=complete sensor"],
            "read = 'start control', write = 'complete sensor'",
        ),
    ] {
        for (text, violated) in [(&example, false), (&twice, true)] {
            // The sensor is done when the controller has begun.
            let text = text.replace(
                "core = 0\nperiod = \"10 ms\"\ndeadline = \"4 ms\"",
                "core = 0\noffset = \"3 ms\"\nperiod = \"10 ms\"\ndeadline = \"4 ms\"",
            );
            let text = text + &format!("[[monitor]]\nname = \"theirs\"\nmodel = \"{model}\"\nevents = {{ {named} }}\n");
            let said = judged(&scratch, &text);
            let within = line(&said, "theirs");
            let (automaton, out) = (scratch.path().join(model), scratch.path().join("out"));
            let mut words = vec![OsStr::new("monitor"), automaton.as_os_str(), out.as_os_str()];
            words.extend(events.iter().flat_map(|event| [OsStr::new("--event"), OsStr::new(event)]));
            let alone = tactus(words);
            assert_eq!(alone.status, i32::from(violated), "{model}: {}{}", alone.output, alone.errors);
            let verdict = |text: &str| text.split_whitespace().skip(1).take(5).collect::<Vec<_>>().join(" ");
            assert_eq!(verdict(&alone.output), verdict(within), "{model}: {}{}", alone.output, said.output);
            assert_eq!(within.contains("false at"), violated, "{model}: {within}");
        }
    }
    let automaton = scratch.path().join("in-turn.hoa");
    for (events, words) in [
        (vec![], "nothing says what the event \"read\" is; write --event 'read=start control'"),
        (vec!["read"], "says of no event what it is; write NAME=WHAT"),
        (vec!["reads=start control"], "the automaton has no event \"reads\"; it has read, write"),
        (vec!["read=start controls"], "the run had no task \"controls\"; it had sensor, control"),
        (vec!["read=begin control"], "\"begin\" is nothing that happens"),
        (vec!["read=send readings"], "the run recorded no such event"),
    ] {
        let out = scratch.path().join("out");
        let mut all = vec![OsStr::new("monitor"), automaton.as_os_str(), out.as_os_str()];
        all.extend(events.iter().flat_map(|event| [OsStr::new("--event"), OsStr::new(*event)]));
        let said = tactus(all);
        assert_eq!(said.status, 2, "{events:?}: {}{}", said.output, said.errors);
        assert!(said.errors.contains(words), "{events:?}: {}", said.errors);
    }
}
