//! The TOML form of a system file: from text to a draft.

mod chain;
mod change;
mod channel;
mod colours;
mod component;
mod disk;
mod keys;
mod linux;
mod mailbox;
mod monitor;
pub(crate) mod network;
pub(crate) mod package;
mod partition;
mod platform;
mod resource;
mod sandbox;
mod server;
mod service;
mod slot;
mod task;
mod wait;

pub(crate) use monitor::ACTIONS;
pub(crate) use server::policy_names;

use crate::draft::{Draft, Given};
use crate::problem::{nearest, Collector, Complaint};
use crate::text::Lines;
use crate::{Migration, Mixed, Policy, Schedulers};
use keys::{Reader, Section};
use std::borrow::Cow;
use toml::de::{DeTable, DeValue};

const TOP: [&str; 26] = [
    "system",
    "policy",
    "machine",
    "kernel",
    "sandbox",
    "mailbox",
    "server",
    "partition",
    "task",
    "chain",
    "channel",
    "service",
    "resource",
    "change",
    "slot",
    "load",
    "unload",
    "save",
    "restore",
    "update",
    "component",
    "buffer",
    "device",
    "disk",
    "monitor",
    "linux",
];
const SYSTEM: [&str; 7] = ["name", "cores", "memory", "duration", "seed", "root", "pool"];
const MACHINE: [&str; 11] = [
    "processor",
    "instruction",
    "inter-core",
    "overheads",
    "colours",
    "geometry",
    "memory-line",
    "miss-cost",
    "write-back-cost",
    "accept-meltdown",
    "branch-barriers",
];
const KERNEL: [&str; 1] = ["colours"];

/// Reads the text as far as it can be read; nothing if it is not TOML.
pub(crate) fn read(text: &str, out: &mut Collector) -> Option<Draft> {
    let lines = Lines::new(text);
    let (root, errors) = DeTable::parse_recoverable(text);
    let mut last_line = 0;
    for error in &errors {
        let place = error.span().map(|span| lines.place(span.start));
        // What follows on the same line is mostly the same mistake, seen from further on.
        let line = place.map_or(0, |place| place.line);
        if line != 0 && line == last_line {
            continue;
        }
        last_line = line;
        // One line: a message of the TOML reader may have several.
        let message = error.message().split_whitespace().collect::<Vec<_>>().join(" ");
        out.add(place, "", Complaint::Syntax { reason: format!("this is not TOML: {message}") });
    }
    // What could be recovered beside a syntax error would draw complaints about keys that are not missing at all.
    if !errors.is_empty() {
        return None;
    }
    let span = root.span();
    let root = toml::Spanned::new(span, DeValue::Table(root.into_inner()));
    let mut reader = Reader { lines, out };
    let mut draft = Draft::default();
    let top = reader.open(&root, String::new(), &TOP)?;
    draft.place = crate::Location { line: 1, column: 1 };

    top.require(&mut reader, "system", "[system]");
    let system = top.get("system").and_then(|value| reader.open(value, "[system]".into(), &SYSTEM));
    if let Some(section) = &system {
        read_system(section, &mut reader, &mut draft);
    }
    if let Some(section) = top.get("machine").and_then(|value| reader.open(value, "[machine]".into(), &MACHINE)) {
        draft.processor = server::choice(&section, &mut reader, "processor", &crate::Processor::ALL);
        draft.shift = read_instruction(&section, &mut reader);
        draft.overheads = section.boolean(&mut reader, "overheads");
        draft.open = server::choice(&section, &mut reader, "inter-core", &[("open", true)]);
        draft.platform.accepts_meltdown = section.boolean(&mut reader, "accept-meltdown");
        draft.platform.branch_barriers = section.boolean(&mut reader, "branch-barriers");
        draft.platform.colours = colours::count(&section, &mut reader);
        draft.platform.geometry = colours::geometry(&section, &mut reader);
        draft.platform.line = section.duration(&mut reader, "memory-line");
        draft.platform.miss_cost = section.duration(&mut reader, "miss-cost");
        draft.platform.write_back_cost = section.duration(&mut reader, "write-back-cost");
    }
    if let Some(section) = top.get("kernel").and_then(|value| reader.open(value, "[kernel]".into(), &KERNEL)) {
        draft.platform.kernel = colours::own(&section, &mut reader);
    }
    for (i, value) in each(&top, &mut reader, "sandbox").into_iter().enumerate() {
        draft.sandboxes.extend(sandbox::read(value, i, &mut reader));
    }
    for (i, value) in each(&top, &mut reader, "mailbox").into_iter().enumerate() {
        draft.mailboxes.extend(mailbox::read(value, i, &mut reader));
    }
    if draft.sandboxes.is_empty() {
        mailbox::refuse_alone(&draft.mailboxes, &mut reader);
        system.iter().for_each(|section| section.require(&mut reader, "cores", "cores = 4"));
        top.require(&mut reader, "policy", "[policy] with kind = \"partitioned-edf\"");
        read_content(&top, &mut reader, &mut draft);
    } else {
        sandbox::refuse_beside(&top, system.as_ref(), &mut reader);
    }
    Some(draft)
}

