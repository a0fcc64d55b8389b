//! A machine for tests whose cores are scheduled by trees of schedulers that do not share memory: cores without costs, on
//! which each scheduler knows what it decided itself and what those next to it tell it.

use super::{Entry, Kept};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use tactus_policy::{
    Below, Board, Decision, Event, Gave, Held, Lending, Outside, Platform, Rest, Says, Seen, Tier, TierPlan, Turn,
    ASKED, ELSEWHERE,
};
use tactus_time::{CoreId, CoreSet, Duration, Instant, TaskId, MAX_CORES};

/// What runs on a core from when on.
pub type Line = Vec<(Instant, Option<(TaskId, u32)>)>;

/// Instants at which nothing changes left out, and all but the last of those at one instant.
pub fn line(all: impl IntoIterator<Item = (Instant, Option<(TaskId, u32)>)>) -> Line {
    let mut line: Line = Vec::new();
    for (at, job) in all {
        match line.last_mut() {
            Some(last) if last.0 == at => last.1 = job,
            _ => line.push((at, job)),
        }
    }
    line.dedup_by(|later, earlier| later.1 == earlier.1);
    line
}

/// When a scheduler that has nothing to run wants its core again, why, and which others it wants.
type Idle = (Instant, Rest, CoreSet);

/// One scheduler on one core.
struct Scheduler {
    /// Nothing if it is one with those on other cores.
    tier: Option<Tier>,
    decision: Option<Decision>,
    /// Since when it has had the core, or until when it had it.
    left: Instant,
    /// It told its parent that it has nothing to run until then, and why.
    idle: Option<Idle>,
    /// There is nothing to run but budgets that go by.
    hollow: bool,
}

/// All cores with all their schedulers.
pub struct Machine {
    plans: Vec<TierPlan>,
    /// By place: the parent, and the place in its list.
    parents: Vec<Option<(usize, usize)>>,
    cores: Vec<Vec<Scheduler>>,
    /// With the place of its plan. What one decides on is a copy of the other, as where cores decide at the same time.
    platforms: Vec<(usize, CoreSet, [Platform; 2])>,
    /// What the root's cores tell each other of changes.
    boards: Vec<Board>,
    lending: Vec<Lending>,
    /// By the place of the plan: what it has of each core.
    held: Vec<[AtomicU64; MAX_CORES]>,
    /// By the place of the plan: the cores that are to look at what they were told.
    told: Vec<CoreSet>,
    /// What each job has been given.
    done: HashMap<(TaskId, u32), Duration>,
    now: Instant,
    /// What ran on each core.
    pub lines: Vec<Line>,
    /// What was recorded since the last step.
    kept: Kept,
    /// What was decided, step by step; of records those of tasks and servers.
    pub entries: Vec<Entry>,
}

/// What is around one scheduler.
struct Around<'a> {
    place: usize,
    below: &'a [Below],
    held: &'a [[AtomicU64; MAX_CORES]],
    told: &'a mut CoreSet,
}

fn held_of(word: &AtomicU64) -> Held {
    [Held::Rests, Held::Waits, Held::Runs][word.load(SeqCst) as usize]
}

impl Outside for Around<'_> {
    fn own(&self, core: CoreId) -> Held {
        match self.place {
            0 => Held::Runs,
            place => held_of(&self.held[place][core.index()]),
        }
    }

    fn held(&self, below: usize, core: CoreId) -> &AtomicU64 {
        &self.held[usize::from(self.below[below].place)][core.index()]
    }

    fn notify(&mut self, core: CoreId) {
        self.told.insert(core);
    }
}

