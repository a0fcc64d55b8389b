//! Chains of tasks of which each releases the next, or tells it something by a channel: how long they took from end to end.

use crate::jobs::Job;
use crate::services;
use crate::summary::some_nanos;
use crate::view::{ChainView, TaskView, Trace};
use crate::Distribution;
use serde::Serialize;
use std::collections::HashMap;
use tactus_record::{CallRefusal, EventKind, InputKind, Record};
use tactus_time::{Duration, Instant, TaskId};

/// What became of a chain.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChainSummary {
    /// Name.
    pub name: String,
    /// Releases of its first task before the end of the run.
    pub begun: u64,
    /// Of those, how many the last task completed; no more than messages were written, where two jobs of a task or more wrote none.
    pub completed: u64,
    /// Of those begun, how many were not complete in time: after the deadline, or unfinished at the end with the deadline past, or complete
    /// without a message.
    pub missed: u64,
    /// From end to end, of those completed; `null` where nothing tells which of them a message brought.
    pub response: Option<Distribution>,
    /// The deadline; `null` if there is none.
    #[serde(rename = "deadline_ns", serialize_with = "some_nanos")]
    pub deadline: Option<Duration>,
    /// What was promised; `null` if nothing was.
    #[serde(rename = "bound_ns", serialize_with = "some_nanos")]
    pub bound: Option<Duration>,
}

/// One run through a chain.
pub(crate) struct Passage<'j> {
    /// The job of each task that came of it, as far as they were released, in the order of the tasks.
    pub jobs: Vec<&'j Job>,
    /// Release of the first one.
    pub release: Instant,
    /// Completion of the last one.
    pub completed: Option<Instant>,
}

/// All runs through the chain, in the order of their releases; but those that told a task something long before its first release.
pub(crate) fn passages<'j>(chain: &ChainView, tasks: &[TaskView], jobs: &'j [Job], trace: &Trace) -> Vec<Passage<'j>> {
    if let Some(client) = chain.client {
        return services::passages((chain, client), tasks, jobs, trace);
    }
    let pairs = chain.tasks.windows(2).filter(|pair| chain.by_message.contains(&pair[1]));
    let released: HashMap<TaskId, HashMap<u32, u32>> =
        pairs.filter_map(|pair| Some((pair[1], released_by((pair[0], pair[1]), jobs, trace)?))).collect();
    let mut of: HashMap<TaskId, Vec<&Job>> = HashMap::new();
    for job in jobs.iter().filter(|job| chain.tasks.contains(&job.task)) {
        of.entry(job.task).or_default().push(job);
    }
    // Those of one task begin in their order.
    let of = |task: TaskId| of.get(&task).map_or(&[][..], Vec::as_slice);
    let Some(first) = chain.tasks.first() else { return Vec::new() };
    let passage = |begun: &&'j Job| {
        let mut jobs = vec![*begun];
        for (task, told) in chain.tasks[1..].iter().zip(&chain.told) {
            let before = jobs[jobs.len() - 1];
            let next = match told {
                false => {
                    let number = match released.get(task) {
                        Some(numbers) => numbers.get(&before.job).copied(),
                        None => Some(before.job),
                    };
                    number.and_then(|number| of(*task).iter().find(|job| job.job == number).copied())
                }
                true => {
                    let Some(complete) = before.completed else { break };
                    let view = tasks.get(task.index())?;
                    let reads = Instant::ZERO.saturating_add(view.offset.saturating_sub(view.period));
                    if complete < reads {
                        return None;
                    }
                    let place = of(*task).partition_point(|job| job.started.is_some_and(|at| at < complete));
                    of(*task).get(place).filter(|job| job.started.is_some()).copied()
                }
            };
            let Some(next) = next else { break };
            jobs.push(next);
        }
        let last = jobs.last().filter(|_| jobs.len() == chain.tasks.len());
        Some(Passage { release: begun.release, completed: last.and_then(|job| job.completed), jobs })
    };
    of(*first).iter().filter_map(passage).collect()
}

/// How many messages each job of the task `from` has sent, of which each releases a job of `to`; up to the first one that is unfinished.
fn sent<'j>((from, to): (TaskId, TaskId), jobs: &'j [Job], trace: &Trace) -> Vec<(&'j Job, u32)> {
    let mut senders: Vec<&Job> = jobs.iter().filter(|job| job.task == from).collect();
    senders.sort_by_key(|job| job.job);
    let is_message = |r: &&Record| r.kind == EventKind::Input && r.level == InputKind::Arrival as u8;
    let records = trace.cores.iter().flatten().filter(is_message).filter(|r| r.task == Some(to));
    let mut sent: Vec<Instant> = records.map(|r| Instant::from_nanos(r.arg)).collect();
    sent.sort_unstable();
    let mut sent = sent.into_iter().peekable();
    let own = |job: &'j Job| {
        let end = job.completed?;
        Some((job, std::iter::from_fn(|| sent.next_if(|at| *at <= end)).count() as u32))
    };
    senders.into_iter().map_while(own).collect()
}

