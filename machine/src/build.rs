//! Compiles kernel and components for the bare machine and says where the programs lie.

use super::core_library;
use super::failure::Failure;
use super::place;
use super::toolchain::Toolchain;
use crate::boot::MONITOR;
use rustix::fs::{flock, FlockOperation};
use std::collections::BTreeMap;
use std::env;
use std::fmt;
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::thread;

/// What cargo is to build at once.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Unit {
    /// Packages of our own workspace.
    Ours(Vec<String>),
    /// Some programs of packages of our own workspace.
    Programs {
        /// The packages.
        packages: Vec<String>,
        /// The programs of theirs.
        names: Vec<String>,
    },
    /// The user's crate in this folder, with a workspace of its own.
    Crate {
        /// The folder.
        folder: PathBuf,
        /// Whether it is compiled for a processor with floating point and vectors.
        floating_point: bool,
    },
}

/// The programs that came out, by the name of the binary.
pub type Programs = BTreeMap<String, PathBuf>;

/// Why there are no programs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum BuildFailure {
    /// Cargo does not start.
    Cargo(String),
    /// The compiler refused; its words.
    Refused {
        /// What was built.
        unit: Unit,
        /// Standard error of cargo.
        words: String,
    },
    /// The user's crate compiled but made no program.
    NoProgram(PathBuf),
}

impl fmt::Display for BuildFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BuildFailure::Cargo(why) => write!(f, "cargo cannot build: {why}"),
            BuildFailure::Refused { unit: Unit::Ours(packages) | Unit::Programs { packages, .. }, words } => {
                write!(f, "{words}\n{} could not be built; the compiler's words are above", packages.join(", "))
            }
            BuildFailure::Refused { unit: Unit::Crate { folder, .. }, words } => {
                write!(f, "{words}\nthe component in {} could not be built", folder.display())
            }
            BuildFailure::NoProgram(folder) => {
                write!(f, "the component in {} has no binary target: give it a src/main.rs", folder.display())
            }
        }
    }
}

/// Sources of ours, and where what is built of them lies.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sources {
    /// The folder of the workspace, whose compiler options hold for the user's crates too.
    pub root: PathBuf,
    /// Where cargo builds.
    pub target: PathBuf,
    /// A feature of one of the packages, `package/feature`.
    pub feature: Option<String>,
}

impl Sources {
    /// Those of the workspace in this folder, as they are, built where cargo builds for this command.
    ///
    /// # Errors
    /// If the sources of this command are no longer there.
    pub fn of(root: &Path) -> Result<Sources, Failure> {
        let target = env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
        let target = target.map_or_else(|| Ok(place::root()?.join("target")), Ok)?;
        Ok(Sources { root: root.to_path_buf(), target, feature: None })
    }
}

/// Builds one unit. `root` is the folder of our workspace, whose compiler options hold for the user's crates too.
/// `progress` is called with each thing that the compiler says it begins.
pub fn build(
    toolchain: &Toolchain,
    root: &Path,
    unit: &Unit,
    progress: &(dyn Fn(&str) + Sync),
) -> Result<Programs, BuildFailure> {
    let sources = Sources::of(root).map_err(|failure| BuildFailure::Cargo(failure.to_string()))?;
    build_of(toolchain, &sources, unit, progress)
}

