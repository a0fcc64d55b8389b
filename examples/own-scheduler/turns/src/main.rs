//! All threads take turns.
#![no_std]
#![no_main]

use tactus_sched::rt::abi::layout::MAX_THREADS;
use tactus_sched::{Choice, Cycles, Parameters, Thread, ThreadScheduler, Urgency, View};

tactus_sched::scheduler! { policy: Turns = Turns::new(), quantum: 1_000_000 }

/// The threads that can run; the first one does.
struct Turns {
    queue: [Thread; MAX_THREADS],
    count: usize,
}

impl Turns {
    const fn new() -> Turns {
        Turns { queue: [Thread(0); MAX_THREADS], count: 0 }
    }
}

impl ThreadScheduler for Turns {
    fn thread_new(&mut self, _: Thread, _: Parameters) -> Urgency {
        Urgency(0)
    }

    fn thread_remove(&mut self, _: Thread) {}

    fn time_elapsed(&mut self, _: Thread, _: Cycles) {}

    fn timer_tick(&mut self, _: u64) {
        if self.count > 1 {
            self.queue[..self.count].rotate_left(1);
        }
    }

    fn schedule(&mut self, _: &View<'_>) -> Choice {
        Choice { thread: self.queue[..self.count].first().copied(), until: Cycles::NEVER }
    }

    fn thread_block(&mut self, thread: Thread) {
        if let Some(place) = self.queue[..self.count].iter().position(|other| *other == thread) {
            self.queue.copy_within(place + 1..self.count, place);
            self.count -= 1;
        }
    }

    fn thread_wakeup(&mut self, thread: Thread) {
        self.queue[self.count] = thread;
        self.count += 1;
    }
}
