//! After set-up no policy takes or gives back memory.

mod common;

use common::systems::anything;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use stats_alloc::{Region, StatsAlloc, INSTRUMENTED_SYSTEM};
use std::alloc::System;
use tactus_policy::{Event, Policy, Scheduler};
use tactus_record::NoSink;
use tactus_time::Instant;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

// The only test of this file: another thread's memory would be counted as well.
#[test]
fn no_decision_takes_or_gives_back_memory() {
    let mut runner = TestRunner::deterministic();
    for _ in 0..150 {
        let setup = anything(5, 3).new_tree(&mut runner).expect("systems can be made").current();
        let (scheduler, mut cores) = Scheduler::new(&setup).expect("the set-up is good");
        let region = Region::new(ALLOCATOR);
        for n in 0..4_000_u64 {
            let core = (n * 7 % cores.len() as u64) as usize;
            let event = match n * n % 11 {
                0 | 4 => Event::Complete,
                1 => Event::Notify,
                3 if n % 500 == 5 => Event::Remove,
                _ => Event::Timer,
            };
            // Now and then a leap over many periods.
            let now = Instant::from_nanos(n + n / 1_000 * 300);
            scheduler.handle(&mut cores[core], now, event, &mut NoSink);
        }
        let change = region.change();
        assert_eq!((change.allocations, change.deallocations, change.reallocations), (0, 0, 0), "{:?}", setup.kind);
    }
}
