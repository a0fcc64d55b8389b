//! What was found of each system, line by line, in a file beside the results: a run that was broken off goes on where it
//! was, and several parts of a run can be put together.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::Path;
use tactus_machine::failure::Failure;
use tactus_model::{policy_label, System};
use tactus_terminal::lines;
use tactus_time::Duration;

/// The name of the file.
const NAME: &str = "systems.csv";
const HEAD: &str =
    "seed,policy,servers,depth,cores,tasks,accepted,decisions,records,jobs,late_ns,allowed_ns,steps,equal,races,\
drifts,difference_ns,promises,worst,messages,worst_message,problems,changes,effects,refused";

/// What was found of one system.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Line {
    pub seed: u64,
    pub policy: String,
    pub servers: u64,
    /// Servers from the root down to a task.
    pub depth: u64,
    pub cores: u64,
    pub tasks: u64,
    /// Whether the check accepted it and promised something.
    pub accepted: bool,
    pub decisions: u64,
    pub records: u64,
    pub jobs: u64,
    /// The largest delay of a notice, and what was allowed.
    pub lateness: Duration,
    pub allowed: Duration,
    /// Equal steps beside a free simulation, and whether all are.
    pub steps: u64,
    pub equal: bool,
    pub races: u64,
    pub drifts: u64,
    pub difference: Duration,
    /// Promises that were held against the run, and the longest response ÷ bound.
    pub promises: u64,
    pub worst: f64,
    /// Messages and other passages of chains that were promised a latency, and the longest latency ÷ bound.
    pub messages: u64,
    pub worst_message: f64,
    /// What did not agree.
    pub problems: u64,
    /// Changes of the running system that are asked for, took effect, were refused.
    pub changes: u64,
    pub effects: u64,
    pub refused: u64,
}

impl Line {
    /// What is known before the system runs.
    pub fn of(seed: u64, system: &System, accepted: bool) -> Line {
        let servers = &system.scheduling.servers;
        let depth = |n: usize| {
            let (mut depth, mut at) = (1, servers[n].parent);
            while let Some(parent) = at {
                (depth, at) = (depth + 1, servers[parent].parent);
            }
            depth
        };
        Line {
            seed,
            policy: policy_label(&system.policy).to_string(),
            servers: servers.len() as u64,
            depth: (0..servers.len()).map(depth).max().unwrap_or(0),
            cores: system.cores as u64,
            tasks: system.tasks.len() as u64,
            changes: system.scheduling.changes.len() as u64,
            accepted,
            ..Line::default()
        }
    }

    fn write(&self) -> String {
        let (late, allowed, difference) =
            (self.lateness.as_nanos(), self.allowed.as_nanos(), self.difference.as_nanos());
        let Line { seed, policy, servers, depth, cores, tasks, decisions, records, jobs, steps, .. } = self;
        let (accepted, equal) = (u8::from(self.accepted), u8::from(self.equal));
        let Line {
            races, drifts, promises, worst, messages, worst_message, problems, changes, effects, refused, ..
        } = self;
        format!(
            "{seed},{policy},{servers},{depth},{cores},{tasks},{accepted},{decisions},{records},{jobs},{late},{allowed},\
             {steps},{equal},{races},{drifts},{difference},{promises},{worst},{messages},{worst_message},{problems},\
             {changes},{effects},{refused}\n"
        )
    }

    fn read(text: &str) -> Option<Line> {
        let fields: Vec<&str> = text.split(',').collect();
        let number = |n: usize| fields.get(n)?.parse::<u64>().ok();
        let time = |n| number(n).map(Duration::from_nanos);
        (fields.len() == HEAD.split(',').count()).then_some(())?;
        Some(Line {
            seed: number(0)?,
            policy: fields[1].to_string(),
            servers: number(2)?,
            depth: number(3)?,
            cores: number(4)?,
            tasks: number(5)?,
            accepted: number(6)? == 1,
            decisions: number(7)?,
            records: number(8)?,
            jobs: number(9)?,
            lateness: time(10)?,
            allowed: time(11)?,
            steps: number(12)?,
            equal: number(13)? == 1,
            races: number(14)?,
            drifts: number(15)?,
            difference: time(16)?,
            promises: number(17)?,
            worst: fields[18].parse().ok()?,
            messages: number(19)?,
            worst_message: fields[20].parse().ok()?,
            problems: number(21)?,
            changes: number(22)?,
            effects: number(23)?,
            refused: number(24)?,
        })
    }
}

