//! What the jobs of one core keep from each other: preemption thresholds, and critical sections.
//!
//! **Ceilings** (the stack resource policy under EDF), sections without preemption and thresholds: a job may begin only if it is above
//! all that are held. So it is blocked once at most, before it begins, by one less urgent job that has begun (Baker 1991, theorem 6):
//! for its whole time if its threshold reaches the job, and else for one section whose ceiling does. Sections inside others are
//! counted by themselves, those around them too.
//!
//! **Inheritance** (Sha, Rajkumar and Lehoczky 1990, theorem 6): a job is blocked at most once by each less urgent task, and at most once
//! for each resource, by a section on what a job at least as urgent may wait for, directly or since whoever it waits for wants that:
//!
//! ```text
//! Bᵢ = min( Σ_{k less urgent} max_{r reaching i} lengthₖ(r),  Σ_{r reaching i} max_{k less urgent} lengthₖ(r) )
//! ```
//!
//! It holds for sections inside others, since a less urgent job that has left the outermost one that reaches i does not run again
//! before i is done, and takes nothing new outside of that one. Under EDF the same sum is counted for each deadline t: of jobs due later,
//! on what a job due within t may wait for.
//!
//! **Resources of several cores** (MSRP, FMLP): a job keeps its core while it waits and while it holds. Before it come one section of
//! each other core at most, which is time that it takes from its core, and the whole is a section without preemption for others
//! (Gai, Lipari and Di Natale 2001). Entries of its scheduler lengthen such a section; those that may come in it are counted.

use super::rank::Rank;
use super::work;
use crate::blocking::ceiling::edf_schedulable_with;
use crate::effort::Effort;
use crate::task::{Sporadic, Withheld};
use crate::terms::{Source, Term, Terms};
use crate::uniprocessor::bursts::{self, Bursty};
use crate::uniprocessor::edf_demand::{terms_of_window, Demand, Tightest};
use crate::uniprocessor::{edf_response, fixed_priority, preemption_threshold};
use tactus_model::{ResourceProtocol, System};
use tactus_time::{CoreId, Duration};

/// How often the time that entries add to a section is reckoned again before it counts as endless.
const ROUNDS: usize = 64;

/// What the jobs of one core keep from each other; its tasks are in the order of their urgency.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Ceilings {
    /// By task: how many of the first tasks may preempt it once it has begun.
    preempting: Vec<usize>,
    /// By task: its critical sections.
    sections: Vec<Vec<Section>>,
    /// By task: how long its jobs wait in all for what other cores hold.
    spins: Vec<Duration>,
    /// Whether jobs wait for each other in the middle of their work.
    inherits: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Section {
    resource: usize,
    /// With what it takes until its end is noticed and acted upon, and with the waiting before it.
    length: Duration,
    /// The most urgent task that it keeps off, or that may wait for it; all less urgent ones are kept off too.
    ceiling: usize,
}

/// How much of the system's work a section brings with it, in calls of the scheduler: its end, and where it may be another's its
/// beginning.
pub(super) fn calls(system: &System, section: &tactus_model::Section) -> u64 {
    let inherits = system.scheduling.resources[section.resource].protocol == ResourceProtocol::Inheritance;
    1 + u64::from(inherits || system.scheduling.spans_cores(section.resource, &system.tasks))
}

/// For how long each other core may hold the resource before a job of this one has it, in all.
fn spin(system: &System, core: Option<CoreId>, resource: usize, entry: Duration) -> Duration {
    let mut cores: Vec<Option<CoreId>> = system.tasks.iter().map(|task| task.core).filter(|it| *it != core).collect();
    cores.sort_unstable();
    cores.dedup();
    let of_core = |other: &Option<CoreId>| {
        let here = || (0..system.tasks.len()).filter(|n| system.tasks[*n].core == *other);
        let places: Vec<usize> = here().collect();
        let instants = work::instants(system, &places);
        let work = work::work(system, &places, &instants, Rank::Edf, entry);
        let own = here().flat_map(|n| system.scheduling.sections_of(n)).filter(|it| it.resource == resource);
        let Some(longest) = own.map(|it| it.length).max() else { return Duration::ZERO };
        // It is taken in an entry, given back in one, and the next core is told by one.
        let least = longest.checked_add(entry * 3).unwrap_or(Duration::MAX);
        let mut all = least;
        for _ in 0..ROUNDS {
            // What came while it was being taken is served in it, and an entry may be under way.
            let entries = work.entries(all.checked_add(entry).unwrap_or(Duration::MAX)).saturating_add(1);
            let next = entry.checked_mul(entries).and_then(|more| least.checked_add(more)).unwrap_or(Duration::MAX);
            if next == all {
                return all;
            }
            all = next;
        }
        Duration::MAX
    };
    cores.iter().map(of_core).fold(Duration::ZERO, |sum, one| sum.checked_add(one).unwrap_or(Duration::MAX))
}

