//! What the system's own work cost in a run, as far as its records show: the upper bounds of `docs/how-a-run-works.md`.
//!
//! Late timers, decisions and inter-core events are seen directly. The way from a job's end to the scheduler is what the
//! built-in workload was charged beyond its demand, which it counts from the decision that gave it the core; jobs
//! that kept their core from first to last tell it. The way from a decision to the job's first instruction leaves no
//! record; it is the same way backwards and is taken to cost as much.

use std::collections::HashMap;
use tactus_model::{Body, Costs, System};
use tactus_record::{EventKind, Record};
use tactus_time::{Duration, Instant, TaskId};
use tactus_trace::{Summary, Trace};

/// The longest that each kind of work took.
pub fn costs(system: &System, trace: &Trace, summary: &Summary) -> Costs {
    let seen = &summary.overheads;
    let most = |spread: &Option<tactus_trace::Distribution>| spread.map_or(Duration::ZERO, |spread| spread.max);
    let around = trace.cores.iter().map(|records| around_jobs(system, records)).max().unwrap_or_default();
    Costs {
        release: most(&seen.timer_lateness),
        schedule: most(&seen.schedule),
        switch: around,
        inter_core: most(&seen.inter_core),
        complete: around,
    }
}

/// The longest that a job of this core was charged beyond its demand.
fn around_jobs(system: &System, records: &[Record]) -> Duration {
    let mut most = Duration::ZERO;
    // When the policy was called last, and when the jobs that have had one unbroken stretch began it.
    let mut entered = Instant::ZERO;
    let mut chosen: Option<(TaskId, u32)> = None;
    let mut begun: HashMap<(TaskId, u32), Instant> = HashMap::new();
    for record in records {
        let job = record.task.map(|task| (task, record.job));
        match record.kind {
            EventKind::Enter => entered = record.time,
            EventKind::Dispatch => chosen = job,
            EventKind::Leave => {
                let Some(job) = job else { continue };
                if chosen.take() == Some(job) {
                    begun.insert(job, entered);
                } else {
                    // Interrupted and gone on with: the interruption is charged to it as well.
                    begun.remove(&job);
                }
            }
            EventKind::Preempt | EventKind::Wait | EventKind::Exhausted => {
                job.map(|job| begun.remove(&job));
            }
            EventKind::Complete => {
                let Some((task, number)) = job else { continue };
                let Some(task_of_system) = system.tasks.get(task.index()) else { continue };
                let Some(from) = begun.remove(&(task, number)) else { continue };
                if task_of_system.body == Body::Workload {
                    let demand = task_of_system.demand(system.seed, task, number);
                    let beyond = record.time.since(from).saturating_sub(demand);
                    most = most.max(beyond);
                }
            }
            _ => {}
        }
    }
    most
}

/// The text of a file that `--costs` takes.
pub fn file(costs: &Costs, machine: &str, system: &str) -> String {
    let line = |key: &str, length: Duration| format!("{key} = \"{} ns\"\n", length.as_nanos());
    [
        format!("# Measured on {machine}, in a run of {system}.\n"),
        line("release", costs.release),
        line("schedule", costs.schedule),
        line("switch", costs.switch),
        line("inter_core", costs.inter_core),
        line("complete", costs.complete),
    ]
    .concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tactus_time::CoreId;

    fn system() -> System {
        let text =
            "[system]\ncores = 1\nduration = '10 ms'\n[policy]\nkind = 'partitioned-edf'\n[[task]]\nname = 'a'\n\
            core = 0\nperiod = '10 ms'\nexecution = '1 ms'\n";
        System::parse_toml(text, std::path::Path::new("a.toml")).expect("a good file")
    }

    fn record(micros: u64, kind: EventKind) -> Record {
        let time = Instant::from_nanos(micros * 1_000);
        let task = (kind != EventKind::Enter).then_some(TaskId(0));
        Record { time, arg: 0, job: 0, task, kind, level: 0, core: CoreId(0), ticket: 0 }
    }

    #[test]
    fn the_way_from_a_job_is_what_it_was_charged_beyond_its_demand() {
        let records = [
            record(0, EventKind::Enter),
            record(0, EventKind::Dispatch),
            record(10, EventKind::Leave),
            record(1_017, EventKind::Enter),
            record(1_017, EventKind::Complete),
        ];
        assert_eq!(around_jobs(&system(), &records), Duration::from_micros(17));
    }

    #[test]
    fn a_job_that_was_interrupted_tells_nothing() {
        let records = [
            record(0, EventKind::Enter),
            record(0, EventKind::Dispatch),
            record(10, EventKind::Leave),
            record(500, EventKind::Enter),
            record(900, EventKind::Leave),
            record(1_417, EventKind::Enter),
            record(1_417, EventKind::Complete),
        ];
        assert_eq!(around_jobs(&system(), &records), Duration::ZERO);
    }

    #[test]
    fn the_file_that_is_written_is_the_file_that_is_read() {
        let length = Duration::from_nanos;
        let costs = Costs {
            release: length(1),
            schedule: length(2),
            switch: length(3),
            inter_core: length(4),
            complete: length(1_234_567),
        };
        assert_eq!(tactus_plan::costs::parse(&file(&costs, "m", "s")), Ok(costs));
    }
}
