//! Errors: messages to the console, and the error handler, a task of the name `error-handler`.

use super::hypervisor::{Apex, MOST_PROCESSES};
use super::{mode, process, time};
use crate::{cards, Console, Job};
use a653rs::bindings::{
    ApexByte, ApexErrorP1, ApexErrorP4, ErrorCode, ErrorHandlerConcurrencyControl, ErrorReturnCode, ErrorStatus,
    ProcessorCoreId, StackSize, SystemAddress, MAX_ERROR_MESSAGE_SIZE,
};
use core::fmt::Write;
use core::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use tactus_abi::shared::name_text;

/// The task whose jobs are the error handler's.
const HANDLER: &str = "error-handler";
/// The most errors that wait for the handler.
const ERRORS: usize = 8;
/// Words of a message.
const MESSAGE: usize = MAX_ERROR_MESSAGE_SIZE / 8;

/// The handler's place among the tasks, plus one; 0 if there is none.
static PLACE: AtomicUsize = AtomicUsize::new(0);
/// In which life of the partition it was created.
static CREATED: AtomicU32 = AtomicU32::new(0);
static RAISED: AtomicUsize = AtomicUsize::new(0);
static TAKEN: AtomicUsize = AtomicUsize::new(0);

/// An error that waits. Its number says which it is, so that a slot whose writer was preempted is not taken.
struct Raised {
    number: AtomicUsize,
    code: AtomicU32,
    process: AtomicU64,
    length: AtomicU32,
    message: [AtomicU64; MESSAGE],
}

static WAITING: [Raised; ERRORS] = [const {
    Raised {
        number: AtomicUsize::new(0),
        code: AtomicU32::new(0),
        process: AtomicU64::new(0),
        length: AtomicU32::new(0),
        message: [const { AtomicU64::new(0) }; MESSAGE],
    }
}; ERRORS];

/// The error handler's place among the tasks.
pub(super) fn handler() -> Option<usize> {
    if CREATED.load(Ordering::Acquire) != mode::life() {
        return None;
    }
    PLACE.load(Ordering::Acquire).checked_sub(1)
}

/// A process has an error: the handler is started. What does not fit is left out.
fn raise(code: ErrorCode, process: i64, message: &[u8]) {
    let Some(place) = handler() else { return };
    let taken = TAKEN.load(Ordering::Acquire);
    let free = |number: usize| (number - taken.min(number) < ERRORS).then_some(number + 1);
    if let Ok(number) = RAISED.fetch_update(Ordering::AcqRel, Ordering::Relaxed, free) {
        let it = &WAITING[number % ERRORS];
        it.code.store(code as u32, Ordering::Relaxed);
        it.process.store(process as u64, Ordering::Relaxed);
        it.length.store(message.len() as u32, Ordering::Relaxed);
        crate::port::put(&it.message, message);
        it.number.store(number + 1, Ordering::Release);
    }
    process::start_handler(place);
}

/// A job of a process ends: later than its deadline is an error.
pub(super) fn end_of_job(job: &Job) {
    let Some(own) = process::own().filter(|own| handler().is_some() && !own.is_error_handler()) else { return };
    let response = time::now().saturating_sub(job.release().as_nanos());
    if response > own.card().deadline {
        raise(ErrorCode::DeadlineMissed, own.id(), &[]);
    }
}

impl ApexErrorP4 for Apex {
    fn report_application_message(message: &[ApexByte]) -> Result<(), ErrorReturnCode> {
        if message.len() > MAX_ERROR_MESSAGE_SIZE {
            return Err(ErrorReturnCode::InvalidParam);
        }
        let _ = writeln!(Console, "{}", core::str::from_utf8(message).unwrap_or("?"));
        Ok(())
    }

    fn raise_application_error(error_code: ErrorCode, message: &[ApexByte]) -> Result<(), ErrorReturnCode> {
        if message.len() > MAX_ERROR_MESSAGE_SIZE || error_code != ErrorCode::ApplicationError {
            return Err(ErrorReturnCode::InvalidParam);
        }
        match (process::own().filter(|own| !own.is_error_handler()), handler()) {
            (Some(own), Some(_)) => {
                raise(error_code, own.id(), message);
                Ok(())
            }
            // Without a handler, or by the handler itself, it is the partition's: what the system file says of its faults.
            _ => panic!("{}", core::str::from_utf8(message).unwrap_or("?")),
        }
    }
}

impl ApexErrorP1 for Apex {
    fn create_error_handler(entry_point: SystemAddress, stack_size: StackSize) -> Result<(), ErrorReturnCode> {
        if mode::is_normal() {
            return Err(ErrorReturnCode::InvalidMode);
        }
        if handler().is_some() {
            return Err(ErrorReturnCode::NoAction);
        }
        if stack_size > 16 << 10 {
            return Err(ErrorReturnCode::InvalidConfig);
        }
        let named = cards::processes().iter().take(MOST_PROCESSES).position(|card| name_text(&card.name) == HANDLER);
        let place = named.ok_or(ErrorReturnCode::InvalidConfig)?;
        process::create_handler(place, entry_point);
        RAISED.store(0, Ordering::Relaxed);
        TAKEN.store(0, Ordering::Relaxed);
        WAITING.iter().for_each(|it| it.number.store(0, Ordering::Relaxed));
        PLACE.store(place + 1, Ordering::Release);
        CREATED.store(mode::life(), Ordering::Release);
        Ok(())
    }

    fn get_error_status() -> Result<ErrorStatus, ErrorReturnCode> {
        let own = process::own().filter(|own| own.is_error_handler());
        own.ok_or(ErrorReturnCode::InvalidConfig)?;
        let taken = TAKEN.load(Ordering::Relaxed);
        let it = &WAITING[taken % ERRORS];
        if it.number.load(Ordering::Acquire) != taken + 1 {
            return Err(ErrorReturnCode::NoAction);
        }
        let mut message = [0; MAX_ERROR_MESSAGE_SIZE];
        crate::port::get(&it.message, &mut message);
        let code = it.code.load(Ordering::Relaxed);
        let status = ErrorStatus {
            failed_address: nothing,
            failed_process_id: it.process.load(Ordering::Relaxed) as i64,
            error_code: if code == 0 { ErrorCode::DeadlineMissed } else { ErrorCode::ApplicationError },
            length: it.length.load(Ordering::Relaxed) as i32,
            message,
        };
        TAKEN.store(taken + 1, Ordering::Release);
        Ok(status)
    }

    fn configure_error_handler(_: ErrorHandlerConcurrencyControl, _: ProcessorCoreId) -> Result<(), ErrorReturnCode> {
        if mode::is_normal() {
            return Err(ErrorReturnCode::InvalidMode);
        }
        // It is a process among others, on the core of its task.
        handler().map(|_| ()).ok_or(ErrorReturnCode::InvalidConfig)
    }
}

/// No address is known of the errors that come here.
extern "C" fn nothing() {}
