//! What the scheduler keeps: the system, read by all cores; and each core's own.

use crate::recovery::{Host, Recovery};
use crate::root::arrivals::{Arrivals, LineTasks};
use crate::root::deadlines::Processes;
use crate::root::mailboxes::Mailbox;
use crate::root::misses;
use crate::root::observe::{Reporting, Watched};
use crate::root::ports::Channel;
use crate::root::quota::{quotas, Quotas};
use crate::root::reports::Reports;
use crate::root::sections::{none_reported, Reported};
use crate::root::yielding::{self, Counter};
use crate::runtime::{ClockReading, JobCounts, Next};
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::sync::atomic::{AtomicBool, Ordering};
use tactus_policy::{Decision, EventCall, Policy, PolicyConfig, PolicySpec, ResourceProtocol, Sampler};
use tactus_record::Subject;
use tactus_rt::abi::call::{IDLE, NO_TIMEOUT};
use tactus_rt::abi::shared::TaskCard;
use tactus_rt::clock;
use tactus_rt::scheduler::{task_cards, Borrowed, Once, PerCore, TraceRing};
use tactus_rt::time::{CoreId, CoreSet, Instant, TaskId};

/// The same for all cores; never changed once it is there, but for what the scheduler itself protects.
pub struct System {
    /// What it was made from.
    pub setup: PolicyConfig,
    /// When the run ends.
    pub end: Instant,
    /// The components that are restarted.
    pub recovery: Recovery,
    /// The task whose jobs each interrupt line releases.
    pub lines: LineTasks,
    /// By task: the policy ended its last job, and its thread is still in the middle of that.
    pub given_up: Vec<AtomicBool>,
    /// It ended one of some task.
    pub some_given_up: AtomicBool,
    /// What monitors watch, if there are any.
    pub watched: Option<Watched>,
    /// Deadlines of processes, where there are partitions.
    pub processes: Option<Processes>,
    /// The cores on which a server has a budget of misses.
    pub regulated: CoreSet,
    /// The channels of the system.
    pub channels: Vec<Channel>,
    /// The ends of mailboxes.
    pub mailboxes: Vec<Mailbox>,
    /// Whether something is to be told of each decision: to monitors, or of mailboxes.
    pub follows_decisions: bool,
}

impl System {
    /// The tasks as the verdict names them.
    pub fn cards(&self) -> &'static [TaskCard] {
        task_cards()
    }

    /// The thread that runs the task's jobs: threads of tasks follow those of the cores in the order of the tasks.
    #[inline(always)]
    pub fn thread_of(&self, task: TaskId) -> u64 {
        (self.setup.cores + task.index()) as u64
    }

    /// The task whose jobs the thread runs.
    pub fn task_of(&self, thread: u64) -> Option<TaskId> {
        let index = (thread as usize).checked_sub(self.setup.cores)?;
        (index < self.setup.tasks.len()).then_some(TaskId(index as u16))
    }
}

/// One core's own, the policy's part of it included.
pub struct Core<P: Policy + 'static> {
    /// The policy, which all cores share.
    pub policy: &'static P,
    /// Its state on this core.
    pub own: P::Core,
    /// The rest.
    pub state: CoreState,
}

