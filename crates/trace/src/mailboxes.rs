//! Mailboxes between sandboxes, judged from the traces of both: each message with when it was sent and when it was taken.
//!
//! What a task has sent or taken its own sandbox's scheduler has recorded ([`EventKind::Mailed`]), from its own task's counts: what the one sandbox
//! says is never read as the other's word. A message was sent by the time at which its sender's count was seen to include it, and not before the job
//! began that was executing then; and was taken likewise. So nobody is blamed for a delay that he may not have had.
//!
//! A sandbox's kernel may lie with its count, and write messages that its task never sent. Of a count it is broken by that sandbox if it moves while
//! no job of the task executes, or by more in a job than the file lets one send; and if it is none: from there on that end is not judged.
//! A kernel that lies in all that it records is believed: what it says of itself, nobody else has seen.
//!
//! Of a sandbox that was started again its last life is judged. Messages have their numbers from life to life. Those that were sent
//! or taken in an earlier life nobody has seen; and time and room are not owed to those that waited for one to come back.

use crate::jobs::{jobs, Job};
use crate::schedule::{schedule_with, Boundary, SegmentKind};
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
    /// What people call the two, each with its sandbox: `rich's map`.
    pub ends: [String; 2],
    /// How many messages have room.
    pub depth: u32,
    /// The most that a job of the source sends.
    pub messages: u32,
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
    /// Whether its kernel was started again, so that this is the last of several lives.
    pub restarted: bool,
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
    /// How many of those sent were not judged, as they waited for a kernel that was started again, or were taken before.
    pub unjudged: u64,
    /// Whether others were sent before the sender's kernel was started again, which are not judged either.
    pub earlier: bool,
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
    /// How many messages there were before this life, modulo 2^32.
    base: u32,
    /// By message, from there on.
    seen: Vec<Seen>,
    /// Messages that found no room, or that were not sound: how many more, and when that was seen.
    beside: Vec<(Common, u32)>,
    /// What its count says that cannot be; whether the other end is to blame.
    wrong: Option<(bool, String)>,
    /// How many it has taken by its count, where that is more than were sent.
    ahead: Option<u32>,
    /// When the first job of its task was released, and the first promised to be over.
    ready: [Option<Common>; 2],
}

impl End {
    fn beside(&self) -> u64 {
        self.beside.iter().map(|it| u64::from(it.1)).sum()
    }

    /// The place among those seen of the message with this number; nothing if it was before them. May be behind the last.
    fn place(&self, number: u32) -> Option<usize> {
        let behind = number.wrapping_sub(self.base).wrapping_sub(1);
        (behind < u32::MAX / 2).then_some(behind as usize)
    }

    /// The number of the last.
    fn last(&self) -> u32 {
        self.base.wrapping_add(self.seen.len() as u32)
    }
}

/// A count that grows by more at once has not been counted.
const MOST_AT_ONCE: u32 = 1 << 16;

/// What an end's count is held against.
#[derive(Clone, Copy)]
enum Against {
    /// The most that a job sends.
    Job(u32),
    /// The last message that was sent.
    Sent(u32),
}

/// What was seen at an end, up to what cannot be. `promised`: how long after the release of the first job of its task it has taken, or what it had
/// sent is taken.
fn end(side: MailboxSide<'_>, (number, task, against): (u8, TaskId, Against), promised: Option<Duration>) -> End {
    let common = |at: Instant| side.began.checked_add(at.since(Instant::ZERO)).unwrap_or(Duration::MAX);
    let mut own: Vec<Job> = jobs(side.trace).into_iter().filter(|job| job.task == task).collect();
    own.sort_by_key(|job| job.started.unwrap_or(Instant::NEVER));
    let mut executed = schedule_with(side.trace, Boundary::Decision);
    executed.retain(|it| it.task == Some(task) && it.kind == SegmentKind::Run);
    executed.sort_by_key(|it| it.start);
    let executes = |at: Instant| {
        let before = executed.partition_point(|it| it.start < at);
        before.checked_sub(1).is_some_and(|n| at <= executed[n].end)
    };
    let released = own.iter().map(|job| common(job.release)).min();
    let mut end = End { ready: [released, released.and_then(|at| at.checked_add(promised?))], ..End::default() };
    let (level, what) = match against {
        Against::Job(_) => (number, "sent"),
        Against::Sent(_) => (number | 128, "taken"),
    };
    let (mut count, mut beside) = (0_u32, 0_u32);
    // The last job that was seen to send, and how many messages.
    let mut by_job = (usize::MAX, 0_u32);
    let records = side.trace.cores.iter().flatten();
    for record in records.filter(|it| it.kind == EventKind::Mailed && it.level == level && it.task == Some(task)) {
        let at = Instant::from_nanos(record.arg);
        // A job that begins at this very time has done nothing yet.
        let place = own.partition_point(|job| job.started.is_some_and(|started| started < at));
        if side.restarted && place == 0 && end.seen.is_empty() && end.beside.is_empty() {
            (end.base, count, beside) = (record.job, record.job, record.ticket);
            continue;
        }
        let job = place.checked_sub(1).and_then(|n| own.get(n));
        let job = job.and_then(|job| Some((common(job.release), common(job.started?))));
        let (more, without) = (record.job.wrapping_sub(count), record.ticket.wrapping_sub(beside));
        by_job = (place, if by_job.0 == place { by_job.1.saturating_add(more) } else { more });
        let went = format!("the count of what was {what} went from {count} to {}", record.job);
        let wrong = match against {
            Against::Sent(_) if more > MOST_AT_ONCE && (1..=MOST_AT_ONCE).contains(&without) => {
                Some((true, format!("there was no count at {at}, and all that waited was left out")))
            }
            _ if more > MOST_AT_ONCE => Some((false, format!("{went} at {at}"))),
            _ if without > MOST_AT_ONCE => {
                let words = format!("the count of what was not {what} went from {beside} to {}", record.ticket);
                Some((false, format!("{words} at {at}")))
            }
            _ if !executes(at) => Some((false, format!("{went} by {at}, while no job of its executed"))),
            Against::Job(most) if by_job.1 > most => {
                let words = format!("a job sent {} messages by {at}, where the file lets it send {most}", by_job.1);
                Some((false, words))
            }
            _ => None,
        };
        if wrong.is_some() {
            end.wrong = wrong;
            break;
        }
        let mut fresh = more;
        if let Against::Sent(last) = against {
            let behind = record.job.wrapping_sub(last);
            if (1..u32::MAX / 2).contains(&behind) {
                (end.ahead, fresh) = (Some(record.job), more.saturating_sub(behind));
            }
        }
        end.seen.extend((0..fresh).map(|_| Seen { at: common(at), job }));
        if without > 0 {
            end.beside.push((common(at), without));
        }
        if end.ahead.is_some() {
            break;
        }
        (count, beside) = (record.job, record.ticket);
    }
    end
}

