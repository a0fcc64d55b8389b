//! The verdict as the machine itself can tell it, on its console, for machines that have no host: whether every promised job
//! did its work within its bound. Whose fault it is where one did not, the host tells from the trace.

use crate::root::state::{system, Core, System};
use crate::runtime::{CountedTasks, JobCounts};
use core::fmt::Write;
use core::sync::atomic::{AtomicUsize, Ordering};
use tactus_policy::{Action, Part, Policy, Release, Values};
use tactus_record::{EventKind, Record, Sink, Stored};
use tactus_rt::abi::shared::TaskCard;
use tactus_rt::scheduler::{Borrowed, OwnRegion, PerCore, ReservedWriter};
use tactus_rt::time::{Duration, Instant, Level, TaskId};
use tactus_rt::{Promises, Screen};

/// As [`Counting`], for the few records of [`tactus_policy::Policy::expire`].
pub struct Releasing<'a> {
    /// Where records go.
    pub writer: ReservedWriter,
    /// Where counts are kept.
    pub counts: &'a mut [JobCounts],
}

impl Sink for Releasing<'_> {
    fn record(&mut self, record: Record) {
        self.put(record.kind, record.stored());
    }

    #[inline(always)]
    fn put(&mut self, kind: EventKind, stored: Stored) {
        self.writer.store(stored);
        if kind == EventKind::Release {
            if let Some(counts) = self.counts.get_mut(stored.task_number()) {
                counts.released += 1;
            }
        }
    }
}

/// Changes that were applied, and that were refused.
static CHANGES: [AtomicUsize; 2] = [const { AtomicUsize::new(0) }; 2];

impl CountedTasks for System {
    const NOTES_CHANGES: bool = false;

    #[inline(always)]
    fn index(&self, task: usize) -> Option<usize> {
        Some(task)
    }
    fn end(&self) -> Instant {
        self.end
    }
    fn dropped(&self, task: TaskId, job: u32) {
        crate::root::kill::ended(task, job);
    }
    #[cold]
    fn reconfigured(&self, counts: &mut [JobCounts], kind: EventKind, record: Stored) {
        changed(counts, kind, record);
    }
}

/// A change is settled: from one that takes effect on, jobs of what it concerns are released at other times.
fn changed(counts: &mut [JobCounts], kind: EventKind, stored: Stored) {
    CHANGES[usize::from(kind == EventKind::ChangeRefused)].fetch_add(1, Ordering::Relaxed);
    let setup = &system().setup;
    let changes = setup.kind.changes();
    let Some(change) = changes.get(stored.job() as usize).filter(|_| kind == EventKind::ChangeApplied) else { return };
    let (servers, places) = match &setup.kind {
        tactus_policy::PolicySpec::ReconfigurableTree(changing) => {
            (&changing.tree.servers[..], &changing.tree.places[..])
        }
        _ => (&[][..], &[][..]),
    };
    let now = Instant::from_nanos(stored.time);
    for (n, counts) in counts.iter_mut().enumerate() {
        let own = change.part == Part::Task(TaskId(n as u16));
        let home = places.get(n).map(|place| place.server);
        let mut way = core::iter::successors(home, |at| (*at != 0).then(|| servers[usize::from(*at)].parent));
        let inside = way.any(|server| change.part == Part::Server(server));
        match change.action {
            // What is inside a server that begins, and is itself not there, begins later, and is counted anew then.
            Action::Add if own || inside => {
                counts.altered(now + setup.tasks[n].offset, counts.period, counts.deadline);
            }
            Action::Alter(named) if own => {
                let next = counts.release(counts.released as u32);
                let (time, period, deadline, priority) = (Duration::ZERO, counts.period, counts.deadline, 0);
                let values = named.of(Values { time, period, deadline, priority });
                counts.altered(next, values.period, values.deadline);
            }
            _ => {}
        }
    }
}

