//! Experiments over very many task sets: what a study asks, how it is cut into chunks, what comes out.
//!
//! A [`Study`] is read from a file. It consists of [`chunks`](Study::chunks) that can be worked out in any order, on any
//! machine: a chunk depends on the study and its own number alone. [`results::collect`] puts the chunks together; the
//! result has the same bytes however the work was cut. [`engine::run`] works on all cores and can be stopped and gone on with.
#![forbid(unsafe_code)]
// A task is τ, as in the papers.
#![allow(mixed_script_confusables)]

pub mod bdm;
pub mod cache;
pub mod chunk;
#[cfg(feature = "command")]
pub mod command;
pub mod decision;
pub mod disk;
pub mod engine;
pub mod generator;
pub mod mc2;
pub mod mesh;
pub mod overhead;
pub mod page;
pub mod plot;
pub mod results;
pub mod single;
pub mod spec;

pub use spec::Study;
