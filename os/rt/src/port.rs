//! Ports: a component's ends of the channels that the system file declares, as in ARINC 653.
//!
//! ```ignore
//! let attitude = SamplingSource::open("attitude")?;
//! attitude.write(&bytes)?;                                // in another component: SamplingDestination::open("attitude")?.read(&mut bytes)?
//! ```
//!
//! No call enters the kernel, and nobody waits: a source writes memory of its own, a destination reads it and trusts nothing that
//! stands there. A handle may be copied; but one thread at a time writes by a source, or takes from a queue.

use crate::{cards, clock};
use core::sync::atomic::{AtomicU64, Ordering};
use tactus_abi::port::{
    PortCard, ServicePort, DESTINATION, HEADER_WORDS, OBSERVED, OBSERVED_SENDING, OBSERVED_TAKING, QUEUING, SAMPLING,
    SAMPLING_SLOTS, SLOT_HEADER_WORDS, SOURCE, TAKEN_WORDS,
};
use tactus_sync::{MessageQueue, MessageSlots, Untaken};
use tactus_time::{Duration, Instant};

const _: () = assert!(HEADER_WORDS == tactus_sync::HEADER_WORDS && SLOT_HEADER_WORDS == tactus_sync::SLOT_HEADER_WORDS);

/// Why a message was not written or read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PortError {
    /// The component has no port of this name, kind and direction.
    NoSuchPort,
    /// The message is longer than the channel's messages, or than the memory that was given for it.
    TooLong,
    /// As many messages wait as the channel holds.
    Full,
    /// The source wrote again and again while this one read; or it writes what makes no message.
    Unsettled,
}

/// A channel as the root scheduler sees it: what was written and taken, and nothing of what that says.
#[derive(Clone, Copy, Debug)]
pub struct ObservedPort(&'static PortCard);

impl ObservedPort {
    /// All that this component observes.
    pub fn all() -> impl Iterator<Item = ObservedPort> {
        cards::ports().iter().filter(|card| card.direction == OBSERVED).map(ObservedPort)
    }

    /// The channel's number.
    pub fn channel(self) -> u32 {
        self.0.channel
    }

    /// The task that writes.
    pub fn writer(self) -> u32 {
        self.0.writer
    }

    /// Whether each message takes the place of the one before.
    pub fn is_sampling(self) -> bool {
        self.0.kind == SAMPLING
    }

    /// What it is of a service.
    pub fn service(self) -> Option<ServicePort> {
        ServicePort::of(self.0.service)
    }

    /// How many messages were written, by the writer's count.
    #[inline]
    pub fn written(self) -> u64 {
        memory(self.0).first().map_or(0, |count| count.load(Ordering::Relaxed))
    }

    /// Whether a queue holds as many messages as it can, so that no more can be written.
    pub fn is_full(self) -> bool {
        self.0.kind == QUEUING && QueuingSource(self.0).waiting() >= self.0.depth as usize
    }
}

/// An end of a mailbox as the root scheduler of its sandbox sees it: what its own task has sent or taken, and nothing that the other sandbox says.
#[derive(Clone, Copy, Debug)]
pub struct ObservedMailbox(&'static PortCard);

impl ObservedMailbox {
    /// All that this component observes.
    pub fn all() -> impl Iterator<Item = ObservedMailbox> {
        let ends = [OBSERVED_SENDING, OBSERVED_TAKING];
        cards::ports().iter().filter(move |card| ends.contains(&card.direction)).map(ObservedMailbox)
    }

    /// The mailbox's number in the file of the whole.
    pub fn number(self) -> u64 {
        self.0.refresh
    }

    /// The task at this end.
    pub fn task(self) -> u32 {
        self.0.writer
    }

    /// Whether it sends.
    pub fn sends(self) -> bool {
        self.0.direction == OBSERVED_SENDING
    }

    /// How many messages the task has sent, and how many found no room; or how many it has taken, and how often one was not whole or gone. By its own
    /// counts.
    pub fn counts(self) -> [u64; 2] {
        let (queue, [refused, unsound]) = (queue(self.0), queue(self.0).refused_and_unsound());
        match self.sends() {
            true => [queue.slots.count(Ordering::Relaxed), refused],
            false => [taken(self.0)[0].load(Ordering::Relaxed), unsound],
        }
    }
}

/// How often a reader begins again. A source that writes once in a while disturbs nobody twice.
const ATTEMPTS: usize = 8;

fn open(name: &str, kind: u32, direction: u32) -> Result<&'static PortCard, PortError> {
    let card = cards::port(name).filter(|card| (card.kind, card.direction) == (kind, direction));
    card.ok_or(PortError::NoSuchPort)
}

/// What the source writes.
#[inline]
fn memory(card: &PortCard) -> &'static [AtomicU64] {
    // SAFETY: the image builder maps so many words there for each port whose card it makes, for the whole run; in a destination
    // read-only, where nothing but plain loads of eight bytes comes of it.
    unsafe { core::slice::from_raw_parts(card.address() as *const AtomicU64, card.words()) }
}

