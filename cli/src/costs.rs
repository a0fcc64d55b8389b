//! Costs of the system's own work, as a file tells them.
//!
//! A file has these keys, each a length such as `"3.2 us"`, each an upper bound for one occurrence:
//!
//! ```toml
//! release = "4 us"        # from the time for which a timer was set to the scheduler's look at the clock
//! schedule = "6 us"       # a turn of the scheduler
//! switch = "2 us"         # from the decision to the job's first instruction
//! inter_core = "5 us"     # from sending an inter-core event to the receiving scheduler's look at the clock
//! complete = "2 us"       # from the end of a job to the scheduler's look at the clock
//! ```

use crate::failure::Failure;
use serde::Deserialize;
use std::path::Path;
use tactus_model::{parse_duration, Costs, System};
use tactus_time::Duration;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    release: String,
    schedule: String,
    switch: String,
    inter_core: String,
    complete: String,
}

/// What was measured on the emulated machine, in instructions, by number of cores.
const MEASURED: &str = include_str!("../costs/emulated-pc.toml");

/// One line of what was measured: instructions.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Measured {
    cores: usize,
    tasks: usize,
    release: u64,
    schedule: u64,
    switch: u64,
    inter_core: u64,
    complete: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MeasuredFile {
    machine: Vec<Measured>,
}

/// Systems are taken together up to these numbers of cores and tasks.
const CORES: [usize; 5] = [1, 2, 4, 6, 8];
/// See [`CORES`].
const TASKS: [usize; 5] = [12, 25, 50, 100, 240];

/// The longest costs seen over many runs, in instructions, by size of the system.
#[derive(Default)]
pub struct Seen([[Measured; TASKS.len()]; CORES.len()]);

impl Seen {
    /// Takes a run's costs in.
    pub fn add(&mut self, system: &System, costs: &Costs) {
        let cores = CORES.iter().position(|&most| system.cores <= most).unwrap_or(CORES.len() - 1);
        let tasks = TASKS.iter().position(|&most| system.tasks.len() <= most).unwrap_or(TASKS.len() - 1);
        let place = &mut self.0[cores][tasks];
        let grow = |most: &mut u64, seen: Duration| *most = (*most).max(seen.as_nanos() >> system.machine.shift);
        grow(&mut place.release, costs.release);
        grow(&mut place.schedule, costs.schedule);
        grow(&mut place.switch, costs.switch);
        grow(&mut place.inter_core, costs.inter_core);
        grow(&mut place.complete, costs.complete);
    }

    /// As a file: half as much again, and never less than for a smaller system.
    pub fn file(&self, systems: u64) -> String {
        let mut text = format!(
            "# The longest that each kind of the system's own work took on the emulated PC, in instructions, by size of the\n\
             # system (at most so many cores and tasks): seen over {systems} generated systems (`tactus agree --write-costs`), and\n\
             # half as much again, since the longest that was seen is not the longest that there is; never less than for a\n\
             # smaller system. One core tells no other.\n"
        );
        let mut rows = [[Measured::default(); TASKS.len()]; CORES.len()];
        for c in 0..CORES.len() {
            for t in 0..TASKS.len() {
                let smaller = [(c > 0).then(|| rows[c - 1][t]), (t > 0).then(|| rows[c][t - 1])];
                let here = self.0[c][t];
                let most = |field: fn(&Measured) -> u64| {
                    let least = smaller.iter().flatten().map(field).max().unwrap_or(0);
                    least.max((field(&here) * 3 / 2).next_multiple_of(100))
                };
                let row = Measured {
                    cores: CORES[c],
                    tasks: TASKS[t],
                    release: most(|m| m.release),
                    schedule: most(|m| m.schedule),
                    switch: most(|m| m.switch),
                    inter_core: most(|m| m.inter_core),
                    complete: most(|m| m.complete),
                };
                rows[c][t] = row;
                let Measured { cores, tasks, release, schedule, switch, inter_core, complete } = row;
                text += &format!(
                    "\n[[machine]]\ncores = {cores}\ntasks = {tasks}\nrelease = {release}\nschedule = {schedule}\n\
                     switch = {switch}\ninter_core = {inter_core}\ncomplete = {complete}\n"
                );
            }
        }
        text
    }
}

