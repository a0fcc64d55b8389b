//! `tactus study cache`: what page colours and cache-aware partitioning are worth, beside the source's figures.

use super::kept::{csv, put};
use crate::cache::page::{self, Findings, Scale};
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use tactus_machine::failure::{Failure, Outcome};
use tactus_terminal::lines;

/// An experiment.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Part {
    /// A colour for each task and one for all, under partitioned, clustered and global EDF
    Chapter6,
    /// CAP beside worst fit
    Chapter7,
    /// CAP-GS with and without suppression of best-effort work, beside best fit
    Chapter8,
    /// What counters tell, and how long a reload takes
    Counters,
    /// Colours chosen for the least utilisation beside an even split
    Choice,
}

/// Options of `study cache`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Which experiments; all if none is named
    #[arg(long, value_enum, value_delimiter = ',')]
    part: Vec<Part>,
    /// Task sets of each kind; the source has 10
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=1_000))]
    sets: u64,
    /// Runs of each set; the source has 50
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=1_000))]
    runs: u64,
    /// Jobs of the longest period in each run; the source has 200
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    jobs: u32,
    /// Cycles of a read that finds the line modified in another core; the source says 60, and elsewhere hundreds
    #[arg(long, value_name = "CYCLES", default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    coherence: u32,
    /// Random systems for which colours are chosen
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    systems: u64,
    /// Where the results go
    #[arg(long, value_name = "FOLDER", default_value = "out/study/cache")]
    out: PathBuf,
}

/// Runs the experiments that are asked for.
pub fn study(arguments: &Arguments) -> Result<Outcome, Failure> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let Arguments { sets, runs, jobs, coherence, systems, .. } = *arguments;
    let scale = Scale { sets, runs, jobs, coherence, systems, threads };
    let mut findings = Findings::default();
    let all = [Part::Chapter6, Part::Chapter7, Part::Chapter8, Part::Counters, Part::Choice];
    for part in all.into_iter().filter(|part| arguments.part.is_empty() || arguments.part.contains(part)) {
        let name = part.to_possible_value().map(|value| value.get_name().to_string()).unwrap_or_default();
        lines::line("study", name);
        match part {
            Part::Chapter6 => page::chapter_6(&scale, &mut findings),
            Part::Chapter7 => page::chapter_7(&scale, &mut findings),
            Part::Chapter8 => page::chapter_8(&scale, &mut findings),
            Part::Counters => page::counters(&mut findings),
            Part::Choice => page::choices(&scale, &mut findings),
        }
    }
    for table in &findings.tables {
        put(&arguments.out, &format!("{}.csv", table.name), &csv(&table.head, &table.rows))?;
    }
    let page = page::markdown(&scale, &findings);
    put(&arguments.out, "cache.md", &page)?;
    lines::put(&page);
    Ok(Outcome::held_if(findings.failed.is_empty()))
}