/// What a queuing channel's destination writes: how many messages it has taken, and what went wrong.
#[inline]
fn taken(card: &PortCard) -> &'static [AtomicU64] {
    // SAFETY: as in `memory`; the first words of the page that the destination writes.
    unsafe { core::slice::from_raw_parts(card.taken_address() as *const AtomicU64, TAKEN_WORDS) }
}

#[inline]
fn slots(card: &PortCard) -> MessageSlots<'static> {
    MessageSlots { words: memory(card), slot: card.slot_words(), size: card.size }
}

#[inline]
fn queue(card: &PortCard) -> MessageQueue<'static> {
    MessageQueue { slots: slots(card), taken: taken(card), depth: card.depth }
}

impl From<Untaken> for PortError {
    fn from(why: Untaken) -> PortError {
        match why {
            Untaken::TooLong => PortError::TooLong,
            Untaken::Unsound => PortError::Unsettled,
        }
    }
}

/// The source of a sampling channel: each message takes the place of the one before.
#[derive(Clone, Copy, Debug)]
pub struct SamplingSource(&'static PortCard);

impl SamplingSource {
    /// The port of a card of this kind and direction.
    #[cfg(feature = "apex")]
    pub(crate) fn of(card: &'static PortCard) -> SamplingSource {
        SamplingSource(card)
    }

    /// The port of this name.
    ///
    /// # Errors
    /// [`PortError::NoSuchPort`]
    pub fn open(name: &str) -> Result<SamplingSource, PortError> {
        open(name, SAMPLING, SOURCE).map(SamplingSource)
    }

    /// Writes a message.
    ///
    /// # Errors
    /// [`PortError::TooLong`]
    #[inline]
    pub fn write(self, message: &[u8]) -> Result<(), PortError> {
        if message.len() > self.0.size as usize {
            return Err(PortError::TooLong);
        }
        let slots = slots(self.0);
        let count = slots.count(Ordering::Relaxed).wrapping_add(1);
        slots.write(count as usize % SAMPLING_SLOTS, count, clock::now().as_nanos(), ([], message));
        Ok(())
    }
}

/// A message of a sampling channel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sample {
    /// Its length (bytes).
    pub length: usize,
    /// When it was written.
    pub written: Instant,
    /// Whether that is no longer ago than the channel's refresh period.
    pub valid: bool,
}

