//! Changes of a tree whose servers have schedulers of their own, core by core. The protocol is that of [`change`](super::change); here is
//! who knows what of it.
//!
//! Each scheduler has the same list of changes, and the tree as it is by those that were settled. **The root** settles them, one after
//! another: it knows whether it is quiet itself. **Every other one** tells its parent, for each change to come, until when nothing is
//! left in it that would keep it from taking effect, what those below told it counted ([`Parted::left`]); so the root knows of each server
//! on the way.
//! What was settled, and when, goes down the same way ([`Parted::outcomes`]), and each makes what concerns it as of that time, when it
//! has the core again.
//!
//! A task is known to release nothing from the instant on in which its removal is asked for, from the beginning: so nobody wants
//! the core for a release that does not come. And where a job ends in the instant in which others are released, a scheduler that knows of a change
//! that waits gives the core back once, before it looks at these: for all that it knows that may be the instant.
//!
//! **Cores that share a queue** change together. Each sees the tree as its own: what it shares with others is all in its queue. What of the
//! root's cores has to be known to the others is on a [`Board`](super::Board), and so is what is left in the queues that they share,
//! wherever in the tree: that their schedulers say on any of their cores, and one in between may not have the core on which it was said.

mod concern;
mod follow;

pub(super) use concern::{concerns_of_shared, Concern};

use super::budget::Hollow;
use super::change::{attach, Changes, On, Waiting};
use super::domain::{Domain, Vp};
use super::tier::cores_of;
use super::{build, Action, TierPlan, Tree};
use crate::records::Recorder;
use crate::{Kind, Setup};
use alloc::boxed::Box;
use alloc::vec::Vec;
use tactus_record::{Kind as What, Record, Sink, CHANGE_NOT_ADMITTED, CHANGE_OVERLOADS};
use tactus_time::{CoreId, CoreSet, Instant};

/// What became of a change.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// It took effect then.
    Changed(Instant),
    /// It was refused.
    Refused,
}

/// What a scheduler tells its parent of one change.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Left {
    /// Until when nothing is left, in it and below, that keeps the change from taking effect.
    pub until: Instant,
    /// When all else is there that it takes for what the change brings to run: work for the new budget of a server that it alters; and
    /// budget in the servers around what it alters or adds, as far as they lie in this one's. Of a server that it removes: when there is
    /// something to run besides, or to come.
    pub ready: Instant,
}

/// What one scheduler knows of the changes of a core.
pub(super) struct Parted {
    /// The tree on this core as it is by what was settled. Nothing runs in it.
    whole: Domain,
    changes: Changes,
    /// What was settled, as far as is known here; more than was done here, while this scheduler is without the core.
    outcomes: Vec<Outcome>,
    /// This scheduler's server.
    own: u16,
    /// Of each own task its place in the whole tree.
    tasks: Vec<usize>,
    below: Vec<Child>,
    /// By place in the list: how this scheduler has to do with the change.
    concerns: Vec<Concern>,
    /// By place in the list: what this scheduler tells its parent, and how often it has.
    left: Vec<Left>,
    reports: u64,
    /// The root's, of a core that shares queues: what is known of the others.
    elsewhere: Option<Elsewhere>,
    /// One was settled here for them in the last decision.
    settled: bool,
}

/// What a core of the root's knows of those with which it shares queues ([`Board`](super::Board)).
#[derive(Clone, Copy, Default)]
pub(super) struct Elsewhere {
    /// The change that comes next.
    pub(super) place: usize,
    /// So many have been asked for.
    pub(super) asked: usize,
    /// Until when nothing is left on any of them that keeps it from taking effect.
    pub(super) until: Instant,
    /// Whether more would be promised than there is.
    pub(super) overloads: bool,
}

/// A scheduler below.
struct Child {
    server: u16,
    /// The place of the task that stands for it.
    stands: usize,
    /// It shares its queue with other cores: what is left in it the [`Board`](super::Board) knows.
    platform: bool,
    concerns: Vec<Concern>,
    /// By place in the list: what is left in it; by which of its reports.
    left: Vec<Left>,
    report: u64,
}

