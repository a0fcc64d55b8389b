//! Chapter 8: hard, soft and best-effort tasks; CAP-GS with and without suppression of best-effort work, and best fit without colours.
//!
//! The tasks of a group work on one array, which is the beginning of the best-effort task's buffer: without data in common there would
//! be no event to count.

use super::cap::{coloured, MEMORY};
use super::partitions::tasks;
use super::schedule::{run, Throttle, Urgency};
use super::sets::{chapter_8, ordinary, sweep, CAPACITY};
use super::table::{Relation, Table};
use super::COLOURS;
use crate::disk::Draw;
use tactus_analysis::partitioned::colours::{cap_gs, Class, SoftCores};
use tactus_analysis::partitioned::{place, Fit, Order};

/// The source's: 10 ms, four events, 3.432 µs.
pub const THROTTLE: Throttle = Throttle { quantum: 10e6, threshold: 4.0, cost: 3_432.0 };

/// How tasks are placed and scheduled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scheme {
    /// CAP-GS, and best-effort tasks yield.
    Dynamic,
    /// CAP-GS.
    CapGs,
    /// Best fit, decreasing.
    BestFit,
}

/// The three schemes.
pub const SCHEMES: [Scheme; 3] = [Scheme::Dynamic, Scheme::CapGs, Scheme::BestFit];

/// What all runs of one scheme say.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Cell {
    /// Deadlines missed by hard tasks, in percent.
    pub hard: f64,
    /// By soft tasks.
    pub soft: f64,
    /// Longest response less deadline, summed over hard and soft tasks, mean over sets; milliseconds.
    pub tardiness: f64,
    /// Seconds until all jobs were done, mean.
    pub seconds: f64,
    /// The longest.
    pub longest: f64,
    /// Times that a best-effort task was sent away, mean of a run.
    pub yields: f64,
    /// Accesses of best-effort tasks in millions, mean of a run.
    pub best_effort: f64,
}

/// One cell: `sets` sets, each `runs` times with other offsets; the longest period has `jobs` jobs.
///
/// # Panics
/// Where a set cannot be placed; sets are drawn so that they can.
pub fn cell(scheme: Scheme, bytes: u64, write_every: u32, sets: u64, runs: u64, jobs: u32, coherence: u32) -> Cell {
    let mut table = Table::new(COLOURS, coherence);
    let (load, background) = (ordinary(&mut table, bytes, write_every), sweep(&mut table));
    let alone = table.measured(load, Some((load, Relation::Nothing)), &[(load, Relation::Nothing); 6]).cycles;
    let mut cell = Cell::default();
    let (mut missed, mut all) = ([0u64; 2], [0u64; 2]);
    for set in 0..sets {
        let drawn = chapter_8(set + 1);
        let of = |class| drawn.iter().enumerate().filter(move |(_, task)| task.class == class).map(|(at, _)| at);
        let sizes: Vec<u64> = drawn.iter().map(|task| task.utilisation).collect();
        let fits = |bin: &[usize]| bin.iter().map(|&task| sizes[task]).sum::<u64>() <= CAPACITY;
        let mut processors = match scheme {
            Scheme::BestFit => {
                place(&sizes, &[], 8, Fit::Best, Order::Decreasing, fits).expect("drawn so that it fits")
            }
            _ => cap_gs(&coloured(&drawn, bytes), &MEMORY, 8, CAPACITY, SoftCores::Any)
                .expect("groups are split until they fit"),
        };
        let mut draw = Draw::new(set + 1);
        for task in of(Class::BestEffort) {
            processors[task] = draw.below(8) as usize;
        }
        let loads: Vec<u8> = drawn.iter().map(|task| if task.server { background } else { load }).collect();
        let accesses: Vec<f64> = drawn.iter().map(|task| task.accesses(table.clock(), alone, super::BESIDE)).collect();
        let mut worst = vec![f64::MIN; drawn.len()];
        for seed in 0..runs {
            let place = |task: usize| (drawn[task].group, drawn[task].group, 1 << processors[task]);
            let tasks = tasks(&drawn, &loads, &accesses, place, jobs, 100 * set + seed);
            let throttle = (scheme == Scheme::Dynamic).then_some(THROTTLE);
            let run = run(&tasks, &mut table, Urgency::Bands, throttle);
            for (which, class) in [Class::Hard, Class::Soft].into_iter().enumerate() {
                for task in of(class) {
                    let outcome = &run.tasks[task];
                    missed[which] += u64::from(outcome.missed + tasks[task].jobs - outcome.jobs);
                    all[which] += u64::from(tasks[task].jobs);
                    worst[task] = worst[task].max(outcome.response - tasks[task].period);
                }
            }
            let share = 1.0 / (sets * runs) as f64;
            cell.seconds += run.end / 1e9 * share;
            cell.longest = cell.longest.max(run.end / 1e9);
            cell.yields += run.yields as f64 * share;
            cell.best_effort += run.best_effort / 1e6 * share;
        }
        let late = worst.iter().filter(|late| **late > f64::MIN).sum::<f64>();
        cell.tardiness += late / 1e6 / sets as f64;
    }
    cell.hard = missed[0] as f64 / all[0].max(1) as f64 * 100.0;
    cell.soft = missed[1] as f64 / all[1].max(1) as f64 * 100.0;
    cell
}
