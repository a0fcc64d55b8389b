//! Global RM and EDF: response bounds where Bertogna and Cirinei's test finds them, tardiness bounds beside them.

use super::growth::{self, Growth, Purse};
use super::report::{hundredths, Bound, Check};
use super::{plain, sensitivity};
use crate::arrivals::{Instants, Interrupts};
use crate::effort::Effort;
use crate::global::{bertogna_cirinei, devi_anderson, gfb, tardiness};
use crate::overhead::{Charge, GLOBAL_ENTRIES_PER_INSTANT};
use crate::task::{Sporadic, Withheld};
use crate::utilisation::Utilisation;
use tactus_model::{Policy, System};
use tactus_time::Duration;

pub(crate) fn check(system: &System, entry: Duration, check: &mut Check) {
    let edf = system.policy == Policy::GlobalEdf;
    let m = system.cores;
    let instants = Instants::of(system.tasks.iter().map(|t| (t.offset, t.period)), system.duration);
    let platform = Interrupts { instants: &instants, cost: entry * GLOBAL_ENTRIES_PER_INSTANT };
    let (places, tasks) = with_costs(system, entry);
    let (responses, why) = test(&tasks, m, edf, &platform, &mut Effort::default());
    let all_met = responses.iter().zip(&tasks).all(|(r, τ)| r.is_some_and(|r| r <= τ.deadline));
    // Under EDF one task without a proof takes away the bounds of all.
    let given = |r: Option<Duration>| if edf && !all_met { None } else { r };
    let late = if edf && !all_met { soft(system, &places, entry, &instants) } else { None };

    for (i, &n) in places.iter().enumerate() {
        let verdict = &mut check.tasks[n];
        verdict.explanation = why.into();
        if let Some(r) = given(responses[i]) {
            verdict.bound = Bound::Response(r);
            verdict.met = r <= tasks[i].deadline;
        } else if let Some(late) = &late {
            verdict.bound = Bound::Tardiness(late[i]);
            verdict.explanation = "deadline not proven; tardiness bounded (Devi and Anderson)".into();
        }
    }
    if !all_met {
        fail(system, &places, &tasks, &responses, edf, &platform, check);
    }
    let u = Utilisation::of(system.tasks.iter().map(|t| (plain(t), t.period))).millionths();
    let tardy = late.iter().flatten().max().map_or(String::new(), |x| format!(" · tardiness at most {x}"));
    check.summary = format!("global {} · {} of {m} cores{tardy}", if edf { "EDF" } else { "RM" }, hundredths(u));
}

/// The tasks, the most urgent first under RM, with what costs add to their execution times.
fn with_costs(system: &System, entry: Duration) -> (Vec<usize>, Vec<Sporadic>) {
    let mut places: Vec<usize> = (0..system.tasks.len()).collect();
    places.sort_by_key(|&n| (system.tasks[n].period, n));
    // C' = C + E for its own completion, and E for an entry under way when its window starts.
    let one = |&n: &usize| {
        let t = &system.tasks[n];
        Sporadic::new(plain(t) + entry * 2, t.period, t.deadline)
    };
    let tasks = places.iter().map(one).collect();
    (places, tasks)
}

/// By how much each execution time may grow, so that all tasks are still shown to be in time.
pub(crate) fn growth(system: &System, entry: Duration, purse: &mut Purse, growth: &mut [Growth]) {
    let edf = system.policy == Policy::GlobalEdf;
    let instants = Instants::of(system.tasks.iter().map(|t| (t.offset, t.period)), system.duration);
    let platform = Interrupts { instants: &instants, cost: entry * GLOBAL_ENTRIES_PER_INSTANT };
    let (places, tasks) = with_costs(system, entry);
    for (i, &n) in places.iter().enumerate() {
        let mut passes = |set: &[Sporadic]| {
            purse.ask(Effort::default(), |effort| {
                let (r, _) = test(set, system.cores, edf, &platform, effort);
                r.iter().zip(set).all(|(r, τ)| r.is_some_and(|r| r <= τ.deadline))
            })
        };
        growth[n] = growth::of(&tasks, i, tasks[i].deadline, &mut passes);
    }
}

