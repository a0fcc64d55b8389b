//! Levels A and B of one core: the cyclic executive, and EDF over what it leaves. No other core touches them.

use super::server::{Server, State};
use super::table::Position;
use super::{Ghost, Job};
use crate::heap::{Heap, IndexedHeap, Key};
use crate::records::Recorder;
use crate::{Event, Mc2, Setup};
use alloc::vec::Vec;
use tactus_time::{CoreId, Duration, Instant, Level, TaskId};

/// The two containers of one core.
pub(crate) struct Local {
    /// By place; places are in the order of task numbers.
    tasks: Vec<Server>,
    /// Each task's next boundary.
    releases: Heap,
    table: Position,
    /// The tasks of level B that have a job to run or a ghost, the running one included.
    level_b: IndexedHeap,
}

/// What levels A and B want of the core.
pub(crate) struct Wanted {
    /// The ghosts that are selected at A and B.
    pub(crate) ghosts: [Option<Ghost>; 2],
    /// The job to run.
    pub(crate) run: Option<Job>,
    /// When they have to look again.
    pub(crate) timer: Instant,
}

impl Local {
    pub(crate) fn new(setup: &Setup, mc2: &Mc2, id: CoreId) -> Local {
        let numbers: Vec<usize> = (0..setup.tasks.len())
            .filter(|n| setup.tasks[*n].level <= Level::B && setup.tasks[*n].core == Some(id))
            .collect();
        let mut releases = Heap::with_capacity(numbers.len());
        for (place, number) in numbers.iter().enumerate() {
            releases.push(Key::at(Instant::ZERO.saturating_add(setup.tasks[*number].offset), place));
        }
        // Every slot's task is among them, as was checked.
        let place = |task: TaskId| numbers.binary_search(&task.index()).unwrap_or(usize::MAX);
        Local {
            table: Position::new(&mc2.tables[id.index()], place),
            level_b: IndexedHeap::for_tasks(numbers.len()),
            tasks: numbers.iter().map(|n| Server::new(TaskId(*n as u16), &setup.tasks[*n], mc2)).collect(),
            releases,
        }
    }

    /// Charges the job that ran and does what the event or its budget asks. Whether it could go on.
    pub(crate) fn leave(&mut self, ran: Job, elapsed: Duration, event: Event, records: &mut Recorder) -> bool {
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
            Event::Start | Event::Timer | Event::Notify => {
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
    pub(crate) fn drain(&mut self, ghost: &Ghost, elapsed: Duration) {
        if self.tasks[ghost.place()].drain(elapsed) {
            self.queue(ghost.place());
        }
    }

    /// Makes due all boundaries up to now.
    pub(crate) fn release_due(&mut self, records: &mut Recorder) {
        while let Some(due) = self.releases.peek() {
            if due.time() > records.now {
                break;
            }
            let place = due.place();
            let task = &mut self.tasks[place];
            match task.next_boundary(due.time()) {
                Some(next) => self.releases.replace_first(Key::at(next, place)),
                None => {
                    self.releases.pop();
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
    pub(crate) fn choose(&mut self, now: Instant) -> Wanted {
        let table = self.table.advance(now);
        let mut wanted = Wanted { ghosts: [None; 2], run: None, timer: table.next };
        if let Some(next) = self.releases.peek() {
            wanted.timer = wanted.timer.min(next.time());
        }
        if let Some((owner, end)) = table.slot {
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

    fn run(&self, mut wanted: Wanted, place: usize, now: Instant) -> Wanted {
        let task = &self.tasks[place];
        if task.enforce {
            wanted.timer = wanted.timer.min(now.saturating_add(task.left));
        }
        wanted.run = Some(Job::of(task, place));
        wanted
    }

    /// What the task's oldest unfinished job was charged.
    pub(crate) fn charged(&self, place: usize) -> Duration {
        self.tasks[place].charged
    }
}
