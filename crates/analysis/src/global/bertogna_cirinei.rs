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
use crate::task::{ceil_div, floor_div, to_duration, withheld, withheld_terms, Sporadic, Withheld};
use crate::terms::{Source, Term, Terms};
use tactus_time::Duration;

/// Work of τᵢ in any window of length `l`, given that its jobs end `slack` before their deadlines.
pub(crate) fn work(τ: &Sporadic, l: i128, slack: i128) -> i128 {
    let reach = l + τ.d() - τ.c() - slack;
    if reach <= 0 {
        return 0;
    }
    let n = floor_div(reach, τ.t());
    n * τ.c() + τ.c().min(reach - n * τ.t())
}

/// Work of τᵢ that EDF may run before the deadline of a job of τₖ within that job's window.
fn ahead_under_edf(τ: &Sporadic, k: &Sporadic, slack: i128) -> i128 {
    let n = floor_div(k.d(), τ.t());
    n * τ.c() + τ.c().min((k.d() - n * τ.t() - slack).max(0))
}

/// One that interferes: its slack, and the most of its work that counts, whatever the window.
struct Other<'a> {
    τ: &'a Sporadic,
    slack: i128,
    most: i128,
}

impl Other<'_> {
    /// Its work in a window of length r, if that is less than the cap. If not, the work up to which it grows as fast as the
    /// window: it fills windows up to that, and takes no less of longer ones.
    fn in_a_window(&self, r: i128, cap: i128) -> i128 {
        let w = work(self.τ, r, self.slack);
        let w = if w < cap { w } else { ceil_div(w, self.τ.c()) * self.τ.c() };
        w.min(self.most)
    }
}

/// The least R ≤ Dₖ that the equation gives, if there is one.
fn response(
    k: &Sporadic,
    others: &[Other],
    m: usize,
    pinned: &[&dyn Withheld],
    platform: &dyn Withheld,
    effort: &mut Effort,
) -> Option<i128> {
    let mut r = k.c();
    let mut most = Vec::with_capacity(others.len() + pinned.len());
    loop {
        if r > k.d() || !effort.spend(others.len() + 8 * pinned.len()) {
            return None;
        }
        most.clear();
        let cap = r - k.c() + 1;
        most.extend(others.iter().map(|it| it.in_a_window(r, cap)));
        most.extend(pinned.iter().map(|core| withheld(*core, r)));
        let next = least_cap(&mut most, m as i128, withheld(platform, r), cap);
        if next == cap {
            return Some(r);
        }
        // In longer windows there is no less of any of them, so no solution is nearer. One step after the other
        // it would be a nanosecond each, as long as m of them fill the window.
        r = k.c() + next - 1;
    }
}

/// The least x from `cap` on with ⌊Σ min(wᵢ, x) / m⌋ + p < x, where the w are `most`, in any order.
///
/// m·(x − p) − Σ min(wᵢ, x) is convex in x and not positive at 0, so it is positive from one x on.
fn least_cap(most: &mut [i128], m: i128, p: i128, cap: i128) -> i128 {
    most.sort_unstable();
    let mut below = 0;
    for (n, &w) in most.iter().enumerate() {
        // Up to w: those before it count whole, the others as x.
        let free = m - (most.len() - n) as i128;
        if free > 0 {
            let x = cap.max(floor_div(below + m * p, free) + 1);
            if x <= w {
                return x;
            }
        }
        below += w;
    }
    cap.max(floor_div(below + m * p, m) + 1)
}

/// The terms of a response r that the equation has given. Others are counted by their places among `others`.
fn terms(k: &Sporadic, others: &[Other], m: usize, platform: &dyn Withheld, r: i128) -> Terms {
    let cap = r - k.c() + 1;
    let one = |(i, it): (usize, &Other)| Term::once(Source::Other(i), it.in_a_window(r, cap).min(cap));
    let own = Term::once(Source::Own, k.c());
    let all = others.iter().enumerate().map(one).chain([own]).chain(withheld_terms(platform, r));
    Terms { cores: m as u64, ..Terms::response(r, all.collect()) }
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
    iterated(tasks, (m, true), pinned, (platform, &mut |_, _, _| {}), effort)
}

/// The terms of the i-th task's bound: of [`edf_responses`] without what is pinned, or of [`any_order_responses`].
pub fn terms_iterated(
    tasks: &[Sporadic],
    (m, edf): (usize, bool),
    i: usize,
    platform: &dyn Withheld,
    effort: &mut Effort,
) -> Option<Terms> {
    let mut found = None;
    let mut better = |k: usize, others: &[Other], r: i128| {
        if k == i {
            let mut own = terms(&tasks[k], others, m, platform, r);
            own.renumber(|other| Source::Other(if other < k { other } else { other + 1 }));
            found = Some(own);
        }
    };
    iterated(tasks, (m, edf), &[], (platform, &mut better), effort);
    found
}

/// Bounds under any global order that leaves no processor idle beside waiting work: every other task may interfere (the paper's
/// theorem for work-conserving algorithms). As under EDF they hold only if every deadline is shown to be met.
pub fn any_order_responses(
    tasks: &[Sporadic],
    m: usize,
    platform: &dyn Withheld,
    effort: &mut Effort,
) -> Vec<Option<Duration>> {
    iterated(tasks, (m, false), &[], (platform, &mut |_, _, _| {}), effort)
}

/// Whoever is shown each better response: of which task, beside which others.
type Shown<'s> = &'s mut dyn FnMut(usize, &[Other], i128);

