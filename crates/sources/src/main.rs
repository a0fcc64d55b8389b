//! `cargo run -p tactus-sources`: reads `docs/sources/statements.toml`, holds it against the tree, and writes the pages anew.
#![forbid(unsafe_code)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use tactus_sources::{evidence, page, read, Source};

/// The folder of the project.
fn root() -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    fs::canonicalize(&folder).unwrap_or(folder)
}

/// Writes what differs from what is there, and says so.
fn write(path: &Path, old: &str, new: &str) -> Result<(), String> {
    if old == new {
        return Ok(());
    }
    println!("{}", path.display());
    fs::write(path, new).map_err(|error| format!("{}: {error}", path.display()))
}

fn make() -> Result<(), String> {
    let docs = root().join("docs");
    let lines = |problems: Vec<tactus_sources::Problem>| {
        problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    };
    let file = docs.join("sources/statements.toml");
    let text = fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
    let statements = read(&text).map_err(lines)?;
    for source in Source::ALL {
        let path = docs.join(format!("sources/{source}.md"));
        let old = fs::read_to_string(&path).unwrap_or_default();
        write(&path, &old, &page::page(source, &statements, &old))?;
    }
    let path = docs.join("README.md");
    let old = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let new = page::first_page(&statements, &old)
        .ok_or_else(|| format!("{} lacks the lines between which the table stands", path.display()))?;
    write(&path, &old, &new)?;
    let absent = evidence::absent(&statements, &root());
    if absent.is_empty() {
        Ok(())
    } else {
        Err(lines(absent))
    }
}

fn main() -> ExitCode {
    match make() {
        Ok(()) => ExitCode::SUCCESS,
        Err(words) => {
            eprintln!("{words}");
            ExitCode::FAILURE
        }
    }
}