fn test(
    tasks: &[Sporadic],
    m: usize,
    edf: bool,
    platform: &dyn Withheld,
    effort: &mut Effort,
) -> (Vec<Option<Duration>>, &'static str) {
    if !edf {
        return (
            bertogna_cirinei::fixed_priority_responses(tasks, m, platform, effort),
            "global response-time analysis (Bertogna and Cirinei)",
        );
    }
    let responses = bertogna_cirinei::edf_responses(tasks, m, &[], platform, effort);
    let proven = responses.iter().zip(tasks).all(|(r, τ)| r.is_some_and(|r| r <= τ.deadline));
    if !proven && platform.at_most(Duration::MAX).is_zero() && gfb::schedulable(tasks, m) {
        return (tasks.iter().map(|τ| Some(τ.deadline)).collect(), "density test (Goossens, Funk and Baruah)");
    }
    (responses, "global response-time analysis (Bertogna and Cirinei)")
}

/// Tardiness bounds in the order of `places`.
///
/// With costs, a job takes the core (or waits for one that is already its own) for at most C + twice what it is
/// charged, over a window that depends on the bound; the two are iterated until they agree.
fn soft(system: &System, places: &[usize], entry: Duration, instants: &Instants) -> Option<Vec<Duration>> {
    let charge = Charge { entry, instants };
    let inflated = |late: &[Duration]| -> Vec<Sporadic> {
        let one = |(&n, late): (&usize, &Duration)| {
            let t = &system.tasks[n];
            let overhead = charge.of_component(t.deadline + *late, 1, 0);
            Sporadic::new(plain(t) + overhead * 2, t.period, t.deadline)
        };
        places.iter().zip(late).map(one).collect()
    };
    let mut late = vec![Duration::ZERO; places.len()];
    for _ in 0..16 {
        let tasks = inflated(&late);
        let supply = vec![tardiness::Supply::full(); system.cores];
        let mut next = tardiness::bounds(&tasks, &supply).ok()?;
        if let Some(x) = devi_anderson::x(&tasks, system.cores) {
            for (bound, τ) in next.iter_mut().zip(&tasks) {
                *bound = (*bound).min(if system.cores == 1 { Duration::ZERO } else { x + τ.execution });
            }
        }
        if next.iter().zip(&late).all(|(next, late)| next <= late) || entry.is_zero() {
            return Some(next);
        }
        late = next.iter().zip(&late).map(|(a, b)| *a.max(b)).collect();
    }
    None
}

fn fail(
    system: &System,
    places: &[usize],
    tasks: &[Sporadic],
    responses: &[Option<Duration>],
    edf: bool,
    platform: &dyn Withheld,
    check: &mut Check,
) {
    let m = system.cores;
    let scale = sensitivity::largest_scale(tasks, |set| {
        let (r, _) = test(set, m, edf, platform, &mut Effort::default().step());
        r.iter().zip(set).all(|(r, τ)| r.is_some_and(|r| r <= τ.deadline))
    });
    let mut remedy = sensitivity::remedy(scale, "");
    for (i, &n) in places.iter().enumerate() {
        let τ = &tasks[i];
        if responses[i].is_some_and(|r| r <= τ.deadline) {
            continue;
        }
        let name = &system.tasks[n].name;
        let what = if τ.execution > τ.deadline {
            format!("task `{name}` needs {} with overheads, over its deadline of {}", τ.execution, τ.deadline)
        } else if τ.deadline > τ.period {
            format!("task `{name}`: its deadline of {} is longer than its period of {}, beyond what the test for global policies covers", τ.deadline, τ.period)
        } else {
            format!(
                "task `{name}` is not shown to meet its deadline of {}: the others may keep all {m} cores too long",
                τ.deadline
            )
        };
        check.fail(system, n, what, std::mem::replace(&mut remedy, "see the remedy above".into()));
    }
}
