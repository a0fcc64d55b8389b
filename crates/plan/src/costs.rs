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

use serde::Deserialize;
use std::fmt;
use std::path::Path;
use tactus_model::{parse_duration, read_ordinary_text, Costs, Processor, Schedulers, Server, System};
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

/// What was measured on the processor's emulated machine, in instructions, by number of cores.
fn table(processor: Processor) -> &'static str {
    match processor {
        Processor::X86 => include_str!("../costs/emulated-pc.toml"),
        Processor::Arm => include_str!("../costs/emulated-aarch64.toml"),
    }
}

/// By how many instructions an entry of the scheduler or the way out of it is longer at most where a component has floating point: half as much
/// again as was seen.
const FLOATING_POINT: u64 = 300;

/// What the scheduler's entry takes in which the tasks of a program are handed over, and each task of them (instructions): half as much again
/// as was seen with 1 to 32 tasks on one core (`docs/measured/slots.md`).
const HAND_OVER: u64 = 2_600;
const HANDED_TASK: u64 = 1_600;

/// What a look at an end of a mailbox and its record add to an entry (instructions): estimated, not measured; the judge holds each entry
/// to what was charged.
const MAILBOX_END: u64 = 300;

/// A file of costs has a handful of lines.
const MAX_FILE: u64 = 1 << 20;

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

/// Why costs could not be had.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CostsError {
    /// The file cannot be read.
    Unreadable {
        /// As it was named.
        named: String,
        /// What the operating system said.
        reason: String,
    },
    /// The file is not a file of costs.
    Wrong {
        /// As it was named.
        named: String,
        /// What is wrong with it.
        reason: String,
    },
    /// Nothing was measured for a system of this size.
    NotMeasured {
        /// Its size.
        reason: String,
    },
}

impl fmt::Display for CostsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CostsError::Unreadable { named, reason } => {
                write!(f, "costs {named}: {reason}; give `none`, `measured` or a file of costs")
            }
            CostsError::Wrong { named, reason } => write!(f, "{named}: {reason}"),
            CostsError::NotMeasured { reason } => f.write_str(reason),
        }
    }
}

impl std::error::Error for CostsError {}

/// What the system's own work costs in one run: check, budgets, simulator and judge have it from this value.
#[derive(Clone, Copy, Debug)]
pub struct CostModel {
    /// What budgets hold, and what bounds count unless the file leaves it out.
    pub counted: Costs,
    /// What it takes in the run; on a machine that is for the machine to say, and not zero.
    pub taken: Costs,
}

/// A run on a machine with these costs.
impl From<&Costs> for CostModel {
    fn from(costs: &Costs) -> CostModel {
        CostModel { counted: *costs, taken: *costs }
    }
}

impl CostModel {
    /// A simulation with the costs of this name. Its budgets are those of the run on the machine, whose jobs are charged for the
    /// system's work, also where the simulation takes none: else its schedule would be that of another system.
    ///
    /// # Errors
    /// As for [`named`].
    pub fn of_simulation(costs: &str, system: &System) -> Result<CostModel, CostsError> {
        let taken = named(costs, system)?;
        let counted = if costs == "none" { named("measured", system)? } else { taken };
        Ok(CostModel { counted, taken })
    }

    /// Whether the system's own work takes time in the run that no bound counts.
    pub(crate) fn leaves_out(&self, system: &System) -> bool {
        !system.machine.overheads && self.taken != Costs::default()
    }
}

/// The costs of this name: `none`, `measured`, or a file; of this system, whose entries may go through several schedulers.
///
/// # Errors
/// If the file cannot be read or is wrong, or the system is larger than any that was measured.
pub fn named(named: &str, system: &System) -> Result<Costs, CostsError> {
    of_one_scheduler(named, system).map(|costs| per_server(costs, system))
}

/// Where each server has a scheduler of its own, an entry may go through one after another: from the one whose job ends up to
/// the root, and down to the one whose job begins.
fn per_server(costs: Costs, system: &System) -> Costs {
    if system.scheduling.schedulers == Schedulers::Single {
        return costs;
    }
    let servers = &system.scheduling.servers;
    let above = |server: &Server| std::iter::successors(Some(server), |it| it.parent.map(|up| &servers[up])).count();
    let turns = (1 + 2 * servers.iter().map(above).max().unwrap_or(0)) as u64;
    let Costs { release, schedule, switch, inter_core, complete } = costs;
    Costs {
        release: release * turns,
        schedule: schedule * turns,
        switch: switch * turns,
        inter_core,
        complete: complete * turns,
    }
}

