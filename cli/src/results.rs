//! The folder in which a run leaves everything: the raw trace, the judgement, exports and the report.
//!
//! | file | what |
//! |---|---|
//! | `report.html` | the report, for people |
//! | `summary.json` | all figures, for scripts |
//! | `trace.bin` | the raw records |
//! | `trace.pftrace` | the trace for Perfetto |
//! | `run.json` | what the trace has to be read against, see [`Kept`] |
//! | `run.log` | serial output of the machine; only of a run on it |
//! | `costs.toml` | what the system's own work cost, for `--costs`; only of a run on the machine |
//! | `stretches.txt` | each core's longest stretch in the kernel; only if the variable `TACTUS_FOLLOW_KERNEL` is set |
//! | `system.img` | the boot image; only of a run on the machine |

use crate::failure::Failure;
use std::fs;
use std::path::{Path, PathBuf};
use tactus_report::Kept;
use tactus_trace::{Summary, Trace, TraceError};

/// A folder of results.
#[derive(Clone, Debug)]
pub struct Results(PathBuf);

impl Results {
    /// Makes the folder, unless it is there. Files of an earlier run that this one may not write are taken away, so that
    /// the folder never holds parts of two runs.
    pub fn make(folder: &Path) -> Result<Results, Failure> {
        fs::create_dir_all(folder).map_err(|error| Failure::Machine(format!("{}: {error}", folder.display())))?;
        for stale in [
            "report.html",
            "summary.json",
            "trace.bin",
            "trace.pftrace",
            "run.json",
            "run.log",
            "stretches.txt",
            "costs.toml",
            "system.img",
        ] {
            let path = folder.join(stale);
            match fs::remove_file(&path) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(Failure::Machine(format!("{}: {error}", path.display())));
                }
                _ => {}
            }
        }
        Ok(Results(folder.to_path_buf()))
    }

    /// Finds what a person means: a folder of results, a file in one, or a system file whose results lie in `out/`.
    pub fn find(meant: &Path) -> Result<Results, Failure> {
        let folder = if meant.is_dir() {
            meant.to_path_buf()
        } else if meant.file_name().is_some_and(|name| name == "trace.bin") {
            meant.parent().unwrap_or(Path::new(".")).to_path_buf()
        } else if meant.is_file() {
            let system = tactus_model::System::read(meant).map_err(|problems| Failure::Input(problems.to_string()))?;
            crate::place::results(&system.name)
        } else {
            return Err(Failure::Input(format!("{}: no such file or folder", meant.display())));
        };
        if folder.join("run.json").exists() {
            return Ok(Results(folder));
        }
        let below = folder.join("simulated");
        if below.join("run.json").exists() {
            return Ok(Results(below));
        }
        Err(Failure::Input(format!(
            "{} holds no results of a run: make some with `./tactus run FILE` or `./tactus simulate FILE`",
            folder.display()
        )))
    }

    /// A file in the folder.
    pub fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Judges the trace and writes everything.
    pub fn write(&self, kept: &Kept, trace: &Trace) -> Result<Summary, Failure> {
        let cannot = |error: &dyn std::fmt::Display| Failure::Machine(error.to_string());
        trace.write(self.file("trace.bin")).map_err(|error| cannot(&error))?;
        self.put("run.json", kept.to_json().as_bytes())?;
        self.put("trace.pftrace", &tactus_trace::perfetto(&kept.view, trace))?;
        self.judge(kept, trace)
    }

    /// Judges the trace and writes the summary and the report.
    pub fn judge(&self, kept: &Kept, trace: &Trace) -> Result<Summary, Failure> {
        let summary = kept.judge(trace);
        self.put("summary.json", summary.to_json().as_bytes())?;
        let html = tactus_report::html(&kept.view, trace, &summary, &kept.details);
        self.put("report.html", html.as_bytes())?;
        Ok(summary)
    }

    /// Reads what an earlier run left.
    pub fn read(&self) -> Result<(Kept, Trace), Failure> {
        let path = self.file("run.json");
        let text = fs::read_to_string(&path).map_err(|error| Failure::Input(format!("{}: {error}", path.display())))?;
        let kept = Kept::from_json(&text).map_err(|why| Failure::Input(format!("{}: {why}", path.display())))?;
        let path = self.file("trace.bin");
        let trace = Trace::read(&path).map_err(|error| match error {
            TraceError::Io { .. } => Failure::Input(error.to_string()),
            damage => Failure::Input(format!("{}: {damage}", path.display())),
        })?;
        Ok((kept, trace))
    }

    /// Writes one more file.
    pub fn put(&self, name: &str, bytes: &[u8]) -> Result<(), Failure> {
        let path = self.file(name);
        fs::write(&path, bytes).map_err(|error| Failure::Machine(format!("{}: {error}", path.display())))
    }
}
