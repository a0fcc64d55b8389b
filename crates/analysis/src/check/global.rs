//! Global and clustered orders: response bounds where Bertogna and Cirinei's test finds them, tardiness bounds beside them.
//! A cluster is a global system by itself; one of one core is judged as one core.

use super::assumed::plain;
use super::covers::{one, FIXED, SPORADIC};
use super::declared::{self, all_in_time, best, choose, nothing, responses, Answers, Declared, TermsOf, Test};
use super::explain::Wanted;
use super::growth::{self, Growth, SearchBudget};
use super::rank::{self, Rank};
use super::report::{hundredths, Check, TaskVerdict};
use super::subject::Subject;
use super::{one_core, sensitivity, waits, work};
use crate::arrivals::Instants;
use crate::effort::Effort;
use crate::global::{bertogna_cirinei, devi_anderson, gfb, tardiness};
use crate::overhead::{Charge, GLOBAL_ENTRIES_PER_INSTANT};
use crate::reservation::charge::Work;
use crate::task::{Sporadic, Withheld};
use crate::terms::Terms;
use crate::utilisation::Utilisation;
use tactus_model::{Migration, System};
use tactus_task::{Bound, Feature, Features};
use tactus_time::{CoreSet, Duration};

const SHARED: Features = SPORADIC.and(one(Feature::SharedQueue)).and(one(Feature::Reconfiguration));
const WAITS: Features = one(Feature::Wait);

const fn test(
    name: &'static str,
    source: &'static str,
    covers: Features,
    bounds: fn(&Group, &[Sporadic], &mut Effort) -> Answers,
    terms: TermsOf<Group>,
) -> Test<Group> {
    let declared = Declared { name, source, place: "cores with one queue", covers, exact: false };
    Test { declared, needs: nothing, bounds, fits: None, terms }
}

/// The tests of cores that share a queue.
pub(crate) const ALL: &[Test<Group>] = &[
    test(
        "global response-time analysis (Bertogna and Cirinei)",
        "Bertogna and Cirinei 2007, fixed priorities",
        SHARED.and(FIXED).and(WAITS),
        |group, tasks, effort| {
            responses(bertogna_cirinei::fixed_priority_responses(tasks, group.m, &group.work(), effort))
        },
        |group, tasks, i, effort| bertogna_cirinei::terms_by_priority(tasks, group.m, i, &group.work(), effort),
    ),
    test(
        "global response-time analysis (Bertogna and Cirinei)",
        "Bertogna and Cirinei 2007, EDF",
        SHARED.and(one(Feature::EarliestDeadline)).and(WAITS),
        |group, tasks, effort| {
            let all = bertogna_cirinei::edf_responses(tasks, group.m, &[], &group.work(), effort);
            of_all(all, tasks)
        },
        |group, tasks, i, effort| bertogna_cirinei::terms_iterated(tasks, (group.m, true), i, &group.work(), effort),
    ),
    test(
        "density test (Goossens, Funk and Baruah)",
        "Goossens, Funk and Baruah 2003",
        SHARED.and(one(Feature::EarliestDeadline)).and(WAITS),
        |group, tasks, _| {
            let fits = group.work().at_most(Duration::MAX).is_zero() && gfb::schedulable(tasks, group.m);
            responses(tasks.iter().map(|τ| fits.then_some(τ.deadline)).collect())
        },
        no_terms,
    ),
    test(
        "deadline not proven; tardiness bounded (Devi and Anderson)",
        "Devi and Anderson 2008; Erickson, Devi and Baruah 2010",
        SHARED.and(one(Feature::EarliestDeadline)).and(WAITS),
        |group, tasks, _| match group.tardiness() {
            Some(all) => all.into_iter().map(|late| Some(Bound::Tardiness(late))).collect(),
            None => vec![None; tasks.len()],
        },
        no_terms,
    ),
    test(
        "any work-conserving order (Bertogna and Cirinei)",
        "Bertogna and Cirinei 2007",
        SHARED.and(WAITS).and(one(Feature::FirstComeFirstServed)),
        in_any_order,
        terms_in_any_order,
    ),
    test(
        "any work-conserving order (Bertogna and Cirinei)",
        "Bertogna and Cirinei 2007",
        SHARED.and(Features::of(&[
            Feature::RoundRobin,
            Feature::FixedPriorityRoundRobin,
            Feature::LaxityAtRelease,
            Feature::LeastLaxity,
        ])),
        in_any_order,
        terms_in_any_order,
    ),
];

