//! The region of one core, as the scheduler that owns it uses it.

use crate::arch::word;
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
        // SAFETY: as above. A wrong number makes the kernel dispatch another thread than the owner; it excludes nobody from
        // memory, which is why per-core state is checked by itself (`PerCore`).
        unsafe { sequences::take_lock(addr_of_mut!((*self.0).lock), me) };
        Locked(self)
    }

    /// Writes any word of the region, for tests of what a scheduler that goes wild can do: it hurts what is inside its own server.
    pub fn write_word(self, word: usize, value: u64) {
        let word = word % (REGION_STRIDE / 8) as usize;
        // SAFETY: as above, and in bounds by the line above.
        unsafe { self.0.cast::<u64>().add(word).write_volatile(value) };
    }

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
            word::keep_only::<{ !slot::IDLE as i16 }>(addr_of_mut!((*slot).flags));
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
        // SAFETY: taken by `OwnRegion::lock`.
        unsafe { sequences::release_lock(addr_of_mut!((*self.0 .0).lock)) };
    }
}
