//! How long events of other cores are under way, against cores that know it: random ones that begin at random times, are entered for
//! reasons of their own, and take an event when they are in no call and have begun.

use crate::common::*;
use proptest::prelude::*;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use tactus_record::{EntryReason, EventKind};
use tactus_time::Duration;
use tactus_trace::{judge, Distribution, Trace};

/// The longest that an event is under way to a core that is in no call, and the longest call, in ns.
const UNDER_WAY: u64 = 3_000;
const CALL: u64 = 2_000;

/// What a core does at a time: it is entered for a reason of its own, for this long, and sends events to the cores of a set, which are
/// under way for so long.
type Step = (u64, usize, u64, u8, u64);

/// The cores begin at these times and do these steps. Their trace, and the longest that an event was under way that was all that its
/// receiver was entered for.
fn machine(begins: &[u64], steps: &[Step]) -> (Trace, u64) {
    let cores = begins.len();
    let (mut builder, mut longest) = (Builder::new(cores), 0);
    // By core: when it was entered last, when that call ended, and whether an event has come in it.
    let (mut entered, mut free, mut pending) = (vec![None; cores], vec![0; cores], vec![false; cores]);
    // By time: a core begins, takes an event when a call has ended, is reached by one, or does a step.
    let mut due: BinaryHeap<_> = begins.iter().enumerate().map(|(core, at)| Reverse((*at, BEGIN, core, 0))).collect();
    due.extend(steps.iter().enumerate().map(|(n, (at, core, ..))| Reverse((*at, STEP, core % cores, n as u64))));
    while let Some(Reverse((now, what, core, which))) = due.pop() {
        let in_call = now < free[core];
        let short = (0, core, 100, 0, 0);
        let (reason, (.., length, targets, delay)) = match what {
            BEGIN => (EntryReason::Start, short),
            // The core looks at everything when it begins.
            _ if entered[core].is_none() => continue,
            TAKE => {
                pending[core] = false;
                (EntryReason::Notify, short)
            }
            COME if in_call => {
                if !std::mem::replace(&mut pending[core], true) {
                    due.push(Reverse((free[core], TAKE, core, 0)));
                }
                continue;
            }
            COME => {
                if entered[core] < Some(which) {
                    longest = longest.max(now - which);
                }
                (EntryReason::Notify, short)
            }
            _ if in_call => continue,
            _ => (EntryReason::Timer, steps[which as usize]),
        };
        (entered[core], free[core]) = (Some(now), now + length);
        builder.call_ns(core as u8, now, now + length, reason, now, |call| {
            for to in (0..cores).filter(|to| *to != core && targets & 1 << to != 0) {
                call.put(EventKind::Notify, None, 0, to as u64, 0);
                due.push(Reverse((now + length + delay, COME, to, now + length)));
            }
        });
    }
    (builder.end(20), longest)
}

const BEGIN: u8 = 0;
const TAKE: u8 = 1;
const COME: u8 = 2;
const STEP: u8 = 3;

fn under_way(trace: &Trace) -> Option<Distribution> {
    judge(&view(trace.cores.len(), 20, Vec::new()), trace).overheads.inter_core
}

#[test]
fn an_event_that_came_before_the_core_began_is_not_what_it_is_entered_for_later() {
    // Core 1 is told before it begins, and again after half a second.
    let steps = [(150, 0, 100, 0b10, 1_000), (9_000_000, 0, 100, 0b10, 1_000)];
    let (trace, longest) = machine(&[0, 5_000], &steps);
    let seen = under_way(&trace).expect("one event");
    assert_eq!((seen.count, seen.max, longest), (1, Duration::from_nanos(1_000), 1_000));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
    /// Never longer than an event is under way, with the call in which it found its receiver; and as long as the longest that found it in none.
    #[test]
    fn no_event_is_under_way_for_longer_than_it_was(
        begins in proptest::collection::vec(0_u64..300_000, 2..5),
        steps in proptest::collection::vec((0_u64..1_000_000, 0_usize..4, 100..CALL, 0_u8..16, 100..UNDER_WAY), 1..60),
    ) {
        let (trace, longest) = machine(&begins, &steps);
        let most = under_way(&trace).map_or(0, |seen| seen.max.as_nanos());
        prop_assert!(longest <= most && most <= UNDER_WAY + CALL, "{longest} <= {most}");
    }
}
