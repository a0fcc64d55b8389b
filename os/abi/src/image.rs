//! The boot image: what the boot loader hands to the kernel beside the kernel itself.
//!
//! A [`Header`], then the arrays that it counts in the order of its fields, then contents at page-aligned offsets. All
//! little-endian. The image is made by `os/image` and trusted; the kernel checks magic, version and counts, and maps
//! what it is told.

use crate::layout::{MAX_SEQUENCES, PAGE, REGION_STRIDE};
use crate::shared::Name;

/// First eight bytes: `TACTUSIM`.
pub const MAGIC: u64 = u64::from_le_bytes(*b"TACTUSIM");
/// The version of this layout.
pub const VERSION: u32 = 5;

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
    /// Colours of memory: a power of two. A frame has the colour of its number modulo this.
    pub colours: u32,
    /// How long (ns) a core of an emulated machine may run before it lets the others look; 0 for ever. On a machine
    /// whose cores run at the same time it means nothing.
    pub turn: u32,
    /// What is done about speculative execution: see [`speculation`].
    pub speculation: u32,
    /// Zero.
    pub reserved: u32,
    /// Physical address wanted for the trace memory, page-aligned; 0 lets the kernel choose.
    pub trace_address: u64,
    /// The colours of the kernel's own frames, as bits.
    pub kernel_colours: u64,
    /// Length of the whole image in bytes.
    pub bytes: u64,
}

/// Bits of [`Header::speculation`].
pub mod speculation {
    /// A processor with Meltdown will do.
    pub const ACCEPTS_MELTDOWN: u32 = 1;
    /// Branch predictors forget at each change of component, where they can be told to.
    pub const BRANCH_BARRIERS: u32 = 2;
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
    /// Interrupt lines that release jobs of its tasks, as bits: the root scheduler is told of each interrupt.
    pub releases: u32,
    /// The shortest tick that it may wire a brand to (microseconds); 0 if to none.
    pub tick: u32,
    /// The colours of the tables that map its memory, as bits.
    pub colours: u64,
    /// The colours of the frames that may be mapped into its window, as bits.
    pub window_colours: u64,
    /// Its restartable sequences: beginning and end of each; unused ones are zero.
    pub sequences: [[u64; 2]; MAX_SEQUENCES],
    /// Within how long (ns) it may be restarted `restarts` times.
    pub restart_nanos: u64,
    /// See `restart_nanos`.
    pub restarts: u32,
    /// Zero.
    pub reserved: u32,
}

impl Component {
    /// Whether all its grants lie in a table of this length. The numbers may be anything: an image may be damaged.
    pub fn grants_lie_within(&self, grants: u32) -> bool {
        self.first_grant.checked_add(self.grants).is_some_and(|end| end <= grants)
    }
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
    /// Memory may be mapped into it while the system runs: it has the page table of
    /// [`crate::layout::WINDOW`] from the start.
    pub const WINDOW: u32 = 16;
    /// May tell how long it computes ([`crate::call::Call::Computes`]): the built-in workload.
    pub const COMPUTES: u32 = 32;
    /// Has floating point and vectors. Neither a scheduler, nor one in which upcalls of brands begin.
    pub const FLOATING_POINT: u32 = 64;
    /// Loaded while the system runs: until then it is stopped, and what memory it alone has is not filled.
    pub const LATE: u32 = 128;
    /// Serves a disk: what it writes to the console is the disk's record, and its lines bear its number.
    pub const DISK: u32 = 256;
    /// A slot: without a program, and stopped, until [`LOADER`] has filled it. Its window lies at [`crate::layout::PROGRAM`], and
    /// its loader may restart it as often as it likes.
    pub const SLOT: u32 = 512;
    /// Fills slots: takes frames, and maps them into its own window and those of the slots that it may restart.
    pub const LOADER: u32 = 1024;
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
    /// A scheduler's part of the trace memory: `offset` bytes from where the trace memory begins, the pages of its colours that follow
    /// there; see [`Interleaved`]. One that nobody maps is the kernel's, for
    /// what monitors see.
    Trace = 4,
    /// A device's memory: `offset` is its physical address.
    Device = 5,
    /// A PCI device's memory, found by the kernel: `offset` is a [`pci`] number.
    Pci = 6,
    /// A copy of a PCI device's configuration space, one page. `offset` is a [`pci`] number.
    PciConfiguration = 7,
    /// Memory for a device to read and write: physically contiguous, zeros but for the first word, which is its own
    /// physical address. With `offset`, a [`pci`] number, that device may access memory from then on.
    Dma = 8,
    /// The monitors of the system, see [`crate::monitors`]: the image's own pages, which no component sees.
    Monitors = 9,
    /// Pages of a mailbox to another sandbox, which its monitor shows to the kernel: `offset` is their address in the sandbox, from
    /// [`crate::sandbox::MAILBOXES`] on.
    Mailbox = 10,
}

