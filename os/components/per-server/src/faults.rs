//! Components that were stopped: a task's, whose jobs end with it, or a scheduler's below, whose tasks do. Which are to be restarted
//! the [root sees to](recovery).

use crate::state::{CoreState, System};
use crate::{recovery, COMPLETED, REMOVED};
use core::ptr::{addr_of, addr_of_mut};
use core::sync::atomic::{AtomicU64, Ordering};
use tactus_record::{EventKind, FaultKind, Record, Sink};
use tactus_rt::abi::layout::{MAX_COMPONENTS, PAGE, PARENT_PAGE, PARENT_PAGES};
use tactus_rt::abi::shared::{ParentPage, Region};
use tactus_rt::clock;
use tactus_rt::time::{CoreId, TaskId};

/// Words of the set of all components.
const WORDS: usize = MAX_COMPONENTS / 64;

/// A component was stopped while this core ran a thread of this scheduler's or of one below. What is due from then on.
#[cold]
pub fn told(state: &mut CoreState, region: *mut Region) -> u64 {
    // SAFETY: the core's region; written before the event was posted.
    let fault = unsafe { addr_of!((*region).fault).read_volatile() };
    let gone = fault.kind == FaultKind::Gone as u64;
    if !gone {
        recovery::stopped(state, fault.component);
    }
    pass_on(state.system);
    let system = state.system;
    let task = fault.thread.checked_sub(system.thread_of(TaskId(0))).map(|task| TaskId(task as u16));
    let own = task.filter(|task| system.own(*task).is_some());
    let child = system.children.iter().any(|child| child.component == fault.component);
    if own.is_none() && !child {
        // The business of a scheduler below.
        return 0;
    }
    let (kind, survives) = (fault.kind, fault.survives != 0);
    if !(survives && gone) {
        record(state, EventKind::Fault, own, fault.component as u32, (kind as u8, fault.address, survives.into()));
    }
    let runs = state.running.task();
    let lost = own.is_some() && !survives && runs == own;
    let below = runs.and_then(|runs| system.child(runs)).is_some_and(|it| it.component == fault.component);
    match (lost, below) {
        (true, _) => {
            let due = recovery::lost_with(state, fault.thread);
            job_lost(state, due)
        }
        (_, true) => REMOVED,
        _ => 0,
    }
}

/// Which components stay stopped: what the root found out, or the one above told, is kept and told to those below.
pub fn pass_on(system: &System) {
    if system.wards.is_empty() && system.foreign.is_empty() {
        return;
    }
    let page = PARENT_PAGE as *const ParentPage;
    let place = |component: u32| ((component / 64) as usize % WORDS, 1 << (component % 64));
    let mut known = [0; WORDS];
    for ward in system.wards.iter().filter(|ward| ward.stays_stopped()) {
        let (word, bit) = place(ward.component);
        known[word] |= bit;
    }
    for foreign in system.foreign.iter().filter(|_| !system.root) {
        let (word, bit) = place(foreign.component);
        // SAFETY: this scheduler's own page, mapped into each that is below another one; words are whole.
        if unsafe { addr_of!((*page).stopped[word]).read_volatile() } & bit != 0 {
            foreign.given_up.store(true, Ordering::Release);
            known[word] |= bit;
        }
    }
    for child in &system.children {
        let page = (PARENT_PAGES + child.component * PAGE) as *mut ParentPage;
        for (word, known) in known.into_iter().enumerate().filter(|(_, known)| *known != 0) {
            // SAFETY: the page of a scheduler directly below, mapped writable here; all cores change these words so.
            unsafe { AtomicU64::from_ptr(addr_of_mut!((*page).stopped[word])) }.fetch_or(known, Ordering::Release);
        }
    }
}

/// Who was to run cannot: what is due since.
#[cold]
pub fn lost(state: &mut CoreState) -> u64 {
    pass_on(state.system);
    match state.running.task() {
        Some(task) if state.system.own(task).is_some() => {
            let due = recovery::lost(state);
            job_lost(state, due)
        }
        _ => REMOVED,
    }
}

/// Whoever runs on this core was stopped with its component: if only the job ends, it is finished.
fn job_lost(state: &mut CoreState, due: u64) -> u64 {
    if let (COMPLETED, Some(place)) = (due, state.running.task().and_then(|task| state.system.own(task))) {
        state.system.jobs[place].finish();
    }
    due
}

/// The scheduler below is removed: so are all tasks of it and of those below it. Told once, by the core that finds out first.
#[cold]
pub fn gone(state: &mut CoreState, task: TaskId) {
    let system: &System = state.system;
    let Some(child) = system.child(task) else { return };
    if child.lost.swap(true, Ordering::Relaxed) {
        return;
    }
    for task in &child.tasks {
        record(state, EventKind::Removed, Some(*task), 0, (0, 0, 0));
    }
}

fn record(
    state: &mut CoreState,
    kind: EventKind,
    task: Option<TaskId>,
    job: u32,
    (level, arg, ticket): (u8, u64, u32),
) {
    let core = CoreId(state.core);
    state.ring.record(Record { time: clock::now(), arg, job, task, kind, level, core, ticket });
}
