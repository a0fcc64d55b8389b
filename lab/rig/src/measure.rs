//! Durations and counts of each operation on each processor, and what is told of them.
//!
//! No stamp lies within a measured stretch: whole pushes and pulls are measured in one cycle, what they consist of in
//! the next.

use std::cell::Cell;
use tactus_sync::stamp::{begin, end, Serialise};

/// What is measured.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Operation {
    /// A whole pull, successful or not.
    Pull,
    /// A whole push, successful or not.
    Push,
    /// Putting a task into a ready queue.
    Enqueue,
    /// Taking one out.
    Dequeue,
    /// Telling the directory to push to of an arrival.
    Preempt,
    /// Telling it of a departure.
    Finish,
    /// Asking it.
    Find,
    /// Telling the directory to pull from of an arrival.
    PullPreempt,
    /// Telling it of a departure.
    PullFinish,
    /// Asking it.
    PullFind,
    /// Nothing: what a measurement itself takes.
    Empty,
}

impl Operation {
    /// All, in the order of the source.
    pub const ALL: [Operation; OPERATIONS] = [
        Operation::Pull,
        Operation::Push,
        Operation::Enqueue,
        Operation::Dequeue,
        Operation::Preempt,
        Operation::Finish,
        Operation::Find,
        Operation::PullPreempt,
        Operation::PullFinish,
        Operation::PullFind,
        Operation::Empty,
    ];
    /// As it stands in results.
    pub fn name(self) -> &'static str {
        match self {
            Operation::Pull => "pull",
            Operation::Push => "push",
            Operation::Enqueue => "enqueue",
            Operation::Dequeue => "dequeue",
            Operation::Preempt => "preempt",
            Operation::Finish => "finish",
            Operation::Find => "find",
            Operation::PullPreempt => "pull-preempt",
            Operation::PullFinish => "pull-finish",
            Operation::PullFind => "pull-find",
            Operation::Empty => "empty",
        }
    }
    fn is_outer(self) -> bool {
        matches!(self, Operation::Pull | Operation::Push)
    }
}

/// How many operations are measured: the source's seven, those of the pull side by themselves, and nothing at all.
pub const OPERATIONS: usize = 11;

/// How many durations of an operation are kept for each processor; the later ones are counted only.
const KEPT: usize = 1 << 16;

/// What one processor measured.
#[derive(Clone, Debug, Default)]
pub struct Samples {
    /// By operation: durations in cycles of the counter.
    pub durations: [Vec<u32>; OPERATIONS],
    /// By operation: how often it was done, measured or not.
    pub counts: [u64; OPERATIONS],
    /// Page faults between the first cycle and the last.
    pub faults: u64,
    /// Tasks that came in from outside, tasks that left.
    pub arrivals: u64,
    /// Tasks that left.
    pub departures: u64,
    /// Tasks that this processor moved from one queue to another.
    pub moved: u64,
    /// Activations that found no free task.
    pub refused: u64,
}

/// A processor's stop-watch.
pub(crate) struct Watch {
    how: Serialise,
    /// Which kind is measured at present; nothing in testing mode.
    outer: Cell<Option<bool>>,
    pub(crate) samples: Samples,
}

impl Watch {
    pub(crate) fn new(how: Serialise, measures: bool) -> Watch {
        let mut samples = Samples::default();
        if measures {
            // Written once, so that no page is new when it is measured.
            samples.durations = core::array::from_fn(|_| {
                let mut room = vec![1; KEPT];
                room.clear();
                room
            });
        }
        Watch { how, outer: Cell::new(measures.then_some(false)), samples }
    }

    /// Begins a cycle.
    pub(crate) fn turn(&mut self, cycle: u64) {
        if self.outer.get().is_some() {
            self.outer.set(Some(cycle % 2 == 0));
            self.time(Operation::Empty, || ());
        }
    }

    /// Does it, and notes how long it took if that is measured at present.
    #[inline]
    pub(crate) fn time<R>(&mut self, operation: Operation, work: impl FnOnce() -> R) -> R {
        self.samples.counts[operation as usize] += 1;
        if self.outer.get() != Some(operation.is_outer()) && operation != Operation::Empty || self.outer.get().is_none()
        {
            return work();
        }
        let start = begin(self.how);
        let result = work();
        let stop = end(self.how);
        self.note(operation, stop.wrapping_sub(start));
        result
    }

    /// Begins to measure something that cannot be put into a closure.
    #[inline]
    pub(crate) fn start(&self, operation: Operation) -> Option<u64> {
        (self.outer.get() == Some(operation.is_outer())).then(|| begin(self.how))
    }

    /// Ends it.
    #[inline]
    pub(crate) fn stop(&mut self, operation: Operation, start: Option<u64>) {
        self.samples.counts[operation as usize] += 1;
        if let Some(start) = start {
            let stop = end(self.how);
            self.note(operation, stop.wrapping_sub(start));
        }
    }

    fn note(&mut self, operation: Operation, cycles: u64) {
        let durations = &mut self.samples.durations[operation as usize];
        if durations.len() < KEPT {
            durations.push(u32::try_from(cycles).unwrap_or(u32::MAX));
        }
    }
}

/// The figures of a box plot, and a few more percentiles.
#[derive(Clone, Copy, PartialEq, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Boxes {
    /// How many durations.
    pub samples: u64,
    /// The shortest.
    pub min: u32,
    /// A quarter is shorter.
    pub p25: u32,
    /// Half are shorter.
    pub median: u32,
    /// Three quarters are shorter.
    pub p75: u32,
    /// All but a hundredth are shorter.
    pub p99: u32,
    /// All but a thousandth are shorter.
    pub p999: u32,
    /// The longest.
    pub max: u32,
}

impl Boxes {
    /// Of these durations; nothing if there is none. Percentiles by the nearest rank.
    pub fn of(durations: &[u32]) -> Option<Boxes> {
        let mut sorted = durations.to_vec();
        sorted.sort_unstable();
        let (min, max) = (*sorted.first()?, *sorted.last()?);
        let rank = |part: f64| sorted[((sorted.len() as f64 * part).ceil() as usize).clamp(1, sorted.len()) - 1];
        Some(Boxes {
            samples: sorted.len() as u64,
            min,
            p25: rank(0.25),
            median: rank(0.5),
            p75: rank(0.75),
            p99: rank(0.99),
            p999: rank(0.999),
            max,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_of_the_nearest_rank() {
        let all: Vec<u32> = (1..=100).rev().collect();
        let boxes = Boxes::of(&all).unwrap();
        assert_eq!((boxes.min, boxes.p25, boxes.median, boxes.p75, boxes.p99, boxes.max), (1, 25, 50, 75, 99, 100));
        assert_eq!(Boxes::of(&[]), None);
    }
}
