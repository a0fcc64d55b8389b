//! Who is to be woken when, on one core.

use crate::thread_scheduler::{Cycles, Thread};

/// The most threads of one core that wait for a time, children that idle among them.
pub const MAX_TIMEOUTS: usize = 32;

/// Times and threads, the earliest first.
pub(crate) struct Timeouts {
    list: [(Cycles, Thread); MAX_TIMEOUTS],
    used: usize,
}

impl Timeouts {
    pub const fn new() -> Timeouts {
        Timeouts { list: [(Cycles::NEVER, Thread(0)); MAX_TIMEOUTS], used: 0 }
    }

    /// The earliest.
    pub fn first(&self) -> Cycles {
        self.list[0].0
    }

    /// Wakes the thread then, and at no other time that was set before; whether there was room.
    pub fn set(&mut self, thread: Thread, at: Cycles) -> bool {
        self.clear(thread);
        if at == Cycles::NEVER {
            return true;
        }
        if self.used == MAX_TIMEOUTS {
            return false;
        }
        // Among equals the one that was set first is woken first.
        let place = self.list[..self.used].partition_point(|(other, _)| *other <= at);
        self.list.copy_within(place..self.used, place + 1);
        self.list[place] = (at, thread);
        self.used += 1;
        true
    }

    /// Forgets the thread's time.
    pub fn clear(&mut self, thread: Thread) {
        if let Some(place) = self.list[..self.used].iter().position(|(_, other)| *other == thread) {
            self.list.copy_within(place + 1..self.used, place);
            self.used -= 1;
            self.list[self.used] = (Cycles::NEVER, Thread(0));
        }
    }

    /// Takes the earliest if its time has come.
    pub fn take_due(&mut self, now: Cycles) -> Option<Thread> {
        let (at, thread) = self.list[0];
        if self.used == 0 || at > now {
            return None;
        }
        self.clear(thread);
        Some(thread)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_come_in_order_whatever_the_order_in_which_they_were_set() {
        let mut all = Timeouts::new();
        for (thread, at) in [(1, 50), (2, 20), (3, 90), (4, 20)] {
            assert!(all.set(Thread(thread), Cycles(at)));
        }
        all.set(Thread(1), Cycles(10));
        all.clear(Thread(3));
        assert_eq!(all.first(), Cycles(10));
        let due: Vec<_> = std::iter::from_fn(|| all.take_due(Cycles(20))).collect();
        assert_eq!(due, [Thread(1), Thread(2), Thread(4)]);
        assert_eq!(all.first(), Cycles::NEVER);
    }

    #[test]
    fn more_than_fit_are_refused_and_a_thread_in_the_list_is_not_counted_twice() {
        let mut all = Timeouts::new();
        for thread in 0..MAX_TIMEOUTS {
            assert!(all.set(Thread(thread as u16), Cycles(1000 - thread as u64)));
        }
        assert!(!all.set(Thread(200), Cycles(1)));
        assert!(all.set(Thread(7), Cycles(1)));
        assert_eq!(all.take_due(Cycles(1)), Some(Thread(7)));
    }
}
