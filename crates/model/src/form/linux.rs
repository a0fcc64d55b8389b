//! `[linux]`: which threads tasks are there. Its keys are names of tasks.

use super::keys::{Reader, Value};
use crate::draft::{At, DraftLinux, Given};
use toml::de::DeValue;

const THREAD: [&str; 2] = ["name", "group"];
const EXAMPLE: &str = "the thread's name in quotes, or a table like { name = \"worker\", group = \"engine\" }";

/// Reads the table.
pub(super) fn read<'a>(value: &'a Value<'a>, reader: &mut Reader<'_>) -> Vec<DraftLinux> {
    let place = reader.place(value);
    let Some(table) = value.get_ref().as_table() else {
        reader.malformed(place, "", "linux", value, "a table [linux], in single brackets, with names of tasks as keys");
        return Vec::new();
    };
    let mut threads = Vec::new();
    for (key, value) in table.iter() {
        let place = reader.lines.place(key.span().start);
        let subject = format!("[linux] {}", key.get_ref().chars().take(40).collect::<String>());
        let (name, group) = match value.get_ref() {
            DeValue::String(name) => (Given::is(name.to_string(), reader.place(value)), Given::Absent),
            DeValue::Table(_) => {
                let Some(section) = reader.open(value, subject.clone(), &THREAD) else { continue };
                let name = section.string(reader, "name", "the thread's name or number in quotes");
                let group = section.string(reader, "group", "the name or number of its process in quotes");
                if name.is_absent() && group.is_absent() {
                    section.require(reader, "name", "name = \"worker\"");
                }
                (name, group)
            }
            _ => {
                reader.malformed(place, "", subject, value, EXAMPLE);
                continue;
            }
        };
        threads.push(DraftLinux { task: At { value: key.get_ref().to_string(), place }, name, group });
    }
    threads
}
