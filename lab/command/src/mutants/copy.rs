//! A copy of the sources that is made alike: what does not differ is not written, so that it is not built again.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::Path;

/// What is made, and is no source.
const MADE: [&str; 3] = ["target", "out", ".git"];

/// Makes folder `to` hold the same files as `from`, but for what is made from sources.
pub fn alike(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    let mut there = BTreeSet::<OsString>::new();
    for entry in fs::read_dir(from)? {
        let (name, path) = entry.map(|entry| (entry.file_name(), entry.path()))?;
        if MADE.iter().any(|made| name == *made) {
            continue;
        }
        let copy = to.join(&name);
        if path.is_dir() {
            alike(&path, &copy)?;
        } else {
            let text = fs::read(&path)?;
            if !fs::read(&copy).is_ok_and(|old| old == text) {
                fs::write(&copy, text)?;
                fs::set_permissions(&copy, fs::metadata(&path)?.permissions())?;
            }
        }
        there.insert(name);
    }
    for entry in fs::read_dir(to)? {
        let (name, path) = entry.map(|entry| (entry.file_name(), entry.path()))?;
        if there.contains(&name) || MADE.iter().any(|made| name == *made) {
            continue;
        }
        if path.is_dir() {
            fs::remove_dir_all(path)?;
        } else {
            fs::remove_file(path)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_follows_changed_and_removed_files_and_leaves_what_is_the_same_as_old_as_it_was() {
        let folder = std::env::temp_dir().join(format!("tactus-copy-{}", std::process::id()));
        let (from, to) = (folder.join("from"), folder.join("to"));
        for (name, text) in [("a/same", "1"), ("a/changed", "2"), ("a/gone", "3"), ("target/made", "4")] {
            let path = from.join(name);
            fs::create_dir_all(path.parent().expect("below a folder")).expect("a temporary folder can be written");
            fs::write(path, text).expect("a temporary folder can be written");
        }
        alike(&from, &to).expect("it can be copied");
        let age = |name: &str| fs::metadata(to.join(name)).and_then(|it| it.modified()).expect("it is there");
        let old = age("a/same");
        fs::write(from.join("a/changed"), "5").expect("it can be written");
        fs::remove_file(from.join("a/gone")).expect("it is there");
        alike(&from, &to).expect("it can be copied");
        assert_eq!(age("a/same"), old);
        assert_eq!(fs::read_to_string(to.join("a/changed")).expect("it is there"), "5");
        assert!(!to.join("a/gone").exists() && !to.join("target").exists());
        fs::remove_dir_all(folder).expect("it is ours");
    }
}
