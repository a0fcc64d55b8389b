//! Waking the other cores.

pub use super::acpi::processors;
use super::cpu::time_stamp;
use super::{apic, idle, paging};
use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

extern "C" {
    static ap_start: u8;
    static ap_end: u8;
}

/// Where the core being started finds its stack. Named in the start-up code.
#[no_mangle]
static AP_STACK: AtomicU64 = AtomicU64::new(0);
static STARTING: AtomicU64 = AtomicU64::new(0);
static READY: AtomicUsize = AtomicUsize::new(1);

const START_PAGE: u64 = 0x8000;

/// Puts the cores into their start state, all at once: those that came up earlier would only wait for the others, and where
/// cores take turns a core that waits costs the emulator as much as one that works.
pub fn reset(apic_ids: impl Iterator<Item = u8>, ticks_per_second: u64) {
    apic_ids.for_each(apic::send_init);
    let start = time_stamp();
    while time_stamp() - start < ticks_per_second / 100 {
        idle::block();
    }
}

/// Starts one core, which was reset, on this stack, and waits for it; whether it came up.
pub fn start(id: usize, apic_id: u8, stack: u64, ticks_per_second: u64) -> bool {
    // SAFETY: the start-up code lies between the two symbols; page 8 is below 1 MiB, which nobody else uses.
    unsafe {
        let start = &raw const ap_start;
        let bytes = (&raw const ap_end) as usize - start as usize;
        core::ptr::copy_nonoverlapping(paging::direct::<u8>(start as u64), paging::direct::<u8>(START_PAGE), bytes);
    }
    AP_STACK.store(stack, Ordering::SeqCst);
    STARTING.store(id as u64 | u64::from(apic_id) << 8, Ordering::SeqCst);
    for _ in 0..2 {
        apic::send_start(apic_id, (START_PAGE / 4096) as u8);
        if wait(ticks_per_second / 5, || READY.load(Ordering::SeqCst) > id) {
            return true;
        }
    }
    false
}

/// Waits until `done`, at most so many ticks; whether it was done.
fn wait(ticks: u64, done: impl Fn() -> bool) -> bool {
    let start = time_stamp();
    while time_stamp() - start < ticks {
        if done() {
            return true;
        }
        core::hint::spin_loop();
    }
    done()
}

/// The number and the APIC number of the core that is being started, which asks for them.
pub fn starting() -> (usize, u8) {
    let starting = STARTING.load(Ordering::SeqCst);
    ((starting & 0xff) as usize, (starting >> 8) as u8)
}

/// The core is set up.
pub fn is_up(id: usize) {
    READY.store(id + 1, Ordering::SeqCst);
}
