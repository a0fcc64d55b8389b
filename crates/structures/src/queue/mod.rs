//! Queues of ready tasks: the most urgent first. One core owns each; whoever else wants in takes that core's lock.

mod binary;
mod first;

pub use binary::BinaryHeap;
pub use first::FirstHeap;

use crate::Flaw;

/// A task in a queue. Smaller is more urgent; equally urgent tasks are ordered by their number.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Entry {
    /// How urgent: a deadline, a period or a priority. Smaller is more urgent.
    pub urgency: u64,
    /// Which task.
    pub task: u32,
}

impl Entry {
    /// Both in one wide number, so that a comparison is two instructions and has no branch.
    #[inline]
    fn wide(self) -> u128 {
        u128::from(self.urgency) << 64 | u128::from(self.task)
    }
}

impl PartialOrd for Entry {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<core::cmp::Ordering> {
        Some(self.cmp(other))
    }
    // The one that heaps ask; the rest follows from `cmp`.
    #[inline]
    fn lt(&self, other: &Self) -> bool {
        self.wide() < other.wide()
    }
}

impl Ord for Entry {
    #[inline]
    fn cmp(&self, other: &Self) -> core::cmp::Ordering {
        self.wide().cmp(&other.wide())
    }
}

/// No task, in a table of tasks.
const NIL: u32 = u32::MAX;

/// A queue of ready tasks. A task is in it once at most.
pub trait ReadyQueue: Send {
    /// What people call it.
    const NAME: &'static str;
    /// Urgencies must be below this.
    const LEVELS: u64 = u64::MAX;

    /// An empty queue for the tasks below `tasks`.
    fn with_room(tasks: usize) -> Self;
    /// Puts a task in. If it is there already, its urgency is changed.
    fn insert(&mut self, entry: Entry);
    /// Takes a task out, if it is there.
    fn remove(&mut self, task: u32) -> Option<Entry>;
    /// The most urgent one. Among equally urgent ones, the one with the smallest number, but in a bitmap the one that
    /// came first.
    fn peek(&self) -> Option<Entry>;
    /// Takes out the most urgent one.
    fn pop(&mut self) -> Option<Entry> {
        let first = self.peek()?;
        self.remove(first.task)
    }
    /// How many there are.
    fn len(&self) -> usize;
    /// Whether there is none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Visits every entry, in whatever order.
    fn each(&self, visit: &mut dyn FnMut(Entry));
    /// Tells whether the structure is as it must be.
    ///
    /// # Errors
    /// The first rule that is broken.
    fn check(&self) -> Result<(), Flaw>;
}
