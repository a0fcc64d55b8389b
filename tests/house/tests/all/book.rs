//! The book: its links lead somewhere, every page is linked, and it stays short.
//!
//! What is measured and what the sources state lies in folders of its own and may be as long as its tables.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};
use tactus_house::rooms::root;

/// Pages that are as long as their tables.
const REFERENCE: [&str; 2] = ["kernel-calls.md", "system-file.md"];

/// The greatest length of a page that explains.
const PAGE: usize = 1_800;

/// The greatest length of the book in words, blocks of code aside, without what is measured and the sources.
const BOOK: usize = 36_000;

/// The same of the laboratory's pages, which nobody needs who runs systems.
const LABORATORY: usize = 3_000;

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|it| it == "md") {
            files.push(path);
        }
    }
}

/// The pages of the book and those at the root, each with its text.
fn pages() -> BTreeMap<PathBuf, String> {
    let mut files = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"].map(|file| root().join(file)).to_vec();
    collect(&root().join("docs"), &mut files);
    let read = |file: PathBuf| {
        let text = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        (file, text)
    };
    files.into_iter().map(read).collect()
}

/// The lines of a page outside of blocks of code.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut code = false;
    text.lines().filter(move |line| {
        let fence = line.trim_start().starts_with("```");
        code ^= fence;
        !code && !fence
    })
}

/// The address of a heading within its page, as GitHub makes it.
fn address(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || [' ', '-', '_'].contains(c));
    kept.map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() }).collect()
}

fn headings(text: &str) -> BTreeSet<String> {
    let lines = prose(text).filter(|line| line.starts_with('#'));
    lines.map(|line| address(line.trim_start_matches('#').trim())).collect()
}

/// A path without `.` and `..`.
fn plain(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut whole, part| {
        match part {
            Component::ParentDir => drop(whole.pop()),
            Component::CurDir => {}
            other => whole.push(other),
        }
        whole
    })
}

/// What is linked from a page: file and heading.
fn links(file: &Path, text: &str) -> Vec<(PathBuf, String)> {
    let mut links = Vec::new();
    for line in prose(text) {
        for target in line.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            if target.contains("://") {
                continue;
            }
            let (path, heading) = target.split_once('#').unwrap_or((target, ""));
            let folder = file.parent().expect("a page lies in a folder");
            let path = if path.is_empty() { file.to_path_buf() } else { plain(&folder.join(path)) };
            links.push((path, heading.to_string()));
        }
    }
    links
}

#[test]
fn links_lead_to_files_and_headings_that_are_there_and_each_page_is_linked() {
    let pages = pages();
    let (mut wrong, mut linked, mut count) = (Vec::new(), BTreeSet::new(), 0);
    for (file, text) in &pages {
        for (to, heading) in links(file, text) {
            count += 1;
            let there = match pages.get(&to) {
                Some(text) => heading.is_empty() || headings(text).contains(&heading),
                None => to.exists(),
            };
            if !there {
                wrong.push(format!("{}: {} {heading}", file.display(), to.display()));
            }
            linked.insert(to);
        }
    }
    wrong.extend(pages.keys().filter(|page| !linked.contains(*page)).filter_map(|page| {
        let first = page.parent() == Some(&*root());
        (!first).then(|| format!("{} is linked from nowhere", page.display()))
    }));
    assert!(count > 200, "the links are read: {count}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn pages_that_explain_are_short_and_so_is_the_book() {
    let (mut whole, mut laboratory) = (0, 0);
    let mut long = Vec::new();
    for (file, text) in pages() {
        let count = match file.parent() {
            Some(it) if it == root().join("docs") => &mut whole,
            Some(it) if it == root().join("docs/lab") => &mut laboratory,
            _ => continue,
        };
        // A word has a letter or a digit: the bars of a table have none.
        let lines = prose(&text).filter(|line| !line.starts_with("    "));
        let words = lines.flat_map(str::split_whitespace).filter(|word| word.contains(char::is_alphanumeric)).count();
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        *count += words;
        if words > PAGE && !REFERENCE.contains(&&*name) {
            long.push(format!("{name}: {words} words of {PAGE}; what is longer is two pages, or too much"));
        }
    }
    assert!(long.is_empty(), "{}", long.join("\n"));
    assert!(whole > 10_000 && whole <= BOOK, "the book has {whole} words of {BOOK}");
    assert!(
        laboratory > 1_000 && laboratory <= LABORATORY,
        "the laboratory's pages have {laboratory} words of {LABORATORY}"
    );
}

#[test]
fn addresses_of_headings_are_those_that_github_makes() {
    assert_eq!(address("The tree of schedulers"), "the-tree-of-schedulers");
    assert_eq!(address("`unsafe`, and MC²"), "unsafe-and-mc²");
}
