//! What the author of a package says of it: in the `Cargo.toml` of its crate, or in a file of its own.

use crate::form::package;
use crate::problem::{Collector, Problems};
use crate::text::read_text;
use std::path::Path;
use tactus_package::manifest::Version;
use tactus_time::Duration;

/// A package as its author declares it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PackageDeclaration {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: Version,
    /// The kind of slot that it is made for.
    pub class: String,
    /// The heap that it needs (bytes).
    pub heap: u64,
    /// Its tasks.
    pub tasks: Vec<DeclaredTask>,
    /// The services that it calls, by the names that the slot has for them.
    pub uses: Vec<String>,
}

/// A task of a package.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DeclaredTask {
    /// Its name.
    pub name: String,
    /// The longest execution of a job.
    pub execution: Duration,
    /// The least time from one release to the next.
    pub period: Duration,
    /// From release to deadline.
    pub deadline: Duration,
    /// The larger goes first, as in system files.
    pub priority: u32,
}

impl PackageDeclaration {
    /// Reads what the `Cargo.toml` of the crate in this folder says under `[package.metadata.tactus]`; or what `manifest` says in its
    /// place.
    ///
    /// # Errors
    /// Everything that is wrong with them.
    pub fn read(folder: &Path, manifest: Option<&Path>) -> Result<PackageDeclaration, Problems> {
        let cargo = folder.join("Cargo.toml");
        let mut out = Collector::new(&cargo);
        let cargo_text = text_of(&cargo, &mut out);
        let told = cargo_text.as_deref().and_then(|text| package::cargo(text, manifest.is_none(), &mut out));
        let Some(manifest) = manifest else {
            let declared = told.and_then(|told| told.declared);
            return out.finish(declared);
        };
        let told = out.finish(told)?;
        let mut out = Collector::new(manifest);
        let declared = text_of(manifest, &mut out).and_then(|text| package::own(&text, &told.named, &mut out));
        out.finish(declared)
    }
}

fn text_of(path: &Path, out: &mut Collector) -> Option<String> {
    read_text(path).map_err(|(place, complaint)| out.add(place, "", complaint)).ok()
}
