//! After set-up no policy takes or gives back memory.

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use stats_alloc::{Region, StatsAlloc, INSTRUMENTED_SYSTEM};
use std::alloc::System;
use tactus_policy::{Event, Policy, Scheduler};
use tactus_record::NoSink;
use tactus_slow_machine::systems::changing_or_not;
use tactus_time::Instant;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

// The only test of this file: another thread's memory would be counted as well. The one that started the test may not be at
// rest yet; a policy that allocates does so each time.
#[test]
fn no_decision_takes_or_gives_back_memory() {
    let mut runner = TestRunner::deterministic();
    for _ in 0..150 {
        let setup = changing_or_not(5, 3).new_tree(&mut runner).expect("systems can be made").current();
        let round = || {
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
            (change.allocations, change.deallocations, change.reallocations)
        };
        let least = std::iter::repeat_with(round).take(3).find(|counts| *counts == (0, 0, 0));
        assert!(least.is_some(), "{:?}", setup.kind);
    }
}
