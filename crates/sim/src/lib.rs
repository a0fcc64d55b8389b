//! The discrete-event simulator: a machine of up to eight cores around the very policy code that the kernel runs.
//!
//! Three ways to use it:
//!
//! - [`Simulation`] (or [`simulate`], [`simulate_into`]) runs a system freely, with costs for the system's own work
//!   that may be zero ([`Costs`]).
//! - [`lockstep`] replays a trace of the kernel, call by call, and requires the same decision each time.
//! - [`compare`] lays a free run beside a trace of the kernel and finds the first place where they part.
#![forbid(unsafe_code)]

mod bodies;
pub mod compare;
pub mod disk;
mod keep;
mod loader;
pub mod lockstep;
mod machine;
mod misses;
mod sampling;
mod sections;
mod services;
mod waits;

pub use keep::Keep;
pub use machine::{Counts, Simulation, Stuck};
pub use tactus_task::{Costs, JobSteps};

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
    simulate_with_arrivals(setup, duration, (demand, Vec::new()), costs)
}

/// As [`simulate`], with arrivals from outside for tasks that time does not release.
///
/// # Errors
/// If the policy refuses the set-up, or makes no progress.
pub fn simulate_with_arrivals(
    setup: &PolicyConfig,
    duration: Duration,
    (demand, arrivals): (impl FnMut(TaskId, u32) -> Duration, Vec<Arrivals<'_>>),
    costs: &Costs,
) -> Result<Trace, Error> {
    simulate_with_steps(setup, duration, (demand, arrivals), JobSteps::default(), costs)
}

/// As [`simulate_with_arrivals`], with what the jobs of each task do beside executing.
///
/// # Errors
/// If the policy refuses the set-up, or makes no progress.
pub fn simulate_with_steps(
    setup: &PolicyConfig,
    duration: Duration,
    (mut demand, arrivals): (impl FnMut(TaskId, u32) -> Duration, Vec<Arrivals<'_>>),
    steps: JobSteps,
    costs: &Costs,
) -> Result<Trace, Error> {
    kept(setup, duration, (&mut demand, arrivals, steps), costs)
}

/// Not generic: compiled here, once and with care, whoever calls.
fn kept(
    setup: &PolicyConfig,
    duration: Duration,
    (demand, arrivals, steps): (&mut dyn FnMut(TaskId, u32) -> Duration, Vec<Arrivals<'_>>, JobSteps),
    costs: &Costs,
) -> Result<Trace, Error> {
    let mut keep = Keep::new(setup.cores);
    run(setup, duration, (demand, arrivals, steps), costs, &mut keep)?;
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
    run(setup, duration, (demand, Vec::new(), JobSteps::default()), costs, sink)
}

/// When jobs of one task arrive, one after another, in the order of time.
pub type Arrivals<'a> = (TaskId, Box<dyn Iterator<Item = Instant> + 'a>);

fn run<S: Sink>(
    setup: &PolicyConfig,
    duration: Duration,
    (demand, arrivals, steps): (impl FnMut(TaskId, u32) -> Duration, Vec<Arrivals<'_>>, JobSteps),
    costs: &Costs,
    sink: &mut S,
) -> Result<Counts, Error> {
    let (scheduler, cores) = Scheduler::new(setup).map_err(Error::PolicyConfig)?;
    let mut simulation = Simulation::new(&scheduler, cores, setup.tasks.len(), demand, costs);
    for (task, mut all) in arrivals {
        let core = setup.tasks.get(task.index()).and_then(|task| task.core).unwrap_or_default();
        simulation.arrive(task, core, move || all.next().unwrap_or(Instant::NEVER));
    }
    simulation.hold(steps.sections);
    simulation.wait(steps.waits);
    simulation.go_through(steps.programs);
    simulation.serve(steps.services);
    simulation.load(steps.loader);
    simulation.miss(steps.misses);
    simulation.write_back(steps.write_backs);
    simulation.sample(setup, steps.sampled);
    let end = Instant::ZERO.saturating_add(duration);
    let counts = simulation.run_until(end, sink).map_err(Error::Stuck)?;
    simulation.end(end, sink);
    Ok(counts)
}
