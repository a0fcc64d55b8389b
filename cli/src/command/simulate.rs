//! `tactus simulate`: the schedule that the policy makes, worked out on this computer.

use super::network;
use crate::arguments::{duration, Simulate};
use crate::promise::{can_run, promised};
use crate::{mailboxes, subject, verdict};
use std::collections::BTreeMap;
use std::path::Path;
use tactus_machine::failure::{Failure, Outcome};
use tactus_machine::results::Results;
use tactus_machine::{costs, place};
use tactus_model::{Costs, System};
use tactus_monitor::{Action, Verdict};
use tactus_plan::RunPlan;
use tactus_record::RECORD_BYTES;
use tactus_report::{Details, Kept};
use tactus_terminal::lines;
use tactus_terminal::progress;
use tactus_time::{Duration, Instant, TaskId};
use tactus_trace::{Conclusion, Trace, View};

/// A simulation keeps its records until they are judged and drawn: this many, of 32 bytes each, make a trace of 1 GiB, and
/// judge, exports and report take two to three times as much beside it.
const MOST_RECORDS: u64 = 32 << 20;

/// Refuses a run whose trace would be larger than can be judged, before anything is done.
fn fits(system: &System) -> Result<(), Failure> {
    let records = tactus_image::expected_records(system);
    if records <= MOST_RECORDS {
        return Ok(());
    }
    let bytes = records.saturating_mul(RECORD_BYTES as u64);
    let part = MOST_RECORDS as f64 / records as f64;
    let longest = (system.duration.as_secs_f64() * part * 1e3).floor();
    Err(Failure::Input(format!(
        "{}: a simulation of {} leaves at least {} records, a trace of {} MiB; at most {} can be judged. Give a shorter time, \
         for example --duration '{longest} ms'",
        system.source.display(),
        system.duration,
        lines::grouped(records),
        lines::grouped(bytes >> 20),
        lines::grouped(MOST_RECORDS),
    )))
}

/// What arrives from outside: for tasks that a list of arrivals names, as that tells it, for the others as the system file does.
fn arrivals(system: &System, listed: &Listed) -> Vec<tactus_sim::Arrivals<'static>> {
    let of = |(task, all)| -> tactus_sim::Arrivals {
        match listed.get(&task) {
            Some(times) => (task, Box::new(times.clone().into_iter())),
            None => (task, Box::new(all)),
        }
    };
    system.arrivals().into_iter().map(of).collect()
}

/// By task, when something arrives for it.
type Listed = BTreeMap<TaskId, Vec<Instant>>;

/// Reads a list of arrivals.
fn listed(system: &System, file: &Path) -> Result<Listed, Failure> {
    let input = |line: Option<usize>, words: String| {
        let line = line.map_or(String::new(), |line| format!(":{}", line + 1));
        Failure::Input(format!("{}{line}: {words}", file.display()))
    };
    let text = std::fs::read_to_string(file).map_err(|error| input(None, format!("cannot be read: {error}")))?;
    let outside: Vec<TaskId> = system.arrivals().into_iter().map(|(task, _)| task).collect();
    let mut all = Listed::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        let input = |words: String| input(Some(number), words);
        let Some((name, time)) = line.split_once(char::is_whitespace) else {
            return Err(input(format!("{line:?} is no arrival; write a task and a time, like `sensor 12.5 ms`")));
        };
        let task = system.tasks.iter().position(|task| task.name == name).map(|n| TaskId(n as u16));
        let task = task.ok_or_else(|| input(format!("there is no task {name:?}; name one of the system file")))?;
        if !outside.contains(&task) {
            return Err(input(format!(
                "nothing from outside releases {name:?}; give it an interrupt, a message or release = \"sporadic\""
            )));
        }
        let time = duration(time.trim()).map_err(input)?;
        let (time, times) = (Instant::ZERO + time, all.entry(task).or_default());
        if times.last().is_some_and(|last| *last > time) {
            return Err(input(format!(
                "an arrival for {name:?} at {time} stands after a later one; sort them by time"
            )));
        }
        times.push(time);
    }
    Ok(all)
}

/// The most times that a run is simulated again for the sake of handlers.
const MOST_ROUNDS: usize = 1_000;

/// When violations release jobs of each task that handles some, by what monitors say of this run.
fn violations(system: &System, view: &View, trace: &Trace) -> Result<Vec<(TaskId, Vec<Instant>)>, Failure> {
    let findings =
        tactus_trace::monitor(view, trace, &system.monitors).map_err(|error| Failure::Input(error.to_string()))?;
    let mut all = Vec::new();
    for task in (0..system.tasks.len() as u16).map(TaskId).filter(|task| system.handles(*task)) {
        let name = &system.tasks[task.index()].name;
        let its = system.monitors.iter().zip(&findings);
        let its = its.filter(|(monitor, _)| matches!(&monitor.action, Action::Run(handler) if handler == name));
        let violated = its.flat_map(|(_, finding)| &finding.conclusions).filter(|it| it.verdict == Verdict::False);
        // What did not come is missed right after its time.
        let after = |it: &Conclusion| it.at.saturating_add(Duration::from_nanos(u64::from(it.event.is_none())));
        let mut at: Vec<Instant> = violated.map(after).collect();
        at.sort_unstable();
        all.push((task, at));
    }
    Ok(all)
}

