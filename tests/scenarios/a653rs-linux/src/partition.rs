//! The hypervisor and the logger.

use a653rs::bindings::*;
use a653rs::prelude::{Partition, PartitionExt};
use core::fmt::Write;
use tactus_rt::abi::shared::name_text;
use tactus_rt::apex::Apex;
use tactus_rt::{cards, Console};

/// The most stack of a process (bytes): what components of a user's own have.
const STACK: u32 = 16 << 10;
/// The longest message (bytes), the standard's.
const MESSAGE: u32 = Apex::SYSTEM_LIMIT_MESSAGE_SIZE;

/// The hypervisor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ApexLinuxPartition;

/// Writes what is logged to the console.
pub struct ApexLogger;

impl log::Log for ApexLogger {
    fn enabled(&self, _: &log::Metadata) -> bool {
        true
    }
    fn log(&self, record: &log::Record) {
        // Where there is no console, nobody reads it.
        let _ = writeln!(Console, "{} {}", record.level(), record.args());
    }
    fn flush(&self) {}
}

/// Starts the partition.
pub fn start<P: Partition<ApexLinuxPartition>>(partition: P) -> ! {
    // A partition that begins anew has its logger.
    let _ = log::set_logger(&ApexLogger);
    log::set_max_level(log::LevelFilter::Trace);
    partition.run()
}

impl ApexLimits for ApexLinuxPartition {
    const SYSTEM_LIMIT_MESSAGE_SIZE: MessageSize = MESSAGE;
}

impl ApexPartitionP4 for ApexLinuxPartition {
    fn get_partition_status() -> ApexPartitionStatus {
        Apex::get_partition_status()
    }
    fn set_partition_mode(operating_mode: OperatingMode) -> Result<(), ErrorReturnCode> {
        Apex::set_partition_mode(operating_mode)
    }
}

impl ApexProcessP4 for ApexLinuxPartition {
    fn create_process(attributes: &ApexProcessAttribute) -> Result<ProcessId, ErrorReturnCode> {
        let mut attributes = attributes.clone();
        let length = attributes.name.iter().position(|byte| *byte == 0).unwrap_or(attributes.name.len());
        let card = cards::processes()
            .iter()
            .find(|card| attributes.name[..length].starts_with(name_text(&card.name).as_bytes()));
        if let (0, Some(card)) = (attributes.period, card) {
            attributes.period = card.period as i64;
        }
        attributes.stack_size = attributes.stack_size.min(STACK);
        Apex::create_process(&attributes)
    }
    fn start(process_id: ProcessId) -> Result<(), ErrorReturnCode> {
        Apex::start(process_id)
    }
}

impl ApexTimeP4 for ApexLinuxPartition {
    fn periodic_wait() -> Result<(), ErrorReturnCode> {
        Apex::periodic_wait()
    }
    fn get_time() -> ApexSystemTime {
        Apex::get_time()
    }
}

impl ApexErrorP4 for ApexLinuxPartition {
    fn report_application_message(message: &[ApexByte]) -> Result<(), ErrorReturnCode> {
        Apex::report_application_message(message)
    }
    fn raise_application_error(error_code: ErrorCode, message: &[ApexByte]) -> Result<(), ErrorReturnCode> {
        Apex::raise_application_error(error_code, message)
    }
}

impl ApexSamplingPortP4 for ApexLinuxPartition {
    fn create_sampling_port(
        sampling_port_name: SamplingPortName,
        max_message_size: MessageSize,
        port_direction: PortDirection,
        refresh_period: ApexSystemTime,
    ) -> Result<SamplingPortId, ErrorReturnCode> {
        Apex::create_sampling_port(sampling_port_name, max_message_size.min(MESSAGE), port_direction, refresh_period)
    }
    fn write_sampling_message(sampling_port_id: SamplingPortId, message: &[ApexByte]) -> Result<(), ErrorReturnCode> {
        Apex::write_sampling_message(sampling_port_id, message)
    }
    unsafe fn read_sampling_message(
        sampling_port_id: SamplingPortId,
        message: &mut [ApexByte],
    ) -> Result<(Validity, MessageSize), ErrorReturnCode> {
        // SAFETY: the caller's promise is the same.
        unsafe { Apex::read_sampling_message(sampling_port_id, message) }
    }
}

impl ApexQueuingPortP4 for ApexLinuxPartition {
    fn create_queuing_port(
        queuing_port_name: QueuingPortName,
        max_message_size: MessageSize,
        max_nb_message: MessageRange,
        port_direction: PortDirection,
        queuing_discipline: QueuingDiscipline,
    ) -> Result<QueuingPortId, ErrorReturnCode> {
        let size = max_message_size.min(MESSAGE);
        Apex::create_queuing_port(queuing_port_name, size, max_nb_message, port_direction, queuing_discipline)
    }
    fn send_queuing_message(
        queuing_port_id: QueuingPortId,
        message: &[ApexByte],
        _time_out: ApexSystemTime,
    ) -> Result<(), ErrorReturnCode> {
        Apex::send_queuing_message(queuing_port_id, message, 0)
    }
    unsafe fn receive_queuing_message(
        queuing_port_id: QueuingPortId,
        _time_out: ApexSystemTime,
        message: &mut [ApexByte],
    ) -> Result<(MessageSize, QueueOverflow), ErrorReturnCode> {
        // SAFETY: the caller's promise is the same.
        unsafe { Apex::receive_queuing_message(queuing_port_id, 0, message) }
    }
    fn get_queuing_port_status(queuing_port_id: QueuingPortId) -> Result<QueuingPortStatus, ErrorReturnCode> {
        Apex::get_queuing_port_status(queuing_port_id)
    }
    fn clear_queuing_port(queuing_port_id: QueuingPortId) -> Result<(), ErrorReturnCode> {
        Apex::clear_queuing_port(queuing_port_id)
    }
}
