//! Cores that share queues, and what the system's own work may take of them.
//!
//! Entries of the scheduler are counted by what causes them. On a core by itself each costs E. Where cores share a queue, the
//! first of them serves all releases and tells the others, one of which may have to hand a job on: an event costs a core 2E for
//! entries, and a release E more until the core knows. For the whole of a queue, see [`Domain::of_queue`].

use super::super::rank::Rank;
use super::super::work;
use crate::arrivals::Instants;
use crate::reservation::charge::Work;
use tactus_model::{Migration, Scheduling, ServerKind, System};
use tactus_task::{Replenished, MOST_LOOKS};
use tactus_time::{CoreId, CoreSet, Duration};

/// Pieces of a sporadic server's budget that come and go by themselves, at most: what the policy keeps apart.
const PIECES: u64 = 32;

/// Cores that share queues, directly or by others, and what is on them.
pub(super) struct Domain<'s> {
    pub system: &'s System,
    pub cores: CoreSet,
    pub tasks: Vec<usize>,
    /// Servers, each on each of its cores.
    pub servers: Vec<(usize, CoreId)>,
    entry: Duration,
    instants: Instants,
}

/// The queues of a server or the root.
pub(super) fn queues(system: &System, root: Migration, server: Option<usize>) -> Vec<CoreSet> {
    let Scheduling { servers, .. } = &system.scheduling;
    system.scheduling.queues(server.map(|s| &servers[s]), root, CoreSet::first(system.cores))
}

fn union(a: CoreSet, b: CoreSet) -> CoreSet {
    let mut all = a;
    b.iter().for_each(|core| all.insert(core));
    all
}

fn meet(a: CoreSet, b: CoreSet) -> bool {
    a.iter().any(|core| b.contains(core))
}

/// All domains, in the order of their first cores. `entry` is E.
pub(super) fn domains(system: &System, root: Migration, entry: Duration) -> Vec<Domain<'_>> {
    let mut sets: Vec<CoreSet> = (0..system.cores).map(|c| CoreSet::from_bits(1 << c)).collect();
    let places = std::iter::once(None).chain((0..system.scheduling.servers.len()).map(Some));
    for queue in places.flat_map(|place| queues(system, root, place)) {
        let touched = sets.iter().filter(|set| meet(**set, queue)).fold(queue, |all, set| union(all, *set));
        sets.retain(|set| !meet(*set, queue));
        sets.push(touched);
    }
    sets.sort_by_key(|set| set.iter().next());
    let one = |cores: CoreSet| {
        let tasks: Vec<usize> = (0..system.tasks.len()).filter(|&n| meet(system.queue_of(n), cores)).collect();
        let on = |(s, server): (usize, &tactus_model::Server)| {
            server.cores.iter().filter(|core| cores.contains(*core)).map(move |core| (s, core)).collect::<Vec<_>>()
        };
        let servers = system.scheduling.servers.iter().enumerate().flat_map(on).collect();
        let instants = work::instants(system, &tasks);
        Domain { system, cores, tasks, servers, entry, instants }
    };
    sets.into_iter().map(one).collect()
}

