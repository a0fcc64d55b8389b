//! A partition on two cores: a process on the one asks by a buffer, a blackboard, a semaphore and an event, the process on the other one
//! takes all four and answers, 40 times. Before that each raises an error: the second one comes when the error handler has found no more,
//! and has not yet ended.
#![no_std]
#![no_main]

use a653rs::bindings::{
    ApexBlackboardP1, ApexBufferP1, ApexErrorP1, ApexErrorP4, ApexEventP1, ApexName, ApexProcessAttribute,
    ApexProcessP1, ApexProcessP4, ApexSemaphoreP1, ApexTimeP1, ApexTimeP4, Deadline, ErrorCode, ErrorReturnCode,
    QueuingDiscipline, INFINITE_TIME_VALUE,
};
use a653rs::prelude::{Partition, StartContext};
use core::fmt::Write;
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use tactus_rt::apex::Apex;
use tactus_rt::Console;

tactus_rt::apex_partition!(Across);

/// The partition.
struct Across;

const ROUNDS: u8 = 40;
/// What was not as it should be, and cores of the two processes.
static WRONG: AtomicU32 = AtomicU32::new(0);
static CORES: [AtomicU32; 2] = [const { AtomicU32::new(u32::MAX) }; 2];
/// Errors that the handler has taken; whether it has found no more, and whether the helper has raised its one.
static ERRORS: AtomicU32 = AtomicU32::new(0);
static LOOKED: AtomicBool = AtomicBool::new(false);
static RAISED: AtomicBool = AtomicBool::new(false);
/// The longest that the handler waits for that (ns).
const PATIENCE: i64 = 4_000_000;

impl Partition<Apex> for Across {
    fn cold_start(&self, _: &mut StartContext<Apex>) {
        let fifo = QueuingDiscipline::Fifo;
        for buffer in ["ask", "answer"] {
            hold(Apex::create_buffer(name(buffer), 8, 2, fifo).is_ok());
        }
        hold(Apex::create_blackboard(name("board"), 8).is_ok());
        hold(Apex::create_semaphore(name("permits"), 0, 4, fifo).is_ok());
        hold(Apex::create_event(name("go")).is_ok());
        hold(Apex::create_error_handler(handler, 8_192).is_ok());
        for (process, entry_point) in [("worker", worker as extern "C" fn()), ("helper", helper)] {
            let attributes = ApexProcessAttribute {
                period: INFINITE_TIME_VALUE,
                time_capacity: INFINITE_TIME_VALUE,
                entry_point,
                stack_size: 8_192,
                base_priority: 1,
                deadline: Deadline::Soft,
                name: name(process),
            };
            hold(Apex::create_process(&attributes).and_then(Apex::start).is_ok());
        }
    }
    fn warm_start(&self, ctx: &mut StartContext<Apex>) {
        self.cold_start(ctx);
    }
}

fn hold(holds: bool) {
    WRONG.fetch_add(u32::from(!holds), Ordering::Relaxed);
}

fn name(text: &str) -> ApexName {
    let mut name = [0; 32];
    name.iter_mut().zip(text.bytes()).for_each(|(to, from)| *to = from);
    name
}

/// What the service gave, or the default, which is wrong.
fn done<T: Default>(result: Result<T, ErrorReturnCode>) -> T {
    hold(result.is_ok());
    result.unwrap_or_default()
}

/// The first byte of the next message.
fn taken(buffer: i64) -> u8 {
    let mut message = [0; 8];
    // SAFETY: a slice holds what is put into it.
    done(unsafe { Apex::receive_buffer(buffer, INFINITE_TIME_VALUE, &mut message) });
    message[0]
}

/// Takes all errors. The first time it ends no earlier than one more is raised, on the other core.
extern "C" fn handler() {
    while let Ok(status) = Apex::get_error_status() {
        hold(status.error_code == ErrorCode::ApplicationError);
        ERRORS.fetch_add(1, Ordering::Relaxed);
    }
    LOOKED.store(true, Ordering::Relaxed);
    let end = Apex::get_time() + PATIENCE;
    while !RAISED.load(Ordering::Relaxed) && Apex::get_time() < end {
        core::hint::spin_loop();
    }
    Apex::stop_self();
}

extern "C" fn worker() {
    done(Apex::raise_application_error(ErrorCode::ApplicationError, b"first"));
    CORES[0].store(Apex::get_my_processor_core_id() as u32, Ordering::Relaxed);
    let [ask, answer] = ["ask", "answer"].map(|it| done(Apex::get_buffer_id(name(it))));
    let board = done(Apex::get_blackboard_id(name("board")));
    let permits = done(Apex::get_semaphore_id(name("permits")));
    let go = done(Apex::get_event_id(name("go")));
    for round in 0..ROUNDS {
        done(Apex::display_blackboard(board, &[round + 100]));
        done(Apex::send_buffer(ask, &[round], INFINITE_TIME_VALUE));
        done(Apex::signal_semaphore(permits));
        done(Apex::set_event(go));
        hold(taken(answer) == round.wrapping_mul(3));
    }
    let cores = [0, 1].map(|n| CORES[n].load(Ordering::Relaxed));
    let _ = writeln!(
        Console,
        "{ROUNDS} rounds, cores {} and {}, {} errors, {} wrong",
        cores[0],
        cores[1],
        ERRORS.load(Ordering::Relaxed),
        WRONG.load(Ordering::Relaxed)
    );
}

extern "C" fn helper() {
    while !LOOKED.load(Ordering::Relaxed) {
        done(Apex::timed_wait(5_000_000));
    }
    done(Apex::raise_application_error(ErrorCode::ApplicationError, b"second"));
    RAISED.store(true, Ordering::Relaxed);
    CORES[1].store(Apex::get_my_processor_core_id() as u32, Ordering::Relaxed);
    let [ask, answer] = ["ask", "answer"].map(|it| done(Apex::get_buffer_id(name(it))));
    let board = done(Apex::get_blackboard_id(name("board")));
    let permits = done(Apex::get_semaphore_id(name("permits")));
    let go = done(Apex::get_event_id(name("go")));
    for round in 0..ROUNDS {
        done(Apex::wait_event(go, INFINITE_TIME_VALUE));
        done(Apex::reset_event(go));
        done(Apex::wait_semaphore(permits, INFINITE_TIME_VALUE));
        let asked = taken(ask);
        let mut message = [0; 8];
        // SAFETY: as above.
        done(unsafe { Apex::read_blackboard(board, INFINITE_TIME_VALUE, &mut message) });
        hold(asked == round && message[0] == round + 100);
        done(Apex::send_buffer(answer, &[asked.wrapping_mul(3)], INFINITE_TIME_VALUE));
    }
}
