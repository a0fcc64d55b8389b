//! Rules of servers: what they may have, and who waits while a core could serve him.

use super::{Rule, Violation};
use crate::{run_end, Trace};
use std::collections::HashMap;
use tactus_record::{Kind, Record};
use tactus_time::{CoreId, CoreSet, Duration, Instant, TaskId};

/// A tree of servers as these rules need it.
#[derive(Clone, Debug)]
pub struct TreeView {
    /// The servers; place 0 is the root, and a server comes after the one that it is inside of.
    pub servers: Vec<ServerView>,
    /// The tasks, by `TaskId`.
    pub tasks: Vec<InTree>,
}

/// One server.
#[derive(Clone, Debug)]
pub struct ServerView {
    /// Place of the server that it is inside of; the root's is 0.
    pub parent: usize,
    /// Its cores; on each it has its whole budget.
    pub cores: CoreSet,
    /// How its cores share queues.
    pub queues: Vec<CoreSet>,
    /// Budget, period and what is promised of them; nothing for the root.
    pub supply: Option<(Duration, Duration, Bound)>,
    /// Whether it goes on without budget.
    pub background: bool,
    /// Whether its records tell whenever it has no budget; others lose it without a word, or get it back in pieces.
    pub tells: bool,
}

/// What a kind of server promises that it never exceeds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bound {
    /// A budget from each boundary of its periods to the next (periodic, polling, deferrable).
    Boundaries,
    /// Up to any instant, a budget for each period that has begun and one more (sporadic, hard bandwidth,
    /// priority-inheriting): a budget may be used late in one period and early in the next.
    Begun,
    /// Nothing in the short run (soft bandwidth; POSIX's).
    None,
}

/// One task.
#[derive(Clone, Copy, Debug)]
pub struct InTree {
    /// Place of its server.
    pub server: usize,
    /// The core, or one of the cores, whose queue it waits in; nothing where there is one queue.
    pub core: Option<CoreId>,
    /// How it is ordered among the others of its server.
    pub rank: Rank,
    /// Release of the first job, period and relative deadline.
    pub times: (Duration, Duration, Duration),
}

/// What makes a job urgent; the least goes first, and the lower task among equals.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rank {
    /// A number that is the task's.
    Fixed(u64),
    /// The job's deadline.
    Deadline,
    /// The job's release.
    Release,
    /// Something that changes as it runs; not judged.
    Changing,
}

impl TreeView {
    fn above(&self, task: TaskId) -> impl Iterator<Item = usize> + '_ {
        let mut at = self.tasks.get(task.index()).map_or(0, |task| task.server);
        std::iter::from_fn(move || {
            let here = at;
            at = self.servers.get(here).map_or(0, |server| server.parent);
            (here != 0).then_some(here)
        })
    }
    fn queue(&self, task: TaskId) -> CoreSet {
        let it = self.tasks[task.index()];
        let has = |queue: &&CoreSet| it.core.is_none_or(|core| queue.contains(core));
        self.servers[it.server].queues.iter().find(has).copied().unwrap_or(CoreSet::EMPTY)
    }
    fn urgency(&self, task: TaskId, job: u32) -> Option<(u64, TaskId)> {
        let it = self.tasks[task.index()];
        let (offset, period, deadline) = it.times;
        let release = offset.as_nanos() + period.as_nanos() * u64::from(job);
        let key = match it.rank {
            Rank::Fixed(key) => key,
            Rank::Deadline => release + deadline.as_nanos(),
            Rank::Release => release,
            Rank::Changing => return None,
        };
        Some((key, task))
    }
}

/// All rules of this file. `tolerance`: how much later than at once a core may notice what it should, each time.
pub fn servers(view: &TreeView, trace: &Trace, tolerance: Duration) -> Vec<Violation> {
    let mut found = supply(view, trace, tolerance);
    found.extend(replenishment(view, trace));
    found.extend(reservation(view, trace, tolerance));
    found.extend(no_events(view, trace));
    found.extend(waiting(view, trace, tolerance));
    found.sort_by_key(|v| v.time);
    found
}

fn violation(rule: Rule, time: Instant, core: usize, task: Option<(TaskId, u32)>, text: String) -> Violation {
    let (task, job) = task.unzip();
    Violation { rule, time, core: CoreId(core as u8), task, job, text }
}

/// Stretches in which each core ran a job, as time is charged: from decision to decision.
fn runs(trace: &Trace) -> impl Iterator<Item = (usize, TaskId, u32, Instant, Instant)> + '_ {
    let segments = crate::schedule::schedule_with(trace, crate::schedule::Boundary::Decision);
    segments
        .into_iter()
        .filter(|s| s.kind == crate::SegmentKind::Run)
        .filter_map(|s| Some((s.core.index(), s.task?, s.job, s.start, s.end)))
}

