//! MC² that changes while it runs, beside a slow machine that works everything out anew in each nanosecond: when a change may
//! take effect and when it must, and what runs.

use crate::common::changes::changing_mc2;
use crate::common::levels::{demand_of, moments, slowly, Asked, END};
use crate::common::{draw, ms, run};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use tactus_policy::{
    Action, Change, Mc2, Mc2Now, Part, PolicyConfig, PolicySpec, Protocol, Reconfigurable, Slot, Table, Task, Values,
};
use tactus_record::{EventKind, CHANGE_NOT_ADMITTED};
use tactus_time::{CoreId, Duration, Instant, Level, TaskId};

/// A task: level, core, period, budget, in ms.
struct Row(Level, Option<u8>, u64, u64);

/// On core 0 T1 (A, 2 of 10) and T2 (B, 3 of 10), on core 1 T4 (B, 2 of 10), on any T3 (C, 6 of 20); T5 (A, 3 of 10, core 1) and T6 (C, 9
/// of 10) are to come.
fn example() -> (PolicyConfig, impl Fn(TaskId, u32) -> Duration) {
    let rows = [
        Row(Level::A, Some(0), 10, 2),
        Row(Level::B, Some(0), 10, 3),
        Row(Level::C, None, 20, 6),
        Row(Level::B, Some(1), 10, 2),
        Row(Level::A, Some(1), 10, 3),
        Row(Level::C, None, 10, 9),
    ];
    let task = |row: &Row| Task {
        level: row.0,
        core: row.1.map(CoreId),
        offset: Duration::ZERO,
        period: ms(row.2),
        deadline: ms(row.2),
        budget: ms(row.3),
    };
    let table = |task: u16, end: u64| Table {
        cycle: ms(10),
        slots: vec![Slot { task: TaskId(task), start: Duration::ZERO, end: ms(end) }],
    };
    let policy = Mc2 {
        enforce: true,
        slack_shifting: false,
        allowance: Duration::ZERO,
        tables: vec![table(0, 2), Table::default()],
    };
    let change = |at: u64, task: u16, action: Action, admitted: bool| Change {
        at: ms(at),
        part: Part::Task(TaskId(task)),
        action,
        admitted,
        drains: true,
        depends: false,
    };
    let longer = Values { time: ms(4), period: ms(10), deadline: ms(10), priority: 0 };
    let changes = vec![
        change(13, 2, Action::Remove, true),
        change(13, 4, Action::Add, true),
        change(23, 1, Action::Alter(longer.into()), true),
        change(31, 5, Action::Add, false),
    ];
    let effects = vec![
        Mc2Now::default(),
        Mc2Now { budgets: vec![(TaskId(4), ms(3))], tables: vec![(CoreId(1), table(4, 3))] },
        Mc2Now { budgets: vec![(TaskId(1), ms(4))], tables: Vec::new() },
        Mc2Now::default(),
    ];
    let absent = vec![TaskId(4), TaskId(5)];
    let all = Reconfigurable { policy, absent, changes, effects, protocol: Protocol::IdleInstant };
    let setup =
        PolicyConfig { cores: 2, kind: PolicySpec::ReconfigurableMc2(all), tasks: rows.iter().map(task).collect() };
    let demand = |task: TaskId, job: u32| {
        ms(match task.0 {
            0 | 3 => 2,
            1 if job > 2 => 4,
            2 => 6,
            _ => 3,
        })
    };
    (setup, demand)
}

#[test]
fn all_cores_wait_for_an_instant_at_which_nothing_of_levels_a_to_c_is_left() {
    let (setup, demand) = example();
    let entries = run(&setup, &demand, Instant::ZERO + ms(44));
    let drawn = draw::draw(&setup, &entries, 44, &|task| format!("T{}", task.0 + 1));
    crate::kept::compare("change-mc2.txt", &drawn);
    let at = |kind: EventKind| -> Vec<(u64, u32)> {
        let records = entries.iter().flat_map(|entry| &entry.records).filter(|r| r.kind == kind);
        records.map(|r| (r.time.as_nanos() / 1_000_000, r.job)).collect()
    };
    assert_eq!(at(EventKind::ChangeApplied), [(15, 0), (15, 1), (25, 2)]);
    assert_eq!(at(EventKind::ChangeRefused), [(31, 3)]);
    let releases = entries.iter().flat_map(|entry| &entry.records).filter(|r| r.kind == EventKind::Release);
    let of_t5: Vec<u64> = releases.filter(|r| r.task == Some(TaskId(4))).map(|r| r.arg / 1_000_000).collect();
    assert_eq!(of_t5, [20, 30, 40], "level A keeps to the table, which counts from time zero");
}

/// How many changes were applied.
fn beside_the_slow_machine(setup: &PolicyConfig, most: &[u64]) -> usize {
    let PolicySpec::ReconfigurableMc2(all) = &setup.kind else { panic!("{:?}", setup.kind) };
    let demand = demand_of(most);
    let entries = run(setup, &demand, Instant::from_nanos(END));
    let records = entries.iter().flat_map(|entry| &entry.records);
    let settled: Vec<(u32, u64, bool)> = records
        .filter(|r| {
            r.kind == EventKind::ChangeApplied || r.kind == EventKind::ChangeRefused && r.arg != CHANGE_NOT_ADMITTED
        })
        .map(|r| (r.job, r.time.as_nanos(), r.kind == EventKind::ChangeApplied))
        .collect();
    let (ours, d) = moments(setup, &entries);
    let (absent, changes, effects) = (&all.absent[..], &all.changes[..], &all.effects[..]);
    slowly(&Asked { setup, mc2: &all.policy, absent, changes, effects, settled: &settled }, &demand, &ours, &d);
    settled.iter().filter(|settled| settled.2).count()
}

