//! The rules for what components may do beside calls, for shared memory and for devices.

use super::colours;
use super::names::{names, runs_component, unique};
use crate::colour_assignment::ColourAssignment;
use crate::draft::{At, Draft, DraftBuffer, DraftComponent, DraftDevice, Given};
use crate::platform::{Buffer, Device, DeviceKind, Platform, Restart, Rights, Speculation, Superior};
use crate::problem::{nearest, Collector, Complaint, Location};
use crate::units::format_size;
use crate::{
    shortest_tick, Component, DEFAULT_POOL, DEFAULT_SHIFT, INSTRUCTIONS_PER_TICK, LARGEST_DEVICE, LARGEST_DMA,
    LARGEST_HEAP, LONGEST_TICK, MAX_BRANDS, MAX_DEVICES, MAX_LINE, MAX_MEMORY, MAX_POOL, MAX_RESTARTS,
    MAX_SCHEDULER_DEPTH, MAX_SHARED, MAX_SPARES, PAGE,
};
use tactus_time::Duration;

/// How the root scheduler is named where it is built in.
const ROOT: &str = "root";

/// Physical addresses that only the kernel touches: I/O APIC and local APIC.
const KERNELS: [(u64, u64); 2] = [(0xfec0_0000, 0xfec0_1000), (0xfee0_0000, 0xfef0_0000)];

/// Checks rights, buffers and devices; writes the rights into the components, each of which is in its draft's place.
pub(super) fn check(draft: &Draft, components: &mut [Component], out: &mut Collector) -> Platform {
    let named = Named { drafts: &draft.components, root: root(draft, out) };
    let shift = draft.shift.value().unwrap_or(DEFAULT_SHIFT);
    let mut rights: Vec<Rights> = draft.components.iter().map(|it| simple_rights(it, shift, out)).collect();
    for (place, it) in draft.components.iter().enumerate() {
        rights[place].scheduler = scheduler(it, place, &named, out);
        rights[place].restart = restart(it, place, &named, out);
    }
    tree(&draft.components, &rights, out);
    lines(&draft.components, out);
    // The loader has the slots' memory.
    let manages = |place: &usize| rights[*place].memory_manager || rights[*place].loader;
    let managers: Vec<usize> = (0..rights.len()).filter(manages).collect();
    if let Some(second) = managers.get(1) {
        let it = &draft.components[*second];
        let first = &draft.components[managers[0]].subject;
        out.refuse(
            it.place,
            &it.subject,
            format!("it manages memory, as {first} does"),
            "leave one memory-manager, or one loader",
        );
    }
    for (component, rights) in components.iter_mut().zip(rights) {
        component.rights = rights;
    }
    let (count, caches) = colours::machine(draft, out);
    let assignment = colours::assignment(draft, count, out);
    let subjects = draft.platform.buffers.iter().map(|it| (&it.name, it.subject.as_str()));
    unique(subjects, "buffer", out);
    unique(draft.platform.devices.iter().map(|it| (&it.name, it.subject.as_str())), "device", out);
    let (managed, colours) = (!managers.is_empty(), (count, assignment.as_ref()));
    let kept = |it: &DraftBuffer| managed || it.name.get().is_some_and(|name| is_watched(draft, &name.value));
    let buffers: Vec<_> =
        draft.platform.buffers.iter().filter_map(|it| buffer(it, &named, colours, kept(it), out)).collect();
    let shared: u64 = buffers.iter().map(|it| it.bytes).fold(0, u64::saturating_add);
    if let Some(last) = draft.platform.buffers.last().filter(|_| shared > MAX_SHARED) {
        let limit = format!("more than {}", format_size(MAX_SHARED));
        out.out_of_range(last.place, "", "the size of all buffers", format_size(shared), limit, "shorten them");
    }
    let pool = pool(draft, &buffers, count, managed, out);
    if let Some(it) = draft.platform.devices.get(MAX_DEVICES) {
        let (count, limit) = (draft.platform.devices.len(), format!("more than {MAX_DEVICES}"));
        out.out_of_range(it.place, "", "the number of devices", count, limit, "leave some out");
    }
    let devices: Vec<_> = draft.platform.devices.iter().filter_map(|it| device(it, &named, out)).collect();
    driven_once(&devices, &draft.platform.devices, out);
    colours::devices(&devices, assignment.as_ref(), count, out);
    let speculation = Speculation {
        accepts_meltdown: draft.platform.accepts_meltdown.value().unwrap_or(false),
        branch_barriers: draft.platform.branch_barriers.value().unwrap_or(false),
    };
    Platform {
        root: named.root,
        colours: count,
        colour_assignment: assignment,
        caches,
        memory: super::misses::times(draft, out),
        pool,
        buffers,
        devices,
        speculation,
    }
}

