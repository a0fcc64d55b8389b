//! Disks: the requests of a run against what was promised of them.
//!
//! A promise binds while the drive keeps to its map. It ends at the instant at which the first request takes longer than
//! its cell says, at which the power goes, or at which more requests have failed than the check counts on; what is missed from
//! then on is the drive's doing, and its cells are named. A request that came and was not served counts with the time that had
//! passed at the end of the run. Best-effort clients are held to their budgets, whatever the drive does.

use crate::disk_budget::{exceeded, Taken};
use crate::summary::{DiskBroken, DiskClientSummary, DiskFate, DiskSummary, SlowCell, SlowDrive, Withdrawn};
use crate::{Distribution, View};
use std::collections::HashMap;
use tactus_disk::Outcome;
use tactus_time::{Duration, Instant};

/// A disk and what was promised of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DiskView {
    /// Its name.
    pub name: String,
    /// Its clients, in file order.
    pub clients: Vec<DiskClientView>,
    /// How many requests may fail before promises cease to bind.
    pub tolerated: Tolerated,
}

/// How many requests may fail within a time, so that others keep what they are promised.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Tolerated {
    /// This number
    pub faults: u32,
    /// within this, the longest time that the drive is busy.
    pub within: Duration,
}

/// A client and what was promised it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DiskClientView {
    /// Its name.
    pub name: String,
    /// First arrival, period and relative deadline; nothing if it is best-effort.
    pub periodic: Option<[Duration; 3]>,
    /// How long a request takes at most; nothing if nothing was promised.
    pub bound: Option<Duration>,
    /// Rows of the map that are its places, behind those of the clients before it.
    pub places: u32,
    /// Its requests are those of a component: they come when it likes, no sooner than after its period.
    pub sporadic: bool,
    /// Budget, the time within which it is, and the longest request; nothing if it has no budget.
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
    fn place(&self, row: u32) -> String {
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
    fn is_fault(&self) -> bool {
        self.outcome.is_some_and(Outcome::is_fault)
    }
    fn took(&self) -> Duration {
        self.ended.since(self.dispatched)
    }
}

/// How many cells a verdict names.
const NAMED: usize = 4;

/// Judges all disks. A disk of which the run has no requests at all was not there.
pub(crate) fn judge(view: &View, runs: &[DiskTrace], end: Instant) -> Vec<DiskSummary> {
    view.disks.iter().zip(runs).map(|(disk, run)| one(disk, run, view.accepted, end)).collect()
}

fn one(disk: &DiskView, run: &DiskTrace, accepted: bool, end: Instant) -> DiskSummary {
    let slow = withdrawn(disk, run);
    let served = &run.served;
    let mut first: Option<DiskBroken> = None;
    let (mut clients, mut voided) = (Vec::new(), 0);
    for (n, client) in disk.clients.iter().enumerate() {
        let own: Vec<&Served> = served.iter().filter(|it| it.client as usize == n).collect();
        let mut summary = DiskClientSummary {
            name: client.name.clone(),
            requests: own.iter().filter(|it| client.periodic.is_some() || it.outcome.is_some()).count() as u64,
            failed: own.iter().filter(|it| it.is_fault()).count() as u64,
            missed: 0,
            void: 0,
            busy: busy(own.iter().copied()),
            deadline: client.periodic.map(|it| it[2]),
            bound: client.bound,
            response: None,
            worst_over_bound: None,
        };
        let ended: HashMap<u32, &Served> = own.iter().map(|it| (it.number, *it)).collect();
        let due: Vec<(u32, Instant)> = match client.sporadic {
            true => own.iter().map(|it| (it.number, it.arrived)).collect(),
            false => arrivals(client, end).collect(),
        };
        for (number, arrived) in due {
            let of = ended.get(&number);
            summary.requests += u64::from(of.is_none());
            let cancelled = of.is_some_and(|it| it.outcome == Some(Outcome::Cancelled));
            if cancelled {
                continue;
            }
            let response = of.map_or(end, |it| it.ended).since(arrived);
            let deadline = client.periodic.map_or(Duration::MAX, |it| it[2]);
            summary.missed += u64::from(response > deadline);
            let Some(bound) = client.bound.filter(|_| accepted) else { continue };
            let limit = bound.min(deadline);
            let due = arrived.saturating_add(limit);
            let bound_then = slow.as_ref().is_none_or(|slow| due < slow.from);
            if bound_then && (of.is_some() || response > limit) {
                let ratio = response.as_nanos() as f64 / limit.as_nanos().max(1) as f64;
                summary.worst_over_bound = Some(summary.worst_over_bound.map_or(ratio, |most: f64| most.max(ratio)));
            }
            if response <= limit {
                continue;
            }
            if !bound_then {
                summary.void += 1;
            } else if first.as_ref().is_none_or(|known| due < known.time) {
                let client = client.name.clone();
                first = Some(DiskBroken { client, number, time: due, limit, actual: response, within: None });
            }
        }
        summary.response = Distribution::of(
            &mut own.iter().filter(|it| it.outcome.is_some()).map(|it| it.ended.since(it.arrived)).collect::<Vec<_>>(),
        );
        let taken = own.iter().map(|it| Taken { number: it.number, from: it.dispatched, time: it.took() });
        let over = client.limit.filter(|_| accepted).and_then(|limit| exceeded(&client.name, limit, taken));
        first = [first, over].into_iter().flatten().min_by_key(|it| it.time);
        // What the drive did not do, it owes; whoever asked was told in time.
        voided += summary.void + if client.bound.is_some() { summary.failed } else { 0 };
        clients.push(summary);
    }
    let promised = disk.clients.iter().filter(|client| client.bound.is_some()).count();
    let fate = match (&first, accepted) {
        (_, false) => DiskFate::Refused,
        (Some(_), _) => DiskFate::Broken,
        (None, _) if voided > 0 => DiskFate::Void,
        (None, _) if promised == 0 => DiskFate::NothingPromised,
        (None, _) => DiskFate::Held,
    };
    let faults = served.iter().filter(|it| it.is_fault()).count() as u64;
    DiskSummary { name: disk.name.clone(), fate, busy: busy(served), faults, clients, slow, broken: first }
}

