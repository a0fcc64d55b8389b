//! The jobs of one thread: what it did, told apart by its periods and by what it said itself.
//!
//! A thread that sleeps until its next period shows where each job ends. One that is still at work then does not sleep, and its switches
//! do not tell one job from the next: unless it writes a marker where each begins, what became of those jobs is untold
//! ([`RecordKind::Untold`]). A sleep that ends elsewhere than at the beginning of a period is a wait within a job.

use crate::phase::{self, Grid};
use crate::recording::PrevState;
use tactus_record::{EventKind as RecordKind, Untold};
use tactus_time::{Duration, Instant, TaskId};

/// One step of a thread.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    /// The place of the event in the trace.
    pub(crate) order: usize,
    pub(crate) time: Instant,
    pub(crate) cpu: u16,
    pub(crate) kind: StepKind,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum StepKind {
    Woken,
    /// It has the core.
    On,
    Off(PrevState),
    /// It says that a job begins.
    Begin,
    /// It says that no more jobs come.
    End,
    /// Events are missing.
    Lost,
}

/// A record that is to be made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Entry {
    /// The place in the trace of the event that it is of.
    pub(crate) order: usize,
    pub(crate) time: Instant,
    pub(crate) cpu: u16,
    pub(crate) kind: RecordKind,
    pub(crate) task: TaskId,
    pub(crate) job: u32,
    pub(crate) arg: u64,
    /// Whether it is of whom the event gives the core, as opposed to whom it takes it from.
    pub(crate) begins: bool,
}

/// What a thread's steps come to.
pub(crate) struct Life {
    pub(crate) entries: Vec<Entry>,
    /// The beginning of the period of job 0; nothing if there is none.
    pub(crate) first: Option<Instant>,
    /// How often a job waited for something else than its next period, and how long in all.
    pub(crate) waits: (u64, Duration),
    /// Whether it ended in a job, which is left out.
    pub(crate) ended: bool,
}

/// Tells the jobs of a thread apart. `end` is the last instant of the trace.
pub(crate) fn of(task: TaskId, grid: Grid, steps: &[Step], end: Instant) -> Life {
    let (mut life, early) = walk(task, grid, steps, end);
    if early.is_zero() {
        return doubted(life);
    }
    // A thread that goes on to its next job without sleep has seen its next period begin, earlier than its wake-ups show.
    let (again, still) = walk(task, grid.earlier(early), steps, end);
    let of = |life: &Life, kind| life.entries.iter().filter(|entry| entry.kind == kind).count();
    let all_told = still.is_zero()
        && of(&again, RecordKind::Untold) == 0
        && of(&again, RecordKind::Release) >= of(&life, RecordKind::Release);
    if early <= phase::latest_wakeup(grid.period) || all_told {
        return doubted(again);
    }
    leave_releases(&mut life, Untold::Shifted);
    life
}

/// A thread that began jobs elsewhere than with its periods may have others than were found: when any job of it was due, nobody knows.
fn doubted(mut life: Life) -> Life {
    let shifted = |entry: &Entry| entry.kind == RecordKind::Untold && entry.arg == Untold::Shifted as u64;
    if life.entries.iter().any(shifted) {
        leave_releases(&mut life, Untold::Shifted);
    }
    life
}

/// Leaves nothing of the jobs but their releases, since for this reason nobody can tell when they ended.
pub(crate) fn leave_releases(life: &mut Life, why: Untold) {
    let releases = std::mem::take(&mut life.entries).into_iter().filter(|entry| entry.kind == RecordKind::Release);
    let untold = |release: Entry| [release, Entry { kind: RecordKind::Untold, arg: why as u64, ..release }];
    life.entries = releases.flat_map(untold).collect();
    (life.waits, life.ended) = ((0, Duration::ZERO), false);
}

/// What the steps come to, and by how much jobs began before their periods, the most.
fn walk(task: TaskId, grid: Grid, steps: &[Step], end: Instant) -> (Life, Duration) {
    let marked = steps.iter().any(|step| step.kind == StepKind::Begin);
    let life = Life { entries: Vec::new(), first: None, waits: (0, Duration::ZERO), ended: false };
    let mut walk = Walk {
        task,
        grid,
        marked,
        life,
        base: 0,
        next: None,
        now: Now::Unknown,
        cpu: 0,
        job: None,
        why: None,
        early: Duration::ZERO,
        ran: None,
        set_up: None,
        over: false,
    };
    for step in steps {
        walk.step(*step);
    }
    walk.end(steps.last().copied(), end);
    (walk.life, walk.early)
}

#[derive(Clone, Copy, PartialEq)]
enum Now {
    Unknown,
    Asleep,
    Ready,
    Running(Instant),
}

