//! Address spaces: what lies where, who may write what, and who has a stack in which component.

use super::fault::{rule, Part, VerifyError};
use super::platform;
use crate::parsed::Parsed;
use tactus_abi::image::{role, Interleaved, Mapping, MemoryKind, EXECUTABLE, WRITABLE};
use tactus_abi::layout::{
    BUFFERS, CARDS, CHANNELS, CHANNEL_STRIDE, CHILD_PAGE, CHILD_PAGES, CLOCK, COMPONENTS, COUNTERS, DEMANDS, DEVICES,
    DEVICE_CARDS, DEVICE_CONFIGURATION, DEVICE_DMA, DEVICE_STRIDE, HEAP, INFO, MAX_CHANNELS, MAX_THREADS, PAGE,
    PARENT_PAGE, PARENT_PAGES, PARTITION, PLAN, PORT_CARDS, PROGRAM, REGIONS, REGION_STRIDE, SECTION_PAGE,
    SECTION_PAGES, STACKS, STACK_STRIDE, TASK_PAGE, TASK_PAGES, TOLD, TRACE, WATCHED,
};
use tactus_abi::sandbox::{MAILBOXES, MAILBOX_PAGES};
use tactus_model::every_colour;

/// What a mapping is for, as its address tells.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Use {
    Program,
    Info,
    Clock,
    Counters,
    /// A task's page as its component sees it.
    TaskPage(usize),
    /// A task's page as the scheduler sees it.
    TaskPageWritten(usize),
    /// The page by which a task tells of the resources that it holds, as its component sees it.
    SectionPage(usize),
    /// The same as the scheduler sees it.
    SectionPageRead(usize),
    /// The page by which a scheduler is told of its cores.
    ParentPage,
    /// The same as the one above sees it, for the component with this number.
    ParentPageWritten(usize),
    /// The page by which a scheduler tells the one above.
    ChildPage,
    /// The same as the one above sees it, for the component with this number.
    ChildPageRead(usize),
    Regions,
    Plan,
    Cards,
    Demands,
    Heap,
    Trace,
    /// The stack of the thread with this number.
    Stack(usize),
    Components,
    Buffers,
    DeviceCards,
    Setup,
    PortCards,
    Partition,
    /// What the source of this channel writes.
    Messages(usize),
    /// What the destination of this channel writes.
    Taken(usize),
    /// A device's own memory.
    Device,
    /// Memory that a device reads and writes.
    Dma,
    /// What a device says of itself.
    Configuration,
    /// The events that the root tells monitors of.
    Watched,
}

/// The most that an image may ask of memory in one object (bytes): keeps sums of addresses in range.
const LONGEST: u64 = 1 << 40;

