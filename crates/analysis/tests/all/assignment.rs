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
    for seed in 0..20 {
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