/// As [`build`], of these sources.
pub fn build_of(
    toolchain: &Toolchain,
    sources: &Sources,
    unit: &Unit,
    progress: &(dyn Fn(&str) + Sync),
) -> Result<Programs, BuildFailure> {
    let root = &sources.root;
    let into = folder_for(&sources.target, unit);
    let cannot = |error: io::Error| BuildFailure::Cargo(error.to_string());
    let _held = match unit {
        Unit::Crate { .. } => Some(hold(&into).map_err(cannot)?),
        Unit::Ours(_) | Unit::Programs { .. } => None,
    };
    if let Unit::Crate { folder, .. } = unit {
        forget_others(toolchain, folder, &into).map_err(cannot)?;
        if toolchain.fetches_nothing() {
            give_lock(toolchain, folder, root).map_err(cannot)?;
        }
    }
    // A folder to which nothing could be copied is one in which cargo compiles all itself.
    let core = match unit {
        Unit::Crate { floating_point: true, .. } => None,
        _ => toolchain.kept_core(),
    };
    if let Some(kept) = &core {
        let _ = core_library::bring(kept, &into, toolchain.machine().target);
    }
    let mut command = match unit {
        Unit::Crate { floating_point: true, .. } => toolchain.build_with_floating_point(root, &into),
        _ => toolchain.build_bare(root, &into),
    };
    command.arg("--message-format=json-render-diagnostics");
    match unit {
        Unit::Ours(packages) | Unit::Programs { packages, .. } => {
            packages.iter().for_each(|package| {
                command.args(["-p", package]);
            });
            if let Unit::Programs { names, .. } = unit {
                names.iter().for_each(|name| {
                    command.args(["--bin", name]);
                });
            }
            if let Some(feature) = &sources.feature {
                command.args(["--features", feature]);
            }
            // For tests: a kernel that looks at itself.
            let features = env::var_os("TACTUS_KERNEL_FEATURES").filter(|_| packages.iter().all(|it| it != MONITOR));
            if let Some(features) = features {
                command.arg("--features").arg(features);
            }
        }
        Unit::Crate { folder, .. } => {
            command.arg("--manifest-path").arg(folder.join("Cargo.toml"));
        }
    }
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(cannot)?;
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());

    let (programs, words) = thread::scope(|scope| {
        // Both streams are read at once, so that neither fills up while the other is waited for.
        let words = scope.spawn(|| {
            let mut words = String::new();
            for line in stderr.into_iter().flat_map(|s| BufReader::new(s).lines()).map_while(Result::ok) {
                progress(line.trim());
                words.push_str(&line);
                words.push('\n');
            }
            words
        });
        let mut programs = Programs::new();
        for line in stdout.into_iter().flat_map(|s| BufReader::new(s).lines()).map_while(Result::ok) {
            programs.extend(program(&line));
        }
        (programs, words.join().unwrap_or_default())
    });
    if !child.wait().map_err(cannot)?.success() {
        return Err(BuildFailure::Refused { unit: unit.clone(), words: words.trim_end().to_string() });
    }
    if let Some(kept) = &core {
        let _ = core_library::keep(&into, kept, toolchain.machine().target);
    }
    match unit {
        Unit::Crate { folder, .. } if programs.is_empty() => Err(BuildFailure::NoProgram(folder.clone())),
        Unit::Crate { folder, .. } => keep_by_folder(programs, folder, &into).map_err(cannot),
        Unit::Ours(_) | Unit::Programs { .. } => Ok(programs),
    }
}

/// Where the unit's programs are built: never in a folder of the user's. All of the user's crates share one, so that what they
/// have in common is compiled once.
fn folder_for(target: &Path, unit: &Unit) -> PathBuf {
    match unit {
        Unit::Ours(_) | Unit::Programs { .. } => target.to_path_buf(),
        Unit::Crate { .. } => target.join("components"),
    }
}

/// Until this goes, nobody else builds there: cargo gives programs of one name one place, whosever they are.
pub(crate) fn hold(folder: &Path) -> io::Result<File> {
    fs::create_dir_all(folder)?;
    let held = File::open(folder)?;
    // Some file systems of a network lock no folders. Builds there are as they would be without this.
    let _ = flock(&held, FlockOperation::LockExclusive);
    Ok(held)
}

/// Cargo tells packages of one name and version in several workspaces apart by nothing: it would take what it built of one for the
/// other, where that one's files are older. So what was built of packages of these names is built again where the last one of that
/// name that was built here lies in another folder.
fn forget_others(toolchain: &Toolchain, folder: &Path, into: &Path) -> io::Result<()> {
    let (own, last) = (folder.to_string_lossy(), into.join("last-built"));
    if fs::read_to_string(&last).is_ok_and(|last| last == own) {
        return Ok(());
    }
    let mut metadata = toolchain.cargo(folder);
    metadata.args(["metadata", "--no-deps", "--offline", "--format-version", "1", "--manifest-path"]);
    let told = metadata.arg(folder.join("Cargo.toml")).output()?;
    // A manifest that cannot be read is the compiler's to tell of.
    let told: serde_json::Value = serde_json::from_slice(&told.stdout).unwrap_or_default();
    let packages = told["packages"].as_array().into_iter().flatten();
    // Where the manifests lie of the packages of which something was built here, by their names. A component of our own workspace is
    // told of with all of that.
    let kept = into.join("built-from.json");
    let mut from: BTreeMap<String, String> =
        fs::read(&kept).ok().and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default();
    let mut others = Vec::new();
    for package in packages {
        let [Some(name), Some(manifest)] = ["name", "manifest_path"].map(|key| package[key].as_str()) else { continue };
        if from.insert(name.to_owned(), manifest.to_owned()).as_deref() != Some(manifest) {
            others.push(name);
        }
    }
    let machine = toolchain.machine();
    let folders = [into.to_path_buf(), into.join(machine.target), into.join(machine.floating_point_target)];
    for profile in folders.map(|it| it.join("release")) {
        let Ok(entries) = profile.join(".fingerprint").read_dir() else { continue };
        for entry in entries {
            let entry = entry?;
            let package = entry.file_name().to_string_lossy().rsplit_once('-').map(|(package, _)| package.to_owned());
            if package.is_some_and(|package| others.contains(&package.as_str())) {
                fs::remove_dir_all(entry.path())?;
            }
        }
    }
    fs::write(kept, serde_json::to_vec(&from)?)?;
    fs::write(last, own.as_bytes())
}

