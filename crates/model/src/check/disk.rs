//! The rules for disks and their clients: drives, queues, extents that nobody else writes, requests that fit.

use super::names::{names, runs_component, unique};
use crate::disk::{Disk, DiskClient};
use crate::draft::{At, Draft, DraftClient, DraftDisk, DraftFaults, DraftTask, Given};
use crate::problem::{nearest, Collector, Complaint};
use crate::units::format_size;
use crate::{
    Platform, DEFAULT_PLACES, MAX_DISKS, MAX_DISK_CLIENTS, MAX_DISK_MEMORY, MAX_OUTSTANDING, MAX_TOLERATED,
    MAX_WAITING, MAX_WRITE_CACHE, PAGE, RING_PAGES, SHORTEST_PERIOD, SHORTEST_POWER,
};
use tactus_disk::parameters::Model;
use tactus_disk::{Arrivals, Budget, Client, Faults, Form, Policy, GRANULE, MOST_LOOKAHEAD, MOST_PLACES};
use tactus_time::Duration;

/// Bytes of a sector.
const SECTOR: u64 = 512;

/// Checks disks and clients and makes them.
pub(super) fn check(draft: &Draft, duration: Option<Duration>, platform: &Platform, out: &mut Collector) -> Vec<Disk> {
    unique(draft.disks.iter().map(|disk| (&disk.name, disk.subject.as_str())), "disk", out);
    if let Some(disk) = draft.disks.get(MAX_DISKS) {
        let limit = format!("more than {MAX_DISKS}");
        out.out_of_range(disk.place, "", "the number of disks", draft.disks.len(), limit, "leave some out");
        return Vec::new();
    }
    one_disk_a_component(draft, out);
    one_client_a_buffer(draft, out);
    let beside = Beside { draft, platform };
    draft.disks.iter().filter_map(|it| disk(it, duration, &beside, out)).collect()
}

/// What the file has beside disks.
struct Beside<'a> {
    draft: &'a Draft,
    platform: &'a Platform,
}

/// A component serves one disk.
fn one_disk_a_component(draft: &Draft, out: &mut Collector) {
    for (n, it) in draft.disks.iter().enumerate() {
        let Some(at) = it.component.get() else { continue };
        let same = |other: &&DraftDisk| other.component.get().is_some_and(|other| other.value == at.value);
        if let Some(other) = draft.disks[..n].iter().find(same) {
            let why = format!("component {:?} serves {} already", at.value, other.subject);
            out.refuse(at.place, &it.subject, why, "describe one component for each disk; they may have one crate");
        }
    }
}

/// A buffer holds the requests of one client.
fn one_client_a_buffer(draft: &Draft, out: &mut Collector) {
    let mut seen: Vec<(&str, &str)> = Vec::new();
    for it in draft.disks.iter().flat_map(|disk| &disk.clients) {
        let Some(at) = it.buffer.get() else { continue };
        match seen.iter().find(|(name, _)| *name == at.value) {
            Some((_, first)) => {
                out.refuse(at.place, &it.subject, format!("its buffer is that of {first} already"), "give it its own");
            }
            None => seen.push((&at.value, &it.subject)),
        }
    }
}

fn disk(it: &DraftDisk, duration: Option<Duration>, beside: &Beside<'_>, out: &mut Collector) -> Option<Disk> {
    let names = it.clients.iter().map(|client| (&client.name, client.subject.as_str()));
    unique(names, "client", out);
    let drive = drive(&it.drive, it, out);
    let actual = if it.actual.is_absent() { drive } else { self::drive(&it.actual, it, out) };
    let queue = queue(it, out);
    let map = choose(&it.map, it, "map", &[("directed", Form::Directed), ("symmetric", Form::Symmetric)], out);
    if let Some(client) = it.clients.get(MAX_DISK_CLIENTS) {
        let limit = format!("more than {MAX_DISK_CLIENTS}");
        out.out_of_range(client.place, &it.subject, "the number of clients", it.clients.len(), limit, "leave some out");
        return None;
    }
    let blocks =
        [drive, actual].into_iter().flatten().filter_map(|model| Some((model, model.geometry().ok()?.blocks())));
    let end = blocks.min_by_key(|(_, blocks)| *blocks);
    let component = component(it, beside, out);
    let (write_cache, faults) = (write_cache(it, out), faults(it, out));
    let clients: Vec<Option<DiskClient>> = it
        .clients
        .iter()
        .map(|client| {
            let made = self::client(client, end, duration, out);
            let buffer = buffer(client, component, made.as_ref(), beside, out);
            made.map(|made| DiskClient { buffer, ..made })
        })
        .collect();
    disjoint_extents(it, &clients, out);
    let places: u64 = clients.iter().flatten().map(|client| u64::from(client.client.places)).sum();
    if places > u64::from(MOST_PLACES) {
        let limit = format!("more than the {MOST_PLACES} that a map is surveyed for");
        out.out_of_range(it.place, &it.subject, "the number of places of all clients", places, limit, "lower places");
    }
    memory(it, component, write_cache, &clients, beside, out);
    Some(Disk {
        name: it.name.get()?.value.clone(),
        drive: drive?,
        actual: actual?,
        queue: queue?,
        map: map?,
        component,
        write_cache,
        faults: faults.0,
        tolerated: faults.1,
        clients: clients.into_iter().collect::<Option<_>>()?,
        line: it.place.line,
    })
}

