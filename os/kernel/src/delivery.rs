//! Delivery of what triggers a brand without a call on its own core: interrupt lines, ticks, other cores; and of notifications
//! from a scheduler to itself on another core.

use crate::arch::cpu::time_stamp;
use crate::arch::{interrupts, lines, timer};
use crate::brand::{self, Brand};
use crate::component;
use crate::dispatch::{enter, go_on, is_under, post_root};
use crate::event_source::{core_of, releases, start_tick, LINES, LINES_CORE, OPEN};
use crate::mailbox::{ring, MAIL, POSTED};
use crate::path;
use crate::percore::{self, Core};
use crate::region::{post_slots, Shared};
use crate::thread::{self, Thread};
use crate::upcall;
use core::sync::atomic::Ordering::SeqCst;
use tactus_abi::call::{source, Error};
use tactus_abi::layout::{MAX_COMPONENTS, MAX_CORES, MAX_UPCALLS};
use tactus_abi::shared::{cause, event, slot};

/// `(core, brand)`.
pub fn trigger_remote(caller: &Thread, target: u64, number: u64) -> Result<(), Error> {
    let brand = brand::own(caller.component, number)?;
    let target = core_of(target.min(0xff))?;
    if brand.source.load(SeqCst) != source::REMOTE | target as u64 {
        return Err(Error::BadSource);
    }
    send(target, brand, number, 0);
    Ok(())
}

/// Triggers a brand on another core.
fn send(target: usize, brand: &Brand, number: u64, word: u64) {
    brand.push(word);
    // An upcall that is active looks itself for more when it ends.
    if brand.has_free_upcall() && MAIL[target].brands.fetch_or(1 << number, SeqCst) & 1 << number == 0 {
        ring(target);
    }
}

/// The tick is due: when the next one comes, and how many went by with it; those that were missed come no more.
#[inline(always)]
pub fn tick_passed(core: &mut Core) -> u64 {
    let (late, period) = (core.entered - core.tick, core.tick_period);
    if late < period {
        core.tick += period;
        return 1;
    }
    let passed = late.checked_div(period).unwrap_or(0) + 1;
    core.tick += passed * period;
    passed
}

/// The tick triggers its brand, which is told how many went by. Whoever is the core's current thread afterwards goes on.
pub fn tick(core: &mut Core, passed: u64) {
    // Taken off its source meanwhile, by another core: then it ticks no more from now on.
    match core.ticking.filter(|brand| brand.source.load(SeqCst) == core.tick_source) {
        Some(brand) => upcall::trigger(core, brand, passed),
        None => go_on(core),
    }
}

/// The tick alone is due, at user level, where the timer counts as the counter of time does and is set for nothing but
/// time-outs. `now`: when the kernel was entered.
#[no_mangle]
extern "C" fn kernel_tick(now: u64) {
    // SAFETY: this is the kernel's entry on this core; nobody else holds the block.
    let core = unsafe { percore::current() };
    core.entered = now;
    core.cause = cause::INTERRUPT + interrupts::TIMER;
    // SAFETY: a thread was running, and it is this core's.
    let thread = unsafe { &mut *core.current };
    thread::interrupted(thread);
    interrupts::end();
    let passed = tick_passed(core);
    let next = core.timeouts[0].min(core.tick);
    (core.expiry, core.armed) = (next, next);
    let now = time_stamp();
    let ticks = next.wrapping_sub(now);
    let usual = ticks.wrapping_sub(1) < timer::LONGEST.into();
    timer::start(match usual {
        true => ticks as u32,
        false if next <= now => 1,
        false => timer::LONGEST,
    });
    match core.ticking.filter(|brand| brand.source.load(SeqCst) == core.tick_source) {
        Some(brand) => upcall::trigger_interrupting(core, brand, thread, passed),
        None => go_on(core),
    }
}

/// A line's interrupt: it is silent until somebody acknowledges it.
pub fn line(core: &mut Core, line: u64) {
    let line = (line as usize).min(lines::COUNT - 1);
    OPEN.fetch_and(!(1 << line), SeqCst);
    lines::silence(line);
    let number = u64::from(LINES[line].load(SeqCst)).wrapping_sub(1);
    let Ok(brand) = brand::get(number) else { return release(core, line) };
    match core_of(brand.source.load(SeqCst)) {
        Ok(target) if target as u64 != core.id => {
            send(target, brand, number, line as u64);
            go_on(core)
        }
        _ => upcall::trigger(core, brand, line as u64),
    }
}

/// A line without a brand has interrupted. If it releases jobs, the root is told when that was, and decides.
fn release(core: &mut Core, line: usize) {
    if !releases(line) {
        return go_on(core);
    }
    Shared::of_root(core).note_line(line, core.entered);
    post_root(core, event::LINE)
}

/// The core looks at its mail. Whoever is its current thread afterwards goes on.
pub fn mail(core: &mut Core) {
    let mail = &MAIL[core.id as usize % MAX_CORES];
    if core.id as usize == LINES_CORE {
        bits(mail.lines.swap(0, SeqCst).into(), |line| lines::set(line, true));
    }
    if mail.tick.swap(false, SeqCst) {
        start_tick(core);
    }
    bits(mail.brands.swap(0, SeqCst).into(), |number| {
        let Ok(brand) = brand::get(number as u64) else { return };
        for _ in 0..MAX_UPCALLS {
            if !brand.waits() || !brand.has_free_upcall() {
                break;
            }
            upcall::serve(core, brand);
        }
    });
    for (place, schedulers) in mail.schedulers.iter().enumerate() {
        bits(schedulers.swap(0, SeqCst), |bit| deliver(core, (place * 64 + bit) as u16));
    }
    go_on(core)
}

/// Calls for each bit that is set.
fn bits(mut set: u64, mut each: impl FnMut(usize)) {
    while set != 0 {
        each(set.trailing_zeros() as usize);
        set &= set - 1;
    }
}

/// Word for a scheduler from another core. If this core is not in its hands, those above hear of it like of a brand's
/// upcall.
fn deliver(core: &mut Core, number: u16) {
    let word = &MAIL[core.id as usize % MAX_CORES].word[usize::from(number) % MAX_COMPONENTS];
    let Some(scheduler) = path::scheduler(number) else { return word.store(0, SeqCst) };
    Shared::of(core, number).post(event::NOTIFY);
    if is_under(core, scheduler) {
        word.store(0, SeqCst);
        return enter(core, scheduler);
    }
    word.store(POSTED, SeqCst);
    let component = component::get(number);
    let own = component.upcalls[core.id as usize % MAX_CORES].checked_sub(1);
    let Some(own) = own.and_then(|it| thread::any(it.into())) else { return };
    // SAFETY: its path is of atomics, its number and home are written during set-up only.
    let own = unsafe { &*own };
    post_slots(core, own.path(), slot::ACTIVE);
    // SAFETY: the running thread is this core's.
    let Some(current) = (unsafe { core.current.as_ref() }) else { return post_root(core, 0) };
    match upcall::goes_before(core, own, current) {
        Some(common) => enter(core, common),
        None => core.deferred = true,
    }
}
