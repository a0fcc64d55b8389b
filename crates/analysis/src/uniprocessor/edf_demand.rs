//! Processor demand under earliest deadline first, searched backwards (QPA).
//!
//! Baruah, Mok and Rosier 1990: a set is schedulable on one processor exactly if in every window t the demand
//! h(t) = Σ max(0, 1 + ⌊(t + Jᵢ − Dᵢ)/Tᵢ⌋)·Cᵢ is at most t. Zhang and Burns, "Schedulability analysis for real-time
//! systems with EDF scheduling", IEEE TC 58(9), 2009 (QPA): start at the last deadline within the longest busy
//! period and jump to h(t) while h(t) < t; the set fails exactly if the search stops above the first deadline.
//!
//! Here h carries two more terms that do not fall as t grows: a blocking term B and what the processor withholds in
//! a window t. QPA needs nothing of h but that it does not fall, so it stays complete for the extended demand; the
//! test is then sufficient. Only deadlines are looked at, since nothing has to be finished in between.

use crate::effort::Effort;
use crate::task::{to_duration, withheld, withheld_terms, Sporadic, Withheld};
use crate::terms::{Source, Term, Terms};
use crate::uniprocessor::{busy_period, overloaded};
use tactus_time::Duration;

/// What the demand test found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Demand {
    /// Every deadline is met.
    Fits,
    /// Some window asks for more than it offers.
    Exceeds {
        /// Length of the window, from the start of a busy period to a deadline.
        window: Duration,
        /// What may have to be done in it.
        demand: Duration,
    },
    /// The utilisation is over one: no window has to be named.
    Overload,
    /// The search ran out of effort.
    Undecided,
}

/// Judges the tasks under EDF with blocking B on a processor that withholds time.
pub fn schedulable(tasks: &[Sporadic], blocking: Duration, processor: &dyn Withheld, effort: &mut Effort) -> Demand {
    if overloaded(tasks) {
        return Demand::Overload;
    }
    let undisturbed = blocking.is_zero() && processor.at_most(Duration::MAX).is_zero();
    if undisturbed && tasks.iter().all(|τ| τ.deadline >= τ.period && τ.jitter.is_zero()) {
        // Liu and Layland 1973, theorem 7.
        return Demand::Fits;
    }
    let b = i128::from(blocking.as_nanos());
    let Some(l) = busy_period(tasks, b, processor, effort) else {
        return Demand::Undecided;
    };
    let h = |t: i128| b + tasks.iter().map(|τ| jobs_due(τ, t) * τ.c()).sum::<i128>() + withheld(processor, t);
    at_deadlines(tasks, l, effort, h)
}

/// The terms of the demand in the window with the least room, of those that the search for the i-th task's bound looks at. `None` where it looks at
/// none, or not all fit.
pub fn terms(
    tasks: &[Sporadic],
    i: usize,
    blocking: Duration,
    processor: &dyn Withheld,
    effort: &mut Effort,
) -> Option<Terms> {
    let b = i128::from(blocking.as_nanos());
    let l = busy_period(tasks, b, processor, effort)?;
    let mut tightest = Tightest::default();
    let h = |t: i128| b + tasks.iter().map(|τ| jobs_due(τ, t) * τ.c()).sum::<i128>() + withheld(processor, t);
    let found = at_deadlines(tasks, l, effort, |t| tightest.looked_at(t, h(t)));
    let t = tightest.window().filter(|_| found == Demand::Fits)?;
    Some(terms_of_window((tasks, i), t, [Term::once(Source::Blocking(None), b)], processor))
}

/// What a window's demand adds up from.
pub(crate) fn terms_of_window(
    (tasks, i): (&[Sporadic], usize),
    t: i128,
    blocking: impl IntoIterator<Item = Term>,
    processor: &dyn Withheld,
) -> Terms {
    let jobs = tasks.iter().enumerate().map(|(j, τ)| {
        let source = if j == i { Source::Own } else { Source::Other(j) };
        Term::new(source, jobs_due(τ, t), τ.c())
    });
    Terms::demand(t, jobs.chain(blocking).chain(withheld_terms(processor, t)).collect())
}

/// The window with the least room that a search has looked at.
#[derive(Default)]
pub(crate) struct Tightest(Option<(i128, i128)>);

impl Tightest {
    /// Takes a look at a window, and gives its demand back.
    pub(crate) fn looked_at(&mut self, window: i128, demand: i128) -> i128 {
        let room = window - demand;
        if self.0.is_none_or(|(least, _)| room < least) {
            self.0 = Some((room, window));
        }
        demand
    }
    /// Its length.
    pub(crate) fn window(&self) -> Option<i128> {
        self.0.map(|(_, window)| window)
    }
}

/// Whether the demand h(t) fits into each window t that ends at a deadline and is no longer than `longest`, the last ones first.
pub(super) fn at_deadlines(
    tasks: &[Sporadic],
    longest: i128,
    effort: &mut Effort,
    mut h: impl FnMut(i128) -> i128,
) -> Demand {
    let mut before = longest + 1;
    loop {
        if !effort.spend(2 * tasks.len()) {
            return Demand::Undecided;
        }
        let Some(t) = last_deadline_before(tasks, before) else {
            return Demand::Fits;
        };
        let demand = h(t);
        if demand > t {
            return Demand::Exceeds { window: to_duration(t), demand: to_duration(demand) };
        }
        // No deadline in (h(t), t) can fail, for there h ≤ h(t).
        before = if demand < t { demand + 1 } else { t };
    }
}

/// How many jobs have arrival, or release at the latest, and deadline in a window of length t.
pub(crate) fn jobs_due(τ: &Sporadic, t: i128) -> i128 {
    (1 + (t + τ.j() - τ.d()).div_euclid(τ.t())).max(0)
}

/// The last deadline of a synchronous arrival sequence that lies before `limit`.
pub(crate) fn last_deadline_before(tasks: &[Sporadic], limit: i128) -> Option<i128> {
    tasks
        .iter()
        .filter_map(|τ| {
            // Deadlines of a task whose first arrival was J before the window: kT + D − J, the first not before 0.
            let first = τ.d() - τ.j();
            if first >= limit {
                return None;
            }
            let t = first + (limit - 1 - first).div_euclid(τ.t()) * τ.t();
            Some(t.max(0))
        })
        .filter(|&t| t < limit)
        .max()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::Dedicated;

    fn judge(tasks: &[(u64, u64, u64)]) -> Demand {
        let tasks: Vec<_> = tasks
            .iter()
            .map(|&(c, t, d)| Sporadic::new(Duration::from_nanos(c), Duration::from_nanos(t), Duration::from_nanos(d)))
            .collect();
        schedulable(&tasks, Duration::ZERO, &Dedicated, &mut Effort::default())
    }

    #[test]
    fn full_utilisation_with_deadlines_at_periods_fits() {
        assert_eq!(judge(&[(1, 2, 2), (1, 3, 3), (1, 6, 6)]), Demand::Fits);
        assert_eq!(judge(&[(1, 2, 2), (1, 3, 3), (1, 5, 5)]), Demand::Overload);
    }

    #[test]
    fn the_window_that_fails_is_named() {
        // h(5) = 2 + 2 + 2: in five units six have to be done; no later window fails.
        assert_eq!(judge(&[(2, 4, 3), (2, 6, 4), (1, 12, 5)]), Demand::Fits);
        assert_eq!(
            judge(&[(2, 8, 3), (2, 12, 4), (2, 24, 5)]),
            Demand::Exceeds { window: Duration::from_nanos(5), demand: Duration::from_nanos(6) }
        );
    }
}
