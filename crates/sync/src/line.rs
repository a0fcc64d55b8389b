//! A line in which cores stand that want to change something together, where none can be made to wait for another for good: one
//! that was stopped loses its turn, not its place.
//!
//! It keeps nobody out. With [`Versions`](crate::Versions) it sees to it that cores do not make their copies in vain, and that who
//! came first is served first: a contention manager for what is free of obstruction (Herlihy, Luchangco and Moir, "Obstruction-Free
//! Synchronization", 2003).

use crate::facade::{AtomicU32, Ordering};
use core::ops::Deref;

/// The line. `C` keeps a word for each core, a `Vec` for instance.
pub struct Line<C> {
    /// The number that was given last.
    last: AtomicU32,
    /// By core: its number, which is odd; zero if it does not stand here.
    numbers: C,
}

impl<C: Deref<Target = [AtomicU32]>> Line<C> {
    /// An empty line. A word for each core, all zero.
    pub fn new(numbers: C) -> Self {
        Line { last: AtomicU32::new(1), numbers }
    }

    /// The core stands in the line from now on, at its end unless it stood there before.
    pub fn join(&self, core: usize) {
        if self.numbers[core].load(Ordering::Relaxed) == 0 {
            let number = self.last.fetch_add(2, Ordering::Relaxed).wrapping_add(2);
            self.numbers[core].store(number, Ordering::SeqCst);
        }
    }

    /// Whether nobody stands before the core, or only such as are stopped, as `stopped` says.
    pub fn is_first(&self, core: usize, stopped: impl Fn(usize) -> bool) -> bool {
        let mine = self.numbers[core].load(Ordering::Relaxed);
        let before = |number: u32| number != 0 && (number.wrapping_sub(mine) as i32) < 0;
        self.numbers.iter().enumerate().all(|(n, it)| !before(it.load(Ordering::SeqCst)) || stopped(n))
    }

    /// The core leaves the line.
    pub fn leave(&self, core: usize) {
        self.numbers[core].store(0, Ordering::SeqCst);
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;
    use std::vec;
    use std::vec::Vec;

    #[test]
    fn who_came_first_goes_first_and_who_is_stopped_is_passed_but_keeps_the_place() {
        let line = Line::new(vec![AtomicU32::new(0), AtomicU32::new(0), AtomicU32::new(0)]);
        let first = |stopped: Option<usize>| {
            (0..3).filter(|core| line.is_first(*core, |other| stopped == Some(other))).collect::<Vec<_>>()
        };
        for round in 0..3 {
            let order = [[2, 0, 1], [1, 2, 0], [0, 1, 2]][round];
            order.iter().for_each(|core| line.join(*core));
            line.join(order[0]);
            assert_eq!(first(None), [order[0]]);
            let mut both = [order[0], order[1]];
            both.sort_unstable();
            assert_eq!(first(Some(order[0])), both);
            assert_eq!(first(Some(order[1])), [order[0]]);
            for (n, core) in order.iter().enumerate() {
                assert!(line.is_first(*core, |_| false), "round {round}, core {core}");
                line.leave(*core);
                if let Some(next) = order.get(n + 1) {
                    assert!(line.is_first(*next, |_| false));
                }
            }
        }
    }

    #[test]
    fn numbers_go_on_after_the_largest() {
        let line = Line { last: AtomicU32::new(u32::MAX - 2), numbers: vec![AtomicU32::new(0), AtomicU32::new(0)] };
        line.join(1);
        line.join(0);
        assert!(line.is_first(1, |_| false) && !line.is_first(0, |_| false));
    }
}
