//! OSEK OIL with the objects that dataflow monitoring adds: events, automata and rules.
//!
//! Source: Cotard, Faucou, Béchennec, the extension of OIL. `enforcer_event` says which task sends or receives which message object;
//! `automata` has states, the first of them initial, and transitions; `LTL_rule` names automata, a property and whether
//! to start anew after a verdict. What else OIL describes is read over; what is no object of it is refused.
//!
//! OIL says neither when tasks run nor how long, so that no system comes of it, but the monitors of one do: each task is a component
//! that raises an event with each access.

use super::words::{tokens, Token, TokenKind};
use super::{error, missing, LanguageError, Read};
use crate::automaton::{Automaton, Transition};
use crate::budget::Budget;
use crate::compose::{Composed, Specification};
use crate::definition::{Action, Monitor, DEFAULT_TABLE_LIMIT};
use crate::formula::Formula;
use crate::occurrence::{Occurrence, OccurrenceKind};
use crate::property::Property;

/// What the monitoring objects of a file describe.
#[derive(Clone, Debug)]
pub struct Oil {
    /// The events, in file order.
    pub events: Vec<OilEvent>,
    /// The rules, in file order.
    pub rules: Vec<OilRule>,
}

impl Oil {
    /// The rules as monitors of a system whose components are called like the tasks: the event `s00` of T0 is `signal T0.s00`.
    pub fn monitors(&self) -> Vec<Monitor> {
        let raised = |name: &String| {
            let by = self.events.iter().find(|event| event.name == *name)?;
            let of = Some(format!("{}.{name}", by.task));
            Some((name.clone(), Occurrence { kind: OccurrenceKind::Signal, of }))
        };
        let monitor = |rule: &OilRule| Monitor {
            name: rule.name.clone(),
            property: Property::Formula(rule.formula.clone()),
            events: rule.specification.events.iter().filter_map(raised).collect(),
            automata: rule.specification.automata.clone(),
            encoding: None,
            minimise: true,
            reset: rule.reset,
            table_limit: DEFAULT_TABLE_LIMIT,
            action: Action::Note,
            line: 0,
        };
        self.rules.iter().map(monitor).collect()
    }

    /// The same as text to be put behind a system file.
    pub fn monitors_text(&self) -> String {
        self.monitors().iter().map(Monitor::toml).collect()
    }
}

/// An access of a task to a message object.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OilEvent {
    /// Its name.
    pub name: String,
    /// The task.
    pub task: String,
    /// The message object.
    pub message: String,
    /// What it does.
    pub action: OilAction,
}

/// What a task does with a message object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OilAction {
    /// It sends.
    Send,
    /// It receives.
    Receive,
}

/// A property over automata.
#[derive(Clone, Debug)]
pub struct OilRule {
    /// Its name.
    pub name: String,
    /// The property.
    pub formula: Formula,
    /// Its automata, their events and the property.
    pub specification: Specification,
    /// The machine, not minimised.
    pub composed: Composed,
    /// Whether it starts anew after a verdict.
    pub reset: bool,
}

/// The objects of OIL 2.5 that say nothing about monitors.
const OTHERS: [&str; 15] = [
    "IMPLEMENTATION",
    "OS",
    "APPMODE",
    "ISR",
    "COUNTER",
    "ALARM",
    "RESOURCE",
    "EVENT",
    "NETWORKMESSAGE",
    "COM",
    "IPDU",
    "NM",
    "APPLICATION",
    "SCHEDULETABLE",
    "SPINLOCK",
];

/// `KEY = value { … };` or `KEY name { … };`
#[derive(Debug)]
struct Entry {
    line: usize,
    key: String,
    value: String,
    inner: Vec<Entry>,
}

