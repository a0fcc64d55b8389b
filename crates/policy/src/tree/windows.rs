//! Partitions: servers whose time is the windows of a static table. A window begins and ends by the table, whatever runs;
//! what a partition leaves of its window stays idle, but for partitions that may go on in the background.
//!
//! From the end of a window straight to the next one's, where nothing else is due, a look at the table says whose time it is; all else takes
//! the way of every server.

use super::domain::{Domain, BACKGROUND};
use super::parameters::{Partitions, Server, Tree};
use super::timetable::{Schedules, Sequence, Table};
use crate::heap::Key;
use crate::records::{OnCore, Recorder};
use crate::{Decision, PolicyConfig, PolicyConfigError, Running};
use alloc::boxed::Box;
use alloc::vec::Vec;
use tactus_record::{EventKind, Sink};
use tactus_task::{Overrun, ServerKind, TaskOrder, Window};
use tactus_time::{CoreId, CoreSet, Instant, TaskId};

/// Gives the partitions of the domain their tables.
pub(super) fn attach(domain: &mut Domain, partitions: &Partitions) {
    for n in 0..domain.vps.len() {
        let vp = &domain.vps[n];
        let core = domain.core_states[vp.core].id;
        let windows = partitions.windows.get(usize::from(vp.server)).map_or(&[][..], Vec::as_slice);
        if windows.is_empty() {
            continue;
        }
        if let Some(budget) = &mut domain.vps[n].budget {
            budget.follow(Table::new(partitions.frame, windows, core, &partitions.switches));
        }
        domain.show(n, Instant::ZERO);
    }
    domain.sequence = sequence(domain, partitions);
    domain.schedules = Schedules::new(partitions.frame, &partitions.switches).map(Box::new);
}

/// The windows on the core of a domain of one core, in their order, if what jobs are ordered by does not change while they run, and no
/// partition has time outside of its windows.
fn sequence(domain: &Domain, partitions: &Partitions) -> Option<Sequence> {
    let [core_state] = &domain.core_states[..] else { return None };
    let moves = |order: TaskOrder| order.takes_turns() || order == TaskOrder::LeastLaxity;
    let fixed = !domain.tasks.iter().any(|task| task.proxy || moves(task.order));
    let inside = !domain.vps.iter().any(|vp| vp.background || vp.is_unused());
    let windows = |server: u16| partitions.windows.get(usize::from(server)).map_or(&[][..], Vec::as_slice);
    let all: Vec<_> = domain.vps.iter().enumerate().map(|(n, vp)| (n, windows(vp.server))).collect();
    Sequence::new(partitions.frame, core_state.id, &all, &partitions.switches).filter(|_| fixed && inside)
}

