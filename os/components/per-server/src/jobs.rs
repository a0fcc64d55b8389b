//! Which job a task's thread is in, so that a thread in the middle of a job that the policy ended is restarted with the next.

use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// One task's. Only its core uses it.
#[derive(Default)]
pub struct JobState {
    /// The last job that was finished, plus one.
    finished: AtomicU64,
    /// The last job that its thread was made ready for, plus one.
    begun: AtomicU64,
}

impl JobState {
    /// Its last job is finished.
    pub fn finish(&self) {
        self.finished.store(self.begun.load(Relaxed), Relaxed);
    }

    /// Whether the thread is in the middle of a job before this one.
    pub fn is_behind(&self, job: u32) -> bool {
        let begun = self.begun.load(Relaxed);
        begun <= u64::from(job) && begun != self.finished.load(Relaxed)
    }

    /// The thread is ready for the job.
    pub fn begin(&self, job: u32) {
        self.begun.fetch_max(u64::from(job) + 1, Relaxed);
    }
}
