//! A task's jobs, as its component sees them.

use crate::calls::BrandOperation;
use crate::{calls, clock, info};
use tactus_abi::layout::{PAGE, SECTION_PAGE, TASK_PAGE};
#[cfg(feature = "apex")]
use tactus_abi::shared::MISSES;
use tactus_abi::shared::{is_complete, SectionPage, TaskPage, DEEPEST_SECTION, EVENT, MAX_SECTIONS, TOO_OFTEN, WAIT};
use tactus_abi::slot::label_text;
use tactus_time::{Duration, Instant};

/// The running job of a task.
pub struct Job {
    task: u32,
}

impl Job {
    fn page(&self) -> *const TaskPage {
        (TASK_PAGE + u64::from(self.task) * PAGE) as *const TaskPage
    }

    /// The task's number; in a slot its place there.
    pub fn task(&self) -> u32 {
        self.task
    }

    /// Which of its component's tasks it is: 0 for the first in the file, or in the package, 1 for the next, and so on.
    pub fn index(&self) -> usize {
        // SAFETY: as in `Job::number`; written by the image builder alone.
        unsafe { (&raw const (*self.page()).index).read() as usize }
    }

    /// The task's name in the system file; in a slot that of its place there, such as `guest.0`.
    pub fn name(&self) -> &str {
        // SAFETY: as in `Job::number`; written by the image builder alone.
        label_text(unsafe { &(*self.page()).name })
    }

    /// The job's number, counted from 0.
    pub fn number(&self) -> u64 {
        // SAFETY: the task's page is mapped read-only into its component; the scheduler writes it only while the
        // task's thread does not run.
        unsafe { (*self.page()).job }
    }

    /// When the job was to be released, whatever the delay.
    pub fn release(&self) -> Instant {
        // SAFETY: as above.
        Instant::from_nanos(unsafe { (*self.page()).release })
    }

    /// How often the task's process has missed a deadline.
    #[cfg(feature = "apex")]
    pub(crate) fn misses(&self) -> u64 {
        // SAFETY: as above. Read as volatile: the scheduler of another core may write it meanwhile.
        unsafe { (&raw const (*self.page()).missed).read_volatile() }
    }

    /// The first deadline (ns) that the task's process has missed after so many that are known; nothing if it has missed no more. Of
    /// too many that are not known, the first whose time is still there.
    #[cfg(feature = "apex")]
    pub(crate) fn missed_after(&self, known: u64) -> Option<u64> {
        let missed = self.misses();
        let first = known.max(missed.saturating_sub(MISSES as u64)) as usize;
        // SAFETY: as above; the time stands there before the count says so.
        (known != missed).then(|| unsafe { (&raw const (*self.page()).missed_at[first % MISSES]).read_volatile() })
    }

    /// What the job has been charged so far: all time from the decisions that gave it a core to those that took it
    /// away.
    pub fn charged(&self) -> Duration {
        let (charged, since, now) = self.account();
        Duration::from_nanos(charged + clock::ticks_to_nanos(now.saturating_sub(since)))
    }

    /// When the job will have been charged this much if it keeps its core: a reading of the counter of time, on a machine
    /// whose counter counts nanoseconds, as an emulated one's does.
    pub fn charged_at(&self, demand: Duration) -> u64 {
        let (charged, since, _) = self.account();
        since + demand.as_nanos().saturating_sub(charged)
    }

    /// What it was charged (ns) before it was given its core, when that was, and the counter of time now.
    fn account(&self) -> (u64, u64, u64) {
        let page = self.page();
        loop {
            // SAFETY: as above. Read as volatile, since a preemption between the reads changes the page; what it changes is seen
            // by what is read first and last.
            let (since, charged) =
                unsafe { ((&raw const (*page).since).read_volatile(), (&raw const (*page).charged).read_volatile()) };
            let now = clock::time_stamp();
            // SAFETY: as above.
            let same = unsafe { (&raw const (*page).since).read_volatile() } == since;
            if same {
                return (charged, since, now);
            }
        }
    }
}

/// Waiting: the job has no use for a core until then, and others have it. A job waits no longer, and no more often, than its task's
/// `waits` declare, and not while it is in a critical section.
impl Job {
    /// Waits until this point in time, or as long as the task may. Returns when the job has a core again; false, and at once, if the
    /// task declares no waits.
    pub fn wait_until(&self, instant: Instant) -> bool {
        matches!(crate::grant(WAIT).call([instant.as_nanos(), 0, 0, 0, 0]), Ok([0, _]))
    }