/// By the number of a job of the task that sends: the number of the job that its first message released. One that is unfinished may have
/// sent its message. Nothing if messages were lost, which have no jobs.
fn released_by((from, to): (TaskId, TaskId), jobs: &[Job], trace: &Trace) -> Option<HashMap<u32, u32>> {
    let lost = |r: &Record| r.kind == EventKind::ArrivalLost && r.task == Some(to);
    if trace.cores.iter().flatten().any(lost) {
        return None;
    }
    let (mut numbers, mut next, mut last) = (HashMap::new(), 0, None);
    for (job, count) in sent((from, to), jobs, trace) {
        if count > 0 {
            numbers.insert(job.job, next);
        }
        (next, last) = (next + count, Some(job.job));
    }
    numbers.insert(last.map_or(0, |last| last.wrapping_add(1)), next);
    Some(numbers)
}

/// The first job of a chain's task that did not send the one message that it was to send, and what it did instead.
pub(crate) struct Unsent<'j> {
    pub job: &'j Job,
    pub why: String,
}

/// The first job, of each task that is to send a message, that sent none, or more than one.
pub(crate) fn unsent<'j>(chain: &ChainView, jobs: &'j [Job], trace: &Trace) -> Vec<Unsent<'j>> {
    let mut found = Vec::new();
    for pair in chain.tasks.windows(2).filter(|pair| chain.by_message.contains(&pair[1])) {
        if let Some((job, own)) = sent((pair[0], pair[1]), jobs, trace).into_iter().find(|(_, own)| *own != 1) {
            let why = match own {
                0 => format!("job {} sent no message", job.job),
                _ => format!("job {} sent {own} messages instead of one", job.job),
            };
            found.push(Unsent { job, why });
        }
    }
    found
}

/// A task of a chain that is to tell the next one something with each job, and wrote to sampling channels less often than that.
pub(crate) struct Unwritten {
    pub source: TaskId,
    /// How many of all runs through the chain brought what it wrote, at most.
    pub written: usize,
}

/// The one that wrote least, of the tasks that tell the next one something.
pub(crate) fn unwritten(chain: &ChainView, jobs: &[Job], trace: &Trace) -> Option<Unwritten> {
    let said = |r: &&Record| r.kind == EventKind::CallRefused && r.arg == CallRefusal::NotWritten as u64;
    let said: Vec<&Record> = trace.cores.iter().flatten().filter(said).collect();
    if said.is_empty() {
        return None;
    }
    // How often it wrote, if that is told of each of its channels.
    let written = |source: TaskId| {
        let of = |(_, channel): &(TaskId, u8)| {
            let record = said.iter().find(|r| r.task == Some(source) && r.level == *channel)?;
            Some(record.job as usize)
        };
        chain.samples.iter().filter(|it| it.0 == source).map(of).sum::<Option<usize>>()
    };
    // A job that finds nothing to do has nothing to tell, nor has one that sets its partition up.
    let ended =
        |task: TaskId| jobs.iter().filter(|job| job.task == task && job.completed.is_some() && !job.idle).count();
    let sources = chain.samples.iter().filter_map(|(source, _)| Some((*source, written(*source)?)));
    let less = sources.filter(|(source, written)| written + 1 < ended(*source));
    less.map(|(source, written)| Unwritten { source, written }).min_by_key(|it| it.written)
}

/// Counts them up. `end`: that of the run.
pub(crate) fn sum_up(
    chain: &ChainView,
    (tasks, jobs): (&[TaskView], &[Job]),
    trace: &Trace,
    end: Instant,
) -> ChainSummary {
    let passages = passages(chain, tasks, jobs, trace);
    let mut responses: Vec<Duration> = passages.iter().filter_map(|it| Some(it.completed?.since(it.release))).collect();
    let late = |it: &&Passage| chain.deadline.is_some_and(|most| it.completed.unwrap_or(end).since(it.release) > most);
    let late = passages.iter().filter(late).count();
    let in_time = responses.iter().filter(|response| chain.deadline.is_some_and(|most| **response <= most)).count();
    let brought = unwritten(chain, jobs, trace).map_or(usize::MAX, |it| it.written);
    ChainSummary {
        name: chain.name.clone(),
        begun: passages.len() as u64,
        completed: responses.len().min(brought) as u64,
        missed: (late + in_time.saturating_sub(brought)) as u64,
        // Where some brought nothing, nothing tells which.
        response: if responses.len() <= brought { Distribution::of(&mut responses) } else { None },
        deadline: chain.deadline,
        bound: chain.bound,
    }
}
