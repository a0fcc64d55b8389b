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
use super::{Overrun, Server, TaskOrder, TaskPlacement, Tree};
use crate::codec::{put, DecodeError, Input, Parameters};
use crate::{PolicyConfig, PolicyConfigError, PolicySpec, Task};
use alloc::vec::Vec;
use core::fmt;
use tactus_time::{CoreId, CoreSet, Duration, Level, TaskId};

/// One of the schedulers of a tree.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SchedulerPlan {
    /// What it decides about. Its root is its own server without the budget, or the root of the system. The tasks of the set-up
    /// are its own, then a proxy for each child.
    pub tree: Tree,
    /// Its own tasks, by the numbers that the whole system gives them.
    pub tasks: Vec<TaskId>,
    /// Its servers, by their index in the whole tree; first its own.
    pub servers: Vec<u16>,
    /// Its child schedulers.
    pub children: Vec<Child>,
}

/// A child scheduler.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Child {
    /// Its index in what [`divide`] gives.
    pub plan: u16,
    /// Its core.
    pub core: CoreId,
    /// Its proxy in decisions and records: a number that no task has.
    pub proxy: TaskId,
    /// All its tasks, those of its own children included.
    pub tasks: Vec<TaskId>,
}

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
    let mut made = Tree { servers: core::iter::once(root).chain(made).collect(), places: Vec::new() };
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
            let local = task.name.0.index();
            let child = local.checked_sub(self.tasks.len()).map(|child| &self.children[child]);
            task.name.0 = child.map_or_else(|| self.tasks[local], |child| child.proxy);
            task.proxy = child.is_some();
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

impl Parameters for SchedulerPlan {
    fn encode(&self, out: &mut Vec<u8>) {
        self.tree.encode(out);
        let list = |out: &mut Vec<u8>, numbers: &mut dyn ExactSizeIterator<Item = u16>| {
            put(out, numbers.len() as u64);
            numbers.for_each(|number| out.extend(number.to_le_bytes()));
        };
        list(out, &mut self.tasks.iter().map(|task| task.0));
        list(out, &mut self.servers.iter().copied());
        put(out, self.children.len() as u64);
        for child in &self.children {
            out.extend(child.plan.to_le_bytes());
            out.push(child.core.0);
            out.extend(child.proxy.0.to_le_bytes());
            list(out, &mut child.tasks.iter().map(|task| task.0));
        }
    }

    fn decode(input: &mut Input) -> Result<SchedulerPlan, DecodeError> {
        let number = |input: &mut Input| Ok(u16::from_le_bytes(input.take()?));
        let task = |input: &mut Input| Ok(TaskId(u16::from_le_bytes(input.take()?)));
        let tree = Tree::decode(input)?;
        let tasks = input.list(2, task)?;
        let servers = input.list(2, number)?;
        let children = input.list(2 + 1 + 2 + 8, |input| {
            Ok(Child {
                plan: number(input)?,
                core: CoreId(input.byte()?),
                proxy: task(input)?,
                tasks: input.list(2, task)?,
            })
        })?;
        Ok(SchedulerPlan { tree, tasks, servers, children })
    }
}
