//! Set-ups: their stored form, and what is refused.

use crate::common::{core, ms, systems::changing_or_not};
use proptest::prelude::*;
use tactus_policy::{
    Burst, Clusters, DecodeError, EarlyArrival, Mc2, Overrun, PolicyConfig, PolicyConfigError, PolicySpec, Priorities,
    Release, Resource, ResourceProtocol, ResourceUser, Scheduler, Server, ServerKind, Slot, Supply, Table, Task,
    TaskOrder, TaskPlacement, Tree,
};
use tactus_time::{CoreId, CoreSet, Duration, Level, TaskId};

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_was_encoded_is_decoded_unchanged(setup in changing_or_not(3, 3)) {
        prop_assert_eq!(PolicyConfig::decode(&setup.encode()), Ok(setup));
    }

    #[test]
    fn garbage_is_refused_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        prop_assert!(PolicyConfig::decode(&bytes).is_err());
    }

    #[test]
    fn a_damaged_set_up_is_refused_or_read_as_another_without_a_panic(
        setup in changing_or_not(3, 3), at in any::<prop::sample::Index>(), byte in any::<u8>(), cut in any::<prop::sample::Index>(),
    ) {
        let good = setup.encode();
        prop_assert!(PolicyConfig::decode(&good[..cut.index(good.len())]).is_err());
        let mut bad = good.clone();
        bad[at.index(good.len())] = byte;
        if let Ok(read) = PolicyConfig::decode(&bad) {
            prop_assert_eq!(read.encode(), bad);
            // Whatever it is, making a scheduler from it says yes or no.
            drop(Scheduler::new(&read));
        }
    }
}

#[test]
fn decoding_says_what_is_wrong() {
    let good = PolicyConfig { cores: 1, kind: PolicySpec::GlobalEdf, tasks: vec![task(Level::A, None)] }.encode();
    assert_eq!(PolicyConfig::decode(b"ELF\x7f0123"), Err(DecodeError::Magic));
    let with = |at: usize, byte: u8| {
        let mut bytes = good.clone();
        bytes[at] = byte;
        PolicyConfig::decode(&bytes)
    };
    assert_eq!(with(4, 9), Err(DecodeError::Version(9)));
    assert_eq!(with(14, 77), Err(DecodeError::Value(14)));
    // A count of tasks that no memory could hold.
    assert_eq!(with(22, 0x7f), Err(DecodeError::Truncated));
    assert_eq!(PolicyConfig::decode(&good[..20]), Err(DecodeError::Truncated));
    assert_eq!(PolicyConfig::decode(&[&good[..], &[0, 0]].concat()), Err(DecodeError::Trailing(2)));
}

fn task(level: Level, on: Option<CoreId>) -> Task {
    Task { level, core: on, offset: Duration::ZERO, period: ms(10), deadline: ms(10), budget: ms(1) }
}

fn refused(setup: &PolicyConfig) -> PolicyConfigError {
    let error = Scheduler::new(setup).map(|_| ()).expect_err("it is wrong");
    assert!(error.to_string().len() > 10);
    error
}

#[test]
fn a_set_up_that_breaks_a_rule_is_refused_by_name() {
    let bound = PolicyConfig { cores: 2, kind: PolicySpec::PartitionedEdf, tasks: vec![task(Level::A, core(1))] };
    assert!(Scheduler::new(&bound).is_ok());
    for cores in [0, 9, usize::MAX] {
        assert_eq!(refused(&PolicyConfig { cores, ..bound.clone() }), PolicyConfigError::CoreCount(cores));
    }
    let with = |task| PolicyConfig { tasks: vec![task], ..bound.clone() };
    let zero = Task { period: Duration::ZERO, ..bound.tasks[0] };
    assert_eq!(refused(&with(zero)), PolicyConfigError::ZeroPeriod(TaskId(0)));
    assert_eq!(refused(&with(task(Level::A, None))), PolicyConfigError::NoCore(TaskId(0)));
    assert_eq!(refused(&with(task(Level::A, core(2)))), PolicyConfigError::CoreOutOfRange(TaskId(0), CoreId(2)));
    let many = PolicyConfig { tasks: vec![bound.tasks[0]; 65_536], ..bound };
    assert_eq!(refused(&many), PolicyConfigError::TaskCount(65_536));
}

