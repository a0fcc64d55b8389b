//! An emulator whose monitors hold back what a kernel sends to cores of other sandboxes: the one in `PATH` if it is late enough, else one
//! from the backports of the host's Debian, unpacked below the folder of builds. Nothing on the host changes, and no root is needed.

use crate::arch::emulator::{HAS_REGISTERS, PACKAGE, PACKAGES, PROGRAM};
use crate::boot::Tell;
use crate::build::{hold, Sources};
use crate::emulator::Emulator;
use crate::failure::Failure;
use crate::place;
use crate::toolchain::Network;
use std::fs;
use std::path::Path;
use std::process::Command;
use tactus_model::Processor;

/// For tests: no other emulator is looked for than the one in `PATH` if it is set.
const ONLY_PATH: &str = "TACTUS_ONLY_PATH";

/// Finds it, or fetches it.
///
/// # Errors
/// If it cannot be had: why, and what to do.
pub fn find(network: Network, tell: Tell) -> Result<Emulator, Failure> {
    let here = Emulator::find(Processor::X86).map_err(|error| Failure::Machine(error.to_string()))?;
    if here.holds_back() {
        return Ok(here);
    }
    let found = match std::env::var_os(ONLY_PATH) {
        Some(_) => Err(format!("{ONLY_PATH} is set")),
        None => unpacked(network, tell),
    };
    found.map_err(|why| {
        let (major, minor) = HAS_REGISTERS;
        Failure::Machine(format!(
            "to hold back what a sandbox's kernel sends to cores of others needs {PROGRAM} {major}.{minor} or later; here is {}, and {why}: \
             install {PACKAGE} of Debian's backports (apt-get install -t bookworm-backports {PACKAGE}), or say that nothing holds it \
             back, with inter-core = \"open\" under [machine]",
            here.version
        ))
    })
}

fn unpacked(network: Network, tell: Tell) -> Result<Emulator, String> {
    let target = place::root().and_then(|root| Sources::of(&root)).map_err(|failure| failure.to_string())?.target;
    let into = target.join("emulator");
    let there = || Emulator::in_folder(Processor::X86, Some(into.clone())).ok().filter(Emulator::holds_back);
    if let Some(emulator) = there() {
        return Ok(emulator);
    }
    let work = target.join("emulator-packages");
    let cannot = |error: std::io::Error| format!("{}: {error}", work.display());
    let _held = hold(&work).map_err(cannot)?;
    // Another start may have fetched it meanwhile.
    if let Some(emulator) = there() {
        return Ok(emulator);
    }
    if network != Network::Fetching {
        return Err("nothing may be fetched".into());
    }
    let release = fs::read_to_string("/etc/os-release").unwrap_or_default();
    let release = release.lines().find_map(|line| line.strip_prefix("VERSION_CODENAME="));
    let release = release.ok_or("the host is no Debian")?.trim_matches('"');
    tell(&format!("fetching {PACKAGE} from {release}-backports"));
    fetch(&work, release).map_err(|why| format!("Debian's backports give no other ({why})"))?;
    let fresh = target.join("emulator.new");
    let _ = fs::remove_dir_all(&fresh);
    for package in fs::read_dir(&work).map_err(cannot)?.flatten().filter(|it| is_package(&it.path())) {
        call(Command::new("dpkg-deb").arg("-x").arg(package.path()).arg(&fresh))?;
    }
    let _ = fs::remove_dir_all(&into);
    fs::rename(&fresh, &into).map_err(cannot)?;
    Emulator::in_folder(Processor::X86, Some(into.clone())).map_err(|error| error.to_string())?;
    there().ok_or_else(|| format!("{release}-backports have no later one"))
}

fn is_package(path: &Path) -> bool {
    path.extension().is_some_and(|it| it == "deb")
}

/// Fetches the packages by Debian's own means, which check their signatures, with lists and files in this folder.
fn fetch(work: &Path, release: &str) -> Result<(), String> {
    let cannot = |error: std::io::Error| error.to_string();
    fs::create_dir_all(work.join("lists/partial")).map_err(cannot)?;
    fs::create_dir_all(work.join("cache/archives/partial")).map_err(cannot)?;
    let source = format!(
        "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian {release}-backports main\n"
    );
    fs::write(work.join("sources.list"), source).map_err(cannot)?;
    let options = [
        format!("Dir::Etc::SourceList={}", work.join("sources.list").display()),
        "Dir::Etc::SourceParts=/dev/null".into(),
        format!("Dir::State::Lists={}", work.join("lists").display()),
        format!("Dir::Cache={}", work.join("cache").display()),
        "APT::Sandbox::User=".into(),
    ];
    let apt_get = || {
        let mut command = Command::new("apt-get");
        options.iter().for_each(|option| {
            command.arg("-o").arg(option);
        });
        command.arg("-q").current_dir(work);
        command
    };
    call(apt_get().arg("update"))?;
    call(apt_get().arg("download").args(PACKAGES))
}

fn call(command: &mut Command) -> Result<(), String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|error| format!("{program} does not start: {error}"))?;
    let words = String::from_utf8_lossy(&output.stderr);
    let last = words.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("it says nothing");
    if output.status.success() {
        Ok(())
    } else {
        Err(format!("{program}: {last}"))
    }
}
