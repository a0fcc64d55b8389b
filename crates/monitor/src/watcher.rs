//! A monitor at work, with or without a clock: what runs in the simulator, in the kernel and over an old trace.

use crate::clock::TimedStepper;
use crate::step::{Step, Stepper};
use crate::verdict::Verdict;
use tactus_time::Instant;

/// A monitor at work, with or without a clock.
#[derive(Clone, Copy, Debug)]
pub enum Watcher<'t> {
    /// Without.
    Untimed(Stepper<'t>),
    /// With.
    Timed(TimedStepper<'t>),
}

impl Watcher<'_> {
    /// Takes one event, by its column, and when it happens.
    #[inline]
    pub fn step(&mut self, event: u32, now: Instant) -> Step {
        match self {
            Watcher::Untimed(stepper) => stepper.step(event),
            Watcher::Timed(stepper) => stepper.step(event, now),
        }
    }
    /// The last instant at which the awaited event is in time, if one is awaited.
    #[inline]
    pub fn expiry(&self) -> Option<Instant> {
        match self {
            Watcher::Untimed(_) => None,
            Watcher::Timed(stepper) => stepper.expiry(),
        }
    }
    /// Tells that it is `now`. Where the awaited event did not come before, since when it is certain, and the verdict.
    #[inline]
    pub fn expire(&mut self, now: Instant) -> Option<(Instant, Verdict)> {
        let Watcher::Timed(stepper) = self else { return None };
        let expiry = stepper.expiry().filter(|expiry| *expiry < now)?;
        match stepper.expire(now) {
            Step::Concluded(verdict) => Some((expiry, verdict)),
            Step::Continues | Step::Stopped => None,
        }
    }
    /// The present state.
    pub fn state(&self) -> u32 {
        match self {
            Watcher::Untimed(stepper) => stepper.state(),
            Watcher::Timed(stepper) => stepper.state(),
        }
    }
    /// The state in which what brought the last verdict found the monitor.
    pub fn left(&self) -> u32 {
        match self {
            Watcher::Untimed(stepper) => stepper.left(),
            Watcher::Timed(stepper) => stepper.left(),
        }
    }
}