#[test]
fn clusters_part_the_cores_and_tell_every_task_where_it_waits() {
    let with = |sets: &[u8], priorities, tasks: &[Task]| PolicyConfig {
        cores: 3,
        kind: PolicySpec::ClusteredFp(Clusters {
            sets: sets.iter().map(|bits| CoreSet::from_bits(*bits)).collect(),
            priorities: Priorities(vec![1; priorities]),
        }),
        tasks: tasks.to_vec(),
    };
    let good = [task(Level::A, core(2)), task(Level::A, core(0))];
    assert!(Scheduler::new(&with(&[0b101, 0b010], 2, &good)).is_ok());
    for bad in [&[0b011][..], &[], &[0b011, 0b110], &[0b111, 0], &[0b1111], &[0b011, 0b1100]] {
        assert_eq!(refused(&with(bad, 2, &good)), PolicyConfigError::Clusters, "{bad:?}");
    }
    assert_eq!(refused(&with(&[0b111], 1, &good)), PolicyConfigError::PriorityCount(1));
    assert_eq!(refused(&with(&[0b111], 1, &[task(Level::A, None)])), PolicyConfigError::NoCore(TaskId(0)));
}

#[test]
fn mc2_refuses_tables_and_budgets_that_cannot_work() {
    let slot = |task, start, end| Slot { task: TaskId(task), start: ms(start), end: ms(end) };
    let with = |slots: Vec<Slot>, edit: &dyn Fn(&mut PolicyConfig)| {
        let tables = vec![Table { cycle: ms(10), slots }, Table::default()];
        let mc2 = Mc2 { enforce: true, slack_shifting: true, allowance: Duration::ZERO, tables };
        let tasks = vec![task(Level::A, core(0)), task(Level::B, core(1)), task(Level::C, None)];
        let mut setup = PolicyConfig { cores: 2, kind: PolicySpec::Mc2(mc2), tasks };
        edit(&mut setup);
        setup
    };
    let good = vec![slot(0, 0, 3), slot(0, 3, 4), slot(0, 9, 10)];
    assert!(Scheduler::new(&with(good.clone(), &|_| {})).is_ok());

    for bad in [slot(0, 2, 5), slot(0, 5, 5), slot(0, 9, 11), slot(0, 7, 6)] {
        let error = refused(&with(vec![good[0], bad], &|_| {}));
        assert_eq!(error, PolicyConfigError::SlotBounds(CoreId(0), 1), "{bad:?}");
    }
    for stranger in [1, 2, 3] {
        let error = refused(&with(vec![good[0], slot(stranger, 4, 5)], &|_| {}));
        assert_eq!(error, PolicyConfigError::SlotTask(CoreId(0), 1), "task {stranger}");
    }
    assert_eq!(refused(&with(vec![], &|_| {})), PolicyConfigError::NoSlot(TaskId(0)));
    assert_eq!(refused(&with(good.clone(), &|s| s.tasks[1].core = None)), PolicyConfigError::NoCore(TaskId(1)));
    assert_eq!(refused(&with(good.clone(), &|s| s.tasks[0].core = core(1))), PolicyConfigError::SlotTask(CoreId(0), 0));
    assert_eq!(refused(&with(good.clone(), &|s| s.cores = 3)), PolicyConfigError::TableCount(2));
    let no_budget = |s: &mut PolicyConfig| s.tasks[2].budget = Duration::ZERO;
    assert_eq!(refused(&with(good.clone(), &no_budget)), PolicyConfigError::ZeroBudget(TaskId(2)));
    let not_enforced = |s: &mut PolicyConfig| {
        no_budget(s);
        if let PolicySpec::Mc2(mc2) = &mut s.kind {
            mc2.enforce = false;
        }
    };
    assert!(Scheduler::new(&with(good, &not_enforced)).is_ok());
}

