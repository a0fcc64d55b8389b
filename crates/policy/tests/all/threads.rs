//! Cores as real threads: whatever their interleaving, the calls have one order, which their tickets tell. Made again
//! one after the other in that order, they give the same decisions.

use crate::common::{systems::anything, Kept};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use std::sync::atomic::{AtomicU64, Ordering};
use tactus_policy::{Decision, Event, Policy, PolicyConfig, Scheduler};
use tactus_record::Record;
use tactus_time::Instant;

/// Few, since a waiting thread spins, and there may be fewer processors than threads here.
const CALLS: u64 = 150;

#[derive(PartialEq, Debug)]
struct Call {
    now: Instant,
    event: Event,
    decision: Decision,
    records: Vec<Record>,
}

/// One core's life: times from a clock that all share, events mostly without cause, jobs that end at some time.
fn live(scheduler: &Scheduler, mut core: tactus_policy::CoreState, number: u64, clock: &AtomicU64) -> Vec<Call> {
    (0..CALLS)
        .map(|n| {
            let now = Instant::from_nanos(clock.fetch_add(1, Ordering::Relaxed));
            let event = match (n * 31 + number * 17) % 7 {
                _ if n == 0 => Event::Start,
                0 | 3 => Event::Complete,
                1 => Event::Notify,
                _ => Event::Timer,
            };
            let mut records = Kept::default();
            let decision = scheduler.handle(&mut core, now, event, &mut records);
            Call { now, event, decision, records: records.0 }
        })
        .collect()
}

fn threads_give_what_their_tickets_say(setup: &PolicyConfig) -> u32 {
    let (scheduler, states) = Scheduler::new(setup).expect("the set-up is good");
    let clock = AtomicU64::new(0);
    let lives: Vec<Vec<Call>> = std::thread::scope(|scope| {
        let threads: Vec<_> = states
            .into_iter()
            .enumerate()
            .map(|(n, core)| {
                scope.spawn({
                    let (s, c) = (&scheduler, &clock);
                    move || live(s, core, n as u64, c)
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().expect("no thread panics")).collect()
    });

    let (scheduler, mut states) = Scheduler::new(setup).expect("the set-up is good");
    let mut next = vec![0; lives.len()];
    let mut again = |core: usize, n: usize, lives: &[Vec<Call>]| {
        let call = &lives[core][n];
        let mut records = Kept::default();
        let decision = scheduler.handle(&mut states[core], call.now, call.event, &mut records);
        assert_eq!(*call, Call { now: call.now, event: call.event, decision, records: records.0 }, "core {core}");
    };
    let mut order: Vec<(u32, usize, usize)> = Vec::new();
    for (core, life) in lives.iter().enumerate() {
        order
            .extend(life.iter().enumerate().map(|(n, call)| (call.decision.ticket, core, n)).filter(|call| call.0 > 0));
    }
    order.sort_unstable();
    for (_, core, n) in &order {
        // Calls of this core before that one touched nothing shared, so their place among the others is free.
        for n in std::mem::replace(&mut next[*core], n + 1)..=*n {
            again(*core, n, &lives);
        }
    }
    for (core, from) in next.into_iter().enumerate() {
        (from..lives[core].len()).for_each(|n| again(core, n, &lives));
    }
    order.len() as u32
}

#[test]
fn concurrent_calls_equal_the_same_calls_in_the_order_of_their_tickets() {
    let mut runner = TestRunner::deterministic();
    let mut shared = 0;
    for _ in 0..20 {
        let setup = anything(20, 5).new_tree(&mut runner).expect("systems can be made").current();
        shared += threads_give_what_their_tickets_say(&setup);
    }
    assert!(shared > 1_000, "only {shared} calls touched anything shared: nothing was tried");
}
