//! `tactus simulate`: the schedule that the policy makes, worked out on this computer.

use crate::arguments::Simulate;
use crate::{subject, verdict};
use std::time::Instant;
use tactus_machine::failure::{Failure, Outcome};
use tactus_machine::lines;
use tactus_machine::progress;
use tactus_machine::promise::{can_run, promised};
use tactus_machine::results::Results;
use tactus_machine::{costs, place};
use tactus_model::System;
use tactus_record::RECORD_BYTES;
use tactus_report::{Details, Kept};

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

/// What arrives from outside, as the file tells it.
fn arrivals(system: &System) -> Vec<tactus_sim::Arrivals<'static>> {
    let boxed = |(task, all)| -> tactus_sim::Arrivals { (task, Box::new(all)) };
    system.arrivals().into_iter().map(boxed).collect()
}

/// Checks, simulates, judges and writes the results.
pub fn simulate(arguments: &Simulate) -> Result<Outcome, Failure> {
    let system = subject::read(&arguments.subject)?.sending_at_completion();
    fits(&system)?;
    let costs = costs::read(&arguments.costs, &system)?;
    subject::announce(&system);
    // The policy is set up as for a run, whose jobs are charged for the system's work: else a schedule that is simulated
    // without costs would be that of another system.
    let free = arguments.costs == "none";
    let counted = if free { costs::read("measured", &system)? } else { costs };
    let promised = promised(&system, &counted);
    if !can_run(&promised) {
        return Ok(Outcome::Broken);
    }

    let begin = Instant::now();
    let wait = progress::Wait::new("simulate", "");
    let demand = |task: tactus_time::TaskId, job| system.tasks[task.index()].demand(system.seed, task, job);
    let arrivals = arrivals(&system);
    let mut trace = tactus_sim::simulate_with_steps(
        &promised.setup,
        system.duration,
        (demand, arrivals),
        system.job_steps(),
        &costs,
    )
    .map_err(|error| Failure::Input(format!("{}: {error}", system.source.display())))?;
    let stations = promised.disk_setups.iter().filter_map(|it| it.station(false));
    trace.disks = stations.map(|it| tactus_sim::disk::disk(it, system.duration)).collect();
    wait.end();
    let took = begin.elapsed();

    let more = if free { Vec::new() } else { vec![format!("--costs {}", subject::quoted(&arguments.costs))] };
    let details = Details {
        machine: "simulator".to_string(),
        seed: system.seed,
        command: subject::command("simulate", &arguments.subject, &more),
        findings: promised.findings.clone(),
        ..Details::default()
    };
    let folder = arguments.out.clone().unwrap_or_else(|| place::results(&system.name).join("simulated"));
    let results = Results::make(&folder)?;
    let summary = results.write(&Kept { view: promised.view, details }, &trace)?;

    let length = lines::seconds(system.duration);
    let jobs = lines::grouped(summary.total.released);
    let rate = summary.total.released as f64 / took.as_secs_f64().max(1e-9);
    lines::line("simulate", format!("{length} · {jobs} jobs · {} jobs/s", lines::grouped(rate as u64)));
    lines::line("verdict", verdict::text(&summary));
    lines::line("report", results.file("report.html").display());
    Ok(Outcome::held_if(summary.verdict.held()))
}
