//! Pages that kernel, scheduler and components share. All fields are written by the one named, read by the others.

use crate::layout::{LINES, MAX_COMPONENTS, MAX_GRANTS, PAGE, REGION_STRIDE, SLOTS};
use crate::slot::Label;
use core::sync::atomic::AtomicU64;

/// Length of a name, padded with zeros.
pub const NAME_BYTES: usize = 24;

/// A name of at most [`NAME_BYTES`] bytes of UTF-8.
pub type Name = [u8; NAME_BYTES];

/// Makes a stored name; longer ones are cut at a character's boundary.
pub fn name(text: &str) -> Name {
    let mut stored = [0; NAME_BYTES];
    let mut end = text.len().min(NAME_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    stored[..end].copy_from_slice(&text.as_bytes()[..end]);
    stored
}

/// Reads a stored name.
pub fn name_text(stored: &Name) -> &str {
    let end = stored.iter().position(|&b| b == 0).unwrap_or(NAME_BYTES);
    core::str::from_utf8(&stored[..end]).unwrap_or("?")
}

/// The name of a scheduler's service by which a task's thread says that its job is finished, and of the grant of it.
pub const COMPLETE: &str = "complete";

/// The name of a scheduler's service by which a component raises an arrival, and of the grant of it.
pub const RAISE: &str = "raise";
/// The name of the service by which a scheduler is told that a job has left a critical section, or wants to enter one that may be
/// another's, and of the grant of it.
pub const SECTION: &str = "section";
/// The name of the service by which a job signals and awaits events, and of the grant of it.
pub const EVENT: &str = "event";
/// The name of the service by which a job waits, and of the grant of it.
pub const WAIT: &str = "wait";

/// Whether a grant of this name, stored or not, is that of the end of a job, of whichever scheduler: no other one is called so.
pub fn is_complete(name: &[u8]) -> bool {
    let rest = name.strip_prefix(COMPLETE.as_bytes());
    rest.is_some_and(|rest| matches!(rest.first(), None | Some(0 | b' ')))
}

/// How to read the clock. Written by the kernel before the first component runs; only [`Clock::slices`] changes later.
///
/// Time in ns = `((tsc - epoch) * multiplier) >> shift`, in 128 bits.
#[derive(Debug)]
#[repr(C)]
pub struct Clock {
    /// The time-stamp counter at the start of the run.
    pub epoch: u64,
    /// See above.
    pub multiplier: u64,
    /// See above.
    pub shift: u64,
    /// Ticks of the time-stamp counter per second.
    pub frequency: u64,
    /// How the cores share the emulator: see [`slices`].
    pub slices: AtomicU64,
}

/// How the cores of the machine execute: the values of [`Clock::slices`].
pub mod slices {
    /// All at the same time, or there is only one.
    pub const NONE: u64 = 0;
    /// In turn, in short slices: something is near that a core has to notice. Who computes without a call should pause often. Any
    /// larger value is a reading of the time-stamp counter: slices are long until then, short afterwards.
    pub const SHORT: u64 = 1;
}

/// What a component is told about itself. Written by the image builder.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Info {
    /// The component's number.
    pub component: u32,
    /// How many of `grants` count.
    pub grant_count: u32,
    /// Number of cores.
    pub cores: u32,
    /// Number of tasks of the system.
    pub tasks: u32,
    /// Bytes at [`crate::layout::HEAP`].
    pub heap_bytes: u64,
    /// Scheduler only: bytes at [`crate::layout::PLAN`].
    pub plan_bytes: u64,
    /// Scheduler only: bytes of one core's trace ring with its head.
    pub ring_bytes: u64,
    /// Scheduler only: length of the run (ns).
    pub duration: u64,
    /// Bytes that each job of the built-in workload touches.
    pub touch_bytes: u64,
    /// What one instruction takes on the emulated machine that the image was made for (ns).
    pub instruction_nanos: u64,
    /// How many [`ComponentCard`]s lie at [`crate::layout::COMPONENTS`]; 0 if the component does not see them.
    pub components: u32,
    /// How many [`BufferCard`]s lie at [`crate::layout::BUFFERS`].
    pub buffers: u32,
    /// How many [`DeviceCard`]s lie at [`crate::layout::DEVICE_CARDS`].
    pub devices: u32,
    /// Colours of the frames that a memory manager gives out.
    pub colours: u32,
    /// How many threads can be in the component: those that have a stack there.
    pub threads: u32,
    /// How many [`crate::port::PortCard`]s lie at [`crate::layout::PORT_CARDS`].
    pub ports: u32,
    /// How many [`crate::port::ProcessCard`]s lie behind the card at [`crate::layout::PARTITION`]; if 0, neither is there.
    pub processes: u32,
    /// 1 if it has a page of counters at [`crate::layout::COUNTERS`], else 0.
    pub counters: u32,
    /// Root scheduler only: not 0 if the system has monitors, and the events that it tells them of lie at [`crate::layout::WATCHED`].
    pub watched: u32,
    /// Root scheduler only: to how many clients of disks and chains something is promised, which the host alone judges, from the trace.
    pub promised_by_host: u32,
    /// In how many equal parts the heap is: one, or one for each colour of the component, in the order of their numbers.
    pub heap_parts: u64,
    /// Bytes at [`crate::layout::TOLD`].
    pub told_bytes: u64,
    /// The component's own name.
    pub name: Name,
    /// Scheduler only: name of the system.
    pub system: Name,
    /// Names of the services that the component may call; the place is the grant's number. Place 0 is always a
    /// scheduler's "job finished"; if tasks of the component have other schedulers, theirs come last.
    pub grants: [Name; MAX_GRANTS],
}

