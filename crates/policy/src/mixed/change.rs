//! Changing the tasks of a core while it runs, with no promise broken by it.
//!
//! **The protocol** is that of the idle instant ([`crate::Changing`] tells it for trees). A change is asked for at its time; from then on
//! what is to be removed releases no more jobs. It takes effect at the first instant at which no job is left on the core
//! that was released before, which is where the core serves both levels again if it had given up one: so the analysis, which begins
//! at an idle instant in the LO mode, begins anew with what is there then. Other cores are not concerned.
//!
//! **What takes effect together.** Virtual deadlines, and what budgets hold for the system's own work, are worked out for all tasks of a core:
//! a change brings all of those that it moves, in one instant ([`DualNow`]).
//!
//! **Admission** is by analysis, before the run. What takes effect is looked at once more: neither the LO times of all tasks nor the HI times of
//! the critical ones may promise more than the core, and more than before.

use super::core::{Core, Work};
use super::{DualNow, Mixed};
use crate::changes::{self, asked_at};
use crate::heap::Key;
use crate::records::Recorder;
use crate::tree::{share, Action, Change, Part, Protocol, Values, WHOLE};
use crate::{Changeable, PolicyConfig, PolicyConfigError};
use alloc::boxed::Box;
use alloc::vec::Vec;
use tactus_record::{EventKind, Sink, CHANGE_NOT_ADMITTED, CHANGE_OVERLOADS};
use tactus_time::{Duration, Instant, Level, TaskId};

/// Finds the first thing that is wrong.
pub(super) fn check(setup: &PolicyConfig, all: &Changeable<Mixed, Vec<DualNow>>) -> Result<(), PolicyConfigError> {
    changes::check(setup, all, |task, effect| {
        let core = setup.tasks[task.index()].core;
        let sound = |now: &DualNow| {
            let task = setup.tasks.get(now.task.index()).filter(|task| task.core == core);
            let fits = |task: &crate::Task| now.low == now.own || task.level == Level::A && now.low < now.own;
            !now.low.is_zero() && task.is_some_and(fits)
        };
        match effect.iter().find(|now| !sound(now)) {
            Some(now) => Err(PolicyConfigError::ChangeEffect(now.task)),
            None => Ok(()),
        }
    })
}

/// The changes of one core.
pub(super) struct Changes {
    list: Vec<Waiting>,
    /// So many have been asked for, and so many of these are settled.
    asked: usize,
    settled: usize,
    /// By place: what is there, and from its beginning to its first release.
    there: Vec<bool>,
    offsets: Vec<Duration>,
    /// Room to put releases in order.
    room: Vec<Key>,
    protocol: Protocol,
}

/// A change that is to come.
struct Waiting {
    number: u32,
    at: Instant,
    place: usize,
    action: Action,
    admitted: bool,
    /// What each place has then; what it had, once that is so.
    effect: Vec<(usize, DualNow)>,
}

impl Core {
    /// Takes its changes into it.
    pub(super) fn attach(&mut self, setup: &PolicyConfig, all: &Changeable<Mixed, Vec<DualNow>>) {
        let place = |task: TaskId| self.tasks.iter().position(|work| work.name.0 == task);
        let one = |(n, (change, effect)): (usize, (&Change, &Vec<DualNow>))| {
            let Part::Task(task) = change.part else { return None };
            let (place_of, at) = (place(task)?, asked_at(change));
            let effect = effect.iter().filter_map(|now| Some((place(now.task)?, *now))).collect();
            let Change { action, admitted, .. } = *change;
            Some(Waiting { number: n as u32, at, place: place_of, action, admitted, effect })
        };
        let list: Vec<Waiting> = all.changes.iter().zip(&all.effects).enumerate().filter_map(one).collect();
        let there: Vec<bool> = self.tasks.iter().map(|work| !all.absent.contains(&work.name.0)).collect();
        let offsets = self.tasks.iter().map(|work| setup.tasks[work.name.0.index()].offset).collect();
        let room = Vec::with_capacity(self.tasks.len());
        let protocol = all.protocol;
        self.next_change = list.first().map_or(Instant::NEVER, |change| change.at);
        self.look = self.next_change;
        let mut changes = Changes { list, asked: 0, settled: 0, there, offsets, room, protocol };
        for place in 0..self.tasks.len() {
            if !changes.there[place] {
                self.end_releases(&mut changes, place);
            }
        }
        self.changes = Some(Box::new(changes));
    }

