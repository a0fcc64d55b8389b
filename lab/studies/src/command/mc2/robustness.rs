//! `tactus study mc2-robustness`: what becomes of levels A, B and C as jobs take longer than expected, with budgets enforced and
//! not; the whole sweep in the simulator, chosen points on the kernel as well.

use super::overheads::length;
use super::statements::{rows, verdict, Row};
use crate::command::kept::{csv, markdown, plot, put, Line};
use crate::command::runs::{at_once, processors};
use crate::mc2::{robustness_system, Behaviour, OfLevel, Tally, ROBUSTNESS_SHARES};
use clap::Args;
use std::path::PathBuf;
use tactus_machine::boot::{boot, compile_ours, image, Ran};
use tactus_machine::build::Programs;
use tactus_machine::emulator::Emulator;
use tactus_machine::failure::{Failure, Outcome};
use tactus_machine::results::Results;
use tactus_machine::toolchain::Network;
use tactus_model::{Costs, System};
use tactus_plan::plan;
use tactus_record::Sink;
use tactus_sim::simulate_into;
use tactus_terminal::lines;
use tactus_terminal::progress::Wait;
use tactus_time::{Duration, TaskId};

/// Options of `study mc2-robustness`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// How many systems for each point
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=1000))]
    systems: u64,
    /// Tasks in each
    #[arg(long, value_name = "N", default_value_t = 80, value_parser = clap::value_parser!(u64).range(8..=400))]
    tasks: u64,
    /// Cores
    #[arg(long, value_name = "N", default_value_t = 6, value_parser = clap::value_parser!(u64).range(2..=8))]
    cores: u64,
    /// How long each simulated run is
    #[arg(long, value_name = "TIME", value_parser = length, default_value = "60 s")]
    duration: Duration,
    /// How long each run on the kernel is; 0 s for none
    #[arg(long, value_name = "TIME", value_parser = length, default_value = "1 s")]
    kernel: Duration,
    /// Where the results go
    #[arg(long, value_name = "FOLDER", default_value = "out/study/mc2-robustness")]
    out: PathBuf,
}

/// The means that the beta distribution is shifted to; close together where level C diverges.
pub const MEANS: [f64; 24] = [
    0.05, 0.06, 0.07, 0.075, 0.08, 0.09, 0.10, 0.15, 0.20, 0.25, 0.30, 0.35, 0.40, 0.45, 0.50, 0.55, 0.60, 0.65, 0.70,
    0.75, 0.80, 0.85, 0.90, 0.985,
];
/// The series: probability of a beta job, and whether budgets are enforced.
const SERIES: [(f64, bool); 4] = [(0.5, true), (0.5, false), (0.1, true), (0.1, false)];
/// Points that run on the kernel as well: series and mean.
const ON_KERNEL: [(usize, f64); 6] = [(0, 0.05), (0, 0.40), (0, 0.60), (1, 0.60), (2, 0.50), (3, 0.90)];
/// What is budgeted for the system's work on a job's behalf where there is a kernel.
const MARGIN: Duration = Duration::from_micros(60);

/// What became of levels A to C.
pub type Levels = [OfLevel; 3];

fn name((probability, enforce): (f64, bool)) -> String {
    format!("P = {probability}, {}", if enforce { "enforced" } else { "not enforced" })
}

/// One system of a series.
fn system(arguments: &Arguments, series: usize, mean: f64, seed: u64, duration: Duration, margin: Duration) -> System {
    let (probability, enforce) = SERIES[series];
    let (cores, tasks) = (arguments.cores as usize, arguments.tasks as usize);
    let behaviour = Behaviour { probability, mean };
    robustness_system(cores, tasks, ROBUSTNESS_SHARES, (seed, duration), behaviour, enforce, margin)
}

/// The seed of the n-th system whose tasks of level A fit a table; the same for all series and means.
fn good_seed(arguments: &Arguments, number: u64) -> Result<u64, Failure> {
    let free = Costs::default();
    let good = (0..1_000).map(|attempt| number + 1_000 * attempt).find(|seed| {
        let system = system(arguments, 0, MEANS[0], *seed, Duration::from_secs(1), MARGIN);
        let promised = plan(&system, &tactus_analysis::check(&system, &free), &free);
        tactus_policy::Scheduler::new(&promised.setup).is_ok()
    });
    good.ok_or_else(|| Failure::Input("no system of so many tasks and cores has tables for level A".to_string()))
}

