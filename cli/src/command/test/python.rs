//! What the tests of the Python package need: `maturin` and `pytest`, from this computer or in an environment of their own below
//! the folder of builds.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What the environment gets: first what the tests cannot do without, then what some of them compare with.
const NEEDED: [&str; 2] = ["maturin>=1.7,<2", "pytest"];
/// See [`NEEDED`].
const COMPARED: [&str; 5] = ["mypy", "polars", "pandas", "pyarrow", "simso"];

/// A Python that has what the tests need.
pub struct Python {
    /// The interpreter.
    pub program: PathBuf,
    /// `PATH` for what it starts.
    pub path: OsString,
}

/// Finds a Python with all that is needed, or makes an environment with it in `folder`. The error says what is missing.
pub fn prepare(folder: &Path) -> Result<Python, String> {
    let path = env::var_os("PATH").unwrap_or_default();
    // -P, which keeps the sources off the path, came with 3.11.
    if !works("python3", &["-c", "import sys; sys.exit(sys.version_info < (3, 11))"]) {
        return Err("there is no python3 of 3.11 or later".into());
    }
    if works("maturin", &["--version"]) && works("python3", &["-c", "import pytest"]) {
        return Ok(Python { program: "python3".into(), path });
    }
    let bin = folder.join("bin");
    let program = bin.join("python");
    let complete = || works(bin.join("maturin"), &["--version"]) && works(&program, &["-c", "import pytest"]);
    if !complete() {
        tactus_terminal::lines::note(
            "test",
            format!("python: an environment with maturin and pytest in {}", folder.display()),
        );
        if !works("python3", &["-c", "import ensurepip"]) {
            return Err("python3 cannot make an environment: apt-get install python3-venv".into());
        }
        if !run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(folder)) {
            return Err(format!("python3 made no environment in {}", folder.display()));
        }
        // Python compiles what the tests import by itself, a small part of what comes.
        let pip = |packages: &[&str]| {
            let words =
                ["-m", "pip", "install", "--quiet", "--no-compile", "--disable-pip-version-check", "--prefer-binary"];
            run(Command::new(&program).args(words).args(packages))
        };
        if !pip(&NEEDED) || !complete() {
            return Err("maturin and pytest could not be fetched".into());
        }
        if !pip(&COMPARED) {
            tactus_terminal::lines::note(
                "test",
                "python: not everything to compare with could be fetched; those tests are left out",
            );
        }
    }
    let mut folders = vec![bin];
    folders.extend(env::split_paths(&path));
    let path = env::join_paths(folders).map_err(|error| error.to_string())?;
    Ok(Python { program, path })
}

fn works(program: impl AsRef<Path>, words: &[&str]) -> bool {
    run(Command::new(program.as_ref()).args(words))
}

fn run(command: &mut Command) -> bool {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|it| it.success())
}
