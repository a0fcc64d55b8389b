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
use core::sync::atomic::{fence, AtomicU64, Ordering};
use tactus_abi::port::{
    PortCard, ServicePort, DESTINATION, HEADER_WORDS, OBSERVED, OBSERVED_SENDING, OBSERVED_TAKING, QUEUING,
    REFUSED_WORD, SAMPLING, SAMPLING_SLOTS, SLOT_HEADER_WORDS, SOURCE, UNSOUND_WORD,
};
use tactus_time::{Duration, Instant};

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
        if !self.sends() {
            return [taken(self.0), unsound(self.0)].map(|count| count.load(Ordering::Relaxed));
        }
        let word = |n: usize| memory(self.0).get(n).map_or(0, |count| count.load(Ordering::Relaxed));
        [word(0), word(REFUSED_WORD)]
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

/// How many messages a queuing channel's destination has taken.
#[inline]
fn taken(card: &PortCard) -> &'static AtomicU64 {
    // SAFETY: as in `memory`; the first word of the page that the destination writes.
    unsafe { &*(card.taken_address() as *const AtomicU64) }
}

/// How many messages a queuing channel's destination found that were not whole, or gone: behind the count of those taken.
#[cold]
fn unsound(card: &PortCard) -> &'static AtomicU64 {
    // SAFETY: as in `taken`; the second word of that page.
    unsafe { &*(card.taken_address() as *const AtomicU64).add(UNSOUND_WORD) }
}

