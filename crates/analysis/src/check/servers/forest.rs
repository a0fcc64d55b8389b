//! From a system file to the trees of one core, and back from the places of a tree to names.

use super::super::assumed::plain;
use super::super::memory;
use super::super::rank::Rank;
use super::domain::queues;
use crate::reservation::local::Local;
use crate::reservation::supply::Server;
use crate::reservation::tree::{Node, Scheduler};
use crate::task::Sporadic;
use tactus_model::{Migration, System, TaskOrder};
use tactus_task::ServerKind;
use tactus_time::{CoreId, CoreSet, Duration};

/// What a node of a tree is in the file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Who {
    Task(usize),
    Server(usize),
}

/// One core's tree, and who is at which path.
pub(super) struct Core<'s> {
    system: &'s System,
    root: (Migration, TaskOrder),
    core: CoreId,
    times: &'s [Duration],
    pub places: Vec<(Vec<usize>, Who)>,
}

/// Whether a server that would lose its budget without work may keep it on this core: where several cores share its queue, one that
/// is busy with something else learns late that the server's work went elsewhere.
pub(super) fn keeps(system: &System, root: Migration, server: usize, core: CoreId) -> bool {
    let shared = |queue: &CoreSet| queue.contains(core) && queue.iter().nth(1).is_some();
    system.scheduling.servers[server].kind.loses_unused() && queues(system, root, Some(server)).iter().any(shared)
}

/// Whether a tree's scheduler can stand for what is inside a server on this core: one queue for the core, ordered by a fixed
/// number or by deadlines, beneath a supply. All else is judged from the server's supply.
pub(super) fn is_in_tree(system: &System, root: Migration, server: usize, core: CoreId) -> bool {
    let it = &system.scheduling.servers[server];
    let alone =
        queues(system, root, Some(server)).iter().any(|queue| queue.contains(core) && queue.iter().nth(1).is_none());
    alone && !matches!(Rank::of(it.order), Rank::Other(_)) && !it.kind.is_soft()
}

impl<'s> Core<'s> {
    /// The tree of a core; `times` are the execution times, by task.
    pub(super) fn tree(
        system: &'s System,
        root: (Migration, TaskOrder),
        core: CoreId,
        times: &'s [Duration],
    ) -> (Scheduler, Core<'s>) {
        let mut it = Core { system, root, core, times, places: Vec::new() };
        let scheduler = it.scheduler(None, root.1, &mut Vec::new());
        (scheduler, it)
    }

    /// Who is at a path.
    pub(super) fn at(&self, path: &[usize]) -> Option<Who> {
        self.places.iter().find(|(other, _)| other == path).map(|(_, who)| *who)
    }

    /// The scheduler inside a server (or the root) on this core.
    fn scheduler(&mut self, inside: Option<usize>, order: TaskOrder, path: &mut Vec<usize>) -> Scheduler {
        let system = self.system;
        let rank = Rank::of(order);
        let policy = if rank == Rank::Edf { Local::EarliestDeadline } else { Local::FixedPriority };
        let with_tasks = inside.is_none_or(|s| is_in_tree(system, self.root.0, s, self.core));
        // Key, and a task before a server that is its equal, then the order of the file.
        let mut all: Vec<(u64, bool, usize)> = Vec::new();
        for n in (0..system.tasks.len()).filter(|&n| with_tasks && system.home(n) == inside) {
            if system.queue_of(n).contains(self.core) {
                all.push((rank.key(system, n), false, n));
            }
        }
        for (s, server) in system.scheduling.servers.iter().enumerate() {
            // Work that gives way to a counter goes behind all others, so that it delays none.
            if server.parent == inside && server.cores.contains(self.core) && !server.kind.yields() {
                // Of servers the period is the deadline; orders that know none are refused by whoever reads the file.
                let key = if order.has_priorities() {
                    u64::MAX - u64::from(server.priority)
                } else {
                    server.period.as_nanos()
                };
                all.push((key, true, s));
            }
        }
        all.sort_unstable();
        let mut children = Vec::with_capacity(all.len());
        for (i, &(_, is_server, which)) in all.iter().enumerate() {
            path.push(i);
            if is_server {
                self.places.push((path.clone(), Who::Server(which)));
                let server = &system.scheduling.servers[which];
                let inner = self.scheduler(Some(which), server.order, path);
                let kind =
                    if keeps(system, self.root.0, which, self.core) { ServerKind::Deferrable } else { server.kind };
                let inside = if memory::never_stalls(system, which) && all.len() == 1 {
                    // It has its core for itself.
                    Server::new(ServerKind::Periodic, server.period, server.period)
                } else {
                    Server::new(kind, memory::least_time(server), server.period)
                };
                children.push(Node::Server(inside, inner));
            } else {
                self.places.push((path.clone(), Who::Task(which)));
                let t = &system.tasks[which];
                children.push(Node::Task(Sporadic::new(self.times[which], t.period, t.deadline)));
            }
            path.pop();
        }
        Scheduler { policy, children }
    }
}

/// The execution times of all tasks, as assumed.
pub(super) fn times(system: &System) -> Vec<Duration> {
    system.tasks.iter().map(plain).collect()
}
