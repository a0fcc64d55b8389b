//! `tactus agree`: does the machine do what the simulator does, and does it keep what the analysis promised?
//!
//! Generated systems are checked, booted and judged. Of each run seven things are required:
//!
//! 1. every decision on the machine is the one that the policy makes when its inputs are replayed in the simulator, job
//!    by job and core by core, and every input was due (`lockstep`);
//! 2. nothing was noticed later than the overhead measured in that run and the bound of an emulated core's turn allow;
//! 3. beside a simulation that knows nothing of the run, nothing differs but what a race explains, or in trees of servers a
//!    schedule that moves with every shift (`compare`); left out where each server has a scheduler of its own;
//! 4. in trees, no rule of servers is broken: budgets, replenishments, no idle core beside work (`tactus_trace::check`);
//! 5. under AMC and EDF-VD, no core runs a level that it gave up;
//! 6. where a system changes while it runs, only what was admitted takes effect, in order, and releases are those of their time;
//! 7. where the check had accepted the system, no bound was beaten.
//!
//! What was found of each is a line of `systems.csv`: with `--resume` the same command goes on where it was broken off.

pub mod arguments;
mod ledger;
mod seen;

use arguments::Agree;
use ledger::{Ledger, Line};
use seen::Seen;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Mutex;
use tactus_formats::to_toml;
use tactus_generate::{
    any, changing, changing_levels, combined, jittered, lasting, partitions, per_server, raised, released, sharing,
    waiting, RAISER,
};
use tactus_machine::boot::{boot, compile_ours_for, details, image, is_booted, Ran};
use tactus_machine::build::Programs;
use tactus_machine::costs;
use tactus_machine::emulator::Emulator;
use tactus_machine::failure::{Failure, Outcome};
use tactus_machine::lock::FolderLock;
use tactus_machine::results::Results;
use tactus_machine::toolchain::Network;
use tactus_machine::{measure, place, schedulers};
use tactus_model::{Costs, Processor, Schedulers, System, LONGEST};
use tactus_plan::{plan, RunPlan};
use tactus_policy::Scheduler;
use tactus_report::Kept;
use tactus_sim::compare::{compare, explain, Cause, Comparison};
use tactus_sim::simulate_with_steps;
use tactus_terminal::lines;
use tactus_terminal::progress::Wait;
use tactus_trace::{Fate, TaskSummary, Verdict};

/// Digits of a seed in the name of a folder.
const DIGITS: usize = 4;

/// What all runs came to.
struct Totals {
    ledger: Ledger,
    /// Systems that ran now, of how many.
    ran: u64,
    wanted: u64,
    costs: Seen,
    failures: Vec<String>,
    /// How many seeds were left out, by reason.
    left_out: BTreeMap<&'static str, u64>,
}

