//! What the report draws: a trace turned into stretches of execution, ghosts, scheduler turns and jobs.
//!
//! It only rearranges records and judges nothing. A record that does not fit (a completion on a core that ran
//! something else) is passed over: a report of a damaged trace must still open.

use std::collections::BTreeMap;
use tactus_record::{EventKind, Record};
use tactus_trace::{Trace, View};

/// Why a stretch of execution ended; the number is what the page reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum Ending {
    Preempted = 0,
    Completed = 1,
    Exhausted = 2,
    Removed = 3,
    RunEnded = 4,
}

/// A job on a core, or its ghost, from `start` to `end` (ns).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Stretch {
    pub start: u64,
    pub end: u64,
    pub task: u16,
    pub job: u32,
    pub ending: Ending,
}

/// One turn of the scheduler.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Turn {
    pub start: u64,
    pub end: u64,
    /// Number of the entry's reason.
    pub reason: u8,
    /// How long after the programmed expiry it came, for timer entries.
    pub late: Option<u64>,
}

/// One job of a task.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Job {
    pub release: u64,
    pub complete: Option<u64>,
    /// When it missed its deadline, or ended unfinished.
    pub missed: Option<u64>,
    /// When its bound ended while it was still there.
    pub outlived: Option<u64>,
}

/// What happened on one core, each list in order of time.
#[derive(Default, Debug)]
pub(crate) struct CoreHistory {
    pub runs: Vec<Stretch>,
    pub ghosts: Vec<Stretch>,
    pub turns: Vec<Turn>,
}

/// The whole run.
#[derive(Default, Debug)]
pub(crate) struct History {
    pub cores: Vec<CoreHistory>,
    /// By task, then by number of the job.
    pub jobs: Vec<BTreeMap<u32, Job>>,
    /// When the run ended (ns).
    pub end: u64,
}

/// Reads the trace against the view.
pub(crate) fn read(view: &View, trace: &Trace) -> History {
    let mut history = History {
        jobs: vec![BTreeMap::new(); view.tasks.len()],
        end: tactus_trace::run_end(trace).as_nanos(),
        ..History::default()
    };
    // Releases first: a job may complete on a core that is read before the one that released it.
    for record in trace.cores.iter().flatten().filter(|r| r.kind == EventKind::Release) {
        if let Some(jobs) = record.task.and_then(|t| history.jobs.get_mut(t.index())) {
            jobs.entry(record.job).or_insert(Job { release: record.arg, complete: None, missed: None, outlived: None });
        }
    }
    for late in tactus_trace::late_jobs(view, trace) {
        if let Some(job) = history.jobs.get_mut(late.task.index()).and_then(|jobs| jobs.get_mut(&late.job)) {
            job.missed = late.missed.map(|at| at.as_nanos());
            job.outlived = late.outlived.map(|at| at.as_nanos());
        }
    }
    for records in &trace.cores {
        let on_core = read_core(view, records, &mut history);
        history.cores.push(on_core);
    }
    history.cores.resize_with(history.cores.len().max(view.cores), CoreHistory::default);
    history
}

/// A stretch that has begun.
type Open = Option<(u16, u32, u64)>;

fn close(open: &mut Open, end: u64, ending: Ending, into: &mut Vec<Stretch>) {
    if let Some((task, job, start)) = open.take() {
        if end > start {
            into.push(Stretch { start, end, task, job, ending });
        }
    }
}

fn read_core(view: &View, records: &[Record], history: &mut History) -> CoreHistory {
    let mut out = CoreHistory::default();
    let (mut run, mut ghost): (Open, Open) = (None, None);
    let mut turn: Option<(u64, u8, Option<u64>)> = None;
    let mut last = 0;
    for record in records {
        // Times of one ring never go back; a damaged one is held at what came before.
        let time = record.time.as_nanos().max(last);
        last = time;
        let task = record.task.map(|t| t.0).filter(|t| usize::from(*t) < view.tasks.len());
        let runs_here = |open: &Open| task.is_some() && open.is_some_and(|(t, ..)| Some(t) == task);
        match (record.kind, task) {
            (EventKind::Dispatch, Some(t)) if run.is_none_or(|(other, job, _)| (other, job) != (t, record.job)) => {
                close(&mut run, time, Ending::Preempted, &mut out.runs);
                run = Some((t, record.job, time));
            }
            (EventKind::Preempt | EventKind::Wait, _) if runs_here(&run) => {
                close(&mut run, time, Ending::Preempted, &mut out.runs)
            }
            (EventKind::Exhausted, _) if runs_here(&run) => close(&mut run, time, Ending::Exhausted, &mut out.runs),
            (EventKind::Complete, Some(t)) => {
                let here = runs_here(&run);
                if here {
                    close(&mut run, time, Ending::Completed, &mut out.runs);
                }
                // A completion without a release in the trace says nothing about a response.
                if let Some(job) = history.jobs[usize::from(t)].get_mut(&record.job) {
                    job.complete.get_or_insert(time);
                }
            }
            (EventKind::Removed, _) if runs_here(&run) => close(&mut run, time, Ending::Removed, &mut out.runs),
            (EventKind::Idle, _) => close(&mut run, time, Ending::Preempted, &mut out.runs),
            (EventKind::GhostBegin, Some(t)) => {
                close(&mut ghost, time, Ending::Preempted, &mut out.ghosts);
                ghost = Some((t, record.job, time));
            }
            (EventKind::GhostEnd, _) if runs_here(&ghost) => {
                let ending = if record.arg == 0 { Ending::Exhausted } else { Ending::Preempted };
                close(&mut ghost, time, ending, &mut out.ghosts);
            }
            (EventKind::Enter, _) => {
                let late = (record.level == 1).then(|| time.saturating_sub(record.arg));
                turn = Some((time, record.level, late));
            }
            (EventKind::Leave, _) => {
                if let Some((start, reason, late)) = turn.take() {
                    out.turns.push(Turn { start, end: time, reason, late });
                }
            }
            (EventKind::End, _) => break,
            _ => {}
        }
    }
    close(&mut run, last, Ending::RunEnded, &mut out.runs);
    close(&mut ghost, last, Ending::RunEnded, &mut out.ghosts);
    out
}
