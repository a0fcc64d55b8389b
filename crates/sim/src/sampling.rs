//! The counters to which best-effort work gives way: what running jobs make them count, and when the policy is told.

use crate::misses::Misses;
use tactus_policy::{PolicyConfig, Running, Sampler};
use tactus_time::{CoreId, Duration, Instant};

/// The counters of all cores.
#[derive(Default)]
pub struct Counters {
    /// By task, what each of its jobs makes its core's counter count.
    events: Misses,
    /// By core; nothing where nobody gives way.
    cores: Vec<Option<(Sampler, u32)>>,
}

impl Counters {
    /// All at zero.
    pub fn new(setup: &PolicyConfig, events: Vec<u32>) -> Counters {
        let one = |core| Sampler::of(setup, CoreId(core as u8)).map(|sampler| (sampler, 0));
        Counters { events: Misses::new(events), cores: (0..setup.cores).map(one).collect() }
    }

    /// A job has executed on the core for `ran` more than it was charged when it was given the core; `demand` is all of its execution.
    pub fn count(&mut self, core: usize, job: &Running, (ran, demand): (Duration, Duration)) {
        if let Some(Some((_, counted))) = self.cores.get_mut(core) {
            *counted = counted.saturating_add(self.events.asked(job, ran, demand));
        }
    }

    /// Whether the core's counter counts anything of the job.
    pub fn has(&self, core: usize, job: &Running) -> bool {
        matches!(self.cores.get(core), Some(Some(_))) && self.events.has(job)
    }

    /// What the policy is to be told at `now`, if a period is over.
    pub fn sample(&mut self, core: usize, now: Instant) -> Option<u32> {
        let (sampler, counted) = self.cores.get_mut(core)?.as_mut()?;
        sampler.is_due(now).then(|| core::mem::take(counted))
    }
}
