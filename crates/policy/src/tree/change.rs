//! Changing a tree while it runs: tasks and servers begin and end, and get other values, with no promise broken by it.
//!
//! **The protocol** is that of the idle instant (Tindell and Alonso 1996; Real and Crespo, "Mode change protocols for
//! real-time systems", Real-Time Systems 26, 2004), for each domain by itself: a core, or the cores that share the root's queue. A
//! change is **asked for** at its time; from then on what is to be removed releases no more jobs, and what it has goes on to its end.
//! The change **takes effect** at the first instant at which all cores of the domain are *quiet*: nothing that their root could run is
//! left over from before, neither a job nor a server with budget and work. What runs after that began after it, so that no job sees
//! the load of both before and after, whatever the order. Servers that wait for budget may have work left: to the others they are what they are in any of their
//! periods. A server that is removed, and where [`Change::drains`] one that changes or whose tasks change, must have none.
//!
//! Changes of one domain take effect in the order in which they are asked for; several may in one instant. A server that is
//! added or altered begins with a full budget and a new period; a task that is added is released its offset later.
//!
//! **Admission** is by analysis, before the run; what it refuses is refused here when it is asked for. What takes effect
//! is looked at once more: it may not raise what the domain has promised above its cores, whatever a table says.
//!
//! **Work:** an entry looks at each task and server of the domain once for each change that waits, and at nothing else if
//! none does. All memory is taken beforehand.

use super::domain::Domain;
use super::Tree;
use crate::heap::Key;
use crate::records::Recorder;
use crate::{Setup, SetupError};
use alloc::vec::Vec;
use tactus_record::{Kind, CHANGE_NOT_ADMITTED, CHANGE_OVERLOADS};
use tactus_time::{Duration, Instant, TaskId};

/// A tree, and how it changes while it runs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Changing {
    /// Everything that is there at some time, with the values of the start.
    pub tree: Tree,
    /// What is not there at the start. What is in an absent server is not there either.
    pub absent: Vec<Part>,
    /// The changes in the order in which they are asked for.
    pub changes: Vec<Change>,
    /// When they take effect.
    pub protocol: Protocol,
}

/// A change.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Change {
    /// When it is asked for, from the start of the run.
    pub at: Duration,
    /// Of what.
    pub part: Part,
    /// Which.
    pub action: Action,
    /// Admission has found that all promises will be kept.
    pub admitted: bool,
    /// It waits until its server, or the server of its task, has no work left.
    pub drains: bool,
}

/// What is changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    /// A task.
    Task(TaskId),
    /// A server, by its place in the tree.
    Server(u16),
}

/// What is done with it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    /// It begins.
    Add,
    /// It ends.
    Remove,
    /// It has these values from then on.
    Alter(Values),
}

/// What a task or server has after it was altered; all of it, whether it is new or not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Values {
    /// The execution time of a task, the budget of a server.
    pub time: Duration,
    /// The period.
    pub period: Duration,
    /// The relative deadline of a task; nothing is made of a server's.
    pub deadline: Duration,
    /// The priority.
    pub priority: u32,
}

/// When changes take effect.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Protocol {
    /// When the core is quiet.
    #[default]
    Quiet,
    /// As soon as they are asked for, which breaks promises: a reference to compare with, not to be relied upon.
    AtOnce,
}

/// Finds the first thing that is wrong.
pub(super) fn check(setup: &Setup, changing: &Changing) -> Result<(), SetupError> {
    let tree = &changing.tree;
    // Cores may share the root's queue, where nothing else is.
    let shared = |set: &tactus_time::CoreSet| set.iter().nth(1).is_some();
    if tree.servers.len() > 1 && super::build::domains(setup.cores, tree).iter().any(shared) {
        return Err(SetupError::ChangeCores);
    }
    let known = |part: Part| match part {
        Part::Task(task) => {
            let place = tree.places.get(task.index());
            place.is_some_and(|place| tree.servers[usize::from(place.server)].parent == 0)
        }
        Part::Server(n) => {
            let one_core = |server: &super::Server| server.parent == 0 && server.cores.iter().nth(1).is_none();
            let inner = tree.servers.iter().skip(1).any(|server| server.parent == n);
            n > 0 && !inner && tree.servers.get(usize::from(n)).is_some_and(one_core)
        }
    };
    if !changing.absent.iter().all(|part| known(*part)) {
        return Err(SetupError::ChangePart(u32::MAX));
    }
    let mut last = Duration::ZERO;
    for (n, change) in changing.changes.iter().enumerate() {
        let sound = match (change.action, change.part) {
            (Action::Alter(v), Part::Server(_)) => !v.time.is_zero() && v.time <= v.period,
            (Action::Alter(v), Part::Task(_)) => !v.time.is_zero() && !v.period.is_zero(),
            (Action::Add | Action::Remove, _) => true,
        };
        if !known(change.part) || !sound || change.at < last {
            return Err(SetupError::ChangePart(n as u32));
        }
        last = change.at;
    }
    Ok(())
}

