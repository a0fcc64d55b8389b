//! The rules for partitions: windows that fit the major frame and each other, and what belongs to whom.

use super::schedules;
use super::server::{self, Home, Homes};
use crate::draft::{At, Draft, DraftPartition, DraftTask, DraftWindow, Given};
use crate::problem::{nearest, Collector, Complaint, Location};
use crate::{
    Body, Component, Migration, Partition, Partitions, Platform, Scheduling, Server, ServerKind, Task, Window,
    MAX_SERVERS, MAX_START_FRAME, MAX_WINDOWS, SHORTEST_QUANTUM,
};
use std::collections::HashMap;
use tactus_time::{CoreId, CoreSet, Duration};

/// Whose each component is, by the lists of the partitions.
pub(super) struct Owners {
    names: Vec<String>,
    components: HashMap<String, usize>,
}

/// Partitions as places of tasks: each is a server with windows.
pub(super) fn homes(draft: &Draft, all: CoreSet, out: &mut Collector) -> Homes {
    let none = Owners { names: Vec::new(), components: HashMap::new() };
    let mut homes = Homes {
        line: (None, 0),
        root: None,
        names: Vec::new(),
        servers: Vec::new(),
        partitions: Some(none),
        made: Scheduling::default(),
    };
    only(draft, out);
    let frame = frame(draft, out);
    if draft.partitions.is_empty() {
        let complaint = Complaint::MissingKey { key: "partition", example: "[[partition]], once for each".into() };
        out.add(draft.place, "", complaint);
    }
    if let Some(extra) = draft.partitions.get(MAX_SERVERS) {
        let limit = format!("more than {MAX_SERVERS}");
        out.out_of_range(extra.place, "", "the number of partitions", draft.partitions.len(), limit, "leave some out");
        return homes;
    }
    let windows: usize = draft.partitions.iter().filter_map(|it| it.windows.get()).map(|at| at.value.len()).sum();
    if windows > MAX_WINDOWS {
        let limit = format!("more than {MAX_WINDOWS}");
        out.out_of_range(draft.place, "", "the number of windows", windows, limit, "make fewer and longer ones");
        return homes;
    }
    let names = schedules::names(draft, out);
    let mut taken: Vec<Taken> = Vec::new();
    for partition in &draft.partitions {
        let made = frame.and_then(|frame| one(partition, (frame, all, &names), &mut taken, out));
        homes.names.push(partition.name.get().map(|at| at.value.clone()).unwrap_or_default());
        homes.servers.push(made.as_ref().map(|(server, _)| Home {
            order: server.order,
            spread: server.spread,
            cores: server.cores,
            clusters: Vec::new(),
            name: format!("partition {:?}", server.name),
        }));
        if let Some((server, partition)) = made {
            homes.made.servers.push(server);
            homes.made.partitions.list.push(partition);
        }
    }
    homes.made.partitions.frame = frame.unwrap_or_default();
    homes.made.partitions.switches = schedules::switches(draft, &names, out);
    homes.made.partitions.schedules = names;
    starts(draft, out);
    homes.partitions = Some(Owners { names: homes.names.clone(), components: components(draft, out) });
    homes
}

/// What has no place beside partitions.
fn only(draft: &Draft, out: &mut Collector) {
    if let Some(server) = draft.servers.first() {
        let why = "servers have no place beside partitions, which have all time";
        out.refuse(server.place, &server.subject, why, "remove it, or make it a [[partition]] with windows");
    }
    if let Some(change) = draft.changes.first() {
        let why = "the table of windows stays as it is while the system runs";
        out.refuse(change.place, &change.subject, why, "remove the change, or choose another policy");
    }
}

/// The length of the major frame.
fn frame(draft: &Draft, out: &mut Collector) -> Option<Duration> {
    let at = match &draft.major_frame {
        Given::Is(at) => at,
        Given::Broken => return None,
        Given::Absent => {
            let complaint = Complaint::MissingKey { key: "major-frame", example: "major-frame = \"20 ms\"".into() };
            out.add(draft.policy.get().map_or(draft.place, |at| at.place), "[policy]", complaint);
            return None;
        }
    };
    if at.value < SHORTEST_QUANTUM {
        let limit = format!("less than the shortest window, {SHORTEST_QUANTUM}");
        out.out_of_range(at.place, "[policy]", "major-frame", at.value, limit, "lengthen it");
        return None;
    }
    if let Some(run) = draft.duration.get().filter(|run| run.value < at.value) {
        let limit = format!("longer than the run of {}", run.value);
        out.out_of_range(
            at.place,
            "[policy]",
            "major-frame",
            at.value,
            limit,
            "lengthen the run, or shorten the frame",
        );
        return None;
    }
    Some(at.value)
}

