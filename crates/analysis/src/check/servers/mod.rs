//! Systems with servers: each core is a tree, cores that share queues are judged together, with and without costs.
//!
//! [`domain`] has which cores belong together and what the system takes of them, [`forest`] makes a core's tree, [`judge`]
//! has the tests: [`crate::reservation::tree`] for servers and for what is inside one queue of one core by fixed priorities or deadlines;
//! the tests of one core within the server's supply for other orders; the test of virtual platforms where cores share the
//! queue; [`crate::reservation::soft`] inside soft servers. What has no test is told by name, and its reason with it.
//! `background` service only adds to what the tests count on.

mod alone;
mod domain;
mod forest;
mod judge;
mod tests;
mod words;

pub(crate) use tests::ALL;

use super::explain::Wanted;
use super::growth::{self, Growth, SearchBudget};
use super::report::{hundredths, Check, Finding, TaskVerdict};
use super::subject::Subject;
use super::{declared, sensitivity};
use crate::effort::Effort;
use crate::inflation::budget;
use crate::reservation::questv;
use crate::task::Sporadic;
use crate::utilisation::Utilisation;
use domain::{domains, Domain};
use judge::{judge, Covered, Judgement, OfServer, OfTask};
use tactus_model::{Costs, Migration, Server, ServerKind, System, TaskOrder};
use tactus_task::Bound;
use tactus_time::{CoreId, Duration};

/// The most that may go to the system's own work of what a server takes, in percent; a smaller budget is refused.
const MOST_OVERHEAD: u64 = 50;

pub(super) fn check(
    subject: &Subject,
    root: (Migration, TaskOrder),
    (costs, cache): (&Costs, Duration),
    entry: Duration,
    check: &mut Check,
    wanted: &mut Wanted,
) {
    let system = subject.system;
    if !entry.is_zero() {
        too_small(system, costs, cache, check);
    }
    let (times, covered) = (forest::times(system), covered(subject, root));
    for domain in domains(system, root.0, entry) {
        let found = judge(&domain, root, (&times, &covered), &mut Effort::of_core(system.cores));
        for server in found.servers.iter().filter(|s| s.fails()) {
            self::server(system, server, check);
        }
        for n in wanted.tasks().filter(|n| domain.tasks.contains(n)) {
            let found = found.terms(&domain, root, &times, n, &mut Effort::of_core(system.cores));
            found.into_iter().for_each(|terms| wanted.keep(system, n, terms));
        }
        let mut advised = false;
        for task in &found.tasks {
            self::task((subject, &domain), (root, &covered), task, &found, advised, check);
            advised |= check.tasks[task.task].fails();
        }
    }
}

/// What a server of one core supplies, without the system's own work inside; nothing if it fails or has no test.
pub(super) fn supply_of(
    subject: &Subject,
    root: (Migration, TaskOrder),
    entry: Duration,
    server: usize,
) -> Option<super::slots::SlotSupply> {
    let system = subject.system;
    let (times, covered) = (forest::times(system), covered(subject, root));
    let core = system.scheduling.servers[server].cores.iter().next()?;
    let domains = domains(system, root.0, entry);
    let domain = domains.iter().find(|domain| domain.cores.contains(core))?;
    let found = judge(domain, root, (&times, &covered), &mut Effort::of_core(system.cores));
    let supply = found.servers.iter().find(|it| it.server == server && it.core == core)?.supply()?;
    super::slots::without_work(supply, &domain.of_core(core))
}

/// By task, which tests cover it.
fn covered(subject: &Subject, root: (Migration, TaskOrder)) -> Vec<Covered> {
    let one = |n: usize| {
        let tests = tests::of(subject.system, root.0, n);
        let alone = tests::ALONE.covers.cover(subject.features(n));
        Covered { lacks: subject.unknown(n).or_else(|| declared::uncovered(subject, n, tests)), alone }
    };
    (0..subject.system.tasks.len()).map(one).collect()
}

/// Budgets that the system's own work would eat.
fn too_small(system: &System, costs: &Costs, cache: Duration, check: &mut Check) {
    // What is counted is charged for nothing that the system does.
    for server in system.scheduling.servers.iter().filter(|it| !it.kind.reads_counters()) {
        if let Err(refusal) = budget::refuse_below(server.budget, costs, cache, MOST_OVERHEAD) {
            check.findings.push(Finding {
                task: None,
                core: server.cores.iter().next(),
                line: server.line,
                what: format!("server `{}`: {refusal}", server.name),
                remedy: "or leave the server out".into(),
            });
        }
    }
}

