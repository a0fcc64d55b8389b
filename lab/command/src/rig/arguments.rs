//! Options of `tactus rig`.

use crate::duration::duration;
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;
use tactus_time::Duration;

/// Options of `rig`.
#[derive(Debug, Args)]
pub struct Rig {
    /// What to do.
    #[command(subcommand)]
    pub what: What,
}

/// What the rig can do.
#[derive(Debug, Subcommand)]
pub enum What {
    /// Drive one structure with random events, and check or measure it
    ///
    /// Writes out/rig/run.jsonl; in performance mode also box plots of all operations on each processor, out/rig/run.svg.
    #[command(after_help = "Examples:
  ./tactus rig run --structure cpudl --processors 8
  ./tactus rig run --structure cpupri --queue bitmap --mode performance --processors 2")]
    Run(Run),
    /// Measure structures side by side, over numbers of processors
    ///
    /// Appends to out/rig/compare.jsonl; what is there already with the same options is not measured again, so a sweep
    /// that was broken off goes on where it was; numbers of processors that this machine lacks are left
    /// out and named. Draws box plots beside it. With --instructions, counts instructions
    /// without contention instead (needs valgrind).
    #[command(after_help = "Examples:
  ./tactus rig compare --cores 1,2
  ./tactus rig compare --cores 2,4,8,16,24,32,40,48 --real-time --cycle '10 ms' --cycles 1000
  ./tactus rig compare --cores 2,4,8 --real-time --cycles 1000 --load 0.6,0.7,0.8 --sets 20
  ./tactus rig compare --instructions")]
    Compare(Compare),
    /// Work out what operations would cost on more cores than there are (a model, no measurement)
    ///
    /// Undisturbed costs are measured here, and so is the time that a line of the cache takes from one core to another; how
    /// many lines an operation moves, and who waits for whom, is reckoned from how each structure is made. The formula is
    /// printed.
    #[command(after_help = "Example:\n  ./tactus rig model --cores 2,4,8,16,32,48")]
    Model(Model),
    /// Replay the events of a run in the rig, with as many processors as it had cores
    ///
    /// Testing mode checks that everything holds with each structure; performance mode measures the operations, writes
    /// out/rig/replay.jsonl and draws box plots, out/rig/replay.svg.
    #[command(after_help = "Examples:
  ./tactus run examples/avionics.toml
  ./tactus rig replay out/avionics
  ./tactus rig replay out/avionics --mode performance --oversubscribe --structures cpudl,tournament")]
    Replay(Replay),
    /// Do rounds of one operation for an instruction counter around this program
    #[command(hide = true)]
    Counted(Counted),
}

/// What kind of run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Mode {
    /// A checker looks at everything while it runs; any number of processors
    Testing,
    /// One processor for each core, bound to it, memory locked
    Performance,
}

/// What serialises time stamps.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Stamp {
    /// CPUID; RDTSC … RDTSCP; CPUID, as in the source
    Cpuid,
    /// LFENCE in place of CPUID, for virtual machines where CPUID goes to the hypervisor
    Lfence,
}

/// What events are like.
#[derive(Clone, Debug, Args)]
pub struct Events {
    /// Cycles of each processor
    #[arg(long, value_name = "N", default_value_t = 2_000)]
    pub cycles: u64,
    /// Length of a cycle
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "10 ms")]
    pub cycle: Duration,
    /// Let a cycle take that long; else the next one begins at once
    #[arg(long)]
    pub real_time: bool,
    /// Enter the real-time class also where cycles follow one another without a pause: for short runs on a machine that has
    /// other work, which waits meanwhile
    #[arg(long)]
    pub urgent: bool,
    /// Probability of an activation in a cycle
    #[arg(long, value_name = "P", default_value_t = 0.2)]
    pub activation: f64,
    /// Probability that the running task finishes early in a cycle
    #[arg(long, value_name = "P", default_value_t = 0.1)]
    pub early_finish: f64,
    /// Shortest relative deadline (with priorities: run time)
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "10 ms")]
    pub deadline_from: Duration,
    /// Longest relative deadline
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "99 ms")]
    pub deadline_to: Duration,
    /// How many tasks there can be at a time
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    pub tasks: usize,
    /// Probability that a new task may run on a random half of the processors only
    #[arg(long, value_name = "P", default_value_t = 0.0)]
    pub bound: f64,
    /// How many such tasks for each processor
    #[arg(long, value_name = "N", default_value_t = 4, requires = "load")]
    pub tasks_each: usize,
    /// Seed of all that is drawn
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    pub seed: u64,
    /// What serialises time stamps
    #[arg(long, value_name = "HOW", default_value = "cpuid")]
    pub stamp: Stamp,
    /// Measure more processors than there are cores
    #[arg(long)]
    pub oversubscribe: bool,
}

