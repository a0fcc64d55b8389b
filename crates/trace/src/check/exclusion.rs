//! Exclusion: one job at a time has a resource, and what cores share goes to whoever asked first.

use super::holders::Holders;
use crate::order::in_order;
use crate::view::CeilingView;
use crate::{run_end, Trace};
use tactus_record::{EventKind, Record};
use tactus_time::{CoreId, Duration, Instant, TaskId};

/// What is wrong at a record.
pub(super) struct Wrong {
    pub(super) time: Instant,
    pub(super) core: CoreId,
    pub(super) task: Option<TaskId>,
    pub(super) job: Option<u32>,
    pub(super) text: String,
}

/// A resource of several cores, as the check goes along.
#[derive(Default, Clone)]
struct Waiting {
    /// Who waits, in the order in which they came, and since when.
    tasks: Vec<(usize, Instant)>,
    /// Since when nobody has it.
    free: Instant,
}

/// No job runs in a section on what another one has. What cores share is given in the order in which it was asked for, and at once.
/// `tolerance`: how long it may take until a core acts upon what it should.
pub(super) fn of_trace(ceilings: &CeilingView, trace: &Trace, tolerance: Duration) -> Vec<Wrong> {
    let mut found = Vec::new();
    let mut holders = Holders::new(ceilings, false);
    let mut waiting = vec![Waiting::default(); ceilings.resources.len()];
    let wrong =
        |r: &Record, text: String| Wrong { time: r.time, core: r.core, task: r.task, job: r.task.map(|_| r.job), text };
    in_order(trace, |r| {
        let Some(n) = r.task.map(TaskId::index).filter(|n| *n < ceilings.levels.len()) else { return };
        let before = holders.owners.clone();
        holders.step(r);
        if matches!(r.kind, EventKind::Dispatch | EventKind::Leave) {
            if let Some(other) = holders.awaited(n) {
                found.push(wrong(r, format!("runs while it waits for what task {other} holds")));
            }
        }
        for (resource, now) in holders.owners.iter().enumerate().filter(|(resource, _)| ceilings.spans(*resource)) {
            let it = &mut waiting[resource];
            let asks = holders.wanted(n) == Some(resource as u8);
            if asks && !it.tasks.iter().any(|(task, _)| *task == n) {
                it.tasks.push((n, r.time));
            } else if !asks && *now != Some(n) {
                it.tasks.retain(|(task, _)| *task != n);
            }
            if *now == before[resource] {
                continue;
            }
            match now {
                None => it.free = r.time,
                Some(owner) => {
                    let (place, since) =
                        it.tasks.iter().position(|it| it.0 == *owner).map_or((0, r.time), |at| (at, it.tasks[at].1));
                    if let Some((first, _)) = it.tasks.first().filter(|_| place > 0) {
                        found
                            .push(wrong(r, format!("has resource {resource} before task {first}, which came earlier")));
                    }
                    let late = r.time.since(it.free.max(since));
                    if late > tolerance {
                        found.push(wrong(r, format!("has resource {resource} {late} after it was free")));
                    }
                    it.tasks.retain(|(task, _)| task != owner);
                }
            }
        }
    });
    let end = run_end(trace);
    for (resource, it) in waiting.iter().enumerate().filter(|(resource, _)| holders.owners[*resource].is_none()) {
        if let Some((task, since)) = it.tasks.first().filter(|(_, since)| end.since(it.free.max(*since)) > tolerance) {
            found.push(Wrong {
                time: *since,
                core: CoreId(0),
                task: Some(TaskId(*task as u16)),
                job: None,
                text: format!("never has resource {resource}, which is free"),
            });
        }
    }
    found
}