/// No server has more than its kind allows. A server that a late notice let overrun has that on top: one tolerance for each
/// budget that it used.
pub fn supply(view: &TreeView, trace: &Trace, tolerance: Duration) -> Vec<Violation> {
    // What each server had in each of its periods, on each core.
    let mut had: HashMap<(usize, usize), Vec<u64>> = HashMap::new();
    for (core, task, _, start, end) in runs(trace) {
        for server in view.above(task) {
            let Some((_, period, _)) = view.servers[server].supply.filter(|_| !view.servers[server].background) else {
                continue;
            };
            let (mut at, end, period) = (start.as_nanos(), end.as_nanos(), period.as_nanos().max(1));
            let periods = had.entry((server, core)).or_default();
            while at < end {
                let n = (at / period) as usize;
                let until = ((n as u64 + 1) * period).min(end);
                if periods.len() <= n {
                    periods.resize(n + 1, 0);
                }
                periods[n] += until - at;
                at = until;
            }
        }
    }
    let mut found = Vec::new();
    for ((server, core), periods) in had {
        let Some((budget, period, bound)) = view.servers[server].supply else { continue };
        let mut sum = 0;
        for (n, used) in periods.into_iter().enumerate() {
            sum += used;
            let times = n as u64 + 1;
            let each = budget.as_nanos() + tolerance.as_nanos();
            let (used, most) = match bound {
                Bound::Boundaries => (used, each),
                Bound::Begun => (sum, each.saturating_mul(times + 1)),
                Bound::None => continue,
            };
            if used > most {
                let text = format!("server {server} had {used} ns up to the end of its period {n}, at most {most}");
                let end = Instant::from_nanos(times * period.as_nanos());
                found.push(violation(Rule::Supply, end, core, None, text));
            }
        }
    }
    found
}

/// What comes to a server is never more than its budget, and never before the time that was told when it had none.
pub fn replenishment(view: &TreeView, trace: &Trace) -> Vec<Violation> {
    let mut found = Vec::new();
    for (core, records) in trace.cores.iter().enumerate() {
        let mut due: HashMap<usize, u64> = HashMap::new();
        for r in records {
            let server = r.job as usize;
            match r.kind {
                Kind::ServerExhausted => _ = due.insert(server, r.arg),
                Kind::ServerReplenish => {
                    let budget =
                        view.servers.get(server).and_then(|s| s.supply).map_or(0, |(budget, ..)| budget.as_nanos());
                    if r.arg > budget {
                        let text = format!("server {server} got {} ns, its budget is {budget}", r.arg);
                        found.push(violation(Rule::Replenishment, r.time, core, None, text));
                    }
                    if let Some(due) = due.remove(&server).filter(|due| *due != u64::MAX && r.time.as_nanos() < *due) {
                        let text = format!("server {server} got budget at {}, due at {due} ns", r.time);
                        found.push(violation(Rule::Replenishment, r.time, core, None, text));
                    }
                }
                _ => {}
            }
        }
    }
    found
}

/// From when a server told that it has no budget until when it said that more comes, nothing inside it runs there.
pub fn reservation(view: &TreeView, trace: &Trace, tolerance: Duration) -> Vec<Violation> {
    // Servers without budget on each core: from, until.
    let mut without: HashMap<(usize, usize), Vec<(Instant, Instant)>> = HashMap::new();
    for (core, records) in trace.cores.iter().enumerate() {
        for r in records.iter().filter(|r| r.kind == Kind::ServerExhausted && r.arg != u64::MAX) {
            without.entry((r.job as usize, core)).or_default().push((r.time, Instant::from_nanos(r.arg)));
        }
    }
    let mut found = Vec::new();
    for (core, task, job, start, end) in runs(trace) {
        for server in view.above(task).filter(|server| !view.servers[*server].background) {
            let Some(times) = without.get(&(server, core)) else { continue };
            let first = times.partition_point(|(_, until)| *until <= start);
            for (from, until) in times[first..].iter().take_while(|(from, _)| *from < end) {
                let ran = end.min(*until).since(start.max(*from));
                if ran > tolerance {
                    let text = format!("ran for {ran} in server {server}, which had no budget from {from} to {until}");
                    found.push(violation(Rule::Reservation, start, core, Some((task, job)), text));
                }
            }
        }
    }
    found
}

/// Where no queue has two cores, no core sends events.
pub fn no_events(view: &TreeView, trace: &Trace) -> Vec<Violation> {
    let shared = view.servers.iter().flat_map(|server| &server.queues).any(|queue| queue.iter().nth(1).is_some());
    let sent = trace.cores.iter().enumerate().flat_map(|(core, records)| records.iter().map(move |r| (core, r)));
    let sent = sent.filter(|(_, r)| r.kind == Kind::Notify && !shared);
    let text = |r: &Record| format!("an event for core {}, with which no queue is shared", r.arg);
    sent.map(|(core, r)| violation(Rule::NoEvents, r.time, core, None, text(r))).collect()
}

