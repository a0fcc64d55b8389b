//! The region of one core, as a scheduler of threads uses it.

use crate::arch::word;
use crate::{region, sequences};
use core::ptr::addr_of_mut;
use tactus_abi::layout::{MAX_CORES, MAX_THREADS};
use tactus_abi::shared::{slot, Fault, Region, Slot};

/// The region that the kernel shares with this scheduler on one core, with its slots of threads.
///
/// All access goes through raw pointers: the kernel writes the region whenever the scheduler does not run. What both write
/// is changed by restartable sequences or single instructions.
#[derive(Clone, Copy)]
pub struct ThreadRegion(*mut Region);

/// What the kernel reported of one thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SlotReport {
    /// The thread.
    pub thread: u16,
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

impl ThreadRegion {
    /// The region of the core with this number.
    #[inline(always)]
    pub fn of(core: u8) -> ThreadRegion {
        ThreadRegion(word::opaque(region::of(core % MAX_CORES as u8) as u64) as *mut Region)
    }

    /// Memory that is used as a region, in tests on the host.
    ///
    /// # Safety
    /// It stays valid for as long as the value is used, and no reference to it is used meanwhile.
    pub const unsafe fn at(region: *mut Region) -> ThreadRegion {
        ThreadRegion(region)
    }

    /// Where it lies.
    pub fn as_ptr(self) -> *mut Region {
        self.0
    }

    /// Enters the scheduler's critical section of this core, for the running thread.
    #[inline(always)]
    pub fn take_lock(self, thread: u16) {
        // SAFETY: the lock of a region; see the module for what happens where there is none.
        unsafe { sequences::take_lock(addr_of_mut!((*self.0).lock), thread.into()) };
    }

    /// Leaves it.
    #[inline(always)]
    pub fn release_lock(self) {
        // SAFETY: as above.
        unsafe { sequences::release_lock(addr_of_mut!((*self.0).lock)) };
    }

    /// Tells the kernel who was chosen. Inside the critical section, so that a choice that has become stale by the time
    /// of the switch is found out.
    #[inline(always)]
    pub fn set_next_thread(self, thread: u64) {
        // SAFETY: as above; the scheduler alone writes the field.
        unsafe { addr_of_mut!((*self.0).next_thread).write_volatile(thread) };
    }

    /// Whether an event waits.
    #[inline(always)]
    pub fn event_pending(self) -> bool {
        // SAFETY: as above; the kernel writes the field in one piece.
        unsafe { addr_of_mut!((*self.0).event_pending).read_volatile() != 0 }
    }

    /// Takes the events. The mark that events wait is cleared *first*: one that comes later sets it again, and the next
    /// switch fails.
    #[inline(always)]
    pub fn take_events(self) -> u64 {
        // SAFETY: as above.
        unsafe { region::take_events(self.0) }
    }

    fn slot(self, place: usize) -> *mut Slot {
        // SAFETY: callers pass places below `SLOTS`.
        unsafe { addr_of_mut!((*self.0).slots).cast::<Slot>().add(place) }
    }

    /// The place of the thread's slot; of a number that is none, that of the last one.
    fn slot_of(self, thread: u16) -> *mut Slot {
        self.slot(usize::from(thread).min(MAX_THREADS - 1) + 1)
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
        Some(SlotReport { thread: thread as u16, cycles, word })
    }

    /// When the child whose upcall thread this is wants the core again, where the flags say so.
    pub fn wake(self, thread: u16) -> u64 {
        // SAFETY: in bounds by `slot_of`; written by the kernel in one piece.
        unsafe { addr_of_mut!((*self.slot_of(thread)).wake).read_volatile() }
    }

    /// All cycles that were ever posted for a thread.
    pub fn cycles(self, thread: u16) -> u64 {
        // SAFETY: in bounds by `slot_of`; written by the kernel in one piece.
        unsafe { addr_of_mut!((*self.slot_of(thread)).cycles).read_volatile() }
    }

    /// Sets a thread's urgency.
    pub fn set_urgency(self, thread: u16, urgency: u16) {
        // SAFETY: in bounds by `slot_of`; written by the scheduler alone.
        unsafe { addr_of_mut!((*self.slot_of(thread)).urgency).write_volatile(urgency) };
    }

    /// The last fault on this core.
    pub fn fault(self) -> Fault {
        // SAFETY: written by the kernel before the event is posted.
        unsafe { addr_of_mut!((*self.0).fault).read_volatile() }
    }
}
