//! Structures measured side by side. What was measured already with the same settings is read, not measured again.

use super::arguments::{Compare, Mode};
use super::plots::{self, Page, Panel};
use super::rows;
use super::runs::Runs;
use std::collections::BTreeSet;
use std::path::Path;
use tactus_machine::failure::{Failure, Outcome};
use tactus_rig::{names, Boxes, Finished, Line, Operation, Settings};
use tactus_terminal::lines;

/// What is plotted.
const PLOTS: [Operation; 8] = [
    Operation::Preempt,
    Operation::Finish,
    Operation::Find,
    Operation::PullPreempt,
    Operation::PullFinish,
    Operation::PullFind,
    Operation::Push,
    Operation::Pull,
];

/// What is compared: which processors, which structures, and with tasks of which utilisation, if not with random events.
struct Comparison<'a> {
    arguments: &'a Compare,
    cores: Vec<usize>,
    structures: Vec<String>,
    load: Option<f64>,
}

/// Measures, prints and draws.
pub fn compare(arguments: &Compare) -> Result<Outcome, Failure> {
    let here = std::thread::available_parallelism().map_or(1, usize::from);
    let wanted: Vec<usize> = if arguments.cores.is_empty() {
        (0..).map(|n| 1 << n).take_while(|n| *n <= here).collect()
    } else {
        arguments.cores.clone()
    };
    let structures: Vec<String> = if arguments.structures.is_empty() {
        names::DIRECTORIES.iter().map(ToString::to_string).collect()
    } else {
        arguments.structures.clone()
    };
    let most = wanted.iter().max().copied().unwrap_or(0);
    let machine = lines::count(here, "core");
    lines::line("rig", format!("{machine} on this machine, of {most} asked for at most"));
    let (cores, lacking): (Vec<usize>, Vec<usize>) =
        wanted.into_iter().partition(|n| *n <= here || arguments.events.oversubscribe);
    rows::folder(&arguments.out)?;
    let path = arguments.out.join("compare.jsonl");
    let mut all = rows::read(&path)?;
    let mut runs = Runs::new(cores.len() * structures.len() * arguments.load.len().max(1) * arguments.sets as usize);
    let mut comparison = Comparison { arguments, cores, structures, load: None };
    let mut held = true;
    if arguments.load.is_empty() {
        held &= comparison.measure(&path, &mut all, &mut runs)?;
        runs.aside(|| comparison.show(&all))?;
    }
    for load in &arguments.load {
        comparison.load = Some(*load);
        let sets = lines::count(arguments.sets as usize, "task set");
        runs.aside(|| lines::line("load", format!("{load} for each processor, {sets}")));
        held &= comparison.measure(&path, &mut all, &mut runs)?;
        runs.aside(|| comparison.show(&all))?;
    }
    runs.end();
    if !lacking.is_empty() {
        let list: Vec<String> = lacking.iter().map(ToString::to_string).collect();
        let list = list.join(", ");
        lines::line(
            "left out",
            format!(
                "{list} processors: this machine has {machine}; the same command on a larger one, with the same --out, goes on \
                 from here"
            ),
        );
    }
    lines::line("results", format!("{} and the plots beside it", path.display()));
    Ok(Outcome::held_if(held))
}

