//! Reconfiguring a tree while it runs.
//!
//! Each domain, a core or the cores that share a queue, is reconfigured by itself, by [`crate::reconfigure`]. It is **idle** when
//! nothing that its root could run was released before: neither a job, nor a server with budget and work, nor one with budget
//! that is forfeited by passing. Servers that wait for budget may have work: to the others they are as in any of their periods.
//!
//! **Inside servers** the same holds at each of them on the way to the target: where [`Change::drains`], none of them has
//! anything that it could run, and a server that is altered has no work at all; one that is removed never has.
//!
//! A server that is added or altered starts with a full budget and a new period, and so does, when it is added, all that is inside
//! and present; a task that is added is released its offset later.
//!
//! **TaskState:** an entry looks at each task and server of the domain once for each request that waits.

use super::budget::Budget;
use super::domain::{Domain, VirtualProcessor};
use super::parameters::ReconfigurableTree;
use super::task_state::TaskState;
use crate::heap::Key;
use crate::reconfigure::{self, share, Action, Alteration, Change, Part, Reconfigure, Requests, WHOLE};
use crate::records::Recorder;
use crate::{PolicyConfig, PolicyConfigError};
use alloc::vec::Vec;
use tactus_record::EventKind;
use tactus_task::{TaskOrder, WhenIdle};
use tactus_time::{Duration, Instant};

/// Finds the first thing that is wrong.
pub(super) fn check(setup: &PolicyConfig, changing: &ReconfigurableTree) -> Result<(), PolicyConfigError> {
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
            (Action::Alter(named), _) => named.is_sound(),
            (Action::Add | Action::Remove, _) => true,
        };
        if !known(change.part) || !sound || change.at < last {
            return Err(PolicyConfigError::ChangePart(n as u32));
        }
        last = change.at;
    }
    Ok(())
}

/// The reconfigurations of one domain, and what is present of it.
pub(super) struct Changes {
    requests: Requests<Target>,
    present: Present,
}

/// What is present, if the servers around it are.
struct Present {
    /// By index in the domain.
    tasks: Vec<bool>,
    /// By index in the tree.
    servers: Vec<bool>,
}

/// What a reconfiguration concerns in the domain.
#[derive(Clone, Copy)]
struct Target {
    on: On,
    /// See [`Change::drains`].
    drains: bool,
}

type Request = reconfigure::Request<Target>;

/// A task by its index in the domain, a server by its index in the tree.
#[derive(Clone, Copy)]
enum On {
    Task(usize),
    Server(u16),
}

/// Gives the domain its reconfigurations.
pub(super) fn attach(domain: &mut Domain, changing: &ReconfigurableTree) {
    let place = |domain: &Domain, part: Part| match part {
        Part::Task(task) => domain.tasks.iter().position(|work| work.id == task).map(On::Task),
        Part::Server(n) => domain.vps.iter().any(|vp| vp.server == n).then_some(On::Server(n)),
    };
    let of = |(n, change): (usize, &Change)| {
        let on = place(domain, change.part)?;
        Some(Request::new(n, change, Target { on, drains: change.drains }))
    };
    let list: Vec<Request> = changing.changes.iter().enumerate().filter_map(of).collect();
    let mut tasks = alloc::vec![true; domain.tasks.len()];
    let mut servers = alloc::vec![true; changing.tree.servers.len()];
    for part in &changing.absent {
        match place(domain, *part) {
            Some(On::Task(task)) => tasks[task] = false,
            Some(On::Server(n)) => servers[usize::from(n)] = false,
            None => {}
        }
    }
    domain.mark_absent(&servers);
    for (task, there) in tasks.iter().enumerate() {
        if !there || domain.vps[domain.home(task)].absent {
            domain.tasks[task].until = Instant::ZERO;
            domain.plan_event(task);
        }
    }
    domain.start_at_zero();
    // Where programs alone come and go, no entry looks for requests.
    domain.changes = (!list.is_empty()).then(|| {
        let requests = Requests::new(list, changing.protocol);
        Changes { requests, present: Present { tasks, servers } }
    });
}

impl Changes {
    /// Whether one was requested that is not decided.
    pub(super) fn is_pending(&self) -> bool {
        self.requests.is_pending()
    }

