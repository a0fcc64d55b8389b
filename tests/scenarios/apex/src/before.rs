//! What is asked in the cold start: every creation, and whatever needs no process.

use crate::{aperiodic, beside, check, done, during, name, periodic, refused, MS};
use a653rs::bindings::ErrorReturnCode::{InvalidConfig, InvalidMode, InvalidParam, NoAction, NotAvailable};
use a653rs::bindings::{
    ApexBlackboardP1, ApexBufferP1, ApexErrorP1, ApexErrorP4, ApexEventP1, ApexPartitionP4, ApexProcessP1,
    ApexProcessP4, ApexQueuingPortP1, ApexQueuingPortP4, ApexSamplingPortP1, ApexSamplingPortP4, ApexSemaphoreP1,
    ApexTimeP1, ApexTimeP4, Deadline, EmptyIndicator, ErrorCode, ErrorHandlerConcurrencyControl, EventState,
    OperatingMode, PortDirection, ProcessState, QueuingDiscipline, StartCondition, Validity, INFINITE_TIME_VALUE,
};
use tactus_rt::apex::Apex;

const FIFO: QueuingDiscipline = QueuingDiscipline::Fifo;
const SOURCE: PortDirection = PortDirection::Source;
const DESTINATION: PortDirection = PortDirection::Destination;

/// All of them.
pub fn all() {
    partition();
    processes();
    errors();
    sampling();
    queuing();
    buffers();
    blackboards();
    semaphores();
    events();
    done(Apex::start(done(Apex::get_process_id(name("worker")))));
}

fn partition() {
    let status = Apex::get_partition_status();
    check(status.operating_mode == OperatingMode::ColdStart);
    check(status.start_condition == StartCondition::NormalStart);
    check((status.period, status.duration) == (10 * MS, 5 * MS));
    check((status.identifier, status.num_assigned_cores, status.lock_level) == (0, 1, 0));
    refused(Apex::set_partition_mode(OperatingMode::WarmStart), InvalidMode);
}

fn processes() {
    let worker = periodic("worker", during::worker);
    for base_priority in [0, 240] {
        let mut wrong = worker.clone();
        wrong.base_priority = base_priority;
        refused(Apex::create_process(&wrong), InvalidParam);
    }
    for (period, code) in [(0, InvalidParam), (-2, InvalidParam), (20 * MS, InvalidConfig)] {
        let mut wrong = worker.clone();
        wrong.period = period;
        refused(Apex::create_process(&wrong), code);
    }
    for time_capacity in [0, -2, 11 * MS] {
        let mut wrong = worker.clone();
        wrong.time_capacity = time_capacity;
        refused(Apex::create_process(&wrong), InvalidParam);
    }
    for (stack_size, code) in [(0, InvalidParam), (1 << 20, InvalidConfig)] {
        let mut wrong = worker.clone();
        wrong.stack_size = stack_size;
        refused(Apex::create_process(&wrong), code);
    }
    refused(Apex::create_process(&periodic("nobody", during::worker)), InvalidConfig);
    let worker_id = done(Apex::create_process(&worker));
    refused(Apex::create_process(&worker), NoAction);
    let helper = done(Apex::create_process(&aperiodic("helper", beside::helper)));
    check(worker_id != helper);

    check(Apex::get_process_id(name("helper")) == Ok(helper));
    refused(Apex::get_process_id(name("nobody")), InvalidConfig);
    refused(Apex::get_process_status(99), InvalidParam);
    let status = Apex::get_process_status(worker_id);
    check(status.as_ref().is_ok_and(|it| it.process_state == ProcessState::Dormant));
    check(status.as_ref().is_ok_and(|it| it.deadline_time == INFINITE_TIME_VALUE && it.current_priority == 20));
    check(status.as_ref().is_ok_and(|it| it.attributes.period == 10 * MS && it.attributes.time_capacity == 10 * MS));
    check(
        status.as_ref().is_ok_and(|it| it.attributes.deadline == Deadline::Hard && it.attributes.stack_size == 8_192),
    );
    check(status.as_ref().is_ok_and(|it| it.attributes.name == name("worker")));

    refused(Apex::get_my_id(), InvalidMode);
    refused(Apex::get_my_index(), InvalidMode);
    check(Apex::get_my_processor_core_id() == 0);
    refused(Apex::initialize_process_core_affinity(99, 0), InvalidParam);
    refused(Apex::initialize_process_core_affinity(helper, 1), InvalidConfig);
    done(Apex::initialize_process_core_affinity(helper, 0));
    done(Apex::initialize_process_core_affinity(helper, -1));
    refused(Apex::start(99), InvalidParam);
    refused(Apex::start(0), InvalidParam);
    refused(Apex::delayed_start(99, 0), InvalidParam);
    refused(Apex::delayed_start(worker_id, -1), InvalidParam);
    refused(Apex::delayed_start(worker_id, 10 * MS), InvalidParam);
    refused(Apex::set_priority(99, 20), InvalidParam);
    refused(Apex::set_priority(helper, 0), InvalidParam);
    refused(Apex::set_priority(helper, 240), InvalidParam);
    refused(Apex::set_priority(helper, 20), InvalidMode);
    refused(Apex::suspend(99), InvalidParam);
    refused(Apex::suspend(worker_id), InvalidMode);
    refused(Apex::suspend(helper), InvalidMode);
    refused(Apex::resume(99), InvalidParam);
    refused(Apex::resume(helper), InvalidMode);
    refused(Apex::stop(99), InvalidParam);
    refused(Apex::stop(helper), NoAction);
    refused(Apex::suspend_self(MS), InvalidMode);
    refused(Apex::lock_preemption(), NoAction);
    refused(Apex::unlock_preemption(), NoAction);
    refused(Apex::periodic_wait(), InvalidMode);
    refused(Apex::timed_wait(-1), InvalidParam);
    refused(Apex::timed_wait(MS), InvalidMode);
    refused(Apex::replenish(MS), NoAction);
}

