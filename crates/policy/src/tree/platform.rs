//! The scheduler of a server whose cores share a queue: a virtual platform, where the server has a scheduler of its own.
//!
//! Its cores are lent: the scheduler above gives each and takes it away, and no sooner than that is known a job that ran
//! there waits like others. A core is here, or away, or rests since there was nothing to do with it; and one that rested and
//! is wanted is asked for. Until the answer comes it counts as if it were here, so that a job that can have it displaces
//! nobody; if the answer is no, it is away, and all is decided anew without it. So, where nothing takes time, the jobs run
//! on the cores on which one scheduler for all would have run them.
//!
//! What is above is told by [`news`], from what it knows of the platform's cores: whoever loses one with work left may
//! want the others, and whoever has nothing more to do on the last one wants none.

use super::apart::{Left, Outcome, Parted};
use super::domain::{Domain, Hold, Offer, Slot};
use super::tier::TierPlan;
use super::{build, Tree};
use crate::records::{OnCore, Recorder};
use crate::{Decision, Event, Kind as PolicyKind, Scheduler, SetupError};
use alloc::boxed::Box;
use alloc::vec::Vec;
use tactus_record::{Kind, Sink};
use tactus_time::{CoreId, CoreSet, Instant, TaskId, MAX_CORES};

/// What a scheduler above knows of one that is on several cores, for one of these.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Held {
    /// It has nothing to run there, as far as is known.
    #[default]
    Rests,
    /// It has, and does not have the core.
    Waits,
    /// It has the core.
    Runs,
}

/// When it wants the core again, of a scheduler that gives one back since its others have all that there is to run.
pub const ELSEWHERE: Instant = Instant::from_nanos(u64::MAX - 1);
/// The same of one that has asked for other cores for that.
pub const ASKED: Instant = Instant::from_nanos(u64::MAX - 2);

/// Why the one below gave the core back, if it did.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rest {
    /// It did not.
    No,
    /// It has nothing to run, on any core.
    Empty,
    /// It has nothing to run there, and of other cores it says nothing.
    Own,
    /// It had nothing to run for a moment, and has now.
    Moment,
    /// Its other cores had all that there was to run ([`ELSEWHERE`]).
    Elsewhere,
    /// Other cores that it asked for are to have it ([`ASKED`]).
    Asked,
}

/// What the scheduler above has to do when it changes what the one below has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct News {
    /// On these cores the one below has nothing to run any more.
    pub rest: CoreSet,
    /// After that: it has.
    pub again: CoreSet,
    /// It has, if it is still without this core when that is looked at.
    pub rouse: CoreSet,
    /// These are to be told.
    pub tell: CoreSet,
    /// On this core too: it lost the others while it gave this one back.
    pub here: bool,
}

/// What follows from what was decided on a core. `before` and `after`: what the one below had there; `others`: its other cores,
/// and what it has there.
pub fn news(before: Held, after: Held, rest: Rest, others: (CoreSet, &dyn Fn(CoreId) -> Held)) -> News {
    let (cores, held) = others;
    let those = |wanted: Held| {
        let mut set = CoreSet::EMPTY;
        cores.iter().filter(|core| held(*core) == wanted).for_each(|core| set.insert(core));
        set
    };
    let none = CoreSet::EMPTY;
    let mut news = News { rest: none, again: none, rouse: none, tell: none, here: false };
    let running = those(Held::Runs);
    if rest != Rest::No && before != Held::Rests {
        match rest {
            _ if !running.is_empty() || rest == Rest::Asked || rest == Rest::Own => {}
            // What it said may be old where the core was lost meanwhile: it is to say it again.
            _ if rest == Rest::Elsewhere || before == Held::Waits => {
                (news.rouse, news.here) = (those(Held::Rests), true);
                news.tell = news.rouse;
            }
            _ => {
                news.rest = those(Held::Waits);
                news.tell = news.rest;
                news.again = if rest == Rest::Moment { news.rest } else { none };
            }
        }
    } else if after == Held::Waits && before != Held::Waits {
        // Its jobs would go elsewhere: where it has a core it sees to that itself.
        if running.is_empty() {
            news.rouse = those(Held::Rests);
            news.tell = news.rouse;
        } else {
            // Or is giving it back, and is to have it once more.
            (news.tell, news.rouse) = (running, running);
        }
    }
    news
}

