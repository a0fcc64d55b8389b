//! Monitors in the text of a system file.

use crate::automaton::Transition;
use crate::definition::{Action, Monitor};
use std::fmt::{self, Write};

impl Monitor {
    /// The monitor as a `[[monitor]]` of a system file. What it says reads back as the same; names hold nothing that TOML would have to
    /// escape.
    pub fn toml(&self) -> String {
        let mut text = String::new();
        // A string takes it.
        let _ = write(&mut text, self);
        text
    }
}

fn write(text: &mut String, monitor: &Monitor) -> fmt::Result {
    let Monitor { name, property, events, automata, encoding, minimise, reset, table_limit, .. } = monitor;
    writeln!(text, "\n[[monitor]]\nname = \"{name}\"\nproperty = \"{property}\"")?;
    let events: Vec<String> = events.iter().map(|(name, what)| format!("\"{name}\" = \"{what}\"")).collect();
    writeln!(text, "events = {{ {} }}", events.join(", "))?;
    if let Some(encoding) = encoding {
        writeln!(text, "encoding = \"{encoding}\"")?;
    }
    writeln!(text, "minimise = {minimise}\nreset = {reset}\ntable-limit = \"{table_limit} B\"")?;
    if monitor.action != Action::Note {
        writeln!(text, "on-violation = \"{}\"", monitor.action)?;
    }
    for automaton in automata {
        let list = |words: Vec<String>| words.join(", ");
        let states = list(automaton.states.iter().map(|state| format!("\"{state}\"")).collect());
        let transition = |it: &Transition| format!("\"{} {} {}\"", it.from, it.event, it.to);
        let transitions = list(automaton.transitions.iter().map(transition).collect());
        writeln!(text, "\n[[monitor.automaton]]\nname = \"{}\"", automaton.name)?;
        writeln!(text, "states = [{states}]\ntransitions = [{transitions}]")?;
    }
    Ok(())
}
