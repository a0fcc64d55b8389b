//! `tactus study overheads`: the overhead measurements of Gracioli (EPOS, 7.1 and 7.2 of our digest) on the kernel, under global,
//! clustered and partitioned EDF, in instructions.
//!
//! Light uniform utilisations and short periods, as the source has them; where n such tasks are more than the cores can do, all
//! are shortened alike. A decision begins when the scheduler looks at the clock and ends when it does so again. What it took is
//! counted by a plug-in of the emulator, the core's own instructions alone, so that the turns of other cores are not in it and no
//! decision is left out.
//!
//! Each set runs twice. In the second run jobs have nothing to do: each ends at its first look at the clock, always the same few
//! instructions after its first. There the switch of context is seen ([`switches`]).

use super::kept::{csv, markdown, plot, put, Line};
use super::mc2::overheads::length;
use super::own_counts::decisions;
use super::progress::Progress;
use clap::Args;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use tactus_generate::Random;
use tactus_machine::boot::{boot, boot_with, compile_ours, image, machine, Emulation, Ran};
use tactus_machine::failure::{Failure, Outcome};
use tactus_machine::place;
use tactus_machine::probe::{readings, Probe};
use tactus_machine::results::Results;
use tactus_machine::schedulers;
use tactus_machine::toolchain::{Network, Toolchain};
use tactus_model::{Body, Costs, Demand, Machine, Migration, Policy, Scheduling, System, Task, TaskOrder};
use tactus_plan::plan;
use tactus_record::{EntryReason, EventKind};
use tactus_terminal::lines;
use tactus_terminal::progress::Wait;
use tactus_time::{CoreId, CoreSet, Duration, Instant};
use tactus_trace::Trace;

/// Options of `study overheads`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Numbers of tasks
    #[arg(long, value_name = "N", value_delimiter = ',', default_values_t = [5, 15, 25, 50, 75, 100, 125])]
    tasks: Vec<usize>,
    /// Cores; clusters have two
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u64).range(2..=8))]
    cores: u64,
    /// How many sets of each size
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=100))]
    sets: u64,
    /// How long each run is
    #[arg(long, value_name = "TIME", value_parser = length, default_value = "500 ms")]
    duration: Duration,
    /// Where the results go
    #[arg(long, value_name = "FOLDER", default_value = "out/study/overheads")]
    out: PathBuf,
}

const SPREADS: [(&str, Migration); 3] =
    [("global", Migration::Global), ("clustered", Migration::Clustered), ("partitioned", Migration::Partitioned)];
const SHIFT: u8 = 1;
/// No way of the timer takes as many instructions by itself.
const TOO_MUCH: u64 = 30_000;
/// What is measured, and what in it.
const KINDS: [(&str, &str); 7] = [
    ("release", "a decision in which jobs were released"),
    ("scheduling", "a decision at the end of a job"),
    ("timer", "from the time set to the scheduler's first look at the clock"),
    ("inter-core", "from the end of the decision that sent an event to the other core's first look at the clock"),
    (
        "switch",
        "from the end of a decision that begins a job to the scheduler's first look at the clock at the job's end, where jobs have \
         nothing to do and all other cores are idle: the switch to the job, some 65 instructions of the job and its library, and \
         its call of the scheduler",
    ),
    (
        "wake-up",
        "from the nominal release of a job, for which its core wakes up while all others stay idle, to the scheduler's first look \
         at the clock at the job's end, where jobs have nothing to do: timer, release and switch in one",
    ),
    ("release-share", "what a release takes of 400 instructions and 200 for each job released in it, in per cent"),
];

type Samples = [Vec<u64>; 7];
/// What a job with nothing to do takes: its time is up before its first look at the clock.
const NOTHING: Duration = Duration::from_nanos(1);

