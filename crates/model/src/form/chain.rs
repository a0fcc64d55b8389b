//! `[[chain]]`: tasks of which each releases the next, and how long all of them may take.

use super::keys::{Reader, Value};
use crate::draft::{DraftChain, Given};
use toml::de::DeValue;

const CHAIN: [&str; 3] = ["name", "tasks", "deadline"];

/// Reads one `[[chain]]`.
pub(super) fn read<'a>(value: &'a Value<'a>, index: usize, reader: &mut Reader<'_>) -> Option<DraftChain> {
    let section = reader.open(value, format!("chain number {}", index + 1), &CHAIN)?;
    section.require(reader, "name", "name = \"sensor to actuator\"");
    section.require(reader, "tasks", "tasks = [\"sense\", \"act\"]");
    section.require(reader, "deadline", "deadline = \"20 ms\"");
    let tasks = match section.get("tasks") {
        None => Given::Absent,
        Some(list) => {
            let place = reader.place(list);
            let names = match list.get_ref() {
                DeValue::Array(names) => names.iter().map(|name| Some(name.get_ref().as_str()?.to_owned())).collect(),
                _ => None,
            };
            match names {
                Some(names) => Given::is(names, place),
                None => {
                    reader.malformed(place, &section.subject, "tasks", list, "a list of names of tasks in quotes");
                    Given::Broken
                }
            }
        }
    };
    Some(DraftChain {
        place: section.place,
        name: section.string(reader, "name", "a name in quotes"),
        tasks,
        deadline: section.duration(reader, "deadline"),
        subject: section.subject,
    })
}
