//! A machine for tests whose cores are scheduled by trees of schedulers that do not share memory: cores without costs, on
//! which each scheduler knows what it decided itself and what those next to it tell it.

use std::collections::HashMap;
use tactus_policy::{news, Decision, Event, Held, Platform, Rest, Says, Seen, Tier, TierPlan, ASKED, ELSEWHERE};
use tactus_record::NoSink;
use tactus_time::{CoreId, CoreSet, Duration, Instant, TaskId, MAX_CORES};

/// What runs on a core from when on.
pub type Line = Vec<(Instant, Option<(TaskId, u32)>)>;

/// One scheduler on one core.
struct Scheduler {
    /// Nothing if it is on several cores.
    tier: Option<Tier>,
    decision: Option<Decision>,
    /// Since when it has had the core, or until when it had it.
    left: Instant,
    /// It told its parent that it has nothing to run until then; or nothing but budgets that go by.
    idle: Option<Instant>,
    hollow: bool,
}

/// What the root keeps of a scheduler below it that is on several cores.
#[derive(Default)]
struct Lent {
    held: [Held; MAX_CORES],
    rest: CoreSet,
    asked: CoreSet,
    /// By core: where it was lost.
    rouse: [CoreSet; MAX_CORES],
}

/// All cores with all their schedulers.
pub struct Machine {
    plans: Vec<TierPlan>,
    cores: Vec<Vec<Scheduler>>,
    /// With the place of its plan.
    platforms: Vec<(usize, CoreSet, Platform)>,
    /// By the place of its plan.
    lent: HashMap<usize, Lent>,
    /// Cores whose root is to look at what it was told.
    told: CoreSet,
    /// What each job has been given.
    done: HashMap<(TaskId, u32), Duration>,
    now: Instant,
    /// What ran on each core.
    pub lines: Vec<Line>,
}

