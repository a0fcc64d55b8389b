//! `tactus pack`: a package of a crate, or into which slots packages fit.

use crate::arguments::Pack;
use std::fs;
use std::path::{Path, PathBuf};
use tactus_machine::failure::{Failure, Outcome};
use tactus_machine::{costs, package};
use tactus_model::{read_ordinary, System, LARGEST_PACKAGE};
use tactus_plan::{slot_fits, SlotFit};
use tactus_terminal::lines;
use tactus_terminal::progress::waiting;

/// Builds, describes and signs; or tells where packages fit.
pub fn pack(arguments: &Pack) -> Result<Outcome, Failure> {
    match (&arguments.check, &arguments.key, &arguments.paths[..]) {
        (Some(system), _, _) => check(arguments, system),
        (None, Some(key), [folder]) => make(arguments, folder, key),
        (None, _, paths) => {
            let paths = lines::count(paths.len(), "folder");
            Err(Failure::Input(format!("pack: {paths} are given; one package is made at a time, of one crate")))
        }
    }
}

fn make(arguments: &Pack, folder: &Path, key: &Path) -> Result<Outcome, Failure> {
    let network = arguments.building.network();
    let manifest = arguments.manifest.as_deref();
    let made = waiting("build", "the package's program", |tell| package::pack(folder, manifest, key, (network, tell)))?;
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

/// Tells into which slots of the system the packages fit.
fn check(arguments: &Pack, file: &Path) -> Result<Outcome, Failure> {
    let system = System::read(file).map_err(|problems| Failure::Input(problems.to_string()))?;
    if system.slots.is_empty() {
        return Err(Failure::Input(format!("{}: it has no slots; describe one in a [[slot]]", file.display())));
    }
    let costs = costs::read(&arguments.costs, &system)?;
    let mut homeless = 0;
    for path in &arguments.paths {
        let bytes = read_ordinary(path, LARGEST_PACKAGE)
            .map_err(|reason| Failure::Input(format!("{}: {reason}; make it: ./tactus pack CRATE", path.display())))?;
        lines::line("package", lines::bold(path.display()));
        let fits = slot_fits(&system, &costs, &bytes);
        fits.iter().for_each(slot);
        homeless += usize::from(fits.iter().all(|fit| fit.result.is_err()));
    }
    Ok(Outcome::held_if(homeless == 0))
}

/// Tells what becomes of a package in one slot.
fn slot(fit: &SlotFit) {
    let found = match &fit.result {
        Err(refusal) => {
            return lines::line("slot", format!("{} · {}", fit.slot, lines::bad(format!("refused: {refusal}"))))
        }
        Ok(found) => found,
    };
    let jobs = lines::count(found.jobs as usize, "job");
    lines::line(
        "slot",
        format!(
            "{} · {} fits · {} of {} pages · loaded in {jobs} of the loader",
            fit.slot, found.program, found.pages, fit.pages
        ),
    );
    for task in &found.tasks {
        lines::line(
            "",
            format!("{}: response ≤ {} of {}", task.name, lines::brief(task.bound), lines::brief(task.deadline)),
        );
    }
}
