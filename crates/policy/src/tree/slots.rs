//! Slots: tasks of programs that come and go, and that nobody knew before the run.
//!
//! A slot has reserved tasks in a server of one core. They are absent until the loader, which runs on the same core, hands over a
//! program: then those that it has values for begin at once. When the program goes, their jobs are dropped and they release no more,
//! until the next one comes. Numbers of jobs go on, so that no two jobs of a task have the same.
//!
//! A program can be saved and restored: its tasks go on after the gap as if it had not been. A job that was under way is dropped, and
//! released again at the restore, where its deadline begins as that of any other; no release comes earlier than without the gap.
//!
//! The loader's word is taken for nothing but tasks of slots; what makes no sense is left out. Their server has its budget whether they
//! are there or not, so nobody else is concerned.

use super::domain::Domain;
use super::parameters::{ReconfigurableTree, SlotTasks};
use super::task_state::TaskState;
use crate::reconfigure::{Part, Values};
use crate::records::Recorder;
use crate::{PolicyConfig, PolicyConfigError, SlotAction};
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ops::Range;
use tactus_record::SlotSwitch;
use tactus_task::{Overrun, Release};
use tactus_time::{Duration, Instant, TaskId};

/// Finds the first thing that is wrong with the slots.
pub(super) fn check(setup: &PolicyConfig, all: &ReconfigurableTree) -> Result<(), PolicyConfigError> {
    let mut next = 0;
    for (n, slot) in all.slots.iter().enumerate() {
        let tasks = slot.range();
        let alone = |task: usize| {
            let place = all.tree.places[task];
            let server = &all.tree.servers[usize::from(place.server)];
            place.server == all.tree.places[tasks.start].server
                && place.server > 0
                && server.cores.iter().count() == 1
                && place.overrun == Overrun::Continue
                && all.tree.releases.get(task).is_none_or(|release| *release == Release::Periodic)
                && all.absent.contains(&Part::Task(TaskId(task as u16)))
                && !all.changes.iter().any(|change| change.part == Part::Task(TaskId(task as u16)))
        };
        let sound = next <= tasks.start && tasks.start < tasks.end && tasks.end <= setup.tasks.len();
        if !sound || !tasks.clone().all(alone) {
            return Err(PolicyConfigError::Slot(n));
        }
        next = tasks.end;
    }
    Ok(())
}

impl SlotTasks {
    /// Its tasks, by index.
    fn range(&self) -> Range<usize> {
        let first = self.first.index();
        first..first + usize::from(self.tasks)
    }
}

/// The slots of one domain.
pub(super) struct Slots {
    /// By number; those of other domains have no tasks here.
    pub(super) list: Vec<Slot>,
    /// By index in the domain: what the task is to have when the program comes that is loaded.
    pub(super) told: Vec<Option<Values>>,
    /// What was done, by the number of the slot.
    done: Option<(usize, SlotAction)>,
}

/// One slot.
pub(super) struct Slot {
    /// Its tasks by index in the domain.
    pub(super) tasks: Range<usize>,
    /// Whether a program is in it.
    pub(super) loaded: bool,
    /// Which of them its program has, as bits.
    pub(super) active: u32,
    /// How long each of them had until its next release when the program was saved; nothing of those that it did not use.
    saved: Vec<Option<Duration>>,
}

/// An update that is under way.
pub(super) struct Update {
    /// The slots, by number: the old version's, the new one's.
    pub(super) from: usize,
    pub(super) to: usize,
    /// Jobs that must be good yet.
    pub(super) trial: u32,
    /// What became of it so far; nothing until the new version takes over.
    pub(super) state: Option<SlotSwitch>,
    /// That it has failed, which nothing was done about yet.
    pub(super) failed: Option<SlotSwitch>,
}

/// Gives the domain its slots.
pub(super) fn attach(domain: &mut Domain, all: &ReconfigurableTree) {
    let of = |slot: &SlotTasks| {
        let first = domain.tasks.iter().position(|task| task.id == slot.first);
        let tasks = first.map_or(0..0, |first| first..first + usize::from(slot.tasks));
        Slot { saved: alloc::vec![None; tasks.len()], tasks, loaded: false, active: 0 }
    };
    let list: Vec<Slot> = all.slots.iter().map(of).collect();
    if list.iter().any(|slot| !slot.tasks.is_empty()) {
        for task in list.iter().flat_map(|slot| slot.tasks.clone()) {
            domain.tasks[task].set_in_slot();
        }
        let told = alloc::vec![None; domain.tasks.len()];
        domain.slots = Some(Box::new(Slots { list, told, done: None }));
    }
}

