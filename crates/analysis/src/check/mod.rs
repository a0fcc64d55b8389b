//! The check of a whole system: which tests apply to its policy, and what they promise for each task.
//!
//! **What is accepted.** Partitioned and global policies: every task's response bound is shown to be within its deadline.
//! (A global EDF system that only has a tardiness bound is not accepted, though the bound is given.) MC²: every
//! level-A table exists, every level-A and level-B response is within its deadline, and every level-C task has a
//! tardiness bound. Level D is promised nothing. Two levels of criticality: `mixed` tells.
//! A task for which no test is known is promised nothing and told so by name; that is no failure.

mod assignment;
mod assumed;
mod assumptions;
mod bursts;
mod caches;
mod ceilings;
mod chains;
mod changes;
mod channels;
mod covers;
mod declared;
mod explain;
mod global;
mod growth;
mod mc2;
mod memory;
mod mixed;
mod necessary;
mod offsets;
mod one_core;
mod orders;
mod partitions;
mod rank;
mod report;
mod sensitivity;
mod servers;
mod services;
mod slots;
mod subject;
mod waits;
mod work;

pub use assignment::{assignment, is_bound, Unassigned};
pub use caches::CacheDelay;
pub use chains::ChainVerdict;
pub use changes::AdmissionVerdict;
pub use channels::ChannelVerdict;
pub use declared::Declared;
pub use growth::Growth;
pub use memory::with_interference;
pub use report::{Check, CoreLoad, Finding, Reloads, TaskCheck, TaskVerdict};
pub use slots::{slot_supplies, SlotSupply};

use crate::effort::Effort;
use crate::inflation::working_sets::WorkingSets;
use crate::overhead;
use crate::terms::{Source, Terms};
use caches::BesideOthers;
use explain::Wanted;
use rank::Rank;
use subject::Subject;
use tactus_model::{Costs, Migration, Mixed, Policy, System, SystemRevision, TaskOrder};
use tactus_task::{Feature, Features};
use tactus_time::Duration;

/// Judges a system. Costs count only where the system asks for it (`machine.overheads`).
pub fn check(system: &System, costs: &Costs) -> Check {
    check_with_cache(system, costs, CacheDelay::None)
}

/// Judges a system whose jobs lose what they had in the caches when others have run or they have moved, and which other cores hold up.
/// Like the other costs it counts where the system asks for it.
pub fn check_with_cache(system: &System, costs: &Costs, cache: CacheDelay) -> Check {
    if system.scheduling.changes.is_empty() && system.slots.is_empty() {
        one_system(system, Features::NONE, (costs, cache), &mut Wanted::none())
    } else if !system.slots.is_empty() {
        // Nothing changes but what is in slots, whose servers are there.
        changes::of_present(system, &|present| one_system(present, Features::NONE, (costs, cache), &mut Wanted::none()))
    } else {
        let whole = Features::of(&[Feature::Reconfiguration]);
        changes::check(system, &|revision| one_system(revision, whole, (costs, cache), &mut Wanted::none()))
    }
}

/// What the bounds of these tasks add up from, by task: the check's own terms. Nothing where a task's test gives its bound by other means, where it has
/// no bound, and where a system changes or has slots, of a task that is not there from the start.
pub fn explain(system: &System, costs: &Costs, cache: CacheDelay, tasks: &[usize]) -> Vec<Option<Terms>> {
    if system.scheduling.changes.is_empty() && system.slots.is_empty() {
        let mut wanted = Wanted::of(tasks.to_vec());
        let check = one_system(system, Features::NONE, (costs, cache), &mut wanted);
        return wanted.all(&check);
    }
    let whole = match system.slots.is_empty() {
        true => Features::of(&[Feature::Reconfiguration]),
        false => Features::NONE,
    };
    let (present, places) = SystemRevision::first(system).present();
    let mut wanted = Wanted::of((0..places.len()).filter(|i| tasks.contains(&places[*i])).collect());
    let check = one_system(&present, whole, (costs, cache), &mut wanted);
    let mut all = vec![None; system.tasks.len()];
    for (found, n) in wanted.all(&check).into_iter().zip(&places) {
        all[*n] = found.map(|mut terms| {
            terms.renumber(|place| Source::Other(places[place]));
            terms
        });
    }
    all
}

/// All tests that the check may use, each with what it covers.
pub fn tests() -> Vec<Declared> {
    let on_cores = one_core::ALL.iter().map(|test| test.declared).chain(global::ALL.iter().map(|test| test.declared));
    let others = [servers::ALL, partitions::ALL, mixed::ALL, mc2::ALL];
    on_cores.chain(others.into_iter().flatten().copied()).collect()
}