/// What the first word of a [`HeapCard`] in use is.
pub const HEAP_MAGIC: u64 = u64::from_le_bytes(*b"TACTHEAP");

/// What a component with a heap tells of it, at [`crate::layout::HEAP`]. Written by the component, read by the machine's host.
#[repr(C, align(64))]
pub struct HeapCard {
    /// [`HEAP_MAGIC`], once somebody has asked for memory.
    pub magic: AtomicU64,
    /// Bytes in use.
    pub used: AtomicU64,
    /// The most that were in use at once.
    pub most: AtomicU64,
    /// How often memory was taken.
    pub allocations: AtomicU64,
    /// How often there was none.
    pub refused: AtomicU64,
}

/// Deadlines of a process that were missed, of which a component is told when: as many as the last.
pub const MISSES: usize = 4;

/// What a task's component is told about its job. Written by the scheduler while the task's thread does not run, but for what
/// the image builder wrote.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct TaskPage {
    /// The job's number, from 0.
    pub job: u64,
    /// What the job had been charged (ns) at `since`.
    pub charged: u64,
    /// The last decision that gave the job its core: a reading of the time-stamp counter.
    pub since: u64,
    /// The job's nominal release (ns since the start of the run).
    pub release: u64,
    /// Image builder: the number of the grant by which the task's scheduler is told that a job is finished.
    pub complete: u64,
    /// Image builder: how many critical sections its jobs have; only then there is a [`SectionPage`].
    pub sections: u64,
    /// Not zero while the scheduler is to be told as soon as the job leaves a critical section.
    pub awaited: u64,
    /// Image builder: the interrupt line that releases its jobs, plus one; 0 if none does.
    pub line: u64,
    /// Image builder: which of its component's tasks it is, from 0, in the order of their numbers.
    pub index: u64,
    /// How often the task's process has missed a deadline: see [`crate::process`].
    pub missed: u64,
    /// The last of these deadlines (ns since the start of the run), each at its number, from 0, modulo their count.
    pub missed_at: [u64; MISSES],
    /// Image builder: the task's name, whole; in a slot that of its place there.
    pub name: Label,
}

/// The most critical sections of a task.
pub const MAX_SECTIONS: usize = 64;
/// The most resources that a job holds at once.
pub const DEEPEST_SECTION: usize = 4;
/// What the scheduler gives back for a call that a job has made far more often than its task declares: nothing was done.
pub const TOO_OFTEN: u64 = 3;

/// What a task's component tells of the resources that its job holds. Written by the component, but for what the image builder wrote
/// and by the scheduler while the task's thread does not run.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct SectionPage {
    /// What the job holds: a byte for each resource, its number and one, the outermost lowest.
    pub held: u64,
    /// Since when it holds each, the outermost first: readings of the time-stamp counter.
    pub since: [u64; DEEPEST_SECTION],
    /// Scheduler, while the task's thread does not run: before which sections the job must call, a bit for each resource.
    pub locked: [u64; 4],
    /// As `locked`: not zero where any bit is set there.
    pub some_locked: u64,
    /// Image builder: the number of the grant by which the scheduler is told that a section for which a job waits has ended, or that the
    /// job wants to enter one that may be another's.
    pub grant: u64,
    /// Image builder: the sections, in the order of the system file; as many as [`TaskPage::sections`] says.
    pub sections: [SectionCard; MAX_SECTIONS],
}