/// The changes of one domain.
pub(super) struct Changes {
    list: Vec<Waiting>,
    /// So many have been asked for, and so many of these are settled.
    asked: usize,
    settled: usize,
    /// By place: the task is there, if its server is.
    there: Vec<bool>,
    protocol: Protocol,
}

/// A change that is to come.
#[derive(Clone, Copy)]
struct Waiting {
    number: u32,
    at: Instant,
    on: On,
    action: Action,
    admitted: bool,
    drains: bool,
}

/// A part by its place in the domain.
#[derive(Clone, Copy)]
enum On {
    Task(usize),
    Vp(usize),
}

/// Takes the domain's changes into it.
pub(super) fn attach(domain: &mut Domain, changing: &Changing) {
    let place = |domain: &Domain, part: Part| match part {
        Part::Task(task) => domain.tasks.iter().position(|work| work.name.0 == task).map(On::Task),
        Part::Server(n) => domain.vps.iter().position(|vp| vp.server == n).map(On::Vp),
    };
    let of = |(n, change): (usize, &Change)| {
        let on = place(domain, change.part)?;
        let at = Instant::ZERO.saturating_add(change.at);
        let Change { action, admitted, drains, .. } = *change;
        Some(Waiting { number: n as u32, at, on, action, admitted, drains })
    };
    let list: Vec<Waiting> = changing.changes.iter().enumerate().filter_map(of).collect();
    let mut there = alloc::vec![true; domain.tasks.len()];
    for part in &changing.absent {
        match place(domain, *part) {
            Some(On::Task(task)) => there[task] = false,
            Some(On::Vp(vp)) => domain.vps[vp].absent = true,
            None => {}
        }
    }
    for (task, there) in there.iter().enumerate() {
        if !there || domain.around(task).is_some_and(|vp| domain.vps[vp].absent) {
            domain.tasks[task].until = Instant::ZERO;
            domain.plan_event(task);
        }
    }
    for vp in 0..domain.vps.len() {
        domain.show(vp, Instant::ZERO);
    }
    domain.changes = Some(Changes { list, asked: 0, settled: 0, there, protocol: changing.protocol });
}

impl Changes {
    /// When the next one is asked for.
    pub(super) fn next(&self) -> Instant {
        self.list.get(self.asked).map_or(Instant::NEVER, |change| change.at)
    }
}

/// A whole core, in the parts that shares are counted in.
pub(crate) const WHOLE: u64 = 1 << 32;

/// How large a share of a core is, rounded down.
pub(crate) fn share(time: Duration, period: Duration) -> u64 {
    let share = u128::from(time.as_nanos()) * u128::from(WHOLE) / u128::from(period.as_nanos().max(1));
    u64::try_from(share).unwrap_or(u64::MAX)
}

impl Domain {
    /// The virtual processor of the server that the task is in; nothing for the root.
    fn around(&self, task: usize) -> Option<usize> {
        let vp = self.feeds[self.tasks[task].queue].vps[0];
        self.vps[vp].parent.is_some().then_some(vp)
    }

    /// Takes up what is asked for by now, and lets take effect what may.
    #[cold]
    pub(super) fn change(&mut self, records: &mut Recorder) {
        let Some(mut changes) = self.changes.take() else { return };
        let now = records.now;
        while let Some(change) = changes.list.get(changes.asked).filter(|change| change.at <= now) {
            changes.asked += 1;
            records.change(Kind::ChangeAsked, change.number, change.at.as_nanos());
            if change.admitted && change.action == Action::Remove {
                self.release_until(change.on, change.at);
            }
        }
        while changes.settled < changes.asked {
            let change = changes.list[changes.settled];
            if !change.admitted {
                records.change(Kind::ChangeRefused, change.number, CHANGE_NOT_ADMITTED);
            } else if changes.protocol == Protocol::Quiet && !(self.is_quiet(now) && self.is_settled(&change)) {
                break;
            } else if self.overloads(&changes, &change) {
                records.change(Kind::ChangeRefused, change.number, CHANGE_OVERLOADS);
            } else {
                records.change(Kind::Changed, change.number, 0);
                self.take_effect(&mut changes, &change, records);
            }
            changes.settled += 1;
        }
        self.changes = Some(changes);
    }

    /// What is to be removed releases nothing from `at` on.
    fn release_until(&mut self, on: On, at: Instant) {
        for task in 0..self.tasks.len() {
            let concerned = match on {
                On::Task(one) => one == task,
                On::Vp(vp) => self.around(task) == Some(vp),
            };
            if concerned {
                self.tasks[task].until = self.tasks[task].until.min(at);
                self.plan_event(task);
            }
        }
    }