/// What a scheduler says of a change that it has made, in place of when nothing is left.
pub(super) const SETTLED: Instant = Instant::from_nanos(u64::MAX - 3);

struct Nobody;

impl Sink for Nobody {
    fn record(&mut self, _: Record) {}
}

/// Makes the change in a tree in which nothing runs.
pub(super) fn make(whole: &mut Domain, changes: &mut Changes, change: &Waiting, (core, now): (CoreId, Instant)) {
    let mut quietly = Recorder { sink: &mut Nobody as &mut dyn Sink, core, now };
    whole.take_effect(changes, change, &mut quietly);
}

/// The tree as the core alone has it: what shares queues with other cores is in its own.
fn seen_from(setup: &Setup, tree: &Tree, core: CoreId) -> (Setup, Tree) {
    let (mut tree, mut tasks) = (tree.clone(), setup.tasks.clone());
    for (task, place) in tasks.iter_mut().zip(&tree.places) {
        let server = &tree.servers[usize::from(place.server)];
        let queue = build::queue_of(server, task.core).map(|queue| server.queues[queue]);
        if queue.is_some_and(|queue| queue.contains(core)) {
            task.core = Some(core);
        }
    }
    let alone = CoreSet::from_bits(1 << core.0);
    for server in &mut tree.servers {
        server.queues.retain(|queue| queue.contains(core));
        server.queues.iter_mut().for_each(|queue| *queue = alone);
        server.cores = CoreSet::from_bits(server.cores.bits() & alone.bits());
    }
    let none = Tree { servers: Vec::new(), places: Vec::new() };
    (Setup { cores: setup.cores, kind: Kind::Servers(none), tasks }, tree)
}

/// Whether the change takes effect whatever is left in the server that it alters.
pub(super) fn keeps(change: &Waiting) -> bool {
    !change.drains && matches!((change.on, change.action), (On::Server(_), Action::Alter(_)))
}

/// Whether its budget goes for want of work.
fn goes(vp: &Vp) -> bool {
    vp.budget.as_ref().is_some_and(|it| it.when_hollow() != Hollow::Keeps)
}

/// When work may run in the server, as it is.
fn when_eligible(vp: &Vp) -> Instant {
    vp.budget.as_ref().map_or(Instant::ZERO, |budget| budget.eligible_from(Instant::ZERO))
}

/// When there is work of the task.
fn next_of(domain: &Domain, task: usize) -> Instant {
    match &domain.tasks[task] {
        work if work.pending == 0 => work.next_event().unwrap_or(Instant::NEVER),
        _ => Instant::ZERO,
    }
}

fn min(times: impl Iterator<Item = Instant>) -> Instant {
    times.min().unwrap_or(Instant::NEVER)
}

