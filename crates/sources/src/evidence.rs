//! Whether the tests, the figures and the packages that statements name are in the tree.

use crate::{Problem, Statement, Status};
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

/// What a test's name in a file turned out to be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Found {
    /// A test that every run does.
    Test,
    /// A test that runs only when it is asked for, since it is marked `#[ignore]`.
    Ignored,
    /// No test.
    Nothing,
}

/// Looks for a test in the text of a file: a function with a line `#[test]` above, a line `name = number;` of a macro that makes
/// tests, or `compile_fail`, which stands for the examples of the documentation that must not compile.
#[must_use]
pub fn find(text: &str, name: &str) -> Found {
    if name == "compile_fail" {
        let examples = text.lines().any(|line| line.contains("```compile_fail"));
        return if examples { Found::Test } else { Found::Nothing };
    }
    let mut attributes = Vec::new();
    for line in text.lines().map(str::trim) {
        if line.starts_with("#[") {
            attributes.push(line);
        } else if line.starts_with("fn ") || line.starts_with("pub fn ") {
            let rest = line.trim_start_matches("pub ").trim_start_matches("fn ");
            let is_it = rest.strip_prefix(name).is_some_and(|rest| rest.starts_with('(') || rest.starts_with('<'));
            if is_it && attributes.contains(&"#[test]") {
                let ignored = attributes.iter().any(|attribute| attribute.starts_with("#[ignore"));
                return if ignored { Found::Ignored } else { Found::Test };
            }
            attributes.clear();
        } else if !line.starts_with("//") {
            attributes.clear();
            let made = line.strip_prefix(name).and_then(|rest| rest.strip_prefix(" = "));
            let number = made.and_then(|rest| rest.strip_suffix(';'));
            if number.is_some_and(|number| number.chars().all(|c| c.is_ascii_digit()) && !number.is_empty()) {
                return Found::Test;
            }
        }
    }
    Found::Nothing
}

/// The numbers of a text, as they are written, without the commas that group digits.
#[must_use]
pub fn numbers(text: &str) -> Vec<String> {
    let text: Vec<char> = text.chars().collect();
    let mut numbers = Vec::new();
    let mut number = String::new();
    for (n, &c) in text.iter().enumerate() {
        let within = |n: usize| text.get(n).is_some_and(char::is_ascii_digit);
        // A comma with three digits behind it, and no fourth, groups.
        let groups = c == ',' && (1..=3).all(|k| within(n + k)) && !within(n + 4);
        if c.is_ascii_digit() || (c == '.' && !number.is_empty() && within(n + 1)) {
            number.push(c);
        } else if !groups && !number.is_empty() {
            numbers.push(std::mem::take(&mut number));
        }
    }
    if !number.is_empty() {
        numbers.push(number);
    }
    numbers
}

/// The file with a test of this name, looked for where sources are: it may have been moved.
fn elsewhere(root: &Path, name: &str) -> Option<String> {
    let mut folders: Vec<PathBuf> =
        ["crates", "os", "machine", "lab", "cli", "tests", "probe"].map(|folder| root.join(folder)).into();
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "rs")
                && fs::read_to_string(&path).is_ok_and(|text| find(&text, name) != Found::Nothing)
            {
                return path.strip_prefix(root).ok().map(|path| path.display().to_string());
            }
        }
    }
    None
}

/// Everything that statements name and the tree under `root` lacks.
#[must_use]
pub fn absent(statements: &[Statement], root: &Path) -> Vec<Problem> {
    let mut files: HashMap<String, Option<String>> = HashMap::new();
    let mut text = |path: &str| -> Option<String> {
        let read = || fs::read_to_string(root.join(path)).ok();
        files.entry(path.to_string()).or_insert_with(read).clone()
    };
    let mut problems = Vec::new();
    for statement in statements {
        let mut tell = |named: &str, why| {
            problems.push(Problem::Absent {
                statement: statement.to_string(),
                named: named.to_string(),
                why,
                elsewhere: named.rsplit_once("::").and_then(|(_, name)| elsewhere(root, name)),
            });
        };
        let mut ordinary = 0;
        for test in &statement.tests {
            let Some((path, name)) = test.rsplit_once("::") else {
                tell(test, "is no test; write it as `path::name`");
                continue;
            };
            match text(path).map(|text| find(&text, name)) {
                None => tell(test, "names a file that is not there"),
                Some(Found::Nothing) => tell(test, "names no test of that file; was it renamed?"),
                Some(Found::Ignored) => {}
                Some(Found::Test) => ordinary += 1,
            }
        }
        let kept = statement.kept.as_deref();
        if statement.status == Status::Shown && ordinary == 0 && kept.is_none() && !statement.tests.is_empty() {
            tell(
                &statement.tests.join(", "),
                "is left out of ordinary runs; name one that is not, or a command with a kept figure",
            );
        }
        if let (Some(kept), Some(figure)) = (kept, &statement.figure) {
            match text(kept) {
                None => tell(kept, "is not there"),
                Some(page) => {
                    let there = numbers(&page);
                    for number in numbers(figure) {
                        if !there.contains(&number) {
                            tell(&format!("{number} in {kept}"), "is not there; was it measured anew?");
                        }
                    }
                }
            }
        }
        // Figures that are not kept, and what is asserted of the text, are what tests count.
        let mut counted = Vec::new();
        for test in &statement.tests {
            let path = test.rsplit_once("::").map_or(test.as_str(), |(path, _)| path);
            counted.extend(numbers(&text(path).unwrap_or_default().replace('_', "")));
        }
        let said = numbers(&statement.text);
        if let (Status::Shown, None, Some(figure)) = (statement.status, kept, &statement.figure) {
            for number in numbers(figure).into_iter().filter(|it| !said.contains(it) && !counted.contains(it)) {
                tell(&number, "stands neither in the files of its tests nor in `kept`; keep it where a test looks");
            }
        }
        for number in statement.asserted.as_deref().map(numbers).unwrap_or_default() {
            if !said.contains(&number) || !counted.contains(&number) {
                tell(&number, "is `asserted`, and does not stand both in the text and in the files of its tests");
            }
        }
        let words = statement.words();
        if words.first().is_some_and(|word| word.starts_with("lab/") && !root.join(word).is_file()) {
            tell(&words[0], "is no script that is there");
        }
        let mut after = words.iter().skip_while(|word| *word != "-p").skip(1);
        if words.first().is_some_and(|word| word == "cargo") {
            let known = after.next().is_some_and(|package| {
                let line = format!("{package} = {{ path = ");
                ["Cargo.toml", "lab/Cargo.toml"]
                    .into_iter()
                    .filter_map(&mut text)
                    .any(|manifest| manifest.lines().any(|it| it.starts_with(&line)))
            });
            if !known {
                tell(&words.join(" "), "names no package of the workspace with `-p`");
            }
        }
    }
    problems
}
