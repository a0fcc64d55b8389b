//! Page tables: four levels of pages of 4 KiB; components in the lower half, each with an identifier of its own, so that a change of
//! component flushes nothing; the kernel in the upper half, by tables of its own.

use super::FrameSource;
use core::arch::asm;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Physical memory below 4 GiB appears here, not executable.
pub const DIRECT: u64 = 0xffff_8000_0000_0000;
/// The end of what components may have.
pub const USER_END: u64 = 0x0000_7fff_ffff_f000;
/// Physical address at which memory begins.
pub const MEMORY: u64 = 1 << 30;

pub(super) const VALID: u64 = 1;
/// Of an entry that leads to a table, and of one in the last table.
const TABLE_OR_PAGE: u64 = 2;
/// An entry that shows a frame: valid, and noted as accessed.
pub(super) const PAGE: u64 = VALID | TABLE_OR_PAGE | ACCESSED;
/// The same of a block of many frames.
pub(super) const BLOCK: u64 = VALID | ACCESSED;
/// An entry that leads to a table.
pub(super) const TABLE: u64 = VALID | TABLE_OR_PAGE;
const ACCESSED: u64 = 1 << 10;
/// The first of [`ATTRIBUTES`]: a device, whose accesses are neither gathered, nor moved, nor told done early.
pub(super) const DEVICE: u64 = 0;
/// The second: memory that is cached, and shared by all cores.
pub(super) const MEMORY_KIND: u64 = 1 << 2 | 3 << 8;
/// EL0 may access it.
const BELOW: u64 = 1 << 6;
pub(super) const READ_ONLY: u64 = 1 << 7;
/// It holds for the address space's identifier only.
const NOT_GLOBAL: u64 = 1 << 11;
/// EL1 does not execute it.
const NEVER_EXECUTED_HERE: u64 = 1 << 53;
/// EL0 does not.
pub(super) const NEVER_EXECUTED_BELOW: u64 = 1 << 54;
pub(super) const NEVER_EXECUTED: u64 = NEVER_EXECUTED_HERE | NEVER_EXECUTED_BELOW;
pub(super) const ADDRESS: u64 = 0x0000_ffff_ffff_f000;

/// Kinds of memory (MAIR_EL1): a device; memory that is written back.
pub(super) const ATTRIBUTES: u64 = 0xff00;
/// How addresses are translated (TCR_EL1): 48 bits in both halves, pages of 4 KiB, walks of cached memory that all cores share, 40 bits of
/// physical addresses, identifiers of 16 bits that stand in the lower half's register.
pub(super) const TRANSLATION: u64 =
    16 | 1 << 8 | 1 << 10 | 3 << 12 | 16 << 16 | 1 << 24 | 1 << 26 | 3 << 28 | 2 << 30 | 2 << 32 | 1 << 36;
/// What EL1 is to do (SCTLR_EL1): translate, cache, check stack pointers of both levels; everything that could be opened to EL0 is shut;
/// the rest are bits that are always set.
pub(super) const CONTROL: u64 = 1 | 1 << 2 | 1 << 3 | 1 << 4 | 1 << 12 | 0x30d0_0800;
/// The same, and nothing that can be written is executed.
pub(super) const CONTROL_OF_RUN: u64 = CONTROL | 1 << 19;

/// The physical address of the kernel's top table.
pub fn kernel_top() -> u64 {
    let top: u64;
    // SAFETY: reading the register has no effect.
    unsafe { asm!("mrs {}, ttbr1_el1", out(reg) top, options(nomem, nostack, preserves_flags)) }
    top & ADDRESS
}

/// The kernel's pointer to a physical address below 4 GiB.
pub fn direct<T>(physical: u64) -> *mut T {
    (DIRECT + physical) as *mut T
}

/// What may be done with a page from user level. A page is never both writable and executable.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Read only.
    Read,
    /// Read and write.
    Write,
    /// Read and execute.
    Execute,
    /// Read and write what is no memory.
    Device,
}

/// Why a page could not be mapped.
#[derive(Clone, Copy, Debug)]
pub enum MapError {
    /// No frame is left for a table.
    OutOfFrames,
    /// Something is mapped there.
    Occupied,
    /// The address is not a component's, or not page-aligned.
    BadAddress,
}

