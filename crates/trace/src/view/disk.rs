//! A disk as a trace is read against it, and what it did in the run.

use super::plain;
use serde::{Deserialize, Serialize};
use tactus_disk::Outcome;
use tactus_time::{Duration, Instant};

/// A disk and what was promised of it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct DiskView {
    /// Its name.
    pub name: String,
    /// Its clients, in file order.
    pub clients: Vec<DiskClientView>,
    /// How many requests may fail before promises cease to bind.
    #[serde(default, skip_serializing_if = "Tolerated::is_none")]
    pub tolerated: Tolerated,
}

/// How many requests may fail within a time, so that others keep what they are promised.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(from = "(u32, u64)", into = "(u32, u64)")]
pub struct Tolerated {
    /// This number
    pub faults: u32,
    /// within this, the longest time that the drive is busy.
    pub within: Duration,
}

impl Tolerated {
    fn is_none(&self) -> bool {
        self.faults == 0
    }
}

impl From<(u32, u64)> for Tolerated {
    fn from((faults, ns): (u32, u64)) -> Tolerated {
        Tolerated { faults, within: Duration::from_nanos(ns) }
    }
}

impl From<Tolerated> for (u32, u64) {
    fn from(it: Tolerated) -> (u32, u64) {
        (it.faults, it.within.as_nanos())
    }
}

/// A client and what was promised it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct DiskClientView {
    /// Its name.
    pub name: String,
    /// First arrival, period and relative deadline; nothing if it is best-effort.
    #[serde(with = "plain", rename = "periodic_ns", default, skip_serializing_if = "Option::is_none")]
    pub periodic: Option<[Duration; 3]>,
    /// How long a request takes at most; nothing if nothing was promised.
    #[serde(with = "plain", rename = "bound_ns", default, skip_serializing_if = "Option::is_none")]
    pub bound: Option<Duration>,
    /// Rows of the map that are its places, behind those of the clients before it.
    pub places: u32,
    /// Its requests are those of a component: they come when it likes, no sooner than after its period.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sporadic: bool,
    /// Budget, the time within which it is, and the longest request; nothing if it has no budget.
    #[serde(with = "plain", rename = "limit_ns", default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<[Duration; 3]>,
}

/// What a component asked of a disk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DiskInput {
    /// Which client's, counted from 0.
    pub client: u32,
    /// Number of the request, counted from 0 within the client.
    pub number: u32,
    /// Place in the client's extent.
    pub place: u32,
    /// How many blocks; none for a flush.
    pub blocks: u32,
    /// Whether it writes.
    pub write: bool,
    /// It cancels that request.
    pub cancels: bool,
    /// When.
    pub at: Instant,
}

impl DiskView {
    /// A row of the map as people call it: `recorder 5`.
    pub(crate) fn place(&self, row: u32) -> String {
        let mut first = 0;
        for client in &self.clients {
            match row.checked_sub(first) {
                Some(place) if place < client.places => return format!("{} {place}", client.name),
                _ => first += client.places,
            }
        }
        format!("row {row}")
    }
}

/// What a disk did in a run.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct DiskTrace {
    /// The requests that ended, in that order, and behind them those that had not when the run did.
    pub served: Vec<Served>,
    /// When the power of its drive went, whatever the drive was doing, in the order of time.
    pub power_cuts: Vec<Instant>,
}

/// A request that a drive has served.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Served {
    /// Which client's, counted from 0.
    pub client: u32,
    /// Its number, counted from 0 within the client.
    pub number: u32,
    /// The row of the map from which the drive came.
    pub from: u32,
    /// The row of the request.
    pub row: u32,
    /// Whether the drive had a pause before, so that no cell tells how long it takes.
    pub after_pause: bool,
    /// When it came.
    pub arrived: Instant,
    /// When the drive got it.
    pub dispatched: Instant,
    /// When it ended.
    pub ended: Instant,
    /// How long the drive was to take at most.
    pub expected: Duration,
    /// How it ended; nothing if it waited or was at the drive still when the run ended, which then stands for its end.
    pub outcome: Option<Outcome>,
}

impl Served {
    pub(crate) fn is_fault(&self) -> bool {
        self.outcome.is_some_and(Outcome::is_fault)
    }
    pub(crate) fn took(&self) -> Duration {
        self.ended.since(self.dispatched)
    }
}
