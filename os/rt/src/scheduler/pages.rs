//! What the image gives a scheduler, and the pages that it shares with components and with other schedulers.

use crate::service::info;
use core::ptr::{addr_of, addr_of_mut};
use core::sync::atomic::{AtomicU64, Ordering};
use tactus_abi::layout::{
    CARDS, CHILD_PAGE, CHILD_PAGES, MAX_COMPONENTS, PAGE, PARENT_PAGE, PARENT_PAGES, PLAN, SECTION_PAGES, TASK_PAGES,
    WATCHED,
};
use tactus_abi::monitors::watched;
use tactus_abi::shared::{ChildPage, ParentPage, SectionPage, TaskCard, TaskPage, DEEPEST_SECTION, MISSES};
use tactus_time::{Duration, Instant, TaskId};

/// The encoded plan of this scheduler.
pub fn plan() -> &'static [u8] {
    match info().plan_bytes {
        0 => &[],
        // SAFETY: the image builder maps this number of bytes there, read-only, never changed.
        bytes => unsafe { core::slice::from_raw_parts(PLAN as *const u8, bytes as usize) },
    }
}

/// The cards of all tasks of the system.
pub fn task_cards() -> &'static [TaskCard] {
    match info().tasks {
        0 => &[],
        // SAFETY: the image builder maps this number of cards there, read-only, never changed.
        tasks => unsafe { core::slice::from_raw_parts(CARDS as *const TaskCard, tasks as usize) },
    }
}

/// The events that jobs of the task with this card may signal and await: words as [`tactus_abi::shared::TaskCard::events`] tells.
pub fn event_rights(card: &TaskCard) -> &'static [u64] {
    let (first, count) = (card.events as u32 as usize, (card.events >> 32) as usize);
    let rows = (CARDS as *const TaskCard).wrapping_add(task_cards().len()).cast::<u64>();
    match count {
        0 => &[],
        // SAFETY: the image builder maps these rows there, behind the cards, read-only, never changed.
        _ => unsafe { core::slice::from_raw_parts(rows.wrapping_add(first), count) },
    }
}

/// The events that monitors watch and the root scheduler tells of, and whether a monitor has a clock; nothing if the system has no
/// monitors, or this is not the root.
pub fn watched_rows() -> Option<(&'static [[u32; watched::ROW]], bool)> {
    if info().watched == 0 {
        return None;
    }
    let head = WATCHED as *const u32;
    // SAFETY: the image builder maps these words there, read-only, never changed: their number, a mark, and the rows.
    unsafe {
        let rows = core::slice::from_raw_parts(head.add(watched::HEAD).cast(), head.read() as usize);
        Some((rows, head.add(1).read() != 0))
    }
}

/// The window of task pages holds as many pages as this.
const TASK_WINDOW: u64 = 4096;

/// The page of a task, inside the window.
#[inline(always)]
fn page_of(task: TaskId) -> *mut TaskPage {
    (TASK_PAGES + u64::from(task.0) % TASK_WINDOW * PAGE) as *mut TaskPage
}

/// Publishes to the task's component which job its thread runs: its number and charge, the time stamp since when, its release.
#[inline(always)]
pub fn publish_job(task: TaskId, job: u32, charged: Duration, since: u64, release: Instant) {
    let page = page_of(task);
    // SAFETY: inside the window of task pages; its words are whole. Field by field: the whole would go through the stack.
    unsafe {
        addr_of_mut!((*page).job).write_volatile(job.into());
        addr_of_mut!((*page).charged).write_volatile(charged.as_nanos());
        addr_of_mut!((*page).since).write_volatile(since);
        addr_of_mut!((*page).release).write_volatile(release.as_nanos());
    }
}

/// Publishes to the task's component that its process missed this deadline (ns).
pub fn publish_miss(task: TaskId, deadline: u64) {
    let page = page_of(task);
    // SAFETY: inside the window of task pages; its words are whole. The last of them says that there is one more.
    unsafe {
        let missed = addr_of!((*page).missed).read_volatile();
        addr_of_mut!((*page).missed_at[missed as usize % MISSES]).write_volatile(deadline);
        addr_of_mut!((*page).missed).write_volatile(missed.wrapping_add(1));
    }
}

/// The job that was published last for the task; none if none was.
pub fn published_job(task: TaskId) -> Option<u64> {
    let page = page_of(task);
    // SAFETY: inside the window of task pages; its words are whole.
    let (job, since) = unsafe { (addr_of!((*page).job).read_volatile(), addr_of!((*page).since).read_volatile()) };
    (since != 0).then_some(job)
}

