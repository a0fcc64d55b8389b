//! Global and clustered orders: response bounds where Bertogna and Cirinei's test finds them, tardiness bounds beside them.
//! A cluster is a global system by itself; one of one core is judged as one core.

use super::assumed::plain;
use super::growth::{self, Growth, SearchBudget};
use super::rank::{self, Rank};
use super::report::{hundredths, Bound, Check, TaskVerdict};
use super::{partitioned, sensitivity, waits};
use crate::arrivals::Instants;
use crate::effort::Effort;
use crate::global::{bertogna_cirinei, devi_anderson, gfb, tardiness};
use crate::overhead::{Charge, GLOBAL_ENTRIES_PER_INSTANT};
use crate::reservation::charge::Work;
use crate::task::{Sporadic, Withheld};
use crate::utilisation::Utilisation;
use tactus_model::{Migration, System};
use tactus_time::{CoreSet, Duration};

/// One queue and the cores that share it.
struct Group<'s> {
    system: &'s System,
    cores: CoreSet,
    m: usize,
    rank: Rank,
    entry: Duration,
    /// The tasks, the most urgent first.
    places: Vec<usize>,
    /// The same with what costs add to their execution times.
    tasks: Vec<Sporadic>,
    instants: Instants,
}

impl<'s> Group<'s> {
    fn new(system: &'s System, cores: CoreSet, mut places: Vec<usize>, rank: Rank, entry: Duration) -> Group<'s> {
        rank.sort(system, &mut places);
        // C' = C + E for its own completion, and E for an entry under way when its window starts.
        let one = |&n: &usize| {
            let t = &system.tasks[n];
            let waits = waits::added(system, n, entry);
            let execution = (plain(t) + entry * 2).checked_add(waits).unwrap_or(Duration::MAX);
            Sporadic::new(execution, t.period, t.deadline)
        };
        let (tasks, instants) = (places.iter().map(one).collect(), partitioned::instants(system, &places));
        Group { system, cores, m: cores.iter().count(), rank, entry, places, tasks, instants }
    }

    /// What the system takes: six entries for each release instant, and for each turn of each core.
    fn work(&self) -> Work<'_> {
        let mut work = partitioned::work(self.system, &self.places, &self.instants, self.rank, self.entry);
        work.instants = Some((&self.instants, self.entry * GLOBAL_ENTRIES_PER_INSTANT));
        let each = GLOBAL_ENTRIES_PER_INSTANT * self.m as u64;
        work.recurring.iter_mut().for_each(|(cost, _)| *cost = self.entry * each);
        work
    }

    fn label(&self) -> String {
        let list: Vec<String> = self.cores.iter().map(|core| core.to_string()).collect();
        match self.m == self.system.cores {
            true => format!("all {} cores", self.m),
            false => format!("cores {} of their cluster", list.join(" and ")),
        }
    }
}

fn groups(system: &System, (spread, rank): (Migration, Rank), entry: Duration) -> Vec<Group<'_>> {
    let queues = rank::queues(system, spread).into_iter();
    queues.map(|(cores, places)| Group::new(system, cores, places, rank, entry)).collect()
}

pub(crate) fn check(system: &System, spread: Migration, rank: Rank, entry: Duration, check: &mut Check) {
    for group in groups(system, (spread, rank), entry) {
        match group.cores.iter().next() {
            Some(core) if group.m == 1 => partitioned::one_core(system, core, group.places, rank, entry.into(), check),
            _ => one_group(&group, check),
        }
    }
}

/// The line that sums the check up.
pub(crate) fn summary(system: &System, spread: Migration, rank: Rank, check: &Check) -> String {
    let u = Utilisation::of(system.tasks.iter().map(|t| (plain(t), t.period))).millionths();
    let late = check.tasks.iter().filter_map(|t| match t.bound() {
        Some(Bound::Tardiness(x)) => Some(x),
        Some(Bound::Response(_)) | None => None,
    });
    let tardy = late.max().map_or(String::new(), |x| format!(" · tardiness at most {x}"));
    let spread = if spread == Migration::Global { "global" } else { "clustered" };
    format!("{spread} {} · {} of {} cores{tardy}", rank.label(), hundredths(u), system.cores)
}

fn one_group(group: &Group, check: &mut Check) {
    let Group { places, tasks, rank, .. } = group;
    let work = group.work();
    let (responses, why) = test(tasks, group.m, *rank, &work, &mut Effort::default());
    let all_met = met(&responses, tasks);
    // But for fixed priorities, one task without a proof takes away the bounds of all.
    let given = |r: Option<Duration>| if !matches!(rank, Rank::Fixed(_)) && !all_met { None } else { r };
    let late = if *rank == Rank::Edf && !all_met { soft(group) } else { None };
    let unbounded = || "not every task of its queue is shown to be in time".into();
    for (i, &n) in places.iter().enumerate() {
        let given = given(responses[i]);
        check.tasks[n].verdict = match late.as_ref().filter(|_| given.is_none()) {
            None => TaskVerdict::of(given, tasks[i].deadline, why, unbounded),
            Some(late) => TaskVerdict::Fails {
                bound: Some(Bound::Tardiness(late[i])),
                why: unbounded(),
                by: "deadline not proven; tardiness bounded (Devi and Anderson)".into(),
            },
        };
    }
    if !all_met {
        fail(group, &responses, &work, check);
    }
}

