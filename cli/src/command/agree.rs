//! `tactus agree`: does the machine do what the simulator does, and does it keep what the analysis promised?
//!
//! Generated systems are checked, booted and judged. Of each run five things are required:
//!
//! 1. every decision on the machine is the one that the policy makes when its inputs are replayed in the simulator, job
//!    by job and core by core, and every input was due (`lockstep`);
//! 2. nothing was noticed later than the overhead measured in that run and the bound of an emulated core's turn allow;
//! 3. beside a simulation that knows nothing of the run, nothing differs but what a race explains, or in trees of servers a
//!    schedule that moves with every shift (`compare`);
//! 4. in trees, no rule of servers is broken: budgets, replenishments, no idle core beside work (`tactus_trace::check`);
//! 5. where the check had accepted the system, no bound was beaten.

use super::run::{boot, compile_ours, image};
use crate::arguments::Agree;
use crate::costs::{self, Seen};
use crate::failure::{Failure, Outcome};
use crate::machine::build::Programs;
use crate::progress::Wait;
use crate::results::Results;
use crate::{lines, measure, place};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Mutex;
use tactus_image::TURN_INSTRUCTIONS;
use tactus_model::{policy_label, Costs, System};
use tactus_policy::Scheduler;
use tactus_record::Kind;
use tactus_sim::compare::{compare, explain, Cause};
use tactus_sim::generate::{any, to_toml};
use tactus_sim::lockstep::lockstep;
use tactus_sim::simulate;
use tactus_studies::promise::{made, Promised};
use tactus_time::{Duration, Instant};
use tactus_trace::{PromiseSummary, TaskSummary, Trace, Verdict};

/// Digits of a seed in the name of a folder.
const DIGITS: usize = 4;

/// What all runs came to.
#[derive(Default)]
struct Totals {
    systems: u64,
    decisions: u64,
    records: u64,
    jobs: u64,
    lateness: Duration,
    allowed: Duration,
    steps: usize,
    equal: u64,
    races: usize,
    drifts: usize,
    difference: Duration,
    accepted: u64,
    promises: u64,
    worst: f64,
    costs: Seen,
    failures: Vec<String>,
}

/// Runs all systems, several at a time.
pub fn agree(arguments: &Agree) -> Result<Outcome, Failure> {
    let folder = arguments.out.clone().unwrap_or_else(|| place::results("agree"));
    let wait = Wait::new("build", "kernel and components");
    let programs = compile_ours(&wait);
    wait.end();
    let programs = programs?;
    let next = AtomicU64::new(arguments.seed);
    let end = arguments.seed + arguments.systems;
    let totals = Mutex::new(Totals::default());
    let failed: Mutex<Option<Failure>> = Mutex::new(None);
    std::thread::scope(|scope| {
        for _ in 0..arguments.jobs.max(1) {
            scope.spawn(|| loop {
                let seed = next.fetch_add(1, Ordering::Relaxed);
                if seed >= end || failed.lock().is_ok_and(|failed| failed.is_some()) {
                    return;
                }
                if let Err(failure) = one(seed, arguments, &programs, &folder, &totals) {
                    if let Ok(mut failed) = failed.lock() {
                        failed.get_or_insert(failure);
                    }
                }
            });
        }
    });
    if let Some(failure) = failed.into_inner().ok().flatten() {
        return Err(failure);
    }
    let totals = totals.into_inner().map_err(|_| Failure::Machine("a run broke off".to_string()))?;
    tell(&totals);
    if let Some(file) = &arguments.write_costs {
        std::fs::write(file, totals.costs.file(totals.systems))
            .map_err(|error| Failure::Machine(format!("{}: {error}", file.display())))?;
        lines::line("costs", file.display());
    }
    Ok(Outcome::held_if(totals.failures.is_empty()))
}

/// One system: its line, and its part of the totals.
fn one(
    seed: u64,
    arguments: &Agree,
    programs: &Programs,
    folder: &Path,
    totals: &Mutex<Totals>,
) -> Result<(), Failure> {
    let mut system = any(seed);
    if let Some(duration) = arguments.duration {
        system.duration = duration;
    }
    if let Some(shift) = arguments.shift {
        system.machine.shift = shift;
    }
    let costs = costs::read(&arguments.costs, &system)?;
    let check = tactus_analysis::check(&system, &costs);
    let mut promised = made(&system, &check, &costs);
    if Scheduler::new(&promised.setup).is_err() {
        // Where costs leave no room for a table of level A, the system is refused; its decisions can be compared all the
        // same, with the table that it would have without costs.
        let free = tactus_analysis::check(&system, &Costs::default());
        promised.setup = made(&system, &free, &Costs::default()).setup;
        if Scheduler::new(&promised.setup).is_err() {
            return Ok(());
        }
    }
    let (kernel, image) = image(&system, &promised, programs, &[])?;
    let results = Results::make(&folder.join(format!("{seed:0DIGITS$}")))?;
    let (trace, _) = boot(&system, &kernel, &image, &results, false)?;
    let mut found = judge(&system, &promised, &trace, totals)?;
    let verdict = if found.problems.is_empty() { lines::good("agrees") } else { lines::bad("DISAGREES") };
    let accepted = if check.accepted { "accepted" } else { "refused " };
    lines::put(&format!(
        "{seed:>4}  {:<22} {:>2} servers {} cores {:>3} tasks  {accepted}  {:>6} decisions  late {:>10} of {:>10}  {verdict}\n",
        policy_label(&system.policy),
        system.scheduling.servers.len(),
        system.cores,
        system.tasks.len(),
        found.decisions,
        found.lateness.to_string(),
        found.allowed.to_string(),
    ));
    if found.problems.is_empty() {
        // Nothing to look at: leave no heap of images behind.
        let _ = std::fs::remove_dir_all(folder.join(format!("{seed:0DIGITS$}")));
    } else {
        results.put("system.toml", to_toml(&system).unwrap_or_default().as_bytes())?;
        results.put("trace.bin", &trace.to_bytes())?;
        for problem in &mut found.problems {
            lines::put(&format!("      {problem}\n"));
            *problem = format!("seed {seed}: {problem}");
        }
        if let Ok(mut totals) = totals.lock() {
            totals.failures.append(&mut found.problems);
        }
    }
    Ok(())
}

