//! Levels A and B of one core: the cyclic executive, and EDF over what it leaves. No other core touches them.
//!
//! While a job of level A has the core, it is deaf to level B: no time-out is wanted for boundaries of level B, and they
//! are not made due where the job just goes on. They wait, with their own times, for the next entry at which the core
//! is given to anybody anew: nothing could come of them before.

use super::job::{Ghost, Job};
use super::table::{Now, Position};
use super::task_state::{State, TaskState};
use crate::heap::{Heap, IndexedHeap, Key};
use crate::records::Recorder;
use crate::{Event, Mc2, PolicyConfig, Table};
use alloc::vec::Vec;
use tactus_time::{CoreId, Duration, Instant, Level, TaskId};

/// The two containers of one core.
pub struct Local {
    /// By place; places are in the order of task numbers.
    pub(super) tasks: Vec<TaskState>,
    /// Each task's next boundary, at A and at B.
    pub(super) releases: [Heap; 2],
    pub(super) table: Position,
    /// The tasks of level B that have a job to run or a ghost, the running one included.
    level_b: IndexedHeap,
}

/// What levels A and B want of the core.
#[derive(Clone, Copy)]
pub struct Wanted {
    /// The ghosts that are selected at A and B.
    pub ghosts: [Option<Ghost>; 2],
    /// The job to run.
    pub run: Option<Job>,
    /// When they have to look again.
    pub timer: Instant,
}

impl Local {
    /// Those of these levels on this core; of level A if that is among them.
    pub fn new(setup: &PolicyConfig, mc2: &Mc2, id: CoreId, levels: &[Level]) -> Local {
        let numbers: Vec<usize> = (0..setup.tasks.len())
            .filter(|n| levels.contains(&setup.tasks[*n].level) && setup.tasks[*n].core == Some(id))
            .collect();
        let mut releases = [Heap::with_capacity(numbers.len()), Heap::with_capacity(numbers.len())];
        for (place, number) in numbers.iter().enumerate() {
            let task = &setup.tasks[*number];
            releases[task.level.index()].push(Key::at(Instant::ZERO.saturating_add(task.offset), place));
        }
        // Every slot's task is among them, as was checked.
        let place = |task: TaskId| numbers.binary_search(&task.index()).unwrap_or(usize::MAX);
        let none = Table::default();
        let table = if levels.contains(&Level::A) { &mc2.tables[id.index()] } else { &none };
        Local {
            table: Position::new(table, place),
            level_b: IndexedHeap::for_tasks(numbers.len()),
            tasks: numbers.iter().map(|n| TaskState::new(TaskId(*n as u16), &setup.tasks[*n], mc2)).collect(),
            releases,
        }
    }

    /// A table of this core.
    pub(super) fn position(&self, table: &Table) -> Position {
        // Every slot's task is among those here, as was checked.
        Position::new(table, |task| self.tasks.iter().position(|it| it.name.0 == task).unwrap_or(usize::MAX))
    }

    /// Charges the job that ran and does what the event or its budget asks. Whether it could go on.
    pub fn leave(&mut self, ran: Job, elapsed: Duration, event: Event, records: &mut Recorder) -> bool {
        let task = &mut self.tasks[ran.place()];
        task.charge(elapsed);
        let goes_on = match event {
            Event::Complete => {
                task.complete(records);
                false
            }
            Event::Remove => {
                task.remove(records);
                false
            }
            Event::Start
            | Event::Timer
            | Event::Notify
            | Event::Arrival
            | Event::Unlock
            | Event::Wait
            | Event::Lock
            | Event::Signal
            | Event::Slot => {
                if !task.exhaust(records) {
                    return true;
                }
                true
            }
        };
        self.queue(ran.place());
        goes_on
    }

    /// Uses up the budget of a ghost that was selected.
    pub fn drain(&mut self, ghost: &Ghost, elapsed: Duration) {
        let task = &mut self.tasks[ghost.place()];
        // A release that another core noticed may have ended it.
        let same = task.state == State::Ghost && Ghost::of(task, ghost.place()).job == ghost.job;
        if same && task.drain(elapsed) {
            self.queue(ghost.place());
        }
    }

    /// Where the core is in its table.
    pub fn look_up(&mut self, now: Instant) -> Now {
        self.table.advance(now)
    }

    /// How much of the time since `last` belongs to the slot's owner although `ran` had the core: a slot is its
    /// owner's from its nominal start, and from the job's nominal release if that is later. Nothing if the owner
    /// would have used up its budget before its job could begin: an entry that is so late is not the job's doing.
    pub fn late(&self, table: &Now, ran: Option<Job>, last: Instant, now: Instant) -> Duration {
        let Some(slot) = &table.slot else { return Duration::ZERO };
        let task = &self.tasks[slot.owner];
        if ran.is_some_and(|job| job.name == task.name) {
            return Duration::ZERO;
        }
        let Some((ready, left)) = task.ready_since(now) else { return Duration::ZERO };
        let late = now.since(slot.start.max(ready).max(last));
        if task.enforce && late >= left {
            return Duration::ZERO;
        }
        late
    }