impl Entry {
    fn is(&self, key: &str) -> bool {
        self.key.eq_ignore_ascii_case(key)
    }
    fn all<'e>(&'e self, key: &'e str) -> impl Iterator<Item = &'e Entry> {
        self.inner.iter().filter(move |entry| entry.is(key))
    }
    /// The one entry of this key.
    fn one<'e>(&'e self, key: &'e str) -> Read<&'e Entry> {
        let mut found = self.all(key);
        match (found.next(), found.next()) {
            (Some(entry), None) => Ok(entry),
            (None, _) => Err(missing(self.line, key, &format!("{} {}", self.key, self.value))),
            (_, Some(extra)) => Err(refused(extra.line, format!("a second {key} of {}", self.value), "keep one")),
        }
    }
    /// Refuses all keys but these.
    fn only(&self, known: &[&str]) -> Read<()> {
        match self.inner.iter().find(|entry| !known.iter().any(|key| entry.is(key))) {
            Some(entry) => {
                let what = format!("the attribute {} of {} {}", entry.key, self.key, self.value);
                Err(refused(entry.line, what, &format!("known are {}", known.join(", "))))
            }
            None => Ok(()),
        }
    }
}

fn refused(line: usize, what: impl std::fmt::Display, remedy: &str) -> LanguageError {
    error(line, format!("{what}; {remedy}"))
}

/// Reads the monitoring objects of an OIL text and makes the machine of each rule.
///
/// # Errors
/// The text is no OIL, an object names what is not there, or no machine can be made of a rule.
pub fn read_oil(text: &str) -> Result<Oil, LanguageError> {
    let words = tokens(text)?;
    let entries = entries(&words, &mut 0, 0)?;
    let mut objects = Vec::new();
    for entry in &entries {
        // Objects stand in a CPU; the version and the implementation beside it.
        match entry.is("CPU") {
            true => objects.extend(&entry.inner),
            false if entry.is("OIL_VERSION") => {}
            false => objects.push(entry),
        }
    }
    let known = ["TASK", "MESSAGE", "enforcer_event", "automata", "LTL_rule"];
    for object in &objects {
        if !known.iter().chain(&OTHERS).any(|key| object.is(key)) {
            let what = format!("the object {}", object.key);
            return Err(refused(object.line, what, &format!("monitors take {}", known.join(", "))));
        }
    }
    for (n, object) in objects.iter().enumerate().filter(|(_, object)| known.iter().any(|key| object.is(key))) {
        if let Some(first) = objects[..n].iter().find(|other| other.is(&object.key) && other.value == object.value) {
            let what = format!("a second {} {}, the first is on line {}", object.key, object.value, first.line);
            return Err(refused(object.line, what, "give each its own name"));
        }
    }
    let named = |key: &'static str, name: &Entry| {
        if objects.iter().any(|object| object.is(key) && object.value == name.value) {
            return Ok(());
        }
        let what = format!("the {key} {}, which the file does not declare", name.value);
        Err(refused(name.line, what, "declare it, or correct the name"))
    };
    let mut events = Vec::new();
    for object in objects.iter().filter(|object| object.is("enforcer_event")) {
        object.only(&["task", "messageobject", "action"])?;
        let (task, message, action) = (object.one("task")?, object.one("messageobject")?, object.one("action")?);
        named("TASK", task)?;
        named("MESSAGE", message)?;
        let action = match action.value.to_ascii_lowercase().as_str() {
            "send" => OilAction::Send,
            "receive" => OilAction::Receive,
            other => return Err(refused(action.line, format!("the action {other:?}"), "write send or receive")),
        };
        let (task, message) = (task.value.clone(), message.value.clone());
        let same = |other: &&OilEvent| other.task == task && other.message == message && other.action == action;
        if let Some(other) = events.iter().find(same) {
            let what = format!("the event {}, which is the same as {}", object.value, other.name);
            return Err(refused(object.line, what, "keep one of them"));
        }
        events.push(OilEvent { name: object.value.clone(), task, message, action });
    }
    let automaton = |object: &&Entry| -> Read<Automaton> {
        object.only(&["state", "transition"])?;
        let mut transitions = Vec::new();
        for entry in object.all("transition") {
            entry.only(&["fromstate", "tostate", "enforcer_event"])?;
            let event = entry.one("enforcer_event")?;
            named("enforcer_event", event)?;
            let (from, to) = (entry.one("fromstate")?, entry.one("tostate")?);
            let values = [from, event, to].map(|entry| entry.value.clone());
            let [from, event, to] = values;
            transitions.push(Transition { from, event, to });
        }
        let states = object.all("state").map(|state| state.value.clone()).collect();
        Ok(Automaton { name: object.value.clone(), states, transitions })
    };
    let mut rules = Vec::new();
    for object in objects.iter().filter(|object| object.is("LTL_rule")) {
        object.only(&["automata", "property", "reset"])?;
        let mut automata = Vec::new();
        for name in object.all("automata") {
            named("automata", name)?;
            let declared = objects.iter().find(|object| object.is("automata") && object.value == name.value);
            automata.extend(declared.map(automaton).transpose()?);
        }
        let property = object.one("property")?;
        let syntax = |reason: String| error(property.line, reason);
        let formula = Formula::parse(&property.value).map_err(|error| syntax(error.to_string()))?;
        let reset = match object.all("reset").next() {
            None => false,
            Some(entry) => match entry.value.to_ascii_lowercase().as_str() {
                "true" => true,
                "false" => false,
                other => return Err(refused(entry.line, format!("reset = {other}"), "write true or false")),
            },
        };
        let watched =
            |event: &&OilEvent| automata.iter().any(|automaton| automaton.events().contains(event.name.as_str()));
        let specification = Specification {
            events: events.iter().filter(watched).map(|event| event.name.clone()).collect(),
            automata,
            properties: vec![formula.clone()],
            silence: false,
            budget: Budget::default(),
        };
        let composed = Composed::new(&specification).map_err(|error| syntax(error.to_string()))?;
        rules.push(OilRule { name: object.value.clone(), formula, specification, composed, reset });
    }
    if rules.is_empty() {
        return Err(missing(0, "an LTL_rule", "the file"));
    }
    Ok(Oil { events, rules })
}

