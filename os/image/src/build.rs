//! Lays an image out: every component, thread, grant and page that exists when the system starts.

use crate::channels::{self, Told};
use crate::colours::Colouring;
use crate::late;
use crate::layout::Layout;
use crate::monitors;
use crate::parts::{Part, Parts, SCHEDULER};
use crate::platform::{self, Placed};
use crate::quota;
use crate::size::{self, pages};
use crate::slots;
use crate::wire::Stored;
use crate::{Facts, Image, ImageError, Request};
use tactus_abi::image::{
    speculation, Component, Grant, Header, Interleaved, MemoryKind, Thread, MAGIC, VERSION, WRITABLE,
};
use tactus_abi::layout::{CLOCK, MAX_GRANTS, PAGE, TRACE};
use tactus_abi::shared::{name, Info, Name, TaskCard, NAME_BYTES, NOBODY};
use tactus_model::{EventRight, KERNEL_MEMORY};
use tactus_record::{RECORD_BYTES, RING_HEADER_BYTES};
use tactus_task::Bound;
use tactus_time::TaskId;

/// The most instructions that a core of an emulated machine runs while others wait: few enough to be short beside a
/// scheduler's turn, enough to cost the emulator little.
pub const TURN_INSTRUCTIONS: u32 = 2_500;
/// "No task" in a thread, "no level" in a card.
const NO_LEVEL: u64 = 255;

/// Builds the boot image.
///
/// # Errors
/// If a program cannot be loaded, a service is missing, grants lead in a circle or too deep, or something does not
/// fit: into the addresses kept for it, into the tables of an image, or into the machine's memory.
pub fn build(request: &Request) -> Result<Image, ImageError> {
    same("programs, one for each component", request.system.components.len(), request.components.len())?;
    lay_out(request, Parts::new(request)?)
}

/// Finds out, before any program is compiled, what keeps the system from fitting whatever is compiled: the request's programs are not
/// looked at. What fits here may still be too long with the programs that it has. Returns the memory that the kernel fills at its start (bytes), programs left
/// out.
///
/// # Errors
/// As [`build`], of an image with the shortest programs that there can be.
pub fn fits(request: &Request) -> Result<u64, ImageError> {
    lay_out(request, Parts::shortest(request)?).map(|image| image.facts.memory_filled)
}

