//! The rules that the kernel's objects must keep, looked at from outside the code that keeps them. Only with the feature
//! `check`; a broken rule ends the run.
//!
//! Each way out of the kernel looks at the thread that goes on ([`goes_on`]), every sixteenth at all threads and at the tree,
//! every 4,096th at slots, time and pages as well ([`pages`]); the end of a run looks at everything. With the feature `sample`,
//! for long runs, it is every 512th and every 65,536th.
//!
//! Cores run at the same time, or take turns at any instruction, so others may be in the middle of a change: what
//! they may change counts as broken only if it stays so while they go on. What is this core's own is looked at once.

use crate::arch::cpu::time_stamp;
use crate::arch::serial::say;
use crate::arch::{floating_point, protect, slices};
use crate::component;
use crate::memory;
use crate::path::{self, Entry, Path, Scheduler};
use crate::percore::{self, Core};
use crate::stop;
use crate::thread::shared::SharedThread;
use crate::thread::{self, state, Thread};
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
use tactus_abi::layout::{MAX_COMPONENTS, MAX_CORES, MAX_SCHEDULERS, MAX_THREADS};

#[cfg(feature = "fault-injection")]
pub mod fault_injection;
mod pages;

/// The run ended because a rule was broken.
const END_BROKEN: u8 = 0x75;

/// When each core's time began to count, in time-stamp ticks.
static BEGAN: [AtomicU64; MAX_CORES] = [const { AtomicU64::new(0) }; MAX_CORES];
/// All threads are looked at on one of so many ways out; on the others, the one that goes on.
const WALKED: u64 = if cfg!(feature = "sample") { 512 } else { 16 };
/// Slots, time and pages are looked at on one of so many. What is broken on purpose is looked for sooner: the others go on, and
/// may give a slot anew that two had.
const THOROUGH: u64 = match (cfg!(feature = "fault-injection"), cfg!(feature = "sample")) {
    (true, _) => 512,
    (_, true) => 65_536,
    _ => 4_096,
};
/// How often something is looked at before it counts as broken.
const LOOKS: usize = 16;
/// For how long another core may stand still in the middle of a change where cores execute at the same time (microseconds).
const STANDS_STILL: u64 = 2_000_000;
/// How many ways out were checked.
static CHECKED: AtomicU64 = AtomicU64::new(0);
/// Threads that were seen in use, as bits.
static USED: [AtomicU64; MAX_THREADS.div_ceil(64)] = [const { AtomicU64::new(0) }; MAX_THREADS.div_ceil(64)];
/// The latest generation that was seen of each component's promotion.
static GENERATIONS: [AtomicU64; MAX_COMPONENTS] = [const { AtomicU64::new(0) }; MAX_COMPONENTS];

fn broken(rule: &str, number: u64) -> ! {
    say!("tactus: broken rule: {rule} ({number})");
    crate::machine::end(END_BROKEN)
}

/// The core's time begins to count.
pub fn begin(core: &Core) {
    BEGAN[core.id as usize % MAX_CORES].store(core.charged, Relaxed);
    if core.id == 0 {
        pages::begin();
        if let Some(address) = protect::writable_and_executable() {
            broken("a page of the kernel may be written and executed", address);
        }
    }
}

/// All threads in use. Other cores may have them, and change them while they are looked at.
fn threads() -> impl Iterator<Item = SharedThread> {
    (0..MAX_THREADS as u64).filter_map(SharedThread::of)
}

/// What this core answers for, on its way out.
pub fn way_out(core: &Core) {
    // SAFETY: the running thread, if any, is this core's.
    let current = unsafe { core.current.as_ref() };
    if let Some(thread) = current {
        goes_on(core, thread);
        one_path(thread.id, thread.path());
    }
    // A walk over all of them takes thousands of instructions: what stays broken is found a little later as well.
    let number = CHECKED.fetch_add(1, Relaxed);
    if number % WALKED == 0 || current.is_none() {
        walk(core);
    }
    if number % THOROUGH == 0 {
        thoroughly();
    }
}