/// An address space: the physical address of its top table, and above it its identifier, as the register has them.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub struct AddressSpace(u64);

/// Where the identifier stands.
const IDENTIFIER: u32 = 48;
/// The last identifier that was given out. There are fewer components than identifiers.
static LAST: AtomicU64 = AtomicU64::new(0);
const _: () = assert!(tactus_abi::layout::MAX_COMPONENTS < 1 << 16);

impl AddressSpace {
    /// None; for places that are filled later.
    pub const NONE: AddressSpace = AddressSpace(0);

    /// An address space with nothing in it, its top table of one of these colours.
    pub fn new(frames: &mut dyn FrameSource, colours: u64) -> Result<Self, MapError> {
        assert!(has_long_identifiers(), "numbers for 256 address spaces are too few for the kernel");
        let top = frames.page(colours).ok_or(MapError::OutOfFrames)?;
        let identifier = LAST.fetch_add(1, Relaxed) + 1;
        Ok(AddressSpace(top | identifier << IDENTIFIER))
    }

    /// The last of the tables that lead to an address, made where it is not there, of these colours.
    pub fn table(self, frames: &mut dyn FrameSource, colours: u64, address: u64) -> Result<*mut u64, MapError> {
        if address >= USER_END {
            return Err(MapError::BadAddress);
        }
        let mut table: *mut u64 = direct(self.top());
        for level in (1..4).rev() {
            // SAFETY: `table` is one of this address space's tables, reached from its top through entries that this
            // function wrote; nobody else has the address space while the system is being set up.
            let entry = unsafe { &mut *table.add(index(address, level)) };
            if *entry & VALID == 0 {
                *entry = frames.page(colours).ok_or(MapError::OutOfFrames)? | TABLE;
            }
            table = direct(*entry & ADDRESS);
        }
        Ok(table)
    }

    /// The frame that a component sees at an address, if it sees one.
    pub fn frame_at(self, address: u64) -> Option<u64> {
        self.entry(address).map(|entry| entry & ADDRESS)
    }

    /// The entry of an address's page: a walk of four steps.
    fn entry(self, address: u64) -> Option<u64> {
        let mut entry = self.top() | VALID;
        for level in (0..4).rev() {
            if entry & VALID == 0 {
                return None;
            }
            let table: *mut u64 = direct(entry & ADDRESS);
            // SAFETY: `table` is one of this address space's tables; they are made during set-up and never taken away.
            entry = unsafe { table.add(index(address, level)).read_volatile() };
        }
        (entry & VALID != 0).then_some(entry)
    }

    /// The physical address of its top table.
    pub fn top(self) -> u64 {
        self.0 & ADDRESS
    }

    /// Maps one frame; tables that are made for it have these colours.
    pub fn map(
        self,
        frames: &mut dyn FrameSource,
        colours: u64,
        address: u64,
        frame: u64,
        access: Access,
    ) -> Result<(), MapError> {
        if address % 4096 != 0 || frame % 4096 != 0 {
            return Err(MapError::BadAddress);
        }
        let table = self.table(frames, colours, address)?;
        // SAFETY: a table of this address space, as in `table`.
        let entry = unsafe { &mut *table.add(index(address, 0)) };
        if *entry & VALID != 0 {
            return Err(MapError::Occupied);
        }
        *entry = leaf(frame, access);
        Ok(())
    }

    /// Whether a component may write there.
    pub fn lets_write(self, address: u64) -> bool {
        let writable = |entry: u64| entry & (BELOW | READ_ONLY) == BELOW;
        address < USER_END && self.entry(address).is_some_and(writable)
    }

    /// Makes this the current core's address space. What was written into tables before is seen by the walks that follow. The registers
    /// that components can write beside the general ones are cleared with it.
    #[inline(always)]
    pub fn load(self) {
        // SAFETY: the kernel's half has tables of its own.
        unsafe {
            asm!("dsb ishst", "msr ttbr0_el1, {}", "msr tpidr_el0, xzr", "isb", in(reg) self.0,
                options(nostack, preserves_flags));
        }
    }
}

/// The place of an address in a table; 3 is the top one's level.
fn index(address: u64, level: u32) -> usize {
    (address >> (12 + 9 * level)) as usize & 511
}