impl Machine {
    pub fn new(plans: &[TierPlan]) -> Machine {
        let cores = plans[0].setup.cores;
        let parent = |place: usize| {
            let below = |plan: &TierPlan| plan.below.iter().position(|below| usize::from(below.place) == place);
            plans.iter().enumerate().find_map(|(parent, plan)| below(plan).map(|n| (parent, n)))
        };
        let mut machine = Machine {
            plans: plans.to_vec(),
            parents: (0..plans.len()).map(parent).collect(),
            cores: (0..cores).map(|_| Vec::new()).collect(),
            platforms: Vec::new(),
            boards: Board::of(&plans[0]),
            lending: plans.iter().map(|plan| Lending::new(&plan.below)).collect(),
            held: plans.iter().map(|_| Default::default()).collect(),
            told: vec![CoreSet::EMPTY; plans.len()],
            done: HashMap::new(),
            now: Instant::ZERO,
            lines: vec![Line::new(); cores],
            kept: Kept::default(),
            entries: Vec::new(),
        };
        for (place, plan) in plans.iter().enumerate() {
            for (core, tier) in Tier::new(plan).expect("the plan is good").into_iter().enumerate() {
                machine.cores[core].push(Scheduler {
                    tier,
                    decision: None,
                    left: Instant::ZERO,
                    idle: None,
                    hollow: false,
                });
            }
            for set in plan.shared() {
                let platforms = Platform::new(plan, set, 2).expect("the plan is good");
                let [one, other] = platforms.try_into().unwrap_or_else(|_| panic!("two were asked for"));
                machine.platforms.push((place, set, [one, other]));
            }
        }
        machine
    }

    /// The scheduler that the decision gives the core to.
    fn below(&self, core: usize, at: usize) -> Option<usize> {
        let run = self.cores[core][at].decision?.run?;
        let below = self.plans[at].below.iter().find(|below| below.stands == run.task)?;
        Some(below.place.into())
    }

    /// From the root down to the one whose job runs.
    fn chain(&self, core: usize) -> Vec<usize> {
        std::iter::successors(Some(0), |at| self.below(core, *at)).collect()
    }

    fn job(&self, core: usize) -> Option<(TaskId, u32)> {
        let last = *self.chain(core).last()?;
        self.cores[core][last].decision.and_then(|decision| decision.run).map(|run| (run.task, run.job))
    }

    /// The scheduler decides, and those that it gives the core to. `gave`: who has just given the core back; `given`: whether
    /// it is given the core.
    fn decide(&mut self, core: usize, at: usize, event: Event, gave: Option<Gave>, given: bool) {
        let now = self.now;
        let event = if self.cores[core][at].decision.is_none() { Event::Start } else { event };
        let left = std::mem::replace(&mut self.cores[core][at].left, now);
        // What it is told it looks at when it is called for that, or has not had the core.
        let heard = given || event == Event::Notify;
        if heard || self.cores[core][at].tier.is_none() {
            self.told[at].remove(CoreId(core as u8));
        }
        let (decision, idle) = match self.cores[core][at].tier.is_some() {
            true => self.decide_alone(core, at, (event, heard), left, gave),
            false => self.decide_together(core, at, event, left),
        };
        let it = &mut self.cores[core][at];
        (it.decision, it.idle) = (Some(decision), idle);
        if idle.is_none() {
            if let Some(below) = self.below(core, at) {
                self.decide(core, below, Event::Timer, None, true);
                self.let_decide(core, at, below);
            }
        }
    }

