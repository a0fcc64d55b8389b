//! The boot image: what the boot loader hands to the kernel beside the kernel itself.
//!
//! A [`Header`], then the arrays that it counts in the order of its fields, then contents at page-aligned offsets. All
//! little-endian. The image is made by `os/image` and trusted; the kernel checks magic, version and counts, and maps
//! what it is told.

use crate::layout::MAX_SEQUENCES;
use crate::shared::Name;

/// First eight bytes: `TACTUSIM`.
pub const MAGIC: u64 = u64::from_le_bytes(*b"TACTUSIM");
/// The version of this layout.
pub const VERSION: u32 = 2;

/// The image's head.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Header {
    /// [`MAGIC`].
    pub magic: u64,
    /// [`VERSION`].
    pub version: u32,
    /// Cores to start, 1 to 8.
    pub cores: u32,
    /// Number of [`Component`]s, which follow the head.
    pub components: u32,
    /// Number of [`Grant`]s, which follow those.
    pub grants: u32,
    /// Number of [`Memory`] objects, which follow those.
    pub memories: u32,
    /// Number of [`Mapping`]s, which follow those.
    pub mappings: u32,
    /// Number of [`Thread`]s, which follow those.
    pub threads: u32,
    /// Frames kept for [`crate::call::Call::MemoryControl`]; 0 if no component manages memory.
    pub pool_frames: u32,
    /// Colours of those frames: a power of two.
    pub colours: u32,
    /// How long (ns) a core of an emulated machine may run before it lets the others look; 0 for ever. On a machine
    /// whose cores run at the same time it means nothing.
    pub turn: u32,
    /// Physical address wanted for the trace memory, page-aligned; 0 lets the kernel choose.
    pub trace_address: u64,
    /// Length of the whole image in bytes.
    pub bytes: u64,
}

/// A component.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Component {
    /// Name, for messages.
    pub name: Name,
    /// Where its threads begin. For a scheduler also where its upcalls begin.
    pub entry: u64,
    /// First of its grants.
    pub first_grant: u32,
    /// How many grants.
    pub grants: u32,
    /// See [`role`].
    pub role: u32,
    /// The component that may restart it, or [`NO_COMPONENT`].
    pub restarted_by: u32,
    /// The most brands it may make.
    pub brands: u32,
    /// Interrupt lines that it may wire brands to, as bits.
    pub lines: u32,
    /// Its restartable sequences: beginning and end of each; unused ones are zero.
    pub sequences: [[u64; 2]; MAX_SEQUENCES],
}

/// What a component may be, as bits of [`Component::role`].
pub mod role {
    /// The root scheduler. One component.
    pub const ROOT: u32 = 1;
    /// May be promoted to a scheduler: it has regions and upcall threads.
    pub const SCHEDULER: u32 = 2;
    /// May manage memory.
    pub const MEMORY: u32 = 4;
    /// May write to the console.
    pub const CONSOLE: u32 = 8;
}

/// Stands for no component.
pub const NO_COMPONENT: u32 = u32::MAX;

/// The right to invoke a component at one entry.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Grant {
    /// Address of the entry in the target.
    pub entry: u64,
    /// The target.
    pub component: u32,
    /// Zero.
    pub reserved: u32,
}

/// What a memory object holds when the system starts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum MemoryKind {
    /// The image's own pages from `offset`; never written by anybody.
    InPlace = 0,
    /// Fresh frames: `file_bytes` from `offset`, then zeros.
    Copied = 1,
    /// The clock page. Made by the kernel.
    Clock = 2,
    /// The shared regions of all cores, of the scheduler that maps them. Made by the kernel.
    Regions = 3,
    /// The trace memory, physically contiguous, zeroed.
    Trace = 4,
    /// A device's memory: `offset` is its physical address.
    Device = 5,
}

/// A memory object: frames that one or more components see.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Memory {
    /// [`MemoryKind`] as a number.
    pub kind: u32,
    /// Zero.
    pub reserved: u32,
    /// Length in bytes, a multiple of the page.
    pub bytes: u64,
    /// Offset of its contents in the image, page-aligned.
    pub offset: u64,
    /// Length of its contents.
    pub file_bytes: u64,
}

/// Mapping may be written.
pub const WRITABLE: u32 = 1;
/// Mapping may be executed. Never together with [`WRITABLE`].
pub const EXECUTABLE: u32 = 2;

/// A memory object in a component's address space.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Mapping {
    /// Which component.
    pub component: u32,
    /// Which memory object.
    pub memory: u32,
    /// Where, page-aligned.
    pub address: u64,
    /// [`WRITABLE`] or [`EXECUTABLE`].
    pub flags: u32,
    /// Zero.
    pub reserved: u32,
}

/// A thread. Those of the root scheduler's cores come first: thread `c` is the upcall of core `c`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Thread {
    /// Where it begins; for [`ThreadKind::Spare`] where it may.
    pub component: u32,
    /// [`ThreadKind`] as a number.
    pub kind: u32,
    /// Its task, or the core whose upcall it is.
    pub number: u32,
    /// Zero.
    pub reserved: u32,
}

/// What a thread is there for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum ThreadKind {
    /// Runs a task's jobs.
    Task = 0,
    /// A scheduler's upcall on one core.
    Upcall = 1,
    /// Not in use until a scheduler makes a thread of it in its component, or adds it to a brand whose upcalls begin there.
    Spare = 2,
}