fn system(n: usize, cores: usize, spread: Migration, seed: u64, duration: Duration) -> System {
    let mut random = Random::new(seed ^ (n as u64) << 32);
    let mut utilisations: Vec<f64> = (0..n).map(|_| 0.001 + 0.099 * random.unit()).collect();
    let sum: f64 = utilisations.iter().sum();
    let most = 0.6 * cores as f64;
    if sum > most {
        utilisations.iter_mut().for_each(|u| *u *= most / sum);
    }
    let clusters: Vec<CoreSet> =
        (0..cores).step_by(2).map(|core| CoreSet::from_bits(3 << core & ((1_u16 << cores) - 1) as u8)).collect();
    let places = match spread {
        Migration::Global => 0,
        Migration::Clustered => clusters.len(),
        Migration::Partitioned => cores,
    };
    let mut load = vec![0.0_f64; places];
    let tasks = utilisations.iter().enumerate().map(|(number, utilisation)| {
        let period = Duration::from_millis(random.between(3, 33));
        let least = (0..places).min_by(|a, b| load[*a].total_cmp(&load[*b]));
        let core = least.map(|place| {
            load[place] += utilisation;
            // Of a cluster, the first core stands for all.
            CoreId(if spread == Migration::Clustered { 2 * place } else { place } as u8)
        });
        let execution =
            Duration::from_nanos((period.as_nanos() as f64 * utilisation) as u64).max(Duration::from_micros(5));
        Task {
            name: format!("t{number}"),
            level: None,
            core,
            offset: Duration::ZERO,
            period,
            deadline: period,
            execution: [Some(execution); 4],
            demand: Demand::Fixed(execution),
            minimum: None,
            memory: 0,
            body: Body::Workload,
            line: 0,
        }
    });
    let (policy, clusters) = match spread {
        Migration::Global => (Policy::GlobalEdf, Vec::new()),
        Migration::Partitioned => (Policy::PartitionedEdf, Vec::new()),
        Migration::Clustered => (Policy::Ordered { spread, order: TaskOrder::EarliestDeadline }, clusters),
    };
    let tasks: Vec<Task> = tasks.collect();
    let places = match spread {
        Migration::Clustered => vec![Default::default(); tasks.len()],
        _ => Vec::new(),
    };
    System {
        name: format!("overheads-{n}-{seed}"),
        source: format!("overheads-{n}-{seed}.toml").into(),
        cores,
        memory: 512 << 20,
        duration,
        seed,
        policy,
        chains: Vec::new(),
        channels: Vec::new(),
        mailboxes: Vec::new(),
        services: Vec::new(),
        slots: Vec::new(),
        loads: Vec::new(),
        machine: Machine { shift: SHIFT, processor: Default::default(), overheads: true, beside: 0 },
        tasks,
        components: Vec::new(),
        scheduling: Scheduling { clusters, places, ..Scheduling::default() },
        platform: tactus_model::Platform::default(),
        disks: Vec::new(),
        monitors: Vec::new(),
        linux: Vec::new(),
        notes: Vec::new(),
    }
}

/// One line for each task: what another system needs in order to run the same. Without a core, any may run it; of a cluster
/// stands the first.
fn listed(system: &System, spread: &str, seed: u64) -> Vec<Vec<String>> {
    let tasks = system.tasks.iter().enumerate().map(|(number, task)| {
        let core = task.core.map_or("any".to_string(), |core| core.0.to_string());
        let execution = task.execution[0].unwrap_or_default().as_nanos();
        let numbers = [system.tasks.len() as u64, seed, number as u64].map(|it| it.to_string());
        let mut row = vec![spread.to_string()];
        row.extend(numbers);
        row.extend([core, task.period.as_nanos().to_string(), execution.to_string()]);
        row
    });
    tasks.collect()
}

