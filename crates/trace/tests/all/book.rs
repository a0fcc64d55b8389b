//! The pages on the verdict and on the figures of a run name all that there is, each in its place, and nothing that there is not.

use std::fs;
use std::path::{Path, PathBuf};
use tactus_time::Duration;
use tactus_trace::Bound;

/// Where the page on figures tells of a type: from the first of these texts to the second one.
const PLACES: [(&str, &str, &str); 33] = [
    ("Summary", "## Names", "\n`jobs` and `total`:"),
    ("VoidBy", "| `voids` |", "\n"),
    ("VoidTask", "| `voids` |", "\n"),
    ("ChainSummary", "| `chains` |", "\n"),
    ("HeapUse", "| `heaps` |", "\n"),
    ("ProcessMisses", "| `deadlines` |", "\n"),
    ("JobCounts", "`jobs` and `total`:", "\n\n"),
    ("Distribution", "Each spread of lengths:", "\n\n"),
    ("TaskSummary", "Each of `tasks`:", "Each of `levels`:"),
    ("Promise", "| `promise` |", "\n"),
    ("LevelSummary", "Each of `levels`:", "\n\n"),
    ("CoreSummary", "Each of `per_core`:", "\n\n"),
    ("Overheads", "`overheads`, each", "Each of `culprits`:"),
    ("Entries", "| `entries` |", "\n"),
    ("Culprit", "Each of `culprits`:", "\n\n"),
    ("ChangeSummary", "Each of `changes`:", "\n\n"),
    ("Fate", "Each of `changes`:", "\n\n"),
    ("SlotSummary", "Each of `slots`:", "\n\n"),
    ("LoadSummary", "Each of `slots`:", "\n\n"),
    ("UpdateSummary", "Each of `slots`:", "\n\n"),
    ("LostJob", "Each of `slots`:", "\n\n"),
    ("LoadFate", "Each of `slots`:", "\n\n"),
    ("Restart", "Each of `restarts`:", "\n\n"),
    ("DiskSummary", "Each of `disks`:", "\n\n"),
    ("DiskFate", "Each of `disks`:", "\n\n"),
    ("DiskClientSummary", "Each of `disks`:", "\n\n"),
    ("SlowDrive", "Each of `disks`:", "\n\n"),
    ("SlowCell", "Each of `disks`:", "\n\n"),
    ("Withdrawn", "Each of `disks`:", "\n\n"),
    ("DiskBroken", "Each of `disks`:", "\n\n"),
    ("MonitorSummary", "Each of `monitors`:", "\n\n"),
    ("Step", "Each of `monitors`:", "\n\n"),
    ("Broken", "`verdict`: `outcome`", "of all cores together."),
];

