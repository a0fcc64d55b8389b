//! The trace record: one fixed-size binary form that kernel, scheduler and simulator write.
//!
//! A record is 32 bytes, little-endian, and means the same wherever it was written. Each core writes its own
//! ring (see [`RingHeader`]); the records of one ring are in the order in which they happened on that core.
#![no_std]
#![forbid(unsafe_code)]

mod request;
mod slot;

pub use request::{RequestChoice, RequestEvent, RequestOrder, RequestRules, MAX_CLIENTS};
pub use slot::{slot_loaded_from, slot_loaded_level, SlotRefusal, SlotSwitch, SlotUpdate, SlotValue};

use tactus_time::{CoreId, Instant, Level, TaskId};

/// The length of one record in bytes.
pub const RECORD_BYTES: usize = 32;

/// What happened. `task`, `job`, `level` and `arg` of the record are to be read as told here.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum EventKind {
    /// A job was released. `arg`: its nominal release time (ns); the record's time is when that was noticed.
    Release = 1,
    /// The core begins or goes on to run the job.
    Dispatch = 2,
    /// The core stops running the job, which is not finished.
    Preempt = 3,
    /// The job is finished. `arg`: the time it was charged in all (ns).
    Complete = 4,
    /// The job used up its budget and waits for the next one. `arg`: when that comes (ns).
    Exhausted = 5,
    /// The task received a budget. `arg`: its length (ns).
    Replenish = 6,
    /// A finished job begins to use up its left-over budget as a ghost on this core. `arg`: what is left (ns).
    GhostBegin = 7,
    /// The ghost is no longer selected on this core. `arg`: what is left (ns).
    GhostEnd = 8,
    /// The core has nothing to run. No task.
    Idle = 9,
    /// An inter-core event was sent. `arg`: the receiving core. No task.
    Notify = 10,
    /// The task was taken out of the system after its component was stopped. `arg`: unused.
    Removed = 11,
    /// The job ended without being finished. `arg`: 0 it was left out at its release since the one before it was still
    /// unfinished, 1 it was not finished at its deadline, 2 the core gave up its level
    /// ([`EventKind::Mode`]), 3 it used up its budget, 4 its program was unloaded, and with it go all later jobs of the task that were
    /// released.
    Dropped = 12,
    /// A server has used up its budget on this core. `job`: its place in the tree. `arg`: when more comes (ns),
    /// `u64::MAX` if that is not known yet. No task.
    ServerExhausted = 13,
    /// Budget came to a server on this core. `job`: its place in the tree. `arg`: how much (ns). No task.
    ServerReplenish = 14,
    /// The core changed its mode of criticality. `level` byte: the least critical [`Level`] that it serves from now on.
    /// `task`, `job`: the job that took longer than it should, where that was the cause; none where the core went back.
    Mode = 15,
    /// A change of the running system was applied. `job`: its number, in the order in which changes are requested. No task.
    ChangeApplied = 16,
    /// A change was requested. `job`: its number. `arg`: the time at which it was to be (ns). No task.
    ChangeRequested = 17,
    /// A change was refused, and nothing else was done. `job`: its number. `arg`: why: [`CHANGE_NOT_ADMITTED`],
    /// [`CHANGE_OVERLOADS`], [`CHANGE_DEPENDS`]. No task.
    ChangeRefused = 18,
    /// Something arrived for the task and has no job. `job`: the number that its job would have had. `arg`: why: 0 it came less than
    /// a period after the release before it and is to be dropped then, 1 too many jobs wait already.
    ArrivalLost = 19,
    /// Something arrived for the task earlier than it declares, which is a fault there; its job waits. `job`: its number. `arg`: when it
    /// is to be released (ns).
    ArrivalEarly = 30,
    /// The job begins to wait: it has no use for a core until then. `arg`: until when (ns), `u64::MAX` if for an event.
    Wait = 20,
    /// The job has waited, and could run again. `arg`: until when it was to wait (ns); the record's time is when that was noticed.
    Wake = 21,
    /// The job asked for a longer wait than its task declares, or for one more, and got what is declared. `arg`: until when it asked
    /// for (ns).
    WaitLimited = 22,
    /// The job holds a resource for longer than its task declares. `arg`: the resource's number.
    SectionExceeded = 24,
    /// The job wants a resource that its task does not declare, or in another order than is declared, and does not get it. `arg`: the
    /// resource's number, and how many it holds times 256.
    SectionRefused = 25,
    /// Another schedule of windows holds on this core. `job`: its number. `arg`: since when (ns), the start of a major frame; the record's
    /// time is when that was noticed. No task.
    Schedule = 26,
    /// An update of a slot goes on. `level` byte: [`SlotSwitch`]. `job`: the number of the slot whose tasks release jobs from now on. `arg`: when
    /// the next one is released (ns).
    SlotSwitched = 27,

    /// The scheduler was entered on this core. `level` byte: [`EntryReason`]. `task`: the running task, or none.
    /// `arg`: for `Timer`, the programmed expiry (ns); for `Complete`, 1 if the job found nothing to do; else 0. Each pair of `Enter` and `Leave` is one call of the
    /// policy; the time of `Enter` is the time that the policy was given, and so is that of all policy records up
    /// to `Leave`.
    Enter = 32,
    /// The scheduler has decided. `task`, `job`: what the core is to run, or none. `arg`: the time-out wanted (ns),
    /// `u64::MAX` if none. `ticket`: the decision's place among all that touched shared policy state, from 1; 0 if
    /// this one did not. The record's time is a look at the clock after the decision.
    Leave = 33,
    /// A component faulted and was stopped. `task`: the task whose thread faulted. `level` byte: [`FaultKind`].
    /// `arg`: the address concerned. `job`: the component's number.
    Fault = 34,
    /// The job ended without being finished, since its component was stopped and may be restarted. A `Complete` of the
    /// same job follows.
    Aborted = 36,
    /// A component that was stopped runs again, from its beginning; or, if the `level` byte is 1, stays stopped since it has
    /// been restarted as often as it may, or, if it is 2, has been loaded late. `job`: the component's number. `arg`: how often it was restarted until now.
    /// `ticket`: the number of the component that restarted it; 0 the root scheduler itself.
    Restarted = 38,
    /// The policy has done a part of its work, such as the releases of one level, and goes on with the next; the record's time
    /// is a look at the clock then. Not every policy tells.
    Stage = 39,
    /// The policy was told a fact before the event of the call that the last [`EventKind::Enter`] opened. `level` byte: [`InputKind`].
    /// `task`: the task that something arrived for or that holds resources, the proxy of the child scheduler concerned, or none.
    /// `arg`: an instant (ns).
    Input = 40,
    /// An event that monitors watch has happened, and they have taken it. `job`: its number among those of the system. `level` byte: the
    /// group of monitors that agree on one order. `ticket`: its place in that order, from 1. Written by the kernel. With `u32::MAX` for the
    /// number: there was no room for `arg` of the event `ticket`, or of any if that is no event either, the first at this time.
    Observed = 41,
    /// A monitor has come to a verdict. `job`: its number in the system file. `level` byte: 1 true, 0 false, 2 further verdicts of it did
    /// not fit. `ticket`: the place of the event in its group's order at which it was found. `arg`: 1 if that event brought it, 0 if what it
    /// awaited did not come in time; the record's time is then the last at which that was in time. Written by the kernel.
    Concluded = 42,
    /// The scheduler refused a call of the job, and did nothing else: the first of its task on this core. `arg`: [`CallRefusal`].
    CallRefused = 43,
    /// The job has ended, and when, whoever recorded the run could not see. `arg`: [`Untold`].
    Untold = 44,
    /// A process missed its deadline, which is not that of its task's jobs (ARINC 653). `job`: the newest of the task's. `arg`: the deadline
    /// (ns); the record's time is when that was noticed, in a window of its partition. `level` byte: 0 it is noted, or what monitors do
    /// about it follows, 1 the partition's error handler is told, 2 the process restarts.
    DeadlineMissed = 45,
    /// A task of a slot is to have this value when the program comes that is loaded. `level` byte: which value: [`SlotValue`]. `arg`: the
    /// value (ns, or a priority of which the larger is more urgent). Before [`EventKind::SlotLoaded`], in the same entry.
    SlotTask = 46,
    /// A program was loaded into a slot: its tasks begin with the values that were told before. `job`: the slot's number. `arg`: the number of
    /// the load, in the order of the system file. `level` byte: 0, or what it goes on from that was saved: [`slot_loaded_from`].
    SlotLoaded = 47,
    /// The program of a slot was unloaded, and its jobs are dropped. `job`: the slot's number. `arg`: the number of the load.
    /// `level` byte: 1 if what it was is saved, else 0.
    SlotUnloaded = 48,
    /// A load or unload was refused and changed nothing. `job`: the slot's number. `arg`: the number of the load. `level` byte: why:
    /// [`SlotRefusal`].
    SlotRefused = 49,
    /// A new version lies in a slot, its tasks' values were told, and it may take over from the program of another slot between two
    /// jobs; or, if the `level` byte is 1, its trial is over. `job`: its slot's number. `arg`: [`SlotUpdate`].
    SlotUpdate = 50,
    /// What the task has sent into a mailbox to another sandbox, or taken from one, by its own count, when the scheduler looked after a decision.
    /// `level` byte: the mailbox's number, and 128 more if the task takes. `job`: how many messages, modulo 2^32. `ticket`: how many found no
    /// room, or how often one was not whole or gone when it was to be taken. `arg`: the time that the decision was given (ns), by which it was so.
    Mailed = 51,
    /// How many calls were refused on this core in the whole run: `arg`; by the scheduler to the jobs of the task, or by the kernel where
    /// there is none. Written once, before `End`.
    Refused = 35,
    /// The run ended on this core.
    End = 37,
}

