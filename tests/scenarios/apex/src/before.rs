//! What is asked in a cold start and in a warm one alone: every creation.

use crate::told::check;
use crate::{aperiodic, beside, during, life, name, periodic, MS};
use a653rs::bindings::ErrorReturnCode::{InvalidConfig, InvalidMode, InvalidParam, NoAction, NotAvailable};
use a653rs::bindings::{
    ApexBlackboardP1, ApexBufferP1, ApexErrorP1, ApexEventP1, ApexPartitionP4, ApexProcessP1, ApexProcessP4,
    ApexQueuingPortP1, ApexQueuingPortP4, ApexSamplingPortP1, ApexSamplingPortP4, ApexSemaphoreP1, Deadline,
    ErrorHandlerConcurrencyControl, OperatingMode, PortDirection, ProcessState, QueuingDiscipline, StartCondition,
    Validity, INFINITE_TIME_VALUE,
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
}

/// The partition is to run: what begins then.
pub fn start() {
    for process in ["worker", "timed"] {
        done!(start(done!(get_process_id(name(process)))));
    }
    // The crate's entry does so as well.
    crate::told::note("set_partition_mode", 0);
}

fn partition() {
    let status = Apex::get_partition_status();
    let (mode, condition) = match life() {
        1 => (OperatingMode::ColdStart, StartCondition::NormalStart),
        2 => (OperatingMode::WarmStart, StartCondition::PartitionRestart),
        _ => (OperatingMode::ColdStart, StartCondition::PartitionRestart),
    };
    check(status.operating_mode == mode && status.start_condition == condition);
    check((status.period, status.duration) == (10 * MS, 5 * MS));
    check((status.identifier, status.num_assigned_cores, status.lock_level) == (0, 1, 0));
    if mode == OperatingMode::ColdStart {
        refused!(set_partition_mode(OperatingMode::WarmStart), InvalidMode);
    }
}

fn processes() {
    let worker = periodic("worker", during::worker);
    let with = |change: &dyn Fn(&mut a653rs::bindings::ApexProcessAttribute)| {
        let mut wrong = worker.clone();
        change(&mut wrong);
        wrong
    };
    for base_priority in [0, 240] {
        refused!(create_process(&with(&|it| it.base_priority = base_priority)), InvalidParam);
    }
    // The file's priority, period and size of stacks.
    refused!(create_process(&with(&|it| it.base_priority = 19)), InvalidConfig);
    refused!(create_process(&with(&|it| it.base_priority = 21)), InvalidConfig);
    for period in [0, -2] {
        refused!(create_process(&with(&|it| it.period = period)), InvalidParam);
    }
    refused!(create_process(&with(&|it| it.period = 20 * MS)), InvalidConfig);
    for time_capacity in [0, -2, 11 * MS] {
        refused!(create_process(&with(&|it| it.time_capacity = time_capacity)), InvalidParam);
    }
    refused!(create_process(&with(&|it| it.stack_size = 0)), InvalidParam);
    refused!(create_process(&with(&|it| it.stack_size = 1 << 20)), InvalidConfig);
    refused!(create_process(&periodic("nobody", during::worker)), InvalidConfig);
    // Nothing of another beginning of the partition is left.
    refused!(get_process_id(name("worker")), InvalidConfig);
    let worker_id = done!(create_process(&worker));
    refused!(create_process(&worker), NoAction);
    let helper = done!(create_process(&aperiodic("helper", beside::helper)));
    check(worker_id != helper);
    let mut timed = periodic("timed", during::timed);
    (timed.time_capacity, timed.base_priority) = (8 * MS, 10);
    let timed = done!(create_process(&timed));
    let mut other = aperiodic("other", during::nothing);
    other.base_priority = 3;
    done!(create_process(&other));

    gives!(get_process_id(name("helper")), |id| id == helper);
    gives!(get_process_status(worker_id), |it| it.process_state == ProcessState::Dormant);
    gives!(get_process_status(worker_id), |it| it.deadline_time == INFINITE_TIME_VALUE && it.current_priority == 20);
    gives!(get_process_status(timed), |it| it.deadline_time == INFINITE_TIME_VALUE);
    gives!(get_process_status(timed), |it| (it.attributes.period, it.attributes.time_capacity) == (10 * MS, 8 * MS));
    gives!(get_process_status(worker_id), |it| it.attributes.deadline == Deadline::Hard);
    gives!(get_process_status(helper), |it| it.attributes.deadline == Deadline::Soft);
    gives!(get_process_status(worker_id), |it| it.attributes.stack_size == 8_192);
    gives!(get_process_status(worker_id), |it| it.attributes.name == name("worker"));
    refused!(start(0), InvalidParam);
    refused!(delayed_start(worker_id, 10 * MS), InvalidParam);
    refused!(suspend(worker_id), InvalidMode);
}

fn errors() {
    let paused = ErrorHandlerConcurrencyControl::ProcessesPause;
    refused!(configure_error_handler(paused, 0), InvalidConfig);
    refused!(create_error_handler(beside::handler, 1 << 20), InvalidConfig);
    done!(create_error_handler(beside::handler, 8_192));
    refused!(create_error_handler(beside::handler, 8_192), NoAction);
    done!(configure_error_handler(paused, 0));
}

