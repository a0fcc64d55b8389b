//! What lies where: memory objects, mappings and contents as they grow.

use crate::colours::{Colouring, Demand};
use crate::parts::{Part, Parts, SCHEDULER};
use crate::program::{Program, Rights};
use crate::size::{self, pages, SCHEDULER_HEAP, TOLD_HEAP, USER_HEAP};
use crate::wire::Stored;
use crate::{ImageError, StackFact};
use std::collections::BTreeSet;
use std::mem::{offset_of, size_of};
use tactus_abi::image::{Mapping, Memory, MemoryKind, EXECUTABLE, WRITABLE};
use tactus_abi::layout::{
    CARDS, CHILD_PAGE, CHILD_PAGES, COUNTERS, DEMANDS, HEAP, INFO, PAGE, PARENT_PAGE, PARENT_PAGES, PLAN, REGIONS,
    REGION_STRIDE, SECTION_PAGE, SECTION_PAGES, STACKS, STACK_STRIDE, TASK_PAGE, TASK_PAGES, TRACE, WATCHED,
};
use tactus_abi::sandbox::MAILBOXES;
use tactus_abi::shared::{Info, SectionCard, SectionPage, TaskPage, SECTION};
use tactus_abi::slot::label;
use tactus_model::{CriticalSection, System};
use tactus_time::TaskId;

/// A stretch of a program, ready to be mapped.
pub(crate) enum Loaded {
    /// One memory object for all who run the program.
    Shared { memory: u32, address: u64, flags: u32 },
    /// A memory object for each, that begins with the same contents.
    Own { address: u64, bytes: u64, contents: Option<Contents>, flags: u32 },
}

/// A place in [`Layout::contents`].
#[derive(Clone, Copy)]
pub(crate) struct Contents {
    at: u64,
    bytes: u64,
}

/// Memory objects, mappings and contents as they grow. Offsets count from the first contents until all is known.
pub(crate) struct Layout {
    pub colouring: Colouring,
    pub memories: Vec<Memory>,
    pub mappings: Vec<Mapping>,
    pub contents: Vec<u8>,
}

impl Layout {
    pub fn new(colouring: Colouring) -> Layout {
        Layout { colouring, memories: Vec::new(), mappings: Vec::new(), contents: Vec::new() }
    }

    /// A memory object. It has the colours of the component that it is mapped into first.
    pub fn memory(&mut self, kind: MemoryKind, bytes: u64, contents: Option<Contents>) -> u32 {
        let Contents { at: offset, bytes: file_bytes } = contents.unwrap_or(Contents { at: 0, bytes: 0 });
        self.memories.push(Memory { kind: kind as u32, late: 0, bytes, offset, file_bytes, colours: 0 });
        (self.memories.len() - 1) as u32
    }

    /// Pages of mailboxes, from this one on.
    pub fn mailbox(&mut self, first_page: u64, count: u64) -> u32 {
        let number = self.memory(MemoryKind::Mailbox, count * PAGE, None);
        self.memories[number as usize].offset = MAILBOXES + first_page * PAGE;
        number
    }

