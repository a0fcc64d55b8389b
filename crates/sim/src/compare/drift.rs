//! Differences that any shift in time makes: is the schedule itself that sensitive?

use super::{steps, Cause, Comparison, Steps};
use crate::{simulate, Error};
use tactus_model::Costs;
use tactus_policy::{Kind, Setup};
use tactus_time::{Duration, TaskId};
use tactus_trace::Trace;

/// How many simulations are tried at most.
const TRIES: u64 = 16;

/// Explains disagreements in trees of servers, where a time that is shifted by the system's own work moves budgets,
/// deadlines, laxities and turns, and so all that comes after. `free` is the run without costs, `most` what the machine's
/// work took at most. Where simulations with a part of that do not part from `free` by the same step either, the
/// disagreement stands: it is not sensitivity that made it.
///
/// # Errors
/// Those of a simulation.
pub fn explain(
    comparison: &mut Comparison,
    setup: &Setup,
    duration: Duration,
    mut demand: impl FnMut(TaskId, u32) -> Duration,
    free: &Trace,
    most: &Costs,
) -> Result<(), Error> {
    if comparison.agrees() || !matches!(setup.kind, Kind::Servers(_)) {
        return Ok(());
    }
    let left = Steps::of(free);
    for n in 1..=TRIES {
        let part = |cost: Duration| Duration::from_nanos(cost.as_nanos() * n / TRIES);
        let costs = Costs {
            release: part(most.release),
            schedule: part(most.schedule),
            switch: part(most.switch),
            inter_core: part(most.inter_core),
            complete: part(most.complete),
        };
        let right = Steps::of(&simulate(setup, duration, &mut demand, &costs)?);
        for (core, on_core) in comparison.cores.iter_mut().enumerate() {
            let Some(divergence) = on_core.divergence.as_mut().filter(|d| d.cause == Cause::Disagreement) else {
                continue;
            };
            let parts = steps::common(&left, &right, core, Duration::ZERO).divergence;
            if parts.is_some_and(|parts| parts.place <= divergence.place) {
                divergence.cause = Cause::Drift { costs };
            }
        }
        if comparison.agrees() {
            break;
        }
    }
    Ok(())
}
