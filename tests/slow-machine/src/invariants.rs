//! What must hold for every policy in every run, however late its entries.

use super::Entry;
use std::collections::{BTreeMap, BTreeSet};
use tactus_policy::{Event, PolicyConfig, PolicySpec};
use tactus_record::EventKind;
use tactus_time::{Duration, Instant, Level, TaskId};

/// Checks the whole run. `setup` is what it was made from.
pub fn check(setup: &PolicyConfig, entries: &[Entry]) {
    never_on_two_cores(entries);
    jobs_of_a_task_complete_in_order_and_none_is_lost(setup, entries);
    records_tell_what_runs(setup, entries);
    charges_add_up(setup, entries);
    for entry in entries {
        let timer = entry.decision.timer;
        assert!(timer > entry.now, "at {} a time-out is wanted for {timer}, which is over", entry.now);
    }
    let mut tickets: Vec<u32> = entries.iter().map(|e| e.decision.ticket).filter(|t| *t > 0).collect();
    tickets.sort_unstable();
    assert!(tickets.iter().enumerate().all(|(n, t)| *t == n as u32 + 1), "tickets have gaps or repeat: {tickets:?}");
}

fn never_on_two_cores(entries: &[Entry]) {
    for entry in entries {
        let tasks: Vec<TaskId> = entry.running.iter().flatten().map(|(task, _)| *task).collect();
        let distinct: BTreeSet<TaskId> = tasks.iter().copied().collect();
        assert_eq!(tasks.len(), distinct.len(), "a task on two cores at {}: {:?}", entry.now, entry.running);
    }
}

fn jobs_of_a_task_complete_in_order_and_none_is_lost(setup: &PolicyConfig, entries: &[Entry]) {
    let mut released: BTreeMap<TaskId, u32> = BTreeMap::new();
    // Jobs that are over, finished or given up, and the oldest that is not.
    let mut over: BTreeMap<TaskId, BTreeSet<u32>> = BTreeMap::new();
    let oldest = |over: &BTreeMap<TaskId, BTreeSet<u32>>, id: TaskId| {
        (0..).find(|n| !over.get(&id).is_some_and(|over| over.contains(n))).unwrap_or(0)
    };
    let mut removed: BTreeSet<TaskId> = BTreeSet::new();
    for entry in entries {
        for record in &entry.records {
            let Some(id) = record.task else { continue };
            assert!(
                !removed.contains(&id) || record.kind == EventKind::GhostEnd,
                "{record:?} after the task was removed"
            );
            match record.kind {
                EventKind::Release => {
                    let n = released.entry(id).or_default();
                    assert_eq!(record.job, *n, "releases out of order");
                    let task = &setup.tasks[id.index()];
                    assert_eq!(record.arg, (task.offset + task.period * u64::from(*n)).as_nanos());
                    assert!(record.arg <= record.time.as_nanos(), "released before its time");
                    *n += 1;
                }
                EventKind::Complete => {
                    assert_eq!(record.job, oldest(&over, id), "jobs of a task completed out of order");
                    assert!(record.job < released[&id], "completed before it was released");
                    over.entry(id).or_default().insert(record.job);
                }
                EventKind::Dropped => {
                    assert!(record.job < released[&id], "dropped before it was released");
                    assert!(over.entry(id).or_default().insert(record.job), "dropped although it is over");
                }
                EventKind::Dispatch => assert_eq!(record.job, oldest(&over, id), "not the oldest job"),
                EventKind::Removed => {
                    removed.insert(id);
                }
                _ => {}
            }
        }
    }
}

fn records_tell_what_runs(setup: &PolicyConfig, entries: &[Entry]) {
    let mut on_core: Vec<Option<(TaskId, u32)>> = vec![None; setup.cores];
    for entry in entries {
        for record in &entry.records {
            assert_eq!(record.core.index(), entry.core);
            assert_eq!(record.time, entry.now);
            let job = record.task.map(|task| (task, record.job));
            if let Some(task) = record.task {
                assert_eq!(record.level, setup.tasks[task.index()].level as u8);
            }
            match record.kind {
                EventKind::Dispatch => {
                    assert_eq!(on_core[entry.core], None, "dispatch on a core that runs something");
                    on_core[entry.core] = job;
                }
                EventKind::Preempt | EventKind::Complete | EventKind::Removed => {
                    assert_eq!(on_core[entry.core], job, "{record:?}");
                    on_core[entry.core] = None;
                }
                EventKind::Dropped if on_core[entry.core] == job => on_core[entry.core] = None,
                EventKind::Idle => assert_eq!(on_core[entry.core], None),
                EventKind::Notify => assert!(entry.decision.notify.iter().any(|c| u64::from(c.0) == record.arg)),
                _ => {}
            }
        }
        assert_eq!(on_core[entry.core], entry.decision.run.map(|job| (job.task, job.job)), "at {}", entry.now);
    }
}

