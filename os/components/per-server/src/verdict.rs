//! The verdict as the machine itself can tell it, on its console.
//!
//! Each scheduler counts the jobs of its own tasks and keeps the sums on a page that its parents and the root read
//! ([`ChildPage`]). When the run ends the root adds its own and says whether every promise held. What a child says of jobs that
//! it never finished is a time: when the first of them breaks its promise. So a child that was stopped, or that never got the core
//! again, cannot keep a late job from being seen.

use crate::ring::Pen;
use crate::state::{self, CoreState};
use core::fmt::Write;
use core::ptr::addr_of;
use core::sync::atomic::{AtomicUsize, Ordering};
use tactus_policy::{SchedulerPlan, Task};
use tactus_record::{EventKind, Record, Sink};
use tactus_rt::abi::image::role;
use tactus_rt::abi::layout::{CHILD_PAGE, CHILD_PAGES, MAX_CORES, PAGE};
use tactus_rt::abi::shared::{name_text, ChildPage, Region, TaskCard};
use tactus_rt::time::{Duration, Instant};
use tactus_rt::{calls, info, region, Promises, Screen};

/// One task's jobs so far.
pub struct Tally {
    offset: Duration,
    period: Duration,
    deadline: Duration,
    /// Bound of the response; or, if `tardy`, of the time after the deadline.
    bound: Option<Duration>,
    tardy: bool,
    /// Jobs finished, and jobs that ended in whatever way.
    finished: u64,
    ended: u64,
    missed: u64,
    worst: Duration,
    tardiness: Duration,
    /// The least that a finished job is charged (ns).
    minimum: u64,
    /// Jobs that ended unfinished, dropped or with their component, or with less than the least.
    undone: u64,
    /// The last job that ended with its component.
    aborted: u32,
    /// It is this core's.
    here: bool,
    /// It was removed, or is another core's.
    out: bool,
}

impl Tally {
    /// Nothing yet. `here`: the task is this core's.
    pub fn new(task: &Task, card: &TaskCard, here: bool) -> Tally {
        Tally {
            offset: task.offset,
            period: task.period,
            deadline: task.deadline,
            bound: (1..=2).contains(&card.promise).then(|| Duration::from_nanos(card.bound)),
            tardy: card.promise == 2,
            finished: 0,
            ended: 0,
            missed: 0,
            worst: Duration::ZERO,
            tardiness: Duration::ZERO,
            minimum: card.minimum,
            undone: 0,
            aborted: u32::MAX,
            here,
            out: !here,
        }
    }

    /// The nominal release of the job.
    pub fn release(&self, job: u32) -> Instant {
        Instant::ZERO.saturating_add(self.offset).saturating_add(self.period * u64::from(job))
    }

    /// The job ends unfinished with its component; that it is finished is told next.
    pub fn abort(&mut self, job: u32, now: Instant) {
        self.aborted = job;
        self.undo(job, now);
    }

    /// A job that did not do its work; one that is late as well is counted as missed for that.
    fn undo(&mut self, job: u32, now: Instant) {
        self.undone += 1;
        self.missed += u64::from(now.since(self.release(job)) <= self.deadline);
    }

    fn count(&mut self, record: &Record) {
        let late = record.time.since(self.release(record.job).saturating_add(self.deadline));
        match record.kind {
            EventKind::Removed => self.out = true,
            EventKind::Dropped => {
                (self.ended, self.missed, self.undone) = (self.ended + 1, self.missed + 1, self.undone + 1);
            }
            _ => {
                (self.ended, self.finished) = (self.ended + 1, self.finished + 1);
                self.missed += u64::from(late > Duration::ZERO);
                if record.arg < self.minimum && self.aborted != record.job {
                    self.undo(record.job, record.time);
                }
                self.worst = self.worst.max(record.time.since(self.release(record.job)));
                self.tardiness = self.tardiness.max(late);
            }
        }
    }

    fn measured(&self) -> Duration {
        if self.tardy {
            self.tardiness
        } else {
            self.worst
        }
    }

    /// After when the oldest unfinished job breaks its promise.
    fn breaks_after(&self) -> Instant {
        let Some(bound) = self.bound.filter(|_| !self.out) else { return Instant::NEVER };
        let before = if self.tardy { self.deadline } else { Duration::ZERO };
        self.release(self.ended as u32).saturating_add(before).saturating_add(bound)
    }
}

/// Counts while it passes records on.
pub struct Counting<'a> {
    /// Where records go.
    pub pen: Pen,
    /// Where counts are kept, by index of the scheduler's tasks.
    pub tallies: &'a mut [Tally],
    /// Which tasks these are.
    pub plan: &'a SchedulerPlan,
    /// Whether anything was counted.
    pub changed: bool,
}

impl Sink for Counting<'_> {
    fn record(&mut self, record: Record) {
        self.pen.store(record.stored());
        if !matches!(record.kind, EventKind::Complete | EventKind::Dropped | EventKind::Removed) {
            return;
        }
        let own = record.task.and_then(|task| self.plan.tasks.binary_search(&task).ok());
        if let Some(tally) = own.and_then(|own| self.tallies.get_mut(own)) {
            tally.count(&record);
            self.changed = true;
        }
    }
}

const NOTHING: ChildPage = ChildPage {
    jobs: 0,
    missed: 0,
    worst: 0,
    tardiness: 0,
    share: 0,
    breaks_after: u64::MAX,
    lost_records: 0,
    promised: 0,
    judged: 0,
    undone: 0,
    stopped: 0,
};

