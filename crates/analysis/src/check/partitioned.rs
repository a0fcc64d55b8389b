//! Partitioned policies: every core by itself, by fixed priorities (RM, DM, given ones) or EDF.

use super::growth::{self, Growth, Purse};
use super::rank::Rank;
use super::report::{hundredths, Bound, Check};
use super::{plain, sensitivity};
use crate::arrivals::{Instants, Interrupts};
use crate::effort::Effort;
use crate::task::{Sporadic, Withheld};
use crate::uniprocessor::edf_demand::Demand;
use crate::uniprocessor::{edf_demand, edf_response, fixed_priority};
use tactus_model::System;
use tactus_time::Duration;

/// What one core's test gives for each of its tasks, in the order given; `None` for no bound.
type Responses = Vec<Option<Duration>>;

pub(super) fn check(system: &System, rank: Rank, entry: Duration, check: &mut Check) {
    for core in 0..system.cores {
        one_core(system, &of_core(system, core, rank), rank, entry, check);
    }
    let busiest = check.cores.iter().map(|c| c.levels[0]).max().unwrap_or(0);
    let slack = check.tasks.iter().filter_map(|t| t.slack()).min();
    check.summary = format!(
        "{} · at most {} per core{}",
        rank.label(),
        hundredths(busiest),
        slack.map_or(String::new(), |s| format!(" · least slack {s}"))
    );
}

/// The tasks of a core, the most urgent first under fixed priorities.
fn of_core(system: &System, core: usize, rank: Rank) -> Vec<usize> {
    let mut places: Vec<usize> =
        (0..system.tasks.len()).filter(|&n| system.tasks[n].core.is_some_and(|c| c.index() == core)).collect();
    // The policies break ties by the order of the file.
    rank.sort(system, &mut places);
    places
}

/// The release instants of a core, and its tasks with the cost of their completion.
fn with_costs(system: &System, places: &[usize], entry: Duration) -> (Instants, Vec<Sporadic>) {
    let instants =
        Instants::of(places.iter().map(|&n| (system.tasks[n].offset, system.tasks[n].period)), system.duration);
    let one = |&n: &usize| {
        let t = &system.tasks[n];
        Sporadic::new(plain(t) + entry, t.period, t.deadline)
    };
    (instants, places.iter().map(one).collect())
}

/// By how much each execution time may grow, so that its core still passes. Cores share the purse; what is left of it then
/// goes to those whose share did not do.
pub(super) fn growth(system: &System, rank: Rank, entry: Duration, purse: &mut Purse, growth: &mut [Growth]) {
    for core in 0..system.cores {
        purse.part(system.cores - core);
        growth_on(system, core, rank, entry, purse, growth);
    }
    purse.part(1);
    for core in 0..system.cores {
        growth_on(system, core, rank, entry, purse, growth);
    }
}

/// Looks for what is not known of a core's tasks.
fn growth_on(system: &System, core: usize, rank: Rank, entry: Duration, purse: &mut Purse, growth: &mut [Growth]) {
    let places = of_core(system, core, rank);
    if places.iter().all(|&n| growth[n] != Growth::Unknown) {
        return;
    }
    let (instants, tasks) = with_costs(system, &places, entry);
    let processor = Interrupts { instants: &instants, cost: entry };
    for (i, &n) in places.iter().enumerate() {
        if growth[n] != Growth::Unknown {
            continue;
        }
        let mut passes = |set: &[Sporadic]| {
            purse.ask(Effort::of_core(system.cores), |effort| in_time(set, rank, entry, &processor, effort))
        };
        growth[n] = growth::of(&tasks, i, tasks[i].deadline, &mut passes);
    }
}

/// Whether all tasks of a core are in time; asks for no response where it does not have to.
fn in_time(tasks: &[Sporadic], rank: Rank, blocking: Duration, processor: &dyn Withheld, effort: &mut Effort) -> bool {
    if rank == Rank::Edf {
        return edf_demand::schedulable(tasks, blocking, processor, effort) == Demand::Fits;
    }
    (0..tasks.len()).all(|i| {
        fixed_priority::response(&tasks[i], &tasks[..i], blocking, processor, effort)
            .is_some_and(|r| r <= tasks[i].deadline)
    })
}

fn one_core(system: &System, places: &[usize], rank: Rank, entry: Duration, check: &mut Check) {
    let (instants, tasks) = with_costs(system, places, entry);
    let processor = Interrupts { instants: &instants, cost: entry };
    let (responses, why) = test(&tasks, rank, entry, &processor, Effort::of_core(system.cores));
    let mut first_failure = true;
    for (i, &n) in places.iter().enumerate() {
        let deadline = tasks[i].deadline;
        let verdict = &mut check.tasks[n];
        verdict.explanation = why.into();
        if let Some(r) = responses[i] {
            verdict.bound = Bound::Response(r);
            verdict.met = r <= deadline;
        }
        if verdict.met {
            continue;
        }
        let binds = match responses[i] {
            Some(r) => format!("its response may reach {r}, over the deadline of {deadline}"),
            None => unbounded(&tasks, entry, &processor, Effort::of_core(system.cores)),
        };
        let what =
            format!("task `{}` on core {} fails: {binds}", verdict.name, system.tasks[n].core.unwrap_or_default());
        // The remedy is the same for all tasks of the core; it is worked out once.
        let remedy = if std::mem::take(&mut first_failure) {
            let scale = sensitivity::largest_scale(&tasks, |set| {
                let (r, _) = test(set, rank, entry, &processor, Effort::of_core(system.cores).step());
                r.iter().zip(set).all(|(r, τ)| r.is_some_and(|r| r <= τ.deadline))
            });
            sensitivity::remedy(scale, &format!(" on core {}", system.tasks[n].core.unwrap_or_default()))
        } else {
            "see the remedy for this core above".into()
        };
        check.fail(system, n, what, remedy);
    }
}

/// The responses of one core's tasks, the most urgent first, and the test that gave them.
fn test(
    tasks: &[Sporadic],
    rank: Rank,
    blocking: Duration,
    processor: &dyn Withheld,
    mut effort: Effort,
) -> (Responses, &'static str) {
    if rank != Rank::Edf {
        let r = |i: usize| fixed_priority::response(&tasks[i], &tasks[..i], blocking, processor, &mut effort);
        return ((0..tasks.len()).map(r).collect(), "response-time analysis");
    }
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
fn unbounded(tasks: &[Sporadic], blocking: Duration, processor: &dyn Withheld, mut effort: Effort) -> String {
    match edf_demand::schedulable(tasks, blocking, processor, &mut effort) {
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
