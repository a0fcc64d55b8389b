//! Traces of schedulers that each know a part of the system become one: that of the system.
//!
//! Each scheduler of a tree records what it decides on each core, and names a scheduler below by a number that no task has.
//! [`merge`] puts the records of a core in the order of their times, and says of jobs what schedulers said of each other: who
//! takes the core from a scheduler takes it from the job that runs there; who gives it back gives it to the job that the
//! scheduler then goes on with. A release that was noticed when the scheduler had the core again stands at that time, with its
//! nominal time beside it.

use crate::Trace;
use tactus_record::{EventKind, Record};
use tactus_time::TaskId;

/// The trace of the whole system, from those of its schedulers, the root's first. `tasks`: how many it has; numbers from
/// there on stand for schedulers.
pub fn merge(parts: &[Trace], tasks: usize) -> Trace {
    let cores = parts.first().map_or(0, |part| part.cores.len());
    let mut whole = Trace::default();
    for core in 0..cores {
        let lists: Vec<&[Record]> = parts.iter().map(|part| &*part.cores[core]).collect();
        whole.cores.push(Core { tasks, running: None, out: Vec::new() }.merge(&lists));
        whole.dropped.push(parts.iter().map(|part| part.dropped[core]).sum());
    }
    whole
}

/// One core.
struct Core {
    tasks: usize,
    /// The job that has the core.
    running: Option<(TaskId, u32, u8)>,
    out: Vec<Record>,
}

impl Core {
    fn merge(mut self, lists: &[&[Record]]) -> Vec<Record> {
        let mut at = vec![0; lists.len()];
        // Who is in the middle of a decision, and how many of its records are held back until it ends or is interrupted.
        let mut open: Option<usize> = None;
        loop {
            let next = |scheduler: &usize| {
                lists[*scheduler].get(at[*scheduler]).map(|record| (record.time, Some(*scheduler) != open, *scheduler))
            };
            let Some((_, _, scheduler)) = (0..lists.len()).filter_map(|scheduler| next(&scheduler)).min() else {
                return self.out;
            };
            let record = lists[scheduler][at[scheduler]];
            at[scheduler] += 1;
            match record.kind {
                EventKind::Enter => {
                    if open.is_some_and(|open| open != scheduler) {
                        self.interrupted(record);
                    }
                    open = Some(scheduler);
                }
                EventKind::Leave if open == Some(scheduler) => open = None,
                // The end of a decision that was interrupted, which has been told.
                EventKind::Leave => continue,
                _ => {}
            }
            self.take(scheduler, record);
        }
    }

    fn is_job(&self, record: &Record) -> bool {
        record.task.is_some_and(|task| task.index() < self.tasks)
    }

    /// A decision ends where it was interrupted by a scheduler above.
    fn interrupted(&mut self, by: Record) {
        let (task, job) = self.running.map_or((None, 0), |(task, job, _)| (Some(task), job));
        self.out.push(Record { task, job, kind: EventKind::Leave, level: by.level, arg: u64::MAX, ticket: 0, ..by });
    }

    fn take(&mut self, scheduler: usize, record: Record) {
        let job = self.is_job(&record);
        let this = record.task.map(|task| (task, record.job, record.level));
        match record.kind {
            EventKind::Preempt if job => {
                if self.runs(&record) {
                    self.stop(record);
                }
            }
            // Taken from a scheduler below.
            EventKind::Preempt => self.stop(record),
            EventKind::Dispatch if job => self.start(record, this),
            EventKind::Complete if job => {
                self.start(record, this);
                self.running = None;
                self.out.push(record);
            }
            // Killed, or taken out of the system with its component; or it waits.
            EventKind::Dropped | EventKind::Removed | EventKind::Wait if job && self.runs(&record) => {
                self.running = None;
                self.out.push(record);
            }
            EventKind::Idle if scheduler == 0 => {
                self.stop(record);
                self.out.push(record);
            }
            EventKind::Idle => {}
            EventKind::Enter | EventKind::Leave => self.bracket(record),
            // What schedulers tell each other.
            EventKind::Input => {}
            _ if record.task.is_some() && !job => {}
            _ => self.out.push(record),
        }
    }

    /// Whether the record's job has the core.
    fn runs(&self, record: &Record) -> bool {
        self.running.is_some_and(|(task, job, _)| (Some(task), job) == (record.task, record.job))
    }

    /// Whoever runs does not any more.
    fn stop(&mut self, at: Record) {
        if let Some((task, job, level)) = self.running.take() {
            self.out.push(Record { task: Some(task), job, level, kind: EventKind::Preempt, arg: 0, ..at });
        }
    }

    /// The job runs, if it did not before.
    fn start(&mut self, at: Record, job: Option<(TaskId, u32, u8)>) {
        if !self.runs(&at) {
            self.stop(at);
            self.running = job;
            self.out.push(Record { kind: EventKind::Dispatch, arg: 0, ..at });
        }
    }

    /// Beginning or end of a decision.
    fn bracket(&mut self, record: Record) {
        if record.kind == EventKind::Leave && record.task.is_none() {
            // Whoever had the core has given it back.
            self.stop(Record { level: 0, ticket: 0, ..record });
        }
        if record.kind == EventKind::Leave && self.is_job(&record) && !self.runs(&record) {
            // The scheduler goes on with the job that it had before it lost the core: since it began this decision.
            let began = self.out.iter().rev().find(|it| it.kind == EventKind::Enter).map_or(record.time, |it| it.time);
            let at = Record { time: began, level: 0, ticket: 0, ..record };
            self.start(at, record.task.map(|task| (task, record.job, 0)));
        }
        let running = self.running.map(|(task, job, _)| (task, job));
        let (task, job) = match record.task {
            Some(_) if self.is_job(&record) => (record.task, record.job),
            Some(_) => (running.map(|it| it.0), running.map_or(0, |it| it.1)),
            None => (None, record.job),
        };
        let job = if record.kind == EventKind::Enter { 0 } else { job };
        self.out.push(Record { task, job, ..record });
    }
}