/// Counts one, which its destination alone does.
#[cold]
fn note_unsound(card: &PortCard) {
    let count = unsound(card);
    count.store(count.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
}

/// The header and the message of a slot.
#[inline]
fn slot(card: &PortCard, words: &'static [AtomicU64], number: usize) -> (&'static [AtomicU64], &'static [AtomicU64]) {
    let length = card.slot_words();
    let from = HEADER_WORDS + number * length;
    words.get(from..from + length).map_or((&[], &[]), |slot| slot.split_at(SLOT_HEADER_WORDS))
}

#[inline]
pub(crate) fn put(words: &[AtomicU64], message: &[u8]) {
    let whole = message.chunks_exact(8);
    let (rest, count) = (whole.remainder(), whole.len());
    for (word, bytes) in words.iter().zip(whole) {
        word.store(u64::from_le_bytes(bytes.try_into().unwrap_or_default()), Ordering::Relaxed);
    }
    if let (false, Some(word)) = (rest.is_empty(), words.get(count)) {
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        word.store(u64::from_le_bytes(last), Ordering::Relaxed);
    }
}

#[inline]
pub(crate) fn get(words: &[AtomicU64], message: &mut [u8]) {
    let mut whole = message.chunks_exact_mut(8);
    let mut words = words.iter();
    for (bytes, word) in whole.by_ref().zip(words.by_ref()) {
        bytes.copy_from_slice(&word.load(Ordering::Relaxed).to_le_bytes());
    }
    if let (rest @ [_, ..], Some(word)) = (whole.into_remainder(), words.next()) {
        let length = rest.len();
        rest.copy_from_slice(&word.load(Ordering::Relaxed).to_le_bytes()[..length]);
    }
}

/// Writes a message into a slot, with its number, and then the count of messages.
#[inline]
fn write<const HEAD: usize>(card: &PortCard, number: usize, count: u64, (head, message): ([u64; HEAD], &[u8])) {
    let words = memory(card);
    let ([sequence, time, length], body) = slot(card, words, number) else { return };
    sequence.store(0, Ordering::Relaxed);
    fence(Ordering::Release);
    time.store(clock::now().as_nanos(), Ordering::Relaxed);
    length.store((8 * HEAD + message.len()) as u64, Ordering::Relaxed);
    for (word, head) in body.iter().zip(head) {
        word.store(head, Ordering::Relaxed);
    }
    put(body.get(HEAD..).unwrap_or_default(), message);
    sequence.store(count, Ordering::Release);
    words[0].store(count, Ordering::Release);
}

/// Reads the message with this number out of a slot: its length, and when it was written. Nothing if the slot holds another one, or did
/// before all was read.
#[inline]
fn read<const HEAD: usize>(
    card: &PortCard,
    number: usize,
    count: u64,
    (head, message): (&mut [u64; HEAD], &mut [u8]),
) -> Result<Option<(usize, Instant)>, PortError> {
    let ([sequence, time, length], body) = slot(card, memory(card), number) else { return Ok(None) };
    if sequence.load(Ordering::Acquire) != count {
        return Ok(None);
    }
    let (time, length) = (time.load(Ordering::Relaxed), length.load(Ordering::Relaxed));
    let into = usize::try_from(length).ok().filter(|length| *length <= card.size as usize);
    let into = into.and_then(|length| message.get_mut(..length.checked_sub(8 * HEAD)?));
    let read = into.map(|into| {
        for (head, word) in head.iter_mut().zip(body) {
            *head = word.load(Ordering::Relaxed);
        }
        get(body.get(HEAD..).unwrap_or_default(), into);
        into.len()
    });
    fence(Ordering::Acquire);
    if sequence.load(Ordering::Relaxed) != count {
        return Ok(None);
    }
    match read {
        Some(length) => Ok(Some((length, Instant::from_nanos(time)))),
        None if length <= u64::from(card.size) => Err(PortError::TooLong),
        None => Err(PortError::Unsettled),
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
        let count = memory(self.0)[0].load(Ordering::Relaxed).wrapping_add(1);
        write(self.0, count as usize % SAMPLING_SLOTS, count, ([], message));
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
            let count = memory(self.0)[0].load(Ordering::Acquire);
            if count == 0 {
                return Ok(None);
            }
            if let Some((length, written)) = read(self.0, count as usize % SAMPLING_SLOTS, count, (&mut [], message))? {
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

    /// How many messages wait, and the count of those that were sent.
    #[inline]
    fn waiting_and_sent(self) -> (u64, u64) {
        let sent = memory(self.0)[0].load(Ordering::Relaxed);
        let waiting = sent.wrapping_sub(taken(self.0).load(Ordering::Acquire));
        // One of the two has begun anew: there is room when the destination has looked.
        (waiting.min(self.0.depth.into()), sent)
    }

    /// How many messages wait.
    pub fn waiting(self) -> usize {
        self.waiting_and_sent().0 as usize
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

    /// Counts a message that finds no room.
    #[cold]
    fn refused(self) -> PortError {
        let count = &memory(self.0)[REFUSED_WORD];
        count.store(count.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
        PortError::Full
    }

    #[inline]
    fn put<const HEAD: usize>(self, head: [u64; HEAD], message: &[u8]) -> Result<(), PortError> {
        if 8 * HEAD + message.len() > self.0.size as usize {
            return Err(PortError::TooLong);
        }
        let (waiting, sent) = self.waiting_and_sent();
        if waiting >= self.0.depth.into() {
            return Err(self.refused());
        }
        let number = (sent % u64::from(self.0.depth.max(1))) as usize;
        write(self.0, number, sent.wrapping_add(1), (head, message));
        Ok(())
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

    /// How many messages wait, and the count of those that were taken. If source or destination have begun anew, all that waited is
    /// gone.
    #[inline]
    fn waiting_and_taken(self) -> (u64, u64) {
        let sent = memory(self.0)[0].load(Ordering::Acquire);
        let before = taken(self.0).load(Ordering::Relaxed);
        let waiting = sent.wrapping_sub(before);
        if waiting <= self.0.depth.into() {
            return (waiting, before);
        }
        note_unsound(self.0);
        taken(self.0).store(sent, Ordering::Release);
        (0, sent)
    }

    /// How many messages wait.
    pub fn waiting(self) -> usize {
        self.waiting_and_taken().0 as usize
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
        let (waiting, before) = self.waiting_and_taken();
        if waiting == 0 {
            return Ok(None);
        }
        let number = (before % u64::from(self.0.depth.max(1))) as usize;
        let result = match read(self.0, number, before.wrapping_add(1), (head, message)) {
            Err(PortError::TooLong) => return Err(PortError::TooLong),
            Ok(Some((length, _))) => Ok(Some(length)),
            Ok(None) | Err(_) => {
                note_unsound(self.0);
                Err(PortError::Unsettled)
            }
        };
        taken(self.0).store(before.wrapping_add(1), Ordering::Release);
        result
    }

    /// Leaves out all messages that wait.
    pub fn clear(self) {
        let (waiting, before) = self.waiting_and_taken();
        taken(self.0).store(before.wrapping_add(waiting), Ordering::Release);
    }
}
