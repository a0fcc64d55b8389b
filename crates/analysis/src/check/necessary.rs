//! Necessary conditions: what no system that keeps its deadlines can break, whatever else it has.
//!
//! They read the file alone and no costs, and look at every system: a condition that is broken refuses it, also where no test says
//! anything of its tasks. What is best effort asks for nothing: level D, what gives way to a counter, a thread that is released by its own
//! end, and arrivals in bursts that a server's budget serves as they come.

use super::assumed::assumed;
use super::report::{hundredths, Check, Finding, TaskVerdict};
use crate::utilisation::Utilisation;
use std::collections::BTreeSet;
use tactus_model::{Demand, Policy, Server, System};
use tactus_task::MostTime;
use tactus_time::{CoreId, CoreSet, Duration, Level, TaskId};

/// What is said of the tasks that a broken condition concerns and no test looks at.
const BY: &str = "a necessary condition";

/// A condition that a system breaks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Violation {
    /// Those of whom one at least cannot keep its deadline.
    tasks: Vec<usize>,
    core: Option<CoreId>,
    line: usize,
    what: String,
    remedy: &'static str,
}

/// All that the system breaks.
pub(super) fn violations(system: &System) -> Vec<Violation> {
    let mut found = Vec::new();
    for view in views(system) {
        cores(system, &view, &mut found);
    }
    servers(system, &mut found);
    budgets(system, &mut found);
    windows(system, &mut found);
    for n in 0..system.tasks.len() {
        jobs(system, n, &mut found);
        sections(system, n, &mut found);
        releases(system, n, &mut found);
    }
    found
}

/// What the tests have not said of it: a finding for each violation that none of their findings tells of, and a verdict for tasks that none
/// of them looks at.
pub(super) fn note(violations: Vec<Violation>, check: &mut Check) {
    for it in violations {
        let told = |finding: &Finding| finding.task.is_some_and(|task| it.tasks.contains(&task.index()));
        let told = check.findings.iter().any(told);
        for &n in &it.tasks {
            if let TaskVerdict::Untested(_) = check.tasks[n].verdict {
                check.tasks[n].verdict = TaskVerdict::fails(it.what.as_str(), BY);
            }
        }
        if !told {
            let Violation { tasks, core, line, what, remedy } = it;
            let task = tasks.first().filter(|_| tasks.len() == 1).map(|n| TaskId(*n as u16));
            check.findings.push(Finding { task, core, line, what, remedy: remedy.into() });
        }
    }
}

/// Tasks whose demand counts together, each with what a job asks for.
struct View {
    times: Vec<Option<Duration>>,
    /// For messages.
    label: &'static str,
}

/// What is served together: of tasks with levels, all that are as critical as one of these, with what is assumed of them there.
fn views(system: &System) -> Vec<View> {
    let view = |label, counts: &dyn Fn(usize) -> bool, level: Option<Level>| {
        let time = |n: usize| {
            let sure = counts(n) && !is_best_effort(system, n);
            sure.then(|| level.map_or_else(|| usual(system, n), |level| assumed(&system.tasks[n], level)))
        };
        View { times: (0..system.tasks.len()).map(time).collect(), label }
    };
    let of = |n: usize, least: Level| system.tasks[n].level.is_some_and(|own| own <= least);
    match system.policy {
        Policy::PartitionedRm
        | Policy::PartitionedEdf
        | Policy::GlobalRm
        | Policy::GlobalEdf
        | Policy::Ordered { .. }
        | Policy::Partitions => vec![view("", &|_| true, None)],
        Policy::Mixed(_) => vec![
            view(" at level A", &|n| of(n, Level::A), Some(Level::A)),
            view(" at level B", &|n| of(n, Level::B), Some(Level::B)),
        ],
        Policy::Mc2 { .. } => vec![
            view(" at level A", &|n| of(n, Level::A), Some(Level::A)),
            view(" at level B", &|n| of(n, Level::B), Some(Level::B)),
            view(" at level C", &|n| of(n, Level::C), Some(Level::C)),
        ],
    }
}

fn is_best_effort(system: &System, n: usize) -> bool {
    let place = system.scheduling.places.get(n).copied().unwrap_or_default();
    let itself = place.release.predecessor() == Some(TaskId(n as u16));
    let server = place.server.map(|s| &system.scheduling.servers[s]);
    let yields = server.is_some_and(|server| server.kind.yields());
    let as_it_comes = server.is_some_and(is_limited) && place.release.burst().is_some();
    itself || yields || as_it_comes || system.tasks[n].level == Some(Level::D)
}

