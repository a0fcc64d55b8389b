//! Time, and waiting: a process that waits ends its job and looks again with its next one.

use super::hypervisor::Apex;
use super::process::{self, awaited, Own, Suspended, NEVER};
use super::{reports, thread};
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

/// Waits for this ([`process::awaited`]) until it gives something, or until the time-out is over.
pub(super) fn wait_for<T>(
    object: u32,
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
    let own = process::own_that_waits().ok_or(ErrorReturnCode::InvalidMode)?;
    own.waits_for(object);
    let result = loop {
        own.end_job();
        go_on(own);
        if let Some(value) = ready() {
            break Ok(value);
        }
        if limit.is_some_and(|limit| now() >= limit) {
            break Err(ErrorReturnCode::TimedOut);
        }
    };
    own.runs();
    result
}

/// Called by a process that has a new job: it goes on, unless it was stopped or the partition restarts; and not before it is resumed.
fn go_on(own: Own) {
    loop {
        if !own.goes_on() {
            thread::begin_anew();
        }
        if own.condition().suspended != Suspended::ByOther {
            return;
        }
        reports::end_job();
    }
}

impl ApexTimeP4 for Apex {
    fn periodic_wait() -> Result<(), ErrorReturnCode> {
        let own = process::own_that_waits().filter(|own| own.is_periodic()).ok_or(ErrorReturnCode::InvalidMode)?;
        own.awaits_release(&thread::current_job());
        own.waits_for(awaited::TIME);
        own.end_job();
        go_on(own);
        own.released(thread::current_job().release().as_nanos());
        own.report_deadline();
        own.runs();
        Ok(())
    }

    fn get_time() -> ApexSystemTime {
        now() as ApexSystemTime
    }
}

impl ApexTimeP1 for Apex {
    fn timed_wait(delay_time: ApexSystemTime) -> Result<(), ErrorReturnCode> {
        process::own_that_waits().ok_or(ErrorReturnCode::InvalidMode)?;
        if delay_time < 0 {
            return Err(ErrorReturnCode::InvalidParam);
        }
        match wait_for(awaited::TIME, delay_time, || None::<()>) {
            // None of the two is an error here: the time is over.
            Err(ErrorReturnCode::TimedOut | ErrorReturnCode::NotAvailable) | Ok(()) => Ok(()),
            Err(error) => Err(error),
        }
    }

    fn replenish(budget_time: ApexSystemTime) -> Result<(), ErrorReturnCode> {
        let own = process::own_that_waits().ok_or(ErrorReturnCode::NoAction)?;
        let limit = limit(budget_time)?;
        let next = thread::current_job().release().as_nanos().saturating_add(own.card().period);
        if own.is_periodic() && limit.is_none_or(|limit| limit > next) {
            return Err(ErrorReturnCode::InvalidMode);
        }
        // Without a time capacity there is no deadline, whatever the budget.
        if !own.is_unlimited() {
            own.set_deadline(limit.unwrap_or(NEVER));
            own.report_deadline();
        }
        Ok(())
    }
}
