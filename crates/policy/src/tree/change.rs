//! Changing a tree while it runs: tasks and servers begin and end, and get other values, with no promise broken by it.
//!
//! **The protocol** is that of the idle instant (Tindell and Alonso 1996; Real and Crespo, "Mode change protocols for
//! real-time systems", Real-Time Systems 26, 2004), for each domain by itself: a core, or the cores that share a queue. A
//! change is **asked for** at its time; from then on what is to be removed releases no more jobs, and what it has goes on to its end.
//! The change **takes effect** at the first instant at which all cores of the domain are *quiet*: nothing that their root could run is
//! left over from before, neither a job nor a server with budget and work, or with budget that has to go by without. What runs
//! after that began after it, so that no job sees the load of both before and after, whatever the order. Servers that wait for
//! budget may have work left: to the others they are what they are in any of their periods.
//!
//! **Inside servers** the same holds at each of them on the way to what changes: where [`Change::drains`], none of them has anything left
//! that it could run, and a server that changes has no work at all; one that is removed never has.
//!
//! Changes of one domain take effect in the order in which they are asked for; several may in one instant. What is on cores that share
//! nothing changes on each of them by itself. A server that is added or altered begins with a full budget and a new period, and
//! with it, when it is added, all that is inside and there; a task that is added is released its offset later.
//!
//! **Admission** is by analysis, before the run; what it refuses is refused here when it is asked for. What takes effect
//! is looked at once more: it may not raise what the domain has promised above its cores, whatever a table says.
//!
//! **Work:** an entry looks at each task and server of the domain once for each change that waits, and at nothing else if
//! none does. All memory is taken beforehand.

use super::budget::{Budget, Hollow};
use super::domain::{Domain, Vp};
use super::work::Work;
use super::Tree;
use crate::heap::Key;
use crate::records::Recorder;
use crate::{PolicyConfig, PolicyConfigError};
use alloc::vec::Vec;
use tactus_record::{EventKind, CHANGE_NOT_ADMITTED, CHANGE_OVERLOADS};
use tactus_time::{Duration, Instant, TaskId};

/// A tree, and how it changes while it runs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Changing {
    /// Everything that is there at some time, with the values of the start.
    pub tree: Tree,
    /// What is not there at the start. What lies in an absent server is not there either.
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
    /// It waits until the servers around it have nothing left that they could run, and a server that changes has no work at all.
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
    /// When the cores and the servers around what changes are quiet.
    #[default]
    Quiet,
    /// As soon as they are asked for, which breaks promises: a reference to compare with, not to be relied upon.
    AtOnce,
}

/// Finds the first thing that is wrong.
pub(super) fn check(setup: &PolicyConfig, changing: &Changing) -> Result<(), PolicyConfigError> {
    let known = |part: Part| match part {
        Part::Task(task) => task.index() < setup.tasks.len(),
        Part::Server(n) => n > 0 && usize::from(n) < changing.tree.servers.len(),
    };
    if !changing.absent.iter().all(|part| known(*part)) {
        return Err(PolicyConfigError::ChangePart(u32::MAX));
    }
    let mut last = Duration::ZERO;
    for (n, change) in changing.changes.iter().enumerate() {
        let sound = match (change.action, change.part) {
            (Action::Alter(v), Part::Server(_)) => !v.time.is_zero() && v.time <= v.period,
            (Action::Alter(v), Part::Task(_)) => !v.time.is_zero() && !v.period.is_zero(),
            (Action::Add | Action::Remove, _) => true,
        };
        if !known(change.part) || !sound || change.at < last {
            return Err(PolicyConfigError::ChangePart(n as u32));
        }
        last = change.at;
    }
    Ok(())
}

/// The changes of one domain.
pub(super) struct Changes {
    pub(super) list: Vec<Waiting>,
    /// So many have been asked for, and so many of these are settled.
    pub(super) asked: usize,
    pub(super) settled: usize,
    /// By place: the task is there, if the servers around it are.
    pub(super) tasks: Vec<bool>,
    /// By place in the tree: the server is there, if those around it are.
    servers: Vec<bool>,
    protocol: Protocol,
}

/// A change that is to come.
#[derive(Clone, Copy)]
pub(super) struct Waiting {
    pub(super) number: u32,
    pub(super) at: Instant,
    pub(super) on: On,
    pub(super) action: Action,
    pub(super) admitted: bool,
    pub(super) drains: bool,
}

/// A task by its place in the domain, a server by its place in the tree.
#[derive(Clone, Copy)]
pub(super) enum On {
    Task(usize),
    Server(u16),
}