/// A critical section of each job of a task.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct SectionCard {
    /// The resource's number.
    pub resource: u64,
    /// What a job of the built-in workload has executed (ns) when it enters the section,
    pub from: u64,
    /// and when it leaves it.
    pub until: u64,
}

/// What a scheduler tells a child scheduler. Written by the parent.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct ParentPage {
    /// By component, as bits: it was restarted as often as it may, and stays stopped.
    pub stopped: [u64; MAX_COMPONENTS / 64],
}

/// What a child scheduler has counted for the verdict. Written by the child.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct ChildPage {
    /// Jobs finished.
    pub jobs: u64,
    /// Of those, and of the jobs that the policy ended, how many missed their deadlines.
    pub missed: u64,
    /// The longest response (ns).
    pub worst: u64,
    /// The greatest lateness after a deadline (ns).
    pub tardiness: u64,
    /// The largest part of its bound that a task had (thousandths, rounded up).
    pub share: u64,
    /// After when (ns) the first job that is not finished breaks its promise.
    pub breaks_after: u64,
    /// How many records did not fit.
    pub lost_records: u64,
    /// How many of its tasks are promised something.
    pub promised: u64,
    /// Of their jobs, how many ended.
    pub judged: u64,
    /// Of their jobs, how many ended unfinished, dropped or with their component, or with less than the task's least.
    pub undone: u64,
    /// 1 if a component was stopped of which this scheduler was told, and does not run again.
    pub stopped: u64,
}

const _: () = assert!(size_of::<ParentPage>() <= PAGE as usize && size_of::<ChildPage>() <= PAGE as usize);

/// Events that the kernel posts to a core's scheduler, as bits of [`Region::events`].
pub mod event {
    /// The core starts.
    pub const START: u64 = 1;
    /// The time-out expired.
    pub const TIMER: u64 = 2;
    /// Another core's scheduler sent an event.
    pub const NOTIFY: u64 = 4;
    /// A component was stopped; see [`super::Region::fault`].
    pub const FAULT: u64 = 8;
    /// The scheduler above gave this one the core.
    pub const GIVEN: u64 = 16;
    /// A child scheduler has nothing to run: its slot says which and until when.
    pub const CHILD_IDLE: u64 = 32;
    /// A brand's upcall ended and the kernel could not tell alone what runs next.
    pub const UPCALL_COMPLETE: u64 = 64;
    /// A slot of the event list changed its state, other than by cycles.
    pub const SLOTS: u64 = 128;
    /// A component that was stopped runs again, restarted by another one than the root; see [`super::Region::restarted`]. The
    /// root's only.
    pub const RESTARTED: u64 = 256;
    /// A device interrupted on a line that releases jobs; see [`super::Region::lines`]. The root's only.
    pub const LINE: u64 = 512;
    /// A monitor found a property violated for which the system file ends the run. The root's only, on each core.
    pub const RUN_ENDS: u64 = 1024;
    /// A monitor found a property violated for which a job is released on this core. The root's only.
    pub const VIOLATION: u64 = 2048;
}

/// Why the kernel was entered, in [`Region::longest_cause`]: a call's number, or one of these.
pub mod cause {
    use crate::call::Call;
    use core::fmt;

    /// The core began.
    pub const START: u64 = 255;
    /// The exception or interrupt with the number that is added.
    pub const INTERRUPT: u64 = 256;

    /// Says it in words.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct Cause(pub u64);

    impl fmt::Display for Cause {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            match (Call::ALL.get(self.0 as usize), self.0) {
                (Some(call), _) => write!(f, "call {call:?}"),
                (None, START) => f.write_str("the core's start"),
                (None, INTERRUPT..) => match self.0 - INTERRUPT {
                    vector @ 0..32 => write!(f, "exception {vector}"),
                    64 => f.write_str("timer interrupt"),
                    vector => write!(f, "interrupt {vector}"),
                },
                (None, number) => write!(f, "call number {number}"),
            }
        }
    }
}

