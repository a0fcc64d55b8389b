//! What is asked of Tactus itself: whether its tests pass.

use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Options of `test`.
#[derive(Debug, Args)]
pub struct Test {
    /// Do one kind of test alone
    #[arg(long, value_name = "KIND")]
    pub only: Option<TestKind>,
    /// Leave this kind of test out; may be given several times
    #[arg(long, value_name = "KIND", conflicts_with = "only")]
    pub without: Vec<TestKind>,
    /// Let the cargo in this folder do format and lints: Debian's has neither part
    #[arg(long, value_name = "FOLDER")]
    pub lints_by: Option<PathBuf>,
}

/// The kinds of test, in the order in which they are done.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum TestKind {
    /// The sources are formatted
    Format,
    /// The compiler's lints find nothing
    Lints,
    /// Unit, property and golden tests of what runs on this computer
    Unit,
    /// The documentation of the code builds without a warning
    Docs,
    /// Model checkers: every order of events at small sizes, many random ones at larger sizes
    Models,
    /// The Python package: built, and tested in an environment of its own; where python3 and maturin are
    Python,
    /// Scripts in tests/ that use the command as a person does
    Scenarios,
    /// All of these of the laboratory: studies, rig, structures that are compared
    Lab,
}
