//! `tactus study schedulability` and `tactus study chunk`.

use super::progress::Progress;
use crate::failure::{Failure, Outcome};
use crate::lines;
use clap::Args;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;
use tactus_studies::{engine, page, results, Study};

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
    /// Where the results go [default: out/study/<name>]
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
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
    /// Folder of the study's results
    #[arg(long, value_name = "FOLDER")]
    out: PathBuf,
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
        let threads = arguments.threads.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, |n| n.get()));
        let begun = Instant::now();
        let mut progress = Progress::new("study", "chunks", missing.len() as u64);
        engine::run(&study, &folder, &missing, threads, &STOP, |done| progress.tell(done as u64)).map_err(cannot)?;
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
                "{} sets in {passed:.1} s with {}: {:.0} sets/s",
                lines::grouped(worked),
                lines::count(threads, "thread"),
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

/// Works out the chunks asked for.
pub fn chunk(arguments: &ChunkArguments) -> Result<Outcome, Failure> {
    let study = read(&arguments.file, arguments.sets)?;
    if let Some(chunk) = arguments.chunks.iter().find(|&&chunk| chunk >= study.chunks()) {
        return Err(Failure::Input(format!("chunk {chunk}: the study has chunks 0 to {}", study.chunks() - 1)));
    }
    engine::run(&study, &arguments.out, &arguments.chunks, 1, &STOP, |_| {})
        .map_err(|error| Failure::Machine(format!("{}: {error}", arguments.out.display())))?;
    Ok(Outcome::Held)
}