/// What a scheduler on several cores finds when it is entered on one of them.
pub struct Seen<'a> {
    /// The core.
    pub core: CoreId,
    /// Until when it had the core.
    pub left: Instant,
    /// The present.
    pub now: Instant,
    /// Who ran on the core can never run again.
    pub removed: bool,
    /// Whether the job has said that it is finished.
    pub finished: &'a dyn Fn(TaskId, u32) -> bool,
    /// By core: it is without this one, which it had until then at the latest.
    pub away: [Option<Instant>; MAX_CORES],
}

/// The scheduler of the cores that share a queue.
pub struct Platform {
    domain: Domain,
    parted: Option<Box<Parted>>,
}

impl Platform {
    /// The scheduler of these cores, which share a queue of the plan's; so many of it, alike.
    ///
    /// # Errors
    /// If the plan's set-up cannot be used.
    pub fn new(plan: &TierPlan, cores: CoreSet, count: usize) -> Result<Vec<Platform>, SetupError> {
        Scheduler::new(&plan.setup)?;
        let PolicyKind::Servers(tree) = &plan.setup.kind else { return Err(SetupError::ServerCount(0)) };
        Ok((0..count).map(|_| Platform::of(plan, tree, cores)).collect())
    }

    fn of(plan: &TierPlan, tree: &Tree, cores: CoreSet) -> Platform {
        let mut domain = build::domain(&plan.setup, tree, cores, false);
        for task in &mut domain.tasks {
            task.name.0 = plan.tasks[task.name.0.index()];
        }
        domain.impartial = true;
        domain.slots.iter_mut().for_each(|slot| slot.hold = Hold::Rests);
        let first = cores.iter().next().unwrap_or(CoreId(0));
        let parted = Parted::attach(&mut domain, plan, first);
        Platform { domain, parted }
    }

    /// Becomes what the other one is, which was made from the same plan for the same cores. Takes no memory.
    pub fn become_as(&mut self, other: &Platform) {
        self.domain.become_as(&other.domain);
        if let (Some(own), Some(other)) = (&mut self.parted, &other.parted) {
            own.become_as(other);
        }
    }

    /// The job that the core was given, if it has not been taken from there since.
    pub fn job_on(&self, core: CoreId) -> Option<(TaskId, u32)> {
        let slot = self.domain.slots.iter().find(|slot| slot.id == core)?;
        match slot.doing {
            OnCore::Job { place, job } => Some((self.domain.tasks[place].name.0, job)),
            _ => None,
        }
    }

    /// The core that runs the task.
    pub fn core_of(&self, task: TaskId) -> Option<CoreId> {
        let runs = |place: usize| self.domain.tasks[place].name.0 == task;
        self.domain.slots.iter().find(|slot| slot.running().is_some_and(runs)).map(|slot| slot.id)
    }

    /// One decision. Beside it: whether there was nothing to run for a moment, though there is now.
    pub fn handle(&mut self, seen: &Seen, records: &mut dyn Sink) -> (Decision, bool) {
        let decided = self.domain.handle_lent(seen, self.parted.as_deref_mut(), records);
        if let Some(parted) = &mut self.parted {
            parted.report(&self.domain, (self.domain.rests_until(), false), seen.now);
        }
        decided
    }

    /// What became of the first changes of its cores, as the one above knows.
    pub fn told(&mut self, outcomes: impl Iterator<Item = Outcome>) {
        if let Some(parted) = &mut self.parted {
            let known = parted.outcomes().len();
            outcomes.skip(known).for_each(|outcome| parted.told(outcome));
        }
    }

