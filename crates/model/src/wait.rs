//! Jobs that wait in the middle of their work.

use crate::{Scheduling, System, Wait};
use tactus_task::{JobAction, JobStep, JobSteps, WaitLimit};
use tactus_time::Duration;

impl Scheduling {
    /// The waits of the task's jobs, those that come earlier first.
    pub fn waits_of(&self, task: usize) -> &[Wait] {
        self.waits.get(task).map_or(&[], Vec::as_slice)
    }

    /// How often and how long jobs of the task may wait.
    pub fn wait_limit(&self, task: usize) -> WaitLimit {
        let waits = self.waits_of(task);
        // Where jobs signal and await events, their programs tell.
        let sleeps = |body: &Vec<JobStep>| -> Vec<Duration> {
            let length = |step: &JobStep| match step.action {
                JobAction::Sleep(length) => Some(length),
                _ => None,
            };
            body.iter().filter_map(length).collect()
        };
        let bodies = self.programs.get(task).map_or(&[][..], |program| program.bodies.as_slice());
        let bodies: Vec<Vec<Duration>> = bodies.iter().map(sleeps).collect();
        let most = bodies.iter().map(Vec::len).max().unwrap_or(0).max(waits.len());
        let lengths = waits.iter().map(|wait| wait.length).chain(bodies.into_iter().flatten());
        WaitLimit { most: most as u16, longest: lengths.max().unwrap_or(Duration::ZERO) }
    }
}

impl System {
    /// What jobs of the built-in workload do beside executing.
    pub fn job_steps(&self) -> JobSteps {
        let wait = |it: &Wait| tactus_task::Wait { after: it.after, length: it.actual.unwrap_or(it.length) };
        let waits = self.scheduling.waits.iter().map(|all| all.iter().map(wait).collect()).collect();
        let lines = |n| self.scheduling.regulated_by(n).and_then(|_| self.scheduling.misses_of(n)).unwrap_or(0);
        let misses = (0..self.tasks.len()).map(lines).collect();
        let regulated = |n| self.scheduling.regulated_by(n).and_then(|at| self.scheduling.servers[at].write_backs);
        let written = |n| regulated(n).and_then(|_| self.scheduling.write_backs_of(n)).unwrap_or(0);
        let write_backs = (0..self.tasks.len()).map(written).collect();
        let services = self.services.iter().map(|service| service.steps(self)).collect();
        let sampled = self.tasks.iter().enumerate().map(|(n, task)| self.scheduling.sampled_of(n, task.core)).collect();
        let programs = self.scheduling.programs.clone();
        JobSteps {
            sections: self.critical_sections(),
            waits,
            programs,
            services,
            misses,
            write_backs,
            sampled,
            loader: None,
        }
    }
}
