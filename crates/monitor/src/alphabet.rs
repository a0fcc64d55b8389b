//! The events of all monitors of a system, each once: their numbers name them in an image and in a trace.

use crate::definition::Monitor;
use crate::occurrence::Occurrence;

/// What the monitors watch, in the order in which they name it first.
pub fn alphabet(monitors: &[Monitor]) -> Vec<&Occurrence> {
    let mut all: Vec<&Occurrence> = Vec::new();
    for (_, occurrence) in monitors.iter().flat_map(|monitor| &monitor.events) {
        if !all.contains(&occurrence) {
            all.push(occurrence);
        }
    }
    all
}
