//! Two levels of criticality on each core: AMC by response times (AMC-max, else AMC-rtb), EDF-VD by its theorem and by the
//! demand of the mode in which all are served.
//!
//! **What is promised.** A task of level A ends within its bound whatever critical jobs take up to their times at A; one of level B
//! does while they keep to their times at B, and is dropped else. A virtual deadline is what the policy uses
//! (`System::virtual_deadlines`), so that a file's own is judged as it is.
//!
//! **Costs.** Budgets are enforced by what a job is charged, so both of a task's are enlarged by an allowance as under MC² (see
//! [`crate::overhead`]), and go beyond it by one entry at most: C' = C + allowance + E. All time of a core is charged to somebody; one entry under way blocks.

use super::assumed::assumed;
use super::covers::{one, SPORADIC};
use super::declared::{self, Declared};
use super::growth::{self, Growth, SearchBudget};
use super::report::{hundredths, Check, TaskVerdict};
use super::subject::Subject;
use super::{sensitivity, work};
use crate::effort::Effort;
use crate::mixed::{amc_max, amc_rtb, edf_vd, Dual};
use crate::overhead::Charge;
use crate::task::{Dedicated, Sporadic};
use crate::uniprocessor::edf_response;
use tactus_model::{Body, Mixed, System};
use tactus_task::{Bound, Feature, Features};
use tactus_time::{Duration, Level};

/// One core: its tasks, the most urgent first under AMC, with what costs add.
struct Core {
    scheme: Mixed,
    places: Vec<usize>,
    tasks: Vec<Dual>,
    /// Until a core gives up level B, under EDF-VD.
    deadlines: Vec<Duration>,
    entry: Duration,
}

/// What is promised for a task of a core.
#[derive(Clone, Copy, Default)]
struct Promise {
    response: Option<Duration>,
    /// While all are served.
    low: Option<Duration>,
}

/// `entry`: as bounds count it; `budgeted`: as budgets hold it.
fn cores(
    system: &System,
    scheme: Mixed,
    (entry, budgeted): (Duration, Duration),
    check: Option<&mut Check>,
) -> Vec<Core> {
    let virtual_deadlines = system.virtual_deadlines();
    let mut allowances = vec![Duration::ZERO; system.tasks.len()];
    let mut all = Vec::with_capacity(system.cores);
    for core in 0..system.cores {
        let on = |n: &usize| system.tasks[*n].core.is_some_and(|c| c.index() == core);
        let mut places: Vec<usize> = (0..system.tasks.len()).filter(on).collect();
        let instants = work::instants(system, &places);
        let charge = Charge { entry: budgeted, instants: &instants };
        for &n in &places {
            let task = &system.tasks[n];
            allowances[n] = match task.body {
                Body::Workload => charge.of_workload(),
                Body::Component(_) => charge.of_component(task.deadline, 1, 0),
            };
        }
        if scheme == Mixed::Amc {
            let priority = |n: usize| system.scheduling.places.get(n).map_or(0, |place| place.priority);
            places.sort_by_key(|&n| (std::cmp::Reverse(priority(n)), n));
        }
        let one = |&n: &usize| {
            let t = &system.tasks[n];
            let more = |level| assumed(t, level).checked_add(allowances[n]).and_then(|c| c.checked_add(entry));
            let critical = t.level == Some(Level::A);
            let low = more(Level::B).unwrap_or(Duration::MAX);
            let high = if critical { more(Level::A).unwrap_or(Duration::MAX) } else { low };
            Dual { low, high, period: t.period, deadline: t.deadline, critical }
        };
        let tasks = places.iter().map(one).collect();
        let deadlines = places.iter().map(|&n| virtual_deadlines[n]).collect();
        all.push(Core { scheme, places, tasks, deadlines, entry });
    }
    if let Some(check) = check {
        check.allowances = allowances;
    }
    all
}

impl Core {
    fn judge(&self, tasks: &[Dual], effort: &mut Effort) -> Vec<Promise> {
        match self.scheme {
            Mixed::Amc => self.by_priority(tasks, effort),
            Mixed::EdfVd => self.by_deadline(tasks, effort),
        }
    }