/// Judges a mailbox by the runs of the two sandboxes, each of which went to its end, in its last life at least.
pub fn judge_mailbox(view: &MailboxView, source: MailboxSide<'_>, destination: MailboxSide<'_>) -> MailboxSummary {
    let sent = end(source, (view.number, view.source, Against::Job(view.messages)), view.from_release);
    let last = Against::Sent(sent.last());
    let taken = end(destination, (view.number, view.destination, last), view.responses[1]);
    let over = destination.began.checked_add(destination.duration).unwrap_or(Duration::MAX);
    let count = sent.seen.len();
    // What was taken of that which was sent in this life, and beyond what was sent at all.
    let arrived = sent.place(taken.ahead.unwrap_or(taken.last())).map_or(0, |last| last + 1);
    let mut summary = MailboxSummary {
        sent: count as u64,
        taken: arrived.min(count) as u64,
        refused: sent.beside(),
        unsound: taken.beside(),
        ..MailboxSummary::default()
    };
    let [from, to] = &view.ends;
    let wrong = [(&sent.wrong, [from, to]), (&taken.wrong, [to, from])].into_iter();
    let wrong = wrong.filter_map(|(wrong, [own, other])| {
        let (by_other, words) = wrong.as_ref()?;
        Some(format!("{}: {words}", if *by_other { other } else { own }))
    });
    let mut broken: Vec<String> = wrong.collect();
    if arrived > count && sent.wrong.is_none() {
        broken.push(format!(
            "{arrived} messages were taken, and {count} sent: {from} did not send what {to} says it took"
        ));
    }
    if summary.unsound > 0 {
        let all = summary.unsound;
        broken
            .push(format!("{all} messages were not whole or not in their order, says {to}: {from} alone writes them"));
    }
    // Where a kernel was started again, from when on all find room: what waited until then has been taken, or sent then.
    let owed = [(source, &sent), (destination, &taken)].map(|(side, end)| match side.restarted {
        true => end.ready[1].unwrap_or(Duration::MAX),
        false => Duration::ZERO,
    });
    let owed = owed.into_iter().max().unwrap_or_default();
    let without: u64 = sent.beside.iter().filter(|it| owed <= it.0 && it.0 <= over).map(|it| u64::from(it.1)).sum();
    if view.has_room && without > 0 {
        broken.push(format!(
            "{without} messages found no room, which was promised to each, says {from}: {to} takes them"
        ));
    }
    let ends = [(source, view.source), (destination, view.destination)];
    summary.excused = ends.into_iter().zip(view.responses).find_map(|((side, task), promised)| {
        let own = jobs(side.trace).into_iter().filter(|job| job.task == task);
        let worst = own.map(|job| job.response().unwrap_or_default()).max()?;
        (worst > promised?)
            .then(|| format!("a job of task {} took {worst}, over {}", task.0, promised.unwrap_or_default()))
    });
    // What was sent before the destination came back waits for its first job, as long as that took.
    let back = if destination.restarted { taken.ready[0].unwrap_or(Duration::MAX) } else { Duration::ZERO };
    summary.earlier = sent.base != 0;
    let mut once = [false; 3];
    for (n, one) in sent.seen.iter().enumerate() {
        let number = sent.base.wrapping_add(n as u32).wrapping_add(1);
        let Some(place) = taken.place(number).filter(|_| one.at >= back) else {
            summary.unjudged += 1;
            continue;
        };
        let at = taken.seen.get(place).map(|it| it.at);
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
