//! The disks of a run and what was promised of them, as `run.json` keeps them.

use serde::{Deserialize, Serialize};
use tactus_time::Duration;
use tactus_trace::{DiskClientView, DiskView, Tolerated};

#[derive(Serialize, Deserialize)]
pub(super) struct Stored {
    name: String,
    clients: Vec<StoredClient>,
    /// How many requests may fail, and within which time (ns); left out where none may.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tolerated: Option<(u32, u64)>,
}

#[derive(Serialize, Deserialize)]
struct StoredClient {
    name: String,
    /// First arrival, period, deadline; left out where it is best-effort.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    periodic_ns: Option<[u64; 3]>,
    /// Left out where nothing was promised.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    bound_ns: Option<u64>,
    places: u32,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    sporadic: bool,
    /// Budget, within which time, and the longest request; left out where it has no budget.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    limit_ns: Option<[u64; 3]>,
}

pub(super) fn store(disk: &DiskView) -> Stored {
    let client = |it: &DiskClientView| StoredClient {
        name: it.name.clone(),
        periodic_ns: it.periodic.map(|times| times.map(Duration::as_nanos)),
        bound_ns: it.bound.map(Duration::as_nanos),
        places: it.places,
        sporadic: it.sporadic,
        limit_ns: it.limit.map(|times| times.map(Duration::as_nanos)),
    };
    let Tolerated { faults, within } = disk.tolerated;
    let tolerated = (faults > 0).then_some((faults, within.as_nanos()));
    Stored { name: disk.name.clone(), clients: disk.clients.iter().map(client).collect(), tolerated }
}

pub(super) fn restore(disk: Stored) -> DiskView {
    let client = |it: StoredClient| DiskClientView {
        name: it.name,
        periodic: it.periodic_ns.map(|times| times.map(Duration::from_nanos)),
        bound: it.bound_ns.map(Duration::from_nanos),
        places: it.places,
        sporadic: it.sporadic,
        limit: it.limit_ns.map(|times| times.map(Duration::from_nanos)),
    };
    let tolerated = disk
        .tolerated
        .map_or_else(Tolerated::default, |(faults, within)| Tolerated { faults, within: Duration::from_nanos(within) });
    DiskView { name: disk.name, clients: disk.clients.into_iter().map(client).collect(), tolerated }
}
