//! Slots as they are kept, so that what came into them can be held against the plan again.

use serde::{Deserialize, Serialize};
use tactus_record::SlotRefusal;
use tactus_task::{SlotTaskValues, SlotTold, SlotTrial};
use tactus_time::{Duration, TaskId};
use tactus_trace::{LoadView, SlotView};

/// [`SlotView`].
#[derive(Serialize, Deserialize)]
pub(super) struct Stored {
    name: String,
    first: u16,
    tasks: u16,
    loader: u16,
    loads: Vec<Load>,
}

#[derive(Serialize, Deserialize)]
struct Load {
    number: usize,
    at_ns: u64,
    job: u64,
    told: Told,
    program: Option<String>,
    tasks: Vec<String>,
    refused: Option<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Told {
    Loaded(Vec<Task>),
    Unloaded,
    Saved(Vec<Task>),
    Restored {
        from: u16,
        tasks: Vec<Task>,
    },
    /// The number of the reason.
    Refused(u8),
    Update {
        other: u16,
        first_of_other: u16,
        trial: u32,
        settles_after: u64,
        tasks: Vec<Task>,
    },
}

#[derive(Serialize, Deserialize)]
struct Task {
    task: u16,
    execution_ns: u64,
    demand_ns: u64,
    period_ns: u64,
    deadline_ns: u64,
    priority: u32,
}

/// What is kept of a slot.
pub(super) fn store(slot: &SlotView) -> Stored {
    let task = |it: &SlotTaskValues| Task {
        task: it.task.0,
        execution_ns: it.execution.as_nanos(),
        demand_ns: it.demand.as_nanos(),
        period_ns: it.period.as_nanos(),
        deadline_ns: it.deadline.as_nanos(),
        priority: it.priority,
    };
    let load = |it: &LoadView| Load {
        number: it.number,
        at_ns: it.at.as_nanos(),
        job: it.job,
        told: match &it.told {
            SlotTold::Loaded(tasks) => Told::Loaded(tasks.iter().map(task).collect()),
            SlotTold::Unloaded => Told::Unloaded,
            SlotTold::Saved(tasks) => Told::Saved(tasks.iter().map(task).collect()),
            SlotTold::Restored { from, tasks } => {
                Told::Restored { from: *from, tasks: tasks.iter().map(task).collect() }
            }
            SlotTold::Refused(why) => Told::Refused(*why as u8),
            SlotTold::Update(it) => Told::Update {
                other: it.other,
                first_of_other: it.first_of_other.0,
                trial: it.trial,
                settles_after: it.settles_after,
                tasks: it.tasks.iter().map(task).collect(),
            },
        },
        program: it.program.clone(),
        tasks: it.tasks.clone(),
        refused: it.refused.clone(),
    };
    Stored {
        name: slot.name.clone(),
        first: slot.tasks.start as u16,
        tasks: slot.tasks.len() as u16,
        loader: slot.loader.0,
        loads: slot.loads.iter().map(load).collect(),
    }
}

/// The slot again.
///
/// # Errors
/// If it names a task or a reason that is not there, or a period of no length.
pub(super) fn restore(stored: Stored, tasks: usize) -> Result<SlotView, String> {
    let first = usize::from(stored.first);
    let range = first..first + usize::from(stored.tasks);
    let wrong = |what: &str| format!("slot {:?}: {what}", stored.name);
    if range.end > tasks || usize::from(stored.loader) >= tasks {
        return Err(wrong("it has a task that is not there"));
    }
    let task = |it: &Task| {
        if !range.contains(&usize::from(it.task)) || it.period_ns == 0 {
            return Err(wrong("a program has a task of another one, or a period of no length"));
        }
        let [execution, demand, period, deadline] =
            [it.execution_ns, it.demand_ns, it.period_ns, it.deadline_ns].map(Duration::from_nanos);
        Ok(SlotTaskValues { task: TaskId(it.task), execution, demand, period, deadline, priority: it.priority })
    };
    let all = |tasks: &[Task]| tasks.iter().map(task).collect::<Result<Vec<_>, String>>();
    let load = |it: Load| {
        Ok(LoadView {
            number: it.number,
            at: Duration::from_nanos(it.at_ns),
            job: it.job,
            told: match it.told {
                Told::Loaded(tasks) => SlotTold::Loaded(all(&tasks)?),
                Told::Saved(tasks) => SlotTold::Saved(all(&tasks)?),
                Told::Restored { from, tasks } => SlotTold::Restored { from, tasks: all(&tasks)? },
                Told::Unloaded => SlotTold::Unloaded,
                Told::Update { other, first_of_other, trial, settles_after, tasks: of } => {
                    if usize::from(first_of_other) + of.len() > tasks {
                        return Err(wrong("the other slot of a pair has a task that is not there"));
                    }
                    let first_of_other = TaskId(first_of_other);
                    let of = of.iter().map(task).collect::<Result<_, String>>()?;
                    SlotTold::Update(SlotTrial { other, first_of_other, trial, settles_after, tasks: of, fault: None })
                }
                Told::Refused(why) => {
                    SlotTold::Refused(SlotRefusal::from_u8(why).ok_or_else(|| wrong("a reason that is not there"))?)
                }
            },
            program: it.program,
            tasks: it.tasks,
            refused: it.refused,
        })
    };
    let loads = stored.loads.into_iter().map(load).collect::<Result<_, String>>()?;
    Ok(SlotView { name: stored.name.clone(), tasks: range.clone(), loader: TaskId(stored.loader), loads })
}
