//! Worst-case response times under preemptive earliest deadline first on one processor.
//!
//! Spuri, "Analysis of deadline scheduled real-time systems", INRIA RR-2772, 1996. The worst response of τᵢ is found
//! in a busy period in which all other tasks are released together at its start and as fast as possible. For a job
//! that arrives at a (its deadline at a + Dᵢ), in Spuri's symbols:
//!
//! ```text
//! Wᵢ(a,t) = Σ_{j≠i, Dⱼ ≤ a+Dᵢ+Jⱼ} min( ⌈(t + Jⱼ)/Tⱼ⌉, 1 + ⌊(a + Dᵢ − Dⱼ + Jⱼ)/Tⱼ⌋ )·Cⱼ
//! Lᵢ(a)   = B + Wᵢ(a, Lᵢ(a)) + (1 + ⌊(a + Jᵢ)/Tᵢ⌋)·Cᵢ + withheld(Lᵢ(a))
//! Rᵢ      = max_a ( Lᵢ(a) − a )
//! ```
//!
//! over a in ∪ⱼ { kTⱼ − Jⱼ + Dⱼ − Dᵢ } within [−Jᵢ, L), L the longest busy period. Ties are broken against τᵢ.
//!
//! **Beside work that runs ahead** ([`Line`]). A soft constant-bandwidth server has its next budget at once, so that no window bounds what
//! it executes; but what it executes by a deadline X after the start of a busy period is at most Q(X + g)/P (Abeni and Buttazzo 1998). So
//! Lᵢ(a) counts that for X = a + Dᵢ, rounded up to eighths of a budget, whose steps are further a to look at. Such work may keep
//! the processor busy for as long as it likes, so that L has to be told: no a beyond counts if all that may be due by a + Dᵢ, or
//! arrive before a, is less than a.
//! Assumptions as for [`crate::uniprocessor::edf_demand`]; deadlines may be longer or shorter than periods.

use crate::effort::{Effort, HORIZON};
use crate::task::{ceil_div, to_duration, withheld, withheld_terms, Sporadic, Withheld};
use crate::terms::{Source, Term, Terms};
use crate::uniprocessor::busy_period;
use tactus_time::Duration;

/// The response-time bound of every task. `None` where the busy period does not end or the effort did not do.
pub fn responses(
    tasks: &[Sporadic],
    blocking: Duration,
    processor: &dyn Withheld,
    effort: &mut Effort,
) -> Option<Vec<Duration>> {
    let b = i128::from(blocking.as_nanos());
    let l = busy_period(tasks, b, processor, effort)?;
    (0..tasks.len()).map(|i| response(tasks, i, b, (&[], l), processor, effort)).collect()
}

/// The terms of the response of the i-th task.
pub fn terms(
    tasks: &[Sporadic],
    i: usize,
    blocking: Duration,
    processor: &dyn Withheld,
    effort: &mut Effort,
) -> Option<Terms> {
    let b = i128::from(blocking.as_nanos());
    let l = busy_period(tasks, b, processor, effort)?;
    let worst = worst(tasks, i, b, (&[], l), processor, effort)?;
    Some(worst.terms(tasks, i, b, withheld_terms(processor, worst.finish).into_iter()))
}

/// The job whose response is longest.
pub(crate) struct Worst {
    /// L − a.
    pub response: i128,
    /// a: its arrival after the start of the busy period.
    pub arrival: i128,
    /// L: its end.
    pub finish: i128,
}

impl Worst {
    /// Takes a job that arrives at `a` and ends at `finish`, if its response is longer.
    pub(crate) fn at(&mut self, a: i128, finish: i128) {
        // The same response, if found with the arrival itself, is the one whose terms are known.
        if finish - a >= self.response {
            *self = Worst { response: finish - a, arrival: a, finish };
        }
    }

    /// How many jobs of each task count, by its place; of the task itself too.
    pub(crate) fn jobs<'w>(&'w self, tasks: &'w [Sporadic], i: usize) -> impl Iterator<Item = (usize, i128)> + 'w {
        let own = &tasks[i];
        tasks.iter().enumerate().map(move |(j, τ)| match j == i {
            true => (j, 1 + (self.arrival + own.j()).div_euclid(own.t())),
            false => (j, jobs_before(own, τ, self.arrival, self.finish)),
        })
    }

    /// What its response adds up from, with what else takes time in its window.
    pub(crate) fn terms(
        &self,
        tasks: &[Sporadic],
        i: usize,
        blocking: i128,
        more: impl Iterator<Item = Term>,
    ) -> Terms {
        let jobs = self.jobs(tasks, i).map(|(j, jobs)| match j == i {
            true => Term::new(Source::Own, jobs, tasks[j].c()),
            false => Term::new(Source::Other(j), jobs, tasks[j].c()),
        });
        // The first job to try arrives J before the start.
        let moved = match self.arrival < 0 {
            true => Term::once(Source::Jitter, -self.arrival),
            false => Term::once(Source::Arrival, self.arrival),
        };
        let all = jobs.chain([Term::once(Source::Blocking(None), blocking), moved]);
        Terms::response(self.finish, all.chain(more).collect())
    }
}