/// Runs all systems, several at a time.
pub fn agree(arguments: &Agree) -> Result<Outcome, Failure> {
    if let Some(duration) = arguments.duration.filter(|it| it.is_zero() || *it > LONGEST) {
        let text = format!("--duration is {duration}; write a time above 0 and of {LONGEST} at most");
        return Err(Failure::Input(text));
    }
    let folder = arguments.out.clone().unwrap_or_else(|| place::results("agree"));
    let _lock = FolderLock::take(&folder)?;
    let wait = Wait::new("build", "kernel and components");
    let programs = compile_ours_for(arguments.processor, &|text| wait.tell(text), Network::Fetching);
    wait.end();
    let programs = programs?;
    let next = AtomicU64::new(arguments.seed);
    let end = arguments.seed + arguments.systems;
    let ledger = Ledger::open(&folder, arguments.resume)?;
    let known: BTreeSet<u64> = ledger.lines.keys().copied().collect();
    let here = |seed: &u64| (arguments.seed..end).contains(seed);
    let wanted = arguments.systems - known.iter().filter(|seed| here(seed)).count() as u64;
    let totals = Mutex::new(Totals {
        ledger,
        ran: 0,
        wanted,
        costs: Seen::default(),
        failures: Vec::new(),
        left_out: BTreeMap::new(),
    });
    let failed: Mutex<Option<Failure>> = Mutex::new(None);
    std::thread::scope(|scope| {
        for _ in 0..arguments.jobs.max(1) {
            scope.spawn(|| loop {
                let seed = next.fetch_add(1, Ordering::Relaxed);
                if seed >= end || failed.lock().is_ok_and(|failed| failed.is_some()) {
                    return;
                }
                if known.contains(&seed) {
                    continue;
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
        std::fs::write(file, totals.costs.file(arguments.processor, totals.ran))
            .map_err(|error| Failure::Machine(format!("{}: {error}", file.display())))?;
        lines::line("costs", file.display());
    }
    let differ = totals.ledger.lines.values().any(|line| line.problems > 0);
    Ok(Outcome::held_if(!differ))
}

/// One system: its line, and its part of the totals.
fn one(
    seed: u64,
    arguments: &Agree,
    programs: &Programs,
    folder: &Path,
    totals: &Mutex<Totals>,
) -> Result<(), Failure> {
    let drawn = match (arguments.per_server, arguments.changes) {
        _ if arguments.released => released(seed),
        _ if arguments.raised => raised(seed),
        _ if arguments.resources => Some(sharing(seed)),
        _ if arguments.waits => Some(waiting(seed)),
        _ if arguments.partitions => Some(partitions(seed)),
        _ if arguments.combined => Some(combined(seed)),
        _ if arguments.jitter => Some(jittered(seed)),
        (true, _) => per_server(seed),
        // A fourth has levels of criticality.
        (_, true) if seed % 4 == 3 => Some(changing_levels(seed / 4)),
        (_, true) => changing(seed),
        _ => Some(any(seed)),
    };
    let Some(mut system) = drawn else { return skip(totals, not_drawn(arguments)) };
    if let Some(duration) = arguments.duration {
        lasting(&mut system, duration);
    }
    if let Some(shift) = arguments.shift {
        system.machine.shift = shift;
    }
    system.machine.processor = arguments.processor;
    if is_booted(&system).is_err() {
        return skip(totals, "not booted on this processor");
    }
    let costs = costs::read(&arguments.costs, &system)?;
    let check = tactus_analysis::check(&system, &costs);
    // Orders that no test knows are not refused, and promised nothing.
    let accepted = check.accepted && check.tasks.iter().any(|task| task.bound().is_some());
    if arguments.accepted && !accepted {
        return skip(totals, "not accepted, or promised nothing");
    }
    let mut promised = plan(&system, &check, &costs);
    if Scheduler::new(&promised.setup).is_err() {
        // Where costs leave no room for a table of level A, the system is refused; its decisions can be compared all the
        // same, with the table that it would have without costs.
        let free = tactus_analysis::check(&system, &Costs::default());
        let free = plan(&system, &free, &Costs::default());
        // What it admits is what the run does.
        (promised.setup, promised.view.changes) = (free.setup, free.view.changes);
        if Scheduler::new(&promised.setup).is_err() {
            return skip(totals, "no table for level A even without costs");
        }
    }
    // The only component that a generated system may have.
    let raiser = system.components.iter().filter_map(|_| programs.get(RAISER).cloned());
    let (kernel, image) = image(&system, &promised, programs, &raiser.collect::<Vec<_>>())?;
    let results = Results::make(&folder.join(format!("{seed:0DIGITS$}")))?;
    let ran = boot(&system, &kernel, &image, &results)?;
    let mut line = Line::of(seed, &system, accepted);
    let mut problems = judge(&system, &promised, &ran, &mut line, totals)?;
    line.problems = problems.len() as u64;
    let verdict = match (problems.is_empty(), Compared::of(&line)) {
        (true, Compared::Whole) => lines::good("agrees"),
        (true, Compared::UntilRace) => "compared until a race".to_string(),
        (false, _) => lines::bad("DISAGREES"),
    };
    let accepted = match (accepted, check.accepted) {
        (true, _) => "accepted",
        (_, true) => "unproven",
        _ => "refused ",
    };
    if let Ok(mut totals) = totals.lock() {
        totals.ran += 1;
        lines::put(&format!(
            "{:>4} of {:<4} seed {seed:<5} {:<22} {:>2} servers {} cores {:>3} tasks  {accepted}  {:>6} decisions  late {:>10} of {:>10}  {verdict}\n",
            totals.ran,
            totals.wanted,
            line.policy,
            line.servers,
            line.cores,
            line.tasks,
            line.decisions,
            line.lateness.to_string(),
            line.allowed.to_string(),
        ));
        totals.ledger.add(line)?;
    }
    if problems.is_empty() {
        // Nothing to look at: leave no heap of images behind.
        let _ = std::fs::remove_dir_all(folder.join(format!("{seed:0DIGITS$}")));
    } else {
        results.put("system.toml", to_toml(&system).unwrap_or_default().as_bytes())?;
        let emulator = Emulator::find(arguments.processor).map_err(|error| Failure::Machine(error.to_string()))?;
        let details = details(&system, &emulator, &image, again(seed, arguments));
        results.write(&Kept { view: promised.view, details }, &ran.trace)?;
        for problem in &mut problems {
            lines::put(&format!("      {problem}\n"));
            *problem = format!("seed {seed}: {problem}");
        }
        if let Ok(mut totals) = totals.lock() {
            totals.failures.append(&mut problems);
        }
    }
    Ok(())
}

/// The command that runs the one system again.
fn again(seed: u64, arguments: &Agree) -> String {
    let mut words = vec![format!("./tactus agree --systems 1 --seed {seed}")];
    words.extend(
        (arguments.processor != Processor::default()).then(|| format!("--processor {}", arguments.processor.name())),
    );
    words.extend(arguments.per_server.then(|| "--per-server".to_string()));
    words.extend(arguments.released.then(|| "--released".to_string()));
    words.extend(arguments.raised.then(|| "--raised".to_string()));
    words.extend(arguments.resources.then(|| "--resources".to_string()));
    words.extend(arguments.waits.then(|| "--waits".to_string()));
    words.extend(arguments.partitions.then(|| "--partitions".to_string()));
    words.extend(arguments.combined.then(|| "--combined".to_string()));
    words.extend(arguments.jitter.then(|| "--jitter".to_string()));
    words.extend(arguments.changes.then(|| "--changes".to_string()));
    words.extend(arguments.duration.map(|it| format!("--duration '{} ns'", it.as_nanos())));
    words.extend(arguments.shift.map(|it| format!("--shift {it}")));
    words.extend((arguments.costs != "measured").then(|| format!("--costs {}", lines::quoted(&arguments.costs))));
    words.join(" ")
}

/// A system that is not run, and why.
fn skip(totals: &Mutex<Totals>, why: &'static str) -> Result<(), Failure> {
    if let Ok(mut totals) = totals.lock() {
        totals.wanted -= 1;
        *totals.left_out.entry(why).or_default() += 1;
    }
    Ok(())
}

/// Why a seed gives no system.
fn not_drawn(arguments: &Agree) -> &'static str {
    match arguments.per_server {
        _ if arguments.raised => "no task that an event could release",
        _ if arguments.released => "no two tasks of which one could release the other",
        true => "no tree with a scheduler for each server: not partitioned, nothing inside a server, or too large",
        false => "nothing in it that could change",
    }
}

/// How far a system was compared, beside what does not agree.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Compared {
    /// Each decision was replayed, or the schedule is the simulator's from the start of the run to its end.
    Whole,
    /// Neither: the schedule was compared until a race or a drift, and what came after it by the rules of servers alone.
    UntilRace,
}

impl Compared {
    fn of(line: &Line) -> Compared {
        match line.equal || line.decisions > 0 {
            true => Compared::Whole,
            false => Compared::UntilRace,
        }
    }
}

/// The last words: how many agree, how many of these were compared to the end, and whether any promise was tested.
fn verdict<'a>(all: impl Iterator<Item = &'a Line>, left_out: u64) -> String {
    let (mut whole, mut until, mut differ) = (0, 0, 0);
    let (mut accepted, mut promises) = (0, 0);
    for line in all {
        accepted += u64::from(line.accepted);
        promises += line.promises;
        match (line.problems, Compared::of(line)) {
            (0, Compared::Whole) => whole += 1,
            (0, Compared::UntilRace) => until += 1,
            _ => differ += 1,
        }
    }
    let mut words = match (differ, until, whole) {
        (0, 0, 0) => "nothing was compared".to_string(),
        (0, 0, _) => "all agree".to_string(),
        (0, _, _) => format!("none disagrees: {whole} agree to the end, {until} were compared until a race"),
        _ => format!("not all agree: {differ} disagree, {whole} agree to the end, {until} were compared until a race"),
    };
    if (promises, differ + until + whole > 0) == (0, true) {
        words += &format!(" · NO promise was tested, {accepted} accepted: run more systems, or --accepted");
    }
    if left_out > 0 {
        words += &format!(" · {left_out} left out");
    }
    words
}

/// Fills the line with what was found, and gives what does not agree.
fn judge(
    system: &System,
    promised: &RunPlan,
    ran: &Ran,
    line: &mut Line,
    totals: &Mutex<Totals>,
) -> Result<Vec<String>, Failure> {
    let (mut problems, trace) = (Vec::new(), &ran.trace);
    let seed = system.seed;
    let demand = |task: tactus_time::TaskId, job| system.tasks[task.index()].demand(seed, task, job);
    let allowed = schedulers::allowed(system, trace);
    let machine = |error: &dyn std::fmt::Display| Failure::Machine(format!("seed {seed}: {error}"));
    let single = system.scheduling.schedulers == Schedulers::Single;
    let replayed = schedulers::replay(system, &promised.setup, &ran.schedulers, allowed)?;
    let agreement = match replayed {
        Ok(agreement) => agreement,
        Err(disagreement) => {
            problems.push(disagreement);
            Default::default()
        }
    };
    let known = |task, job| Some(demand(task, job));
    let schedule = schedulers::longest_turn(system, trace);
    // Several schedulers decide one after another; only each by itself is what the simulator knows.
    let mut beside = Comparison::default();
    // What is raised on the machine, a free simulation does not know.
    let outside = system.scheduling.places.iter().any(|place| place.raised_by.is_some());
    if single && !outside {
        let steps = promised.job_steps(system);
        let work = ((demand, Vec::new()), steps.clone());
        let free = simulate_with_steps(&promised.setup, system.duration, work.0, work.1, &Costs::default())
            .map_err(|error| machine(&error))?;
        beside = compare(&promised.setup, (known, &steps), &free, trace, allowed);
        let most = Costs { release: allowed, schedule, switch: schedule, inter_core: allowed, complete: allowed };
        explain(&mut beside, &promised.setup, system.duration, (demand, &steps), trace, &most)
            .map_err(|error| machine(&error))?;
    }
    if !beside.agrees() {
        problems.push(beside.to_string());
    }
    let mut broken = match &promised.view.tree {
        // What one core decides in its turn, another one notices so much later.
        Some(tree) => tactus_trace::check::servers(tree, trace, allowed + schedule),
        None => tactus_trace::check::modes(&promised.view, trace),
    };
    broken.extend(tactus_trace::check::windows(&promised.view, trace, allowed + schedule));
    broken.extend(tactus_trace::check::changes(&promised.view, trace));
    if !broken.is_empty() {
        problems.extend(broken.into_iter().take(3).map(|it| {
            let who = it.task.zip(it.job).map(|(task, job)| format!("t{} job {job} ", task.0)).unwrap_or_default();
            format!("a rule is broken on core {} at {}: {}: {who}{}", it.core, it.time, it.rule, it.text)
        }));
    }
    let summary = tactus_trace::judge(&promised.view, trace);
    if let (true, Verdict::Broken(broken)) = (summary.accepted, &summary.verdict) {
        problems.push(format!("a promise was broken: {broken:?}"));
    }
    // What was promised and bound to the end.
    let bound = |task: &&TaskSummary| task.void.is_none() && task.promise.is_some();
    let kept: Vec<_> = summary.tasks.iter().filter(bound).collect();
    let seen = measure::costs(system, trace, &summary);
    let fate = |fate: Fate| summary.changes.iter().filter(|change| change.fate == fate).count() as u64;
    (line.effects, line.refused) = (fate(Fate::Applied), fate(Fate::Refused));
    line.decisions = agreement.calls;
    line.records = agreement.records;
    line.jobs = agreement.jobs;
    (line.lateness, line.allowed) = (agreement.largest_lateness(), allowed);
    (line.steps, line.equal) = (beside.steps() as u64, single && !outside && beside.is_equal());
    let count = |cause: fn(&Cause) -> bool| beside.divergences().filter(|(_, d)| cause(&d.cause)).count() as u64;
    line.races = count(|cause| matches!(cause, Cause::Race { .. }));
    line.drifts = count(|cause| matches!(cause, Cause::Drift { .. }));
    line.difference = beside.largest_difference();
    if line.accepted {
        line.promises = kept.len() as u64;
        line.worst = kept.iter().filter_map(|task| task.worst_over_bound).fold(0.0, f64::max);
        for chain in &summary.chains {
            let Some((response, bound)) = chain.response.as_ref().zip(chain.bound) else { continue };
            line.messages += chain.completed;
            line.worst_message = line.worst_message.max(response.max.as_nanos() as f64 / bound.as_nanos() as f64);
        }
    }
    if let Ok(mut totals) = totals.lock() {
        totals.costs.add(system, &seen);
    }
    Ok(problems)
}

/// Tells of all lines, also of those that were there before.
fn tell(totals: &Totals) {
    totals.ledger.tell();
    let all = || totals.ledger.lines.values();
    let sum = |of: fn(&Line) -> u64| all().map(of).sum::<u64>();
    let late = all().max_by_key(|line| line.lateness);
    lines::put("\n");
    lines::line(
        "agree",
        format!(
            "{} systems · {} decisions and {} records replayed · {} jobs",
            all().count(),
            lines::grouped(sum(|line| line.decisions)),
            lines::grouped(sum(|line| line.records)),
            lines::grouped(sum(|line| line.jobs)),
        ),
    );
    if let Some(line) = late {
        lines::line("", format!("noticed at most {} late, where {} were allowed", line.lateness, line.allowed));
    }
    lines::line(
        "",
        format!(
            "beside free simulation: {} steps equal, {} systems to the end, {} races, {} drifts; times differ by at most {}",
            lines::grouped(sum(|line| line.steps)),
            sum(|line| u64::from(line.equal)),
            sum(|line| line.races),
            sum(|line| line.drifts),
            all().map(|line| line.difference).max().unwrap_or_default(),
        ),
    );
    lines::line(
        "",
        format!(
            "{} systems accepted, {} promises held; worst ÷ bound {:.3}",
            sum(|line| u64::from(line.accepted)),
            sum(|line| line.promises),
            all().map(|line| line.worst).fold(0.0, f64::max),
        ),
    );
    if sum(|line| line.messages) > 0 {
        let worst = all().map(|line| line.worst_message).fold(0.0, f64::max);
        let count = lines::grouped(sum(|line| line.messages));
        let systems = sum(|line| u64::from(line.messages > 0));
        let what = format!("{count} messages and passages of chains, in {systems} systems");
        lines::line("", format!("{what}; worst latency ÷ bound {worst:.3}"));
    }
    if sum(|line| line.changes) > 0 {
        lines::line(
            "",
            format!(
                "{} changes in {} systems: {} were applied, {} were refused",
                sum(|line| line.changes),
                sum(|line| u64::from(line.changes > 0)),
                sum(|line| line.effects),
                sum(|line| line.refused),
            ),
        );
    }
    for failure in &totals.failures {
        lines::line("FAILED", failure);
    }
    for line in all().filter(|line| line.problems > 0) {
        lines::line("apart", format!("seed {}, {} on {} cores", line.seed, line.policy, line.cores));
    }
    for (why, count) in &totals.left_out {
        lines::line("left out", format!("{}: {why}", lines::count(*count as usize, "seed")));
    }
    lines::line("verdict", verdict(all(), totals.left_out.values().sum()));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_compared_to_the_end_counts_as_agreement() {
        let line = |equal, decisions, problems| Line {
            equal,
            decisions,
            problems,
            accepted: true,
            promises: 3,
            ..Line::default()
        };
        let (equal, replayed, race, wrong) = (line(true, 0, 0), line(false, 9, 0), line(false, 0, 0), line(true, 9, 1));
        let said = |lines: &[&Line], left_out| verdict(lines.iter().copied(), left_out);
        assert_eq!(said(&[&equal, &replayed], 0), "all agree");
        assert_eq!(said(&[], 2), "nothing was compared · 2 left out");
        let some = said(&[&equal, &race, &race], 2);
        assert_eq!(some, "none disagrees: 1 agree to the end, 2 were compared until a race · 2 left out");
        let bad = said(&[&equal, &race, &wrong], 0);
        assert_eq!(bad, "not all agree: 1 disagree, 1 agree to the end, 1 were compared until a race");
    }

    #[test]
    fn systems_that_were_promised_nothing_agree_and_test_no_promise() {
        let refused = Line { equal: true, ..Line::default() };
        let unproven = Line { accepted: true, ..refused.clone() };
        let promised = Line { promises: 1, ..unproven.clone() };
        let said = |lines: &[&Line]| verdict(lines.iter().copied(), 0);
        assert_eq!(
            said(&[&refused, &refused]),
            "all agree · NO promise was tested, 0 accepted: run more systems, or --accepted"
        );
        assert!(said(&[&refused, &unproven]).contains("NO promise was tested, 1 accepted"));
        assert_eq!(said(&[&refused, &promised]), "all agree");
    }
}
