//! Processes (ARINC 653) that report their deadlines, and miss them, whatever they do then.
//!
//! Of each process one miss is noticed between two releases of its task at most, for which the check counts an entry; a second one is
//! noticed with the next release. What is done about a miss is the partition's: its error handler is told, or the health table says it.
//! A process is looked at by the core of its task alone: a deadline that another core tells is seen with the next job that ends here.

use crate::root::deadlines::{Process, Processes};
use crate::root::state::{CoreState, RootProgram};
use crate::root::{at_home, kill, observe};
use crate::runtime::{decide_locked, COMPLETED};
use core::sync::atomic::Ordering::Relaxed;
use tactus_record::{EventKind, Record, Sink};
use tactus_rt::abi::call::SWITCH_RETURN;
use tactus_rt::abi::process::{following, ProcessReport, ProcessReportKind};
use tactus_rt::scheduler::publish_miss;
use tactus_rt::time::{CoreId, Instant, TaskId};
use tactus_rt::Caller;

/// The level byte of a record of a miss: it is noted, the error handler is told, or the process restarts.
const NOTED: u8 = 0;
const HANDLED: u8 = 1;
const RESTARTED: u8 = 2;

/// A component tells of one of its processes; see [`tactus_rt::abi::process`]. Gives 0, or why nothing was taken: 1 the caller has no
/// job here, 2 what it says makes no sense, or is about a task that is not its component's.
pub fn tell<R: RootProgram>(caller: Caller, words: [u64; 5]) -> [u64; 2] {
    let core = caller.core();
    let Some(mut running) = at_home::<R>(core, &caller) else { return [1, 0] };
    let state = &mut running.state;
    let (system, own) = (state.system, state.running.task());
    let (Some(report), Some(own)) = (ProcessReport::of(words), own) else { return [2, 0] };
    let task = if report.kind == ProcessReportKind::End { own } else { TaskId(report.task) };
    let home = |task: TaskId| system.cards().get(task.index()).map(|card| card.home);
    let process = system.processes.as_ref().and_then(|all| Some((all, all.tasks.get(task.index())?)));
    let component = u64::from(caller.component());
    if home(task) != Some(component) {
        return [2, 0];
    }
    if let Some((all, process)) = process {
        match report.kind {
            ProcessReportKind::None => all.forget(component),
            _ => all.set(process, &report),
        }
        if report.kind == ProcessReportKind::Restart && task != own {
            kill::give_up(task);
        }
        let earlier = state.await_deadline(all.first_on(core));
        if report.kind != ProcessReportKind::End && !earlier {
            return [0; 2];
        }
    }
    let due = if report.kind == ProcessReportKind::End { COMPLETED } else { 0 };
    state.idled = report.kind == ProcessReportKind::End && report.idle;
    decide_locked::<super::Root<R>>(Some(running), core, 0, due, SWITCH_RETURN);
    [0; 2]
}

/// The component was stopped.
#[cold]
pub fn stopped(state: &mut CoreState, component: u64) {
    let system = state.system;
    let Some(all) = &system.processes else { return };
    all.forget(component);
    let first = all.first_on(state.core);
    state.await_deadline(first);
}

/// It is `now`: deadlines that have passed were missed.
#[cold]
#[inline(never)]
pub fn late(state: &mut CoreState, now: Instant) {
    let system = state.system;
    let Some(all) = system.processes.as_ref().filter(|_| state.awaits_deadline_by(now)) else { return };
    let core = state.core;
    for (task, process) in all.tasks.iter().enumerate().filter(|(_, it)| it.core.0 == core) {
        if process.notice.load(Relaxed) <= now.as_nanos() {
            miss(state, (all, process), TaskId(task as u16), now);
        }
    }
    let first = all.first_on(state.core);
    state.await_deadline(first);
    if let Some((running, _)) = state.run() {
        // Where nothing is decided, it goes on.
        kill::before_next(system, running);
    }
}

fn miss(state: &mut CoreState, (all, process): (&Processes, &Process), task: TaskId, now: Instant) {
    let Some(counts) = state.counts.get(task.index()).filter(|counts| !counts.removed) else {
        return all.set(process, &ProcessReport::NONE);
    };
    let newest = (counts.finished + counts.dropped).min(counts.released.saturating_sub(1)) as u32;
    let release = counts.release(counts.released as u32);
    // Where releases have no period, a period from now on.
    let usual = now.saturating_add(counts.period);
    let quiet = if release > now { release.min(usual) } else { usual };
    let (deadline, next) = (process.deadline.load(Relaxed), process.next.load(Relaxed));
    process.noticed.store(deadline, Relaxed);
    process.deadline.store(next, Relaxed);
    process.next.store(following(next, process.period.load(Relaxed)), Relaxed);
    process.quiet.store(quiet.as_nanos(), Relaxed);
    all.await_next(process);
    let level = match (process.handled.load(Relaxed), process.restarts) {
        (true, _) => HANDLED,
        (false, true) => RESTARTED,
        (false, false) => NOTED,
    };
    // On the core of its task, which is in the scheduler: the thread does not run.
    publish_miss(task, deadline);
    let core = CoreId(state.core);
    let (task_of, kind) = (Some(task), EventKind::DeadlineMissed);
    state.ring.record(Record { time: now, arg: deadline, job: newest, task: task_of, kind, level, core, ticket: 0 });
    if level == RESTARTED {
        kill::give_up(task);
    }
    if level != HANDLED {
        observe::missed(state.system, task, Instant::from_nanos(deadline));
    }
}
