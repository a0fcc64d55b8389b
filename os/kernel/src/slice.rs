//! Slices of an emulated machine, whose cores execute one after another, in one time.
//!
//! The emulator ends a core's slice at the next timer of any core, and goes on with the next core in their order. So the
//! kernel bounds slices by its timers: every core that runs a thread sets its own for the end of a slice, if not for an
//! expiry. Short slices keep what one core waits for from being noticed late, and cost the emulator most of its time. Slices are
//! long while nothing is near that any core would have to notice: no timer expiry, no thread that has not told that it
//! computes for some time to come. (A scheduler's upcall never tells that.) Long slices end before that instant,
//! on all cores, and are followed by short ones.
//!
//! A machine whose cores execute at the same time has none of this: there [`crate::machine::turn`] is 0.

use crate::arch::apic;
use crate::arch::paging::direct;
use crate::arch::port::time_stamp;
use crate::component::{self, Component};
use crate::event_source::any_releases;
use crate::percore::Core;
use crate::thread::Thread;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use tactus_abi::call::{Error, NO_TIMEOUT};
use tactus_abi::image::role;
use tactus_abi::layout::MAX_CORES;
use tactus_abi::shared::{slices, Clock};

/// A long slice in short ones.
const LONG: u64 = 10;

/// Until when nothing on each core has to be noticed, in time-stamp ticks.
static QUIET: [AtomicU64; MAX_CORES] = [const { AtomicU64::new(0) }; MAX_CORES];
/// Another core has interrupted it, and it has not looked yet: its own slice may have ended inside the kernel since.
static CALLED: [AtomicBool; MAX_CORES] = [const { AtomicBool::new(false) }; MAX_CORES];
/// A component tells until when it computes, and no device may interrupt: slices may be long.
static MAY_BE_LONG: AtomicBool = AtomicBool::new(false);

