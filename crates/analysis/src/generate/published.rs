//! Task sets as experiments of the literature draw them, with classes and groups.
//!
//! - [`mc2_overheads`]: the overhead experiment of Herman, Kenna, Mollison, Anderson and Johnson, "RTOS support for
//!   multicore mixed-criticality systems", RTAS 2012.
//! - [`until_refused`], [`coloured_groups`], [`two_phases`]: the cache-partitioning, colour-aware and two-phase experiments of Gracioli's
//!   thesis on EPOS (chapters 6, 7 and 8).
//! - [`juniper`]: the fixed applications of the JUNIPER project's final report on its operating system (2015).

use super::{Random, Task};

const MS: u64 = 1_000_000;

/// A task with the criticality level that it has in MC²: 0 is A, 1 is B, 2 is C.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Levelled {
    /// The level.
    pub level: u8,
    /// The task.
    pub task: Task,
}

/// The capacities of levels A, B and C as shares of all cores, as the experiment has them.
pub const MC2_CAPACITIES: [[f64; 3]; 3] = [[0.05, 0.05, 0.65], [0.10, 0.10, 0.55], [0.20, 0.20, 0.35]];

fn of(random: &mut Random, choices: &[u64]) -> u64 {
    choices[random.whole(0, choices.len() as u64 - 1) as usize]
}

fn implicit(u: f64, period: u64) -> Task {
    Task { execution: ((u * period as f64) as u64).max(1), period, deadline: period }
}

/// n tasks on m cores whose levels take these shares of the machine.
///
/// Periods: A from {25, 50, 100} ms; B a multiple of A's hyperperiod up to 300 ms; C between 10 and 100 ms, rounded to 5 ms.
/// The source does not say how n is split over the levels and utilisations within them: here tasks are split as the capacities are, at least
/// one for each level, and utilisations are uniform over all that sum up to the level's capacity.
pub fn mc2_overheads(random: &mut Random, n: usize, m: usize, capacities: [f64; 3]) -> Vec<Levelled> {
    let whole: f64 = capacities.iter().sum();
    let mut counts = capacities.map(|share| ((n as f64 * share / whole).round() as usize).max(1));
    counts[2] = n.saturating_sub(counts[0] + counts[1]).max(1);
    let mut tasks = Vec::with_capacity(n);
    let mut hyperperiod = 25;
    for level in 0..3 {
        let total = (capacities[level] * m as f64).min(counts[level] as f64);
        let Some(utilisations) = super::randfixedsum(random, counts[level], total, 0.0, 1.0) else { continue };
        for u in utilisations {
            let period = match level {
                0 => of(random, &[25, 50, 100]),
                1 => hyperperiod * random.whole(1, 300 / hyperperiod),
                _ => (random.whole(10, 100) + 2) / 5 * 5,
            };
            if level == 0 {
                // Each of the three divides the next.
                hyperperiod = hyperperiod.max(period);
            }
            tasks.push(Levelled { level: level as u8, task: implicit(u, period * MS) });
        }
    }
    tasks
}

/// Tasks with periods of 25, 50, 100 or 200 ms and utilisations uniform in [0.1, 0.7], added while `fits` accepts the set with the new
/// one (chapter 6: GFB for global EDF, worst fit for partitioned EDF, both for clustered EDF).
pub fn until_refused(random: &mut Random, mut fits: impl FnMut(&[Task]) -> bool) -> Vec<Task> {
    let mut tasks = Vec::new();
    loop {
        tasks.push(implicit(random.between(0.1, 0.7), of(random, &[25, 50, 100, 200]) * MS));
        if !fits(&tasks) {
            tasks.pop();
            return tasks;
        }
    }
}

/// Eight groups that share a colour each, with a total utilisation in [0.9, 1.0] (chapter 7): periods of 25, 50, 75, 100, 150 or 200 ms,
/// utilisations uniform in [0.1, 0.7]. A task that would go beyond 1.0 is drawn again, after a hundred times the group.
pub fn coloured_groups(random: &mut Random) -> Vec<Vec<Task>> {
    (0..8).map(|_| group(random, (0.1, 0.7), (0.9, 1.0))).collect()
}

