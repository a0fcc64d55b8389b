//! Tasks whose arrivals come in bursts, on one processor: response times under fixed priorities, demand under earliest deadline first.
//!
//! An arrival curve (Richter, "Compositional scheduling analysis using standard event models", PhD thesis, TU Braunschweig 2005): in a
//! half-open window of length w there are at most η(w) = min(⌈(w + J)/T⌉, ⌈w/d⌉) arrivals, and from one to the n-th after it at least
//! δ(n) = max(n·T − J, n·d, 0). A response counts from the arrival. Under fixed priorities, for job q = 0, 1, … of the level-i busy
//! period (Lehoczky 1990; Tindell, Burns and Wellings 1994):
//!
//! ```text
//! w(q) = Bᵢ + (q+1)·Cᵢ + Σ_{j ∈ hp(i)} ηⱼ(w(q))·Cⱼ + withheld(w(q))
//! Rᵢ   = max_q ( w(q) − δᵢ(q) ),   up to the first q with w(q) ≤ δᵢ(q+1)
//! ```
//!
//! With a preemption threshold γᵢ, for the jobs that arrive within the longest level-i active period (see [`super::preemption_threshold`]; of
//! messages that are not preempted at all that is Davis, Burns, Bril and Lukkien, Real-Time Systems 35, 2007), where η̄(s) counts a closed
//! window:
//!
//! ```text
//! s(q) = Bᵢ + q·Cᵢ + Σ_{j ∈ hp(i)} η̄ⱼ(s(q))·Cⱼ + withheld(s(q))
//! f(q) = Bᵢ + (q+1)·Cᵢ + Σ_{πⱼ > γᵢ} ηⱼ(f(q))·Cⱼ + Σ_{πᵢ < πⱼ ≤ γᵢ} η̄ⱼ(s(q))·Cⱼ + withheld(f(q))
//! Rᵢ   = max_q ( f(q) − δᵢ(q) )
//! ```
//!
//! Under EDF every deadline is met if in each window t that ends with a deadline B + Σ Nᵢ(t)·Cᵢ + withheld(t) ≤ t, up to the longest
//! busy period, where Nᵢ(t) jobs arrive and are due within t: those with δᵢ(n) + Dᵢ ≤ t.

use crate::effort::{Effort, HORIZON};
use crate::task::{ceil_div, to_duration, withheld, withheld_terms, Sporadic, Withheld};
use crate::terms::{Source, Term, Terms};
use crate::uniprocessor::overloaded;
use crate::uniprocessor::preemption_threshold::fixed_point;
use tactus_time::Duration;

/// A task with its arrival curve: the task's jitter is J, its deadline counts from the arrival.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bursty {
    /// C, T, D and J.
    pub task: Sporadic,
    /// d: the least distance of two arrivals; zero if there is none.
    pub distance: Duration,
}

impl Bursty {
    /// η(w): the most arrivals in a half-open window.
    fn most_in(&self, w: i128) -> i128 {
        let by_curve = ceil_div(w + self.task.j(), self.task.t());
        match i128::from(self.distance.as_nanos()) {
            0 => by_curve,
            d => by_curve.min(ceil_div(w, d)),
        }
    }

    /// δ(n): the least time from an arrival to the n-th after it.
    fn least_until(&self, n: i128) -> i128 {
        (n * self.task.t() - self.task.j()).max(n * i128::from(self.distance.as_nanos())).max(0)
    }

    /// N(t): the most jobs that arrive and are due within a closed window.
    fn due_in(&self, t: i128) -> i128 {
        let w = t - self.task.d();
        if w < 0 {
            return 0;
        }
        // The closed window holds one nanosecond's arrivals more than the half-open one.
        self.most_in(w + 1)
    }
}

/// The worst-case response time of `task` below the tasks `higher`, from its arrival. As
/// [`fixed_priority::response`](super::fixed_priority::response).
pub fn response(
    task: &Bursty,
    higher: &[Bursty],
    blocking: Duration,
    processor: &dyn Withheld,
    effort: &mut Effort,
) -> Option<Duration> {
    let (response, ..) = worst(task, higher, blocking, processor, effort)?;
    Some(to_duration(response))
}

