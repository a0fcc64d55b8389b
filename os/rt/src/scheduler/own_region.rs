//! The region of one core, as the scheduler that owns it uses it.

use crate::region::{self, Counts};
use crate::sequences;
use core::ptr::{addr_of, addr_of_mut};
use tactus_abi::layout::{LINES, MAX_CORES, REGION_STRIDE, SLOTS};
use tactus_abi::shared::{slot, Fault, Region, Slot};

/// The region that the kernel shares with this scheduler on one core.
#[derive(Clone, Copy)]
pub struct OwnRegion(*mut Region);

impl OwnRegion {
    /// The region of the core with this number.
    #[inline(always)]
    pub fn of(core: u8) -> OwnRegion {
        OwnRegion(region::of(core % MAX_CORES as u8))
    }

    /// The same where many fields are used one after another: the compiler no longer knows the address, and so keeps it, not one of
    /// each field.
    #[inline(always)]
    pub fn kept(core: u8) -> OwnRegion {
        let mut at = region::of(core % MAX_CORES as u8) as u64;
        // SAFETY: no instruction, and the register has the value that it had.
        unsafe { core::arch::asm!("/* {0} */", inout(reg) at, options(pure, nomem, nostack, preserves_flags)) };
        OwnRegion(at as *mut Region)
    }

    /// One in the memory of a test.
    ///
    /// # Safety
    /// `region` stays valid for as long as the value is used.
    pub const unsafe fn over(region: *mut Region) -> OwnRegion {
        OwnRegion(region)
    }

    /// Takes the events that the kernel posted.
    #[inline(always)]
    pub fn take_events(self) -> u64 {
        // SAFETY: inside the window of regions; see the module for what happens where there is none.
        unsafe { region::take_events(self.0) }
    }

    /// Publishes the thread that was chosen, which the kernel compares with the dispatch.
    #[inline(always)]
    pub fn set_next_thread(self, thread: u64) {
        // SAFETY: as above; the scheduler alone writes the field.
        unsafe { addr_of_mut!((*self.0).next_thread).write_volatile(thread) };
    }

    /// The last fault on this core; written before the event was posted.
    pub fn fault(self) -> Fault {
        // SAFETY: as above.
        unsafe { addr_of!((*self.0).fault).read_volatile() }
    }

    /// The component that another one than this scheduler restarted last, and that other one.
    pub fn restarted(self) -> (u32, u32) {
        // SAFETY: as above.
        let word = unsafe { addr_of!((*self.0).restarted).read_volatile() };
        (word as u32, (word >> 32) as u32)
    }

    /// Until when (time stamp) this scheduler had the core before its parent gave it again, since it asked the last time; none if its
    /// parent has not.
    pub fn take_left(self) -> Option<u64> {
        // SAFETY: as above. The kernel writes it while this code does not run on the core, and only where it is 0; one exchange.
        let left = unsafe { region::take_left(self.0) };
        (left != 0).then_some(left)
    }

    /// Takes the lines that have interrupted and release jobs, as bits.
    pub fn take_lines(self) -> u64 {
        // SAFETY: as above.
        unsafe { region::take_lines(self.0) }
    }

    /// When (time stamp) the line interrupted last.
    pub fn line_time(self, line: usize) -> u64 {
        // SAFETY: as above; in bounds by the remainder.
        unsafe { addr_of!((*self.0).line_times[line % LINES]).read_volatile() }
    }

    /// How many calls the kernel refused on this core.
    pub fn refused(self) -> u64 {
        // SAFETY: as above.
        unsafe { addr_of!((*self.0).refused).read_volatile() }
    }

    /// What the kernel counted on this core.
    pub fn counts(self) -> Counts {
        // SAFETY: as above.
        unsafe { Counts::of(self.0) }
    }

    /// Enters the scheduler's critical section of this core, for the running thread `me`; left when the value is dropped.
    #[inline(always)]
    pub fn lock(self, me: u64) -> Locked {
        self.take_lock(me);
        Locked(self)
    }

    /// Writes any word of the region, for tests of what a scheduler that goes wild can do: it hurts what is inside its own server.
    pub fn write_word(self, word: usize, value: u64) {
        let word = word % (REGION_STRIDE / 8) as usize;
        // SAFETY: as above, and in bounds by the line above.
        unsafe { self.0.cast::<u64>().add(word).write_volatile(value) };
    }

    /// Whether an event waits.
    #[inline(always)]
    pub fn event_pending(self) -> bool {
        // SAFETY: as above; the kernel writes it in one piece.
        unsafe { addr_of!((*self.0).event_pending).read_volatile() != 0 }
    }

