//! `tactus trace`: the schedule of an earlier run as text, or in the forms of other tools.

use crate::arguments::Trace as Arguments;
use std::fs;
use std::path::Path;
use tactus_machine::failure::{Failure, Outcome};
use tactus_machine::results::Results;
use tactus_terminal::lines;
use tactus_time::{Duration, Instant};
use tactus_trace::{Trace, View};

/// How many columns a drawing has if nothing else is said.
const COLUMNS: u64 = 100;

/// Shows or exports.
pub fn trace(arguments: &Arguments) -> Result<Outcome, Failure> {
    let results = Results::find(&arguments.results)?;
    let (kept, trace) = results.read()?;
    if let Some(path) = &arguments.perfetto {
        write(path, &tactus_trace::perfetto(&kept.view, &trace))?;
    }
    if let Some(folder) = &arguments.sched_trace {
        fs::create_dir_all(folder).map_err(|error| Failure::Machine(format!("{}: {error}", folder.display())))?;
        let written = tactus_trace::write_litmus(&kept.view, &trace, folder);
        for path in written.map_err(|error| Failure::Machine(error.to_string()))? {
            lines::line("trace", path.display());
        }
    }
    if arguments.perfetto.is_none() && arguments.sched_trace.is_none() {
        lines::put(&shown(arguments, &kept.view, &trace)?);
    }
    Ok(Outcome::Held)
}

fn shown(arguments: &Arguments, view: &View, trace: &Trace) -> Result<String, Failure> {
    let unit = arguments.unit;
    if unit.is_zero() {
        return Err(Failure::Input("--unit must be longer than nothing".to_string()));
    }
    let from = arguments.from.unwrap_or_default();
    let end = match arguments.to {
        Some(to) => to,
        None if arguments.draw => {
            from.checked_add(unit.checked_mul(COLUMNS).unwrap_or(Duration::MAX)).unwrap_or(Duration::MAX)
        }
        None => Duration::MAX,
    };
    let end = end.min(view.duration);
    if from >= end {
        return Err(Failure::Input(format!("nothing lies between {from} and {end}; the run lasted {}", view.duration)));
    }
    let (from, to) = (Instant::ZERO.saturating_add(from), Instant::ZERO.saturating_add(end));
    if arguments.draw {
        return Ok(tactus_trace::draw(view, trace, unit, from, to));
    }
    if !arguments.records {
        return Ok(tactus_trace::list(view, trace, unit));
    }
    let mut rows = Vec::new();
    tactus_trace::in_order(trace, |record| {
        if (from..=to).contains(&record.time) {
            let task = record.task.and_then(|task| view.tasks.get(task.index())).map_or("", |task| task.name.as_str());
            let job = if record.task.is_some() { record.job.to_string() } else { String::new() };
            let cells = [record.time.as_nanos().to_string(), record.core.to_string(), format!("{:?}", record.kind)];
            rows.push(cells.into_iter().chain([task.to_string(), job, record.arg.to_string()]).collect());
        }
    });
    Ok(lines::table(&["ns", "core", "what", "task", "job", "arg"], &rows))
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    fs::write(path, bytes).map_err(|error| Failure::Machine(format!("{}: {error}", path.display())))?;
    lines::line("trace", path.display());
    Ok(())
}
