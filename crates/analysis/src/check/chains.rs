//! Chains: each task is released by the completion of the one before, or reads what that has written into a channel. And channels, each
//! a chain of two.
//!
//! A task that is released so has at least its period between two releases, whatever comes earlier: its job waits for the end
//! of the period. So every test for sporadic tasks holds for it, and its bound counts from that release. From end to end the
//! chain takes no longer than the sum of the bounds of its tasks (release guard: Sun and Liu, "Synchronization protocols in
//! distributed real-time systems", ICDCS 1996). Why: let R be the sum of the bounds of the tasks before one, whose period is
//! not longer than that of the first. Its job k is released when its predecessor's job k ends, or a period after its own job
//! k − 1. If the latter was released at the latest R after the chain's job k − 1, which came at least a period before the
//! chain's job k, job k is released at the latest R after that too; and job 0 waits for nobody.
//!
//! A task that time releases reads what was written before its job began. Of a message that is complete, it reads at the latest in the
//! job that is released next, which is within its period, and has done so within its bound (Davare et al., "Period optimization for
//! hard real-time distributed automotive systems", DAC 2007). That counts from its first release on.

use super::channels;
use super::report::{Check, Finding};
use std::fmt;
use tactus_model::{Release, System};
use tactus_task::Bound;
use tactus_time::Duration;

/// The verdict on one chain, or on one destination of a channel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ChainVerdict {
    /// Its name.
    pub name: String,
    /// Its tasks by their indices, in their order.
    pub tasks: Vec<usize>,
    /// Of each task but the first, whether it reads the messages of the one before, and is released by something else.
    pub told: Vec<bool>,
    /// For a service: its client's number. The tasks are those that ask, and the one that answers.
    pub client: Option<u16>,
    /// For a destination of a channel: the channel's number.
    pub channel: Option<usize>,
    /// Its deadline from end to end; nothing for a channel whose latency the file does not limit.
    pub deadline: Option<Duration>,
    /// It never takes longer than this, while no task takes longer than the file assumes; nothing if one of its tasks has no
    /// bound.
    pub bound: Option<Duration>,
    /// What a run has to keep: the bound, unless some task's declared demand exceeds what it assumes.
    pub promise: Option<Duration>,
    /// What each of its tasks adds, in their order.
    pub parts: Vec<(String, Option<Duration>)>,
}

/// `x: ≤ 12 ms of 20 ms (a 3 ms + b 9 ms)`
impl fmt::Display for ChainVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.name)?;
        match (self.bound, self.deadline) {
            (Some(bound), Some(deadline)) => write!(f, "≤ {bound} of {deadline} ({})", self.sum()),
            (Some(bound), None) => write!(f, "≤ {bound} ({})", self.sum()),
            (None, _) => write!(f, "no bound ({})", self.sum()),
        }
    }
}

impl ChainVerdict {
    fn sum(&self) -> String {
        let part = |(name, bound): &(String, Option<Duration>)| match bound {
            Some(bound) => format!("{name} {bound}"),
            None => format!("{name} has none"),
        };
        self.parts.iter().map(part).collect::<Vec<_>>().join(" + ")
    }
}

/// A chain that is to be judged.
pub(super) struct Passage<'s> {
    /// What it is, for messages: `chain`, `channel`.
    pub what: &'static str,
    pub name: String,
    pub tasks: &'s [usize],
    pub channel: Option<usize>,
    pub deadline: Option<Duration>,
    pub line: usize,
}

/// Judges every chain, and then every destination of every channel.
pub(super) fn check(system: &System, check: &mut Check) {
    for chain in &system.chains {
        let (name, tasks, line) = (chain.name.clone(), chain.tasks.as_slice(), chain.line);
        let deadline = Some(chain.deadline);
        one(system, &Passage { what: "chain", name, tasks, channel: None, deadline, line }, check);
    }
    channels::check(system, check);
}

/// The longest response of a task with this bound.
pub(super) fn response(system: &System, task: usize, bound: Option<Bound>) -> Option<Duration> {
    match bound? {
        Bound::Response(response) => Some(response),
        Bound::Tardiness(late) => system.tasks[task].deadline.checked_add(late),
    }
}

/// How long a message may wait for the next release of a task that reads it, if time releases it.
pub(super) fn next_release(system: &System, task: usize) -> Option<Duration> {
    let release = system.scheduling.places.get(task).map_or(Release::Periodic, |place| place.release);
    (release == Release::Periodic).then_some(system.tasks[task].period)
}

/// Judges one.
pub(super) fn one(system: &System, passage: &Passage<'_>, check: &mut Check) {
    let Passage { what: kind, tasks: members, deadline, .. } = passage;
    let told: Vec<bool> = members.windows(2).map(|pair| system.is_told(pair[0], pair[1])).collect();
    // What the task at a place adds.
    let adds = |place: usize, bound: &dyn Fn(usize) -> Option<Bound>| {
        let response = response(system, members[place], bound(members[place]))?;
        match place.checked_sub(1).is_some_and(|link| told[link]) {
            true => response.checked_add(next_release(system, members[place])?),
            false => Some(response),
        }
    };
    let total = |bound: &dyn Fn(usize) -> Option<Bound>| {
        (0..members.len()).try_fold(Duration::ZERO, |sum, place| sum.checked_add(adds(place, bound)?))
    };
    let tasks = &check.tasks;
    let bound = |n: usize| tasks[n].bound();
    let parts = (0..members.len()).map(|place| (system.tasks[members[place]].name.clone(), adds(place, &bound)));
    let parts = parts.collect();
    let verdict = ChainVerdict {
        name: passage.name.clone(),
        tasks: members.to_vec(),
        client: None,
        channel: passage.channel,
        deadline: *deadline,
        bound: total(&bound),
        promise: total(&|n| tasks[n].promise()),
        parts,
        told,
    };
    let found = match (verdict.bound, deadline) {
        (Some(bound), Some(deadline)) if bound > *deadline => Some((
            format!("may take {bound} from end to end ({}), over its deadline of {deadline}", verdict.sum()),
            "shorten its tasks' bounds (more urgent, or less before them) or periods, or allow more",
        )),
        (None, Some(_)) => Some((format!("has no bound ({})", verdict.sum()), "see what is said of its tasks")),
        _ => None,
    };
    if let Some((what, remedy)) = found {
        let what = format!("{kind} `{}` {what}", passage.name);
        check.findings.push(Finding { task: None, core: None, line: passage.line, what, remedy: remedy.into() });
    }
    check.chains.push(verdict);
}
