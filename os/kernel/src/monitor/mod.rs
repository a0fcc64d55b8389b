//! Monitors: properties of what happens in which order and when, judged inside the operation that makes it happen.
//!
//! An event is stepped where it happens: in the call that sends a message, in the invocation, in the stop of a component. There is no
//! further call, no look for who the thread is, and no component that sees tables, states or what was recorded. Events that the root
//! scheduler alone knows of it tells by a call of its own. Where an image has no monitors, nothing here is ever reached from
//! the entry code: what is watched leaves its path by the checks that are there for other reasons (`entry/calls.s`).

mod calls;
mod handler;
mod log;
mod tables;

pub use calls::{invoke, observe, signal, watched_return};
pub use handler::{violation, waits_on};
pub use log::set_up as set_up_log;
pub use tables::set_up;

use crate::arch::cpu::time_stamp;
use crate::arch::paging::direct;
use crate::component;
use crate::dispatch::{arm, first_timeout, leave_kernel, post_root};
use crate::eviction;
use crate::machine::CLOCK;
use crate::percore::Core;
use crate::region::Shared;
use crate::shootdown;
use crate::timer::start_timer;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use tables::{tables, Tables, Within};
use tactus_abi::call::NO_TIMEOUT;
use tactus_abi::layout::MAX_CORES;
use tactus_abi::monitors::{action, words, NONE};
use tactus_abi::shared::{event, Clock};
use tactus_monitor::{Step, Verdict, Watcher};
use tactus_record::{EventKind, FaultKind, Stored, Subject};
use tactus_sync::{Order, Rank};
use tactus_time::{CoreId, Instant};

/// The run is to end, by the will of a monitor.
static RUN_ENDS: AtomicBool = AtomicBool::new(false);

/// How often a property was found violated.
static VIOLATIONS: AtomicU64 = AtomicU64::new(0);

/// How often a property was found violated.
fn violations() -> u64 {
    VIOLATIONS.load(Ordering::Relaxed)
}

/// What is to be done after an event, in one word: below a component that is to be stopped and the monitor for whose sake, then the
/// cores on which jobs are to be released, then the rest.
#[derive(Clone, Copy, Default)]
pub struct Demands(u64);

impl Demands {
    /// A component is to be stopped.
    const STOP: u64 = 1 << 63;
    /// The run is to end.
    const ENDS: Demands = Demands(1 << 40);
    /// A monitor with a clock took the event: it may await something now.
    const AWAITS: Demands = Demands(1 << 41);

    /// A component is to be stopped for the sake of this monitor.
    fn to_stop(monitor: u32, component: u16) -> Demands {
        Demands(Demands::STOP | u64::from(monitor as u16) << 16 | u64::from(component))
    }
    /// Jobs are to be released on these cores, as bits.
    fn to_release(cores: u8) -> Demands {
        Demands(u64::from(cores) << 32)
    }
    /// Whether anything is.
    #[inline(always)]
    pub fn any(self) -> bool {
        self.0 & !Demands::AWAITS.0 != 0
    }
    fn awaits(self) -> bool {
        self.0 & Demands::AWAITS.0 != 0
    }
    fn ends(self) -> bool {
        self.0 & Demands::ENDS.0 != 0
    }
    fn releases(self) -> u8 {
        (self.0 >> 32) as u8
    }
    /// The monitor and the component. Of several, the first in the file.
    fn stop(self) -> Option<(u32, u16)> {
        (self.0 & Demands::STOP != 0).then_some(((self.0 >> 16) as u16 as u32, self.0 as u16))
    }
    fn and(&mut self, other: Demands) {
        let one = if self.0 & Demands::STOP == 0 { u64::MAX } else { !(Demands::STOP | u64::from(u32::MAX)) };
        self.0 |= other.0 & one;
    }
}

/// The clock's page.
fn clock() -> &'static Clock {
    // SAFETY: the page is the kernel's, made during set-up and never given back; only its slices change later.
    unsafe { &*direct::<Clock>(CLOCK.load(Ordering::Relaxed)) }
}

/// Now, in ns since the start of the run.
fn now() -> u64 {
    let clock = clock();
    let ticks = time_stamp().saturating_sub(clock.epoch);
    match (clock.multiplier, clock.shift) {
        (1, 0) => ticks,
        (multiplier, shift) => ((u128::from(ticks) * u128::from(multiplier)) >> shift) as u64,
    }
}

/// The reading of the counter of time at which this instant is past.
fn reading_after(nanos: u64) -> u64 {
    let clock = clock();
    let ticks = match (clock.multiplier, clock.shift) {
        (1, 0) => u128::from(nanos),
        (multiplier, shift) => (u128::from(nanos) << shift) / u128::from(multiplier.max(1)),
    };
    u64::try_from(ticks).unwrap_or(NO_TIMEOUT).saturating_add(clock.epoch).saturating_add(1)
}

