//! Random systems are what they are said to be.

use crate::common::*;
use std::collections::HashSet;
use tactus_formats::{to_toml, Unwritable};
use tactus_generate::{any, changing, changing_levels, generate, lasting, tree, DEEPEST, POLICIES};
use tactus_model::{policy_key, Action, Demand, Migration, Part, Policy, ServerKind, System, TaskOrder};
use tactus_time::{Duration, Level};

#[test]
fn a_seed_gives_one_system_and_another_seed_another() {
    let text = |seed| to_toml(&generate(seed)).unwrap();
    assert_eq!(text(11), text(11));
    let different: HashSet<String> = (0..50).map(text).collect();
    assert_eq!(different.len(), 50);
}

#[test]
fn the_seeds_cover_every_policy_core_count_and_load() {
    let systems: Vec<_> = (0..200).map(generate).collect();
    let policies: HashSet<_> = systems.iter().map(|s| policy_key(&s.policy)).collect();
    assert_eq!(policies.len(), 7);
    let cores: HashSet<_> = systems.iter().map(|s| s.cores).collect();
    assert_eq!(cores, (1..=8).collect());
    let sizes = || systems.iter().map(|s| s.tasks.len());
    assert!(sizes().min() < Some(8) && sizes().max() > Some(100));
    assert!(sizes().all(|n| (5..=120).contains(&n)));
    let load = |s: &tactus_model::System| {
        let parts = s.tasks.iter().filter(|t| t.level != Some(Level::D));
        let sum: f64 =
            parts.map(|t| t.execution[2].or(t.execution[1]).unwrap().as_secs_f64() / t.period.as_secs_f64()).sum();
        sum / s.cores as f64
    };
    let loads: Vec<f64> = systems.iter().map(load).collect();
    assert!(loads.iter().any(|l| *l < 0.45) && loads.iter().any(|l| *l > 1.0), "{loads:?}");
    assert!(loads.iter().all(|l| *l < 1.25), "{loads:?}");
}

#[test]
fn the_load_asked_for_is_the_load_drawn() {
    for seed in (0..70).filter(|seed| (seed % POLICIES.len() as u64) < 4) {
        let draw = tactus_generate::Draw::from_seed(seed);
        let system = draw.system();
        assert_eq!(system.tasks.len(), draw.tasks);
        // Short jobs are made longer and odd ones cut, so only systems whose jobs are long enough are exact.
        let shortest = system.tasks.iter().map(|t| t.execution[0].unwrap()).min().unwrap();
        if shortest > us(50) {
            let load: f64 =
                system.tasks.iter().map(|t| t.execution[0].unwrap().as_secs_f64() / t.period.as_secs_f64()).sum();
            let per_core = load / draw.cores as f64;
            assert!((per_core - draw.utilisation).abs() < 0.01, "seed {seed}: {per_core} for {draw:?}");
        }
    }
}

#[test]
fn every_task_makes_sense() {
    for system in (0..200).map(generate) {
        for task in &system.tasks {
            let own = task.execution[task.level.unwrap_or_default().index()].unwrap();
            assert!(own <= task.deadline && task.deadline <= task.period, "{task:?}");
            assert!(task.offset < task.period);
            let bound = match system.policy {
                Policy::PartitionedRm | Policy::PartitionedEdf | Policy::Mixed(_) => true,
                Policy::GlobalRm | Policy::GlobalEdf => false,
                Policy::Ordered { spread, .. } => spread == tactus_model::Migration::Partitioned,
                Policy::Partitions => true,
                Policy::Mc2 { .. } => task.level.unwrap() <= Level::B,
            };
            assert_eq!(task.core.is_some(), bound);
            assert!(task.core.is_none_or(|c| c.index() < system.cores));
            assert_eq!(task.level.is_some(), system.policy.has_levels());
            let known: Vec<Duration> = task.execution.into_iter().flatten().collect();
            assert!(known.windows(2).all(|pair| pair[0] >= pair[1]), "{task:?}");
        }
    }
}

