//! One task inside a tree of servers: its jobs, what orders them among others, and what happens when one overruns.

use super::arrivals::Arrivals;
use super::parameters::TaskPlacement;
use crate::reconfigure::{Alteration, Values};
use crate::records::Recorder;
use crate::Task;
use alloc::boxed::Box;
use tactus_record::{EventKind, Subject};
use tactus_task::{KeptNumber, OrderBasis, Overrun, Release, ReleaseGuard, ReleaseInstants, TaskOrder, WaitLimit};
use tactus_time::{Duration, Instant, Level, TaskId};

/// Why a job ended without being finished: the `arg` of a `Dropped` record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Dropped {
    /// The job before it was still running when it was released.
    Skipped = 0,
    /// Its deadline came.
    Killed = 1,
    /// Its program was unloaded, and with it go all jobs after it.
    Unloaded = 4,
}

/// A turn among jobs of this priority as one key: priorities from 2²⁰ − 1 on are equal, and there are 2⁴³ turns, a century of the shortest.
fn turn_of_priority(priority: u32, turn: u64) -> u64 {
    const LARGEST: u32 = (1 << 20) - 1;
    (u64::from(LARGEST - priority.min(LARGEST)) << 43) | (turn % (1 << 43))
}

/// A task and its jobs.
#[derive(Debug)]
pub(crate) struct TaskState {
    pub(crate) id: TaskId,
    level: Level,
    /// It, in records.
    pub(super) subject: Subject,
    pub(crate) overrun: Overrun,
    pub(crate) order: TaskOrder,
    /// The queue that its jobs wait in.
    pub(crate) queue: usize,
    period: Duration,
    deadline: Duration,
    /// What a job is assumed to take.
    wcet: Duration,
    priority: u32,
    /// How many boundaries were noticed, and when the next one is due.
    released: u32,
    next: Instant,
    /// The oldest unfinished job: number, release, charge; and how many are released and unfinished.
    pub(crate) job: u32,
    release: Instant,
    pub(crate) charged: Duration,
    /// What it had been charged when its laxity was looked at last.
    looked: Duration,
    pub(crate) pending: u32,
    /// What is left of this period's budget, where it is held to one.
    left: Duration,
    /// Its turn, where turns are taken, and what is left of it.
    pub(crate) turn: u64,
    pub(crate) slice: Duration,
    /// How often and how long its jobs may wait, how many waits its oldest job has had, and until when it waits, if it does.
    pub(super) limit: WaitLimit,
    waited: u16,
    waits_until: Option<Instant>,
    pub(crate) removed: bool,
    /// It releases jobs before this instant only.
    pub(super) until: Instant,
    pub(super) offset: Duration,
    /// It stands for a child scheduler: it has a job while that has something to run, and is told when that will be next.
    pub(super) proxy: bool,
    /// It is one of a slot: programs that come and go bring its values.
    in_slot: bool,
    /// A deadline that it misses ends the trial of its program.
    pub(super) watched: bool,
    /// What arrived for it and waits, if it is not time that releases its jobs.
    arrivals: Option<Box<Arrivals>>,
    /// When its jobs are released, if time does and they have release jitter.
    instants: Option<Box<ReleaseInstants>>,
    /// The end of the job that is to be killed, or the release that is left out if the job does not end before, is the business of the
    /// core that runs the job.
    left_to_core: bool,
    /// What arrives for it may release a job on the short way.
    arrives_shortly: bool,
    /// The same where its job has the core at once; and what its urgency is then: this, and the release where the mask says so.
    arrives_first: bool,
    urgency: (u64, u64),
    /// Neither its own rules nor turns end the time of its running job, and it stands for nobody.
    runs_on: bool,
}

