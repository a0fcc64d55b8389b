//! The file of a study: which sets are drawn, what is asked of each, with which overheads.

use crate::decision::Decision;
use crate::generator::{self, Generator};
use crate::overhead::Overhead;
use serde::Deserialize;
use std::fmt;
use std::path::Path;
use tactus_analysis::generate::distributions::{self, Periods, Utilisations, PERIODS, UTILISATIONS};
use tactus_analysis::generate::{Random, Task};

/// Where a study file is wrong, and what to write instead.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Fault {
    /// The file cannot be read.
    Read(String),
    /// It is no TOML, or a key is unknown or missing.
    Toml(String),
    /// A name that stands for nothing: what, the name, what there is.
    Unknown {
        /// The key.
        key: &'static str,
        /// What was written.
        name: String,
        /// What may be written.
        known: Vec<String>,
    },
    /// A value that makes no sense.
    Value {
        /// The key.
        key: String,
        /// Why.
        why: String,
    },
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Read(why) | Fault::Toml(why) => f.write_str(why.trim_end()),
            Fault::Unknown { key, name, known } => {
                write!(f, "{key}: {name:?} is unknown; there are {}", known.join(", "))
            }
            Fault::Value { key, why } => write!(f, "{key}: {why}"),
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    name: String,
    title: String,
    cores: usize,
    #[serde(default = "one")]
    cluster: usize,
    sets: u64,
    #[serde(default)]
    seed: u64,
    caps: Range,
    #[serde(default)]
    utilisations: Vec<String>,
    #[serde(default)]
    periods: Vec<String>,
    #[serde(default)]
    generator: Vec<generator::File>,
    slack: Option<f64>,
    deadlines: Option<Share>,
    tests: Vec<String>,
    #[serde(default)]
    overhead: Vec<crate::overhead::File>,
    #[serde(default)]
    cache_delays: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Range {
    from: f64,
    to: f64,
    step: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Share {
    from: f64,
    to: f64,
}

fn one() -> usize {
    1
}

/// Where sets come from.
#[derive(Clone, PartialEq)]
pub enum Workload {
    /// A named distribution of utilisations and one of periods.
    Drawn {
        /// Name of the utilisations, a blank, name of the periods.
        name: String,
        /// Utilisations.
        utilisations: Utilisations,
        /// Periods.
        periods: Periods,
        /// How far below the cap a set's utilisation may lie.
        slack: f64,
    },
    /// A generator of its own.
    Generated {
        /// What it is called.
        name: String,
        /// What it is.
        generator: Generator,
    },
}

impl Workload {
    /// What it is called in results.
    pub fn name(&self) -> &str {
        match self {
            Workload::Drawn { name, .. } | Workload::Generated { name, .. } => name,
        }
    }

    /// Draws a set with a total utilisation of `cap`, or a little less. False where there is none.
    pub fn draw(&self, tasks: &mut Vec<Task>, random: &mut Random, cap: f64, cores: usize) -> bool {
        match self {
            Workload::Drawn { utilisations, periods, slack, .. } => {
                distributions::fill(tasks, random, (*utilisations, *periods), cap, *slack)
            }
            Workload::Generated { generator, .. } => generator.draw(tasks, random, cap, cores),
        }
    }
}

/// Part of a study's fingerprint: as it was when there were distributions alone, so that what was worked out then still counts.
impl fmt::Debug for Workload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Workload::Drawn { name, utilisations, periods, slack } => f
                .debug_struct("Workload")
                .field("name", name)
                .field("utilisations", utilisations)
                .field("periods", periods)
                .field("slack", slack)
                .finish(),
            Workload::Generated { name, generator } => {
                f.debug_struct("Generated").field("name", name).field("generator", generator).finish()
            }
        }
    }
}

