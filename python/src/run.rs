//! Traces and what they amount to.

use crate::error::input;
use crate::table::{Columns, Table};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tactus_record::Record;
use tactus_report::{Details, Kept};
use tactus_time::{Duration, Instant, TaskId};
use tactus_trace::{self as trace, SegmentKind, Summary, View};

/// The records of a run.
#[pyclass(module = "tactus", frozen)]
pub struct Trace {
    trace: Arc<trace::Trace>,
    /// Names of tasks, as far as they are known.
    names: Arc<Vec<String>>,
    /// Relative deadlines, likewise.
    deadlines: Arc<Vec<Duration>>,
}

impl Trace {
    fn task(&self, task: Option<TaskId>) -> Option<&str> {
        self.names.get(task?.index()).map(String::as_str)
    }
}

fn read(path: &Path) -> PyResult<trace::Trace> {
    trace::Trace::read(path).map_err(|error| input(format!("{}: {error}", path.display())))
}

#[pymethods]
impl Trace {
    /// Reads a `trace.bin`.
    #[staticmethod]
    fn read(path: PathBuf) -> PyResult<Trace> {
        let trace = Arc::new(read(&path)?);
        Ok(Trace { trace, names: Arc::default(), deadlines: Arc::default() })
    }

    /// A row for each record, core after core.
    fn records(&self, py: Python<'_>) -> PyResult<Table> {
        py.detach(|| {
            let all = || self.trace.cores.iter().flatten();
            let level = |r: &Record| Some(u64::from(r.level));
            Columns::default()
                .number("time_ns", all().map(|r| Some(r.time.as_nanos())))
                .number("core", all().map(|r| Some(r.core.0.into())))
                .text("kind", all().map(|r| Some(format!("{:?}", r.kind))))
                .number("task_id", all().map(|r| r.task.map(|task| task.0.into())))
                .text("task", all().map(|r| self.task(r.task)))
                .number("job", all().map(|r| Some(r.job.into())))
                .number("level", all().map(level))
                .number("arg", all().map(|r| Some(r.arg)))
                .number("ticket", all().map(|r| Some(r.ticket.into())))
                .table()
        })
    }

    /// A row for each job, in the order in which their releases were noticed.
    fn jobs(&self, py: Python<'_>) -> PyResult<Table> {
        py.detach(|| {
            let jobs = trace::jobs(&self.trace);
            let all = || jobs.iter();
            let at = |time: Option<Instant>| time.map(Instant::as_nanos);
            let deadline = |task: TaskId| self.deadlines.get(task.index()).copied();
            let due = |job: &trace::Job| deadline(job.task).map(|d| job.release.saturating_add(d));
            Columns::default()
                .number("task_id", all().map(|j| Some(j.task.0.into())))
                .text("task", all().map(|j| self.task(Some(j.task))))
                .number("job", all().map(|j| Some(j.job.into())))
                .number("release_ns", all().map(|j| at(Some(j.release))))
                .number("noticed_ns", all().map(|j| at(Some(j.noticed))))
                .number("started_ns", all().map(|j| at(j.started)))
                .number("completed_ns", all().map(|j| at(j.completed)))
                .number("removed_ns", all().map(|j| at(j.removed)))
                .number("deadline_ns", all().map(|j| due(j).map(Instant::as_nanos)))
                .number("response_ns", all().map(|j| j.response().map(Duration::as_nanos)))
                .number("tardiness_ns", all().map(|j| Some(j.completed?.since(due(j)?).as_nanos())))
                .number("charged_ns", all().map(|j| j.completed.map(|_| j.charged.as_nanos())))
                .number("core", all().map(|j| j.core.map(|core| core.0.into())))
                .number("preemptions", all().map(|j| Some(j.preemptions.into())))
                .number("migrations", all().map(|j| Some(j.migrations.into())))
                .number("exhausted", all().map(|j| Some(j.exhausted.into())))
                .table()
        })
    }

    /// A row for each stretch of time of each core: what it did from when to when.
    fn schedule(&self, py: Python<'_>) -> PyResult<Table> {
        py.detach(|| {
            let segments = trace::schedule(&self.trace);
            let all = || segments.iter();
            let kind = |kind| match kind {
                SegmentKind::Run => "run",
                SegmentKind::Ghost => "ghost",
                SegmentKind::Scheduler => "scheduler",
                SegmentKind::Idle => "idle",
            };
            Columns::default()
                .number("core", all().map(|s| Some(s.core.0.into())))
                .number("start_ns", all().map(|s| Some(s.start.as_nanos())))
                .number("end_ns", all().map(|s| Some(s.end.as_nanos())))
                .text("kind", all().map(|s| Some(kind(s.kind))))
                .number("task_id", all().map(|s| s.task.map(|task| task.0.into())))
                .text("task", all().map(|s| self.task(s.task)))
                .number("job", all().map(|s| s.task.map(|_| s.job.into())))
                .table()
        })
    }

    /// Writes a `trace.bin`.
    fn write(&self, path: PathBuf) -> PyResult<()> {
        self.trace.write(&path).map_err(|error| input(format!("{}: {error}", path.display())))
    }

