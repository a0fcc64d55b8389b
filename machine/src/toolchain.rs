//! Which compiler builds for the bare machine, and how it comes by `core`.
//!
//! Where the toolchain carries `core` for the bare target, it is used. Where it carries the sources only (Debian's
//! does), cargo compiles `core` and `alloc` along with the kernel; that takes an option which stable compilers
//! accept when asked with `RUSTC_BOOTSTRAP`, and this is the only use that Tactus makes of it.

use super::arch::{self, Emulated};
use super::{place, supervised};
use std::env;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use tactus_model::Processor;

/// A cargo and a rustc that can build for the bare machine.
#[derive(Clone, Debug)]
pub struct Toolchain {
    cargo: OsString,
    core: Core,
    linker: Linker,
    network: Network,
    /// The compiler.
    rustc: OsString,
    /// Where its libraries lie, by target.
    rustlib: PathBuf,
    /// What is built for.
    processor: Processor,
}

/// What cargo may reach while it builds. Build scripts and macros of what is built run on this computer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Network {
    /// What it needs: crates that are not here yet are fetched.
    #[default]
    Fetching,
    /// Cargo fetches nothing and changes no `Cargo.lock`; scripts and macros reach what they like.
    Offline,
    /// The same, and cargo with all that it starts is in a name space without a network (unshare(1)).
    Cut,
}

/// Where `core` for the bare machine comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Core {
    /// The toolchain has it compiled.
    Compiled,
    /// The toolchain has its sources.
    Sources,
}

/// Which linker puts the parts together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Linker {
    /// `rust-lld`, which the toolchain carries.
    Own,
    /// `ld.lld` of the system.
    System,
}

/// Why no toolchain will do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Missing {
    /// There is no rustc, or it does not start.
    Rustc(String),
    /// There is one, but without `core` for the bare machine.
    Core(String, &'static str),
    /// Neither `rust-lld` nor `ld.lld` is there.
    Linker,
    /// No name space without a network can be had; why.
    Unshare(String),
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Missing::Rustc(why) => write!(
                f,
                "no Rust compiler: {why}. Start through ./tactus, which installs one, or put rustc and cargo in PATH"
            ),
            Missing::Core(version, target) => write!(
                f,
                "{version} has no core library for {target}. Start through ./tactus, which brings one, or run: \
                 rustup target add {target}"
            ),
            Missing::Unshare(why) => write!(
                f,
                "--no-network: unshare -rn is not possible here ({why}), so nothing was built. Allow user name spaces, or leave \
                 the option out and use --offline: then cargo fetches nothing, but build scripts can reach the network"
            ),
            Missing::Linker => {
                write!(f, "no linker for {}: neither rust-lld nor ld.lld is there. Run: apt-get install lld", arch::of(Processor::default()).target)
            }
        }
    }
}

impl Toolchain {
    /// Finds the toolchain that the environment names (`CARGO`, `RUSTC`), else the one in `PATH`. It is looked for once.
    pub fn find() -> Result<Toolchain, Missing> {
        static FOUND: OnceLock<Result<Toolchain, Missing>> = OnceLock::new();
        let named = |variable, otherwise: &str| env::var_os(variable).unwrap_or_else(|| otherwise.into());
        FOUND.get_or_init(|| Toolchain::of(named("CARGO", "cargo"), &named("RUSTC", "rustc"))).clone()
    }

    /// The toolchain of these two programs.
    ///
    /// # Errors
    /// If it does not start, or lacks what a build for the bare machine needs.
    pub fn of(cargo: OsString, rustc: &OsStr) -> Result<Toolchain, Missing> {
        let ask = |arguments: &[&str]| -> Result<String, Missing> {
            let shown = Path::new(rustc).display();
            let output = Command::new(rustc)
                .args(arguments)
                .output()
                .map_err(|error| Missing::Rustc(format!("{shown} does not start ({error})")))?;
            if output.status.success() {
                Ok(String::from_utf8_lossy(&output.stdout).trim().to_string())
            } else {
                let words = String::from_utf8_lossy(&output.stderr);
                Err(Missing::Rustc(format!("{shown} {}: {}", arguments.join(" "), words.trim())))
            }
        };
        // A call of the compiler takes longer than all else that a short run prepares, so one answers both.
        let folders = ask(&["--print", "sysroot", "--print", "target-libdir"])?;
        let Some((sysroot, host_libraries)) = folders.split_once('\n') else {
            return Err(Missing::Rustc(format!("--print sysroot --print target-libdir gave \"{folders}\"")));
        };
        let rustlib = Path::new(sysroot).join("lib/rustlib");
        let processor = Processor::default();
        let core = core_for(rustc, &rustlib, processor)?;
        let own = Path::new(host_libraries).with_file_name("bin").join("rust-lld").exists();
        let linker = match (own, in_path("ld.lld")) {
            (true, _) => Linker::Own,
            (false, true) => Linker::System,
            (false, false) => return Err(Missing::Linker),
        };
        let network = Network::Fetching;
        Ok(Toolchain { cargo, core, linker, network, rustc: rustc.to_os_string(), rustlib, processor })
    }

    /// The same, which builds for this processor.
    ///
    /// # Errors
    /// If it has no `core` for that.
    pub fn building_for(self, processor: Processor) -> Result<Toolchain, Missing> {
        let core = core_for(&self.rustc, &self.rustlib, processor)?;
        Ok(Toolchain { core, processor, ..self })
    }