/// What a job of a task without levels takes: as assumed; where threads wait for each other and the file lists what each job does, the
/// mean of that, rounded down.
fn usual(system: &System, n: usize) -> Duration {
    let task = &system.tasks[n];
    match &task.demand {
        Demand::List(all) if !system.scheduling.events.is_empty() => {
            let sum: u128 = all.iter().map(|time| u128::from(time.as_nanos())).sum();
            Duration::from_nanos((sum / all.len().max(1) as u128) as u64)
        }
        Demand::List(_) | Demand::Fixed(_) | Demand::Uniform { .. } | Demand::Beta { .. } => assumed(task, Level::A),
    }
}

fn names(system: &System, tasks: &[usize]) -> String {
    const MOST: usize = 4;
    let named: Vec<String> = tasks.iter().take(MOST).map(|n| format!("`{}`", system.tasks[*n].name)).collect();
    match tasks.len() {
        0..=MOST => named.join(", "),
        all => format!("{} and {} more", named.join(", "), all - MOST),
    }
}

/// No set of cores is asked for more than it has by those who may run nowhere else.
fn cores(system: &System, view: &View, found: &mut Vec<Violation>) {
    let sets: Vec<CoreSet> = (0..system.tasks.len()).map(|n| system.queue_of(n)).collect();
    let wanted: BTreeSet<u8> = sets.iter().map(|set| set.bits()).chain([CoreSet::first(system.cores).bits()]).collect();
    let mut over: Vec<u8> = Vec::new();
    for bits in wanted.into_iter().filter(|bits| *bits != 0) {
        let inside = |n: &usize| view.times[*n].is_some() && sets[*n].bits() & !bits == 0;
        let tasks: Vec<usize> = (0..sets.len()).filter(inside).collect();
        let demand = |n: &usize| (view.times[*n].unwrap_or_default(), system.tasks[*n].period);
        let asked = Utilisation::of(tasks.iter().map(demand));
        let many = bits.count_ones();
        // A set that holds one which is asked for too much says nothing new.
        if asked.at_most(many.into()) || over.iter().any(|inner| inner & !bits == 0) {
            continue;
        }
        over.push(bits);
        let set = CoreSet::from_bits(bits);
        let (asked, by) = (hundredths(asked.millionths()), names(system, &tasks));
        let core = set.iter().next().filter(|_| many == 1);
        let whose = match core {
            Some(core) => format!("core {core} is asked for {asked} of its time"),
            None => format!("{many} cores are asked for {asked} of their time"),
        };
        found.push(Violation {
            what: format!("{whose}{} by {by}; the limit is {many}", view.label),
            line: tasks.last().map_or(0, |n| system.tasks[*n].line),
            tasks,
            core,
            remedy: "shorten execution times, lengthen periods, or move tasks elsewhere",
        });
    }
}

/// Whether a server never has more than its budget in the long run.
fn is_limited(server: &Server) -> bool {
    server.kind.most_time() != MostTime::Unlimited && !server.background
}

/// What a server has of a core: its budget, or the most of its windows in any schedule.
fn share(system: &System, n: usize, core: CoreId) -> (Duration, Duration) {
    let (server, partitions) = (&system.scheduling.servers[n], &system.scheduling.partitions);
    if let Some(partition) = partitions.list.get(n) {
        let most = partitions.numbers().map(|schedule| partition.time_on(core, schedule)).max();
        return (most.unwrap_or_default(), partitions.frame);
    }
    (if server.cores.contains(core) { server.budget } else { Duration::ZERO }, server.period)
}

