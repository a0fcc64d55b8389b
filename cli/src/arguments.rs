//! What can be asked of the command, in the words of `--help`.
// The comments are what a terminal shows: no marks of a web page in them.
#![allow(rustdoc::invalid_html_tags, rustdoc::bare_urls)]

mod files;
mod own;

pub use files::{Convert, Key, KeyCommand, New, Pack};
pub use own::{Test, TestKind};

use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;
use tactus_analysis::CacheDelay;
use tactus_machine::toolchain::Network;
use tactus_model::{parse_duration, Processor};
use tactus_time::{Duration, Level};

const FIRST_STEPS: &str = "\
First steps:
  ./tactus check examples/avionics.toml       can every task keep its deadline?
  ./tactus simulate examples/avionics.toml    what will the schedule look like?
  ./tactus run examples/avionics.toml         boot it, and judge what happened

The laboratory, which is built when it is first asked for:
  ./tactus study --help                       very many task sets; the experiments of the sources
  ./tactus rig --help                         the structures of schedulers, with real parallelism

Exit status:
  0  every promise held, or none was asked for
  1  not: a bound was broken, or void by what a task did; a component was stopped; the check refused the system; or
     the run was too short for any promised job to end
  2  bad input: the message says what to change, and where
  3  this machine could not do it: something is missing, or failed";

