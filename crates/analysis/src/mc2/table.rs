//! Level A: the cyclic-executive table of one core.
//!
//! The table is the EDF schedule of the core's level-A tasks at level-A times over one hyperperiod, ties going to the
//! shorter period. EDF is optimal on one processor (Liu and Layland 1973; Dertouzos 1974), so where it fails no table
//! exists. A job that EDF preempts is split over several slots. With release offsets the schedule is periodic from
//! the largest offset plus one hyperperiod on (Leung and Merrill 1980); the table is one cycle of it, turned so that
//! it starts at time zero. Deadlines beyond the period are cut to the period, so that a slot belongs to one job.

use crate::task::to_duration;
use crate::utilisation::gcd;
use tactus_task::{Slot, Table};
use tactus_time::{Duration, TaskId};

/// The most slots in one table: what a scheduler keeps in memory.
pub const MOST_SLOTS: usize = 4096;

/// A level-A task as the table sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cyclic {
    /// Whose.
    pub task: TaskId,
    /// Release of the first job.
    pub offset: Duration,
    /// Time from release to release.
    pub period: Duration,
    /// Deadline relative to the release.
    pub deadline: Duration,
    /// Time that each job needs in the table.
    pub time: Duration,
}

/// Why there is no table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// The hyperperiod does not fit 64 bits or would hold too many jobs.
    TooLong {
        /// Jobs in one hyperperiod, as far as they were counted.
        jobs: u128,
    },
    /// More than [`MOST_SLOTS`] slots.
    TooManySlots,
    /// A job cannot end by its deadline: no table exists.
    Late {
        /// Whose job.
        task: TaskId,
        /// Its release, within the cycle.
        release: Duration,
        /// What is left of it at its deadline.
        left: Duration,
    },
}

/// A table with the job that every slot serves.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// Length of one cycle.
    cycle: u64,
    /// In order of time.
    pieces: Vec<Piece>,
}

#[derive(Clone, Copy, Debug)]
struct Piece {
    task: TaskId,
    /// The job's number within the simulated span; tells jobs apart.
    job: u64,
    /// Start of the piece, counted from the start of the cycle.
    start: u64,
    end: u64,
    /// From the job's release to the start and the end of the piece.
    from_release: u64,
}

impl Plan {
    /// Builds the table of one core.
    pub fn build(tasks: &[Cyclic]) -> Result<Plan, Refusal> {
        if tasks.is_empty() {
            return Ok(Plan::default());
        }
        let cycle = hyperperiod(tasks)?;
        let phases: Vec<u64> = tasks.iter().map(|t| t.offset.as_nanos() % t.period.as_nanos()).collect();
        let settled = if phases.iter().all(|p| *p == 0) { 0 } else { 2 * cycle };
        simulate(tasks, &phases, settled, cycle)
    }

    /// The table as a scheduler needs it.
    pub fn table(&self) -> Table {
        let slot =
            |p: &Piece| Slot { task: p.task, start: Duration::from_nanos(p.start), end: Duration::from_nanos(p.end) };
        Table { cycle: Duration::from_nanos(self.cycle), slots: self.pieces.iter().map(slot).collect() }
    }

    /// The longest time from a release of the task to the end of that job's last slot.
    pub fn response(&self, task: TaskId) -> Duration {
        let ends = self.of(task).map(|p| p.from_release + (p.end - p.start));
        Duration::from_nanos(ends.max().unwrap_or(0))
    }

    /// The longest time from the first slot's start to the last slot's end of one job, and its number of slots.
    pub fn spread(&self, task: TaskId) -> (Duration, u64) {
        let mut worst = (0, 0);
        for first in self.of(task) {
            let job = self.of(task).filter(|p| p.job == first.job);
            let (mut start, mut end, mut count) = (u64::MAX, 0, 0);
            for p in job {
                start = start.min(p.from_release);
                end = end.max(p.from_release + (p.end - p.start));
                count += 1;
            }
            worst = (worst.0.max(end - start), worst.1.max(count));
        }
        (Duration::from_nanos(worst.0), worst.1)
    }

