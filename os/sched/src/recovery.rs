//! Recovery: components that the system file lets a scheduler restart after a fault.
//!
//! The core that is notified of the fault restarts the component, a few steps at a time, so that no job waits long for it. A job
//! that was in the component ends there; the task stays in the system, and its next job runs in the component's new life.
//! A component that has been restarted as often as it may stays stopped, and its tasks are taken out.
//!
//! A component that is loaded late is one that begins stopped: the same steps fill its memory, in a window of its partition, before
//! that starts.

use alloc::vec::Vec;
use core::fmt::Write;
use core::sync::atomic::{AtomicBool, AtomicU64, AtomicU8, Ordering};
use tactus_record::{EventKind, Record, Sink};
use tactus_rt::abi::image::{role, NO_COMPONENT};
use tactus_rt::abi::shared::{name_text, restart, ComponentCard};
use tactus_rt::cards::components;
use tactus_rt::scheduler::{StoppedSet, TraceRing};
use tactus_rt::time::{CoreId, Duration, Instant, TaskId};
use tactus_rt::{calls, clock, Error};

/// Between steps others run.
const PAUSE: Duration = Duration::from_nanos(restart::PAUSE);

/// The component runs.
const RUNS: u8 = 0;
/// It stays stopped.
const GIVEN_UP: u8 = 1;
/// Added to the number of the core that restarts it.
const RESTARTED_BY: u8 = 2;

/// The level byte of the record that a component was loaded.
const LOADED: u8 = 2;

/// What recovery asks of a scheduler, on the core that runs.
pub trait Host {
    /// The scheduler's components.
    fn recovery(&self) -> &'static Recovery;
    /// The core's number.
    fn core(&self) -> u8;
    /// Its trace.
    fn ring(&mut self) -> &mut TraceRing;
    /// The task and the job that the last decision chose.
    fn running(&self) -> Option<(TaskId, u32)>;
    /// The component in which a thread's task is at home; none if the thread is no task's.
    fn home_of(&self, thread: u64) -> Option<u64>;
    /// Counts the running job as ended with its component.
    fn abort(&mut self);
    /// Calls [`go_on`] at the first entry from `at` on; `None`: there are no steps left.
    fn restart_at(&mut self, at: Option<Instant>);
    /// Enters this core at `at` at the latest.
    fn enter_at(&mut self, at: Instant);
}

/// What ends with a component that was stopped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lost {
    /// The running job: the task goes on with its next one.
    Job,
    /// The task.
    Task,
}

/// The components that a scheduler restarts, and those that another component restarts.
pub struct Recovery {
    supervised: Vec<Supervised>,
    externally: Vec<ExternallySupervised>,
    /// Components that were stopped and do not run again, or not yet: one bit for each.
    stopped: [AtomicU64; 4],
}

/// A component that this scheduler may restart.
struct Supervised {
    component: u32,
    most: u64,
    per: Duration,
    condition: AtomicU8,
    /// The next step. Of the core that restarts it, as is what follows.
    step: AtomicU64,
    /// How often it was restarted.
    count: AtomicU64,
    /// Whether it waits where the limit forbids a restart; else it stays stopped.
    waits: bool,
    /// No step before this instant (ns).
    not_before: AtomicU64,
    /// When it may be loaded, if it is loaded late; and whether that is still to be done.
    load: Load,
    loading: AtomicBool,
    /// When the last restarts began (ns), as many as are allowed within `per`.
    times: Vec<AtomicU64>,
}

/// The window of each frame in which steps of loading may begin. All times in nanoseconds.
struct Load {
    start: u64,
    length: u64,
    frame: u64,
}

impl Load {
    /// The first instant from `at` on that lies in the window.
    fn next(&self, at: Instant) -> Instant {
        let at = at.as_nanos();
        let window = at - at % self.frame + self.start;
        Instant::from_nanos(match at {
            _ if at < window => window,
            _ if at <= window + self.length => at,
            _ => window + self.frame,
        })
    }
}

/// A component that another one may restart.
struct ExternallySupervised {
    component: u32,
    by: u32,
    /// How often it was restarted.
    count: AtomicU64,
    /// Whether it stays stopped, as far as this scheduler is told.
    given_up: AtomicBool,
}

impl Supervised {
    fn new(component: usize, card: &ComponentCard) -> Supervised {
        let load = Load { start: card.load_start, length: card.load_length, frame: card.load_frame.max(1) };
        let loading = card.role & role::LATE != 0;
        Supervised {
            component: component as u32,
            most: card.restarts.into(),
            per: Duration::from_nanos(card.restart_nanos),
            condition: AtomicU8::new(if loading { RESTARTED_BY + card.load_core as u8 } else { RUNS }),
            step: AtomicU64::new(0),
            count: AtomicU64::new(0),
            waits: card.waits != 0,
            not_before: AtomicU64::new(load.next(Instant::ZERO).as_nanos()),
            load,
            loading: AtomicBool::new(loading),
            times: (0..card.restarts).map(|_| AtomicU64::new(0)).collect(),
        }
    }