fn of_one_scheduler(named: &str, system: &System) -> Result<Costs, CostsError> {
    match named {
        "none" => Ok(Costs::default()),
        "measured" => {
            let floating = system.components.iter().any(|component| component.rights.floating_point);
            measured(
                system.machine.processor,
                (system.sharing_cores(), system.tasks.len()),
                floating,
                system.machine.shift,
            )
            .map(|costs| with_mailboxes(system, crate::monitors::with_monitors(system, costs)))
            .map(|costs| with_slots(system, costs))
            .map_err(|reason| CostsError::NotMeasured { reason })
        }
        _ => {
            let text = read_ordinary_text(Path::new(named), MAX_FILE)
                .map_err(|reason| CostsError::Unreadable { named: named.to_string(), reason })?;
            parse(&text).map_err(|reason| CostsError::Wrong { named: named.to_string(), reason })
        }
    }
}

/// After each decision the scheduler looks at the ends of mailboxes. On the emulated machine other cores have turns meanwhile.
fn with_mailboxes(system: &System, costs: Costs) -> Costs {
    let ends = system.mailboxes.len() as u64;
    let longer = ends * MAILBOX_END * system.sharing_cores() as u64;
    let schedule = costs.schedule + Duration::from_nanos(longer << system.machine.shift.min(6));
    Costs { schedule, ..costs }
}

/// An entry may be the one that hands a program's tasks over. On several cores others have turns meanwhile, as in any entry.
fn with_slots(system: &System, costs: Costs) -> Costs {
    let Some(tasks) = system.slots.iter().map(|slot| slot.tasks.len() as u64).max() else { return costs };
    let length = |instructions: u64| Duration::from_nanos(instructions << system.machine.shift.min(6));
    let schedule = match system.cores {
        1 => costs.schedule.max(length(HAND_OVER + HANDED_TASK * tasks)),
        _ => costs.schedule + length(HANDED_TASK * tasks),
    };
    Costs { schedule, ..costs }
}

/// What the system's own work costs on the emulated machine: instructions, which take as long as the machine says. The
/// emulator's cores take turns, so that every cost grows with their number; a decision grows with the tasks that are
/// released at once. `floating`: a component has floating point.
fn measured(processor: Processor, (cores, tasks): (usize, usize), floating: bool, shift: u8) -> Result<Costs, String> {
    let file: MeasuredFile = toml::from_str(table(processor)).map_err(|error| error.to_string())?;
    let enough = file.machine.iter().filter(|line| line.cores >= cores && line.tasks >= tasks);
    let line = enough.min_by_key(|line| (line.cores, line.tasks));
    let line = line.ok_or_else(|| {
        let name = processor.name();
        format!("no costs were measured on {name} with {cores} cores and {tasks} tasks; give others with --costs FILE")
    })?;
    let more = if floating { FLOATING_POINT } else { 0 };
    let length = |instructions: u64| Duration::from_nanos(instructions << shift.min(6));
    Ok(Costs {
        release: length(line.release + more),
        schedule: length(line.schedule),
        switch: length(line.switch + more),
        inter_core: length(line.inter_core + more),
        complete: length(line.complete + more),
    })
}

/// Reads the text of a file of costs.
///
/// # Errors
/// What is wrong with it.
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
    fn the_file_of_the_book_is_read() {
        let page = include_str!("../../../docs/how-a-run-works.md");
        let block = page.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).expect("a block of TOML");
        assert_eq!(parse(block).expect("the page's file").complete, Duration::from_micros(2));
    }

    #[test]
    fn measured_costs_grow_with_the_length_of_an_instruction_and_the_size_of_the_system() {
        let at = |cores, tasks, shift| {
            measured(Processor::X86, (cores, tasks), false, shift).expect("the file that comes along")
        };
        assert_eq!(at(4, 24, 3).schedule, at(4, 24, 1).schedule * 4);
        for cores in 1..8 {
            assert!(at(cores, 24, 1).schedule <= at(cores + 1, 24, 1).schedule, "{cores} cores");
        }
        assert!(at(4, 10, 1).schedule <= at(4, 240, 1).schedule);
    }

    #[test]
    fn costs_of_another_processor_are_its_own_and_reach_as_far_as_it_was_measured() {
        let at = |processor, cores| measured(processor, (cores, 12), false, 1);
        assert_ne!(at(Processor::Arm, 1), at(Processor::X86, 1));
        assert_eq!(at(Processor::Arm, 1).map(|it| it.inter_core), Ok(Duration::ZERO));
        assert!(at(Processor::Arm, 2).is_err_and(|why| why.contains("on aarch64 with 2 cores")));
    }

    #[test]
    fn a_cost_that_is_missing_unknown_or_no_length_is_named() {
        let told = |text: &str| parse(text).expect_err("a bad file");
        assert!(told(&GOOD.replace("switch", "swich")).contains("swich"));
        assert!(told(&GOOD.replace("release = '4 us'\n", "")).contains("release"));
        assert!(told(&GOOD.replace("'5 us'", "'5'")).contains("inter_core"));
    }
}
