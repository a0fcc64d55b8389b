//! What a run amounted to: every figure of `summary.json`, under names that stay.
//!
//! Lengths and points of time are written as whole nanoseconds, in fields that end in `_ns`. A field that has no
//! value for a run (the median of no jobs) is `null`, never left out. `docs/trace.md` lists them one by one.

use crate::ChainSummary;
use serde::{Serialize, Serializer};
use std::borrow::Cow;
use tactus_time::{CoreId, Duration, Instant, Level, TaskId};

/// The version of the names and meanings in `summary.json`; it grows when one of them changes.
pub const SUMMARY_FORMAT: u32 = 2;

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
    /// Changes of the running system, in the order in which they are asked for.
    pub changes: Vec<ChangeSummary>,
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
}

/// A disk.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DiskSummary {
    /// Its name.
    pub name: String,
    /// What became of its promises.
    pub fate: DiskFate,
    /// How long the drive had a request.
    #[serde(rename = "busy_ns", serialize_with = "nanos")]
    pub busy: Duration,
    /// Its clients, in file order.
    pub clients: Vec<DiskClientSummary>,
    /// Where the drive took longer than its map says; `null` if it never did.
    pub slow: Option<SlowDrive>,
    /// The first broken promise; `null` if none was.
    pub broken: Option<DiskBroken>,
}

/// What became of a disk's promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DiskFate {
    /// Every promise held.
    Held,
    /// No client was promised anything.
    NothingPromised,
    /// The check had refused the system.
    Refused,
    /// Requests missed what they were no longer owed, since the drive was slower than its map.
    Void,
    /// A promise that bound was broken.
    Broken,
}

/// A client of a disk.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DiskClientSummary {
    /// Its name.
    pub name: String,
    /// Its requests that came before the end of the run; of a best-effort client those that ended.
    pub requests: u64,
    /// Of those, not done by their deadline.
    pub missed: u64,
    /// Of those, not as promised, when the drive had been slower than its map.
    pub void: u64,
    /// Relative deadline; `null` if it is best-effort.
    #[serde(rename = "deadline_ns", serialize_with = "some_nanos")]
    pub deadline: Option<Duration>,
    /// How long a request takes at most; `null` if nothing was promised.
    #[serde(rename = "bound_ns", serialize_with = "some_nanos")]
    pub bound: Option<Duration>,
    /// From arrival to end, of the requests that ended.
    pub response: Option<Distribution>,
    /// Longest response ÷ bound while the promise bound; `null` if nothing was promised.
    pub worst_over_bound: Option<f64>,
}

/// Where a drive took longer than its map says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SlowDrive {
    /// The first instant at which it did: promises do not bind from then on.
    #[serde(rename = "from_ns", serialize_with = "instant")]
    pub from: Instant,
    /// How many requests took longer.
    pub requests: u64,
    /// The first cells.
    pub cells: Vec<SlowCell>,
}

/// A cell of the map that was too small.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SlowCell {
    /// From where the drive came, a client and the number of its place; `null` after a pause, when no cell tells.
    pub from: Option<String>,
    /// The place of the request, likewise.
    pub to: String,
    /// What the map says.
    #[serde(rename = "expected_ns", serialize_with = "nanos")]
    pub expected: Duration,
    /// What the drive took.
    #[serde(rename = "took_ns", serialize_with = "nanos")]
    pub took: Duration,
}

/// The first promise of a disk that was broken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DiskBroken {
    /// Whose request.
    pub client: String,
    /// Which, counted from 0 within the client.
    pub number: u32,
    /// The first instant at which the promise could no longer be kept.
    #[serde(rename = "time_ns", serialize_with = "instant")]
    pub time: Instant,
    /// What was promised.
    #[serde(rename = "limit_ns", serialize_with = "nanos")]
    pub limit: Duration,
    /// What came instead.
    #[serde(rename = "actual_ns", serialize_with = "nanos")]
    pub actual: Duration,
}

/// A change of the running system, and what became of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ChangeSummary {
    /// In words.
    pub what: String,
    /// The core on which it is made.
    pub core: u8,
    /// When it was asked for.
    #[serde(rename = "asked_ns", serialize_with = "instant")]
    pub asked: Instant,
    /// What became of it.
    pub fate: Fate,
    /// When it took effect or was refused; `null` if it did not come to that.
    #[serde(rename = "settled_ns", serialize_with = "some_instant")]
    pub settled: Option<Instant>,
    /// Why it was refused; `null` if it was not.
    pub why: Option<String>,
}

/// What became of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fate {
    /// It took effect.
    TookEffect,
    /// It was refused.
    Refused,
    /// It waits for an instant at which it can do no harm.
    Waiting,
    /// The run ended before.
    NotAsked,
}

