//! Monitors in the languages of other tools, and in that of a system file.
//!
//! An automaton of a file becomes a property: its own states with one more, which is never reached ([`violated_elsewhere`]).

use crate::automaton::{Automaton, Transition};
use crate::budget::Budget;
use crate::compose::Specification;
use crate::formula::Formula;
use std::collections::HashSet;
use std::fmt;

pub use dot::read_dot;
pub use hoa::read_hoa;
pub use oil::{read_oil, Oil, OilAction, OilEvent, OilRule};

mod dot;
mod hoa;
mod oil;
mod toml;
mod words;

/// The state that is added for violations.
pub const VIOLATION: &str = "violation";

/// What is wrong with a text in the language of another tool.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LanguageError {
    /// The line, counted from 1; 0 if the text as a whole is concerned.
    pub line: usize,
    /// What is wrong there, and what to do about it.
    pub reason: String,
}

impl fmt::Display for LanguageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line > 0 {
            write!(f, "line {}: ", self.line)?;
        }
        f.write_str(&self.reason)
    }
}

impl std::error::Error for LanguageError {}

/// What is read, or the line and what is wrong there.
type Read<T> = Result<T, LanguageError>;

fn error(line: usize, reason: impl Into<String>) -> LanguageError {
    LanguageError { line, reason: reason.into() }
}

/// Something that must be there is not.
fn missing(line: usize, what: &str, of: &str) -> LanguageError {
    error(line, format!("{of} has no {what}; add it"))
}

/// The automaton with one more state, to which all events lead that it has no transition for, as a property: that state is never
/// reached.
fn violated_elsewhere(automaton: Automaton, events: Vec<String>) -> Read<Specification> {
    let Automaton { name, mut states, mut transitions } = automaton;
    if states.iter().chain(&events).any(|name| name == VIOLATION) {
        return Err(error(0, format!("the name {VIOLATION:?}, which the reader needs; rename it")));
    }
    let known: HashSet<(&str, &str)> = transitions.iter().map(|it| (it.from.as_str(), it.event.as_str())).collect();
    let pairs = states.iter().flat_map(|state| events.iter().map(move |event| (state, event)));
    let missing = pairs.filter(|(state, event)| !known.contains(&(state.as_str(), event.as_str())));
    let missing: Vec<Transition> = missing
        .map(|(from, event)| Transition { from: from.clone(), event: event.clone(), to: VIOLATION.into() })
        .collect();
    if missing.is_empty() {
        let what = "an automaton that allows every event in every state: nothing could violate it";
        return Err(error(0, format!("{what}; leave the monitor out, or an edge")));
    }
    transitions.extend(missing);
    states.push(VIOLATION.into());
    Ok(Specification {
        automata: vec![Automaton { name, states, transitions }],
        events,
        properties: vec![Formula::Always(Box::new(Formula::atom(VIOLATION).negated()))],
        silence: true,
        budget: Budget::default(),
    })
}
