//! The services, as the standard's C interface has them: each hands its parameters on to the trait's, and what comes of it to the
//! caller's places.

mod errors;
mod inside;
mod ports;
mod processes;

use super::types::*;
use a653rs::bindings as apex;
use a653rs::bindings::{ApexName, ErrorReturnCode};
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

/// A service that gives a message is over: one that did not come has the length 0.
fn give_message(
    result: Result<MESSAGE_SIZE_TYPE, ErrorReturnCode>,
    length: &mut MaybeUninit<MESSAGE_SIZE_TYPE>,
    code: &mut MaybeUninit<RETURN_CODE_TYPE>,
) {
    use ErrorReturnCode::{NoAction, NotAvailable, TimedOut};
    if matches!(result, Err(NoAction | NotAvailable | TimedOut)) {
        length.write(0);
    }
    give(result, length, code);
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
