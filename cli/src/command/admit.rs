//! `tactus admit`: what SCHED_DEADLINE's admission accepts beside what the analysis shows.

use crate::arguments::Admit;
use crate::subject;
use std::collections::HashMap;
use std::fs;
use tactus_analysis::{Bound, Check, TaskVerdict};
use tactus_linux::{Kernel, Reservation};
use tactus_machine::failure::{Failure, Outcome};
use tactus_machine::{costs, place};
use tactus_model::{Costs, Migration, Policy, Release, System, TaskOrder};
use tactus_plan::{plan, RunPlan};
use tactus_record::EventKind;
use tactus_terminal::lines;
use tactus_time::{CoreSet, Duration, Instant, TaskId};
use tactus_trace::Trace;

/// Tells both, task by task, and looks for a missed deadline where they differ.
pub fn admit(arguments: &Admit) -> Result<Outcome, Failure> {
    let system = System::read(&arguments.file).map_err(|problems| Failure::Input(problems.to_string()))?;
    let costs = costs::of_simulation(&arguments.costs, &system)?;
    subject::announce(&system);
    let wrong = |why: &str| Failure::Input(format!("{}: {why}", arguments.file.display()));
    let spread = match system.policy {
        Policy::PartitionedEdf => Migration::Partitioned,
        Policy::GlobalEdf => Migration::Global,
        Policy::Ordered { spread, order: TaskOrder::EarliestDeadline } => spread,
        _ => return Err(wrong("admission is SCHED_DEADLINE's; choose partitioned-edf, clustered-edf or global-edf")),
    };
    if !system.scheduling.servers.is_empty() {
        return Err(wrong("Linux has no servers of several threads; take the tasks out of them"));
    }
    let places = &system.scheduling.places;
    if places.iter().any(|place| place.release != Release::Periodic) {
        return Err(wrong("what releases a task's jobs beside time is not looked at; leave it out of the file"));
    }
    let check = tactus_analysis::check(&system, &costs.counted);
    let reservations: Vec<Reservation> = system
        .tasks
        .iter()
        .map(|task| Reservation { runtime: task.budget(), deadline: task.deadline, period: task.period })
        .collect();
    let admitted = Kernel::ALL.map(|kernel| admitted(&system, spread, kernel, &reservations));
    let shown: Vec<bool> = check
        .tasks
        .iter()
        .map(|it| {
            let response = matches!(it.bound(), Some(Bound::Response(_)));
            response && matches!(it.verdict, TaskVerdict::Bounded { .. })
        })
        .collect();
    table(&system, &check, &admitted, &shown);
    // Those that some kernel lets run, each with time for what it asks; the others stay outside.
    let open = |n: &usize| (admitted[0][*n] || admitted[1][*n]) && !shown[*n];
    let open: Vec<usize> = (0..system.tasks.len()).filter(open).collect();
    if open.is_empty() {
        let all = shown.iter().all(|it| *it);
        let text = if all { "every deadline is kept" } else { "each task whose deadline may be missed is refused" };
        lines::line("admit", lines::good(text));
        return Ok(Outcome::Held);
    }
    if !admitted[0].iter().all(|it| *it) {
        lines::line("admit", lines::bad("some tasks are admitted whose deadlines nothing shows to be kept"));
        return Ok(Outcome::held_if(false));
    }
    lines::line("admit", lines::bad("Linux admits tasks whose deadlines nothing shows to be kept"));
    match example(&system, &check, &open)? {
        Some(found) => show(&found)?,
        None => {
            lines::line("example", format!("none in {TRIES} schedules: whether a deadline can be missed is not known"))
        }
    }
    Ok(Outcome::held_if(false))
}

/// Of each task whether a kernel takes it, in the order of the file.
fn admitted(system: &System, spread: Migration, kernel: Kernel, all: &[Reservation]) -> Vec<bool> {
    let mut taken = vec![false; all.len()];
    for queue in system.scheduling.queues(None, spread, CoreSet::first(system.cores)) {
        let own = |n: &usize| system.tasks[*n].core.is_none_or(|core| queue.contains(core));
        let own: Vec<usize> = (0..all.len()).filter(own).collect();
        let reservations: Vec<Reservation> = own.iter().map(|n| all[*n]).collect();
        for (n, fits) in own.iter().zip(kernel.admits(queue.iter().count(), &reservations)) {
            taken[*n] = fits;
        }
    }
    taken
}