    fn by_priority(&self, tasks: &[Dual], effort: &mut Effort) -> Vec<Promise> {
        // An entry under way: the most urgent task of all, once.
        let first =
            Dual { low: self.entry, high: self.entry, period: Duration::MAX, deadline: Duration::MAX, critical: true };
        let blocked: Vec<Dual> = if self.entry.is_zero() { Vec::new() } else { vec![first] };
        let set: Vec<Dual> = blocked.iter().chain(tasks).copied().collect();
        let sharper = amc_max::promises(&set, &mut effort.clone());
        let simple = amc_rtb::promises(&set, effort);
        let one = |(i, τ): (usize, &Dual)| {
            let (a, b) = (sharper[i + blocked.len()], simple[i + blocked.len()]);
            let high = [a.high, b.high].into_iter().flatten().min();
            Promise { response: if τ.critical { high } else { a.low }, low: a.low }
        };
        tasks.iter().enumerate().map(one).collect()
    }

    fn by_deadline(&self, tasks: &[Dual], effort: &mut Effort) -> Vec<Promise> {
        let none = vec![Promise::default(); tasks.len()];
        let by = |(τ, v): (&Dual, &Duration)| Sporadic::new(τ.low, τ.period, *v);
        let served: Vec<Sporadic> = tasks.iter().zip(&self.deadlines).map(by).collect();
        let Some(low) = edf_response::responses(&served, self.entry, &Dedicated, effort) else { return none };
        if low.iter().zip(&served).any(|(r, τ)| *r > τ.deadline) {
            let late = |r: &Duration| Promise { response: None, low: Some(*r) };
            return low.iter().map(late).collect();
        }
        let after = edf_vd::holds_after_a_change(tasks, &self.deadlines, self.entry);
        let one = |(τ, r): (&Dual, &Duration)| Promise {
            response: if τ.critical { after.then_some(τ.deadline) } else { Some(*r) },
            low: Some(*r),
        };
        tasks.iter().zip(&low).map(one).collect()
    }

    fn holds(&self, tasks: &[Dual], effort: &mut Effort) -> bool {
        self.judge(tasks, effort).iter().zip(tasks).all(|(p, τ)| p.response.is_some_and(|r| r <= τ.deadline))
    }

    /// The set as searches take it: a task's time at its own level is what changes.
    fn sporadic(&self) -> Vec<Sporadic> {
        self.tasks
            .iter()
            .map(|τ| Sporadic::new(if τ.critical { τ.high } else { τ.low }, τ.period, τ.deadline))
            .collect()
    }

    fn with(&self, set: &[Sporadic]) -> Vec<Dual> {
        let one = |(τ, s): (&Dual, &Sporadic)| match τ.critical {
            true => Dual { high: s.execution, low: τ.low.min(s.execution), ..*τ },
            false => Dual { low: s.execution, high: s.execution, ..*τ },
        };
        self.tasks.iter().zip(set).map(one).collect()
    }
}

const BY_CRITICALITY: Features =
    SPORADIC.without(Features::of(&[Feature::Skip, Feature::Stop, Feature::Kill])).and(one(Feature::Reconfiguration));

const fn test(scheme: Mixed, critical: bool, source: &'static str, covers: Features) -> Declared {
    let covers = BY_CRITICALITY.and(covers);
    Declared { name: explanation(scheme, critical), source, place: "two levels of criticality", covers, exact: false }
}

/// The tests of tasks of level A, and of level B.
const AMC: [Declared; 2] = [
    test(Mixed::Amc, true, "Baruah, Burns and Davis 2011", one(Feature::Amc)),
    test(Mixed::Amc, false, "Joseph and Pandya 1986; Lehoczky 1990", one(Feature::Amc)),
];
const EDF_VD: [Declared; 2] = [
    test(Mixed::EdfVd, true, "Baruah et al. 2012", Features::of(&[Feature::EdfVd, Feature::VirtualDeadline])),
    test(Mixed::EdfVd, false, "Spuri 1996", Features::of(&[Feature::EdfVd, Feature::VirtualDeadline])),
];
/// All of them.
pub(crate) const ALL: &[Declared] = &[AMC[0], AMC[1], EDF_VD[0], EDF_VD[1]];

