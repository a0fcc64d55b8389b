//! What the scheduler keeps: the system, read by all cores; and each core's own.

use crate::ring::Ring;
use crate::verdict::Counts;
use alloc::vec::Vec;
use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicBool, Ordering};
use tactus_policy::{CoreState as PolicyCore, Decision, Scheduler, Setup};
use tactus_rt::abi::layout::CARDS;
use tactus_rt::abi::shared::TaskCard;
use tactus_rt::time::{Instant, TaskId, MAX_CORES};

/// The same for all cores; never changed once it is there, but for what the scheduler itself protects.
pub struct System {
    /// The policy.
    pub scheduler: Scheduler,
    /// What it was made from.
    pub setup: Setup,
    /// When the run ends.
    pub end: Instant,
}

impl System {
    /// The tasks as the verdict names them.
    pub fn cards(&self) -> &'static [TaskCard] {
        // SAFETY: the image builder maps one card per task, read-only.
        unsafe { core::slice::from_raw_parts(CARDS as *const TaskCard, self.setup.tasks.len()) }
    }

    /// The thread that runs the task's jobs: threads of tasks follow those of the cores in the order of the tasks.
    pub fn thread_of(&self, task: TaskId) -> u64 {
        (self.setup.cores + task.index()) as u64
    }

    /// The task whose jobs the thread runs.
    pub fn task_of(&self, thread: u64) -> Option<TaskId> {
        let index = (thread as usize).checked_sub(self.setup.cores)?;
        (index < self.setup.tasks.len()).then_some(TaskId(index as u16))
    }
}

/// One core's own.
pub struct CoreState {
    /// The core.
    pub core: u8,
    /// The policy's state for it.
    pub policy: PolicyCore,
    /// Its trace.
    pub ring: Ring,
    /// Whether the policy has seen the start.
    pub started: bool,
    /// Whether the run is over here.
    pub ended: bool,
    /// The last decision.
    pub decision: Decision,
    /// Counts for the verdict, by task.
    pub counts: Vec<Counts>,
    /// Whether the end was counted.
    pub told: bool,
}

impl CoreState {
    /// When this core must be entered next at the latest.
    pub fn time_out(&self) -> Instant {
        self.decision.timer.min(system().end)
    }
}

struct Shared<T>(UnsafeCell<Option<T>>);

// SAFETY: `SYSTEM` is written once, before `READY`; each place of `CORES` is written once before `READY` and then used
// only by its core, on which this component is not entered twice at a time (see the kernel's `post`).
unsafe impl<T> Sync for Shared<T> {}

static SYSTEM: Shared<System> = Shared(UnsafeCell::new(None));
static CORES: [Shared<CoreState>; MAX_CORES] = [const { Shared(UnsafeCell::new(None)) }; MAX_CORES];
static READY: AtomicBool = AtomicBool::new(false);

/// Puts everything in its place. Once, by core 0.
pub fn place(system: System, cores: Vec<CoreState>) {
    // SAFETY: nobody looks before `READY`.
    unsafe {
        *SYSTEM.0.get() = Some(system);
        for (place, state) in CORES.iter().zip(cores) {
            *place.0.get() = Some(state);
        }
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

/// The core's own state, if the scheduler is set up. The caller runs on that core and drops the reference before it
/// gives the core away.
pub fn core_state(core: u8) -> Option<&'static mut CoreState> {
    if !is_ready() {
        return None;
    }
    // SAFETY: one user at a time, see above.
    unsafe { (*CORES.get(core as usize)?.0.get()).as_mut() }
}
