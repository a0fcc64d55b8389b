//! Random trees of servers, and what must hold whatever they are.

use super::{invariants, Entry};
use proptest::prelude::*;
use std::collections::BTreeMap;
use tactus_policy::{
    Overrun, PolicyConfig, PolicySpec, Server, ServerKind, Supply, Task, TaskOrder, TaskPlacement, Tree,
};
use tactus_record::EventKind;
use tactus_task::MostTime;
use tactus_time::{CoreId, CoreSet, Duration, Level, TaskId};

fn set(bits: u8) -> CoreSet {
    CoreSet::from_bits(bits)
}

/// A kind with a budget of time that charges what ran.
pub fn kinds() -> impl Strategy<Value = ServerKind> {
    let charges = |kind: &ServerKind| kind.has_time_budget() && *kind != ServerKind::Reclaiming;
    prop::sample::select(ServerKind::ALL.into_iter().filter(charges).collect::<Vec<_>>())
}

/// Trees of up to three levels of servers below the root on up to four cores, with periods from `shortest` to four times
/// that; quanta and budgets are at least a tenth of `shortest`.
pub fn trees(shortest: u64) -> impl Strategy<Value = PolicyConfig> {
    let server = (
        any::<u16>(),
        any::<u8>(),
        kinds(),
        1u64..10,
        shortest..shortest * 4,
        (0usize..TaskOrder::ALL.len(), 0u32..3, any::<bool>(), any::<bool>()),
    );
    let task = (any::<u16>(), any::<u8>(), 0u64..shortest, shortest..shortest * 4, 1u64..10, 0u32..4, 0usize..4);
    let least = (shortest / 10).max(1);
    (1usize..=4, 0usize..TaskOrder::ALL.len(), prop::collection::vec(server, 0..6), prop::collection::vec(task, 1..8))
        .prop_map(move |(cores, order, servers, tasks)| {
            let all = CoreSet::first(cores).bits();
            let mut tree = vec![Server {
                parent: 0,
                cores: set(all),
                order: TaskOrder::ALL[order],
                queues: Vec::new(),
                quantum: Duration::from_nanos(least),
                supply: None,
                priority: 0,
                background: false,
            }];
            let mut depth = vec![0];
            for (parent, cores, kind, tenths, period, (order, priority, background, _)) in &servers {
                let mut parent = usize::from(*parent) % tree.len();
                while depth[parent] == 3 {
                    parent = usize::from(tree[parent].parent);
                }
                let within = tree[parent].cores.bits();
                let own = if cores & within == 0 { within } else { cores & within };
                let budget = (period * tenths / 10).max(1);
                depth.push(depth[parent] + 1);
                tree.push(Server {
                    parent: parent as u16,
                    cores: set(own),
                    order: TaskOrder::ALL[*order],
                    queues: Vec::new(),
                    quantum: Duration::from_nanos(least),
                    supply: Some(Supply {
                        kind: *kind,
                        budget: Duration::from_nanos(budget),
                        period: Duration::from_nanos(*period),
                        write_backs: None,
                    }),
                    priority: *priority,
                    background: *background,
                });
            }
            for n in 0..tree.len() {
                let inner = tree.iter().skip(1).any(|child| usize::from(child.parent) == n);
                let shared = n == 0 || servers[n - 1].5 .3;
                let bits = tree[n].cores.bits();
                tree[n].queues = if shared && !inner {
                    vec![set(bits)]
                } else {
                    (0..8).map(|core| 1u8 << core).filter(|core| bits & core != 0).map(set).collect()
                };
                if inner {
                    tree[n].order =
                        TaskOrder::ALL[TaskOrder::ALL.iter().position(|o| *o == tree[n].order).unwrap_or(0) % 4];
                }
            }
            let rules = [Overrun::Continue, Overrun::Skip, Overrun::Stop, Overrun::Kill];
            let mut places = Vec::new();
            let tasks = tasks
                .into_iter()
                .map(|(server, core, offset, period, budget, priority, rule)| {
                    let server = usize::from(server) % tree.len();
                    places.push(TaskPlacement { server: server as u16, priority, overrun: rules[rule] });
                    let own: Vec<CoreId> = tree[server].cores.iter().collect();
                    let core = (tree[server].queues.len() > 1).then(|| own[usize::from(core) % own.len()]);
                    let time = Duration::from_nanos;
                    let (period, budget) = (time(period), time(budget * least));
                    Task { level: Level::A, core, offset: time(offset), period, deadline: period, budget }
                })
                .collect();
            PolicyConfig {
                cores,
                kind: PolicySpec::Servers(Tree {
                    servers: tree,
                    places,
                    releases: Vec::new(),
                    waits: Vec::new(),
                    line: Duration::ZERO,
                    seed: 0,
                }),
                tasks,
            }
        })
}

/// The parts of a set-up for a tree.
fn parts(setup: &PolicyConfig) -> &Tree {
    match &setup.kind {
        PolicySpec::Servers(tree) => tree,
        other => panic!("{other:?}"),
    }
}

/// The servers from a task's up to the root, which is left out.
fn above(tree: &Tree, task: TaskId) -> Vec<usize> {
    let mut path = Vec::new();
    let mut at = usize::from(tree.places[task.index()].server);
    while at != 0 {
        path.push(at);
        at = usize::from(tree.servers[at].parent);
    }
    path
}

