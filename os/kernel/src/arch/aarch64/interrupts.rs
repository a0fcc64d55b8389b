//! Interrupts by their numbers, and those that cores send each other.

use super::gic;
use core::arch::asm;

/// The core's timer.
pub const TIMER: u64 = 0x40;
/// Inter-core event.
pub const NOTIFY: u64 = 0x41;
/// A component was stopped.
pub const STOP: u64 = 0x42;
/// Brands and schedulers have mail from another core.
pub const MAIL: u64 = 0x43;
/// The first of the interrupt lines.
pub const LINES: u64 = 0x50;
/// Nobody sent it.
pub const SPURIOUS: u64 = 0xff;
/// Below are exceptions.
const EXCEPTIONS: u64 = 32;

/// By what a core is named to the controller of interrupts: its affinity (MPIDR).
pub type Address = u64;

/// The processor's exceptions come before all interrupts.
#[inline(always)]
pub fn is_interrupt(number: u64) -> bool {
    number >= EXCEPTIONS
}

/// The interrupt that the current core is told of, by its number. It ends right away, since nothing interrupts the kernel; the timer is
/// stopped first, which would go on asking.
#[no_mangle]
extern "C" fn interrupt_number() -> u64 {
    let number = gic::acknowledge();
    let meant = match number {
        gic::TIMER => {
            super::timer::start(0);
            TIMER
        }
        0..=2 => NOTIFY + number,
        gic::FIRST_LINE.. if number < gic::FIRST_LINE + super::lines::COUNT as u64 => LINES + number - gic::FIRST_LINE,
        _ => SPURIOUS,
    };
    if number < gic::NO_INTERRUPT {
        gic::end(number);
    }
    meant
}

/// Every interrupt ended when its number was asked for.
#[inline(always)]
pub fn end() {}

/// The current core's address.
pub fn own_address() -> Address {
    let affinity: u64;
    // SAFETY: reading the register has no effect.
    unsafe { asm!("mrs {}, mpidr_el1", out(reg) affinity, options(nomem, nostack, preserves_flags)) }
    affinity & 0xff_00ff_ffff
}

/// Interrupts another core.
pub fn notify(core: Address) {
    gic::send(core, 0);
}

/// Makes another core look whether it is in a component that was stopped.
pub fn stop(core: Address) {
    gic::send(core, STOP - NOTIFY);
}

/// Makes a core look at its mail.
pub fn mail(core: Address) {
    gic::send(core, MAIL - NOTIFY);
}
