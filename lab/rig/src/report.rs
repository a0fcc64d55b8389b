//! Results as lines of JSON: one for each operation on each processor, and one for all processors together.

use crate::engine::Finished;
use crate::measure::{Boxes, Operation, Samples};
use crate::settings::{Mode, Settings, Source};
use serde::{Deserialize, Serialize};

/// One line of results. Durations are cycles of the time-stamp counter.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Line {
    /// The directory.
    pub directory: String,
    /// The ready queue.
    pub queue: String,
    /// How many processors were emulated.
    pub processors: usize,
    /// Of which one this tells; nothing: of all.
    pub processor: Option<usize>,
    /// What was measured.
    pub operation: String,
    /// How often it was done.
    pub count: u64,
    /// What was measured of it, if anything.
    pub durations: Option<Boxes>,
    /// Page faults while it was measured.
    pub faults: u64,
    /// Whether each processor had a core of its own.
    pub bound: bool,
    /// Cycles of each processor; in a replay, the events of the one that has most.
    pub cycles: u64,
    /// Whether cycles had the length that they have, or followed one another.
    pub real_time: bool,
    /// Seed.
    pub seed: u64,
    /// The part of the run in which all processors were at work.
    #[serde(default)]
    pub together: f64,
    /// Whether the processors were in the real-time class.
    #[serde(default)]
    pub real_time_class: bool,
    /// The time of the rig's clock that went by (s); a replay has none.
    #[serde(default)]
    pub seconds: f64,
    /// Activations.
    #[serde(default)]
    pub arrivals: u64,
    /// Tasks that went from one queue to another.
    #[serde(default)]
    pub moved: u64,
    /// Activations that were left out: no free task, or the task's last job was still there.
    #[serde(default)]
    pub refused: u64,
    /// All other settings that figures depend on.
    #[serde(default)]
    pub settings: String,
}

/// Everything that a run measured.
pub fn lines(directory: &str, queue: &str, settings: &Settings, finished: &Finished) -> Vec<Line> {
    let line = |processor: Option<usize>, operation: Operation, samples: &Samples| Line {
        directory: directory.to_string(),
        queue: queue.to_string(),
        processors: settings.processors,
        processor,
        operation: operation.name().to_string(),
        count: samples.counts[operation as usize],
        durations: (settings.mode == Mode::Performance)
            .then(|| Boxes::of(&samples.durations[operation as usize]))
            .flatten(),
        faults: samples.faults,
        bound: finished.bound,
        cycles: settings.cycles,
        real_time: settings.real_time,
        seed: settings.seed,
        together: finished.together,
        real_time_class: finished.real_time_class.is_ok(),
        seconds: finished.emulated.as_secs_f64(),
        arrivals: samples.arrivals,
        moved: samples.moved,
        refused: samples.refused,
        settings: other_settings(settings),
    };
    let all = merge(&finished.samples);
    let mut lines = Vec::new();
    for operation in Operation::ALL {
        lines.push(line(None, operation, &all));
        for (processor, samples) in finished.samples.iter().enumerate() {
            lines.push(line(Some(processor), operation, samples));
        }
    }
    lines
}

/// In words, what figures depend on beside what a [`Line`] has by itself; not which task set of many.
pub fn other_settings(settings: &Settings) -> String {
    let tasks = match &settings.source {
        Source::Random => format!(
            "activation {} early {} deadline {:?} to {:?} tasks {} bound {}",
            settings.activation,
            settings.early_finish,
            settings.deadline.0,
            settings.deadline.1,
            settings.tasks,
            settings.bound
        ),
        Source::Tasks(tasks) => format!("{} periodic tasks", tasks.len()),
        Source::Trace(script) => {
            format!("a trace: {} activations, {} blockings", script.activations, script.blockings)
        }
    };
    let class = if settings.urgent { " urgent" } else { "" };
    format!("cycle {:?} {tasks} stamp {:?}{class}", settings.cycle, settings.serialise)
}

/// Runs one after another, as if they were one: durations and counts of each processor together.
pub fn joined(runs: Vec<Finished>) -> Option<Finished> {
    runs.into_iter().reduce(|mut sum, run| {
        for (into, from) in sum.samples.iter_mut().zip(&run.samples) {
            *into = merge(&[std::mem::take(into), from.clone()]);
        }
        sum.checks += run.checks;
        sum.quiet += run.quiet;
        sum.took += run.took;
        sum.emulated += run.emulated;
        sum.bound &= run.bound;
        sum.together = sum.together.min(run.together);
        sum.real_time_class = sum.real_time_class.and(run.real_time_class);
        sum
    })
}

/// What all processors measured, as if one had.
pub fn merge(all: &[Samples]) -> Samples {
    let mut sum = Samples::default();
    for one in all {
        for (into, from) in sum.durations.iter_mut().zip(&one.durations) {
            into.extend(from);
        }
        for (into, from) in sum.counts.iter_mut().zip(one.counts) {
            *into += from;
        }
        sum.faults += one.faults;
        sum.arrivals += one.arrivals;
        sum.departures += one.departures;
        sum.moved += one.moved;
        sum.refused += one.refused;
    }
    sum
}