/// A window that is given, with whose it is and where that stands.
struct Taken {
    window: Window,
    whose: String,
    line: usize,
}

/// One partition; `taken` are the windows of those before it.
fn one(
    draft: &DraftPartition,
    (frame, all, names): (Duration, CoreSet, &[String]),
    taken: &mut Vec<Taken>,
    out: &mut Collector,
) -> Option<(Server, Partition)> {
    let subject = draft.subject.as_str();
    let order = draft.order.get().and_then(|at| match at.value {
        (Migration::Partitioned, order) => Some(order),
        _ => {
            let why = "tasks of a partition stay on their cores, so that each has the windows of one core";
            out.refuse(at.place, subject, why, "choose partitioned- with the same order");
            None
        }
    });
    let given = draft.windows.get()?;
    if given.value.is_empty() {
        let why = "it has no windows, and so no time";
        out.refuse(given.place, subject, why, "give it some, like { core = 0, start = \"0 ms\", length = \"5 ms\" }");
        return None;
    }
    let mut windows = Vec::new();
    for at in &given.value {
        let window = window(at, (frame, all, names), subject, out)?;
        if let Some(other) = taken.iter().find(|it| overlap(&it.window, &window)) {
            let (from, to, core) = (other.window.start, other.window.end(), window.core);
            let why = format!(
                "its window on core {core} from {} to {} overlaps that of {} from {from} to {to} (line {})",
                window.start,
                window.end(),
                other.whose,
                other.line
            );
            out.refuse(at.place, subject, why, "shorten or move one of them");
            return None;
        }
        taken.push(Taken { window, whose: draft.subject.clone(), line: at.place.line });
        windows.push(window);
    }
    windows.sort_by_key(|window| (window.schedule, window.core, window.start));
    promised(draft, frame, &windows, out);
    let start_frame = draft.start_frame.value().unwrap_or(0);
    if let Some(at) = draft.start_frame.get().filter(|at| at.value > MAX_START_FRAME) {
        let limit = format!("more than {MAX_START_FRAME}");
        out.out_of_range(at.place, subject, "start-frame", at.value, limit, "lower it");
        return None;
    }
    let cores = windows.iter().fold(CoreSet::EMPTY, |mut cores, window| {
        cores.insert(window.core);
        cores
    });
    let quantum = server::quantum(&draft.quantum, order?, subject, out);
    let criticality = draft.criticality.value();
    let health = super::health::of(draft);
    let mut partition = Partition {
        criticality,
        start_frame,
        late: draft.late.value() == Some(true),
        windows,
        period: frame,
        duration: frame,
        components: Vec::new(),
        health,
    };
    match (draft.period.value(), draft.duration.value()) {
        (Some(period), Some(duration)) => (partition.period, partition.duration) = (period, duration),
        _ => partition.duration = times(&partition).min().unwrap_or_default(),
    }
    let server = Server {
        name: draft.name.get()?.value.clone(),
        parent: None,
        cores,
        kind: ServerKind::Windows,
        // What it has of the core where it has most: no more than that comes to it at once.
        budget: times(&partition).max().unwrap_or_default(),
        period: frame,
        write_backs: None,
        order: order?,
        spread: Migration::Partitioned,
        clusters: Vec::new(),
        quantum,
        // In the background, the more critical partition goes first.
        priority: criticality.map_or(0, |level| 5 - level as u32),
        background: draft.background.value().unwrap_or(false),
        line: draft.place.line,
    };
    Some((server, partition))
}

/// What it has of each core in a frame of each schedule in which it has some of it.
fn times(partition: &Partition) -> impl Iterator<Item = Duration> + '_ {
    partition.windows.iter().map(|window| partition.time_on(window.core, window.schedule))
}