/// Numbers that name a PCI device and one of its base address registers in [`Memory::offset`]. They stand in a field that
/// counts bytes elsewhere, so that the low twelve bits stay zero.
pub mod pci {
    /// The number of base address register `bar` of the first device of this vendor whose device number is `first` or
    /// `second`.
    pub const fn number(vendor: u16, first: u16, second: u16, bar: u8) -> u64 {
        (vendor as u64) << 12 | (first as u64) << 28 | (second as u64) << 44 | (bar as u64) << 60
    }
    /// The vendor.
    pub const fn vendor(number: u64) -> u16 {
        (number >> 12) as u16
    }
    /// The two device numbers that will do.
    pub const fn devices(number: u64) -> [u16; 2] {
        [(number >> 28) as u16, (number >> 44) as u16]
    }
    /// The base address register, 0 to 5.
    pub const fn bar(number: u64) -> u8 {
        (number >> 60) as u8
    }
}

/// A memory object: frames that one or more components see.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Memory {
    /// [`MemoryKind`] as a number.
    pub kind: u32,
    /// Not 0 if it is filled while the system runs, when the component that alone sees it is loaded; see [`role::LATE`]. Of
    /// [`MemoryKind::Copied`] only.
    pub late: u32,
    /// Length in bytes, a multiple of the page.
    pub bytes: u64,
    /// Offset of its contents in the image, page-aligned.
    pub offset: u64,
    /// Length of its contents.
    pub file_bytes: u64,
    /// The colours of its frames, as bits. Of what lies in the image, or is a device's, they say nothing.
    pub colours: u64,
}

impl Memory {
    /// How many pages it has; nothing if its length is not of whole pages, or is not the one that its kind has, on this number of cores.
    pub fn pages(&self, cores: u32) -> Option<u64> {
        let pages = (self.bytes % PAGE == 0).then_some(self.bytes / PAGE)?;
        let fixed = match self.kind {
            kind if kind == MemoryKind::Clock as u32 || kind == MemoryKind::PciConfiguration as u32 => Some(1),
            kind if kind == MemoryKind::Regions as u32 => Some(u64::from(cores) * (REGION_STRIDE / PAGE)),
            _ => None,
        };
        fixed.is_none_or(|fixed| fixed == pages).then_some(pages)
    }

    /// Where the trace memory's part begins and ends, if the whole begins here and memory has so many colours; nothing if there is no
    /// such address.
    pub fn part_from(&self, start: u64, colours: u32) -> Option<(u64, u64)> {
        let start = start.checked_add(self.offset)?;
        let frames = Interleaved { bits: self.colours, colours }.extent(self.bytes / PAGE);
        Some((start, start.checked_add(frames.checked_mul(PAGE)?)?))
    }
}

/// Pages of some colours, one after another, in memory that begins at a frame of colour 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Interleaved {
    /// The colours, as bits.
    pub bits: u64,
    /// How many colours memory has: a power of two up to 64.
    pub colours: u32,
}

impl Interleaved {
    /// How many of the colours there are: at least one.
    fn each(self) -> u64 {
        u64::from(self.bits.count_ones().max(1))
    }

    /// Whether pages that follow each other here do so in memory, wherever it begins.
    pub fn is_whole(self) -> bool {
        self.each() == u64::from(self.colours)
    }

