//! What the scheduler keeps: what it was made from, read by all cores; and each core's own, used inside that core's lock.

use crate::platform::{JobState, Shared as Platform};
use crate::recovery::{Foreign, Ward};
use crate::ring::Ring;
use crate::REFUSED;
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicBool, Ordering};
use tactus_policy::{Below, Board, Left, Lending, Tier, TierPlan};
use tactus_record::{Record, Subject};
use tactus_rt::abi::call::IDLE;
use tactus_rt::abi::image::role;
use tactus_rt::abi::layout::{CARDS, COMPONENTS, MAX_CORES};
use tactus_rt::abi::shared::{ComponentCard, TaskCard, CHANGES};
use tactus_rt::info;
use tactus_rt::time::{CoreId, CoreSet, Instant, TaskId};
use tactus_sync::{Lock, Order, Rank, Unlocked};

/// The same for all cores.
pub struct System {
    /// What was decided when the image was built.
    pub plan: TierPlan,
    /// The schedulers below, in the order of the plan's.
    pub below: Vec<Child>,
    /// What cores tell each other of them.
    pub lending: Lending,
    /// Whether this is the root.
    pub root: bool,
    /// When the run ends.
    pub end: Instant,
    /// What cores of this scheduler's share.
    pub platforms: Vec<Platform>,
    /// By place of its tasks.
    pub jobs: Vec<JobState>,
    /// What the root's cores tell each other of changes, by set of cores that share queues.
    pub boards: Vec<(CoreSet, Lock<Board, BoardRank>)>,
    /// Those who tell what is left in a queue that cores of a board share, by the place of their plan: with their component.
    pub sharing: Vec<(usize, CoreSet, u64)>,
    /// The components that this scheduler may restart: the root alone has any.
    pub wards: Vec<Ward>,
    /// Those that other components may restart.
    pub foreign: Vec<Foreign>,
}

/// The lock of a board: nothing is locked beside it.
pub struct BoardRank;

impl Rank for BoardRank {
    const NUMBER: u32 = 1;
}

/// A scheduler below.
pub struct Child {
    /// Its component.
    pub component: u64,
    /// Its upcall thread on core 0; the others follow.
    pub first_upcall: u64,
    /// It was stopped, and its tasks with it.
    pub lost: AtomicBool,
}

/// Who decides on a core.
pub enum Own {
    /// This core's own.
    Alone(Box<Tier>),
    /// What it shares with others, by place.
    Shared(usize),
}

/// The most records of a decision that is shared.
const MOST_KEPT: usize = 1_024;

/// One core's own.
pub struct CoreState {
    /// The core.
    pub core: u8,
    /// The policy's.
    pub policy: Own,
    /// What the last dispatch was to say to the parent: whether there was nothing to run for a moment, and which cores this
    /// scheduler wants. If it was refused, the next one has to say it.
    pub word: (bool, CoreSet),
    /// How much of what the parent counted for this scheduler's server, most urgent as it had asked, was told to the policy.
    pub visited: u64,
    /// The records of a decision that may have to be made once more.
    pub kept: Vec<Record>,
    /// What is left after it that keeps changes from taking effect, and the number of that report.
    pub left: (u64, Vec<Left>),
    /// Locks are taken in order.
    pub order: Order<Unlocked>,
    /// Its trace.
    pub ring: Ring,
    /// The system.
    pub system: &'static System,
    /// The thread that the last decision chose.
    pub thread: u64,
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
    /// The scheduler below for which the task stands.
    pub fn child(&self, task: TaskId) -> Option<(&Below, &Child)> {
        self.plan.below.iter().zip(&self.below).find(|(below, _)| below.stands == task)
    }

    /// The thread that runs the task's jobs.
    pub fn thread_of(&self, task: TaskId) -> u64 {
        self.plan.setup.cores as u64 + u64::from(task.0)
    }

    /// The task whose jobs the thread runs.
    pub fn task_of(&self, thread: u64) -> Option<TaskId> {
        let task = thread.checked_sub(self.plan.setup.cores as u64)?;
        (task < self.cards().len() as u64).then_some(TaskId(task as u16))
    }

    /// All tasks, as the image tells of them.
    pub fn cards(&self) -> &'static [TaskCard] {
        tasks()
    }

    /// The place of a task of this scheduler's own.
    pub fn own(&self, task: TaskId) -> Option<usize> {
        self.plan.tasks.binary_search(&task).ok()
    }
}

impl CoreState {
    /// A job ended with its component: counted by whoever tells the verdict, which is not this scheduler.
    pub fn aborted(&mut self) {}

    /// A core before its first decision.
    pub fn new(core: u8, tier: Option<Tier>, system: &'static System) -> CoreState {
        let shared = || system.platforms.iter().position(|it| it.cores.contains(CoreId(core))).unwrap_or(0);
        let policy = tier.map_or_else(|| Own::Shared(shared()), |tier| Own::Alone(Box::new(tier)));
        let end = if system.root { system.end } else { Instant::NEVER };
        let kept = Vec::with_capacity(if matches!(policy, Own::Shared(_)) { MOST_KEPT } else { 0 });
        CoreState {
            core,
            policy,
            word: (false, CoreSet::EMPTY),
            visited: 0,
            kept,
            left: (0, Vec::with_capacity(CHANGES)),
            order: Order::unlocked(),
            ring: Ring::new(core),
            system,
            thread: IDLE,
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

    /// This core must be entered then.
    pub fn wake_at(&mut self, wake: Instant) {
        self.wake = wake;
    }

    /// What the parent is to be told, with what it was not told since the dispatch that would have was refused. `runs`: whether
    /// there is something to run now.
    pub fn say(&mut self, due: u64, runs: bool, (blinks, wants): (bool, CoreSet)) -> (bool, CoreSet) {
        let (before, more) = if due & REFUSED != 0 { self.word } else { (false, CoreSet::EMPTY) };
        let mut all = wants;
        more.iter().for_each(|core| all.insert(core));
        self.word = (blinks || before, all);
        (runs && self.word.0, all)
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

/// Puts everything in its place. Once, by core 0.
pub fn place(system: System, tiers: Vec<Option<Tier>>) {
    // SAFETY: nobody looks before `READY`, and the system is not moved or changed afterwards.
    let system: &'static System = unsafe { (*SYSTEM.0.get()).insert(system) };
    for (number, (place, tier)) in CORES.iter().zip(tiers).enumerate() {
        // SAFETY: as above.
        unsafe { *place.0.get() = Some(CoreState::new(number as u8, tier, system)) };
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
