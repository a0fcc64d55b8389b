//! Whose cargo does a step: the one that has built the command, or another one that has the parts for format and lints.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tactus_machine::failure::Failure;
use tactus_machine::toolchain::Toolchain;

/// A cargo, its compiler, and `PATH` for what it starts.
#[derive(Clone, Debug)]
pub struct Tools {
    cargo: OsString,
    rustc: OsString,
    /// Nothing: the environment as it is.
    path: Option<OsString>,
}

impl Tools {
    /// What the environment names (`CARGO`, `RUSTC`), else what is in `PATH`.
    pub fn own() -> Tools {
        let named = |variable, otherwise: &str| env::var_os(variable).unwrap_or_else(|| otherwise.into());
        Tools { cargo: named("CARGO", "cargo"), rustc: named("RUSTC", "rustc"), path: None }
    }

    /// What lies in a folder, which must be a toolchain's own: rustup's stand-ins need a home.
    pub fn of(folder: &Path) -> Result<Tools, Failure> {
        let [cargo, rustc] = ["cargo", "rustc"].map(|name| folder.join(name));
        if let Some(missing) = [&cargo, &rustc].into_iter().find(|it| !it.is_file()) {
            let words = "is not there; write the folder bin of a toolchain (below `rustc --print sysroot`)";
            return Err(Failure::Input(format!("--lints-by: {} {words}", missing.display())));
        }
        let before = env::var_os("PATH").unwrap_or_default();
        let folders = std::iter::once(PathBuf::from(folder)).chain(env::split_paths(&before));
        let path = env::join_paths(folders).map_err(|error| Failure::Input(format!("--lints-by: {error}")))?;
        Ok(Tools { cargo: cargo.into(), rustc: rustc.into(), path: Some(path) })
    }

    /// Cargo, to be given its words.
    pub fn cargo(&self) -> Command {
        let mut command = Command::new(&self.cargo);
        if let Some(path) = &self.path {
            command.env("PATH", path).env("CARGO", &self.cargo).env("RUSTC", &self.rustc);
        }
        command
    }

    /// Whether cargo has this part.
    pub fn has_part(&self, part: &str) -> bool {
        let asked = self.cargo().args([part, "--version"]).stdout(Stdio::null()).stderr(Stdio::null()).status();
        asked.is_ok_and(|status| status.success())
    }

    /// Whether the compiler has `core` for the bare machine compiled.
    pub fn has_compiled_core(&self) -> bool {
        Toolchain::of(self.cargo.clone(), &self.rustc).is_ok_and(|it| it.has_compiled_core())
    }

    /// Clippy's compiler, if the toolchain has it.
    pub fn linting_compiler(&self) -> Option<String> {
        let asked = Command::new(&self.rustc).args(["--print", "sysroot"]).stderr(Stdio::null()).output().ok()?;
        let driver = Path::new(String::from_utf8_lossy(&asked.stdout).trim()).join("bin/clippy-driver");
        driver.is_file().then(|| driver.display().to_string())
    }
}
