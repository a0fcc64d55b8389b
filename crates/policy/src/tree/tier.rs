//! Trees cut into schedulers that do not share memory: one for the root, and one for each server with something inside.
//!
//! Each decides among its own tasks and the servers directly inside it, by a [`Domain`] of its own for each core. A server
//! with a scheduler of its own has one task in it that stands for that scheduler: it has a job while the scheduler has
//! something to run. The scheduler itself says when it has nothing more, and from when on it will ([`Tier::doze`]);
//! and when it gets the core again it is told until when it had it ([`Tier::handle`]), and makes up what it missed.
//!
//! The tasks of a server may wait in queues that cores share: then its scheduler is a [`Platform`](super::Platform) on these. All
//! together decide as the whole tree would; where queues are shared, perhaps on another schedule by the same rules.

use super::apart::{Elsewhere, Left, Outcome, Parted};
use super::domain::Domain;
use super::platform::Held;
use super::{build, Overrun, Part, Place, Server, Supplier, Supply, TaskOrder, Tree};
use crate::codec::{put, DecodeError, Input};
use crate::{Decision, Event, Kind, Scheduler, Setup, SetupError, Task};
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;
use tactus_record::Sink;
use tactus_time::{CoreId, CoreSet, Duration, Instant, Level, TaskId};

/// The most schedulers from the root down.
const DEEPEST: usize = 4;

/// What a scheduler says to its parent, beside its decision.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Says {
    /// Nothing more.
    Nothing,
    /// It had nothing to run for a moment, and has now; or a budget goes by now, which it says when it is called again, at once.
    Moment,
    /// It has nothing to run, but the budget of a periodic server inside goes by while its own is the most urgent.
    Hollow,
}

/// What one scheduler is made from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TierPlan {
    /// Its own tasks, then, for each scheduler below and each of its cores, one task that stands for it. Its server is the root.
    pub setup: Setup,
    /// Its own tasks as the whole system calls them.
    pub tasks: Vec<TaskId>,
    /// Its servers as the whole system calls them.
    pub servers: Vec<u16>,
    /// The schedulers directly below.
    pub below: Vec<Below>,
    /// The whole system, if it changes while it runs.
    pub whole: Option<Setup>,
}

/// A scheduler directly below another one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Below {
    /// Its place in the list that [`cut`] gives.
    pub place: u16,
    /// The task that stands for it in decisions and records: a number that no task has.
    pub stands: TaskId,
    /// The cores on which it has tasks.
    pub cores: CoreSet,
    /// Those of them that share a queue, its own or one of a scheduler below it, directly or by others, set by set.
    pub shared: Vec<CoreSet>,
    /// Whether such a queue is its own. If not, it decides on each core alone, and what it has to run on one says nothing of
    /// what it has on another.
    pub own: bool,
    /// All tasks of it and of those below it.
    pub tasks: Vec<TaskId>,
}

/// Why a tree cannot be cut.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CutError {
    /// The policy has no servers to be cut at.
    NoTree,
    /// Several cores share a queue of the root, which has no server around it.
    Shared,
    /// The server is deeper than schedulers can be.
    Depth(u16),
}

impl fmt::Display for CutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CutError::NoTree => write!(f, "the policy has no tree of servers"),
            CutError::Shared => write!(f, "cores share a queue of the root"),
            CutError::Depth(server) => write!(f, "server {server} is more than {DEEPEST} schedulers deep"),
        }
    }
}

impl core::error::Error for CutError {}

/// Cuts the tree: the root's plan first, each after the one that it is below.
///
/// # Errors
/// If the policy is no tree, or not one whose parts decide together as the whole does.
pub fn cut(setup: &Setup) -> Result<Vec<TierPlan>, CutError> {
    let tree = match &setup.kind {
        Kind::Servers(tree) => tree,
        Kind::Changing(changing) => &changing.tree,
        _ => return Err(CutError::NoTree),
    };
    let whose = schedulers(tree);
    check(tree, &whose)?;
    Ok(whose.iter().map(|server| plan(setup, tree, *server, &whose)).collect())
}

/// The servers that become schedulers, by the place of their plan: the root, and those with something inside.
pub(super) fn schedulers(tree: &Tree) -> Vec<usize> {
    (0..tree.servers.len()).filter(|server| *server == 0 || !inside(tree, *server).is_empty()).collect()
}

