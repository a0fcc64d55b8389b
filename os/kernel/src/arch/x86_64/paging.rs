//! Page tables: four levels, pages of 4 KiB for components, the kernel's half shared by all.

use super::FrameSource;
use core::arch::asm;

/// Physical memory below 4 GiB appears here, not executable.
pub const DIRECT: u64 = 0xffff_8000_0000_0000;
/// Physical address at which memory begins.
pub const MEMORY: u64 = 0;
/// The end of what components may have.
pub const USER_END: u64 = 0x0000_7fff_ffff_f000;

pub(super) const PRESENT: u64 = 1;
pub(super) const WRITE: u64 = 2;
const USER: u64 = 4;
/// What is read or written goes to the device at once, past all caches.
const UNCACHED: u64 = 1 << 3 | 1 << 4;
/// What the processor notes: read, written.
#[cfg(feature = "check")]
pub const USED: u64 = 1 << 5 | 1 << 6;
pub(super) const NO_EXECUTE: u64 = 1 << 63;
pub(super) const ADDRESS: u64 = 0x000f_ffff_ffff_f000;

extern "C" {
    static mut boot_pml4: [u64; 512];
}

/// The physical address of the table from which address spaces have the kernel's half.
pub fn kernel_top() -> u64 {
    (&raw const boot_pml4) as u64
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

/// An address space, by the physical address of its top table. Known to the entry code.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub struct AddressSpace(u64);

impl AddressSpace {
    /// None; for places that are filled later.
    pub const NONE: AddressSpace = AddressSpace(0);

    /// An address space with the kernel's half only, its top table of one of these colours.
    pub fn new(frames: &mut dyn FrameSource, colours: u64) -> Result<Self, MapError> {
        let top = frames.page(colours).ok_or(MapError::OutOfFrames)?;
        let table: *mut u64 = direct(top);
        for entry in 256..512 {
            // SAFETY: `top` is a fresh frame of 512 entries; `boot_pml4` is not changed in its upper half after
            // start-up.
            unsafe { table.add(entry).write((&raw const boot_pml4).cast::<u64>().add(entry).read()) };
        }
        Ok(AddressSpace(top))
    }

    /// The last of the tables that lead to an address, made where it is not there, of these colours.
    pub fn table(self, frames: &mut dyn FrameSource, colours: u64, address: u64) -> Result<*mut u64, MapError> {
        if address >= USER_END {
            return Err(MapError::BadAddress);
        }
        let mut table: *mut u64 = direct(self.0);
        for level in (1..4).rev() {
            let index = (address >> (12 + 9 * level)) as usize & 511;
            // SAFETY: `table` is one of this address space's tables, reached from its top through entries that this
            // function wrote; nobody else has the address space while the system is being set up.
            let entry = unsafe { &mut *table.add(index) };
            if *entry & PRESENT == 0 {
                *entry = frames.page(colours).ok_or(MapError::OutOfFrames)? | PRESENT | WRITE | USER;
            }
            table = direct(*entry & ADDRESS);
        }
        Ok(table)
    }

    /// The frame that a component sees at an address, if it sees one.
    pub fn frame_at(self, address: u64) -> Option<u64> {
        let mut table: *mut u64 = direct(self.0);
        for level in (0..4).rev() {
            // SAFETY: as in `lets_write`.
            let entry = unsafe { table.add((address >> (12 + 9 * level)) as usize & 511).read_volatile() };
            if entry & PRESENT == 0 {
                return None;
            }
            table = direct(entry & ADDRESS);
        }
        Some(table as u64 - DIRECT)
    }

    /// The physical address of its top table.
    pub fn top(self) -> u64 {
        self.0
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
        let entry = unsafe { &mut *table.add((address >> 12) as usize & 511) };
        if *entry & PRESENT != 0 {
            return Err(MapError::Occupied);
        }
        *entry = leaf(frame, access);
        Ok(())
    }

    /// Whether a component may write there: a walk of four steps.
    pub fn lets_write(self, address: u64) -> bool {
        if address >= USER_END {
            return false;
        }
        let mut table: *mut u64 = direct(self.0);
        for level in (0..4).rev() {
            let index = (address >> (12 + 9 * level)) as usize & 511;
            // SAFETY: `table` is one of this address space's tables; they are made during set-up and never taken away.
            let entry = unsafe { table.add(index).read_volatile() };
            if entry & (PRESENT | WRITE | USER) != PRESENT | WRITE | USER {
                return false;
            }
            table = direct(entry & ADDRESS);
        }
        true
    }

    /// Shows every entry of the components' half that leads somewhere: where it stands, and what it holds, the processor's
    /// marks of use apart.
    #[cfg(feature = "check")]
    pub fn look(self, see: &mut dyn FnMut(*mut u64, u64)) {
        look_at(direct(self.0), 3, see);
    }

    /// Makes this the current core's address space. Selectors of segments, which any component can load, are cleared with it; that of GS
    /// is on the way out.
    pub fn load(self) {
        // SAFETY: every address space holds the kernel's half, so the code and stack in use stay mapped; 64-bit code has no use for the
        // selectors.
        unsafe {
            asm!("mov cr3, {space}", "mov ds, {none:e}", "mov es, {none:e}", "mov fs, {none:e}", space = in(reg) self.0,
                none = in(reg) 0, options(nostack, preserves_flags));
        }
    }
}

/// See [`AddressSpace::look`]; `level` is 3 for the top table, of which components have half.
#[cfg(feature = "check")]
fn look_at(table: *mut u64, level: usize, see: &mut dyn FnMut(*mut u64, u64)) {
    for place in 0..if level == 3 { 256 } else { 512 } {
        // SAFETY: a table has 512 entries, and is never taken away.
        let place = unsafe { table.add(place) };
        // SAFETY: as above; the processor may write marks of use at any time.
        let entry = unsafe { place.read_volatile() } & !USED;
        if entry & PRESENT != 0 {
            see(place, entry);
            if level != 0 {
                look_at(direct(entry & ADDRESS), level - 1, see);
            }
        }
    }
}

/// The entry of a table that shows a frame.
pub fn leaf(frame: u64, access: Access) -> u64 {
    let rights = match access {
        Access::Read => NO_EXECUTE,
        Access::Write => NO_EXECUTE | WRITE,
        Access::Execute => 0,
        Access::Device => NO_EXECUTE | WRITE | UNCACHED,
    };
    frame | PRESENT | USER | rights
}

/// The frame that an entry shows.
pub fn frame_of(entry: u64) -> u64 {
    entry & ADDRESS
}

/// An entry that showed nothing was written: a walk that comes later finds it.
#[inline(always)]
pub fn shown() {}

/// Fills frames that lie side by side with zeros. By words: an emulator counts one instruction for each element.
///
/// # Safety
/// The frames are usable memory, and nobody sees them or holds a reference into them: no component, device or core.
#[inline(always)]
pub unsafe fn clear(first: u64, frames: u64) {
    // SAFETY: promised by the caller; the kernel sees all usable memory at `DIRECT`.
    unsafe {
        asm!("rep stosq", inout("rcx") frames * 512 => _, inout("rdi") direct::<u64>(first) => _, in("rax") 0,
            options(nostack, preserves_flags));
    }
}

/// Makes this core forget what it remembers of mappings of components that have changed.
pub fn forget_mappings() {
    // SAFETY: loads the address space that is loaded.
    unsafe { asm!("mov {0}, cr3", "mov cr3, {0}", out(reg) _, options(nostack, preserves_flags)) }
}

/// Drops the identity mapping of start-up.
pub fn drop_identity() {
    // SAFETY: all cores run at the kernel's own address by now.
    unsafe {
        (&raw mut boot_pml4).cast::<u64>().write(0);
        asm!("mov {0}, cr3", "mov cr3, {0}", out(reg) _, options(nostack, preserves_flags));
    }
}

/// The address of the last page fault on this core.
pub fn fault_address() -> u64 {
    let address: u64;
    // SAFETY: reading the register has no effect.
    unsafe { asm!("mov {}, cr2", out(reg) address, options(nomem, nostack, preserves_flags)) }
    address
}

/// Turns on what the processor has against the kernel's own mistakes (no execution of, and no stray access to, user
/// memory), and its reports of errors of the machine. The kernel never touches a component's memory through the component's addresses.
pub fn protect_from_user() {
    // SAFETY: CPUID exists on every 64-bit processor; the bits set are those it reports.
    unsafe {
        let leaf = core::arch::x86_64::__cpuid_count(7, 0);
        let features = leaf.ebx;
        let mut cr4: u64;
        asm!("mov {}, cr4", out(reg) cr4, options(nomem, nostack, preserves_flags));
        // Machine checks.
        if core::arch::x86_64::__cpuid(1).edx & (1 << 7) != 0 {
            cr4 |= 1 << 6;
        }
        if core::arch::x86_64::__cpuid(0).eax >= 7 {
            if features & (1 << 7) != 0 {
                cr4 |= 1 << 20;
            }
            if features & (1 << 20) != 0 {
                cr4 |= 1 << 21;
            }
            // Keeps components from reading where the kernel's tables lie.
            if leaf.ecx & (1 << 2) != 0 {
                cr4 |= 1 << 11;
            }
        }
        asm!("mov cr4, {}", in(reg) cr4, options(nostack, preserves_flags));
    }
}

/// Whether what an entry shows may be executed.
#[cfg(feature = "fault-injection")]
pub fn is_executable(entry: u64) -> bool {
    entry & NO_EXECUTE == 0
}

/// The same entry with the right to write if it had none, and without if it had.
#[cfg(feature = "fault-injection")]
pub fn with_write_turned(entry: u64) -> u64 {
    entry ^ WRITE
}