fn lay_out(request: &Request, parts: Parts) -> Result<Image, ImageError> {
    let system = request.system;
    same("promises, one for each task", system.tasks.len(), request.promises.len())?;
    let mut layout = Layout::new(Colouring::of(system, &parts));
    // The first objects: the kernel takes the trace's place before it hands out any frame.
    let schedulers: Vec<usize> = (0..parts.components.len()).filter(|n| parts.components[*n].plans(*n)).collect();
    for scheduler in &schedulers {
        let trace = layout.memory(MemoryKind::Trace, 0, None);
        layout.map(*scheduler as u32, trace, TRACE, WRITABLE);
    }
    let watched = monitors::lay_out(system, &parts)?;
    let traces = schedulers.len() + usize::from(!watched.kernel.is_empty());
    if traces > schedulers.len() {
        // The kernel's own.
        let log = layout.memory(MemoryKind::Trace, 0, None);
        layout.memories[log as usize].colours = layout.colouring.kernel;
    }
    // A system may do without the built-in workload.
    let used = |number: usize| parts.components.iter().any(|part| part.program == number);
    let programs = parts.programs.iter().enumerate();
    let programs: Vec<Vec<_>> =
        programs.map(|(number, it)| if used(number) { layout.load(it) } else { Vec::new() }).collect();
    let clock = layout.memory(MemoryKind::Clock, PAGE, None);
    // The kernel writes it, and everybody reads it.
    layout.memories[clock as usize].colours = layout.colouring.kernel;
    let mut heaps = Vec::new();
    for (number, part) in parts.components.iter().enumerate() {
        let component = number as u32;
        layout.instance(component, &programs[part.program]);
        layout.map(component, clock, CLOCK, 0);
        if counted(system, part, number) {
            layout.counters(component);
        }
        let told = request.told.iter().filter(|(place, _)| part.user == Some(*place)).map(|(_, bytes)| bytes.len());
        let plan = plan_of(request, part).len();
        heaps.push(layout.heap(component, part, system, (plan, told.sum()))?);
    }
    let lines: Vec<Option<u8>> = (0..system.tasks.len()).map(|task| system.line_of(TaskId(task as u16))).collect();
    let names: Vec<&str> = system.tasks.iter().map(|task| task.name.as_str()).collect();
    layout.task_pages(&parts, &names, &system.critical_sections(), &lines);
    layout.scheduler_pages(&parts);
    layout.demands(&parts, system)?;
    let stacks = layout.stacks(&parts, system.cores);
    let plans: Vec<(usize, &[u8])> =
        schedulers.iter().map(|number| (*number, plan_of(request, &parts.components[*number]))).collect();
    layout.scheduler_tables(system.cores, &plans, &cards(request, &parts))?;
    let placed = platform::lay_out(&mut layout, &parts, request);
    layout.monitors(&watched.kernel, &watched.root);
    let told = channels::lay_out(&mut layout, &parts, system);

    late::mark(&mut layout, &placed.cards);
    late::fits(&parts, &layout, &placed.cards, system)?;
    slots::fits(system, request.slots)?;

    // The trace takes what is left; how much is left depends on the lengths of all that has been laid out.
    let infos: Vec<usize> = (0..parts.components.len()).map(|number| layout.reserve_info(number as u32)).collect();
    let arrays = pages(parts.array_bytes() + layout.array_bytes());
    let image_bytes = arrays + layout.contents.len() as u64;
    let trace = layout.colouring.trace();
    let fresh = if layout.colouring.assigned {
        let restarted_by: Vec<u32> = placed.cards.iter().map(|card| card.restarted_by).collect();
        let mut demand = layout.demand(&restarted_by);
        demand.add(u64::MAX, placed.pool_bytes / PAGE, None);
        let kernels = placed.kernel_bytes - placed.pool_bytes + watched.kernel_bytes;
        demand.add(layout.colouring.kernel, kernels / PAGE, None);
        demand.fits(system, &parts, KERNEL_MEMORY + image_bytes)?;
        demand.bytes()
    } else {
        layout.fresh_bytes(parts.components.len()) + placed.kernel_bytes + watched.kernel_bytes
    };
    // The kernel's comes last, in its colours.
    let log = Interleaved { bits: layout.colouring.kernel, ..trace };
    let fewest = if traces > schedulers.len() && log.bits.count_ones() < trace.bits.count_ones() { log } else { trace };
    let threads = |component: usize| stacks.iter().filter(|stack| stack.component as usize == component).count() as u64;
    let restarts = quota::records_of_restarts(&placed.cards, |n| layout.restored_pages(n), threads, system.duration);
    let place = size::place(system, image_bytes, fresh, (traces, fewest), restarts)?;
    for (number, memory) in layout.memories.iter_mut().take(traces).enumerate() {
        memory.bytes = place.ring * system.cores as u64;
        memory.offset = number as u64 * trace.extent(memory.bytes / PAGE) * PAGE;
    }

    for (number, at) in infos.into_iter().enumerate() {
        let it = info(request, &parts, number, (heaps[number], threads(number) as u32), place.ring, (&placed, &told));
        let mut bytes = Vec::with_capacity(Info::BYTES);
        it.put(&mut bytes);
        layout.contents[at..at + bytes.len()].copy_from_slice(&bytes);
    }
    let header = Header {
        magic: MAGIC,
        version: VERSION,
        cores: system.cores as u32,
        components: parts.components.len() as u32,
        grants: parts.components.iter().map(|part| part.grants.len() as u32).sum(),
        memories: layout.memories.len() as u32,
        mappings: layout.mappings.len() as u32,
        threads: parts.threads.len() as u32,
        pool_frames: (system.platform.pool / PAGE) as u32,
        colours: system.platform.colours,
        turn: if system.cores > 1 { TURN_INSTRUCTIONS << system.machine.shift } else { 0 },
        speculation: speculation(system),
        reserved: 0,
        trace_address: place.trace,
        kernel_colours: layout.colouring.kernel,
        bytes: image_bytes,
    };
    let component_colours = layout.colouring.components.iter().zip(&layout.colouring.windows);
    let component_colours = component_colours.map(|(own, window)| [*own, *window]).collect();
    let bytes = write(&header, &parts, layout, arrays, &placed);
    let facts = Facts {
        components: parts.components.into_iter().map(|part| part.name).collect(),
        heaps: heaps.iter().map(|(bytes, _)| *bytes).collect(),
        heap_parts: heaps.iter().map(|(_, parts)| *parts).collect(),
        threads: parts.threads,
        stacks,
        image_bytes,
        memory_needed: place.needed,
        memory_filled: fresh,
        trace_address: place.trace,
        ring_bytes: place.ring,
        ring_records: (place.ring - RING_HEADER_BYTES as u64) / RECORD_BYTES as u64,
        traces: schedulers.len(),
        watched: traces > schedulers.len(),
        trace_pages: trace,
        colours: header.colours,
        kernel_colours: header.kernel_colours,
        component_colours,
    };
    Ok(Image { bytes, facts })
}