/// Of a test whose bounds are no sum.
fn no_terms(_: &Group, _: &[Sporadic], _: usize, _: &mut Effort) -> Option<Terms> {
    None
}

fn terms_in_any_order(group: &Group, tasks: &[Sporadic], i: usize, effort: &mut Effort) -> Option<Terms> {
    bertogna_cirinei::terms_iterated(tasks, (group.m, false), i, &group.work(), effort)
}

fn in_any_order(group: &Group, tasks: &[Sporadic], effort: &mut Effort) -> Answers {
    of_all(bertogna_cirinei::any_order_responses(tasks, group.m, &group.work(), effort), tasks)
}

/// But for fixed priorities, one task without a proof takes away the bounds of all.
fn of_all(all: Vec<Option<Duration>>, tasks: &[Sporadic]) -> Answers {
    match met(&all, tasks) {
        true => responses(all),
        false => vec![None; tasks.len()],
    }
}

/// One queue and the cores that share it.
pub(crate) struct Group {
    cores: CoreSet,
    m: usize,
    of: usize,
    rank: Rank,
    entry: Duration,
    /// The tasks, the most urgent first.
    places: Vec<usize>,
    /// The same with what costs add to their execution times.
    tasks: Vec<Sporadic>,
    /// What they are assumed to take by themselves, waits included.
    own: Vec<Duration>,
    instants: Instants,
    recurring: Vec<(Duration, Duration)>,
}

impl Group {
    fn new(system: &System, cores: CoreSet, mut places: Vec<usize>, rank: Rank, entry: Duration) -> Group {
        rank.sort(system, &mut places);
        // C' = C + E for its own completion, and E for an entry under way when its window starts.
        let one = |&n: &usize| {
            let t = &system.tasks[n];
            let waits = waits::added(system, n, entry);
            let execution = (plain(t) + entry * 2).checked_add(waits).unwrap_or(Duration::MAX);
            Sporadic::new(execution, t.period, t.deadline)
        };
        let (tasks, instants) = (places.iter().map(one).collect(), work::instants(system, &places));
        let own = |&n: &usize| plain(&system.tasks[n]).checked_add(waits::added(system, n, entry));
        let own = places.iter().map(|n| own(n).unwrap_or(Duration::MAX)).collect();
        let m = cores.iter().count();
        let each = entry * (GLOBAL_ENTRIES_PER_INSTANT * m as u64);
        let recurring = work::work(system, &places, &instants, rank, entry).recurring;
        let recurring = recurring.into_iter().map(|(_, period)| (each, period)).collect();
        Group { cores, m, of: system.cores, rank, entry, places, tasks, own, instants, recurring }
    }

    /// What the system takes: six entries for each release instant, and for each turn of each core.
    fn work(&self) -> Work<'_> {
        Work {
            entry: self.entry,
            completion: self.entry,
            instants: Some((&self.instants, self.entry * GLOBAL_ENTRIES_PER_INSTANT)),
            recurring: self.recurring.clone(),
        }
    }

    fn label(&self) -> String {
        let list: Vec<String> = self.cores.iter().map(|core| core.to_string()).collect();
        match self.m == self.of {
            true => format!("all {} cores", self.m),
            false => format!("cores {} of their cluster", list.join(" and ")),
        }
    }

    /// Tardiness bounds in the order of `places`.
    ///
    /// With costs, a job takes the core (or waits for one that is already its own) for at most C + twice what it is
    /// charged, over a window that depends on the bound; the two are iterated until they agree.
    fn tardiness(&self) -> Option<Vec<Duration>> {
        let charge = Charge { entry: self.entry, instants: &self.instants };
        let inflated = |late: &[Duration]| -> Vec<Sporadic> {
            let one = |((own, τ), late): ((&Duration, &Sporadic), &Duration)| {
                let overhead = charge.of_component(τ.deadline + *late, 1, 0);
                let execution = own.checked_add(overhead * 2).unwrap_or(Duration::MAX);
                Sporadic::new(execution, τ.period, τ.deadline)
            };
            self.own.iter().zip(&self.tasks).zip(late).map(one).collect()
        };
        let mut late = vec![Duration::ZERO; self.tasks.len()];
        for _ in 0..16 {
            let tasks = inflated(&late);
            let supply = vec![tardiness::Supply::full(); self.m];
            let mut next = tardiness::bounds(&tasks, &supply).ok()?;
            if let Some(x) = devi_anderson::x(&tasks, self.m) {
                for (bound, τ) in next.iter_mut().zip(&tasks) {
                    *bound = (*bound).min(x + τ.execution);
                }
            }
            if next.iter().zip(&late).all(|(next, late)| next <= late) || self.entry.is_zero() {
                return Some(next);
            }
            late = next.iter().zip(&late).map(|(a, b)| *a.max(b)).collect();
        }
        None
    }
}