/// Adds what a run shows; `own` holds the own instructions of each decision, by core. Gives how many ways of the timer were left out,
/// since another core had its turn in them.
fn samples(trace: &Trace, own: &[Vec<u64>], into: &mut Samples) -> u64 {
    let mut left_out = 0;
    let mut sent: Vec<Vec<Instant>> = vec![Vec::new(); trace.cores.len()];
    for (core, records) in trace.cores.iter().enumerate() {
        let alone = |from: Instant, to: Instant| {
            trace.cores.iter().enumerate().filter(|(n, _)| *n != core).all(|(_, records)| {
                let next = records.partition_point(|record| record.time < from);
                records.get(next).is_none_or(|record| record.time > to)
            })
        };
        let mut own = own.get(core).into_iter().flatten();
        let (mut entered, mut released, mut receivers) = (None, 0, Vec::new());
        for record in records {
            match record.kind {
                EventKind::Enter => {
                    let reason = EntryReason::from_u8(record.level);
                    (entered, released) = (Some(reason), 0);
                    if reason == Some(EntryReason::Timer) && record.arg != u64::MAX {
                        let expiry = Instant::from_nanos(record.arg);
                        let late = record.time.since(expiry).as_nanos() >> SHIFT;
                        match late < TOO_MUCH && alone(expiry, record.time) {
                            true => into[2].push(late),
                            false => left_out += 1,
                        }
                    }
                }
                EventKind::Release => released += 1,
                EventKind::Notify => receivers.push(record.arg as usize),
                EventKind::Leave => {
                    let Some(reason) = entered.take() else { continue };
                    let took = own.next().copied();
                    match (reason, released) {
                        (Some(EntryReason::Complete), 0) => into[1].extend(took),
                        (_, 0) => {}
                        (_, jobs) => {
                            into[0].extend(took);
                            into[6].extend(took.map(|took| 100 * took / (400 + 200 * jobs)));
                        }
                    }
                    for receiver in receivers.drain(..) {
                        if let Some(list) = sent.get_mut(receiver) {
                            list.push(record.time);
                        }
                    }
                }
                _ => {}
            }
        }
    }
    for (records, mut sent) in trace.cores.iter().zip(sent) {
        sent.sort_unstable();
        let mut under_way = sent.into_iter().peekable();
        for enter in records.iter().filter(|record| record.kind == EventKind::Enter) {
            let mut first = None;
            while let Some(time) = under_way.next_if(|t| *t <= enter.time) {
                first.get_or_insert(time);
            }
            // One that comes while the scheduler is entered for another reason is handled with that.
            if EntryReason::from_u8(enter.level) == Some(EntryReason::Notify) {
                into[3].extend(first.map(|t| enter.time.since(t).as_nanos() >> SHIFT));
            }
        }
    }
    left_out
}

/// Adds what a run whose jobs have nothing to do shows: from the decision that begins a job to the decision at its end, if
/// nothing else happened and no other core had anything to run, so that all instructions in between are this core's.
fn switches(trace: &Trace, into: &mut Samples) {
    let mut begun = HashMap::new();
    for record in trace.cores.iter().flatten().filter(|record| record.kind == EventKind::Leave) {
        begun
            .entry((record.task, record.job))
            .and_modify(|t: &mut Instant| *t = record.time.min(*t))
            .or_insert(record.time);
    }
    for (core, records) in trace.cores.iter().enumerate() {
        let others_idle = |from: Instant, to: Instant| {
            trace.cores.iter().enumerate().filter(|(n, _)| *n != core).all(|(_, records)| {
                let next = records.partition_point(|record| record.time < from);
                let last =
                    records[..next].iter().rfind(|record| matches!(record.kind, EventKind::Enter | EventKind::Leave));
                let idle = last.is_none_or(|record| record.kind == EventKind::Leave && record.task.is_none());
                idle && records.get(next).is_none_or(|record| record.time > to)
            })
        };
        let (mut was_idle, mut released) = (false, Vec::new());
        let mut given: Option<(Instant, Option<Instant>)> = None;
        for record in records {
            match record.kind {
                EventKind::Enter => {
                    let done = EntryReason::from_u8(record.level) == Some(EntryReason::Complete);
                    if let Some((left, woken)) = given.take().filter(|_| done) {
                        if others_idle(left, record.time) {
                            into[4].push(record.time.since(left).as_nanos() >> SHIFT);
                        }
                        if let Some(release) = woken.filter(|release| others_idle(*release, record.time)) {
                            into[5].push(record.time.since(release).as_nanos() >> SHIFT);
                        }
                    }
                    was_idle = record.task.is_none();
                    released.clear();
                }
                EventKind::Release => released.push((record.task, record.job, Instant::from_nanos(record.arg))),
                EventKind::Leave => {
                    let job = (record.task, record.job);
                    if record.task.is_some() && begun.get(&job) == Some(&record.time) {
                        let release = released.iter().find(|(task, number, _)| (*task, *number) == job);
                        given = Some((record.time, release.filter(|_| was_idle).map(|(_, _, at)| *at)));
                    }
                }
                _ => {}
            }
        }
    }
}

