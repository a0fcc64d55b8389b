//! Traces of schedulers of their own become one: that of the system.
//!
//! Each scheduler of a tree records what it decides on each core, and names a scheduler below by a number that no task has.
//! [`merge`] puts the records of a core in the order of their times, and says of jobs what schedulers said of each other: who
//! takes the core from a scheduler takes it from the job that runs there; who gives it back gives it to the job that the
//! scheduler then goes on with. A release that was noticed when the scheduler had the core again stands at that time, with its
//! nominal time beside it.

use crate::Trace;
use tactus_record::{Kind, Record};
use tactus_time::{CoreId, TaskId};

/// The trace of the whole system, from those of its schedulers, the root's first. `tasks`: how many it has; numbers from
/// there on stand for schedulers.
pub fn merge(parts: &[Trace], tasks: usize) -> Trace {
    let cores = parts.first().map_or(0, |part| part.cores.len());
    let mut whole = Trace::default();
    let parts: Vec<Trace> = parts.iter().map(at_home).collect();
    for core in 0..cores {
        let lists: Vec<&[Record]> = parts.iter().map(|part| &*part.cores[core]).collect();
        whole.cores.push(Core { tasks, running: None, out: Vec::new() }.merge(&lists));
        whole.dropped.push(parts.iter().map(|part| part.dropped[core]).sum());
    }
    whole
}

/// The trace of one scheduler, with what a core told of another one, whose number and one more is the ticket, told by that one.
fn at_home(part: &Trace) -> Trace {
    let mut part = part.clone();
    let mut moved = Vec::new();
    for (core, records) in part.cores.iter_mut().enumerate() {
        records.retain(|record| {
            let of = (record.ticket as usize).wrapping_sub(1);
            let elsewhere =
                matches!(record.kind, Kind::Preempt | Kind::Complete | Kind::Exhausted | Kind::Dropped) && of != core;
            let moves = elsewhere && record.ticket != 0;
            if moves {
                moved.push((of, *record));
            }
            !moves
        });
    }
    for (of, record) in moved {
        let Some(records) = part.cores.get_mut(of) else { continue };
        let place = records.partition_point(|it| it.time <= record.time);
        records.insert(place, Record { core: CoreId(of as u8), ticket: 0, ..record });
    }
    part
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
            let next =
                |tier: &usize| lists[*tier].get(at[*tier]).map(|record| (record.time, Some(*tier) != open, *tier));
            let Some((_, _, tier)) = (0..lists.len()).filter_map(|tier| next(&tier)).min() else { return self.out };
            let record = lists[tier][at[tier]];
            at[tier] += 1;
            match record.kind {
                Kind::Enter => {
                    if open.is_some_and(|open| open != tier) {
                        self.interrupted(record);
                    }
                    open = Some(tier);
                }
                Kind::Leave if open == Some(tier) => open = None,
                // The end of a decision that was interrupted, which has been told.
                Kind::Leave => continue,
                _ => {}
            }
            self.take(tier, record);
        }
    }

    fn is_job(&self, record: &Record) -> bool {
        record.task.is_some_and(|task| task.index() < self.tasks)
    }

    /// A decision ends where it was interrupted by a scheduler above.
    fn interrupted(&mut self, by: Record) {
        let (task, job) = self.running.map_or((None, 0), |(task, job, _)| (Some(task), job));
        self.out.push(Record { task, job, kind: Kind::Leave, level: by.level, arg: u64::MAX, ticket: 0, ..by });
    }

    fn take(&mut self, tier: usize, record: Record) {
        let job = self.is_job(&record);
        let this = record.task.map(|task| (task, record.job, record.level));
        match record.kind {
            Kind::Preempt if job => {
                if self.runs(&record) {
                    self.stop(record);
                }
            }
            // Taken from a scheduler below.
            Kind::Preempt => self.stop(record),
            Kind::Dispatch if job => self.start(record, this),
            Kind::Complete if job => {
                self.start(record, this);
                self.running = None;
                self.out.push(record);
            }
            // It had the core for so short a time that this was not told: its scheduler gave that back at once.
            Kind::Exhausted if job && self.running.is_none() && !self.just_stopped(&record) => {
                self.start(record, this);
                self.out.push(record);
                self.stop(record);
            }
            // Killed.
            Kind::Dropped if job && self.runs(&record) => {
                self.running = None;
                self.out.push(record);
            }
            Kind::Idle if tier == 0 => {
                self.stop(record);
                self.out.push(record);
            }
            Kind::Idle => {}
            Kind::Enter | Kind::Leave => self.bracket(record),
            _ if record.task.is_some() && !job => {}
            _ => self.out.push(record),
        }
    }

    /// Whether the record's job has the core.
    fn runs(&self, record: &Record) -> bool {
        self.running.is_some_and(|(task, job, _)| (Some(task), job) == (record.task, record.job))
    }

    /// Whether the record's job lost the core at the time of the record.
    fn just_stopped(&self, record: &Record) -> bool {
        let now = self.out.iter().rev().take_while(|it| it.time == record.time);
        { now }.any(|it| it.kind == Kind::Preempt && (it.task, it.job) == (record.task, record.job))
    }

    /// Whoever runs does not any more.
    fn stop(&mut self, at: Record) {
        if let Some((task, job, level)) = self.running.take() {
            self.out.push(Record { task: Some(task), job, level, kind: Kind::Preempt, arg: 0, ..at });
        }
    }

    /// The job runs, if it did not before.
    fn start(&mut self, at: Record, job: Option<(TaskId, u32, u8)>) {
        if !self.runs(&at) {
            self.stop(at);
            self.running = job;
            self.out.push(Record { kind: Kind::Dispatch, arg: 0, ..at });
        }
    }

    /// A decision that gave a job the core, and ends with nobody: its scheduler has given the core back to say something first.
    fn take_back(&mut self) {
        let began = self.out.iter().rposition(|it| it.kind == Kind::Enter).unwrap_or(0);
        let given = self.out[began..].iter().position(|it| it.kind == Kind::Dispatch && self.runs(it));
        if let Some(given) = given {
            self.out.remove(began + given);
            self.running = None;
        }
    }

    /// Beginning or end of a decision.
    fn bracket(&mut self, record: Record) {
        if record.kind == Kind::Leave && record.task.is_none() {
            self.take_back();
            // Or it gave back what it had, with a job that is to go on.
            self.stop(Record { level: 0, ticket: 0, ..record });
        }
        if record.kind == Kind::Leave && self.is_job(&record) && !self.runs(&record) {
            // The scheduler goes on with the job that it had before it lost the core: since it began this decision.
            let began = self.out.iter().rev().find(|it| it.kind == Kind::Enter).map_or(record.time, |it| it.time);
            let at = Record { time: began, level: 0, ticket: 0, ..record };
            self.start(at, record.task.map(|task| (task, record.job, 0)));
        }
        let running = self.running.map(|(task, job, _)| (task, job));
        let (task, job) = match record.task {
            Some(_) if self.is_job(&record) => (record.task, record.job),
            Some(_) => (running.map(|it| it.0), running.map_or(0, |it| it.1)),
            None => (None, record.job),
        };
        let job = if record.kind == Kind::Enter { 0 } else { job };
        self.out.push(Record { task, job, ..record });
    }
}
