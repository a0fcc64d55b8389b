//! When brands' upcalls run: at once, later, once more, and who goes on after them.
//!
//! If the upcall is more urgent than whoever runs, by the slots of the closest scheduler that the two have in common, it takes
//! the core at once; when it ends, the interrupted thread goes on. No scheduler is entered for either, though all find in
//! their regions what happened. Whatever the kernel cannot tell from the regions is left to the root.

use crate::brand::{get, Brand};
use crate::component::{self, Component};
use crate::dispatch::{charge, interrupt_current, leave_kernel, post_root, run, run_with_timer, sleep};
use crate::eviction::caller_stopped;
use crate::path::{Path, Place, Scheduler};
use crate::percore::Core;
use crate::region::{count, count_root, post_root_place, post_root_slot, post_slots, Shared};
use crate::reply::{answer, entered};
use crate::thread::{self, state, Thread, IDLE_CORE};
use core::sync::atomic::{fence, Ordering::SeqCst};
use tactus_abi::call::{Call, Error, IDLE};
use tactus_abi::layout::{MAX_SCHEDULERS, MAX_UPCALLS};
use tactus_abi::shared::{event, slot};

/// Asks for one more run of the brand's upcall. Whoever is the core's current thread afterwards goes on.
#[inline(always)]
pub fn trigger(core: &mut Core, brand: &'static Brand, word: u64) {
    // SAFETY: the running thread is this core's.
    let current = unsafe { core.current.as_mut() };
    trigger_or_push(core, brand, current, word, false)
}

/// As [`trigger`], where cores take no turns. `current` is the running thread.
#[inline(always)]
pub fn trigger_interrupting(core: &mut Core, brand: &'static Brand, current: &'static mut Thread, word: u64) {
    trigger_or_push(core, brand, Some(current), word, !cfg!(feature = "check"))
}

/// `plain`: nothing is to be done on the way out.
#[inline(always)]
fn trigger_or_push(
    core: &mut Core,
    brand: &'static Brand,
    current: Option<&'static mut Thread>,
    word: u64,
    plain: bool,
) {
    // The usual case: nothing waits, the first upcall is free, and the root alone decides, by a slot. Then nothing needs to
    // be counted: whoever triggers it meanwhile finds no free upcall, and that one looks again when it ends.
    if let (false, true, Some(slot)) = (brand.waits(), brand.path.is_roots(), brand.path.at(0).place()) {
        let home = brand.home();
        if let Some(upcall) = brand.activate_first(core, home) {
            brand.begin_at(home, upcall, word);
            return start(core, home, upcall, slot, current, plain);
        }
    }
    push(core, brand, word)
}

/// Counts the trigger, and looks for an upcall.
#[inline(never)]
fn push(core: &mut Core, brand: &'static Brand, word: u64) {
    brand.push(word);
    serve(core, brand)
}

/// The upcall, which is at its beginning, has this slot of the root's and no other scheduler. As [`serve`] and [`decide`] would
/// do.
#[inline(always)]
fn start(
    core: &mut Core,
    home: &Component,
    upcall: &mut Thread,
    slot: Place,
    current: Option<&'static mut Thread>,
    plain: bool,
) {
    (upcall.preempter, upcall.interrupted) = (0, 0);
    let region = Shared::of_root(core);
    post_root_place(core, slot, slot::ACTIVE, 0);
    let Some(current) = current else { return decide(core, upcall) };
    if core::ptr::eq(current, core.upcall) {
        return wait(core, upcall, plain);
    }
    if u64::from(current.component) == core.root {
        return wait(core, upcall, plain);
    }
    let path = current.path();
    let theirs = path.at(0).place();
    // One that is disabled is the greatest of all, and goes before nobody.
    if region.urgency(Some(slot)) >= region.urgency(theirs) {
        return wait(core, upcall, plain);
    }
    (current.preempter, upcall.interrupted) = (upcall.id + 1, current.id + 1);
    let ticks = core.entered.wrapping_sub(core.charged);
    core.charged = core.entered;
    current.used += ticks;
    if current.counts() {
        if path.is_roots() && !current.is_scheduler_upcall() {
            count_root(core, theirs, ticks);
        } else {
            count(core, current, ticks);
        }
    }
    current.release();
    run_at(core, upcall, home, plain)
}

