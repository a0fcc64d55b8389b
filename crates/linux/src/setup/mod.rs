//! From a system file to what runs it on Linux: rt-app's JSON, the parameters of each thread, and a script that runs and records it.
//!
//! A task is a thread. Orders by a number that a task keeps become SCHED_FIFO, orders by deadlines SCHED_DEADLINE, each queue of several
//! cores a set of processors. What Linux cannot promise is refused, with what it does instead.

mod rtapp;
mod script;

use crate::admission::{Kernel, Reservation};
use std::collections::BTreeMap;
use std::fmt;
use tactus_model::{Migration, Overrun, Policy, ResourceProtocol, Scheduling, System, TaskPlacement};
use tactus_task::{KeptNumber, OrderBasis, Release, TaskOrder};
use tactus_time::{CoreSet, Duration};

/// What runs a system on Linux.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The threads, one for each task, in file order.
    pub threads: Vec<ThreadSetup>,
    /// Each process of rt-app: the end of its file's name, and its JSON.
    pub programs: Vec<(String, String)>,
    /// A shell script that runs them all and records them, to lie beside their files.
    pub script: String,
    /// What a person should know, a sentence each.
    pub notes: Vec<String>,
}

/// A thread.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ThreadSetup {
    /// Its name, which is its task's.
    pub name: String,
    /// How it is scheduled.
    pub class: Class,
    /// The processors that it may run on.
    pub cores: CoreSet,
}

/// A scheduling class with its parameters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Class {
    /// SCHED_FIFO with its priority: 1 to 98, the larger the more urgent.
    Fifo(u32),
    /// SCHED_DEADLINE.
    Deadline(Reservation),
}

/// Something that Linux, or rt-app, cannot do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refusal {
    /// What, why, and what Linux does instead.
    pub what: String,
    /// What to do.
    pub remedy: String,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.what, self.remedy)
    }
}

/// The greatest priority that is given away: that of 99 is the kernel's own threads'.
const HIGHEST: u32 = 98;
/// Linux keeps this many bytes of a thread's name.
const NAME_BYTES: usize = 15;

/// What runs the system; `name` is what the files are called.
///
/// # Errors
/// Everything that Linux or rt-app cannot do.
pub fn setup(system: &System, name: &str) -> Result<Setup, Vec<Refusal>> {
    let mut out = Out::default();
    let order = order(system, &mut out);
    supported(system, &mut out);
    names(system, &mut out);
    let Some((spread, order)) = order.filter(|_| out.refusals.is_empty()) else { return Err(out.refusals) };
    let queues = system.scheduling.queues(None, spread, CoreSet::first(system.cores));
    let classes = classes(system, order, &mut out);
    let threads: Vec<ThreadSetup> = system
        .tasks
        .iter()
        .zip(classes)
        .map(|(task, class)| {
            let own = |set: &&CoreSet| task.core.is_some_and(|core| set.contains(core));
            let cores = queues.iter().find(own).copied().unwrap_or(CoreSet::first(system.cores));
            ThreadSetup { name: thread_name(system, &task.name).into(), class, cores }
        })
        .collect();
    let deadline = order.basis() == OrderBasis::Deadline;
    // A thread of SCHED_DEADLINE may run wherever its root domain does: each queue is a domain of its own, with a process of its own.
    let domains = match deadline {
        true => queues.into_iter().filter(|set| threads.iter().any(|it| it.cores == *set)).collect(),
        false => vec![CoreSet::first(system.cores)],
    };
    if deadline {
        admitted(&threads, &domains, &mut out);
    } else {
        throttled(system, &mut out);
    }
    let mut programs = Vec::new();
    for (n, domain) in domains.iter().enumerate() {
        let suffix = if domains.len() == 1 { String::new() } else { format!("-{n}") };
        let own: Vec<usize> = (0..threads.len()).filter(|t| !deadline || threads[*t].cores == *domain).collect();
        programs.push((suffix, rtapp::write(system, &threads, &own, &mut out)));
    }
    if domains.len() > 1 {
        out.notes.push(
            "the processes start one after another, and offsets of tasks of two of them do not count from one instant"
                .into(),
        );
    }
    if !out.refusals.is_empty() {
        return Err(out.refusals);
    }
    let script = script::write(name, &programs, deadline.then_some(domains.as_slice()), system.cores);
    Ok(Setup { threads, programs, script, notes: out.notes })
}

