//! Tasks and task sets, as tests take them and files hold them.

use crate::arguments::{cores, Time};
use crate::error::input;
use crate::system::System;
use crate::table::{Columns, Table};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::{PyIterator, PyList};
use std::path::PathBuf;
use tactus_analysis::task::Sporadic;
use tactus_formats::{self as formats, Format, Options};
use tactus_time::Duration;

/// A sporadic or periodic task.
#[pyclass(module = "tactus", frozen, eq, from_py_object)]
#[derive(Clone, PartialEq)]
pub struct Task(pub formats::Task);

#[pymethods]
impl Task {
    #[new]
    #[pyo3(signature = (execution, period, deadline=None, *, name="", offset=None, jitter=None, core=None, priority=None, memory=0))]
    #[allow(clippy::too_many_arguments)]
    fn new(
        execution: Time,
        period: Time,
        deadline: Option<Time>,
        name: &str,
        offset: Option<Time>,
        jitter: Option<Time>,
        core: Option<usize>,
        priority: Option<u32>,
        memory: u64,
    ) -> PyResult<Task> {
        let period = period.positive("period")?;
        let optional = |time: Option<Time>, what| time.map_or(Ok(Duration::ZERO), |time| time.length(what));
        Ok(Task(formats::Task {
            name: name.to_string(),
            execution: execution.positive("execution")?,
            period,
            deadline: deadline.map_or(Ok(period), |time| time.positive("deadline"))?,
            offset: optional(offset, "offset")?,
            jitter: optional(jitter, "jitter")?,
            core,
            priority,
            memory,
        }))
    }
    #[getter]
    fn name(&self) -> &str {
        &self.0.name
    }
    #[getter]
    fn execution(&self) -> u64 {
        self.0.execution.as_nanos()
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
    fn offset(&self) -> u64 {
        self.0.offset.as_nanos()
    }
    #[getter]
    fn jitter(&self) -> u64 {
        self.0.jitter.as_nanos()
    }
    #[getter]
    fn core(&self) -> Option<usize> {
        self.0.core
    }
    #[getter]
    fn priority(&self) -> Option<u32> {
        self.0.priority
    }
    #[getter]
    fn memory(&self) -> u64 {
        self.0.memory
    }
    #[getter]
    fn utilisation(&self) -> f64 {
        self.0.execution.as_nanos() as f64 / self.0.period.as_nanos() as f64
    }
    fn __repr__(&self) -> String {
        let formats::Task { name, execution, period, deadline, .. } = &self.0;
        format!("Task(\"{execution}\", \"{period}\", \"{deadline}\", name={name:?})")
    }
}

/// A task set.
#[pyclass(module = "tactus", frozen, eq, from_py_object)]
#[derive(Clone, PartialEq)]
pub struct TaskSet(pub formats::TaskSet);

impl TaskSet {
    /// As the tests take it.
    pub fn sporadic(&self) -> Vec<Sporadic> {
        let of = |task: &formats::Task| {
            let formats::Task { execution, period, deadline, jitter, .. } = *task;
            Sporadic { execution, period, deadline, jitter }
        };
        self.0.tasks.iter().map(of).collect()
    }

    /// The places of the tasks from the most to the least urgent: by priority where every task has one, else by deadline.
    pub fn by_priority(&self) -> Vec<usize> {
        let tasks = &self.0.tasks;
        let mut order: Vec<usize> = (0..tasks.len()).collect();
        if tasks.iter().all(|task| task.priority.is_some()) {
            order.sort_by_key(|&i| std::cmp::Reverse(tasks[i].priority));
        } else {
            order.sort_by_key(|&i| tasks[i].deadline);
        }
        order
    }

    /// A set of drawn tasks.
    pub fn drawn(name: String, cores: Option<usize>, tasks: &[tactus_analysis::generate::Task]) -> TaskSet {
        let task = |(n, task): (usize, &tactus_analysis::generate::Task)| formats::Task {
            name: format!("t{}", n + 1),
            execution: Duration::from_nanos(task.execution),
            period: Duration::from_nanos(task.period),
            deadline: Duration::from_nanos(task.deadline),
            ..formats::Task::default()
        };
        let tasks = tasks.iter().enumerate().map(task).collect();
        TaskSet(formats::TaskSet { name, cores, tasks, ..formats::TaskSet::default() })
    }
}

fn format(name: Option<&str>, path: Option<&std::path::Path>) -> PyResult<Option<Format>> {
    let names = || Format::ALL.map(Format::name).join(", ");
    match name {
        Some(name) => match Format::named(name) {
            Some(format) => Ok(Some(format)),
            None => Err(input(format!("there is no format {name:?}; choose one of {}", names()))),
        },
        None => Ok(path.and_then(Format::of)),
    }
}

fn options(unit: Option<Time>) -> PyResult<Options> {
    match unit {
        Some(unit) => Ok(Options { unit: unit.positive("unit")? }),
        None => Ok(Options::default()),
    }
}

#[pymethods]
impl TaskSet {
    #[new]
    #[pyo3(signature = (tasks, *, name="tasks", cores=None, policy=None, duration=None))]
    fn new(
        tasks: Vec<Task>,
        name: &str,
        cores: Option<usize>,
        policy: Option<String>,
        duration: Option<Time>,
    ) -> PyResult<TaskSet> {
        if tasks.is_empty() {
            return Err(input("a task set has one task at least"));
        }
        let cores = cores.map(self::cores).transpose()?;
        let duration = duration.map(|time| time.positive("duration")).transpose()?;
        let mut tasks: Vec<formats::Task> = tasks.into_iter().map(|task| task.0).collect();
        for (n, task) in tasks.iter_mut().enumerate() {
            if task.name.is_empty() {
                task.name = format!("t{}", n + 1);
            }
        }
        let name = name.to_string();
        Ok(TaskSet(formats::TaskSet { name, cores, policy, duration, tasks, notes: Vec::new() }))
    }

