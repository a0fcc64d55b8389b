//! Level A and its tables: who has a slot has the core.

use super::{Rule, Violation};
use crate::schedule::{schedule_with, Boundary};
use crate::{SegmentKind, Trace};
use std::collections::HashSet;
use tactus_record::EventKind;
use tactus_time::{CoreId, Duration, Instant, TaskId};

/// The level-A table of one core: the slots of one cycle, which begins at time zero and repeats.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableView {
    /// Length of the cycle; zero if there are no slots.
    pub cycle: Duration,
    /// The slots, ascending: whose, and from when to when in the cycle.
    pub slots: Vec<(TaskId, Duration, Duration)>,
}

impl TableView {
    /// The first part of `start..end` longer than `tolerance` that is within a slot of the task, or outside of all.
    fn part(&self, task: TaskId, start: Instant, end: Instant, within: bool, tolerance: Duration) -> Option<Instant> {
        let mine: Vec<_> = self.slots.iter().filter(|s| s.0 == task).collect();
        if mine.is_empty() {
            return (!within && end.since(start) > tolerance).then_some(start);
        }
        let mut at = start;
        let mut seen = start;
        // Where a cycle has no such part, the next has none either; one may be cut by the start, and one is whole.
        for cycle in 0..3 {
            let number = start.as_nanos() / self.cycle.as_nanos() + cycle;
            let base = Instant::from_nanos(number.saturating_mul(self.cycle.as_nanos()));
            seen = base.saturating_add(self.cycle);
            for (_, from, to) in &mine {
                let (from, to) = (base.saturating_add(*from).max(at), base.saturating_add(*to).min(end));
                let (begin, length) = if within { (from, to.since(from)) } else { (at, from.min(end).since(at)) };
                if length > tolerance {
                    return Some(begin);
                }
                at = at.max(to);
            }
        }
        (!within && end <= seen && end.since(at) > tolerance).then_some(at)
    }
}

/// Each task of a table runs in its slots only, and in them whenever it has a job and budget; `tolerance` is how much later than
/// at once a core may notice that a slot begins or ends. `tables`: one per core, in core order.
pub fn table_order(tables: &[TableView], trace: &Trace, tolerance: Duration) -> Vec<Violation> {
    let mut found = Vec::new();
    let mut tell = |core: usize, task: TaskId, time: Instant, text: String| {
        let core = CoreId(core as u8);
        found.push(Violation { rule: Rule::Table, time, core, task: Some(task), job: None, text });
    };
    let tasks: HashSet<TaskId> = tables.iter().flat_map(|t| t.slots.iter().map(|s| s.0)).collect();
    for run in schedule_with(trace, Boundary::Decision).iter().filter(|s| s.kind == SegmentKind::Run) {
        let Some(task) = run.task.filter(|t| tasks.contains(t)) else { continue };
        let core = run.core.index();
        let outside = match tables.get(core).filter(|t| !t.cycle.is_zero()) {
            Some(table) => table.part(task, run.start, run.end, false, tolerance),
            None => Some(run.start),
        };
        if let Some(time) = outside {
            tell(core, task, time, format!("runs from {} to {} outside of its slots", run.start, run.end));
        }
    }
    for (core, table) in tables.iter().enumerate().filter(|(_, t)| !t.cycle.is_zero()) {
        let mine: HashSet<TaskId> = table.slots.iter().map(|s| s.0).collect();
        for task in mine {
            for (start, end) in waits(trace.cores.get(core).map_or(&[], |r| r), task) {
                if let Some(time) = table.part(task, start, end, true, tolerance) {
                    tell(core, task, time, format!("has a slot and a job, and waits from {start} to {end}"));
                }
            }
        }
    }
    found.sort_by_key(|v| (v.time, v.task));
    found
}

/// When the task had a job and budget on this core and did not run.
fn waits(records: &[tactus_record::Record], task: TaskId) -> Vec<(Instant, Instant)> {
    let mut out: Vec<(Instant, Instant)> = Vec::new();
    let (mut open, mut budget, mut runs) = (0_u32, true, false);
    let mut since: Option<Instant> = None;
    for r in records {
        let ended = r.kind == EventKind::End;
        if r.task != Some(task) && !ended {
            continue;
        }
        match r.kind {
            EventKind::Release => open += 1,
            EventKind::Dispatch => runs = true,
            EventKind::Preempt => runs = false,
            EventKind::Exhausted => budget = false,
            EventKind::Replenish => budget = true,
            EventKind::Complete => (open, runs) = (open.saturating_sub(1), false),
            EventKind::Removed | EventKind::End => (open, runs) = (0, false),
            // The word of the scheduler, where a job goes on without a dispatch.
            EventKind::Leave => runs = true,
            _ => continue,
        }
        let waits = open > 0 && budget && !runs;
        match (since, waits) {
            (None, true) => since = Some(r.time),
            (Some(start), false) => {
                out.push((start, r.time));
                since = None;
            }
            _ => {}
        }
    }
    out.retain(|(start, end)| start < end);
    out
}
