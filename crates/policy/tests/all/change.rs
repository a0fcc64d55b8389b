//! ReconfigurableTree a system while it runs: the worked example, the rules one by one, and a slow machine beside the policy.

use crate::common::changes::{altered, changing, root};
use crate::common::{core, draw, ms, run, time_of, timeline, Entry};
use proptest::prelude::*;
use tactus_policy::{
    Action, Change, Overrun, Part, PolicyConfig, PolicySpec, Protocol, ReconfigurableTree, Server, ServerKind, Supply,
    Task, TaskOrder, TaskPlacement, Tree, Values,
};
use tactus_record::{EventKind, CHANGE_NOT_ADMITTED, CHANGE_OVERLOADS};
use tactus_time::{Duration, Instant, Level, TaskId};

/// A task: server, period, and what a job takes, in ms.
struct Row(u16, u64, u64);

fn setup(servers: &[Server], rows: &[Row], absent: &[Part], changes: Vec<Change>) -> PolicyConfig {
    let place = |row: &Row| TaskPlacement { server: row.0, priority: 0, overrun: Overrun::Continue };
    let task = |row: &Row| Task {
        level: Level::A,
        core: core(0),
        offset: Duration::ZERO,
        period: ms(row.1),
        deadline: ms(row.1),
        budget: ms(row.2),
    };
    let servers = [&[root(TaskOrder::EarliestDeadline)], servers].concat();
    let tree = Tree {
        servers,
        places: rows.iter().map(place).collect(),
        releases: Vec::new(),
        waits: Vec::new(),
        line: Duration::ZERO,
        seed: 0,
    };
    let kind = PolicySpec::ReconfigurableTree(ReconfigurableTree {
        tree,
        absent: absent.to_vec(),
        changes,
        slots: Vec::new(),
        protocol: Protocol::IdleInstant,
    });
    PolicyConfig { cores: 1, kind, tasks: rows.iter().map(task).collect() }
}

fn video(budget: u64) -> Server {
    let kind = ServerKind::HardBandwidth;
    let supply = Some(Supply { kind, budget: ms(budget), period: ms(10), write_backs: None });
    Server { supply, ..root(TaskOrder::EarliestDeadline) }
}

fn task(n: u16) -> Part {
    Part::Task(TaskId(n))
}

fn change(at: u64, part: Part, action: Action) -> Change {
    Change { at: ms(at), part, action, admitted: true, drains: true, depends: false }
}

fn values(time: u64, period: u64) -> Action {
    Action::Alter(Values { time: ms(time), period: ms(period), deadline: ms(period), priority: 0 }.into())
}

fn start(setup: &PolicyConfig, until: u64) -> Vec<Entry> {
    run(setup, &|task, _| setup.tasks[task.index()].budget, Instant::ZERO + ms(until))
}

/// When records of this kind about changes came, in ms, with their numbers and `arg`.
fn told(entries: &[Entry], kind: EventKind) -> Vec<(u64, u32, u64)> {
    let records = entries.iter().flat_map(|entry| &entry.records).filter(|r| r.kind == kind);
    records.map(|r| (r.time.as_nanos() / 1_000_000, r.job, r.arg)).collect()
}

/// When jobs of the task were released, in ms.
fn releases(entries: &[Entry], task: u16) -> Vec<u64> {
    let records = entries.iter().flat_map(|entry| &entry.records);
    let own = records.filter(|r| r.kind == EventKind::Release && r.task == Some(TaskId(task)));
    own.map(|r| r.arg / 1_000_000).collect()
}

/// T1 (2 of 10), T2 (7 of 20), T3 (3 of 30) in S1 (2 of 10), T4 (4 of 10), T5 (8 of 20).
fn example() -> PolicyConfig {
    let rows = [Row(0, 10, 2), Row(0, 20, 7), Row(1, 30, 3), Row(0, 10, 4), Row(0, 20, 8)];
    let changes = vec![
        change(22, task(1), Action::Remove),
        change(22, task(3), Action::Add),
        Change { admitted: false, ..change(40, task(4), Action::Add) },
        change(51, Part::Server(1), values(3, 10)),
    ];
    setup(&[video(2)], &rows, &[task(3), task(4)], changes)
}

