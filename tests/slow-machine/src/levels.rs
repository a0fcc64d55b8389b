//! MC² on a slow machine that works out each nanosecond anew: budgets are a list per task, one for each period boundary so far, and
//! a job may use the first one from its own period on that has something left. Its tasks may change while it runs.

use super::{timeline, Entry};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use tactus_policy::{Action, Change, Mc2, Mc2Now, Part, PolicyConfig, PolicySpec, Slot, Table, Task, Values};
use tactus_record::EventKind;
use tactus_time::{CoreId, Duration, Level, TaskId};

/// How long the slow machine runs.
pub const END: u64 = 150;

/// One task as the slow machine sees it.
struct Slow {
    task: Task,
    budget: u64,
    there: bool,
    /// It releases nothing any more, or nothing yet; else when it releases next.
    next: Option<u64>,
    /// Deadline and what is left of the budget of each period so far.
    budgets: Vec<(u64, u64)>,
    /// The oldest unfinished job, and what it has had.
    job: usize,
    had: u64,
}

/// What a task competes with.
#[derive(Clone, Copy, PartialEq)]
struct Bid {
    task: usize,
    /// The period whose budget is used.
    period: usize,
    deadline: u64,
    ghost: bool,
}

impl Slow {
    fn bid(&self, number: usize, mc2: &Mc2) -> Option<Bid> {
        let released = self.budgets.len();
        let bid = |period: usize, ghost| Bid { task: number, period, deadline: self.budgets[period].0, ghost };
        if self.job < released {
            if !mc2.enforce || self.task.level == Level::D {
                return Some(bid(self.job, false));
            }
            return (self.job..released).find(|period| self.budgets[*period].1 > 0).map(|period| bid(period, false));
        }
        let last = released.checked_sub(1)?;
        (mc2.slack_shifting && self.task.level != Level::D && self.budgets[last].1 > 0).then(|| bid(last, true))
    }
}

fn slot_owner(table: &Table, now: u64) -> Option<usize> {
    if table.slots.is_empty() {
        return None;
    }
    let at = now % table.cycle.as_nanos();
    let slot = table.slots.iter().find(|slot| slot.start.as_nanos() <= at && at < slot.end.as_nanos())?;
    Some(slot.task.index())
}

/// One nanosecond.
#[derive(Default, PartialEq, Debug)]
pub struct Moment {
    /// What runs at levels A to C: core (for A and B), task, job.
    run: BTreeSet<(Option<usize>, u16, u32)>,
    /// Whose ghosts are selected at levels B and C: core (for B), task. At A a ghost may be noted for longer than its
    /// budget lasts, up to the end of the slot.
    ghosts: BTreeSet<(Option<usize>, u16)>,
    /// How many cores run level D.
    level_d: usize,
}

/// What is asked of the slow machine.
pub struct Asked<'a> {
    pub setup: &'a PolicyConfig,
    pub mc2: &'a Mc2,
    pub absent: &'a [TaskId],
    pub changes: &'a [Change],
    pub effects: &'a [Mc2Now],
    /// When which changes were applied, or was refused as too much.
    pub settled: &'a [(u32, u64, bool)],
}

