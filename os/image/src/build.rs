//! Lays an image out: every component, thread, grant and page that exists when the system starts.

use crate::program::{Program, Rights};
use crate::reach::Calls;
use crate::size::{self, pages, SCHEDULER_HEAP, SYSTEM_STACK, USER_HEAP, USER_STACK};
use crate::wire::Stored;
use crate::{Facts, Image, ImageError, Promise, Request, StackFact, ThreadFact};
use std::collections::BTreeSet;
use std::path::PathBuf;
use tactus_abi::image::{
    Component, Grant, Header, Mapping, Memory, MemoryKind, Thread, EXECUTABLE, MAGIC, VERSION, WRITABLE,
};
use tactus_abi::layout::{
    CARDS, CLOCK, DEMANDS, HEAP, INFO, MAX_COMPONENTS, MAX_GRANTS, MAX_INVOCATIONS, MAX_THREADS, PAGE, PLAN, REGIONS,
    STACKS, STACK_STRIDE, TASK_PAGE, TASK_PAGES, TRACE,
};
use tactus_abi::shared::{name, Info, Name, TaskCard, NAME_BYTES};
use tactus_model::{Body, System};
use tactus_record::{RECORD_BYTES, RING_HEADER_BYTES};
use tactus_time::TaskId;

/// The scheduler's service by which a task's thread says that its job is finished; grant 0 of every component but
/// the scheduler.
pub(crate) const COMPLETE: &str = "complete";
/// The component that is the root scheduler.
const SCHEDULER: usize = 0;
/// Keeps the PIT at about 100 kHz, so that an emulated core's turn stays short while others wait.
const TURN_DIVISOR: u32 = 12;
/// "No task" in a thread, "no level" in a card.
const NO_TASK: u32 = u32::MAX;
const NO_LEVEL: u64 = 255;

