//! The events of a free run, and pairs of them that a machine might meet in another order.

use std::collections::HashMap;
use tactus_policy::{PolicyConfig, Supply};
use tactus_record::{EntryReason, EventKind, Record};
use tactus_task::JobSteps;
use tactus_task::Replenished;
use tactus_time::{CoreId, Duration, Instant, TaskId};
use tactus_trace::Trace;

/// All events of a run.
pub struct Points {
    /// What happened, by time.
    events: Vec<Point>,
    /// What happened, and what on the same core would have happened next if it had not.
    rivals: Vec<(Point, Instant)>,
    /// Where a turn of a job ends in the instant of a release.
    turn_ends: Vec<Point>,
    /// Where jobs lose their cores, and how close to a beginning or end of a critical section.
    preempted: Vec<Preempted>,
}

/// A job that lost its core.
struct Preempted {
    task: TaskId,
    time: Instant,
    /// What the job has executed since it entered or left a critical section, or would have until it did so; the shortest.
    apart: Duration,
}

#[derive(Clone, Copy)]
struct Point {
    time: Instant,
    core: CoreId,
    /// Whether the clock alone made it (a release): two of these at one instant on one core are never met apart.
    clock: bool,
}

fn follows_work(supply: Supply) -> bool {
    !matches!(supply.kind.replenished(), Replenished::AtBoundaries | Replenished::ByTable)
}

/// What a job was charged between two calls of the policy.
struct Turn {
    job: (TaskId, u32),
    start: Instant,
    end: Point,
    completed: bool,
}

impl Points {
    /// Reads them from the trace of a free run.
    pub fn of(
        setup: &PolicyConfig,
        trace: &Trace,
        (mut demand, steps): (impl FnMut(TaskId, u32) -> Option<Duration>, &JobSteps),
    ) -> Points {
        // Budgets of these servers come back at times that follow from when work ran, not from the clock alone.
        let follows: Vec<bool> = setup.kind.tree().map_or_else(Vec::new, |tree| {
            tree.servers.iter().map(|server| server.supply.is_some_and(follows_work)).collect()
        });
        let mut points =
            Points { events: Vec::new(), rivals: Vec::new(), turn_ends: Vec::new(), preempted: Vec::new() };
        let mut turns = Vec::new();
        for records in &trace.cores {
            points.add_core(records, &follows, &mut turns);
            points.add_guards(setup, records);
        }
        // The length of a task's turns, where turns are taken.
        let turn_of = |task: TaskId| {
            let tree = setup.kind.tree()?;
            let server = &tree.servers[usize::from(tree.places.get(task.index())?.server)];
            server.order.takes_turns().then_some(server.quantum)
        };
        // A job may have run on several cores; what it has been charged is the sum of all.
        turns.sort_by_key(|t| t.end.time);
        let mut charged: HashMap<(TaskId, u32), Duration> = HashMap::new();
        for turn in turns {
            let spent = charged.entry(turn.job).or_default();
            let before = *spent;
            *spent += turn.end.time.since(turn.start);
            points.add_steps(&turn, (before, *spent), steps);
            // The turn of the job ends in the instant of a release, which a machine meets first.
            let quantum = turn_of(turn.job.0);
            let whole = quantum.is_some_and(|quantum| (*spent % quantum).is_zero());
            // Had it gone on, its turn would have ended.
            if let Some(quantum) = quantum.filter(|_| !turn.completed) {
                points.rivals.push((turn.end, turn.end.time.saturating_add(quantum - *spent % quantum)));
            }
            if whole && turn.end.clock {
                points.events.push(Point { clock: false, ..turn.end });
                points.turn_ends.push(turn.end);
            }
            let left = demand(turn.job.0, turn.job.1).map(|d| d.saturating_sub(*spent));
            if let Some(left) = left.filter(|_| !turn.completed) {
                points.rivals.push((turn.end, turn.end.time.saturating_add(left)));
            }
        }
        points.events.sort_by_key(|p| p.time);
        points
    }

    /// The beginnings and ends of critical sections in a job's turn, its waits, and those that would have come next.
    fn add_steps(&mut self, turn: &Turn, (before, after): (Duration, Duration), steps: &JobSteps) {
        let task = turn.job.0.index();
        let sections = steps.sections.get(task).into_iter().flatten().flat_map(|it| [it.from, it.until]);
        // The section that the job is about to enter or leave as it loses its core, or has just entered or left.
        let apart = |at: Duration| at.max(after) - at.min(after);
        let closest = sections.clone().filter(|at| *at >= before && !turn.completed).min_by_key(|at| apart(*at));
        self.preempted.extend(closest.map(|at| Preempted { task: turn.job.0, time: turn.end.time, apart: apart(at) }));
        let waits = steps.waits.get(task).into_iter().flatten().map(|it| it.after);
        for at in sections.chain(waits) {
            if at > after {
                self.rivals.push((turn.end, turn.end.time.saturating_add(at.saturating_sub(after))));
            } else if at >= before {
                let time = turn.start.saturating_add(at.saturating_sub(before));
                self.events.push(Point { time, clock: false, ..turn.end });
            }
        }
    }

