//! From a tree to domains: all memory that they will ever need is taken here.

use super::budget::Budget;
use super::domain::{CoreState, Domain, RunQueue, VirtualProcessor, NOWHERE};
use super::parameters::{Server, Tree};
use super::queues::Queues;
use super::task_state::TaskState;
use crate::heap::{IndexedHeap, Key};
use crate::PolicyConfig;
use alloc::vec::Vec;
use tactus_task::{Release, ServerKind, TaskOrder};
use tactus_time::{CoreId, CoreSet, Instant, TaskId, MAX_CORES};

/// The sets of cores that share queues, directly or by others.
pub(super) fn domains(setup: &PolicyConfig, tree: &Tree) -> Vec<CoreSet> {
    let mut sets: Vec<CoreSet> = (0..setup.cores).map(|core| one(CoreId(core as u8))).collect();
    // Where a job releases another one, both are in one domain.
    let mut linked = links(setup, tree);
    // Any job may wake any other one.
    linked.extend(super::check::has_events(setup).then(|| CoreSet::first(setup.cores)));
    for queue in tree.servers.iter().flat_map(|server| &server.queues).chain(&linked) {
        let (apart, mut together): (Vec<CoreSet>, Vec<CoreSet>) =
            sets.into_iter().partition(|set| set.bits() & queue.bits() == 0);
        together.sort_by_key(|set| set.bits().trailing_zeros());
        let joined = together.iter().fold(0, |all, set| all | set.bits());
        sets = apart;
        if joined != 0 {
            sets.push(CoreSet::from_bits(joined));
        }
    }
    sets.sort_by_key(|set| set.bits().trailing_zeros());
    sets
}

/// The cores of each task that other tasks' completions release, and of those others.
fn links(setup: &PolicyConfig, tree: &Tree) -> Vec<CoreSet> {
    let cores = |task: usize| {
        let server = &tree.servers[usize::from(tree.places[task].server)];
        queue_of(server, setup.tasks[task].core).map_or(0, |queue| server.queues[queue].bits())
    };
    let linked = |(n, release): (usize, &Release)| {
        release.predecessor().map(|before| CoreSet::from_bits(cores(n) | cores(before.index())))
    };
    tree.releases.iter().enumerate().filter_map(linked).collect()
}

fn one(core: CoreId) -> CoreSet {
    let mut set = CoreSet::EMPTY;
    set.insert(core);
    set
}

/// Which of the server's queues a task with this core is in.
pub(super) fn queue_of(server: &Server, core: Option<CoreId>) -> Option<usize> {
    match core {
        Some(core) => server.queues.iter().position(|set| set.contains(core)),
        None => (server.queues.len() == 1).then_some(0),
    }
}

