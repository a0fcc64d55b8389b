//! `tactus bench`: what the kernel's paths cost in instructions, how much memory a system takes, how many lines the rooms have.

use clap::{Args, ValueEnum};
use tactus_machine::failure::{Failure, Outcome};

/// Options of `bench`.
#[derive(Debug, Args)]
pub struct Bench {
    /// What to measure
    #[arg(value_name = "kernel|memory")]
    pub what: BenchKind,
    /// Write the figures to docs/measured/: kernel.md or memory.md anew, and a line for `kernel` to history.jsonl
    #[arg(long)]
    pub keep: bool,
}

/// What can be measured.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum BenchKind {
    /// Instructions of the kernel's paths
    Kernel,
    /// Memory
    Memory,
    /// The change from one partition's window to the next one's
    Partitions,
    /// Lines of the rooms, words of the book, bytes of the programs
    Size,
}

/// Measures and tells.
pub fn bench(arguments: &Bench) -> Result<Outcome, Failure> {
    match arguments.what {
        BenchKind::Kernel => tactus_benchmarks::kernel(arguments.keep),
        BenchKind::Memory => tactus_benchmarks::memory(arguments.keep),
        BenchKind::Partitions => tactus_benchmarks::partitions(),
        BenchKind::Size => tactus_benchmarks::size(arguments.keep),
    }
}
