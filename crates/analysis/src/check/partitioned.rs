//! One core by itself: fixed priorities (RM, DM, SJF, given ones), EDF, and the orders that change from job to job.

use super::assumed::plain;
use super::ceilings::Ceilings;
use super::growth::{self, Growth, SearchBudget};
use super::rank::{self, Rank};
use super::report::{hundredths, Check, Reloads, TaskVerdict};
use super::{bursts, ceilings, sensitivity, waits};
use crate::arrivals::{Alone, Instants};
use crate::effort::Effort;
use crate::inflation::working_sets::WorkingSets;
use crate::reservation::charge::Work;
use crate::task::{Sporadic, Withheld};
use crate::uniprocessor::edf_demand::Demand;
use crate::uniprocessor::preemption_delay::{self, Interrupted, PreemptionDelays};
use crate::uniprocessor::round_robin::Turn;
use crate::uniprocessor::{any_order, edf_demand, edf_response, fifo, fixed_priority, laxity, round_robin};
use tactus_model::{Burst, Migration, Overrun, Release, System, TaskOrder};
use tactus_time::{CoreId, Duration, TaskId};

/// What one core's test gives for each of its tasks, in the order given; `None` for no bound.
pub(super) type Responses = Vec<Option<Duration>>;

pub(super) fn check(system: &System, rank: Rank, entry: Entry, check: &mut Check) {
    for (cores, places) in rank::queues(system, Migration::Partitioned) {
        one_core(system, cores.iter().next().unwrap_or_default(), places, rank, entry, check);
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

/// How one core orders its jobs, beyond their parameters.
#[derive(Clone, Copy)]
pub(super) struct Queue<'c> {
    pub rank: Rank,
    /// The length of a turn, or between two looks.
    pub quantum: Duration,
    /// What the completion of a job has added to its execution time, which the order does not know of.
    pub completion: Duration,
    /// What jobs keep from each other.
    pub ceilings: Option<&'c Ceilings>,
    /// How long jobs of each task wait in all, which their execution times hold; empty if no job waits.
    pub waits: &'c [Duration],
    /// The least distances of the tasks' arrivals, some of which come in bursts; empty if none does.
    pub distances: &'c [Duration],
    /// As [`Rank::rivals`] gives them.
    pub rivals: &'c [usize],
    /// What each task loads again after which others, where an entry does not count that already.
    pub delays: Option<&'c PreemptionDelays>,
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

/// A core and its tasks as a test takes them.
struct Core {
    places: Vec<usize>,
    rank: Rank,
    entry: Duration,
    quantum: Duration,
    ceilings: Option<Ceilings>,
    waits: Vec<Duration>,
    distances: Vec<Duration>,
    rivals: Vec<usize>,
    delays: Option<PreemptionDelays>,
    instants: Instants,
    tasks: Vec<Sporadic>,
}

impl Core {
    fn of(system: &System, mut places: Vec<usize>, rank: Rank, entry: Entry) -> Core {
        // The policies break ties by the order of the file.
        rank.sort(system, &mut places);
        let ceilings = Ceilings::of(system, &places, entry.longest);
        let (waits, distances) = (all_waits(system, &places), bursts::distances(system, &places));
        let plain = ceilings.is_none() && waits.is_empty() && distances.is_empty();
        let known = entry.each.filter(|_| plain && matches!(rank, Rank::Fixed(_) | Rank::Edf));
        let (entry, delays) = known.map_or((entry.longest, None), |(alone, sets)| (alone, Some(sets.delays(&places))));
        let (instants, tasks) = (instants(system, &places), tasks(system, &places, ceilings.as_ref(), entry));
        let (quantum, rivals) = (system.scheduling.quantum, rank.rivals(system, &places));
        Core { places, rank, entry, quantum, ceilings, waits, distances, rivals, delays, instants, tasks }
    }

    fn queue(&self) -> Queue<'_> {
        Queue {
            rank: self.rank,
            quantum: self.quantum,
            completion: self.entry,
            ceilings: self.ceilings.as_ref(),
            waits: &self.waits,
            distances: &self.distances,
            rivals: &self.rivals,
            delays: self.delays.as_ref(),
        }
    }

    fn work(&self, system: &System) -> Work<'_> {
        work(system, &self.places, &self.instants, self.rank, self.entry)
    }
}

/// The instants at which jobs of these tasks are released, and at which arrivals of them are noticed.
pub(super) fn instants(system: &System, places: &[usize]) -> Instants {
    let timed = places.iter().filter(|&&n| release(system, n) == Release::Periodic);
    let timed = Instants::of(timed.map(|&n| (system.tasks[n].offset, system.tasks[n].period)), system.duration);
    timed.and(places.iter().flat_map(|&n| entries(system, n)))
}

