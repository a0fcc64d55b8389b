//! What jobs do in the middle of their work where they signal and await events: step after step, when they have executed so long.

use tactus_policy::Running;
use tactus_task::{EventCall, JobAction, JobStep, Program};
use tactus_time::{Duration, Instant};

/// The programs of all tasks.
#[derive(Default)]
pub(crate) struct Bodies {
    programs: Vec<Program>,
    /// By task: the job of which steps were done, and how many.
    done: Vec<(u32, usize)>,
}

impl Bodies {
    pub(crate) fn new(programs: Vec<Program>) -> Bodies {
        Bodies { done: vec![(0, 0); programs.len()], programs }
    }

    /// The steps that the job has not done yet.
    fn ahead(&self, job: &Running) -> &[JobStep] {
        let task = job.task.index();
        let Some(program) = self.programs.get(task) else { return &[] };
        let (of, done) = self.done[task];
        let all = program.of_job(job.job);
        &all[if of == job.job { done.min(all.len()) } else { 0 }..]
    }

    /// When the job, which has the core from `now` on, does its next step, and whether it sleeps then; nothing if there is none.
    pub(crate) fn next(&self, job: &Running, now: Instant) -> Option<(Instant, bool)> {
        let step = self.ahead(job).first()?;
        let at = now.saturating_add(step.after.saturating_sub(job.charged));
        Some((at, matches!(step.action, JobAction::Sleep(_))))
    }

    /// The job sleeps now: how long; nothing if that is not its next step.
    pub(crate) fn sleep(&mut self, job: &Running) -> Option<Duration> {
        match self.ahead(job).first()?.action {
            JobAction::Sleep(length) => {
                self.count(job, 1);
                Some(length)
            }
            _ => None,
        }
    }

    /// What the job does to events now: its next step.
    pub(crate) fn calls(&mut self, job: &Running) -> Vec<EventCall> {
        let Some(step) = self.ahead(job).first() else { return Vec::new() };
        let calls = match step.action {
            JobAction::Sleep(_) => return Vec::new(),
            JobAction::Signal(event) => vec![EventCall::Signal(event)],
            JobAction::Broadcast(event) => vec![EventCall::Broadcast(event)],
            JobAction::Await { event, gives } => {
                gives.map(EventCall::Signal).into_iter().chain([EventCall::Await(event)]).collect()
            }
        };
        self.count(job, 1);
        calls
    }

    fn count(&mut self, job: &Running, more: usize) {
        let (of, done) = &mut self.done[job.task.index()];
        if std::mem::replace(of, job.job) != job.job {
            *done = 0;
        }
        *done += more;
    }
}
