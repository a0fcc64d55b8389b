//! Between programs and the exchange: for each of this node's parts of streams a queue, with memory of its own. What a program publishes waits
//! for the exchange's next job; what came for a program waits until that takes it.
//!
//! Services run on their callers' threads, which may be preempted in here. Nobody waits: a second thread at the same queue is sent away. A
//! thread that comes again has left before, however that was.

use alloc::vec::Vec;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use tactus_network::field::data::checksum;
use tactus_network::frame::Name;
use tactus_network::setup::Part;
use tactus_rt::abi::layout::MAX_COMPONENTS;
use tactus_rt::abi::monitors::hash;
use tactus_rt::data::{packed, unpacked, DataError, LONGEST, WORDS};
use tactus_rt::{now, Caller};
use tactus_sync::{MessageQueue, MessageSlots, HEADER_WORDS, SLOT_HEADER_WORDS};

/// The most parts of a node, those that it only passes on not counted.
pub const MOST: usize = 16;
/// Messages that wait in each: machines of an emulator run ahead of each other, and what one has sent meanwhile comes at once.
const DEPTH: usize = 32;
/// Words of a slot: a head with sender and number, and the message.
const SLOT: usize = SLOT_HEADER_WORDS + 1 + WORDS;

/// Who may use a queue: nobody,
const NOBODY: u32 = 0;
/// any component that is no slot's, or the one of this number less one.
const OWN: u32 = u32::MAX;

struct Line {
    /// Of the stream's name; 0 if there is none.
    name: AtomicU64,
    who: AtomicU32,
    /// The thread that is inside, and one.
    inside: AtomicU32,
    /// Bytes of a message, twice, and one if this node publishes.
    kind: AtomicU32,
    words: [AtomicU64; HEADER_WORDS + DEPTH * SLOT],
    taken: [AtomicU64; 2],
}

static LINES: [Line; MOST] = [const {
    Line {
        name: AtomicU64::new(0),
        who: AtomicU32::new(NOBODY),
        inside: AtomicU32::new(0),
        kind: AtomicU32::new(0),
        words: [const { AtomicU64::new(0) }; HEADER_WORDS + DEPTH * SLOT],
        taken: [const { AtomicU64::new(0) }; 2],
    }
}; MOST];

/// Components of slots, as bits.
static SLOTS: [AtomicU64; MAX_COMPONENTS / 64] = [const { AtomicU64::new(0) }; MAX_COMPONENTS / 64];

impl Line {
    fn queue(&self) -> MessageQueue<'_> {
        let slots = MessageSlots { words: &self.words, slot: SLOT, size: (8 + LONGEST) as u32 };
        MessageQueue { slots, taken: &self.taken, depth: DEPTH as u32 }
    }

    fn may(&self, component: u16) -> bool {
        let of_slot = SLOTS
            .get(usize::from(component) / 64)
            .is_none_or(|bits| bits.load(Ordering::Relaxed) >> (component % 64) & 1 == 1);
        match self.who.load(Ordering::Acquire) {
            NOBODY => false,
            OWN => !of_slot,
            number => number - 1 == component.into(),
        }
    }

    /// Lets the caller in alone.
    fn alone<R>(&self, caller: Caller, act: impl FnOnce() -> Result<R, DataError>) -> Result<R, DataError> {
        let thread = u32::from(caller.thread()) + 1;
        match self.inside.compare_exchange(0, thread, Ordering::Acquire, Ordering::Relaxed) {
            Err(other) if other != thread => return Err(DataError::Busy),
            _ => {}
        }
        let done = act();
        self.inside.store(0, Ordering::Release);
        done
    }
}

fn named(name: u64, publishes: bool) -> impl Iterator<Item = &'static Line> {
    let kind = u32::from(publishes);
    LINES
        .iter()
        .filter(move |it| name != 0 && it.name.load(Ordering::Acquire) == name)
        .filter(move |it| it.kind.load(Ordering::Relaxed) & 1 == kind)
}

/// Service: hash of the name, length, the message in seven words. Gives 0, or a [`DataError`].
pub fn publish(caller: Caller, words: [u64; 10]) -> [u64; 10] {
    let publish = || {
        let line = named(words[0], true).next().ok_or(DataError::NoStream)?;
        if !line.may(caller.component()) {
            return Err(DataError::NotHosted);
        }
        let bytes = (line.kind.load(Ordering::Relaxed) / 2) as usize;
        if words[1] != bytes as u64 {
            return Err(DataError::Size);
        }
        let message = unpacked(&words[2..]);
        line.alone(caller, || match line.queue().send(|| now().as_nanos(), ([0], &message[..bytes])) {
            true => Ok(()),
            false => Err(DataError::Full),
        })
    };
    [publish().err().map_or(0, |why| why as u64), 0, 0, 0, 0, 0, 0, 0, 0, 0]
}

/// Service: hash of the name. Gives 0, or a [`DataError`]; twice the length and one, or 0 if no message waits; sender and, in the upper half,
/// number; the message in seven words.
pub fn take(caller: Caller, words: [u64; 10]) -> [u64; 10] {
    let mut status = DataError::NoStream as u64;
    for line in named(words[0], false) {
        if !line.may(caller.component()) {
            status = DataError::NotHosted as u64;
            continue;
        }
        let (mut head, mut message) = ([0], [0; LONGEST]);
        match line.alone(caller, || line.queue().take(&mut head, &mut message).map_err(|_| DataError::Busy)) {
            Ok(Some(length)) => {
                let mut answer = [0; 10];
                (answer[1], answer[2]) = ((length as u64) << 1 | 1, head[0]);
                answer[3..].copy_from_slice(&packed(&message[..length]));
                return answer;
            }
            Ok(None) => status = 0,
            Err(why) => status = why as u64,
        }
    }
    [status, 0, 0, 0, 0, 0, 0, 0, 0, 0]
}

