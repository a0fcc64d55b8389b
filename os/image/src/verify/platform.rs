//! Roles, schedulers' threads, windows, devices: what components get beside calls, and what they are told of it.

use super::contents::contents;
use super::fault::{is_name, rule, Part, VerifyError};
use super::monitors;
use super::space::Use;
use crate::parsed::Parsed;
use crate::wire::Stored;
use tactus_abi::call::SHORTEST_TICK;
use tactus_abi::image::{pci, role, Memory, MemoryKind, ThreadKind, EXECUTABLE, NO_COMPONENT};
use tactus_abi::layout::{
    BUFFERS, COMPONENTS, DEVICES, DEVICE_CARDS, DEVICE_CONFIGURATION, DEVICE_DMA, DEVICE_STRIDE, LINES, MAX_BRANDS,
    MAX_RESTARTS, PAGE, PLAN, REGIONS, TOLD, WINDOW_PAGES,
};
use tactus_abi::shared::{BufferCard, ComponentCard, DeviceCard};
use tactus_model::every_colour;

/// Where devices are; memory lies below.
const DEVICE_SPACE: (u64, u64) = (0x8000_0000, 1 << 32);
/// The interrupt controllers, which are the kernel's.
const INTERRUPT_CONTROLLERS: [(u64, u64); 2] = [(0xfec0_0000, 0xfec0_1000), (0xfee0_0000, 0xfef0_0000)];

/// Checks a component's roles, restarter, lines and sequences; mappings are not known yet.
pub(super) fn component(image: &Parsed, number: usize) -> Result<(), VerifyError> {
    let it = &image.components[number];
    let check = |holds, text| rule(holds, Part::Component, number, text);
    let known = role::ROOT
        | role::SCHEDULER
        | role::MEMORY
        | role::CONSOLE
        | role::WINDOW
        | role::COMPUTES
        | role::FLOATING_POINT
        | role::LATE
        | role::DISK
        | role::SLOT
        | role::LOADER;
    check(it.role & !known == 0, "has a role that there is not")?;
    check(it.role & role::SCHEDULER == 0 || number != 0, "is the root scheduler and to be promoted")?;
    // Where others have their window, it has the trace.
    check(it.role & role::WINDOW == 0 || number != 0, "is the root scheduler and has a window")?;
    let every = every_colour(image.header.colours);
    let known = it.colours != 0 && (it.colours | it.window_colours) & !every == 0;
    check(known, "has no colour, or one that there is not")?;
    let restarter = it.restarted_by == NO_COMPONENT || (it.restarted_by as usize) < image.components.len();
    check(restarter && it.restarted_by as usize != number, "is restarted by itself, or by nobody that there is")?;
    check(number != 0 || it.restarted_by == NO_COMPONENT, "is the root scheduler and to be restarted")?;
    let keeps = it.role & role::MEMORY == 0 || it.restarted_by == NO_COMPONENT;
    check(keeps, "manages memory and would forget what it has given out")?;
    check(it.role & role::MEMORY == 0 || it.role & role::WINDOW != 0, "manages memory and has no window")?;
    check(it.role & role::WINDOW == 0 || image.header.pool_frames > 0, "has a window, and there is no memory for it")?;
    check(it.restarts as usize <= MAX_RESTARTS, "is restarted more often than there can be a limit")?;
    check(it.reserved == 0, "has a field that should be zero")?;
    check(it.brands as usize <= MAX_BRANDS, "may make more brands than there can be")?;
    check(it.lines == 0 || it.brands > 0, "has an interrupt line and no brand")?;
    let entered = it.role & (role::ROOT | role::SCHEDULER) != 0 || it.brands > 0;
    check(
        it.role & role::FLOATING_POINT == 0 || !entered,
        "has floating point and is entered in the middle of its work",
    )?;
    check(
        it.tick == 0 || it.tick >= SHORTEST_TICK && it.brands > 0,
        "may have ticks that are too short, or no brand for them",
    )?;
    check((it.lines | it.releases) >> LINES == 0, "has an interrupt line that no machine has")?;
    let others = image.components[..number]
        .iter()
        .fold(it.lines & it.releases, |bits, other| bits | other.lines | other.releases);
    check((it.lines | it.releases) & others == 0, "has an interrupt line that is another's")?;
    check(it.releases == 0 || number != 0, "is the root scheduler and has jobs that a line releases")?;
    let mut end = 0;
    let mut over = false;
    for [start, stop] in it.sequences {
        let empty = start == 0 && stop == 0;
        check(empty || start < stop && start >= end && !over, "has restartable sequences that overlap or are none")?;
        over |= empty;
        end = stop;
    }
    let brands: u32 = image.components.iter().map(|it| it.brands.min(MAX_BRANDS as u32)).sum();
    rule(brands as usize <= MAX_BRANDS, Part::Header, 0, "lets its components make more brands than there can be")
}

