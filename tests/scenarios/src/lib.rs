//! What every whole-system scenario needs: calling the `tactus` command as a person does, in a folder of its own, and
//! reading what it left. Each scenario is a test in `tests/`, one file a topic.
//!
//! The command is the one that the variable `TACTUS_BIN` names, else `target/release/tactus` of the workspace (or of
//! `CARGO_TARGET_DIR`). `TACTUS_SCENARIOS_KEEP=1` keeps the folders, and each scenario prints where its own lies.
#![forbid(unsafe_code)]

pub mod apex;
mod files;
mod run;
pub mod sketch;
pub mod stretches;
mod system;

pub use files::Scratch;
pub use run::{call, command, tactus, Finished, Said};
pub use system::{Kernel, Stopped, Summary, Task};

use std::path::{Path, PathBuf};

/// The root of the workspace.
pub fn root() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("tests/scenarios lies two below it");
    root.to_path_buf()
}

/// A file or folder of the workspace, by its path from the root.
pub fn file(path: &str) -> PathBuf {
    root().join(path)
}