fn iterated(
    tasks: &[Sporadic],
    (m, edf): (usize, bool),
    pinned: &[&dyn Withheld],
    (platform, better): (&dyn Withheld, Shown),
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
            let other = |i: usize| {
                let (τ, slack) = (&tasks[i], found[i].map_or(0, |r| tasks[i].d() - r));
                Other { τ, slack, most: if edf { ahead_under_edf(τ, &tasks[k], slack) } else { i128::MAX } }
            };
            let others: Vec<Other> = (0..tasks.len()).filter(|&i| i != k).map(other).collect();
            if let Some(r) = response(&tasks[k], &others, m, pinned, platform, effort) {
                changed |= found[k] != Some(r);
                if found[k].is_none_or(|old| r < old) {
                    better(k, &others, r);
                    found[k] = Some(r);
                }
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
    by_priority(tasks, m, (platform, &mut |_, _, _| {}), effort)
}

/// The terms of the i-th task's bound of [`fixed_priority_responses`].
pub fn terms_by_priority(
    tasks: &[Sporadic],
    m: usize,
    i: usize,
    platform: &dyn Withheld,
    effort: &mut Effort,
) -> Option<Terms> {
    let mut found = None;
    let mut shown = |k: usize, others: &[Other], r: i128| {
        if k == i {
            found = Some(terms(&tasks[k], others, m, platform, r));
        }
    };
    by_priority(&tasks[..=i], m, (platform, &mut shown), effort);
    found
}

fn by_priority(
    tasks: &[Sporadic],
    m: usize,
    (platform, shown): (&dyn Withheld, Shown),
    effort: &mut Effort,
) -> Vec<Option<Duration>> {
    let mut found: Vec<Option<Duration>> = Vec::with_capacity(tasks.len());
    for (k, τ) in tasks.iter().enumerate() {
        let other = |(τ, r): (_, &Option<Duration>)| {
            let slack = Sporadic::d(τ) - i128::from(r.as_ref()?.as_nanos());
            Some(Other { τ, slack, most: i128::MAX })
        };
        let above: Option<Vec<Other>> = tasks.iter().zip(&found).map(other).collect();
        let r = match above {
            Some(above) if constrained(τ) && above.iter().all(|it| constrained(it.τ)) => {
                let r = response(τ, &above, m, &[], platform, effort);
                if let Some(r) = r {
                    shown(k, &above, r);
                }
                r.map(to_duration)
            }
            _ => None,
        };
        found.push(r);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers from 0 on, below a limit.
    fn draws() -> impl FnMut(u64) -> i128 {
        let mut draw = 1u64;
        move |most| {
            draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            i128::from((draw >> 33) % most)
        }
    }

    #[test]
    fn bounds_are_the_first_that_the_equation_gives_step_by_step() {
        let mut next = draws();
        let mut found = 0;
        for _ in 0..20_000 {
            let mut task = || {
                let (c, more) = (1 + next(12), next(25));
                let times = [c, c + more + next(8), c + more].map(to_duration);
                (Sporadic::new(times[0], times[1], times[2]), more.min(next(12)), next(2))
            };
            let (k, ..) = task();
            let drawn: Vec<_> = (0..5).map(|_| task()).collect();
            let m = 1 + next(4) as usize;
            let others: Vec<Other> = drawn
                .iter()
                .map(|(τ, slack, edf)| {
                    let most = if *edf == 1 { ahead_under_edf(τ, &k, *slack) } else { i128::MAX };
                    Other { τ, slack: *slack, most }
                })
                .collect();
            let holds = |r: &i128| {
                let cap = r - k.c() + 1;
                let sum: i128 = others.iter().map(|it| work(it.τ, *r, it.slack).min(it.most).min(cap)).sum();
                k.c() + sum / m as i128 <= *r
            };
            let wanted = (k.c()..=k.d()).find(holds);
            found += usize::from(wanted.is_some());
            let bound = response(&k, &others, m, &[], &crate::task::Dedicated, &mut Effort::terms(10_000));
            assert_eq!(bound, wanted, "{k:?} beside {drawn:?} on {m}");
        }
        assert!((2_000..18_000).contains(&found), "{found} have a bound");
    }

    #[test]
    fn the_least_cap_is_that_of_a_search_step_by_step() {
        let mut next = draws();
        for _ in 0..20_000 {
            let (m, p, cap) = (1 + next(4), next(6), 1 + next(10));
            let mut most: Vec<i128> = (0..next(6)).map(|_| next(25)).collect();
            let holds = |x: &i128| most.iter().map(|w| w.min(x)).sum::<i128>() / m + p < *x;
            let wanted = (cap..).find(holds).expect("there is one");
            assert_eq!(least_cap(&mut most.clone(), m, p, cap), wanted, "{most:?} on {m}, {p}, {cap}");
            most.reverse();
            assert_eq!(least_cap(&mut most, m, p, cap), wanted);
        }
    }

    /// While both long tasks take all of the window, the equation grows by a nanosecond: a thousand million times.
    #[test]
    fn as_many_long_tasks_as_processors_cost_no_more_effort_than_short_ones() {
        let task = |c, t| Sporadic::new(Duration::from_millis(c), Duration::from_millis(t), Duration::from_millis(t));
        let tasks = [task(1, 5_000), task(1_000, 10_000), task(1_000, 10_000)];
        let bounds = any_order_responses(&tasks, 2, &crate::task::Dedicated, &mut Effort::terms(1_000));
        let ms = |n| Some(Duration::from_millis(n));
        assert_eq!(bounds, [ms(1_001), ms(1_001), ms(1_001)]);
    }
}
