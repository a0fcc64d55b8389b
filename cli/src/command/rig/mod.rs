//! `tactus rig`: the structures of schedulers under parallel events: tested, measured, compared, and driven by the trace
//! of a run.

pub mod arguments;
mod compare;
mod instructions;
mod model;
mod task_set;

use crate::failure::{Failure, Outcome};
use crate::lines;
use crate::progress;
use crate::results::Results;
use arguments::{Counted, Events, Mode, Replay, Rig, Run, Stamp, What};
use std::sync::Arc;
use tactus_rig::replay::{About, Script};
use tactus_rig::{merge, names, Boxes, Failed, Finished, Operation, Settings, Source};
use tactus_sync::stamp::Serialise;

/// Does what was asked.
pub fn rig(arguments: &Rig) -> Result<Outcome, Failure> {
    match &arguments.what {
        What::Run(run) => one(run),
        What::Compare(compare) if compare.instructions => instructions::count(compare),
        What::Compare(compare) => compare::compare(compare),
        What::Model(model) => model::model(model),
        What::Replay(replay) => again(replay),
        What::Counted(counted) => rounds(counted),
    }
}

/// The settings that options say. `load`: periodic tasks of that utilisation, and which set of many.
fn settings(events: &Events, load: Option<(f64, u64)>, mode: Mode, processors: usize) -> Result<Settings, Failure> {
    let real = |time: tactus_time::Duration| std::time::Duration::from_nanos(time.as_nanos());
    let source = match load {
        None => Source::Random,
        Some((load, set)) => Source::Tasks(Arc::new(task_set::draw(events, load, processors, set)?)),
    };
    Ok(Settings {
        mode: match mode {
            Mode::Testing => tactus_rig::Mode::Testing,
            Mode::Performance => tactus_rig::Mode::Performance,
        },
        processors,
        oversubscribe: events.oversubscribe,
        cycles: events.cycles,
        cycle: real(events.cycle),
        real_time: events.real_time,
        urgent: events.urgent,
        activation: events.activation,
        early_finish: events.early_finish,
        deadline: (real(events.deadline_from), real(events.deadline_to)),
        tasks: events.tasks,
        bound: events.bound,
        seed: events.seed,
        serialise: match events.stamp {
            Stamp::Cpuid => Serialise::Cpuid,
            Stamp::Lfence => Serialise::Lfence,
        },
        source,
        ..Settings::default()
    })
}

/// Runs the rig with a bar. A broken rule is no failure of the command: it comes back as words.
fn run(directory: &str, queue: &str, settings: &Settings) -> Result<Result<Finished, String>, Failure> {
    let wait = progress::Wait::new("rig", directory);
    let label = format!("{directory} · {queue} · {}", lines::count(settings.processors, "processor"));
    let mut tell = |part: f64| wait.tell(&format!("{label}  {} {:3.0} %", progress::bar(part), part * 100.0));
    let result = names::run_named(directory, queue, settings, &mut tell);
    wait.end();
    match result {
        None => Err(Failure::Input(format!("there is no structure `{directory}` with a queue `{queue}`"))),
        Some(Ok(finished)) => Ok(Ok(finished)),
        Some(Err(Failed::Problem(problem))) => Err(Failure::Input(problem.to_string())),
        Some(Err(broken)) => Ok(Err(broken.to_string())),
    }
}

fn one(arguments: &Run) -> Result<Outcome, Failure> {
    let mut settings =
        settings(&arguments.events, arguments.load.map(|load| (load, 0)), arguments.mode, arguments.processors)?;
    settings.check_every = std::time::Duration::from_nanos(arguments.check_every.as_nanos());
    let head = format!(
        "{} · {} · {} · {} cycles of {} each",
        lines::bold(&arguments.structure),
        arguments.queue,
        lines::count(settings.processors, "processor"),
        lines::grouped(settings.cycles),
        arguments.events.cycle
    );
    lines::line("rig", head);
    match run(&arguments.structure, &arguments.queue, &settings)? {
        Err(broken) => {
            lines::line("checks", lines::bad(broken));
            Ok(Outcome::Broken)
        }
        Ok(finished) => {
            tell(&settings, &finished);
            if let Some(path) = &arguments.json {
                let all = tactus_rig::lines(&arguments.structure, &arguments.queue, &settings, &finished);
                compare::append(path, &all)?;
                lines::line("results", path.display());
            }
            Ok(Outcome::Held)
        }
    }
}

