//! The discrete-event simulator: a machine of up to eight cores around the very policy code that the kernel runs.
//!
//! Three ways to use it:
//!
//! - [`Simulation`] (or [`simulate`], [`simulate_into`]) runs a system freely, with costs for the system's own work
//!   that may be zero ([`Costs`]).
//! - [`lockstep`] replays a trace of the kernel, call by call, and requires the same decision each time.
//! - [`compare`] lays a free run beside a trace of the kernel and finds the first place where they part.
#![forbid(unsafe_code)]

pub mod compare;
mod keep;
pub mod lockstep;
mod machine;

pub use keep::Keep;
pub use machine::{Counts, Simulation, Stuck};
pub use tactus_task::Costs;

use std::fmt;
use tactus_policy::{PolicyConfig, PolicyConfigError, Scheduler};
use tactus_record::Sink;
use tactus_time::{Duration, Instant, TaskId};
use tactus_trace::Trace;

/// Why a simulation could not be carried out.
#[derive(Debug)]
pub enum Error {
    /// The policy refuses the set-up.
    PolicyConfig(PolicyConfigError),
    /// The policy makes no progress.
    Stuck(Stuck),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::PolicyConfig(e) => write!(f, "the policy refuses this system: {e}"),
            Error::Stuck(e) => e.fmt(f),
        }
    }
}

impl std::error::Error for Error {}

/// Runs the system for `duration` and keeps every record.
///
/// `demand` tells how long a job executes; it must give the same answer whenever it is asked about the same job.
///
/// # Errors
/// If the policy refuses the set-up, or makes no progress.
pub fn simulate(
    setup: &PolicyConfig,
    duration: Duration,
    demand: impl FnMut(TaskId, u32) -> Duration,
    costs: &Costs,
) -> Result<Trace, Error> {
    let mut keep = Keep::new(setup.cores);
    simulate_into(setup, duration, demand, costs, &mut keep)?;
    Ok(keep.into_trace())
}

/// Runs the system for `duration` and hands each record to `sink`, which finds the core in the record.
///
/// # Errors
/// If the policy refuses the set-up, or makes no progress.
pub fn simulate_into<S: Sink>(
    setup: &PolicyConfig,
    duration: Duration,
    demand: impl FnMut(TaskId, u32) -> Duration,
    costs: &Costs,
    sink: &mut S,
) -> Result<Counts, Error> {
    let (scheduler, cores) = Scheduler::new(setup).map_err(Error::PolicyConfig)?;
    let mut simulation = Simulation::new(&scheduler, cores, setup.tasks.len(), demand, costs);
    let end = Instant::ZERO.saturating_add(duration);
    let counts = simulation.run_until(end, sink).map_err(Error::Stuck)?;
    simulation.end(end, sink);
    Ok(counts)
}
