//! What became of an update: when the new version took over, whether it stayed, and what was lost between.

use crate::view::{LoadView, SlotView, Trace, View};
use crate::{LostJob, UpdateSummary};
use std::ops::Range;
use tactus_record::{EventKind, Record, SlotSwitch, SlotUpdate};
use tactus_task::SlotTold;
use tactus_time::{Instant, TaskId};

/// The update that this load is, if the scheduler was told of it; `number`: that of its slot.
pub(super) fn of(view: &View, trace: &Trace, number: usize, load: &LoadView) -> Option<UpdateSummary> {
    let SlotTold::Update(_) = &load.told else { return None };
    let begins = |r: &Record, of: Option<usize>| {
        r.kind == EventKind::SlotUpdate
            && r.level == 0
            && of.is_none_or(|of| usize::from(SlotUpdate::of(r.arg).load) == of)
    };
    let core = view.slots.get(number)?.loader;
    let core = view.tasks.get(core.index())?.core?;
    let records = trace.cores.get(core.index())?;
    let first = records.iter().position(|r| begins(r, Some(load.number)))?;
    let rest = &records[first + 1..];
    let end = rest.iter().position(|r| begins(r, None)).unwrap_or(rest.len());
    let (from, to) = (usize::from(SlotUpdate::of(records[first].arg).from), records[first].job as usize);
    let slots = [view.slots.get(from)?, view.slots.get(to)?];
    let switches = || rest[..end].iter().filter(|r| r.kind == EventKind::SlotSwitched);
    let over = switches().find(|r| r.level == SlotSwitch::Over as u8).map(|r| r.time);
    let decided = switches().find(|r| r.level != SlotSwitch::Over as u8);
    let why = decided.and_then(|r| SlotSwitch::from_u8(r.level)).filter(|it| it.is_back());
    let lost =
        decided.filter(|_| why.is_some()).map_or_else(Vec::new, |back| lost(view, records, (slots[1], back.time)));
    let gaps = over.into_iter().chain(decided.filter(|_| why.is_some()).map(|r| r.time));
    Some(UpdateSummary {
        from: slots[0].name.clone(),
        to: slots[1].name.clone(),
        over,
        decided: decided.map(|r| r.time),
        back: why.map(|it| it.words().to_string()),
        lost,
        gap: gaps.filter_map(|at| gap(records, slots.map(|slot| slot.tasks.clone()), at)).max(),
    })
}

/// What the version that gave way in that instant had under way.
fn lost(view: &View, records: &[Record], (slot, at): (&SlotView, Instant)) -> Vec<LostJob> {
    let is_its = |r: &&Record| r.task.is_some_and(|task| slot.tasks.contains(&task.index()));
    let ended = |r: &&Record| r.time == at && matches!(r.kind, EventKind::Dropped | EventKind::Removed) && is_its(r);
    let name = |task: TaskId| view.tasks.get(task.index()).map_or_else(String::new, |task| task.name.clone());
    let job = |r: &Record| Some(LostJob { task: name(r.task?), job: r.job });
    let mut found: Vec<LostJob> = records.iter().filter(ended).filter_map(job).collect();
    found.dedup();
    found
}

/// From the last complete job of either slot before this instant, that one included, to the first one after it.
fn gap(records: &[Record], tasks: [Range<usize>; 2], at: Instant) -> Option<tactus_time::Duration> {
    let of_both = |r: &&Record| {
        r.kind == EventKind::Complete
            && r.task.is_some_and(|task| tasks.iter().any(|range| range.contains(&task.index())))
    };
    let mut complete = records.iter().filter(of_both);
    let last = complete.clone().rev().find(|r| r.time <= at)?;
    let next = complete.find(|r| r.time > at)?;
    Some(next.time.since(last.time))
}
