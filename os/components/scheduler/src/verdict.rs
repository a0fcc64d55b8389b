//! The verdict as the machine itself can tell it, on its console, for machines that have no host: whether every promised job
//! did its work within its bound. Whose fault it is where one did not, the host tells from the trace.

use crate::state::{core_state, system};
use core::fmt::Write;
use core::sync::atomic::{AtomicUsize, Ordering};
use tactus_policy::{Action, Part, Release, Task};
use tactus_record::{EventKind, Record, Sink, Stored, Subject};
use tactus_rt::abi::shared::TaskCard;
use tactus_rt::scheduler::{OwnRegion, ReservedWriter, RingWriter};
use tactus_rt::time::{CoreId, Duration, Instant, Level, TaskId};
use tactus_rt::{calls, clock, Promises, Screen};

/// What is counted of one task on one core, and what has to be known of it on the way to its jobs.
#[derive(Clone, Copy)]
pub struct Counts {
    /// The component in which its thread is at home.
    pub home: u64,
    /// The first release, or where it would have been.
    offset: Duration,
    /// From release to release.
    period: Duration,
    /// From a release to its deadline.
    deadline: Duration,
    /// Jobs finished.
    finished: u64,
    /// Of those, how many after their deadline.
    missed: u64,
    /// The longest response.
    worst: Duration,
    /// The greatest lateness after a deadline.
    tardiness: Duration,
    /// How long the job has waited that is unfinished at the end and was released first.
    waited: Duration,
    /// Jobs released.
    released: u64,
    /// Jobs that the policy ended unfinished.
    dropped: u64,
    /// The task was removed.
    removed: bool,
    /// How long after its release a job may end at most, by what was promised; by its deadline if nothing was.
    limit: Duration,
    /// The least that a finished job is charged (ns).
    minimum: u64,
    /// Jobs that ended unfinished, dropped or with their component, or with less than the least.
    undone: u64,
    /// The last job that ended with its component.
    aborted: u32,
}

impl Counts {
    /// Nothing yet.
    pub fn new(task: &Task, card: &TaskCard) -> Counts {
        Counts {
            home: card.home,
            offset: task.offset,
            period: task.period,
            deadline: task.deadline,
            finished: 0,
            missed: 0,
            worst: Duration::ZERO,
            tardiness: Duration::ZERO,
            waited: Duration::ZERO,
            released: 0,
            dropped: 0,
            removed: false,
            limit: limit(task, card),
            minimum: card.minimum,
            undone: 0,
            aborted: u32::MAX,
        }
    }

    /// The nominal release of the job.
    #[inline(always)]
    pub fn release(&self, job: u32) -> Instant {
        // The offset may be less than nothing: see `altered`.
        let after = self.period.as_nanos().wrapping_mul(u64::from(job));
        Instant::from_nanos(self.offset.as_nanos().wrapping_add(after))
    }

    /// A change of the system took effect: the job that is released next comes `next`, and those after it in this period. No
    /// job is under way whose release could still be asked for.
    fn altered(&mut self, next: Instant, period: Duration, deadline: Duration) {
        let before = period.as_nanos().wrapping_mul(self.released);
        self.offset = Duration::from_nanos(next.as_nanos().wrapping_sub(before));
        (self.period, self.deadline) = (period, deadline);
    }

    /// The policy ended the job: it misses its deadline, if that lies in the run.
    #[cold]
    fn drop(&mut self, job: u32) {
        self.dropped += 1;
        let release = self.release(job);
        self.missed += u64::from(release + self.deadline < system().end);
        self.undone += u64::from(release + self.limit < system().end);
    }

    /// The job ends unfinished with its component; that it is finished is told next.
    pub fn abort(&mut self, job: u32, now: Instant) {
        self.aborted = job;
        self.undo(job, now);
    }

    /// The job ended with less execution than the least that a job takes.
    #[cold]
    fn finish_early(&mut self, job: u32, now: u64) {
        if self.aborted != job {
            self.undo(job, Instant::from_nanos(now));
        }
    }

    /// A job that did not do its work; one that is late as well is counted as missed for that.
    fn undo(&mut self, job: u32, now: Instant) {
        self.undone += 1;
        self.missed += u64::from(now.since(self.release(job)) <= self.deadline);
    }

    #[inline(always)]
    fn finish(&mut self, job: u32, now: u64, charged: u64) {
        let response = Instant::from_nanos(now).since(self.release(job));
        self.finished += 1;
        if charged < self.minimum {
            self.finish_early(job, now);
        }
        if response > self.worst {
            self.worst = response;
        }
        if response > self.deadline {
            self.missed += 1;
            self.tardiness = self.tardiness.max(response - self.deadline);
        }
    }
}

/// How long after its release a job may end at most, by what was promised.
fn limit(task: &Task, card: &TaskCard) -> Duration {
    let bound = Duration::from_nanos(card.bound);
    match card.promise {
        1 => bound.min(task.deadline),
        2 => task.deadline + bound,
        _ => task.deadline,
    }
}

/// Counts while it passes records on.
pub struct Counting<'a> {
    /// Where records go.
    pub writer: RingWriter,
    /// Where counts are kept.
    pub counts: &'a mut [Counts],
    /// The core.
    pub core: CoreId,
}

/// As [`Counting`], for the few records of [`tactus_policy::Policy::expire`].
pub struct Releasing<'a> {
    /// Where records go.
    pub writer: ReservedWriter,
    /// Where counts are kept.
    pub counts: &'a mut [Counts],
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

