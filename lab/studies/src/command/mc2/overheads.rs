//! `tactus study mc2-overheads`: what releases and decisions of each level cost on the kernel, in instructions, with three feature
//! sets of the source and without locks.

use super::segments::Segments;
use crate::command::kept::{csv, markdown, plot, put, Line};
use crate::command::runs::at_once;
use crate::mc2::{overhead_system, OVERHEAD_SHARES};
use clap::Args;
use std::path::PathBuf;
use tactus_machine::boot::{boot, compile, compile_ours, image, Ran};
use tactus_machine::build::Programs;
use tactus_machine::failure::{Failure, Outcome};
use tactus_machine::place;
use tactus_machine::results::Results;
use tactus_machine::schedulers::PACKAGE;
use tactus_machine::toolchain::Network;
use tactus_model::Costs;
use tactus_plan::plan;
use tactus_policy::programs::MixedCriticalityOnMulticore;
use tactus_policy::Named;
use tactus_terminal::lines;
use tactus_terminal::progress::Wait;
use tactus_time::Duration;

/// Options of `study mc2-overheads`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// How many systems for each number of tasks; a third of them with each of the source's capacities
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = clap::value_parser!(u64).range(3..=300))]
    systems: u64,
    /// Numbers of tasks
    #[arg(long, value_name = "N", value_delimiter = ',', default_values_t = [20, 40, 60, 80, 100, 120])]
    tasks: Vec<usize>,
    /// Numbers of cores
    #[arg(long, value_name = "N", value_delimiter = ',', default_values_t = [4, 6])]
    cores: Vec<usize>,
    /// How long each run is
    #[arg(long, value_name = "TIME", value_parser = length, default_value = "300 ms")]
    duration: Duration,
    /// Machines at once
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..=64))]
    machines: u16,
    /// Where the results go
    #[arg(long, value_name = "FOLDER", default_value = "out/study/mc2-overheads")]
    out: PathBuf,
}

pub fn length(text: &str) -> Result<Duration, String> {
    tactus_model::parse_duration(text).map_err(|_| "a time like '60 s' or '300 ms'".to_string())
}

/// The feature sets, the source's three and ours, each with its root scheduler (`lab/studies/mc2`).
const SETS: [(&str, &str); 4] = [
    ("Basic", "tactus-mc2-basic"),
    ("IM+TM", "tactus-mc2-merged"),
    ("All", "tactus-mc2-all"),
    ("no locks", "tactus-mc2-messages"),
];

/// One run.
struct Point {
    cores: usize,
    n: usize,
    number: u64,
    set: usize,
}

/// Runs of one feature set, number of cores and number of tasks.
struct Cell {
    cores: usize,
    n: usize,
    set: usize,
    runs: Vec<Segments>,
}

/// What a cell came to: at each level, release and scheduling; the mean over systems of means, the worst of all, and the mean of
/// the worst of each.
#[derive(Clone, Copy, Default)]
struct Figure {
    mean: f64,
    worst: u64,
    mean_worst: f64,
}

impl Cell {
    fn figure(&self, release: bool, level: usize) -> Figure {
        let of = |run: &Segments| if release { run.release[level].clone() } else { run.schedule[level].clone() };
        let some: Vec<_> = self.runs.iter().map(of).filter(|costs| costs.count > 0).collect();
        let count = some.len().max(1) as f64;
        Figure {
            mean: some.iter().map(|costs| costs.mean()).sum::<f64>() / count,
            worst: some.iter().map(|costs| costs.worst).max().unwrap_or(0),
            mean_worst: some.iter().map(|costs| costs.worst as f64).sum::<f64>() / count,
        }
    }
}

/// Runs everything and writes table, plots and page.
pub fn study(arguments: &Arguments) -> Result<Outcome, Failure> {
    if let Some(cores) = arguments.cores.iter().find(|cores| !(2..=8).contains(*cores)) {
        return Err(Failure::Input(format!("--cores: {cores} cores; 2 to 8 have a master and others")));
    }
    if let Some(n) = arguments.tasks.iter().find(|n| !(8..=400).contains(*n)) {
        return Err(Failure::Input(format!("--tasks: {n} tasks; choose 8 to 400")));
    }
    let mut points = Vec::new();
    for number in 0..arguments.systems {
        for &cores in &arguments.cores {
            for &n in &arguments.tasks {
                points.extend((0..SETS.len()).map(|set| Point { cores, n, number, set }));
            }
        }
    }
    let head = format!(
        "{} systems of each size, {} runs of {} each, on the kernel",
        arguments.systems,
        points.len(),
        arguments.duration
    );
    lines::line("study", format!("overheads of MC², {head}"));
    let wait = Wait::new("build", "kernel and components");
    let programs = compile_ours(&|text| wait.tell(text), Network::Fetching).and_then(|mut programs| {
        let (lab, variants) = (place::root()?.join("lab"), ["tactus-mc2-variants"]);
        programs.extend(compile(
            &|text| wait.tell(text),
            Network::Fetching,
            &lab,
            &variants,
            Some("tactus-mc2-variants/machine"),
        )?);
        Ok(programs)
    });
    wait.end();
    let programs = programs?;
    let programs: Vec<Programs> =
        SETS.iter().map(|(_, scheduler)| with_scheduler(&programs, scheduler)).collect::<Result<_, _>>()?;
    let cells = run(arguments, &programs, &points)?;
    let page = write(arguments, &cells, &head)?;
    lines::put(&page);
    lines::line("results", arguments.out.display());
    Ok(Outcome::Held)
}

