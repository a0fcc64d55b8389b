//! Monitors in the languages of other tools: OIL with the source's objects, Linux's runtime verification, and the Hanoi format.

mod common;

use common::{formula, Random, ATOMS};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use tactus_monitor::{
    read_dot, read_hoa, read_oil, Budget, Composed, Encoded, Letter, Moore, OilAction, Specification, Step, Synthesis,
    Verdict, VIOLATION,
};

const DATAFLOW: &str = include_str!("../../../examples/monitors/dataflow.oil");

#[test]
fn statement_18_the_sources_example_in_its_own_language_has_the_published_sizes() {
    let oil = read_oil(DATAFLOW).expect("the example");
    assert_eq!(oil.events.len(), 5);
    let first = &oil.events[0];
    assert_eq!((first.task.as_str(), first.message.as_str(), first.action), ("T0", "b0", OilAction::Send));
    let sizes: Vec<(usize, usize)> =
        oil.rules.iter().map(|rule| (rule.composed.machine.states(), rule.composed.events.len())).collect();
    assert_eq!(sizes[1..], [(8, 5), (20, 5), (7, 3)]);
    assert_eq!([oil.rules[0].reset, oil.rules[1].reset], [false, true]);
    // As monitors of a system they are the same machines, minimised, and their text is read back as what it was.
    let monitors = oil.monitors();
    for (monitor, rule) in monitors.iter().zip(&oil.rules) {
        let built = monitor.build().unwrap_or_else(|error| panic!("{}: {error}", monitor.name));
        assert_eq!(built.layout().states as usize, rule.composed.minimised().machine.states(), "{}", monitor.name);
    }
    let text = oil.monitors_text();
    assert_eq!(text.matches("[[monitor]]").count(), 4);
    assert!(text.contains("\"r21\" = \"signal T2.r21\""), "{text}");
}

#[test]
fn statement_18_inconsistent_configurations_are_rejected_with_their_line() {
    for (written, changed, line, words) in [
        ("task = T0;", "task = T9;", 10, "the TASK T9, which the file does not declare"),
        ("messageobject = b1; action = send", "messageobject = b9; action = send", 11, "the MESSAGE b9"),
        (
            "action = send; };\n  enforcer_event s11",
            "action = poke; };\n  enforcer_event s11",
            10,
            "write send or receive",
        ),
        (
            "enforcer_event s11 { task = T1; messageobject = b1;",
            "enforcer_event s11 { task = T0; messageobject = b0;",
            11,
            "the same as s00",
        ),
        ("enforcer_event s11 {", "enforcer_event s00 {", 11, "a second enforcer_event s00"),
        (
            "enforcer_event = r10; };\n    transition = t3",
            "enforcer_event = r99; };\n    transition = t3",
            21,
            "the enforcer_event r99",
        ),
        (
            "tostate = nosync; enforcer_event = s00; };\n    transition = t1 ",
            "tostate = lost; enforcer_event = s00; };\n    transition = t1 ",
            0,
            "names the state \"lost\"",
        ),
        (
            "transition = t1 { fromstate = sync; tostate = sync; enforcer_event = s11;",
            "transition = t1 { fromstate = sync; tostate = sync; enforcer_event = s00;",
            0,
            "leads to both",
        ),
        ("automata = m_t2;", "automata = m_t3;", 0, "the automata m_t3, which the file does not declare"),
        ("G ((firstb0", "G ((firstb9", 0, "\"firstb9\""),
        ("G ((firstb0 ||", "G ((firstb0 and and", 0, "column 17 of the property"),
        ("reset = TRUE", "reset = maybe", 0, "write true or false"),
        ("TASK T0 {", "TUSK T0 {", 5, "the object TUSK"),
        ("action = send; };", "action = send; speed = 3; };", 10, "the attribute speed of enforcer_event s00"),
        ("action = send; };", "};", 10, "action"),
        ("OIL_VERSION", "/* OIL_VERSION", 2, "a comment begins here and never ends"),
        ("OS config {", "OS config", 0, "where \";\" is wanted"),
    ] {
        assert!(DATAFLOW.contains(written), "{written}");
        let text = DATAFLOW.replacen(written, changed, 1);
        let fault = read_oil(&text).expect_err(changed);
        let said = fault.to_string();
        assert!(said.contains(words), "{changed}\n{said}");
        assert!(fault.line > 0 && (line == 0 || fault.line == line), "{changed}\n{said}");
    }
}

