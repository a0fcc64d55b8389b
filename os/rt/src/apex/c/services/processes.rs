//! The partition, its processes and time.

use super::{end, entry, give, known, name, text};
use crate::apex::c::types::*;
use crate::apex::hypervisor::Apex;
use a653rs::bindings as apex;
use a653rs::bindings::{ApexPartitionP4, ApexProcessP1, ApexProcessP4, ApexTimeP1, ApexTimeP4, ErrorReturnCode};
use core::ffi::c_char;
use core::mem::MaybeUninit;

#[no_mangle]
pub extern "C" fn GET_PARTITION_STATUS(
    PARTITION_STATUS: &mut MaybeUninit<PARTITION_STATUS_TYPE>,
    RETURN_CODE: &mut MaybeUninit<RETURN_CODE_TYPE>,
) {
    let status = Apex::get_partition_status();
    let status = PARTITION_STATUS_TYPE {
        PERIOD: status.period,
        DURATION: status.duration,
        IDENTIFIER: status.identifier,
        LOCK_LEVEL: status.lock_level,
        OPERATING_MODE: status.operating_mode as OPERATING_MODE_TYPE,
        START_CONDITION: status.start_condition as START_CONDITION_TYPE,
        NUM_ASSIGNED_CORES: status.num_assigned_cores,
    };
    give(Ok(status), PARTITION_STATUS, RETURN_CODE);
}

#[no_mangle]
pub extern "C" fn SET_PARTITION_MODE(
    OPERATING_MODE: OPERATING_MODE_TYPE,
    RETURN_CODE: &mut MaybeUninit<RETURN_CODE_TYPE>,
) {
    end(known(OPERATING_MODE).and_then(Apex::set_partition_mode), RETURN_CODE);
}

/// What C says of a process.
fn attributes(told: &PROCESS_ATTRIBUTE_TYPE) -> Result<apex::ApexProcessAttribute, ErrorReturnCode> {
    Ok(apex::ApexProcessAttribute {
        period: told.PERIOD,
        time_capacity: told.TIME_CAPACITY,
        entry_point: entry(told.ENTRY_POINT)?,
        stack_size: told.STACK_SIZE,
        base_priority: told.BASE_PRIORITY,
        deadline: match told.DEADLINE {
            SOFT => apex::Deadline::Soft,
            HARD => apex::Deadline::Hard,
            _ => return Err(ErrorReturnCode::InvalidParam),
        },
        name: name(told.NAME.as_ptr()),
    })
}

#[no_mangle]
pub extern "C" fn CREATE_PROCESS(
    ATTRIBUTES: &PROCESS_ATTRIBUTE_TYPE,
    PROCESS_ID: &mut MaybeUninit<PROCESS_ID_TYPE>,
    RETURN_CODE: &mut MaybeUninit<RETURN_CODE_TYPE>,
) {
    give(attributes(ATTRIBUTES).and_then(|told| Apex::create_process(&told)), PROCESS_ID, RETURN_CODE);
}

#[no_mangle]
pub extern "C" fn SET_PRIORITY(
    PROCESS_ID: PROCESS_ID_TYPE,
    CURRENT_PRIORITY: PRIORITY_TYPE,
    RETURN_CODE: &mut MaybeUninit<RETURN_CODE_TYPE>,
) {
    end(Apex::set_priority(PROCESS_ID, CURRENT_PRIORITY), RETURN_CODE);
}

#[no_mangle]
pub extern "C" fn SUSPEND_SELF(TIME_OUT: SYSTEM_TIME_TYPE, RETURN_CODE: &mut MaybeUninit<RETURN_CODE_TYPE>) {
    end(Apex::suspend_self(TIME_OUT), RETURN_CODE);
}

#[no_mangle]
pub extern "C" fn SUSPEND(PROCESS_ID: PROCESS_ID_TYPE, RETURN_CODE: &mut MaybeUninit<RETURN_CODE_TYPE>) {
    end(Apex::suspend(PROCESS_ID), RETURN_CODE);
}

#[no_mangle]
pub extern "C" fn RESUME(PROCESS_ID: PROCESS_ID_TYPE, RETURN_CODE: &mut MaybeUninit<RETURN_CODE_TYPE>) {
    end(Apex::resume(PROCESS_ID), RETURN_CODE);
}

#[no_mangle]
pub extern "C" fn STOP_SELF() {
    Apex::stop_self();
}

#[no_mangle]
pub extern "C" fn STOP(PROCESS_ID: PROCESS_ID_TYPE, RETURN_CODE: &mut MaybeUninit<RETURN_CODE_TYPE>) {
    end(Apex::stop(PROCESS_ID), RETURN_CODE);
}

#[no_mangle]
pub extern "C" fn START(PROCESS_ID: PROCESS_ID_TYPE, RETURN_CODE: &mut MaybeUninit<RETURN_CODE_TYPE>) {
    end(Apex::start(PROCESS_ID), RETURN_CODE);
}

#[no_mangle]
pub extern "C" fn DELAYED_START(
    PROCESS_ID: PROCESS_ID_TYPE,
    DELAY_TIME: SYSTEM_TIME_TYPE,
    RETURN_CODE: &mut MaybeUninit<RETURN_CODE_TYPE>,
) {
    end(Apex::delayed_start(PROCESS_ID, DELAY_TIME), RETURN_CODE);
}