/// Runs it in the simulator.
fn simulated(system: &System) -> Result<Levels, Failure> {
    let free = Costs::default();
    let promised = plan(system, &tactus_analysis::check(system, &free), &free);
    let demand = |task: TaskId, job| system.tasks[task.index()].demand(system.seed, task, job);
    let mut tally = Tally::new(system);
    simulate_into(&promised.setup, system.duration, demand, &free, &mut tally)
        .map_err(|error| Failure::Machine(error.to_string()))?;
    Ok(tally.end())
}

/// Runs everything and writes table, plots and page.
pub fn study(arguments: &Arguments) -> Result<Outcome, Failure> {
    let points: Vec<(usize, usize, u64)> = (0..SERIES.len())
        .flat_map(|series| {
            (0..MEANS.len()).flat_map(move |mean| (0..arguments.systems).map(move |seed| (series, mean, seed)))
        })
        .collect();
    let head = format!(
        "{} systems of {} tasks on {} cores at {} means, {} each, in the simulator",
        arguments.systems,
        arguments.tasks,
        arguments.cores,
        MEANS.len(),
        arguments.duration
    );
    lines::line("study", format!("robustness of MC²: {head}"));
    // What the kernel needs and this machine lacks is told before the sweep, not after it.
    let programs = (!arguments.kernel.is_zero()).then(programs).transpose()?;
    let mut found = vec![vec![Levels::default(); MEANS.len()]; SERIES.len()];
    let seeds = (0..arguments.systems).map(|number| good_seed(arguments, number)).collect::<Result<Vec<u64>, _>>()?;
    let work = |_, &(series, mean, seed): &(usize, usize, u64)| {
        simulated(&system(arguments, series, MEANS[mean], seeds[seed as usize], arguments.duration, Duration::ZERO))
    };
    at_once(processors(), &points, work, |number, levels| {
        let (series, mean, _) = points[number];
        found[series][mean].iter_mut().zip(&levels).for_each(|(all, one)| all.join(one));
    })?;
    let rows = rows(&found);
    let mut page = write(arguments, &found, &rows, &head)?;
    let mut agrees = None;
    if let Some(programs) = &programs {
        let (text, agree) = on_kernel(arguments, programs)?;
        page += &text;
        agrees = Some(agree);
    }
    put(&arguments.out, "mc2-robustness.md", &page)?;
    lines::put(&page);
    lines::line("results", arguments.out.display());
    let (words, held) = verdict(&rows, agrees);
    lines::line("verdict", words);
    Ok(Outcome::held_if(held))
}

