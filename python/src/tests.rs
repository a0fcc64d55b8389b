//! Schedulability tests by name.

use crate::arguments::{choose, cores};
use crate::table::{Columns, Table};
use crate::taskset::TaskSet;
use pyo3::prelude::*;
use tactus_analysis::effort::Effort;
use tactus_analysis::global::edf::{Memory, Test as GlobalEdf};
use tactus_analysis::global::{fixed_priority as global_fp, set::Set, tardiness};
use tactus_analysis::partitioned::{assign, semi, Fit, Local, Order};
use tactus_analysis::task::{Dedicated, Sporadic};
use tactus_analysis::uniprocessor as one;
use tactus_time::Duration;

/// A test.
#[derive(Clone, Copy)]
pub enum Test {
    LiuLayland,
    Hyperbolic,
    HarmonicChains,
    FixedPriority,
    EdfDemand,
    EdfResponse,
    NonPreemptiveFixedPriority,
    NonPreemptiveEdf,
    GlobalEdf(GlobalEdf),
    AnyGlobalEdf,
    Tardiness,
    GlobalFixedPriorityBcl,
    GlobalFixedPriorityResponse,
    Partitioned(Local, Fit, Order),
    SemiPartitioned,
}

/// Every test by its name: the policy, then the test as the literature calls it.
const TESTS: [(&str, Test); 29] = [
    ("rm/liu-layland", Test::LiuLayland),
    ("rm/hyperbolic", Test::Hyperbolic),
    ("rm/harmonic-chains", Test::HarmonicChains),
    ("fp/response", Test::FixedPriority),
    ("edf/demand", Test::EdfDemand),
    ("edf/response", Test::EdfResponse),
    ("np-fp/response", Test::NonPreemptiveFixedPriority),
    ("np-edf/response", Test::NonPreemptiveEdf),
    ("global-edf/gfb", Test::GlobalEdf(GlobalEdf::Gfb)),
    ("global-edf/bak", Test::GlobalEdf(GlobalEdf::Bak)),
    ("global-edf/bcl", Test::GlobalEdf(GlobalEdf::Bcl)),
    ("global-edf/bcl-iterative", Test::GlobalEdf(GlobalEdf::BclIterative)),
    ("global-edf/rta", Test::GlobalEdf(GlobalEdf::Rta)),
    ("global-edf/bar", Test::GlobalEdf(GlobalEdf::Bar)),
    ("global-edf/load", Test::GlobalEdf(GlobalEdf::Load)),
    ("global-edf/ff-dbf", Test::GlobalEdf(GlobalEdf::FfDbf)),
    ("global-edf/any", Test::AnyGlobalEdf),
    ("global-edf/tardiness", Test::Tardiness),
    ("global-fp/bcl", Test::GlobalFixedPriorityBcl),
    ("global-fp/response", Test::GlobalFixedPriorityResponse),
    ("partitioned-edf/ffd", Test::Partitioned(Local::Edf, Fit::First, Order::Decreasing)),
    ("partitioned-edf/bfd", Test::Partitioned(Local::Edf, Fit::Best, Order::Decreasing)),
    ("partitioned-edf/wfd", Test::Partitioned(Local::Edf, Fit::Worst, Order::Decreasing)),
    ("partitioned-edf/nfd", Test::Partitioned(Local::Edf, Fit::Next, Order::Decreasing)),
    ("partitioned-dm/ffd", Test::Partitioned(Local::DeadlineMonotonic, Fit::First, Order::Decreasing)),
    ("partitioned-dm/bfd", Test::Partitioned(Local::DeadlineMonotonic, Fit::Best, Order::Decreasing)),
    ("partitioned-dm/wfd", Test::Partitioned(Local::DeadlineMonotonic, Fit::Worst, Order::Decreasing)),
    ("partitioned-dm/nfd", Test::Partitioned(Local::DeadlineMonotonic, Fit::Next, Order::Decreasing)),
    ("semi-partitioned-edf/cd-split", Test::SemiPartitioned),
];

/// Whether every task's bound is within its deadline.
fn in_time(tasks: &[Sporadic], bounds: &[Option<Duration>]) -> bool {
    tasks.iter().zip(bounds).all(|(task, bound)| bound.is_some_and(|bound| bound <= task.deadline))
}

/// The response bound of each task under fixed priorities, in the order of the set.
fn by_priority(
    set: &TaskSet,
    bound: impl Fn(&[Sporadic], usize, &mut Effort) -> Option<Duration>,
) -> Vec<Option<Duration>> {
    let (tasks, order) = (set.sporadic(), set.by_priority());
    let sorted: Vec<Sporadic> = order.iter().map(|&i| tasks[i]).collect();
    let mut bounds = vec![None; tasks.len()];
    for (place, &i) in order.iter().enumerate() {
        bounds[i] = bound(&sorted, place, &mut Effort::default());
    }
    bounds
}

