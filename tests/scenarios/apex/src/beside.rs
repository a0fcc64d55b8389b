//! The processes beside the one that checks: a helper that does what it is told by events, and the error handler.

use crate::{check, done, name};
use a653rs::bindings::{
    ApexBlackboardP1, ApexBufferP1, ApexErrorP1, ApexEventP1, ApexSemaphoreP1, ApexTimeP4, ErrorCode, ErrorReturnCode,
    INFINITE_TIME_VALUE,
};
use core::sync::atomic::{AtomicI64, AtomicU32, Ordering};
use tactus_rt::apex::Apex;

/// How often the helper has begun, and how often it has gone round.
pub static BEGUN: AtomicU32 = AtomicU32::new(0);
pub static ROUNDS: AtomicU32 = AtomicU32::new(0);
/// Errors that the handler has seen, and whose the last one was.
pub static ERRORS: AtomicU32 = AtomicU32::new(0);
pub static FAILED_PROCESS: AtomicI64 = AtomicI64::new(0);

/// Each time that the event `go` is set, it lets all others have what they wait for.
pub extern "C" fn helper() {
    BEGUN.fetch_add(1, Ordering::Relaxed);
    let go = done(Apex::get_event_id(name("go")));
    loop {
        done(Apex::wait_event(go, INFINITE_TIME_VALUE));
        done(Apex::reset_event(go));
        ROUNDS.fetch_add(1, Ordering::Relaxed);
        let _ = Apex::set_event(done(Apex::get_event_id(name("e"))));
        let _ = Apex::signal_semaphore(done(Apex::get_semaphore_id(name("s"))));
        let _ = Apex::send_buffer(done(Apex::get_buffer_id(name("b"))), b"from helper", 0);
        let _ = Apex::display_blackboard(done(Apex::get_blackboard_id(name("board"))), b"helper");
    }
}

/// Takes all errors.
pub extern "C" fn handler() {
    check(Apex::get_time() > 0);
    check(Apex::periodic_wait().err() == Some(ErrorReturnCode::InvalidMode));
    while let Ok(status) = Apex::get_error_status() {
        ERRORS.fetch_add(1, Ordering::Relaxed);
        FAILED_PROCESS.store(status.failed_process_id, Ordering::Relaxed);
        check(status.error_code == ErrorCode::ApplicationError);
        check(status.length == 5 && status.message.starts_with(b"wrong"));
    }
    check(Apex::get_error_status().err() == Some(ErrorReturnCode::NoAction));
}
