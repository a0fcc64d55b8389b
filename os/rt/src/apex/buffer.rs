//! Buffers: messages in their order, each taken once. The queue is Vyukov's for many on both sides: a slot is taken by its number, and says
//! when it is full and when it is free. A message whose sender was preempted in the middle is not sent yet.

use super::hypervisor::{Apex, MOST_OBJECTS};
use super::pool::{self, Name, Named, Table};
use super::time;
use crate::port::{get, put};
use a653rs::bindings::{
    ApexBufferP1, ApexByte, ApexLimits, ApexSystemTime, BufferId, BufferName, BufferStatus, ErrorReturnCode,
    MessageRange, MessageSize, QueuingDiscipline,
};
use core::sync::atomic::{AtomicI32, AtomicU32, AtomicU64, AtomicUsize, Ordering};

/// Words of a slot before the message: which message it waits for or holds, and its length.
const HEADER: usize = 2;

struct Buffer {
    name: Name,
    size: AtomicUsize,
    depth: AtomicUsize,
    from: AtomicUsize,
    sent: AtomicU64,
    taken: AtomicU64,
    waiting: AtomicI32,
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
            waiting: AtomicI32::new(0),
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

    /// The slot of message n says n while it is free for it, n + 1 when it holds it, and n + depth when it was taken; all twice, so that
    /// a buffer of one message tells the last two apart.
    fn send(&self, message: &[u8]) -> Option<()> {
        loop {
            let number = self.sent.load(Ordering::Relaxed);
            let (state, length, body) = self.slot(number)?;
            let is = state.load(Ordering::Acquire);
            if is < 2 * number {
                return None;
            }
            let next = number + 1;
            let own = is == 2 * number
                && self.sent.compare_exchange(number, next, Ordering::Relaxed, Ordering::Relaxed).is_ok();
            if own {
                length.store(message.len() as u64, Ordering::Relaxed);
                put(body, message);
                state.store(2 * number + 1, Ordering::Release);
                return Some(());
            }
        }
    }

    fn receive(&self, message: &mut [u8]) -> Option<Result<MessageSize, ErrorReturnCode>> {
        loop {
            let number = self.taken.load(Ordering::Relaxed);
            let (state, length, body) = self.slot(number)?;
            let is = state.load(Ordering::Acquire);
            if is < 2 * number + 1 {
                return None;
            }
            if is == 2 * number + 1 && length.load(Ordering::Relaxed) as usize > message.len() {
                return Some(Err(ErrorReturnCode::InvalidParam));
            }
            let next = number + 1;
            let own = is == 2 * number + 1
                && self.taken.compare_exchange(number, next, Ordering::Relaxed, Ordering::Relaxed).is_ok();
            if own {
                let count = (length.load(Ordering::Relaxed) as usize).min(message.len());
                get(body, &mut message[..count]);
                state.store(2 * (number + self.depth()), Ordering::Release);
                return Some(Ok(count as MessageSize));
            }
        }
    }
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
                state.store(2 * number, Ordering::Relaxed);
            }
            buffer.sent.store(0, Ordering::Relaxed);
            buffer.taken.store(0, Ordering::Relaxed);
            buffer.waiting.store(0, Ordering::Relaxed);
            Ok(())
        })
    }

    fn send_buffer(buffer_id: BufferId, message: &[ApexByte], time_out: ApexSystemTime) -> Result<(), ErrorReturnCode> {
        let buffer = BUFFERS.get(buffer_id)?;
        if message.is_empty() || message.len() > buffer.size.load(Ordering::Relaxed) {
            return Err(ErrorReturnCode::InvalidParam);
        }
        buffer.waiting.fetch_add(1, Ordering::Relaxed);
        let result = time::wait_for(time_out, || buffer.send(message));
        buffer.waiting.fetch_sub(1, Ordering::Relaxed);
        result
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
        buffer.waiting.fetch_add(1, Ordering::Relaxed);
        let result = time::wait_for(time_out, || buffer.receive(message));
        buffer.waiting.fetch_sub(1, Ordering::Relaxed);
        result?
    }

    fn get_buffer_id(buffer_name: BufferName) -> Result<BufferId, ErrorReturnCode> {
        BUFFERS.find(&buffer_name).map(|(id, _)| id).ok_or(ErrorReturnCode::InvalidConfig)
    }

    fn get_buffer_status(buffer_id: BufferId) -> Result<BufferStatus, ErrorReturnCode> {
        let buffer = BUFFERS.get(buffer_id)?;
        let taken = buffer.taken.load(Ordering::Acquire);
        let waiting = buffer.sent.load(Ordering::Acquire).saturating_sub(taken);
        Ok(BufferStatus {
            nb_message: waiting as MessageRange,
            max_nb_message: buffer.depth() as MessageRange,
            max_message_size: buffer.size.load(Ordering::Relaxed) as MessageSize,
            waiting_processes: buffer.waiting.load(Ordering::Relaxed),
        })
    }
}