/// Whether any part of the system has not all colours.
pub(super) fn is_apart(image: &Parsed) -> bool {
    let every = every_colour(image.header.colours);
    image.header.kernel_colours != every || image.components.iter().any(|it| it.colours != every)
}

/// Whether the component is the root scheduler, or one that is made as the root is and has a plan of its own.
pub(super) fn plans(image: &Parsed, number: usize) -> bool {
    let child = |it: &tactus_abi::image::Component| it.role == role::SCHEDULER && it.grants == 0;
    number == 0 || image.components.get(number).is_some_and(child) && image.mapping_at(number, PLAN).is_some()
}

/// After the tasks' threads come the upcalls of child schedulers, one for each core, then the spare ones.
pub(super) fn threads(image: &Parsed) -> Result<(), VerifyError> {
    let cores = image.header.cores;
    let first = cores as usize + image.tasks();
    let mut before: Option<(u32, u32, u32)> = None;
    for (number, it) in image.threads.iter().enumerate().skip(first) {
        let check = |holds, text| rule(holds, Part::Thread, number, text);
        let role = image.components[it.component as usize].role;
        let next = |kind: u32| match before {
            Some((same, component, number)) if (same, component) == (kind, it.component) => it.number == number + 1,
            Some((earlier, component, _)) => {
                it.number == 0 && (earlier != kind && kind == ThreadKind::Spare as u32 || component < it.component)
            }
            None => it.number == 0,
        };
        if it.kind == ThreadKind::Upcall as u32 {
            check(role & role::SCHEDULER != 0, "is an upcall in what is no scheduler")?;
            check(it.number < cores, "is the upcall of a core that there is not")?;
            let last = before.is_none_or(|(kind, ..)| kind == it.kind);
            check(last && next(it.kind), "is not the upcall in its place")?;
        } else {
            check(it.kind == ThreadKind::Spare as u32, "is of no known kind, or a task's behind others")?;
            check(next(it.kind), "is not the spare one in its place")?;
        }
        before = Some((it.kind, it.component, it.number));
    }
    for (number, it) in image.components.iter().enumerate().skip(1) {
        let upcalls = image
            .threads
            .iter()
            .filter(|thread| thread.component as usize == number && thread.kind == ThreadKind::Upcall as u32);
        let wanted = if it.role & role::SCHEDULER != 0 { cores as usize } else { 0 };
        rule(upcalls.count() == wanted, Part::Component, number, "lacks an upcall, or has one and is no scheduler")?;
    }
    Ok(())
}

/// Checks a memory object that is a device's, or made for one.
pub(super) fn memory(number: usize, it: &Memory) -> Result<(), VerifyError> {
    let check = |holds, text| rule(holds, Part::Memory, number, text);
    const DEVICE: u32 = MemoryKind::Device as u32;
    const PCI: u32 = MemoryKind::Pci as u32;
    const CONFIGURATION: u32 = MemoryKind::PciConfiguration as u32;
    const DMA: u32 = MemoryKind::Dma as u32;
    check(it.file_bytes == 0, "is a device's and has contents")?;
    let known = pci::bar(it.offset) <= 5 && pci::vendor(it.offset) != 0;
    match it.kind {
        DEVICE => {
            let (start, end) = (it.offset, it.offset.saturating_add(it.bytes));
            let there = start >= DEVICE_SPACE.0 && end <= DEVICE_SPACE.1;
            check(there, "is a device's and lies where memory is")?;
            let apart = INTERRUPT_CONTROLLERS.iter().all(|(first, last)| end <= *first || start >= *last);
            check(apart, "is an interrupt controller, which is the kernel's")
        }
        PCI | CONFIGURATION => check(known, "names a PCI device that cannot be"),
        DMA => check(it.offset == 0 || known, "names a PCI device that cannot be"),
        _ => check(false, "is of no known kind"),
    }
}

