//! Mailboxes between sandboxes, as people read of them: what is promised, and what became of it in a run.

use serde_json::json;
use tactus_model::{Mailbox, Sandboxes};
use tactus_plan::{mailbox_view, MailboxCheck};
use tactus_terminal::lines::{self, brief};
use tactus_time::Duration;
use tactus_trace::{judge_mailbox, mail_of_the_workload, MailboxSide, MailboxSummary, MailboxView, Trace, View};

/// Tells what is promised of each mailbox, and whether that lets the whole be accepted.
pub fn accepted(whole: &Sandboxes, views: &[&View]) -> bool {
    promised(whole, views).iter().all(|it| it.refused.is_none())
}

/// Tells what is promised of each mailbox.
pub fn promised(whole: &Sandboxes, views: &[&View]) -> Vec<MailboxCheck> {
    let checks = tactus_plan::mailboxes(whole, views);
    for check in &checks {
        lines::line("mailbox", check);
        if let Some((what, remedy)) = &check.refused {
            let (file, line, name) = (whole.source.display(), check.line, &check.name);
            lines::line("", lines::bad(format!("{file}:{line}: mailbox {name:?} {what}; {remedy}")));
        }
    }
    checks
}

/// A mailbox and what its run is held against.
fn views<'w>(whole: &'w Sandboxes, checks: &[MailboxCheck]) -> Vec<(&'w Mailbox, MailboxView)> {
    let each = whole.mailboxes.iter().zip(checks).enumerate();
    each.map(|(number, (it, check))| (it, mailbox_view(whole, it, number, check))).collect()
}

/// Judges what the built-in workload's messages come to in simulated runs. Whether all was kept.
pub fn simulated(whole: &Sandboxes, runs: &[Option<(View, Trace)>]) -> bool {
    let Some(runs) = runs.iter().map(Option::as_ref).collect::<Option<Vec<_>>>() else { return true };
    let checks = promised(whole, &runs.iter().map(|(view, _)| view).collect::<Vec<_>>());
    let one = |(it, view): (&Mailbox, MailboxView)| {
        let side = |sandbox: usize, trace| side(trace, Duration::ZERO, runs[sandbox].0.duration);
        let sides = [it.source, it.destination].map(|end| side(end.sandbox, &runs[end.sandbox].1));
        let [from, to] = mail_of_the_workload(&view, sides);
        let summary = judge_mailbox(&view, side(it.source.sandbox, &from), side(it.destination.sandbox, &to));
        tell(&view, &Ok(summary))
    };
    // Each of them is told of.
    let held: Vec<bool> = views(whole, &checks).into_iter().map(one).collect();
    !held.contains(&false)
}

/// A run at an end that was its only one.
fn side(trace: &Trace, began: Duration, duration: Duration) -> MailboxSide<'_> {
    MailboxSide { trace, began, duration, restarted: false }
}

/// Judges the messages of a run on the machine; of a sandbox whose kernel did not come to the end of a run there is no trace. Whether all was kept,
/// and what scripts are told. What cannot be judged is not kept.
pub fn ran(
    whole: &Sandboxes,
    checks: &[MailboxCheck],
    sides: &[Option<MailboxSide<'_>>],
) -> (bool, Vec<serde_json::Value>, Vec<(String, bool)>) {
    let one = |(it, view): (&Mailbox, MailboxView)| {
        let ends = [it.source, it.destination];
        let missing = ends.into_iter().find(|end| sides[end.sandbox].is_none());
        let judged = match (missing, ends.map(|end| sides[end.sandbox])) {
            (None, [Some(from), Some(to)]) => Ok(judge_mailbox(&view, from, to)),
            (missing, _) => {
                let name = missing.map_or("", |end| whole.parts[end.sandbox].system.name.as_str());
                Err(format!("the kernel of sandbox {name} did not come to the end of a run"))
            }
        };
        let held = tell(&view, &judged);
        (summary(&view, &judged, held), (in_words(&view, &judged), held))
    };
    let (all, words): (Vec<_>, Vec<(String, bool)>) = views(whole, checks).into_iter().map(one).unzip();
    (words.iter().all(|it| it.1), all, words)
}

/// Says what became of a mailbox's messages; whether what was promised was kept.
fn tell(view: &MailboxView, judged: &Result<MailboxSummary, String>) -> bool {
    let text = in_words(view, judged);
    lines::line("mailbox", if judged.is_ok() { text } else { lines::bad(text) });
    let Ok(it) = judged else { return false };
    it.broken.iter().for_each(|broken| lines::line("", lines::bad(format!("{}: {broken}", view.name))));
    it.broken.is_empty()
}

/// `targets: 50 sent, 50 taken, 0 found no room; …`
fn in_words(view: &MailboxView, judged: &Result<MailboxSummary, String>) -> String {
    let it = match judged {
        Ok(it) => it,
        Err(why) => return format!("{} is not judged: {why}", view.name),
    };
    let longest = |took: Option<Duration>, of: Option<Duration>| match (took, of) {
        (Some(took), Some(of)) => format!("{} of {}", brief(took), brief(of)),
        (Some(took), None) => format!("{}, nothing promised", brief(took)),
        (None, _) => "none".into(),
    };
    let sent = longest(it.from_send, view.from_send);
    let released = longest(it.from_release, view.from_release);
    let late = if it.late > 0 { format!("; {} later than the file allows", it.late) } else { String::new() };
    let restarted = match (it.unjudged, it.earlier) {
        (0, false) => String::new(),
        (count, false) => format!("; {count} of them not judged: a kernel was started again"),
        (0, true) => "; those before a kernel was started again not judged".into(),
        (count, true) => format!("; {count} of them, and those before a kernel was started again, not judged"),
    };
    let excused = it.excused.as_ref().map_or(String::new(), |why| format!("; no time was owed: {why}"));
    format!(
        "{}: {} sent, {} taken, {} found no room; the longest {sent} from a send, {released} from the release of its job{late}{restarted}{excused}",
        view.name, it.sent, it.taken, it.refused
    )
}

/// What is kept of a mailbox, for scripts.
fn summary(view: &MailboxView, judged: &Result<MailboxSummary, String>, held: bool) -> serde_json::Value {
    let nanos = |time: Option<Duration>| time.map(Duration::as_nanos);
    let mut told = json!({
        "name": view.name,
        "from_send_bound_ns": nanos(view.from_send),
        "from_release_bound_ns": nanos(view.from_release),
        "room_for_all": view.has_room,
        "judged": judged.is_ok(),
        "held": held,
    });
    if let Ok(it) = judged {
        told["sent"] = json!(it.sent);
        told["taken"] = json!(it.taken);
        told["refused"] = json!(it.refused);
        told["unsound"] = json!(it.unsound);
        told["late"] = json!(it.late);
        told["unjudged"] = json!(it.unjudged);
        told["sent_earlier"] = json!(it.earlier);
        told["from_send_ns"] = json!(nanos(it.from_send));
        told["from_release_ns"] = json!(nanos(it.from_release));
        told["broken"] = json!(it.broken);
    }
    told
}
