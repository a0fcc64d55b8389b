//! `tactus linux`: what runs a system file on Linux.

use crate::arguments::Linux;
use crate::subject;
use std::fs;
use std::path::Path;
use tactus_linux::{Class, Reservation, ThreadSetup};
use tactus_machine::failure::{Failure, Outcome};
use tactus_machine::place;
use tactus_model::System;
use tactus_terminal::lines;

/// Writes rt-app's files and the script, and says what each thread gets.
pub fn linux(arguments: &Linux) -> Result<Outcome, Failure> {
    let system = System::read(&arguments.file).map_err(|problems| Failure::Input(problems.to_string()))?;
    subject::announce(&system);
    let setup = tactus_linux::setup(&system, &system.name).map_err(|refusals| {
        let lines = refusals.iter().map(|it| format!("{}: {it}", arguments.file.display()));
        Failure::Input(lines.collect::<Vec<_>>().join("\n         "))
    })?;
    let rows: Vec<Vec<String>> = setup.threads.iter().map(row).collect();
    lines::line("threads", lines::table(&["thread", "class", "values", "cores"], &rows));
    for note in &setup.notes {
        lines::line("note", note);
    }
    let folder = arguments.out.clone().unwrap_or_else(|| place::results(&system.name).join("for-linux"));
    let machine = |path: &Path, error: std::io::Error| Failure::Machine(format!("{}: {error}", path.display()));
    fs::create_dir_all(&folder).map_err(|error| machine(&folder, error))?;
    let write = |name: String, text: &str| {
        let path = folder.join(name);
        fs::write(&path, text).map_err(|error| machine(&path, error))?;
        lines::line("written", path.display());
        Ok::<_, Failure>(path)
    };
    for (suffix, text) in &setup.programs {
        write(format!("{}{suffix}.json", system.name), text)?;
    }
    let script = write("run.sh".into(), &setup.script)?;
    set_executable(&script).map_err(|error| machine(&script, error))?;
    let file = lines::quoted(&arguments.file.display().to_string());
    lines::line("then", format!("sudo {}", script.display()));
    lines::line("", format!("./tactus judge {file} --linux {}", folder.join("trace.dat").display()));
    Ok(Outcome::Held)
}

fn set_executable(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755))
}

fn row(thread: &ThreadSetup) -> Vec<String> {
    let (class, values) = match thread.class {
        Class::Fifo(priority) => ("SCHED_FIFO", format!("priority {priority}")),
        Class::Deadline(Reservation { runtime, deadline, period }) => {
            let [runtime, deadline, period] = [runtime, deadline, period].map(|it| it.as_nanos());
            ("SCHED_DEADLINE", format!("runtime {runtime}, deadline {deadline}, period {period} ns"))
        }
    };
    let cores: Vec<String> = thread.cores.iter().map(|core| core.0.to_string()).collect();
    vec![thread.name.clone(), class.into(), values, cores.join(", ")]
}
