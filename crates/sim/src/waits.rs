//! The waits of jobs: after how much execution a job asks to wait, and for how long.

use tactus_policy::Running;
use tactus_task::Wait;
use tactus_time::Instant;

/// The waits of all tasks.
#[derive(Default)]
pub(crate) struct Waits {
    /// By task; those that come earlier first.
    waits: Vec<Vec<Wait>>,
    /// By task: the job that asked last, and how often it did.
    asked: Vec<(u32, usize)>,
}

impl Waits {
    pub(crate) fn new(mut waits: Vec<Vec<Wait>>) -> Waits {
        waits.iter_mut().for_each(|of_task| of_task.sort_by_key(|wait| wait.after));
        Waits { asked: vec![(0, 0); waits.len()], waits }
    }

    /// When the job, which has the core from `now` on, asks to wait next.
    pub(crate) fn next(&self, job: &Running, now: Instant) -> Instant {
        let Some(of_task) = self.waits.get(job.task.index()) else { return Instant::NEVER };
        let next = of_task.get(self.count(job));
        next.map_or(Instant::NEVER, |wait| now.saturating_add(wait.after.saturating_sub(job.charged)))
    }

    /// The job asks now: until when.
    pub(crate) fn take(&mut self, job: &Running, now: Instant) -> Instant {
        let count = self.count(job);
        let Some(wait) = self.waits.get(job.task.index()).and_then(|of_task| of_task.get(count)) else { return now };
        self.asked[job.task.index()] = (job.job, count + 1);
        now.saturating_add(wait.length)
    }

    /// How often the job has asked.
    fn count(&self, job: &Running) -> usize {
        let (asked, count) = self.asked[job.task.index()];
        if asked == job.job {
            count
        } else {
            0
        }
    }
}