    /// When the next one is requested.
    pub(super) fn next(&self) -> Instant {
        self.requests.next()
    }
}

/// A domain at one entry.
struct Entry<'a, 'r> {
    domain: &'a mut Domain,
    present: &'a mut Present,
    records: &'a mut Recorder<'r>,
}

impl Reconfigure<Target> for Entry<'_, '_> {
    fn now(&self) -> Instant {
        self.records.now
    }
    fn record(&mut self, kind: EventKind, number: u32, argument: u64) {
        self.records.change(kind, number, argument);
    }
    fn stop_releases(&mut self, request: &Request) {
        self.domain.release_until(request.target.on, request.at);
    }
    fn is_idle(&self, request: &Request) -> bool {
        self.domain.is_idle(self.records.now) && self.domain.is_idle_for(request, self.records.now)
    }
    fn accept(&mut self, request: &mut Request) -> Result<(), u64> {
        reconfigure::unless_overloaded(!self.domain.overloads(self.present, request))
    }
    fn forget_effect(&mut self, _: &mut Request) {
        // It brings nothing but its target's.
    }
    fn apply(&mut self, pending: &mut [Request]) {
        self.domain.apply(self.present, pending, self.records);
    }
}

impl Domain {
    /// A virtual processor of the server, or the root, that the task is in.
    pub(super) fn home(&self, task: usize) -> usize {
        self.run_queues[self.tasks[task].queue].vps[0]
    }