    /// The stretches (start, length) of one cycle in which level A keeps the core if each job takes `time` of its
    /// task, and every stretch ends late by `late`.
    pub(crate) fn busy(&self, time: impl Fn(TaskId) -> Duration, late: Duration) -> Vec<(u64, u64)> {
        // Pieces of a job that wraps round the cycle's end are served in the order of its own time.
        let mut order: Vec<usize> = (0..self.pieces.len()).collect();
        order.sort_by_key(|&i| (self.pieces[i].task, self.pieces[i].job, self.pieces[i].from_release));
        let mut used = vec![0; self.pieces.len()];
        let mut left = 0;
        let mut current = None;
        for i in order {
            let p = &self.pieces[i];
            if current != Some((p.task, p.job)) {
                current = Some((p.task, p.job));
                left = time(p.task).as_nanos();
            }
            used[i] = left.min(p.end - p.start);
            left -= used[i];
        }
        let kept = self.pieces.iter().zip(used).filter(|(_, used)| *used > 0);
        kept.map(|(p, used)| (p.start, used + late.as_nanos())).collect()
    }

    /// Length of one cycle; zero without level A.
    pub(crate) fn cycle(&self) -> u64 {
        self.cycle
    }

    /// Whose slots there are; a task may come more than once.
    pub(crate) fn tasks(&self) -> impl Iterator<Item = TaskId> + '_ {
        self.pieces.iter().map(|p| p.task)
    }

    fn of(&self, task: TaskId) -> impl Iterator<Item = &Piece> {
        self.pieces.iter().filter(move |p| p.task == task)
    }
}

fn hyperperiod(tasks: &[Cyclic]) -> Result<u64, Refusal> {
    let mut cycle = 1u128;
    for t in tasks {
        let p = u128::from(t.period.as_nanos());
        cycle = cycle / gcd(cycle, p) * p;
        if cycle > u128::from(u64::MAX / 8) {
            return Err(Refusal::TooLong { jobs: tasks.iter().map(|t| cycle / u128::from(t.period.as_nanos())).sum() });
        }
    }
    let jobs: u128 = tasks.iter().map(|t| cycle / u128::from(t.period.as_nanos())).sum();
    if jobs > MOST_SLOTS as u128 {
        return Err(Refusal::TooLong { jobs });
    }
    Ok(cycle as u64)
}

/// A released job that is not finished.
#[derive(Clone, Copy)]
struct Job {
    deadline: u64,
    period: u64,
    place: usize,
    release: u64,
    left: u64,
}

