//! Traces of Linux, read into records that the judge understands.
//!
//! A file becomes a [`Recording`]: who had which core when, who was woken, who said that a job begins. [`translate`] finds the thread of
//! each task, tells its jobs apart and writes their records. What the events do not tell becomes a record that says so, never a guess.
#![forbid(unsafe_code)]

mod dat;
mod jobs;
mod layout;
mod others;
mod phase;
mod recording;
mod text;
mod translate;

pub use dat::read_dat;
pub use recording::{Event, EventKind, PrevState, Recording, Thread};
pub use text::read_text;
pub use translate::{translate, TranslateError, Translated};

/// Reads a trace of any format that is known here.
///
/// # Errors
/// As [`read_text`] and [`read_dat`].
pub fn read(bytes: &[u8]) -> Result<Recording, String> {
    match bytes.starts_with(dat::MAGIC) {
        true => read_dat(bytes),
        false => read_text(bytes),
    }
}