/// The cores on which the part is.
pub(super) fn cores_of(setup: &Setup, tree: &Tree, part: Part) -> CoreSet {
    let server = |n: u16| tree.servers.get(usize::from(n)).map_or(CoreSet::EMPTY, |server| server.cores);
    match part {
        Part::Server(n) => server(n),
        Part::Task(task) => {
            let core = setup.tasks.get(task.index()).and_then(|task| task.core);
            core.map_or_else(|| server(tree.places.get(task.index()).map_or(0, |place| place.server)), alone)
        }
    }
}

/// A server and those that it is inside of, the root last.
fn way_up(tree: &Tree, server: usize) -> impl Iterator<Item = usize> + '_ {
    core::iter::successors(Some(server), |at| (*at != 0).then(|| usize::from(tree.servers[*at].parent)))
}

/// All tasks of the server and of those inside it.
fn inside(tree: &Tree, server: usize) -> Vec<TaskId> {
    let places = tree.places.iter().enumerate();
    let of = |place: &Place| way_up(tree, place.server.into()).any(|at| at == server);
    places.filter(|(_, place)| of(place)).map(|(n, _)| TaskId(n as u16)).collect()
}

fn check(tree: &Tree, whose: &[usize]) -> Result<(), CutError> {
    for (n, server) in tree.servers.iter().enumerate() {
        let place = n as u16;
        if n == 0 && server.queues.iter().any(several) {
            return Err(CutError::Shared);
        }
        if whose.contains(&n) && way_up(tree, n).count() > DEEPEST {
            return Err(CutError::Depth(place));
        }
    }
    Ok(())
}

fn plan(setup: &Setup, tree: &Tree, own: usize, whose: &[usize]) -> TierPlan {
    let all = CoreSet::first(setup.cores);
    let of = |server: usize| &tree.servers[server];
    let mut servers: Vec<u16> = alloc::vec![own as u16];
    servers.extend((1..tree.servers.len()).filter(|n| usize::from(of(*n).parent) == own).map(|n| n as u16));
    let local =
        |server: usize| servers.iter().skip(1).position(|n| usize::from(*n) == server).map_or(0, |n| n as u16 + 1);
    // The root has all cores; on those that the server does not have it has nothing to do.
    let mut queues = of(own).queues.clone();
    queues.extend(all.iter().filter(|core| !of(own).cores.contains(*core)).map(alone));
    let root = Server { parent: 0, cores: all, queues, supply: None, background: false, ..of(own).clone() };
    let apart = |n: &u16| {
        let server = of((*n).into());
        // Inside is one task at most on each core.
        let order = TaskOrder::FixedPriority;
        Server { parent: 0, order, queues: server.cores.iter().map(alone).collect(), ..server.clone() }
    };
    let made = core::iter::once(root).chain(servers[1..].iter().map(apart)).collect();

    let mut tasks = Vec::new();
    let mut places = Vec::new();
    let mut names = Vec::new();
    for (n, (task, place)) in setup.tasks.iter().zip(&tree.places).enumerate() {
        if usize::from(place.server) == own {
            // The first of those that share a queue stands for all.
            let core = task.core.or_else(|| of(own).queues.first().and_then(|queue| queue.iter().next()));
            tasks.push(Task { core, ..*task });
            places.push(Place { server: 0, ..*place });
            names.push(TaskId(n as u16));
        }
    }
    let mut below = Vec::new();
    for child in whose.iter().filter(|child| **child != 0 && usize::from(of(**child).parent) == own) {
        let within = inside(tree, *child);
        let first_on = |core: CoreId| {
            let here = |task: &&TaskId| {
                let server = of(tree.places[task.index()].server.into());
                let queue = build::queue_of(server, setup.tasks[task.index()].core);
                queue.is_some_and(|queue| server.queues[queue].contains(core))
            };
            let first = within.iter().filter(here).map(|task| setup.tasks[task.index()].offset).min()?;
            // A budget that goes for want of work is something to do.
            let mut inner = (0..tree.servers.len()).filter(|n| *n != *child && way_up(tree, *n).any(|at| at == *child));
            let at_once = inner.any(|n| of(n).supply.is_some_and(goes) && of(n).cores.contains(core));
            Some(if at_once { Duration::ZERO } else { first })
        };
        let mut cores = CoreSet::EMPTY;
        for core in of(*child).cores.iter() {
            let Some(first) = first_on(core) else { continue };
            cores.insert(core);
            tasks.push(Task {
                level: Level::A,
                core: Some(core),
                offset: first,
                period: Duration::MAX,
                deadline: Duration::MAX,
                budget: Duration::ZERO,
            });
            places.push(Place { server: local(*child), priority: 0, overrun: Overrun::Continue });
        }
        let place = whose.iter().position(|server| server == child).unwrap_or(0) as u16;
        let own = of(*child).queues.iter().any(several);
        // A queue without tasks ties nobody.
        let used = |server: usize, queue: &CoreSet| {
            let here = |task: &TaskId| {
                let core = setup.tasks[task.index()].core;
                usize::from(tree.places[task.index()].server) == server && core.is_none_or(|core| queue.contains(core))
            };
            several(queue) && within.iter().any(here)
        };
        let within_it = whose.iter().filter(|other| way_up(tree, **other).any(|at| at == *child));
        let queues = within_it.flat_map(|server| of(*server).queues.iter().filter(|queue| used(*server, queue)));
        let shared = joined(queues.copied());
        let stands = TaskId((setup.tasks.len() + *child) as u16);
        below.push(Below { place, stands, cores, shared, own, tasks: within });
    }
    let whole = matches!(setup.kind, Kind::Changing(_)).then(|| setup.clone());
    let setup = Setup { cores: setup.cores, kind: Kind::Servers(Tree { servers: made, places }), tasks };
    TierPlan { setup, tasks: names, servers, below, whole }
}