/// A multicore real-time operating system whose promises can be checked.
///
/// One system file says what must run, how critical it is and how much time it may take. Tactus checks the file with
/// schedulability analysis, simulates it, boots it on its own kernel, and judges what happened against the bounds
/// that the analysis promised.
#[derive(Debug, Parser)]
#[command(name = "tactus", version, after_help = FIRST_STEPS, max_term_width = 100)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Begin a system of one's own in a new folder
    ///
    /// Writes a system file that runs at once, with a README.md that says how; with an option, crates of one's own beside it, which take
    /// Tactus from this clone by its path and have a Cargo.lock each. What it begins with is one of the examples.
    #[command(after_help = "Examples:\n  ./tactus new ../plant\n  ./tactus new ../robot --component")]
    New(New),
    /// Tell whether every task can keep its promise, without running anything
    ///
    /// Reads the system file, reports everything that is wrong with it, and applies the schedulability tests of its
    /// policy. Prints the bound that each task is promised. Of a network file: the same of each node's system, which nodes
    /// in the scope of a package admit it, and the bound of data over all hops of its way.
    #[command(after_help = "Examples:
  ./tactus check examples/avionics.toml
  ./tactus check examples/vehicle.toml --assign /tmp/vehicle.toml --fit worst --anew")]
    Check(Check),
    /// Tell what a task's bound adds up from
    ///
    /// Asks the test that gave the bound for its terms: the task's own time, less urgent work that holds it up, how often whom it waits for
    /// and for how long, and what the system's own work adds. They add up to the bound that `check` prints. Where a test compares the work of a
    /// window with its length, tells the window with the least room; of any other test, its name and source.
    #[command(after_help = "Example:\n  ./tactus explain examples/vehicle.toml engine-4")]
    Explain(Explain),
    /// Work out the schedule on this computer, in a moment
    ///
    /// Drives the same policy code as the kernel, but in a simulator. Writes the same results as `run` does, to
    /// out/<system>/simulated/. Of a network file: delivers applications and data across the nodes, and judges where they came to,
    /// and data by its bounds.
    #[command(after_help = "Examples:
  ./tactus simulate examples/avionics.toml
  ./tactus simulate examples/avionics.toml --at-level B --duration '200 ms'
  ./tactus simulate examples/network/rooms.toml --seed 3
  ./tactus simulate examples/network/conference.toml")]
    Simulate(Simulate),
    /// Boot the system on the emulated machine, and judge what happened
    ///
    /// Checks the system file, compiles kernel and components, builds a boot image, runs it in an emulated PC with
    /// counted instructions, and holds the trace against the bounds. Leaves everything in out/<system>/. The same
    /// file and seed give the same trace, byte for byte. Of a network file: boots each node on a machine of its own, joined by network
    /// cards, and judges each and the whole; no two runs are alike then.
    #[command(after_help = "Example:\n  ./tactus run examples/avionics.toml")]
    Run(Run),
    /// Make a medium that boots the system on a PC
    ///
    /// Checks the system file, compiles kernel and components, and writes an ISO image that boots by BIOS and by UEFI,
    /// from a disc or a USB stick. The PC prints the verdict on its first serial port (115,200 baud). Needs GRUB's tools;
    /// where they are missing, it names the packages. See docs/real-pc.md.
    #[command(after_help = "Example:\n  ./tactus iso examples/avionics.toml --out avionics.iso")]
    Iso(Iso),
    /// Show the schedule of an earlier run as text, or export it
    ///
    /// Says for each core what ran from when to when; draws the schedule; or lists every record. Exports open in
    /// Perfetto (https://ui.perfetto.dev) and in tools that read LITMUS^RT traces.
    #[command(after_help = "Examples:
  ./tactus trace out/avionics
  ./tactus trace out/avionics --draw --from '20 ms' --to '80 ms'
  ./tactus trace out/avionics --perfetto avionics.pftrace")]
    Trace(Trace),
    /// Show which part of a system has which pages of memory, and whether colours keep them apart
    ///
    /// Walks all page tables of an earlier run, the kernel's own included: a row for each part, a column for each colour. After
    /// `run --caches` it also says what each part asked of the caches and who drove out whose lines. The exit status is 1 if a page
    /// has a colour of nobody who sees it. See docs/colours.md.
    #[command(after_help = "Example:\n  ./tactus run examples/colours.toml --caches\n  ./tactus colours out/colours")]
    Colours(Colours),
    /// Show the monitors of a system file, or let them judge an earlier run
    ///
    /// A monitor watches a property: which events happen in which order, and how fresh data is. Without RESULTS, prints each
    /// monitor's states, bytes and table. With RESULTS, says what each makes of that run, and the path to what it found
    /// broken; the exit status is 1 if any property was. See docs/monitors.md.
    #[command(after_help = "Examples:
  ./tactus monitor examples/monitors.toml --table
  ./tactus monitor examples/monitors.toml out/monitors
  ./tactus monitor examples/monitors/one-at-a-time.dot out/monitors --event 'start=start control' --event 'complete=complete control'")]
    Monitor(Monitor),
    /// Hold a trace of Linux against what the check promises for a system file
    ///
    /// Reads a trace.dat, or what `trace-cmd report`, `perf script` or tracefs print of it, finds the thread of each task by its name,
    /// and judges its jobs as those of any run. What the trace does not tell is said, and not held. See crates/linux/README.md.
    #[command(after_help = "Examples:
  ./tactus judge system.toml --linux trace.txt
  ./tactus judge system.toml --linux trace.txt --thread control=rt-thread-7 --costs linux-costs.toml")]
    Judge(Judge),
    /// Write what runs a system file on Linux: rt-app's JSON and a script that records it
    ///
    /// Each task becomes a thread of SCHED_FIFO or SCHED_DEADLINE. What Linux cannot promise, or rt-app cannot say, is refused with the
    /// reason and what Linux does instead. See docs/linux.md.
    #[command(after_help = "Example:\n  ./tactus linux examples/linux/control.toml")]
    Linux(Linux),
    /// Tell what SCHED_DEADLINE's admission accepts beside what the analysis shows
    ///
    /// Task by task: whether Linux takes it in, and whether its deadline is kept. Where Linux does and a deadline can be missed, looks for
    /// a schedule in which it is, and shows it. The exit status is 1 if a task is admitted whose deadline nothing shows to be kept.
    #[command(after_help = "Example:\n  ./tactus admit examples/linux/admitted.toml")]
    Admit(Admit),
    /// Make the report of an earlier run again
    ///
    /// Judges the trace that the run left once more, and writes report.html and summary.json anew.
    #[command(after_help = "Example:\n  ./tactus report out/avionics")]
    Report(Report),
    /// Translate task sets between the formats of SchedCAT, SimSo, rt-app, CSV and system files
    ///
    /// What a file ends in tells its format; of XML that is read, the text does. What would change the schedule is refused; what
    /// the other format cannot hold is told. See docs/formats.md.
    #[command(after_help = "Examples:
  ./tactus convert tasks.csv tasks.toml --cores 2 --policy global-edf
  ./tactus convert taskset.xml study.xml --to simso --cores 4 --duration '2 s'")]
    Convert(Convert),
    /// Make a package of a crate, or tell into which slots packages fit
    ///
    /// Builds the crate as a component is built, and writes its program with what it says of itself, signed, to one file. What tasks it
    /// brings, which heap and which services it needs, stands under [package.metadata.tactus] of its Cargo.toml, or in a file of its own.
    /// With --check nothing is made: tells for each slot of a system whether each package may be loaded into it; the exit status is 1 if
    /// one fits nowhere. See docs/slots.md.
    #[command(after_help = "Examples:
  ./tactus pack examples/slots/blink-1 --key dev.key -o blink-1.package
  ./tactus pack --check examples/slots/slots.toml blink-1.package")]
    Pack(Pack),
    /// Make a key that signs packages
    #[command(after_help = "Example:\n  ./tactus key new dev")]
    Key(Key),
    /// Print what a system file may hold, as JSON Schema, for editors
    ///
    /// Made from the reader of system files itself: every table, its keys, and the forms of their values. See docs/system-file.md.
    #[command(after_help = "Example:\n  ./tactus schema > system.schema.json")]
    Schema,
    /// Print the script by which a shell completes these words
    #[command(
        after_help = "Example:\n  ./tactus completions bash > ~/.local/share/bash-completion/completions/tactus"
    )]
    Completions(Completions),
    /// Print the page of the manual on this command, or on one of its commands
    #[command(after_help = "Example:\n  ./tactus man check | man -l -")]
    Man(Man),
    /// Run every test, as the project's own checks do
    ///
    /// Format, lints, unit and property tests, documentation, then whole-system scenarios. The last line tells how many
    /// passed and how many failed.
    #[command(after_help = "Examples:\n  ./tactus test\n  ./tactus test --only scenarios")]
    Test(Test),
}

