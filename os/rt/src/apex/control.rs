//! The services on processes.

use super::hypervisor::{Apex, MOST_PROCESSES as MOST};
use super::process::{self, awaited, Own, Suspended};
use super::{error, jobs, mode, time};
use crate::cards;
use a653rs::bindings::{ApexName, INFINITE_TIME_VALUE};
use a653rs::bindings::{
    ApexProcessAttribute, ApexProcessP1, ApexProcessP4, ApexProcessStatus, ApexSystemTime, ApexUnsigned, Deadline,
    ErrorReturnCode, LockLevel, Priority, ProcessId, ProcessIndex, ProcessName, ProcessState, ProcessorCoreId,
    MAX_PRIORITY_VALUE, MIN_PRIORITY_VALUE,
};
use core::sync::atomic::Ordering;
use tactus_abi::port::{ProcessCard, ARRIVALS};

/// The most stack of a process (bytes): what the image builder gives each thread in a component of the user's.
const STACK: ApexUnsigned = 16 << 10;

/// The place of the task of this name. The card's name may be shorter than the process's.
fn task_of(name: &ApexName) -> Option<usize> {
    let is = |card: &ProcessCard| {
        let length = card.name.iter().position(|byte| *byte == 0).unwrap_or(card.name.len());
        let rest = name.get(length).copied().unwrap_or(0);
        name[..length] == card.name[..length] && (rest == 0 || length == card.name.len())
    };
    cards::processes().iter().take(MOST).position(is)
}

fn create(attributes: &ApexProcessAttribute) -> Result<ProcessId, ErrorReturnCode> {
    let invalid = Err(ErrorReturnCode::InvalidParam);
    if mode::is_normal() {
        return Err(ErrorReturnCode::InvalidMode);
    }
    if process::all().any(|it| it.name.is(&attributes.name)) {
        return Err(ErrorReturnCode::NoAction);
    }
    let place = task_of(&attributes.name).ok_or(ErrorReturnCode::InvalidConfig)?;
    let card = &cards::processes()[place];
    let (period, capacity, priority) = (attributes.period, attributes.time_capacity, attributes.base_priority);
    if !(MIN_PRIORITY_VALUE..=MAX_PRIORITY_VALUE).contains(&priority) || attributes.stack_size == 0 {
        return invalid;
    }
    if attributes.stack_size > STACK {
        return Err(ErrorReturnCode::InvalidConfig);
    }
    if (period <= 0 && period != INFINITE_TIME_VALUE) || (capacity <= 0 && capacity != INFINITE_TIME_VALUE) {
        return invalid;
    }
    if period > 0 && capacity > period {
        return invalid;
    }
    // What the system file says was checked.
    if period > 0 && (period.unsigned_abs() != card.period || card.releases == ARRIVALS) {
        return Err(ErrorReturnCode::InvalidConfig);
    }
    if card.priority != 0 && priority.unsigned_abs() != card.priority {
        return Err(ErrorReturnCode::InvalidConfig);
    }
    let process = process::at(place);
    process.name.set(&attributes.name);
    process.entry.set(attributes.entry_point);
    process.period.store(period, Ordering::Relaxed);
    process.capacity.store(capacity, Ordering::Relaxed);
    process.stack.store(attributes.stack_size, Ordering::Relaxed);
    process.base.store(priority, Ordering::Relaxed);
    process.hard.store(attributes.deadline == Deadline::Hard, Ordering::Relaxed);
    error::forget(process);
    process.create();
    Ok(process.id())
}

/// Starts a dormant process, so long after now, or after the initialisation of the partition.
fn start(process: Own, delay: u64) -> Result<(), ErrorReturnCode> {
    // Before it is ready, so that it does not begin without a deadline; two that start it at once start it at the same time.
    if !process.condition().is_dormant() {
        return Err(ErrorReturnCode::NoAction);
    }
    if mode::is_normal() {
        process.starts(time::now().saturating_add(delay));
    } else {
        process.from.store(delay, Ordering::Relaxed);
    }
    let started = process.change(|it| it.is_dormant().then(|| it.started()));
    started.ok_or(ErrorReturnCode::NoAction)?;
    if mode::is_normal() {
        process.report_deadline();
    }
    Ok(())
}

/// The initialisation is over: processes that it has started count their time from now on.
pub(super) fn begin_all() {
    for process in process::all().filter(|it| it.condition().state == ProcessState::Ready) {
        let delay = process.from.load(Ordering::Relaxed);
        process.starts(if delay == 0 && process.is_periodic() { 0 } else { time::now().saturating_add(delay) });
        process.report_deadline();
    }
}

impl ApexProcessP4 for Apex {
    fn create_process(attributes: &ApexProcessAttribute) -> Result<ProcessId, ErrorReturnCode> {
        create(attributes)
    }

    fn start(process_id: ProcessId) -> Result<(), ErrorReturnCode> {
        Apex::delayed_start(process_id, 0)
    }
}

/// A process that is not the one that calls.
fn other(process_id: ProcessId) -> Result<Own, ErrorReturnCode> {
    let process = process::get(process_id)?;
    let own = process::own().is_some_and(|own| own.place() == process.place());
    (!own).then_some(process).ok_or(ErrorReturnCode::InvalidParam)
}

impl ApexProcessP1 for Apex {
    fn set_priority(process_id: ProcessId, priority: Priority) -> Result<(), ErrorReturnCode> {
        let process = process::get(process_id)?;
        if !(MIN_PRIORITY_VALUE..=MAX_PRIORITY_VALUE).contains(&priority) {
            return Err(ErrorReturnCode::InvalidParam);
        }
        if process.condition().is_dormant() {
            return Err(ErrorReturnCode::InvalidMode);
        }
        // The order of processes is that of the system file, which was checked.
        if priority != process.base.load(Ordering::Relaxed) {
            return Err(ErrorReturnCode::InvalidConfig);
        }
        Ok(())
    }

