//! Fixed priorities with offsets: response times of tasks that are released at known distances from a common event.
//!
//! Tindell, "Adding time-offsets to schedulability analysis", York YCS-221, 1994; Palencia and González Harbour,
//! "Schedulability analysis for tasks with static and dynamic offsets", RTSS 1998. A transaction Γᵢ is an event with
//! least distance Tᵢ; its step τᵢⱼ arrives Φᵢⱼ after the event and is released within Jᵢⱼ. A busy period is begun by one
//! step of each transaction; with τᵢₖ as that step, in their symbols,
//!
//! ```text
//! φᵢⱼₖ    = Tᵢ − (Φᵢₖ + Jᵢₖ − Φᵢⱼ) mod Tᵢ
//! Wᵢₖ(t) = Σ_{j ∈ hp} ( ⌊(Jᵢⱼ + φᵢⱼₖ)/Tᵢ⌋ + ⌈(t − φᵢⱼₖ)/Tᵢ⌉ )·Cᵢⱼ
//! w(p)   = B + (p − p₀ + 1)·C + Σᵢ Wᵢₖ(w(p)),     R = max over beginners and jobs of w(p) − φ − (p − 1)·T
//! ```
//!
//! *Exact* tries every combination of beginners, which grows as the product of the transactions' lengths; where the
//! effort does not do, Σᵢ maxₖ Wᵢₖ(t) takes their place, which is sufficient (section 4 of the paper). Assumptions: one
//! preemptive processor, independent transactions, steps that do not suspend themselves.

use crate::effort::{Effort, HORIZON};
use crate::task::{ceil_div, to_duration};
use crate::utilisation::Utilisation;
use tactus_time::Duration;

/// τᵢⱼ: one step of a transaction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Step {
    /// Φ: from the event to the step's arrival.
    pub offset: Duration,
    /// C: the longest execution time.
    pub execution: Duration,
    /// J: the longest time from arrival to release.
    pub jitter: Duration,
    /// The smaller, the more urgent; equal ones count as more urgent than the step under study.
    pub priority: u32,
}

/// Γᵢ: an event and the steps that follow it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Transaction {
    /// T: the least distance of events; greater than zero.
    pub period: Duration,
    /// The steps, in any order.
    pub steps: Vec<Step>,
}

/// A bound and whether it is the exact worst case.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Response {
    /// From the step's arrival to its end.
    pub bound: Duration,
    /// Whether every combination of beginners was tried, so that the bound is reached (without blocking).
    pub exact: bool,
}

/// The worst-case response of step `of.1` of transaction `of.0`.
///
/// `None` where the busy period does not end (overload), the place does not exist, or the effort did not do for the
/// approximation either.
pub fn response(all: &[Transaction], of: (usize, usize), blocking: Duration, effort: &mut Effort) -> Option<Response> {
    let step = all.get(of.0)?.steps.get(of.1)?;
    let load = all.iter().flat_map(|g| g.steps.iter().map(move |s| (g, s)));
    let load = load.filter(|(_, s)| s.priority <= step.priority).map(|(g, s)| (s.execution, g.period));
    if !Utilisation::of(load).at_most(1) {
        return None;
    }
    let study = Study::new(all, of, i128::from(blocking.as_nanos()));
    let exact = study.over_all(&mut effort.clone());
    if let Some(r) = exact {
        return Some(Response { bound: to_duration(r), exact: true });
    }
    study.approximate(effort).map(|r| Response { bound: to_duration(r), exact: false })
}

/// One transaction as the step under study sees it: steps (Φ, C, J) that are as urgent.
struct Interferer {
    t: i128,
    /// Those that may begin a busy period; the step under study is among its own transaction's.
    beginners: Vec<(i128, i128)>,
    /// Those that interfere, without the step under study.
    steps: Vec<(i128, i128, i128)>,
}

impl Interferer {
    /// φ of a step with offset `offset` where the beginner is (Φₖ, Jₖ).
    fn phase(&self, k: (i128, i128), offset: i128) -> i128 {
        self.t - (k.0 + k.1 - offset).rem_euclid(self.t)
    }
    /// Wᵢₖ(w).
    fn work(&self, k: (i128, i128), w: i128) -> i128 {
        let one = |&(offset, c, j): &(i128, i128, i128)| {
            let φ = self.phase(k, offset);
            ((j + φ).div_euclid(self.t) + ceil_div(w - φ, self.t)).max(0) * c
        };
        self.steps.iter().map(one).sum()
    }
}

struct Study {
    interferers: Vec<Interferer>,
    /// Place of the step's own transaction among them.
    own: usize,
    /// Φ, C, J and T of the step.
    step: (i128, i128, i128, i128),
    blocking: i128,
}