impl Domain<'_> {
    pub fn is_one_core(&self) -> bool {
        self.cores.iter().nth(1).is_none()
    }

    /// Entries that a server causes on one of its cores, as (so many, per so long), at most ⌈w/P⌉ + 1 times in a window w.
    fn events(&self, server: usize) -> Vec<(u64, Duration)> {
        let it = &self.system.scheduling.servers[server];
        let mut events = match it.kind.replenished() {
            // Each of its budgets may end; the next comes at once.
            Replenished::Immediately => vec![(1, it.budget)],
            Replenished::AfterPeriod => vec![(2 * PIECES, it.period)],
            // Whether or not it gives way, its core's counter is sampled.
            Replenished::Counted if it.kind.yields() => vec![(1, it.period)],
            // It is looked at as often, and its budget comes and goes.
            Replenished::Counted => vec![(2 + MOST_LOOKS, it.period)],
            Replenished::AtBoundaries | Replenished::ByTable | Replenished::AfterShare | Replenished::AtDeadline => {
                vec![(2, it.period)]
            }
        };
        if it.kind == ServerKind::Reclaiming || it.kind.replenished() == Replenished::AfterShare {
            // It begins a new wait, or stays active for a while, whenever it has no more work.
            let inside = self.tasks.iter().filter(|&&n| self.is_inside(n, server));
            events.extend(inside.map(|&n| (1, self.system.tasks[n].period)));
        }
        events
    }

    /// Whether a task is in the server, or in one inside of it.
    fn is_inside(&self, task: usize, server: usize) -> bool {
        self.system.around(task).any(|s| s == server)
    }

    /// Turns and looks: each queue with a quantum, with its cores.
    fn quanta(&self) -> Vec<(Option<usize>, CoreSet, Duration)> {
        let servers = &self.system.scheduling.servers;
        let timed = |order| Rank::of(order).is_timed();
        (0..servers.len())
            .filter(|&s| timed(servers[s].order))
            .map(|s| (Some(s), servers[s].cores, servers[s].quantum))
            .collect()
    }

    /// What is taken of one core.
    pub fn of_core(&self, core: CoreId) -> Work<'_> {
        if self.entry.is_zero() {
            return Work::none();
        }
        let alone = self.is_one_core();
        let (e, far) = (self.entry, self.entry * 2);
        let mut recurring = Vec::new();
        for &(server, on) in &self.servers {
            let cost = if on == core { e } else { far };
            recurring.extend(self.events(server).into_iter().map(|(n, per)| (cost * n, per)));
        }
        for (_, cores, quantum) in self.quanta() {
            recurring.extend(cores.iter().map(|on| (if on == core { e } else { far }, quantum)));
        }
        let cost = if alone { e } else { far };
        recurring.extend(work::of_slots(self.system, core).map(|(n, per)| (cost * n, per)));
        for &n in &self.tasks {
            let times = work::recurring(self.system, n).count() as u64 + u64::from(!alone);
            if times > 0 {
                recurring.push((cost * times, self.system.tasks[n].period));
            }
        }
        let (completion, release) = if alone { (e, e) } else { (far, e * 3) };
        Work { entry: e, completion, instants: Some((&self.instants, release)), recurring }
    }

    /// What is taken of a queue that several cores share, all of them together: the time of entries, and the time for which
    /// some core runs what it should not since it does not know better yet. A release means three entries at most (it may
    /// displace a job that displaces another), and two cores wait for three entries each: 9E. An end of a budget of this queue's
    /// servers moves a job, 4E beside its own entry; a completion 3E; another server of these cores its entries alone.
    pub fn of_queue(&self, server: usize, queue: CoreSet) -> Work<'_> {
        if self.entry.is_zero() {
            return Work::none();
        }
        let e = self.entry;
        let servers = &self.system.scheduling.servers;
        let mut recurring = Vec::new();
        for &(other, _) in self.servers.iter().filter(|(_, on)| queue.contains(*on)) {
            let mut moves = Some(server);
            while moves.is_some_and(|s| s != other) {
                moves = moves.and_then(|s| servers[s].parent);
            }
            let cost = if moves.is_some() { e * 5 } else { e };
            recurring.extend(self.events(other).into_iter().map(|(n, per)| (cost * n, per)));
        }
        for (of, cores, quantum) in self.quanta() {
            let cost = if of == Some(server) { e * 5 } else { e };
            recurring.extend(cores.iter().filter(|core| queue.contains(*core)).map(|_| (cost, quantum)));
        }
        for core in queue.iter() {
            recurring.extend(work::of_slots(self.system, core).map(|(n, per)| (e * n, per)));
        }
        for &n in &self.tasks {
            let times = 1 + work::recurring(self.system, n).count() as u64;
            recurring.push((e * (3 * times), self.system.tasks[n].period));
        }
        Work { entry: e, completion: e * 2, instants: Some((&self.instants, e * 9)), recurring }
    }
}