/// The sets, those joined that have a core in common: whoever was to act on what happened on one may be gone as well before it does.
pub(super) fn joined(sets: impl Iterator<Item = CoreSet>) -> Vec<CoreSet> {
    let mut joined: Vec<CoreSet> = Vec::new();
    for set in sets {
        let (with, without): (Vec<_>, Vec<_>) = joined.into_iter().partition(|it| it.bits() & set.bits() != 0);
        joined = without;
        joined.push(CoreSet::from_bits(with.iter().fold(set.bits(), |all, it| all | it.bits())));
    }
    joined
}

/// Whether its budget goes for want of work.
fn goes(supply: Supply) -> bool {
    matches!(supply.kind, Supplier::Polling | Supplier::Periodic)
}

fn several(queue: &CoreSet) -> bool {
    queue.bits().count_ones() > 1
}

fn alone(core: CoreId) -> CoreSet {
    CoreSet::from_bits(1 << core.0)
}

/// One scheduler on one core.
pub struct Tier {
    domain: Domain,
    parted: Option<Box<Parted>>,
    /// Whether nobody is above it.
    root: bool,
    /// What those below had nothing more to run while this one was without the core, to be done in order of time.
    rests: Vec<Rested>,
}

/// Of a scheduler below that waits for the core, by the place of its task.
#[derive(Clone, Copy)]
pub(super) struct Rested {
    pub(super) place: usize,
    /// When it had nothing to run.
    pub(super) at: Instant,
    /// When it had again.
    pub(super) again: Option<Instant>,
}

impl Tier {
    /// The scheduler on each core; where a queue is shared it is a [`Platform`](super::Platform).
    ///
    /// # Errors
    /// If the plan's set-up cannot be used.
    pub fn new(plan: &TierPlan) -> Result<Vec<Option<Tier>>, SetupError> {
        Scheduler::new(&plan.setup)?;
        let Kind::Servers(tree) = &plan.setup.kind else { return Err(SetupError::ServerCount(0)) };
        let stands: Vec<&Below> = plan.below.iter().flat_map(|below| below.cores.iter().map(move |_| below)).collect();
        let root = plan.servers.first() == Some(&0);
        let domain = |core: CoreId| {
            let mut domain = build::domain(&plan.setup, tree, alone(core), root);
            for task in &mut domain.tasks {
                let local = task.name.0.index();
                match stands.get(local.wrapping_sub(plan.tasks.len())) {
                    Some(below) => {
                        (task.name.0, task.foreign) = (below.stands, true);
                        task.tied = below.shared.iter().any(|set| set.contains(core));
                    }
                    None => task.name.0 = plan.tasks[local],
                }
            }
            domain.cut = true;
            domain.vps.iter_mut().for_each(|vp| vp.server = plan.servers[usize::from(vp.server)]);
            let parted = Parted::attach(&mut domain, plan, core);
            Tier { domain, parted, root, rests: Vec::with_capacity(plan.below.len()) }
        };
        let shared = plan.shared();
        let own = |core: CoreId| !shared.iter().any(|set| set.contains(core));
        let cores = (0..plan.setup.cores).map(|core| CoreId(core as u8));
        Ok(cores.map(|core| own(core).then(|| domain(core))).collect())
    }

