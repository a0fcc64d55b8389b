//! Short ways: what happens often, where its outcome is known without the whole engine. Whatever is not quite so takes the long way
//! ([`Domain::handle`]), which decides the same.
//!
//! **An arrival** comes when it may, its task has no other job, and nothing else is due. Then nothing can change but that its job is
//! released and, where it is the most urgent of all, has the core.
//!
//! **A resource is handed over** by the job that ran in place of the most urgent one, which asked for it, and nothing else is due. Then
//! nothing can change but that this one has the resource and the core.

use super::domain::Domain;
use super::queues::FirstQueue;
use crate::heap::Key;
use crate::records::{OnCore, Recorder};
use crate::{Decision, Running};
use tactus_record::{EventKind, Sink};
use tactus_task::Overrun;
use tactus_time::{CoreSet, Duration, Instant, TaskId};

impl Domain {
    /// Finds whether arrivals may take the short ways, once all is attached.
    pub(super) fn look_at_short_ways(&mut self) {
        let still =
            self.changes.is_none() && self.sequence.is_none() && self.schedules.is_none() && self.slots.is_none();
        self.arrives_alone = still && !self.laxities && self.core_states.len() == 1;
        self.arrives_first = self.arrives_alone && self.resources.is_none() && self.vps.len() == 1;
    }

    /// As [`Policy::may_arrive`](crate::Policy::may_arrive), on the only core of the domain.
    pub(super) fn may_arrive(&self, task: TaskId) -> bool {
        let place = self.places.get(task.index()).and_then(|place| self.tasks.get(*place));
        self.arrives_alone && place.is_some_and(|task| task.queue == self.core_states[0].queue)
    }

    /// As [`Policy::arrive_first`](crate::Policy::arrive_first), on the only core of the domain.
    #[inline(always)]
    pub(super) fn arrive_first<S: Sink>(
        &mut self,
        now: Instant,
        (task, at): (TaskId, Instant),
        is_idle: bool,
        sink: &mut S,
    ) -> Option<Decision> {
        let ([core_state], tasks) = (&mut self.core_states[..], &mut self.tasks[..]) else { return None };
        let place = *self.places.get(task.index())?;
        let arrived = tasks.get(place)?;
        debug_assert!(self.arrives_first);
        if at > now || !arrived.arrives_first(at) {
            return None;
        }
        let key = Domain::key_of_release(arrived, place, at);
        let timer = self.due.peek().map_or(Instant::NEVER, Key::time);
        if timer <= now || now < core_state.since {
            return None;
        }
        // Without servers, there is one queue.
        debug_assert!(core_state.replenish.peek().is_none() && core_state.ghosts.is_empty() && arrived.queue == 0);
        debug_assert!(core_state.is_in_root());
        let queue = self.queues.first_queue().filter(FirstQueue::has_room)?;
        // Where an arm has nothing more to ask, it is the short way.
        let left = match core_state.doing {
            OnCore::Idle if is_idle && queue.peek().is_none() => {
                queue.add_only(key);
                None
            }
            OnCore::Job { place: runs, job } if !is_idle => {
                let first = queue.peek()?;
                let running = tasks.get_mut(runs)?;
                if first.place() != runs || first < key || !running.runs_on() {
                    return None;
                }
                queue.add_before(first, key);
                // It is no earlier, as was seen above.
                let elapsed = now.as_nanos().wrapping_sub(core_state.since.as_nanos());
                running.charge_unlimited(Duration::from_nanos(elapsed));
                Some((running.subject, job))
            }
            _ => return None,
        };
        let arrived = &mut tasks[place];
        let (subject, job) = (arrived.subject, arrived.released());
        arrived.release_alone(at, job);
        core_state.go_to(now, place, job);
        let mut records = Recorder { sink, core: core_state.id, now };
        records.about(EventKind::Release, subject, job, at.as_nanos());
        if let Some((subject, job)) = left {
            records.about(EventKind::Preempt, subject, job, 0);
        }
        records.about(EventKind::Dispatch, subject, job, 0);
        let run = Running { task: arrived.id, job, charged: Duration::ZERO, arrived: Some(at) };
        Some(Decision { run: Some(run), timer, notify: CoreSet::EMPTY, ticket: 0 })
    }