fn met(responses: &[Option<Duration>], tasks: &[Sporadic]) -> bool {
    responses.iter().zip(tasks).all(|(r, τ)| r.is_some_and(|r| r <= τ.deadline))
}

/// By how much each execution time may grow, so that all tasks that share its queue are still shown to be in time.
pub(crate) fn growth(
    system: &System,
    spread: Migration,
    rank: Rank,
    entry: Duration,
    search: &mut SearchBudget,
    growth: &mut [Growth],
) {
    for group in groups(system, (spread, rank), entry) {
        if group.m == 1 {
            partitioned::growth_on(system, group.places, rank, entry.into(), search, growth);
            continue;
        }
        let work = group.work();
        for (i, &n) in group.places.iter().enumerate() {
            let mut passes = |set: &[Sporadic]| {
                search.ask(Effort::default(), |effort| met(&test(set, group.m, rank, &work, effort).0, set))
            };
            growth[n] = growth::of(&group.tasks, i, group.tasks[i].deadline, &mut passes);
        }
    }
}

fn test(
    tasks: &[Sporadic],
    m: usize,
    rank: Rank,
    platform: &dyn Withheld,
    effort: &mut Effort,
) -> (Vec<Option<Duration>>, &'static str) {
    match rank {
        Rank::Fixed(_) => (
            bertogna_cirinei::fixed_priority_responses(tasks, m, platform, effort),
            "global response-time analysis (Bertogna and Cirinei)",
        ),
        Rank::Edf => {
            let responses = bertogna_cirinei::edf_responses(tasks, m, &[], platform, effort);
            let free = platform.at_most(Duration::MAX).is_zero();
            if !met(&responses, tasks) && free && gfb::schedulable(tasks, m) {
                let deadlines = tasks.iter().map(|τ| Some(τ.deadline)).collect();
                return (deadlines, "density test (Goossens, Funk and Baruah)");
            }
            (responses, "global response-time analysis (Bertogna and Cirinei)")
        }
        Rank::Other(_) => (
            bertogna_cirinei::any_order_responses(tasks, m, platform, effort),
            "any work-conserving order (Bertogna and Cirinei)",
        ),
    }
}

/// Tardiness bounds in the order of `places`.
///
/// With costs, a job takes the core (or waits for one that is already its own) for at most C + twice what it is
/// charged, over a window that depends on the bound; the two are iterated until they agree.
fn soft(group: &Group) -> Option<Vec<Duration>> {
    let Group { system, places, entry, .. } = group;
    let charge = Charge { entry: *entry, instants: &group.instants };
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
        let supply = vec![tardiness::Supply::full(); group.m];
        let mut next = tardiness::bounds(&tasks, &supply).ok()?;
        if let Some(x) = devi_anderson::x(&tasks, group.m) {
            for (bound, τ) in next.iter_mut().zip(&tasks) {
                *bound = (*bound).min(x + τ.execution);
            }
        }
        if next.iter().zip(&late).all(|(next, late)| next <= late) || entry.is_zero() {
            return Some(next);
        }
        late = next.iter().zip(&late).map(|(a, b)| *a.max(b)).collect();
    }
    None
}

fn fail(group: &Group, responses: &[Option<Duration>], work: &Work, check: &mut Check) {
    let Group { system, places, tasks, m, rank, .. } = group;
    let scale =
        sensitivity::largest_scale(tasks, |set| met(&test(set, *m, *rank, work, &mut Effort::default().step()).0, set));
    let mut remedy = sensitivity::remedy(scale, "");
    let without_costs = Group::new(system, group.cores, places.clone(), *rank, Duration::ZERO);
    let (free, _) = test(&without_costs.tasks, *m, *rank, &without_costs.work(), &mut Effort::default());
    for (i, &n) in places.iter().enumerate() {
        if responses[i].is_some_and(|r| r <= tasks[i].deadline) {
            continue;
        }
        let why = group.what_binds(i, responses, &free);
        let what = format!("task `{}`{why}", system.tasks[n].name);
        check.fail(system, n, what, std::mem::replace(&mut remedy, "see the remedy above".into()));
    }
}

impl Group<'_> {
    /// Why a task has no bound within its deadline; `free` are the responses without the system's own work.
    fn what_binds(&self, i: usize, responses: &[Option<Duration>], free: &[Option<Duration>]) -> String {
        let τ = &self.tasks[i];
        let name = |j: usize| &self.system.tasks[self.places[j]].name;
        let own = plain(&self.system.tasks[self.places[i]]);
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