fn errors() {
    let paused = ErrorHandlerConcurrencyControl::ProcessesPause;
    refused(Apex::configure_error_handler(paused, 0), InvalidConfig);
    refused(Apex::create_error_handler(beside::handler, 1 << 20), InvalidConfig);
    done(Apex::create_error_handler(beside::handler, 8_192));
    refused(Apex::create_error_handler(beside::handler, 8_192), NoAction);
    done(Apex::configure_error_handler(paused, 0));
    refused(Apex::get_error_status().map(|_| ()), InvalidConfig);
    refused(Apex::report_application_message(&[b'a'; 129]), InvalidParam);
    done(Apex::report_application_message(b"a message"));
    refused(Apex::raise_application_error(ErrorCode::ApplicationError, &[b'a'; 129]), InvalidParam);
    refused(Apex::raise_application_error(ErrorCode::NumericError, b"a"), InvalidParam);
}

fn sampling() {
    let create = |port, size, direction, refresh| Apex::create_sampling_port(name(port), size, direction, refresh);
    refused(create("nowhere", 64, DESTINATION, 20 * MS), InvalidConfig);
    refused(create("in", 63, DESTINATION, 20 * MS), InvalidConfig);
    refused(create("in", 64, SOURCE, 20 * MS), InvalidConfig);
    refused(create("in", 64, DESTINATION, 0), InvalidConfig);
    refused(create("receive", 64, DESTINATION, 20 * MS), InvalidConfig);
    refused(Apex::get_sampling_port_id(name("in")), InvalidConfig);
    let port = done(create("in", 64, DESTINATION, 20 * MS));
    refused(create("in", 64, DESTINATION, 20 * MS), NoAction);
    let out = done(create("out", 64, SOURCE, 20 * MS));
    check(Apex::get_sampling_port_id(name("in")) == Ok(port));
    refused(Apex::get_sampling_port_id(name("nowhere")), InvalidConfig);
    refused(Apex::get_sampling_port_status(99), InvalidParam);
    let status = Apex::get_sampling_port_status(port);
    check(status.as_ref().is_ok_and(|it| (it.max_message_size, it.refresh_period) == (64, 20 * MS)));
    check(status.as_ref().is_ok_and(|it| it.port_direction == DESTINATION));
    check(status.as_ref().is_ok_and(|it| it.last_msg_validity == Validity::Invalid));
    refused(Apex::write_sampling_message(99, b"a"), InvalidParam);
    refused(Apex::write_sampling_message(out, b""), InvalidParam);
    refused(Apex::write_sampling_message(out, &[0; 65]), InvalidConfig);
    refused(Apex::write_sampling_message(port, b"a"), InvalidMode);
    done(Apex::write_sampling_message(out, b"a"));
    refused(during::sampled(99, &mut [0; 64]), InvalidParam);
    refused(during::sampled(out, &mut [0; 64]), InvalidMode);
    refused(during::sampled(port, &mut [0; 64]), NoAction);
}

