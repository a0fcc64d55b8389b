//! Task sets in the files that people have: SchedCAT's XML, SimSo's XML, rt-app's JSON, CSV, and system files.
//!
//! What the formats have in common is a [`TaskSet`]. A reader refuses what a set cannot say and would change its schedule
//! (locks, chains, speeds), and notes what it leaves out; a writer tells what the other format cannot hold. Times are whole
//! nanoseconds: what a file gives finer is rounded against the task, with a note. `docs/formats.md` tells it key by key.
#![forbid(unsafe_code)]

mod fault;
mod lexer;
mod monitor;
mod number;
mod oil;
mod partition;
mod rtapp;
mod rv;
mod schedcat;
mod set;
mod simso;
mod system;
mod table;
mod xml;

pub use fault::{Fault, Reason};
pub use oil::{read_oil_text, Oil, OilAction, OilEvent, OilRule};
pub use rv::{read_rv_text, VIOLATION};
pub use set::{Task, TaskSet};
pub use system::{to_toml, Unwritable};

use std::fmt;
use std::path::Path;
use tactus_model::read_ordinary_text;
use tactus_time::Duration;

/// Larger than any task set that people keep in one file.
const MAX_FILE: u64 = 64 << 20;

/// The formats.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Format {
    /// Tactus' system file (TOML).
    System,
    /// SchedCAT's `taskset` or `testpoint`.
    SchedCat,
    /// SimSo's `simulation`.
    SimSo,
    /// rt-app's JSON.
    RtApp,
    /// A table with a header, values separated by commas.
    Csv,
}

impl Format {
    /// All of them.
    pub const ALL: [Format; 5] = [Format::System, Format::SchedCat, Format::SimSo, Format::RtApp, Format::Csv];

    /// The name by which it is asked for.
    pub const fn name(self) -> &'static str {
        match self {
            Format::System => "system",
            Format::SchedCat => "schedcat",
            Format::SimSo => "simso",
            Format::RtApp => "rt-app",
            Format::Csv => "csv",
        }
    }

    /// The format of this name.
    pub fn named(name: &str) -> Option<Format> {
        Format::ALL.into_iter().find(|format| format.name() == name)
    }

    /// What the name of a file tells. Two formats end in `.xml`: to read, the text tells which; to write, it has to be said.
    pub fn of(path: &Path) -> Option<Format> {
        match path.extension()?.to_str()? {
            "toml" => Some(Format::System),
            "json" => Some(Format::RtApp),
            "csv" => Some(Format::Csv),
            _ => None,
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What a file alone does not tell.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// Length of one unit of a plain number, in SchedCAT's files and in columns of a CSV file that name no unit.
    pub unit: Duration,
}

impl Default for Options {
    /// Microseconds, SchedCAT's habit.
    fn default() -> Self {
        Options { unit: Duration::from_micros(1) }
    }
}

/// A text, and what it could not hold of the task set, one sentence each.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Written {
    /// The text of the file.
    pub text: String,
    /// What is not in it.
    pub lost: Vec<String>,
}

/// Reads the task sets of a file: one, or all of a SchedCAT test point or of a CSV file with a column `set`. Never none.
///
/// # Errors
/// The first thing that is wrong with it, with its line.
pub fn read(path: &Path, format: Option<Format>, options: &Options) -> Result<Vec<TaskSet>, Fault> {
    let whole = |reason| Fault { file: path.to_path_buf(), line: 0, reason };
    let unreadable = |reason: String| whole(Reason::Unreadable { reason });
    let text = read_ordinary_text(path, MAX_FILE).map_err(unreadable)?;
    let format = format.or_else(|| Format::of(path));
    let format = match format {
        Some(format) => format,
        None => xml::recognise(&text).map_err(|(line, reason)| Fault { file: path.to_path_buf(), line, reason })?,
    };
    parse(&text, path, format, options)
}

/// Reads the task sets of a text; `source` is the file that messages name.
///
/// # Errors
/// The first thing that is wrong with it, with its line.
pub fn parse(text: &str, source: &Path, format: Format, options: &Options) -> Result<Vec<TaskSet>, Fault> {
    let stem = source.file_stem().and_then(|stem| stem.to_str()).unwrap_or("tasks");
    let sets = match format {
        Format::SchedCat => schedcat::read(text, stem, options),
        Format::SimSo => simso::read(text, stem),
        Format::Csv => table::read(text, stem, options),
        Format::System | Format::RtApp => return system::read(text, source, format).map(|set| vec![set]),
    };
    sets.map_err(|(line, reason)| Fault { file: source.to_path_buf(), line, reason })
}

/// Writes task sets; only SchedCAT's test points and CSV hold more than one.
///
/// # Errors
/// If the format cannot hold what a set needs.
pub fn write(sets: &[TaskSet], format: Format, options: &Options) -> Result<Written, Reason> {
    match (format, sets) {
        (Format::SchedCat, _) => schedcat::write(sets, options),
        (Format::Csv, _) => Ok(table::write(sets)),
        (_, [set]) => match format {
            Format::SimSo => simso::write(set),
            Format::RtApp => rtapp::write(set),
            _ => set.system_text(),
        },
        (_, sets) => Err(Reason::Several { format, sets: sets.len() }),
    }
}

/// What a reader finds: at a line (0 if at none), a reason.
pub(crate) type Found<T> = Result<T, (usize, Reason)>;
