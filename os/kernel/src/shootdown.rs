//! What every core has to have done before something may go on: look whether it is in a stopped component, and forget
//! old mappings.
//!
//! A request has a number. Each core that is interrupted for it does all that was requested up to then and says so; who
//! waits asks again later. Nobody waits in the kernel.

use crate::arch::{interrupts, paging};
use crate::percore::{self, Core};
use core::sync::atomic::{AtomicU64, Ordering::SeqCst};
use tactus_abi::layout::MAX_CORES;

static REQUESTED: AtomicU64 = AtomicU64::new(0);
static DONE: [AtomicU64; MAX_CORES] = [const { AtomicU64::new(0) }; MAX_CORES];

/// Requests it of all cores; does it on this one. The request's number.
pub fn request(core: &Core) -> u64 {
    let number = REQUESTED.fetch_add(1, SeqCst) + 1;
    attend(core);
    for other in (0..crate::machine::cores()).filter(|&other| other as u64 != core.id) {
        // SAFETY: addresses of cores are written during set-up only.
        interrupts::stop(unsafe { (*percore::of(other)).address });
    }
    number
}

/// Does what was requested of this core.
pub fn attend(core: &Core) {
    let requested = REQUESTED.load(SeqCst);
    paging::forget_mappings();
    DONE[core.id as usize % MAX_CORES].store(requested, SeqCst);
}

/// Whether this core has done it.
#[cfg(feature = "check")]
pub fn is_done_here(core: &Core, number: u64) -> bool {
    DONE[core.id as usize % MAX_CORES].load(SeqCst) >= number
}

/// Whether all cores have done it.
pub fn is_done(number: u64) -> bool {
    DONE.iter().take(crate::machine::cores()).all(|done| done.load(SeqCst) >= number)
}
