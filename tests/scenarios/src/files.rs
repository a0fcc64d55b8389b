//! Folders for one scenario, gone when it is over.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A folder for what one scenario writes. It goes when this is dropped, unless `TACTUS_SCENARIOS_KEEP` is set.
#[derive(Debug)]
pub struct Scratch(PathBuf);

impl Scratch {
    /// An empty folder; `topic` is part of its name.
    pub fn new(topic: &str) -> Scratch {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("tactus-scenario-{topic}-{}-{number}", std::process::id()));
        fs::create_dir_all(&folder).expect("the temporary folder can be written");
        Scratch(folder)
    }

    /// Where it lies.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Writes a file, with the folders above it.
    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.join(name);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).expect("below the temporary folder");
        }
        fs::write(&path, text).expect("the temporary folder can be written");
        path
    }

    /// Writes a user's component of this name: its manifest, and this source as the file `program` below `src`.
    pub fn component(&self, name: &str, program: &str, source: &str) {
        self.component_at(name, name, program, source);
    }

    /// The same in a folder of another name.
    pub fn component_at(&self, folder: &str, name: &str, program: &str, source: &str) {
        let manifest = format!(
            "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[dependencies]\n\
             tactus-rt = {{ path = \"{}\" }}\n\n[workspace]\n\n[profile.release]\npanic = \"abort\"\n",
            crate::file("os/rt").display()
        );
        self.write(&format!("{folder}/Cargo.toml"), &manifest);
        self.write(&format!("{folder}/src/{program}"), source);
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if std::env::var_os("TACTUS_SCENARIOS_KEEP").is_some() {
            println!("kept: {}", self.0.display());
        } else {
            // A folder that cannot be removed fails no promise.
            let _ = fs::remove_dir_all(&self.0);
        }
    }
}
