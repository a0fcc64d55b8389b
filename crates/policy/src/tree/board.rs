//! Changes of cores that share queues, where servers have schedulers of their own. They take effect when all these cores are quiet,
//! and each of the root's knows only about its own: so each tells the others here until when nothing is left on it that keeps a
//! change from taking effect, and whoever finds that all are quiet settles it for all. The others make it as of that time when
//! they look here before their next decision, to which they are called. What is left in a queue that cores share is known here too, from
//! its scheduler, and else from the file.

use super::apart::{concerns_of_shared, keeps, make, Concern, Elsewhere, Left, Outcome, SETTLED};
use super::build;
use super::change::{attach, Changes, On, Waiting};
use super::domain::Domain;
use super::tier::{cores_of, schedulers, Tier, TierPlan};
use super::Action;
use crate::Kind;
use alloc::vec::Vec;
use tactus_time::{CoreId, CoreSet, Instant, MAX_CORES};

/// What the root's cores tell each other of the changes of those that share queues. One core at a time uses it, from before a
/// decision until after it.
pub struct Board {
    cores: CoreSet,
    /// The tree on all these cores as it is by what was settled. Nothing runs in it.
    whole: Domain,
    changes: Changes,
    outcomes: Vec<Outcome>,
    /// By place in the list and core: until when nothing is left there, beside what is left in queues that are shared.
    until: Vec<[Instant; MAX_CORES]>,
    /// The schedulers whose cores share a queue.
    platforms: Vec<Sharing>,
    /// The latest decision here.
    latest: Instant,
}

/// A scheduler whose cores share a queue, wherever in the tree.
struct Sharing {
    /// Of its plan.
    place: usize,
    server: u16,
    queue: CoreSet,
    /// By place in the list: how it has to do with the change, and until when nothing is left in it; by which of its reports.
    concerns: Vec<Concern>,
    until: Vec<Instant>,
    report: u64,
}

impl Board {
    /// One for each set of cores that share queues and on which something changes.
    pub fn of(plan: &TierPlan) -> Vec<Board> {
        let Some(setup) = &plan.whole else { return Vec::new() };
        let Kind::Changing(changing) = &setup.kind else { return Vec::new() };
        let shared = |set: &CoreSet| set.bits().count_ones() > 1;
        let board = |cores: CoreSet| {
            let mut whole = build::domain(setup, &changing.tree, cores, true);
            attach(&mut whole, changing, |part| cores_of(setup, &changing.tree, part).bits() & cores.bits() != 0);
            let changes = whole.changes.take().filter(|changes| !changes.list.is_empty())?;
            let until = alloc::vec![[Instant::ZERO; MAX_CORES]; changes.list.len()];
            let queues = |(place, server): (usize, &usize)| {
                let server = *server;
                let queues = changing.tree.servers[server].queues.iter().copied();
                queues
                    .filter(|queue| shared(queue) && queue.bits() & cores.bits() != 0)
                    .map(move |it| (place, server, it))
            };
            let below = schedulers(&changing.tree);
            let sharing = below.iter().enumerate().skip(1).flat_map(queues);
            let platforms = sharing.map(|(place, server, queue)| Sharing {
                place,
                server: server as u16,
                queue,
                concerns: concerns_of_shared((setup, changing), &changes, (server as u16, queue)),
                until: alloc::vec![Instant::ZERO; until.len()],
                report: 0,
            });
            let mut board = Board {
                cores,
                outcomes: Vec::with_capacity(until.len()),
                platforms: platforms.collect(),
                whole,
                changes,
                until,
                latest: Instant::ZERO,
            };
            board.begin();
            Some(board)
        };
        build::domains(setup.cores, &changing.tree).into_iter().filter(shared).filter_map(board).collect()
    }

    /// The cores.
    pub fn cores(&self) -> CoreSet {
        self.cores
    }

