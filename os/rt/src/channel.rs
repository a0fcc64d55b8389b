//! Channels: messages from one component to another through a buffer that the two share.
//!
//! A channel is bounded and asynchronous: neither side waits for the other, a full channel refuses. It is made of two
//! counters, each written by one side, and slots of one cache line. The side that sends wakes the other by its brand, but
//! only when the channel was empty: whoever receives takes all that there is.
//!
//! A channel that a monitor watches has no buffer: its messages pass the kernel, which observes each one in the call that sends or
//! receives it. Programs are the same for both kinds, and the way of those that nobody watches is the same as without monitors: what is
//! different about a watched one is found where a channel that was never opened is.
//!
//! Neither side trusts the other: each keeps its own counter to itself, and refuses a shared one that cannot be
//! ([`ChannelError::Broken`]). What a message holds is for the receiver to check.

use crate::calls::{self, Error};
use crate::cards::buffer;
use crate::service::{grant, Grant};
use crate::Job;
use core::sync::atomic::{fence, AtomicU64, Ordering};
use tactus_abi::call::{CHANNEL_RECEIVE, CHANNEL_SEND};
use tactus_abi::layout::{PAGE, WINDOW};
use tactus_abi::shared::{DeviceCard, RAISE};
use tactus_time::Instant;

/// Words of a message.
pub const WORDS: usize = 8;
/// A message.
pub type Message = [u64; WORDS];

const SLOT: u64 = 64;
/// Counter of what was sent, written by the sender.
const SENT: u64 = 0;
/// Counter of what was taken, written by the receiver.
const TAKEN: u64 = 64;
const SLOTS: u64 = 128;

/// Why a channel cannot be used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ChannelError {
    /// This component shares no buffer of this name.
    Unknown,
    /// The memory manager refuses, or cannot be called: grant `attach`, of its service of that name.
    Refused(Error),
    /// No room is left until the receiver takes something.
    Full,
    /// Nothing came, and whoever reads bytes does not wait.
    Empty,
    /// The other side has spoilt the channel.
    Broken,
    /// It was not opened.
    Closed,
    /// The message was sent, and released no job of the receiver: only jobs of the component's own tasks do so.
    NoJob,
}

/// Maps a buffer of this component's: where it is and its pages. Needs the grant `attach` of the memory manager.
///
/// # Errors
/// [`ChannelError::Unknown`] and [`ChannelError::Refused`]; with `Busy` where another thread stays at the memory manager, so that a later
/// job may succeed.
pub fn attach(name: &str) -> Result<(u64, u64), ChannelError> {
    let card = buffer(name).ok_or(ChannelError::Unknown)?;
    for _ in 0..ATTEMPTS {
        let [_, status] = grant("attach").call([card.number.into(), 0, 0, 0, 0]).map_err(ChannelError::Refused)?;
        match Error::from_u64(status) {
            Some(Error::None) => return Ok((WINDOW + u64::from(card.window) * PAGE, card.pages.into())),
            // The other side may be at it, on another core.
            Some(Error::Busy) => core::hint::spin_loop(),
            error => return Err(ChannelError::Refused(error.unwrap_or(Error::BadCall))),
        }
    }
    Err(ChannelError::Refused(Error::Busy))
}

/// How often the memory manager is asked while another thread is there.
const ATTEMPTS: u32 = 200;

/// What both ends have.
struct End {
    /// Where the buffer is; 0 before it is opened.
    base: AtomicU64,
    slots: AtomicU64,
    number: AtomicU64,
    /// This side's counter; of a channel in the kernel its number, plus one.
    own: AtomicU64,
    /// The slot of this side's next message.
    place: AtomicU64,
}

impl End {
    const fn new() -> End {
        End {
            base: AtomicU64::new(0),
            slots: AtomicU64::new(0),
            number: AtomicU64::new(0),
            own: AtomicU64::new(0),
            place: AtomicU64::new(0),
        }
    }

