//! The services, as the standard's C interface has them: each hands its parameters on to the trait's, and what comes of it to the
//! caller's places.

use super::types::*;
use crate::apex::hypervisor::Apex;
use a653rs::bindings as apex;
use a653rs::bindings::{
    ApexBlackboardP1, ApexBufferP1, ApexErrorP1, ApexErrorP4, ApexEventP1, ApexName, ApexPartitionP4, ApexProcessP1,
    ApexProcessP4, ApexQueuingPortP1, ApexQueuingPortP4, ApexSamplingPortP1, ApexSamplingPortP4, ApexSemaphoreP1,
    ApexTimeP1, ApexTimeP4, ErrorReturnCode,
};
use core::ffi::{c_char, c_void};
use core::mem::MaybeUninit;

/// A service that gives nothing but its return code is over.
fn end(result: Result<(), ErrorReturnCode>, code: &mut MaybeUninit<RETURN_CODE_TYPE>) {
    code.write(result.map_or_else(|error| error as RETURN_CODE_TYPE, |()| NO_ERROR));
}

/// A service that gives something is over: only with `NO_ERROR` is it written.
fn give<T>(result: Result<T, ErrorReturnCode>, to: &mut MaybeUninit<T>, code: &mut MaybeUninit<RETURN_CODE_TYPE>) {
    end(result.map(|value| _ = to.write(value)), code);
}

/// A value of an enumeration, where C has given one.
fn known<T: TryFrom<u32>>(value: u32) -> Result<T, ErrorReturnCode> {
    T::try_from(value).map_err(|_| ErrorReturnCode::InvalidParam)
}

/// A name: up to its zero, since C hands on texts that are shorter than the type.
fn name(at: *const c_char) -> ApexName {
    let mut name = [0; MAX_NAME_LENGTH];
    for (place, byte) in name.iter_mut().enumerate() {
        // SAFETY: promised by the caller: a text that ends with a zero or is as long as the type.
        match unsafe { at.add(place).read() } {
            0 => break,
            other => *byte = other as u8,
        }
    }
    name
}

/// A message that is handed over; one of no bytes may lie nowhere.
fn given<'a>(at: MESSAGE_ADDR_TYPE, length: usize) -> &'a [u8] {
    if at.is_null() {
        return &[];
    }
    // SAFETY: promised by the caller: `length` bytes, which nobody changes until the service is over.
    unsafe { core::slice::from_raw_parts(at, length) }
}

/// Room for the longest message that may come.
fn room<'a>(at: MESSAGE_ADDR_TYPE, size: MESSAGE_SIZE_TYPE) -> Result<&'a mut [u8], ErrorReturnCode> {
    if at.is_null() {
        return Err(ErrorReturnCode::InvalidParam);
    }
    // SAFETY: promised by the caller: room for the longest message of this object, which nobody else uses until the service is over.
    Ok(unsafe { core::slice::from_raw_parts_mut(at, size as usize) })
}

/// Where a process begins.
fn entry(at: SYSTEM_ADDRESS_TYPE) -> Result<apex::SystemAddress, ErrorReturnCode> {
    if at.is_null() {
        return Err(ErrorReturnCode::InvalidConfig);
    }
    // SAFETY: promised by the caller: a function that takes and gives nothing.
    Ok(unsafe { core::mem::transmute::<*mut c_void, apex::SystemAddress>(at) })
}

/// The name as C has it.
fn text(name: ApexName) -> NAME_TYPE {
    name.map(|byte| byte as c_char)
}

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

#[no_mangle]
pub extern "C" fn REPORT_APPLICATION_MESSAGE(
    MESSAGE_ADDR: MESSAGE_ADDR_TYPE,
    LENGTH: MESSAGE_SIZE_TYPE,
    RETURN_CODE: &mut MaybeUninit<RETURN_CODE_TYPE>,
) {
    end(Apex::report_application_message(given(MESSAGE_ADDR, LENGTH as usize)), RETURN_CODE);
}

