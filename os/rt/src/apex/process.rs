//! Processes: the tasks of the component, each with the state that the standard gives it.

use super::hypervisor::{Apex, MOST_PROCESSES as MOST};
use super::pool::Name;
use super::thread::{self, Entry};
use super::{error, mode, partition, time};
use crate::cards;
use a653rs::bindings::{
    ApexProcessAttribute, ApexProcessP1, ApexProcessP4, ApexProcessStatus, ApexSystemTime, ApexUnsigned, Deadline,
    ErrorReturnCode, LockLevel, Priority, ProcessId, ProcessIndex, ProcessName, ProcessState, ProcessorCoreId,
    INFINITE_TIME_VALUE, MAX_PRIORITY_VALUE, MIN_PRIORITY_VALUE,
};
use core::sync::atomic::{AtomicBool, AtomicI32, AtomicI64, AtomicU32, AtomicU64, Ordering};
use tactus_abi::port::ProcessCard;

/// The most stack of a process (bytes): what the image builder gives each thread in a component of the user's.
const STACK: ApexUnsigned = 16 << 10;
/// Stands for "never" among instants (ns).
const NEVER: u64 = u64::MAX;

/// What is known of a process.
pub(super) struct Process {
    /// In which life of the partition it was created.
    created: AtomicU32,
    /// In which one its thread has begun it.
    begun: AtomicU32,
    name: Name,
    entry: Entry,
    period: AtomicI64,
    capacity: AtomicI64,
    stack: AtomicU32,
    base: AtomicI32,
    current: AtomicI32,
    hard: AtomicBool,
    state: AtomicU32,
    /// From when on (ns) it runs: a start that was delayed.
    from: AtomicU64,
    deadline: AtomicU64,
    /// It is to leave everything and become dormant, as soon as it asks for a service or begins a job.
    stopped: AtomicBool,
    /// [`AWAKE`], [`BY_OTHER`] or [`BY_ITSELF`].
    suspended: AtomicU32,
}

/// [`Process::suspended`]: not at all.
const AWAKE: u32 = 0;
/// [`Process::suspended`]: it ends its jobs until another one resumes it.
const BY_OTHER: u32 = 1;
/// [`Process::suspended`]: it waits to be resumed.
const BY_ITSELF: u32 = 2;

static PROCESSES: [Process; MOST] = [const {
    Process {
        created: AtomicU32::new(0),
        begun: AtomicU32::new(0),
        name: Name::new(),
        entry: Entry::new(),
        period: AtomicI64::new(0),
        capacity: AtomicI64::new(0),
        stack: AtomicU32::new(0),
        base: AtomicI32::new(0),
        current: AtomicI32::new(0),
        hard: AtomicBool::new(false),
        state: AtomicU32::new(0),
        from: AtomicU64::new(0),
        deadline: AtomicU64::new(NEVER),
        stopped: AtomicBool::new(false),
        suspended: AtomicU32::new(AWAKE),
    }
}; MOST];

/// The place among the component's tasks of the one whose thread runs.
fn place() -> Option<usize> {
    let task = thread::current_job().task();
    cards::processes().iter().position(|card| card.task == task).filter(|place| *place < MOST)
}

/// A process by its number, counted from 1.
fn get(process_id: ProcessId) -> Result<(usize, &'static Process), ErrorReturnCode> {
    let place = usize::try_from(process_id).ok().and_then(|id| id.checked_sub(1));
    let found = place.and_then(|place| Some((place, PROCESSES.get(place)?)));
    found.filter(|(_, it)| it.exists()).ok_or(ErrorReturnCode::InvalidParam)
}

/// A process and what the image says of it.
#[derive(Clone, Copy)]
pub(super) struct Own {
    place: usize,
    process: &'static Process,
}

/// The process that calls; nothing while the partition is initialised.
pub(super) fn own() -> Option<Own> {
    let place = place().filter(|_| mode::is_normal())?;
    Some(Own { place, process: &PROCESSES[place] }).filter(|own| own.process.exists())
}

impl Own {
    pub fn id(self) -> ProcessId {
        self.place as ProcessId + 1
    }

    pub fn card(self) -> &'static ProcessCard {
        &cards::processes()[self.place]
    }

    pub fn is_periodic(self) -> bool {
        self.process.period.load(Ordering::Relaxed) != INFINITE_TIME_VALUE
    }

    pub fn is_error_handler(self) -> bool {
        error::handler() == Some(self.place)
    }

    /// It waits from now on, unless it was stopped.
    pub fn waits(self) {
        self.process.change(ProcessState::Running, ProcessState::Waiting);
    }

    /// It waits no more.
    pub fn runs(self) {
        self.process.change(ProcessState::Waiting, ProcessState::Running);
    }

    pub fn set_deadline(self, at: Option<u64>) {
        self.process.deadline.store(at.unwrap_or(NEVER), Ordering::Relaxed);
    }
}

