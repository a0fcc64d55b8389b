//! The verdict of the judge over runs in which something goes wrong: reconfigurations that are refused, components that are stopped.

mod beside;
mod changed;
mod culprits;
mod events;
mod failing;
mod refused;
mod stopped;
mod ties;

use std::path::Path;
use tactus_model::{Costs, System};
use tactus_plan::{plan, RunPlan};
use tactus_time::TaskId;
use tactus_trace::Trace;

/// What the file says, and what is promised of it.
fn planned(text: &str) -> (System, RunPlan) {
    let system = System::parse_toml(text, Path::new("r.toml")).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let check = tactus_analysis::check(&system, &Costs::default());
    let promised = plan(&system, &check, &Costs::default());
    (system, promised)
}

/// A run of it in the simulator.
fn run(system: &System, promised: &RunPlan) -> Trace {
    let demand = |task: TaskId, job| system.tasks[task.index()].demand(system.seed, task, job);
    tactus_sim::simulate(&promised.setup, system.duration, demand, &Costs::default()).expect("it runs")
}
