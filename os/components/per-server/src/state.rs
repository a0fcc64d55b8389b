//! What the scheduler keeps: what it was made from, read by all cores; and each core's own, used inside that core's lock.

use crate::jobs::JobState;
use crate::recovery::{Foreign, Ward};
use crate::ring::Ring;
use crate::verdict::Tally;
use crate::Next;
use alloc::vec::Vec;
use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicBool, Ordering};
use tactus_policy::{CoreState as PolicyCore, PolicyConfig, Scheduler, SchedulerPlan};
use tactus_record::Subject;
use tactus_rt::abi::image::role;
use tactus_rt::abi::layout::{CARDS, COMPONENTS, MAX_CORES};
use tactus_rt::abi::shared::{ComponentCard, TaskCard};
use tactus_rt::info;
use tactus_rt::time::{CoreId, Instant, TaskId};

/// The same for all cores.
pub struct System {
    /// The policy.
    pub scheduler: Scheduler,
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
    /// The components that this scheduler may restart: the root alone has any.
    pub wards: Vec<Ward>,
    /// Those that other components may restart.
    pub foreign: Vec<Foreign>,
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
    pub ring: Ring,
    /// The system.
    pub system: &'static System,
    /// By index of the scheduler's tasks: what is counted for the verdict.
    pub tallies: Vec<Tally>,
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
        tasks()
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
        if let Some(tally) = self.system.own(task).and_then(|own| self.tallies.get_mut(own)) {
            tally.abort(job, tactus_rt::clock::now());
        }
    }

    /// A core before its first decision.
    pub fn new(core: u8, policy: PolicyCore, system: &'static System) -> CoreState {
        let end = if system.root { system.end } else { Instant::NEVER };
        let own = system.plan.tasks.iter().zip(&system.setup.tasks);
        let here = |task: &tactus_policy::Task| task.core == Some(CoreId(core));
        let tallies = own.map(|(name, task)| Tally::new(task, &tasks()[name.index()], here(task))).collect();
        CoreState {
            core,
            policy,
            ring: Ring::new(core),
            system,
            tallies,
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

    /// This core must be entered then, for something beside the policy's work.
    pub fn wake_at(&mut self, wake: Instant) {
        self.limit = self.limit.min(wake);
    }
}

/// All components.
pub fn components() -> &'static [ComponentCard] {
    // SAFETY: the image builder maps so many cards, read-only, into every scheduler.
    unsafe { core::slice::from_raw_parts(COMPONENTS as *const ComponentCard, info().components as usize) }
}

fn tasks() -> &'static [TaskCard] {
    // SAFETY: the image builder maps so many cards, read-only.
    unsafe { core::slice::from_raw_parts(CARDS as *const TaskCard, info().tasks as usize) }
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
    tasks().get(task as usize).is_some_and(|card| card.home == component)
        && is_ready()
        && system().own(TaskId(task as u16)).is_some()
}

struct Shared<T>(UnsafeCell<Option<T>>);

// SAFETY: `SYSTEM` is written once, before `READY`; each place of `CORES` is written once before `READY` and then used
// inside the lock of its core only.
unsafe impl<T> Sync for Shared<T> {}

static SYSTEM: Shared<System> = Shared(UnsafeCell::new(None));
static CORES: [Shared<CoreState>; MAX_CORES] = [const { Shared(UnsafeCell::new(None)) }; MAX_CORES];
static READY: AtomicBool = AtomicBool::new(false);
static BEGUN: [AtomicBool; MAX_CORES] = [const { AtomicBool::new(false) }; MAX_CORES];

/// Puts everything in its place. Once, by the first core that comes.
pub fn place(system: System, policies: Vec<PolicyCore>) {
    // SAFETY: nobody looks before `READY`, and the system is not moved or changed afterwards.
    let system: &'static System = unsafe { (*SYSTEM.0.get()).insert(system) };
    for (number, (place, policy)) in CORES.iter().zip(policies).enumerate() {
        // SAFETY: as above.
        unsafe { *place.0.get() = Some(CoreState::new(number as u8, policy, system)) };
    }
    READY.store(true, Ordering::Release);
}

/// Whether the scheduler is set up.
pub fn is_ready() -> bool {
    READY.load(Ordering::Acquire)
}

/// The system. Only after [`is_ready`].
pub fn system() -> &'static System {
    // SAFETY: written before `READY`, not changed since.
    match unsafe { &*SYSTEM.0.get() } {
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

/// The core's own, if the scheduler is set up.
///
/// # Safety
/// Inside the core's lock, with no other reference to the state.
pub unsafe fn of(core: u8) -> Option<&'static mut CoreState> {
    if !is_ready() {
        return None;
    }
    // SAFETY: the caller vouches that it is the only one.
    unsafe { (*CORES[usize::from(core) % MAX_CORES].0.get()).as_mut() }
}
