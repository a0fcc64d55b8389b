//! `core` and what comes with it, compiled once for all target folders. Where the toolchain has only their sources, cargo would compile them again in
//! each folder that it builds in. What it made is kept, and laid into a folder that has none yet; whether it fits what is asked for, cargo
//! finds out as in any folder of its own, and compiles what does not.

use super::build::hold;
use std::fs::{self, File};
use std::io;
use std::path::Path;

/// The packages, as cargo names what it makes of them.
const PACKAGES: [&str; 4] = ["core", "alloc", "compiler_builtins", "rustc-std-workspace-core"];

/// The folders of a target folder in which something of them lies, the one last by which cargo knows that the others are whole.
const FOLDERS: [&str; 3] = ["build", "deps", ".fingerprint"];

/// Keeps what was built of them in a target folder, if nothing is kept yet.
///
/// # Errors
/// If files cannot be copied.
pub(super) fn keep(into: &Path, kept: &Path, target: &str) -> io::Result<()> {
    if kept.exists() || !has_core(into, target) {
        return Ok(());
    }
    // Whole or not at all: another run may look for it.
    let fresh = kept.with_extension(format!("{}.new", std::process::id()));
    lay(into, &fresh, target)?;
    fs::rename(&fresh, kept).or_else(|_| fs::remove_dir_all(&fresh))
}

/// Lays what is kept of them into a target folder that has none.
///
/// # Errors
/// If files cannot be copied.
pub(super) fn bring(kept: &Path, into: &Path, target: &str) -> io::Result<()> {
    if !kept.exists() {
        return Ok(());
    }
    // Who comes while it is being laid waits until it is whole.
    let _held = hold(kept)?;
    match has_core(into, target) {
        true => Ok(()),
        false => lay(kept, into, target),
    }
}

fn has_core(folder: &Path, target: &str) -> bool {
    let Ok(entries) = folder.join(target).join("release/.fingerprint").read_dir() else { return false };
    entries.flatten().any(|it| package(&it.file_name().to_string_lossy()) == Some("core"))
}

/// Which of the packages a file or folder is of.
fn package(name: &str) -> Option<&'static str> {
    let (before, _) = name.rsplit_once('-')?;
    let name = before.strip_prefix("lib").unwrap_or(before);
    PACKAGES.into_iter().find(|package| name == *package || name == package.replace('-', "_"))
}

/// Copies what one target folder has of them into another, for the bare machine and of their build scripts.
fn lay(from: &Path, into: &Path, target: &str) -> io::Result<()> {
    for folder in FOLDERS
        .iter()
        .flat_map(|folder| [Path::new("release").join(folder), Path::new(target).join("release").join(folder)])
    {
        let Ok(entries) = from.join(&folder).read_dir() else { continue };
        for entry in entries {
            let entry = entry?;
            if package(&entry.file_name().to_string_lossy()).is_some() {
                fs::create_dir_all(into.join(&folder))?;
                copy(&entry.path(), &into.join(&folder).join(entry.file_name()))?;
            }
        }
    }
    Ok(())
}

/// Copies a file or a folder with the times by which cargo tells old from new.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    if from.is_dir() {
        fs::create_dir_all(to)?;
        for entry in from.read_dir()? {
            let entry = entry?;
            copy(&entry.path(), &to.join(entry.file_name()))?;
        }
        return Ok(());
    }
    fs::copy(from, to)?;
    File::options().write(true).open(to)?.set_modified(from.metadata()?.modified()?)
}