/// The job that a thread is in.
struct Open {
    index: u64,
    /// Where its entries begin.
    from: usize,
    /// Whether its marker was seen.
    begun: bool,
    /// Whether it slept, and seemed to go on afterwards.
    waited: bool,
    charged: Duration,
    /// The sleep that may be its end.
    slept: Option<Slept>,
    /// Where the thread writes markers: its last sleep, until it is known whether that was the end of the job.
    woken: Option<Woken>,
}

/// A sleep that is over, of a thread that will say whether another job begins.
#[derive(Clone, Copy)]
struct Woken {
    slept: Slept,
    by: Step,
    /// What the job had been charged then.
    charged: Duration,
}

/// How much a thread does at most between the wake-up for a job and the marker of it.
const BEFORE_MARKER: Duration = Duration::from_micros(200);

#[derive(Clone, Copy)]
struct Slept {
    /// Its entry.
    entry: usize,
    time: Instant,
    blocked: bool,
}

struct Walk {
    task: TaskId,
    grid: Grid,
    marked: bool,
    life: Life,
    /// The period of job 0.
    base: u64,
    /// The first period that no job was written of; nothing before the first job.
    next: Option<u64>,
    now: Now,
    /// The core that it had last.
    cpu: u16,
    job: Option<Open>,
    /// Why nothing is known of the jobs from `next` on, if more than that they did not come.
    why: Option<Untold>,
    /// By how much jobs began before their periods, without a sleep, the most.
    early: Duration,
    /// When it last got a core.
    ran: Option<Instant>,
    /// The period that seems to be the first, in which the thread is set up.
    set_up: Option<u64>,
    /// It said that no more jobs come.
    over: bool,
}

impl Walk {
    fn step(&mut self, step: Step) {
        if self.over {
            return;
        }
        match step.kind {
            StepKind::Woken => self.woken(step),
            StepKind::On => {
                if matches!(self.now, Now::Unknown | Now::Asleep) {
                    self.woken(step);
                }
                self.ran = Some(step.time);
                (self.now, self.cpu) = (Now::Running(step.time), step.cpu);
                if let Some(index) = self.job.as_ref().map(|job| job.index) {
                    self.write(step, RecordKind::Dispatch, index, 0);
                }
            }
            StepKind::Off(state) => self.off(step, state),
            StepKind::Begin => self.begins(step),
            StepKind::End => self.said_end(step),
            StepKind::Lost => {
                if let Some(job) = self.job.take() {
                    self.untold(Step { cpu: self.cpu, ..step }, job.index, job.index, Untold::Lost);
                }
                (self.now, self.why) = (Now::Unknown, Some(Untold::Lost));
            }
        }
    }

    fn write(&mut self, step: Step, kind: RecordKind, index: u64, arg: u64) {
        let Step { order, time, cpu, .. } = step;
        let (task, job, begins) = (self.task, index.saturating_sub(self.base) as u32, step.kind == StepKind::On);
        self.life.entries.push(Entry { order, time, cpu, kind, task, job, arg, begins });
    }

    fn woken(&mut self, step: Step) {
        if matches!(self.now, Now::Ready | Now::Running(_)) {
            return;
        }
        self.now = Now::Ready;
        let released = self.grid.released(step.time);
        if let Some(job) = &mut self.job {
            let Some(slept) = job.slept else { return };
            if self.marked && !slept.blocked {
                // What it does next tells.
                (job.slept, job.woken) = (None, Some(Woken { slept, by: step, charged: job.charged }));
                return;
            }
            let last = self.grid.index(slept.time).unwrap_or(job.index);
            // A late thread sleeps for a moment only, and goes on with the job that is due.
            let moment = step.time.since(slept.time) <= phase::latest_wakeup(self.grid.period);
            let on = slept.blocked || (moment && last > job.index);
            if on || released.is_none_or(|index| index <= last.max(job.index)) {
                job.slept = None;
                self.waited(step.time.since(slept.time));
                return;
            }
            self.ended_by_sleep();
        }
        let released = released.filter(|index| !self.sets_up(*index, step.time));
        if let Some(index) = released.filter(|index| self.next.is_none_or(|next| *index >= next)) {
            self.release(step, index);
        }
    }

    /// Whether a thread without markers, which was at work just before, still sets itself up: what it does then is not its first job alone.
    fn sets_up(&mut self, index: u64, time: Instant) -> bool {
        if self.marked || self.next.is_some() {
            return false;
        }
        let busy = self.ran.is_some_and(|ran| time.since(ran) < self.grid.period);
        if busy && self.set_up.is_none() {
            self.set_up = Some(index);
        }
        self.set_up == Some(index)
    }

