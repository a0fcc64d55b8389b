//! `tactus study bdm`: the experiment of JUNIPER D3.6 on virtual platforms again, in the simulator.

use super::kept::{csv, markdown, plot, put, Line};
use super::runs::{at_once, processors};
use crate::bdm::linux::{self, Machinery};
use crate::bdm::{self, Scheme, SOURCE};
use clap::Args;
use std::path::PathBuf;
use tactus_machine::failure::{Failure, Outcome};
use tactus_terminal::lines;
use tactus_time::Duration;

/// Options of `study bdm`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// How many runs of each kind; each draws offsets of its own
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    seeds: u64,
    /// How long each run is
    #[arg(long, value_name = "TIME", value_parser = length, default_value = "120 s")]
    duration: Duration,
    /// Where the results go
    #[arg(long, value_name = "FOLDER", default_value = "out/study/bdm")]
    out: PathBuf,
}

fn length(text: &str) -> Result<Duration, String> {
    tactus_model::parse_duration(text).map_err(|_| "a time like '120 s' or '500 ms'".to_string())
}

/// What keeps the applications' time.
const WAYS: [(&str, Way); 4] = [
    ("virtual platforms", Way::Ours(Scheme::Platforms)),
    ("throttling, ideal", Way::Ours(Scheme::Throttling)),
    ("throttling, Linux, of 2 cores", Way::Linux(Machinery { cores: 2, together: false })),
    ("throttling, Linux, of 4 cores, released together", Way::Linux(Machinery { cores: 4, together: true })),
];
/// Hits of `pick_next_task_dl` in the source's Tables 5 and 6: calls of the scheduler in a run with background.
const SOURCE_PICKS: [u64; 2] = [155_000, 2_251_000];

#[derive(Clone, Copy)]
enum Way {
    Ours(Scheme),
    Linux(Machinery),
}

/// One run.
#[derive(Clone, Copy, Default)]
struct Run {
    seed: u64,
    outcome: bdm::Outcome,
    spun: Duration,
}

/// Runs all of them and tells misses and decisions beside the source's.
pub fn study(arguments: &Arguments) -> Result<Outcome, Failure> {
    let cells: Vec<(usize, bool)> = (0..WAYS.len()).flat_map(|way| [(way, false), (way, true)]).collect();
    lines::line(
        "study",
        format!("virtual platforms and throttling, two cores, {} runs of {} each", arguments.seeds, arguments.duration),
    );
    let mut found = vec![Vec::new(); cells.len()];
    let every: Vec<(usize, u64)> =
        (0..cells.len()).flat_map(|cell| (1..=arguments.seeds).map(move |seed| (cell, seed))).collect();
    let work = |_, (cell, seed): &(usize, u64)| {
        let (way, background) = cells[*cell];
        one(WAYS[way].1, background, *seed, arguments.duration)
    };
    at_once(processors(), &every, work, |number, ran| found[every[number].0].push(ran))?;
    let rows: Vec<Vec<String>> = cells.iter().zip(&found).map(|(cell, runs)| row(*cell, runs)).collect();
    lines::put("misses per run, mean (most), of tasks 1 to 5, and the source's means; scheduler calls per run\n");
    let head = ["", "background", "1", "2", "3", "4", "5", "source", "calls", "reschedules in vain"];
    lines::put(&lines::table(&head, &rows));
    for (way, picks) in ["virtual platforms", "throttling"].into_iter().zip(SOURCE_PICKS) {
        lines::line("source", format!("{} calls of the scheduler in a run, {way}", lines::grouped(picks)));
    }
    // Platforms promise that nothing misses; throttling promises nothing.
    let kept = |n: usize| found[n].iter().all(|run| run.outcome.missed == [0; 5]);
    let held = kept(0) && kept(1);
    write(arguments, &cells, &found, &head, &rows)?;
    lines::line("results", arguments.out.display());
    lines::line("verdict", if held { "no miss under virtual platforms" } else { "MISSES under virtual platforms" });
    Ok(Outcome::held_if(held))
}

