//! The current core's interrupt controller, as far as the monitor needs it: it starts other cores, silences what a dead kernel left, and
//! sends what a kernel may send. Through memory, or through registers once [`use_registers`] was called on the core.

use crate::interrupts;
use crate::processor::{has_registers_of_interrupts, read_msr, write_msr};

/// Its physical address.
pub const APIC: u64 = 0xfee0_0000;
const ID: u64 = 0x20;
const END_OF_INTERRUPT: u64 = 0xb0;
const SPURIOUS: u64 = 0xf0;
const TASK_PRIORITY: u64 = 0x80;
const IN_SERVICE: u64 = 0x100;
const REQUESTED: u64 = 0x200;
const LINES_IN_MEMORY: [u64; 3] = [0x350, 0x360, 0x370];
const COMMAND_LOW: u64 = 0x300;
const COMMAND_HIGH: u64 = 0x310;
const TIMER: u64 = 0x320;
const INITIAL_COUNT: u64 = 0x380;
const CURRENT_COUNT: u64 = 0x390;
const DIVIDE: u64 = 0x3e0;
const MODE_OF_TIMER: u64 = 3 << 17;
const MASKED: u32 = 1 << 16;
const ENABLED: u32 = 0x1ff;

/// The register with the controller's address and mode.
const MODE: u32 = 0x1b;
const THROUGH_REGISTERS: u64 = 1 << 10;
/// The first of the controller's registers: one for every 16 bytes of memory.
const REGISTERS: u32 = 0x800;
/// The register of commands: interrupts to cores.
pub const COMMAND: u32 = 0x830;

/// Registers with kinds of interrupts: of the timer, of the core's two lines, of errors.
pub const LINES: [u32; 4] = [0x832, 0x835, 0x836, 0x837];

/// From now on this core's controller is reached through registers alone. Whether it can be.
pub fn use_registers() -> bool {
    let there = has_registers_of_interrupts();
    if there {
        // SAFETY: the processor has the mode; this module alone uses the controller.
        unsafe { write_msr(MODE, read_msr(MODE) | THROUGH_REGISTERS) }
    }
    there
}

/// Whether this core's controller is reached through registers.
pub fn uses_registers() -> bool {
    // SAFETY: every processor with a controller has the register.
    unsafe { read_msr(MODE) & THROUGH_REGISTERS != 0 }
}

fn write(register: u64, value: u32) {
    if uses_registers() {
        // SAFETY: the registers named here exist in this mode, and are the current core's.
        unsafe { write_msr(REGISTERS + register as u32 / 16, value.into()) }
    } else {
        // SAFETY: all below 4 GiB is mapped at its own address; the registers are the current core's.
        unsafe { ((APIC + register) as usize as *mut u32).write_volatile(value) }
    }
}

fn read(register: u64) -> u32 {
    // SAFETY: as for `write`.
    unsafe {
        if uses_registers() {
            read_msr(REGISTERS + register as u32 / 16) as u32
        } else {
            ((APIC + register) as usize as *const u32).read_volatile()
        }
    }
}

/// What a kernel asks for with this command may go to its own core alone: an interrupt of its handlers, or one that nothing masks. Sends it if
/// it does; whether it does.
pub fn send_to_itself(command: u64) -> bool {
    const VECTOR: u64 = 0xff;
    const NOT_MASKABLE: u64 = 4 << 8;
    const LOGICAL: u64 = 1 << 11;
    const TO_ITSELF: u64 = 1 << 18;
    const TO_WHOM: u64 = 3 << 18;
    let (kind, to, id) = (command & 0x700, command & TO_WHOM, u64::from(read(ID)));
    let own = to == TO_ITSELF || (to == 0 && command & LOGICAL == 0 && command >> 32 == id);
    let may = own && (kind == NOT_MASKABLE || (kind == 0 && command & VECTOR >= 16));
    if may {
        // SAFETY: in this mode, in which alone a kernel gets here, the register exists; interrupts wait for the kernel.
        unsafe { write_msr(COMMAND, id << 32 | kind | command & VECTOR) }
    }
    may
}

/// Gives an interrupt of the core's own controller a kind, if it is one of the kernel's handlers or none; whether it is.
pub fn set_line(register: u32, value: u64) -> bool {
    let (kind, vector) = (value & 0x700, value & 0xff);
    let may = value & u64::from(MASKED) != 0 || (kind == 0 && vector >= 16);
    if may {
        let value = value & (MODE_OF_TIMER | u64::from(MASKED) | 0xff);
        // SAFETY: one of `LINES`, in the mode in which there are these registers; nothing else of the value is passed on.
        unsafe { write_msr(register, value) }
    }
    may
}

/// Sends a core an interrupt that nothing masks. From a core that reaches its controller through memory.
pub fn look_at(core: u8) {
    write(COMMAND_HIGH, u32::from(core) << 24);
    write(COMMAND_LOW, 0x4400);
}

/// Starts the timer, which interrupts nobody; zero stops it.
pub fn start_timer(counts: u32) {
    write(SPURIOUS, ENABLED);
    write(DIVIDE, 0b1011);
    write(TIMER, MASKED);
    write(INITIAL_COUNT, counts);
}

/// What is left of the running count.
pub fn timer_count() -> u32 {
    read(CURRENT_COUNT)
}

/// Ends all that a kernel was in the middle of: its timer and lines, interrupts that it had taken, and those that waited for it.
pub fn silence() {
    start_timer(0);
    LINES_IN_MEMORY.iter().for_each(|line| write(*line, MASKED));
    write(TASK_PRIORITY, 0);
    let any = |first: u64| (0..8).any(|n| read(first + n * 16) != 0);
    for _ in 0..512 {
        if any(IN_SERVICE) {
            write(END_OF_INTERRUPT, 0);
        } else if any(REQUESTED) {
            interrupts::take_all();
        } else {
            return;
        }
    }
}

/// Starts another core at the page with this number, in real mode.
pub fn start(core: u8, page: u8) {
    for command in [0x4500, 0x4600 | u32::from(page)] {
        write(COMMAND_HIGH, u32::from(core) << 24);
        write(COMMAND_LOW, command);
    }
}
