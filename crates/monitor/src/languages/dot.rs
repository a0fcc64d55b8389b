//! Automata in the `dot` dialect of Linux's runtime verification (`Documentation/trace/rv/deterministic_automata.rst`).
//!
//! A node is a state; the one that `__init_NAME` names is the initial one; the label of an edge is its event, several of them separated
//! by `\n`. An event of the automaton that a state has no edge for is a violation, so what is read is the automaton with one more
//! state and the property that it is never reached.

use super::words::{tokens, Token, TokenKind};
use super::{error, missing, violated_elsewhere, LanguageError, Read};
use crate::automaton::{Automaton, Transition};
use crate::compose::Specification;

const INITIAL: &str = "__init_";

/// Reads one automaton as the specification of a monitor. Columns are in the order in which events are first named.
///
/// # Errors
/// The text is not in the dialect, or the automaton has clocks or guards, has no initial state, or contradicts itself.
pub fn read_dot(text: &str, name: &str) -> Result<Specification, LanguageError> {
    let words = tokens(text)?;
    let mut reader = Reader { words: &words, at: 0, initial: None, transitions: vec![] };
    reader.graph()?;
    let Some(initial) = reader.initial else {
        return Err(missing(0, "the initial state (a node __init_NAME)", "the automaton"));
    };
    let (mut states, mut events) = (vec![initial], Vec::<String>::new());
    for Transition { from, event, to } in &reader.transitions {
        for state in [from, to] {
            if !states.contains(state) {
                states.push(state.clone());
            }
        }
        if !events.contains(event) {
            events.push(event.clone());
        }
    }
    if events.is_empty() {
        return Err(missing(0, "an edge with an event (\"a\" -> \"b\" [ label = \"event\" ])", "the automaton"));
    }
    violated_elsewhere(Automaton { name: name.into(), states, transitions: reader.transitions }, events)
}

struct Reader<'t> {
    words: &'t [Token],
    at: usize,
    initial: Option<String>,
    transitions: Vec<Transition>,
}

impl Reader<'_> {
    fn line(&self) -> usize {
        self.words.get(self.at).or(self.words.last()).map_or(1, |word| word.line)
    }
    fn fail<T>(&self, wanted: &str) -> Read<T> {
        let found = self.words.get(self.at).map_or("the end of the file".into(), Token::shown);
        Err(error(self.line(), format!("found {found}, where {wanted} is wanted")))
    }
    fn take(&mut self, sign: &str) -> bool {
        let found = self.words.get(self.at).is_some_and(|word| word.is(sign));
        self.at += usize::from(found);
        found
    }
    /// A name, in quotes or not.
    fn name(&mut self, wanted: &str) -> Read<String> {
        match self.words.get(self.at).map(|word| &word.kind) {
            Some(TokenKind::Name(name) | TokenKind::Text(name)) => {
                self.at += 1;
                Ok(name.clone())
            }
            _ => self.fail(wanted),
        }
    }
    /// `[ key = value, … ]`; the label, if there is one.
    fn attributes(&mut self) -> Read<Option<String>> {
        let mut label = None;
        if self.take("[") {
            while !self.take("]") {
                let key = self.name("a key, or \"]\"")?;
                if !self.take("=") {
                    return self.fail("\"=\"");
                }
                let value = self.name("a value")?;
                if key == "label" {
                    label = Some(value);
                }
                let _ = self.take(",") || self.take(";");
            }
        }
        Ok(label)
    }

    fn graph(&mut self) -> Read<()> {
        if self.name("digraph").ok().as_deref() != Some("digraph") {
            self.at = 0;
            return self.fail("digraph");
        }
        if !self.take("{") {
            self.name("the name of the graph")?;
            if !self.take("{") {
                return self.fail("\"{\"");
            }
        }
        self.statements(0)?;
        if self.at < self.words.len() {
            return self.fail("the end of the file");
        }
        Ok(())
    }
    fn statements(&mut self, depth: usize) -> Read<()> {
        while !self.take("}") {
            if self.take(";") {
                continue;
            }
            if self.take("{") {
                if depth == 8 {
                    return self.fail("no deeper nesting of { }");
                }
                self.statements(depth + 1)?;
                continue;
            }
            let line = self.line();
            let from = self.name("a node, an edge or \"}\"")?;
            if self.take("=") {
                self.name("a value")?;
            } else if self.take("->") {
                let to = self.name("a state")?;
                let label = self.attributes()?;
                self.edge(line, from, to, label)?;
            } else {
                let label = self.attributes()?;
                let parts = label.iter().flat_map(|label| label.split("\\n").skip(1));
                if let Some(bound) = parts.map(str::trim).find(|part| !part.is_empty()) {
                    let what = format!("the bound {bound:?} on the clock of the state {from:?}");
                    return Err(error(line, format!("{what}, and automata have no clock here; {BOUND}")));
                }
            }
        }
        Ok(())
    }
    fn edge(&mut self, line: usize, from: String, to: String, label: Option<String>) -> Read<()> {
        if let Some(named) = from.strip_prefix(INITIAL) {
            if named != to || self.initial.as_ref().is_some_and(|other| *other != to) {
                let other = self.initial.as_deref().unwrap_or(named);
                return Err(error(line, format!("the initial state {to:?} beside {other:?}; keep one")));
            }
            self.initial = Some(to);
            return Ok(());
        }
        let Some(label) = label else {
            return Err(missing(line, "the event (label = \"…\")", &format!("the edge from {from:?} to {to:?}")));
        };
        for label in label.split("\\n").map(str::trim) {
            let (event, rest) = label.split_once(';').unwrap_or((label, ""));
            if let Some(condition) = rest.split([';', '&', '|']).map(str::trim).find(|part| !part.is_empty()) {
                return Err(error(line, conditional(event, condition)));
            }
            if event.is_empty() || event.contains(['<', '>', '=', '(']) {
                return Err(error(line, format!("the label {event:?} is no event; write its name")));
            }
            let contradicts = |known: &&Transition| known.from == from && known.event == event && known.to != to;
            if let Some(known) = self.transitions.iter().find(contradicts) {
                let what = format!("the event {event:?}, which leads from {from:?} to both {:?} and {to:?}", known.to);
                return Err(error(line, format!("{what}; keep one of the edges")));
            }
            self.transitions.push(Transition { from: from.clone(), event: event.into(), to: to.clone() });
        }
        Ok(())
    }
}

/// What to do about a clock.
const BOUND: &str = "write it as a property of a [[monitor]], such as always (start -> eventually[<= 10 ms] stop)";

/// Why an event on a condition is refused (`Documentation/trace/rv/hybrid_automata.rst`: edges that reset a clock, that compare it, or
/// that compare a variable of Linux).
fn conditional(event: &str, condition: &str) -> String {
    if let Some(clock) = condition.strip_prefix("reset(").and_then(|rest| rest.strip_suffix(')')) {
        return format!("the event {event:?} resets the clock {clock:?}, and automata have no clock here; {BOUND}");
    }
    if condition.contains(['<', '>']) {
        return format!(
            "the event {event:?} has the bound {condition:?} on a clock, and automata have none here; {BOUND}"
        );
    }
    format!(
        "the event {event:?} has the guard {condition:?}, a variable of Linux's kernel, which no event tells here; let an automaton \
         keep it, whose events set and clear it, and name that one's state in the property"
    )
}
