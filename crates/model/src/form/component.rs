//! `[[component]]`: a crate of the user's own, what it provides and what it may call.

use super::keys::{shorten, Reader, Section, Value};
use super::platform::{rights, strings};
use crate::draft::{At, DraftComponent, DraftGrant, Given};
use crate::problem::Complaint;
use std::path::{Path, PathBuf};
use toml::de::DeValue;

const COMPONENT: [&str; 20] = [
    "name",
    "crate",
    "provides",
    "uses",
    "scheduler",
    "parent",
    "threads",
    "brands",
    "lines",
    "ticks",
    "console",
    "memory-manager",
    "loader",
    "floating-point",
    "heap",
    "heap-by-colour",
    "restarted-by",
    "restarts",
    "colours",
    "counters",
];

/// Reads one component as far as it can be read.
pub(super) fn read<'a>(value: &'a Value<'a>, index: usize, reader: &mut Reader<'_>) -> Option<DraftComponent> {
    let name = value.get_ref().as_table().and_then(|table| table.iter().find(|(key, _)| key.get_ref() == "name"));
    let subject = match name.and_then(|(_, name)| name.get_ref().as_str()) {
        Some(name) => format!("component {}", shorten(name)),
        None => format!("component number {}", index + 1),
    };
    let section = reader.open(value, subject, &COMPONENT)?;
    section.require(reader, "name", "name = \"controller\"");
    section.require(reader, "crate", "crate = \"path/of/the/crate\"");
    Some(DraftComponent {
        place: section.place,
        name: section.string(reader, "name", "a name in quotes"),
        path: read_crate(&section, reader),
        provides: strings(&section, reader, "provides", "a list of names like [\"read\", \"write\"]"),
        uses: read_uses(&section, reader),
        colours: super::colours::own(&section, reader),
        rights: rights(&section, reader),
        slot: None,
        subject: section.subject,
    })
}

/// The folder of the crate, which must be there.
fn read_crate(section: &Section<'_>, reader: &mut Reader<'_>) -> Given<PathBuf> {
    let at = match section.string(reader, "crate", "the folder of a crate in quotes") {
        Given::Is(at) => at,
        Given::Absent => return Given::Absent,
        Given::Broken => return Given::Broken,
    };
    let path = reader.out.file().parent().unwrap_or(Path::new("")).join(&at.value);
    let folder = if path.join("Cargo.toml").is_file() { path.canonicalize().ok() } else { None };
    match folder {
        Some(folder) => Given::is(folder, at.place),
        None => {
            let why = format!("crate {} has no Cargo.toml", shorten(&at.value));
            let remedy = "name the folder of a Rust crate, as seen from the system file";
            reader.out.refuse(at.place, &section.subject, why, remedy);
            Given::Broken
        }
    }
}

pub(super) fn read_uses(section: &Section<'_>, reader: &mut Reader<'_>) -> Vec<At<DraftGrant>> {
    let expected = "a table like { read = \"sensor.read\" }";
    let Some(value) = section.get("uses") else { return Vec::new() };
    let DeValue::Table(grants) = value.get_ref() else {
        let place = reader.place(value);
        reader.malformed(place, &section.subject, "uses", value, expected);
        return Vec::new();
    };
    let mut uses = Vec::new();
    for (name, value) in grants.iter() {
        let place = reader.lines.place(name.span().start);
        match value.get_ref().as_str().and_then(|text| text.split_once('.')) {
            Some((provider, service)) => {
                let (name, provider, service) = (name.get_ref().to_string(), provider.to_string(), service.to_string());
                uses.push(At { value: DraftGrant { name, provider, service }, place });
            }
            None => {
                let what = format!("uses {}", shorten(name.get_ref()));
                let found = match value.get_ref().as_str() {
                    Some(text) => shorten(text),
                    None => "not a text".into(),
                };
                let expected = "the provider and its service like \"sensor.read\"".into();
                reader.out.add(place, &section.subject, Complaint::Malformed { what, found, expected });
            }
        }
    }
    uses
}
