//! Machines for people: as a table of text, and as a graph in the `dot` language.

use crate::definition::Built;
use crate::moore::Moore;
use crate::verdict::Verdict;
use std::collections::BTreeMap;
use std::fmt::Write;

/// What both drawings need.
struct Picture<'a> {
    events: &'a [String],
    next: Vec<Vec<u32>>,
    /// What each state is.
    labels: Vec<String>,
    verdicts: Vec<Verdict>,
}

impl Built {
    fn picture(&self) -> Picture<'_> {
        fn rows<O: Copy + Eq + std::hash::Hash>(machine: &Moore<O>) -> Vec<Vec<u32>> {
            (0..machine.states() as u32).map(|state| machine.row(state).to_vec()).collect()
        }
        match self {
            Built::Untimed { composed, .. } => Picture {
                events: &composed.events,
                next: rows(&composed.machine),
                labels: composed.labels.clone(),
                verdicts: composed.machine.outputs.clone(),
            },
            Built::Timed(timed) => Picture {
                events: &timed.events,
                next: rows(&timed.machine),
                labels: timed.machine.outputs.iter().map(|class| format!("class {class}")).collect(),
                verdicts: vec![Verdict::NotYet; timed.machine.states()],
            },
        }
    }

    /// The table, a row for each state: where each event leads, and what the state is. T is true, F false.
    pub fn table_text(&self) -> String {
        let Picture { events, next, labels, verdicts } = self.picture();
        let name = |state: u32| match verdicts[state as usize] {
            Verdict::True => "T".to_owned(),
            Verdict::False => "F".to_owned(),
            Verdict::NotYet => state.to_string(),
        };
        let width = events.iter().map(|event| event.chars().count()).chain([4]).max().unwrap_or(4);
        let mut text = String::from("state");
        for event in events {
            let _ = write!(text, "  {event:>width$}");
        }
        text.push('\n');
        for (state, row) in next.iter().enumerate() {
            let _ = write!(text, "{:>5}", name(state as u32));
            for &after in row {
                let _ = write!(text, "  {:>width$}", name(after));
            }
            let _ = writeln!(text, "  {}", labels[state]);
        }
        text
    }

    /// The graph: an arrow for each pair of states with all events that lead from one to the other.
    pub fn dot(&self, name: &str) -> String {
        let Picture { events, next, labels, verdicts } = self.picture();
        let quoted = |text: &str| format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""));
        let mut text =
            format!("digraph {} {{\n  rankdir = LR;\n  start [shape = point];\n  start -> 0;\n", quoted(name));
        for (state, label) in labels.iter().enumerate() {
            let shape = if verdicts[state].is_final() { "doublecircle" } else { "ellipse" };
            let _ = writeln!(text, "  {state} [shape = {shape}, label = {}];", quoted(label));
        }
        for (state, row) in next.iter().enumerate().filter(|(state, _)| !verdicts[*state].is_final()) {
            let mut arrows: BTreeMap<u32, Vec<&str>> = BTreeMap::new();
            for (event, &after) in row.iter().enumerate() {
                arrows.entry(after).or_default().push(&events[event]);
            }
            for (after, events) in arrows {
                let _ = writeln!(text, "  {state} -> {after} [label = {}];", quoted(&events.join(", ")));
            }
        }
        text.push_str("}\n");
        text
    }
}
