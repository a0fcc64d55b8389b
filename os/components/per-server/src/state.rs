//! What the scheduler keeps: what it was made from, read by all cores; and each core's own, used inside that core's lock.

use crate::jobs::JobState;
use alloc::vec::Vec;
use core::sync::atomic::{AtomicBool, Ordering};
use tactus_policy::programs::Trees;
use tactus_policy::{Policy, PolicyConfig, SchedulerPlan};
use tactus_record::Subject;
use tactus_rt::abi::image::role;
use tactus_rt::abi::layout::MAX_CORES;
use tactus_rt::abi::shared::{ComponentCard, TaskCard};
use tactus_rt::cards::components;
use tactus_rt::info;
use tactus_rt::scheduler::{task_cards, Borrowed, Once, PerCore, TraceRing};
use tactus_rt::time::{CoreId, Instant, TaskId};
use tactus_sched::recovery::{Host, Recovery};
use tactus_sched::runtime::{JobCounts, Next};

/// The policy's part of a core's state.
pub type PolicyCore = <Trees as Policy>::Core;

/// The same for all cores.
pub struct System {
    /// The policy.
    pub scheduler: Trees,
    /// What it was made from.
    pub setup: PolicyConfig,
    /// The same, without its tasks' parameters.
    pub plan: SchedulerPlan,
    /// The child schedulers, in the order of the plan's.
    pub children: Vec<Child>,
    /// Whether this is the root.
    pub root: bool,
    /// When the run ends.
    pub end: Instant,
    /// By index of its tasks.
    pub jobs: Vec<JobState>,
    /// The components that are restarted: the root alone restarts any.
    pub recovery: Recovery,
}

/// A child scheduler.
pub struct Child {
    /// Its component.
    pub component: u64,
    /// Its core.
    pub core: CoreId,
    /// Its upcall thread there.
    pub upcall: u64,
    /// Its proxy in the policy.
    pub proxy: TaskId,
    /// All its tasks.
    pub tasks: Vec<TaskId>,
    /// It was stopped, and its tasks with it.
    pub lost: AtomicBool,
}

/// One core's own.
pub struct CoreState {
    /// The core.
    pub core: u8,
    /// The policy's.
    pub policy: PolicyCore,
    /// Its trace.
    pub ring: TraceRing,
    /// The system.
    pub system: &'static System,
    /// By index of the scheduler's tasks: what is counted for the verdict.
    pub counts: Vec<JobCounts>,
    /// What the last decision chose.
    pub next: Next,
    /// Who that is, for records.
    pub running: Subject,
    /// The number of its job.
    pub job: u32,
    /// Whether the policy has begun.
    pub begun: bool,
    /// When it is to be entered next at the latest.
    pub wake: Instant,
    /// When the run ends; only the root looks at the clock for that.
    pub end: Instant,
    /// When something beside the policy's work is due: the next piece of a restart, or the end.
    pub limit: Instant,
    /// The run is over here.
    pub ended: bool,
}

impl System {
    /// The child scheduler for which the task is the proxy.
    pub fn child(&self, task: TaskId) -> Option<&Child> {
        self.children.iter().find(|child| child.proxy == task)
    }

    /// The thread that runs the task's jobs.
    pub fn thread_of(&self, task: TaskId) -> u64 {
        self.setup.cores as u64 + u64::from(task.0)
    }

    /// The task whose jobs the thread runs.
    pub fn task_of(&self, thread: u64) -> Option<TaskId> {
        let task = thread.checked_sub(self.setup.cores as u64)?;
        (task < self.cards().len() as u64).then_some(TaskId(task as u16))
    }

    /// All tasks, as the image tells of them.
    pub fn cards(&self) -> &'static [TaskCard] {
        task_cards()
    }

    /// The index of a task of this scheduler's own.
    pub fn own(&self, task: TaskId) -> Option<usize> {
        self.plan.tasks.binary_search(&task).ok()
    }
}

impl CoreState {
    /// The job that this core runs ends unfinished with its component.
    pub fn aborted(&mut self) {
        let Some((task, job)) = self.run() else { return };
        if let Some(counts) = self.system.own(task).and_then(|own| self.counts.get_mut(own)) {
            counts.abort(job, tactus_rt::clock::now());
        }
    }

    /// A core before its first decision.
    pub fn new(core: u8, policy: PolicyCore, ring: TraceRing, system: &'static System) -> CoreState {
        let end = if system.root { system.end } else { Instant::NEVER };
        let own = system.plan.tasks.iter().zip(&system.setup.tasks);
        let counts = own.map(|(name, task)| JobCounts::new(task, &task_cards()[name.index()])).collect();
        CoreState {
            core,
            policy,
            ring,
            system,
            counts,
            next: Next::NOBODY,
            running: Subject::NONE,
            job: 0,
            begun: false,
            wake: Instant::NEVER,
            end,
            limit: end,
            ended: false,
        }
    }

    /// The task and the job that the last decision chose.
    pub fn run(&self) -> Option<(TaskId, u32)> {
        self.running.task().map(|task| (task, self.job))
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
        self.system.task_of(thread).map(|task| self.system.cards()[task.index()].home)
    }
    fn abort(&mut self) {
        self.aborted();
    }
    fn restart_at(&mut self, at: Option<Instant>) {
        self.limit = at.map_or(self.end, |at| self.end.min(at));
    }
    fn enter_at(&mut self, at: Instant) {
        self.limit = self.limit.min(at);
    }
}

/// Whether this is the root.
pub fn is_root() -> bool {
    own_card().is_some_and(|card| card.role & role::ROOT != 0)
}

fn own_card() -> Option<&'static ComponentCard> {
    components().get(info().component as usize)
}

/// This scheduler's upcall thread on the core.
pub fn upcall_thread(core: u8) -> u64 {
    own_card().map_or(0, |card| u64::from(card.first_upcall)) + u64::from(core)
}

/// Whether the thread runs the jobs of a task of this scheduler's that is at home in the component.
pub fn is_home(thread: u64, component: u64) -> bool {
    let task = thread.wrapping_sub(info().cores.into());
    task_cards().get(task as usize).is_some_and(|card| card.home == component)
        && is_ready()
        && system().own(TaskId(task as u16)).is_some()
}

static SYSTEM: Once<System> = Once::new();
static CORES: PerCore<CoreState> = PerCore::new();
static BEGUN: [AtomicBool; MAX_CORES] = [const { AtomicBool::new(false) }; MAX_CORES];

/// Stores the system and each core's state. Once, by the first core that comes.
pub fn place(system: System, policies: Vec<PolicyCore>) {
    let system = SYSTEM.set(system);
    for (core, policy) in (0_u8..).zip(policies) {
        if let Some(ring) = TraceRing::claim(core) {
            CORES.put(core, CoreState::new(core, policy, ring, system));
        }
    }
    READY.store(true, Ordering::Release);
}

static READY: AtomicBool = AtomicBool::new(false);

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

/// The run has begun on the core.
pub fn begin(core: u8) {
    BEGUN[usize::from(core) % MAX_CORES].store(true, Ordering::Relaxed);
}

/// Whether the run has begun on the core.
pub fn has_begun(core: u8) -> bool {
    BEGUN[usize::from(core) % MAX_CORES].load(Ordering::Relaxed)
}

/// The core's own, if the scheduler is set up. Inside the core's lock.
pub fn of(core: u8) -> Option<Borrowed<'static, CoreState>> {
    CORES.borrow(core)
}