#[test]
fn level_a_always_has_a_table() {
    for system in (0..140).map(generate) {
        let setup = setup_of(&system, Duration::ZERO);
        tactus_policy::Scheduler::new(&setup).map(drop).unwrap_or_else(|e| panic!("{}: {e}", system.name));
    }
}

#[test]
fn what_lies_outside_of_the_file_is_not_written() {
    let mut system = generate(0);
    system.tasks[2].demand = Demand::List(vec![ms(1)]);
    assert_eq!(to_toml(&system), Err(Unwritable::List { task: "t2".into() }));
}

#[test]
fn a_system_file_reads_back_as_the_system() {
    let plain = (0..140).map(generate).chain((0..140).map(tree));
    for system in plain.chain((0..140).filter_map(changing)).chain((0..40).map(changing_levels)) {
        let text = to_toml(&system).unwrap();
        let mut read = tactus_model::System::parse_toml(&text, &system.source)
            .unwrap_or_else(|problems| panic!("{}:\n{problems}\n{text}", system.name));
        read.tasks.iter_mut().for_each(|task| task.line = 0);
        read.scheduling.servers.iter_mut().for_each(|server| server.line = 0);
        read.scheduling.changes.iter_mut().for_each(|change| change.line = 0);
        read.notes.clear();
        let (read, drawn) = (format!("{read:#?}"), format!("{system:#?}"));
        let apart = read.lines().zip(drawn.lines()).find(|(read, drawn)| read != drawn);
        assert!(read == drawn, "{}: {apart:?}\n{text}", system.name);
    }
}

#[test]
fn trees_have_every_order_spread_kind_of_server_and_depth_and_make_a_scheduler() {
    let systems: Vec<_> = (0..300).map(tree).collect();
    for system in &systems {
        let setup = tactus_plan::setup(system, Vec::new(), &[]);
        tactus_policy::Scheduler::new(&setup).map(drop).unwrap_or_else(|e| panic!("{}: {e}", system.name));
        assert!(system.tasks.len() <= 120, "{}", system.tasks.len());
    }
    let servers = || systems.iter().flat_map(|s| &s.scheduling.servers);
    let mut found: Vec<(Migration, TaskOrder)> = servers().map(|server| (server.spread, server.order)).collect();
    found.extend(systems.iter().filter_map(|s| match s.policy {
        Policy::Ordered { spread, order } => Some((spread, order)),
        _ => None,
    }));
    for spread in [Migration::Partitioned, Migration::Clustered, Migration::Global] {
        assert!(TaskOrder::ALL.iter().all(|order| found.contains(&(spread, *order))), "{spread:?}");
    }
    let kinds: HashSet<_> = servers().map(|server| format!("{:?}", server.kind)).collect();
    let charges = |kind: &ServerKind| kind.has_time_budget() && *kind != ServerKind::Reclaiming;
    assert_eq!(kinds.len(), ServerKind::ALL.iter().filter(|kind| charges(kind)).count());
    let depth = |system: &System| {
        let deep = |mut at: Option<usize>| {
            let mut depth = 0;
            while let Some(server) = at {
                (depth, at) = (depth + 1, system.scheduling.servers[server].parent);
            }
            depth
        };
        (0..system.scheduling.servers.len()).map(|n| deep(Some(n))).max().unwrap_or(0)
    };
    let depths: HashSet<_> = systems.iter().map(depth).collect();
    assert_eq!(depths, (0..=DEEPEST).collect());
    assert!(servers().any(|server| server.kind == ServerKind::PriorityInheriting));
}

#[test]
fn all_systems_together_are_the_two_families_in_turn() {
    let names: Vec<_> = (6..10).map(|seed| any(seed).name).collect();
    assert_eq!(names, ["generated-3", "tree-3", "generated-4", "tree-4"]);
}

