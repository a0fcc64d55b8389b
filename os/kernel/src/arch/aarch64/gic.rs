//! The controller of interrupts, version 3: a distributor for lines of devices, a redistributor and registers of its own for each core.

use super::paging::direct;
use core::arch::asm;

/// Physical address of the distributor, as the board `virt` has it.
const DISTRIBUTOR: u64 = 0x0800_0000;
/// Physical address of the first core's redistributor; that of the next core lies [`STRIDE`] bytes above.
const REDISTRIBUTORS: u64 = 0x080a_0000;
const STRIDE: u64 = 0x2_0000;

/// Number of the virtual timer's interrupt.
pub const TIMER: u64 = 27;
/// Number of the first line of devices.
pub const FIRST_LINE: u64 = 32;
/// Numbers from here on are no interrupts.
pub const NO_INTERRUPT: u64 = 1020;

fn write(address: u64, value: u32) {
    // SAFETY: a register of the controller, mapped as a device's at `direct`.
    unsafe { direct::<u32>(address).write_volatile(value) }
}

fn read(address: u64) -> u32 {
    // SAFETY: as in `write`.
    unsafe { direct::<u32>(address).read_volatile() }
}

/// Sets up the distributor: interrupts of the non-secure group, by affinity; all lines closed. Once.
pub fn set_up() {
    const CONTROL: u64 = DISTRIBUTOR;
    const GROUPS: u64 = DISTRIBUTOR + 0x80;
    const CLOSE: u64 = DISTRIBUTOR + 0x180;
    for word in 1..=super::lines::COUNT.div_ceil(32) as u64 {
        write(CLOSE + 4 * word, u32::MAX);
        write(GROUPS + 4 * word, u32::MAX);
    }
    write(CONTROL, 0x12);
}

/// Wakes the current core's redistributor, opens the timer's interrupt and those between cores, and turns the core's own registers on.
pub fn set_up_core() {
    let own = REDISTRIBUTORS + (super::interrupts::own_address() & 0xff) * STRIDE;
    const WAKER: u64 = 0x14;
    const GROUP: u64 = 0x1_0080;
    const OPEN: u64 = 0x1_0100;
    write(own + WAKER, read(own + WAKER) & !2);
    // It says when it is awake; the bound keeps a broken one from holding the kernel.
    for _ in 0..100_000 {
        if read(own + WAKER) & 4 == 0 {
            break;
        }
    }
    write(own + GROUP, u32::MAX);
    write(own + OPEN, 7 | 1 << TIMER);
    // SAFETY: registers of version 3, which are turned on by the first; every priority comes through.
    unsafe {
        asm!(
            "msr S3_0_C12_C12_5, {on}", // ICC_SRE_EL1
            "isb",
            "msr S3_0_C4_C6_0, {all}",  // ICC_PMR_EL1
            "msr S3_0_C12_C12_4, xzr",  // ICC_CTLR_EL1
            "msr S3_0_C12_C12_7, {one}", // ICC_IGRPEN1_EL1
            "isb",
            on = in(reg) 7_u64,
            all = in(reg) 0xff_u64,
            one = in(reg) 1_u64,
            options(nostack, preserves_flags),
        );
    }
}

/// The number of the interrupt that waits for the current core, which is handled from now on.
#[inline(always)]
pub fn acknowledge() -> u64 {
    let number: u64;
    // SAFETY: ICC_IAR1_EL1; the kernel ends what it acknowledges.
    unsafe { asm!("mrs {}, S3_0_C12_C12_0", out(reg) number, options(nostack, preserves_flags)) }
    number
}

/// The interrupt was handled.
#[inline(always)]
pub fn end(number: u64) {
    // SAFETY: ICC_EOIR1_EL1; what the timer was told before is done before.
    unsafe { asm!("isb", "msr S3_0_C12_C12_1, {}", in(reg) number, options(nostack, preserves_flags)) }
}

/// Sends one of the sixteen interrupts between cores. What was written before is seen by who gets it.
pub fn send(core: u64, number: u64) {
    let [place, first, second, third] = [core & 0xf, core >> 8 & 0xff, core >> 16 & 0xff, core >> 32 & 0xff];
    let word = third << 48 | second << 32 | number << 24 | first << 16 | 1 << place;
    // SAFETY: ICC_SGI1R_EL1.
    unsafe { asm!("dsb ishst", "msr S3_0_C12_C11_5, {}", "isb", in(reg) word, options(nostack, preserves_flags)) }
}

/// Lets a line interrupt the core with this address, or not.
pub fn set_line(line: u64, open: bool, core: u64) {
    const OPEN: u64 = DISTRIBUTOR + 0x100;
    const CLOSE: u64 = DISTRIBUTOR + 0x180;
    const ROUTES: u64 = DISTRIBUTOR + 0x6000;
    let number = FIRST_LINE + line;
    let place = 4 * (number / 32);
    if open {
        // SAFETY: as in `write`.
        unsafe { direct::<u64>(ROUTES + 8 * number).write_volatile(core) };
    }
    write(if open { OPEN } else { CLOSE } + place, 1 << (number % 32));
}
