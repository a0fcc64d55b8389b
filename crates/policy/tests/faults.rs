//! Late entries and events without cause, at random, in every policy: nothing that must hold ever breaks.

mod common;

use common::{invariants, run_with, systems::any_policy, Entry, Faults};
use proptest::prelude::*;
use std::collections::BTreeMap;
use tactus_policy::{Event, Kind, Setup};
use tactus_record::Kind as Record;
use tactus_time::{Duration, Instant, Level, TaskId};

/// A small generator of its own, so that a failing case is the same each time.
struct Chance(u64);

impl Chance {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
}

/// A run in which entries are late by up to `lateness`, and cores are hit by events of `extra` in between.
fn shaken(setup: &Setup, seed: u64, lateness: u64, end: u64, extra: &[Event]) -> Vec<Entry> {
    let (mut late, mut noise) = (Chance(seed), Chance(!seed));
    let faults = Faults {
        delay: &mut || match late.below(3) {
            0 => Duration::ZERO,
            1 => Duration::from_nanos(late.below(3)),
            _ => Duration::from_nanos(late.below(lateness)),
        },
        noise: &mut || {
            let event = *extra.get(noise.below(extra.len().max(1) as u64) as usize)?;
            Some((Duration::from_nanos(1 + noise.below(9)), event))
        },
    };
    let demand = |task: TaskId, job: u32| Duration::from_nanos(1 + u64::from(job + u32::from(task.0)) % 5);
    run_with(setup, &demand, Instant::from_nanos(end), faults)
}

const HARMLESS: [Event; 3] = [Event::Timer, Event::Notify, Event::Start];

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn late_entries_and_events_without_cause_break_nothing(setup in any_policy(3, 3), seed in any::<u64>()) {
        // Later than several periods at times.
        let entries = shaken(&setup, seed, 40, 400, &HARMLESS);
        invariants::check(&setup, &entries);
        if matches!(setup.kind, Kind::PartitionedRm | Kind::PartitionedEdf) {
            prop_assert!(entries.iter().all(|entry| entry.decision.notify.is_empty() && entry.decision.ticket == 0));
        }
    }

    #[test]
    fn tasks_that_are_removed_never_come_back_and_take_nobody_with_them(
        setup in any_policy(6, 3), seed in any::<u64>(),
    ) {
        let events = [Event::Timer, Event::Timer, Event::Notify, Event::Timer, Event::Notify, Event::Remove];
        let entries = shaken(&setup, seed, 12, 400, &events);
        invariants::check(&setup, &entries);
        let removed: Vec<TaskId> = entries.iter().flat_map(|entry| &entry.records)
            .filter(|record| record.kind == Record::Removed).filter_map(|record| record.task).collect();
        for entry in &entries {
            for (task, _) in entry.running.iter().flatten().filter(|(task, _)| removed.contains(task)) {
                let at = entries.iter().find(|e| e.records.iter().any(|r| r.kind == Record::Removed && r.task == Some(*task)));
                prop_assert!(entry.now <= at.expect("it was removed").now);
            }
        }
    }

    /// With little to do every job is done soon, so one that is forgotten anywhere shows.
    #[test]
    fn no_job_is_forgotten_however_late_the_entries(setup in any_policy(150, 12), seed in any::<u64>()) {
        let entries = shaken(&setup, seed, 8, 3_000, &HARMLESS);
        invariants::check(&setup, &entries);
        let mut pending: BTreeMap<TaskId, u32> = BTreeMap::new();
        for record in entries.iter().flat_map(|entry| &entry.records) {
            let Some(task) = record.task else { continue };
            match record.kind {
                // A job may need budgets of three periods, the one before it as many.
                Record::Release => {
                    let waiting = pending.entry(task).or_default();
                    *waiting += 1;
                    let enforced = matches!(&setup.kind, Kind::Mc2(mc2) if mc2.enforce);
                    let most = if enforced { u32::MAX } else { 2 };
                    prop_assert!(*waiting <= most, "{} jobs of task {} wait", waiting, task.0);
                }
                Record::Complete => *pending.entry(task).or_default() -= 1,
                _ => {}
            }
        }
        // Held to budgets below its demand, a task falls behind for ever; but it goes on.
        for (n, task) in setup.tasks.iter().enumerate() {
            let completed = entries.iter().flat_map(|entry| &entry.records)
                .filter(|record| record.kind == Record::Complete && record.task == Some(TaskId(n as u16))).count() as u64;
            let periods = 3_000 / task.period.as_nanos();
            let share = if task.level == Level::D { 1 } else { 5 };
            prop_assert!(completed * share + 2 * share >= periods, "task {n} completed {completed} jobs in {periods} periods");
        }
    }
}