impl EventKind {
    /// The kind with this number, if there is one.
    pub const fn from_u8(n: u8) -> Option<EventKind> {
        Some(match n {
            1 => EventKind::Release,
            2 => EventKind::Dispatch,
            3 => EventKind::Preempt,
            4 => EventKind::Complete,
            5 => EventKind::Exhausted,
            6 => EventKind::Replenish,
            7 => EventKind::GhostBegin,
            8 => EventKind::GhostEnd,
            9 => EventKind::Idle,
            10 => EventKind::Notify,
            11 => EventKind::Removed,
            12 => EventKind::Dropped,
            13 => EventKind::ServerExhausted,
            14 => EventKind::ServerReplenish,
            15 => EventKind::Mode,
            16 => EventKind::ChangeApplied,
            17 => EventKind::ChangeRequested,
            18 => EventKind::ChangeRefused,
            19 => EventKind::ArrivalLost,
            20 => EventKind::Wait,
            30 => EventKind::ArrivalEarly,
            21 => EventKind::Wake,
            22 => EventKind::WaitLimited,
            24 => EventKind::SectionExceeded,
            25 => EventKind::SectionRefused,
            26 => EventKind::Schedule,
            27 => EventKind::SlotSwitched,
            32 => EventKind::Enter,
            33 => EventKind::Leave,
            34 => EventKind::Fault,
            35 => EventKind::Refused,
            36 => EventKind::Aborted,
            38 => EventKind::Restarted,
            37 => EventKind::End,
            39 => EventKind::Stage,
            40 => EventKind::Input,
            41 => EventKind::Observed,
            42 => EventKind::Concluded,
            43 => EventKind::CallRefused,
            44 => EventKind::Untold,
            45 => EventKind::DeadlineMissed,
            46 => EventKind::SlotTask,
            47 => EventKind::SlotLoaded,
            48 => EventKind::SlotUnloaded,
            49 => EventKind::SlotRefused,
            50 => EventKind::SlotUpdate,
            51 => EventKind::Mailed,
            _ => return None,
        })
    }
    /// Whether policies write this kind, as opposed to the machine around them.
    pub const fn is_policy(self) -> bool {
        (self as u8) < 32
    }
    /// Whether the kernel writes this kind, for monitors, into rings of its own.
    pub const fn is_of_monitors(self) -> bool {
        matches!(self, EventKind::Observed | EventKind::Concluded)
    }
}