    /// The virtual processor and those around it, without the root's.
    fn way(&self, vp: usize) -> impl Iterator<Item = usize> + '_ {
        let servers = core::iter::successors(Some(vp), |vp| self.vps[*vp].parent);
        servers.filter(|vp| self.vps[*vp].parent.is_some())
    }

    /// Whether the virtual processor is the server's or lies in it.
    fn lies_in(&self, vp: usize, server: u16) -> bool {
        self.way(vp).any(|vp| self.vps[vp].server == server)
    }

    /// Takes up what is requested by now, and applies what can be applied.
    #[cold]
    pub(super) fn reconfigure(&mut self, records: &mut Recorder) {
        let Some(mut changes) = self.changes.take() else { return };
        let Changes { requests, present } = &mut changes;
        let mut entry = Entry { domain: self, present, records };
        requests.receive(&mut entry);
        requests.decide(&mut entry);
        self.changes = Some(changes);
    }

    /// Lets what is to be removed release nothing from `at` on.
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

    /// Whether nothing that the root could run was released before. What falls due now was not, though another core of the domain
    /// may have released it already in this instant.
    fn is_idle(&self, now: Instant) -> bool {
        let over = |key: Option<Key>| key.is_some_and(|key| key.time() < now);
        let in_root = |vp: usize| self.vps[vp].parent.is_none();
        let left =
            |task: usize, work: &TaskState| work.ready() && work.was_released_before(now) && in_root(self.home(task));
        !over(self.due.peek())
            && !self.core_states.iter().any(|core_state| over(core_state.replenish.peek()))
            && !self.tasks.iter().enumerate().any(|(task, work)| left(task, work))
            && !(0..self.vps.len()).any(|vp| self.vps[vp].parent.is_some_and(in_root) && self.is_due(vp, now))
    }

    /// Whether the server has nothing to run.
    fn is_idle_inside(&self, vp: usize, now: Instant) -> bool {
        let goes_on = |inner: &VirtualProcessor| inner.awake && inner.background && !inner.is_unused();
        let waits = |inner: usize| self.is_due(inner, now) || goes_on(&self.vps[inner]);
        !self.tasks.iter().any(|work| work.queue == self.vps[vp].below && work.is_left(now))
            && !(0..self.vps.len()).any(|inner| self.vps[inner].parent == Some(vp) && waits(inner))
    }

    /// Whether the target and the servers around it have nothing to do under the old parameters.
    fn is_idle_for(&self, request: &Request, now: Instant) -> bool {
        let idle = |vp: usize| self.way(vp).all(|vp| self.is_idle_inside(vp, now));
        match request.target.on {
            On::Task(task) => {
                let homes = &self.run_queues[self.tasks[task].queue].vps;
                self.tasks[task].pending == 0 && (!request.target.drains || homes.iter().all(|vp| idle(*vp)))
            }
            On::Server(server) => {
                let inside = |vp: usize| self.lies_in(vp, server);
                let worked_off = |task: usize| !self.tasks[task].is_left(now) || !inside(self.home(task));
                let keeps = !request.target.drains && matches!(request.action, Action::Alter(_));
                if !keeps && !(0..self.tasks.len()).all(worked_off) {
                    return false;
                }
                let calm = |(vp, it): (usize, &VirtualProcessor)| match it.server == server {
                    true => it.parent.is_none_or(idle),
                    false => !self.is_due(vp, now) || !inside(vp),
                };
                !request.target.drains || self.vps.iter().enumerate().all(calm)
            }
        }
    }

    /// Whether more would have been promised than there is, and more than before: of the cores or the server around what is changed,
    /// or of what a server has for those inside it.
    fn overloads(&self, present: &Present, request: &Request) -> bool {
        match request.target.on {
            On::Task(task) => {
                let home = self.home(task);
                self.vps[home].parent.is_none() && self.overloads_in(home, present, request)
            }
            On::Server(server) => {
                let more_than_its_period = |it: &VirtualProcessor| {
                    let (Action::Alter(named), Some(budget)) = (request.action, &it.budget) else { return false };
                    let (time, period) = named.lengths(budget.lengths());
                    it.server == server && time > period
                };
                if self.vps.iter().any(more_than_its_period) {
                    return true;
                }
                let around = |(vp, it): (usize, &VirtualProcessor)| {
                    let around = it.parent.filter(|_| it.server == server);
                    around.is_some_and(|around| [vp, around].iter().any(|vp| self.overloads_in(*vp, present, request)))
                };
                self.vps.iter().enumerate().any(around)
            }
        }
    }

    /// Whether more would have been promised of a server's or the root's time than it has, and more than before.
    fn overloads_in(&self, home: usize, present: &Present, request: &Request) -> bool {
        let queue = self.vps[home].below;
        let then = |(time, period): (Duration, Duration), there: bool, concerned: bool| match request.action {
            _ if !concerned => share(time, period) * u64::from(there),
            Action::Add => share(time, period),
            Action::Remove => 0,
            Action::Alter(named) => {
                let (time, period) = named.lengths((time, period));
                share(time, period)
            }
        };
        // Before and after the change.
        let of = |vp: &VirtualProcessor| {
            let there = present.servers[usize::from(vp.server)];
            let Some(now) = vp.budget.as_ref().map(Budget::lengths) else { return [0, 0] };
            let concerned = matches!(request.target.on, On::Server(server) if server == vp.server);
            [share(now.0, now.1) * u64::from(there), then(now, there, concerned)]
        };
        let mut promised = [0_u64; 2];
        let mut count = |each: [u64; 2]| (0..2).for_each(|n| promised[n] = promised[n].saturating_add(each[n]));
        self.vps.iter().filter(|vp| vp.parent == Some(home)).for_each(|vp| count(of(vp)));
        let it = &self.vps[home];
        let has = if it.parent.is_some() {
            of(it)
        } else {
            let competes = |work: &TaskState| work.queue == queue && !work.removed;
            for (task, work) in self.tasks.iter().enumerate().filter(|(_, work)| competes(work)) {
                let (values, there) = (work.values(), present.tasks[task]);
                let now = (values.time, values.period);
                let concerned = matches!(request.target.on, On::Task(one) if one == task);
                count([share(now.0, now.1) * u64::from(there), then(now, there, concerned)]);
            }
            [WHOLE * self.run_queues[queue].vps.len() as u64; 2]
        };
        // A server that is not there has nothing, and promises nothing.
        let excess = |n: usize| if has[n] == 0 { 0 } else { promised[n].saturating_sub(has[n]) };
        excess(1) > excess(0)
    }

    /// Starts the servers with what is present; until now absent tasks counted as work.
    fn start_at_zero(&mut self) {
        for vp in 0..self.vps.len() {
            self.show(vp, Instant::ZERO);
        }
        for vp in 0..self.vps.len() {
            let it = &mut self.vps[vp];
            if let Some(budget) = &mut it.budget {
                budget.restart(None, Instant::ZERO);
                if it.awake {
                    budget.wake(Instant::ZERO);
                }
            }
            self.show(vp, Instant::ZERO);
        }
    }

    /// Marks which virtual processors are absent, or lie in one that is.
    fn mark_absent(&mut self, servers: &[bool]) {
        for vp in 0..self.vps.len() {
            let within = self.vps[vp].parent.is_some_and(|parent| self.vps[parent].absent);
            self.vps[vp].absent = within || !servers[usize::from(self.vps[vp].server)];
        }
    }

    /// Starts the task, if it is present and all around it is; it releases nothing if its removal is requested already.
    fn start(&mut self, task: usize, present: &Present, pending: &[Request], now: Instant) {
        if present.tasks[task] && !self.vps[self.home(task)].absent {
            self.tasks[task].begin_at(now);
            self.tasks[task].until = self.end_of(task, pending);
            self.plan_event(task);
        }
    }

    /// When the first removal of the task, or of a server around it, is requested: it releases nothing from then on.
    fn end_of(&self, task: usize, pending: &[Request]) -> Instant {
        let removes = |request: &&Request| {
            request.removes()
                && match request.target.on {
                    On::Task(one) => one == task,
                    On::Server(server) => self.lies_in(self.home(task), server),
                }
        };
        pending.iter().filter(removes).map(|request| request.at).min().unwrap_or(Instant::NEVER)
    }

    /// Applies the first of the requests that are not decided.
    fn apply(&mut self, present: &mut Present, pending: &[Request], records: &mut Recorder) {
        let now = records.now;
        let Request { action, target: Target { on, .. }, .. } = pending[0];
        match (on, action) {
            (On::Task(task), Action::Add) => {
                present.tasks[task] = true;
                self.start(task, present, pending, now);
            }
            (On::Task(task), Action::Remove) => {
                present.tasks[task] = false;
                // It may have been started in this very instant.
                self.release_until(on, Instant::ZERO);
            }
            (On::Task(task), Action::Alter(named)) => {
                self.tasks[task].alter(&named);
                self.queue(task, now);
                self.plan_event(task);
            }
            (On::Server(server), Action::Add) => {
                present.servers[usize::from(server)] = true;
                self.mark_absent(&present.servers);
                for vp in 0..self.vps.len() {
                    if self.lies_in(vp, server) {
                        self.restart(vp, None, now, records);
                    }
                }
                for task in 0..self.tasks.len() {
                    if self.lies_in(self.home(task), server) {
                        self.start(task, present, pending, now);
                    }
                }
            }
            (On::Server(server), Action::Remove) => {
                present.servers[usize::from(server)] = false;
                self.mark_absent(&present.servers);
                self.release_until(on, Instant::ZERO);
                for vp in 0..self.vps.len() {
                    if self.lies_in(vp, server) {
                        self.show(vp, now);
                    }
                }
            }
            (On::Server(server), Action::Alter(named)) => {
                for vp in 0..self.vps.len() {
                    if self.vps[vp].server == server {
                        self.alter_server(vp, &named, now, records);
                    }
                }
            }
        }
    }

    /// Gives the server what is named and restarts it.
    fn alter_server(&mut self, vp: usize, named: &Alteration, now: Instant, records: &mut Recorder) {
        let it = &mut self.vps[vp];
        let rank = match it.order {
            TaskOrder::FixedPriority => named.priority.map(|priority| u64::from(u32::MAX - priority)),
            _ => named.period.map(Duration::as_nanos),
        };
        it.rank = rank.unwrap_or(it.rank);
        let lengths = it.budget.as_ref().map(|budget| named.lengths(budget.lengths()));
        self.restart(vp, lengths, now, records);
    }

    /// Restarts the server with a full budget at `now`, if it is present.
    fn restart(&mut self, vp: usize, length: Option<(Duration, Duration)>, now: Instant, records: &mut Recorder) {
        let it = &mut self.vps[vp];
        if let Some(budget) = &mut it.budget {
            let full = budget.restart(length, now);
            if it.awake {
                budget.wake(now);
            }
            if !it.absent {
                records.server(EventKind::ServerReplenish, it.server, full.as_nanos());
                self.core_states[it.core].called |= budget.when_idle() != WhenIdle::Preserve;
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
            budget.eligible(now) && (it.since < now || !it.awake || budget.when_idle() != WhenIdle::Preserve)
        };
        queued && it.budget.as_ref().is_some_and(due)
    }
}
