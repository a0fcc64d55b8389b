//! The kernel's own pages: none may be both written and executed, and below each stack one is missing.
//!
//! Start-up maps the first gibibyte at the kernel's link address with every right, components' frames included. What stays is the
//! kernel alone, page by page: text to be executed, constants to be read, the rest to be written. In the map of all memory at
//! [`super::paging::DIRECT`], where nothing is executed, text and constants can only be read.
//!
//! A kernel with colours of its own moves, page by page, to frames of these colours, and so do the tables that show it.

use super::paging::{direct, ADDRESS, DIRECT, NO_EXECUTE, PRESENT, WRITE};
use super::FrameSource;
use core::arch::asm;
use core::sync::atomic::{AtomicU64, Ordering};

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
    static mut boot_pml4: [u64; 512];
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

/// The entry of a table of 2 MiB that shows them as one page.
const LARGE: u64 = 0x80;
/// Where the kernel sees frames that do not follow each other as if they did: the next free address, above the kernel's own pages.
static NEXT_PIECE: AtomicU64 = AtomicU64::new(BASE + TABLES as u64 * TABLE);
/// The end of it.
const PIECES_END: u64 = BASE + 512 * TABLE;

/// The table of 2 MiB pieces, or of pages, that leads to an address of the kernel's half: `level` 1 or 0.
fn table_of(address: u64, level: u32) -> Option<*mut u64> {
    let mut table = direct::<u64>((&raw const boot_pml4) as u64);
    for at in (level + 1..4).rev() {
        // SAFETY: tables of the kernel's half, reached from its top; they are never taken away.
        let entry = unsafe { table.add((address >> (12 + 9 * at)) as usize & 511).read_volatile() };
        if entry & PRESENT == 0 || (at < 3 && entry & LARGE != 0) {
            return None;
        }
        table = direct(entry & ADDRESS);
    }
    Some(table)
}

/// The physical address of one of the kernel's own.
pub fn physical(address: u64) -> Option<u64> {
    let table = table_of(address, 0)?;
    // SAFETY: as in `table_of`.
    let entry = unsafe { table.add((address >> 12) as usize & 511).read_volatile() };
    (entry & PRESENT != 0).then_some((entry & ADDRESS) | (address % PAGE))
}

/// Memory of the kernel's own in one piece, full of zeros: this number of pages. During set-up.
pub fn piece<T>(frames: &mut dyn FrameSource, pages: u64) -> Option<*mut T> {
    if frames.is_every(frames.kernel_colours()) {
        return frames.pages(pages, u64::MAX).map(direct);
    }
    let first = NEXT_PIECE.load(Ordering::Relaxed);
    for _ in 0..pages {
        let frame = frames.kernel_page()?;
        show(frames, frame)?;
    }
    Some(first as *mut T)
}

/// Shows the frame to the kernel behind those that were shown before; its address. During set-up.
pub fn show(frames: &mut dyn FrameSource, frame: u64) -> Option<u64> {
    let address = NEXT_PIECE.fetch_add(PAGE, Ordering::Relaxed);
    if address >= PIECES_END {
        return None;
    }
    let directory = table_of(address, 1)?;
    // SAFETY: as in `table_of`; one core runs, and what is written was not present, so that no core remembers it.
    unsafe {
        let entry = directory.add((address >> 21) as usize & 511);
        if entry.read_volatile() & PRESENT == 0 {
            entry.write_volatile(frames.kernel_page()? | PRESENT | WRITE);
        }
        direct::<u64>(entry.read_volatile() & ADDRESS)
            .add((address >> 12) as usize & 511)
            .write_volatile(frame | PRESENT | WRITE | NO_EXECUTE);
    }
    Some(address)
}

/// A copy of the table and of those below it, in frames of the kernel's colours.
fn copy(frames: &mut dyn FrameSource, table: u64, level: u32) -> Option<u64> {
    let new = frames.kernel_page()?;
    for number in 0..512 {
        // SAFETY: a table that start-up made has 512 entries; the copy is a fresh frame.
        unsafe {
            let entry = direct::<u64>(table).add(number).read_volatile();
            let leads = entry & PRESENT != 0 && level > 0 && entry & LARGE == 0;
            let copied = if leads { copy(frames, entry & ADDRESS, level - 1)? | entry & !ADDRESS } else { entry };
            direct::<u64>(new).add(number).write(copied);
        }
    }
    Some(new)
}

/// Moves the kernel's pages and the tables of its half to frames of its colours. Once, before any other core is started and before there
/// is an address space.
pub fn move_kernel(frames: &mut dyn FrameSource) -> Option<()> {
    let top = direct::<u64>((&raw const boot_pml4) as u64);
    for half in [256, 511] {
        // SAFETY: an entry of the top table; what it leads to stays as it is, and is the same in the copy.
        unsafe {
            let entry = top.add(half).read_volatile();
            top.add(half).write_volatile(copy(frames, entry & ADDRESS, 2)? | entry & !ADDRESS);
        }
    }
    super::paging::forget_mappings();
    for number in 0..TABLES as u64 * 512 {
        let address = BASE + number * PAGE;
        // SAFETY: a table of the copy made above; the kernel's pages are mapped there, and nobody else runs.
        let entry = unsafe { table_of(address, 0)?.add(number as usize & 511) };
        // SAFETY: as above.
        let old = unsafe { entry.read_volatile() };
        if old & PRESENT == 0 {
            continue;
        }
        let frame = frames.kernel_page()?;
        // SAFETY: the page, which may be the stack in use, is copied and then shown from its new frame without a write to it in between:
        // all that is needed is in registers, and nothing interrupts. Text is the same at both places.
        unsafe {
            asm!("rep movsq", "mov [{entry}], {new}", "invlpg [{address}]",
                entry = in(reg) entry, new = in(reg) frame | old & !ADDRESS, address = in(reg) address,
                inout("rcx") PAGE / 8 => _, inout("rsi") address => _, inout("rdi") direct::<u8>(frame) => _,
                options(nostack, preserves_flags));
        }
        if old & WRITE == 0 {
            only_read(frames, DIRECT + frame)?;
        }
    }
    Some(())
}

/// Takes the right to write a page in the map of all memory.
fn only_read(frames: &mut dyn FrameSource, address: u64) -> Option<()> {
    let directory = table_of(address, 1)?;
    // SAFETY: a table of the map of all memory; what it shows stays the same, but for the right to write a page that nobody writes.
    unsafe {
        let entry = directory.add((address >> 21) as usize & 511);
        let large = entry.read_volatile();
        if large & LARGE != 0 {
            let table = frames.kernel_page()?;
            for number in 0..512 {
                direct::<u64>(table).add(number).write((large & !LARGE) + number as u64 * PAGE);
            }
            entry.write_volatile(table | PRESENT | WRITE);
        }
        let page = direct::<u64>(entry.read_volatile() & ADDRESS).add((address >> 12) as usize & 511);
        page.write_volatile(page.read_volatile() & !WRITE);
    }
    super::paging::forget_mappings();
    Some(())
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
