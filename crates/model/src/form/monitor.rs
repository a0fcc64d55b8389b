//! `[[monitor]]`: a property, the events that it names, and automata over them; or an automaton in a file beside the system file.

use super::keys::{shorten, Reader, Section, Value};
use super::platform::strings;
use crate::draft::{At, DraftAutomaton, DraftMonitor, Given};
use crate::problem::{Complaint, Location};
use crate::text::read_text;
use std::path::Path;
use tactus_monitor::Specification;
use toml::de::DeValue;

const MONITOR: [&str; 10] = [
    "name",
    "property",
    "model",
    "events",
    "automaton",
    "encoding",
    "minimise",
    "reset",
    "table-limit",
    "on-violation",
];
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
    let model = read_model(&section, reader);
    if model.is_absent() {
        section.require(reader, "property", "property = \"always (start -> not miss)\"");
    }
    section.require(reader, "events", "events = { start = \"start control\", miss = \"miss control\" }");
    Some(DraftMonitor {
        place: section.place,
        name: section.string(reader, "name", "a name in quotes"),
        property: section.string(reader, "property", "a property in quotes"),
        model,
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

/// The automaton of another tool that `model` names, in place of a property.
fn read_model(section: &Section<'_>, reader: &mut Reader<'_>) -> Given<Specification> {
    let at = match section.string(reader, "model", "the name of a .dot or .hoa file in quotes") {
        Given::Is(at) => at,
        Given::Absent => return Given::Absent,
        Given::Broken => return Given::Broken,
    };
    let path = reader.out.file().parent().unwrap_or(Path::new("")).join(&at.value);
    let mut refuse = |why: String, remedy: &str| {
        reader.out.refuse(at.place, &section.subject, why, remedy);
        Given::Broken
    };
    if let Some(key) = ["property", "automaton"].into_iter().find(|key| section.get(key).is_some()) {
        return refuse(format!("{key} stands beside model, which says all that is watched"), "remove one of them");
    }
    let read = match path.extension().and_then(|ending| ending.to_str()) {
        Some("dot") => tactus_monitor::read_dot,
        Some("hoa") => tactus_monitor::read_hoa,
        _ => {
            let why = format!("model {} ends neither in .dot nor in .hoa", shorten(&at.value));
            let remedy = "name an automaton of Linux's runtime verification (.dot) or in the Hanoi format (.hoa)";
            return refuse(why, remedy);
        }
    };
    let text = match read_text(&path) {
        Ok(text) => text,
        Err((None, Complaint::Unreadable { reason })) => {
            let why = format!("model {} cannot be read: {reason}", shorten(&at.value));
            return refuse(why, "name a file beside the system file");
        }
        Err((place, complaint)) => {
            reader.out.add_elsewhere(&path, place, &section.subject, complaint);
            return Given::Broken;
        }
    };
    // A name that the language of properties can take.
    let stem = path.file_stem().map_or("model".into(), |stem| stem.to_string_lossy());
    let name: String = stem.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    match read(&text, &name) {
        Ok(specification) => Given::is(specification, at.place),
        Err(error) => {
            let place = (error.line > 0).then_some(Location { line: error.line, column: 1 });
            let complaint = Complaint::Syntax { reason: error.reason };
            reader.out.add_elsewhere(&path, place, &section.subject, complaint);
            Given::Broken
        }
    }
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
