//! The runtime of schedulers that host a policy of `tactus-policy`: from the kernel's events to a call of the policy, to its
//! records, and to the dispatch of what it decided.
//!
//! A scheduler says by its [`Role`] how its core's state is kept to one user at a time, and what it does with its events. The
//! **root** is entered once at a time on each core, so that it waits for nobody: its lock is its core's state itself, borrowed. A
//! **child** may be interrupted by its parent anywhere: it takes the scheduler lock of its region for each decision.

mod call;
mod counts;

pub use call::{call, Called, Caller, ClockReading, Entry};
pub use counts::{bound, is_tardiness, CountedTasks, Counting, JobCounts};

use alloc::vec::Vec;
use core::sync::atomic::{AtomicUsize, Ordering};
use tactus_policy::programs::Program;
use tactus_policy::PolicyConfig;
use tactus_rt::abi::call::{IDLE, NO_TIMEOUT};
use tactus_rt::scheduler::{plan, OwnRegion};
use tactus_rt::{calls, Error};

/// The run ended because a scheduler could not be set up.
const END_BAD_PLAN: u8 = 0x74;
/// The exit codes of a run that came to its end.
const PROMISES_HELD: u8 = 0x10;
const PROMISE_BROKEN: u8 = 0x11;

/// Beside the kernel's events: the running job is finished.
pub const COMPLETED: u64 = 1 << 16;
/// The running task can never run again.
pub const REMOVED: u64 = 1 << 17;

/// What is to be dispatched.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Next {
    /// The thread, [`IDLE`] if none.
    pub thread: u64,
    /// When the core is to be entered again at the latest, as a reading of the time-stamp counter.
    pub timeout: u64,
    /// The thread is in the middle of a job that was killed: it is restarted with this job of the task with this index.
    pub restarts_with: Option<(usize, u32)>,
}

impl Next {
    /// Nobody, for ever.
    pub const NOBODY: Next = Next::nobody_until(NO_TIMEOUT);

    /// Nobody, until then.
    pub const fn nobody_until(timeout: u64) -> Next {
        Next { thread: IDLE, timeout, restarts_with: None }
    }
}

/// A scheduler's place in the tree of schedulers.
pub trait Role {
    /// What keeps a core's state to one user at a time while it is used.
    type Lock;

    /// Whether somebody else may decide while a dispatch waits for another core to save the thread.
    const IS_INTERRUPTED: bool;

    /// Takes the lock for the running thread `me`.
    fn lock(core: u8, region: OwnRegion, me: u64) -> Self::Lock;

    /// Handles what is due, and takes that from `due`; says who is to run. `stopped`: the thread of the last dispatch, if it can
    /// never run again.
    fn next(lock: &mut Self::Lock, core: u8, region: OwnRegion, due: &mut u64, stopped: Option<u64>) -> Next;

    /// Makes the thread ready before it is dispatched, without the lock.
    #[inline(always)]
    fn ready(_: &Next) -> Result<(), Error> {
        Ok(())
    }
}

/// What became of a dispatch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dispatched {
    /// The kernel took it, and the core has come back since.
    Taken,
    /// Something happened in between: decide again.
    Refused,
    /// The thread can never run again, or is not this scheduler's any more.
    Stopped,
}

/// Decides and dispatches until the kernel takes it. `me` is the running thread.
#[inline(always)]
pub fn decide<R: Role>(core: u8, me: u64, due: u64, flags: u64) {
    decide_locked::<R>(R::lock(core, OwnRegion::of(core), me), core, me, due, flags);
}

/// The same for who has the lock.
#[inline(always)]
pub fn decide_locked<R: Role>(mut lock: R::Lock, core: u8, me: u64, mut due: u64, flags: u64) {
    let region = OwnRegion::of(core);
    let mut stopped = None;
    loop {
        due |= region.take_events();
        let next = R::next(&mut lock, core, region, &mut due, stopped.take());
        region.set_next_thread(next.thread);
        drop(lock);
        match dispatch::<R>(&next, flags) {
            Dispatched::Taken => return,
            Dispatched::Refused => {}
            Dispatched::Stopped => stopped = Some(next.thread),
        }
        lock = R::lock(core, region, me);
    }
}

/// Gives the core to what was decided, which stands in the region already.
#[inline(always)]
pub fn dispatch<R: Role>(next: &Next, flags: u64) -> Dispatched {
    loop {
        match R::ready(next).and_then(|()| calls::switch_thread(next.thread, flags, next.timeout)) {
            Ok(()) => return Dispatched::Taken,
            // The thread's last core has not saved it yet; it will within its own dispatch.
            Err(Error::Busy) => {
                core::hint::spin_loop();
                if R::IS_INTERRUPTED {
                    return Dispatched::Refused;
                }
            }
            Err(Error::Again) => return Dispatched::Refused,
            Err(_) => return Dispatched::Stopped,
        }
    }
}

/// As [`dispatch`], but once: where the thread's last core has not saved it yet, the long path waits for that.
#[inline(always)]
pub fn dispatch_once<R: Role>(next: &Next, flags: u64) -> Dispatched {
    match R::ready(next).and_then(|()| calls::switch_thread(next.thread, flags, next.timeout)) {
        Ok(()) => Dispatched::Taken,
        Err(Error::Busy | Error::Again) => Dispatched::Refused,
        Err(_) => Dispatched::Stopped,
    }
}

/// Makes the policy from the plan that the image holds for this scheduler. Ends the run where that cannot be.
pub fn make_policy<P: Program>() -> (PolicyConfig, P, Vec<P::Core>) {
    let Ok(config) = PolicyConfig::decode_for::<P>(plan()) else { fail("a scheduler cannot read its plan") };
    let Ok((policy, cores)) = P::make(&config) else { fail("a scheduler refuses its plan") };
    (config, policy, cores)
}

/// Ends the run: this scheduler cannot be set up.
pub fn fail(why: &str) -> ! {
    calls::text("tactus: ");
    calls::text(why);
    calls::text("\n");
    calls::finish(END_BAD_PLAN)
}

static ENDED: AtomicUsize = AtomicUsize::new(0);

/// The run is over on this core. The last of the cores prints the verdict and ends the run for all.
#[cold]
pub fn end(cores: usize, print: impl FnOnce() -> bool) {
    if ENDED.fetch_add(1, Ordering::AcqRel) + 1 == cores {
        calls::finish(if print() { PROMISES_HELD } else { PROMISE_BROKEN })
    }
}
