//! Slices of an emulated machine, whose cores execute one after another, in one time.
//!
//! The emulator ends a core's slice at the next timer of any core, and goes on with the next core in their order. So the
//! kernel bounds slices by its timers: every core that runs a thread sets its own for the end of a slice, if not for an
//! expiry. Short slices keep what one core waits for from being noticed late, and cost the emulator most of its time. Slices are
//! long while nothing is near that any core would have to notice: no timer expiry, no thread that has not told that it
//! computes for some time to come. (A scheduler's upcall never tells that.) Long slices end before that instant,
//! on all cores, and are followed by short ones.
//!
//! A machine whose cores execute at the same time has none of this, see [`are_there`].

use super::apic;
use super::cpu::time_stamp;
use super::paging::direct;
use super::time::timer_counts;
use super::timer;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use tactus_abi::layout::MAX_CORES;
use tactus_abi::shared::{slices, Clock};
use tactus_abi::turns::Turns;
use tactus_sync::{SliceLimits, SHORT_SLICES};

/// The slices of one core. In its block.
#[repr(C)]
pub struct State {
    /// What the others take, in time-stamp ticks, between setting the timer and going on: of short slices, and of long ones; see [`end`].
    lags: [u64; 2],
    /// Whether it was last given a long slice.
    long: bool,
}

impl State {
    /// None yet.
    pub const NEW: State = State { lags: [0; 2], long: false };
}

/// How long (time-stamp ticks) a core may run without a look at the others; 0 if they run at the same time, as they do on every real
/// machine.
static TURN: AtomicU64 = AtomicU64::new(0);
/// How many cores share one time.
static CORES: AtomicU64 = AtomicU64::new(0);
/// Physical address of the clock page.
static CLOCK: AtomicU64 = AtomicU64::new(0);
/// Until when nothing on each core has to be noticed, in time-stamp ticks. A core that was called may have ended its slice inside the
/// kernel since.
static LIMITS: SliceLimits<MAX_CORES> = SliceLimits::new();
const _: () = assert!(SHORT_SLICES == slices::SHORT);
/// Slices may be long.
static MAY_BE_LONG: AtomicBool = AtomicBool::new(false);

/// Whether cores take turns.
#[inline(always)]
pub fn are_there() -> bool {
    turn() != 0
}

#[inline(always)]
fn turn() -> u64 {
    TURN.load(Relaxed)
}

/// The run begins, on a machine of which this number of cores take turns of this length (the emulator's time stamp counts nanoseconds) and which has its clock
/// page at this physical address. Slices may be long where a component tells until when it computes, and no device may interrupt.
pub fn set_up(turn: u64, sharing: usize, clock: u64, may_be_long: bool) {
    TURN.store(turn, Relaxed);
    CORES.store(sharing as u64, Relaxed);
    CLOCK.store(clock, Relaxed);
    MAY_BE_LONG.store(may_be_long, Relaxed);
    tell(slices::SHORT);
}

/// Another core was interrupted: where cores take turns it can only look when this one lets it.
pub fn let_look() {
    if are_there() {
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
pub fn looks(core: usize) {
    if may_be_long() {
        LIMITS.look(core);
    }
}

/// Whether slices may be long at all; they never are where cores execute at the same time.
fn may_be_long() -> bool {
    MAY_BE_LONG.load(Relaxed)
}

/// Notes until when nothing on the core has to be noticed.
pub fn note(core: usize, until: u64) {
    if may_be_long() {
        LIMITS.note(core, until, word());
    }
}

/// Starts the timer for the instant, or for as much of the way as it may go at once: as far as it can count, and, for a running thread
/// where cores take turns, no further than a slice may last. `running`: whether a thread runs there, and if so, whether it is the root's
/// upcall.
#[inline(always)]
pub fn start_timer(state: &mut State, instant: u64, running: Option<bool>) {
    let mut until = instant;
    if let Some(upcall) = running {
        // The root's upcall ends its slice by itself, and soon: it never stands back for those that do not.
        let now = time_stamp();
        until = until.min(now + if upcall { turn() + 16 * turns().round() } else { length(state, now) });
    }
    timer::start_until(until);
    if !may_be_long() {
        return;
    }
    // Setting the timer has ended the slice. The slice may also have ended on the way there, for long: then the timer was set
    // too late, or for a long slice that is out of place by now.
    let mut now = time_stamp();
    if running.is_some() && state.long && must_be_short(now) {
        until = until.min(now + length(state, now));
        timer::start_until(until);
        now = time_stamp();
    }
    let rest = timer_counts(until.saturating_sub(now));
    if u64::from(apic::timer_count()) > rest + turns().granularity() {
        timer::start_until(until);
    }
}

/// This machine, in time-stamp ticks.
fn turns() -> Turns {
    Turns { turn: turn(), cores: CORES.load(Relaxed) }
}

/// Whether slices that begin now must be short: something on some core has to be noticed within a round of turns and one more.
fn must_be_short(now: u64) -> bool {
    !may_be_long() || LIMITS.soonest(CORES.load(Relaxed) as usize, turns().round()) <= now + turns().turn
}

/// How long the core's next slice may be, in time-stamp ticks.
fn length(state: &mut State, now: u64) -> u64 {
    let turns = turns();
    let was_long = core::mem::replace(&mut state.long, !must_be_short(now));
    if was_long && !state.long {
        // What the others take of a short slice is not known yet. Too little, and this core stands still for some rounds.
        state.lags[0] = turns.most_lag(false);
    }
    if !state.long {
        if may_be_long() {
            tell(slices::SHORT);
        }
        return turns.slice(false) + state.lags[0];
    }
    let until = LIMITS.tell_long(CORES.load(Relaxed) as usize, turns.round(), word());
    until.saturating_sub(now).min(turns.slice(true) + state.lags[1])
}

/// Tells the threads until when slices are long, or that they are short. Threads that compute pause often from then on, so that
/// even a long slice ends soon where something happened that nobody expected.
fn tell(until: u64) {
    word().store(until, Relaxed);
}

/// Where that stands.
fn word() -> &'static AtomicU64 {
    // SAFETY: the clock page is never given back, and this word of it an atomic.
    unsafe { &(*direct::<Clock>(CLOCK.load(Relaxed))).slices }
}

/// The core's slice is over: the others run, then this one goes on. `away`: how long it was away the last time, in time-stamp ticks.
pub fn end(state: &mut State, away: u64) {
    let lag = &mut state.lags[usize::from(state.long)];
    *lag = turns().next_lag(*lag, away, state.long);
    core::hint::spin_loop();
}