#[no_mangle]
pub extern "C" fn CREATE_ERROR_HANDLER(
    ENTRY_POINT: SYSTEM_ADDRESS_TYPE,
    STACK_SIZE: STACK_SIZE_TYPE,
    RETURN_CODE: &mut MaybeUninit<RETURN_CODE_TYPE>,
) {
    end(entry(ENTRY_POINT).and_then(|entry| Apex::create_error_handler(entry, STACK_SIZE)), RETURN_CODE);
}

#[no_mangle]
pub extern "C" fn GET_ERROR_STATUS(
    ERROR_STATUS: &mut MaybeUninit<ERROR_STATUS_TYPE>,
    RETURN_CODE: &mut MaybeUninit<RETURN_CODE_TYPE>,
) {
    let status = Apex::get_error_status().map(|status| ERROR_STATUS_TYPE {
        ERROR_CODE: status.error_code as ERROR_CODE_TYPE,
        LENGTH: status.length,
        FAILED_PROCESS_ID: status.failed_process_id,
        FAILED_ADDRESS: status.failed_address as SYSTEM_ADDRESS_TYPE,
        MESSAGE: status.message,
    });
    give(status, ERROR_STATUS, RETURN_CODE);
}

#[no_mangle]
pub extern "C" fn RAISE_APPLICATION_ERROR(
    ERROR_CODE: ERROR_CODE_TYPE,
    MESSAGE_ADDR: MESSAGE_ADDR_TYPE,
    LENGTH: ERROR_MESSAGE_SIZE_TYPE,
    RETURN_CODE: &mut MaybeUninit<RETURN_CODE_TYPE>,
) {
    let raised = match (ERROR_CODE, usize::try_from(LENGTH)) {
        (APPLICATION_ERROR, Ok(length)) => {
            Apex::raise_application_error(apex::ErrorCode::ApplicationError, given(MESSAGE_ADDR, length))
        }
        // An application may raise no other.
        _ => Err(ErrorReturnCode::InvalidParam),
    };
    end(raised, RETURN_CODE);
}

#[no_mangle]
pub extern "C" fn CONFIGURE_ERROR_HANDLER(
    CONCURRENCY_CONTROL: ERROR_HANDLER_CONCURRENCY_CONTROL_TYPE,
    PROCESSOR_CORE_ID: PROCESSOR_CORE_ID_TYPE,
    RETURN_CODE: &mut MaybeUninit<RETURN_CODE_TYPE>,
) {
    let control = match CONCURRENCY_CONTROL {
        PROCESSES_PAUSE => Ok(apex::ErrorHandlerConcurrencyControl::ProcessesPause),
        PROCESSES_SCHEDULED => Ok(apex::ErrorHandlerConcurrencyControl::ProcessesScheduled),
        _ => Err(ErrorReturnCode::InvalidParam),
    };
    end(control.and_then(|control| Apex::configure_error_handler(control, PROCESSOR_CORE_ID)), RETURN_CODE);
}

#[no_mangle]
pub extern "C" fn CREATE_SAMPLING_PORT(
    SAMPLING_PORT_NAME: *const c_char,
    MAX_MESSAGE_SIZE: MESSAGE_SIZE_TYPE,
    PORT_DIRECTION: PORT_DIRECTION_TYPE,
    REFRESH_PERIOD: SYSTEM_TIME_TYPE,
    SAMPLING_PORT_ID: &mut MaybeUninit<SAMPLING_PORT_ID_TYPE>,
    RETURN_CODE: &mut MaybeUninit<RETURN_CODE_TYPE>,
) {
    give(
        known(PORT_DIRECTION).and_then(|direction| {
            Apex::create_sampling_port(name(SAMPLING_PORT_NAME), MAX_MESSAGE_SIZE, direction, REFRESH_PERIOD)
        }),
        SAMPLING_PORT_ID,
        RETURN_CODE,
    );
}