    /// Whether nothing is left over that the root could run. What falls due now is not left over, though another core of the domain
    /// may have released it already in this instant.
    fn is_quiet(&self, now: Instant) -> bool {
        let over = |key: Option<Key>| key.is_some_and(|key| key.time() < now);
        let left = |task: usize, work: &super::work::Work| {
            work.ready() && work.was_released_before(now) && self.around(task).is_none()
        };
        let busy = |vp: &super::domain::Vp| {
            self.is_top(vp) && vp.awake && vp.budget.as_ref().is_some_and(|budget| budget.eligible(now))
        };
        !over(self.due.peek())
            && !self.slots.iter().any(|slot| over(slot.replenish.peek()))
            && !self.tasks.iter().enumerate().any(|(task, work)| left(task, work))
            && !self.vps.iter().any(busy)
    }

    /// Whether what is changed has nothing left to do under its old values.
    fn is_settled(&self, change: &Waiting) -> bool {
        let empty = |vp: Option<usize>| {
            (0..self.tasks.len()).all(|task| self.around(task) != vp || self.tasks[task].pending == 0)
        };
        match change.on {
            On::Task(task) => {
                let around = self.around(task);
                self.tasks[task].pending == 0 && (around.is_none() || !change.drains || empty(around))
            }
            On::Vp(vp) => !(change.drains || change.action == Action::Remove) || empty(Some(vp)),
        }
    }

    /// Whether the domain would have promised more than there is, and more than before.
    fn overloads(&self, changes: &Changes, change: &Waiting) -> bool {
        let (mut before, mut after) = (0_u64, 0_u64);
        let mut count = |there: bool, now: u64, concerned: bool| {
            let then = match change.action {
                _ if !concerned => now * u64::from(there),
                Action::Add => now,
                Action::Remove => 0,
                Action::Alter(values) => share(values.time, values.period),
            };
            before = before.saturating_add(now * u64::from(there));
            after = after.saturating_add(then);
        };
        for (task, work) in self.tasks.iter().enumerate().filter(|(task, _)| self.around(*task).is_none()) {
            count(changes.there[task], work.share(share), matches!(change.on, On::Task(one) if one == task));
        }
        for (vp, it) in self.vps.iter().enumerate().filter(|(_, it)| self.is_top(it)) {
            let now = it.budget.as_ref().map_or(0, |budget| budget.share(share));
            count(!it.absent, now, matches!(change.on, On::Vp(one) if one == vp));
        }
        after > WHOLE * self.slots.len() as u64 && after > before
    }

    /// Whether a virtual processor lies in the root.
    fn is_top(&self, vp: &super::domain::Vp) -> bool {
        vp.parent.is_some_and(|parent| self.vps[parent].parent.is_none())
    }

    fn take_effect(&mut self, changes: &mut Changes, change: &Waiting, records: &mut Recorder) {
        let now = records.now;
        match (change.on, change.action) {
            (On::Task(task), Action::Add) => {
                changes.there[task] = true;
                if self.around(task).is_none_or(|vp| !self.vps[vp].absent) {
                    self.tasks[task].begin_at(now);
                    self.plan_event(task);
                }
            }
            (On::Task(task), Action::Remove) => {
                changes.there[task] = false;
                // It may have begun in this very instant.
                self.release_until(change.on, Instant::ZERO);
            }
            (On::Task(task), Action::Alter(values)) => {
                self.tasks[task].alter(&values);
                self.queue(task, now);
                self.plan_event(task);
            }
            (On::Vp(vp), Action::Add) => {
                self.vps[vp].absent = false;
                self.refill(vp, None, records);
                for task in 0..self.tasks.len() {
                    if self.around(task) == Some(vp) && changes.there[task] {
                        self.tasks[task].begin_at(now);
                        self.plan_event(task);
                    }
                }
            }
            (On::Vp(vp), Action::Remove) => {
                self.vps[vp].absent = true;
                self.release_until(change.on, Instant::ZERO);
                self.show(vp, now);
            }
            (On::Vp(vp), Action::Alter(values)) => {
                self.vps[vp].rank = match self.vps[vp].order {
                    super::TaskOrder::FixedPriority => u64::from(u32::MAX - values.priority),
                    _ => values.period.as_nanos(),
                };
                self.refill(vp, Some((values.time, values.period)), records);
            }
        }
    }

    /// The server begins anew with a full budget, if it is there.
    fn refill(&mut self, vp: usize, length: Option<(Duration, Duration)>, records: &mut Recorder) {
        let it = &mut self.vps[vp];
        if let Some(budget) = &mut it.budget {
            let full = budget.begin_anew(length, records.now);
            if it.awake {
                budget.wake(records.now);
            }
            if !it.absent {
                records.server(Kind::ServerReplenish, it.server, full.as_nanos());
            }
        }
        self.show(vp, records.now);
    }
}