    /// As [`Policy::handle`](crate::Policy::handle). `left`: until when it had the core, if it did not have it since its last
    /// decision, and for how long since then its server was the most urgent as it had asked ([`Says::Hollow`]); `now`, if it had it.
    /// Beside the decision: what its parent has to be told. A scheduler that has nothing to run wants to be called when it has.
    pub fn handle(
        &mut self,
        (left, visited): (Instant, Duration),
        now: Instant,
        event: Event,
        records: &mut dyn Sink,
    ) -> (Decision, Says) {
        self.domain.visited = visited;
        self.rests.sort_unstable_by_key(|rested| rested.at);
        let parted = self.parted.as_deref_mut();
        let (mut decision, emptied) = self.domain.handle_after(0, (left, now), event, &self.rests, parted, records);
        self.rests.clear();
        let hollow = decision.run.is_none() && !self.domain.slots[0].ghosts.is_empty();
        let says = match (emptied, decision.run.is_some(), hollow) {
            (true, true, _) | (true, _, true) => Says::Moment,
            (_, _, true) => Says::Hollow,
            _ => Says::Nothing,
        };
        if decision.run.is_none() && !self.root {
            decision.timer = match says {
                // One thing can be said at a time: called again at once, it says that a budget goes by.
                Says::Moment => now,
                Says::Hollow => decision.timer,
                Says::Nothing => self.domain.idle_until(0, now),
            };
        }
        if let Some(parted) = &mut self.parted {
            let rests = if decision.run.is_some() { Instant::ZERO } else { decision.timer };
            parted.report(&self.domain, (rests, hollow), now);
            if self.root {
                // What was lost may have been all that was left.
                let again = self.domain.lost && parted.waits(now) || parted.goes_on(now);
                decision.timer = decision.timer.min(if again { now } else { parted.next() });
            }
        }
        (decision, says)
    }

    /// The scheduler below that has the core has nothing to run before `until`, but wants its server to be the most urgent
    /// ([`Says::Hollow`]); [`Event::Timer`] is to follow.
    pub fn hollow(&mut self, until: Instant) {
        if let Some(place) = self.domain.slots[0].running() {
            self.domain.tasks[place].hollow(until);
            self.domain.plan_event(place);
        }
    }

    /// For how long the server of the scheduler below was the most urgent as that had asked, since it was asked for that last.
    pub fn take_visited(&mut self, stands: TaskId) -> Duration {
        let place = self.place(stands);
        place.map_or(Duration::ZERO, |place| core::mem::take(&mut self.domain.tasks[place].visited))
    }

    /// The scheduler below that has the core has nothing to run before `until`; [`Event::Complete`] is to follow.
    pub fn doze(&mut self, until: Instant) {
        if let Some(place) = self.domain.slots[0].running() {
            self.domain.tasks[place].doze(until);
        }
    }

    /// What the scheduler below that is called so has on this core.
    pub fn held(&self, stands: TaskId) -> Held {
        match self.place(stands) {
            Some(place) if self.domain.tasks[place].pending == 0 || self.domain.tasks[place].hollow => Held::Rests,
            Some(place) if self.domain.slots[0].running() == Some(place) => Held::Runs,
            Some(_) => Held::Waits,
            None => Held::Rests,
        }
    }

    /// The scheduler below has something to run from then on, if it had nothing, or is about to have nothing: `completes`. A
    /// decision is to follow.
    pub fn rouse(&mut self, stands: TaskId, at: Instant, completes: bool) {
        let Some(place) = self.place(stands) else { return };
        if let Some(rested) = self.rests.iter_mut().find(|rested| rested.place == place) {
            rested.again = Some(at);
        } else if self.held(stands) == Held::Rests || completes {
            self.domain.tasks[place].doze(at);
            self.domain.plan_event(place);
        }
    }

    /// The scheduler below, which waits for this core, had nothing to run any more then, nor by what was due before. A decision is
    /// to follow.
    pub fn rest(&mut self, stands: TaskId, at: Instant) {
        if let Some(place) = self.place(stands).filter(|_| self.rests.len() < self.rests.capacity()) {
            self.rests.push(Rested { place, at, again: None });
        }
    }

    /// When the job that was chosen last was released.
    pub fn released_at(&self) -> Option<Instant> {
        let place = self.domain.slots[0].running()?;
        Some(self.domain.tasks[place].released_at())
    }

    /// By place in the core's list of changes: until when nothing is left, here and below, that keeps it from taking effect; with
    /// the number of the report, the first being 1. Its parent [hears](Tier::hear) it before it decides.
    pub fn left(&self) -> (u64, &[Left]) {
        self.parted.as_ref().map_or((0, &[]), |parted| parted.left())
    }

