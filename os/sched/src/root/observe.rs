//! Events that monitors watch and the root scheduler alone knows of: read from the records that it writes, and told to the kernel,
//! which has the monitors.
//!
//! The records of a decision are looked at once it is published, so that systems without monitors pay one look at a pointer. An event
//! has the time of its record. A deadline miss has none: it happens at the deadline of a job that is neither finished nor given up by
//! then, and what a monitor awaits is late when its time is over; for both the core is entered ([`CoreState::watch`]).

use crate::root::state::{CoreState, System};
use alloc::vec::Vec;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};
use tactus_policy::PolicyConfig;
use tactus_record::{EventKind, Stored};
use tactus_rt::abi::call::EXPIRIES;
use tactus_rt::abi::monitors::{watched as kind, NONE};
use tactus_rt::calls;
use tactus_rt::scheduler::watched_rows;
use tactus_rt::time::{Duration, Instant, TaskId};

/// Jobs of one task whose deadlines are awaited at once; of more, the oldest has missed its deadline.
const AWAITED: usize = 8;

/// What is watched, the same for all cores.
pub struct Watched {
    /// By task: the events of each kind.
    tasks: Vec<[u32; kind::OF_TASKS]>,
    /// By server, the root's at 0: exhaustion and replenishment.
    servers: Vec<[u32; 2]>,
    mode: u32,
    reconfigure: u32,
    /// Components that stay stopped, and the event that this is.
    given_up: Vec<(u32, u32)>,
    /// A monitor awaits something for some time.
    clocked: bool,
    /// By task: one more than the number of the last job that has started.
    started: Vec<AtomicU32>,
    /// The tasks whose misses are watched.
    misses: Vec<Deadlines>,
    /// The task whose jobs handle the violations of each monitor that has one.
    handlers: Vec<(u32, TaskId)>,
}

/// The deadlines of a task's jobs that are not done.
struct Deadlines {
    task: usize,
    /// From a release to its deadline.
    relative: Duration,
    /// By job, in turn (ns); 0 for none.
    due: [AtomicU64; AWAITED],
}

impl Deadlines {
    fn of_job(&self, job: u32) -> &AtomicU64 {
        &self.due[job as usize % AWAITED]
    }
}

/// What one core remembers.
#[derive(Default)]
pub struct Reporting {
    /// How far its ring has been told.
    upto: u64,
    /// The job that ended with its component: the completion that follows is not meant so.
    aborted: Option<(usize, u32)>,
}

impl Watched {
    /// What the image says; nothing if the system has no monitors.
    pub fn new(setup: &PolicyConfig) -> Option<Watched> {
        let (rows, clocked) = watched_rows()?;
        let (mut tasks, mut servers) = (alloc::vec![[NONE; kind::OF_TASKS]; setup.tasks.len()], Vec::new());
        let (mut mode, mut reconfigure) = (NONE, NONE);
        let (mut handlers, mut given_up) = (Vec::new(), Vec::new());
        for &[what, subject, event] in rows {
            let index = subject as usize;
            match what {
                kind::SERVER_EXHAUST | kind::SERVER_REPLENISH if index < 1 << 16 => {
                    servers.resize(servers.len().max(index + 1), [NONE; 2]);
                    servers[index][(what - kind::SERVER_EXHAUST) as usize] = event;
                }
                kind::MODE => mode = event,
                kind::RECONFIGURE => reconfigure = event,
                kind::HANDLER => handlers.push((event, TaskId(subject as u16))),
                kind::GIVE_UP => given_up.push((subject, event)),
                _ => {
                    if let Some(place) = tasks.get_mut(index).and_then(|task| task.get_mut(what as usize)) {
                        *place = event;
                    }
                }
            }
        }
        let started = tasks.iter().map(|_| AtomicU32::new(0)).collect();
        let watched = tasks.iter().zip(&setup.tasks).enumerate();
        let misses = watched.filter(|(_, (events, _))| events[kind::MISS as usize] != NONE).map(|(n, (_, it))| {
            Deadlines { task: n, relative: it.deadline, due: [const { AtomicU64::new(0) }; AWAITED] }
        });
        let misses = misses.collect();
        Some(Watched { tasks, servers, mode, reconfigure, given_up, clocked, started, misses, handlers })
    }

    /// Tells of an event, if it is one.
    fn tell(event: u32, at: Instant) {
        if event != NONE {
            // Refused only where the kernel knows no such event, which then nobody watches.
            let _ = calls::observe(event.into(), at.as_nanos());
        }
    }

    fn of(&self, task: usize, what: u32) -> u32 {
        self.tasks.get(task).map_or(NONE, |task| task[what as usize % kind::OF_TASKS])
    }

    fn deadlines(&self, task: usize) -> Option<&Deadlines> {
        self.misses.iter().find(|it| it.task == task)
    }

    /// The job is done: it misses nothing any more. All of the task's, where none is named.
    fn done(&self, task: usize, job: Option<u32>) {
        match (self.deadlines(task), job) {
            (Some(deadlines), Some(job)) => deadlines.of_job(job).store(0, Relaxed),
            (Some(deadlines), None) => deadlines.due.iter().for_each(|due| due.store(0, Relaxed)),
            (None, _) => {}
        }
    }

    /// The job is released: its deadline is awaited.
    fn released(&self, task: usize, job: u32, release: Instant) {
        let Some(deadlines) = self.deadlines(task) else { return };
        let deadline = release.saturating_add(deadlines.relative).as_nanos();
        match deadlines.of_job(job).swap(deadline, Relaxed) {
            0 => {}
            missed => Watched::tell(self.of(task, kind::MISS), Instant::from_nanos(missed)),
        }
    }

