//! What a component may do beside calls, `[[buffer]]` and `[[device]]`.

use super::keys::{shorten, Reader, Section, Value};
use crate::draft::{At, DraftBuffer, DraftDevice, DraftLimit, DraftRights};
use toml::de::DeValue;

const RESTARTS: [&str; 2] = ["most", "per"];
const BUFFER: [&str; 5] = ["name", "size", "between", "read-only", "colours"];
const DEVICE: [&str; 8] = ["name", "component", "kind", "address", "id", "bar", "size", "dma"];

/// Reads what a component may do beside calls.
pub(super) fn rights(section: &Section<'_>, reader: &mut Reader<'_>) -> DraftRights {
    let mut rights = DraftRights {
        scheduler: section.boolean(reader, "scheduler"),
        parent: section.string(reader, "parent", "the name of a scheduler in quotes"),
        threads: section.integer(reader, "threads", "a whole number"),
        brands: section.integer(reader, "brands", "a whole number"),
        lines: integers(section, reader, "lines", "a list of interrupt lines like [4]"),
        ticks: section.duration(reader, "ticks"),
        console: section.boolean(reader, "console"),
        memory_manager: section.boolean(reader, "memory-manager"),
        loader: section.boolean(reader, "loader"),
        floating_point: section.boolean(reader, "floating-point"),
        heap: section.size(reader, "heap"),
        heap_by_colour: section.boolean(reader, "heap-by-colour"),
        counters: section.boolean(reader, "counters"),
        restarted_by: section.string(reader, "restarted-by", "the name of a component in quotes, or \"root\""),
        ..DraftRights::default()
    };
    rights.restarts = limit(section, reader);
    rights
}

/// Reads how often something is restarted.
pub(super) fn limit(section: &Section<'_>, reader: &mut Reader<'_>) -> DraftLimit {
    let Some(value) = section.get("restarts") else { return DraftLimit::default() };
    let mut limit = DraftLimit { place: Some(reader.place(value)), ..DraftLimit::default() };
    if let Some(inner) = reader.open(value, format!("{}: restarts", section.subject), &RESTARTS) {
        inner.require(reader, "most", "most = 3");
        inner.require(reader, "per", "per = \"1 s\"");
        limit.most = inner.integer(reader, "most", "a whole number");
        limit.per = inner.duration(reader, "per");
    }
    limit
}

/// Reads one `[[buffer]]`.
pub(super) fn buffer<'a>(value: &'a Value<'a>, index: usize, reader: &mut Reader<'_>) -> Option<DraftBuffer> {
    let section = reader.open(value, subject(value, "buffer", index), &BUFFER)?;
    section.require(reader, "name", "name = \"frames\"");
    section.require(reader, "size", "size = \"16 KiB\"");
    section.require(reader, "between", "between = [\"camera\", \"filter\"]");
    Some(DraftBuffer {
        place: section.place,
        name: section.string(reader, "name", "a name in quotes"),
        size: section.size(reader, "size"),
        between: strings(&section, reader, "between", "a list of two components like [\"camera\", \"filter\"]"),
        read_only: section.string(reader, "read-only", "the name of a component in quotes"),
        colours: super::colours::own(&section, reader),
        subject: section.subject,
    })
}

/// Reads one `[[device]]`.
pub(super) fn device<'a>(value: &'a Value<'a>, index: usize, reader: &mut Reader<'_>) -> Option<DraftDevice> {
    let section = reader.open(value, subject(value, "device", index), &DEVICE)?;
    section.require(reader, "name", "name = \"network\"");
    section.require(reader, "component", "component = \"driver\"");
    section.require(reader, "kind", "kind = \"virtio-net\"");
    Some(DraftDevice {
        place: section.place,
        name: section.string(reader, "name", "a name in quotes"),
        component: section.string(reader, "component", "the name of a component in quotes"),
        kind: section.string(reader, "kind", "one of \"virtio-net\", \"virtio-blk\", \"ivshmem\", \"pci\", \"memory\""),
        address: section.integer(reader, "address", "a physical address like 0xfed00000"),
        id: section.string(reader, "id", "vendor and device like \"1af4:1041\""),
        bar: section.integer(reader, "bar", "a whole number from 0 to 5"),
        size: section.size(reader, "size"),
        dma: section.size(reader, "dma"),
        subject: section.subject,
    })
}

/// `buffer "frames"`, or its number where it has no name.
pub(super) fn subject(value: &Value<'_>, what: &str, index: usize) -> String {
    let name = value.get_ref().as_table().and_then(|table| table.iter().find(|(key, _)| key.get_ref() == "name"));
    match name.and_then(|(_, name)| name.get_ref().as_str()) {
        Some(name) => format!("{what} {}", shorten(name)),
        None => format!("{what} number {}", index + 1),
    }
}

/// A list of texts; what is none is reported and left out.
pub(super) fn strings(section: &Section<'_>, reader: &mut Reader<'_>, key: &str, expected: &str) -> Vec<At<String>> {
    list(section, reader, key, expected, |value| value.as_str().map(str::to_string))
}

/// A list of whole numbers that are not negative.
pub(super) fn integers(section: &Section<'_>, reader: &mut Reader<'_>, key: &str, expected: &str) -> Vec<At<u64>> {
    list(section, reader, key, expected, |value| {
        let number = value.as_integer()?;
        u64::from_str_radix(number.as_str(), number.radix()).ok()
    })
}

fn list<T>(
    section: &Section<'_>,
    reader: &mut Reader<'_>,
    key: &str,
    expected: &str,
    take: impl Fn(&DeValue<'_>) -> Option<T>,
) -> Vec<At<T>> {
    let Some(value) = section.get(key) else { return Vec::new() };
    let DeValue::Array(elements) = value.get_ref() else {
        let place = reader.place(value);
        reader.malformed(place, &section.subject, key, value, expected);
        return Vec::new();
    };
    let mut taken = Vec::new();
    for value in elements.iter() {
        let place = reader.place(value);
        match take(value.get_ref()) {
            Some(element) => taken.push(At { value: element, place }),
            None => {
                reader.malformed(place, &section.subject, format!("an element of {key}"), value, expected);
            }
        }
    }
    taken
}