    /// Takes the number of the event list's first slot; 0 if it is empty. In two steps: while a slot is in the list, the kernel adds
    /// at its end and leaves the head alone.
    #[inline(always)]
    pub fn take_first_slot(self) -> u16 {
        // SAFETY: slot 0 is there; the kernel writes its link in one piece.
        unsafe {
            let head = addr_of_mut!((*self.0).slots[0].next);
            let first = head.read_volatile();
            if first != 0 {
                head.write_volatile(0);
            }
            first
        }
    }

    /// Takes the slot of the thread out of the event list: its link and flags, as they stood there, and all cycles that were ever
    /// posted to it.
    #[inline(always)]
    pub fn take_slot(self, thread: u16) -> (u32, u64) {
        let slot = self.slot(thread.into());
        // SAFETY: the first four bytes of a slot (`slot`) are `next` and `flags`; the kernel changes them on this core only, where
        // the sequence is restarted when it comes between. It writes `cycles` in one piece.
        unsafe { (sequences::take_word(slot.cast()), addr_of!((*slot).cycles).read_volatile()) }
    }

    /// When the child whose upcall thread this is wants the core again, where its slot's flags say so.
    pub fn wake(self, thread: u16) -> u64 {
        // SAFETY: a slot of the region (`slot`), written by the kernel in one piece.
        unsafe { addr_of!((*self.slot(thread.into())).wake).read_volatile() }
    }

    /// All cycles that were ever posted for a thread.
    pub fn cycles(self, thread: u16) -> u64 {
        // SAFETY: as above.
        unsafe { addr_of!((*self.slot(thread.into())).cycles).read_volatile() }
    }

    /// Sets a thread's urgency.
    pub fn set_urgency(self, thread: u16, urgency: u16) {
        // SAFETY: as above; written by the scheduler alone.
        unsafe { addr_of_mut!((*self.slot(thread.into())).urgency).write_volatile(urgency) };
    }

    /// The word of the scheduler's critical section; see [`crate::lock`].
    pub fn lock_word(self) -> u64 {
        // SAFETY: as above.
        unsafe { addr_of!((*self.0).lock).read_volatile() }
    }

    /// Enters the scheduler's critical section as [`OwnRegion::lock`] does, where another function leaves it.
    #[inline(always)]
    pub fn take_lock(self, me: u64) {
        // SAFETY: as above. A wrong number makes the kernel dispatch another thread than the owner; it excludes nobody from
        // memory, which is why per-core state is checked by itself (`PerCore`).
        unsafe { sequences::take_lock(addr_of_mut!((*self.0).lock), me) };
    }

    /// Leaves the scheduler's critical section. Who is not in it lets others in too early, and reaches no memory by that.
    #[inline(always)]
    pub fn release_lock(self) {
        // SAFETY: as in `take_lock`.
        unsafe { sequences::release_lock(addr_of_mut!((*self.0).lock)) };
    }

    #[inline(always)]
    fn slot(self, thread: u64) -> *mut Slot {
        let slot = (thread as usize).saturating_add(1).min(SLOTS - 1);
        // SAFETY: in bounds by the line above.
        unsafe { addr_of_mut!((*self.0).slots).cast::<Slot>().add(slot) }
    }

    /// Whether the child scheduler with this upcall thread has yielded the core and has nothing to run.
    pub fn child_is_idle(self, upcall: u64) -> bool {
        // SAFETY: a slot of the region (`slot`).
        unsafe { addr_of!((*self.slot(upcall)).flags).read_volatile() & slot::IDLE != 0 }
    }

    /// Takes the notice that the child scheduler with this upcall thread has nothing to run: when it wants the core again (time
    /// stamp). None if it has been notified since, and still wants it.
    pub fn take_child_idle(self, upcall: u64) -> Option<u64> {
        let slot = self.slot(upcall);
        // SAFETY: a slot of the region (`slot`). The kernel writes it on this core only, and one instruction takes the flag.
        unsafe {
            let flags = addr_of!((*slot).flags).read_volatile();
            core::arch::asm!("and word ptr [{at}], {rest}", at = in(reg) addr_of_mut!((*slot).flags),
                rest = const !slot::IDLE as i16, options(nostack));
            let wake = addr_of!((*slot).wake).read_volatile();
            (flags & slot::IDLE != 0).then_some(wake)
        }
    }
}

/// The scheduler's critical section of a core.
pub struct Locked(OwnRegion);

impl Drop for Locked {
    #[inline(always)]
    fn drop(&mut self) {
        self.0.release_lock();
    }
}