/// The run begins, on a machine whose cores take turns.
pub fn set_up() {
    let any = |of: fn(&Component) -> bool| (0..crate::machine::components()).any(|number| of(component::get(number)));
    let computes = any(|it| it.has_role(role::COMPUTES));
    MAY_BE_LONG.store(computes && !any(|it| it.lines != 0) && !any_releases(), Relaxed);
    tell(slices::SHORT);
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

/// Another core was interrupted: where cores take turns it can only look when this one lets it.
pub fn let_look() {
    if crate::machine::turn() != 0 {
        core::hint::spin_loop();
    }
}

/// Another core is about to be interrupted: slices are short until it has looked.
pub fn calls(core: usize) {
    if !may_be_long() {
        return;
    }
    CALLED[core % MAX_CORES].store(true, Relaxed);
    if told() > slices::SHORT {
        tell(slices::SHORT);
    }
}

/// The core was interrupted by another one, and looks: there is something to notice until it has dispatched.
pub fn looks(core: &Core) {
    if !may_be_long() {
        return;
    }
    QUIET[core.id as usize % MAX_CORES].store(0, Relaxed);
    CALLED[core.id as usize % MAX_CORES].store(false, Relaxed);
}

/// Whether slices may be long at all; they never are where cores execute at the same time.
fn may_be_long() -> bool {
    MAY_BE_LONG.load(Relaxed)
}

/// Notes until when nothing on the core has to be noticed.
fn note(core: &Core, current: Option<&Thread>) {
    if !may_be_long() {
        return;
    }
    let thread = match current {
        None => NO_TIMEOUT,
        Some(thread) if thread.component == thread.home => thread.quiet,
        Some(_) => 0,
    };
    let instant = core.expiry.min(thread);
    QUIET[core.id as usize % MAX_CORES].store(instant, Relaxed);
    if instant < told() {
        tell(slices::SHORT);
    }
}

/// Starts the timer for the time-out, or for as much of the way as it may go at once: as far as it can count, and, for
/// a running thread on a machine whose cores take turns, no further than a slice may last.
pub fn start_timer(core: &mut Core) {
    let turn = crate::machine::turn();
    // SAFETY: the running thread is this core's.
    let current = unsafe { core.current.as_ref() }.filter(|_| turn != 0);
    if turn != 0 {
        note(core, current);
    }
    if core.expiry == NO_TIMEOUT && current.is_none() {
        apic::start_timer(0);
        return;
    }
    let mut until = core.expiry;
    if let Some(thread) = current {
        // The root's upcall ends its slice by itself, and soon: it never stands back for those that do not.
        let upcall = core::ptr::eq(thread, core.upcall);
        let now = time_stamp();
        until = until.min(now + if upcall { turn + 16 * round() } else { length(core, now) });
    }
    count_to(until);
    if !may_be_long() {
        return;
    }
    // Setting the timer has ended the slice. The slice may also have ended on the way there, for long: then the timer was set
    // too late, or for a long slice that is out of place by now.
    let now = time_stamp();
    if current.is_some() && core.long && must_be_short(now) {
        until = until.min(now + length(core, now));
        count_to(until);
    } else if u64::from(apic::timer_count()) > crate::machine::timer_counts(until.saturating_sub(now)) + turn / 8 {
        count_to(until);
    }
}

/// Sets the timer for the instant, or for as much of the way as it can count.
fn count_to(instant: u64) {
    let ticks = instant.saturating_sub(time_stamp());
    apic::start_timer(crate::machine::timer_counts(ticks).clamp(1, apic::LONGEST_COUNT.into()) as u32);
}

/// Until when nothing on any core has to be noticed, less a margin in which slices are short.
fn quiet_until() -> u64 {
    let quiet = &QUIET[..crate::machine::cores().min(MAX_CORES)];
    let soonest = quiet.iter().fold(NO_TIMEOUT, |soonest, it| soonest.min(it.load(Relaxed)));
    soonest.saturating_sub(round())
}

/// Whether slices that begin now must be short.
fn must_be_short(now: u64) -> bool {
    !may_be_long() || CALLED.iter().any(|it| it.load(Relaxed)) || quiet_until() <= now + crate::machine::turn()
}

/// How long the core's next slice may be, in time-stamp ticks.
fn length(core: &mut Core, now: u64) -> u64 {
    let turn = crate::machine::turn();
    let was_long = core::mem::replace(&mut core.long, !must_be_short(now));
    if was_long && !core.long {
        // What the others take of a short slice is not known yet. Too little, and this core stands still for some rounds.
        core.lags[0] = 2 * round();
    }
    if !core.long {
        if may_be_long() {
            tell(slices::SHORT);
        }
        return turn + core.lags[0];
    }
    let until = quiet_until();
    tell(until);
    until.saturating_sub(now).min(LONG * turn + core.lags[1])
}

/// Tells the threads until when slices are long, or that they are short. Threads that compute pause often from then on, so that
/// even a long slice ends soon where something happened that nobody expected.
fn tell(until: u64) {
    word().store(until, Relaxed);
}

/// What the threads were told.
fn told() -> u64 {
    word().load(Relaxed)
}

fn word() -> &'static AtomicU64 {
    // SAFETY: the clock page is never given back, and this word of it an atomic.
    unsafe { &(*direct::<Clock>(crate::machine::CLOCK.load(Relaxed))).slices }
}

/// What all other cores take at most before this one has its short slice again, in time-stamp ticks.
fn round() -> u64 {
    crate::machine::turn() * (crate::machine::cores() as u64 - 1)
}

/// The core's slice is over: the others run, then this one goes on.
///
/// Setting the timer ends a slice in the emulator, and then the others use up the time that was set before this core
/// has executed anything: beside cores that never pause it would make no headway for ever. So where the slice's
/// interrupt comes almost as soon as the kernel is left, the core allows for more time that the others take, and for
/// less where its slice lasts too long.
pub fn end_turn(core: &mut Core) {
    if crate::machine::turn() == 0 || core.current.is_null() {
        return;
    }
    let (times, lasted) = (if core.long { LONG } else { 1 }, core.entered.saturating_sub(core.left));
    let slice = times * crate::machine::turn();
    let lag = &mut core.lags[usize::from(core.long)];
    if lasted < slice / 8 {
        *lag = (*lag + slice).min(2 * times * round());
    } else {
        *lag -= lasted.saturating_sub(slice).min(*lag);
    }
    core::hint::spin_loop();
}
