//! What is counted: checks, and the return codes that each service gave in each mode.

use a653rs::bindings::{ApexPartitionP4, ErrorReturnCode, OperatingMode};
use core::fmt::Write;
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU8, Ordering};
use tactus_rt::apex::Apex;
use tactus_rt::Console;

/// All services.
const SERVICES: [&str; 61] = [
    "get_partition_status",
    "set_partition_mode",
    "create_process",
    "set_priority",
    "suspend_self",
    "suspend",
    "resume",
    "stop_self",
    "stop",
    "start",
    "delayed_start",
    "lock_preemption",
    "unlock_preemption",
    "get_my_id",
    "get_my_index",
    "get_process_id",
    "get_process_status",
    "initialize_process_core_affinity",
    "get_my_processor_core_id",
    "timed_wait",
    "periodic_wait",
    "get_time",
    "replenish",
    "create_sampling_port",
    "write_sampling_message",
    "read_sampling_message",
    "get_sampling_port_id",
    "get_sampling_port_status",
    "create_queuing_port",
    "send_queuing_message",
    "receive_queuing_message",
    "get_queuing_port_id",
    "get_queuing_port_status",
    "clear_queuing_port",
    "create_buffer",
    "send_buffer",
    "receive_buffer",
    "get_buffer_id",
    "get_buffer_status",
    "create_blackboard",
    "display_blackboard",
    "read_blackboard",
    "clear_blackboard",
    "get_blackboard_id",
    "get_blackboard_status",
    "create_semaphore",
    "wait_semaphore",
    "signal_semaphore",
    "get_semaphore_id",
    "get_semaphore_status",
    "create_event",
    "set_event",
    "reset_event",
    "wait_event",
    "get_event_id",
    "get_event_status",
    "report_application_message",
    "create_error_handler",
    "get_error_status",
    "raise_application_error",
    "configure_error_handler",
];

/// Modes: cold start, warm start, a process, the error handler.
const MODES: usize = 4;

/// The return codes that each service gave in each mode: a bit for each.
static GIVEN: [[AtomicU8; MODES]; SERVICES.len()] = [const { [const { AtomicU8::new(0) }; MODES] }; SERVICES.len()];

/// Whether the error handler runs. It is the most urgent process of the only core.
pub static HANDLES: AtomicBool = AtomicBool::new(false);

static PASSED: AtomicU32 = AtomicU32::new(0);
static FAILED: AtomicU32 = AtomicU32::new(0);

/// A check, and where it stands.
#[track_caller]
pub fn check(holds: bool) {
    if holds {
        PASSED.fetch_add(1, Ordering::Relaxed);
        return;
    }
    FAILED.fetch_add(1, Ordering::Relaxed);
    let place = core::panic::Location::caller();
    let _ = writeln!(Console, "failed: {}:{}", place.file(), place.line());
}

/// The service gave this code in the mode of now.
pub fn note(service: &str, code: u8) {
    let mode = match Apex::get_partition_status().operating_mode {
        OperatingMode::ColdStart => 0,
        OperatingMode::WarmStart => 1,
        _ => 2 + usize::from(HANDLES.load(Ordering::Relaxed)),
    };
    let place = SERVICES.iter().position(|it| *it == service);
    match place {
        Some(place) => _ = GIVEN[place][mode].fetch_or(1 << code, Ordering::Relaxed),
        None => check(false),
    }
}

/// The service answered; what it gave.
pub fn noted<T>(service: &str, result: Result<T, ErrorReturnCode>) -> Result<T, ErrorReturnCode> {
    note(service, result.as_ref().map_or_else(|code| *code as u8, |_| 0));
    result
}

/// Calls a service, and notes what it answered. Those that fill memory are marked as unsafe in the crate's traits, and are not so here:
/// they fill a slice.
macro_rules! asked {
    (read_sampling_message $words:tt) => { asked!(@unsafe read_sampling_message $words) };
    (receive_queuing_message $words:tt) => { asked!(@unsafe receive_queuing_message $words) };
    (receive_buffer $words:tt) => { asked!(@unsafe receive_buffer $words) };
    (read_blackboard $words:tt) => { asked!(@unsafe read_blackboard $words) };
    // SAFETY: a slice holds what is put into it.
    (@unsafe $service:ident $words:tt) => { $crate::told::noted(stringify!($service), unsafe { Apex::$service $words }) };
    ($service:ident $words:tt) => { $crate::told::noted(stringify!($service), Apex::$service $words) };
}

/// The service does what was asked; what it gives, or the default.
macro_rules! done {
    ($service:ident $words:tt) => {{
        let result = asked!($service $words);
        $crate::told::check(result.is_ok());
        result.unwrap_or_default()
    }};
}

/// The service answers with one of these codes.
macro_rules! refused {
    ($service:ident $words:tt, $code:pat) => {{
        let result = asked!($service $words);
        $crate::told::check(matches!(result, Err($code)));
    }};
}

/// What the service gives is so.
macro_rules! gives {
    ($service:ident $words:tt, $holds:expr) => {{
        let result = asked!($service $words);
        $crate::told::check(result.is_ok_and($holds));
    }};
}

/// What the console is told at the end.
pub fn tell() {
    for (service, given) in SERVICES.iter().zip(&GIVEN) {
        let _ = write!(Console, "table {service}");
        for codes in given {
            let codes = codes.load(Ordering::Relaxed);
            let _ = write!(Console, " ");
            for code in 0..8 {
                if codes & 1 << code != 0 {
                    let _ = write!(Console, "{code}");
                }
            }
            if codes == 0 {
                let _ = write!(Console, "-");
            }
        }
        let _ = writeln!(Console);
    }
    let (passed, failed) = (PASSED.load(Ordering::Relaxed), FAILED.load(Ordering::Relaxed));
    let _ = writeln!(Console, "{passed} checks passed, {failed} failed");
}
