//! Structures measured side by side. What was measured already with the same settings is read, not measured again.

use super::arguments::{Compare, Mode};
use crate::failure::{Failure, Outcome};
use crate::lines;
use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use tactus_rig::{names, svg, Boxes, Finished, Line, Settings};

/// What is plotted: a name, and the operations in it.
const PLOTS: [(&str, &str); 8] = [
    ("preempt", "modify: tell the directory of an arrival"),
    ("finish", "modify: tell the directory of a departure"),
    ("find", "query: find a core to push to"),
    ("pull-preempt", "modify, pull side: tell the directory of an arrival"),
    ("pull-finish", "modify, pull side: tell the directory of a departure"),
    ("pull-find", "query, pull side: find a core to pull from"),
    ("push", "a whole push"),
    ("pull", "a whole pull"),
];

/// Measures, prints and draws.
pub fn compare(arguments: &Compare) -> Result<Outcome, Failure> {
    let here = std::thread::available_parallelism().map_or(1, usize::from);
    let cores: Vec<usize> = if arguments.cores.is_empty() {
        (0..).map(|n| 1 << n).take_while(|n| *n <= here).collect()
    } else {
        arguments.cores.clone()
    };
    let structures: Vec<String> = if arguments.structures.is_empty() {
        names::DIRECTORIES.iter().map(ToString::to_string).collect()
    } else {
        arguments.structures.clone()
    };
    fs::create_dir_all(&arguments.out)
        .map_err(|error| Failure::Machine(format!("{}: {error}", arguments.out.display())))?;
    let path = arguments.out.join("compare.jsonl");
    let mut all = read(&path)?;
    lines::line(
        "rig",
        format!(
            "{} on this machine, of {} asked for at most",
            lines::count(here, "core"),
            cores.iter().max().unwrap_or(&0)
        ),
    );
    let mut held = true;
    let mut lacking = BTreeSet::new();
    for processors in &cores {
        for structure in &structures {
            if *processors > here && !arguments.events.oversubscribe {
                lacking.insert(*processors);
                continue;
            }
            let settings = super::settings(&arguments.events, Mode::Performance, *processors, 0)?;
            let wanted = key(arguments, &settings);
            if all.iter().any(|line| line.directory == *structure && same(line, &settings, arguments, &wanted)) {
                continue;
            }
            match measured(arguments, structure, *processors)? {
                Ok(finished) => {
                    let mut new = tactus_rig::lines(structure, &arguments.queue, &settings, &finished);
                    new.iter_mut().for_each(|line| line.settings.clone_from(&wanted));
                    append(&path, &new)?;
                    all.extend(new);
                }
                Err(broken) => {
                    held = false;
                    lines::line("checks", lines::bad(format!("{structure}, {processors} processors: {broken}")));
                }
            }
        }
    }
    let cores: Vec<usize> = cores.into_iter().filter(|n| !lacking.contains(n)).collect();
    let mut chosen: Vec<&Line> = Vec::new();
    for processors in &cores {
        let settings = super::settings(&arguments.events, Mode::Performance, *processors, 0)?;
        let wanted = key(arguments, &settings);
        chosen.extend(all.iter().filter(|line| {
            line.processor.is_none()
                && structures.contains(&line.directory)
                && same(line, &settings, arguments, &wanted)
        }));
    }
    for (operation, title) in PLOTS {
        let row = |structure: &String| -> Vec<(usize, Boxes)> {
            let of = |line: &&&Line| line.directory == *structure && line.operation == operation;
            chosen.iter().filter(of).filter_map(|line| Some((line.processors, line.durations?))).collect()
        };
        let rows: Vec<(&str, Vec<(usize, Boxes)>)> =
            structures.iter().map(|structure| (structure.as_str(), row(structure))).collect();
        let name = format!("{operation}.svg");
        let file = arguments.out.join(&name);
        fs::write(&file, svg::boxes(title, &rows))
            .map_err(|error| Failure::Machine(format!("{}: {error}", file.display())))?;
        let heads: Vec<String> = cores.iter().map(|n| format!("{n}: 25 % / median / 75 % / 99 %")).collect();
        let mut head = vec![operation];
        head.extend(heads.iter().map(String::as_str));
        let cell = |boxes: &Boxes| format!("{} / {} / {} / {}", boxes.p25, boxes.median, boxes.p75, boxes.p99);
        let cells: Vec<Vec<String>> = rows
            .iter()
            .map(|(structure, row)| {
                let of = |n: &usize| row.iter().find(|(m, _)| m == n).map_or("–".to_string(), |(_, b)| cell(b));
                std::iter::once((*structure).to_string()).chain(cores.iter().map(of)).collect()
            })
            .collect();
        lines::put(&lines::table(&head, &cells));
        lines::put("\n");
    }
    let empty = chosen.iter().find(|line| line.operation == "empty").and_then(|line| line.durations);
    if let Some(empty) = empty {
        lines::line(
            "empty",
            format!("a measurement itself takes {} cycles (median), which are not taken off", empty.median),
        );
    }
    let faults: u64 = chosen.iter().filter(|line| line.operation == "empty").map(|line| line.faults).sum();
    lines::line("faults", format!("{faults} page faults while measured, in all runs together"));
    let apart: BTreeSet<String> = chosen
        .iter()
        .filter(|line| line.processors > 1 && line.together < 0.5)
        .map(|line| format!("{} on {}", line.directory, line.processors))
        .collect();
    if !apart.is_empty() {
        let list: Vec<String> = apart.into_iter().collect();
        lines::line(
            "note",
            lines::bad(format!(
                "processors were at work at the same time for less than half of the run: {}",
                list.join(", ")
            )),
        );
    }
    if chosen.iter().any(|line| !line.bound) {
        lines::line(
            "note",
            lines::bad("some runs had more processors than cores: their figures hold waiting for a turn"),
        );
    }
    if !lacking.is_empty() {
        let list: Vec<String> = lacking.iter().map(ToString::to_string).collect();
        lines::line(
            "left out",
            format!(
                "{} processors: this machine has {}; the same command on a larger one, with the same --out, goes on from here",
                list.join(", "),
                lines::count(here, "core")
            ),
        );
    }
    lines::line("results", format!("{} and the plots beside it", path.display()));
    Ok(Outcome::held_if(held))
}

