//! The tables of figures: per level, per task, per core, and the system's own work.

use crate::text::{count, escape, ms, percent, put, us};
use tactus_time::{Duration, Level};
use tactus_trace::{Bound, Distribution, LevelSummary, Overheads, Summary, TaskSummary};

/// A length of the bar at which the worst case equals its bound, in percent of the whole track.
const BOUND_AT: f64 = 80.0;

fn level_badge(level: Option<Level>) -> String {
    level.map_or("<span class=\"level\">all</span>".into(), |l| {
        format!("<span class=\"level level-{l}\" title=\"Level {l}\">{l}</span>")
    })
}

/// A cell with a number, and what the column sorts by.
pub(crate) fn num(out: &mut String, sort: f64, text: &str) {
    put(out, format_args!("<td class=\"num\" data-v=\"{sort}\">{text}</td>"));
}

fn none(out: &mut String) {
    out.push_str("<td class=\"num none\" data-v=\"-1\">–</td>");
}

pub(crate) fn length(out: &mut String, d: Option<Duration>) {
    match d {
        Some(d) => num(out, d.as_nanos() as f64, &ms(d)),
        None => none(out),
    }
}

fn spread(out: &mut String, s: Option<Distribution>) {
    for d in [s.map(|s| s.min), s.map(|s| s.median), s.map(|s| s.p99), s.map(|s| s.max)] {
        length(out, d);
    }
}

pub(crate) fn misses(out: &mut String, n: u64) {
    if n == 0 {
        num(out, 0.0, "0");
    } else {
        put(out, format_args!("<td class=\"num missed\" data-v=\"{n}\">{}</td>", count(n)));
    }
}

/// Worst ÷ bound as a bar with a tick where the bound lies.
///
/// `void`: why the promise ceased to bind, if it did; the figure is of the jobs before.
pub(crate) fn bar(out: &mut String, ratio: Option<f64>, void: Option<&str>) {
    let Some(ratio) = ratio else {
        out.push_str("<td class=\"bound none\" data-v=\"-1\">no bound</td>");
        return;
    };
    let class = if ratio > 1.0 { " over" } else { "" };
    let width = (ratio * BOUND_AT).clamp(0.0, 100.0);
    let mut text = if ratio.is_finite() { percent(ratio) } else { "∞".into() };
    if let Some(why) = void {
        put(&mut text, format_args!(" <span class=\"tag\" title=\"{}\">until void</span>", escape(why)));
    }
    put(
        out,
        format_args!(
            "<td class=\"bound{class}\" data-v=\"{:.6}\"><span class=\"track\"><span class=\"fill\" \
             style=\"width:{width:.1}%\"></span></span><span class=\"ratio\">{text}</span></td>",
            if ratio.is_finite() { ratio } else { 1e9 }
        ),
    );
}

/// The table per level.
pub(crate) fn levels(summary: &Summary) -> String {
    let mut out = String::from(
        "<table class=\"figures\"><thead><tr><th>Level</th><th class=\"num\">Tasks</th><th class=\"num\">Jobs</th>\
         <th class=\"num\">Missed</th><th class=\"num\">Median <i>ms</i></th>\
         <th class=\"num\">p99 <i>ms</i></th><th class=\"num\">Max <i>ms</i></th>\
         <th>Worst ÷ bound</th><th>Worst task</th><th class=\"num\">Tardiness <i>ms</i></th>\
         <th class=\"num\">Tardiness bound <i>ms</i></th>\
         <th class=\"num\">Preemptions</th><th class=\"num\">Migrations</th></tr></thead><tbody>\n",
    );
    for level in &summary.levels {
        level_row(&mut out, level, summary);
    }
    out.push_str("</tbody></table>\n");
    out
}

fn level_row(out: &mut String, level: &LevelSummary, summary: &Summary) {
    put(out, format_args!("<tr><th scope=\"row\">{}</th>", level_badge(level.level)));
    num(out, level.tasks as f64, &count(level.tasks));
    num(out, level.jobs.released as f64, &count(level.jobs.released));
    misses(out, level.jobs.missed);
    for d in [level.response.map(|s| s.median), level.response.map(|s| s.p99), level.response.map(|s| s.max)] {
        length(out, d);
    }
    let void = (level.void > 0).then_some("promises of its tasks ceased to bind; this is of the jobs before");
    bar(out, level.worst_over_bound, void);
    match &level.worst_task {
        Some(name) => {
            let task = summary.tasks.iter().find(|t| t.name == *name);
            let link = task.map_or(String::new(), |t| format!(" href=\"#task={}\"", t.id.0));
            put(out, format_args!("<td><a class=\"name\"{link}>{}</a></td>", escape(name)));
        }
        None => out.push_str("<td class=\"none\">–</td>"),
    }
    length(out, Some(level.tardiness_max));
    length(out, level.tardiness_bound);
    num(out, level.preemptions as f64, &count(level.preemptions));
    num(out, level.migrations as f64, &count(level.migrations));
    out.push_str("</tr>\n");
}

