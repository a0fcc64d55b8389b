//! `[[service]]`: what a task does for others by messages.

use super::keys::{Reader, Section, Value};
use super::platform::subject;
use crate::draft::{At, DraftService, Given};
use toml::de::DeValue;

const SERVICE: [&str; 8] = ["name", "server", "clients", "order", "requests", "size", "latency", "shaped"];
const CLIENTS: &str = "clients = [\"control\", [\"logger\", \"display\"]]";

/// Reads one `[[service]]`.
pub(super) fn read<'a>(value: &'a Value<'a>, index: usize, reader: &mut Reader<'_>) -> Option<DraftService> {
    let section = reader.open(value, subject(value, "service", index), &SERVICE)?;
    section.require(reader, "name", "name = \"storage\"");
    section.require(reader, "server", "server = \"io\"");
    section.require(reader, "clients", CLIENTS);
    section.require(reader, "order", "order = \"turns\"");
    section.require(reader, "size", "size = \"64 B\"");
    section.require(reader, "latency", "latency = \"40 ms\"");
    Some(DraftService {
        place: section.place,
        name: section.string(reader, "name", "a name in quotes"),
        server: section.string(reader, "server", "the name of a task in quotes"),
        clients: clients(&section, reader),
        order: section.string(reader, "order", "\"turns\", \"priority\" or \"slots\""),
        requests: section.integer(reader, "requests", "how many requests a job serves at most"),
        size: section.size(reader, "size"),
        latency: section.duration(reader, "latency"),
        shaped: section.boolean(reader, "shaped"),
        subject: section.subject,
    })
}

/// Names of tasks, or lists of those that have one request outstanding together.
fn clients<'a>(section: &Section<'a>, reader: &mut Reader<'_>) -> Given<Vec<At<Vec<String>>>> {
    let Some(value) = section.get("clients") else { return Given::Absent };
    let place = reader.place(value);
    let names = |value: &Value<'a>| -> Option<Vec<String>> {
        match value.get_ref() {
            DeValue::Array(all) => all.iter().map(|it| it.get_ref().as_str().map(str::to_owned)).collect(),
            one => Some(vec![one.as_str()?.to_owned()]),
        }
    };
    let read = match value.get_ref() {
        DeValue::Array(all) => {
            let one = |it: &Value<'a>| Some(At { value: names(it)?, place: reader.place(it) });
            all.iter().map(one).collect::<Option<Vec<_>>>()
        }
        _ => None,
    };
    let Some(read) = read else {
        reader.malformed(place, &section.subject, "clients", value, format!("a list like {CLIENTS}"));
        return Given::Broken;
    };
    Given::is(read, place)
}
