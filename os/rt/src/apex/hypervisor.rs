//! The hypervisor as `a653rs` has it, and how much of everything a partition may have.

use a653rs::bindings::{ApexLimits, ApexUnsigned, MessageRange, MessageSize};

/// The most processes of a partition.
pub(super) const MOST_PROCESSES: usize = 32;
/// The most ports of a component.
pub(super) const MOST_PORTS: usize = 64;
/// The most buffers, blackboards, semaphores and events, of each.
pub(super) const MOST_OBJECTS: usize = 16;

/// The hypervisor: all traits of `a653rs` are implemented for this type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Apex;

impl ApexLimits for Apex {
    const SYSTEM_LIMIT_NUMBER_OF_PARTITIONS: ApexUnsigned = 64;
    const SYSTEM_LIMIT_NUMBER_OF_MESSAGES: MessageRange = 512;
    const SYSTEM_LIMIT_MESSAGE_SIZE: MessageSize = 8192;
    const SYSTEM_LIMIT_NUMBER_OF_PROCESSES: ApexUnsigned = MOST_PROCESSES as ApexUnsigned;
    const SYSTEM_LIMIT_NUMBER_OF_SAMPLING_PORTS: ApexUnsigned = MOST_PORTS as ApexUnsigned;
    const SYSTEM_LIMIT_NUMBER_OF_QUEUING_PORTS: ApexUnsigned = MOST_PORTS as ApexUnsigned;
    const SYSTEM_LIMIT_NUMBER_OF_BUFFERS: ApexUnsigned = MOST_OBJECTS as ApexUnsigned;
    const SYSTEM_LIMIT_NUMBER_OF_BLACKBOARDS: ApexUnsigned = MOST_OBJECTS as ApexUnsigned;
    const SYSTEM_LIMIT_NUMBER_OF_SEMAPHORES: ApexUnsigned = MOST_OBJECTS as ApexUnsigned;
    const SYSTEM_LIMIT_NUMBER_OF_EVENTS: ApexUnsigned = MOST_OBJECTS as ApexUnsigned;
    const SYSTEM_LIMIT_NUMBER_OF_MUTEXES: ApexUnsigned = 0;
}