    /// The schedulers whose cores share a queue, by the place of their plan, and which they share. Before a core decides, what each
    /// said last is to be [heard](Board::hear_shared).
    pub fn shared(&self) -> impl Iterator<Item = (usize, CoreSet)> + '_ {
        self.platforms.iter().map(|it| (it.place, it.queue))
    }

    /// What is [left](super::Platform::left) in the scheduler whose cores share this queue, with the number of its report.
    pub fn hear_shared(&mut self, (place, queue): (usize, CoreSet), report: u64, left: impl Fn(usize) -> Left) {
        let settled = self.changes.settled;
        let it = self.platforms.iter_mut().find(|it| (it.place, it.queue) == (place, queue));
        let Some(it) = it.filter(|it| it.report != report) else { return };
        it.report = report;
        // What was settled since it does not know.
        let knows = settled == 0 || left(settled - 1).until == SETTLED;
        for (place, until) in it.until.iter_mut().enumerate().skip(settled) {
            let said = left(place).until;
            *until = if knows { said } else { said.min(*until) };
        }
    }

    /// What is left in those that share queues, before they have said anything.
    fn begin(&mut self) {
        for n in 0..self.platforms.len() {
            for place in 0..self.until.len() {
                self.platforms[n].until[place] = self.first_in(n, place, |_| true, Instant::ZERO);
            }
        }
    }

    /// When there is work, in those that share the queue, of the tasks that `begin` at `from`, as far as the change at this place
    /// waits for it.
    fn first_in(&self, sharing: usize, place: usize, begins: impl Fn(usize) -> bool, from: Instant) -> Instant {
        let (it, change) = (&self.platforms[sharing], &self.changes.list[place]);
        let waits_for = |task: usize| match (it.concerns[place], change.on) {
            (Concern::None, _) => false,
            (Concern::Own, On::Task(one)) if !change.drains => one == task,
            _ => true,
        };
        let later = &self.changes.list[self.changes.settled..];
        let first = |task: usize| {
            Some(from.saturating_add(self.whole.tasks[task].offset)).filter(|at| *at < self.whole.end_of(task, later))
        };
        let tasks = (0..self.whole.tasks.len()).filter(|task| self.shares(*task, it) && self.is_there(*task));
        tasks.filter(|task| begins(*task) && waits_for(*task)).filter_map(first).min().unwrap_or(Instant::NEVER)
    }

    /// Whether the task is in the queue.
    fn shares(&self, task: usize, it: &Sharing) -> bool {
        let home = &self.whole.vps[self.whole.home(task)];
        home.server == it.server && it.queue.contains(self.whole.slots[home.core].id)
    }

    fn is_there(&self, task: usize) -> bool {
        self.changes.tasks[task] && !self.whole.vps[self.whole.home(task)].absent
    }

    /// A change took effect of which those that share queues have not been told.
    fn follow(&mut self, change: &Waiting, at: Instant) {
        let begins = |whole: &Domain, task: usize| match change.on {
            On::Task(one) => one == task,
            On::Server(server) => whole.lies_in(whole.home(task), server),
        };
        for n in 0..self.platforms.len() {
            let inside = |vp: usize| matches!(change.on, On::Server(server) if self.whole.lies_in(vp, server));
            let all =
                (0..self.whole.vps.len()).any(|vp| self.whole.vps[vp].server == self.platforms[n].server && inside(vp));
            for place in self.changes.settled..self.until.len() {
                let before = self.platforms[n].until[place];
                self.platforms[n].until[place] = match change.action {
                    Action::Add => {
                        let first = self.first_in(n, place, |task| begins(&self.whole, task), at);
                        first.min(if all { Instant::NEVER } else { before })
                    }
                    Action::Remove if all => Instant::NEVER,
                    Action::Remove | Action::Alter(_) => before,
                };
            }
        }
    }

    /// The latest decision here.
    pub fn latest(&self) -> Instant {
        self.latest
    }

    /// Before the core decides: what was settled, and what is known of the others. Gives the time of the decision: not before that of
    /// another one which came here first, so that nobody has to make a change as of a time before its last decision.
    pub fn hear(&mut self, tier: &mut Tier, core: CoreId, now: Instant) -> Instant {
        self.latest = self.latest.max(now);
        self.say(tier, core);
        self.latest
    }

    fn say(&self, tier: &mut Tier, core: CoreId) {
        tier.told(self.outcomes.iter().copied());
        let place = self.outcomes.len();
        let Some(change) = self.changes.list.get(place) else { return };
        let overloads = self.whole.overloads(&self.changes, change);
        let others = self.cores.iter().filter(|other| *other != core);
        let until = others.map(|other| self.until[place][other.index()]).min().unwrap_or(Instant::NEVER);
        let shared = self.platforms.iter().filter(|it| it.concerns[place] != Concern::None && !keeps(change));
        let until = shared.map(|it| it.until[place]).fold(until, Instant::min);
        tier.hear_elsewhere(Elsewhere { place, asked: self.changes.asked, until, overloads });
    }

    /// After its decision: what it has settled, and what is left on it. The cores that are to be called.
    pub fn tell(&mut self, tier: &Tier, core: CoreId) -> CoreSet {
        let known = self.outcomes.len();
        for outcome in tier.outcomes().iter().skip(known) {
            let change = self.changes.list[self.changes.settled];
            self.changes.asked = self.changes.asked.max(self.changes.settled + 1);
            if let Outcome::Changed(at) = outcome {
                make(&mut self.whole, &mut self.changes, &change, (core, *at));
            }
            self.changes.settled += 1;
            self.outcomes.push(*outcome);
            if let Outcome::Changed(at) = outcome {
                self.follow(&change, *at);
            }
        }
        self.changes.asked = self.changes.asked.max(tier.asked());
        let mut called = if self.outcomes.len() > known { self.cores } else { CoreSet::EMPTY };
        called.remove(core);
        for (until, left) in self.until.iter_mut().zip(tier.left().1) {
            // What others said they said before they knew of this.
            called.iter().for_each(|other| until[other.index()] = Instant::ZERO);
            until[core.index()] = left.until;
        }
        called
    }
}