/// What the events lead to, one after the other.
fn run(text: &str, events: &[&str]) -> Vec<Step> {
    let read = if text.starts_with("HOA") { read_hoa } else { read_dot };
    let specification = read(text, "x").expect("an automaton");
    let composed = Composed::new(&specification).expect("a machine").minimised();
    let encoded = Encoded::new(&composed, None).expect("a table");
    let mut stepper = encoded.stepper(false).expect("a sound table");
    let column = |event: &&str| composed.events.iter().position(|known| known == event).expect("an event") as u32;
    events.iter().map(|event| stepper.step(column(event))).collect()
}

#[test]
fn three_automata_in_the_dialect_of_linux_are_broken_by_what_they_have_no_edge_for() {
    let broken = Step::Concluded(Verdict::False);
    let one = include_str!("../../../examples/monitors/one-at-a-time.dot");
    assert_eq!(
        run(one, &["start", "complete", "start", "start"]),
        [Step::Continues, Step::Continues, Step::Continues, broken]
    );
    let budget = include_str!("../../../examples/monitors/budget.dot");
    assert_eq!(run(budget, &["dispatch", "exhaust", "replenish", "dispatch"]), [Step::Continues; 4]);
    assert_eq!(run(budget, &["exhaust", "dispatch"]), [Step::Continues, broken]);
    let restart = include_str!("../../../examples/monitors/restart.dot");
    assert_eq!(run(restart, &["complete", "fault", "complete"]), [Step::Continues, Step::Continues, broken]);
    let specification = read_dot(restart, "restart").expect("an automaton");
    assert_eq!(specification.automata[0].states, ["running", "stopped", VIOLATION]);
}

/// `TACTUS_LINUX_RV=…/linux/tools/verification/models cargo test -p tactus-monitor --test languages -- --ignored --nocapture`: Linux's own
/// automata. Along their edges, which are read here line by line, there is no verdict, and what a state has no edge for is the
/// violation; those with clocks or guards are refused as such.
#[test]
#[ignore = "TACTUS_LINUX_RV names the models of a Linux tree"]
fn linuxs_own_automata_are_broken_by_what_they_have_no_edge_for() {
    let root = std::env::var("TACTUS_LINUX_RV").expect("TACTUS_LINUX_RV names a folder");
    let mut folders = vec![PathBuf::from(root)];
    let (mut read, mut refused, mut steps) = (0, 0, 0);
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()) {
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            if path.extension().is_none_or(|ending| ending != "dot") {
                continue;
            }
            let text = fs::read_to_string(&path).expect("text");
            if let Err(fault) = read_dot(&text, "x") {
                let words = ["resets the clock", "on the clock of the state", "on a clock", "has the guard"];
                assert!(words.iter().any(|words| fault.reason.contains(words)), "{}: {fault}", path.display());
                refused += 1;
                continue;
            }
            steps += walked(&text);
            read += 1;
        }
    }
    println!("{read} automata, {steps} steps from their states; {refused} with guards or clocks refused");
    assert!(read > 0);
}

/// Goes to each state and takes each event there: how many steps that were.
fn walked(text: &str) -> usize {
    let quoted = |line: &str| line.split('"').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>();
    let edges: Vec<Vec<String>> = text.lines().filter(|line| line.contains("->")).map(quoted).collect();
    let initial = edges.iter().find(|edge| edge[0].starts_with("__init_")).expect("an initial state")[1].clone();
    let edges: BTreeMap<(&str, &str), &str> = edges
        .iter()
        .filter(|edge| edge.len() == 3)
        .flat_map(|edge| edge[2].split("\\n").map(|event| ((edge[0].as_str(), event), edge[1].as_str())))
        .collect();
    let events: BTreeSet<&str> = edges.keys().map(|(_, event)| *event).collect();
    let mut ways = vec![(initial.as_str(), Vec::<&str>::new())];
    let mut at = 0;
    while at < ways.len() {
        let (state, way) = ways[at].clone();
        at += 1;
        for event in &events {
            let taken: Vec<&str> = way.iter().copied().chain([*event]).collect();
            let next = edges.get(&(state, *event));
            let last = if next.is_some() { Step::Continues } else { Step::Concluded(Verdict::False) };
            let wanted: Vec<Step> = way.iter().map(|_| Step::Continues).chain([last]).collect();
            assert_eq!(run(text, &taken), wanted, "{taken:?}");
            if let Some(next) = next.filter(|next| ways.iter().all(|(known, _)| known != *next)) {
                ways.push((next, taken));
            }
        }
    }
    ways.len() * events.len()
}

