//! The `[[sandbox]]` tables: each has what a system has, beside what concerns the machine.

use super::keys::{shorten, Reader, Section, Value};
use crate::draft::DraftSandbox;

const SANDBOX: [&str; 27] = [
    "name",
    "cores",
    "memory",
    "restarts",
    "policy",
    "server",
    "partition",
    "task",
    "chain",
    "channel",
    "mailbox",
    "service",
    "resource",
    "change",
    "component",
    "monitor",
    "slot",
    "load",
    "unload",
    "save",
    "restore",
    "update",
    "kernel",
    "buffer",
    "device",
    "disk",
    "linux",
];
/// What goes with no sandboxes, in one or beside them, and why.
const REFUSED: [(&str, &str); 11] = [
    ("slot", COME_AND_GO),
    ("load", COME_AND_GO),
    ("unload", COME_AND_GO),
    ("save", COME_AND_GO),
    ("restore", COME_AND_GO),
    ("update", COME_AND_GO),
    ("kernel", "kernels of sandboxes have no memory by colour"),
    ("buffer", "buffers are for devices, and a sandbox has none"),
    ("device", "a sandbox has no devices: what they write to memory by themselves is not held back"),
    ("disk", "a disk's requests are judged in files without sandboxes"),
    ("linux", "Linux has no sandboxes"),
];
const COME_AND_GO: &str = "programs do not come and go in sandboxes";
/// What stands beside sandboxes. Everything else belongs into one of them, or goes with none.
const BESIDE: [&str; 4] = ["system", "machine", "sandbox", "mailbox"];
/// What of `[system]` and `[machine]` each sandbox has for itself, or no sandbox has.
const OF_SYSTEM: [(&str, &str); 3] = [
    ("memory", "give each sandbox its own"),
    ("root", "use a file without sandboxes: a root scheduler of one's own keeps no trace to judge"),
    ("pool", "use a file without sandboxes, where a component manages memory"),
];
const OF_MACHINE: [&str; 5] = ["colours", "geometry", "memory-line", "miss-cost", "write-back-cost"];

/// Reads one `[[sandbox]]`.
pub(super) fn read<'a>(value: &'a Value<'a>, index: usize, reader: &mut Reader<'_>) -> Option<DraftSandbox> {
    let name = value.get_ref().as_table().and_then(|table| table.iter().find(|(key, _)| key.get_ref() == "name"));
    let subject = match name.and_then(|(_, name)| name.get_ref().as_str()) {
        Some(name) => format!("sandbox {}", shorten(name)),
        None => format!("sandbox number {}", index + 1),
    };
    let section = reader.open(value, subject, &SANDBOX)?;
    section.require(reader, "name", "name = \"flight\"");
    section.require(reader, "policy", "[sandbox.policy] with kind = \"partitioned-edf\"");
    for (key, why) in REFUSED {
        refuse(&section, key, why, "run it in a file without sandboxes", reader);
    }
    let why = "a mailbox joins two sandboxes, and belongs to none";
    refuse(&section, "mailbox", why, "put it beside them: [[mailbox]]", reader);
    let mut sandbox = DraftSandbox { place: section.place, ..DraftSandbox::default() };
    let content = &mut sandbox.content;
    content.place = section.place;
    content.name = section.string(reader, "name", "a name in quotes");
    content.cores = section.integer(reader, "cores", "a whole number");
    content.memory = section.size(reader, "memory");
    sandbox.restarts = section.integer(reader, "restarts", "a whole number that is not negative");
    super::read_content(&section, reader, content);
    sandbox.subject = section.subject;
    Some(sandbox)
}

/// Refuses what stands beside sandboxes and belongs into one, or goes with none.
pub(super) fn refuse_beside(top: &Section<'_>, system: Option<&Section<'_>>, reader: &mut Reader<'_>) {
    for key in super::TOP.into_iter().filter(|key| !BESIDE.contains(key)) {
        if let Some((_, why)) = REFUSED.iter().find(|(refused, _)| *refused == key) {
            refuse(top, key, why, "run it in a file without sandboxes", reader);
        } else {
            let why = format!("{key} stands beside sandboxes, and each of these is a system of its own");
            let remedy = format!("put it into one: sandbox.{key} behind its [[sandbox]]");
            refuse(top, key, &why, &remedy, reader);
        }
    }
    if let Some(system) = system {
        for (key, remedy) in OF_SYSTEM {
            refuse(system, key, &format!("{key} is not the whole machine's where there are sandboxes"), remedy, reader);
        }
    }
    if let Some(machine) = top.get("machine").and_then(|value| reader.open(value, "[machine]".into(), &super::MACHINE))
    {
        for key in OF_MACHINE {
            let why = "caches are neither divided nor modelled where there are sandboxes";
            refuse(&machine, key, why, "take it out, or use a file without sandboxes", reader);
        }
    }
}

fn refuse(section: &Section<'_>, key: &str, why: &str, remedy: &str, reader: &mut Reader<'_>) {
    if let Some(place) = section.get(key).map(|value| reader.place(value)) {
        reader.out.refuse(place, &section.subject, why, remedy);
    }
}
