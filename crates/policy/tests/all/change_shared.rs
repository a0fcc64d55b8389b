//! ReconfigurableTree a system whose cores share queues, beside a reference that looks at everything in each nanosecond.

use crate::common::changes::{altered, root, some_of};
use crate::common::{run, time_of, timeline, Entry};
use proptest::prelude::*;
use tactus_policy::{
    Action, Change, Overrun, Part, PolicyConfig, PolicySpec, Protocol, ReconfigurableTree, Server, Task, TaskOrder,
    TaskPlacement, Tree, Values,
};
use tactus_record::EventKind;
use tactus_time::{CoreId, CoreSet, Duration, Instant, Level, TaskId};

const END: u64 = 200;
const ORDERS: [TaskOrder; 4] =
    [TaskOrder::FixedPriority, TaskOrder::RateMonotonic, TaskOrder::DeadlineMonotonic, TaskOrder::EarliestDeadline];

fn ns(n: u64) -> Duration {
    Duration::from_nanos(n)
}

/// Two or three cores that share one queue, or a pair and one by itself.
fn changing() -> impl Strategy<Value = PolicyConfig> {
    let task = (0u64..10, 6u64..40, 1u64..6, 0u32..5, any::<bool>(), 0u8..3);
    let change = (0..END, any::<u16>(), 0u8..3, (1u64..6, 6u64..40, 0u32..5, any::<u8>()), 0u8..10);
    (0usize..3, 0usize..4, prop::collection::vec(task, 2..8), prop::collection::vec(change, 0..8)).prop_map(
        |(spread, order, tasks, mut changes)| {
            let cores = [2, 3, 3][spread];
            let queues = match spread {
                2 => vec![CoreSet::first(2), CoreSet::from_bits(4)],
                _ => vec![CoreSet::first(cores)],
            };
            let root = Server { cores: CoreSet::first(cores), queues, ..root(ORDERS[order]) };
            let (mut absent, mut places) = (Vec::new(), Vec::new());
            let mut all = Vec::new();
            for (n, (offset, period, budget, priority, there, core)) in tasks.into_iter().enumerate() {
                places.push(TaskPlacement { server: 0, priority, overrun: Overrun::Continue });
                absent.extend((!there).then_some(Part::Task(TaskId(n as u16))));
                let core = (spread == 2).then_some(CoreId(core));
                let (period, budget) = (ns(period), ns(budget));
                all.push(Task { level: Level::A, core, offset: ns(offset), period, deadline: period, budget });
            }
            changes.sort_by_key(|change| change.0);
            let count = all.len();
            let change = |(at, part, action, values, admitted): (u64, u16, u8, (u64, u64, u32, u8), u8)| Change {
                at: ns(at),
                part: Part::Task(TaskId(part % count as u16)),
                action: match action {
                    0 => Action::Add,
                    1 => Action::Remove,
                    _ => {
                        let (time, period, priority, which) = (ns(values.0), ns(values.1), values.2, values.3);
                        Action::Alter(some_of(which, Values { time, period, deadline: period, priority }))
                    }
                },
                admitted: admitted > 0,
                drains: true,
                depends: false,
            };
            let changes = changes.into_iter().map(change).collect();
            let tree = Tree {
                servers: vec![root],
                places,
                releases: Vec::new(),
                waits: Vec::new(),
                line: Duration::ZERO,
                seed: 0,
            };
            let changing =
                ReconfigurableTree { tree, absent, changes, slots: Vec::new(), protocol: Protocol::IdleInstant };
            PolicyConfig { cores, kind: PolicySpec::ReconfigurableTree(changing), tasks: all }
        },
    )
}

/// A task as the reference sees it.
struct It {
    there: bool,
    ends: bool,
    next: Option<u64>,
    released: u32,
    values: Values,
    /// Number, release, and what is left.
    jobs: Vec<(u32, u64, u64)>,
}