    /// A scheduler that decides on each of its cores alone does so on one of them.
    fn decide_alone(
        &mut self,
        core: usize,
        at: usize,
        (event, heard): (Event, bool),
        left: Instant,
        gave: Option<Gave>,
    ) -> (Decision, Option<Idle>) {
        let (now, own) = (self.now, CoreId(core as u8));
        let visited = self.visited(core, at);
        self.tell_of_changes(core, at);
        let below = &self.plans[at].below;
        let mut around = Around { place: at, below, held: &self.held, told: &mut self.told[at] };
        let tier = self.cores[core][at].tier.as_mut().expect("it decides alone");
        let mut turn = Turn::new(below, &self.lending[at], &mut around, own, now);
        let mut took = turn.look();
        let heard = std::mem::take(&mut turn.once_more) || heard;
        if heard {
            turn.hear(tier, gave.map(|gave| gave.stands), false);
        }
        let mut later = std::mem::take(&mut turn.once_more);
        let board = self.boards.iter_mut().find(|board| at == 0 && board.cores().contains(own));
        let mut board = board;
        let time = board.as_mut().map_or(now, |board| {
            for shared in board.shared().collect::<Vec<_>>() {
                let it = self.platforms.iter().find(|(place, cores, _)| (*place, *cores) == shared);
                let (report, left) = it.map_or((0, &[][..]), |(_, _, [platform, _])| platform.left());
                if report > 0 {
                    board.hear_shared(shared, report, |place| left[place]);
                }
            }
            board.hear(tier, own, now)
        });
        let (mut decision, mut says) = tier.handle((left, visited), time, event, &mut self.kept);
        let called = board.map_or(CoreSet::EMPTY, |board| board.tell(tier, own));
        let mut blinks = says == Says::Moment;
        turn.tell(tier, gave.as_ref());
        let mut rest = None;
        loop {
            if at == 0 {
                // What it finds out about itself it looks at when all others have done what they do now.
                later |= turn.once_more;
                break;
            }
            let again = std::mem::take(&mut turn.once_more);
            if !again {
                if decision.run.is_some() {
                    break;
                }
                rest = turn.leave();
                if rest.is_some() {
                    break;
                }
            }
            took = turn.look();
            turn.once_more = false;
            turn.hear(tier, None, true);
            (decision, says) = tier.handle((now, Duration::ZERO), now, Event::Notify, &mut self.kept);
            blinks |= says == Says::Moment;
            turn.tell(tier, None);
        }
        let wants = turn.wants;
        called.iter().for_each(|core| self.told[at].insert(core));
        if later {
            self.told[at].insert(own);
        }
        decision.timer = decision.timer.min(took);
        let hollow = says == Says::Hollow && !blinks && at != 0;
        self.cores[core][at].hollow = hollow;
        let idle = match rest {
            Some(_) if blinks && says == Says::Hollow => Some((now, Rest::Own, wants)),
            Some(rest) => Some((decision.timer, rest, wants)),
            None if blinks && at != 0 => Some((now, Rest::Own, wants)),
            None => None,
        };
        if idle.is_none() {
            self.ask(core, at, wants);
        }
        (decision, idle)
    }

    /// The scheduler is told what became of changes, and by those below what is left in them.
    fn tell_of_changes(&mut self, core: usize, at: usize) {
        if let Some((parent, _)) = self.parents[at] {
            let known = self.cores[core][parent].tier.as_ref().map_or(Vec::new(), |it| it.outcomes().to_vec());
            self.cores[core][at].tier.as_mut().expect("it decides alone").told(known.into_iter());
        }
        for below in self.plans[at].below.clone() {
            let place = usize::from(below.place);
            let own = CoreId(core as u8);
            let platform = || self.platforms.iter().find(|(at, set, _)| *at == place && set.contains(own));
            let (report, left) = match &self.cores[core][place].tier {
                Some(child) => child.left(),
                None => platform().map_or((0, &[][..]), |(_, _, [platform, _])| platform.left()),
            };
            let left = left.to_vec();
            let tier = self.cores[core][at].tier.as_mut().expect("it decides alone");
            tier.hear(below.stands, report, left.into_iter());
        }
    }

    /// For how long the server of the scheduler was the most urgent as it had asked.
    fn visited(&mut self, core: usize, at: usize) -> Duration {
        let belows = self.plans.iter().enumerate().flat_map(|(n, plan)| plan.below.iter().map(move |it| (n, it)));
        let Some((parent, below)) = { belows }.find(|(_, below)| usize::from(below.place) == at) else {
            return Duration::ZERO;
        };
        let tier = self.cores[core][parent].tier.as_mut();
        tier.map_or(Duration::ZERO, |tier| tier.take_visited(below.stands))
    }