/// A destination of a sampling channel.
#[derive(Clone, Copy, Debug)]
pub struct SamplingDestination(&'static PortCard);

impl SamplingDestination {
    /// The port of a card of this kind and direction.
    #[cfg(feature = "apex")]
    pub(crate) fn of(card: &'static PortCard) -> SamplingDestination {
        SamplingDestination(card)
    }

    /// The port of this name.
    ///
    /// # Errors
    /// [`PortError::NoSuchPort`]
    pub fn open(name: &str) -> Result<SamplingDestination, PortError> {
        open(name, SAMPLING, DESTINATION).map(SamplingDestination)
    }

    /// Reads the newest message; nothing if there is none yet.
    ///
    /// # Errors
    /// [`PortError::TooLong`] if it is longer than the memory given, [`PortError::Unsettled`]
    #[inline]
    pub fn read(self, message: &mut [u8]) -> Result<Option<Sample>, PortError> {
        for _ in 0..ATTEMPTS {
            let count = slots(self.0).count(Ordering::Acquire);
            if count == 0 {
                return Ok(None);
            }
            let read = slots(self.0).read(count as usize % SAMPLING_SLOTS, count, (&mut [], message))?;
            if let Some((length, written)) = read.map(|(length, at)| (length, Instant::from_nanos(at))) {
                // Who claims to have written in time to come has written nothing that is valid.
                let age = clock::now().as_nanos().checked_sub(written.as_nanos());
                return Ok(Some(Sample { length, written, valid: age.is_some_and(|age| age <= self.0.refresh) }));
            }
        }
        Err(PortError::Unsettled)
    }

    /// For how long a message is valid.
    pub fn refresh_period(self) -> Duration {
        Duration::from_nanos(self.0.refresh)
    }
}

/// The source of a queuing channel.
#[derive(Clone, Copy, Debug)]
pub struct QueuingSource(&'static PortCard);

impl QueuingSource {
    /// The port of a card of this kind and direction.
    pub(crate) fn of(card: &'static PortCard) -> QueuingSource {
        QueuingSource(card)
    }

    /// The port of this name.
    ///
    /// # Errors
    /// [`PortError::NoSuchPort`]
    pub fn open(name: &str) -> Result<QueuingSource, PortError> {
        open(name, QUEUING, SOURCE).map(QueuingSource)
    }

    /// How many messages wait.
    pub fn waiting(self) -> usize {
        queue(self.0).waiting_and_sent().0 as usize
    }

    /// Sends a message.
    ///
    /// # Errors
    /// [`PortError::TooLong`], [`PortError::Full`]
    #[inline]
    pub fn send(self, message: &[u8]) -> Result<(), PortError> {
        self.put([], message)
    }

    /// Sends a message behind a word of its own.
    pub(crate) fn send_with(self, head: u64, message: &[u8]) -> Result<(), PortError> {
        self.put([head], message)
    }

    #[inline]
    fn put<const HEAD: usize>(self, head: [u64; HEAD], message: &[u8]) -> Result<(), PortError> {
        if 8 * HEAD + message.len() > self.0.size as usize {
            return Err(PortError::TooLong);
        }
        match queue(self.0).send(|| clock::now().as_nanos(), (head, message)) {
            true => Ok(()),
            false => Err(PortError::Full),
        }
    }
}

/// The destination of a queuing channel.
#[derive(Clone, Copy, Debug)]
pub struct QueuingDestination(&'static PortCard);

impl QueuingDestination {
    /// The port of a card of this kind and direction.
    pub(crate) fn of(card: &'static PortCard) -> QueuingDestination {
        QueuingDestination(card)
    }

    /// The port of this name.
    ///
    /// # Errors
    /// [`PortError::NoSuchPort`]
    pub fn open(name: &str) -> Result<QueuingDestination, PortError> {
        open(name, QUEUING, DESTINATION).map(QueuingDestination)
    }

    /// How many messages wait.
    pub fn waiting(self) -> usize {
        queue(self.0).waiting_and_taken().0 as usize
    }

    /// Takes the message that has waited longest: its length; nothing if none waits.
    ///
    /// # Errors
    /// [`PortError::TooLong`] if it is longer than the memory given, and then it waits on; [`PortError::Unsettled`] if the source has
    /// written something that makes no message there, which then is gone.
    #[inline]
    pub fn receive(self, message: &mut [u8]) -> Result<Option<usize>, PortError> {
        self.take(&mut [], message)
    }

    /// Takes one that stands behind a word of its own: that word, and the length of the message.
    pub(crate) fn receive_with(self, message: &mut [u8]) -> Result<Option<(u64, usize)>, PortError> {
        let mut head = [0];
        let length = self.take(&mut head, message)?;
        Ok(length.map(|length| (head[0], length)))
    }

    #[inline]
    fn take<const HEAD: usize>(self, head: &mut [u64; HEAD], message: &mut [u8]) -> Result<Option<usize>, PortError> {
        Ok(queue(self.0).take(head, message)?)
    }

    /// Leaves out all messages that wait.
    pub fn clear(self) {
        let (waiting, before) = queue(self.0).waiting_and_taken();
        taken(self.0)[0].store(before.wrapping_add(waiting), Ordering::Release);
    }
}