fn same(what: &'static str, expected: usize, found: usize) -> Result<(), ImageError> {
    if expected == found {
        Ok(())
    } else {
        Err(ImageError::Incomplete { what, expected, found })
    }
}

/// The image's bytes, in the order of `tactus_abi::image`.
fn write(header: &Header, parts: &Parts, mut layout: Layout, arrays: u64, placed: &Placed) -> Vec<u8> {
    let mut out = Vec::with_capacity(header.bytes as usize);
    header.put(&mut out);
    let mut first_grant = 0;
    for (number, part) in parts.components.iter().enumerate() {
        let grants = part.grants.len() as u32;
        let component = Component {
            name: name(&part.name),
            entry: parts.programs[part.program].entry,
            first_grant,
            grants,
            role: placed.cards[number].role,
            restarted_by: placed.cards[number].restarted_by,
            brands: placed.cards[number].brands,
            lines: placed.lines[number],
            releases: placed.releases[number],
            tick: placed.ticks[number],
            colours: layout.colouring.components[number],
            window_colours: layout.colouring.windows[number],
            sequences: parts.programs[part.program].sequences,
            restart_nanos: placed.cards[number].restart_nanos,
            restarts: placed.cards[number].restarts,
            reserved: 0,
        };
        component.put(&mut out);
        first_grant += grants;
    }
    for grant in parts.components.iter().flat_map(|part| &part.grants) {
        Grant { entry: grant.entry, component: grant.target as u32, reserved: 0 }.put(&mut out);
    }
    for memory in &mut layout.memories {
        if memory.file_bytes > 0 {
            memory.offset += arrays;
        }
        memory.put(&mut out);
    }
    // By object: the kernel makes one object after another, each with all of its mappings.
    layout.mappings.sort_by_key(|mapping| mapping.memory);
    layout.mappings.iter().for_each(|mapping| mapping.put(&mut out));
    for it in &parts.threads {
        Thread { component: it.component, kind: it.kind as u32, number: it.number, place: it.place }.put(&mut out);
    }
    out.resize(arrays as usize, 0);
    out.append(&mut layout.contents);
    out
}