#[no_mangle]
pub extern "C" fn WRITE_SAMPLING_MESSAGE(
    SAMPLING_PORT_ID: SAMPLING_PORT_ID_TYPE,
    MESSAGE_ADDR: MESSAGE_ADDR_TYPE,
    LENGTH: MESSAGE_SIZE_TYPE,
    RETURN_CODE: &mut MaybeUninit<RETURN_CODE_TYPE>,
) {
    end(Apex::write_sampling_message(SAMPLING_PORT_ID, given(MESSAGE_ADDR, LENGTH as usize)), RETURN_CODE);
}

#[no_mangle]
pub extern "C" fn READ_SAMPLING_MESSAGE(
    SAMPLING_PORT_ID: SAMPLING_PORT_ID_TYPE,
    MESSAGE_ADDR: MESSAGE_ADDR_TYPE,
    LENGTH: &mut MaybeUninit<MESSAGE_SIZE_TYPE>,
    VALIDITY: &mut MaybeUninit<VALIDITY_TYPE>,
    RETURN_CODE: &mut MaybeUninit<RETURN_CODE_TYPE>,
) {
    let read = Apex::get_sampling_port_status(SAMPLING_PORT_ID).and_then(|port| {
        let room = room(MESSAGE_ADDR, port.max_message_size)?;
        // SAFETY: memory that nobody else has, as long as the longest message.
        unsafe { Apex::read_sampling_message(SAMPLING_PORT_ID, room) }
    });
    // Without a message there is none that is valid.
    VALIDITY.write(read.as_ref().map_or(INVALID, |(validity, _)| *validity as VALIDITY_TYPE));
    give(read.map(|(_, length)| length), LENGTH, RETURN_CODE);
}

#[no_mangle]
pub extern "C" fn GET_SAMPLING_PORT_ID(
    SAMPLING_PORT_NAME: *const c_char,
    SAMPLING_PORT_ID: &mut MaybeUninit<SAMPLING_PORT_ID_TYPE>,
    RETURN_CODE: &mut MaybeUninit<RETURN_CODE_TYPE>,
) {
    give(Apex::get_sampling_port_id(name(SAMPLING_PORT_NAME)), SAMPLING_PORT_ID, RETURN_CODE);
}

#[no_mangle]
pub extern "C" fn GET_SAMPLING_PORT_STATUS(
    SAMPLING_PORT_ID: SAMPLING_PORT_ID_TYPE,
    SAMPLING_PORT_STATUS: &mut MaybeUninit<SAMPLING_PORT_STATUS_TYPE>,
    RETURN_CODE: &mut MaybeUninit<RETURN_CODE_TYPE>,
) {
    let status = Apex::get_sampling_port_status(SAMPLING_PORT_ID).map(|status| SAMPLING_PORT_STATUS_TYPE {
        REFRESH_PERIOD: status.refresh_period,
        MAX_MESSAGE_SIZE: status.max_message_size,
        PORT_DIRECTION: status.port_direction as PORT_DIRECTION_TYPE,
        LAST_MSG_VALIDITY: status.last_msg_validity as VALIDITY_TYPE,
    });
    give(status, SAMPLING_PORT_STATUS, RETURN_CODE);
}

#[no_mangle]
pub extern "C" fn CREATE_QUEUING_PORT(
    QUEUING_PORT_NAME: *const c_char,
    MAX_MESSAGE_SIZE: MESSAGE_SIZE_TYPE,
    MAX_NB_MESSAGE: MESSAGE_RANGE_TYPE,
    PORT_DIRECTION: PORT_DIRECTION_TYPE,
    QUEUING_DISCIPLINE: QUEUING_DISCIPLINE_TYPE,
    QUEUING_PORT_ID: &mut MaybeUninit<QUEUING_PORT_ID_TYPE>,
    RETURN_CODE: &mut MaybeUninit<RETURN_CODE_TYPE>,
) {
    give(
        known(PORT_DIRECTION).and_then(|direction| {
            let discipline = known(QUEUING_DISCIPLINE)?;
            Apex::create_queuing_port(name(QUEUING_PORT_NAME), MAX_MESSAGE_SIZE, MAX_NB_MESSAGE, direction, discipline)
        }),
        QUEUING_PORT_ID,
        RETURN_CODE,
    );
}

