//! Where things lie: our own sources, and the results.

use crate::failure::Failure;
use std::path::{Path, PathBuf};

/// The root of the workspace that this command was built from.
pub fn root() -> Result<PathBuf, Failure> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("/"));
    if root.join("os/kernel/Cargo.toml").exists() {
        Ok(root.to_path_buf())
    } else {
        Err(Failure::Machine(format!(
            "the sources of Tactus are no longer in {}: start the `tactus` script of the clone, which builds this \
             command anew",
            root.display()
        )))
    }
}

/// The folder of results that is meant if nothing else is said: `out/<system>` below the current folder.
pub fn results(system: &str) -> PathBuf {
    Path::new("out").join(system)
}