    fn open(&self, name: &str, page: Option<u64>, own: u64) -> Result<u64, ChannelError> {
        let card = buffer(name).ok_or(ChannelError::Unknown)?;
        if card.channel != 0 {
            // The kernel keeps the channel, which has no pages.
            if page.is_some() {
                return Err(ChannelError::Unknown);
            }
            self.number.store(card.number.into(), Ordering::Relaxed);
            self.own.store(card.channel.into(), Ordering::Relaxed);
            return Ok(card.number.into());
        }
        let (mut base, mut pages) = attach(name)?;
        if let Some(page) = page {
            if page >= pages {
                return Err(ChannelError::Unknown);
            }
            (base, pages) = (base + page * PAGE, 1);
        }
        let number = buffer(name).ok_or(ChannelError::Unknown)?.number;
        let slots = (pages * PAGE - SLOTS) / SLOT;
        self.slots.store(slots, Ordering::Relaxed);
        self.number.store(number.into(), Ordering::Relaxed);
        self.base.store(base, Ordering::Relaxed);
        // After a restart, the counter that is shared still stands.
        let own = self.shared(own).load(Ordering::Acquire);
        self.own.store(own, Ordering::Relaxed);
        self.place.store(own % slots, Ordering::Relaxed);
        Ok(number.into())
    }