/// States that the kernel tells in a [`Slot`], as bits of its flags.
pub mod slot {
    /// The slot is in the event list. Set by the kernel when it links it, cleared by the scheduler when it takes it.
    pub const LINKED: u16 = 1;
    /// The brand's upcall was triggered.
    pub const ACTIVE: u16 = 2;
    /// The brand's upcall ended.
    pub const COMPLETED: u16 = 4;
    /// The child scheduler's upcall thread has nothing to run until [`super::Slot::wake`].
    pub const IDLE: u16 = 8;
    /// Urgency of what must not run until its scheduler says so.
    pub const DISABLED: u16 = u16::MAX;
}

/// What a scheduler knows of one thread or brand on one core.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Slot {
    /// Kernel: the next slot of the event list; 0 ends it. Taken together with `flags` in one piece.
    pub next: u16,
    /// Kernel: see [`slot`].
    pub flags: u16,
    /// Scheduler: lower is more urgent; [`slot::DISABLED`] is never run unasked.
    pub urgency: u16,
    /// Zero.
    pub reserved: u16,
    /// Kernel: time-stamp ticks used since the scheduler last took them; stays at the largest value rather than wrap.
    pub cycles: u64,
    /// Kernel: with [`slot::IDLE`], when the child scheduler wants the core again (time-stamp ticks).
    pub wake: u64,
}

/// Shared by the kernel and one core's scheduler, one for each core.
#[derive(Debug)]
#[repr(C)]
pub struct Region {
    /// Scheduler: the thread that it has chosen, checked by `switch_thread`.
    pub next_thread: u64,
    /// Kernel: set to 1 with every event posted. Scheduler: cleared *before* it takes the events.
    pub event_pending: u64,
    /// Kernel: what happened, see [`event`]. Scheduler: taken with an exchange.
    pub events: u64,
    /// Scheduler: the thread that is in the critical section, plus one, in the low half; the last thread that wanted to be,
    /// plus one, in the high half (written by the kernel). Changed by restartable sequences only.
    pub lock: u64,
    /// Kernel: the last fault on this core.
    pub fault: Fault,
    /// Kernel: how many dispatches it made for this scheduler, for statistics.
    pub dispatches: u64,
    /// Kernel: calls refused on this core.
    pub refused: u64,
    /// Kernel: longest stretch from kernel entry to exit (time-stamp ticks) since the start.
    pub longest: u64,
    /// Kernel: what brought that stretch about, see [`cause`].
    pub longest_cause: u64,
    /// Kernel: how often it began or resumed the scheduler's upcall.
    pub entries: u64,
    /// Kernel: time-stamp ticks in which the core slept, and those of the scheduler's own upcall thread.
    pub idle: u64,
    /// See `idle`.
    pub own: u64,
    /// Kernel: the component that was restarted last by another one than the root, and above it, from bit 32 on, by whom.
    pub restarted: u64,
    /// Kernel: until when (time-stamp ticks) this scheduler and those below it had the core when they had it last.
    pub until: u64,
    /// Kernel: `until` as it was when [`event::GIVEN`] was posted first since the scheduler took this, which sets it to 0.
    pub left: u64,
    /// The event list's head: slot 0, whose `next` is the first slot in the list; and the slots of threads and brands.
    pub slots: [Slot; SLOTS],
    /// Kernel: lines that release jobs and have interrupted, as bits. Scheduler: taken with an exchange.
    pub lines: u64,
    /// Kernel: when (time-stamp ticks) each did so last. It is silent from then on until it is acknowledged.
    pub line_times: [u64; LINES],
}

const _: () = assert!(core::mem::size_of::<Region>() as u64 <= REGION_STRIDE);

/// A fault, as told to the scheduler.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct Fault {
    /// The thread that was running.
    pub thread: u64,
    /// The component that was stopped: the one to blame.
    pub component: u64,
    /// `tactus_record::FaultKind` as a number.
    pub kind: u64,
    /// The address concerned: data address, or instruction.
    pub address: u64,
    /// The instruction at which it happened.
    pub instruction: u64,
    /// 1 if the thread can go on (it was inside a call and its caller got an error), 0 if it is lost.
    pub survives: u64,
}

