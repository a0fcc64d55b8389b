//! The emulated machine: finding QEMU, and the command line that makes a run reproducible.
//!
//! Instructions are counted (`-icount`), nothing sleeps in real time, the clock starts at a fixed date, devices that are
//! not needed are left out. Where processors are to execute at the same time ([`Execution::Concurrent`]), nothing is counted and no
//! run is like another. The guest's memory is a file without a name, so that the host reads the trace while the guest
//! writes it, the guest is not slowed down, and nothing is left of it when both have ended, however they ended.
//!
//! The emulator works in the folder of the results and is told the plain names of the files there: a path with a comma in it
//! would be taken apart by some of its options.

use super::arch::emulator::{FIRMWARE, HAS_REGISTERS};
use super::arch::{self, Emulated};
use super::supervised;
use super::symbols::entry;
use rustix::fs::{memfd_create, MemfdFlags};
use std::ffi::OsString;
use std::fmt;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use tactus_model::Processor;

pub use super::arch::emulator::{Board, MOST_MEMORY};

/// The oldest version that will do: counted instructions and plug-ins behave from there on.
pub const OLDEST: (u32, u32) = (7, 2);

/// The image with components and plan, in the folder of the results.
pub const IMAGE: &str = "system.img";

/// What the serial port says, in the folder of the results.
pub const LOG: &str = "run.log";

/// An emulator that will do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Emulator {
    /// Its version, `7.2.22`.
    pub version: String,
    /// Where it was unpacked, if it is not the one in `PATH`.
    pub folder: Option<PathBuf>,
}

/// Why none will do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Missing {
    /// It does not start: the machine's processor, and why.
    Absent(Processor, String),
    /// It is older than [`OLDEST`], or does not say how old it is.
    Old(Processor, String),
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Missing::Absent(processor, why) => {
                let Emulated { program, package, .. } = arch::of(*processor);
                write!(
                    f,
                    "no emulator: {program} {why}. Start through ./tactus, which installs it, or run: \
                     apt-get install {package}"
                )
            }
            Missing::Old(processor, version) => {
                let program = arch::of(*processor).program;
                write!(f, "{program} is version {version}; needed is {}.{} or later", OLDEST.0, OLDEST.1)
            }
        }
    }
}

impl Emulator {
    /// Finds QEMU for the processor in `PATH` and asks it for its version.
    pub fn find(processor: Processor) -> Result<Emulator, Missing> {
        Emulator::in_folder(processor, None)
    }

    /// The one that was unpacked in this folder, or the one in `PATH`.
    pub fn in_folder(processor: Processor, folder: Option<PathBuf>) -> Result<Emulator, Missing> {
        let output = Command::new(program(processor, folder.as_deref()))
            .arg("--version")
            .output()
            .map_err(|error| Missing::Absent(processor, format!("does not start ({error})")))?;
        let words = String::from_utf8_lossy(&output.stdout);
        match version(&words) {
            Some((version, numbers)) if numbers >= OLDEST => Ok(Emulator { version, folder }),
            Some((version, _)) => Err(Missing::Old(processor, version)),
            None => Err(Missing::Old(processor, format!("unknown ({:?})", words.lines().next().unwrap_or("")))),
        }
    }
}

impl Emulator {
    /// Whether its cores' interrupt controllers have registers, so that a monitor can hold back what a kernel sends to other cores.
    pub fn holds_back(&self) -> bool {
        let mut numbers = self.version.split('.').map_while(|it| it.parse().ok());
        numbers.next().zip(numbers.next()) >= Some(HAS_REGISTERS)
    }
}

/// The program below this folder, or in `PATH`.
fn program(processor: Processor, folder: Option<&Path>) -> PathBuf {
    let name = arch::of(processor).program;
    folder.map_or_else(|| name.into(), |it| it.join("usr/bin").join(name))
}

/// Reads `QEMU emulator version 7.2.22 (Debian …)`.
fn version(words: &str) -> Option<(String, (u32, u32))> {
    let text = words.lines().next()?.split("version ").nth(1)?;
    let text = text.split(|c: char| !c.is_ascii_digit() && c != '.').next()?;
    let mut numbers = text.split('.').map(str::parse);
    Some((text.to_string(), (numbers.next()?.ok()?, numbers.next()?.ok()?)))
}

/// How the machine's processors execute.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Execution {
    /// One after the other, with counted instructions: a run repeats, bit by bit.
    Counted {
        /// An instruction takes 2^`shift` ns.
        shift: u8,
    },
    /// At the same time, each on a thread of the host. Time is the host's, so that no length of time means anything.
    Concurrent,
}

