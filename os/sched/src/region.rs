//! One core's shared region, as its scheduler uses it.

use crate::policy::{Thread, Urgency};
use core::ptr::addr_of_mut;
use tactus_abi::layout::{MAX_THREADS, SLOTS};
use tactus_abi::shared::{slot, Region};
use tactus_rt::sequences;

/// The region of one core.
///
/// All access goes through raw pointers: the kernel writes the region whenever the scheduler does not run. What both write
/// is changed by restartable sequences or single instructions.
#[derive(Clone, Copy)]
pub struct Shared(*mut Region);

/// What the kernel told of one thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Told {
    /// The thread.
    pub thread: Thread,
    /// Flags of [`tactus_abi::shared::slot`].
    pub flags: u16,
    /// All cycles that were ever posted to the slot.
    pub cycles: u64,
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
        if !self.event_pending() {
            return 0;
        }
        // SAFETY: fields of a valid region; the exchange is one instruction, so nothing posted is lost.
        unsafe {
            addr_of_mut!((*self.0).event_pending).write_volatile(0);
            let events: u64;
            core::arch::asm!("xchg [{at}], {taken}", at = in(reg) addr_of_mut!((*self.0).events),
                taken = inout(reg) 0_u64 => events, options(nostack, preserves_flags));
            events
        }
    }

    fn slot(self, place: usize) -> *mut tactus_abi::shared::Slot {
        // SAFETY: callers pass places below `SLOTS` of a valid region.
        unsafe { addr_of_mut!((*self.0).slots).cast::<tactus_abi::shared::Slot>().add(place) }
    }

    /// Takes `next` and `flags` of a slot in one piece.
    #[inline(always)]
    fn take(self, place: usize) -> (u16, u16) {
        // SAFETY: the first four bytes of a slot are `next` and `flags`; the kernel changes them on this core only, where
        // the sequence is restarted when it comes between.
        let word = unsafe { sequences::take_word(self.slot(place).cast()) };
        (word as u16, (word >> 16) as u16)
    }

    /// Walks the event list and clears it. A list that makes no sense ends the walk: it hurts nobody but this scheduler.
    #[inline(always)]
    pub fn walk(self, mut told: impl FnMut(Told)) {
        // SAFETY: slot 0 is there.
        if unsafe { addr_of_mut!((*self.slot(0)).next).read_volatile() } == 0 {
            return;
        }
        let (mut place, _) = self.take(0);
        for _ in 0..SLOTS {
            // Slot 0 is none: it ends the list.
            let thread = usize::from(place).wrapping_sub(1);
            if thread >= MAX_THREADS {
                return;
            }
            let (next, flags) = self.take(thread + 1);
            let slot = self.slot(thread + 1);
            // SAFETY: in bounds by the line above; written by the kernel in one piece.
            let cycles = unsafe { addr_of_mut!((*slot).cycles).read_volatile() };
            told(Told { thread: Thread(thread as u16), flags: flags & !slot::LINKED, cycles });
            place = next;
        }
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
