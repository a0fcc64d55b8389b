//! `waits` of a task: when its jobs wait, and for how long.

use super::keys::{Reader, Section};
use crate::draft::{DraftWait, Given};
use toml::de::DeValue;

const WAIT: [&str; 3] = ["after", "length", "actual"];

/// Reads the waits of a task.
pub(super) fn waits(task: &Section<'_>, reader: &mut Reader<'_>) -> Given<Vec<DraftWait>> {
    let Some(value) = task.get("waits") else { return Given::Absent };
    let place = reader.place(value);
    let DeValue::Array(elements) = value.get_ref() else {
        let expected = "a list like [{ after = \"1 ms\", length = \"4 ms\" }]";
        reader.malformed(place, &task.subject, "waits", value, expected);
        return Given::Broken;
    };
    let mut all = Vec::new();
    for (n, element) in elements.iter().enumerate() {
        let Some(section) = reader.open(element, format!("{}: wait number {}", task.subject, n + 1), &WAIT) else {
            return Given::Broken;
        };
        section.require(reader, "after", "after = \"1 ms\"");
        section.require(reader, "length", "length = \"4 ms\"");
        all.push(DraftWait {
            after: section.duration(reader, "after"),
            length: section.duration(reader, "length"),
            actual: section.duration(reader, "actual"),
            subject: section.subject,
        });
    }
    Given::is(all, place)
}
