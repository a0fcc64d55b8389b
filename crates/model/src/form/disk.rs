//! `[[disk]]` and `[[disk.client]]`.

use super::keys::{shorten, Reader, Section, Value};
use super::{each_of, platform};
use crate::draft::{DraftClient, DraftDisk, DraftFaults};

const DISK: [&str; 10] =
    ["name", "drive", "actual", "queue", "look-ahead", "map", "component", "write-cache", "faults", "client"];
const FAULTS: [&str; 6] = ["tolerated", "failed", "short", "silent", "unasked", "power-cuts"];
const CLIENT: [&str; 13] = [
    "name",
    "start",
    "extent",
    "places",
    "size",
    "write",
    "offset",
    "period",
    "deadline",
    "best-effort",
    "budget",
    "per",
    "buffer",
];

/// Reads one `[[disk]]` with its clients.
pub(super) fn read<'a>(value: &'a Value<'a>, index: usize, reader: &mut Reader<'_>) -> Option<DraftDisk> {
    let section = reader.open(value, platform::subject(value, "disk", index), &DISK)?;
    section.require(reader, "name", "name = \"log\"");
    section.require(reader, "drive", "drive = \"source-10k\"");
    section.require(reader, "client", "[[disk.client]], once for each client");
    let clients = each_of(&section, reader, "client", "disk.client");
    let clients = clients.into_iter().enumerate().filter_map(|(n, value)| client(value, &section, n, reader)).collect();
    Some(DraftDisk {
        place: section.place,
        name: section.string(reader, "name", "a name in quotes"),
        drive: section.string(reader, "drive", "the name of a drive in quotes"),
        actual: section.string(reader, "actual", "the name of a drive in quotes"),
        queue: section.string(reader, "queue", "\"g-matrix\" or \"edf\""),
        look_ahead: section.integer(reader, "look-ahead", "a whole number from 1 to 6"),
        map: section.string(reader, "map", "\"directed\" or \"symmetric\""),
        component: section.string(reader, "component", "the name of a component in quotes"),
        write_cache: section.integer(reader, "write-cache", "how many writes the drive keeps"),
        faults: faults(&section, reader),
        clients,
        subject: section.subject,
    })
}

fn faults(disk: &Section<'_>, reader: &mut Reader<'_>) -> DraftFaults {
    let section = disk.get("faults").and_then(|value| reader.open(value, format!("{}: faults", disk.subject), &FAULTS));
    let Some(section) = section else { return DraftFaults::default() };
    let one_in = "a whole number: one request in so many";
    DraftFaults {
        tolerated: section.integer(reader, "tolerated", "how many requests of a busy time may fail"),
        failed: section.integer(reader, "failed", one_in),
        short: section.integer(reader, "short", one_in),
        silent: section.integer(reader, "silent", one_in),
        unasked: section.integer(reader, "unasked", one_in),
        power_cuts: section.duration(reader, "power-cuts"),
    }
}

fn client<'a>(value: &'a Value<'a>, disk: &Section<'_>, index: usize, reader: &mut Reader<'_>) -> Option<DraftClient> {
    let name = value.get_ref().as_table().and_then(|table| table.iter().find(|(key, _)| key.get_ref() == "name"));
    let subject = match name.and_then(|(_, name)| name.get_ref().as_str()) {
        Some(name) => format!("{}, client {}", disk.subject, shorten(name)),
        None => format!("{}, client number {}", disk.subject, index + 1),
    };
    let section = reader.open(value, subject, &CLIENT)?;
    section.require(reader, "name", "name = \"recorder\"");
    section.require(reader, "start", "start = \"0 MiB\"");
    section.require(reader, "extent", "extent = \"64 MiB\"");
    section.require(reader, "size", "size = \"8 KiB\"");
    Some(DraftClient {
        place: section.place,
        name: section.string(reader, "name", "a name in quotes"),
        start: section.size(reader, "start"),
        extent: section.size(reader, "extent"),
        places: section.integer(reader, "places", "a whole number"),
        size: section.size(reader, "size"),
        write: section.boolean(reader, "write"),
        offset: section.duration(reader, "offset"),
        period: section.duration(reader, "period"),
        deadline: section.duration(reader, "deadline"),
        best_effort: section.integer(reader, "best-effort", "how many requests it has outstanding"),
        budget: section.duration(reader, "budget"),
        per: section.duration(reader, "per"),
        buffer: section.string(reader, "buffer", "the name of a buffer in quotes"),
        subject: section.subject,
    })
}
