//! The system that a command is about: read from its file, changed as the options say, and told in one line.

use crate::arguments::Subject;
use tactus_machine::failure::{Failure, Outcome};
use tactus_model::{policy_label, Processor, Sandboxes, System, SystemFile};
use tactus_terminal::lines;

/// Reads the system file and applies the options.
pub fn read(subject: &Subject) -> Result<System, Failure> {
    let system = System::read(&subject.file).map_err(|problems| Failure::Input(problems.to_string()))?;
    with_options(system, subject)
}

/// The same of a file that may have sandboxes.
pub fn read_file(subject: &Subject) -> Result<SystemFile, Failure> {
    Ok(match SystemFile::read(&subject.file).map_err(|problems| Failure::Input(problems.to_string()))? {
        SystemFile::System(system) => SystemFile::System(Box::new(with_options(*system, subject)?)),
        SystemFile::Sandboxes(mut whole) => {
            for part in &mut whole.parts {
                part.system = with_options(part.system.clone(), subject)?;
            }
            SystemFile::Sandboxes(whole)
        }
    })
}

/// Does the same for each sandbox of a file, or for its one system, and then what is `between` sandboxes, with what came of each. It held if
/// all did.
pub fn for_each<T>(
    subject: &Subject,
    mut one: impl FnMut(&System, Option<&Sandboxes>) -> Result<(Outcome, T), Failure>,
    between: impl FnOnce(&Sandboxes, &[T]) -> bool,
) -> Result<Outcome, Failure> {
    match read_file(subject)? {
        SystemFile::System(system) => one(&system, None).map(|(outcome, _)| outcome),
        SystemFile::Sandboxes(whole) => {
            announce_sandboxes(&whole);
            let (mut held, mut made) = (Vec::new(), Vec::new());
            for part in &whole.parts {
                let (outcome, of_it) = one(&part.system, Some(&whole))?;
                held.push((part.system.name.as_str(), outcome == Outcome::Held));
                made.push(of_it);
            }
            let joined = between(&whole, &made);
            lines::line("whole", sandboxes_held(&whole, &held, joined));
            Ok(Outcome::held_if(joined && held.iter().all(|(_, held)| *held)))
        }
    }
}

/// `2 of 2 sandboxes hold`, or which do not; and whether kernels' interrupts to others are held back.
pub fn sandboxes_held(whole: &Sandboxes, held: &[(&str, bool)], mailboxes: bool) -> String {
    let broken: Vec<&str> = held.iter().filter(|(_, held)| !held).map(|(name, _)| *name).collect();
    let text = match broken.is_empty() {
        true => lines::good(format!("all {} hold", held.len())),
        false => lines::bad(format!("{} of {} do not hold: {}", broken.len(), held.len(), broken.join(", "))),
    };
    let text = if mailboxes { text } else { format!("{text}; {}", lines::bad("a mailbox does not")) };
    format!("{text}; {}", inter_core(whole))
}

/// Whether kernels' interrupts to others are held back.
pub fn inter_core(whole: &Sandboxes) -> &'static str {
    match whole.open {
        true => "their kernels can interrupt and stop each other's cores (inter-core = \"open\")",
        false => "none of their kernels can interrupt or stop another's core",
    }
}

/// Tells what the sandboxes are.
pub fn announce_sandboxes(whole: &Sandboxes) {
    let names: Vec<&str> = whole.parts.iter().map(|part| part.system.name.as_str()).collect();
    let count = lines::count(names.len(), "sandbox").replace("sandboxs", "sandboxes");
    lines::put(&format!("{} · {count}: {}\n", lines::bold(&whole.name), names.join(", ")));
}

fn with_options(mut system: System, subject: &Subject) -> Result<System, Failure> {
    if let Some(duration) = subject.duration {
        system.set_duration(duration, "--duration").map_err(|problems| Failure::Input(problems.to_string()))?;
    }
    if let Some(seed) = subject.seed {
        system.seed = seed;
    }
    if let Some(processor) = subject.processor {
        system.machine.processor = processor;
    }
    if let Some(level) = subject.at_level {
        if !system.policy.has_levels() {
            let policy = policy_label(&system.policy);
            return Err(Failure::Input(format!(
                "--at-level {level}: {policy} knows no levels, every task has one execution time; leave the option out"
            )));
        }
        system.at_level(level);
    }
    Ok(system)
}

/// Refuses what the machine of the first processor alone has.
pub fn only_on_the_first_processor(system: &System, what: &str) -> Result<(), Failure> {
    let processor = system.machine.processor;
    if processor == Processor::default() {
        return Ok(());
    }
    let (file, name, first) = (system.source.display(), processor.name(), Processor::default().name());
    Err(Failure::Input(format!("{file}: {what} on {name} yet: choose the processor {first}")))
}

/// `avionics · 4 cores · 24 tasks (A 6, B 6, C 10, D 2) · MC² · 10 s`
fn headline(system: &System) -> String {
    let levels = match system.level_summary() {
        levels if levels.is_empty() => levels,
        levels => format!(" ({levels})"),
    };
    let cores = lines::count(system.cores, "core");
    let tasks = lines::count(system.tasks.len(), "task");
    let policy = policy_label(&system.policy);
    format!("{} · {cores} · {tasks}{levels} · {policy} · {}", lines::bold(&system.name), system.duration)
}

/// Tells what the command is about: the headline, and a line for each assumption under which the file was read.
pub fn announce(system: &System) {
    lines::put(&format!("{}\n", headline(system)));
    for note in &system.notes {
        lines::line("note", note);
    }
}

/// The command that does the same again.
pub fn command(verb: &str, subject: &Subject, more: &[String]) -> String {
    let mut words = vec!["./tactus".to_string(), verb.to_string(), lines::quoted(&subject.file.display().to_string())];
    if let Some(level) = subject.at_level {
        words.push(format!("--at-level {level}"));
    }
    if let Some(duration) = subject.duration {
        words.push(format!("--duration '{} ns'", duration.as_nanos()));
    }
    if let Some(seed) = subject.seed {
        words.push(format!("--seed {seed}"));
    }
    if let Some(processor) = subject.processor {
        words.push(format!("--processor {}", processor.name()));
    }
    words.extend(more.iter().cloned());
    words.join(" ")
}
