//! `tactus bench size`: lines of every room with its tests counted by themselves, words of the book, bytes of the programs.

use super::guest::machine;
use super::history::{self, Sections};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use tactus_machine::boot::compile_ours;
use tactus_machine::failure::{Failure, Outcome};
use tactus_machine::place;
use tactus_machine::toolchain::Network;
use tactus_terminal::lines;
use tactus_terminal::progress::Wait;

/// What the page begins with.
const HEAD: &str = "# Size\n\nMade by `./tactus bench size --keep`. A test of the command fails when a room is missing here or a total is \
    more than 2 % off. Lines are those of Rust and assembly files that are neither empty nor comments alone; tests are the \
    folders `tests/` and `benches/` and the modules for tests. `unsafe` and the longest time with interrupts off \
    have [a page of their own](unsafe.md).\n";

/// Columns of lines in the tables of rooms and of the book.
const ROOMS: [&str; 5] = ["room", "files", "lines", "with comments", "lines of tests"];
const BOOK: [&str; 2] = ["page", "words"];

/// Folders of the book that are counted as one row.
const FOLDERS: [&str; 2] = ["docs/measured", "docs/sources"];

/// What is counted of a room.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Count {
    files: usize,
    code: usize,
    all: usize,
    tests: usize,
}

impl Count {
    fn add(&mut self, other: Count) {
        self.files += other.files;
        self.code += other.code;
        self.all += other.all;
        self.tests += other.tests;
    }
}

/// Counts and tells; with `keep` writes `docs/measured/size.md`.
pub fn size(keep: bool) -> Result<Outcome, Failure> {
    let root = place::root()?;
    let mut page = HEAD.to_string();
    let mut tell = |head: &[&str], rows: &[Vec<String>]| {
        lines::put(&lines::table(head, rows));
        let _ = write!(page, "\n| {} |\n|---|{}\n", head.join(" | "), "---:|".repeat(head.len() - 1));
        for row in rows {
            let _ = writeln!(page, "| {} |", row.join(" | "));
        }
    };
    tell(&ROOMS, &rooms(&root)?);
    tell(&BOOK, &book(&root)?);
    let wait = Wait::new("build", "kernel and components");
    let programs = compile_ours(&|text| wait.tell(text), Network::default());
    wait.end();
    let programs = programs?;
    let mut rows = Vec::new();
    for (name, path) in &programs {
        let bytes = fs::read(path).map_err(machine)?;
        let parts = Sections::of(&object::File::parse(&*bytes).map_err(machine)?);
        let row = [parts.text, parts.rodata, parts.data, parts.bss].map(|it| it.to_string());
        rows.push(std::iter::once(name.to_string()).chain(row).collect());
    }
    tell(&["program, bytes", "text", "rodata", "data", "bss"], &rows);
    if keep {
        let path = history::folder()?.join("size.md");
        fs::write(&path, page).map_err(machine)?;
        lines::line("kept", path.display());
    }
    Ok(Outcome::Held)
}

/// The folders of a workspace's members.
fn members(root: &Path, workspace: &str) -> Result<Vec<String>, Failure> {
    let path = root.join(workspace).join("Cargo.toml");
    let manifest: toml::Value = toml::from_str(&fs::read_to_string(&path).map_err(machine)?).map_err(machine)?;
    let members = manifest.get("workspace").and_then(|it| it.get("members")).and_then(toml::Value::as_array);
    let members = members.ok_or_else(|| Failure::Machine(format!("{} names no members", path.display())))?;
    Ok(members.iter().filter_map(toml::Value::as_str).map(|member| format!("{workspace}{member}")).collect())
}

/// A row for each package of both workspaces and the Python package, their sum, and that without the laboratory.
fn rooms(root: &Path) -> Result<Vec<Vec<String>>, Failure> {
    let mut names = [members(root, "")?, members(root, "lab/")?, vec!["python".to_string()]].concat();
    names.sort_unstable();
    let row = |name: &str, count: Count| {
        let numbers = [count.files, count.code, count.all, count.tests].map(|it| it.to_string());
        std::iter::once(name.to_string()).chain(numbers).collect::<Vec<_>>()
    };
    let (mut sum, mut house) = (Count::default(), Count::default());
    let mut rows = Vec::new();
    for name in &names {
        let mut count = Count::default();
        for file in files(&root.join(name), &["rs", "s"]) {
            let inside = file.strip_prefix(root.join(name)).unwrap_or(&file);
            // A package inside another one has a row of its own.
            let inner = names
                .iter()
                .any(|other| *other != *name && file.starts_with(root.join(other)) && other.starts_with(name.as_str()));
            if !inner {
                count.add(count_file(inside, &fs::read_to_string(&file).map_err(machine)?));
            }
        }
        sum.add(count);
        if !name.starts_with("lab/") {
            house.add(count);
        }
        rows.push(row(name, count));
    }
    rows.push(row("all but lab", house));
    rows.push(row("all", sum));
    Ok(rows)
}