/// How many jobs of another task go before a job that arrives at `a` and ends at `finish`.
pub(crate) fn jobs_before(own: &Sporadic, τ: &Sporadic, a: i128, finish: i128) -> i128 {
    match a + own.d() - τ.d() + τ.j() {
        reach if reach >= 0 => ceil_div(finish + τ.j(), τ.t()).min(1 + reach / τ.t()),
        _ => 0,
    }
}

/// The same beside work that runs ahead; no arrival after `longest` counts.
pub fn responses_beside(
    tasks: &[Sporadic],
    (lines, longest): (&[Line], Duration),
    blocking: Duration,
    processor: &dyn Withheld,
    effort: &mut Effort,
) -> Option<Vec<Duration>> {
    let (b, l) = (i128::from(blocking.as_nanos()), i128::from(longest.as_nanos()));
    (0..tasks.len()).map(|i| response(tasks, i, b, (lines, l), processor, effort)).collect()
}

/// Work of which no more is due by a deadline X than a share of the time until then: Q(X + g)/P.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Line {
    /// Q.
    pub budget: Duration,
    /// P; greater than zero.
    pub period: Duration,
    /// g: how much longer ago it may have begun.
    pub ahead: Duration,
}

impl Line {
    /// Into so many parts a budget is divided.
    const STEPS: i128 = 8;

    fn ns(&self) -> [i128; 3] {
        [self.budget, self.period, self.ahead].map(|d| i128::from(d.as_nanos()))
    }
    /// The most that is due by then, in whole parts of a budget.
    fn due_by(&self, deadline: i128) -> i128 {
        let [q, p, ahead] = self.ns();
        ceil_div(ceil_div((deadline + ahead).max(0) * Line::STEPS, p) * q, Line::STEPS)
    }
    /// The deadlines from `first` on and before `limit` at which that grows.
    fn steps(&self, first: i128, limit: i128) -> impl Iterator<Item = i128> {
        let [_, p, ahead] = self.ns();
        let from = ((first + ahead - 1).max(0) * Line::STEPS / p).max(0);
        let step = move |k: i128| k * p / Line::STEPS + 1 - ahead;
        (from..).map(step).skip_while(move |step| *step < first).take_while(move |step| *step < limit)
    }
}

fn response(
    tasks: &[Sporadic],
    i: usize,
    b: i128,
    (lines, l): (&[Line], i128),
    processor: &dyn Withheld,
    effort: &mut Effort,
) -> Option<Duration> {
    Some(to_duration(worst(tasks, i, b, (lines, l), processor, effort)?.response))
}

fn worst(
    tasks: &[Sporadic],
    i: usize,
    b: i128,
    (lines, l): (&[Line], i128),
    processor: &dyn Withheld,
    effort: &mut Effort,
) -> Option<Worst> {
    let own = &tasks[i];
    let mut worst = Worst { response: b + own.c() + own.j(), arrival: -own.j(), finish: b + own.c() };
    let mut finish = (b + own.c()).max(1);
    let mut arrivals = arrivals_to_try(tasks, own, l, effort)?;
    for line in lines {
        for step in line.steps(own.d() - own.j(), own.d() + l) {
            if !effort.spend(1) {
                return None;
            }
            arrivals.push(step - own.d());
        }
    }
    arrivals.sort_unstable();
    for a in arrivals {
        let jobs = 1 + (a + own.j()).div_euclid(own.t());
        let due = lines.iter().map(|line| line.due_by(a + own.d())).sum::<i128>();
        // Lᵢ(a) does not fall as a grows, so the last one is a start below this fixed point.
        loop {
            if finish > HORIZON || !effort.spend(tasks.len()) {
                return None;
            }
            let mut next = b + jobs * own.c() + due + withheld(processor, finish);
            for (j, τ) in tasks.iter().enumerate() {
                if j != i {
                    next += jobs_before(own, τ, a, finish) * τ.c();
                }
            }
            if next <= finish {
                break;
            }
            finish = next;
        }
        worst.at(a, finish);
    }
    Some(worst)
}

/// The arrivals a at which Lᵢ(a) − a can be largest, ascending.
pub(crate) fn arrivals_to_try(tasks: &[Sporadic], own: &Sporadic, l: i128, effort: &mut Effort) -> Option<Vec<i128>> {
    let first = -own.j();
    let mut arrivals = vec![first];
    for τ in tasks {
        let shift = τ.d() - own.d() - τ.j();
        let mut k = ceil_div(first - shift, τ.t()).max(0);
        while shift + k * τ.t() < l {
            if !effort.spend(1) {
                return None;
            }
            arrivals.push(shift + k * τ.t());
            k += 1;
        }
    }
    arrivals.sort_unstable();
    arrivals.dedup();
    Some(arrivals)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::Dedicated;

    #[test]
    fn the_three_task_example_meets_its_deadlines_under_edf() {
        let ms = Duration::from_millis;
        let tasks = [(2, 10), (5, 15), (10, 25)].map(|(c, t)| Sporadic::implicit(ms(c), ms(t)));
        let r = responses(&tasks, Duration::ZERO, &Dedicated, &mut Effort::default()).unwrap();
        for (τ, r) in tasks.iter().zip(&r) {
            assert!(*r <= τ.deadline && *r >= τ.execution);
        }
        assert!(r[2] > ms(17), "the longest period waits for the others");
    }
}
