//! The system that a command is about: read from its file, changed as the options say, and told in one line.

use crate::arguments::Subject;
use tactus_machine::failure::Failure;
use tactus_model::{policy_label, System};
use tactus_terminal::lines;

/// Reads the system file and applies the options.
pub fn read(subject: &Subject) -> Result<System, Failure> {
    let mut system = System::read(&subject.file).map_err(|problems| Failure::Input(problems.to_string()))?;
    if let Some(duration) = subject.duration {
        system.set_duration(duration, "--duration").map_err(|problems| Failure::Input(problems.to_string()))?;
    }
    if let Some(seed) = subject.seed {
        system.seed = seed;
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
    let mut words = vec!["./tactus".to_string(), verb.to_string(), quoted(&subject.file.display().to_string())];
    if let Some(level) = subject.at_level {
        words.push(format!("--at-level {level}"));
    }
    if let Some(duration) = subject.duration {
        words.push(format!("--duration '{} ns'", duration.as_nanos()));
    }
    if let Some(seed) = subject.seed {
        words.push(format!("--seed {seed}"));
    }
    words.extend(more.iter().cloned());
    words.join(" ")
}

/// The word as a shell takes it for one.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+=:,@".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_string()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_a_shell_would_take_apart_are_quoted() {
        assert_eq!(quoted("examples/avionics.toml"), "examples/avionics.toml");
        assert_eq!(quoted("my file"), "'my file'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted(""), "''");
    }
}