/// When each change was settled by the policy, and whether it was applied.
fn settled(entries: &[Entry]) -> Vec<(u32, u64, bool)> {
    let records = entries.iter().flat_map(|entry| &entry.records);
    let settled = records.filter(|r| matches!(r.kind, EventKind::ChangeApplied | EventKind::ChangeRefused));
    settled.map(|r| (r.job, r.time.as_nanos(), r.kind == EventKind::ChangeApplied)).collect()
}

/// T0 and T1 keep both cores busy, longer than is assumed of them; each job ends as the next one is released.
#[test]
fn jobs_that_end_as_others_are_released_leave_nothing_over_though_one_core_is_asked_first() {
    let both = CoreSet::first(2);
    let root = Server { cores: both, queues: vec![both], ..root(TaskOrder::EarliestDeadline) };
    let task = |budget| Task {
        level: Level::A,
        core: None,
        offset: Duration::ZERO,
        period: ns(10),
        deadline: ns(10),
        budget: ns(budget),
    };
    let places = vec![TaskPlacement { server: 0, priority: 0, overrun: Overrun::Continue }; 3];
    let added = Part::Task(TaskId(2));
    let change = Change { at: ns(3), part: added, action: Action::Add, admitted: true, drains: true, depends: false };
    let tree =
        Tree { servers: vec![root], places, releases: Vec::new(), waits: Vec::new(), line: Duration::ZERO, seed: 0 };
    let kind = PolicySpec::ReconfigurableTree(ReconfigurableTree {
        tree,
        absent: vec![added],
        changes: vec![change],
        slots: Vec::new(),
        protocol: Protocol::IdleInstant,
    });
    let setup = PolicyConfig { cores: 2, kind, tasks: vec![task(5), task(5), task(1)] };
    let entries = run(&setup, &|task, _| ns(if task.0 < 2 { 10 } else { 1 }), Instant::from_nanos(40));
    assert_eq!(settled(&entries), [(0, 10, true)]);
}

