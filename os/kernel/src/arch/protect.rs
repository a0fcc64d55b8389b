//! The kernel's own pages: none may be both written and executed, and below each stack one is missing.
//!
//! Start-up maps the first gibibyte at the kernel's link address with every right, components' frames included. What stays is the
//! kernel alone, page by page: text to be executed, constants to be read, the rest to be written. In the map of all memory at
//! [`super::paging::DIRECT`], where nothing is executed, text and constants can only be read.

#[cfg(feature = "check")]
use super::paging::ADDRESS;
use super::paging::{direct, NO_EXECUTE, PRESENT, WRITE};
use core::arch::asm;

/// Where the linker puts physical address 0.
const BASE: u64 = 0xffff_ffff_8000_0000;
const PAGE: u64 = 4096;
/// How much a table of pages shows.
const TABLE: u64 = 512 * PAGE;
/// Tables for the kernel, which lies in the first of memory.
const TABLES: usize = 2;

#[repr(C, align(4096))]
struct Table([u64; 512]);

static mut DIRECTORY: Table = Table([0; 512]);
static mut KERNEL: [Table; TABLES] = [const { Table([0; 512]) }; TABLES];
static mut IN_DIRECT: [Table; TABLES] = [const { Table([0; 512]) }; TABLES];

extern "C" {
    static text_start: u8;
    static text_end: u8;
    static rodata_end: u8;
    static kernel_end: u8;
    static mut boot_high: [u64; 512];
    static mut boot_pages: [u64; 512];
    #[cfg(feature = "check")]
    static boot_pml4: [u64; 512];
}

/// The rights of the kernel's page at this physical address; nothing where there is none of the kernel's.
fn rights(physical: u64) -> Option<u64> {
    let address = BASE + physical;
    let [text, constants, data] =
        [&raw const text_start, &raw const text_end, &raw const rodata_end].map(|it| it as u64);
    if address < text || physical >= (&raw const kernel_end) as u64 {
        return None;
    }
    Some(match address {
        _ if address < constants => PRESENT,
        _ if address < data => PRESENT | NO_EXECUTE,
        _ => PRESENT | WRITE | NO_EXECUTE,
    })
}

/// Leaves the kernel's own pages, each with its rights, but for the guards below stacks. Once, before any other core is started.
pub fn protect_kernel(guards: impl Iterator<Item = u64>) {
    assert!((&raw const kernel_end) as u64 <= TABLES as u64 * TABLE);
    // SAFETY: nobody else runs; the tables are written through their own addresses before they are in force, and the two of start-up
    // through the map of all memory. Everything that is in use stays mapped: text, constants, data and stacks of the kernel.
    unsafe {
        let kernel = (&raw mut KERNEL).cast::<u64>();
        let in_direct = (&raw mut IN_DIRECT).cast::<u64>();
        for number in 0..TABLES * 512 {
            let physical = number as u64 * PAGE;
            let right = rights(physical);
            kernel.add(number).write(right.map_or(0, |right| physical | right));
            // The lower addresses of start-up share these tables, and its code there is executed.
            let written = right.is_none_or(|right| right & WRITE != 0);
            in_direct.add(number).write(physical | PRESENT | if written { WRITE } else { 0 });
        }
        for guard in guards {
            kernel.add(((guard - BASE) / PAGE) as usize).write(0);
        }
        let pages = direct::<u64>((&raw const boot_pages) as u64);
        for table in 0..TABLES {
            let of = |all: *mut u64| (all.add(table * 512) as u64 - BASE) | PRESENT | WRITE;
            (&raw mut DIRECTORY).cast::<u64>().add(table).write(of(kernel));
            pages.add(table).write_volatile(of(in_direct));
        }
        let directory = (&raw const DIRECTORY) as u64 - BASE;
        direct::<u64>((&raw const boot_high) as u64).add(510).write_volatile(directory | PRESENT | WRITE);
        asm!("mov {0}, cr3", "mov cr3, {0}", out(reg) _, options(nostack, preserves_flags));
    }
}

/// The first address of the kernel's half that may be both written and executed, if there is one.
#[cfg(feature = "check")]
pub fn writable_and_executable() -> Option<u64> {
    // All address spaces share the kernel's half of the first one.
    walk((&raw const boot_pml4) as u64, 3, 256, 0xffff << 48, (true, true))
}

#[cfg(feature = "check")]
fn walk(table: u64, level: u32, from: usize, address: u64, (written, executed): (bool, bool)) -> Option<u64> {
    (from..512).find_map(|number| {
        // SAFETY: a table has 512 entries, and those of the kernel's half are never taken away.
        let entry = unsafe { direct::<u64>(table).add(number).read_volatile() };
        let rights = (written && entry & WRITE != 0, executed && entry & NO_EXECUTE == 0);
        let at = address | (number as u64) << (12 + 9 * level);
        match entry & PRESENT {
            0 => None,
            _ if level == 0 || entry & 0x80 != 0 => (rights == (true, true)).then_some(at),
            _ => walk(entry & ADDRESS, level - 1, 0, at, rights),
        }
    })
}
