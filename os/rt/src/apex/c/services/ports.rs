//! Sampling and queuing ports, to other partitions.

use super::{end, give, give_message, given, known, name, room};
use crate::apex::c::types::*;
use crate::apex::hypervisor::Apex;
use a653rs::bindings::{ApexQueuingPortP1, ApexQueuingPortP4, ApexSamplingPortP1, ApexSamplingPortP4};
use core::ffi::c_char;
use core::mem::MaybeUninit;

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
    give_message(read.map(|(_, length)| length), LENGTH, RETURN_CODE);
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
    give_message(read.map(|(length, _)| length), LENGTH, RETURN_CODE);
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
