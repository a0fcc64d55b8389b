//! The longest stretch that the kernel ran with interrupts off, over all runs of all tests.
//!
//! The kernel tells the longest of a run at its end; where cores take turns, others' turns may be part of it. Where the variable
//! `TACTUS_FOLLOW_KERNEL` is set, the command counts each core's own instructions as well. Where the variable `TACTUS_STRETCHES`
//! names a file, each run adds a line to it, with the test that it belongs to; [`all`] reads them.

use std::env;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::thread;

/// What comes before the figures in a run's log.
const MARK: &str = "tactus: longest in the kernel: ";
/// Where the command tells what each core executed itself.
const FOLLOWED: &str = "stretches.txt";

/// The longest stretch of the runs of one file of tests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// The file of tests.
    pub file: String,
    /// The test.
    pub test: String,
    /// How many cores that run had.
    pub cores: u64,
    /// How long it was.
    pub instructions: u64,
    /// What the kernel was entered for, in words.
    pub cause: String,
    /// Whether it is the core's own instructions, and nobody else's: else it is what the kernel tells, with the others' turns.
    pub followed: bool,
    /// How many runs were looked at.
    pub runs: u64,
}

/// Where lines go. A kernel that looks at itself spends its time with that: its stretches are none of the kernel's.
fn noted() -> Option<PathBuf> {
    let looks = env::var("TACTUS_KERNEL_FEATURES").is_ok_and(|features| features.contains("tactus-kernel/"));
    env::var_os("TACTUS_STRETCHES").filter(|_| !looks).map(PathBuf::from)
}

/// Notes the longest stretch of each run that left its results in the folder or below it, if somebody wants to know.
pub fn note(folder: &Path) {
    if noted().is_none() {
        return;
    }
    let text = |name: &str| String::from_utf8_lossy(&fs::read(folder.join(name)).unwrap_or_default()).into_owned();
    if let Some(line) = line(&text("run.log"), &(text("run.json") + &text("machine.txt"))) {
        let followed = followed(&text(FOLLOWED), &line);
        add(line);
        followed.into_iter().for_each(add);
    }
    let below = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    below.filter(|path| path.is_dir()).for_each(|path| note(&path));
}

/// As [`note`], of a run that left only what it said; an instruction takes 2 ns.
pub fn note_log(said: &str) {
    line(said, "").into_iter().for_each(add);
}

fn add(line: Line) {
    let Some(path) = noted() else { return };
    // A test's own thread has its name, with the file's before it where several are one program; a test's further threads do not.
    let name = thread::current().name().unwrap_or("several at once").to_string();
    let program =
        env::current_exe().ok().and_then(|it| Some(it.file_stem()?.to_str()?.rsplit_once('-')?.0.to_string()));
    let (file, test) = match name.split_once("::") {
        Some((file, test)) => (file.to_string(), test.to_string()),
        None => (program.unwrap_or_default(), name),
    };
    let Line { cores, instructions, cause, followed } = line;
    let line = format!("{file}\t{test}\t{cores}\t{instructions}\t{cause}\t{followed}\n");
    let file = OpenOptions::new().create(true).append(true).open(&path);
    let written = file.and_then(|mut file| file.write_all(line.as_bytes()));
    written.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}

/// What is known of one run.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Line {
    cores: u64,
    instructions: u64,
    cause: String,
    followed: bool,
}

/// The longest of what each core executed itself, as the command tells it.
fn followed(text: &str, run: &Line) -> Option<Line> {
    let of = |line: &str| {
        let (_, rest) = line.split_once(" longest in the kernel: ")?;
        let (instructions, rest) = rest.split_once(" instructions, ")?;
        let (cause, _) = rest.split_once("; ")?;
        Some(Line { cores: run.cores, instructions: instructions.parse().ok()?, cause: cause.into(), followed: true })
    };
    text.lines().filter_map(of).max_by_key(|it| it.instructions)
}

/// What the log of a run tells. `details` is the text of `run.json`, if there is one: it tells how long an instruction takes.
fn line(log: &str, details: &str) -> Option<Line> {
    let (figures, _) = log.split_once(MARK)?.1.split_once('\n')?;
    let (ticks, rest) = figures.split_once(" ticks, core ")?;
    let (_, cause) = rest.split_once(", ")?;
    let (_, cores) = log.split_once("tactus: ")?;
    let cores: u64 = cores.split_once(" cores, ")?.0.parse().ok()?;
    let nanos = details.split_once("1 instruction = ").and_then(|(_, rest)| rest.split_once(" ns"));
    let nanos: u64 = nanos.and_then(|(count, _)| count.parse().ok()).unwrap_or(2);
    let instructions = ticks.parse::<u64>().ok()? / nanos.max(1);
    Some(Line { cores, instructions, cause: cause.trim_end().into(), followed: false })
}

/// The longest of each file of tests, on one core and on several, followed and as the kernel tells it; longest first.
pub fn all() -> Vec<Stretch> {
    let text = noted().and_then(|path| fs::read_to_string(path).ok()).unwrap_or_default();
    let mut all: Vec<Stretch> = Vec::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split('\t').collect();
        let [file, test, cores, instructions, cause, followed] = words[..] else { continue };
        let (Ok(cores), Ok(instructions), Ok(followed)) = (cores.parse(), instructions.parse(), followed.parse())
        else {
            continue;
        };
        let (file, test, cause) = (file.into(), test.into(), cause.into());
        let one = Stretch { file, test, cores, instructions, cause, followed, runs: 1 };
        let kind = |it: &Stretch| (it.file.clone(), it.cores == 1, it.followed);
        match all.iter_mut().find(|it| kind(it) == kind(&one)) {
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
        let told = |instructions| Line { cores: 4, instructions, cause: "call Text".into(), followed: false };
        assert_eq!(line(log, "\"QEMU 7.2.22, 1 instruction = 4 ns\""), Some(told(238)));
        assert_eq!(line(log, ""), Some(told(476)));
        assert_eq!(line("tactus: 4 cores, 3 components, x\n", ""), None);
    }

    #[test]
    fn of_what_cores_executed_themselves_the_longest_counts() {
        let text = "core 0 longest in the kernel: 310 instructions, call Text; of 9 stretches; kernel_call 300\n\
                    core 1 longest in the kernel: 678 instructions, call Restart; of 7 stretches; kernel_call 640\n\
                    blocks that were not made out: 0\n";
        let run = Line { cores: 2, instructions: 9_000, cause: "call Notify".into(), followed: false };
        let longest = Line { cores: 2, instructions: 678, cause: "call Restart".into(), followed: true };
        assert_eq!(followed(text, &run), Some(longest));
        assert_eq!(followed("", &run), None);
    }
}