#[no_mangle]
pub extern "C" fn SEND_QUEUING_MESSAGE(
    QUEUING_PORT_ID: QUEUING_PORT_ID_TYPE,
    MESSAGE_ADDR: MESSAGE_ADDR_TYPE,
    LENGTH: MESSAGE_SIZE_TYPE,
    TIME_OUT: SYSTEM_TIME_TYPE,
    RETURN_CODE: &mut MaybeUninit<RETURN_CODE_TYPE>,
) {
    end(Apex::send_queuing_message(QUEUING_PORT_ID, given(MESSAGE_ADDR, LENGTH as usize), TIME_OUT), RETURN_CODE);
}

#[no_mangle]
pub extern "C" fn RECEIVE_QUEUING_MESSAGE(
    QUEUING_PORT_ID: QUEUING_PORT_ID_TYPE,
    TIME_OUT: SYSTEM_TIME_TYPE,
    MESSAGE_ADDR: MESSAGE_ADDR_TYPE,
    LENGTH: &mut MaybeUninit<MESSAGE_SIZE_TYPE>,
    RETURN_CODE: &mut MaybeUninit<RETURN_CODE_TYPE>,
) {
    let read = Apex::get_queuing_port_status(QUEUING_PORT_ID).and_then(|it| {
        let room = room(MESSAGE_ADDR, it.max_message_size)?;
        // SAFETY: memory that nobody else has, as long as the longest message.
        unsafe { Apex::receive_queuing_message(QUEUING_PORT_ID, TIME_OUT, room) }
    });
    give(read.map(|(length, _)| length), LENGTH, RETURN_CODE);
}

#[no_mangle]
pub extern "C" fn GET_QUEUING_PORT_ID(
    QUEUING_PORT_NAME: *const c_char,
    QUEUING_PORT_ID: &mut MaybeUninit<QUEUING_PORT_ID_TYPE>,
    RETURN_CODE: &mut MaybeUninit<RETURN_CODE_TYPE>,
) {
    give(Apex::get_queuing_port_id(name(QUEUING_PORT_NAME)), QUEUING_PORT_ID, RETURN_CODE);
}

#[no_mangle]
pub extern "C" fn GET_QUEUING_PORT_STATUS(
    QUEUING_PORT_ID: QUEUING_PORT_ID_TYPE,
    QUEUING_PORT_STATUS: &mut MaybeUninit<QUEUING_PORT_STATUS_TYPE>,
    RETURN_CODE: &mut MaybeUninit<RETURN_CODE_TYPE>,
) {
    let status = Apex::get_queuing_port_status(QUEUING_PORT_ID).map(|status| QUEUING_PORT_STATUS_TYPE {
        NB_MESSAGE: status.nb_message,
        MAX_NB_MESSAGE: status.max_nb_message,
        MAX_MESSAGE_SIZE: status.max_message_size,
        PORT_DIRECTION: status.port_direction as PORT_DIRECTION_TYPE,
        WAITING_PROCESSES: status.waiting_processes,
    });
    give(status, QUEUING_PORT_STATUS, RETURN_CODE);
}

#[no_mangle]
pub extern "C" fn CLEAR_QUEUING_PORT(
    QUEUING_PORT_ID: QUEUING_PORT_ID_TYPE,
    RETURN_CODE: &mut MaybeUninit<RETURN_CODE_TYPE>,
) {
    end(Apex::clear_queuing_port(QUEUING_PORT_ID), RETURN_CODE);
}

#[no_mangle]
pub extern "C" fn CREATE_BUFFER(
    BUFFER_NAME: *const c_char,
    MAX_MESSAGE_SIZE: MESSAGE_SIZE_TYPE,
    MAX_NB_MESSAGE: MESSAGE_RANGE_TYPE,
    QUEUING_DISCIPLINE: QUEUING_DISCIPLINE_TYPE,
    BUFFER_ID: &mut MaybeUninit<BUFFER_ID_TYPE>,
    RETURN_CODE: &mut MaybeUninit<RETURN_CODE_TYPE>,
) {
    give(
        known(QUEUING_DISCIPLINE).and_then(|discipline| {
            Apex::create_buffer(name(BUFFER_NAME), MAX_MESSAGE_SIZE, MAX_NB_MESSAGE, discipline)
        }),
        BUFFER_ID,
        RETURN_CODE,
    );
}

