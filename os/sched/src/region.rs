//! One core's shared region, as its scheduler uses it.

use crate::thread_scheduler::{Thread, Urgency};
use core::ptr::addr_of_mut;
use tactus_abi::layout::MAX_THREADS;
use tactus_abi::shared::{slot, Region};
use tactus_rt::{region, sequences};

/// The region of one core.
///
/// All access goes through raw pointers: the kernel writes the region whenever the scheduler does not run. What both write
/// is changed by restartable sequences or single instructions.
#[derive(Clone, Copy)]
pub struct Shared(*mut Region);

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
    /// # Safety
    /// `region` stays valid for as long as the value is used, and is this core's region of the scheduler that the
    /// calling thread is in.
    pub const unsafe fn new(region: *mut Region) -> Shared {
        Shared(region)
    }

    /// The lock word.
    pub fn lock(self) -> *mut u64 {
        // SAFETY: the region is valid (`new`); only its address is formed.
        unsafe { addr_of_mut!((*self.0).lock) }
    }

    /// Tells the kernel who was chosen. Inside the critical section, so that a choice that has become stale by the time
    /// of the switch is found out.
    #[inline(always)]
    pub fn set_next_thread(self, thread: u64) {
        // SAFETY: a field of a valid region, written by the scheduler alone.
        unsafe { addr_of_mut!((*self.0).next_thread).write_volatile(thread) };
    }

    /// Whether an event waits.
    #[inline(always)]
    pub fn event_pending(self) -> bool {
        // SAFETY: a field of a valid region; the kernel writes it in one piece.
        unsafe { addr_of_mut!((*self.0).event_pending).read_volatile() != 0 }
    }

    /// Takes the events. The mark that events wait is cleared *first*: one that comes later sets it again, and the next
    /// switch fails.
    #[inline(always)]
    pub fn take_events(self) -> u64 {
        // SAFETY: a valid region (`new`).
        unsafe { region::take_events(self.0) }
    }

    fn slot(self, place: usize) -> *mut tactus_abi::shared::Slot {
        // SAFETY: callers pass places below `SLOTS` of a valid region.
        unsafe { addr_of_mut!((*self.0).slots).cast::<tactus_abi::shared::Slot>().add(place) }
    }

    /// Takes the place of the event list's first slot; 0 if it is empty. In two steps: while a slot is in the list, the kernel adds
    /// at its end and leaves the head alone.
    #[inline(always)]
    pub fn take_first(self) -> u16 {
        // SAFETY: slot 0 is there; the kernel writes its link in one piece.
        unsafe {
            let head = addr_of_mut!((*self.slot(0)).next);
            let first = head.read_volatile();
            if first != 0 {
                head.write_volatile(0);
            }
            first
        }
    }

    /// Takes the slot at this place out of the list: what it tells; nothing if no slot of a thread is there.
    #[inline(always)]
    pub fn take(self, place: u16) -> Option<SlotReport> {
        // Slot 0 is none: it ends the list.
        let thread = usize::from(place).wrapping_sub(1);
        if thread >= MAX_THREADS {
            return None;
        }
        let slot = self.slot(thread + 1);
        // SAFETY: the first four bytes of a slot, which is in bounds by the line above, are `next` and `flags`; the kernel changes
        // them on this core only, where the sequence is restarted when it comes between. It writes `cycles` in one piece.
        let (word, cycles) =
            unsafe { (sequences::take_word(slot.cast()), addr_of_mut!((*slot).cycles).read_volatile()) };
        Some(SlotReport { thread: Thread(thread as u16), cycles, word })
    }

    /// When the child whose upcall thread this is wants the core again, where the flags say so.
    pub fn wake(self, thread: Thread) -> u64 {
        // SAFETY: threads are in bounds; written by the kernel in one piece.
        unsafe { addr_of_mut!((*self.slot(thread.slot())).wake).read_volatile() }
    }

    /// All cycles that were ever posted for a thread.
    pub fn cycles(self, thread: Thread) -> u64 {
        // SAFETY: threads are in bounds; written by the kernel in one piece.
        unsafe { addr_of_mut!((*self.slot(thread.slot())).cycles).read_volatile() }
    }

    /// Sets a thread's urgency.
    pub fn set_urgency(self, thread: Thread, urgency: Urgency) {
        // SAFETY: threads are in bounds; written by the scheduler alone.
        unsafe { addr_of_mut!((*self.slot(thread.slot())).urgency).write_volatile(urgency.0) };
    }

    /// The last fault on this core: the thread, and whether it can go on.
    pub fn fault(self) -> (Option<Thread>, bool) {
        // SAFETY: written by the kernel before the event is posted.
        let fault = unsafe { addr_of_mut!((*self.0).fault).read_volatile() };
        (Thread::new(fault.thread), fault.survives != 0)
    }
}