pub(super) fn memories(image: &Parsed) -> Result<(), VerifyError> {
    let cores = u64::from(image.header.cores);
    let first = image.array_bytes.div_ceil(PAGE) * PAGE;
    let mut ranges = Vec::new();
    let mut made = [0; 11];
    let mut traced = 0;
    for (number, it) in image.memories.iter().enumerate() {
        let check = |holds, text| rule(holds, Part::Memory, number, text);
        check(it.late <= u32::from(it.kind == MemoryKind::Copied as u32), "is filled late, and is no copy")?;
        let every = every_colour(image.header.colours);
        check(it.colours != 0 && it.colours & !every == 0, "has no colour, or one that there is not")?;
        check(it.bytes > 0 && it.bytes % PAGE == 0, "has a length that is no whole number of pages")?;
        check(it.bytes <= LONGEST, "is longer than any memory")?;
        check(it.offset % PAGE == 0, "has contents that are not page-aligned")?;
        check(it.file_bytes <= it.bytes, "has more contents than memory")?;
        if it.file_bytes == 0 {
            let named = it.kind >= MemoryKind::Trace as u32;
            check(named || it.offset == 0, "has no contents, but a place for them")?;
        } else {
            check(it.offset >= first, "has contents that lie within the image's arrays")?;
            let end = it.offset.checked_add(it.file_bytes);
            check(end.is_some_and(|end| end <= image.header.bytes), "has contents that lie outside the image")?;
            ranges.push((it.offset, it.offset + it.file_bytes.div_ceil(PAGE) * PAGE, it.kind, number));
        }
        const IN_PLACE: u32 = MemoryKind::InPlace as u32;
        const COPIED: u32 = MemoryKind::Copied as u32;
        const CLOCK_PAGE: u32 = MemoryKind::Clock as u32;
        const REGION_PAGES: u32 = MemoryKind::Regions as u32;
        const RINGS: u32 = MemoryKind::Trace as u32;
        const MONITORS: u32 = MemoryKind::Monitors as u32;
        const MAILBOX: u32 = MemoryKind::Mailbox as u32;
        match it.kind {
            MAILBOX => {
                check(it.file_bytes == 0, "is a mailbox's and has contents")?;
                let end = it.offset.saturating_add(it.bytes);
                let there = it.offset >= MAILBOXES && end <= MAILBOXES + MAILBOX_PAGES as u64 * PAGE;
                check(there, "is a mailbox's and lies where no mailbox does")?;
            }
            IN_PLACE | MONITORS => check(it.file_bytes == it.bytes, "lies in the image, but not all of it does")?,
            COPIED => {}
            CLOCK_PAGE | REGION_PAGES | RINGS => {
                check(it.file_bytes == 0, "is made by the kernel and has contents")?;
                let length = match it.kind {
                    CLOCK_PAGE => it.bytes == PAGE,
                    REGION_PAGES => it.bytes == cores * REGION_STRIDE,
                    _ => it.bytes % (cores * PAGE) == 0,
                };
                check(length, "is made by the kernel and has another length than the layout says")?;
                if it.kind == RINGS {
                    // The parts lie one behind the other, before all other memory.
                    check(
                        it.offset == traced && made[RINGS as usize] == number,
                        "is a part of the trace out of its place",
                    )?;
                    traced +=
                        Interleaved { bits: it.colours, colours: image.header.colours }.extent(it.bytes / PAGE) * PAGE;
                }
            }
            _ => platform::memory(number, it)?,
        }
        made[it.kind as usize] += 1;
    }
    let schedulers = image.components.iter().filter(|it| it.role & (role::ROOT | role::SCHEDULER) != 0).count();
    let traces = (0..image.components.len()).filter(|number| platform::plans(image, *number)).count();
    let monitors = made[MemoryKind::Monitors as usize];
    rule(monitors <= 1, Part::Header, 0, "has the monitors of several systems")?;
    let traces = traces + monitors;
    for (kind, count) in [(MemoryKind::Clock, 1), (MemoryKind::Regions, schedulers), (MemoryKind::Trace, traces)] {
        let text = "counts no clock, regions or trace, or more of them than belong there";
        rule(made[kind as usize] == count, Part::Header, 0, text)?;
    }
    // Copies may begin with the same contents; nothing else may overlap.
    ranges.sort_unstable();
    for pair in ranges.windows(2) {
        let ((start, end, kind, _), (next, next_end, next_kind, number)) = (pair[0], pair[1]);
        let copies = kind == MemoryKind::Copied as u32 && next_kind == kind;
        let holds = end <= next || copies && (start, end) == (next, next_end);
        rule(holds, Part::Memory, number, "has contents that are another's too")?;
    }
    Ok(())
}

/// Checks each mapping by itself, and that those of one component do not overlap. What each is for, in their order.
pub(super) fn mappings(image: &Parsed) -> Result<Vec<Use>, VerifyError> {
    let mut uses = Vec::new();
    let mut ranges = Vec::new();
    let apart = platform::is_apart(image);
    // Whether an object has the colours of somebody who sees it.
    let mut colours = vec![false; image.memories.len()];
    for (number, it) in image.mappings.iter().enumerate() {
        let check = |holds, text| rule(holds, Part::Mapping, number, text);
        check((it.component as usize) < image.components.len(), "belongs to a component that there is not")?;
        check((it.memory as usize) < image.memories.len(), "shows a memory object that there is not")?;
        check(it.reserved == 0, "has something where zero belongs")?;
        check(it.address % PAGE == 0, "is not page-aligned")?;
        check(it.flags & !(WRITABLE | EXECUTABLE) == 0, "has rights that there are not")?;
        check(it.flags != WRITABLE | EXECUTABLE, "can be written and executed")?;
        let bytes = image.memories[it.memory as usize].bytes;
        let use_of = classify(image, it, bytes);
        check(use_of.is_some(), "lies where the layout has no place for it")?;
        let Some(it_is) = use_of else { continue };
        let object = &image.memories[it.memory as usize];
        let late = image.components[it.component as usize].role & role::LATE != 0 && it.flags == WRITABLE;
        check(object.late == 0 || late, "is filled late, and seen before")?;
        let memory = object.kind;
        let (kind, flags) = expected(it_is, it.flags, memory);
        // The image's own frames have any colour.
        let kind = if apart && kind == MemoryKind::InPlace { MemoryKind::Copied } else { kind };
        let own = image.components[it.component as usize].colours;
        let part = it_is == Use::Heap && object.colours & !own == 0;
        let kernels = it_is == Use::Clock && object.colours == image.header.kernel_colours;
        let sees = object.colours == own || part || kernels;
        colours[it.memory as usize] |= sees;
        check(memory == kind as u32, "shows memory of another kind than belongs there")?;
        check(it.flags == flags, "has other rights than belong there")?;
        uses.push(it_is);
        ranges.push((it.component, it.address, it.address + bytes, number));
    }
    for (number, foreign) in colours.iter().map(|own| !own).enumerate() {
        let seen = image.mappings.iter().any(|it| it.memory as usize == number);
        rule(!seen || !foreign, Part::Memory, number, "has colours of nobody who sees it")?;
    }
    ranges.sort_unstable();
    for pair in ranges.windows(2) {
        let apart = pair[0].0 != pair[1].0 || pair[0].2 <= pair[1].1;
        rule(apart, Part::Mapping, pair[1].3, "lies on top of another one")?;
    }
    Ok(uses)
}

