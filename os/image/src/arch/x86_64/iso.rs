//! A medium that boots kernel and image on a real PC, with BIOS and with UEFI firmware: GRUB, put together by
//! `grub-mkrescue`.

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What has to be installed on Debian for all of it.
const PACKAGES: &str = "grub-common grub-pc-bin grub-efi-amd64-bin xorriso mtools";
/// Where GRUB keeps its modules, one folder for each kind of firmware.
const GRUB_MODULES: &str = "/usr/lib/grub";
/// The kinds of firmware that the medium boots with, and the package that has each one's modules.
const PLATFORMS: [(&str, &str); 2] = [("i386-pc", "grub-pc-bin"), ("x86_64-efi", "grub-efi-amd64-bin")];
/// What `grub-mkrescue` needs beside itself, and the package that has each.
const PROGRAMS: [(&str, &str); 3] = [("grub-mkrescue", "grub-common"), ("xorriso", "xorriso"), ("mformat", "mtools")];

/// Why a medium cannot be made.
#[derive(Debug)]
pub enum IsoError {
    /// Programs or parts of GRUB are missing.
    Missing {
        /// What is missing: a program, or a kind of firmware.
        what: Vec<&'static str>,
        /// The packages that have it.
        packages: Vec<&'static str>,
    },
    /// The kernel's command line has a character that GRUB would take for its own.
    CommandLine {
        /// The character.
        character: char,
    },
    /// A file cannot be read or written.
    File {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        error: io::Error,
    },
    /// `grub-mkrescue` failed.
    Failed {
        /// The last of what it said.
        said: String,
    },
}

impl fmt::Display for IsoError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            IsoError::Missing { what, packages } => write!(
                f,
                "a bootable medium cannot be made without {}; run: apt-get install {}",
                what.join(", "),
                packages.join(" ")
            ),
            IsoError::CommandLine { character } => write!(
                f,
                "the kernel's command line has {character:?} in it; only letters, digits, spaces and - _ = . , : / + @ \
                 % can be passed on"
            ),
            IsoError::File { path, error } => write!(f, "{}: {error}", path.display()),
            IsoError::Failed { said } => {
                write!(f, "grub-mkrescue failed: {said}; are these complete? apt-get install {PACKAGES}")
            }
        }
    }
}

impl std::error::Error for IsoError {}

/// Makes a medium that boots `kernel_elf` with `image` as its only module, by BIOS and by UEFI, from a disc, a USB
/// stick or a disk.
///
/// GRUB waits for nobody and writes to the first serial port as well as to the screen. `out` is written whole or not
/// at all.
///
/// # Errors
/// If a tool is missing (the error names the packages), a file cannot be read or written, the command line cannot be
/// passed on by GRUB, or `grub-mkrescue` fails.
pub fn iso(kernel_elf: &Path, image: &Path, command_line: &str, out: &Path) -> Result<(), IsoError> {
    iso_with(Path::new(GRUB_MODULES), std::env::var_os("PATH").as_deref(), kernel_elf, image, command_line, out)
}

fn iso_with(
    modules: &Path,
    path: Option<&std::ffi::OsStr>,
    kernel_elf: &Path,
    image: &Path,
    command_line: &str,
    out: &Path,
) -> Result<(), IsoError> {
    let menu = menu(command_line)?;
    tools_are_there(modules, path)?;
    let folder = Folder::beside(out)?;
    let at = |name: &str| folder.0.join(name);
    let grub = at("root/boot/grub");
    fs::create_dir_all(&grub).map_err(|error| IsoError::File { path: grub.clone(), error })?;
    copy(kernel_elf, &at("root/boot/kernel.elf"))?;
    copy(image, &at("root/boot/system.img"))?;
    let file = grub.join("grub.cfg");
    fs::write(&file, menu).map_err(|error| IsoError::File { path: file, error })?;

    let made = at("made.iso");
    let mut command = Command::new("grub-mkrescue");
    // No fonts, themes or translations: half the size, and nothing that a serial line could show.
    command.args(["--fonts=", "--themes=", "--locales=", "-o"]).arg(&made).arg(at("root")).stdin(Stdio::null());
    let done = command.output().map_err(|error| IsoError::File { path: "grub-mkrescue".into(), error })?;
    if !done.status.success() || !made.is_file() {
        return Err(IsoError::Failed { said: last_words(&done.stderr) });
    }
    fs::rename(&made, out).map_err(|error| IsoError::File { path: out.to_path_buf(), error })
}

