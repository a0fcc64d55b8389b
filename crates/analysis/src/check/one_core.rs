//! One core by itself, with any order of its jobs.

mod terms;
mod tests;

pub(crate) use tests::ALL;

use super::assumed::plain;
use super::ceilings::Ceilings;
use super::declared::{self, all_in_time, best, choose, responses, Answers, Test};
use super::explain::Wanted;
use super::growth::{self, Growth, SearchBudget};
use super::offsets::{self, Known};
use super::orders::{Queue, Responses};
use super::rank::{self, Rank};
use super::report::{hundredths, Check, Reloads, TaskVerdict};
use super::subject::Subject;
use super::{bursts, ceilings, sensitivity, waits, work};
use crate::arrivals::Instants;
use crate::effort::Effort;
use crate::inflation::working_sets::WorkingSets;
use crate::reservation::charge::Work;
use crate::task::Sporadic;
use crate::uniprocessor::edf_demand::{self, Demand};
use crate::uniprocessor::fixed_priority;
use crate::uniprocessor::preemption_delay::{Interrupted, PreemptionDelays};
use tactus_model::{Migration, System};
use tactus_task::Bound;
use tactus_time::{CoreId, Duration};

pub(super) fn check(subject: &Subject, rank: Rank, entry: Entry, check: &mut Check, wanted: &mut Wanted) {
    for (cores, places) in rank::queues(subject.system, Migration::Partitioned) {
        one_core(subject, (cores.iter().next().unwrap_or_default(), places), rank, entry, check, wanted);
    }
}

/// The line that sums the check up.
pub(super) fn summary(rank: Rank, check: &Check) -> String {
    let busiest = check.cores.iter().map(|c| c.levels[0]).max().unwrap_or(0);
    let slack = check.tasks.iter().filter_map(|t| t.slack()).min();
    format!(
        "{} · at most {} per core{}",
        rank.label(),
        hundredths(busiest),
        slack.map_or(String::new(), |s| format!(" · least slack {s}"))
    )
}

/// What an entry of the scheduler costs the tasks of a core.
#[derive(Clone, Copy)]
pub(super) struct Entry<'s> {
    /// E, with the longest time in which any job loads again what it lost, for tests that know nothing closer.
    pub longest: Duration,
    /// E alone, and what each task has in the caches.
    pub each: Option<(Duration, &'s WorkingSets<'s>)>,
}

impl From<Duration> for Entry<'_> {
    fn from(longest: Duration) -> Self {
        Entry { longest, each: None }
    }
}

/// A core and its tasks as its tests take them.
pub(crate) struct Core {
    /// Its tasks, the most urgent first where they keep their rank.
    places: Vec<usize>,
    entry: Duration,
    /// The length of a turn, or between two looks.
    quantum: Duration,
    /// What jobs keep from each other.
    ceilings: Option<Ceilings>,
    /// How long jobs of each task wait in all.
    waits: Vec<Duration>,
    /// The least distances of the tasks' arrivals.
    distances: Vec<Duration>,
    /// As [`Rank::rivals`] gives them.
    rivals: Vec<usize>,
    /// What each task loads again after which others, where an entry does not count that already.
    delays: Option<PreemptionDelays>,
    instants: Instants,
    recurring: Vec<(Duration, Duration)>,
    tasks: Vec<Sporadic>,
    /// The offsets, or why they are not used.
    offsets: Result<Known, String>,
}

impl Core {
    fn of(system: &System, mut places: Vec<usize>, rank: Rank, entry: Entry) -> Core {
        // The policies break ties by the order of the file.
        rank.sort(system, &mut places);
        let ceilings = Ceilings::of(system, &places, entry.longest);
        let waits: Vec<Duration> = places.iter().map(|&n| waits::total(system, n)).collect();
        let bursts = places.iter().any(|&n| work::release(system, n).burst().is_some());
        let plain = ceilings.is_none() && waits.iter().all(|wait| wait.is_zero()) && !bursts;
        let known = entry.each.filter(|_| plain && matches!(rank, Rank::Fixed(_) | Rank::Edf));
        let (entry, delays) = known.map_or((entry.longest, None), |(alone, sets)| (alone, Some(sets.delays(&places))));
        let instants = work::instants(system, &places);
        let recurring = work::work(system, &places, &instants, rank, entry).recurring;
        let tasks = tasks(system, &places, ceilings.as_ref(), entry);
        let (quantum, rivals) = (system.scheduling.quantum, rank.rivals(system, &places));
        let distances = bursts::distances(system, &places);
        let offsets = Err(String::new());
        let mut core = Core {
            places,
            entry,
            quantum,
            ceilings,
            waits,
            distances,
            rivals,
            delays,
            instants,
            recurring,
            tasks,
            offsets,
        };
        let (all, effort) = ((&core.tasks[..], &core.work(), core.ceilings.as_ref()), Effort::of_core(system.cores));
        core.offsets = offsets::known(system, &core.places, rank, all, effort);
        core
    }

