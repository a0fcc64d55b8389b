//! What components said on the machine's console: lines that they printed, and why they gave up.
//!
//! A printed line begins with its component's name, which the console component puts there. What a component said before it gave up comes
//! from the kernel in pieces, `tactus: panic <component>.<piece>: <text>|`; the first piece of each life has number 0.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::PathBuf;

/// As many lines of a run are kept for the report; all are in its log.
const KEPT: usize = 2_000;

/// What the kernel puts before each line that a component prints; the number of one that serves a disk, and a space, come behind it.
const MARK: &str = "|";
const PANIC: &str = "tactus: panic ";

/// The console of a machine that is running.
pub struct Console<'a> {
    log: PathBuf,
    components: &'a [String],
    read: u64,
    rest: Vec<u8>,
}

impl Console<'_> {
    /// Of the machine that writes this log.
    pub fn new(log: PathBuf, components: &[String]) -> Console<'_> {
        Console { log, components, read: 0, rest: Vec::new() }
    }

    /// The lines that components have printed since the last look. A log that is not there yet has none.
    pub fn look(&mut self) -> Vec<String> {
        let Ok(mut file) = File::open(&self.log) else { return Vec::new() };
        let mut bytes = Vec::new();
        if file.seek(SeekFrom::Start(self.read)).and_then(|_| file.read_to_end(&mut bytes)).is_err() {
            return Vec::new();
        }
        self.read += bytes.len() as u64;
        self.rest.append(&mut bytes);
        let complete = self.rest.iter().rposition(|&byte| byte == b'\n').map_or(0, |place| place + 1);
        let lines: Vec<u8> = self.rest.drain(..complete).collect();
        printed(&String::from_utf8_lossy(&lines), self.components)
    }
}

/// The lines that components printed.
fn printed(log: &str, components: &[String]) -> Vec<String> {
    let is_ones = |line: &&str| line.split_once(": ").is_some_and(|(name, _)| components.iter().any(|it| it == name));
    let said =
        |line| str::strip_prefix(line, MARK)?.trim_start_matches(|it: char| it.is_ascii_digit()).strip_prefix(' ');
    log.lines().filter_map(said).filter(is_ones).map(str::to_string).collect()
}

/// The lines that components printed, as many as are kept for the report.
pub fn kept(log: &str, components: &[String]) -> Vec<String> {
    let mut lines = printed(log, components);
    let left_out = lines.len().saturating_sub(KEPT);
    lines.truncate(KEPT);
    if left_out > 0 {
        lines.push(format!("and {left_out} more lines in the log"));
    }
    lines
}

/// What components said before they gave up, in order: the component's number, and place and text.
pub fn panics(log: &str) -> Vec<(u32, String)> {
    let mut told: Vec<(u32, String)> = Vec::new();
    for line in log.lines() {
        // Another core's root may have been in the middle of a line; what components print is marked.
        let Some((_, rest)) = line.split_once(PANIC).filter(|_| !line.starts_with(MARK)) else { continue };
        let Some((place, text)) = rest.split_once(": ") else { continue };
        let Some((component, piece)) = place.split_once('.') else { continue };
        let (Ok(component), Ok(piece)) = (component.parse::<u32>(), piece.parse::<u8>()) else { continue };
        let text = text.strip_suffix('|').unwrap_or(text);
        match told.iter_mut().rev().find(|(it, _)| *it == component).filter(|_| piece > 0) {
            Some((_, before)) => before.push_str(text),
            None => told.push((component, text.to_string())),
        }
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_of_a_panic_are_put_together_by_component_and_life() {
        let log =
            "tactus: panic 3.0: src/lib.rs:41: index out of |\n| brake: hello\ntactus: panic 4.0: src/main.rs:7: no|\n\
                   tactus: panic 3.1: bounds|\ntactus: panic 3.0: again|\n| fly: tactus: panic 3.0: y|\n";
        let told = panics(log);
        let said: Vec<_> = told.iter().map(|(component, text)| (*component, text.as_str())).collect();
        assert_eq!(said, [(3, "src/lib.rs:41: index out of bounds"), (4, "src/main.rs:7: no"), (3, "again")]);
    }

    #[test]
    fn lines_are_printed_ones_if_a_component_is_named_first() {
        let components = ["tactus".to_string(), "brake".to_string()];
        let log = "tactus: 4 cores\n| brake: hello: world\navionics\n| braking: no\nbrake: no\ncore 0: 7\n|3 brake: 1\n|brake: no\n";
        assert_eq!(kept(log, &components), ["brake: hello: world", "brake: 1"]);
        assert_eq!(kept(&"| brake: x\n".repeat(KEPT + 2), &components).last().unwrap(), "and 2 more lines in the log");
    }

    #[test]
    fn a_line_is_shown_when_it_is_complete_and_once() {
        let path = std::env::temp_dir().join(format!("tactus-console-{}", std::process::id()));
        let components = ["brake".to_string()];
        let mut console = Console::new(path.clone(), &components);
        assert!(console.look().is_empty());
        std::fs::write(&path, "| brake: one\n| brake: tw").unwrap();
        assert_eq!(console.look(), ["brake: one"]);
        std::fs::write(&path, "| brake: one\n| brake: two\n").unwrap();
        assert_eq!(console.look(), ["brake: two"]);
        assert!(console.look().is_empty());
        std::fs::remove_file(&path).unwrap();
    }
}