/// The upcall is left to the schedulers.
#[inline(always)]
fn wait(core: &mut Core, upcall: &Thread, plain: bool) {
    core.deferred = true;
    upcall.release();
    if !plain && (crate::arch::slices::are_there() || cfg!(feature = "check")) {
        leave_kernel(core);
    }
}

/// As [`run`], for a thread in that component and with the time-outs that are in force.
#[inline(always)]
fn run_at(core: &mut Core, thread: &mut Thread, component: &Component, plain: bool) {
    core.current = thread;
    core.processor.set_save_area(thread.registers_end());
    core.enter_space(component.space);
    if !plain {
        leave_quickly(core)
    }
}

/// As [`leave_kernel`], where the stretch is none of the long ones.
#[inline(always)]
fn leave_quickly(core: &mut Core) {
    if crate::arch::slices::are_there() || cfg!(feature = "check") {
        run_with_timer(core, core.expiry)
    }
}

/// Begins an upcall for a waiting trigger, if one is free.
pub fn serve(core: &mut Core, brand: &'static Brand) {
    let Some((upcall, word)) = claim(core, brand) else { return go_on(core) };
    upcall.clear(state::INACTIVE | state::SUSPENDED);
    (upcall.preempter, upcall.interrupted) = (0, 0);
    brand.begin(upcall, word);
    post_slots(core, &brand.path, slot::ACTIVE);
    decide(core, upcall)
}

/// A waiting trigger's word, and a free upcall, taken for this core.
fn claim(core: &Core, brand: &Brand) -> Option<(&'static mut Thread, u64)> {
    for _ in 0..MAX_UPCALLS {
        if !brand.waits() {
            return None;
        }
        let upcall = brand.take_upcall(core)?;
        if let Some(word) = brand.claim() {
            return Some((upcall, word));
        }
        // Another core took the trigger. While this one had the upcall nobody else could: who tried left its trigger.
        upcall.release();
        fence(SeqCst);
    }
    None
}

/// Whoever has the core goes on. The stretches of a core that idles interest nobody.
fn go_on(core: &mut Core) {
    if !core.current.is_null() {
        leave_kernel(core);
    }
}

/// Whether the upcall takes the core.
fn decide(core: &mut Core, upcall: &mut Thread) {
    // SAFETY: the running thread is this core's.
    let runs = is_enabled(core, upcall.path())
        && match unsafe { core.current.as_ref() } {
            None => true,
            Some(current) => closest(core, upcall, current).is_some(),
        };
    if !runs {
        core.deferred = true;
        upcall.release();
        return go_on(core);
    }
    // SAFETY: as above.
    match unsafe { core.current.as_mut() } {
        Some(current) => {
            current.preempter = upcall.id + 1;
            upcall.interrupted = current.id + 1;
        }
        None => upcall.interrupted = IDLE_CORE,
    }
    interrupt_current(core);
    run(core, upcall, core.expiry)
}

/// The closest scheduler that both have, if by its slots the upcall goes before the running thread.
fn closest(core: &Core, upcall: &Thread, current: &Thread) -> Option<Scheduler> {
    let mut common: Option<(Scheduler, u16, u16)> = None;
    let mut theirs = current.path().holders();
    for (scheduler, slot) in upcall.path().holders() {
        // Who is in the middle of a scheduler of the upcall's is not interrupted by it: the scheduler itself finds out.
        if current.component == scheduler.component() || current.is_upcall_of(scheduler.component()) {
            return None;
        }
        match theirs.next() {
            Some((other, their_slot)) if other == scheduler => common = Some((scheduler, slot, their_slot)),
            _ => break,
        }
    }
    let (scheduler, slot, their_slot) = common?;
    let region = Shared::of(core, scheduler.component());
    (region.urgency(Place::of(slot)) < region.urgency(Place::of(their_slot))).then_some(scheduler)
}