/// What the component is told about itself.
fn info(
    request: &Request,
    parts: &Parts,
    number: usize,
    ((heap_bytes, heap_parts), threads): ((u64, u64), u32),
    ring: u64,
    (placed, told): (&Placed, &Told),
) -> Info {
    let (system, part) = (request.system, &parts.components[number]);
    let mut grants: [Name; MAX_GRANTS] = [[0; NAME_BYTES]; MAX_GRANTS];
    for (stored, grant) in grants.iter_mut().zip(&part.grants) {
        *stored = name(&grant.name);
    }
    let scheduler = part.plans(number);
    let touched = part.tasks.first().map_or(0, |task| system.tasks[task.index()].memory);
    Info {
        component: number as u32,
        grant_count: part.grants.len() as u32,
        cores: system.cores as u32,
        tasks: system.tasks.len() as u32,
        heap_bytes,
        heap_parts,
        plan_bytes: if scheduler { plan_of(request, part).len() as u64 } else { 0 },
        ring_bytes: if scheduler { ring } else { 0 },
        duration: if scheduler { system.duration.as_nanos() } else { 0 },
        touch_bytes: if part.workload { touched } else { 0 },
        instruction_nanos: 1 << system.machine.shift,
        components: if placed.sees_components[number] { parts.components.len() as u32 } else { 0 },
        buffers: placed.buffers[number],
        devices: placed.devices[number],
        colours: system.platform.colours,
        threads,
        ports: told.ports[number],
        processes: told.processes[number],
        counters: u32::from(counted(system, part, number)),
        watched: u32::from(number == SCHEDULER && !system.monitors.is_empty()),
        promised_by_host: if number == SCHEDULER { request.promised_by_host } else { 0 },
        told_bytes: placed.told[number],
        name: name(&part.name),
        system: if scheduler { name(&system.name) } else { [0; NAME_BYTES] },
        grants,
    }
}

/// Whether it has a page of counters; the root scheduler, where servers depend on them.
fn counted(system: &tactus_model::System, part: &Part, number: usize) -> bool {
    let regulates = || system.scheduling.servers.iter().any(|server| server.kind.reads_counters());
    part.user.is_some_and(|place| system.components[place].rights.counters) || (number == SCHEDULER && regulates())
}

/// The policy's set-up for a scheduler.
fn plan_of<'a>(request: &Request<'a>, part: &Part) -> &'a [u8] {
    part.child.map_or(request.plan, |child| &request.children[child].plan)
}

/// The component that raises the task's arrivals.
fn raiser(system: &tactus_model::System, task: usize) -> Option<usize> {
    system.scheduling.places.get(task)?.raised_by
}

/// The cards of all tasks, one after another; then the rows of the events that their jobs signal and await.
fn cards(request: &Request, parts: &Parts) -> Vec<u8> {
    let system = request.system;
    let mut out = Vec::new();
    let mut rows: Vec<u64> = Vec::new();
    for (thread, it) in parts.threads.iter().enumerate() {
        let Some(task) = it.task() else { continue };
        let model = &system.tasks[task.index()];
        let (promise, bound) = match request.promises[task.index()] {
            None => (0, 0),
            Some(Bound::Response(bound)) => (1, bound.as_nanos()),
            Some(Bound::Tardiness(bound)) => (2, bound.as_nanos()),
        };
        let first = rows.len() as u64;
        rows.extend(system.event_rights(task.index()).into_iter().map(EventRight::to_word));
        let card = TaskCard {
            name: name(&model.name),
            component: name(&parts.components[it.component as usize].name),
            home: it.component.into(),
            thread: thread as u64,
            promise,
            bound,
            deadline: model.deadline.as_nanos(),
            minimum: model.minimum.map_or(0, |least| least.as_nanos()),
            level: model.level.map_or(NO_LEVEL, |level| level.index() as u64),
            raiser: raiser(system, task.index()).map_or(NOBODY, |component| parts.numbers[component] as u64),
            line: system.line_of(task).map_or(NOBODY, u64::from),
            calls: quota::calls(system, task.index()),
            arrivals: quota::arrivals(system, task.index()),
            events: first | (rows.len() as u64 - first) << 32,
        };
        card.put(&mut out);
    }
    rows.iter().for_each(|row| row.put(&mut out));
    out
}

/// What the file says of speculative execution, as the kernel reads it.
fn speculation(system: &tactus_model::System) -> u32 {
    let told = system.platform.speculation;
    let bit = |wanted: bool, bit: u32| if wanted { bit } else { 0 };
    bit(told.accepts_meltdown, speculation::ACCEPTS_MELTDOWN) | bit(told.branch_barriers, speculation::BRANCH_BARRIERS)
}