/// When the slot began that the table has at `now`.
fn slot_start(setup: &PolicyConfig, core: usize, now: Instant) -> Option<Instant> {
    let PolicySpec::Mc2(mc2) = &setup.kind else { return None };
    let table = mc2.tables.get(core).filter(|table| !table.cycle.is_zero())?;
    let inside = now.since(Instant::ZERO) % table.cycle;
    let slot = table.slots.iter().find(|slot| slot.start <= inside && inside < slot.end)?;
    Some(Instant::from_nanos(now.as_nanos() - inside.as_nanos() + slot.start.as_nanos()))
}

/// From when on the time up to this entry is charged to the job that it gives the core: the entry itself but for level
/// A, whose slots are their owner's from the nominal start, or from the job's release if that is later.
fn charged_from(
    setup: &PolicyConfig,
    entry: &Entry,
    last: (Instant, Option<(TaskId, u32)>),
    left: Duration,
) -> Instant {
    let Some(run) = entry.decision.run.filter(|run| setup.tasks[run.task.index()].level == Level::A) else {
        return entry.now;
    };
    let (Some(start), false) = (slot_start(setup, entry.core, entry.now), last.1.is_some_and(|job| job.0 == run.task))
    else {
        return entry.now;
    };
    // It could not run before if this entry gives it its budget, or releases it.
    let of = |kind| entry.records.iter().find(|r| r.kind == kind && r.task == Some(run.task));
    let release = of(EventKind::Release).filter(|r| r.job == run.job || of(EventKind::Replenish).is_some());
    let ready = release.map_or(Instant::ZERO, |r| Instant::from_nanos(r.arg));
    let from = start.max(ready).max(last.0);
    let enforced = matches!(&setup.kind, PolicySpec::Mc2(mc2) if mc2.enforce);
    if enforced && entry.now.since(from) >= left {
        return entry.now;
    }
    from
}

/// The charge of a job is all the time between the decisions that gave it a core and those that followed; a job of level
/// A is also charged for what its slot began before the decision.
fn charges_add_up(setup: &PolicyConfig, entries: &[Entry]) {
    let mut charged: BTreeMap<(TaskId, u32), Duration> = BTreeMap::new();
    let mut left: BTreeMap<TaskId, Duration> = BTreeMap::new();
    let mut last: Vec<(Instant, Option<(TaskId, u32)>)> = vec![(Instant::ZERO, None); setup.cores];
    for entry in entries {
        let (since, job) = last[entry.core];
        let replenished = entry.records.iter().filter(|r| r.kind == EventKind::Replenish);
        let replenished: BTreeMap<TaskId, Duration> =
            replenished.map(|r| (r.task.expect("a task's budget"), Duration::from_nanos(r.arg))).collect();
        let next = entry.decision.run.and_then(|run| replenished.get(&run.task).or(left.get(&run.task)).copied());
        let from = charged_from(setup, entry, last[entry.core], next.unwrap_or_default());
        let mut charge = |job: (TaskId, u32), time: Duration, left: &mut BTreeMap<TaskId, Duration>| {
            *charged.entry(job).or_default() += time;
            left.entry(job.0).and_modify(|left| *left = left.saturating_sub(time));
        };
        if let Some(job) = job {
            charge(job, from.since(since), &mut left);
        }
        left.extend(replenished);
        if let Some(run) = entry.decision.run {
            charge((run.task, run.job), entry.now.since(from), &mut left);
        }
        let running = entry.decision.run.map(|job| (job.task, job.job));
        last[entry.core] = (entry.now, running);
        if let Some(run) = entry.decision.run {
            assert_eq!(run.charged, charged.get(&(run.task, run.job)).copied().unwrap_or_default());
        }
        for record in entry.records.iter().filter(|r| r.kind == EventKind::Complete) {
            let job = (record.task.expect("a job completed"), record.job);
            assert_eq!(record.arg, charged.get(&job).copied().unwrap_or_default().as_nanos());
        }
    }
}

/// No job is left waiting while a core that could run it is idle. For runs without delay, at instants' ends.
/// `eligible` says on which cores a task may run.
pub fn work_conserving(setup: &PolicyConfig, entries: &[Entry], eligible: &dyn Fn(TaskId, usize) -> bool) {
    let mut pending: BTreeMap<TaskId, i64> = BTreeMap::new();
    for (n, entry) in entries.iter().enumerate() {
        for record in &entry.records {
            let Some(task) = record.task else { continue };
            match record.kind {
                EventKind::Release => *pending.entry(task).or_default() += 1,
                EventKind::Complete | EventKind::Dropped => *pending.entry(task).or_default() -= 1,
                EventKind::Removed => *pending.entry(task).or_default() = 0,
                _ => {}
            }
        }
        if entries.get(n + 1).is_some_and(|next| next.now == entry.now) || entry.event == Event::Start {
            continue;
        }
        for (task, _) in pending.iter().filter(|(_, n)| **n > 0) {
            let runs = entry.running.iter().flatten().any(|(running, _)| running == task);
            let idle = (0..setup.cores).any(|core| entry.running[core].is_none() && eligible(*task, core));
            assert!(runs || !idle, "task {} waits at {} beside an idle core: {:?}", task.0, entry.now, entry.running);
        }
    }
}
