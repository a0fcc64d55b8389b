//! `tactus iso`: the system on a medium that boots a PC, by BIOS or by UEFI.

use crate::arguments::Iso;
use crate::promise::{can_run, promised};
use crate::subject;
use std::fs;
use std::path::Path;
use tactus_image::IsoError;
use tactus_machine::boot::assemble;
use tactus_machine::failure::{Failure, Outcome};
use tactus_machine::{costs, place};
use tactus_terminal::lines;
use tactus_terminal::progress::{self, waiting};

/// Checks, builds and writes the medium.
pub fn iso(arguments: &Iso) -> Result<Outcome, Failure> {
    let system = subject::read(&arguments.subject)?;
    subject::only_on_the_first_processor(&system, "no medium is made")?;
    let costs = costs::read(&arguments.costs, &system)?;
    subject::announce(&system);
    let promised = promised(&system, &costs);
    if !can_run(&promised) {
        return Ok(Outcome::Broken);
    }
    let assembled = waiting("build", "kernel and components", |tell| {
        assemble(&system, &promised, arguments.building.network(), tell)
    })?;
    let (kernel, image) = (assembled.kernel, assembled.image);
    // Where firmware may keep memory anywhere, only the kernel can tell what is free.
    let image = image.with_trace_anywhere();
    lines::line("build", image.sections_report());

    let out = match &arguments.out {
        Some(out) => out.clone(),
        None => place::results(&system.name).join(format!("{}.iso", system.name)),
    };
    let cannot = |path: &Path, error: std::io::Error| Failure::Machine(format!("{}: {error}", path.display()));
    let folder = out.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(|error| cannot(folder, error))?;
    let mut image_file = out.clone().into_os_string();
    image_file.push(format!(".{}.img", std::process::id()));
    let image_file = Path::new(&image_file);
    fs::write(image_file, &image.bytes).map_err(|error| cannot(image_file, error))?;
    let wait = progress::Wait::new("iso", "");
    let made = tactus_image::iso(&kernel, image_file, "", &out);
    wait.end();
    // A copy of it is on the medium.
    let _ = fs::remove_file(image_file);
    made.map_err(|error: IsoError| Failure::Machine(error.to_string()))?;

    let size = fs::metadata(&out).map_err(|error| cannot(&out, error))?.len();
    let memory = image.facts.memory_needed.div_ceil(1 << 20);
    let cores = lines::count(system.cores, "core");
    lines::line("iso", format!("{} · {} MiB", out.display(), size.div_ceil(1 << 20)));
    lines::line(
        "",
        format!("boots a PC with {cores} and {memory} MiB of memory; the verdict comes out of its first serial port"),
    );
    Ok(Outcome::Held)
}
