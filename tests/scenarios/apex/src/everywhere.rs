//! What is asked in every mode alike: by the main process in a cold start and in a warm one, by a process, and by the error handler. Where
//! the answer depends on who asks, that is said.

use crate::told::{check, note, HANDLES};
use crate::{aperiodic, during, name, MS};
use a653rs::bindings::ErrorReturnCode::{InvalidConfig, InvalidMode, InvalidParam, NoAction, NotAvailable};
use a653rs::bindings::{
    ApexBlackboardP1, ApexBufferP1, ApexErrorP1, ApexErrorP4, ApexEventP1, ApexPartitionP4, ApexProcessP1,
    ApexProcessP4, ApexQueuingPortP1, ApexQueuingPortP4, ApexSamplingPortP1, ApexSamplingPortP4, ApexSemaphoreP1,
    ApexTimeP1, ApexTimeP4, EmptyIndicator, ErrorCode, ErrorHandlerConcurrencyControl, EventState, OperatingMode,
    PortDirection, QueuingDiscipline,
};
use core::sync::atomic::Ordering;
use tactus_rt::apex::Apex;

const FIFO: QueuingDiscipline = QueuingDiscipline::Fifo;

/// All of them.
pub fn all() {
    partition();
    processes();
    waiting();
    if runs() {
        creations();
    }
    sampling();
    queuing();
    buffers();
    blackboards();
    semaphores();
    events();
    errors();
}

/// Whether the partition runs.
fn runs() -> bool {
    Apex::get_partition_status().operating_mode == OperatingMode::Normal
}

/// Whether the error handler asks.
fn handles() -> bool {
    HANDLES.load(Ordering::Relaxed)
}

/// Whether who asks may wait.
fn is_process() -> bool {
    runs() && !handles()
}

fn partition() {
    note("get_partition_status", 0);
    check(Apex::get_partition_status().lock_level == 0);
    if runs() {
        refused!(set_partition_mode(OperatingMode::Normal), NoAction);
    }
}

/// Another process, `other`, is started, suspended, resumed and stopped.
fn processes() {
    gives!(get_process_id(name("other")), |id| id > 0);
    refused!(get_process_id(name("nobody")), InvalidConfig);
    let other = done!(get_process_id(name("other")));
    gives!(get_process_status(other), |it| it.attributes.base_priority == 3);
    refused!(get_process_status(99), InvalidParam);

    refused!(set_priority(99, 3), InvalidParam);
    refused!(set_priority(other, 0), InvalidParam);
    refused!(set_priority(other, 240), InvalidParam);
    refused!(set_priority(other, 3), InvalidMode);
    refused!(suspend(99), InvalidParam);
    refused!(suspend(other), InvalidMode);
    refused!(resume(99), InvalidParam);
    refused!(resume(other), InvalidMode);
    refused!(stop(99), InvalidParam);
    refused!(stop(other), NoAction);
    refused!(start(99), InvalidParam);
    refused!(delayed_start(99, 0), InvalidParam);
    refused!(delayed_start(other, -1), InvalidParam);

    done!(delayed_start(other, 500 * MS));
    refused!(delayed_start(other, 0), NoAction);
    refused!(start(other), NoAction);
    done!(set_priority(other, 3));
    refused!(set_priority(other, 4), InvalidConfig);
    refused!(resume(other), NoAction);
    done!(suspend(other));
    refused!(suspend(other), NoAction);
    done!(resume(other));
    refused!(resume(other), NoAction);
    done!(stop(other));
    done!(start(other));
    done!(stop(other));

    note("get_my_processor_core_id", 0);
    check(Apex::get_my_processor_core_id() == 0);
    refused!(initialize_process_core_affinity(99, 0), InvalidParam);
    refused!(unlock_preemption(), NoAction);
    if is_process() {
        gives!(get_my_id(), |id| id > 0);
        gives!(get_my_index(), |index| index >= 0);
        refused!(lock_preemption(), InvalidConfig);
        refused!(initialize_process_core_affinity(other, 0), InvalidMode);
        return;
    }
    refused!(get_my_id(), InvalidMode);
    refused!(get_my_index(), InvalidMode);
    refused!(lock_preemption(), NoAction);
    if runs() {
        refused!(initialize_process_core_affinity(other, 0), InvalidMode);
    } else {
        done!(initialize_process_core_affinity(other, 0));
        done!(initialize_process_core_affinity(other, -1));
        refused!(initialize_process_core_affinity(other, 1), InvalidConfig);
        Apex::stop_self();
        note("stop_self", 0);
    }
}

/// Time: only a process may wait.
fn waiting() {
    note("get_time", 0);
    check(Apex::get_time() > 0);
    if is_process() {
        return;
    }
    refused!(timed_wait(0), InvalidMode);
    refused!(timed_wait(MS), InvalidMode);
    refused!(timed_wait(-1), InvalidMode);
    refused!(periodic_wait(), InvalidMode);
    refused!(suspend_self(0), InvalidMode);
    refused!(suspend_self(MS), InvalidMode);
    refused!(replenish(MS), NoAction);
}

