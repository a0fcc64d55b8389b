//! Blackboards: the newest message, for any number of readers. A writer takes a slot that nobody writes, so that two never write one; a
//! reader looks whether its slot was written meanwhile.

use super::hypervisor::{Apex, MOST_OBJECTS, MOST_PROCESSES};
use super::pool::{self, Name, Named, Table};
use super::time;
use crate::port::{get, put};
use a653rs::bindings::{
    ApexBlackboardP1, ApexByte, ApexSystemTime, BlackboardId, BlackboardName, BlackboardStatus, EmptyIndicator,
    ErrorReturnCode, MessageSize,
};
use core::sync::atomic::{fence, AtomicI32, AtomicU32, AtomicU64, AtomicUsize, Ordering};

/// One slot for each process that may be writing, one that holds the message, and one to spare.
const SLOTS: usize = MOST_PROCESSES + 2;
/// Words of a slot before the message: its state, and its length. The state is even while nobody writes, and grows.
const HEADER: usize = 2;

struct Blackboard {
    name: Name,
    size: AtomicUsize,
    from: AtomicUsize,
    /// The slot that holds the message, plus one; 0 if the board is empty.
    shown: AtomicUsize,
    waiting: AtomicI32,
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
        Blackboard {
            name: Name::new(),
            size: AtomicUsize::new(0),
            from: AtomicUsize::new(0),
            shown: AtomicUsize::new(0),
            waiting: AtomicI32::new(0),
        }
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

    fn display(&self, message: &[u8]) {
        for number in 0..SLOTS {
            let Some((state, length, body)) = self.slot(number) else { return };
            let before = state.load(Ordering::Relaxed);
            let shown = self.shown.load(Ordering::Relaxed) == number + 1;
            if shown || before % 2 != 0 {
                continue;
            }
            if state.compare_exchange(before, before + 1, Ordering::Acquire, Ordering::Relaxed).is_err() {
                continue;
            }
            fence(Ordering::Release);
            length.store(message.len() as u64, Ordering::Relaxed);
            put(body, message);
            state.store(before + 2, Ordering::Release);
            self.shown.store(number + 1, Ordering::Release);
            return;
        }
    }

    /// The message; nothing if there is none. It begins again while others write, which they do a finite number of times while this
    /// process runs.
    fn read(&self, message: &mut [u8]) -> Option<Result<MessageSize, ErrorReturnCode>> {
        loop {
            let shown = self.shown.load(Ordering::Acquire).checked_sub(1)?;
            let (state, length, body) = self.slot(shown)?;
            let before = state.load(Ordering::Acquire);
            let count = length.load(Ordering::Relaxed) as usize;
            let fits = message.get_mut(..count).map(|into| get(body, into));
            fence(Ordering::Acquire);
            if before % 2 == 0 && state.load(Ordering::Relaxed) == before {
                return Some(fits.map(|()| count as MessageSize).ok_or(ErrorReturnCode::InvalidParam));
            }
        }
    }
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
            board.waiting.store(0, Ordering::Relaxed);
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
        board.waiting.fetch_add(1, Ordering::Relaxed);
        let result = time::wait_for(time_out, || board.read(message));
        board.waiting.fetch_sub(1, Ordering::Relaxed);
        result?
    }

    fn clear_blackboard(blackboard_id: BlackboardId) -> Result<(), ErrorReturnCode> {
        BLACKBOARDS.get(blackboard_id).map(|board| board.shown.store(0, Ordering::Release))
    }

    fn get_blackboard_id(blackboard_name: BlackboardName) -> Result<BlackboardId, ErrorReturnCode> {
        BLACKBOARDS.find(&blackboard_name).map(|(id, _)| id).ok_or(ErrorReturnCode::InvalidConfig)
    }

    fn get_blackboard_status(blackboard_id: BlackboardId) -> Result<BlackboardStatus, ErrorReturnCode> {
        let board = BLACKBOARDS.get(blackboard_id)?;
        let empty = board.shown.load(Ordering::Acquire) == 0;
        Ok(BlackboardStatus {
            empty_indicator: if empty { EmptyIndicator::Empty } else { EmptyIndicator::Occupied },
            max_message_size: board.size.load(Ordering::Relaxed) as MessageSize,
            waiting_processes: board.waiting.load(Ordering::Relaxed),
        })
    }
}