/// The component that serves the disk.
fn component(it: &DraftDisk, beside: &Beside<'_>, out: &mut Collector) -> Option<usize> {
    let at = it.component.get()?;
    let drafts = &beside.draft.components;
    let found = drafts.iter().position(|draft| draft.name.get().is_some_and(|name| name.value == at.value));
    if found.is_none() {
        let known: Vec<&str> = names(drafts).collect();
        unknown("component", at, &known, "describe it in a [[component]]".into(), &it.subject, out);
    } else if !beside.draft.tasks.iter().any(|task| runs_component(task, &at.value) && !is_interrupt(task)) {
        let why = format!("component {:?} is to serve it and has no task in which it could", at.value);
        let remedy = format!("add a [[task]] with component = {:?}, and no interrupt", at.value);
        out.refuse(at.place, &it.subject, why, remedy);
    }
    found
}

/// Whether the task is released by a device, and does nothing but hear it.
fn is_interrupt(task: &DraftTask) -> bool {
    task.placing.interrupt.get().is_some()
}

/// What the component keeps of the disk's bytes.
fn memory(
    it: &DraftDisk,
    server: Option<usize>,
    write_cache: u32,
    clients: &[Option<DiskClient>],
    beside: &Beside<'_>,
    out: &mut Collector,
) {
    let Some(server) = server else { return };
    let all = || clients.iter().flatten();
    let size = |client: &DiskClient| u64::from(client.client.blocks) * SECTOR;
    let own = !beside.platform.devices.iter().any(|device| device.component == server);
    let kept = || all().filter(|client| own && client.buffer.is_some());
    let places =
        kept().map(|client| u64::from(client.client.places)).sum::<u64>() * kept().map(size).max().unwrap_or(0);
    let write = all().filter(|client| client.client.write).map(size).max().unwrap_or(0);
    let cached = if write_cache > 0 { (u64::from(write_cache) + 2) * write } else { 0 };
    if places + cached > MAX_DISK_MEMORY {
        let limit = format!("more than {}", format_size(MAX_DISK_MEMORY));
        let remedy = "give that component a [[device]] of kind \"virtio-blk\", or lower places, size or write-cache";
        let what = "what its component keeps of its bytes";
        out.out_of_range(it.place, &it.subject, what, format_size(places + cached), limit, remedy);
    }
}

fn write_cache(it: &DraftDisk, out: &mut Collector) -> u32 {
    let Some(at) = it.write_cache.get() else { return 0 };
    if at.value > MAX_WRITE_CACHE {
        let limit = format!("more than {MAX_WRITE_CACHE}");
        out.out_of_range(
            at.place,
            &it.subject,
            "write-cache",
            at.value,
            limit,
            "lower it: a flush takes as many writes",
        );
    }
    at.value.min(MAX_WRITE_CACHE) as u32
}