    fn add_core(&mut self, records: &[Record], follows: &[bool], turns: &mut Vec<Turn>) {
        let mut timer = Instant::NEVER;
        let mut left = None;
        let mut entered = Instant::ZERO;
        for (place, record) in records.iter().enumerate() {
            match record.kind {
                EventKind::Enter => {
                    entered = record.time;
                    let reason = EntryReason::from_u8(record.level);
                    let timed = reason == Some(EntryReason::Timer);
                    let inside = || records[place + 1..].iter().take_while(|r| r.kind.is_policy());
                    let released = inside().any(|r| r.kind == EventKind::Release);
                    // Budgets that come: by the clock, or after work that ran.
                    let budget = |after_work: bool| {
                        let follows = |r: &Record| follows.get(r.job as usize).is_some_and(|it| *it);
                        inside().any(|r| r.kind == EventKind::ServerReplenish && follows(r) == after_work)
                    };
                    // What falls due in the instant in which a change is asked for or takes effect is left over to a machine, which
                    // comes later, and the change waits.
                    let change =
                        inside().any(|r| matches!(r.kind, EventKind::ChangeRequested | EventKind::ChangeApplied));
                    let two = (released || budget(false)) && (budget(true) || change);
                    let clock = reason == Some(EntryReason::Start) || timed && released;
                    let point = Point { time: record.time, core: record.core, clock };
                    // An event of another core has its cause there, and that is a point already.
                    if reason != Some(EntryReason::Notify) {
                        self.events.push(point);
                        // A machine may meet these two of one instant in either order.
                        self.events.extend(two.then_some(Point { clock: false, ..point }));
                    }
                    if !timed && timer != Instant::NEVER {
                        self.rivals.push((point, timer));
                    }
                    if let Some((job, start)) = left.take() {
                        let completed = reason == Some(EntryReason::Complete);
                        turns.push(Turn { job, start, end: point, completed });
                    }
                }
                EventKind::Leave => {
                    timer = Instant::from_nanos(record.arg);
                    left = record.task.map(|t| ((t, record.job), entered));
                }
                // A ghost that would have ended by itself soon after.
                EventKind::GhostEnd => {
                    let point = Point { time: record.time, core: record.core, clock: false };
                    let budget = Duration::from_nanos(record.arg);
                    self.rivals.extend((record.arg > 0).then_some((point, record.time.saturating_add(budget))));
                }
                // A release that was noticed later than it was due.
                EventKind::Release if record.arg != record.time.as_nanos() => {
                    self.events.push(Point { time: Instant::from_nanos(record.arg), core: record.core, clock: true });
                }
                _ => {}
            }
        }
    }

    /// Of tasks that arrivals release: an arrival, and the end of the period before which it would have had to wait. Which of
    /// the two comes first tells whether the job is released at once, or at all.
    fn add_guards(&mut self, setup: &PolicyConfig, records: &[Record]) {
        let Some(tree) = setup.kind.tree() else { return };
        let mut last: HashMap<TaskId, Instant> = HashMap::new();
        for record in records
            .iter()
            .filter(|it| matches!(it.kind, EventKind::Release | EventKind::ArrivalLost | EventKind::ArrivalEarly))
        {
            let waits = |task: &TaskId| tree.releases.get(task.index()).is_some_and(|it| it.early().is_some());
            let Some(task) = record.task.filter(waits) else { continue };
            let released = record.kind == EventKind::Release;
            let time = if released { Instant::from_nanos(record.arg) } else { record.time };
            let period = setup.tasks.get(task.index()).map_or(Duration::ZERO, |it| it.period);
            let before = if released { last.insert(task, time) } else { last.get(&task).copied() };
            if let Some(before) = before {
                self.rivals.push((Point { time, core: record.core, clock: false }, before.saturating_add(period)));
            }
        }
    }

    /// The end of a turn that a release at the same instant hides, around `time`, on `core` if one is given.
    pub fn hidden_turn(&self, time: Instant, window: Duration, core: Option<CoreId>) -> Option<(Instant, Instant)> {
        let near = |p: &&Point| time.since(p.time) <= window && p.time.since(time) <= window;
        let found = self.turn_ends.iter().filter(near).find(|p| core.is_none_or(|c| c == p.core));
        found.map(|p| (p.time, p.time))
    }

    /// Where the task's job lost its core at `lost`, less than `window` from the beginning or end of a critical section: one of the runs
    /// may hold the resource then, and the other one not. That shows only when another job asks for it, which may be much later.
    pub fn hidden_section(&self, (task, lost): (TaskId, Instant), window: Duration) -> Option<(Instant, Instant)> {
        let here = |it: &&Preempted| it.task == task && it.time == lost && it.apart <= window;
        self.preempted.iter().find(here).map(|it| (it.time, it.time.saturating_add(it.apart)))
    }

    /// The closest pair of events around `time`, on `core` if one is given, that lie within `window` of each other.
    pub fn race(&self, time: Instant, window: Duration, core: Option<CoreId>) -> Option<(Instant, Instant)> {
        let near = |p: &Point| time.since(p.time) <= window && p.time.since(time) <= window;
        let here = |p: &Point| core.is_none_or(|c| c == p.core);
        let start = self.events.partition_point(|p| p.time.saturating_add(window) < time);
        let around: Vec<&Point> = self.events[start..].iter().take_while(|p| near(p)).filter(|p| here(p)).collect();
        let pairs = around.windows(2).filter_map(|pair| {
            let together =
                pair[0].time == pair[1].time && pair[0].core == pair[1].core && pair[0].clock && pair[1].clock;
            (!together).then_some((pair[0].time, pair[1].time))
        });
        let rivals = self.rivals.iter().filter(|(p, _)| near(p) && here(p));
        let rivals = rivals.map(|(p, other)| (p.time.min(*other), p.time.max(*other)));
        pairs.chain(rivals).filter(|(a, b)| b.since(*a) <= window).min_by_key(|(a, b)| b.since(*a))
    }
}
