//! Cores by themselves with servers on them: each core is a tree, judged by [`crate::reservation::tree`].
//!
//! A promise needs a kind of server, and an order, that the tree has a test for. On a core with any other kind nothing is
//! promised, for such a server may disturb everybody; inside a server with another order, or with queues for several
//! cores, nothing is promised to its tasks, but the server counts among its peers. Only without costs: how the work of
//! the system is charged to budgets has no bound yet. `background` service only adds to what the test counts on.

use super::report::{Bound, Check, Finding};
use crate::effort::Effort;
use crate::reservation::local::Local;
use crate::reservation::supply::{Kind, Server, Whole};
use crate::reservation::tree::{judge, Node, Scheduler, Verdict};
use crate::task::Sporadic;
use tactus_model::{Policy, ServerKind, Spread, System, TaskOrder};
use tactus_time::{CoreId, Duration};

/// Whether the test may say something: cores do not share the root's queue, and costs are left out.
pub(super) fn known(system: &System, entry: Duration) -> bool {
    let partitioned = matches!(system.policy, Policy::Ordered { spread: Spread::Partitioned, .. });
    partitioned && entry.is_zero() && !system.scheduling.servers.is_empty()
}

/// What a node of the tree is in the file.
#[derive(Clone, Copy)]
enum Who {
    Task(usize),
    Server(usize),
}

/// One core's tree, and who is at which path.
struct Core<'s> {
    system: &'s System,
    core: CoreId,
    places: Vec<(Vec<usize>, Who)>,
}

pub(super) fn check(system: &System, check: &mut Check) {
    let Policy::Ordered { order, .. } = system.policy else { return };
    for verdict in &mut check.tasks {
        verdict.explanation = "its order, or a server on its core, has no test, so nothing is promised".into();
    }
    let mut promised = 0;
    for core in (0..system.cores).map(|c| CoreId(c as u8)) {
        let mut tree = Core { system, core, places: Vec::new() };
        let Some(root) = tree.scheduler(None, order, &mut Vec::new()) else { continue };
        let verdicts = judge(&root, &Whole, &mut Effort::of_core(system.cores));
        for verdict in verdicts {
            let Some((_, who)) = tree.places.iter().find(|(path, _)| *path == verdict.path) else { continue };
            match *who {
                Who::Task(n) => {
                    promised += 1;
                    task(system, n, &verdict, check);
                }
                Who::Server(s) if !verdict.met() => server(system, s, core, &verdict, check),
                Who::Server(_) => {}
            }
        }
    }
    let all = system.tasks.len();
    check.summary = format!("{} servers · {promised} of {all} tasks have a test", system.scheduling.servers.len());
}

fn task(system: &System, n: usize, found: &Verdict, check: &mut Check) {
    let verdict = &mut check.tasks[n];
    verdict.explanation = "response in its tree of servers".into();
    verdict.met = found.met();
    if let Some(r) = found.response {
        verdict.bound = Bound::Response(r);
    }
    if !verdict.met {
        let binds = match found.response {
            Some(r) => format!("its response may reach {r}, over the deadline of {}", found.deadline),
            None => "no response is bounded in the time that its server and those more urgent leave".into(),
        };
        let what = format!("task `{}` fails: {binds}", verdict.name);
        check.fail(system, n, what, "give its server a larger budget or a shorter period, or lower the load".into());
    }
}

fn server(system: &System, s: usize, core: CoreId, found: &Verdict, check: &mut Check) {
    let server = &system.scheduling.servers[s];
    let binds = match found.response {
        Some(r) => format!("its budget of {} may take {r}, longer than its period of {}", server.budget, server.period),
        None => format!("its budget of {} has no bound beneath those that are more urgent", server.budget),
    };
    check.findings.push(Finding {
        task: None,
        core: Some(core),
        line: server.line,
        what: format!("server `{}` on core {core} fails: {binds}", server.name),
        remedy: "lower the budgets of its peers, or lengthen its period".into(),
    });
}

impl Core<'_> {
    /// The scheduler inside a server (or the root) on this core; none where some server or order has no test.
    fn scheduler(&mut self, inside: Option<usize>, order: TaskOrder, path: &mut Vec<usize>) -> Option<Scheduler> {
        let policy = match order {
            TaskOrder::FixedPriority | TaskOrder::RateMonotonic | TaskOrder::DeadlineMonotonic => Local::FixedPriority,
            TaskOrder::EarliestDeadline => Local::EarliestDeadline,
            _ => return None,
        };
        let servers = &self.system.scheduling.servers;
        let place = |n: usize| self.system.scheduling.places.get(n).copied().unwrap_or_default();
        // Key, and a task before a server that is its equal, then the order of the file.
        let mut all: Vec<(u64, bool, usize)> = Vec::new();
        for (n, t) in self.system.tasks.iter().enumerate() {
            let alone = inside.is_some_and(|s| servers[s].cores.iter().count() == 1);
            if place(n).server == inside && (t.core == Some(self.core) || alone && t.core.is_none()) {
                all.push((key(order, place(n).priority, t.period, t.deadline), false, n));
            }
        }
        for (s, server) in servers.iter().enumerate() {
            if server.parent == inside && server.cores.contains(self.core) {
                all.push((key(order, server.priority, server.period, server.period), true, s));
            }
        }
        all.sort_unstable();
        let mut children = Vec::with_capacity(all.len());
        for (i, &(_, is_server, which)) in all.iter().enumerate() {
            path.push(i);
            if is_server {
                self.places.push((path.clone(), Who::Server(which)));
                children.push(self.server(which, policy, inside.is_none(), path)?);
            } else {
                self.places.push((path.clone(), Who::Task(which)));
                let t = &self.system.tasks[which];
                let time = t.execution[0].unwrap_or(Duration::ZERO);
                children.push(Node::Task(Sporadic::new(time, t.period, t.deadline)));
            }
            path.pop();
        }
        Some(Scheduler { policy, children })
    }

    fn server(&mut self, s: usize, beneath: Local, root: bool, path: &mut Vec<usize>) -> Option<Node> {
        let server = &self.system.scheduling.servers[s];
        let kind = match (server.kind, beneath) {
            (ServerKind::Periodic, _) => Kind::Periodic,
            (ServerKind::Polling, _) => Kind::Polling,
            (ServerKind::Sporadic, _) => Kind::Sporadic,
            (ServerKind::Deferrable, Local::FixedPriority) => Kind::Deferrable,
            (ServerKind::HardBandwidth, Local::EarliestDeadline) if root => Kind::ConstantBandwidth,
            _ => return None,
        };
        let shares = server.spread != Spread::Partitioned && server.cores.iter().count() > 1;
        let before = self.places.len();
        let inner = if shares { None } else { self.scheduler(Some(s), server.order, path) };
        let inner = match inner {
            Some(inner) => inner,
            None if self.holds_servers(s) => return None,
            None => {
                // Its tasks are not promised anything; it disturbs others by its budget and no more.
                self.places.truncate(before);
                Scheduler { policy: Local::FixedPriority, children: Vec::new() }
            }
        };
        Some(Node::Server(Server::new(kind, server.budget, server.period), inner))
    }

    fn holds_servers(&self, s: usize) -> bool {
        self.system.scheduling.servers.iter().any(|inner| inner.parent == Some(s))
    }
}

/// The smaller, the more urgent.
fn key(order: TaskOrder, priority: u32, period: Duration, deadline: Duration) -> u64 {
    match order {
        TaskOrder::FixedPriority => u64::MAX - u64::from(priority),
        TaskOrder::RateMonotonic => period.as_nanos(),
        _ => deadline.as_nanos(),
    }
}
