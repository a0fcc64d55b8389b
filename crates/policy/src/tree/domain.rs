//! One domain: its tasks, servers and queues, and what each of its cores does. Here is what an entry changes before it is
//! decided anew who runs; the choice itself is in `assign`.

use super::budget::{Budget, Hollow};
use super::change::Changes;
use super::queues::Queues;
use super::tier::Rested;
use super::work::Work;
use super::{Overrun, TaskOrder, MAX_DEPTH};
use crate::heap::{IndexedHeap, Key};
use crate::records::{OnCore, Recorder};
use crate::{Decision, Event, Running};
use alloc::vec::Vec;
use tactus_record::{Kind, Sink};
use tactus_time::{CoreId, CoreSet, Duration, Instant};

/// Entries of servers without budget lie behind all others.
const BACKGROUND: u64 = 1 << 63;

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
    /// Whether schedulers inside are cut off; and for how long servers that they want to be the most urgent were so while this one
    /// did not have the core, since its last decision.
    pub(super) cut: bool,
    pub(super) visited: Duration,
    /// Whether a job was killed in this entry and nothing was left.
    pub(super) emptied: bool,
    /// Whether any of its queues orders by laxity as time passes.
    pub(super) laxities: bool,
    /// Of cores with nothing to run the first is preferred, even to the one that decides.
    pub(super) impartial: bool,
}

/// A core of the domain.
pub(super) struct Slot {
    pub(super) id: CoreId,
    pub(super) since: Instant,
    pub(super) doing: OnCore,
    /// What it should run, as was decided last on any core.
    pub(super) plan: Option<usize>,
    /// What it gets of the queue that it shares.
    pub(super) next: Option<usize>,
    /// The plan that it was told of.
    pub(super) told: Option<usize>,
    idle: bool,
    pub(super) offer: Offer,
    /// The servers down to what it should run.
    pub(super) path: Path,
    /// The servers down to what it has been running since its last decision.
    charged: Path,
    /// The servers that its last decision found most urgent and without work.
    pub(super) ghosts: Vec<usize>,
    /// When it wanted to be called.
    pub(super) armed: Instant,
    /// The virtual processors of this core that wait for something, by time.
    pub(super) replenish: IndexedHeap,
    /// The virtual processor of the root.
    pub(super) root: usize,
    /// Whether it can be used, where cores are lent.
    pub(super) hold: Hold,
    /// The place of the core that asked for it last.
    pub(super) asker: usize,
}

/// What is known of a core that a scheduler above lends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Hold {
    /// It is here.
    Has,
    /// It was asked for, and no answer has come.
    Asked,
    /// It was taken, or not given.
    Away,
    /// There was nothing to do with it.
    Rests,
}

/// Where a core arrived on its way down.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Offer {
    Idle,
    Task(usize),
    /// A queue that it shares with others.
    Queue(usize),
}

/// Virtual processors from the root down; of each, whether it is without budget.
#[derive(Clone, Copy, Default)]
pub(super) struct Path {
    length: usize,
    at: [(u16, bool); MAX_DEPTH],
}

impl Path {
    pub(super) fn push(&mut self, vp: usize, background: bool) {
        if let Some(free) = self.at.get_mut(self.length) {
            *free = (vp as u16, background);
            self.length += 1;
        }
    }
    pub(super) fn clear(&mut self) {
        self.length = 0;
    }
    /// From the root down.
    fn iter(&self) -> impl DoubleEndedIterator<Item = (usize, bool)> + '_ {
        self.at[..self.length].iter().map(|(vp, background)| (usize::from(*vp), *background))
    }
    pub(super) fn last(&self) -> Option<usize> {
        self.iter().next_back().map(|(vp, _)| vp)
    }
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
    /// It is not there, or not any more.
    pub(super) absent: bool,
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

impl Slot {
    pub(super) fn new(id: CoreId, vps: usize, root: usize) -> Slot {
        Slot {
            id,
            since: Instant::ZERO,
            doing: OnCore::Nothing,
            plan: None,
            next: None,
            told: None,
            idle: false,
            offer: Offer::Idle,
            path: Path::default(),
            charged: Path::default(),
            ghosts: Vec::with_capacity(vps),
            armed: Instant::NEVER,
            replenish: IndexedHeap::for_tasks(vps),
            root,
            hold: Hold::Has,
            asker: 0,
        }
    }
    /// Becomes what the other one is, where no servers are inside.
    pub(super) fn become_as(&mut self, other: &Slot) {
        (self.since, self.doing, self.armed) = (other.since, other.doing, other.armed);
        (self.hold, self.asker) = (other.hold, other.asker);
        (self.plan, self.next, self.told, self.idle) = (other.plan, other.next, other.told, other.idle);
        (self.offer, self.path, self.charged) = (other.offer, other.path, other.charged);
    }
    /// The task that the core runs since its last decision.
    pub(super) fn running(&self) -> Option<usize> {
        match self.doing {
            OnCore::Job { place, .. } => Some(place),
            OnCore::Nothing | OnCore::Idle => None,
        }
    }
}

