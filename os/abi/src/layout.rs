//! Where things lie in a component's address space.
//!
//! The same for every component. Everything not mapped there faults.

/// Length of a page.
pub const PAGE: u64 = 4096;

/// Where a component's program is linked (the linker's own default, so that user crates need no flags for it).
pub const PROGRAM: u64 = 0x20_0000;
/// The component's [`crate::shared::Info`], read-only.
pub const INFO: u64 = 0x1000_0000;
/// The machine's [`crate::shared::Clock`], read-only.
pub const CLOCK: u64 = 0x1001_0000;
/// The [`crate::shared::TaskPage`]s of the component's tasks, one page for each task's number, or for its place in a slot, read-only. Only
/// where the component has a task.
pub const TASK_PAGE: u64 = 0x1002_0000;
/// The [`crate::shared::SectionPage`] of each of the component's tasks whose jobs have critical sections, one page for each task's
/// number, writable.
pub const SECTION_PAGE: u64 = 0x1020_0000;
/// What the task's jobs take: `count` and then `count` lengths in ns, all `u64`; job `k` takes entry `k % count`. Then what they do: the
/// number of waits, and for each what the job has executed before and its length; and the number of programs in turn, with where each
/// lies in words from here: how many steps, and of each [`STEP_WORDS`].
/// Read-only. Only for the built-in workload.
pub const DEMANDS: u64 = 0x2000_0000;
/// The words of a step: what the job has executed before it; 0 it sleeps, 1 it awaits an event, 2 it signals it, 3 it does so to all; how
/// long, or which event; the semaphore that it gives back before it awaits, and one, or 0.
pub const STEP_WORDS: usize = 4;
/// Memory for the component's own use ([`crate::shared::Info::heap_bytes`]), writable.
pub const HEAP: u64 = 0x3000_0000;
/// The [`crate::shared::ComponentCard`] of every component, read-only. Only where the image gives the component a role
/// beside others ([`crate::image::role`]), or lets it restart another one.
pub const COMPONENTS: u64 = 0x1018_0000;
/// The [`crate::shared::BufferCard`]s of the buffers that the component shares; of all, where it manages memory.
/// Read-only.
pub const BUFFERS: u64 = 0x1019_0000;
/// The [`crate::shared::DeviceCard`]s of the devices that the component drives, read-only.
pub const DEVICE_CARDS: u64 = 0x101a_0000;
/// What the component is told beside all else, in a form that only its program knows ([`crate::shared::Info::told_bytes`]), read-only:
/// for one that serves a disk, the disk's set-up.
pub const TOLD: u64 = 0x1c00_0000;
/// The [`crate::shared::ParentPage`] of this scheduler's parent, read-only. Only where each server has a scheduler of its own.
pub const PARENT_PAGE: u64 = 0x101b_0000;
/// The [`crate::shared::ChildPage`] of this scheduler, writable. Where there is a page at [`PARENT_PAGE`].
pub const CHILD_PAGE: u64 = 0x101c_0000;
/// The [`crate::port::PortCard`]s of the component's ports, read-only.
pub const PORT_CARDS: u64 = 0x101e_0000;
/// The [`crate::port::PartitionCard`] of the component's partition and the [`crate::port::ProcessCard`]s of its tasks, read-only. Only
/// where the system has partitions, in components of the user's.
pub const PARTITION: u64 = 0x101f_0000;
/// The memory of channels, [`CHANNEL_STRIDE`] bytes apart: what the source writes, and in the last page what the destination writes.
pub const CHANNELS: u64 = 0x1800_0000;
/// Distance between the memories of two channels.
pub const CHANNEL_STRIDE: u64 = 0x10_0000;
/// The most channels.
pub const MAX_CHANNELS: usize = 64;
/// What is counted of this component's accesses ([`crate::counters`]), read-only. Only where the system file grants counters.
pub const COUNTERS: u64 = 0x101d_0000;
/// Stack of thread `t`: `STACK_STRIDE` bytes from `STACKS + t * STACK_STRIDE`; the stack grows down from the upper end.
/// The lowest page is never mapped. In a slot `t` is the place of the thread's task there, from 0 on, so that all slots are alike.
pub const STACKS: u64 = 0x7000_0000;
/// Distance between stacks.
pub const STACK_STRIDE: u64 = 0x1_0000;