/// Why the scheduler was entered.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum EntryReason {
    /// The core starts.
    Start = 0,
    /// A time-out expired.
    Timer = 1,
    /// The running job finished.
    Complete = 2,
    /// Another core sent an event.
    Notify = 3,
    /// The component of the running task was stopped.
    Fault = 4,
    /// Something arrived that releases a job.
    Arrival = 5,
    /// The running job left a critical section that kept another one from the core.
    Unlock = 8,
    /// The running job asks to wait.
    Wait = 9,
    /// The running job wants a resource that another one may hold.
    Lock = 10,
    /// The running job signals or awaits events.
    Signal = 11,
    /// The running job, the loader's, has loaded a slot, unloaded it or refused to.
    Slot = 12,
}

impl EntryReason {
    /// One more than the largest number of a reason.
    pub const NUMBERS: usize = EntryReason::Slot as usize + 1;

    /// The reason with this number, if there is one.
    pub const fn from_u8(n: u8) -> Option<EntryReason> {
        Some(match n {
            0 => EntryReason::Start,
            1 => EntryReason::Timer,
            2 => EntryReason::Complete,
            3 => EntryReason::Notify,
            4 => EntryReason::Fault,
            5 => EntryReason::Arrival,
            8 => EntryReason::Unlock,
            9 => EntryReason::Wait,
            10 => EntryReason::Lock,
            11 => EntryReason::Signal,
            12 => EntryReason::Slot,
            _ => return None,
        })
    }
}