#[no_mangle]
pub extern "C" fn SEND_BUFFER(
    BUFFER_ID: BUFFER_ID_TYPE,
    MESSAGE_ADDR: MESSAGE_ADDR_TYPE,
    LENGTH: MESSAGE_SIZE_TYPE,
    TIME_OUT: SYSTEM_TIME_TYPE,
    RETURN_CODE: &mut MaybeUninit<RETURN_CODE_TYPE>,
) {
    end(Apex::send_buffer(BUFFER_ID, given(MESSAGE_ADDR, LENGTH as usize), TIME_OUT), RETURN_CODE);
}

#[no_mangle]
pub extern "C" fn RECEIVE_BUFFER(
    BUFFER_ID: BUFFER_ID_TYPE,
    TIME_OUT: SYSTEM_TIME_TYPE,
    MESSAGE_ADDR: MESSAGE_ADDR_TYPE,
    LENGTH: &mut MaybeUninit<MESSAGE_SIZE_TYPE>,
    RETURN_CODE: &mut MaybeUninit<RETURN_CODE_TYPE>,
) {
    let read = Apex::get_buffer_status(BUFFER_ID).and_then(|it| {
        let room = room(MESSAGE_ADDR, it.max_message_size)?;
        // SAFETY: memory that nobody else has, as long as the longest message.
        unsafe { Apex::receive_buffer(BUFFER_ID, TIME_OUT, room) }
    });
    give(read, LENGTH, RETURN_CODE);
}

#[no_mangle]
pub extern "C" fn GET_BUFFER_ID(
    BUFFER_NAME: *const c_char,
    BUFFER_ID: &mut MaybeUninit<BUFFER_ID_TYPE>,
    RETURN_CODE: &mut MaybeUninit<RETURN_CODE_TYPE>,
) {
    give(Apex::get_buffer_id(name(BUFFER_NAME)), BUFFER_ID, RETURN_CODE);
}

#[no_mangle]
pub extern "C" fn GET_BUFFER_STATUS(
    BUFFER_ID: BUFFER_ID_TYPE,
    BUFFER_STATUS: &mut MaybeUninit<BUFFER_STATUS_TYPE>,
    RETURN_CODE: &mut MaybeUninit<RETURN_CODE_TYPE>,
) {
    let status = Apex::get_buffer_status(BUFFER_ID).map(|status| BUFFER_STATUS_TYPE {
        NB_MESSAGE: status.nb_message,
        MAX_NB_MESSAGE: status.max_nb_message,
        MAX_MESSAGE_SIZE: status.max_message_size,
        WAITING_PROCESSES: status.waiting_processes,
    });
    give(status, BUFFER_STATUS, RETURN_CODE);
}

#[no_mangle]
pub extern "C" fn CREATE_BLACKBOARD(
    BLACKBOARD_NAME: *const c_char,
    MAX_MESSAGE_SIZE: MESSAGE_SIZE_TYPE,
    BLACKBOARD_ID: &mut MaybeUninit<BLACKBOARD_ID_TYPE>,
    RETURN_CODE: &mut MaybeUninit<RETURN_CODE_TYPE>,
) {
    give(Apex::create_blackboard(name(BLACKBOARD_NAME), MAX_MESSAGE_SIZE), BLACKBOARD_ID, RETURN_CODE);
}

#[no_mangle]
pub extern "C" fn DISPLAY_BLACKBOARD(
    BLACKBOARD_ID: BLACKBOARD_ID_TYPE,
    MESSAGE_ADDR: MESSAGE_ADDR_TYPE,
    LENGTH: MESSAGE_SIZE_TYPE,
    RETURN_CODE: &mut MaybeUninit<RETURN_CODE_TYPE>,
) {
    end(Apex::display_blackboard(BLACKBOARD_ID, given(MESSAGE_ADDR, LENGTH as usize)), RETURN_CODE);
}

