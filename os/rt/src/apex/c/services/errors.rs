//! Application errors and who handles them.

use super::{end, entry, give, given};
use crate::apex::c::types::*;
use crate::apex::hypervisor::Apex;
use a653rs::bindings as apex;
use a653rs::bindings::{ApexErrorP1, ApexErrorP4, ErrorReturnCode};
use core::mem::MaybeUninit;

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
