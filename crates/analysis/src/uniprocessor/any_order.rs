//! Any work-conserving order on one processor: a job ends within its busy period.
//!
//! Whatever the order, a processor that never idles beside work is done with all that came when its busy period ends, so no response
//! is longer than the longest busy period (Lehoczky 1990). Met by the job that the order always puts last.

use crate::effort::Effort;
use crate::task::{ceil_div, to_duration, withheld_terms, Sporadic, Withheld};
use crate::terms::{Source, Term, Terms};
use tactus_time::Duration;

/// The bound for every task. `None` where the busy period does not end or the effort did not do.
pub fn response(
    tasks: &[Sporadic],
    blocking: Duration,
    processor: &dyn Withheld,
    effort: &mut Effort,
) -> Option<Duration> {
    let jitter = tasks.iter().map(|τ| τ.jitter).max().unwrap_or(Duration::ZERO);
    let l = super::busy_period(tasks, i128::from(blocking.as_nanos()), processor, effort)?;
    to_duration(l).checked_add(jitter)
}

/// The terms of [`response`] as a bound of the i-th task.
pub fn terms(
    tasks: &[Sporadic],
    i: usize,
    blocking: Duration,
    processor: &dyn Withheld,
    effort: &mut Effort,
) -> Option<Terms> {
    let l = super::busy_period(tasks, i128::from(blocking.as_nanos()), processor, effort)?;
    let jobs = tasks.iter().enumerate().map(|(j, τ)| {
        let source = if j == i { Source::Own } else { Source::Other(j) };
        Term::new(source, ceil_div(l + τ.j(), τ.t()), τ.c())
    });
    let more = [
        Term::once(Source::Blocking(None), i128::from(blocking.as_nanos())),
        Term::once(Source::Jitter, tasks.iter().map(Sporadic::j).max().unwrap_or(0)),
    ];
    Some(Terms::response(l, jobs.chain(more).chain(withheld_terms(processor, l)).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::Dedicated;

    #[test]
    fn the_bound_is_the_busy_period() {
        let ms = Duration::from_millis;
        let tasks = [(2, 10), (5, 15), (10, 25)].map(|(c, t)| Sporadic::implicit(ms(c), ms(t)));
        // 17 hold a second job of the first two tasks: 24 and a third: 26, and one of the third task: 36, 43, 45.
        let r = response(&tasks, Duration::ZERO, &Dedicated, &mut Effort::default());
        let rbf = |t: u64| [(2, 10), (5, 15), (10, 25)].iter().map(|(c, p)| t.div_ceil(*p) * c).sum::<u64>();
        let first = (1..1_000).find(|t| rbf(*t) <= *t).unwrap();
        assert_eq!(r, Some(ms(first)));
    }
}
