//! Threads of processes: which one calls, what it begins with, and how it leaves everything behind to begin anew.

use crate::arch::entry::restart_at;
use crate::{info, Job};
use core::sync::atomic::{AtomicUsize, Ordering};
use tactus_abi::layout::{STACKS, STACK_STRIDE};

/// The thread that runs, by where its stack lies.
fn current_thread() -> u64 {
    let here = 0_u8;
    ((&raw const here).addr() as u64).saturating_sub(STACKS) / STACK_STRIDE
}

/// The job of the task whose thread runs. Threads of cores come before those of tasks.
pub(super) fn current_job() -> Job {
    Job::of(current_thread().saturating_sub(u64::from(info().cores)) as u32)
}

/// Leaves everything that the thread is in the middle of, and goes on with this function on an empty stack. What was there is dropped
/// by nobody.
pub(super) fn abandon(next: extern "C" fn() -> !) -> ! {
    let top = STACKS + (current_thread() + 1) * STACK_STRIDE;
    // SAFETY: the upper end of this thread's own stack, aligned as a call expects it; nothing below it is used any more, since the
    // function does not come back.
    unsafe { restart_at(top, next) }
}

/// What a thread of the component begins with.
static START: AtomicUsize = AtomicUsize::new(0);

/// Threads that leave everything begin with this function.
pub(super) fn begins_with(start: extern "C" fn() -> !) {
    START.store(start as usize, Ordering::Release);
}

/// Leaves everything that the thread is in the middle of, and begins as it has begun first.
pub(super) fn begin_anew() -> ! {
    let address = START.load(Ordering::Acquire);
    assert!(address != 0, "a thread that runs has begun");
    // SAFETY: only `begins_with` writes there, and it takes a function of this type; a thread that comes here has called it.
    abandon(unsafe { core::mem::transmute::<usize, extern "C" fn() -> !>(address) })
}

/// Where a process begins.
pub(super) struct Entry(AtomicUsize);

impl Entry {
    pub const fn new() -> Entry {
        Entry(AtomicUsize::new(0))
    }

    pub fn set(&self, entry: extern "C" fn()) {
        self.0.store(entry as usize, Ordering::Release);
    }

    pub fn get(&self) -> Option<extern "C" fn()> {
        let address = self.0.load(Ordering::Acquire);
        // SAFETY: only `set` writes there, and it takes a function of this type.
        (address != 0).then(|| unsafe { core::mem::transmute::<usize, extern "C" fn()>(address) })
    }
}
