//! The page of a run with several sandboxes: what became of each, and the way to its own report.

use crate::text::escape;
use std::fmt::Write;

/// What the page tells of a sandbox.
#[derive(Clone, Debug)]
pub struct SandboxRow {
    /// Its name, which is that of its folder beside the page.
    pub name: String,
    /// Whether every promise made to it held.
    pub held: bool,
    /// Why it was not judged; nothing where it has a report.
    pub not_judged: Option<String>,
    /// Exits of its kernel by cause, in words.
    pub exits: String,
}

/// The page: a whole HTML document that needs nothing beside it but the reports that it leads to. `mailboxes`: what became of
/// each between them, and whether it was as promised. `note` tells what nothing holds back.
pub fn sandboxes_page(name: &str, rows: &[SandboxRow], mailboxes: &[(String, bool)], note: &str) -> String {
    let held = rows.iter().all(|row| row.held) && mailboxes.iter().all(|it| it.1);
    let (verdict, words) = if held { ("held", "every promise held") } else { ("broken", "not every promise held") };
    let name = escape(name);
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{name} · Tactus report</title>\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\
         <style>body{{font-family:sans-serif;margin:2em}}td,th{{text-align:left;padding:.3em 1em .3em 0}}</style></head>\n\
         <body data-verdict=\"{verdict}\"><h1>{name}</h1><p>{words}; {}</p>\n\
         <table><tr><th>sandbox</th><th>verdict</th><th>exits of its kernel</th></tr>\n",
        escape(note)
    );
    for row in rows {
        let own = escape(&row.name);
        let (link, verdict) = match &row.not_judged {
            Some(why) => (own.clone(), format!("not judged: {}", escape(why))),
            None => {
                let held = if row.held { "held" } else { "broken" };
                (format!("<a href=\"{own}/report.html\">{own}</a>"), held.to_string())
            }
        };
        let _ = writeln!(page, "<tr><td>{link}</td><td>{verdict}</td><td>{}</td></tr>", escape(&row.exits));
    }
    page += "</table>";
    for (words, held) in mailboxes {
        let _ = writeln!(page, "<p>mailbox {}{}</p>", escape(words), if *held { "" } else { ": not as promised" });
    }
    page + "</body></html>\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_leads_to_each_report_and_holds_if_all_do() {
        let row = |name: &str, held, not_judged: Option<&str>| SandboxRow {
            name: name.into(),
            held,
            not_judged: not_judged.map(str::to_string),
            exits: "end of the run 1".into(),
        };
        let page = sandboxes_page("both", &[row("one", true, None), row("two", true, None)], &[], "<open>");
        assert!(page.contains("data-verdict=\"held\"") && page.contains("&lt;open&gt;"), "{page}");
        assert!(page.contains("<a href=\"one/report.html\">one</a></td><td>held</td>"), "{page}");
        let page = sandboxes_page("both", &[row("one", true, None), row("two", false, Some("died"))], &[], "");
        assert!(
            page.contains("data-verdict=\"broken\"") && page.contains("<td>two</td><td>not judged: died</td>"),
            "{page}"
        );
        let both = [row("one", true, None), row("two", true, None)];
        let page = sandboxes_page("both", &both, &[("<in>: 1 sent".into(), false)], "");
        assert!(
            page.contains("data-verdict=\"broken\"") && page.contains("&lt;in&gt;: 1 sent: not as promised"),
            "{page}"
        );
    }
}
