//! Linux: what runs a system there, which threads its kernel admits, and traces of it, read into records that the judge understands.
//!
//! A file becomes a [`Recording`]: who had which core when, who was woken, who said that a job begins. [`translate`] finds the thread of
//! each task, tells its jobs apart and writes their records. What the events do not tell becomes a record that says so, never a guess.
#![forbid(unsafe_code)]

mod admission;
mod dat;
mod jobs;
mod layout;
mod matching;
mod order;
mod others;
mod perfetto;
mod phase;
mod protobuf;
mod recording;
mod sched_trace;
mod setup;
mod text;
mod translate;

pub use admission::{Kernel, Reservation};
pub use dat::{read_dat, read_dat_from};
pub use matching::Named;
pub use perfetto::read_perfetto;
pub use recording::{Event, EventKind, PrevState, Recording, Thread};
pub use sched_trace::read_sched_trace;
pub use setup::{setup, Class, Refusal, Setup, ThreadSetup};
pub use text::{read_text, read_text_from};
pub use translate::{translate, TranslateError, Translated};

use recording::{Keep, Kept};
use std::io::{BufReader, Cursor, Read, Seek, SeekFrom};
use std::path::Path;
use tactus_trace::View;

/// Reads a trace of any format that is known here.
///
/// # Errors
/// As [`read_text`], [`read_dat`], [`read_perfetto`] and [`read_sched_trace`].
pub fn read(bytes: &[u8]) -> Result<Recording, String> {
    read_from(Cursor::new(bytes))
}

/// Reads a file of any format that is known here, as it comes: of the file itself a small part is in memory at once, of a
/// `sched_trace` all. A folder holds the files of a `sched_trace`.
///
/// # Errors
/// As [`read`], or the file cannot be read.
pub fn read_file(path: &Path) -> Result<Recording, String> {
    match path.is_dir() {
        true => read_sched_trace(&folder(path)?),
        false => read_keeping(open(path)?, Keep::All),
    }
}

/// The records of all processors: `st-*.bin`.
fn folder(path: &Path) -> Result<Vec<u8>, String> {
    let wrong = |error: std::io::Error| error.to_string();
    let mut files = Vec::new();
    for entry in std::fs::read_dir(path).map_err(wrong)? {
        let path = entry.map_err(wrong)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name.starts_with("st-") && name.ends_with(".bin") {
            files.push(path);
        }
    }
    files.sort();
    let mut bytes = Vec::new();
    for file in &files {
        bytes.extend(std::fs::read(file).map_err(|error| format!("{}: {error}", file.display()))?);
        if bytes.len() % tactus_trace::LITMUS_RECORD_BYTES != 0 {
            return Err(format!("{}: it is cut: no whole number of records; copy the file again", file.display()));
        }
    }
    match files.is_empty() {
        true => Err("it is a folder without st-*.bin, the files of LITMUS^RT's sched_trace; name a file".into()),
        false => Ok(bytes),
    }
}

/// Files above this many bytes are read twice, so that only what matters is kept.
pub const LONG: u64 = 64 << 20;

/// Reads a file for the tasks of a system: of one that is longer than `long`, only the events of their threads, and who else has a core while
/// one of them is awake.
///
/// # Errors
/// As [`read_file`], or a task has no thread.
pub fn read_file_for(path: &Path, (view, named): (&View, &[Named]), long: u64) -> Result<Recording, String> {
    if std::fs::metadata(path).map_err(|error| error.to_string())?.len() <= long {
        return read_file(path);
    }
    let names = read_keeping(open(path)?, Keep::Nothing)?;
    let threads = matching::threads(&names, view, named).map_err(|error| error.to_string())?;
    let mut recording = read_keeping(open(path)?, Keep::Some(Box::new(Kept::of(threads))))?;
    recording
        .notes
        .push("the file is long: of other threads only what was while one of the tasks' was awake is kept".into());
    Ok(recording)
}

fn open(path: &Path) -> Result<std::fs::File, String> {
    std::fs::File::open(path).map_err(|error| error.to_string())
}

fn read_from(file: impl Read + Seek) -> Result<Recording, String> {
    read_keeping(file, Keep::All)
}

fn read_keeping(mut file: impl Read + Seek, keep: Keep) -> Result<Recording, String> {
    let mut start = Vec::new();
    (&mut file).take(64).read_to_end(&mut start).map_err(|error| error.to_string())?;
    file.seek(SeekFrom::Start(0)).map_err(|error| error.to_string())?;
    match start.as_slice() {
        start if start.starts_with(dat::MAGIC) => dat::read_keeping(file, keep),
        start if start.starts_with(b"PERFILE2") => {
            Err("it is perf's own file; print it with `perf script -i FILE`, whose text is read".into())
        }
        start if perfetto::is_perfetto(start) => perfetto::read_keeping(BufReader::with_capacity(1 << 16, file), keep),
        start if sched_trace::is_sched_trace(start) => {
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes).map_err(|error| error.to_string())?;
            sched_trace::read_keeping(&bytes, keep)
        }
        _ => text::read_keeping(BufReader::with_capacity(1 << 16, file), keep),
    }
}
