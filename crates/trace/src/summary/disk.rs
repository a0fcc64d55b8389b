//! Disks in a summary: what became of their promises.

use super::tasks::Distribution;
use super::units::{instant, nanos, some_nanos};
use serde::Serialize;
use tactus_time::{Duration, Instant};

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
    /// How many requests the drive did not do.
    pub faults: u64,
    /// Its clients, in file order.
    pub clients: Vec<DiskClientSummary>,
    /// When and why promises ceased to bind; `null` if they never did.
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
    /// Of those, not done, which is the drive's doing: it failed, did another length, said nothing, or its power went.
    pub failed: u64,
    /// Of those, not done by their deadline.
    pub missed: u64,
    /// Of those, not as promised, when the drive had been slower than its map.
    pub void: u64,
    /// How long the drive had a request of it.
    #[serde(rename = "busy_ns", serialize_with = "nanos")]
    pub busy: Duration,
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

/// Why promises of a disk ceased to bind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Withdrawn {
    /// A request took longer than its cell says.
    Slower,
    /// The power went.
    PowerCut,
    /// More requests failed within a busy time than the check counts on.
    Failures,
}

/// When promises of a disk ceased to bind, and where its drive took longer than its map says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SlowDrive {
    /// The first instant at which it did: promises do not bind from then on.
    #[serde(rename = "from_ns", serialize_with = "instant")]
    pub from: Instant,
    /// Why.
    pub why: Withdrawn,
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
    /// Of a budget that was not held: the time within which the drive was busy so long; `null` of a request.
    #[serde(rename = "within_ns", serialize_with = "some_nanos")]
    pub within: Option<Duration>,
}