    fn waited(&mut self, length: Duration) {
        if let Some(job) = &mut self.job {
            job.waited = true;
        }
        let (times, long) = &mut self.life.waits;
        (*times, *long) = (*times + 1, long.checked_add(length).unwrap_or(Duration::MAX));
    }

    /// A job begins with this period. Those between it and the one before were never begun.
    fn release(&mut self, step: Step, index: u64) {
        match self.next {
            None => {
                self.base = index;
                self.life.first = Some(self.grid.begin(index));
            }
            Some(next) if next < index => self.missing(step, next, index - 1),
            Some(_) => {}
        }
        self.why = None;
        self.next = Some(index + 1);
        let from = self.life.entries.len();
        self.write(step, RecordKind::Release, index, self.grid.begin(index).as_nanos());
        self.job =
            Some(Open { index, from, begun: false, waited: false, charged: Duration::ZERO, slept: None, woken: None });
    }

    fn off(&mut self, step: Step, state: PrevState) {
        let before = self.now;
        self.now = if state == PrevState::Runnable { Now::Ready } else { Now::Asleep };
        if self.marked && state != PrevState::Runnable && self.job.as_ref().is_some_and(|job| !job.begun) {
            self.was_none();
        }
        if let (Now::Running(since), Some(job)) = (before, &mut self.job) {
            job.charged = job.charged.checked_add(step.time.since(since)).unwrap_or(Duration::MAX);
            let index = job.index;
            if state != PrevState::Runnable {
                let (entry, time) = (self.life.entries.len(), step.time);
                let before = job.woken.take();
                job.slept = Some(Slept { entry, time, blocked: state == PrevState::Blocked });
                if let Some(Woken { slept, by, .. }) = before {
                    // It slept again without another job: it had waited.
                    self.waited(by.time.since(slept.time));
                }
            }
            self.write(step, RecordKind::Preempt, index, 0);
        }
        if let Some(next) = self.next.filter(|_| state == PrevState::Dead) {
            // What a thread does to end is of no job: where it had slept before, nobody knows whether its last job had ended then.
            let within = |job: &&Open| job.waited && self.grid.index(step.time) == Some(job.index);
            if let Some((from, index)) = self.job.as_ref().filter(within).map(|job| (job.from, job.index)) {
                self.life.entries.truncate(from);
                self.job = None;
                if index == self.base {
                    (self.next, self.life.first) = (None, None);
                    return;
                }
                self.life.ended = true;
                return self.write(step, RecordKind::Removed, index - 1, 0);
            }
            self.write(step, RecordKind::Removed, next - 1, 0);
        }
    }

    /// It was not woken for a job, since it sleeps again and no marker came: it had waited in one that the trace does not tell of.
    fn was_none(&mut self) {
        let Some(job) = self.job.take() else { return };
        self.life.entries.truncate(job.from);
        self.next = Some(job.index).filter(|index| *index > self.base);
        if self.next.is_none() {
            self.life.first = None;
        }
    }

    /// The job that is open ended when its thread went to sleep: that job, or several that nobody can tell apart.
    fn ended_by_sleep(&mut self) {
        let Some(job) = self.job.take() else { return };
        let Some(Slept { entry, time, .. }) = job.slept else { return };
        let last = self.grid.index(time).unwrap_or(job.index);
        if self.marked || last <= job.index {
            let ended = &mut self.life.entries[entry];
            (ended.kind, ended.arg) = (RecordKind::Complete, job.charged.as_nanos());
            return;
        }
        let ended = &mut self.life.entries[entry];
        (ended.kind, ended.arg) = (RecordKind::Untold, Untold::NoSleep as u64);
        let Entry { order, cpu, .. } = *ended;
        self.missing_because(Step { order, time, cpu, kind: StepKind::Woken }, job.index + 1, last, Untold::NoSleep);
        self.next = Some(last + 1);
    }

    fn missing(&mut self, step: Step, from: u64, to: u64) {
        self.missing_because(step, from, to, self.why.unwrap_or(Untold::NotWoken));
    }

    fn missing_because(&mut self, step: Step, from: u64, to: u64, why: Untold) {
        for index in from..=to {
            self.write(step, RecordKind::Release, index, self.grid.begin(index).as_nanos());
            self.untold(step, index, index, why);
        }
    }

    fn untold(&mut self, step: Step, from: u64, to: u64, why: Untold) {
        (from..=to).for_each(|index| self.write(step, RecordKind::Untold, index, why as u64));
    }

