//! From records to stretches of time: what each core did, and when.

use crate::view::{Trace, View};
use tactus_record::{EventKind, Record};
use tactus_time::{CoreId, Instant, Level, TaskId};

/// A stretch of time on one core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Segment {
    /// Where.
    pub core: CoreId,
    /// Whose; nothing for the scheduler and for idle time.
    pub task: Option<TaskId>,
    /// Which job, where there is a task.
    pub job: u32,
    /// First instant.
    pub start: Instant,
    /// First instant after it.
    pub end: Instant,
    /// What the core did. Ghosts lie beside the other kinds; the others never overlap on one core.
    pub kind: SegmentKind,
}

/// What a core did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SegmentKind {
    /// It ran the job.
    Run,
    /// A finished job used up its left-over budget while something else ran.
    Ghost,
    /// It was in the scheduler, from `Enter` to `Leave`.
    Scheduler,
    /// It had nothing to run.
    Idle,
}

/// The end of the run: the latest `End`, or the latest record where no core says that it ended.
pub fn run_end(trace: &Trace) -> Instant {
    let ends = trace.cores.iter().filter_map(|r| r.iter().rev().find(|r| r.kind == EventKind::End));
    let last = trace.cores.iter().filter_map(|r| r.last());
    ends.map(|r| r.time).max().or_else(|| last.map(|r| r.time).max()).unwrap_or(Instant::ZERO)
}

/// What every core did, core after core, by time; a core's ghosts lie among its other segments by their start. None is empty.
///
/// Neighbouring segments of the same job are kept apart only by a stretch of the scheduler between them.
pub fn schedule(trace: &Trace) -> Vec<Segment> {
    schedule_with(trace, Boundary::Leave)
}

/// Where one segment ends and the next begins.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Boundary {
    /// At `Enter` and at `Leave`, with the scheduler's time between them.
    Leave,
    /// At the time of the decision, which is that of `Enter`: as time is charged.
    Decision,
}

pub(crate) fn schedule_with(trace: &Trace, boundary: Boundary) -> Vec<Segment> {
    let end = run_end(trace);
    let mut segments = Vec::new();
    for (core, records) in trace.cores.iter().enumerate() {
        let first = segments.len();
        let mut line = Line {
            core: CoreId(core as u8),
            boundary,
            out: &mut segments,
            state: None,
            entered: None,
            ghosts: Vec::new(),
            past_ghosts: Vec::new(),
            first,
        };
        for record in records {
            line.step(record);
        }
        let ghosts = line.finish(end);
        segments.extend(ghosts);
        segments[first..].sort_by_key(|s| s.start);
    }
    segments
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Doing {
    Job(TaskId, u32),
    Nothing,
    Scheduling,
}

/// One core's time line while it is drawn.
struct Line<'a> {
    core: CoreId,
    boundary: Boundary,
    out: &'a mut Vec<Segment>,
    /// What the core does and since when; nothing before its first record.
    state: Option<(Doing, Instant)>,
    /// When the scheduler was entered, while it is.
    entered: Option<Instant>,
    ghosts: Vec<(TaskId, u32, Instant)>,
    past_ghosts: Vec<Segment>,
    /// Where this core's segments begin in `out`.
    first: usize,
}

impl Line<'_> {
    fn step(&mut self, r: &Record) {
        let inside = self.entered.is_some();
        match (r.kind, r.task) {
            (EventKind::Enter, _) => {
                self.entered = Some(r.time);
                if self.boundary == Boundary::Leave {
                    self.turn_to(Doing::Scheduling, r.time);
                }
            }
            (EventKind::Leave, task) => {
                let entered = self.entered.take().filter(|_| self.boundary == Boundary::Decision);
                self.turn_to(task.map_or(Doing::Nothing, |t| Doing::Job(t, r.job)), entered.unwrap_or(r.time));
            }
            // Within a call only `Leave` says what comes of it; outside of one, these do.
            (EventKind::Dispatch, Some(task)) if !inside => self.turn_to(Doing::Job(task, r.job), r.time),
            (EventKind::Idle, _) if !inside => self.turn_to(Doing::Nothing, r.time),
            (
                EventKind::Preempt
                | EventKind::Wait
                | EventKind::Complete
                | EventKind::Exhausted
                | EventKind::Removed
                | EventKind::Untold
                | EventKind::Dropped,
                Some(task),
            ) if !inside => {
                if matches!(self.state, Some((Doing::Job(t, j), _)) if t == task && (r.kind != EventKind::Dropped || j == r.job))
                {
                    self.turn_to(Doing::Nothing, r.time);
                }
            }
            (EventKind::GhostBegin, Some(task)) if !self.ghosts.iter().any(|g| (g.0, g.1) == (task, r.job)) => {
                self.ghosts.push((task, r.job, r.time));
            }
            (EventKind::GhostEnd, Some(task)) => {
                if let Some(i) = self.ghosts.iter().position(|g| (g.0, g.1) == (task, r.job)) {
                    let (task, job, start) = self.ghosts.remove(i);
                    self.push(Some(task), job, start, r.time, SegmentKind::Ghost);
                }
            }
            (EventKind::End, _) => self.stop(r.time),
            _ => {}
        }
    }

    fn turn_to(&mut self, doing: Doing, now: Instant) {
        if let Some((before, _)) = self.state {
            if before == doing {
                return;
            }
        }
        self.stop(now);
        self.state = Some((doing, now));
    }

    fn stop(&mut self, now: Instant) {
        let Some((doing, since)) = self.state.take() else { return };
        match doing {
            Doing::Job(task, job) => self.push(Some(task), job, since, now, SegmentKind::Run),
            Doing::Nothing => self.push(None, 0, since, now, SegmentKind::Idle),
            Doing::Scheduling => self.push(None, 0, since, now, SegmentKind::Scheduler),
        }
    }

    fn finish(mut self, end: Instant) -> Vec<Segment> {
        self.stop(end);
        for (task, job, start) in std::mem::take(&mut self.ghosts) {
            self.push(Some(task), job, start, end, SegmentKind::Ghost);
        }
        self.past_ghosts
    }

    fn push(&mut self, task: Option<TaskId>, job: u32, start: Instant, end: Instant, kind: SegmentKind) {
        if start >= end {
            return;
        }
        let list = if kind == SegmentKind::Ghost { &mut self.past_ghosts } else { &mut *self.out };
        // A change and its undoing at one instant leave two halves of one stretch. Ends never go back.
        let touching = list[if kind == SegmentKind::Ghost { 0 } else { self.first }..].iter_mut().rev();
        for last in touching.take_while(|s| s.end >= start) {
            if (last.kind, last.task, last.job, last.end) == (kind, task, job, start) {
                last.end = end;
                return;
            }
        }
        list.push(Segment { core: self.core, task, job, start, end, kind });
    }
}

/// Until when releases of levels below A were noticed where a task of this core belongs: until the end, but where the run
/// ended in a job of level A, which such releases do not interrupt. Only a core that serves others notices them all.
pub(crate) fn last_look(view: &View, trace: &Trace, core: Option<CoreId>) -> Instant {
    let alone = view.cores == 1 || core.is_some_and(|core| core.index() > 0);
    let records = trace.cores.get(core.unwrap_or_default().index()).map_or(&[][..], |records| records);
    let given =
        records.iter().rev().find(|r| matches!(r.kind, EventKind::Dispatch | EventKind::Idle | EventKind::Complete));
    match given {
        Some(r) if alone && r.kind == EventKind::Dispatch && r.criticality() == Some(Level::A) => r.time,
        _ => run_end(trace),
    }
}