impl Process {
    fn exists(&self) -> bool {
        self.created.load(Ordering::Acquire) == mode::life()
    }

    fn state(&self) -> ProcessState {
        match self.state.load(Ordering::Acquire) {
            1 => ProcessState::Ready,
            2 => ProcessState::Running,
            3 => ProcessState::Waiting,
            4 => ProcessState::Faulted,
            _ => ProcessState::Dormant,
        }
    }

    /// Changes the state if it is the first one: others may have stopped the process, or started it again.
    fn change(&self, from: ProcessState, to: ProcessState) {
        let _ = self.state.compare_exchange(from as u32, to as u32, Ordering::AcqRel, Ordering::Relaxed);
    }

    fn start(&self, from: u64) {
        let capacity = self.capacity.load(Ordering::Relaxed);
        let deadline = u64::try_from(capacity).map_or(NEVER, |capacity| from.saturating_add(capacity));
        self.from.store(from, Ordering::Relaxed);
        self.deadline.store(deadline, Ordering::Relaxed);
        self.current.store(self.base.load(Ordering::Relaxed), Ordering::Relaxed);
        self.suspended.store(AWAKE, Ordering::Relaxed);
        self.state.store(ProcessState::Ready as u32, Ordering::Release);
    }

    fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
        self.state.store(ProcessState::Dormant as u32, Ordering::Release);
    }
}

/// The process at this place is created, and begins here; for the error handler.
pub(super) fn create_handler(place: usize, entry: extern "C" fn()) {
    let (process, card) = (&PROCESSES[place], &cards::processes()[place]);
    process.entry.set(entry);
    process.period.store(INFINITE_TIME_VALUE, Ordering::Relaxed);
    process.capacity.store(INFINITE_TIME_VALUE, Ordering::Relaxed);
    process.base.store(MAX_PRIORITY_VALUE, Ordering::Relaxed);
    let mut name = [0; 32];
    name[..card.name.len()].copy_from_slice(&card.name);
    process.name.set(&name);
    process.state.store(ProcessState::Dormant as u32, Ordering::Relaxed);
    process.created.store(mode::life(), Ordering::Release);
}

/// Starts the process at this place unless it runs already.
pub(super) fn start_handler(place: usize) {
    let process = &PROCESSES[place];
    if process.state() == ProcessState::Dormant {
        process.start(0);
    }
}

/// What a job of the component's runs once the partition is: its process, if that is to run; else it ends.
pub(super) extern "C" fn jobs() -> ! {
    loop {
        if !mode::is_normal() {
            partition::initialise();
        }
        if let Some(place) = place() {
            PROCESSES[place].stopped.store(false, Ordering::Relaxed);
        }
        if let Some(own) = own() {
            let ready = own.process.state() == ProcessState::Ready;
            let due = time::now() >= own.process.from.load(Ordering::Relaxed);
            if let Some(entry) = own.process.entry.get().filter(|_| ready && due) {
                own.process.begun.store(mode::life(), Ordering::Relaxed);
                own.process.change(ProcessState::Ready, ProcessState::Running);
                entry();
                own.process.change(ProcessState::Running, ProcessState::Dormant);
                error::end_of_job(&thread::current_job());
            }
        }
        thread::current_job().end();
    }
}

/// Called by a process that goes on with a job: it does not if it was stopped, or if the partition begins anew; and not before it is
/// resumed.
pub(super) fn go_on() {
    let Some(process) = place().map(|place| &PROCESSES[place]) else { return };
    loop {
        let old = process.begun.load(Ordering::Relaxed) != mode::life();
        if old || process.stopped.load(Ordering::Relaxed) || !mode::is_normal() {
            thread::abandon(jobs);
        }
        if process.suspended.load(Ordering::Relaxed) != BY_OTHER {
            return;
        }
        thread::current_job().end();
    }
}

