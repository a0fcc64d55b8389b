//! Levels C and D: global EDF over what A and B leave, and first come, first served over what C leaves.
//!
//! What competes at level C is a task with a job to run or a ghost. Each core has at most one **linked** to it at C
//! and one job at D; links are made as in global EDF (see `global`): by any core, noticed by the core concerned when
//! it handles the event sent to it. What a core has **current** is put back into a queue by that core only. Ghosts
//! are treated as jobs in all this, since they use up their budgets where they are current.
//!
//! A core is open to C while it runs no job of A or B, and open to D while it also has no job linked at C. At D
//! nobody is displaced by another task of D.

use super::job::{Ghost, Job};
use super::reconfigure::ReconfigurationBarrier;
use super::task_state::{State, TaskState};
use crate::cores::Cores;
use crate::heap::{Heap, IndexedHeap, Key};
use crate::records::Recorder;
use crate::{Event, Mc2, PolicyConfig};
use alloc::boxed::Box;
use alloc::vec::Vec;
use tactus_time::{CoreId, CoreSet, Duration, Instant, Level, TaskId};

/// The two containers that all cores share.
pub struct Shared {
    /// By place; places are in the order of task numbers.
    pub(super) tasks: Vec<TaskState>,
    spots: Vec<Spot>,
    /// Each task's next boundary.
    pub(super) releases: Heap,
    level_c: IndexedHeap,
    level_d: Heap,
    has_level_d: bool,
    cores: Vec<Entry>,
    /// What cores have at C, by urgency.
    wanting: Cores,
    tickets: u32,
    /// How the system changes while it runs.
    pub(super) barrier: Option<Box<ReconfigurationBarrier>>,
}

/// Where a task is that has something to compete with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Spot {
    /// It has nothing.
    Out,
    /// In a queue.
    Queued,
    /// Linked to the core.
    Linked(CoreId),
    /// Displaced, but still current on the core, which has been told.
    Leaving(CoreId),
}

#[derive(Clone, Copy, Default)]
struct Entry {
    open: bool,
    linked_c: Option<Key>,
    linked_d: Option<usize>,
    /// What the core has had since its last decision: at C a job or a ghost, at D a job.
    current_c: Option<usize>,
    current_d: Option<usize>,
}

/// What levels C and D want of a core.
#[derive(Default)]
pub struct Wanted {
    /// The ghost that is selected at C.
    pub ghost: Option<Ghost>,
    /// The job to run, and what it was charged.
    pub run: Option<(Job, Duration)>,
    /// When its budget or that of the ghost ends.
    pub timer: Option<Instant>,
}

impl Shared {
    /// Both, empty. The set-up must have been checked.
    pub fn new(setup: &PolicyConfig, mc2: &Mc2) -> Shared {
        let tasks: Vec<TaskState> = setup
            .tasks
            .iter()
            .enumerate()
            .filter(|(_, task)| task.level >= Level::C)
            .map(|(n, task)| TaskState::new(TaskId(n as u16), task, mc2))
            .collect();
        let mut releases = Heap::with_capacity(tasks.len());
        for (place, task) in tasks.iter().enumerate() {
            let offset = setup.tasks[task.name.0.index()].offset;
            releases.push(Key::at(Instant::ZERO.saturating_add(offset), place));
        }
        Shared {
            spots: alloc::vec![Spot::Out; tasks.len()],
            releases,
            level_c: IndexedHeap::for_tasks(tasks.len()),
            level_d: Heap::with_capacity(tasks.len()),
            has_level_d: tasks.iter().any(|task| task.name.1 == Level::D),
            cores: alloc::vec![Entry::default(); setup.cores],
            wanting: Cores::closed(setup.cores),
            tickets: 0,
            barrier: None,
            tasks,
        }
    }

    /// The place of this decision among all that take the lock.
    pub fn ticket(&mut self) -> u32 {
        self.tickets = self.tickets.wrapping_add(1);
        self.tickets
    }

    /// How many cores there are.
    pub(super) fn cores(&self) -> usize {
        self.cores.len()
    }

