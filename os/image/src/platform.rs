//! What components get beside calls: roles, who restarts whom, the tables that tell of it, windows for shared memory,
//! devices.

use crate::late;
use crate::layout::Layout;
use crate::monitors;
use crate::parts::{Part, Parts, SCHEDULER};
use crate::size::pages;
use crate::slots;
use crate::wire::stored;
use crate::Request;
use tactus_abi::image::{pci, role, MemoryKind, ThreadKind, NO_COMPONENT, WRITABLE};
use tactus_abi::layout::{
    BUFFERS, COMPONENTS, DEVICES, DEVICE_CARDS, DEVICE_CONFIGURATION, DEVICE_DMA, DEVICE_STRIDE, PAGE, TOLD,
};
use tactus_abi::shared::{name, BufferCard, ComponentCard, DeviceCard};
use tactus_model::{every_colour, Device, DeviceKind, Superior, System};

/// What was laid out, by component number.
pub(crate) struct Placed {
    pub cards: Vec<ComponentCard>,
    /// Interrupt lines that brands may be wired to, as bits.
    pub lines: Vec<u32>,
    /// The shortest ticks (microseconds), 0 for none.
    pub ticks: Vec<u32>,
    /// Interrupt lines that release jobs, as bits.
    pub releases: Vec<u32>,
    pub sees_components: Vec<bool>,
    /// How many cards of buffers.
    pub buffers: Vec<u32>,
    /// How many cards of devices.
    pub devices: Vec<u32>,
    /// How much each is told beside all else (bytes).
    pub told: Vec<u64>,
    /// Memory that the kernel needs for windows and the pool (bytes).
    pub kernel_bytes: u64,
    /// The pool's part of it.
    pub pool_bytes: u64,
}

/// Lays out everything that the model's platform and the components' rights ask for.
pub(crate) fn lay_out(layout: &mut Layout, parts: &Parts, request: &Request) -> Placed {
    let system = request.system;
    let count = parts.components.len();
    let cards: Vec<ComponentCard> = (0..count).map(|number| card(parts, system, number)).collect();
    let mut placed = Placed {
        lines: (0..count).map(|number| lines(parts, system, number)).collect(),
        releases: parts.components.iter().map(|part| releases(system, part)).collect(),
        ticks: (0..parts.components.len()).map(|number| tick(parts, system, number)).collect(),
        sees_components: vec![false; count],
        buffers: vec![0; count],
        devices: vec![0; count],
        told: vec![0; count],
        kernel_bytes: kernel_bytes(system, &cards, parts.threads.len() as u64),
        pool_bytes: system.platform.pool,
        cards,
    };
    for (number, it) in placed.cards.iter().enumerate() {
        if it.role & role::SCHEDULER != 0 {
            layout.regions(number as u32, system.cores);
        }
    }
    components(layout, &mut placed);
    buffers(layout, parts, system, &mut placed);
    devices(layout, parts, system, &mut placed);
    for (place, bytes) in request.told {
        let number = parts.numbers[*place];
        placed.told[number] = bytes.len() as u64;
        let memory = layout.in_place(bytes);
        layout.map(number as u32, memory, TOLD, 0);
    }
    if let Some((place, _)) = system.loader() {
        let number = parts.numbers[place];
        let bytes = slots::table(system, &parts.numbers, (request.slots, request.trials), &layout.colouring.windows);
        placed.told[number] = bytes.len() as u64;
        let memory = layout.in_place(&bytes);
        layout.map(number as u32, memory, TOLD, 0);
    }
    placed
}

