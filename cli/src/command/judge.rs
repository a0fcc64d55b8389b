//! `tactus judge`: a trace of Linux, held against what the check promises.

use crate::arguments::Judge;
use crate::promise::promised;
use crate::{subject, verdict};
use tactus_linux::{Named, Recording};
use tactus_machine::costs;
use tactus_machine::failure::{Failure, Outcome};
use tactus_machine::place;
use tactus_machine::results::Results;
use tactus_model::System;
use tactus_report::{Details, Kept};
use tactus_terminal::lines;

/// Judges the trace and writes the results.
pub fn judge(arguments: &Judge) -> Result<Outcome, Failure> {
    let system = System::read(&arguments.file).map_err(|problems| Failure::Input(problems.to_string()))?;
    let costs = costs::of_simulation(&arguments.costs, &system)?;
    subject::announce(&system);
    let mut plan = promised(&system, costs);
    for (view, task) in plan.view.tasks.iter_mut().zip(&system.tasks) {
        // What a thread of Linux takes nobody knows before it has run.
        view.assumed = task.execution;
    }

    let named = named(&system, &arguments.thread);
    let path = &arguments.linux;
    let wrong = |why: String| Failure::Input(format!("{}: {why}", path.display()));
    let recording = tactus_linux::read_file_for(path, (&plan.view, &named), tactus_linux::LONG).map_err(wrong)?;
    lines::line("trace", told(&recording));
    for note in &recording.notes {
        lines::line("", note);
    }
    let translated =
        tactus_linux::translate(&recording, &plan.view, &named).map_err(|error| wrong(error.to_string()))?;
    drop(recording);
    for note in &translated.notes {
        lines::line("", note);
    }

    let mut command = format!("./tactus judge {} --linux {}", quoted(&arguments.file), quoted(path));
    for (task, thread) in &arguments.thread {
        command += &format!(" --thread {}", lines::quoted(&format!("{task}={thread}")));
    }
    if arguments.costs != "none" {
        command += &format!(" --costs {}", lines::quoted(&arguments.costs));
    }
    let facts = translated.notes.iter().map(|note| ("trace".to_string(), note.clone())).collect();
    let (seed, findings) = (system.seed, plan.findings.clone());
    let details = Details { machine: "Linux".into(), seed, command, findings, facts, ..Details::default() };
    let folder = arguments.out.clone().unwrap_or_else(|| place::results(&system.name).join("linux"));
    let results = Results::make(&folder)?;
    let summary = results.write(&Kept { view: translated.view, details }, &translated.trace)?;
    lines::line("verdict", verdict::text(&summary));
    lines::line("report", results.file("report.html").display());
    Ok(Outcome::held_if(summary.verdict.held()))
}

/// Which threads the tasks are: as the command says, else as the file says.
fn named(system: &System, command: &[(String, String)]) -> Vec<Named> {
    let by_command =
        command.iter().map(|(task, thread)| Named { task: task.clone(), thread: Some(thread.clone()), group: None });
    let by_file = system.linux.iter().map(|it| Named {
        task: system.tasks[it.task.index()].name.clone(),
        thread: it.name.clone(),
        group: it.group.clone(),
    });
    by_command.chain(by_file).collect()
}

fn quoted(path: &std::path::Path) -> String {
    lines::quoted(&path.display().to_string())
}

/// `7,821 events, 1,552 of them switches, on 6 cores`
fn told(recording: &Recording) -> String {
    let events = lines::grouped(recording.count());
    let switches = lines::grouped(recording.switches() as u64);
    let cores = lines::count(recording.cpus().len(), "core");
    let unread = match recording.unread {
        0 => String::new(),
        n => format!("; {} lines are no events", lines::grouped(n)),
    };
    let wakeups =
        if recording.has_wakeups() { "" } else { "; no wake-ups, so jobs begin where their threads first run" };
    format!("{events} events, {switches} of them switches, on {cores}{unread}{wakeups}")
}
