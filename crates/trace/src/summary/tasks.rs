//! Jobs, tasks and levels in a summary.

use super::units::{core, level, nanos, some_instant, some_nanos, task_id};
use crate::view::written_promise;
use serde::Serialize;
use tactus_task::Bound;
use tactus_time::{CoreId, Duration, Instant, Level, TaskId};

/// How many jobs came to what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct JobCounts {
    /// Released before the end of the run.
    pub released: u64,
    /// Completed before the end of the run, other than those that found nothing to do.
    pub completed: u64,
    /// Completed since they found nothing to do: the process of ARINC 653 was dormant, suspended, or waited for something else.
    pub idle: u64,
    /// Released and not completed, those of removed tasks included.
    pub unfinished: u64,
    /// Not done in time, for whatever reason: completed after the deadline, unfinished at the end with the deadline past,
    /// aborted, or ended early.
    pub missed: u64,
    /// Of those, ended unfinished with their component, which was stopped. Where the component was restarted they count as
    /// completed too.
    pub aborted: u64,
    /// Of those, ended with less execution than the file's `minimum`.
    pub early: u64,
    /// Released and ended, and the trace does not tell when; left out where there are none.
    #[serde(skip_serializing_if = "nothing")]
    pub untold: u64,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // As serde calls it.
fn nothing(count: &u64) -> bool {
    *count == 0
}

/// Least, middle and greatest of a number of lengths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Distribution {
    /// How many there were.
    pub count: u64,
    /// Shortest.
    #[serde(rename = "min_ns", serialize_with = "nanos")]
    pub min: Duration,
    /// The length that half of them do not exceed (nearest rank).
    #[serde(rename = "median_ns", serialize_with = "nanos")]
    pub median: Duration,
    /// The length that 99 of 100 do not exceed (nearest rank).
    #[serde(rename = "p99_ns", serialize_with = "nanos")]
    pub p99: Duration,
    /// Longest.
    #[serde(rename = "max_ns", serialize_with = "nanos")]
    pub max: Duration,
    /// All of them together.
    #[serde(rename = "total_ns", serialize_with = "nanos")]
    pub total: Duration,
}

/// One task.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TaskSummary {
    /// Its number: the place in the system file.
    #[serde(serialize_with = "task_id")]
    pub id: TaskId,
    /// Its name.
    pub name: String,
    /// Its criticality, `"A"` to `"D"`; `null` if the policy knows none.
    #[serde(serialize_with = "level")]
    pub level: Option<Level>,
    /// The core it is bound to; `null` if none.
    #[serde(serialize_with = "core")]
    pub core: Option<CoreId>,
    /// Period.
    #[serde(rename = "period_ns", serialize_with = "nanos")]
    pub period: Duration,
    /// Relative deadline.
    #[serde(rename = "deadline_ns", serialize_with = "nanos")]
    pub deadline: Duration,
    /// Its jobs.
    pub jobs: JobCounts,
    /// Response times of the completed jobs, from nominal release to completion.
    pub response: Option<Distribution>,
    /// By how much a job was late at most: completed after its deadline, or unfinished at the end.
    #[serde(rename = "tardiness_max_ns", serialize_with = "nanos")]
    pub tardiness_max: Duration,
    /// What the completed jobs were charged.
    pub charged: Option<Distribution>,
    /// Charge of the completed jobs on average.
    #[serde(rename = "charged_mean_ns", serialize_with = "some_nanos")]
    pub charged_mean: Option<Duration>,
    /// Arrivals without a job, since 16 jobs of the task waited already.
    pub arrivals_lost: u64,
    /// Arrivals without a job, since they came early and the file has such ones dropped.
    pub arrivals_dropped: u64,
    /// How often a job lost its core before it was finished.
    pub preemptions: u64,
    /// How often a job went on on another core than the one that it last ran on.
    pub migrations: u64,
    /// How often a job used up its budget.
    pub exhausted: u64,
    /// Calls of its jobs that the scheduler refused, since they were not the task's to make or too many.
    pub refused: u64,
    /// How often its jobs wrote to a sampling channel, if that was less often than they ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub written: Option<u32>,
    /// What was promised.
    #[serde(with = "written_promise")]
    pub promise: Option<Bound>,
    /// Longest response ÷ bound, or greatest tardiness ÷ bound; jobs unfinished at the end count with the time that
    /// has passed. `null` if nothing was promised, the bound is zero, or the task has no job.
    pub worst_over_bound: Option<f64>,
    /// Why the promise ceased to bind, for a person; `null` while it binds.
    pub void: Option<String>,
    /// From when on the promise did not bind.
    #[serde(rename = "void_from_ns", serialize_with = "some_instant")]
    pub void_from: Option<Instant>,
    /// When the task was taken out of the system; `null` if it was not.
    #[serde(rename = "removed_at_ns", serialize_with = "some_instant")]
    pub removed_at: Option<Instant>,
}

/// The tasks of one level together.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LevelSummary {
    /// Which; `null` if the policy knows none.
    #[serde(serialize_with = "level")]
    pub level: Option<Level>,
    /// Number of tasks.
    pub tasks: u64,
    /// Their jobs.
    pub jobs: JobCounts,
    /// Response times of all their completed jobs.
    pub response: Option<Distribution>,
    /// Greatest tardiness.
    #[serde(rename = "tardiness_max_ns", serialize_with = "nanos")]
    pub tardiness_max: Duration,
    /// Greatest tardiness bound among them; `null` if none was promised.
    #[serde(rename = "tardiness_bound_ns", serialize_with = "some_nanos")]
    pub tardiness_bound: Option<Duration>,
    /// Greatest [`TaskSummary::worst_over_bound`] among them.
    pub worst_over_bound: Option<f64>,
    /// The task that has it.
    pub worst_task: Option<String>,
    /// Tasks of which the promise ceased to bind; the ratio is of the jobs before.
    pub void: u64,
    /// Preemptions of their jobs.
    pub preemptions: u64,
    /// Migrations of their jobs.
    pub migrations: u64,
    /// Budgets that they used up.
    pub exhausted: u64,
}