impl Domain {
    /// A task of a slot is to have these values when the program begins.
    pub(super) fn tell_slot_task(&mut self, task: TaskId, values: Values) {
        let Some(slots) = &mut self.slots else { return };
        let sound = ![values.time, values.period, values.deadline].iter().any(|length| length.is_zero());
        let place = self.tasks.iter().position(|it| it.id == task).filter(|_| sound);
        let in_slot = |place: &usize| slots.list.iter().any(|slot| slot.tasks.contains(place));
        if let Some(place) = place.filter(in_slot) {
            slots.told[place] = Some(values);
        }
    }

    /// The loader has done this to a slot.
    pub(super) fn note_slot(&mut self, slot: u16, action: SlotAction) {
        if let Some(slots) = &mut self.slots {
            slots.done = Some((usize::from(slot), action));
        }
    }

    /// Lets the program of a slot begin or end, as the loader on this core has said.
    #[cold]
    pub(super) fn change_slot(&mut self, me: usize, records: &mut Recorder) {
        let Some(mut slots) = self.slots.take() else { return };
        let Slots { list, told, done } = &mut *slots;
        let (number, mut updates) = (done.as_ref().map_or(0, |(slot, _)| *slot), None);
        let action = done.take().map(|(_, action)| action).filter(|_| number < list.len());
        if let Some(action) = action {
            let tasks = list[number].tasks.clone();
            let here = tasks.clone().next().is_some_and(|task| self.vps[self.home(task)].core == me);
            // Of a task's place, how long it had until its next release in the slot of which it was saved.
            let saved_in = |list: &[Slot], n: usize| match action {
                SlotAction::Restore { from } => *list.get(usize::from(from))?.saved.get(n)?,
                _ => Some(Duration::ZERO),
            };
            match action {
                SlotAction::Load | SlotAction::Restore { .. } if here && !list[number].loaded => {
                    (list[number].loaded, list[number].active) = (true, 0);
                    for (n, task) in tasks.enumerate() {
                        let after = saved_in(list, n);
                        // What was saved and is not told anew has the values that it had.
                        let values = match action {
                            SlotAction::Restore { .. } => Some(told[task].unwrap_or_else(|| self.tasks[task].values())),
                            _ => told[task],
                        };
                        if let (Some(values), Some(after)) = (values, after) {
                            list[number].active |= 1 << n;
                            self.tasks[task].load(values, records.now.saturating_add(after));
                            self.plan_event(task);
                        }
                    }
                }
                SlotAction::Unload | SlotAction::Save if here && list[number].loaded => {
                    let slot = &mut list[number];
                    slot.loaded = false;
                    for (task, saved) in slot.tasks.clone().zip(&mut slot.saved) {
                        if action == SlotAction::Save {
                            *saved = self.tasks[task].until_release(records.now);
                        }
                        self.tasks[task].unload(records);
                        self.queue(task, records.now);
                        self.plan_event(task);
                    }
                }
                SlotAction::Update { .. } | SlotAction::Settle if here => updates = Some(action),
                SlotAction::Load
                | SlotAction::Restore { .. }
                | SlotAction::Unload
                | SlotAction::Save
                | SlotAction::Update { .. }
                | SlotAction::Settle
                | SlotAction::Refuse(_) => {}
            }
        }
        self.slots = Some(slots);
        match updates {
            Some(SlotAction::Update { from, trial }) => {
                self.begin_update((usize::from(from), number), trial, records.now);
            }
            Some(SlotAction::Settle) => self.settle_update(records),
            _ => {}
        }
        if let Some(slots) = &mut self.slots {
            slots.told.fill(None);
        }
    }
}

impl TaskState {
    /// It has these values, and releases its first job then.
    fn load(&mut self, values: Values, first: Instant) {
        self.set_values(values);
        self.removed = false;
        self.begin_again(first);
    }

    /// How long it has until its next release; no time if it has a job, nothing if it releases none.
    fn until_release(&self, now: Instant) -> Option<Duration> {
        match self.pending {
            0 => self.next_event().map(|next| next.since(now.min(next))),
            _ => Some(Duration::ZERO),
        }
    }

    /// It releases nothing any more, and what it released is dropped.
    pub(super) fn unload(&mut self, records: &mut Recorder) {
        if self.pending > 0 {
            self.drop_all(records);
        }
        (self.until, self.watched) = (Instant::ZERO, false);
    }

    /// It has these values, and releases nothing yet.
    pub(super) fn prepare(&mut self, values: Values, now: Instant) {
        self.set_values(values);
        self.removed = false;
        self.begin_again(now);
        self.until = Instant::ZERO;
    }
}