/// An event happens on this core.
#[inline]
pub fn happens(core: &mut Core, event: u32) -> Demands {
    let Some(tables) = tables().filter(|_| event != NONE) else { return Demands::default() };
    let demands = happened(tables, core.id, (event, now()), &mut Order::unlocked());
    if demands.awaits() {
        look_ahead(tables, core, event);
    }
    demands
}

/// An event has happened at this time (ns), or at the group's last one if that is later.
fn happened<Held: Rank>(
    tables: &'static Tables,
    core: u64,
    (event, at): (u32, u64),
    order: &mut Order<Held>,
) -> Demands {
    let Some((steps, group, share)) = tables.event(event) else { return Demands::default() };
    let taken = tables.within((core, group), order, |within| {
        let now = at.max(within.place.now);
        within.place.now = now;
        within.place.events = within.place.events.wrapping_add(1);
        let place = within.place.events;
        let core_id = CoreId(core as u8);
        let record = Stored::about(
            Subject::NONE.with_level(group as u8),
            Instant::from_nanos(now),
            core_id,
            EventKind::Observed,
            event,
            0,
        );
        log::put_event(core, record.with_ticket(place), share);
        let mut demands = Demands::default();
        for step in steps.chunks_exact(words::STEP) {
            let (monitor, column) = (step[0], step[1]);
            match within.watcher(monitor) {
                Some(Watcher::Untimed(stepper)) => {
                    let taken = stepper.step(column);
                    if taken != Step::Continues {
                        let taken = (None, (column, taken), Instant::from_nanos(now));
                        demands.and(conclude(tables, within, core, monitor, taken));
                    }
                }
                Some(Watcher::Timed(_)) => {
                    demands.and(step_timed(tables, within, core, (monitor, column), now));
                    demands.and(Demands::AWAITS);
                }
                None => {}
            }
        }
        demands
    });
    taken.unwrap_or_else(|| astray(core, event, at))
}

/// The event happens on a core where the image says that it never does: no monitor takes it, and the trace tells.
#[cold]
fn astray(core: u64, event: u32, at: u64) -> Demands {
    let (at, core_id) = (Instant::from_nanos(at), CoreId(core as u8));
    log::put_event(core, Stored::about(Subject::NONE, at, core_id, EventKind::Observed, event, 0), 0);
    Demands::default()
}

/// A step of a monitor with a clock.
#[inline(never)]
fn step_timed(tables: &Tables, within: &mut Within<'_>, core: u64, (monitor, column): (u32, u32), now: u64) -> Demands {
    let now = Instant::from_nanos(now);
    let Some(watcher) = within.watcher(monitor) else { return Demands::default() };
    let late = watcher.expire(now);
    let taken = watcher.step(column, now);
    match (late, taken) {
        (None, Step::Continues) => Demands::default(),
        _ => conclude(tables, within, core, monitor, (late, (column, taken), now)),
    }
}

/// A monitor has come to a verdict, by what did not come in time, by this event, or both.
#[cold]
#[inline(never)]
fn conclude(
    tables: &Tables,
    within: &mut Within<'_>,
    core: u64,
    monitor: u32,
    (late, (column, taken), now): (Option<(Instant, Verdict)>, (u32, Step), Instant),
) -> Demands {
    let by_event = match taken {
        Step::Concluded(verdict) => Some((now, verdict)),
        Step::Continues | Step::Stopped => None,
    };
    let mut demands = Demands::default();
    for (by_event, (at, verdict)) in late.map(|it| (0, it)).into_iter().chain(by_event.map(|it| (1, it))) {
        let level = u8::from(verdict == Verdict::True);
        let subject = Subject::NONE.with_level(level);
        let record = Stored::about(subject, at, CoreId(core as u8), EventKind::Concluded, monitor, by_event);
        log::put_verdict(core, record.with_ticket(within.place.events), monitor);
        if verdict == Verdict::False {
            VIOLATIONS.fetch_add(1, Ordering::Relaxed);
        }
        let it = tables.monitors.get(monitor as usize).filter(|_| verdict == Verdict::False);
        match it.map(|it| it.action) {
            Some((action::STOP, component)) => {
                demands.and(Demands::to_stop(monitor, component as u16));
            }
            Some((action::END, _)) => demands.and(Demands::ENDS),
            Some((action::RUN, _)) => {
                let event = if by_event == 1 { column } else { NONE };
                demands.and(Demands::to_release(handler::release(tables, within, core, (monitor, event))));
            }
            _ => {}
        }
    }
    demands
}

