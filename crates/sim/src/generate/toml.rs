//! A system as a system file, so that a person can look at a generated one and run it again.

use std::fmt::{self, Write};
use tactus_model::{policy_key, Body, Demand, Policy, System, Task};
use tactus_time::{Duration, Level};

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
    for task in &system.tasks {
        let _ = entry(&mut text, task, actual(task)?);
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
    }
    writeln!(text, "\n[machine]\ninstruction = \"{} ns\"\noverheads = {}", 1 << machine.shift, machine.overheads)
}

fn entry(text: &mut String, task: &Task, actual: String) -> fmt::Result {
    writeln!(text, "\n[[task]]\nname = \"{}\"", task.name)?;
    if let Some(level) = task.level {
        writeln!(text, "level = \"{level}\"")?;
    }
    if let Some(core) = task.core {
        writeln!(text, "core = {core}")?;
    }
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
