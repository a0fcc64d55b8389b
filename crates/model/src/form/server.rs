//! Names of orders, `[[server]]`, and what a task says about its place among servers.

use super::keys::{shorten, Reader, Section, Value};
use crate::draft::{At, DraftPlace, DraftServer, Given};
use crate::problem::{nearest, Complaint};
use crate::{Criticality, EarlyArrival, Migration, Overrun, SampledEvent, ServerKind, TaskOrder};
use toml::de::DeValue;

const SERVER: [&str; 19] = [
    "name",
    "parent",
    "cores",
    "kind",
    "budget",
    "period",
    "alpha",
    "delta",
    "share",
    "for",
    "misses",
    "write-backs",
    "event",
    "threshold",
    "policy",
    "clusters",
    "quantum",
    "priority",
    "background",
];
const SPREADS: [(&str, Migration); 3] =
    [("partitioned", Migration::Partitioned), ("clustered", Migration::Clustered), ("global", Migration::Global)];
const OVERRUNS: [(&str, Overrun); 4] =
    [("continue", Overrun::Continue), ("skip", Overrun::Skip), ("stop", Overrun::Stop), ("kill", Overrun::Kill)];

const CRITICALITIES: [(&str, Criticality); 5] =
    [("A", Criticality::A), ("B", Criticality::B), ("C", Criticality::C), ("D", Criticality::D), ("E", Criticality::E)];

/// Whether a task's releases are sporadic.
const RELEASES: [(&str, bool); 2] = [("periodic", false), ("sporadic", true)];
const EARLY: [(&str, EarlyArrival); 3] =
    [("delay", EarlyArrival::Delay), ("drop", EarlyArrival::Drop), ("fault", EarlyArrival::Fault)];

/// What names of orders look like.
pub(super) fn policies() -> String {
    let [rest @ .., last] = TaskOrder::ALL.map(TaskOrder::key);
    format!("partitioned-, clustered- or global- with {} or {last}", rest.join(", "))
}

/// All names of orders with their spreads: `partitioned-fp` …
pub(crate) fn policy_names() -> impl Iterator<Item = &'static str> {
    TaskOrder::ALL.into_iter().flat_map(TaskOrder::policy_keys)
}

/// What a name like `clustered-edf` means.
pub(super) fn policy(name: &str) -> Option<(Migration, TaskOrder)> {
    let (spread, order) = name.split_once('-')?;
    let spread = SPREADS.iter().find(|(name, _)| *name == spread)?.1;
    Some((spread, TaskOrder::ALL.into_iter().find(|known| known.key() == order)?))
}

/// One of a few names.
pub(super) fn choice<T: Copy>(
    section: &Section<'_>,
    reader: &mut Reader<'_>,
    key: &'static str,
    all: &[(&str, T)],
) -> Given<T> {
    let names: Vec<String> = all.iter().map(|(name, _)| format!("{name:?}")).collect();
    let names = names.join(", ");
    let Given::Is(name) = section.string(reader, key, &format!("one of {names}")) else {
        return if section.get(key).is_some() { Given::Broken } else { Given::Absent };
    };
    match all.iter().find(|(known, _)| *known == name.value) {
        Some((_, value)) => Given::is(*value, name.place),
        None => {
            let complaint = Complaint::UnknownName {
                what: key,
                nearest: nearest(&name.value, all.iter().map(|(name, _)| *name)),
                name: name.value.chars().take(40).collect(),
                remedy: format!("choose one of {names}"),
            };
            reader.out.add(name.place, &section.subject, complaint);
            Given::Broken
        }
    }
}

/// A list of cores.
fn cores(section: &Section<'_>, reader: &mut Reader<'_>, value: &Value<'_>, key: &str) -> Given<Vec<At<u64>>> {
    let place = reader.place(value);
    let DeValue::Array(elements) = value.get_ref() else {
        reader.malformed(place, &section.subject, key, value, "a list of cores like [0, 1]");
        return Given::Broken;
    };
    let mut taken = Vec::new();
    for element in elements.iter() {
        let number = element.get_ref().as_integer();
        match number.and_then(|number| u64::from_str_radix(number.as_str(), number.radix()).ok()) {
            Some(core) => taken.push(At { value: core, place: reader.place(element) }),
            None => {
                let place = reader.place(element);
                reader.malformed(place, &section.subject, key, element, "the number of a core, counted from 0");
                return Given::Broken;
            }
        }
    }
    Given::is(taken, place)
}

/// A list of lists of cores.
pub(super) fn clusters(section: &Section<'_>, reader: &mut Reader<'_>) -> Given<Vec<At<Vec<At<u64>>>>> {
    let Some(value) = section.get("clusters") else { return Given::Absent };
    let place = reader.place(value);
    let DeValue::Array(elements) = value.get_ref() else {
        reader.malformed(place, &section.subject, "clusters", value, "a list of clusters like [[0, 1], [2, 3]]");
        return Given::Broken;
    };
    let mut taken = Vec::new();
    for element in elements.iter() {
        match cores(section, reader, element, "a cluster") {
            Given::Is(cluster) => taken.push(cluster),
            _ => return Given::Broken,
        }
    }
    Given::is(taken, place)
}

