//! `[[partition]]`: a partition and its windows in the major frame; and which schedule of windows holds when.

use super::keys::{shorten, Reader, Section, Value};
use super::platform::strings;
use crate::draft::{At, DraftHealth, DraftPartition, DraftSwitch, DraftWindow, Given};
use crate::HealthAction;
use toml::de::DeValue;

const PARTITION: [&str; 12] = [
    "name",
    "criticality",
    "policy",
    "quantum",
    "windows",
    "period",
    "duration",
    "start-frame",
    "load",
    "components",
    "background",
    "health",
];
const HEALTH: [&str; 6] = ["fault", "deadline-missed", "overrun", "restarts", "exhausted", "start"];
const WINDOW: [&str; 4] = ["core", "start", "length", "schedule"];
const SWITCH: [&str; 2] = ["frame", "schedule"];
const SWITCHES: &str = "switches = [{ frame = 50, schedule = \"approach\" }]";
const EXAMPLE: &str = "windows = [{ core = 0, start = \"0 ms\", length = \"5 ms\" }]";

/// Reads one `[[partition]]`.
pub(super) fn read<'a>(value: &'a Value<'a>, index: usize, reader: &mut Reader<'_>) -> Option<DraftPartition> {
    let name = value.get_ref().as_table().and_then(|table| table.iter().find(|(key, _)| key.get_ref() == "name"));
    let subject = match name.and_then(|(_, name)| name.get_ref().as_str()) {
        Some(name) => format!("partition {}", shorten(name)),
        None => format!("partition number {}", index + 1),
    };
    let section = reader.open(value, subject, &PARTITION)?;
    section.require(reader, "name", "name = \"flight-control\"");
    section.require(reader, "policy", "policy = \"partitioned-fp\"");
    section.require(reader, "windows", EXAMPLE);
    Some(DraftPartition {
        place: section.place,
        name: section.string(reader, "name", "a name in quotes"),
        criticality: super::server::criticality(&section, reader),
        order: super::server::order(&section, reader),
        quantum: section.duration(reader, "quantum"),
        windows: windows(&section, reader),
        period: section.duration(reader, "period"),
        duration: section.duration(reader, "duration"),
        start_frame: section.integer(reader, "start-frame", "the number of a major frame, counted from 0"),
        late: super::server::choice(&section, reader, "load", &[("first", false), ("late", true)]),
        components: strings(&section, reader, "components", "a list of names of components like [\"autopilot\"]"),
        background: section.boolean(reader, "background"),
        health: section.get("health").and_then(|value| health(&section, value, reader)),
        subject: section.subject,
    })
}

/// The health table as far as it can be read.
fn health<'a>(section: &Section<'a>, value: &'a Value<'a>, reader: &mut Reader<'_>) -> Option<DraftHealth> {
    use HealthAction::{EndModule, Idle, None, Restart, RestartProcess, SuspendProcess, Wait};
    let table = reader.open(value, format!("{}: health", section.subject), &HEALTH)?;
    Some(DraftHealth {
        place: table.place,
        fault: action(&table, reader, "fault", &[Idle, Restart, EndModule]),
        deadline_missed: action(&table, reader, "deadline-missed", &[None, RestartProcess, Idle, Restart, EndModule]),
        overrun: action(&table, reader, "overrun", &[None, SuspendProcess, Idle, Restart, EndModule]),
        exhausted: action(&table, reader, "exhausted", &[Idle, Wait, EndModule]),
        warm: super::server::choice(&table, reader, "start", &[("cold", false), ("warm", true)]),
        limit: super::platform::limit(&table, reader),
    })
}

fn action(
    table: &Section<'_>,
    reader: &mut Reader<'_>,
    key: &'static str,
    known: &[HealthAction],
) -> Given<HealthAction> {
    let known: Vec<_> = known.iter().map(|action| (action.word(), *action)).collect();
    super::server::choice(table, reader, key, &known)
}

/// The windows as far as they can be read.
fn windows<'a>(section: &Section<'a>, reader: &mut Reader<'_>) -> Given<Vec<At<DraftWindow>>> {
    let Some(value) = section.get("windows") else { return Given::Absent };
    let place = reader.place(value);
    let DeValue::Array(elements) = value.get_ref() else {
        reader.malformed(place, &section.subject, "windows", value, format!("a list like {EXAMPLE}"));
        return Given::Broken;
    };
    let mut taken = Vec::new();
    for (n, element) in elements.iter().enumerate() {
        let subject = format!("{}: window {}", section.subject, n + 1);
        let Some(window) = reader.open(element, subject, &WINDOW) else { return Given::Broken };
        window.require(reader, "core", "core = 0");
        window.require(reader, "start", "start = \"0 ms\"");
        window.require(reader, "length", "length = \"5 ms\"");
        let read = DraftWindow {
            core: window.integer(reader, "core", "the number of a core, counted from 0"),
            start: window.duration(reader, "start"),
            length: window.duration(reader, "length"),
            schedule: window.string(reader, "schedule", "the name of a schedule"),
        };
        taken.push(At { value: read, place: window.place });
    }
    Given::is(taken, place)
}

/// The switches from one schedule to another, in `[policy]`.
pub(super) fn switches<'a>(section: &Section<'a>, reader: &mut Reader<'_>) -> Vec<At<DraftSwitch>> {
    let Some(value) = section.get("switches") else { return Vec::new() };
    let DeValue::Array(elements) = value.get_ref() else {
        let place = reader.place(value);
        reader.malformed(place, &section.subject, "switches", value, format!("a list like {SWITCHES}"));
        return Vec::new();
    };
    let mut taken = Vec::new();
    for (n, element) in elements.iter().enumerate() {
        let Some(switch) = reader.open(element, format!("[policy]: switch {}", n + 1), &SWITCH) else { continue };
        switch.require(reader, "frame", "frame = 50");
        switch.require(reader, "schedule", "schedule = \"approach\"");
        let read = DraftSwitch {
            frame: switch.integer(reader, "frame", "the number of a major frame, counted from 0"),
            schedule: switch.string(reader, "schedule", "the name of a schedule"),
        };
        taken.push(At { value: read, place: switch.place });
    }
    taken
}
