//! Cores in a summary: where their time went, and the system's own work.

use super::tasks::Distribution;
use super::units::nanos;
use serde::Serialize;
use tactus_time::Duration;

/// Where one core's time went.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CoreSummary {
    /// Which.
    pub core: u8,
    /// Time in jobs.
    #[serde(rename = "busy_ns", serialize_with = "nanos")]
    pub busy: Duration,
    /// Time with nothing to run.
    #[serde(rename = "idle_ns", serialize_with = "nanos")]
    pub idle: Duration,
    /// Time in the scheduler, between `Enter` and `Leave`.
    #[serde(rename = "scheduler_ns", serialize_with = "nanos")]
    pub scheduler: Duration,
    /// Records of this core.
    pub records: u64,
    /// Records of this core that did not fit.
    pub dropped: u64,
    /// The system's own work here.
    pub overheads: Overheads,
}

/// The system's own work, as far as records show it.
///
/// The time from a decision to the first instruction of the job, and that from a job's last instruction to the
/// scheduler, leave no record: they are charged to the job and part of its busy time.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Overheads {
    /// Calls of the scheduler, from `Enter` to `Leave`, by reason; reasons that did not occur are `null`.
    pub entries: Entries,
    /// From the time for which a timer was set to the `Enter` that it caused.
    pub timer_lateness: Option<Distribution>,
    /// From the nominal release of a job to the time at which it was noticed.
    pub release: Option<Distribution>,
    /// Calls of the scheduler, whatever the reason.
    pub schedule: Option<Distribution>,
    /// From the end of the decision that sent an inter-core event to the `Enter` that it caused on the receiver.
    pub inter_core: Option<Distribution>,
    /// Decisions that gave the core to another job than before, or took it away.
    pub switches: u64,
}

/// Calls of the scheduler by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Entries {
    /// The core started.
    pub start: Option<Distribution>,
    /// A time-out expired.
    pub timer: Option<Distribution>,
    /// The running job finished.
    pub complete: Option<Distribution>,
    /// Another core sent an event.
    pub notify: Option<Distribution>,
    /// The running task's component was stopped.
    pub fault: Option<Distribution>,
    /// Something arrived that releases a job.
    pub arrival: Option<Distribution>,
    /// A critical section ended for which a job waited.
    pub unlock: Option<Distribution>,
    /// A job began to wait.
    pub wait: Option<Distribution>,
    /// A job wanted a resource that another one may hold.
    pub lock: Option<Distribution>,
    /// A job signalled or awaited an event.
    pub signal: Option<Distribution>,
}
