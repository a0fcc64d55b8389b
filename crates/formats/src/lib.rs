//! Task sets in the files that people have: SchedCAT's XML, SimSo's XML, rt-app's JSON, CSV, and system files.
//!
//! What the formats have in common is a [`TaskSet`]. A reader refuses what a set cannot say and would change its schedule
//! (locks, chains, speeds), and notes what it leaves out; a writer tells what the other format cannot hold. Times are whole
//! nanoseconds: what a file gives finer is rounded against the task, with a note. `docs/formats.md` tells it key by key.
#![forbid(unsafe_code)]

mod channel;
mod fault;
mod format;
mod number;
mod partition;
mod rtapp;
mod schedcat;
mod service;
mod set;
mod simso;
mod system;
mod table;
mod xml;

pub use fault::{Fault, Reason};
pub use format::{Format, Options, Written};
pub use set::{Task, TaskSet};
pub use system::{to_toml, Unwritable};

use std::path::Path;
use tactus_model::read_ordinary_text;

/// Larger than any task set that people keep in one file.
const MAX_FILE: u64 = 64 << 20;

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