/// The components by name.
struct Named<'a> {
    drafts: &'a [DraftComponent],
    root: Option<usize>,
}

impl Named<'_> {
    /// The component with this name.
    fn component(&self, wanted: &At<String>, subject: &str, out: &mut Collector) -> Option<usize> {
        let found = self.drafts.iter().position(|it| matches!(&it.name, Given::Is(at) if at.value == wanted.value));
        if found.is_none() {
            let complaint = Complaint::UnknownName {
                what: "component",
                name: wanted.value.chars().take(40).collect(),
                nearest: nearest(&wanted.value, names(self.drafts)),
                remedy: "describe it in a [[component]]".into(),
            };
            out.add(wanted.place, subject, complaint);
        }
        found
    }

    /// The component with this name, or the root scheduler.
    fn superior(&self, wanted: &At<String>, subject: &str, out: &mut Collector) -> Option<Superior> {
        if wanted.value == ROOT {
            return Some(Superior::Root);
        }
        // Whoever wrote nearly that means it.
        if nearest(&wanted.value, [ROOT]).is_some() && !names(self.drafts).any(|name| name == wanted.value) {
            let complaint = Complaint::UnknownName {
                what: "component",
                name: wanted.value.chars().take(40).collect(),
                nearest: nearest(&wanted.value, names(self.drafts).chain([ROOT])),
                remedy: "describe it in a [[component]]".into(),
            };
            out.add(wanted.place, subject, complaint);
            return None;
        }
        let place = self.component(wanted, subject, out)?;
        Some(if self.root == Some(place) { Superior::Root } else { Superior::Component(place) })
    }
}

/// The component that is the root scheduler; what it cannot have as such.
fn root(draft: &Draft, out: &mut Collector) -> Option<usize> {
    let named = Named { drafts: &draft.components, root: None };
    let root = draft.platform.root.get().and_then(|at| named.component(at, "[system] root", out));
    for (place, it) in draft.components.iter().enumerate() {
        let Some(name) = it.name.get() else { continue };
        if root != Some(place) {
            if name.value == ROOT {
                let why = "its name stands for the root scheduler, which it is not";
                out.refuse(name.place, &it.subject, why, "choose another, or write root = \"root\" in [system]");
            }
            continue;
        }
        let mut not = |place: Location, what: &str, remedy: &str| {
            out.refuse(place, &it.subject, format!("it is the root scheduler and {what}"), remedy);
        };
        if let Some(grant) = it.uses.first() {
            not(
                grant.place,
                "uses a service, but everybody calls it, and calls must not go in a circle",
                "remove uses",
            );
        }
        if let Some(task) = draft.tasks.iter().find(|task| runs_component(task, &name.value)) {
            not(task.place, "runs a task", "give the task another component");
        }
        for given in [&it.rights.parent, &it.rights.restarted_by].into_iter().filter_map(Given::get) {
            not(given.place, "has nobody above it", "remove the line");
        }
        if let Some(at) = it.rights.memory_manager.get().filter(|at| at.value) {
            not(at.place, "keeps the trace where others have memory mapped", "let another component manage memory");
        }
        if let Some(at) = it.rights.scheduler.get() {
            not(at.place, "need not be said to be a scheduler", "remove the line");
        }
        if let Some(at) = it.rights.floating_point.get().filter(|at| at.value) {
            not(at.place, "is entered by the kernel at any time", "compute in another component, which its tasks run");
        }
    }
    root
}