/// What the exchange's jobs know of a queue.
struct Side {
    part: Part,
    /// Number and checksum of what was put there.
    put: [(u32, u64); DEPTH],
    /// So many messages were told of as taken.
    told: u64,
}

/// The exchange's side of all queues.
pub struct Lines {
    all: Vec<Side>,
    /// By slot, its component.
    slots: Vec<u32>,
}

/// Something to be told on the console.
pub enum Tells {
    /// A program took a message: stream, number, checksum.
    Took(u16, u32, u64),
    /// There was no room for it.
    NoRoom(u16, u32),
}

impl Lines {
    /// Sets them up; nothing if there are more than [`MOST`], or a message is too long.
    pub fn new(parts: Vec<Part>, slots: &[i16]) -> Option<Lines> {
        let own = tactus_rt::info().component;
        let slots: Vec<u32> = slots.iter().map(|slot| own.wrapping_add_signed((*slot).into())).collect();
        for component in &slots {
            SLOTS.get(*component as usize / 64)?.fetch_or(1 << (component % 64), Ordering::Relaxed);
        }
        let parts = parts.into_iter().filter(|it| it.role.parent.is_none() || it.role.receives);
        let all: Vec<Side> = parts.map(|part| Side { part, put: [(0, 0); DEPTH], told: 0 }).collect();
        if all.len() > MOST || all.iter().any(|it| usize::from(it.part.role.bytes) > LONGEST) {
            return None;
        }
        for (line, side) in LINES.iter().zip(&all) {
            let role = &side.part.role;
            line.kind.store(u32::from(role.bytes) * 2 + u32::from(role.parent.is_none()), Ordering::Relaxed);
            line.who.store(if role.application.is_none() { OWN } else { NOBODY }, Ordering::Relaxed);
            line.name.store(hash(side.part.name.as_str()), Ordering::Release);
        }
        Some(Lines { all, slots })
    }

    fn of_application(&mut self, app: Name) -> impl Iterator<Item = (&'static Line, &mut Side)> {
        LINES.iter().zip(&mut self.all).filter(move |(_, side)| side.part.role.application == Some(app))
    }

    /// The program in this slot is that of an application from now on. Whatever waits is of an earlier one.
    pub fn begins(&mut self, app: Name, slot: usize) {
        let Some(component) = self.slots.get(slot).copied() else { return };
        for (line, side) in self.of_application(app) {
            line.inside.store(0, Ordering::Relaxed);
            side.told = line.queue().slots.count(Ordering::Relaxed);
            line.taken[0].store(side.told, Ordering::Release);
            line.who.store(component + 1, Ordering::Release);
        }
    }

    /// An application has no program here any more.
    pub fn ends(&mut self, app: Name, tell: &mut dyn FnMut(Tells)) {
        for (line, side) in self.of_application(app) {
            line.who.store(NOBODY, Ordering::Release);
            if side.part.role.receives {
                side.tell(line, tell);
            }
        }
    }

    /// Hands over each message that programs have published.
    pub fn published(&self, mut to: impl FnMut(u16, &[u8])) {
        for (line, side) in LINES.iter().zip(&self.all).filter(|(_, side)| side.part.role.parent.is_none()) {
            let mut message = [0; LONGEST];
            for _ in 0..DEPTH {
                match line.queue().take(&mut [0], &mut message) {
                    Ok(Some(length)) => to(side.part.role.stream, &message[..length]),
                    Ok(None) | Err(_) => break,
                }
            }
        }
    }

    /// A message has come for a program.
    pub fn came(&mut self, (stream, sequence): (u16, u32), message: &[u8], tell: &mut dyn FnMut(Tells)) {
        let Some(at) = self.all.iter().position(|it| it.part.role.stream == stream) else { return };
        let (line, side) = (&LINES[at], &mut self.all[at]);
        // What was taken before is told before its place is another one's.
        side.tell(line, tell);
        let (waiting, sent) = line.queue().waiting_and_sent();
        if waiting >= DEPTH as u64 {
            return tell(Tells::NoRoom(stream, sequence));
        }
        side.put[sent as usize % DEPTH] = (sequence, checksum(message));
        let head = u64::from(side.part.from.0) | u64::from(sequence) << 32;
        line.queue().send(|| now().as_nanos(), ([head], message));
    }

    /// Tells what programs have taken since.
    pub fn tell(&mut self, tell: &mut dyn FnMut(Tells)) {
        for (line, side) in LINES.iter().zip(&mut self.all).filter(|(_, side)| side.part.role.receives) {
            side.tell(line, tell);
        }
    }
}

impl Side {
    fn tell(&mut self, line: &Line, tell: &mut dyn FnMut(Tells)) {
        let taken = line.taken[0].load(Ordering::Acquire);
        while self.told < taken {
            let (sequence, checksum) = self.put[self.told as usize % DEPTH];
            tell(Tells::Took(self.part.role.stream, sequence, checksum));
            self.told += 1;
        }
    }
}