/// When the last of the sections ends that follow this one in a row: a job that gives a resource back may hold the next one before that is
/// noticed.
fn end_of_row(sections: &[tactus_model::Section], it: &tactus_model::Section, entry: Duration) -> Duration {
    let mut end = it.end();
    let follows = |end: Duration| {
        let begins = move |other: &&tactus_model::Section| {
            let next = other.after >= it.after && !other.holds(it);
            next && other.after.saturating_sub(entry) <= end && other.end() > end
        };
        sections.iter().find(begins).map(tactus_model::Section::end)
    };
    while let Some(later) = follows(end) {
        end = later;
    }
    end
}

impl Ceilings {
    /// Those of the tasks at these places; nothing if there are none. `entry` is what an entry of the scheduler costs: a section may
    /// be found too long only that much later, and its end may have to be told.
    pub(super) fn of(system: &System, places: &[usize], entry: Duration) -> Option<Ceilings> {
        let scheduling = &system.scheduling;
        let place = |n: &usize| scheduling.places.get(*n).copied().unwrap_or_default();
        let some = |n: &usize| place(n).threshold.is_some() || !scheduling.sections_of(*n).is_empty();
        if !places.iter().any(some) {
            return None;
        }
        let ceilings = ceilings(system, places);
        let above = |(i, n): (usize, &usize)| match place(n).threshold {
            Some(threshold) => places.iter().filter(|other| place(other).priority > threshold).count(),
            None => i,
        };
        let spin = |n: usize, resource: usize| match scheduling.spans_cores(resource, &system.tasks) {
            true => spin(system, system.tasks[n].core, resource, entry),
            false => Duration::ZERO,
        };
        let section = |n: usize, it: &tactus_model::Section| {
            let end = end_of_row(scheduling.sections_of(n), it, entry);
            let inside = |other: &&tactus_model::Section| other.after >= it.after && other.end() <= end;
            let all = || scheduling.sections_of(n).iter().filter(inside);
            // Its end is noticed and acted upon; inside, each other section may call twice.
            let entries = entry * (1 + all().map(|inner| calls(system, inner)).sum::<u64>());
            // Of those inside, what is waited for counts as a section by itself.
            let waited = all().filter(|other| *other == it || !it.holds(other)).map(|other| spin(n, other.resource));
            let length =
                waited.fold(end.saturating_sub(it.after), |sum, one| sum.checked_add(one).unwrap_or(Duration::MAX));
            let in_row = all().filter(|other| !it.holds(other)).map(|other| ceilings[other.resource]);
            Section {
                resource: it.resource,
                length: length.checked_add(entries).unwrap_or(Duration::MAX),
                ceiling: in_row.fold(ceilings[it.resource], usize::min),
            }
        };
        let sections = |n: &usize| scheduling.sections_of(*n).iter().map(|it| section(*n, it)).collect();
        let spins = |n: &usize| {
            let each = scheduling.sections_of(*n).iter().map(|it| spin(*n, it.resource));
            each.fold(Duration::ZERO, |sum, one| sum.checked_add(one).unwrap_or(Duration::MAX))
        };
        let of_all = || places.iter().flat_map(|n| scheduling.sections_of(*n));
        let inherits =
            |it: &tactus_model::Section| scheduling.resources[it.resource].protocol == ResourceProtocol::Inheritance;
        Some(Ceilings {
            preempting: places.iter().enumerate().map(above).collect(),
            sections: places.iter().map(sections).collect(),
            spins: places.iter().map(spins).collect(),
            inherits: of_all().any(inherits),
        })
    }

    /// How long jobs of the i-th task wait in all for what other cores hold.
    pub(super) fn spin(&self, i: usize) -> Duration {
        self.spins[i]
    }

    /// The sections of these tasks that block, of those that count: whose they are, and how long.
    fn of_sections(
        &self,
        tasks: impl Iterator<Item = usize> + Clone,
        counts: impl Fn(&Section) -> bool,
    ) -> Vec<(usize, Duration)> {
        let of_task = |k: usize| self.sections[k].iter().filter(|it| counts(it)).map(move |it| (k, *it));
        let longest_of = |k: usize| of_task(k).map(|(k, it)| (k, it.length)).max_by_key(|(_, length)| *length);
        let longest_of_each = tasks.clone().filter_map(longest_of);
        if !self.inherits {
            return longest_of_each.max_by_key(|(_, length)| *length).into_iter().collect();
        }
        let by_task: Vec<(usize, Duration)> = longest_of_each.collect();
        let mut all: Vec<(usize, Section)> = tasks.flat_map(of_task).collect();
        all.sort_unstable_by_key(|(_, it)| (it.resource, std::cmp::Reverse(it.length)));
        all.dedup_by_key(|(_, it)| it.resource);
        let by_resource: Vec<(usize, Duration)> = all.into_iter().map(|(k, it)| (k, it.length)).collect();
        if sum(&by_task) <= sum(&by_resource) {
            by_task
        } else {
            by_resource
        }
    }

