//! What time brings: releases, replenishments, ends of waiting, kills, and what fell due while the parent had the core.

use super::domain::Domain;
use crate::heap::Key;
use crate::records::Recorder;
use tactus_record::EventKind;
use tactus_time::{Duration, Instant, TaskId};

impl Domain {
    /// Handles, one after another, what fell due while the parent had the core.
    #[cold]
    pub(super) fn catch_up(&mut self, me: usize, (left, now): (Instant, Instant), records: &mut Recorder) {
        loop {
            let first =
                [self.core_states[me].replenish.peek(), self.due.peek()].into_iter().flatten().map(Key::time).min();
            let Some(at) = first.map(|first| first.max(left)).filter(|at| *at < now) else { return };
            self.replenish_due(me, at, records);
            self.make_due(me, at, records);
        }
    }

    /// Delays the next job of the running proxy: its child scheduler has nothing to run before `until`. Its completion follows.
    pub(super) fn sleep_until(&mut self, proxy: TaskId, until: Instant) {
        let tasks = &mut self.tasks;
        let running = self
            .core_states
            .iter()
            .find_map(|core_state| core_state.running().filter(|place| tasks[*place].id == proxy));
        if let Some(task) = running.map(|place| &mut tasks[place]).filter(|task| task.proxy) {
            task.sleep_until(until);
        }
    }

    pub(super) fn replenish_due(&mut self, me: usize, now: Instant, records: &mut Recorder) {
        while let Some(due) = self.core_states[me].replenish.peek().filter(|due| due.time() <= now) {
            let vp = &mut self.vps[due.place()];
            if let Some(budget) = &mut vp.budget {
                if let Some(came) = budget.refresh(now) {
                    records.server(EventKind::ServerReplenish, vp.server, came.as_nanos());
                } else if budget.yielding().is_some() {
                    self.end_sampled_period(due.place(), records);
                }
            }
            self.show(due.place(), now);
        }
    }

    /// Handles releases and kills that are due. A job that runs on another core is killed by that core, which also knows whether it is
    /// finished before the next one is released.
    pub(super) fn make_due(&mut self, me: usize, now: Instant, records: &mut Recorder) {
        while let Some(due) = self.due.peek().filter(|due| due.time() <= now) {
            let place = due.place();
            if self.tasks[place].misses_at(due.time()) {
                self.fail_trial(records);
                continue;
            }
            if self.tasks[place].wake_is_due(due.time()) {
                self.tasks[place].wake_up(records);
            } else if self.tasks[place].would_be_left_out() && self.runs_elsewhere(me, place).is_some() {
                self.tasks[place].leave_to_its_core();
                self.plan_event(place);
                continue;
            } else if !self.tasks[place].kill_is_due(due.time()) {
                let uncharged = self.runs_elsewhere(me, place).map_or(Duration::ZERO, |since| now.since(since));
                self.tasks[place].release(uncharged, records);
            } else if self.runs_elsewhere(me, place).is_some() {
                self.tasks[place].leave_to_its_core();
            } else {
                self.tasks[place].kill(records);
                if let Some(resources) = &mut self.resources {
                    resources.end(place);
                }
                self.put_in_place(place);
                // A server that waits for its core notices that its work is gone when it gets it: whoever has more urgent work
                // until then is served as if it were still there.
                let queue = self.tasks[place].queue;
                if self.is_served(queue) {
                    self.content_changed(queue, now);
                }
                self.plan_event(place);
                continue;
            }
            self.queue(place, now);
            self.plan_event(place);
        }
    }

    pub(super) fn plan_event(&mut self, place: usize) {
        match self.tasks[place].next_event() {
            Some(next) => self.due.insert(Key::at(next, place)),
            None => self.due.remove(place),
        }
    }

    /// Since when another core runs the task and has not charged it, if one does.
    pub(super) fn runs_elsewhere(&self, me: usize, place: usize) -> Option<Instant> {
        let mut others = self.core_states.iter().enumerate().filter(|(core, _)| *core != me);
        others.find(|(_, core_state)| core_state.running() == Some(place)).map(|(_, core_state)| core_state.since)
    }
}
