//! The core's timer: set for the next time-out, and, where the cores of an emulated machine take turns, for the end of a slice.

use crate::arch::{slices, timer};
use crate::component::{self, Component};
use crate::event_source::any_releases;
use crate::percore::Core;
use crate::thread::Thread;
use core::sync::atomic::Ordering::Relaxed;
use tactus_abi::call::{Error, NO_TIMEOUT};
use tactus_abi::image::role;

/// The run begins, on an emulated machine; its cores take turns of this length, or none if it is 0. `sharing`: how many cores share one time,
/// those of other sandboxes too.
pub fn set_up_slices(turn: u64, sharing: usize) {
    if turn == 0 {
        return;
    }
    let any = |of: fn(&Component) -> bool| (0..crate::machine::components()).any(|number| of(component::get(number)));
    let computes = any(|it| it.has_role(role::COMPUTES));
    // What cores of other sandboxes have to notice is not known.
    let alone = sharing == crate::machine::cores();
    let may_be_long = alone && computes && !any(|it| it.lines != 0) && !any_releases();
    slices::set_up(turn, sharing, crate::machine::CLOCK.load(Relaxed), may_be_long);
}

/// `(instant)`: the thread computes until then, in time-stamp ticks, and neither calls nor ends.
pub fn promise(core: &Core, thread: &mut Thread, instant: u64) -> Result<(), Error> {
    if !component::get(thread.component).has_role(role::COMPUTES) {
        return Err(Error::NotAllowed);
    }
    thread.quiet = instant;
    note(core, Some(thread));
    Ok(())
}

/// Notes until when nothing on the core has to be noticed.
fn note(core: &Core, current: Option<&Thread>) {
    let thread = match current {
        None => NO_TIMEOUT,
        Some(thread) if thread.component == thread.home => thread.quiet,
        Some(_) => 0,
    };
    slices::note(core.id as usize, core.expiry.min(thread));
}

/// Starts the timer for the time-out, or for as much of the way as it may go at once.
#[inline(never)]
pub fn start_timer(core: &mut Core) {
    #[cfg(feature = "destruction")]
    crate::arch::destruction::look();
    if slices::are_there() {
        return start_slice(core);
    }
    match core.expiry {
        NO_TIMEOUT => timer::start(0),
        expiry => timer::start_until(expiry),
    }
}

/// As [`start_timer`], where cores take turns.
#[inline(never)]
fn start_slice(core: &mut Core) {
    // SAFETY: the running thread is this core's.
    let current = unsafe { core.current.as_ref() };
    note(core, current);
    if core.expiry == NO_TIMEOUT && current.is_none() {
        return timer::start(0);
    }
    let running = current.map(|thread| core::ptr::eq(thread, core.upcall));
    slices::start_timer(&mut core.slices, core.expiry, running);
}

/// The core's slice is over: the others run, then this one goes on.
pub fn end_turn(core: &mut Core) {
    if slices::are_there() && !core.current.is_null() {
        slices::end(&mut core.slices, core.entered.saturating_sub(core.left));
    }
}
