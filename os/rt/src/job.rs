//! A task's jobs, as its component sees them.

use crate::{calls, clock, info};
use tactus_abi::layout::{PAGE, TASK_PAGE};
use tactus_abi::shared::{is_complete, TaskPage};
use tactus_time::{Duration, Instant};

/// The running job of a task.
pub struct Job {
    task: u32,
}

impl Job {
    fn page(&self) -> *const TaskPage {
        (TASK_PAGE + u64::from(self.task) * PAGE) as *const TaskPage
    }

    /// The task's number.
    pub fn task(&self) -> u32 {
        self.task
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

    /// What the job has been charged so far: all time from the decisions that gave it a core to those that took it
    /// away.
    pub fn charged(&self) -> Duration {
        let (charged, since, now) = self.account();
        Duration::from_nanos(charged + clock::ticks_to_nanos(now.saturating_sub(since)))
    }

    /// When the job will have been charged this much if it keeps its core: a reading of the time-stamp counter, on a machine
    /// whose counter counts nanoseconds, as an emulated one's does.
    pub fn charged_at(&self, demand: Duration) -> u64 {
        let (charged, since, _) = self.account();
        since + demand.as_nanos().saturating_sub(charged)
    }

    /// What it was charged (ns) before it was given its core, when that was, and the time-stamp counter now.
    fn account(&self) -> (u64, u64, u64) {
        let page = self.page();
        loop {
            // SAFETY: as above. Read as volatile, since a preemption between the reads changes the page.
            let (charged, since) =
                unsafe { ((&raw const (*page).charged).read_volatile(), (&raw const (*page).since).read_volatile()) };
            let now = clock::time_stamp();
            // SAFETY: as above.
            let same = unsafe { (&raw const (*page).since).read_volatile() } == since;
            if same {
                return (charged, since, now);
            }
        }
    }
}

/// Runs `body` once for each job, for ever. The thread begins when the first job is given a core.
pub fn run_jobs(task: u32, body: fn(&Job)) -> ! {
    let job = Job { task };
    // SAFETY: the task's page, see `Job::number`.
    let complete = unsafe { (*job.page()).complete };
    // The task's scheduler could write there; but it cannot make the thread call a service.
    let is_end = info().grants.get(complete as usize).is_some_and(|name| is_complete(name));
    let complete = if is_end { complete } else { 0 };
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
