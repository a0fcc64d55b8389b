//! What comes into slots and goes is what was planned: each load in its job of the loader, with its values, or refused for its reason.
//! Only of a save or a restore the run itself may say that it cannot be; what should follow was planned as if it could. From then on a load
//! may come in another job and may be refused, and is held to all else: its place in the order, its slot, its values, and who tells it.

use super::{Rule, Violation};
use crate::order::in_order;
use crate::view::{LoadView, SlotView, Trace, View};
use std::collections::HashMap;
use tactus_record::{slot_loaded_level, EntryReason, EventKind, Record, SlotRefusal, SlotUpdate, SlotValue};
use tactus_task::{SlotTaskValues, SlotTold};
use tactus_time::{CoreId, Instant, TaskId};

/// Every record of slots is that of the next load or unload of the plan, in the loader's job that the plan says; nothing else tells of
/// slots, and none that should have come is missing.
pub fn slots(view: &View, trace: &Trace) -> Vec<Violation> {
    let mut all: Vec<Report> = Vec::new();
    for (n, slot) in view.slots.iter().enumerate() {
        for load in &slot.loads {
            all.push(Report { slot, number: n, load, settles: false, job: load.job });
            if let SlotTold::Update(trial) = &load.told {
                let job = load.job.saturating_add(trial.settles_after);
                all.push(Report { slot, number: n, load, settles: true, job });
            }
        }
    }
    all.sort_by_key(|it| (it.load.number, it.settles));
    let mut walk = Walk {
        all,
        next: 0,
        told: Vec::new(),
        entered: HashMap::new(),
        ended: HashMap::new(),
        found: Vec::new(),
        off_plan: false,
    };
    in_order(trace, |r| walk.step(r));
    walk.rest();
    walk.found
}

/// A report of the loader's that is planned.
#[derive(Clone, Copy)]
struct Report<'v> {
    slot: &'v SlotView,
    number: usize,
    load: &'v LoadView,
    /// Whether it ends the trial of an update.
    settles: bool,
    /// In which job of the loader.
    job: u64,
}

struct Walk<'v> {
    /// In order.
    all: Vec<Report<'v>>,
    next: usize,
    /// What was told of tasks since the last load.
    told: Vec<(TaskId, u8, u64)>,
    /// On each core: why the scheduler was entered last, and whose job ran.
    entered: HashMap<CoreId, (u8, Option<TaskId>, u32)>,
    /// The newest job of each task that is complete, with the time.
    ended: HashMap<TaskId, (u32, Instant)>,
    found: Vec<Violation>,
    /// A program could not be saved or restored: what comes after is not as it was planned.
    off_plan: bool,
}

impl<'v> Walk<'v> {
    fn wrong(&mut self, r: &Record, text: String) {
        let (rule, task) = (Rule::Slot, r.task);
        self.found.push(Violation { rule, time: r.time, core: r.core, task, job: None, text });
    }

    fn step(&mut self, r: &Record) {
        match r.kind {
            EventKind::Enter => _ = self.entered.insert(r.core, (r.level, r.task, r.job)),
            EventKind::Complete => _ = r.task.map(|task| self.ended.insert(task, (r.job, r.time))),
            EventKind::SlotTask => self.told.extend(r.task.map(|task| (task, r.level, r.arg))),
            EventKind::SlotLoaded | EventKind::SlotUnloaded | EventKind::SlotRefused | EventKind::SlotUpdate => {
                self.load(r)
            }
            _ => {}
        }
    }

    fn load(&mut self, r: &Record) {
        let told = std::mem::take(&mut self.told);
        if let Some((slot, tasks)) = self.unsaved(r) {
            if r.kind == EventKind::SlotLoaded && told != brought(tasks) {
                self.wrong(r, format!("load {} goes on with other values than it had", r.arg));
            }
            self.is_told_by_loader(r, slot);
            self.off_plan = true;
            return;
        }
        if self.off_plan {
            return self.later(r, &told);
        }
        let Some(Report { slot, number, load: planned, settles, job }) = self.all.get(self.next).copied() else {
            return self.wrong(r, format!("load {} of slot {} is not planned", r.arg, r.job));
        };
        self.next += 1;
        // Into which slot of a pair an update goes, the run tells.
        let (number, arg, is_other) = match &planned.told {
            SlotTold::Update(trial) => {
                let is_other = r.job == u32::from(trial.other);
                let (to, from) = if is_other { (trial.other, number as u16) } else { (number as u16, trial.other) };
                let (from, jobs) = if settles { (0, 0) } else { (from, trial.trial) };
                let said = SlotUpdate { load: planned.number as u16, from, trial: jobs };
                let place = if settles { number } else { usize::from(to) };
                (place, said.arg(), is_other)
            }
            _ => (number, planned.number as u64, false),
        };
        if (r.job as usize, r.arg) != (number, arg) {
            self.wrong(
                r,
                format!("load {} of slot {} comes where {} of {number} should", r.arg, r.job, planned.number),
            );
        }
        let expected = ending(&planned.told, number, settles, is_other);
        let why = SlotRefusal::from_u8(r.level).filter(|_| r.kind == EventKind::SlotRefused);
        let may_fail = match planned.told {
            SlotTold::Saved(_) => matches!(why, Some(SlotRefusal::Unsavable | SlotRefusal::Resources)),
            SlotTold::Restored { .. } => matches!(why, Some(SlotRefusal::Damaged | SlotRefusal::Resources)),
            _ => false,
        };
        if may_fail {
            self.is_told_by_loader(r, slot);
            self.off_plan = true;
            return;
        }
        if (r.kind, r.level) != (expected.0, expected.1) {
            self.wrong(
                r,
                format!("load {} ends as {:?} for reason {}, planned was {:?}", r.arg, r.kind, r.level, planned.told),
            );
        } else if told != expected.2 {
            self.wrong(r, format!("load {} brings other values than its package", r.arg));
        }
        let by = self.entered.get(&r.core).copied();
        let right = (EntryReason::Slot as u8, Some(slot.loader), u32::try_from(job).unwrap_or(u32::MAX));
        if by != Some(right) {
            self.wrong(r, format!("load {} is not told by job {job} of the loader", planned.number));
        }
    }

