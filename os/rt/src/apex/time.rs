//! Time, and waiting: a process that waits ends its job and looks again with its next one.

use super::hypervisor::Apex;
use super::{error, mode, process, thread};
use crate::clock;
use a653rs::bindings::{ApexSystemTime, ApexTimeP1, ApexTimeP4, ErrorReturnCode, INFINITE_TIME_VALUE};

/// Now (ns).
pub(super) fn now() -> u64 {
    clock::now().as_nanos()
}

/// The instant (ns) at which a time-out from now on is over; nothing if it never is.
pub(super) fn limit(time_out: ApexSystemTime) -> Result<Option<u64>, ErrorReturnCode> {
    match time_out {
        INFINITE_TIME_VALUE => Ok(None),
        time => {
            u64::try_from(time).map(|time| Some(now().saturating_add(time))).map_err(|_| ErrorReturnCode::InvalidParam)
        }
    }
}

/// Ends the job of the calling process, and comes back with its next one, unless the process was stopped or the partition begins anew.
pub(super) fn end_job() {
    let job = thread::current_job();
    error::end_of_job(&job);
    job.end();
    process::go_on();
}

/// Waits until this gives something, or until the time-out is over.
pub(super) fn wait_for<T>(
    time_out: ApexSystemTime,
    mut ready: impl FnMut() -> Option<T>,
) -> Result<T, ErrorReturnCode> {
    let limit = limit(time_out)?;
    if let Some(value) = ready() {
        return Ok(value);
    }
    if time_out == 0 {
        return Err(ErrorReturnCode::NotAvailable);
    }
    let own = process::own().filter(|_| mode::is_normal());
    let own = own.filter(|own| !own.is_error_handler()).ok_or(ErrorReturnCode::InvalidMode)?;
    loop {
        own.waits();
        end_job();
        own.runs();
        if let Some(value) = ready() {
            return Ok(value);
        }
        if limit.is_some_and(|limit| now() >= limit) {
            return Err(ErrorReturnCode::TimedOut);
        }
    }
}

impl ApexTimeP4 for Apex {
    fn periodic_wait() -> Result<(), ErrorReturnCode> {
        let own = process::own().filter(|own| own.is_periodic()).ok_or(ErrorReturnCode::InvalidMode)?;
        own.waits();
        end_job();
        own.runs();
        Ok(())
    }

    fn get_time() -> ApexSystemTime {
        now() as ApexSystemTime
    }
}

impl ApexTimeP1 for Apex {
    fn timed_wait(delay_time: ApexSystemTime) -> Result<(), ErrorReturnCode> {
        if delay_time < 0 {
            return Err(ErrorReturnCode::InvalidParam);
        }
        match wait_for(delay_time, || None::<()>) {
            // None of the two is an error here: the time is over.
            Err(ErrorReturnCode::TimedOut | ErrorReturnCode::NotAvailable) | Ok(()) => Ok(()),
            Err(error) => Err(error),
        }
    }

    fn replenish(budget_time: ApexSystemTime) -> Result<(), ErrorReturnCode> {
        let own = process::own().filter(|own| !own.is_error_handler());
        let own = own.filter(|_| mode::is_normal()).ok_or(ErrorReturnCode::NoAction)?;
        let limit = limit(budget_time)?;
        let job = thread::current_job();
        let next = job.release().as_nanos().saturating_add(own.card().period);
        if own.is_periodic() && limit.is_none_or(|limit| limit > next) {
            return Err(ErrorReturnCode::InvalidMode);
        }
        own.set_deadline(limit);
        Ok(())
    }
}