/// The policy may settle a change only when nothing is left over on all cores that share the queue, and must when they idle; and in
/// each nanosecond they run the most urgent jobs of their queue under the values of that time.
fn beside_the_reference(setup: &PolicyConfig) {
    let PolicySpec::ReconfigurableTree(changing) = &setup.kind else { panic!("{:?}", setup.kind) };
    let demand = |task: TaskId, job: u32| time_of(setup.tasks[task.index()].budget.as_nanos(), task, job);
    let entries = run(setup, &|task, job| ns(demand(task, job)), Instant::from_nanos(END));
    let (settled, line) = (settled(&entries), timeline(&entries));
    let root = &changing.tree.servers[0];
    let queue = |task: usize| {
        let core = setup.tasks[task].core;
        root.queues.iter().position(|queue| core.is_none_or(|core| queue.contains(core))).unwrap()
    };
    let begin = |n: usize| {
        let own = &setup.tasks[n];
        let there = !changing.absent.contains(&Part::Task(TaskId(n as u16)));
        let priority = changing.tree.places[n].priority;
        let values = Values { time: own.budget, period: own.period, deadline: own.deadline, priority };
        It { there, ends: false, next: there.then_some(own.offset.as_nanos()), released: 0, values, jobs: Vec::new() }
    };
    let mut all: Vec<It> = (0..setup.tasks.len()).map(begin).collect();
    for now in 0..END {
        for change in changing.changes.iter().filter(|change| change.at.as_nanos() == now) {
            if let (true, Action::Remove, Part::Task(task)) = (change.admitted, change.action, change.part) {
                all[task.index()].ends = true;
            }
        }
        for (number, _, effect) in settled.iter().filter(|it| it.1 == now) {
            let change = &changing.changes[*number as usize];
            let Part::Task(task) = change.part else { panic!("{change:?}") };
            assert!(change.at.as_nanos() <= now, "change {number} at {now}");
            if !change.admitted {
                assert!(!effect, "change {number} was not admitted");
                continue;
            }
            let left = |n: &usize| queue(*n) == queue(task.index()) && !all[*n].jobs.is_empty();
            assert_eq!((0..all.len()).find(left), None, "change {number} at {now} with work left over");
            // What is promised of the queue's cores before and after, in parts of 2⁻³², each rounded down.
            let share =
                |values: &Values| (u128::from(values.time.as_nanos()) << 32) / u128::from(values.period.as_nanos());
            let before = |n: usize| if all[n].there { share(&all[n].values) } else { 0 };
            let after = |n: usize| match change.action {
                _ if n != task.index() => before(n),
                Action::Add => share(&all[n].values),
                Action::Remove => 0,
                Action::Alter(named) => share(&altered(all[n].values, named)),
            };
            let sum = |of: &dyn Fn(usize) -> u128| -> u128 {
                (0..all.len()).filter(|n| queue(*n) == queue(task.index())).map(of).sum()
            };
            let has = (root.queues[queue(task.index())].iter().count() as u128) << 32;
            let overloads = sum(&after) > has && sum(&after) > sum(&before);
            assert_eq!(*effect, !overloads, "change {number} at {now}");
            if !effect {
                continue;
            }
            let it = &mut all[task.index()];
            it.there = change.action == Action::Add || (it.there && change.action != Action::Remove);
            match change.action {
                Action::Add => {
                    it.ends = false;
                    it.next = Some(now + setup.tasks[task.index()].offset.as_nanos());
                }
                Action::Remove => it.ends = true,
                Action::Alter(named) => it.values = altered(it.values, named),
            }
        }
        for (n, it) in all.iter_mut().enumerate() {
            if it.next == Some(now) && !it.ends {
                it.jobs.push((it.released, now, demand(TaskId(n as u16), it.released)));
                it.released += 1;
                it.next = Some(now + it.values.period.as_nanos());
            }
        }
        let at = line.partition_point(|(from, _)| from.as_nanos() <= now);
        let running = &line[at - 1].1;
        for (n, cores) in root.queues.iter().enumerate() {
            let mine = || (0..all.len()).filter(|task| queue(*task) == n);
            let key = |task: &usize| {
                let It { values, jobs, .. } = &all[*task];
                let key = match root.order {
                    TaskOrder::FixedPriority => u64::from(u32::MAX - values.priority),
                    TaskOrder::RateMonotonic => values.period.as_nanos(),
                    TaskOrder::DeadlineMonotonic => values.deadline.as_nanos(),
                    _ => jobs[0].1 + values.deadline.as_nanos(),
                };
                (key, *task)
            };
            let mut ready: Vec<usize> = mine().filter(|task| !all[*task].jobs.is_empty()).collect();
            if ready.is_empty() {
                let waits = |(number, change): &(usize, &Change)| {
                    let here = matches!(change.part, Part::Task(task) if queue(task.index()) == n);
                    here && change.at.as_nanos() <= now
                        && !settled.iter().any(|it| it.0 as usize == *number && it.1 <= now)
                };
                let waits = changing.changes.iter().enumerate().find(waits);
                assert_eq!(waits.map(|(number, _)| number), None, "it waits at {now} though all idle");
            }
            ready.sort_by_key(key);
            ready.truncate(cores.iter().count());
            let mut expected: Vec<(TaskId, u32)> =
                ready.iter().map(|task| (TaskId(*task as u16), all[*task].jobs[0].0)).collect();
            let mut found: Vec<(TaskId, u32)> = cores.iter().filter_map(|core| running[core.index()]).collect();
            expected.sort_unstable();
            found.sort_unstable();
            assert_eq!(found, expected, "queue {n} at {now}");
            for task in ready {
                all[task].jobs[0].2 -= 1;
                if all[task].jobs[0].2 == 0 {
                    all[task].jobs.remove(0);
                }
            }
        }
    }
    for pair in settled.windows(2).filter(|_| root.queues.len() == 1) {
        assert!(pair[0].0 < pair[1].0 && pair[0].1 <= pair[1].1, "in their order: {settled:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn cores_that_share_a_queue_change_together_when_all_of_them_are_quiet(setup in changing()) {
        beside_the_reference(&setup);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    #[ignore = "takes minutes: evidence, not a daily test"]
    fn a_hundred_thousand_random_systems_that_share_queues_change_as_the_reference_allows(setup in changing()) {
        beside_the_reference(&setup);
    }
}