impl Sink for Counting<'_> {
    fn record(&mut self, record: Record) {
        self.store(record.stored());
    }

    fn store(&mut self, stored: Stored) {
        match EventKind::from_u8(stored.kind()) {
            Some(kind) => self.put(kind, stored),
            None => self.writer.store(stored),
        }
    }

    fn stage(&mut self) {
        self.writer.store(Stored::about(Subject::NONE, clock::now(), self.core, EventKind::Stage, 0, 0));
    }

    #[inline(always)]
    fn put(&mut self, kind: EventKind, stored: Stored) {
        self.writer.store(stored);
        if !matches!(kind, EventKind::Release | EventKind::Removed | EventKind::Complete | EventKind::Dropped) {
            if matches!(kind, EventKind::Changed | EventKind::ChangeRefused) {
                changed(self.counts, kind, stored);
            }
            return;
        }
        // No task has the number that stands for none.
        let Some(counts) = self.counts.get_mut(stored.task_number()) else { return };
        match kind {
            EventKind::Release => counts.released += 1,
            EventKind::Removed => counts.removed = true,
            EventKind::Dropped => {
                counts.drop(stored.job());
                crate::kill::ended(TaskId(stored.task_number() as u16), stored.job());
            }
            _ => counts.finish(stored.job(), stored.time, stored.arg),
        }
    }
}

/// Changes that took effect, and that were refused.
static CHANGES: [AtomicUsize; 2] = [const { AtomicUsize::new(0) }; 2];

/// A change is settled: from one that takes effect on, jobs of what it concerns are released at other times.
#[cold]
fn changed(counts: &mut [Counts], kind: EventKind, stored: Stored) {
    CHANGES[usize::from(kind == EventKind::ChangeRefused)].fetch_add(1, Ordering::Relaxed);
    let setup = &system().setup;
    let changes = setup.kind.changes();
    let Some(change) = changes.get(stored.job() as usize).filter(|_| kind == EventKind::Changed) else { return };
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
            Action::Alter(values) if own => {
                let next = counts.release(counts.released as u32);
                counts.altered(next, values.period, values.deadline);
            }
            _ => {}
        }
    }
}

static ENDED: AtomicUsize = AtomicUsize::new(0);
/// The exit codes of a run that came to its end.
const PROMISES_HELD: u8 = 0x10;
const PROMISE_BROKEN: u8 = 0x11;

/// This core has ended. The last one tells the verdict and ends the run; the others return and sleep.
#[cold]
pub fn end() {
    let cores = system().setup.cores;
    if ENDED.fetch_add(1, Ordering::AcqRel) + 1 == cores {
        let held = tell();
        calls::finish(if held { PROMISES_HELD } else { PROMISE_BROKEN })
    }
}

/// Whether jobs of the task may end on a core that does not know from when on they were released: where time does not release
/// them, and where cores go through changes together.
fn is_for_the_host(task: usize) -> bool {
    let changing = match &system().setup.kind {
        tactus_policy::PolicySpec::Servers(tree)
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

/// A task's counts over all cores.
fn total(task: usize) -> Counts {
    let mut sum = Counts::new(&system().setup.tasks[task], &system().cards()[task]);
    for core in 0..system().setup.cores {
        // All cores have ended: nobody else uses their state.
        let Some(state) = core_state(core as u8) else { continue };
        let counts = state.counts[task];
        sum.finished += counts.finished;
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
fn add(promises: &mut Promises, counts: &Counts, card: &TaskCard) {
    let waited = if card.promise == 1 { counts.worst.max(counts.waited) } else { counts.tardiness };
    promises.made += 1;
    promises.missed |= waited.as_nanos() > card.bound || counts.undone > 0;
    promises.judged |= counts.finished + counts.missed > 0;
}

/// Prints the verdict; whether every promise held.
fn tell() -> bool {
    let info = tactus_rt::info();
    let cards = system().cards();
    let [made, refused] = [0, 1].map(|n: usize| CHANGES[n].load(Ordering::Relaxed));
    let changes = !system().setup.kind.changes().is_empty();
    let mut promises = Promises { stopped: system().recovery.any_stopped(), ..Promises::default() };
    let mut console = Screen;
    let _ = writeln!(console, "{}", tactus_rt::abi::shared::name_text(&info.system));
    let _ = writeln!(console, "level     jobs  missed  worst response  worst / bound  tardiness");
    for level in [Some(Level::A), Some(Level::B), Some(Level::C), Some(Level::D), None] {
        let number = level.map_or(255, |l| l as u64);
        let (mut jobs, mut missed, mut worst, mut tardiness, mut share) =
            (0, 0, Duration::ZERO, Duration::ZERO, None::<u64>);
        let mut any = false;
        for (task, card) in cards.iter().enumerate().filter(|(_, card)| card.level == number) {
            let counts = total(task);
            any = true;
            jobs += counts.finished;
            if (made > 0 || !changes) && is_for_the_host(task) {
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
        let _ = writeln!(console, "changes: {made} took effect, {refused} refused");
    }
    if promises.left_out > 0 {
        let _ = writeln!(console, "{} tasks are judged from the trace", promises.left_out);
    }
    system().recovery.report(&mut console);
    let dropped: u64 = (0..system().setup.cores).filter_map(|c| core_state(c as u8)).map(|s| s.ring.dropped()).sum();
    if dropped > 0 {
        let _ = writeln!(console, "{dropped} records did not fit");
        promises.lost = true;
    }
    let (words, held) = promises.verdict();
    let _ = writeln!(console, "verdict: {words}");
    held
}