/// Takes the domain's changes into it.
pub(super) fn attach(domain: &mut Domain, changing: &Changing) {
    let place = |domain: &Domain, part: Part| match part {
        Part::Task(task) => domain.tasks.iter().position(|work| work.name.0 == task).map(On::Task),
        Part::Server(n) => domain.vps.iter().any(|vp| vp.server == n).then_some(On::Server(n)),
    };
    let of = |(n, change): (usize, &Change)| {
        let on = place(domain, change.part)?;
        let at = Instant::ZERO.saturating_add(change.at);
        let Change { action, admitted, drains, .. } = *change;
        Some(Waiting { number: n as u32, at, on, action, admitted, drains })
    };
    let list: Vec<Waiting> = changing.changes.iter().enumerate().filter_map(of).collect();
    let mut tasks = alloc::vec![true; domain.tasks.len()];
    let mut servers = alloc::vec![true; changing.tree.servers.len()];
    for part in &changing.absent {
        match place(domain, *part) {
            Some(On::Task(task)) => tasks[task] = false,
            Some(On::Server(n)) => servers[usize::from(n)] = false,
            None => {}
        }
    }
    domain.tell_who_is_there(&servers);
    for (task, there) in tasks.iter().enumerate() {
        if !there || domain.vps[domain.home(task)].absent {
            domain.tasks[task].until = Instant::ZERO;
            domain.plan_event(task);
        }
    }
    domain.begin_at_zero();
    domain.changes = Some(Changes { list, asked: 0, settled: 0, tasks, servers, protocol: changing.protocol });
}

impl Changes {
    /// Whether one was asked for that is not settled.
    pub(super) fn waits(&self) -> bool {
        self.settled < self.asked
    }

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
    /// A virtual processor of the server, or the root, that the task is in.
    pub(super) fn home(&self, task: usize) -> usize {
        self.feeds[self.tasks[task].queue].vps[0]
    }

