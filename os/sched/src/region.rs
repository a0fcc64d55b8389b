//! One core's shared region, as its scheduler uses it.

use crate::policy::{Thread, Urgency};
use tactus_abi::layout::MAX_THREADS;
use tactus_abi::shared::slot;
use tactus_rt::scheduler::OwnRegion;

/// The region of one core, with threads and urgencies in the library's types.
#[derive(Clone, Copy)]
pub struct Shared(OwnRegion);

/// What the kernel reported of one thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SlotReport {
    /// The thread.
    pub thread: Thread,
    /// All cycles that were ever posted to the slot.
    pub cycles: u64,
    /// Link and flags, as they stood there.
    word: u32,
}

impl SlotReport {
    /// Whether time is all.
    #[inline(always)]
    pub fn is_time(self) -> bool {
        self.word & (u32::from(!slot::LINKED) << 16) == 0
    }

    /// Flags of [`tactus_abi::shared::slot`].
    pub fn flags(self) -> u16 {
        (self.word >> 16) as u16 & !slot::LINKED
    }

    /// The next slot's place in the list.
    #[inline(always)]
    pub fn next(self) -> u16 {
        self.word as u16
    }
}

impl Shared {
    /// Over this core's region of the scheduler that the calling thread is in.
    #[inline(always)]
    pub const fn new(region: OwnRegion) -> Shared {
        Shared(region)
    }

    /// The region itself.
    #[inline(always)]
    pub fn own(self) -> OwnRegion {
        self.0
    }

    /// Tells the kernel who was chosen. Inside the critical section, so that a choice that has become stale by the time
    /// of the switch is found out.
    #[inline(always)]
    pub fn set_next_thread(self, thread: u64) {
        self.0.set_next_thread(thread);
    }

    /// Whether an event waits.
    #[inline(always)]
    pub fn event_pending(self) -> bool {
        self.0.event_pending()
    }

    /// Takes the events. The mark that events wait is cleared *first*: one that comes later sets it again, and the next
    /// switch fails.
    #[inline(always)]
    pub fn take_events(self) -> u64 {
        self.0.take_events()
    }

    /// Takes the place of the event list's first slot; 0 if it is empty.
    #[inline(always)]
    pub fn take_first(self) -> u16 {
        self.0.take_first_slot()
    }

    /// Takes the slot at this place out of the list: what it tells; nothing if no slot of a thread is there.
    #[inline(always)]
    pub fn take(self, place: u16) -> Option<SlotReport> {
        // Slot 0 is none: it ends the list.
        let thread = usize::from(place).wrapping_sub(1);
        if thread >= MAX_THREADS {
            return None;
        }
        let (word, cycles) = self.0.take_slot(thread as u16);
        Some(SlotReport { thread: Thread(thread as u16), cycles, word })
    }

    /// When the child whose upcall thread this is wants the core again, where the flags say so.
    pub fn wake(self, thread: Thread) -> u64 {
        self.0.wake(thread.0)
    }

    /// All cycles that were ever posted for a thread.
    pub fn cycles(self, thread: Thread) -> u64 {
        self.0.cycles(thread.0)
    }

    /// Sets a thread's urgency.
    pub fn set_urgency(self, thread: Thread, urgency: Urgency) {
        self.0.set_urgency(thread.0, urgency.0);
    }

    /// The last fault on this core: the thread, and whether it can go on.
    pub fn fault(self) -> (Option<Thread>, bool) {
        let fault = self.0.fault();
        (Thread::new(fault.thread), fault.survives != 0)
    }
}
