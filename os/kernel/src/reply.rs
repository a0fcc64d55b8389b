//! The thread that called, and how it goes on with the result.

use crate::arch::cpu::time_stamp;
use crate::dispatch::leave_kernel;
use crate::percore::{self, Core};
use crate::thread::Thread;
use tactus_abi::call::{Call, Error};

/// The core, and the thread that made this call: where it goes on is saved.
#[inline(always)]
pub fn entered(call: Call) -> (&'static mut Core, &'static mut Thread) {
    // SAFETY: this is the kernel's entry on this core; nobody else holds the block or the running thread.
    unsafe {
        let core = percore::current();
        core.entered = time_stamp();
        core.cause = call as u64;
        let thread = &mut *core.current;
        (core, thread)
    }
}

/// The thread that made this call, until `core` is used again: whoever looks at who runs has the only reference to it.
#[inline(always)]
pub fn running(core: &mut Core) -> &mut Thread {
    // SAFETY: a call has a caller, which is this core's until another takes the core from it; the reference keeps `core`, so
    // that nobody can do so or make another one while it is alive.
    unsafe { &mut *core.current }
}

/// The caller goes on with the result of its call and two words.
pub fn answer_with(core: &mut Core, result: Result<[u64; 2], Error>) {
    match result {
        Ok([first, second]) => {
            running(core).pass([Error::None as u64, first, second, 0]);
            leave_kernel(core);
        }
        Err(error) => answer(core, Err(error)),
    }
}

/// The caller goes on with the result of its call.
#[inline(never)]
pub fn answer(core: &mut Core, result: Result<(), Error>) {
    let status = status(core, result);
    running(core).registers.set_status(status);
    leave_kernel(core);
}

/// As [`answer`], for who holds a reference to the caller.
#[inline(never)]
pub fn answer_to(core: &mut Core, caller: &mut Thread, result: Result<(), Error>) {
    let status = status(core, result);
    caller.registers.set_status(status);
    leave_kernel(core);
}

/// The result as the caller reads it. A refusal is counted.
#[inline(always)]
fn status(core: &mut Core, result: Result<(), Error>) -> u64 {
    match result {
        Ok(()) => Error::None as u64,
        Err(error) => {
            if !matches!(error, Error::Again | Error::Busy) {
                core.count_refusal();
            }
            error as u64
        }
    }
}
