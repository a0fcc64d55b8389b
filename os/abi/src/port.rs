//! Ports: what a component is told of the channels that its jobs write and read, and how their memory is laid out; and what it is told
//! of its partition.
//!
//! A channel has memory that its source alone writes and its destinations read, at the same address in all of them. A queuing channel
//! has a page beside it that its destination alone writes and the source reads: how many messages were taken. So nobody can damage
//! what another one has written, and nobody waits for anybody.

use crate::layout::{CHANNELS, CHANNEL_STRIDE, PAGE};
use crate::shared::Name;

/// A port of a component: its end of a channel. Written by the image builder.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct PortCard {
    /// Name, unique in the component.
    pub name: Name,
    /// Its channel's number.
    pub channel: u32,
    /// [`SAMPLING`] or [`QUEUING`].
    pub kind: u32,
    /// [`SOURCE`] or [`DESTINATION`]; in the root scheduler [`OBSERVED`].
    pub direction: u32,
    /// The longest message (bytes).
    pub size: u32,
    /// Queuing: the most messages that wait.
    pub depth: u32,
    /// In the root scheduler: the task that writes; of a mailbox the one that is at this end. Zero elsewhere.
    pub writer: u32,
    /// Sampling: a message that is older (ns) is not valid any more. Answers of a service: by when they come at the latest, counted from the
    /// release of the job that asked (ns).
    pub refresh: u64,
    /// What the channel is of a service: [`ServicePort::word`]; 0 if it is of none.
    pub service: u64,
}

/// What a channel is of a service: the requests of a client, or the answers to it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ServicePort {
    /// The service's number.
    pub service: u8,
    /// The client's number among those of the system.
    pub client: u8,
    /// Its place among the service's clients.
    pub place: u8,
    /// How many clients the service has.
    pub clients: u8,
    /// Whom it serves first: the number of a `tactus_record::RequestOrder`.
    pub order: u8,
    /// How many requests a job serves at most.
    pub requests: u8,
    /// Requests: by priority, in one of how many of the server's jobs one of the client is served at most. Answers: not used.
    pub every: u8,
    /// Whether an answer is seen when its time is over, and not before.
    pub shaped: bool,
}

impl ServicePort {
    /// In one word, never 0.
    pub const fn word(self) -> u64 {
        let flags = 0x80 | self.order | (self.shaped as u8) << 4;
        u64::from_le_bytes([self.service, self.client, self.place, self.clients, self.requests, self.every, 0, flags])
    }

    /// What the word says; nothing if it is 0.
    pub const fn of(word: u64) -> Option<ServicePort> {
        let [service, client, place, clients, requests, every, _, flags] = word.to_le_bytes();
        if flags & 0x80 == 0 {
            return None;
        }
        let (order, shaped) = (flags & 0xf, flags & 0x10 != 0);
        Some(ServicePort { service, client, place, clients, order, requests, every, shaped })
    }
}

/// [`PortCard::kind`]: the newest message is kept, and may be read many times.
pub const SAMPLING: u32 = 0;
/// [`PortCard::kind`]: messages wait in their order, and each is taken once.
pub const QUEUING: u32 = 1;
/// [`PortCard::direction`]: the component writes.
pub const SOURCE: u32 = 0;
/// [`PortCard::direction`]: the component reads.
pub const DESTINATION: u32 = 1;

/// [`PortCard::direction`]: the root scheduler sees what was written and taken, so that nobody's word is needed for it.
pub const OBSERVED: u32 = 2;
/// [`PortCard::direction`]: as [`OBSERVED`], of a mailbox to which a task of this kernel, [`PortCard::writer`], sends. The mailbox's number is
/// [`PortCard::refresh`].
pub const OBSERVED_SENDING: u32 = 3;
/// The same of a mailbox from which a task of this kernel takes.
pub const OBSERVED_TAKING: u32 = 4;
/// [`ProcessCard::releases`]: by time, and each has its job.
pub const KEPT: u32 = 0;
/// [`ProcessCard::releases`]: by time, and none has a job where the job before it is unfinished.
pub const SKIPPED: u32 = 1;
/// [`ProcessCard::releases`]: by something else than time.
pub const ARRIVALS: u32 = 2;

/// Words before the first slot. Word 0 counts the messages that were written, word 1 those for which a queue had no room.
pub const HEADER_WORDS: usize = 8;
/// Words that a queue's destination writes: how many messages it has taken, and how often one was not whole, or gone.
pub const TAKEN_WORDS: usize = 2;
/// Slots of a sampling channel: a reader is disturbed only if three more messages are written while it reads.
pub const SAMPLING_SLOTS: usize = 4;
/// Words of a slot before the message: the number of the message, 0 while it is written; when it was written (ns); its length (bytes).
pub const SLOT_HEADER_WORDS: usize = 3;

impl PortCard {
    /// Slots of the channel.
    pub const fn slots(&self) -> usize {
        if self.kind == SAMPLING {
            SAMPLING_SLOTS
        } else {
            self.depth as usize
        }
    }

    /// Words of a slot.
    pub const fn slot_words(&self) -> usize {
        SLOT_HEADER_WORDS + self.size.div_ceil(8) as usize
    }

    /// Words of the source's memory.
    pub const fn words(&self) -> usize {
        HEADER_WORDS + self.slots() * self.slot_words()
    }

    /// Where the source's memory lies.
    pub const fn address(&self) -> u64 {
        CHANNELS + self.channel as u64 * CHANNEL_STRIDE
    }

    /// Where the page of a queuing channel's destination lies.
    pub const fn taken_address(&self) -> u64 {
        self.address() + CHANNEL_STRIDE - PAGE
    }

    /// Whether the memory ends before the next page that has another use.
    pub const fn fits(&self) -> bool {
        self.words() as u64 * 8 <= CHANNEL_STRIDE - PAGE
    }
}

/// A partition, for the components that are its own. Written by the image builder; [`ProcessCard`]s follow it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct PartitionCard {
    /// Name.
    pub name: Name,
    /// Its number, in the order of the system file.
    pub number: u32,
    /// On how many cores it has windows.
    pub cores: u32,
    /// It has `duration` in each of these (ns).
    pub period: u64,
    /// See `period` (ns).
    pub duration: u64,
    /// Not 0 if it begins with a warm start when it was restarted.
    pub warm: u64,
}

/// A task whose jobs run in the component. Written by the image builder.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct ProcessCard {
    /// Name of the task.
    pub name: Name,
    /// The task's number.
    pub task: u32,
    /// Its core.
    pub core: u32,
    /// Its priority; a larger one is more urgent. 0 where the partition's order is another one.
    pub priority: u32,
    /// How its jobs are released: [`KEPT`], [`SKIPPED`] or [`ARRIVALS`].
    pub releases: u32,
    /// From one release to the next (ns).
    pub period: u64,
    /// The execution time that the file gives it (ns).
    pub capacity: u64,
    /// Relative deadline (ns).
    pub deadline: u64,
    /// Its first release (ns since the start of the run).
    pub offset: u64,
}
