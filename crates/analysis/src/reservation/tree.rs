//! Trees of servers to any depth: each scheduler sees a supply, and gives its servers supplies of their own.
//!
//! Compositional analysis as in Shin and Lee 2003, with the response time of a server in place of its deadline where
//! that is shorter (Davis and Burns 2005): at each node the children, tasks and servers alike, are judged as sporadic
//! tasks under the node's supply; a server whose whole budget is served within R of its replenishment supplies
//! Q every P after at most P + R − 2Q ([`Server::supply`]).
//!
//! **Which server beneath which scheduler.** A periodic server goes anywhere. A *deferrable* one is offered beneath fixed
//! priorities only, where a late start still finds the interference of a window; peers see it with jitter P − Q. A
//! *sporadic* one regains its budget in the pieces in which it was spent: under fixed priorities a piece is served as
//! early as if all before it had come at once; under EDF nothing but its deadline is sure for a piece, so that
//! its supply starts Q later there. A hard *CBS* is offered beneath EDF on a whole processor only: one that wakes with q
//! left has a deadline as near as qP/Q, so its demand is bounded by the line tQ/P but by no staircase, and no supply
//! with a blackout keeps such deadlines. Others see it as (Q, P) with deadline and jitter P − Q, which is a
//! staircase above that line and above all that it executes in any window.

use crate::effort::Effort;
use crate::reservation::local::{fits_share, responses, Local};
use crate::reservation::supply::{Kind, Recurring, Server, Supply};
use crate::task::{Dedicated, Sporadic, Withheld};
use crate::uniprocessor::edf_demand::{self, Demand};
use tactus_time::Duration;

/// Who decides between these children; the most urgent first under fixed priorities.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Scheduler {
    /// How.
    pub policy: Local,
    /// Between whom.
    pub children: Vec<Node>,
}

/// A task, or a server with its own scheduler.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Node {
    /// A leaf.
    Task(Sporadic),
    /// An inner node.
    Server(Server, Scheduler),
}

/// What was found for a node.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Verdict {
    /// The place among the children at each depth, from the root.
    pub path: Vec<usize>,
    /// Task: from arrival to end. Server: from replenishment until the budget is served, if there is work for it. None
    /// also for a kind of server that is not offered beneath its scheduler, and for its peers under EDF.
    pub response: Option<Duration>,
    /// The limit on the response.
    pub deadline: Duration,
    /// What a server supplies to its children; none for a task, or a server without a response within its deadline.
    pub supply: Option<Recurring>,
}

impl Verdict {
    /// Whether the response is within the deadline.
    pub fn met(&self) -> bool {
        self.response.is_some_and(|r| r <= self.deadline)
    }
}

/// Judges every node of the tree beneath a supply, parents before children. Beneath a server that fails nobody has a
/// response.
pub fn judge(root: &Scheduler, supply: &dyn Supply, effort: &mut Effort) -> Vec<Verdict> {
    let mut verdicts = Vec::new();
    // Nodes wait with the supply that they get; a list of one's own keeps deep trees off the call stack.
    let mut waiting: Vec<(Vec<usize>, &Scheduler, Option<Recurring>)> = vec![(Vec::new(), root, None)];
    while let Some((path, scheduler, own)) = waiting.pop() {
        let known = path.is_empty() || own.is_some();
        let supply: &dyn Supply = own.as_ref().map_or(supply, |own| own);
        let tasks: Vec<Sporadic> = scheduler.children.iter().map(as_task).collect();
        let all = if known { of_children(&tasks, scheduler, supply, effort) } else { vec![None; tasks.len()] };
        for (i, (child, response)) in scheduler.children.iter().zip(all).enumerate() {
            let mut path = path.clone();
            path.push(i);
            let mut verdict = Verdict { path, response, deadline: tasks[i].deadline, supply: None };
            if let Node::Server(server, inner) = child {
                if let (true, Some(r)) = (verdict.met(), response) {
                    verdict.supply = Some(given(server, r, scheduler.policy));
                }
                waiting.push((verdict.path.clone(), inner, verdict.supply));
            }
            verdicts.push(verdict);
        }
    }
    verdicts.sort_by(|a, b| a.path.cmp(&b.path));
    verdicts
}

fn as_task(node: &Node) -> Sporadic {
    match node {
        Node::Task(τ) => *τ,
        Node::Server(server, _) => server.as_task(),
    }
}

/// Responses of all children, those of servers counted from their replenishment.
fn of_children(
    tasks: &[Sporadic],
    scheduler: &Scheduler,
    supply: &dyn Supply,
    effort: &mut Effort,
) -> Vec<Option<Duration>> {
    match scheduler.policy {
        Local::FixedPriority => (0..tasks.len()).map(|i| by_priority(tasks, scheduler, i, supply, effort)).collect(),
        Local::EarliestDeadline => by_deadline(tasks, scheduler, supply, effort),
    }
}

fn kind(node: &Node) -> Option<Kind> {
    match node {
        Node::Task(_) => None,
        Node::Server(server, _) => Some(server.kind),
    }
}

fn by_priority(
    tasks: &[Sporadic],
    scheduler: &Scheduler,
    i: usize,
    supply: &dyn Supply,
    effort: &mut Effort,
) -> Option<Duration> {
    if scheduler.children[..=i].iter().any(|c| kind(c) == Some(Kind::ConstantBandwidth)) {
        return None;
    }
    let mut set = tasks[..=i].to_vec();
    if matches!(scheduler.children[i], Node::Server(..)) {
        // A server's jitter is how others see it, not a delay of its own.
        set[i].jitter = Duration::ZERO;
    }
    responses(&set, Local::FixedPriority, Duration::ZERO, supply, effort).pop().flatten()
}

