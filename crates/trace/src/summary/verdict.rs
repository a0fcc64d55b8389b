//! The verdict in a summary: what became of the promises, and why one was broken.

use super::units::{instant, nanos, some_nanos, some_task_id, task_id};
use serde::Serialize;
use tactus_time::{Duration, Instant, TaskId};

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
    /// Jobs missed what they were no longer owed, by what the tasks in [`Summary::voids`](super::Summary::voids) did; no promise that bound was
    /// broken.
    Void,
    /// A component was stopped and did not run again; no promise that bound was broken.
    Stopped,
    /// Something that was promised cannot be judged, since the trace does not tell of it; no promise that can be was broken.
    NotJudged(NotJudged),
    /// A promise that bound was broken; this is the first in time.
    Broken(Broken),
}

/// What cannot be judged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NotJudged {
    /// What, and why, in a sentence.
    pub why: String,
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
            Verdict::NotJudged(_) => "not_judged",
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
    /// A property that a monitor watched was violated; the cause says which.
    Property,
    /// The machine did what nobody had decided; the cause says what.
    Machine,
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