/// What is to be known of one component.
fn card(parts: &Parts, system: &System, number: usize) -> ComponentCard {
    let part = &parts.components[number];
    let superior = |it: Superior| match it {
        Superior::Root => SCHEDULER as u32,
        Superior::Component(place) => parts.numbers[place] as u32,
    };
    let (first_spare, spares) = parts.threads_of(number, ThreadKind::Spare);
    let (first_upcall, _) = parts.threads_of(number, ThreadKind::Upcall);
    let mut card = ComponentCard {
        name: name(&part.name),
        role: if number == SCHEDULER { role::ROOT } else { 0 },
        parent: NO_COMPONENT,
        restarted_by: NO_COMPONENT,
        restarts: 0,
        restart_nanos: 0,
        first_spare,
        spares,
        first_upcall,
        brands: 0,
        waits: 0,
        load_core: 0,
        load_start: 0,
        load_length: 0,
        load_frame: 0,
    };
    if let Some(child) = part.child {
        card.role = role::SCHEDULER;
        card.parent = parts.parent_of(child) as u32;
    }
    if part.workload {
        card.role = role::COMPUTES;
    }
    let Some(place) = part.user else { return card };
    let rights = &system.components[place].rights;
    let channels = monitors::channels(system);
    let mut buffers = system.platform.buffers.iter().enumerate().filter(|(number, _)| !channels.contains(number));
    let shares = buffers.any(|(_, it)| it.between.contains(&place));
    for (has, bit) in [
        (rights.scheduler.is_some(), role::SCHEDULER),
        (rights.memory_manager, role::MEMORY),
        (rights.console, role::CONSOLE),
        (shares || rights.memory_manager, role::WINDOW),
        (rights.floating_point, role::FLOATING_POINT),
        (system.disks.iter().any(|disk| disk.component == Some(place)), role::DISK),
    ] {
        card.role |= if has { bit } else { 0 };
    }
    card.parent = rights.scheduler.map_or(NO_COMPONENT, superior);
    card.brands = rights.brands as u32;
    if let Some(restart) = rights.restart {
        card.restarted_by = superior(restart.by);
        card.restarts = restart.most;
        card.restart_nanos = restart.per.as_nanos();
        card.waits = restart.waits.into();
    }
    late::describe(&mut card, system, place);
    slots::describe(&mut card, system, place);
    card
}

fn lines(parts: &Parts, system: &System, number: usize) -> u32 {
    let place = parts.components[number].user;
    let lines = place.map_or(&[][..], |place| &system.components[place].rights.lines);
    lines.iter().fold(0, |bits, line| bits | 1 << line)
}

fn tick(parts: &Parts, system: &System, number: usize) -> u32 {
    let place = parts.components[number].user;
    let tick = place.and_then(|place| system.components[place].rights.ticks);
    tick.map_or(0, |tick| u32::try_from(tick.as_nanos().div_ceil(1_000)).unwrap_or(u32::MAX))
}

fn releases(system: &System, part: &Part) -> u32 {
    part.tasks.iter().filter_map(|task| system.line_of(*task)).fold(0, |bits, line| bits | 1 << line)
}

/// The pool and what the kernel notes about each of its frames; a page table for each window; what it notes about the
/// memory of each component that can be restarted, and when it was; what threads have in the registers of floating point, if anybody has it.
fn kernel_bytes(system: &System, cards: &[ComponentCard], threads: u64) -> u64 {
    /// For a frame.
    const NOTE: u64 = 16;
    /// For a component: a stack of every thread at most.
    const PIECES: u64 = 4 * PAGE;
    /// For a thread.
    const REGISTERS: u64 = 512;
    let windows = cards.iter().filter(|card| card.role & role::WINDOW != 0).count() as u64;
    let restarted = cards.iter().filter(|card| card.restarted_by != NO_COMPONENT);
    let restarted: u64 = restarted.map(|card| PIECES + (u64::from(card.restarts) * 8).next_multiple_of(PAGE)).sum();
    let pool = system.platform.pool;
    let floating = cards.iter().any(|card| card.role & role::FLOATING_POINT != 0);
    let registers = if floating { pages(threads * REGISTERS) } else { 0 };
    pool + pages((pool / PAGE) * NOTE) + windows * PAGE + restarted + registers
}

/// The cards of all components, for those who have a role or restart another one.
fn components(layout: &mut Layout, placed: &mut Placed) {
    let bytes = stored(&placed.cards);
    let memory = layout.in_place(&bytes);
    for number in 0..placed.cards.len() {
        let restarts = placed.cards.iter().any(|card| card.restarted_by == number as u32);
        let silent = role::WINDOW | role::COMPUTES | role::FLOATING_POINT | role::LATE | role::SLOT;
        let role = placed.cards[number].role & !silent;
        if role != 0 || restarts {
            placed.sees_components[number] = true;
            let memory = if layout.memories[memory as usize].colours == 0 { memory } else { layout.again(memory) };
            layout.map(number as u32, memory, COMPONENTS, 0);
        }
    }
}

