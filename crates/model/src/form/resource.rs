//! `[[resource]]`: what one job at a time may hold; and `sections` of a task: when its jobs do.

use super::keys::{shorten, Reader, Section, Value};
use crate::draft::{DraftResource, DraftSection, Given};
use crate::problem::{nearest, Complaint};
use tactus_task::ResourceProtocol;
use toml::de::DeValue;

const RESOURCE: [&str; 2] = ["name", "protocol"];
const SECTION: [&str; 4] = ["resource", "after", "length", "actual"];
pub(crate) const PROTOCOLS: [(&str, ResourceProtocol); 2] =
    [("non-preemptive", ResourceProtocol::NonPreemptive), ("ceiling", ResourceProtocol::Ceiling)];
const KNOWN: &str = "\"non-preemptive\" or \"ceiling\"";

/// Reads one `[[resource]]`.
pub(super) fn read<'a>(value: &'a Value<'a>, index: usize, reader: &mut Reader<'_>) -> Option<DraftResource> {
    let name = value.get_ref().as_table().and_then(|table| table.iter().find(|(key, _)| key.get_ref() == "name"));
    let subject = match name.and_then(|(_, name)| name.get_ref().as_str()) {
        Some(name) => format!("resource {}", shorten(name)),
        None => format!("resource number {}", index + 1),
    };
    let section = reader.open(value, subject, &RESOURCE)?;
    section.require(reader, "name", "name = \"bus\"");
    section.require(reader, "protocol", "protocol = \"ceiling\"");
    let protocol = match section.string(reader, "protocol", KNOWN) {
        Given::Absent => Given::Absent,
        Given::Broken => Given::Broken,
        Given::Is(at) => match PROTOCOLS.iter().find(|(name, _)| *name == at.value) {
            Some((_, protocol)) => Given::is(*protocol, at.place),
            None => {
                let complaint = Complaint::UnknownName {
                    what: "protocol",
                    nearest: nearest(&at.value, PROTOCOLS.iter().map(|(name, _)| *name)),
                    name: at.value.chars().take(40).collect(),
                    remedy: format!("choose {KNOWN}"),
                };
                reader.out.add(at.place, &section.subject, complaint);
                Given::Broken
            }
        },
    };
    let name = section.string(reader, "name", "a name in quotes");
    Some(DraftResource { place: section.place, name, protocol, subject: section.subject })
}

/// Reads the sections of a task.
pub(super) fn sections(task: &Section<'_>, reader: &mut Reader<'_>) -> Given<Vec<DraftSection>> {
    let Some(value) = task.get("sections") else { return Given::Absent };
    let place = reader.place(value);
    let DeValue::Array(elements) = value.get_ref() else {
        let expected = "a list like [{ resource = \"bus\", after = \"1 ms\", length = \"0.3 ms\" }]";
        reader.malformed(place, &task.subject, "sections", value, expected);
        return Given::Broken;
    };
    let mut all = Vec::new();
    for (n, element) in elements.iter().enumerate() {
        let Some(section) = reader.open(element, format!("{}: section number {}", task.subject, n + 1), &SECTION)
        else {
            return Given::Broken;
        };
        section.require(reader, "resource", "resource = \"bus\"");
        section.require(reader, "after", "after = \"1 ms\"");
        section.require(reader, "length", "length = \"0.3 ms\"");
        all.push(DraftSection {
            place: section.place,
            resource: section.string(reader, "resource", "the name of a [[resource]] in quotes"),
            after: section.duration(reader, "after"),
            length: section.duration(reader, "length"),
            actual: section.duration(reader, "actual"),
            subject: section.subject,
        });
    }
    Given::is(all, place)
}
