//! What the kernel tells a scheduler through the region that the two share: events, slots, counts.
//!
//! The kernel writes a core's regions on that core only. A scheduler may write whatever it likes into its own, at any
//! time: so the kernel follows no link in it (it keeps the end of each event list itself), takes every field once, and
//! uses nothing from it as an index that it has not compared with the slots' number.

use crate::path::{Path, Place, Scheduler};
use crate::percore::Core;
use crate::thread::Thread;
use core::ptr::{addr_of, addr_of_mut};
use tactus_abi::layout::LINES;
use tactus_abi::shared::{event, slot, Fault, Region, Slot};

/// Urgency of what has no slot: the least that is not disabled.
const UNTOLD: u16 = slot::DISABLED - 1;

// `link` moves these bits onto each other.
const _: () = assert!(slot::ACTIVE == 2 && slot::COMPLETED == 4 && slot::IDLE == 8);

/// The region of one scheduler on this core.
#[derive(Clone, Copy)]
pub struct Shared(*mut Region);

/// One of its slots.
#[derive(Clone, Copy)]
struct Slotted(*mut Slot);

/// Reads a field of the region, or of a slot.
macro_rules! read {
    ($region:expr, $($field:tt)+) => {
        // SAFETY: the region is memory of the kernel's making that is never given back; every value of the field is one.
        unsafe { addr_of!((*$region.0).$($field)+).read_volatile() }
    };
}

/// Writes a field of the region, or of a slot.
macro_rules! write {
    ($region:expr, $value:expr, $($field:tt)+) => {{
        let value = $value;
        // SAFETY: as in `read`; on this core nobody else writes while the kernel runs, and whatever another core's threads
        // of the same component write at the same time is theirs to lose.
        unsafe { addr_of_mut!((*$region.0).$($field)+).write_volatile(value) }
    }};
}

impl Shared {
    /// The region of the component on this core; one that nobody sees if it has none.
    #[inline(always)]
    pub fn of(core: &Core, component: u16) -> Shared {
        Shared(core.regions[usize::from(component) % core.regions.len()])
    }

    /// The root's region on this core.
    #[inline(always)]
    pub fn of_root(core: &Core) -> Shared {
        Shared(core.region)
    }

    /// Whether events wait, or the choice is another.
    #[inline(always)]
    pub fn refuses(self, wanted: u64) -> bool {
        read!(self, event_pending) != 0 || read!(self, next_thread) != wanted
    }

    /// Whether events wait.
    #[inline(always)]
    pub fn waits(self) -> bool {
        read!(self, event_pending) != 0
    }

    /// The scheduler's last choice.
    pub fn next_thread(self) -> u64 {
        read!(self, next_thread)
    }

    /// Posts events.
    #[inline(always)]
    pub fn post(self, events: u64) {
        write!(self, read!(self, events) | events, events);
        write!(self, 1, event_pending);
    }

    /// Notes that a line that releases jobs has interrupted.
    pub fn note_line(self, line: usize, now: u64) {
        let line = line % LINES;
        write!(self, now, line_times[line]);
        write!(self, read!(self, lines) | 1 << line, lines);
    }

    /// Tells a child that it has the core again, and until when it had it.
    pub fn post_given(self) {
        if read!(self, left) == 0 {
            write!(self, read!(self, until), left);
        }
        self.post(event::GIVEN);
    }

    /// The scheduler, or one of its threads, had the core until then.
    #[inline(always)]
    fn set_until(self, now: u64) {
        write!(self, now, until);
    }

    /// The lock word.
    pub fn lock(self) -> u64 {
        read!(self, lock)
    }

    /// Names the last contender for the lock; the owner stays.
    pub fn set_waiter(self, waiter: u64) {
        write!(self, read!(self, lock) & 0xFFFF_FFFF | waiter << 32, lock);
    }

    /// Counts a dispatch.
    #[inline(always)]
    pub fn count_dispatch(self) {
        write!(self, read!(self, dispatches).wrapping_add(1), dispatches);
    }

    /// Counts that the upcall began or went on.
    #[inline(always)]
    pub fn count_entry(self) {
        write!(self, read!(self, entries).wrapping_add(1), entries);
    }

    /// Notes a stretch in the kernel, and what brought it about, if it is the longest so far.
    #[inline(always)]
    pub fn note_stretch(self, ticks: u64, cause: u64) {
        if ticks > read!(self, longest) {
            write!(self, ticks, longest);
            write!(self, cause, longest_cause);
        }
    }

    /// Counts a refused call.
    pub fn count_refusal(self) {
        write!(self, read!(self, refused).wrapping_add(1), refused);
    }

    /// Adds idle time.
    pub fn add_idle(self, ticks: u64) {
        write!(self, read!(self, idle).saturating_add(ticks), idle);
    }

    /// Adds time of the scheduler's own upcall.
    #[inline(always)]
    pub fn add_own(self, ticks: u64) {
        write!(self, read!(self, own).saturating_add(ticks), own);
    }

    /// Notes what is told of a fault; the event is the caller's to post.
    #[inline(always)]
    pub fn note_fault(self, fault: Fault) {
        write!(self, fault, fault);
    }

    /// The fault that was noted last; the root may have written over it.
    pub fn fault(self) -> Fault {
        read!(self, fault)
    }

    /// Notes who was restarted and by whom; the event is the caller's to post.
    pub fn note_restart(self, component: u16, by: u16) {
        write!(self, u64::from(by) << 32 | u64::from(component), restarted);
    }

