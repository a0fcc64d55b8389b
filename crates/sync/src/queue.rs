//! Messages between two who do not trust each other: a source that alone writes one piece of memory, and destinations that read it and trust
//! nothing that stands there. Channels have it within a kernel, and mailboxes between two.
//!
//! A slot's number stands in its first word, and is 0 while it is written; then come when it was written, its length, and the message. Word 0 of all
//! counts the messages. Of a queue the destination alone writes one more piece: how many it has taken. Nobody waits for anybody.

use crate::facade::{fence, AtomicU64, Ordering};

/// Words before the first slot. Word 0 counts the messages that were written, word 1 those for which a queue had no room.
pub const HEADER_WORDS: usize = 8;
/// Words of a slot before the message: its number, when it was written, its length.
pub const SLOT_HEADER_WORDS: usize = 3;
/// The word behind a count that counts what went wrong: behind that of messages those without room, behind that of messages taken those that were
/// not whole, or gone.
const BESIDE: usize = 1;

/// Why a message was not taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Untaken {
    /// It is longer than the memory that was given for it, and waits on.
    TooLong,
    /// What stands there makes no message.
    Unsound,
}

/// The header and the message of a slot of this many words.
#[inline]
fn slot(words: &[AtomicU64], length: usize, number: usize) -> (&[AtomicU64], &[AtomicU64]) {
    let from = HEADER_WORDS + number * length;
    words.get(from..from + length).map_or((&[], &[]), |slot| slot.split_at(SLOT_HEADER_WORDS))
}

/// Copies bytes into words.
#[inline]
pub fn put(words: &[AtomicU64], message: &[u8]) {
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

/// Copies words into bytes.
#[inline]
pub fn get(words: &[AtomicU64], message: &mut [u8]) {
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

/// The slots that a source writes.
#[derive(Clone, Copy)]
pub struct MessageSlots<'m> {
    /// All of its memory.
    pub words: &'m [AtomicU64],
    /// Words of a slot.
    pub slot: usize,
    /// The longest message (bytes).
    pub size: u32,
}

impl<'m> MessageSlots<'m> {
    /// How many messages were written.
    #[inline]
    pub fn count(self, order: Ordering) -> u64 {
        self.words[0].load(order)
    }

    /// Writes a message with the number `count` into a slot, at time `now`, and then that count.
    #[inline]
    pub fn write<const HEAD: usize>(self, number: usize, count: u64, now: u64, (head, message): ([u64; HEAD], &[u8])) {
        let ([sequence, time, length], body) = slot(self.words, self.slot, number) else { return };
        sequence.store(0, Ordering::Relaxed);
        fence(Ordering::Release);
        time.store(now, Ordering::Relaxed);
        length.store((8 * HEAD + message.len()) as u64, Ordering::Relaxed);
        for (word, head) in body.iter().zip(head) {
            word.store(head, Ordering::Relaxed);
        }
        put(body.get(HEAD..).unwrap_or_default(), message);
        sequence.store(count, Ordering::Release);
        self.words[0].store(count, Ordering::Release);
    }

    /// Reads the message with this number out of a slot: its length, and when it was written. Nothing if the slot holds another one, or did
    /// before all was read.
    ///
    /// # Errors
    /// [`Untaken`]
    #[inline]
    pub fn read<const HEAD: usize>(
        self,
        number: usize,
        count: u64,
        (head, message): (&mut [u64; HEAD], &mut [u8]),
    ) -> Result<Option<(usize, u64)>, Untaken> {
        let ([sequence, time, length], body) = slot(self.words, self.slot, number) else { return Ok(None) };
        if sequence.load(Ordering::Acquire) != count {
            return Ok(None);
        }
        let (time, length) = (time.load(Ordering::Relaxed), length.load(Ordering::Relaxed));
        let behind = usize::try_from(length).ok().filter(|length| *length <= self.size as usize);
        let behind = behind.and_then(|length| length.checked_sub(8 * HEAD));
        let into = behind.and_then(|length| message.get_mut(..length));
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
        match (read, behind) {
            (Some(length), _) => Ok(Some((length, time))),
            (None, Some(_)) => Err(Untaken::TooLong),
            // Longer than a message may be, or shorter than what stands before each.
            (None, None) => Err(Untaken::Unsound),
        }
    }
}

/// A queue: messages wait in their order, and each is taken once.
#[derive(Clone, Copy)]
pub struct MessageQueue<'m> {
    /// What the source writes.
    pub slots: MessageSlots<'m>,
    /// What the destination writes: how many it has taken, and how often one was not whole or gone.
    pub taken: &'m [AtomicU64],
    /// How many messages have room.
    pub depth: u32,
}