impl Study {
    fn new(all: &[Transaction], of: (usize, usize), blocking: i128) -> Study {
        let ns = |d: Duration| i128::from(d.as_nanos());
        let target = all[of.0].steps[of.1];
        let (mut interferers, mut own) = (Vec::new(), 0);
        for (i, g) in all.iter().enumerate() {
            let urgent = || g.steps.iter().enumerate().filter(|(_, s)| s.priority <= target.priority);
            let beginners: Vec<_> = urgent().map(|(_, s)| (ns(s.offset), ns(s.jitter))).collect();
            let others = urgent().filter(|(j, _)| (i, *j) != of);
            let steps = others.map(|(_, s)| (ns(s.offset), ns(s.execution), ns(s.jitter))).collect();
            if i == of.0 {
                own = interferers.len();
            }
            if !beginners.is_empty() {
                interferers.push(Interferer { t: ns(g.period), beginners, steps });
            }
        }
        let step = (ns(target.offset), ns(target.execution), ns(target.jitter), ns(all[of.0].period));
        Study { interferers, own, step, blocking }
    }

    fn terms(&self) -> usize {
        self.interferers.iter().map(|i| i.steps.len()).sum()
    }

    fn over_all(&self, effort: &mut Effort) -> Option<i128> {
        let mut choice = vec![0; self.interferers.len()];
        let mut worst = 0;
        loop {
            let work = |w: i128| {
                let one = |(i, &k): (&Interferer, &usize)| i.work(i.beginners[k], w);
                self.interferers.iter().zip(&choice).map(one).sum()
            };
            worst =
                worst.max(self.busy_period(self.interferers[self.own].beginners[choice[self.own]], work, effort)?);
            // The next combination, as an odometer counts.
            let Some(place) = (0..choice.len()).find(|&i| choice[i] + 1 < self.interferers[i].beginners.len()) else {
                return Some(worst);
            };
            choice[place] += 1;
            choice[..place].fill(0);
        }
    }

    fn approximate(&self, effort: &mut Effort) -> Option<i128> {
        let mut worst = 0;
        for &k in &self.interferers[self.own].beginners {
            let work = |w: i128| {
                let one = |(i, g): (usize, &Interferer)| {
                    if i == self.own {
                        g.work(k, w)
                    } else {
                        g.beginners.iter().map(|&k| g.work(k, w)).max().unwrap_or(0)
                    }
                };
                self.interferers.iter().enumerate().map(one).sum()
            };
            worst = worst.max(self.busy_period(k, work, effort)?);
        }
        Some(worst)
    }

    /// The worst response in the busy period that begins with `k` of the step's own transaction.
    fn busy_period(&self, k: (i128, i128), work: impl Fn(i128) -> i128, effort: &mut Effort) -> Option<i128> {
        let (offset, c, j, t) = self.step;
        let φ = self.interferers[self.own].phase(k, offset);
        let first = 1 - (j + φ).div_euclid(t);
        let terms = self.terms();
        let mut worst = 0;
        let mut w = self.blocking;
        let mut p = first;
        loop {
            let own = (p - first + 1) * c;
            w = w.max(self.blocking + own).max(1);
            loop {
                if w > HORIZON || !effort.spend(terms) {
                    return None;
                }
                let next = self.blocking + own + work(w);
                if next <= w {
                    break;
                }
                w = next;
            }
            let arrival = φ + (p - 1) * t;
            worst = worst.max(w - arrival);
            // The job after this one arrives, and is released, when the busy period is over.
            if arrival + t >= w {
                return Some(worst);
            }
            p += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    fn step(offset: u64, execution: u64, priority: u32) -> Step {
        Step { offset: ms(offset), execution: ms(execution), jitter: Duration::ZERO, priority }
    }

    #[test]
    fn steps_that_are_far_apart_do_not_meet() {
        let g = Transaction { period: ms(20), steps: vec![step(0, 4, 0), step(10, 4, 1)] };
        let r = |j| response(std::slice::from_ref(&g), (0, j), Duration::ZERO, &mut Effort::default()).unwrap();
        assert_eq!(r(0), Response { bound: ms(4), exact: true });
        assert_eq!(r(1), Response { bound: ms(4), exact: true });
        let together = Transaction { period: ms(20), steps: vec![step(0, 4, 0), step(0, 4, 1)] };
        assert_eq!(response(&[together], (0, 1), Duration::ZERO, &mut Effort::default()).unwrap().bound, ms(8));
    }

    #[test]
    fn without_effort_the_approximation_says_that_it_is_one() {
        let all: Vec<Transaction> = (0..12)
            .map(|n| Transaction { period: ms(100 + n), steps: (0..6).map(|i| step(i * 15, 1, i as u32)).collect() })
            .collect();
        let r = response(&all, (0, 5), Duration::ZERO, &mut Effort::terms(2_000_000)).unwrap();
        assert!(!r.exact && r.bound >= ms(12));
    }
}