#[test]
fn changing_systems_have_every_order_depth_and_kind_of_change_and_make_a_scheduler() {
    let systems: Vec<_> = (0..300).filter_map(changing).collect();
    assert!(systems.len() > 200, "{}", systems.len());
    let (mut orders, mut kinds, mut depths, mut wide) =
        (HashSet::new(), HashSet::new(), HashSet::new(), HashSet::new());
    for system in &systems {
        tactus_policy::Scheduler::new(&setup_of(system, Duration::ZERO))
            .map(drop)
            .unwrap_or_else(|e| panic!("{}: {e}", system.name));
        let Policy::Ordered { spread, order } = system.policy else { panic!("{:?}", system.policy) };
        orders.insert(format!("{spread:?} {order:?}"));
        let servers = &system.scheduling.servers;
        assert!(spread == Migration::Partitioned || servers.is_empty());
        for change in &system.scheduling.changes {
            let around = match change.part {
                Part::Task(n) => system.scheduling.places[n].server,
                Part::Server(n) => servers[n].parent,
            };
            depths.insert(std::iter::successors(around, |server| servers[*server].parent).count());
            if let Part::Server(n) = change.part {
                wide.insert((format!("{:?}", servers[n].spread), servers[n].cores.iter().count() > 1));
            }
            let what = match change.action {
                Action::Add => "add",
                Action::Remove => "remove",
                Action::Alter(values) if values.time.is_some() => "time",
                Action::Alter(values) if values.period.is_some() => "period",
                Action::Alter(_) => "priority",
            };
            kinds.insert((matches!(change.part, Part::Task(_)), what));
        }
    }
    assert_eq!(orders.len(), 3 * TaskOrder::ALL.len(), "{orders:?}");
    assert_eq!(kinds.len(), 10, "{kinds:?}");
    assert_eq!(depths, (0..=DEEPEST).collect());
    assert_eq!(wide.len(), 6, "{wide:?}");
    let load = |system: &System| {
        let own = system.tasks.iter().map(|task| task.execution[0].unwrap().as_secs_f64() / task.period.as_secs_f64());
        own.sum::<f64>()
    };
    for (seed, system) in (0..40).filter_map(|seed| Some((seed, changing(seed)?))) {
        assert!((load(&system) - load(&tree(seed))).abs() < 1e-9, "the load of {seed} is that of its tree");
    }
}

#[test]
fn systems_with_levels_change_times_at_all_of_them_or_some_and_make_a_scheduler() {
    let mut kinds = HashSet::new();
    for system in (0..100).map(changing_levels) {
        let setup = setup_of(&system, Duration::ZERO);
        tactus_policy::Scheduler::new(&setup).map(drop).unwrap_or_else(|e| panic!("{}: {e}", system.name));
        assert_eq!(setup.kind.changes().len(), system.scheduling.changes.len());
        for change in &system.scheduling.changes {
            let what = match change.action {
                Action::Add => "add",
                Action::Remove => "remove",
                Action::Alter(values) => match values.levels.iter().flatten().count() {
                    0 if values.time.is_some() => "time",
                    0 if values.period.is_some() => "period",
                    0 => "priority",
                    1 => "one level",
                    _ => "levels",
                },
            };
            kinds.insert((policy_key(&system.policy), what));
        }
    }
    // AMC alone has priorities; under MC² some tasks have one time.
    assert_eq!(kinds.len(), 19, "{kinds:?}");
}

#[test]
fn a_part_of_all_systems_changes_and_a_shorter_run_keeps_its_changes() {
    let some = (0..200).map(any).filter(|system| !system.scheduling.changes.is_empty()).count();
    assert!((10..150).contains(&some), "{some}");
    let mut system = (0..9).find_map(changing).unwrap();
    let times = |system: &System| system.scheduling.changes.iter().map(|change| change.at).collect::<Vec<_>>();
    let before = times(&system);
    lasting(&mut system, ms(100));
    assert_eq!(system.duration, ms(100));
    assert!(times(&system).iter().zip(&before).all(|(now, then)| now.as_nanos() == then.as_nanos() / 10));
    assert!(before.iter().any(|at| *at > ms(100)), "{before:?}");
}
