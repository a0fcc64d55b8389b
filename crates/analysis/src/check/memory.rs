//! What cores do to each other by the lines that they ask memory for, where the file says what one costs another core's job.
//!
//! A line of another core takes `miss-cost` from a job at most: it keeps memory busy, and it drives out what a shared cache held. What was
//! driven out since the job before counts as well, so that all lines of a window of period and deadline are counted. A job never takes
//! longer than its execution time and that, whoever runs beside it, so that any test holds with execution times that are longer by it.
//!
//! How many lines a core asks for: a server with a budget of misses, its budget in each period that the window meets, and once what a late
//! look at the counter finds (after Yun et al., "MemGuard", RTAS 2013); a task elsewhere, what the file says of each of its jobs. Where it
//! says nothing, nothing is promised on other cores.

use tactus_model::System;
use tactus_task::{ServerKind, MOST_LOOKS};
use tactus_time::{CoreId, Duration};

/// What the lines of other cores add to a job of each task, or why nobody knows; nothing where the file does not say what a line costs.
pub(super) fn added(system: &System) -> Option<Vec<Result<Duration, String>>> {
    let cost = system.platform.memory?.cost?;
    let one = |(n, task): (usize, &tactus_model::Task)| {
        match lines_beside(system, n, sum(task.period, task.deadline)) {
        Ok(lines) => Ok(cost.checked_mul(lines).unwrap_or(Duration::MAX)),
        Err(other) => Err(format!(
            "task `{}` may run on another core and ask memory for any number of lines; give it \"misses\", or put it into a server of kind misses",
            system.tasks[other].name
        )),
    }
    };
    Some(system.tasks.iter().enumerate().map(one).collect())
}

/// The system with the execution times that its jobs have beside what other cores ask memory for; nothing where the file does not say
/// what a line costs.
pub fn with_interference(system: &System) -> Option<System> {
    added(system).map(|added| super::caches::longer(system, &added))
}

/// Whether what is inside a server with a budget of misses never uses it up, by what the file says of its tasks.
pub(super) fn never_stalls(system: &System, server: usize) -> bool {
    let it = &system.scheduling.servers[server];
    let Some(memory) = system.platform.memory.filter(|_| it.kind == ServerKind::Misses) else { return false };
    let asked = inside(system, server).try_fold(0_u64, |sum, n| sum.checked_add(of_task(system, n, it.period)?));
    asked.is_some_and(|lines| lines <= it.budget / memory.line)
}

/// The lines that other cores ask for in a window, while a job of the task may run; or a task of which nothing says so.
fn lines_beside(system: &System, n: usize, window: Duration) -> Result<u64, usize> {
    let mut lines = 0_u64;
    for (server, it) in system.scheduling.servers.iter().enumerate().filter(|(_, it)| it.kind == ServerKind::Misses) {
        let elsewhere = it.cores.iter().filter(|core| system.tasks[n].core != Some(*core)).count() as u64;
        lines = lines.saturating_add(of_server(system, server, window).saturating_mul(elsewhere));
    }
    for i in (0..system.tasks.len()).filter(|i| system.scheduling.regulated_by(*i).is_none()) {
        if is_beside(system, n, i) {
            lines = lines.saturating_add(of_task(system, i, window).ok_or(i)?);
        }
    }
    Ok(lines)
}

/// Whether the other task may run while this one does.
fn is_beside(system: &System, n: usize, other: usize) -> bool {
    let core = |n: usize| -> Option<CoreId> { system.tasks[n].core };
    n != other && system.cores > 1 && (core(n).is_none() || core(n) != core(other))
}

fn inside(system: &System, server: usize) -> impl Iterator<Item = usize> + '_ {
    (0..system.tasks.len()).filter(move |n| system.scheduling.regulated_by(*n) == Some(server))
}

/// The lines that the jobs of a task ask for in a window, if each ends by its deadline.
fn of_task(system: &System, n: usize, window: Duration) -> Option<u64> {
    let task = &system.tasks[n];
    let jobs = sum(window, task.deadline).div_ceil(task.period);
    Some(jobs.saturating_mul(system.scheduling.misses_of(n)?.into()))
}

/// The lines that a server with a budget of misses asks for on one core in a window.
fn of_server(system: &System, server: usize, window: Duration) -> u64 {
    let it = &system.scheduling.servers[server];
    let line = system.platform.memory.map_or(Duration::MAX, |memory| memory.line);
    let periods = window.div_ceil(it.period) + 1;
    (it.budget / line).saturating_mul(periods).saturating_add((it.period / MOST_LOOKS).div_ceil(line))
}

fn sum(a: Duration, b: Duration) -> Duration {
    a.checked_add(b).unwrap_or(Duration::MAX)
}