/// The features of a task and of those who can delay it, with those of the whole system: what a test has to cover so that it bounds the task.
pub fn features_of(system: &System, task: usize) -> Features {
    Subject::of(system, Features::NONE, &[], Duration::ZERO).features(task)
}

/// By task, what other cores add to each job: by the lines that they ask for and by colours, the smaller where the file tells both; or why
/// nobody knows. Nothing where the file tells neither.
pub fn added_by_others(system: &System) -> Vec<Result<Duration, String>> {
    caches::added(system, CacheDelay::Geometry.working_sets(system).as_ref())
}

/// Judges a system that does not change. `whole`: features that it has as a stage of another one; `wanted`: whose terms are written down.
fn one_system(system: &System, whole: Features, (costs, cache): (&Costs, CacheDelay), wanted: &mut Wanted) -> Check {
    let sets = cache.working_sets(system);
    let beside = BesideOthers::of(system, sets.as_ref());
    let longest = cache.longest(sets.as_ref());
    let (declared, system) = (system, beside.longer.as_ref().unwrap_or(system));
    let lengthened = sections_as_noticed(system, costs);
    let system = lengthened.as_ref().unwrap_or(system);
    let entry = entry(system, costs, longest);
    let budgeted = overhead::entry(costs) + longest;
    let mut check = Check::new(system);
    if system.machine.overheads && !longest.is_zero() {
        check.tasks.iter_mut().for_each(|verdict| verdict.reloads = Reloads::Longest(longest));
    }
    let arrangement = Arrangement::of(system);
    let subject = Subject::of(system, whole, &beside.unknown, entry);
    match arrangement {
        Arrangement::Mixed(scheme) => mixed::check(&subject, scheme, (entry, budgeted), &mut check),
        Arrangement::Partitions => partitions::check(&subject, entry, &mut check, wanted),
        Arrangement::Mc2 => mc2::check(&subject, (entry, budgeted), &mut check),
        Arrangement::Servers(root) => servers::check(&subject, root, (costs, longest), entry, &mut check, wanted),
        Arrangement::Cores(rank) => {
            let entry = entry_of_each(entry, system, costs, sets.as_ref());
            one_core::check(&subject, rank, entry, &mut check, wanted);
        }
        Arrangement::Shared(spread, rank) => global::check(&subject, (spread, rank), entry, &mut check, wanted),
    }
    assumptions::note(declared, &mut check);
    chains::check(system, &mut check);
    services::check(system, &mut check);
    necessary::note(necessary::violations(declared), &mut check);
    check.summary = match arrangement {
        Arrangement::Mixed(scheme) => mixed::summary(scheme, &check),
        Arrangement::Partitions => partitions::summary(system, &check),
        Arrangement::Mc2 => mc2::summary(system, &check),
        Arrangement::Servers(root) => servers::summary(system, root, entry, &check),
        Arrangement::Cores(rank) => one_core::summary(rank, &check),
        Arrangement::Shared(spread, rank) => global::summary(system, spread, rank, &check),
    };
    check.accepted = check.findings.is_empty();
    check
}

/// How a system decides who runs, as far as it chooses the tests.
#[derive(Clone, Copy)]
enum Arrangement {
    /// Two levels of criticality on each core by itself.
    Mixed(Mixed),
    /// Windows of a table.
    Partitions,
    /// Mixed criticality on multicore.
    Mc2,
    /// Servers beneath a root.
    Servers((Migration, TaskOrder)),
    /// Each core by itself.
    Cores(Rank),
    /// Cores that share queues.
    Shared(Migration, Rank),
}

impl Arrangement {
    fn of(system: &System) -> Arrangement {
        let servers = !system.scheduling.servers.is_empty();
        match system.policy.root() {
            Some(root) if servers => Arrangement::Servers(root),
            Some((Migration::Partitioned, order)) => Arrangement::Cores(Rank::of(order)),
            Some((spread @ (Migration::Clustered | Migration::Global), order)) => {
                Arrangement::Shared(spread, Rank::of(order))
            }
            None => match system.policy {
                Policy::Mixed(scheme) => Arrangement::Mixed(scheme),
                Policy::Partitions => Arrangement::Partitions,
                Policy::Mc2 { .. }
                | Policy::PartitionedRm
                | Policy::PartitionedEdf
                | Policy::GlobalRm
                | Policy::GlobalEdf
                | Policy::Ordered { .. } => Arrangement::Mc2,
            },
        }
    }
}

