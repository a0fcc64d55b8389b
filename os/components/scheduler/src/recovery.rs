//! Recovery: components that the system file lets this scheduler restart after a fault.
//!
//! The core that is told of the fault restarts the component, a few steps at a time, so that no job waits long for it. A job
//! that was in the component ends there; the task stays in the system, and its next job runs in the component's new life.
//! A component that has been restarted as often as it may stays stopped, and its tasks are taken out.

use crate::state::{system, CoreState};
use crate::{COMPLETED, REMOVED};
use alloc::vec::Vec;
use core::fmt::Write;
use core::sync::atomic::{AtomicBool, AtomicU64, AtomicU8, Ordering};
use tactus_record::{EventKind, Record, Sink};
use tactus_rt::abi::image::NO_COMPONENT;
use tactus_rt::abi::layout::COMPONENTS;
use tactus_rt::abi::shared::{name_text, ComponentCard};
use tactus_rt::time::{CoreId, Duration, Instant};
use tactus_rt::{calls, clock, Error};

/// Steps at a time.
const STEPS: usize = 4;
/// Between them others run.
const PAUSE: Duration = Duration::from_micros(50);

/// The component runs.
const RUNS: u8 = 0;
/// It stays stopped.
const GIVEN_UP: u8 = 1;
/// Added to the number of the core that restarts it.
const RESTARTED_BY: u8 = 2;

/// A component that this scheduler may restart.
pub struct Ward {
    /// Its number.
    pub component: u32,
    most: u64,
    per: Duration,
    condition: AtomicU8,
    /// The next step. Of the core that restarts it, as is what follows.
    step: AtomicU64,
    /// How often it was restarted.
    count: AtomicU64,
    /// When the last restarts began (ns), as many as are allowed within `per`.
    times: Vec<AtomicU64>,
}

/// The cards of all components.
fn cards() -> &'static [ComponentCard] {
    // SAFETY: the image builder maps so many for every scheduler, read-only.
    unsafe { core::slice::from_raw_parts(COMPONENTS as *const ComponentCard, tactus_rt::info().components as usize) }
}

/// The components whose cards name this scheduler as the one that restarts them.
pub fn wards() -> Vec<Ward> {
    let own = tactus_rt::info().component;
    let mut wards = Vec::new();
    for (number, card) in cards().iter().enumerate().filter(|(_, card)| card.restarted_by == own) {
        wards.push(Ward {
            component: number as u32,
            most: card.restarts.into(),
            per: Duration::from_nanos(card.restart_nanos),
            condition: AtomicU8::new(RUNS),
            step: AtomicU64::new(0),
            count: AtomicU64::new(0),
            times: (0..card.restarts).map(|_| AtomicU64::new(0)).collect(),
        });
    }
    wards
}

/// A component that another one may restart.
pub struct Foreign {
    /// Its number.
    pub component: u32,
    by: u32,
    /// How often it was restarted.
    count: AtomicU64,
    /// Whether it stays stopped, as far as this scheduler is told.
    pub given_up: AtomicBool,
}

/// The components whose cards name another one that restarts them.
pub fn foreign() -> Vec<Foreign> {
    let own = tactus_rt::info().component;
    let all = cards().iter().enumerate().filter(|(_, card)| ![own, NO_COMPONENT].contains(&card.restarted_by));
    let foreign = |(number, card): (usize, &ComponentCard)| Foreign {
        component: number as u32,
        by: card.restarted_by,
        count: AtomicU64::new(0),
        given_up: AtomicBool::new(false),
    };
    all.map(foreign).collect()
}

/// Components that were stopped and do not run again, or not yet: one bit for each.
static STOPPED: [AtomicU64; 4] = [const { AtomicU64::new(0) }; 4];

/// The word and the bit of a component.
fn bit_of(component: u64) -> Option<(&'static AtomicU64, u64)> {
    Some((STOPPED.get((component / 64) as usize)?, 1 << (component % 64)))
}

/// Whether a component was stopped and does not run again.
pub fn any_stopped() -> bool {
    STOPPED.iter().any(|word| word.load(Ordering::Relaxed) != 0)
}

fn ward(component: u64) -> Option<&'static Ward> {
    system().wards.iter().find(|ward| u64::from(ward.component) == component)
}

impl Ward {
    /// Whether it was restarted as often as it may be, and stays stopped.
    pub fn stays_stopped(&self) -> bool {
        self.condition.load(Ordering::Acquire) == GIVEN_UP
    }

    /// Whether one more restart now is within the limit; if so, counts it.
    fn may_begin(&self, now: Instant) -> bool {
        let count = self.count.load(Ordering::Relaxed);
        // The place of the restart before which there were `most - 1` others.
        let Some(place) = self.times.get((count % self.most.max(1)) as usize) else { return false };
        let oldest = Instant::from_nanos(place.load(Ordering::Relaxed));
        if count >= self.most && now.since(oldest) < self.per {
            return false;
        }
        place.store(now.as_nanos(), Ordering::Relaxed);
        self.count.store(count + 1, Ordering::Relaxed);
        true
    }
}