impl Machine {
    pub fn new(plans: &[TierPlan]) -> Machine {
        let cores = plans[0].setup.cores;
        let mut machine = Machine {
            plans: plans.to_vec(),
            cores: (0..cores).map(|_| Vec::new()).collect(),
            platforms: Vec::new(),
            lent: HashMap::new(),
            told: CoreSet::EMPTY,
            done: HashMap::new(),
            now: Instant::ZERO,
            lines: vec![Line::new(); cores],
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
                let platform = Platform::new(plan, set, 1).expect("the plan is good").swap_remove(0);
                machine.platforms.push((place, set, platform));
                machine.lent.entry(place).or_default();
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

    /// The scheduler decides, and those that it gives the core to.
    fn decide(&mut self, core: usize, at: usize, event: Event) {
        let now = self.now;
        let event = if self.cores[core][at].decision.is_none() { Event::Start } else { event };
        let left = std::mem::replace(&mut self.cores[core][at].left, now);
        if at == 0 && event == Event::Notify {
            self.hear(core);
        }
        let visited = self.visited(core, at);
        let (decision, says) = match &mut self.cores[core][at].tier {
            Some(tier) => tier.handle((left, visited), now, event, &mut NoSink),
            None => self.decide_on_several(core, at, event, left),
        };
        let it = &mut self.cores[core][at];
        let blinks = says == Says::Moment;
        (it.decision, it.idle, it.hollow) = (Some(decision), None, says == Says::Hollow);
        if at == 0 {
            self.tell(core);
        }
        if decision.run.is_none() || blinks && at != 0 {
            self.cores[core][at].idle = Some(if blinks { now } else { decision.timer });
        } else if let Some(below) = self.below(core, at) {
            self.decide(core, below, Event::Timer);
            self.let_decide(core, at, below);
        }
    }

    /// A scheduler that is on several cores decides on one of them, and asks for others.
    fn decide_on_several(&mut self, core: usize, at: usize, event: Event, left: Instant) -> (Decision, Says) {
        let own = CoreId(core as u8);
        let mut away = [None; MAX_CORES];
        for (other, held) in self.lent[&at].held.iter().enumerate().filter(|(other, _)| *other != core) {
            if *held == Held::Waits {
                away[other] = Some(self.cores[other][at].left);
            }
        }
        let platform = self.platforms.iter_mut().find(|(place, set, _)| *place == at && set.contains(own));
        let (_, _, platform) = platform.expect("the core shares a queue");
        let runs = platform.job_on(own);
        let finished = |task: TaskId, job: u32| event == Event::Complete && runs == Some((task, job));
        let seen = Seen { core: own, left, now: self.now, removed: false, finished: &finished, away };
        let (decision, blinks) = platform.handle(&seen, &mut NoSink);
        let lent = self.lent.get_mut(&at).expect("it is known");
        for other in decision.notify.iter() {
            if lent.held[other.index()] == Held::Rests {
                lent.asked.insert(other);
            }
            self.told.insert(other);
        }
        (decision, if blinks { Says::Moment } else { Says::Nothing })
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

    /// The root does what other cores told it. What schedulers that rest asked for comes first, and what others lost when that
    /// is settled.
    fn hear(&mut self, core: usize) {
        let own = CoreId(core as u8);
        self.told.remove(own);
        let asked = self.lent.values().any(|lent| lent.asked.contains(own) || lent.rest.contains(own));
        for below in &self.plans[0].below {
            let Some(lent) = self.lent.get_mut(&usize::from(below.place)) else { continue };
            let tier = self.cores[core][0].tier.as_mut().expect("the root's queues are of one core each");
            if lent.rest.contains(own) {
                tier.rest(below.stands, self.now);
            }
            if asked && !lent.rouse[core].is_empty() {
                self.told.insert(own);
            } else {
                if lent.rouse[core].iter().any(|lost| lent.held[lost.index()] == Held::Waits) {
                    tier.rouse(below.stands, self.now, false);
                }
                lent.rouse[core] = CoreSet::EMPTY;
            }
            if lent.asked.contains(own) {
                tier.rouse(below.stands, self.now, false);
            }
            lent.rest.remove(own);
            lent.asked.remove(own);
        }
    }

    /// The root tells other cores what it has decided about schedulers that are there as well.
    fn tell(&mut self, core: usize) {
        let own = CoreId(core as u8);
        for below in &self.plans[0].below {
            let place = usize::from(below.place);
            let Some(set) = below.shared.iter().find(|set| set.contains(own)) else { continue };
            let rest = match self.cores[core][place].idle.take() {
                None => Rest::No,
                Some(at) if at == self.now => Rest::Moment,
                Some(ELSEWHERE) => Rest::Elsewhere,
                Some(ASKED) => Rest::Asked,
                Some(_) => Rest::Empty,
            };
            let after = self.cores[core][0].tier.as_ref().map_or(Held::Rests, |tier| tier.held(below.stands));
            let lent = self.lent.get_mut(&place).expect("it is known");
            let before = std::mem::replace(&mut lent.held[core], after);
            let held = lent.held;
            let mut others = *set;
            others.remove(own);
            let news = news(before, after, rest, (others, &|it: CoreId| held[it.index()]));
            for other in news.rest.iter() {
                lent.held[other.index()] = Held::Rests;
                lent.rest.insert(other);
            }
            if news.here {
                lent.asked.insert(own);
                self.told.insert(own);
            }
            news.again.iter().for_each(|other| lent.asked.insert(other));
            news.rouse.iter().for_each(|other| lent.rouse[other.index()].insert(own));
            news.tell.iter().for_each(|other| self.told.insert(other));
        }
    }

    /// The parent decides if the one below has nothing to run.
    fn let_decide(&mut self, core: usize, at: usize, below: usize) {
        if let Some(until) = self.cores[core][below].idle {
            let hollow = self.cores[core][below].hollow;
            let parent = &mut self.cores[core][at];
            let tier = parent.tier.as_mut().expect("those above are on one core each");
            if hollow {
                tier.hollow(until);
            } else {
                tier.doze(until);
            }
            parent.left = self.now;
            self.decide(core, at, if hollow { Event::Timer } else { Event::Complete });
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
            self.decide(core, 0, Event::Start);
        }
        let mut at_once = 0;
        loop {
            for core in 0..self.cores.len() {
                let now = (self.now, self.job(core));
                self.lines[core].push(now);
            }
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
                    self.decide(core, chain[chain.len() - 1], Event::Complete);
                    self.settle(core, &chain);
                }
                2 => self.decide(core, 0, Event::Notify),
                _ => {
                    // Of time-outs at one instant the deepest comes first: so a budget that ends together with the work
                    // finds that there is none. (On the machine no two things take no time.)
                    let due = chain.iter().rposition(|at| self.timer(core, *at) <= next).expect("one is due");
                    self.decide(core, chain[due], Event::Timer);
                    self.settle(core, &chain[..=due]);
                }
            }
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
        let told = self.told.contains(CoreId(core as u8)).then_some(self.now);
        let timer = self.chain(core).iter().map(|at| self.timer(core, *at)).min().map(|at| at.max(self.now));
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
