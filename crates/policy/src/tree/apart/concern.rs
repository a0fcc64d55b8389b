//! How a scheduler has to do with a change.

use crate::tree::build;
use crate::tree::change::{Changes, Changing, Part, Waiting};
use crate::tree::Tree;
use crate::Setup;
use alloc::vec::Vec;
use tactus_time::{CoreId, CoreSet};

/// How a scheduler has to do with a change.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::tree) enum Concern {
    /// Not at all.
    None,
    /// What is changed lies in a server inside its own.
    Around,
    /// What is changed is its own task, or a server directly inside.
    Own,
    /// Its own server changes, or one around it.
    Inside,
    /// Of those that share queues with other cores: a server around this one and what is changed waits for what is left here.
    Beside,
}

/// The queue of the server's on the core, if it shares that with other cores.
pub(super) fn shared_queue(tree: &Tree, server: u16, core: CoreId) -> Option<CoreSet> {
    let shared = |queue: &&CoreSet| queue.contains(core) && queue.bits().count_ones() > 1;
    tree.servers[usize::from(server)].queues.iter().find(shared).copied()
}

/// By place in the list: how the scheduler of a server that shares this queue has to do with the change.
pub(in crate::tree) fn concerns_of_shared(
    (setup, changing): (&Setup, &Changing),
    changes: &Changes,
    (server, queue): (u16, CoreSet),
) -> Vec<Concern> {
    let tree = &changing.tree;
    let around = |from: u16| {
        let up = |at: &u16| Some(tree.servers[usize::from(*at)].parent);
        core::iter::successors(Some(from), up).take_while(|at| *at != 0)
    };
    let meet = |home: u16| around(server).any(|at| around(home).any(|other| other == at));
    let concern = |change: &Waiting| {
        let part = changing.changes[change.number as usize].part;
        let (home, cores) = match part {
            Part::Task(task) => {
                let home = tree.places[task.index()].server;
                let it = &tree.servers[usize::from(home)];
                (home, build::queue_of(it, setup.tasks[task.index()].core).map_or(CoreSet::EMPTY, |n| it.queues[n]))
            }
            Part::Server(n) => (tree.servers[usize::from(n)].parent, tree.servers[usize::from(n)].cores),
        };
        match part {
            Part::Server(n) if around(server).any(|at| at == n) => Concern::Inside,
            _ if cores.bits() & queue.bits() == 0 => Concern::None,
            Part::Task(_) if home == server => Concern::Own,
            _ if change.drains && meet(home) => Concern::Beside,
            _ => Concern::None,
        }
    };
    changes.list.iter().map(concern).collect()
}
