//! Partitions written as a system file has them.

use crate::system::time;
use std::fmt::{self, Write};
use tactus_model::{policy_key, Partition, Policy, Server};

/// Adds the `[[partition]]`.
pub(crate) fn write(text: &mut String, server: &Server, partition: &Partition) -> fmt::Result {
    let policy = policy_key(&Policy::Ordered { spread: server.spread, order: server.order });
    writeln!(text, "\n[[partition]]\nname = \"{}\"\npolicy = \"{policy}\"", server.name)?;
    if let Some(level) = partition.criticality {
        writeln!(text, "criticality = \"{level}\"")?;
    }
    if partition.start_frame > 0 {
        writeln!(text, "start-frame = {}", partition.start_frame)?;
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
        writeln!(text, "    {{ core = {}, start = {start}, length = {length} }},", window.core)?;
    }
    writeln!(text, "]")
}
