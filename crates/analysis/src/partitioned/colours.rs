//! Partitioning by page colours: tasks that share data go to one core together.
//!
//! Gracioli, "Real-Time Operating System Support for Multicore Applications" (2014), chapter 7 (CAP) and 8 (CAP-GS). Two tasks share
//! where their colours meet; sharing is transitive. A colour holds only so much memory (Kim, Kandhalu and Rajkumar, 2013):
//! of each task its memory divided by its colours. [`place`] alone, without groups, is the source's WFD and BFD.

use super::assign::{place, Unplaced};
use super::packing::{Fit, Order};
use std::fmt;
use tactus_cache::{Colour, ColourSet};

/// What a task is promised.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Class {
    /// Every deadline.
    Hard,
    /// Bounded tardiness.
    Soft,
    /// Nothing; its utilisation counts as 0.
    BestEffort,
}

/// A task as partitioning sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ColouredTask {
    /// Execution time by period in millionths, overheads included.
    pub utilisation: u64,
    /// Bytes that it needs.
    pub memory: u64,
    /// The colours in which they lie.
    pub colours: ColourSet,
    /// What it is promised.
    pub class: Class,
}

impl ColouredTask {
    fn size(&self) -> u64 {
        if self.class == Class::BestEffort {
            0
        } else {
            self.utilisation
        }
    }
}

/// The memory that there is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ColouredMemory {
    /// Colours.
    pub colours: u16,
    /// Bytes of all together.
    pub bytes: u64,
}

/// Why a set cannot be partitioned.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NotPartitioned {
    /// A task names a colour that does not exist, or none at all.
    Colours {
        /// Which task.
        task: usize,
        /// How many colours there are.
        colours: u16,
    },
    /// The tasks need more memory than there is.
    Memory {
        /// Bytes needed.
        needed: u64,
        /// Bytes there.
        bytes: u64,
    },
    /// The tasks of a group fit on no core together.
    Group {
        /// The tasks.
        tasks: Vec<usize>,
        /// Sum of their utilisations in millionths.
        utilisation: u64,
        /// What a core takes.
        capacity: u64,
    },
    /// A colour would have to hold too much.
    Full {
        /// Which colour.
        colour: Colour,
        /// Bytes that lie in it.
        needed: u64,
        /// Bytes that it has.
        bytes: u64,
    },
    /// A hard task shares a colour (CAP-GS).
    HardShares {
        /// Which task.
        task: usize,
        /// With whom.
        with: usize,
    },
    /// No core has room for these tasks.
    NoCore(Vec<usize>),
}

fn list(tasks: &[usize]) -> String {
    tasks.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")
}

impl fmt::Display for NotPartitioned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotPartitioned::Colours { task, colours } => {
                write!(f, "task {task} needs one or more of the colours 0 to {}: name those", colours.saturating_sub(1))
            }
            NotPartitioned::Memory { needed, bytes } => {
                write!(f, "the tasks need {needed} bytes of {bytes}: give them less or the machine more")
            }
            NotPartitioned::Group { tasks, utilisation, capacity } => write!(
                f,
                "the tasks {} share data and have utilisation {} together, a core takes {}: share less, or split them with CAP-GS",
                list(tasks),
                *utilisation as f64 / 1e6,
                *capacity as f64 / 1e6
            ),
            NotPartitioned::Full { colour, needed, bytes } => write!(
                f,
                "colour {} would hold {needed} bytes and has {bytes}: give its tasks more colours",
                colour.0
            ),
            NotPartitioned::HardShares { task, with } => {
                write!(f, "task {task} is hard and shares a colour with task {with}: give it colours of its own")
            }
            NotPartitioned::NoCore(tasks) => write!(f, "no core has room for the tasks {}: add a core", list(tasks)),
        }
    }
}

impl std::error::Error for NotPartitioned {}

/// The groups of tasks that share, transitively: connected components, each in rising order.
pub fn groups(tasks: &[ColouredTask]) -> Vec<Vec<usize>> {
    let mut groups: Vec<(ColourSet, Vec<usize>)> = Vec::new();
    for (task, of) in tasks.iter().enumerate() {
        let (sharing, others): (Vec<_>, Vec<_>) =
            groups.into_iter().partition(|(colours, _)| colours.meets(of.colours));
        let mut all = (of.colours, vec![task]);
        for (colours, members) in sharing {
            all = (all.0.union(colours), [all.1, members].concat());
        }
        all.1.sort_unstable();
        groups = others;
        groups.push(all);
    }
    groups.sort_by_key(|(_, members)| members[0]);
    groups.into_iter().map(|(_, members)| members).collect()
}

