//! Least laxity on one processor, by priority points: at release, and looked at again as time passes.
//!
//! Leontyev and Anderson, "Generalized tardiness bounds for global multiprocessor scheduling", Real-Time Systems 44, 2010: a job has
//! a priority point, and the earlier one goes first; where the point may move, it stays within a window. Here a job that arrives at a with
//! D and C has a point
//!
//! - *at release*: a + D − C. That is EDF with D − C for D, to which Spuri's response times apply unchanged, for they do not need
//!   responses within D;
//! - *looked at again*: due time less what remains, anywhere from a + D − C to a + D, at whatever times it is looked at. So a job goes
//!   before another for sure only if it does with its own latest and the other's earliest point.

use crate::effort::Effort;
use crate::task::{Sporadic, Withheld};
use crate::terms::Terms;
use crate::uniprocessor::edf_response;
use tactus_time::Duration;

/// Bounds where the laxity at release decides. `assumed`: the C that the order takes, task by task.
pub fn at_release(
    tasks: &[Sporadic],
    assumed: &[Duration],
    blocking: Duration,
    processor: &dyn Withheld,
    effort: &mut Effort,
) -> Option<Vec<Duration>> {
    edf_response::responses(&earliest(tasks, assumed), blocking, processor, effort)
}

/// The terms of the i-th bound of [`at_release`].
pub fn terms_at_release(
    tasks: &[Sporadic],
    i: usize,
    assumed: &[Duration],
    blocking: Duration,
    processor: &dyn Withheld,
    effort: &mut Effort,
) -> Option<Terms> {
    edf_response::terms(&earliest(tasks, assumed), i, blocking, processor, effort)
}

/// The terms of the i-th bound of [`looked_at_again`].
pub fn terms_looked_at_again(
    tasks: &[Sporadic],
    i: usize,
    assumed: &[Duration],
    blocking: Duration,
    processor: &dyn Withheld,
    effort: &mut Effort,
) -> Option<Terms> {
    edf_response::terms(&before_it(tasks, assumed, i), i, blocking, processor, effort)
}

/// Bounds where laxities are looked at again, however seldom.
pub fn looked_at_again(
    tasks: &[Sporadic],
    assumed: &[Duration],
    blocking: Duration,
    processor: &dyn Withheld,
    effort: &mut Effort,
) -> Option<Vec<Duration>> {
    let one = |i: usize| Some(edf_response::responses(&before_it(tasks, assumed, i), blocking, processor, effort)?[i]);
    (0..tasks.len()).map(one).collect()
}

/// All with their earliest points but the i-th, with its latest.
fn before_it(tasks: &[Sporadic], assumed: &[Duration], i: usize) -> Vec<Sporadic> {
    let mut set = earliest(tasks, assumed);
    set[i] = tasks[i];
    set
}

fn earliest(tasks: &[Sporadic], assumed: &[Duration]) -> Vec<Sporadic> {
    tasks.iter().zip(assumed).map(|(τ, c)| Sporadic { deadline: τ.deadline.saturating_sub(*c), ..*τ }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::Dedicated;

    #[test]
    fn who_has_less_to_spare_at_release_waits_less() {
        let ms = Duration::from_millis;
        // 9 to spare and 1: the second goes first though it is due later.
        let tasks = [Sporadic::new(ms(1), ms(20), ms(10)), Sporadic::new(ms(10), ms(20), ms(11))];
        let c = [ms(1), ms(10)];
        let e = || Effort::default();
        assert_eq!(at_release(&tasks, &c, Duration::ZERO, &Dedicated, &mut e()), Some(vec![ms(11), ms(10)]));
        let again = looked_at_again(&tasks, &c, Duration::ZERO, &Dedicated, &mut e()).unwrap();
        assert!(again[0] >= ms(11) && again[1] >= ms(11), "either may go first: {again:?}");
    }
}
