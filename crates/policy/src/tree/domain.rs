//! One domain: its tasks, servers and queues, and what each of its cores does. Here is what an entry changes before it is
//! decided anew who runs; the choice itself is in `assign`.

use super::budget::{Budget, Hollow};
use super::change::Changes;
use super::queues::Queues;
pub(super) use super::slot::{Offer, Slot};
use super::work::Work;
use super::{Overrun, TaskOrder};
use crate::heap::{IndexedHeap, Key};
use crate::records::{OnCore, Recorder};
use crate::{Decision, Event, Running};
use alloc::vec::Vec;
use tactus_record::{EventKind, Sink};
use tactus_time::{CoreSet, Duration, Instant, TaskId};

/// Entries of servers without budget lie behind all others.
pub(super) const BACKGROUND: u64 = 1 << 63;

/// Cores that share queues, and all that is on them.
pub(crate) struct Domain {
    pub(super) slots: Vec<Slot>,
    /// By place; an entity below their number is a task, the others are virtual processors.
    pub(super) tasks: Vec<Work>,
    pub(super) vps: Vec<Vp>,
    pub(super) feeds: Vec<Feed>,
    pub(super) queues: Queues,
    /// The queues that several cores share.
    pub(super) shared: Vec<usize>,
    /// Each task's next release, or end of a job that is to be killed.
    pub(super) due: IndexedHeap,
    /// What was taken out of queues while it is decided who runs.
    pub(super) aside: Vec<usize>,
    /// The jobs that were picked from a queue, most urgent first.
    pub(super) picked: Vec<Key>,
    /// The jobs that were passed over, since they still run where they no longer should.
    pub(super) passed: Vec<Key>,
    /// Counts entries, to wake each server once in an entry.
    pub(super) entry: u32,
    /// How it changes while it runs.
    pub(super) changes: Option<Changes>,
    /// Whether a budget was lost for want of work in this decision.
    pub(super) lost: bool,
    /// Whether any of its queues orders by laxity as time passes.
    pub(super) laxities: bool,
}

/// A server on one core.
pub(super) struct Vp {
    /// Place in the tree.
    pub(super) server: u16,
    /// Its core's place in the domain.
    pub(super) core: usize,
    pub(super) parent: Option<usize>,
    /// The queue of what is inside.
    pub(super) below: usize,
    pub(super) budget: Option<Budget>,
    /// How its parent orders it, with its number there.
    pub(super) order: TaskOrder,
    pub(super) rank: u64,
    pub(super) background: bool,
    /// It has work, as far as is known.
    pub(super) awake: bool,
    pub(super) woken: u32,
    /// Since when it has, or has none.
    pub(super) since: Instant,
    /// It is not there, or not any more.
    pub(super) absent: bool,
    /// It never is: it can have no work, and would only be something to do for the server around it.
    pub(super) barren: bool,
}

impl Vp {
    /// Whether nothing is to be made of its budget.
    pub(super) fn is_out(&self) -> bool {
        self.absent || self.barren
    }
}

/// A queue and the virtual processors that take from it.
pub(super) struct Feed {
    pub(super) quantum: Duration,
    pub(super) vps: Vec<usize>,
    /// The turns that were given.
    pub(super) turns: u64,
    /// The most urgent job that waits, as was found last.
    pub(super) waiting: Option<Key>,
    /// Where the order changes with time: what has run since it was looked at, and whether it is to be looked at in this entry.
    pub(super) ran: Vec<usize>,
    pub(super) looks: bool,
}

impl Domain {
    /// One call of the policy. `absent`: until when this scheduler had the core, where its parent had it since. What fell due
    /// in between is handled at its own time.
    pub(super) fn handle(
        &mut self,
        me: usize,
        (now, absent): (Instant, Option<Instant>),
        event: Event,
        ticket: u32,
        records: &mut dyn Sink,
    ) -> Decision {
        let slot = &mut self.slots[me];
        let now = now.max(slot.since);
        let left = absent.map_or(now, |at| at.max(slot.since).min(now));
        let elapsed = left.since(slot.since);
        slot.since = now;
        let mut records = Recorder { sink: records, core: slot.id, now };
        self.entry = self.entry.wrapping_add(1);
        let unfinished = self.leave(me, (left, elapsed), event, &mut records);
        if absent.is_some() {
            self.catch_up(me, (left, now), &mut records);
        }
        if self.changes.is_some() {
            self.change(&mut records);
        }
        self.fall_due(me, &mut records);
        self.decide(me, unfinished, ticket, &mut records)
    }

