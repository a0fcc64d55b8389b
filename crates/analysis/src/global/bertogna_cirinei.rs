//! Response-time analysis for global scheduling on m processors.
//!
//! Bertogna and Cirinei, "Response-time analysis for globally scheduled symmetric multiprocessor platforms", RTSS
//! 2007. In its symbols, with slack Sᵢ = Dᵢ − Rᵢ of the interfering task (0 until known):
//!
//! ```text
//! Wᵢ(L)   = N·Cᵢ + min(Cᵢ, L + Dᵢ − Cᵢ − Sᵢ − N·Tᵢ),  N = ⌊(L + Dᵢ − Cᵢ − Sᵢ)/Tᵢ⌋          (work in any window L)
//! Eᵢₖ     = ⌊Dₖ/Tᵢ⌋·Cᵢ + min(Cᵢ, max(0, Dₖ mod Tᵢ − Sᵢ))                     (what EDF lets ahead of τₖ, at most)
//! Rₖ      = Cₖ + ⌊ (1/m)·Σ_{i≠k} min(Wᵢ(Rₖ), Eᵢₖ [EDF], Rₖ − Cₖ + 1) ⌋
//! ```
//!
//! Under fixed priorities the sum runs over the more urgent tasks and Eᵢₖ is left out. Assumptions: integer time,
//! D ≤ T (constrained deadlines), independent preemptive sporadic tasks, no jitter. Under EDF the bounds hold only if
//! every task of the set is shown to meet its deadline, under fixed priorities only if every more urgent one is.
//!
//! Work that is bound to a core and more urgent than all tasks (levels A and B of MC²) interferes like one more task per
//! core, with the most that it takes of a window as its W: while τₖ waits, that core is busy with it or with a task.
//!
//! One term is ours: `withheld(Rₖ)`, what the system's own work may cost a job in a window, added to Rₖ.

use crate::effort::Effort;
use crate::task::{to_duration, withheld, Sporadic, Withheld};
use tactus_time::Duration;

/// Work of τᵢ in any window of length `l`, given that its jobs end `slack` before their deadlines.
pub(crate) fn work(τ: &Sporadic, l: i128, slack: i128) -> i128 {
    let reach = l + τ.d() - τ.c() - slack;
    if reach <= 0 {
        return 0;
    }
    let n = reach / τ.t();
    n * τ.c() + τ.c().min(reach - n * τ.t())
}

/// Work of τᵢ that EDF may run before the deadline of a job of τₖ within that job's window.
fn ahead_under_edf(τ: &Sporadic, k: &Sporadic, slack: i128) -> i128 {
    let n = k.d() / τ.t();
    n * τ.c() + τ.c().min((k.d() - n * τ.t() - slack).max(0))
}

/// The least R ≤ Dₖ that the equation gives, if there is one.
fn response(
    k: &Sporadic,
    others: &[(&Sporadic, i128)],
    (m, edf): (usize, bool),
    pinned: &[&dyn Withheld],
    platform: &dyn Withheld,
    effort: &mut Effort,
) -> Option<i128> {
    let mut r = k.c();
    loop {
        if r > k.d() || !effort.spend(others.len() + 8 * pinned.len()) {
            return None;
        }
        let cap = r - k.c() + 1;
        let interference: i128 = others
            .iter()
            .map(|&(τ, slack)| {
                let w = work(τ, r, slack).min(cap);
                if edf {
                    w.min(ahead_under_edf(τ, k, slack))
                } else {
                    w
                }
            })
            .sum();
        let bound: i128 = pinned.iter().map(|core| withheld(*core, r).min(cap)).sum();
        let next = k.c() + (interference + bound) / m as i128 + withheld(platform, r);
        if next <= r {
            return Some(r);
        }
        r = next;
    }
}

fn constrained(τ: &Sporadic) -> bool {
    τ.deadline <= τ.period && τ.jitter.is_zero()
}

/// Bounds under global EDF beneath what is `pinned` to cores, in task order. `None` where this test cannot show a deadline met; then the other
/// values are no bounds either, only what the task would have if all others met their deadlines.
pub fn edf_responses(
    tasks: &[Sporadic],
    m: usize,
    pinned: &[&dyn Withheld],
    platform: &dyn Withheld,
    effort: &mut Effort,
) -> Vec<Option<Duration>> {
    iterated(tasks, (m, true), pinned, platform, effort)
}

/// Bounds under any global order that leaves no processor idle beside waiting work: every other task may interfere (the paper's
/// theorem for work-conserving algorithms). As under EDF they hold only if every deadline is shown to be met.
pub fn any_order_responses(
    tasks: &[Sporadic],
    m: usize,
    platform: &dyn Withheld,
    effort: &mut Effort,
) -> Vec<Option<Duration>> {
    iterated(tasks, (m, false), &[], platform, effort)
}

fn iterated(
    tasks: &[Sporadic],
    (m, edf): (usize, bool),
    pinned: &[&dyn Withheld],
    platform: &dyn Withheld,
    effort: &mut Effort,
) -> Vec<Option<Duration>> {
    let mut found: Vec<Option<i128>> = vec![None; tasks.len()];
    if !tasks.iter().all(constrained) {
        return vec![None; tasks.len()];
    }
    // Each round uses the slack of the rounds before; more slack is less interference, so it only gets better.
    for _ in 0..16 {
        let mut changed = false;
        for k in 0..tasks.len() {
            let others: Vec<(&Sporadic, i128)> = (0..tasks.len())
                .filter(|&i| i != k)
                .map(|i| (&tasks[i], found[i].map_or(0, |r| tasks[i].d() - r)))
                .collect();
            if let Some(r) = response(&tasks[k], &others, (m, edf), pinned, platform, effort) {
                changed |= found[k] != Some(r);
                found[k] = Some(found[k].map_or(r, |old| old.min(r)));
            }
        }
        if !changed {
            break;
        }
    }
    found.into_iter().map(|r| r.map(to_duration)).collect()
}

/// Bounds under global fixed priorities; `tasks` from most to least urgent. `None` from the first task on that this
/// test cannot show to meet its deadline.
pub fn fixed_priority_responses(
    tasks: &[Sporadic],
    m: usize,
    platform: &dyn Withheld,
    effort: &mut Effort,
) -> Vec<Option<Duration>> {
    let mut found: Vec<Option<Duration>> = Vec::with_capacity(tasks.len());
    for τ in tasks {
        let above: Option<Vec<(&Sporadic, i128)>> = found
            .iter()
            .enumerate()
            .map(|(i, r)| r.map(|r| (&tasks[i], tasks[i].d() - i128::from(r.as_nanos()))))
            .collect();
        let r = match above {
            Some(above) if constrained(τ) && above.iter().all(|(τ, _)| constrained(τ)) => {
                response(τ, &above, (m, false), &[], platform, effort).map(to_duration)
            }
            _ => None,
        };
        found.push(r);
    }
    found
}