    /// What is said beside a task that fails, if it could do better by its offsets.
    fn offsets_unused(&self, system: &System) -> String {
        match &self.offsets {
            Err(why) if self.places.iter().any(|n| !system.tasks[*n].offset.is_zero()) => {
                format!("; offsets are not used: {why}")
            }
            Err(_) | Ok(_) => String::new(),
        }
    }

    /// What the system takes of it.
    fn work(&self) -> Work<'_> {
        let Core { entry, instants, recurring, .. } = self;
        Work { entry: *entry, completion: *entry, instants: Some((instants, *entry)), recurring: recurring.clone() }
    }

    fn queue<'q>(&'q self, tasks: &'q [Sporadic], work: &'q Work<'q>) -> Queue<'q> {
        let Core { quantum, entry, rivals, .. } = self;
        Queue { tasks, quantum: *quantum, completion: *entry, rivals, work, withheld: work }
    }

    /// The answers of a test for one queue.
    fn ask(&self, tasks: &[Sporadic], effort: &mut Effort, test: fn(Queue, &mut Effort) -> Responses) -> Answers {
        let work = self.work();
        responses(test(self.queue(tasks, &work), effort))
    }

    /// What a test gives that knows what each task loads again; nothing where that is not known.
    fn reloaded(&self, test: impl FnOnce(&PreemptionDelays, &Work, Interrupted) -> Responses) -> Responses {
        let work = self.work();
        let Some(delays) = &self.delays else { return vec![None; self.tasks.len()] };
        test(delays, &work, Interrupted { withheld: &work, entries: &|window| work.entries(window) })
    }

    /// The response of the i-th task under fixed priorities.
    fn by_priority(&self, tasks: &[Sporadic], i: usize, work: &Work, effort: &mut Effort) -> Option<Duration> {
        match &self.ceilings {
            Some(ceilings) => ceilings.response(tasks, i, work.entry, work, effort),
            None => fixed_priority::response(&tasks[i], &tasks[..i], work.entry, work, effort),
        }
    }

    /// The tests for each of its tasks, or why there is none.
    fn tests(&self, subject: &Subject) -> Vec<Result<Vec<&'static Test<Core>>, String>> {
        let one = |(i, &n): (usize, &usize)| choose(subject, n, (self, i), ALL);
        self.places.iter().enumerate().map(one).collect()
    }
}

/// The tasks with the cost of their completion.
fn tasks(system: &System, places: &[usize], ceilings: Option<&Ceilings>, entry: Duration) -> Vec<Sporadic> {
    let one = |(i, &n): (usize, &usize)| {
        let t = &system.tasks[n];
        // The end of each critical section may call the scheduler, and the beginning of some.
        let sections = system.scheduling.sections_of(n).iter().map(|section| ceilings::calls(system, section));
        let calls = 1 + sections.sum::<u64>();
        let waits = waits::added_beside(system, n, ceilings, entry);
        let spin = ceilings.map_or(Duration::ZERO, |ceilings| ceilings.spin(i));
        let execution = (plain(t) + entry * calls).checked_add(waits).and_then(|all| all.checked_add(spin));
        let jitter = work::release(system, n).burst().map_or(Duration::ZERO, |burst| burst.jitter);
        Sporadic { jitter, ..Sporadic::new(execution.unwrap_or(Duration::MAX), t.period, t.deadline) }
    };
    places.iter().enumerate().map(one).collect()
}

/// By how much each execution time may grow, so that its core still passes. Cores share the search; what is left of it then
/// goes to those whose share did not do.
pub(super) fn growth(subject: &Subject, rank: Rank, entry: Entry, search: &mut SearchBudget, growth: &mut [Growth]) {
    let queues = rank::queues(subject.system, Migration::Partitioned);
    for (core, (_, places)) in queues.iter().enumerate() {
        search.part(queues.len() - core);
        growth_on(subject, places.clone(), rank, entry, search, growth);
    }
    search.part(1);
    for (_, places) in queues {
        growth_on(subject, places, rank, entry, search, growth);
    }
}

