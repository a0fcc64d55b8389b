//! The emulator's plug-in: it counts each core's own instructions, wherever a program reads the clock, or models caches.

use super::toolchain::Toolchain;
use object::{Object, ObjectSegment, SegmentFlags};
use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use tactus_cache::machine::MACHINES;
use tactus_report::{CacheUse, PartCaches};

/// In the folder of a run: the plug-in, the program's text, and the counts.
const LIBRARY: &str = "probe.so";
const TEXT: &str = "text.bin";
const COUNTS: &str = "counts.bin";
/// What caches are modelled, and what they saw.
const GEOMETRY: &str = "geometry.toml";
const CACHES: &str = "caches.txt";
/// Which ones, where nothing is said.
const DEFAULT: &str = "i7-2600";

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
        self.put_into(folder)?;
        Ok(format!("./{LIBRARY},counts={COUNTS},text={:#x}:{TEXT}", text.address()).into())
    }
}

impl Probe {
    /// Prepares a folder for a run whose accesses go through modelled caches, by a file that describes them, else those of an i7-2600;
    /// gives the emulator's words.
    ///
    /// # Errors
    /// If the folder cannot be written.
    pub fn modelling(&self, caches: Option<&str>, colours: u32, folder: &Path) -> io::Result<OsString> {
        let (_, default) = MACHINES.iter().find(|(name, _)| *name == DEFAULT).unwrap_or(&MACHINES[0]);
        fs::write(folder.join(GEOMETRY), caches.unwrap_or(default))?;
        self.put_into(folder)?;
        Ok(format!("./{LIBRARY},out={CACHES},geometry={GEOMETRY},colours={colours}").into())
    }

    /// Prepares a folder for a run whose cores stand still for a moment after one of `each` accesses to memory, chosen at random by this
    /// seed; gives the emulator's words.
    ///
    /// # Errors
    /// If the folder cannot be written.
    pub fn delaying(&self, each: u32, seed: u32, folder: &Path) -> io::Result<OsString> {
        self.put_into(folder)?;
        Ok(format!("./{LIBRARY},delays={each},seed={seed}").into())
    }

    fn put_into(&self, folder: &Path) -> io::Result<()> {
        let link = folder.join(LIBRARY);
        match fs::remove_file(&link) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => symlink(&self.0, &link),
        }
    }
}

/// What the modelled caches of a run in this folder saw, of a system of so many parts and colours: the kernel, then the components.
///
/// # Errors
/// If the plug-in has left nothing that can be read.
pub fn caches(folder: &Path, parts: usize, colours: usize) -> io::Result<CacheUse> {
    let text = fs::read_to_string(folder.join(CACHES))?;
    let wrong =
        || io::Error::new(io::ErrorKind::InvalidData, format!("{CACHES}: the counts of the plug-in make no sense"));
    let mut out = CacheUse { parts: vec![PartCaches::default(); parts], ..CacheUse::default() };
    out.parts.iter_mut().for_each(|part| part.by_colour = vec![0; colours]);
    for line in text.lines() {
        let Some((word, rest)) = line.split_once(' ') else { continue };
        if word == "machine" {
            out.machine = rest.to_string();
            continue;
        }
        let number = |text: &str| text.parse::<u64>().map_err(|_| wrong());
        match (word, rest.split(' ').map(number).collect::<Result<Vec<_>, _>>()) {
            ("part", Ok(numbers)) => {
                let &[part, instructions, accesses, beyond, memory, changed] = &numbers[..] else {
                    return Err(wrong());
                };
                // What runs before there are components is nobody's.
                let Some(part) = out.parts.get_mut(part as usize) else { continue };
                let by_colour = std::mem::take(&mut part.by_colour);
                *part = PartCaches { instructions, accesses, beyond, memory, changed, by_colour };
            }
            ("access", Ok(numbers)) => {
                let &[part, colour, count] = &numbers[..] else { return Err(wrong()) };
                let Some(part) = out.parts.get_mut(part as usize) else { continue };
                *part.by_colour.get_mut(colour as usize).ok_or_else(wrong)? = count;
            }
            ("evicted", Ok(numbers)) => {
                let &[by, of, lines] = &numbers[..] else { return Err(wrong()) };
                out.evicted.push((by as usize, of as usize, lines));
            }
            _ => {}
        }
    }
    if out.machine.is_empty() {
        return Err(wrong());
    }
    Ok(out)
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
