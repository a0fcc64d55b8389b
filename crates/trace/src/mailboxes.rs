//! Mailboxes between sandboxes, judged from the traces of both: each message with when it was sent and when it was taken.
//!
//! What a task has sent or taken its own sandbox's scheduler has recorded ([`EventKind::Mailed`]), from its own task's counts: what the one sandbox
//! says is never read as the other's word. A message was sent by the time at which its sender's count was seen to include it, and not before the job
//! began that was executing then; and was taken likewise. So nobody is blamed for a delay that he may not have had.

use crate::jobs::{jobs, Job};
use crate::view::Trace;
use tactus_record::EventKind;
use tactus_time::{Duration, Instant, TaskId};

/// A mailbox and what was promised of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MailboxView {
    /// Name.
    pub name: String,
    /// Its number in the file.
    pub number: u8,
    /// The task that sends.
    pub source: TaskId,
    /// The task that takes.
    pub destination: TaskId,
    /// How many messages have room.
    pub depth: u32,
    /// From the send of a message to the end of the job that takes it, as promised.
    pub from_send: Option<Duration>,
    /// From the release of the job that sends to the end of the job that takes, as promised.
    pub from_release: Option<Duration>,
    /// Whether it was promised that each message finds room.
    pub has_room: bool,
    /// What was promised of the sender's and of the receiver's responses: where a run has a longer one, its own sandbox's verdict says so, and
    /// nothing is owed here.
    pub responses: [Option<Duration>; 2],
    /// What the file allows from the release of the job that sends to the end of the job that takes.
    pub latency: Option<Duration>,
}

/// The run of a sandbox at an end of a mailbox.
#[derive(Clone, Copy)]
pub struct MailboxSide<'a> {
    /// Its records.
    pub trace: &'a Trace,
    /// When its run began, on the time base of both.
    pub began: Duration,
    /// How long it was.
    pub duration: Duration,
}

/// What became of the messages of a mailbox.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MailboxSummary {
    /// How many were sent.
    pub sent: u64,
    /// How many of them were taken.
    pub taken: u64,
    /// How many found no room, and were not sent.
    pub refused: u64,
    /// How many were not whole, or not in their order, when they were to be taken.
    pub unsound: u64,
    /// The longest time from when one was sent at the latest to when it was taken.
    pub from_send: Option<Duration>,
    /// The longest time from the release of the job that sent it.
    pub from_release: Option<Duration>,
    /// How many took longer than the file allows.
    pub late: u64,
    /// What was promised and not kept, the first of each kind.
    pub broken: Vec<String>,
    /// Why no time was owed: a task at an end took longer than it was promised.
    pub excused: Option<String>,
}

/// A point in time of both.
type Common = Duration;

/// A message: when its count was seen, and the job that was executing then, by its release and its begin.
#[derive(Clone, Copy, Debug)]
struct Seen {
    at: Common,
    job: Option<(Common, Common)>,
}

/// What one end's scheduler has seen.
#[derive(Default)]
struct End {
    /// By message.
    seen: Vec<Seen>,
    /// Messages that found no room, or that were not sound.
    beside: u64,
    /// Why the counts are no counts.
    wrong: Option<String>,
}

/// A count that grows by more at once has not been counted.
const MOST_AT_ONCE: u32 = 1 << 16;

fn end(side: MailboxSide<'_>, (number, task, takes): (u8, TaskId, bool)) -> End {
    let common = |at: Instant| side.began.checked_add(at.since(Instant::ZERO)).unwrap_or(Duration::MAX);
    let mut own: Vec<Job> = jobs(side.trace).into_iter().filter(|job| job.task == task).collect();
    own.sort_by_key(|job| job.started.unwrap_or(Instant::NEVER));
    let level = number | if takes { 128 } else { 0 };
    let (mut end, mut count) = (End::default(), 0_u32);
    let records = side.trace.cores.iter().flatten();
    for record in records.filter(|it| it.kind == EventKind::Mailed && it.level == level && it.task == Some(task)) {
        let at = Instant::from_nanos(record.arg);
        // A job that begins at this very time has done nothing yet.
        let place = own.partition_point(|job| job.started.is_some_and(|started| started < at));
        let job = place.checked_sub(1).and_then(|n| own.get(n));
        let job = job.and_then(|job| Some((common(job.release), common(job.started?))));
        let more = record.job.wrapping_sub(count);
        if more > MOST_AT_ONCE {
            let what = if takes { "taken" } else { "sent" };
            end.wrong
                .get_or_insert(format!("the count of what was {what} went from {count} to {} at {at}", record.job));
            continue;
        }
        end.seen.extend((0..more).map(|_| Seen { at: common(at), job }));
        (count, end.beside) = (record.job, record.ticket.into());
    }
    end
}

