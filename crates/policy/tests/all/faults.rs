//! Late entries and events without cause, at random, in every policy: nothing that must hold ever breaks.

use crate::common::{
    invariants, run_with,
    systems::{any_policy, anything},
    Entry, Faults,
};
use proptest::prelude::*;
use std::collections::BTreeMap;
use tactus_policy::{Event, Policy, PolicyConfig, PolicySpec, Scheduler};
use tactus_record::{EventKind, NoSink};
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
fn shaken(setup: &PolicyConfig, seed: u64, lateness: u64, end: u64, extra: &[Event]) -> Vec<Entry> {
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
    fn late_entries_and_events_without_cause_break_nothing(setup in anything(3, 3), seed in any::<u64>()) {
        // Later than several periods at times.
        let entries = shaken(&setup, seed, 40, 400, &HARMLESS);
        invariants::check(&setup, &entries);
        if matches!(setup.kind, PolicySpec::PartitionedRm | PolicySpec::PartitionedEdf) {
            prop_assert!(entries.iter().all(|entry| entry.decision.notify.is_empty() && entry.decision.ticket == 0));
        }
    }

    #[test]
    fn tasks_that_are_removed_never_come_back_and_take_nobody_with_them(
        setup in anything(6, 3), seed in any::<u64>(),
    ) {
        let events = [Event::Timer, Event::Timer, Event::Notify, Event::Timer, Event::Notify, Event::Remove];
        let entries = shaken(&setup, seed, 12, 400, &events);
        invariants::check(&setup, &entries);
        let removed: Vec<TaskId> = entries.iter().flat_map(|entry| &entry.records)
            .filter(|record| record.kind == EventKind::Removed).filter_map(|record| record.task).collect();
        for entry in &entries {
            for (task, _) in entry.running.iter().flatten().filter(|(task, _)| removed.contains(task)) {
                let at = entries.iter().find(|e| e.records.iter().any(|r| r.kind == EventKind::Removed && r.task == Some(*task)));
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
                EventKind::Release => {
                    let waiting = pending.entry(task).or_default();
                    *waiting += 1;
                    let enforced = matches!(&setup.kind, PolicySpec::Mc2(mc2) if mc2.enforce);
                    let most = if enforced { u32::MAX } else { 2 };
                    prop_assert!(*waiting <= most, "{} jobs of task {} wait", waiting, task.0);
                }
                EventKind::Complete | EventKind::Dropped => *pending.entry(task).or_default() -= 1,
                _ => {}
            }
        }
        // Held to budgets below its demand, a task falls behind for ever; but it goes on.
        for (n, task) in setup.tasks.iter().enumerate() {
            // Where there are two levels of criticality, jobs end with their budgets.
            let ends = |kind| kind == EventKind::Complete || kind == EventKind::Dropped;
            let completed = entries.iter().flat_map(|entry| &entry.records)
                .filter(|record| ends(record.kind) && record.task == Some(TaskId(n as u16))).count() as u64;
            let periods = 3_000 / task.period.as_nanos();
            let share = if task.level == Level::D { 1 } else { 5 };
            prop_assert!(completed * share + 2 * share >= periods, "task {n} completed {completed} jobs in {periods} periods");
        }
    }

    #[test]
    fn times_near_the_end_of_time_overflow_nowhere(
        mut setup in anything(3, 3), factor in 52u32..58, offset in any::<u64>(), leaps in prop::collection::vec(0u64..1 << 62, 1..40),
    ) {
        for (n, task) in setup.tasks.iter_mut().enumerate() {
            task.period = task.period * (1 << factor);
            task.offset = Duration::from_nanos(offset >> (n % 7));
            task.deadline = Duration::from_nanos(u64::MAX >> (n % 3));
            task.budget = Duration::from_nanos(u64::MAX >> (n % 5 * 13));
        }
        if let PolicySpec::Servers(tree) = &mut setup.kind {
            for server in &mut tree.servers {
                if let Some(supply) = &mut server.supply {
                    supply.period = supply.period * (1 << factor);
                    supply.budget = Duration::from_nanos(supply.period.as_nanos() >> (offset % 5));
                }
                server.quantum = Duration::from_nanos((u64::MAX >> (offset % 9)).max(1));
            }
        }
        if let PolicySpec::Mixed(mixed) = &mut setup.kind {
            for (dual, task) in mixed.tasks.iter_mut().zip(&setup.tasks) {
                let shift = if task.level == Level::A { offset % 9 } else { 0 };
                dual.low = Duration::from_nanos((task.budget.as_nanos() >> shift).max(1));
                dual.virtual_deadline = task.deadline;
            }
        }
        if let PolicySpec::Mc2(mc2) = &mut setup.kind {
            for table in mc2.tables.iter_mut().filter(|table| !table.slots.is_empty()) {
                table.cycle = Duration::from_nanos(u64::MAX >> (offset % 20));
            }
        }
        let (scheduler, mut cores) = Scheduler::new(&setup).expect("the set-up is good");
        let mut now = Instant::ZERO;
        for (n, leap) in leaps.into_iter().enumerate() {
            now = now.saturating_add(Duration::from_nanos(leap)).min(Instant::from_nanos(u64::MAX - 1));
            let at = n % cores.len();
            let event = [Event::Timer, Event::Complete, Event::Notify][n % 3];
            let decision = scheduler.handle(&mut cores[at], now, event, &mut NoSink);
            prop_assert!(decision.timer > now);
        }
    }
}
