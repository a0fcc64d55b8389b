//! One domain: its tasks, servers and queues, and what each of its cores does. This file has what an entry changes before the
//! next choice; the choice itself is in `assign`.

use super::budget::Budget;
pub(super) use super::core_state::{CoreState, Offer};
use super::events::Events;
use super::queues::Queues;
use super::reconfigure::Changes;
use super::resource::{Resources, SharedResources};
use super::slots::{Slots, Update};
use super::task_state::TaskState;
use super::timetable::{Schedules, Sequence};
use crate::heap::{IndexedHeap, Key};
use crate::records::{OnCore, Recorder};
use crate::{Decision, Event, Running};
use alloc::vec::Vec;
use tactus_record::{EventKind, Sink};
use tactus_task::{EventCall, Overrun, TaskOrder};
use tactus_time::{CoreSet, Duration, Instant, TaskId};

/// No task of the domain.
pub(super) const NOWHERE: usize = usize::MAX;
/// Entries of servers without budget lie behind all others.
pub(super) const BACKGROUND: u64 = 1 << 63;

/// What a core was told before its event.
#[derive(Clone, Copy)]
pub(super) struct Facts<'a> {
    /// What arrived, and when.
    pub(super) arrivals: &'a [(TaskId, Instant)],
    /// Until when the running job asks to wait, if that is the event.
    pub(super) wait: Instant,
    /// What it does to events.
    pub(super) calls: &'a [EventCall],
}

/// One call of the policy.
pub(super) struct Entry<'a> {
    pub(super) now: Instant,
    /// Until when this scheduler had the core, where its parent had it since.
    pub(super) absent: Option<Instant>,
    pub(super) event: Event,
    pub(super) facts: Facts<'a>,
    /// Its place among those that touched what cores share; 0 if it touched nothing of that.
    pub(super) ticket: u32,
    /// The resources of several cores, where it concerns any.
    pub(super) shared: Option<&'a mut SharedResources>,
}

/// Cores that share queues, and all that is on them.
pub(crate) struct Domain {
    pub(super) core_states: Vec<CoreState>,
    /// By index; an entity below their number is a task, the others are virtual processors.
    pub(super) tasks: Vec<TaskState>,
    pub(super) vps: Vec<VirtualProcessor>,
    pub(super) run_queues: Vec<RunQueue>,
    pub(super) queues: Queues,
    /// The queues that several cores share.
    pub(super) shared: Vec<usize>,
    /// Each task's next release, or end of a job that is to be killed.
    pub(super) due: IndexedHeap,
    /// The entities that were taken out of queues during a choice.
    pub(super) aside: Vec<usize>,
    /// The jobs that were picked from a queue, the most urgent first.
    pub(super) picked: Vec<Key>,
    /// The jobs that were passed over because they still run on a core that is to run another one.
    pub(super) passed: Vec<Key>,
    /// A task, and the place of one that its completions release.
    pub(super) successors: Vec<(usize, usize)>,
    /// Where each task of the set-up is, [`NOWHERE`] if it is not here; empty if time releases all jobs.
    pub(super) places: Vec<usize>,
    /// Counts entries, to wake each server once in an entry.
    pub(super) entry: u32,
    /// How it is reconfigured while it runs.
    pub(super) changes: Option<Changes>,
    /// Its tasks that come and go with programs.
    pub(super) slots: Option<alloc::boxed::Box<Slots>>,
    /// An update of a pair of slots that is under way.
    pub(super) update: Option<alloc::boxed::Box<Update>>,
    /// What its jobs await beside time.
    pub(super) events: Option<Events>,
    /// What its jobs keep from others.
    pub(super) resources: Option<alloc::boxed::Box<Resources>>,
    /// Whether a budget was forfeited for want of work in this decision.
    pub(super) lost: bool,
    /// Whether any of its queues orders by laxity as time passes.
    pub(super) laxities: bool,
    /// The least time from one line of memory to the next.
    pub(super) line: Duration,
    /// Whether arrivals may take the short way: it has one core, and nothing but its queues, budgets and resources decides; and whether
    /// that of jobs that have the core at once: there are no resources.
    pub(super) arrives_alone: bool,
    pub(super) arrives_first: bool,
    /// The windows of partitions on its one core, where the next one's follows from them alone.
    pub(super) sequence: Option<Sequence>,
    /// When its partitions have other windows.
    pub(super) schedules: Option<alloc::boxed::Box<Schedules>>,
}

