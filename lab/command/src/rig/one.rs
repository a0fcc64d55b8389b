//! One structure under events of the rig's own: checked, or measured and drawn.

use super::arguments::Run;
use super::plots::Page;
use super::rows;
use super::runs::Runs;
use tactus_machine::failure::{Failure, Outcome};
use tactus_rig::{merge, Boxes, Finished, Operation, Settings};
use tactus_terminal::lines;

/// Runs, tells, draws.
pub fn run(arguments: &Run) -> Result<Outcome, Failure> {
    let mut settings =
        super::settings(&arguments.events, arguments.load.map(|load| (load, 0)), arguments.mode, arguments.processors)?;
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
    let mut runs = Runs::new(1);
    let result = runs.run(&arguments.structure, &arguments.queue, &settings)?;
    runs.end();
    match result {
        Err(broken) => {
            lines::line("checks", lines::bad(broken));
            Ok(Outcome::Broken)
        }
        Ok(finished) => {
            tell(&settings, &finished);
            rows::folder(&arguments.out)?;
            let all = tactus_rig::lines(&arguments.structure, &arguments.queue, &settings, &finished);
            let path = arguments.out.join("run.jsonl");
            rows::replace(&path, &all)?;
            if settings.mode == tactus_rig::Mode::Performance {
                let title = format!(
                    "{} with {}, {}: durations of operations",
                    arguments.structure,
                    arguments.queue,
                    lines::count(settings.processors, "processor")
                );
                Page::by_processor(title, &all).write(&arguments.out.join("run.svg"))?;
                lines::line("results", format!("{} and run.svg beside it", path.display()));
            } else {
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
    let rates = format!(
        "{:.1} activations and {:.1} blockings per processor and second; {} tasks moved, {} activations found no task",
        all.arrivals as f64 / seconds,
        all.departures as f64 / seconds,
        lines::grouped(all.moved),
        lines::grouped(all.refused)
    );
    lines::line("events", rates);
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
