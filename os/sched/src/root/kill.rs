//! Threads that begin anew: those of jobs that the policy ends, before they run the next one, and those of processes that are stopped.
//!
//! The thread is set back when its task's next job is given a core, not before: however many jobs a policy ends at once, a
//! decision sets one thread back at most.

use crate::root::state::{system, System};
use core::sync::atomic::Ordering::Relaxed;
use tactus_rt::abi::call::SchedulerOperation;
use tactus_rt::scheduler::published_job;
use tactus_rt::time::TaskId;
use tactus_rt::{calls, Error};

/// The policy has ended the job. If it has begun, its thread is in the middle of it. (Whoever decides about the task's next
/// job on another core does so after this one, by the policy's own lock.)
#[cold]
pub fn ended(task: TaskId, job: u32) {
    // Written by the core that gave the job its core last.
    if published_job(task) == Some(job.into()) {
        give_up(task);
    }
}

/// The task's thread restarts before it runs next.
#[cold]
pub fn give_up(task: TaskId) {
    let system = system();
    if let Some(given_up) = system.given_up.get(task.index()) {
        given_up.store(true, Relaxed);
        system.some_given_up.store(true, Relaxed);
    }
}

/// The task's thread goes on where it is: what it was in the middle of was saved.
#[cold]
pub fn go_on(task: TaskId) {
    if let Some(given_up) = system().given_up.get(task.index()) {
        given_up.store(false, Relaxed);
    }
}

/// A job of the task is given a core.
#[inline(always)]
pub fn before_next(system: &System, task: TaskId) {
    if system.some_given_up.load(Relaxed) {
        look(system, task);
    }
}

#[cold]
#[inline(never)]
fn look(system: &System, task: TaskId) {
    if system.given_up.get(task.index()).is_some_and(|it| it.load(Relaxed)) {
        restart(system, task);
    }
}

fn restart(system: &System, task: TaskId) {
    // Nobody runs the thread: the core that did has left it before the policy could end its job. A thread that is lost with
    // its component is found out when it is dispatched.
    let outcome = loop {
        match calls::scheduler_control(SchedulerOperation::Reset, system.thread_of(task), 0) {
            Err(Error::Busy) => core::hint::spin_loop(),
            outcome => break outcome,
        }
    };
    // If an event waits, the dispatch is refused too, and all is decided anew.
    if outcome != Err(Error::Again) {
        system.given_up[task.index()].store(false, Relaxed);
    }
}
