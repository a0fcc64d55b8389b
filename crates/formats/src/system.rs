//! Task sets and whole systems: the way there, through the system file's own rules, and back; and system files written.

use crate::set::{Lossy, Task, TaskSet};
use crate::{Fault, Format, Reason, Written};
use std::collections::HashSet;
use std::fmt::{self, Write};
use std::path::Path;
use tactus_model::{
    policy_key, Action, Body, Burst, Chain, Change, Demand, EarlyArrival, Machine, Migration, Mixed, Overrun, Part,
    Platform, Policy, Processor, Release, ResourceProtocol, Schedulers, Scheduling, Server, ServerKind, System,
    TaskOrder, MAX_NAME,
};
use tactus_time::{CoreSet, Duration, Level};

/// Reads a system file or an rt-app file as a task set.
pub(crate) fn read(text: &str, source: &Path, format: Format) -> Result<TaskSet, Fault> {
    let system = match format {
        Format::RtApp => System::parse_rt_app(text, source),
        _ => System::parse_toml(text, source),
    };
    let wrong = |reason| Fault { file: source.to_path_buf(), line: 0, reason };
    let system = system.map_err(|problems| wrong(Reason::System { problems: problems.to_string() }))?;
    TaskSet::of(&system).map_err(wrong)
}

impl TaskSet {
    /// The tasks of a system. Under MC² the execution time is the one at the task's own level.
    ///
    /// # Errors
    /// If there are servers or clusters, within which the tasks would be others.
    pub fn of(system: &System) -> Result<TaskSet, Reason> {
        let Scheduling { servers, places, clusters, .. } = &system.scheduling;
        if !servers.is_empty() || !clusters.is_empty() {
            let what = "the system has servers or clusters, which a task set alone cannot say".into();
            return Err(Reason::Refused { what, remedy: "check or simulate the system as it is".into() });
        }
        let mut notes = system.notes.clone();
        if system.policy.has_levels() {
            notes.push("levels are left out: each task has its execution time at its own level".into());
        }
        let task = |(n, task): (usize, &tactus_model::Task)| Task {
            name: task.name.clone(),
            execution: task.budget(),
            period: task.period,
            deadline: task.deadline,
            offset: task.offset,
            jitter: Duration::ZERO,
            core: task.core.map(|core| core.index()),
            priority: root_order(system).has_priorities().then(|| places.get(n).map_or(0, |place| place.priority)),
            memory: task.memory,
        };
        if places.iter().any(|place| place.release != Release::Periodic) {
            notes.push("that arrivals or other tasks release jobs is left out, and with that all chains".into());
        }
        if !system.channels.is_empty() {
            notes.push("channels are left out".into());
        }
        if !system.services.is_empty() {
            notes.push("services are left out".into());
        }
        if !system.scheduling.sections.is_empty() {
            notes.push("resources are left out".into());
        }
        if !system.scheduling.waits.is_empty() {
            notes.push("waits of jobs are left out".into());
        }
        if places.iter().any(|place| place.threshold.is_some()) {
            notes.push("preemption thresholds are left out".into());
        }
        if places.iter().any(|place| place.overrun != Overrun::Continue) {
            notes.push("what happens to overruns is left out".into());
        }
        Ok(TaskSet {
            name: system.name.clone(),
            cores: Some(system.cores),
            policy: Some(policy_key(&system.policy).to_string()).filter(|_| !system.policy.has_levels()),
            duration: Some(system.duration),
            tasks: system.tasks.iter().enumerate().map(task).collect(),
            notes,
        })
    }

