//! Updates: the program of one slot takes over from that of another between two jobs, and gives way again if it fails.
//!
//! The new version takes over at the first instant in which the old one has no job under way. Each of its tasks has the next release of the
//! old one's task in its place, so no job is lost and none comes twice. Until its trial is won it is watched: if it is stopped, if a job
//! took longer than declared, or is not complete at its deadline, its jobs are dropped and the old one's tasks have the next
//! releases. So a bad version costs the jobs that it had under way, and the old one goes on with the next.

use super::domain::Domain;
use super::slots::Update;
use crate::records::Recorder;
use crate::Event;
use alloc::boxed::Box;
use tactus_record::SlotSwitch;
use tactus_time::Instant;

impl Domain {
    /// The new version lies in slot `to`, and its values were told.
    pub(super) fn begin_update(&mut self, (from, to): (usize, usize), trial: u32, now: Instant) {
        let Some(slots) = self.slots.as_mut().filter(|_| from != to) else { return };
        let loaded = |slot: usize| slots.list.get(slot).is_some_and(|it| it.loaded);
        if self.update.is_some() || !loaded(from) || loaded(to) || slots.list.len() <= to {
            return;
        }
        slots.list[to].loaded = true;
        for task in slots.list[to].tasks.clone() {
            slots.list[to].active &= !(1 << (task - slots.list[to].tasks.start));
            if let Some(values) = slots.told[task] {
                slots.list[to].active |= 1 << (task - slots.list[to].tasks.start);
                self.tasks[task].prepare(values, now);
            }
        }
        self.update = Some(Box::new(Update { from, to, trial, state: None, failed: None }));
    }

    /// The running job of the task at `place` ends or is looked at, before anything else is done about the event. Whether it is ended.
    #[cold]
    pub(super) fn look_at_trial(&mut self, place: usize, event: Event, now: Instant) -> bool {
        let Some(slots) = &self.slots else { return false };
        let Some(update) = self.update.as_mut().filter(|it| it.state == Some(SlotSwitch::Over)) else { return false };
        if !slots.list[update.to].tasks.contains(&place) {
            return false;
        }
        let task = &self.tasks[place];
        match event {
            Event::Remove => update.failed = Some(SlotSwitch::Stopped),
            Event::Complete if task.has_overrun() => update.failed = Some(SlotSwitch::Overran),
            Event::Complete if task.due() < now => update.failed = Some(SlotSwitch::Missed),
            Event::Complete => update.trial = update.trial.saturating_sub(1),
            _ if task.misses_at(now) => {
                update.failed = Some(SlotSwitch::Missed);
                return true;
            }
            _ => {}
        }
        false
    }

    /// A job of the task at `place`, which does not run, has missed its deadline.
    #[cold]
    pub(super) fn fail_trial(&mut self, records: &mut Recorder) {
        if let Some(update) = &mut self.update {
            update.failed = Some(SlotSwitch::Missed);
        }
        self.carry_on_update(records);
    }

    /// Takes the next step of an update, if it is due.
    #[cold]
    pub(super) fn carry_on_update(&mut self, records: &mut Recorder) {
        let Some(slots) = &self.slots else { return };
        let Some(update) = &self.update else { return };
        let old = &slots.list[update.from];
        match (update.state, update.failed) {
            (None, _) if old.tasks.clone().all(|task| self.tasks[task].pending == 0) => {
                self.hand_on((update.from, update.to), SlotSwitch::Over, records);
            }
            (Some(SlotSwitch::Over), Some(why)) => self.hand_on((update.to, update.from), why, records),
            (Some(SlotSwitch::Over), None) if update.trial == 0 => self.keep(SlotSwitch::Kept, records),
            _ => {}
        }
    }

    /// The trial is over: what is not decided goes back, and the program that is not in use is unloaded.
    #[cold]
    pub(super) fn settle_update(&mut self, records: &mut Recorder) {
        let Some(update) = &self.update else { return };
        match update.state {
            None => self.keep(SlotSwitch::Late, records),
            Some(SlotSwitch::Over) => self.hand_on((update.to, update.from), SlotSwitch::Late, records),
            Some(_) => {}
        }
        let Some(slots) = &mut self.slots else { return };
        let Some(update) = self.update.take() else { return };
        let loser = if update.state == Some(SlotSwitch::Kept) { update.from } else { update.to };
        slots.list[loser].loaded = false;
    }

    /// The tasks of one slot have the next releases of another one's.
    fn hand_on(&mut self, (from, to): (usize, usize), why: SlotSwitch, records: &mut Recorder) {
        let Some(slots) = &self.slots else { return };
        let (ends, begins) = (&slots.list[from], &slots.list[to]);
        let (ends, begins, active) = (ends.tasks.clone(), begins.tasks.clone(), begins.active);
        let mut first = Instant::NEVER;
        for (n, (old, new)) in ends.clone().zip(begins).enumerate() {
            if active >> n & 1 != 0 {
                let next = self.tasks[old].next_due(why == SlotSwitch::Over, records.now);
                self.tasks[new].take_over(next, why == SlotSwitch::Over);
                first = first.min(next);
                self.plan_event(new);
            }
        }
        for task in ends {
            self.tasks[task].unload(records);
            self.queue(task, records.now);
            self.plan_event(task);
        }
        records.slot(to as u32, why, first);
        self.note_switch(why);
    }

    /// The tasks that release jobs go on to do so.
    fn keep(&mut self, why: SlotSwitch, records: &mut Recorder) {
        let Some(slots) = &self.slots else { return };
        let Some(update) = &self.update else { return };
        let new = slots.list[update.to].tasks.clone();
        let in_use = if why == SlotSwitch::Kept { update.to } else { update.from };
        for task in new {
            self.tasks[task].watched = false;
            self.plan_event(task);
        }
        let next = self.slots.as_ref().map_or(Instant::NEVER, |slots| {
            let tasks = slots.list[in_use].tasks.clone();
            tasks.filter_map(|task| self.tasks[task].next_event()).min().unwrap_or(Instant::NEVER)
        });
        records.slot(in_use as u32, why, next);
        self.note_switch(why);
    }

    fn note_switch(&mut self, why: SlotSwitch) {
        if let Some(update) = &mut self.update {
            (update.state, update.failed) = (Some(why), None);
        }
    }

    /// Whether a program is in the slot.
    pub(super) fn is_loaded(&self, slot: u16) -> bool {
        self.slots.as_ref().and_then(|slots| slots.list.get(usize::from(slot))).is_some_and(|it| it.loaded)
    }
}
