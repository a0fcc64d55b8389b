//! Giving the core to a thread, charging time, entering schedulers.

use crate::arch::cpu::time_stamp;
use crate::arch::paging::AddressSpace;
use crate::arch::{floating_point, slices, speculation};
use crate::component;
use crate::mailbox;
use crate::path::{self, Scheduler};
use crate::percore::{self, Core, UNARMED};
use crate::region::{count, Shared};
use crate::thread::{self, state, Thread};
use crate::timer::start_timer;
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};
use tactus_abi::call::{reason, Call, NO_TIMEOUT};
use tactus_abi::layout::MAX_SCHEDULERS;

/// Whether a change of component takes more than a change of the address space: there are barriers, or components with floating
/// point.
pub static SPECIAL_CHANGES: AtomicBool = AtomicBool::new(false);

impl Core {
    /// Loads the address space of the component that the running thread goes on in, unless it is the one loaded.
    #[inline(always)]
    pub fn enter_space(&mut self, space: AddressSpace) {
        if self.space != space {
            self.space = space;
            space.load();
            if SPECIAL_CHANGES.load(Relaxed) {
                self.component_changes();
            }
        }
    }

    /// Another component begins: its branches are predicted by nothing that the one before taught, and it finds the floating-point
    /// unit shut, or open with what the thread had in it. The entry code changes components by itself only where neither of the
    /// two has floating point.
    #[cold]
    #[inline(never)]
    fn component_changes(&mut self) {
        speculation::component_changes();
        if self.floating_point {
            floating_point::shut();
            self.floating_point = false;
        }
        // SAFETY: the running thread is this core's.
        let Some(thread) = (unsafe { self.current.as_ref() }) else { return };
        if component::get(thread.component).has_floating_point() {
            self.floating_point = floating_point::enter(thread.id, thread.is_interrupted());
        }
    }

    /// Counts a call that was refused.
    pub fn count_refusal(&mut self) {
        Shared::of(self, self.root().component()).count_refusal();
    }

    /// The root scheduler.
    pub fn root(&self) -> Scheduler {
        Scheduler { identity: component::get(self.root as u16).rank().identity(), depth: 0 }
    }
}

/// Charges the time since the last charge, up to the kernel's entry, to the thread that had the core. Before the thread
/// is released. The kernel's own work is charged to whom it gives the core.
#[inline(always)]
pub fn charge(core: &mut Core, current: &mut Thread) {
    let ticks = core.entered.wrapping_sub(core.charged);
    core.charged = core.entered;
    current.used += ticks;
    if current.counted.load(Relaxed) {
        count(core, current, ticks);
    }
}

/// Charges the time to nobody.
pub fn charge_idle(core: &mut Core) {
    let ticks = core.entered.wrapping_sub(core.charged);
    core.charged = core.entered;
    core.idle += ticks;
    Shared::of(core, core.root().component()).add_idle(ticks);
}

/// Takes the core from whoever has it, who is charged. Its registers are saved: any core may go on with it.
pub fn interrupt_current(core: &mut Core) {
    // SAFETY: the running thread is this core's.
    match unsafe { core.current.as_mut() } {
        Some(current) => {
            charge(core, current);
            core.give_up(current);
        }
        None => charge_idle(core),
    }
    core.current = core::ptr::null_mut();
}

impl Core {
    /// Nothing of the thread is touched from here on: another core may have it. The root's upcall stays with its core.
    #[inline(always)]
    pub fn give_up(&self, thread: &mut Thread) {
        if !core::ptr::eq(thread, self.upcall) {
            thread.release();
        }
    }
}

/// Gives the core to a thread, which the caller has taken for this core, until the time-out, which is the smallest of all
/// that are in force. Whoever had the core is charged.
#[inline(always)]
pub fn run(core: &mut Core, thread: &mut Thread, timeout: u64) {
    core.current = thread;
    core.processor.set_save_area(thread.registers_end());
    core.enter_space(component::get(thread.component).space);
    if timeout != core.expiry || slices::are_there() {
        return run_with_timer(core, timeout);
    }
    leave_kernel(core);
}