/// The thread may run here and now.
fn goes_on(core: &Core, thread: &Thread) {
    if !SharedThread::of(thread.id.into()).is_some_and(|it| it.is_owned_by(core.id)) {
        broken("a core has the thread that it runs", thread.id.into());
    }
    if !thread.lacks(state::INACTIVE | state::STOPPED | state::SPARE) {
        broken("who runs is active", thread.id.into());
    }
    // It may be stopped by another core while this one is on its way: then its request to leave is still to come here.
    if component::get(thread.component).is_stopped() && stop::has_left(core, thread.component) {
        broken("nobody runs in a component that this core was told to leave", thread.id.into());
    }
    let open = component::get(thread.component).has_floating_point();
    if core.floating_point != open || floating_point::is_shut().is_some_and(|shut| shut == open) {
        broken("the floating-point unit is open to those alone who have it", thread.id.into());
    }
}

/// All threads, and the tree.
fn walk(core: &Core) {
    for number in 0..MAX_THREADS {
        let (place, bit) = (&USED[number / 64], 1 << (number % 64));
        // Before: another core may make it one and see it in use in between.
        let used = place.load(Relaxed) & bit != 0;
        if thread::get(number as u64).is_some() {
            place.fetch_or(bit, Relaxed);
        } else if used {
            broken("the root schedules every thread", number as u64);
        }
    }
    for thread in threads() {
        let kept = thread.is(core.current) || thread.is(core.upcall);
        if thread.is_owned_by(core.id) != kept {
            broken("a core has the thread that it runs, and its root upcall, and no other", thread.id().into());
        }
        one_path(thread.id(), thread.path());
    }
    tree(core);
}

/// What takes long to look at.
fn thoroughly() {
    slots();
    time();
    pages::look();
}

/// Whether it is wrong however often one looks, with others going on in between: what is broken stays so.
fn stays(wrong: impl Fn() -> bool) -> bool {
    let (began, mut looks) = (time_stamp(), 0);
    while wrong() {
        looks += 1;
        // A core of an emulated machine may stand still in the middle of a change for as long as the host likes. Where cores take
        // turns, the others have theirs with each look.
        let all = slices::are_there() || crate::machine::cores() == 1;
        if looks >= LOOKS && (all || time_stamp().wrapping_sub(began) > crate::machine::microseconds(STANDS_STILL)) {
            return true;
        }
        core::hint::spin_loop();
    }
    false
}

/// The schedulers that hold the thread are one way from the root down.
fn one_path(thread: u16, path: &Path) {
    if stays(|| (0..MAX_SCHEDULERS).any(|depth| !follows(path, depth))) {
        broken("a thread's schedulers are one path", thread.into());
    }
}

/// Whether the path's entry at this depth is void, or a scheduler of that depth below the entry above it. The first is the
/// root.
fn follows(path: &Path, depth: usize) -> bool {
    let identity = path.at(depth).identity();
    let standing = identity.and_then(|it| path::scheduler(it.component())).filter(|it| Some(it.identity) == identity);
    match standing {
        Some(it) if depth == 0 => it.depth == 0,
        Some(it) => it.depth == depth && it.parent().is_some_and(|parent| path.holds(parent)),
        None => depth != 0,
    }
}

/// There is one root; every other scheduler stands one step below its parent, who schedules its upcalls. Promotions are
/// counted upwards: what an older one gave stays void.
fn tree(core: &Core) {
    for number in 0..crate::machine::components() {
        if stays(|| !is_one_way(core, number)) {
            broken("a tree: one root, and every parent one step closer to it", number.into());
        }
        let generation = component::get(number).rank().generation();
        let before = GENERATIONS[usize::from(number) % MAX_COMPONENTS].fetch_max(generation, Relaxed);
        // Another core may have seen a newer one since this one looked.
        if before > generation && component::get(number).rank().generation() < before {
            broken("a component's promotions are counted upwards", number.into());
        }
        let child = || path::scheduler(number).filter(|it| it.depth != 0);
        if stays(|| child().is_some_and(|it| !has_upcalls_of(it))) {
            broken("a scheduler's upcalls are its parent's to dispatch", number.into());
        }
    }
}

