//! Processes: the tasks of the component, each with the state that the standard gives it.
//!
//! State, suspension and incarnation of a process are one word, so that a thread which restarts in the middle of a service leaves
//! nothing half done. A process that is started is another incarnation of it: whoever runs for an older one leaves.

use super::hypervisor::MOST_PROCESSES as MOST;
use super::pool::Name;
use super::thread::{self, Entry};
use super::{handler, mode};
use crate::cards;
use a653rs::bindings::{ApexSystemTime, ErrorReturnCode, ProcessId, ProcessState, INFINITE_TIME_VALUE};
use core::sync::atomic::{AtomicBool, AtomicI32, AtomicI64, AtomicU32, AtomicU64, Ordering};
use tactus_abi::port::ProcessCard;
pub(super) use tactus_abi::process::NEVER;

/// Whether a process is suspended.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Suspended {
    No,
    /// It ends its jobs until another one resumes it.
    ByOther,
    /// It waits to be resumed.
    ByItself,
}

/// What the one word says.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Condition {
    pub state: ProcessState,
    pub suspended: Suspended,
    pub incarnation: u32,
}

impl Condition {
    const fn of(word: u64) -> Condition {
        let state = match word & 0xff {
            1 => ProcessState::Ready,
            2 => ProcessState::Running,
            3 => ProcessState::Waiting,
            4 => ProcessState::Faulted,
            _ => ProcessState::Dormant,
        };
        let suspended = match word >> 8 & 0xff {
            1 => Suspended::ByOther,
            2 => Suspended::ByItself,
            _ => Suspended::No,
        };
        Condition { state, suspended, incarnation: (word >> 32) as u32 }
    }

    const fn word(self) -> u64 {
        self.state as u64 | (self.suspended as u64) << 8 | (self.incarnation as u64) << 32
    }

    /// The next incarnation, ready to begin.
    pub fn started(self) -> Condition {
        let incarnation = self.incarnation.wrapping_add(1);
        Condition { state: ProcessState::Ready, suspended: Suspended::No, incarnation }
    }

    /// The same in this state.
    pub fn with(self, state: ProcessState) -> Condition {
        Condition { state, ..self }
    }

    /// The same, suspended so.
    pub fn suspended(self, suspended: Suspended) -> Condition {
        Condition { suspended, ..self }
    }

    pub fn is_dormant(self) -> bool {
        self.state == ProcessState::Dormant
    }
}

/// What is known of a process.
pub(super) struct Process {
    /// In which life of the partition it was created.
    created: AtomicU32,
    condition: AtomicU64,
    pub name: Name,
    pub entry: Entry,
    pub period: AtomicI64,
    pub capacity: AtomicI64,
    pub stack: AtomicU32,
    pub base: AtomicI32,
    pub hard: AtomicBool,
    /// From when on (ns) it may begin; while the partition is initialised, how long after that.
    pub from: AtomicU64,
    /// When it was started (ns).
    pub since: AtomicU64,
    /// The release of a periodic process that its deadline belongs to (ns).
    pub release: AtomicU64,
    pub deadline: AtomicU64,
    /// The deadline of which the scheduler was told last.
    pub reported: AtomicU64,
    /// What it waits for: see [`awaited`].
    awaits: AtomicU32,
    /// Of its thread: the incarnation that runs,
    pub begun: AtomicU32,
    /// one more than the number of the job that is under way, 0 for none,
    pub job: AtomicU64,
    /// how many jobs are over,
    pub over: AtomicU64,
    /// and whether the process did something in the job.
    pub worked: AtomicBool,
}

