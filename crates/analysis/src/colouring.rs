//! Colours of memory for the tasks of a system file, chosen from what they cost: how many of those that nobody has each task gets.
//!
//! A job that resumes loads its task's memory again, from the shared cache where the task's own colours hold it all, else from memory
//! ([`crate::inflation::working_sets`]). Colours in a row are also parts of a second level; where enough of them hold it all there, so that
//! what a preemption costs has a bound, no fewer count as holding it. So a task's utilisation is a step function of its colours;
//! [`tactus_cache::choose`] finds the numbers with the least sum.

use core::fmt;
use tactus_cache::blocks::{CacheBlocks, Capacity};
use tactus_cache::bounds::ReloadFrom;
use tactus_cache::choose::{choose, Decided};
use tactus_cache::Colours;
use tactus_model::{Body, System};

/// Colours for some of the tasks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Colouring {
    /// For each task of the file its own colours; none where it keeps what it has.
    pub tasks: Vec<Vec<u8>>,
    /// How many are left for the kernel, the scheduler and whatever names none.
    pub rest: usize,
    /// Whether their sum of utilisations is the least; otherwise all get the same.
    pub least: bool,
}

/// Why no colours are chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ColouringError {
    /// The file names no caches.
    NoCaches,
    /// The machine's memory has one colour.
    OneColour,
    /// Every task has colours, or no memory that is known.
    NoTask,
    /// There are fewer free colours than tasks that want some.
    TooFew {
        /// Those that may be given out.
        free: usize,
        /// Tasks that want some.
        tasks: usize,
    },
}

impl fmt::Display for ColouringError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ColouringError::NoCaches => {
                f.write_str("the file names no caches; add a line like geometry = \"i7-2600\" under [machine]")
            }
            ColouringError::OneColour => {
                f.write_str("memory has one colour; write colours = \"from geometry\" under [machine]")
            }
            ColouringError::NoTask => {
                f.write_str("no task of the built-in workload has memory and names no colours; write memory = \"128 KiB\" at one")
            }
            ColouringError::TooFew { free, tasks } => write!(
                f,
                "{tasks} tasks want colours of their own, and {free} can be given out, one being left for the scheduler; write more colours under [machine], or give tasks that share a colour one by hand"
            ),
        }
    }
}

impl core::error::Error for ColouringError {}