fn group(random: &mut Random, utilisations: (f64, f64), total: (f64, f64)) -> Vec<Task> {
    loop {
        let (mut tasks, mut sum, mut tries) = (Vec::new(), 0.0, 0);
        while tries < 100 {
            let u = random.between(utilisations.0, utilisations.1);
            if sum + u > total.1 {
                tries += 1;
                continue;
            }
            tasks.push(implicit(u, of(random, &[25, 50, 75, 100, 150, 200]) * MS));
            sum += u;
            if sum >= total.0 {
                return tasks;
            }
        }
    }
}

/// The set of the two-phase experiment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TwoPhases {
    /// Hard tasks: utilisations in [0.2, 0.35] up to a total in [2.1, 2.5].
    pub hard: Vec<Task>,
    /// Groups of soft tasks: utilisations in [0.1, 0.3] up to a total in [0.6, 0.7] of each group; one best-effort task belongs to each.
    pub soft: Vec<Vec<Task>>,
}

/// Chapter 8, on 8 cores of capacity 0.69. The number of groups, (0.69·8 − u_hard)/0.69, is rounded down.
pub fn two_phases(random: &mut Random) -> TwoPhases {
    let hard = group(random, (0.2, 0.35), (2.1, 2.5));
    let used: f64 = hard.iter().map(|t| t.execution as f64 / t.period as f64).sum();
    let groups = ((0.69 * 8.0 - used) / 0.69) as usize;
    TwoPhases { hard, soft: (0..groups).map(|_| group(random, (0.1, 0.3), (0.6, 0.7))).collect() }
}

/// A task of [`juniper`]: its platform (1, 2, or 0 for the background) and its priority, the larger the more urgent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Placed {
    /// Platform.
    pub platform: u8,
    /// FIFO priority.
    pub priority: u8,
    /// The task.
    pub task: Task,
}

/// The applications on the two platforms (tables 1 and 2) and the background (table 3). Nothing is random.
pub fn juniper() -> [Placed; 8] {
    let place = |platform, priority, c, d, t| Placed {
        platform,
        priority,
        task: Task { execution: c * MS, period: t * MS, deadline: d * MS },
    };
    [
        place(1, 13, 10, 60, 60),
        place(1, 12, 140, 270, 270),
        place(1, 11, 90, 520, 520),
        place(2, 15, 40, 270, 270),
        place(2, 14, 40, 520, 520),
        place(0, 18, 25, 100, 100),
        place(0, 17, 50, 200, 200),
        place(0, 16, 100, 400, 400),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn total<'t>(tasks: impl IntoIterator<Item = &'t Task>) -> f64 {
        tasks.into_iter().map(|t| t.execution as f64 / t.period as f64).sum()
    }

    #[test]
    fn published_loads_come_out() {
        let load = |platform| total(juniper().iter().filter(|p| p.platform == platform).map(|p| &p.task));
        for (platform, printed) in [(1, 0.858), (2, 0.225), (0, 0.75)] {
            assert!((load(platform) - printed).abs() < 0.0006, "platform {platform}: {}", load(platform));
        }
    }

    #[test]
    fn groups_and_levels_keep_their_totals() {
        let mut random = Random::new(11);
        for _ in 0..50 {
            let groups = coloured_groups(&mut random);
            assert!(groups.iter().all(|g| (0.8999..=1.0).contains(&total(g)) && (2..=9).contains(&g.len())));
            let set = two_phases(&mut random);
            assert!((2.0999..=2.5).contains(&total(&set.hard)) && (4..=5).contains(&set.soft.len()));
            for capacities in MC2_CAPACITIES {
                let tasks = mc2_overheads(&mut random, 60, 6, capacities);
                assert_eq!(tasks.len(), 60);
                for level in 0..3u8 {
                    let sum = total(tasks.iter().filter(|t| t.level == level).map(|t| &t.task));
                    assert!((sum - capacities[level as usize] * 6.0).abs() < 1e-4, "{level} {sum}");
                }
            }
        }
        let set = until_refused(&mut random, |tasks| total(tasks) <= 4.0);
        assert!((3.2..=4.0).contains(&total(&set)));
    }
}
