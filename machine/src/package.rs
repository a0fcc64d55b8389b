//! Packages: keys that sign them, and programs built, described and signed.

use crate::boot::{machine, Tell};
use crate::build::{build, BuildFailure, Unit};
use crate::failure::Failure;
use crate::place;
use crate::toolchain::{Network, Toolchain};
use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use tactus_image::PackedProgram;
use tactus_model::{read_ordinary_text, DeclaredTask, PackageDeclaration};
use tactus_package::admission::Demand;
use tactus_package::manifest::{List, Manifest, PackageTask, Processor, Right, RightKind, LONGEST_MANIFEST};
use tactus_package::write::{self, SigningKey};

/// The longest file of a key.
const LONGEST_KEY: u64 = 4096;

/// The files of a key.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KeyFiles {
    /// The private key, which its owner alone may read.
    pub private: PathBuf,
    /// The public key.
    pub public: PathBuf,
}

/// Draws a key and writes it to two files, `NAME.key` and `NAME.pub`.
///
/// # Errors
/// If one of them is there already, or cannot be written; then neither is left behind.
pub fn new_key(name: &Path) -> Result<KeyFiles, Failure> {
    let of = |ending: &str| {
        let mut path = name.as_os_str().to_owned();
        path.push(ending);
        PathBuf::from(path)
    };
    if name.file_name().is_none() || name.as_os_str().as_encoded_bytes().ends_with(b"/") {
        return Err(Failure::Input(format!("key {}: it has no name; write one such as dev", name.display())));
    }
    let files = KeyFiles { private: of(".key"), public: of(".pub") };
    let key = drawn()?;
    let make = |path: &Path, text: &str, mode: u32| -> Result<(), Failure> {
        let file = fs::File::options().write(true).create_new(true).mode(mode).open(path);
        file.and_then(|mut file| file.write_all(text.as_bytes())).map_err(|error| {
            let remedy = match error.kind() {
                ErrorKind::AlreadyExists => "it is there already, and packages may need it; choose another name".into(),
                ErrorKind::NotFound => "its folder is not there; make it first".into(),
                _ => error.to_string(),
            };
            Failure::Input(format!("{}: {remedy}", path.display()))
        })
    };
    make(&files.private, &key.to_text(), 0o600)?;
    make(&files.public, &key.public_text(), 0o644).inspect_err(|_| _ = fs::remove_file(&files.private))?;
    Ok(files)
}

fn drawn() -> Result<SigningKey, Failure> {
    let random = Path::new("/dev/urandom");
    let cannot = |error: std::io::Error| Failure::Machine(format!("{}: {error}", random.display()));
    let mut file = fs::File::open(random).map_err(cannot)?;
    // A seed from which no key grows is not drawn in a lifetime.
    for _ in 0..8 {
        let mut seed = [0; 32];
        file.read_exact(&mut seed).map_err(cannot)?;
        if let Some(key) = SigningKey::from_seed(seed) {
            return Ok(key);
        }
    }
    Err(Failure::Machine(format!("{} gives no random bytes", random.display())))
}

/// The private key in this file.
///
/// # Errors
/// If it is none.
pub fn private_key(path: &Path) -> Result<SigningKey, Failure> {
    let remedy = "make one: ./tactus key new NAME";
    let text = read_ordinary_text(path, LONGEST_KEY)
        .map_err(|reason| Failure::Input(format!("{}: {reason}; {remedy}", path.display())))?;
    SigningKey::from_text(&text).map_err(|fault| Failure::Input(format!("{}: {fault}; {remedy}", path.display())))
}

/// A package that was made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Packed {
    /// What its author says of it.
    pub declaration: PackageDeclaration,
    /// Pages of memory that its program takes.
    pub pages: u64,
    /// The package.
    pub bytes: Vec<u8>,
}

