//! `[[resource]]`: what one job at a time may hold; and `sections` of a task: when its jobs do.

use super::keys::{shorten, Reader, Section, Value};
use crate::draft::{DraftResource, DraftSection, Given};
use crate::problem::{nearest, Complaint};
use tactus_task::ResourceProtocol;
use toml::de::DeValue;

const RESOURCE: [&str; 3] = ["name", "protocol", "overrun"];
const SECTION: [&str; 4] = ["resource", "after", "length", "actual"];
pub(crate) const PROTOCOLS: [(&str, ResourceProtocol); 5] = [
    ("non-preemptive", ResourceProtocol::NonPreemptive),
    ("ceiling", ResourceProtocol::Ceiling),
    ("inheritance", ResourceProtocol::Inheritance),
    ("msrp", ResourceProtocol::Msrp),
    ("fmlp", ResourceProtocol::Fmlp),
];
const KNOWN: &str = "\"non-preemptive\", \"ceiling\", \"inheritance\", \"msrp\" or \"fmlp\"";
/// Protocols that are known and not built, each with why not.
const REFUSED: [(&str, &str); 2] = [
    (
        "mrsp",
        "a job that waits would have to do the holder's work on its own core, and no job has a thread on two cores",
    ),
    ("dpcp", "a job would wait without keeping its core, and no bound for that is built here"),
];
/// What happens to a section that is longer than declared: whether the resource is withdrawn.
pub(crate) const OVERRUNS: [(&str, bool); 2] = [("continue", false), ("withdraw", true)];

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
    let protocol = choice(&section, reader, ("protocol", KNOWN), &PROTOCOLS);
    let withdrawn = choice(&section, reader, ("overrun", "\"continue\" or \"withdraw\""), &OVERRUNS);
    let name = section.string(reader, "name", "a name in quotes");
    Some(DraftResource { place: section.place, name, protocol, withdrawn, subject: section.subject })
}

/// One of these names.
fn choice<T: Copy>(
    section: &Section<'_>,
    reader: &mut Reader<'_>,
    (key, known): (&'static str, &'static str),
    all: &[(&'static str, T)],
) -> Given<T> {
    let at = match section.string(reader, key, known) {
        Given::Absent => return Given::Absent,
        Given::Broken => return Given::Broken,
        Given::Is(at) => at,
    };
    if let Some((_, value)) = all.iter().find(|(name, _)| *name == at.value) {
        return Given::is(*value, at.place);
    }
    if let Some((name, why)) = REFUSED.iter().find(|(name, _)| *name == at.value) {
        reader.out.refuse(
            at.place,
            &section.subject,
            format!("protocol {name:?} is refused: {why}"),
            format!("choose {known}"),
        );
        return Given::Broken;
    }
    let complaint = Complaint::UnknownName {
        what: key,
        nearest: nearest(&at.value, all.iter().map(|(name, _)| *name)),
        name: at.value.chars().take(40).collect(),
        remedy: format!("choose {known}"),
    };
    reader.out.add(at.place, &section.subject, complaint);
    Given::Broken
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