/// Whether the task is one of a slot: nothing is promised for it here, and its values come and go.
fn is_in_slot(task: usize) -> bool {
    let tactus_policy::PolicySpec::ReconfigurableTree(changing) = &system().setup.kind else { return false };
    changing.slots.iter().any(|slot| task.checked_sub(slot.first.index()).is_some_and(|n| n < usize::from(slot.tasks)))
}

/// Whether jobs of the task may end on a core that does not know from when on they were released: where time does not release
/// them, and where cores go through changes together.
fn is_for_the_host(task: usize) -> bool {
    let changing = match &system().setup.kind {
        tactus_policy::PolicySpec::Servers(tree)
        | tactus_policy::PolicySpec::Partitions(tactus_policy::Partitions { tree, .. })
        | tactus_policy::PolicySpec::Resources(tactus_policy::ResourceTree { tree, .. }) => {
            return tree.releases.get(task).is_some_and(|release| *release != Release::Periodic);
        }
        tactus_policy::PolicySpec::ReconfigurableTree(changing) => changing,
        tactus_policy::PolicySpec::ReconfigurableMc2(_) => return system().setup.cores > 1,
        _ => return false,
    };
    let servers = &changing.tree.servers;
    let Some(place) = changing.tree.places.get(task) else { return false };
    let core = system().setup.tasks[task].core.map(|core| 1 << core.0);
    let own = servers[usize::from(place.server)].queues.iter().map(|queue| queue.bits());
    let mut cores = own.fold(0, |all, queue| all | if core.is_none_or(|core| queue & core != 0) { queue } else { 0 });
    loop {
        let queues = servers.iter().flat_map(|server| &server.queues).map(|queue| queue.bits());
        let more = queues.filter(|queue| queue & cores != 0).fold(cores, |all, queue| all | queue);
        if more == cores {
            return cores.count_ones() > 1;
        }
        cores = more;
    }
}

/// A core's state. All cores have ended, so that nobody has it for long.
fn of_core<P: Policy>(cores: &PerCore<Core<P>>, core: usize) -> Borrowed<'_, Core<P>> {
    loop {
        match cores.borrow(core as u8) {
            Some(core) => return core,
            None => core::hint::spin_loop(),
        }
    }
}

/// A task's counts over all cores.
fn total<P: Policy>(cores: &PerCore<Core<P>>, task: usize) -> JobCounts {
    let mut sum = JobCounts::new(&system().setup.tasks[task], &system().cards()[task]);
    for core in 0..system().setup.cores {
        let counts = of_core(cores, core).state.counts[task];
        sum.finished += counts.finished;
        sum.idle += counts.idle;
        sum.missed += counts.missed;
        sum.released += counts.released;
        if counts.released > 0 {
            // Where the system changes, one core alone releases the task's jobs.
            (sum.offset, sum.period, sum.deadline) = (counts.offset, counts.period, counts.deadline);
        }
        sum.dropped += counts.dropped;
        sum.undone += counts.undone;
        sum.removed |= counts.removed;
        sum.worst = sum.worst.max(counts.worst);
        sum.tardiness = sum.tardiness.max(counts.tardiness);
    }
    if sum.removed {
        // What was under way ended with the component.
        let ended = sum.released.saturating_sub(sum.finished + sum.dropped);
        (sum.missed, sum.undone) = (sum.missed + ended, sum.undone + ended);
    } else {
        // Jobs that were released, are not finished, and whose deadline has passed. Jobs of a task finish in order.
        for job in sum.finished + sum.dropped..sum.released {
            let release = sum.release(job as u32);
            let deadline = release + sum.deadline;
            sum.waited = sum.waited.max(system().end.since(release));
            if deadline < system().end {
                sum.missed += 1;
                sum.tardiness = sum.tardiness.max(system().end - deadline);
                sum.worst = sum.worst.max(system().end - deadline + sum.deadline);
            }
        }
    }
    sum
}

