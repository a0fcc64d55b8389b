//! The container of level C, or that of level D: its tasks, those that wait, and how the cores stand to it.

use super::cpu::{Had, Link, Standing};
use alloc::vec::Vec;
use tactus_policy::parts::mc2::{Ghost, Job};
use tactus_policy::parts::mc2::{State, TaskState};
use tactus_policy::parts::Cores;
use tactus_policy::parts::Recorder;
use tactus_policy::parts::{IndexedHeap, Key};
use tactus_policy::{Event, Mc2, PolicyConfig};
use tactus_time::{CoreId, Duration, Instant, Level, TaskId};

/// Where a task is that has something to compete with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Spot {
    /// It has nothing.
    Out,
    /// It waits.
    Queued,
    /// Linked to the core; or the core's link was taken away by one that had no right to this container, and who did is
    /// about to say so here.
    Linked(CoreId),
    /// Displaced, but the core still has it on its hands.
    Leaving(CoreId),
}

pub(super) struct Global {
    /// By place; places are in the order of task numbers.
    tasks: Vec<TaskState>,
    spots: Vec<Spot>,
    ready: IndexedHeap,
    /// How cores stood when somebody looked last.
    cores: Cores,
}

impl Global {
    /// The tasks of this level; their first releases, by place.
    pub(super) fn new(setup: &PolicyConfig, mc2: &Mc2, level: Level) -> (Global, Vec<Instant>) {
        let of_level = |(_, task): &(usize, &tactus_policy::Task)| task.level == level;
        let numbered = || setup.tasks.iter().enumerate().filter(of_level);
        let tasks: Vec<TaskState> = numbered().map(|(n, task)| TaskState::new(TaskId(n as u16), task, mc2)).collect();
        let first = numbered().map(|(_, task)| Instant::ZERO.saturating_add(task.offset)).collect();
        let global = Global {
            spots: alloc::vec![Spot::Out; tasks.len()],
            ready: IndexedHeap::for_tasks(tasks.len()),
            cores: Cores::closed(setup.cores),
            tasks,
        };
        (global, first)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.tasks.is_empty()
    }

    /// Notes how a core stands.
    pub(super) fn note(&mut self, core: CoreId, standing: Standing) {
        match standing {
            Standing::Closed => self.cores.close(core),
            Standing::Open(linked) => self.cores.open(core, linked),
        }
    }

    /// The task that is to be linked next, to which core.
    pub(super) fn offer(&self, me: CoreId) -> Option<(CoreId, Link)> {
        let place = self.ready.peek()?.place();
        Some((self.cores.least_urgent(me)?, Link::of(&self.tasks[place], place)))
    }

    pub(super) fn spot(&self, place: usize) -> Spot {
        self.spots[place]
    }

    pub(super) fn link(&self, place: usize) -> Link {
        Link::of(&self.tasks[place], place)
    }

    /// The task is linked to the core now.
    pub(super) fn linked(&mut self, place: usize, core: CoreId) {
        self.ready.remove(place);
        self.spots[place] = Spot::Linked(core);
    }

    /// The task has to wait for the core to let go of it.
    pub(super) fn leaves(&mut self, place: usize, core: CoreId) {
        self.spots[place] = Spot::Leaving(core);
    }

    /// Puts a task that is linked nowhere where its state says.
    pub(super) fn queue(&mut self, place: usize) {
        let task = &self.tasks[place];
        let waiting = task.state == State::Waiting;
        self.spots[place] = if waiting { Spot::Out } else { Spot::Queued };
        if waiting {
            self.ready.remove(place);
        } else {
            self.ready.insert(Link::of(task, place).key);
        }
    }

    /// A boundary of the task. Gives the next one, and whether what competes has changed.
    pub(super) fn release(&mut self, due: Key, records: &mut Recorder) -> (Option<Instant>, bool) {
        let task = &mut self.tasks[due.place()];
        let next = task.next_boundary(due.time());
        (next, task.release(due.time(), records))
    }

    /// Charges what a core had and does what the event or the budget asks. Whether it could go on, and whether what
    /// competes has changed.
    pub(super) fn charge(
        &mut self,
        had: &Had,
        elapsed: Duration,
        event: Event,
        records: &mut Recorder,
    ) -> (bool, bool) {
        let place = usize::from(had.place);
        let task = &mut self.tasks[place];
        if let Some(ghost) = &had.ghost {
            // A release may have ended it.
            let same = task.state == State::Ghost && Ghost::of(task, place).job == ghost.job;
            return (same, same && task.drain(elapsed));
        }
        task.charge(elapsed);
        match event {
            Event::Complete => {
                task.complete(records);
                (false, true)
            }
            Event::Remove => {
                task.remove(records);
                (false, true)
            }
            Event::Start
            | Event::Timer
            | Event::Notify
            | Event::Arrival
            | Event::Unlock
            | Event::Wait
            | Event::Lock
            | Event::Signal
            | Event::Slot => (true, task.exhaust(records)),
        }
    }

    /// Whether the job is one of this container's, at this level.
    pub(super) fn has(job: &Job, which: usize) -> bool {
        job.name.1.index() == 2 + which
    }
}
