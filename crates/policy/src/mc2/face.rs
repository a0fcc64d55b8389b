//! What a core shows: the job that it runs and the ghosts that are selected on it; and the records of every change.

use super::job::{Ghost, Job};
use crate::records::Recorder;
use tactus_record::EventKind;

/// What a core does between two decisions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Doing {
    Nothing,
    Idle,
    Job(Job),
}

/// One core's face.
pub(crate) struct Face {
    pub(crate) doing: Doing,
    /// The ghosts that are selected since the last decision, at A, B and C.
    pub(crate) ghosts: [Option<Ghost>; 3],
}

impl Face {
    /// That of a core that has not decided yet.
    pub(crate) fn new() -> Face {
        Face { doing: Doing::Nothing, ghosts: [None; 3] }
    }

    /// The job on the core.
    pub(crate) fn job(&self) -> Option<Job> {
        match self.doing {
            Doing::Job(job) => Some(job),
            Doing::Nothing | Doing::Idle => None,
        }
    }

    /// Writes down what changes on the core: ghosts that end, the job that leaves, ghosts that begin, the new job.
    pub(crate) fn switch(
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
            None if self.doing != Doing::Idle => records.core(EventKind::Idle, 0),
            _ => {}
        }
        self.ghosts = ghosts;
        self.doing = run.map_or(Doing::Idle, Doing::Job);
    }
}