/// One more task with a promise.
fn add(promises: &mut Promises, counts: &JobCounts, card: &TaskCard) {
    let waited = if card.promise == 1 { counts.worst.max(counts.waited) } else { counts.tardiness };
    promises.made += 1;
    promises.missed |= waited.as_nanos() > card.bound || counts.undone > 0;
    promises.judged |= counts.finished + counts.missed > counts.idle;
}

/// Prints the verdict; whether every promise held.
pub fn print<P: Policy>(cores: &PerCore<Core<P>>) -> bool {
    let info = tactus_rt::info();
    let cards = system().cards();
    let [made, refused] = [0, 1].map(|n: usize| CHANGES[n].load(Ordering::Relaxed));
    let changes = !system().setup.kind.changes().is_empty();
    let of_host = info.promised_by_host as usize;
    let stopped = system().recovery.any_stopped();
    let mut promises = Promises { made: of_host, left_out: of_host, stopped, ..Promises::default() };
    let mut console = Screen;
    let _ = writeln!(console, "{}", tactus_rt::abi::shared::name_text(&info.system));
    let _ = writeln!(console, "level     jobs  missed  worst response  worst / bound  tardiness");
    for level in [Some(Level::A), Some(Level::B), Some(Level::C), Some(Level::D), None] {
        let number = level.map_or(255, |l| l as u64);
        let (mut jobs, mut missed, mut worst, mut tardiness, mut share) =
            (0, 0, Duration::ZERO, Duration::ZERO, None::<u64>);
        let mut any = false;
        for (task, card) in cards.iter().enumerate().filter(|(_, card)| card.level == number) {
            let counts = total(cores, task);
            any = true;
            jobs += counts.finished - counts.idle;
            if is_in_slot(task) || (made > 0 || !changes) && is_for_the_host(task) {
                promises.left_out += usize::from(card.promise != 0);
                promises.made += usize::from(card.promise != 0);
                continue;
            }
            missed += counts.missed;
            worst = worst.max(counts.worst);
            tardiness = tardiness.max(counts.tardiness);
            let measured = match card.promise {
                1 => counts.worst,
                2 => counts.tardiness,
                _ => continue,
            };
            add(&mut promises, &counts, card);
            if card.bound > 0 && !counts.removed {
                share = share.max(Some(measured.as_nanos() * 1000 / card.bound));
            }
        }
        if !any {
            continue;
        }
        match level {
            Some(level) => {
                let _ = write!(console, "{level}    ");
            }
            None => {
                let _ = write!(console, "all  ");
            }
        }
        let _ = write!(console, " {jobs:>8}  {missed:>6}  {:>11} µs", worst.as_nanos() / 1000);
        match share {
            Some(share) => {
                let _ = write!(console, "  {:>7}.{:01} %  ", share / 10, share % 10);
            }
            None => {
                let _ = write!(console, "            -  ");
            }
        }
        let _ = writeln!(console, "{:>6} µs", tardiness.as_nanos() / 1000);
    }
    for core in 0..system().setup.cores {
        let _ = writeln!(console, "core {core}   {}", OwnRegion::of(core as u8).counts());
    }
    if made + refused > 0 {
        let _ = writeln!(console, "changes: {made} applied, {refused} refused");
    }
    if promises.left_out > of_host {
        let _ = writeln!(console, "{} tasks are judged from the trace", promises.left_out - of_host);
    }
    if of_host > 0 {
        let _ = writeln!(console, "{of_host} chains and clients of disks are judged from the trace");
    }
    system().recovery.report(&mut console);
    let dropped: u64 = (0..system().setup.cores).map(|core| of_core(cores, core).state.ring.dropped()).sum();
    if dropped > 0 {
        let _ = writeln!(console, "{dropped} records did not fit");
        promises.lost = true;
    }
    if system().watched.is_some() {
        let violations = crate::root::observe::violations();
        if violations > 0 {
            let _ = writeln!(console, "{violations} violations of monitored properties");
            promises.violated = true;
        }
    }
    let (words, held) = promises.verdict();
    let _ = writeln!(console, "verdict: {words}");
    held
}
