//! Exact response-time analysis for preemptive fixed priorities on one processor.
//!
//! Joseph and Pandya 1986 and Audsley et al. 1993 for deadlines up to the period; Lehoczky 1990 (busy periods) for
//! longer ones; Tindell, Burns and Wellings, "An extendible approach for analyzing fixed priority hard real-time
//! tasks", 1994, for jitter and blocking. In its symbols, for job q = 0, 1, … of the level-i busy period:
//!
//! ```text
//! w(q) = Bᵢ + (q+1)·Cᵢ + Σ_{j ∈ hp(i)} ⌈(w(q) + Jⱼ)/Tⱼ⌉·Cⱼ + withheld(w(q))
//! Rᵢ   = max_q ( Jᵢ + w(q) − q·Tᵢ ),   up to the first q with Jᵢ + w(q) ≤ (q+1)·Tᵢ
//! ```
//!
//! Assumptions: independent tasks that do not suspend themselves, a job delayed by less urgent work for at most B
//! per busy period. `withheld` is what the processor keeps for others in a window that starts with the busy period.
//! Without it the bound is exact for sporadic tasks: it is met when all are released together.

use crate::effort::{Effort, HORIZON};
use crate::task::{ceil_div, to_duration, withheld, withheld_terms, Sporadic, Withheld};
use crate::terms::{Source, Term, Terms};
use crate::uniprocessor::overloaded;
use tactus_time::Duration;

/// The worst-case response time of `task` below the tasks `higher` (equal priorities count as higher).
///
/// `None` where the busy period does not end (overload), or the effort did not do.
pub fn response(
    task: &Sporadic,
    higher: &[Sporadic],
    blocking: Duration,
    processor: &dyn Withheld,
    effort: &mut Effort,
) -> Option<Duration> {
    Some(worst(task, higher, blocking, processor, effort)?.response)
}

/// The terms of [`response`]; tasks are counted by their places in `higher`.
pub fn terms(
    task: &Sporadic,
    higher: &[Sporadic],
    blocking: Duration,
    processor: &dyn Withheld,
    effort: &mut Effort,
) -> Option<Terms> {
    let worst = worst(task, higher, blocking, processor, effort)?;
    let others = higher.iter().enumerate();
    let others = others.map(|(j, τ)| Term::new(Source::Other(j), arrivals(τ, worst.window), τ.c()));
    Some(worst.terms(task, i128::from(blocking.as_nanos()), others.chain(withheld_terms(processor, worst.window))))
}

/// How many jobs arrive in a window at most.
fn arrivals(τ: &Sporadic, w: i128) -> i128 {
    ceil_div(w + τ.j(), τ.t())
}

fn worst(
    task: &Sporadic,
    higher: &[Sporadic],
    blocking: Duration,
    processor: &dyn Withheld,
    effort: &mut Effort,
) -> Option<Longest> {
    if overloaded(higher.iter().chain([task])) {
        return None;
    }
    let b = i128::from(blocking.as_nanos());
    let others =
        |w: i128| -> i128 { higher.iter().map(|τ| arrivals(τ, w) * τ.c()).sum::<i128>() + withheld(processor, w) };
    longest(task, (b, i128::MAX), (effort, higher.len()), others)
}

/// The longest response of a busy period.
pub(super) struct Longest {
    pub response: Duration,
    /// q: which job has it.
    pub job: i128,
    /// w(q): from the start of the busy period to its end.
    pub window: i128,
}

impl Longest {
    /// What its response adds up from, with what others take of its window.
    pub(super) fn terms(&self, task: &Sporadic, blocking: i128, others: impl Iterator<Item = Term>) -> Terms {
        let own = [
            Term::new(Source::Own, self.job + 1, task.c()),
            Term::once(Source::Blocking(None), blocking),
            Term::once(Source::Jitter, task.j()),
            Term::once(Source::Arrival, self.job * task.t()),
        ];
        Terms::response(self.window, own.into_iter().chain(others).collect())
    }
}

/// The longest response of the jobs of a busy period that begins with so much blocking, where others take `others(w)` of a window w.
/// `None` if it is over `most`, the period does not end, or the effort does not do, of which each step takes `terms`.
pub(super) fn longest(
    task: &Sporadic,
    (blocking, most): (i128, i128),
    (effort, terms): (&mut Effort, usize),
    others: impl Fn(i128) -> i128,
) -> Option<Longest> {
    let mut worst = (0, 0, 0);
    let mut w = blocking;
    for q in 0.. {
        let own = (q + 1) * task.c();
        // The window of job q holds that of job q − 1 and one more execution: a start below the fixed point.
        w += task.c();
        loop {
            if w > HORIZON || task.j() + w - q * task.t() > most || !effort.spend(terms) {
                return None;
            }
            let next = blocking + own + others(w);
            if next <= w {
                break;
            }
            w = next;
        }
        worst = worst.max((task.j() + w - q * task.t(), q, w));
        if task.j() + w <= (q + 1) * task.t() {
            break;
        }
    }
    let (response, job, window) = worst;
    Some(Longest { response: to_duration(response), job, window })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::Dedicated;

    fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    fn responses(tasks: &[Sporadic], blocking: Duration) -> Vec<Option<Duration>> {
        (0..tasks.len())
            .map(|i| response(&tasks[i], &tasks[..i], blocking, &Dedicated, &mut Effort::default()))
            .collect()
    }

    #[test]
    fn the_three_task_example_gives_2_7_and_26() {
        let tasks = [(2, 10), (5, 15), (10, 25)].map(|(c, t)| Sporadic::implicit(ms(c), ms(t)));
        assert_eq!(responses(&tasks, Duration::ZERO), [Some(ms(2)), Some(ms(7)), Some(ms(26))]);
    }

    #[test]
    fn a_later_job_of_the_busy_period_may_be_the_worst() {
        // Lehoczky 1990, table 1: responses of the second task are 114, 102, 116, 104, 118, 106, 94.
        let tasks = [Sporadic::implicit(ms(26), ms(70)), Sporadic::new(ms(62), ms(100), ms(200))];
        assert_eq!(responses(&tasks, Duration::ZERO)[1], Some(ms(118)));
    }

    #[test]
    fn jitter_and_blocking_lengthen_the_response() {
        let jittery = Sporadic { jitter: ms(2), ..Sporadic::implicit(ms(2), ms(10)) };
        let low = Sporadic::implicit(ms(7), ms(30));
        let r = |b| response(&low, &[jittery], b, &Dedicated, &mut Effort::default());
        // ⌈(9 + 2)/10⌉ = 2 preemptions instead of one.
        assert_eq!(r(Duration::ZERO), Some(ms(11)));
        assert_eq!(r(ms(1)), Some(ms(12)));
    }

    #[test]
    fn overload_has_no_response_time() {
        let tasks = [Sporadic::implicit(ms(6), ms(10)), Sporadic::implicit(ms(5), ms(10))];
        assert_eq!(responses(&tasks, Duration::ZERO)[1], None);
    }
}
