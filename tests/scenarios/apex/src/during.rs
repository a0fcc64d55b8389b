//! What is asked while the partition runs, by its periodic processes.

use crate::beside::{BEGUN, ERRORS, FAILED_PROCESS, MISSED, READ, READS, ROUNDS};
use crate::told::{check, note};
use crate::{everywhere, life, name, MS};
use a653rs::bindings::ErrorReturnCode::{InvalidMode, InvalidParam, NoAction, NotAvailable, TimedOut};
use a653rs::bindings::{
    ApexBlackboardP1, ApexBufferP1, ApexErrorP4, ApexEventP1, ApexPartitionP4, ApexProcessP1, ApexProcessP4,
    ApexQueuingPortP1, ApexQueuingPortP4, ApexSamplingPortP1, ApexSamplingPortP4, ApexSemaphoreP1, ApexTimeP1,
    ApexTimeP4, ErrorCode, OperatingMode, ProcessState, Validity, INFINITE_TIME_VALUE,
};
use core::sync::atomic::Ordering;
use tactus_rt::apex::Apex;

/// The process that checks.
pub extern "C" fn worker() {
    check(Apex::get_partition_status().operating_mode == OperatingMode::Normal);
    if life() == 2 {
        // Its error has the partition begin a third time.
        done!(raise_application_error(ErrorCode::ApplicationError, b"wrong"));
        loop {
            let _ = Apex::periodic_wait();
        }
    }
    everywhere::all();
    itself();
    time();
    others();
    objects();
    pulses();
    ports();
    errors();
    note("set_partition_mode", 0);
    let _ = Apex::set_partition_mode(OperatingMode::WarmStart);
}

/// A process that never begins.
pub extern "C" fn nothing() {
    check(false);
}

/// A process with a time capacity: its deadline moves with each release, and by what it asks for.
pub extern "C" fn timed() {
    let own = done!(get_my_id());
    let deadline = || Apex::get_process_status(own).map_or(0, |it| it.deadline_time);
    done!(periodic_wait());
    let release = Apex::get_time() / (10 * MS) * (10 * MS);
    check(deadline() == release + 8 * MS);
    done!(periodic_wait());
    check(deadline() == release + 18 * MS);
    // A process that waits beyond its deadline misses it, and the one of each release that passes meanwhile.
    check(MISSED.load(Ordering::Relaxed) == 0);
    done!(timed_wait(25 * MS));
    check(MISSED.load(Ordering::Relaxed) == 3);
    done!(periodic_wait());
    let missed = MISSED.load(Ordering::Relaxed);

    let before = Apex::get_time();
    done!(replenish(5 * MS));
    check((before + 5 * MS..before + 6 * MS).contains(&deadline()));
    refused!(replenish(20 * MS), InvalidMode);
    refused!(replenish(INFINITE_TIME_VALUE), InvalidMode);
    refused!(replenish(-2), InvalidParam);
    done!(periodic_wait());
    check(MISSED.load(Ordering::Relaxed) == missed);
    note("stop_self", 0);
    Apex::stop_self();
}

fn itself() {
    let own = done!(get_my_id());
    gives!(get_process_id(name("worker")), |id| id == own);
    gives!(get_process_status(own), |it| it.process_state == ProcessState::Running);
    gives!(get_process_status(own), |it| it.deadline_time == INFINITE_TIME_VALUE);
    refused!(start(own), NoAction);
    refused!(stop(own), InvalidParam);
    refused!(suspend(own), InvalidParam);
    refused!(resume(own), InvalidParam);
    refused!(suspend_self(MS), InvalidMode);
    done!(set_priority(own, 20));
}

fn time() {
    let before = Apex::get_time();
    done!(periodic_wait());
    let after = Apex::get_time();
    check((9 * MS..=11 * MS).contains(&(after - before)));
    done!(timed_wait(25 * MS));
    check((25 * MS..=36 * MS).contains(&(Apex::get_time() - after)));
    done!(timed_wait(0));
    refused!(timed_wait(-1), InvalidParam);
    refused!(replenish(20 * MS), InvalidMode);
    refused!(replenish(-2), InvalidParam);
    // It has no time capacity, and so no deadline.
    done!(replenish(MS));
    gives!(get_process_status(done!(get_my_id())), |it| it.deadline_time == INFINITE_TIME_VALUE);
}

/// Starts, stops, suspends and resumes the helper.
fn others() {
    let helper = done!(get_process_id(name("helper")));
    let go = done!(get_event_id(name("go")));
    let state = |wanted| Apex::get_process_status(helper).is_ok_and(|it| it.process_state == wanted);
    let rounds = || ROUNDS.load(Ordering::Relaxed);
    done!(delayed_start(helper, 15 * MS));
    refused!(start(helper), NoAction);
    check(state(ProcessState::Ready));
    done!(timed_wait(10 * MS));
    check(BEGUN.load(Ordering::Relaxed) == 0);
    done!(timed_wait(30 * MS));
    check(BEGUN.load(Ordering::Relaxed) == 1 && state(ProcessState::Waiting));
    check(Apex::get_event_status(go).is_ok_and(|it| it.waiting_processes == 1));
    done!(set_event(go));
    done!(timed_wait(30 * MS));
    check(rounds() == 1);

    done!(suspend(helper));
    refused!(suspend(helper), NoAction);
    done!(set_event(go));
    done!(timed_wait(40 * MS));
    check(rounds() == 1);
    done!(resume(helper));
    refused!(resume(helper), NoAction);
    done!(timed_wait(30 * MS));
    check(rounds() == 2);

    done!(stop(helper));
    refused!(stop(helper), NoAction);
    check(state(ProcessState::Dormant));
    // It waits for nothing any more.
    check(Apex::get_event_status(go).is_ok_and(|it| it.waiting_processes == 0));
    done!(set_event(go));
    done!(timed_wait(30 * MS));
    check(rounds() == 2);
    done!(start(helper));
    done!(timed_wait(30 * MS));
    // It began anew.
    check((BEGUN.load(Ordering::Relaxed), rounds()) == (2, 3));
}

