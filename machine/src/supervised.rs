//! Programs that end when this command ends, whatever ends it.
//!
//! Linux can be asked to end a process together with its parent (`PR_SET_PDEATHSIG`, prctl(2)), but only the process itself can
//! ask, and it must do so before it becomes the other program. So this command starts itself once more; that process asks, and
//! then becomes the program, under the same process number, on one processor of the host.
//!
//! A program that starts others, as a build does, has a keeper instead, which ends all of them: it stays between the two and waits
//! for either.

use rustix::event::{poll, PollFd, PollFlags};
use rustix::io::Errno;
use rustix::process::{
    getpid, getppid, kill_process, pidfd_open, set_child_subreaper, set_parent_process_death_signal, setpgid, wait,
    Pid, PidfdFlags, Signal, WaitOptions,
};
use rustix::thread::{sched_getcpu, sched_setaffinity, CpuSet};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, ExitCode};

/// The first word with which this command becomes another program. It is no word that a person is offered.
const WORD: &str = "--with-parent";

/// The first word with which this command keeps another program and all that it starts.
const WORD_OF_KEEPER: &str = "--keep-with-parent";

/// Exit status where the program cannot be started, as shells have it.
pub const CANNOT_START: u8 = 127;

/// A command that starts `program` so that it ends with this process. Words can be added as to the program itself.
///
/// The signal comes when the *thread* that starts the program ends, so that thread must wait for it.
pub fn command(program: impl AsRef<OsStr>) -> Command {
    started_with(WORD, program.as_ref())
}

/// A command that starts `program` so that it, and whatever it starts, ends with this process.
pub fn command_of_many(program: impl AsRef<OsStr>) -> Command {
    started_with(WORD_OF_KEEPER, program.as_ref())
}

fn started_with(word: &str, program: &OsStr) -> Command {
    // The link leads to what runs now, also where the file has been replaced since.
    let mut command = Command::new("/proc/self/exe");
    command.arg(word).arg(std::process::id().to_string()).arg(program);
    command
}

/// Becomes the program if the words of this process ask for it; returns only where they do not, or where it cannot be started.
pub fn become_program() -> Option<io::Result<ExitCode>> {
    let mut words = std::env::args_os().skip(1);
    let word = words.next().filter(|word| word == WORD || word == WORD_OF_KEEPER)?;
    let parent = words.next()?.to_str()?.parse().ok().and_then(Pid::from_raw)?;
    let program = words.next()?;
    let error = if word == WORD_OF_KEEPER {
        match keep(parent, &program, words) {
            Ok(status) => return Some(Ok(status)),
            Err(error) => error,
        }
    } else {
        become_with(parent, program, words)
    };
    Some(Err(error))
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

/// Starts the program and waits for it: its exit status. If the parent ends first, all are ended that the program has started.
fn keep(parent: Pid, program: &OsStr, words: impl Iterator<Item = OsString>) -> io::Result<ExitCode> {
    // What a terminal sends to all that it runs ends the command alone, and so the rest in order.
    setpgid(None, None)?;
    // Whose own parent has ended is this process's child from then on.
    set_child_subreaper(Some(getpid()))?;
    let above = pidfd_open(parent, PidfdFlags::empty())?;
    if getppid() != Some(parent) {
        return Err(io::Error::other("whoever started this has ended"));
    }
    let mut child = Command::new(program).args(words).spawn()?;
    let below = pidfd_open(Pid::from_child(&child), PidfdFlags::empty())?;
    loop {
        let mut both = [&below, &above].map(|it| PollFd::new(it, PollFlags::IN));
        match poll(&mut both, None) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let [ended, alone] = both.map(|it| !it.revents().is_empty());
        if ended {
            let status = child.wait()?;
            let status = status.code().or(status.signal().map(|signal| 128 + signal)).unwrap_or(1);
            return Ok(ExitCode::from(u8::try_from(status).unwrap_or(1)));
        }
        if alone {
            end_all();
            return Ok(ExitCode::FAILURE);
        }
    }
}

/// Ends whatever this process has started, directly or not. More can come while it looks, so that it goes on until there is nothing.
fn end_all() {
    loop {
        for process in below(getpid()) {
            // It may have ended already.
            let _ = kill_process(process, Signal::KILL);
        }
        if matches!(wait(WaitOptions::empty()), Err(Errno::CHILD)) {
            return;
        }
    }
}

/// The processes below this one.
fn below(top: Pid) -> Vec<Pid> {
    let all = fs::read_dir("/proc").into_iter().flatten().flatten();
    let all: Vec<(Pid, Pid)> = all.filter_map(|it| parent_of(it.file_name().to_str()?)).collect();
    let (mut found, mut next) = (vec![top], 0);
    while let Some(above) = found.get(next).copied() {
        found.extend(all.iter().filter(|(_, parent)| *parent == above).map(|(process, _)| *process));
        next += 1;
    }
    found.split_off(1)
}

/// A process by its number's digits, and its parent.
fn parent_of(digits: &str) -> Option<(Pid, Pid)> {
    let process = Pid::from_raw(digits.parse().ok()?)?;
    let stat = fs::read_to_string(format!("/proc/{digits}/stat")).ok()?;
    // Behind the name, which may hold anything: the state, then the parent.
    let (_, behind) = stat.rsplit_once(')')?;
    Some((process, Pid::from_raw(behind.split_whitespace().nth(1)?.parse().ok()?)?))
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
