//! The machine that systems run on: the toolchain that builds for it, the emulator that is it, and the memory in which a run leaves
//! its trace. Nothing here writes to a terminal: whoever waits is told by what he hands in.
#![forbid(unsafe_code)]

pub mod air;
mod arch;
pub mod boot;
pub mod build;
pub mod console;
mod core_library;
pub mod costs;
pub mod disk;
pub mod emulator;
pub mod failure;
pub mod heaps;
pub mod later;
pub mod lock;
pub mod measure;
pub mod package;
mod patience;
pub mod place;
pub mod probe;
pub mod restart;
pub mod results;
pub mod rings;
pub mod sandboxes;
pub mod schedulers;
pub mod sight;
pub mod source_lines;
pub mod stops;
pub mod stretches;
pub mod supervised;
pub mod symbols;
pub mod toolchain;
pub mod watch;
