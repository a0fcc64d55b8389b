//! A tree of servers divided into schedulers that share no memory: the root's, and one for each server with something inside.
//!
//! Each is an ordinary tree of servers ([`Servers`](super::Servers)) with its own tasks and the servers directly inside it. In
//! place of what is inside such a server there is one **proxy** task: it has a job while the child scheduler has something to
//! run, and whoever runs for it is that scheduler. So the child's budget is what the parent's decision allows the proxy, and its
//! end is the parent's time-out.
//!
//! Two facts cross between a parent and its child, both as an [`Input`](crate::Input): the child, when it has nothing to run,
//! says when it will have; and when it gets the core again it is told until when it had it. It then handles what fell due
//! meanwhile, each thing at its own time. A core belongs to one server at each level, so no scheduler waits for another one.

use super::domain::Domain;
use super::parameters::{Child, SchedulerPlan, Server, TaskPlacement, Tree};
use crate::{PolicyConfig, PolicyConfigError, PolicySpec, Task};
use alloc::vec::Vec;
use core::fmt;
use tactus_task::{Overrun, TaskOrder};
use tactus_time::{CoreId, CoreSet, Duration, Level, TaskId};

/// Why a policy cannot be divided.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DivideError {
    /// The policy is no tree of servers, or the system changes while it runs.
    NoTree,
    /// The server, by its index, is not on exactly one core, or its cores share a queue.
    Cores(u16),
}

impl fmt::Display for DivideError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DivideError::NoTree => {
                write!(f, "a scheduler for each server needs a tree of servers without reconfigurations")
            }
            DivideError::Cores(server) => {
                write!(f, "server {server} is not on one core; make it a server for each core")
            }
        }
    }
}

impl core::error::Error for DivideError {}

/// Divides the policy of a system into its schedulers: the root's first, each after its parent.
///
/// # Errors
/// If the policy is no tree of servers, or a server is not on one core.
pub fn divide(setup: &PolicyConfig) -> Result<Vec<PolicyConfig>, DivideError> {
    let PolicySpec::Servers(tree) = &setup.kind else { return Err(DivideError::NoTree) };
    let several = |queue: &CoreSet| queue.iter().nth(1).is_some();
    for (n, server) in tree.servers.iter().enumerate() {
        let shared = if n == 0 { server.queues.iter().any(several) } else { several(&server.cores) };
        if shared {
            return Err(DivideError::Cores(n as u16));
        }
    }
    let with_content = |server: &usize| *server == 0 || !inside(tree, *server).is_empty();
    let own: Vec<usize> = (0..tree.servers.len()).filter(with_content).collect();
    Ok(own.iter().map(|server| plan(setup, tree, *server, &own)).collect())
}

/// All tasks of the server and of those inside it.
fn inside(tree: &Tree, server: usize) -> Vec<TaskId> {
    let way_up = |at: u16| {
        core::iter::successors(Some(usize::from(at)), |at| (*at != 0).then(|| usize::from(tree.servers[*at].parent)))
    };
    let places = tree.places.iter().enumerate();
    places.filter(|(_, place)| way_up(place.server).any(|at| at == server)).map(|(n, _)| TaskId(n as u16)).collect()
}

/// The scheduler of one server. `schedulers`: the servers that have one.
fn plan(setup: &PolicyConfig, tree: &Tree, own: usize, schedulers: &[usize]) -> PolicyConfig {
    let cores = CoreSet::first(setup.cores);
    let alone = |core: CoreId| CoreSet::from_bits(1 << core.0);
    let is_child = |n: &usize| *n != 0 && usize::from(tree.servers[*n].parent) == own;
    let mut servers = alloc::vec![own as u16];
    servers.extend((0..tree.servers.len()).filter(is_child).map(|n| n as u16));
    let local = |n: usize| servers.iter().position(|server| usize::from(*server) == n).unwrap_or(0) as u16;
    // It has all cores. On those that its server does not have there is nothing to do.
    let queues = cores.iter().map(alone).collect();
    let root = Server { parent: 0, cores, queues, supply: None, background: false, ..tree.servers[own].clone() };
    // Inside is one task at most.
    let order = TaskOrder::FixedPriority;
    let made = servers[1..].iter().map(|n| Server { parent: 0, order, ..tree.servers[usize::from(*n)].clone() });
    let mut made = Tree {
        servers: core::iter::once(root).chain(made).collect(),
        places: Vec::new(),
        releases: Vec::new(),
        seed: tree.seed,
        waits: Vec::new(),
        line: Duration::ZERO,
    };
    let (mut tasks, mut names, mut children) = (Vec::new(), Vec::new(), Vec::new());
    for (n, (task, place)) in setup.tasks.iter().zip(&tree.places).enumerate() {
        if usize::from(place.server) == own {
            let core = task.core.or_else(|| tree.servers[own].cores.iter().next());
            tasks.push(Task { core, ..*task });
            made.places.push(TaskPlacement { server: 0, ..*place });
            names.push(TaskId(n as u16));
        }
    }
    for (index, server) in schedulers.iter().enumerate().filter(|(_, server)| is_child(server)) {
        let within = inside(tree, *server);
        let core = tree.servers[*server].cores.iter().next().unwrap_or(CoreId(0));
        let (level, long) = (Level::A, Duration::MAX);
        let offset = within.iter().map(|task| setup.tasks[task.index()].offset).min().unwrap_or(long);
        tasks.push(Task { level, core: Some(core), offset, period: long, deadline: long, budget: Duration::ZERO });
        made.places.push(TaskPlacement { server: local(*server), priority: 0, overrun: Overrun::Continue });
        let proxy = TaskId((setup.tasks.len() + server) as u16);
        children.push(Child { plan: index as u16, core, proxy, tasks: within });
    }
    let plan = SchedulerPlan { tree: made, tasks: names, servers, children };
    PolicyConfig { cores: setup.cores, kind: PolicySpec::PerServer(plan), tasks }
}

impl SchedulerPlan {
    /// Gives tasks, proxies and servers the names that the whole system has for them.
    pub(super) fn name(&self, domain: &mut Domain) {
        for task in &mut domain.tasks {
            let local = task.id.index();
            let child = local.checked_sub(self.tasks.len()).map(|child| &self.children[child]);
            task.rename(child.map_or_else(|| self.tasks[local], |child| child.proxy));
            task.set_proxy(child.is_some());
        }
        domain.vps.iter_mut().for_each(|vp| vp.server = self.servers[usize::from(vp.server)]);
    }

    /// Finds what would keep it from being used.
    pub(super) fn check(&self, setup: &PolicyConfig) -> Result<(), PolicyConfigError> {
        if setup.tasks.len() != self.tasks.len() + self.children.len() {
            return Err(PolicyConfigError::PlaceCount(self.tasks.len() + self.children.len()));
        }
        if self.servers.len() != self.tree.servers.len() {
            return Err(PolicyConfigError::ServerCount(self.servers.len()));
        }
        let shares = |server: &Server| server.queues.iter().any(|queue| queue.iter().nth(1).is_some());
        match self.tree.servers.iter().position(shares) {
            Some(server) => Err(PolicyConfigError::ServerQueues(server as u16)),
            None => Ok(()),
        }
    }
}