    /// Reads the only set of a file.
    #[staticmethod]
    #[pyo3(signature = (path, format=None, *, unit=None))]
    fn read(path: PathBuf, format: Option<&str>, unit: Option<Time>) -> PyResult<TaskSet> {
        let mut sets = TaskSet::read_all(path, format, unit)?;
        match sets.len() {
            1 => Ok(sets.remove(0)),
            n => Err(input(format!("the file holds {n} task sets; use TaskSet.read_all"))),
        }
    }

    /// Reads every set of a file.
    #[staticmethod]
    #[pyo3(signature = (path, format=None, *, unit=None))]
    fn read_all(path: PathBuf, format: Option<&str>, unit: Option<Time>) -> PyResult<Vec<TaskSet>> {
        let format = self::format(format, None)?;
        let sets = formats::read(&path, format, &options(unit)?).map_err(input)?;
        Ok(sets.into_iter().map(TaskSet).collect())
    }

    /// Writes the set, and tells what the format could not hold.
    #[pyo3(signature = (path, format=None, *, unit=None))]
    fn write(&self, path: PathBuf, format: Option<&str>, unit: Option<Time>) -> PyResult<Vec<String>> {
        let Some(format) = self::format(format, Some(&path))? else {
            return Err(input(format!("{}: the name does not tell the format; give format=", path.display())));
        };
        let written = formats::write(std::slice::from_ref(&self.0), format, &options(unit)?).map_err(input)?;
        std::fs::write(&path, written.text)?;
        Ok(written.lost)
    }

    /// The text of a file.
    #[pyo3(signature = (format, *, unit=None))]
    fn to_text(&self, format: &str, unit: Option<Time>) -> PyResult<String> {
        let Some(format) = self::format(Some(format), None)? else { return Err(input("give a format")) };
        let written = formats::write(std::slice::from_ref(&self.0), format, &options(unit)?).map_err(input)?;
        Ok(written.text)
    }

    /// The set as a system that can be checked and simulated.
    #[pyo3(signature = (cores=None, policy=None, duration=None, *, name=None))]
    fn system(
        &self,
        cores: Option<usize>,
        policy: Option<String>,
        duration: Option<Time>,
        name: Option<String>,
    ) -> PyResult<System> {
        let mut set = self.0.clone();
        set.cores = cores.or(set.cores);
        set.policy = policy.or(set.policy);
        set.name = name.unwrap_or(set.name);
        if let Some(duration) = duration {
            set.duration = Some(duration.positive("duration")?);
        }
        set.system().map(System).map_err(input)
    }

    /// The same tasks bound to these cores.
    fn bound_to(&self, cores: Vec<usize>) -> PyResult<TaskSet> {
        if cores.len() != self.0.tasks.len() {
            return Err(input(format!("{} cores for {} tasks", cores.len(), self.0.tasks.len())));
        }
        let mut set = self.0.clone();
        for (task, core) in set.tasks.iter_mut().zip(cores) {
            task.core = Some(core);
        }
        Ok(TaskSet(set))
    }

    #[getter]
    fn name(&self) -> &str {
        &self.0.name
    }
    #[getter]
    fn cores(&self) -> Option<usize> {
        self.0.cores
    }
    #[getter]
    fn policy(&self) -> Option<&str> {
        self.0.policy.as_deref()
    }
    #[getter]
    fn duration(&self) -> Option<u64> {
        self.0.duration.map(Duration::as_nanos)
    }
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.0.notes.clone()
    }
    #[getter]
    fn utilisation(&self) -> f64 {
        self.0.utilisation()
    }
    fn __len__(&self) -> usize {
        self.0.tasks.len()
    }
    fn __getitem__(&self, place: isize) -> PyResult<Task> {
        let n = self.0.tasks.len();
        let place = if place < 0 { place + n as isize } else { place };
        let task = usize::try_from(place).ok().and_then(|place| self.0.tasks.get(place));
        task.map(|task| Task(task.clone())).ok_or_else(|| PyIndexError::new_err(format!("there are {n} tasks")))
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        PyList::new(py, self.0.tasks.iter().map(|task| Task(task.clone())))?.try_iter()
    }

    /// A row for each task.
    fn table(&self) -> PyResult<Table> {
        let all = || self.0.tasks.iter();
        let ns = |length: Duration| Some(length.as_nanos());
        Columns::default()
            .text("name", all().map(|t| Some(&t.name)))
            .number("execution_ns", all().map(|t| ns(t.execution)))
            .number("period_ns", all().map(|t| ns(t.period)))
            .number("deadline_ns", all().map(|t| ns(t.deadline)))
            .number("offset_ns", all().map(|t| ns(t.offset)))
            .number("jitter_ns", all().map(|t| ns(t.jitter)))
            .number("core", all().map(|t| t.core.map(|core| core as u64)))
            .number("priority", all().map(|t| t.priority.map(u64::from)))
            .number("memory", all().map(|t| Some(t.memory)))
            .real("utilisation", all().map(|t| Some(t.execution.as_nanos() as f64 / t.period.as_nanos() as f64)))
            .table()
    }

    fn __repr__(&self) -> String {
        format!("TaskSet({:?}, {} tasks, utilisation {:.3})", self.0.name, self.0.tasks.len(), self.0.utilisation())
    }
}