fn queuing() {
    let create = |port, size, depth, direction| Apex::create_queuing_port(name(port), size, depth, direction, FIFO);
    refused(create("nowhere", 64, 4, SOURCE), InvalidConfig);
    refused(create("send", 65, 4, SOURCE), InvalidConfig);
    refused(create("send", 64, 5, SOURCE), InvalidConfig);
    refused(create("send", 64, 4, DESTINATION), InvalidConfig);
    refused(create("in", 64, 4, DESTINATION), InvalidConfig);
    refused(Apex::get_queuing_port_id(name("send")), InvalidConfig);
    let send = done(create("send", 64, 4, SOURCE));
    refused(create("send", 64, 4, SOURCE), NoAction);
    let receive = done(create("receive", 64, 4, DESTINATION));
    check(Apex::get_queuing_port_id(name("send")) == Ok(send));
    refused(Apex::get_queuing_port_id(name("nowhere")), InvalidConfig);
    refused(Apex::get_queuing_port_status(99), InvalidParam);
    let status = Apex::get_queuing_port_status(send);
    check(status.as_ref().is_ok_and(|it| (it.max_message_size, it.max_nb_message) == (64, 4)));
    check(status.as_ref().is_ok_and(|it| (it.nb_message, it.waiting_processes) == (0, 0)));
    check(status.as_ref().is_ok_and(|it| it.port_direction == SOURCE));
    refused(Apex::send_queuing_message(99, b"a", 0), InvalidParam);
    refused(Apex::send_queuing_message(send, b"", 0), InvalidParam);
    refused(Apex::send_queuing_message(send, b"a", -2), InvalidParam);
    refused(Apex::send_queuing_message(send, &[0; 65], 0), InvalidConfig);
    refused(Apex::send_queuing_message(receive, b"a", 0), InvalidMode);
    for _ in 0..4 {
        done(Apex::send_queuing_message(send, b"a", 0));
    }
    check(Apex::get_queuing_port_status(send).is_ok_and(|it| it.nb_message == 4));
    refused(Apex::send_queuing_message(send, b"a", 0), NotAvailable);
    refused(Apex::send_queuing_message(send, b"a", MS), InvalidMode);
    refused(during::received(99, 0, &mut [0; 64]), InvalidParam);
    refused(during::received(send, 0, &mut [0; 64]), InvalidMode);
    refused(during::received(receive, -2, &mut [0; 64]), InvalidParam);
    refused(during::received(receive, 0, &mut [0; 64]), NotAvailable);
    refused(Apex::clear_queuing_port(99), InvalidParam);
    refused(Apex::clear_queuing_port(send), InvalidMode);
    done(Apex::clear_queuing_port(receive));
}

fn buffers() {
    let create = |buffer, size, depth| Apex::create_buffer(name(buffer), size, depth, FIFO);
    refused(create("b", 0, 2), InvalidParam);
    refused(create("b", 16, 0), InvalidParam);
    refused(create("b", 16, 513), InvalidParam);
    refused(create("b", 8_000, 500), InvalidConfig);
    refused(Apex::get_buffer_id(name("b")), InvalidConfig);
    let buffer = done(create("b", 16, 2));
    refused(create("b", 16, 2), NoAction);
    check(Apex::get_buffer_id(name("b")) == Ok(buffer));
    refused(Apex::get_buffer_status(99), InvalidParam);
    let status = Apex::get_buffer_status(buffer);
    check(status.as_ref().is_ok_and(|it| (it.max_message_size, it.max_nb_message) == (16, 2)));
    check(status.as_ref().is_ok_and(|it| (it.nb_message, it.waiting_processes) == (0, 0)));
    refused(Apex::send_buffer(99, b"a", 0), InvalidParam);
    refused(Apex::send_buffer(buffer, b"", 0), InvalidParam);
    refused(Apex::send_buffer(buffer, &[0; 17], 0), InvalidParam);
    refused(Apex::send_buffer(buffer, b"a", -2), InvalidParam);
    done(Apex::send_buffer(buffer, b"first", 0));
    done(Apex::send_buffer(buffer, b"second", 0));
    refused(Apex::send_buffer(buffer, b"third", 0), NotAvailable);
    refused(Apex::send_buffer(buffer, b"third", MS), InvalidMode);
    check(Apex::get_buffer_status(buffer).is_ok_and(|it| it.nb_message == 2));
    let mut message = [0; 16];
    refused(during::taken(99, 0, &mut message), InvalidParam);
    refused(during::taken(buffer, -2, &mut message), InvalidParam);
    refused(during::taken(buffer, 0, &mut [0; 2]), InvalidParam);
    check(during::taken(buffer, 0, &mut message) == Ok(5) && message.starts_with(b"first"));
    check(during::taken(buffer, 0, &mut message) == Ok(6) && message.starts_with(b"second"));
    refused(during::taken(buffer, 0, &mut message), NotAvailable);
    refused(during::taken(buffer, MS, &mut message), InvalidMode);
}

