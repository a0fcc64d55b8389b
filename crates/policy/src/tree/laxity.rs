//! Least laxity: when the jobs of a queue are looked at again because time has passed. A queue in which nobody is ordered so is
//! never looked at.

use super::domain::{Domain, BACKGROUND};
use crate::heap::Key;
use tactus_task::TaskOrder;
use tactus_time::{Duration, Instant};

impl Domain {
    /// Where the order changes with time, brings up to date what has run, in queues to which something came, from which something
    /// went, or in which a look is due. At nothing else, so that what happens elsewhere on the core changes nothing.
    pub(super) fn look_at_laxities(&mut self, me: usize, now: Instant) {
        for queue in 0..self.run_queues.len() {
            if !core::mem::take(&mut self.run_queues[queue].looks) {
                continue;
            }
            for n in 0..self.run_queues[queue].ran.len() {
                let place = self.run_queues[queue].ran[n];
                let since = self.runs_elsewhere(me, place).map_or(Duration::ZERO, |since| now.since(since));
                let task = &mut self.tasks[place];
                task.look(since);
                if task.ready() {
                    let key = Key::new(task.urgency().min(BACKGROUND - 1), place);
                    self.queues.insert(key);
                }
            }
            let core_states = &self.core_states;
            let runs = |place: &usize| core_states.iter().any(|core_state| core_state.running() == Some(*place));
            self.run_queues[queue].ran.retain(runs);
        }
    }

    /// How long the running task has to run, from the last look at it on, until it is looked at again.
    fn look_after(&self, place: usize) -> Option<Duration> {
        let task = &self.tasks[place];
        let run_queue = &self.run_queues[task.queue];
        let waiting = run_queue.waiting.filter(|waiting| waiting.place() != place)?;
        Some(task.overtaken_after(waiting.time().as_nanos(), waiting.place() > place)?.max(run_queue.quantum))
    }

    /// Whether the job that the core is to run has to be looked at first, since another one waits now than before.
    pub(super) fn look_is_overdue(&mut self, me: usize) -> bool {
        let Some(place) = self.core_states[me].plan.filter(|place| self.laxities && self.look_is_due(*place)) else {
            return false;
        };
        self.run_queues[self.tasks[place].queue].looks = true;
        true
    }

    pub(super) fn look_is_due(&self, place: usize) -> bool {
        self.tasks[place].order == TaskOrder::LeastLaxity
            && self.look_after(place).is_some_and(|after| self.tasks[place].ran_since_look(Duration::ZERO) >= after)
    }

    /// When a waiting job has less time to spare than the one that the core runs.
    pub(super) fn overtaken(&self, core: usize, now: Instant) -> Instant {
        let core_state = &self.core_states[core];
        let by_laxity = |place: &usize| self.tasks[*place].order == TaskOrder::LeastLaxity;
        let Some(place) = core_state.running().filter(|place| self.laxities && by_laxity(place)) else {
            return Instant::NEVER;
        };
        let ran = self.tasks[place].ran_since_look(now.since(core_state.since));
        self.look_after(place).map_or(Instant::NEVER, |after| now.saturating_add(after.saturating_sub(ran)))
    }
}
