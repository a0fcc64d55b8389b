//! Channels written as a system file has them.

use crate::system::time;
use std::fmt::{self, Write};
use tactus_model::{Channel, ChannelKind, Port, System};

/// Adds the `[[channel]]`.
pub(crate) fn write(text: &mut String, channel: &Channel, system: &System) -> fmt::Result {
    let port = |it: &Port| format!("{{ task = {:?}, port = {:?} }}", system.tasks[it.task].name, it.name);
    let destinations: Vec<String> = channel.destinations.iter().map(port).collect();
    writeln!(text, "\n[[channel]]\nname = {:?}\nsource = {}", channel.name, port(&channel.source))?;
    writeln!(text, "destinations = [{}]\nsize = \"{} B\"", destinations.join(", "), channel.size)?;
    match channel.kind {
        ChannelKind::Sampling { refresh_period } => {
            writeln!(text, "kind = \"sampling\"\nrefresh-period = {}", time(refresh_period))?;
        }
        ChannelKind::Queuing { depth, messages } => {
            writeln!(text, "kind = \"queuing\"\ndepth = {depth}\nmessages = {messages}")?;
        }
    }
    channel.latency.map_or(Ok(()), |latency| writeln!(text, "latency = {}", time(latency)))
}