/// The terms of [`response`]; tasks are counted by their places in `higher`.
pub fn terms(
    task: &Bursty,
    higher: &[Bursty],
    blocking: Duration,
    processor: &dyn Withheld,
    effort: &mut Effort,
) -> Option<Terms> {
    let (_, q, w) = worst(task, higher, blocking, processor, effort)?;
    let own = [
        Term::new(Source::Own, q + 1, task.task.c()),
        Term::once(Source::Blocking(None), i128::from(blocking.as_nanos())),
        Term::once(Source::Arrival, task.least_until(q)),
    ];
    let others = higher.iter().enumerate();
    let others = others.map(|(j, it)| Term::new(Source::Other(j), it.most_in(w), it.task.c()));
    Some(Terms::response(w, own.into_iter().chain(others).chain(withheld_terms(processor, w)).collect()))
}

/// The longest response, the job q that has it, and its window w(q).
fn worst(
    task: &Bursty,
    higher: &[Bursty],
    blocking: Duration,
    processor: &dyn Withheld,
    effort: &mut Effort,
) -> Option<(i128, i128, i128)> {
    if overloaded(higher.iter().chain([task]).map(|it| &it.task)) {
        return None;
    }
    let b = i128::from(blocking.as_nanos());
    let (mut worst, mut w) = ((0, 0, b), b);
    for q in 0.. {
        let own = (q + 1) * task.task.c();
        w += task.task.c();
        loop {
            if w > HORIZON || !effort.spend(higher.len()) {
                return None;
            }
            let others: i128 = higher.iter().map(|it| it.most_in(w) * it.task.c()).sum();
            let next = b + own + others + withheld(processor, w);
            if next <= w {
                break;
            }
            w = next;
        }
        worst = worst.max((w - task.least_until(q), q, w));
        if w <= task.least_until(q + 1) {
            break;
        }
    }
    Some(worst)
}

/// The same where jobs of the first `preempting` of the more urgent tasks alone take the core from one that has begun. As
/// [`preemption_threshold::response`](super::preemption_threshold::response).
pub fn response_with_threshold(
    task: &Bursty,
    (higher, preempting): (&[Bursty], usize),
    blocking: Duration,
    processor: &dyn Withheld,
    effort: &mut Effort,
) -> Option<Duration> {
    if overloaded(higher.iter().chain([task]).map(|it| &it.task)) {
        return None;
    }
    let (b, c) = (i128::from(blocking.as_nanos()), task.task.c());
    let (above, kept_off) = higher.split_at(preempting.min(higher.len()));
    let work = |of: &[Bursty], w: i128| of.iter().map(|it| it.most_in(w) * it.task.c()).sum::<i128>();
    let first = b + c + higher.iter().map(|it| it.task.c()).sum::<i128>();
    let active = fixed_point(first.max(1), higher.len(), effort, |w| {
        b + work(higher, w) + task.most_in(w) * c + withheld(processor, w)
    })?;
    let (mut worst, mut start) = (0, b);
    for q in (0..).take_while(|q| *q == 0 || task.least_until(*q) < active) {
        start = fixed_point(start.max(b + q * c), higher.len(), effort, |s| {
            b + q * c + work(higher, s + 1) + withheld(processor, s + 1)
        })?;
        let waited = b + (q + 1) * c + work(kept_off, start + 1);
        let end = fixed_point(start + c, higher.len(), effort, |f| waited + work(above, f) + withheld(processor, f))?;
        worst = worst.max(end - task.least_until(q));
    }
    Some(to_duration(worst))
}

/// Whether every deadline is met under EDF; nothing if the effort did not do.
pub fn schedulable(
    tasks: &[Bursty],
    blocking: Duration,
    processor: &dyn Withheld,
    effort: &mut Effort,
) -> Option<bool> {
    let b = i128::from(blocking.as_nanos());
    schedulable_with(tasks, (b, &|_| b), processor, effort)
}