impl Parted {
    /// Takes the changes of this core into its scheduler's domain.
    pub(super) fn attach(domain: &mut Domain, plan: &TierPlan, core: CoreId) -> Option<Box<Parted>> {
        let setup: &Setup = plan.whole.as_ref()?;
        let Kind::Changing(changing) = &setup.kind else { return None };
        let own = *plan.servers.first()?;
        if own != 0 && domain.tasks.is_empty() {
            // Nobody gives it this core.
            return None;
        }
        let set = build::domains(setup.cores, &changing.tree).into_iter().find(|set| set.contains(core))?;
        let tied = set.bits().count_ones() > 1;
        let alone = CoreSet::from_bits(1 << core.0);
        let mut whole = if tied {
            let (setup, tree) = seen_from(setup, &changing.tree, core);
            build::domain(&setup, &tree, alone, true)
        } else {
            build::domain(setup, &changing.tree, alone, true)
        };
        attach(&mut whole, changing, |part| tied && cores_of(setup, &changing.tree, part).bits() & set.bits() != 0);
        let changes = whole.changes.take()?;
        let place = |name| whole.tasks.iter().position(|task| task.name.0 == name);
        let tasks: Vec<usize> =
            domain.tasks.iter().filter(|task| !task.foreign).filter_map(|task| place(task.name.0)).collect();
        let server = |stands: usize| domain.vps[domain.feeds[domain.tasks[stands].queue].vps[0]].server;
        let foreign = (0..domain.tasks.len()).filter(|n| domain.tasks[*n].foreign);
        let queue = |server: u16| concern::shared_queue(&changing.tree, server, core);
        let child = |stands: usize| {
            let server = server(stands);
            let platform = queue(server).is_some();
            Child { server, stands, platform, concerns: Vec::new(), left: Vec::new(), report: 0 }
        };
        let below = foreign.map(child).collect();
        let left = alloc::vec![Left { until: Instant::ZERO, ready: Instant::ZERO }; changes.list.len()];
        let outcomes = Vec::with_capacity(changes.list.len());
        let concerns = Vec::new();
        let elsewhere = (tied && own == 0).then(Elsewhere::default);
        let mut parted = Parted {
            whole,
            changes,
            outcomes,
            own,
            tasks,
            below,
            concerns,
            left,
            reports: 0,
            elsewhere,
            settled: false,
        };
        parted.concerns = match queue(own).filter(|_| own != 0) {
            Some(queue) => concerns_of_shared((setup, changing), &parted.changes, (own, queue)),
            None => parted.concerns_of(own),
        };
        for vp in 0..domain.vps.len() {
            parted.tell_whether_there(domain, vp);
        }
        for task in 0..parted.tasks.len() {
            let place = parted.tasks[task];
            let there = parted.whole.tasks[place].until > Instant::ZERO;
            domain.tasks[task].until = if there { parted.end_of(place) } else { Instant::ZERO };
            domain.plan_event(task);
        }
        for child in 0..parted.below.len() {
            let Child { server, stands, .. } = parted.below[child];
            let first = parted.first_in(server, |_, _| true, Instant::ZERO);
            domain.tasks[stands].doze(first);
            domain.plan_event(stands);
            let left = |change: &Waiting| {
                let concerned = |home: u16, task: Option<usize>| task.is_some() && parted.is_in(change.on, home, task);
                let work = parted.first_in(server, concerned, Instant::ZERO);
                let ready = if matches!(change.action, Action::Alter(_)) { work } else { Instant::ZERO };
                Left { until: if change.drains { first } else { work }, ready }
            };
            parted.below[child].left = parted.changes.list.iter().map(left).collect();
            parted.below[child].concerns = parted.concerns_of(server);
        }
        domain.begin_at_zero();
        Some(Box::new(parted))
    }

    /// Whether the virtual processor's server is there, or what lies around it is not.
    fn tell_whether_there(&self, domain: &mut Domain, vp: usize) {
        if domain.vps[vp].parent.is_some() {
            let of = self.vp_of(domain.vps[vp].server);
            domain.vps[vp].absent = of.is_none_or(|of| self.whole.vps[of].absent);
        }
    }

    /// The server's virtual processor in the whole tree.
    fn vp_of(&self, server: u16) -> Option<usize> {
        self.whole.vps.iter().position(|vp| vp.server == server)
    }

    /// Whether the one server is the other one, or lies in it.
    fn lies_in(&self, server: u16, other: u16) -> bool {
        other == 0 || self.vp_of(server).is_some_and(|vp| self.whole.lies_in(vp, other))
    }

    /// The server of a task of the whole tree.
    fn home_of(&self, task: usize) -> u16 {
        self.whole.vps[self.whole.home(task)].server
    }

    /// By place in the list: how the scheduler of the server has to do with the change.
    fn concerns_of(&self, server: u16) -> Vec<Concern> {
        self.changes.list.iter().map(|change| self.concern(change.on, server)).collect()
    }

    fn concern(&self, on: On, server: u16) -> Concern {
        let home = match on {
            On::Task(task) => self.home_of(task),
            On::Server(changed) if self.lies_in(server, changed) => return Concern::Inside,
            On::Server(changed) => {
                let around = self.vp_of(changed).and_then(|vp| self.whole.vps[vp].parent);
                around.map_or(0, |around| self.whole.vps[around].server)
            }
        };
        match (home == server, self.lies_in(home, server)) {
            (true, _) => Concern::Own,
            (_, true) => Concern::Around,
            _ => Concern::None,
        }
    }