/// A server on one core.
pub(super) struct VirtualProcessor {
    /// Its server's index in the tree.
    pub(super) server: u16,
    /// Its core's index in the domain.
    pub(super) core: usize,
    pub(super) parent: Option<usize>,
    /// The queue of what is inside.
    pub(super) below: usize,
    pub(super) budget: Option<Budget>,
    /// How its parent orders it, with its number there.
    pub(super) order: TaskOrder,
    pub(super) rank: u64,
    pub(super) background: bool,
    /// Whether it has work, as far as is known.
    pub(super) awake: bool,
    pub(super) woken: u32,
    /// Since when `awake` is so.
    pub(super) since: Instant,
    /// Whether it is absent: not added yet, or removed.
    pub(super) absent: bool,
    /// Whether no task can ever run in it; it would only cost the server around it time.
    pub(super) cannot_have_work: bool,
}

impl VirtualProcessor {
    /// Whether its budget is not used.
    pub(super) fn is_unused(&self) -> bool {
        self.absent || self.cannot_have_work
    }
}

/// A queue and the virtual processors that take from it.
pub(super) struct RunQueue {
    pub(super) quantum: Duration,
    pub(super) vps: Vec<usize>,
    /// How many turns were given.
    pub(super) turns: u64,
    /// The most urgent waiting job that was found last.
    pub(super) waiting: Option<Key>,
    /// For an order that changes with time: the tasks that ran since its keys were computed, and whether this entry computes them.
    pub(super) ran: Vec<usize>,
    pub(super) looks: bool,
    /// The bandwidth of the active servers in it; nothing where no server reclaims.
    pub(super) active: Option<u64>,
}

impl Domain {
    /// One call of the policy. What fell due while the parent had the core is handled at its own time.
    pub(super) fn handle(&mut self, me: usize, entry: Entry, records: &mut dyn Sink) -> Decision {
        let Entry { now, absent, event, facts, ticket, shared } = entry;
        if self.sequence.as_ref().is_some_and(Sequence::has_untold) {
            self.tell_passages();
        }
        let core_state = &mut self.core_states[me];
        let now = now.max(core_state.since);
        let left = absent.map_or(now, |at| at.max(core_state.since).min(now));
        let elapsed = left.since(core_state.since);
        core_state.since = now;
        let mut records = Recorder { sink: records, core: core_state.id, now };
        if let Some(schedules) = &mut self.schedules {
            while let Some((schedule, begun)) = schedules.pass(now) {
                records.schedule(schedule, begun);
                schedules.change(&mut self.sequence);
            }
        }
        self.entry = self.entry.wrapping_add(1);
        let unfinished = self.leave(me, (left, elapsed), (event, facts), &mut records);
        for (task, at) in facts.arrivals {
            let place = self.places.get(task.index()).copied().filter(|place| *place != NOWHERE);
            if let Some(place) = place {
                self.arrive(place, (*at).min(now), &mut records);
            }
        }
        let core = records.core;
        let given = shared.map_or(CoreSet::EMPTY, |shared| self.meet_others(shared, core));
        if absent.is_some() {
            self.catch_up(me, (left, now), &mut records);
        }
        if event == Event::Slot {
            self.change_slot(me, &mut records);
        }
        if self.changes.is_some() {
            self.reconfigure(&mut records);
        }
        if self.update.is_some() {
            self.carry_on_update(&mut records);
        }
        self.fall_due(me, &mut records);
        // What was dropped does not go on.
        let tasks = &self.tasks;
        let unfinished = unfinished.filter(|(place, job)| tasks[*place].pending > 0 && tasks[*place].job == *job);
        let decision = self.decide(me, unfinished, ticket, &mut records);
        for other in given.iter() {
            records.core(EventKind::Notify, u64::from(other.0));
        }
        Decision { notify: CoreSet::from_bits(decision.notify.bits() | given.bits()), ..decision }
    }

    /// Handles the replenishments, releases and kills that are due.
    pub(super) fn fall_due(&mut self, me: usize, records: &mut Recorder) {
        self.replenish_due(me, records.now, records);
        self.make_due(me, records.now, records);
    }