    /// Makes due what is due now.
    pub(super) fn fall_due(&mut self, me: usize, records: &mut Recorder) {
        self.replenish_due(me, records.now, records);
        self.make_due(me, records.now, records);
    }

    /// Decides anew who runs.
    pub(super) fn decide(
        &mut self,
        me: usize,
        unfinished: Option<(usize, u32)>,
        ticket: u32,
        records: &mut Recorder,
    ) -> Decision {
        let now = records.now;
        self.lost = false;
        let unfinished_place = unfinished.map(|(place, _)| place);
        self.look_at_laxities(me, now);
        self.assign(me, now, unfinished_place);
        if self.look_is_overdue(me) {
            self.look_at_laxities(me, now);
            self.assign(me, now, unfinished_place);
        }
        let run = self.switch(me, unfinished, records);
        let timer = self.time_out(me, now);
        self.slots[me].armed = timer;
        let notify = self.whom_to_tell(me, now);
        for other in notify.iter() {
            records.core(EventKind::Notify, u64::from(other.0));
        }
        Decision { run, timer, notify, ticket }
    }

    /// Charges what ran, and does what the event says. Gives the job that could go on.
    pub(super) fn leave(
        &mut self,
        me: usize,
        (now, elapsed): (Instant, Duration),
        event: Event,
        records: &mut Recorder,
    ) -> Option<(usize, u32)> {
        while let Some(ghost) = self.slots[me].ghosts.pop() {
            if let Some(budget) = &mut self.vps[ghost].budget {
                budget.drain(elapsed);
            }
            self.show(ghost, now);
        }
        let OnCore::Job { place, job } = self.slots[me].doing else { return None };
        self.slots[me].doing = OnCore::Nothing;
        let path = self.slots[me].charged;
        for (vp, background) in path.iter() {
            let vp = &mut self.vps[vp];
            let Some(budget) = vp.budget.as_mut().filter(|_| !background) else { continue };
            if budget.charge(now, elapsed) {
                records.server(EventKind::ServerExhausted, vp.server, budget.next(now).as_nanos());
            }
        }
        let task = &mut self.tasks[place];
        task.charge(elapsed);
        let look = self.laxities && self.look_is_due(place);
        let task = &mut self.tasks[place];
        let goes_on = match event {
            Event::Complete => {
                task.complete(records);
                // The next one finds nothing left of this period's budget.
                task.exhaust(records);
                false
            }
            Event::Remove => {
                task.remove(records);
                false
            }
            Event::Start | Event::Timer | Event::Notify if task.is_killed_at(now) => {
                task.kill(records);
                false
            }
            Event::Start | Event::Timer | Event::Notify => {
                task.exhaust(records);
                true
            }
        };
        if self.laxities {
            self.feeds[task.queue].looks |= look || !goes_on;
        }
        self.queue(place, now);
        // Only these change what is due for the task whether or not it runs.
        let task = &self.tasks[place];
        if event == Event::Remove || task.overrun == Overrun::Kill || task.proxy {
            self.plan_event(place);
        }
        for (vp, _) in path.iter().rev() {
            self.show(vp, now);
        }
        goes_on.then_some((place, job))
    }

    /// Brings a task's place in its queue up to date with its state.
    pub(super) fn queue(&mut self, place: usize, now: Instant) {
        self.put_in_place(place);
        self.content_changed(self.tasks[place].queue, now);
    }

    fn put_in_place(&mut self, place: usize) {
        let task = &mut self.tasks[place];
        let queue = task.queue;
        if self.laxities {
            // It came, or goes.
            self.feeds[queue].looks |= task.ready() != self.queues.contains(place);
        }
        if task.ready() {
            if task.order == TaskOrder::RoundRobin && task.slice.is_zero() {
                let feed = &mut self.feeds[queue];
                feed.turns += 1;
                task.turn = feed.turns;
                task.slice = feed.quantum;
            }
            let key = Key::new(task.urgency().min(BACKGROUND - 1), place);
            self.queues.insert(key);
        } else {
            // Where turns are taken, it comes back at the end.
            task.slice = Duration::ZERO;
            self.queues.remove(place);
        }
    }