/// Mean, median, the value that 99 of 100 do not exceed, and the largest.
fn figures(samples: &[u64]) -> [f64; 4] {
    let mut sorted = samples.to_vec();
    sorted.sort_unstable();
    let rank =
        |part: f64| sorted.get(((sorted.len() as f64 * part).ceil() as usize).max(1) - 1).copied().unwrap_or(0) as f64;
    let mean = samples.iter().sum::<u64>() as f64 / samples.len().max(1) as f64;
    [mean, rank(0.5), rank(0.99), rank(1.0)]
}

/// The plug-in that counts.
fn probe() -> Result<Probe, Failure> {
    let toolchain = Toolchain::find().map_err(machine)?;
    Probe::build(&toolchain, &place::root()?).map_err(Failure::Machine)
}

/// What each decision took of its own core, by core.
fn own_counts(trace: &Trace, folder: &Path) -> Result<Vec<Vec<u64>>, Failure> {
    let readings = readings(folder, trace.cores.len()).map_err(machine)?;
    let counted = trace.cores.iter().zip(&readings).enumerate().map(|(core, (records, readings))| {
        decisions(records, readings, SHIFT).map_err(|n| {
            Failure::Machine(format!("core {core}: decision {n} of the trace is not in the counts of the plug-in"))
        })
    });
    counted.collect()
}