impl TaskState {
    pub(crate) fn new(
        (id, task): (TaskId, &Task),
        (place, release, seed): (&TaskPlacement, Release, u64),
        order: TaskOrder,
        queue: usize,
    ) -> TaskState {
        let itself = release.predecessor() == Some(id);
        let distance = if itself { Duration::ZERO } else { task.period };
        let guard = || ReleaseGuard::new(distance, release.burst());
        let mut arrivals = release.early().map(|early| Box::new(Arrivals::new(early, guard())));
        let instants = release.jitter().map(|jitter| {
            let (offset, period) = (task.offset, task.period);
            Box::new(ReleaseInstants { task: id, offset, period, jitter, seed })
        });
        let first = match &mut arrivals {
            None => instants.as_ref().map_or(Instant::ZERO.saturating_add(task.offset), |instants| instants.of(0)),
            Some(arrivals) if itself => {
                let first = Instant::ZERO.saturating_add(task.offset);
                arrivals.arrive(first).map_or(Instant::NEVER, |_| first)
            }
            Some(_) => Instant::NEVER,
        };
        let mut state = TaskState {
            id,
            level: task.level,
            subject: Subject::new(id, task.level as u8),
            overrun: place.overrun,
            order,
            queue,
            period: task.period,
            deadline: task.deadline,
            wcet: task.budget,
            priority: place.priority,
            released: 0,
            next: first,
            job: 0,
            release: first,
            charged: Duration::ZERO,
            looked: Duration::ZERO,
            pending: 0,
            left: Duration::ZERO,
            turn: 0,
            slice: Duration::ZERO,
            limit: WaitLimit::default(),
            waited: 0,
            waits_until: None,
            removed: false,
            until: Instant::NEVER,
            offset: task.offset,
            proxy: false,
            in_slot: false,
            watched: false,
            arrivals,
            instants,
            left_to_core: false,
            // One that is held to a budget of each period has no arrivals.
            arrives_shortly: release.early().is_some() && place.overrun != Overrun::Stop && !order.takes_turns(),
            runs_on: matches!(place.overrun, Overrun::Continue | Overrun::Skip) && !order.takes_turns(),
            arrives_first: false,
            urgency: (0, 0),
        };
        if let Some(urgency) = state.urgency_by_release() {
            (state.arrives_first, state.urgency) = (state.arrives_shortly && state.runs_on, urgency);
        }
        state
    }

    /// What its urgency is, and the mask of its release that is added to that, if it is made of these and nothing else.
    fn urgency_by_release(&self) -> Option<(u64, u64)> {
        match self.order.basis() {
            OrderBasis::Deadline => Some((self.deadline.as_nanos(), u64::MAX)),
            OrderBasis::Release => Some((0, u64::MAX)),
            OrderBasis::Kept(_) => Some((self.urgency(), 0)),
            OrderBasis::Laxity | OrderBasis::LaxityAtRelease | OrderBasis::Turns | OrderBasis::PrioritiesWithTurns => {
                None
            }
        }
    }

    /// Whether it stands for a child scheduler.
    pub(super) fn set_proxy(&mut self, proxy: bool) {
        self.proxy = proxy;
        if proxy {
            (self.arrives_shortly, self.arrives_first, self.runs_on) = (false, false, false);
        }
    }

    /// It has this number from now on.
    pub(super) fn rename(&mut self, id: TaskId) {
        (self.id, self.subject) = (id, Subject::new(id, self.level as u8));
    }

    /// The deadline of the oldest unfinished job.
    pub(crate) fn due(&self) -> Instant {
        self.release.saturating_add(self.deadline)
    }

    /// The nominal release of the oldest unfinished job, if its number and the period do not tell it.
    pub(crate) fn arrived(&self) -> Option<Instant> {
        (self.in_slot || self.arrivals.is_some() || self.instants.is_some()).then_some(self.release)
    }

    /// The release of the job with this number, where time releases the jobs and that of the job before it was `last`.
    fn after(&self, last: Instant, number: u32) -> Instant {
        match &self.instants {
            None => last.saturating_add(self.period),
            Some(instants) => instants.of(number),
        }
    }

    /// Whether it has a job that may run.
    pub(crate) fn ready(&self) -> bool {
        self.pending > 0 && self.waits_until.is_none() && !self.is_exhausted()
    }

    /// Whether this period's budget is used up, where it is held to one.
    fn is_exhausted(&self) -> bool {
        self.overrun == Overrun::Stop && self.left.is_zero()
    }

    /// Whether the oldest unfinished job, where there is one, was released before `now`.
    pub(super) fn was_released_before(&self, now: Instant) -> bool {
        self.release < now
    }

