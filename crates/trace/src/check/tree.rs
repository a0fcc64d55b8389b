//! What becomes of a tree of servers while it runs.

use crate::order::in_order;
use crate::view::{Rank, ServerView, Trace, TreeChange, TreeView};
use std::collections::HashMap;
use tactus_record::{EventKind, Record, SlotValue};
use tactus_time::{CoreId, CoreSet, Duration, Instant, TaskId};

impl TreeView {
    /// When the scheduler of the task's queue decided last, as far as records tell; decisions in the middle of which it lost the core are
    /// left out, since they may never have been made.
    pub(crate) fn last_look(&self, trace: &Trace, task: TaskId) -> Instant {
        let (server, queue) = (self.tasks[task.index()].server, self.queue(task));
        let same = |r: &Record| {
            let task = r.task.filter(|task| task.index() < self.tasks.len() && r.kind.is_policy());
            task.is_some_and(|task| self.tasks[task.index()].server == server && self.queue(task) == queue)
        };
        let decided = |records: &[Record]| {
            let mut looks = records.iter().enumerate().rev().filter(|(_, r)| same(r));
            let whole = looks.find(|(n, _)| {
                let rest = &records[*n..];
                let end = rest.iter().position(|r| r.kind == EventKind::Leave);
                let next = end.and_then(|end| rest.get(end + 1).map(|next| (&rest[end], next)));
                next.is_none_or(|(end, next)| next.kind != EventKind::Enter || next.time > end.time)
            });
            whole.map(|(_, r)| r.time)
        };
        trace.cores.iter().filter_map(|records| decided(records)).max().unwrap_or(Instant::ZERO)
    }

    /// The servers at the start, on each core.
    pub(super) fn start(&self) -> Lengths {
        let one = |it: &ServerView| Length {
            there: !it.absent,
            parent: it.parent,
            lengths: it.supply.map(|(budget, period, _)| (budget, period)),
        };
        let servers: Vec<Length> = self.servers.iter().map(one).collect();
        let mut domains: Vec<(CoreSet, Vec<Length>)> = Vec::new();
        for core in self.servers.first().map_or(CoreSet::EMPTY, |root| root.cores).iter() {
            let cores = self.together(CoreSet::from_bits(1 << core.0));
            if !domains.iter().any(|(other, _)| *other == cores) {
                domains.push((cores, servers.clone()));
            }
        }
        Lengths(domains)
    }

    /// What the record changes, if it tells that a changes were applied.
    pub(super) fn change(&self, record: &Record) -> Option<TreeChange> {
        match (record.kind, record.task) {
            (EventKind::ChangeApplied, _) => self.changes.get(record.job as usize).copied(),
            (EventKind::SlotTask, Some(task)) => self.told(record, task),
            _ => None,
        }
    }

    /// What a record tells of a task of a slot: one of its values.
    fn told(&self, record: &Record, task: TaskId) -> Option<TreeChange> {
        let (mut rank, mut period, mut deadline) = (None, None, None);
        let length = Some(Duration::from_nanos(record.arg));
        match SlotValue::from_u8(record.level)? {
            SlotValue::Execution => {}
            SlotValue::Period => period = length,
            SlotValue::Deadline => deadline = length,
            SlotValue::Priority => {
                let fixed = self.tasks.get(task.index()).is_some_and(|it| matches!(it.rank, Rank::Fixed(_)));
                rank = fixed.then_some(Rank::Fixed(u64::from(u32::MAX).saturating_sub(record.arg)));
            }
        }
        Some(TreeChange::Task { task, rank, period, deadline })
    }

    /// For each server on each core, from when on it had which budget and period. Each begins with a full budget and a new
    /// period.
    pub(super) fn phases(&self, trace: &Trace) -> Phases {
        let mut now = self.start();
        let mut all = HashMap::new();
        for (n, server) in self.servers.iter().enumerate() {
            for core in server.cores.iter() {
                all.insert((n, core), vec![(Instant::ZERO, now.of(n, core))]);
            }
        }
        in_order(trace, |record| {
            let Some(change) = self.change(record) else { return };
            for (server, core) in now.take(self, record.core, change) {
                all.entry((server, core)).or_default().push((record.time, now.of(server, core)));
            }
        });
        Phases(all)
    }
}

/// From when on a server has which budget and period; nothing if it is not there.
pub(super) type Phase = (Instant, Option<(Duration, Duration)>);

/// What each server is on each core, and when.
pub(super) struct Phases(HashMap<(usize, CoreId), Vec<Phase>>);

impl Phases {
    pub(super) fn of(&self, server: usize, core: usize) -> &[Phase] {
        self.0.get(&(server, CoreId(core as u8))).map_or(&[], Vec::as_slice)
    }
}

/// A server between two changes.
#[derive(Clone)]
struct Length {
    there: bool,
    parent: usize,
    lengths: Option<(Duration, Duration)>,
}

/// The servers between two changes, on the cores of each domain: whether each is there, and its budget and period.
pub(super) struct Lengths(Vec<(CoreSet, Vec<Length>)>);

impl Lengths {
    /// Budget and period of the server on the core, if it is there and all that it lies in.
    pub(super) fn of(&self, server: usize, core: CoreId) -> Option<(Duration, Duration)> {
        let (_, servers) = self.0.iter().find(|(cores, _)| cores.contains(core))?;
        let it = servers.get(server)?;
        let way = std::iter::successors(Some(it), |it| (it.parent != 0).then(|| &servers[it.parent]));
        it.lengths.filter(|_| way.into_iter().all(|it| it.there))
    }

    /// Makes a changes that were applied on the core and those that share queues with it. Tells which servers it begins, ends or
    /// begins anew, and on which of these cores.
    pub(super) fn take(&mut self, view: &TreeView, core: CoreId, change: TreeChange) -> Vec<(usize, CoreId)> {
        let (server, there, named) = match change {
            TreeChange::Nothing | TreeChange::Task { .. } => return Vec::new(),
            TreeChange::Begins(server) => (server, Some(true), (None, None)),
            TreeChange::Ends(server) => (server, Some(false), (None, None)),
            TreeChange::Lengths { server, budget, period } => (server, None, (budget, period)),
        };
        let Some((cores, servers)) = self.0.iter_mut().find(|(cores, _)| cores.contains(core)) else {
            return Vec::new();
        };
        let cores = *cores;
        let Some(it) = servers.get_mut(server) else { return Vec::new() };
        it.there = there.unwrap_or(it.there);
        it.lengths = it.lengths.map(|(budget, period)| (named.0.unwrap_or(budget), named.1.unwrap_or(period)));
        // With a server begins and ends what lies in it.
        let inside = |n: usize| {
            let mut way = std::iter::successors(Some(n), |n| (*n != 0).then(|| view.servers[*n].parent));
            way.any(|n| n == server)
        };
        let concerned = (0..view.servers.len()).filter(|n| *n == server || (there.is_some() && inside(*n)));
        let on =
            |n: usize| view.servers[n].cores.iter().filter(|core| cores.contains(*core)).map(move |core| (n, core));
        concerned.flat_map(on).collect()
    }
}
