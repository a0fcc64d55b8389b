//! What is asked of Tactus itself: whether its machine and its simulator agree, what it costs, and whether its tests pass.

use super::{duration, processor};
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;
use tactus_model::Processor;
use tactus_time::Duration;

/// `agree`.
#[derive(Debug, Args)]
pub struct Agree {
    /// How many systems
    #[arg(long, value_name = "N", default_value_t = 200)]
    pub systems: u64,
    /// Seed of the first; each further system takes the next
    #[arg(long, value_name = "SEED", default_value_t = 0)]
    pub seed: u64,
    /// The machine's processor: x86_64 or aarch64. Systems that are not booted there are left out
    #[arg(long, value_name = "NAME", value_parser = processor, default_value = "x86_64")]
    pub processor: Processor,
    /// Run only systems that the check accepts and promises something; the others are passed over
    #[arg(long)]
    pub accepted: bool,
    /// Trees of servers with a scheduler for each, in place of systems of every policy
    #[arg(long, conflicts_with = "changes")]
    pub per_server: bool,
    /// Systems in which tasks release others
    #[arg(long, conflicts_with_all = ["changes", "per_server"])]
    pub released: bool,
    /// Systems in which components raise events that release tasks, also too early and in bursts
    #[arg(long, conflicts_with_all = ["changes", "per_server", "released", "resources", "waits", "partitions"])]
    pub raised: bool,
    /// Systems in which jobs share resources and have preemption thresholds
    #[arg(long, conflicts_with_all = ["changes", "per_server", "released"])]
    pub resources: bool,
    /// Systems in which jobs wait in the middle of their work
    #[arg(long, conflicts_with_all = ["changes", "per_server", "released", "resources"])]
    pub waits: bool,
    /// Systems in which jobs share resources, wait, and are released by each other and by events, all at once; from seed 1000000 on, on
    /// five to eight cores; from seed 2000000 on, lightly loaded ones
    #[arg(long, conflicts_with_all = ["changes", "per_server", "released", "raised", "resources", "waits", "partitions"])]
    pub combined: bool,
    /// Systems of partitions, with windows in a major frame
    #[arg(long, conflicts_with_all = ["changes", "per_server", "released", "resources", "waits"])]
    pub partitions: bool,
    /// Systems that change while they run, in place of those of which a part does
    #[arg(long)]
    pub changes: bool,
    /// How many machines to run at a time
    #[arg(long, value_name = "N", default_value_t = 2)]
    pub jobs: usize,
    /// Length of each run, instead of what was generated
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub duration: Option<Duration>,
    /// An instruction takes 2^SHIFT ns
    #[arg(long, value_name = "SHIFT", value_parser = clap::value_parser!(u8).range(0..=6))]
    pub shift: Option<u8>,
    /// Costs that the check counts: `measured`, `none`, or a file
    #[arg(long, value_name = "COSTS", default_value = "measured")]
    pub costs: String,
    /// Write the longest costs that were seen to this file, in the form of crates/plan/costs/emulated-pc.toml
    #[arg(long, value_name = "FILE")]
    pub write_costs: Option<PathBuf>,
    /// Go on with a run that was broken off: systems in the list in the folder are not run again, but counted
    #[arg(long)]
    pub resume: bool,
    /// Folder for the list of systems and for what does not agree, instead of out/agree
    #[arg(long, value_name = "FOLDER")]
    pub out: Option<PathBuf>,
}

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

/// Options of `test`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Test {
    /// What is tested beside that
    #[command(subcommand)]
    pub beside: Option<TestBeside>,
    /// Do one kind of test alone
    #[arg(long, value_name = "KIND")]
    pub only: Option<TestKind>,
    /// Leave this kind of test out; may be given several times
    #[arg(long, value_name = "KIND", conflicts_with = "only")]
    pub without: Vec<TestKind>,
    /// Let the cargo in this folder do format and lints: Debian's has neither part
    #[arg(long, value_name = "FOLDER")]
    pub lints_by: Option<PathBuf>,
}

/// What ordinary tests leave out.
#[derive(Debug, Subcommand)]
pub enum TestBeside {
    /// Take the mechanisms of statements away, one after the other, and see their tests fail
    Mutants(Mutants),
}

/// Options of `test mutants`.
#[derive(Debug, Args)]
pub struct Mutants {
    /// Statements or sources, as in 'disk 13' or epos; all if none is named
    #[arg(value_name = "STATEMENT")]
    pub statements: Vec<String>,
}

/// The kinds of test, in the order in which they are done.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum TestKind {
    /// The sources are formatted
    Format,
    /// The compiler's lints find nothing
    Lints,
    /// Unit, property and golden tests of what runs on this computer
    Unit,
    /// The documentation of the code builds without a warning
    Docs,
    /// Model checkers: every order of events at small sizes, many random ones at larger sizes
    Models,
    /// The Python package: built, and tested in an environment of its own; where python3 and maturin are
    Python,
    /// Scripts in tests/ that use the command as a person does
    Scenarios,
    /// All of these of the laboratory: studies, rig, structures that are compared
    Lab,
}