/// Judges a mailbox by the runs of the two sandboxes, both of which were whole.
pub fn judge_mailbox(view: &MailboxView, source: MailboxSide<'_>, destination: MailboxSide<'_>) -> MailboxSummary {
    let sent = end(source, (view.number, view.source, false));
    let taken = end(destination, (view.number, view.destination, true));
    let (count, arrived) = (sent.seen.len(), taken.seen.len());
    let mut summary = MailboxSummary {
        sent: count as u64,
        taken: arrived.min(count) as u64,
        refused: sent.beside,
        unsound: taken.beside,
        ..MailboxSummary::default()
    };
    let mut broken: Vec<String> = [&sent.wrong, &taken.wrong].into_iter().flatten().cloned().collect();
    if arrived > count {
        broken.push(format!("{arrived} messages were taken, and {count} sent"));
    }
    if taken.beside > 0 {
        broken.push(format!("{} messages were not whole or not in their order", taken.beside));
    }
    if view.has_room && sent.beside > 0 {
        broken.push(format!("{} messages found no room, which was promised to each", sent.beside));
    }
    let ends = [(source, view.source), (destination, view.destination)];
    summary.excused = ends.into_iter().zip(view.responses).find_map(|((side, task), promised)| {
        let own = jobs(side.trace).into_iter().filter(|job| job.task == task);
        let worst = own.map(|job| job.response().unwrap_or_default()).max()?;
        (worst > promised?)
            .then(|| format!("a job of task {} took {worst}, over {}", task.0, promised.unwrap_or_default()))
    });
    let over = destination.began.checked_add(destination.duration).unwrap_or(Duration::MAX);
    let mut once = [false; 3];
    for (n, one) in sent.seen.iter().enumerate() {
        let number = n + 1;
        let at = taken.seen.get(n).map(|it| it.at);
        let release = one.job.map(|(release, _)| release);
        if let (Some(at), Some((_, started))) = (at, one.job) {
            if at < started && !std::mem::replace(&mut once[2], true) {
                broken.push(format!("message {number} was taken at {at}, and the job that sent it began at {started}"));
            }
        }
        // One that was not taken took as long as the run of its destination went on, at the least.
        let took = |from: Duration| at.unwrap_or(over).saturating_sub(from);
        let all = [(Some(one.at), view.from_send, "its send"), (release, view.from_release, "the release of its job")];
        for (kind, (from, promised, words)) in all.into_iter().enumerate() {
            let Some(from) = from else { continue };
            let late = promised.is_some_and(|promised| took(from) > promised) && summary.excused.is_none();
            if late && !std::mem::replace(&mut once[kind], true) {
                let promised = promised.unwrap_or_default();
                let how = if at.is_some() { "was taken" } else { "was not taken" };
                broken.push(format!("message {number} {how} {} after {words}, over {promised}", took(from)));
            }
        }
        summary.late += u64::from(release.zip(view.latency).is_some_and(|(from, most)| took(from) > most));
        if at.is_some() {
            summary.from_send = summary.from_send.max(Some(took(one.at)));
            summary.from_release = summary.from_release.max(release.map(took));
        }
    }
    summary.broken = broken;
    summary
}

/// What the built-in workload does, for runs that were simulated: each job of the source sends one message when it begins, and each job of the
/// destination takes all that waits when it begins. Gives both traces the records of that.
pub fn mail_of_the_workload(view: &MailboxView, sides: [MailboxSide<'_>; 2]) -> [Trace; 2] {
    let of = |side: MailboxSide<'_>, task: TaskId| {
        let begun = jobs(side.trace).into_iter().filter(|job| job.task == task && job.started.is_some());
        let common = |at: Instant| side.began.checked_add(at.since(Instant::ZERO)).unwrap_or(Duration::MAX);
        let mut all: Vec<(Common, Job)> = begun.map(|job| (common(job.started.unwrap_or_default()), job)).collect();
        all.sort_by_key(|(at, job)| (*at, job.job));
        all
    };
    let [from, to] = sides;
    let mut looks = of(to, view.destination).into_iter().peekable();
    let (mut sent, mut taken, mut refused) = (0_u32, 0_u32, 0_u32);
    let mut made = [Vec::new(), Vec::new()];
    let takes = |job: &Job, sent: u32, taken: &mut u32, made: &mut Vec<(Instant, u32, u32)>| {
        if sent > *taken {
            *taken = sent;
            made.push((job.completed.unwrap_or(Instant::NEVER), sent, 0));
        }
    };
    for (at, job) in of(from, view.source) {
        while let Some((_, other)) = looks.next_if(|(looked, _)| *looked <= at) {
            takes(&other, sent, &mut taken, &mut made[1]);
        }
        match sent - taken < view.depth {
            true => sent += 1,
            false => refused += 1,
        }
        let seen = job.started.unwrap_or_default().saturating_add(Duration::from_nanos(1));
        made[0].push((seen, sent, refused));
    }
    for (_, other) in looks {
        takes(&other, sent, &mut taken, &mut made[1]);
    }
    let mut traces = [from.trace.clone(), to.trace.clone()];
    let ends = [(view.source, 0), (view.destination, 128)];
    for ((trace, made), (task, takes)) in traces.iter_mut().zip(made).zip(ends) {
        // A job that is unfinished at the end of the run has taken nothing that can be told.
        for (at, count, beside) in made.into_iter().filter(|(at, ..)| *at < Instant::NEVER) {
            trace.cores[0].push(tactus_record::Record {
                time: at,
                arg: at.as_nanos(),
                job: count,
                task: Some(task),
                kind: EventKind::Mailed,
                level: view.number | takes,
                core: tactus_time::CoreId(0),
                ticket: beside,
            });
        }
    }
    traces
}