/// What the system's own work costs in one part of the study.
#[derive(Clone, PartialEq, Debug)]
pub struct Scenario {
    /// Name of the overhead, with the cache delay if there are several.
    pub name: String,
    /// The overhead.
    pub overhead: Overhead,
    /// Cache-related delay of a preemption or migration, ns.
    pub cache_delay: f64,
}

/// A study as read from its file.
#[derive(Clone, PartialEq, Debug)]
pub struct Study {
    /// Name: what the folder of results is called.
    pub name: String,
    /// One line for people.
    pub title: String,
    /// m.
    pub cores: usize,
    /// Cores of a cluster, for clustered policies.
    pub cluster: usize,
    /// Sets at each point.
    pub sets: u64,
    /// Seed of all sets.
    pub seed: u64,
    /// Caps of utilisation, in thousandths.
    pub caps: Vec<u64>,
    /// Where sets come from.
    pub workloads: Vec<Workload>,
    /// A deadline lies between these shares of the way from execution time to period, in thousandths; else it is the
    /// period.
    pub deadlines: Option<(u64, u64)>,
    /// What is asked of each set.
    pub decisions: Vec<Decision>,
    /// With which overheads.
    pub scenarios: Vec<Scenario>,
    /// Tells this study from every other: a hash of everything that its results depend on.
    pub fingerprint: u64,
}

/// Raised whenever the same file gives other results than before.
const EDITION: u64 = 1;

/// No study is described in more bytes.
pub(crate) const MAX_FILE: u64 = 16 << 20;

impl Study {
    /// Reads the file. Files of overheads that it names lie beside it.
    pub fn read(path: &Path, sets: Option<u64>) -> Result<Study, Fault> {
        let text = tactus_model::read_ordinary_text(path, MAX_FILE)
            .map_err(|e| Fault::Read(format!("{}: {e}", path.display())))?;
        Study::parse(&text, path.parent().unwrap_or(Path::new(".")), sets)
            .map_err(|fault| Fault::Read(format!("{}: {fault}", path.display())))
    }

