//! What the system's own work costs.

use tactus_time::Duration;

/// What the system's own work costs on a machine, as measured. All are upper bounds for one occurrence.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Costs {
    /// From the time at which a timer should fire to the scheduler's first look at the clock.
    pub release: Duration,
    /// A scheduler's turn, from its first look at the clock to its decision.
    pub schedule: Duration,
    /// From the decision until the chosen job's first instruction.
    pub switch: Duration,
    /// From sending an inter-core event until the receiving scheduler's first look at the clock.
    pub inter_core: Duration,
    /// From the instant at which a job has used its demand to the scheduler's look at the clock.
    pub complete: Duration,
}