/// What comes of it beside the files.
#[derive(Default)]
struct Out {
    refusals: Vec<Refusal>,
    notes: Vec<String>,
}

impl Out {
    fn refuse(&mut self, what: impl Into<String>, remedy: impl Into<String>) {
        self.refusals.push(Refusal { what: what.into(), remedy: remedy.into() });
    }
    fn note(&mut self, note: impl Into<String>) {
        let note = note.into();
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }
}

/// How the root orders, where Linux can.
fn order(system: &System, out: &mut Out) -> Option<(Migration, TaskOrder)> {
    let found = match system.policy {
        Policy::PartitionedRm => (Migration::Partitioned, TaskOrder::RateMonotonic),
        Policy::PartitionedEdf => (Migration::Partitioned, TaskOrder::EarliestDeadline),
        Policy::GlobalRm => (Migration::Global, TaskOrder::RateMonotonic),
        Policy::GlobalEdf => (Migration::Global, TaskOrder::EarliestDeadline),
        Policy::Ordered { spread, order } => (spread, order),
        Policy::Mixed(_) | Policy::Mc2 { .. } => {
            out.refuse(
                "the policy has levels of criticality; Linux has none, and lets a thread that takes too long disturb all of its class",
                "choose partitioned-fp, or partitioned-edf, whose threads it holds to their budgets",
            );
            return None;
        }
        Policy::Partitions => {
            out.refuse(
                "the policy gives windows of a major frame; Linux has no such table, and groups get shares of time without an instant",
                "choose partitioned-fp or partitioned-edf for what is inside of one partition",
            );
            return None;
        }
    };
    match found.1.basis() {
        OrderBasis::Kept(_) | OrderBasis::Deadline => Some(found),
        OrderBasis::Turns | OrderBasis::PrioritiesWithTurns => {
            out.refuse(
                "turns: Linux's SCHED_RR has them, of one length for the whole machine (sched_rr_timeslice_ms), and a thread that is \
                 preempted goes on with the rest of its turn",
                "choose fixed priorities",
            );
            None
        }
        OrderBasis::Laxity | OrderBasis::LaxityAtRelease | OrderBasis::Release => {
            let label = found.1.label();
            out.refuse(
                format!("{label}: Linux orders by priorities (SCHED_FIFO) or by deadlines (SCHED_DEADLINE)"),
                "choose fp, rm, dm or edf",
            );
            None
        }
    }
}

/// Refuses what threads of Linux do not have.
fn supported(system: &System, out: &mut Out) {
    let Scheduling { servers, changes, resources, events, programs, .. } = &system.scheduling;
    if let Some(server) = servers.first() {
        out.refuse(
            format!(
                "server {}: Linux has no servers of several threads (groups of real-time threads share a limit, which is no promise; \
                 H-CBS is not in it)",
                server.name
            ),
            "take its tasks out of it; under EDF each thread has a budget of its own",
        );
    }
    let parts = [
        (!changes.is_empty(), "reconfigurations"),
        (!system.slots.is_empty(), "slots"),
        (!system.services.is_empty(), "services"),
        (!system.channels.is_empty(), "channels"),
        (!system.components.is_empty(), "components, which are programs of Tactus"),
        (!system.disks.is_empty(), "disks"),
        (!events.is_empty() || !programs.is_empty(), "threads that wait for each other, as an rt-app file has them"),
    ];
    for (_, what) in parts.iter().filter(|(has, _)| *has) {
        let remedy = match what.starts_with("threads") {
            true => "run the rt-app file itself",
            false => "leave them out of the file that runs on Linux",
        };
        out.refuse(format!("the file has {what}, which rt-app has no words for"), remedy);
    }
    for resource in resources {
        if resource.protocol != ResourceProtocol::Inheritance {
            out.refuse(
                format!(
                    "resource {}: rt-app's mutexes inherit priorities (PTHREAD_PRIO_INHERIT) or do nothing; no other protocol",
                    resource.name
                ),
                "protocol = \"inheritance\"",
            );
        }
        if resource.withdrawn {
            out.refuse(
                format!("resource {} is withdrawn from who holds it too long; a mutex is not", resource.name),
                "remove overrun",
            );
        }
    }
    for (n, task) in system.tasks.iter().enumerate() {
        let place = system.scheduling.places.get(n).copied().unwrap_or_default();
        let TaskPlacement { threshold, overrun, release, .. } = place;
        if threshold.is_some() {
            out.refuse(format!("task {} has a preemption threshold; Linux has none", task.name), "remove it");
        }
        if overrun != Overrun::Continue {
            out.refuse(
                format!(
                    "task {}: what happens to a job that takes too long; Linux lets it go on (SCHED_FIFO), or go on with the next \
                     period's budget (SCHED_DEADLINE)",
                    task.name
                ),
                "remove overrun",
            );
        }
        match release {
            Release::Periodic => {}
            Release::Sporadic(_) => out.note(format!(
                "{} arrives as often as it may, by a timer; `judge` takes tasks that time releases only, so call it periodic there",
                task.name
            )),
            Release::Bursts(..) | Release::Jittered(_) => out.refuse(
                format!("task {} arrives with jitter; rt-app's timers have one period", task.name),
                "remove jitter, and shorten the period by it",
            ),
            Release::After(before, _) => out.note(format!(
                "{} is resumed by {}; rt-app forgets a resume that comes while it is still at work, where an arrival would wait",
                task.name,
                system.tasks[before.index()].name
            )),
        }
    }
}

