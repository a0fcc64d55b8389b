//! Holds the trace of a run on the machine against the policy, decision for decision. For all systems but those under MC²,
//! whose budgets follow from the costs that the run's check counted; of changes the same must be admitted without costs.
//!
//! ```console
//! $ cargo run --release -p tactus-promises --example replay -- examples/vcpus.toml out/vcpus/trace.bin
//! ```

use std::path::Path;
use std::process::ExitCode;
use tactus_model::{Body, Costs, System};
use tactus_plan::plan;
use tactus_sim::lockstep::lockstep;
use tactus_time::Duration;
use tactus_trace::Trace;

/// The longest turn of an emulated core among several, and more.
const TOLERANCE: Duration = Duration::from_millis(1);

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, trace] = &arguments[..] else {
        eprintln!("usage: replay SYSTEM-FILE TRACE");
        return ExitCode::from(2);
    };
    match replay(Path::new(file), Path::new(trace)) {
        Ok(text) => {
            println!("{text}");
            ExitCode::SUCCESS
        }
        Err(text) => {
            println!("{text}");
            ExitCode::FAILURE
        }
    }
}

fn replay(file: &Path, trace: &Path) -> Result<String, String> {
    let system = System::read(file).map_err(|e| e.to_string())?;
    let trace = Trace::read(trace).map_err(|e| e.to_string())?;
    let setup = plan(&system, &tactus_analysis::check(&system, &Costs::default()), &Costs::default()).setup;
    let demand = |task: tactus_time::TaskId, job| {
        let it = &system.tasks[task.index()];
        (it.body == Body::Workload).then(|| it.demand(system.seed, task, job))
    };
    let agreement = lockstep(&setup, demand, &trace, TOLERANCE).map_err(|e| e.to_string())?;
    agreement.map(|found| found.to_string()).map_err(|e| e.to_string())
}