/// One window by itself.
fn window(
    at: &At<DraftWindow>,
    (frame, all, names): (Duration, CoreSet, &[String]),
    subject: &str,
    out: &mut Collector,
) -> Option<Window> {
    let (core, start, length) = (at.value.core.get()?, at.value.start.get()?, at.value.length.get()?);
    let Some(id) = u8::try_from(core.value).ok().map(CoreId).filter(|id| id.index() < 8 && all.contains(*id)) else {
        let limit = format!("not one of the system's cores, 0 to {}", all.iter().count().saturating_sub(1));
        out.out_of_range(core.place, subject, "the core of a window", core.value, limit, "choose one of them");
        return None;
    };
    if length.value < SHORTEST_QUANTUM {
        let limit = format!("less than the shortest, {SHORTEST_QUANTUM}");
        out.out_of_range(length.place, subject, "the length of a window", length.value, limit, "lengthen it");
        return None;
    }
    let schedule = match &at.value.schedule {
        Given::Absent => 0,
        Given::Is(named) => schedules::number(named, names, subject, out)?,
        Given::Broken => return None,
    };
    let window = Window { core: id, start: start.value, length: length.value, schedule };
    if window.end() > frame {
        let limit = format!("after the end of the major frame of {frame}");
        let remedy = "shorten the window, move it, or lengthen major-frame";
        out.out_of_range(at.place, subject, "the end of a window", window.end(), limit, remedy);
        return None;
    }
    Some(window)
}

fn overlap(a: &Window, b: &Window) -> bool {
    (a.core, a.schedule) == (b.core, b.schedule) && a.start < b.end() && b.start < a.end()
}

/// ARINC 653 gives a partition a period and a duration: in each of its periods it has windows of that length together.
fn promised(draft: &DraftPartition, frame: Duration, windows: &[Window], out: &mut Collector) {
    let subject = draft.subject.as_str();
    let (period, duration) = match (&draft.period, &draft.duration) {
        (Given::Is(period), Given::Is(duration)) => (period, duration),
        (Given::Is(at), Given::Absent) => {
            let example = "duration = \"5 ms\"".into();
            return out.add(at.place, subject, Complaint::MissingKey { key: "duration", example });
        }
        (Given::Absent, Given::Is(at)) => {
            let example = "period = \"20 ms\"".into();
            return out.add(at.place, subject, Complaint::MissingKey { key: "period", example });
        }
        _ => return,
    };
    if period.value.is_zero() || !(frame % period.value).is_zero() {
        let limit = format!("of which the major frame of {frame} is not a multiple");
        let remedy = "choose a period that divides the frame, or make major-frame a multiple of it";
        return out.out_of_range(period.place, subject, "period", period.value, limit, remedy);
    }
    let mut places: Vec<_> = windows.iter().map(|window| (window.schedule, window.core)).collect();
    places.dedup();
    for (schedule, core) in places {
        for n in 0..frame / period.value {
            let (from, to) = (period.value * n, period.value * (n + 1));
            let own = windows.iter().filter(|window| (window.schedule, window.core) == (schedule, core));
            let time = own.map(|window| window.end().min(to).saturating_sub(window.start.max(from)));
            let had = time.fold(Duration::ZERO, |sum, more| sum + more);
            if had < duration.value {
                let why = format!(
                    "from {from} to {to} its windows on core {core} are {had} together, less than its duration of {}",
                    duration.value
                );
                return out.refuse(duration.place, subject, why, "lengthen its windows, or lower duration");
            }
        }
    }
}

/// A more critical partition never starts after a less critical one.
fn starts(draft: &Draft, out: &mut Collector) {
    let start = |it: &DraftPartition| it.start_frame.value().unwrap_or(0);
    for late in &draft.partitions {
        let Some(level) = late.criticality.value() else { continue };
        let before = draft
            .partitions
            .iter()
            .find(|other| other.criticality.value().is_some_and(|other| other > level) && start(other) < start(late));
        if let (Some(before), Some(at)) = (before, late.start_frame.get()) {
            let why = format!("it starts after the less critical {}", before.subject);
            out.refuse(at.place, &late.subject, why, "let the more critical partition start first or with the other");
        }
    }
}