/// A server without background service gets no more than its bandwidth. Kinds that are full at each boundary: no more than
/// a budget from one to the next. The others: up to any instant, a budget for each period that has begun and one more. (A
/// strict window of one budget in one period would fail on right servers, which may defer a budget, and in an overloaded
/// system for as long as they like: trap in reference A4.)
pub fn bandwidth(setup: &PolicyConfig, entries: &[Entry], end: u64) {
    let tree = parts(setup);
    for (n, server) in tree.servers.iter().enumerate().skip(1) {
        let Some(supply) = server.supply.filter(|_| !server.background) else { continue };
        // It knows no bound.
        if supply.kind == ServerKind::SoftBandwidth {
            continue;
        }
        for core in server.cores.iter() {
            let mut used = vec![0u64; end as usize + 1];
            for (i, entry) in entries.iter().enumerate() {
                let until = entries.get(i + 1).map_or(end, |next| next.now.as_nanos()).min(end);
                let Some((task, _)) = entry.running[core.index()] else { continue };
                if above(tree, task).contains(&n) {
                    (entry.now.as_nanos()..until).for_each(|at| used[at as usize] = 1);
                }
            }
            let mut sums = vec![0u64];
            used.iter().for_each(|now| sums.push(sums[sums.len() - 1] + now));
            let (q, p) = (supply.budget.as_nanos(), supply.period.as_nanos());
            for to in 0..=end {
                let (had, most) = (sums[to as usize], (to.div_ceil(p) + 1) * q);
                assert!(had <= most, "server {n} on core {core} had {had} before {to}, at most {most}");
            }
            if supply.kind.most_time() == MostTime::EachPeriod {
                for k in 0..end / p {
                    let had = sums[((k + 1) * p) as usize] - sums[(k * p) as usize];
                    assert!(had <= q, "server {n} on core {core} had {had} of {q} in its period {k}");
                }
            }
        }
    }
}

/// No core idles beside a job that it could run: where a job waits, each idle core that shares its queue has a server on
/// the way down that has said that it is without budget. And no job waits while one of its queue runs that is less urgent.
pub fn global_invariant(setup: &PolicyConfig, entries: &[Entry]) {
    let tree = parts(setup);
    let mut pending: BTreeMap<TaskId, Vec<u32>> = BTreeMap::new();
    let mut stopped: BTreeMap<TaskId, bool> = BTreeMap::new();
    // When each server on each core is without budget until.
    let mut without: BTreeMap<(usize, usize), u64> = BTreeMap::new();
    for (n, entry) in entries.iter().enumerate() {
        for record in &entry.records {
            if record.kind == EventKind::ServerExhausted {
                without.insert((record.job as usize, entry.core), record.arg);
            }
            let Some(task) = record.task else { continue };
            match record.kind {
                EventKind::Release => pending.entry(task).or_default().push(record.job),
                EventKind::Complete | EventKind::Dropped => {
                    pending.entry(task).or_default().retain(|job| *job != record.job)
                }
                EventKind::Removed => pending.entry(task).or_default().clear(),
                EventKind::Exhausted => _ = stopped.insert(task, true),
                EventKind::Replenish => _ = stopped.insert(task, false),
                _ => {}
            }
        }
        let now = entry.now.as_nanos();
        if entries.get(n + 1).is_some_and(|next| next.now == entry.now) || entry.event == tactus_policy::Event::Start {
            continue;
        }
        for (task, jobs) in &pending {
            let Some(job) = jobs.first().filter(|_| !stopped.get(task).copied().unwrap_or(false)) else { continue };
            if entry.running.iter().flatten().any(|(running, _)| running == task) {
                continue;
            }
            let server = &tree.servers[usize::from(tree.places[task.index()].server)];
            let core = setup.tasks[task.index()].core;
            let queue = server.queues.iter().find(|q| core.is_none_or(|core| q.contains(core))).expect("a queue");
            for core in queue.iter().map(CoreId::index) {
                match entry.running[core] {
                    None => {
                        let excused = above(tree, *task).into_iter().any(|server| {
                            let kind = tree.servers[server].supply.expect("a server").kind;
                            // A polling server's budget goes without a word.
                            let silent = matches!(kind, ServerKind::Polling | ServerKind::Periodic);
                            let other = !matches!(kind, ServerKind::HardBandwidth | ServerKind::Deferrable);
                            (silent || other) || without.get(&(server, core)).is_some_and(|until| now < *until)
                        });
                        assert!(excused, "task {} waits at {now} beside idle core {core}", task.0);
                    }
                    Some((running, other)) => {
                        let same = tree.places[running.index()].server == tree.places[task.index()].server;
                        if !same {
                            continue;
                        }
                        let release = |task: TaskId, job: u32| {
                            let it = &setup.tasks[task.index()];
                            it.offset.as_nanos() + it.period.as_nanos() * u64::from(job)
                        };
                        let urgency = |task: TaskId, job: u32| {
                            let it = &setup.tasks[task.index()];
                            let key = match server.order {
                                TaskOrder::FixedPriority => u64::from(9 - tree.places[task.index()].priority),
                                TaskOrder::RateMonotonic => it.period.as_nanos(),
                                TaskOrder::DeadlineMonotonic => it.deadline.as_nanos(),
                                TaskOrder::EarliestDeadline => release(task, job) + it.deadline.as_nanos(),
                                TaskOrder::FirstComeFirstServed => release(task, job),
                                TaskOrder::ShortestJob => it.budget.as_nanos(),
                                _ => return None,
                            };
                            Some((key, task))
                        };
                        let (mine, its) = (urgency(*task, *job), urgency(running, other));
                        assert!(
                            mine >= its,
                            "task {} waits at {now} while less urgent task {} runs",
                            task.0,
                            running.0
                        );
                    }
                }
            }
        }
    }
}

/// All of the above, for a run without delay.
pub fn check(setup: &PolicyConfig, entries: &[Entry], end: u64) {
    invariants::check(setup, entries);
    bandwidth(setup, entries, end);
    global_invariant(setup, entries);
}