/// What the drive does wrong, and how many failures of a busy time the check counts on.
fn faults(it: &DraftDisk, out: &mut Collector) -> (Faults, u32) {
    let DraftFaults { tolerated, failed, short, silent, unasked, power_cuts } = &it.faults;
    let subject = format!("{}: faults", it.subject);
    let mut one_in = |given: &Given<u64>, what: &str| -> u32 {
        let Some(at) = given.get() else { return 0 };
        if at.value < 2 {
            let remedy = "choose 2 or more, or leave it out: one request in so many";
            out.out_of_range(at.place, &subject, what, at.value, "less than 2", remedy);
        }
        u32::try_from(at.value).unwrap_or(u32::MAX)
    };
    let [failed, short] = [one_in(failed, "failed"), one_in(short, "short")];
    let [silent, unasked] = [one_in(silent, "silent"), one_in(unasked, "unasked")];
    if let Some(at) = power_cuts.get() {
        if it.write_cache.value().unwrap_or(0) == 0 {
            let why = "the power is to go, but the drive has no write cache that could lose anything";
            out.refuse(at.place, &subject, why, "write write-cache = 2, or remove power-cuts");
        } else if at.value < SHORTEST_POWER {
            let limit = format!("less than {SHORTEST_POWER}, of which the power is away for half");
            out.out_of_range(at.place, &subject, "power-cuts", at.value, limit, "lengthen it");
        }
    }
    let many = tolerated.get().map_or(0, |at| {
        if at.value > MAX_TOLERATED {
            let limit = format!("more than {MAX_TOLERATED}");
            out.out_of_range(at.place, &subject, "tolerated", at.value, limit, "lower it: each lengthens all bounds");
        }
        at.value.min(MAX_TOLERATED) as u32
    });
    (Faults { failed, short, silent, unasked, power_cuts: power_cuts.value().unwrap_or_default() }, many)
}

/// The buffer of a client whose requests are a component's: shared by it and whoever serves the disk, and long enough.
fn buffer(
    it: &DraftClient,
    server: Option<usize>,
    made: Option<&DiskClient>,
    beside: &Beside<'_>,
    out: &mut Collector,
) -> Option<usize> {
    let at = it.buffer.get()?;
    let buffers = &beside.platform.buffers;
    let Some(place) = buffers.iter().position(|buffer| buffer.name == at.value) else {
        let known: Vec<&str> = buffers.iter().map(|buffer| buffer.name.as_str()).collect();
        unknown("buffer", at, &known, "describe it in a [[buffer]]".into(), &it.subject, out);
        return None;
    };
    let buffer = &buffers[place];
    let Some(server) = server else {
        let why = "its requests come by a buffer, but no component serves the disk";
        out.refuse(at.place, &it.subject, why, "write component = \"block\" in its [[disk]]");
        return None;
    };
    if !buffer.between.contains(&server) || buffer.between.len() != 2 || buffer.reader.is_some() {
        let why =
            format!("buffer {:?} is not shared, for both to write, by the component that serves the disk", at.value);
        out.refuse(at.place, &it.subject, why, "name that component and the client's in its between, and no reader");
    }
    let least =
        RING_PAGES * PAGE + made.map_or(0, |made| u64::from(made.client.blocks) * SECTOR).next_multiple_of(PAGE);
    if buffer.bytes < least {
        let limit = "less than a page of requests, one of answers and one request's data";
        let remedy = format!("raise its size to {}", format_size(least));
        out.out_of_range(at.place, &it.subject, "its buffer", format_size(buffer.bytes), limit, remedy);
    }
    Some(place)
}

fn drive(given: &Given<String>, it: &DraftDisk, out: &mut Collector) -> Option<Model> {
    let wanted = given.get()?;
    let found = Model::ALL.into_iter().find(|model| model.name() == wanted.value);
    if found.is_none() {
        let names = Model::ALL.map(Model::name);
        let remedy = format!("known are {}", names.join(", "));
        unknown("drive", wanted, &names, remedy, &it.subject, out);
    }
    found
}

fn unknown(
    what: &'static str,
    wanted: &At<String>,
    known: &[&str],
    remedy: String,
    subject: &str,
    out: &mut Collector,
) {
    let name: String = wanted.value.chars().take(40).collect();
    let complaint =
        Complaint::UnknownName { what, nearest: nearest(&wanted.value, known.iter().copied()), name, remedy };
    out.add(wanted.place, subject, complaint);
}