/// Whether every scheduler of the thread lets it run unasked.
fn is_enabled(core: &Core, path: &Path) -> bool {
    path.holders().all(|(it, slot)| Shared::of(core, it.component()).urgency(Place::of(slot)) != slot::DISABLED)
}

/// The scheduler that should decide now, since somebody whose turn it may be, an upcall thread of a scheduler, goes
/// before the running thread.
pub fn goes_before(core: &Core, upcall: &Thread, current: &Thread) -> Option<Scheduler> {
    if is_enabled(core, upcall.path()) {
        closest(core, upcall, current)
    } else {
        None
    }
}

/// As [`kernel_upcall_done`], whatever the case.
#[inline(never)]
fn done(core: &mut Core, upcall: &mut Thread) -> Result<(), Error> {
    if upcall.lacks(state::BRAND) || !upcall.is_at_base() {
        return Err(Error::NotUpcall);
    }
    let Ok(brand) = get(u64::from(upcall.brand.wrapping_sub(1))) else { return Err(Error::NotUpcall) };
    if is_enabled(core, &brand.path) {
        if let Some(word) = brand.claim() {
            brand.begin(upcall, word);
            core.enter_space(component::get(upcall.component).space);
            leave_kernel(core);
            return Ok(());
        }
    }
    let interrupted = core::mem::take(&mut upcall.interrupted);
    charge(core, upcall);
    core.current = core::ptr::null_mut();
    finish(core, upcall, brand);
    match resumable(core, interrupted, upcall) {
        Some(After::Sleep) => sleep(core, core.expiry),
        Some(After::Run(thread)) => {
            thread.preempter = 0;
            run(core, thread, core.expiry)
        }
        None => post_root(core, event::UPCALL_COMPLETE),
    }
    Ok(())
}

/// A thread called `UpcallDone`: where it goes on is saved.
#[no_mangle]
extern "C" fn kernel_upcall_done() {
    let (core, upcall) = entered(Call::UpcallDone);
    if component::get(upcall.component).is_stopped() {
        return caller_stopped(core);
    }
    if let Some((brand, interrupted)) = plainly_done(core, upcall) {
        let ticks = core.entered.wrapping_sub(core.charged);
        core.charged = core.entered;
        upcall.used += ticks;
        upcall.interrupted = 0;
        post_root_slot(core, brand.path.at(0).place(), slot::COMPLETED, ticks);
        upcall.release_as(state::BRAND | state::INACTIVE);
        if brand.waits() {
            return go_on_with_mail(core, interrupted, brand);
        }
        interrupted.preempter = 0;
        let component = component::get(interrupted.component);
        return run_at(core, interrupted, component, false);
    }
    if let Err(error) = done(core, upcall) {
        answer(core, Err(error));
    }
}

/// The usual end: nothing waits, and the thread that was interrupted, which is the root's choice and nobody else's, goes on. It
/// is taken for this core.
#[inline(always)]
fn plainly_done(core: &Core, upcall: &Thread) -> Option<(&'static Brand, &'static mut Thread)> {
    if upcall.state() != state::BRAND || upcall.depth != 0 || core.deferred {
        return None;
    }
    let brand = get(u64::from(upcall.brand.wrapping_sub(1))).ok()?;
    if !brand.path.is_roots() {
        return None;
    }
    let number = u64::from(upcall.interrupted).checked_sub(1)?;
    if brand.waits() || Shared::of_root(core).next_thread() != number {
        return None;
    }
    let thread = thread::any(number)?;
    // SAFETY: owner and state are atomics; once it is taken it is this core's.
    let thread = unsafe {
        if !(*thread).exchange_state(0, 0, core.mark) {
            return None;
        }
        &mut *thread
    };
    let linked = thread.preempter == upcall.id + 1 && thread.path().is_roots();
    if linked && !component::get(thread.component).is_stopped() {
        return Some((brand, thread));
    }
    thread.release();
    None
}

