//! What a core shows: the job that it runs and the ghosts that are selected on it; and the records of every change.

use super::job::{Ghost, Job};
use crate::records::Recorder;
use tactus_record::EventKind;

/// What a core does between two decisions.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Activity {
    /// It has not decided anything yet.
    #[default]
    Nothing,
    /// It is idle.
    Idle,
    /// It runs this job.
    Job(Job),
}

/// One core's status; the default is that of a core that has not decided yet.
#[derive(Default)]
pub struct CoreStatus {
    /// What it does since the last decision.
    pub activity: Activity,
    /// The ghosts that are selected since the last decision, at A, B and C.
    pub ghosts: [Option<Ghost>; 3],
}

impl CoreStatus {
    /// The job on the core.
    pub fn job(&self) -> Option<Job> {
        match self.activity {
            Activity::Job(job) => Some(job),
            Activity::Nothing | Activity::Idle => None,
        }
    }

    /// Writes down what changes on the core: ghosts that end, the job that leaves, ghosts that begin, the new job.
    pub fn switch(
        &mut self,
        ghosts: [Option<Ghost>; 3],
        unfinished: Option<Job>,
        run: Option<Job>,
        records: &mut Recorder,
    ) {
        for (before, after) in self.ghosts.iter().zip(&ghosts) {
            if let Some(ghost) = before.filter(|ghost| !ghost.is(after)) {
                records.job(EventKind::GhostEnd, ghost.name, ghost.job, ghost.left.as_nanos());
            }
        }
        if let Some(job) = unfinished.filter(|job| Some(*job) != run) {
            records.job(EventKind::Preempt, job.name, job.number, 0);
        }
        for (before, after) in self.ghosts.iter().zip(&ghosts) {
            if let Some(ghost) = after.filter(|ghost| !ghost.is(before)) {
                records.job(EventKind::GhostBegin, ghost.name, ghost.job, ghost.left.as_nanos());
            }
        }
        match run {
            Some(job) if unfinished != run => records.job(EventKind::Dispatch, job.name, job.number, 0),
            None if self.activity != Activity::Idle => records.core(EventKind::Idle, 0),
            _ => {}
        }
        self.ghosts = ghosts;
        self.activity = run.map_or(Activity::Idle, Activity::Job);
    }
}
