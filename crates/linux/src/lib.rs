//! Linux: what runs a system there, which threads its kernel admits, and traces of it, read into records that the judge understands.
//!
//! A file becomes a [`Recording`]: who had which core when, who was woken, who said that a job begins. [`translate`] finds the thread of
//! each task, tells its jobs apart and writes their records. What the events do not tell becomes a record that says so, never a guess.
#![forbid(unsafe_code)]

mod admission;
mod dat;
mod jobs;
mod layout;
mod others;
mod phase;
mod recording;
mod setup;
mod text;
mod translate;

pub use admission::{Kernel, Reservation};
pub use dat::{read_dat, read_dat_from};
pub use recording::{Event, EventKind, PrevState, Recording, Thread};
pub use setup::{setup, Class, Refusal, Setup, ThreadSetup};
pub use text::{read_text, read_text_from};
pub use translate::{translate, TranslateError, Translated};

use std::io::{BufReader, Cursor, Read, Seek, SeekFrom};
use std::path::Path;

/// Reads a trace of any format that is known here.
///
/// # Errors
/// As [`read_text`] and [`read_dat`].
pub fn read(bytes: &[u8]) -> Result<Recording, String> {
    read_from(Cursor::new(bytes))
}

/// Reads a file of any format that is known here, as it comes: of the file itself a small part is in memory at once.
///
/// # Errors
/// As [`read_text`] and [`read_dat`], or the file cannot be read.
pub fn read_file(path: &Path) -> Result<Recording, String> {
    read_from(std::fs::File::open(path).map_err(|error| error.to_string())?)
}

fn read_from(mut file: impl Read + Seek) -> Result<Recording, String> {
    let mut start = Vec::new();
    (&mut file).take(dat::MAGIC.len() as u64).read_to_end(&mut start).map_err(|error| error.to_string())?;
    file.seek(SeekFrom::Start(0)).map_err(|error| error.to_string())?;
    match start.as_slice() {
        start if start.starts_with(dat::MAGIC) => read_dat_from(file),
        start if start.starts_with(b"PERFILE2") => {
            Err("it is perf's own file; print it with `perf script -i FILE`, whose text is read".into())
        }
        _ => read_text_from(BufReader::with_capacity(1 << 16, file)),
    }
}