/// Nothing is created once the partition runs.
fn creations() {
    refused!(create_process(&aperiodic("late", during::nothing)), InvalidMode);
    refused!(create_buffer(name("x"), 8, 1, FIFO), InvalidMode);
    refused!(create_blackboard(name("x"), 8), InvalidMode);
    refused!(create_event(name("x")), InvalidMode);
    refused!(create_semaphore(name("x"), 0, 1, FIFO), InvalidMode);
    refused!(create_sampling_port(name("in"), 64, PortDirection::Destination, MS), InvalidMode);
    refused!(create_queuing_port(name("send"), 64, 4, PortDirection::Source, FIFO), InvalidMode);
    refused!(create_error_handler(during::nothing, 8_192), InvalidMode);
    refused!(configure_error_handler(ErrorHandlerConcurrencyControl::ProcessesPause, 0), InvalidMode);
}

fn sampling() {
    let port = done!(get_sampling_port_id(name("in")));
    let out = done!(get_sampling_port_id(name("out")));
    refused!(get_sampling_port_id(name("nowhere")), InvalidConfig);
    gives!(get_sampling_port_status(port), |it| it.max_message_size == 64);
    refused!(get_sampling_port_status(99), InvalidParam);
    refused!(write_sampling_message(99, b"a"), InvalidParam);
    refused!(write_sampling_message(out, b""), InvalidParam);
    refused!(write_sampling_message(out, &[0; 65]), InvalidConfig);
    refused!(write_sampling_message(port, b"a"), InvalidMode);
    done!(write_sampling_message(out, b"a"));
    refused!(read_sampling_message(99, &mut [0; 64]), InvalidParam);
    refused!(read_sampling_message(out, &mut [0; 64]), InvalidMode);
    // Before the other partition has written, there is no message; and none comes by the other port.
    let read = asked!(read_sampling_message(port, &mut [0; 64]));
    check(matches!(read, Ok((_, 64)) | Err(NoAction)));
    refused!(read_sampling_message(done!(get_sampling_port_id(name("silent"))), &mut [0; 64]), NoAction);
}

fn queuing() {
    let send = done!(get_queuing_port_id(name("send")));
    let receive = done!(get_queuing_port_id(name("receive")));
    refused!(get_queuing_port_id(name("nowhere")), InvalidConfig);
    gives!(get_queuing_port_status(send), |it| (it.max_message_size, it.max_nb_message) == (64, 4));
    refused!(get_queuing_port_status(99), InvalidParam);
    refused!(send_queuing_message(99, b"a", 0), InvalidParam);
    refused!(send_queuing_message(send, b"", 0), InvalidParam);
    refused!(send_queuing_message(send, b"a", -2), InvalidParam);
    refused!(send_queuing_message(send, &[0; 65], 0), InvalidConfig);
    refused!(send_queuing_message(receive, b"a", 0), InvalidMode);
    while asked!(send_queuing_message(send, b"a", 0)).is_ok() {}
    refused!(send_queuing_message(send, b"a", 0), NotAvailable);
    gives!(get_queuing_port_status(send), |it| it.nb_message == 4);
    refused!(receive_queuing_message(99, 0, &mut [0; 64]), InvalidParam);
    refused!(receive_queuing_message(send, 0, &mut [0; 64]), InvalidMode);
    refused!(receive_queuing_message(receive, -2, &mut [0; 64]), InvalidParam);
    refused!(clear_queuing_port(99), InvalidParam);
    refused!(clear_queuing_port(send), InvalidMode);
    while asked!(receive_queuing_message(receive, 0, &mut [0; 64])).is_ok() {}
    done!(clear_queuing_port(receive));
    refused!(receive_queuing_message(receive, 0, &mut [0; 64]), NotAvailable);
    if !is_process() {
        refused!(send_queuing_message(send, b"a", MS), InvalidMode);
        refused!(receive_queuing_message(receive, MS, &mut [0; 64]), InvalidMode);
    }
}