    /// Whether one of those whose queue it is has had its core up to now. The root always has.
    fn is_served(&self, queue: usize) -> bool {
        self.feeds[queue].vps.iter().any(|vp| {
            let it = &self.vps[*vp];
            it.parent.is_none() || self.slots[it.core].charged.iter().any(|(at, _)| at == *vp)
        })
    }

    /// Something was put into the queue or taken out. Those whose queue it is may have work now, or none any more.
    pub(super) fn content_changed(&mut self, queue: usize, now: Instant) {
        // What was taken out only to look at the rest is there.
        let aside = |vp: &usize| self.vps[*vp].parent.is_some_and(|parent| self.vps[parent].below == queue);
        let some = self.queues.len(queue) > 0 || self.aside.iter().any(aside);
        // Of those who share a queue, one that lacks work is woken when it is known that a job waits for it.
        if some && self.feeds[queue].vps.iter().any(|vp| self.vps[*vp].awake) {
            return;
        }
        for n in 0..self.feeds[queue].vps.len() {
            let vp = self.feeds[queue].vps[n];
            if self.vps[vp].awake != some {
                self.set_awake(vp, some, now);
            }
        }
    }

    /// The virtual processor has work again, or none any more.
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

    /// Whether it is chosen although it has no work.
    pub(super) fn hollow(&self, vp: usize) -> Hollow {
        match &self.vps[vp].budget {
            Some(budget) if !self.vps[vp].awake => budget.when_hollow(),
            _ => Hollow::Keeps,
        }
    }