/// One start of the machine.
#[derive(Clone, Debug)]
pub struct Boot {
    /// The machine's processor.
    pub processor: Processor,
    /// The kernel, an ELF file in the form that the emulator boots.
    pub kernel: PathBuf,
    /// The folder of the results: it holds [`IMAGE`], and gets [`LOG`].
    pub folder: PathBuf,
    /// Number of cores.
    pub cores: usize,
    /// Memory in bytes, at most [`MOST_MEMORY`].
    pub memory: u64,
    /// How its cores execute.
    pub execution: Execution,
    /// What the machine has beside processors and memory.
    pub board: Board,
    /// Further devices: words of the command line. Paths in it begin in `folder`.
    pub devices: Vec<String>,
    /// The monitor that runs the kernel in guest mode, in the same form; without one the kernel has the machine. If it is `kernel` itself, the
    /// kernels are in the image.
    pub monitor: Option<PathBuf>,
    /// Where the emulator was unpacked, if it is not the one in `PATH`.
    pub emulator: Option<PathBuf>,
    /// Whether the monitor holds back what a kernel sends to cores that are not its own.
    pub held_back: bool,
    /// A plug-in with its options; without one that which the environment names in `TACTUS_PLUGIN`, if it does.
    pub plug_in: Option<OsString>,
}

/// The variable of the environment that names a plug-in of the emulator with its options, such as the probe.
const PLUG_IN: &str = "TACTUS_PLUGIN";

impl Boot {
    /// The guest's memory, all zero: a file that has no name and goes with the last process that has it open.
    ///
    /// # Errors
    /// If the host cannot make one.
    pub fn new_memory(&self) -> io::Result<File> {
        let file = File::from(memfd_create("guest-memory", MemfdFlags::CLOEXEC)?);
        file.set_len(self.memory)?;
        Ok(file)
    }

    /// What is its processor's of the machine.
    pub(crate) fn machine(&self) -> &'static Emulated {
        arch::of(self.processor)
    }

    /// What the serial port has said.
    pub fn log(&self) -> PathBuf {
        self.folder.join(LOG)
    }

    /// The emulator's command line, with `memory` for the guest's. It ends with the thread that starts it. Its standard input is
    /// the guest's memory and must stay so.
    ///
    /// # Errors
    /// If the kernel is not there, or no further file can be opened.
    pub fn command(&self, memory: &File) -> io::Result<Command> {
        let Boot { cores, memory: size, .. } = self;
        let machine = self.machine();
        let image = fs::metadata(self.folder.join(IMAGE))?.len();
        let counted = matches!(self.execution, Execution::Counted { .. });
        let execution = match self.execution {
            Execution::Counted { shift } => {
                vec!["-accel".to_string(), "tcg".into(), "-icount".into(), format!("shift={shift},sleep=off")]
            }
            Execution::Concurrent => vec!["-accel".into(), "tcg,thread=multi".into()],
        };
        let mut command = supervised::command(program(self.processor, self.emulator.as_deref()));
        for folder in self.emulator.iter().flat_map(|it| FIRMWARE.map(|firmware| it.join(firmware))) {
            command.arg("-L").arg(folder);
        }
        command
            .current_dir(&self.folder)
            .stdin(memory.try_clone()?)
            .args(["-nodefaults", "-no-user-config", "-no-reboot", "-display", "none"])
            .args(["-machine", &format!("{},memory-backend=ram", (machine.board)(self.board))])
            .args(["-object", &format!("memory-backend-file,id=ram,size={size},share=on,mem-path=/proc/self/fd/0")])
            .args(["-m", &format!("size={size}B")])
            .args(["-cpu", (machine.processor)(self.monitor.is_some(), self.held_back)])
            .args(["-smp", &cores.to_string()])
            .args(execution)
            .args(["-seed", "1", "-rtc", "base=2024-01-01T00:00:00,clock=vm"])
            .args(["-serial", &format!("file:{LOG}")])
            .args((machine.exit)())
            .args(&self.devices)
            .args(
                self.plug_in
                    .clone()
                    .or_else(|| std::env::var_os(PLUG_IN))
                    .into_iter()
                    .flat_map(|plug_in| ["-plugin".into(), plug_in]),
            )
            .args((machine.image)(IMAGE, image, *size, counted));
        let kernel = fs::canonicalize(&self.kernel)?;
        match &self.monitor {
            None => command.arg("-kernel").arg(kernel),
            Some(monitor) if *monitor == self.kernel => command.arg("-kernel").arg(kernel),
            // The monitor is told where the kernel begins, which lies in memory already.
            Some(monitor) => {
                let entry = entry(&fs::read(&kernel)?).map_err(|error| io::Error::other(error.to_string()))?;
                // A comma in it would begin another option.
                let loaded = format!("loader,file={}", kernel.display().to_string().replace(',', ",,"));
                command.arg("-kernel").arg(fs::canonicalize(monitor)?);
                command.arg("-append").arg(format!("{entry:#x}")).arg("-device").arg(loaded)
            }
        };
        Ok(command)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_from_what_the_emulator_says() {
        let words = "QEMU emulator version 7.2.22 (Debian 1:7.2+dfsg-7+deb12u18+b3)\nCopyright (c)";
        assert_eq!(version(words), Some(("7.2.22".into(), (7, 2))));
        assert_eq!(version("QEMU emulator version 10.0.0"), Some(("10.0.0".into(), (10, 0))));
        assert_eq!(version("something else"), None);
        assert_eq!(version(""), None);
    }
}