/// Waits for what the helper gives.
fn objects() {
    let event = done!(get_event_id(name("e")));
    let semaphore = done!(get_semaphore_id(name("s")));
    let buffer = done!(get_buffer_id(name("b")));
    let board = done!(get_blackboard_id(name("board")));
    let go = done!(get_event_id(name("go")));
    let mut message = [0; 16];
    let again = || done!(set_event(go));

    done!(reset_event(event));
    let before = Apex::get_time();
    refused!(wait_event(event, 25 * MS), TimedOut);
    check((25 * MS..=36 * MS).contains(&(Apex::get_time() - before)));
    again();
    done!(wait_event(event, 100 * MS));

    while asked!(wait_semaphore(semaphore, 0)).is_ok() {}
    refused!(wait_semaphore(semaphore, 15 * MS), TimedOut);
    again();
    done!(wait_semaphore(semaphore, 100 * MS));

    while asked!(receive_buffer(buffer, 0, &mut message)).is_ok() {}
    refused!(receive_buffer(buffer, 15 * MS, &mut message), TimedOut);
    again();
    gives!(receive_buffer(buffer, 100 * MS, &mut message), |length| length == 11);
    check(message.starts_with(b"from helper"));
    done!(send_buffer(buffer, b"a", 0));
    done!(send_buffer(buffer, b"b", 0));
    refused!(send_buffer(buffer, b"c", 15 * MS), TimedOut);

    done!(clear_blackboard(board));
    refused!(read_blackboard(board, 15 * MS, &mut message), TimedOut);
    again();
    gives!(read_blackboard(board, 100 * MS, &mut message), |length| length == 6);
    check(message.starts_with(b"helper"));
}

/// Who waits is woken by what is over before its next job.
fn pulses() {
    let (go, board) = (done!(get_event_id(name("go"))), done!(get_blackboard_id(name("board"))));
    let before = ROUNDS.load(Ordering::Relaxed);
    done!(set_event(go));
    done!(reset_event(go));
    done!(timed_wait(20 * MS));
    check(ROUNDS.load(Ordering::Relaxed) == before + 1);

    done!(clear_blackboard(board));
    READS.store(true, Ordering::Relaxed);
    done!(set_event(go));
    done!(timed_wait(20 * MS));
    check(Apex::get_blackboard_status(board).is_ok_and(|it| it.waiting_processes == 1));
    done!(display_blackboard(board, b"pulse"));
    done!(clear_blackboard(board));
    done!(timed_wait(20 * MS));
    check(READ.load(Ordering::Relaxed) == 5);
}

/// Messages of the partition beside this one, whose jobs write their numbers, and take whatever is sent.
fn ports() {
    let port = done!(get_sampling_port_id(name("in")));
    let mut message = [0; 64];
    gives!(read_sampling_message(port, &mut message), |read| read == (Validity::Valid, 64));
    let first = message[0];
    check(Apex::get_sampling_port_status(port).is_ok_and(|it| it.last_msg_validity == Validity::Valid));
    refused!(read_sampling_message(port, &mut [0; 8]), InvalidParam);
    done!(timed_wait(30 * MS));
    gives!(read_sampling_message(port, &mut message), |(_, length)| length == 64);
    check(message[0] > first);

    let receive = done!(get_queuing_port_id(name("receive")));
    done!(clear_queuing_port(receive));
    refused!(receive_queuing_message(receive, 0, &mut message), NotAvailable);
    gives!(receive_queuing_message(receive, 100 * MS, &mut message), |read| read == (64, false));
    let quiet = done!(get_queuing_port_id(name("quiet")));
    refused!(receive_queuing_message(quiet, 15 * MS, &mut message), TimedOut);
    // Nobody takes what is sent by this one.
    let stuck = done!(get_queuing_port_id(name("stuck")));
    while asked!(send_queuing_message(stuck, b"again", 0)).is_ok() {}
    refused!(send_queuing_message(stuck, b"again", 15 * MS), TimedOut);
    let send = done!(get_queuing_port_id(name("send")));
    // The other partition has taken those of the cold start.
    check(Apex::get_queuing_port_status(send).is_ok_and(|it| it.nb_message == 0));
    for _ in 0..4 {
        done!(send_queuing_message(send, b"again", 0));
    }
    refused!(send_queuing_message(send, b"again", 0), NotAvailable);
    done!(send_queuing_message(send, b"again", 100 * MS));
}

fn errors() {
    done!(raise_application_error(ErrorCode::ApplicationError, b"wrong"));
    done!(raise_application_error(ErrorCode::ApplicationError, b"wrong"));
    done!(timed_wait(30 * MS));
    check(ERRORS.load(Ordering::Relaxed) == 2);
    check(Apex::get_my_id() == Ok(FAILED_PROCESS.load(Ordering::Relaxed)));
}