/// The bound on each colour's memory, in millionths of bytes so that thirds count in full.
fn memory_fits(tasks: &[ColouredTask], memory: &ColouredMemory) -> Result<(), NotPartitioned> {
    let colours = memory.colours.min(ColourSet::MOST);
    let all = ColourSet::of(&(0..colours).collect::<Vec<_>>()).unwrap_or_default();
    for (task, of) in tasks.iter().enumerate() {
        if of.colours.is_empty() || of.colours.union(all) != all {
            return Err(NotPartitioned::Colours { task, colours: memory.colours });
        }
    }
    let needed = tasks.iter().map(|τ| τ.memory).sum();
    if needed > memory.bytes {
        return Err(NotPartitioned::Memory { needed, bytes: memory.bytes });
    }
    let bytes = memory.bytes / u64::from(memory.colours.max(1));
    for colour in all.iter() {
        let one = ColourSet::of(&[colour.0]).unwrap_or_default();
        let inside = tasks.iter().filter(|τ| τ.colours.meets(one));
        let parts: u128 = inside.map(|τ| u128::from(τ.memory) * 1_000_000 / u128::from(τ.colours.len())).sum();
        if parts > u128::from(bytes) * 1_000_000 {
            return Err(NotPartitioned::Full { colour, needed: parts.div_ceil(1_000_000) as u64, bytes });
        }
    }
    Ok(())
}

fn sum(tasks: &[ColouredTask], members: &[usize]) -> u64 {
    members.iter().map(|&task| tasks[task].size()).sum()
}

/// CAP: the core of every task, where tasks that share are on one core.
///
/// # Errors
/// Where a group exceeds a core or a colour, or packing fails.
pub fn cap(
    tasks: &[ColouredTask],
    memory: &ColouredMemory,
    cores: usize,
    capacity: u64,
    fit: Fit,
) -> Result<Vec<usize>, NotPartitioned> {
    memory_fits(tasks, memory)?;
    let groups = groups(tasks);
    let sizes: Vec<u64> = groups.iter().map(|group| sum(tasks, group)).collect();
    if let Some(at) = sizes.iter().position(|size| *size > capacity) {
        return Err(NotPartitioned::Group { tasks: groups[at].clone(), utilisation: sizes[at], capacity });
    }
    let fits = |bin: &[usize]| bin.iter().map(|&group| sizes[group]).sum::<u64>() <= capacity;
    let placed = place(&sizes, &[], cores, fit, Order::Decreasing, fits)
        .map_err(|Unplaced(group)| NotPartitioned::NoCore(groups[group].clone()))?;
    let mut core_of = vec![0; tasks.len()];
    for (group, core) in groups.iter().zip(placed) {
        group.iter().for_each(|&task| core_of[task] = core);
    }
    Ok(core_of)
}

/// Where CAP-GS puts soft tasks.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SoftCores {
    /// On any core with room, as the source's algorithm says.
    Any,
    /// On cores without hard tasks, as the source's example has it.
    WithoutHard,
}

/// CAP-GS: hard tasks first, alone in their colours, packed tightly (first fit, decreasing); then groups of soft and
/// best-effort tasks (best fit), which lose their smallest task, the last of equals, until they fit.
///
/// # Errors
/// Where a hard task shares, a colour would hold too much, or a single task finds no core.
pub fn cap_gs(
    tasks: &[ColouredTask],
    memory: &ColouredMemory,
    cores: usize,
    capacity: u64,
    soft: SoftCores,
) -> Result<Vec<usize>, NotPartitioned> {
    memory_fits(tasks, memory)?;
    let mut groups = groups(tasks);
    groups.sort_by_key(|group| std::cmp::Reverse(sum(tasks, group)));
    let is_hard = |group: &[usize]| group.iter().find(|&&task| tasks[task].class == Class::Hard).copied();
    let mut loads = vec![0u64; cores];
    let mut core_of = vec![0; tasks.len()];
    for group in &groups {
        let Some(task) = is_hard(group) else { continue };
        if let Some(&with) = group.iter().find(|&&other| other != task) {
            return Err(NotPartitioned::HardShares { task, with });
        }
        let size = sum(tasks, group);
        let core = (0..cores).find(|&core| loads[core] + size <= capacity);
        let core = core.ok_or_else(|| NotPartitioned::NoCore(group.clone()))?;
        loads[core] += size;
        core_of[task] = core;
    }
    let hard_cores: Vec<bool> = loads.iter().map(|load| soft == SoftCores::WithoutHard && *load > 0).collect();
    groups.retain(|group| is_hard(group).is_none());
    let mut at = 0;
    while at < groups.len() {
        let size = sum(tasks, &groups[at]);
        let open = (0..cores).filter(|&core| !hard_cores[core] && loads[core] + size <= capacity);
        // The first of those with the least room: `min_by_key` takes the first of equals.
        if let Some(core) = open.min_by_key(|&core| std::cmp::Reverse(loads[core])) {
            loads[core] += size;
            groups[at].iter().for_each(|&task| core_of[task] = core);
            at += 1;
            continue;
        }
        let group = &mut groups[at];
        let smallest = (0..group.len()).rev().min_by_key(|&member| tasks[group[member]].size());
        match smallest {
            Some(member) if group.len() > 1 => {
                let split = group.remove(member);
                groups.push(vec![split]);
            }
            _ => return Err(NotPartitioned::NoCore(group.clone())),
        }
    }
    Ok(core_of)
}