/// The rest of [`run`] where the timer has to be set.
#[inline(never)]
pub fn run_with_timer(core: &mut Core, timeout: u64) {
    arm(core, timeout);
    if !slices::are_there() {
        start_timer(core);
        return leave_kernel(core);
    }
    // Here the others run before this core goes on: that is not the kernel's stretch.
    note_stretch(core, time_stamp());
    start_timer(core);
    leave_unnoted(core);
}

/// The way out of a dispatch by the entry code whose time-out is another.
#[no_mangle]
extern "C" fn kernel_set_timer(timeout: u64) {
    // SAFETY: the entry code is the kernel's on this core, and holds no reference.
    let core = unsafe { percore::current() };
    core.cause = Call::SwitchThread as u64;
    run_with_timer(core, timeout);
}

/// Gives the core to nobody until the time-out. Whoever had the core is charged.
pub fn sleep(core: &mut Core, timeout: u64) {
    core.current = core::ptr::null_mut();
    run_with_timer(core, timeout);
}

/// The core's current thread goes on, or none: notes when the kernel is left, and the longest stretch in it.
#[inline(always)]
pub fn leave_kernel(core: &mut Core) {
    leave_unnoted(core);
    note_stretch(core, core.left);
}

/// As [`leave_kernel`], but the stretch is not noted: others had a part of it.
#[inline(always)]
pub fn leave_unnoted(core: &mut Core) {
    #[cfg(feature = "check")]
    crate::check::way_out(core);
    core.left = time_stamp();
}

/// Notes the stretch in the kernel, up to this point in time, if it is the longest.
#[inline(always)]
fn note_stretch(core: &mut Core, now: u64) {
    let stretch = now.wrapping_sub(core.entered);
    Shared::of_root(core).note_stretch(stretch, core.cause);
}

/// The scheduler's time-out is this; those of deeper ones are forgotten. The smallest of all in force.
#[inline(always)]
pub fn set_timeout(core: &mut Core, scheduler: Scheduler, timeout: u64) -> u64 {
    let depth = scheduler.depth % MAX_SCHEDULERS;
    core.levels = depth + 1;
    core.timeouts[depth] = timeout;
    if depth == 0 {
        return timeout.min(core.tick);
    }
    core.owners[depth] = Some(scheduler);
    first_timeout(core)
}

/// The smallest time-out in force.
pub fn first_timeout(core: &Core) -> u64 {
    core.timeouts.iter().take(core.levels).fold(core.tick, |first, &timeout| first.min(timeout))
}

/// The time has come: tells every scheduler whose time-out it is. The first of them, closest to the root.
pub fn take_timeouts(core: &mut Core) -> Option<Scheduler> {
    let mut first = None;
    for depth in 0..core.levels.min(MAX_SCHEDULERS) {
        if core.timeouts[depth] > core.entered {
            continue;
        }
        core.timeouts[depth] = NO_TIMEOUT;
        let owner = if depth == 0 { Some(core.root()) } else { core.owners[depth].filter(|it| it.stands()) };
        if let Some(owner) = owner {
            Shared::of(core, owner.component()).post(tactus_abi::shared::event::TIMER);
            first = first.or(Some(owner));
        }
    }
    first
}

/// Whether the core is in the scheduler's hands: its running thread is one of the scheduler's, or nobody runs and it is
/// the root.
pub fn is_under(core: &Core, scheduler: Scheduler) -> bool {
    // SAFETY: the running thread is this core's.
    match unsafe { core.current.as_ref() } {
        Some(current) => current.path().holds(scheduler) || current.is_upcall_of(scheduler.component()),
        None => scheduler.depth == 0,
    }
}

