//! The short way that partitioned policies have for time-outs, beside the long one: the same decisions and records, for random
//! systems, also overloaded ones, with late entries and events without cause.

use crate::common::{run_policy, time_of, Faults, Kept};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use tactus_policy::{CoreState, Decision, Event, Policy, PolicyConfig, PolicySpec, Scheduler, Task, MOST_RECORDS};
use tactus_record::Sink;
use tactus_time::{CoreId, Duration, Instant, Level, TaskId};

/// Decides the short way where there is one.
struct Short<'a>(&'a Scheduler, &'a AtomicUsize);

impl Policy for Short<'_> {
    type Core = CoreState;

    fn handle<S: Sink>(&self, core: &mut CoreState, now: Instant, event: Event, records: &mut S) -> Decision {
        if event == Event::Timer {
            let mut kept = Kept::default();
            if let Some(decision) = self.0.expire(core, now, &mut kept) {
                assert!(kept.0.len() <= MOST_RECORDS);
                self.1.fetch_add(1, Relaxed);
                kept.0.into_iter().for_each(|record| records.record(record));
                return decision;
            }
        }
        self.0.handle(core, now, event, records)
    }
}

fn systems() -> impl Strategy<Value = (PolicyConfig, Vec<u64>, u64)> {
    let kinds =
        prop_oneof![Just(PolicySpec::PartitionedRm), Just(PolicySpec::PartitionedEdf), Just(PolicySpec::PartitionedDm)];
    (1usize..=3, kinds, 1usize..=9, any::<u64>())
        .prop_flat_map(|(cores, kind, tasks, seed)| {
            let task = (0..cores as u8, 0u64..12, 2u64..60, 1u64..60, 1u64..9);
            (Just(cores), Just(kind), Just(seed), prop::collection::vec(task, tasks))
        })
        .prop_map(|(cores, kind, seed, tasks)| {
            let most = tasks.iter().map(|task| task.4).collect();
            let tasks = tasks
                .into_iter()
                .map(|(core, offset, period, deadline, _)| Task {
                    level: Level::A,
                    core: Some(CoreId(core)),
                    offset: Duration::from_nanos(offset),
                    period: Duration::from_nanos(period),
                    deadline: Duration::from_nanos(deadline),
                    budget: Duration::ZERO,
                })
                .collect();
            (PolicyConfig { cores, kind, tasks }, most, seed)
        })
}

/// Numbers that look random (Marsaglia's xorshift).
struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}

static SHORT: AtomicUsize = AtomicUsize::new(0);

#[test]
fn the_short_way_decides_and_records_as_the_long_one() {
    let config = ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() };
    let compared = TestRunner::new(config).run(&systems(), |(setup, most, seed)| {
        let demand = |task: TaskId, job: u32| Duration::from_nanos(time_of(most[task.index()], task, job));
        let go = |short: bool| {
            let (mut late, mut odd) = (Chance(seed | 1), Chance(!seed | 1));
            let (scheduler, states) = Scheduler::new(&setup).expect("the set-up is good");
            let mut delay = || Duration::from_nanos(late.below(3));
            let mut noise = || (odd.below(4) == 0).then(|| (Duration::from_nanos(1 + odd.below(9)), Event::Timer));
            let faults = Faults { delay: &mut delay, noise: &mut noise };
            let end = Instant::from_nanos(400);
            if short {
                run_policy(&Short(&scheduler, &SHORT), states, &demand, end, faults)
            } else {
                run_policy(&scheduler, states, &demand, end, faults)
            }
        };
        let (short, long) = (go(true), go(false));
        prop_assert_eq!(short.len(), long.len());
        for (short, long) in short.iter().zip(&long) {
            prop_assert_eq!((short.core, short.now, short.event), (long.core, long.now, long.event));
            prop_assert_eq!((&short.decision, &short.records), (&long.decision, &long.records));
        }
        Ok(())
    });
    compared.unwrap_or_else(|failed| panic!("{failed}"));
    // Nearly all timer expiries are of that kind; a system may have none.
    assert!(SHORT.load(Relaxed) > 0);
}