/// One core's own.
pub struct CoreState {
    /// The core.
    pub core: u8,
    /// Its trace.
    pub ring: TraceRing,
    /// The system.
    pub system: &'static System,
    /// Whether the run is over here.
    pub ended: bool,
    /// Whether the time-stamp counter counts nanoseconds.
    pub nanosecond_clock: bool,
    /// The time-stamp counter at the start of the run.
    pub epoch: u64,
    /// When the run ends.
    pub end: Instant,
    /// When something beside the policy's work is due: the next piece of a restart, what monitors await, or the end.
    pub limit: Instant,
    /// The same where the policy's work is all: zero where monitors are told of what it decides, or counters are read.
    pub lone_limit: Instant,
    /// The same for the short path of the timer, which not every policy has.
    pub short_limit: Instant,
    /// As `lone_limit`, for the shortest path of arrivals: zero where jobs have critical sections, of which the policy has to be told
    /// first, and where the counter does not count nanoseconds.
    pub arrival_limit: Instant,
    /// When the next piece of a restart is due.
    restart: Instant,
    /// When something that monitors await is late.
    watch: Instant,
    /// When a deadline of a process is to be noticed.
    process_deadline: Instant,
    /// The job that is finished had nothing to do.
    pub idled: bool,
    /// What monitors were told.
    pub reporting: Reporting,
    /// When the policy is to be called next at the latest.
    pub wake: Instant,
    /// When this core must be entered next at the latest, as a reading of the time-stamp counter.
    pub timeout: u64,
    /// The thread that the last decision chose.
    pub thread: u64,
    /// The number of the first task's thread.
    first_thread: u64,
    /// The task that the last decision chose, for records.
    pub running: Subject,
    /// The number of its job.
    pub job: u32,
    /// The last reading of the clock.
    pub look: ClockReading,
    /// Counts for the verdict, by task.
    pub counts: Vec<JobCounts>,
    /// What jobs may have recorded, by task.
    pub quotas: Quotas,
    /// Whether its end was reported.
    pub end_reported: bool,
    /// What arrived that the policy was not told yet.
    pub arrivals: Arrivals,
    /// Until when the running job asks to wait, where it does.
    pub waits_until: Instant,
    /// What the running job does to events.
    pub event_calls: [Option<EventCall>; 2],
    /// What had been counted of this core's lines when the policy was told last; nothing where no budget is one of misses.
    pub lines: Option<misses::Counted>,
    /// The core's counter, where work gives way to it.
    pub counter: Option<Counter>,
    /// Whether either of these is there.
    pub reads_counters: bool,
    /// What the policy was told of critical sections, by task; empty if there are none.
    pub sections: Vec<Reported>,
    /// Whether resources are handed over by inheritance, which has a short way.
    pub hands_over: bool,
    /// What the loader has told; nothing where there are no slots.
    pub slots: Option<Box<Reports>>,
}

/// Whether nothing beside the policy's work is to be done at its decisions on the core.
fn is_lone(system: &System, core: u8) -> bool {
    let counts = system.regulated.contains(CoreId(core)) || Sampler::of(&system.setup, CoreId(core)).is_some();
    !system.follows_decisions && !counts
}

/// Whether ends of time-outs may take the short way: monitors are told of all that happens.
fn has_short_way(system: &System) -> bool {
    system.watched.is_none() && system.setup.kind.has_short_way()
}

/// Whether some resource has the protocol of inheritance.
fn hands_over(setup: &PolicyConfig) -> bool {
    match &setup.kind {
        PolicySpec::Resources(all) => all.resources.iter().any(|it| it.protocol == ResourceProtocol::Inheritance),
        _ => false,
    }
}

impl CoreState {
    /// One core at the start of the run.
    pub fn new(core: u8, ring: TraceRing, system: &'static System) -> CoreState {
        let clock = clock::clock();
        let lines = misses::counted(system.regulated, &system.setup, core);
        let counter = yielding::counter(&system.setup, core);
        let mut state = CoreState {
            core,
            ring,
            system,
            ended: false,
            nanosecond_clock: clock.shift == 0 && clock.multiplier == 1,
            epoch: clock.epoch,
            end: system.end,
            limit: Instant::ZERO,
            lone_limit: Instant::ZERO,
            arrival_limit: Instant::ZERO,
            short_limit: Instant::ZERO,
            restart: Instant::NEVER,
            watch: Instant::NEVER,
            process_deadline: Instant::NEVER,
            idled: false,
            reporting: Reporting::default(),
            wake: Instant::NEVER,
            timeout: NO_TIMEOUT,
            thread: IDLE,
            first_thread: system.thread_of(TaskId(0)),
            running: Subject::NONE,
            job: 0,
            look: ClockReading { stamp: 0, now: Instant::ZERO },
            counts: system
                .setup
                .tasks
                .iter()
                .zip(system.cards())
                .map(|(task, card)| JobCounts::new(task, card))
                .collect(),
            quotas: quotas(&system.setup, system.cards()),
            end_reported: false,
            arrivals: Arrivals::NONE,
            waits_until: Instant::ZERO,
            event_calls: [None; 2],
            reads_counters: lines.is_some() || counter.is_some(),
            lines,
            counter,
            sections: none_reported(&system.setup),
            hands_over: hands_over(&system.setup),
            slots: Reports::new(&system.setup),
        };
        state.set_limit();
        state
    }

