//! The emulator's plug-in that counts each core's own instructions, wherever a program reads the clock.

use super::toolchain::Toolchain;
use object::{Object, ObjectSegment, SegmentFlags};
use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// In the folder of a run: the plug-in, the program's text, and the counts.
const LIBRARY: &str = "probe.so";
const TEXT: &str = "text.bin";
const COUNTS: &str = "counts.bin";

/// A reading of the clock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reading {
    /// The address of the instruction that read it.
    pub site: u64,
    /// Instructions of the core itself until then.
    pub own: u64,
    /// Instructions of all cores until then.
    pub all: u64,
}

/// The plug-in, built.
#[derive(Clone, Debug)]
pub struct Probe(PathBuf);

impl Probe {
    /// Builds it for the host.
    ///
    /// # Errors
    /// Why cargo could not, in its own words.
    pub fn build(toolchain: &Toolchain, root: &Path) -> Result<Probe, String> {
        let mut command = toolchain.cargo(root);
        command.args(["build", "--release", "-p", "tactus-probe", "--message-format=json-render-diagnostics"]);
        let output = command.stdin(Stdio::null()).output().map_err(|error| format!("cargo cannot build: {error}"))?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).trim_end().to_owned());
        }
        let words = String::from_utf8_lossy(&output.stdout);
        let library = words.lines().filter_map(library).next_back();
        library.map(Probe).ok_or_else(|| "the build made no plug-in".to_owned())
    }

    /// Prepares a folder for a run in which the readings of the clock in `program` are counted; gives the emulator's words.
    ///
    /// # Errors
    /// If the program is no ELF file with text, or the folder cannot be written.
    pub fn counting(&self, program: &Path, folder: &Path) -> io::Result<OsString> {
        let bytes = fs::read(program)?;
        let wrong = |why: &str| io::Error::new(io::ErrorKind::InvalidData, format!("{}: {why}", program.display()));
        let file = object::File::parse(&*bytes).map_err(|error| wrong(&error.to_string()))?;
        let executable =
            |flags| matches!(flags, SegmentFlags::Elf { p_flags, .. } if p_flags.contains(object::elf::PF_X));
        let text = file.segments().find(|segment| executable(segment.flags())).ok_or_else(|| wrong("no text"))?;
        fs::write(folder.join(TEXT), text.data().map_err(|error| wrong(&error.to_string()))?)?;
        let link = folder.join(LIBRARY);
        match fs::remove_file(&link) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => symlink(&self.0, &link)?,
        }
        Ok(format!("./{LIBRARY},counts={COUNTS},text={:#x}:{TEXT}", text.address()).into())
    }
}

/// The shared library that one of cargo's messages tells of.
fn library(message: &str) -> Option<PathBuf> {
    let message: serde_json::Value = serde_json::from_str(message).ok()?;
    let files = message["filenames"].as_array()?.iter().filter_map(|file| file.as_str());
    files
        .map(PathBuf::from)
        .find(|file| message["target"]["name"] == "tactus_probe" && file.extension().is_some_and(|it| it == "so"))
}

/// What was counted in a run in this folder, by core, in order.
///
/// # Errors
/// If the counts cannot be read, or are cut off.
pub fn readings(folder: &Path, cores: usize) -> io::Result<Vec<Vec<Reading>>> {
    let bytes = fs::read(folder.join(COUNTS))?;
    let wrong = || io::Error::new(io::ErrorKind::InvalidData, "the counts of the plug-in make no sense");
    let mut out = vec![Vec::new(); cores];
    for record in bytes.chunks(32) {
        let number = |n: usize| {
            let bytes = record.get(n * 8..)?.first_chunk::<8>()?;
            Some(u64::from_le_bytes(*bytes))
        };
        let [Some(core), Some(site), Some(own), Some(all)] = [0, 1, 2, 3].map(number) else { return Err(wrong()) };
        let of_core = usize::try_from(core).ok().and_then(|core| out.get_mut(core)).ok_or_else(wrong)?;
        of_core.push(Reading { site, own, all });
    }
    Ok(out)
}
