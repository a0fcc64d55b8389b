//! The current core's interrupt controller, as far as the monitor needs it: it starts other cores, and silences what a dead kernel left.

/// Its physical address.
pub const APIC: u64 = 0xfee0_0000;
const END_OF_INTERRUPT: u64 = 0xb0;
const SPURIOUS: u64 = 0xf0;
const IN_SERVICE: u64 = 0x100;
const COMMAND_LOW: u64 = 0x300;
const COMMAND_HIGH: u64 = 0x310;
const TIMER: u64 = 0x320;
const INITIAL_COUNT: u64 = 0x380;
const CURRENT_COUNT: u64 = 0x390;
const DIVIDE: u64 = 0x3e0;
const MASKED: u32 = 1 << 16;
const ENABLED: u32 = 0x1ff;

fn write(register: u64, value: u32) {
    // SAFETY: all below 4 GiB is mapped at its own address; the registers are the current core's.
    unsafe { ((APIC + register) as usize as *mut u32).write_volatile(value) }
}

fn read(register: u64) -> u32 {
    // SAFETY: as for `write`.
    unsafe { ((APIC + register) as usize as *const u32).read_volatile() }
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

/// Ends all that a kernel was in the middle of: its timer, and interrupts that it had taken.
pub fn silence() {
    start_timer(0);
    for _ in 0..256 {
        if (0..8).all(|n| read(IN_SERVICE + n * 16) == 0) {
            return;
        }
        write(END_OF_INTERRUPT, 0);
    }
}

/// Starts another core at the page with this number, in real mode.
pub fn start(core: u8, page: u8) {
    for command in [0x4500, 0x4600 | u32::from(page)] {
        write(COMMAND_HIGH, u32::from(core) << 24);
        write(COMMAND_LOW, command);
    }
}