    /// The virtual processor and those around it, without the root's.
    fn way(&self, vp: usize) -> impl Iterator<Item = usize> + '_ {
        let servers = core::iter::successors(Some(vp), |vp| self.vps[*vp].parent);
        servers.filter(|vp| self.vps[*vp].parent.is_some())
    }

    /// Whether the virtual processor is the server's or lies in it.
    pub(super) fn lies_in(&self, vp: usize, server: u16) -> bool {
        self.way(vp).any(|vp| self.vps[vp].server == server)
    }

    /// Takes up what is asked for by now, and lets take effect what may.
    #[cold]
    pub(super) fn change(&mut self, records: &mut Recorder) {
        let Some(mut changes) = self.changes.take() else { return };
        let now = records.now;
        while let Some(change) = changes.list.get(changes.asked).filter(|change| change.at <= now) {
            changes.asked += 1;
            records.change(EventKind::ChangeAsked, change.number, change.at.as_nanos());
            if change.admitted && change.action == Action::Remove {
                self.release_until(change.on, change.at);
            }
        }
        while changes.settled < changes.asked {
            let change = changes.list[changes.settled];
            if !change.admitted {
                records.change(EventKind::ChangeRefused, change.number, CHANGE_NOT_ADMITTED);
            } else if changes.protocol == Protocol::Quiet && !(self.is_quiet(now) && self.is_settled(&change, now)) {
                break;
            } else if self.overloads(&changes, &change) {
                records.change(EventKind::ChangeRefused, change.number, CHANGE_OVERLOADS);
            } else {
                records.change(EventKind::Changed, change.number, 0);
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
                On::Server(server) => self.lies_in(self.home(task), server),
            };
            if concerned {
                self.tasks[task].until = self.tasks[task].until.min(at);
                self.plan_event(task);
            }
        }
    }

    /// Whether nothing is left over that the root could run. What falls due now is not left over, though another core of the domain
    /// may have released it already in this instant.
    pub(super) fn is_quiet(&self, now: Instant) -> bool {
        let over = |key: Option<Key>| key.is_some_and(|key| key.time() < now);
        let in_root = |vp: usize| self.vps[vp].parent.is_none();
        let left = |task: usize, work: &Work| work.ready() && work.was_released_before(now) && in_root(self.home(task));
        !over(self.due.peek())
            && !self.slots.iter().any(|slot| over(slot.replenish.peek()))
            && !self.tasks.iter().enumerate().any(|(task, work)| left(task, work))
            && !(0..self.vps.len()).any(|vp| self.vps[vp].parent.is_some_and(in_root) && self.is_due(vp, now))
    }

    /// Whether nothing is left over that the server could run.
    fn is_quiet_inside(&self, vp: usize, now: Instant) -> bool {
        let goes_on = |inner: &Vp| inner.awake && inner.background && !inner.is_out();
        let waits = |inner: usize| self.is_due(inner, now) || goes_on(&self.vps[inner]);
        !self.tasks.iter().any(|work| work.queue == self.vps[vp].below && work.is_left(now))
            && !(0..self.vps.len()).any(|inner| self.vps[inner].parent == Some(vp) && waits(inner))
    }

    /// Whether what is changed, and what is around it, has nothing left to do under the old values.
    fn is_settled(&self, change: &Waiting, now: Instant) -> bool {
        let quiet = |vp: usize| self.way(vp).all(|vp| self.is_quiet_inside(vp, now));
        match change.on {
            On::Task(task) => {
                let homes = &self.feeds[self.tasks[task].queue].vps;
                self.tasks[task].pending == 0 && (!change.drains || homes.iter().all(|vp| quiet(*vp)))
            }
            On::Server(server) => {
                let inside = |vp: usize| self.lies_in(vp, server);
                let worked_off = |task: usize| !self.tasks[task].is_left(now) || !inside(self.home(task));
                let keeps = !change.drains && matches!(change.action, Action::Alter(_));
                if !keeps && !(0..self.tasks.len()).all(worked_off) {
                    return false;
                }
                let calm = |(vp, it): (usize, &Vp)| match it.server == server {
                    true => it.parent.is_none_or(quiet),
                    false => !self.is_due(vp, now) || !inside(vp),
                };
                !change.drains || self.vps.iter().enumerate().all(calm)
            }
        }
    }

    /// Whether more would have been promised than there is, and more than before: of the cores or the server around what is changed,
    /// or of what a server has for those inside it.
    pub(super) fn overloads(&self, changes: &Changes, change: &Waiting) -> bool {
        match change.on {
            On::Task(task) => {
                let home = self.home(task);
                self.vps[home].parent.is_none() && self.overloads_in(home, changes, change)
            }
            On::Server(server) => {
                let around = |(vp, it): (usize, &Vp)| {
                    let around = it.parent.filter(|_| it.server == server);
                    around.is_some_and(|around| [vp, around].iter().any(|vp| self.overloads_in(*vp, changes, change)))
                };
                self.vps.iter().enumerate().any(around)
            }
        }
    }

    /// Whether more would have been promised of a server's or the root's time than it has, and more than before.
    fn overloads_in(&self, home: usize, changes: &Changes, change: &Waiting) -> bool {
        let queue = self.vps[home].below;
        let then = |now: u64, there: bool, concerned: bool| match change.action {
            _ if !concerned => now * u64::from(there),
            Action::Add => now,
            Action::Remove => 0,
            Action::Alter(values) => share(values.time, values.period),
        };
        // Before and after the change.
        let of = |vp: &Vp| {
            let there = changes.servers[usize::from(vp.server)];
            let now = vp.budget.as_ref().map_or(0, |budget| budget.share(share));
            let concerned = matches!(change.on, On::Server(server) if server == vp.server);
            [now * u64::from(there), then(now, there, concerned)]
        };
        let mut promised = [0_u64; 2];
        let mut count = |each: [u64; 2]| (0..2).for_each(|n| promised[n] = promised[n].saturating_add(each[n]));
        self.vps.iter().filter(|vp| vp.parent == Some(home)).for_each(|vp| count(of(vp)));
        let it = &self.vps[home];
        let has = if it.parent.is_some() {
            of(it)
        } else {
            for (task, work) in self.tasks.iter().enumerate().filter(|(_, work)| work.queue == queue) {
                let (now, there) = (work.share(share), changes.tasks[task]);
                let concerned = matches!(change.on, On::Task(one) if one == task);
                count([now * u64::from(there), then(now, there, concerned)]);
            }
            [WHOLE * self.feeds[queue].vps.len() as u64; 2]
        };
        // A server that is not there has nothing, and promises nothing.
        let excess = |n: usize| if has[n] == 0 { 0 } else { promised[n].saturating_sub(has[n]) };
        excess(1) > excess(0)
    }

    /// Servers have what they have at the beginning, with what is there. What is not there has been work to some until now.
    pub(super) fn begin_at_zero(&mut self) {
        for vp in 0..self.vps.len() {
            self.show(vp, Instant::ZERO);
        }
        for vp in 0..self.vps.len() {
            let it = &mut self.vps[vp];
            if let Some(budget) = &mut it.budget {
                budget.begin_anew(None, Instant::ZERO);
                if it.awake {
                    budget.wake(Instant::ZERO);
                }
            }
            self.show(vp, Instant::ZERO);
        }
    }

    /// Marks which virtual processors are not there, or lie in one that is not.
    fn tell_who_is_there(&mut self, servers: &[bool]) {
        for vp in 0..self.vps.len() {
            let within = self.vps[vp].parent.is_some_and(|parent| self.vps[parent].absent);
            self.vps[vp].absent = within || !servers[usize::from(self.vps[vp].server)];
        }
    }

    /// The task begins, if it is there and what is around it is; and releases nothing if it is to be removed already.
    fn begin(&mut self, task: usize, changes: &Changes, now: Instant) {
        if changes.tasks[task] && !self.vps[self.home(task)].absent {
            self.tasks[task].begin_at(now);
            let asked = &changes.list[changes.settled..changes.asked];
            self.tasks[task].until = self.end_of(task, asked);
            self.plan_event(task);
        }
    }

    /// When the first of the changes is asked for that removes the task, or a server around it: it releases nothing from then on.
    pub(super) fn end_of(&self, task: usize, changes: &[Waiting]) -> Instant {
        let removes = |change: &&Waiting| {
            change.admitted
                && change.action == Action::Remove
                && match change.on {
                    On::Task(one) => one == task,
                    On::Server(server) => self.lies_in(self.home(task), server),
                }
        };
        changes.iter().filter(removes).map(|change| change.at).min().unwrap_or(Instant::NEVER)
    }

    pub(super) fn take_effect(&mut self, changes: &mut Changes, change: &Waiting, records: &mut Recorder) {
        let now = records.now;
        match (change.on, change.action) {
            (On::Task(task), Action::Add) => {
                changes.tasks[task] = true;
                self.begin(task, changes, now);
            }
            (On::Task(task), Action::Remove) => {
                changes.tasks[task] = false;
                // It may have begun in this very instant.
                self.release_until(change.on, Instant::ZERO);
            }
            (On::Task(task), Action::Alter(values)) => {
                self.tasks[task].alter(&values);
                self.queue(task, now);
                self.plan_event(task);
            }
            (On::Server(server), Action::Add) => {
                changes.servers[usize::from(server)] = true;
                self.tell_who_is_there(&changes.servers);
                for vp in 0..self.vps.len() {
                    if self.lies_in(vp, server) {
                        self.refill(vp, None, now, records);
                    }
                }
                for task in 0..self.tasks.len() {
                    if self.lies_in(self.home(task), server) {
                        self.begin(task, changes, now);
                    }
                }
            }
            (On::Server(server), Action::Remove) => {
                changes.servers[usize::from(server)] = false;
                self.tell_who_is_there(&changes.servers);
                self.release_until(change.on, Instant::ZERO);
                for vp in 0..self.vps.len() {
                    if self.lies_in(vp, server) {
                        self.show(vp, now);
                    }
                }
            }
            (On::Server(server), Action::Alter(values)) => {
                for vp in 0..self.vps.len() {
                    if self.vps[vp].server == server {
                        self.alter_server(vp, &values, now, records);
                    }
                }
            }
        }
    }

    /// The server has these values, and begins anew.
    pub(super) fn alter_server(&mut self, vp: usize, values: &Values, now: Instant, records: &mut Recorder) {
        self.vps[vp].rank = match self.vps[vp].order {
            super::TaskOrder::FixedPriority => u64::from(u32::MAX - values.priority),
            _ => values.period.as_nanos(),
        };
        self.refill(vp, Some((values.time, values.period)), now, records);
    }

    /// The server begins anew with a full budget at `now`, if it is there.
    pub(super) fn refill(
        &mut self,
        vp: usize,
        length: Option<(Duration, Duration)>,
        now: Instant,
        records: &mut Recorder,
    ) {
        let it = &mut self.vps[vp];
        if let Some(budget) = &mut it.budget {
            let full = budget.begin_anew(length, now);
            if it.awake {
                budget.wake(now);
            }
            if !it.absent {
                records.server(EventKind::ServerReplenish, it.server, full.as_nanos());
                self.slots[it.core].called |= budget.when_hollow() != Hollow::Keeps;
            }
        }
        self.show(vp, now);
    }

    /// Whether the virtual processor has budget, and work or what counts as work until it has gone by. Budget that comes now is
    /// not there yet, of whatever kind; nor is work that comes now, where nothing became of the budget before: another core may have looked
    /// at it in this instant.
    fn is_due(&self, vp: usize, now: Instant) -> bool {
        let it = &self.vps[vp];
        let queued = self.queues.contains(self.tasks.len() + vp);
        let due = |budget: &Budget| {
            budget.eligible(now) && (it.since < now || !it.awake || budget.when_hollow() != Hollow::Keeps)
        };
        queued && it.budget.as_ref().is_some_and(due)
    }
}