    /// The slot; the one that is nobody's, for none.
    #[inline(always)]
    fn slot(self, slot: Option<Place>) -> Slotted {
        // SAFETY: a place's number is less than there are slots.
        Slotted(unsafe {
            addr_of_mut!((*self.0).slots).cast::<Slot>().add(slot.map_or(0, |slot| slot.number().into()))
        })
    }

    /// The urgency in this slot; of what has no slot, if it is none.
    #[inline(always)]
    pub fn urgency(self, slot: Option<Place>) -> u16 {
        match slot {
            None => UNTOLD,
            slot => read!(self.slot(slot), urgency),
        }
    }

    /// Says until when a child scheduler has nothing to run.
    fn set_wake(self, slot: Place, wake: u64) {
        write!(self.slot(Some(slot)), wake, wake);
    }

    /// Adds time to a slot.
    #[inline(always)]
    fn add_cycles(self, slot: Place, ticks: u64) {
        let slot = self.slot(Some(slot));
        write!(slot, read!(slot, cycles).saturating_add(ticks), cycles);
    }

    /// Sets flags of a slot and puts it at the list's end if it is in none. `tail` is the list's end as the kernel knows it;
    /// a slot that the scheduler has taken since is not the end of anything: then the list begins anew at its head.
    #[inline(always)]
    fn link(self, tail: &mut u16, slot: Place, flags: u16) {
        let (own, own_number) = (self.slot(Some(slot)), slot.number());
        let found = read!(own, flags);
        if found & slot::LINKED != 0 {
            // Of what cannot both be so the later one stands: an upcall is active or completed, a child has something to run
            // or nothing. A child that is told something before its scheduler came to read that it was idle is not idle.
            let over = (flags & slot::ACTIVE) << 1
                | (flags & slot::ACTIVE) << 2
                | (flags & slot::COMPLETED) >> 1
                | (flags & slot::IDLE) >> 2;
            write!(own, found & !over | flags, flags);
            return;
        }
        // Looked at before this slot is marked: it may have been the end itself.
        let end = self.slot(Place::of(*tail));
        let end = if read!(end, flags) & slot::LINKED != 0 { end } else { self.slot(None) };
        write!(own, 0, next);
        write!(own, found | flags | slot::LINKED, flags);
        write!(end, own_number, next);
        *tail = own_number;
    }
}

/// Sets flags of the slot and links it.
#[inline(always)]
fn link(core: &mut Core, component: u16, slot: Place, flags: u16) {
    let region = Shared::of(core, component);
    let place = usize::from(component) % core.tails.len();
    region.link(&mut core.tails[place], slot, flags);
}

/// Tells the root that the slot, if it is one, changed so and used so much time.
#[inline(always)]
pub fn post_root_slot(core: &mut Core, slot: Option<Place>, flags: u16, ticks: u64) {
    match slot {
        Some(slot) => post_root_place(core, slot, flags, ticks),
        None => Shared::of_root(core).post(event::SLOTS),
    }
}

/// As [`post_root_slot`], for a slot that is one.
#[inline(always)]
pub fn post_root_place(core: &mut Core, slot: Place, flags: u16, ticks: u64) {
    let region = Shared::of_root(core);
    if ticks != 0 {
        region.add_cycles(slot, ticks);
    }
    let root = core.root as usize % core.tails.len();
    region.link(&mut core.tails[root], slot, flags);
    region.post(event::SLOTS);
}

/// Tells every scheduler of the path that the slot changed so.
pub fn post_slots(core: &mut Core, path: &Path, flags: u16) {
    for (scheduler, number) in path.holders() {
        if let Some(slot) = Place::of(number) {
            link(core, scheduler.component(), slot, flags);
        }
        Shared::of(core, scheduler.component()).post(event::SLOTS);
    }
}

/// Tells the scheduler that its child, whose upcall thread has this slot, has nothing to run until then.
pub fn post_idle(core: &mut Core, parent: Scheduler, slot: Option<Place>, wake: u64) {
    let region = Shared::of(core, parent.component());
    if let Some(slot) = slot {
        region.set_wake(slot, wake);
        link(core, parent.component(), slot, slot::IDLE);
    }
    region.post(event::CHILD_IDLE | event::SLOTS);
}

/// Adds the time to the slot, if it is one, in the root's region.
#[inline(always)]
pub fn count_root(core: &mut Core, slot: Option<Place>, ticks: u64) {
    if let Some(slot) = slot {
        let region = Shared::of_root(core);
        region.add_cycles(slot, ticks);
        let root = core.root as usize % core.tails.len();
        region.link(&mut core.tails[root], slot, 0);
    }
}

/// Adds the time to the thread's slot in the regions of all its schedulers, and of the one whose upcall thread it is.
#[inline(never)]
pub fn count(core: &mut Core, thread: &Thread, ticks: u64) {
    if ticks == 0 {
        return;
    }
    if thread.path().is_roots() && !thread.is_scheduler_upcall() {
        return count_root(core, thread.path().at(0).place(), ticks);
    }
    let now = core.charged;
    for (scheduler, number) in thread.path().holders() {
        let region = Shared::of(core, scheduler.component());
        region.set_until(now);
        if let Some(slot) = Place::of(number) {
            region.add_cycles(slot, ticks);
            link(core, scheduler.component(), slot, 0);
        }
    }
    if thread.is_scheduler_upcall() {
        let region = Shared::of(core, thread.home);
        region.set_until(now);
        region.add_own(ticks);
    }
}