    /// When a removal of the task that is still to come is asked for.
    fn end_of(&self, task: usize) -> Instant {
        self.whole.end_of(task, &self.changes.list[self.changes.settled..])
    }

    /// When the scheduler of the server has something to run that begins at `from`: a task, its offset later; or a server inside whose
    /// budget goes for want of work, at once. `begins`: which of what is there, by server and task.
    fn first_in(&self, server: u16, begins: impl Fn(u16, Option<usize>) -> bool, from: Instant) -> Instant {
        if self.goes_in(server, |inner| begins(inner, None)) {
            return from;
        }
        let mut first = Instant::NEVER;
        for (task, work) in self.whole.tasks.iter().enumerate() {
            let home = self.home_of(task);
            if self.lies_in(home, server) && self.is_there(task) && begins(home, Some(task)) {
                let at = from.saturating_add(work.offset);
                first = if at < self.end_of(task) { first.min(at) } else { first };
            }
        }
        first
    }

    /// Whether a budget that begins in a server inside this one goes for want of work.
    fn goes_in(&self, server: u16, begins: impl Fn(u16) -> bool) -> bool {
        let inner =
            |vp: &&Vp| vp.parent.is_some() && vp.server != server && !vp.is_out() && self.lies_in(vp.server, server);
        self.whole.vps.iter().filter(inner).any(|vp| goes(vp) && begins(vp.server))
    }

    fn is_there(&self, task: usize) -> bool {
        self.changes.tasks[task] && !self.whole.vps[self.whole.home(task)].absent
    }

    /// When the next change is asked for of which that was not told.
    pub(super) fn next(&self) -> Instant {
        self.changes.next()
    }

    /// What is left by place in the list, and the number of the report.
    pub(super) fn left(&self) -> (u64, &[Left]) {
        (self.reports, &self.left)
    }

    /// What was settled, as far as is known.
    pub(super) fn outcomes(&self) -> &[Outcome] {
        &self.outcomes
    }

    /// The next change was settled, as the parent tells.
    pub(super) fn told(&mut self, outcome: Outcome) {
        if self.outcomes.len() < self.changes.list.len() {
            self.outcomes.push(outcome);
        }
    }

    /// A scheduler below tells what is left in it, if that is news: what this one knows better since is not overwritten.
    pub(super) fn hear(&mut self, stands: usize, report: u64, left: impl Iterator<Item = Left>) {
        let child = self.below.iter_mut().find(|child| child.stands == stands);
        if let Some(child) = child.filter(|child| child.report != report) {
            child.report = report;
            child.left.iter_mut().zip(left).for_each(|(old, new)| *old = new);
        }
    }

    /// When the next one was settled of those that have not been done here.
    pub(super) fn when_settled(&self) -> Option<Instant> {
        self.outcomes.get(self.changes.settled).map(|outcome| match outcome {
            Outcome::Changed(at) => *at,
            Outcome::Refused => Instant::ZERO,
        })
    }

    /// Makes what concerns this scheduler of the next one that was settled.
    pub(super) fn take_effect(&mut self, domain: &mut Domain, at: Instant, records: &mut Recorder) {
        let place = self.changes.settled;
        self.changes.asked = self.changes.asked.max(place + 1);
        let (change, outcome) = (self.changes.list[place], self.outcomes[place]);
        if outcome != Outcome::Refused {
            self.make(&change, records.core, at);
        }
        self.changes.settled += 1;
        if outcome != Outcome::Refused {
            self.follow(domain, place, at, records);
        }
    }

    /// The change is made in the whole tree.
    fn make(&mut self, change: &Waiting, core: CoreId, at: Instant) {
        make(&mut self.whole, &mut self.changes, change, (core, at));
    }