    /// Whether it was restarted as often as it may be.
    fn stays_stopped(&self) -> bool {
        self.condition.load(Ordering::Acquire) == GIVEN_UP
    }

    /// When one more restart is within the limit, at `now` at the earliest. Counts it; none if it is to stay stopped.
    fn next_restart(&self, now: Instant) -> Option<Instant> {
        let count = self.count.load(Ordering::Relaxed);
        // The time of the restart before which there were `most - 1` others.
        let oldest = self.times.get((count % self.most.max(1)) as usize)?;
        let since = Instant::from_nanos(oldest.load(Ordering::Relaxed));
        let may = if count >= self.most { since.saturating_add(self.per).max(now) } else { now };
        if may > now && !self.waits {
            return None;
        }
        oldest.store(may.as_nanos(), Ordering::Relaxed);
        self.count.store(count + 1, Ordering::Relaxed);
        Some(may)
    }
}

impl Recovery {
    /// The components whose cards name this scheduler, and those whose cards name another component.
    pub fn new() -> Recovery {
        let own = tactus_rt::info().component;
        let cards = || components().iter().enumerate();
        let others = cards().filter(|(_, card)| ![own, NO_COMPONENT].contains(&card.restarted_by));
        let externally = |(number, card): (usize, &ComponentCard)| ExternallySupervised {
            component: number as u32,
            by: card.restarted_by,
            count: AtomicU64::new(0),
            given_up: AtomicBool::new(false),
        };
        let mine = cards().filter(|(_, card)| card.restarted_by == own);
        Recovery {
            supervised: mine.map(|(number, card)| Supervised::new(number, card)).collect(),
            externally: others.map(externally).collect(),
            stopped: [const { AtomicU64::new(0) }; 4],
        }
    }

    /// Whether a component was stopped and does not run again.
    pub fn any_stopped(&self) -> bool {
        self.stopped.iter().any(|word| word.load(Ordering::Relaxed) != 0)
    }

    /// Whether the component has begun anew since the run began.
    pub fn has_restarted(&self, component: u64) -> bool {
        let own = self.supervised(component).map(|it| &it.count);
        let other = || self.externally.iter().find(|it| u64::from(it.component) == component).map(|it| &it.count);
        own.or_else(other).is_some_and(|count| count.load(Ordering::Relaxed) > 0)
    }

    /// Whether no component is ever restarted.
    pub fn is_empty(&self) -> bool {
        self.supervised.is_empty() && self.externally.is_empty()
    }

    /// The components that stay stopped: those that this scheduler gave up, and those of which its parent told it.
    pub fn given_up(&self, by_parent: Option<StoppedSet>) -> StoppedSet {
        let mut known = StoppedSet::default();
        let own = self.supervised.iter().filter(|it| it.stays_stopped());
        own.for_each(|it| known.insert(it.component));
        let Some(by_parent) = by_parent else { return known };
        for it in self.externally.iter().filter(|it| by_parent.contains(it.component)) {
            it.given_up.store(true, Ordering::Release);
            known.insert(it.component);
        }
        known
    }

    /// Writes which components were restarted, and which stay stopped.
    pub fn report(&self, console: &mut impl Write) {
        let name = |number: u32| components().get(number as usize).map_or("?", |card| name_text(&card.name));
        for it in &self.supervised {
            let count = it.count.load(Ordering::Relaxed);
            let end = if it.stays_stopped() { ", and stays stopped: no more are allowed" } else { "" };
            if count > 0 {
                let _ = writeln!(console, "{} was restarted {count} times{end}", name(it.component));
            }
        }
        for it in &self.externally {
            let count = it.count.load(Ordering::Relaxed);
            if count > 0 {
                let _ = writeln!(console, "{} was restarted {count} times by {}", name(it.component), name(it.by));
            }
        }
    }

    /// The word and the bit of a component.
    fn bit_of(&self, component: u64) -> Option<(&AtomicU64, u64)> {
        Some((self.stopped.get((component / 64) as usize)?, 1 << (component % 64)))
    }

    fn supervised(&self, component: u64) -> Option<&Supervised> {
        self.supervised.iter().find(|it| u64::from(it.component) == component)
    }

    /// Whether the component, which was stopped, will run again.
    fn runs_again(&self, component: u64) -> bool {
        match self.supervised(component) {
            Some(it) => !it.stays_stopped(),
            None => {
                let other = self.externally.iter().find(|it| u64::from(it.component) == component);
                other.is_some_and(|it| !it.given_up.load(Ordering::Acquire))
            }
        }
    }
}

impl Default for Recovery {
    fn default() -> Recovery {
        Recovery::new()
    }
}

