//! Jobs that violations release: the handlers of a system file.
//!
//! The kernel keeps of each monitor its last violation, until a job of the handler has asked for it, and tells the root scheduler of the
//! handler's core, which releases the job. When it runs, and on what budget, is the root's affair as with any other.

use super::tables::{tables, Tables, Within};
use super::Demands;
use crate::arch::{interrupts, slices};
use crate::percore::{self, Core};
use crate::reply::{answer, running};
use core::sync::atomic::{AtomicU64, Ordering::SeqCst};
use tactus_abi::call::Error;
use tactus_abi::layout::MAX_CORES;
use tactus_abi::monitors::{action, NONE};

/// The monitors whose violations no job has asked for yet, as bits.
static WAITING: AtomicU64 = AtomicU64::new(0);
/// The monitors of which the root was not told yet, by the core on which it is to release the job.
static UNTOLD: [AtomicU64; MAX_CORES] = [const { AtomicU64::new(0) }; MAX_CORES];

/// The monitor was violated by this event, by [`NONE`] if one did not come: its handler's core, as a bit.
pub(super) fn release(tables: &Tables, within: &mut Within<'_>, core: u64, (monitor, event): (u32, u32)) -> u8 {
    let (Some(it), Some(left)) = (tables.monitors.get(monitor as usize), within.watcher(monitor).map(|it| it.left()))
    else {
        return 0;
    };
    it.violation.store(u64::from(event) << 32 | u64::from(left), SeqCst);
    let core = if it.core == NONE { core as usize } else { it.core as usize } % MAX_CORES;
    WAITING.fetch_or(1 << monitor, SeqCst);
    UNTOLD[core].fetch_or(1 << monitor, SeqCst);
    1 << core
}

/// The roots of these cores are to release jobs: others are interrupted. Whether this core's is.
pub(super) fn tell(core: &Core, releases: u8) -> bool {
    if releases == 0 {
        return false;
    }
    for other in (0..crate::machine::cores()).filter(|&it| releases >> it & 1 != 0 && it as u64 != core.id) {
        slices::calls(other);
        // SAFETY: addresses of cores are written during set-up only.
        interrupts::stop(unsafe { (*percore::of(other)).address });
        slices::let_look();
    }
    releases >> core.id & 1 != 0
}

/// Whether the root of this core has not been told of a violation.
pub fn waits_on(core: &Core) -> bool {
    UNTOLD[core.id as usize % MAX_CORES].load(SeqCst) != 0
}

/// The violations of which the root of this core was not told, as bits: now it is.
pub(super) fn take(core: &Core) -> u64 {
    UNTOLD[core.id as usize % MAX_CORES].swap(0, SeqCst)
}

/// `()`: a violation that the calling thread's jobs handle.
pub fn violation(core: &mut Core) {
    let thread = running(core);
    let (id, is_home) = (u32::from(thread.id), thread.component == thread.home);
    let monitors = tables().filter(|_| is_home).map_or(&[][..], |tables| tables.monitors);
    let is_handled = |bits: u64, it: &super::tables::Monitor| bits | u64::from(it.action == (action::RUN, id));
    let own = monitors.iter().rev().fold(0, |bits, it| is_handled(bits << 1, it));
    if own == 0 {
        return answer(core, Err(Error::NotAllowed));
    }
    let waiting = WAITING.load(SeqCst) & own;
    let number = waiting.trailing_zeros();
    let Some(monitor) = monitors.get(number as usize) else { return answer(core, Err(Error::NoMessage)) };
    // In this order: a violation that comes between is told of now and once more, and none is forgotten.
    WAITING.fetch_and(!(1 << number), SeqCst);
    let word = monitor.violation.load(SeqCst);
    running(core).pass([Error::None as u64, number.into(), word, 0]);
    super::leave(core, Demands::default())
}