/// Reads what runs, and by which policy: of a system, or of one of its sandboxes.
fn read_content<'a>(top: &Section<'a>, reader: &mut Reader<'_>, draft: &mut Draft) {
    if let Some(value) = top.get("policy") {
        draft.policy = read_policy(value, reader, draft);
    }
    draft.no_tasks = top.get("task").is_none();
    for (i, value) in each(top, reader, "task").into_iter().enumerate() {
        draft.tasks.extend(task::read(value, i, reader));
    }
    for (i, value) in each(top, reader, "server").into_iter().enumerate() {
        draft.servers.extend(server::read(value, i, reader));
    }
    for (i, value) in each(top, reader, "partition").into_iter().enumerate() {
        draft.partitions.extend(partition::read(value, i, reader));
    }
    for (i, value) in each(top, reader, "chain").into_iter().enumerate() {
        draft.chains.extend(chain::read(value, i, reader));
    }
    for (i, value) in each(top, reader, "channel").into_iter().enumerate() {
        draft.channels.extend(channel::read(value, i, reader));
    }
    for (i, value) in each(top, reader, "service").into_iter().enumerate() {
        draft.services.extend(service::read(value, i, reader));
    }
    for (i, value) in each(top, reader, "resource").into_iter().enumerate() {
        draft.resources.extend(resource::read(value, i, reader));
    }
    for (i, value) in each(top, reader, "change").into_iter().enumerate() {
        draft.changes.extend(change::read(value, i, reader));
    }
    for (i, value) in each(top, reader, "slot").into_iter().enumerate() {
        draft.slots.extend(slot::read(value, i, reader));
    }
    let mut packages = slot::Packages::new();
    for (i, value) in each(top, reader, "load").into_iter().enumerate() {
        draft.loads.extend(slot::load(value, i, &mut packages, reader));
    }
    for (i, value) in each(top, reader, "unload").into_iter().enumerate() {
        draft.loads.extend(slot::unload(value, i, reader));
    }
    for (i, value) in each(top, reader, "save").into_iter().enumerate() {
        draft.loads.extend(slot::save(value, i, reader));
    }
    for (i, value) in each(top, reader, "restore").into_iter().enumerate() {
        draft.loads.extend(slot::restore(value, i, reader));
    }
    for (i, value) in each(top, reader, "update").into_iter().enumerate() {
        draft.loads.extend(slot::update(value, i, &mut packages, reader));
    }
    for (i, value) in each(top, reader, "component").into_iter().enumerate() {
        draft.components.extend(component::read(value, i, reader));
    }
    for (i, value) in each(top, reader, "monitor").into_iter().enumerate() {
        draft.monitors.extend(monitor::read(value, i, reader));
    }
    for (i, value) in each(top, reader, "buffer").into_iter().enumerate() {
        draft.platform.buffers.extend(platform::buffer(value, i, reader));
    }
    for (i, value) in each(top, reader, "device").into_iter().enumerate() {
        draft.platform.devices.extend(platform::device(value, i, reader));
    }
    for (i, value) in each(top, reader, "disk").into_iter().enumerate() {
        draft.disks.extend(disk::read(value, i, reader));
    }
    draft.linux = top.get("linux").map(|value| linux::read(value, reader)).unwrap_or_default();
}