/// What a line must say of its settings to be of this comparison.
fn key(arguments: &Compare, settings: &Settings) -> String {
    let sets = arguments.events.load.map(|load| format!(", {} sets of utilisation {load} each", arguments.sets));
    format!("{}{}", tactus_rig::other_settings(settings), sets.unwrap_or_default())
}

/// Whether a line was measured with these settings.
fn same(line: &Line, settings: &Settings, arguments: &Compare, wanted: &str) -> bool {
    line.queue == arguments.queue
        && line.processors == settings.processors
        && line.cycles == settings.cycles
        && line.real_time == settings.real_time
        && line.seed == settings.seed
        && line.settings == wanted
}

/// One run, or one for each task set, put together.
fn measured(arguments: &Compare, structure: &str, processors: usize) -> Result<Result<Finished, String>, Failure> {
    let mut runs = Vec::new();
    for set in 0..arguments.sets {
        let settings = super::settings(&arguments.events, Mode::Performance, processors, set)?;
        match super::run(structure, &arguments.queue, &settings)? {
            Ok(finished) => runs.push(finished),
            Err(broken) => return Ok(Err(broken)),
        }
    }
    Ok(tactus_rig::joined(runs).ok_or_else(|| "no run".to_string()))
}

/// Appends results to a file.
pub fn append(path: &Path, new: &[Line]) -> Result<(), Failure> {
    let cannot = |error: String| Failure::Machine(format!("{}: {error}", path.display()));
    let mut text = String::new();
    for line in new {
        text.push_str(&serde_json::to_string(line).map_err(|error| cannot(error.to_string()))?);
        text.push('\n');
    }
    let file = fs::OpenOptions::new().create(true).append(true).open(path);
    file.and_then(|mut file| file.write_all(text.as_bytes())).map_err(|error| cannot(error.to_string()))
}

fn read(path: &Path) -> Result<Vec<Line>, Failure> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(Failure::Machine(format!("{}: {error}", path.display()))),
    };
    // A line without an end is what was being written when a sweep was broken off; its run is done again.
    let whole = text.rfind('\n').map_or("", |end| &text[..=end]);
    if whole.len() < text.len() {
        fs::write(path, whole).map_err(|error| Failure::Machine(format!("{}: {error}", path.display())))?;
    }
    let line = |(n, line): (usize, &str)| {
        serde_json::from_str(line)
            .map_err(|error| Failure::Input(format!("{}:{}: {error}; remove the file", path.display(), n + 1)))
    };
    whole.lines().enumerate().map(line).collect()
}