/// Builds the boot image.
///
/// # Errors
/// If a program cannot be loaded, a service is missing, grants lead in a circle or too deep, or something does not
/// fit: into the addresses kept for it, into the tables of an image, or into the machine's memory.
pub fn build(request: &Request) -> Result<Image, ImageError> {
    let system = request.system;
    same("promises, one for each task", system.tasks.len(), request.promises.len())?;
    same("programs, one for each component", system.components.len(), request.components.len())?;

    let parts = Parts::new(request)?;
    let mut layout = Layout::default();
    // The first object: the kernel takes the trace's place before it hands out any frame.
    let trace = layout.memory(MemoryKind::Trace, 0, None);
    layout.map(SCHEDULER as u32, trace, TRACE, WRITABLE);
    let programs: Vec<Vec<Loaded>> = parts.programs.iter().map(|program| layout.load(program)).collect();
    let clock = layout.memory(MemoryKind::Clock, PAGE, None);
    let mut heaps = Vec::new();
    for (number, part) in parts.components.iter().enumerate() {
        let component = number as u32;
        layout.instance(component, &programs[part.program]);
        layout.map(component, clock, CLOCK, 0);
        heaps.push(layout.heap(component, part, system)?);
    }
    layout.task_pages(&parts);
    layout.demands(&parts, system)?;
    let stacks = layout.stacks(&parts, system.cores);
    layout.scheduler_tables(request, &parts)?;

    // The trace takes what is left; how much is left depends on the lengths of all that has been laid out.
    let infos: Vec<usize> = (0..parts.components.len()).map(|number| layout.reserve_info(number as u32)).collect();
    let arrays = pages(parts.array_bytes() + layout.array_bytes());
    let image_bytes = arrays + layout.contents.len() as u64;
    let place = size::place(system, image_bytes, layout.fresh_bytes(parts.components.len()))?;
    layout.memories[trace as usize].bytes = place.ring * system.cores as u64;

    for (number, at) in infos.into_iter().enumerate() {
        let info = parts.info(request, number, heaps[number], place.ring);
        let mut bytes = Vec::with_capacity(Info::BYTES);
        info.put(&mut bytes);
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
        turn_divisor: if system.cores > 1 { TURN_DIVISOR } else { 0 },
        trace_address: place.trace,
        bytes: image_bytes,
    };
    let bytes = write(&header, &parts, layout, arrays);
    let facts = Facts {
        components: parts.components.into_iter().map(|part| part.name).collect(),
        threads: parts.threads,
        stacks,
        image_bytes,
        memory_needed: place.needed,
        trace_address: place.trace,
        ring_bytes: place.ring,
        ring_records: (place.ring - RING_HEADER_BYTES as u64) / RECORD_BYTES as u64,
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
fn write(header: &Header, parts: &Parts, mut layout: Layout, arrays: u64) -> Vec<u8> {
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
            scheduler: u32::from(number == SCHEDULER),
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
    for thread in &parts.threads {
        let task = thread.task.map_or(NO_TASK, |task| u32::from(task.0));
        Thread { component: thread.component, task }.put(&mut out);
    }
    out.resize(arrays as usize, 0);
    out.append(&mut layout.contents);
    out
}

/// A component of the image before it has memory.
struct Part {
    name: String,
    /// Which of [`Parts::programs`] it runs.
    program: usize,
    /// The tasks whose jobs it runs.
    tasks: Vec<TaskId>,
    grants: Vec<Granted>,
    stack: u64,
    workload: bool,
}

struct Granted {
    name: String,
    target: usize,
    entry: u64,
}

/// Components, threads and grants.
struct Parts {
    /// Scheduler, workload, then the user's.
    programs: Vec<Program>,
    components: Vec<Part>,
    threads: Vec<ThreadFact>,
    calls: Calls,
}

impl Parts {
    fn new(request: &Request) -> Result<Parts, ImageError> {
        let system = request.system;
        let read = |file: &[u8], component: &str, crate_path: Option<PathBuf>| {
            let failed = |error| ImageError::Program { component: component.to_string(), crate_path, error };
            Program::read(file, system.memory).map_err(failed)
        };
        let mut programs = vec![
            read(request.scheduler, "built-in scheduler", None)?,
            read(request.workload, "built-in workload", None)?,
        ];
        for (component, file) in system.components.iter().zip(request.components) {
            programs.push(read(file, &component.name, Some(component.path.clone()))?);
        }
        for (component, program) in system.components.iter().zip(&programs[2..]) {
            if let Some(service) = component.provides.iter().find(|service| program.service(service).is_none()) {
                return Err(missing(
                    &component.name,
                    Some(component.path.clone()),
                    service,
                    Some(component.line),
                    program,
                ));
            }
        }
        let complete = programs[SCHEDULER]
            .service(COMPLETE)
            .ok_or_else(|| missing("built-in scheduler", None, COMPLETE, None, &programs[SCHEDULER]))?;

        let part = |name: &str, program: usize, stack: u64| {
            let complete = Granted { name: COMPLETE.to_string(), target: SCHEDULER, entry: complete };
            let grants = if program == SCHEDULER { Vec::new() } else { vec![complete] };
            Part { name: name.to_string(), program, tasks: Vec::new(), grants, stack, workload: program == 1 }
        };
        let mut components = vec![part("scheduler", 0, SYSTEM_STACK)];
        for task in system.tasks.iter().filter(|task| task.body == Body::Workload) {
            components.push(part(&task.name, 1, SYSTEM_STACK));
        }
        let first_user = components.len();
        for (place, component) in system.components.iter().enumerate() {
            components.push(part(&component.name, 2 + place, USER_STACK));
        }
        most("components", components.len(), MAX_COMPONENTS)?;

        let mut threads = vec![ThreadFact { component: SCHEDULER as u32, task: None }; system.cores];
        let mut workload = 1..first_user;
        for (index, task) in system.tasks.iter().enumerate() {
            let component = match task.body {
                Body::Component(place) => first_user + place,
                Body::Workload => workload.next().expect("one component was made for each such task"),
            };
            components[component].tasks.push(TaskId(index as u16));
            threads.push(ThreadFact { component: component as u32, task: Some(TaskId(index as u16)) });
        }
        most("threads", threads.len(), MAX_THREADS)?;

        for (place, component) in system.components.iter().enumerate() {
            let granted = grants(system, component, first_user, &programs)?;
            components[first_user + place].grants.extend(granted);
        }
        let targets = |part: &Part| part.grants.iter().map(|grant| grant.target).collect();
        let calls = Calls(components.iter().map(targets).collect());
        let parts = Parts { programs, components, threads, calls };
        let names = |chain: Vec<usize>| chain.into_iter().map(|c| parts.components[c].name.clone()).collect();
        if let Some(circle) = parts.calls.circle() {
            let line = circle[0].checked_sub(first_user).map_or(0, |place| system.components[place].line);
            return Err(ImageError::Circle { names: names(circle), line });
        }
        let chain = parts.calls.longest_chain();
        if chain.len() > MAX_INVOCATIONS {
            return Err(ImageError::TooDeep { names: names(chain) });
        }
        Ok(parts)
    }

    /// Length of the arrays that this describes, and of the head.
    fn array_bytes(&self) -> u64 {
        let grants: usize = self.components.iter().map(|part| part.grants.len()).sum();
        let components = self.components.len() * Component::BYTES;
        (Header::BYTES + components + grants * Grant::BYTES + self.threads.len() * Thread::BYTES) as u64
    }

    /// What the component is told about itself.
    fn info(&self, request: &Request, number: usize, heap: u64, ring: u64) -> Info {
        let (system, part) = (request.system, &self.components[number]);
        let mut grants: [Name; MAX_GRANTS] = [[0; NAME_BYTES]; MAX_GRANTS];
        for (stored, grant) in grants.iter_mut().zip(&part.grants) {
            *stored = name(&grant.name);
        }
        let scheduler = number == SCHEDULER;
        let touched = part.tasks.first().map_or(0, |task| system.tasks[task.index()].memory);
        Info {
            component: number as u32,
            grant_count: part.grants.len() as u32,
            cores: system.cores as u32,
            tasks: system.tasks.len() as u32,
            heap_bytes: heap,
            plan_bytes: if scheduler { request.plan.len() as u64 } else { 0 },
            ring_bytes: if scheduler { ring } else { 0 },
            duration: if scheduler { system.duration.as_nanos() } else { 0 },
            touch_bytes: if part.workload { touched } else { 0 },
            name: name(&part.name),
            system: if scheduler { name(&system.name) } else { [0; NAME_BYTES] },
            grants,
        }
    }
}

fn most(what: &'static str, count: usize, limit: usize) -> Result<(), ImageError> {
    if count <= limit {
        Ok(())
    } else {
        Err(ImageError::TooMany { what, count, limit })
    }
}

fn missing(
    component: &str,
    crate_path: Option<PathBuf>,
    service: &str,
    line: Option<usize>,
    program: &Program,
) -> ImageError {
    let provided = program.services.iter().map(|(name, _)| name.clone()).collect();
    ImageError::MissingService {
        component: component.to_string(),
        crate_path,
        service: service.to_string(),
        line,
        provided,
    }
}

/// What the system file grants to one of the user's components, in the file's order.
fn grants(
    system: &System,
    component: &tactus_model::Component,
    first_user: usize,
    programs: &[Program],
) -> Result<Vec<Granted>, ImageError> {
    let (holder, line) = (component.name.clone(), component.line);
    if component.uses.len() > MAX_GRANTS - 1 {
        return Err(ImageError::TooManyGrants { component: holder, line, grants: component.uses.len() });
    }
    let mut names = BTreeSet::from([COMPLETE]);
    let mut granted = Vec::new();
    for grant in &component.uses {
        let name = grant.name.clone();
        if name.len() > NAME_BYTES {
            return Err(ImageError::LongGrantName { component: holder, line, name });
        }
        if !names.insert(&grant.name) {
            return Err(ImageError::DuplicateGrant { component: holder, line, name });
        }
        let provider = &system.components[grant.provider];
        let program = &programs[2 + grant.provider];
        if !provider.provides.contains(&grant.service) {
            let (provider, service) = (provider.name.clone(), grant.service.clone());
            return Err(ImageError::NotProvided { component: holder, provider, service, line });
        }
        let entry = program
            .service(&grant.service)
            .ok_or_else(|| missing(&provider.name, Some(provider.path.clone()), &grant.service, Some(line), program))?;
        granted.push(Granted { name, target: first_user + grant.provider, entry });
    }
    Ok(granted)
}

/// A stretch of a program, ready to be mapped.
enum Loaded {
    /// One memory object for all who run the program.
    Shared { memory: u32, address: u64, flags: u32 },
    /// A memory object for each, that begins with the same contents.
    Own { address: u64, bytes: u64, contents: Option<Contents> },
}

/// A place in [`Layout::contents`].
#[derive(Clone, Copy)]
struct Contents {
    at: u64,
    bytes: u64,
}

/// Memory objects, mappings and contents as they grow. Offsets count from the first contents until all is known.
#[derive(Default)]
struct Layout {
    memories: Vec<Memory>,
    mappings: Vec<Mapping>,
    contents: Vec<u8>,
}

impl Layout {
    fn memory(&mut self, kind: MemoryKind, bytes: u64, contents: Option<Contents>) -> u32 {
        let Contents { at: offset, bytes: file_bytes } = contents.unwrap_or(Contents { at: 0, bytes: 0 });
        self.memories.push(Memory { kind: kind as u32, reserved: 0, bytes, offset, file_bytes });
        (self.memories.len() - 1) as u32
    }

    fn map(&mut self, component: u32, memory: u32, address: u64, flags: u32) {
        self.mappings.push(Mapping { component, memory, address, flags, reserved: 0 });
    }

    /// Puts bytes at the next page of the contents and fills that up with zeros to `length`.
    fn put(&mut self, bytes: &[u8], length: u64) -> Contents {
        let at = self.contents.len();
        self.contents.extend_from_slice(bytes);
        self.contents.resize(at + pages(length) as usize, 0);
        Contents { at: at as u64, bytes: length }
    }

    /// A read-only object that holds these bytes.
    fn in_place(&mut self, bytes: &[u8]) -> u32 {
        let length = pages(bytes.len() as u64);
        let contents = self.put(bytes, length);
        self.memory(MemoryKind::InPlace, length, Some(contents))
    }

    /// Fresh memory, zeroed.
    fn zeros(&mut self, bytes: u64) -> u32 {
        self.memory(MemoryKind::Copied, bytes, None)
    }

    fn load(&mut self, program: &Program) -> Vec<Loaded> {
        let stretches = program.stretches.iter().map(|stretch| {
            let (address, bytes) = (stretch.address, stretch.bytes);
            if stretch.rights == Rights::Write {
                let given = &stretch.contents;
                let contents = (!given.is_empty()).then(|| self.put(given, given.len() as u64));
                return Loaded::Own { address, bytes, contents };
            }
            let contents = self.put(&stretch.contents, bytes);
            let memory = self.memory(MemoryKind::InPlace, bytes, Some(contents));
            let flags = if stretch.rights == Rights::Execute { EXECUTABLE } else { 0 };
            Loaded::Shared { memory, address, flags }
        });
        stretches.collect()
    }

    /// Gives a component its program.
    fn instance(&mut self, component: u32, program: &[Loaded]) {
        for stretch in program {
            match *stretch {
                Loaded::Shared { memory, address, flags } => self.map(component, memory, address, flags),
                Loaded::Own { address, bytes, contents } => {
                    let memory = self.memory(MemoryKind::Copied, bytes, contents);
                    self.map(component, memory, address, WRITABLE);
                }
            }
        }
    }

    /// Gives a component its heap; returns the length in bytes.
    fn heap(&mut self, component: u32, part: &Part, system: &System) -> Result<u64, ImageError> {
        let tasks = part.tasks.iter().map(|task| &system.tasks[task.index()]);
        let asked = tasks.map(|task| task.memory).fold(0, u64::saturating_add);
        let least = match (component as usize == SCHEDULER, part.workload) {
            (true, _) => SCHEDULER_HEAP,
            (false, true) => PAGE,
            (false, false) => USER_HEAP,
        };
        let (bytes, limit) = (asked.max(least), TRACE - HEAP);
        if bytes > limit {
            let what = format!("the memory of component {:?}", part.name);
            return Err(ImageError::NoRoom { what, bytes, limit, remedy: "write less memory for its tasks" });
        }
        let memory = self.zeros(pages(bytes));
        self.map(component, memory, HEAP, WRITABLE);
        Ok(pages(bytes))
    }

    fn task_pages(&mut self, parts: &Parts) {
        for thread in &parts.threads {
            let Some(task) = thread.task else { continue };
            let memory = self.zeros(PAGE);
            let offset = u64::from(task.0) * PAGE;
            self.map(thread.component, memory, TASK_PAGE + offset, 0);
            self.map(SCHEDULER as u32, memory, TASK_PAGES + offset, WRITABLE);
        }
    }

    fn demands(&mut self, parts: &Parts, system: &System) -> Result<(), ImageError> {
        for thread in &parts.threads {
            let Some(task) = thread.task else { continue };
            if !parts.components[thread.component as usize].workload {
                continue;
            }
            let spare = system.memory.saturating_sub(self.contents.len() as u64);
            let words = size::demands(system, task, spare)?;
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            let memory = self.in_place(&bytes);
            self.map(thread.component, memory, DEMANDS, 0);
        }
        Ok(())
    }

    /// Gives every thread a stack in every component that it can be inside of.
    fn stacks(&mut self, parts: &Parts, cores: usize) -> Vec<StackFact> {
        let mut stacks = Vec::new();
        for (number, thread) in parts.threads.iter().enumerate() {
            debug_assert!(number >= cores || thread.component as usize == SCHEDULER);
            let top = STACKS + (number as u64 + 1) * STACK_STRIDE;
            for component in parts.calls.reachable(thread.component as usize) {
                let bytes = parts.components[component].stack;
                let memory = self.zeros(bytes);
                self.map(component as u32, memory, top - bytes, WRITABLE);
                stacks.push(StackFact { thread: number as u32, component: component as u32, top, bytes });
            }
        }
        stacks
    }

    /// What only the scheduler sees, but for the trace.
    fn scheduler_tables(&mut self, request: &Request, parts: &Parts) -> Result<(), ImageError> {
        let scheduler = SCHEDULER as u32;
        let cores = request.system.cores as u64;
        let regions = self.memory(MemoryKind::Regions, cores * PAGE, None);
        self.map(scheduler, regions, REGIONS, WRITABLE);
        let (bytes, limit) = (request.plan.len() as u64, CARDS - PLAN);
        if bytes > limit {
            let what = "the policy's set-up".to_string();
            let remedy = "choose periods with a shorter common multiple, so that level-A tables get shorter";
            return Err(ImageError::NoRoom { what, bytes, limit, remedy });
        }
        if bytes > 0 {
            let plan = self.in_place(request.plan);
            self.map(scheduler, plan, PLAN, 0);
        }
        let cards = cards(request, parts);
        if !cards.is_empty() {
            let cards = self.in_place(&cards);
            self.map(scheduler, cards, CARDS, 0);
        }
        Ok(())
    }

    /// Gives a component the page that tells it about itself; returns the place of the contents, still empty.
    fn reserve_info(&mut self, component: u32) -> usize {
        let at = self.contents.len();
        let memory = self.in_place(&[0; Info::BYTES]);
        self.map(component, memory, INFO, 0);
        at
    }

    fn array_bytes(&self) -> u64 {
        (self.memories.len() * Memory::BYTES + self.mappings.len() * Mapping::BYTES) as u64
    }

    /// Memory that the kernel has to find beside the image and the trace: what is copied, and page tables.
    fn fresh_bytes(&self, components: usize) -> u64 {
        let kept =
            |memory: &&Memory| memory.kind != MemoryKind::InPlace as u32 && memory.kind != MemoryKind::Trace as u32;
        let frames: u64 = self.memories.iter().filter(kept).map(|memory| memory.bytes).sum();
        // One table for each 2 MiB, 1 GiB and 512 GiB that holds a mapping, and one root for each component.
        let mut tables = BTreeSet::new();
        for mapping in &self.mappings {
            let last = mapping.address + self.memories[mapping.memory as usize].bytes.max(PAGE) - 1;
            for shift in [21, 30, 39] {
                tables
                    .extend((mapping.address >> shift..=last >> shift).map(|place| (mapping.component, shift, place)));
            }
        }
        // The length of the trace is not known yet: tables for the longest.
        let trace = (STACKS - TRACE) >> 21;
        frames + (tables.len() as u64 + trace + components as u64) * PAGE
    }
}

/// The cards of all tasks, one after another.
fn cards(request: &Request, parts: &Parts) -> Vec<u8> {
    let system = request.system;
    let mut out = Vec::new();
    for (thread, it) in parts.threads.iter().enumerate() {
        let Some(task) = it.task else { continue };
        let model = &system.tasks[task.index()];
        let (promise, bound) = match request.promises[task.index()] {
            Promise::None => (0, 0),
            Promise::Response(bound) => (1, bound.as_nanos()),
            Promise::Tardiness(bound) => (2, bound.as_nanos()),
        };
        let card = TaskCard {
            name: name(&model.name),
            component: name(&parts.components[it.component as usize].name),
            thread: thread as u64,
            promise,
            bound,
            deadline: model.deadline.as_nanos(),
            level: model.level.map_or(NO_LEVEL, |level| level.index() as u64),
        };
        card.put(&mut out);
    }
    out
}