    /// Whether it has an unfinished job from before `now`.
    pub(super) fn is_left(&self, now: Instant) -> bool {
        self.pending > 0 && self.was_released_before(now)
    }

    /// Less is more urgent.
    pub(crate) fn urgency(&self) -> u64 {
        let due = self.due();
        match self.order.basis() {
            OrderBasis::Kept(KeptNumber::Priority) => u64::from(u32::MAX - self.priority),
            OrderBasis::Kept(KeptNumber::Period) => self.period.as_nanos(),
            OrderBasis::Kept(KeptNumber::Deadline) => self.deadline.as_nanos(),
            OrderBasis::Kept(KeptNumber::Execution) => self.wcet.as_nanos(),
            OrderBasis::Kept(KeptNumber::Slack) => self.deadline.saturating_sub(self.wcet).as_nanos(),
            OrderBasis::Deadline => due.as_nanos(),
            OrderBasis::Laxity => due.as_nanos().saturating_sub(self.wcet.saturating_sub(self.looked).as_nanos()),
            OrderBasis::LaxityAtRelease => due.as_nanos().saturating_sub(self.wcet.as_nanos()),
            OrderBasis::Release => self.release.as_nanos(),
            OrderBasis::Turns => self.turn,
            OrderBasis::PrioritiesWithTurns => turn_of_priority(self.priority, self.turn),
        }
    }

    /// Its laxity is looked at. `since`: how long the job has been running that was not charged yet.
    pub(crate) fn look(&mut self, since: Duration) {
        self.looked = self.charged.checked_add(since).unwrap_or(Duration::MAX);
    }

    /// How long the job runs from the last look on until a waiting job of this urgency, whose place may be a `later` one, has
    /// less time to spare; nothing if it is finished before, as is assumed.
    pub(crate) fn overtaken_after(&self, waiting: u64, later: bool) -> Option<Duration> {
        let after = waiting.saturating_sub(self.urgency()).saturating_add(u64::from(later));
        Some(Duration::from_nanos(after)).filter(|after| *after <= self.wcet.saturating_sub(self.looked))
    }

    /// How long the job has run since the last look. `since`: as in [`look`](TaskState::look).
    pub(crate) fn ran_since_look(&self, since: Duration) -> Duration {
        self.charged.saturating_sub(self.looked).checked_add(since).unwrap_or(Duration::MAX)
    }

    /// For how long its own rules let the running job go on from `now`.
    pub(crate) fn may_run_until(&self, now: Instant) -> Instant {
        match self.overrun {
            Overrun::Stop => now.saturating_add(self.left),
            Overrun::Kill => self.due(),
            Overrun::Skip => self.next_release(),
            Overrun::Continue => Instant::NEVER,
        }
    }

    /// When its next job is released, as far as that is known.
    fn next_release(&self) -> Instant {
        if self.next < self.until {
            self.next
        } else {
            Instant::NEVER
        }
    }

    /// From when on a release of it is left out, if its job is not finished by then.
    pub(super) fn next_is_left_out(&self) -> Instant {
        match self.would_be_left_out() {
            true => self.next_release(),
            false => Instant::NEVER,
        }
    }

    pub(crate) fn charge(&mut self, elapsed: Duration) {
        self.charged = self.charged.checked_add(elapsed).unwrap_or(Duration::MAX);
        self.left = self.left.saturating_sub(elapsed);
        self.slice = self.slice.saturating_sub(elapsed);
    }

    /// Whether the running job's own rules let it go on whatever it is charged, where no turns are taken.
    #[inline(always)]
    pub(super) fn is_unlimited(&self) -> bool {
        matches!(self.overrun, Overrun::Continue | Overrun::Skip)
    }

    /// As [`charge`](TaskState::charge), for one that [`is_unlimited`](TaskState::is_unlimited).
    #[inline(always)]
    pub(super) fn charge_unlimited(&mut self, elapsed: Duration) {
        self.charged = self.charged.checked_add(elapsed).unwrap_or(Duration::MAX);
    }