/// The table per task. Heads are buttons: the page's script sorts by them.
pub(crate) fn tasks(summary: &Summary) -> String {
    let heads: [(&str, &str, bool, &str); 15] = [
        ("Task", "", false, "Name in the system file"),
        ("Level", "", false, "Criticality"),
        ("Core", "", true, "The core it is bound to"),
        ("Period", "ms", true, "Time from release to release"),
        ("Jobs", "", true, "Released during the run"),
        ("Missed", "", true, "Completed after the deadline, or unfinished at the end with the deadline past"),
        ("Min", "ms", true, "Shortest response: release to completion"),
        ("Median", "ms", true, "Half of all responses are no longer than this"),
        ("p99", "ms", true, "99 of 100 responses are no longer than this"),
        ("Max", "ms", true, "Longest response"),
        ("Bound", "ms", true, "Promised: longest response, or (after +) greatest tardiness past the deadline"),
        ("Worst ÷ bound", "", false, "Longest response ÷ bound, or greatest tardiness ÷ bound; the tick is 100%"),
        ("Tardy", "ms", true, "Greatest time by which a job was later than its deadline"),
        ("Preempted", "", true, "How often a job lost its core before it was finished"),
        ("Migrated", "", true, "How often a job went on on another core"),
    ];
    let mut out = String::from("<table class=\"figures\" id=\"task-table\"><thead><tr>");
    for (name, unit, numeric, title) in heads {
        let class = if numeric { " class=\"num\"" } else { "" };
        let unit = if unit.is_empty() { String::new() } else { format!(" <i>{unit}</i>") };
        put(&mut out, format_args!("<th{class}><button type=\"button\" title=\"{title}\">{name}{unit}</button></th>"));
    }
    out.push_str("</tr></thead><tbody>\n");
    for task in &summary.tasks {
        task_row(&mut out, task);
    }
    out.push_str("</tbody></table>\n");
    out
}