impl Domain {
    /// One call of the policy.
    pub(super) fn handle(
        &mut self,
        me: usize,
        now: Instant,
        event: Event,
        ticket: u32,
        records: &mut dyn Sink,
    ) -> Decision {
        let slot = &mut self.slots[me];
        let now = now.max(slot.since);
        let elapsed = now.since(slot.since);
        slot.since = now;
        let mut records = Recorder { sink: records, core: slot.id, now };
        self.entry = self.entry.wrapping_add(1);
        let unfinished = self.leave(me, (now, elapsed), event, &mut records);
        if self.changes.is_some() {
            self.change(&mut records);
        }
        self.decide(me, unfinished, ticket, &mut records)
    }

    /// One call of the policy by a scheduler that had the core until `left` and has it again since `now`. What fell due in
    /// between is made due at its own time: so all is as if it had been looked at then. `rests`: what schedulers below had nothing
    /// more to run, in order of time. Beside the decision: whether there was nothing to run for a moment.
    pub(super) fn handle_after(
        &mut self,
        me: usize,
        (left, now): (Instant, Instant),
        event: Event,
        rests: &[Rested],
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
            self.rest(rested, at);
            from = at;
        }
        if from < now {
            self.catch_up(me, (from, now), &mut records);
        }
        self.emptied = false;
        let decision = self.decide(me, unfinished, 0, &mut records);
        (decision, emptied || self.emptied && left == now)
    }

    /// A scheduler below has nothing to run any more.
    fn rest(&mut self, rested: &Rested, now: Instant) {
        let task = &mut self.tasks[rested.place];
        task.rest(now);
        if let Some(again) = rested.again {
            task.doze(again);
        }
        self.queue(rested.place, now);
        self.plan_event(rested.place);
    }

    /// Makes due what is due, and decides anew who runs.
    fn decide(&mut self, me: usize, unfinished: Option<(usize, u32)>, ticket: u32, records: &mut Recorder) -> Decision {
        let now = records.now;
        self.replenish_due(me, now, records);
        self.make_due(me, now, records);
        self.look_at_laxities(me, now);
        self.assign(me, now, unfinished.map(|(place, _)| place));
        if self.look_is_overdue(me) {
            self.look_at_laxities(me, now);
            self.assign(me, now, unfinished.map(|(place, _)| place));
        }
        let run = self.switch(me, unfinished, records);
        let timer = self.time_out(me, now);
        self.slots[me].armed = timer;
        let notify = self.whom_to_tell(me, now);
        for other in notify.iter() {
            records.core(Kind::Notify, u64::from(other.0));
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
            // What a scheduler of its own was not there for counts here as well.
            let passed = elapsed.checked_add(self.visited).unwrap_or(Duration::MAX);
            if let Some(place) = self.hollow_inside(ghost) {
                let visited = &mut self.tasks[place].visited;
                *visited = visited.checked_add(passed).unwrap_or(Duration::MAX);
            } else if let Some(budget) = &mut self.vps[ghost].budget {
                budget.drain(passed);
            }
            self.show(ghost, now);
        }
        self.visited = Duration::ZERO;
        let OnCore::Job { place, job } = self.slots[me].doing else { return None };
        self.slots[me].doing = OnCore::Nothing;
        let path = self.slots[me].charged;
        for (vp, background) in path.iter() {
            let vp = &mut self.vps[vp];
            let Some(budget) = vp.budget.as_mut().filter(|_| !background) else { continue };
            if budget.charge(now, elapsed) {
                records.server(Kind::ServerExhausted, vp.server, budget.next(now).as_nanos());
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
        self.feeds[task.queue].looks |= look || !goes_on;
        self.queue(place, now);
        // Only these change what is due for the task whether or not it runs.
        let task = &self.tasks[place];
        if event == Event::Remove || task.overrun == Overrun::Kill || task.foreign {
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
        // It came, or goes.
        self.feeds[queue].looks |= task.ready() != self.queues.contains(place);
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
        it.awake = awake;
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
            _ if self.hollow_inside(vp).is_some() => Hollow::Drains,
            _ => Hollow::Keeps,
        }
    }

    /// The task that stands for the scheduler inside, if that has nothing to run but wants its server to be the most urgent.
    fn hollow_inside(&self, vp: usize) -> Option<usize> {
        let first = self.queues.peek(self.vps[vp].below).filter(|_| self.cut)?;
        self.tasks.get(first.place()).filter(|task| task.hollow).map(|_| first.place())
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
        let band = band.filter(|_| !it.absent);
        let next = if it.absent {
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

    /// Makes due the replenishments of this core's servers.
    pub(super) fn replenish_due(&mut self, me: usize, now: Instant, records: &mut Recorder) {
        while let Some(due) = self.slots[me].replenish.peek().filter(|due| due.time() <= now) {
            let vp = &mut self.vps[due.place()];
            if let Some(budget) = &mut vp.budget {
                if let Some(came) = budget.refresh(now, vp.awake) {
                    records.server(Kind::ServerReplenish, vp.server, came.as_nanos());
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
                self.emptied |= queue == self.vps[self.slots[me].root].below && self.queues.len(queue) == 0;
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
    fn runs_elsewhere(&self, me: usize, place: usize) -> Option<Instant> {
        let mut others = self.slots.iter().enumerate().filter(|(core, _)| *core != me);
        others.find(|(_, slot)| slot.running() == Some(place)).map(|(_, slot)| slot.since)
    }

    /// Where the order changes with time, brings up to date what has run, in queues to which something came, from which something
    /// went, or in which a look is due. At nothing else, so that what happens elsewhere on the core changes nothing.
    pub(super) fn look_at_laxities(&mut self, me: usize, now: Instant) {
        for queue in 0..if self.laxities { self.feeds.len() } else { 0 } {
            if !core::mem::take(&mut self.feeds[queue].looks) {
                continue;
            }
            for n in 0..self.feeds[queue].ran.len() {
                let place = self.feeds[queue].ran[n];
                let since = self.runs_elsewhere(me, place).map_or(Duration::ZERO, |since| now.since(since));
                let task = &mut self.tasks[place];
                task.look(since);
                if task.ready() {
                    let key = Key::new(task.urgency().min(BACKGROUND - 1), place);
                    self.queues.insert(key);
                }
            }
            let slots = &self.slots;
            let runs = |place: &usize| slots.iter().any(|slot| slot.running() == Some(*place));
            self.feeds[queue].ran.retain(runs);
        }
    }

    /// How long the running task has to run, from the last look at it on, until it is looked at again.
    fn look_after(&self, place: usize) -> Option<Duration> {
        let task = &self.tasks[place];
        let feed = &self.feeds[task.queue];
        let waiting = feed.waiting.filter(|waiting| waiting.place() != place)?;
        Some(task.overtaken_after(waiting.time().as_nanos(), waiting.place() > place)?.max(feed.quantum))
    }

    /// Whether the job that the core is to run has to be looked at first, since another one waits now than before.
    pub(super) fn look_is_overdue(&mut self, me: usize) -> bool {
        let Some(place) = self.slots[me].plan.filter(|place| self.laxities && self.look_is_due(*place)) else {
            return false;
        };
        self.feeds[self.tasks[place].queue].looks = true;
        true
    }

    fn look_is_due(&self, place: usize) -> bool {
        self.tasks[place].order == TaskOrder::LeastLaxity
            && self.look_after(place).is_some_and(|after| self.tasks[place].ran_since_look(Duration::ZERO) >= after)
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
                records.job(Kind::Preempt, self.tasks[place].name, job, 0);
            }
            match chosen {
                Some((place, job)) => records.job(Kind::Dispatch, self.tasks[place].name, job, 0),
                None if !slot.idle => records.core(Kind::Idle, 0),
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
        if let Some(changes) = self.changes.as_ref().filter(|_| me == 0) {
            timer = timer.min(changes.next());
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

    /// From when on a core has something to run that has nothing now, if nothing happens but that time passes.
    pub(super) fn idle_until(&mut self, me: usize, now: Instant) -> Instant {
        let mut until = Instant::NEVER;
        for vp in 0..self.vps.len() {
            let it = &self.vps[vp];
            if let Some(budget) =
                it.budget.as_ref().filter(|budget| it.core == me && !it.absent && (it.awake || budget.ticks_on()))
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
                let from = if vp.background { next } else { budget.eligible_from(next) };
                until = until.min(from);
            }
        }
        until = until.min(self.due.peek().map_or(Instant::NEVER, Key::time));
        (own..self.tasks.len()).for_each(|place| self.plan_event(place));
        until
    }

    /// When a waiting job has less time to spare than the one that the core runs.
    fn overtaken(&self, core: usize, now: Instant) -> Instant {
        let slot = &self.slots[core];
        let Some(place) = slot.running() else { return Instant::NEVER };
        let task = &self.tasks[place];
        let after =
            Some(place).filter(|_| task.order == TaskOrder::LeastLaxity).and_then(|place| self.look_after(place));
        let ran = task.ran_since_look(now.since(slot.since));
        after.map_or(Instant::NEVER, |after| now.saturating_add(after.saturating_sub(ran)))
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
            if (other_job && slot.plan != slot.running()) || wanted < slot.armed {
                slot.armed = slot.armed.min(wanted);
                notify.insert(slot.id);
            }
        }
        let slot = &mut self.slots[me];
        slot.told = slot.plan;
        notify
    }
}