/// Simulates the run. Jobs that violations release are released where the run itself shows the violations: it is simulated again with
/// those that were found until they are the same ones. Each time at least one more is certain, since a job changes nothing of what was
/// before its release.
fn run(system: &System, promised: &RunPlan, costs: &Costs, listed: &Listed) -> Result<Trace, Failure> {
    let mut released = Vec::new();
    for _ in 0..MOST_ROUNDS {
        let demand = |task: TaskId, job| system.tasks[task.index()].demand(system.seed, task, job);
        let of_handlers = released.iter().map(|(task, all): &(TaskId, Vec<Instant>)| -> tactus_sim::Arrivals {
            (*task, Box::new(all.iter().copied()))
        });
        let arrivals = arrivals(system, listed).into_iter().chain(of_handlers).collect();
        let (demands, steps) = ((demand, arrivals), promised.job_steps(system));
        let trace = tactus_sim::simulate_with_steps(&promised.setup, system.duration, demands, steps, costs)
            .map_err(|error| Failure::Input(format!("{}: {error}", system.source.display())))?;
        if system.monitors.iter().all(|it| !matches!(it.action, Action::Run(_))) {
            return Ok(trace);
        }
        let found = violations(system, &promised.view, &trace)?;
        if found == released {
            return Ok(trace);
        }
        released = found;
    }
    let why =
        format!("its properties are violated so often that {MOST_ROUNDS} simulations did not settle when handlers run");
    Err(Failure::Input(format!("{}: {why}; give a shorter time", system.source.display())))
}

/// Checks, simulates, judges and writes the results.
pub fn simulate(arguments: &Simulate) -> Result<Outcome, Failure> {
    if let Some(network) = network::read(&arguments.subject)? {
        return network::simulate(arguments, network);
    }
    subject::for_each(
        &arguments.subject,
        |system, whole| {
            let named = arguments.out.clone();
            let folder = match whole {
                None => named.unwrap_or_else(|| place::results(&system.name).join("simulated")),
                Some(whole) => {
                    named.unwrap_or_else(|| place::results(&whole.name)).join(&system.name).join("simulated")
                }
            };
            one(arguments, system.clone().sending_at_completion(), &folder)
        },
        mailboxes::simulated,
    )
}

/// Simulates one system.
fn one(arguments: &Simulate, system: System, folder: &Path) -> Result<(Outcome, Option<(View, Trace)>), Failure> {
    fits(&system)?;
    let costs = costs::of_simulation(&arguments.costs, &system)?;
    subject::announce(&system);
    let promised = promised(&system, costs);
    if !can_run(&promised) {
        return Ok((Outcome::Broken, None));
    }

    let begin = std::time::Instant::now();
    let wait = progress::Wait::new("simulate", "");
    let listed = arguments.arrivals.as_deref().map_or(Ok(BTreeMap::new()), |file| listed(&system, file))?;
    let mut trace = run(&system, &promised, &costs.taken, &listed)?;
    let stations = promised.disk_setups.iter().filter_map(|it| it.station(false));
    trace.disks = stations.map(|it| tactus_sim::disk::disk(it, system.duration)).collect();
    wait.end();
    let took = begin.elapsed();

    let mut more = if arguments.costs == "none" {
        Vec::new()
    } else {
        vec![format!("--costs {}", lines::quoted(&arguments.costs))]
    };
    let list = arguments.arrivals.as_ref().map(|file| lines::quoted(&file.display().to_string()));
    more.extend(list.map(|file| format!("--arrivals {file}")));
    let details = Details {
        machine: "simulator".to_string(),
        seed: system.seed,
        command: subject::command("simulate", &arguments.subject, &more),
        findings: promised.findings.clone(),
        ..Details::default()
    };
    let results = Results::make(folder)?;
    let kept = Kept { view: promised.view, details };
    let summary = results.write(&kept, &trace)?;

    let length = lines::seconds(system.duration);
    let jobs = lines::grouped(summary.total.released);
    let rate = summary.total.released as f64 / took.as_secs_f64().max(1e-9);
    lines::line("simulate", format!("{length} · {jobs} jobs · {} jobs/s", lines::grouped(rate as u64)));
    lines::line("verdict", verdict::text(&summary));
    lines::line("report", results.file("report.html").display());
    Ok((Outcome::held_if(summary.verdict.held()), Some((kept.view, trace))))
}