    /// The machine that is built for.
    pub(crate) fn machine(&self) -> &'static Emulated {
        arch::of(self.processor)
    }

    /// The same, with a build that reaches only this.
    ///
    /// # Errors
    /// If this computer allows no name space without a network and one is asked for.
    pub fn reaching(self, network: Network) -> Result<Toolchain, Missing> {
        if network == Network::Cut {
            let tried = Command::new("unshare").args(["-rn", "true"]).output();
            let tried = tried.map_err(|error| Missing::Unshare(error.to_string()))?;
            if !tried.status.success() {
                return Err(Missing::Unshare(String::from_utf8_lossy(&tried.stderr).trim().to_string()));
            }
        }
        Ok(Toolchain { network, ..self })
    }

    /// Cargo, which ends with this command, to be started in `root`, whose `.cargo/config.toml` holds the compiler's options for the bare machine.
    pub fn cargo(&self, root: &Path) -> Command {
        let mut command = match self.network {
            Network::Fetching | Network::Offline => supervised::command_of_many(&self.cargo),
            Network::Cut => {
                let mut command = supervised::command_of_many("unshare");
                command.args(["-rn", "--"]).arg(&self.cargo);
                command
            }
        };
        command.current_dir(root);
        command
    }

    /// Whether a build takes only what is on this computer.
    pub(crate) fn fetches_nothing(&self) -> bool {
        self.network != Network::Fetching
    }

    /// Whether `core` for the bare machine need not be compiled first.
    pub fn has_compiled_core(&self) -> bool {
        self.core == Core::Compiled
    }

    /// Where `core` of this toolchain is kept once it is compiled; nothing where it need not be.
    pub(crate) fn kept_core(&self) -> Option<PathBuf> {
        if self.core == Core::Compiled {
            return None;
        }
        let mut toolchain = DefaultHasher::new();
        (&self.rustlib, self.rustlib.metadata().and_then(|it| it.modified()).ok()).hash(&mut toolchain);
        let name = format!("{}-{:016x}", self.machine().target, toolchain.finish());
        Some(place::root().ok()?.join("target/core-library").join(name))
    }

    /// `cargo build` for the bare machine, without the names of what is to be built.
    pub fn build_bare(&self, root: &Path, into: &Path) -> Command {
        let target = self.machine().target;
        let mut command = self.build_for(target, root, into);
        if self.core == Core::Sources {
            command.arg("-Zbuild-std=core,alloc,compiler_builtins").env("RUSTC_BOOTSTRAP", "1");
        }
        if self.linker == Linker::System {
            command.env(variable(target, "LINKER"), "ld.lld");
        }
        command
    }

    /// The same for a component with floating point and vectors. The bare target has none, and its `core` passes numbers the
    /// other way; so such a component takes the `core` of the host's own target, which every toolchain carries compiled, and nothing
    /// of the host's operating system: neither its library nor its start-up code. `tactus-rt` brings the five functions that `core` expects
    /// from there.
    pub fn build_with_floating_point(&self, root: &Path, into: &Path) -> Command {
        let target = self.machine().floating_point_target;
        let mut command = self.build_for(target, root, into);
        let linker = match self.linker {
            Linker::Own => "rust-lld",
            Linker::System => "ld.lld",
        };
        // The linker stands here and not under its own key, which would hold for build scripts as well.
        let flags =
            format!("--cfg floating_point -C relocation-model=static -C linker={linker} -C linker-flavor=ld.lld");
        command.env(variable(target, "RUSTFLAGS"), flags);
        // As on the bare target, whatever the crate's profile says: there is nobody to unwind for.
        command.env("CARGO_PROFILE_RELEASE_PANIC", "abort");
        command
    }

    fn build_for(&self, target: &str, root: &Path, into: &Path) -> Command {
        let mut command = self.cargo(root);
        command.args(["build", "--release", "--target", target]);
        // The policy's decisions lie in crates of their own: optimised as one program they are a quarter shorter. The
        // environment says so, since the profile of our workspace does not hold for crates of the user's.
        command.env("CARGO_PROFILE_RELEASE_LTO", "fat").env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "1");
        // Addresses are told as lines, and a debugger can be attached.
        command.env("CARGO_PROFILE_RELEASE_DEBUG", "1");
        command.arg("--target-dir").arg(into);
        if self.fetches_nothing() {
            command.args(["--offline", "--locked"]);
        }
        command
    }
}

/// The variable by which cargo is told something of a target.
fn variable(target: &str, what: &str) -> String {
    format!("CARGO_TARGET_{}_{what}", target.to_uppercase().replace('-', "_"))
}

/// Where `core` for the processor's bare machine comes from.
fn core_for(rustc: &OsStr, rustlib: &Path, processor: Processor) -> Result<Core, Missing> {
    let target = arch::of(processor).target;
    if has_compiled_core(&rustlib.join(target).join("lib")) {
        return Ok(Core::Compiled);
    }
    if rustlib.join("src/rust/library/core/src/lib.rs").exists() {
        return Ok(Core::Sources);
    }
    let version = Command::new(rustc).arg("--version").output();
    let version = version.map_err(|error| Missing::Rustc(error.to_string()))?;
    Err(Missing::Core(String::from_utf8_lossy(&version.stdout).trim().to_string(), target))
}

fn has_compiled_core(folder: &Path) -> bool {
    let Ok(entries) = folder.read_dir() else { return false };
    entries.flatten().any(|entry| entry.file_name().to_string_lossy().starts_with("libcore-"))
}

/// Whether `PATH` has a program of this name.
pub fn in_path(name: &str) -> bool {
    env::var_os("PATH").is_some_and(|path| env::split_paths(&path).any(|folder| folder.join(name).is_file()))
}
