//! The judgement on a domain: every task and server on it, from the trees of its cores and the supplies that come out of them.

use super::super::orders::{self, Queue};
use super::super::rank::Rank;
use super::domain::{queues, Domain};
use super::forest::{is_in_tree, Core, Who};
use super::{alone, tests, words};
use crate::effort::Effort;
use crate::reservation::charge::Work;
use crate::reservation::local::{fits_share, Local};
use crate::reservation::mpr::{self, Mpr};
use crate::reservation::platform::{self, Platform};
use crate::reservation::soft;
use crate::reservation::supply::{Recurring, Supply, Whole};
use crate::reservation::tree::{self, judge_with, Untested, Verdict};
use crate::task::{Sporadic, Withheld};
use crate::terms::{Source, Term, Terms};
use tactus_model::{Migration, TaskOrder};
use tactus_task::WhenIdle;
use tactus_time::{CoreId, CoreSet, Duration};

/// What was found for a task.
#[derive(Clone, Debug)]
pub(super) struct OfTask {
    pub task: usize,
    pub response: Option<Duration>,
    /// Why there is no test, in words.
    pub untested: Option<String>,
    /// Which test it is.
    pub by: &'static str,
}

/// Which tests cover a task.
#[derive(Clone, Debug)]
pub(super) struct Covered {
    /// Why none does, if none does.
    pub lacks: Option<String>,
    /// Whether that of a task alone in its server does.
    pub alone: bool,
}

/// What was found for a server on a core.
#[derive(Clone, Debug)]
pub(super) struct OfServer {
    pub server: usize,
    pub core: CoreId,
    pub response: Option<Duration>,
    pub limit: Duration,
    pub untested: Option<String>,
    supply: Option<Recurring>,
}

impl OfServer {
    /// What it supplies, if it keeps to its limit.
    pub fn supply(&self) -> Option<Recurring> {
        self.supply
    }

    pub fn fails(&self) -> bool {
        self.untested.is_none() && self.response.is_none_or(|r| r > self.limit)
    }
}

/// What was found for a domain.
#[derive(Default)]
pub(super) struct Judgement {
    pub tasks: Vec<OfTask>,
    pub servers: Vec<OfServer>,
}

impl Judgement {
    /// What the response of a task adds up from, where its test has terms: those of trees by fixed priorities, and of a queue within a
    /// supply.
    pub fn terms(
        &self,
        domain: &Domain,
        root: (Migration, TaskOrder),
        times: &[Duration],
        task: usize,
        effort: &mut Effort,
    ) -> Option<Terms> {
        let by = self.tasks.iter().find(|it| it.task == task)?.by;
        if by == tests::TREE.name {
            let core = domain.system.queue_of(task).iter().next()?;
            let (scheduler, tree) = Core::tree(domain.system, root, core, times);
            let (path, _) = tree.places.iter().find(|(_, who)| *who == Who::Task(task))?;
            let mut terms = tree::terms(&scheduler, &Whole, &domain.of_core(core), path, effort)?;
            terms.renumber(|place| match tree.at(&[&path[..path.len() - 1], &[place]].concat()) {
                Some(Who::Server(server)) => Source::Server(server),
                Some(Who::Task(other)) => Source::Other(other),
                None => Source::Withheld,
            });
            return Some(terms);
        }
        let server = domain.system.home(task)?;
        let it = &domain.system.scheduling.servers[server];
        if by != orders::explanation(it.order) {
            return None;
        }
        let queue = domain.system.queue_of(task);
        let own = |n: &usize| domain.system.home(*n) == Some(server) && domain.system.queue_of(*n) == queue;
        let mut places: Vec<usize> = domain.tasks.iter().copied().filter(own).collect();
        let inside = Inside { domain, server, queue, found: self, times };
        let mut terms = inside.terms(&mut places, task, effort)?;
        terms.renumber(|place| Source::Other(places[place]));
        Some(terms)
    }