    /// Decides who runs.
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
        if self.laxities {
            self.look_at_laxities(me, now);
        }
        self.assign(me, now, unfinished_place);
        if self.look_is_overdue(me) {
            self.look_at_laxities(me, now);
            self.assign(me, now, unfinished_place);
        }
        let run = self.switch(me, unfinished, records);
        self.reclaim(me, now);
        let timer = self.time_out(me, now);
        self.core_states[me].armed = timer;
        let notify = self.cores_to_notify(me, now);
        for other in notify.iter() {
            records.core(EventKind::Notify, u64::from(other.0));
        }
        Decision { run, timer, notify, ticket }
    }

    /// Charges the job that ran and applies the event. Returns the job if it can go on.
    pub(super) fn leave(
        &mut self,
        me: usize,
        (now, elapsed): (Instant, Duration),
        (event, facts): (Event, Facts),
        records: &mut Recorder,
    ) -> Option<(usize, u32)> {
        while let Some(ghost) = self.core_states[me].ghosts.pop() {
            if let Some(budget) = &mut self.vps[ghost].budget {
                budget.drain(elapsed);
            }
            self.show(ghost, now);
        }
        let OnCore::Job { place, job } = self.core_states[me].doing else { return None };
        self.core_states[me].doing = OnCore::Nothing;
        let path = self.core_states[me].charged;
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
        let holds = self.resources.as_ref().is_some_and(|resources| resources.holds(place));
        let task = &mut self.tasks[place];
        let looked_at = task.is_looked_at();
        let fails = self.update.is_some() && self.look_at_trial(place, event, now);
        let task = &mut self.tasks[place];
        let goes_on = match event {
            _ if fails => false,
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
            _ if task.is_killed_at(now) => {
                task.kill(records);
                false
            }
            Event::Wait => {
                task.exhaust(records);
                !task.wait((now, facts.wait), holds, records)
            }
            Event::Signal => {
                task.exhaust(records);
                !self.do_to_events(place, facts.calls, records)
            }
            Event::Start
            | Event::Timer
            | Event::Notify
            | Event::Arrival
            | Event::Unlock
            | Event::Lock
            | Event::Slot => {
                task.exhaust(records);
                true
            }
        };
        if self.laxities {
            self.run_queues[self.tasks[place].queue].looks |= look || !goes_on;
        }
        if goes_on && self.tasks[place].ready() {
            self.find_exceeded(place, records);
        } else if let Some(resources) = &mut self.resources {
            resources.end(place);
        }
        self.queue(place, now);
        // Only these change what is due for the task whether or not it runs.
        let task = &self.tasks[place];
        let by_event = matches!(event, Event::Remove | Event::Wait | Event::Signal);
        if by_event || looked_at || task.overrun == Overrun::Kill || task.proxy || task.watched {
            self.plan_event(place);
        }
        if event == Event::Complete && !self.successors.is_empty() {
            self.release_successors(place, now, records);
        }
        for (vp, _) in path.iter().rev() {
            self.show(vp, now);
        }
        goes_on.then_some((place, job))
    }

    /// The running job does this to events. Whether it waits then.
    pub(super) fn do_to_events(&mut self, place: usize, calls: &[EventCall], records: &mut Recorder) -> bool {
        let Some(mut events) = self.events.take() else { return false };
        let mut waits = false;
        for call in calls {
            match *call {
                EventCall::Await(event) if !waits => {
                    waits = events.await_event(event, place);
                    if !waits && events.is_barrier(event) {
                        self.let_go_on(&mut events, event, usize::MAX, records);
                    }
                }
                EventCall::Await(_) => {}
                EventCall::Signal(event) if !events.is_barrier(event) => {
                    if self.let_go_on(&mut events, event, 1, records) == 0 {
                        events.keep(event);
                    }
                }
                EventCall::Broadcast(event) if !events.is_barrier(event) => {
                    self.let_go_on(&mut events, event, usize::MAX, records);
                }
                EventCall::Signal(_) | EventCall::Broadcast(_) => {}
            }
        }
        self.events = Some(events);
        if waits {
            self.tasks[place].await_event(records);
        }
        waits
    }

    /// Lets so many go on at most. How many did.
    fn let_go_on(&mut self, events: &mut Events, event: u16, most: usize, records: &mut Recorder) -> usize {
        let mut count = 0;
        while count < most {
            let Some(place) = events.pop(event) else { break };
            self.tasks[place].wake_up(records);
            self.queue(place, records.now);
            self.plan_event(place);
            count += 1;
        }
        count
    }

    /// A job of the task at `place` is complete, which releases jobs of others.
    fn release_successors(&mut self, place: usize, now: Instant, records: &mut Recorder) {
        for n in 0..self.successors.len() {
            let (before, after) = self.successors[n];
            if before == place {
                self.arrive(after, now, records);
            }
        }
    }

    /// Something arrived for the task at `place`.
    fn arrive(&mut self, place: usize, at: Instant, records: &mut Recorder) {
        self.tasks[place].arrive(at, records);
        self.plan_event(place);
    }

    /// Switches the core to its plan. `unfinished`: the job that ran until now and could go on.
    pub(super) fn switch(
        &mut self,
        me: usize,
        unfinished: Option<(usize, u32)>,
        records: &mut Recorder,
    ) -> Option<Running> {
        let core_state = &mut self.core_states[me];
        let chosen = core_state.plan.map(|place| (place, self.tasks[place].job));
        if chosen != unfinished || chosen.is_none() {
            if let Some((place, job)) = unfinished {
                records.about(EventKind::Preempt, self.tasks[place].subject, job, 0);
            }
            match chosen {
                Some((place, job)) => records.about(EventKind::Dispatch, self.tasks[place].subject, job, 0),
                None if !core_state.idle => records.core(EventKind::Idle, 0),
                None => {}
            }
        }
        core_state.idle = chosen.is_none();
        core_state.doing = chosen.map_or(OnCore::Idle, |(place, job)| OnCore::Job { place, job });
        core_state.charged = core_state.path;
        if let (Some(resources), Some((place, _))) = (&mut self.resources, chosen) {
            resources.begin(place, self.tasks[place].charged);
        }
        if let Some((place, _)) = chosen.filter(|(place, _)| self.tasks[*place].order == TaskOrder::LeastLaxity) {
            let ran = &mut self.run_queues[self.tasks[place].queue].ran;
            if !ran.contains(&place) {
                ran.push(place);
            }
        }
        chosen.map(|(place, job)| {
            let task = &self.tasks[place];
            Running { task: task.id, job, charged: task.charged, arrived: task.arrived() }
        })
    }

    /// When the core must be entered next.
    pub(super) fn time_out(&self, me: usize, now: Instant) -> Instant {
        let core_state = &self.core_states[me];
        let mut timer = core_state.replenish.peek().map_or(Instant::NEVER, Key::time);
        if let Some(due) = self.due.peek().filter(|_| me == 0) {
            timer = timer.min(due.time());
        }
        match &self.changes {
            // What was lost may have been all that was left.
            Some(changes) if self.lost && changes.is_pending() => timer = now,
            Some(changes) if me == 0 => timer = timer.min(changes.next()),
            _ => {}
        }
        for ghost in core_state.ghosts.iter().filter(|ghost| !self.vps[**ghost].awake) {
            if let Some(budget) = &self.vps[*ghost].budget {
                timer = timer.min(now.saturating_add(budget.left(now)));
            }
        }
        if let Some(schedules) = &self.schedules {
            timer = timer.min(schedules.next());
        }
        let Some(place) = core_state.running() else { return timer };
        for (vp, _) in core_state.charged.iter().filter(|(_, background)| !background) {
            if let Some(budget) = &self.vps[vp].budget {
                timer = timer.min(now.saturating_add(budget.left(now)));
            }
        }
        let task = &self.tasks[place];
        if task.order.takes_turns() {
            timer = timer.min(now.saturating_add(task.slice));
        }
        timer.min(task.may_run_until(now)).min(self.overtaken(me, now)).min(self.section_ends(now))
    }

    /// The other cores whose plan has changed, or that must be entered earlier than their timers expire.
    pub(super) fn cores_to_notify(&mut self, me: usize, now: Instant) -> CoreSet {
        let mut notify = CoreSet::EMPTY;
        for core in (0..self.core_states.len()).filter(|core| *core != me) {
            let wanted = self.core_states[core].replenish.peek().map_or(Instant::NEVER, Key::time);
            let mut wanted = wanted.min(self.overtaken(core, now));
            // The first core waits for releases and kills; one that this core brought may come before all others.
            if let Some(due) = self.due.peek().filter(|_| core == 0) {
                wanted = wanted.min(due.time());
            }
            // An arrival may come before its job is finished.
            if let Some(place) = self.core_states[core].running() {
                wanted = wanted.min(self.tasks[place].next_is_left_out());
            }
            let core_state = &mut self.core_states[core];
            let other_job = core_state.notified != core_state.plan;
            core_state.notified = core_state.plan;
            if (other_job && core_state.plan != core_state.running()) || wanted < core_state.armed || core_state.called
            {
                core_state.called = false;
                core_state.armed = core_state.armed.min(wanted);
                notify.insert(core_state.id);
            }
        }
        let core_state = &mut self.core_states[me];
        (core_state.notified, core_state.called) = (core_state.plan, false);
        notify
    }
}
