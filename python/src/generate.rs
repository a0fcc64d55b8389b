//! Task sets drawn at random, the same for a seed for ever.

use crate::arguments::{choose, cores, Time};
use crate::error::input;
use crate::taskset::{Task, TaskSet};
use pyo3::prelude::*;
use tactus_analysis::generate::distributions::{fill, log_uniform, PERIODS, UTILISATIONS};
use tactus_analysis::generate::{self as draw, published, Random};

/// The names of distributions of utilisations.
#[pyfunction]
fn utilisation_names() -> Vec<&'static str> {
    UTILISATIONS.iter().map(|(name, ..)| *name).collect()
}

/// The names of distributions of periods.
#[pyfunction]
fn period_names() -> Vec<&'static str> {
    PERIODS.iter().map(|(name, _)| *name).collect()
}

/// One set whose utilisations are drawn from a distribution until their sum is at most `slack` below `cap`.
#[pyfunction]
#[pyo3(signature = (utilisations, periods, cap, seed, number=0, cores=None))]
fn draw_set(
    utilisations: &str,
    periods: &str,
    cap: f64,
    seed: u64,
    number: u64,
    cores: Option<usize>,
) -> PyResult<TaskSet> {
    let all = UTILISATIONS.map(|(name, drawn, slack)| (name, (drawn, slack)));
    let (drawn, slack) = choose("distribution of utilisations", utilisations, &all)?;
    let periods_drawn = choose("distribution of periods", periods, &PERIODS)?;
    let cores = cores.map(self::cores).transpose()?;
    if !(cap > 0.0 && cap <= 4096.0) {
        return Err(input(format!("the cap is {cap}; give more than 0 and at most 4096")));
    }
    let mut random = Random::at(seed, &[number]);
    let mut tasks = Vec::new();
    if !fill(&mut tasks, &mut random, (drawn, periods_drawn), cap, slack) {
        return Err(input(format!("{utilisations} gives no set with a utilisation of {} to {cap}", cap - slack)));
    }
    Ok(TaskSet::drawn(format!("{utilisations}-{periods}-{seed}-{number}"), cores, &tasks))
}

/// `n` utilisations with this sum.
#[pyfunction]
#[pyo3(signature = (method, n, total, seed, number=0, low=0.0, high=1.0))]
fn draw_utilisations(
    method: &str,
    n: usize,
    total: f64,
    seed: u64,
    number: u64,
    low: f64,
    high: f64,
) -> PyResult<Vec<f64>> {
    let numbers = [total, low, high].iter().all(|x| x.is_finite());
    if n > 100_000 || !numbers || low < 0.0 || low > high {
        return Err(input("give at most 100,000 values, and 0 ≤ low ≤ high"));
    }
    let mut random = Random::at(seed, &[number]);
    let found = match method {
        "uunifast-discard" if low > 0.0 => return Err(input("uunifast-discard has no lower limit; use randfixedsum")),
        "uunifast-discard" => draw::uunifast_discard(&mut random, n, total, high, 10_000),
        "randfixedsum" => draw::randfixedsum(&mut random, n, total, low, high),
        "drs" => draw::drs(&mut random, &vec![(low, high); n], total),
        _ => {
            let known = "uunifast-discard, randfixedsum, drs";
            return Err(input(format!("there is no method {method:?}; choose one of {known}")));
        }
    };
    found.ok_or_else(|| input(format!("{method} finds no {n} values between {low} and {high} with the sum {total}")))
}

/// Utilisations between limits of their own.
#[pyfunction]
#[pyo3(signature = (limits, total, seed, number=0))]
fn draw_within(limits: Vec<(f64, f64)>, total: f64, seed: u64, number: u64) -> PyResult<Vec<f64>> {
    let found = draw::drs(&mut Random::at(seed, &[number]), &limits, total);
    found.ok_or_else(|| input(format!("there are no values within these limits with the sum {total}")))
}

/// Tasks of these utilisations with log-uniform periods that are multiples of `step`.
#[pyfunction]
#[pyo3(signature = (utilisations, shortest, longest, seed, number=0, step=None, cores=None))]
fn draw_periods(
    utilisations: Vec<f64>,
    shortest: Time,
    longest: Time,
    seed: u64,
    number: u64,
    step: Option<Time>,
    cores: Option<usize>,
) -> PyResult<TaskSet> {
    let (low, high) = (shortest.positive("shortest")?.as_nanos(), longest.positive("longest")?.as_nanos());
    let step = step.map_or(Ok(1_000), |time| time.positive("step").map(|step| step.as_nanos()))?;
    let cores = cores.map(self::cores).transpose()?;
    if low > high || utilisations.is_empty() || !utilisations.iter().all(|u| (0.0..=1.0).contains(u)) {
        return Err(input("give one utilisation at least, each from 0 to 1, and a shortest period below the longest"));
    }
    // Its own stream: the one of the utilisations with this seed has been used.
    let mut random = Random::at(seed, &[number, 1]);
    let task = |u: f64| {
        let period = log_uniform(&mut random, low, high, step);
        draw::Task { execution: ((u * period as f64) as u64).max(1), period, deadline: period }
    };
    let tasks: Vec<draw::Task> = utilisations.into_iter().map(task).collect();
    Ok(TaskSet::drawn(format!("drawn-{seed}-{number}"), cores, &tasks))
}

/// The fixed applications of the JUNIPER report: each task with its platform (1, 2, or 0 for the background) and its priority.
#[pyfunction]
fn juniper() -> Vec<(u8, Task)> {
    let place = |(n, placed): (usize, published::Placed)| {
        let mut set = TaskSet::drawn(String::new(), None, &[placed.task]).0;
        let mut task = set.tasks.remove(0);
        (task.name, task.priority) = (format!("t{}", n + 1), Some(placed.priority.into()));
        (placed.platform, Task(task))
    };
    published::juniper().into_iter().enumerate().map(place).collect()
}

/// A set of the overhead experiment of MC² (RTAS 2012): each task with its level.
#[pyfunction]
#[pyo3(signature = (n, cores, capacities, seed, number=0))]
fn mc2_overheads(n: usize, cores: usize, capacities: usize, seed: u64, number: u64) -> PyResult<Vec<(char, Task)>> {
    let capacities = published::MC2_CAPACITIES.get(capacities).copied();
    let capacities = capacities.ok_or_else(|| input("capacities: give 0, 1 or 2"))?;
    if !(3..=10_000).contains(&n) {
        return Err(input(format!("{n} tasks; give 3 to 10,000")));
    }
    let drawn = published::mc2_overheads(&mut Random::at(seed, &[number]), n, self::cores(cores)?, capacities);
    let name = |(n, levelled): (usize, published::Levelled)| {
        let mut set = TaskSet::drawn(String::new(), None, &[levelled.task]).0;
        let mut task = set.tasks.remove(0);
        task.name = format!("t{}", n + 1);
        (['A', 'B', 'C'][usize::from(levelled.level.min(2))], Task(task))
    };
    Ok(drawn.into_iter().enumerate().map(name).collect())
}

/// Puts everything into the module.
pub fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(utilisation_names, module)?)?;
    module.add_function(wrap_pyfunction!(period_names, module)?)?;
    module.add_function(wrap_pyfunction!(draw_set, module)?)?;
    module.add_function(wrap_pyfunction!(draw_utilisations, module)?)?;
    module.add_function(wrap_pyfunction!(draw_within, module)?)?;
    module.add_function(wrap_pyfunction!(draw_periods, module)?)?;
    module.add_function(wrap_pyfunction!(juniper, module)?)?;
    module.add_function(wrap_pyfunction!(mc2_overheads, module)?)
}
