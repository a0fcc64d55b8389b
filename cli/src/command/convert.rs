//! `tactus convert`: task sets from one format into another.

use crate::arguments::Convert;
use tactus_formats::{read, write, Format, Options};
use tactus_machine::failure::{Failure, Outcome};
use tactus_terminal::lines;

/// Reads, changes what the options say, writes, and tells what was taken how and what was lost.
pub fn convert(arguments: &Convert) -> Result<Outcome, Failure> {
    let Convert { input, output, from, to, unit, policy, cores, duration } = arguments;
    if unit.is_zero() || cores == &Some(0) || duration.is_some_and(|duration| duration.is_zero()) {
        return Err(Failure::Input("--unit, --cores and --duration must be more than nothing".to_string()));
    }
    let options = Options { unit: *unit };
    let Some(to) = to.or_else(|| Format::of(output)) else {
        let why = "the name does not tell the format: give --to schedcat, --to simso, or another ending";
        return Err(Failure::Input(format!("{}: {why}", output.display())));
    };
    let mut sets = read(input, *from, &options).map_err(|fault| Failure::Input(fault.to_string()))?;
    for set in &mut sets {
        set.policy = policy.clone().or(set.policy.take());
        set.cores = cores.or(set.cores);
        set.duration = duration.or(set.duration);
        if to == Format::System {
            // A system file has rules of its own: nothing is written that `check` would refuse to read.
            set.system().map_err(|reason| Failure::Input(format!("{}: {reason}", input.display())))?;
        }
    }
    let written = write(&sets, to, &options);
    let written = written.map_err(|reason| Failure::Input(format!("{}: {reason}", output.display())))?;
    std::fs::write(output, written.text).map_err(|error| Failure::Machine(format!("{}: {error}", output.display())))?;
    for note in sets.iter().flat_map(|set| &set.notes) {
        lines::line("note", note);
    }
    for lost in &written.lost {
        lines::line("lost", lost);
    }
    let tasks: usize = sets.iter().map(|set| set.tasks.len()).sum();
    let (sets, tasks) = (lines::count(sets.len(), "set"), lines::count(tasks, "task"));
    lines::line("written", format!("{} · {to} · {sets} · {tasks}", output.display()));
    Ok(Outcome::Held)
}