    /// The text of a system file of this set, with what it lacks: one core (or as many as tasks are bound to), partitioned EDF if tasks are
    /// bound to cores and global EDF if none is, 10 s. Names that a system file does not take are changed.
    ///
    /// # Errors
    /// If the policy binds tasks to cores and some task has none.
    pub fn system_text(&self) -> Result<Written, Reason> {
        let mut lost = self.lost(Format::System, &[Lossy::Jitter]);
        let bound = self.tasks.iter().filter_map(|task| task.core).max();
        let cores = self.cores.unwrap_or_else(|| bound.map_or(1, |core| core + 1));
        let default = if bound.is_some() { "partitioned-edf" } else { "global-edf" };
        let policy = self.policy.as_deref().unwrap_or(default);
        let partitioned = policy.starts_with("partitioned-");
        if !partitioned {
            lost.extend(self.lost(Format::System, &[Lossy::Core]));
        }
        let fixed = policy.ends_with("-fp");
        if !fixed {
            lost.extend(self.lost(Format::System, &[Lossy::Priority]));
        }
        let mut names = Names::default();
        let mut text = String::new();
        let duration = self.duration.unwrap_or(Duration::from_secs(10));
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "[system]\nname = \"{}\"\ncores = {cores}\nduration = {}\n\n[policy]\nkind = \"{policy}\"",
            sanitised(&self.name),
            time(duration)
        );
        for task in &self.tasks {
            let _ = writeln!(text, "\n[[task]]\nname = \"{}\"\nperiod = {}", names.take(&task.name), time(task.period));
            if task.deadline != task.period {
                let _ = writeln!(text, "deadline = {}", time(task.deadline));
            }
            if !task.offset.is_zero() {
                let _ = writeln!(text, "offset = {}", time(task.offset));
            }
            let _ = writeln!(text, "execution = {}", time(task.execution));
            match task.core {
                Some(core) if partitioned => {
                    let _ = writeln!(text, "core = {core}");
                }
                None if partitioned && cores > 1 => {
                    return Err(Reason::Unwritable {
                        format: Format::System,
                        what: format!("{policy} binds every task to a core, and task {:?} has none", task.name),
                        remedy: "bind it, or choose a global policy".into(),
                    })
                }
                _ => {}
            }
            if fixed {
                let _ = writeln!(text, "priority = {}", task.priority.unwrap_or(0));
            }
            if task.memory > 0 {
                let _ = writeln!(text, "memory = \"{} B\"", task.memory);
            }
        }
        if names.changed > 0 {
            lost.push(format!("the names of {} tasks: a system file takes letters, digits, -, _ and .", names.changed));
        }
        Ok(Written { text, lost })
    }

    /// The set as a system, by the rules of a system file.
    ///
    /// # Errors
    /// What a system file could not say, or its rules refuse.
    pub fn system(&self) -> Result<System, Reason> {
        let written = self.system_text()?;
        let source = format!("{}.toml", sanitised(&self.name));
        let system = System::parse_toml(&written.text, Path::new(&source));
        let mut system = system.map_err(|problems| Reason::System { problems: problems.to_string() })?;
        system.notes.extend(self.notes.iter().cloned());
        system.notes.extend(written.lost);
        Ok(system)
    }
}

/// A name that a system file takes.
fn sanitised(name: &str) -> String {
    let fits = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' };
    let mut name: String = name.chars().map(fits).take(MAX_NAME).collect();
    if !name.starts_with(|c: char| c.is_ascii_alphanumeric()) {
        name = format!("t{name}").chars().take(MAX_NAME).collect();
    }
    name
}

/// Names that were given out.
#[derive(Default)]
struct Names {
    taken: HashSet<String>,
    changed: usize,
}

impl Names {
    fn take(&mut self, wanted: &str) -> String {
        let plain = sanitised(wanted);
        let mut name = plain.clone();
        let mut next = 2;
        while !self.taken.insert(name.clone()) {
            let number = format!("-{next}");
            name = plain.chars().take(MAX_NAME - number.len()).collect::<String>() + &number;
            next += 1;
        }
        self.changed += usize::from(name != wanted);
        name
    }
}

/// Why a system cannot be written as one file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Unwritable {
    /// A task's job times came from a file of their own.
    List {
        /// The task's name.
        task: String,
    },
    /// There are components, buffers or devices, which lie elsewhere.
    Components,
    /// There are disks, which this writer does not know.
    Disks,
}

impl fmt::Display for Unwritable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unwritable::List { task } => {
                write!(f, "task {task:?} has its job times from a list; a system file would need a file beside it")
            }
            Unwritable::Components => f.write_str("the system has components of its own, which lie beside its file"),
            Unwritable::Disks => f.write_str("the system has disks; copy its [[disk]] tables from the file itself"),
        }
    }
}

impl std::error::Error for Unwritable {}