    fn suspend_self(time_out: ApexSystemTime) -> Result<(), ErrorReturnCode> {
        let own = process::own_that_waits().filter(|own| !own.is_periodic()).ok_or(ErrorReturnCode::InvalidMode)?;
        time::limit(time_out)?;
        if time_out == 0 {
            return Ok(());
        }
        own.change(|it| Some(it.suspended(Suspended::ByItself)));
        let resumed = || (own.condition().suspended == Suspended::No).then_some(());
        let resumed = time::wait_for(awaited::TIME, time_out, resumed);
        own.change(|it| Some(it.suspended(Suspended::No)));
        resumed
    }

    fn suspend(process_id: ProcessId) -> Result<(), ErrorReturnCode> {
        let process = other(process_id)?;
        if process.is_periodic() || process.condition().is_dormant() {
            return Err(ErrorReturnCode::InvalidMode);
        }
        let free = |it: process::Condition| it.suspended == Suspended::No && !it.is_dormant();
        let suspended = process.change(|it| free(it).then(|| it.suspended(Suspended::ByOther)));
        suspended.map(|_| ()).ok_or(ErrorReturnCode::NoAction)
    }

    fn resume(process_id: ProcessId) -> Result<(), ErrorReturnCode> {
        let process = other(process_id)?;
        if process.condition().is_dormant() || process.is_periodic() {
            return Err(ErrorReturnCode::InvalidMode);
        }
        let resumed = process.change(|it| (it.suspended != Suspended::No).then(|| it.suspended(Suspended::No)));
        resumed.map(|_| ()).ok_or(ErrorReturnCode::NoAction)
    }

    fn stop_self() {
        if let Some(own) = process::own() {
            jobs::stop_self(own);
        }
    }

    fn stop(process_id: ProcessId) -> Result<(), ErrorReturnCode> {
        let process = other(process_id)?;
        let dormant = |it: process::Condition| it.with(ProcessState::Dormant).suspended(Suspended::No);
        let stopped = process.change(|it| (!it.is_dormant()).then(|| dormant(it)));
        stopped.ok_or(ErrorReturnCode::NoAction)?;
        if mode::is_normal() {
            process.leaves();
        }
        Ok(())
    }

    fn delayed_start(process_id: ProcessId, delay_time: ApexSystemTime) -> Result<(), ErrorReturnCode> {
        let process = process::get(process_id)?;
        if !process.condition().is_dormant() {
            return Err(ErrorReturnCode::NoAction);
        }
        let delay = u64::try_from(delay_time).map_err(|_| ErrorReturnCode::InvalidParam)?;
        if process.is_periodic() && delay_time >= process.period.load(Ordering::Relaxed) {
            return Err(ErrorReturnCode::InvalidParam);
        }
        start(process, delay)
    }

    fn lock_preemption() -> Result<LockLevel, ErrorReturnCode> {
        // The largest lock level is 0 here: no process may keep one off that was checked without that.
        match process::own_that_waits() {
            Some(_) => Err(ErrorReturnCode::InvalidConfig),
            None => Err(ErrorReturnCode::NoAction),
        }
    }

    fn unlock_preemption() -> Result<LockLevel, ErrorReturnCode> {
        Err(ErrorReturnCode::NoAction)
    }

    fn get_my_id() -> Result<ProcessId, ErrorReturnCode> {
        process::own_that_waits().map(Own::id).ok_or(ErrorReturnCode::InvalidMode)
    }

    fn get_process_id(process_name: ProcessName) -> Result<ProcessId, ErrorReturnCode> {
        process::all().find(|it| it.name.is(&process_name)).map(Own::id).ok_or(ErrorReturnCode::InvalidConfig)
    }

    fn get_process_status(process_id: ProcessId) -> Result<ApexProcessStatus, ErrorReturnCode> {
        let process = process::get(process_id)?;
        let entry_point = process.entry.get().ok_or(ErrorReturnCode::InvalidParam)?;
        let priority = process.base.load(Ordering::Relaxed);
        Ok(ApexProcessStatus {
            deadline_time: process.deadline_time(),
            current_priority: priority,
            process_state: process.state_seen(),
            attributes: ApexProcessAttribute {
                period: process.period.load(Ordering::Relaxed),
                time_capacity: process.capacity.load(Ordering::Relaxed),
                entry_point,
                stack_size: process.stack.load(Ordering::Relaxed),
                base_priority: priority,
                deadline: if process.hard.load(Ordering::Relaxed) { Deadline::Hard } else { Deadline::Soft },
                name: process.name.get(),
            },
        })
    }

    fn initialize_process_core_affinity(
        process_id: ProcessId,
        processor_core_id: ProcessorCoreId,
    ) -> Result<(), ErrorReturnCode> {
        let process = process::get(process_id)?;
        if mode::is_normal() {
            return Err(ErrorReturnCode::InvalidMode);
        }
        match i64::from(processor_core_id) {
            -1 => Ok(()),
            other if other == i64::from(process.card().core) => Ok(()),
            _ => Err(ErrorReturnCode::InvalidConfig),
        }
    }

    fn get_my_processor_core_id() -> ProcessorCoreId {
        process::place().map_or(0, |place| cards::processes()[place].core as ProcessorCoreId)
    }

    fn get_my_index() -> Result<ProcessIndex, ErrorReturnCode> {
        process::own_that_waits().map(|own| own.place() as ProcessIndex).ok_or(ErrorReturnCode::InvalidMode)
    }
}
