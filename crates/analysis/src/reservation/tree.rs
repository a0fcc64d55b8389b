//! Trees of servers to any depth: each scheduler sees a supply, and gives its servers supplies of their own.
//!
//! Compositional analysis as in Shin and Lee 2003, with the response time of a server in place of its deadline where
//! that is shorter (Davis and Burns 2005): at each node the children, tasks and servers alike, are judged as sporadic
//! tasks under the node's supply; a server whose whole budget is served within R of its replenishment supplies
//! Q every P after at most P + R − 2Q ([`Server::supply`]). What the system itself takes ([`Work`]) is taken off every
//! supply, and enlarges jobs and budgets.
//!
//! **Beneath fixed priorities** (`priority`) a *periodic*, *polling* or *sporadic* server is a sporadic task to its peers. A *deferrable* one
//! has jitter P − Q, a *priority-inheriting* one the same, for it may take Q(1 − U) + Uw of a window w; its next budget counts
//! from its first use, so that it supplies Q every P + R − Q. A *hard CBS* may be served late where it wakes with a near deadline,
//! and get the next budget at once: jitter P. A *soft CBS* never waits and holds nobody back: beneath fixed priorities it has
//! no bound, nor have those that are less urgent. A budget of *misses* lasts at least for the time
//! in which memory serves it, and bounds no time beyond: those that are less urgent have no bound.
//!
//! **Beneath EDF** see `deadline`.

mod deadline;
mod priority;

use crate::effort::Effort;
use crate::reservation::charge::Work;
use crate::reservation::local::Local;
use crate::reservation::supply::{Recurring, Server, Supply};
use crate::task::{Sporadic, Withheld};
use crate::terms::{Source, Term, Terms};
use tactus_task::{ServerKind, MOST_LOOKS};
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

/// Why nothing can be said of a node, which is not the same as that it fails.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Untested {
    /// There is no bound for what this child of the same scheduler, by its place, takes.
    Peer(usize),
    /// There is no bound for what a server of this kind gives beneath such a scheduler.
    Itself,
    /// It is inside a server of which nothing is known.
    Inside,
}

/// What was found for a node.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Verdict {
    /// The place among the children at each depth, from the root.
    pub path: Vec<usize>,
    /// Task: from arrival to end. Server: from replenishment until the budget is served, if there is work for it.
    pub response: Option<Duration>,
    /// The limit on the response.
    pub deadline: Duration,
    /// What a server supplies to its children; none for a task, a soft CBS, or a server without a response within its limit.
    pub supply: Option<Recurring>,
    /// Why there is no response, where that is for lack of a test.
    pub untested: Option<Untested>,
}

impl Verdict {
    /// Whether the response is within the limit.
    pub fn met(&self) -> bool {
        self.response.is_some_and(|r| r <= self.deadline)
    }
}

/// What a scheduler finds of a child.
#[derive(Clone, Copy, Debug)]
struct Found {
    response: Option<Duration>,
    limit: Duration,
    untested: Option<Untested>,
}

impl Found {
    fn new(node: &Node, response: Option<Duration>) -> Found {
        Found { response, limit: as_task(node, &Work::none()).deadline, untested: None }
    }
    fn untested(node: &Node, why: Untested) -> Found {
        Found { untested: Some(why), ..Found::new(node, None) }
    }
}

/// Judges every node of the tree beneath a supply on a system that costs nothing; see [`judge_with`].
pub fn judge(root: &Scheduler, supply: &dyn Supply, effort: &mut Effort) -> Vec<Verdict> {
    judge_with(root, supply, &Work::none(), effort)
}

/// Judges every node of the tree beneath a supply, parents before children. Beneath a server that fails nobody has a
/// response.
pub fn judge_with(root: &Scheduler, supply: &dyn Supply, work: &Work, effort: &mut Effort) -> Vec<Verdict> {
    let mut verdicts = Vec::new();
    // Nodes wait with the supply that they get, or why they get none; a list of one's own keeps deep trees off the stack.
    let mut waiting: Vec<(Vec<usize>, &Scheduler, Option<Recurring>, bool)> = vec![(Vec::new(), root, None, false)];
    while let Some((path, scheduler, own, unknown)) = waiting.pop() {
        let supplied = path.is_empty() || own.is_some();
        let supply: &dyn Supply = own.as_ref().map_or(supply, |own| own);
        let all: Vec<Found> = match scheduler.policy {
            _ if unknown => scheduler.children.iter().map(|c| Found::untested(c, Untested::Inside)).collect(),
            _ if !supplied => scheduler.children.iter().map(|c| Found::new(c, None)).collect(),
            Local::FixedPriority => priority::responses(scheduler, supply, work, effort),
            Local::EarliestDeadline => deadline::responses(scheduler, supply, work, effort),
        };
        for (i, (child, found)) in scheduler.children.iter().zip(all).enumerate() {
            let mut path = path.clone();
            path.push(i);
            let Found { response, limit: deadline, untested } = found;
            let mut verdict = Verdict { path, response, deadline, supply: None, untested };
            if let Node::Server(server, inner) = child {
                if let (true, Some(r)) = (verdict.met(), response) {
                    verdict.supply = given(server, r, scheduler.policy, work);
                }
                // A soft CBS has a response but no supply: what is inside is judged by other means.
                let unknown = untested.is_some() || server.kind.is_soft();
                waiting.push((verdict.path.clone(), inner, verdict.supply, unknown));
            }
            verdicts.push(verdict);
        }
    }
    verdicts.sort_by(|a, b| a.path.cmp(&b.path));
    verdicts
}