/// The text of a system file that reads back as `system`, servers and all.
///
/// # Errors
/// If part of the system lies outside of the file.
pub fn to_toml(system: &System) -> Result<String, Unwritable> {
    if !system.components.is_empty() || system.platform != Platform::default() {
        return Err(Unwritable::Components);
    }
    if !system.disks.is_empty() {
        return Err(Unwritable::Disks);
    }
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = header(&mut text, system);
    for (n, server) in system.scheduling.servers.iter().enumerate() {
        let _ = match system.scheduling.partitions.list.get(n) {
            Some(partition) => {
                crate::partition::write(&mut text, server, partition, &system.scheduling.partitions.schedules)
            }
            None => write_server(&mut text, server, system),
        };
    }
    for (n, task) in system.tasks.iter().enumerate() {
        let actual = actual(task)?;
        let _ = write_task(&mut text, n, task, system, &actual);
    }
    for resource in &system.scheduling.resources {
        let protocol = match resource.protocol {
            ResourceProtocol::NonPreemptive => "non-preemptive",
            ResourceProtocol::Ceiling => "ceiling",
            ResourceProtocol::Inheritance => "inheritance",
            ResourceProtocol::Msrp => "msrp",
            ResourceProtocol::Fmlp => "fmlp",
        };
        let _ = writeln!(text, "\n[[resource]]\nname = {:?}\nprotocol = \"{protocol}\"", resource.name);
        if resource.withdrawn {
            let _ = writeln!(text, "overrun = \"withdraw\"");
        }
    }
    for chain in &system.chains {
        let _ = write_chain(&mut text, chain, system);
    }
    for channel in &system.channels {
        let _ = crate::channel::write(&mut text, channel, system);
    }
    for service in &system.services {
        let _ = crate::service::write(&mut text, service, system);
    }
    for change in &system.scheduling.changes {
        let _ = write_change(&mut text, change, system);
    }
    for monitor in &system.monitors {
        text += &monitor.toml();
    }
    let _ = write_linux(&mut text, system);
    Ok(text)
}

/// Which threads tasks are on Linux.
fn write_linux(text: &mut String, system: &System) -> fmt::Result {
    for (n, thread) in system.linux.iter().enumerate() {
        let keys = [("name", &thread.name), ("group", &thread.group)];
        let keys = keys.into_iter().filter_map(|(key, value)| Some(format!("{key} = {}", quoted(value.as_ref()?))));
        let (head, task) = (if n == 0 { "\n[linux]\n" } else { "" }, &system.tasks[thread.task.index()].name);
        writeln!(text, "{head}{} = {{ {} }}", quoted(task), keys.collect::<Vec<_>>().join(", "))?;
    }
    Ok(())
}

/// A text as TOML has it.
fn quoted(text: &str) -> String {
    let escaped = text.chars().map(|c| match c {
        '"' | '\\' => format!("\\{c}"),
        c if c.is_control() => format!("\\u{:04X}", u32::from(c)),
        c => c.to_string(),
    });
    format!("\"{}\"", escaped.collect::<String>())
}

fn header(text: &mut String, system: &System) -> fmt::Result {
    let System { name, cores, memory, duration, seed, policy, scheduling, .. } = system;
    let Machine { shift, processor, overheads, beside: _ } = system.machine;
    writeln!(text, "[system]\nname = \"{name}\"\ncores = {cores}\nmemory = \"{memory} B\"")?;
    writeln!(text, "duration = {}\nseed = {seed}\n", time(*duration))?;
    writeln!(text, "[policy]\nkind = \"{}\"", policy_key(policy))?;
    if let Policy::Mc2 { enforce, slack_shifting } = policy {
        writeln!(text, "enforce = {enforce}\nslack-shifting = {slack_shifting}")?;
    }
    if !scheduling.partitions.list.is_empty() {
        crate::partition::write_policy(text, &scheduling.partitions)?;
    }
    if !scheduling.clusters.is_empty() {
        writeln!(text, "clusters = {}", clusters(&scheduling.clusters))?;
    }
    if !scheduling.quantum.is_zero() {
        writeln!(text, "quantum = {}", time(scheduling.quantum))?;
    }
    if scheduling.schedulers == Schedulers::PerServer {
        writeln!(text, "schedulers = \"per-server\"")?;
    }
    writeln!(text, "\n[machine]\ninstruction = \"{} ns\"\noverheads = {overheads}", 1 << shift)?;
    match processor == Processor::default() {
        true => Ok(()),
        false => writeln!(text, "processor = \"{}\"", processor.name()),
    }
}

fn cores(set: CoreSet) -> String {
    let cores: Vec<String> = set.iter().map(|core| core.0.to_string()).collect();
    format!("[{}]", cores.join(", "))
}

fn clusters(sets: &[CoreSet]) -> String {
    let sets: Vec<String> = sets.iter().map(|set| cores(*set)).collect();
    format!("[{}]", sets.join(", "))
}