/// Checks what is mapped where against roles, and that no device has two drivers.
pub(super) fn mapped(image: &Parsed, uses: &[Use]) -> Result<(), VerifyError> {
    let mut devices: Vec<(u64, u32)> = Vec::new();
    let mut places: Vec<(u64, u64)> = Vec::new();
    let mut names: Vec<(u16, u16)> = Vec::new();
    for ((number, it), what) in image.mappings.iter().enumerate().zip(uses) {
        let check = |holds, text| rule(holds, Part::Mapping, number, text);
        let memory = &image.memories[it.memory as usize];
        if !matches!(what, Use::Device | Use::Dma | Use::Configuration) {
            continue;
        }
        let window = (it.address - DEVICES) / DEVICE_STRIDE;
        let owner = devices.iter().find(|(other, _)| *other == window).map(|(_, owner)| *owner);
        check(owner.is_none_or(|owner| owner == it.component), "shows a device that another component drives")?;
        devices.push((window, it.component));
        match what {
            Use::Device if memory.kind == MemoryKind::Device as u32 => {
                let (start, end) = (memory.offset, memory.offset + memory.bytes);
                let apart = places.iter().all(|(first, last)| end <= *first || start >= *last);
                check(apart, "shows a device that another mapping shows")?;
                places.push((start, end));
            }
            Use::Device => {
                let twice = pci::devices(memory.offset).map(|device| (pci::vendor(memory.offset), device));
                check(!twice.iter().any(|it| names.contains(it)), "shows a device that another mapping shows")?;
                names.extend(twice);
            }
            _ => {
                let whose = image.mapping_at(it.component as usize, DEVICES + window * DEVICE_STRIDE);
                let whose = whose.map(|it| &image.memories[it.memory as usize]);
                let same = match what {
                    Use::Dma if memory.offset == 0 => whose.is_some(),
                    _ => whose.is_some_and(|it| it.kind == MemoryKind::Pci as u32 && it.offset == memory.offset),
                };
                check(same, "belongs to a device that the component does not drive")?;
            }
        }
    }
    for (number, it) in image.components.iter().enumerate() {
        let check = |holds, text| rule(holds, Part::Component, number, text);
        let schedules = it.role & (role::ROOT | role::SCHEDULER) != 0;
        check(image.mapping_at(number, REGIONS).is_some() == schedules, "is a scheduler without regions")?;
        let restarts = image.components.iter().any(|other| other.restarted_by as usize == number);
        let silent = role::WINDOW | role::COMPUTES | role::FLOATING_POINT | role::LATE | role::SLOT;
        let told = it.role & !silent != 0 || restarts;
        check(image.mapping_at(number, COMPONENTS).is_some() == told, "is not told of the others, or need not be")?;
        for [start, end] in it.sequences.into_iter().filter(|[_, end]| *end != 0) {
            let code = image.mappings.iter().any(|it| {
                let bytes = image.memories[it.memory as usize].bytes;
                it.component as usize == number
                    && it.flags == EXECUTABLE
                    && start >= it.address
                    && end <= it.address + bytes
            });
            check(code, "has a restartable sequence that is no code of its own")?;
        }
    }
    Ok(())
}

/// Checks what components are told of others, of buffers and of devices.
pub(super) fn told(image: &Parsed, bytes: &[u8]) -> Result<(), VerifyError> {
    let mut cards = contents(image, bytes, 0, COMPONENTS);
    let threads = |component: usize, kind: ThreadKind| {
        let of = |it: &tactus_abi::image::Thread| it.component as usize == component && it.kind == kind as u32;
        let first = image.threads.iter().position(of).unwrap_or(0) as u32;
        (first, image.threads.iter().filter(|it| of(it)).count() as u32)
    };
    for (number, it) in image.components.iter().enumerate() {
        let card = ComponentCard::take(&mut cards).ok_or(VerifyError::Truncated { part: Part::Info })?;
        let check = |holds, text| rule(holds, Part::Info, number, text);
        let same =
            (card.name, card.role, card.restarted_by, card.brands) == (it.name, it.role, it.restarted_by, it.brands);
        let same = same && (card.restarts, card.restart_nanos) == (it.restarts, it.restart_nanos);
        check(same, "has a card that tells others something else")?;
        check((card.first_spare, card.spares) == threads(number, ThreadKind::Spare), "has other spare threads")?;
        check(card.first_upcall == threads(number, ThreadKind::Upcall).0, "has other upcall threads")?;
        let limited = card.restarts > 0 && card.restart_nanos > 0;
        let late = it.role & role::LATE != 0;
        let slot = it.role & role::SLOT != 0;
        check(
            (card.restarted_by != NO_COMPONENT) == (limited || late || slot),
            "is restarted without a limit, or limited for nothing",
        )?;
        check(card.waits <= u32::from(limited), "waits for a restart that never comes")?;
        let ends = card.load_start.checked_add(card.load_length).is_some_and(|end| end < card.load_frame);
        let begins = u64::from(card.load_core) < u64::from(image.header.cores) && card.restarted_by == 0;
        let never = [card.load_core.into(), card.load_start, card.load_length, card.load_frame] == [0; 4];
        check(if late { begins && ends } else { never }, "is loaded in no window of a frame")?;
        let parent = image.components.get(card.parent as usize);
        let under = parent.is_some_and(|it| it.role & (role::ROOT | role::SCHEDULER) != 0);
        check(under == (it.role & role::SCHEDULER != 0), "is a scheduler under none, or none under one")?;
        let info = &image.infos[number];
        let sees = if image.mapping_at(number, COMPONENTS).is_some() { image.components.len() } else { 0 };
        check(info.components as usize == sees, "is told of another number of components")?;
        check(info.colours == image.header.colours, "is told of another number of colours")?;
        let told = image.mapping_at(number, TOLD).map_or(0, |it| image.memories[it.memory as usize].bytes);
        check(info.told_bytes.next_multiple_of(PAGE) == told, "is told more or less than lies there")?;
        devices(image, bytes, number)?;
    }
    buffers(image, bytes)
}