#[no_mangle]
pub extern "C" fn LOCK_PREEMPTION(
    LOCK_LEVEL: &mut MaybeUninit<LOCK_LEVEL_TYPE>,
    RETURN_CODE: &mut MaybeUninit<RETURN_CODE_TYPE>,
) {
    give(Apex::lock_preemption(), LOCK_LEVEL, RETURN_CODE);
}

#[no_mangle]
pub extern "C" fn UNLOCK_PREEMPTION(
    LOCK_LEVEL: &mut MaybeUninit<LOCK_LEVEL_TYPE>,
    RETURN_CODE: &mut MaybeUninit<RETURN_CODE_TYPE>,
) {
    give(Apex::unlock_preemption(), LOCK_LEVEL, RETURN_CODE);
}

#[no_mangle]
pub extern "C" fn GET_MY_ID(
    PROCESS_ID: &mut MaybeUninit<PROCESS_ID_TYPE>,
    RETURN_CODE: &mut MaybeUninit<RETURN_CODE_TYPE>,
) {
    give(Apex::get_my_id(), PROCESS_ID, RETURN_CODE);
}

#[no_mangle]
pub extern "C" fn GET_MY_INDEX(
    PROCESS_INDEX: &mut MaybeUninit<PROCESS_INDEX_TYPE>,
    RETURN_CODE: &mut MaybeUninit<RETURN_CODE_TYPE>,
) {
    give(Apex::get_my_index(), PROCESS_INDEX, RETURN_CODE);
}

#[no_mangle]
pub extern "C" fn GET_PROCESS_ID(
    PROCESS_NAME: *const c_char,
    PROCESS_ID: &mut MaybeUninit<PROCESS_ID_TYPE>,
    RETURN_CODE: &mut MaybeUninit<RETURN_CODE_TYPE>,
) {
    give(Apex::get_process_id(name(PROCESS_NAME)), PROCESS_ID, RETURN_CODE);
}

#[no_mangle]
pub extern "C" fn GET_PROCESS_STATUS(
    PROCESS_ID: PROCESS_ID_TYPE,
    PROCESS_STATUS: &mut MaybeUninit<PROCESS_STATUS_TYPE>,
    RETURN_CODE: &mut MaybeUninit<RETURN_CODE_TYPE>,
) {
    let status = Apex::get_process_status(PROCESS_ID).map(|status| PROCESS_STATUS_TYPE {
        DEADLINE_TIME: status.deadline_time,
        CURRENT_PRIORITY: status.current_priority,
        PROCESS_STATE: status.process_state as PROCESS_STATE_TYPE,
        ATTRIBUTES: PROCESS_ATTRIBUTE_TYPE {
            PERIOD: status.attributes.period,
            TIME_CAPACITY: status.attributes.time_capacity,
            ENTRY_POINT: status.attributes.entry_point as SYSTEM_ADDRESS_TYPE,
            STACK_SIZE: status.attributes.stack_size,
            BASE_PRIORITY: status.attributes.base_priority,
            DEADLINE: status.attributes.deadline as DEADLINE_TYPE,
            NAME: text(status.attributes.name),
        },
    });
    give(status, PROCESS_STATUS, RETURN_CODE);
}

#[no_mangle]
pub extern "C" fn INITIALIZE_PROCESS_CORE_AFFINITY(
    PROCESS_ID: PROCESS_ID_TYPE,
    PROCESSOR_CORE_ID: PROCESSOR_CORE_ID_TYPE,
    RETURN_CODE: &mut MaybeUninit<RETURN_CODE_TYPE>,
) {
    end(Apex::initialize_process_core_affinity(PROCESS_ID, PROCESSOR_CORE_ID), RETURN_CODE);
}

#[no_mangle]
pub extern "C" fn GET_MY_PROCESSOR_CORE_ID(
    PROCESSOR_CORE_ID: &mut MaybeUninit<PROCESSOR_CORE_ID_TYPE>,
    RETURN_CODE: &mut MaybeUninit<RETURN_CODE_TYPE>,
) {
    give(Ok(Apex::get_my_processor_core_id()), PROCESSOR_CORE_ID, RETURN_CODE);
}

#[no_mangle]
pub extern "C" fn TIMED_WAIT(DELAY_TIME: SYSTEM_TIME_TYPE, RETURN_CODE: &mut MaybeUninit<RETURN_CODE_TYPE>) {
    end(Apex::timed_wait(DELAY_TIME), RETURN_CODE);
}

#[no_mangle]
pub extern "C" fn PERIODIC_WAIT(RETURN_CODE: &mut MaybeUninit<RETURN_CODE_TYPE>) {
    end(Apex::periodic_wait(), RETURN_CODE);
}

#[no_mangle]
pub extern "C" fn GET_TIME(
    SYSTEM_TIME: &mut MaybeUninit<SYSTEM_TIME_TYPE>,
    RETURN_CODE: &mut MaybeUninit<RETURN_CODE_TYPE>,
) {
    give(Ok(Apex::get_time()), SYSTEM_TIME, RETURN_CODE);
}

#[no_mangle]
pub extern "C" fn REPLENISH(BUDGET_TIME: SYSTEM_TIME_TYPE, RETURN_CODE: &mut MaybeUninit<RETURN_CODE_TYPE>) {
    end(Apex::replenish(BUDGET_TIME), RETURN_CODE);
}
