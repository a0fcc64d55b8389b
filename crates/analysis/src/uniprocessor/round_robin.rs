//! Turns on one processor (round robin with one quantum for all): response times.
//!
//! Racu, Li, Henia, Hamann and Ernst, "Improved response time analysis of tasks scheduled under preemptive round-robin",
//! CODES+ISSS 2007, in the form that pyCPA has. The n-th job of a busy window needs n·⌈C/q⌉ turns in all, and before each of them every
//! other task has one turn at most, and no more work than it has:
//!
//! ```text
//! w(n) = B + n·Cᵢ + Σ_{j≠i} min( turns·q', ⌈(w + Jⱼ)/Tⱼ⌉·Cⱼ ) + withheld(w),   turns = n·⌈Cᵢ/q⌉ + ⌈charged(w)/q⌉
//! Rᵢ   = max_n ( Jᵢ + w(n) − (n−1)·Tᵢ ),   up to the first n with Jᵢ + w(n) ≤ n·Tᵢ
//! ```
//!
//! Two terms are ours: a turn may last q' ≥ q, since its end is noticed late, and what the system takes may be charged to the task's own
//! turns. Assumes that a job that comes, or has had its turn, goes to the end.

use crate::effort::{Effort, HORIZON};
use crate::task::{ceil_div, to_duration, withheld, Sporadic, Withheld};
use crate::uniprocessor::overloaded;
use tactus_time::Duration;

/// The length of a turn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Turn {
    /// q; greater than zero.
    pub quantum: Duration,
    /// q': the longest that a turn may last.
    pub longest: Duration,
}

/// The bound of every task. `charged`: what of a window may be charged to a task's turns beside its execution.
pub fn responses(
    tasks: &[Sporadic],
    turn: Turn,
    blocking: Duration,
    charged: &dyn Withheld,
    processor: &dyn Withheld,
    effort: &mut Effort,
) -> Vec<Option<Duration>> {
    if overloaded(tasks) || turn.quantum.is_zero() {
        return vec![None; tasks.len()];
    }
    (0..tasks.len()).map(|i| response(tasks, i, turn, blocking, (charged, processor), effort)).collect()
}

fn response(
    tasks: &[Sporadic],
    i: usize,
    turn: Turn,
    blocking: Duration,
    (charged, processor): (&dyn Withheld, &dyn Withheld),
    effort: &mut Effort,
) -> Option<Duration> {
    let own = &tasks[i];
    let (b, q) = (i128::from(blocking.as_nanos()), i128::from(turn.quantum.as_nanos()));
    let longest = i128::from(turn.longest.as_nanos());
    let (mut worst, mut w) = (0, b);
    for n in 1.. {
        w += own.c();
        loop {
            if w > HORIZON || !effort.spend(tasks.len()) {
                return None;
            }
            let turns = n * ceil_div(own.c(), q) + ceil_div(withheld(charged, w), q);
            let others = tasks.iter().enumerate().filter(|(j, _)| *j != i);
            let waits: i128 = others.map(|(_, τ)| (turns * longest).min(ceil_div(w + τ.j(), τ.t()) * τ.c())).sum();
            let next = b + n * own.c() + waits + withheld(processor, w);
            if next <= w {
                break;
            }
            w = next;
        }
        worst = worst.max(own.j() + w - (n - 1) * own.t());
        if own.j() + w <= n * own.t() {
            break;
        }
    }
    Some(to_duration(worst))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::Dedicated;

    #[test]
    fn before_each_own_turn_every_other_task_has_one() {
        let ms = Duration::from_millis;
        let tasks = [(2, 50), (5, 60), (9, 80)].map(|(c, t)| Sporadic::implicit(ms(c), ms(t)));
        let turn = Turn { quantum: ms(2), longest: ms(2) };
        let r = responses(&tasks, turn, Duration::ZERO, &Dedicated, &Dedicated, &mut Effort::default());
        // One turn: 2 + 2 + 2. Three turns: 5 + 2 (all that the first has) + 3·2. Five turns: 9 + 2 + 5.
        assert_eq!(r, [Some(ms(6)), Some(ms(13)), Some(ms(16))]);
    }
}