fn write(arguments: &Arguments, found: &[Vec<Levels>], rows: &[Row], head: &str) -> Result<String, Failure> {
    let columns = ["probability", "enforced", "mean", "level", "due", "missed", "miss ratio", "relative response"];
    let mut table = Vec::new();
    for (series, means) in SERIES.iter().zip(found) {
        for (mean, levels) in MEANS.iter().zip(means) {
            for (letter, level) in ["A", "B", "C"].iter().zip(levels) {
                table.push(vec![
                    series.0.to_string(),
                    series.1.to_string(),
                    mean.to_string(),
                    (*letter).to_string(),
                    level.due.to_string(),
                    level.missed.to_string(),
                    format!("{:.4}", level.miss_ratio()),
                    format!("{:.4}", level.relative_response()),
                ]);
            }
        }
    }
    put(&arguments.out, "robustness.csv", &csv(&columns, &table))?;
    let lines = |of: &dyn Fn(&Levels) -> f64, means: usize| -> Vec<Line> {
        let line = |(n, series): (usize, &(f64, bool))| Line {
            name: name(*series),
            y: found[n][..means].iter().map(of).collect(),
            colour: n / 2,
            dash: n % 2,
        };
        SERIES.iter().enumerate().map(line).collect()
    };
    let x_name = "mean of the beta distribution";
    let pictures = [
        (
            "b-misses",
            "level B: misses of jobs due",
            plot("Level B", x_name, "miss ratio", &MEANS, lines(&|l| l[1].miss_ratio(), MEANS.len())),
        ),
        (
            "b-response",
            "level B: response by period",
            plot("Level B", x_name, "relative response", &MEANS, lines(&|l| l[1].relative_response(), MEANS.len())),
        ),
        (
            "c-response",
            "level C: response by period, near its divergence",
            plot(
                "Level C",
                x_name,
                "relative response",
                &MEANS[..7],
                lines(&|l| l[2].relative_response().min(60.0), 7),
            ),
        ),
    ];
    let mut page = format!(
        "# Robustness of MC², measured\n\nMade by `./tactus study mc2-robustness` ({head}). What \
         is asked and read: [The MC² studies](../lab/study-mc2.md). Every figure: [CSV](mc2/robustness.csv).\n\n"
    );
    for (file, title, svg) in pictures {
        put(&arguments.out, &format!("{file}.svg"), &svg)?;
        page += &format!("![{title}](mc2/{file}.svg)\n\n");
    }
    let holds = |holds: Option<bool>| holds.map_or("", |holds| if holds { "yes" } else { "NO" }).to_string();
    let cells = |row: &Row| vec![row.statement.to_string(), row.source.to_string(), row.here.clone(), holds(row.holds)];
    page += &markdown(&["statement", "source", "here", "holds"], &rows.iter().map(cells).collect::<Vec<_>>());
    Ok(page)
}

/// Kernel and components, compiled, on a machine that has an emulator for them.
fn programs() -> Result<Programs, Failure> {
    Emulator::find(Default::default()).map_err(|error| Failure::Machine(error.to_string()))?;
    let wait = Wait::new("build", "kernel and components");
    let programs = compile_ours(&|text| wait.tell(text), Network::Fetching);
    wait.end();
    programs
}

/// The chosen points on the kernel and in the simulator, one system each, with the kernel's margin in the budgets of both.
fn on_kernel(arguments: &Arguments, programs: &Programs) -> Result<(String, bool), Failure> {
    let (mut rows, mut agrees) = (Vec::new(), true);
    for (series, mean) in ON_KERNEL {
        let system = system(arguments, series, mean, good_seed(arguments, 0)?, arguments.kernel, MARGIN);
        let expected = simulated(&system)?;
        let free = Costs::default();
        let promised = plan(&system, &tactus_analysis::check(&system, &free), &free);
        let (kernel, image) = image(&system, &promised, programs, &[])?;
        let folder = arguments.out.join("machine");
        let Ran { trace, .. } = boot(&system, &kernel, &image, &Results::make(&folder)?)?;
        let _ = std::fs::remove_dir_all(folder);
        let mut tally = Tally::new(&system);
        trace.cores.iter().flatten().for_each(|record| tally.record(*record));
        let found = tally.end();
        for (n, letter) in ["A", "B", "C"].iter().enumerate() {
            let (one, other) = (&expected[n], &found[n]);
            let near = (one.miss_ratio() - other.miss_ratio()).abs() <= 0.05
                && (one.relative_response() - other.relative_response()).abs() <= 0.05 + 0.1 * one.relative_response();
            agrees &= near;
            rows.push(vec![
                format!("{}, at {mean}, level {letter}", name(SERIES[series])),
                format!("{} of {}", one.missed, one.due),
                format!("{} of {}", other.missed, other.due),
                format!("{:.3}", one.relative_response()),
                format!("{:.3}", other.relative_response()),
                if near { "yes" } else { "NO" }.to_string(),
            ]);
        }
    }
    let head = ["point", "misses, simulator", "misses, kernel", "response by period, simulator", "kernel", "agree"];
    let text = format!(
        "\n## On the kernel\n\nOne system of each point, {} each, in the simulator without costs and on the kernel. They agree if miss \
         ratios differ by no more than 0.05 and responses by no more than a tenth and 0.05.\n\n{}",
        arguments.kernel,
        markdown(&head, &rows)
    );
    Ok((text, agrees))
}