/// Why a scheduler refused a job's call.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum CallRefusal {
    /// The task's file does not say that its jobs do this.
    NotDeclared = 0,
    /// Its jobs have called more often than they declare, and a few times more.
    TooOften = 1,
    /// It signals a request or an answer that it has not sent.
    NotSent = 2,
    /// Its jobs have written less often than they ended to a sampling channel that they are to write; told at the end of the run. The
    /// record's `job`: how often; its `level`: the channel's number.
    NotWritten = 3,
}

impl CallRefusal {
    /// The cause with this number, if there is one.
    pub const fn from_u64(n: u64) -> Option<CallRefusal> {
        Some(match n {
            0 => CallRefusal::NotDeclared,
            1 => CallRefusal::TooOften,
            2 => CallRefusal::NotSent,
            3 => CallRefusal::NotWritten,
            _ => return None,
        })
    }
}

/// Why a record cannot tell when a job ended.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum Untold {
    /// Its thread did not sleep before its next period began, so that nobody can tell it from the next job.
    NoSleep = 0,
    /// Events are missing.
    Lost = 1,
    /// Its thread was not woken in its period.
    NotWoken = 2,
    /// Its thread left its periods: it was woken, and began another job, elsewhere.
    Shifted = 3,
    /// A core on which it may have run was not recorded.
    NotRecorded = 4,
}

impl Untold {
    /// The cause with this number, if there is one.
    pub const fn from_u64(n: u64) -> Option<Untold> {
        Some(match n {
            0 => Untold::NoSleep,
            1 => Untold::Lost,
            2 => Untold::NotWoken,
            3 => Untold::Shifted,
            4 => Untold::NotRecorded,
            _ => return None,
        })
    }
}

/// Which fact a policy was told.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum InputKind {
    /// The parent scheduler had the core. The record's `arg`: since when (ns).
    Absent = 0,
    /// A child scheduler has nothing to run. The record's `arg`: until when (ns), `u64::MAX` if that is not known.
    Sleep = 1,
    /// Something arrived that releases a job of the record's task. The record's `arg`: when (ns).
    Arrival = 2,
    /// The running job of the record's task entered or left critical sections. The record's `job`: what it holds now
    /// (`tactus_task::Sections`). Its `arg`: since when it holds the innermost (ns).
    Section = 8,
    /// The running job of the record's task asks to wait. The record's `arg`: until when (ns).
    Wait = 9,
    /// The running job of the record's task signals an event. The record's `arg`: which. Its `job`: 1 if all are to go on.
    Signal = 10,
    /// The running job of the record's task awaits an event. The record's `arg`: which.
    Await = 11,
    /// The core asked memory for lines since its last decision, in the record's job. Its `arg`: how many.
    Misses = 12,
    /// The core's counter was sampled for work that gives way to it. The record's `arg`: events since the sample before.
    Sample = 14,
    /// The core made memory take back changed lines since its last decision, in the record's job. Its `arg`: how many.
    WriteBacks = 15,
}

