//! Channels: how long messages take, whether a sample is always valid, and whether a queue is ever full.
//!
//! Two completions of a source that time releases are no further apart than its period and its bound: so old may a sample be when it is
//! read, and no older. Of a queue the destination's next job takes all that waits: what was sent is gone after the destination's period
//! and bound, so that no more waits than the source sends in that time.

use super::chains::{next_release, one, response, Passage};
use super::report::{Check, Finding};
use std::fmt;
use tactus_model::{Channel, ChannelKind, System};
use tactus_time::Duration;

/// What is known of a channel's messages.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ChannelVerdict {
    /// Its name.
    pub name: String,
    /// What becomes of messages.
    pub kind: ChannelKind,
    /// Sampling: from the first message on, none that is read is older; nothing if that has no bound.
    pub age: Option<Duration>,
    /// Queuing: never more messages wait; nothing if that has no bound.
    pub waiting: Option<u64>,
}

/// `attitude: a sample is no older than 11.2 ms of 50 ms`, `orders: at most 4 of 8 messages wait`
impl fmt::Display for ChannelVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.name)?;
        match (self.kind, self.age, self.waiting) {
            (ChannelKind::Sampling { refresh_period }, Some(age), _) => {
                write!(f, "a sample is no older than {age} of {refresh_period}")
            }
            (ChannelKind::Sampling { .. }, None, _) => f.write_str("the age of a sample has no bound"),
            (ChannelKind::Queuing { depth, .. }, _, Some(waiting)) => {
                write!(f, "at most {waiting} of {depth} messages wait")
            }
            (ChannelKind::Queuing { .. }, _, None) => f.write_str("how many messages wait has no bound"),
        }
    }
}

/// Judges every channel: each destination is a chain of two.
pub(super) fn check(system: &System, check: &mut Check) {
    for (number, channel) in system.channels.iter().enumerate() {
        for port in &channel.destinations {
            let tasks = [channel.source.task, port.task];
            let name = format!("{} to {}", channel.name, system.tasks[port.task].name);
            let (deadline, line) = (channel.latency, channel.line);
            let channel = Some(number);
            one(system, &Passage { what: "channel", name, tasks: &tasks, channel, deadline, line }, check);
        }
        messages(system, channel, check);
    }
}

/// Judges the age of samples, or the length of the queue.
fn messages(system: &System, channel: &Channel, check: &mut Check) {
    let source = channel.source.task;
    let written = response(system, source, check.tasks[source].bound());
    let mut verdict = ChannelVerdict { name: channel.name.clone(), kind: channel.kind, age: None, waiting: None };
    let found = match channel.kind {
        ChannelKind::Sampling { refresh_period } => {
            verdict.age = next_release(system, source).zip(written).and_then(|(period, it)| period.checked_add(it));
            verdict.age.filter(|age| *age > refresh_period).map(|age| {
                let what = format!("may have samples that are {age} old, over its refresh period of {refresh_period}");
                (what, "lengthen refresh-period, or let its source write more often or sooner")
            })
        }
        ChannelKind::Queuing { depth, messages } => {
            let reader = channel.destinations[0].task;
            let taken = response(system, reader, check.tasks[reader].bound()).zip(next_release(system, reader));
            let within = taken.zip(written).and_then(|((bound, period), written)| {
                bound.checked_add(period).and_then(|within| within.checked_add(written))
            });
            let period = system.tasks[source].period;
            let jobs = within.map(|within| within.as_nanos().div_ceil(period.as_nanos().max(1)));
            verdict.waiting = jobs.map(|jobs| jobs.saturating_mul(messages.into()));
            verdict.waiting.filter(|waiting| *waiting > depth.into()).map(|waiting| {
                let what = format!("may have {waiting} messages that wait, over its depth of {depth}");
                (what, "raise depth, or let its destination take them more often")
            })
        }
    };
    if let Some((what, remedy)) = found {
        let what = format!("channel `{}` {what}", channel.name);
        check.findings.push(Finding { task: None, core: None, line: channel.line, what, remedy: remedy.into() });
    }
    check.channels.push(verdict);
}