    /// When something is due for the task whether or not it runs: a release, or the end of a job that is to be killed.
    pub(crate) fn next_event(&self) -> Option<Instant> {
        if self.removed {
            return None;
        }
        let left_out = self.left_to_core && self.would_be_left_out();
        let mut at = if left_out { Instant::NEVER } else { self.next_release() };
        if self.overrun == Overrun::Kill && self.pending > 0 && !self.left_to_core {
            at = at.min(self.due());
        }
        if self.watched && self.pending > 0 {
            at = at.min(self.due());
        }
        if let Some(until) = self.waits_until {
            at = at.min(until);
        }
        (at < Instant::NEVER).then_some(at)
    }

    /// Whether what is due at `at` is the end of a job that is to be killed, as opposed to a release. Of both at once,
    /// the end comes first.
    pub(crate) fn kill_is_due(&self, at: Instant) -> bool {
        self.is_killed_at(at) && !self.left_to_core
    }

    /// The core that runs the job is to end it, or to look whether it is finished.
    pub(crate) fn leave_to_its_core(&mut self) {
        self.left_to_core = true;
    }

    /// The core that runs the job was entered. Whether a release had been left to it.
    pub(super) fn is_looked_at(&mut self) -> bool {
        // Nearly none is left to its core.
        let is = self.left_to_core && self.would_be_left_out();
        self.left_to_core &= !is;
        is
    }

    /// Whether the oldest unfinished job of a program on trial is not complete at its deadline.
    pub(super) fn misses_at(&self, at: Instant) -> bool {
        self.watched && self.pending > 0 && self.due() <= at
    }

    /// Whether the oldest unfinished job has taken longer than is assumed.
    pub(super) fn has_overrun(&self) -> bool {
        self.charged > self.wcet
    }

    /// When its next job is due; now, if it was removed some time ago.
    pub(super) fn next_due(&self, ago: bool, now: Instant) -> Instant {
        if self.removed && ago {
            now
        } else {
            self.next
        }
    }

    /// It releases its next job then, and goes on from there.
    pub(super) fn take_over(&mut self, next: Instant, watched: bool) {
        (self.until, self.next, self.watched) = (Instant::NEVER, next, watched);
    }

    /// Whether the job is to be killed and its time has come.
    pub(crate) fn is_killed_at(&self, at: Instant) -> bool {
        self.overrun == Overrun::Kill && self.pending > 0 && self.due() <= at
    }

    /// Whether a job that is released now is left out.
    pub(super) fn would_be_left_out(&self) -> bool {
        self.pending > 0 && self.overrun == Overrun::Skip
    }

    /// Makes the release due that comes next. `uncharged`: how long its job has been running, up to now, that is still to
    /// be charged, to what was left before.
    pub(crate) fn release(&mut self, uncharged: Duration, records: &mut Recorder) {
        if self.proxy {
            return self.wake();
        }
        let (number, boundary) = (self.released, self.next);
        self.released = number.wrapping_add(1);
        if self.arrivals.is_none() {
            self.next = self.after(boundary, self.released);
        }
        records.about(EventKind::Release, self.subject, number, boundary.as_nanos());
        if self.overrun == Overrun::Stop {
            self.left = self.wcet.checked_add(uncharged).unwrap_or(Duration::MAX);
            records.about(EventKind::Replenish, self.subject, self.job, self.wcet.as_nanos());
        }
        if self.would_be_left_out() {
            records.about(EventKind::Dropped, self.subject, number, Dropped::Skipped as u64);
            return self.take_arrival();
        }
        if self.pending == 0 {
            self.begin(number, boundary);
            self.pending = 1;
            return self.take_arrival();
        }
        self.pending = self.pending.saturating_add(1);
        self.await_arrival();
    }

    /// Something arrived at `at` that releases a job.
    pub(super) fn arrive(&mut self, at: Instant, records: &mut Recorder) {
        let Some(arrivals) = self.arrivals.as_mut().filter(|_| !self.removed) else { return };
        match arrivals.arrive(at) {
            Ok(early) => {
                if let Some(nominal) = early {
                    // It is the last, behind those that are released and wait for the oldest.
                    let before = arrivals.len().saturating_sub(self.pending.max(1) as usize);
                    let number = self.released.wrapping_add(before as u32);
                    records.about(EventKind::ArrivalEarly, self.subject, number, nominal.as_nanos());
                }
                self.await_arrival();
            }
            Err(lost) => records.about(EventKind::ArrivalLost, self.subject, self.released, lost as u64),
        }
    }

