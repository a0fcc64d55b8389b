//! The local APIC: one-shot timer, inter-core events, end of interrupt. Reached through memory, which every
//! processor and emulator offers; with the feature `x2apic` through model-specific registers, one for every 16 bytes of memory. That is for a
//! sandbox whose interrupts to other cores are held back; chosen when the kernel is compiled, so that no access is an instruction longer.

#[cfg(not(feature = "x2apic"))]
use super::paging::direct;
use super::port::out8;
use super::registers::{VECTOR_LINES, VECTOR_MAIL, VECTOR_NOTIFY, VECTOR_SPURIOUS, VECTOR_STOP, VECTOR_TIMER};

/// Its physical address. Known to the entry code, as are the three below.
pub const BASE: u64 = 0xfee0_0000;
const ID: u64 = 0x20;
const TASK_PRIORITY: u64 = 0x80;
/// See [`end_of_interrupt`].
pub const END_OF_INTERRUPT: u64 = 0xb0;
const SPURIOUS: u64 = 0xf0;
const COMMAND_LOW: u64 = 0x300;
#[cfg(not(feature = "x2apic"))]
const COMMAND_HIGH: u64 = 0x310;
const TIMER: u64 = 0x320;
const LINT0: u64 = 0x350;
const LINT1: u64 = 0x360;
/// See [`start_timer`].
pub const INITIAL_COUNT: u64 = 0x380;
const CURRENT_COUNT: u64 = 0x390;
const DIVIDE: u64 = 0x3e0;
/// As far as the timer is set at once.
pub const LONGEST_COUNT: u32 = u32::MAX / 2;
const MASKED: u32 = 1 << 16;
const NON_MASKABLE_DELIVERY: u32 = 0x400;
#[cfg(not(feature = "x2apic"))]
const SENDING: u32 = 1 << 12;

/// The first of its model-specific registers. Known to the entry code.
pub const REGISTERS: u64 = 0x800;
/// Whether they are used.
pub const HAS_REGISTERS: bool = cfg!(feature = "x2apic");

#[cfg(not(feature = "x2apic"))]
fn write(register: u64, value: u32) {
    // SAFETY: the local APIC's page is mapped at `direct`; the registers are those of the current core.
    unsafe { direct::<u32>(BASE + register).write_volatile(value) }
}

#[cfg(not(feature = "x2apic"))]
fn read(register: u64) -> u32 {
    // SAFETY: as for `write`.
    unsafe { direct::<u32>(BASE + register).read_volatile() }
}

#[cfg(feature = "x2apic")]
fn write(register: u64, value: u32) {
    // SAFETY: the loader has turned the registers on; they are those of the current core.
    unsafe { super::port::write_msr((REGISTERS + register / 16) as u32, value.into()) }
}

#[cfg(feature = "x2apic")]
fn read(register: u64) -> u32 {
    // SAFETY: as for `write`.
    unsafe { super::port::read_msr((REGISTERS + register / 16) as u32) as u32 }
}

/// Sets up the current core's APIC, timer stopped.
pub fn set_up() {
    write(TASK_PRIORITY, 0);
    // In a sandbox the monitor has masked them.
    if !HAS_REGISTERS {
        write(LINT0, MASKED);
        write(LINT1, MASKED);
    }
    write(SPURIOUS, 0x100 | VECTOR_SPURIOUS as u32);
    write(DIVIDE, 0b1011);
    write(TIMER, VECTOR_TIMER as u32);
    write(INITIAL_COUNT, 0);
}

/// The machine's reports of errors come to the current core, as interrupts that cannot be masked. After the core has the stacks for
/// them; one core of a machine is enough.
pub fn take_error_reports() {
    if !HAS_REGISTERS {
        write(LINT1, NON_MASKABLE_DELIVERY);
    }
}

/// The current core's APIC number.
pub fn id() -> u8 {
    (read(ID) >> if HAS_REGISTERS { 0 } else { 24 }) as u8
}

/// Ends the interrupt being handled.
pub fn end_of_interrupt() {
    write(END_OF_INTERRUPT, 0);
}

/// Starts the one-shot timer; zero stops it.
pub fn start_timer(counts: u32) {
    write(INITIAL_COUNT, counts);
}

/// What is left of the running count.
pub fn timer_count() -> u32 {
    read(CURRENT_COUNT)
}

/// Interrupts another core.
pub fn notify(apic: u8) {
    command(apic, 0x4000 | VECTOR_NOTIFY as u32);
}

/// Makes another core look whether it is in a component that was stopped.
pub fn stop(apic: u8) {
    command(apic, 0x4000 | VECTOR_STOP as u32);
}

/// Makes a core look at its mail.
pub fn mail(apic: u8) {
    command(apic, 0x4000 | VECTOR_MAIL as u32);
}

/// Interrupts of the old controllers come to the current core.
pub fn accept_old_controllers() {
    const EXTERNAL: u32 = 0x700;
    write(LINT0, EXTERNAL);
}

/// Puts another core into its start state.
pub fn send_init(apic: u8) {
    command(apic, 0x4500);
}

/// Starts another core at the page with this number, in real mode.
pub fn send_start(apic: u8, page: u8) {
    command(apic, 0x4600 | u32::from(page));
}

/// Sends the current core an interrupt that cannot be masked.
#[cfg(feature = "destruction")]
pub fn interrupt_itself_unmasked() {
    command(id(), 0x4000 | NON_MASKABLE_DELIVERY);
}

#[cfg(feature = "x2apic")]
fn command(apic: u8, low: u32) {
    // SAFETY: as for `write`; the interrupt is sent when the register is written.
    unsafe { super::port::write_msr((REGISTERS + COMMAND_LOW / 16) as u32, u64::from(apic) << 32 | u64::from(low)) }
}

#[cfg(not(feature = "x2apic"))]
fn command(apic: u8, low: u32) {
    write(COMMAND_HIGH, u32::from(apic) << 24);
    write(COMMAND_LOW, low);
    // Delivery takes a few cycles at most; the bound keeps broken hardware from holding the kernel.
    for _ in 0..1_000 {
        if read(COMMAND_LOW) & SENDING == 0 {
            break;
        }
    }
}

/// Asks for an interrupt of this kind through memory.
#[cfg(feature = "destruction")]
pub fn command_through_memory(apic: u8, low: u32) {
    // SAFETY: none: the monitor must hold it back.
    unsafe {
        super::paging::direct::<u32>(BASE + 0x310).write_volatile(u32::from(apic) << 24);
        super::paging::direct::<u32>(BASE + 0x300).write_volatile(low);
    }
}

/// Sets the timer's mode, and starts it.
#[cfg(feature = "destruction")]
pub fn set_timer(mode: u32, counts: u32) {
    write(TIMER, mode);
    write(INITIAL_COUNT, counts);
}

/// Silences the old interrupt controllers: everything masked.
pub fn silence_legacy() {
    const FIRST: u8 = VECTOR_LINES as u8;
    for (port, value) in
        [(0x20, 0x11), (0xa0, 0x11), (0x21, FIRST), (0xa1, FIRST + 8), (0x21, 4), (0xa1, 2), (0x21, 1), (0xa1, 1)]
    {
        out8(port, value);
    }
    out8(0x21, 0xff);
    out8(0xa1, 0xff);
}
