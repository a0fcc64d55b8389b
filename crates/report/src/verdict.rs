//! The first thing on the page: what was promised, whether it held, and if not, what broke it.

use crate::page::{component_name, Details};
use crate::text::{at, count, counted, escape, percent, put};
use tactus_trace::{Bound, Broken, Fate, Share, Summary, Verdict, View, What};

/// The verdict as a section of the page.
pub(crate) fn section(view: &View, summary: &Summary, extra: &Details) -> String {
    let (class, mark) = match &summary.verdict {
        Verdict::Broken(_) | Verdict::Void | Verdict::Stopped | Verdict::Refused => ("broken", "✗"),
        Verdict::NoJobEnded | Verdict::NotJudged(_) => ("broken", "✗"),
        Verdict::NothingPromised => ("open", "–"),
        Verdict::Held => ("held", "✓"),
    };
    let mut out = format!(
        "<section id=\"verdict\" class=\"{class}\" data-verdict=\"{}\">\n\
         <h2><span class=\"mark\" aria-hidden=\"true\">{mark}</span>{}</h2>\n",
        summary.verdict.word(),
        escape(&capitalised(&summary.headline()))
    );
    put(&mut out, format_args!("<p>{}</p>\n", escape(&promise_in_words(view, summary, summary.promised))));
    if let Verdict::Broken(broken) = &summary.verdict {
        first_broken(&mut out, broken);
    }
    findings(&mut out, view, extra);
    culprits(&mut out, summary, extra);
    changes(&mut out, summary);
    slots(&mut out, summary);
    void(&mut out, summary);
    console(&mut out, extra);
    out.push_str("</section>\n");
    out
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

fn promise_in_words(view: &View, summary: &Summary, promised: u64) -> String {
    let jobs = counted(summary.total.released, "job", "jobs");
    let missed = match summary.total.missed {
        0 => "no deadline was missed".to_owned(),
        n => format!("{} missed", counted(n, "deadline was", "deadlines were")),
    };
    if !summary.accepted {
        return format!("The analysis did not accept this system, so its bounds are no promises. Of {jobs}, {missed}.");
    }
    if promised == 0 {
        return format!("No task has a bound. Of {jobs}, {missed}.");
    }
    let hard = view.tasks.iter().filter(|t| matches!(t.promise, Some(Bound::Response(_)))).count() as u64;
    let mut kinds = Vec::new();
    if hard > 0 {
        kinds.push(format!("a bound on every response for {}", counted(hard, "task", "tasks")));
    }
    if promised > hard {
        kinds.push(format!("a bound on tardiness for {}", counted(promised - hard, "task", "tasks")));
    }
    let rest = view.tasks.len() as u64 - promised;
    if rest > 0 {
        kinds.push(format!("nothing for {}", counted(rest, "task", "tasks")));
    }
    let worst = summary
        .tasks
        .iter()
        .filter_map(|t| Some((t.worst_over_bound.filter(|w| w.is_finite())?, &t.name)))
        .max_by(|a, b| a.0.total_cmp(&b.0));
    let worst = worst.map_or(String::new(), |(w, name)| {
        let how = if w > 1.0 { "Furthest past its bound" } else { "Nearest to its bound" };
        format!(" {how}: {name}, at {}.", percent(w))
    });
    format!("Promised: {}. Of {jobs}, {missed}.{worst}", kinds.join(", "))
}

fn first_broken(out: &mut String, broken: &Broken) {
    let who = broken.task.as_deref().map_or("the system".to_owned(), escape);
    let job = broken.job.map_or(String::new(), |j| format!(", job {}", count(j.into())));
    let what = match broken.what {
        What::Response => "response longer than its bound",
        What::Tardiness => "later than its tardiness bound allows",
        What::Deadline => "missed its deadline",
        What::Chain => "ends a chain that took longer than promised",
        What::Dropped => "records were dropped, so nothing can be said about the rest of the run",
        What::Rule => "a rule that holds in every run was broken",
        What::Request => "a request to a disk took longer than its bound",
        What::Machine => "the machine did what nobody had decided",
        What::Property => "a property that a monitor watched was violated",
    };
    let cause = &broken.cause;
    put(out, format_args!("<div class=\"first\">\n<h3>First: <strong>{who}</strong>{job} — {what}</h3>\n<dl>\n"));
    put(out, format_args!("<div><dt>When</dt><dd>{}</dd></div>\n", at(broken.time)));
    if let Some(limit) = broken.limit {
        put(out, format_args!("<div><dt>Promised</dt><dd>at most {limit}</dd></div>\n"));
    }
    if let Some(actual) = broken.actual {
        put(out, format_args!("<div><dt>Came out as</dt><dd>{actual}</dd></div>\n"));
    }
    if !cause.text.is_empty() {
        put(out, format_args!("<div class=\"wide\"><dt>Cause</dt><dd>{}</dd></div>\n", escape(&cause.text)));
    }
    out.push_str("</dl>\n");
    if !cause.ran.is_empty() {
        shares(out, &cause.ran);
    }
    if broken.what != What::Dropped {
        let (from, to) = (cause.from.as_nanos(), cause.to.max(broken.time).as_nanos());
        let room = (to.saturating_sub(from) / 4).max(1_000);
        let task = broken.task_id.map_or(String::new(), |t| format!("&amp;task={}", t.0));
        put(
            out,
            format_args!(
                "<p><a class=\"go\" href=\"#t={},{}{task}\">Show it in the schedule</a></p>\n",
                from.saturating_sub(room),
                to.saturating_add(room)
            ),
        );
    }
    out.push_str("</div>\n");
}

/// Who had the cores between release and break, the longest first.
fn shares(out: &mut String, ran: &[Share]) {
    const SHOWN: usize = 6;
    out.push_str("<table class=\"shares\"><caption>What ran meanwhile, on the cores concerned</caption><tbody>\n");
    for share in ran.iter().take(SHOWN) {
        put(
            out,
            format_args!(
                "<tr><th scope=\"row\"><a href=\"#task={}\">{}</a></th><td class=\"num\">{}</td><td class=\"num\">{}</td>\
                 <td class=\"bar\"><span style=\"width:{:.1}%\"></span></td></tr>\n",
                share.task_id.0,
                escape(&share.task),
                share.time,
                percent(share.share),
                (share.share * 100.0).clamp(0.0, 100.0)
            ),
        );
    }
    out.push_str("</tbody></table>\n");
    if ran.len() > SHOWN {
        put(out, format_args!("<p class=\"more\">and {} more</p>\n", ran.len() - SHOWN));
    }
}

fn culprits(out: &mut String, summary: &Summary, extra: &Details) {
    if summary.culprits.is_empty() {
        return;
    }
    out.push_str("<div class=\"culprits\"><h3>Stopped for misbehaviour</h3>\n<ul>\n");
    for c in &summary.culprits {
        let task = c.task.as_deref().map_or(String::new(), |t| format!(" (task {})", escape(t)));
        let time = c.time.as_nanos();
        let link = c.task_id.map_or(String::new(), |t| format!("&amp;task={}", t.0));
        put(
            out,
            format_args!(
                "<li><strong>{}</strong>{task}: {}, on core {} at \
                 <a href=\"#t={},{}{link}\">{}</a></li>\n",
                escape(&component_name(extra, c.component)),
                escape(&c.what()),
                c.core,
                time.saturating_sub(20_000_000),
                time + 20_000_000,
                at(c.time)
            ),
        );
    }
    for it in &summary.restarts {
        let (name, time) = (component_name(extra, it.component), it.time.as_nanos());
        let link =
            format!("<a href=\"#t={},{}\">{}</a>", time.saturating_sub(20_000_000), time + 20_000_000, at(it.time));
        let what = match it.given_up {
            false => {
                let by = it.by.map(|by| format!(", restarted by {}", escape(&component_name(extra, by))));
                format!("runs again at {link}, restart number {}{}", it.count, by.unwrap_or_default())
            }
            true => format!("stays stopped from {link}: it was restarted {} times, as often as it may be", it.count),
        };
        put(out, format_args!("<li><strong>{}</strong> {what}</li>\n", escape(&name)));
    }
    if summary.total.aborted > 0 {
        let jobs = counted(summary.total.aborted, "job", "jobs");
        put(out, format_args!("<li>{jobs} ended unfinished with the component that they ran in</li>\n"));
    }
    out.push_str("</ul></div>\n");
}

/// What the check found, where it refused the system: the reasons and the remedies.
fn findings(out: &mut String, view: &View, extra: &Details) {
    if extra.findings.is_empty() {
        return;
    }
    let why = if view.accepted { "What the check found" } else { "Why the check refused the system, and what to do" };
    put(out, format_args!("<div class=\"culprits\"><h3>{why}</h3>\n<ul>\n"));
    for finding in &extra.findings {
        put(out, format_args!("<li>{}</li>\n", escape(finding)));
    }
    out.push_str("</ul></div>\n");
}

/// What components printed.
fn console(out: &mut String, extra: &Details) {
    if extra.console.is_empty() {
        return;
    }
    let lines = counted(extra.console.len() as u64, "line", "lines");
    put(out, format_args!("<details class=\"void\"><summary>What components printed: {lines}</summary>\n<pre>"));
    for line in &extra.console {
        put(out, format_args!("{}\n", escape(line)));
    }
    out.push_str("</pre></details>\n");
}

/// Changes of the running system, and what became of them.
fn changes(out: &mut String, summary: &Summary) {
    if summary.changes.is_empty() {
        return;
    }
    out.push_str("<details class=\"void\" open><summary>Changes of the running system</summary>\n<ul>\n");
    for change in &summary.changes {
        let link = change.decided.map_or(String::new(), |time| {
            let nanos = time.as_nanos();
            let (from, to) = (nanos.saturating_sub(20_000_000), nanos + 20_000_000);
            format!("<a href=\"#t={from},{to}\">{}</a>", at(time))
        });
        let fate = match (change.fate, change.why.as_deref()) {
            (Fate::Applied, _) => format!("applied at {link}"),
            (Fate::Refused, why) => format!("refused at {link}: {}", escape(why.unwrap_or("it was not admitted"))),
            (Fate::Waiting, _) => "was still waiting at the end of the run: no idle instant had come".into(),
            (Fate::NotRequested, _) => "not requested: the run ended before".into(),
        };
        let requested = at(change.requested);
        let what = escape(&change.what);
        put(
            out,
            format_args!(
                "<li><strong>{what}</strong>, requested at {requested} on core {}: {fate}</li>\n",
                change.core
            ),
        );
    }
    out.push_str("</ul></details>\n");
}

/// What was in each slot and when, and what was refused.
fn slots(out: &mut String, summary: &Summary) {
    if summary.slots.is_empty() {
        return;
    }
    out.push_str("<details class=\"void\" open><summary>Slots</summary>\n<ul>\n");
    for slot in &summary.slots {
        put(out, format_args!("<li><strong>{}</strong>: {}</li>\n", escape(&slot.name), escape(&slot.words())));
        for update in slot.updates() {
            put(out, format_args!("<li>update: {}</li>\n", escape(&update)));
        }
        for (load, why) in slot.refused() {
            let at = load.decided.map_or(String::new(), |time| format!(" at {}", at(time)));
            put(out, format_args!("<li>{}: refused{at}: {}</li>\n", escape(&slot.name), escape(why)));
        }
    }
    out.push_str("</ul></details>\n");
}

/// Promises that ceased to bind, and why.
fn void(out: &mut String, summary: &Summary) {
    let void: Vec<_> = summary.tasks.iter().filter_map(|t| Some((t, t.void.as_deref()?))).collect();
    if void.is_empty() {
        return;
    }
    put(
        out,
        format_args!(
            "<details class=\"void\"><summary>{} to bind during the run</summary>\n<ul>\n",
            counted(void.len() as u64, "promise ceased", "promises ceased")
        ),
    );
    for (task, why) in void {
        let from = task.void_from.map_or(String::new(), |t| format!(" from {}", at(t)));
        put(out, format_args!("<li><strong>{}</strong>{from}: {}</li>\n", escape(&task.name), escape(why)));
    }
    out.push_str("</ul></details>\n");
}
