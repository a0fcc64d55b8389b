//! A copy of the sources, into which races are planted.

use super::races::Race;
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use tactus_machine::build::Sources;
use tactus_machine::failure::Failure;
use tactus_machine::place;

/// The folders of the workspace that are no sources.
const OTHERS: [&str; 5] = ["target", "out", ".git", "docs", "lab"];

/// The workspace's own sources with a kernel that looks at its objects. It is the one whose rules tests break, so that it is built once.
pub fn own() -> Result<Sources, Failure> {
    let sources = Sources::of(&place::root()?)?;
    let target = sources.target.join("fault-injection");
    Ok(checked(sources.root, target))
}

/// A copy of them with the race.
pub fn with(race: &Race) -> Result<Sources, Failure> {
    let own = Sources::of(&place::root()?)?;
    let root = own.target.join("stress");
    let cannot = |error: io::Error| Failure::Machine(format!("{}: {error}", root.display()));
    copy(&own.root, &root, race).map_err(cannot)?;
    let target = root.join("target");
    Ok(checked(root, target))
}

fn checked(root: PathBuf, target: PathBuf) -> Sources {
    Sources { root, target, feature: Some("tactus-kernel/fault-injection".to_string()) }
}

/// Makes the copy what the sources are with the race. What is so already is left alone, so that cargo does not build it again.
fn copy(from: &Path, to: &Path, race: &Race) -> io::Result<()> {
    fs::create_dir_all(to)?;
    let mut kept = BTreeSet::new();
    for entry in fs::read_dir(from)? {
        let (path, name) = entry.map(|it| (it.path(), it.file_name()))?;
        if !OTHERS.iter().any(|other| name == *other) {
            kept.insert(name.clone());
            copy_tree(&path, &to.join(name), (from, race))?;
        }
    }
    remove_others(to, &kept)
}

fn copy_tree(from: &Path, to: &Path, (root, race): (&Path, &Race)) -> io::Result<()> {
    if !from.is_dir() {
        let mut bytes = fs::read(from)?;
        if from == root.join(race.file) {
            let planted = std::str::from_utf8(&bytes).ok().and_then(|text| race.planted(text));
            let gone = || io::Error::other(format!("{}: what it changes is not there once", race.name));
            bytes = planted.ok_or_else(gone)?.into_bytes();
        }
        return match fs::read(to) {
            Ok(there) if there == bytes => Ok(()),
            _ => fs::write(to, bytes),
        };
    }
    fs::create_dir_all(to)?;
    let mut kept = BTreeSet::new();
    for entry in fs::read_dir(from)? {
        let (path, name) = entry.map(|it| (it.path(), it.file_name()))?;
        if name != "target" {
            copy_tree(&path, &to.join(&name), (root, race))?;
            kept.insert(name);
        }
    }
    remove_others(to, &kept)
}

/// Removes what is no longer among the sources.
fn remove_others(folder: &Path, kept: &BTreeSet<std::ffi::OsString>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let (path, name) = entry.map(|it| (it.path(), it.file_name()))?;
        match kept.contains(&name) || name == "target" {
            true => {}
            false if path.is_dir() => fs::remove_dir_all(path)?,
            false => fs::remove_file(path)?,
        }
    }
    Ok(())
}
