//! Calling the laboratory's command as a person does. It is the one that the variable `TACTUS_LAB_BIN` names, else
//! `release/tactus-lab` beside `tactus`, which scenarios call where a system is to run first.
#![forbid(unsafe_code)]

use std::ffi::OsStr;
use std::path::PathBuf;
use tactus_scenarios::Said;

/// The command, wherever it was built.
pub fn command() -> PathBuf {
    if let Some(named) = std::env::var_os("TACTUS_LAB_BIN") {
        return named.into();
    }
    let path = tactus_scenarios::command().with_file_name("tactus-lab");
    assert!(path.exists(), "{} is not there: ./tactus study --help builds it", path.display());
    path
}

/// Calls it in the root of the repository.
pub fn lab<S: AsRef<OsStr>>(words: impl IntoIterator<Item = S>) -> Said {
    tactus_scenarios::call(&command(), words)
}
