//! What a system did, done again in the rig with one structure after another: checked, or measured and drawn.

use super::arguments::Replay;
use super::plots::{self, Page};
use super::runs::Runs;
use super::{compare, rows};
use std::sync::Arc;
use tactus_machine::failure::{Failure, Outcome};
use tactus_machine::results::Results;
use tactus_rig::replay::{About, Script};
use tactus_rig::{merge, names, Finished, Line, Mode, Operation, Settings, Source};
use tactus_terminal::lines;

/// Replays, tells, draws.
pub fn replay(arguments: &Replay) -> Result<Outcome, Failure> {
    let (kept, trace) = Results::find(&arguments.results)?.read()?;
    let tasks: Vec<About> = kept
        .view
        .tasks
        .iter()
        .map(|task| About { deadline: task.deadline, level: task.level, core: task.core })
        .collect();
    let script = Script::of(&trace, &tasks).map_err(|error| Failure::Input(error.to_string()))?;
    lines::line(
        "replay",
        format!(
            "{} · {} · {}: {} activations, {} blockings, at most {} at a time",
            lines::bold(&kept.view.name),
            kept.view.policy,
            lines::count(script.cores.len(), "core"),
            lines::grouped(script.activations),
            lines::grouped(script.blockings),
            lines::count(script.places, "job")
        ),
    );
    let here = std::thread::available_parallelism().map_or(1, usize::from);
    if arguments.mode == super::arguments::Mode::Performance && script.cores.len() > here && !arguments.oversubscribe {
        return Err(Failure::Input(format!(
            "the run had {}, this machine has {here}: processors would wait for each other's turns; replay it in testing mode, \
             or say --oversubscribe and read the figures with that in mind",
            lines::count(script.cores.len(), "core")
        )));
    }
    let (activations, blockings) = (script.activations, script.blockings);
    let settings = Settings {
        mode: arguments.mode.into(),
        processors: script.cores.len(),
        oversubscribe: arguments.oversubscribe,
        cycles: script.longest(),
        tasks: script.places.max(script.cores.len()),
        serialise: arguments.stamp.into(),
        source: Source::Trace(Arc::new(script)),
        ..Settings::default()
    };
    let all: Vec<String> = names::DIRECTORIES.iter().map(ToString::to_string).collect();
    let structures = if arguments.structures.is_empty() { &all } else { &arguments.structures };
    let mut runs = Runs::new(structures.len());
    let (mut held, mut measured) = (true, Vec::new());
    for directory in structures {
        let words = match runs.run(directory, &arguments.queue, &settings)? {
            Ok(finished) => {
                let (whole, words) = told(directory, &finished, (activations, blockings), settings.mode);
                held &= whole;
                measured.extend(tactus_rig::lines(directory, &arguments.queue, &settings, &finished));
                if whole {
                    words
                } else {
                    lines::bad(words)
                }
            }
            Err(broken) => {
                held = false;
                lines::bad(format!("{directory:<15} {broken}"))
            }
        };
        runs.aside(|| lines::line("rig", words));
    }
    runs.end();
    if settings.mode == Mode::Performance && !measured.is_empty() {
        show(&measured);
        let title = format!(
            "{} under {}, {}, done again: durations of operations",
            kept.view.name,
            kept.view.policy,
            lines::count(settings.processors, "processor")
        );
        rows::folder(&arguments.out)?;
        let path = arguments.out.join("replay.jsonl");
        rows::replace(&path, &measured)?;
        Page::by_processor(title, &measured).write(&arguments.out.join("replay.svg"))?;
        lines::line("results", format!("{} and replay.svg beside it", path.display()));
    }
    Ok(Outcome::held_if(held))
}

/// Whether all that was released and ended did so again; and the run in words.
fn told(directory: &str, finished: &Finished, events: (u64, u64), mode: Mode) -> (bool, String) {
    let sum = merge(&finished.samples);
    let done = format!(
        "{directory:<15} {} activations, {} blockings, {} moves",
        lines::grouped(sum.arrivals),
        lines::grouped(sum.departures),
        lines::grouped(sum.moved)
    );
    let words = match mode {
        Mode::Testing => {
            format!("{done}; {} checks and {} quiet times held", lines::grouped(finished.checks), finished.quiet)
        }
        Mode::Performance => format!("{done}; measured in {:.2} s, then all held", finished.took.as_secs_f64()),
    };
    ((sum.arrivals, sum.departures) == events, words)
}

/// A table for each operation: a row for each structure, all processors together.
fn show(measured: &[Line]) {
    let together: Vec<&Line> = measured.iter().filter(|line| line.processor.is_none()).collect();
    for operation in Operation::ALL.into_iter().filter(|operation| *operation != Operation::Empty) {
        let mut cells = Vec::new();
        for line in together.iter().filter(|line| line.operation == operation.name()) {
            let Some(boxes) = line.durations else { continue };
            let figures = [boxes.min, boxes.p25, boxes.median, boxes.p75, boxes.p99, boxes.max].map(u64::from);
            let figures = [line.count, boxes.samples].into_iter().chain(figures).map(lines::grouped);
            cells.push(std::iter::once(line.directory.clone()).chain(figures).collect());
        }
        if !cells.is_empty() {
            lines::put(&format!("\n{}\n", plots::words(operation)));
            let head = [operation.name(), "count", "measured", "min", "25 %", "median", "75 %", "99 %", "max"];
            lines::put(&lines::table(&head, &cells));
        }
    }
    lines::put("\n");
    let of_each_run: Vec<&Line> = together.into_iter().filter(|line| line.operation == "empty").collect();
    compare::notes(&of_each_run);
    lines::line("unit", "cycles of the time-stamp counter, on all processors together");
}