/// Whose each listed component is.
fn components(draft: &Draft, out: &mut Collector) -> HashMap<String, usize> {
    let mut owners: HashMap<String, usize> = HashMap::new();
    for (n, partition) in draft.partitions.iter().enumerate() {
        for at in &partition.components {
            if !super::names::names(&draft.components).any(|name| name == at.value) {
                let complaint = Complaint::UnknownName {
                    what: "component",
                    nearest: nearest(&at.value, super::names::names(&draft.components)),
                    name: at.value.chars().take(40).collect(),
                    remedy: "describe it in a [[component]]".into(),
                };
                out.add(at.place, &partition.subject, complaint);
            } else if let Some(other) = owners.insert(at.value.clone(), n) {
                let why = format!("component {:?} is listed by {} already", at.value, draft.partitions[other].subject);
                let remedy = "a component is of one partition: make a second [[component]] of the same crate";
                out.refuse(at.place, &partition.subject, why, remedy);
            }
        }
    }
    owners
}

/// The partition of a task: that which it names, or that of its component.
pub(super) fn of_task(draft: &DraftTask, of: &Owners, out: &mut Collector) -> Option<usize> {
    let subject = draft.subject.as_str();
    if let Given::Is(at) = &draft.placing.server {
        let why = "a server is given, but time belongs to partitions";
        out.refuse(at.place, subject, why, "remove it, and write partition = \"its name\"");
        return None;
    }
    let owner = draft.component.get().and_then(|at| of.components.get(&at.value).copied());
    let at = match &draft.placing.partition {
        Given::Broken => return None,
        Given::Is(at) => at,
        Given::Absent => {
            if owner.is_none() {
                let why = "it is of no partition, and so has no time";
                out.refuse(draft.place, subject, why, "add a line like partition = \"display\"");
            }
            return owner;
        }
    };
    let Some(named) = of.names.iter().position(|name| *name == at.value) else {
        let complaint = Complaint::UnknownName {
            what: "partition",
            nearest: nearest(&at.value, of.names.iter().map(String::as_str)),
            name: at.value.chars().take(40).collect(),
            remedy: "describe it in a [[partition]]".into(),
        };
        out.add(at.place, subject, complaint);
        return None;
    };
    if let Some(owner) = owner.filter(|owner| *owner != named) {
        let why = format!("its component is of partition {:?}, and not of {:?}", of.names[owner], at.value);
        out.refuse(at.place, subject, why, "name the same partition, or give it another component");
        return None;
    }
    Some(named)
}

/// What can be told only when all tasks are known: offsets count from the start of the partition, and nothing but time
/// joins two partitions.
pub(super) fn finish(
    draft: &Draft,
    (tasks, components, platform): (&mut [Task], &[Component], &Platform),
    (scheduling, notes): (&mut Scheduling, &mut Vec<String>),
    out: &mut Collector,
) {
    let Partitions { frame, list, .. } = &mut scheduling.partitions;
    if list.is_empty() {
        return;
    }
    let of = |n: usize| scheduling.places.get(n).and_then(|place| place.server);
    let name = |n: usize| draft.partitions[n].subject.as_str();
    let mut owners: Vec<Option<usize>> = vec![None; components.len()];
    for (n, partition) in draft.partitions.iter().enumerate() {
        for at in &partition.components {
            let own = components.iter().position(|component| component.name == at.value);
            if let Some(own) = own {
                owners[own] = Some(n);
            }
        }
    }
    for (n, task) in tasks.iter_mut().enumerate() {
        let (Some(own), drafted) = (of(n), &draft.tasks[n]) else { continue };
        if let Body::Component(it) = task.body {
            if let Some(other) = owners[it].replace(own).filter(|other| *other != own) {
                let why = format!("component {:?} is of {} already", components[it].name, name(other));
                let remedy = "partitions share no memory: make a second [[component]] of the same crate";
                out.refuse(drafted.place, &drafted.subject, why, remedy);
            }
        }
        let timed = scheduling.places[n].release.is_timed();
        if timed {
            task.offset = task.offset.checked_add(list[own].start(*frame)).unwrap_or(Duration::MAX);
        }
        let first = task.offset.checked_add(task.deadline).unwrap_or(Duration::MAX);
        if let Some(run) = draft.duration.value().filter(|run| timed && first > *run) {
            let limit = format!("after the end of the run at {run}");
            let remedy = "lower start-frame of its partition, or lengthen the duration of the system";
            let what = "its first deadline";
            out.out_of_range(drafted.place, &drafted.subject, what, first, limit, remedy);
        }
        let before = scheduling.places[n].release.predecessor().and_then(|before| of(before.index()));
        if let (Some(other), Some(at)) = (before.filter(|other| *other != own), drafted.placing.after.get()) {
            let why = format!("what releases it is in {}, whose windows are others", name(other));
            out.refuse(at.place, &drafted.subject, why, "let the two partitions meet by periods: make it periodic");
        }
    }
    for (n, partition) in draft.partitions.iter().enumerate() {
        if !(0..tasks.len()).any(|task| of(task) == Some(n)) {
            notes.push(format!("{} has no tasks: its windows stay idle", partition.subject));
        }
    }
    apart(draft, components, platform, &owners, out);
    for (n, owner) in owners.into_iter().enumerate() {
        if let Some(owner) = owner {
            list[owner].components.push(n);
        }
    }
    late(draft, (tasks, components), scheduling, out);
}