impl Test {
    /// On one core only: more of them help nothing.
    fn of_one_core(self) -> bool {
        use Test::{EdfDemand, EdfResponse, FixedPriority, HarmonicChains, Hyperbolic, LiuLayland};
        let preemptive =
            matches!(self, LiuLayland | Hyperbolic | HarmonicChains | FixedPriority | EdfDemand | EdfResponse);
        preemptive || matches!(self, Test::NonPreemptiveFixedPriority | Test::NonPreemptiveEdf)
    }

    /// Bounds on response times, from arrivals; nothing if the test gives none, none for a task without a bound.
    fn responses(self, set: &TaskSet, m: usize) -> Option<Vec<Option<Duration>>> {
        let tasks = set.sporadic();
        let all = |bounds: Option<Vec<Duration>>| {
            Some(bounds.map_or_else(|| vec![None; tasks.len()], |bounds| bounds.into_iter().map(Some).collect()))
        };
        match self {
            Test::FixedPriority => Some(by_priority(set, |sorted, place, effort| {
                one::fixed_priority::response(&sorted[place], &sorted[..place], Duration::ZERO, &Dedicated, effort)
            })),
            Test::NonPreemptiveFixedPriority => Some(by_priority(set, |sorted, place, effort| {
                one::nonpreemptive_fp::response(&sorted[place], &sorted[..place], &sorted[place + 1..], effort)
            })),
            Test::EdfResponse => {
                all(one::edf_response::responses(&tasks, Duration::ZERO, &Dedicated, &mut Effort::default()))
            }
            Test::NonPreemptiveEdf => all(one::nonpreemptive_edf::responses(&tasks, &mut Effort::default())),
            Test::GlobalFixedPriorityResponse => {
                let order = set.by_priority();
                let sorted: Vec<Sporadic> = order.iter().map(|&i| tasks[i]).collect();
                let found = global_fp::responses(&sorted, m, &mut Effort::default());
                let mut bounds = vec![None; tasks.len()];
                order.iter().zip(found).for_each(|(&i, bound)| bounds[i] = bound);
                Some(bounds)
            }
            Test::Tardiness => {
                let found = tardiness::bounds(&tasks, &vec![tardiness::Supply::full(); m]);
                let late = |(task, late): (&Sporadic, Duration)| task.deadline.checked_add(late);
                Some(match found {
                    Ok(found) => tasks.iter().zip(found).map(late).collect(),
                    Err(_) => vec![None; tasks.len()],
                })
            }
            _ => None,
        }
    }

    /// Whether the test shows that every deadline is met; for the tardiness test, that tardiness is bounded.
    fn accepts(self, set: &TaskSet, m: usize, memory: &mut Memory) -> bool {
        let tasks = set.sporadic();
        match self {
            Test::LiuLayland => one::utilisation_bounds::liu_layland(&tasks),
            Test::Hyperbolic => one::utilisation_bounds::hyperbolic(&tasks),
            Test::HarmonicChains => one::harmonic::harmonic_chains(&tasks),
            Test::EdfDemand => {
                let demand = one::edf_demand::schedulable(&tasks, Duration::ZERO, &Dedicated, &mut Effort::default());
                demand == one::edf_demand::Demand::Fits
            }
            Test::GlobalEdf(test) => test.accepts(&Set::of(&tasks), m, memory),
            Test::AnyGlobalEdf => tactus_analysis::global::edf::any(&Set::of(&tasks), m, memory),
            Test::GlobalFixedPriorityBcl => {
                let sorted: Vec<Sporadic> = set.by_priority().iter().map(|&i| tasks[i]).collect();
                global_fp::bcl(&sorted, m)
            }
            Test::Partitioned(..) => self.cores_of(set, m).is_some(),
            Test::SemiPartitioned => semi::split(&tasks, m).is_ok(),
            Test::Tardiness => self.responses(set, m).is_some_and(|bounds| bounds.iter().all(Option::is_some)),
            _ => self.responses(set, m).is_some_and(|bounds| in_time(&tasks, &bounds)),
        }
    }

    fn cores_of(self, set: &TaskSet, m: usize) -> Option<Vec<usize>> {
        let Test::Partitioned(local, fit, order) = self else { return None };
        let given: Vec<Option<usize>> = set.0.tasks.iter().map(|task| task.core.filter(|core| *core < m)).collect();
        assign(&set.sporadic(), &given, m, local, fit, order).ok()
    }
}

