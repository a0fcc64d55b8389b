//! Options of `tactus agree`.

use crate::duration::duration;
use clap::Args;
use std::path::PathBuf;
use tactus_model::Processor;
use tactus_time::Duration;

/// Options of `agree`.
#[derive(Debug, Args)]
pub struct Agree {
    /// How many systems
    #[arg(long, value_name = "N", default_value_t = 200)]
    pub systems: u64,
    /// Seed of the first; each further system takes the next
    #[arg(long, value_name = "SEED", default_value_t = 0)]
    pub seed: u64,
    /// The machine's processor: x86_64 or aarch64. Systems that are not booted there are left out
    #[arg(long, value_name = "NAME", value_parser = Processor::named, default_value = "x86_64")]
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
    /// Systems whose jobs have release jitter, deadlines after the next release, and offsets
    #[arg(long, conflicts_with_all = ["changes", "per_server", "released", "raised", "resources", "waits", "partitions", "combined"])]
    pub jitter: bool,
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
