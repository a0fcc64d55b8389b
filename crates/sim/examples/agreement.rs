//! Many generated systems on the simulated machine with costs: every decision must be the policy's own, and against
//! the run without costs nothing but races may differ.
//!
//! ```text
//! cargo run --release -p tactus-sim --example agreement [FROM [TO]]
//! ```
//!
//! FROM and TO are seeds (default 0 to 200, TO not included). Ends with status 1 at the first disagreement.

#[path = "../tests/all/common/mod.rs"]
mod common;

use std::process::ExitCode;
use tactus_formats::to_toml;
use tactus_generate::any;
use tactus_sim::compare::{compare, explain, Cause};
use tactus_sim::lockstep::lockstep;
use tactus_sim::{simulate, Costs};
use tactus_task::JobSteps;
use tactus_time::Duration;

/// Added to enforced budgets, so that a job does not lose its last microseconds to the work on its behalf.
const ALLOWANCE: Duration = Duration::from_micros(100);
/// Longer than any cost, shorter than any job.
const TOLERANCE: Duration = Duration::from_micros(40);

#[derive(Default)]
struct Totals {
    calls: u64,
    records: u64,
    jobs: u64,
    steps: usize,
    equal: usize,
    races: usize,
    difference: Duration,
}

fn main() -> ExitCode {
    let mut seeds = std::env::args().skip(1).map(|text| text.parse::<u64>());
    let (Ok(from), Ok(to)) = (seeds.next().unwrap_or(Ok(0)), seeds.next().unwrap_or(Ok(200))) else {
        eprintln!("usage: agreement [FROM [TO]]");
        return ExitCode::from(2);
    };
    let mut totals = Totals::default();
    for seed in from..to {
        if let Err(message) = one(seed, &mut totals) {
            println!("seed {seed}: {message}\n\n{}", to_toml(&any(seed)).unwrap_or_default());
            return ExitCode::FAILURE;
        }
    }
    let Totals { calls, records, jobs, steps, equal, races, difference } = totals;
    println!("{} systems: {calls} decisions, {records} records, {jobs} jobs agree", to - from);
    println!("without costs: {steps} steps equal; {equal} systems to the end, {races} races; times differ by at most {difference}");
    ExitCode::SUCCESS
}

fn one(seed: u64, totals: &mut Totals) -> Result<(), String> {
    let system = any(seed);
    let setup = common::setup_of(&system, ALLOWANCE);
    let demand = common::demands(&system);
    let known = |task, job| Some({ demand }(task, job));
    let costly = simulate(&setup, system.duration, demand, &common::small_costs()).map_err(|e| e.to_string())?;
    let agreement =
        lockstep(&setup, known, &costly, TOLERANCE).map_err(|e| e.to_string())?.map_err(|e| e.to_string())?;
    let free = simulate(&setup, system.duration, demand, &Costs::default()).map_err(|e| e.to_string())?;
    let mut found = compare(&setup, (known, &JobSteps::default()), &free, &costly, TOLERANCE);
    // Less than this machine's own work takes, so that what explains a difference is not that difference itself.
    let less = Costs { schedule: Duration::from_micros(8), ..common::small_costs() };
    explain(&mut found, &setup, system.duration, (demand, &JobSteps::default()), &costly, &less)
        .map_err(|e| e.to_string())?;
    if !found.agrees() {
        return Err(found.to_string());
    }
    totals.calls += agreement.calls;
    totals.records += agreement.records;
    totals.jobs += agreement.jobs;
    totals.steps += found.steps();
    totals.equal += usize::from(found.is_equal());
    totals.races += found.divergences().filter(|(_, d)| matches!(d.cause, Cause::Race { .. })).count();
    totals.difference = totals.difference.max(found.largest_difference());
    Ok(())
}
