//! What went on while a promise was broken, in figures and in words.

use crate::extend;
use crate::jobs::Job;
use crate::promise::Case;
use crate::{Broken, Cause, SegmentKind, Share, What};
use std::fmt::Write;
use tactus_record::EventKind;
use tactus_time::{Duration, TaskId};

/// Looks at the window from the job's release to its completion, or the end of the run, on the core that the task is
/// bound to, or on all.
pub(crate) fn explain(case: &Case, job: &Job, broken: &Broken) -> Cause {
    let task = &case.view.tasks[job.task.index()];
    let (from, to) = (job.release, job.ended().unwrap_or(case.end));
    let concerned = |core| task.core.is_none_or(|c| c == core);
    let mut cause = Cause { from, to, ..Cause::default() };
    let mut of_task = vec![Duration::ZERO; case.view.tasks.len()];
    for s in case.segments.iter().filter(|s| concerned(s.core) && s.start < to && s.end > from) {
        let time = s.end.min(to).since(s.start.max(from));
        match (s.kind, s.task) {
            (SegmentKind::Run, Some(t)) if (t, s.job) == (job.task, job.job) => extend(&mut cause.own, time),
            (SegmentKind::Run, Some(t)) => {
                if let Some(sum) = of_task.get_mut(t.index()) {
                    extend(sum, time);
                }
            }
            (SegmentKind::Scheduler, _) => extend(&mut cause.scheduler, time),
            (SegmentKind::Idle, _) => extend(&mut cause.idle, time),
            _ => {}
        }
    }
    let cores = if task.core.is_some() { 1 } else { case.view.cores.max(1) };
    let window = to.since(from).as_nanos().max(1) as f64 * cores as f64;
    let share = |time: Duration| time.as_nanos() as f64 / window;
    let ran = of_task.iter().enumerate().filter(|(_, time)| !time.is_zero());
    cause.ran = ran
        .map(|(i, time)| Share {
            task_id: TaskId(i as u16),
            task: case.view.tasks[i].name.clone(),
            time: *time,
            share: share(*time),
        })
        .collect();
    cause.ran.sort_by_key(|s| (std::cmp::Reverse(s.time), s.task_id));
    let within = |r: &&tactus_record::Record| r.time >= from && r.time <= to;
    let records = || case.trace.cores.iter().flatten().filter(within);
    cause.exhausted = job.exhausted > 0;
    cause.fault = records().any(|r| r.kind == EventKind::Fault);

    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = match broken.what {
        What::Tardiness => write!(text, "{} job {} was late", task.name, job.job),
        What::Deadline => write!(text, "{} job {} missed its deadline", task.name, job.job),
        What::Chain => write!(text, "the chain that ends with {} job {} took too long", task.name, job.job),
        _ => write!(text, "{} job {} took longer than its bound", task.name, job.job),
    };
    let limit = broken.limit.unwrap_or_default();
    let actual = broken.actual.unwrap_or_default();
    let _ = match (broken.what, job.completed) {
        (What::Tardiness, _) => write!(text, " by {actual} where {limit} was promised"),
        (_, Some(_)) => write!(text, ": {actual} where {limit} was promised"),
        (_, None) => write!(text, ": not done after {actual} where {limit} was promised"),
    };
    let place = task.core.map_or("on all cores".into(), |c| format!("on core {c}"));
    let _ = write!(text, ". Released at {from}, it ran for {} until {to}; meanwhile {place}: ", cause.own);
    let others = cause.ran.iter().take(5).map(|s| (s.task.clone(), s.time));
    let system = [("scheduler".to_owned(), cause.scheduler), ("idle".to_owned(), cause.idle)];
    let parts: Vec<String> = others
        .chain(system.into_iter().filter(|(_, time)| !time.is_zero()))
        .map(|(who, time)| format!("{who} {time} ({:.0} %)", share(time) * 100.0))
        .collect();
    text.push_str(if parts.is_empty() { "nothing else" } else { "" });
    text.push_str(&parts.join(", "));
    if cause.ran.len() > 5 {
        let _ = write!(text, ", {} tasks more", cause.ran.len() - 5);
    }
    text.push('.');
    if job.exhausted > 0 {
        let times = if job.exhausted == 1 { "once".into() } else { format!("{} times", job.exhausted) };
        let _ = write!(text, " It used up its budget {times} and waited for the next.");
    }
    let held: Vec<&str> = {
        let mut ids: Vec<TaskId> = records()
            .filter(|r| r.kind == EventKind::Exhausted && r.task != Some(job.task))
            .filter_map(|r| r.task)
            .collect();
        ids.sort_unstable();
        ids.dedup();
        ids.iter().filter_map(|t| case.view.tasks.get(t.index())).map(|t| t.name.as_str()).collect()
    };
    if !held.is_empty() {
        let _ = write!(text, " Budgets were used up by {}.", held.join(", "));
    }
    if cause.fault {
        text.push_str(" A component was stopped in this time.");
    }
    cause.text = text;
    cause
}