fn release(system: &System, n: usize) -> Release {
    system.scheduling.places.get(n).map_or(Release::Periodic, |place| place.release)
}

fn burst(system: &System, n: usize) -> Option<Burst> {
    system.scheduling.places.get(n).and_then(|place| place.release.burst())
}

/// How often the scheduler is entered for releases of a task that time does not release: once for each job, and once more where a
/// device interrupts, whose early interrupt waits until its job may be released. There is one at most, since the line is silent from
/// then on until the next job acknowledges it. (What a job raises, or releases by its end, is part of its own calls.) A task that
/// handles violations of monitors is entered for as a device's is: they happen on any core, and one may come too early.
pub(super) fn entries(system: &System, n: usize) -> impl Iterator<Item = Alone> {
    let count = match release(system, n) {
        Release::Periodic => 0,
        _ if system.scheduling.places[n].interrupt.is_some() || system.handles(TaskId(n as u16)) => 2,
        _ => 1,
    };
    let jitter = burst(system, n).map_or(Duration::ZERO, |burst| burst.jitter);
    std::iter::repeat_n(Alone { period: system.tasks[n].period, jitter }, count)
}

/// What the system takes of a core: an entry for each release instant, each job that is killed and each turn.
pub(super) fn work<'i>(
    system: &System,
    places: &[usize],
    instants: &'i Instants,
    rank: Rank,
    entry: Duration,
) -> Work<'i> {
    let mut work = Work { entry, completion: entry, instants: Some((instants, entry)), recurring: Vec::new() };
    let kills = |n: usize| system.scheduling.places.get(n).is_some_and(|p| p.overrun == Overrun::Kill);
    work.recurring.extend(places.iter().filter(|&&n| kills(n)).map(|&n| (entry, system.tasks[n].period)));
    let waits = |n: usize| system.scheduling.waits_of(n).iter().map(move |_| (entry, system.tasks[n].period));
    work.recurring.extend(places.iter().flat_map(|&n| waits(n)));
    if rank.is_timed() {
        work.recurring.push((entry, system.scheduling.quantum));
    }
    work
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
        let jitter = burst(system, n).map_or(Duration::ZERO, |burst| burst.jitter);
        Sporadic { jitter, ..Sporadic::new(execution.unwrap_or(Duration::MAX), t.period, t.deadline) }
    };
    places.iter().enumerate().map(one).collect()
}

/// By how much each execution time may grow, so that its core still passes. Cores share the search; what is left of it then
/// goes to those whose share did not do.
pub(super) fn growth(system: &System, rank: Rank, entry: Entry, search: &mut SearchBudget, growth: &mut [Growth]) {
    let queues = rank::queues(system, Migration::Partitioned);
    for (core, (_, places)) in queues.iter().enumerate() {
        search.part(queues.len() - core);
        growth_on(system, places.clone(), rank, entry, search, growth);
    }
    search.part(1);
    for (_, places) in queues {
        growth_on(system, places, rank, entry, search, growth);
    }
}

/// Looks for what is not known of a core's tasks.
pub(super) fn growth_on(
    system: &System,
    places: Vec<usize>,
    rank: Rank,
    entry: Entry,
    search: &mut SearchBudget,
    growth: &mut [Growth],
) {
    if places.iter().all(|&n| growth[n] != Growth::Unknown) {
        return;
    }
    let core = Core::of(system, places, rank, entry);
    let (queue, work, tasks) = (core.queue(), core.work(system), &core.tasks);
    for (i, &n) in core.places.iter().enumerate() {
        if growth[n] != Growth::Unknown {
            continue;
        }
        let mut passes =
            |set: &[Sporadic]| search.ask(Effort::of_core(system.cores), |effort| in_time(set, queue, &work, effort));
        growth[n] = growth::of(tasks, i, tasks[i].deadline, &mut passes);
    }
}

