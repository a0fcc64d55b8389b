//! `tactus pack`: a package of a crate.

use crate::arguments::Pack;
use std::fs;
use std::path::{Path, PathBuf};
use tactus_machine::failure::{Failure, Outcome};
use tactus_machine::package;
use tactus_terminal::lines;
use tactus_terminal::progress::waiting;

/// Builds, describes and signs.
pub fn pack(arguments: &Pack) -> Result<Outcome, Failure> {
    let network = arguments.building.network();
    let manifest = arguments.manifest.as_deref();
    let made = waiting("build", "the package's program", |tell| {
        package::pack(&arguments.folder, manifest, &arguments.key, (network, tell))
    })?;
    let declared = &made.declaration;
    let out = arguments.out.clone().unwrap_or_else(|| PathBuf::from(format!("{}.package", declared.name)));
    write(&out, &made.bytes)?;
    let (size, pages) = (made.bytes.len().div_ceil(1024), lines::count(made.pages as usize, "page"));
    lines::line("package", format!("{} · {} {} · {size} KiB", out.display(), declared.name, declared.version));
    let tasks = lines::count(declared.tasks.len(), "task");
    lines::line("", format!("for slots of class {} · {tasks} · {pages} of memory", declared.class));
    Ok(Outcome::Held)
}

/// Whole or not at all: a file that is there already may be in use.
fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let mut fresh = path.as_os_str().to_owned();
    fresh.push(format!(".{}", std::process::id()));
    let fresh = Path::new(&fresh);
    fs::write(fresh, bytes).and_then(|()| fs::rename(fresh, path)).map_err(|error| {
        let _ = fs::remove_file(fresh);
        Failure::Input(format!("{}: {error}; choose another place with -o", path.display()))
    })
}