/// A thread is known by its name, of which Linux keeps the beginning.
fn names(system: &System, out: &mut Out) {
    for thread in &system.linux {
        let task = &system.tasks[thread.task.index()].name;
        let number = thread.name.as_ref().is_some_and(|name| name.parse::<u32>().is_ok());
        if thread.group.is_some() || number {
            let what = format!(
                "[linux] {task}: it is known by a number or by its process, which Linux gives when they start, and rt-app's threads are all \
                 of one"
            );
            out.refuse(what, "name the thread alone, or leave the line out of the file that runs there");
        } else if thread.name.as_ref().is_some_and(|name| name.contains(['"', '\\'])) {
            out.refuse(format!("[linux] {task}: rt-app takes no such name"), "leave out quotes and backslashes");
        }
    }
    let mut known: BTreeMap<&str, &str> = BTreeMap::new();
    for task in &system.tasks {
        let name = thread_name(system, &task.name);
        let short = name.get(..NAME_BYTES).unwrap_or(name);
        if let Some(other) = known.insert(short, &task.name) {
            out.refuse(
                format!(
                    "tasks {other} and {}: Linux keeps {NAME_BYTES} bytes of a thread's name, and these are alike in them",
                    task.name
                ),
                "give one another name",
            );
        }
    }
}

/// What the thread of a task is called: as the file says, or like the task.
pub(super) fn thread_name<'s>(system: &'s System, task: &'s str) -> &'s str {
    let own = system.linux.iter().find(|it| system.tasks[it.task.index()].name == task);
    own.and_then(|it| it.name.as_deref()).unwrap_or(task)
}

/// The class of each thread.
fn classes(system: &System, order: TaskOrder, out: &mut Out) -> Vec<Class> {
    let kept = match order.basis() {
        OrderBasis::Kept(number) => number,
        _ => return reservations(system, out),
    };
    let places = &system.scheduling.places;
    let key = |n: usize| {
        let task = &system.tasks[n];
        let time = |length: Duration| (length.as_nanos(), n);
        match kept {
            // Equal ones stay equal: the one that came first goes first, in both.
            KeptNumber::Priority => (u64::from(u32::MAX - places.get(n).map_or(0, |place| place.priority)), 0),
            KeptNumber::Period => time(task.period),
            KeptNumber::Deadline => time(task.deadline),
            KeptNumber::Execution => time(task.budget()),
            KeptNumber::Slack => time(task.deadline.saturating_sub(task.budget())),
        }
    };
    let mut ranks: Vec<(u64, usize)> = (0..system.tasks.len()).map(key).collect();
    ranks.sort_unstable();
    ranks.dedup();
    if ranks.len() > HIGHEST as usize {
        let what = format!("{} different priorities, and SCHED_FIFO has {HIGHEST} to give", ranks.len());
        out.refuse(what, "choose partitioned-fp and give several tasks the same priority, or EDF");
    }
    if let Some(task) = system.tasks.iter().find(|task| task.deadline != task.period) {
        out.note(format!(
            "SCHED_FIFO has no deadlines: that of {} and others stands in the file by which the trace is judged",
            task.name
        ));
    }
    out.note("under PREEMPT_RT the threads of interrupts have priority 50: those of this file count down from 98");
    let rank = |n: usize| ranks.partition_point(|other| *other < key(n)) as u32;
    (0..system.tasks.len()).map(|n| Class::Fifo(HIGHEST.saturating_sub(rank(n)).max(1))).collect()
}