/// A system file, and what to change in it for this time.
#[derive(Clone, Debug, Args)]
pub struct Subject {
    /// The system file or network file (TOML), or a workload in rt-app's JSON
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Let every job take the execution time that is assumed at this level
    #[arg(long, value_name = "A|B|C|D", value_parser = level)]
    pub at_level: Option<Level>,
    /// How long the system runs, instead of what the file says: '10 s', '250 ms'
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub duration: Option<Duration>,
    /// Seed of everything drawn at random, instead of the file's
    #[arg(long, value_name = "NUMBER")]
    pub seed: Option<u64>,
    /// The machine's processor, instead of the file's: x86_64 or aarch64
    #[arg(long, value_name = "NAME", value_parser = Processor::named)]
    pub processor: Option<Processor>,
}

/// Options of `check`.
#[derive(Debug, Args)]
pub struct Check {
    /// What to check.
    #[command(flatten)]
    pub subject: Subject,
    /// What the system's own work costs: `measured` on the emulated machine, `none`, or a TOML file of your own (see
    /// docs/how-a-run-works.md). A check counts it unless the system file says overheads = false
    #[arg(long, value_name = "measured|none|FILE", default_value = "measured")]
    pub costs: String,
    /// What a job may lose of the caches whenever others have run in between or it has moved, e.g. "20 us": the longest time to
    /// load it again. `geometry`: what each task loses to each other by their memory and colours on the machine whose caches the file
    /// names, and what other cores add
    #[arg(long, value_name = "TIME|geometry", value_parser = cache_delay)]
    pub cache_delay: Option<CacheDelay>,
    /// Search for how much each execution time may grow until it is known for every task: seconds or minutes, near full
    /// load (without: some tens of milliseconds, and what was not found is left open)
    #[arg(long)]
    pub growth: bool,
    /// Bind tasks to cores first, so that each core passes the check of its policy, and write the system file with it to OUT
    #[arg(long, value_name = "OUT")]
    pub assign: Option<PathBuf>,
    /// Give each task with memory that names no colours as many of its own as pay, of those that nobody names, and write the system file
    /// with them to OUT
    #[arg(long, value_name = "OUT", conflicts_with = "assign")]
    pub choose_colours: Option<PathBuf>,
    /// Which core is taken, of those on which a task fits
    #[arg(long, value_enum, default_value_t = Fit::First, requires = "assign")]
    pub fit: Fit,
    /// In which order tasks are placed
    #[arg(long, value_enum, default_value_t = Order::Decreasing, requires = "assign")]
    pub order: Order,
    /// Place the tasks anew whose core the file gives
    #[arg(long, requires = "assign")]
    pub anew: bool,
}