/// Says how a run went that held.
fn tell(settings: &Settings, finished: &Finished) {
    let all = merge(&finished.samples);
    let seconds = finished.emulated.as_secs_f64() * settings.processors as f64;
    let checked = format!(
        "everything held in {} checks while it ran, and {} times when all was quiet",
        lines::grouped(finished.checks),
        finished.quiet
    );
    lines::line("checks", lines::good(checked));
    if !matches!(settings.source, Source::Trace(_)) {
        let rates = format!(
            "{:.1} activations and {:.1} blockings per processor and second; {} tasks moved, {} activations found no task",
            all.arrivals as f64 / seconds,
            all.departures as f64 / seconds,
            lines::grouped(all.moved),
            lines::grouped(all.refused)
        );
        lines::line("events", rates);
    }
    if settings.mode != tactus_rig::Mode::Performance {
        return;
    }
    let class = match &finished.real_time_class {
        Ok(()) => "in the real-time class".to_string(),
        Err(why) => format!("not in the real-time class ({why})"),
    };
    let bound = if finished.bound { "each on a core of its own" } else { "NOT each on a core of its own" };
    let words = format!(
        "{bound}, {class}; all at work for {:.0} % of the time; {} page faults while measured",
        100.0 * finished.together,
        all.faults
    );
    lines::line("threads", words);
    let mut rows = Vec::new();
    for operation in Operation::ALL {
        let samples = finished.samples.iter().enumerate().map(|(n, samples)| (Some(n), samples));
        for (processor, samples) in std::iter::once((None, &all)).chain(samples) {
            let Some(boxes) = Boxes::of(&samples.durations[operation as usize]) else { continue };
            let mut row = vec![
                operation.name().to_string(),
                processor.map_or("all".to_string(), |n| n.to_string()),
                lines::grouped(samples.counts[operation as usize]),
            ];
            row.extend(
                [boxes.min, boxes.p25, boxes.median, boxes.p75, boxes.p99, boxes.max]
                    .map(|cycles| lines::grouped(u64::from(cycles))),
            );
            rows.push(row);
        }
    }
    let head = ["operation", "processor", "count", "min", "25 %", "median", "75 %", "99 %", "max"];
    lines::put(&lines::table(&head, &rows));
    lines::line("unit", "cycles of the time-stamp counter; `empty` is what a measurement itself takes");
}

fn again(arguments: &Replay) -> Result<Outcome, Failure> {
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
    let (activations, blockings) = (script.activations, script.blockings);
    let settings = Settings {
        processors: script.cores.len(),
        tasks: script.places.max(script.cores.len()),
        check_every: std::time::Duration::from_micros(200),
        source: Source::Trace(Arc::new(script)),
        ..Settings::default()
    };
    let all: Vec<String> = names::DIRECTORIES.iter().map(ToString::to_string).collect();
    let mut held = true;
    for directory in if arguments.structures.is_empty() { &all } else { &arguments.structures } {
        match run(directory, &arguments.queue, &settings)? {
            Ok(finished) => {
                let sum = merge(&finished.samples);
                let whole = sum.arrivals == activations && sum.departures == blockings;
                held &= whole;
                let words = format!(
                    "{directory:<15} {} activations, {} blockings, {} moves; {} checks and {} quiet times held",
                    lines::grouped(sum.arrivals),
                    lines::grouped(sum.departures),
                    lines::grouped(sum.moved),
                    lines::grouped(finished.checks),
                    finished.quiet
                );
                lines::line("rig", if whole { words } else { lines::bad(words) });
            }
            Err(broken) => {
                held = false;
                lines::line("rig", lines::bad(format!("{directory:<15} {broken}")));
            }
        }
    }
    Ok(Outcome::held_if(held))
}

fn rounds(arguments: &Counted) -> Result<Outcome, Failure> {
    let Counted { structure, operation, size, rounds } = arguments;
    let result = names::count_directory(structure, operation, *size, *rounds)
        .or_else(|| names::count_queue(structure, operation, *size, *rounds));
    let result = result.ok_or_else(|| Failure::Input(format!("`{operation}` of `{structure}` cannot be counted")))?;
    lines::put(&format!("{}\n", result.0));
    Ok(Outcome::Held)
}