/// How many jobs came to what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct JobCounts {
    /// Released before the end of the run.
    pub released: u64,
    /// Completed before the end of the run.
    pub completed: u64,
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
    /// How often a job lost its core before it was finished.
    pub preemptions: u64,
    /// How often a job went on on another core than the one that it last ran on.
    pub migrations: u64,
    /// How often a job used up its budget.
    pub exhausted: u64,
    /// What was promised.
    pub promise: PromiseSummary,
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

/// What analysis promised for a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum PromiseSummary {
    /// No response longer than the bound.
    Response {
        /// The bound.
        #[serde(rename = "bound_ns", serialize_with = "nanos")]
        bound: Duration,
    },
    /// No job later than its deadline by more than the bound.
    Tardiness {
        /// The bound.
        #[serde(rename = "bound_ns", serialize_with = "nanos")]
        bound: Duration,
    },
    /// Nothing.
    None,
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
    /// Preemptions of their jobs.
    pub preemptions: u64,
    /// Migrations of their jobs.
    pub migrations: u64,
    /// Budgets that they used up.
    pub exhausted: u64,
}

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
}

/// A component that faulted and was stopped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Culprit {
    /// The component's number.
    pub component: u32,
    /// Its name, where whoever made the summary knows the image; a trace has only the number.
    pub component_name: Option<String>,
    /// The task whose thread faulted; `null` if it was none's.
    #[serde(serialize_with = "some_task_id")]
    pub task_id: Option<TaskId>,
    /// Its name.
    pub task: Option<String>,
    /// The job in which it did; `null` if it was none's.
    pub job: Option<u32>,
    /// What it did, in words.
    pub fault: Cow<'static, str>,
    /// Whether it gave up by itself: a panic.
    pub panicked: bool,
    /// The address concerned.
    pub address: u64,
    /// Where.
    pub core: u8,
    /// When.
    #[serde(rename = "time_ns", serialize_with = "instant")]
    pub time: Instant,
}

impl Culprit {
    /// What it did, in which job, and where: `write to an address … at 0x40, job 3`. Of a panic that said where it was, the address of
    /// the call that ended it says nothing.
    pub fn what(&self) -> String {
        let address = match self.panicked && matches!(self.fault, Cow::Owned(_)) {
            true => String::new(),
            false => format!(" at {:#x}", self.address),
        };
        let job = self.job.map(|job| format!(", job {job}")).unwrap_or_default();
        format!("{}{address}{job}", self.fault)
    }
}

/// A component that was stopped ran again, or was given up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Restart {
    /// The component's number.
    pub component: u32,
    /// Its name, where whoever made the summary knows the image; a trace has only the number.
    pub component_name: Option<String>,
    /// How often it was restarted until then.
    pub count: u64,
    /// It has been restarted as often as it may, and stays stopped.
    pub given_up: bool,
    /// The number of the component that restarted it; nothing if it was the root scheduler.
    pub by: Option<u32>,
    /// Its name, as above.
    pub by_name: Option<String>,
    /// When.
    #[serde(rename = "time_ns", serialize_with = "instant")]
    pub time: Instant,
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

/// What became of the promises.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Verdict {
    /// Every promise held.
    Held,
    /// No task was promised anything.
    NothingPromised,
    /// The check had refused the system, so that nothing was promised.
    Refused,
    /// No job of a promised task came to its end or to its bound, so that nothing can be said.
    NoJobEnded,
    /// Jobs missed what they were no longer owed, by what the tasks in [`Summary::voids`] did; no promise that bound was
    /// broken.
    Void,
    /// A component was stopped and did not run again; no promise that bound was broken.
    Stopped,
    /// A promise that bound was broken; this is the first in time.
    Broken(Broken),
}

impl Verdict {
    /// Whether every promise that was asked for held; what the exit status tells.
    pub fn held(&self) -> bool {
        matches!(self, Verdict::Held | Verdict::NothingPromised)
    }

    /// The outcome in one word, as `summary.json` has it.
    pub fn word(&self) -> &'static str {
        match self {
            Verdict::Held => "held",
            Verdict::NothingPromised => "nothing_promised",
            Verdict::Refused => "refused",
            Verdict::NoJobEnded => "no_job_ended",
            Verdict::Void => "void",
            Verdict::Stopped => "stopped",
            Verdict::Broken(_) => "broken",
        }
    }
}

/// A task that did what the promises did not reckon with, and what came of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct VoidBy {
    /// The culprit.
    #[serde(serialize_with = "task_id")]
    pub task_id: TaskId,
    /// Its name.
    pub task: String,
    /// What it did, without its name.
    pub why: String,
    /// From when on promises did not bind.
    #[serde(rename = "from_ns", serialize_with = "instant")]
    pub from: Instant,
    /// Jobs that missed what they were no longer owed, its own included.
    pub missed: u64,
    /// The same by task.
    pub tasks: Vec<VoidTask>,
}