fn task(
    (subject, domain): (&Subject, &Domain),
    (root, covered): ((Migration, TaskOrder), &[Covered]),
    found: &OfTask,
    all: &Judgement,
    advised: bool,
    check: &mut Check,
) {
    let system = domain.system;
    let verdict = &mut check.tasks[found.task];
    if let Some(why) = &found.untested {
        verdict.verdict = TaskVerdict::Untested(why.clone());
        return;
    }
    let inside = system.home(found.task).map(|s| &system.scheduling.servers[s]);
    let unbounded = || match inside {
        Some(s) if all.servers.iter().any(|f| f.fails() && system.scheduling.servers[f.server].name == s.name) => {
            "its server has no sure supply".into()
        }
        Some(s) => {
            format!("no response is bounded in what {} of every {} leave it, overheads included", s.budget, s.period)
        }
        None => "no response is bounded in what those that are more urgent leave".into(),
    };
    let in_time = |n: usize| {
        let response = all.tasks.iter().find(|it| it.task == n).and_then(|it| it.response);
        response.is_some_and(|r| r <= system.tasks[n].deadline)
    };
    let own = TaskVerdict::of(found.response.map(Bound::Response), verdict.deadline, found.by, unbounded);
    verdict.verdict = subject.beside_stopping(found.task, own, in_time);
    let TaskVerdict::Fails { why: binds, .. } = &verdict.verdict else { return };
    if let Some(server) = inside.filter(|server| server.kind == ServerKind::Misses) {
        // What is sure is not all that it has.
        verdict.verdict = TaskVerdict::Untested(words::may_stall(server));
        return;
    }
    let within = inside.map_or(String::new(), |s| format!(" in server `{}`", s.name));
    let what = format!("task `{}`{within} fails: {binds}", verdict.name);
    let remedy = if advised { "see the remedy above".into() } else { remedy(domain, (root, covered), found.task) };
    check.fail(system, found.task, what, remedy);
}

/// How much shorter the execution times of the domain, or how much larger the budget around the task, would have to be.
fn remedy(domain: &Domain, (root, covered): ((Migration, TaskOrder), &[Covered]), n: usize) -> String {
    let system = domain.system;
    let step = || Effort::of_core(system.cores).step();
    let with = |times: &[Duration]| judge(domain, root, (times, covered), &mut step()).holds(domain);
    let set = sporadic(domain);
    let scale = sensitivity::largest_scale(&set, |set| with(&scatter(domain, set)));
    let list: Vec<String> = domain.cores.iter().map(|core| core.to_string()).collect();
    let cores = if list.len() == 1 { "core" } else { "cores" };
    let mut told = sensitivity::remedy(scale, &format!(" on {cores} {}", list.join(", ")));
    let Some(s) = system.home(n) else { return told };
    let times = forest::times(system);
    let entry = domain.of_core(domain.cores.iter().next().unwrap_or_default()).entry;
    let passes = |budget: u64, whole: bool| {
        let mut larger = system.clone();
        larger.scheduling.servers[s].budget = Duration::from_nanos(budget);
        let domains = domains(&larger, root.0, entry);
        let Some(domain) = domains.into_iter().find(|d| d.tasks.contains(&n)) else { return false };
        let found = judge(&domain, root, (&times, covered), &mut step());
        let own = found.tasks.iter().find(|t| t.task == n);
        let met = own.and_then(|t| t.response).is_some_and(|r| r <= system.tasks[n].deadline);
        met && (!whole || found.holds(&domain))
    };
    let server = &system.scheduling.servers[s];
    let (mut low, mut high) = (server.budget.as_nanos(), server.period.as_nanos());
    if passes(high, false) {
        let grain = (high / 4096).max(1);
        while high - low > grain {
            let middle = low + (high - low) / 2;
            if passes(middle, false) {
                high = middle;
            } else {
                low = middle;
            }
        }
        let budget = Duration::from_nanos(high);
        told += &format!("; or give server `{}` a budget of {budget}", server.name);
        if !passes(high, true) {
            told += ", which needs room that others have now";
        }
    }
    told
}

/// The domain's tasks, as searches take them.
fn sporadic(domain: &Domain) -> Vec<Sporadic> {
    let one = |&n: &usize| {
        let t = &domain.system.tasks[n];
        Sporadic::new(super::assumed::plain(t), t.period, t.deadline)
    };
    domain.tasks.iter().map(one).collect()
}

/// Execution times of all tasks, those of the domain from a set in its order.
fn scatter(domain: &Domain, set: &[Sporadic]) -> Vec<Duration> {
    let mut times = forest::times(domain.system);
    for (&n, τ) in domain.tasks.iter().zip(set) {
        times[n] = τ.execution;
    }
    times
}