/// Makes the domain of these cores.
pub(super) fn domain(setup: &PolicyConfig, tree: &Tree, cores: CoreSet) -> Domain {
    let within = |set: &CoreSet| set.bits() & cores.bits() != 0;
    let place_of = |core: CoreId| cores.iter().position(|other| other == core).unwrap_or(0);
    // Queues and virtual processors, in the order of servers.
    let mut run_queues: Vec<RunQueue> = Vec::new();
    let mut queue_numbers: Vec<(usize, usize, usize)> = Vec::new();
    let mut vps: Vec<VirtualProcessor> = Vec::new();
    let mut homes: Vec<u32> = Vec::new();
    let mut by_core: Vec<[Option<usize>; MAX_CORES]> = Vec::new();
    for (number, server) in tree.servers.iter().enumerate() {
        by_core.push([None; MAX_CORES]);
        for (group, set) in server.queues.iter().enumerate().filter(|(_, set)| within(set)) {
            let queue = run_queues.len();
            queue_numbers.push((number, group, queue));
            let mut members = Vec::new();
            for core in set.iter() {
                let parent = (number > 0).then(|| by_core[usize::from(server.parent)][core.index()]).flatten();
                by_core[number][core.index()] = Some(vps.len());
                members.push(vps.len());
                homes.push(parent.map_or(u32::MAX, |parent| vps[parent].below as u32));
                vps.push(vp(tree, number, place_of(core), parent, queue));
            }
            let (ran, looks) = (Vec::new(), false);
            let inside = |other: &&Server| usize::from(other.parent) == number;
            let kinds = tree.servers[1..].iter().filter(inside).filter_map(|other| other.supply).map(|it| it.kind);
            let active = kinds.into_iter().any(|kind| kind == ServerKind::Reclaiming).then_some(0);
            let quantum = server.quantum;
            run_queues.push(RunQueue { quantum, vps: members, turns: 0, waiting: None, ran, looks, active });
        }
    }
    let mut tasks: Vec<TaskState> = Vec::new();
    let mut task_homes: Vec<u32> = Vec::new();
    let mut due = Vec::new();
    let unforeseen = tree.releases.iter().any(|release| *release != Release::Periodic);
    let mut places = alloc::vec![NOWHERE; if unforeseen { setup.tasks.len() } else { 0 }];
    for (n, (task, place)) in setup.tasks.iter().zip(&tree.places).enumerate() {
        let server = usize::from(place.server);
        let group = queue_of(&tree.servers[server], task.core);
        let queue = queue_numbers.iter().find(|(s, g, _)| *s == server && Some(*g) == group);
        let Some((_, _, queue)) = queue else { continue };
        let release = tree.releases.get(n).copied().unwrap_or_default();
        let order = tree.servers[server].order;
        let mut work = TaskState::new((TaskId(n as u16), task), (place, release, tree.seed), order, *queue);
        work.limit = tree.waits.get(n).copied().unwrap_or_default();
        if let Some(place) = places.get_mut(n) {
            *place = tasks.len();
        }
        due.extend(work.next_event().map(|first| Key::at(first, tasks.len())));
        task_homes.push(*queue as u32);
        tasks.push(work);
    }
    let by_laxity = |task: &&TaskState| task.order == TaskOrder::LeastLaxity;
    for (queue, run_queue) in run_queues.iter_mut().enumerate() {
        run_queue.ran.reserve_exact(tasks.iter().filter(|task| task.queue == queue).filter(by_laxity).count());
    }
    let laxities = tasks.iter().any(|task| by_laxity(&task));
    let mut fed = alloc::vec![false; vps.len()];
    for vp in tasks.iter().flat_map(|task| &run_queues[task.queue].vps) {
        let up = core::iter::successors(Some(*vp), |at| vps[*at].parent);
        up.for_each(|at| fed[at] = true);
    }
    let mut heap = IndexedHeap::for_tasks(tasks.len());
    due.into_iter().for_each(|key| heap.insert(key));
    // The virtual processors of the root are in no queue; they are given one that nobody looks at.
    let nowhere = run_queues.len() as u32;
    task_homes.extend(homes.into_iter().map(|home| if home == u32::MAX { nowhere } else { home }));
    let root = |core: CoreId| by_core[0][core.index()].unwrap_or(0);
    let core_states =
        cores.iter().map(|core| CoreState::new(core, vps.len(), (root(core), vps[root(core)].below))).collect();
    let shared = (0..run_queues.len()).filter(|queue| run_queues[*queue].vps.len() > 1).collect();
    let mut domain = Domain {
        core_states,
        shared,
        due: heap,
        aside: Vec::with_capacity(vps.len()),
        picked: Vec::with_capacity(MAX_CORES),
        passed: Vec::with_capacity(MAX_CORES),
        successors: successors(tree, &places),
        places,
        entry: 0,
        changes: None,
        slots: None,
        update: None,
        events: None,
        resources: None,
        sequence: None,
        schedules: None,
        lost: false,
        laxities,
        line: tree.line,
        arrives_alone: false,
        arrives_first: false,
        queues: Queues::new(run_queues.len() + 1, task_homes),
        tasks,
        vps,
        run_queues,
    };
    // What can never have work is not there: a polling server would be something to do for the server around it.
    for (vp, fed) in fed.into_iter().enumerate() {
        let nested = domain.vps[vp].parent.is_some_and(|parent| domain.vps[parent].parent.is_some());
        domain.vps[vp].cannot_have_work = nested && !fed;
    }
    for vp in 0..domain.vps.len() {
        domain.show(vp, tactus_time::Instant::ZERO);
    }
    domain
}

/// Each task of the domain whose completions release another, with that one.
fn successors(tree: &Tree, places: &[usize]) -> Vec<(usize, usize)> {
    let pair = |(n, release): (usize, &Release)| {
        let (before, after) = (places[release.predecessor()?.index()], places[n]);
        (before != NOWHERE && after != NOWHERE).then_some((before, after))
    };
    tree.releases.iter().enumerate().filter_map(pair).collect()
}

fn vp(tree: &Tree, number: usize, core: usize, parent: Option<usize>, below: usize) -> VirtualProcessor {
    let server = &tree.servers[number];
    let order = tree.servers[usize::from(server.parent)].order;
    let yields = server.supply.is_some_and(|supply| supply.kind.yields());
    let rank = match order {
        // Behind all that has a budget.
        _ if yields => u64::MAX,
        TaskOrder::FixedPriority => u64::from(u32::MAX - server.priority),
        _ => server.supply.map_or(0, |supply| supply.period.as_nanos()),
    };
    VirtualProcessor {
        server: number as u16,
        core,
        parent,
        below,
        budget: server.supply.as_ref().map(Budget::new),
        order,
        rank,
        background: server.background,
        awake: false,
        woken: 0,
        since: Instant::ZERO,
        absent: false,
        cannot_have_work: false,
    }
}