/// What lies at this address; nothing if nothing may, or not so much of it.
fn classify(image: &Parsed, it: &Mapping, bytes: u64) -> Option<Use> {
    let scheduler = platform::plans(image, it.component as usize);
    let tasks = image.tasks() as u64 * PAGE;
    let end = it.address.checked_add(bytes)?;
    let place = |start: u64| ((it.address - start) / PAGE) as usize;
    let one = bytes == PAGE;
    Some(match it.address {
        PROGRAM..INFO if end <= INFO => Use::Program,
        INFO if one => Use::Info,
        CLOCK if one => Use::Clock,
        COUNTERS if one => Use::Counters,
        at if at >= TASK_PAGE && at < TASK_PAGE + tasks && one && !scheduler => {
            let cores = image.header.cores as usize;
            Use::TaskPage(image.thread_at(it.component, place(TASK_PAGE), cores)? - cores)
        }
        at if at >= TASK_PAGES && at < TASK_PAGES + tasks && one && scheduler => {
            Use::TaskPageWritten(place(TASK_PAGES))
        }
        at if at >= SECTION_PAGE && at < SECTION_PAGE + tasks && one && !scheduler => {
            Use::SectionPage(place(SECTION_PAGE))
        }
        at if at >= SECTION_PAGES && at < SECTION_PAGES + tasks && one && it.component == 0 => {
            Use::SectionPageRead(place(SECTION_PAGES))
        }
        PARENT_PAGE if one && scheduler => Use::ParentPage,
        at if (PARENT_PAGES..PARENT_PAGES + image.components.len() as u64 * PAGE).contains(&at) && one && scheduler => {
            Use::ParentPageWritten(place(PARENT_PAGES))
        }
        CHILD_PAGE if one && scheduler => Use::ChildPage,
        at if (CHILD_PAGES..CHILD_PAGES + image.components.len() as u64 * PAGE).contains(&at) && one && scheduler => {
            Use::ChildPageRead(place(CHILD_PAGES))
        }
        REGIONS if is_scheduler(image, it.component) => Use::Regions,
        PLAN if scheduler && end <= CARDS => Use::Plan,
        CARDS if scheduler && end <= WATCHED => Use::Cards,
        DEMANDS if !scheduler && end <= HEAP => Use::Demands,
        WATCHED if it.component == 0 && end <= HEAP => Use::Watched,
        at if (HEAP..TRACE).contains(&at) && end <= TRACE => Use::Heap,
        TRACE if scheduler && end <= STACKS => Use::Trace,
        COMPONENTS if end <= BUFFERS => Use::Components,
        BUFFERS if end <= DEVICE_CARDS => Use::Buffers,
        DEVICE_CARDS if one => Use::DeviceCards,
        TOLD if end <= DEMANDS => Use::Setup,
        PORT_CARDS if end <= PARTITION => Use::PortCards,
        PARTITION if end <= SECTION_PAGE => Use::Partition,
        at if (CHANNELS..CHANNELS + MAX_CHANNELS as u64 * CHANNEL_STRIDE).contains(&at) => {
            let number = ((at - CHANNELS) / CHANNEL_STRIDE) as usize;
            // The root scheduler observes.
            let sees = !scheduler || it.component == 0;
            match (at - CHANNELS) % CHANNEL_STRIDE {
                0 if bytes <= CHANNEL_STRIDE - PAGE && sees => Use::Messages(number),
                offset if offset == CHANNEL_STRIDE - PAGE && one && sees => Use::Taken(number),
                _ => return None,
            }
        }
        at if (DEVICES..STACKS).contains(&at) => match (at - DEVICES) % DEVICE_STRIDE {
            0 if bytes <= DEVICE_DMA => Use::Device,
            DEVICE_DMA if bytes <= DEVICE_CONFIGURATION - DEVICE_DMA => Use::Dma,
            DEVICE_CONFIGURATION if one => Use::Configuration,
            _ => return None,
        },
        at if at >= STACKS && at < STACKS + MAX_THREADS as u64 * STACK_STRIDE => {
            let thread = (at - STACKS) / STACK_STRIDE;
            let start = STACKS + thread * STACK_STRIDE;
            // It ends where the next begins, and its lowest page stays free to catch an overflow.
            let fits = end == start + STACK_STRIDE && at >= start + PAGE;
            Use::Stack(image.thread_at(it.component, thread as usize, 0).filter(|_| fits)?)
        }
        _ => return None,
    })
}

