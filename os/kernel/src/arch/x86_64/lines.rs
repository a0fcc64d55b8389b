//! Interrupt lines of devices: through the I/O APIC, or through the old controllers where there is none.
//!
//! Only core 0 touches them once the system runs: each needs two accesses for one change.

use super::acpi;
use super::apic;
use super::paging::direct;
use super::port::{in8, out8};
use super::registers::{LINES, VECTOR_LINES};
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// How many lines there are.
pub const COUNT: usize = LINES as usize;
/// Lines of the old controllers.
const OLD: usize = 16;
const MASKED: u32 = 1 << 16;

/// Physical address of the I/O APIC; 0 if there is none. Known to the entry code, as are the next two.
pub static CONTROLLER: AtomicU64 = AtomicU64::new(0);
/// How far the register for values is from that which selects.
pub const VALUE: u64 = 0x10;
/// What [`silence`] writes for each line whose interrupts the entry code may handle: the number of the I/O APIC's register, and above it
/// the value; 0 for all others.
pub static SILENCING: [AtomicU64; COUNT] = [const { AtomicU64::new(0) }; COUNT];
/// Of each line: the input that it is connected to, with polarity and trigger mode as the I/O APIC wants them.
static INPUTS: [AtomicU64; COUNT] = [const { AtomicU64::new(0) }; COUNT];
/// The APIC number of the core that gets the interrupts.
static TARGET: AtomicU64 = AtomicU64::new(0);

/// Finds the controller; everything is masked. By core 0.
pub fn set_up(firmware: u64) {
    for (line, input) in INPUTS.iter().enumerate() {
        // Inputs beyond the old controllers' are for buses whose devices share lines: level, active low, unless the tables
        // say otherwise. An edge would be lost while the line is masked.
        let mode = if line < OLD { 0 } else { 1 << 13 | 1 << 15 };
        input.store(line as u64 | mode, Relaxed);
    }
    TARGET.store(apic::id().into(), Relaxed);
    let address = acpi::lines(firmware, |line, input, flags| {
        if let Some(place) = INPUTS.get(line) {
            let low = if flags & 3 == 3 { 1 << 13 } else { 0 };
            let level = if flags & 12 == 12 { 1 << 15 } else { 0 };
            place.store(u64::from(input) | low | level, Relaxed);
        }
    });
    CONTROLLER.store(address, Relaxed);
    for line in 0..COUNT {
        set(line, false);
    }
    if address == 0 {
        apic::accept_old_controllers();
    }
}

/// Lets the line interrupt, or not.
pub fn set(line: usize, open: bool) {
    let address = CONTROLLER.load(Relaxed);
    if address == 0 {
        if line < OLD {
            let (port, bit) = if line < 8 { (0x21, line) } else { (0xa1, line - 8) };
            let mask = in8(port);
            out8(port, if open { mask & !(1 << bit) } else { mask | 1 << bit });
            if open && line >= 8 {
                out8(0x21, in8(0x21) & !4);
            }
        }
        return;
    }
    let line = line.min(COUNT - 1);
    write(address, entry(line) + 1, (TARGET.load(Relaxed) as u32) << 24);
    write(address, entry(line), mode(line) | if open { 0 } else { MASKED });
}

/// The line, which has interrupted, interrupts no more, and this interrupt ends. Where it would go to stays as it is.
#[inline(always)]
pub fn silence(line: usize) {
    let address = CONTROLLER.load(Relaxed);
    if address == 0 {
        return silence_old(line);
    }
    let line = line.min(COUNT - 1);
    write(address, entry(line), mode(line) | MASKED);
    apic::end_of_interrupt();
}

/// The entry code may handle the line's interrupts, if there is an I/O APIC. Once that is found.
pub fn shorten(line: usize) {
    if CONTROLLER.load(Relaxed) != 0 {
        let value = u64::from(mode(line) | MASKED) << 32 | u64::from(entry(line));
        SILENCING[line].store(value, Relaxed);
    }
}

/// The same where there is no I/O APIC.
#[cold]
#[inline(never)]
fn silence_old(line: usize) {
    set(line, false);
    if line >= 8 {
        out8(0xa0, 0x20);
    }
    out8(0x20, 0x20);
}

/// The register of the I/O APIC with the line's vector and mode; the next one has its target.
fn entry(line: usize) -> u32 {
    0x10 + 2 * (INPUTS[line].load(Relaxed) & 0xff) as u32
}

/// The line's mode and vector.
fn mode(line: usize) -> u32 {
    (INPUTS[line].load(Relaxed) & 0xff00) as u32 | (VECTOR_LINES as u32 + line as u32)
}

fn write(address: u64, register: u32, value: u32) {
    // SAFETY: the controller's registers, mapped at `direct`: selects one, writes it.
    unsafe {
        direct::<u32>(address).write_volatile(register);
        direct::<u32>(address + VALUE).write_volatile(value);
    }
}