fn read_system(section: &Section<'_>, reader: &mut Reader<'_>, draft: &mut Draft) {
    draft.place = section.place;
    section.require(reader, "duration", "duration = \"10 s\"");
    draft.name = section.string(reader, "name", "a name in quotes");
    draft.cores = section.integer(reader, "cores", "a whole number from 1 to 8");
    draft.memory = section.size(reader, "memory");
    draft.duration = section.duration(reader, "duration");
    draft.seed = section.integer(reader, "seed", "a whole number that is not negative");
    draft.platform.root = section.string(reader, "root", "the name of a component in quotes");
    draft.platform.pool = section.size(reader, "pool");
}

/// The keys by which earlier versions chose a variant of MC².
const VARIANT_KEYS: [&str; 4] = ["locks", "interrupt-master", "timer-merging", "work-redistribution"];
/// The keys of MC², and those of any policy.
const MC2_KEYS: &[&str] =
    &["kind", "enforce", "slack-shifting", "locks", "interrupt-master", "timer-merging", "work-redistribution"];
const EVERY_KEY: &[&str] = &[
    "kind",
    "enforce",
    "slack-shifting",
    "locks",
    "interrupt-master",
    "timer-merging",
    "work-redistribution",
    "clusters",
    "quantum",
    "schedulers",
    "major-frame",
    "schedules",
    "switches",
];

fn read_policy<'a>(value: &'a keys::Value<'a>, reader: &mut Reader<'_>, draft: &mut Draft) -> Given<Policy> {
    let kind = value.get_ref().as_table().and_then(|table| table.iter().find(|(key, _)| key.get_ref() == "kind"));
    let kind = kind.and_then(|(_, kind)| kind.get_ref().as_str());
    // The parameters of a policy are known only where it is chosen; without a known kind, none is complained about.
    let known: &[&str] = match kind.map(|kind| (kind, server::policy(kind))) {
        Some((_, Some((Migration::Clustered, order)))) if order.has_quantum() => {
            &["kind", "clusters", "quantum", "schedulers"]
        }
        Some((_, Some((Migration::Clustered, _)))) => &["kind", "clusters", "schedulers"],
        Some((_, Some((_, order)))) if order.has_quantum() => &["kind", "quantum", "schedulers"],
        Some((_, Some(_))) => &["kind", "schedulers"],
        Some(("mc2", None)) => MC2_KEYS,
        Some(("amc" | "edf-vd", None)) => &["kind"],
        Some(("partitions", None)) => &["kind", "major-frame", "schedules", "switches"],
        _ => EVERY_KEY,
    };
    let Some(section) = reader.open(value, "[policy]".into(), known) else { return Given::Broken };
    section.require(reader, "kind", "kind = \"partitioned-edf\"");
    let one_of = format!("\"mc2\", \"amc\", \"edf-vd\", \"partitions\", or {}", server::policies());
    let name = section.string(reader, "kind", &format!("one of {one_of}"));
    let (enforce, slack) = (section.boolean(reader, "enforce"), section.boolean(reader, "slack-shifting"));
    refuse_variants(&section, reader);
    draft.clusters = server::clusters(&section, reader);
    draft.quantum = section.duration(reader, "quantum");
    draft.schedulers = read_schedulers(&section, reader);
    draft.major_frame = section.duration(reader, "major-frame");
    let example = "a list of names like [\"cruise\", \"approach\"]";
    draft.schedules = platform::strings(&section, reader, "schedules", example);
    draft.switches = partition::switches(&section, reader);
    let Given::Is(name) = name else { return Given::Broken };
    let policy = match (name.value.as_str(), server::policy(&name.value)) {
        ("partitioned-rm", _) => Policy::PartitionedRm,
        ("partitioned-edf", _) => Policy::PartitionedEdf,
        ("global-rm", _) => Policy::GlobalRm,
        ("global-edf", _) => Policy::GlobalEdf,
        ("amc", _) => Policy::Mixed(Mixed::Amc),
        ("edf-vd", _) => Policy::Mixed(Mixed::EdfVd),
        ("partitions", _) => Policy::Partitions,
        ("mc2", _) => {
            Policy::Mc2 { enforce: enforce.value().unwrap_or(true), slack_shifting: slack.value().unwrap_or(true) }
        }
        (_, Some((spread, order))) => Policy::Ordered { spread, order },
        (other, None) => {
            let names = server::policy_names().chain(["mc2", "amc", "edf-vd", "partitions"]);
            let complaint = Complaint::UnknownName {
                what: "policy",
                nearest: nearest(other, names),
                name: other.chars().take(40).collect(),
                remedy: format!("choose {one_of}"),
            };
            reader.out.add(name.place, "[policy]", complaint);
            return Given::Broken;
        }
    };
    Given::is(policy, name.place)
}