fn write_server(text: &mut String, server: &Server, system: &System) -> fmt::Result {
    let policy = policy_key(&Policy::Ordered { spread: server.spread, order: server.order });
    writeln!(text, "\n[[server]]\nname = \"{}\"\nkind = \"{}\"", server.name, server.kind.key())?;
    if server.kind == ServerKind::PriorityInheriting {
        // It took its period from the server that it works for; any other with this period gives it the same rank.
        let peer = |other: &&Server| other.name != server.name && other.period == server.period;
        let master = system.scheduling.servers.iter().find(peer).map_or("", |other| &other.name);
        let share = server.budget.as_nanos() as f64 / server.period.as_nanos() as f64;
        writeln!(text, "share = {share:?}\nfor = \"{master}\"")?;
    } else {
        writeln!(text, "budget = {}\nperiod = {}", time(server.budget), time(server.period))?;
    }
    writeln!(text, "policy = \"{policy}\"")?;
    let order = match server.parent {
        Some(parent) => {
            let parent = &system.scheduling.servers[parent];
            writeln!(text, "parent = \"{}\"", parent.name)?;
            parent.order
        }
        None => root_order(system),
    };
    writeln!(text, "cores = {}", cores(server.cores))?;
    if !server.clusters.is_empty() {
        writeln!(text, "clusters = {}", clusters(&server.clusters))?;
    }
    if !server.quantum.is_zero() {
        writeln!(text, "quantum = {}", time(server.quantum))?;
    }
    if order.has_priorities() {
        writeln!(text, "priority = {}", server.priority)?;
    }
    if server.background {
        writeln!(text, "background = true")?;
    }
    Ok(())
}

fn write_change(text: &mut String, change: &Change, system: &System) -> fmt::Result {
    let name = system.name_of(change.part);
    writeln!(text, "\n[[change]]\nat = {}", time(change.at))?;
    let (part, length) = match change.part {
        Part::Task(_) => ("task", "execution"),
        Part::Server(_) => ("server", "budget"),
    };
    match change.action {
        Action::Add => writeln!(text, "add = \"{name}\""),
        Action::Remove => writeln!(text, "remove = \"{name}\""),
        Action::Alter(values) => {
            writeln!(text, "{part} = \"{name}\"")?;
            if values.levels != [None; 4] {
                let at = |level: &Level| values.levels[level.index()].map(|it| format!("{level} = {}", time(it)));
                let all: Vec<String> = Level::ALL.iter().filter_map(at).collect();
                writeln!(text, "execution = {{ {} }}", all.join(", "))?;
            }
            for (key, value) in [(length, values.time), ("period", values.period), ("deadline", values.deadline)] {
                if let Some(value) = value {
                    writeln!(text, "{key} = {}", time(value))?;
                }
            }
            values.priority.map_or(Ok(()), |priority| writeln!(text, "priority = {priority}"))
        }
    }
}

fn root_order(system: &System) -> TaskOrder {
    match system.policy {
        Policy::Ordered { order, .. } => order,
        Policy::Mixed(Mixed::Amc) | Policy::Partitions => TaskOrder::FixedPriority,
        Policy::PartitionedRm | Policy::GlobalRm => TaskOrder::RateMonotonic,
        Policy::PartitionedEdf | Policy::GlobalEdf | Policy::Mixed(Mixed::EdfVd) | Policy::Mc2 { .. } => {
            TaskOrder::EarliestDeadline
        }
    }
}