    /// Waits for this long from now on, or as long as the task may. As [`Job::wait_until`].
    pub fn wait(&self, length: Duration) -> bool {
        self.wait_until(clock::now().saturating_add(length))
    }
}

/// Interrupts: a line that releases the task's jobs is silent from one interrupt until a job acknowledges it.
impl Job {
    /// The interrupt line that releases the task's jobs, if one does.
    pub fn line(&self) -> Option<u64> {
        // SAFETY: as in `Job::number`; written by the image builder alone.
        unsafe { (&raw const (*self.page()).line).read() }.checked_sub(1)
    }

    /// The device has been served, and may interrupt again. False, and nothing else, if no line releases the task's jobs.
    pub fn acknowledge(&self) -> bool {
        let Some(line) = self.line() else { return false };
        calls::brand_control(BrandOperation::AcknowledgeLine, line, 0).is_ok()
    }
}

/// Events: jobs await what others signal. Only for tasks that do so by their file.
impl Job {
    /// Waits until the event lets the job go on, and at the same instant gives a semaphore back, if one is named.
    pub fn await_event(&self, event: u16, gives: Option<u16>) {
        self.event([0, event.into(), gives.map_or(0, |gives| u64::from(gives) + 1)]);
    }

    /// Lets one go on that awaits the event, or `all`.
    pub fn signal(&self, event: u16, all: bool) {
        self.event([1 + u64::from(all), event.into(), 0]);
    }

    fn event(&self, [action, event, gives]: [u64; 3]) {
        // Refused only if the image does not grant it, which the image builder does for such tasks.
        let _ = crate::grant(EVENT).call([action, event, gives, 0, 0]);
    }
}

/// A critical section of a task's jobs, as the system file declares it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CriticalSection {
    /// What a job of the built-in workload has been charged when it enters the section,
    pub from: Duration,
    /// and when it leaves it.
    pub until: Duration,
}

/// Critical sections: the job holds a resource from [`Job::enter`] to [`Job::leave`]. Neither calls the scheduler, but the end of a
/// section for which another job waits, and the beginning of one that may be another job's. It is the scheduler that keeps others off; how depends on the resource's protocol.
impl Job {
    /// How many critical sections the system file declares for each job of the task.
    #[inline]
    pub fn sections(&self) -> usize {
        // SAFETY: as in `Job::number`; written by the image builder alone.
        (unsafe { (*self.page()).sections } as usize).min(MAX_SECTIONS)
    }

    /// The page of sections. Only where there are some.
    fn section_page(&self) -> *mut SectionPage {
        (SECTION_PAGE + u64::from(self.task) * PAGE) as *mut SectionPage
    }

    /// The section with this number, counted from 0 in the order of the system file; nothing if there is none.
    pub fn section(&self, number: usize) -> Option<CriticalSection> {
        (number < self.sections()).then(|| {
            // SAFETY: the page is mapped for a task with sections; only this thread uses it while it runs, but for `held` at the end
            // of a job, which the scheduler clears.
            let card = unsafe { (&raw const (*self.section_page()).sections[number]).read() };
            CriticalSection { from: Duration::from_nanos(card.from), until: Duration::from_nanos(card.until) }
        })
    }

    /// Enters the section with this number; waits until its resource is free, where its protocol has jobs wait. False, and nothing else, if there is none, too many
    /// resources are held already, or the resource is another job's and this one has asked far more often than its task declares.
    #[inline]
    pub fn enter(&self, number: usize) -> bool {
        // SAFETY: as in `Job::sections`.
        if number >= MAX_SECTIONS || number as u64 >= unsafe { (&raw const (*self.page()).sections).read() } {
            return false;
        }
        let page = self.section_page();
        // SAFETY: as in `Job::section`.
        unsafe {
            let held = (&raw const (*page).held).read_volatile();
            if held != 0 {
                return self.enter_inside(number, held);
            }
            let resource = (&raw const (*page).sections[number].resource).read();
            // First the time, so that whoever sees the resource sees since when it is held.
            (&raw mut (*page).since[0]).write_volatile(clock::time_stamp());
            (&raw mut (*page).held).write_volatile(resource + 1);
            // Then whether it may be another's: if that changes in between, it is since the scheduler was here and saw what is wanted.
            if (&raw const (*page).some_locked).read_volatile() != 0 && !self.ask_where_locked(resource) {
                (&raw mut (*page).held).write_volatile(0);
                return false;
            }
        }
        true
    }

