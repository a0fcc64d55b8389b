//! The card about monitors: each property with its verdict and the events that led there.

use crate::text::{count, escape, put};
use tactus_trace::{MonitorSummary, Summary};

/// The card, or nothing where the system has no monitor.
pub(crate) fn section(summary: &Summary) -> String {
    if summary.monitors.is_empty() {
        return String::new();
    }
    let mut out = String::from(
        "<section id=\"monitors\" class=\"card\">\n<h2>Monitors</h2>\n<div class=\"scroll\">\n<table class=\"figures\"><thead><tr>\
         <th>Property</th><th>Verdict</th><th>Events that led there</th><th class=\"num\">Events</th><th>Rests on</th>\
         <th>Judged by</th></tr></thead><tbody>\n",
    );
    summary.monitors.iter().for_each(|it| row(&mut out, it));
    out.push_str("</tbody></table>\n</div>\n</section>\n");
    out
}

fn row(out: &mut String, it: &MonitorSummary) {
    let verdict = it.violation().unwrap_or_else(|| match it.at {
        Some(at) => format!("{}, since {at}", it.verdict),
        None => it.verdict.clone(),
    });
    let events = match it.not_recorded {
        0 => count(it.events as u64),
        lost => format!("{}, {} not recorded", count(it.events as u64), count(lost)),
    };
    let class = if it.is_broken() || it.not_judged().is_some() { " class=\"missed\"" } else { "" };
    let path: Vec<String> = it.path.iter().map(|step| format!("{} {} → {}", step.at, step.event, step.state)).collect();
    put(
        out,
        format_args!(
            "<tr><th scope=\"row\" title=\"{}\">{}</th><td{class}>{}</td><td>{}</td><td class=\"num\">{}</td><td>{}</td><td>{}</td></tr>\n",
            escape(&it.property),
            escape(&it.name),
            escape(&verdict),
            escape(&path.join(", ")),
            events,
            it.rests_on,
            it.judged_by,
        ),
    );
}
