//! Tasks inside a server of one core: their response times, and the server that they need.

use crate::arguments::{choose, Time};
use crate::error::input;
use crate::taskset::TaskSet;
use pyo3::prelude::*;
use tactus_analysis::effort::Effort;
use tactus_analysis::reservation::design::{least_bandwidth, least_budget, usual_periods, Price, Workload};
use tactus_analysis::reservation::local::{responses, Local};
use tactus_analysis::reservation::supply::Server;
use tactus_analysis::task::Sporadic;
use tactus_model::ServerKind;
use tactus_time::Duration;

/// The kinds whose supply follows from budget and period.
fn kinds() -> Vec<(&'static str, ServerKind)> {
    ServerKind::ALL.into_iter().filter(|kind| kind.has_sure_supply()).map(|kind| (kind.key(), kind)).collect()
}
const ORDERS: [(&str, Local); 2] = [("fp", Local::FixedPriority), ("edf", Local::EarliestDeadline)];

/// The tasks as the tests take them, and where each stands in the set.
fn sorted(tasks: &TaskSet) -> (Vec<Sporadic>, Vec<usize>) {
    let (order, all) = (tasks.by_priority(), tasks.sporadic());
    (order.iter().map(|&i| all[i]).collect(), order)
}

/// The response bound of each task in a server whose budget is always served within its period.
#[pyfunction]
#[pyo3(signature = (tasks, kind, budget, period, order="edf"))]
fn server_responses(
    py: Python<'_>,
    tasks: &TaskSet,
    kind: &str,
    budget: Time,
    period: Time,
    order: &str,
) -> PyResult<Vec<Option<u64>>> {
    let (kind, local) = (choose("kind of server", kind, &kinds())?, choose("order", order, &ORDERS)?);
    let (budget, period) = (budget.positive("budget")?, period.positive("period")?);
    if budget > period {
        return Err(input(format!("the budget, {budget}, is more than the period, {period}")));
    }
    let (sorted, order) = sorted(tasks);
    let supply = Server::new(kind, budget, period).supply(period);
    let found = py.detach(|| responses(&sorted, local, Duration::ZERO, &supply, &mut Effort::default()));
    let mut bounds = vec![None; sorted.len()];
    order.iter().zip(found).for_each(|(&i, bound)| bounds[i] = bound.map(Duration::as_nanos));
    Ok(bounds)
}

/// The least budget per period of a server in which every deadline is met; nothing if none does.
#[pyfunction]
#[pyo3(signature = (tasks, kind, period, order="edf"))]
fn server_budget(py: Python<'_>, tasks: &TaskSet, kind: &str, period: Time, order: &str) -> PyResult<Option<u64>> {
    let (kind, local) = (choose("kind of server", kind, &kinds())?, choose("order", order, &ORDERS)?);
    let period = period.positive("period")?;
    let (sorted, _) = sorted(tasks);
    let workload = Workload { tasks: &sorted, policy: local, blocking: Duration::ZERO };
    let found = py.detach(|| least_budget(&workload, kind, period, Effort::default()));
    Ok(found.map(Duration::as_nanos))
}

/// Budget, period and bandwidth of the server with least bandwidth; nothing if there is none.
#[pyfunction]
#[pyo3(signature = (tasks, kind, order="edf", periods=None, overhead=None))]
fn server_design(
    py: Python<'_>,
    tasks: &TaskSet,
    kind: &str,
    order: &str,
    periods: Option<Vec<Time>>,
    overhead: Option<Time>,
) -> PyResult<Option<(u64, u64, f64)>> {
    let (kind, local) = (choose("kind of server", kind, &kinds())?, choose("order", order, &ORDERS)?);
    let (sorted, _) = sorted(tasks);
    let periods = match periods {
        Some(periods) => periods.iter().map(|time| time.positive("period")).collect::<PyResult<Vec<_>>>()?,
        None => usual_periods(&sorted),
    };
    let per_period = overhead.map_or(Ok(Duration::ZERO), |time| time.length("overhead"))?;
    let workload = Workload { tasks: &sorted, policy: local, blocking: Duration::ZERO };
    let price = Price { per_period, least_budget: Duration::ZERO };
    let found = py.detach(|| least_bandwidth(&workload, kind, periods, price, Effort::default()));
    Ok(found.map(|it| (it.server.budget.as_nanos(), it.server.period.as_nanos(), it.bandwidth as f64 / 1e6)))
}

/// Puts everything into the module.
pub fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(server_responses, module)?)?;
    module.add_function(wrap_pyfunction!(server_budget, module)?)?;
    module.add_function(wrap_pyfunction!(server_design, module)?)
}