/// The table per chain; nothing if there are none.
pub(crate) fn chains(summary: &Summary) -> String {
    if summary.chains.is_empty() {
        return String::new();
    }
    let mut out = String::from(
        "<table class=\"figures\" id=\"chain-table\"><thead><tr><th>Chain</th><th class=\"num\">Passages</th>\
         <th class=\"num\">Missed</th><th class=\"num\">Min <i>ms</i></th><th class=\"num\">Median <i>ms</i></th>\
         <th class=\"num\">p99 <i>ms</i></th><th class=\"num\">Max <i>ms</i></th><th class=\"num\">Bound <i>ms</i></th>\
         <th class=\"num\">Deadline <i>ms</i></th></tr></thead><tbody>\n",
    );
    for chain in &summary.chains {
        put(&mut out, format_args!("<tr><th scope=\"row\">{}</th>", escape(&chain.name)));
        num(&mut out, chain.begun as f64, &count(chain.begun));
        misses(&mut out, chain.missed);
        spread(&mut out, chain.response);
        length(&mut out, chain.bound);
        length(&mut out, chain.deadline);
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody></table>\n");
    out
}

fn task_row(out: &mut String, task: &TaskSummary) {
    let (id, name) = (task.id.0, escape(&task.name));
    let removed = match (task.removed_at, &task.void) {
        (Some(_), _) => " <span class=\"tag\">removed</span>".to_owned(),
        (None, Some(why)) => format!(" <span class=\"tag\" title=\"{}\">void</span>", escape(why)),
        (None, None) => String::new(),
    };
    put(
        out,
        format_args!(
            "<tr data-task=\"{id}\"><th scope=\"row\" data-v=\"{name}\">\
             <a class=\"name\" href=\"#task={id}\" title=\"{name}\">{name}</a>{removed}</th>"
        ),
    );
    let level = task.level.map_or(-1.0, |l| f64::from(l as u8));
    put(out, format_args!("<td data-v=\"{level}\">{}</td>", level_badge(task.level)));
    match task.core {
        Some(core) => num(out, f64::from(core.0), &core.to_string()),
        None => put(out, format_args!("<td class=\"num\" data-v=\"99\">any</td>")),
    }
    length(out, Some(task.period));
    num(out, task.jobs.released as f64, &count(task.jobs.released));
    misses(out, task.jobs.missed);
    spread(out, task.response);
    match task.promise {
        Some(Bound::Response(bound)) => num(out, bound.as_nanos() as f64, &ms(bound)),
        Some(Bound::Tardiness(bound)) => {
            let response = task.deadline.as_nanos().saturating_add(bound.as_nanos());
            num(out, response as f64, &format!("+{}", ms(bound)));
        }
        None => none(out),
    }
    bar(out, task.worst_over_bound, task.void.as_deref());
    length(out, Some(task.tardiness_max));
    num(out, task.preemptions as f64, &count(task.preemptions));
    num(out, task.migrations as f64, &count(task.migrations));
    out.push_str("</tr>\n");
}

/// Where each core's time went.
pub(crate) fn cores(summary: &Summary) -> String {
    let mut out = String::from(
        "<table class=\"figures\"><thead><tr><th>Core</th><th>Busy, scheduler, idle</th><th class=\"num\">Busy</th>\
         <th class=\"num\">Scheduler</th><th class=\"num\">Idle</th><th class=\"num\">Switches</th>\
         <th class=\"num\">Records</th><th class=\"num\">Dropped</th></tr></thead><tbody>\n",
    );
    for core in &summary.per_core {
        let parts = [core.busy, core.scheduler, core.idle].map(|d| d.as_nanos() as f64);
        let whole = parts.iter().sum::<f64>().max(1.0);
        let [busy, scheduler, idle] = parts.map(|p| p / whole);
        put(
            &mut out,
            format_args!(
                "<tr><th scope=\"row\">{}</th><td class=\"stack\"><span class=\"busy\" style=\"width:{:.2}%\"></span>\
                 <span class=\"scheduler\" style=\"width:{:.2}%\"></span></td>",
                core.core,
                busy * 100.0,
                scheduler * 100.0
            ),
        );
        for share in [busy, scheduler, idle] {
            num(&mut out, share, &percent(share));
        }
        num(&mut out, core.overheads.switches as f64, &count(core.overheads.switches));
        num(&mut out, core.records as f64, &count(core.records));
        misses(&mut out, core.dropped);
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody></table>\n");
    out
}

/// The system's own work by kind: all cores together, then each core behind a fold.
pub(crate) fn overheads(summary: &Summary) -> String {
    let mut out = overhead_table("All cores", &summary.overheads);
    out.push_str("<details><summary>Core by core</summary>\n");
    for core in &summary.per_core {
        out.push_str(&overhead_table(&format!("Core {}", core.core), &core.overheads));
    }
    out.push_str("</details>\n");
    out
}

fn overhead_table(caption: &str, o: &Overheads) -> String {
    let e = &o.entries;
    let rows = [
        ("Timer lateness", "set time to scheduler entry", o.timer_lateness),
        ("Release", "nominal release to notice taken", o.release),
        ("Inter-core event", "decision to the receiver's entry", o.inter_core),
        ("Scheduler, any reason", "entry to decision", o.schedule),
        ("… at start", "the core starts", e.start),
        ("… by timer", "a time-out expired", e.timer),
        ("… by completion", "the running job finished", e.complete),
        ("… by event", "another core sent an event", e.notify),
        ("… by fault", "a component was stopped", e.fault),
        ("… by arrival", "something arrived that releases a job", e.arrival),
        ("… by unlock", "a section ended for which a job waited", e.unlock),
        ("… by wait", "a job began to wait", e.wait),
        ("… by lock", "a job wanted what another one may hold", e.lock),
        ("… by signal", "a job signalled or awaited an event", e.signal),
    ];
    let mut out = format!(
        "<table class=\"figures\"><caption>{}</caption><thead><tr><th>Kind</th><th>From, to</th>\
         <th class=\"num\">Number</th><th class=\"num\">Min <i>µs</i></th><th class=\"num\">Median <i>µs</i></th>\
         <th class=\"num\">p99 <i>µs</i></th><th class=\"num\">Max <i>µs</i></th><th class=\"num\">Total <i>ms</i></th>\
         </tr></thead><tbody>\n",
        escape(caption)
    );
    for (name, what, spread) in rows {
        let Some(s) = spread else { continue };
        put(&mut out, format_args!("<tr><th scope=\"row\">{name}</th><td class=\"what\">{what}</td>"));
        num(&mut out, s.count as f64, &count(s.count));
        for d in [s.min, s.median, s.p99, s.max] {
            num(&mut out, d.as_nanos() as f64, &us(d));
        }
        num(&mut out, s.total.as_nanos() as f64, &ms(s.total));
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody></table>\n");
    out
}
