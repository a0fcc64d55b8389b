//! Giving the core to a thread, charging time, posting events to the scheduler.

use crate::arch::apic;
use crate::arch::paging::AddressSpace;
use crate::arch::percore::Core;
use crate::arch::port::time_stamp;
use crate::component;
use crate::thread::{Role, Thread};
use tactus_abi::call::NO_TIMEOUT;

/// What an upcall is told when it begins (`rdi`); a new thread is told 0.
const REASON_UPCALL: u64 = 1;

impl Core {
    /// Loads an address space unless it is the one loaded.
    pub fn enter_space(&mut self, space: AddressSpace) {
        if self.space != space {
            self.space = space;
            space.load();
        }
    }

    /// Counts a call that was refused.
    pub fn count_refusal(&mut self) {
        // SAFETY: the region is the kernel's and this core's.
        unsafe { (*self.region).refused += 1 };
    }
}

/// Charges the time since the last charge, up to the kernel's entry, to the thread that had the core. Before the thread
/// is released. The kernel's own work is charged to whom it gives the core.
#[inline(always)]
pub fn charge(core: &mut Core, current: &mut Thread) {
    current.used += core.entered.wrapping_sub(core.charged);
    core.charged = core.entered;
}

/// Gives the core to a thread, which the caller has taken for this core, until a time-out. Whoever had the core is
/// charged.
#[inline(always)]
pub fn run(core: &mut Core, thread: &mut Thread, timeout: u64) {
    core.current = thread;
    core.descriptors.set_save_area(thread.registers_end());
    core.enter_space(component::get(thread.component).space);
    if timeout != core.expiry || crate::turn() != 0 {
        return run_with_timer(core, timeout);
    }
    leave_kernel(core);
}

/// The rest of [`run`] where the timer has to be set.
#[inline(never)]
pub fn run_with_timer(core: &mut Core, timeout: u64) {
    core.expiry = timeout;
    start_timer(core);
    leave_kernel(core);
}

/// Gives the core to nobody until the time-out. Whoever had the core is charged.
pub fn sleep(core: &mut Core, timeout: u64) {
    core.current = core::ptr::null_mut();
    run_with_timer(core, timeout);
}

/// The core's current thread goes on, or none: notes when the kernel is left, and the longest stretch in it.
#[inline(always)]
pub fn leave_kernel(core: &mut Core) {
    core.left = time_stamp();
    let stretch = core.left.wrapping_sub(core.entered);
    // SAFETY: the region is the kernel's and this core's.
    let region = unsafe { &mut *core.region };
    if stretch > region.longest {
        region.longest = stretch;
    }
}

/// Posts events to the core's scheduler. If the scheduler is running on this core it will find them before its next
/// dispatch succeeds, and goes on; otherwise its upcall takes the core.
#[inline]
pub fn post(core: &mut Core, events: u64) {
    // SAFETY: the region is the kernel's and this core's; the scheduler cannot run while the kernel does.
    let region = unsafe { &mut *core.region };
    region.events |= events;
    region.event_pending = 1;
    // SAFETY: the running thread is this core's.
    if let Some(current) = unsafe { core.current.as_mut() } {
        if component::get(current.component).scheduler_depth.is_some() {
            return leave_kernel(core);
        }
        charge(core, current);
    } else {
        core.charged = core.entered;
    }
    core.interrupted = core.current;
    begin_upcall(core)
}

/// Gives the core to the upcall of its scheduler, which begins anew. Whoever had the core is charged.
#[inline(always)]
pub fn begin_upcall(core: &mut Core) {
    // SAFETY: the upcall is this core's.
    let upcall = unsafe { &mut *core.upcall };
    upcall.active = true;
    upcall.begin(REASON_UPCALL, upcall.argument);
    run(core, upcall, core.expiry)
}

/// Starts the timer for the time-out, or for as much of the way as it may go at once: as far as it can count, and, for
/// a running thread on a machine whose cores take turns, no further than a turn may last ([`crate::turn`]).
pub fn start_timer(core: &Core) {
    let turn = crate::turn();
    // SAFETY: the running thread is this core's.
    let current = unsafe { core.current.as_ref() }.filter(|_| turn != 0);
    if core.expiry == NO_TIMEOUT && current.is_none() {
        apic::start_timer(0);
        return;
    }
    let mut ticks = core.expiry.saturating_sub(time_stamp());
    if let Some(thread) = current {
        // An upcall ends its turn by itself, and soon: it never stands back for those that do not.
        ticks = ticks.min(turn + if thread.role == Role::Upcall { 16 * round() } else { core.lag });
    }
    apic::start_timer(crate::timer_counts(ticks).clamp(1, u64::from(u32::MAX / 2)) as u32);
}

/// What all other cores take at most before this one has its turn again, in time-stamp ticks.
fn round() -> u64 {
    crate::turn() * (crate::cores() as u64 - 1)
}

/// The core's turn is over, on a machine whose cores take turns: the others run, then this one goes on.
///
/// Setting the timer ends a turn in the emulator, and then the others use up the time that was set before this core
/// has executed anything: beside cores that never pause it would make no headway for ever. So where the turn's
/// interrupt comes almost as soon as the kernel is left, the core allows for more time that the others take, and for
/// less where its turn lasts too long.
pub fn end_turn(core: &mut Core) {
    let turn = crate::turn();
    if turn == 0 || core.current.is_null() {
        return;
    }
    let lasted = core.entered.saturating_sub(core.left);
    if lasted < turn / 8 {
        core.lag = (core.lag + turn).min(2 * round());
    } else {
        core.lag -= lasted.saturating_sub(turn).min(core.lag);
    }
    core::hint::spin_loop();
}
