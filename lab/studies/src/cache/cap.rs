//! Chapter 7: groups of tasks that share a colour, placed together (CAP with worst fit) or without regard to it (worst fit).
//!
//! Each task has an array of its own in the colour of its group: the source gives every task pages of its own ("8, 16, 32, 64").

use super::partitions::tasks;
use super::schedule::{run, Urgency};
use super::sets::{chapter_7, ordinary, Drawn};
use super::table::{Relation, Table};
use super::COLOURS;
use tactus_analysis::partitioned::colours::{cap, ColouredMemory, ColouredTask};
use tactus_analysis::partitioned::{place, Fit, Order};
use tactus_cache::ColourSet;

/// Deadlines missed of each set, in percent.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Cell {
    /// With CAP.
    pub cap: Vec<f64>,
    /// Without.
    pub plain: Vec<f64>,
    /// Jobs of all runs of one partitioner.
    pub jobs: u64,
    /// Seconds until all jobs were done: longest run with CAP, and without.
    pub seconds: (f64, f64),
}

pub(super) fn coloured(drawn: &[Drawn], bytes: u64) -> Vec<ColouredTask> {
    drawn
        .iter()
        .map(|task| ColouredTask {
            utilisation: task.utilisation,
            memory: if task.server { 512 << 10 } else { bytes },
            colours: ColourSet::of(&[task.group as u16 + 1]).unwrap_or_default(),
            class: task.class,
        })
        .collect()
}

/// Memory of the source's machine for this purpose: a gigabyte.
pub(super) const MEMORY: ColouredMemory = ColouredMemory { colours: COLOURS as u16, bytes: 1 << 30 };

/// One cell: `sets` sets, each `runs` times with other offsets; the longest period has `jobs` jobs.
///
/// # Panics
/// Where a set cannot be placed; sets are drawn so that they can.
pub fn cell(bytes: u64, write_every: u32, sets: u64, runs: u64, jobs: u32, coherence: u32) -> Cell {
    let mut table = Table::new(COLOURS, coherence);
    let load = ordinary(&mut table, bytes, write_every);
    // Calibrated while all other processors are busy in colours of their own.
    let alone = table.measured(load, Some((load, Relation::Nothing)), &[(load, Relation::Nothing); 6]).cycles;
    let mut cell = Cell::default();
    for set in 0..sets {
        let drawn = chapter_7(set + 1);
        let loads = vec![load; drawn.len()];
        let accesses: Vec<f64> = drawn.iter().map(|task| task.accesses(table.clock(), alone, super::BESIDE)).collect();
        let sizes: Vec<u64> = drawn.iter().map(|task| task.utilisation).collect();
        let fits = |bin: &[usize]| bin.iter().map(|&task| sizes[task]).sum::<u64>() <= 1_000_000;
        let together =
            cap(&coloured(&drawn, bytes), &MEMORY, 8, 1_000_000, Fit::Worst).expect("eight groups, eight cores");
        let plain = place(&sizes, &[], 8, Fit::Worst, Order::Decreasing, fits).expect("drawn so that it fits");
        let mut missed = |processors: &[usize], longest: &mut f64| {
            let (mut missed, mut all) = (0u64, 0u64);
            for seed in 0..runs {
                let place = |task: usize| (drawn[task].group, task, 1 << processors[task]);
                let tasks = tasks(&drawn, &loads, &accesses, place, jobs, 100 * set + seed);
                let run = run(&tasks, &mut table, Urgency::Edf, None);
                missed += run.tasks.iter().map(|task| u64::from(task.missed)).sum::<u64>();
                missed += tasks.iter().zip(&run.tasks).map(|(task, of)| u64::from(task.jobs - of.jobs)).sum::<u64>();
                all += tasks.iter().map(|task| u64::from(task.jobs)).sum::<u64>();
                *longest = longest.max(run.end / 1e9);
            }
            cell.jobs += all / 2;
            missed as f64 / all as f64 * 100.0
        };
        let of_cap = missed(&together, &mut cell.seconds.0);
        let of_plain = missed(&plain, &mut cell.seconds.1);
        cell.cap.push(of_cap);
        cell.plain.push(of_plain);
    }
    cell
}