    /// Brings a virtual processor's place in its parent's queue, and the time of its next replenishment, up to date.
    pub(super) fn show(&mut self, vp: usize, now: Instant) {
        let it = &self.vps[vp];
        let (Some(parent), Some(budget)) = (it.parent, &it.budget) else { return };
        let urgency = match it.order {
            TaskOrder::EarliestDeadline => budget.deadline().as_nanos(),
            _ => it.rank,
        };
        let urgency = urgency.min(BACKGROUND - 1);
        let band = match budget.eligible(now) && (it.awake || budget.when_hollow() != Hollow::Keeps) {
            true => Some(urgency),
            false => (it.awake && it.background).then_some(urgency | BACKGROUND),
        };
        let band = band.filter(|_| !it.is_out());
        let next = if it.is_out() {
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
        let heap = &mut self.slots[core].replenish;
        if next < Instant::NEVER {
            heap.insert(Key::at(next, vp));
        } else {
            heap.remove(vp);
        }
        self.content_changed(queue, now);
    }

    /// Whether a key in a queue is that of a server without budget.
    pub(super) fn is_background(key: Key) -> bool {
        key.time().as_nanos() >= BACKGROUND
    }

    /// Handles, one after another, what fell due while the parent had the core.
    #[cold]
    fn catch_up(&mut self, me: usize, (left, now): (Instant, Instant), records: &mut Recorder) {
        loop {
            let first = [self.slots[me].replenish.peek(), self.due.peek()].into_iter().flatten().map(Key::time).min();
            let Some(at) = first.map(|first| first.max(left)).filter(|at| *at < now) else { return };
            self.replenish_due(me, at, records);
            self.make_due(me, at, records);
        }
    }

    /// The child scheduler whose proxy runs here has nothing to run before then; its completion is to follow.
    pub(super) fn sleep_until(&mut self, proxy: TaskId, until: Instant) {
        let tasks = &mut self.tasks;
        let running = self.slots.iter().find_map(|slot| slot.running().filter(|place| tasks[*place].name.0 == proxy));
        if let Some(task) = running.map(|place| &mut tasks[place]).filter(|task| task.proxy) {
            task.sleep_until(until);
        }
    }

    fn replenish_due(&mut self, me: usize, now: Instant, records: &mut Recorder) {
        while let Some(due) = self.slots[me].replenish.peek().filter(|due| due.time() <= now) {
            let vp = &mut self.vps[due.place()];
            if let Some(budget) = &mut vp.budget {
                if let Some(came) = budget.refresh(now, vp.awake) {
                    records.server(EventKind::ServerReplenish, vp.server, came.as_nanos());
                }
            }
            self.show(due.place(), now);
        }
    }

    /// Makes due releases, and ends of jobs that are to be killed. A job that runs on another core is ended by that core.
    pub(super) fn make_due(&mut self, me: usize, now: Instant, records: &mut Recorder) {
        while let Some(due) = self.due.peek().filter(|due| due.time() <= now) {
            let place = due.place();
            if !self.tasks[place].kill_is_due(due.time()) {
                let uncharged = self.runs_elsewhere(me, place).map_or(Duration::ZERO, |since| now.since(since));
                self.tasks[place].release(uncharged, records);
            } else if self.runs_elsewhere(me, place).is_some() {
                self.tasks[place].leave_to_its_core();
            } else {
                self.tasks[place].kill(records);
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
        let mut others = self.slots.iter().enumerate().filter(|(core, _)| *core != me);
        others.find(|(_, slot)| slot.running() == Some(place)).map(|(_, slot)| slot.since)
    }

    /// Turns the core to what is planned for it. `unfinished`: what ran until now and could go on.
    pub(super) fn switch(
        &mut self,
        me: usize,
        unfinished: Option<(usize, u32)>,
        records: &mut Recorder,
    ) -> Option<Running> {
        let slot = &mut self.slots[me];
        let chosen = slot.plan.map(|place| (place, self.tasks[place].job));
        if chosen != unfinished || chosen.is_none() {
            if let Some((place, job)) = unfinished {
                records.job(EventKind::Preempt, self.tasks[place].name, job, 0);
            }
            match chosen {
                Some((place, job)) => records.job(EventKind::Dispatch, self.tasks[place].name, job, 0),
                None if !slot.idle => records.core(EventKind::Idle, 0),
                None => {}
            }
        }
        slot.idle = chosen.is_none();
        slot.doing = chosen.map_or(OnCore::Idle, |(place, job)| OnCore::Job { place, job });
        slot.charged = slot.path;
        if let Some((place, _)) = chosen.filter(|(place, _)| self.tasks[*place].order == TaskOrder::LeastLaxity) {
            let ran = &mut self.feeds[self.tasks[place].queue].ran;
            if !ran.contains(&place) {
                ran.push(place);
            }
        }
        chosen.map(|(place, job)| {
            let task = &self.tasks[place];
            Running { task: task.name.0, job, charged: task.charged }
        })
    }

    /// When the core has to be called next.
    pub(super) fn time_out(&self, me: usize, now: Instant) -> Instant {
        let slot = &self.slots[me];
        let mut timer = slot.replenish.peek().map_or(Instant::NEVER, Key::time);
        if let Some(due) = self.due.peek().filter(|_| me == 0) {
            timer = timer.min(due.time());
        }
        match &self.changes {
            // What was lost may have been all that was left.
            Some(changes) if self.lost && changes.waits() => timer = now,
            Some(changes) if me == 0 => timer = timer.min(changes.next()),
            _ => {}
        }
        for ghost in slot.ghosts.iter().filter(|ghost| !self.vps[**ghost].awake) {
            if let Some(budget) = &self.vps[*ghost].budget {
                timer = timer.min(now.saturating_add(budget.left(now)));
            }
        }
        let Some(place) = slot.running() else { return timer };
        for (vp, _) in slot.charged.iter().filter(|(_, background)| !background) {
            if let Some(budget) = &self.vps[vp].budget {
                timer = timer.min(now.saturating_add(budget.left(now)));
            }
        }
        let task = &self.tasks[place];
        if task.order == TaskOrder::RoundRobin {
            timer = timer.min(now.saturating_add(task.slice));
        }
        timer.min(task.may_run_until(now)).min(self.overtaken(me, now))
    }

    /// The other cores whose plan has changed, or that have to be called earlier than they know.
    pub(super) fn whom_to_tell(&mut self, me: usize, now: Instant) -> CoreSet {
        let mut notify = CoreSet::EMPTY;
        for core in (0..self.slots.len()).filter(|core| *core != me) {
            let wanted = self.slots[core].replenish.peek().map_or(Instant::NEVER, Key::time);
            let mut wanted = wanted.min(self.overtaken(core, now));
            // The first core waits for releases; one that a change brought may come before all others.
            if let Some(due) = self.due.peek().filter(|_| core == 0 && self.changes.is_some()) {
                wanted = wanted.min(due.time());
            }
            let slot = &mut self.slots[core];
            let other_job = slot.told != slot.plan;
            slot.told = slot.plan;
            if (other_job && slot.plan != slot.running()) || wanted < slot.armed || slot.called {
                slot.called = false;
                slot.armed = slot.armed.min(wanted);
                notify.insert(slot.id);
            }
        }
        let slot = &mut self.slots[me];
        (slot.told, slot.called) = (slot.plan, false);
        notify
    }
}
