//! The kernel's own pages: none may be both written and executed, and below each stack one is missing.
//!
//! Start-up maps the kernel's gibibyte with every right, components' frames included. What stays is the kernel alone, page by page: text to
//! be executed, constants to be read, the rest to be written. In the map of all memory at [`super::paging::DIRECT`], where nothing is
//! executed, text and constants can only be read. Tables in force are not changed: others take their place, on the way through code at a
//! physical address, and what the core remembers is forgotten.
//!
//! The kernel's frames have no colours of their own here: a system whose memory has colours is not booted on this processor.

use super::paging::{direct, BLOCK, CONTROL_OF_RUN, DEVICE, MEMORY, MEMORY_KIND, NEVER_EXECUTED};
use super::paging::{NEVER_EXECUTED_BELOW, PAGE as SHOWN, READ_ONLY, TABLE as LEADS};
use super::FrameSource;
use core::arch::asm;

/// Where the linker puts physical address 0.
pub const BASE: u64 = 0xffff_ffff_8000_0000;
const PAGE: u64 = 4096;
/// How much a table of pages shows.
const SPAN: u64 = 512 * PAGE;
/// Tables for the kernel, from the first of its gibibyte on.
const TABLES: usize = 4;

#[repr(C, align(4096))]
struct Table([u64; 512]);
const EMPTY: Table = Table([0; 512]);

static mut TOP: Table = EMPTY;
static mut KERNEL: Table = EMPTY;
static mut ALL: Table = EMPTY;
static mut KERNEL_DIRECTORY: Table = EMPTY;
static mut DIRECTORY: Table = EMPTY;
static mut KERNEL_PAGES: [Table; TABLES] = [const { EMPTY }; TABLES];
static mut PAGES: [Table; TABLES] = [const { EMPTY }; TABLES];

extern "C" {
    static text_start: u8;
    static text_end: u8;
    static rodata_end: u8;
    static kernel_end: u8;
    static kernel_end_virtual: u8;
    /// At its physical address.
    fn change_upper();
}

/// The rights of the kernel's page at this physical address; nothing where there is none of the kernel's.
fn rights(physical: u64) -> Option<u64> {
    let address = BASE + physical;
    let [text, constants, data, end] =
        [&raw const text_start, &raw const text_end, &raw const rodata_end, &raw const kernel_end_virtual]
            .map(|it| it as u64);
    Some(match address {
        _ if address < text || address >= end => return None,
        _ if address < constants => READ_ONLY | NEVER_EXECUTED_BELOW,
        _ if address < data => READ_ONLY | NEVER_EXECUTED,
        _ => NEVER_EXECUTED,
    })
}

/// Leaves the kernel's own pages, each with its rights, but for the guards below stacks. Once, before any other core is started.
pub fn protect_kernel(guards: impl Iterator<Item = u64>) {
    assert!((&raw const kernel_end) as u64 <= MEMORY + TABLES as u64 * SPAN);
    const GIBIBYTE: u64 = 1 << 30;
    // SAFETY: nobody else runs; the tables are written before they are in force. Everything that is in use stays mapped: text, constants,
    // data and stacks of the kernel, devices and memory.
    unsafe {
        let entry = |table: *mut Table, number: usize, value: u64| table.cast::<u64>().add(number).write(value);
        let leads = |table: *mut Table| (table as u64 - BASE) | LEADS;
        let (kernel_pages, pages) = ((&raw mut KERNEL_PAGES).cast::<Table>(), (&raw mut PAGES).cast::<Table>());
        for number in 0..TABLES * 512 {
            let physical = MEMORY + number as u64 * PAGE;
            let right = rights(physical);
            let shown = physical | SHOWN | MEMORY_KIND;
            entry(kernel_pages, number, right.map_or(0, |right| shown | right));
            let read_only = right.map_or(0, |right| right & READ_ONLY);
            entry(pages, number, shown | NEVER_EXECUTED | read_only);
        }
        for guard in guards {
            entry(kernel_pages, ((guard - BASE - MEMORY) / PAGE) as usize, 0);
        }
        for number in 0..512 {
            let block = (MEMORY + number as u64 * SPAN) | BLOCK | MEMORY_KIND | NEVER_EXECUTED;
            let own = number < TABLES;
            entry(&raw mut DIRECTORY, number, if own { leads(pages.add(number)) } else { block });
            if own {
                entry(&raw mut KERNEL_DIRECTORY, number, leads(kernel_pages.add(number)));
            }
        }
        entry(&raw mut ALL, 0, BLOCK | DEVICE | NEVER_EXECUTED);
        entry(&raw mut ALL, 1, leads(&raw mut DIRECTORY));
        for number in 2..4 {
            entry(&raw mut ALL, number, (number as u64 * GIBIBYTE) | BLOCK | MEMORY_KIND | NEVER_EXECUTED);
        }
        // The kernel's gibibyte is the last of all addresses.
        entry(&raw mut KERNEL, 511, leads(&raw mut KERNEL_DIRECTORY));
        entry(&raw mut TOP, 256, leads(&raw mut ALL));
        entry(&raw mut TOP, 511, leads(&raw mut KERNEL));
        let top = (&raw const TOP) as u64 - BASE;
        asm!("blr {change}", "msr sctlr_el1, {control}", "isb", change = in(reg) change_upper as *const () as u64,
            control = in(reg) CONTROL_OF_RUN, in("x0") top, out("x30") _, options(nostack));
    }
}

/// The physical address of one of the kernel's own.
pub fn physical(address: u64) -> Option<u64> {
    let at = address.checked_sub(BASE)?;
    rights(at).map(|_| at)
}

/// Memory of the kernel's own in one piece, full of zeros: this number of pages. During set-up.
pub fn piece<T>(frames: &mut dyn FrameSource, pages: u64) -> Option<*mut T> {
    frames.pages(pages, frames.kernel_colours()).map(direct)
}

/// Shows a frame to the kernel behind those that were shown before: where memory has colours, which it has not here.
pub fn show(_: &mut dyn FrameSource, _frame: u64) -> Option<u64> {
    None
}

/// Moves the kernel to frames of its colours: it has none, see above.
pub fn move_kernel(_: &mut dyn FrameSource) -> Option<()> {
    None
}