fn create(attributes: &ApexProcessAttribute) -> Result<ProcessId, ErrorReturnCode> {
    let invalid = Err(ErrorReturnCode::InvalidParam);
    if mode::is_normal() {
        return Err(ErrorReturnCode::InvalidMode);
    }
    if PROCESSES.iter().any(|it| it.exists() && it.name.is(&attributes.name)) {
        return Err(ErrorReturnCode::NoAction);
    }
    // The card's name may be shorter than the process's.
    let is = |card: &ProcessCard| {
        let length = card.name.iter().position(|byte| *byte == 0).unwrap_or(card.name.len());
        let rest = attributes.name.get(length).copied().unwrap_or(0);
        attributes.name[..length] == card.name[..length] && (rest == 0 || length == card.name.len())
    };
    let place = cards::processes().iter().take(MOST).position(is).ok_or(ErrorReturnCode::InvalidConfig)?;
    let card = &cards::processes()[place];
    let (period, capacity) = (attributes.period, attributes.time_capacity);
    if !(MIN_PRIORITY_VALUE..=MAX_PRIORITY_VALUE).contains(&attributes.base_priority) || attributes.stack_size == 0 {
        return invalid;
    }
    if attributes.stack_size > STACK {
        return Err(ErrorReturnCode::InvalidConfig);
    }
    if (period <= 0 && period != INFINITE_TIME_VALUE) || (capacity <= 0 && capacity != INFINITE_TIME_VALUE) {
        return invalid;
    }
    if period > 0 && capacity > period {
        return invalid;
    }
    if period > 0 && period.unsigned_abs() != card.period {
        return Err(ErrorReturnCode::InvalidConfig);
    }
    let process = &PROCESSES[place];
    process.name.set(&attributes.name);
    process.entry.set(attributes.entry_point);
    process.period.store(period, Ordering::Relaxed);
    process.capacity.store(capacity, Ordering::Relaxed);
    process.stack.store(attributes.stack_size, Ordering::Relaxed);
    process.base.store(attributes.base_priority, Ordering::Relaxed);
    process.current.store(attributes.base_priority, Ordering::Relaxed);
    process.hard.store(attributes.deadline == Deadline::Hard, Ordering::Relaxed);
    process.state.store(ProcessState::Dormant as u32, Ordering::Relaxed);
    process.suspended.store(AWAKE, Ordering::Relaxed);
    process.created.store(mode::life(), Ordering::Release);
    Ok(place as ProcessId + 1)
}

impl ApexProcessP4 for Apex {
    fn create_process(attributes: &ApexProcessAttribute) -> Result<ProcessId, ErrorReturnCode> {
        create(attributes)
    }

    fn start(process_id: ProcessId) -> Result<(), ErrorReturnCode> {
        Apex::delayed_start(process_id, 0)
    }
}

impl ApexProcessP1 for Apex {
    fn set_priority(process_id: ProcessId, priority: Priority) -> Result<(), ErrorReturnCode> {
        let (_, process) = get(process_id)?;
        if !(MIN_PRIORITY_VALUE..=MAX_PRIORITY_VALUE).contains(&priority) {
            return Err(ErrorReturnCode::InvalidParam);
        }
        if process.state() == ProcessState::Dormant {
            return Err(ErrorReturnCode::InvalidMode);
        }
        // The order of processes is that of the system file, which was checked.
        if priority != process.base.load(Ordering::Relaxed) {
            return Err(ErrorReturnCode::InvalidConfig);
        }
        Ok(())
    }

    fn suspend_self(time_out: ApexSystemTime) -> Result<(), ErrorReturnCode> {
        let own = own().filter(|own| !own.is_periodic() && !own.is_error_handler());
        let own = own.ok_or(ErrorReturnCode::InvalidMode)?;
        time::limit(time_out)?;
        if time_out == 0 {
            return Ok(());
        }
        own.process.suspended.store(BY_ITSELF, Ordering::Relaxed);
        let resumed = || (own.process.suspended.load(Ordering::Relaxed) == AWAKE).then_some(());
        let resumed = time::wait_for(time_out, resumed);
        own.process.suspended.store(AWAKE, Ordering::Relaxed);
        resumed
    }

    fn suspend(process_id: ProcessId) -> Result<(), ErrorReturnCode> {
        let (place, process) = get(process_id)?;
        if own().is_some_and(|own| own.place == place) {
            return Err(ErrorReturnCode::InvalidParam);
        }
        let periodic = process.period.load(Ordering::Relaxed) != INFINITE_TIME_VALUE;
        if periodic || process.state() == ProcessState::Dormant {
            return Err(ErrorReturnCode::InvalidMode);
        }
        let free = process.suspended.compare_exchange(AWAKE, BY_OTHER, Ordering::Relaxed, Ordering::Relaxed);
        free.map(|_| ()).map_err(|_| ErrorReturnCode::NoAction)
    }

    fn resume(process_id: ProcessId) -> Result<(), ErrorReturnCode> {
        let (place, process) = get(process_id)?;
        if own().is_some_and(|own| own.place == place) {
            return Err(ErrorReturnCode::InvalidParam);
        }
        if process.state() == ProcessState::Dormant || process.period.load(Ordering::Relaxed) != INFINITE_TIME_VALUE {
            return Err(ErrorReturnCode::InvalidMode);
        }
        match process.suspended.swap(AWAKE, Ordering::Relaxed) {
            AWAKE => Err(ErrorReturnCode::NoAction),
            _ => Ok(()),
        }
    }

