//! What the loader's jobs do in a simulation: each does one step, and in some the scheduler is told of a slot. It is told at the end of
//! the job's work, just before the job completes.

use std::collections::HashMap;
use tactus_policy::{Input, Running, SlotAction, Values};
use tactus_record::{slot_loaded_level, EventKind, Record, SlotUpdate, SlotValue};
use tactus_task::{LoaderReport, LoaderSteps, SlotFault, SlotLoad, SlotTaskValues, SlotTold};
use tactus_time::{CoreId, Duration, Instant, TaskId};

/// The loader of a simulation, and what the programs that it loaded demand.
#[derive(Default)]
pub(crate) struct Loader {
    steps: Option<LoaderSteps>,
    /// The loader's jobs in which something is told.
    reports: Vec<LoaderReport>,
    next: usize,
    /// By task, what its jobs demand.
    demands: HashMap<TaskId, Duration>,
    /// How the version that came last fails, if it does: in which task, its first job, the job that fails.
    fault: Option<(TaskId, Option<u32>, u32, SlotFault)>,
}

impl Loader {
    pub(crate) fn new(steps: Option<LoaderSteps>) -> Loader {
        let reports = steps.as_ref().map(LoaderSteps::reports).unwrap_or_default();
        Loader { steps, reports, next: 0, demands: HashMap::new(), fault: None }
    }

    /// Whether the job that has done its work is to tell the scheduler of a slot.
    pub(crate) fn tells(&self, job: &Running) -> bool {
        let its = self.steps.as_ref().is_some_and(|steps| steps.task == job.task);
        its && self.reports.get(self.next).is_some_and(|it| it.job == u64::from(job.job))
    }

    /// What the job demands, if it is one of a program that was loaded.
    pub(crate) fn demand(&mut self, job: &Running) -> Option<Duration> {
        match self.fails_in(job) {
            Some(SlotFault::Takes(long)) => Some(long),
            _ => self.demands.get(&job.task).copied(),
        }
    }

    /// Whether the component of the job is stopped when the job has done its work.
    pub(crate) fn stops(&mut self, job: &Running) -> bool {
        self.fails_in(job) == Some(SlotFault::Stops)
    }

    fn fails_in(&mut self, job: &Running) -> Option<SlotFault> {
        let (task, first, nth, fault) = self.fault.as_mut().filter(|it| it.0 == job.task)?;
        debug_assert_eq!(*task, job.task);
        let first = *first.get_or_insert(job.job);
        (job.job.wrapping_sub(first) == *nth).then_some(*fault)
    }

    /// The slot that the next report is about, the first one of a pair.
    pub(crate) fn first_slot(&self) -> u16 {
        let load =
            self.reports.get(self.next).zip(self.steps.as_ref()).and_then(|(it, steps)| steps.loads.get(it.load));
        load.map_or(0, |load| load.slot)
    }

    /// Tells it: each record, with what the policy is told by it, if that is something. `is_other`: whether a program is in
    /// the [first slot](Self::first_slot), so that an update goes into the other one.
    pub(crate) fn tell(
        &mut self,
        (now, core): (Instant, CoreId),
        is_other: bool,
        mut each: impl FnMut(Record, Option<Input>),
    ) {
        let Some(LoaderReport { load: number, settles, .. }) = self.reports.get(self.next).copied() else { return };
        let Some(load) = self.steps.as_ref().and_then(|steps| steps.loads.get(number)) else { return };
        self.next += 1;
        let SlotLoad { slot, told, .. } = load;
        let mut slot = *slot;
        let mut arg = number as u64;
        let record = |kind, level, task, job, arg| Record { time: now, arg, job, task, kind, level, core, ticket: 0 };
        let (kind, level, action) = match told {
            SlotTold::Update(_) if settles => (EventKind::SlotUpdate, 1, SlotAction::Settle),
            SlotTold::Loaded(_) | SlotTold::Restored { .. } | SlotTold::Update(_) => {
                let (tasks, kind, level, action) = match told {
                    SlotTold::Update(trial) => {
                        let (from, to) = if is_other { (slot, trial.other) } else { (trial.other, slot) };
                        slot = to;
                        arg = SlotUpdate { load: number as u16, from, trial: trial.trial }.arg();
                        let first = trial.tasks_in(is_other).next();
                        self.fault = first.zip(trial.fault).map(|(it, (nth, fault))| (it.task, None, nth, fault));
                        let action = SlotAction::Update { from, trial: trial.trial };
                        (trial.tasks_in(is_other).collect(), EventKind::SlotUpdate, 0, action)
                    }
                    SlotTold::Loaded(tasks) => (tasks.clone(), EventKind::SlotLoaded, 0, SlotAction::Load),
                    SlotTold::Restored { from, tasks } => {
                        let level = slot_loaded_level(slot, Some(*from));
                        (tasks.clone(), EventKind::SlotLoaded, level, SlotAction::Restore { from: *from })
                    }
                    SlotTold::Unloaded | SlotTold::Saved(_) | SlotTold::Refused(_) => {
                        unreachable!("they bring no tasks")
                    }
                };
                for task in &tasks {
                    let values = values(task);
                    self.demands.insert(task.task, task.demand);
                    for value in SlotValue::ALL {
                        let told = record(EventKind::SlotTask, value as u8, Some(task.task), 0, of(&values, value));
                        // The last one makes them whole.
                        let input = Input::SlotTask { task: task.task, values };
                        each(told, (value == SlotValue::Priority).then_some(input));
                    }
                }
                (kind, level, action)
            }
            SlotTold::Unloaded => (EventKind::SlotUnloaded, 0, SlotAction::Unload),
            SlotTold::Saved(_) => (EventKind::SlotUnloaded, 1, SlotAction::Save),
            SlotTold::Refused(why) => (EventKind::SlotRefused, *why as u8, SlotAction::Refuse(*why)),
        };
        let input = Input::Slot { slot, load: number as u16, action };
        each(record(kind, level, None, u32::from(slot), arg), Some(input));
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
