//! What is ready where: the places of tasks in their queues, and of servers in those of the servers around them.

use super::budget::Budget;
use super::domain::{Domain, BACKGROUND};
use super::task_state::TaskState;
use crate::heap::Key;
use tactus_task::{TaskOrder, WhenIdle};
use tactus_time::{Duration, Instant};

impl Domain {
    /// Brings a task's place in its queue up to date with its state.
    pub(super) fn queue(&mut self, place: usize, now: Instant) {
        self.put_in_place(place);
        self.content_changed(self.tasks[place].queue, now);
    }

    /// What a task that is ready has its place in its queue by.
    #[inline]
    pub(super) fn key_of(task: &TaskState, place: usize) -> Key {
        Key::new(task.urgency().min(BACKGROUND - 1), place)
    }

    /// The same of a job that is released then, for one that [`TaskState::arrives_first`].
    #[inline(always)]
    pub(super) fn key_of_release(task: &TaskState, place: usize, at: Instant) -> Key {
        Key::new(task.urgency_at_release(at).min(BACKGROUND - 1), place)
    }

    pub(super) fn put_in_place(&mut self, place: usize) {
        let task = &mut self.tasks[place];
        let queue = task.queue;
        if self.laxities {
            // It came, or goes.
            self.run_queues[queue].looks |= task.ready() != self.queues.contains(place);
        }
        if task.ready() {
            if task.order.takes_turns() && task.slice.is_zero() {
                let run_queue = &mut self.run_queues[queue];
                run_queue.turns += 1;
                task.turn = run_queue.turns;
                task.slice = run_queue.quantum;
            }
            let key = Domain::key_of(task, place);
            self.queues.insert(key);
        } else {
            // Where turns are taken, it comes back at the end.
            task.slice = Duration::ZERO;
            self.queues.remove(place);
        }
    }

    /// Whether a virtual processor of the queue has had its core until now. The root always has.
    pub(super) fn is_served(&self, queue: usize) -> bool {
        self.run_queues[queue].vps.iter().any(|vp| {
            let it = &self.vps[*vp];
            it.parent.is_none() || self.core_states[it.core].charged.iter().any(|(at, _)| at == *vp)
        })
    }

    /// Updates which virtual processors of the queue have work, after an entity entered or left it.
    pub(super) fn content_changed(&mut self, queue: usize, now: Instant) {
        // What was taken out only to look at the rest is there.
        let aside = |vp: &usize| self.vps[*vp].parent.is_some_and(|parent| self.vps[parent].below == queue);
        let some = self.queues.len(queue) > 0 || self.aside.iter().any(aside);
        // Of those who share a queue, one that lacks work is woken when it is known that a job waits for it.
        if some && self.run_queues[queue].vps.iter().any(|vp| self.vps[*vp].awake) {
            return;
        }
        for n in 0..self.run_queues[queue].vps.len() {
            let vp = self.run_queues[queue].vps[n];
            if self.vps[vp].awake != some {
                self.set_awake(vp, some, now);
            }
        }
    }

    /// Marks whether the virtual processor has work.
    pub(super) fn set_awake(&mut self, vp: usize, awake: bool, now: Instant) {
        let it = &mut self.vps[vp];
        (it.awake, it.since) = (awake, now);
        if let Some(budget) = &mut it.budget {
            if awake {
                budget.wake(now);
            } else {
                budget.block(now);
            }
        }
        self.show(vp, now);
    }

    /// What becomes of its budget if it is chosen without work.
    pub(super) fn when_idle(&self, vp: usize) -> WhenIdle {
        match &self.vps[vp].budget {
            Some(budget) if !self.vps[vp].awake => budget.when_idle(),
            _ => WhenIdle::Preserve,
        }
    }

    /// Updates a virtual processor's position in its parent's queue and the time of its next replenishment.
    pub(super) fn show(&mut self, vp: usize, now: Instant) {
        self.count_active(vp);
        let it = &self.vps[vp];
        let (Some(parent), Some(budget)) = (it.parent, &it.budget) else { return };
        let urgency = match it.order {
            TaskOrder::EarliestDeadline => budget.deadline().as_nanos(),
            _ => it.rank,
        };
        let urgency = urgency.min(BACKGROUND - 1);
        let band = match budget.eligible(now) && (it.awake || budget.when_idle() != WhenIdle::Preserve) {
            true => Some(urgency),
            false => (it.awake && it.background).then_some(urgency | BACKGROUND),
        };
        let band = band.filter(|_| !it.is_unused());
        let next = if it.is_unused() {
            Instant::NEVER
        } else if it.awake || budget.ticks_on() {
            budget.next(now)
        } else {
            Instant::NEVER
        };
        let (core, entity, queue) = (it.core, self.tasks.len() + vp, self.vps[parent].below);
        match band {
            Some(urgency) => self.queues.insert(Key::new(urgency, entity)),
            None => self.queues.remove(entity),
        }
        let heap = &mut self.core_states[core].replenish;
        if next < Instant::NEVER {
            heap.insert(Key::at(next, vp));
        } else {
            heap.remove(vp);
        }
        self.content_changed(queue, now);
    }

    /// Updates the active bandwidth of the queue that a virtual processor is in, if servers there reclaim.
    pub(super) fn count_active(&mut self, vp: usize) {
        let Some(parent) = self.vps[vp].parent else { return };
        let queue = self.vps[parent].below;
        let Some(active) = self.run_queues[queue].active else { return };
        let it = &mut self.vps[vp];
        let unused = it.is_unused();
        if let Some(budget) = &mut it.budget {
            let (now, before) = budget.activity(it.awake, unused);
            self.run_queues[queue].active = Some(active + now - before);
        }
    }

    /// Sets the rate at which servers that reclaim are charged for what the core runs next; where it runs nothing, they all
    /// become inactive.
    pub(super) fn reclaim(&mut self, me: usize, now: Instant) {
        let core_state = &self.core_states[me];
        let (root, path) = (core_state.root, core_state.charged);
        if core_state.idle && self.run_queues[self.vps[root].below].active.is_some() {
            for vp in 0..self.vps.len() {
                let it = &mut self.vps[vp];
                if let Some(budget) = it.budget.as_mut().filter(|_| it.parent == Some(root)) {
                    if let Some(reclaiming) = budget.reclaiming() {
                        reclaiming.processor_idle();
                    }
                    self.show(vp, now);
                }
            }
        }
        for (vp, _) in path.iter() {
            let active = self.vps[vp].parent.and_then(|parent| self.run_queues[self.vps[parent].below].active);
            let reclaiming = self.vps[vp].budget.as_mut().and_then(Budget::reclaiming);
            if let (Some(active), Some(reclaiming)) = (active, reclaiming) {
                reclaiming.set_rate(active);
            }
        }
    }

    /// Whether a key in a queue is that of a server without budget.
    pub(super) fn is_background(key: Key) -> bool {
        key.time().as_nanos() >= BACKGROUND
    }
}
