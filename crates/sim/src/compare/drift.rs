//! Differences that any shift in time makes: is the schedule itself that sensitive?

use super::{steps, Cause, Comparison, Steps};
use crate::{Error, Keep, Simulation};
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use rand_xoshiro::SplitMix64;
use tactus_policy::{PolicyConfig, Scheduler};
use tactus_task::Costs;
use tactus_task::JobSteps;
use tactus_time::{Duration, Instant, TaskId};
use tactus_trace::Trace;

/// How many simulations are tried at most.
const TRIES: u64 = 64;

/// Explains disagreements in trees of servers, where a time that is shifted by the system's own work moves budgets,
/// deadlines, laxities and turns, and so all that comes after; and among partitions, where a job that misses the end of a window
/// goes on in the next one. `found` is the machine's run, `most` what its work took at
/// most. The explanation is a simulation whose own work takes some part of that and which does as the machine did, up to and
/// with the step by which that parts from the run without costs; in every second one cores start when the machine's did, since budgets
/// and deadlines that count from there may tie without costs. Where no simulation does, the disagreement stands: it is not
/// sensitivity that made it.
///
/// # Errors
/// Those of a simulation.
pub fn explain(
    comparison: &mut Comparison,
    setup: &PolicyConfig,
    duration: Duration,
    (mut demand, steps): (impl FnMut(TaskId, u32) -> Duration, &JobSteps),
    found: &Trace,
    most: &Costs,
) -> Result<(), Error> {
    if comparison.agrees() || setup.kind.tree().is_none() {
        return Ok(());
    }
    let machine = Steps::of(found);
    let mut random = SplitMix64::seed_from_u64(0);
    // Uniform in [0, 1).
    let mut unit = move || (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
    let starts: Vec<Instant> =
        found.cores.iter().map(|records| records.first().map_or(Instant::ZERO, |r| r.time)).collect();
    let end = Instant::ZERO.saturating_add(duration);
    for number in 0..TRIES {
        // Small parts as often as large ones: what the machine's work takes at most it hardly ever takes.
        let mut part = |cost: Duration| {
            let share = unit() * unit();
            Duration::from_nanos((cost.as_nanos() as f64 * share) as u64)
        };
        let costs = Costs {
            release: part(most.release),
            schedule: part(most.schedule),
            switch: part(most.switch),
            inter_core: part(most.inter_core),
            complete: part(most.complete),
        };
        let (scheduler, cores) = Scheduler::new(setup).map_err(Error::PolicyConfig)?;
        let mut simulation = Simulation::new(&scheduler, cores, setup.tasks.len(), &mut demand, &costs);
        simulation.hold(steps.sections.clone());
        simulation.wait(steps.waits.clone());
        if number % 2 == 1 {
            simulation.start_at(&starts);
        }
        let mut keep = Keep::new(setup.cores);
        simulation.run_until(end, &mut keep).map_err(Error::Stuck)?;
        simulation.end(end, &mut keep);
        let simulated = Steps::of(&keep.into_trace());
        for (core, on_core) in comparison.cores.iter_mut().enumerate() {
            let Some(divergence) = on_core.divergence.as_mut().filter(|d| d.cause == Cause::Disagreement) else {
                continue;
            };
            let parts = steps::common(&simulated, &machine, core, Duration::ZERO).divergence;
            if parts.is_none_or(|parts| parts.place > divergence.place) {
                divergence.cause = Cause::Drift { costs };
            }
        }
        if comparison.agrees() {
            break;
        }
    }
    Ok(())
}
