//! The emulated PC: finding QEMU, and the command line that makes a run reproducible.
//!
//! Instructions are counted (`-icount`), nothing sleeps in real time, the clock starts at a fixed date, devices that are
//! not needed are left out. Where processors are to execute at the same time ([`Execution::Concurrent`]), nothing is counted and no
//! run is like another. The guest's memory is a file without a name, so that the host reads the trace while the guest
//! writes it, the guest is not slowed down, and nothing is left of it when both have ended, however they ended.
//!
//! The emulator works in the folder of the results and is told the plain names of the files there: a path with a comma in it
//! would be taken apart by some of its options.

use super::supervised;
use super::symbols::entry;
use rustix::fs::{memfd_create, MemfdFlags};
use std::ffi::OsString;
use std::fmt;
use std::fs::{self, File};
use std::io;
use std::path::PathBuf;
use std::process::Command;

/// The name of the program.
const PROGRAM: &str = "qemu-system-x86_64";

/// The oldest version that will do: counted instructions and plug-ins behave from there on.
pub const OLDEST: (u32, u32) = (7, 2);

/// Memory above this would be split by the PC's hole below 4 GiB, and an address would no longer be a place in the file.
pub const MOST_MEMORY: u64 = 2 << 30;

/// The image with components and plan, in the folder of the results.
pub const IMAGE: &str = "system.img";

/// What the serial port says, in the folder of the results.
pub const LOG: &str = "run.log";

/// The port at which the guest ends the emulator; see [`status_of_exit`].
pub const EXIT_PORT: u16 = 0xf4;

/// An emulator that will do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Emulator {
    /// Its version, `7.2.22`.
    pub version: String,
}

/// Why none will do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Missing {
    /// It does not start.
    Absent(String),
    /// It is older than [`OLDEST`], or does not say how old it is.
    Old(String),
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Missing::Absent(why) => write!(
                f,
                "no emulator: {PROGRAM} {why}. Start through ./tactus, which installs it, or run: \
                 apt-get install qemu-system-x86"
            ),
            Missing::Old(version) => {
                write!(f, "{PROGRAM} is version {version}; needed is {}.{} or later", OLDEST.0, OLDEST.1)
            }
        }
    }
}

impl Emulator {
    /// Finds QEMU in `PATH` and asks it for its version.
    pub fn find() -> Result<Emulator, Missing> {
        let output = Command::new(PROGRAM)
            .arg("--version")
            .output()
            .map_err(|error| Missing::Absent(format!("does not start ({error})")))?;
        let words = String::from_utf8_lossy(&output.stdout);
        match version(&words) {
            Some((version, numbers)) if numbers >= OLDEST => Ok(Emulator { version }),
            Some((version, _)) => Err(Missing::Old(version)),
            None => Err(Missing::Old(format!("unknown ({:?})", words.lines().next().unwrap_or("")))),
        }
    }
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
    /// The kernel, an ELF file with a PVH entry note.
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
    /// The monitor that runs the kernel in guest mode, an ELF file with a PVH entry note; without one the kernel has the machine. If it is
    /// `kernel` itself, the kernels are in the image.
    pub monitor: Option<PathBuf>,
    /// A plug-in with its options; without one that which the environment names in `TACTUS_PLUGIN`, if it does.
    pub plug_in: Option<OsString>,
}

/// The boards that are emulated.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Board {
    /// Of 1996: all that a run without devices needs, and the quickest to start.
    #[default]
    Pc,
    /// Of 2007: its event timer may interrupt on lines 16 to 23.
    Q35,
}

/// Only what the emulator has in every version; the kernel probes for each and goes without.
const PROCESSOR: &str = "qemu64,+smep,+smap,+fsgsbase,+rdtscp,+umip";
/// The same with virtualisation and nested paging.
const SANDBOXED_PROCESSOR: &str = "qemu64,+smep,+smap,+fsgsbase,+rdtscp,+umip,+svm,+npt";

/// The variable of the environment that names a plug-in of the emulator with its options, such as the probe.
const PLUG_IN: &str = "TACTUS_PLUGIN";

impl Board {
    /// The emulator's name for it.
    fn name(self) -> &'static str {
        match self {
            Board::Pc => "pc",
            Board::Q35 => "q35",
        }
    }
}

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
        let execution = match self.execution {
            Execution::Counted { shift } => {
                vec!["-accel".to_string(), "tcg".into(), "-icount".into(), format!("shift={shift},sleep=off")]
            }
            Execution::Concurrent => vec!["-accel".into(), "tcg,thread=multi".into()],
        };
        let mut command = supervised::command(PROGRAM);
        command
            .current_dir(&self.folder)
            .stdin(memory.try_clone()?)
            .args(["-nodefaults", "-no-user-config", "-no-reboot", "-display", "none"])
            .args(["-machine", &format!("{},memory-backend=ram", self.board.name())])
            .args(["-object", &format!("memory-backend-file,id=ram,size={size},share=on,mem-path=/proc/self/fd/0")])
            .args(["-m", &format!("size={size}B")])
            .args(["-cpu", if self.monitor.is_some() { SANDBOXED_PROCESSOR } else { PROCESSOR }])
            .args(["-smp", &cores.to_string()])
            .args(execution)
            .args(["-seed", "1", "-rtc", "base=2024-01-01T00:00:00,clock=vm"])
            .args(["-serial", &format!("file:{LOG}")])
            .args(["-device", &format!("isa-debug-exit,iobase={EXIT_PORT:#x},iosize=4")])
            .args(&self.devices)
            .args(
                self.plug_in
                    .clone()
                    .or_else(|| std::env::var_os(PLUG_IN))
                    .into_iter()
                    .flat_map(|plug_in| ["-plugin".into(), plug_in]),
            )
            .args(["-initrd", IMAGE]);
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

/// What the guest wrote to [`EXIT_PORT`], from the emulator's exit status; nothing if it ended in another way. The
/// device turns the value `n` into the status `2n + 1`, so an even status is the emulator's own. So is 1, for trouble
/// with its command line; the guest never writes 0.
pub fn status_of_exit(status: i32) -> Option<u32> {
    (status > 1 && status & 1 == 1).then_some((status >> 1) as u32)
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

    #[test]
    fn only_odd_statuses_above_one_come_from_the_guest() {
        assert_eq!(status_of_exit(0), None);
        assert_eq!(status_of_exit(1), None);
        assert_eq!(status_of_exit(33), Some(16));
        assert_eq!(status_of_exit(34), None);
    }
}