/// Runs everything and writes table, plots and page.
pub fn study(arguments: &Arguments) -> Result<Outcome, Failure> {
    if let Some(n) = arguments.tasks.iter().find(|n| !(1..=400).contains(*n)) {
        return Err(Failure::Input(format!("--tasks: {n} tasks; choose 1 to 400")));
    }
    let cores = arguments.cores as usize;
    let head = format!("{cores} cores, {} sets of each size, {} each", arguments.sets, arguments.duration);
    lines::line("study", format!("overheads of EDF on the kernel: {head}"));
    let wait = Wait::new("build", "kernel and components");
    let built = compile_ours(&|text| wait.tell(text), Network::Fetching).and_then(|programs| Ok((programs, probe()?)));
    wait.end();
    let (programs, probe) = built?;
    let total = (SPREADS.len() * arguments.tasks.len()) as u64 * arguments.sets;
    let mut progress = Progress::new("study", "runs", total);
    let (mut done, mut left_out, mut rows, mut sets) = (0, 0, Vec::new(), Vec::new());
    // By spread, number of tasks and kind.
    let mut all = Vec::new();
    for (name, spread) in SPREADS {
        let mut of_spread = Vec::new();
        for &n in &arguments.tasks {
            let mut found = Samples::default();
            for seed in 0..arguments.sets {
                let mut system = system(n, cores, spread, seed, arguments.duration);
                sets.extend(listed(&system, name, seed));
                let free = Costs::default();
                let promised = plan(&system, &tactus_analysis::check(&system, &free), &free);
                for empty in [false, true] {
                    if empty {
                        system.tasks.iter_mut().for_each(|task| task.demand = Demand::Fixed(NOTHING));
                    }
                    let (kernel, image) = image(&system, &promised, &programs, &[])?;
                    let folder = arguments.out.join("machine");
                    let results = Results::make(&folder)?;
                    let scheduler = schedulers::program(&system, &promised.setup.kind);
                    let scheduler =
                        programs.get(&scheduler).ok_or_else(|| Failure::Machine(format!("there is no {scheduler}")))?;
                    if empty {
                        let Ran { trace, .. } = boot(&system, &kernel, &image, &results)?;
                        switches(&trace, &mut found);
                    } else {
                        let words = probe.counting(scheduler, results.folder()).map_err(machine)?;
                        let Ran { trace, .. } =
                            boot_with(&system, (&kernel, &image), &results, None, Emulation::PlugIn(words))?;
                        let own = own_counts(&trace, results.folder())?;
                        left_out += samples(&trace, &own, &mut found);
                    }
                    let _ = std::fs::remove_dir_all(folder);
                }
                done += 1;
                progress.tell(done);
            }
            let of_n: Vec<[f64; 4]> = found.iter().map(|samples| figures(samples)).collect();
            for ((kind, _), (figures, samples)) in KINDS.iter().zip(of_n.iter().zip(&found)) {
                let mut row = vec![name.to_string(), n.to_string(), (*kind).to_string(), samples.len().to_string()];
                row.extend(figures.iter().map(|figure| format!("{figure:.0}")));
                rows.push(row);
            }
            of_spread.push(of_n);
        }
        all.push(of_spread);
    }
    progress.end();
    let columns = ["spread", "n", "overhead", "samples", "mean", "median", "p99", "worst"];
    put(&arguments.out, "overheads.csv", &csv(&columns, &rows))?;
    let columns = ["spread", "n", "set", "task", "core", "period_ns", "execution_ns"];
    put(&arguments.out, "sets.csv", &csv(&columns, &sets))?;
    let page = page(arguments, &all, &head, left_out)?;
    put(&arguments.out, "overheads.md", &page)?;
    lines::put(&page);
    lines::line("results", arguments.out.display());
    Ok(Outcome::Held)
}