/// The programs, with this one in the place of the root scheduler for MC².
fn with_scheduler(programs: &Programs, scheduler: &str) -> Result<Programs, Failure> {
    let mut programs = programs.clone();
    let made = programs.get(scheduler).cloned();
    let path = made.ok_or_else(|| Failure::Machine(format!("the build made no program {scheduler}")))?;
    programs.insert(format!("{PACKAGE}-{}", MixedCriticalityOnMulticore::NAME), path);
    Ok(programs)
}

fn run(arguments: &Arguments, programs: &[Programs], points: &[Point]) -> Result<Vec<Cell>, Failure> {
    let mut cells: Vec<Cell> = Vec::new();
    for &cores in &arguments.cores {
        for &n in &arguments.tasks {
            cells.extend((0..SETS.len()).map(|set| Cell { cores, n, set, runs: Vec::new() }));
        }
    }
    let work = |machine, point: &Point| one(arguments, &programs[point.set], point, machine as u16);
    at_once(arguments.machines.into(), points, work, |number, segments| {
        let point = &points[number];
        let same = |cell: &&mut Cell| cell.cores == point.cores && cell.n == point.n && cell.set == point.set;
        if let (Some(cell), Some(segments)) = (cells.iter_mut().find(same), segments) {
            cell.runs.push(segments);
        }
    })?;
    Ok(cells)
}

/// One run; nothing if no table of level A can hold the system.
fn one(arguments: &Arguments, programs: &Programs, point: &Point, machine: u16) -> Result<Option<Segments>, Failure> {
    let shares = OVERHEAD_SHARES[(point.number % 3) as usize];
    let system = overhead_system(point.cores, point.n, shares, point.number, arguments.duration);
    let free = Costs::default();
    let promised = plan(&system, &tactus_analysis::check(&system, &free), &free);
    if tactus_policy::Scheduler::new(&promised.setup).is_err() {
        return Ok(None);
    }
    let (kernel, image) = image(&system, &promised, programs, &[])?;
    let results = Results::make(&arguments.out.join(format!("machine-{machine}")))?;
    let Ran { trace, .. } = boot(&system, &kernel, &image, &results)?;
    let _ = std::fs::remove_dir_all(arguments.out.join(format!("machine-{machine}")));
    if trace.dropped.iter().any(|dropped| *dropped > 0) {
        return Err(Failure::Machine(format!("{}: the trace did not fit; shorten the runs", system.name)));
    }
    Ok(Some(Segments::of(&trace, system.machine.shift)))
}

const LEVELS: [&str; 3] = ["A", "B", "C"];

fn write(arguments: &Arguments, cells: &[Cell], head: &str) -> Result<String, Failure> {
    let columns = ["cores", "set", "n", "work", "level", "systems", "mean", "worst", "mean worst", "left out"];
    let mut rows = Vec::new();
    for cell in cells {
        for (work, release) in [("release", true), ("scheduling", false)] {
            for (level, name) in LEVELS.iter().enumerate() {
                let figure = cell.figure(release, level);
                let left_out: u64 = cell.runs.iter().map(|run| run.left_out).sum();
                rows.push(vec![
                    cell.cores.to_string(),
                    SETS[cell.set].0.to_string(),
                    cell.n.to_string(),
                    work.to_string(),
                    (*name).to_string(),
                    cell.runs.len().to_string(),
                    format!("{:.0}", figure.mean),
                    figure.worst.to_string(),
                    format!("{:.0}", figure.mean_worst),
                    left_out.to_string(),
                ]);
            }
        }
    }
    put(&arguments.out, "overheads.csv", &csv(&columns, &rows))?;
    let mut page = format!(
        "# Overheads of MC², measured\n\nMade by `./tactus study mc2-overheads` ({head}). Instructions of one core per piece of a \
         decision, records included, the kernel's way in and out not; what is asked and read: [The MC² studies](../lab/study-mc2.md). \
         Every figure: [CSV](mc2/overheads.csv).\n"
    );
    for &cores in &arguments.cores {
        page += &format!("\n## {cores} cores\n");
        for (work, release) in [("release", true), ("scheduling", false)] {
            for (worst, what) in [(false, "average"), (true, "worst")] {
                let name = format!("{what}-{work}-{cores}.svg");
                let x: Vec<f64> = arguments.tasks.iter().map(|n| *n as f64).collect();
                let mut curves = Vec::new();
                let mut table = Vec::new();
                for (set, (title, _)) in SETS.iter().enumerate() {
                    for (level, letter) in LEVELS.iter().enumerate() {
                        let of = |n: &usize| {
                            let cell = cells.iter().find(|cell| cell.cores == cores && cell.n == *n && cell.set == set);
                            let figure = cell.map(|cell| cell.figure(release, level)).unwrap_or_default();
                            if worst {
                                figure.mean_worst
                            } else {
                                figure.mean
                            }
                        };
                        let y: Vec<f64> = arguments.tasks.iter().map(of).collect();
                        let mut row = vec![format!("{letter}, {title}")];
                        // Where releases of a level always come with others in one stage, they cannot be told apart.
                        row.extend(y.iter().map(|y| if *y > 0.0 { format!("{y:.0}") } else { "–".to_string() }));
                        table.push(row);
                        curves.push(Line { name: format!("{letter}, {title}"), y, colour: level, dash: set });
                    }
                }
                let title = format!("{what} {work} overhead, {cores} cores");
                put(&arguments.out, &name, &plot(&title, "tasks", "instructions", &x, curves))?;
                let mut head = vec!["n".to_string()];
                head.extend(arguments.tasks.iter().map(usize::to_string));
                let head: Vec<&str> = head.iter().map(String::as_str).collect();
                let of = if worst { "Worst of a run, mean over systems" } else { "Average" };
                page += &format!("\n{of}, {work}:\n\n{}\n![{title}](mc2/{name})\n", markdown(&head, &table));
            }
        }
        page += &statements(arguments, cells, cores);
    }
    put(&arguments.out, "mc2-overheads.md", &page)?;
    Ok(page)
}