/// A trigger came at the last moment: the root decides.
#[cold]
fn go_on_with_mail(core: &mut Core, interrupted: &mut Thread, brand: &'static Brand) {
    interrupted.release();
    core.current = core::ptr::null_mut();
    again(core, brand);
    post_root(core, event::UPCALL_COMPLETE)
}

/// An upcall that a scheduler retires while it dispatches another thread. It is given up here.
pub fn retire(core: &mut Core, upcall: &mut Thread) {
    upcall.interrupted = 0;
    if let Ok(brand) = get(u64::from(upcall.brand.wrapping_sub(1))) {
        finish(core, upcall, brand);
    }
}

/// The upcall is free, or active once more if a trigger waits. It is given up here.
fn finish(core: &mut Core, upcall: &mut Thread, brand: &'static Brand) {
    post_slots(core, &brand.path, slot::COMPLETED);
    upcall.set(state::INACTIVE);
    upcall.release();
    // A trigger may have come between the look and the line above. Its core counts first and then looks for a free upcall;
    // this one frees the upcall first and then looks at the count: so one of them sees the other.
    fence(SeqCst);
    if brand.waits() {
        again(core, brand);
    }
}

/// The brand's upcall is active once more, and left to the schedulers.
fn again(core: &mut Core, brand: &'static Brand) {
    let Some((upcall, word)) = claim(core, brand) else { return };
    upcall.clear(state::INACTIVE);
    brand.begin(upcall, word);
    post_slots(core, &brand.path, slot::ACTIVE);
    core.deferred = true;
    upcall.release();
}

/// What runs after an upcall, where no scheduler needs to be asked.
enum After {
    Sleep,
    Run(&'static mut Thread),
}

/// Whoever the upcall interrupted, taken for this core, if nobody that the kernel knows of should run before it.
fn resumable(core: &Core, interrupted: u16, upcall: &Thread) -> Option<After> {
    if core.deferred {
        return None;
    }
    if interrupted == IDLE_CORE {
        let root = Shared::of(core, core.root().component());
        return (root.next_thread() == IDLE).then_some(After::Sleep);
    }
    let thread = thread::any(interrupted.checked_sub(1)?.into())?;
    // SAFETY: `take` succeeds only if no other core has the thread; from then on it is this core's.
    let thread = unsafe {
        if !(*thread).take_new(core.id) {
            return None;
        }
        &mut *thread
    };
    let whole = thread.lacks(state::STOPPED | state::INACTIVE | state::SUSPENDED);
    if whole
        && thread.preempter == upcall.id + 1
        && !component::get(thread.component).is_stopped()
        && !is_overtaken(core, thread, upcall)
    {
        return Some(After::Run(thread));
    }
    thread.release();
    None
}

/// Whether a scheduler of the thread's, from the closest that it shares with the upcall down, has chosen somebody who is
/// more urgent than it.
fn is_overtaken(core: &Core, thread: &Thread, upcall: &Thread) -> bool {
    let path = thread.path();
    let common = (0..MAX_SCHEDULERS)
        .take_while(|&depth| {
            let (own, other) = (path.at(depth).identity(), upcall.path().at(depth).identity());
            own.is_some() && own == other
        })
        .count()
        .saturating_sub(1);
    path.holders().skip(common).any(|(scheduler, slot)| {
        let region = Shared::of(core, scheduler.component());
        let Some(next) = thread::get(region.next_thread()) else { return false };
        // SAFETY: path and state are atomics, home is written during set-up only.
        let (next_path, home) = unsafe { ((*next).path(), (*next).is_scheduler_upcall().then_some((*next).home)) };
        let theirs = next_path.at(scheduler.depth);
        if theirs.identity() != Some(scheduler.identity) || core::ptr::eq(next, thread) {
            return false;
        }
        // Both under one child: that is the child's to say.
        let child = path.at(scheduler.depth + 1).identity();
        let same = child
            .is_some_and(|it| next_path.at(scheduler.depth + 1).identity() == Some(it) || home == Some(it.component()));
        !same && region.urgency(theirs.place()) < region.urgency(Place::of(slot))
    })
}
