//! What jobs take: the same numbers for ever, whatever the order of asking, and of the distribution that was asked for.

use std::path::PathBuf;
use tactus_model::{Body, Demand, Machine, Policy, System, Task};
use tactus_time::{Duration, Level, TaskId};

fn task(demand: Demand) -> Task {
    Task {
        name: "t".into(),
        level: None,
        core: None,
        offset: Duration::ZERO,
        period: Duration::from_millis(100),
        deadline: Duration::from_millis(100),
        execution: [Some(Duration::from_millis(10)); 4],
        demand,
        minimum: None,
        memory: 0,
        body: Body::Workload,
        line: 1,
    }
}

fn uniform() -> Task {
    task(Demand::Uniform { min: Duration::from_millis(1), max: Duration::from_millis(3) })
}

fn beta(probability: f64, mean: f64, deviation: f64) -> Task {
    task(Demand::Beta {
        usual: Duration::from_millis(2),
        scale: Duration::from_millis(100),
        probability,
        mean,
        deviation,
    })
}

/// Demands in milliseconds of the first jobs of one task.
fn sample(task: &Task, jobs: u32) -> Vec<f64> {
    (0..jobs).map(|job| task.demand(7, TaskId(3), job).as_millis_f64()).collect()
}

fn mean_and_deviation(sample: &[f64]) -> (f64, f64) {
    let n = sample.len() as f64;
    let mean = sample.iter().sum::<f64>() / n;
    let variance = sample.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (mean, variance.sqrt())
}

/// Recomputed by another implementation of SplitMix64 (Steele, Lea and Flood 2014).
const UNIFORM: [u64; 4] = [2_659_396, 1_079_735, 2_739_837, 1_371_851];
/// Both shapes above 1: Cheng's algorithm BB.
const BETA_BB: [u64; 4] = [34_545_059, 54_282_884, 51_330_285, 32_483_207];
/// One shape below 1: Cheng's algorithm BC.
const BETA_BC: [u64; 4] = [1_000, 362_971, 93_965, 1_000];

#[test]
fn drawn_times_never_change_from_version_to_version() {
    let nanos = |task: &Task| [0, 1, 2, 1_000_000].map(|job| task.demand(42, TaskId(5), job).as_nanos());
    assert_eq!(nanos(&uniform()), UNIFORM);
    assert_eq!(nanos(&beta(1.0, 0.6, 0.15)), BETA_BB);
    assert_eq!(nanos(&beta(1.0, 0.05, 0.1)), BETA_BC);
}
#[test]
fn the_order_of_asking_does_not_matter() {
    for task in [uniform(), beta(0.5, 0.3, 0.1)] {
        let forward: Vec<_> = (0..500).map(|job| task.demand(1, TaskId(0), job)).collect();
        let mut backward: Vec<_> = (0..500).rev().map(|job| task.demand(1, TaskId(0), job)).collect();
        backward.reverse();
        assert_eq!(forward, backward);
    }
}

#[test]
fn seed_task_and_job_each_change_what_is_drawn() {
    let task = uniform();
    let base = task.demand(1, TaskId(1), 1);
    assert_ne!(base, task.demand(2, TaskId(1), 1));
    assert_ne!(base, task.demand(1, TaskId(2), 1));
    assert_ne!(base, task.demand(1, TaskId(1), 2));
    // Neighbours are as unlike as strangers: correlation of successive jobs, and of the same job of two tasks.
    let n = 20_000;
    let centred = |task_id: u16, shift: u32| -> Vec<f64> {
        (0..n).map(|job| task.demand(9, TaskId(task_id), job + shift).as_millis_f64() - 2.0).collect()
    };
    let correlation =
        |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>() / f64::from(n) / (4.0 / 12.0);
    assert!(correlation(&centred(0, 0), &centred(0, 1)).abs() < 0.03);
    assert!(correlation(&centred(0, 0), &centred(1, 0)).abs() < 0.03);
}

#[test]
fn uniform_times_fill_their_range_evenly() {
    let sample = sample(&uniform(), 40_000);
    assert!(sample.iter().all(|x| (1.0..=3.0).contains(x)));
    let (mean, deviation) = mean_and_deviation(&sample);
    assert!((mean - 2.0).abs() < 0.02, "{mean}");
    assert!((deviation - 2.0 / 12.0_f64.sqrt()).abs() < 0.01, "{deviation}");
    let point = task(Demand::Uniform { min: Duration::from_millis(2), max: Duration::from_millis(2) });
    assert_eq!(point.demand(1, TaskId(0), 0), Duration::from_millis(2));
}

