//! One scheduler of a system that has one for each server: the root, or that of one server.
//!
//! It decides among its own tasks and the servers directly inside its own, by the policy that every scheduler runs
//! ([`tactus_policy::SchedulerPlan`]), and gives the core to the threads of its tasks or to its child schedulers. A child says
//! by giving the core back that it has nothing to run, and when it will have; the budget of its server is the time limit of the
//! dispatch here, which the kernel keeps whatever the child does. In turn this one is given the core by its parent, and is told
//! until when it had it.
//!
//! The loop around a decision, a call of the policy with its records, and what is counted of jobs are the runtime's
//! (`tactus_sched::runtime`), in which this is a child, or the root of such schedulers.
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

use tactus_rt::abi::call::{SchedulerOperation, SWITCH_RETURN, SWITCH_UPCALL_DONE};
use tactus_rt::scheduler::{Locked, OwnRegion};
use tactus_rt::{calls, Caller, Error};
use tactus_sched::runtime::{decide, Next, Role, COMPLETED};

tactus_rt::component! { upcall: upcall, services: [complete] }

/// Where, beside the events that are due, the number of the finished job plus one stands, if its thread says it.
const FINISHED_SHIFT: u32 = 32;

/// The kernel has events for this core, or the parent has given it.
fn upcall(core: u8) -> ! {
    #[cfg(feature = "wild")]
    wild::upcall(core);
    decide::<Child>(core, state::upcall_thread(core), 0, SWITCH_UPCALL_DONE);
    // An upcall that gave up the core is begun anew, never resumed.
    calls::give_up()
}

/// A task's thread has finished its job. Only the component in which it is at home may say so; anybody else gets a 1 back.
fn complete(caller: Caller, [job, ..]: [u64; 5]) -> [u64; 2] {
    if !state::is_home(caller.thread().into(), caller.component().into()) {
        return [1, 0];
    }
    let due = COMPLETED | job << FINISHED_SHIFT;
    decide::<Child>(caller.core(), caller.thread().into(), due, SWITCH_RETURN);
    [0; 2]
}

/// A scheduler that its parent may interrupt anywhere, the root of such a system too: it uses a core's state inside the scheduler
/// lock of its region.
struct Child;

impl Role for Child {
    type Lock = Locked;
    const IS_INTERRUPTED: bool = true;

    fn lock(_: u8, region: OwnRegion, me: u64) -> Locked {
        region.lock(me)
    }

    fn next(_: &mut Locked, core: u8, region: OwnRegion, due: &mut u64, stopped: Option<u64>) -> Next {
        let mut all = core::mem::take(due);
        let waits = if state::has_begun(core) { None } else { boot::step(core) };
        let (None, Some(mut state)) = (waits, state::of(core)) else { return waits.unwrap_or(Next::NOBODY) };
        // Somebody else may have decided since the dispatch was refused.
        if stopped.is_some_and(|thread| state.next.thread == thread) {
            all |= faults::lost(&mut state);
        }
        // The job may have been killed before its thread said that it is finished: then it ends no other one.
        let job = all >> FINISHED_SHIFT;
        if all & COMPLETED != 0 && job != 0 && job != u64::from(state.job) + 1 {
            all &= !COMPLETED;
        }
        step::step(&mut state, region, all)
    }

    fn ready(next: &Next) -> Result<(), Error> {
        match next.restarts_with {
            Some((index, job)) => restart_job(next.thread, index, job),
            None => Ok(()),
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
