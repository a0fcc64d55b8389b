//! The pages and the table that are made of the statements.

use crate::{Source, Statement, Status};
use std::fmt::Write;

/// The line of a page below which everything is made anew; what stands above is written by hand.
pub const MADE_BELOW: &str =
    "<!-- Made from statements.toml by `cargo run -p tactus-sources`; write above this line only. -->";
/// The line after which the table of counts stands on the book's first page.
pub const TABLE_BEGINS: &str = "<!-- Made from sources/statements.toml by `cargo run -p tactus-sources`. -->";
/// The line before which that table ends.
pub const TABLE_ENDS: &str = "<!-- End of what is made. -->";

/// How many statements of each status there are, in the order of [`Status::ALL`].
fn counts(statements: &[&Statement]) -> [usize; 4] {
    Status::ALL.map(|status| statements.iter().filter(|it| it.status == status).count())
}

/// A cell of a table: no line ends, no bars that would end it.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

/// The evidence of a statement, in one cell.
fn evidence(it: &Statement) -> String {
    let mut parts = Vec::new();
    for test in &it.tests {
        let (path, name) = test.rsplit_once("::").unwrap_or((test, ""));
        parts.push(format!("[`{name}`](../../{path})"));
    }
    if let Some(command) = &it.command {
        parts.push(format!("`{command}`"));
    }
    if let Some(figure) = &it.figure {
        let at = it.kept.as_deref().map(|kept| kept.strip_prefix("docs/").unwrap_or(kept));
        parts.push(at.map_or_else(|| figure.clone(), |at| format!("{figure} ([kept](../{at}))")));
    }
    cell(&parts.join("; "))
}

/// The page of a source: what is written by hand above [`MADE_BELOW`] in `old`, and the table of its statements.
#[must_use]
pub fn page(source: Source, statements: &[Statement], old: &str) -> String {
    let own: Vec<&Statement> = statements.iter().filter(|it| it.source == source).collect();
    let above = old.split(MADE_BELOW).next().unwrap_or_default().trim_end();
    let above =
        if above.is_empty() { format!("# {}, statement by statement", source.title()) } else { above.to_string() };
    let [shown, partly, missing, not_applicable] = counts(&own);
    let mut page = format!("{above}\n\n{MADE_BELOW}\n\n");
    let _ = writeln!(
        page,
        "Of {} statements {shown} are shown, {partly} partly, {missing} not, and {not_applicable} cannot be asked here. *I* are instructions.\n",
        own.len()
    );
    let _ = writeln!(page, "| | The source says | Status | Shown by | Note |\n|--:|---|---|---|---|");
    for it in own {
        let note = cell(it.note.as_deref().unwrap_or_default());
        let row = [it.number.to_string(), cell(&it.text), it.status.name().to_string(), evidence(it), note];
        let row: Vec<String> = row.into_iter().map(|cell| format!(" {cell} ").replace("  ", " ")).collect();
        let _ = writeln!(page, "|{}|", row.join("|"));
    }
    page
}

/// The book's first page with the table of counts made anew, or nothing where `old` has no place for it.
#[must_use]
pub fn first_page(statements: &[Statement], old: &str) -> Option<String> {
    let (before, rest) = old.split_once(TABLE_BEGINS)?;
    let (_, after) = rest.split_once(TABLE_ENDS)?;
    let mut page = format!("{before}{TABLE_BEGINS}\n\n| Source | Statements |");
    for status in Status::ALL {
        let _ = write!(page, " {} |", status.name());
    }
    let _ = writeln!(page, "\n|---|--:|--:|--:|--:|--:|");
    for source in Source::ALL {
        let own: Vec<&Statement> = statements.iter().filter(|it| it.source == source).collect();
        let title = format!("[{}](sources/{source}.md)", source.title());
        row(&mut page, &title, &own);
    }
    row(&mut page, "all", &statements.iter().collect::<Vec<_>>());
    let _ = write!(page, "\n{TABLE_ENDS}{after}");
    Some(page)
}

/// A row of the table of counts.
fn row(page: &mut String, title: &str, statements: &[&Statement]) {
    let _ = write!(page, "| {title} | {} |", statements.len());
    for count in counts(statements) {
        let _ = write!(page, " {count} |");
    }
    page.push('\n');
}