/// Options of `rig run`.
#[derive(Debug, Args)]
pub struct Run {
    /// The directory of cores
    #[arg(long, value_name = "NAME", default_value = "tournament", value_parser = clap::builder::PossibleValuesParser::new(tactus_rig::names::DIRECTORIES))]
    pub structure: String,
    /// The ready queue
    #[arg(long, value_name = "NAME", default_value = "binary-heap", value_parser = clap::builder::PossibleValuesParser::new(tactus_rig::names::QUEUES))]
    pub queue: String,
    /// Test or measure
    #[arg(long, default_value = "testing")]
    pub mode: Mode,
    /// How many processors to emulate
    #[arg(long, value_name = "N", default_value_t = 4)]
    pub processors: usize,
    /// In place of these events: a set of periodic tasks of this utilisation for each processor, periods log-uniform from 10 ms
    /// to 100 ms, each job as long as it may take
    #[arg(long, value_name = "U")]
    pub load: Option<f64>,
    /// The events.
    #[command(flatten)]
    pub events: Events,
    /// How often the checker looks
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "200 us")]
    pub check_every: Duration,
    /// Where the results go
    #[arg(long, value_name = "FOLDER", default_value = "out/rig")]
    pub out: PathBuf,
}

/// Options of `rig compare`.
#[derive(Debug, Args)]
pub struct Compare {
    /// The directories [default: all]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = clap::builder::PossibleValuesParser::new(tactus_rig::names::DIRECTORIES))]
    pub structures: Vec<String>,
    /// The ready queue
    #[arg(long, value_name = "NAME", default_value = "binary-heap", value_parser = clap::builder::PossibleValuesParser::new(tactus_rig::names::QUEUES))]
    pub queue: String,
    /// Numbers of processors [default: 1, 2, 4, … up to this machine's cores; for instructions 2 to 48]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub cores: Vec<usize>,
    /// Count instructions without contention
    #[arg(long)]
    pub instructions: bool,
    /// The events.
    #[command(flatten)]
    pub events: Events,
    /// In place of these events: sets of periodic tasks of this utilisation for each processor, periods log-uniform from 10 ms
    /// to 100 ms, each job as long as it may take; of several, one after another
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub load: Vec<f64>,
    /// With --load: how many task sets, one after another; their durations are put together
    #[arg(long, value_name = "N", default_value_t = 1, requires = "load", value_parser = clap::value_parser!(u64).range(1..))]
    pub sets: u64,
    /// Where the results go
    #[arg(long, value_name = "FOLDER", default_value = "out/rig")]
    pub out: PathBuf,
}

/// Options of `rig model`.
#[derive(Debug, Args)]
pub struct Model {
    /// Numbers of cores
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "2,4,8,16,32,48", value_parser = clap::value_parser!(u64).range(1..=64))]
    pub cores: Vec<u64>,
    /// The time that a line of the cache takes from one core to another [default: measured here]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub transfer: Option<Duration>,
}

/// Options of `rig replay`.
#[derive(Debug, Args)]
pub struct Replay {
    /// The results' folder, or the system file whose last results in out/ are meant
    #[arg(value_name = "FOLDER|FILE")]
    pub results: PathBuf,
    /// The directories [default: all]
    #[arg(long, alias = "structure", value_name = "NAMES", value_delimiter = ',', value_parser = clap::builder::PossibleValuesParser::new(tactus_rig::names::DIRECTORIES))]
    pub structures: Vec<String>,
    /// The ready queue
    #[arg(long, value_name = "NAME", default_value = "binary-heap", value_parser = clap::builder::PossibleValuesParser::new(tactus_rig::names::QUEUES))]
    pub queue: String,
    /// Test or measure
    #[arg(long, default_value = "testing")]
    pub mode: Mode,
    /// What serialises time stamps
    #[arg(long, value_name = "HOW", default_value = "cpuid")]
    pub stamp: Stamp,
    /// Measure also where the run had more cores than this machine has: then processors are not bound, and no more of them
    /// act at the same time than there are cores
    #[arg(long)]
    pub oversubscribe: bool,
    /// Where the results go
    #[arg(long, value_name = "FOLDER", default_value = "out/rig")]
    pub out: PathBuf,
}

/// Options of `rig counted`.
#[derive(Debug, Args)]
pub struct Counted {
    /// A directory or a ready queue
    pub structure: String,
    /// What to do with it
    pub operation: String,
    /// How many cores or tasks
    pub size: usize,
    /// How often
    pub rounds: u64,
}