/// This core was notified that the component was stopped.
#[cold]
pub fn stopped(host: &mut impl Host, component: u64) {
    let recovery = host.recovery();
    if let Some((word, bit)) = recovery.bit_of(component) {
        word.fetch_or(bit, Ordering::Relaxed);
    }
    let Some(it) = recovery.supervised(component) else { return };
    let mine = RESTARTED_BY + host.core();
    // Several cores may be notified of one fault.
    if it.condition.compare_exchange(RUNS, mine, Ordering::AcqRel, Ordering::Relaxed).is_err() {
        return;
    }
    let now = clock::now();
    if let Some(at) = it.next_restart(now) {
        it.step.store(0, Ordering::Relaxed);
        it.not_before.store(at.as_nanos(), Ordering::Relaxed);
        host.restart_at(first_step(host, now));
        host.enter_at(at);
    } else {
        it.condition.store(GIVEN_UP, Ordering::Release);
        note(host, it, 1);
    }
}

/// What ends since a thread of this core's task was stopped with its component.
#[cold]
pub fn lost_with(host: &mut impl Host, thread: u64) -> Lost {
    let Some(home) = host.home_of(thread) else { return Lost::Task };
    // What comes into a slot again is another program, whose tasks begin when it is loaded.
    let is_slot = components().get(home as usize).is_some_and(|card| card.role & role::SLOT != 0);
    if is_slot || !host.recovery().runs_again(home) {
        return Lost::Task;
    }
    if let Some((task, job)) = host.running() {
        let core = CoreId(host.core());
        let (time, task) = (clock::now(), Some(task));
        host.ring().record(Record { time, arg: 0, job, task, kind: EventKind::Aborted, level: 0, core, ticket: 0 });
    }
    host.abort();
    Lost::Job
}

fn note(host: &mut impl Host, it: &Supervised, level: u8) {
    record(host, it.component, it.count.load(Ordering::Relaxed), level, 0);
}

fn record(host: &mut impl Host, component: u32, count: u64, level: u8, by: u32) {
    if let Some((word, bit)) = host.recovery().bit_of(component.into()).filter(|_| level == 0) {
        word.fetch_and(!bit, Ordering::Relaxed);
    }
    let (time, core) = (clock::now(), CoreId(host.core()));
    let (job, kind) = (component, EventKind::Restarted);
    host.ring().record(Record { time, arg: count, job, task: None, kind, level, core, ticket: by });
}

/// The kernel reported that another component restarted one.
pub fn by_another(host: &mut impl Host, (component, by): (u32, u32)) {
    let Some(it) = host.recovery().externally.iter().find(|it| it.component == component) else { return };
    let count = it.count.fetch_add(1, Ordering::Relaxed) + 1;
    record(host, component, count, 0, by);
}

/// Goes on with the restarts that are this core's.
#[cold]
pub fn go_on(host: &mut impl Host) {
    let now = clock::now();
    for it in of_core(host.recovery(), host.core()).filter(|it| it.not_before.load(Ordering::Relaxed) <= now.as_nanos())
    {
        if !it.loading.load(Ordering::Relaxed) {
            steps(host, it);
            continue;
        }
        // An entry may have come too late for the window.
        if it.load.next(now) == now {
            steps(host, it);
        }
        it.not_before.store(it.load.next(clock::now() + PAUSE).as_nanos(), Ordering::Relaxed);
    }
    host.restart_at(first_step(host, clock::now() + PAUSE));
}

/// The core begins, and may have components to load.
#[cold]
pub fn begin(host: &mut impl Host) {
    if let Some(at) = first_step(host, Instant::ZERO) {
        host.restart_at(Some(at));
    }
}

/// The restarts that are this core's and not over.
fn of_core(recovery: &'static Recovery, core: u8) -> impl Iterator<Item = &'static Supervised> {
    let mine = RESTARTED_BY + core;
    recovery.supervised.iter().filter(move |it| it.condition.load(Ordering::Relaxed) == mine)
}

/// When the next step of any of them is due, not before `at`.
fn first_step(host: &impl Host, at: Instant) -> Option<Instant> {
    of_core(host.recovery(), host.core())
        .map(|it| Instant::from_nanos(it.not_before.load(Ordering::Relaxed)).max(at))
        .min()
}

/// Some steps of the component's restart.
fn steps(host: &mut impl Host, it: &Supervised) {
    for _ in 0..restart::STEPS {
        match calls::restart(it.component.into(), it.step.load(Ordering::Relaxed)) {
            Ok(0) => {
                note(host, it, if it.loading.swap(false, Ordering::Relaxed) { LOADED } else { 0 });
                it.condition.store(RUNS, Ordering::Release);
                return;
            }
            Ok(next) => it.step.store(next, Ordering::Relaxed),
            // A thread has not left it yet; or by the kernel's clock the last ones are a little nearer.
            Err(Error::Busy | Error::Exhausted) => return,
            Err(_) => {
                it.condition.store(GIVEN_UP, Ordering::Release);
                note(host, it, 1);
                return;
            }
        }
    }
}