impl Domain {
    /// Decides, if a job runs whose window has ended, or none, the next partition's has begun, and nothing else is due. What it decides and records
    /// is what [`Domain::handle`] would; else nothing has changed.
    pub(super) fn next_window<S: Sink>(&mut self, now: Instant, sink: &mut S) -> Option<Decision> {
        let sequence = self.sequence.as_mut()?;
        if self.due.peek().is_some_and(|due| due.time() <= now) {
            return None;
        }
        let passage = match &self.schedules {
            None => sequence.pass(now.as_nanos())?,
            Some(schedules) => sequence.pass_in(schedules, now.as_nanos())?,
        };
        let core_state = &mut self.core_states[0];
        let (root, since, tasks) = (core_state.root, core_state.since, self.tasks.len());
        let entered = &self.vps[passage.entered];
        let urgency = match (entered.order, &entered.budget) {
            (TaskOrder::EarliestDeadline, Some(budget)) => budget.deadline().as_nanos(),
            _ => entered.rank,
        };
        let key = Key::new(urgency.min(BACKGROUND - 1), tasks + passage.entered);
        let after = self.queues.peek(entered.below).filter(|first| entered.awake && first.place() < tasks)?.place();
        let mut records = Recorder { sink, core: core_state.id, now };
        match core_state.doing {
            OnCore::Job { place, job } => {
                let task = &mut self.tasks[place];
                // It was entered last in the window that has ended: no other bound has passed since.
                if core_state.charged.only_server() != Some(passage.left)
                    || passage.left == passage.entered
                    || !(passage.began..passage.ended).contains(&since.as_nanos())
                    || !self.queues.is_only(tasks + passage.left)
                    || !matches!(task.overrun, Overrun::Continue | Overrun::Skip)
                {
                    return None;
                }
                task.charge(now.since(since));
                records.server(EventKind::ServerExhausted, self.vps[passage.left].server, passage.again);
                records.server(EventKind::ServerReplenish, entered.server, passage.until - now.as_nanos());
                records.job(EventKind::Preempt, task.name, job, 0);
                self.queues.replace_only(tasks + passage.left, key);
                sequence.keep(&passage);
            }
            OnCore::Idle => {
                // Whoever has waited for an earlier bound comes before it.
                let first = core_state.replenish.peek().filter(|first| first.time() <= now)?;
                if first.place() != passage.entered || self.queues.len(self.vps[root].below) > 0 {
                    return None;
                }
                records.server(EventKind::ServerReplenish, entered.server, passage.until - now.as_nanos());
                self.queues.insert(key);
                core_state.replenish.insert(Key::new(passage.until, passage.entered));
                core_state.enter_server(passage.entered);
                self.vps[root].awake = true;
            }
            OnCore::Nothing => return None,
        }
        let task = &self.tasks[after];
        records.job(EventKind::Dispatch, task.name, task.job, 0);
        self.entry = self.entry.wrapping_add(1);
        self.lost = false;
        self.vps[root].since = now;
        // No other partition has a bound before the end of this window.
        let mut timer = Instant::from_nanos(passage.until).min(task.may_run_until(now));
        if let Some(due) = self.due.peek() {
            timer = timer.min(due.time());
        }
        core_state.since = now;
        core_state.go_to(after, task.job, passage.entered, timer);
        let run = Running { task: task.name.0, job: task.job, charged: task.charged, arrived: task.arrived() };
        Some(Decision { run: Some(run), timer, notify: CoreSet::EMPTY, ticket: 0 })
    }
}

/// Finds the first thing that is wrong with partitions, or with windows where there are none.
pub(super) fn check(setup: &PolicyConfig, tree: &Tree) -> Result<(), PolicyConfigError> {
    let partitions = match &setup.kind {
        crate::PolicySpec::Partitions(partitions) => Some(partitions),
        _ => None,
    };
    for (n, server) in tree.servers.iter().enumerate().skip(1) {
        let fits = match partitions {
            Some(all) if server.parent == 0 => fits(all, n, server),
            Some(all) => !is_partition(server) && all.windows.get(n).is_none_or(Vec::is_empty),
            None => !is_partition(server),
        };
        if !fits {
            return Err(PolicyConfigError::ServerWindows(n as u16));
        }
    }
    let in_root = tree.places.iter().position(|place| place.server == 0).filter(|_| partitions.is_some());
    in_root.map_or(Ok(()), |task| Err(PolicyConfigError::TaskServer(TaskId(task as u16))))
}

fn is_partition(server: &Server) -> bool {
    server.supply.is_some_and(|supply| supply.kind == ServerKind::Windows)
}

/// Whether the partition has windows on each of its cores and no others, within the frame, and apart from all others.
fn fits(all: &Partitions, n: usize, server: &Server) -> bool {
    let Some(windows) = all.windows.get(n) else { return false };
    let apart = |window: &Window| {
        let place = |it: &Window| (it.core, it.schedule);
        let others = all.windows.iter().flatten().filter(|other| place(other) == place(window) && *other != window);
        let overlaps = |other: &Window| other.start < window.end() && window.start < other.end();
        !others.into_iter().any(overlaps) && all.windows.iter().flatten().filter(|other| *other == window).count() == 1
    };
    let sound = |window: &Window| {
        server.cores.contains(window.core) && !window.length.is_zero() && window.end() <= all.frame && apart(window)
    };
    let served = |core: CoreId| windows.iter().any(|window| window.core == core);
    let ordered = all.switches.windows(2).all(|pair| pair[0].frame < pair[1].frame);
    is_partition(server)
        && ordered
        && server.supply.is_some_and(|supply| supply.period == all.frame)
        && windows.iter().all(sound)
        && server.cores.iter().all(served)
}