/// Types of the verdict that the same place tells of.
const OF_VERDICT: [&str; 3] = ["NotJudged", "Cause", "Share"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The types that are written to `summary.json`, each with the names that stand there: of its fields, or of its values.
fn written() -> Vec<(String, Vec<String>)> {
    let folder = fs::read_dir(root().join("crates/trace/src/summary")).expect("the folder of the summary");
    let mut files: Vec<String> = folder.flatten().map(|it| fs::read_to_string(it.path()).expect("a file")).collect();
    files.extend(
        ["summary", "chains", "view/heap", "view/written_promise"]
            .map(|name| read(&format!("crates/trace/src/{name}.rs"))),
    );
    let mut all: Vec<(String, Vec<String>)> = Vec::new();
    for text in &files {
        let (mut serialised, mut separator, mut renamed, mut content) = (false, "_", None, None);
        let mut inside: Option<(bool, &str)> = None;
        for line in text.lines() {
            let trimmed = line.trim();
            if let Some((is_enum, name)) = inside {
                let field = trimmed.strip_prefix("pub ").unwrap_or(trimmed).split_once(": ").map(|(name, _)| name);
                let value = trimmed.trim_end_matches(" {").trim_end_matches(',').split('(').next().unwrap_or_default();
                let names = &mut all.last_mut().unwrap_or_else(|| panic!("{name} was put there")).1;
                if line == "}" {
                    inside = None;
                } else if trimmed.starts_with("#[serde(rename = ") {
                    renamed = trimmed.split('"').nth(1);
                } else if trimmed.starts_with(['/', '#']) {
                } else if let Some(field) = field.filter(|it| it.chars().all(|c| c.is_ascii_lowercase() || c == '_')) {
                    names.push(renamed.take().unwrap_or(field).to_owned());
                } else if is_enum && value.starts_with(|c: char| c.is_ascii_uppercase()) {
                    names.push(lower(value, separator));
                }
            } else if let Some(derived) = trimmed.strip_prefix("#[derive(") {
                (serialised, separator) = (derived.contains("Serialize"), "_");
            } else if let Some(name) = trimmed.split("content = \"").nth(1).and_then(|rest| rest.split('"').next()) {
                content = Some(name.to_owned());
            } else if trimmed.contains("rename_all = \"kebab-case\"") {
                separator = "-";
            } else if let Some(name) = ["pub struct ", "pub enum "].iter().find_map(|it| trimmed.strip_prefix(it)) {
                let name = name.trim_end_matches(" {");
                if std::mem::take(&mut serialised) {
                    all.push((name.to_owned(), content.take().into_iter().collect()));
                    inside = Some((trimmed.starts_with("pub enum"), name));
                }
            }
        }
    }
    let promise = all.iter_mut().find(|it| it.0 == "Promise").expect("promises are written");
    promise.1.extend([Bound::Response, Bound::Tardiness].map(|bound| bound(Duration::ZERO).kind().to_owned()));
    all
}

/// `NotRequested` as `not-requested`, or with another separator.
fn lower(name: &str, separator: &str) -> String {
    let mut out = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !out.is_empty() {
            out += separator;
        }
        out.push(letter.to_ascii_lowercase());
    }
    out
}

#[test]
fn the_page_on_figures_tells_of_each_name_in_its_place() {
    let page = read("docs/summary.md");
    let place = |name: &str| {
        let name = if OF_VERDICT.contains(&name) { "Broken" } else { name };
        let (_, from, to) = PLACES.iter().find(|it| it.0 == name)?;
        let start = page.find(from).unwrap_or_else(|| panic!("{from:?} stands on the page"));
        let length = page[start + 1..].find(to).unwrap_or_else(|| panic!("{from:?} ends with {to:?}"));
        Some(&page[start..start + 1 + length])
    };
    let (mut count, mut missing) = (0, Vec::new());
    for (name, fields) in written() {
        // They are told of by the page on the verdict.
        if ["Verdict", "What"].contains(&&*name) {
            continue;
        }
        let text = place(&name).unwrap_or_else(|| panic!("the page on figures has no place for {name}"));
        count += fields.len();
        let absent = fields.iter().filter(|field| !text.contains(&format!("`{field}`")));
        missing.extend(absent.map(|field| format!("{name}: {field}")));
    }
    assert!(count > 150 && missing.is_empty(), "{count} {missing:?}");
}

/// The first column of the table of this head.
fn column(page: &str, head: &str) -> Vec<String> {
    let rows = page.lines().skip_while(|line| !line.starts_with(head)).skip(2).take_while(|line| line.starts_with('|'));
    rows.filter_map(|row| Some(row.split('`').nth(1)?.to_owned())).collect()
}

#[test]
fn the_page_on_the_verdict_has_each_outcome_and_each_kind_of_broken_promise() {
    let (page, written) = (read("docs/verdict.md"), written());
    for (name, head) in [("Verdict", "| `outcome` |"), ("What", "| `what` |")] {
        let mut there = column(&page, head);
        let values = written.iter().find(|it| it.0 == name).map(|it| it.1.clone());
        let mut values = values.unwrap_or_else(|| panic!("{name} is written"));
        there.sort();
        values.sort();
        assert!(values.len() > 7, "{values:?}");
        assert_eq!(there, values, "{name}");
    }
}
