//! Buffers: messages in their order, each taken once. The queue is Vyukov's for many on both sides: a slot is taken by its number, and says
//! when it is full and when it is free. A message whose sender was preempted in the middle is not sent yet.
//!
//! A slot is claimed in its own state, by whom stands there too; the count of messages is moved on by whoever sees that. So what a
//! process was in the middle of when it was stopped is found again: [`leave`].

use super::hypervisor::{Apex, MOST_OBJECTS};
use super::pool::{self, Name, Named, Table};
use super::process::{self, awaited, waiting};
use super::time;
use a653rs::bindings::{
    ApexBufferP1, ApexByte, ApexLimits, ApexSystemTime, BufferId, BufferName, BufferStatus, ErrorReturnCode,
    MessageRange, MessageSize, QueuingDiscipline,
};
use core::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use tactus_sync::{get, put};

/// Words of a slot before the message: which message it waits for or holds, and its length.
const HEADER: usize = 2;

struct Buffer {
    name: Name,
    size: AtomicUsize,
    depth: AtomicUsize,
    from: AtomicUsize,
    sent: AtomicU64,
    taken: AtomicU64,
}

impl Named for Buffer {
    fn name(&self) -> &Name {
        &self.name
    }
}

static BUFFERS: Table<Buffer> = Table {
    count: AtomicUsize::new(0),
    life: AtomicU32::new(0),
    objects: [const {
        Buffer {
            name: Name::new(),
            size: AtomicUsize::new(0),
            depth: AtomicUsize::new(0),
            from: AtomicUsize::new(0),
            sent: AtomicU64::new(0),
            taken: AtomicU64::new(0),
        }
    }; MOST_OBJECTS],
};

impl Buffer {
    fn slot_words(&self) -> usize {
        HEADER + self.size.load(Ordering::Relaxed).div_ceil(8)
    }

    fn depth(&self) -> u64 {
        self.depth.load(Ordering::Relaxed).max(1) as u64
    }

    /// State, length and message of the slot of this message.
    fn slot(&self, message: u64) -> Option<(&'static AtomicU64, &'static AtomicU64, &'static [AtomicU64])> {
        let words = self.slot_words();
        match pool::words(self.from.load(Ordering::Relaxed) + (message % self.depth()) as usize * words, words) {
            [state, length, body @ ..] => Some((state, length, body)),
            _ => None,
        }
    }

    fn send(&self, message: &[u8]) -> Option<()> {
        loop {
            let number = self.sent.load(Ordering::Acquire);
            let (state, length, body) = self.slot(number)?;
            let is = Slot::of(state.load(Ordering::Acquire));
            if is.message < number {
                // It holds an older message, unless this look is old itself.
                if self.sent.load(Ordering::Acquire) == number {
                    return None;
                }
                continue;
            }
            let (free, own) = (Slot::free(number), Slot { message: number, use_of: Use::Sending(caller()) });
            let claims =
                || state.compare_exchange(free.word(), own.word(), Ordering::AcqRel, Ordering::Relaxed).is_ok();
            let claimed = is == free && claims();
            let _ = self.sent.compare_exchange(number, number + 1, Ordering::AcqRel, Ordering::Relaxed);
            if claimed {
                length.store(message.len() as u64, Ordering::Relaxed);
                put(body, message);
                state.store(Slot { message: number, use_of: Use::Full }.word(), Ordering::Release);
                return Some(());
            }
        }
    }

    fn receive(&self, message: &mut [u8]) -> Option<Result<MessageSize, ErrorReturnCode>> {
        loop {
            let number = self.taken.load(Ordering::Acquire);
            let (state, length, body) = self.slot(number)?;
            let is = Slot::of(state.load(Ordering::Acquire));
            let full = Slot { message: number, use_of: Use::Full };
            let sent = is.message == number && matches!(is.use_of, Use::Full | Use::Receiving(_));
            if is.message <= number && !sent {
                // Not sent yet, unless this look is old itself.
                if self.taken.load(Ordering::Acquire) == number {
                    return None;
                }
                continue;
            }
            let count = length.load(Ordering::Relaxed);
            if is == full && count != NOTHING && count as usize > message.len() {
                return Some(Err(ErrorReturnCode::InvalidParam));
            }
            let own = Slot { message: number, use_of: Use::Receiving(caller()) };
            let claims =
                || state.compare_exchange(full.word(), own.word(), Ordering::AcqRel, Ordering::Relaxed).is_ok();
            let claimed = is == full && claims();
            let _ = self.taken.compare_exchange(number, number + 1, Ordering::AcqRel, Ordering::Relaxed);
            if claimed {
                let count = length.load(Ordering::Relaxed);
                let whole = message.get_mut(..count as usize).map(|into| get(body, into));
                state.store(Slot::free(number + self.depth()).word(), Ordering::Release);
                if whole.is_some() {
                    return Some(Ok(count as MessageSize));
                }
            }
        }
    }

