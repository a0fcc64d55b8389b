//! One scheduler of a system that has one for each server: the root, or that of one server.
//!
//! It decides among its own tasks and the servers directly inside its own, by the policy that every scheduler runs
//! ([`tactus_policy::SchedulerPlan`]), and gives the core to the threads of its tasks or to its child schedulers. A child says
//! by giving the core back that it has nothing to run, and when it will have; the budget of its server is the time limit of the
//! dispatch here, which the kernel keeps whatever the child does. In turn this one is given the core by its parent, and is told
//! until when it had it.
//!
//! It is entered by its upcall and by a task's thread that has finished its job, and may be interrupted by its parent anywhere:
//! so what it keeps of a core is used inside the scheduler lock of that core alone. Whoever comes in takes all events, decides,
//! writes its choice where the kernel looks, leaves the lock, and dispatches. A dispatch that something overtook is refused, and
//! all is done again.
#![no_std]
#![no_main]

extern crate alloc;

mod boot;
mod faults;
mod jobs;
mod state;
mod step;
mod verdict;
#[cfg(feature = "wild")]
mod wild;

use tactus_rt::abi::call::{SchedulerOperation, IDLE, NO_TIMEOUT, SWITCH_RETURN, SWITCH_UPCALL_DONE};
use tactus_rt::scheduler::OwnRegion;
use tactus_rt::{calls, Caller, Error};

tactus_rt::component! { upcall: upcall, services: [complete] }

/// Beside the kernel's events: the running job is finished.
const COMPLETED: u64 = 1 << 16;
/// Who runs can never run again.
const REMOVED: u64 = 1 << 17;

/// What is to be dispatched.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Next {
    thread: u64,
    timeout: u64,
    /// The thread is in the middle of a job that was killed: it is restarted with this job of this task (its index here).
    restarts_with: Option<(usize, u32)>,
}

impl Next {
    /// Nobody, for ever.
    const NOBODY: Next = Next::nobody_until(NO_TIMEOUT);

    const fn nobody_until(timeout: u64) -> Next {
        Next { thread: IDLE, timeout, restarts_with: None }
    }
}

/// The kernel has events for this core, or the parent has given it.
fn upcall(core: u8) -> ! {
    #[cfg(feature = "wild")]
    wild::upcall(core);
    decide(core, state::upcall_thread(core), 0, SWITCH_UPCALL_DONE, 0);
    // An upcall that gave up the core is begun anew, never resumed.
    calls::give_up()
}

/// A task's thread has finished its job. Only the component in which it is at home may say so; anybody else gets a 1 back.
fn complete(caller: Caller, [job, ..]: [u64; 5]) -> [u64; 2] {
    if !state::is_home(caller.thread().into(), caller.component().into()) {
        return [1, 0];
    }
    decide(caller.core(), caller.thread().into(), COMPLETED, SWITCH_RETURN, job);
    [0; 2]
}

/// Decides and dispatches until the kernel takes it. `me` is the running thread; `job`: the job that it has finished, plus one, if
/// it says so.
fn decide(core: u8, me: u64, mut due: u64, flags: u64, job: u64) {
    let region = OwnRegion::of(core);
    let mut stopped = None;
    loop {
        let lock = region.lock(me);
        due |= region.take_events();
        let waits = if state::has_begun(core) { None } else { boot::step(core) };
        let next = match (waits, state::of(core)) {
            (None, Some(mut state)) => {
                let state = &mut *state;
                // Somebody else may have decided since the dispatch was refused.
                if stopped.take().is_some_and(|thread| state.next.thread == thread) {
                    due |= faults::lost(state);
                }
                // The job may have been killed in the middle of this: then it ends no other one.
                if due & COMPLETED != 0 && job != 0 && job != u64::from(state.job) + 1 {
                    due &= !COMPLETED;
                }
                step::step(state, region, due)
            }
            (waits, _) => waits.unwrap_or(Next::NOBODY),
        };
        due = 0;
        region.set_next_thread(next.thread);
        drop(lock);
        let ready = match next.restarts_with {
            Some((index, job)) => restart_job(next.thread, index, job),
            None => Ok(()),
        };
        match ready.and_then(|()| calls::switch_thread(next.thread, flags, next.timeout)) {
            Ok(()) => return,
            Err(Error::Again) => {}
            Err(Error::Busy) => core::hint::spin_loop(),
            // It can never run again, or is not this scheduler's any more.
            Err(_) => stopped = Some(next.thread),
        }
    }
}

/// The thread gives up the job in whose middle it is, to begin another one. Refused if something happened since it was decided.
#[cold]
fn restart_job(thread: u64, index: usize, job: u32) -> Result<(), Error> {
    let outcome = calls::scheduler_control(SchedulerOperation::Reset, thread, 0);
    // A thread that is lost is found out when it is dispatched.
    if !matches!(outcome, Err(Error::Again | Error::Busy)) {
        state::system().jobs[index].begin(job);
        return Ok(());
    }
    outcome
}