#[test]
fn the_walk_through_an_automaton_of_linux_takes_each_event_in_each_state() {
    assert_eq!(walked(include_str!("../../../examples/monitors/one-at-a-time.dot")), 4);
    assert_eq!(walked(include_str!("../../../examples/monitors/budget.dot")), 6);
}

#[test]
fn graphs_that_are_no_automaton_are_refused_with_their_line_and_a_remedy() {
    let initial = "\"__init_a\" -> \"a\";";
    let edge = |label: &str| format!("digraph g {{\n{initial}\n\"a\" -> \"b\" [ label = \"{label}\" ];\n}}");
    for (text, line, words) in [
        ("graph g { }".to_string(), 1, "where \"digraph\""),
        ("digraph g { \"a\" -> \"b\" [ label = \"e\" ]; }".into(), 0, "the initial state"),
        (format!("digraph g {{\n{initial}\n}}"), 0, "an edge with an event"),
        (format!("digraph g {{\n{initial}\n\"a\" -> \"b\";\n}}"), 3, "the event (label"),
        (edge("e;x < 5"), 3, "the event e has the bound x < 5 on a clock, and automata have none here; write it as a property"),
        (edge("f\\ne;reset(clk)"), 3, "the event e resets the clock clk, and automata have no clock here; write it as a property"),
        (edge("e;off == 1 && x == 2"), 3, "the event e has the guard off == 1, a variable of Linux's kernel, which no event tells"),
        (edge("a < b"), 3, "the label a < b is no event"),
        (
            edge("e").replace("\"a\" ->", "\"b\" [ label = \"b\\nclk < LIMIT_NS()\" ]; \"a\" ->"),
            3,
            "the bound clk < LIMIT_NS() on the clock of the state b, and automata have no clock here; write it as a property",
        ),
        (
            format!(
                "digraph g {{\n{initial}\n\"a\" -> \"b\" [ label = \"e\" ];\n\"a\" -> \"a\" [ label = \"e\" ];\n}}"
            ),
            4,
            "keep one of the edges",
        ),
        (format!("digraph g {{\n{initial}\n\"__init_b\" -> \"b\";\n}}"), 3, "keep one"),
        (format!("digraph g {{\n{initial}\n\"a\" -> \"a\" [ label = \"e\" ];\n}}"), 0, "nothing could violate it"),
        (format!("digraph g {{\n{initial}\n\"a\" -> \"violation\" [ label = \"e\" ];\n}}"), 0, "rename it"),
        (format!("digraph g {{\n{initial}\n\"a\" -> \"b\" [ label = \"e\" ]\n"), 3, "the end of the file"),
        ("digraph g { /* ".into(), 1, "a comment begins here"),
        ("digraph g { ? }".into(), 1, "has no place in this format"),
    ] {
        let fault = read_dot(&text, "x").expect_err(&text);
        let said = fault.to_string();
        assert!(said.replace('"', "").contains(&words.replace('"', "")), "{text}\n{said}");
        assert_eq!(fault.line, line, "{text}\n{said}");
    }
}

