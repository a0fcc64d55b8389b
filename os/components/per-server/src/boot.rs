//! Set-up, before the run begins: the root sets itself up, makes the schedulers below what they are, and lets each set itself
//! up in turn, on every core; and so do they.

use crate::jobs::JobState;
use crate::state::{self, Child, System};
use crate::step::is_idle;
use alloc::vec::Vec;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use tactus_policy::PolicySpec;
use tactus_rt::abi::call::{SchedulerOperation, NO_TIMEOUT};
use tactus_rt::abi::image::role;
use tactus_rt::abi::layout::MAX_CORES;
use tactus_rt::abi::shared::ComponentCard;
use tactus_rt::cards::components;
use tactus_rt::time::{Duration, Instant};
use tactus_rt::{calls, clock, info, Error};
use tactus_sched::recovery::Recovery;
use tactus_sched::runtime::{fail, make_policy, Next};

/// How long a scheduler may take on each core, those below it apart, before it is another one's turn. One that is not ready when the
/// run begins is late. The kernel allows for a little more than that for all of them.
const PATIENCE: Duration = Duration::from_millis(4);

/// Which scheduler below is next let set up on each core: all in turn, until none is left that is not ready.
static TURNS: [AtomicUsize; MAX_CORES] = [const { AtomicUsize::new(0) }; MAX_CORES];
/// Core 0 has begun to set up: it goes on with that if it was interrupted.
static BEGUN: AtomicBool = AtomicBool::new(false);

/// What a core does next whose run has not begun; nothing if it begins now.
#[cold]
pub fn step(core: u8) -> Option<Next> {
    // The first core to come sets up.
    if !BEGUN.swap(true, Ordering::AcqRel) {
        set_up(core);
    }
    while !state::is_ready() {
        core::hint::spin_loop();
    }
    let system = state::system();
    let epoch = clock::clock().epoch;
    if clock::time_stamp() < epoch {
        let Some(child) = next_child(system, core) else {
            return Some(Next::nobody_until(if system.root { epoch } else { NO_TIMEOUT }));
        };
        let patience = PATIENCE * (1 + below(child.component));
        let patience = clock::reading(Instant::ZERO + patience) - epoch;
        let timeout = epoch.min(clock::time_stamp() + patience);
        return Some(Next { thread: child.upcall, timeout, restarts_with: None });
    }
    state::begin(core);
    None
}

/// The next scheduler below that is not ready on the core: it was not there yet, or was in the middle of it when its time was over.
fn next_child(system: &'static System, core: u8) -> Option<&'static Child> {
    let turn = &TURNS[usize::from(core) % MAX_CORES];
    let count = system.children.len();
    for _ in 0..count {
        let turn = turn.fetch_add(1, Ordering::Relaxed);
        let child = &system.children[turn % count];
        let ready = turn >= count && is_idle(child);
        if child.core.0 == core && !ready {
            return Some(child);
        }
    }
    None
}

/// How many schedulers there are below the component.
fn below(component: u64) -> u64 {
    let children = components().iter().enumerate().filter(|(_, card)| u64::from(card.parent) == component);
    children.map(|(number, _)| 1 + below(number as u64)).sum()
}

/// Makes the policy from what the image holds, and the schedulers below what they are.
fn set_up(core: u8) {
    let (setup, scheduler, policies) = make_policy();
    let PolicySpec::PerServer(plan) = setup.kind.clone() else { fail("a scheduler has the plan of another kind") };
    let own = info().component;
    // The image has them in the order of their plans.
    let cards = components().iter().enumerate();
    let below: Vec<_> = cards.filter(|(_, card)| card.role & role::SCHEDULER != 0 && card.parent == own).collect();
    if below.len() != plan.children.len() {
        fail("a scheduler has other children than its plan says");
    }
    let child = |((number, card), child): (&(usize, &ComponentCard), &tactus_policy::Child)| Child {
        component: *number as u64,
        core: child.core,
        upcall: u64::from(card.first_upcall) + u64::from(child.core.0),
        proxy: child.proxy,
        tasks: child.tasks.clone(),
        lost: AtomicBool::new(false),
    };
    let system = System {
        scheduler,
        children: below.iter().zip(&plan.children).map(child).collect(),
        root: state::is_root(),
        end: Instant::from_nanos(info().duration),
        jobs: plan.tasks.iter().map(|_| JobState::default()).collect(),
        plan,
        setup,
        recovery: Recovery::new(),
    };
    // Refused where the kernel shares the regions already.
    let _ = calls::scheduler_control(SchedulerOperation::Region, 0, 0);
    for task in &system.plan.tasks {
        bind(system.thread_of(*task));
    }
    for (child, (_, card)) in system.children.iter().zip(&below) {
        if control(SchedulerOperation::Promote, 0, child.component).is_err() {
            fail("a scheduler cannot be made one");
        }
        for task in &child.tasks {
            if control(SchedulerOperation::Grant, system.thread_of(*task), child.component).is_err() {
                fail("a scheduler cannot be given its threads");
            }
        }
        for core in 0..u64::from(info().cores) {
            bind(u64::from(card.first_upcall) + core);
        }
    }
    state::place(system, policies);
    if let Some(state) = state::of(core) {
        crate::verdict::publish(&state);
    }
}

/// Gives the thread its slot, so that its time is counted.
fn bind(thread: u64) {
    if control(SchedulerOperation::Slot, thread, thread + 1).is_err() {
        fail("a thread cannot be given its slot");
    }
}

/// Changes the kernel's tree, at which schedulers on other cores may be at work too.
fn control(operation: SchedulerOperation, thread: u64, other: u64) -> Result<(), Error> {
    loop {
        match calls::scheduler_control(operation, thread, other) {
            Err(Error::Busy) => core::hint::spin_loop(),
            outcome => return outcome,
        }
    }
}