/// All files with one of these extensions, but for what is compiled.
fn files(folder: &Path, extensions: &[&str]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for path in fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
        if path.is_dir() && !path.ends_with("target") {
            found.extend(files(&path, extensions));
        } else if path.extension().is_some_and(|it| extensions.iter().any(|other| it == *other)) {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn count_file(inside: &Path, text: &str) -> Count {
    let code = |text: &str| {
        let plain = |line: &&str| !line.trim().is_empty() && !line.trim().starts_with("//");
        text.lines().filter(plain).count()
    };
    // A package that only tests is tests altogether.
    let for_tests = inside.components().next().is_some_and(|it| {
        let name = it.as_os_str();
        name == "tests" || name == "benches"
    });
    if for_tests {
        return Count { tests: code(text), ..Count::default() };
    }
    let (own, tests) = text.split_once("#[cfg(test)]\nmod ").unwrap_or((text, ""));
    Count { files: 1, code: code(own), all: own.lines().count(), tests: code(tests) }
}

/// The words of a page, blocks of code aside. A word has a letter or a digit: the bars of a table have none.
fn words(text: &str) -> usize {
    let mut code = false;
    let lines = text.lines().filter(|line| {
        let fence = line.trim_start().starts_with("```");
        code ^= fence;
        !code && !fence && !line.starts_with("    ")
    });
    lines.flat_map(str::split_whitespace).filter(|word| word.contains(char::is_alphanumeric)).count()
}

/// The words of each page, of what is measured and of the sources in one row each, and their sums.
fn book(root: &Path) -> Result<Vec<Vec<String>>, Failure> {
    let mut rows = Vec::new();
    let (mut own, mut folders) = (0, [0; FOLDERS.len()]);
    for file in files(&root.join("docs"), &["md"]) {
        let words = words(&fs::read_to_string(&file).map_err(machine)?);
        match FOLDERS.iter().position(|folder| file.starts_with(root.join(folder))) {
            Some(n) => folders[n] += words,
            None => {
                own += words;
                let name = file.strip_prefix(root).unwrap_or(&file).display().to_string();
                rows.push(vec![name, words.to_string()]);
            }
        }
    }
    rows.push(vec!["all of these".to_string(), own.to_string()]);
    rows.extend(FOLDERS.iter().zip(folders).map(|(name, words)| vec![name.to_string(), words.to_string()]));
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    /// The rows of the kept page, by their first cell.
    fn kept(page: &str) -> BTreeMap<String, Vec<String>> {
        let cells = |line: &str| -> Option<Vec<String>> {
            let inside = line.strip_prefix("| ")?.strip_suffix(" |")?;
            Some(inside.split(" | ").map(str::to_string).collect())
        };
        page.lines().filter_map(cells).map(|mut row| (row.remove(0), row)).collect()
    }

    fn near(kept: &str, now: &str) -> bool {
        let [kept, now] = [kept, now].map(|it| it.parse::<u64>().unwrap_or(u64::MAX));
        kept.abs_diff(now) * 50 <= now
    }

    #[test]
    fn the_kept_page_has_every_room_and_page_and_its_sums_are_those_of_today() {
        let root = place::root().expect("the tests run in the sources");
        let page = fs::read_to_string(root.join("docs/measured/size.md")).expect("the page is kept");
        assert!(page.starts_with(HEAD), "the page begins otherwise: ./tactus bench size --keep");
        let kept = kept(&page);
        let now: Vec<Vec<String>> =
            [rooms(&root), book(&root)].into_iter().flat_map(|it| it.expect("readable")).collect();
        let missing: Vec<&String> = now.iter().map(|row| &row[0]).filter(|name| !kept.contains_key(*name)).collect();
        assert!(missing.is_empty(), "not on the page: {missing:?}; ./tactus bench size --keep");
        for sum in ["all", "all but lab", "all of these"] {
            let row = now.iter().find(|row| row[0] == sum).expect("there are sums");
            let alike = row[1..].iter().zip(&kept[sum]).all(|(now, kept)| near(kept, now));
            assert!(alike, "{row:?} is no longer {:?}; ./tactus bench size --keep", kept[sum]);
        }
        let heads = [ROOMS[0], BOOK[0], "program, bytes"];
        let gone = kept.keys().filter(|name| {
            let program = name.starts_with("tactus-");
            !program && !heads.contains(&name.as_str()) && !now.iter().any(|row| row[0] == **name)
        });
        assert_eq!(gone.collect::<Vec<_>>(), Vec::<&String>::new(), "rows of what is gone; ./tactus bench size --keep");
    }

    #[test]
    fn comments_and_tests_are_no_lines_of_a_room() {
        let text = "//! A file.\n\nfn f() {\n    // Why.\n    g();\n}\n\n#[cfg(test)]\nmod tests {\n    fn t() {}\n}\n";
        let found = count_file(Path::new("src/lib.rs"), text);
        assert_eq!(found, Count { files: 1, code: 3, all: 7, tests: 3 });
        let found = count_file(Path::new("tests/all/main.rs"), text);
        assert_eq!((found.code, found.tests), (0, 7));
    }
}