    /// How many records there are on each core.
    #[getter]
    fn records_per_core(&self) -> Vec<usize> {
        self.trace.cores.iter().map(Vec::len).collect()
    }
    /// How many records did not fit, on each core.
    #[getter]
    fn dropped(&self) -> Vec<u64> {
        self.trace.dropped.clone()
    }
    fn __len__(&self) -> usize {
        self.trace.cores.iter().map(Vec::len).sum()
    }
    fn __repr__(&self) -> String {
        format!("Trace({} cores, {} records)", self.trace.cores.len(), self.__len__())
    }
}

/// A run, held against what was promised for it.
#[pyclass(module = "tactus", frozen)]
pub struct Run {
    trace: Arc<trace::Trace>,
    kept: Kept,
    summary: Summary,
}

impl Run {
    /// Judges a trace.
    pub fn judged(trace: trace::Trace, view: View, details: Details) -> Run {
        let kept = Kept { view, details };
        let summary = kept.judge(&trace);
        Run { trace: Arc::new(trace), kept, summary }
    }
}

#[pymethods]
impl Run {
    /// Reads a folder of results, as `./tactus run`, `./tactus simulate` and `Run.save` leave it.
    #[staticmethod]
    fn read(py: Python<'_>, folder: PathBuf) -> PyResult<Run> {
        let path = folder.join("run.json");
        let text = std::fs::read_to_string(&path).map_err(|error| input(format!("{}: {error}", path.display())))?;
        let kept = Kept::from_json(&text).map_err(|why| input(format!("{}: {why}", path.display())))?;
        let trace = read(&folder.join("trace.bin"))?;
        py.detach(|| Ok(Run::judged(trace, kept.view, kept.details)))
    }

    /// Writes `trace.bin`, `run.json`, `summary.json`, `trace.pftrace` and `report.html` into the folder.
    fn save(&self, py: Python<'_>, folder: PathBuf) -> PyResult<()> {
        py.detach(|| {
            std::fs::create_dir_all(&folder)?;
            let write = |name: &str, bytes: &[u8]| std::fs::write(folder.join(name), bytes);
            write("trace.bin", &self.trace.to_bytes())?;
            write("run.json", self.kept.to_json().as_bytes())?;
            write("summary.json", self.summary.to_json().as_bytes())?;
            write("trace.pftrace", &trace::perfetto(&self.kept.view, &self.trace))?;
            let page = tactus_report::html(&self.kept.view, &self.trace, &self.summary, &self.kept.details);
            write("report.html", page.as_bytes())?;
            Ok(())
        })
    }

    /// Whether every promise was kept, and no component was lost.
    #[getter]
    fn kept(&self) -> bool {
        self.summary.verdict.held()
    }
    /// Whether analysis accepted the system, so that its bounds are promises.
    #[getter]
    fn accepted(&self) -> bool {
        self.summary.accepted
    }
    /// Every figure of `summary.json`.
    #[getter]
    fn summary<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = py.import("json")?.call_method1("loads", (self.summary.to_json(),))?;
        Ok(dict.cast_into::<PyDict>()?)
    }
    /// The records.
    #[getter]
    fn trace(&self) -> Trace {
        let names = self.kept.view.tasks.iter().map(|task| task.name.clone()).collect();
        let deadlines = self.kept.view.tasks.iter().map(|task| task.deadline).collect();
        Trace { trace: self.trace.clone(), names: Arc::new(names), deadlines: Arc::new(deadlines) }
    }

    /// See `Trace.records`.
    fn records(&self, py: Python<'_>) -> PyResult<Table> {
        self.trace().records(py)
    }
    /// See `Trace.jobs`.
    fn jobs(&self, py: Python<'_>) -> PyResult<Table> {
        self.trace().jobs(py)
    }
    /// See `Trace.schedule`.
    fn schedule(&self, py: Python<'_>) -> PyResult<Table> {
        self.trace().schedule(py)
    }

    /// A row for each task: its jobs, responses and tardiness beside what was promised.
    fn tasks(&self) -> PyResult<Table> {
        let all = || self.summary.tasks.iter();
        Columns::default()
            .text("name", all().map(|t| Some(&t.name)))
            .text("level", all().map(|t| t.level.map(|level| level.to_string())))
            .number("core", all().map(|t| t.core.map(|core| core.0.into())))
            .number("released", all().map(|t| Some(t.jobs.released)))
            .number("completed", all().map(|t| Some(t.jobs.completed)))
            .number("missed", all().map(|t| Some(t.jobs.missed)))
            .number("response_median_ns", all().map(|t| t.response.map(|r| r.median.as_nanos())))
            .number("response_p99_ns", all().map(|t| t.response.map(|r| r.p99.as_nanos())))
            .number("response_max_ns", all().map(|t| t.response.map(|r| r.max.as_nanos())))
            .number("tardiness_max_ns", all().map(|t| Some(t.tardiness_max.as_nanos())))
            .number("charged_max_ns", all().map(|t| t.charged.map(|c| c.max.as_nanos())))
            .text("bound", all().map(|t| t.promise.map(trace::Bound::kind)))
            .number("bound_ns", all().map(|t| t.promise.map(|bound| bound.length().as_nanos())))
            .real("worst_over_bound", all().map(|t| t.worst_over_bound))
            .number("preemptions", all().map(|t| Some(t.preemptions)))
            .number("migrations", all().map(|t| Some(t.migrations)))
            .table()
    }

    fn __repr__(&self) -> String {
        let verdict = if self.kept() { "kept" } else { "not kept" };
        format!("Run({:?}, {} jobs, promises {verdict})", self.summary.system, self.summary.total.released)
    }
}