/// Builds the crate in this folder and makes a package of it, signed with the private key in `key`. What it says of itself stands in its
/// `Cargo.toml`, or in `manifest`.
///
/// # Errors
/// If the crate, what is said of it, or the key cannot be used.
pub fn pack(
    folder: &Path,
    manifest: Option<&Path>,
    key: &Path,
    (network, tell): (Network, Tell),
) -> Result<Packed, Failure> {
    let cargo = folder.join("Cargo.toml");
    if !cargo.is_file() {
        let why = "it is no folder with a Cargo.toml; give that of the package's crate";
        return Err(Failure::Input(format!("{}: {why}", folder.display())));
    }
    let declaration =
        PackageDeclaration::read(folder, manifest).map_err(|problems| Failure::Input(problems.to_string()))?;
    // What is wrong with the key is told before anything is compiled.
    let signer = private_key(key)?;
    let file = program(folder, &declaration.name, network, tell)?;
    let program = PackedProgram::of(&file).map_err(|error| {
        Failure::Input(format!("{}: the program cannot be loaded into a slot: {error}", cargo.display()))
    })?;
    let bytes = signed(&declaration, &program, &signer)
        .map_err(|why| Failure::Input(format!("{}: {why}", manifest.unwrap_or(&cargo).display())))?;
    Ok(Packed { declaration, pages: program.pages, bytes })
}

fn program(folder: &Path, name: &str, network: Network, tell: Tell) -> Result<Vec<u8>, Failure> {
    let folder = fs::canonicalize(folder).map_err(|error| Failure::Input(format!("{}: {error}", folder.display())))?;
    let toolchain = Toolchain::find().and_then(|it| it.reaching(network)).map_err(machine)?;
    let unit = Unit::Crate { folder, floating_point: false };
    let programs = build(&toolchain, &place::root()?, &unit, tell).map_err(|failure| match failure {
        BuildFailure::Cargo(_) => machine(failure),
        _ => Failure::Input(failure.to_string()),
    })?;
    // A crate with several programs means the one that is called like the package.
    let path = programs.get(name).or_else(|| programs.values().next());
    let path = path.ok_or_else(|| Failure::Machine("the build made no program".into()))?;
    fs::read(path).map_err(|error| Failure::Machine(format!("{}: {error}", path.display())))
}

/// The package of a program.
///
/// # Errors
/// Why nothing could load it.
pub fn signed(
    declaration: &PackageDeclaration,
    program: &PackedProgram,
    signer: &SigningKey,
) -> Result<Vec<u8>, String> {
    if let Some(service) = program.services.first() {
        return Err(format!("the program offers the service {service:?}, and nobody can be granted it; remove it"));
    }
    if program.has_sequences {
        let remedy = "leave out what of tactus-rt needs them";
        return Err(format!("the program has restartable sequences, which no slot knows; {remedy}"));
    }
    let tasks: Vec<PackageTask<'_>> = declaration.tasks.iter().map(task).collect();
    let rights: Vec<Right<'_>> = declaration.uses.iter().map(|name| Right { kind: RightKind::Service, name }).collect();
    let no_room = || "more tasks or services than a package may have; leave some out".to_string();
    let manifest = Manifest {
        name: &declaration.name,
        sequence_number: declaration
            .version
            .number()
            .ok_or("its version has too large numbers; choose smaller ones")?,
        class: &declaration.class,
        processor: Processor::X86_64.number(),
        image_digest: write::digest(&program.file),
        image_size: program.file.len() as u64,
        heap: declaration.heap,
        tasks: List::of(&tasks).ok_or_else(no_room)?,
        rights: List::of(&rights).ok_or_else(no_room)?,
    };
    let encoded = write::manifest(&manifest);
    if encoded.len() > LONGEST_MANIFEST {
        return Err(format!(
            "what it says of itself takes {} bytes, and may take {LONGEST_MANIFEST}; shorten names",
            encoded.len()
        ));
    }
    Ok(write::signed(&encoded, &program.file, signer))
}

fn task(task: &DeclaredTask) -> PackageTask<'_> {
    let DeclaredTask { execution, period, deadline, .. } = *task;
    // In a package the smaller number goes first.
    PackageTask { name: &task.name, demand: Demand { execution, period, deadline, priority: u32::MAX - task.priority } }
}