/// The entries up to the bracket that closes them, or the end of the file where nothing is open.
fn entries(words: &[Token], at: &mut usize, depth: usize) -> Read<Vec<Entry>> {
    let line = |at: usize| words.get(at).or(words.last()).map_or(1, |word| word.line);
    let fail = |at: usize, wanted: &str| {
        let found = words.get(at).map_or("the end of the file".into(), Token::shown);
        Err(error(line(at), format!("found {found}, where {wanted} is wanted")))
    };
    if depth > 8 {
        return fail(*at, "no deeper nesting of { }");
    }
    let mut out = Vec::new();
    loop {
        match words.get(*at) {
            None if depth == 0 => return Ok(out),
            Some(word) if word.is("}") && depth > 0 => {
                *at += 1;
                return Ok(out);
            }
            _ => {}
        }
        let start = line(*at);
        let Some(TokenKind::Name(key)) = words.get(*at).map(|word| &word.kind) else {
            return fail(*at, "an object or attribute");
        };
        *at += 1;
        *at += usize::from(words.get(*at).is_some_and(|word| word.is("=")));
        let Some(TokenKind::Name(value) | TokenKind::Text(value)) = words.get(*at).map(|word| &word.kind) else {
            return fail(*at, "a name or value");
        };
        *at += 1;
        let mut inner = Vec::new();
        if words.get(*at).is_some_and(|word| word.is("{")) {
            *at += 1;
            inner = entries(words, at, depth + 1)?;
        }
        // A description: `: "text"`.
        if words.get(*at).is_some_and(|word| word.is(":")) {
            *at += 2;
        }
        if !words.get(*at).is_some_and(|word| word.is(";")) {
            return fail(*at, "\";\"");
        }
        *at += 1;
        out.push(Entry { line: start, key: key.clone(), value: value.clone(), inner });
    }
}