/// One of a few words, the first where nothing is said.
fn choose<T: Copy>(
    given: &Given<String>,
    it: &DraftDisk,
    what: &'static str,
    all: &[(&'static str, T)],
    out: &mut Collector,
) -> Option<T> {
    let wanted = match given {
        Given::Absent => return all.first().map(|first| first.1),
        Given::Broken => return None,
        Given::Is(at) => at,
    };
    let found = all.iter().find(|(name, _)| *name == wanted.value).map(|found| found.1);
    if found.is_none() {
        let names: Vec<&str> = all.iter().map(|(name, _)| *name).collect();
        unknown(what, wanted, &names, format!("write one of {}", names.join(", ")), &it.subject, out);
    }
    found
}

fn queue(it: &DraftDisk, out: &mut Collector) -> Option<Policy> {
    let chosen = choose(&it.queue, it, "queue", &[("g-matrix", Policy::GMatrix(4)), ("edf", Policy::Edf)], out)?;
    let Some(ahead) = it.look_ahead.get() else { return Some(chosen) };
    if chosen == Policy::Edf {
        out.refuse(ahead.place, &it.subject, "a look-ahead is given, but queue \"edf\" has none", "remove it");
        return None;
    }
    match usize::try_from(ahead.value) {
        Ok(k) if (1..=MOST_LOOKAHEAD).contains(&k) => Some(Policy::GMatrix(k)),
        _ => {
            let limit = format!("not between 1 and {MOST_LOOKAHEAD}");
            let remedy = "choose one of these; more than 4 cost time in each decision";
            out.out_of_range(ahead.place, &it.subject, "look-ahead", ahead.value, limit, remedy);
            None
        }
    }
}

fn client(
    it: &DraftClient,
    end: Option<(Model, u64)>,
    duration: Option<Duration>,
    out: &mut Collector,
) -> Option<DiskClient> {
    let whole = |given: &Given<u64>, what: &str, unit: u64, least: u64, out: &mut Collector| -> Option<u64> {
        let at = given.get()?;
        if at.value < least || at.value % unit != 0 {
            let limit =
                format!("not a whole number of {}{}", format_size(unit), if least > 0 { ", 1 or more" } else { "" });
            let next = at.value.max(least).div_ceil(unit).saturating_mul(unit);
            let remedy = format!("write {}", format_size(next));
            out.out_of_range(at.place, &it.subject, what, format_size(at.value), limit, remedy);
            return None;
        }
        Some(at.value)
    };
    let start = whole(&it.start, "start", GRANULE, 0, out);
    let extent = whole(&it.extent, "extent", GRANULE, GRANULE, out);
    let size = whole(&it.size, "size", SECTOR, SECTOR, out);
    if let (Some(at), Some(_)) = (it.size.get().filter(|at| at.value > GRANULE), size) {
        let (value, limit) = (format_size(at.value), format!("more than a granule, {}", format_size(GRANULE)));
        out.out_of_range(at.place, &it.subject, "size", value, limit, "divide the request");
    }
    if let (Some(start), Some(extent), Some((model, blocks)), Some(at)) = (start, extent, end, it.extent.get()) {
        let (last, bytes) = (start.saturating_add(extent), blocks * SECTOR);
        if last > bytes {
            let limit = format!("beyond the {} of drive {}", format_size(bytes / GRANULE * GRANULE), model.name());
            let what = "the end of its extent";
            out.out_of_range(at.place, &it.subject, what, format_size(last), limit, "shorten it, or start earlier");
        }
    }
    let places = places(it, extent, out);
    let arrivals = arrivals(it, duration, out);
    let client = Client {
        arrivals: arrivals?,
        first: start? / SECTOR,
        extent: extent? / SECTOR,
        places: places?,
        blocks: u32::try_from(size? / SECTOR).ok()?,
        write: it.write.value().unwrap_or(false),
    };
    let name = it.name.get()?.value.clone();
    Some(DiskClient { name, client, budget: budget(it, out), buffer: None, line: it.place.line })
}

/// How long the drive may be busy for a best-effort client of a component.
fn budget(it: &DraftClient, out: &mut Collector) -> Option<Budget> {
    let (time, per) = match (it.budget.get(), it.per.get()) {
        (None, None) => return None,
        (Some(time), Some(per)) => (time, per),
        (Some(one), None) => {
            out.add(one.place, &it.subject, Complaint::MissingKey { key: "per", example: "per = \"100 ms\"".into() });
            return None;
        }
        (None, Some(one)) => {
            let example = "budget = \"20 ms\"".into();
            out.add(one.place, &it.subject, Complaint::MissingKey { key: "budget", example });
            return None;
        }
    };
    if it.best_effort.is_absent() || it.buffer.is_absent() {
        let why = "a budget is given, but it limits best-effort requests of a component";
        out.refuse(time.place, &it.subject, why, "remove it, or write best-effort and buffer");
    }
    if time.value.is_zero() || time.value > per.value {
        let limit = format!("not between nothing and {}, within which it is", per.value);
        out.out_of_range(time.place, &it.subject, "budget", time.value, limit, "choose a part of it");
    }
    Some(Budget { time: time.value, per: per.value })
}

fn places(it: &DraftClient, extent: Option<u64>, out: &mut Collector) -> Option<u32> {
    let granules = extent? / GRANULE;
    let Some(at) = it.places.get() else {
        return it.places.is_absent().then_some(u64::from(DEFAULT_PLACES).min(granules) as u32);
    };
    if at.value == 0 || at.value > granules.min(u64::from(MOST_PLACES)) {
        let limit = format!("not between 1 and the {granules} granules of its extent ({MOST_PLACES} at most)");
        out.out_of_range(at.place, &it.subject, "places", at.value, limit, "choose fewer, or a longer extent");
        return None;
    }
    u32::try_from(at.value).ok()
}

fn arrivals(it: &DraftClient, duration: Option<Duration>, out: &mut Collector) -> Option<Arrivals> {
    if let Some(many) = it.best_effort.get() {
        for (key, given) in [("period", &it.period), ("deadline", &it.deadline), ("offset", &it.offset)] {
            if let Some(at) = given.get() {
                let why = format!("it is best-effort and has {key} as well");
                out.refuse(
                    at.place,
                    &it.subject,
                    why,
                    "remove one of the two; best-effort requests are promised nothing",
                );
            }
        }
        if many.value == 0 || many.value > MAX_OUTSTANDING {
            let limit = format!("not between 1 and {MAX_OUTSTANDING}");
            out.out_of_range(many.place, &it.subject, "best-effort", many.value, limit, "choose one of these");
        }
        return u32::try_from(many.value).ok().map(|outstanding| Arrivals::BestEffort { outstanding });
    }
    let Some(period) = it.period.get() else {
        if it.period.is_absent() && it.best_effort.is_absent() {
            let complaint =
                Complaint::MissingKey { key: "period", example: "period = \"50 ms\", or best-effort = 1".into() };
            out.add(it.place, &it.subject, complaint);
        }
        return None;
    };
    if period.value < SHORTEST_PERIOD {
        let limit = format!("less than the shortest, {SHORTEST_PERIOD}");
        out.out_of_range(period.place, &it.subject, "period", period.value, limit, "lengthen it");
        return None;
    }
    let deadline = it.deadline.value().unwrap_or(period.value);
    if let Some(at) = it.deadline.get() {
        let most = period.value.checked_mul(MAX_WAITING).unwrap_or(Duration::MAX);
        if at.value.is_zero() || at.value > most {
            let limit =
                if at.value.is_zero() { "no time at all".into() } else { format!("more than {MAX_WAITING} periods") };
            out.out_of_range(at.place, &it.subject, "deadline", at.value, limit, "choose one in between");
        }
    }
    let offset = it.offset.value().unwrap_or_default();
    if let (Some(duration), Some(at)) = (duration, it.offset.get().filter(|at| Some(at.value) >= duration)) {
        let limit = format!("after the end of the run at {duration}");
        out.out_of_range(at.place, &it.subject, "offset", at.value, limit, "begin earlier or run longer");
    }
    Some(Arrivals::Periodic { offset, period: period.value, deadline })
}

/// Nobody's extent is written by another.
fn disjoint_extents(it: &DraftDisk, clients: &[Option<DiskClient>], out: &mut Collector) {
    for (n, client) in clients.iter().enumerate() {
        let Some(own) = client else { continue };
        let overlaps = |other: &&DiskClient| {
            let (a, b) = (&own.client, &other.client);
            (a.write || b.write) && a.first < b.first + b.extent && b.first < a.first + a.extent
        };
        if let Some(other) = clients[..n].iter().flatten().find(overlaps) {
            let why = format!("its extent overlaps that of client {:?}, and one of the two writes", other.name);
            let remedy = "give each its own extent, or let both only read";
            out.refuse(it.clients[n].place, &it.clients[n].subject, why, remedy);
        }
    }
}
