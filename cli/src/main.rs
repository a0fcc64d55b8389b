//! The `tactus` command: reads what is asked, does it, and tells the shell how it went.
#![forbid(unsafe_code)]

mod arguments;
mod assignment;
mod colouring;
mod command;
mod disks;
mod mailboxes;
mod promise;
mod subject;
mod verdict;

use arguments::{Arguments, Command};
use clap::Parser;
use std::process::ExitCode;
use tactus_machine::supervised;
use tactus_terminal::lines;

fn main() -> ExitCode {
    if let Some(became) = supervised::become_program() {
        return became.unwrap_or_else(|error| {
            lines::note("tactus", error);
            ExitCode::from(supervised::CANNOT_START)
        });
    }
    let arguments = Arguments::parse();
    let result = match &arguments.command {
        Command::New(new) => command::new::new(new),
        Command::Check(check) => command::check::check(check),
        Command::Explain(explain) => command::explain::explain(explain),
        Command::Simulate(simulate) => command::simulate::simulate(simulate),
        Command::Run(run) => command::run::run(run),
        Command::Iso(iso) => command::iso::iso(iso),
        Command::Colours(colours) => command::colours::colours(colours),
        Command::Trace(trace) => command::trace::trace(trace),
        Command::Monitor(monitor) => command::monitor::monitor(monitor),
        Command::Linux(linux) => command::linux::linux(linux),
        Command::Admit(admit) => command::admit::admit(admit),
        Command::Judge(judge) => command::judge::judge(judge),
        Command::Report(report) => command::report::report(report),
        Command::Pack(pack) => command::pack::pack(pack),
        Command::Key(key) => command::key::key(key),
        Command::Convert(convert) => command::convert::convert(convert),
        Command::Schema => Ok(command::schema::schema()),
        Command::Completions(completions) => Ok(command::words::completions(completions)),
        Command::Man(man) => command::words::man(man),
        Command::Test(test) => command::test::test(test),
    };
    match result {
        Ok(outcome) => ExitCode::from(outcome.status()),
        Err(failure) => {
            lines::note("tactus", &failure);
            ExitCode::from(failure.status())
        }
    }
}
