//! MC² beside a slow machine that works out each nanosecond anew.

use crate::common::levels::{demand_of, moments, slowly, systems, Asked, END};
use crate::common::{invariants, run, Entry};
use proptest::prelude::*;
use std::collections::BTreeMap;
use tactus_policy::{PolicyConfig, PolicySpec};
use tactus_record::EventKind;
use tactus_time::{Duration, Instant, Level, TaskId};

/// A budget that its task has no pending job for may not be spent; none is spent twice. From the records alone.
fn budgets_are_never_exceeded(setup: &PolicyConfig, entries: &[Entry]) {
    let mut since: Vec<(Instant, Option<TaskId>)> = vec![(Instant::ZERO, None); setup.cores];
    let mut left: BTreeMap<TaskId, u64> = BTreeMap::new();
    for entry in entries {
        let (from, task) = since[entry.core];
        if let Some(task) = task.filter(|task| setup.tasks[task.index()].level != Level::D) {
            let spent = entry.now.since(from).as_nanos();
            let left = left.get_mut(&task).expect("it runs on a budget");
            assert!(*left >= spent, "task {} at {}: {spent} spent of {left}", task.0, entry.now);
            *left -= spent;
        }
        for record in entry.records.iter().filter(|record| record.kind == EventKind::Replenish) {
            left.insert(record.task.expect("a task's budget"), record.arg);
        }
        since[entry.core] = (entry.now, entry.decision.run.map(|job| job.task));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn mc2_runs_what_a_machine_runs_that_thinks_anew_each_nanosecond((setup, most) in systems()) {
        let demand = demand_of(&most);
        let entries = run(&setup, &demand, Instant::from_nanos(END));
        invariants::check(&setup, &entries);
        let PolicySpec::Mc2(mc2) = &setup.kind else { unreachable!() };
        if mc2.enforce {
            budgets_are_never_exceeded(&setup, &entries);
        }
        let (ours, d) = moments(&setup, &entries);
        slowly(&Asked::still(&setup, mc2), &demand, &ours, &d);
    }

    #[test]
    fn level_a_is_deaf_to_everything_below((setup, most) in systems()) {
        // Level-A tasks keep their numbers; all others are made so late that they never come.
        let mut alone = setup.clone();
        for task in alone.tasks.iter_mut().filter(|task| task.level != Level::A) {
            task.offset = Duration::from_nanos(END * 2);
        }
        let demand = demand_of(&most);
        let level_a = |setup: &PolicyConfig| {
            let entries = run(setup, &demand, Instant::from_nanos(END));
            let mut kept: Vec<_> = entries
                .into_iter()
                .flat_map(|entry| entry.records)
                .filter(|record| record.level == 0 && record.task.is_some())
                .filter(|record| !matches!(record.kind, EventKind::GhostBegin | EventKind::GhostEnd))
                .map(|record| (record.core, record.time, record.kind, record.task, record.job, record.arg))
                .collect();
            // Core by core; the order within a core stays.
            kept.sort_by_key(|record| record.0);
            kept
        };
        prop_assert_eq!(level_a(&setup), level_a(&alone));
    }

    #[test]
    fn a_core_that_runs_a_or_b_all_the_time_never_takes_the_lock((setup, most) in systems()) {
        let entries = run(&setup, &demand_of(&most), Instant::from_nanos(END));
        let local = |running: &Option<(TaskId, u32)>| running.is_some_and(|(task, _)| setup.tasks[task.index()].level <= Level::B);
        let mut before = vec![false; setup.cores];
        for entry in &entries {
            let after = local(&entry.running[entry.core]);
            let releases = entry.records.iter().any(|record| record.kind == EventKind::Release && record.level >= 2);
            if before[entry.core] && after && entry.core != 0 {
                prop_assert_eq!(entry.decision.ticket, 0);
                prop_assert!(!releases && entry.decision.notify.is_empty());
            }
            before[entry.core] = after;
        }
    }
}