    /// Takes up what is asked for by now.
    #[cold]
    #[inline(never)]
    pub(super) fn ask<S: Sink>(&mut self, records: &mut Recorder<S>) {
        let Some(mut changes) = self.changes.take() else { return };
        while let Some(change) = changes.list.get(changes.asked).filter(|change| change.at <= records.now) {
            records.change(EventKind::ChangeAsked, change.number, change.at.as_nanos());
            if change.admitted && change.action == Action::Remove {
                let task = &mut self.tasks[change.place];
                task.until = task.until.min(change.at);
            }
            changes.asked += 1;
        }
        self.changes = Some(changes);
    }

    /// Lets take effect what may. All that was released before now is released.
    #[cold]
    #[inline(never)]
    pub(super) fn settle<S: Sink>(&mut self, records: &mut Recorder<S>) {
        let Some(mut changes) = self.changes.take() else { return };
        while changes.settled < changes.asked {
            let n = changes.settled;
            let Waiting { number, admitted, .. } = changes.list[n];
            if !admitted {
                records.change(EventKind::ChangeRefused, number, CHANGE_NOT_ADMITTED);
            } else if changes.protocol == Protocol::Quiet && self.ready.peek().is_some() {
                break;
            } else if self.try_to(&mut changes, n, records.now) {
                records.change(EventKind::Changed, number, 0);
            } else {
                records.change(EventKind::ChangeRefused, number, CHANGE_OVERLOADS);
            }
            changes.settled += 1;
        }
        self.next_change = changes.list.get(changes.asked).map_or(Instant::NEVER, |next| next.at);
        self.look = if changes.settled < changes.asked { Instant::ZERO } else { self.next_change };
        self.changes = Some(changes);
    }

    /// Makes the change, unless the core would have promised more than there is, and more than before.
    fn try_to(&mut self, changes: &mut Changes, n: usize, now: Instant) -> bool {
        let before = self.promised(changes, None);
        self.exchange(&mut changes.list[n]);
        let Waiting { place, action, .. } = changes.list[n];
        let was_there = changes.there[place];
        changes.there[place] = match action {
            Action::Add => true,
            Action::Remove => false,
            Action::Alter(_) => was_there,
        };
        let period = match action {
            Action::Alter(values) => Some((place, values.period)),
            Action::Add | Action::Remove => None,
        };
        let after = self.promised(changes, period);
        if after.iter().zip(&before).any(|(after, before)| *after > WHOLE && after > before) {
            changes.there[place] = was_there;
            self.exchange(&mut changes.list[n]);
            return false;
        }
        match action {
            Action::Add => self.begin(changes, place, now),
            Action::Remove => self.end_releases(changes, place),
            Action::Alter(values) => self.alter(place, &values),
        }
        true
    }

    /// The shares of the core that the LO times of all and the HI times of the critical ones come to. `altered`: a place with another
    /// period.
    fn promised(&self, changes: &Changes, altered: Option<(usize, Duration)>) -> [u64; 2] {
        let mut sums = [0_u64; 2];
        let there = self.tasks.iter().enumerate().filter(|(place, work)| changes.there[*place] && !work.removed);
        for (place, work) in there {
            let period = altered.filter(|(one, _)| *one == place).map_or(work.period, |(_, period)| period);
            sums[0] = sums[0].saturating_add(share(work.low, period));
            if work.is_critical() {
                sums[1] = sums[1].saturating_add(share(work.own, period));
            }
        }
        sums
    }

    /// Gives each place what the change brings, and keeps what it had.
    fn exchange(&mut self, change: &mut Waiting) {
        for (place, then) in &mut change.effect {
            let Work { low, own, virtual_deadline, .. } = &mut self.tasks[*place];
            core::mem::swap(low, &mut then.low);
            core::mem::swap(own, &mut then.own);
            core::mem::swap(virtual_deadline, &mut then.virtual_deadline);
        }
        // No job is left that it could concern, but under `AtOnce`.
        for (place, _) in &change.effect {
            self.queue(*place);
        }
    }

    /// The task begins, or begins again: its first job comes its offset after now.
    fn begin(&mut self, changes: &mut Changes, place: usize, now: Instant) {
        self.end_releases(changes, place);
        let task = &mut self.tasks[place];
        if !task.removed {
            task.until = Instant::NEVER;
            self.releases.push(Key::at(now.saturating_add(changes.offsets[place]), place));
        }
    }

    /// The task releases nothing more.
    fn end_releases(&mut self, changes: &mut Changes, place: usize) {
        self.tasks[place].until = Instant::ZERO;
        while let Some(first) = self.releases.pop() {
            if first.place() != place {
                changes.room.push(first);
            }
        }
        changes.room.drain(..).for_each(|key| self.releases.push(key));
    }

    /// The task has other values; the release that is due next stays.
    fn alter(&mut self, place: usize, values: &Values) {
        let task = &mut self.tasks[place];
        (task.period, task.deadline, task.priority) = (values.period, values.deadline, values.priority);
        self.queue(place);
    }
}