#[test]
fn beta_times_have_the_mean_and_deviation_that_were_asked_for() {
    for (mean, deviation) in [(0.05, 0.1), (0.5, 0.1), (0.6, 0.15), (0.9, 0.1)] {
        let sample = sample(&beta(1.0, mean, deviation), 40_000);
        assert!(sample.iter().all(|x| (0.0..=100.0).contains(x)));
        let (m, d) = mean_and_deviation(&sample);
        assert!((m - 100.0 * mean).abs() < 0.25, "mean {mean}: {m}");
        assert!((d - 100.0 * deviation).abs() < 0.25, "deviation {deviation}: {d}");
    }
}

#[test]
fn the_setting_of_the_robustness_experiment_rarely_exceeds_half_the_scale() {
    // Mean 0.05 and deviation 0.10 give P(X > 0.5) = 0.91 %.
    let sample = sample(&beta(1.0, 0.05, 0.10), 100_000);
    let share = sample.iter().filter(|x| **x > 50.0).count() as f64 / 100_000.0;
    assert!((share - 0.0091).abs() < 0.0015, "{share}");
}

#[test]
fn the_probability_says_how_many_jobs_are_out_of_the_ordinary() {
    let sample = sample(&beta(0.1, 0.5, 0.1), 50_000);
    let usual = sample.iter().filter(|x| **x == 2.0).count() as f64 / 50_000.0;
    assert!((usual - 0.9).abs() < 0.01, "{usual}");
    let never = beta(0.0, 0.5, 0.1);
    assert!((0..1_000).all(|job| never.demand(1, TaskId(0), job) == Duration::from_millis(2)));
}

#[test]
fn a_list_is_repeated_and_no_job_takes_less_than_a_microsecond() {
    let us = Duration::from_micros;
    let list = task(Demand::List(vec![us(10), us(20), Duration::from_nanos(5)]));
    let taken: Vec<_> = (0..5).map(|job| list.demand(1, TaskId(0), job)).collect();
    assert_eq!(taken, [us(10), us(20), us(1), us(10), us(20)]);
}

#[test]
fn at_a_level_every_job_takes_the_time_of_that_level() {
    let ms = Duration::from_millis;
    let with = |level, execution| Task { level: Some(level), execution, ..uniform() };
    let mut system = System {
        name: "s".into(),
        source: PathBuf::new(),
        cores: 1,
        memory: 0,
        duration: ms(1000),
        seed: 1,
        policy: Policy::Mc2 { enforce: true, slack_shifting: true },
        chains: Vec::new(),
        services: Vec::new(),
        slots: Vec::new(),
        loads: Vec::new(),
        channels: Vec::new(),
        mailboxes: Vec::new(),
        machine: Machine { shift: 3, processor: Default::default(), overheads: true, beside: 0 },
        tasks: vec![
            with(Level::A, [Some(ms(30)), Some(ms(20)), Some(ms(10)), Some(ms(10))]),
            with(Level::B, [None, Some(ms(9)), Some(ms(5)), Some(ms(5))]),
            with(Level::C, [Some(ms(8)), None, Some(ms(4)), Some(ms(4))]),
            with(Level::D, [None, None, None, Some(ms(2))]),
        ],
        components: Vec::new(),
        scheduling: tactus_model::Scheduling::default(),
        platform: tactus_model::Platform::default(),
        disks: Vec::new(),
        linux: Vec::new(),
        monitors: Vec::new(),
        notes: Vec::new(),
    };
    let mut at = |level| {
        system.at_level(level);
        let tasks = system.tasks.iter().enumerate();
        tasks.map(|(i, task)| task.demand(1, TaskId(i as u16), 7)).collect::<Vec<_>>()
    };
    assert_eq!(at(Level::A), [ms(30), ms(9), ms(8), ms(2)]);
    assert_eq!(at(Level::B), [ms(20), ms(9), ms(4), ms(2)]);
    assert_eq!(at(Level::C), [ms(10), ms(5), ms(4), ms(2)]);
    assert_eq!(at(Level::D), [ms(10), ms(5), ms(4), ms(2)]);
}
