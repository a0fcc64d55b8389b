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
use tactus_abi::turns::Turns;
use tactus_sync::{SliceLimits, SHORT_SLICES};

/// Until when nothing on each core has to be noticed, in time-stamp ticks. A core that was called may have ended its slice inside the
/// kernel since.
static LIMITS: SliceLimits<MAX_CORES> = SliceLimits::new();
const _: () = assert!(SHORT_SLICES == slices::SHORT);
/// A component tells until when it computes, and no device may interrupt: slices may be long.
static MAY_BE_LONG: AtomicBool = AtomicBool::new(false);

/// The run begins, on a machine whose cores take turns.
pub fn set_up() {
    let any = |of: fn(&Component) -> bool| (0..crate::machine::components()).any(|number| of(component::get(number)));
    let computes = any(|it| it.has_role(role::COMPUTES));
    // What cores of other sandboxes have to notice is not known.
    let alone = crate::machine::SHARING.load(Relaxed) == crate::machine::cores();
    MAY_BE_LONG.store(alone && computes && !any(|it| it.lines != 0) && !any_releases(), Relaxed);
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
    if may_be_long() {
        LIMITS.call(core, word());
    }
}

/// The core was interrupted by another one, and looks: there is something to notice until it has dispatched.
pub fn looks(core: &Core) {
    if may_be_long() {
        LIMITS.look(core.id as usize);
    }
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
    LIMITS.note(core.id as usize, core.expiry.min(thread), word());
}

/// Starts the timer for the time-out, or for as much of the way as it may go at once: as far as it can count, and, for
/// a running thread on a machine whose cores take turns, no further than a slice may last.
pub fn start_timer(core: &mut Core) {
    #[cfg(feature = "destruction")]
    crate::arch::destruction::look();
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
        until = until.min(now + if upcall { turn + 16 * turns().round() } else { length(core, now) });
    }
    count_to(until);
    if !may_be_long() {
        return;
    }
    // Setting the timer has ended the slice. The slice may also have ended on the way there, for long: then the timer was set
    // too late, or for a long slice that is out of place by now.
    let mut now = time_stamp();
    if current.is_some() && core.long && must_be_short(now) {
        until = until.min(now + length(core, now));
        count_to(until);
        now = time_stamp();
    }
    let rest = crate::machine::timer_counts(until.saturating_sub(now));
    if u64::from(apic::timer_count()) > rest + turns().granularity() {
        count_to(until);
    }
}

/// Sets the timer for the instant, or for as much of the way as it can count.
fn count_to(instant: u64) {
    let ticks = instant.saturating_sub(time_stamp());
    apic::start_timer(crate::machine::timer_counts(ticks).clamp(1, apic::LONGEST_COUNT.into()) as u32);
}

/// This machine, in time-stamp ticks.
fn turns() -> Turns {
    Turns { turn: crate::machine::turn(), cores: crate::machine::SHARING.load(Relaxed) as u64 }
}

/// Whether slices that begin now must be short: something on some core has to be noticed within a round of turns and one more.
fn must_be_short(now: u64) -> bool {
    !may_be_long() || LIMITS.soonest(crate::machine::cores(), turns().round()) <= now + turns().turn
}

/// How long the core's next slice may be, in time-stamp ticks.
fn length(core: &mut Core, now: u64) -> u64 {
    let turns = turns();
    let was_long = core::mem::replace(&mut core.long, !must_be_short(now));
    if was_long && !core.long {
        // What the others take of a short slice is not known yet. Too little, and this core stands still for some rounds.
        core.lags[0] = turns.most_lag(false);
    }
    if !core.long {
        if may_be_long() {
            tell(slices::SHORT);
        }
        return turns.slice(false) + core.lags[0];
    }
    let until = LIMITS.tell_long(crate::machine::cores(), turns.round(), word());
    until.saturating_sub(now).min(turns.slice(true) + core.lags[1])
}

/// Tells the threads until when slices are long, or that they are short. Threads that compute pause often from then on, so that
/// even a long slice ends soon where something happened that nobody expected.
fn tell(until: u64) {
    word().store(until, Relaxed);
}

/// Where that stands.
fn word() -> &'static AtomicU64 {
    // SAFETY: the clock page is never given back, and this word of it an atomic.
    unsafe { &(*direct::<Clock>(crate::machine::CLOCK.load(Relaxed))).slices }
}

/// The core's slice is over: the others run, then this one goes on.
pub fn end_turn(core: &mut Core) {
    if crate::machine::turn() == 0 || core.current.is_null() {
        return;
    }
    let lag = &mut core.lags[usize::from(core.long)];
    *lag = turns().next_lag(*lag, core.entered.saturating_sub(core.left), core.long);
    core::hint::spin_loop();
}