    /// Reads the text of a file; `sets`, if given, takes the place of the number that it says.
    pub fn parse(text: &str, folder: &Path, sets: Option<u64>) -> Result<Study, Fault> {
        let file: File = toml::from_str(text).map_err(|error| Fault::Toml(error.to_string()))?;
        let value = |key: &str, why: &str| Fault::Value { key: key.to_string(), why: why.to_string() };
        if file.name.is_empty() || !file.name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-') {
            return Err(value("name", "write letters, digits and '-': it names the folder of results"));
        }
        if file.cores == 0 || file.cores > 1024 {
            return Err(value("cores", "write a number from 1 to 1024"));
        }
        if file.cluster == 0 || file.cores % file.cluster != 0 {
            return Err(value("cluster", "write a number that divides `cores`"));
        }
        if file.sets == 0 {
            return Err(value("sets", "write at least 1"));
        }
        let thousandths = |x: f64| (x * 1000.0).round() as u64;
        let (from, to, step) = (thousandths(file.caps.from), thousandths(file.caps.to), thousandths(file.caps.step));
        if from == 0 || step == 0 || from > to || to > 1_024_000 {
            return Err(value("caps", "write 0 < from ≤ to and a step of at least 0.001"));
        }
        let mut workloads = Vec::new();
        for u in &file.utilisations {
            let &(u_name, utilisations, slack) = find("utilisations", u, &UTILISATIONS, |known| known.0)?;
            for p in &file.periods {
                let &(p_name, periods) = find("periods", p, &PERIODS, |known| known.0)?;
                let slack = file.slack.unwrap_or(slack);
                if !(slack > 0.0 && slack < file.caps.from) {
                    return Err(value("slack", "write a number above 0 and below the lowest cap"));
                }
                workloads.push(Workload::Drawn { name: format!("{u_name} {p_name}"), utilisations, periods, slack });
            }
        }
        for table in &file.generator {
            let made = Generator::read(table)?.into_iter();
            workloads.extend(made.map(|(name, generator)| Workload::Generated { name, generator }));
        }
        if workloads.is_empty() || file.tests.is_empty() {
            return Err(value(
                "tests",
                "name at least one, and a workload: utilisations and periods, or a [[generator]]",
            ));
        }
        if file.utilisations.is_empty() != file.periods.is_empty() {
            return Err(value("utilisations, periods", "name at least one of each, or of none"));
        }
        let mut names: Vec<&str> = workloads.iter().map(Workload::name).collect();
        names.sort_unstable();
        if let Some(twice) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(value(
                "generator",
                &format!("{:?} is there twice, and its results would have one place", twice[0]),
            ));
        }
        let known: Vec<Decision> = Decision::all();
        let decisions = file
            .tests
            .iter()
            .map(|name| find("tests", name, &known, |known| known.name()).copied())
            .collect::<Result<Vec<_>, _>>()?;
        let single = decisions.iter().find(|d| matches!(d, Decision::Single(test) if test.of_one_core()));
        if let Some(test) = single.filter(|_| file.cores > 1) {
            return Err(value("tests", &format!("{} speaks of one core; write cores = 1", test.name())));
        }
        let packs =
            |d: &&Decision| matches!(d, Decision::PartitionedEdf | Decision::ClusteredEdf | Decision::Packed(_));
        if let (Some(test), Some(_)) = (decisions.iter().find(packs), &file.deadlines) {
            return Err(value(
                "tests",
                &format!("{} packs by utilisation, which says nothing of deadlines", test.name()),
            ));
        }
        let deadlines = match file.deadlines {
            None => None,
            Some(Share { from, to }) if 0.0 <= from && from <= to && to <= 1.0 => {
                Some((thousandths(from), thousandths(to)))
            }
            Some(_) => return Err(value("deadlines", "write 0 ≤ from ≤ to ≤ 1")),
        };
        let mut overheads = Vec::new();
        for overhead in &file.overhead {
            overheads.push(Overhead::read(overhead, folder)?);
        }
        if overheads.is_empty() {
            overheads.push(Overhead::none());
        }
        let mut delays = vec![];
        for text in &file.cache_delays {
            let delay = tactus_model::parse_duration(text).map_err(|error| {
                value("cache_delays", &format!("{text:?}: {error}; write a length such as \"4 us\""))
            })?;
            delays.push(delay);
        }
        let mut scenarios = Vec::new();
        for overhead in overheads {
            if delays.is_empty() {
                scenarios.push(Scenario { name: overhead.name.clone(), overhead, cache_delay: 0.0 });
                continue;
            }
            for delay in &delays {
                let name = format!("{} {delay}", overhead.name);
                scenarios.push(Scenario { name, overhead: overhead.clone(), cache_delay: delay.as_nanos() as f64 });
            }
        }
        let mut study = Study {
            name: file.name,
            title: file.title,
            cores: file.cores,
            cluster: file.cluster,
            sets: sets.unwrap_or(file.sets),
            seed: file.seed,
            caps: (0..).map(|n| from + n * step).take_while(|cap| *cap <= to).collect(),
            workloads,
            deadlines,
            decisions,
            scenarios,
            fingerprint: 0,
        };
        study.fingerprint = fingerprint(&format!("{EDITION} {study:?}"));
        Ok(study)
    }

    /// How many chunks the study has: one for each workload and cap.
    pub fn chunks(&self) -> usize {
        self.workloads.len() * self.caps.len()
    }
}

/// FNV-1a: the same on every machine and in every version of the compiler.
fn fingerprint(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

pub(crate) fn find<'a, T>(
    key: &'static str,
    name: &str,
    known: &'a [T],
    named: impl Fn(&T) -> &str,
) -> Result<&'a T, Fault> {
    known.iter().find(|k| named(k) == name).ok_or_else(|| Fault::Unknown {
        key,
        name: name.to_string(),
        known: known.iter().map(|k| named(k).to_string()).collect(),
    })
}
