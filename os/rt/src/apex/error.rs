//! Errors: messages to the console, and the error handler, a task of the name `error-handler`. It begins with its next job while an error
//! waits: one that a process has raised, or a deadline that one has missed, of which the scheduler tells.

use super::hypervisor::{Apex, MOST_PROCESSES};
use super::process::{self, awaited, Own};
use super::{handler, mode, time};
use crate::{cards, Console, Job};
use a653rs::bindings::{
    ApexByte, ApexErrorP1, ApexErrorP4, ErrorCode, ErrorHandlerConcurrencyControl, ErrorReturnCode, ErrorStatus,
    ProcessorCoreId, StackSize, SystemAddress, INFINITE_TIME_VALUE, MAX_ERROR_MESSAGE_SIZE, MAX_PRIORITY_VALUE,
};
use core::fmt::Write;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use tactus_abi::shared::name_text;

/// The task whose jobs are the error handler's.
const HANDLER: &str = "error-handler";
/// The most errors of a process that wait for the handler; the process waits with the next one.
const ERRORS: u32 = 4;
/// Words of a message.
const MESSAGE: usize = MAX_ERROR_MESSAGE_SIZE / 8;

/// The errors of a process, which writes them one after the other; the handler takes them.
struct Errors {
    raised: AtomicU32,
    taken: AtomicU32,
    waiting: [Raised; ERRORS as usize],
    /// Misses of its deadlines that the handler has taken.
    missed: AtomicU64,
}

struct Raised {
    time: AtomicU64,
    length: AtomicU32,
    message: [AtomicU64; MESSAGE],
}

static ALL: [Errors; MOST_PROCESSES] = [const {
    Errors {
        raised: AtomicU32::new(0),
        taken: AtomicU32::new(0),
        waiting: [const {
            Raised {
                time: AtomicU64::new(0),
                length: AtomicU32::new(0),
                message: [const { AtomicU64::new(0) }; MESSAGE],
            }
        }; ERRORS as usize],
        missed: AtomicU64::new(0),
    }
}; MOST_PROCESSES];

impl Errors {
    /// Adds one, if there is room.
    fn put(&self, message: &[u8]) -> Option<()> {
        let raised = self.raised.load(Ordering::Relaxed);
        if raised.wrapping_sub(self.taken.load(Ordering::Acquire)) >= ERRORS {
            return None;
        }
        let it = &self.waiting[(raised % ERRORS) as usize];
        it.time.store(time::now(), Ordering::Relaxed);
        it.length.store(message.len() as u32, Ordering::Relaxed);
        tactus_sync::put(&it.message, message);
        self.raised.store(raised.wrapping_add(1), Ordering::Release);
        Some(())
    }

    /// The one that has waited longest.
    fn first(&self) -> Option<&Raised> {
        let taken = self.taken.load(Ordering::Relaxed);
        (taken != self.raised.load(Ordering::Acquire)).then(|| &self.waiting[(taken % ERRORS) as usize])
    }
}

/// An error that waits: since when, whose, and whether it is a missed deadline.
type Waiting = (u64, Own, bool);

/// Errors of the process that the handler has not taken.
fn of(process: Own) -> impl Iterator<Item = Waiting> {
    let errors = &ALL[process.place()];
    let late = Job::of(process.card().task).missed_after(errors.missed.load(Ordering::Relaxed));
    let late = late.map(|at| (at, process, true));
    let raised = errors.first().map(|it| (it.time.load(Ordering::Relaxed), process, false));
    late.into_iter().chain(raised)
}

/// Whether an error waits for the handler.
pub(super) fn any_waits() -> bool {
    process::all().any(|process| of(process).next().is_some())
}

/// The process has no errors that wait: it is a new one.
pub(super) fn forget(process: Own) {
    let errors = &ALL[process.place()];
    errors.taken.store(errors.raised.load(Ordering::Relaxed), Ordering::Relaxed);
    errors.missed.store(Job::of(process.card().task).misses(), Ordering::Relaxed);
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
        match (process::own_that_waits(), handler::place()) {
            // Elsewhere the handler runs before the process goes on; here a process that raises many waits for it.
            (Some(own), Some(_)) => {
                time::wait_for(awaited::TIME, INFINITE_TIME_VALUE, || ALL[own.place()].put(message))
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
        if handler::place().is_some() {
            return Err(ErrorReturnCode::NoAction);
        }
        if stack_size > 16 << 10 {
            return Err(ErrorReturnCode::InvalidConfig);
        }
        let cards = cards::processes();
        let named = cards.iter().take(MOST_PROCESSES).position(|card| name_text(&card.name) == HANDLER);
        let place = named.ok_or(ErrorReturnCode::InvalidConfig)?;
        let process = process::at(place);
        let mut name = [0; 32];
        name[..cards[place].name.len()].copy_from_slice(&cards[place].name);
        process.name.set(&name);
        process.entry.set(entry_point);
        process.period.store(INFINITE_TIME_VALUE, Ordering::Relaxed);
        process.capacity.store(INFINITE_TIME_VALUE, Ordering::Relaxed);
        process.stack.store(stack_size, Ordering::Relaxed);
        process.base.store(MAX_PRIORITY_VALUE, Ordering::Relaxed);
        process.hard.store(false, Ordering::Relaxed);
        process.from.store(0, Ordering::Relaxed);
        process.create();
        handler::create(place);
        Ok(())
    }

    fn get_error_status() -> Result<ErrorStatus, ErrorReturnCode> {
        let own = process::own().filter(|own| own.is_error_handler());
        own.ok_or(ErrorReturnCode::InvalidConfig)?;
        let first = process::all().flat_map(of).min_by_key(|(since, process, _)| (*since, process.place()));
        let (_, process, late) = first.ok_or(ErrorReturnCode::NoAction)?;
        let errors = &ALL[process.place()];
        let (mut message, mut length, mut error_code) = ([0; MAX_ERROR_MESSAGE_SIZE], 0, ErrorCode::DeadlineMissed);
        if late {
            errors.missed.fetch_add(1, Ordering::Relaxed);
        } else if let Some(raised) = errors.first() {
            error_code = ErrorCode::ApplicationError;
            length = raised.length.load(Ordering::Relaxed) as i32;
            tactus_sync::get(&raised.message, &mut message);
            errors.taken.fetch_add(1, Ordering::Release);
        }
        Ok(ErrorStatus { failed_address: nothing, failed_process_id: process.id(), error_code, length, message })
    }

    fn configure_error_handler(_: ErrorHandlerConcurrencyControl, _: ProcessorCoreId) -> Result<(), ErrorReturnCode> {
        if mode::is_normal() {
            return Err(ErrorReturnCode::InvalidMode);
        }
        // It is a process among others, on the core of its task.
        handler::place().map(|_| ()).ok_or(ErrorReturnCode::InvalidConfig)
    }
}

/// No address is known of the errors that come here.
extern "C" fn nothing() {}