/// Two tasks with priority 1 each under this order, and these thresholds.
fn thresholds(order: TaskOrder, thresholds: Vec<Option<u32>>, queues: Vec<CoreSet>) -> PolicyConfig {
    let (cores, quantum) = (CoreSet::first(queues.len()), Duration::ZERO);
    let all = queues.iter().fold(0, |all, queue| all | queue.bits());
    let cores = CoreSet::from_bits(cores.bits() | all);
    let root = Server { parent: 0, cores, order, queues, quantum, supply: None, priority: 0, background: false };
    let (offset, period, budget) = (Duration::ZERO, ms(10), ms(1));
    let task = Task { level: Level::A, core: core(0), offset, period, deadline: period, budget };
    let place = TaskPlacement { server: 0, priority: 1, overrun: Overrun::Continue };
    let tree = Tree {
        servers: vec![root],
        places: vec![place; 2],
        releases: Vec::new(),
        waits: Vec::new(),
        line: Duration::ZERO,
        seed: 0,
    };
    let kind = PolicySpec::Resources(tactus_policy::ResourceTree {
        tree,
        thresholds,
        resources: Vec::new(),
        events: Vec::new(),
    });
    PolicyConfig { cores: cores.iter().count(), kind, tasks: vec![task; 2] }
}

#[test]
fn a_budget_of_write_backs_is_stored_and_belongs_to_a_server_of_misses() {
    let made = |kind, write_backs| {
        let plain = thresholds(TaskOrder::EarliestDeadline, vec![None; 2], vec![CoreSet::first(1)]);
        let PolicySpec::Resources(tactus_policy::ResourceTree { mut tree, .. }) = plain.kind else { unreachable!() };
        let supply = Some(Supply { kind, budget: ms(2), period: ms(10), write_backs });
        tree.servers.push(Server { supply, ..tree.servers[0].clone() });
        tree.places[1].server = 1;
        tree.line = Duration::from_nanos(30);
        PolicyConfig { kind: PolicySpec::Servers(tree), ..plain }
    };
    for write_backs in [None, Some(ms(1))] {
        let setup = made(ServerKind::Misses, write_backs);
        assert_eq!(PolicyConfig::decode(&setup.encode()).as_ref(), Ok(&setup));
        assert_eq!(Scheduler::new(&setup).err(), None);
    }
    for (kind, write_backs) in [(ServerKind::Misses, ms(11)), (ServerKind::Deferrable, ms(1))] {
        let refused = Scheduler::new(&made(kind, Some(write_backs))).err();
        assert_eq!(refused, Some(PolicyConfigError::ServerSupply(1)));
    }
}

#[test]
fn preemption_thresholds_are_stored_and_what_cannot_be_is_refused() {
    let one = || vec![CoreSet::first(1)];
    let good = thresholds(TaskOrder::FixedPriority, vec![None, Some(1)], one());
    assert_eq!(PolicyConfig::decode(&good.encode()), Ok(good.clone()));
    assert!(Scheduler::new(&good).is_ok());
    let refused = |setup: PolicyConfig| Scheduler::new(&setup).err();
    let below = thresholds(TaskOrder::FixedPriority, vec![None, Some(0)], one());
    assert_eq!(refused(below), Some(PolicyConfigError::Threshold(TaskId(1))));
    let by_deadline = thresholds(TaskOrder::EarliestDeadline, vec![Some(1), None], one());
    assert_eq!(refused(by_deadline), Some(PolicyConfigError::Threshold(TaskId(0))));
    let few = thresholds(TaskOrder::FixedPriority, vec![None], one());
    assert_eq!(refused(few), Some(PolicyConfigError::PlaceCount(1)));
    let shared = thresholds(TaskOrder::FixedPriority, vec![None, Some(1)], vec![CoreSet::first(2)]);
    assert_eq!(refused(shared), Some(PolicyConfigError::CeilingTree));
}