impl Comparison<'_> {
    /// Measures what is not in the file yet. Whether all rules held.
    fn measure(&self, path: &Path, all: &mut Vec<Line>, runs: &mut Runs) -> Result<bool, Failure> {
        let mut held = true;
        for processors in &self.cores {
            let (settings, wanted) = self.settings(*processors)?;
            for structure in &self.structures {
                let done = |line: &&Line| line.directory == *structure && self.same(line, &settings, &wanted);
                // All rows of a run, or it was broken off while they were written.
                if all.iter().filter(done).count() == rows_of_a_run(*processors) {
                    runs.skip(self.arguments.sets as usize);
                    continue;
                }
                if all.iter().any(|line| done(&line)) {
                    all.retain(|line| !done(&line));
                    rows::replace(path, all)?;
                }
                match self.run(structure, *processors, runs)? {
                    Ok(finished) => {
                        let mut new = tactus_rig::lines(structure, &self.arguments.queue, &settings, &finished);
                        new.iter_mut().for_each(|line| line.settings.clone_from(&wanted));
                        rows::append(path, &new)?;
                        all.extend(new);
                    }
                    Err(broken) => {
                        held = false;
                        let words = lines::bad(format!("{structure}, {processors} processors: {broken}"));
                        runs.aside(|| lines::line("checks", words));
                    }
                }
            }
        }
        Ok(held)
    }

    /// One run, or one for each task set, put together.
    fn run(&self, structure: &str, processors: usize, runs: &mut Runs) -> Result<Result<Finished, String>, Failure> {
        let Compare { events, queue, sets, .. } = self.arguments;
        let mut done = Vec::new();
        for set in 0..*sets {
            let settings = super::settings(events, self.load.map(|load| (load, set)), Mode::Performance, processors)?;
            match runs.run(structure, queue, &settings)? {
                Ok(finished) => done.push(finished),
                Err(broken) => {
                    runs.skip((*sets - set - 1) as usize);
                    return Ok(Err(broken));
                }
            }
        }
        Ok(tactus_rig::joined(done).ok_or_else(|| "no run".to_string()))
    }

    /// The settings of a run, and what a line must say of them to be of this comparison.
    fn settings(&self, processors: usize) -> Result<(Settings, String), Failure> {
        let load = self.load.map(|load| (load, 0));
        let settings = super::settings(&self.arguments.events, load, Mode::Performance, processors)?;
        let sets = self.load.map(|load| format!(", {} sets of utilisation {load} each", self.arguments.sets));
        let wanted = format!("{}{}", tactus_rig::other_settings(&settings), sets.unwrap_or_default());
        Ok((settings, wanted))
    }

    /// Whether a line was measured with these settings.
    fn same(&self, line: &Line, settings: &Settings, wanted: &str) -> bool {
        line.queue == self.arguments.queue
            && line.processors == settings.processors
            && line.cycles == settings.cycles
            && line.real_time == settings.real_time
            && line.seed == settings.seed
            && line.settings == wanted
    }

    /// Prints and draws what has been measured.
    fn show(&self, all: &[Line]) -> Result<(), Failure> {
        let Comparison { cores, structures, .. } = self;
        let mut chosen: Vec<&Line> = Vec::new();
        for processors in cores {
            let (settings, wanted) = self.settings(*processors)?;
            chosen.extend(all.iter().filter(|line| {
                line.processor.is_none() && structures.contains(&line.directory) && self.same(line, &settings, &wanted)
            }));
        }
        let part = self.load.map_or(String::new(), |load| format!("-load-{load}"));
        let periodic = self.load.map_or(String::new(), |load| format!(", periodic tasks, load {load}"));
        for operation in PLOTS {
            let name = operation.name();
            let row = |structure: &String| -> Vec<(usize, Boxes)> {
                let of = |line: &&&Line| line.directory == *structure && line.operation == name;
                chosen.iter().filter(of).filter_map(|line| Some((line.processors, line.durations?))).collect()
            };
            let rows: Vec<(&str, Vec<(usize, Boxes)>)> =
                structures.iter().map(|structure| (structure.as_str(), row(structure))).collect();
            let of = |row: &[(usize, Boxes)], n: usize| row.iter().find(|(m, _)| *m == n).map(|(_, boxes)| *boxes);
            let panel = Panel {
                title: String::new(),
                groups: cores.iter().map(ToString::to_string).collect(),
                boxes: rows.iter().map(|(_, row)| cores.iter().map(|n| of(row, *n)).collect()).collect(),
            };
            let page = Page {
                title: format!("{name} – {}{periodic}", plots::words(operation)),
                x_name: "processors",
                names: structures.clone(),
                panels: vec![panel],
            };
            page.write(&self.arguments.out.join(format!("{name}{part}.svg")))?;
            let heads: Vec<String> = cores.iter().map(|n| format!("{n}: 25 % / median / 75 % / 99 %")).collect();
            let mut head = vec![name];
            head.extend(heads.iter().map(String::as_str));
            let cell = |boxes: &Boxes| format!("{} / {} / {} / {}", boxes.p25, boxes.median, boxes.p75, boxes.p99);
            let cells: Vec<Vec<String>> = rows
                .iter()
                .map(|(structure, row)| {
                    let cells = cores.iter().map(|n| of(row, *n).map_or("–".to_string(), |boxes| cell(&boxes)));
                    std::iter::once((*structure).to_string()).chain(cells).collect()
                })
                .collect();
            lines::put(&lines::table(&head, &cells));
            lines::put("\n");
        }
        let runs: Vec<&Line> = chosen.into_iter().filter(|line| line.operation == "empty").collect();
        events(&runs);
        notes(&runs);
        Ok(())
    }
}

/// How many lines a run gives: one for each operation on each processor, and one for all.
fn rows_of_a_run(processors: usize) -> usize {
    tactus_rig::Operation::ALL.len() * (processors + 1)
}

/// How much happened, from one line of each run.
fn events(runs: &[&Line]) {
    let seconds: f64 = runs.iter().map(|line| line.seconds * line.processors as f64).sum();
    let sum = |count: fn(&Line) -> u64| runs.iter().map(|line| count(line)).sum::<u64>();
    lines::line(
        "events",
        format!(
            "{:.1} activations per processor and second, in all runs together; {} left out; {} moves",
            sum(|line| line.arrivals) as f64 / seconds,
            lines::grouped(sum(|line| line.refused)),
            lines::grouped(sum(|line| line.moved))
        ),
    );
}

/// What has to be known to read the figures, from one line of each run.
pub fn notes(runs: &[&Line]) {
    if let Some(empty) = runs.iter().find_map(|line| line.durations) {
        let median = empty.median;
        lines::line("empty", format!("a measurement itself takes {median} cycles (median), which are not taken off"));
    }
    let faults: u64 = runs.iter().map(|line| line.faults).sum();
    lines::line("faults", format!("{faults} page faults while measured, in all runs together"));
    let urgent = runs.iter().filter(|line| line.real_time_class).count();
    lines::line("class", format!("{urgent} of {} in the real-time class", lines::count(runs.len(), "run")));
    let apart: BTreeSet<String> = runs
        .iter()
        .filter(|line| line.processors > 1 && line.together < 0.5)
        .map(|line| format!("{} on {}", line.directory, line.processors))
        .collect();
    if !apart.is_empty() {
        let list: Vec<String> = apart.into_iter().collect();
        lines::line(
            "note",
            lines::bad(format!(
                "processors were at work at the same time for less than half of the run: {}",
                list.join(", ")
            )),
        );
    }
    if runs.iter().any(|line| !line.bound) {
        lines::line(
            "note",
            lines::bad(
                "some runs had more processors than cores: no more of them act at the same time than there are cores",
            ),
        );
    }
}