/// The terms of the response of the node at a path beneath a scheduler by fixed priorities; others are counted by their places among its
/// children.
pub fn terms(root: &Scheduler, supply: &dyn Supply, work: &Work, path: &[usize], effort: &mut Effort) -> Option<Terms> {
    let (last, around) = path.split_last()?;
    let mut scheduler = root;
    for place in around {
        let Node::Server(_, inner) = scheduler.children.get(*place)? else { return None };
        scheduler = inner;
    }
    let verdicts = judge_with(root, supply, work, &mut effort.clone());
    let own = verdicts.iter().find(|verdict| verdict.path == around).and_then(|verdict| verdict.supply);
    let supply: &dyn Supply = match (around, &own) {
        ([], _) => supply,
        (_, Some(own)) => own,
        (_, None) => return None,
    };
    match scheduler.policy {
        Local::FixedPriority => priority::terms(scheduler, *last, supply, work, effort),
        Local::EarliestDeadline => None,
    }
}

/// How a child is counted among its peers, without jitter: jobs with their completion, budgets with what they overrun.
fn as_task(node: &Node, work: &Work) -> Sporadic {
    match node {
        Node::Task(τ) => Sporadic { execution: plus(τ.execution, work.completion), ..*τ },
        Node::Server(s, _) => Sporadic::new(plus(s.budget, work.entry), s.period, s.deadline),
    }
}

fn plus(a: Duration, b: Duration) -> Duration {
    a.checked_add(b).unwrap_or(Duration::MAX)
}

/// What a server asks for among its peers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Demand {
    /// A sporadic task's.
    Sporadic,
    /// A budget at the end of a period, and the next at once.
    Deferrable,
    /// At most a line, and it waits for its deadline when it is used up.
    Hard,
    /// At most a line, and it never waits.
    Soft,
    /// At most a line, and more where that harms none.
    Reclaiming,
    /// A budget whatever its deadline.
    Inheriting,
    /// Lines from memory, which bound no time.
    Misses,
    /// Nobody knows.
    Unknown,
}

/// What is known of a server. One that would lose its budget without work keeps it as long as a periodic server inside
/// has some, which counts as work until it has gone by.
fn demand(node: &Node) -> Option<Demand> {
    let periodic = |inner: &Node| matches!(inner, Node::Server(s, _) if matches!(s.kind, ServerKind::Periodic | ServerKind::Deferrable));
    let Node::Server(server, inner) = node else { return None };
    Some(match server.kind {
        ServerKind::Periodic | ServerKind::Polling | ServerKind::SporadicPolling
            if inner.children.iter().any(periodic) =>
        {
            Demand::Deferrable
        }
        // A sporadic polling one has work from the start of a period on until it forfeits the rest: a sporadic task. What comes just
        // after that waits for the end of the period, as in a polling one.
        ServerKind::Periodic | ServerKind::Polling | ServerKind::SporadicPolling | ServerKind::Sporadic => {
            Demand::Sporadic
        }
        ServerKind::Deferrable => Demand::Deferrable,
        ServerKind::HardBandwidth => Demand::Hard,
        ServerKind::SoftBandwidth => Demand::Soft,
        ServerKind::Reclaiming => Demand::Reclaiming,
        ServerKind::PriorityInheriting => Demand::Inheriting,
        ServerKind::Misses => Demand::Misses,
        // Partitions have no peers, and what gives way to a counter delays none.
        ServerKind::Windows | ServerKind::YieldingToChanged | ServerKind::YieldingToMisses => Demand::Unknown,
    })
}

/// What a supply and the system's own work leave of a window, as what is withheld.
struct Within<'a> {
    supply: &'a dyn Supply,
    work: &'a Work<'a>,
}

impl Withheld for Within<'_> {
    fn at_most(&self, window: Duration) -> Duration {
        plus(window.saturating_sub(self.supply.least(window)), self.work.at_most(window))
    }

    fn terms(&self, window: Duration) -> Vec<Term> {
        let gone = window.saturating_sub(self.supply.least(window));
        let supply = Term::once(Source::Supply, i128::from(gone.as_nanos()));
        std::iter::once(supply).chain(self.work.terms(window)).collect()
    }
}