impl MessageQueue<'_> {
    /// As the source sees it: how many messages wait, and the count of those that were sent.
    #[inline]
    pub fn waiting_and_sent(self) -> (u64, u64) {
        let sent = self.slots.count(Ordering::Relaxed);
        let waiting = sent.wrapping_sub(self.taken[0].load(Ordering::Acquire));
        // One of the two has restarted: there is room when the destination has looked.
        (waiting.min(self.depth.into()), sent)
    }

    /// Sends a message; whether there was room. Its source alone does so.
    #[inline]
    pub fn send<const HEAD: usize>(self, now: impl FnOnce() -> u64, message: ([u64; HEAD], &[u8])) -> bool {
        let (waiting, sent) = self.waiting_and_sent();
        if waiting >= self.depth.into() {
            add(self.slots.words);
            return false;
        }
        let number = (sent % u64::from(self.depth.max(1))) as usize;
        self.slots.write(number, sent.wrapping_add(1), now(), message);
        true
    }

    /// As the destination sees it: how many messages wait, and the count of those that were taken. If source or destination have restarted, all that
    /// waited is gone.
    #[inline]
    pub fn waiting_and_taken(self) -> (u64, u64) {
        let sent = self.slots.count(Ordering::Acquire);
        let before = self.taken[0].load(Ordering::Relaxed);
        let waiting = sent.wrapping_sub(before);
        if waiting <= self.depth.into() {
            return (waiting, before);
        }
        add(self.taken);
        self.taken[0].store(sent, Ordering::Release);
        (0, sent)
    }

    /// Takes the message that has waited longest: its length; nothing if none waits. Its destination alone does so.
    ///
    /// # Errors
    /// [`Untaken::TooLong`]; [`Untaken::Unsound`] if the source has written something that makes no message there, which then is gone.
    #[inline]
    pub fn take<const HEAD: usize>(self, head: &mut [u64; HEAD], message: &mut [u8]) -> Result<Option<usize>, Untaken> {
        let (waiting, before) = self.waiting_and_taken();
        if waiting == 0 {
            return Ok(None);
        }
        let number = (before % u64::from(self.depth.max(1))) as usize;
        let result = match self.slots.read(number, before.wrapping_add(1), (head, message)) {
            Err(Untaken::TooLong) => return Err(Untaken::TooLong),
            Ok(Some((length, _))) => Ok(Some(length)),
            Ok(None) | Err(Untaken::Unsound) => {
                add(self.taken);
                Err(Untaken::Unsound)
            }
        };
        self.taken[0].store(before.wrapping_add(1), Ordering::Release);
        result
    }

    /// How many messages found no room, by the source's count; and how many were not whole or gone, by the destination's.
    pub fn refused_and_unsound(self) -> [u64; 2] {
        [self.slots.words, self.taken].map(|words| words.get(BESIDE).map_or(0, |count| count.load(Ordering::Relaxed)))
    }
}

/// Counts what went wrong, in a piece of memory of one's own.
#[cold]
fn add(words: &[AtomicU64]) {
    if let Some(count) = words.get(BESIDE) {
        count.store(count.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
    }
}
