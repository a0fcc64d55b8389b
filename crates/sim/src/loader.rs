//! What the loader's jobs do in a simulation: each does one step, and in some the scheduler is told of a slot. It is told at the end of
//! the job's work, just before the job completes.

use std::collections::HashMap;
use tactus_policy::{Input, Running, SlotAction, Values};
use tactus_record::{EventKind, Record, SlotValue};
use tactus_task::{LoaderSteps, SlotLoad, SlotTaskValues, SlotTold};
use tactus_time::{CoreId, Duration, Instant, TaskId};

/// The loader of a simulation, and what the programs that it loaded demand.
#[derive(Default)]
pub(crate) struct Loader {
    steps: Option<LoaderSteps>,
    /// By load: the loader's job in which it is told.
    jobs: Vec<u64>,
    next: usize,
    /// By task, what its jobs demand.
    demands: HashMap<TaskId, Duration>,
}

impl Loader {
    pub(crate) fn new(steps: Option<LoaderSteps>) -> Loader {
        let jobs = steps.as_ref().map(LoaderSteps::jobs).unwrap_or_default();
        Loader { steps, jobs, next: 0, demands: HashMap::new() }
    }

    /// Whether the job that has done its work is to tell the scheduler of a slot.
    pub(crate) fn tells(&self, job: &Running) -> bool {
        let its = self.steps.as_ref().is_some_and(|steps| steps.task == job.task);
        its && self.jobs.get(self.next) == Some(&u64::from(job.job))
    }

    /// What jobs of the task demand, if it is one of a program that was loaded.
    pub(crate) fn demand(&self, task: TaskId) -> Option<Duration> {
        self.demands.get(&task).copied()
    }

    /// Tells it: each record, with what the policy is told by it, if that is something.
    pub(crate) fn tell(&mut self, (now, core): (Instant, CoreId), mut each: impl FnMut(Record, Option<Input>)) {
        let Some(load) = self.steps.as_ref().and_then(|steps| steps.loads.get(self.next)) else { return };
        let number = self.next;
        self.next += 1;
        let SlotLoad { slot, told, .. } = load;
        let record = |kind, level, task, job, arg| Record { time: now, arg, job, task, kind, level, core, ticket: 0 };
        let (kind, level, action) = match told {
            SlotTold::Loaded(tasks) | SlotTold::Restored(tasks) => {
                for task in tasks {
                    let values = values(task);
                    self.demands.insert(task.task, task.demand);
                    for value in SlotValue::ALL {
                        let told = record(EventKind::SlotTask, value as u8, Some(task.task), 0, of(&values, value));
                        // The last one makes them whole.
                        let input = Input::SlotTask { task: task.task, values };
                        each(told, (value == SlotValue::Priority).then_some(input));
                    }
                }
                match told {
                    SlotTold::Restored(_) => (EventKind::SlotLoaded, 1, SlotAction::Restore),
                    _ => (EventKind::SlotLoaded, 0, SlotAction::Load),
                }
            }
            SlotTold::Unloaded => (EventKind::SlotUnloaded, 0, SlotAction::Unload),
            SlotTold::Saved(_) => (EventKind::SlotUnloaded, 1, SlotAction::Save),
            SlotTold::Refused(why) => (EventKind::SlotRefused, *why as u8, SlotAction::Refuse(*why)),
        };
        let input = Input::Slot { slot: *slot, load: number as u16, action };
        each(record(kind, level, None, u32::from(*slot), number as u64), Some(input));
    }
}

fn values(task: &SlotTaskValues) -> Values {
    Values { time: task.execution, period: task.period, deadline: task.deadline, priority: task.priority }
}

/// One of the values, as records have it.
fn of(values: &Values, value: SlotValue) -> u64 {
    match value {
        SlotValue::Execution => values.time.as_nanos(),
        SlotValue::Period => values.period.as_nanos(),
        SlotValue::Deadline => values.deadline.as_nanos(),
        SlotValue::Priority => u64::from(values.priority),
    }
}