    /// A load or an unload after something that was not planned: it may be refused, and one that was to be refused may come about.
    fn later(&mut self, r: &Record, told: &[(TaskId, u8, u64)]) {
        let (load, settles) = match r.kind {
            EventKind::SlotUpdate => (usize::from(SlotUpdate::of(r.arg).load), r.level == 1),
            _ => (r.arg as usize, false),
        };
        let mut rest = self.all.iter().skip(self.next);
        let Some(at) = rest.position(|it| (it.load.number, it.settles) == (load, settles)) else {
            return self.wrong(r, format!("load {load} of slot {} is not planned, or comes out of its turn", r.job));
        };
        let Report { slot, number, load: planned, .. } = self.all[self.next + at];
        self.next += at + 1;
        let other = match &planned.told {
            SlotTold::Update(trial) => Some(usize::from(trial.other)),
            _ => None,
        };
        let place = r.job as usize;
        if place != number && Some(place) != other {
            self.wrong(r, format!("load {load} comes to slot {place}, planned was {number}"));
        }
        let (kind, level, values) = ending(&planned.told, number, settles, Some(place) == other);
        if r.kind == EventKind::SlotRefused {
            if !told.is_empty() {
                self.wrong(r, format!("load {load} is refused and brings values"));
            }
        } else if matches!(planned.told, SlotTold::Refused(_)) {
            // What it brings where it comes about, the plan does not say.
        } else if (r.kind, r.level) != (kind, level) {
            self.wrong(r, format!("load {load} ends as {:?}, planned was {:?}", r.kind, planned.told));
        } else if told != values {
            self.wrong(r, format!("load {load} brings other values than its package"));
        }
        self.is_told_by_loader(r, slot);
    }

    /// A record of slots comes from an entry that the loader asked for, in whichever job.
    fn is_told_by_loader(&mut self, r: &Record, slot: &SlotView) {
        let by = self.entered.get(&r.core).map(|(reason, task, _)| (*reason, *task));
        if by != Some((EntryReason::Slot as u8, Some(slot.loader))) {
            self.wrong(r, format!("load {} is not told by the loader", r.arg));
        }
    }

    /// Where the record says that the program which was to be saved last cannot be, so that it goes on or the reason is told: its slot and its
    /// tasks' values.
    fn unsaved(&self, r: &Record) -> Option<(&'v SlotView, &'v [SlotTaskValues])> {
        let Report { slot, number, load, .. } = *self.all.get(self.next.checked_sub(1)?)?;
        let SlotTold::Saved(tasks) = &load.told else { return None };
        let says_so = match r.kind {
            EventKind::SlotLoaded => r.level == 1,
            EventKind::SlotRefused => {
                matches!(SlotRefusal::from_u8(r.level), Some(SlotRefusal::Unsavable | SlotRefusal::Resources))
            }
            _ => false,
        };
        ((r.job as usize, r.arg) == (number, load.number as u64) && says_so).then_some((slot, tasks))
    }

    /// Once the loader's job that was to tell is complete, it must have been told.
    fn rest(&mut self) {
        if self.off_plan {
            return;
        }
        for Report { slot, number, load, job: planned, .. } in self.all.split_off(self.next.min(self.all.len())) {
            let Some((job, time)) = self.ended.get(&slot.loader).copied() else { continue };
            if u64::from(job) >= planned {
                let text =
                    format!("load {} of slot {number} was to be told by job {planned} and never was", load.number);
                let task = Some(slot.loader);
                self.found.push(Violation { rule: Rule::Slot, time, core: CoreId(0), task, job: Some(job), text });
            }
        }
    }
}

/// How a load into the slot with this number ends as planned: the record's kind and level, and the values that are told before it.
fn ending(planned: &SlotTold, number: usize, settles: bool, is_other: bool) -> (EventKind, u8, Vec<(TaskId, u8, u64)>) {
    match planned {
        SlotTold::Loaded(tasks) => (EventKind::SlotLoaded, 0, brought(tasks)),
        SlotTold::Restored { from, tasks } => {
            (EventKind::SlotLoaded, slot_loaded_level(number as u16, Some(*from)), brought(tasks))
        }
        SlotTold::Update(_) if settles => (EventKind::SlotUpdate, 1, Vec::new()),
        SlotTold::Update(trial) => (EventKind::SlotUpdate, 0, brought(&trial.tasks_in(is_other).collect::<Vec<_>>())),
        SlotTold::Unloaded => (EventKind::SlotUnloaded, 0, Vec::new()),
        SlotTold::Saved(_) => (EventKind::SlotUnloaded, 1, Vec::new()),
        SlotTold::Refused(why) => (EventKind::SlotRefused, *why as u8, Vec::new()),
    }
}

/// The records that tell these tasks' values.
fn brought(tasks: &[SlotTaskValues]) -> Vec<(TaskId, u8, u64)> {
    let values = tasks.iter().flat_map(|it| {
        let [execution, period, deadline] = [it.execution, it.period, it.deadline].map(|it| it.as_nanos());
        let values = [execution, period, deadline, u64::from(it.priority)];
        SlotValue::ALL.into_iter().zip(values).map(|(which, value)| (it.task, which as u8, value))
    });
    values.collect()
}
