//! Components that are stopped: nobody enters them any more, and all cores look whether they are in them.

use crate::component;
use crate::percore::Core;
use crate::shootdown;
use crate::thread::{state, Thread};
use core::sync::atomic::{AtomicU64, Ordering};
use tactus_abi::layout::MAX_COMPONENTS;

/// Stands in a thread's frames for a component that was restarted since: always stopped. Which one it was stands in the
/// frame's `instruction`.
pub const DEAD: u16 = MAX_COMPONENTS as u16;

/// The request to all cores to look whether they are in the component.
static STOPPED: [AtomicU64; MAX_COMPONENTS] = [const { AtomicU64::new(0) }; MAX_COMPONENTS];
/// Stands there while the request is still to be made.
const NOT_ASKED: u64 = u64::MAX;

/// Stops the component: nobody enters it again, and all cores are to look whether they are in it. Before that is asked of them
/// they cannot have done so, whatever they did when it was stopped the last time.
pub fn stop(core: &Core, component: u16) {
    let asked = &STOPPED[usize::from(component) % MAX_COMPONENTS];
    asked.store(NOT_ASKED, Ordering::SeqCst);
    component::get(component).stop();
    asked.store(shootdown::request(core), Ordering::SeqCst);
}

/// Whether this core has looked, since the component was stopped, whether it is in it. Of one that is stopped.
#[cfg(feature = "check")]
pub fn has_left(core: &Core, component: u16) -> bool {
    shootdown::is_done_here(core, STOPPED[usize::from(component) % MAX_COMPONENTS].load(Ordering::SeqCst))
}

/// Whether all cores have looked.
pub fn everybody_has_left(component: u16) -> bool {
    shootdown::is_done(STOPPED[usize::from(component) % MAX_COMPONENTS].load(Ordering::SeqCst))
}

/// A thread that nobody called and whose component was stopped under it: whether that has begun anew since, and the
/// thread with it.
#[cold]
pub fn begins_anew(thread: &mut Thread) -> bool {
    let home = thread.home;
    if component::get(home).is_stopped() || !thread.lacks(state::BRAND | state::SCHEDULER | state::SPARE) {
        return false;
    }
    thread.clear(state::STOPPED);
    thread.begin_again();
    true
}