/// What a core has counted.
fn sums(state: &CoreState) -> ChildPage {
    let stopped = u64::from(crate::recovery::any_stopped());
    let mut sums = ChildPage { lost_records: state.ring.dropped(), stopped, ..NOTHING };
    for tally in &state.tallies {
        sums.jobs += tally.finished;
        sums.missed += tally.missed;
        sums.worst = sums.worst.max(tally.worst.as_nanos());
        sums.tardiness = sums.tardiness.max(tally.tardiness.as_nanos());
        sums.breaks_after = sums.breaks_after.min(tally.breaks_after().as_nanos());
        if let Some(bound) = tally.bound {
            // Rounded up: whatever exceeds its bound is more than a thousand thousandths.
            let (measured, bound) = (tally.measured().as_nanos(), bound.as_nanos());
            // A bound of zero is kept by zero alone.
            let share =
                if bound == 0 { measured.min(1) * 1_001 } else { measured.saturating_mul(1_000).div_ceil(bound) };
            sums.share = sums.share.max(share);
            // A task of several cores is told by each of them.
            sums.promised += u64::from(tally.here);
            sums.judged += tally.ended;
            sums.undone += tally.undone;
        }
    }
    sums
}

/// A child scheduler tells its counts. Each has one core.
pub fn publish(state: &CoreState) {
    if !state.system.root {
        // SAFETY: this scheduler's own page, mapped writable, of which it is the only writer.
        unsafe { (CHILD_PAGE as *mut ChildPage).write_volatile(sums(state)) };
    }
}

/// Two of them together.
fn add(all: &mut ChildPage, one: &ChildPage) {
    all.jobs += one.jobs;
    all.missed += one.missed;
    all.worst = all.worst.max(one.worst);
    all.tardiness = all.tardiness.max(one.tardiness);
    all.share = all.share.max(one.share);
    all.breaks_after = all.breaks_after.min(one.breaks_after);
    all.lost_records += one.lost_records;
    all.promised += one.promised;
    all.judged += one.judged;
    all.undone += one.undone;
    all.stopped |= one.stopped;
}

static ENDED: AtomicUsize = AtomicUsize::new(0);
/// The exit codes of a run that came to its end.
const PROMISES_HELD: u8 = 0x10;
const PROMISE_BROKEN: u8 = 0x11;

/// The run is over on this core; the last one ends it for all.
#[cold]
pub fn end(state: &mut CoreState, region: *mut Region, now: Instant) {
    if core::mem::replace(&mut state.ended, true) {
        return;
    }
    // SAFETY: the core's region.
    let refused = unsafe { addr_of!((*region).refused).read_volatile() };
    state.ring.end(now, refused);
    let cores = info().cores as usize;
    if ENDED.fetch_add(1, Ordering::AcqRel) + 1 == cores {
        let held = tell(state, cores);
        calls::finish(if held { PROMISES_HELD } else { PROMISE_BROKEN })
    }
}

/// Prints the verdict; whether every promise held.
fn tell(last: &CoreState, cores: usize) -> bool {
    let (mut own, mut console) = (sums(last), Screen);
    for core in (0..cores.min(MAX_CORES) as u8).filter(|core| *core != last.core) {
        // SAFETY: all other cores have ended, and use their state no more.
        if let Some(state) = unsafe { state::of(core) } {
            add(&mut own, &sums(state));
        }
    }
    let _ = writeln!(console, "{}", name_text(&info().system));
    let _ = writeln!(console, "scheduler              jobs  missed  worst response  worst / bound  tardiness");
    let mut promises = Promises::default();
    line(&mut console, "root", &own, last.system.end, &mut promises);
    for (number, card) in state::components().iter().enumerate() {
        if card.role & (role::SCHEDULER | role::ROOT) != role::SCHEDULER {
            continue;
        }
        // SAFETY: the page of a child scheduler, of whatever depth, mapped read-only into the root.
        let mut sums = unsafe { ((CHILD_PAGES + number as u64 * PAGE) as *const ChildPage).read_volatile() };
        // What was stopped is bound by no promise any more; the judge says so too.
        let lost = |child: &state::Child| child.component == number as u64 && child.lost.load(Ordering::Relaxed);
        if last.system.children.iter().any(lost) {
            sums.breaks_after = u64::MAX;
        }
        line(&mut console, name_text(&card.name), &sums, last.system.end, &mut promises);
    }
    for core in 0..cores as u8 {
        // SAFETY: the region of a core that exists.
        let counts = unsafe { region::Counts::of(region::of(core)) };
        let _ = writeln!(console, "core {core}   {counts}");
    }
    crate::recovery::tell(&mut console);
    let (words, held) = promises.verdict();
    let _ = writeln!(console, "verdict: {words}");
    held
}

/// One scheduler's counts, and what they say of its promises.
fn line(console: &mut Screen, name: &str, sums: &ChildPage, end: Instant, promises: &mut Promises) {
    let (worst, tardiness) = (sums.worst / 1_000, sums.tardiness / 1_000);
    let (whole, tenths) = (sums.share / 10, sums.share % 10);
    let _ = writeln!(
        console,
        "{name:<18} {:>8}  {:>6}  {worst:>11} µs  {whole:>9}.{tenths} %  {tardiness:>6} µs",
        sums.jobs, sums.missed
    );
    let unfinished = end > Instant::from_nanos(sums.breaks_after);
    if unfinished {
        let _ = writeln!(console, "{name}: a job that never finished broke its promise");
    }
    if sums.lost_records > 0 {
        let _ = writeln!(console, "{name}: {} records did not fit", sums.lost_records);
    }
    promises.made += sums.promised as usize;
    promises.judged |= sums.judged > 0;
    promises.missed |= sums.share > 1_000 || unfinished || sums.undone > 0;
    promises.lost |= sums.lost_records > 0;
    promises.stopped |= sums.stopped != 0;
}