/// Whether address spaces have numbers of 16 bits (ID_AA64MMFR0_EL1.ASIDBits).
fn has_long_identifiers() -> bool {
    let features: u64;
    // SAFETY: reading the register has no effect.
    unsafe { asm!("mrs {}, id_aa64mmfr0_el1", out(reg) features, options(nomem, nostack, preserves_flags)) }
    features >> 4 & 0xf == 2
}

/// The entry of a table that shows a frame. One to be executed has been written before: what the cache of data has of it goes where
/// instructions are fetched from.
pub fn leaf(frame: u64, access: Access) -> u64 {
    let rights = match access {
        Access::Read => MEMORY_KIND | READ_ONLY | NEVER_EXECUTED,
        Access::Write => MEMORY_KIND | NEVER_EXECUTED,
        Access::Execute => {
            make_executable(frame);
            MEMORY_KIND | READ_ONLY | NEVER_EXECUTED_HERE
        }
        Access::Device => DEVICE | NEVER_EXECUTED,
    };
    frame | PAGE | BELOW | NOT_GLOBAL | rights
}

/// See [`leaf`].
fn make_executable(frame: u64) {
    let kind: u64;
    // SAFETY: reading the register has no effect.
    unsafe { asm!("mrs {}, ctr_el0", out(reg) kind, options(nomem, nostack, preserves_flags)) }
    // The shortest line of all caches of data, in words.
    let line = 4_usize << (kind >> 16 & 0xf);
    for at in (0..4096).step_by(line) {
        // SAFETY: writes back what the cache has of a frame of memory.
        unsafe { asm!("dc cvau, {}", in(reg) direct::<u8>(frame).wrapping_add(at), options(nostack, preserves_flags)) }
    }
    // SAFETY: forgets instructions, which are fetched again.
    unsafe { asm!("dsb ish", "ic ialluis", "dsb ish", "isb", options(nostack, preserves_flags)) }
}

/// The frame that an entry shows.
pub fn frame_of(entry: u64) -> u64 {
    entry & ADDRESS
}

/// What was written into an entry that showed nothing is seen by the walks of all cores from here on.
#[inline(always)]
pub fn shown() {
    // SAFETY: orders what was written before.
    unsafe { asm!("dsb ishst", "isb", options(nostack, preserves_flags)) }
}

/// Fills frames that lie side by side with zeros.
///
/// # Safety
/// The frames are usable memory, and nobody sees them or holds a reference into them: no component, device or core.
#[inline(always)]
pub unsafe fn clear(first: u64, frames: u64) {
    if frames == 0 {
        return;
    }
    // SAFETY: promised by the caller; the kernel sees all usable memory at `DIRECT`.
    unsafe {
        asm!(
            "2: stp xzr, xzr, [{at}], #64",
            "stp xzr, xzr, [{at}, #-48]",
            "stp xzr, xzr, [{at}, #-32]",
            "stp xzr, xzr, [{at}, #-16]",
            "subs {left}, {left}, #1",
            "b.ne 2b",
            at = inout(reg) direct::<u8>(first) => _,
            left = inout(reg) frames * 64 => _,
            options(nostack),
        );
    }
}

/// Makes this core forget what it remembers of mappings of components that have changed.
pub fn forget_mappings() {
    // SAFETY: what is forgotten is found again by a walk.
    unsafe { asm!("dsb ishst", "tlbi vmalle1", "dsb nsh", "isb", options(nostack, preserves_flags)) }
}

#[repr(C, align(4096))]
struct Empty([u64; 512]);

/// The lower half of whoever has none.
static EMPTY: Empty = Empty([0; 512]);

/// Drops the identity mapping of start-up.
pub fn drop_identity() {
    debug_assert!(EMPTY.0[0] == 0);
    let empty = (&raw const EMPTY) as u64 - super::protect::BASE;
    // SAFETY: the core runs at the kernel's own addresses by now; that table shows nothing.
    unsafe {
        asm!("msr ttbr0_el1, {}", "isb", in(reg) empty, options(nostack, preserves_flags));
    }
    forget_mappings();
}

/// The address of the last fault on this core.
pub fn fault_address() -> u64 {
    let address: u64;
    // SAFETY: reading the register has no effect.
    unsafe { asm!("mrs {}, far_el1", out(reg) address, options(nomem, nostack, preserves_flags)) }
    address
}