#[test]
fn a_removed_task_goes_on_to_its_end_and_what_needs_its_time_begins_after() {
    let setup = example();
    let entries = start(&setup, 80);
    let drawn = draw::draw(&setup, &entries, 80, &|task| format!("T{}", task.0 + 1));
    crate::kept::compare("change.txt", &drawn);
    assert_eq!(
        told(&entries, EventKind::ChangeRequested).iter().map(|told| told.0).collect::<Vec<_>>(),
        [22, 22, 40, 51]
    );
    assert_eq!(told(&entries, EventKind::ChangeRefused), [(40, 2, CHANGE_NOT_ADMITTED)]);
    assert_eq!(releases(&entries, 1), [0, 20], "nothing is released after the removal");
    let added = releases(&entries, 3)[0];
    let done = told(&entries, EventKind::ChangeApplied)[1].0;
    assert_eq!(added, done, "the first job comes when the change is applied");
    assert!(done > 22, "not while the removed task has a job");
}

#[test]
fn a_change_that_would_promise_more_than_the_core_is_refused_whatever_the_table_says() {
    let rows = [Row(0, 10, 6), Row(0, 10, 5)];
    let setup =
        setup(&[], &rows, &[task(1)], vec![change(13, task(1), Action::Add), change(17, task(0), values(4, 10))]);
    let entries = start(&setup, 60);
    assert_eq!(told(&entries, EventKind::ChangeRefused), [(16, 0, CHANGE_OVERLOADS)]);
    assert_eq!(told(&entries, EventKind::ChangeApplied), [(17, 1, 0)], "one that lowers the load is made");
    assert!(releases(&entries, 1).is_empty());
}

#[test]
fn a_change_of_an_overloaded_core_may_lower_its_load_and_not_raise_it() {
    let rows = [Row(0, 10, 3), Row(0, 10, 3), Row(1, 10, 3)];
    let changes = vec![change(12, Part::Server(1), values(9, 10)), change(14, Part::Server(1), values(1, 10))];
    let setup = setup(&[video(7)], &rows, &[], changes);
    let entries = run(&setup, &|task, _| ms(1 + u64::from(task.0 % 2)), Instant::ZERO + ms(60));
    assert_eq!(told(&entries, EventKind::ChangeRefused), [(14, 0, CHANGE_OVERLOADS)]);
    assert_eq!(told(&entries, EventKind::ChangeApplied), [(14, 1, 0)]);
}

#[test]
fn changes_wait_for_their_turn_and_what_is_asked_in_vain_changes_nothing() {
    // The core is never quiet before 30: T1 has 10 of 10 until then.
    let rows = [Row(0, 10, 10), Row(0, 10, 1)];
    let changes = vec![change(5, task(1), Action::Add), change(15, task(0), Action::Remove)];
    let setup = setup(&[], &rows, &[task(1)], changes);
    let demand =
        |task: TaskId, job: u32| if task.0 == 0 && job == 0 { ms(10) } else { setup.tasks[task.index()].budget };
    let entries = run(&setup, &demand, Instant::ZERO + ms(60));
    // At 10 one job ends as the next one comes: nothing is left over, and the first change is settled.
    assert_eq!(told(&entries, EventKind::ChangeRefused), [(10, 0, CHANGE_OVERLOADS)]);
    assert_eq!(told(&entries, EventKind::ChangeApplied), [(20, 1, 0)]);
    assert_eq!(releases(&entries, 0), [0, 10]);
}

#[test]
fn a_server_is_removed_when_its_work_is_done_and_may_come_back() {
    let rows = [Row(0, 10, 2), Row(1, 20, 4)];
    let changes = vec![change(1, Part::Server(1), Action::Remove), change(45, Part::Server(1), Action::Add)];
    let setup = setup(&[video(2)], &rows, &[], changes);
    let entries = start(&setup, 80);
    // Its job has 2 in [0, 10), waits for budget, and has 2 more; then it is gone.
    assert_eq!(told(&entries, EventKind::ChangeApplied).iter().map(|told| told.0).collect::<Vec<_>>(), [14, 45]);
    assert_eq!(releases(&entries, 1), [0, 45, 65]);
}