/// How long the drive had these requests.
fn busy<'a>(served: impl IntoIterator<Item = &'a Served>) -> Duration {
    served.into_iter().fold(Duration::ZERO, |sum, it| sum.checked_add(it.took()).unwrap_or(Duration::MAX))
}

/// Every request of a periodic client that came before the end.
fn arrivals(client: &DiskClientView, end: Instant) -> impl Iterator<Item = (u32, Instant)> {
    let periodic = client.periodic.filter(|it| !it[1].is_zero());
    let [offset, period, _] = periodic.unwrap_or_default();
    let first = periodic.map(|_| Instant::ZERO.saturating_add(offset));
    let next = move |at: &Instant| Some(at.saturating_add(period));
    (0..).zip(std::iter::successors(first, next).take_while(move |at| *at < end))
}

/// When promises ceased to bind, and why: the first of a request over its cell, a power cut, and more failures than the check
/// counts on. A request that was at the drive for longer than its cell when the power went, or the run ended, was over it too; one
/// that was given up is a failure.
fn withdrawn(disk: &DiskView, run: &DiskTrace) -> Option<SlowDrive> {
    let DiskTrace { served, power_cuts } = run;
    let over: Vec<&Served> =
        served.iter().filter(|it| it.outcome != Some(Outcome::Silent)).filter(|it| it.took() > it.expected).collect();
    let slower =
        over.iter().map(|it| (it.dispatched.saturating_add(it.expected), Withdrawn::Slower)).min_by_key(|it| it.0);
    let cut = power_cuts.first().map(|at| (*at, Withdrawn::PowerCut));
    let failed: Vec<&Served> =
        served.iter().filter(|it| it.is_fault() && it.outcome != Some(Outcome::PowerLost)).collect();
    let Tolerated { faults, within } = disk.tolerated;
    // The one that is one too many, counted from the first that is as near as a busy time.
    let many = failed.windows(faults as usize + 1).find(|near| match (near.first(), near.last()) {
        (Some(first), Some(last)) => last.dispatched.since(first.dispatched) <= within,
        _ => false,
    });
    let many = many.and_then(|near| Some((near.last()?.dispatched, Withdrawn::Failures)));
    let (from, why) = [slower, cut, many].into_iter().flatten().min_by_key(|it| it.0)?;
    let mut cells: Vec<SlowCell> = Vec::new();
    for it in &over {
        let (from, to) = ((!it.after_pause).then(|| disk.place(it.from)), disk.place(it.row));
        match cells.iter().position(|cell| (&cell.from, &cell.to) == (&from, &to)) {
            Some(n) => cells[n].took = cells[n].took.max(it.took()),
            None if cells.len() < NAMED => {
                cells.push(SlowCell { from, to, expected: it.expected, took: it.took() });
            }
            None => {}
        }
    }
    Some(SlowDrive { from, why, requests: over.len() as u64, cells })
}

impl DiskSummary {
    /// What became of the disk's promises, in one sentence without a full stop.
    pub fn headline(&self) -> String {
        let void: u64 = self.clients.iter().map(|client| client.void).sum();
        match (&self.broken, &self.slow) {
            (Some(DiskBroken { client, time, limit, actual, within: Some(within), .. }), _) => format!(
                "its drive was busy for client {client} for {actual} within {within} where its budget allows {limit}, at {time}"
            ),
            (Some(broken), _) => format!(
                "client {}, request {}: {} where {} was promised, at {}",
                broken.client, broken.number, broken.actual, broken.limit, broken.time
            ),
            (None, Some(slow)) => {
                let word = if void == 1 { "request" } else { "requests" };
                let undone = if self.faults > 0 { format!(", {} not done", self.faults) } else { String::new() };
                format!("{}: {void} {word} not as promised{undone}", slow.sentence())
            }
            (None, None) if self.faults > 0 => {
                let word = if self.faults == 1 { "request" } else { "requests" };
                format!("the drive did not do {} {word}, within what the check counts on", self.faults)
            }
            (None, None) => format!("the drive kept to its map; it was busy for {}", self.busy),
        }
    }
}

impl SlowDrive {
    /// `from 1.2 s on its drive took longer than its map says (log 3 to map 9: 11.2 ms where the cell says 9.6 ms; …)`
    pub fn sentence(&self) -> String {
        let cell = |cell: &SlowCell| match &cell.from {
            Some(from) => format!("{from} to {}: {} where the cell says {}", cell.to, cell.took, cell.expected),
            None => format!("{} after a pause: {} where {} is the longest", cell.to, cell.took, cell.expected),
        };
        match self.why {
            Withdrawn::Slower => {}
            Withdrawn::PowerCut => return format!("from {} on, when the power of its drive went", self.from),
            Withdrawn::Failures => {
                return format!("from {} on its drive failed more often than the check counts on", self.from)
            }
        }
        let named: Vec<String> = self.cells.iter().map(cell).collect();
        let all =
            if self.requests > NAMED as u64 { format!("; {} requests in all", self.requests) } else { String::new() };
        format!("from {} on its drive took longer than its map says ({}{all})", self.from, named.join("; "))
    }
}