#[test]
fn linuxs_models_with_clocks_and_guards_are_refused_by_those() {
    // What `nomiss`, `stall` and `opid` of `tools/verification/models` have that no automaton here has.
    for (model, text, line, what) in [
        ("nomiss", "\"__init_ready\" -> \"ready\";\n\"ready\" [label = \"ready\\nclk < DEADLINE_NS()\", color = green3];", 3, "clk < DEADLINE_NS()"),
        ("nomiss", "\"__init_ready\" -> \"ready\";\n\"ready\" -> \"ready\" [ label = \"sched_wakeup\\ndl_replenish;reset(clk)\" ];", 3, "\"dl_replenish\" resets the clock \"clk\""),
        ("nomiss", "\"__init_ready\" -> \"ready\";\n\"ready\" -> \"throttled\" [ label = \"dl_throttle;is_defer == 1\" ];", 3, "the guard \"is_defer == 1\""),
        ("stall", "{node [shape = circle] \"enqueued\"};\n\"__init_dequeued\" -> \"dequeued\";\n\"enqueued\" [label = \"enqueued\\nclk < threshold_jiffies\"];", 4, "clk < threshold_jiffies"),
        ("opid", "\"__init_any\" -> \"any\";\n\"any\" -> \"any\" [ label = \"sched_need_resched;irq_off == 1\\nsched_waking;irq_off == 1 && preempt_off == 1\" ];", 3, "the guard \"irq_off == 1\""),
    ] {
        let fault = read_dot(&format!("digraph state_automaton {{\n{text}\n}}"), model).expect_err(model);
        assert!(fault.line == line && fault.reason.contains(what), "{model}: {fault}");
    }
}

const IN_TURN: &str = include_str!("../../../examples/monitors/in-turn.hoa");

#[test]
fn automata_in_the_hanoi_format_are_broken_where_no_run_is_left() {
    let broken = Step::Concluded(Verdict::False);
    let goes = Step::Continues;
    assert_eq!(run(IN_TURN, &["read", "write", "read", "read"]), [goes, goes, goes, broken]);
    // As Spot's pages show a monitor: named states, no edge for what is violated, another tool's headers, a comment.
    let spot = "HOA: v1\nname: \"G(p0 | p1 | p2)\"\nStates: 1\nStart: 0\nAP: 3 \"p0\" \"p1\" \"p2\"\nacc-name: all\n\
        Acceptance: 0 t\nproperties: trans-labels explicit-labels state-acc deterministic\ntool: \"x\" \"1\"\n--BODY--\n\
        /* one */ State: 0 \"G\"\n[0 | (1 & !2)] 0\n--END--\n";
    assert_eq!(run(spot, &["p0", "p1", "p2"]), [goes, goes, broken]);
    // Whoever comes to a state without an edge is lost already.
    let doomed = IN_TURN.replace("[!0&!1] 1\n[!0&1] 0\n", "");
    let oops = read_hoa(&doomed, "x").expect("an automaton");
    assert_eq!(oops.automata[0].states, ["s0", VIOLATION]);
    assert_eq!(run(&doomed, &["write", "read"]), [goes, broken]);
}

/// A formula's machine over events of which one happens at a time, or none, as a deterministic monitor in the Hanoi format.
fn in_hanoi(machine: &Moore<Verdict>, letters: &[Letter], events: &[String]) -> String {
    let names: Vec<String> = events.iter().map(|event| format!("{event:?}")).collect();
    let mut text = format!("HOA: v1\nStart: {}\nAP: {} {}\n", machine.initial, events.len(), names.join(" "));
    text += "Acceptance: 0 t\n--BODY--\n";
    for state in (0..machine.states() as u32).filter(|&state| machine.output(state) != Verdict::False) {
        text += &format!("State: {state}\n");
        for (input, letter) in letters.iter().enumerate() {
            let sign = |bit: usize| if letter >> bit & 1 == 1 { bit.to_string() } else { format!("!{bit}") };
            let label: Vec<String> = (0..events.len()).map(sign).collect();
            let to = machine.step(state, input);
            if machine.output(to) != Verdict::False {
                text += &format!("[{}] {to}\n", label.join("&"));
            }
        }
    }
    text + "--END--\n"
}

