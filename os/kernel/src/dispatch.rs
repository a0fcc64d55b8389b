//! Giving the core to a thread, charging time, posting events to the scheduler.

use crate::arch::apic;
use crate::arch::entry::Registers;
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

/// Charges the time since the last charge to the thread that had the core, and gives the core to `next` (null:
/// nobody). The caller has taken `next` for this core.
pub fn run(core: &mut Core, next: *mut Thread) -> *const Registers {
    let now = time_stamp();
    // SAFETY: the running thread is this core's.
    if let Some(current) = unsafe { core.current.as_mut() } {
        current.used += now.saturating_sub(core.charged);
    }
    core.charged = now;
    core.current = next;
    // SAFETY: `next` is this core's, as the caller promises.
    match unsafe { next.as_mut() } {
        None => {
            if crate::turn() != 0 {
                start_timer(core);
            }
            leave_kernel(core, core::ptr::null())
        }
        Some(thread) => {
            let end = thread.registers_end();
            if crate::turn() != 0 {
                start_timer(core);
            }
            core.registers_end = end;
            core.descriptors.set_save_area(end);
            core.enter_space(component::get(thread.component).space);
            leave_kernel(core, &raw const thread.registers)
        }
    }
}

/// Goes on with the running thread.
pub fn resume_thread(core: &mut Core, thread: &Thread) -> *const Registers {
    leave_kernel(core, &raw const thread.registers)
}

fn leave_kernel(core: &mut Core, registers: *const Registers) -> *const Registers {
    core.left = time_stamp();
    let stretch = core.left.saturating_sub(core.entered);
    // SAFETY: the region is the kernel's and this core's.
    let region = unsafe { &mut *core.region };
    region.longest = region.longest.max(stretch);
    registers
}

/// Posts events to the core's scheduler. If the scheduler is running on this core it will find them before its next
/// dispatch succeeds, and goes on; otherwise its upcall takes the core.
pub fn post(core: &mut Core, events: u64) -> *const Registers {
    // SAFETY: the region is the kernel's and this core's; the scheduler cannot run while the kernel does.
    let region = unsafe { &mut *core.region };
    region.events |= events;
    region.event_pending = 1;
    // SAFETY: the running thread is this core's.
    if let Some(current) = unsafe { core.current.as_ref() } {
        if component::get(current.component).scheduler_depth.is_some() {
            return resume_thread(core, current);
        }
    }
    core.interrupted = core.current;
    begin_upcall(core)
}

/// Gives the core to the upcall of its scheduler, which begins anew.
pub fn begin_upcall(core: &mut Core) -> *const Registers {
    // SAFETY: the upcall is this core's.
    let upcall = unsafe { &mut *core.upcall };
    upcall.active = true;
    upcall.begin(REASON_UPCALL, upcall.argument);
    run(core, upcall)
}

/// Sets the core's time-out, in time-stamp ticks. Where cores take turns the timer is set by [`run`], which follows.
pub fn arm(core: &mut Core, expiry: u64) {
    if expiry != core.expiry {
        core.expiry = expiry;
        if crate::turn() == 0 {
            start_timer(core);
        }
    }
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