/// What can be said of one component alone.
fn simple_rights(draft: &DraftComponent, shift: u8, out: &mut Collector) -> Rights {
    let it = &draft.rights;
    let mut count = |given: &Given<u64>, what: &str, most: usize| -> usize {
        let Some(at) = given.get() else { return 0 };
        if at.value > most as u64 {
            out.out_of_range(at.place, &draft.subject, what, at.value, format!("more than {most}"), "lower it");
            return 0;
        }
        at.value as usize
    };
    let (threads, brands) = (count(&it.threads, "threads", MAX_SPARES), count(&it.brands, "brands", MAX_BRANDS));
    for line in it.lines.iter().filter(|line| line.value > MAX_LINE) {
        let limit = format!("not between 0 and {MAX_LINE}");
        out.out_of_range(
            line.place,
            &draft.subject,
            "interrupt line",
            line.value,
            limit,
            "choose one of the machine's",
        );
    }
    if let (Some(line), Given::Absent) = (it.lines.first(), &it.brands) {
        let why = "it has an interrupt line and no brand to wire to it";
        out.refuse(line.place, &draft.subject, why, "write brands = 1");
    }
    let ticks = ticks(draft, shift, out);
    if let Some(at) = it.floating_point.get().filter(|at| at.value) {
        let mut not = |why: &str, remedy: &str| {
            out.refuse(at.place, &draft.subject, format!("it has floating point and {why}"), remedy)
        };
        if it.scheduler.value() == Some(true) {
            not("is a scheduler, which the kernel enters at any time", "compute in another component, which it calls");
        }
        if brands > 0 {
            not(
                "makes brands, whose upcalls come in the middle of its own work",
                "receive in another component, which calls it",
            );
        }
    }
    Rights {
        scheduler: None,
        threads,
        brands,
        lines: it.lines.iter().filter_map(|line| u8::try_from(line.value).ok()).collect(),
        ticks,
        console: it.console.value().unwrap_or(false),
        memory_manager: it.memory_manager.value().unwrap_or(false),
        loader: it.loader.value().unwrap_or(false),
        floating_point: it.floating_point.value().unwrap_or(false),
        heap: heap(draft, out),
        heap_by_colour: heap_by_colour(draft, out),
        counters: it.counters.value().unwrap_or(false),
        restart: None,
    }
}

/// The shortest tick that it may wire a brand to.
fn ticks(draft: &DraftComponent, shift: u8, out: &mut Collector) -> Option<Duration> {
    let at = draft.rights.ticks.get()?;
    let shortest = shortest_tick(shift);
    if at.value < shortest || at.value > LONGEST_TICK {
        let limit = format!("not between {shortest}, {INSTRUCTIONS_PER_TICK} instructions, and {LONGEST_TICK}");
        out.out_of_range(at.place, &draft.subject, "ticks", at.value, limit, "choose a period between them");
        return None;
    }
    if let Given::Absent = draft.rights.brands {
        out.refuse(at.place, &draft.subject, "it may have ticks and no brand to wire to one", "write brands = 1");
    }
    Some(at.value)
}

/// How much memory its heap has at least.
fn heap(draft: &DraftComponent, out: &mut Collector) -> u64 {
    let Some(at) = draft.rights.heap.get() else { return 0 };
    if at.value > LARGEST_HEAP {
        let (found, limit) = (format_size(at.value), format!("more than {}", format_size(LARGEST_HEAP)));
        out.out_of_range(at.place, &draft.subject, "heap", found, limit, "lower it");
        return 0;
    }
    at.value
}

/// Whether its heap is in parts by colour.
fn heap_by_colour(draft: &DraftComponent, out: &mut Collector) -> bool {
    let Some(at) = draft.rights.heap_by_colour.get().filter(|at| at.value) else { return false };
    let first = draft.colours.first().map(|colour| colour.value);
    if draft.colours.iter().all(|colour| Some(colour.value) == first) {
        let why = "its heap is in parts by colour, and it names fewer than two colours";
        out.refuse(at.place, &draft.subject, why, "write colours = [2, 3], say, or remove heap-by-colour");
    }
    true
}

/// Whether it may be a scheduler, and under whom.
fn scheduler(draft: &DraftComponent, place: usize, named: &Named<'_>, out: &mut Collector) -> Option<Superior> {
    let it = &draft.rights;
    let parent = it.parent.get();
    if it.scheduler.value() != Some(true) {
        if let (Some(at), false) = (parent, named.root == Some(place)) {
            let why = "it has a parent, but is no scheduler";
            out.refuse(at.place, &draft.subject, why, "write scheduler = true, or remove the parent");
        }
        return None;
    }
    let Some(at) = parent else { return Some(Superior::Root) };
    let parent = named.superior(at, &draft.subject, out)?;
    if let Superior::Component(above) = parent {
        let above = &named.drafts[above];
        if above.rights.scheduler.value() != Some(true) {
            let why = format!("its parent, {}, is no scheduler", above.subject);
            out.refuse(at.place, &draft.subject, why, "write scheduler = true there, or choose another parent");
        }
    }
    Some(parent)
}