/// The cards of buffers: of all for those who manage memory, of its own for everybody else.
fn buffers(layout: &mut Layout, parts: &Parts, system: &System, placed: &mut Placed) {
    let mut window = 0;
    let colours = system.platform.colours;
    let channels = monitors::channels(system);
    let mut cards = Vec::new();
    for (number, it) in system.platform.buffers.iter().enumerate() {
        let of = |place: &usize| parts.numbers[*place] as u32;
        let first = it.between.first().map_or(NO_COMPONENT, of);
        let every = every_colour(colours);
        let chosen = it.colours.iter().fold(0, |bits, colour| bits | 1 << colour);
        let pages = (it.bytes / PAGE) as u32;
        let channel = channels.iter().position(|channel| *channel == number).map_or(0, |channel| channel as u32 + 1);
        cards.push(BufferCard {
            name: name(&it.name),
            colours: if chosen == 0 { every } else { chosen },
            number: number as u32,
            pages,
            window,
            first,
            second: it.between.get(1).map_or(first, of),
            reader: it.reader.as_ref().map_or(NO_COMPONENT, of),
            releases: system.released_by(number).map_or(0, |task| u32::from(task.0) + 1),
            channel,
        });
        window += pages;
    }
    for number in 0..placed.cards.len() {
        let all = placed.cards[number].role & role::MEMORY != 0;
        let mine = cards.iter().filter(|it| all || [it.first, it.second].contains(&(number as u32)));
        let mine: Vec<BufferCard> = mine.copied().collect();
        placed.buffers[number] = mine.len() as u32;
        if !mine.is_empty() {
            let memory = layout.in_place(&stored(&mine));
            layout.map(number as u32, memory, BUFFERS, 0);
        }
    }
}

/// The memory of each device in its driver, and the drivers' cards.
fn devices(layout: &mut Layout, parts: &Parts, system: &System, placed: &mut Placed) {
    let mut cards: Vec<Vec<DeviceCard>> = vec![Vec::new(); placed.cards.len()];
    for (place, it) in system.platform.devices.iter().enumerate() {
        let driver = parts.numbers[it.component];
        cards[driver].push(device(layout, driver as u32, DEVICES + place as u64 * DEVICE_STRIDE, it));
    }
    for (number, mine) in cards.into_iter().enumerate() {
        placed.devices[number] = mine.len() as u32;
        if !mine.is_empty() {
            let memory = layout.in_place(&stored(&mine));
            layout.map(number as u32, memory, DEVICE_CARDS, 0);
        }
    }
}

fn device(layout: &mut Layout, driver: u32, address: u64, it: &Device) -> DeviceCard {
    let (kind, offset, pci) = match it.kind {
        DeviceKind::Memory { address } => (MemoryKind::Device, address, None),
        DeviceKind::Pci { vendor, devices: [first, second], bar } => {
            let number = pci::number(vendor, first, second, bar);
            (MemoryKind::Pci, number, Some(number))
        }
    };
    let mut map = |kind: MemoryKind, offset: u64, bytes: u64, address: u64, flags: u32| {
        let memory = layout.memory(kind, bytes, None);
        layout.memories[memory as usize].offset = offset;
        layout.map(driver, memory, address, flags);
    };
    map(kind, offset, it.bytes, address, WRITABLE);
    if it.dma > 0 {
        map(MemoryKind::Dma, pci.unwrap_or(0), it.dma, address + DEVICE_DMA, WRITABLE);
    }
    if let Some(number) = pci {
        map(MemoryKind::PciConfiguration, number, PAGE, address + DEVICE_CONFIGURATION, 0);
    }
    DeviceCard {
        name: name(&it.name),
        address,
        bytes: it.bytes,
        dma: if it.dma > 0 { address + DEVICE_DMA } else { 0 },
        dma_bytes: it.dma,
        configuration: if pci.is_some() { address + DEVICE_CONFIGURATION } else { 0 },
    }
}
