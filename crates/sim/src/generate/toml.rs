//! A system as a system file, so that a person can look at a generated one and run it again.

use std::fmt::{self, Write};
use tactus_model::{
    policy_key, Body, Demand, Locks, Mixed, Overrun, Policy, Server, ServerKind, Spread, System, Task, TaskOrder,
    TaskPlace,
};
use tactus_time::{CoreSet, Duration, Level};

/// Why a system cannot be written as one file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Unwritable {
    /// A task's job times came from a file of their own.
    List {
        /// The task's name.
        task: String,
    },
    /// A task runs a component of the user's own, which lies elsewhere.
    Component {
        /// The task's name.
        task: String,
    },
}

impl fmt::Display for Unwritable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unwritable::List { task } => {
                write!(f, "task \"{task}\" has its job times from a file; copy that file along")
            }
            Unwritable::Component { task } => {
                write!(f, "task \"{task}\" runs a component; copy its [[component]] along")
            }
        }
    }
}

impl std::error::Error for Unwritable {}

/// The text of a system file that reads back as `system`.
///
/// # Errors
/// If part of the system lies outside of the file.
pub fn to_toml(system: &System) -> Result<String, Unwritable> {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = header(&mut text, system);
    for server in &system.scheduling.servers {
        let _ = supply(&mut text, system, server);
    }
    for (n, task) in system.tasks.iter().enumerate() {
        let place = system.scheduling.places.get(n).copied().unwrap_or_default();
        let _ = entry(&mut text, system, task, place, actual(task)?);
    }
    Ok(text)
}

fn header(text: &mut String, system: &System) -> fmt::Result {
    let System { name, cores, memory, duration, seed, policy, machine, .. } = system;
    writeln!(text, "[system]\nname = \"{name}\"\ncores = {cores}\nmemory = \"{memory} B\"")?;
    writeln!(text, "duration = {}\nseed = {seed}\n", time(*duration))?;
    writeln!(text, "[policy]\nkind = \"{}\"", policy_key(policy))?;
    if let Policy::Mc2 { enforce, slack_shifting } = policy {
        writeln!(text, "enforce = {enforce}\nslack-shifting = {slack_shifting}")?;
        locks(text, system.scheduling.locks)?;
    }
    quantum_and_clusters(text, system.scheduling.quantum, &system.scheduling.clusters)?;
    writeln!(text, "\n[machine]\ninstruction = \"{} ns\"\noverheads = {}", 1 << machine.shift, machine.overheads)
}

fn locks(text: &mut String, locks: Locks) -> fmt::Result {
    match locks {
        Locks::One => Ok(()),
        Locks::Messages => writeln!(text, "locks = \"none\""),
        Locks::Fine { interrupt_master, timer_merging, work_redistribution } => {
            writeln!(text, "locks = \"fine\"\ninterrupt-master = {interrupt_master}")?;
            writeln!(text, "timer-merging = {timer_merging}\nwork-redistribution = {work_redistribution}")
        }
    }
}

fn quantum_and_clusters(text: &mut String, quantum: Duration, clusters: &[CoreSet]) -> fmt::Result {
    if !quantum.is_zero() {
        writeln!(text, "quantum = {}", time(quantum))?;
    }
    if !clusters.is_empty() {
        writeln!(text, "clusters = [{}]", clusters.iter().map(|set| cores(*set)).collect::<Vec<_>>().join(", "))?;
    }
    Ok(())
}

fn cores(set: CoreSet) -> String {
    format!("[{}]", set.iter().map(|core| core.to_string()).collect::<Vec<_>>().join(", "))
}

fn supply(text: &mut String, system: &System, server: &Server) -> fmt::Result {
    let servers = &system.scheduling.servers;
    writeln!(text, "\n[[server]]\nname = \"{}\"", server.name)?;
    if let Some(parent) = server.parent {
        writeln!(text, "parent = \"{}\"", servers[parent].name)?;
    }
    writeln!(text, "cores = {}\nkind = \"{}\"", cores(server.cores), server_kind(server.kind))?;
    // Whoever works for another one has its period; which of those with that period, says nothing more.
    let other = servers.iter().find(|other| other.period == server.period);
    match (server.kind, other) {
        (ServerKind::PriorityInheriting, Some(other)) => {
            let share = server.budget.as_nanos() as f64 / server.period.as_nanos() as f64;
            writeln!(text, "share = {share:?}\nfor = \"{}\"", other.name)?;
        }
        _ => writeln!(text, "budget = {}\nperiod = {}", time(server.budget), time(server.period))?,
    }
    let order = policy_key(&Policy::Ordered { spread: server.spread, order: server.order });
    writeln!(text, "policy = \"{order}\"")?;
    quantum_and_clusters(text, server.quantum, &server.clusters)?;
    let outer =
        server.parent.map_or(order_of(&system.policy), |parent| Some((servers[parent].spread, servers[parent].order)));
    if let Some((_, TaskOrder::FixedPriority)) = outer {
        writeln!(text, "priority = {}", server.priority)?;
    }
    if server.background {
        writeln!(text, "background = true")?;
    }
    Ok(())
}