    /// As [`Job::enter`], inside the sections `held`.
    #[inline(never)]
    fn enter_inside(&self, number: usize, held: u64) -> bool {
        let page = self.section_page();
        let depth = (u64::BITS - held.leading_zeros()).div_ceil(8) as usize;
        if depth >= DEEPEST_SECTION {
            return false;
        }
        // SAFETY: as in `Job::section`; the number was looked at.
        unsafe {
            let resource = (&raw const (*page).sections[number % MAX_SECTIONS].resource).read();
            // As in `Job::enter`.
            (&raw mut (*page).since[depth]).write_volatile(clock::time_stamp());
            (&raw mut (*page).held).write_volatile(held | (resource + 1) << (8 * depth));
            if (&raw const (*page).some_locked).read_volatile() != 0 && !self.ask_where_locked(resource) {
                (&raw mut (*page).held).write_volatile(held);
                return false;
            }
        }
        true
    }

    /// Leaves the section that was entered last, if there is one.
    #[inline]
    pub fn leave(&self) {
        // SAFETY: as in `Job::sections`.
        if unsafe { (&raw const (*self.page()).sections).read() } == 0 {
            return;
        }
        let page = self.section_page();
        // SAFETY: as in `Job::section` and in `Job::number`.
        let awaited = unsafe {
            let held = (&raw const (*page).held).read_volatile();
            let outer = if held > 0xff { outer(held) } else { 0 };
            (&raw mut (*page).held).write_volatile(outer);
            (&raw const (*self.page()).awaited).read_volatile()
        };
        if awaited != 0 {
            self.tell(0);
        }
    }

    /// Some sections may be another job's: asks for this resource, if that is one. Whether the job may have it.
    #[cold]
    #[inline(never)]
    fn ask_where_locked(&self, resource: u64) -> bool {
        // SAFETY: as in `Job::section`.
        let locked =
            unsafe { (&raw const (*self.section_page()).locked[(resource / 64 % 4) as usize]).read_volatile() };
        locked & 1 << (resource % 64) == 0 || self.tell(1)
    }

    /// Tells the scheduler that a section ended for which a job waits (0), or that the job wants to enter the one that it entered last
    /// (1); then this comes back when it has the resource. False if the job has called far more often than its task declares: then nothing
    /// was done.
    #[cold]
    #[inline(never)]
    fn tell(&self, asks: u64) -> bool {
        // SAFETY: as in `Job::section`.
        let grant = unsafe { (&raw const (*self.section_page()).grant).read() };
        // An error comes only if the image does not grant it, which the image builder does.
        calls::invoke(grant, [asks, 0, 0, 0, 0]) != Ok([TOO_OFTEN, 0])
    }

    /// Runs `body` in the section with this number; does nothing, and gives nothing, if [`Job::enter`] is refused.
    pub fn hold<T>(&self, number: usize, body: impl FnOnce() -> T) -> Option<T> {
        self.enter(number).then(|| {
            let value = body();
            self.leave();
            value
        })
    }
}

impl Job {
    /// The number of the grant by which the task's scheduler is told that a job is finished.
    fn end_grant(&self) -> u64 {
        // SAFETY: the task's page, see `Job::number`.
        let complete = unsafe { (*self.page()).complete };
        // The task's scheduler could write there; but it cannot make the thread call a service.
        let is_end = info().grants.get(complete as usize).is_some_and(|name| is_complete(name));
        if is_end {
            complete
        } else {
            0
        }
    }

    /// The running job of the task with this number, whose thread calls.
    #[cfg(feature = "apex")]
    pub(crate) fn of(task: u32) -> Job {
        Job { task }
    }

    /// Ends the job. Comes back when the next one is given a core.
    #[cfg(feature = "apex")]
    pub(crate) fn end(&self) {
        if calls::invoke(self.end_grant(), [self.number().wrapping_add(1), 0, 0, 0, 0]).is_err() {
            calls::give_up();
        }
    }
}

/// What is held when the innermost of several sections is left.
#[inline(never)]
fn outer(held: u64) -> u64 {
    let depth = (u64::BITS - held.leading_zeros()).div_ceil(8);
    held & !(0xff << (8 * depth.saturating_sub(1)))
}

/// Runs `body` once for each job, for ever. The thread begins when the first job is given a core.
pub fn run_jobs(task: u32, body: fn(&Job)) -> ! {
    let job = Job { task };
    let complete = job.end_grant();
    loop {
        // A job that is killed while it says that it is finished must not end the next one: it says which it is, plus one.
        let number = job.number().wrapping_add(1);
        body(&job);
        // Comes back when the next job is given a core.
        if calls::invoke(complete, [number, 0, 0, 0, 0]).is_err() {
            calls::give_up();
        }
    }
}
