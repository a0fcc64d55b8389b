//! First come, first served on one processor: response times.
//!
//! George and Minet, "A FIFO worst case analysis for a hard real-time distributed problem with consistency constraints", ICDCS
//! 1997; verified for Prosa by Bedarkar et al., "From intuition to Coq: a case study in verified response-time analysis of FIFO scheduling", RTSS
//! 2022. A job that arrives a after the start of its busy period waits for all that arrived until then, and for nothing else:
//!
//! ```text
//! F(a) = B + Σⱼ (1 + ⌊a/Tⱼ⌋)·Cⱼ + withheld(F(a)),   R = max_a F(a) − a
//! ```
//!
//! over the arrivals a in the longest busy period. Ties are broken against the job, so that R is the same for all tasks.
//! Assumes independent tasks without jitter.

use crate::effort::{Effort, HORIZON};
use crate::task::{to_duration, withheld, withheld_terms, Sporadic, Withheld};
use crate::terms::{Source, Term, Terms};
use crate::uniprocessor::busy_period;
use tactus_time::Duration;

/// The bound for every task. `None` where the busy period does not end or the effort did not do, or a task has jitter.
pub fn response(
    tasks: &[Sporadic],
    blocking: Duration,
    processor: &dyn Withheld,
    effort: &mut Effort,
) -> Option<Duration> {
    let (response, ..) = worst(tasks, blocking, processor, effort)?;
    Some(to_duration(response))
}

/// The terms of [`response`] as a bound of the i-th task.
pub fn terms(
    tasks: &[Sporadic],
    i: usize,
    blocking: Duration,
    processor: &dyn Withheld,
    effort: &mut Effort,
) -> Option<Terms> {
    let (_, a, finish) = worst(tasks, blocking, processor, effort)?;
    let jobs = tasks.iter().enumerate().map(|(j, τ)| {
        let source = if j == i { Source::Own } else { Source::Other(j) };
        Term::new(source, jobs_until(τ, a), τ.c())
    });
    let more = [Term::once(Source::Blocking(None), i128::from(blocking.as_nanos())), Term::once(Source::Arrival, a)];
    Some(Terms::response(finish, jobs.chain(more).chain(withheld_terms(processor, finish)).collect()))
}

/// How many jobs arrive until a.
fn jobs_until(τ: &Sporadic, a: i128) -> i128 {
    1 + a / τ.t()
}

/// The longest response, the arrival that has it, and its end.
fn worst(
    tasks: &[Sporadic],
    blocking: Duration,
    processor: &dyn Withheld,
    effort: &mut Effort,
) -> Option<(i128, i128, i128)> {
    if tasks.iter().any(|τ| !τ.jitter.is_zero()) {
        return None;
    }
    let b = i128::from(blocking.as_nanos());
    let l = busy_period(tasks, b, processor, effort)?;
    let mut arrivals: Vec<i128> = Vec::new();
    for τ in tasks {
        if !effort.spend(usize::try_from(l / τ.t()).ok()?) {
            return None;
        }
        arrivals.extend((0..).map(|k| k * τ.t()).take_while(|a| *a < l));
    }
    arrivals.sort_unstable();
    arrivals.dedup();
    let (mut worst, mut finish) = ((0, 0, b), b);
    for a in arrivals {
        let asked: i128 = b + tasks.iter().map(|τ| jobs_until(τ, a) * τ.c()).sum::<i128>();
        finish = finish.max(asked);
        // F does not fall as a grows, so the last one is a start below this fixed point.
        loop {
            if finish > HORIZON || !effort.spend(tasks.len()) {
                return None;
            }
            let next = asked + withheld(processor, finish);
            if next <= finish {
                break;
            }
            finish = next;
        }
        worst = worst.max((finish - a, a, finish));
    }
    Some(worst)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::Dedicated;

    #[test]
    fn the_last_of_those_that_come_together_waits_for_all() {
        let ms = Duration::from_millis;
        let r = |list: &[(u64, u64)]| {
            let tasks: Vec<_> = list.iter().map(|&(c, t)| Sporadic::implicit(ms(c), ms(t))).collect();
            response(&tasks, Duration::ZERO, &Dedicated, &mut Effort::default())
        };
        assert_eq!(r(&[(2, 10), (5, 15), (10, 40)]), Some(ms(17)));
        // At full load the backlog of a busy period never exceeds what comes at once.
        assert_eq!(r(&[(1, 2), (3, 6)]), Some(ms(4)));
        assert_eq!(r(&[(2, 3), (3, 6)]), None);
    }
}