    pub fn map(&mut self, component: u32, memory: u32, address: u64, flags: u32) {
        let colours = &mut self.memories[memory as usize].colours;
        if *colours == 0 {
            *colours = self.colouring.components[component as usize];
        }
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
    pub fn in_place(&mut self, bytes: &[u8]) -> u32 {
        let length = pages(bytes.len() as u64);
        let contents = self.put(bytes, length);
        let kind = self.read_only();
        self.memory(kind, length, Some(contents))
    }

    /// What holds bytes that nobody writes: where they lie in the image, but where parts have colours of their own, which those of the
    /// image have not.
    fn read_only(&self) -> MemoryKind {
        if self.colouring.assigned {
            MemoryKind::Copied
        } else {
            MemoryKind::InPlace
        }
    }

    /// What one more component sees of an object that nobody writes: the same, or the same in its own colours.
    pub fn again(&mut self, memory: u32) -> u32 {
        if !self.colouring.assigned {
            return memory;
        }
        let copy = Memory { colours: 0, ..self.memories[memory as usize] };
        self.memories.push(copy);
        (self.memories.len() - 1) as u32
    }

    /// Fresh memory, zeroed.
    fn zeros(&mut self, bytes: u64) -> u32 {
        self.memory(MemoryKind::Copied, bytes, None)
    }

    pub fn load(&mut self, program: &Program) -> Vec<Loaded> {
        let stretches = program.stretches.iter().map(|stretch| {
            let (address, bytes) = (stretch.address, stretch.bytes);
            if stretch.rights == Rights::Write {
                let given = &stretch.contents;
                let contents = (!given.is_empty()).then(|| self.put(given, given.len() as u64));
                return Loaded::Own { address, bytes, contents, flags: WRITABLE };
            }
            let contents = self.put(&stretch.contents, bytes);
            let flags = if stretch.rights == Rights::Execute { EXECUTABLE } else { 0 };
            if self.colouring.assigned {
                return Loaded::Own { address, bytes, contents: Some(contents), flags };
            }
            let memory = self.memory(MemoryKind::InPlace, bytes, Some(contents));
            Loaded::Shared { memory, address, flags }
        });
        stretches.collect()
    }

    /// Gives a component its program.
    pub fn instance(&mut self, component: u32, program: &[Loaded]) {
        for stretch in program {
            match *stretch {
                Loaded::Shared { memory, address, flags } => self.map(component, memory, address, flags),
                Loaded::Own { address, bytes, contents, flags } => {
                    let memory = self.memory(MemoryKind::Copied, bytes, contents);
                    self.map(component, memory, address, flags);
                }
            }
        }
    }

    /// Gives a component a page of counters, which whoever counts writes from outside.
    pub fn counters(&mut self, component: u32) {
        let memory = self.zeros(PAGE);
        self.map(component, memory, COUNTERS, 0);
    }

    /// Gives a component its heap; returns the length in bytes, and in how many equal parts it is. `plan` is the length of the policy's set-up, which the
    /// scheduler decodes into its own; `told` that of what a component is told, likewise.
    pub fn heap(
        &mut self,
        component: u32,
        part: &Part,
        system: &System,
        (plan, told): (usize, usize),
    ) -> Result<(u64, u64), ImageError> {
        let tasks = part.tasks.iter().map(|task| &system.tasks[task.index()]);
        let asked = tasks.map(|task| task.memory).fold(0, u64::saturating_add);
        let least = match (part.plans(component as usize), part.workload) {
            (true, _) => SCHEDULER_HEAP + 4 * plan as u64,
            (false, true) => PAGE,
            (false, false) if told > 0 => USER_HEAP + TOLD_HEAP + 4 * told as u64,
            (false, false) => USER_HEAP,
        };
        let is_slot = part.user.is_some_and(|place| system.components[place].slot.is_some());
        if is_slot && part.user.is_none_or(|place| system.components[place].rights.heap == 0) {
            return Ok((0, 0));
        }
        let least = if is_slot { PAGE } else { least };
        let least = part.user.map_or(least, |place| least.max(system.components[place].rights.heap));
        let by_colour = part.user.is_some_and(|place| system.components[place].rights.heap_by_colour);
        let colours = if by_colour { self.colouring.components[component as usize] } else { 0 };
        let parts = u64::from(colours.count_ones()).max(1);
        let (bytes, limit) = (asked.max(least), TRACE - HEAP);
        let each = pages(bytes.div_ceil(parts));
        if each * parts > limit {
            let what = format!("the memory of component {:?}", part.name);
            return Err(ImageError::NoRoom { what, bytes, limit, remedy: "write less memory for its tasks" });
        }
        let mut left = colours;
        for part in 0..parts {
            let memory = self.zeros(each);
            // The lowest that is left; none, where the heap has all of the component's.
            self.memories[memory as usize].colours = left & left.wrapping_neg();
            left &= left.wrapping_sub(1);
            self.map(component, memory, HEAP + part * each, WRITABLE);
        }
        Ok((each * parts, parts))
    }

    pub fn task_pages(
        &mut self,
        parts: &Parts,
        names: &[&str],
        sections: &[Vec<CriticalSection>],
        lines: &[Option<u8>],
    ) {
        // By component: how many of its tasks came before.
        let mut before = vec![0; parts.components.len()];
        for (number, thread) in parts.threads.iter().enumerate() {
            let Some(task) = thread.task() else { continue };
            let before = &mut before[thread.component as usize];
            let index = std::mem::replace(before, *before + 1);
            let (scheduler, end) = parts.ends[task.index()];
            let own = sections.get(task.index()).map_or(&[][..], Vec::as_slice);
            if !own.is_empty() {
                self.section_page(parts, (thread.component, task), own);
            }
            let line = lines.get(task.index()).copied().flatten().map_or(0, |line| u64::from(line) + 1);
            let (complete, sections) = (end as u64, own.len() as u64);
            let name = label(names.get(task.index()).copied().unwrap_or_default());
            let mut bytes = Vec::new();
            TaskPage { complete, sections, line, index, name, ..TaskPage::default() }.put(&mut bytes);
            let contents = self.put(&bytes, bytes.len() as u64);
            let memory = self.memory(MemoryKind::Copied, PAGE, Some(contents));
            let offset = u64::from(task.0) * PAGE;
            self.map(thread.component, memory, TASK_PAGE + thread.places(number).0 * PAGE, 0);
            self.map(scheduler as u32, memory, TASK_PAGES + offset, WRITABLE);
        }
    }

    /// Gives a task the page by which it tells of the resources that it holds.
    fn section_page(&mut self, parts: &Parts, (component, task): (u32, TaskId), sections: &[CriticalSection]) {
        let grant = parts.components[component as usize].grants.iter().position(|grant| grant.name == SECTION);
        let mut words = [0; size_of::<SectionPage>() / 8];
        words[offset_of!(SectionPage, grant) / 8] = grant.unwrap_or(0) as u64;
        let cards = words[offset_of!(SectionPage, sections) / 8..].chunks_exact_mut(size_of::<SectionCard>() / 8);
        for (card, it) in cards.zip(sections) {
            card.copy_from_slice(&[it.resource.into(), it.from.as_nanos(), it.until.as_nanos()]);
        }
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let contents = self.put(&bytes, bytes.len() as u64);
        let memory = self.memory(MemoryKind::Copied, PAGE, Some(contents));
        let offset = u64::from(task.0) * PAGE;
        self.map(component, memory, SECTION_PAGE + offset, WRITABLE);
        self.map(SCHEDULER as u32, memory, SECTION_PAGES + offset, WRITABLE);
    }

    /// Gives each child scheduler its parent's page, and the page with its counts, which the root reads as well.
    pub fn scheduler_pages(&mut self, parts: &Parts) {
        for (component, part) in parts.components.iter().enumerate() {
            let Some(child) = part.child else { continue };
            let memory = self.zeros(PAGE);
            self.map(component as u32, memory, PARENT_PAGE, 0);
            let above = parts.parent_of(child) as u32;
            self.map(above, memory, PARENT_PAGES + component as u64 * PAGE, WRITABLE);
            let memory = self.zeros(PAGE);
            self.map(component as u32, memory, CHILD_PAGE, WRITABLE);
            for reader in [above, SCHEDULER as u32].into_iter().take(if above == SCHEDULER as u32 { 1 } else { 2 }) {
                self.map(reader, memory, CHILD_PAGES + component as u64 * PAGE, 0);
            }
        }
    }

    pub fn demands(&mut self, parts: &Parts, system: &System) -> Result<(), ImageError> {
        for thread in &parts.threads {
            let Some(task) = thread.task() else { continue };
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
    pub fn stacks(&mut self, parts: &Parts, cores: usize) -> Vec<StackFact> {
        let mut stacks = Vec::new();
        for (number, thread) in parts.threads.iter().enumerate() {
            debug_assert!(number >= cores || thread.component as usize == SCHEDULER);
            for component in parts.calls.reachable(thread.component as usize) {
                let bytes = parts.components[component].stack;
                let at_home = component == thread.component as usize;
                let place = if at_home { thread.places(number).1 } else { number as u64 };
                let top = STACKS + (place + 1) * STACK_STRIDE;
                let memory = self.zeros(bytes);
                self.map(component as u32, memory, top - bytes, WRITABLE);
                stacks.push(StackFact { thread: number as u32, component: component as u32, top, bytes });
            }
        }
        stacks
    }

    /// What only schedulers see, but for the trace: to each its plan, the tasks' cards to all. The root's comes first.
    pub fn scheduler_tables(&mut self, cores: usize, plans: &[(usize, &[u8])], cards: &[u8]) -> Result<(), ImageError> {
        self.regions(SCHEDULER as u32, cores);
        for (scheduler, plan) in plans {
            let (bytes, limit) = (plan.len() as u64, CARDS - PLAN);
            if bytes > limit {
                let what = "the policy's set-up".to_string();
                let remedy = "choose periods with a shorter common multiple, so that level-A tables get shorter";
                return Err(ImageError::NoRoom { what, bytes, limit, remedy });
            }
            if !plan.is_empty() {
                let memory = self.in_place(plan);
                self.map(*scheduler as u32, memory, PLAN, 0);
            }
        }
        if !cards.is_empty() {
            let memory = self.in_place(cards);
            for (number, (scheduler, _)) in plans.iter().enumerate() {
                let memory = if number == 0 { memory } else { self.again(memory) };
                self.map(*scheduler as u32, memory, CARDS, 0);
            }
        }
        Ok(())
    }

    /// How many pages are filled again when the component is restarted.
    pub fn restored_pages(&self, component: usize) -> u64 {
        let own = self.mappings.iter().filter(|it| it.component as usize == component && it.flags == WRITABLE);
        let memories = own.map(|it| &self.memories[it.memory as usize]);
        memories.filter(|it| it.kind == MemoryKind::Copied as u32).map(|it| it.bytes / PAGE).sum()
    }

    /// The monitors: the kernel's part, which nobody maps, and the root's page.
    pub fn monitors(&mut self, kernel: &[u8], root: &[u8]) {
        if kernel.is_empty() {
            return;
        }
        let length = pages(kernel.len() as u64);
        let contents = self.put(kernel, length);
        let memory = self.memory(MemoryKind::Monitors, length, Some(contents));
        self.memories[memory as usize].colours = self.colouring.kernel;
        let page = self.in_place(root);
        self.map(SCHEDULER as u32, page, WATCHED, 0);
    }

    /// Gives a scheduler what it shares with the kernel, for each core.
    pub fn regions(&mut self, component: u32, cores: usize) {
        let regions = self.memory(MemoryKind::Regions, cores as u64 * REGION_STRIDE, None);
        self.map(component, regions, REGIONS, WRITABLE);
    }

    /// Gives a component the page that tells it about itself; returns the place of the contents, still empty.
    pub fn reserve_info(&mut self, component: u32) -> usize {
        let at = self.contents.len();
        let memory = self.in_place(&[0; Info::BYTES]);
        self.map(component, memory, INFO, 0);
        at
    }

    pub fn array_bytes(&self) -> u64 {
        (self.memories.len() * Memory::BYTES + self.mappings.len() * Mapping::BYTES) as u64
    }

    /// Memory that the kernel has to find beside the image and the trace: what is copied, and page tables but the trace's.
    pub fn fresh_bytes(&self, components: usize) -> u64 {
        const ELSEWHERE: [u32; 6] = [
            MemoryKind::InPlace as u32,
            MemoryKind::Monitors as u32,
            MemoryKind::Trace as u32,
            MemoryKind::Device as u32,
            MemoryKind::Pci as u32,
            MemoryKind::Mailbox as u32,
        ];
        let kept = |memory: &&Memory| !ELSEWHERE.contains(&memory.kind);
        let frames: u64 = self.memories.iter().filter(kept).map(|memory| memory.bytes).sum();
        frames + (self.tables().len() as u64 + components as u64) * PAGE
    }

    /// One table for each 2 MiB, 1 GiB and 512 GiB that holds a mapping: the component, which of these, the place.
    fn tables(&self) -> BTreeSet<(u32, u32, u64)> {
        let mut tables = BTreeSet::new();
        for mapping in self.mappings.iter().filter(|it| it.address != TRACE) {
            let last = mapping.address + self.memories[mapping.memory as usize].bytes.max(PAGE) - 1;
            for shift in [21, 30, 39] {
                tables
                    .extend((mapping.address >> shift..=last >> shift).map(|place| (mapping.component, shift, place)));
            }
        }
        tables
    }

    /// How many frames of each colour the kernel has to find for memory and page tables. By component: who may restart it.
    pub fn demand(&self, restarted_by: &[u32]) -> Demand {
        let mut demand = Demand::new(&self.colouring);
        let mut seen_by = vec![None; self.memories.len()];
        for it in &self.mappings {
            seen_by[it.memory as usize].get_or_insert(it.component as usize);
        }
        demand.objects(&self.memories, &seen_by, restarted_by);
        for (component, bits) in self.colouring.components.iter().enumerate() {
            let own = self.tables().iter().filter(|(of, ..)| *of as usize == component).count();
            demand.add(*bits, own as u64 + 1, Some(component));
        }
        demand
    }
}