    /// As [`Tier::left`](super::Tier::left), on whichever core it decided last.
    pub fn left(&self) -> (u64, &[Left]) {
        self.parted.as_ref().map_or((0, &[]), |parted| parted.left())
    }
}

impl Domain {
    fn become_as(&mut self, other: &Domain) {
        self.tasks.clone_from(&other.tasks);
        self.queues.become_as(&other.queues);
        for (own, other) in self.feeds.iter_mut().zip(&other.feeds) {
            (own.turns, own.waiting, own.looks) = (other.turns, other.waiting, other.looks);
            own.ran.clone_from(&other.ran);
        }
        for (own, other) in self.vps.iter_mut().zip(&other.vps) {
            (own.awake, own.woken, own.since) = (other.awake, other.woken, other.since);
        }
        for (own, other) in self.slots.iter_mut().zip(&other.slots) {
            own.become_as(other);
        }
        self.entry = other.entry;
        self.due.become_as(&other.due);
    }

    /// Until when there is nothing to run on any core; zero if there is something.
    fn rests_until(&self) -> Instant {
        let runs = self.slots.iter().any(|slot| slot.running().is_some());
        match self.due.peek() {
            _ if runs || self.slots.iter().any(|slot| self.queues.len(self.vps[slot.root].below) > 0) => Instant::ZERO,
            Some(due) => due.time(),
            None => Instant::NEVER,
        }
    }

    fn handle_lent(
        &mut self,
        seen: &Seen,
        mut parted: Option<&mut Parted>,
        records: &mut dyn Sink,
    ) -> (Decision, bool) {
        let Some(me) = self.slots.iter().position(|slot| slot.id == seen.core) else {
            return (Decision { run: None, timer: Instant::NEVER, notify: CoreSet::EMPTY, ticket: 0 }, false);
        };
        self.entry = self.entry.wrapping_add(1);
        let mut wanted = CoreSet::EMPTY;
        let queue = self.vps[self.slots[me].root].below;
        let something = self.queues.len(queue) > 0;
        for core in (0..self.slots.len()).filter(|core| *core != me) {
            self.look(core, seen, records);
        }
        let slot = &mut self.slots[me];
        let now = seen.now.max(slot.since);
        let left = seen.left.max(slot.since).min(now);
        let elapsed = left.since(slot.since);
        slot.since = now;
        if slot.hold != Hold::Has {
            // It has what it had when it was here last.
            slot.hold = Hold::Has;
        }
        let (id, event) = (slot.id, self.event(me, seen, seen.removed));
        let mut records = Recorder { sink: records, core: id, now };
        let ran = self.slots[me].running().is_some();
        let unfinished = self.leave(me, (left, elapsed), event, &mut records);
        let looked = self.feeds[queue].looks;
        let emptied = something && self.queues.len(queue) == 0;
        let mut from = left;
        while let Some((parted, at)) = parted.as_mut().and_then(|it| it.when_settled().map(|at| (it, at))) {
            let at = at.max(from).min(now);
            self.catch_up(me, (from, at), &mut records);
            parted.take_effect(self, at, &mut records);
            from = at;
        }
        if from < now {
            self.catch_up(me, (from, now), &mut records);
        }
        self.emptied = false;
        self.make_due(me, now, &mut records);
        let emptied = emptied || self.emptied && left == now;
        self.look_at_laxities(me, now);
        // Who has just come to the end of a job, or of what it may have, or to a look, goes on with the next one.
        let goes_on = unfinished.is_some_and(|(place, _)| self.tasks[place].ready());
        self.impartial = goes_on && !looked || !ran;
        self.vps[self.slots[me].root].awake = self.queues.len(queue) > 0;
        self.assign_lent(me, now, unfinished.map(|(place, _)| place), &mut wanted);
        if self.look_is_overdue(me) {
            self.look_at_laxities(me, now);
            self.assign_lent(me, now, unfinished.map(|(place, _)| place), &mut wanted);
        }
        let run = self.switch(me, unfinished, &mut records);
        let mut timer = self.time_out(me, now);
        let due = self.due.peek().map_or(Instant::NEVER, |due| due.time());
        if run.is_some() || self.queues.len(queue) == 0 {
            timer = timer.min(due);
        } else {
            // Others have all that there is to run, and look after what comes.
            let runs = |slot: &Slot| slot.hold == Hold::Has && slot.running().is_some();
            timer = if self.slots.iter().any(runs) { ELSEWHERE } else { ASKED };
        }
        self.slots[me].armed = timer;
        if run.is_none() {
            self.slots[me].hold = Hold::Rests;
            self.vps[self.slots[me].root].awake = false;
        }
        let mut notify = self.whom_to_tell(me, now);
        wanted.iter().for_each(|core| notify.insert(core));
        for other in notify.iter() {
            records.core(Kind::Notify, u64::from(other.0));
        }
        (Decision { run, timer, notify, ticket: 0 }, emptied && run.is_some())
    }

