//! What the jobs of the component's tasks run: their processes, from the start of each to its end; and what a thread does that the
//! scheduler has had begin anew.

use super::process::{self, Own, Suspended, NEVER};
use super::reports::end_job;
use super::thread;
use super::{blackboard, buffer, error, mode, partition, time};
use a653rs::bindings::ProcessState;
use core::sync::atomic::Ordering;

/// What a job runs once the partition does: its process, if that is to run; then it ends.
pub(super) extern "C" fn jobs() -> ! {
    loop {
        if !mode::is_normal() {
            partition::initialise();
        }
        if let Some(own) = process::own() {
            begin(own);
        }
        end_job();
    }
}

/// Runs the process, if it is to begin in this job.
fn begin(own: Own) {
    if own.is_error_handler() && error::any_waits() {
        // It is started by each error; one that is under way takes all.
        let _ = own.change(|it| it.is_dormant().then(|| it.started()));
    }
    let (condition, job) = (own.condition(), thread::current_job());
    let from = own.from.load(Ordering::Relaxed);
    let due = if own.is_periodic() { job.release().as_nanos() >= from } else { time::now() >= from };
    let ready = condition.state == ProcessState::Ready && condition.suspended == Suspended::No;
    let Some(entry) = own.entry.get().filter(|_| ready && due) else { return };
    let runs = |it| (it == condition).then(|| condition.with(ProcessState::Running));
    if own.change(runs).is_none() {
        return;
    }
    own.begins(condition.incarnation);
    if own.is_periodic() {
        own.released(job.release().as_nanos());
    }
    own.report_deadline();
    entry();
    finish(own);
}

/// The process that runs is dormant from now on.
fn finish(own: Own) {
    if own.turn(ProcessState::Running, ProcessState::Dormant) {
        own.set_deadline(NEVER);
    }
}

/// The process that calls is over, and with it its job.
pub(super) fn stop_self(own: Own) -> ! {
    finish(own);
    thread::abandon(ended)
}

extern "C" fn ended() -> ! {
    end_job();
    jobs()
}

/// A thread of the component begins, for the first time or anew: then it was in the middle of a process that was stopped or has missed
/// its deadline, of a job that the scheduler has ended, or of the initialisation.
pub(super) fn begin_thread() -> ! {
    let Some(place) = process::place() else { jobs() };
    let own = process::at(place);
    buffer::leave(place);
    blackboard::leave(place);
    partition::leave(own.card().task);
    let same_job = own.has_job();
    if mode::is_normal() {
        if own.is_under_way() {
            own.restarts();
            own.change(|it| Some(it.started()));
            own.works();
        }
        if same_job {
            ended()
        }
    }
    jobs()
}
