//! Events that come by one processor after another, put in the order of time without all of them in memory.

use crate::recording::{Event, EventKind, Recording};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use tactus_time::{Duration, Instant};

/// How much later than others events of a processor may stand in a file: more than any recorder waits before it empties a buffer.
const WINDOW: Duration = Duration::from_secs(20);

/// Events that wait until no earlier one can come.
#[derive(Default)]
pub(crate) struct InOrder {
    waiting: BinaryHeap<Reverse<Waiting>>,
    count: u64,
    newest: Instant,
    /// The time of the last event that went on.
    passed: Instant,
}

/// By time, and those of one instant as they came.
struct Waiting {
    key: (Instant, u64),
    event: Event,
}

impl PartialEq for Waiting {
    fn eq(&self, other: &Waiting) -> bool {
        self.key == other.key
    }
}
impl Eq for Waiting {}
impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Waiting) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Waiting {
    fn cmp(&self, other: &Waiting) -> std::cmp::Ordering {
        self.key.cmp(&other.key)
    }
}

impl InOrder {
    /// Takes an event, and passes on those that are older than the window.
    ///
    /// # Errors
    /// One that is later than it has already passed on.
    pub(crate) fn push(
        &mut self,
        time: Instant,
        cpu: u16,
        kind: EventKind,
        recording: &mut Recording,
    ) -> Result<(), String> {
        if time < self.passed {
            return Err(format!(
                "events of core {cpu} stand {} behind others in the file, more than the {WINDOW} that are put in order; record for a \
                 shorter time, or with file_write_period_ms",
                self.newest.since(time)
            ));
        }
        self.newest = self.newest.max(time);
        self.waiting.push(Reverse(Waiting { key: (time, self.count), event: Event { time, cpu, kind } }));
        self.count += 1;
        while let Some(Reverse(first)) = self.waiting.peek() {
            if self.newest.since(first.event.time) <= WINDOW {
                break;
            }
            self.pass(recording);
        }
        Ok(())
    }

    fn pass(&mut self, recording: &mut Recording) {
        if let Some(Reverse(Waiting { event: Event { time, cpu, kind }, .. })) = self.waiting.pop() {
            self.passed = time;
            recording.push(time, cpu, kind);
        }
    }

    /// Passes on all.
    pub(crate) fn finish(mut self, recording: &mut Recording) {
        while !self.waiting.is_empty() {
            self.pass(recording);
        }
    }
}
