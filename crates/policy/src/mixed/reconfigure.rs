//! Reconfiguring the tasks of a core with two criticality levels while it runs.
//!
//! Each core is reconfigured by itself, by [`crate::reconfigure`]. It is **idle** when no job is unfinished that was released before,
//! which is where the core serves both levels again if it had given up one: so the analysis, which starts at an idle instant in
//! the LO mode, starts anew with what is present then.
//!
//! **What is applied together.** Virtual deadlines, and budgets with their share of the system's own work, are computed for all tasks
//! of a core: a reconfiguration brings all of those that it moves, in one instant ([`DualNow`]). It is refused if either the LO
//! times of all tasks or the HI times of the critical ones would promise more than the core, and more than before.

use super::core::{Core, TaskState};
use super::{DualNow, Mixed};
use crate::heap::Key;
use crate::reconfigure::{self, share, Action, Alteration, Change, Part, Reconfigure, Requests, Values, WHOLE};
use crate::records::Recorder;
use crate::{PolicyConfig, PolicyConfigError, Reconfigurable};
use alloc::boxed::Box;
use alloc::vec::Vec;
use tactus_record::{EventKind, Sink, CHANGE_DEPENDS};
use tactus_time::{Duration, Instant, Level, TaskId};

/// Finds the first thing that is wrong.
pub(super) fn check(setup: &PolicyConfig, all: &Reconfigurable<Mixed, Vec<DualNow>>) -> Result<(), PolicyConfigError> {
    reconfigure::check(setup, all, |task, effect| {
        let core = setup.tasks[task.index()].core;
        let sound = |now: &DualNow| {
            let task = setup.tasks.get(now.task.index()).filter(|task| task.core == core);
            let both = now.low.zip(now.own);
            let fits = |task: &crate::Task| match task.level {
                Level::A => both.is_none_or(|(low, own)| low <= own),
                _ => now.low == now.own,
            };
            ![now.low, now.own].contains(&Some(Duration::ZERO)) && task.is_some_and(fits)
        };
        match effect.iter().find(|now| !sound(now)) {
            Some(now) => Err(PolicyConfigError::ChangeEffect(now.task)),
            None => Ok(()),
        }
    })
}

/// The reconfigurations of one core, and what is present there.
pub(super) struct Changes {
    requests: Requests<Target>,
    terms: Terms,
}

struct Terms {
    /// By index: what is present, and from its start to its first release.
    present: Vec<bool>,
    offsets: Vec<Duration>,
    /// Room to put releases in order.
    room: Vec<Key>,
}

/// What a reconfiguration concerns and brings.
struct Target {
    /// The task's index.
    task: usize,
    /// What each index has then; what it had, once that is so.
    effect: Vec<(usize, DualNow)>,
}

type Request = reconfigure::Request<Target>;

/// A core at one entry.
struct Entry<'a, 'r, S: ?Sized> {
    core: &'a mut Core,
    terms: &'a mut Terms,
    records: &'a mut Recorder<'r, S>,
}

impl<S: Sink + ?Sized> Reconfigure<Target> for Entry<'_, '_, S> {
    fn now(&self) -> Instant {
        self.records.now
    }
    fn record(&mut self, kind: EventKind, number: u32, argument: u64) {
        self.records.change(kind, number, argument);
    }
    fn stop_releases(&mut self, request: &Request) {
        let task = &mut self.core.tasks[request.target.task];
        task.until = task.until.min(request.at);
    }
    fn is_idle(&self, _: &Request) -> bool {
        self.core.ready.peek().is_none()
    }
    fn accept(&mut self, request: &mut Request) -> Result<(), u64> {
        self.core.accept(self.terms, request)
    }
    fn forget_effect(&mut self, request: &mut Request) {
        request.target.effect.clear();
    }
    fn apply(&mut self, pending: &mut [Request]) {
        let task = pending[0].target.task;
        match pending[0].action {
            Action::Add => self.core.start(self.terms, task, self.records.now),
            Action::Remove => self.core.end_releases(self.terms, task),
            Action::Alter(named) => self.core.alter(task, &named),
        }
    }
}

impl Core {
    /// Gives the core its reconfigurations.
    pub(super) fn attach(&mut self, setup: &PolicyConfig, all: &Reconfigurable<Mixed, Vec<DualNow>>) {
        let place = |task: TaskId| self.tasks.iter().position(|work| work.name.0 == task);
        let one = |(n, (change, effect)): (usize, (&Change, &Vec<DualNow>))| {
            let Part::Task(task) = change.part else { return None };
            let effect = effect.iter().filter_map(|now| Some((place(now.task)?, *now))).collect();
            Some(Request::new(n, change, Target { task: place(task)?, effect }))
        };
        let list: Vec<Request> = all.changes.iter().zip(&all.effects).enumerate().filter_map(one).collect();
        let present: Vec<bool> = self.tasks.iter().map(|work| !all.absent.contains(&work.name.0)).collect();
        let offsets = self.tasks.iter().map(|work| setup.tasks[work.name.0.index()].offset).collect();
        let room = Vec::with_capacity(self.tasks.len());
        let mut terms = Terms { present, offsets, room };
        let requests = Requests::new(list, all.protocol);
        self.next_change = requests.next();
        self.look = self.next_change;
        for task in 0..self.tasks.len() {
            if !terms.present[task] {
                self.end_releases(&mut terms, task);
            }
        }
        self.changes = Some(Box::new(Changes { requests, terms }));
    }