    /// Whether what arrives at `at` releases a job at that very time, which is then the task's only one, and takes no turns.
    #[inline(always)]
    pub(super) fn arrives_alone(&self, at: Instant) -> bool {
        self.arrives_shortly
            && self.pending == 0
            && self.arrivals.as_ref().is_some_and(|arrivals| arrivals.is_alone(at))
    }

    /// The same, where nothing but its end ends what the job is given, and its urgency is known beforehand or by its release.
    #[inline(always)]
    pub(super) fn arrives_first(&self, at: Instant) -> bool {
        self.arrives_first && self.pending == 0 && self.arrivals.as_ref().is_some_and(|arrivals| arrivals.is_alone(at))
    }

    /// The urgency of a job with this release, for one that [`arrives_first`](TaskState::arrives_first).
    #[inline(always)]
    pub(super) fn urgency_at_release(&self, release: Instant) -> u64 {
        let (own, mask) = self.urgency;
        own.saturating_add(release.as_nanos() & mask)
    }

    /// What [`arrives_alone`](TaskState::arrives_alone) has said of arrives: its job, which has the [next](TaskState::released) number, is
    /// released.
    #[inline(always)]
    pub(super) fn release_alone(&mut self, at: Instant, number: u32) {
        if let Some(arrivals) = &mut self.arrivals {
            arrivals.pass(at);
        }
        self.released = number.wrapping_add(1);
        // The rest has been so since the job before it ended.
        debug_assert!(self.charged.is_zero() && self.looked.is_zero() && self.slice.is_zero());
        debug_assert!(!self.left_to_core && (self.waited, self.waits_until) == (0, None));
        (self.job, self.release, self.pending) = (number, at, 1);
        debug_assert!(!self.arrives_first || self.urgency_at_release(at) == self.urgency());
    }

    /// The number of the next job that is released.
    #[inline(always)]
    pub(super) fn released(&self) -> u32 {
        self.released
    }

    /// Whether nothing ends the time of its running job, which keeps its place in its queue.
    #[inline(always)]
    pub(super) fn runs_on(&self) -> bool {
        self.runs_on
    }

    /// Whether the running job goes on after this time whatever it is charged, and keeps its place in its queue.
    pub(super) fn goes_on(&self, now: Instant, elapsed: Duration) -> bool {
        let free = match self.overrun {
            Overrun::Stop => self.left > elapsed,
            Overrun::Kill => self.due() > now,
            Overrun::Continue | Overrun::Skip => true,
        };
        free && !self.proxy && !self.order.takes_turns()
    }

    /// The arrival that waited first has its job, or none at all: it waits no longer.
    fn take_arrival(&mut self) {
        if let Some(arrivals) = &mut self.arrivals {
            arrivals.pop();
        }
        self.await_arrival();
    }

    /// The next release is that of the first arrival that has no job yet.
    fn await_arrival(&mut self) {
        if let Some(arrivals) = &self.arrivals {
            self.next = arrivals.get(self.pending.saturating_sub(1) as usize);
        }
    }

    /// The child scheduler has something to run.
    fn wake(&mut self) {
        let (number, at) = (self.released, core::mem::replace(&mut self.next, Instant::NEVER));
        if self.pending == 0 {
            self.released = number.wrapping_add(1);
            self.begin(number, at);
            self.pending = 1;
        }
    }

    /// The child scheduler has nothing to run before then. Its job is about to complete.
    pub(super) fn sleep_until(&mut self, until: Instant) {
        self.next = until;
    }

    #[inline]
    fn begin(&mut self, number: u32, release: Instant) {
        self.job = number;
        self.release = release;
        (self.charged, self.looked) = (Duration::ZERO, Duration::ZERO);
        self.slice = Duration::ZERO;
        self.left_to_core = false;
        (self.waited, self.waits_until) = (0, None);
    }