    /// The less urgent jobs that have begun and keep the i-th task from its core: whose they are, and for how long.
    fn blockers(&self, tasks: &[Sporadic], i: usize) -> Vec<(usize, Duration)> {
        let below = i + 1..tasks.len();
        let whole = below.clone().filter(|k| i >= self.preempting[*k]).map(|k| (k, tasks[k].execution));
        let whole: Vec<(usize, Duration)> = whole.max_by_key(|(_, length)| *length).into_iter().collect();
        let sections = self.of_sections(below, |section| section.ceiling <= i);
        if sum(&whole) > sum(&sections) {
            whole
        } else {
            sections
        }
    }

    /// For how long they do in all.
    pub(super) fn blocking(&self, tasks: &[Sporadic], i: usize) -> Duration {
        sum(&self.blockers(tasks, i))
    }

    /// The terms of the response time of the i-th task under fixed priorities. `entry`: by what the system does.
    pub(super) fn terms(
        &self,
        (tasks, i): (&[Sporadic], usize),
        entry: Duration,
        withheld: &dyn Withheld,
        effort: &mut Effort,
    ) -> Option<Terms> {
        let blocking = entry.checked_add(self.blocking(tasks, i))?;
        let mut terms = if self.preempting[i] == i {
            fixed_priority::terms(&tasks[i], &tasks[..i], blocking, withheld, effort)
        } else {
            preemption_threshold::terms(&tasks[i], (&tasks[..i], self.preempting[i]), blocking, withheld, effort)
        }?;
        terms.blocked_by(&blocking_terms(entry, &self.blockers(tasks, i)));
        Some(terms)
    }

    /// The terms of the i-th bound under EDF, as [`Ceilings::by_deadline`] finds it.
    pub(super) fn terms_by_deadline(
        &self,
        (tasks, i): (&[Sporadic], usize),
        entry: Duration,
        withheld: &dyn Withheld,
        effort: Effort,
    ) -> Option<Terms> {
        let longest = self.of_sections(0..self.sections.len(), |_| true);
        let all = entry.checked_add(sum(&longest)).unwrap_or(Duration::MAX);
        let exact = edf_response::terms(tasks, i, all, withheld, &mut effort.clone()).map(|mut terms| {
            terms.blocked_by(&blocking_terms(entry, &longest));
            terms
        });
        if exact.as_ref().is_some_and(|terms| terms.sum() <= tasks[i].deadline) {
            return exact;
        }
        let mut tightest = Tightest::default();
        let found = self.demand(tasks, entry, withheld, &mut effort.clone(), &mut tightest);
        match tightest.window().filter(|_| found == Demand::Fits) {
            Some(t) => {
                let blocking = blocking_terms(entry, &self.reaching(tasks, t));
                Some(terms_of_window((tasks, i), t, blocking, withheld))
            }
            None => exact,
        }
    }

    /// The response time of the i-th task under fixed priorities. `blocking`: by what the system does.
    pub(super) fn response(
        &self,
        tasks: &[Sporadic],
        i: usize,
        blocking: Duration,
        withheld: &dyn Withheld,
        effort: &mut Effort,
    ) -> Option<Duration> {
        let blocking = blocking.checked_add(self.blocking(tasks, i))?;
        if self.preempting[i] == i {
            return fixed_priority::response(&tasks[i], &tasks[..i], blocking, withheld, effort);
        }
        preemption_threshold::response(&tasks[i], (&tasks[..i], self.preempting[i]), blocking, withheld, effort)
    }

    /// As [`Ceilings::response`], of tasks whose arrivals bunch.
    pub(super) fn response_of_bursts(
        &self,
        (tasks, bursty): (&[Sporadic], &[Bursty]),
        i: usize,
        blocking: Duration,
        withheld: &dyn Withheld,
        effort: &mut Effort,
    ) -> Option<Duration> {
        let blocking = blocking.checked_add(self.blocking(tasks, i))?;
        if self.preempting[i] == i {
            return bursts::response(&bursty[i], &bursty[..i], blocking, withheld, effort);
        }
        bursts::response_with_threshold(&bursty[i], (&bursty[..i], self.preempting[i]), blocking, withheld, effort)
    }

    /// Whether every deadline is met under EDF.
    pub(super) fn by_demand(
        &self,
        tasks: &[Sporadic],
        blocking: Duration,
        withheld: &dyn Withheld,
        effort: &mut Effort,
    ) -> Demand {
        self.demand(tasks, blocking, withheld, effort, &mut Tightest::default())
    }

