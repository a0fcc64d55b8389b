//! MC² beside a slow machine that works out each nanosecond anew: budgets are a list per task, one for each period
//! boundary so far, and a job may use the first one from its own period on that has something left.

mod common;

use common::{invariants, run, timeline, Entry};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use tactus_policy::{FineMc2, Kind, Mc2, Setup, Slot, Table, Task};
use tactus_record::Kind as Record;
use tactus_time::{CoreId, Duration, Instant, Level, TaskId};

const END: u64 = 150;

/// One task as the slow machine sees it.
struct Slow {
    task: Task,
    /// What is left of the budget of each period so far.
    budgets: Vec<u64>,
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
        let bid = |period: usize, ghost| {
            let boundary = self.task.offset.as_nanos() + period as u64 * self.task.period.as_nanos();
            Bid { task: number, period, deadline: boundary + self.task.deadline.as_nanos(), ghost }
        };
        if self.job < released {
            if !mc2.enforce || self.task.level == Level::D {
                return Some(bid(self.job, false));
            }
            return (self.job..released).find(|period| self.budgets[*period] > 0).map(|period| bid(period, false));
        }
        let last = released.checked_sub(1)?;
        (mc2.slack_shifting && self.task.level != Level::D && self.budgets[last] > 0).then(|| bid(last, true))
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
struct Moment {
    /// What runs at levels A to C: core (for A and B), task, job.
    run: BTreeSet<(Option<usize>, u16, u32)>,
    /// Whose ghosts are selected at levels B and C: core (for B), task. At A a ghost may be noted for longer than its
    /// budget lasts, up to the end of the slot.
    ghosts: BTreeSet<(Option<usize>, u16)>,
    /// How many cores run level D.
    level_d: usize,
}

fn slowly(setup: &Setup, mc2: &Mc2, demand: &dyn Fn(TaskId, u32) -> Duration, ours: &[Moment], d: &[Vec<(u16, u32)>]) {
    let mut tasks: Vec<Slow> =
        setup.tasks.iter().map(|task| Slow { task: *task, budgets: vec![], job: 0, had: 0 }).collect();
    for now in 0..END {
        for slow in &mut tasks {
            let (offset, period) = (slow.task.offset.as_nanos(), slow.task.period.as_nanos());
            if now >= offset && (now - offset) % period == 0 {
                let allowance = if mc2.enforce { mc2.allowance.as_nanos() } else { 0 };
                slow.budgets.push(slow.task.budget.as_nanos() + allowance);
            }
        }
        let bids: BTreeMap<usize, Bid> =
            (0..tasks.len()).filter_map(|n| tasks[n].bid(n, mc2).map(|bid| (n, bid))).collect();
        let mut selected: Vec<Bid> = Vec::new();
        let mut moment = Moment::default();
        let mut open = 0;
        for core in 0..setup.cores {
            let a = slot_owner(&mc2.tables[core], now).and_then(|owner| bids.get(&owner));
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
            slow.budgets[bid.period] = slow.budgets[bid.period].saturating_sub(1);
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

fn moments(setup: &Setup, entries: &[Entry]) -> (Vec<Moment>, Vec<Vec<(u16, u32)>>) {
    let line = timeline(entries);
    let mut records = entries.iter().flat_map(|entry| &entry.records).peekable();
    let mut ghosts = BTreeSet::new();
    (0..END)
        .map(|now| {
            while let Some(record) = records.next_if(|record| record.time.as_nanos() <= now) {
                let Some(task) = record.task.filter(|_| record.level == 1 || record.level == 2) else { continue };
                let ghost = ((record.level == 1).then_some(record.core.index()), task.0);
                match record.kind {
                    Record::GhostBegin => assert!(ghosts.insert(ghost), "a ghost in two places"),
                    Record::GhostEnd => assert!(ghosts.remove(&ghost)),
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

fn demand_of(most: &[u64]) -> impl Fn(TaskId, u32) -> Duration + '_ {
    |task, job| Duration::from_nanos(1 + (u64::from(job) * 5 + u64::from(task.0) * 3) % most[task.index()])
}

/// A budget that its task has no pending job for may not be spent; none is spent twice. From the records alone.
fn budgets_are_never_exceeded(setup: &Setup, entries: &[Entry]) {
    let mut since: Vec<(Instant, Option<TaskId>)> = vec![(Instant::ZERO, None); setup.cores];
    let mut left: BTreeMap<TaskId, u64> = BTreeMap::new();
    for entry in entries {
        let (from, task) = since[entry.core];
        if let Some(task) = task.filter(|task| setup.tasks[task.index()].level != Level::D) {
            let spent = entry.now.since(from).as_nanos();
            let left = left.get_mut(&task).expect("it runs on a budget");
            assert!(*left >= spent, "task {} at {}: {spent} spent of {left}", task.0, entry.now);
            *left -= spent;
        }
        for record in entry.records.iter().filter(|record| record.kind == Record::Replenish) {
            left.insert(record.task.expect("a task's budget"), record.arg);
        }
        since[entry.core] = (entry.now, entry.decision.run.map(|job| job.task));
    }
}

prop_compose! {
    fn a_task(cores: u8)(
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
fn tables(cores: usize, tasks: &[Task], shape: &[u64]) -> Vec<Table> {
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

fn systems() -> impl Strategy<Value = (Setup, Vec<u64>)> {
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
            let kind = Kind::Mc2(Mc2 { enforce, slack_shifting, allowance, tables });
            (Setup { cores, kind, tasks }, most)
        })
}

/// A nanosecond of the slow machine lasts a microsecond where timers are merged, so that no time is moved.
const SCALE: u64 = 1_000;

/// The same system with the machinery of the source, on a slower scale.
fn with_machinery(setup: &Setup, [interrupt_master, timer_merging, work_redistribution]: [bool; 3]) -> Setup {
    let Kind::Mc2(mc2) = &setup.kind else { unreachable!() };
    let mut mc2 = mc2.clone();
    mc2.allowance = mc2.allowance * SCALE;
    for table in &mut mc2.tables {
        table.cycle = table.cycle * SCALE;
        for slot in &mut table.slots {
            (slot.start, slot.end) = (slot.start * SCALE, slot.end * SCALE);
        }
    }
    let (timer_merging, work_redistribution) =
        (timer_merging && interrupt_master, work_redistribution && interrupt_master);
    let scaled = |task: &Task| Task {
        offset: task.offset * SCALE,
        period: task.period * SCALE,
        deadline: task.deadline * SCALE,
        budget: task.budget * SCALE,
        ..*task
    };
    let kind = Kind::FineMc2(FineMc2 { mc2, interrupt_master, timer_merging, work_redistribution });
    Setup { cores: setup.cores, kind, tasks: setup.tasks.iter().map(scaled).collect() }
}

/// Back to the slow machine's scale.
fn rescaled(mut entries: Vec<Entry>) -> Vec<Entry> {
    let back = |time: &mut Instant| {
        assert_eq!(time.as_nanos() % SCALE, 0, "something happened between two instants");
        *time = Instant::from_nanos(time.as_nanos() / SCALE);
    };
    for entry in &mut entries {
        back(&mut entry.now);
        entry.records.iter_mut().for_each(|record| back(&mut record.time));
    }
    entries
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn mc2_runs_what_a_machine_runs_that_thinks_anew_each_nanosecond((setup, most) in systems()) {
        let demand = demand_of(&most);
        let entries = run(&setup, &demand, Instant::from_nanos(END));
        invariants::check(&setup, &entries);
        let Kind::Mc2(mc2) = &setup.kind else { unreachable!() };
        if mc2.enforce {
            budgets_are_never_exceeded(&setup, &entries);
        }
        let (ours, d) = moments(&setup, &entries);
        slowly(&setup, mc2, &demand, &ours, &d);
    }

    #[test]
    fn with_a_lock_for_each_container_and_core_it_runs_the_same((setup, most) in systems(), switches in any::<[bool; 3]>()) {
        let demand = demand_of(&most);
        let longer = |task, job| demand(task, job) * SCALE;
        let entries = rescaled(run(&with_machinery(&setup, switches), &longer, Instant::from_nanos(END * SCALE)));
        let Kind::Mc2(mc2) = &setup.kind else { unreachable!() };
        let (ours, d) = moments(&setup, &entries);
        slowly(&setup, mc2, &demand, &ours, &d);
    }

    #[test]
    fn without_locks_it_runs_the_same((mut setup, most) in systems()) {
        let Kind::Mc2(mc2) = setup.kind.clone() else { unreachable!() };
        setup.kind = Kind::Mc2Messages(mc2.clone());
        let demand = demand_of(&most);
        let (ours, d) = moments(&setup, &run(&setup, &demand, Instant::from_nanos(END)));
        slowly(&setup, &mc2, &demand, &ours, &d);
    }

    #[test]
    fn level_a_is_deaf_to_everything_below((setup, most) in systems()) {
        // Level-A tasks keep their numbers; all others are made so late that they never come.
        let mut alone = setup.clone();
        for task in alone.tasks.iter_mut().filter(|task| task.level != Level::A) {
            task.offset = Duration::from_nanos(END * 2);
        }
        let demand = demand_of(&most);
        let level_a = |setup: &Setup| {
            let entries = run(setup, &demand, Instant::from_nanos(END));
            let mut kept: Vec<_> = entries
                .into_iter()
                .flat_map(|entry| entry.records)
                .filter(|record| record.level == 0 && record.task.is_some())
                .filter(|record| !matches!(record.kind, Record::GhostBegin | Record::GhostEnd))
                .map(|record| (record.core, record.time, record.kind, record.task, record.job, record.arg))
                .collect();
            // Core by core; the order within a core stays.
            kept.sort_by_key(|record| record.0);
            kept
        };
        prop_assert_eq!(level_a(&setup), level_a(&alone));
    }

    #[test]
    fn a_core_that_runs_a_or_b_all_the_time_never_takes_the_lock((setup, most) in systems()) {
        let entries = run(&setup, &demand_of(&most), Instant::from_nanos(END));
        let local = |running: &Option<(TaskId, u32)>| running.is_some_and(|(task, _)| setup.tasks[task.index()].level <= Level::B);
        let mut before = vec![false; setup.cores];
        for entry in &entries {
            let after = local(&entry.running[entry.core]);
            let releases = entry.records.iter().any(|record| record.kind == Record::Release && record.level >= 2);
            if before[entry.core] && after && entry.core != 0 {
                prop_assert_eq!(entry.decision.ticket, 0);
                prop_assert!(!releases && entry.decision.notify.is_empty());
            }
            before[entry.core] = after;
        }
    }
}