fn page(arguments: &Arguments, all: &[Vec<Vec<[f64; 4]>>], head: &str, left_out: u64) -> Result<String, Failure> {
    let mut page = format!(
        "# Overheads of EDF, measured\n\nMade by `./tactus study overheads` ({head}); instructions. What is asked and read: [The \
         overhead study](../lab/study-overheads.md). Every figure: [CSV](overheads/overheads.csv). Release and scheduling \
         are the core's own instructions, counted by a plug-in of the emulator, and no decision is left out. {left_out} ways of the \
         timer in which other cores had a turn of the emulated machine are left out.\n"
    );
    let x: Vec<f64> = arguments.tasks.iter().map(|n| *n as f64).collect();
    for (kind, (name, what)) in KINDS.iter().enumerate() {
        page += &format!("\n## {name}\n\nThat is, {what}. Mean, 99 of 100 below, worst:\n\n");
        let mut head = vec!["n".to_string()];
        head.extend(arguments.tasks.iter().map(usize::to_string));
        let head: Vec<&str> = head.iter().map(String::as_str).collect();
        let (mut rows, mut curves) = (Vec::new(), Vec::new());
        for (n, ((spread, _), of)) in SPREADS.iter().zip(all).enumerate() {
            let mut row = vec![(*spread).to_string()];
            row.extend(of.iter().map(|kinds| {
                let [mean, _, p99, worst] = kinds[kind];
                if worst == 0.0 {
                    "none".to_string()
                } else {
                    format!("{mean:.0}, {p99:.0}, {worst:.0}")
                }
            }));
            rows.push(row);
            for (which, title, dash) in [(0, "mean", 0), (2, "99 %", 1)] {
                let y = of.iter().map(|kinds| kinds[kind][which]).collect();
                curves.push(Line { name: format!("{spread}, {title}"), y, colour: n, dash });
            }
        }
        page += &markdown(&head, &rows);
        let svg = plot(&format!("EDF: {name}"), "tasks", "instructions", &x, curves);
        put(&arguments.out, &format!("{name}.svg"), &svg)?;
        page += &format!("\n![{name}](overheads/{name}.svg)\n");
    }
    Ok(page)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tactus_record::Record;
    use tactus_time::TaskId;

    fn record(time: u64, kind: EventKind, level: u8, task: Option<u16>, job: u32, arg: u64) -> Record {
        let time = Instant::from_nanos(time);
        Record { time, arg, job, task: task.map(TaskId), kind, level, core: CoreId(0), ticket: 0 }
    }

    const NOTHING_SEEN: [Vec<u64>; 2] = [Vec::new(), Vec::new()];

    /// An idle core wakes up for a job, 100 ns late, and runs it in one piece.
    fn woken() -> Vec<Record> {
        vec![
            record(1_100, EventKind::Enter, EntryReason::Timer as u8, None, 0, 1_000),
            record(1_100, EventKind::Release, 0, Some(0), 3, 1_000),
            record(1_100, EventKind::Dispatch, 0, Some(0), 3, 0),
            record(1_700, EventKind::Leave, EntryReason::Timer as u8, Some(0), 3, 5_000),
            record(2_300, EventKind::Enter, EntryReason::Complete as u8, Some(0), 0, 0),
            record(2_300, EventKind::Complete, 0, Some(0), 3, 1_200),
            record(2_900, EventKind::Leave, EntryReason::Complete as u8, None, 0, 5_000),
        ]
    }

    fn seen(cores: Vec<Vec<Record>>) -> [Vec<u64>; 2] {
        let mut samples = Samples::default();
        switches(
            &Trace { dropped: vec![0; cores.len()], cores, disks: Vec::new(), observed: Vec::new() },
            &mut samples,
        );
        let [.., switch, wake_up, _] = samples;
        [switch, wake_up]
    }

    #[test]
    fn a_switch_reaches_from_the_decision_that_begins_a_job_to_the_one_at_its_end() {
        assert_eq!(seen(vec![woken(), Vec::new()]), [vec![300], vec![650]]);
    }

    #[test]
    fn a_core_that_was_busy_before_gives_a_switch_and_no_wake_up() {
        let mut busy = woken();
        busy[0].task = Some(TaskId(1));
        assert_eq!(seen(vec![busy]), [vec![300], Vec::new()]);
    }

    #[test]
    fn nothing_counts_while_another_core_has_something_to_run_or_to_decide() {
        let runs = vec![record(500, EventKind::Leave, EntryReason::Timer as u8, Some(1), 0, 9_000)];
        assert_eq!(seen(vec![woken(), runs]), NOTHING_SEEN);
        let decides = vec![
            record(2_000, EventKind::Enter, EntryReason::Timer as u8, None, 0, 2_000),
            record(2_100, EventKind::Leave, EntryReason::Timer as u8, None, 0, 9_000),
        ];
        assert_eq!(seen(vec![woken(), decides]), NOTHING_SEEN);
        let sleeps = vec![record(500, EventKind::Leave, EntryReason::Complete as u8, None, 0, 9_000)];
        assert_eq!(seen(vec![woken(), sleeps]), [vec![300], vec![650]]);
    }

    #[test]
    fn a_job_that_was_interrupted_gives_no_switch() {
        let mut cut = woken();
        let of = |kind, level| record(1_900, kind, level, Some(0), 3, 0);
        cut.splice(
            4..4,
            [of(EventKind::Enter, EntryReason::Timer as u8), of(EventKind::Leave, EntryReason::Timer as u8)],
        );
        assert_eq!(seen(vec![cut]), NOTHING_SEEN);
    }
}
