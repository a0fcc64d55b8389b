//! `[[change]]`.

use super::keys::{Reader, Value};
use crate::draft::DraftChange;

const CHANGE: [&str; 10] =
    ["at", "add", "remove", "task", "server", "execution", "budget", "period", "deadline", "priority"];

/// Reads one `[[change]]`.
pub(super) fn read<'a>(value: &'a Value<'a>, index: usize, reader: &mut Reader<'_>) -> Option<DraftChange> {
    let section = reader.open(value, format!("change number {}", index + 1), &CHANGE)?;
    section.require(reader, "at", "at = \"2 s\"");
    let either = "the name of a task or server in quotes";
    Some(DraftChange {
        place: section.place,
        at: section.duration(reader, "at"),
        add: section.string(reader, "add", either),
        remove: section.string(reader, "remove", either),
        task: section.string(reader, "task", "the name of a task in quotes"),
        server: section.string(reader, "server", "the name of a server in quotes"),
        execution: super::task::read_execution(&section, reader),
        budget: section.duration(reader, "budget"),
        period: section.duration(reader, "period"),
        deadline: section.duration(reader, "deadline"),
        priority: section.integer(reader, "priority", "a whole number from 0 to 1000000, the larger the more urgent"),
        subject: section.subject,
    })
}