impl InputKind {
    /// The kind with this number, if there is one.
    pub const fn from_u8(n: u8) -> Option<InputKind> {
        Some(match n {
            0 => InputKind::Absent,
            1 => InputKind::Sleep,
            2 => InputKind::Arrival,
            8 => InputKind::Section,
            9 => InputKind::Wait,
            10 => InputKind::Signal,
            11 => InputKind::Await,
            12 => InputKind::Misses,
            14 => InputKind::Sample,
            15 => InputKind::WriteBacks,
            _ => return None,
        })
    }
}

/// What kind of fault stopped a component.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum FaultKind {
    /// Read of an address that the component does not have.
    Read = 0,
    /// Write to an address that the component does not have or may only read.
    Write = 1,
    /// Execution at an address that the component does not have or may not execute.
    Execute = 2,
    /// Stack overflow: access to the guard page below a stack.
    StackOverflow = 3,
    /// Privileged instruction, or another general-protection fault.
    Privileged = 4,
    /// Invalid instruction.
    InvalidInstruction = 5,
    /// Division by zero or overflow.
    Arithmetic = 6,
    /// Any other exception.
    Other = 7,
    /// The component gave up by itself (a panic).
    Panic = 8,
    /// No fault of its own: a thread came back to the component, which has begun anew since the thread called out of it.
    Gone = 9,
    /// No fault of its own: a monitor found a property violated that the system file has it stopped for. The address is the
    /// monitor's number.
    Property = 10,
}

impl FaultKind {
    /// The fault with this number, if there is one.
    pub const fn from_u8(n: u8) -> Option<FaultKind> {
        Some(match n {
            0 => FaultKind::Read,
            1 => FaultKind::Write,
            2 => FaultKind::Execute,
            3 => FaultKind::StackOverflow,
            4 => FaultKind::Privileged,
            5 => FaultKind::InvalidInstruction,
            6 => FaultKind::Arithmetic,
            7 => FaultKind::Other,
            8 => FaultKind::Panic,
            9 => FaultKind::Gone,
            10 => FaultKind::Property,
            _ => return None,
        })
    }
}

/// One thing that happened on one core.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Record {
    /// When.
    pub time: Instant,
    /// As the kind says.
    pub arg: u64,
    /// As the kind says; usually the number of the job, counted from 0 within its task.
    pub job: u32,
    /// The task, if one is concerned.
    pub task: Option<TaskId>,
    /// What.
    pub kind: EventKind,
    /// The level of the task ([`Level`]), or as the kind says.
    pub level: u8,
    /// Where.
    pub core: CoreId,
    /// As the kind says; else 0.
    pub ticket: u32,
}

/// `arg` of [`EventKind::ChangeRefused`]: admission, before the run, found that a promise would be broken.
pub const CHANGE_NOT_ADMITTED: u64 = 0;
/// `arg` of [`EventKind::ChangeRefused`]: the core would have promised more than there is of it.
pub const CHANGE_OVERLOADS: u64 = 1;
/// `arg` of [`EventKind::ChangeRefused`]: its values were computed with a change that was refused.
pub const CHANGE_DEPENDS: u64 = 2;

/// `ticket` of [`EventKind::Fault`]: whether the thread goes on in its caller, and the instruction at which it was stopped, where that lies in the
/// part of memory in which programs are.
pub const fn fault_ticket(survives: bool, instruction: u64) -> u32 {
    let instruction = if instruction < 1 << 31 { instruction as u32 } else { 0 };
    instruction << 1 | survives as u32
}

impl Record {
    /// The instruction at which a component was stopped, where the record tells it.
    pub const fn stopped_at(&self) -> Option<u64> {
        match (self.kind, self.ticket >> 1) {
            (EventKind::Fault, 1..) => Some((self.ticket >> 1) as u64),
            _ => None,
        }
    }
}