    /// Becomes what the other one is, which was made from the same plan for the same cores. Takes no memory.
    pub(super) fn become_as(&mut self, other: &Parted) {
        while let Some(outcome) =
            other.outcomes.get(self.changes.settled).filter(|_| self.changes.settled < other.changes.settled)
        {
            let change = self.changes.list[self.changes.settled];
            self.changes.asked = self.changes.asked.max(self.changes.settled + 1);
            if let Outcome::Changed(at) = outcome {
                self.make(&change, CoreId(0), *at);
            }
            self.changes.settled += 1;
        }
        self.changes.asked = other.changes.asked;
        self.outcomes.clone_from(&other.outcomes);
        self.left.clone_from(&other.left);
        self.reports = other.reports;
    }

    /// When all else is there that it takes for what the change brings to run ([`Left::ready`]).
    fn ready(&self, domain: &Domain, place: usize) -> Instant {
        let change = self.changes.list[place];
        match (self.concerns[place], change.on, change.action) {
            (Concern::None | Concern::Beside, ..) | (_, On::Task(_), Action::Alter(_) | Action::Remove) => {
                Instant::NEVER
            }
            (_, On::Server(server), Action::Remove) => self.besides(domain, place, server),
            (Concern::Around, _, _) => {
                let concerned = |child: &&Child| matches!(child.concerns[place], Concern::Own | Concern::Around);
                let ready = |child: &Child| {
                    let vp = domain.vps.iter().find(|vp| vp.server == child.server).filter(|vp| !vp.background);
                    vp.map_or(Instant::ZERO, when_eligible).max(child.left[place].ready)
                };
                min(self.below.iter().filter(concerned).map(ready))
            }
            (Concern::Own, On::Server(server), Action::Alter(_)) => self.work(domain, server),
            (_, _, Action::Add | Action::Alter(_)) => Instant::ZERO,
        }
    }

    /// When there is something to run in this scheduler's server besides the one that the change removes, or to come.
    fn besides(&self, domain: &Domain, place: usize, removed: u16) -> Instant {
        let own = (0..self.tasks.len()).map(|task| next_of(domain, task));
        let others = |vp: &&Vp| vp.parent.is_some() && vp.server != removed && !vp.is_out() && goes(vp);
        let budgets = domain.vps.iter().filter(others).map(when_eligible);
        let below =
            self.below.iter().filter(|child| child.server != removed).map(|child| match child.concerns[place] {
                Concern::None => next_of(domain, child.stands),
                _ => child.left[place].ready,
            });
        min(own.chain(budgets).chain(below))
    }

    /// Since when there is work in the server, or what counts as work; or when there will be.
    fn work(&self, domain: &Domain, server: u16) -> Instant {
        if domain.vps.iter().any(|vp| vp.server == server && !vp.is_out() && goes(vp)) {
            return Instant::ZERO;
        }
        let stands = self.below.iter().filter(|child| child.server == server).map(|child| &domain.tasks[child.stands]);
        min(stands.filter_map(|work| if work.pending > 0 { Some(work.released_at()) } else { work.next_event() }))
    }

    /// Whether what is changed is this task, or a server in which the task, or this server, lies.
    fn is_in(&self, changed: On, server: u16, task: Option<usize>) -> bool {
        match changed {
            On::Task(one) => task == Some(one),
            On::Server(changed) => self.lies_in(server, changed),
        }
    }

