//! Tasks as they are kept: what releases their jobs, what they may do, and what they were promised.

use serde::{Deserialize, Serialize};
use tactus_task::{Bound, Burst, EarlyArrival, Release, WaitLimit};
use tactus_time::{CoreId, Duration, Level, TaskId};
use tactus_trace::{written_promise, TaskView};

/// [`TaskView`].
#[derive(Serialize, Deserialize)]
pub(super) struct Stored {
    name: String,
    level: Option<String>,
    core: Option<u8>,
    offset_ns: u64,
    period_ns: u64,
    deadline_ns: u64,
    #[serde(with = "written_promise")]
    promise: Option<Bound>,
    /// By level, A to D.
    assumed_ns: [Option<u64>; 4],
    budget_ns: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    minimum_ns: Option<u64>,
    /// Left out where time releases its jobs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    releases: Option<StoredRelease>,
    /// Left out where its jobs do not wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    waits: Option<StoredWaits>,
}

/// What releases the jobs of a task, where that is not time without jitter.
#[derive(Serialize, Deserialize)]
struct StoredRelease {
    /// The task whose completions do; left out if arrivals from outside do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    after: Option<u16>,
    /// What becomes of early arrivals: the place in [`EarlyArrival::ALL`].
    early: u8,
    /// Jitter and least distance, where arrivals may come in bursts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    burst_ns: Option<[u64; 2]>,
    /// The release jitter of a task that time releases.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    jitter_ns: Option<u64>,
}

impl StoredRelease {
    fn of(release: Release) -> Option<StoredRelease> {
        if let Some(jitter) = release.jitter() {
            return Some(StoredRelease { after: None, early: 0, burst_ns: None, jitter_ns: Some(jitter.as_nanos()) });
        }
        let own = release.early()?;
        let early = EarlyArrival::ALL.iter().position(|early| *early == own)? as u8;
        let burst_ns = release.burst().map(|burst| [burst.jitter.as_nanos(), burst.distance.as_nanos()]);
        Some(StoredRelease { after: release.predecessor().map(|task| task.0), early, burst_ns, jitter_ns: None })
    }

    fn release(self) -> Release {
        if let Some(jitter) = self.jitter_ns {
            return Release::Jittered(Duration::from_nanos(jitter));
        }
        let early = EarlyArrival::ALL.get(usize::from(self.early)).copied().unwrap_or_default();
        match (self.after, self.burst_ns) {
            (Some(task), _) => Release::After(TaskId(task), early),
            (None, None) => Release::Sporadic(early),
            (None, Some(burst)) => {
                let [jitter, distance] = burst.map(Duration::from_nanos);
                Release::Bursts(early, Burst { jitter, distance })
            }
        }
    }
}

/// How often and how long jobs of a task may wait.
#[derive(Serialize, Deserialize)]
struct StoredWaits {
    most: u16,
    longest_ns: u64,
}

impl StoredWaits {
    fn of(limit: WaitLimit) -> Option<StoredWaits> {
        (limit.most > 0).then(|| StoredWaits { most: limit.most, longest_ns: limit.longest.as_nanos() })
    }

    fn limit(self) -> WaitLimit {
        WaitLimit { most: self.most, longest: Duration::from_nanos(self.longest_ns) }
    }
}

/// What is kept of a task.
pub(super) fn store(task: &TaskView) -> Stored {
    Stored {
        name: task.name.clone(),
        level: task.level.map(|level| level.to_string()),
        core: task.core.map(|core| core.0),
        offset_ns: task.offset.as_nanos(),
        period_ns: task.period.as_nanos(),
        deadline_ns: task.deadline.as_nanos(),
        promise: task.promise,
        assumed_ns: task.assumed.map(|length| length.map(Duration::as_nanos)),
        budget_ns: task.budget.map(Duration::as_nanos),
        minimum_ns: task.minimum.map(Duration::as_nanos),
        releases: StoredRelease::of(task.releases),
        waits: StoredWaits::of(task.waits),
    }
}

/// The task again.
///
/// # Errors
/// If it has a level that there is not.
pub(super) fn restore(task: Stored) -> Result<TaskView, String> {
    let level = match task.level {
        None => None,
        Some(name) => {
            let found = Level::ALL.into_iter().find(|level| level.to_string() == name);
            Some(found.ok_or_else(|| format!("task {}: there is no level {name:?}", task.name))?)
        }
    };
    Ok(TaskView {
        name: task.name,
        level,
        core: task.core.map(CoreId),
        offset: Duration::from_nanos(task.offset_ns),
        period: Duration::from_nanos(task.period_ns),
        deadline: Duration::from_nanos(task.deadline_ns),
        promise: task.promise,
        assumed: task.assumed_ns.map(|length| length.map(Duration::from_nanos)),
        budget: task.budget_ns.map(Duration::from_nanos),
        minimum: task.minimum_ns.map(Duration::from_nanos),
        releases: task.releases.map(StoredRelease::release).unwrap_or_default(),
        waits: task.waits.map(StoredWaits::limit).unwrap_or_default(),
    })
}
