//! The formats, what a file alone does not tell, and what a text does not hold.

use crate::fault::Reason;
use std::fmt;
use std::path::Path;
use tactus_time::Duration;

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

/// What a reader finds: at a line (0 if at none), a reason.
pub(crate) type Found<T> = Result<T, (usize, Reason)>;
