//! Partitions: servers whose time is the windows of a static table. A window begins and ends by the table, whatever runs;
//! what a partition leaves of its window stays idle, but for partitions that may go on in the background.
//!
//! From the end of a window straight to the next one's, where nothing else is due, a look at the table says whose time it is; all else takes
//! the way of every server.

use super::domain::{Domain, VirtualProcessor, BACKGROUND};
use super::parameters::{Partitions, Server, Tree};
use super::timetable::{Occurrence, Partition, Schedules, Sequence, Table};
use crate::heap::Key;
use crate::records::{OnCore, Recorder};
use crate::{Decision, PolicyConfig, PolicyConfigError, Running};
use alloc::boxed::Box;
use alloc::vec::Vec;
use tactus_record::{EventKind, Sink};
use tactus_task::{ServerKind, TaskOrder, Window};
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
    domain.sequence = sequence(domain, partitions, 0);
    let of = |schedule| sequence(domain, partitions, schedule);
    let mut schedules = Schedules::new(partitions.frame, &partitions.switches, of);
    if let Some(schedules) = &mut schedules {
        // Twice the first: what is exchanged for it is as good.
        schedules.change(&mut domain.sequence);
    }
    domain.schedules = schedules.map(Box::new);
}

/// The windows of a schedule on the core of a domain of one core, in their order, if what jobs and partitions are ordered by does not change
/// while they run, and no partition has time outside of its windows.
fn sequence(domain: &Domain, partitions: &Partitions, schedule: u8) -> Option<Sequence> {
    let [core_state] = &domain.core_states[..] else { return None };
    let moves = |order: TaskOrder| order.takes_turns() || order == TaskOrder::LeastLaxity;
    let fixed = !domain.tasks.iter().any(|task| task.proxy || moves(task.order));
    let inside = !domain.vps.iter().any(|vp| vp.background || vp.is_unused());
    let windows = |server: u16| partitions.windows.get(usize::from(server)).map_or(&[][..], Vec::as_slice);
    let ranked = |vp: &VirtualProcessor| vp.order != TaskOrder::EarliestDeadline || windows(vp.server).is_empty();
    let all = domain.vps.iter().enumerate().map(|(n, vp)| {
        let key = Key::new(vp.rank.min(BACKGROUND - 1), domain.tasks.len() + n);
        let queue = vp.parent.map_or(0, |parent| domain.vps[parent].below);
        (Partition { vp: n, server: vp.server, below: vp.below, queue, key }, windows(vp.server))
    });
    let sequence = Sequence::new(partitions.frame, core_state.id, all, schedule);
    sequence.filter(|_| fixed && inside && domain.vps.iter().all(ranked))
}

impl Domain {
    /// Decides, if a job runs whose window has ended, or none, the next partition's has begun, and nothing else is due. What it decides and records
    /// is what [`Domain::handle`] would; else nothing has changed.
    #[inline(always)]
    pub(super) fn next_window<S: Sink>(&mut self, now: Instant, sink: &mut S) -> Option<Decision> {
        if self.sequence.as_ref()?.is_full() {
            self.tell_passages();
        }
        let sequence = self.sequence.as_mut()?;
        let due = self.due.peek().map_or(Instant::NEVER, Key::time);
        let passage = sequence.pass(now.as_nanos()).filter(|_| due > now)?;
        let [core_state] = &mut self.core_states[..] else { return None };
        let (slot, until, since) = (passage.slot, passage.until(), core_state.since);
        // What is first there may be a server.
        let tasks = self.tasks.len();
        let after = self.queues.peek(slot.partition.below).map(Key::place).filter(|after| *after < tasks)?;
        let mut records = Recorder { sink, core: core_state.id, now };
        if let OnCore::Job { place, job } = core_state.doing {
            let task = self.tasks.get_mut(place)?;
            // It was entered last in the window that has ended: no other bound has passed since.
            if core_state.charged.only_server() != Some(slot.left.vp)
                || slot.left.vp == slot.partition.vp
                || since.as_nanos() < passage.began()
                || since.as_nanos() >= passage.ended()
                || !task.is_unlimited()
                || !self.queues.replace_only(slot.partition.queue, slot.left.key.place(), slot.partition.key)
            {
                return None;
            }
            task.charge_unlimited(now.since(since));
            records.server(EventKind::ServerExhausted, slot.left.server, passage.again());
            records.server(EventKind::ServerReplenish, slot.partition.server, until - now.as_nanos());
            records.about(EventKind::Preempt, task.subject, job, 0);
            core_state.charged.go_to(slot.partition.vp);
            let occurrence = passage.occurrence;
            sequence.go(occurrence);
        } else {
            let occurrence = passage.occurrence;
            let server = self.first_window(now, occurrence)?;
            records.server(EventKind::ServerReplenish, server, until - now.as_nanos());
        }
        let task = self.tasks.get(after)?;
        records.about(EventKind::Dispatch, task.subject, task.job, 0);
        self.entry = self.entry.wrapping_add(1);
        self.lost = false;
        // No other partition has a bound before the end of this window.
        let timer = Instant::from_nanos(until).min(due).min(task.may_run_until(now));
        let run = Running { task: task.id, job: task.job, charged: task.charged, arrived: task.arrived() };
        let [core_state] = &mut self.core_states[..] else { return None };
        core_state.go_to(now, after, task.job);
        Some(Decision { run: Some(run), timer, notify: CoreSet::EMPTY, ticket: 0 })
    }

    /// Tells the core's heap of the passages that it was not told of.
    #[cold]
    #[inline(never)]
    pub(super) fn tell_passages(&mut self) {
        let (Some(sequence), [core_state]) = (&mut self.sequence, &mut self.core_states[..]) else { return };
        for (vp, at) in sequence.take_looks() {
            core_state.replenish.insert(Key::at(at, vp));
        }
    }

    /// The idle core enters the partition whose window has begun, if nothing else is due there: which server that is.
    #[inline(never)]
    fn first_window(&mut self, now: Instant, occurrence: Occurrence) -> Option<u16> {
        let (Some(sequence), [core_state]) = (&mut self.sequence, &mut self.core_states[..]) else { return None };
        let partition = sequence.partition(occurrence)?;
        // Whoever has waited for an earlier bound comes before it.
        let first = core_state.replenish.peek().filter(|first| first.time() <= now)?;
        if core_state.doing != OnCore::Idle
            || first.place() != partition.vp
            || !self.queues.insert_only(partition.queue, partition.key)
        {
            return None;
        }
        let server = partition.server;
        core_state.enter_server(partition.vp);
        self.vps.get_mut(core_state.root)?.awake = true;
        sequence.enter(occurrence);
        Some(server)
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