/// Chooses colours for each task of the built-in workload that has memory and names none, from those that nobody names. One is left for
/// whatever names none, and so is what brings nothing.
///
/// # Errors
/// Where the file has no caches or colours, nobody wants any, or there are too few.
pub fn colouring(system: &System) -> Result<Colouring, ColouringError> {
    let platform = &system.platform;
    let geometry = &platform.caches.as_ref().ok_or(ColouringError::NoCaches)?.geometry;
    let count = platform.colours;
    let colours = Colours::new(geometry, count.into()).ok().filter(|_| count > 1).ok_or(ColouringError::OneColour)?;
    let capacity = Capacity::of(geometry, &colours, 0);
    let wants = |number: &usize| {
        let task = &system.tasks[*number];
        let named =
            platform.colour_assignment.as_ref().is_some_and(|assigned| assigned.tasks[*number] != assigned.rest);
        task.body == Body::Workload && task.memory > 0 && !named
    };
    let wanting: Vec<usize> = (0..system.tasks.len()).filter(wants).collect();
    let nobodys: Vec<u8> = (0..count as u8)
        .filter(|at| platform.colour_assignment.as_ref().is_none_or(|assigned| assigned.rest >> at & 1 == 1))
        .collect();
    let free = nobodys.len().saturating_sub(1);
    if wanting.is_empty() {
        return Err(ColouringError::NoTask);
    }
    let takes = |number: usize, many: usize| {
        let task = &system.tasks[number];
        let lines = task.memory.div_ceil(geometry.line());
        let row = |many: u32| CacheBlocks { lines, colours: u64::MAX >> (64 - many) };
        let bounded = |many: u32| capacity.again(row(many)).is_ok();
        let held = match (1..=count).any(bounded) {
            true => bounded(many as u32),
            false => capacity.holds(row(many as u32)),
        };
        let from = if held { ReloadFrom::Shared } else { ReloadFrom::Memory };
        let cycles = u128::from(geometry.reload(lines, from));
        let reload = (cycles * 1_000_000_000).div_ceil(u128::from(geometry.clock.max(1)));
        let longest = task.execution.iter().flatten().max().map_or(0, |time| time.as_nanos());
        let millionths = (u128::from(longest) + reload) * 1_000_000 / u128::from(task.period.as_nanos().max(1));
        u64::try_from(millionths).unwrap_or(u64::MAX)
    };
    let curves: Vec<Vec<u64>> =
        wanting.iter().map(|task| (1..=free.max(1)).map(|many| takes(*task, many)).collect()).collect();
    let too_few = |_| ColouringError::TooFew { free, tasks: wanting.len() };
    let choice = choose(&curves, free, 1_000_000).map_err(too_few)?;
    let mut left = nobodys.into_iter();
    let mut tasks = vec![Vec::new(); system.tasks.len()];
    for (task, many) in wanting.iter().zip(&choice.colours) {
        tasks[*task] = left.by_ref().take(*many).collect();
    }
    Ok(Colouring { tasks, rest: left.count(), least: choice.decided == Decided::Least })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inflation::working_sets::longest_delay;

    /// A system with 16 colours of 512 KiB, whose tasks have so much memory.
    fn system(memory: &[&str], more: &str) -> System {
        let head = "[system]\nname = \"x\"\ncores = 1\nduration = \"1 s\"\n[policy]\nkind = \"partitioned-edf\"\n";
        let tasks = memory.iter().enumerate().map(|(n, bytes)| {
            format!(
                "[[task]]\nname = \"t{n}\"\ncore = 0\nperiod = \"100 ms\"\nexecution = \"1 ms\"\nmemory = \"{bytes}\"\n"
            )
        });
        let text = format!("{head}{more}{}", tasks.collect::<String>());
        System::parse_toml(&text, std::path::Path::new("x.toml"))
            .unwrap_or_else(|problems| panic!("{problems}\n{text}"))
    }

    const MACHINE: &str = "[machine]\ngeometry = \"i7-2600\"\ncolours = 16\n";

    #[test]
    fn each_task_gets_the_colours_that_hold_its_memory_and_not_one_more() {
        let chosen = colouring(&system(&["512 KiB", "1 MiB", "1536 KiB"], MACHINE)).expect("chosen");
        let counts: Vec<usize> = chosen.tasks.iter().map(Vec::len).collect();
        assert_eq!((counts, chosen.rest, chosen.least), (vec![1, 2, 3], 10, true));
        let all: std::collections::BTreeSet<u8> = chosen.tasks.iter().flatten().copied().collect();
        assert_eq!(all.len(), 6, "nobody shares: {chosen:?}");
    }

    #[test]
    fn where_not_all_fit_those_go_first_that_save_most() {
        // Fifteen may be given out; each wants eight, and the longest reload is the last one's.
        let chosen = colouring(&system(&["3700 KiB", "3800 KiB", "4096 KiB"], MACHINE)).expect("chosen");
        let counts: Vec<usize> = chosen.tasks.iter().map(Vec::len).collect();
        assert_eq!(counts, [1, 1, 8]);
    }

    #[test]
    fn what_is_chosen_lets_the_check_count_less() {
        let before = system(&["64 KiB", "256 KiB"], MACHINE);
        let chosen = colouring(&before).expect("chosen");
        let mut text = String::from(
            "[system]\nname = \"x\"\ncores = 1\nduration = \"1 s\"\n[policy]\nkind = \"partitioned-edf\"\n",
        );
        text += MACHINE;
        for (n, (bytes, colours)) in ["64 KiB", "256 KiB"].iter().zip(&chosen.tasks).enumerate() {
            text += &format!(
                "[[task]]\nname = \"t{n}\"\ncore = 0\nperiod = \"100 ms\"\nexecution = \"1 ms\"\nmemory = \"{bytes}\"\ncolours = {colours:?}\n"
            );
        }
        let after =
            System::parse_toml(&text, std::path::Path::new("x.toml")).unwrap_or_else(|problems| panic!("{problems}"));
        assert_eq!([chosen.tasks[0].len(), chosen.tasks[1].len()], [2, 8], "what the second level needs");
        let [before, after] = [before, after].map(|system| longest_delay(&system).expect("caches").as_nanos());
        // Once from memory less, 200 cycles; nine times from the shared cache, 31, since the second level is full of it.
        assert_eq!(before * 9 * 31 / (9 * 31 + 200), after);
    }

    #[test]
    fn what_cannot_be_chosen_is_told() {
        let none = "[machine]\ncolours = 16\n";
        assert_eq!(colouring(&system(&["1 MiB"], none)), Err(ColouringError::NoCaches));
        let one = "[machine]\ngeometry = \"i7-2600\"\n";
        assert_eq!(colouring(&system(&["1 MiB"], one)), Err(ColouringError::OneColour));
        assert_eq!(colouring(&system(&["0 B"], MACHINE)), Err(ColouringError::NoTask));
        let two = "[machine]\ngeometry = \"i7-2600\"\ncolours = 2\n";
        let few = colouring(&system(&["1 MiB", "1 MiB"], two)).expect_err("two tasks, one colour");
        assert_eq!(few, ColouringError::TooFew { free: 1, tasks: 2 });
        assert!(few.to_string().contains("write more colours under [machine]"), "{few}");
    }
}