    /// The scheduler asks its parent for cores.
    fn ask(&mut self, core: usize, at: usize, wants: CoreSet) {
        let Some((parent, n)) = self.parents[at].filter(|_| !wants.is_empty()) else { return };
        let below = &self.plans[parent].below;
        let mut around = Around { place: parent, below, held: &self.held, told: &mut self.told[parent] };
        let own = CoreId(core as u8);
        let mut turn = Turn::new(below, &self.lending[parent], &mut around, own, self.now);
        turn.ask(n, wants);
        let (wants, once_more) = (turn.wants, turn.once_more);
        if once_more {
            self.told[parent].insert(own);
        }
        self.ask(core, parent, wants);
    }

    /// A scheduler that shares queues among cores decides on one of them, and asks for others.
    fn decide_together(&mut self, core: usize, at: usize, event: Event, left: Instant) -> (Decision, Option<Idle>) {
        let own = CoreId(core as u8);
        let mut away = [None; MAX_CORES];
        for (other, held) in self.held[at].iter().enumerate().filter(|(other, _)| *other != core) {
            if held_of(held) == Held::Waits {
                away[other] = Some(self.cores[other][at].left);
            }
        }
        let platform = self.platforms.iter_mut().find(|(place, set, _)| *place == at && set.contains(own));
        let (_, _, pair) = platform.expect("the core shares a queue");
        pair.swap(0, 1);
        let [platform, last] = pair;
        platform.become_as(last);
        let parent = self.parents[at].and_then(|(parent, _)| self.cores[core][parent].tier.as_ref());
        platform.told(parent.map_or(&[][..], |it| it.outcomes()).iter().copied());
        let runs = platform.job_on(own);
        let finished = |task: TaskId, job: u32| event == Event::Complete && runs == Some((task, job));
        let seen = Seen { core: own, left, now: self.now, removed: false, finished: &finished, away };
        let (decision, blinks) = platform.handle(&seen, &mut self.kept);
        let mut wants = CoreSet::EMPTY;
        for other in decision.notify.iter() {
            match held_of(&self.held[at][other.index()]) {
                Held::Rests => wants.insert(other),
                _ => self.told[at].insert(other),
            }
        }
        let idle = match (decision.run, decision.timer) {
            (Some(_), _) => blinks.then_some((self.now, Rest::Moment, wants)),
            (None, ELSEWHERE) => Some((Instant::NEVER, Rest::Elsewhere, wants)),
            (None, ASKED) => Some((Instant::NEVER, Rest::Asked, wants)),
            (None, timer) => Some((timer, Rest::Empty, wants)),
        };
        if idle.is_none() {
            self.ask(core, at, wants);
        }
        (decision, idle)
    }

    /// The parent decides if the one below has nothing to run.
    fn let_decide(&mut self, core: usize, at: usize, below: usize) {
        if let Some((until, rest, wants)) = self.cores[core][below].idle.take() {
            let hollow = self.cores[core][below].hollow;
            let stands = self.plans[at].below.iter().find(|it| usize::from(it.place) == below).expect("it is").stands;
            let parent = &mut self.cores[core][at];
            let tier = parent.tier.as_mut().expect("those above decide alone");
            parent.left = self.now;
            let event = if hollow { Event::Timer } else { Event::Complete };
            if hollow {
                tier.hollow(until);
            } else {
                tier.doze(until);
            }
            self.decide(core, at, event, Some(Gave { stands, rest, until, wants }), false);
        }
    }

    /// Everybody above decides in turn where one has nothing to run.
    fn settle(&mut self, core: usize, chain: &[usize]) {
        for pair in chain.windows(2).rev() {
            self.let_decide(core, pair[0], pair[1]);
        }
    }