    /// How many frames lie from the beginning to a page.
    pub fn place(self, page: u64) -> u64 {
        if self.is_whole() {
            return page;
        }
        // Without the lowest colours, whose pages come before.
        let bits = (0..page % self.each()).fold(self.bits, |bits, _| bits & bits.wrapping_sub(1));
        (page / self.each()).saturating_mul(self.colours.into()).saturating_add(u64::from(bits.trailing_zeros() % 64))
    }

    /// How many frames so many pages lie among, from the beginning on: whole turns of the colours.
    pub fn extent(self, pages: u64) -> u64 {
        if self.is_whole() {
            return pages;
        }
        pages.div_ceil(self.each()).saturating_mul(self.colours.into())
    }
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
    /// Of a slot's task: which of the slot's it is, from 1 on; its stack and its task's page lie by that in every slot alike. Zero of others.
    pub place: u32,
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

#[cfg(test)]
mod tests {
    use super::*;

    fn component(first_grant: u32, grants: u32) -> Component {
        Component {
            name: [0; 24],
            entry: 0,
            first_grant,
            grants,
            role: 0,
            restarted_by: NO_COMPONENT,
            brands: 0,
            lines: 0,
            releases: 0,
            tick: 0,
            colours: 1,
            window_colours: 1,
            sequences: [[0; 2]; MAX_SEQUENCES],
            restart_nanos: 0,
            restarts: 0,
            reserved: 0,
        }
    }

    fn memory(kind: MemoryKind, bytes: u64, offset: u64) -> Memory {
        Memory { kind: kind as u32, late: 0, bytes, offset, file_bytes: 0, colours: 1 }
    }

    #[test]
    fn grants_whose_end_wraps_do_not_lie_within_the_table() {
        assert!(component(2, 3).grants_lie_within(5));
        assert!(!component(3, 3).grants_lie_within(5));
        assert!(!component(u32::MAX - 1, 3).grants_lie_within(5));
        assert!(!component(u32::MAX, 1).grants_lie_within(u32::MAX));
    }

    #[test]
    fn memory_has_whole_pages_and_no_more_than_the_kernel_makes() {
        assert_eq!(memory(MemoryKind::Copied, 3 * PAGE, 0).pages(1), Some(3));
        assert_eq!(memory(MemoryKind::Copied, 3 * PAGE + 1, 0).pages(1), None);
        assert_eq!(memory(MemoryKind::Clock, PAGE, 0).pages(1), Some(1));
        assert_eq!(memory(MemoryKind::Clock, 2 * PAGE, 0).pages(1), None);
        assert_eq!(memory(MemoryKind::PciConfiguration, 2 * PAGE, 0).pages(1), None);
        assert_eq!(memory(MemoryKind::Regions, 2 * REGION_STRIDE, 0).pages(2), Some(2 * REGION_STRIDE / PAGE));
        assert_eq!(memory(MemoryKind::Regions, 3 * REGION_STRIDE, 0).pages(2), None);
    }

    #[test]
    fn pages_of_some_colours_lie_at_frames_of_those_colours_in_turn() {
        for colours in [1_u32, 2, 4, 8, 64] {
            for bits in [1_u64, 0b10, 0b110, 0xf0, 1 << 63, u64::MAX] {
                let bits = bits & (u64::MAX >> (64 - colours));
                if bits == 0 {
                    continue;
                }
                let it = Interleaved { bits, colours };
                let right = (0..1000_u64).filter(|frame| bits >> (frame % u64::from(colours)) & 1 != 0);
                for (page, frame) in right.enumerate() {
                    assert_eq!(it.place(page as u64), frame);
                    assert!(it.extent(page as u64 + 1) > frame);
                    assert!(it.is_whole() || it.extent(page as u64 + 1) - frame <= u64::from(colours));
                }
            }
        }
    }

    #[test]
    fn a_part_of_the_trace_memory_whose_end_wraps_is_none() {
        assert_eq!(memory(MemoryKind::Trace, PAGE, PAGE).part_from(PAGE, 1), Some((2 * PAGE, 3 * PAGE)));
        assert_eq!(memory(MemoryKind::Trace, PAGE, u64::MAX).part_from(PAGE, 1), None);
        assert_eq!(memory(MemoryKind::Trace, u64::MAX - PAGE + 1, PAGE).part_from(0, 1), None);
    }
}