#[test]
fn resources_are_stored_and_what_cannot_be_is_refused() {
    let setup = |users: &[u16], overrun| {
        let mut setup = thresholds(TaskOrder::EarliestDeadline, vec![None, None], vec![CoreSet::first(1)]);
        let PolicySpec::Resources(all) = &mut setup.kind else { panic!("it has resources") };
        all.tree.places[1].overrun = overrun;
        let user = |task: &u16| ResourceUser { task: TaskId(*task), longest: ms(3) };
        for (n, protocol) in
            ResourceProtocol::ALL.into_iter().filter(|it| *it != ResourceProtocol::Inheritance).enumerate()
        {
            let (order, withdrawn) = (n as u16, n == 1);
            all.resources.push(Resource { protocol, order, withdrawn, users: users.iter().map(user).collect() });
        }
        setup
    };
    let good = setup(&[1, 0], Overrun::Skip);
    assert_eq!(PolicyConfig::decode(&good.encode()), Ok(good.clone()));
    assert!(Scheduler::new(&good).is_ok());
    let refused = |users: &[u16], overrun| Scheduler::new(&setup(users, overrun)).err();
    for (users, overrun) in [(&[0, 0][..], Overrun::Skip), (&[2], Overrun::Skip), (&[0, 1], Overrun::Kill)] {
        assert_eq!(refused(users, overrun), Some(PolicyConfigError::ResourceUser(0)), "{users:?}");
    }
    // Where jobs that have begun may wait, there are no ceilings.
    let mut mixed = setup(&[0, 1], Overrun::Skip);
    let PolicySpec::Resources(all) = &mut mixed.kind else { panic!("it has resources") };
    all.resources[1].protocol = ResourceProtocol::Inheritance;
    assert_eq!(Scheduler::new(&mixed).err(), Some(PolicyConfigError::InheritanceBesideCeilings(1)));
    let PolicySpec::Resources(all) = &mut mixed.kind else { panic!("it has resources") };
    all.resources.iter_mut().for_each(|it| it.protocol = ResourceProtocol::Inheritance);
    assert_eq!(PolicyConfig::decode(&mixed.encode()), Ok(mixed.clone()));
    assert!(Scheduler::new(&mixed).is_ok());
}

#[test]
fn what_releases_tasks_is_stored_and_what_cannot_be_is_refused() {
    let setup = |releases: Vec<Release>, overrun| {
        let cores = CoreSet::first(1);
        let (order, supply, quantum) = (TaskOrder::EarliestDeadline, None, Duration::ZERO);
        let root =
            Server { parent: 0, cores, order, queues: vec![cores], quantum, supply, priority: 0, background: false };
        let places = vec![TaskPlacement { server: 0, priority: 0, overrun }; releases.len()];
        let task = Task {
            level: Level::A,
            core: core(0),
            offset: Duration::ZERO,
            period: ms(10),
            deadline: ms(10),
            budget: ms(1),
        };
        let tasks = vec![task; releases.len()];
        let tree = Tree { servers: vec![root], places, releases, waits: Vec::new(), line: Duration::ZERO, seed: 0 };
        PolicyConfig { cores: 1, kind: PolicySpec::Servers(tree), tasks }
    };
    let (delay, drop) = (EarlyArrival::Delay, EarlyArrival::Drop);
    let after = |task, early| Release::After(TaskId(task), early);
    let burst = Release::Bursts(EarlyArrival::Fault, Burst { jitter: ms(30), distance: ms(1) });
    let sporadic = [Release::Periodic, Release::Sporadic(delay), Release::Sporadic(drop), burst];
    let all = [&sporadic[..], &[after(0, delay), after(3, drop), Release::Jittered(ms(150))]].concat();
    let every = setup(all, Overrun::Continue);
    assert_eq!(PolicyConfig::decode(&every.encode()), Ok(every.clone()));
    assert!(Scheduler::new(&every).is_ok());
    let refused = |releases, overrun| Scheduler::new(&setup(releases, overrun)).err();
    let own = refused(vec![after(0, delay)], Overrun::Continue);
    assert_eq!(own, Some(PolicyConfigError::Predecessor(TaskId(0))));
    let nobody = refused(vec![Release::Periodic, after(2, delay)], Overrun::Continue);
    assert_eq!(nobody, Some(PolicyConfigError::Predecessor(TaskId(1))));
    for release in [Release::Sporadic(delay), Release::Jittered(ms(1))] {
        let stops = refused(vec![release], Overrun::Stop);
        assert_eq!(stops, Some(PolicyConfigError::StopWithoutPeriods(TaskId(0))));
    }
    let late = refused(vec![Release::Periodic, Release::Jittered(ms(160))], Overrun::Continue);
    assert_eq!(late, Some(PolicyConfigError::Jitter(TaskId(1))));
}