    /// Whether all that has a test passes.
    pub fn holds(&self, domain: &Domain) -> bool {
        let late = |t: &OfTask| t.response.is_none_or(|r| r > domain.system.tasks[t.task].deadline);
        !self.tasks.iter().any(|t| t.untested.is_none() && late(t)) && !self.servers.iter().any(OfServer::fails)
    }
}

/// Judges a domain with these execution times and tests, by task.
pub(super) fn judge(
    domain: &Domain,
    root: (Migration, TaskOrder),
    (times, covered): (&[Duration], &[Covered]),
    effort: &mut Effort,
) -> Judgement {
    let mut found = Judgement::default();
    for core in domain.cores.iter() {
        let (scheduler, tree) = Core::tree(domain.system, root, core, times);
        let work = domain.of_core(core);
        for verdict in judge_with(&scheduler, &Whole, &work, effort) {
            let untested = verdict.untested.map(|why| reason(domain, root, &tree, &verdict, why));
            let Verdict { response, deadline: limit, supply, .. } = verdict;
            match tree.at(&verdict.path) {
                Some(Who::Task(task)) => {
                    found.tasks.push(OfTask { task, response, untested, by: tests::TREE.name });
                }
                Some(Who::Server(server)) => {
                    found.servers.push(OfServer { server, core, response, limit, untested, supply });
                }
                None => {}
            }
        }
    }
    for server in 0..domain.system.scheduling.servers.len() {
        for queue in queues(domain.system, root.0, Some(server)) {
            let Some(core) = queue.iter().next().filter(|core| domain.cores.contains(*core)) else { continue };
            let it = &domain.system.scheduling.servers[server];
            if it.kind.yields() {
                let inside = |task: &usize| {
                    domain.system.home(*task) == Some(server)
                        && domain.system.tasks[*task].core.is_none_or(|core| queue.contains(core))
                };
                let one = |task| OfTask { task, response: None, untested: Some(words::gives_way(it)), by: "" };
                found.tasks.extend(domain.tasks.iter().copied().filter(inside).map(one));
                continue;
            }
            if is_in_tree(domain.system, root.0, server, core) {
                continue;
            }
            let inside = |&n: &usize| {
                let on = domain.system.tasks[n].core;
                domain.system.home(n) == Some(server) && on.is_none_or(|core| queue.contains(core))
            };
            let mut places: Vec<usize> = domain.tasks.iter().copied().filter(inside).collect();
            let queue = Inside { domain, server, queue, found: &found, times };
            let told = queue.judge(&mut places, effort);
            found.tasks.extend(told);
        }
    }
    found.tasks.sort_by_key(|t| t.task);
    for it in found.tasks.iter_mut().filter(|it| it.untested.is_none() && covered[it.task].alone) {
        let bound = alone::response(domain, &found.servers, times, it.task);
        if let Some(bound) = bound.filter(|bound| it.response.is_none_or(|other| *bound < other)) {
            (it.response, it.by) = (Some(bound), tests::ALONE.name);
        }
    }
    for it in &mut found.tasks {
        if let Some(why) = &covered[it.task].lacks {
            (it.response, it.untested) = (None, Some(why.clone()));
        }
    }
    found
}

/// In words why a node has no test.
fn reason(domain: &Domain, root: (Migration, TaskOrder), tree: &Core, verdict: &Verdict, why: Untested) -> String {
    let servers = &domain.system.scheduling.servers;
    let path = &verdict.path;
    // Who it is for whose sake there is no test: the node, a child beside it, or the innermost server around it that has none.
    let culprit = match why {
        Untested::Itself => path.clone(),
        Untested::Peer(place) => path[..path.len() - 1].iter().copied().chain([place]).collect(),
        Untested::Inside => path[..path.len() - 1].to_vec(),
    };
    match tree.at(&culprit) {
        Some(Who::Server(s)) => {
            let above = servers[s].parent.map_or(root.1, |p| servers[p].order);
            words::no_test(&servers[s], above, why)
        }
        Some(Who::Task(_)) | None => "nothing is known of the server around it".into(),
    }
}

