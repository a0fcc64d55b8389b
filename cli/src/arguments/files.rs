//! What is asked for where files are made: a new system, packages, keys, other tools' files.

use super::{duration, Building};
use clap::{Args, Subcommand};
use std::path::PathBuf;
use tactus_formats::Format;
use tactus_time::Duration;

/// Options of `new`.
#[derive(Debug, Args)]
pub struct New {
    /// The folder, which must be new or empty; its name is the system's
    #[arg(value_name = "FOLDER")]
    pub folder: PathBuf,
    /// With components of one's own: a controller and a watch that share a plant
    #[arg(long, conflicts_with_all = ["scheduler", "partition"])]
    pub component: bool,
    /// With a scheduler of one's own, under which threads take turns
    #[arg(long, conflicts_with = "partition")]
    pub scheduler: bool,
    /// With a partition of one's own in C, against the interface of ARINC 653
    #[arg(long)]
    pub partition: bool,
}

/// Options of `pack`.
#[derive(Debug, Args)]
pub struct Pack {
    /// The folder of the crate; with --check the packages
    #[arg(value_name = "CRATE|PACKAGE", required = true)]
    pub paths: Vec<PathBuf>,
    /// What the package says of itself, in place of the crate's Cargo.toml (TOML)
    #[arg(long, value_name = "FILE")]
    pub manifest: Option<PathBuf>,
    /// The private key that signs it
    #[arg(long, value_name = "FILE", required_unless_present = "check")]
    pub key: Option<PathBuf>,
    /// Where the package goes [default: <name>.package]
    #[arg(long, short, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Tell into which slots of this system the packages fit
    #[arg(long, value_name = "SYSTEM", conflicts_with_all = ["manifest", "key", "out"])]
    pub check: Option<PathBuf>,
    /// With --check: what the system's own work costs, as the check counts it
    #[arg(long, value_name = "measured|none|FILE", default_value = "measured", requires = "check")]
    pub costs: String,
    /// How it is built.
    #[command(flatten)]
    pub building: Building,
}

/// Options of `key`.
#[derive(Debug, Args)]
pub struct Key {
    /// What to do.
    #[command(subcommand)]
    pub what: KeyCommand,
}

/// What can be done with keys.
#[derive(Debug, Subcommand)]
pub enum KeyCommand {
    /// Draw a key: NAME.key signs, and NAME.pub is for the system files that trust it
    New {
        /// The name, with its folder if it goes elsewhere
        #[arg(value_name = "NAME")]
        name: PathBuf,
    },
}

/// Options of `convert`.
#[derive(Debug, Args)]
pub struct Convert {
    /// File to read
    #[arg(value_name = "IN")]
    pub input: PathBuf,
    /// File to write
    #[arg(value_name = "OUT")]
    pub output: PathBuf,
    /// Format of IN: system, schedcat, simso, rt-app or csv
    #[arg(long, value_parser = format, value_name = "FORMAT")]
    pub from: Option<Format>,
    /// Format of OUT, likewise; needed where OUT ends in .xml
    #[arg(long, value_parser = format, value_name = "FORMAT")]
    pub to: Option<Format>,
    /// Length of one unit of a number without a unit, in schedcat and csv files
    #[arg(long, value_parser = duration, value_name = "TIME", default_value = "1 us")]
    pub unit: Duration,
    /// Policy of the task set, as system files name it
    #[arg(long, value_name = "POLICY")]
    pub policy: Option<String>,
    /// Number of cores
    #[arg(long, value_name = "N")]
    pub cores: Option<usize>,
    /// How long it runs
    #[arg(long, value_parser = duration, value_name = "TIME")]
    pub duration: Option<Duration>,
}

fn format(text: &str) -> Result<Format, String> {
    let known = || Format::ALL.map(Format::name).join(", ");
    Format::named(text).ok_or_else(|| format!("there is no such format; choose one of {}", known()))
}