const NO_TASK: u16 = u16::MAX;

/// A record as it is stored, in four words: cheap to make, to pass on and to keep.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stored {
    /// [`Record::time`] (ns).
    pub time: u64,
    /// [`Record::arg`].
    pub arg: u64,
    /// From the low end: [`Record::job`] (32 bits), [`Record::task`] (16), [`Record::kind`] (8), [`Record::level`] (8).
    pub what: u64,
    /// From the low end: [`Record::core`] (8 bits), zeros (24), [`Record::ticket`] (32).
    pub place: u64,
}

/// A task and its level as records hold them: made once, so that each record costs less.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Subject(u64);

impl Subject {
    /// No task, and 0 for the level.
    pub const NONE: Subject = Subject((NO_TASK as u64) << 32);

    /// The task, with this for the level byte.
    #[inline(always)]
    pub const fn new(task: TaskId, level: u8) -> Subject {
        Subject((task.0 as u64) << 32 | (level as u64) << 56)
    }

    /// The task, if there is one.
    #[inline(always)]
    pub const fn task(self) -> Option<TaskId> {
        match (self.0 >> 32) as u16 {
            NO_TASK => None,
            task => Some(TaskId(task)),
        }
    }

    /// The same for one whose level byte is 0.
    #[inline(always)]
    pub const fn with_level(self, level: u8) -> Subject {
        Subject(self.0 | (level as u64) << 56)
    }
}

impl Stored {
    /// The record of these parts, with ticket 0.
    #[inline(always)]
    pub const fn about(subject: Subject, time: Instant, core: CoreId, kind: EventKind, job: u32, arg: u64) -> Self {
        let what = job as u64 | (kind as u64) << 48 | subject.0;
        Stored { time: time.as_nanos(), arg, what, place: core.0 as u64 }
    }

    /// The record of these parts, with ticket 0.
    #[inline(always)]
    pub const fn new(
        time: Instant,
        core: CoreId,
        kind: EventKind,
        level: u8,
        job: (Option<TaskId>, u32),
        arg: u64,
    ) -> Self {
        let task = match job.0 {
            Some(task) => task.0,
            None => NO_TASK,
        };
        let what = job.1 as u64 | (task as u64) << 32 | (kind as u64) << 48 | (level as u64) << 56;
        Stored { time: time.as_nanos(), arg, what, place: core.0 as u64 }
    }

    /// The same with a ticket.
    #[inline(always)]
    pub const fn with_ticket(self, ticket: u32) -> Self {
        Stored { place: self.place & 0xff | (ticket as u64) << 32, ..self }
    }

    /// The number of [`Record::kind`].
    #[inline(always)]
    pub const fn kind(&self) -> u8 {
        (self.what >> 48) as u8
    }

    /// [`Record::task`].
    #[inline(always)]
    pub const fn task(&self) -> Option<TaskId> {
        match (self.what >> 32) as u16 {
            NO_TASK => None,
            task => Some(TaskId(task)),
        }
    }

    /// The number of [`Record::task`]; the largest there is if there is none.
    #[inline(always)]
    pub const fn task_number(&self) -> usize {
        (self.what >> 32) as u16 as usize
    }

    /// [`Record::job`].
    #[inline(always)]
    pub const fn job(&self) -> u32 {
        self.what as u32
    }

    /// [`Record::level`].
    #[inline(always)]
    pub const fn level(&self) -> u8 {
        (self.what >> 56) as u8
    }

    /// Its words in the order in which they are stored.
    #[inline(always)]
    pub const fn words(&self) -> [u64; RECORD_BYTES / 8] {
        [self.time, self.arg, self.what, self.place]
    }

    /// The record; nothing if the kind is not known.
    pub const fn record(&self) -> Option<Record> {
        let Some(kind) = EventKind::from_u8(self.kind()) else { return None };
        Some(Record {
            time: Instant::from_nanos(self.time),
            arg: self.arg,
            job: self.job(),
            task: self.task(),
            kind,
            level: (self.what >> 56) as u8,
            core: CoreId(self.place as u8),
            ticket: (self.place >> 32) as u32,
        })
    }
}