fn restart(draft: &DraftComponent, place: usize, named: &Named<'_>, out: &mut Collector) -> Option<Restart> {
    let it = &draft.rights;
    let Some(at) = it.restarted_by.get() else {
        if let (Some(place), true) = (it.restarts.place, it.restarted_by.is_absent()) {
            let why = "its restarts are limited, but nobody may restart it";
            out.refuse(place, &draft.subject, why, "add a line like restarted-by = \"root\"");
        }
        return None;
    };
    let by = named.superior(at, &draft.subject, out)?;
    if by == Superior::Component(place) {
        let why = "it is to restart itself, and does nothing once it is stopped";
        out.refuse(at.place, &draft.subject, why, "name another component, or \"root\"");
    }
    if it.memory_manager.value() == Some(true) {
        let why = "it manages memory and would forget what it has given out";
        out.refuse(at.place, &draft.subject, why, "remove restarted-by");
    }
    let most = it.restarts.most.get().map(|at| (at.value, at.place)).unwrap_or((3, at.place));
    if !(1..=u64::from(MAX_RESTARTS)).contains(&most.0) {
        let limit = format!("not between 1 and {MAX_RESTARTS}");
        out.out_of_range(most.1, &draft.subject, "restarts: most", most.0, limit, "choose a number in between");
    }
    let per = it.restarts.per.get().map(|at| (at.value, at.place)).unwrap_or((Duration::from_secs(1), at.place));
    if per.0.is_zero() {
        out.out_of_range(per.1, &draft.subject, "restarts: per", per.0, "no time at all", "lengthen it");
    }
    let most = most.0.min(u64::from(MAX_RESTARTS)) as u32;
    Some(Restart { by, most, per: per.0, waits: it.restarts_wait })
}

/// Schedulers form a tree that is not too deep.
fn tree(drafts: &[DraftComponent], rights: &[Rights], out: &mut Collector) {
    for (place, it) in drafts.iter().enumerate() {
        let mut depth = 1;
        let mut at = place;
        while let Some(Superior::Component(above)) = rights[at].scheduler {
            (at, depth) = (above, depth + 1);
            if depth > MAX_SCHEDULER_DEPTH + drafts.len() {
                break;
            }
        }
        if rights[place].scheduler.is_some() && depth >= MAX_SCHEDULER_DEPTH {
            let line = it.rights.parent.get().map_or(it.place, |at| at.place);
            let why = format!(
                "above it are {MAX_SCHEDULER_DEPTH} schedulers or more, the root among them, or they go in a circle"
            );
            out.refuse(line, &it.subject, why, "choose a parent nearer to the root");
        }
    }
}

/// Each interrupt line leads to one component.
fn lines(drafts: &[DraftComponent], out: &mut Collector) {
    let mut seen: Vec<(u64, &str)> = Vec::new();
    for (it, line) in drafts.iter().flat_map(|it| it.rights.lines.iter().map(move |line| (it, line))) {
        match seen.iter().find(|(number, _)| *number == line.value) {
            Some((_, first)) => {
                let why = format!("interrupt line {} is {first}'s already", line.value);
                out.refuse(line.place, &it.subject, why, "leave it to one of them, once");
            }
            None => seen.push((line.value, &it.subject)),
        }
    }
}

/// Whether monitors watch what is sent through the buffer: the kernel keeps the messages, and nobody maps memory.
fn is_watched(draft: &Draft, buffer: &str) -> bool {
    let events = draft.monitors.iter().flat_map(|monitor| &monitor.events);
    let mut kinds = events.map(|(_, what)| what.value.split_whitespace().collect::<Vec<_>>());
    kinds.any(|words| words == ["send", buffer] || words == ["receive", buffer])
}