/// Options of `explain`.
#[derive(Debug, Args)]
pub struct Explain {
    /// What is asked about.
    #[command(flatten)]
    pub subject: Subject,
    /// The task, by its name in the file
    #[arg(value_name = "TASK")]
    pub task: String,
    /// As of `check`
    #[arg(long, value_name = "measured|none|FILE", default_value = "measured")]
    pub costs: String,
    /// As of `check`
    #[arg(long, value_name = "TIME|geometry", value_parser = cache_delay)]
    pub cache_delay: Option<CacheDelay>,
    /// Print JSON in place of text
    #[arg(long)]
    pub json: bool,
}

fn cache_delay(text: &str) -> Result<CacheDelay, String> {
    if text == "geometry" {
        return Ok(CacheDelay::Geometry);
    }
    let time = tactus_model::parse_duration(text);
    time.map(CacheDelay::Time).map_err(|error| format!("{error}; write a time such as \"20 us\", or geometry"))
}

/// Which core is taken, of those on which a task fits.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Fit {
    /// The first one
    First,
    /// The one with least room left
    Best,
    /// The one with most room left
    Worst,
    /// The one that was taken last, else a later one
    Next,
}

/// In which order tasks are placed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Order {
    /// That of the file
    Given,
    /// The largest utilisation first
    Decreasing,
    /// The smallest utilisation first
    Increasing,
}

/// Options of `simulate`.
#[derive(Debug, Args)]
pub struct Simulate {
    /// What to simulate.
    #[command(flatten)]
    pub subject: Subject,
    /// What the system's own work costs in the simulation: `none`, `measured` on the emulated machine, or a TOML file of
    /// your own (see docs/how-a-run-works.md). Check and set-up are those of a run, whatever is simulated: for them, `none`
    /// counts as `measured`
    #[arg(long, value_name = "none|measured|FILE", default_value = "none")]
    pub costs: String,
    /// What arrives from outside, in place of what the system file says of those tasks: a task and a time on each line, like
    /// `sensor 12.5 ms`, the earlier ones of a task first
    #[arg(long, value_name = "FILE")]
    pub arrivals: Option<PathBuf>,
    /// Where the results go [default: out/<system>/simulated]
    #[arg(long, value_name = "FOLDER")]
    pub out: Option<PathBuf>,
}

/// How components are built.
#[derive(Clone, Debug, Args)]
pub struct Building {
    /// Build with what is on this computer: cargo fetches nothing and changes no Cargo.lock
    #[arg(long)]
    pub offline: bool,
    /// The same, and cut off from the network: build scripts and macros of components run on this computer, and with this they
    /// reach no other. Refused where `unshare -rn` is not allowed
    #[arg(long)]
    pub no_network: bool,
}

impl Building {
    /// What the build may reach.
    pub fn network(&self) -> Network {
        match (self.no_network, self.offline) {
            (true, _) => Network::Cut,
            (false, true) => Network::Offline,
            (false, false) => Network::Fetching,
        }
    }
}

