//! What is asked while the partition runs, by a periodic process.

use crate::beside::{BEGUN, ERRORS, FAILED_PROCESS, ROUNDS};
use crate::{beside, check, done, name, periodic, refused, tell, MS};
use a653rs::bindings::ErrorReturnCode::{InvalidConfig, InvalidMode, InvalidParam, NoAction, NotAvailable, TimedOut};
use a653rs::bindings::{
    ApexBlackboardP1, ApexBufferP1, ApexErrorP1, ApexErrorP4, ApexEventP1, ApexPartitionP4, ApexProcessP1,
    ApexProcessP4, ApexQueuingPortP1, ApexQueuingPortP4, ApexSamplingPortP1, ApexSamplingPortP4, ApexSemaphoreP1,
    ApexTimeP1, ApexTimeP4, ErrorCode, ErrorHandlerConcurrencyControl, ErrorReturnCode, MessageSize, OperatingMode,
    PortDirection, ProcessState, QueuingDiscipline, StartCondition, Validity,
};
use core::sync::atomic::Ordering;
use tactus_rt::apex::Apex;

/// Reads a sampling port. The services that fill memory are marked as unsafe in the crate's traits, and are not so here: they fill a
/// slice.
pub fn sampled(port: i64, message: &mut [u8]) -> Result<(Validity, MessageSize), ErrorReturnCode> {
    // SAFETY: a slice holds what is put into it.
    unsafe { Apex::read_sampling_message(port, message) }
}

/// Receives from a queuing port.
pub fn received(port: i64, time_out: i64, message: &mut [u8]) -> Result<(MessageSize, bool), ErrorReturnCode> {
    // SAFETY: as above.
    unsafe { Apex::receive_queuing_message(port, time_out, message) }
}

/// Takes a message out of a buffer.
pub fn taken(buffer: i64, time_out: i64, message: &mut [u8]) -> Result<MessageSize, ErrorReturnCode> {
    // SAFETY: as above.
    unsafe { Apex::receive_buffer(buffer, time_out, message) }
}

/// Reads a blackboard.
pub fn shown(board: i64, time_out: i64, message: &mut [u8]) -> Result<MessageSize, ErrorReturnCode> {
    // SAFETY: as above.
    unsafe { Apex::read_blackboard(board, time_out, message) }
}

/// The process that checks.
pub extern "C" fn worker() {
    check(Apex::get_partition_status().operating_mode == OperatingMode::Normal);
    creations();
    itself();
    time();
    others();
    objects();
    ports();
    errors();
    let _ = Apex::set_partition_mode(OperatingMode::WarmStart);
}

/// The warm start, at the end of all.
pub fn warm() {
    let status = Apex::get_partition_status();
    check(status.operating_mode == OperatingMode::WarmStart);
    check(status.start_condition == StartCondition::PartitionRestart);
    // Nothing is left of what was created before.
    refused(Apex::get_process_id(name("worker")), InvalidConfig);
    refused(Apex::get_event_id(name("e")), InvalidConfig);
    tell();
}

fn creations() {
    refused(Apex::set_partition_mode(OperatingMode::Normal), NoAction);
    refused(Apex::create_process(&periodic("error-handler", worker)), InvalidMode);
    let fifo = QueuingDiscipline::Fifo;
    refused(Apex::create_buffer(name("x"), 8, 1, fifo), InvalidMode);
    refused(Apex::create_blackboard(name("x"), 8), InvalidMode);
    refused(Apex::create_event(name("x")), InvalidMode);
    refused(Apex::create_semaphore(name("x"), 0, 1, fifo), InvalidMode);
    refused(Apex::create_sampling_port(name("in"), 64, PortDirection::Destination, MS), InvalidMode);
    refused(Apex::create_queuing_port(name("send"), 64, 4, PortDirection::Source, fifo), InvalidMode);
    refused(Apex::create_error_handler(beside::handler, 8_192), InvalidMode);
    refused(Apex::configure_error_handler(ErrorHandlerConcurrencyControl::ProcessesPause, 0), InvalidMode);
}

fn itself() {
    let own = done(Apex::get_my_id());
    check(Apex::get_process_id(name("worker")) == Ok(own));
    done(Apex::get_my_index());
    check(Apex::get_my_processor_core_id() == 0);
    check(Apex::get_process_status(own).is_ok_and(|it| it.process_state == ProcessState::Running));
    check(Apex::get_process_status(own).is_ok_and(|it| it.deadline_time > 0));
    refused(Apex::start(own), NoAction);
    refused(Apex::stop(own), InvalidParam);
    refused(Apex::suspend(own), InvalidParam);
    refused(Apex::resume(own), InvalidParam);
    refused(Apex::suspend_self(MS), InvalidMode);
    refused(Apex::initialize_process_core_affinity(own, 0), InvalidMode);
    refused(Apex::lock_preemption(), InvalidConfig);
    refused(Apex::unlock_preemption(), NoAction);
    done(Apex::set_priority(own, 20));
    refused(Apex::set_priority(own, 21), InvalidConfig);
}

fn time() {
    let before = Apex::get_time();
    done(Apex::periodic_wait());
    let after = Apex::get_time();
    check((9 * MS..=11 * MS).contains(&(after - before)));
    done(Apex::timed_wait(25 * MS));
    check((25 * MS..=36 * MS).contains(&(Apex::get_time() - after)));
    done(Apex::timed_wait(0));
    refused(Apex::timed_wait(-1), InvalidParam);
    refused(Apex::replenish(20 * MS), InvalidMode);
    refused(Apex::replenish(-2), InvalidParam);
    done(Apex::replenish(MS));
}

