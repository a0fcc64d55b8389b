//! Programs that end when this command ends, whatever ends it.
//!
//! Linux can be asked to end a process together with its parent (`PR_SET_PDEATHSIG`, prctl(2)), but only the process itself can
//! ask, and it must do so before it becomes the other program. So this command starts itself once more; that process asks, and
//! then becomes the program, under the same process number, on one processor of the host.

use rustix::process::{getppid, set_parent_process_death_signal, Pid, Signal};
use rustix::thread::{sched_getcpu, sched_setaffinity, CpuSet};
use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

/// The first word with which this command becomes another program. It is no word that a person is offered.
const WORD: &str = "--with-parent";

/// Exit status where the program cannot be started, as shells have it.
const CANNOT_START: u8 = 127;

/// A command that starts `program` so that it ends with this process. Words can be added as to the program itself.
///
/// The signal comes when the *thread* that starts the program ends, so that thread must wait for it.
pub fn command(program: &str) -> Command {
    // The link leads to what runs now, also where the file has been replaced since.
    let mut command = Command::new("/proc/self/exe");
    command.arg(WORD).arg(std::process::id().to_string()).arg(program);
    command
}

/// Becomes the program if the words of this process ask for it; returns only where they do not, or where it cannot be started.
pub fn become_program() -> Option<ExitCode> {
    let mut words = std::env::args_os().skip(1);
    if words.next()? != WORD {
        return None;
    }
    let parent = words.next()?.to_str()?.parse().ok().and_then(Pid::from_raw)?;
    let program = words.next()?;
    let error = become_with(parent, program, words);
    crate::lines::note("tactus", error);
    Some(ExitCode::from(CANNOT_START))
}

fn become_with(parent: Pid, program: OsString, words: impl Iterator<Item = OsString>) -> io::Error {
    if let Err(error) = set_parent_process_death_signal(Some(Signal::KILL)) {
        return error.into();
    }
    // The parent may have ended before the request was made.
    if getppid() != Some(parent) {
        return io::Error::other("whoever started this has ended");
    }
    stay_here();
    Command::new(program).args(words).exec()
}

/// Keeps this process on the processor that it runs on, which the host has just chosen as the least busy one.
///
/// The emulator has one thread for all cores of the guest and one for its clock and devices, which work in turn: on one processor
/// they take a third less of its time. Side by side, the second may look, while the host is busy, just when a core of the guest halts
/// and its last instructions are not yet counted: it then moves the clock too far by as many, and two runs differ. A host that
/// refuses is no hindrance.
fn stay_here() {
    let mut here = CpuSet::new();
    here.set(sched_getcpu());
    let _ = sched_setaffinity(None, &here);
}