    fn stop_self() {
        if let Some(own) = own() {
            own.process.change(ProcessState::Running, ProcessState::Dormant);
            thread::abandon(end);
        }
    }

    fn stop(process_id: ProcessId) -> Result<(), ErrorReturnCode> {
        let (place, process) = get(process_id)?;
        if own().is_some_and(|own| own.place == place) {
            return Err(ErrorReturnCode::InvalidParam);
        }
        if process.state() == ProcessState::Dormant {
            return Err(ErrorReturnCode::NoAction);
        }
        process.stop();
        Ok(())
    }

    fn delayed_start(process_id: ProcessId, delay_time: ApexSystemTime) -> Result<(), ErrorReturnCode> {
        let (_, process) = get(process_id)?;
        if process.state() != ProcessState::Dormant {
            return Err(ErrorReturnCode::NoAction);
        }
        let delay = u64::try_from(delay_time).map_err(|_| ErrorReturnCode::InvalidParam)?;
        let period = process.period.load(Ordering::Relaxed);
        if period != INFINITE_TIME_VALUE && delay_time >= period {
            return Err(ErrorReturnCode::InvalidParam);
        }
        process.start(time::now().saturating_add(delay));
        Ok(())
    }

    fn lock_preemption() -> Result<LockLevel, ErrorReturnCode> {
        // The largest lock level is 0 here: no process may keep one off that was checked without that.
        match own() {
            Some(own) if !own.is_error_handler() => Err(ErrorReturnCode::InvalidConfig),
            _ => Err(ErrorReturnCode::NoAction),
        }
    }

    fn unlock_preemption() -> Result<LockLevel, ErrorReturnCode> {
        Err(ErrorReturnCode::NoAction)
    }

    fn get_my_id() -> Result<ProcessId, ErrorReturnCode> {
        own().filter(|own| !own.is_error_handler()).map(Own::id).ok_or(ErrorReturnCode::InvalidMode)
    }

    fn get_process_id(process_name: ProcessName) -> Result<ProcessId, ErrorReturnCode> {
        let is = |it: &Process| it.exists() && it.name.is(&process_name);
        let place = PROCESSES.iter().position(is).ok_or(ErrorReturnCode::InvalidConfig)?;
        Ok(place as ProcessId + 1)
    }

    fn get_process_status(process_id: ProcessId) -> Result<ApexProcessStatus, ErrorReturnCode> {
        let (_, process) = get(process_id)?;
        let entry_point = process.entry.get().ok_or(ErrorReturnCode::InvalidParam)?;
        let deadline = process.deadline.load(Ordering::Relaxed);
        let running = process.state() != ProcessState::Dormant;
        Ok(ApexProcessStatus {
            deadline_time: if running && deadline != NEVER { deadline as ApexSystemTime } else { INFINITE_TIME_VALUE },
            current_priority: process.current.load(Ordering::Relaxed),
            process_state: process.state(),
            attributes: ApexProcessAttribute {
                period: process.period.load(Ordering::Relaxed),
                time_capacity: process.capacity.load(Ordering::Relaxed),
                entry_point,
                stack_size: process.stack.load(Ordering::Relaxed),
                base_priority: process.base.load(Ordering::Relaxed),
                deadline: if process.hard.load(Ordering::Relaxed) { Deadline::Hard } else { Deadline::Soft },
                name: process.name.get(),
            },
        })
    }

    fn initialize_process_core_affinity(
        process_id: ProcessId,
        processor_core_id: ProcessorCoreId,
    ) -> Result<(), ErrorReturnCode> {
        let (place, _) = get(process_id)?;
        if mode::is_normal() {
            return Err(ErrorReturnCode::InvalidMode);
        }
        let core = i64::from(cards::processes()[place].core);
        match i64::from(processor_core_id) {
            -1 => Ok(()),
            other if other == core => Ok(()),
            _ => Err(ErrorReturnCode::InvalidConfig),
        }
    }

    fn get_my_processor_core_id() -> ProcessorCoreId {
        place().map_or(0, |place| cards::processes()[place].core as ProcessorCoreId)
    }

    fn get_my_index() -> Result<ProcessIndex, ErrorReturnCode> {
        let own = own().filter(|own| !own.is_error_handler()).ok_or(ErrorReturnCode::InvalidMode)?;
        Ok(own.place as ProcessIndex)
    }
}

/// The job of a process that has stopped itself ends.
extern "C" fn end() -> ! {
    let job = thread::current_job();
    error::end_of_job(&job);
    job.end();
    jobs()
}