/// A task whose jobs missed what they were no longer owed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct VoidTask {
    /// Which.
    #[serde(serialize_with = "task_id")]
    pub task_id: TaskId,
    /// Its name.
    pub task: String,
    /// How many jobs.
    pub missed: u64,
}

/// The first broken promise.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Broken {
    /// What was promised and did not hold.
    pub what: What,
    /// The task; `null` if the promise was not about one.
    #[serde(serialize_with = "some_task_id")]
    pub task_id: Option<TaskId>,
    /// Its name.
    pub task: Option<String>,
    /// The job, counted from 0 within its task.
    pub job: Option<u32>,
    /// When it was broken: the first instant at which it could no longer be kept.
    #[serde(rename = "time_ns", serialize_with = "instant")]
    pub time: Instant,
    /// The limit that was promised, if it is a length.
    #[serde(rename = "limit_ns", serialize_with = "some_nanos")]
    pub limit: Option<Duration>,
    /// What came instead; for an unfinished job the time that had passed at the end of the run.
    #[serde(rename = "actual_ns", serialize_with = "some_nanos")]
    pub actual: Option<Duration>,
    /// What went on meanwhile.
    pub cause: Cause,
}

/// What kind of promise was broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum What {
    /// A response was longer than its bound.
    Response,
    /// A job was later than its tardiness bound allows.
    Tardiness,
    /// A job of a task with a hard promise missed its deadline.
    Deadline,
    /// A chain of tasks took longer than its bound or its deadline.
    Chain,
    /// Records were dropped, so that nothing can be said about the rest.
    Dropped,
    /// One of the rules that hold in every run was broken (see `check`); the cause says which.
    Rule,
    /// A request to a disk took longer than its bound; the cause says whose.
    Request,
}

/// What went on between the release of a job and the time at which its promise was broken.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Cause {
    /// A sentence or two for a person.
    pub text: String,
    /// The window begins: nominal release.
    #[serde(rename = "from_ns", serialize_with = "instant")]
    pub from: Instant,
    /// The window ends: completion, or the end of the run.
    #[serde(rename = "to_ns", serialize_with = "instant")]
    pub to: Instant,
    /// How long the job itself had a core.
    #[serde(rename = "own_ns", serialize_with = "nanos")]
    pub own: Duration,
    /// Time in the scheduler on the cores concerned.
    #[serde(rename = "scheduler_ns", serialize_with = "nanos")]
    pub scheduler: Duration,
    /// Time with nothing to run on the cores concerned.
    #[serde(rename = "idle_ns", serialize_with = "nanos")]
    pub idle: Duration,
    /// What ran on the cores concerned, longest first; other jobs of the same task included.
    pub ran: Vec<Share>,
    /// Whether the job used up a budget and had to wait for the next.
    pub exhausted: bool,
    /// Whether a component was stopped in the window.
    pub fault: bool,
}

/// How much of a window a task had.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Share {
    /// Whose time.
    #[serde(serialize_with = "task_id")]
    pub task_id: TaskId,
    /// Name.
    pub task: String,
    /// How long.
    #[serde(rename = "time_ns", serialize_with = "nanos")]
    pub time: Duration,
    /// The part of the window, over all cores concerned: 0 to 1.
    pub share: f64,
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

pub(crate) fn nanos<S: Serializer>(d: &Duration, s: S) -> Result<S::Ok, S::Error> {
    s.serialize_u64(d.as_nanos())
}

pub(crate) fn some_nanos<S: Serializer>(d: &Option<Duration>, s: S) -> Result<S::Ok, S::Error> {
    d.map(Duration::as_nanos).serialize(s)
}

fn instant<S: Serializer>(t: &Instant, s: S) -> Result<S::Ok, S::Error> {
    s.serialize_u64(t.as_nanos())
}

fn some_instant<S: Serializer>(t: &Option<Instant>, s: S) -> Result<S::Ok, S::Error> {
    t.map(Instant::as_nanos).serialize(s)
}

fn task_id<S: Serializer>(t: &TaskId, s: S) -> Result<S::Ok, S::Error> {
    s.serialize_u16(t.0)
}

fn some_task_id<S: Serializer>(t: &Option<TaskId>, s: S) -> Result<S::Ok, S::Error> {
    t.map(|t| t.0).serialize(s)
}

fn core<S: Serializer>(c: &Option<CoreId>, s: S) -> Result<S::Ok, S::Error> {
    c.map(|c| c.0).serialize(s)
}

fn level<S: Serializer>(l: &Option<Level>, s: S) -> Result<S::Ok, S::Error> {
    l.map(|l| l.to_string()).serialize(s)
}
