//! Chapter 6: tasks with a colour each (S1) or all in one (S3), under partitioned, clustered and global EDF; and the kernel in the
//! tasks' colours (S2).

use super::schedule::{run, Outcome, Run, Task, Urgency, PROCESSORS};
use super::sets::{chapter_6, ordinary, sweep, Drawn, Scheduling};
use super::table::Table;
use super::{COLOURS, WORK};
use crate::disk::Draw;
use tactus_analysis::partitioned::colours::Class;
use tactus_cache::corun::{Buffer, Corun, Pattern, Program};
use tactus_cache::{Colour, Colours, Geometry, Hierarchy, Kind, Owner};

/// What all runs of one cell of the source's table say.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Cell {
    /// Ordinary tasks of all sets.
    pub tasks: usize,
    /// Of them those that missed a deadline in any run with a colour each.
    pub missing_coloured: usize,
    /// Of them those that missed a deadline in any run in one colour.
    pub missing_together: usize,
    /// The observed execution time in one colour by that in a colour of its own: mean over all tasks.
    pub factor: f64,
    /// The largest such factor of a task.
    pub largest: f64,
    /// Seconds until all jobs were done with a colour each, longest run.
    pub seconds_coloured: f64,
    /// The same in one colour.
    pub seconds_together: f64,
}

/// The processors of domain `number`.
fn processors(scheduling: Scheduling, number: usize) -> u8 {
    match scheduling {
        Scheduling::Partitioned => 1 << number,
        Scheduling::Clustered => 0b11 << (2 * number),
        Scheduling::Global => u8::MAX,
    }
}

/// The tasks of a set as they run: offsets are random, jobs fill as much time as the longest period's do.
pub(super) fn tasks(
    drawn: &[Drawn],
    loads: &[u8],
    accesses: &[f64],
    place: impl Fn(usize) -> (usize, usize, u8),
    jobs: u32,
    seed: u64,
) -> Vec<Task> {
    let mut draw = Draw::new(seed);
    let task = |(number, drawn): (usize, &Drawn)| {
        let (colour, array, processors) = place(number);
        let best_effort = drawn.class == Class::BestEffort;
        let period = drawn.period as f64 * 1e6;
        let offset = if best_effort { 0.0 } else { draw.below(drawn.period * 1000) as f64 * 1e3 };
        let jobs = if best_effort { 1 } else { jobs * 200 / drawn.period as u32 };
        let (load, accesses, class) = (loads[number], accesses[number], drawn.class);
        Task { period, offset, jobs, accesses, load, class, colour, array, processors }
    };
    drawn.iter().enumerate().map(task).collect()
}

/// One cell: `sets` sets, each `runs` times with other offsets; the longest period has `jobs` jobs.
pub fn cell(scheduling: Scheduling, bytes: u64, sets: u64, runs: u64, jobs: u32) -> Cell {
    let mut table = Table::new(COLOURS, 60);
    let (task_load, server) = (ordinary(&mut table, bytes, 5), sweep(&mut table));
    let mut cell = Cell::default();
    let mut factors = Vec::new();
    for set in 0..sets {
        let (drawn, domains) = chapter_6(scheduling, set + 1);
        let loads: Vec<u8> = drawn.iter().map(|task| if task.server { server } else { task_load }).collect();
        let accesses: Vec<f64> = drawn
            .iter()
            .zip(&loads)
            .map(|(task, load)| task.accesses(table.clock(), table.measured(*load, None, &[]).cycles, super::ALONE))
            .collect();
        let mut of = |together: bool| -> Vec<Run> {
            let place = |task: usize| (if together { 0 } else { task }, task, processors(scheduling, domains[task]));
            (0..runs)
                .map(|seed| {
                    let tasks = tasks(&drawn, &loads, &accesses, place, jobs, 100 * set + seed);
                    run(&tasks, &mut table, Urgency::Edf, None)
                })
                .collect()
        };
        let (coloured, together) = (of(false), of(true));
        for task in (0..drawn.len()).filter(|&task| !drawn[task].server) {
            let missing =
                |runs: &[Run]| usize::from(runs.iter().any(|run| missed(&run.tasks[task], jobs, &drawn[task])));
            let longest = |runs: &[Run]| runs.iter().map(|run| run.tasks[task].longest).fold(0.0, f64::max);
            cell.tasks += 1;
            cell.missing_coloured += missing(&coloured);
            cell.missing_together += missing(&together);
            factors.push(longest(&together) / longest(&coloured));
        }
        let end = |runs: &[Run]| runs.iter().map(|run| run.end).fold(0.0, f64::max) / 1e9;
        cell.seconds_coloured = cell.seconds_coloured.max(end(&coloured));
        cell.seconds_together = cell.seconds_together.max(end(&together));
    }
    cell.factor = factors.iter().sum::<f64>() / factors.len().max(1) as f64;
    cell.largest = factors.iter().copied().fold(0.0, f64::max);
    cell
}

/// A job that did not end at all is missed, too.
fn missed(outcome: &Outcome, jobs: u32, drawn: &Drawn) -> bool {
    outcome.missed > 0 || outcome.jobs < jobs * 200 / drawn.period as u32
}

/// Cycles of an access with the kernel in the task's colour by those with the kernel in its own: the source's S2 by S1.
///
/// The kernel touches `lines` lines on the same processor after every `every` accesses of the task; all processors are busy.
pub fn kernel_factor(bytes: u64, lines: u64, every: u64) -> f64 {
    let geometry = Geometry::of("i7-2600").expect("it comes with Tactus");
    let colours = Colours::new(&geometry, COLOURS).expect("the machine has that many colours");
    let cycles = |kernel: u16| {
        let model = Hierarchy::with_owners(geometry.clone(), 16).expect("the geometry was checked");
        let mut corun = Corun::new(model, colours, WORK, 0);
        for processor in 0..PROCESSORS {
            let colour = Colour(processor as u16 + 1);
            let buffer = Buffer { colour, span: 1, skip: 0, bytes };
            let pattern = Pattern::Random { write_every: 5 };
            let owner = Owner(processor as u8 + 1);
            corun.start(Program { processor, owner, buffer, pattern, regulation: None }, processor as u64 + 1);
        }
        let mut total = 0;
        for turn in 0..12 {
            for line in 0..lines {
                // Beyond the frames of the task, so that only sets are shared.
                let address = colours.place(Colour(kernel), 5_000, line * geometry.line());
                let kind = if line % 4 == 3 { Kind::Write } else { Kind::Read };
                corun.model_mut().access(0, address, kind, Owner(15));
            }
            let progress = corun.run(0, every);
            total += if turn < 4 { 0 } else { progress.cycles };
        }
        total as f64
    };
    cycles(1) / cycles(0)
}
