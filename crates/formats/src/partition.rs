//! Partitions written as a system file has them.

use crate::system::time;
use std::fmt::{self, Write};
use tactus_model::{policy_key, Partition, Partitions, Policy, Server};

/// Adds the keys of `[policy]`.
pub(crate) fn write_policy(text: &mut String, partitions: &Partitions) -> fmt::Result {
    writeln!(text, "major-frame = {}", time(partitions.frame))?;
    if !partitions.schedules.is_empty() {
        writeln!(text, "schedules = {:?}", partitions.schedules)?;
    }
    for (n, switch) in partitions.switches.iter().enumerate() {
        let name = &partitions.schedules[usize::from(switch.schedule)];
        write!(
            text,
            "{}{{ frame = {}, schedule = {name:?} }}",
            if n == 0 { "switches = [" } else { ", " },
            switch.frame
        )?;
    }
    writeln!(text, "{}", if partitions.switches.is_empty() { "" } else { "]" })
}

/// Adds the `[[partition]]`.
pub(crate) fn write(text: &mut String, server: &Server, partition: &Partition, schedules: &[String]) -> fmt::Result {
    let policy = policy_key(&Policy::Ordered { spread: server.spread, order: server.order });
    writeln!(text, "\n[[partition]]\nname = \"{}\"\npolicy = \"{policy}\"", server.name)?;
    if let Some(level) = partition.criticality {
        writeln!(text, "criticality = \"{level}\"")?;
    }
    if partition.start_frame > 0 {
        writeln!(text, "start-frame = {}", partition.start_frame)?;
    }
    if partition.late {
        writeln!(text, "load = \"late\"")?;
    }
    if !server.quantum.is_zero() {
        writeln!(text, "quantum = {}", time(server.quantum))?;
    }
    if server.background {
        writeln!(text, "background = true")?;
    }
    writeln!(text, "period = {}\nduration = {}", time(partition.period), time(partition.duration))?;
    writeln!(text, "windows = [")?;
    for window in &partition.windows {
        let (start, length) = (time(window.start), time(window.length));
        write!(text, "    {{ core = {}, start = {start}, length = {length}", window.core)?;
        if let Some(name) = schedules.get(usize::from(window.schedule)).filter(|_| window.schedule > 0) {
            write!(text, ", schedule = {name:?}")?;
        }
        writeln!(text, " }},")?;
    }
    writeln!(text, "]")
}