/// What an entry costs where a test knows what each task has in the caches.
fn entry_of_each<'s>(
    longest: Duration,
    system: &System,
    costs: &Costs,
    sets: Option<&'s WorkingSets<'s>>,
) -> one_core::Entry<'s> {
    one_core::Entry { longest, each: sets.map(|sets| (entry(system, costs, Duration::ZERO), sets)) }
}

/// What [`sensitivity`] may spend so that it answers in some tens of milliseconds.
pub const QUICK: Effort = Effort::terms(2_500_000);

/// By how much each task's execution time may grow, by `TaskId`; see [`Growth`]. Searched within the effort given, which
/// cores that are by themselves share; where it does not do for all (many tasks under global policies, cores near full
/// load), the first tasks have it.
pub fn sensitivity(system: &System, costs: &Costs, effort: Effort) -> Vec<Growth> {
    sensitivity_with_cache(system, costs, CacheDelay::None, effort)
}

/// [`sensitivity`], with the costs of [`check_with_cache`].
pub fn sensitivity_with_cache(system: &System, costs: &Costs, cache: CacheDelay, effort: Effort) -> Vec<Growth> {
    if !system.scheduling.changes.is_empty() || !system.slots.is_empty() {
        // As it begins.
        let (present, places) = SystemRevision::first(system).present();
        let mut growth = vec![Growth::Unknown; system.tasks.len()];
        for (found, n) in growth_of_present(&present, costs, cache, effort).into_iter().zip(places) {
            growth[n] = found;
        }
        return growth;
    }
    growth_of_present(system, costs, cache, effort)
}

/// As [`sensitivity_with_cache`], of a system whose tasks are all there.
fn growth_of_present(system: &System, costs: &Costs, cache: CacheDelay, effort: Effort) -> Vec<Growth> {
    let mut growth = vec![Growth::Unknown; system.tasks.len()];
    let found = one_system(system, Features::NONE, (costs, cache), &mut Wanted::none());
    let sets = cache.working_sets(system);
    let beside = BesideOthers::of(system, sets.as_ref());
    let (system, sets) = (beside.longer.as_ref().unwrap_or(system), sets.as_ref());
    let longest = cache.longest(sets);
    let (entry, budgeted) = (entry(system, costs, longest), overhead::entry(costs) + longest);
    let subject = Subject::of(system, Features::NONE, &beside.unknown, entry);
    let mut search = growth::SearchBudget::with(effort);
    match Arrangement::of(system) {
        Arrangement::Mixed(scheme) => mixed::growth(system, scheme, (entry, budgeted), &mut search, &mut growth),
        Arrangement::Partitions => partitions::growth(&subject, entry, &mut search, &mut growth),
        Arrangement::Mc2 => mc2::growth(system, (entry, budgeted), &mut search, &mut growth),
        Arrangement::Servers(root) => servers::growth(&subject, root, entry, &mut search, &mut growth),
        Arrangement::Cores(rank) => {
            let entry = entry_of_each(entry, system, costs, sets);
            one_core::growth(&subject, rank, entry, &mut search, &mut growth);
        }
        Arrangement::Shared(spread, rank) => global::growth(&subject, spread, rank, entry, &mut search, &mut growth),
    }
    // Where there is no test, there is none that could turn.
    for (growth, task) in growth.iter_mut().zip(&found.tasks) {
        if let TaskVerdict::Untested(_) = task.verdict {
            *growth = Growth::Unknown;
        }
    }
    growth
}

/// Where the file leaves the system's own work out, a run still finds a section too long only when its end would have been noticed late:
/// what is not found there, others have to wait for.
fn sections_as_noticed(system: &System, costs: &Costs) -> Option<System> {
    let late = overhead::entry(costs);
    if system.machine.overheads || late.is_zero() || system.scheduling.sections.iter().all(Vec::is_empty) {
        return None;
    }
    let mut longer = system.clone();
    for section in longer.scheduling.sections.iter_mut().flatten() {
        section.length = section.length.checked_add(late).unwrap_or(Duration::MAX);
    }
    Some(longer)
}

/// E of this system, as far as bounds count it. Budgets that are enforced hold it in any case, since jobs are charged for the system's
/// work in any case, and bounds count what budgets hold.
fn entry(system: &System, costs: &Costs, cache: Duration) -> Duration {
    if system.machine.overheads {
        overhead::entry(costs) + cache
    } else {
        Duration::ZERO
    }
}
