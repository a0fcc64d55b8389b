//! What the jobs of one core keep from each other once they have begun: preemption thresholds, and critical sections under the
//! ceiling protocol (the stack resource policy under EDF) or without preemption.
//!
//! All are ceilings that a job holds, and a job may begin only if it is above all that are held. So a job is blocked once at most,
//! before it begins, by one less urgent job that has begun (Baker 1991, theorem 6): for its whole time if its threshold reaches the
//! job, and else for one section whose ceiling does. Sections inside others are counted by themselves, those around them too.

use crate::blocking::ceiling::edf_schedulable_with;
use crate::effort::Effort;
use crate::task::{Sporadic, Withheld};
use crate::uniprocessor::edf_demand::Demand;
use crate::uniprocessor::{edf_response, fixed_priority, preemption_threshold};
use tactus_model::{ResourceProtocol, System};
use tactus_time::Duration;

/// The ceilings of one core, whose tasks are in the order of their urgency.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Ceilings {
    /// By task: how many of the first tasks may preempt it once it has begun.
    preempting: Vec<usize>,
    /// By task: its critical sections.
    sections: Vec<Vec<Section>>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Section {
    /// With what it takes until its end is noticed and acted upon.
    length: Duration,
    /// The most urgent task that it keeps off; all less urgent ones are kept off too.
    ceiling: usize,
}

impl Ceilings {
    /// Those of the tasks at these places; nothing if there are none. `entry` is what an entry of the scheduler costs: a section may
    /// be found too long only that much later, and its end may have to be told.
    pub(super) fn of(system: &System, places: &[usize], entry: Duration) -> Option<Ceilings> {
        let scheduling = &system.scheduling;
        let place = |n: &usize| scheduling.places.get(*n).copied().unwrap_or_default();
        let uses = |n: usize, resource: usize| scheduling.sections_of(n).iter().any(|it| it.resource == resource);
        let ceiling = |resource: usize| match scheduling.resources[resource].protocol {
            ResourceProtocol::NonPreemptive => 0,
            ResourceProtocol::Ceiling => places.iter().position(|n| uses(*n, resource)).unwrap_or(places.len()),
        };
        let some = |n: &usize| place(n).threshold.is_some() || !scheduling.sections_of(*n).is_empty();
        places.iter().any(some).then(|| {
            let above = |(i, n): (usize, &usize)| match place(n).threshold {
                Some(threshold) => places.iter().filter(|other| place(other).priority > threshold).count(),
                None => i,
            };
            let section = |it: &tactus_model::Section| Section {
                length: it.length.checked_add(entry * 2).unwrap_or(Duration::MAX),
                ceiling: ceiling(it.resource),
            };
            let sections = |n: &usize| scheduling.sections_of(*n).iter().map(section).collect();
            Ceilings {
                preempting: places.iter().enumerate().map(above).collect(),
                sections: places.iter().map(sections).collect(),
            }
        })
    }

    /// The test that gives the responses under fixed priorities.
    pub(super) fn explanation(&self) -> &'static str {
        match self.sections.iter().all(Vec::is_empty) {
            true => "response times with preemption thresholds (Wang and Saksena)",
            false => "response-time analysis with one blocking at a ceiling (Baker)",
        }
    }

    /// For how long less urgent jobs that have begun keep the i-th task from its core.
    fn blocking(&self, tasks: &[Sporadic], i: usize) -> Duration {
        let below = i + 1..tasks.len();
        let whole = below.clone().filter(|k| i >= self.preempting[*k]).map(|k| tasks[k].execution);
        let sections = below.flat_map(|k| &self.sections[k]).filter(|section| section.ceiling <= i);
        whole.chain(sections.map(|section| section.length)).max().unwrap_or(Duration::ZERO)
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

    /// Whether every deadline is met under EDF.
    pub(super) fn by_demand(
        &self,
        tasks: &[Sporadic],
        blocking: Duration,
        withheld: &dyn Withheld,
        effort: &mut Effort,
    ) -> Demand {
        let system = i128::from(blocking.as_nanos());
        // Tasks are in the order of their relative deadlines: a section reaches t if its ceiling is due within t.
        let of = |t: i128| {
            let later = tasks.iter().zip(&self.sections).filter(|(τ, _)| τ.d() > t).flat_map(|(_, sections)| sections);
            let reaching = later.filter(|it| tasks.get(it.ceiling).is_some_and(|τ| τ.d() <= t));
            system + reaching.map(|it| i128::from(it.length.as_nanos())).max().unwrap_or(0)
        };
        let longest = i128::from(self.longest().as_nanos());
        edf_schedulable_with(tasks, (system + longest, &of), withheld, effort)
    }

    /// The longest section.
    pub(super) fn longest(&self) -> Duration {
        self.sections.iter().flatten().map(|section| section.length).max().unwrap_or(Duration::ZERO)
    }

    /// The responses under EDF, with the longest section of all for every blocking; where every deadline is met, no longer than that.
    pub(super) fn by_deadline(
        &self,
        tasks: &[Sporadic],
        blocking: Duration,
        withheld: &dyn Withheld,
        mut effort: Effort,
    ) -> (Vec<Option<Duration>>, &'static str) {
        let all = blocking.checked_add(self.longest()).unwrap_or(Duration::MAX);
        let exact = edf_response::responses(tasks, all, withheld, &mut effort.clone());
        let fits = self.by_demand(tasks, blocking, withheld, &mut effort) == Demand::Fits;
        let one = |i: usize| {
            let response = exact.as_ref().map(|all| all[i]);
            let deadline = fits.then_some(tasks[i].deadline);
            response.into_iter().chain(deadline).min()
        };
        ((0..tasks.len()).map(one).collect(), "EDF with the stack resource policy (Baruah; Spuri)")
    }
}
