//! The laboratory's command, which `./tactus study`, `rig`, `stress`, `agree`, `bench` and `mutants` start: it reads what is asked, does it,
//! and tells the shell how it went.
#![forbid(unsafe_code)]

mod agree;
mod bench;
mod duration;
mod mutants;
mod rig;
mod stress;

use clap::{Parser, Subcommand};
use std::process::ExitCode;
use tactus_machine::supervised;
use tactus_terminal::lines;

/// What compares and measures, beside the commands for a system.
#[derive(Debug, Parser)]
#[command(name = "tactus", version, max_term_width = 100)]
struct Arguments {
    /// What to do.
    #[command(subcommand)]
    command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
enum Command {
    /// Draw very many task sets and ask what can be promised for them
    #[command(subcommand)]
    Study(tactus_studies::command::Study),
    /// Test and measure the structures of schedulers, with real parallelism
    ///
    /// Emulated processors on real threads drive the same code that the kernel's schedulers run: checked while it runs,
    /// measured, compared, or driven by the trace of a run. See docs/lab/rig.md.
    #[command(after_help = "Examples:\n  ./tactus rig run --structure cpudl --processors 8\n  ./tactus rig compare")]
    Rig(rig::arguments::Rig),
    /// Run systems whose cores execute at the same time, on a kernel that looks at its own objects
    ///
    /// Everywhere else the emulator's cores take turns, so that runs repeat. Here each is a thread of the host: times mean nothing and
    /// no run is like another, so that what is judged holds however long anything takes: exclusion, order, that nothing is lost or comes
    /// twice, that times add up. The exit status is 1 if anything was found.
    #[command(
        after_help = "Examples:\n  ./tactus stress --only arena --runs 10\n  ./tactus stress --planted --runs 50"
    )]
    Stress(stress::Stress),
    /// Run many generated systems on the machine and hold them against simulator and analysis
    ///
    /// Every decision on the machine must be the policy's own, every event noticed in time, and no bound beaten where the
    /// check had accepted the system. Prints one line per system and the figures of all together, and for what reasons how
    /// many seeds were left out. A system that does not agree is left in the results folder with its trace, and the exit
    /// status is 1. "compared until a race" says of a system that its decisions could not be replayed one by one and that
    /// its schedule is the simulator's only until two cores raced: nothing differed, but not everything was compared.
    #[command(after_help = "Example:\n  ./tactus agree --systems 20")]
    Agree(agree::arguments::Agree),
    /// Measure what the kernel's paths cost, or how much memory a system takes
    ///
    /// `kernel` counts instructions on one core of the emulated machine: calls, switches, interrupts, faults, and the
    /// way through the root scheduler with 10 and 100 tasks under each policy. `memory` tells sizes, and how much of
    /// the stacks is really used with 4 cores and 120 tasks.
    #[command(after_help = "Examples:\n  ./tactus bench kernel\n  ./tactus bench memory")]
    Bench(bench::Bench),
    /// Take the mechanisms of statements away, one after the other, and see their tests fail
    Mutants(mutants::Mutants),
}

fn main() -> ExitCode {
    if let Some(became) = supervised::become_program() {
        return became.unwrap_or_else(|error| {
            lines::note("tactus", error);
            ExitCode::from(supervised::CANNOT_START)
        });
    }
    let arguments = Arguments::parse();
    let result = match &arguments.command {
        Command::Study(study) => tactus_studies::command::study(study),
        Command::Rig(rig) => rig::rig(rig),
        Command::Stress(wanted) => stress::stress(wanted),
        Command::Agree(wanted) => agree::agree(wanted),
        Command::Bench(wanted) => bench::bench(wanted),
        Command::Mutants(wanted) => mutants::mutants(wanted),
    };
    match result {
        Ok(outcome) => ExitCode::from(outcome.status()),
        Err(failure) => {
            lines::note("tactus", &failure);
            ExitCode::from(failure.status())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_arguments_are_sound() {
        Arguments::command().debug_assert();
    }

    /// A statement of a source is no better than its command: each one is taken as it is written.
    #[test]
    fn every_command_that_shows_a_statement_of_a_source_is_one() {
        let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/sources/statements.toml");
        let text = std::fs::read_to_string(file).expect("the statements are there");
        let statements = tactus_sources::read(&text).expect("they are valid");
        let mut count = 0;
        for statement in statements {
            let words = statement.words();
            if words
                .get(1)
                .is_some_and(|word| ["study", "rig", "stress", "agree", "bench", "mutants"].contains(&word.as_str()))
            {
                if let Err(error) = Arguments::try_parse_from(&words) {
                    panic!("{statement}: {error}");
                }
                count += 1;
            }
        }
        assert!(count > 30, "{count}");
        assert!(Arguments::try_parse_from(["./tactus", "study", "nothing"]).is_err());
    }
}