    /// As [`Policy::arrive`](crate::Policy::arrive), on the only core of the domain.
    pub(super) fn arrive_alone<S: Sink>(
        &mut self,
        now: Instant,
        (task, at): (TaskId, Instant),
        sink: &mut S,
    ) -> Option<Decision> {
        let [core_state] = &mut self.core_states[..] else { return None };
        let elapsed = Duration::from_nanos(now.as_nanos().checked_sub(core_state.since.as_nanos())?);
        let later = |heap: Option<Key>| heap.map_or(Instant::NEVER, Key::time);
        let mut timer = later(self.due.peek()).min(later(core_state.replenish.peek()));
        let usual = self.arrives_alone && timer > now && at <= now && core_state.ghosts.is_empty();
        let place = *self.places.get(task.index())?;
        let (arrived, queue) = (self.tasks.get(place)?, core_state.queue);
        if !usual || arrived.queue != queue || !arrived.arrives_alone(at) {
            return None;
        }
        let first = self.queues.peek(queue);
        let running = match core_state.doing {
            OnCore::Job { place: runs, job } => {
                let running = self.tasks.get(runs)?;
                if first?.place() != runs || !running.goes_on(now, elapsed) {
                    return None;
                }
                Some((runs, job))
            }
            OnCore::Idle if first.is_none() => None,
            OnCore::Idle | OnCore::Nothing => return None,
        };
        if let Some(resources) = &self.resources {
            if !resources.are_free() || resources.choose(place) != Some(place) {
                return None;
            }
        }
        // From here on it is the short way.
        debug_assert!(core_state.is_in_root());
        core_state.since = now;
        let mut records = Recorder { sink, core: core_state.id, now };
        if let Some((runs, _)) = running {
            self.tasks[runs].charge(elapsed);
        }
        let arrived = &mut self.tasks[place];
        arrived.release_alone(at, arrived.released());
        let (key, subject, number) = (Domain::key_of(arrived, place), arrived.subject, arrived.job);
        records.about(EventKind::Release, subject, number, at.as_nanos());
        if arrived.overrun == Overrun::Kill {
            self.due.insert(Key::at(arrived.due(), place));
            timer = timer.min(arrived.due());
        }
        self.queues.add(queue, key);
        let (chosen, job) = match (running, first) {
            (Some(running), Some(first)) if first < key => running,
            _ => {
                if let Some((runs, job)) = running {
                    records.about(EventKind::Preempt, self.tasks[runs].subject, job, 0);
                }
                records.about(EventKind::Dispatch, subject, number, 0);
                core_state.go_to(now, place, number);
                if let Some(resources) = &mut self.resources {
                    resources.begin(place, Duration::ZERO);
                }
                (place, number)
            }
        };
        let task = &self.tasks[chosen];
        let run = Running { task: task.id, job, charged: task.charged, arrived: task.arrived() };
        let timer = timer.min(task.may_run_until(now));
        Some(Decision { run: Some(run), timer, notify: CoreSet::EMPTY, ticket: 0 })
    }

    /// As [`Policy::unlock`](crate::Policy::unlock), on the only core of the domain. Where there are resources, there are no servers and no
    /// changes, and nobody takes turns; and jobs that use one are never cut off ([`resource::check`](super::resource::check)).
    #[inline(always)]
    pub(super) fn hand_over<S: Sink>(&mut self, now: Instant, sink: &mut S) -> Option<Decision> {
        let [core_state] = &mut self.core_states[..] else { return None };
        let (OnCore::Job { place: leaver, job }, Some(resources)) = (core_state.doing, &mut self.resources) else {
            return None;
        };
        debug_assert!(self.changes.is_none() && !self.laxities && core_state.replenish.peek().is_none());
        let elapsed = Duration::from_nanos(now.as_nanos().checked_sub(core_state.since.as_nanos())?);
        let timer = self.due.peek().map_or(Instant::NEVER, Key::time);
        let left = &self.tasks[leaver];
        let place = self.queues.peek(left.queue)?.place();
        let next = self.tasks.get(place)?;
        if timer <= now || !resources.hand_over(leaver, place, next.charged) {
            return None;
        }
        // From here on it is the short way.
        let mut records = Recorder { sink, core: core_state.id, now };
        records.about(EventKind::Preempt, left.subject, job, 0);
        records.about(EventKind::Dispatch, next.subject, next.job, 0);
        core_state.go_to(now, place, next.job);
        let run = Running { task: next.id, job: next.job, charged: next.charged, arrived: next.arrived() };
        self.tasks[leaver].charge_unlimited(elapsed);
        Some(Decision { run: Some(run), timer, notify: CoreSet::EMPTY, ticket: 0 })
    }
}
