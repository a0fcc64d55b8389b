//! Events: what jobs await beside time. A job that awaits one is out of its queue until another job lets it go on.

use alloc::vec::Vec;
use tactus_task::EventRule;

/// The events of a domain.
#[derive(Debug)]
pub(super) struct Events(Vec<EventState>);

#[derive(Debug)]
struct EventState {
    rule: EventRule,
    /// Of a semaphore, how many may still have it.
    count: u32,
    /// The tasks whose jobs await it, in the order in which they came.
    waiting: Vec<usize>,
}

impl Events {
    /// The events of these rules, for so many tasks.
    pub(super) fn new(rules: &[EventRule], tasks: usize) -> Events {
        let one = |rule: &EventRule| EventState {
            rule: *rule,
            count: if let EventRule::Semaphore(count) = rule { *count } else { 0 },
            waiting: Vec::with_capacity(tasks),
        };
        Events(rules.iter().map(one).collect())
    }

    /// The job of the task awaits the event. Whether it has to wait.
    pub(super) fn await_event(&mut self, event: u16, place: usize) -> bool {
        let Some(it) = self.0.get_mut(usize::from(event)) else { return false };
        match it.rule {
            EventRule::Semaphore(_) if it.count > 0 => it.count -= 1,
            EventRule::Barrier(of) if it.waiting.len() as u64 + 1 >= u64::from(of) => {}
            EventRule::Condition | EventRule::Semaphore(_) | EventRule::Barrier(_) => {
                it.waiting.push(place);
                return true;
            }
        }
        false
    }

    /// Takes out one whom the event lets go on: the first that waits.
    pub(super) fn pop(&mut self, event: u16) -> Option<usize> {
        let it = self.0.get_mut(usize::from(event)).filter(|it| !it.waiting.is_empty())?;
        Some(it.waiting.remove(0))
    }

    /// Adds one to a semaphore for which nobody waits.
    pub(super) fn keep(&mut self, event: u16) {
        if let Some(it) = self.0.get_mut(usize::from(event)) {
            if matches!(it.rule, EventRule::Semaphore(_)) {
                it.count = it.count.saturating_add(1);
            }
        }
    }

    pub(super) fn is_barrier(&self, event: u16) -> bool {
        self.0.get(usize::from(event)).is_some_and(|it| matches!(it.rule, EventRule::Barrier(_)))
    }
}