/// Publishes to the task's component whether the scheduler is to be told as soon as its job leaves a critical section.
pub fn publish_awaited(task: TaskId, awaited: bool) {
    // SAFETY: inside the window of task pages; its words are whole.
    unsafe { addr_of_mut!((*page_of(task)).awaited).write_volatile(awaited.into()) };
}

/// The page of sections of a task, inside their window.
fn section_page_of(task: TaskId) -> *mut SectionPage {
    (SECTION_PAGES + u64::from(task.0) % TASK_WINDOW * PAGE) as *mut SectionPage
}

/// What the task's component says that its job holds, and since when it holds each, the outermost first: readings of the time-stamp
/// counter. Only for tasks with critical sections.
pub fn held_sections(task: TaskId) -> (u32, [u64; DEEPEST_SECTION]) {
    let page = section_page_of(task);
    // SAFETY: the image maps this page for every task with critical sections; its words are whole.
    unsafe {
        let held = addr_of!((*page).held).read_volatile();
        (held as u32, addr_of!((*page).since).read_volatile())
    }
}

/// Whether the task's component says that its job holds nothing. Only for tasks with critical sections.
#[inline(always)]
pub fn holds_nothing(task: TaskId) -> bool {
    // SAFETY: as above.
    unsafe { addr_of!((*section_page_of(task)).held).read_volatile() == 0 }
}

/// The task's job has ended: it holds nothing. Only for tasks with critical sections.
pub fn release_sections(task: TaskId) {
    // SAFETY: as above; the task's thread does not run.
    unsafe { addr_of_mut!((*section_page_of(task)).held).write_volatile(0) };
}

/// Publishes to the task's component before which sections its job must call, a bit for each resource. Only for tasks with critical
/// sections.
pub fn publish_locked(task: TaskId, locked: &[u64; 4]) {
    // SAFETY: as above; the task's thread does not run.
    unsafe {
        let page = section_page_of(task);
        let mut some = 0;
        for (n, word) in locked.iter().copied().enumerate() {
            addr_of_mut!((*page).locked[n]).write_volatile(word);
            some |= word;
        }
        addr_of_mut!((*page).some_locked).write_volatile(some);
    }
}

/// Publishes what a child scheduler has counted, to its parent and the root. It is the only writer.
pub fn publish_counts(counts: ChildPage) {
    // SAFETY: this scheduler's own page.
    unsafe { (CHILD_PAGE as *mut ChildPage).write_volatile(counts) };
}

/// What the child scheduler with this number published. For the root, which has the pages of all of them.
pub fn child_counts(component: u64) -> ChildPage {
    // SAFETY: inside the window of the children's pages.
    unsafe { ((CHILD_PAGES + component % MAX_COMPONENTS as u64 * PAGE) as *const ChildPage).read_volatile() }
}

/// Words of a set of all components.
const WORDS: usize = MAX_COMPONENTS / 64;

/// Components that stay stopped.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct StoppedSet([u64; WORDS]);

impl StoppedSet {
    fn bit(component: u32) -> (usize, u64) {
        ((component / 64) as usize % WORDS, 1 << (component % 64))
    }

    /// Adds a component.
    pub fn insert(&mut self, component: u32) {
        let (word, bit) = StoppedSet::bit(component);
        self.0[word] |= bit;
    }

    /// Whether the component is in the set.
    pub fn contains(&self, component: u32) -> bool {
        let (word, bit) = StoppedSet::bit(component);
        self.0[word] & bit != 0
    }

    /// The set that the parent scheduler has published. For child schedulers.
    pub fn of_parent() -> StoppedSet {
        let page = PARENT_PAGE as *const ParentPage;
        // SAFETY: this scheduler's own page; words are whole.
        StoppedSet(core::array::from_fn(|word| unsafe { addr_of!((*page).stopped[word]).read_volatile() }))
    }

    /// Adds the set to what the child scheduler with this number is told.
    pub fn publish_to(&self, component: u64) {
        let page = (PARENT_PAGES + component % MAX_COMPONENTS as u64 * PAGE) as *mut ParentPage;
        for (word, set) in self.0.iter().enumerate().filter(|(_, set)| **set != 0) {
            // SAFETY: inside the window of the parent's pages; all cores change these words so.
            unsafe { AtomicU64::from_ptr(addr_of_mut!((*page).stopped[word])) }.fetch_or(*set, Ordering::Release);
        }
    }
}
