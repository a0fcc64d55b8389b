//! Two criticality levels on one processor.

use crate::arguments::{choose, Time};
use crate::error::input;
use pyo3::prelude::*;
use tactus_analysis::effort::Effort;
use tactus_analysis::mixed::{amc_max, amc_rtb, edf_vd, priorities, smc, Promise};
use tactus_time::Duration;

/// A task with two criticality levels.
#[pyclass(module = "tactus", frozen, eq, from_py_object)]
#[derive(Clone, PartialEq)]
pub struct Dual(tactus_analysis::mixed::Dual);

#[pymethods]
impl Dual {
    #[new]
    #[pyo3(signature = (low, period, deadline=None, *, high=None))]
    fn new(low: Time, period: Time, deadline: Option<Time>, high: Option<Time>) -> PyResult<Dual> {
        let (low, period) = (low.positive("low")?, period.positive("period")?);
        let deadline = deadline.map_or(Ok(period), |time| time.positive("deadline"))?;
        let critical = high.is_some();
        let high = high.map_or(Ok(low), |time| time.positive("high"))?;
        if high < low {
            return Err(input(format!("high is {high}, less than low, {low}")));
        }
        Ok(Dual(tactus_analysis::mixed::Dual { low, high, period, deadline, critical }))
    }
    #[getter]
    fn low(&self) -> u64 {
        self.0.low.as_nanos()
    }
    #[getter]
    fn high(&self) -> Option<u64> {
        self.0.critical.then_some(self.0.high.as_nanos())
    }
    #[getter]
    fn period(&self) -> u64 {
        self.0.period.as_nanos()
    }
    #[getter]
    fn deadline(&self) -> u64 {
        self.0.deadline.as_nanos()
    }
    #[getter]
    fn critical(&self) -> bool {
        self.0.critical
    }
    fn __repr__(&self) -> String {
        let high = if self.0.critical { format!(", high=\"{}\"", self.0.high) } else { String::new() };
        format!("Dual(\"{}\", \"{}\", \"{}\"{high})", self.0.low, self.0.period, self.0.deadline)
    }
}

type Responses = fn(&[tactus_analysis::mixed::Dual], &mut Effort) -> Vec<Promise>;

const FIXED: [(&str, Responses); 3] =
    [("amc-rtb", amc_rtb::promises), ("amc-max", amc_max::promises), ("smc", smc::promises)];

/// The response bounds of each task in both modes under fixed priorities, the most urgent task first.
#[pyfunction]
fn mixed_responses(py: Python<'_>, test: &str, tasks: Vec<Dual>) -> PyResult<Vec<(Option<u64>, Option<u64>)>> {
    let promises = choose("test of mixed criticality", test, &FIXED)?;
    let tasks: Vec<_> = tasks.into_iter().map(|task| task.0).collect();
    let ns = |bound: Option<Duration>| bound.map(Duration::as_nanos);
    let found = py.detach(|| promises(&tasks, &mut Effort::default()));
    Ok(found.into_iter().map(|promise| (ns(promise.low), ns(promise.high))).collect())
}

/// An order of priorities, the most urgent first, in which every task keeps its promises; found as Audsley does.
#[pyfunction]
fn mixed_priorities(py: Python<'_>, test: &str, tasks: Vec<Dual>) -> PyResult<Option<Vec<usize>>> {
    let promises = choose("test of mixed criticality", test, &FIXED)?;
    let tasks: Vec<_> = tasks.into_iter().map(|task| task.0).collect();
    Ok(py.detach(|| {
        let order = priorities::audsley(tasks.len(), |task, above| {
            // The verdict on a task does not hang on the order above it, as long as those above are in time: by deadline
            // they mostly are.
            let mut set: Vec<_> = above.iter().map(|&i| tasks[i]).collect();
            set.sort_by_key(|task| task.deadline);
            set.push(tasks[task]);
            promises(&set, &mut Effort::default()).last().is_some_and(|promise| promise.keeps(&tasks[task]))
        })?;
        // Whatever was assumed on the way, the answer is checked as a whole.
        let set: Vec<_> = order.iter().map(|&i| tasks[i]).collect();
        let kept = promises(&set, &mut Effort::default());
        kept.iter().zip(&set).all(|(promise, task)| promise.keeps(task)).then_some(order)
    }))
}

/// The relative deadlines of the LO mode under EDF-VD, and whether plain EDF does; nothing if the set is not accepted.
#[pyfunction]
fn edf_vd_deadlines(tasks: Vec<Dual>) -> Option<(Vec<u64>, bool)> {
    let tasks: Vec<_> = tasks.into_iter().map(|task| task.0).collect();
    let plan = edf_vd::plan(&tasks)?;
    Some((plan.low_mode.into_iter().map(Duration::as_nanos).collect(), plan.plain))
}

/// Puts everything into the module.
pub fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(mixed_responses, module)?)?;
    module.add_function(wrap_pyfunction!(mixed_priorities, module)?)?;
    module.add_function(wrap_pyfunction!(edf_vd_deadlines, module)?)
}
