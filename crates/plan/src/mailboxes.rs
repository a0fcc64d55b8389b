//! What is promised of mailboxes between sandboxes: from what each sandbox's own check promises of the two tasks.

use std::fmt;
use tactus_analysis::mailbox::{mailbox, MailboxBound, MailboxTask};
use tactus_analysis::Bound;
use tactus_model::{Mailbox, MailboxEnd, Sandboxes};
use tactus_task::Release;
use tactus_time::{Duration, TaskId};
use tactus_trace::{MailboxView, View};

/// What the check says of a mailbox.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MailboxCheck {
    /// Name.
    pub name: String,
    /// What its messages are bounded by, or why by nothing.
    pub bound: Result<MailboxBound, String>,
    /// The responses of sender and receiver that the bound counts.
    pub responses: [Option<Duration>; 2],
    /// Why the whole is refused because of it, and what to do.
    pub refused: Option<(String, &'static str)>,
    /// Line of the file at which it begins.
    pub line: usize,
    /// How many messages have room.
    pub depth: u32,
}

/// What is said of each mailbox, where `views` are what was promised of the sandboxes, in their order.
pub fn mailboxes(whole: &Sandboxes, views: &[&View]) -> Vec<MailboxCheck> {
    whole.mailboxes.iter().map(|it| one(whole, it, views)).collect()
}

/// What people call a task at an end: `rich's map`.
fn who(whole: &Sandboxes, end: MailboxEnd) -> String {
    let system = &whole.parts[end.sandbox].system;
    format!("{}'s {}", system.name, system.tasks[end.task].name)
}

/// A task at an end, or why it has no bound that counts here.
fn task(whole: &Sandboxes, end: MailboxEnd, views: &[&View]) -> Result<MailboxTask, String> {
    let (system, view) = (&whole.parts[end.sandbox].system, views[end.sandbox]);
    let task = &view.tasks[end.task];
    let who = who(whole, end);
    if !view.accepted {
        return Err(format!("the check refuses sandbox {}", system.name));
    }
    if task.releases != Release::Periodic {
        return Err(format!("{who} is released by something else than time"));
    }
    let response = match task.promise {
        Some(Bound::Response(response)) => Some(response),
        Some(Bound::Tardiness(late)) => task.deadline.checked_add(late),
        None => None,
    };
    let response = response.ok_or_else(|| format!("{who} has none"))?;
    Ok(MailboxTask { response, period: task.period, offset: task.offset })
}

fn one(whole: &Sandboxes, it: &Mailbox, views: &[&View]) -> MailboxCheck {
    let [sender, receiver] = [it.source, it.destination].map(|end| task(whole, end, views));
    let responses = [&sender, &receiver].map(|end| end.as_ref().ok().map(|task| task.response));
    let bound = match (sender, receiver) {
        (Ok(sender), Ok(receiver)) => mailbox(sender, receiver, it.messages).ok_or("it is longer than any time".into()),
        (Err(why), _) | (_, Err(why)) => Err(why),
    };
    let refused = match (&bound, it.latency) {
        (Ok(bound), Some(latency)) if bound.from_release > latency => Some((
            format!(
                "may take {} from the release of the job that sends, over its latency of {latency}",
                bound.from_release
            ),
            "shorten the bounds of its tasks or the period of its destination, or allow more",
        )),
        (Ok(bound), _) if bound.waiting > it.depth.into() => Some((
            format!(
                "may have {} messages that wait, over its depth of {}: a send is refused then",
                bound.waiting, it.depth
            ),
            "raise depth, or let its destination take them more often",
        )),
        (Err(why), Some(_)) => {
            Some((format!("has no bound: {why}"), "see what is said of its tasks, or take out its latency"))
        }
        _ => None,
    };
    MailboxCheck { name: it.name.clone(), bound, responses, refused, line: it.line, depth: it.depth }
}

/// What a run's messages are held against.
pub fn mailbox_view(whole: &Sandboxes, it: &Mailbox, number: usize, check: &MailboxCheck) -> MailboxView {
    let bound = check.bound.as_ref().ok();
    MailboxView {
        name: it.name.clone(),
        number: number as u8,
        source: TaskId(it.source.task as u16),
        destination: TaskId(it.destination.task as u16),
        ends: [it.source, it.destination].map(|end| who(whole, end)),
        depth: it.depth,
        messages: it.messages,
        from_send: bound.map(|it| it.from_send),
        from_release: bound.map(|it| it.from_release),
        has_room: bound.is_some_and(|bound| bound.waiting <= it.depth.into()),
        responses: check.responses,
        latency: it.latency,
    }
}

/// `≤ 34 ms from a send, ≤ 36 ms from the release of its job; at most 3 of 8 messages wait`
impl fmt::Display for MailboxCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.bound {
            Ok(MailboxBound { from_send, from_release, waiting }) => write!(
                f,
                "{}: ≤ {from_send} from a send, ≤ {from_release} from the release of its job; at most {waiting} of {} messages wait",
                self.name, self.depth
            ),
            Err(why) => write!(f, "{}: no bound ({why}): a send may be refused", self.name),
        }
    }
}