/// The source's statements 11 and 15 to 18 beside ours.
fn statements(arguments: &Arguments, cells: &[Cell], cores: usize) -> String {
    let find = |n: usize, set: usize| cells.iter().find(|cell| cell.cores == cores && cell.n == n && cell.set == set);
    let change = |n: usize, set: usize, of: &dyn Fn(&Cell) -> f64| -> f64 {
        let (basic, other) = (find(n, 0).map_or(0.0, of), find(n, set).map_or(0.0, of));
        if basic > 0.0 {
            100.0 * (other / basic - 1.0)
        } else {
            0.0
        }
    };
    let span = |set: usize, of: &dyn Fn(&Cell) -> f64| -> String {
        let all: Vec<f64> = arguments.tasks.iter().map(|n| change(*n, set, of)).collect();
        let (least, most) =
            (all.iter().copied().fold(f64::MAX, f64::min), all.iter().copied().fold(f64::MIN, f64::max));
        let counted = arguments.tasks.iter().all(|n| find(*n, set).is_some_and(|cell| of(cell) > 0.0));
        if counted {
            format!("{least:+.0} to {most:+.0} %")
        } else {
            "not told apart".to_string()
        }
    };
    let worst = |release: bool, level: usize| move |cell: &Cell| cell.figure(release, level).mean_worst;
    let mean = |release: bool, level: usize| move |cell: &Cell| cell.figure(release, level).mean;
    // Own scheduling and own release; without the master one release of B and one of C beside.
    let budget = |cell: &Cell| {
        let own = cell.figure(false, 0).mean_worst + cell.figure(true, 0).mean_worst;
        let others =
            if cell.set == 0 { cell.figure(true, 1).mean_worst + cell.figure(true, 2).mean_worst } else { 0.0 };
        own + others
    };
    let largest = arguments.tasks.iter().copied().max().unwrap_or(0);
    let elsewhere = |set: usize| -> u64 {
        let of = cells.iter().filter(|cell| cell.cores == cores && cell.set == set);
        of.flat_map(|cell| &cell.runs).map(|run| run.releases_elsewhere).sum()
    };
    let mut rows = vec![vec![
        "11: decisions with releases on cores other than the master".to_string(),
        "none with the master".to_string(),
        elsewhere(0).to_string(),
        elsewhere(2).to_string(),
        elsewhere(3).to_string(),
    ]];
    let mut row = |text: &str, source: &str, of: &dyn Fn(&Cell) -> f64| {
        let basic: Vec<String> =
            arguments.tasks.iter().filter_map(|n| find(*n, 0)).map(|cell| format!("{:.0}", of(cell))).collect();
        rows.push(vec![text.to_string(), source.to_string(), basic.join(" "), span(2, of), span(3, of)]);
    };
    row("15: worst scheduling of A", "-30 to -45 %", &worst(false, 0));
    row("17: worst release of B", "-30 to -60 %", &worst(true, 1));
    row("17: worst scheduling of B", "no more than +3 %", &worst(false, 1));
    row("18: average scheduling of C", "at most ±4 %", &mean(false, 2));
    let charge = |set: usize| find(largest, set).map_or(0.0, budget);
    rows.push(vec![
        format!("16: charge to a budget of A at n = {largest}"),
        "121 to 44 µs, -64 %".to_string(),
        format!("{:.0}", charge(0)),
        format!("{:.0}, {:+.0} %", charge(2), change(largest, 2, &budget)),
        format!("{:.0}, {:+.0} %", charge(3), change(largest, 3, &budget)),
    ]);
    let head = ["statement", "source, Basic to All", "Basic", "All", "no locks"];
    format!("\nThe source's statements, over all n, against Basic:\n\n{}", markdown(&head, &rows))
}