#[test]
fn of_the_systems_that_are_drawn_many_change() {
    let mut runner = TestRunner::deterministic();
    let mut count = 0;
    for _ in 0..500 {
        let (setup, most) = changing_mc2(END).new_tree(&mut runner).expect("systems can be made").current();
        count += beside_the_slow_machine(&setup, &most);
    }
    assert!(count > 250, "{count}");
}

/// T2 of level A is added at 9, and takes 4: what comes at 54 ends at 61. T1 of level D, which is to begin anew since 55, came at 60
/// and was not noticed.
#[test]
fn a_change_waits_for_a_job_of_level_d_that_came_while_level_a_ran() {
    let nanos = Duration::from_nanos;
    let task = |level, core, [offset, period, budget]: [u64; 3]| {
        let (offset, period, budget) = (nanos(offset), nanos(period), nanos(budget));
        Task { level, core, offset, period, deadline: period, budget }
    };
    let slot = |start, end| Slot { task: TaskId(1), start: nanos(start), end: nanos(end) };
    let [before, after] = [(1, vec![slot(0, 1)]), (7, vec![slot(0, 1), slot(2, 5)])]
        .map(|(cycle, slots)| Table { cycle: nanos(cycle), slots });
    let policy = Mc2 { enforce: false, slack_shifting: false, allowance: Duration::ZERO, tables: vec![before] };
    let add = |at, task| Change {
        at: nanos(at),
        part: Part::Task(TaskId(task)),
        action: Action::Add,
        admitted: true,
        drains: true,
        depends: false,
    };
    let effects = vec![
        Mc2Now { budgets: vec![(TaskId(1), nanos(1))], tables: vec![(CoreId(0), after)] },
        Mc2Now { budgets: vec![(TaskId(0), Duration::ZERO)], tables: Vec::new() },
    ];
    let (absent, changes) = (vec![TaskId(1)], vec![add(9, 1), add(55, 0)]);
    let kind = PolicySpec::ReconfigurableMc2(Reconfigurable {
        policy,
        absent,
        changes,
        effects,
        protocol: Protocol::IdleInstant,
    });
    let tasks = vec![task(Level::D, None, [0, 6, 0]), task(Level::A, Some(CoreId(0)), [8, 46, 1])];
    assert_eq!(beside_the_slow_machine(&PolicyConfig { cores: 1, kind, tasks }, &[1, 4]), 2);
}

/// T2 of level A is there, so that adding it at 13 waits for an idle instant; when that comes, its removal of 56 is requested already.
#[test]
fn a_task_whose_removal_was_requested_before_it_is_added_releases_nothing() {
    let nanos = Duration::from_nanos;
    let task = |level, core, [offset, period, budget]: [u64; 3]| {
        let (offset, period, budget) = (nanos(offset), nanos(period), nanos(budget));
        Task { level, core, offset, period, deadline: period, budget }
    };
    let slot = |start, end| Slot { task: TaskId(1), start: nanos(start), end: nanos(end) };
    let table = |cycle, slots| Table { cycle: nanos(cycle), slots };
    let before = table(5, vec![slot(0, 1), slot(2, 4)]);
    let policy = Mc2 { enforce: false, slack_shifting: false, allowance: Duration::ZERO, tables: vec![before] };
    let change = |at, task, action| Change {
        at: nanos(at),
        part: Part::Task(TaskId(task)),
        action,
        admitted: true,
        drains: true,
        depends: false,
    };
    let own = || Mc2Now { budgets: vec![(TaskId(1), nanos(1))], tables: vec![(CoreId(0), table(1, vec![slot(0, 1)]))] };
    let effects = vec![own(), Mc2Now { budgets: vec![(TaskId(0), Duration::ZERO)], tables: Vec::new() }, own()];
    let changes = vec![change(13, 1, Action::Add), change(56, 0, Action::Add), change(56, 1, Action::Remove)];
    let kind = PolicySpec::ReconfigurableMc2(Reconfigurable {
        policy,
        absent: Vec::new(),
        changes,
        effects,
        protocol: Protocol::IdleInstant,
    });
    let tasks = vec![task(Level::D, None, [7, 6, 0]), task(Level::A, Some(CoreId(0)), [0, 6, 1])];
    beside_the_slow_machine(&PolicyConfig { cores: 1, kind, tasks }, &[6, 8]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_changes_are_those_of_a_machine_that_looks_at_everything_at_every_instant((setup, most) in changing_mc2(END)) {
        beside_the_slow_machine(&setup, &most);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    #[ignore = "takes minutes: evidence, not a daily test"]
    fn a_hundred_thousand_random_systems_change_as_on_the_slow_machine((setup, most) in changing_mc2(END)) {
        beside_the_slow_machine(&setup, &most);
    }
}