/// Scheduler only: the task pages of all tasks, one page each, writable.
pub const TASK_PAGES: u64 = 0x1100_0000;
/// Scheduler only: the [`crate::shared::Region`] of each core, [`REGION_STRIDE`] bytes apart, writable.
pub const REGIONS: u64 = 0x1200_0000;
/// Distance between the regions of two cores.
pub const REGION_STRIDE: u64 = 2 * PAGE;
/// Scheduler only: the [`crate::shared::ParentPage`] for each child scheduler, one page for each component's number, writable.
pub const PARENT_PAGES: u64 = 0x1300_0000;
/// Scheduler only: the [`crate::shared::ChildPage`] of each child scheduler, one page for each component's number, read-only. The
/// root has those of the children's children too.
pub const CHILD_PAGES: u64 = 0x1380_0000;
/// Scheduler only: the section pages of all tasks that have one, one page for each task's number, writable.
pub const SECTION_PAGES: u64 = 0x1400_0000;
/// Scheduler only: the encoded policy set-up, read-only; its length stands in [`crate::shared::Info::plan_bytes`].
pub const PLAN: u64 = 0x2000_0000;
/// Scheduler only: the [`crate::shared::TaskCard`] of each task, read-only.
pub const CARDS: u64 = 0x2800_0000;
/// Root scheduler only: the events that monitors watch and it alone knows of, see [`crate::monitors::watched`], read-only. Only where
/// [`crate::shared::Info::watched`] is not zero.
pub const WATCHED: u64 = 0x2c00_0000;
/// Scheduler only: the trace rings of all cores, one after another, writable.
pub const TRACE: u64 = 0x4000_0000;

/// Where memory that is mapped while the system runs appears: [`WINDOW_PAGES`] pages. Only in components that the system
/// lets share memory or manage it. A slot's lies at [`PROGRAM`].
pub const WINDOW: u64 = 0x5000_0000;
/// Pages of the window.
pub const WINDOW_PAGES: u64 = 512;
/// Devices that a driver may touch, one window of [`DEVICE_STRIDE`] each, in the order of the system file.
pub const DEVICES: u64 = 0x6000_0000;
/// Distance between two devices.
pub const DEVICE_STRIDE: u64 = 0x10_0000;
/// From the start of a device's window to the memory that the device itself reads and writes. Its first word is its own
/// physical address, written by the kernel.
pub const DEVICE_DMA: u64 = 0x8_0000;
/// From the start of a device's window to a copy of its PCI configuration space as it was at the start, read-only.
pub const DEVICE_CONFIGURATION: u64 = 0xf_f000;

/// The most cores.
pub const MAX_CORES: usize = 8;
/// The most components of one image.
pub const MAX_COMPONENTS: usize = 256;
/// The most threads of one image.
pub const MAX_THREADS: usize = 264;
/// The most grants of one component.
pub const MAX_GRANTS: usize = 16;
/// The most components that a thread can be inside of at once.
pub const MAX_INVOCATIONS: usize = 8;
/// The deepest hierarchy of schedulers.
pub const MAX_SCHEDULERS: usize = 4;
/// The most brands of one image.
pub const MAX_BRANDS: usize = 32;
/// The most restarts of a component that a limit may allow within its time.
pub const MAX_RESTARTS: usize = 1_000;
/// The most upcall threads of one brand.
pub const MAX_UPCALLS: usize = 8;
/// The most restartable sequences of one component.
pub const MAX_SEQUENCES: usize = 4;
/// Interrupt lines of a machine.
pub const LINES: usize = 24;
/// Event slots of a region; slot 0 is none.
pub const SLOTS: usize = MAX_THREADS + 1;
