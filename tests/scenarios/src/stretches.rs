//! The longest stretch that the kernel ran with interrupts off, over all runs of all tests.
//!
//! The kernel tells the longest of a run at its end. Where the variable `TACTUS_STRETCHES` names a file, each run adds a line
//! to it, with the test that it belongs to; [`all`] reads them.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::thread;

/// What comes before the figures in a run's log.
const MARK: &str = "tactus: longest in the kernel: ";

/// The longest stretch of a test's runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// The test.
    pub test: String,
    /// How many cores that run had.
    pub cores: u64,
    /// How long it was.
    pub instructions: u64,
    /// What the kernel was entered for, in words.
    pub cause: String,
    /// How many runs the test made.
    pub runs: u64,
}

fn noted() -> Option<PathBuf> {
    std::env::var_os("TACTUS_STRETCHES").map(PathBuf::from)
}

/// Notes the longest stretch of the run that left its results in the folder, if somebody wants to know.
pub fn note(folder: &Path) {
    let Some(path) = noted() else { return };
    let log = String::from_utf8_lossy(&fs::read(folder.join("run.log")).unwrap_or_default()).into_owned();
    let details = fs::read_to_string(folder.join("run.json")).unwrap_or_default();
    let Some(line) = line(&log, &details) else { return };
    // A test's own thread has its name; a test's further threads do not.
    let test = thread::current().name().unwrap_or("several at once").to_string();
    let file = OpenOptions::new().create(true).append(true).open(&path);
    let written = file.and_then(|mut file| file.write_all(format!("{test}\t{line}\n").as_bytes()));
    written.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}

/// `cores`, instructions and cause, with tabs in between. `details` is the text of `run.json`, if there is one: it tells how
/// long an instruction takes.
fn line(log: &str, details: &str) -> Option<String> {
    let (figures, _) = log.split_once(MARK)?.1.split_once('\n')?;
    let (ticks, rest) = figures.split_once(" ticks, core ")?;
    let (_, cause) = rest.split_once(", ")?;
    let (_, cores) = log.split_once("tactus: ")?;
    let cores: u64 = cores.split_once(" cores, ")?.0.parse().ok()?;
    let nanos = details.split_once("1 instruction = ").and_then(|(_, rest)| rest.split_once(" ns"));
    let nanos: u64 = nanos.and_then(|(count, _)| count.parse().ok()).unwrap_or(2);
    Some(format!("{cores}\t{}\t{cause}", ticks.parse::<u64>().ok()? / nanos.max(1)))
}

/// The longest stretch of each test that is noted, longest first.
pub fn all() -> Vec<Stretch> {
    let text = noted().and_then(|path| fs::read_to_string(path).ok()).unwrap_or_default();
    let mut all: Vec<Stretch> = Vec::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split('\t').collect();
        let [test, cores, instructions, cause] = words[..] else { continue };
        let (Ok(cores), Ok(instructions)) = (cores.parse(), instructions.parse()) else { continue };
        let one = Stretch { test: test.into(), cores, instructions, cause: cause.into(), runs: 1 };
        match all.iter_mut().find(|it| it.test == one.test && it.cores == one.cores) {
            Some(it) if it.instructions >= one.instructions => it.runs += 1,
            Some(it) => *it = Stretch { runs: it.runs + 1, ..one },
            None => all.push(one),
        }
    }
    all.sort_by_key(|it| std::cmp::Reverse(it.instructions));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_runs_longest_stretch_is_read_in_instructions() {
        let log =
            "tactus: 4 cores, 3 components, x\nverdict\ntactus: longest in the kernel: 952 ticks, core 2, call Text\n";
        assert_eq!(line(log, "\"QEMU 7.2.22, 1 instruction = 4 ns\"").as_deref(), Some("4\t238\tcall Text"));
        assert_eq!(line(log, "").as_deref(), Some("4\t476\tcall Text"));
        assert_eq!(line("tactus: 4 cores, 3 components, x\n", ""), None);
    }
}
