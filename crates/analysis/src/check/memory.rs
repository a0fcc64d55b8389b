//! What cores do to each other by the lines that they ask memory for, where the file says what one costs another core's job.
//!
//! A line of another core takes `miss-cost` from a job at most: it keeps memory busy, and it drives out what a shared cache held. What was
//! driven out since the job before counts as well, so that all lines of a window of period and deadline are counted. A job never takes
//! longer than its execution time and that, whoever runs beside it, so that any test holds with execution times that are longer by it.
//!
//! How many lines a core asks for: a server with a budget of misses, its budget in each period that the window meets, and once what a late
//! look at the counter finds (after Yun et al., "MemGuard", RTAS 2013); a task elsewhere, what the file says of each of its jobs. Where it
//! says nothing, nothing is promised on other cores.
//!
//! A changed line that another core makes memory take back keeps memory busy as well, and drives nothing out. Where the file says what it
//! costs (`write-back-cost`), these are counted in the same way, by budgets of lines written back; else `miss-cost` has to hold the line
//! that each line drives out. What a job of the task itself drives out is its own, whoever changed it.

use tactus_model::{Scheduling, Server, System};
use tactus_task::{ServerKind, MOST_LOOKS};
use tactus_time::{CoreId, Duration};

/// Which lines.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lines {
    /// Those that a core asks for.
    Asked,
    /// Changed ones that it makes memory take back.
    WrittenBack,
}

impl Lines {
    /// The budget of a server, where it has one of these.
    fn budget(self, server: &Server) -> Option<Duration> {
        match self {
            Lines::Asked => Some(server.budget).filter(|_| server.kind == ServerKind::Misses),
            Lines::WrittenBack => server.write_backs,
        }
    }

    /// The most of a job of the task, where the file says.
    fn of_job(self, scheduling: &Scheduling, task: usize) -> Option<u32> {
        match self {
            Lines::Asked => scheduling.misses_of(task),
            Lines::WrittenBack => scheduling.write_backs_of(task),
        }
    }
}

/// What the lines of other cores add to a job of each task, or why nobody knows; nothing where the file does not say what a line costs.
pub(super) fn added(system: &System) -> Option<Vec<Result<Duration, String>>> {
    let memory = system.platform.memory?;
    let cost = memory.cost?;
    let one = |(n, task): (usize, &tactus_model::Task)| {
        let window = sum(task.period, task.deadline);
        let of = |lines, cost: Duration| {
            let many =
                lines_beside(system, n, window, lines).map_err(|other| unknown(&system.tasks[other].name, lines))?;
            Ok::<_, String>(cost.checked_mul(many).unwrap_or(Duration::MAX))
        };
        let asked = of(Lines::Asked, cost)?;
        memory.write_back.map_or(Ok(asked), |cost| Ok(sum(asked, of(Lines::WrittenBack, cost)?)))
    };
    Some(system.tasks.iter().enumerate().map(one).collect())
}

/// Why nobody knows what is added.
fn unknown(task: &str, lines: Lines) -> String {
    match lines {
        Lines::Asked => format!(
            "task `{task}` may run on another core and ask memory for any number of lines; give it \"misses\", or put it into a server of kind misses"
        ),
        Lines::WrittenBack => format!(
            "task `{task}` may run on another core and write any number of lines back to memory; give it \"write-backs\", or put it into a server of kind misses that has them"
        ),
    }
}

/// The system with the execution times that its jobs have beside what other cores ask memory for; nothing where the file does not say
/// what a line costs.
pub fn with_interference(system: &System) -> Option<System> {
    added(system).map(|added| super::caches::longer(system, &added))
}

/// Whether what is inside a server with a budget of misses never uses it up, nor that of lines written back, by what the file says of its
/// tasks.
pub(super) fn never_stalls(system: &System, server: usize) -> bool {
    let it = &system.scheduling.servers[server];
    let Some(memory) = system.platform.memory.filter(|_| it.kind == ServerKind::Misses) else { return false };
    [Lines::Asked, Lines::WrittenBack].into_iter().all(|lines| {
        let Some(budget) = lines.budget(it) else { return true };
        let of = |sum: u64, n| sum.checked_add(of_task(system, n, it.period, lines)?);
        let mut inside = (0..system.tasks.len()).filter(|n| system.scheduling.regulated_by(*n) == Some(server));
        inside.try_fold(0, of).is_some_and(|all| all <= budget / memory.line)
    })
}

/// The time for which what is inside a server with a budget of misses has the core in each period at the least: no budget that it has is
/// used up earlier.
pub(super) fn least_time(server: &Server) -> Duration {
    server.budget.min(server.write_backs.unwrap_or(Duration::MAX))
}

/// The lines of other cores in a window, while a job of the task may run; or a task of which nothing says how many.
fn lines_beside(system: &System, n: usize, window: Duration, lines: Lines) -> Result<u64, usize> {
    let servers = &system.scheduling.servers;
    let mut all = 0_u64;
    for (it, budget) in servers.iter().filter_map(|it| Some((it, lines.budget(it)?))) {
        let elsewhere = it.cores.iter().filter(|core| system.tasks[n].core != Some(*core)).count() as u64;
        all = all.saturating_add(of_server(system, (it, budget), window).saturating_mul(elsewhere));
    }
    let regulated = |i| system.scheduling.regulated_by(i).is_some_and(|at| lines.budget(&servers[at]).is_some());
    for i in (0..system.tasks.len()).filter(|i| !regulated(*i)) {
        if is_beside(system, n, i) {
            all = all.saturating_add(of_task(system, i, window, lines).ok_or(i)?);
        }
    }
    Ok(all)
}

/// Whether the other task may run while this one does.
fn is_beside(system: &System, n: usize, other: usize) -> bool {
    let core = |n: usize| -> Option<CoreId> { system.tasks[n].core };
    n != other && system.cores > 1 && (core(n).is_none() || core(n) != core(other))
}

/// The lines of the jobs of a task in a window, if each ends by its deadline.
fn of_task(system: &System, n: usize, window: Duration, lines: Lines) -> Option<u64> {
    let task = &system.tasks[n];
    let jobs = sum(window, task.deadline).div_ceil(task.period);
    Some(jobs.saturating_mul(lines.of_job(&system.scheduling, n)?.into()))
}

/// The lines of a server with a budget of so many on one core in a window.
fn of_server(system: &System, (server, budget): (&Server, Duration), window: Duration) -> u64 {
    let line = system.platform.memory.map_or(Duration::MAX, |memory| memory.line);
    let periods = window.div_ceil(server.period) + 1;
    (budget / line).saturating_mul(periods).saturating_add((server.period / MOST_LOOKS).div_ceil(line))
}

fn sum(a: Duration, b: Duration) -> Duration {
    a.checked_add(b).unwrap_or(Duration::MAX)
}