/// What was found of one run.
struct Found {
    decisions: u64,
    lateness: Duration,
    allowed: Duration,
    problems: Vec<String>,
}

/// The longest turn of the scheduler in a trace.
fn longest_turn(trace: &Trace) -> Duration {
    let mut longest = Duration::ZERO;
    for records in &trace.cores {
        let mut entered = Instant::ZERO;
        for record in records {
            match record.kind {
                Kind::Enter => entered = record.time,
                Kind::Leave => longest = longest.max(record.time.since(entered)),
                _ => {}
            }
        }
    }
    longest
}

fn judge(system: &System, promised: &Promised, trace: &Trace, totals: &Mutex<Totals>) -> Result<Found, Failure> {
    let mut problems = Vec::new();
    let seed = system.seed;
    let demand = |task: tactus_time::TaskId, job| system.tasks[task.index()].demand(seed, task, job);
    // The scheduler's longest turn in this run, and one turn of every other core of the emulated machine.
    let cores = system.cores as u64;
    let turn = Duration::from_nanos(u64::from(TURN_INSTRUCTIONS) << system.machine.shift);
    let allowed = longest_turn(trace) + turn * (cores - 1);
    let machine = |error: &dyn std::fmt::Display| Failure::Machine(format!("seed {seed}: {error}"));
    let replayed = lockstep(&promised.setup, |task, job| Some(demand(task, job)), trace, allowed)
        .map_err(|error| machine(&error))?;
    let agreement = match replayed {
        Ok(agreement) => agreement,
        Err(disagreement) => {
            problems.push(disagreement.to_string());
            Default::default()
        }
    };
    let free =
        simulate(&promised.setup, system.duration, demand, &Costs::default()).map_err(|error| machine(&error))?;
    let mut beside = compare(&promised.setup, |task, job| Some(demand(task, job)), &free, trace, allowed);
    let (release, schedule) = (allowed, longest_turn(trace));
    let most = Costs { release, schedule, switch: schedule, inter_core: release, complete: release };
    explain(&mut beside, &promised.setup, system.duration, demand, trace, &most).map_err(|error| machine(&error))?;
    if !beside.agrees() {
        problems.push(beside.to_string());
    }
    if let Some(tree) = tactus_sim::tree_view(&promised.setup) {
        problems.extend(
            tactus_trace::check::servers(&tree, trace, allowed)
                .into_iter()
                .take(3)
                .map(|it| format!("a rule is broken on core {} at {}: {}: {}", it.core, it.time, it.rule, it.text)),
        );
    }
    let summary = tactus_trace::judge(&promised.view, trace);
    if let (true, Verdict::Broken(broken)) = (summary.accepted, &summary.verdict) {
        problems.push(format!("a promise was broken: {broken:?}"));
    }
    // What was promised and bound to the end.
    let bound = |task: &&TaskSummary| task.void.is_none() && task.promise != PromiseSummary::None;
    let kept: Vec<_> = summary.tasks.iter().filter(bound).collect();
    let seen = measure::costs(system, trace, &summary);
    if let Ok(mut totals) = totals.lock() {
        totals.systems += 1;
        totals.decisions += agreement.calls;
        totals.records += agreement.records;
        totals.jobs += agreement.jobs;
        if agreement.largest_lateness() > totals.lateness {
            totals.lateness = agreement.largest_lateness();
            totals.allowed = allowed;
        }
        totals.steps += beside.steps();
        totals.equal += u64::from(beside.is_equal());
        totals.races += beside.divergences().filter(|(_, d)| matches!(d.cause, Cause::Race { .. })).count();
        totals.drifts += beside.divergences().filter(|(_, d)| matches!(d.cause, Cause::Drift { .. })).count();
        totals.difference = totals.difference.max(beside.largest_difference());
        if summary.accepted {
            totals.accepted += 1;
            totals.promises += kept.len() as u64;
            for task in kept {
                totals.worst = totals.worst.max(task.worst_over_bound.unwrap_or(0.0));
            }
        }
        totals.costs.add(system, &seen);
    }
    Ok(Found { decisions: agreement.calls, lateness: agreement.largest_lateness(), allowed, problems })
}

fn tell(totals: &Totals) {
    let Totals { systems, decisions, records, jobs, steps, equal, races, drifts, accepted, promises, worst, .. } =
        totals;
    lines::line(
        "agree",
        format!(
            "{systems} systems · {} decisions and {} records replayed · {} jobs",
            lines::grouped(*decisions),
            lines::grouped(*records),
            lines::grouped(*jobs)
        ),
    );
    lines::line("", format!("noticed at most {} late, where {} were allowed", totals.lateness, totals.allowed));
    lines::line(
        "",
        format!(
            "beside free simulation: {} steps equal, {equal} systems to the end, {races} races, {drifts} drifts; times differ by at most {}",
            lines::grouped(*steps as u64),
            totals.difference
        ),
    );
    lines::line("", format!("{accepted} systems accepted, {promises} promises held; worst ÷ bound {worst:.3}"));
    for failure in &totals.failures {
        lines::line("FAILED", failure);
    }
    lines::line("verdict", if totals.failures.is_empty() { "all agree" } else { "not all agree" });
}
