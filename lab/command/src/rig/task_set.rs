//! Random task sets, as the source drove its kernel with them: utilisations by randfixedsum, periods log-uniform from 10
//! to 100 ms.

use super::arguments::Events;
use tactus_analysis::generate::distributions::log_uniform;
use tactus_analysis::generate::{randfixedsum, Random};
use tactus_machine::failure::Failure;
use tactus_rig::Periodic;

/// The `set`-th set for so many processors, the same for a seed on every computer.
pub fn draw(events: &Events, load: f64, processors: usize, set: u64) -> Result<Vec<Periodic>, Failure> {
    let tasks = processors * events.tasks_each;
    let mut random = Random::at(events.seed, &[processors as u64, set]);
    let total = load * processors as f64;
    let parts = if load > 0.0 && load <= 1.0 { randfixedsum(&mut random, tasks, total, 0.0, 1.0) } else { None };
    let parts = parts.ok_or_else(|| {
        Failure::Input(format!(
            "--load {load}: {tasks} tasks on {processors} processors cannot have it; take more than 0 and at most 1, and one \
             task or more for each processor"
        ))
    })?;
    let periodic = |part: f64| {
        let period = log_uniform(&mut random, 10_000_000, 100_000_000, 1_000);
        Periodic { period, takes: ((period as f64 * part) as u64).max(1) }
    };
    Ok(parts.into_iter().map(periodic).collect())
}