static PROCESSES: [Process; MOST] = [const {
    Process {
        created: AtomicU32::new(0),
        condition: AtomicU64::new(0),
        name: Name::new(),
        entry: Entry::new(),
        period: AtomicI64::new(0),
        capacity: AtomicI64::new(0),
        stack: AtomicU32::new(0),
        base: AtomicI32::new(0),
        hard: AtomicBool::new(false),
        from: AtomicU64::new(0),
        since: AtomicU64::new(0),
        release: AtomicU64::new(0),
        deadline: AtomicU64::new(NEVER),
        reported: AtomicU64::new(NEVER),
        awaits: AtomicU32::new(0),
        begun: AtomicU32::new(0),
        job: AtomicU64::new(0),
        over: AtomicU64::new(0),
        worked: AtomicBool::new(false),
    }
}; MOST];

/// What a process waits for, as a number: nothing that has a name, or an object of a kind.
pub(super) mod awaited {
    pub const TIME: u32 = 0;
    const KIND: u32 = 1 << 16;
    pub const BUFFER: u32 = KIND;
    pub const BLACKBOARD: u32 = 2 * KIND;
    pub const SEMAPHORE: u32 = 3 * KIND;
    pub const EVENT: u32 = 4 * KIND;
    pub const PORT: u32 = 5 * KIND;

    /// The object of this kind with this number.
    pub fn object(kind: u32, number: i64) -> u32 {
        kind | (number as u32 % KIND)
    }
}

/// How many processes wait for the object.
pub(super) fn waiting(object: u32) -> i32 {
    let waits = |it: &&Process| {
        it.exists() && it.condition().state == ProcessState::Waiting && it.awaits.load(Ordering::Relaxed) == object
    };
    PROCESSES.iter().filter(waits).count() as i32
}

/// The place among the component's tasks of the one whose thread runs.
pub(super) fn place() -> Option<usize> {
    let task = thread::current_job().task();
    cards::processes().iter().position(|card| card.task == task).filter(|place| *place < MOST)
}

/// All processes that were created.
pub(super) fn all() -> impl Iterator<Item = Own> {
    PROCESSES.iter().enumerate().map(|(place, process)| Own { place, process }).filter(|it| it.exists())
}

/// A process by its number, counted from 1.
pub(super) fn get(process_id: ProcessId) -> Result<Own, ErrorReturnCode> {
    let place = usize::try_from(process_id).ok().and_then(|id| id.checked_sub(1));
    let found = place.and_then(|place| Some(Own { place, process: PROCESSES.get(place)? }));
    found.filter(|it| it.exists()).ok_or(ErrorReturnCode::InvalidParam)
}

/// The process at this place, which may not have been created.
pub(super) fn at(place: usize) -> Own {
    Own { place, process: &PROCESSES[place] }
}

/// A process and its place among the component's tasks.
#[derive(Clone, Copy)]
pub(super) struct Own {
    place: usize,
    process: &'static Process,
}

impl core::ops::Deref for Own {
    type Target = Process;
    fn deref(&self) -> &Process {
        self.process
    }
}

/// The process that calls; nothing while the partition is initialised.
pub(super) fn own() -> Option<Own> {
    let place = place().filter(|_| mode::is_normal())?;
    Some(at(place)).filter(|own| own.exists())
}

/// The process that calls, if it may wait: it is not the error handler.
pub(super) fn own_that_waits() -> Option<Own> {
    own().filter(|own| !own.is_error_handler())
}

/// No process has a deadline any more.
pub(super) fn forget_deadlines() {
    PROCESSES.iter().for_each(|it| {
        it.deadline.store(NEVER, Ordering::Relaxed);
        it.reported.store(NEVER, Ordering::Relaxed);
    });
}

impl Process {
    pub fn exists(&self) -> bool {
        self.created.load(Ordering::Acquire) == mode::life()
    }

    pub fn condition(&self) -> Condition {
        Condition::of(self.condition.load(Ordering::Acquire))
    }

    /// Changes what is known at once, if this gives something; what was before.
    pub fn change(&self, mut to: impl FnMut(Condition) -> Option<Condition>) -> Option<Condition> {
        let next = |word| to(Condition::of(word)).map(Condition::word);
        self.condition.fetch_update(Ordering::AcqRel, Ordering::Acquire, next).ok().map(Condition::of)
    }