    /// The scheduler below tells what is [left](Tier::left) in it.
    pub fn hear(&mut self, stands: TaskId, report: u64, left: impl Iterator<Item = Left>) {
        let place = self.place(stands);
        if let (Some(parted), Some(place)) = (&mut self.parted, place) {
            parted.hear(place, report, left);
        }
    }

    /// What became of the first changes of the core, as far as is known. A scheduler below is [told](Tier::told) before it decides.
    pub fn outcomes(&self) -> &[Outcome] {
        self.parted.as_ref().map_or(&[], |parted| parted.outcomes())
    }

    /// What became of the first changes of the core, as the one above knows.
    pub fn told(&mut self, outcomes: impl Iterator<Item = Outcome>) {
        if let Some(parted) = &mut self.parted {
            let known = parted.outcomes().len();
            outcomes.skip(known).for_each(|outcome| parted.told(outcome));
        }
    }

    /// So many changes of the core have been asked for.
    pub(super) fn asked(&self) -> usize {
        self.parted.as_ref().map_or(0, |parted| parted.asked())
    }

    /// What is known of the cores with which this one shares queues.
    pub(super) fn hear_elsewhere(&mut self, elsewhere: Elsewhere) {
        if let Some(parted) = &mut self.parted {
            parted.hear_elsewhere(elsewhere);
        }
    }

    /// Whether a change of the core was asked for that is not settled, as far as is known.
    pub fn waits(&self, now: Instant) -> bool {
        self.parted.as_ref().is_some_and(|parted| parted.waits(now))
    }

    fn place(&self, stands: TaskId) -> Option<usize> {
        self.domain.tasks.iter().position(|task| task.foreign && task.name.0 == stands)
    }
}

impl TierPlan {
    /// The sets of cores that share a queue of its own tasks.
    pub fn shared(&self) -> Vec<CoreSet> {
        let Kind::Servers(tree) = &self.setup.kind else { return Vec::new() };
        tree.servers.first().map_or(Vec::new(), |own| own.queues.iter().copied().filter(several).collect())
    }

    /// The stored form: the set-up's with its length before it, then the fields in their order.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let setup = self.setup.encode();
        put(&mut out, setup.len() as u64);
        out.extend(setup);
        let list = |out: &mut Vec<u8>, numbers: &mut dyn ExactSizeIterator<Item = u16>| {
            put(out, numbers.len() as u64);
            numbers.for_each(|number| out.extend(number.to_le_bytes()));
        };
        list(&mut out, &mut self.tasks.iter().map(|task| task.0));
        list(&mut out, &mut self.servers.iter().copied());
        put(&mut out, self.below.len() as u64);
        for below in &self.below {
            out.extend(below.place.to_le_bytes());
            out.extend(below.stands.0.to_le_bytes());
            out.push(below.cores.bits());
            put(&mut out, below.shared.len() as u64);
            out.extend(below.shared.iter().map(|set| set.bits()));
            out.push(below.own.into());
            list(&mut out, &mut below.tasks.iter().map(|task| task.0));
        }
        let whole = self.whole.as_ref().map_or(Vec::new(), Setup::encode);
        put(&mut out, whole.len() as u64);
        out.extend(whole);
        out
    }

    /// Reads the stored form.
    ///
    /// # Errors
    /// If the bytes are not what [`TierPlan::encode`] writes.
    pub fn decode(bytes: &[u8]) -> Result<TierPlan, DecodeError> {
        let mut input = Input::of(bytes);
        let setup = Setup::decode(input.bytes()?)?;
        let word = |input: &mut Input| input.take().map(u16::from_le_bytes);
        let task = |input: &mut Input| word(input).map(TaskId);
        let tasks = input.list(2, task)?;
        let servers = input.list(2, word)?;
        let below = input.list(2 + 2 + 1 + 8 + 1 + 8, |input| {
            Ok(Below {
                place: word(input)?,
                stands: task(input)?,
                cores: CoreSet::from_bits(input.byte()?),
                shared: input.list(1, |input| input.byte().map(CoreSet::from_bits))?,
                own: input.byte()? != 0,
                tasks: input.list(2, task)?,
            })
        })?;
        let whole = match input.bytes()? {
            [] => None,
            whole => Some(Setup::decode(whole)?),
        };
        input.end()?;
        Ok(TierPlan { setup, tasks, servers, below, whole })
    }
}