fn buffers() {
    let buffer = done!(get_buffer_id(name("b")));
    refused!(get_buffer_id(name("nowhere")), InvalidConfig);
    refused!(get_buffer_status(99), InvalidParam);
    let mut message = [0; 16];
    while asked!(receive_buffer(buffer, 0, &mut message)).is_ok() {}
    gives!(get_buffer_status(buffer), |it| (it.nb_message, it.max_nb_message, it.max_message_size) == (0, 2, 16));
    refused!(send_buffer(99, b"a", 0), InvalidParam);
    refused!(send_buffer(buffer, b"", 0), InvalidParam);
    refused!(send_buffer(buffer, &[0; 17], 0), InvalidParam);
    refused!(send_buffer(buffer, b"a", -2), InvalidParam);
    done!(send_buffer(buffer, b"first", 0));
    done!(send_buffer(buffer, b"second", 0));
    refused!(send_buffer(buffer, b"third", 0), NotAvailable);
    gives!(get_buffer_status(buffer), |it| it.nb_message == 2);
    refused!(receive_buffer(99, 0, &mut message), InvalidParam);
    refused!(receive_buffer(buffer, -2, &mut message), InvalidParam);
    refused!(receive_buffer(buffer, 0, &mut [0; 2]), InvalidParam);
    gives!(receive_buffer(buffer, 0, &mut message), |length| length == 5);
    check(message.starts_with(b"first"));
    gives!(receive_buffer(buffer, 0, &mut message), |length| length == 6);
    check(message.starts_with(b"second"));
    refused!(receive_buffer(buffer, 0, &mut message), NotAvailable);
    if !is_process() {
        refused!(receive_buffer(buffer, MS, &mut message), InvalidMode);
        done!(send_buffer(buffer, b"first", MS));
        done!(send_buffer(buffer, b"second", MS));
        refused!(send_buffer(buffer, b"third", MS), InvalidMode);
    }
}

fn blackboards() {
    let board = done!(get_blackboard_id(name("board")));
    refused!(get_blackboard_id(name("nowhere")), InvalidConfig);
    refused!(get_blackboard_status(99), InvalidParam);
    let mut message = [0; 16];
    done!(clear_blackboard(board));
    gives!(get_blackboard_status(board), |it| it.empty_indicator == EmptyIndicator::Empty && it.max_message_size == 16);
    refused!(read_blackboard(99, 0, &mut message), InvalidParam);
    refused!(read_blackboard(board, -2, &mut message), InvalidParam);
    refused!(read_blackboard(board, 0, &mut message), NotAvailable);
    refused!(display_blackboard(99, b"a"), InvalidParam);
    refused!(display_blackboard(board, b""), InvalidParam);
    refused!(display_blackboard(board, &[0; 17]), InvalidParam);
    if !is_process() {
        refused!(read_blackboard(board, MS, &mut message), InvalidMode);
    }
    done!(display_blackboard(board, b"one"));
    done!(display_blackboard(board, b"two!"));
    gives!(get_blackboard_status(board), |it| it.empty_indicator == EmptyIndicator::Occupied);
    gives!(read_blackboard(board, 0, &mut message), |length| length == 4);
    check(message.starts_with(b"two!"));
    refused!(clear_blackboard(99), InvalidParam);
    done!(clear_blackboard(board));
}

fn semaphores() {
    let semaphore = done!(get_semaphore_id(name("s")));
    refused!(get_semaphore_id(name("nowhere")), InvalidConfig);
    refused!(get_semaphore_status(99), InvalidParam);
    while asked!(wait_semaphore(semaphore, 0)).is_ok() {}
    gives!(get_semaphore_status(semaphore), |it| (it.current_value, it.maximum_value) == (0, 2));
    refused!(wait_semaphore(99, 0), InvalidParam);
    refused!(wait_semaphore(semaphore, -2), InvalidParam);
    refused!(wait_semaphore(semaphore, 0), NotAvailable);
    if !is_process() {
        refused!(wait_semaphore(semaphore, MS), InvalidMode);
    }
    refused!(signal_semaphore(99), InvalidParam);
    done!(signal_semaphore(semaphore));
    done!(signal_semaphore(semaphore));
    refused!(signal_semaphore(semaphore), NoAction);
    gives!(get_semaphore_status(semaphore), |it| it.current_value == 2);
    done!(wait_semaphore(semaphore, 0));
}

fn events() {
    let event = done!(get_event_id(name("e")));
    refused!(get_event_id(name("nowhere")), InvalidConfig);
    refused!(get_event_status(99), InvalidParam);
    refused!(reset_event(99), InvalidParam);
    done!(reset_event(event));
    gives!(get_event_status(event), |it| it.event_state == EventState::Down);
    refused!(wait_event(99, 0), InvalidParam);
    refused!(wait_event(event, -2), InvalidParam);
    refused!(wait_event(event, 0), NotAvailable);
    if !is_process() {
        refused!(wait_event(event, MS), InvalidMode);
    }
    refused!(set_event(99), InvalidParam);
    done!(set_event(event));
    gives!(get_event_status(event), |it| it.event_state == EventState::Up);
    done!(wait_event(event, 0));
}

fn errors() {
    refused!(report_application_message(&[b'a'; 129]), InvalidParam);
    done!(report_application_message(b"a message"));
    refused!(raise_application_error(ErrorCode::ApplicationError, &[b'a'; 129]), InvalidParam);
    refused!(raise_application_error(ErrorCode::NumericError, b"a"), InvalidParam);
    if !handles() {
        refused!(get_error_status(), InvalidConfig);
    }
}