/// The time that constant-bandwidth servers may ask for in a window: tQ/P each.
struct Lines(Vec<(Duration, Duration)>);

impl Withheld for Lines {
    fn at_most(&self, window: Duration) -> Duration {
        let w = u128::from(window.as_nanos());
        let line =
            |(q, p): &(Duration, Duration)| (u128::from(q.as_nanos()) * w).div_ceil(u128::from(p.as_nanos().max(1)));
        let sum: u128 = self.0.iter().map(line).sum();
        Duration::from_nanos(u64::try_from(sum).unwrap_or(u64::MAX))
    }
}

fn by_deadline(
    tasks: &[Sporadic],
    scheduler: &Scheduler,
    supply: &dyn Supply,
    effort: &mut Effort,
) -> Vec<Option<Duration>> {
    let none = vec![None; tasks.len()];
    let is = |i: usize, k: Kind| kind(&scheduler.children[i]) == Some(k);
    let cbs: Vec<usize> = (0..tasks.len()).filter(|&i| is(i, Kind::ConstantBandwidth)).collect();
    if (0..tasks.len()).any(|i| is(i, Kind::Deferrable)) || !fits_share(tasks, supply) {
        return none;
    }
    if cbs.is_empty() {
        return responses(tasks, Local::EarliestDeadline, Duration::ZERO, supply, effort);
    }
    let (q, p) = supply.share();
    if q != p || !supply.delay().is_zero() {
        return none;
    }
    // Every server keeps its deadlines exactly where the demand of the others and the servers' lines fit every window.
    let others: Vec<Sporadic> = (0..tasks.len()).filter(|i| !cbs.contains(i)).map(|i| tasks[i]).collect();
    let lines = Lines(cbs.iter().map(|&i| (tasks[i].execution, tasks[i].period)).collect());
    let implicit = others.iter().all(|τ| τ.deadline >= τ.period && τ.jitter.is_zero());
    if !implicit && edf_demand::schedulable(&others, Duration::ZERO, &lines, effort) != Demand::Fits {
        return none;
    }
    // All deadlines are met; responses may be shorter.
    let mut seen = tasks.to_vec();
    for &i in &cbs {
        seen[i].jitter = tasks[i].period.saturating_sub(tasks[i].execution);
        seen[i].deadline = seen[i].jitter;
    }
    let sharper = edf_response_of(&seen, effort);
    let one = |i: usize| {
        let by_deadline = tasks[i].deadline;
        let own = sharper.as_ref().filter(|_| !cbs.contains(&i)).map(|r| r[i]);
        Some(own.map_or(by_deadline, |r| r.min(by_deadline)))
    };
    (0..tasks.len()).map(one).collect()
}

fn edf_response_of(tasks: &[Sporadic], effort: &mut Effort) -> Option<Vec<Duration>> {
    crate::uniprocessor::edf_response::responses(tasks, Duration::ZERO, &Dedicated, effort)
}

fn given(server: &Server, response: Duration, policy: Local) -> Recurring {
    let mut supply = server.supply(response.max(server.budget));
    if policy == Local::EarliestDeadline && server.kind == Kind::Sporadic {
        supply.blackout += server.budget;
    }
    supply
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reservation::supply::Whole;

    fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    #[test]
    fn a_tree_of_depth_three_adds_up_the_blackouts() {
        let leaf = Node::Task(Sporadic::implicit(ms(1), ms(100)));
        let wrap = |q, p, inner| {
            let scheduler = Scheduler { policy: Local::FixedPriority, children: vec![inner] };
            Node::Server(Server::new(Kind::Periodic, ms(q), ms(p)), scheduler)
        };
        let root =
            Scheduler { policy: Local::FixedPriority, children: vec![wrap(8, 10, wrap(10, 20, wrap(4, 20, leaf)))] };
        let verdicts = judge(&root, &Whole, &mut Effort::default());
        let r: Vec<_> = verdicts.iter().map(|v| v.response.unwrap()).collect();
        // (8, 10) alone: 8. Its supply: 2 of blackout, 8 in 10: 10 take 14. Theirs: 20 + 14 − 20 = 14 of blackout,
        // 10 in 20: 4 take 18. Theirs: 20 + 18 − 8 = 30 of blackout: the task takes 31.
        assert_eq!(r, [ms(8), ms(14), ms(18), ms(31)]);
        assert_eq!(verdicts[3].path, [0, 0, 0, 0]);
        assert!(verdicts.iter().all(Verdict::met));
    }

    #[test]
    fn beneath_a_server_that_fails_nothing_is_promised() {
        let inner = Scheduler {
            policy: Local::EarliestDeadline,
            children: vec![Node::Task(Sporadic::implicit(ms(1), ms(100)))],
        };
        let root = Scheduler {
            policy: Local::FixedPriority,
            children: vec![
                Node::Task(Sporadic::implicit(ms(6), ms(10))),
                Node::Server(Server::new(Kind::Sporadic, ms(5), ms(10)), inner),
            ],
        };
        let verdicts = judge(&root, &Whole, &mut Effort::default());
        assert_eq!(verdicts.iter().map(Verdict::met).collect::<Vec<_>>(), [true, false, false]);
    }
}