    /// One of the shared counters. Only after `open`.
    fn shared(&self, at: u64) -> &'static AtomicU64 {
        End::shared_at(self.base.load(Ordering::Relaxed), at)
    }

    /// The same of the buffer that is there.
    #[inline(always)]
    fn shared_at(base: u64, at: u64) -> &'static AtomicU64 {
        // SAFETY: `base` is where the memory manager has mapped the buffer, writable, a page at least; it stays there. The
        // other side may write the counter at any time, which atomics allow.
        unsafe { &*((base + at) as *const AtomicU64) }
    }

    /// The words of the slot of this side's next message, and the message after it is the next one from now on. Only after `open`.
    #[inline(always)]
    fn next_slot(&self, base: u64, slots: u64) -> &'static [AtomicU64; WORDS] {
        let place = self.place.load(Ordering::Relaxed);
        self.place.store(if place + 1 < slots { place + 1 } else { 0 }, Ordering::Relaxed);
        // SAFETY: as in `shared`: a slot of the buffer, which is a multiple of eight bytes from its page's start. Only this and `open`
        // write the place, and both leave it below the number of slots.
        unsafe { &*((base + SLOTS + place * SLOT) as *const [AtomicU64; WORDS]) }
    }

    fn is_open(&self) -> bool {
        self.base.load(Ordering::Relaxed) != 0
    }

    /// The number of the kernel's channel, if there is one.
    fn is_there(&self) -> Result<u64, ChannelError> {
        self.own.load(Ordering::Relaxed).checked_sub(1).ok_or(ChannelError::Closed)
    }

    /// Receives a message from the kernel, if the channel is there. Out of the way, as [`Sender::pass_on`].
    #[cold]
    #[inline(never)]
    fn take_out(&self) -> Result<Option<Message>, ChannelError> {
        match self.pass(CHANNEL_RECEIVE, &[0; WORDS]) {
            Ok(message) => Ok(Some(message)),
            Err(ChannelError::Full) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Passes a message through the kernel, if the channel is there.
    fn pass(&self, way: u64, message: &Message) -> Result<Message, ChannelError> {
        let number = self.is_there()?;
        let [w0, w1, w2, w3, w4, w5, w6, w7] = *message;
        match calls::invoke_wide(way | number, [w0, w1, w2, w3, w4, w5, w6, w7, 0, 0]) {
            Ok([w0, w1, w2, w3, w4, w5, w6, w7, ..]) => Ok([w0, w1, w2, w3, w4, w5, w6, w7]),
            Err(Error::NoMessage) => Err(ChannelError::Full),
            Err(error) => Err(ChannelError::Refused(error)),
        }
    }
}

/// The end that sends. One thread at a time uses it.
pub struct Sender {
    end: End,
    /// The task whose jobs messages release, plus one, and the grant of the scheduler's service for that.
    releases: AtomicU64,
    raise: AtomicU64,
}

impl Default for Sender {
    fn default() -> Self {
        Sender::new()
    }
}

impl Sender {
    /// Not open yet.
    pub const fn new() -> Sender {
        Sender { end: End::new(), releases: AtomicU64::new(0), raise: AtomicU64::new(0) }
    }

    /// Opens the channel in the buffer with this name, which both sides may write. Needs the memory manager's service
    /// `attach` under that name.
    ///
    /// # Errors
    /// As [`attach`].
    pub fn open(&self, name: &str) -> Result<(), ChannelError> {
        self.end.open(name, None, SENT)?;
        let releases = buffer(name).map_or(0, |card| card.releases);
        self.raise.store(grant(RAISE).number(), Ordering::Relaxed);
        self.releases.store(releases.into(), Ordering::Relaxed);
        Ok(())
    }
    /// The same in one page of the buffer, which leaves the others for something else.
    ///
    /// # Errors
    /// As [`attach`]; [`ChannelError::Unknown`] where the buffer has no such page.
    pub fn open_page(&self, name: &str, page: u64) -> Result<(), ChannelError> {
        self.end.open(name, Some(page), SENT).map(|_| ())
    }
    /// How many more messages can be sent before the receiver takes some.
    ///
    /// # Errors
    /// [`ChannelError::Broken`], [`ChannelError::Closed`], also where monitors watch it.
    pub fn room(&self) -> Result<u64, ChannelError> {
        let end = &self.end;
        if !end.is_open() {
            return Err(ChannelError::Closed);
        }
        let waiting = end.own.load(Ordering::Relaxed).wrapping_sub(end.shared(TAKEN).load(Ordering::Acquire));
        end.slots.load(Ordering::Relaxed).checked_sub(waiting).ok_or(ChannelError::Broken)
    }

    /// Sends a message; whether the channel was empty: then the receiver wants to be woken ([`Sender::wake`]). Where the system file
    /// says that messages release a task, each one does: the receiver's job may run before this returns.
    ///
    /// # Errors
    /// [`ChannelError::Full`], [`ChannelError::Broken`], [`ChannelError::Closed`]; [`ChannelError::NoJob`], though it was sent.
    pub fn send(&self, message: &Message) -> Result<bool, ChannelError> {
        // Word by word, so that no copy lies in memory where it is put into a slot at once.
        let [w0, w1, w2, w3, w4, w5, w6, w7] = *message;
        let base = self.end.base.load(Ordering::Relaxed);
        if base == 0 {
            return self.pass_on([w0, w1, w2, w3, w4, w5, w6, w7]);
        }
        let was_empty = self.put(base, [w0, w1, w2, w3, w4, w5, w6, w7])?;
        self.release(was_empty)
    }

    /// Sends a message through the kernel, if the channel is there. Out of the way, so that sending through one that nobody watches takes
    /// no instruction more.
    #[cold]
    #[inline(never)]
    fn pass_on(&self, message: Message) -> Result<bool, ChannelError> {
        self.end.pass(CHANNEL_SEND, &message)?;
        // Whether the receiver has taken everything before, only it knows.
        self.release(true)
    }

    /// Releases the receiver's job, where the system file says so.
    #[inline(always)]
    fn release(&self, was_empty: bool) -> Result<bool, ChannelError> {
        let Some(task) = self.releases.load(Ordering::Relaxed).checked_sub(1) else { return Ok(was_empty) };
        match calls::invoke(self.raise.load(Ordering::Relaxed), [task, 1, 0, 0, 0]) {
            Ok([0, _]) => Ok(was_empty),
            Ok(_) => Err(ChannelError::NoJob),
            Err(error) => Err(ChannelError::Refused(error)),
        }
    }

    /// Puts a message into the open channel, whose buffer is there; whether that was empty.
    #[inline(always)]
    fn put(&self, base: u64, message: Message) -> Result<bool, ChannelError> {
        let end = &self.end;
        let (sent, taken) = (end.own.load(Ordering::Relaxed), End::shared_at(base, TAKEN));
        let waiting = sent.wrapping_sub(taken.load(Ordering::Acquire));
        let slots = end.slots.load(Ordering::Relaxed);
        if waiting > slots {
            return Err(ChannelError::Broken);
        }
        if waiting == slots {
            return Err(ChannelError::Full);
        }
        let slot = end.next_slot(base, slots);
        for word in 0..WORDS {
            slot[word].store(message[word], Ordering::Relaxed);
        }
        end.own.store(sent.wrapping_add(1), Ordering::Relaxed);
        End::shared_at(base, SENT).store(sent.wrapping_add(1), Ordering::Release);
        // Either the receiver sees this message before it gives up, or this sees that it has taken everything.
        fence(Ordering::SeqCst);
        Ok(taken.load(Ordering::Relaxed) == sent)
    }

    /// Whether a message would find room. Of a channel that a monitor watches only [`Sender::send`] knows; then this is true.
    ///
    /// # Errors
    /// [`ChannelError::Broken`], [`ChannelError::Closed`].
    pub fn has_room(&self) -> Result<bool, ChannelError> {
        let end = &self.end;
        if !end.is_open() {
            // Only the kernel knows, and sending tells.
            return end.is_there().map(|_| true);
        }
        let sent = end.own.load(Ordering::Relaxed);
        let waiting = sent.wrapping_sub(end.shared(TAKEN).load(Ordering::Acquire));
        match waiting.cmp(&end.slots.load(Ordering::Relaxed)) {
            core::cmp::Ordering::Less => Ok(true),
            core::cmp::Ordering::Equal => Ok(false),
            core::cmp::Ordering::Greater => Err(ChannelError::Broken),
        }
    }

    /// Wakes the receiver by its brand. Needs the memory manager's service `wake` under that name.
    ///
    /// # Errors
    /// [`ChannelError::Refused`]: nobody listens, or the service cannot be called.
    pub fn wake(&self) -> Result<(), ChannelError> {
        wake(grant("wake"), self.end.number.load(Ordering::Relaxed))
    }
}

fn wake(service: Grant, number: u64) -> Result<(), ChannelError> {
    let [_, status] = service.call([number, 0, 0, 0, 0]).map_err(ChannelError::Refused)?;
    match Error::from_u64(status) {
        Some(Error::None) => Ok(()),
        error => Err(ChannelError::Refused(error.unwrap_or(Error::BadCall))),
    }
}

/// The end that receives. One thread at a time uses it.
pub struct Receiver {
    end: End,
}

impl Default for Receiver {
    fn default() -> Self {
        Receiver::new()
    }
}

impl Receiver {
    /// Not open yet.
    pub const fn new() -> Receiver {
        Receiver { end: End::new() }
    }

    /// As [`Sender::open`].
    ///
    /// # Errors
    /// As [`attach`].
    pub fn open(&self, name: &str) -> Result<(), ChannelError> {
        self.end.open(name, None, TAKEN).map(|_| ())
    }
    /// As [`Sender::open_page`].
    ///
    /// # Errors
    /// As there.
    pub fn open_page(&self, name: &str, page: u64) -> Result<(), ChannelError> {
        self.end.open(name, Some(page), TAKEN).map(|_| ())
    }

    /// Makes the brand whose upcall is to begin in this component when something comes; its number, for the root scheduler
    /// to give it an upcall thread. Needs the memory manager's service `listen` under that name.
    ///
    /// # Errors
    /// [`ChannelError::Refused`].
    pub fn listen(&self) -> Result<u64, ChannelError> {
        if !self.end.is_open() {
            self.end.is_there()?;
        }
        let number = self.end.number.load(Ordering::Relaxed);
        let [brand, status] = grant("listen").call([number, 0, 0, 0, 0]).map_err(ChannelError::Refused)?;
        match Error::from_u64(status) {
            Some(Error::None) => Ok(brand),
            error => Err(ChannelError::Refused(error.unwrap_or(Error::BadCall))),
        }
    }

    /// Takes the oldest message, if there is one.
    ///
    /// # Errors
    /// [`ChannelError::Broken`], [`ChannelError::Closed`].
    pub fn receive(&self) -> Result<Option<Message>, ChannelError> {
        let end = &self.end;
        if !end.is_open() {
            return end.take_out();
        }
        let taken = end.own.load(Ordering::Relaxed);
        // See `Sender::send`: what was taken is told before this looks again.
        fence(Ordering::SeqCst);
        let waiting = end.shared(SENT).load(Ordering::Acquire).wrapping_sub(taken);
        if waiting > end.slots.load(Ordering::Relaxed) {
            return Err(ChannelError::Broken);
        }
        if waiting == 0 {
            return Ok(None);
        }
        let slot = end.next_slot(end.base.load(Ordering::Relaxed), end.slots.load(Ordering::Relaxed));
        let message = core::array::from_fn(|word| slot[word].load(Ordering::Relaxed));
        end.own.store(taken.wrapping_add(1), Ordering::Relaxed);
        end.shared(TAKEN).store(taken.wrapping_add(1), Ordering::Release);
        Ok(Some(message))
    }

    /// As [`Receiver::receive`]; if there is none, the job waits until this point in time and looks again. That is one of the waits that its
    /// task declares, and lasts no longer than that one may ([`Job::wait_until`]).
    ///
    /// # Errors
    /// As [`Receiver::receive`].
    pub fn receive_until(&self, job: &Job, limit: Instant) -> Result<Option<Message>, ChannelError> {
        Ok(select_until(&[self], job, limit)?.map(|(_, message)| message))
    }
}

/// The oldest message of the first of these channels that has one, and which that is.
///
/// # Errors
/// As [`Receiver::receive`], of any of them.
pub fn select(receivers: &[&Receiver]) -> Result<Option<(usize, Message)>, ChannelError> {
    for (number, receiver) in receivers.iter().enumerate() {
        if let Some(message) = receiver.receive()? {
            return Ok(Some((number, message)));
        }
    }
    Ok(None)
}

/// As [`select`]; if there is none, the job waits as in [`Receiver::receive_until`].
///
/// # Errors
/// As [`select`].
pub fn select_until(
    receivers: &[&Receiver],
    job: &Job,
    limit: Instant,
) -> Result<Option<(usize, Message)>, ChannelError> {
    match select(receivers)? {
        Some(found) => Ok(Some(found)),
        None if job.wait_until(limit) => select(receivers),
        None => Ok(None),
    }
}

/// Pages of a buffer from one on, for data. The other side may write them at any time, so that what is read twice may differ.
pub struct SharedData {
    base: AtomicU64,
    bytes: AtomicU64,
}

impl Default for SharedData {
    fn default() -> Self {
        SharedData::new()
    }
}

impl SharedData {
    /// Not open yet.
    pub const fn new() -> SharedData {
        SharedData { base: AtomicU64::new(0), bytes: AtomicU64::new(0) }
    }

    /// The memory of a device that this component drives, if it is no more than memory.
    pub fn of_device(card: &DeviceCard) -> SharedData {
        SharedData { base: AtomicU64::new(card.address), bytes: AtomicU64::new(card.bytes) }
    }

    /// Opens the pages of a buffer from this one on.
    ///
    /// # Errors
    /// As [`attach`]; [`ChannelError::Unknown`] where the buffer has no such page.
    pub fn open(&self, name: &str, page: u64) -> Result<(), ChannelError> {
        let (base, pages) = attach(name)?;
        let pages = pages.checked_sub(page).filter(|pages| *pages > 0).ok_or(ChannelError::Unknown)?;
        self.bytes.store(pages * PAGE, Ordering::Relaxed);
        self.base.store(base + page * PAGE, Ordering::Relaxed);
        Ok(())
    }
    /// Their length (bytes); 0 before they are opened.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }
    /// Whether so many bytes from an offset on are all there, and whole words.
    pub fn holds(&self, offset: u64, bytes: u64) -> bool {
        offset % 8 == 0 && bytes % 8 == 0 && offset.checked_add(bytes).is_some_and(|end| end <= self.bytes())
    }

    fn word(&self, offset: u64) -> &'static AtomicU64 {
        // SAFETY: called for words that `holds` has found inside; the memory manager, or the image for a device of this component's, has
        // mapped them there, writable, and they stay. The other side may write them at any time, which atomics allow.
        unsafe { &*((self.base.load(Ordering::Relaxed) + offset) as *const AtomicU64) }
    }
    /// Copies bytes out; nothing, and false, where they are not all there.
    pub fn load(&self, offset: u64, bytes: &mut [u8]) -> bool {
        if !self.holds(offset, bytes.len() as u64) {
            return false;
        }
        for (n, chunk) in bytes.chunks_exact_mut(8).enumerate() {
            chunk.copy_from_slice(&self.word(offset + 8 * n as u64).load(Ordering::Relaxed).to_le_bytes());
        }
        true
    }
    /// Copies bytes in, likewise.
    pub fn store(&self, offset: u64, bytes: &[u8]) -> bool {
        if !self.holds(offset, bytes.len() as u64) {
            return false;
        }
        for (n, chunk) in bytes.chunks_exact(8).enumerate() {
            let word = chunk.try_into().map_or(0, u64::from_le_bytes);
            self.word(offset + 8 * n as u64).store(word, Ordering::Relaxed);
        }
        true
    }
}
