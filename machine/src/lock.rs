//! The right to write into a folder of results: one process at a time has it.

use crate::failure::Failure;
use rustix::fs::{flock, FlockOperation};
use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::sync::Arc;

/// The right to write into a folder. It is given back when the last copy goes, or the process ends in whatever way: the folder
/// itself is locked (flock(2)), and nothing is left behind.
#[derive(Clone, Debug)]
pub struct FolderLock {
    _folder: Arc<File>,
}

impl FolderLock {
    /// Makes the folder, unless it is there, and takes the right to write into it.
    ///
    /// # Errors
    /// If the folder cannot be made or another run writes into it.
    pub fn take(folder: &Path) -> Result<FolderLock, Failure> {
        let cannot = |error: io::Error| Failure::Machine(format!("{}: {error}", folder.display()));
        fs::create_dir_all(folder).map_err(cannot)?;
        let open = File::open(folder).map_err(cannot)?;
        match flock(&open, FlockOperation::NonBlockingLockExclusive) {
            Err(rustix::io::Errno::WOULDBLOCK) => Err(Failure::Machine(format!(
                "{}: another run writes its results there; wait until it ends, or name another folder with --out",
                folder.display()
            ))),
            // Some file systems of a network lock no folders. Runs there are as they would be without this.
            _ => Ok(FolderLock { _folder: Arc::new(open) }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_has_one_writer_at_a_time() {
        let folder = std::env::temp_dir().join(format!("tactus-lock-{}", std::process::id()));
        let first = FolderLock::take(&folder).expect("nobody else knows it");
        let copy = first.clone();
        drop(first);
        let refused = FolderLock::take(&folder).expect_err("the copy still holds it");
        assert!(refused.to_string().contains("another run"), "{refused}");
        drop(copy);
        FolderLock::take(&folder).expect("it was given back");
        fs::remove_dir(&folder).expect("nothing is in it");
    }
}