    /// Sections of jobs due later than t, on what a job due within t may wait for.
    fn reaching(&self, tasks: &[Sporadic], t: i128) -> Vec<(usize, Duration)> {
        // Tasks are in the order of their relative deadlines: a section reaches t if its ceiling is due within t.
        let later = (0..tasks.len()).filter(|k| tasks[*k].d() > t);
        self.of_sections(later, |it| tasks.get(it.ceiling).is_some_and(|τ| τ.d() <= t))
    }

    fn demand(
        &self,
        tasks: &[Sporadic],
        blocking: Duration,
        withheld: &dyn Withheld,
        effort: &mut Effort,
        tightest: &mut Tightest,
    ) -> Demand {
        let system = i128::from(blocking.as_nanos());
        let of = |t: i128| system + i128::from(sum(&self.reaching(tasks, t)).as_nanos());
        let longest = i128::from(self.most().as_nanos());
        edf_schedulable_with(tasks, (system + longest, &of), withheld, effort, tightest)
    }

    /// The same of tasks whose arrivals bunch; nothing if the effort did not do.
    pub(super) fn by_demand_of_bursts(
        &self,
        (tasks, bursty): (&[Sporadic], &[Bursty]),
        blocking: Duration,
        withheld: &dyn Withheld,
        effort: &mut Effort,
    ) -> Option<bool> {
        let system = i128::from(blocking.as_nanos());
        let longest = i128::from(self.most().as_nanos());
        let of = |t: i128| system + i128::from(sum(&self.reaching(tasks, t)).as_nanos());
        bursts::schedulable_with(bursty, (system + longest, &of), withheld, effort)
    }

    /// The most that sections block a job whenever it begins, or comes back from a wait.
    pub(super) fn most(&self) -> Duration {
        sum(&self.of_sections(0..self.sections.len(), |_| true))
    }

    /// The responses under EDF, with the most that sections block for every blocking; where every deadline is met, no longer than that.
    pub(super) fn by_deadline(
        &self,
        tasks: &[Sporadic],
        blocking: Duration,
        withheld: &dyn Withheld,
        mut effort: Effort,
    ) -> Vec<Option<Duration>> {
        let all = blocking.checked_add(self.most()).unwrap_or(Duration::MAX);
        let exact = edf_response::responses(tasks, all, withheld, &mut effort.clone());
        let fits = self.by_demand(tasks, blocking, withheld, &mut effort) == Demand::Fits;
        let one = |i: usize| {
            let response = exact.as_ref().map(|all| all[i]);
            let deadline = fits.then_some(tasks[i].deadline);
            response.into_iter().chain(deadline).min()
        };
        (0..tasks.len()).map(one).collect()
    }
}

/// How long these block in all.
fn sum(blockers: &[(usize, Duration)]) -> Duration {
    let lengths = blockers.iter().map(|(_, length)| *length);
    lengths.fold(Duration::ZERO, |sum, one| sum.checked_add(one).unwrap_or(Duration::MAX))
}

/// An entry under way, and these.
fn blocking_terms(entry: Duration, blockers: &[(usize, Duration)]) -> Vec<Term> {
    let ns = |time: Duration| i128::from(time.as_nanos());
    let whose = blockers.iter().map(|(k, length)| Term::once(Source::Blocking(Some(*k)), ns(*length)));
    std::iter::once(Term::once(Source::EntryUnderWay, ns(entry))).chain(whose).collect()
}

/// By resource: the most urgent task, by its place, that the resource keeps off or that may wait for it.
fn ceilings(system: &System, places: &[usize]) -> Vec<usize> {
    let scheduling = &system.scheduling;
    let uses = |n: usize, resource: usize| scheduling.sections_of(n).iter().any(|it| it.resource == resource);
    let one = |resource: usize| {
        let highest = places.iter().position(|n| uses(*n, resource)).unwrap_or(places.len());
        match scheduling.resources[resource].protocol {
            ResourceProtocol::NonPreemptive | ResourceProtocol::Fmlp => 0,
            ResourceProtocol::Msrp if scheduling.spans_cores(resource, &system.tasks) => 0,
            ResourceProtocol::Ceiling | ResourceProtocol::Inheritance | ResourceProtocol::Msrp => highest,
        }
    };
    let mut all: Vec<usize> = (0..scheduling.resources.len()).map(one).collect();
    // Whoever waits for what lies around waits for what lies inside, since its holder does.
    for _ in 0..all.len() {
        for sections in places.iter().map(|n| scheduling.sections_of(*n)) {
            for outer in
                sections.iter().filter(|it| scheduling.resources[it.resource].protocol == ResourceProtocol::Inheritance)
            {
                for inner in sections.iter().filter(|inner| outer.holds(inner)) {
                    all[inner.resource] = all[inner.resource].min(all[outer.resource]);
                }
            }
        }
    }
    all
}