fn groups(system: &System, (spread, rank): (Migration, Rank), entry: Duration) -> Vec<Group> {
    let queues = rank::queues(system, spread).into_iter();
    queues.map(|(cores, places)| Group::new(system, cores, places, rank, entry)).collect()
}

pub(super) fn check(
    subject: &Subject,
    (spread, rank): (Migration, Rank),
    entry: Duration,
    check: &mut Check,
    wanted: &mut Wanted,
) {
    for group in groups(subject.system, (spread, rank), entry) {
        match group.cores.iter().next() {
            Some(core) if group.m == 1 => {
                one_core::one_core(subject, (core, group.places), rank, entry.into(), check, wanted);
            }
            _ => one_group(subject, &group, check, wanted),
        }
    }
}

/// The line that sums the check up.
pub(super) fn summary(system: &System, spread: Migration, rank: Rank, check: &Check) -> String {
    let u = Utilisation::of(system.tasks.iter().map(|t| (plain(t), t.period))).millionths();
    let late = check.tasks.iter().filter_map(|t| match t.bound() {
        Some(Bound::Tardiness(x)) => Some(x),
        Some(Bound::Response(_)) | None => None,
    });
    let tardy = late.max().map_or(String::new(), |x| format!(" · tardiness at most {x}"));
    let spread = if spread == Migration::Global { "global" } else { "clustered" };
    format!("{spread} {} · {} of {} cores{tardy}", rank.label(), hundredths(u), system.cores)
}

fn one_group(subject: &Subject, group: &Group, check: &mut Check, wanted: &mut Wanted) {
    let Group { places, tasks, .. } = group;
    let (mut chosen, mut why) = (Vec::new(), Vec::new());
    for (i, &n) in places.iter().enumerate() {
        let tests = choose(subject, n, (group, i), ALL);
        why.push(tests.as_ref().err().cloned());
        chosen.push(tests.ok());
    }
    let found = best(&chosen, &mut |test| (test.bounds)(group, tasks, &mut Effort::default()));
    wanted.explain(subject.system, places, |i| {
        let (tests_of_it, found) = (chosen[i].as_ref()?, found[i]?);
        declared::terms((group, tasks, i), tests_of_it, found, &mut Effort::default())
    });
    let in_time = |n: usize| {
        let i = places.iter().position(|other| *other == n);
        let bound = i.and_then(|i| found[i]).and_then(|(bound, _)| bound);
        matches!(bound, Some(Bound::Response(r)) if r <= subject.system.tasks[n].deadline)
    };
    let unbounded = || "not every task of its queue is shown to be in time".into();
    for (i, &n) in places.iter().enumerate() {
        let task = &mut check.tasks[n];
        task.verdict = match (found[i], &why[i]) {
            (Some((bound, by)), None) => {
                let verdict = TaskVerdict::of(bound, tasks[i].deadline, by, unbounded);
                subject.beside_stopping(n, verdict, in_time)
            }
            (_, why) => TaskVerdict::Untested(why.clone().unwrap_or_default()),
        };
    }
    if places.iter().any(|&n| check.tasks[n].fails()) {
        fail(subject.system, group, &chosen, check);
    }
}

fn met(responses: &[Option<Duration>], tasks: &[Sporadic]) -> bool {
    responses.iter().zip(tasks).all(|(r, τ)| r.is_some_and(|r| r <= τ.deadline))
}