fn buffer(
    draft: &DraftBuffer,
    named: &Named<'_>,
    (count, assignment): (u32, Option<&ColourAssignment>),
    managed: bool,
    out: &mut Collector,
) -> Option<Buffer> {
    let subject = draft.subject.as_str();
    if !managed {
        out.refuse(draft.place, subject, "no component manages memory", "write memory-manager = true for one");
    }
    let size = draft.size.get();
    if let Some(at) = size.filter(|at| at.value == 0 || at.value % PAGE != 0) {
        let limit = "no whole number of pages";
        out.out_of_range(at.place, subject, "size", format_size(at.value), limit, "round it up to 4 KiB");
    }
    let mut between = Vec::new();
    for wanted in &draft.between {
        let Some(place) = named.component(wanted, subject, out) else { continue };
        if between.contains(&place) || named.root == Some(place) {
            out.refuse(wanted.place, subject, "it names a component twice, or the root scheduler", "name another");
        } else {
            between.push(place);
        }
    }
    if let Some(third) = draft.between.get(2) {
        let count = draft.between.len();
        out.out_of_range(
            third.place,
            subject,
            "the number of components that see it",
            count,
            "more than 2",
            "make two",
        );
    }
    let reader = draft.read_only.get().and_then(|at| {
        let found = between
            .iter()
            .copied()
            .find(|place| matches!(&named.drafts[*place].name, Given::Is(name) if name.value == at.value));
        if found.is_none() {
            let why = format!("{:?} is to read it only, and does not see it", at.value);
            out.refuse(at.place, subject, why, "name one of those that it is between");
        }
        found
    });
    let chosen = colours::of_buffer(draft, &between, assignment, count, out);
    Some(Buffer {
        name: draft.name.get()?.value.clone(),
        bytes: size?.value,
        between,
        reader,
        colours: chosen,
        line: draft.place.line,
    })
}

/// The pool must hold all buffers, colour by colour.
fn pool(draft: &Draft, buffers: &[Buffer], colours: u32, managed: bool, out: &mut Collector) -> u64 {
    let mut pages = vec![0_u64; colours as usize];
    for buffer in buffers {
        let all: Vec<u32> = (0..colours).collect();
        let of = if buffer.colours.is_empty() { &all } else { &buffer.colours };
        for colour in of {
            pages[*colour as usize] += (buffer.bytes / PAGE).div_ceil(of.len() as u64);
        }
    }
    let needed = pages.iter().max().copied().unwrap_or(0) * PAGE * u64::from(colours);
    let needed = needed
        .saturating_add(super::slot::pages(draft).saturating_mul(PAGE))
        .next_multiple_of(PAGE * u64::from(colours));
    let Some(at) = draft.platform.pool.get() else {
        return if managed { needed.max(DEFAULT_POOL) } else { 0 };
    };
    let mut complain = |limit: String, remedy: String| {
        out.out_of_range(at.place, "[system]", "pool", format_size(at.value), limit, remedy);
    };
    let step = PAGE * u64::from(colours);
    if !managed {
        complain("of no use, since no component manages memory".into(), "write memory-manager = true for one".into());
    } else if at.value == 0 || at.value % step != 0 {
        complain(format!("no multiple of {}, a page of each colour", format_size(step)), "round it up".into());
    } else if at.value > MAX_POOL {
        complain(format!("more than {}", format_size(MAX_POOL)), "lower it".into());
    } else if at.value < needed {
        complain(
            "too small for the buffers in their colours and the slots".into(),
            format!("raise it to {}", format_size(needed)),
        );
    }
    at.value
}