fn server(system: &System, found: &OfServer, check: &mut Check) {
    let server = &system.scheduling.servers[found.server];
    let limit = if found.limit > server.period { "twice its period" } else { "its period" };
    let binds = match found.response {
        Some(r) => format!("its budget of {} may take {r}, longer than {limit} of {}", server.budget, server.period),
        None => format!("its budget of {} has no bound beside those that share its time", server.budget),
    };
    check.findings.push(Finding {
        task: None,
        core: Some(found.core),
        line: server.line,
        what: format!("server `{}` on core {} fails: {binds}", server.name, found.core),
        remedy: "lower the budgets of its peers, or lengthen its period".into(),
    });
}

/// By how much each execution time may grow, so that all of its domain that has a test still passes.
pub(super) fn growth(
    subject: &Subject,
    root: (Migration, TaskOrder),
    entry: Duration,
    search: &mut SearchBudget,
    growth: &mut [Growth],
) {
    let (system, covered) = (subject.system, covered(subject, root));
    let all = domains(system, root.0, entry);
    for (place, domain) in all.iter().enumerate() {
        search.part(all.len() - place);
        let set = sporadic(domain);
        let times = forest::times(system);
        let found = judge(domain, root, (&times, &covered), &mut Effort::of_core(system.cores));
        let tested = |n: usize| found.tasks.iter().any(|t| t.task == n && t.untested.is_none());
        for (i, &n) in domain.tasks.iter().enumerate().filter(|(_, n)| tested(**n)) {
            let mut passes = |set: &[Sporadic]| {
                search.ask(Effort::of_core(system.cores), |effort| {
                    judge(domain, root, (&scatter(domain, set), &covered), effort).holds(domain)
                })
            };
            growth[n] = growth::of(&set, i, set[i].deadline, &mut passes);
        }
    }
}

/// What sampling counters takes of each core on which work gives way to one.
fn sampling(system: &System, entry: Duration) -> String {
    let yielding = system.scheduling.servers.iter().filter(|server| server.kind.yields() && !entry.is_zero());
    let share = |period: Duration| entry.as_nanos() as f64 * 100.0 / period.as_nanos() as f64;
    let one = |it: &Server| format!(" · `{}` samples each {}, {:.3} % of a core", it.name, it.period, share(it.period));
    yielding.map(one).collect()
}

/// The line that sums the check up.
pub(super) fn summary(system: &System, root: (Migration, TaskOrder), entry: Duration, check: &Check) -> String {
    let servers = &system.scheduling.servers;
    let tested = check.tasks.iter().filter(|t| !matches!(t.verdict, TaskVerdict::Untested(_))).count();
    let promised = |core: CoreId| {
        let top = servers.iter().filter(|s| s.parent.is_none() && s.cores.contains(core));
        Utilisation::of(top.map(|s| (s.budget, s.period))).millionths()
    };
    let most = (0..system.cores).map(|c| promised(CoreId(c as u8))).max().unwrap_or(0);
    let slack = check.tasks.iter().filter_map(|t| t.slack()).min();
    format!(
        "{} server{} · at most {} of a core promised · {tested} of {} tasks have a test{}{}",
        servers.len(),
        if servers.len() == 1 { "" } else { "s" },
        hundredths(most),
        system.tasks.len(),
        slack.map_or(String::new(), |s| format!(" · least slack {s}")),
        sampling(system, entry) + &admission(system, root)
    )
}

/// Quest-V's bound, where a core is what that is for: sporadic and priority-inheriting servers alone, rate-monotonic.
fn admission(system: &System, root: (Migration, TaskOrder)) -> String {
    let servers = &system.scheduling.servers;
    let mut told = String::new();
    for core in (0..system.cores).map(|c| CoreId(c as u8)) {
        let top: Vec<_> = servers.iter().filter(|s| s.parent.is_none() && s.cores.contains(core)).collect();
        let of = |kind| top.iter().filter(move |s| s.kind == kind);
        let main: Vec<_> = of(ServerKind::Sporadic).map(|s| (s.budget, s.period)).collect();
        let io: Vec<_> =
            of(ServerKind::PriorityInheriting).map(|s| (s.budget.as_nanos(), s.period.as_nanos())).collect();
        let beside = (0..system.tasks.len()).any(|n| system.home(n).is_none() && system.tasks[n].core == Some(core));
        if root.1 != TaskOrder::RateMonotonic || io.is_empty() || main.len() + io.len() < top.len() || beside {
            continue;
        }
        let verdict = if questv::admits(&main, &io) { "admitted" } else { "not admitted" };
        told += &format!(
            " · core {core}: load {} {verdict} by Quest-V's bound",
            hundredths(questv::load_millionths(&main, &io))
        );
    }
    told
}