/// It is this instant (ns), and nothing happened: what was awaited until before it did not come. Until when something is awaited
/// that this core has to look after.
fn expiries(core: &Core, at: u64) -> (Demands, u64) {
    let (mut demands, mut first) = (Demands::default(), u64::MAX);
    let Some(tables) = tables().filter(|tables| tables.clocked) else { return (demands, first) };
    let mut left = tables.timed;
    while left != 0 {
        let number = left.trailing_zeros();
        left &= left - 1;
        let Some(monitor) = tables.monitors.get(number as usize) else { break };
        let looked = tables.within((core.id, monitor.group), &mut Order::unlocked(), |within| {
            let now = Instant::from_nanos(at.max(within.place.now));
            let watcher = within.watcher(number)?;
            let late = watcher.expire(now);
            let expiry = watcher.expiry();
            let demands = match late {
                Some(_) => conclude(tables, within, core.id, number, (late, (NONE, Step::Continues), now)),
                None => Demands::default(),
            };
            Some((demands, expiry))
        });
        if let Some((more, expiry)) = looked.flatten() {
            demands.and(more);
            first = expiry.map_or(first, |expiry| first.min(expiry.as_nanos()));
        }
    }
    (demands, first)
}

/// What the monitors of an event await from now on must not be noticed late: the root is entered when it is past.
#[cold]
#[inline(never)]
fn look_ahead(tables: &'static Tables, core: &mut Core, event: u32) {
    let Some((steps, group, _)) = tables.event(event) else { return };
    let first = tables.within((core.id, group), &mut Order::unlocked(), |within| {
        let expiry = |step: &[u32]| within.watcher(step[0])?.expiry();
        steps.chunks_exact(words::STEP).filter_map(expiry).min()
    });
    let Some(expiry) = first.flatten() else { return };
    let reading = reading_after(expiry.as_nanos());
    if reading < core.timeouts[0] {
        core.timeouts[0] = reading;
        let first = first_timeout(core);
        arm(core, first);
        start_timer(core);
    }
}

/// The core's thread goes on, in the address space that is its component's, when what monitors demand has been done.
#[inline(always)]
pub fn leave(core: &mut Core, demands: Demands) {
    if demands.any() {
        return act(core, demands);
    }
    leave_kernel(core)
}

/// Something is demanded.
#[cold]
#[inline(never)]
fn act(core: &mut Core, demands: Demands) {
    if demands.ends() && !RUN_ENDS.swap(true, Ordering::SeqCst) {
        shootdown::request(core);
    }
    let released = handler::tell(core, demands.releases());
    if let Some((monitor, component)) = demands.stop().filter(|(_, it)| !component::get(*it).is_stopped()) {
        return eviction::stop_for(core, component, monitor.into());
    }
    if demands.ends() {
        return post_root(core, event::RUN_ENDS);
    }
    if released {
        return post_root(core, event::VIOLATION);
    }
    leave_kernel(core)
}

/// Whether there are monitors.
#[inline(always)]
pub fn are_there() -> bool {
    tables().is_some()
}

/// Whether a monitor has ended the run.
pub fn run_ends() -> bool {
    RUN_ENDS.load(Ordering::SeqCst)
}

/// A thread was taken out of a component that was stopped, as stands in the root's region: the root is entered. Another component that
/// is to be stopped for that is so when the root has heard of this one, with its next [`observe`].
#[cold]
#[inline(never)]
pub fn faulted(core: &mut Core) {
    let fault = Shared::of_root(core).fault();
    let watched = tables().filter(|_| fault.kind != FaultKind::Gone as u64);
    let event = watched.and_then(|tables| tables.fault(u32::try_from(fault.thread).ok()?));
    let demands = event.map_or_else(Demands::default, |event| happens(core, event));
    later(core, demands);
    post_root(core, event::FAULT)
}

/// The root is entered on this core for another reason: what is demanded is done then. Of several components that are to be stopped,
/// the first is.
#[cold]
pub fn later(core: &mut Core, demands: Demands) {
    if let Some((monitor, component)) = demands.stop() {
        let (put_off, Demands(word)) = (&PUT_OFF[core.id as usize % MAX_CORES], Demands::to_stop(monitor, component));
        let _ = put_off.compare_exchange(0, word, Ordering::Relaxed, Ordering::Relaxed);
    }
    if demands.ends() && !RUN_ENDS.swap(true, Ordering::SeqCst) {
        shootdown::request(core);
        Shared::of_root(core).post(event::RUN_ENDS);
    }
    if handler::tell(core, demands.releases()) {
        Shared::of_root(core).post(event::VIOLATION);
    }
}

/// What a fault made a monitor demand, for the core's next [`observe`].
static PUT_OFF: [AtomicU64; MAX_CORES] = [const { AtomicU64::new(0) }; MAX_CORES];

/// Takes what was put off on this core.
fn put_off(core: u64) -> Demands {
    Demands(PUT_OFF[core as usize % MAX_CORES].swap(0, Ordering::Relaxed))
}

/// A component runs again.
pub fn restarted(core: &mut Core) -> Demands {
    let event = tables().map_or(NONE, |tables| tables.restart);
    happens(core, event)
}