fn blackboards() {
    refused(Apex::create_blackboard(name("board"), 0), InvalidParam);
    refused(Apex::create_blackboard(name("board"), 100_000), InvalidConfig);
    refused(Apex::get_blackboard_id(name("board")), InvalidConfig);
    let board = done(Apex::create_blackboard(name("board"), 16));
    refused(Apex::create_blackboard(name("board"), 16), NoAction);
    check(Apex::get_blackboard_id(name("board")) == Ok(board));
    refused(Apex::get_blackboard_status(99).map(|_| ()), InvalidParam);
    let empty = |wanted| Apex::get_blackboard_status(board).is_ok_and(|it| it.empty_indicator == wanted);
    check(empty(EmptyIndicator::Empty));
    check(Apex::get_blackboard_status(board).is_ok_and(|it| (it.max_message_size, it.waiting_processes) == (16, 0)));
    let mut message = [0; 16];
    refused(during::shown(99, 0, &mut message), InvalidParam);
    refused(during::shown(board, -2, &mut message), InvalidParam);
    refused(during::shown(board, 0, &mut message), NotAvailable);
    refused(during::shown(board, MS, &mut message), InvalidMode);
    refused(Apex::display_blackboard(99, b"a"), InvalidParam);
    refused(Apex::display_blackboard(board, b""), InvalidParam);
    refused(Apex::display_blackboard(board, &[0; 17]), InvalidParam);
    done(Apex::display_blackboard(board, b"one"));
    done(Apex::display_blackboard(board, b"two!"));
    check(empty(EmptyIndicator::Occupied));
    check(during::shown(board, 0, &mut message) == Ok(4) && message.starts_with(b"two!"));
    check(during::shown(board, 0, &mut message) == Ok(4));
    refused(Apex::clear_blackboard(99), InvalidParam);
    done(Apex::clear_blackboard(board));
    check(empty(EmptyIndicator::Empty));
}

fn semaphores() {
    let create = |semaphore, current, most| Apex::create_semaphore(name(semaphore), current, most, FIFO);
    refused(create("s", -1, 2), InvalidParam);
    refused(create("s", 3, 2), InvalidParam);
    refused(create("s", 0, 40_000), InvalidParam);
    refused(Apex::get_semaphore_id(name("s")), InvalidConfig);
    let semaphore = done(create("s", 1, 2));
    refused(create("s", 1, 2), NoAction);
    check(Apex::get_semaphore_id(name("s")) == Ok(semaphore));
    refused(Apex::get_semaphore_status(99).map(|_| ()), InvalidParam);
    let value = |wanted| Apex::get_semaphore_status(semaphore).is_ok_and(|it| it.current_value == wanted);
    check(value(1));
    check(Apex::get_semaphore_status(semaphore).is_ok_and(|it| (it.maximum_value, it.waiting_processes) == (2, 0)));
    refused(Apex::wait_semaphore(99, 0), InvalidParam);
    refused(Apex::wait_semaphore(semaphore, -2), InvalidParam);
    done(Apex::wait_semaphore(semaphore, 0));
    refused(Apex::wait_semaphore(semaphore, 0), NotAvailable);
    refused(Apex::wait_semaphore(semaphore, MS), InvalidMode);
    refused(Apex::signal_semaphore(99), InvalidParam);
    done(Apex::signal_semaphore(semaphore));
    done(Apex::signal_semaphore(semaphore));
    refused(Apex::signal_semaphore(semaphore), NoAction);
    check(value(2));
    done(Apex::wait_semaphore(semaphore, 0));
    done(Apex::wait_semaphore(semaphore, 0));
}

fn events() {
    refused(Apex::get_event_id(name("e")), InvalidConfig);
    let event = done(Apex::create_event(name("e")));
    refused(Apex::create_event(name("e")), NoAction);
    check(Apex::get_event_id(name("e")) == Ok(event));
    refused(Apex::get_event_status(99).map(|_| ()), InvalidParam);
    let state = |wanted| Apex::get_event_status(event).is_ok_and(|it| it.event_state == wanted);
    check(state(EventState::Down));
    refused(Apex::wait_event(99, 0), InvalidParam);
    refused(Apex::wait_event(event, -2), InvalidParam);
    refused(Apex::wait_event(event, 0), NotAvailable);
    refused(Apex::wait_event(event, MS), InvalidMode);
    refused(Apex::set_event(99), InvalidParam);
    done(Apex::set_event(event));
    check(state(EventState::Up));
    done(Apex::wait_event(event, 0));
    refused(Apex::reset_event(99), InvalidParam);
    done(Apex::reset_event(event));
    check(state(EventState::Down));
    done(Apex::create_event(name("go")));
    // There is room for sixteen.
    for number in 0..14_u8 {
        let mut other = name("other ");
        other[6] = b'a' + number;
        done(Apex::create_event(other));
    }
    refused(Apex::create_event(name("one more")), InvalidConfig);
}