/// This core was told that the component was stopped.
#[cold]
pub fn stopped(state: &mut CoreState, component: u64) {
    if let Some((word, bit)) = bit_of(component) {
        word.fetch_or(bit, Ordering::Relaxed);
    }
    let Some(ward) = ward(component) else { return };
    let mine = RESTARTED_BY + state.core;
    // Several cores may be told of one fault.
    if ward.condition.compare_exchange(RUNS, mine, Ordering::AcqRel, Ordering::Relaxed).is_err() {
        return;
    }
    let now = clock::now();
    if ward.may_begin(now) {
        ward.step.store(0, Ordering::Relaxed);
        state.limit = now;
        state.wake_at(now);
    } else {
        ward.condition.store(GIVEN_UP, Ordering::Release);
        note(state, ward, 1);
    }
}

/// What is due since a thread of this core's task was stopped with its component: the job ends, or the task.
#[cold]
pub fn lost_with(state: &mut CoreState, thread: u64) -> u64 {
    let Some(task) = system().task_of(thread) else { return REMOVED };
    let home = system().cards()[task.index()].home;
    let again = match ward(home) {
        Some(ward) => !ward.stays_stopped(),
        None => {
            let foreign = system().foreign.iter().find(|it| u64::from(it.component) == home);
            // Somebody else restarts it, or nobody does.
            foreign.is_some_and(|it| !it.given_up.load(Ordering::Acquire))
        }
    };
    if !again {
        return REMOVED;
    }
    note_aborted(state);
    state.aborted();
    COMPLETED
}

/// The same for the thread that was to run.
#[cold]
pub fn lost(state: &mut CoreState) -> u64 {
    match state.run() {
        Some((task, _)) => lost_with(state, system().thread_of(task)),
        None => 0,
    }
}

/// The job that this core runs ends with its component.
fn note_aborted(state: &mut CoreState) {
    let Some((task, job)) = state.run() else { return };
    state.ring.record(Record {
        time: clock::now(),
        arg: 0,
        job,
        task: Some(task),
        kind: EventKind::Aborted,
        level: 0,
        core: CoreId(state.core),
        ticket: 0,
    });
}

fn note(state: &mut CoreState, ward: &Ward, level: u8) {
    record(state, ward.component, ward.count.load(Ordering::Relaxed), level, 0);
}

fn record(state: &mut CoreState, component: u32, count: u64, level: u8, by: u32) {
    if let Some((word, bit)) = bit_of(component.into()).filter(|_| level == 0) {
        word.fetch_and(!bit, Ordering::Relaxed);
    }
    state.ring.record(Record {
        time: clock::now(),
        arg: count,
        job: component,
        task: None,
        kind: EventKind::Restarted,
        level,
        core: CoreId(state.core),
        ticket: by,
    });
}

/// The kernel told that another component restarted one.
pub fn by_another(state: &mut CoreState, component: u32, by: u32) {
    let Some(it) = system().foreign.iter().find(|it| it.component == component) else { return };
    let count = it.count.fetch_add(1, Ordering::Relaxed) + 1;
    record(state, component, count, 0, by);
}

/// Goes on with the restarts that are this core's.
#[cold]
pub fn go_on(state: &mut CoreState) {
    let mine = RESTARTED_BY + state.core;
    let mut left = false;
    for ward in system().wards.iter().filter(|ward| ward.condition.load(Ordering::Relaxed) == mine) {
        left |= !steps(state, ward);
    }
    state.limit = if left { state.end.min(clock::now() + PAUSE) } else { state.end };
}

/// Some steps of the ward's restart; whether it runs again.
fn steps(state: &mut CoreState, ward: &Ward) -> bool {
    for _ in 0..STEPS {
        match calls::restart(ward.component.into(), ward.step.load(Ordering::Relaxed)) {
            Ok(0) => {
                note(state, ward, 0);
                ward.condition.store(RUNS, Ordering::Release);
                return true;
            }
            Ok(next) => ward.step.store(next, Ordering::Relaxed),
            // A thread has not left it yet.
            Err(Error::Busy) => return false,
            Err(_) => {
                ward.condition.store(GIVEN_UP, Ordering::Release);
                note(state, ward, 1);
                return true;
            }
        }
    }
    false
}

/// Says which components were restarted, and which stay stopped.
pub fn tell(console: &mut impl Write) {
    for ward in &system().wards {
        let count = ward.count.load(Ordering::Relaxed);
        let name = cards().get(ward.component as usize).map_or("?", |card| name_text(&card.name));
        let end = if ward.stays_stopped() { ", and stays stopped: no more are allowed" } else { "" };
        if count > 0 {
            let _ = writeln!(console, "{name} was restarted {count} times{end}");
        }
    }
    for it in &system().foreign {
        let count = it.count.load(Ordering::Relaxed);
        let name = |number: u32| cards().get(number as usize).map_or("?", |card| name_text(&card.name));
        if count > 0 {
            let _ = writeln!(console, "{} was restarted {count} times by {}", name(it.component), name(it.by));
        }
    }
}
