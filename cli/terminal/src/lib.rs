//! How commands tell what they do and how it went: lines with keys, tables, progress.
#![forbid(unsafe_code)]

pub mod lines;
pub mod progress;