/// Whether the component has regions.
fn is_scheduler(image: &Parsed, component: u32) -> bool {
    let it = image.components.get(component as usize);
    it.is_some_and(|it| it.role & (role::ROOT | role::SCHEDULER) != 0)
}

/// The kind of memory that belongs into a place, and the rights; a program may have any that it asks for.
fn expected(it: Use, flags: u32, memory: u32) -> (MemoryKind, u32) {
    match it {
        Use::Program if flags == WRITABLE => (MemoryKind::Copied, WRITABLE),
        Use::Program => (MemoryKind::InPlace, flags),
        Use::Info | Use::Plan | Use::Cards | Use::Demands => (MemoryKind::InPlace, 0),
        Use::Components | Use::Buffers | Use::DeviceCards | Use::Setup | Use::Watched => (MemoryKind::InPlace, 0),
        Use::PortCards | Use::Partition => (MemoryKind::InPlace, 0),
        // Who writes is the business of the cards.
        Use::Messages(_) | Use::Taken(_) if memory == MemoryKind::Mailbox as u32 => {
            (MemoryKind::Mailbox, flags & WRITABLE)
        }
        Use::Messages(_) | Use::Taken(_) => (MemoryKind::Copied, flags & WRITABLE),
        Use::Device if memory == MemoryKind::Device as u32 => (MemoryKind::Device, WRITABLE),
        Use::Device => (MemoryKind::Pci, WRITABLE),
        Use::Dma => (MemoryKind::Dma, WRITABLE),
        Use::Configuration => (MemoryKind::PciConfiguration, 0),
        Use::Clock => (MemoryKind::Clock, 0),
        Use::TaskPage(_) | Use::ParentPage | Use::ChildPageRead(_) | Use::Counters => (MemoryKind::Copied, 0),
        Use::TaskPageWritten(_) | Use::ParentPageWritten(_) | Use::ChildPage | Use::Heap | Use::Stack(_) => {
            (MemoryKind::Copied, WRITABLE)
        }
        Use::SectionPage(_) | Use::SectionPageRead(_) => (MemoryKind::Copied, WRITABLE),
        Use::Regions => (MemoryKind::Regions, WRITABLE),
        Use::Trace => (MemoryKind::Trace, WRITABLE),
    }
}

