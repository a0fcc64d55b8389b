//! Slots, and what is to come into them, as a trace is read against them.

use std::ops::Range;
use tactus_task::{SlotTaskValues, SlotTold};
use tactus_time::{Duration, TaskId};

/// A slot, and what is to become of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlotView {
    /// Its name.
    pub name: String,
    /// Its tasks.
    pub tasks: Range<usize>,
    /// The loader's task.
    pub loader: TaskId,
    /// What comes and goes, in order.
    pub loads: Vec<LoadView>,
}

/// A load or an unload, as it is planned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadView {
    /// Its number among those of all slots.
    pub number: usize,
    /// From when on the loader does it.
    pub at: Duration,
    /// The loader's job in which the scheduler is told.
    pub job: u64,
    /// What it is told.
    pub told: SlotTold,
    /// The program that comes: `blink 1.0.0`.
    pub program: Option<String>,
    /// The names of its tasks.
    pub tasks: Vec<String>,
    /// Why it is refused, in full.
    pub refused: Option<String>,
}

impl LoadView {
    /// What the task is loaded with.
    pub(crate) fn values(&self, task: TaskId) -> Option<SlotTaskValues> {
        match &self.told {
            SlotTold::Loaded(tasks) | SlotTold::Saved(tasks) | SlotTold::Restored { tasks, .. } => {
                tasks.iter().find(|values| values.task == task).copied()
            }
            SlotTold::Update(trial) => {
                let mut both = trial.tasks_in(false).chain(trial.tasks_in(true));
                both.find(|values| values.task == task)
            }
            SlotTold::Unloaded | SlotTold::Refused(_) => None,
        }
    }
}
