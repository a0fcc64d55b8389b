//! ReconfigurableTree servers inside others and on several cores, and what is in them: the rules one by one, and the worked examples.

use crate::common::changes::{ns, root, server, task_of, told};
use crate::common::{draw, run, Entry};
use tactus_policy::{
    Action, Change, Overrun, Part, PolicyConfig, PolicySpec, Protocol, ReconfigurableTree, Server, ServerKind, Supply,
    Task, TaskOrder, TaskPlacement, Tree, Values,
};
use tactus_record::{EventKind, CHANGE_OVERLOADS};
use tactus_time::{CoreSet, Duration, Instant, TaskId};

fn task(n: u16) -> Part {
    Part::Task(TaskId(n))
}

fn change(at: u64, part: Part, action: Action) -> Change {
    Change { at: ns(at), part, action, admitted: true, drains: true, depends: false }
}

fn values(time: u64, period: u64) -> Action {
    Action::Alter(Values { time: ns(time), period: ns(period), deadline: ns(period), priority: 0 }.into())
}

/// Servers in one root, and tasks with the place of their server.
fn setup(servers: Vec<Server>, tasks: &[(u16, Task)], absent: &[Part], changes: Vec<Change>) -> PolicyConfig {
    let cores = servers
        .iter()
        .fold(1, |most, server| most.max(server.cores.iter().map(|core| core.index() + 1).max().unwrap_or(1)));
    let all = CoreSet::first(cores);
    let queues = all.iter().map(|core| CoreSet::from_bits(1 << core.0)).collect();
    let root = Server { cores: all, queues, ..root(TaskOrder::EarliestDeadline) };
    let places =
        tasks.iter().map(|(server, _)| TaskPlacement { server: *server, priority: 0, overrun: Overrun::Continue });
    let tree = Tree {
        servers: std::iter::once(root).chain(servers).collect(),
        places: places.collect(),
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
    PolicyConfig { cores, kind, tasks: tasks.iter().map(|(_, task)| *task).collect() }
}

fn start(setup: &PolicyConfig, until: u64) -> Vec<Entry> {
    run(setup, &|task, _| setup.tasks[task.index()].budget, Instant::from_nanos(until))
}

fn releases(entries: &[Entry], task: u16) -> Vec<u64> {
    let records = entries.iter().flat_map(|entry| &entry.records);
    let own = records.filter(|r| r.kind == EventKind::Release && r.task == Some(TaskId(task)));
    own.map(|r| r.arg).collect()
}

/// S1 (5 of 10) with T0 (2 of 20) and S2 (2 of 10), which has T1 (4 of 40).
fn nested(changes: Vec<Change>, absent: &[Part]) -> PolicyConfig {
    let tasks = [(1, task_of(0, 0, 20, 2)), (2, task_of(0, 0, 40, 4))];
    setup(vec![server(0, 5, 10), server(1, 2, 10)], &tasks, absent, changes)
}

#[test]
fn a_server_inside_another_waits_until_its_work_is_done_and_what_is_around_it_has_nothing_to_run() {
    // T1 has 2 in S2's first period and 2 in its second.
    let entries = start(&nested(vec![change(1, Part::Server(2), values(3, 10))], &[]), 60);
    assert_eq!(told(&entries, EventKind::ChangeApplied), [(12, 0, 0)]);
    let came: Vec<_> =
        told(&entries, EventKind::ServerReplenish).into_iter().filter(|came| came.1 == 2 && came.0 >= 12).collect();
    assert_eq!(came[0], (12, 2, 3), "the whole budget at once");
}

#[test]
fn a_sibling_that_waits_for_budget_may_have_work_left_and_one_that_could_run_may_not() {
    // S2 has used its 2 by 4 and waits; T0 is done by 2: S1 has nothing that it could run.
    let entries = start(&nested(vec![change(1, task(0), values(1, 20))], &[]), 60);
    assert_eq!(told(&entries, EventKind::ChangeApplied), [(4, 0, 0)]);
    // Where nothing is promised there, it is enough that the core is quiet and the task itself has no job.
    let now = Change { drains: false, ..change(1, task(0), values(1, 20)) };
    assert_eq!(told(&start(&nested(vec![now], &[]), 60), EventKind::ChangeApplied), [(4, 0, 0)]);
}

#[test]
fn a_whole_subtree_ends_when_all_of_its_work_is_done_and_comes_back_with_full_budgets() {
    let changes = vec![change(1, Part::Server(1), Action::Remove), change(50, Part::Server(1), Action::Add)];
    let entries = start(&nested(changes, &[]), 100);
    assert_eq!(told(&entries, EventKind::ChangeApplied), [(12, 0, 0), (50, 1, 0)]);
    assert_eq!((releases(&entries, 0), releases(&entries, 1)), (vec![0, 50, 70, 90], vec![0, 50, 90]));
    let came: Vec<_> = told(&entries, EventKind::ServerReplenish).into_iter().filter(|came| came.0 == 50).collect();
    assert_eq!(came, [(50, 1, 5), (50, 2, 2)], "the outer one and the inner one");
    assert!(
        !told(&entries, EventKind::ServerReplenish).iter().any(|came| (13..50).contains(&came.0)),
        "nothing in between"
    );
}

#[test]
fn what_is_itself_absent_does_not_come_with_the_server_around_it() {
    let absent = [Part::Server(1), Part::Server(2)];
    let changes = vec![change(5, Part::Server(1), Action::Add), change(26, Part::Server(2), Action::Add)];
    let entries = start(&nested(changes, &absent), 60);
    assert_eq!((releases(&entries, 0), releases(&entries, 1)), (vec![5, 25, 45], vec![27]));
    assert_eq!(told(&entries, EventKind::ChangeApplied), [(5, 0, 0), (27, 1, 0)], "not before T0's job of 25 is done");
}

#[test]
fn servers_inside_another_are_promised_no_more_than_it_has() {
    // S3 (2 of 10) inside S1 (5 of 10) beside S2 (2 of 10).
    let tasks = [(1, task_of(0, 0, 20, 2)), (2, task_of(0, 0, 40, 4))];
    let servers = vec![server(0, 5, 10), server(1, 2, 10), server(1, 2, 10)];
    let changes = vec![
        change(1, Part::Server(2), values(4, 10)),
        change(1, Part::Server(1), values(3, 10)),
        change(1, Part::Server(2), values(3, 10)),
        change(1, Part::Server(1), values(9, 10)),
    ];
    let entries = start(&setup(servers, &tasks, &[], changes), 60);
    let refused: Vec<_> = told(&entries, EventKind::ChangeRefused).into_iter().map(|(_, n, why)| (n, why)).collect();
    assert_eq!(refused, [(0, CHANGE_OVERLOADS), (1, CHANGE_OVERLOADS)]);
    assert_eq!(told(&entries, EventKind::ChangeApplied).into_iter().map(|it| it.1).collect::<Vec<_>>(), [2, 3]);
}

#[test]
fn a_server_on_cores_that_share_nothing_changes_on_each_of_them_by_itself() {
    let both = CoreSet::first(2);
    let queues = both.iter().map(|core| CoreSet::from_bits(1 << core.0)).collect();
    let wide = Server { cores: both, queues, ..server(0, 2, 10) };
    // On core 0 there is 1 to do, on core 1 there are 4, which take two periods.
    let tasks = [(1, task_of(0, 0, 40, 1)), (1, task_of(1, 0, 40, 4))];
    let entries = start(&setup(vec![wide], &tasks, &[], vec![change(1, Part::Server(1), values(3, 10))]), 60);
    assert_eq!(told(&entries, EventKind::ChangeApplied), [(1, 0, 0), (12, 0, 0)]);
}

#[test]
fn a_server_whose_cores_share_a_queue_changes_when_both_are_quiet() {
    let both = CoreSet::first(2);
    let platform = Server { cores: both, queues: vec![both], ..server(0, 2, 10) };
    let any = |period, budget| Task { core: None, ..task_of(0, 0, period, budget) };
    // T0 and T1 share the platform's two budgets of 2; T2 keeps core 1 busy until 7.
    let tasks = [(1, any(40, 3)), (1, any(40, 1)), (0, task_of(1, 0, 40, 5))];
    let entries = start(&setup(vec![platform], &tasks, &[], vec![change(1, Part::Server(1), values(3, 10))]), 60);
    let changed = told(&entries, EventKind::ChangeApplied);
    let done = told(&entries, EventKind::Complete).iter().map(|it| it.0).filter(|at| *at < 40).max();
    assert_eq!(changed.iter().map(|it| Some(it.0)).collect::<Vec<_>>(), [done], "when the last job is done");
    let came = told(&entries, EventKind::ServerReplenish).into_iter().filter(|it| it.0 == changed[0].0);
    assert_eq!(came.map(|it| (it.1, it.2)).collect::<Vec<_>>(), [(1, 3), (1, 3)], "a full budget on each core");
}

#[test]
fn a_budget_that_comes_in_the_instant_of_a_change_keeps_it_waiting_in_no_kind_of_server() {
    let kinds = [
        ServerKind::Periodic,
        ServerKind::Polling,
        ServerKind::Deferrable,
        ServerKind::Sporadic,
        ServerKind::HardBandwidth,
        ServerKind::PriorityInheriting,
    ];
    for kind in kinds {
        // S1's 2 of 10 are used up by 2, and come back at 10 with 2 of T0 left.
        let mut it = server(0, 2, 10);
        it.supply = it.supply.map(|supply| Supply { kind, ..supply });
        let tasks = [(1, task_of(0, 0, 60, 4)), (0, task_of(0, 50, 60, 1))];
        let entries = start(&setup(vec![it], &tasks, &[], vec![change(10, task(1), Action::Remove)]), 60);
        assert_eq!(told(&entries, EventKind::ChangeApplied), [(10, 0, 0)], "{kind:?}");
    }
}

/// In milliseconds, for a drawing.
fn in_ms(mut setup: PolicyConfig) -> PolicyConfig {
    let longer = |length: &mut Duration| *length = *length * 1_000_000;
    for task in &mut setup.tasks {
        [&mut task.offset, &mut task.period, &mut task.deadline, &mut task.budget].into_iter().for_each(longer);
    }
    let PolicySpec::ReconfigurableTree(changing) = &mut setup.kind else { panic!("{:?}", setup.kind) };
    for supply in changing.tree.servers.iter_mut().filter_map(|server| server.supply.as_mut()) {
        supply.kind = ServerKind::HardBandwidth;
        [&mut supply.budget, &mut supply.period].into_iter().for_each(longer);
    }
    for change in &mut changing.changes {
        longer(&mut change.at);
        if let Action::Alter(values) = &mut change.action {
            [&mut values.time, &mut values.period, &mut values.deadline].into_iter().flatten().for_each(longer);
        }
    }
    setup
}

fn is_drawn(setup: &PolicyConfig, name: &str) {
    let entries = start(setup, 80_000_000);
    let drawn = draw::draw(setup, &entries, 80, &|task| format!("T{}", task.0 + 1));
    crate::kept::compare(name, &drawn);
}

/// T1 (2 of 10); S1 (7 of 10) with T2 (2 of 20) and S2 (2 of 10), which has T3 (4 of 45). S2 is to have 3, then all of S1 ends, and
/// T4 (5 of 10) has its time.
#[test]
fn a_changing_tree_draws_its_worked_example() {
    let rows = [(0, (10, 2)), (1, (20, 2)), (2, (45, 4)), (0, (10, 5))];
    let tasks = rows.map(|(server, (period, budget))| (server, task_of(0, 0, period, budget)));
    let changes = vec![
        change(13, Part::Server(2), values(3, 10)),
        change(46, Part::Server(1), Action::Remove),
        change(46, task(3), Action::Add),
    ];
    is_drawn(&in_ms(setup(vec![server(0, 7, 10), server(1, 2, 10)], &tasks, &[task(3)], changes)), "change_nested.txt");
}

/// S1 (3 of 10 on each of two cores, by priority) with T1 (5 of 40) and T2 (3 of 40); T3 (5 of 20) on core 0. S1 is to have 4, T4 (3
/// of 10) begins on core 1, and T2 ends.
#[test]
fn a_changing_platform_draws_its_worked_example() {
    let both = CoreSet::first(2);
    let platform = Server { cores: both, queues: vec![both], order: TaskOrder::FixedPriority, ..server(0, 3, 10) };
    let any = |budget| Task { core: None, ..task_of(0, 0, 40, budget) };
    let tasks = [(1, any(5)), (1, any(3)), (0, task_of(0, 0, 20, 5)), (0, task_of(1, 0, 10, 3))];
    let changes = vec![
        change(7, Part::Server(1), values(4, 10)),
        change(7, task(3), Action::Add),
        change(41, task(1), Action::Remove),
    ];
    let mut setup = in_ms(setup(vec![platform], &tasks, &[task(3)], changes));
    let PolicySpec::ReconfigurableTree(changing) = &mut setup.kind else { panic!("{:?}", setup.kind) };
    (changing.tree.places[0].priority, changing.tree.places[1].priority) = (2, 1);
    is_drawn(&setup, "change_platform.txt");
}
