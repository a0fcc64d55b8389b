//! Writing rt-app's JSON (github.com/scheduler-tools/rt-app); `tactus-model` reads it.
//!
//! Each task becomes a thread that runs for its execution time and waits for a timer of its period. Orders by deadlines become
//! SCHED_DEADLINE, fixed priorities SCHED_FIFO. rt-app knows whole microseconds only.

use crate::number::whole;
use crate::set::{Lossy, Task, TaskSet};
use crate::{Format, Reason, Written};
use std::fmt::Write;
use tactus_time::Duration;

const US: Duration = Duration::from_micros(1);

fn unwritable(what: String, remedy: &str) -> Reason {
    Reason::Unwritable { format: Format::RtApp, what, remedy: remedy.into() }
}

/// Writes a workload.
pub(crate) fn write(set: &TaskSet) -> Result<Written, Reason> {
    let mut lost = set.lost(Format::RtApp, &[Lossy::Jitter, Lossy::Memory]);
    let policy = set.policy.as_deref().unwrap_or("global-edf");
    if set.policy.is_none() {
        lost.push("nothing says the policy: rt-app is told SCHED_DEADLINE, global EDF".into());
    }
    let bound = policy.starts_with("partitioned-");
    let edf = matches!(policy, "global-edf" | "partitioned-edf");
    if !edf && !matches!(policy, "global-rm" | "partitioned-rm") {
        // Other fixed priorities than by rate are read back as nothing that runs here.
        return Err(unwritable(format!("there is no {policy}"), "choose EDF or RM, partitioned or global"));
    }
    let priorities = priorities(set)?;
    let mut text = String::from("{\n\t\"tasks\" : {");
    for (n, task) in set.tasks.iter().enumerate() {
        text.push_str(if n == 0 { "\n" } else { ",\n" });
        thread(&mut text, task, edf, bound, (!edf).then(|| priorities[n]))?;
    }
    text.push_str("\n\t},\n\t\"global\" : {");
    let duration = set.duration.unwrap_or(Duration::from_secs(10));
    match whole(duration, Duration::from_secs(1)).filter(|seconds| *seconds > 0) {
        Some(seconds) => {
            let _ = writeln!(text, "\n\t\t\"duration\" : {seconds},");
        }
        None => {
            let seconds = duration.as_nanos().div_ceil(1_000_000_000);
            lost.push(format!("the duration of {duration}: rt-app counts seconds, it is {seconds} s now"));
            let _ = writeln!(text, "\n\t\t\"duration\" : {seconds},");
        }
    }
    let class = if edf { "SCHED_DEADLINE" } else { "SCHED_FIFO" };
    let _ = writeln!(text, "\t\t\"default_policy\" : \"{class}\"\n\t}}\n}}");
    if let Some(cores) = set.cores {
        lost.push(format!("the number of cores, {cores}: rt-app takes those of its machine"));
    }
    Ok(Written { text, lost })
}

/// By rate, from 90 down, the shorter the period the higher.
fn priorities(set: &TaskSet) -> Result<Vec<u64>, Reason> {
    let mut periods: Vec<Duration> = set.tasks.iter().map(|task| task.period).collect();
    periods.sort_unstable();
    periods.dedup();
    if periods.len() > 90 {
        let what = format!("{} different periods, and SCHED_FIFO has 90 priorities to give", periods.len());
        return Err(unwritable(what, "choose EDF"));
    }
    let rank = |task: &Task| periods.iter().position(|period| *period == task.period).unwrap_or(0) as u64;
    Ok(set.tasks.iter().map(|task| 90 - rank(task)).collect())
}

fn thread(text: &mut String, task: &Task, edf: bool, bound: bool, priority: Option<u64>) -> Result<(), Reason> {
    let us = |what: &str, length: Duration| {
        whole(length, US).ok_or_else(|| {
            let what = format!("task {:?}: {what} of {length} is no whole number of microseconds", task.name);
            unwritable(what, "round it")
        })
    };
    let (run, period) = (us("execution time", task.execution)?, us("period", task.period)?);
    let deadline = us("deadline", task.deadline)?;
    let name: String = task.name.chars().filter(|c| !c.is_control() && *c != '"' && *c != '\\').collect();
    // Writing to a string cannot fail.
    let _ = writeln!(text, "\t\t\"{name}\" : {{");
    match priority {
        None => {
            let _ = writeln!(text, "\t\t\t\"policy\" : \"SCHED_DEADLINE\",");
            let _ =
                writeln!(text, "\t\t\t\"dl-runtime\" : {run}, \"dl-period\" : {period}, \"dl-deadline\" : {deadline},");
        }
        Some(priority) => {
            let _ = writeln!(text, "\t\t\t\"policy\" : \"SCHED_FIFO\", \"priority\" : {priority},");
        }
    }
    if !edf && task.deadline != task.period {
        let what = format!("task {:?} has a deadline of {}, its period is {}", task.name, task.deadline, task.period);
        return Err(unwritable(format!("{what}, and SCHED_FIFO has no deadlines"), "choose EDF"));
    }
    if bound {
        let core =
            task.core.ok_or_else(|| unwritable(format!("task {:?} has no core", task.name), "bind it to one"))?;
        let _ = writeln!(text, "\t\t\t\"cpus\" : [{core}],");
    }
    if !task.offset.is_zero() {
        let _ = writeln!(text, "\t\t\t\"delay\" : {},", us("offset", task.offset)?);
    }
    let _ = write!(
        text,
        "\t\t\t\"run\" : {run},\n\t\t\t\"timer\" : {{ \"ref\" : \"unique\", \"period\" : {period}, \"mode\" : \"absolute\" }}\n\t\t}}"
    );
    Ok(())
}
