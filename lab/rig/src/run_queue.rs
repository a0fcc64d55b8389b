//! One processor's ready tasks: the one that it runs, and a queue of those that wait. A ready task is in exactly one
//! such queue, even when it does not run.

use tactus_compared_structures::directory::{CLOSED, IDLE};
use tactus_compared_structures::queue::{Entry, ReadyQueue};

/// A processor's ready tasks.
pub struct RunQueue<Q> {
    /// The most urgent one: it runs.
    pub running: Option<Entry>,
    /// The others.
    pub waiting: Q,
    /// How many tasks came in from outside.
    pub arrivals: u64,
    /// How many left for good.
    pub departures: u64,
    /// How many came from other queues, less how many went to them.
    pub balance: i64,
}

impl<Q: ReadyQueue> RunQueue<Q> {
    pub(crate) fn new(tasks: usize) -> Self {
        RunQueue { running: None, waiting: Q::with_room(tasks), arrivals: 0, departures: 0, balance: 0 }
    }

    /// Puts a task in.
    pub fn enqueue(&mut self, entry: Entry) {
        match self.running {
            Some(running) if running.urgency <= entry.urgency => self.waiting.insert(entry),
            displaced => {
                self.running = Some(entry);
                if let Some(displaced) = displaced {
                    self.waiting.insert(displaced);
                }
            }
        }
    }

    /// Takes a task out, if it is there; if it ran, the next one does.
    pub fn dequeue(&mut self, task: u32) -> Option<Entry> {
        match self.running {
            Some(running) if running.task == task => {
                self.running = self.waiting.pop();
                Some(running)
            }
            _ => self.waiting.remove(task),
        }
    }

    /// How many tasks are ready here.
    pub fn len(&self) -> usize {
        usize::from(self.running.is_some()) + self.waiting.len()
    }

    /// Whether none is.
    pub fn is_empty(&self) -> bool {
        self.running.is_none()
    }

    /// What the processor has to say to those who push: how urgent what it runs is.
    pub fn room(&self) -> u64 {
        self.running.map_or(IDLE, |running| running.urgency)
    }

    /// What it has to say to those who pull: how urgent what waits is, turned round.
    pub fn offer(&self, turn: impl Fn(u64) -> u64) -> u64 {
        self.waiting.peek().map_or(CLOSED, |entry| turn(entry.urgency))
    }
}