/// Table, plot and page.
fn write(
    arguments: &Arguments,
    cells: &[(usize, bool)],
    found: &[Vec<Run>],
    head: &[&str],
    rows: &[Vec<String>],
) -> Result<(), Failure> {
    let columns = [
        "way",
        "background",
        "run",
        "missed 1",
        "missed 2",
        "missed 3",
        "missed 4",
        "missed 5",
        "calls",
        "in vain (s)",
    ];
    let mut each = Vec::new();
    for ((way, background), runs) in cells.iter().zip(found) {
        let mut sorted: Vec<&Run> = runs.iter().collect();
        sorted.sort_by_key(|run| run.seed);
        for run in sorted {
            let mut row = vec![WAYS[*way].0.replace(',', ""), background.to_string(), run.seed.to_string()];
            row.extend(run.outcome.missed.map(|n| n.to_string()));
            row.push(run.outcome.decisions.to_string());
            row.push(format!("{:.1}", run.spun.as_secs_f64()));
            each.push(row);
        }
    }
    put(&arguments.out, "bdm.csv", &csv(&columns, &each))?;
    let mean = |runs: &[Run], n: usize| {
        runs.iter().map(|run| f64::from(run.outcome.missed[n])).sum::<f64>() / runs.len().max(1) as f64
    };
    let with = cells.iter().zip(found).filter(|((_, background), _)| *background);
    let mut curves: Vec<Line> = with
        .map(|((way, _), runs)| Line {
            name: WAYS[*way].0.to_string(),
            y: (0..5).map(|n| mean(runs, n)).collect(),
            colour: *way,
            dash: 0,
        })
        .collect();
    let source = SOURCE[1].map(f64::from).to_vec();
    curves.push(Line { name: "throttling, the source".into(), y: source, colour: 6, dash: 1 });
    let svg = plot("With background", "task", "mean misses per run", &[1.0, 2.0, 3.0, 4.0, 5.0], curves);
    put(&arguments.out, "bdm.svg", &svg)?;
    let page = format!(
        "# The platform study, measured\n\nMade by `./tactus study bdm --seeds {} --duration '{}'`. What is asked and read: [The \
         platform study](../lab/study-platforms.md). Every run: [CSV](bdm/bdm.csv).\n\nMisses per run, mean (most), of tasks 1 to 5, and \
         the source's means; calls of the scheduler per run. The source counts {} calls with platforms and {} with throttling.\n\n\
         {}\n![Mean misses with background](bdm/bdm.svg)\n",
        arguments.seeds,
        arguments.duration,
        lines::grouped(SOURCE_PICKS[0]),
        lines::grouped(SOURCE_PICKS[1]),
        markdown(head, rows)
    );
    put(&arguments.out, "bdm.md", &page)
}

fn one(way: Way, background: bool, seed: u64, length: Duration) -> Result<Run, Failure> {
    match way {
        Way::Ours(scheme) => bdm::run(scheme, background, seed, length)
            .map(|outcome| Run { seed, outcome, spun: Duration::ZERO })
            .map_err(|error| Failure::Machine(error.to_string())),
        Way::Linux(machine) => {
            let linux::Throttled { outcome, spun } = linux::run(machine, background, seed, length);
            Ok(Run { seed, outcome, spun })
        }
    }
}

fn row((way, background): (usize, bool), runs: &[Run]) -> Vec<String> {
    let count = runs.len().max(1) as f64;
    let misses = |n: usize| {
        let all = runs.iter().map(|run| run.outcome.missed[n]);
        format!("{:.1} ({})", f64::from(all.clone().sum::<u32>()) / count, all.max().unwrap_or(0))
    };
    let source = match WAYS[way].1 {
        Way::Ours(Scheme::Platforms) => [0; 5],
        _ => SOURCE[usize::from(background)],
    };
    let calls = runs.iter().map(|run| run.outcome.decisions).sum::<u64>() / runs.len().max(1) as u64;
    let spun: Duration = runs.iter().map(|run| run.spun).sum();
    let mut row = vec![WAYS[way].0.to_string(), if background { "with" } else { "without" }.to_string()];
    row.extend((0..5).map(misses));
    row.push(source.map(|n| n.to_string()).join(" "));
    row.push(lines::grouped(calls));
    row.push(match WAYS[way].1 {
        Way::Linux(_) => format!("for {:.1} s", spun.as_secs_f64() / count),
        Way::Ours(_) => "never".into(),
    });
    row
}