    /// When the next task of level C or D is due.
    pub fn next_release(&self) -> Instant {
        self.releases.peek().map_or(Instant::NEVER, Key::time)
    }

    /// Charges the job that ran on the core and does what the event or its budget asks. Whether it could go on.
    pub fn leave(&mut self, me: CoreId, ran: Job, elapsed: Duration, event: Event, records: &mut Recorder) -> bool {
        let task = &mut self.tasks[ran.place()];
        task.charge(elapsed);
        let (goes_on, changed) = match event {
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
        };
        self.no_longer_current(me, ran.place(), changed);
        goes_on
    }

    /// Uses up the budget of the ghost that was selected on the core, unless it has ended meanwhile.
    pub fn drain(&mut self, me: CoreId, ghost: &Ghost, elapsed: Duration) {
        let task = &mut self.tasks[ghost.place()];
        let same = task.state == State::Ghost && Ghost::of(task, ghost.place()).job == ghost.job;
        let ended = same && task.drain(elapsed);
        self.no_longer_current(me, ghost.place(), ended);
    }

    /// The core has nothing current at this task's level until it has decided; what was displaced is free to go
    /// elsewhere, and what has changed is queued anew.
    fn no_longer_current(&mut self, me: CoreId, place: usize, changed: bool) {
        let entry = &mut self.cores[me.index()];
        let level_d = self.tasks[place].name.1 == Level::D;
        *(if level_d { &mut entry.current_d } else { &mut entry.current_c }) = None;
        match self.spots[place] {
            Spot::Leaving(core) if core == me => self.queue(place),
            Spot::Linked(core) if core == me && changed => {
                if level_d {
                    entry.linked_d = None;
                } else {
                    entry.linked_c = None;
                    self.say(me);
                }
                self.queue(place);
            }
            _ => {}
        }
    }

    /// Puts a task that is linked nowhere where its state says.
    fn queue(&mut self, place: usize) {
        let task = &self.tasks[place];
        self.spots[place] = if task.state == State::Waiting { Spot::Out } else { Spot::Queued };
        match (task.name.1, task.state) {
            (Level::D, State::Waiting) => {}
            (Level::D, _) => self.level_d.push(task.release_key(place)),
            (_, State::Waiting) => self.level_c.remove(place),
            _ => self.level_c.insert(task.deadline_key(place)),
        }
    }

    /// Tells whether the core is open to C. When it closes, its tasks go back to the queues: it is the core itself
    /// that calls, so they run nowhere.
    pub fn set_open(&mut self, me: CoreId, open: bool) {
        let entry = &mut self.cores[me.index()];
        if entry.open == open {
            return;
        }
        entry.open = open;
        if open {
            self.say(me);
            return;
        }
        let (c, d) = (entry.linked_c.take(), entry.linked_d.take());
        self.say(me);
        if let Some(key) = c {
            self.queue(key.place());
        }
        if let Some(place) = d {
            self.queue(place);
        }
    }

