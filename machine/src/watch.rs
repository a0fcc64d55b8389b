//! Starts the machine, tells how far it has come, and ends it where it has come to a halt.

use super::emulator::Boot;
use super::patience::Patience;
use super::rings::{Progress, Rings};
use super::stretches;
use rustix::fs::{memfd_create, MemfdFlags};
use rustix::process::{kill_process, Pid, Signal};
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read, Seek};
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use tactus_image::{Facts, Interleaved};

/// How often the rings are looked at.
const LOOK: Duration = Duration::from_millis(40);
/// How often those of a machine that is held when it is ahead of others: so far it may come meanwhile.
const OFTEN: Duration = Duration::from_millis(5);

/// How many times slower the machine may be where what it executes is followed.
const FOLLOWED: u32 = 20;

/// Where the rings lie, and how patient to be.
#[derive(Clone, Copy, Debug)]
pub struct Watch {
    /// Physical address of the first ring.
    pub trace_address: u64,
    /// Bytes of one core's ring with its head.
    pub ring_bytes: u64,
    /// Which pages from there on hold them.
    pub pages: Interleaved,
    /// How many cores have rings there; all of the machine's without a number.
    pub cores: Option<usize>,
    /// How long virtual time may stand still before the machine counts as hung: real time in which the emulator had a core or wanted
    /// none. Booting is included.
    pub patience: Duration,
}

impl Watch {
    /// Over a run of the image with these facts.
    pub fn over(facts: &Facts, patience: Duration) -> Watch {
        let Facts { trace_address, ring_bytes, trace_pages: pages, .. } = *facts;
        Watch { trace_address, ring_bytes, pages, cores: None, patience }
    }
}

/// Why a run came to nothing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RunFailure {
    /// The emulator does not start, or its memory cannot be read.
    Start(String),
    /// Time stood still for longer than it may.
    Hung {
        /// How far it had come.
        progress: Progress,
        /// How long it stood.
        patience: Duration,
        /// Where the serial output lies.
        log: PathBuf,
    },
    /// The emulator ended without the guest having said so.
    Ended {
        /// Its exit status, or the signal.
        status: String,
        /// The end of what it said, serial output included.
        words: String,
    },
}

impl fmt::Display for RunFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunFailure::Start(why) => write!(f, "the emulator could not be started: {why}"),
            RunFailure::Hung { progress, patience, log } => write!(
                f,
                "the machine stood still for {} s at {} and was ended; what it said is in {}",
                patience.as_secs(),
                progress.now,
                log.display()
            ),
            RunFailure::Ended { status, words } => write!(f, "{words}\nthe emulator ended by itself ({status})"),
        }
    }
}

/// A machine that ended as the guest wished.
#[derive(Debug)]
pub struct Ended {
    /// What the guest wrote to the exit port.
    pub code: u32,
    /// The rings, complete.
    pub rings: Rings,
    /// Real time from start to end.
    pub took: Duration,
}

/// Ends the emulator whatever happens to us.
struct Emulation(Child);

impl Drop for Emulation {
    fn drop(&mut self) {
        // It may have ended already; then there is nothing to do.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Runs the machine to its end. `progress` is called several times a second.
pub fn run(boot: &Boot, watch: Watch, progress: &mut dyn FnMut(Progress)) -> Result<Ended, RunFailure> {
    let mut goes_on = |seen| {
        progress(seen);
        false
    };
    run_held(boot, watch, LOOK, &mut goes_on)
}

/// The same, looked at as often as may be; as long as `progress` says so the machine stands still.
pub fn run_often(boot: &Boot, watch: Watch, progress: &mut dyn FnMut(Progress) -> bool) -> Result<Ended, RunFailure> {
    run_held(boot, watch, OFTEN, progress)
}

fn run_held(
    boot: &Boot,
    watch: Watch,
    look: Duration,
    progress: &mut dyn FnMut(Progress) -> bool,
) -> Result<Ended, RunFailure> {
    let start = |error: io::Error| RunFailure::Start(error.to_string());
    let memory = boot.new_memory().map_err(start)?;
    // What the emulator itself says, in a file without a name, as the guest's memory.
    let mut words = File::from(memfd_create("emulator", MemfdFlags::CLOEXEC).map_err(|error| start(error.into()))?);
    let begin = Instant::now();
    let mut command = boot.command(&memory).map_err(start)?;
    let rings =
        Rings::new(memory, watch.trace_address, watch.ring_bytes, watch.cores.unwrap_or(boot.cores), watch.pages)
            .beginning_at(boot.machine().memory);
    if stretches::wanted() {
        stretches::ask(&mut command);
        command.stdout(Stdio::piped());
    } else {
        command.stdout(Stdio::null());
    }
    let mut child = command.stderr(words.try_clone().map_err(start)?).spawn().map_err(start)?;
    let kernel = boot.kernel.clone();
    let followed = child.stdout.take().map(|log| thread::spawn(move || stretches::read(log, &kernel)));
    let mut emulation = Emulation(child);

    let patience = if stretches::wanted() { FOLLOWED * watch.patience } else { watch.patience };
    let (mut last, mut waiting) = (Progress::default(), Patience::with(emulation.0.id()));
    let mut held = false;
    let status = loop {
        if let Some(status) = emulation.0.try_wait().map_err(start)? {
            break status;
        }
        let seen = rings.progress().map_err(start)?;
        if waiting.look(held || seen != last) > patience {
            return Err(RunFailure::Hung { progress: seen, patience, log: boot.log() });
        }
        last = seen;
        let hold = progress(seen);
        if hold != held {
            // It may have ended meanwhile.
            let _ = kill_process(Pid::from_child(&emulation.0), if hold { Signal::STOP } else { Signal::CONT });
            held = hold;
        }
        thread::sleep(look);
    };
    progress(rings.progress().map_err(start)?);
    if let Some(Ok(told)) = followed.map(thread::JoinHandle::join) {
        fs::write(boot.folder.join(stretches::FILE), told.map_err(start)?).map_err(start)?;
    }
    let took = begin.elapsed();
    match status.code().and_then(boot.machine().status_of_exit) {
        Some(code) => Ok(Ended { code, rings, took }),
        None => {
            let mut said = String::new();
            // What cannot be read is not there to be told.
            let _ = words.rewind().and_then(|()| words.read_to_string(&mut said));
            let serial = fs::read(boot.log()).unwrap_or_default();
            let words = format!("{said}{}", tail(&String::from_utf8_lossy(&serial), 20));
            Err(RunFailure::Ended { status: status.to_string(), words })
        }
    }
}

/// The last lines of a text.
pub fn tail(text: &str, lines: usize) -> String {
    let all: Vec<&str> = text.lines().collect();
    all[all.len().saturating_sub(lines)..].join("\n")
}