impl<'a> Asked<'a> {
    /// A system that does not change.
    pub fn still(setup: &'a PolicyConfig, mc2: &'a Mc2) -> Asked<'a> {
        Asked { setup, mc2, absent: &[], changes: &[], effects: &[], settled: &[] }
    }

    fn full(&self, level: Level, budget: Duration) -> u64 {
        match level {
            Level::D => 0,
            _ if self.mc2.enforce => budget.as_nanos() + self.mc2.allowance.as_nanos(),
            _ => budget.as_nanos(),
        }
    }

    fn of(&self, n: usize) -> usize {
        match self.changes[n].part {
            Part::Task(task) => task.index(),
            Part::Server(_) => panic!("{:?}", self.changes[n]),
        }
    }

    fn begin(&self) -> Vec<Slow> {
        let slow = |(n, task): (usize, &Task)| {
            let there = !self.absent.contains(&TaskId(n as u16));
            let next = there.then_some(task.offset.as_nanos());
            Slow {
                task: *task,
                budget: self.full(task.level, task.budget),
                there,
                next,
                budgets: vec![],
                job: 0,
                had: 0,
            }
        };
        self.setup.tasks.iter().enumerate().map(slow).collect()
    }

    /// Whether nothing is left that the change could meet.
    fn quiet(&self, tasks: &[Slow], n: usize) -> bool {
        let left = |(number, slow): (usize, &Slow)| match slow.task.level {
            Level::D => number == self.of(n) && slow.job < slow.budgets.len(),
            Level::A => slow.job < slow.budgets.len(),
            _ => slow.job < slow.budgets.len() || slow.bid(number, self.mc2).is_some(),
        };
        !tasks.iter().enumerate().any(left)
    }

    /// What each level of each core promises, level C all cores together.
    fn promised(tasks: &[Slow]) -> BTreeMap<(Level, Option<CoreId>), u128> {
        let mut sums = BTreeMap::new();
        for slow in tasks.iter().filter(|slow| slow.there && slow.task.level != Level::D) {
            let core = slow.task.core.filter(|_| slow.task.level <= Level::B);
            *sums.entry((slow.task.level, core)).or_default() +=
                (u128::from(slow.budget) << 32) / u128::from(slow.task.period.as_nanos());
        }
        sums
    }

    /// Makes the change, if that promises not too much; what it brings others only if that was not computed with one that was refused.
    /// Whether it was made.
    fn make(&self, tasks: &mut [Slow], tables: &mut [Table], (n, outdated): (usize, bool), now: u64) -> bool {
        let before = Asked::promised(tasks);
        let own = self.of(n);
        let kept: Vec<(Task, u64, bool)> = tasks.iter().map(|slow| (slow.task, slow.budget, slow.there)).collect();
        for (task, budget) in self.effects[n].budgets.iter().filter(|_| !outdated) {
            let slow = &mut tasks[task.index()];
            slow.budget = self.full(slow.task.level, *budget);
        }
        let slow = &mut tasks[own];
        match self.changes[n].action {
            Action::Add => slow.there = true,
            Action::Remove => slow.there = false,
            Action::Alter(named) => {
                let (time, period, deadline, priority) = (slow.task.budget, slow.task.period, slow.task.deadline, 0);
                let values = super::changes::altered(Values { time, period, deadline, priority }, named);
                (slow.task.period, slow.task.deadline) = (values.period, values.deadline);
            }
        }
        let most = |level| if level == Level::C { (self.setup.cores as u128) << 32 } else { 1 << 32 };
        let after = Asked::promised(tasks);
        if after.iter().any(|(at, sum)| *sum > most(at.0) && *sum > before.get(at).copied().unwrap_or(0)) {
            for (slow, (task, budget, there)) in tasks.iter_mut().zip(kept) {
                (slow.task, slow.budget, slow.there) = (task, budget, there);
            }
            return false;
        }
        for (core, table) in self.effects[n].tables.iter().filter(|_| !outdated) {
            tables[core.index()] = table.clone();
        }
        let slow = &mut tasks[own];
        let (offset, period) = (slow.task.offset.as_nanos(), slow.task.period.as_nanos());
        let on_the_grid = (0..).map(|n| offset + n * period).find(|at| *at >= now);
        slow.next = match self.changes[n].action {
            Action::Remove => None,
            Action::Add if slow.task.level == Level::A => on_the_grid,
            Action::Add => Some(now + offset),
            Action::Alter(_) if slow.task.level == Level::A && slow.next.is_some() => on_the_grid,
            Action::Alter(_) => slow.next,
        };
        true
    }
}