fn reservations(system: &System, out: &mut Out) -> Vec<Class> {
    out.note(
        "a thread of SCHED_DEADLINE that takes longer than its runtime waits for its next period: `execution` must have room for what the \
         kernel and rt-app do in its name",
    );
    let of = |task: &tactus_model::Task| {
        let runtime = task.budget();
        let one = Reservation { runtime, deadline: task.deadline, period: task.period };
        if let Some(why) = one.refused() {
            let remedy = "stay within what sched_setattr takes, or choose fixed priorities";
            out.refuse(format!("task {}: {why}; the kernel refuses it", task.name), remedy);
        }
        Class::Deadline(one)
    };
    system.tasks.iter().map(of).collect()
}

/// Refuses what no version of the kernel admits, and says what only some do.
fn admitted(threads: &[ThreadSetup], domains: &[CoreSet], out: &mut Out) {
    for domain in domains {
        let of = |it: &ThreadSetup| match it.class {
            Class::Deadline(one) if it.cores == *domain => Some(one),
            _ => None,
        };
        let all: Vec<Reservation> = threads.iter().filter_map(of).collect();
        let sum: u64 = all.iter().map(Reservation::bandwidth).sum();
        let cores = domain.iter().count();
        let percent = |bandwidth: u64| bandwidth as f64 * 100.0 / f64::from(1 << 20) / cores as f64;
        let takes = |kernel: Kernel| kernel.admits(cores, &all).iter().all(|it| *it);
        let names: Vec<String> = domain.iter().map(|core| core.0.to_string()).collect();
        let names = names.join(", ");
        if !takes(Kernel::Before6_12) {
            out.refuse(
                format!(
                    "{:.1} % of core {names} in SCHED_DEADLINE; Linux admits {:.0} % of each, and answers EBUSY to the thread with which it \
                     would be more",
                    percent(sum),
                    percent(Kernel::Before6_12.share() * cores as u64)
                ),
                "lower execution times, or write -1 to /proc/sys/kernel/sched_rt_runtime_us and choose fixed priorities: then nothing is checked",
            );
        } else if !takes(Kernel::From6_12) {
            out.note(format!(
                "{:.1} % of core {names} in SCHED_DEADLINE: Linux up to 6.11 admits it; from 6.12 on it keeps 10 % of each core for others and \
                 answers EBUSY, unless sched_rt_runtime_us is -1",
                percent(sum)
            ));
        }
    }
}

/// Says where the kernel stops SCHED_FIFO for the sake of others.
fn throttled(system: &System, out: &mut Out) {
    let load = |core: Option<usize>| -> f64 {
        let on = |task: &&tactus_model::Task| core.is_none() || task.core.map(|own| own.index()) == core;
        let share = |task: &tactus_model::Task| task.budget().as_nanos() as f64 / task.period.as_nanos() as f64;
        system.tasks.iter().filter(on).map(share).sum()
    };
    let bound = system.tasks.iter().all(|task| task.core.is_some());
    let full = match bound {
        true => (0..system.cores).any(|core| load(Some(core)) > 0.9),
        false => load(None) > 0.9 * system.cores as f64,
    };
    if full {
        out.note(
            "real-time threads that take more than 95 % of a core in a second are stopped for the rest of it (RT throttling; from 6.12 on the \
             server of others preempts them instead): write -1 to /proc/sys/kernel/sched_rt_runtime_us",
        );
    }
}