/// By how much each execution time may grow, so that all tasks that share its queue are still shown to be in time.
pub(super) fn growth(
    subject: &Subject,
    spread: Migration,
    rank: Rank,
    entry: Duration,
    search: &mut SearchBudget,
    growth: &mut [Growth],
) {
    for group in groups(subject.system, (spread, rank), entry) {
        if group.m == 1 {
            one_core::growth_on(subject, group.places, rank, entry.into(), search, growth);
            continue;
        }
        let chosen: Vec<_> =
            group.places.iter().enumerate().map(|(i, &n)| choose(subject, n, (&group, i), ALL).ok()).collect();
        for (i, &n) in group.places.iter().enumerate().filter(|(i, _)| chosen[*i].is_some()) {
            let mut passes =
                |set: &[Sporadic]| search.ask(Effort::default(), |effort| all_in_time(&group, set, &chosen, effort));
            growth[n] = growth::of(&group.tasks, i, group.tasks[i].deadline, &mut passes);
        }
    }
}

/// The responses that the order's test finds for each task by itself, whether or not they are bounds of all.
fn found_alone(group: &Group, tasks: &[Sporadic], mut effort: Effort) -> Vec<Option<Duration>> {
    let (work, m) = (group.work(), group.m);
    match group.rank {
        Rank::Fixed(_) => bertogna_cirinei::fixed_priority_responses(tasks, m, &work, &mut effort),
        Rank::Edf => bertogna_cirinei::edf_responses(tasks, m, &[], &work, &mut effort),
        Rank::Other(_) => bertogna_cirinei::any_order_responses(tasks, m, &work, &mut effort),
    }
}

fn fail(system: &System, group: &Group, chosen: &[Option<Vec<&Test<Group>>>], check: &mut Check) {
    let Group { places, tasks, rank, .. } = group;
    let fits = |set: &[Sporadic]| all_in_time(group, set, chosen, &mut Effort::default().step());
    let mut remedy = sensitivity::remedy(sensitivity::largest_scale(tasks, fits), "");
    let responses = found_alone(group, tasks, Effort::default());
    let without_costs = Group::new(system, group.cores, places.clone(), *rank, Duration::ZERO);
    let free = found_alone(&without_costs, &without_costs.tasks, Effort::default());
    for (i, &n) in places.iter().enumerate() {
        if responses[i].is_some_and(|r| r <= tasks[i].deadline) || !check.tasks[n].fails() {
            continue;
        }
        let why = group.what_binds(system, i, &responses, &free);
        let what = format!("task `{}`{why}", system.tasks[n].name);
        check.fail(system, n, what, std::mem::replace(&mut remedy, "see the remedy above".into()));
    }
}

impl Group {
    /// Why a task has no bound within its deadline; `free` are the responses without the system's own work.
    fn what_binds(
        &self,
        system: &System,
        i: usize,
        responses: &[Option<Duration>],
        free: &[Option<Duration>],
    ) -> String {
        let τ = &self.tasks[i];
        let name = |j: usize| &system.tasks[self.places[j]].name;
        let own = plain(&system.tasks[self.places[i]]);
        let beyond = |τ: &Sporadic| τ.execution > τ.deadline || τ.deadline > τ.period;
        let late = format!(" is not shown to meet its deadline of {}: ", τ.deadline);
        if τ.execution > τ.deadline {
            return format!(
                " needs {} with overheads ({own} of its own), over its deadline of {}",
                τ.execution, τ.deadline
            );
        }
        if τ.deadline > τ.period {
            let test = "beyond what the test for global policies covers";
            return format!(": its deadline of {} is longer than its period of {}, {test}", τ.deadline, τ.period);
        }
        // Of fixed priorities, the test of a task needs the bounds of all that are more urgent; else it needs the parameters of all.
        let unknown = match self.rank {
            Rank::Fixed(_) => (0..i).find(|&j| responses[j].is_none()),
            Rank::Edf | Rank::Other(_) => (0..self.tasks.len()).find(|&j| beyond(&self.tasks[j])),
        };
        if let Some(j) = unknown {
            return format!("{late}its test needs a bound of task `{}`, which has none", name(j));
        }
        if let Some(r) = free[i].filter(|r| *r <= τ.deadline) {
            let others = match self.rank {
                Rank::Fixed(_) => i,
                Rank::Edf | Rank::Other(_) => self.tasks.len() - 1,
            };
            let alone = if others < self.m {
                format!(", and {} can never be busy with others", self.label())
            } else {
                String::new()
            };
            return format!(
                "{late}without overheads it responds within {r}{alone}; the system's own work takes too long"
            );
        }
        format!("{late}the others may keep {} too long", self.label())
    }
}