/// No server is asked for more than it has.
fn servers(system: &System, found: &mut Vec<Violation>) {
    for (s, server) in system.scheduling.servers.iter().enumerate().filter(|(_, server)| is_limited(server)) {
        let inside = |n: &usize| system.around(*n).any(|at| at == s) && !is_best_effort(system, *n);
        let all: Vec<usize> = (0..system.tasks.len()).filter(inside).collect();
        let sets: BTreeSet<u8> = all.iter().map(|n| system.queue_of(*n).bits()).chain([server.cores.bits()]).collect();
        for bits in sets {
            let of_set = |n: &&usize| system.queue_of(**n).bits() & !bits == 0;
            let tasks: Vec<usize> = all.iter().filter(of_set).copied().collect();
            let asked = Utilisation::of(tasks.iter().map(|n| (usual(system, *n), system.tasks[*n].period)));
            let cores = CoreSet::from_bits(bits);
            // What it lacks of these cores counts as asked for.
            let lacks = cores.iter().map(|core| share(system, s, core)).map(|(q, p)| (p.saturating_sub(q), p));
            let demand = tasks.iter().map(|n| (usual(system, *n), system.tasks[*n].period));
            if tasks.is_empty() || Utilisation::of(demand.chain(lacks)).at_most(bits.count_ones().into()) {
                continue;
            }
            let has = Utilisation::of(cores.iter().map(|core| share(system, s, core)));
            let (name, by) = (&server.name, names(system, &tasks));
            let (asked, has) = (hundredths(asked.millionths()), hundredths(has.millionths()));
            found.push(Violation {
                what: format!("`{name}` is asked for {asked} of a core's time by {by}, and has {has}"),
                line: server.line,
                tasks,
                core: cores.iter().next().filter(|_| bits.count_ones() == 1),
                remedy: "give it more, shorten execution times, or lengthen periods",
            });
            break;
        }
    }
}

/// Nobody promises servers more than there is: of each core all of it, inside a server its share. Of partitions their windows tell, in
/// each schedule by itself.
fn budgets(system: &System, found: &mut Vec<Violation>) {
    let servers = &system.scheduling.servers;
    let counts = |s: usize| is_limited(&Server { background: false, ..servers[s].clone() });
    let shares = |s: usize| counts(s) && servers[s].kind.most_time() != MostTime::Table;
    for around in std::iter::once(None).chain((0..servers.len()).filter(|s| counts(*s)).map(Some)) {
        for core in (0..system.cores).map(|core| CoreId(core as u8)) {
            let on = |s: &usize| servers[*s].parent == around && servers[*s].cores.contains(core) && shares(*s);
            let inside: Vec<usize> = (0..servers.len()).filter(on).collect();
            let given = |s: &usize| share(system, *s, core);
            let lacks = around.map(|s| share(system, s, core)).map(|(q, p)| (p.saturating_sub(q), p));
            if inside.is_empty() || Utilisation::of(inside.iter().map(given).chain(lacks)).at_most(1) {
                continue;
            }
            let sum = hundredths(Utilisation::of(inside.iter().map(given)).millionths());
            let limit =
                around.map_or("1".into(), |s| hundredths(Utilisation::of([share(system, s, core)]).millionths()));
            let of = around.map_or(String::new(), |s| format!(" inside `{}`", servers[s].name));
            let last = inside.last().map_or(0, |s| servers[*s].line);
            let within = |n: &usize| system.around(*n).any(|at| inside.contains(&at)) && !is_best_effort(system, *n);
            let of_core = |n: &usize| system.queue_of(*n).contains(core);
            found.push(Violation {
                tasks: (0..system.tasks.len()).filter(within).filter(of_core).collect(),
                core: Some(core),
                line: last,
                what: format!("servers on core {core}{of} have {sum} of it together; the limit is {limit}"),
                remedy: "lower a budget, or lengthen a period",
            });
        }
    }
}

/// Windows lie in the frame, and one partition at a time has a core.
fn windows(system: &System, found: &mut Vec<Violation>) {
    let partitions = &system.scheduling.partitions;
    let name = |p: usize| system.scheduling.servers.get(p).map_or("", |server| server.name.as_str());
    let all: Vec<_> =
        partitions.list.iter().enumerate().flat_map(|(p, it)| it.windows.iter().map(move |w| (p, w))).collect();
    for (place, (p, window)) in all.iter().enumerate() {
        let own = |n: &usize| system.partition_of(*n) == Some(*p);
        let mut violation = |what| {
            found.push(Violation {
                tasks: (0..system.tasks.len()).filter(own).collect(),
                core: Some(window.core),
                line: system.scheduling.servers.get(*p).map_or(0, |server| server.line),
                what,
                remedy: "move the window, or shorten it",
            });
        };
        let (start, end) = (window.start, window.end());
        if window.length.is_zero() || end > partitions.frame || window.core.index() >= system.cores {
            let (name, frame) = (name(*p), partitions.frame);
            violation(format!(
                "a window of `{name}` on core {} from {start} to {end} lies outside the frame of {frame}",
                window.core
            ));
        }
        let meets = |(_, other): &&(usize, &tactus_task::Window)| {
            let same = (other.core, other.schedule) == (window.core, window.schedule);
            same && other.start < end && start < other.end()
        };
        if let Some((other, _)) = all[..place].iter().find(meets) {
            let (own, other) = (name(*p), name(*other));
            violation(format!(
                "a window of `{own}` on core {} from {start} to {end} overlaps one of `{other}`",
                window.core
            ));
        }
    }
}