    /// The root takes up what is asked for by now, and settles what may be.
    pub(super) fn settle(&mut self, domain: &mut Domain, records: &mut Recorder) {
        let now = records.now;
        let elsewhere = self.elsewhere.filter(|it| it.place == self.changes.settled);
        self.settled = false;
        self.changes.asked = self.changes.asked.max(self.elsewhere.map_or(0, |it| it.asked));
        while let Some(change) = self.changes.list.get(self.changes.asked).filter(|change| change.at <= now) {
            self.changes.asked += 1;
            records.change(What::ChangeAsked, change.number, change.at.as_nanos());
        }
        while self.changes.settled < self.changes.asked {
            let place = self.changes.settled;
            let change = self.changes.list[place];
            // Of the others nothing is known that is later than this decision.
            let elsewhere = if self.settled { None } else { elsewhere };
            let known = self.elsewhere.is_none() || elsewhere.is_some_and(|it| it.place == place);
            let calm = known && elsewhere.is_none_or(|it| now <= it.until);
            let overloads = |parted: &Parted| match elsewhere {
                Some(it) => it.overloads,
                None => parted.whole.overloads(&parted.changes, &change),
            };
            let outcome = if !change.admitted {
                records.change(What::ChangeRefused, change.number, CHANGE_NOT_ADMITTED);
                Outcome::Refused
            } else if !(calm && domain.is_quiet(now) && (keeps(&change) || now <= self.until(domain, place, None))) {
                break;
            } else if overloads(self) {
                records.change(What::ChangeRefused, change.number, CHANGE_OVERLOADS);
                Outcome::Refused
            } else {
                records.change(What::Changed, change.number, 0);
                Outcome::Changed(now)
            };
            self.outcomes.push(outcome);
            self.settled = self.elsewhere.is_some();
            self.take_effect(domain, now, records);
        }
    }

    /// What is known of the cores with which this one shares queues.
    pub(super) fn hear_elsewhere(&mut self, elsewhere: Elsewhere) {
        if self.elsewhere.is_some() {
            self.elsewhere = Some(elsewhere);
        }
    }

    /// So many changes have been asked for.
    pub(super) fn asked(&self) -> usize {
        self.changes.asked
    }

    /// Whether a change was settled for other cores as well, and one is left that waits.
    pub(super) fn goes_on(&self, now: Instant) -> bool {
        self.settled && self.waits(now)
    }

    /// Whether this is the root's.
    pub(super) fn is_root(&self) -> bool {
        self.own == 0
    }

    /// Whether a change was asked for that is not settled, as far as is known.
    pub(super) fn waits(&self, now: Instant) -> bool {
        self.changes.list.get(self.changes.settled).is_some_and(|change| change.at <= now)
    }

    /// Works out what the parent is told. `until` when there is nothing to run, zero if there is something; `hollow`: a budget goes for
    /// want of work.
    pub(super) fn report(&mut self, domain: &Domain, (until, hollow): (Instant, bool), now: Instant) {
        let stopped = domain.tasks.iter().any(|work| !work.foreign && work.is_left(now));
        let rests = if hollow || stopped { Instant::ZERO } else { until };
        self.reports += 1;
        self.left[..self.changes.settled].fill(Left { until: SETTLED, ready: Instant::NEVER });
        for place in self.changes.settled..self.changes.list.len() {
            self.left[place] = Left { until: self.until(domain, place, Some(rests)), ready: self.ready(domain, place) };
        }
    }

    /// Until when nothing is left, here and below, that keeps the change from taking effect. `rests`: where others are told, until when there
    /// is nothing to run here; zero, if there is something.
    fn until(&self, domain: &Domain, place: usize, rests: Option<Instant>) -> Instant {
        let change = self.changes.list[place];
        if let Some(rests) = rests.filter(|_| self.elsewhere.is_some() && keeps(&change)) {
            return rests;
        }
        let concern = self.concerns[place];
        let of_task = |task: usize| next_of(domain, task);
        let own = match (concern, change.on) {
            (Concern::None, _) => return Instant::NEVER,
            (Concern::Own, On::Task(task)) => {
                min((0..self.tasks.len()).filter(|own| self.tasks[*own] == task).map(of_task))
            }
            (Concern::Inside, _) => min((0..self.tasks.len()).map(of_task)),
            _ => Instant::NEVER,
        };
        let concerned = self.below.iter().filter(|child| child.concerns[place] != Concern::None && !child.platform);
        let rests = rests.unwrap_or(Instant::NEVER);
        let below = min(concerned.map(|child| child.left[place].until));
        let own = if change.drains || self.elsewhere.is_some() { own.min(rests) } else { own };
        own.min(below)
    }
}