    /// The thread says that a job begins: the one that it was just woken for, or, if that had begun, the next.
    fn begins(&mut self, step: Step) {
        let Now::Running(since) = self.now else { return };
        let Some(job) = &mut self.job else { return };
        if !job.begun {
            let done = job.charged.checked_add(step.time.since(since)).unwrap_or(Duration::MAX);
            job.begun = true;
            if done > BEFORE_MARKER {
                // What it did until now was of a job that the trace does not tell of, and when this one was to begin is not known.
                self.was_none();
            }
            return;
        }
        let index = job.index;
        let charged = job.charged.checked_add(step.time.since(since)).unwrap_or(Duration::MAX);
        let woken = job.woken.filter(|woken| charged.saturating_sub(woken.charged) <= BEFORE_MARKER);
        if let Some(Woken { slept, by, charged }) = woken {
            return self.begins_after_sleep(slept, by, charged);
        }
        // It went on without sleep.
        self.write(step, RecordKind::Complete, index, charged.as_nanos());
        let next = self.grid.begin(index + 1);
        if step.time < next {
            self.early = self.early.max(next.since(step.time));
            return self.shifted();
        }
        self.release(step, index + 1);
        self.write(step, RecordKind::Dispatch, index + 1, 0);
        self.now = Now::Running(step.time);
        self.begun();
    }

    /// The thread says that no more jobs come: its job ended where it slept last, or here.
    fn said_end(&mut self, step: Step) {
        self.over = true;
        let (Some(next), Now::Running(since)) = (self.next, self.now) else { return };
        let due = self.grid.index(step.time).unwrap_or(0);
        if self.job.is_none() && due > next {
            self.missing(step, next, due - 1);
        }
        if let Some(job) = self.job.take() {
            match (job.woken, job.begun || !self.marked) {
                (Some(Woken { slept, charged, .. }), true) => {
                    self.life.entries.truncate(slept.entry + 1);
                    let ended = &mut self.life.entries[slept.entry];
                    (ended.kind, ended.arg) = (RecordKind::Complete, charged.as_nanos());
                }
                (None, true) => {
                    let charged = job.charged.checked_add(step.time.since(since)).unwrap_or(Duration::MAX);
                    self.write(step, RecordKind::Complete, job.index, charged.as_nanos());
                }
                // It was woken for this alone.
                (_, false) => self.life.entries.truncate(job.from),
            }
        }
        let last = self.life.entries.iter().rev().find(|entry| entry.kind == RecordKind::Release);
        let last = last.map_or(next.saturating_sub(1), |entry| u64::from(entry.job) + self.base);
        self.write(step, RecordKind::Removed, last, 0);
    }

    /// The job before ended with this sleep, and what was written since is of the job that begins.
    fn begins_after_sleep(&mut self, slept: Slept, by: Step, charged: Duration) {
        let since = self.life.entries.split_off(slept.entry + 1);
        let ended = &mut self.life.entries[slept.entry];
        (ended.kind, ended.arg) = (RecordKind::Complete, charged.as_nanos());
        let before = self.job.take().map_or(Duration::ZERO, |job| job.charged.saturating_sub(charged));
        // Linux lets a thread sleep for a moment where the time that it wants to sleep until is over: its next job begins late.
        let moment = by.time.since(slept.time) <= phase::latest_wakeup(self.grid.period);
        let late = self.next.filter(|next| moment && self.grid.begin(*next) <= by.time);
        let released = self.grid.released(by.time).filter(|index| self.next.is_none_or(|next| *index >= next));
        let Some(index) = late.or(released) else { return self.shifted() };
        self.release(by, index);
        let number = index.saturating_sub(self.base) as u32;
        self.life.entries.extend(since.into_iter().map(|entry| Entry { job: number, ..entry }));
        if let Some(job) = &mut self.job {
            (job.charged, job.begun) = (before, true);
        }
    }

    /// Its jobs no longer begin with its periods: what it does until they do again is of none.
    fn shifted(&mut self) {
        (self.job, self.why) = (None, Some(Untold::Shifted));
    }

    fn begun(&mut self) {
        if let Some(job) = &mut self.job {
            job.begun = true;
        }
    }

    /// The trace ends. A job that sleeps may be done or wait: nothing is said of it, unless its next period has begun without it.
    fn end(&mut self, last: Option<Step>, end: Instant) {
        let (Some(next), Some(last)) = (self.next, last) else { return };
        let asleep = self.job.as_ref().and_then(|job| Some((job.from, job.index, job.slept?.time)));
        if let Some((from, index, slept)) = asleep {
            let last = self.grid.index(slept).unwrap_or(index);
            if last == index && self.grid.begin(last + 1) > end {
                self.life.entries.truncate(from);
                return;
            }
            self.ended_by_sleep();
        }
        let next = self.next.unwrap_or(next);
        if self.job.is_some() || self.life.entries.last().is_some_and(|entry| entry.kind == RecordKind::Removed) {
            return;
        }
        let until = self.grid.index(end).unwrap_or(0);
        if until > next {
            self.missing(Step { time: end, order: usize::MAX, ..last }, next, until - 1);
        }
    }
}
