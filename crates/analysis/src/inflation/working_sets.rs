//! What each task of a system has in the caches that its file names, what preemptions and other cores can take of it, and what that costs.
//!
//! A task has the lines of its `memory`, within its colours ([`tactus_cache::blocks`]). Kernel and scheduler have any number of lines in
//! theirs.
//!
//! **Other cores.** They drive out nothing of a task that has no colour in common with what runs there, the kernel and the scheduler among
//! it. Then memory is all that is shared: each line that a job loads waits for at most one line of each other core and the one that it drives
//! out (and the next one, with a prefetcher). If the shared cache has room for the task's memory in its colours, a job asks for each line once,
//! and again after others of its own core displaced it. Else nobody knows how often, and there is no bound ([`OtherCores::Unbounded`]).
//!
//! **Preemptions** cost a known number of loads where each level below the first has room for all lines of a task
//! ([`tactus_cache::room`]). What they cost another one may last as long as its job, and has no bound ([`WorkingSets::lasts`]).

use crate::uniprocessor::preemption_delay::PreemptionDelays;
use std::fmt;
use tactus_cache::blocks::{CacheBlocks, Capacity};
use tactus_cache::room::Lasts;
use tactus_cache::{Colours, Geometry};
use tactus_model::{every_colour, Body, Migration, Policy, System};
use tactus_time::Duration;

/// What the tasks of a system have in the caches that its file names.
#[derive(Clone, Debug)]
pub struct WorkingSets<'s> {
    geometry: &'s Geometry,
    capacity: Capacity<'s>,
    count: u64,
    /// Of each task.
    blocks: Vec<CacheBlocks>,
    /// Of kernel and scheduler.
    entry: CacheBlocks,
    /// Whether jobs move between cores.
    migrate: bool,
    /// Cycles for which a line from memory waits for other cores.
    wait: u64,
    /// What they do to each task.
    others: Vec<OtherCores>,
}

/// What the other cores do to a task.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum OtherCores {
    /// Each job takes so much longer at most.
    Delay(Duration),
    /// More than is known.
    Unbounded(Unbounded),
}

/// Why what other cores do to a task has no bound.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Unbounded {
    /// It has a colour in common with what runs on another core.
    SharedColours(String),
    /// Its colours have no room for its memory.
    TooLarge {
        /// Bytes that they have.
        room: u64,
        /// Bytes that it has.
        memory: u64,
    },
    /// More cores than the geometry has: two of them share their private caches.
    SharedCore,
}

impl fmt::Display for Unbounded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unbounded::SharedColours(with) => write!(f, "it has colours in common with {with}; give it colours of its own"),
            Unbounded::TooLarge { room, memory } => write!(
                f,
                "the shared cache has {} KiB in its colours for its {} KiB, so nobody knows how often it asks memory; give it more colours",
                room >> 10,
                memory.div_ceil(1 << 10)
            ),
            Unbounded::SharedCore => f.write_str("the geometry has fewer cores than the system; lower cores, or name another geometry"),
        }
    }
}