    /// Whether the thread runs the jobs of a task that is at home in the component.
    #[inline(always)]
    pub fn is_home(&self, thread: u64, component: u32) -> bool {
        let task = thread.wrapping_sub(self.first_thread) as usize;
        self.counts.get(task).is_some_and(|task| task.home == component)
    }

    /// The job that this core runs ends unfinished with its component.
    #[cold]
    pub fn aborted(&mut self) {
        let Some((task, job)) = self.run() else { return };
        if let Some(counts) = self.counts.get_mut(task.index()) {
            counts.abort(job, clock::now());
        }
    }

    /// Keeps a decision and what follows from it.
    #[inline(always)]
    pub fn decide(&mut self, decision: &Decision) {
        self.decide_by(decision, self.nanosecond_clock);
    }

    /// The same where it is known whether the time-stamp counter counts nanoseconds.
    #[inline(always)]
    pub fn decide_by(&mut self, decision: &Decision, nanosecond_clock: bool) {
        debug_assert_eq!(nanosecond_clock, self.nanosecond_clock);
        // The limit is no later than the end of the run, of which there is a reading.
        self.wake = decision.timer;
        let at = self.wake.min(self.limit);
        self.timeout = if nanosecond_clock { self.epoch.wrapping_add(at.as_nanos()) } else { converted(at) };
        (self.thread, self.running, self.job) = match decision.run {
            Some(running) => {
                let thread = self.first_thread + u64::from(running.task.0);
                (thread, Subject::new(running.task, 0), running.job)
            }
            None => (IDLE, Subject::NONE, 0),
        };
    }

    /// What the last decision chose, to be dispatched.
    #[inline(always)]
    pub fn next(&self) -> Next {
        Next { thread: self.thread, timeout: self.timeout, restarts_with: None }
    }

    /// The task and the job that the last decision chose.
    pub fn run(&self) -> Option<(TaskId, u32)> {
        self.running.task().map(|task| (task, self.job))
    }

    /// Monitors await something until then.
    #[cold]
    pub fn watch(&mut self, at: Instant) {
        self.watch = at;
        self.set_limit();
        self.enter_by(self.limit);
    }

    /// A deadline of a process is to be noticed then. Whether the core must be entered earlier than it was to be until now.
    #[cold]
    pub fn await_deadline(&mut self, at: Instant) -> bool {
        let before = self.wake.min(self.limit);
        if self.process_deadline != at {
            self.process_deadline = at;
            self.set_limit();
            self.enter_by(self.limit);
        }
        at < before
    }

    /// Whether a deadline of a process is to be noticed by `now`.
    pub fn awaits_deadline_by(&self, now: Instant) -> bool {
        self.process_deadline <= now
    }

    fn set_limit(&mut self) {
        if self.ended {
            return;
        }
        self.limit = self.end.min(self.restart).min(self.watch).min(self.process_deadline);
        if is_lone(self.system, self.core) {
            self.lone_limit = self.limit;
            let shortest = self.sections.is_empty() && self.nanosecond_clock;
            self.arrival_limit = if shortest { self.limit } else { Instant::ZERO };
        }
        if has_short_way(self.system) {
            self.short_limit = self.limit;
        }
    }