    /// What the process at this place was in the middle of is over: a message that was not written is none, and one that was not read is
    /// gone with the process.
    fn leave(&self, place: u8) {
        for number in 0..self.depth() {
            let Some((state, length, _)) = self.slot(number) else { return };
            let is = Slot::of(state.load(Ordering::Acquire));
            if is.use_of == Use::Sending(place) {
                length.store(NOTHING, Ordering::Relaxed);
                state.store(Slot { use_of: Use::Full, ..is }.word(), Ordering::Release);
            } else if is.use_of == Use::Receiving(place) {
                state.store(Slot::free(is.message + self.depth()).word(), Ordering::Release);
            }
        }
    }
}

/// In place of the length of a message: there is none, and the slot is passed over.
const NOTHING: u64 = u64::MAX;

/// What a slot is used for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    /// It waits for its message.
    Free,
    /// The process at this place writes it.
    Sending(u8),
    /// It holds it.
    Full,
    /// The process at this place reads it.
    Receiving(u8),
}

/// The state of a slot: its use, for the message with this number.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Slot {
    message: u64,
    use_of: Use,
}

impl Slot {
    fn free(message: u64) -> Slot {
        Slot { message, use_of: Use::Free }
    }

    fn of(word: u64) -> Slot {
        let place = (word >> 8) as u8;
        let use_of = match word & 0xff {
            0 => Use::Free,
            1 => Use::Sending(place),
            2 => Use::Full,
            _ => Use::Receiving(place),
        };
        Slot { message: word >> 16, use_of }
    }

    fn word(self) -> u64 {
        let use_of = match self.use_of {
            Use::Free => 0,
            Use::Sending(place) => 1 | u64::from(place) << 8,
            Use::Full => 2,
            Use::Receiving(place) => 3 | u64::from(place) << 8,
        };
        self.message << 16 | use_of
    }
}

/// Who calls.
fn caller() -> u8 {
    process::place().unwrap_or(usize::from(u8::MAX)) as u8
}

/// The process at this place leaves everything that it is in the middle of.
pub(super) fn leave(place: usize) {
    BUFFERS.all().iter().for_each(|buffer| buffer.leave(place as u8));
}

impl ApexBufferP1 for Apex {
    fn create_buffer(
        buffer_name: BufferName,
        max_message_size: MessageSize,
        max_nb_message: MessageRange,
        _: QueuingDiscipline,
    ) -> Result<BufferId, ErrorReturnCode> {
        BUFFERS.create(&buffer_name, |buffer| {
            let deep = (1..=Apex::SYSTEM_LIMIT_NUMBER_OF_MESSAGES).contains(&max_nb_message);
            if max_message_size == 0 || !deep {
                return Err(ErrorReturnCode::InvalidParam);
            }
            buffer.size.store(max_message_size as usize, Ordering::Relaxed);
            buffer.depth.store(max_nb_message as usize, Ordering::Relaxed);
            let memory = (max_nb_message as usize).checked_mul(buffer.slot_words()).and_then(pool::take);
            buffer.from.store(memory.ok_or(ErrorReturnCode::InvalidConfig)?, Ordering::Relaxed);
            for number in 0..u64::from(max_nb_message) {
                let (state, ..) = buffer.slot(number).ok_or(ErrorReturnCode::InvalidConfig)?;
                state.store(Slot::free(number).word(), Ordering::Relaxed);
            }
            buffer.sent.store(0, Ordering::Relaxed);
            buffer.taken.store(0, Ordering::Relaxed);
            Ok(())
        })
    }

    fn send_buffer(buffer_id: BufferId, message: &[ApexByte], time_out: ApexSystemTime) -> Result<(), ErrorReturnCode> {
        let buffer = BUFFERS.get(buffer_id)?;
        if message.is_empty() || message.len() > buffer.size.load(Ordering::Relaxed) {
            return Err(ErrorReturnCode::InvalidParam);
        }
        time::wait_for(awaited::object(awaited::BUFFER, buffer_id), time_out, || buffer.send(message))
    }

    /// # Safety
    ///
    /// The trait asks for it; a slice holds what is put into it.
    unsafe fn receive_buffer(
        buffer_id: BufferId,
        time_out: ApexSystemTime,
        message: &mut [ApexByte],
    ) -> Result<MessageSize, ErrorReturnCode> {
        let buffer = BUFFERS.get(buffer_id)?;
        let result = time::wait_for(awaited::object(awaited::BUFFER, buffer_id), time_out, || buffer.receive(message));
        result?
    }

    fn get_buffer_id(buffer_name: BufferName) -> Result<BufferId, ErrorReturnCode> {
        BUFFERS.find(&buffer_name).map(|(id, _)| id).ok_or(ErrorReturnCode::InvalidConfig)
    }

    fn get_buffer_status(buffer_id: BufferId) -> Result<BufferStatus, ErrorReturnCode> {
        let buffer = BUFFERS.get(buffer_id)?;
        let taken = buffer.taken.load(Ordering::Acquire);
        let messages = buffer.sent.load(Ordering::Acquire).saturating_sub(taken);
        Ok(BufferStatus {
            nb_message: messages as MessageRange,
            max_nb_message: buffer.depth() as MessageRange,
            max_message_size: buffer.size.load(Ordering::Relaxed) as MessageSize,
            waiting_processes: waiting(awaited::object(awaited::BUFFER, buffer_id)),
        })
    }
}
