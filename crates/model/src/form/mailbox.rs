//! `[[mailbox]]`: messages from a task of one sandbox to a task of another.

use super::keys::{Reader, Section, Value};
use super::platform::subject;
use crate::draft::{DraftMailbox, DraftMailboxEnd, DraftPort, Given};

const MAILBOX: [&str; 8] = ["name", "source", "destination", "size", "depth", "messages", "latency", "arrival"];
const END: [&str; 3] = ["sandbox", "task", "port"];
const SOURCE: &str = "source = { sandbox = \"critical\", task = \"guidance\" }";
const DESTINATION: &str = "destination = { sandbox = \"rich\", task = \"map\" }";

/// Reads one `[[mailbox]]`.
pub(super) fn read<'a>(value: &'a Value<'a>, index: usize, reader: &mut Reader<'_>) -> Option<DraftMailbox> {
    let section = reader.open(value, subject(value, "mailbox", index), &MAILBOX)?;
    section.require(reader, "name", "name = \"targets\"");
    section.require(reader, "source", SOURCE);
    section.require(reader, "destination", DESTINATION);
    section.require(reader, "size", "size = \"64 B\"");
    section.require(reader, "depth", "depth = 8");
    Some(DraftMailbox {
        place: section.place,
        name: section.string(reader, "name", "a name in quotes"),
        source: end(&section, "source", SOURCE, reader),
        destination: end(&section, "destination", DESTINATION, reader),
        size: section.size(reader, "size"),
        depth: section.integer(reader, "depth", "how many messages have room"),
        messages: section.integer(reader, "messages", "how many messages a job sends at most"),
        latency: section.duration(reader, "latency"),
        arrival: section.string(reader, "arrival", "\"polled\""),
        subject: section.subject,
    })
}

/// A table with the names of a sandbox and of a task in it, and that of the port.
fn end(section: &Section<'_>, key: &str, example: &'static str, reader: &mut Reader<'_>) -> Given<DraftMailboxEnd> {
    let Some(value) = section.get(key) else { return Given::Absent };
    let place = reader.place(value);
    if value.get_ref().as_table().is_none() {
        reader.malformed(place, &section.subject, key, value, format!("a table like {example}"));
        return Given::Broken;
    }
    let Some(table) = reader.open(value, format!("{}: {key}", section.subject), &END) else { return Given::Broken };
    table.require(reader, "sandbox", "sandbox = \"rich\"");
    table.require(reader, "task", "task = \"map\"");
    let name = match table.string(reader, "port", "a name in quotes") {
        Given::Broken => return Given::Broken,
        Given::Absent => None,
        Given::Is(at) => Some(at.value),
    };
    let sandbox = table.string(reader, "sandbox", "the name of a sandbox in quotes");
    match (sandbox, table.string(reader, "task", "the name of a task in quotes")) {
        (Given::Is(sandbox), Given::Is(task)) => {
            let port = DraftPort { task: task.value, name };
            Given::is(DraftMailboxEnd { sandbox: sandbox.value, port }, place)
        }
        _ => Given::Broken,
    }
}

/// Refuses mailboxes of a file without sandboxes.
pub(super) fn refuse_alone(mailboxes: &[DraftMailbox], reader: &mut Reader<'_>) {
    for it in mailboxes {
        let remedy = "make it a [[channel]] with kind = \"queuing\", or put its tasks into sandboxes";
        reader.out.refuse(it.place, &it.subject, "it joins two sandboxes, and the file has none", remedy);
    }
}
