//! Buffers, blackboards, semaphores and events, inside a partition.

use super::{end, give, give_message, given, known, name, room};
use crate::apex::c::types::*;
use crate::apex::hypervisor::Apex;
use a653rs::bindings::{ApexBlackboardP1, ApexBufferP1, ApexEventP1, ApexSemaphoreP1};
use core::ffi::c_char;
use core::mem::MaybeUninit;

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
    give_message(read, LENGTH, RETURN_CODE);
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
    give_message(read, LENGTH, RETURN_CODE);
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