impl Record {
    /// The record in words.
    #[inline(always)]
    pub const fn stored(&self) -> Stored {
        Stored::new(self.time, self.core, self.kind, self.level, (self.task, self.job), self.arg)
            .with_ticket(self.ticket)
    }

    /// The stored form.
    pub fn to_bytes(&self) -> [u8; RECORD_BYTES] {
        let mut bytes = [0; RECORD_BYTES];
        for (place, word) in bytes.chunks_exact_mut(8).zip(self.stored().words()) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    /// Reads the stored form; nothing if the kind is not known.
    pub fn from_bytes(b: &[u8; RECORD_BYTES]) -> Option<Record> {
        let word = |at: usize| {
            let mut w = [0; 8];
            w.copy_from_slice(&b[at..at + 8]);
            u64::from_le_bytes(w)
        };
        Stored { time: word(0), arg: word(8), what: word(16), place: word(24) }.record()
    }

    /// The criticality level, where the level byte holds one.
    pub fn criticality(&self) -> Option<Level> {
        Level::from_index(self.level)
    }
}

/// Where records go. Policies, simulator and kernel side write through this.
pub trait Sink {
    /// Keeps the record, or counts it as dropped.
    fn record(&mut self, record: Record);

    /// The same for a record in words of a kind that the caller knows: a sink that treats kinds differently need not look.
    #[inline(always)]
    fn put(&mut self, _kind: EventKind, stored: Stored) {
        self.store(stored);
    }

    /// The policy has done a part of its work and goes on with the next: who measures may look at the clock here.
    #[inline(always)]
    fn stage(&mut self) {}

    /// The same for a record in words. Sinks that keep words do without the detour.
    fn store(&mut self, stored: Stored) {
        if let Some(record) = stored.record() {
            self.record(record);
        }
    }
}

impl<S: Sink + ?Sized> Sink for &mut S {
    #[inline]
    fn record(&mut self, record: Record) {
        (**self).record(record);
    }
    #[inline]
    fn stage(&mut self) {
        (**self).stage();
    }
    #[inline]
    fn store(&mut self, stored: Stored) {
        (**self).store(stored);
    }
    #[inline]
    fn put(&mut self, kind: EventKind, stored: Stored) {
        (**self).put(kind, stored);
    }
}

/// Forgets everything.
pub struct NoSink;

impl Sink for NoSink {
    #[inline(always)]
    fn record(&mut self, _: Record) {}
    #[inline(always)]
    fn store(&mut self, _: Stored) {}
}

/// The head of one core's ring in the trace memory: 64 bytes, then `capacity` records. All fields little-endian `u64`.
///
/// The writer stores a record first and `written` after it, so a reader on another processor sees whole records
/// only. When the ring is full, new records are dropped and counted; the oldest are never overwritten.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RingHeader {
    /// How many records fit.
    pub capacity: u64,
    /// How many records have been written.
    pub written: u64,
    /// How many records were dropped because the ring was full.
    pub dropped: u64,
    /// The core's time when it last looked (ns), for progress displays.
    pub now: u64,
    /// Non-zero once the core's run has ended.
    pub ended: u64,
}

/// The length of a ring's head in bytes.
pub const RING_HEADER_BYTES: usize = 64;

impl RingHeader {
    /// Reads the stored form.
    pub fn from_bytes(b: &[u8; RING_HEADER_BYTES]) -> RingHeader {
        let word = |i: usize| {
            let mut w = [0; 8];
            w.copy_from_slice(&b[i * 8..i * 8 + 8]);
            u64::from_le_bytes(w)
        };
        RingHeader { capacity: word(0), written: word(1), dropped: word(2), now: word(3), ended: word(4) }
    }

    /// The stored form.
    pub fn to_bytes(&self) -> [u8; RING_HEADER_BYTES] {
        let mut b = [0; RING_HEADER_BYTES];
        for (i, word) in [self.capacity, self.written, self.dropped, self.now, self.ended].into_iter().enumerate() {
            b[i * 8..i * 8 + 8].copy_from_slice(&word.to_le_bytes());
        }
        b
    }
}
