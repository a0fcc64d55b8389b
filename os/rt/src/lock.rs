//! The scheduler lock: one word in the shared region, taken and released without the kernel as long as nobody else wants
//! it.
//!
//! Low half: the owner's thread + 1. High half: the last thread that wanted it, + 1, written by the kernel. Whoever finds
//! it taken lends the owner the core (`SYNC_BLOCK`); the owner, when it is through, gives the core straight back
//! (`SYNC_UNBLOCK`). No scheduler is asked: the latest contender is the thread that was running, hence the one that is
//! presumed to matter most. Earlier contenders try again when they are scheduled. The kernel refuses nothing here that is
//! merely late: an owner that has left means "try again".
//!
//! The rule itself is [`take_with`] and [`release_with`], written over a [`Ground`], so that a model checker can run
//! exactly this code (`os/sched/tests/loom.rs`). The uncontended paths are sequences of their own.

use crate::arch::word;
use tactus_abi::call::{SWITCH_SYNC_BLOCK, SWITCH_SYNC_UNBLOCK};

/// What the helping rule stands on: the word and the two ways to switch.
pub trait Ground {
    /// Takes the word for `thread` if nobody has it; else gives what stands in it.
    fn try_take(&self, thread: u64) -> Result<(), u64>;
    /// Clears the word and gives what stood in it.
    fn clear(&self) -> u64;
    /// Lends the core to the owner. Comes back when this thread runs again, or at once if it is the owner no more.
    fn help(&self, owner: u64);
    /// Gives the core to the thread that waited. Comes back when this thread runs again.
    fn give_back(&self, waiter: u64);
}

/// The owner in a lock word.
pub fn owner(word: u64) -> Option<u64> {
    (word & 0xFFFF_FFFF).checked_sub(1)
}

/// The last contender in a lock word.
pub fn waiter(word: u64) -> Option<u64> {
    (word >> 32).checked_sub(1)
}

/// Takes the lock, however long it takes: the loop repeats only because the thread was preempted.
pub fn take_with(ground: &impl Ground, thread: u64) {
    while let Err(word) = ground.try_take(thread) {
        if let Some(owner) = owner(word) {
            ground.help(owner);
        }
    }
}

/// Releases the lock, and gives the core to the last contender if there is one.
pub fn release_with(ground: &impl Ground) {
    if let Some(waiter) = waiter(ground.clear()) {
        ground.give_back(waiter);
    }
}

/// The word in the shared region.
struct Word(*mut u64);

impl Ground for Word {
    fn try_take(&self, thread: u64) -> Result<(), u64> {
        // SAFETY: the callers below have a lock word of this core.
        unsafe {
            if crate::sequences::exchange(self.0, 0, thread + 1) == thread + 1 {
                return Ok(());
            }
            Err(self.0.read_volatile())
        }
    }

    fn clear(&self) -> u64 {
        // SAFETY: as above. One instruction, hence not to be interrupted; only here, where the cost matters least.
        unsafe { word::take(self.0) }
    }

    fn help(&self, owner: u64) {
        // Whatever is refused, the loop looks again.
        let _ = crate::calls::switch_thread(owner, SWITCH_SYNC_BLOCK, tactus_abi::call::NO_TIMEOUT);
    }

    fn give_back(&self, waiter: u64) {
        // A waiter that cannot run now will find the lock free when it can.
        let _ = crate::calls::switch_thread(waiter, SWITCH_SYNC_UNBLOCK, tactus_abi::call::NO_TIMEOUT);
    }
}

/// The rest of [`crate::sequences::take_lock`] where somebody has it.
pub(crate) extern "C" fn take_contended(word: *mut u64, thread_and_one: u64) {
    take_with(&Word(word), thread_and_one - 1);
}

/// The rest of [`crate::sequences::release_lock`] where somebody waits.
pub(crate) extern "C" fn release_contended(word: *mut u64) {
    release_with(&Word(word));
}