/// Starts, stops, suspends and resumes the helper.
fn others() {
    let helper = done(Apex::get_process_id(name("helper")));
    let go = done(Apex::get_event_id(name("go")));
    let state = |wanted| Apex::get_process_status(helper).is_ok_and(|it| it.process_state == wanted);
    let rounds = || ROUNDS.load(Ordering::Relaxed);
    done(Apex::delayed_start(helper, 15 * MS));
    refused(Apex::start(helper), NoAction);
    check(state(ProcessState::Ready));
    done(Apex::timed_wait(10 * MS));
    check(BEGUN.load(Ordering::Relaxed) == 0);
    done(Apex::timed_wait(30 * MS));
    check(BEGUN.load(Ordering::Relaxed) == 1 && state(ProcessState::Waiting));
    check(Apex::get_event_status(go).is_ok_and(|it| it.waiting_processes == 1));
    done(Apex::set_event(go));
    done(Apex::timed_wait(30 * MS));
    check(rounds() == 1);

    done(Apex::suspend(helper));
    refused(Apex::suspend(helper), NoAction);
    done(Apex::set_event(go));
    done(Apex::timed_wait(40 * MS));
    check(rounds() == 1);
    done(Apex::resume(helper));
    refused(Apex::resume(helper), NoAction);
    done(Apex::timed_wait(30 * MS));
    check(rounds() == 2);

    done(Apex::stop(helper));
    refused(Apex::stop(helper), NoAction);
    check(state(ProcessState::Dormant));
    done(Apex::set_event(go));
    done(Apex::timed_wait(30 * MS));
    check(rounds() == 2);
    done(Apex::start(helper));
    done(Apex::timed_wait(30 * MS));
    // It began anew.
    check((BEGUN.load(Ordering::Relaxed), rounds()) == (2, 3));
}

/// Waits for what the helper gives.
fn objects() {
    let event = done(Apex::get_event_id(name("e")));
    let semaphore = done(Apex::get_semaphore_id(name("s")));
    let buffer = done(Apex::get_buffer_id(name("b")));
    let board = done(Apex::get_blackboard_id(name("board")));
    let go = done(Apex::get_event_id(name("go")));
    let mut message = [0; 16];
    let again = || done(Apex::set_event(go));

    done(Apex::reset_event(event));
    let before = Apex::get_time();
    refused(Apex::wait_event(event, 25 * MS), TimedOut);
    check((25 * MS..=36 * MS).contains(&(Apex::get_time() - before)));
    again();
    done(Apex::wait_event(event, 100 * MS));

    while Apex::wait_semaphore(semaphore, 0).is_ok() {}
    refused(Apex::wait_semaphore(semaphore, 15 * MS), TimedOut);
    again();
    done(Apex::wait_semaphore(semaphore, 100 * MS));

    while taken(buffer, 0, &mut message).is_ok() {}
    refused(taken(buffer, 15 * MS, &mut message), TimedOut);
    again();
    check(taken(buffer, 100 * MS, &mut message) == Ok(11) && message.starts_with(b"from helper"));
    done(Apex::send_buffer(buffer, b"a", 0));
    done(Apex::send_buffer(buffer, b"b", 0));
    refused(Apex::send_buffer(buffer, b"c", 15 * MS), TimedOut);

    done(Apex::clear_blackboard(board));
    refused(shown(board, 15 * MS, &mut message), TimedOut);
    again();
    check(shown(board, 100 * MS, &mut message) == Ok(6) && message.starts_with(b"helper"));
}

/// Messages of the partition beside this one, whose jobs write their numbers, and take whatever is sent.
fn ports() {
    let port = done(Apex::get_sampling_port_id(name("in")));
    let mut message = [0; 64];
    check(sampled(port, &mut message) == Ok((Validity::Valid, 64)));
    let first = message[0];
    check(Apex::get_sampling_port_status(port).is_ok_and(|it| it.last_msg_validity == Validity::Valid));
    refused(sampled(port, &mut [0; 8]), InvalidParam);
    done(Apex::timed_wait(30 * MS));
    check(sampled(port, &mut message).is_ok() && message[0] > first);

    let receive = done(Apex::get_queuing_port_id(name("receive")));
    done(Apex::clear_queuing_port(receive));
    refused(received(receive, 0, &mut message), NotAvailable);
    check(received(receive, 100 * MS, &mut message) == Ok((64, false)));
    let send = done(Apex::get_queuing_port_id(name("send")));
    // The other partition has taken those of the cold start.
    check(Apex::get_queuing_port_status(send).is_ok_and(|it| it.nb_message == 0));
    for _ in 0..4 {
        done(Apex::send_queuing_message(send, b"again", 0));
    }
    refused(Apex::send_queuing_message(send, b"again", 0), NotAvailable);
    done(Apex::send_queuing_message(send, b"again", 100 * MS));
}

fn errors() {
    done(Apex::raise_application_error(ErrorCode::ApplicationError, b"wrong"));
    done(Apex::raise_application_error(ErrorCode::ApplicationError, b"wrong"));
    done(Apex::timed_wait(30 * MS));
    check(ERRORS.load(Ordering::Relaxed) == 2);
    check(Apex::get_my_id() == Ok(FAILED_PROCESS.load(Ordering::Relaxed)));
    refused(Apex::get_error_status().map(|_| ()), InvalidConfig);
}
