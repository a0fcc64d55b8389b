//! Short ways: what happens often, where its outcome is known without the whole engine. Whatever is not quite so takes the long way
//! ([`Domain::handle`]), which decides the same.
//!
//! **An arrival** comes when it may, its task has no other job, and nothing else is due. Then nothing can change but that its job is
//! released and, where it is the most urgent of all, has the core.
//!
//! **A resource is handed over** by the job that ran in place of the most urgent one, which asked for it, and nothing else is due. Then
//! nothing can change but that this one has the resource and the core.

use super::domain::Domain;
use crate::heap::Key;
use crate::records::{OnCore, Recorder};
use crate::{Decision, Running};
use tactus_record::{EventKind, Sink};
use tactus_task::Overrun;
use tactus_time::{CoreSet, Duration, Instant, TaskId};

impl Domain {
    /// As [`Policy::arrive`](crate::Policy::arrive), on the only core of the domain.
    #[inline]
    pub(super) fn arrive_alone<S: Sink>(
        &mut self,
        now: Instant,
        (task, at): (TaskId, Instant),
        records: &mut S,
    ) -> Option<Decision> {
        let [core_state] = &mut self.core_states[..] else { return None };
        let elapsed = Duration::from_nanos(now.as_nanos().checked_sub(core_state.since.as_nanos())?);
        let later = |heap: Option<Key>| heap.map_or(Instant::NEVER, Key::time);
        let mut timer = later(self.due.peek()).min(later(core_state.replenish.peek()));
        let usual = self.changes.is_none() && !self.laxities && core_state.ghosts.is_empty() && timer > now;
        let place = *self.places.get(task.index())?;
        let (arrived, queue) = (self.tasks.get(place)?, self.vps[core_state.root].below);
        if !usual || at > now || arrived.queue != queue || !arrived.arrives_alone(at) {
            return None;
        }
        let first = self.queues.peek(queue);
        let runs = match core_state.doing {
            OnCore::Job { place: runs, job } => {
                let (running, first) = (&self.tasks[runs], first?.place());
                if first != runs || running.queue != queue || !running.goes_on(now, elapsed) {
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
        (core_state.since, self.entry) = (now, self.entry.wrapping_add(1));
        let mut records = Recorder { sink: records, core: core_state.id, now };
        if let Some((runs, _)) = runs {
            self.tasks[runs].charge(elapsed);
        }
        let arrived = &mut self.tasks[place];
        arrived.release_alone(at, &mut records);
        let key = Domain::key_of(arrived, place);
        if arrived.overrun == Overrun::Kill {
            self.due.insert(Key::at(arrived.due(), place));
            timer = timer.min(arrived.due());
        }
        let (subject, number) = (arrived.subject, arrived.job);
        let chosen = match (runs, first) {
            (Some(running), Some(first)) if first < key => running,
            _ => {
                if let Some((runs, job)) = runs {
                    records.about(EventKind::Preempt, self.tasks[runs].subject, job, 0);
                }
                records.about(EventKind::Dispatch, subject, number, 0);
                (place, number)
            }
        };
        self.queues.insert(key);
        self.serve(chosen, now);
        let task = &self.tasks[chosen.0];
        timer = timer.min(task.may_run_until(now));
        self.core_states[0].armed = timer;
        let run = Running { task: task.id, job: chosen.1, charged: task.charged, arrived: task.arrived() };
        Some(Decision { run: Some(run), timer, notify: CoreSet::EMPTY, ticket: 0 })
    }

    /// The core runs this job, outside of all servers.
    #[inline]
    fn serve(&mut self, (place, job): (usize, u32), now: Instant) {
        let core_state = &mut self.core_states[0];
        let root = core_state.root;
        core_state.path.clear();
        core_state.path.push(root, false);
        (core_state.plan, core_state.notified) = (Some(place), Some(place));
        (core_state.idle, core_state.called) = (false, false);
        core_state.doing = OnCore::Job { place, job };
        core_state.charged = core_state.path;
        // It has work now, if it had none, and no budget that would have to know.
        let vp = &mut self.vps[root];
        if !vp.awake {
            (vp.awake, vp.since) = (true, now);
        }
        if let Some(resources) = &mut self.resources {
            resources.begin(place, self.tasks[place].charged);
        }
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
        self.entry = self.entry.wrapping_add(1);
        let mut records = Recorder { sink, core: core_state.id, now };
        records.about(EventKind::Preempt, left.subject, job, 0);
        records.about(EventKind::Dispatch, next.subject, next.job, 0);
        (core_state.plan, core_state.notified) = (Some(place), Some(place));
        core_state.doing = OnCore::Job { place, job: next.job };
        (core_state.since, core_state.armed) = (now, timer);
        let run = Running { task: next.id, job: next.job, charged: next.charged, arrived: next.arrived() };
        self.tasks[leaver].charge_unlimited(elapsed);
        Some(Decision { run: Some(run), timer, notify: CoreSet::EMPTY, ticket: 0 })
    }
}