/// Holds each moment, and when changes were made, against what has to be.
pub fn slowly(asked: &Asked, demand: &dyn Fn(TaskId, u32) -> Duration, ours: &[Moment], d: &[Vec<(u16, u32)>]) {
    let Asked { setup, mc2, .. } = asked;
    let mut tasks = asked.begin();
    let mut tables = mc2.tables.clone();
    let mut waiting: Vec<usize> = Vec::new();
    let mut any_refused = false;
    for now in 0..END {
        for (n, change) in asked.changes.iter().enumerate().filter(|(_, change)| change.at.as_nanos() == now) {
            waiting.push(n);
            if change.admitted && change.action == Action::Remove {
                tasks[asked.of(n)].next = None;
            }
        }
        while let Some(n) = waiting.first().copied() {
            if !asked.changes[n].admitted {
                waiting.remove(0);
                continue;
            }
            let quiet = asked.quiet(&tasks, n);
            let settled = asked.settled.iter().find(|settled| (settled.0, settled.1) == (n as u32, now));
            let outdated = any_refused && asked.changes[n].depends;
            if outdated && asked.changes[n].action != Action::Remove {
                // It waits for nothing but a core that looks.
                let Some((.., taken)) = settled else { break };
                assert!(!taken, "change {n} was computed with one that was refused");
                waiting.remove(0);
                continue;
            }
            let Some((.., taken)) = settled else {
                // What is released in this very instant on one core may have been so before another one ended its work.
                let released = tasks.iter().any(|slow| slow.next == Some(now));
                assert!(!quiet || released, "change {n} waits at {now} for nothing");
                break;
            };
            assert!(quiet, "change {n} does not wait at {now}");
            assert_eq!(asked.make(&mut tasks, &mut tables, (n, outdated), now), *taken, "change {n} at {now}");
            any_refused |= !taken;
            waiting.remove(0);
            // What is added releases nothing if its removal is requested already.
            let removes = |it: &&usize| asked.changes[**it].admitted && asked.changes[**it].action == Action::Remove;
            if waiting.iter().filter(removes).any(|it| asked.of(*it) == asked.of(n)) {
                tasks[asked.of(n)].next = None;
            }
        }
        for slow in tasks.iter_mut().filter(|slow| slow.next == Some(now)) {
            slow.next = Some(now + slow.task.period.as_nanos());
            slow.budgets.push((now + slow.task.deadline.as_nanos(), slow.budget));
        }
        let bids: BTreeMap<usize, Bid> =
            (0..tasks.len()).filter_map(|n| tasks[n].bid(n, mc2).map(|bid| (n, bid))).collect();
        let mut selected: Vec<Bid> = Vec::new();
        let mut moment = Moment::default();
        let mut open = 0;
        for (core, table) in tables.iter().enumerate() {
            let a = slot_owner(table, now).and_then(|owner| bids.get(&owner));
            let b = || {
                let mine = |bid: &&Bid| {
                    let task = &setup.tasks[bid.task];
                    task.level == Level::B && task.core == Some(CoreId(core as u8))
                };
                bids.values().filter(mine).min_by_key(|bid| (bid.deadline, bid.task))
            };
            selected.extend(a);
            let mut top = a.filter(|bid| !bid.ghost);
            if top.is_none() {
                let b = b();
                selected.extend(b);
                moment.ghosts.extend(b.filter(|bid| bid.ghost).map(|bid| (Some(core), bid.task as u16)));
                top = b.filter(|bid| !bid.ghost);
            }
            match top {
                Some(bid) => moment.run.insert((Some(core), bid.task as u16, tasks[bid.task].job as u32)),
                None => {
                    open += 1;
                    false
                }
            };
        }
        let mut c: Vec<Bid> = bids.values().filter(|bid| setup.tasks[bid.task].level == Level::C).copied().collect();
        c.sort_by_key(|bid| (bid.deadline, bid.task));
        c.truncate(open);
        for bid in c.iter().filter(|bid| !bid.ghost) {
            moment.run.insert((None, bid.task as u16, tasks[bid.task].job as u32));
            open -= 1;
        }
        moment.ghosts.extend(c.iter().filter(|bid| bid.ghost).map(|bid| (None, bid.task as u16)));
        selected.extend(c);
        let waiting = bids.values().filter(|bid| setup.tasks[bid.task].level == Level::D).count();
        moment.level_d = open.min(waiting);
        assert_eq!(ours[now as usize], moment, "at {now}");

        // Which of D run is the policy's choice; the slow machine follows it, having checked that it may.
        for (task, job) in &d[now as usize] {
            assert!(bids.contains_key(&usize::from(*task)) && tasks[usize::from(*task)].job as u32 == *job);
            selected.push(bids[&usize::from(*task)]);
        }
        for bid in selected {
            let slow = &mut tasks[bid.task];
            let left = &mut slow.budgets[bid.period].1;
            *left = left.saturating_sub(1);
            if !bid.ghost {
                slow.had += 1;
                if slow.had == demand(TaskId(bid.task as u16), slow.job as u32).as_nanos() {
                    slow.job += 1;
                    slow.had = 0;
                }
            }
        }
    }
}

/// What the policy has done in each nanosecond, and which jobs of level D ran.
pub fn moments(setup: &PolicyConfig, entries: &[Entry]) -> (Vec<Moment>, Vec<Vec<(u16, u32)>>) {
    let line = timeline(entries);
    let mut records = entries.iter().flat_map(|entry| &entry.records).peekable();
    let mut ghosts = BTreeSet::new();
    (0..END)
        .map(|now| {
            while let Some(record) = records.next_if(|record| record.time.as_nanos() <= now) {
                let Some(task) = record.task.filter(|_| record.level == 1 || record.level == 2) else { continue };
                let ghost = ((record.level == 1).then_some(record.core.index()), task.0);
                match record.kind {
                    EventKind::GhostBegin => assert!(ghosts.insert(ghost), "a ghost in two places"),
                    EventKind::GhostEnd => assert!(ghosts.remove(&ghost)),
                    _ => {}
                }
            }
            let at = line.iter().rev().find(|(from, _)| from.as_nanos() <= now).expect("the run starts at zero");
            let mut moment = Moment { ghosts: ghosts.clone(), ..Moment::default() };
            let mut d = Vec::new();
            for (core, job) in at.1.iter().enumerate() {
                let Some((task, job)) = job else { continue };
                match setup.tasks[task.index()].level {
                    Level::A | Level::B => drop(moment.run.insert((Some(core), task.0, *job))),
                    Level::C => drop(moment.run.insert((None, task.0, *job))),
                    Level::D => d.push((task.0, *job)),
                }
            }
            moment.level_d = d.len();
            (moment, d)
        })
        .unzip()
}

