//! What the loader does in its jobs: which one hands over a program, takes one back or refuses to.
//!
//! A load begins with the loader's first job whose nominal release is not before its time, one load after another. Each job does one
//! step. How many steps a load takes, and whether it is refused, follows from the package and the slot alone; so does the job in which
//! the scheduler is told.

use alloc::vec::Vec;
use tactus_record::SlotRefusal;
use tactus_time::{Duration, TaskId};

/// The loads of a system.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LoaderSteps {
    /// The loader's task, which is periodic.
    pub task: TaskId,
    /// Its first release.
    pub offset: Duration,
    /// From release to release; greater than zero.
    pub period: Duration,
    /// What comes and goes, in order.
    pub loads: Vec<SlotLoad>,
    /// Of each update, those that are refused included: its [`SlotTrial::settles_after`], or 0.
    pub trials: Vec<u64>,
}

/// A load or an unload.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SlotLoad {
    /// From when on.
    pub at: Duration,
    /// The slot's number.
    pub slot: u16,
    /// Steps up to the one in which the scheduler is told, that one included.
    pub steps: u64,
    /// Steps after it.
    pub rest: u64,
    /// What the scheduler is told.
    pub told: SlotTold,
}

/// What the scheduler is told of a load or an unload.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SlotTold {
    /// A program begins with these tasks.
    Loaded(Vec<SlotTaskValues>),
    /// The program ends.
    Unloaded,
    /// The program ends, and what it was is kept. If it turns out that it cannot be saved, it goes on with these tasks.
    Saved(Vec<SlotTaskValues>),
    /// What was saved goes on; or it is refused, since it is damaged.
    Restored {
        /// The slot of which it was saved.
        from: u16,
        /// The tasks, in the slot where it goes on.
        tasks: Vec<SlotTaskValues>,
    },
    /// It is refused.
    Refused(SlotRefusal),
    /// A new version of the program in one slot of a pair lies in the other one.
    Update(SlotTrial),
}

/// An update of a pair of slots.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SlotTrial {
    /// The second slot's number; [`SlotLoad::slot`] is the first.
    pub other: u16,
    /// The second slot's first task.
    pub first_of_other: TaskId,
    /// Jobs of the new version that must be good.
    pub trial: u32,
    /// Jobs of the loader from the one in which the scheduler is told to the one that ends the trial.
    pub settles_after: u64,
    /// The tasks of the new version, in the first slot.
    pub tasks: Vec<SlotTaskValues>,
    /// How it fails in a simulation, if it does: in this job of its first task, counted from 0.
    pub fault: Option<(u32, SlotFault)>,
}

/// How a program in a slot fails in a simulation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SlotFault {
    /// It is stopped at the end of the job's work.
    Stops,
    /// The job takes this long.
    Takes(Duration),
}

impl SlotTrial {
    /// The tasks in the slot that has this first task.
    pub fn tasks_in(&self, is_other: bool) -> impl Iterator<Item = SlotTaskValues> + '_ {
        let first = self.tasks.first().map_or(0, |it| it.task.0);
        let shift = move |task: u16| if is_other { self.first_of_other.0 + (task - first) } else { task };
        self.tasks.iter().map(move |it| SlotTaskValues { task: TaskId(shift(it.task.0)), ..*it })
    }
}

/// A job of the loader in which the scheduler is told something.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LoaderReport {
    /// Its number.
    pub job: u64,
    /// Which load it is about.
    pub load: usize,
    /// Whether it ends the trial of an update.
    pub settles: bool,
}

/// What a task of a slot is loaded with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SlotTaskValues {
    /// The task.
    pub task: TaskId,
    /// The longest execution of a job, the system's own work included.
    pub execution: Duration,
    /// What each of its jobs takes in a simulation.
    pub demand: Duration,
    /// Its period.
    pub period: Duration,
    /// Its relative deadline.
    pub deadline: Duration,
    /// Its priority; the larger is more urgent.
    pub priority: u32,
}

impl LoaderSteps {
    /// The jobs of the loader in which the scheduler is told something, in order.
    pub fn reports(&self) -> Vec<LoaderReport> {
        let mut all = Vec::new();
        for (load, (job, it)) in self.jobs().into_iter().zip(&self.loads).enumerate() {
            all.push(LoaderReport { job, load, settles: false });
            if let SlotTold::Update(trial) = &it.told {
                all.push(LoaderReport { job: job.saturating_add(trial.settles_after), load, settles: true });
            }
        }
        all
    }

    /// The job of the loader in which the scheduler is told of each load, in order.
    pub fn jobs(&self) -> Vec<u64> {
        let mut free = 0;
        let mut told = Vec::with_capacity(self.loads.len());
        for load in &self.loads {
            let after = load.at.saturating_sub(self.offset).div_ceil(self.period.max(Duration::from_nanos(1)));
            let first = after.max(free);
            told.push(first.saturating_add(load.steps.max(1) - 1));
            free = first.saturating_add(load.steps.max(1)).saturating_add(load.rest);
        }
        told
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    #[test]
    fn loads_go_one_after_another_from_the_first_job_that_is_not_released_before_their_time() {
        let ms = Duration::from_millis;
        let load = |at, steps, rest| SlotLoad { at: ms(at), slot: 0, steps, rest, told: SlotTold::Unloaded };
        // Jobs at 1, 6, 11, 16, 21 ms and so on.
        let loads = vec![load(6, 3, 0), load(7, 1, 4), load(8, 2, 0), load(100, 1, 0), load(101, 1, 0)];
        let all = LoaderSteps { task: TaskId(0), offset: ms(1), period: ms(5), loads, trials: Vec::new() };
        assert_eq!(all.jobs(), [3, 4, 10, 20, 21]);
    }
}