/// Options of `run`.
#[derive(Debug, Args)]
pub struct Run {
    /// What to run.
    #[command(flatten)]
    pub subject: Subject,
    /// What the system's own work costs: `measured` on the emulated machine, `none`, or a TOML file of your own (see
    /// docs/how-a-run-works.md). A check counts it unless the system file says overheads = false
    #[arg(long, value_name = "measured|none|FILE", default_value = "measured")]
    pub costs: String,
    /// How it is built.
    #[command(flatten)]
    pub building: Building,
    /// Do not show the lines that components print; the report and run.log have them all the same
    #[arg(long)]
    pub no_console: bool,
    /// Send every access through modelled caches and tell who drove out whose lines: those of `geometry` in the file, else of an
    /// i7-2600. The run is the same, and takes the host about five times as long
    #[arg(long)]
    pub caches: bool,
    /// Run the kernel in guest mode, with the sandbox monitor below it; on one core. What the kernel asked of the monitor stands in run.log
    #[arg(long, conflicts_with = "caches")]
    pub in_sandbox: bool,
    /// Where the results go [default: out/<system>]
    #[arg(long, value_name = "FOLDER")]
    pub out: Option<PathBuf>,
}

/// Options of `colours`.
#[derive(Debug, Args)]
pub struct Colours {
    /// The results' folder, or the system file whose last results in out/ are meant
    #[arg(value_name = "FOLDER|FILE")]
    pub results: PathBuf,
}

/// Options of `iso`.
#[derive(Debug, Args)]
pub struct Iso {
    /// What the PC is to run.
    #[command(flatten)]
    pub subject: Subject,
    /// What the system's own work costs, as the check counts it: `measured` on the emulated machine, `none`, or a TOML
    /// file of your own (see docs/how-a-run-works.md)
    #[arg(long, value_name = "measured|none|FILE", default_value = "measured")]
    pub costs: String,
    /// How it is built.
    #[command(flatten)]
    pub building: Building,
    /// Where the medium goes [default: out/<system>/<system>.iso]
    #[arg(long, value_name = "ISO")]
    pub out: Option<PathBuf>,
}

/// Options of `trace`.
#[derive(Debug, Args)]
#[command(group(clap::ArgGroup::new("windowed").args(["draw", "records"])))]
pub struct Trace {
    /// The results' folder, or the system file whose last results in out/ are meant
    #[arg(value_name = "FOLDER|FILE")]
    pub results: PathBuf,
    /// Draw the schedule: a row for each core and each task, a column for each unit of time
    #[arg(long)]
    pub draw: bool,
    /// List the records of all cores, one a line, in order of time
    #[arg(long)]
    pub records: bool,
    /// Count time in this unit
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "1 ms")]
    pub unit: Duration,
    /// Begin at this time [default: the start of the run]
    #[arg(long, value_name = "TIME", value_parser = duration, requires = "windowed")]
    pub from: Option<Duration>,
    /// End at this time [default: a drawing ends after 100 units, a list at the end of the run]
    #[arg(long, value_name = "TIME", value_parser = duration, requires = "windowed")]
    pub to: Option<Duration>,
    /// Write the trace for Perfetto to this file, and show nothing
    #[arg(long, value_name = "FILE", conflicts_with = "windowed")]
    pub perfetto: Option<PathBuf>,
    /// Write LITMUS^RT sched_trace records, a file for each core, to this folder, and show nothing
    #[arg(long, value_name = "FOLDER", conflicts_with = "windowed")]
    pub sched_trace: Option<PathBuf>,
}

/// Options of `monitor`.
#[derive(Debug, Args)]
pub struct Monitor {
    /// The system file with the monitors; or OIL (.oil), an automaton of Linux's runtime verification (.dot) or one in the Hanoi format
    /// (.hoa)
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The results of a run of it, which the monitors are to judge: a folder, or a trace.bin in one
    #[arg(value_name = "RESULTS")]
    pub results: Option<PathBuf>,
    /// Print the table of each monitor: where each event leads from each state
    #[arg(long, conflicts_with = "results")]
    pub table: bool,
    /// Write the graph of each monitor, in the dot language, to this folder
    #[arg(long, value_name = "FOLDER")]
    pub dot: Option<PathBuf>,
    /// Of an automaton that is to judge a run: what an event of it is, once for each, as "read=start control"
    #[arg(long, value_name = "NAME=WHAT", requires = "results")]
    pub event: Vec<String>,
    /// Of OIL: print the monitors as a system file has them, whose components are called like the tasks
    #[arg(long, conflicts_with_all = ["results", "table", "dot"])]
    pub toml: bool,
}