/// The file.
pub struct Ledger {
    file: File,
    /// All lines, also those of a run before this one, by seed.
    pub lines: BTreeMap<u64, Line>,
}

impl Ledger {
    /// Opens the file in the folder; to go on, reads what it has: a system whose line is not whole is done again.
    pub fn open(folder: &Path, resume: bool) -> Result<Ledger, Failure> {
        let path = folder.join(NAME);
        let cannot = |error: std::io::Error| Failure::Machine(format!("{}: {error}", path.display()));
        fs::create_dir_all(folder).map_err(cannot)?;
        if !resume && path.exists() {
            fs::remove_file(&path).map_err(cannot)?;
        }
        let text = fs::read_to_string(&path).unwrap_or_default();
        let known = text.lines().filter_map(Line::read).map(|line| (line.seed, line)).collect();
        let mut file = OpenOptions::new().create(true).append(true).open(&path).map_err(cannot)?;
        if text.is_empty() {
            writeln!(file, "{HEAD}").map_err(cannot)?;
        } else if !text.ends_with('\n') {
            writeln!(file).map_err(cannot)?;
        }
        Ok(Ledger { file, lines: known })
    }

    /// Adds a line.
    pub fn add(&mut self, line: Line) -> Result<(), Failure> {
        self.file.write_all(line.write().as_bytes()).map_err(|error| Failure::Machine(format!("{NAME}: {error}")))?;
        self.lines.insert(line.seed, line);
        Ok(())
    }

    /// Tables of all lines.
    pub fn tell(&self) {
        let all: Vec<&Line> = self.lines.values().collect();
        table("policy", &all, |line| line.policy.clone());
        table("servers deep", &all, |line| line.depth.to_string());
        table("cores", &all, |line| line.cores.to_string());
    }
}

/// Counts by what `key` tells.
fn table(what: &str, all: &[&Line], key: impl Fn(&Line) -> String) {
    let mut groups: BTreeMap<String, Vec<&Line>> = BTreeMap::new();
    all.iter().for_each(|line| groups.entry(key(line)).or_default().push(line));
    lines::put(&format!(
        "\n{what:<26} systems  decisions  equal to the end   races  drifts  accepted  promises  worst ÷ bound  apart\n"
    ));
    for (name, group) in groups {
        let sum = |of: fn(&Line) -> u64| group.iter().map(|line| of(line)).sum::<u64>();
        let worst = group.iter().map(|line| line.worst).fold(0.0, f64::max);
        lines::put(&format!(
            "{name:<26} {:>7}  {:>9}  {:>16}  {:>6}  {:>6}  {:>8}  {:>8}  {worst:>13.3}  {:>5}\n",
            group.len(),
            sum(|line| line.decisions),
            sum(|line| u64::from(line.equal)),
            sum(|line| line.races),
            sum(|line| line.drifts),
            sum(|line| u64::from(line.accepted)),
            sum(|line| line.promises),
            sum(|line| u64::from(line.problems > 0)),
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read_as_it_was_written_and_one_that_is_not_whole_is_not() {
        let line = Line {
            seed: 7,
            policy: "clustered EDF".into(),
            worst: 0.25,
            lateness: Duration::from_micros(3),
            ..Line::default()
        };
        let text = line.write();
        assert_eq!(Line::read(text.trim_end()), Some(line));
        assert_eq!(Line::read(&text[..text.len() - 3]), None);
    }
}