    /// Runs up to and including `end`.
    pub fn run(&mut self, demand: &dyn Fn(TaskId, u32) -> Duration, end: Instant) {
        for core in 0..self.cores.len() {
            self.decide(core, 0, Event::Start, None, true);
        }
        let mut at_once = 0;
        loop {
            for core in 0..self.cores.len() {
                let now = (self.now, self.job(core));
                self.lines[core].push(now);
            }
            self.keep();
            // At one instant ends of jobs come first, then time-outs, then word from other cores.
            let Some((next, kind, core)) = (0..self.cores.len()).filter_map(|core| self.next(core, demand)).min()
            else {
                return;
            };
            if next > end {
                return;
            }
            at_once = if next == self.now { at_once + 1 } else { 0 };
            assert!(at_once < 1_000, "the schedulers go on deciding at {next}");
            self.go_to(next);
            let chain = self.chain(core);
            match kind {
                0 => {
                    self.decide(core, chain[chain.len() - 1], Event::Complete, None, false);
                    self.settle(core, &chain);
                }
                2 => {
                    let told = |at: &usize| self.told[*at].contains(CoreId(core as u8));
                    let called = chain.iter().position(told).expect("one is called");
                    self.decide(core, chain[called], Event::Notify, None, false);
                    self.settle(core, &chain[..=called]);
                }
                _ => {
                    // Of time-outs at one instant the deepest comes first: so a budget that ends together with the work
                    // finds that there is none. (On the machine no two things take no time.)
                    let due = chain.iter().rposition(|at| self.timer(core, *at) <= next).expect("one is due");
                    self.decide(core, chain[due], Event::Timer, None, false);
                    self.settle(core, &chain[..=due]);
                }
            }
        }
    }

    /// Keeps what was decided, on each core of which something was recorded.
    fn keep(&mut self) {
        let mut all = std::mem::take(&mut self.kept.0);
        // Tasks that stand for schedulers are nobody else's business.
        let tasks = self.plans.iter().map(|plan| plan.tasks.len()).sum();
        all.retain(|record| record.task.is_none_or(|task| task.index() < tasks));
        let running: Vec<_> = (0..self.cores.len()).map(|core| self.job(core)).collect();
        let decision = Decision { run: None, timer: Instant::NEVER, notify: CoreSet::EMPTY, ticket: 0 };
        for core in 0..self.cores.len() {
            let records = all.iter().filter(|record| record.core.index() == core).copied().collect();
            let (now, event, running) = (self.now, Event::Timer, running.clone());
            self.entries.push(Entry { core, now, event, decision, running, records });
        }
    }

    fn timer(&self, core: usize, at: usize) -> Instant {
        self.cores[core][at].decision.map_or(Instant::NEVER, |it| it.timer)
    }

    /// What comes next on the core.
    fn next(&self, core: usize, demand: &dyn Fn(TaskId, u32) -> Duration) -> Option<(Instant, u8, usize)> {
        let ends = self.job(core).map(|job| {
            let done = self.done.get(&job).copied().unwrap_or_default();
            self.now + demand(job.0, job.1).saturating_sub(done)
        });
        let chain = self.chain(core);
        let told = chain.iter().any(|at| self.told[*at].contains(CoreId(core as u8))).then_some(self.now);
        let timer = chain.iter().map(|at| self.timer(core, *at)).min().map(|at| at.max(self.now));
        let timer = timer.filter(|at| *at < Instant::NEVER);
        let all = [ends, timer, told].into_iter().enumerate();
        all.filter_map(|(kind, at)| at.map(|at| (at, kind as u8, core))).min()
    }

    /// Time passes. Whoever is on the way to a job has had its core until then.
    fn go_to(&mut self, next: Instant) {
        for core in 0..self.cores.len() {
            if let Some(job) = self.job(core) {
                *self.done.entry(job).or_default() += next.since(self.now);
            }
            for at in self.chain(core) {
                self.cores[core][at].left = next;
            }
        }
        self.now = next;
    }
}