/// Whether the component is no scheduler, or the root, or stands below a parent that is none any more, or that is one step
/// closer to the root.
fn is_one_way(core: &Core, number: u16) -> bool {
    let rank = component::get(number).rank();
    let own = rank.generation() == 0 || rank.identity().component() == number;
    let Some(depth) = rank.depth() else { return own };
    if depth == 0 || u64::from(number) == core.root {
        return own && depth == 0 && u64::from(number) == core.root;
    }
    let parent = component::get(rank.parent().component()).rank();
    let above = match parent.depth() {
        Some(above) if parent.identity() == rank.parent() => above + 1 == depth,
        _ => true,
    };
    own && above && depth < MAX_SCHEDULERS
}

/// Whether all upcalls of the scheduler have those above it on their path, and nobody else.
fn has_upcalls_of(scheduler: Scheduler) -> bool {
    let upcalls = component::get(scheduler.component()).upcalls;
    let mut threads = upcalls
        .iter()
        .take(crate::machine::cores())
        .filter_map(|it| it.checked_sub(1))
        .filter_map(|it| thread::any(it.into()));
    threads.all(|upcall| {
        // SAFETY: a path is of atomics.
        let path = unsafe { (*upcall).path() };
        path.at(scheduler.depth) == Entry::NONE && scheduler.parent().is_some_and(|parent| path.holds(parent))
    })
}

/// Slots belong to one holder.
fn slots() {
    for thread in threads() {
        for (scheduler, slot) in thread.path().holders().filter(|&(_, slot)| slot != 0) {
            let entry = Entry::new(scheduler.identity, slot);
            let same = |other: SharedThread| {
                !core::ptr::eq(other.path(), thread.path()) && other.path().at(scheduler.depth) == entry
            };
            let twice = || thread.path().at(scheduler.depth) == entry && threads().any(same);
            if stays(twice) {
                broken("a slot has one holder", slot.into());
            }
        }
    }
}

/// What threads used, in which time nobody ran, and what elapsed up to each core's last charge.
fn sums() -> [u64; 3] {
    // SAFETY: places of the table, read as they are.
    let used =
        (0..MAX_THREADS as u64).filter_map(thread::any).map(|it| unsafe { (&raw const (*it).used).read_volatile() });
    let (mut idle, mut elapsed) = (0, 0);
    for number in 0..crate::machine::cores() {
        let it = percore::of(number);
        // SAFETY: a core's block, read as it is.
        unsafe {
            idle += (&raw const (*it).idle).read_volatile();
            elapsed += (&raw const (*it).charged).read_volatile() - BEGAN[number % MAX_CORES].load(Relaxed);
        }
    }
    [used.sum(), idle, elapsed]
}

/// All time was charged to somebody.
fn time() {
    // Time begins to count when the core's root begins.
    let counts = BEGAN.iter().take(crate::machine::cores()).all(|it| it.load(Relaxed) != 0);
    let wrong = || {
        let [used, idle, elapsed] = sums();
        used + idle != elapsed
    };
    if counts && stays(wrong) {
        let [used, idle, elapsed] = sums();
        say!("tactus: {used} used + {idle} idle, {elapsed} elapsed");
        broken("used and idle time add up to what elapsed", used + idle);
    }
}

/// The end of a run: everything is looked at.
pub fn total(core: &Core) {
    walk(core);
    thoroughly();
    let (free, all) = memory::free();
    say!("tactus: {free} of {all} frames of the pool are free");
    let [used, idle, elapsed] = sums();
    say!(
        "tactus: checked {} ways out; {used} used + {idle} idle = {elapsed} elapsed on {} cores, core {} ends",
        CHECKED.load(Relaxed),
        crate::machine::cores(),
        core.id
    );
}
