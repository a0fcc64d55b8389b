//! The lists of CONTRIBUTING: each file is there, and an addition of the history touched no other one.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;
use tactus_house::rooms::root;

/// One kind of addition.
struct Addition {
    heading: String,
    /// The most files.
    most: usize,
    /// The first line of the message of a commit that did it.
    commit: Option<String>,
    files: BTreeSet<String>,
}

fn additions() -> Vec<Addition> {
    let text = fs::read_to_string(root().join("CONTRIBUTING.md")).expect("the page is there");
    let sections = text.split("\n### ").skip(1);
    sections
        .map(|section| {
            let heading = section.lines().next().unwrap_or_default().to_string();
            let numbers = heading.split(|c: char| !c.is_ascii_digit()).find_map(|word| word.parse().ok());
            let commit = section.lines().find_map(|line| line.strip_prefix("Commit: ")).map(str::to_string);
            let cells = section.lines().filter(|line| line.starts_with('|')).filter_map(|line| line.split('|').nth(1));
            let names = cells.flat_map(|cell| cell.split('`').skip(1).step_by(2)).map(str::to_string);
            Addition {
                heading,
                most: numbers.unwrap_or(usize::MAX),
                commit,
                files: names.filter(|it| it.contains('/')).collect(),
            }
        })
        .collect()
}

fn git(words: &[&str]) -> Option<String> {
    let said = Command::new("git").arg("-C").arg(root()).args(words).output().ok()?;
    said.status.success().then(|| String::from_utf8_lossy(&said.stdout).trim().to_string())
}

/// Whether a file counts: source that is no test.
fn counts(file: &str) -> bool {
    let test = file.starts_with("tests/") || file.contains("/tests/") || file.contains("/examples/");
    !test && !file.ends_with(".md") && !file.ends_with(".toml") && !file.ends_with(".lock")
}

#[test]
fn files_of_an_addition_are_there() {
    let all = additions();
    assert!(all.len() > 3, "the page is read");
    for it in all {
        for file in &it.files {
            assert!(root().join(file).exists(), "{}: {file}", it.heading);
        }
    }
}

#[test]
fn an_addition_of_the_history_touched_no_other_files() {
    // A copy without history, or with the last commit alone, has none to look at.
    if git(&["rev-parse", "--is-shallow-repository"]).is_none_or(|it| it != "false") {
        return;
    }
    let mut count = 0;
    for it in additions() {
        let Some(commit) = &it.commit else { continue };
        let wanted = format!("^{}$", commit.replace('.', "\\."));
        let hash = git(&["log", "-1", "--format=%H", "--grep", &wanted]).unwrap_or_default();
        assert!(!hash.is_empty(), "{}: no commit says {commit:?}", it.heading);
        let touched = git(&["show", "--format=", "--name-only", &hash]).unwrap_or_default();
        let touched: BTreeSet<&str> = touched.lines().filter(|file| counts(file)).collect();
        assert!(!touched.is_empty() && touched.len() <= it.most, "{}: {touched:?}", it.heading);
        let others: Vec<&&str> = touched.iter().filter(|file| !it.files.contains(**file)).collect();
        assert!(others.is_empty(), "{}: {others:?}", it.heading);
        count += 1;
    }
    assert!(count > 0, "an addition has its commit");
}
