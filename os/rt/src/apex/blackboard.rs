//! Blackboards: the newest message, for any number of readers. A writer takes a slot that nobody writes, so that two never write one; a
//! reader looks whether its slot was written meanwhile.

use super::hypervisor::{Apex, MOST_OBJECTS, MOST_PROCESSES};
use super::pool::{self, Name, Named, Table};
use super::process::{self, awaited, waiting};
use super::time;
use a653rs::bindings::{
    ApexBlackboardP1, ApexByte, ApexSystemTime, BlackboardId, BlackboardName, BlackboardStatus, EmptyIndicator,
    ErrorReturnCode, MessageSize,
};
use core::sync::atomic::{fence, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use tactus_sync::{get, put};

/// One slot for each process that may be writing, one that holds the message, and one to spare.
const SLOTS: usize = MOST_PROCESSES + 2;
/// Words of a slot before the message: its state, and its length. The state grows with each writing; its low byte is 0 while nobody
/// writes, else one more than the place of the process that does.
const HEADER: usize = 2;

struct Blackboard {
    name: Name,
    size: AtomicUsize,
    from: AtomicUsize,
    /// What is shown: see [`Shown`].
    shown: AtomicU64,
}

impl Named for Blackboard {
    fn name(&self) -> &Name {
        &self.name
    }
}

static BLACKBOARDS: Table<Blackboard> = Table {
    count: AtomicUsize::new(0),
    life: AtomicU32::new(0),
    objects: [const {
        Blackboard { name: Name::new(), size: AtomicUsize::new(0), from: AtomicUsize::new(0), shown: AtomicU64::new(0) }
    }; MOST_OBJECTS],
};

impl Blackboard {
    fn slot_words(&self) -> usize {
        HEADER + self.size.load(Ordering::Relaxed).div_ceil(8)
    }

    /// State, length and message of a slot.
    fn slot(&self, number: usize) -> Option<(&'static AtomicU64, &'static AtomicU64, &'static [AtomicU64])> {
        let words = self.slot_words();
        match pool::words(self.from.load(Ordering::Relaxed) + number * words, words) {
            [state, length, body @ ..] => Some((state, length, body)),
            _ => None,
        }
    }

    fn shown(&self) -> Shown {
        Shown(self.shown.load(Ordering::Acquire))
    }

    fn display(&self, message: &[u8]) {
        let own = process::place().unwrap_or(MOST_PROCESSES) as u64 + 1;
        for number in 0..SLOTS {
            let Some((state, length, body)) = self.slot(number) else { return };
            let before = state.load(Ordering::Relaxed);
            if self.shown().slot() == Some(number) || before & WRITER != 0 {
                continue;
            }
            if state.compare_exchange(before, before | own, Ordering::Acquire, Ordering::Relaxed).is_err() {
                continue;
            }
            fence(Ordering::Release);
            length.store(message.len() as u64, Ordering::Relaxed);
            put(body, message);
            state.store(before + WRITER + 1, Ordering::Release);
            let shows = |word| Some(Shown(word).next(number).0);
            let _ = self.shown.fetch_update(Ordering::AcqRel, Ordering::Acquire, shows);
            return;
        }
    }

    /// The message; nothing if there is none, and none was displayed since `before` either. It begins again while others write, which they
    /// do a finite number of times while this process runs.
    fn read(&self, before: Shown, message: &mut [u8]) -> Option<Result<MessageSize, ErrorReturnCode>> {
        loop {
            let now = self.shown();
            let slot = now.slot().filter(|_| !now.is_cleared() || now.count() != before.count())?;
            let (state, length, body) = self.slot(slot)?;
            let written = state.load(Ordering::Acquire);
            let count = length.load(Ordering::Relaxed) as usize;
            let fits = message.get_mut(..count).map(|into| get(body, into));
            fence(Ordering::Acquire);
            if written & WRITER == 0 && state.load(Ordering::Relaxed) == written {
                return Some(fits.map(|()| count as MessageSize).ok_or(ErrorReturnCode::InvalidParam));
            }
        }
    }

    /// The process at this place writes no more: what it has begun is not shown.
    fn leave(&self, place: usize) {
        for number in 0..SLOTS {
            let Some((state, ..)) = self.slot(number) else { return };
            let is = state.load(Ordering::Acquire);
            if is & WRITER == place as u64 + 1 {
                state.store((is | WRITER) + 1, Ordering::Release);
            }
        }
    }
}

/// The bits of a slot's state that say who writes.
const WRITER: u64 = 0xff;

/// What a board shows: the slot of the message that was displayed last, plus one, whether it was cleared since, and how many were
/// displayed.
#[derive(Clone, Copy)]
struct Shown(u64);

impl Shown {
    const CLEARED: u64 = 1 << 15;

    fn slot(self) -> Option<usize> {
        (self.0 as usize & 0x7fff).checked_sub(1)
    }

    fn is_cleared(self) -> bool {
        self.0 & Shown::CLEARED != 0
    }

    fn count(self) -> u64 {
        self.0 >> 16
    }

    fn next(self, slot: usize) -> Shown {
        Shown((self.count() + 1) << 16 | (slot as u64 + 1))
    }

    fn is_empty(self) -> bool {
        self.is_cleared() || self.slot().is_none()
    }
}

/// The process at this place leaves everything that it is in the middle of.
pub(super) fn leave(place: usize) {
    BLACKBOARDS.all().iter().for_each(|board| board.leave(place));
}

impl ApexBlackboardP1 for Apex {
    fn create_blackboard(
        blackboard_name: BlackboardName,
        max_message_size: MessageSize,
    ) -> Result<BlackboardId, ErrorReturnCode> {
        BLACKBOARDS.create(&blackboard_name, |board| {
            if max_message_size == 0 {
                return Err(ErrorReturnCode::InvalidParam);
            }
            board.size.store(max_message_size as usize, Ordering::Relaxed);
            let memory = SLOTS.checked_mul(board.slot_words()).and_then(pool::take);
            board.from.store(memory.ok_or(ErrorReturnCode::InvalidConfig)?, Ordering::Relaxed);
            board.shown.store(0, Ordering::Relaxed);
            Ok(())
        })
    }

    fn display_blackboard(blackboard_id: BlackboardId, message: &[ApexByte]) -> Result<(), ErrorReturnCode> {
        let board = BLACKBOARDS.get(blackboard_id)?;
        if message.is_empty() || message.len() > board.size.load(Ordering::Relaxed) {
            return Err(ErrorReturnCode::InvalidParam);
        }
        board.display(message);
        Ok(())
    }

    /// # Safety
    ///
    /// The trait asks for it; a slice holds what is put into it.
    unsafe fn read_blackboard(
        blackboard_id: BlackboardId,
        time_out: ApexSystemTime,
        message: &mut [ApexByte],
    ) -> Result<MessageSize, ErrorReturnCode> {
        let board = BLACKBOARDS.get(blackboard_id)?;
        let before = board.shown();
        time::wait_for(awaited::object(awaited::BLACKBOARD, blackboard_id), time_out, || board.read(before, message))?
    }

    fn clear_blackboard(blackboard_id: BlackboardId) -> Result<(), ErrorReturnCode> {
        BLACKBOARDS.get(blackboard_id).map(|board| {
            board.shown.fetch_or(Shown::CLEARED, Ordering::AcqRel);
        })
    }

    fn get_blackboard_id(blackboard_name: BlackboardName) -> Result<BlackboardId, ErrorReturnCode> {
        BLACKBOARDS.find(&blackboard_name).map(|(id, _)| id).ok_or(ErrorReturnCode::InvalidConfig)
    }

    fn get_blackboard_status(blackboard_id: BlackboardId) -> Result<BlackboardStatus, ErrorReturnCode> {
        let board = BLACKBOARDS.get(blackboard_id)?;
        Ok(BlackboardStatus {
            empty_indicator: if board.shown().is_empty() { EmptyIndicator::Empty } else { EmptyIndicator::Occupied },
            max_message_size: board.size.load(Ordering::Relaxed) as MessageSize,
            waiting_processes: waiting(awaited::object(awaited::BLACKBOARD, blackboard_id)),
        })
    }
}