    /// Whether the slot's owner goes on with the job that it had the core for.
    pub fn level_a_goes_on(&self, table: &Now, unfinished: Option<Job>) -> bool {
        let (Some(slot), Some(job)) = (&table.slot, unfinished) else { return false };
        let task = &self.tasks[slot.owner];
        task.state == State::Ready && Job::of(task, slot.owner) == job
    }

    /// Charges the slot's owner, once its job is released, for what is its by [`late`](Local::late).
    pub fn charge_late(&mut self, table: &Now, late: Duration) {
        if let Some(slot) = table.slot.as_ref().filter(|_| !late.is_zero()) {
            self.tasks[slot.owner].charge(late);
        }
    }

    /// Makes due all boundaries up to now: of level A and, unless it is `deaf`, of level B.
    pub fn release_due(&mut self, deaf: bool, records: &mut Recorder) {
        loop {
            let [a, b] = [0, 1].map(|level| self.releases[level].peek());
            let from_b = !deaf && b.is_some_and(|b| a.is_none_or(|a| b < a));
            let Some(due) = (if from_b { b } else { a }) else { break };
            let releases = &mut self.releases[usize::from(from_b)];
            if due.time() > records.now {
                break;
            }
            let place = due.place();
            let task = &mut self.tasks[place];
            match task.next_boundary(due.time()) {
                Some(next) => releases.replace_first(Key::at(next, place)),
                None => {
                    releases.pop();
                }
            }
            if task.release(due.time(), records) {
                self.queue(place);
            }
        }
    }

    /// Brings the level-B queue up to date with the task's state.
    fn queue(&mut self, place: usize) {
        let task = &self.tasks[place];
        match (task.name.1, task.state) {
            (Level::B, State::Waiting) => self.level_b.remove(place),
            (Level::B, _) => self.level_b.insert(task.deadline_key(place)),
            _ => {}
        }
    }

    /// Chooses, A before B: the slot's owner, then the earliest deadline. A ghost is passed over, but noted.
    pub fn choose(&self, table: &Now, now: Instant) -> Wanted {
        self.choose_and_wait(table, now, true)
    }

    /// The same; the time-out is for boundaries and slots that begin as well if `alarms` says so.
    pub fn choose_and_wait(&self, table: &Now, now: Instant, alarms: bool) -> Wanted {
        let timer = if alarms { table.next } else { Instant::NEVER };
        let mut wanted = Wanted { ghosts: [None; 2], run: None, timer };
        if alarms {
            self.wait_for_release(Level::A, &mut wanted);
        }
        if let Some(slot) = &table.slot {
            let (owner, end) = (slot.owner, slot.end);
            let task = &self.tasks[owner];
            match task.state {
                State::Waiting => {}
                State::Ghost => {
                    // Its budget may end before the slot does; nobody would notice the difference.
                    wanted.timer = wanted.timer.min(end);
                    wanted.ghosts[0] = Some(Ghost::of(task, owner));
                }
                State::Ready => {
                    wanted.timer = wanted.timer.min(end);
                    return self.run(wanted, owner, now);
                }
            }
        }
        if alarms {
            self.wait_for_release(Level::B, &mut wanted);
        }
        if let Some(first) = self.level_b.peek() {
            let place = first.place();
            let task = &self.tasks[place];
            if task.state == State::Ready {
                return self.run(wanted, place, now);
            }
            wanted.timer = wanted.timer.min(now.saturating_add(task.left));
            wanted.ghosts[1] = Some(Ghost::of(task, place));
        }
        wanted
    }

    fn wait_for_release(&self, level: Level, wanted: &mut Wanted) {
        if let Some(next) = self.releases[level.index()].peek() {
            wanted.timer = wanted.timer.min(next.time());
        }
    }

    fn run(&self, mut wanted: Wanted, place: usize, now: Instant) -> Wanted {
        let task = &self.tasks[place];
        if task.enforce {
            wanted.timer = wanted.timer.min(now.saturating_add(task.left));
        }
        wanted.run = Some(Job::of(task, place));
        wanted
    }

    /// What the task's oldest unfinished job was charged.
    pub fn charged(&self, place: usize) -> Duration {
        self.tasks[place].charged
    }
}

/// What the variants of MC² ask beside.
impl Local {
    /// Whether it has no task.
    pub fn is_empty(&self) -> bool {
        self.tasks.is_empty()
    }

    /// When a boundary or a slot is due next.
    pub fn due(&mut self, now: Instant) -> Instant {
        let first = self.releases.iter().filter_map(Heap::peek).map(Key::time).fold(Instant::NEVER, Instant::min);
        self.table.advance(now).next.min(first)
    }

    /// The task at this place.
    pub fn task(&self, place: usize) -> &TaskState {
        &self.tasks[place]
    }
}
