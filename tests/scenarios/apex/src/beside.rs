//! The processes beside the one that checks: a helper that does what it is told by events, and the error handler.

use crate::told::{check, note, HANDLES};
use crate::{everywhere, life, name, MS};
use a653rs::bindings::ErrorReturnCode::{InvalidMode, InvalidParam, NoAction, TimedOut};
use a653rs::bindings::{
    ApexBlackboardP1, ApexBufferP1, ApexErrorP1, ApexEventP1, ApexPartitionP4, ApexProcessP1, ApexSemaphoreP1,
    ApexTimeP4, ErrorCode, OperatingMode, INFINITE_TIME_VALUE,
};
use core::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, Ordering};
use tactus_rt::apex::Apex;

/// How often the helper has begun, and how often it has gone round.
pub static BEGUN: AtomicU32 = AtomicU32::new(0);
pub static ROUNDS: AtomicU32 = AtomicU32::new(0);
/// Errors that the handler has seen, and whose the last one was; and deadlines that were missed.
pub static ERRORS: AtomicU32 = AtomicU32::new(0);
pub static FAILED_PROCESS: AtomicI64 = AtomicI64::new(0);
pub static MISSED: AtomicU32 = AtomicU32::new(0);

/// Whether the helper reads the blackboard in its next round, and how long a message it has read there.
pub static READS: AtomicBool = AtomicBool::new(false);
pub static READ: AtomicU32 = AtomicU32::new(0);
/// Whether the handler has asked everything.
static ASKED: AtomicBool = AtomicBool::new(false);

/// Each time that the event `go` is set, it lets all others have what they wait for. What an aperiodic process alone may do comes first.
pub extern "C" fn helper() {
    if BEGUN.fetch_add(1, Ordering::Relaxed) == 0 {
        refused!(periodic_wait(), InvalidMode);
        done!(suspend_self(0));
        refused!(suspend_self(-2), InvalidParam);
        refused!(suspend_self(15 * MS), TimedOut);
    }
    let go = done!(get_event_id(name("go")));
    loop {
        done!(wait_event(go, INFINITE_TIME_VALUE));
        done!(reset_event(go));
        ROUNDS.fetch_add(1, Ordering::Relaxed);
        if READS.swap(false, Ordering::Relaxed) {
            let board = done!(get_blackboard_id(name("board")));
            READ.store(done!(read_blackboard(board, 100 * MS, &mut [0; 16])), Ordering::Relaxed);
            continue;
        }
        let _ = Apex::set_event(done!(get_event_id(name("e"))));
        let _ = Apex::signal_semaphore(done!(get_semaphore_id(name("s"))));
        let _ = Apex::send_buffer(done!(get_buffer_id(name("b"))), b"from helper", 0);
        let _ = Apex::display_blackboard(done!(get_blackboard_id(name("board"))), b"helper");
    }
}

/// Takes all errors.
pub extern "C" fn handler() {
    HANDLES.store(true, Ordering::Relaxed);
    check(Apex::get_time() > 0);
    if !ASKED.swap(true, Ordering::Relaxed) {
        everywhere::all();
    }
    while let Ok(status) = asked!(get_error_status()) {
        if status.error_code == ErrorCode::DeadlineMissed {
            MISSED.fetch_add(1, Ordering::Relaxed);
            check(status.length == 0);
            continue;
        }
        ERRORS.fetch_add(1, Ordering::Relaxed);
        FAILED_PROCESS.store(status.failed_process_id, Ordering::Relaxed);
        check(status.error_code == ErrorCode::ApplicationError);
        check(status.length == 5 && status.message.starts_with(b"wrong"));
    }
    refused!(get_error_status(), NoAction);
    if life() == 2 {
        // The last process of the second beginning has failed: the third one begins.
        note("set_partition_mode", 0);
        HANDLES.store(false, Ordering::Relaxed);
        let _ = Apex::set_partition_mode(OperatingMode::ColdStart);
    }
    note("stop_self", 0);
    HANDLES.store(false, Ordering::Relaxed);
    Apex::stop_self();
}