    /// The running job asks to wait until then, and may wait no longer than its task declares, and no more often; not at all while
    /// it `holds` a resource. Whether it waits.
    pub(super) fn wait(&mut self, (now, until): (Instant, Instant), holds: bool, records: &mut Recorder) -> bool {
        let may = self.waited < self.limit.most && !holds;
        let granted = if may { until.min(now.saturating_add(self.limit.longest)) } else { now };
        if granted < until {
            records.about(EventKind::WaitLimited, self.subject, self.job, until.as_nanos());
        }
        if granted <= now {
            return false;
        }
        self.waited += 1;
        self.waits_until = Some(granted);
        records.about(EventKind::Wait, self.subject, self.job, granted.as_nanos());
        true
    }

    /// The running job waits until an event lets it go on.
    pub(super) fn await_event(&mut self, records: &mut Recorder) {
        self.waits_until = Some(Instant::NEVER);
        records.about(EventKind::Wait, self.subject, self.job, Instant::NEVER.as_nanos());
    }

    /// Whether what is due at `at` is the end of a wait. Of several at once, the end of a job that is to be killed comes first.
    pub(super) fn wake_is_due(&self, at: Instant) -> bool {
        self.waits_until.is_some_and(|until| until <= at) && !self.kill_is_due(at)
    }

    /// Its job has waited.
    pub(super) fn wake_up(&mut self, records: &mut Recorder) {
        if let Some(until) = self.waits_until.take() {
            records.about(EventKind::Wake, self.subject, self.job, until.as_nanos());
        }
    }

    /// Ends the oldest unfinished job, however; the next one, if there is one, is the oldest now.
    fn end(&mut self) {
        self.pending = self.pending.saturating_sub(1);
        let release = match &mut self.arrivals {
            None => self.after(self.release, self.job.wrapping_add(1)),
            Some(_) if self.pending == 0 => Instant::NEVER,
            Some(arrivals) => arrivals.pop(),
        };
        self.begin(self.job.wrapping_add(1), release);
    }

    pub(crate) fn complete(&mut self, records: &mut Recorder) {
        records.about(EventKind::Complete, self.subject, self.job, self.charged.as_nanos());
        self.end();
    }

    pub(crate) fn kill(&mut self, records: &mut Recorder) {
        records.about(EventKind::Dropped, self.subject, self.job, Dropped::Killed as u64);
        self.end();
    }

    /// Says so if there is a job, and the period's budget is used up.
    pub(crate) fn exhaust(&mut self, records: &mut Recorder) {
        if self.pending > 0 && self.is_exhausted() {
            records.about(EventKind::Exhausted, self.subject, self.job, self.next.as_nanos());
        }
    }

    /// It begins, or begins again: its next job comes its offset after `now`.
    pub(super) fn begin_at(&mut self, now: Instant) {
        self.until = Instant::NEVER;
        self.next = now.saturating_add(self.offset);
    }

    /// Programs that come and go bring its values: nobody can tell releases from numbers.
    pub(super) fn set_in_slot(&mut self) {
        self.in_slot = true;
    }

    /// It releases a job then, and goes on from there.
    pub(super) fn begin_again(&mut self, first: Instant) {
        (self.until, self.next) = (Instant::NEVER, first);
    }

    /// All jobs that it released end here.
    pub(super) fn drop_all(&mut self, records: &mut Recorder) {
        records.about(EventKind::Dropped, self.subject, self.job, Dropped::Unloaded as u64);
        self.pending = 0;
        self.begin(self.released, Instant::NEVER);
    }

    /// It has all of these values from now on.
    pub(super) fn set_values(&mut self, values: Values) {
        (self.wcet, self.period, self.deadline) = (values.time, values.period, values.deadline);
        self.priority = values.priority;
    }

    /// Its parameters.
    pub(super) fn values(&self) -> Values {
        Values { time: self.wcet, period: self.period, deadline: self.deadline, priority: self.priority }
    }

    /// It has what is named from now on; the release that is due next stays.
    pub(super) fn alter(&mut self, named: &Alteration) {
        self.set_values(named.of(self.values()));
    }

    pub(crate) fn remove(&mut self, records: &mut Recorder) {
        records.about(EventKind::Removed, self.subject, self.job, 0);
        (self.removed, self.arrives_shortly, self.arrives_first) = (true, false, false);
        self.pending = 0;
    }
}