    /// It is created, dormant.
    pub fn create(&self) {
        self.change(|it| Some(it.with(ProcessState::Dormant).suspended(Suspended::No)));
        self.deadline.store(NEVER, Ordering::Relaxed);
        self.created.store(mode::life(), Ordering::Release);
    }

    pub fn is_periodic(&self) -> bool {
        self.period.load(Ordering::Relaxed) != INFINITE_TIME_VALUE
    }

    /// The deadline of a release at this instant. A process that was started in a job which was released before has its time from then on.
    pub fn due(&self, release: u64) -> u64 {
        let (capacity, from) = (self.capacity.load(Ordering::Relaxed), release.max(self.since.load(Ordering::Relaxed)));
        u64::try_from(capacity).map_or(NEVER, |capacity| from.saturating_add(capacity))
    }

    pub fn deadline_time(&self) -> ApexSystemTime {
        match self.deadline.load(Ordering::Relaxed) {
            _ if self.condition().is_dormant() => INFINITE_TIME_VALUE,
            NEVER => INFINITE_TIME_VALUE,
            at => at as ApexSystemTime,
        }
    }
}

impl Own {
    pub fn place(self) -> usize {
        self.place
    }

    pub fn id(self) -> ProcessId {
        self.place as ProcessId + 1
    }

    pub fn card(self) -> &'static ProcessCard {
        &cards::processes()[self.place]
    }

    pub fn is_error_handler(self) -> bool {
        handler::place() == Some(self.place)
    }

    /// Whether it is the one that calls.
    pub fn is_current(self) -> bool {
        place() == Some(self.place)
    }

    /// Its state as others see it: one that could run, and does not since the caller has its core, is ready.
    pub fn state_seen(self) -> ProcessState {
        let state = self.condition().state;
        let beside = !self.is_current() && place().is_some_and(|place| at(place).card().core == self.card().core);
        if state == ProcessState::Running && beside {
            ProcessState::Ready
        } else {
            state
        }
    }

    /// Whether the thread that calls still runs for it: it was neither stopped nor started anew, nor is the partition another one.
    pub fn goes_on(self) -> bool {
        let now = self.condition();
        self.exists() && mode::is_normal() && !now.is_dormant() && now.incarnation == self.begun.load(Ordering::Relaxed)
    }

    /// It waits from now on.
    pub fn waits_for(self, object: u32) {
        self.awaits.store(object, Ordering::Relaxed);
        self.turn(ProcessState::Running, ProcessState::Waiting);
    }

    /// It waits no more.
    pub fn runs(self) {
        self.turn(ProcessState::Waiting, ProcessState::Running);
        self.awaits.store(awaited::TIME, Ordering::Relaxed);
        self.worked.store(true, Ordering::Relaxed);
    }

    /// Changes the state of the incarnation that runs, if it is the first one: others may have stopped it, or started another.
    /// Whether it was.
    pub fn turn(self, from: ProcessState, to: ProcessState) -> bool {
        let begun = self.begun.load(Ordering::Relaxed);
        self.change(|it| (it.state == from && it.incarnation == begun).then(|| it.with(to))).is_some()
    }

    /// Its thread is in its code from now on, for this incarnation.
    pub fn begins(self, incarnation: u32) {
        self.begun.store(incarnation, Ordering::Relaxed);
        self.worked.store(true, Ordering::Relaxed);
    }

    /// Its thread has done something in the job that is none of the process's: it initialises the partition.
    pub fn works(self) {
        self.worked.store(true, Ordering::Relaxed);
    }

    /// The incarnation that its thread runs for was begun and is neither over nor stopped.
    pub fn is_under_way(self) -> bool {
        let now = self.condition();
        let begun = now.incarnation == self.begun.load(Ordering::Relaxed);
        self.exists() && begun && matches!(now.state, ProcessState::Running | ProcessState::Waiting)
    }
}
