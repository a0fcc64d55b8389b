//! Set-up, before the run begins: the root sets itself up, makes the schedulers below what they are, and lets each set itself
//! up in turn, on every core; and so do they.

use crate::state::{self, Child, System};
use crate::step::is_idle;
use crate::{platform, recovery, Next};
use alloc::vec::Vec;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use tactus_policy::{Board, Lending, Tier, TierPlan};
use tactus_rt::abi::call::{SchedulerOperation, NO_TIMEOUT};
use tactus_rt::abi::image::role;
use tactus_rt::abi::layout::{MAX_CORES, PLAN};
use tactus_rt::abi::shared::CHANGES;
use tactus_rt::time::{CoreId, Duration, Instant};
use tactus_rt::{calls, clock, info, region, Error};
use tactus_sync::Lock;

/// The run ended because a scheduler could not be set up.
const END_BAD_PLAN: u8 = 0x74;
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
        set_up();
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
        return Some(Next { thread: child.first_upcall + u64::from(core), timeout, anew: None });
    }
    state::begin(core);
    None
}

/// The next scheduler below that is not ready on the core: it was not there yet, or was in the middle of it when its time was over.
fn next_child(system: &'static System, core: u8) -> Option<&'static Child> {
    let turn = &TURNS[usize::from(core) % MAX_CORES];
    let count = system.below.len();
    for _ in 0..count {
        let turn = turn.fetch_add(1, Ordering::Relaxed);
        let (child, plan) = (&system.below[turn % count], &system.plan.below[turn % count]);
        let ready = turn >= count && is_idle(region::of(core), child.first_upcall + u64::from(core));
        if plan.cores.contains(CoreId(core)) && !ready {
            return Some(child);
        }
    }
    None
}

/// How many schedulers there are below the component.
fn below(component: u64) -> u64 {
    let children = state::components().iter().enumerate().filter(|(_, card)| u64::from(card.parent) == component);
    children.map(|(number, _)| 1 + below(number as u64)).sum()
}

/// Makes the policy from what the image holds, and the schedulers below what they are.
fn set_up() {
    // SAFETY: the image builder maps the encoded plan read-only, `plan_bytes` long.
    let plan = unsafe { core::slice::from_raw_parts(PLAN as *const u8, info().plan_bytes as usize) };
    let Ok(plan) = TierPlan::decode(plan) else { fail("a scheduler cannot read its plan") };
    let (Ok(tiers), Ok(platforms)) = (Tier::new(&plan), platform::of(&plan)) else {
        fail("a scheduler refuses its plan")
    };
    if tiers.iter().flatten().any(|tier| tier.left().1.len() > CHANGES) {
        fail("a scheduler has more changes than it can be told of");
    }
    let boards = if state::is_root() { Board::of(&plan) } else { Vec::new() };
    let own = info().component;
    // The image has them in the order of their plans, the root's first.
    let component = |place: usize| {
        let cards = state::components().iter().enumerate();
        let mut schedulers =
            cards.filter(|(_, card)| card.role & role::SCHEDULER != 0).map(|(number, _)| number as u64);
        schedulers.nth(place.wrapping_sub(1))
    };
    let sharing = boards.iter().flat_map(Board::shared);
    let sharing = sharing.filter_map(|(place, queue)| Some((place, queue, component(place)?))).collect();
    let cards = state::components().iter().enumerate();
    let children = cards.filter(|(_, card)| card.role & role::SCHEDULER != 0 && card.parent == own);
    let child = |(number, card): (usize, &tactus_rt::abi::shared::ComponentCard)| Child {
        component: number as u64,
        first_upcall: card.first_upcall.into(),
        lost: AtomicBool::new(false),
    };
    let below: Vec<Child> = children.map(child).collect();
    let system = System {
        lending: Lending::new(&plan.below),
        below,
        root: state::is_root(),
        end: Instant::from_nanos(info().duration),
        jobs: plan.tasks.iter().map(|_| platform::JobState::default()).collect(),
        platforms,
        plan,
        boards: boards.into_iter().map(|board| (board.cores(), Lock::new(board))).collect(),
        sharing,
        wards: recovery::wards(),
        foreign: recovery::foreign(),
    };
    if system.below.len() != system.plan.below.len() {
        fail("a scheduler has other children than its plan says");
    }
    // Refused where the kernel shares the regions already.
    let _ = calls::scheduler_control(SchedulerOperation::Region, 0, 0);
    for task in &system.plan.tasks {
        bind(system.thread_of(*task));
    }
    for (child, below) in system.below.iter().zip(&system.plan.below) {
        if control(SchedulerOperation::Promote, 0, child.component).is_err() {
            fail("a scheduler cannot be made one");
        }
        for task in &below.tasks {
            if control(SchedulerOperation::Grant, system.thread_of(*task), child.component).is_err() {
                fail("a scheduler cannot be given its threads");
            }
        }
        for core in 0..u64::from(info().cores) {
            bind(child.first_upcall + core);
        }
    }
    state::place(system, tiers);
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

fn fail(why: &str) -> ! {
    calls::text("tactus: ");
    calls::text(why);
    calls::text("\n");
    calls::finish(END_BAD_PLAN)
}
