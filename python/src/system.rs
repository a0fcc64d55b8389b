//! Whole systems: read, checked, simulated.

use crate::arguments::Time;
use crate::error::input;
use crate::run::Run;
use crate::table::{Columns, Table};
use crate::taskset::TaskSet;
use pyo3::prelude::*;
use std::path::PathBuf;
use tactus_analysis::check::QUICK;
use tactus_analysis::effort::Effort;
use tactus_analysis::{Bound, Growth};
use tactus_model::{policy_key, policy_label};
use tactus_plan::costs;
use tactus_report::Details;
use tactus_time::{Duration, Level, TaskId};

/// A system: tasks, policy, machine.
#[pyclass(module = "tactus", frozen)]
pub struct System(pub tactus_model::System);

#[pymethods]
impl System {
    /// Reads a system file (`.toml`) or an rt-app file (`.json`).
    #[staticmethod]
    fn read(path: PathBuf) -> PyResult<System> {
        tactus_model::System::read(&path).map(System).map_err(input)
    }

    /// Reads the text of a system file. Files that it names are looked for beside `source`.
    #[staticmethod]
    #[pyo3(signature = (text, source=None))]
    fn parse(text: &str, source: Option<PathBuf>) -> PyResult<System> {
        let source = source.unwrap_or_else(|| PathBuf::from("system.toml"));
        tactus_model::System::parse_toml(text, &source).map(System).map_err(input)
    }

    /// The text of a system file that reads back as this system.
    fn to_toml(&self) -> PyResult<String> {
        tactus_formats::to_toml(&self.0).map_err(input)
    }

    /// The tasks alone.
    fn task_set(&self) -> PyResult<TaskSet> {
        tactus_formats::TaskSet::of(&self.0).map(TaskSet).map_err(input)
    }

    #[getter]
    fn name(&self) -> &str {
        &self.0.name
    }
    #[getter]
    fn cores(&self) -> usize {
        self.0.cores
    }
    #[getter]
    fn policy(&self) -> &'static str {
        policy_key(&self.0.policy)
    }
    #[getter]
    fn duration(&self) -> u64 {
        self.0.duration.as_nanos()
    }
    #[getter]
    fn seed(&self) -> u64 {
        self.0.seed
    }
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.0.notes.clone()
    }
    fn __len__(&self) -> usize {
        self.0.tasks.len()
    }

    /// A row for each task.
    fn tasks(&self) -> PyResult<Table> {
        let all = || self.0.tasks.iter();
        let level = |level: Level| all().map(move |t| t.execution[level.index()].map(Duration::as_nanos));
        Columns::default()
            .text("name", all().map(|t| Some(&t.name)))
            .text("level", all().map(|t| t.level.map(|level| level.to_string())))
            .number("core", all().map(|t| t.core.map(|core| core.0.into())))
            .number("offset_ns", all().map(|t| Some(t.offset.as_nanos())))
            .number("period_ns", all().map(|t| Some(t.period.as_nanos())))
            .number("deadline_ns", all().map(|t| Some(t.deadline.as_nanos())))
            .number("execution_ns", all().map(|t| Some(t.budget().as_nanos())))
            .number("execution_a_ns", level(Level::A))
            .number("execution_b_ns", level(Level::B))
            .number("execution_c_ns", level(Level::C))
            .number("execution_d_ns", level(Level::D))
            .number("memory", all().map(|t| Some(t.memory)))
            .table()
    }

    /// What can be promised. `costs`: `"measured"`, `"none"` or a file of costs.
    #[pyo3(signature = (costs="measured", *, effort=None))]
    fn check(&self, py: Python<'_>, costs: &str, effort: Option<u64>) -> PyResult<Check> {
        let system = &self.0;
        let costs = costs::named(costs, system).map_err(input)?;
        py.detach(|| {
            let check = tactus_analysis::check(system, &costs);
            let growth = tactus_analysis::sensitivity(system, &costs, effort.map_or(QUICK, Effort::terms));
            Ok(Check { check, growth })
        })
    }

    /// The schedule that the policy makes. `costs` as for `check`; with `"none"` the system's own work takes no time.
    #[pyo3(signature = (duration=None, *, seed=None, at_level=None, costs="none"))]
    fn simulate(
        &self,
        py: Python<'_>,
        duration: Option<Time>,
        seed: Option<u64>,
        at_level: Option<&str>,
        costs: &str,
    ) -> PyResult<Run> {
        let mut system = self.0.clone();
        if let Some(duration) = duration {
            let duration = duration.positive("duration")?;
            system.set_duration(duration, "the argument duration").map_err(|problems| input(problems.to_string()))?;
        }
        system.seed = seed.unwrap_or(system.seed);
        if let Some(name) = at_level {
            if !system.policy.has_levels() {
                let policy = policy_label(&system.policy);
                return Err(input(format!("at_level={name:?}: {policy} knows no levels; leave it out")));
            }
            let level = Level::ALL.into_iter().find(|level| level.to_string() == name);
            system.at_level(level.ok_or_else(|| input(format!("there is no level {name:?}; choose A, B, C or D")))?);
        }
        let costs = costs::CostModel::of_simulation(costs, &system).map_err(input)?;
        py.detach(|| {
            let check = tactus_analysis::check(&system, &costs.counted);
            let made = tactus_plan::plan(&system, &check, costs);
            let demand = |task: TaskId, job| system.tasks[task.index()].demand(system.seed, task, job);
            let boxed = |(task, all)| -> tactus_sim::Arrivals { (task, Box::new(all)) };
            let arrivals = system.arrivals().into_iter().map(boxed).collect();
            let trace = tactus_sim::simulate_with_steps(
                &made.setup,
                system.duration,
                (demand, arrivals),
                made.job_steps(&system),
                &costs.taken,
            );
            let trace = trace.map_err(|error| input(format!("{}: {error}", system.source.display())))?;
            let details = Details {
                machine: "simulator".to_string(),
                seed: system.seed,
                command: "tactus.System.simulate".to_string(),
                ..Details::default()
            };
            Ok(Run::judged(trace, made.view, details))
        })
    }

    fn __repr__(&self) -> String {
        let policy = policy_label(&self.0.policy);
        format!("System({:?}, {} cores, {} tasks, {policy})", self.0.name, self.0.cores, self.0.tasks.len())
    }
}

