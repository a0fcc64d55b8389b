//! The source's task sets (its sections 6.1, 7.2 and 8.3).

use super::table::{Load, Table};
use super::REPETITION;
use crate::disk::Draw;
use tactus_analysis::partitioned::colours::Class;
use tactus_analysis::partitioned::{place, Fit, Order};
use tactus_cache::corun::Pattern;

/// A task before anybody has placed it.
#[derive(Clone, Debug, PartialEq)]
pub struct Drawn {
    /// Milliseconds.
    pub period: u64,
    /// Execution time by period, in millionths.
    pub utilisation: u64,
    /// What it is promised.
    pub class: Class,
    /// The group of those that share a colour; a task that is alone has a group of its own.
    pub group: usize,
    /// Whether it is the source's server (a sweep over 512 KB) instead of an ordinary task.
    pub server: bool,
}

impl Drawn {
    /// Accesses of one job, in whole repetitions, so that the job takes `share` of its execution time at `cycles` each.
    pub fn accesses(&self, clock: f64, cycles: f64, share: f64) -> f64 {
        let nanos = self.period as f64 * 1e6 * self.utilisation as f64 / 1e6 * share;
        let repetitions = (nanos * clock / cycles / REPETITION as f64).floor();
        repetitions.max(1.0) * REPETITION as f64
    }
}

/// The load of an ordinary task.
pub fn ordinary(table: &mut Table, bytes: u64, write_every: u32) -> u8 {
    table.load(Load { bytes, pattern: Pattern::Random { write_every } })
}

/// The load of the server of chapter 6 and of a best-effort task of chapter 8: 512 KB, read and written line by line.
pub fn sweep(table: &mut Table) -> u8 {
    table.load(Load { bytes: 512 << 10, pattern: Pattern::Sweep { write_every: 2 } })
}

fn uniform(draw: &mut Draw, low: u64, high: u64) -> u64 {
    low + draw.below(high - low + 1)
}

fn one_of(draw: &mut Draw, periods: &[u64]) -> u64 {
    periods[draw.below(periods.len() as u64) as usize]
}

/// Where jobs may run.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Scheduling {
    /// Partitioned EDF.
    Partitioned,
    /// EDF in clusters of two processors that share a core.
    Clustered,
    /// Global EDF.
    Global,
}

/// Whether these tasks pass the test of Goossens, Funk and Baruah on this number of processors.
fn gfb(utilisations: impl Iterator<Item = u64>, processors: u64) -> bool {
    let (mut sum, mut most) = (0, 0);
    for utilisation in utilisations {
        sum += utilisation;
        most = most.max(utilisation);
    }
    sum + (processors - 1) * most <= processors * 1_000_000
}

/// The domain (processor, cluster, or 0) of each task of a set of chapter 6, if it can be placed.
fn placed(tasks: &[Drawn], scheduling: Scheduling) -> Option<Vec<usize>> {
    let sizes: Vec<u64> = tasks.iter().map(|task| task.utilisation).collect();
    let of = |bin: &[usize]| bin.iter().map(|&task| sizes[task]).collect::<Vec<_>>();
    match scheduling {
        Scheduling::Global => gfb(sizes.iter().copied(), 8).then(|| vec![0; sizes.len()]),
        Scheduling::Clustered => {
            place(&sizes, &[], 4, Fit::Worst, Order::Decreasing, |bin| gfb(of(bin).into_iter(), 2)).ok()
        }
        Scheduling::Partitioned => {
            place(&sizes, &[], 8, Fit::Worst, Order::Decreasing, |bin| of(bin).iter().sum::<u64>() <= 1_000_000).ok()
        }
    }
}

/// A set of chapter 6 with the domain of each task: tasks are added until the test of the scheduling fails.
pub fn chapter_6(scheduling: Scheduling, seed: u64) -> (Vec<Drawn>, Vec<usize>) {
    let mut draw = Draw::new(seed);
    let (mut tasks, mut domains): (Vec<Drawn>, Vec<usize>) = (Vec::new(), Vec::new());
    loop {
        let period = one_of(&mut draw, &[25, 50, 100, 200]);
        let utilisation = uniform(&mut draw, 100_000, 700_000);
        tasks.push(Drawn { period, utilisation, class: Class::Hard, group: tasks.len(), server: false });
        match placed(&tasks, scheduling) {
            Some(found) => domains = found,
            None => {
                tasks.pop();
                break;
            }
        }
    }
    if let Some(longest) = tasks.iter_mut().max_by_key(|task| task.period) {
        longest.server = true;
    }
    (tasks, domains)
}

const PERIODS: [u64; 6] = [25, 50, 75, 100, 150, 200];

/// Tasks of one group, added until their sum lies between two bounds; a draw that would exceed them is drawn again.
fn group(draw: &mut Draw, group: usize, class: Class, each: (u64, u64), sum: (u64, u64)) -> Vec<Drawn> {
    let mut tasks: Vec<Drawn> = Vec::new();
    let mut have = 0;
    let mut failed = 0;
    while have < sum.0 {
        let utilisation = uniform(draw, each.0, each.1);
        if have + utilisation > sum.1 {
            failed += 1;
            if failed > 100 {
                (have, failed) = (0, 0);
                tasks.clear();
            }
            continue;
        }
        have += utilisation;
        tasks.push(Drawn { period: one_of(draw, &PERIODS), utilisation, class, group, server: false });
    }
    tasks
}

/// A set of chapter 7: eight groups, each nearly as much as a processor takes.
pub fn chapter_7(seed: u64) -> Vec<Drawn> {
    let mut draw = Draw::new(seed);
    loop {
        let hard = |number| group(&mut draw, number, Class::Hard, (100_000, 700_000), (900_000, 1_000_000));
        let tasks: Vec<Drawn> = (0..8).flat_map(hard).collect();
        let sizes: Vec<u64> = tasks.iter().map(|task| task.utilisation).collect();
        let fits = |bin: &[usize]| bin.iter().map(|&task| sizes[task]).sum::<u64>() <= 1_000_000;
        // Both partitioners must place it.
        if place(&sizes, &[], 8, Fit::Worst, Order::Decreasing, fits).is_ok() {
            return tasks;
        }
    }
}

/// What a processor takes in chapter 8, in millionths.
pub const CAPACITY: u64 = 690_000;

/// A set of chapter 8: hard tasks alone, groups of soft tasks with a best-effort task each.
pub fn chapter_8(seed: u64) -> Vec<Drawn> {
    let mut draw = Draw::new(seed);
    loop {
        let mut tasks = group(&mut draw, 0, Class::Hard, (200_000, 350_000), (2_100_000, 2_500_000));
        for (number, task) in tasks.iter_mut().enumerate() {
            task.group = number;
        }
        let hard: u64 = tasks.iter().map(|task| task.utilisation).sum();
        let groups = (8 * CAPACITY - hard) / CAPACITY;
        let first = tasks.len();
        for number in 0..groups as usize {
            tasks.extend(group(&mut draw, first + number, Class::Soft, (100_000, 300_000), (600_000, CAPACITY)));
            let (class, group) = (Class::BestEffort, first + number);
            tasks.push(Drawn { period: 200, utilisation: 0, class, group, server: true });
        }
        let sizes: Vec<u64> = tasks.iter().map(|task| task.utilisation).collect();
        let fits = |bin: &[usize]| bin.iter().map(|&task| sizes[task]).sum::<u64>() <= CAPACITY;
        if first + (groups as usize) < 16 && place(&sizes, &[], 8, Fit::Best, Order::Decreasing, fits).is_ok() {
            return tasks;
        }
    }
}