/// Options of `judge`.
#[derive(Debug, Args)]
pub struct Judge {
    /// The system file
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The trace: a trace.dat, a Perfetto trace, text, or a folder of st-*.bin
    #[arg(long, value_name = "TRACE")]
    pub linux: PathBuf,
    /// Which thread a task is, where it is not called like it: its name or its number, once for each task
    #[arg(long, value_name = "TASK=THREAD", value_parser = pair)]
    pub thread: Vec<(String, String)>,
    /// What the bounds count for Linux's own work: a file, or none
    #[arg(long, value_name = "FILE|none", default_value = "none")]
    pub costs: String,
    /// Where the results go [default: out/NAME/linux]
    #[arg(long, value_name = "FOLDER")]
    pub out: Option<PathBuf>,
}

/// `task=thread`
fn pair(text: &str) -> Result<(String, String), String> {
    let (task, thread) = text.split_once('=').ok_or("write TASK=THREAD, such as control=rt-thread-7")?;
    Ok((task.trim().into(), thread.trim().into()))
}

/// Options of `linux`.
#[derive(Debug, Args)]
pub struct Linux {
    /// The system file
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Where the files go [default: out/NAME/for-linux]
    #[arg(long, value_name = "FOLDER")]
    pub out: Option<PathBuf>,
}

/// Options of `admit`.
#[derive(Debug, Args)]
pub struct Admit {
    /// The system file
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// What the bounds count for Linux's own work: a file, or none
    #[arg(long, value_name = "FILE|none", default_value = "none")]
    pub costs: String,
}

/// Options of `report`.
#[derive(Debug, Args)]
pub struct Report {
    /// The results' folder, or the system file whose last results in out/ are meant
    #[arg(value_name = "FOLDER|FILE")]
    pub results: PathBuf,
}

/// Options of `completions`.
#[derive(Debug, Args)]
pub struct Completions {
    /// The shell
    #[arg(value_name = "SHELL")]
    pub shell: clap_complete::Shell,
}

/// Options of `man`.
#[derive(Debug, Args)]
pub struct Man {
    /// One of the commands, such as check [default: the whole]
    #[arg(value_name = "COMMAND")]
    pub command: Option<String>,
}

/// A length of time, as it is written in a system file.
pub fn duration(text: &str) -> Result<Duration, String> {
    parse_duration(text).map_err(|error| format!("{error}; write a number and ns, us, ms or s, as in '250 ms'"))
}

fn level(text: &str) -> Result<Level, String> {
    let named = |level: &Level| level.to_string().eq_ignore_ascii_case(text);
    Level::ALL.into_iter().find(named).ok_or_else(|| "the levels are A, B, C and D".to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_arguments_are_consistent() {
        Arguments::command().debug_assert();
    }

    /// A statement of a source is no better than its command: each one is taken as it is written.
    #[test]
    fn every_command_that_shows_a_statement_of_a_source_is_one() {
        let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/sources/statements.toml");
        let text = std::fs::read_to_string(file).expect("the statements are there");
        let statements = tactus_sources::read(&text).expect("they are valid");
        let mut count = 0;
        for statement in statements {
            let words = statement.words();
            // Those of the laboratory are tried there.
            let lab = ["study", "rig", "stress", "agree", "bench", "mutants"]
                .map(|word| words.get(1).is_some_and(|it| it == word))
                .contains(&true);
            if words.first().is_some_and(|word| word == "./tactus") && !lab {
                if let Err(error) = Arguments::try_parse_from(&words) {
                    panic!("{statement}: {error}");
                }
                count += 1;
            }
        }
        assert!(count > 5, "{count}");
        assert!(Arguments::try_parse_from(["./tactus", "check", "--nothing"]).is_err());
    }
}
