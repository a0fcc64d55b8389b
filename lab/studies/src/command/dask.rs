//! A study on the machines of a Dask cluster.
//!
//! Dask's `distributed` is an engine that people already run on their clusters (by SSH, Slurm, Kubernetes); it gives a dead
//! worker's tasks to others by itself. Ours is only the driver that hands chunks out, `dask_driver.py`, which this
//! command carries within itself.

use serde::Serialize;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use tactus_machine::failure::Failure;
use tactus_terminal::lines;

const DRIVER: &str = include_str!("dask_driver.py");

/// What the driver reads.
#[derive(Serialize)]
pub struct Job<'j> {
    /// This command, as the workers find it.
    pub tactus: &'j Path,
    /// The study file, as the workers find it.
    pub file: &'j Path,
    /// Options of `study chunk`.
    pub options: Vec<String>,
    /// Where chunks are kept; only the driver writes there.
    pub folder: &'j Path,
    /// Which chunks are missing.
    pub chunks: &'j [usize],
    /// How many chunks a worker takes at a time.
    pub batch: usize,
    /// Address of a cluster that is there; none for one of local processes.
    pub scheduler: Option<&'j str>,
    /// How many local processes.
    pub workers: usize,
}

/// Has the job done; `told` hears how many chunks are done.
pub fn run(python: &Path, job: &Job, mut told: impl FnMut(usize)) -> Result<(), Failure> {
    let cannot = |what: &str, error: &dyn std::fmt::Display| Failure::Machine(format!("{what}: {error}"));
    let kept = job.folder.join("chunks");
    std::fs::create_dir_all(&kept).map_err(|error| cannot(&kept.display().to_string(), &error))?;
    let driver = job.folder.join("dask_driver.py");
    std::fs::write(&driver, DRIVER).map_err(|error| cannot(&driver.display().to_string(), &error))?;
    let mut child = Command::new(python)
        .arg(&driver)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| cannot(&python.display().to_string(), &error))?;
    let json = serde_json::to_string(job).map_err(|error| cannot("the job", &error))?;
    if let Some(mut stdin) = child.stdin.take() {
        // A driver that ended already tells why by its status.
        let _ = stdin.write_all(json.as_bytes());
    }
    if let Some(stdout) = child.stdout.take() {
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            match line.split_once(' ') {
                Some(("done", n)) => told(n.parse().unwrap_or(0)),
                Some(("workers", pids)) => lines::line("workers", format!("processes {pids}")),
                _ => {}
            }
        }
    }
    let status = child.wait().map_err(|error| cannot("the driver", &error))?;
    let _ = std::fs::remove_file(&driver);
    if status.success() {
        Ok(())
    } else {
        Err(Failure::Machine(format!("the Dask driver ended with {status}; chunks that were done are kept")))
    }
}