/// What is inside a server beneath a supply of its own: tasks of one queue.
struct Inside<'a> {
    domain: &'a Domain<'a>,
    server: usize,
    queue: CoreSet,
    found: &'a Judgement,
    times: &'a [Duration],
}

/// What a supply and the system's work leave.
struct Within<'a>(&'a Recurring, &'a Work<'a>);

impl Withheld for Within<'_> {
    fn at_most(&self, window: Duration) -> Duration {
        let gone = window.saturating_sub(self.0.least(window));
        gone.checked_add(self.1.at_most(window)).unwrap_or(Duration::MAX)
    }

    fn terms(&self, window: Duration) -> Vec<Term> {
        let gone = window.saturating_sub(self.0.least(window));
        let supply = Term::once(Source::Supply, i128::from(gone.as_nanos()));
        std::iter::once(supply).chain(self.1.terms(window)).collect()
    }
}

impl Inside<'_> {
    /// The tasks with what the system's own work adds to them.
    fn sporadic(&self, places: &[usize], work: &Work) -> Vec<Sporadic> {
        let one = |&n: &usize| {
            let t = &self.domain.system.tasks[n];
            Sporadic::new(self.times[n] + work.completion, t.period, t.deadline)
        };
        places.iter().map(one).collect()
    }

    /// What the response of a task adds up from that is alone with those of its queue on one core.
    fn terms(&self, places: &mut [usize], task: usize, effort: &mut Effort) -> Option<Terms> {
        let system = self.domain.system;
        let it = &system.scheduling.servers[self.server];
        let rank = Rank::of(it.order);
        rank.sort(system, places);
        let core = self.queue.iter().next().filter(|_| self.queue.iter().nth(1).is_none())?;
        let own = self.found.servers.iter().find(|f| f.server == self.server && f.core == core)?;
        let (work, supply) = (self.domain.of_core(core), own.supply?);
        let tasks = self.sporadic(places, &work);
        let withheld = &Within(&supply, &work);
        let rivals = &rank.rivals(system, places);
        let queue =
            Queue { tasks: &tasks, quantum: it.quantum, completion: work.completion, rivals, work: &work, withheld };
        let i = places.iter().position(|place| *place == task)?;
        orders::terms_by(it.order, queue, i, effort)
    }

    fn judge(&self, places: &mut [usize], effort: &mut Effort) -> Vec<OfTask> {
        let system = self.domain.system;
        let it = &system.scheduling.servers[self.server];
        let rank = Rank::of(it.order);
        rank.sort(system, places);
        let all = |response: Option<Duration>, untested: Option<String>, by| {
            let one = |&task: &usize| OfTask { task, response, untested: untested.clone(), by };
            places.iter().map(one).collect::<Vec<_>>()
        };
        let on = |core: CoreId| self.found.servers.iter().find(move |f| f.server == self.server && f.core == core);
        let processors: Vec<&OfServer> = self.queue.iter().filter_map(on).collect();
        if let Some(why) = processors.iter().find_map(|p| p.untested.clone()) {
            return all(None, Some(why), "");
        }
        // What servers inside take of the supply is not in these tests.
        if let Some(inner) = system.scheduling.servers.iter().find(|inner| inner.parent == Some(self.server)) {
            return all(None, Some(words::beside_inner(it, inner)), "");
        }
        if places.is_empty() || processors.is_empty() || processors.iter().any(|p| p.fails()) {
            return all(None, None, "its server fails");
        }
        let one_core = processors.len() == 1;
        let work = match one_core {
            true => self.domain.of_core(processors[0].core),
            false => self.domain.of_queue(self.server, self.queue),
        };
        let tasks = self.sporadic(places, &work);
        if it.kind.is_soft() {
            let late = processors[0].response.unwrap_or_default().saturating_sub(it.period);
            let bound = soft::response(&tasks, (it.budget, it.period), late, &work, effort);
            return all(bound, None, tests::SOFT.name);
        }
        // To its peers a polling server with a shared queue keeps its budget; what is inside cannot count on it.
        let lost = if it.kind.when_idle() == WhenIdle::Forfeit && !one_core { it.budget } else { Duration::ZERO };
        let sure = |supply: Recurring| Recurring { blackout: supply.blackout + lost, ..supply };
        let supplies: Vec<Recurring> = processors.iter().filter_map(|p| p.supply).map(sure).collect();
        if let [supply] = supplies[..] {
            if !fits_share(&tasks, &supply) {
                return all(None, None, "its server's share");
            }
            let withheld = &Within(&supply, &work);
            let (quantum, completion, rivals) = (it.quantum, work.completion, &rank.rivals(system, places));
            let queue = Queue { tasks: &tasks, quantum, completion, rivals, work: &work, withheld };
            let (responses, by) = (orders::by(it.order, queue, &mut effort.clone()), orders::explanation(it.order));
            effort.spend(tasks.len() * tasks.len());
            let told = places.iter().zip(responses);
            return told.map(|(&task, response)| OfTask { task, response, untested: None, by }).collect();
        }
        self.on_platform(places, &tasks, rank, &supplies, &work, effort)
    }

    /// Several virtual processors: the companion test, or for EDF without costs that of the multiprocessor periodic resource.
    fn on_platform(
        &self,
        places: &[usize],
        tasks: &[Sporadic],
        rank: Rank,
        supplies: &[Recurring],
        work: &Work,
        effort: &mut Effort,
    ) -> Vec<OfTask> {
        let platform = Platform(supplies.iter().map(|s| s as &dyn Supply).collect());
        let fits = |k: &platform::Comparison, deadline: Duration| {
            let taken = work.at_most(deadline);
            k.asked.checked_add(taken).is_some_and(|asked| asked <= k.given)
        };
        let passes = |i: usize| {
            let own = tasks[i];
            if own.deadline > own.period || own.execution > own.deadline {
                return false;
            }
            let found = match rank {
                Rank::Fixed(_) => platform::comparisons(tasks, i, Local::FixedPriority, &platform),
                Rank::Edf => platform::comparisons(tasks, i, Local::EarliestDeadline, &platform),
                Rank::Other(_) => {
                    // Any order: all others may go first.
                    let mut set: Vec<Sporadic> = tasks.to_vec();
                    let own = set.remove(i);
                    set.push(own);
                    platform::comparisons(&set, set.len() - 1, Local::FixedPriority, &platform)
                }
            };
            found.iter().any(|k| fits(k, own.deadline))
        };
        let mut held: Vec<bool> = (0..tasks.len()).map(passes).collect();
        let mut by = tests::PLATFORM.name;
        let all = held.iter().all(|h| *h);
        match rank {
            Rank::Fixed(_) => {
                let first = held.iter().position(|h| !h).unwrap_or(held.len());
                held[first..].fill(false);
            }
            Rank::Edf | Rank::Other(_) if all => {}
            Rank::Edf
                if work.is_none()
                    && self.as_resource(supplies).is_some_and(|μ| mpr::edf_schedulable(tasks, &μ, effort)) =>
            {
                held.fill(true);
                by = tests::RESOURCE.name;
            }
            Rank::Edf | Rank::Other(_) => held.fill(false),
        }
        let told = places.iter().zip(tasks).zip(held);
        told.map(|((&task, τ), held)| OfTask { task, response: held.then_some(τ.deadline), untested: None, by })
            .collect()
    }

    /// The virtual processors as one resource, where each comes as early as that assumes.
    fn as_resource(&self, supplies: &[Recurring]) -> Option<Mpr> {
        let it = &self.domain.system.scheduling.servers[self.server];
        let most = (it.period - it.budget) * 2;
        let early = supplies.iter().all(|s| s.blackout <= most && (s.budget, s.period) == (it.budget, it.period));
        early.then(|| Mpr {
            period: it.period,
            budget: it.budget * supplies.len() as u64,
            parallelism: supplies.len() as u64,
        })
    }
}