/// Posts events to the root and enters it, as [`enter`] does. The root's upcall is always the core's, and a root that
/// stopped has ended the run: so there is nothing to look for.
#[inline(always)]
pub fn post_root(core: &mut Core, events: u64) {
    let region = Shared::of_root(core);
    region.post(events);
    // SAFETY: the running thread is this core's; so is the upcall.
    let (current, upcall) = unsafe { (core.current.as_mut(), &mut *core.upcall) };
    match current {
        Some(current) => {
            if u64::from(current.component) == core.root || core::ptr::eq(current, upcall) {
                return leave_kernel(core);
            }
            charge(core, current);
            current.release();
        }
        None => charge_idle(core),
    }
    region.count_entry();
    upcall.preempter = 0;
    if !upcall.lacks(state::INACTIVE) {
        upcall.begin(reason::SCHEDULER, upcall.argument);
        upcall.clear(state::INACTIVE);
    }
    run(core, upcall, core.expiry)
}

/// The scheduler, which has events, gets the core. If it is running on it already it goes on: it will find them before
/// its next dispatch succeeds. One that cannot run is passed over for the one above.
pub fn enter(core: &mut Core, scheduler: Scheduler) {
    let mut scheduler = scheduler;
    for _ in 0..MAX_SCHEDULERS {
        // SAFETY: the running thread is this core's.
        if let Some(current) = unsafe { core.current.as_ref() } {
            let number = scheduler.component();
            if current.component == number || current.is_upcall_of(number) {
                return leave_kernel(core);
            }
        }
        if let Some(upcall) = take_upcall(core, scheduler) {
            interrupt_current(core);
            begin_upcall(core, scheduler, upcall);
            return run(core, upcall, core.expiry);
        }
        let Some(parent) = scheduler.parent() else { break };
        scheduler = parent;
    }
    // Somebody on the way was demoted meanwhile. The root can always be entered.
    post_root(core, 0)
}

/// The scheduler's upcall thread on this core, for this core; nothing if it cannot run.
fn take_upcall(core: &Core, scheduler: Scheduler) -> Option<&'static mut Thread> {
    let component = component::get(scheduler.component());
    let number = component.upcalls[core.id as usize % component.upcalls.len()].checked_sub(1)?;
    if component.is_stopped() {
        return None;
    }
    let upcall = thread::any(number.into())?;
    // SAFETY: `take` succeeds only if no other core has the thread; from then on it is this core's.
    let upcall = unsafe {
        if !(*upcall).take(core.id) {
            return None;
        }
        &mut *upcall
    };
    if !upcall.lacks(state::STOPPED) || component::get(upcall.component).is_stopped() {
        core.give_up(upcall);
        return None;
    }
    Some(upcall)
}

/// The upcall thread, taken for this core, begins anew, or goes on where it was left or interrupted.
pub fn begin_upcall(core: &mut Core, scheduler: Scheduler, upcall: &mut Thread) {
    Shared::of(core, scheduler.component()).count_entry();
    if scheduler.depth != 0 {
        mailbox::reached(core, scheduler.component());
    }
    upcall.preempter = 0;
    if !upcall.lacks(state::INACTIVE) {
        upcall.begin(reason::SCHEDULER, upcall.argument);
    }
    upcall.clear(state::INACTIVE | state::SUSPENDED);
}

/// The scheduler as whose upcall the thread stands, if that is one still.
pub fn upcall_of(thread: &Thread) -> Option<Scheduler> {
    thread.is_scheduler_upcall().then(|| path::scheduler(thread.home)).flatten()
}

/// The next time-out, or tick, is this one: the caller starts the timer for it.
#[inline(always)]
pub fn arm(core: &mut Core, timeout: u64) {
    core.expiry = timeout;
    core.armed = if slices::are_there() { UNARMED } else { timeout };
}

/// Whoever has the core goes on.
pub fn go_on(core: &mut Core) {
    // The stretches of a core that idles interest nobody.
    if !core.current.is_null() {
        leave_kernel(core);
    }
}
