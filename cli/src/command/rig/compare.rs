//! Structures measured side by side. What was measured already with the same settings is read, not measured again.

use super::arguments::{Compare, Mode};
use crate::failure::{Failure, Outcome};
use crate::lines;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use tactus_rig::{names, svg, Boxes, Line};

/// What is plotted: a name, and the operations in it.
const PLOTS: [(&str, &str); 5] = [
    ("preempt", "modify: tell the directory of an arrival"),
    ("finish", "modify: tell the directory of a departure"),
    ("find", "query: find a core"),
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
    for processors in &cores {
        for structure in &structures {
            let settings = super::settings(&arguments.events, Mode::Performance, *processors);
            let same = |line: &Line| {
                line.directory == *structure
                    && line.queue == arguments.queue
                    && line.processors == *processors
                    && line.cycles == settings.cycles
                    && line.real_time == settings.real_time
                    && line.seed == settings.seed
            };
            if all.iter().any(same) {
                continue;
            }
            match super::run(structure, &arguments.queue, &settings)? {
                Ok(finished) => {
                    let new = tactus_rig::lines(structure, &arguments.queue, &settings, &finished);
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
    let wanted = |line: &&Line| {
        line.processor.is_none()
            && line.queue == arguments.queue
            && line.cycles == arguments.events.cycles
            && line.real_time == arguments.events.real_time
            && line.seed == arguments.events.seed
            && structures.contains(&line.directory)
            && cores.contains(&line.processors)
    };
    let chosen: Vec<&Line> = all.iter().filter(wanted).collect();
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
    if chosen.iter().any(|line| !line.bound) {
        lines::line(
            "note",
            lines::bad("some runs had more processors than cores: their figures hold waiting for a turn"),
        );
    }
    lines::line("results", format!("{} and the plots beside it", path.display()));
    Ok(Outcome::held_if(held))
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
    let line = |(n, line): (usize, &str)| {
        serde_json::from_str(line)
            .map_err(|error| Failure::Input(format!("{}:{}: {error}; remove the file", path.display(), n + 1)))
    };
    text.lines().enumerate().map(line).collect()
}
