//! The rules that the kernel's objects must keep, looked at from outside the code that keeps them. Only with the feature
//! `check`; a broken rule ends the run.
//!
//! Each way out of the kernel checks the thread that goes on, every sixteenth all that this core answers for; the end of a
//! run checks everything, and that all time was charged to somebody. On a machine whose cores run at the same time, others may be in the middle of a change.

use crate::arch::percore::{self, Core};
use crate::component;
use crate::path::Entry;
use crate::say;
use crate::thread::{self, state, Thread};
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
use tactus_abi::layout::{MAX_CORES, MAX_SCHEDULERS, MAX_THREADS};

/// The run ended because a rule was broken.
const END_BROKEN: u8 = 0x75;

/// When each core's time began to count, in time-stamp ticks.
static BEGAN: [AtomicU64; MAX_CORES] = [const { AtomicU64::new(0) }; MAX_CORES];
/// All objects are looked at on one of so many ways out; on the others, the thread that goes on.
const WALKED: u64 = 16;
/// How often something is looked at before it counts as broken.
const LOOKS: usize = 8;
/// How many ways out were checked.
static CHECKED: AtomicU64 = AtomicU64::new(0);

fn broken(rule: &str, number: u64) -> ! {
    say!("tactus: broken rule: {rule} ({number})");
    crate::end(END_BROKEN)
}

/// The core's time begins to count.
pub fn begin(core: &Core) {
    BEGAN[core.id as usize % MAX_CORES].store(core.charged, Relaxed);
}

fn threads() -> impl Iterator<Item = &'static Thread> {
    // SAFETY: places of the table. What other cores have may change while it is looked at; atomics and plain numbers are
    // values all the same.
    (0..MAX_THREADS as u64).filter_map(thread::get).map(|thread| unsafe { &*thread })
}

/// What this core answers for, on its way out.
pub fn way_out(core: &Core) {
    // A walk over all of them takes thousands of instructions: what stays broken is found a little later as well.
    let spared = CHECKED.fetch_add(1, Relaxed) % WALKED != 0;
    // SAFETY: the running thread, if any, is this core's.
    if let Some(thread) = unsafe { core.current.as_ref() }.filter(|_| spared) {
        return one_path(thread);
    }
    for thread in threads() {
        let here = core::ptr::eq(thread, core.current);
        let kept = here || core::ptr::eq(thread, core.upcall);
        if thread.is_owned_by(core.id) != kept {
            broken("a core has the thread that it runs, and its root upcall, and no other", thread.id.into());
        }
        if here && !thread.lacks(state::INACTIVE | state::STOPPED | state::SPARE) {
            broken("who runs is active", thread.id.into());
        }
        if here && component::get(thread.component).is_stopped() {
            broken("nobody runs in a stopped component", thread.id.into());
        }
        one_path(thread);
    }
    tree();
}

/// Whether it is wrong however often one looks. Other cores may change the tree between two steps of a look, and what is
/// broken stays so.
fn stays(wrong: impl Fn() -> bool) -> bool {
    (0..LOOKS).all(|_| wrong())
}

/// The schedulers that hold the thread are one way from the root down.
fn one_path(thread: &Thread) {
    let parted = || {
        let mut above = None;
        thread.path().holders().any(|(scheduler, _)| {
            let parted = scheduler.parent() != above || !scheduler.stands();
            above = Some(scheduler);
            parted
        })
    };
    if stays(parted) {
        broken("a thread's schedulers are one path", thread.id.into());
    }
    if stays(|| thread.path().holders().next().is_none()) {
        broken("the root schedules every thread", thread.id.into());
    }
}

/// Every scheduler has one parent, one step closer to the root.
fn tree() {
    for number in 0..crate::components() {
        if stays(|| !is_one_way(number)) {
            broken("a tree: one parent, one step closer to the one root, and no circle", number.into());
        }
    }
}

/// Whether the component is no scheduler, or comes to the root in as many steps as it is deep.
fn is_one_way(number: u16) -> bool {
    let mut scheduler = crate::path::scheduler(number);
    for _ in 0..=MAX_SCHEDULERS {
        let Some(it) = scheduler else { return true };
        scheduler = it.parent();
        let good = match scheduler {
            Some(parent) => parent.depth + 1 == it.depth && parent.stands(),
            None => it.depth == 0 && component::get(it.component()).is_root(),
        };
        if !good {
            return false;
        }
    }
    scheduler.is_none()
}

/// At the end of a run: slots belong to one holder, and all time was charged.
pub fn total(core: &Core) {
    for thread in threads() {
        for (scheduler, slot) in thread.path().holders().filter(|&(_, slot)| slot != 0) {
            let same = |other: &&Thread| {
                !core::ptr::eq(other.path(), thread.path())
                    && other.path().at(scheduler.depth) == Entry::new(scheduler.identity, slot)
            };
            if threads().any(|other| same(&other)) {
                broken("a slot has one holder", slot.into());
            }
        }
    }
    // SAFETY: places of the table, read as they are.
    let used: u64 = (0..MAX_THREADS as u64).filter_map(thread::any).map(|it| unsafe { (*it).used }).sum();
    let (mut idle, mut elapsed) = (0, 0);
    for number in 0..crate::cores() {
        let it = percore::of(number);
        // SAFETY: a core's block, read as it is.
        unsafe {
            idle += (*it).idle;
            elapsed += (*it).charged - BEGAN[number % MAX_CORES].load(Relaxed);
        }
    }
    if used + idle != elapsed {
        say!("tactus: {used} used + {idle} idle, {elapsed} elapsed");
        broken("used and idle time add up to what elapsed", used + idle);
    }
    say!(
        "tactus: checked {} ways out; {used} used + {idle} idle = {elapsed} elapsed on {} cores, core {} ends",
        CHECKED.load(Relaxed),
        crate::cores(),
        core.id
    );
}
