//! A scheduler that is not there all the time ([`Tier`](super::Tier)): what it makes up for when it has the core again, when it
//! wants it, and what it counts for schedulers below that are as seldom there.

use super::apart::Parted;
use super::domain::Domain;
use super::tier::Rested;
use crate::heap::Key;
use crate::records::Recorder;
use crate::{Decision, Event};
use tactus_record::Sink;
use tactus_time::Instant;

impl Domain {
    /// One call of the policy by a scheduler that had the core until `left` and has it again since `now`. What fell due in
    /// between is made due at its own time: so all is as if it had been looked at then. `rests`: what schedulers below had nothing
    /// more to run, in order of time. Beside the decision: whether there was nothing to run for a moment.
    pub(super) fn handle_after(
        &mut self,
        me: usize,
        (left, now): (Instant, Instant),
        event: Event,
        rests: &[Rested],
        mut parted: Option<&mut Parted>,
        records: &mut dyn Sink,
    ) -> (Decision, bool) {
        let slot = &mut self.slots[me];
        let now = now.max(slot.since);
        let left = left.max(slot.since).min(now);
        let elapsed = left.since(slot.since);
        slot.since = now;
        let root = self.vps[slot.root].below;
        let mut records = Recorder { sink: records, core: slot.id, now };
        self.entry = self.entry.wrapping_add(1);
        let something = self.queues.len(root) > 0;
        let unfinished = self.leave(me, (left, elapsed), event, &mut records);
        let emptied = something && self.queues.len(root) == 0;
        let mut from = left;
        for rested in rests {
            let at = rested.at.max(from).min(now);
            self.catch_up(me, (from, at), &mut records);
            self.rest(rested.place, at);
            if let Some(again) = rested.again {
                self.is_wanted(rested.place, again, false);
            }
            from = at;
        }
        while let Some((parted, at)) = parted.as_mut().and_then(|it| it.when_settled().map(|at| (it, at))) {
            // The root is told by another of its cores, a moment before.
            let at = if parted.is_root() { at.min(now) } else { at.max(from).min(now) };
            if from < at {
                self.catch_up(me, (from, at), &mut records);
                from = at;
            }
            parted.take_effect(self, at, &mut records);
        }
        if from < now {
            self.catch_up(me, (from, now), &mut records);
        }
        self.emptied = false;
        if let Some(parted) = parted {
            if parted.is_root() {
                parted.settle(self, &mut records);
            } else if emptied && self.queues.len(root) == 0 && parted.waits(now) && self.idle_until(me, now) <= now {
                // Not where there was nothing before: the one above knew, and its server, which has work from now on, would lose
                // what a budget without work loses.
                return (self.decide(me, unfinished, 0, &mut records), false);
            }
        }
        self.fall_due(me, &mut records);
        let decision = self.decide(me, unfinished, 0, &mut records);
        (decision, emptied || self.emptied && left == now)
    }

    /// A scheduler below has nothing to run any more.
    pub(super) fn rest(&mut self, place: usize, now: Instant) {
        self.tasks[place].rest(now);
        self.queue(place, now);
        self.plan_event(place);
    }

    /// Makes due, one after another, what came while somebody else had the core.
    #[cold]
    pub(super) fn catch_up(&mut self, me: usize, (left, now): (Instant, Instant), records: &mut Recorder) {
        loop {
            let first = [self.slots[me].replenish.peek(), self.due.peek()].into_iter().flatten().map(Key::time).min();
            let Some(at) = first.map(|first| first.max(left)).filter(|at| *at < now) else { return };
            self.replenish_due(me, at, records);
            self.make_due(me, at, records);
        }
    }

    /// The scheduler below has something to run from `at` on, as this one knows; `at_once`: its server counts as one with work from
    /// now on.
    pub(super) fn is_wanted(&mut self, place: usize, at: Instant, at_once: bool) {
        self.tasks[place].doze(at);
        if at_once {
            self.tasks[place].rouse();
            self.queue(place, at);
        }
        self.plan_event(place);
    }

    /// From when on a core has something to run that has nothing now, if nothing happens but that time passes.
    pub(super) fn idle_until(&mut self, me: usize, now: Instant) -> Instant {
        let mut until = Instant::NEVER;
        for vp in 0..self.vps.len() {
            let it = &self.vps[vp];
            if let Some(budget) =
                it.budget.as_ref().filter(|budget| it.core == me && !it.is_out() && (it.awake || budget.ticks_on()))
            {
                until = until.min(budget.next(now));
            }
        }
        // What the schedulers below have to run counts from when their servers have budget.
        let own = self.tasks.iter().position(|task| task.foreign).unwrap_or(self.tasks.len());
        for place in own..self.tasks.len() {
            self.due.remove(place);
            let vp = self.feeds[self.tasks[place].queue].vps.iter().map(|vp| &self.vps[*vp]).find(|vp| vp.core == me);
            let (Some(next), Some(vp)) = (self.tasks[place].next_event(), vp) else { continue };
            if let Some(budget) = vp.budget.as_ref().filter(|_| !vp.awake) {
                // Another core may have budget for it when this one has lost it for want of work, but counts on this one.
                let at_once = vp.background || self.tasks[place].tied;
                let from = if at_once { next } else { budget.eligible_from(next) };
                until = until.min(from);
            }
        }
        until = until.min(self.due.peek().map_or(Instant::NEVER, Key::time));
        (own..self.tasks.len()).for_each(|place| self.plan_event(place));
        until
    }

    /// The task that stands for the scheduler inside, if that has nothing to run but wants its server to be the most urgent.
    pub(super) fn hollow_inside(&self, vp: usize) -> Option<usize> {
        if !self.cut {
            return None;
        }
        let first = self.queues.peek(self.vps[vp].below)?;
        self.tasks.get(first.place()).filter(|task| task.hollow).map(|_| first.place())
    }
}
