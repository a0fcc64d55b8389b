//! Automata in the `dot` dialect of Linux's runtime verification (`Documentation/trace/rv/deterministic_automata.rst`).
//!
//! A node is a state; the one that `__init_NAME` names is the initial one; the label of an edge is its event, several of them separated
//! by `\n`. An event of the automaton that a state has no edge for is a violation, so what is read is the automaton with one more
//! state and the property that it is never reached.

use crate::fault::{Fault, Reason};
use crate::lexer::{tokens, Token, TokenKind};
use std::collections::HashSet;
use std::path::Path;
use tactus_monitor::{Automaton, Budget, Formula, Specification, Transition};

/// The state that is added for violations.
pub const VIOLATION: &str = "violation";

const INITIAL: &str = "__init_";

/// Reads one automaton as the specification of a monitor. Columns are in the order in which events are first named.
///
/// # Errors
/// The text is not in the dialect, or the automaton is timed, has no initial state, or contradicts itself.
pub fn read_rv_text(text: &str, source: &Path) -> Result<Specification, Fault> {
    let fault = |(line, reason)| Fault { file: source.to_path_buf(), line, reason };
    let words = tokens(text).map_err(fault)?;
    let mut reader = Reader { words: &words, at: 0, initial: None, transitions: vec![] };
    reader.graph().map_err(fault)?;
    let missing = |what: &str| fault((0, Reason::Missing { what: what.into(), of: "the automaton".into() }));
    let initial = reader.initial.ok_or_else(|| missing("the initial state (a node __init_NAME)"))?;
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
        return Err(missing("an edge with an event (\"a\" -> \"b\" [ label = \"event\" ])"));
    }
    let name = source.file_stem().map_or("automaton".into(), |stem| stem.to_string_lossy().into_owned());
    violated_elsewhere(Automaton { name, states, transitions: reader.transitions }, events)
        .map_err(|reason| fault((0, reason)))
}

/// The automaton with one more state, to which all events lead that it has no transition for, as a property: that state is never
/// reached.
pub(crate) fn violated_elsewhere(automaton: Automaton, events: Vec<String>) -> Result<Specification, Reason> {
    let Automaton { name, mut states, mut transitions } = automaton;
    if states.iter().chain(&events).any(|name| name == VIOLATION) {
        let (what, remedy) = (format!("the name {VIOLATION:?}, which the reader needs"), "rename it".into());
        return Err(Reason::Refused { what, remedy });
    }
    let known: HashSet<(&str, &str)> = transitions.iter().map(|it| (it.from.as_str(), it.event.as_str())).collect();
    let pairs = states.iter().flat_map(|state| events.iter().map(move |event| (state, event)));
    let missing = pairs.filter(|(state, event)| !known.contains(&(state.as_str(), event.as_str())));
    let missing: Vec<Transition> = missing
        .map(|(from, event)| Transition { from: from.clone(), event: event.clone(), to: VIOLATION.into() })
        .collect();
    if missing.is_empty() {
        let what = "an automaton that allows every event in every state: nothing could violate it".into();
        return Err(Reason::Refused { what, remedy: "leave the monitor out, or an edge".into() });
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

struct Reader<'t> {
    words: &'t [Token],
    at: usize,
    initial: Option<String>,
    transitions: Vec<Transition>,
}

type Read<T> = Result<T, (usize, Reason)>;

impl Reader<'_> {
    fn line(&self) -> usize {
        self.words.get(self.at).or(self.words.last()).map_or(1, |word| word.line)
    }
    fn fail<T>(&self, wanted: &str) -> Read<T> {
        let found = self.words.get(self.at).map_or("the end of the file".into(), Token::shown);
        Err((self.line(), Reason::Syntax { reason: format!("found {found}, where {wanted} is wanted") }))
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
                self.attributes()?;
            }
        }
        Ok(())
    }
    fn edge(&mut self, line: usize, from: String, to: String, label: Option<String>) -> Read<()> {
        if let Some(named) = from.strip_prefix(INITIAL) {
            if named != to || self.initial.as_ref().is_some_and(|other| *other != to) {
                let what = format!("the initial state {to:?} beside {:?}", self.initial.as_deref().unwrap_or(named));
                return Err((line, Reason::Refused { what, remedy: "keep one".into() }));
            }
            self.initial = Some(to);
            return Ok(());
        }
        let Some(label) = label else {
            let of = format!("the edge from {from:?} to {to:?}");
            return Err((line, Reason::Missing { what: "the event (label = \"…\")".into(), of }));
        };
        for event in label.split("\\n").map(str::trim) {
            if event.is_empty() || event.contains([';', '<', '>', '=', '(']) {
                let what = format!("the label {event:?}, which has a guard or a clock");
                let remedy = "write events alone; bounds on time are properties of [[monitor]]".into();
                return Err((line, Reason::Refused { what, remedy }));
            }
            let contradicts = |known: &&Transition| known.from == from && known.event == event && known.to != to;
            if let Some(known) = self.transitions.iter().find(contradicts) {
                let what = format!("the event {event:?}, which leads from {from:?} to both {:?} and {to:?}", known.to);
                return Err((line, Reason::Refused { what, remedy: "keep one of the edges".into() }));
            }
            self.transitions.push(Transition { from: from.clone(), event: event.into(), to: to.clone() });
        }
        Ok(())
    }
}