/// EDF from time zero until `settled + cycle`; keeps the pieces of the last cycle.
fn simulate(tasks: &[Cyclic], phases: &[u64], settled: u64, cycle: u64) -> Result<Plan, Refusal> {
    let end = settled + cycle;
    let mut next: Vec<u64> = phases.to_vec();
    let mut pending: Vec<Job> = Vec::new();
    let mut pieces: Vec<Piece> = Vec::new();
    let mut now = 0;
    while now < end {
        for (place, t) in tasks.iter().enumerate() {
            while next[place] <= now {
                let release = next[place];
                let period = t.period.as_nanos();
                let deadline = release + t.deadline.as_nanos().min(period);
                pending.push(Job { deadline, period, place, release, left: t.time.as_nanos() });
                next[place] += period;
            }
        }
        pending.retain(|j| j.left > 0);
        // No piece crosses the start or the end of the cycle that is kept.
        let edge = if now < settled { settled } else { end };
        let coming = next.iter().copied().min().unwrap_or(edge).min(edge);
        let Some(at) = (0..pending.len()).min_by_key(|&i| {
            let j = &pending[i];
            (j.deadline, j.period, j.place, j.release)
        }) else {
            now = coming;
            continue;
        };
        let job = &mut pending[at];
        let stop = coming.min(now + job.left);
        if stop > job.deadline {
            return Err(Refusal::Late {
                task: tasks[job.place].task,
                release: to_duration(i128::from(job.release % cycle)),
                left: Duration::from_nanos(job.left - job.deadline.saturating_sub(now)),
            });
        }
        job.left -= stop - now;
        if now >= settled {
            let number = job.release / job.period;
            let task = tasks[job.place].task;
            match pieces.last_mut() {
                Some(last) if last.end == now - settled && last.task == task && last.job == number => {
                    last.end = stop - settled;
                }
                _ => pieces.push(Piece {
                    task,
                    job: number,
                    start: now - settled,
                    end: stop - settled,
                    from_release: now - job.release,
                }),
            }
            if pieces.len() > MOST_SLOTS {
                return Err(Refusal::TooManySlots);
            }
        }
        now = stop;
    }
    // A job that is cut by the end of the cycle goes on at its start, where the same job of the cycle before is seen:
    // both parts get the number of the job that the cycle starts with.
    for p in &mut pieces {
        let t = tasks.iter().find(|t| t.task == p.task);
        let jobs = t.map_or(1, |t| cycle / t.period.as_nanos());
        p.job %= jobs;
    }
    if let Some(late) = pending.iter().find(|j| j.left > 0 && j.deadline <= end) {
        return Err(Refusal::Late {
            task: tasks[late.place].task,
            release: to_duration(i128::from(late.release % cycle)),
            left: Duration::from_nanos(late.left),
        });
    }
    let plan = Plan { cycle, pieces };
    // A load barely over one may show no late job within the cycles looked at, but it leaves some job short.
    for t in tasks {
        let needed = (cycle / t.period.as_nanos()).saturating_mul(t.time.as_nanos());
        let given: u64 = plan.of(t.task).map(|p| p.end - p.start).sum();
        if given < needed {
            return Err(Refusal::Late { task: t.task, release: t.offset, left: Duration::from_nanos(needed - given) });
        }
    }
    Ok(plan)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(n: u16, offset: u64, period: u64, time: u64) -> Cyclic {
        let ns = Duration::from_nanos;
        Cyclic { task: TaskId(n), offset: ns(offset), period: ns(period), deadline: ns(period), time: ns(time) }
    }

    fn slots(tasks: &[Cyclic]) -> Vec<(u16, u64, u64)> {
        let table = Plan::build(tasks).unwrap().table();
        table.slots.iter().map(|s| (s.task.0, s.start.as_nanos(), s.end.as_nanos())).collect()
    }

    #[test]
    fn the_worked_example_splits_the_second_task() {
        let tasks = [task(1, 0, 5, 3), task(2, 0, 10, 4)];
        assert_eq!(slots(&tasks), [(1, 0, 3), (2, 3, 5), (1, 5, 8), (2, 8, 10)]);
        let plan = Plan::build(&tasks).unwrap();
        assert_eq!(plan.response(TaskId(1)), Duration::from_nanos(3));
        assert_eq!(plan.response(TaskId(2)), Duration::from_nanos(10));
        assert_eq!(plan.spread(TaskId(2)), (Duration::from_nanos(7), 2));
        // At level-C times T1 takes 1 and T2 takes 2, in the first parts of their slots.
        let times = [0, 1, 2];
        let busy = plan.busy(|t| Duration::from_nanos(times[t.index()]), Duration::ZERO);
        assert_eq!(busy, [(0, 1), (3, 2), (5, 1)]);
    }

    #[test]
    fn an_offset_turns_the_table_and_a_job_may_wrap_round_its_end() {
        let tasks = [task(0, 8, 10, 4)];
        assert_eq!(slots(&tasks), [(0, 0, 2), (0, 8, 10)]);
        let plan = Plan::build(&tasks).unwrap();
        assert_eq!(plan.response(TaskId(0)), Duration::from_nanos(4));
        assert_eq!(plan.busy(|_| Duration::from_nanos(3), Duration::ZERO), [(0, 1), (8, 2)]);
    }

    #[test]
    fn overload_names_the_job_that_is_late() {
        let refusal = Plan::build(&[task(0, 0, 5, 3), task(1, 0, 10, 5)]).unwrap_err();
        assert!(matches!(refusal, Refusal::Late { left, .. } if left == Duration::from_nanos(1)));
    }

    #[test]
    fn a_hyperperiod_with_too_many_jobs_is_refused() {
        let long = [task(0, 0, 1_000_003, 1), task(1, 0, 1_000_033, 1), task(2, 0, 999_983, 1)];
        assert!(matches!(Plan::build(&long), Err(Refusal::TooLong { .. })));
    }
}
