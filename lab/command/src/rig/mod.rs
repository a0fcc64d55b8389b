//! `tactus rig`: the structures of schedulers under parallel events: tested, measured, compared, and driven by the trace
//! of a run.

pub mod arguments;
mod compare;
mod instructions;
mod model;
mod one;
mod plots;
mod replay;
mod rows;
mod runs;
mod task_set;

use arguments::{Counted, Events, Mode, Rig, Stamp, What};
use std::sync::Arc;
use tactus_machine::failure::{Failure, Outcome};
use tactus_rig::{names, Settings, Source};
use tactus_sync::stamp::Serialise;
use tactus_terminal::lines;

/// Does what was asked.
pub fn rig(arguments: &Rig) -> Result<Outcome, Failure> {
    match &arguments.what {
        What::Run(run) => one::run(run),
        What::Compare(compare) if compare.instructions => instructions::count(compare),
        What::Compare(compare) => compare::compare(compare),
        What::Model(model) => model::model(model),
        What::Replay(replay) => replay::replay(replay),
        What::Counted(counted) => rounds(counted),
    }
}

impl From<Mode> for tactus_rig::Mode {
    fn from(mode: Mode) -> tactus_rig::Mode {
        match mode {
            Mode::Testing => tactus_rig::Mode::Testing,
            Mode::Performance => tactus_rig::Mode::Performance,
        }
    }
}

impl From<Stamp> for Serialise {
    fn from(stamp: Stamp) -> Serialise {
        match stamp {
            Stamp::Cpuid => Serialise::Cpuid,
            Stamp::Lfence => Serialise::Lfence,
        }
    }
}

/// The settings that options say. `load`: periodic tasks of that utilisation, and which set of many.
fn settings(events: &Events, load: Option<(f64, u64)>, mode: Mode, processors: usize) -> Result<Settings, Failure> {
    let real = |time: tactus_time::Duration| std::time::Duration::from_nanos(time.as_nanos());
    let source = match load {
        None => Source::Random,
        Some((load, set)) => Source::Tasks(Arc::new(task_set::draw(events, load, processors, set)?)),
    };
    Ok(Settings {
        mode: mode.into(),
        processors,
        oversubscribe: events.oversubscribe,
        cycles: events.cycles,
        cycle: real(events.cycle),
        real_time: events.real_time,
        urgent: events.urgent,
        activation: events.activation,
        early_finish: events.early_finish,
        deadline: (real(events.deadline_from), real(events.deadline_to)),
        tasks: events.tasks,
        bound: events.bound,
        seed: events.seed,
        serialise: events.stamp.into(),
        source,
        ..Settings::default()
    })
}

fn rounds(arguments: &Counted) -> Result<Outcome, Failure> {
    let Counted { structure, operation, size, rounds } = arguments;
    let result = names::count_directory(structure, operation, *size, *rounds)
        .or_else(|| names::count_queue(structure, operation, *size, *rounds));
    let result = result.ok_or_else(|| Failure::Input(format!("`{operation}` of `{structure}` cannot be counted")))?;
    lines::put(&format!("{}\n", result.0));
    Ok(Outcome::Held)
}