    /// What was due before `now` was missed, the earliest first.
    fn missed_before(&self, now: Instant) {
        while let Some((deadline, task, due)) = self.first_due().filter(|(deadline, ..)| *deadline < now.as_nanos()) {
            // Another core may have found it first.
            if due.compare_exchange(deadline, 0, Relaxed, Relaxed).is_ok() {
                Watched::tell(self.of(task, kind::MISS), Instant::from_nanos(deadline));
            }
        }
    }

    /// The first deadline that is awaited, and whose it is.
    fn first_due(&self) -> Option<(u64, usize, &AtomicU64)> {
        let all = self.misses.iter().flat_map(|it| it.due.iter().map(move |due| (due.load(Relaxed), it.task, due)));
        all.filter(|(deadline, ..)| *deadline != 0).min_by_key(|(deadline, task, _)| (*deadline, *task))
    }

    /// Tells of a record.
    fn take(&self, reporting: &mut Reporting, record: Stored) {
        let Some(what) = EventKind::from_u8(record.kind()) else { return };
        let (task, job, at) = (record.task_number(), record.job(), Instant::from_nanos(record.time));
        let server = |n: usize| self.servers.get(job as usize).map_or(NONE, |events| events[n]);
        let event = match what {
            EventKind::Release => {
                self.released(task, job, Instant::from_nanos(record.arg));
                self.of(task, kind::RELEASE)
            }
            EventKind::Dispatch => {
                let next = job.saturating_add(1);
                if self.started.get(task).is_some_and(|it| it.fetch_max(next, Relaxed) < next) {
                    Watched::tell(self.of(task, kind::START), at);
                }
                self.of(task, kind::DISPATCH)
            }
            EventKind::Preempt => self.of(task, kind::PREEMPT),
            EventKind::Complete if reporting.aborted == Some((task, job)) => {
                reporting.aborted = None;
                return;
            }
            EventKind::Complete => {
                self.done(task, Some(job));
                self.of(task, kind::COMPLETE)
            }
            EventKind::Aborted => {
                reporting.aborted = Some((task, job));
                self.done(task, Some(job));
                self.of(task, kind::DROP)
            }
            EventKind::Dropped => {
                self.done(task, Some(job));
                self.of(task, kind::DROP)
            }
            EventKind::Removed => {
                self.done(task, None);
                return;
            }
            EventKind::Exhausted => self.of(task, kind::EXHAUST),
            EventKind::Replenish => self.of(task, kind::REPLENISH),
            EventKind::ServerExhausted => server(0),
            EventKind::ServerReplenish => server(1),
            EventKind::Mode => self.mode,
            EventKind::ChangeApplied => self.reconfigure,
            EventKind::Restarted if record.level() == 1 => {
                self.given_up.iter().find(|(component, _)| *component == job).map_or(NONE, |(_, event)| *event)
            }
            _ => return,
        };
        Watched::tell(event, at);
    }
}

/// Tells of all that was recorded on this core since the last time, and says when the core must be entered for what may come to be late.
#[cold]
#[inline(never)]
pub fn tell(state: &mut CoreState, watched: &Watched) {
    let mut reporting = core::mem::take(&mut state.reporting);
    let upto = state.ring.since(reporting.upto, |record| {
        watched.missed_before(Instant::from_nanos(record.time));
        watched.take(&mut reporting, record);
    });
    reporting.upto = upto;
    state.reporting = reporting;
    look_ahead(state, watched);
}

/// How many violations monitors have found.
pub fn violations() -> u64 {
    calls::observe(EXPIRIES, 0).map_or(0, |[_, violations]| violations)
}

/// Properties were violated for which jobs are released on this core: they arrive.
#[cold]
#[inline(never)]
pub fn take_violations(state: &mut CoreState) {
    let monitors = calls::violations().unwrap_or(0);
    let Some(watched) = &state.system.watched else { return };
    for (monitor, task) in &watched.handlers {
        if monitors.checked_shr(*monitor).is_some_and(|bits| bits & 1 != 0) {
            state.arrivals.push(*task, Instant::NEVER);
        }
    }
}

/// It is `now`: what was due before has been missed, and what was awaited is late.
#[cold]
#[inline(never)]
pub fn late(state: &mut CoreState, now: Instant) {
    let system = state.system;
    let Some(watched) = &system.watched else { return };
    watched.missed_before(now);
    state.look.now = state.look.now.max(now);
    look_ahead(state, watched);
}

/// A process of the task missed a deadline of its own. If a job is due then too, that is one miss.
#[cold]
pub fn missed(system: &System, task: TaskId, deadline: Instant) {
    let Some(watched) = &system.watched else { return };
    let same = |due: &AtomicU64| {
        let _ = due.compare_exchange(deadline.as_nanos(), 0, Relaxed, Relaxed);
    };
    watched.deadlines(task.index()).into_iter().flat_map(|it| &it.due).for_each(same);
    Watched::tell(watched.of(task.index(), kind::MISS), deadline);
}

fn look_ahead(state: &mut CoreState, watched: &Watched) {
    let [expiry, _] = calls::observe(EXPIRIES, state.look.now.as_nanos()).unwrap_or([u64::MAX, 0]);
    let expiry = if watched.clocked { Instant::from_nanos(expiry) } else { Instant::NEVER };
    let due = watched.first_due().map_or(Instant::NEVER, |(deadline, ..)| Instant::from_nanos(deadline));
    state.watch(expiry.min(due).saturating_add(Duration::from_nanos(1)));
}
