//! What is inside a soft constant-bandwidth server: a bound on every response, whatever the order inside.
//!
//! Abeni and Buttazzo, "Integrating multimedia applications in hard real-time systems", RTSS 1998. A soft server never waits: when a
//! budget is used up the next comes at once, with a deadline one period later. So it may run far ahead, and then be as far behind
//! those with nearer deadlines; no supply function of windows holds. But let s be the last time at which a new budget began with
//! deadline s + P (no work was left then): when it is at its n-th budget since, its deadline is s + nP, which is kept but for the
//! `late` of its scheduler. Work W that came since s is therefore done by s + ⌈W/Q⌉·P + late, and with all of it in the bound,
//!
//! ```text
//! L = ⌈( Σ ⌈L/Tᵢ⌉·Cᵢ + work(L) ) / Q⌉·P + late
//! ```
//!
//! no response is longer than the least L > 0. With one task of C ≤ Q and T ≥ P that is the theorem of the paper: R ≤ P.

use crate::effort::{Effort, HORIZON};
use crate::reservation::charge::Work;
use crate::task::{ceil_div, to_duration, withheld, Sporadic};
use tactus_time::Duration;

/// The bound for all tasks inside a server (Q, P) that keeps its deadlines but for `late`; jobs with their completion.
/// `None` where there is none, or the effort does not do.
pub fn response(
    tasks: &[Sporadic],
    (budget, period): (Duration, Duration),
    late: Duration,
    work: &Work,
    effort: &mut Effort,
) -> Option<Duration> {
    let (q, p, late) = (i128::from(budget.as_nanos()), i128::from(period.as_nanos()), i128::from(late.as_nanos()));
    let mut l = (p + late).max(1);
    loop {
        if l > HORIZON || q == 0 || !effort.spend(tasks.len()) {
            return None;
        }
        let asked: i128 = tasks.iter().map(|τ| ceil_div(l + τ.j(), τ.t()) * τ.c()).sum();
        let next = ceil_div(asked + withheld(work, l), q) * p + late;
        if next <= l {
            return Some(to_duration(l));
        }
        l = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_task_that_fits_its_server_ends_within_the_period_of_the_server() {
        let ms = Duration::from_millis;
        let of = |tasks: &[Sporadic]| {
            response(tasks, (ms(2), ms(10)), Duration::ZERO, &Work::none(), &mut Effort::default())
        };
        assert_eq!(of(&[Sporadic::implicit(ms(2), ms(10))]), Some(ms(10)));
        // Three budgets.
        assert_eq!(of(&[Sporadic::implicit(ms(5), ms(30))]), Some(ms(30)));
        assert_eq!(of(&[Sporadic::implicit(ms(3), ms(10))]), None);
    }
}