fn named(name: &str, m: usize) -> PyResult<Test> {
    let (test, m) = (choose("test", name, &TESTS)?, cores(m)?);
    if test.of_one_core() && m != 1 {
        return Err(crate::error::input(format!("{name} is a test of one core, and {m} were given")));
    }
    Ok(test)
}

/// The names of all tests.
#[pyfunction]
fn test_names() -> Vec<&'static str> {
    TESTS.iter().map(|(name, _)| *name).collect()
}

/// Whether the test shows that every deadline is met.
#[pyfunction]
#[pyo3(signature = (test, tasks, cores=1))]
fn accepts(py: Python<'_>, test: &str, tasks: &TaskSet, cores: usize) -> PyResult<bool> {
    let test = named(test, cores)?;
    Ok(py.detach(|| test.accepts(tasks, cores, &mut Memory::default())))
}

/// The response bound of each task.
#[pyfunction]
#[pyo3(signature = (test, tasks, cores=1))]
fn responses(py: Python<'_>, test: &str, tasks: &TaskSet, cores: usize) -> PyResult<Vec<Option<u64>>> {
    let found = named(test, cores)?;
    match py.detach(|| found.responses(tasks, cores)) {
        Some(bounds) => Ok(bounds.into_iter().map(|bound| bound.map(Duration::as_nanos)).collect()),
        None => Err(crate::error::input(format!("{test} gives no response times; ask accepts()"))),
    }
}

/// The core of each task, if the heuristic finds one for all.
#[pyfunction]
fn partition(py: Python<'_>, test: &str, tasks: &TaskSet, cores: usize) -> PyResult<Option<Vec<usize>>> {
    let found = named(test, cores)?;
    if !matches!(found, Test::Partitioned(..)) {
        return Err(crate::error::input(format!(
            "{test} binds tasks to no cores; choose a test such as partitioned-edf/ffd"
        )));
    }
    Ok(py.detach(|| found.cores_of(tasks, cores)))
}

/// Every test on every set, with all of the computer's cores: a row for each set, a column for each test.
#[pyfunction]
#[pyo3(signature = (tests, sets, cores=1, threads=None))]
fn accepts_all(
    py: Python<'_>,
    tests: Vec<String>,
    sets: Vec<Py<TaskSet>>,
    cores: usize,
    threads: Option<usize>,
) -> PyResult<Table> {
    let chosen = tests.iter().map(|name| named(name, cores)).collect::<PyResult<Vec<Test>>>()?;
    let all: Vec<&TaskSet> = sets.iter().map(Py::get).collect();
    let threads =
        threads.or_else(|| std::thread::available_parallelism().ok().map(Into::into)).unwrap_or(1).clamp(1, 256);
    let verdicts = py
        .detach(|| {
            // In equal shares of neighbours: sets of one kind cost about the same.
            let share = all.len().div_ceil(threads).max(1);
            let judge = |sets: &[&TaskSet]| -> Vec<Vec<bool>> {
                let mut memory = Memory::default();
                sets.iter()
                    .map(|set| chosen.iter().map(|test| test.accepts(set, cores, &mut memory)).collect())
                    .collect()
            };
            std::thread::scope(|scope| {
                let workers: Vec<_> = all.chunks(share).map(|sets| scope.spawn(|| judge(sets))).collect();
                workers.into_iter().map(|worker| worker.join()).collect::<Result<Vec<_>, _>>()
            })
            .map(|parts| parts.into_iter().flatten().collect::<Vec<Vec<bool>>>())
        })
        .map_err(|_| pyo3::exceptions::PyRuntimeError::new_err("a test failed"))?;
    let columns = Columns::default()
        .text("set", all.iter().map(|set| Some(&set.0.name)))
        .number("tasks", all.iter().map(|set| Some(set.0.tasks.len() as u64)))
        .real("utilisation", all.iter().map(|set| Some(set.0.utilisation())));
    let each = tests.iter().enumerate();
    each.fold(columns, |columns, (n, name)| columns.truth(name, verdicts.iter().map(|row| Some(row[n])))).table()
}

/// Puts everything into the module.
pub fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(test_names, module)?)?;
    module.add_function(wrap_pyfunction!(accepts, module)?)?;
    module.add_function(wrap_pyfunction!(responses, module)?)?;
    module.add_function(wrap_pyfunction!(partition, module)?)?;
    module.add_function(wrap_pyfunction!(accepts_all, module)?)
}
