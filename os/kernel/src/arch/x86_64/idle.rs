//! What a core does that has nothing to run.
//!
//! On a real machine it halts until an interrupt. On an emulated machine with counted instructions it halts too, except the core that
//! goes to sleep last. For if all cores halt, the emulator moves its clock by itself, in a thread whose order with the cores'
//! execution is the host's: it may do so before a core's last instructions are counted, and cores with the same time-out wake in
//! either order. Two runs would differ. So the last core awake lets the time pass by executing, until one wakes. Blocks of
//! instructions that do nothing cost the emulator next to nothing.

use super::cpu::time_stamp;
use core::arch::asm;
use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering::SeqCst};
use tactus_abi::call::NO_TIMEOUT;
use tactus_abi::layout::MAX_CORES;

/// Cores that are not in here. Known to the entry code, as is the next.
pub static AWAKE: AtomicU64 = AtomicU64::new(0);
/// The core that lets the time pass, plus one; 0 if there is none.
pub static CLOCK_KEEPER: AtomicU64 = AtomicU64::new(0);
/// When each sleeping core wants to wake, in time-stamp ticks.
static UNTIL: [AtomicU64; MAX_CORES] = [const { AtomicU64::new(NO_TIMEOUT) }; MAX_CORES];

/// How many cores share one counted time; 0 where they run at the same time.
static COUNTED: AtomicUsize = AtomicUsize::new(0);

/// Tells how many cores there are and whether they share one counted time, before the run begins.
pub fn set_up(cores: usize, counted: bool) {
    AWAKE.store(cores as u64, SeqCst);
    COUNTED.store(if counted { cores } else { 0 }, SeqCst);
}

/// The core was interrupted while it had nothing to run.
pub fn wake() {
    AWAKE.fetch_add(1, SeqCst);
    CLOCK_KEEPER.store(0, SeqCst);
}

/// The core with this number waits for an interrupt, and has a time-out then. It does not come back here: the way out of the kernel
/// restarts.
pub fn wait(core: u64, expiry: u64) -> ! {
    let place = core as usize % MAX_CORES;
    UNTIL[place].store(expiry, SeqCst);
    let last = AWAKE.fetch_sub(1, SeqCst) == 1;
    let cores = COUNTED.load(SeqCst);
    if last && cores > 0 {
        let me = core + 1;
        CLOCK_KEEPER.store(me, SeqCst);
        let first = UNTIL[..cores.min(MAX_CORES)].iter().map(|until| until.load(SeqCst)).min().unwrap_or(NO_TIMEOUT);
        // Several cores without any time-out have none whose order could differ; one alone counts whatever wakes it.
        if first != NO_TIMEOUT || cores == 1 {
            // SAFETY: nothing is left to do with interrupts off; whoever interrupts the idle core takes the stack.
            unsafe { asm!("sti", options(nomem, nostack)) };
            // Word may be on its way to a core that sleeps: it wakes now, or not before this core lets it.
            core::hint::spin_loop();
            pass(first, me);
        }
    }
    loop {
        // SAFETY: as above.
        unsafe { asm!("sti", "hlt", "cli", options(nomem, nostack)) }
    }
}

/// Executes until the point in time, and from then on lets the others look, until one of them wakes.
fn pass(until: u64, me: u64) {
    let mine = || CLOCK_KEEPER.load(SeqCst) == me;
    let begin = time_stamp();
    block();
    let block_ticks = (time_stamp() - begin).max(1);
    while mine() {
        let left = until.saturating_sub(time_stamp());
        if left == 0 {
            core::hint::spin_loop();
        } else if left > 4 * block_ticks {
            // Beyond the point in time nobody else would be let in, and a block takes a little longer here than it did
            // above: so most of the way, then another look.
            for _ in 0..(left - left / 16) / block_ticks - 2 {
                block();
                if !mine() {
                    return;
                }
            }
        }
    }
}

/// As many instructions as the emulator translates at once.
#[inline(always)]
pub fn block() {
    // SAFETY: they do nothing.
    unsafe { asm!(".rept 480", "nop", ".endr", options(nomem, nostack, preserves_flags)) }
}