/// The order of what is inside, by the key `policy`.
pub(super) fn order(section: &Section<'_>, reader: &mut Reader<'_>) -> Given<(Migration, TaskOrder)> {
    let at = match section.string(reader, "policy", &format!("the name of an order: {}", policies())) {
        Given::Is(at) => at,
        Given::Absent => return Given::Absent,
        Given::Broken => return Given::Broken,
    };
    if let Some(found) = policy(&at.value) {
        return Given::is(found, at.place);
    }
    let complaint = Complaint::UnknownName {
        what: "policy",
        nearest: nearest(&at.value, policy_names()),
        name: at.value.chars().take(40).collect(),
        remedy: format!("choose {}", policies()),
    };
    reader.out.add(at.place, &section.subject, complaint);
    Given::Broken
}

/// How critical a partition is.
pub(super) fn criticality(section: &Section<'_>, reader: &mut Reader<'_>) -> Given<Criticality> {
    choice(section, reader, "criticality", &CRITICALITIES)
}

/// The kind of a server.
fn kind(section: &Section<'_>, reader: &mut Reader<'_>) -> Given<ServerKind> {
    if let Some(value) = section.get("kind").filter(|value| value.get_ref().as_str() == Some("posix-sporadic")) {
        let why = "the sporadic server of POSIX may take more than its budget (Stanovich et al. 2010)";
        let place = reader.place(value);
        reader.out.refuse(place, &section.subject, why, "write kind = \"sporadic\", which corrects it");
        return Given::Broken;
    }
    // Windows are a partition's, which has a section of its own; a kind that gives way is told once.
    let again = [ServerKind::Windows, ServerKind::YieldingToMisses];
    let kinds = ServerKind::ALL.into_iter().filter(|kind| !again.contains(kind));
    choice(section, reader, "kind", &kinds.map(|kind| (kind.key(), kind)).collect::<Vec<_>>())
}

/// Reads one `[[server]]`.
pub(super) fn read<'a>(value: &'a Value<'a>, index: usize, reader: &mut Reader<'_>) -> Option<DraftServer> {
    let name = value.get_ref().as_table().and_then(|table| table.iter().find(|(key, _)| key.get_ref() == "name"));
    let subject = match name.and_then(|(_, name)| name.get_ref().as_str()) {
        Some(name) => format!("server {}", shorten(name)),
        None => format!("server number {}", index + 1),
    };
    let section = reader.open(value, subject, &SERVER)?;
    section.require(reader, "name", "name = \"video\"");
    section.require(reader, "kind", "kind = \"cbs-hard\"");
    section.require(reader, "policy", "policy = \"partitioned-edf\"");
    let events = SampledEvent::ALL.map(|event| (event.key(), event));
    let listed = section.get("cores").map(|value| cores(&section, reader, value, "cores"));
    let order = order(&section, reader);
    Some(DraftServer {
        place: section.place,
        name: section.string(reader, "name", "a name in quotes"),
        parent: section.string(reader, "parent", "the name of a server in quotes"),
        cores: listed.unwrap_or_default(),
        kind: kind(&section, reader),
        budget: section.duration(reader, "budget"),
        period: section.duration(reader, "period"),
        alpha: section.float(reader, "alpha", "a number between 0 and 1"),
        delta: section.duration(reader, "delta"),
        share: section.float(reader, "share", "a number between 0 and 1"),
        works_for: section.string(reader, "for", "the name of a server in quotes"),
        misses: section.integer(reader, "misses", "a number of lines from memory"),
        write_backs: section.integer(reader, "write-backs", "a number of lines written back to memory"),
        event: choice(&section, reader, "event", &events),
        threshold: section.integer(reader, "threshold", "a number of events in a period"),
        order,
        clusters: clusters(&section, reader),
        quantum: section.duration(reader, "quantum"),
        priority: section.integer(reader, "priority", "a whole number from 0 to 1000000, the larger the more urgent"),
        background: section.boolean(reader, "background"),
        subject: section.subject,
    })
}

/// Reads what a task says about its place.
pub(super) fn place(task: &Section<'_>, reader: &mut Reader<'_>) -> DraftPlace {
    DraftPlace {
        server: task.string(reader, "server", "the name of a [[server]] in quotes"),
        partition: task.string(reader, "partition", "the name of a [[partition]] in quotes"),
        cluster: task.integer(reader, "cluster", "the number of a cluster, counted from 0"),
        priority: task.integer(reader, "priority", "a whole number from 0 to 1000000, the larger the more urgent"),
        threshold: task.integer(reader, "preemption-threshold", "a priority: a whole number from 0 to 1000000"),
        overrun: choice(task, reader, "overrun", &OVERRUNS),
        virtual_deadline: task.duration(reader, "virtual-deadline"),
        sporadic: choice(task, reader, "release", &RELEASES),
        after: task.string(reader, "after", "the name of a task in quotes"),
        early: choice(task, reader, "early", &EARLY),
        longest_distance: task.duration(reader, "longest-distance"),
        jitter: task.duration(reader, "jitter"),
        least_distance: task.duration(reader, "least-distance"),
        raised_by: task.string(reader, "raised-by", "the name of a [[component]] in quotes"),
        interrupt: task.integer(reader, "interrupt", "the number of an interrupt line"),
        message: task.string(reader, "message", "the name of a [[buffer]] in quotes"),
        sections: super::resource::sections(task, reader),
        waits: super::wait::waits(task, reader),
        program: None,
    }
}