/// What a check found.
#[pyclass(module = "tactus", frozen)]
pub struct Check {
    check: tactus_analysis::Check,
    growth: Vec<Growth>,
}

#[pymethods]
impl Check {
    #[getter]
    fn accepted(&self) -> bool {
        self.check.accepted
    }
    #[getter]
    fn summary(&self) -> &str {
        &self.check.summary
    }
    #[getter]
    fn findings(&self) -> Vec<Finding> {
        let name = |task: TaskId| self.check.tasks.get(task.index()).map(|verdict| verdict.name.clone());
        let finding = |found: &tactus_analysis::Finding| Finding {
            task: found.task.and_then(name),
            core: found.core.map(|core| core.0),
            line: found.line,
            what: found.what.clone(),
            remedy: found.remedy.clone(),
        };
        self.check.findings.iter().map(finding).collect()
    }

    /// A row for each task: its bound, which test gave it, and by how much its execution time may grow.
    fn tasks(&self) -> PyResult<Table> {
        let all = || self.check.tasks.iter();
        let holder = |task: TaskId| self.check.tasks.get(task.index()).map(|verdict| &verdict.name);
        Columns::default()
            .text("name", all().map(|t| Some(&t.name)))
            .text("level", all().map(|t| t.level.map(|level| level.to_string())))
            .number("core", all().map(|t| t.core.map(|core| core.0.into())))
            .real("utilisation", all().map(|t| Some(t.utilisation as f64 / 1e6)))
            .number("deadline_ns", all().map(|t| Some(t.deadline.as_nanos())))
            .text("bound", all().map(|t| t.bound().map(Bound::kind)))
            .number("bound_ns", all().map(|t| t.bound().map(|bound| bound.length().as_nanos())))
            .truth("met", all().map(|t| Some(!t.fails())))
            .number("slack_ns", all().map(|t| t.slack().map(Duration::as_nanos)))
            .number(
                "may_grow_ns",
                self.growth.iter().map(|growth| match growth {
                    Growth::By(more) => Some(more.as_nanos()),
                    _ => None,
                }),
            )
            .number(
                "must_shrink_ns",
                self.growth.iter().map(|growth| match growth {
                    Growth::Short(less) => Some(less.as_nanos()),
                    _ => None,
                }),
            )
            .text("exceeded_by", all().map(|t| t.exceeded_by.and_then(holder)))
            .text("explanation", all().map(|t| Some(t.explanation())))
            .table()
    }

    /// A row for each core that tasks are bound to: what is asked of it as assumed at each level.
    fn cores(&self) -> PyResult<Table> {
        let all = || self.check.cores.iter();
        let level = |n: usize| all().map(move |core| Some(core.levels[n] as f64 / 1e6));
        Columns::default()
            .number("core", all().map(|core| Some(core.core.0.into())))
            .real("level_a", level(0))
            .real("level_b", level(1))
            .real("level_c", level(2))
            .table()
    }

    fn __repr__(&self) -> String {
        let verdict = if self.check.accepted { "accepted" } else { "not accepted" };
        format!("Check({verdict}: {})", self.check.summary)
    }
    fn __str__(&self) -> String {
        self.check.to_string()
    }
}

/// Something that fails, and what would mend it.
#[pyclass(module = "tactus", frozen, get_all)]
pub struct Finding {
    task: Option<String>,
    core: Option<u8>,
    line: usize,
    what: String,
    remedy: String,
}

#[pymethods]
impl Finding {
    fn __repr__(&self) -> String {
        format!("Finding({:?}; {:?})", self.what, self.remedy)
    }
    fn __str__(&self) -> String {
        match self.line {
            0 => format!("{}; {}", self.what, self.remedy),
            line => format!("line {line}: {}; {}", self.what, self.remedy),
        }
    }
}