/// Why no test covers a task, if none does.
fn uncovered(subject: &Subject, scheme: Mixed, n: usize, critical: bool) -> Option<String> {
    let [of_a, of_b] = match scheme {
        Mixed::Amc => AMC,
        Mixed::EdfVd => EDF_VD,
    };
    let test = if critical { of_a } else { of_b };
    subject.unknown(n).or_else(|| declared::uncovered(subject, n, &[test]))
}

pub(super) fn check(subject: &Subject, scheme: Mixed, entries: (Duration, Duration), check: &mut Check) {
    let system = subject.system;
    let all = cores(system, scheme, entries, Some(check));
    for (number, core) in all.iter().enumerate() {
        let promises = core.judge(&core.tasks, &mut Effort::of_core(system.cores));
        let mut remedy = None;
        for ((&n, promise), τ) in core.places.iter().zip(promises).zip(&core.tasks) {
            let verdict = &mut check.tasks[n];
            if let Some(why) = uncovered(subject, scheme, n, τ.critical) {
                verdict.verdict = TaskVerdict::Untested(why);
                continue;
            }
            let unbounded = || match promise.low {
                _ if scheme == Mixed::EdfVd && τ.deadline != τ.period => {
                    "the theorem of EDF-VD is for deadlines that are periods".into()
                }
                Some(low) if τ.critical => format!(
                    "it ends within {low} while all are served, but not in time after a critical job has taken longer"
                ),
                Some(_) | None => "it is not in time even while all are served".into(),
            };
            let by = explanation(scheme, τ.critical);
            verdict.verdict = TaskVerdict::of(promise.response.map(Bound::Response), verdict.deadline, by, unbounded);
            let TaskVerdict::Fails { why: binds, .. } = &verdict.verdict else { continue };
            let what = format!(
                "task `{}` of level {} on core {number} fails: {binds}",
                verdict.name,
                if τ.critical { "A" } else { "B" }
            );
            let advice = remedy.take().unwrap_or_else(|| {
                let step = || Effort::of_core(system.cores).step();
                let scale =
                    sensitivity::largest_scale(&core.sporadic(), |set| core.holds(&core.with(set), &mut step()));
                sensitivity::remedy(scale, &format!(" on core {number}, each at its own level,"))
            });
            check.fail(system, n, what, advice);
            remedy = Some("see the remedy for this core above".into());
        }
    }
}

/// The line that sums the check up.
pub(super) fn summary(scheme: Mixed, check: &Check) -> String {
    let most = check.cores.iter().map(|c| (c.levels[0], c.levels[1])).max().unwrap_or((0, 0));
    let label = if scheme == Mixed::Amc { "AMC" } else { "EDF-VD" };
    format!("{label} · at most A {} and A+B {} per core", hundredths(most.0), hundredths(most.1))
}

const fn explanation(scheme: Mixed, critical: bool) -> &'static str {
    match (scheme, critical) {
        (Mixed::Amc, true) => "AMC-max, whatever critical jobs take (Baruah, Burns and Davis)",
        (Mixed::Amc, false) => "response-time analysis, while critical jobs keep to B",
        (Mixed::EdfVd, true) => "EDF-VD, whatever critical jobs take (Baruah et al.)",
        (Mixed::EdfVd, false) => "EDF response times (Spuri), while critical jobs keep to B",
    }
}

/// By how much each task's time at its own level may grow, so that its core still passes.
pub(super) fn growth(
    system: &System,
    scheme: Mixed,
    entries: (Duration, Duration),
    search: &mut SearchBudget,
    growth: &mut [Growth],
) {
    let all = cores(system, scheme, entries, None);
    for (number, core) in all.iter().enumerate() {
        search.part(all.len() - number);
        let set = core.sporadic();
        for (i, &n) in core.places.iter().enumerate() {
            let mut passes = |set: &[Sporadic]| {
                search.ask(Effort::of_core(system.cores), |effort| core.holds(&core.with(set), effort))
            };
            growth[n] = growth::of(&set, i, set[i].deadline, &mut passes);
        }
    }
}