/// Refuses the keys of MC²'s variants, which only a study measures.
fn refuse_variants(section: &Section<'_>, reader: &mut Reader<'_>) {
    for key in VARIANT_KEYS {
        let Some(place) = section.get(key).map(|value| reader.place(value)) else { continue };
        let why = format!("{key} chose among variants of MC² that only the study of its overheads measures now");
        let remedy = "remove it: levels C and D share one lock; `tactus study mc2-overheads` measures the variants";
        reader.out.refuse(place, "[policy]", why, remedy);
    }
}

/// Whether servers have schedulers of their own.
fn read_schedulers(section: &Section<'_>, reader: &mut Reader<'_>) -> Given<Schedulers> {
    let name = match section.string(reader, "schedulers", "\"single\" or \"per-server\"") {
        Given::Is(name) => name,
        Given::Broken => return Given::Broken,
        Given::Absent => return Given::Absent,
    };
    match name.value.as_str() {
        "single" => Given::is(Schedulers::Single, name.place),
        "per-server" => Given::is(Schedulers::PerServer, name.place),
        other => {
            let nearest = match other {
                // The words of earlier versions.
                "together" => Some("single".to_string()),
                "apart" => Some("per-server".to_string()),
                _ => nearest(other, ["single", "per-server"]),
            };
            let complaint = Complaint::UnknownName {
                what: "way to keep schedulers",
                nearest,
                name: other.chars().take(40).collect(),
                remedy: "choose \"single\" or \"per-server\"".to_string(),
            };
            reader.out.add(name.place, "[policy]", complaint);
            Given::Broken
        }
    }
}

/// The exponent of the instruction time: a power of two from 1 to 64 ns.
fn read_instruction(section: &Section<'_>, reader: &mut Reader<'_>) -> Given<u8> {
    match section.duration(reader, "instruction") {
        Given::Absent => Given::Absent,
        Given::Broken => Given::Broken,
        Given::Is(at) => match (0..=6).find(|shift| at.value.as_nanos() == 1 << shift) {
            Some(shift) => Given::is(shift, at.place),
            None => {
                let limit = "which no machine offers";
                let remedy = "choose one of 1, 2, 4, 8, 16, 32, 64 ns";
                reader.out.out_of_range(at.place, "[machine]", "instruction", at.value, limit, remedy);
                Given::Broken
            }
        },
    }
}

/// The elements of an array of tables.
fn each<'a>(top: &Section<'a>, reader: &mut Reader<'_>, key: &str) -> Vec<&'a keys::Value<'a>> {
    each_of(top, reader, key, key)
}

/// The same for tables of a table, whose heading has both names.
fn each_of<'a>(top: &Section<'a>, reader: &mut Reader<'_>, key: &str, heading: &str) -> Vec<&'a keys::Value<'a>> {
    match top.get(key).map(|value| (value, value.get_ref())) {
        None => Vec::new(),
        Some((_, DeValue::Array(elements))) => elements.iter().collect(),
        Some((value, _)) => {
            let place = reader.place(value);
            reader.malformed(
                place,
                "",
                Cow::Borrowed(key),
                value,
                format!("[[{heading}]], in double brackets, once for each"),
            );
            Vec::new()
        }
    }
}
