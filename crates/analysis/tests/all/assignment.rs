//! Tasks bound to cores by heuristics: what is placed passes the check, costs included.

use std::path::Path;
use tactus_analysis::partitioned::{Fit, Order};
use tactus_analysis::{assignment, check, Unassigned};
use tactus_generate::Draw;
use tactus_model::{Costs, Policy, System};
use tactus_time::{CoreId, Duration, Level};

const FITS: [Fit; 4] = [Fit::First, Fit::Best, Fit::Worst, Fit::Next];
const ORDERS: [Order; 3] = [Order::Given, Order::Decreasing, Order::Increasing];

fn costs() -> Costs {
    let us = Duration::from_micros;
    Costs { release: us(3), schedule: us(5), switch: us(2), inter_core: us(4), complete: us(1) }
}

fn example(name: &str) -> System {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name);
    System::read(&path).expect("a shipped example")
}

fn with(system: &System, cores: &[Option<CoreId>]) -> System {
    let mut bound = system.clone();
    bound.tasks.iter_mut().zip(cores).for_each(|(task, core)| task.core = *core);
    bound
}

#[test]
fn whatever_is_placed_on_partitioned_cores_passes_the_whole_check() {
    let mut placed = 0;
    for seed in 0..8 {
        let mut draw = Draw::from_seed(seed);
        draw.tasks = 12;
        draw.duration = Duration::from_secs(2);
        let system = draw.system();
        if !matches!(system.policy, Policy::PartitionedRm | Policy::PartitionedEdf) {
            continue;
        }
        for (fit, order) in FITS.into_iter().flat_map(|fit| ORDERS.map(|order| (fit, order))) {
            match assignment(&system, &costs(), &[], fit, order) {
                Ok(cores) => {
                    assert!(check(&with(&system, &cores), &costs()).accepted, "seed {seed}, {fit:?} {order:?}");
                    placed += 1;
                }
                Err(why) => assert!(matches!(why, Unassigned::Unplaced(_)), "{why}"),
            }
        }
    }
    assert!(placed > 10, "{placed}");
}

#[test]
fn first_fit_fills_fewer_cores_than_worst_fit_and_given_cores_are_kept() {
    let system = example("vehicle.toml");
    let used = |cores: &[Option<CoreId>], core: u8| cores.iter().filter(|c| **c == Some(CoreId(core))).count();
    let first = assignment(&system, &costs(), &[], Fit::First, Order::Decreasing).expect("there is room");
    let worst = assignment(&system, &costs(), &[], Fit::Worst, Order::Decreasing).expect("there is room");
    assert_eq!(used(&first, 7), 0);
    assert!((0..8).all(|core| used(&worst, core) > 5));
    let mut given = vec![None; system.tasks.len()];
    given[3] = Some(CoreId(7));
    let kept = assignment(&system, &costs(), &given, Fit::First, Order::Decreasing).expect("there is room");
    assert_eq!((kept[3], used(&kept, 7)), (Some(CoreId(7)), 1));
}

#[test]
fn under_mc2_levels_a_and_b_are_bound_and_others_are_not() {
    let system = example("avionics.toml");
    let cores = assignment(&system, &costs(), &[], Fit::Worst, Order::Decreasing).expect("there is room");
    for (task, core) in system.tasks.iter().zip(&cores) {
        assert_eq!(core.is_some(), task.level <= Some(Level::B), "{}", task.name);
    }
    assert!(check(&with(&system, &cores), &costs()).accepted);
}

#[test]
fn a_global_policy_binds_no_task() {
    let system = example("global-edf.toml");
    let why = assignment(&system, &costs(), &[], Fit::First, Order::Given).expect_err("nothing to bind");
    assert!(matches!(why, Unassigned::NotBound(_)), "{why}");
}

/// The source's first example (Gracioli 2014, table 14): execution and period in microseconds, colours.
const TABLE_14: [(u64, u64, &str); 8] = [
    (900, 10_000, "[1, 3]"),
    (6_000, 15_000, "[1, 4]"),
    (1_500, 5_000, "[0, 3]"),
    (500, 5_000, "[1, 5]"),
    (1_900, 20_000, "[5]"),
    (2_600, 5_000, "[6]"),
    (2_700, 5_000, "[7, 8, 9]"),
    (10_000, 50_000, "[7, 10]"),
];

/// A system of these tasks on three cores.
fn coloured() -> System {
    let mut text = "[system]\nname = \"x\"\ncores = 3\nduration = \"1 s\"\n[policy]\nkind = \"partitioned-edf\"\n[machine]\ncolours = 16\n\
                    overheads = false\n"
        .to_string();
    for (n, (execution, period, colours)) in TABLE_14.into_iter().enumerate() {
        text += &format!(
            "[[task]]\nname = \"T{n}\"\ncore = 0\nperiod = \"{period} us\"\nexecution = \"{execution} us\"\ncolours = {colours}\n"
        );
    }
    System::parse_toml(&text, Path::new("x.toml")).unwrap_or_else(|problems| panic!("{problems}"))
}

#[test]
fn tasks_whose_colours_meet_go_to_one_core_together_as_the_source_has_it() {
    let cores = |system: &System, given: &[Option<CoreId>]| {
        assignment(system, &costs(), given, Fit::Worst, Order::Decreasing)
            .map(|cores| cores.into_iter().map(|core| core.map_or(9, |core| core.0)).collect::<Vec<_>>())
    };
    let system = coloured();
    assert_eq!(cores(&system, &[]), Ok(vec![0, 0, 0, 0, 0, 2, 1, 1]));
    // Without colours it is plain worst fit, which divides those that share.
    let plain = {
        let mut plain = system.clone();
        plain.platform.colour_assignment = None;
        plain
    };
    assert_eq!(cores(&plain, &[]), Ok(vec![2, 2, 2, 0, 0, 1, 0, 1]));
    let mut given = vec![None; 8];
    (given[6], given[0]) = (Some(CoreId(0)), Some(CoreId(2)));
    assert_eq!(cores(&system, &given), Ok(vec![2, 2, 2, 2, 2, 1, 0, 0]));
    given[7] = Some(CoreId(1));
    let why = cores(&system, &given).expect_err("they share");
    assert_eq!(
        why.to_string(),
        "tasks `T6` and `T7` share colours, and the file binds them to two cores; bind both to one"
    );
    // One more in the first group, and it is too much for a core.
    let mut heavier = system.clone();
    heavier.tasks[4].execution = [Some(Duration::from_micros(3_000)); 4];
    let why = cores(&heavier, &[]).expect_err("1.04 of a core").to_string();
    assert!(why.starts_with("tasks `T0`, `T1`, `T2`, `T3`, `T4` share colours and fit on no core together"), "{why}");
}