#[test]
fn a_server_that_nothing_is_promised_of_changes_though_it_has_work_left() {
    let rows = [Row(0, 10, 2), Row(1, 10, 9)];
    let change = Change { drains: false, ..change(12, Part::Server(1), values(4, 10)) };
    let setup = setup(&[video(2)], &rows, &[], vec![change]);
    let entries = start(&setup, 80);
    assert_eq!(told(&entries, EventKind::ChangeApplied), [(14, 0, 0)]);
    let came: Vec<_> = told(&entries, EventKind::ServerReplenish).into_iter().filter(|told| told.0 >= 14).collect();
    assert_eq!(came[..2], [(14, 1, 4_000_000), (24, 1, 4_000_000)]);
}

/// T1 (8 of 100) goes first, then S1 (3 of 10) with T2, then T3 (2 of 50).
fn with_idle_server(kind: ServerKind, arrives: u64, execution: u64) -> PolicyConfig {
    let rows = [Row(0, 100, 8), Row(1, 100, execution), Row(0, 50, 2)];
    let changes = vec![change(7, task(0), Action::Remove), change(7, task(2), Action::Add)];
    let server = Server {
        supply: Some(Supply { kind, budget: ms(3), period: ms(10), write_backs: None }),
        priority: 2,
        ..video(3)
    };
    let mut setup = setup(&[server], &rows, &[task(2)], changes);
    setup.tasks[1].offset = ms(arrives);
    let PolicySpec::ReconfigurableTree(changing) = &mut setup.kind else { panic!("{:?}", setup.kind) };
    changing.tree.servers[0].order = TaskOrder::FixedPriority;
    for (place, priority) in changing.tree.places.iter_mut().zip([3, 0, 1]) {
        place.priority = priority;
    }
    setup
}

/// A budget that is there without work and has to go by is left over from before: with work that comes in the instant of a change,
/// or after it, the server has it and the next one back to back, and what began with the change would wait for both.
#[test]
fn a_change_waits_until_budgets_that_go_by_without_work_have_gone_by() {
    let changed = |setup: &PolicyConfig| {
        told(&start(setup, 60), EventKind::ChangeApplied).iter().map(|told| told.0).collect::<Vec<_>>()
    };
    // T2 has 2 of the first budget and the whole of the second.
    let setup = with_idle_server(ServerKind::Periodic, 8, 5);
    let entries = start(&setup, 60);
    assert_eq!(changed(&setup), [13, 13]);
    let done = entries
        .iter()
        .flat_map(|entry| &entry.records)
        .find(|r| r.kind == EventKind::Complete && r.task == Some(TaskId(2)));
    assert_eq!(done.map(|r| r.time), Some(Instant::ZERO + ms(15)), "as its bound says, 2 after its release");
    assert_eq!(changed(&with_idle_server(ServerKind::Polling, 8, 5)), [13, 13]);
    // The second budget goes by, after what is left of the first.
    assert_eq!(changed(&with_idle_server(ServerKind::Periodic, 90, 5)), [13, 13]);
    // It is gone at once.
    assert_eq!(changed(&with_idle_server(ServerKind::Polling, 90, 5)), [8, 8]);
    assert_eq!(changed(&with_idle_server(ServerKind::Deferrable, 90, 5)), [8, 8]);
}

const END: u64 = 150;

/// The job that runs in each nanosecond.
type Line = Vec<Option<(TaskId, u32)>>;