/// What a server supplies whose budget is served within `response`. The system's work inside is not taken off here.
fn given(server: &Server, response: Duration, policy: Local, work: &Work) -> Option<Recurring> {
    let response = response.max(server.budget);
    let mut supply = server.supply(response);
    match (server.kind, policy) {
        (ServerKind::Sporadic, Local::EarliestDeadline) => supply.blackout += server.budget,
        (ServerKind::PriorityInheriting, Local::FixedPriority) => {
            // What it took too much lengthens its wait, in its own share.
            let (e, p, q) = (
                u128::from(work.entry.as_nanos()),
                u128::from(server.period.as_nanos()),
                u128::from(server.budget.as_nanos()),
            );
            let longer = Duration::from_nanos(u64::try_from((e * p).div_ceil(q.max(1))).ok()?);
            supply.blackout = supply.blackout.checked_add(longer)?;
            supply.period = server.period.checked_add(longer)?.checked_add(response.saturating_sub(server.budget))?;
        }
        (ServerKind::PriorityInheriting, _) => return None,
        (kind, _) if kind.is_soft() => return None,
        (ServerKind::Misses, _) => {
            // What a look at the counter found too late is paid by later budgets.
            let owed = (server.period / MOST_LOOKS).checked_add(work.entry)?;
            supply.blackout = supply.blackout.checked_add(server.period.checked_mul(owed.div_ceil(server.budget))?)?;
        }
        _ => {}
    }
    Some(supply)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reservation::supply::Whole;

    fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    fn leaf() -> Node {
        Node::Task(Sporadic::implicit(ms(1), ms(100)))
    }

    fn server(kind: ServerKind, q: u64, p: u64, inner: Vec<Node>) -> Node {
        Node::Server(Server::new(kind, ms(q), ms(p)), Scheduler { policy: Local::FixedPriority, children: inner })
    }

    fn root(policy: Local, children: Vec<Node>) -> Scheduler {
        Scheduler { policy, children }
    }

    #[test]
    fn a_tree_of_depth_three_adds_up_the_blackouts() {
        let wrap = |q, p, inner| server(ServerKind::Periodic, q, p, vec![inner]);
        let root = root(Local::FixedPriority, vec![wrap(8, 10, wrap(10, 20, wrap(4, 20, leaf())))]);
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
        let inner = root(Local::EarliestDeadline, vec![leaf()]);
        let five = Node::Server(Server::new(ServerKind::Sporadic, ms(5), ms(10)), inner);
        let root = root(Local::FixedPriority, vec![Node::Task(Sporadic::implicit(ms(6), ms(10))), five]);
        let verdicts = judge(&root, &Whole, &mut Effort::default());
        assert_eq!(verdicts.iter().map(Verdict::met).collect::<Vec<_>>(), [true, false, false]);
        assert!(verdicts.iter().all(|v| v.untested.is_none()), "a failure is not a lack of a test");
    }

    #[test]
    fn a_server_without_bound_takes_the_promise_of_those_that_are_less_urgent_and_of_no_others() {
        for kind in [ServerKind::Reclaiming, ServerKind::SoftBandwidth] {
            let root = root(Local::FixedPriority, vec![leaf(), server(kind, 2, 10, vec![leaf()]), leaf()]);
            let untested: Vec<_> =
                judge(&root, &Whole, &mut Effort::default()).iter().map(|v| (v.met(), v.untested)).collect();
            let [none, itself, inside, peer] =
                [None, Some(Untested::Itself), Some(Untested::Inside), Some(Untested::Peer(1))];
            assert_eq!(untested, [(true, none), (false, itself), (false, inside), (false, peer)], "{kind:?}");
        }
    }

    #[test]
    fn what_the_system_takes_lengthens_every_response_of_a_tree() {
        let us = Duration::from_micros;
        let root = root(Local::FixedPriority, vec![server(ServerKind::Deferrable, 5, 20, vec![leaf()])]);
        let work = Work { entry: us(10), completion: us(10), instants: None, recurring: vec![(us(20), ms(20))] };
        let r = judge_with(&root, &Whole, &work, &mut Effort::default());
        // The budget: 5 ms, 10 µs of blocking, 2·20 µs of entries. Inside: 20 + 5.05 − 10 ms without supply, then the
        // job with its completion, the entry under way, and entries in a window of 16.2 ms, counted once more.
        assert_eq!(r[0].response, Some(ms(5) + us(50)));
        assert_eq!(r[1].response, Some(ms(15) + us(50) + ms(1) + us(10 + 10 + 40)));
    }
}