/// Gives a crate that has no `Cargo.lock` one with the versions of our own workspace, which the computer has: a build that fetches nothing takes only
/// what a lock says. Where that is not enough, nothing is left behind, and cargo says what it lacks.
///
/// # Errors
/// If cargo cannot be started, or the lock cannot be written.
pub fn give_lock(toolchain: &Toolchain, folder: &Path, ours: &Path) -> io::Result<()> {
    let manifest = folder.join("Cargo.toml");
    let mut locate = toolchain.cargo(folder);
    locate.args(["locate-project", "--workspace", "--message-format", "plain", "--manifest-path"]);
    let found = locate.arg(&manifest).output()?;
    let workspace = String::from_utf8_lossy(&found.stdout);
    let Some(lock) = Path::new(workspace.trim()).parent().map(|it| it.join("Cargo.lock")) else { return Ok(()) };
    if !found.status.success() || lock.exists() {
        return Ok(());
    }
    fs::copy(ours.join("Cargo.lock"), &lock)?;
    // Cargo takes out what the crate does not need, and adds the crate.
    let mut fit = toolchain.cargo(folder);
    // What is for other targets alone, as what models of the runtime's structures need, may not be on the computer.
    fit.args(["metadata", "--offline", "--format-version", "1", "--filter-platform", toolchain.machine().target]);
    fit.arg("--manifest-path");
    if !fit.arg(&manifest).output()?.status.success() {
        fs::remove_file(&lock)?;
    }
    Ok(())
}

/// The programs of a crate, copied to where no other crate's are.
fn keep_by_folder(programs: Programs, folder: &Path, into: &Path) -> io::Result<Programs> {
    let mut hasher = DefaultHasher::new();
    folder.hash(&mut hasher);
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let own = into.join("programs").join(format!("{name}-{:016x}", hasher.finish()));
    fs::create_dir_all(&own)?;
    let copy = |(program, built): (String, PathBuf)| {
        // Whole or not at all: another run may be reading the one that is there.
        let (place, fresh) = (own.join(&program), own.join(format!("{program}.new")));
        fs::copy(&built, &fresh)?;
        fs::rename(&fresh, &place)?;
        Ok((program, place))
    };
    programs.into_iter().map(copy).collect()
}

/// The program that one of cargo's messages tells of, if it tells of one.
fn program(message: &str) -> Option<(String, PathBuf)> {
    let message: serde_json::Value = serde_json::from_str(message).ok()?;
    if message["reason"] != "compiler-artifact" {
        return None;
    }
    let path = message["executable"].as_str()?;
    Some((message["target"]["name"].as_str()?.to_string(), PathBuf::from(path)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cargos_message_about_a_program_gives_its_name_and_place() {
        let message =
            r#"{"reason":"compiler-artifact","target":{"name":"tactus-kernel"},"executable":"/t/tactus-kernel"}"#;
        assert_eq!(program(message), Some(("tactus-kernel".into(), "/t/tactus-kernel".into())));
    }

    #[test]
    fn cargos_message_about_a_library_gives_no_program() {
        assert_eq!(program(r#"{"reason":"compiler-artifact","target":{"name":"l"},"executable":null}"#), None);
        assert_eq!(program("warning: not JSON"), None);
    }
}
