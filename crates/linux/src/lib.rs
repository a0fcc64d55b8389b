//! Traces of Linux, read into records that the judge understands.
//!
//! A file becomes a [`Recording`]: who had which core when, who was woken, who said that a job begins. [`translate`] finds the thread of
//! each task, tells its jobs apart and writes their records. What the events do not tell becomes a record that says so, never a guess.
#![forbid(unsafe_code)]

mod jobs;
mod others;
mod phase;
mod recording;
mod text;
mod translate;

pub use recording::{Event, EventKind, PrevState, Recording, Thread};
pub use text::read_text;
pub use translate::{translate, TranslateError, Translated};