impl<'s> WorkingSets<'s> {
    /// Of this system; nothing if its file names no caches.
    pub fn of(system: &'s System) -> Option<WorkingSets<'s>> {
        let geometry = &system.platform.caches.as_ref()?.geometry;
        let colours = Colours::new(geometry, system.platform.colours.into()).ok()?;
        let (every, assigned) = (every_colour(system.platform.colours), system.platform.colour_assignment.as_ref());
        let blocks: Vec<CacheBlocks> = (system.tasks.iter().enumerate())
            .map(|(n, task)| CacheBlocks {
                lines: task.memory.div_ceil(geometry.line()),
                colours: assigned.and_then(|it| it.tasks.get(n)).map_or(every, |own| *own),
            })
            .collect();
        let entry = CacheBlocks::all_of(assigned.map_or(every, |it| it.kernel | it.rest));
        let others = system.cores as u64 - 1;
        let wait = geometry.wait_for_others(others);
        // A line that comes again may drive out a changed one of its own core first, which memory then takes for others to wait for, too.
        let own = if others == 0 { 0 } else { u64::from(geometry.costs.busy) };
        let capacity = Capacity::of(geometry, &colours, wait + own);
        let count = u64::from(colours.count());
        let mut sets = WorkingSets {
            geometry,
            capacity,
            count,
            blocks,
            entry,
            migrate: migrate(system),
            wait,
            others: Vec::new(),
        };
        sets.others = (0..system.tasks.len()).map(|n| sets.beside(system, n, colours.bytes_each(geometry))).collect();
        Some(sets)
    }

    /// What other cores do to the task.
    fn beside(&self, system: &System, n: usize, each: u64) -> OtherCores {
        let own = self.blocks[n];
        if own.lines == 0 || system.cores == 1 {
            return OtherCores::Delay(Duration::ZERO);
        }
        if system.cores > self.geometry.cores {
            return OtherCores::Unbounded(Unbounded::SharedCore);
        }
        if let Some(with) = self.meets(system, n) {
            return OtherCores::Unbounded(Unbounded::SharedColours(with));
        }
        if !self.capacity.holds(own) {
            let room = each * u64::from(own.colours.count_ones());
            return OtherCores::Unbounded(Unbounded::TooLarge { room, memory: system.tasks[n].memory });
        }
        OtherCores::Delay(self.time(own.lines * self.wait))
    }

    /// Who runs on another core and has a colour of the task.
    fn meets(&self, system: &System, n: usize) -> Option<String> {
        let own = self.blocks[n].colours;
        if own & self.entry.colours != 0 {
            return Some("kernel and scheduler".into());
        }
        let task = &system.tasks[n];
        let apart = |other: usize| other != n && (task.core.is_none() || system.tasks[other].core != task.core);
        let meets = |other: &usize| apart(*other) && self.blocks[*other].colours & own != 0;
        if let Some(other) = (0..system.tasks.len()).find(meets) {
            return Some(format!("task `{}`", system.tasks[other].name));
        }
        let components = system.platform.colour_assignment.as_ref().map_or(&[][..], |it| &it.components);
        let mut others = components.iter().zip(&system.components).enumerate();
        let found = others.find(|(c, (colours, _))| task.body != Body::Component(*c) && *colours & own != 0)?;
        Some(format!("component `{}`", found.1 .1.name))
    }

    /// What other cores do to each task.
    pub fn other_cores(&self) -> &[OtherCores] {
        &self.others
    }

    /// The lines of a task's memory, and whether the shared cache has room for them in its colours.
    pub fn lines(&self, task: usize) -> (u64, bool) {
        (self.blocks[task].lines, self.capacity.holds(self.blocks[task]))
    }

    /// The longest that the task spends on loading its memory again, whoever displaced it: from the shared cache if nobody else has its
    /// colours, or from the core that it left; else from memory.
    ///
    /// # Errors
    /// Where that has no bound.
    fn whole(&self, task: usize) -> Result<Duration, Lasts> {
        let own = self.blocks[task];
        if own.lines == 0 {
            return Ok(Duration::ZERO);
        }
        let others = self.blocks.iter().enumerate().filter(|(n, _)| *n != task).map(|(_, it)| it.colours);
        let all = CacheBlocks::all_of(others.fold(self.entry.colours, |all, colours| all | colours));
        let cycles = match self.migrate {
            true => self.capacity.reload_elsewhere(own, all)?,
            false => self.capacity.reload(own, all)?,
        };
        Ok(self.time(cycles))
    }

    /// Why what a preemption or a move costs the task has no bound, and what to do.
    pub fn lasts(&self, task: usize) -> Option<String> {
        let again = "so what a preemption displaces may be lost again and again";
        Some(match self.whole(task).err()? {
            Lasts::Second { lines, ways, inclusive } => {
                let alike = self.geometry.second.map_or(1, |level| level.shape.page_colours(self.geometry.page));
                let room = (ways * self.geometry.page) >> 10;
                let each = if alike < self.count { format!(" that differ modulo {alike}") } else { String::new() };
                let without = if inclusive { "" } else { ", or name a geometry without l2, and execution times without it" };
                format!("a set of the second level has room for {ways} lines, not for its {lines}, {again}; give it at most {room} KiB for each of its colours{each}{without}")
            }
            Lasts::Shared { lines, ways } => {
                format!("a set of the shared cache has room for {ways} lines, not for its {lines}, {again}; give it more colours")
            }
            Lasts::Prefetcher => "the geometry has a prefetcher, of which nothing is proved; name one without next_line".into(),
            Lasts::Moved => "it moves, has more lines than the first level has room for, and the core that it left may answer for them again and again; \
                 bind it to a core"
                .into(),
        })
    }

    /// The longest that any task spends on loading its memory again, of those where that has a bound.
    pub fn longest(&self) -> Duration {
        (0..self.blocks.len()).filter_map(|task| self.whole(task).ok()).max().unwrap_or_default()
    }

    /// What a task loads again at most after an entry of the scheduler that goes on with it, where that has a bound.
    pub fn after_entry(&self, task: usize) -> Option<Duration> {
        self.after(task, CacheBlocks::default())
    }

    fn after(&self, task: usize, others: CacheBlocks) -> Option<Duration> {
        self.whole(task).ok()?;
        Some(self.time(self.capacity.reload(self.blocks[task], self.entry.union(others)).ok()?))
    }

    /// What a task loads again at most after all others that may run on its core, where that has a bound.
    pub fn after_all(&self, system: &System, task: usize) -> Option<Duration> {
        let core = |n: usize| system.tasks[n].core;
        let here = |n: &usize| *n != task && (core(task).is_none() || core(*n).is_none() || core(*n) == core(task));
        let others = (0..self.blocks.len()).filter(here);
        self.after(task, others.fold(CacheBlocks::default(), |all, n| all.union(self.blocks[n])))
    }

    /// For the tests of one core: `places` are its tasks, the most urgent first. A task of which [`WorkingSets::lasts`] tells loses nothing
    /// here: neither it nor what it delays is promised anything.
    pub fn delays(&self, places: &[usize]) -> PreemptionDelays {
        let up_to = |j: usize| places[..=j].iter().fold(CacheBlocks::default(), |all, &n| all.union(self.blocks[n]));
        let after = |k: usize, others| self.after(places[k], others).unwrap_or_default();
        PreemptionDelays::new(
            places.len(),
            |k, j| after(k, up_to(j)),
            |k, j| after(k, self.blocks[places[j]]),
            |j| self.time(self.capacity.displaced(self.entry.union(self.blocks[places[j]]))),
            |k| after(k, CacheBlocks::default()),
        )
    }

    fn time(&self, cycles: u64) -> Duration {
        let ns = (u128::from(cycles) * 1_000_000_000).div_ceil(u128::from(self.geometry.clock.max(1)));
        Duration::from_nanos(u64::try_from(ns).unwrap_or(u64::MAX))
    }
}

/// Whether a job may go on on another core than the one on which it began.
fn migrate(system: &System) -> bool {
    let shared = |spread: Migration| spread != Migration::Partitioned;
    let root = match system.policy {
        Policy::GlobalRm | Policy::GlobalEdf | Policy::Mc2 { .. } => true,
        Policy::Ordered { spread, .. } => shared(spread),
        Policy::PartitionedRm | Policy::PartitionedEdf | Policy::Mixed(_) | Policy::Partitions => false,
    };
    system.cores > 1 && (root || system.tasks.iter().any(|task| task.core.is_none()))
}

/// [`WorkingSets::longest`] of a system; nothing if its file names no caches.
pub fn longest_delay(system: &System) -> Option<Duration> {
    WorkingSets::of(system).map(|it| it.longest())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_reloads_from_the_shared_cache_what_its_own_colours_hold_and_else_from_memory() {
        let system = |colours: &str| {
            let text = format!(
                "[system]\nname = \"x\"\ncores = 1\nduration = \"1 s\"\n[policy]\nkind = \"partitioned-edf\"\n[machine]\n\
                 geometry = \"i7-2600\"\ncolours = 64\n[[task]]\nname = \"a\"\ncore = 0\nperiod = \"10 ms\"\nexecution = \"1 ms\"\n\
                 memory = \"256 KiB\"\n{colours}"
            );
            System::parse_toml(&text, std::path::Path::new("x.toml")).unwrap_or_else(|problems| panic!("{problems}"))
        };
        let delay = |colours: &str| longest_delay(&system(colours)).map(|it| it.as_nanos());
        let nanoseconds = |cycles: u64| Some((cycles * 1_000_000_000).div_ceil(3_400_000_000));
        // Eight colours are all of the second level: each set has eight of its lines, so that a changed line of others drops one that was
        // touched, and eight can come down. 4,096 lines of 31 cycles at 3.4 GHz, nine times; and once of 200, if others have the colours.
        let own = 4_096 * 31 * 9;
        assert_eq!(delay("colours = [1, 2, 3, 4, 5, 6, 7, 8]\n"), nanoseconds(own));
        let in_common = "colours = [1, 2, 3, 4, 5, 6, 7, 8]\n[kernel]\ncolours = [2, 3, 4, 5, 6, 7, 8, 9]\n";
        assert_eq!(delay(in_common), nanoseconds(own + 4_096 * 200));
        // What has no bound is not the longest.
        assert_eq!(delay("colours = [1, 2]\n"), Some(0));
        let why = |colours: &str| WorkingSets::of(&system(colours)).and_then(|sets| sets.lasts(0)).unwrap_or_default();
        assert_eq!(
            why("colours = [1, 2]\n"),
            "a set of the second level has room for 8 lines, not for its 32, so what a preemption displaces may be lost again and again; give \
             it at most 32 KiB for each of its colours that differ modulo 8, or name a geometry without l2, and execution times without it"
        );
        assert!(why("colours = [1, 9, 17, 25, 33, 41, 49, 57]\n").contains("its 64"));
        assert_eq!(why("colours = [1, 2, 3, 4, 5, 6, 7, 8]\n"), "");
    }
}