#[test]
fn a_property_in_the_hanoi_format_is_violated_by_the_event_that_violates_it_in_a_system_file() {
    let (mut tried, mut violated) = (0, 0);
    for seed in 0..1_500 {
        let mut random = Random::new(seed);
        let (operators, count) = (1 + random.below(7), 1 + random.below(3));
        let formula = formula(&mut random, operators, count);
        let events: Vec<String> = ATOMS[..count].iter().map(|&name| name.into()).collect();
        let letters: Vec<Letter> = (0..count).map(|bit| 1 << bit).chain([0]).collect();
        let properties = vec![formula.clone()];
        let ours = Specification { events: events.clone(), properties, silence: true, ..Specification::default() };
        let Ok(ours) = Composed::new(&ours) else { continue };
        let machine = Synthesis::new(&formula, &events, &letters, &mut Budget::default()).expect("a machine").machine;
        let text = in_hanoi(&machine, &letters, &events);
        let Ok(theirs) = read_hoa(&text, "x") else { continue };
        let theirs = Composed::new(&theirs).expect("a machine");
        tried += 1;
        for _ in 0..10 {
            let (mut one, mut other) = (ours.machine.initial, theirs.machine.initial);
            for _ in 0..8 {
                let event = random.below(count);
                (one, other) = (ours.machine.step(one, event), theirs.machine.step(other, event));
                let is_false = [ours.machine.output(one), theirs.machine.output(other)].map(|it| it == Verdict::False);
                assert_eq!(is_false[0], is_false[1], "seed {seed}: {formula}\n{text}");
                violated += usize::from(is_false[0]);
            }
        }
    }
    assert!(tried > 200 && violated > 500, "{tried} {violated}");
}

#[test]
fn files_in_the_hanoi_format_that_are_no_deterministic_monitor_are_refused_with_their_line_and_a_remedy() {
    for (written, changed, line, words) in [
        ("HOA: v1", "HOA: v2", 1, "where HOA: v1 is wanted"),
        ("Start: 0", "Start: 0\nStart: 1", 5, "a second initial state; let the tool write a deterministic monitor"),
        ("Start: 0", "Start: 0&1", 4, "where a header or --BODY-- is wanted"),
        ("Start: 0", "Start: first", 4, "where the number of a state is wanted"),
        ("Start: 0", "Start: 9", 0, "accepts no sequence of events"),
        ("Start: 0\n", "", 9, "a head without Start:"),
        ("Acceptance: 0 t", "Acceptance: 1 Inf(0)", 7, "a condition of acceptance beside 0 t; let the tool"),
        ("\"write\"\n", "\"read\"\n", 5, "the proposition \"read\" twice"),
        ("AP: 2", "AP: 3", 5, "2 propositions, where 3 are told"),
        ("AP: 2", "AP: 99999999999999999999", 5, "where the number of propositions is wanted"),
        ("acc-name: all", "Alias: @a 0", 6, "an alias; write what it stands for"),
        ("[!0] 0", "[!7] 0", 12, "the number of a proposition, t or f"),
        ("[!0] 0", "[!0 0", 12, "where \"]\" is wanted"),
        ("[!0] 0", "[t] 0", 13, "the event \"read\", which leads from 0 to two states"),
        ("[!0] 0", "[!0] 5", 17, "an edge to the state 5, which is not there"),
        ("State: 1", "State: 0", 16, "the state 0 twice"),
        ("State: 1", "State: [0] 1", 14, "write labels on edges"),
        ("--END--", "--ABORT--", 17, "where \"State:\" or --END-- is wanted"),
        ("--END--\n", "--END--\nHOA: v1\n", 17, "a second automaton"),
        ("State: 0", "State: 0 \"", 11, "a text begins here and never ends"),
        ("State: 0", "State: 0 /*", 11, "a comment begins here and never ends"),
        ("State: 0", "State: 0 $", 11, "'$' has no place in this format"),
    ] {
        assert!(IN_TURN.contains(written), "{written}");
        let text = IN_TURN.replacen(written, changed, 1);
        let fault = read_hoa(&text, "x").expect_err(changed);
        let said = fault.to_string();
        assert!(said.contains(words), "{changed}\n{said}");
        assert_eq!(fault.line, line, "{changed}\n{said}");
    }
    let flat = IN_TURN.replacen("[!0] 0", &format!("[{}0{}] 0", "(".repeat(99), ")".repeat(99)), 1);
    assert!(read_hoa(&flat, "x").expect_err("too deep").to_string().contains("nested deeper than 64"));
}
