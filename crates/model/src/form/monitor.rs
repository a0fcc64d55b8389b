//! `[[monitor]]`: a property, the events that it names, and automata over them.

use super::keys::{shorten, Reader, Section, Value};
use super::platform::strings;
use crate::draft::{At, DraftAutomaton, DraftMonitor};
use crate::problem::Complaint;
use toml::de::DeValue;

const MONITOR: [&str; 9] =
    ["name", "property", "events", "automaton", "encoding", "minimise", "reset", "table-limit", "on-violation"];
/// What can be done where a property is violated.
pub(crate) const ACTIONS: &str =
    "\"note\", \"stop\" or \"restart\" with the name of a component, \"run\" with that of a task, or \"end\"";
const AUTOMATON: [&str; 3] = ["name", "states", "transitions"];

/// Reads one monitor as far as it can be read.
pub(super) fn read<'a>(value: &'a Value<'a>, index: usize, reader: &mut Reader<'_>) -> Option<DraftMonitor> {
    let name = value.get_ref().as_table().and_then(|table| table.iter().find(|(key, _)| key.get_ref() == "name"));
    let subject = match name.and_then(|(_, name)| name.get_ref().as_str()) {
        Some(name) => format!("monitor {}", shorten(name)),
        None => format!("monitor number {}", index + 1),
    };
    let section = reader.open(value, subject, &MONITOR)?;
    section.require(reader, "name", "name = \"order\"");
    section.require(reader, "property", "property = \"always (start -> not miss)\"");
    section.require(reader, "events", "events = { start = \"start control\", miss = \"miss control\" }");
    Some(DraftMonitor {
        place: section.place,
        name: section.string(reader, "name", "a name in quotes"),
        property: section.string(reader, "property", "a property in quotes"),
        events: read_events(&section, reader),
        automata: read_automata(&section, reader),
        encoding: section.string(reader, "encoding", "\"plain\", \"row-per-word\", \"packed-words\" or \"bit-string\""),
        minimise: section.boolean(reader, "minimise"),
        reset: section.boolean(reader, "reset"),
        table_limit: section.size(reader, "table-limit"),
        action: section.string(reader, "on-violation", ACTIONS),
        subject: section.subject,
    })
}

fn read_events(section: &Section<'_>, reader: &mut Reader<'_>) -> Vec<(At<String>, At<String>)> {
    let Some(value) = section.get("events") else { return Vec::new() };
    let DeValue::Table(table) = value.get_ref() else {
        let place = reader.place(value);
        let expected = "a table like { done = \"complete control\" }";
        reader.malformed(place, &section.subject, "events", value, expected);
        return Vec::new();
    };
    let mut events = Vec::new();
    for (name, value) in table.iter() {
        let place = reader.lines.place(name.span().start);
        match value.get_ref().as_str() {
            Some(text) => {
                events.push((At { value: name.get_ref().to_string(), place }, At { value: text.to_string(), place }));
            }
            None => {
                let what = format!("the event {}", shorten(name.get_ref()));
                reader.malformed(place, &section.subject, what, value, "what happens, like \"complete control\"");
            }
        }
    }
    events
}

fn read_automata(section: &Section<'_>, reader: &mut Reader<'_>) -> Vec<DraftAutomaton> {
    let Some(value) = section.get("automaton") else { return Vec::new() };
    let DeValue::Array(elements) = value.get_ref() else {
        let place = reader.place(value);
        reader.malformed(place, &section.subject, "automaton", value, "[[monitor.automaton]], once for each");
        return Vec::new();
    };
    let mut automata = Vec::new();
    for value in elements.iter() {
        let Some(inner) = reader.open(value, section.subject.clone(), &AUTOMATON) else { continue };
        inner.require(reader, "name", "name = \"door\"");
        inner.require(reader, "states", "states = [\"closed\", \"open\"]");
        let mut transitions = Vec::new();
        let expected = "a list of texts like [\"closed opened open\"]: a state, an event, a state";
        for At { value: text, place } in strings(&inner, reader, "transitions", expected) {
            match text.split_whitespace().collect::<Vec<_>>()[..] {
                [from, event, to] => transitions.push([from, event, to].map(String::from)),
                _ => {
                    let (what, found) = ("a transition".into(), shorten(&text));
                    let expected = "a state, an event and a state, like \"closed opened open\"".into();
                    reader.out.add(place, &inner.subject, Complaint::Malformed { what, found, expected });
                }
            }
        }
        automata.push(DraftAutomaton {
            name: inner.string(reader, "name", "a name in quotes"),
            states: strings(&inner, reader, "states", "a list of names like [\"closed\", \"open\"]"),
            transitions,
        });
    }
    automata
}