/// Who sees one memory object together: nobody, but for programs, the clock, and the page of each task.
pub(super) fn sharing(image: &Parsed, uses: &[Use]) -> Result<(), VerifyError> {
    let mut seen: Vec<Vec<(u32, Use)>> = vec![Vec::new(); image.memories.len()];
    for (it, what) in image.mappings.iter().zip(uses) {
        seen[it.memory as usize].push((it.component, *what));
    }
    let cores = image.header.cores as usize;
    let monitors = image.memories.iter().any(|it| it.kind == MemoryKind::Monitors as u32);
    let last_ring = image.memories.iter().rposition(|it| it.kind == MemoryKind::Trace as u32);
    for (number, by) in seen.iter().enumerate() {
        let kind = image.memories[number].kind;
        let kernels = kind == MemoryKind::Monitors as u32 || monitors && last_ring == Some(number);
        let holds = match by.as_slice() {
            all if kernels => all.is_empty(),
            [] => false,
            [(_, Use::TaskPage(_) | Use::TaskPageWritten(_) | Use::ParentPage | Use::ParentPageWritten(_))] => false,
            [(_, Use::ChildPage | Use::ChildPageRead(_) | Use::SectionPage(_) | Use::SectionPageRead(_))] => false,
            // The other end is another sandbox's; the root scheduler, unless it is the user's own, observes.
            [(_, Use::Messages(_) | Use::Taken(_))] => kind == MemoryKind::Mailbox as u32,
            [_] => true,
            [(_, what @ (Use::Messages(_) | Use::Taken(_))), ..] => by.iter().all(|(_, it)| it == what),
            all if all.iter().all(|(_, it)| *it == Use::Clock) => true,
            all if all.iter().all(|(_, it)| *it == Use::Components) => true,
            all if all.iter().all(|(_, it)| *it == Use::Program) => kind == MemoryKind::InPlace as u32,
            all if all.iter().all(|(_, it)| *it == Use::Cards) => true,
            [(component, Use::TaskPage(task)), (scheduler, Use::TaskPageWritten(same))]
            | [(scheduler, Use::TaskPageWritten(same)), (component, Use::TaskPage(task))] => {
                // It is written by the scheduler that is told when the job is finished; see also `contents`.
                let grants = image.grants_of(*component as usize);
                let told = grants.iter().any(|it| it.component == *scheduler && it.entry == grants[0].entry);
                task == same && image.threads[cores + task].component == *component && told
            }
            [(component, Use::SectionPage(task)), (0, Use::SectionPageRead(same))]
            | [(0, Use::SectionPageRead(same)), (component, Use::SectionPage(task))] => {
                task == same && image.threads[cores + task].component == *component
            }
            [(component, Use::ParentPage), (above, Use::ParentPageWritten(place))]
            | [(above, Use::ParentPageWritten(place)), (component, Use::ParentPage)] => {
                *component as usize == *place && component != above
            }
            all if all.iter().any(|(_, it)| *it == Use::ChildPage) => is_told(all),
            _ => false,
        };
        rule(holds, Part::Memory, number, "is seen by nobody, or by more than the layout says")?;
    }
    for task in 0..image.tasks() {
        let told = uses.iter().filter(|it| **it == Use::TaskPage(task)).count();
        rule(told == 1, Part::Thread, cores + task, "has no page that tells its task about its job")?;
    }
    for number in 0..image.components.len() {
        let has =
            |what: Use| image.mappings.iter().zip(uses).any(|(it, u)| it.component as usize == number && *u == what);
        rule(has(Use::Info) && has(Use::Clock), Part::Component, number, "has no information page or no clock")?;
    }
    Ok(())
}

/// Whether these are a scheduler that tells of changes, and those who read it: the root, and no more than one other above it.
fn is_told(by: &[(u32, Use)]) -> bool {
    let (tells, reads): (Vec<_>, Vec<_>) = by.iter().partition(|(_, it)| *it == Use::ChildPage);
    let [(component, _)] = tells[..] else { return false };
    let page = Use::ChildPageRead(component as usize);
    reads.len() <= 2
        && reads.iter().all(|(reader, it)| *it == page && *reader != component)
        && reads.iter().any(|(reader, _)| *reader == 0)
}

/// Every component begins, and is entered, in its own code.
pub(super) fn entries(image: &Parsed) -> Result<(), VerifyError> {
    let is_code = |component: usize, entry: u64| {
        image.mappings.iter().any(|it| {
            it.component as usize == component
                && it.flags == EXECUTABLE
                && entry >= it.address
                && entry - it.address < image.memories[it.memory as usize].bytes
        })
    };
    for (number, it) in image.components.iter().enumerate() {
        // A slot has none yet; where its programs begin the kernel looks at.
        let holds = it.role & role::SLOT != 0 || is_code(number, it.entry);
        rule(holds, Part::Component, number, "begins where it has no code")?;
    }
    for (number, it) in image.grants.iter().enumerate() {
        rule(is_code(it.component as usize, it.entry), Part::Grant, number, "leads to where there is no code")?;
    }
    Ok(())
}

/// Every thread has a stack where it can get, and nowhere else.
pub(super) fn stacks(image: &Parsed, uses: &[Use], reach: &[Vec<bool>]) -> Result<(), VerifyError> {
    let mut has = vec![vec![false; image.components.len()]; image.threads.len()];
    for (it, what) in image.mappings.iter().zip(uses) {
        if let Use::Stack(thread) = what {
            has[*thread][it.component as usize] = true;
        }
    }
    for (number, it) in image.threads.iter().enumerate() {
        let holds = has[number] == reach[it.component as usize];
        rule(holds, Part::Thread, number, "lacks a stack where it can get, or has one where it cannot")?;
    }
    Ok(())
}
