//! Mutants: small changes of the sources, each of which takes away the mechanism of a statement. The tests that show the statement
//! have to fail with it, else they do not show it.
//!
//! `docs/sources/mutants.toml` holds them; [`read`] holds each against the statements and the tree, so that none outlives the text
//! that it changes or the tests that it is for. `tactus mutants` runs them.

use crate::{evidence, Statement};
use serde::Deserialize;
use std::fmt;
use std::fs;
use std::path::Path;

/// A change that has to make tests of a statement fail.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mutant {
    /// The statement, as `source number`.
    pub statement: String,
    /// The file that is changed, from the root of the workspace.
    pub file: String,
    /// The text that is replaced; it stands once in the file.
    pub old: String,
    /// The text in its place.
    pub new: String,
    /// The statement's tests that have to fail, as `path::name`: each of them.
    #[serde(rename = "test", deserialize_with = "crate::statement::one_or_many")]
    pub tests: Vec<String>,
}

impl Mutant {
    /// The change in a line: the file, and the first lines of both texts.
    #[must_use]
    pub fn change(&self) -> String {
        let first = |text: &str| text.trim().lines().next().unwrap_or("nothing").trim().to_string();
        format!("{}: `{}` → `{}`", self.file, first(&self.old), first(&self.new))
    }
}

impl fmt::Display for Mutant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.statement, self.change())
    }
}

/// A test program of cargo, and tests of it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Program {
    /// The folder of its workspace, from the root.
    pub workspace: String,
    /// The package.
    pub package: String,
    /// What chooses the program: `--lib`, or `--test=NAME`.
    pub target: String,
}

impl Program {
    /// The program in which a test is, by the path of its file: that of the nearest package above it.
    #[must_use]
    pub fn of(test: &str, root: &Path) -> Option<Program> {
        let (path, _) = test.rsplit_once("::")?;
        let path = Path::new(path);
        let folder = path.ancestors().skip(1).find(|folder| root.join(folder).join("Cargo.toml").is_file())?;
        let manifest = fs::read_to_string(root.join(folder).join("Cargo.toml")).ok()?;
        let package = manifest.lines().find_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"'))?.to_string();
        let has_workspace = |folder: &Path| {
            let manifest = fs::read_to_string(root.join(folder).join("Cargo.toml"));
            manifest.is_ok_and(|text| text.lines().any(|line| line == "[workspace]"))
        };
        let workspace = folder.ancestors().find(|folder| has_workspace(folder))?.display().to_string();
        let mut below = path.strip_prefix(folder).ok()?.iter().map(|part| part.to_string_lossy());
        let target = match below.next()?.as_ref() {
            "src" => "--lib".to_string(),
            _ => format!("--test={}", below.next()?.trim_end_matches(".rs")),
        };
        Some(Program { workspace, package, target })
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    mutant: Vec<Mutant>,
}

/// Reads the list of mutants and holds it against the statements and the tree below `root`.
///
/// # Errors
///
/// The parser's words, else a line for each fault: a text that is not there once, a statement or a test that is not there, a test
/// that does not show the statement.
pub fn read(text: &str, statements: &[Statement], root: &Path) -> Result<Vec<Mutant>, Vec<String>> {
    let file: File = toml::from_str(text).map_err(|error| vec![error.to_string()])?;
    let mut faults = Vec::new();
    for mutant in &file.mutant {
        let mut fault = |why: &str| faults.push(format!("{mutant}: {why}"));
        match fs::read_to_string(root.join(&mutant.file)) {
            Err(error) => fault(&error.to_string()),
            Ok(text) => match text.matches(&mutant.old).count() {
                1 if mutant.old == mutant.new => fault("changes nothing"),
                1 => {}
                n => fault(&format!("the old text stands {n} times in the file and not once; write the mutant anew")),
            },
        }
        let Some(statement) = statements.iter().find(|it| it.to_string() == mutant.statement) else {
            fault("there is no such statement");
            continue;
        };
        if mutant.tests.is_empty() {
            fault("no test is named that has to fail");
        }
        for test in &mutant.tests {
            let there = test.rsplit_once("::").is_some_and(|(path, name)| {
                let text = fs::read_to_string(root.join(path)).unwrap_or_default();
                evidence::find(&text, name) == evidence::Found::Test
            });
            if !statement.tests.contains(test) {
                fault(&format!("`{test}` is none of the tests of the statement"));
            } else if !there || Program::of(test, root).is_none() {
                fault(&format!("`{test}` is no test of a package"));
            }
        }
    }
    if faults.is_empty() {
        Ok(file.mutant)
    } else {
        Err(faults)
    }
}