fn write_task(text: &mut String, n: usize, task: &tactus_model::Task, system: &System, actual: &str) -> fmt::Result {
    writeln!(text, "\n[[task]]\nname = \"{}\"", task.name)?;
    let place = system.scheduling.places.get(n).copied().unwrap_or_default();
    let home = place.server.map(|server| &system.scheduling.servers[server]);
    if let Some(level) = task.level {
        writeln!(text, "level = \"{level}\"")?;
    }
    if let Some(server) = home {
        let key = if system.partition_of(n).is_some() { "partition" } else { "server" };
        writeln!(text, "{key} = \"{}\"", server.name)?;
    }
    let (spread, order, clusters) = match home {
        Some(server) => (server.spread, server.order, &server.clusters),
        None => {
            let spread = match system.policy {
                Policy::Ordered { spread, .. } => spread,
                _ => Migration::Partitioned,
            };
            (spread, root_order(system), &system.scheduling.clusters)
        }
    };
    match (task.core, spread) {
        (Some(core), Migration::Clustered) => {
            let cluster = clusters.iter().position(|cluster| cluster.contains(core));
            writeln!(text, "cluster = {}", cluster.unwrap_or(0))?;
        }
        (Some(core), _) => writeln!(text, "core = {core}")?,
        (None, _) => {}
    }
    if order.has_priorities() {
        writeln!(text, "priority = {}", place.priority)?;
    }
    if let Some(threshold) = place.threshold {
        writeln!(text, "preemption-threshold = {threshold}")?;
    }
    let section = |it: &tactus_model::Section| {
        let name = &system.scheduling.resources[it.resource].name;
        let actual = it.actual.map_or(String::new(), |actual| format!(", actual = {}", time(actual)));
        format!("{{ resource = {name:?}, after = {}, length = {}{actual} }}", time(it.after), time(it.length))
    };
    let sections: Vec<String> = system.scheduling.sections_of(n).iter().map(section).collect();
    if !sections.is_empty() {
        writeln!(text, "sections = [{}]", sections.join(", "))?;
    }
    let wait = |it: &tactus_model::Wait| {
        let actual = it.actual.map_or(String::new(), |actual| format!(", actual = {}", time(actual)));
        format!("{{ after = {}, length = {}{actual} }}", time(it.after), time(it.length))
    };
    let waits: Vec<String> = system.scheduling.waits_of(n).iter().map(wait).collect();
    if !waits.is_empty() {
        writeln!(text, "waits = [{}]", waits.join(", "))?;
    }
    if let Some(virtual_deadline) = place.virtual_deadline {
        writeln!(text, "virtual-deadline = {}", time(virtual_deadline))?;
    }
    match place.overrun {
        Overrun::Continue => {}
        Overrun::Skip => writeln!(text, "overrun = \"skip\"")?,
        Overrun::Stop => writeln!(text, "overrun = \"stop\"")?,
        Overrun::Kill => writeln!(text, "overrun = \"kill\"")?,
    }
    match place.release {
        Release::Periodic => {}
        Release::Sporadic(_) => writeln!(text, "release = \"sporadic\"")?,
        Release::Jittered(jitter) => writeln!(text, "jitter = {}", time(jitter))?,
        Release::Bursts(_, Burst { jitter, distance }) => {
            writeln!(text, "release = \"sporadic\"\njitter = {}\nleast-distance = {}", time(jitter), time(distance))?;
        }
        Release::After(before, _) => writeln!(text, "after = {:?}", system.tasks[before.index()].name)?,
    }
    match place.release.early() {
        None | Some(EarlyArrival::Delay) => {}
        Some(EarlyArrival::Drop) => writeln!(text, "early = \"drop\"")?,
        Some(EarlyArrival::Fault) => writeln!(text, "early = \"fault\"")?,
    }
    if let Some(longest) = place.longest_distance {
        writeln!(text, "longest-distance = {}", time(longest))?;
    }
    // Offsets count from the start of a task's partition.
    let partitions = &system.scheduling.partitions;
    let start = system.partition_of(n).map_or(Duration::ZERO, |p| partitions.list[p].start(partitions.frame));
    let offset = task.offset.saturating_sub(start);
    for (key, length, default) in [("offset", offset, Duration::ZERO), ("deadline", task.deadline, task.period)] {
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
    if let Some(minimum) = task.minimum {
        writeln!(text, "minimum = {}", time(minimum))?;
    }
    if task.memory > 0 {
        writeln!(text, "memory = \"{} B\"", task.memory)?;
    }
    Ok(())
}

fn write_chain(text: &mut String, chain: &Chain, system: &System) -> fmt::Result {
    let names: Vec<String> = chain.tasks.iter().map(|n| format!("{:?}", system.tasks[*n].name)).collect();
    writeln!(text, "\n[[chain]]\nname = {:?}\ntasks = [{}]", chain.name, names.join(", "))?;
    writeln!(text, "deadline = {}", time(chain.deadline))
}

fn actual(task: &tactus_model::Task) -> Result<String, Unwritable> {
    if let Body::Component(_) = task.body {
        return Err(Unwritable::Components);
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
pub(crate) fn time(length: Duration) -> String {
    let units = [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us"), (1, "ns")];
    let n = length.as_nanos();
    let (factor, unit) = units.into_iter().find(|(factor, _)| n % factor == 0).unwrap_or((1, "ns"));
    format!("\"{} {unit}\"", n / factor)
}