fn table(system: &System, check: &Check, admitted: &[Vec<bool>; 2], shown: &[bool]) {
    let row = |n: usize| {
        let task = &system.tasks[n];
        let one = Reservation { runtime: task.budget(), deadline: task.deadline, period: task.period };
        let says = |kernel: usize| match (admitted[kernel][n], one.refused().is_some()) {
            (true, _) => "admits",
            (false, true) => "EINVAL",
            (false, false) => "EBUSY",
        };
        let bound = check.tasks[n].bound().map_or("no bound".to_string(), |bound| bound.to_string());
        let kept = if shown[n] { "kept" } else { "may be missed" };
        let words = [lines::brief(task.budget()).to_string(), lines::brief(task.deadline).to_string()];
        let words = [task.name.clone()].into_iter().chain(words).chain([lines::brief(task.period).to_string()]);
        words.chain([says(0).into(), says(1).into(), bound, kept.into()]).collect::<Vec<String>>()
    };
    let rows: Vec<Vec<String>> = (0..system.tasks.len()).map(row).collect();
    let [old, new] = Kernel::ALL.map(Kernel::label);
    let head = ["task", "runtime", "deadline", "period", old, new, "the analysis", "its deadline"];
    lines::line("admit", lines::table(&head, &rows));
}

/// How many schedules are tried.
const TRIES: u64 = 400;

/// A schedule in which a job ends after its deadline.
struct Found {
    system: System,
    plan: RunPlan,
    trace: Trace,
    task: usize,
    job: u32,
    release: Instant,
    completion: Instant,
}

/// Looks for a missed deadline: all tasks released together, then by the file's offsets, then by chance.
fn example(system: &System, check: &Check, open: &[usize]) -> Result<Option<Found>, Failure> {
    let longest = system.tasks.iter().map(|task| task.period).max().unwrap_or_default();
    let mut state = system.seed | 1;
    let mut random = |limit: u64| {
        // Marsaglia's xorshift.
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % limit.max(1)
    };
    for n in 0..TRIES {
        let mut tried = system.clone();
        for task in &mut tried.tasks {
            // Linux holds a thread to its runtime: no job takes more.
            task.demand = tactus_model::Demand::Fixed(task.budget());
            let micros = task.period.as_nanos() / 1_000;
            match n {
                0 => task.offset = Duration::ZERO,
                1 => {}
                _ => task.offset = Duration::from_micros(random(micros)),
            }
        }
        let length = longest.checked_mul(6).unwrap_or(Duration::MAX).min(Duration::from_secs(4));
        tried.duration = length.max(longest.checked_mul(2).unwrap_or(length));
        let plan = plan(&tried, check, &Costs::default());
        let demand = |task: TaskId, _| tried.tasks[task.index()].budget();
        let (demands, steps) = ((demand, Vec::new()), plan.job_steps(&tried));
        let trace = tactus_sim::simulate_with_steps(&plan.setup, tried.duration, demands, steps, &Costs::default())
            .map_err(|error| Failure::Input(format!("{}: {error}", system.source.display())))?;
        if let Some((task, job, release, completion)) = missed(&tried, &trace, open) {
            return Ok(Some(Found { system: tried, plan, trace, task, job, release, completion }));
        }
    }
    Ok(None)
}

/// The first job that ends after its deadline, of a task that may.
fn missed(system: &System, trace: &Trace, open: &[usize]) -> Option<(usize, u32, Instant, Instant)> {
    let mut released = HashMap::new();
    let mut found = None;
    tactus_trace::in_order(trace, |record| {
        let Some(task) = record.task.map(TaskId::index).filter(|task| open.contains(task)) else { return };
        match record.kind {
            EventKind::Release => {
                released.insert((task, record.job), Instant::from_nanos(record.arg));
            }
            EventKind::Complete if found.is_none() => {
                let release = released.get(&(task, record.job)).copied();
                let late = |release: &Instant| record.time > release.saturating_add(system.tasks[task].deadline);
                found = release.filter(late).map(|release| (task, record.job, release, record.time));
            }
            _ => {}
        }
    });
    found
}

fn show(found: &Found) -> Result<(), Failure> {
    let Found { system, plan, trace, task, job, release, completion } = found;
    let deadline = release.saturating_add(system.tasks[*task].deadline);
    lines::line(
        "example",
        format!(
            "{}, job {job}: released at {release}, deadline at {deadline}, complete at {completion}",
            system.tasks[*task].name
        ),
    );
    let before = system.tasks.iter().map(|task| task.period).min().unwrap_or_default();
    let from = Instant::from_nanos(release.as_nanos().saturating_sub(before.as_nanos()));
    let unit = Duration::from_nanos((completion.since(from).as_nanos() / 80).max(1_000) / 1_000 * 1_000);
    let to = completion.saturating_add(unit);
    lines::put(&tactus_trace::draw(&plan.view, trace, unit, from, to));
    let folder = place::results(&system.name);
    let path = folder.join("missed.toml");
    let text = tactus_formats::to_toml(system).map_err(|why| Failure::Input(why.to_string()))?;
    fs::create_dir_all(&folder)
        .and_then(|()| fs::write(&path, text))
        .map_err(|error| Failure::Machine(format!("{}: {error}", path.display())))?;
    lines::line("written", format!("{}; ./tactus simulate shows it again", path.display()));
    Ok(())
}