    /// What the policy is told of the job that the core was given.
    fn event(&self, core: usize, seen: &Seen, removed: bool) -> Event {
        match self.slots[core].doing {
            OnCore::Job { .. } if removed => Event::Remove,
            OnCore::Job { place, job } if (seen.finished)(self.tasks[place].name.0, job) => Event::Complete,
            _ => Event::Timer,
        }
    }

    /// Whether another core can be used still, or again.
    fn look(&mut self, core: usize, seen: &Seen, records: &mut dyn Sink) {
        let id = self.slots[core].id;
        match (seen.away[id.index()], self.slots[core].hold) {
            (Some(left), Hold::Has | Hold::Asked | Hold::Rests) => {
                let event = self.event(core, seen, false);
                let slot = &mut self.slots[core];
                let left = left.max(slot.since).min(seen.now.max(slot.since));
                let elapsed = left.since(slot.since);
                slot.since = left;
                (slot.hold, slot.plan, slot.told) = (Hold::Away, None, None);
                let mut records = Recorder { sink: records, core: id, now: left };
                let unfinished = self.leave(core, (left, elapsed), event, &mut records);
                if let Some((place, job)) = unfinished {
                    records.job(Kind::Preempt, self.tasks[place].name, job, 0);
                }
                self.slots[core].doing = OnCore::Idle;
                self.vps[self.slots[core].root].awake = true;
                // It may have been taken away before it could say which others it wants.
                for slot in self.slots.iter_mut().filter(|slot| slot.hold == Hold::Asked && slot.asker == core) {
                    slot.hold = Hold::Rests;
                }
            }
            // It is on its way here, or was lost sight of.
            (None, Hold::Away) => {
                self.slots[core].hold = Hold::Rests;
                self.vps[self.slots[core].root].awake = false;
            }
            _ => {}
        }
    }

    /// Asks for the cores that rest and have work, and forgets those that have none. Cores that were asked for.
    fn ask(&mut self, me: usize, wanted: &mut CoreSet) {
        for slot in &mut self.slots {
            match (slot.hold, self.vps[slot.root].awake) {
                (Hold::Rests, true) => {
                    (slot.hold, slot.asker) = (Hold::Asked, me);
                    wanted.insert(slot.id);
                }
                (Hold::Asked | Hold::Away, false) => (slot.hold, slot.plan, slot.told) = (Hold::Rests, None, None),
                _ => {}
            }
        }
    }

    /// As `assign`, among the cores that are here or may be.
    fn assign_lent(&mut self, me: usize, now: Instant, unfinished: Option<usize>, wanted: &mut CoreSet) {
        loop {
            self.ask(me, wanted);
            for core in 0..self.slots.len() {
                match self.slots[core].hold {
                    Hold::Has | Hold::Asked => self.walk(core, me, now),
                    Hold::Away | Hold::Rests => self.slots[core].offer = Offer::Idle,
                }
            }
            self.settle(me, now, unfinished);
            if !self.wake_for_waiting(me, now) {
                return;
            }
        }
    }
}