#[no_mangle]
pub extern "C" fn READ_BLACKBOARD(
    BLACKBOARD_ID: BLACKBOARD_ID_TYPE,
    TIME_OUT: SYSTEM_TIME_TYPE,
    MESSAGE_ADDR: MESSAGE_ADDR_TYPE,
    LENGTH: &mut MaybeUninit<MESSAGE_SIZE_TYPE>,
    RETURN_CODE: &mut MaybeUninit<RETURN_CODE_TYPE>,
) {
    let read = Apex::get_blackboard_status(BLACKBOARD_ID).and_then(|it| {
        let room = room(MESSAGE_ADDR, it.max_message_size)?;
        // SAFETY: memory that nobody else has, as long as the longest message.
        unsafe { Apex::read_blackboard(BLACKBOARD_ID, TIME_OUT, room) }
    });
    give(read, LENGTH, RETURN_CODE);
}

#[no_mangle]
pub extern "C" fn CLEAR_BLACKBOARD(BLACKBOARD_ID: BLACKBOARD_ID_TYPE, RETURN_CODE: &mut MaybeUninit<RETURN_CODE_TYPE>) {
    end(Apex::clear_blackboard(BLACKBOARD_ID), RETURN_CODE);
}

#[no_mangle]
pub extern "C" fn GET_BLACKBOARD_ID(
    BLACKBOARD_NAME: *const c_char,
    BLACKBOARD_ID: &mut MaybeUninit<BLACKBOARD_ID_TYPE>,
    RETURN_CODE: &mut MaybeUninit<RETURN_CODE_TYPE>,
) {
    give(Apex::get_blackboard_id(name(BLACKBOARD_NAME)), BLACKBOARD_ID, RETURN_CODE);
}

#[no_mangle]
pub extern "C" fn GET_BLACKBOARD_STATUS(
    BLACKBOARD_ID: BLACKBOARD_ID_TYPE,
    BLACKBOARD_STATUS: &mut MaybeUninit<BLACKBOARD_STATUS_TYPE>,
    RETURN_CODE: &mut MaybeUninit<RETURN_CODE_TYPE>,
) {
    let status = Apex::get_blackboard_status(BLACKBOARD_ID).map(|status| BLACKBOARD_STATUS_TYPE {
        EMPTY_INDICATOR: status.empty_indicator as EMPTY_INDICATOR_TYPE,
        MAX_MESSAGE_SIZE: status.max_message_size,
        WAITING_PROCESSES: status.waiting_processes,
    });
    give(status, BLACKBOARD_STATUS, RETURN_CODE);
}

#[no_mangle]
pub extern "C" fn CREATE_SEMAPHORE(
    SEMAPHORE_NAME: *const c_char,
    CURRENT_VALUE: SEMAPHORE_VALUE_TYPE,
    MAXIMUM_VALUE: SEMAPHORE_VALUE_TYPE,
    QUEUING_DISCIPLINE: QUEUING_DISCIPLINE_TYPE,
    SEMAPHORE_ID: &mut MaybeUninit<SEMAPHORE_ID_TYPE>,
    RETURN_CODE: &mut MaybeUninit<RETURN_CODE_TYPE>,
) {
    give(
        known(QUEUING_DISCIPLINE).and_then(|discipline| {
            Apex::create_semaphore(name(SEMAPHORE_NAME), CURRENT_VALUE, MAXIMUM_VALUE, discipline)
        }),
        SEMAPHORE_ID,
        RETURN_CODE,
    );
}

#[no_mangle]
pub extern "C" fn WAIT_SEMAPHORE(
    SEMAPHORE_ID: SEMAPHORE_ID_TYPE,
    TIME_OUT: SYSTEM_TIME_TYPE,
    RETURN_CODE: &mut MaybeUninit<RETURN_CODE_TYPE>,
) {
    end(Apex::wait_semaphore(SEMAPHORE_ID, TIME_OUT), RETURN_CODE);
}