    /// Now, where the time-stamp counter counts nanoseconds.
    #[inline(always)]
    pub fn read_nanosecond_clock(&self) -> ClockReading {
        let stamp = clock::time_stamp();
        ClockReading { stamp, now: Instant::from_nanos(stamp.wrapping_sub(self.epoch)) }
    }

    /// The instant of a reading of the time-stamp counter, which may lie before the start of the run.
    #[inline(always)]
    pub fn instant(&self, stamp: u64) -> Instant {
        if self.nanosecond_clock {
            Instant::from_nanos(stamp.saturating_sub(self.epoch))
        } else {
            instant_of(stamp)
        }
    }

    /// This core must be entered then at the latest.
    #[inline(always)]
    pub fn enter_by(&mut self, at: Instant) {
        let at = self.wake.min(at);
        self.timeout = if self.nanosecond_clock { self.epoch.saturating_add(at.as_nanos()) } else { converted(at) };
    }
}

impl Host for CoreState {
    fn recovery(&self) -> &'static Recovery {
        &self.system.recovery
    }
    fn core(&self) -> u8 {
        self.core
    }
    fn ring(&mut self) -> &mut TraceRing {
        &mut self.ring
    }
    fn running(&self) -> Option<(TaskId, u32)> {
        self.run()
    }
    fn home_of(&self, thread: u64) -> Option<u64> {
        self.system.task_of(thread).and_then(|task| self.system.cards().get(task.index())).map(|card| card.home)
    }
    fn abort(&mut self) {
        self.aborted();
    }
    fn restart_at(&mut self, at: Option<Instant>) {
        self.restart = at.unwrap_or(Instant::NEVER);
        self.set_limit();
    }
    fn enter_at(&mut self, at: Instant) {
        self.enter_by(at);
    }
}

/// Where the time-stamp counter does not count nanoseconds.
#[cold]
#[inline(never)]
fn converted(wake: Instant) -> u64 {
    clock::reading(wake)
}

/// As above.
#[cold]
#[inline(never)]
fn instant_of(stamp: u64) -> Instant {
    clock::instant(stamp)
}

/// A program that is a root scheduler: which policy it is compiled with, and where it keeps what is of that policy's types.
pub trait RootProgram: 'static {
    /// Who decides.
    type Policy: tactus_policy::programs::Program + 'static;

    /// The policy, once it is made.
    fn policy() -> &'static Once<Self::Policy>;

    /// The state of each core; open once its run has begun.
    fn cores() -> &'static PerCore<Core<Self::Policy>>;
}

static SYSTEM: Once<System> = Once::new();
static READY: AtomicBool = AtomicBool::new(false);

/// Puts everything in its place. Once, by core 0.
pub fn place<R: RootProgram>(system: System, policy: R::Policy, cores: Vec<<R::Policy as Policy>::Core>) {
    let (system, policy) = (SYSTEM.set(system), R::policy().set(policy));
    for (number, own) in cores.into_iter().enumerate() {
        let Some(ring) = TraceRing::claim(number as u8) else { continue };
        let state = CoreState::new(number as u8, ring, system);
        R::cores().prepare(number as u8, Core { policy, own, state });
    }
    READY.store(true, Ordering::Release);
}

/// Whether the scheduler is set up.
pub fn is_ready() -> bool {
    READY.load(Ordering::Acquire)
}

/// The system. Only after [`is_ready`].
pub fn system() -> &'static System {
    match SYSTEM.get() {
        Some(system) => system,
        None => panic!("the scheduler is not set up"),
    }
}

/// The core's state, once its run has begun; nothing while somebody has it.
#[inline(always)]
pub fn running<R: RootProgram>(core: u8) -> Option<Borrowed<'static, Core<R::Policy>>> {
    R::cores().borrow(core)
}