/// Reads what `--costs` names: `none`, `measured`, or a file.
pub fn read(named: &str, system: &System) -> Result<Costs, Failure> {
    match named {
        "none" => Ok(Costs::default()),
        "measured" => measured(system.cores, system.tasks.len(), system.machine.shift).map_err(Failure::Machine),
        _ => {
            let text = std::fs::read_to_string(Path::new(named)).map_err(|error| {
                Failure::Input(format!("--costs {named}: {error}; give `none`, `measured` or a file of costs"))
            })?;
            parse(&text).map_err(|why| Failure::Input(format!("{named}: {why}")))
        }
    }
}

/// What the system's own work costs on the emulated machine: instructions, which take as long as the machine says. The
/// emulator's cores take turns, so that every cost grows with their number; a decision grows with the tasks that are
/// released at once.
fn measured(cores: usize, tasks: usize, shift: u8) -> Result<Costs, String> {
    let file: MeasuredFile = toml::from_str(MEASURED).map_err(|error| error.to_string())?;
    let enough = file.machine.iter().filter(|line| line.cores >= cores && line.tasks >= tasks);
    let line = enough.min_by_key(|line| (line.cores, line.tasks));
    let line = line.ok_or_else(|| format!("no costs were measured with {cores} cores and {tasks} tasks"))?;
    let length = |instructions: u64| Duration::from_nanos(instructions << shift.min(6));
    Ok(Costs {
        release: length(line.release),
        schedule: length(line.schedule),
        switch: length(line.switch),
        inter_core: length(line.inter_core),
        complete: length(line.complete),
    })
}

/// Reads the text of a file of costs.
pub fn parse(text: &str) -> Result<Costs, String> {
    let file: File = toml::from_str(text).map_err(|error| error.to_string())?;
    let length = |key: &str, value: &str| -> Result<Duration, String> {
        parse_duration(value).map_err(|error| format!("{key} = {value:?}: {error}; write a length such as \"4 us\""))
    };
    Ok(Costs {
        release: length("release", &file.release)?,
        schedule: length("schedule", &file.schedule)?,
        switch: length("switch", &file.switch)?,
        inter_core: length("inter_core", &file.inter_core)?,
        complete: length("complete", &file.complete)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str =
        "release = '4 us'\nschedule = '6 us'\nswitch = '2 us'\ninter_core = '5 us'\ncomplete = '1500 ns'\n";

    #[test]
    fn a_file_of_costs_is_read_with_all_its_keys() {
        let costs = parse(GOOD).expect("a good file");
        assert_eq!(costs.release, Duration::from_micros(4));
        assert_eq!(costs.complete, Duration::from_nanos(1_500));
    }

    #[test]
    fn measured_costs_grow_with_the_length_of_an_instruction_and_the_size_of_the_system() {
        let at = |cores, tasks, shift| measured(cores, tasks, shift).expect("the file that comes along");
        assert_eq!(at(4, 24, 3).schedule, at(4, 24, 1).schedule * 4);
        for cores in 1..8 {
            assert!(at(cores, 24, 1).schedule <= at(cores + 1, 24, 1).schedule, "{cores} cores");
        }
        assert!(at(4, 10, 1).schedule <= at(4, 240, 1).schedule);
    }

    #[test]
    fn a_cost_that_is_missing_unknown_or_no_length_is_named() {
        let told = |text: &str| parse(text).expect_err("a bad file");
        assert!(told(&GOOD.replace("switch", "swich")).contains("swich"));
        assert!(told(&GOOD.replace("release = '4 us'\n", "")).contains("release"));
        assert!(told(&GOOD.replace("'5 us'", "'5'")).contains("inter_core"));
    }
}
