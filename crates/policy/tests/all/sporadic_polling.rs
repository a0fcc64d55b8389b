//! The sporadic polling server against the states that the reservations of LITMUS^RT go through, millisecond by millisecond.

use crate::common::{core, ms, run};
use proptest::prelude::*;
use std::collections::VecDeque;
use tactus_policy::{
    Overrun, PolicyConfig, PolicySpec, Server, ServerKind, Supply, Task, TaskOrder, TaskPlacement, Tree,
};
use tactus_time::{CoreSet, Duration, Instant, Level, TaskId};

const END: u64 = 120;

/// What a reservation is doing.
#[derive(Clone, Copy, PartialEq)]
enum State {
    /// It has no work, and no period that goes on.
    Inactive,
    Active,
    /// It waits for the end of its period.
    Depleted,
}

/// A task: period, offset, execution time; the first is beside the server, the others are inside by their numbers.
type Row = (u64, u64, u64);

/// Who has the core in each millisecond.
fn slow(rows: &[Row], budget: u64, period: u64, before: bool) -> Vec<Option<usize>> {
    let mut jobs: Vec<VecDeque<u64>> = vec![VecDeque::new(); rows.len()];
    let (mut state, mut left, mut replenishment) = (State::Inactive, 0, 0);
    let (mut seen, mut worked) = (Vec::new(), false);
    for now in 0..END {
        if state != State::Inactive && now == replenishment {
            (left, replenishment) = (budget, now + period);
            state = if worked { State::Active } else { State::Inactive };
        }
        for (task, (every, offset, time)) in rows.iter().enumerate() {
            if now >= *offset && (now - offset) % every == 0 {
                jobs[task].push_back(*time);
            }
        }
        if state == State::Inactive && jobs[1..].iter().any(|jobs| !jobs.is_empty()) {
            (left, replenishment, state) = (budget, now + period, State::Active);
        }
        let inside = (1..rows.len()).find(|task| !jobs[*task].is_empty()).filter(|_| state == State::Active);
        let beside = Some(0).filter(|_| !jobs[0].is_empty());
        let runs = if before { beside.or(inside) } else { inside.or(beside) };
        if let Some(task) = runs {
            jobs[task][0] -= 1;
            if jobs[task][0] == 0 {
                jobs[task].pop_front();
            }
            left -= u64::from(task > 0);
        }
        worked = jobs[1..].iter().any(|jobs| !jobs.is_empty());
        if state == State::Active && (left == 0 || !worked) {
            state = State::Depleted;
        }
        seen.push(runs);
    }
    seen
}

fn setup(rows: &[Row], budget: u64, period: u64, before: bool) -> PolicyConfig {
    let one = CoreSet::first(1);
    let root = Server {
        parent: 0,
        cores: one,
        order: TaskOrder::FixedPriority,
        queues: vec![one],
        quantum: ms(1),
        supply: None,
        priority: 0,
        background: false,
    };
    let supply =
        Some(Supply { kind: ServerKind::SporadicPolling, budget: ms(budget), period: ms(period), write_backs: None });
    let server = Server { supply, priority: 1, ..root.clone() };
    let place = |n: usize| match n {
        0 => TaskPlacement { server: 0, priority: if before { 2 } else { 0 }, overrun: Overrun::Continue },
        _ => TaskPlacement { server: 1, priority: 9 - n as u32, overrun: Overrun::Continue },
    };
    let task = |(period, offset, time): &Row| Task {
        level: Level::A,
        core: core(0),
        offset: ms(*offset),
        period: ms(*period),
        deadline: ms(*period),
        budget: ms(*time),
    };
    let tree = Tree {
        servers: vec![root, server],
        places: (0..rows.len()).map(place).collect(),
        releases: Vec::new(),
        waits: Vec::new(),
        line: Duration::ZERO,
        seed: 0,
    };
    PolicyConfig { cores: 1, kind: PolicySpec::Servers(tree), tasks: rows.iter().map(task).collect() }
}

fn compare(rows: &[Row], budget: u64, period: u64, before: bool) {
    let entries = run(
        &setup(rows, budget, period, before),
        &|TaskId(task), _| ms(rows[usize::from(task)].2),
        Instant::ZERO + ms(END),
    );
    let at = |now: u64| {
        let last = entries.iter().rfind(|entry| entry.now <= Instant::ZERO + ms(now)).expect("it starts at zero");
        last.running[0].map(|(TaskId(task), _)| usize::from(task))
    };
    let seen: Vec<_> = (0..END).map(at).collect();
    assert_eq!(seen, slow(rows, budget, period, before));
}

fn systems() -> impl Strategy<Value = (Vec<Row>, u64, u64, bool)> {
    let row = (4u64..40, 0u64..20, 1u64..8);
    (prop::collection::vec(row, 2..5), 1u64..8, 0u64..20, any::<bool>())
        .prop_map(|(rows, budget, longer, before)| (rows, budget, budget + longer, before))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 500, ..ProptestConfig::default() })]

    #[test]
    fn a_sporadic_polling_server_goes_through_the_states_of_litmus((rows, budget, period, before) in systems()) {
        compare(&rows, budget, period, before);
    }
}