/// The two rules of a platform (global fixed-priority invariant, JUNIPER D3.6), for every order: for no longer than
/// `tolerance` (i) does a job wait while a core of its queue idles on which all servers above it have budget, (ii) does a
/// job wait while one of the same queue that is less urgent runs.
pub fn waiting(view: &TreeView, trace: &Trace, tolerance: Duration) -> Vec<Violation> {
    let mut records: Vec<(usize, &Record)> =
        trace.cores.iter().enumerate().flat_map(|(core, records)| records.iter().map(move |r| (core, r))).collect();
    records.retain(|(_, r)| r.kind.is_policy() && r.task.is_none_or(|task| task.index() < view.tasks.len()));
    records.sort_by_key(|(_, r)| r.time);
    let mut now = Waiting {
        view,
        pending: vec![Vec::new(); view.tasks.len()],
        stopped: vec![false; view.tasks.len()],
        running: vec![None; trace.cores.len()],
        without: HashMap::new(),
    };
    let mut since: Vec<Option<Instant>> = vec![None; view.tasks.len()];
    let mut found = Vec::new();
    let mut at = 0;
    while at < records.len() {
        let time = records[at].1.time;
        while let Some((core, r)) = records.get(at).filter(|(_, r)| r.time == time) {
            now.step(*core, r);
            at += 1;
        }
        let next = records.get(at).map_or_else(|| run_end(trace), |(_, r)| r.time);
        for (n, since) in since.iter_mut().enumerate() {
            let task = TaskId(n as u16);
            let Some((rule, core, job, text)) = now.wronged(task, time) else {
                *since = None;
                continue;
            };
            let from = *since.get_or_insert(time);
            // Told once.
            if next.since(from) > tolerance && time.since(from) <= tolerance {
                found.push(violation(rule, from, core, Some((task, job)), text));
            }
        }
    }
    found
}

struct Waiting<'v> {
    view: &'v TreeView,
    pending: Vec<Vec<u32>>,
    stopped: Vec<bool>,
    running: Vec<Option<(TaskId, u32)>>,
    /// Until when a server has no budget on a core.
    without: HashMap<(usize, usize), u64>,
}

impl Waiting<'_> {
    fn step(&mut self, core: usize, r: &Record) {
        if r.kind == Kind::ServerExhausted {
            self.without.insert((r.job as usize, core), r.arg);
        }
        let Some(task) = r.task else { return };
        let n = task.index();
        match r.kind {
            Kind::Release => self.pending[n].push(r.job),
            Kind::Dispatch => self.running[core] = Some((task, r.job)),
            Kind::Complete | Kind::Dropped => self.pending[n].retain(|job| *job != r.job),
            Kind::Removed => self.pending[n].clear(),
            Kind::Exhausted => self.stopped[n] = true,
            Kind::Replenish => self.stopped[n] = false,
            _ => {}
        }
        let ends = matches!(r.kind, Kind::Preempt | Kind::Complete | Kind::Dropped | Kind::Removed);
        if ends
            && self.running[core]
                .is_some_and(|(running, job)| running == task && (job == r.job || r.kind == Kind::Removed))
        {
            self.running[core] = None;
        }
    }

    /// Whether the task waits where it should not.
    fn wronged(&self, task: TaskId, now: Instant) -> Option<(Rule, usize, u32, String)> {
        let n = task.index();
        let job = *self.pending[n].first().filter(|_| !self.stopped[n])?;
        if self.running.iter().flatten().any(|(running, _)| *running == task) {
            return None;
        }
        let server = self.view.tasks[n].server;
        for core in self.view.queue(task).iter().map(CoreId::index).filter(|core| *core < self.running.len()) {
            match self.running[core] {
                None => {
                    let excused = self.view.above(task).any(|server| {
                        !self.view.servers[server].tells
                            || self.without.get(&(server, core)).is_some_and(|until| now.as_nanos() < *until)
                    });
                    if !excused {
                        return Some((Rule::Conserving, core, job, format!("waits beside idle core {core}")));
                    }
                }
                Some((running, other)) if self.view.tasks[running.index()].server == server => {
                    let (mine, its) = (self.view.urgency(task, job), self.view.urgency(running, other));
                    if mine.is_some() && mine < its {
                        let text = format!("waits while less urgent task {} runs on core {core}", running.0);
                        return Some((Rule::Order, core, job, text));
                    }
                }
                Some(_) => {}
            }
        }
        None
    }
}
