//! Deadlines that processes have missed (ARINC 653): those of processes, which are not those of the jobs of their tasks, and by whom.

use crate::jobs::Job;
use crate::summary::ProcessMisses;
use crate::void::Void;
use crate::{Trace, View};
use tactus_record::{EventKind, Record};
use tactus_time::{Instant, TaskId};

/// The misses of each process, by who is to blame, in the order of the first.
pub(crate) fn misses(view: &View, trace: &Trace, jobs: &[Job], void: &[Void]) -> Vec<ProcessMisses> {
    let of_kind = |r: &&Record| r.kind == EventKind::DeadlineMissed;
    let mut records: Vec<&Record> = trace.cores.iter().flatten().filter(of_kind).collect();
    records.sort_by_key(|r| (r.time, r.core));
    let mut all: Vec<ProcessMisses> = Vec::new();
    for record in records {
        let Some((task, name)) = record.task.and_then(|id| Some((id, view.tasks.get(id.index())?.name.clone()))) else {
            continue;
        };
        let (by, why) = blame(record, task, jobs, void);
        let known = all.iter_mut().find(|it| (it.task_id, it.by_id, it.action) == (task, by, action(record.level)));
        if let Some(known) = known {
            known.missed += 1;
            continue;
        }
        all.push(ProcessMisses {
            task_id: task,
            task: name,
            missed: 1,
            deadline: Instant::from_nanos(record.arg),
            noticed: record.time,
            action: action(record.level),
            by_id: by,
            by: view.tasks.get(by.index()).map_or_else(String::new, |task| task.name.clone()),
            why,
        });
    }
    all
}

/// What was done about a miss.
fn action(level: u8) -> &'static str {
    match level {
        1 => "error-handler",
        2 => "restart-process",
        _ => "note",
    }
}

/// Who is to blame, and what it did: whoever took more than was assumed of it, else the process itself.
fn blame(record: &Record, task: TaskId, jobs: &[Job], void: &[Void]) -> (TaskId, String) {
    let deadline = Instant::from_nanos(record.arg);
    let job = jobs.iter().find(|job| (job.task, job.job) == (task, record.job));
    let ended = job.and_then(|job| void.get(task.index())?.ended(job, deadline, deadline));
    if let Some(ended) = ended {
        return (TaskId(ended.culprit as u16), ended.why.to_owned());
    }
    // Its job is over: whatever it did then, it was not to run.
    let waited = job.is_some_and(|job| job.completed.is_some_and(|at| at <= deadline));
    let why = if waited { "it waited" } else { "it was not done, within the time that was assumed of it" };
    (task, why.to_owned())
}
