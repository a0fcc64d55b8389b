//! The card about disks: each client with its requests, and what its drive did not keep to.

use crate::tables::{bar, length, misses, num};
use crate::text::{count, escape, put};
use tactus_trace::{DiskFate, DiskSummary, Summary};

/// The card, or nothing where the run had no disk.
pub(crate) fn section(summary: &Summary) -> String {
    if summary.disks.is_empty() {
        return String::new();
    }
    let mut out = String::from("<section id=\"disks\" class=\"card\">\n<h2>Disks</h2>\n<div class=\"scroll\">\n");
    for disk in &summary.disks {
        table(&mut out, disk);
    }
    out.push_str("</div>\n</section>\n");
    out
}

fn table(out: &mut String, disk: &DiskSummary) {
    let fate = match disk.fate {
        DiskFate::Held => "every promise held",
        DiskFate::NothingPromised => "nothing was promised",
        DiskFate::Refused => "the check had refused the system",
        DiskFate::Void => "void",
        DiskFate::Broken => "broken",
    };
    let text = format!("{}: {fate}; {}", disk.name, disk.headline());
    put(out, format_args!("<p>{}</p>\n", escape(&text)));
    out.push_str(
        "<table class=\"figures\"><thead><tr><th>Client</th><th class=\"num\">Requests</th><th class=\"num\">Missed</th>\
         <th class=\"num\">Median <i>ms</i></th><th class=\"num\">p99 <i>ms</i></th><th class=\"num\">Max <i>ms</i></th>\
         <th class=\"num\">Deadline <i>ms</i></th><th class=\"num\">Bound <i>ms</i></th><th>Worst ÷ bound</th></tr></thead>\
         <tbody>\n",
    );
    for client in &disk.clients {
        put(out, format_args!("<tr><th scope=\"row\">{}</th>", escape(&client.name)));
        num(out, client.requests as f64, &count(client.requests));
        misses(out, client.missed);
        for d in [client.response.map(|s| s.median), client.response.map(|s| s.p99), client.response.map(|s| s.max)] {
            length(out, d);
        }
        length(out, client.deadline);
        length(out, client.bound);
        bar(out, client.worst_over_bound, None);
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody></table>\n");
}