/// Looks for what is not known of a core's tasks.
pub(super) fn growth_on(
    subject: &Subject,
    places: Vec<usize>,
    rank: Rank,
    entry: Entry,
    search: &mut SearchBudget,
    growth: &mut [Growth],
) {
    if places.iter().all(|&n| growth[n] != Growth::Unknown) {
        return;
    }
    let core = Core::of(subject.system, places, rank, entry);
    let chosen: Vec<_> = core.tests(subject).into_iter().map(Result::ok).collect();
    for (i, &n) in core.places.iter().enumerate() {
        if growth[n] != Growth::Unknown || chosen[i].is_none() {
            continue;
        }
        let effort = Effort::of_core(subject.system.cores);
        let mut passes = |set: &[Sporadic]| search.ask(effort, |effort| all_in_time(&core, set, &chosen, effort));
        growth[n] = growth::of(&core.tasks, i, core.tasks[i].deadline, &mut passes);
    }
}

pub(super) fn one_core(
    subject: &Subject,
    (core, places): (CoreId, Vec<usize>),
    rank: Rank,
    entry: Entry,
    check: &mut Check,
    wanted: &mut Wanted,
) {
    let system = subject.system;
    let one = Core::of(system, places, rank, entry);
    let effort = Effort::of_tasks(system.cores, one.tasks.len());
    let (mut chosen, mut why) = (Vec::new(), Vec::new());
    for tests in one.tests(subject) {
        why.push(tests.as_ref().err().cloned());
        chosen.push(tests.ok());
    }
    let found = best(&chosen, &mut |test| (test.bounds)(&one, &one.tasks, &mut effort.clone()));
    let in_time = |n: usize| {
        let i = one.places.iter().position(|other| *other == n);
        let response = i.and_then(|i| found[i]).and_then(|(bound, _)| bound);
        matches!(response, Some(Bound::Response(r)) if r <= system.tasks[n].deadline)
    };
    wanted.explain(system, &one.places, |i| {
        let (tests, found) = (chosen[i].as_ref()?, found[i]?);
        declared::terms((&one, &one.tasks, i), tests, found, &mut effort.clone())
    });
    let work = one.work();
    let mut first_failure = true;
    for (i, &n) in one.places.iter().enumerate() {
        let task = &mut check.tasks[n];
        let (Some((bound, by)), None) = (found[i], &why[i]) else {
            task.verdict = TaskVerdict::Untested(why[i].clone().unwrap_or_default());
            continue;
        };
        let unbounded = || unbounded(&one.tasks, &work, effort);
        let verdict = TaskVerdict::of(bound, task.deadline, by, unbounded);
        task.verdict = subject.beside_stopping(n, verdict, in_time);
        if one.delays.is_some() {
            task.reloads = Reloads::OfEachTask;
        }
        let TaskVerdict::Fails { why: binds, .. } = &task.verdict else { continue };
        let what = format!("task `{}` on core {core} fails: {binds}{}", task.name, one.offsets_unused(system));
        // The remedy is the same for all tasks of the core; it is worked out once.
        let remedy = if std::mem::take(&mut first_failure) {
            let fits = |set: &[Sporadic]| all_in_time(&one, set, &chosen, &mut effort.step());
            sensitivity::remedy(sensitivity::largest_scale(&one.tasks, fits), &format!(" on core {core}"))
        } else {
            "see the remedy for this core above".into()
        };
        check.fail(system, n, what, remedy);
    }
}

/// Why a core's tasks have no bound at all.
fn unbounded(tasks: &[Sporadic], work: &Work, mut effort: Effort) -> String {
    match edf_demand::schedulable(tasks, work.entry, work, &mut effort) {
        Demand::Overload => {
            let u = crate::utilisation::Utilisation::of(tasks.iter().map(|τ| (τ.execution, τ.period)));
            format!(
                "the core is asked for {} of its time, overheads included; the limit is 1",
                hundredths(u.millionths())
            )
        }
        Demand::Exceeds { window, demand } => {
            format!("a window of {window} may ask for {demand} of work, overheads included")
        }
        Demand::Fits | Demand::Undecided => {
            "the load is so close to the whole core that no end of its busy period was found".into()
        }
    }
}