/// The same where jobs are blocked for so long at most, by the deadline t after the start of their busy period; `longest` is the longest of
/// all.
pub(crate) fn schedulable_with(
    tasks: &[Bursty],
    (longest, blocking_of): (i128, &dyn Fn(i128) -> i128),
    processor: &dyn Withheld,
    effort: &mut Effort,
) -> Option<bool> {
    if overloaded(tasks.iter().map(|it| &it.task)) {
        return Some(false);
    }
    let first = longest + tasks.iter().map(|it| it.task.c()).sum::<i128>();
    let l = fixed_point(first.max(1), tasks.len(), effort, |l| {
        longest + tasks.iter().map(|it| it.most_in(l) * it.task.c()).sum::<i128>() + withheld(processor, l)
    })?;
    for it in tasks {
        for n in 0.. {
            let t = it.least_until(n) + it.task.d();
            if t > l {
                break;
            }
            if !effort.spend(tasks.len()) {
                return None;
            }
            let demand: i128 = tasks.iter().map(|it| it.due_in(t) * it.task.c()).sum();
            if blocking_of(t) + demand + withheld(processor, t) > t {
                return Some(false);
            }
        }
    }
    Some(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::Dedicated;

    fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    fn bursty(c: u64, t: u64, j: u64, d: u64, deadline: u64) -> Bursty {
        Bursty { task: Sporadic { jitter: ms(j), ..Sporadic::new(ms(c), ms(t), ms(deadline)) }, distance: ms(d) }
    }

    fn all(tasks: &[Bursty]) -> Vec<Option<Duration>> {
        let one = |i: usize| response(&tasks[i], &tasks[..i], Duration::ZERO, &Dedicated, &mut Effort::default());
        (0..tasks.len()).map(one).collect()
    }

    #[test]
    fn a_burst_waits_for_itself_and_holds_up_what_is_below() {
        // Three at once every 30 on the average one per 10: the third waits for two others.
        let tasks = [bursty(2, 10, 20, 0, 10), bursty(3, 30, 0, 30, 30)];
        assert_eq!(all(&tasks), [Some(ms(6)), Some(ms(9))]);
        // With a distance of 2 the first ones are done when the next ones come.
        let tasks = [bursty(2, 10, 20, 2, 10), bursty(3, 30, 0, 30, 30)];
        assert_eq!(all(&tasks), [Some(ms(2)), Some(ms(9))]);
    }

    #[test]
    fn a_message_on_a_bus_with_jitter_waits_for_the_one_before_it() {
        // pyCPA, issue 22: T22 responds in 18; the more urgent T21 waits for one message of T22.
        let tasks = [bursty(2, 30, 8, 5, 30), bursty(9, 15, 13, 1, 15)];
        let r = |i: usize, blocking| {
            response_with_threshold(&tasks[i], (&tasks[..i], 0), ms(blocking), &Dedicated, &mut Effort::default())
        };
        assert_eq!([r(0, 9), r(1, 0)], [Some(ms(11)), Some(ms(18))]);
        // Its jobs are blocked by a less urgent one of 2 once: the second of two that come together by 2 as well.
        let alone = [bursty(2, 10, 8, 0, 10)];
        assert_eq!(
            response_with_threshold(&alone[0], (&[], 0), ms(2), &Dedicated, &mut Effort::default()),
            Some(ms(4))
        );
    }

    #[test]
    fn without_bursts_the_bounds_are_those_of_sporadic_tasks() {
        let tasks = [(2, 10), (5, 15), (10, 25)].map(|(c, t)| bursty(c, t, 0, t, t));
        assert_eq!(all(&tasks), [Some(ms(2)), Some(ms(7)), Some(ms(26))]);
    }

    #[test]
    fn the_demand_of_a_burst_counts_at_once() {
        let fits = |tasks: &[Bursty]| schedulable(tasks, Duration::ZERO, &Dedicated, &mut Effort::default());
        assert_eq!(fits(&[bursty(2, 10, 20, 0, 6), bursty(3, 30, 0, 30, 9)]), Some(true));
        assert_eq!(fits(&[bursty(2, 10, 20, 0, 5), bursty(3, 30, 0, 30, 9)]), Some(false));
        assert_eq!(fits(&[bursty(2, 10, 20, 0, 6), bursty(3, 30, 0, 30, 8)]), Some(false));
        assert_eq!(fits(&[bursty(2, 10, 20, 2, 2), bursty(3, 30, 0, 30, 9)]), Some(true));
        assert_eq!(fits(&[bursty(6, 10, 20, 0, 60), bursty(15, 30, 0, 30, 30)]), Some(false));
    }
}