/// Every buffer's card says the same everywhere, names two that have windows or that the kernel keeps a channel for, and overlaps no
/// other.
fn buffers(image: &Parsed, bytes: &[u8]) -> Result<(), VerifyError> {
    let mut all: Vec<BufferCard> = Vec::new();
    let mut stored = Vec::new();
    let channels = monitors::channels(image, bytes);
    for (number, it) in image.components.iter().enumerate() {
        let check = |holds, text| rule(holds, Part::Info, number, text);
        let mut rest = contents(image, bytes, number, BUFFERS);
        let mut window = it.colours;
        if it.role & role::LOADER != 0 {
            let slots = image.components.iter().filter(|other| other.restarted_by as usize == number);
            window = slots.fold(window, |bits, slot| bits | slot.colours);
        }
        for _ in 0..image.infos[number].buffers {
            let before = rest;
            let card = BufferCard::take(&mut rest).ok_or(VerifyError::Truncated { part: Part::Info })?;
            let own = [card.first, card.second].contains(&(number as u32));
            check(own || it.role & role::MEMORY != 0, "is told of a buffer that it does not share")?;
            if own {
                window |= card.colours;
            }
            let form = &before[..BufferCard::BYTES];
            if stored.contains(&form) {
                continue;
            }
            check(is_name(&card.name), "has a buffer whose name is no text")?;
            check(
                all.iter().all(|other| other.number != card.number),
                "is told of a buffer otherwise than others are",
            )?;
            let kept = (card.channel as usize).checked_sub(1).map(|number| channels.get(number));
            let passes = kept.is_none_or(|ends| ends == Some(&[card.first, card.second]));
            check(passes, "is told of a buffer whose messages pass the kernel, which keeps none of that kind")?;
            for component in [card.first, card.second].into_iter().filter(|_| kept.is_none()) {
                let window = image.components.get(component as usize).is_some_and(|it| it.role & role::WINDOW != 0);
                check(window, "is told of a buffer of a component without a window")?;
            }
            let reader = [card.first, card.second, NO_COMPONENT].contains(&card.reader);
            check(reader, "is told of a buffer with a reader that does not share it")?;
            let known = every_colour(image.header.colours);
            check(
                card.colours != 0 && card.colours & !known == 0,
                "is told of a buffer of colours that there are not",
            )?;
            let end = u64::from(card.window) + u64::from(card.pages);
            check(card.pages > 0 && end <= WINDOW_PAGES, "is told of a buffer that leaves the window")?;
            let apart = |it: &BufferCard| end <= it.window.into() || it.window + it.pages <= card.window;
            check(all.iter().all(apart), "is told of a buffer that lies on another")?;
            all.push(card);
            stored.push(form);
        }
        check(it.window_colours == window, "may be shown frames of other colours than its own and its buffers'")?;
        check(
            image.mapping_at(number, BUFFERS).is_some() == (image.infos[number].buffers > 0),
            "is told of another number of buffers",
        )?;
    }
    Ok(())
}

/// The cards of a driver's devices name what is mapped.
fn devices(image: &Parsed, bytes: &[u8], number: usize) -> Result<(), VerifyError> {
    let check = |holds, text| rule(holds, Part::Info, number, text);
    let length = |address: u64| {
        let mapping = image.mapping_at(number, address);
        mapping.map_or(0, |it| image.memories[it.memory as usize].bytes)
    };
    let mut rest = contents(image, bytes, number, DEVICE_CARDS);
    let count = image.infos[number].devices;
    check((count > 0) == image.mapping_at(number, DEVICE_CARDS).is_some(), "is told of another number of devices")?;
    for _ in 0..count {
        let card = DeviceCard::take(&mut rest).ok_or(VerifyError::Truncated { part: Part::Info })?;
        check(is_name(&card.name), "has a device whose name is no text")?;
        check(card.bytes > 0 && card.bytes == length(card.address), "is told of a device elsewhere")?;
        let dma = if card.dma_bytes == 0 { 0 } else { card.address + DEVICE_DMA };
        check(
            card.dma == dma && card.dma_bytes == length(card.address + DEVICE_DMA),
            "is told of other device memory",
        )?;
        let at = card.address + DEVICE_CONFIGURATION;
        let configuration = if length(at) > 0 { at } else { 0 };
        check(card.configuration == configuration, "is told of a configuration elsewhere")?;
    }
    Ok(())
}