/// What the policy tells of spread and order at the root; nothing for MC².
fn order_of(policy: &Policy) -> Option<(Spread, TaskOrder)> {
    Some(match policy {
        Policy::PartitionedRm => (Spread::Partitioned, TaskOrder::RateMonotonic),
        Policy::PartitionedEdf => (Spread::Partitioned, TaskOrder::EarliestDeadline),
        Policy::GlobalRm => (Spread::Global, TaskOrder::RateMonotonic),
        Policy::GlobalEdf => (Spread::Global, TaskOrder::EarliestDeadline),
        Policy::Ordered { spread, order } => (*spread, *order),
        Policy::Mixed(Mixed::Amc) => (Spread::Partitioned, TaskOrder::FixedPriority),
        Policy::Mixed(Mixed::EdfVd) => (Spread::Partitioned, TaskOrder::EarliestDeadline),
        Policy::Mc2 { .. } => return None,
    })
}

const fn server_kind(kind: ServerKind) -> &'static str {
    match kind {
        ServerKind::Periodic => "periodic",
        ServerKind::Polling => "polling",
        ServerKind::Deferrable => "deferrable",
        ServerKind::Sporadic => "sporadic",
        ServerKind::PosixSporadic => "posix-sporadic",
        ServerKind::SoftBandwidth => "cbs-soft",
        ServerKind::HardBandwidth => "cbs-hard",
        ServerKind::PriorityInheriting => "pibs",
    }
}

/// What a task says about where it is.
fn placing(text: &mut String, system: &System, task: &Task, place: TaskPlace) -> fmt::Result {
    let scheduling = &system.scheduling;
    let home = place.server.map(|server| &scheduling.servers[server]);
    if let Some(server) = home {
        writeln!(text, "server = \"{}\"", server.name)?;
    }
    let clusters = home.map_or(&scheduling.clusters, |server| &server.clusters);
    let (spread, order) = match home {
        Some(server) => (Some(server.spread), Some(server.order)),
        None => order_of(&system.policy).unzip(),
    };
    if let (Some(Spread::Clustered), Some(core)) = (spread, task.core) {
        if let Some(cluster) = clusters.iter().position(|cluster| cluster.contains(core)) {
            writeln!(text, "cluster = {cluster}")?;
        }
    } else if let Some(core) = task.core {
        writeln!(text, "core = {core}")?;
    }
    if order == Some(TaskOrder::FixedPriority) {
        writeln!(text, "priority = {}", place.priority)?;
    }
    if let Some(virtual_deadline) = place.virtual_deadline {
        writeln!(text, "virtual-deadline = {}", time(virtual_deadline))?;
    }
    match place.overrun {
        Overrun::Continue => Ok(()),
        Overrun::Skip => writeln!(text, "overrun = \"skip\""),
        Overrun::Stop => writeln!(text, "overrun = \"stop\""),
        Overrun::Kill => writeln!(text, "overrun = \"kill\""),
    }
}

fn entry(text: &mut String, system: &System, task: &Task, place: TaskPlace, actual: String) -> fmt::Result {
    writeln!(text, "\n[[task]]\nname = \"{}\"", task.name)?;
    if let Some(level) = task.level {
        writeln!(text, "level = \"{level}\"")?;
    }
    placing(text, system, task, place)?;
    for (key, length, default) in [("offset", task.offset, Duration::ZERO), ("deadline", task.deadline, task.period)] {
        if length != default {
            writeln!(text, "{key} = {}", time(length))?;
        }
    }
    writeln!(text, "period = {}", time(task.period))?;
    let levels = Level::ALL.iter().zip(task.execution).filter_map(|(l, e)| Some(format!("{l} = {}", time(e?))));
    match task.level {
        Some(_) => writeln!(text, "execution = {{ {} }}", levels.collect::<Vec<_>>().join(", "))?,
        None => writeln!(text, "execution = {}", time(task.execution[0].unwrap_or_default()))?,
    }
    writeln!(text, "actual = {actual}")?;
    if task.memory > 0 {
        writeln!(text, "memory = \"{} B\"", task.memory)?;
    }
    Ok(())
}

fn actual(task: &Task) -> Result<String, Unwritable> {
    if let Body::Component(_) = task.body {
        return Err(Unwritable::Component { task: task.name.clone() });
    }
    Ok(match &task.demand {
        Demand::Fixed(length) => time(*length),
        Demand::Uniform { min, max } => format!("{{ min = {}, max = {} }}", time(*min), time(*max)),
        Demand::Beta { usual, scale, probability, mean, deviation } => {
            let usual = match probability {
                p if *p < 1.0 => format!("usual = {}, probability = {p:?}, ", time(*usual)),
                _ => String::new(),
            };
            format!("{{ {usual}scale = {}, mean = {mean:?}, deviation = {deviation:?} }}", time(*scale))
        }
        Demand::List(_) => return Err(Unwritable::List { task: task.name.clone() }),
    })
}

/// A time in the largest unit in which it is a whole number.
fn time(length: Duration) -> String {
    let units = [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us"), (1, "ns")];
    let n = length.as_nanos();
    let (factor, unit) = units.into_iter().find(|(factor, _)| n % factor == 0).unwrap_or((1, "ns"));
    format!("\"{} {unit}\"", n / factor)
}
