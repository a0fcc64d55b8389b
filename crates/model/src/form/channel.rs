//! `[[channel]]`: messages from a task to others.

use super::keys::{Reader, Section, Value};
use super::platform::subject;
use crate::draft::{At, DraftChannel, DraftPort, Given};
use toml::de::DeValue;

const CHANNEL: [&str; 9] =
    ["name", "kind", "source", "destinations", "size", "refresh-period", "depth", "messages", "latency"];
const PORT: [&str; 2] = ["task", "port"];
const SOURCE: &str = "source = \"attitude\"";
const DESTINATIONS: &str = "destinations = [\"inner-loop\", { task = \"map\", port = \"position\" }]";

/// Reads one `[[channel]]`.
pub(super) fn read<'a>(value: &'a Value<'a>, index: usize, reader: &mut Reader<'_>) -> Option<DraftChannel> {
    let section = reader.open(value, subject(value, "channel", index), &CHANNEL)?;
    section.require(reader, "name", "name = \"attitude\"");
    section.require(reader, "kind", "kind = \"sampling\"");
    section.require(reader, "source", SOURCE);
    section.require(reader, "destinations", DESTINATIONS);
    section.require(reader, "size", "size = \"64 B\"");
    let source = section.get("source").map_or(Given::Absent, |value| port(value, &section, reader));
    Some(DraftChannel {
        place: section.place,
        name: section.string(reader, "name", "a name in quotes"),
        kind: section.string(reader, "kind", "\"sampling\" or \"queuing\""),
        source,
        destinations: destinations(&section, reader),
        size: section.size(reader, "size"),
        refresh_period: section.duration(reader, "refresh-period"),
        depth: section.integer(reader, "depth", "how many messages have room"),
        messages: section.integer(reader, "messages", "how many messages a job sends at most"),
        latency: section.duration(reader, "latency"),
        subject: section.subject,
    })
}

fn destinations<'a>(section: &Section<'a>, reader: &mut Reader<'_>) -> Given<Vec<At<DraftPort>>> {
    let Some(value) = section.get("destinations") else { return Given::Absent };
    let place = reader.place(value);
    let DeValue::Array(elements) = value.get_ref() else {
        reader.malformed(place, &section.subject, "destinations", value, format!("a list like {DESTINATIONS}"));
        return Given::Broken;
    };
    let mut ports = Vec::new();
    for element in elements.iter() {
        let Given::Is(port) = port(element, section, reader) else { return Given::Broken };
        ports.push(port);
    }
    Given::is(ports, place)
}

/// The name of a task, or a table with its name and that of the port.
fn port<'a>(value: &'a Value<'a>, section: &Section<'a>, reader: &mut Reader<'_>) -> Given<DraftPort> {
    let place = reader.place(value);
    if let Some(task) = value.get_ref().as_str() {
        return Given::is(DraftPort { task: task.to_owned(), name: None }, place);
    }
    if value.get_ref().as_table().is_none() {
        let expected = "the name of a task, or a table like { task = \"map\", port = \"position\" }";
        reader.malformed(place, &section.subject, "a port", value, expected);
        return Given::Broken;
    }
    let Some(table) = reader.open(value, format!("{}: port", section.subject), &PORT) else { return Given::Broken };
    table.require(reader, "task", "task = \"map\"");
    let name = match table.string(reader, "port", "a name in quotes") {
        Given::Broken => return Given::Broken,
        Given::Absent => None,
        Given::Is(at) => Some(at.value),
    };
    match table.string(reader, "task", "the name of a task in quotes") {
        Given::Is(task) => Given::is(DraftPort { task: task.value, name }, place),
        _ => Given::Broken,
    }
}
