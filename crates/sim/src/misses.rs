//! The lines that running jobs ask memory for, or make it take back: a number for each job, evenly over its execution.

use tactus_policy::Running;
use tactus_time::Duration;

/// What the jobs of each task ask memory for.
#[derive(Default)]
pub struct Misses(Vec<u32>);

impl Misses {
    /// By task, how many lines each of its jobs asks for.
    pub fn new(lines: Vec<u32>) -> Misses {
        Misses(lines)
    }

    /// Whether jobs of the task ask for any.
    pub fn has(&self, job: &Running) -> bool {
        self.0.get(job.task.index()).is_some_and(|lines| *lines > 0)
    }

    /// What the job has asked for while it executed for `ran` more than it was charged when it was given the core. It executes for
    /// `demand` in all.
    pub fn asked(&self, job: &Running, ran: Duration, demand: Duration) -> u32 {
        let lines = self.0.get(job.task.index()).copied().unwrap_or(0);
        let whole = u128::from(demand.as_nanos().max(1));
        let until = |charged: Duration| u128::from(lines) * u128::from(charged.min(demand).as_nanos()) / whole;
        (until(job.charged.checked_add(ran).unwrap_or(Duration::MAX)) - until(job.charged)) as u32
    }
}