#[no_mangle]
pub extern "C" fn SIGNAL_SEMAPHORE(SEMAPHORE_ID: SEMAPHORE_ID_TYPE, RETURN_CODE: &mut MaybeUninit<RETURN_CODE_TYPE>) {
    end(Apex::signal_semaphore(SEMAPHORE_ID), RETURN_CODE);
}

#[no_mangle]
pub extern "C" fn GET_SEMAPHORE_ID(
    SEMAPHORE_NAME: *const c_char,
    SEMAPHORE_ID: &mut MaybeUninit<SEMAPHORE_ID_TYPE>,
    RETURN_CODE: &mut MaybeUninit<RETURN_CODE_TYPE>,
) {
    give(Apex::get_semaphore_id(name(SEMAPHORE_NAME)), SEMAPHORE_ID, RETURN_CODE);
}

#[no_mangle]
pub extern "C" fn GET_SEMAPHORE_STATUS(
    SEMAPHORE_ID: SEMAPHORE_ID_TYPE,
    SEMAPHORE_STATUS: &mut MaybeUninit<SEMAPHORE_STATUS_TYPE>,
    RETURN_CODE: &mut MaybeUninit<RETURN_CODE_TYPE>,
) {
    let status = Apex::get_semaphore_status(SEMAPHORE_ID).map(|status| SEMAPHORE_STATUS_TYPE {
        CURRENT_VALUE: status.current_value,
        MAXIMUM_VALUE: status.maximum_value,
        WAITING_PROCESSES: status.waiting_processes,
    });
    give(status, SEMAPHORE_STATUS, RETURN_CODE);
}

#[no_mangle]
pub extern "C" fn CREATE_EVENT(
    EVENT_NAME: *const c_char,
    EVENT_ID: &mut MaybeUninit<EVENT_ID_TYPE>,
    RETURN_CODE: &mut MaybeUninit<RETURN_CODE_TYPE>,
) {
    give(Apex::create_event(name(EVENT_NAME)), EVENT_ID, RETURN_CODE);
}

#[no_mangle]
pub extern "C" fn SET_EVENT(EVENT_ID: EVENT_ID_TYPE, RETURN_CODE: &mut MaybeUninit<RETURN_CODE_TYPE>) {
    end(Apex::set_event(EVENT_ID), RETURN_CODE);
}

#[no_mangle]
pub extern "C" fn RESET_EVENT(EVENT_ID: EVENT_ID_TYPE, RETURN_CODE: &mut MaybeUninit<RETURN_CODE_TYPE>) {
    end(Apex::reset_event(EVENT_ID), RETURN_CODE);
}

#[no_mangle]
pub extern "C" fn WAIT_EVENT(
    EVENT_ID: EVENT_ID_TYPE,
    TIME_OUT: SYSTEM_TIME_TYPE,
    RETURN_CODE: &mut MaybeUninit<RETURN_CODE_TYPE>,
) {
    end(Apex::wait_event(EVENT_ID, TIME_OUT), RETURN_CODE);
}

#[no_mangle]
pub extern "C" fn GET_EVENT_ID(
    EVENT_NAME: *const c_char,
    EVENT_ID: &mut MaybeUninit<EVENT_ID_TYPE>,
    RETURN_CODE: &mut MaybeUninit<RETURN_CODE_TYPE>,
) {
    give(Apex::get_event_id(name(EVENT_NAME)), EVENT_ID, RETURN_CODE);
}

#[no_mangle]
pub extern "C" fn GET_EVENT_STATUS(
    EVENT_ID: EVENT_ID_TYPE,
    EVENT_STATUS: &mut MaybeUninit<EVENT_STATUS_TYPE>,
    RETURN_CODE: &mut MaybeUninit<RETURN_CODE_TYPE>,
) {
    let status = Apex::get_event_status(EVENT_ID).map(|status| EVENT_STATUS_TYPE {
        EVENT_STATE: status.event_state as EVENT_STATE_TYPE,
        WAITING_PROCESSES: status.waiting_processes,
    });
    give(status, EVENT_STATUS, RETURN_CODE);
}
