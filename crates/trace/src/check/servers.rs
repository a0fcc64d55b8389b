//! Rules of servers: what they may have, and who waits while a core could serve him. Where the system changes while it runs, each
//! stretch between two changes is judged by the values that it has.

use super::ceilings::Ceilings;
use super::tree::Lengths;
use super::{Rule, Violation};
use crate::jobs::UNLOADED;
use crate::order::in_order;
use crate::view::{InTree, Rank, TreeChange, TreeView};
use crate::{run_end, Trace};
use std::collections::HashMap;
use tactus_record::{EventKind, InputKind, Record};
use tactus_task::{MostTime, ServerKind, MOST_LOOKS};
use tactus_time::{CoreId, Duration, Instant, TaskId};

/// All rules of this file. `tolerance`: how much later than at once a core may notice what it should, each time.
pub fn servers(view: &TreeView, trace: &Trace, tolerance: Duration) -> Vec<Violation> {
    let mut found = supply(view, trace, tolerance);
    found.extend(misses(view, trace, tolerance));
    found.extend(super::yielding::of_tree(view, trace, tolerance));
    found.extend(replenishment(view, trace));
    found.extend(reservation(view, trace, tolerance));
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

/// No server has more than its kind allows, and none that is not there has anything. A server that a late notice let overrun has
/// that on top: one tolerance for each budget that it used. The end of a period is noticed late as well: what ran then, runs for up to
/// one tolerance on the budget of the period before. Periods are counted from the instant at which a change last touched the server on
/// that core.
pub fn supply(view: &TreeView, trace: &Trace, tolerance: Duration) -> Vec<Violation> {
    let phases = view.phases(trace);
    let mut found = Vec::new();
    // What each server had in each period of each of its phases, on each core.
    let mut had: HashMap<(usize, usize, usize), Vec<u64>> = HashMap::new();
    for (core, task, job, start, end) in runs(trace) {
        for server in view.above(task) {
            let phases = phases.of(server, core);
            for (n, (begin, lengths)) in phases.iter().enumerate() {
                let until = phases.get(n + 1).map_or(Instant::NEVER, |next| next.0);
                let (from, to) = (start.max(*begin), end.min(until));
                if from >= to {
                    continue;
                }
                let Some((_, period)) = lengths else {
                    let text = format!("runs in server {server}, which is not there");
                    found.push(violation(Rule::Change, from, core, Some((task, job)), text));
                    continue;
                };
                let (mut at, to) = (from.since(*begin).as_nanos(), to.since(*begin).as_nanos());
                let period = period.as_nanos().max(1);
                let periods = had.entry((server, core, n)).or_default();
                while at < to {
                    let n = (at / period) as usize;
                    let until = (n as u64 + 1).saturating_mul(period).saturating_add(tolerance.as_nanos()).min(to);
                    if periods.len() <= n {
                        periods.resize(n + 1, 0);
                    }
                    periods[n] += until - at;
                    at = until;
                }
            }
        }
    }
    for ((server, core, phase), periods) in had {
        let Some((.., kind)) = view.servers[server].supply.filter(|_| !view.servers[server].background) else {
            continue;
        };
        let (begin, Some((budget, period))) = phases.of(server, core)[phase] else { continue };
        let mut sum = 0;
        for (n, used) in periods.into_iter().enumerate() {
            sum += used;
            let times = n as u64 + 1;
            let each = budget.as_nanos().saturating_add(tolerance.as_nanos());
            let (used, most) = match kind.most_time() {
                MostTime::EachPeriod => (used, each),
                MostTime::Begun => (sum, each.saturating_mul(times + 1)),
                // Windows have a rule of their own.
                MostTime::Table | MostTime::Unlimited => continue,
            };
            if used > most {
                let since = if phase == 0 { String::new() } else { format!(" since its change at {begin}") };
                let text =
                    format!("server {server} had {used} ns up to the end of its period {n}{since}, at most {most}");
                let end = begin.saturating_add(Duration::from_nanos(times.saturating_mul(period.as_nanos())));
                found.push(violation(Rule::Supply, end, core, None, text));
            }
        }
    }
    found
}

/// No server asks memory for more lines than its budget of misses, nor makes it take back more than its budget of those. What a look at
/// the counter finds too late is paid by the periods that follow: up to the end of any period no more than one time between two looks,
/// and `tolerance`, are owed.
pub fn misses(view: &TreeView, trace: &Trace, tolerance: Duration) -> Vec<Violation> {
    let mut found = Vec::new();
    let line = view.line.as_nanos().max(1);
    for (n, server) in view.servers.iter().enumerate() {
        let Some((budget, period, ServerKind::Misses)) = server.supply else { continue };
        let late = (period / MOST_LOOKS).checked_add(tolerance).unwrap_or(Duration::MAX).as_nanos() / line;
        let period = period.as_nanos().max(1);
        let asked = (budget, InputKind::Misses, "asked for");
        let written = server.write_backs.map(|budget| (budget, InputKind::WriteBacks, "wrote back"));
        let budgets = core::iter::once(asked).chain(written);
        for (core, (budget, kind, did)) in
            server.cores.iter().flat_map(|core| budgets.clone().map(move |it| (core, it)))
        {
            let most = budget.as_nanos() / line;
            let (mut number, mut owed, mut used, mut given) = (0, 0_u64, 0_u64, Instant::ZERO);
            for r in trace.cores.get(core.index()).into_iter().flatten() {
                if r.kind == EventKind::Leave {
                    given = r.time;
                }
                let told = r.kind == EventKind::Input && r.level == kind as u8;
                let inside = r.task.is_some_and(|task| view.above(task).any(|at| at == n));
                if !told || !inside {
                    continue;
                }
                // Asked for since the task was given the core: up to the end of the period before, what memory can serve.
                let now = r.time.as_nanos() / period;
                let before = (now * period).saturating_sub(given.as_nanos()).div_ceil(line).min(r.arg);
                let parts = [(now.saturating_sub(1), before), (now, r.arg - before)];
                for (now, lines) in parts.into_iter().filter(|(_, lines)| *lines > 0) {
                    if now > number {
                        owed = (owed + used).saturating_sub(most.saturating_mul(now - number));
                        (number, used) = (now, 0);
                    }
                    let before = used;
                    used += lines;
                    let limit = most + late;
                    if owed + used > limit && owed + before <= limit {
                        let used = owed + used;
                        let text = format!("server {n} {did} {used} lines up to here in its period {number}, those that it owed included, at most {limit}");
                        found.push(violation(Rule::Supply, r.time, core.index(), r.task.map(|task| (task, 0)), text));
                    }
                }
            }
        }
    }
    found
}

/// A server on a core that a change began anew.
struct Anew {
    server: usize,
    core: CoreId,
}

/// What comes to a server is never more than its budget, and never before the time that was told when it had none; but that
/// a change begins it anew, at once and with the whole budget, on all cores that go through it together.
pub fn replenishment(view: &TreeView, trace: &Trace) -> Vec<Violation> {
    let mut found = Vec::new();
    let mut now = view.start();
    let mut due: HashMap<(usize, CoreId), u64> = HashMap::new();
    // By the core that made the change: the servers that it began anew, until their budgets are told there.
    let mut anew: HashMap<CoreId, Vec<Anew>> = HashMap::new();
    in_order(trace, |r| {
        let server = r.job as usize;
        let mut wrong = |text: String| found.push(violation(Rule::Replenishment, r.time, r.core.index(), None, text));
        if matches!(r.kind, EventKind::ChangeApplied | EventKind::Leave) {
            for Anew { server, .. } in anew.remove(&r.core).into_iter().flatten() {
                wrong(format!("server {server} was changed and got no budget"));
            }
        }
        match r.kind {
            EventKind::ChangeApplied => {
                let Some(change) = view.change(r) else { return };
                let mut concerned = now.take(view, r.core, change);
                concerned.iter().for_each(|of| _ = due.remove(of));
                anew.values_mut().for_each(|all| all.retain(|it| !concerned.contains(&(it.server, it.core))));
                concerned.retain(|(server, core)| now.of(*server, *core).is_some());
                for (server, core) in concerned {
                    anew.entry(r.core).or_default().push(Anew { server, core });
                }
            }
            EventKind::ServerExhausted => _ = due.insert((server, r.core), r.arg),
            EventKind::ServerReplenish => {
                let begun = anew.get_mut(&r.core);
                let first = begun.as_ref().and_then(|all| all.iter().position(|it| it.server == server));
                let (of, begins) = match begun.zip(first) {
                    Some((all, first)) => {
                        let it = all.remove(first);
                        ((it.server, it.core), true)
                    }
                    None => ((server, r.core), false),
                };
                let budget = now.of(of.0, of.1).map_or(0, |(budget, _)| budget.as_nanos());
                if r.arg > budget {
                    wrong(format!("server {server} got {} ns, its budget is {budget}", r.arg));
                } else if begins && r.arg < budget {
                    wrong(format!("server {server} begins anew with {} ns of its budget of {budget}", r.arg));
                }
                if let Some(due) = due.remove(&of).filter(|due| *due != u64::MAX && r.time.as_nanos() < *due) {
                    wrong(format!("server {server} got budget at {}, due at {due} ns", r.time));
                }
            }
            _ => {}
        }
    });
    found
}

/// From when a server told that it has no budget until when it said that more comes, or a change begins it anew, nothing inside
/// it runs there.
pub fn reservation(view: &TreeView, trace: &Trace, tolerance: Duration) -> Vec<Violation> {
    // Servers without budget on each core: from, until.
    let mut without: HashMap<(usize, usize), Vec<(Instant, Instant)>> = HashMap::new();
    let mut now = view.start();
    in_order(trace, |r| {
        if r.kind == EventKind::ServerExhausted && r.arg != u64::MAX {
            without.entry((r.job as usize, r.core.index())).or_default().push((r.time, Instant::from_nanos(r.arg)));
        }
        let Some(change) = view.change(r) else { return };
        for (server, core) in now.take(view, r.core, change) {
            if let Some((_, until)) = without.get_mut(&(server, core.index())).and_then(|times| times.last_mut()) {
                *until = r.time.min(*until);
            }
        }
    });
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

/// The two rules of a platform (global fixed-priority invariant, JUNIPER D3.6), for every order: for no longer than
/// `tolerance` (i) does a job wait while a core of its queue idles on which all servers above it have budget, (ii) does a
/// job wait while one of the same queue that is less urgent runs.
pub fn waiting(view: &TreeView, trace: &Trace, tolerance: Duration) -> Vec<Violation> {
    let mut records: Vec<(usize, &Record)> =
        trace.cores.iter().enumerate().flat_map(|(core, records)| records.iter().map(move |r| (core, r))).collect();
    records.retain(|(_, r)| {
        let of_resources = view.ceilings.is_some() && (Ceilings::concerns(r) || r.kind == EventKind::Leave);
        (r.kind.is_policy() || of_resources || r.kind == EventKind::SlotTask)
            && r.task.is_none_or(|task| task.index() < view.tasks.len())
    });
    records.sort_by_key(|(_, r)| r.time);
    let mut now = Waiting {
        view,
        tasks: view.tasks.clone(),
        servers: view.start(),
        pending: vec![Vec::new(); view.tasks.len()],
        stopped: vec![false; view.tasks.len()],
        waits: vec![false; view.tasks.len()],
        running: vec![None; trace.cores.len()],
        begun: trace.cores.iter().map(|records| records.first().map_or(Instant::ZERO, |r| r.time)).collect(),
        without: HashMap::new(),
        ceilings: view.ceilings.as_ref().map(|ceilings| Ceilings::new(ceilings, &view.tasks)),
        begins: Vec::new(),
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
    found.append(&mut now.begins);
    found
}

struct Waiting<'v> {
    view: &'v TreeView,
    /// How each task is ordered.
    tasks: Vec<InTree>,
    servers: Lengths,
    /// Jobs that are not finished, with their releases.
    pending: Vec<Vec<(u32, Instant)>>,
    stopped: Vec<bool>,
    /// By task: whether its oldest job waits.
    waits: Vec<bool>,
    running: Vec<Option<(TaskId, u32)>>,
    /// When each core was entered first: before that it is on its way there, and does not idle.
    begun: Vec<Instant>,
    /// Until when a server has no budget on a core.
    without: HashMap<(usize, usize), u64>,
    ceilings: Option<Ceilings<'v>>,
    /// What was wrong when a job began.
    begins: Vec<Violation>,
}

impl Waiting<'_> {
    fn step(&mut self, core: usize, r: &Record) {
        if r.kind == EventKind::ServerExhausted {
            self.without.insert((r.job as usize, core), r.arg);
        }
        if let Some(change) = self.view.change(r) {
            self.change(core, change);
        }
        let Some(task) = r.task else { return };
        let n = task.index();
        if r.kind == EventKind::Dispatch {
            self.begins.extend(self.wrong_begin(core, r.time, (task, r.job)));
        }
        if let Some(ceilings) = &mut self.ceilings {
            ceilings.step(r);
        }
        match r.kind {
            EventKind::Release => self.pending[n].push((r.job, Instant::from_nanos(r.arg))),
            EventKind::Dispatch => self.running[core] = Some((task, r.job)),
            EventKind::Dropped if r.arg == UNLOADED => self.pending[n].clear(),
            EventKind::Complete | EventKind::Dropped => self.pending[n].retain(|(job, _)| *job != r.job),
            EventKind::Removed => self.pending[n].clear(),
            EventKind::Exhausted => self.stopped[n] = true,
            EventKind::Replenish => self.stopped[n] = false,
            EventKind::Wait => self.waits[n] = true,
            EventKind::Wake => self.waits[n] = false,
            _ => {}
        }
        if matches!(r.kind, EventKind::Dropped if r.arg != 0) {
            // Its job may have waited.
            self.waits[n] = false;
        }
        let ends = matches!(
            r.kind,
            EventKind::Preempt | EventKind::Wait | EventKind::Complete | EventKind::Dropped | EventKind::Removed
        );
        if ends
            && self.running[core]
                .is_some_and(|(running, job)| running == task && (job == r.job || r.kind == EventKind::Removed))
        {
            self.running[core] = None;
        }
    }

    fn change(&mut self, core: usize, change: TreeChange) {
        if let TreeChange::Task { task, rank, period, deadline } = change {
            if let Some(it) = self.tasks.get_mut(task.index()) {
                it.alter(rank, period, deadline);
            }
        }
        for (server, core) in self.servers.take(self.view, CoreId(core as u8), change) {
            self.without.remove(&(server, core.index()));
        }
    }

    /// What is wrong if the job begins now. A job that is kept off makes all others wait that have not begun, or a less urgent one
    /// would go before it.
    fn wrong_begin(&self, core: usize, now: Instant, (task, job): (TaskId, u32)) -> Option<Violation> {
        let ceilings = self.ceilings.as_ref().filter(|ceilings| !ceilings.has_begun(task))?;
        if let Some(other) = ceilings.keeps_off(task) {
            let text = format!("begins though task {} has begun and keeps it off", other.0);
            return Some(violation(Rule::Ceiling, now, core, Some((task, job)), text));
        }
        let own = self.urgency(task, job)?;
        let (_, first) = self.waiting_on(core).find(|(urgency, _)| *urgency < own)?;
        let text = format!("begins though more urgent task {} waits", first.0);
        Some(violation(Rule::Order, now, core, Some((task, job)), text))
    }

    /// The oldest unfinished job of each task that may run on the core, with its urgency.
    fn waiting_on(&self, core: usize) -> impl Iterator<Item = ((Instant, TaskId), TaskId)> + '_ {
        let tasks = (0..self.pending.len()).filter(|n| !self.stopped[*n] && !self.waits[*n]).map(|n| TaskId(n as u16));
        let here = tasks.filter(move |task| self.view.queue(*task).contains(CoreId(core as u8)));
        here.filter_map(|task| {
            let (job, _) = self.pending[task.index()].first()?;
            Some((self.urgency(task, *job)?, task))
        })
    }

    /// Whether the task waits since a job that has begun keeps it off, or the most urgent one, before which it may not go.
    fn is_kept_off(&self, task: TaskId, core: usize) -> bool {
        let Some(ceilings) = self.ceilings.as_ref().filter(|ceilings| !ceilings.has_begun(task)) else { return false };
        self.waiting_on(core).min().is_some_and(|(_, first)| ceilings.keeps_off(first).is_some())
    }

    /// How urgent what runs on the core is: as urgent as the most urgent of those that wait for what it holds.
    fn urgency_of_running(&self, (task, job): (TaskId, u32), core: usize) -> Option<(Instant, TaskId)> {
        let own = self.urgency(task, job)?;
        let Some(ceilings) = &self.ceilings else { return Some(own) };
        let inherited = self.waiting_on(core).filter(|(_, other)| ceilings.proxy(*other) == Some(task));
        inherited.map(|(urgency, _)| urgency).chain([own]).min()
    }

    /// How urgent a job is that is not finished; nothing if that is not judged.
    fn urgency(&self, task: TaskId, job: u32) -> Option<(Instant, TaskId)> {
        let (_, release) = *self.pending[task.index()].iter().find(|(other, _)| *other == job)?;
        let it = &self.tasks[task.index()];
        let key = match it.fixed_rank() {
            Rank::Fixed(key) => Instant::from_nanos(key),
            // None goes before its equals.
            Rank::FixedInTurn(key) => return Some((Instant::from_nanos(key), TaskId(0))),
            Rank::Deadline => release.saturating_add(it.deadline),
            Rank::Release => release,
            Rank::RelativeDeadline | Rank::Dynamic => return None,
        };
        Some((key, task))
    }

    /// Whether the task waits where it should not.
    fn wronged(&self, task: TaskId, now: Instant) -> Option<(Rule, usize, u32, String)> {
        let n = task.index();
        let (job, _) = *self.pending[n].first().filter(|_| !self.stopped[n] && !self.waits[n])?;
        if self.running.iter().flatten().any(|(running, _)| *running == task) {
            return None;
        }
        let server = self.view.tasks[n].server;
        for core in self.view.queue(task).iter().map(CoreId::index).filter(|core| *core < self.running.len()) {
            match self.running[core] {
                None => {
                    let spins = self.ceilings.as_ref().is_some_and(|it| it.spins(CoreId(core as u8)));
                    let excused = spins
                        || now < self.begun[core]
                        || self.view.above(task).any(|server| {
                            !self.view.servers[server].records_budget()
                                || self.without.get(&(server, core)).is_some_and(|until| now.as_nanos() < *until)
                        });
                    if !excused {
                        return Some((Rule::Conserving, core, job, format!("waits beside idle core {core}")));
                    }
                }
                Some((running, other)) if self.view.tasks[running.index()].server == server => {
                    let (mine, its) = (self.urgency(task, job), self.urgency_of_running((running, other), core));
                    if mine.is_some() && mine < its && !self.is_kept_off(task, core) {
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
