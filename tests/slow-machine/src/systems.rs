//! Random systems of every policy, for the tests that need no oracle.

use proptest::prelude::*;
use tactus_policy::{Clusters, Dual, Mc2, Mixed, MixedOrder, PolicyConfig, PolicySpec, Priorities, Slot, Table, Task};
use tactus_time::{CoreId, CoreSet, Duration, Level, TaskId};

/// A system of any policy with periods from `shortest` to four times that, in nanoseconds. Level-A tasks have at least
/// one slot of at least `slot` in each cycle, and cycles are no longer than the shortest period where they fit.
pub fn any_policy(shortest: u64, slot: u64) -> impl Strategy<Value = PolicyConfig> {
    (1u8..=4, 0u8..8, 1usize..=8, any::<[bool; 2]>(), 0u64..3)
        .prop_flat_map(move |(cores, kind, tasks, mc2, allowance)| {
            let levels = [0u8..1, 0..4, 0..2][usize::from(kind.saturating_sub(3).min(2))].clone();
            let task = (levels, 0..cores, 0u64..10, shortest..shortest * 4, 1u64..4);
            (Just((cores, kind, mc2, allowance)), prop::collection::vec(task, tasks))
        })
        .prop_map(move |((cores, kind, [enforce, slack_shifting], allowance), tasks)| {
            let tasks: Vec<Task> = tasks
                .into_iter()
                .map(|(level, core, offset, period, budget)| {
                    let level = Level::from_index(level).expect("below four");
                    Task {
                        level,
                        core: (level <= Level::B).then_some(CoreId(core)),
                        offset: Duration::from_nanos(offset),
                        period: Duration::from_nanos(period),
                        deadline: Duration::from_nanos(period),
                        budget: Duration::from_nanos(budget),
                    }
                })
                .collect();
            let cores = usize::from(cores);
            let kind = match kind {
                0 => PolicySpec::PartitionedRm,
                1 => PolicySpec::PartitionedEdf,
                2 => PolicySpec::GlobalRm,
                3 => PolicySpec::GlobalEdf,
                5 | 6 => PolicySpec::Mixed(mixed(kind == 6, &tasks)),
                7 => {
                    let sets = (0..cores as u8).step_by(2).map(|n| CoreSet::from_bits((3 << n) & ((1 << cores) - 1)));
                    PolicySpec::ClusteredEdf(Clusters { sets: sets.collect(), priorities: Priorities(Vec::new()) })
                }
                _ => PolicySpec::Mc2(Mc2 {
                    enforce,
                    slack_shifting,
                    allowance: Duration::from_nanos(allowance),
                    tables: (0..cores).map(|core| table(core, &tasks, slot)).collect(),
                }),
            };
            PolicyConfig { cores, kind, tasks }
        })
}

/// Critical tasks have LO times from one nanosecond to their whole budget.
pub fn mixed(deadlines: bool, tasks: &[Task]) -> Mixed {
    let dual = |(n, task): (usize, &Task)| {
        let spread = n as u64 * 7 + task.period.as_nanos();
        let low = match task.level {
            Level::A => Duration::from_nanos(1 + spread % task.budget.as_nanos()),
            _ => task.budget,
        };
        let virtual_deadline = Duration::from_nanos(1 + spread * 3 % task.deadline.as_nanos());
        Dual { low, priority: (spread % 5) as u32, virtual_deadline }
    };
    let order = if deadlines { MixedOrder::VirtualDeadline } else { MixedOrder::FixedPriority };
    Mixed { order, tasks: tasks.iter().enumerate().map(dual).collect() }
}

/// The same, and trees of servers.
pub fn anything(shortest: u64, slot: u64) -> impl Strategy<Value = PolicyConfig> {
    prop_oneof![3 => any_policy(shortest, slot), 2 => super::trees::trees(shortest)]
}

/// The same, and systems that change while they run.
pub fn changing_or_not(shortest: u64, slot: u64) -> impl Strategy<Value = PolicyConfig> {
    prop_oneof![
        6 => anything(shortest, slot),
        2 => super::changes::changing(shortest, 2, 4_000),
        1 => super::changes::changing_trees(4_000),
        1 => super::changes::changing_mixed(shortest, 4_000),
        1 => super::changes::changing_mc2(4_000).prop_map(|(setup, _)| setup),
    ]
}

fn table(core: usize, tasks: &[Task], slot: u64) -> Table {
    let mut at = Duration::ZERO;
    let mut slots = Vec::new();
    for (n, task) in tasks.iter().enumerate() {
        if task.level == Level::A && task.core == Some(CoreId(core as u8)) {
            let start = at + Duration::from_nanos(n as u64 % 2);
            at = start + Duration::from_nanos(slot);
            slots.push(Slot { task: TaskId(n as u16), start, end: at });
        }
    }
    Table { cycle: at, slots }
}