/// What is loaded while the system runs is one component, which nobody enters before its partition starts.
fn late(draft: &Draft, (tasks, components): (&[Task], &[Component]), scheduling: &Scheduling, out: &mut Collector) {
    let Partitions { list, switches, .. } = &scheduling.partitions;
    for (n, partition) in list.iter().enumerate().filter(|(_, partition)| partition.late) {
        let drafted = &draft.partitions[n];
        let place = drafted.late.get().map_or(drafted.place, |at| at.place);
        let mut refuse = |why: &str, remedy: &str| out.refuse(place, &drafted.subject, why, remedy);
        let of_it = |task: &usize| scheduling.places[*task].server == Some(n);
        let of_it: Vec<usize> = (0..tasks.len()).filter(of_it).collect();
        let [component] = partition.components[..] else {
            refuse("one component is loaded late, and it has none or several", "give it one, or remove load");
            continue;
        };
        let rights = &components[component].rights;
        if of_it.iter().any(|task| !matches!(tasks[*task].body, Body::Component(_))) {
            refuse(
                "a task of it runs the built-in workload, which is there from the start",
                "give it the component too",
            );
        } else if rights.scheduler.is_some() || rights.memory_manager {
            refuse("its component is needed from the start: it schedules or manages memory", "remove load");
        } else if rights.restart.is_some_and(|restart| restart.by != crate::Superior::Root) {
            refuse("the root scheduler loads it, but another component restarts it", "write restarted-by = \"root\"");
        } else if of_it
            .iter()
            .map(|task| scheduling.places[*task].release)
            .any(|release| !release.is_timed() && release.predecessor().is_none())
        {
            refuse("something may arrive for a task of it before it is there", "let time release its tasks");
        } else if partition.start_frame == 0 {
            refuse("it starts with the system", "give it a start-frame, or remove load");
        } else if partition.loaded_in().is_none() || switches.iter().any(|it| it.frame <= partition.start_frame) {
            let why = "it is loaded in a window of the first schedule, and has none, or another schedule begins before it starts";
            refuse(why, "give it one, and let it start before the first switch");
        }
    }
}

/// No component calls one of another partition, and no two partitions share memory.
fn apart(draft: &Draft, components: &[Component], platform: &Platform, owners: &[Option<usize>], out: &mut Collector) {
    let name = |n: usize| draft.partitions[n].subject.as_str();
    let two = |a: usize, b: usize| owners[a].zip(owners[b]).filter(|(a, b)| a != b);
    for (n, component) in components.iter().enumerate() {
        for grant in &component.uses {
            if let Some((_, theirs)) = two(n, grant.provider) {
                let service = format!("{}.{}", components[grant.provider].name, grant.service);
                let why = format!("it calls {service:?} of {}", name(theirs));
                let remedy = "partitions do not call each other: give each its own copy of the service";
                let drafted = &draft.components[n];
                let place = drafted.uses.iter().find(|it| it.value.name == grant.name).map(|it| it.place);
                out.refuse(place.unwrap_or(drafted.place), &drafted.subject, why, remedy);
            }
        }
    }
    for buffer in &platform.buffers {
        let shared = buffer.between.get(1).and_then(|second| two(buffer.between[0], *second));
        if let Some((one, other)) = shared {
            let why = format!("{} and {} would share its memory", name(one), name(other));
            let remedy = "partitions share no memory: let both components be of one partition";
            out.refuse(Location { line: buffer.line, column: 1 }, &format!("buffer {:?}", buffer.name), why, remedy);
        }
    }
}
