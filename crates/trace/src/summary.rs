//! What a run amounted to: every figure of `summary.json`, under names that stay.
//!
//! Lengths and points of time are written as whole nanoseconds, in fields that end in `_ns`. A field that has no
//! value for a run (the median of no jobs) is `null`, never left out. `docs/summary.md` lists them one by one.

mod change;
mod cores;
mod disk;
mod faults;
mod monitor;
mod slot;
mod tasks;
mod units;
mod verdict;

pub use change::{ChangeSummary, Fate};
pub use cores::{CoreSummary, Entries, Overheads};
pub use disk::{DiskBroken, DiskClientSummary, DiskFate, DiskSummary, SlowCell, SlowDrive, Withdrawn};
pub use faults::{Culprit, ProcessMisses, Restart};
pub use monitor::{MonitorSummary, Step};
pub use slot::{LoadFate, LoadSummary, LostJob, SlotSummary, UpdateSummary};
pub use tasks::{Distribution, JobCounts, LevelSummary, TaskSummary};
pub(crate) use units::{nanos, some_nanos};
pub use verdict::{Broken, Cause, NotJudged, Share, Verdict, VoidBy, VoidTask, What};

use crate::{ChainSummary, HeapUse};
use serde::Serialize;
use tactus_time::Duration;

/// The version of the names and meanings in `summary.json`; it grows when one of them changes.
pub const SUMMARY_FORMAT: u32 = 4;

/// Everything that the judge found out about one run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// [`SUMMARY_FORMAT`].
    pub format: u32,
    /// Name of the system.
    pub system: String,
    /// Name of the policy, for people.
    pub policy: String,
    /// Number of cores.
    pub cores: usize,
    /// Length of the run.
    #[serde(rename = "duration_ns", serialize_with = "nanos")]
    pub duration: Duration,
    /// Whether analysis accepted the system, so that its bounds are promises.
    pub accepted: bool,
    /// What became of the promises.
    pub verdict: Verdict,
    /// Tasks that were promised something; 0 if the check refused the system.
    pub promised: u64,
    /// Who did what the promises did not reckon with, where jobs then missed what they were no longer owed; in order of
    /// time.
    pub voids: Vec<VoidBy>,
    /// The jobs of all tasks together.
    pub total: JobCounts,
    /// Records that did not fit into the rings, over all cores.
    pub dropped: u64,
    /// Requests that the kernel refused, over all cores.
    pub refused: u64,
    /// Components that were stopped, in the order of their faults.
    pub culprits: Vec<Culprit>,
    /// Restarts of stopped components, in order of time.
    pub restarts: Vec<Restart>,
    /// Deadlines that processes of ARINC 653 have missed, in order of time.
    pub deadlines: Vec<ProcessMisses>,
    /// Changes of the running system, in the order in which they are requested.
    pub changes: Vec<ChangeSummary>,
    /// Slots and what came into them, in file order.
    pub slots: Vec<SlotSummary>,
    /// Each level that has tasks, from A to D; one entry without a level where the policy knows none.
    pub levels: Vec<LevelSummary>,
    /// Each task, by `TaskId`.
    pub tasks: Vec<TaskSummary>,
    /// The chains, in the order of the file.
    pub chains: Vec<ChainSummary>,
    /// Each core, in order.
    pub per_core: Vec<CoreSummary>,
    /// The system's own work over all cores.
    pub overheads: Overheads,
    /// Each disk of the run, in file order.
    pub disks: Vec<DiskSummary>,
    /// Each monitor, in file order.
    pub monitors: Vec<MonitorSummary>,
    /// The heaps of components that asked theirs for memory, in the order of components.
    pub heaps: Vec<HeapUse>,
}

impl Summary {
    /// The text of `summary.json`: indented, with a line end.
    pub fn to_json(&self) -> String {
        // Nothing in these types can fail: no maps with odd keys, no foreign serialisers.
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }
}

impl Summary {
    /// The faults after which the component did not run again.
    pub fn lost(&self) -> impl Iterator<Item = &Culprit> {
        let again = |culprit: &Culprit| {
            self.restarts.iter().any(|it| it.component == culprit.component && !it.given_up && it.time >= culprit.time)
        };
        self.culprits.iter().filter(move |culprit| !again(culprit))
    }
}