/// What runs in each nanosecond under the rules, worked out anew for each: tasks without servers.
fn slowly(setup: &PolicyConfig, demand: &dyn Fn(TaskId, u32) -> u64) -> (Line, Vec<(u32, u64)>) {
    let PolicySpec::ReconfigurableTree(changing) = &setup.kind else { panic!("{:?}", setup.kind) };
    struct It {
        there: bool,
        ends: bool,
        next: Option<u64>,
        released: u32,
        values: Values,
        /// Number, release, deadline, and what is left.
        jobs: Vec<(u32, u64, u64, u64)>,
    }
    let mut all: Vec<It> = (0..setup.tasks.len())
        .map(|n| {
            let (own, there) = (&setup.tasks[n], !changing.absent.contains(&task(n as u16)));
            let priority = changing.tree.places[n].priority;
            let values = Values { time: own.budget, period: own.period, deadline: own.deadline, priority };
            let next = there.then_some(own.offset.as_nanos());
            It { there, ends: false, next, released: 0, values, jobs: Vec::new() }
        })
        .collect();
    let order = changing.tree.servers[0].order;
    let mut waiting: Vec<(u32, Change)> = Vec::new();
    let (mut line, mut settled) = (Vec::new(), Vec::new());
    for now in 0..END {
        for (n, change) in changing.changes.iter().enumerate().filter(|(_, change)| change.at.as_nanos() == now) {
            waiting.push((n as u32, *change));
            if let (true, Action::Remove, Part::Task(task)) = (change.admitted, change.action, change.part) {
                all[task.index()].ends = true;
            }
        }
        while let Some((n, change)) = waiting.first().copied() {
            let Part::Task(task) = change.part else { panic!("{change:?}") };
            if change.admitted && all.iter().any(|it| !it.jobs.is_empty()) {
                break;
            }
            waiting.remove(0);
            if !change.admitted {
                continue;
            }
            let share =
                |values: &Values| (u128::from(values.time.as_nanos()) << 32) / u128::from(values.period.as_nanos());
            let load = |all: &[It]| all.iter().filter(|it| it.there).map(|it| share(&it.values)).sum::<u128>();
            let before = load(&all);
            let (there, old) = (all[task.index()].there, all[task.index()].values);
            match change.action {
                Action::Add => all[task.index()].there = true,
                Action::Remove => all[task.index()].there = false,
                Action::Alter(named) => all[task.index()].values = altered(old, named),
            }
            // An alteration is judged as if it were there.
            let after = match change.action {
                Action::Alter(named) if !there => before + share(&altered(old, named)),
                _ => load(&all),
            };
            let it = &mut all[task.index()];
            if after > 1 << 32 && after > before {
                (it.there, it.values) = (there, old);
                continue;
            }
            settled.push((n, now));
            match change.action {
                Action::Add => {
                    it.ends = false;
                    it.next = Some(now + setup.tasks[task.index()].offset.as_nanos());
                }
                Action::Remove => it.ends = true,
                Action::Alter(_) => {}
            }
        }
        for (n, it) in all.iter_mut().enumerate() {
            if it.next == Some(now) && !it.ends {
                let deadline = now + it.values.deadline.as_nanos();
                it.jobs.push((it.released, now, deadline, demand(TaskId(n as u16), it.released)));
                it.released += 1;
                it.next = Some(now + it.values.period.as_nanos());
            }
        }
        let urgency = |n: usize, it: &It| match order {
            TaskOrder::FixedPriority => (u64::from(u32::MAX - it.values.priority), n),
            TaskOrder::RateMonotonic => (it.values.period.as_nanos(), n),
            TaskOrder::DeadlineMonotonic => (it.values.deadline.as_nanos(), n),
            _ => (it.jobs[0].2, n),
        };
        let ready = all.iter().enumerate().filter(|(_, it)| !it.jobs.is_empty());
        let chosen = ready.min_by_key(|(n, it)| urgency(*n, it)).map(|(n, _)| n);
        line.push(chosen.map(|n| (TaskId(n as u16), all[n].jobs[0].0)));
        if let Some(n) = chosen {
            all[n].jobs[0].3 -= 1;
            if all[n].jobs[0].3 == 0 {
                all[n].jobs.remove(0);
            }
        }
    }
    (line, settled)
}

fn beside_the_slow_machine(setup: &PolicyConfig) {
    let demand = |task: TaskId, job: u32| {
        let most = setup.tasks[task.index()].budget.as_nanos();
        time_of(most, task, job)
    };
    let entries = run(setup, &|task, job| Duration::from_nanos(demand(task, job)), Instant::from_nanos(END));
    let (expected, settled) = slowly(setup, &demand);
    let line = timeline(&entries);
    for (now, expected) in expected.into_iter().enumerate() {
        let at = line.partition_point(|(from, _)| from.as_nanos() <= now as u64);
        assert_eq!(line[at - 1].1[0], expected, "at {now}");
    }
    let took: Vec<(u32, u64)> = entries
        .iter()
        .flat_map(|entry| &entry.records)
        .filter(|r| r.kind == EventKind::ChangeApplied && r.time.as_nanos() < END)
        .map(|r| (r.job, r.time.as_nanos()))
        .collect();
    assert_eq!(took, settled);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_changes_are_those_of_a_machine_that_looks_at_everything_at_every_instant(setup in changing(6, 0, END)) {
        beside_the_slow_machine(&setup);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    #[ignore = "takes minutes: evidence, not a daily test"]
    fn a_hundred_thousand_random_systems_change_as_on_the_slow_machine(setup in changing(6, 0, END)) {
        beside_the_slow_machine(&setup);
    }
}