/// A job alone fits in its deadline, and a burst of them in theirs.
fn jobs(system: &System, n: usize, found: &mut Vec<Violation>) {
    let task = &system.tasks[n];
    let level = task.level.unwrap_or(Level::A);
    if is_best_effort(system, n) {
        return;
    }
    let own = if task.level.is_some() { assumed(task, level) } else { usual(system, n) };
    let waits = super::waits::total(system, n);
    let mut violation = |what| {
        let remedy = "shorten it, or lengthen the deadline";
        found.push(Violation { tasks: vec![n], core: task.core, line: task.line, what, remedy });
    };
    // Level C of MC² may be late.
    let punctual = level <= Level::B;
    let whole = own.checked_add(waits).unwrap_or(Duration::MAX);
    if punctual && whole > task.deadline {
        let waits = if waits.is_zero() { String::new() } else { format!(" and waits {waits}") };
        return violation(format!(
            "a job of `{}` takes {own}{waits}, over its deadline of {}",
            task.name, task.deadline
        ));
    }
    let burst = system.scheduling.places.get(n).and_then(|place| place.release.burst());
    let Some(burst) = burst.filter(|_| punctual) else { return };
    for k in 1..=burst.most(task.period).min(64) {
        // The job after k others of the burst: none of them ends before it does.
        let late = task.period.checked_mul(k).unwrap_or(Duration::MAX).saturating_sub(burst.jitter);
        let arrives = late.max(burst.distance.checked_mul(k).unwrap_or(Duration::MAX));
        let (all, due) = (own.checked_mul(k + 1), arrives.checked_add(task.deadline).unwrap_or(Duration::MAX));
        if all.is_none_or(|all| all > due) {
            let what = format!(
                "{} jobs of `{}`, which may arrive within {arrives}, take longer than the {due} until the last is due",
                k + 1,
                task.name
            );
            return violation(what);
        }
    }
}

/// Sections lie within their job.
fn sections(system: &System, n: usize, found: &mut Vec<Violation>) {
    let task = &system.tasks[n];
    let own = assumed(task, task.level.unwrap_or(Level::A));
    for section in system.scheduling.sections_of(n) {
        let (end, name) = (section.end(), system.scheduling.resources.get(section.resource).map(|it| it.name.as_str()));
        if end > own || name.is_none() {
            found.push(Violation {
                tasks: vec![n],
                core: task.core,
                line: task.line,
                what: format!(
                    "a section of `{}` on `{}` ends when its job has executed {end}, and a job executes {own}",
                    task.name,
                    name.unwrap_or("no resource")
                ),
                remedy: "shorten the section, begin it earlier, or raise execution",
            });
        }
    }
}

/// What releases a task is released itself, and not more often.
fn releases(system: &System, n: usize, found: &mut Vec<Violation>) {
    let before = |n: usize| {
        let release = system.scheduling.places.get(n).map(|place| place.release);
        release.and_then(|it| it.predecessor()).map(TaskId::index).filter(|before| *before != n)
    };
    let Some(first) = before(n) else { return };
    let task = &system.tasks[n];
    let mut violation = |what, remedy| {
        found.push(Violation { tasks: vec![n], core: task.core, line: task.line, what, remedy });
    };
    let mut way = std::iter::successors(Some(first), |at| before(*at)).take(system.tasks.len());
    if way.any(|at| at == n) {
        let what = format!("`{}` is released by a task that it releases itself, so that none ever begins", task.name);
        return violation(what, "let a periodic task begin the chain");
    }
    let Some(other) = system.tasks.get(first).filter(|other| task.period > other.period) else { return };
    let what = format!(
        "the period of `{}`, {}, is longer than the {} of `{}`, whose completions release it: more and more jobs wait",
        task.name, task.period, other.period, other.name
    );
    violation(what, "shorten it");
}