/// Whether all tasks of a core are in time; asks for no response where it does not have to.
fn in_time(tasks: &[Sporadic], queue: Queue, work: &Work, effort: &mut Effort) -> bool {
    if !queue.distances.is_empty() {
        let (r, _) = bursts::responses(tasks, queue, work.entry, work, effort);
        return all_met(&r, tasks);
    }
    if let Some(delays) = queue.delays {
        let core = Interrupted { withheld: work, entries: &|window| work.entries(window) };
        return match queue.rank {
            Rank::Edf => preemption_delay::demand(tasks, delays, work.entry, core, effort) == Demand::Fits,
            _ => all_met(&preemption_delay::by_priority(tasks, delays, work.entry, core, effort), tasks),
        };
    }
    match queue.rank {
        Rank::Edf => match queue.ceilings {
            Some(ceilings) => ceilings.by_demand(tasks, work.entry, work, effort) == Demand::Fits,
            None => edf_demand::schedulable(tasks, work.entry, work, effort) == Demand::Fits,
        },
        Rank::Fixed(_) if !queue.waits.is_empty() => {
            let r = waits::by_priorities(tasks, (queue, queue.waits), work.entry, work, effort);
            all_met(&r, tasks)
        }
        Rank::Fixed(_) => (0..tasks.len())
            .all(|i| by_priority(tasks, queue, i, work.entry, work, effort).is_some_and(|r| r <= tasks[i].deadline)),
        Rank::Other(_) => {
            let (r, _) = test(tasks, queue, work, work, *effort);
            // What the search took is not told; its share is.
            effort.spend(tasks.len() * tasks.len());
            all_met(&r, tasks)
        }
    }
}

fn all_met(responses: &Responses, tasks: &[Sporadic]) -> bool {
    responses.iter().zip(tasks).all(|(r, τ)| r.is_some_and(|r| r <= τ.deadline))
}

pub(super) fn one_core(system: &System, core: CoreId, places: Vec<usize>, rank: Rank, entry: Entry, check: &mut Check) {
    let one = Core::of(system, places, rank, entry);
    let (queue, work, tasks) = (one.queue(), one.work(system), &one.tasks);
    let (responses, why) = test(tasks, queue, &work, &work, Effort::of_core(system.cores));
    let mut first_failure = true;
    for (i, &n) in one.places.iter().enumerate() {
        let deadline = tasks[i].deadline;
        let verdict = &mut check.tasks[n];
        let unbounded = || unbounded(tasks, &work, Effort::of_core(system.cores));
        verdict.verdict = TaskVerdict::of(responses[i], deadline, why, unbounded);
        if queue.delays.is_some() {
            verdict.reloads = Reloads::OfEachTask;
        }
        let TaskVerdict::Fails { why: binds, .. } = &verdict.verdict else { continue };
        let what = format!("task `{}` on core {core} fails: {binds}", verdict.name);
        // The remedy is the same for all tasks of the core; it is worked out once.
        let remedy = if std::mem::take(&mut first_failure) {
            let scale = sensitivity::largest_scale(tasks, |set| {
                all_met(&test(set, queue, &work, &work, Effort::of_core(system.cores).step()).0, set)
            });
            sensitivity::remedy(scale, &format!(" on core {core}"))
        } else {
            "see the remedy for this core above".into()
        };
        check.fail(system, n, what, remedy);
    }
}

/// The responses of one queue's tasks, the most urgent first, and the test that gave them. `withheld` is what the tasks do
/// not get of a window, what the system takes included.
pub(super) fn test(
    tasks: &[Sporadic],
    queue: Queue,
    work: &Work,
    withheld: &dyn Withheld,
    mut effort: Effort,
) -> (Responses, &'static str) {
    let blocking = work.entry;
    if !queue.distances.is_empty() {
        return bursts::responses(tasks, queue, blocking, withheld, &mut effort);
    }
    if let Some(delays) = queue.delays {
        let core = Interrupted { withheld, entries: &|window| work.entries(window) };
        return with_delays(tasks, (queue.rank, delays), blocking, core, effort);
    }
    match queue.rank {
        Rank::Fixed(_) if !queue.waits.is_empty() => {
            let why = "response-time analysis; waits count as execution, or as jitter of others (Nelissen et al.)";
            (waits::by_priorities(tasks, (queue, queue.waits), blocking, withheld, &mut effort), why)
        }
        Rank::Fixed(_) => {
            let r = |i: usize| by_priority(tasks, queue, i, blocking, withheld, &mut effort);
            let why = queue.ceilings.map_or("response-time analysis", Ceilings::explanation);
            ((0..tasks.len()).map(r).collect(), why)
        }
        Rank::Edf => match queue.ceilings {
            Some(ceilings) => ceilings.by_deadline(tasks, blocking, withheld, effort),
            None => by_deadline(tasks, blocking, withheld, effort),
        },
        Rank::Other(TaskOrder::FixedPriorityRoundRobin) => {
            // Whoever of equal ones goes first, a job ends when there was time for all that it and they and more urgent ones ask for.
            let others = |i: usize| -> Vec<Sporadic> {
                (0..queue.rivals[i]).filter(|other| *other != i).map(|other| tasks[other]).collect()
            };
            let r = |i: usize| fixed_priority::response(&tasks[i], &others(i), blocking, withheld, &mut effort);
            ((0..tasks.len()).map(r).collect(), "response-time analysis in which equal priorities interfere")
        }
        Rank::Other(order) => {
            let assumed: Vec<Duration> = tasks.iter().map(|τ| τ.execution.saturating_sub(queue.completion)).collect();
            let each = |r: Option<Vec<Duration>>| r.map(|r| r.into_iter().map(Some).collect());
            let own: Option<Responses> = match order {
                TaskOrder::FirstComeFirstServed => {
                    fifo::response(tasks, blocking, withheld, &mut effort.clone()).map(|r| vec![Some(r); tasks.len()])
                }
                TaskOrder::RoundRobin => {
                    let longest = queue.quantum + work.entry;
                    let turn = Turn { quantum: queue.quantum, longest };
                    Some(round_robin::responses(tasks, turn, blocking, work, withheld, &mut effort.clone()))
                }
                TaskOrder::LaxityAtRelease => {
                    each(laxity::at_release(tasks, &assumed, blocking, withheld, &mut effort.clone()))
                }
                _ => each(laxity::looked_at_again(tasks, &assumed, blocking, withheld, &mut effort.clone())),
            };
            // Whatever the order, a job ends within its busy period.
            let busy = any_order::response(tasks, blocking, withheld, &mut effort);
            let least = |r: Option<Duration>| [r, busy].into_iter().flatten().min();
            let responses = own.unwrap_or_else(|| vec![None; tasks.len()]).into_iter().map(least).collect();
            (responses, explanation(order))
        }
    }
}

