//! `tactus study schedulability` and `tactus study chunk`.

use super::dask;
use super::progress::Progress;
use crate::chunk::work;
use crate::decision::Memory;
use crate::{engine, page, results, Study};
use clap::{Args, ValueEnum};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;
use tactus_machine::failure::{Failure, Outcome};
use tactus_terminal::lines;

/// Options of `study schedulability`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// The study file (TOML)
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Sets at each point, instead of what the file says: a quick look first
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    sets: Option<u64>,
    /// Threads [default: one for each core of this computer]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// Where the results go [default: out/study/NAME]
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    /// Who works: the threads of this computer, or the workers of a Dask cluster (see docs/lab/studies.md)
    #[arg(long, value_name = "threads|dask", default_value = "threads")]
    engine: Engine,
    /// With `--engine dask`: the Python that has `dask[distributed]`
    #[arg(long, value_name = "PYTHON", default_value = "python3")]
    python: PathBuf,
    /// With `--engine dask`: address of a cluster, such as tcp://host:8786 [default: processes of this computer]
    #[arg(long, value_name = "ADDRESS")]
    scheduler: Option<String>,
    /// With `--engine dask` and no address: how many processes [default: one for each core of this computer]
    #[arg(long, value_name = "N")]
    workers: Option<usize>,
}

/// Who works on a study.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Engine {
    Threads,
    Dask,
}

/// Options of `study chunk`.
#[derive(Debug, Args)]
pub struct ChunkArguments {
    /// The study file (TOML)
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Numbers of the chunks
    #[arg(value_name = "CHUNK", required = true)]
    chunks: Vec<usize>,
    /// Sets at each point, instead of what the file says
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    sets: Option<u64>,
    /// Keep the chunks in this folder of results, instead of printing them
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
}

/// Set by Ctrl-C.
static STOP: AtomicBool = AtomicBool::new(false);

fn read(file: &Path, sets: Option<u64>) -> Result<Study, Failure> {
    Study::read(file, sets).map_err(|fault| Failure::Input(fault.to_string()))
}

/// Works out what is missing and writes tables, plots and the page.
pub fn study(arguments: &Arguments) -> Result<Outcome, Failure> {
    let study = read(&arguments.file, arguments.sets)?;
    let folder = arguments.out.clone().unwrap_or_else(|| Path::new("out/study").join(&study.name));
    let cannot = |error: std::io::Error| Failure::Machine(format!("{}: {error}", folder.display()));
    let there = engine::kept(&study, &folder);
    let missing: Vec<usize> = (0..study.chunks()).filter(|&chunk| there[chunk].is_none()).collect();
    let found = study.chunks() - missing.len();
    let sets = study.sets * study.chunks() as u64;
    lines::line("study", format!("{}\n{} task sets in {} chunks", study.title, lines::grouped(sets), study.chunks()));
    if found > 0 {
        lines::line("resume", format!("{} of them are there from before", lines::count(found, "chunk")));
    }
    if !missing.is_empty() {
        // Where no handler can be set, Ctrl-C ends the program; what is done stays all the same.
        let _ = ctrlc::set_handler(|| STOP.store(true, Ordering::Relaxed));
        let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
        let threads = arguments.threads.unwrap_or(cores);
        let begun = Instant::now();
        let mut progress = Progress::new("study", "chunks", missing.len() as u64);
        let tell = |done| progress.tell(done as u64);
        let workers = match arguments.engine {
            Engine::Threads => {
                engine::run(&study, &folder, &missing, threads, &STOP, tell).map_err(cannot)?;
                lines::count(threads, "thread")
            }
            Engine::Dask => {
                on_dask(arguments, &study, &folder, &missing, cores, tell)?;
                "Dask".to_string()
            }
        };
        progress.end();
        let passed = begun.elapsed().as_secs_f64();
        if STOP.load(Ordering::Relaxed) {
            let done = engine::kept(&study, &folder).iter().flatten().count();
            return Err(Failure::Machine(format!(
                "stopped; {done} of {} chunks are kept in {}: the same command goes on from there",
                study.chunks(),
                folder.display()
            )));
        }
        let worked = missing.len() as u64 * study.sets;
        lines::line(
            "speed",
            format!(
                "{} sets in {passed:.1} s with {workers}: {:.0} sets/s",
                lines::grouped(worked),
                worked as f64 / passed
            ),
        );
    }
    let results = results::collect(engine::kept(&study, &folder))
        .ok_or_else(|| Failure::Machine(format!("{}: chunks vanished while they were read", folder.display())))?;
    let put = |name: &str, text: &str| std::fs::write(folder.join(name), text).map_err(cannot);
    put("results.csv", &results.csv(&study))?;
    put("weighted.csv", &results.weighted_csv(&study))?;
    for (name, plot) in page::plots(&study, &results).iter().chain(&page::weighted_plots(&study, &results)) {
        put(name, &plot.svg())?;
    }
    put("index.html", &page::html(&study, &results))?;
    lines::line("results", folder.join("index.html").display());
    Ok(Outcome::Held)
}

/// Has the chunks worked out by a Dask cluster.
fn on_dask(
    arguments: &Arguments,
    study: &Study,
    folder: &Path,
    missing: &[usize],
    cores: usize,
    tell: impl FnMut(usize),
) -> Result<(), Failure> {
    let absolute = |path: &Path| {
        std::path::absolute(path).map_err(|error| Failure::Machine(format!("{}: {error}", path.display())))
    };
    let tactus = std::env::current_exe().map_err(|error| Failure::Machine(format!("this command: {error}")))?;
    let workers = arguments.workers.unwrap_or(cores).max(1);
    let job = dask::Job {
        tactus: &tactus,
        file: &absolute(&arguments.file)?,
        options: arguments.sets.map_or_else(Vec::new, |sets| vec!["--sets".into(), sets.to_string()]),
        folder: &absolute(folder)?,
        chunks: missing,
        // Some thousand sets a time keep workers busy without much being lost with one of them.
        batch: (2_000 / study.sets as usize).clamp(1, 20),
        scheduler: arguments.scheduler.as_deref(),
        workers,
    };
    dask::run(&arguments.python, &job, tell)
}

/// Works out the chunks asked for.
pub fn chunk(arguments: &ChunkArguments) -> Result<Outcome, Failure> {
    let study = read(&arguments.file, arguments.sets)?;
    if let Some(chunk) = arguments.chunks.iter().find(|&&chunk| chunk >= study.chunks()) {
        return Err(Failure::Input(format!("chunk {chunk}: the study has chunks 0 to {}", study.chunks() - 1)));
    }
    if let Some(out) = &arguments.out {
        engine::run(&study, out, &arguments.chunks, 1, &STOP, |_| {})
            .map_err(|error| Failure::Machine(format!("{}: {error}", out.display())))?;
        return Ok(Outcome::Held);
    }
    let mut memory = Memory::default();
    for &chunk in &arguments.chunks {
        if let Some(counts) = work(&study, chunk, &mut memory, &|| false) {
            lines::put(&counts.to_text(&study, chunk));
        }
    }
    Ok(Outcome::Held)
}