/// GRUB's menu: one entry, taken at once.
fn menu(command_line: &str) -> Result<String, IsoError> {
    let plain = |c: char| c.is_ascii_alphanumeric() || " -_=.,:/+@%".contains(c);
    if let Some(character) = command_line.chars().find(|c| !plain(*c)) {
        return Err(IsoError::CommandLine { character });
    }
    let kernel = format!("multiboot2 /boot/kernel.elf {command_line}");
    Ok(format!(
        "if serial --unit=0 --speed=115200; then\n  terminal_input console serial\n  terminal_output console serial\nfi\n\
         set timeout=0\nset default=0\n\
         menuentry \"Tactus\" {{\n  {}\n  module2 /boot/system.img\n}}\n",
        kernel.trim_end()
    ))
}

/// Asks before anything is written, so that the error names all that is missing.
fn tools_are_there(modules: &Path, path: Option<&std::ffi::OsStr>) -> Result<(), IsoError> {
    let folders: Vec<PathBuf> = path.map(|path| std::env::split_paths(path).collect()).unwrap_or_default();
    let programs = PROGRAMS.iter().filter(|(program, _)| !folders.iter().any(|folder| folder.join(program).is_file()));
    let platforms = PLATFORMS.iter().filter(|(platform, _)| !modules.join(platform).join("moddep.lst").is_file());
    let (what, packages): (Vec<_>, Vec<_>) = programs.chain(platforms).copied().unzip();
    if what.is_empty() {
        Ok(())
    } else {
        Err(IsoError::Missing { what, packages })
    }
}

fn copy(from: &Path, to: &Path) -> Result<(), IsoError> {
    fs::copy(from, to).map(drop).map_err(|error| IsoError::File { path: from.to_path_buf(), error })
}

/// The last line that is not empty.
fn last_words(said: &[u8]) -> String {
    let said = String::from_utf8_lossy(said);
    said.lines().rev().map(str::trim).find(|line| !line.is_empty()).unwrap_or("it said nothing").to_string()
}

/// A folder for work in progress, gone when this is dropped.
struct Folder(PathBuf);

impl Folder {
    /// Beside the file that is to come, so that it can be moved there in one step.
    fn beside(out: &Path) -> Result<Folder, IsoError> {
        let mut name = out.file_name().unwrap_or_default().to_os_string();
        name.push(format!(".{}.part", std::process::id()));
        let folder = out.with_file_name(name);
        // What an earlier process with this number may have left.
        let _ = fs::remove_dir_all(&folder);
        match fs::create_dir_all(&folder) {
            Ok(()) => Ok(Folder(folder)),
            Err(error) => Err(IsoError::File { path: folder, error }),
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_tools_are_named_with_the_packages_that_have_them() {
        let empty = Path::new("/nonexistent");
        let error = iso_with(empty, None, empty, empty, "", Path::new("x.iso")).unwrap_err();
        let text = error.to_string();
        assert!(
            text.ends_with(&format!("apt-get install {}", "grub-common xorriso mtools grub-pc-bin grub-efi-amd64-bin")),
            "{text}"
        );
        for package in PACKAGES.split(' ') {
            assert!(text.contains(package), "{package} is not in: {text}");
        }
    }

    #[test]
    fn a_command_line_cannot_smuggle_commands_into_the_menu() {
        for bad in ["a; reboot", "a\nreboot", "$x", "a { b", "a \"b", "a'b", "ä"] {
            assert!(matches!(menu(bad), Err(IsoError::CommandLine { .. })), "{bad:?}");
        }
        assert!(menu("serial=0x3f8 quiet").is_ok_and(|text| text.contains("kernel.elf serial=0x3f8 quiet\n")));
    }
}