    /// Makes due all boundaries up to now. A ghost that ends thereby on another core is that core's concern: it is
    /// among those to notify.
    pub fn release_due(&mut self, me: CoreId, notify: &mut CoreSet, records: &mut Recorder) {
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
            if !task.release(due.time(), records) {
                continue;
            }
            if let Spot::Linked(core) = self.spots[place] {
                self.cores[core.index()].linked_c = None;
                self.say(core);
                if core != me {
                    notify.insert(core);
                }
            }
            self.queue(place);
        }
    }

    /// Links what is queued to cores, first at C, then at D.
    pub fn link(&mut self, me: CoreId, notify: &mut CoreSet) {
        while let Some(best) = self.level_c.peek() {
            let Some(core) = self.wanting.least_urgent(me) else { break };
            let entry = &mut self.cores[core.index()];
            let displaced = entry.linked_c;
            if displaced.is_some_and(|linked| linked < best) {
                break;
            }
            entry.linked_c = Some(best);
            self.wanting.open(core, Some(best));
            let current = entry.current_c;
            self.level_c.remove(best.place());
            self.spots[best.place()] = Spot::Linked(core);
            if let Some(displaced) = displaced {
                self.displace(me, core, displaced.place(), current);
            }
            if core != me {
                notify.insert(core);
            }
        }
        if self.has_level_d {
            self.link_d(me, notify);
        }
    }

    fn link_d(&mut self, me: CoreId, notify: &mut CoreSet) {
        for n in 0..self.cores.len() {
            let core = CoreId(n as u8);
            if self.open_to_d(core) {
                continue;
            }
            let entry = &mut self.cores[n];
            if let Some(place) = entry.linked_d.take() {
                // Another core is among those to notify already: what it has linked at C has changed.
                let current = entry.current_d;
                self.displace(me, core, place, current);
            }
        }
        while let Some(first) = self.level_d.peek() {
            let free = |core: &CoreId| self.open_to_d(*core) && self.cores[core.index()].linked_d.is_none();
            let others = (0..self.cores.len()).map(|n| CoreId(n as u8));
            let Some(core) = core::iter::once(me).chain(others).find(free) else { break };
            self.level_d.pop();
            self.cores[core.index()].linked_d = Some(first.place());
            self.spots[first.place()] = Spot::Linked(core);
            if core != me {
                notify.insert(core);
            }
        }
    }

    /// A task has lost its link to `core`. If it is still current there, it has to wait for that core.
    fn displace(&mut self, me: CoreId, core: CoreId, place: usize, current: Option<usize>) {
        if core != me && current == Some(place) {
            self.spots[place] = Spot::Leaving(core);
        } else {
            self.queue(place);
        }
    }

    fn open_to_d(&self, core: CoreId) -> bool {
        let entry = &self.cores[core.index()];
        entry.open && entry.linked_c.is_none_or(|key| self.tasks[key.place()].state == State::Ghost)
    }

    /// What a core has at C has changed.
    fn say(&mut self, core: CoreId) {
        let entry = &self.cores[core.index()];
        if entry.open {
            self.wanting.open(core, entry.linked_c);
        } else {
            self.wanting.close(core);
        }
    }

    /// Takes up on this core what is linked to it.
    pub fn take_up(&mut self, me: CoreId, now: Instant) -> Wanted {
        let open_to_d = self.open_to_d(me);
        let entry = &mut self.cores[me.index()];
        entry.current_c = entry.linked_c.map(Key::place);
        entry.current_d = entry.linked_d.filter(|_| open_to_d);
        let mut wanted = Wanted::default();
        if let Some(place) = entry.current_c {
            let task = &self.tasks[place];
            let end = now.saturating_add(task.left);
            if task.state == State::Ghost {
                wanted.ghost = Some(Ghost::of(task, place));
                wanted.timer = Some(end);
            } else {
                wanted.run = Some((Job::of(task, place), task.charged));
                wanted.timer = task.enforce.then_some(end);
                return wanted;
            }
        }
        wanted.run = entry.current_d.map(|place| (Job::of(&self.tasks[place], place), self.tasks[place].charged));
        wanted
    }
}

/// What the variants of MC² ask beside.
impl Shared {
    /// Whether it is displaced, and waits for the core.
    pub fn leaving(&self, place: usize, core: CoreId) -> bool {
        self.spots[place] == Spot::Leaving(core)
    }

    /// The core has nothing on its hands.
    pub fn nothing_current(&mut self, core: CoreId) {
        let entry = &mut self.cores[core.index()];
        (entry.current_c, entry.current_d) = (None, None);
    }

    /// The core does not have it, and never will.
    pub fn free(&mut self, place: usize) {
        self.queue(place);
    }

    /// What a core has on its hands as far as is known, at C and at D.
    pub fn current(&self, core: CoreId) -> [Option<usize>; 2] {
        let entry = &self.cores[core.index()];
        [entry.current_c, entry.current_d]
    }

    /// The task at this place.
    pub fn task(&self, place: usize) -> &TaskState {
        &self.tasks[place]
    }
}