fn sampling() {
    refused!(create_sampling_port(name("nowhere"), 64, DESTINATION, 20 * MS), InvalidConfig);
    refused!(create_sampling_port(name("in"), 63, DESTINATION, 20 * MS), InvalidConfig);
    refused!(create_sampling_port(name("in"), 64, SOURCE, 20 * MS), InvalidConfig);
    refused!(create_sampling_port(name("in"), 64, DESTINATION, 0), InvalidConfig);
    refused!(create_sampling_port(name("receive"), 64, DESTINATION, 20 * MS), InvalidConfig);
    refused!(get_sampling_port_id(name("in")), InvalidConfig);
    let port = done!(create_sampling_port(name("in"), 64, DESTINATION, 20 * MS));
    refused!(create_sampling_port(name("in"), 64, DESTINATION, 20 * MS), NoAction);
    done!(create_sampling_port(name("out"), 64, SOURCE, 20 * MS));
    done!(create_sampling_port(name("silent"), 64, DESTINATION, 20 * MS));
    gives!(get_sampling_port_id(name("in")), |it| it == port);
    gives!(get_sampling_port_status(port), |it| (it.refresh_period, it.port_direction) == (20 * MS, DESTINATION));
    gives!(get_sampling_port_status(port), |it| it.last_msg_validity == Validity::Invalid);
}

fn queuing() {
    refused!(create_queuing_port(name("nowhere"), 64, 4, SOURCE, FIFO), InvalidConfig);
    refused!(create_queuing_port(name("send"), 65, 4, SOURCE, FIFO), InvalidConfig);
    refused!(create_queuing_port(name("send"), 64, 5, SOURCE, FIFO), InvalidConfig);
    refused!(create_queuing_port(name("send"), 64, 4, DESTINATION, FIFO), InvalidConfig);
    refused!(create_queuing_port(name("in"), 64, 4, DESTINATION, FIFO), InvalidConfig);
    refused!(get_queuing_port_id(name("send")), InvalidConfig);
    let send = done!(create_queuing_port(name("send"), 64, 4, SOURCE, FIFO));
    refused!(create_queuing_port(name("send"), 64, 4, SOURCE, FIFO), NoAction);
    done!(create_queuing_port(name("receive"), 64, 4, DESTINATION, FIFO));
    done!(create_queuing_port(name("quiet"), 64, 4, DESTINATION, FIFO));
    done!(create_queuing_port(name("stuck"), 64, 4, SOURCE, FIFO));
    gives!(get_queuing_port_id(name("send")), |it| it == send);
    gives!(get_queuing_port_status(send), |it| (it.port_direction, it.waiting_processes) == (SOURCE, 0));
}

fn buffers() {
    refused!(create_buffer(name("b"), 0, 2, FIFO), InvalidParam);
    refused!(create_buffer(name("b"), 16, 0, FIFO), InvalidParam);
    refused!(create_buffer(name("b"), 16, 513, FIFO), InvalidParam);
    refused!(create_buffer(name("b"), 8_000, 500, FIFO), InvalidConfig);
    refused!(get_buffer_id(name("b")), InvalidConfig);
    let buffer = done!(create_buffer(name("b"), 16, 2, FIFO));
    refused!(create_buffer(name("b"), 16, 2, FIFO), NoAction);
    gives!(get_buffer_id(name("b")), |it| it == buffer);
    gives!(get_buffer_status(buffer), |it| (it.nb_message, it.waiting_processes) == (0, 0));
}

fn blackboards() {
    refused!(create_blackboard(name("board"), 0), InvalidParam);
    refused!(create_blackboard(name("board"), 100_000), InvalidConfig);
    refused!(get_blackboard_id(name("board")), InvalidConfig);
    let board = done!(create_blackboard(name("board"), 16));
    refused!(create_blackboard(name("board"), 16), NoAction);
    gives!(get_blackboard_id(name("board")), |it| it == board);
    gives!(get_blackboard_status(board), |it| it.waiting_processes == 0);
    refused!(read_blackboard(board, 0, &mut [0; 16]), NotAvailable);
}

fn semaphores() {
    refused!(create_semaphore(name("s"), -1, 2, FIFO), InvalidParam);
    refused!(create_semaphore(name("s"), 3, 2, FIFO), InvalidParam);
    refused!(create_semaphore(name("s"), 0, 40_000, FIFO), InvalidParam);
    refused!(get_semaphore_id(name("s")), InvalidConfig);
    let semaphore = done!(create_semaphore(name("s"), 1, 2, FIFO));
    refused!(create_semaphore(name("s"), 1, 2, FIFO), NoAction);
    gives!(get_semaphore_id(name("s")), |it| it == semaphore);
    gives!(get_semaphore_status(semaphore), |it| (it.current_value, it.waiting_processes) == (1, 0));
    // There is room for sixteen.
    for number in 0..15 {
        done!(create_semaphore(numbered(number), 0, 1, FIFO));
    }
    refused!(create_semaphore(name("one more"), 0, 1, FIFO), InvalidConfig);
}

fn events() {
    refused!(get_event_id(name("e")), InvalidConfig);
    let event = done!(create_event(name("e")));
    refused!(create_event(name("e")), NoAction);
    gives!(get_event_id(name("e")), |it| it == event);
    gives!(get_event_status(event), |it| it.waiting_processes == 0);
    done!(create_event(name("go")));
    done!(create_event(name("pulse")));
    for number in 0..13 {
        done!(create_event(numbered(number)));
    }
    refused!(create_event(name("one more")), InvalidConfig);
}

/// The name of one of many.
fn numbered(number: u8) -> a653rs::bindings::ApexName {
    let mut other = name("other ");
    other[6] = b'a' + number;
    other
}