/// A task, for the scheduler's verdict on the console. Written by the image builder.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct TaskCard {
    /// Name.
    pub name: Name,
    /// Name of its component.
    pub component: Name,
    /// Number of that component.
    pub home: u64,
    /// The thread that runs its jobs.
    pub thread: u64,
    /// What was promised: 0 nothing, 1 a response of at most `bound`, 2 a tardiness of at most `bound`.
    pub promise: u64,
    /// See `promise` (ns).
    pub bound: u64,
    /// Relative deadline (ns).
    pub deadline: u64,
    /// The least that a finished job can have been charged (ns); 0 if the file does not say.
    pub minimum: u64,
    /// Level: 0 to 3, or 255 for none.
    pub level: u64,
    /// The component that raises its arrivals, [`NOBODY`] if none does.
    pub raiser: u64,
    /// The interrupt line that releases its jobs, [`NOBODY`] if none does.
    pub line: u64,
    /// How many calls the scheduler records for a job of it at most, beside the job's end. See [`quota`].
    pub calls: u64,
    /// How many arrivals the scheduler records for it at most, beside those of each period.
    pub arrivals: u64,
    /// The events that its jobs signal and await: the index of the first row behind all cards, and from bit 32 on how many there are.
    pub events: u64,
}

/// How much a component can have the root scheduler record, so that trace rings hold it.
pub mod quota {
    /// Calls of a job beside those that the system file declares.
    pub const CALLS: u64 = 4;
    /// Arrivals in each period of the task, which declares one.
    pub const ARRIVALS_PER_PERIOD: u64 = 4;
    /// Arrivals beside those, in the whole run.
    pub const ARRIVALS: u64 = 64;
}

/// Stands for no component, and for no line.
pub const NOBODY: u64 = u64::MAX;

/// A component, for those who schedule, restart or serve it. Written by the image builder.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct ComponentCard {
    /// Name.
    pub name: Name,
    /// What it may be, see [`crate::image::role`].
    pub role: u32,
    /// The scheduler that promotes it, [`crate::image::NO_COMPONENT`] if it is not to be one or is the root.
    pub parent: u32,
    /// The component that may restart it, or [`crate::image::NO_COMPONENT`].
    pub restarted_by: u32,
    /// How often it may be restarted within `restart_nanos`.
    pub restarts: u32,
    /// See `restarts` (ns).
    pub restart_nanos: u64,
    /// Its first spare thread; those of one component follow one another.
    pub first_spare: u32,
    /// How many spare threads it has.
    pub spares: u32,
    /// For a scheduler: its upcall thread of core 0; those of the other cores follow.
    pub first_upcall: u32,
    /// The most brands it may make.
    pub brands: u32,
    /// Not 0 if it waits, once it was restarted that often, until it may be again; else it stays stopped.
    pub waits: u32,
    /// If it is loaded late: the core that does it.
    pub load_core: u32,
    /// If it is loaded late: from when on in each frame (ns) steps of that may begin.
    pub load_start: u64,
    /// For how long (ns).
    pub load_length: u64,
    /// The length of the frame (ns).
    pub load_frame: u64,
}

/// How a scheduler restarts a component, or loads one late: so many steps at a time ([`crate::call`]), each the copy of a page at most or a look at
/// some threads.
pub mod restart {
    /// Steps at a time.
    pub const STEPS: u64 = 4;
    /// Between them others run (ns).
    pub const PAUSE: u64 = 50_000;
    /// Threads that one step looks at.
    pub const THREADS_PER_STEP: usize = 8;
    /// More instructions than steps at a time take, the scheduler's entry included.
    pub const MOST: u64 = 6_000;
}

/// A buffer that one or two components see. Written by the image builder.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct BufferCard {
    /// Name.
    pub name: Name,
    /// The colours that its frames may have, as bits.
    pub colours: u64,
    /// Its number among the buffers of the system file.
    pub number: u32,
    /// Its length in pages.
    pub pages: u32,
    /// The page of the window at which it begins, the same in both components.
    pub window: u32,
    /// The first component that sees it.
    pub first: u32,
    /// The other one; the same if there is none.
    pub second: u32,
    /// The component that may only read it, or [`crate::image::NO_COMPONENT`].
    pub reader: u32,
    /// The task whose jobs its messages release, plus one; 0 if there is none.
    pub releases: u32,
    /// The number, plus one, of the channel that the kernel keeps in its place, since monitors watch it; 0 if there is none.
    pub channel: u32,
}

/// A device, for its driver. Written by the image builder.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct DeviceCard {
    /// Name.
    pub name: Name,
    /// Where the driver sees its memory.
    pub address: u64,
    /// Length of that (bytes).
    pub bytes: u64,
    /// Where the driver sees the memory that the device reads and writes; 0 if there is none.
    pub dma: u64,
    /// Length of that (bytes).
    pub dma_bytes: u64,
    /// Where the driver sees a copy of the PCI configuration space; 0 if it is no PCI device.
    pub configuration: u64,
}
