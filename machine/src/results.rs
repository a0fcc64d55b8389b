//! The folder in which a run leaves everything: the raw trace, the judgement, exports and the report.
//!
//! | file | what |
//! |---|---|
//! | `report.html` | the report, for people |
//! | `summary.json` | all figures, for scripts |
//! | `trace.bin` | the raw records |
//! | `trace.pftrace` | the trace for Perfetto |
//! | `disks.csv` | the requests of each disk; only where there are disks |
//! | `run.json` | what the trace has to be read against, see [`Kept`] |
//! | `run.log` | serial output of the machine; only of a run on it |
//! | `costs.toml` | what the system's own work cost, for `--costs`; only of a run on the machine |
//! | `sandboxes.json` | what became of each sandbox; only where there are some, whose other files lie in folders by their names |
//! | `stretches.txt` | each core's longest stretch in the kernel; only if the variable `TACTUS_FOLLOW_KERNEL` is set |
//! | `caches.txt`, `geometry.toml` | what modelled caches saw, and what they are made of; only with `--caches` |
//! | `system.img` | the boot image; only of a run on the machine |
//! | `disk.img` | the emulated disk; only where a component drives one |

use crate::failure::Failure;
use crate::lock::FolderLock;
use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use tactus_report::Kept;
use tactus_trace::{Summary, Trace, TraceError};

/// The files of a run, see above.
const FILES: [&str; 15] = [
    "report.html",
    "summary.json",
    "trace.bin",
    "trace.pftrace",
    "disks.csv",
    "run.json",
    "run.log",
    "stretches.txt",
    "costs.toml",
    "sandboxes.json",
    "system.img",
    "disk.img",
    "caches.txt",
    "geometry.toml",
    "probe.so",
];

/// The requests of each disk.
const DISKS: &str = "disks.csv";

/// A folder of results.
#[derive(Clone, Debug)]
pub struct Results {
    folder: PathBuf,
    /// Nobody else writes into it. Results that are only read have none.
    #[allow(dead_code)] // It is there to be held.
    lock: Option<FolderLock>,
}

impl Results {
    /// Makes the folder, unless it is there. Files of an earlier run that this one may not write are taken away, so that
    /// the folder never holds parts of two runs.
    pub fn make(folder: &Path) -> Result<Results, Failure> {
        let lock = FolderLock::take(folder)?;
        let results = Results { folder: folder.to_path_buf(), lock: Some(lock) };
        for stale in FILES {
            let path = results.file(stale);
            match fs::remove_file(&path) {
                Err(error) if error.kind() != ErrorKind::NotFound => {
                    return Err(Failure::Machine(format!("{}: {error}", path.display())));
                }
                _ => {}
            }
        }
        Ok(results)
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
            return Ok(Results { folder, lock: None });
        }
        let below = folder.join("simulated");
        if below.join("run.json").exists() {
            return Ok(Results { folder: below, lock: None });
        }
        Err(Failure::Input(format!(
            "{} holds no results of a run: make some with `./tactus run FILE` or `./tactus simulate FILE`",
            folder.display()
        )))
    }

    /// Takes the right to write into the folder of an earlier run.
    pub fn locked(self) -> Result<Results, Failure> {
        let lock = Some(FolderLock::take(&self.folder)?);
        Ok(Results { lock, ..self })
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// A file in the folder.
    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Judges the trace and writes everything. Where that fails (a full disk), nothing of the run is left.
    pub fn write(&self, kept: &Kept, trace: &Trace) -> Result<Summary, Failure> {
        let written = self.write_all(kept, trace);
        if written.is_err() {
            self.discard();
        }
        written
    }

    fn write_all(&self, kept: &Kept, trace: &Trace) -> Result<Summary, Failure> {
        trace.write(self.file("trace.bin")).map_err(|error| Failure::Machine(error.to_string()))?;
        self.put("run.json", kept.to_json().as_bytes())?;
        if !kept.view.disks.is_empty() {
            self.put(DISKS, tactus_trace::disk_table(&trace.disks).as_bytes())?;
        }
        self.put("trace.pftrace", &tactus_trace::perfetto(&kept.view, trace))?;
        self.judge(kept, trace)
    }

    /// Takes away what the run has left.
    fn discard(&self) {
        for name in FILES {
            // The failure that led here is the one to be told.
            let _ = fs::remove_file(self.file(name));
        }
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
        let mut trace = Trace::read(&path).map_err(|error| match error {
            TraceError::Io { .. } => Failure::Input(error.to_string()),
            damage => Failure::Input(format!("{}: {damage}", path.display())),
        })?;
        if !kept.view.disks.is_empty() {
            let path = self.file(DISKS);
            let wrong = |why: String| Failure::Input(format!("{}: {why}", path.display()));
            let text = fs::read_to_string(&path).map_err(|error| wrong(error.to_string()))?;
            trace.disks = tactus_trace::read_disk_table(&text, kept.view.disks.len()).map_err(wrong)?;
        }
        Ok((kept, trace))
    }

    /// Writes one more file, anew: never into one that is there, nor to where a link leads. Half a file is not left.
    pub fn put(&self, name: &str, bytes: &[u8]) -> Result<(), Failure> {
        let path = self.file(name);
        let anew = || {
            match fs::remove_file(&path) {
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
                _ => {}
            }
            File::options().write(true).create_new(true).open(&path)?.write_all(bytes)
        };
        anew().map_err(|error| {
            let _ = fs::remove_file(&path);
            Failure::Machine(format!("{}: {error}", path.display()))
        })
    }
}