/// The responses where what each task loads again depends on who preempts it.
fn with_delays(
    tasks: &[Sporadic],
    (rank, delays): (Rank, &PreemptionDelays),
    blocking: Duration,
    core: Interrupted,
    mut effort: Effort,
) -> (Responses, &'static str) {
    if rank != Rank::Edf {
        let responses = preemption_delay::by_priority(tasks, delays, blocking, core, &mut effort);
        return (responses, "response-time analysis with reloads by task (Altmeyer et al.)");
    }
    if let Some(r) = preemption_delay::by_deadline(tasks, delays, blocking, core, &mut effort.clone()) {
        return (r.into_iter().map(Some).collect(), "EDF response times (Spuri) with reloads by task (Lunniss et al.)");
    }
    let why = "EDF demand with reloads by task (Lunniss et al.)";
    match preemption_delay::demand(tasks, delays, blocking, core, &mut effort) {
        Demand::Fits => (tasks.iter().map(|τ| Some(τ.deadline)).collect(), why),
        _ => (vec![None; tasks.len()], why),
    }
}

/// How long jobs of these tasks wait in all; empty if none does.
fn all_waits(system: &System, places: &[usize]) -> Vec<Duration> {
    let some = places.iter().any(|&n| !system.scheduling.waits_of(n).is_empty());
    places.iter().filter(|_| some).map(|&n| waits::total(system, n)).collect()
}

/// The response of the i-th task under fixed priorities.
pub(super) fn by_priority(
    tasks: &[Sporadic],
    queue: Queue,
    i: usize,
    blocking: Duration,
    withheld: &dyn Withheld,
    effort: &mut Effort,
) -> Option<Duration> {
    match queue.ceilings {
        Some(ceilings) => ceilings.response(tasks, i, blocking, withheld, effort),
        None => fixed_priority::response(&tasks[i], &tasks[..i], blocking, withheld, effort),
    }
}

fn explanation(order: TaskOrder) -> &'static str {
    match order {
        TaskOrder::FirstComeFirstServed => "FIFO (George and Minet)",
        TaskOrder::RoundRobin => "turns (Racu et al.) within the busy period",
        TaskOrder::LaxityAtRelease => "EDF with laxities for deadlines (Spuri)",
        _ => "priority points (Leontyev and Anderson) within the busy period",
    }
}

fn by_deadline(
    tasks: &[Sporadic],
    blocking: Duration,
    processor: &dyn Withheld,
    mut effort: Effort,
) -> (Responses, &'static str) {
    let exact = &mut effort.clone();
    if let Some(r) = edf_response::responses(tasks, blocking, processor, exact) {
        return (r.into_iter().map(Some).collect(), "EDF response times (Spuri)");
    }
    match edf_demand::schedulable(tasks, blocking, processor, &mut effort) {
        // Every deadline is met, so the deadline is a bound.
        Demand::Fits => (tasks.iter().map(|τ| Some(τ.deadline)).collect(), "EDF demand; the deadline is the bound"),
        _ => (vec![None; tasks.len()], "EDF demand"),
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