fn device(draft: &DraftDevice, named: &Named<'_>, out: &mut Collector) -> Option<Device> {
    let subject = draft.subject.as_str();
    let component = draft.component.get().and_then(|at| {
        let place = named.component(at, subject, out)?;
        if named.root == Some(place) {
            out.refuse(at.place, subject, "the root scheduler is to drive it", "name another component");
        }
        Some(place)
    });
    let kind_at = draft.kind.get()?;
    let kind = kind_at.value.as_str();
    let wanted: &[&str] = match kind {
        "memory" => &["address", "size"],
        "pci" => &["id", "bar", "size"],
        "virtio-net" | "virtio-blk" => &[],
        "ivshmem" => &["size"],
        other => {
            let complaint = Complaint::UnknownName {
                what: "kind of device",
                name: other.chars().take(40).collect(),
                nearest: nearest(other, ["memory", "pci", "virtio-net", "virtio-blk", "ivshmem"]),
                remedy: "choose one of \"virtio-net\", \"virtio-blk\", \"ivshmem\", \"pci\", \"memory\"".into(),
            };
            out.add(kind_at.place, subject, complaint);
            return None;
        }
    };
    let given = [
        ("address", draft.address.get().map(|at| at.place), "address = 0xfed00000"),
        ("id", draft.id.get().map(|at| at.place), "id = \"1af4:1041\""),
        ("bar", draft.bar.get().map(|at| at.place), "bar = 0"),
        ("size", draft.size.get().map(|at| at.place), "size = \"4 KiB\""),
    ];
    for (key, place, example) in given {
        match place {
            None if wanted.contains(&key) => {
                out.add(draft.place, subject, Complaint::MissingKey { key, example: example.into() });
            }
            Some(place) if !wanted.contains(&key) => {
                out.refuse(place, subject, format!("{key} is of no use for the kind {kind:?}"), "remove it");
            }
            _ => {}
        }
    }
    let mut size = |given: &Given<u64>, what: &str, most: u64, default: u64| {
        let Some(at) = given.get() else { return default };
        if at.value % PAGE != 0 || at.value > most || at.value == 0 {
            let limit = format!("no whole number of pages up to {}", format_size(most));
            out.out_of_range(at.place, subject, what, format_size(at.value), limit, "choose another");
        }
        at.value
    };
    let bytes = size(&draft.size, "size", LARGEST_DEVICE, 16 << 10);
    let dma = size(&draft.dma, "dma", LARGEST_DMA, 0);
    let kind = match kind {
        "memory" => DeviceKind::Memory { address: address(draft, bytes, out)? },
        "pci" => pci(draft, out)?,
        "virtio-blk" => DeviceKind::VIRTIO_BLK,
        "ivshmem" => {
            if let Some(at) = draft.size.get().filter(|at| !at.value.is_power_of_two()) {
                let limit = "no power of two";
                let remedy = "choose 64, 128, 256 or 512 KiB";
                out.out_of_range(at.place, subject, "size", format_size(at.value), limit, remedy);
            }
            DeviceKind::IVSHMEM
        }
        _ => DeviceKind::Pci { vendor: 0x1af4, devices: [0x1041, 0x1000], bar: 4 },
    };
    Some(Device {
        name: draft.name.get()?.value.clone(),
        component: component?,
        kind,
        bytes,
        dma,
        line: draft.place.line,
    })
}

/// A physical address that is neither memory nor the kernel's own.
fn address(draft: &DraftDevice, bytes: u64, out: &mut Collector) -> Option<u64> {
    let at = draft.address.get()?;
    let end = at.value.saturating_add(bytes);
    let limit = if at.value % PAGE != 0 {
        "not the start of a page"
    } else if at.value < MAX_MEMORY || end > 1 << 32 {
        "not between 2 GiB and 4 GiB, where devices are"
    } else if KERNELS.iter().any(|(start, stop)| at.value < *stop && end > *start) {
        "the kernel's own interrupt controller"
    } else {
        return Some(at.value);
    };
    let value = format!("{:#x}", at.value);
    out.out_of_range(at.place, &draft.subject, "address", value, limit, "choose the device's own");
    None
}

fn pci(draft: &DraftDevice, out: &mut Collector) -> Option<DeviceKind> {
    let bar = draft.bar.get()?;
    if bar.value > 5 {
        out.out_of_range(bar.place, &draft.subject, "bar", bar.value, "not between 0 and 5", "choose another");
    }
    let at = draft.id.get()?;
    let number = |text: &str| if text.len() == 4 { u16::from_str_radix(text, 16).ok() } else { None };
    let numbers = at.value.split_once(':').and_then(|(vendor, device)| Some((number(vendor)?, number(device)?)));
    let Some((vendor, device)) = numbers else {
        let found = format!("{:?}", at.value.chars().take(40).collect::<String>());
        let expected = "vendor and device, four hexadecimal digits each, like \"1af4:1041\"".into();
        out.add(at.place, &draft.subject, Complaint::Malformed { what: "id".into(), found, expected });
        return None;
    };
    Some(DeviceKind::Pci { vendor, devices: [device, device], bar: bar.value as u8 })
}

/// No device has two drivers.
fn driven_once(devices: &[Device], drafts: &[DraftDevice], out: &mut Collector) {
    for (place, it) in devices.iter().enumerate() {
        let same = devices[..place].iter().find(|other| match (other.kind, it.kind) {
            (DeviceKind::Memory { address: a }, DeviceKind::Memory { address: b }) => {
                a < b.saturating_add(it.bytes) && b < a.saturating_add(other.bytes)
            }
            (DeviceKind::Pci { vendor: a, devices: x, .. }, DeviceKind::Pci { vendor: b, devices: y, .. }) => {
                a == b && x.iter().any(|number| y.contains(number))
            }
            _ => false,
        });
        let (Some(same), Some(draft)) = (same, drafts.iter().find(|draft| draft.place.line == it.line)) else {
            continue;
        };
        let why = format!("it is the same device as {:?}", same.name);
        out.refuse(draft.place, &draft.subject, why, "describe each device once");
    }
}
