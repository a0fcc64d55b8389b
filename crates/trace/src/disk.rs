//! Disks: the requests of a run against what was promised of them.
//!
//! A promise binds while the drive keeps to its map. It ends at the instant at which the first request takes longer than
//! its cell says, at which the power goes, or at which more requests have failed than the check counts on; what is missed from
//! then on is the drive's doing, and its cells are named. A request that came and was not served counts with the time that had
//! passed at the end of the run. Best-effort clients are held to their budgets, whatever the drive does.

use crate::disk_budget::{exceeded, Taken};
use crate::summary::{DiskBroken, DiskClientSummary, DiskFate, DiskSummary, SlowCell, SlowDrive, Withdrawn};
use crate::view::{DiskClientView, DiskTrace, DiskView, Served, Tolerated, View};
use crate::Distribution;
use std::collections::HashMap;
use tactus_disk::Outcome;
use tactus_time::{Duration, Instant};

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