    /// Takes up what is requested by now.
    #[cold]
    #[inline(never)]
    pub(super) fn receive_requests<S: Sink>(&mut self, records: &mut Recorder<S>) {
        let Some(mut changes) = self.changes.take() else { return };
        let Changes { requests, terms } = &mut *changes;
        requests.receive(&mut Entry { core: self, terms, records });
        self.changes = Some(changes);
    }

    /// Applies what can be applied. All that was due before now is released.
    #[cold]
    #[inline(never)]
    pub(super) fn decide_requests<S: Sink>(&mut self, records: &mut Recorder<S>) {
        let Some(mut changes) = self.changes.take() else { return };
        let Changes { requests, terms } = &mut *changes;
        requests.decide(&mut Entry { core: self, terms, records });
        self.next_change = requests.next();
        self.look = if requests.is_pending() { Instant::ZERO } else { self.next_change };
        self.changes = Some(changes);
    }

    /// Takes up what the request promises, unless that is more than the core, and more than before, or a task would get a longer time while
    /// all are served than at its own level, since a request before was refused.
    fn accept(&mut self, terms: &mut Terms, request: &mut Request) -> Result<(), u64> {
        let before = self.promised(terms, None);
        self.exchange(&mut request.target);
        let task = request.target.task;
        let was_present = terms.present[task];
        let (present, period) = match request.action {
            Action::Add => (true, None),
            Action::Remove => (false, None),
            Action::Alter(named) => (was_present, named.period.map(|period| (task, period))),
        };
        terms.present[task] = present;
        let after = self.promised(terms, period);
        let fits = !after.iter().zip(&before).any(|(after, before)| *after > WHOLE && after > before);
        let sound = self.tasks.iter().all(|task| task.low <= task.own);
        if !fits || !sound {
            terms.present[task] = was_present;
            self.exchange(&mut request.target);
        }
        match sound {
            true => reconfigure::unless_overloaded(fits),
            false => Err(CHANGE_DEPENDS),
        }
    }

    /// The shares of the core that the LO times of all and the HI times of the critical ones come to. `altered`: a task's index and its new
    /// period.
    fn promised(&self, terms: &Terms, altered: Option<(usize, Duration)>) -> [u64; 2] {
        let mut sums = [0_u64; 2];
        let present = self.tasks.iter().enumerate().filter(|(task, work)| terms.present[*task] && !work.removed);
        for (task, work) in present {
            let period = altered.filter(|(one, _)| *one == task).map_or(work.period, |(_, period)| period);
            sums[0] = sums[0].saturating_add(share(work.low, period));
            if work.is_critical() {
                sums[1] = sums[1].saturating_add(share(work.own, period));
            }
        }
        sums
    }

    /// Gives each task what the request brings, and keeps what it had.
    fn exchange(&mut self, target: &mut Target) {
        for (place, then) in &mut target.effect {
            let TaskState { low, own, virtual_deadline, .. } = &mut self.tasks[*place];
            let both = [(low, &mut then.low), (own, &mut then.own), (virtual_deadline, &mut then.virtual_deadline)];
            for (now, then) in both {
                then.as_mut().into_iter().for_each(|then| core::mem::swap(now, then));
            }
        }
        // No job is left that it could concern, but under `Immediate`.
        for (place, _) in &target.effect {
            self.queue(*place);
        }
    }

    /// Starts the task: its first job is released its offset after now.
    fn start(&mut self, terms: &mut Terms, place: usize, now: Instant) {
        self.end_releases(terms, place);
        let task = &mut self.tasks[place];
        if !task.removed {
            task.until = Instant::NEVER;
            self.releases.push(Key::at(now.saturating_add(terms.offsets[place]), place));
        }
    }

    /// Lets the task release nothing more.
    fn end_releases(&mut self, terms: &mut Terms, place: usize) {
        self.tasks[place].until = Instant::ZERO;
        while let Some(first) = self.releases.pop() {
            if first.place() != place {
                terms.room.push(first);
            }
        }
        terms.room.drain(..).for_each(|key| self.releases.push(key));
    }

    /// Gives the task what is named; its next release stays. What its jobs may take comes with what the request brings.
    fn alter(&mut self, place: usize, named: &Alteration) {
        let task = &mut self.tasks[place];
        let (time, period, deadline, priority) = (task.own, task.period, task.deadline, task.priority);
        let values = named.of(Values { time, period, deadline, priority });
        (task.period, task.deadline, task.priority) = (values.period, values.deadline, values.priority);
        self.queue(place);
    }
}
