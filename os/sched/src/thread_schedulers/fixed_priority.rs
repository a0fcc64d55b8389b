//! Fixed priorities, round robin among equals.
//!
//! A first-in-first-out queue for each priority; the running thread is the first of the most urgent queue that is not
//! empty, and stays in it. A tick sends it to its queue's end. All operations take constant time.

use crate::{Choice, Cycles, Parameters, Thread, ThreadScheduler, Urgency, View};
use tactus_rt::abi::layout::MAX_THREADS;

/// Priorities 0 (the most urgent) to 63; a thread made with a greater one gets the last.
pub const PRIORITIES: usize = 64;

/// Ends a queue.
const NONE: u16 = u16::MAX;

/// The queue of one priority.
#[derive(Clone, Copy)]
struct Queue {
    first: u16,
    last: u16,
}

/// A thread as the policy sees it.
#[derive(Clone, Copy)]
struct Place {
    priority: u8,
    next: u16,
    previous: u16,
    used: Cycles,
}

/// The policy of one core.
pub struct FixedPriority {
    queues: [Queue; PRIORITIES],
    /// Bit `p` is set where queue `p` is not empty.
    filled: u64,
    places: [Place; MAX_THREADS],
}

impl FixedPriority {
    /// A core without threads.
    pub const fn new() -> FixedPriority {
        FixedPriority {
            queues: [Queue { first: NONE, last: NONE }; PRIORITIES],
            filled: 0,
            places: [Place { priority: 0, next: NONE, previous: NONE, used: Cycles(0) }; MAX_THREADS],
        }
    }

    /// What the thread has used of this core.
    pub fn used(&self, thread: Thread) -> Cycles {
        self.places[thread.index()].used
    }

    /// The first thread of the most urgent queue.
    #[inline(always)]
    pub fn first(&self) -> Option<Thread> {
        if self.filled == 0 {
            return None;
        }
        Some(Thread(self.queues[self.filled.trailing_zeros() as usize % PRIORITIES].first))
    }

    /// Puts a thread at its queue's end.
    #[inline(always)]
    fn append(&mut self, thread: Thread) {
        let priority = usize::from(self.places[thread.index()].priority) % PRIORITIES;
        let queue = &mut self.queues[priority];
        let last = core::mem::replace(&mut queue.last, thread.0);
        if self.filled >> priority & 1 == 0 {
            queue.first = thread.0;
            self.filled |= 1 << priority;
        } else {
            self.places[usize::from(last) % MAX_THREADS].next = thread.0;
        }
        let place = &mut self.places[thread.index()];
        (place.previous, place.next) = (last, NONE);
    }

    /// Takes a thread out of its queue.
    #[inline(always)]
    fn take_out(&mut self, thread: Thread) {
        let Place { priority, next, previous, .. } = self.places[thread.index()];
        let queue = &mut self.queues[usize::from(priority) % PRIORITIES];
        if previous == NONE && next == NONE {
            (queue.first, queue.last) = (NONE, NONE);
            self.filled &= !(1 << priority);
            return;
        }
        match previous {
            NONE => queue.first = next,
            previous => self.places[usize::from(previous) % MAX_THREADS].next = next,
        }
        match next {
            NONE => queue.last = previous,
            next => self.places[usize::from(next) % MAX_THREADS].previous = previous,
        }
    }
}

impl Default for FixedPriority {
    fn default() -> Self {
        Self::new()
    }
}

impl ThreadScheduler for FixedPriority {
    fn thread_new(&mut self, thread: Thread, parameters: Parameters) -> Urgency {
        let priority = usize::from(parameters.priority()).min(PRIORITIES - 1);
        self.places[thread.index()] = Place { priority: priority as u8, next: NONE, previous: NONE, used: Cycles(0) };
        Urgency(priority as u16)
    }

    fn thread_remove(&mut self, _: Thread) {}

    #[inline(always)]
    fn time_elapsed(&mut self, thread: Thread, used: Cycles) {
        let place = &mut self.places[thread.index()];
        place.used = Cycles(place.used.0.wrapping_add(used.0));
    }

    fn timer_tick(&mut self, _: u64) {
        if let Some(running) = self.first() {
            self.take_out(running);
            self.append(running);
        }
    }

    #[inline(always)]
    fn schedule(&mut self, _: &View<'_>) -> Choice {
        Choice { thread: self.first(), until: Cycles::NEVER }
    }

    #[inline(always)]
    fn thread_block(&mut self, thread: Thread) {
        self.take_out(thread);
    }

    #[inline(always)]
    fn thread_wakeup(&mut self, thread: Thread) {
        self.append(thread);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;

    fn core_with(priorities: &[u16]) -> FixedPriority {
        let mut core = FixedPriority::new();
        for (number, priority) in priorities.iter().enumerate() {
            core.thread_new(Thread(number as u16), Parameters::priority_of(*priority));
        }
        core
    }

    #[test]
    fn the_more_urgent_goes_first_and_equals_take_turns() {
        let mut core = core_with(&[5, 3, 3, 70]);
        (0..4).for_each(|thread| core.thread_wakeup(Thread(thread)));
        assert_eq!(core.first(), Some(Thread(1)));
        core.timer_tick(1);
        assert_eq!(core.first(), Some(Thread(2)));
        core.timer_tick(1);
        assert_eq!(core.first(), Some(Thread(1)));
        core.thread_block(Thread(1));
        core.thread_block(Thread(2));
        assert_eq!(core.first(), Some(Thread(0)));
        core.thread_block(Thread(0));
        assert_eq!(core.first(), Some(Thread(3)));
        core.thread_block(Thread(3));
        assert_eq!(core.first(), None);
    }

    #[test]
    fn it_chooses_what_plain_lists_choose_whatever_happens() {
        // The oracle keeps a list for each priority and searches it.
        let priorities: Vec<u16> = (0..40).map(|thread| thread % 5).collect();
        let mut core = core_with(&priorities);
        let mut lists: Vec<VecDeque<u16>> = vec![VecDeque::new(); 5];
        let mut random = 0x9E37_79B9_7F4A_7C15_u64;
        for _ in 0..100_000 {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            let thread = (random % 40) as u16;
            let list = &mut lists[usize::from(priorities[usize::from(thread)])];
            if random >> 32 & 7 == 0 {
                core.timer_tick(1);
                if let Some(list) = lists.iter_mut().find(|list| !list.is_empty()) {
                    list.rotate_left(1);
                }
            } else if let Some(at) = list.iter().position(|other| *other == thread) {
                list.remove(at);
                core.thread_block(Thread(thread));
            } else {
                list.push_back(thread);
                core.thread_wakeup(Thread(thread));
            }
            let expected = lists.iter().find_map(|list| list.front().copied());
            assert_eq!(core.first(), expected.map(Thread));
        }
    }
}