/// What jobs take: at most so much.
pub fn demand_of(most: &[u64]) -> impl Fn(TaskId, u32) -> Duration + '_ {
    |task, job| Duration::from_nanos(1 + (u64::from(job) * 5 + u64::from(task.0) * 3) % most[task.index()])
}

prop_compose! {
    /// A task of any level, and what its jobs take at most.
    pub fn a_task(cores: u8)(
        level in 0u8..4, core in 0..cores, offset in 0u64..10, period in 3u64..25, slack in 0u64..4,
        budget in 1u64..6, most in 1u64..9,
    ) -> (Task, u64) {
        let level = Level::from_index(level).expect("below four");
        let budget = if level == Level::D { 0 } else { budget };
        (Task {
            level,
            core: (level <= Level::B).then_some(CoreId(core)),
            offset: Duration::from_nanos(offset),
            period: Duration::from_nanos(period),
            deadline: Duration::from_nanos(period.saturating_sub(slack).max(1)),
            budget: Duration::from_nanos(budget),
        }, most)
    }
}

/// Gives each level-A task one to three slots on its core, with gaps.
pub fn tables(cores: usize, tasks: &[Task], shape: &[u64]) -> Vec<Table> {
    (0..cores)
        .map(|core| {
            let mine: Vec<u16> = (0..tasks.len() as u16)
                .filter(|n| tasks[*n as usize].level == Level::A && tasks[*n as usize].core == Some(CoreId(core as u8)))
                .collect();
            let mut shape = shape.iter().cycle().skip(core * 3).copied();
            let mut next = |most: u64| shape.next().expect("it never ends") % most;
            let mut at = 0;
            let mut slots = Vec::new();
            for round in 0..2 {
                for task in &mine {
                    if round > 0 && next(3) == 0 {
                        continue;
                    }
                    let start = at + next(4);
                    at = start + 1 + next(4);
                    let (start, end) = (Duration::from_nanos(start), Duration::from_nanos(at));
                    slots.push(Slot { task: TaskId(*task), start, end });
                }
            }
            let cycle = if slots.is_empty() { 0 } else { at + next(5) };
            Table { cycle: Duration::from_nanos(cycle), slots }
        })
        .collect()
}

/// Systems of up to four cores.
pub fn systems() -> impl Strategy<Value = (PolicyConfig, Vec<u64>)> {
    (1u8..=4, 1usize..=12)
        .prop_flat_map(|(cores, tasks)| {
            let tasks = prop::collection::vec(a_task(cores), tasks);
            (Just(cores), tasks, any::<bool>(), any::<bool>(), 0u64..3, prop::collection::vec(0u64..60, 7..20))
        })
        .prop_map(|(cores, tasks, enforce, slack_shifting, allowance, shape)| {
            let (tasks, most): (Vec<Task>, Vec<u64>) = tasks.into_iter().unzip();
            let cores = usize::from(cores);
            let tables = tables(cores, &tasks, &shape);
            let allowance = Duration::from_nanos(allowance);
            let kind = PolicySpec::Mc2(Mc2 { enforce, slack_shifting, allowance, tables });
            (PolicyConfig { cores, kind, tasks }, most)
        })
}

/// A nanosecond of drawn systems lasts a microsecond where timers are merged, so that no time is moved.
pub const SCALE: u64 = 1_000;

/// The same system on the slower scale.
pub fn slower(setup: &PolicyConfig) -> PolicyConfig {
    let PolicySpec::Mc2(mc2) = &setup.kind else { panic!("{:?}", setup.kind) };
    let mut mc2 = mc2.clone();
    mc2.allowance = mc2.allowance * SCALE;
    for table in &mut mc2.tables {
        table.cycle = table.cycle * SCALE;
        for slot in &mut table.slots {
            (slot.start, slot.end) = (slot.start * SCALE, slot.end * SCALE);
        }
    }
    let scaled = |task: &Task| Task {
        offset: task.offset * SCALE,
        period: task.period * SCALE,
        deadline: task.deadline * SCALE,
        budget: task.budget * SCALE,
        ..*task
    };
    PolicyConfig { cores: setup.cores, kind: PolicySpec::Mc2(mc2), tasks: setup.tasks.iter().map(scaled).collect() }
}
