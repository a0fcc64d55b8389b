//! The check of one system file: `cargo run -p tactus-analysis --example check_file -- examples/avionics.toml`.
//!
//! Prints what `tactus check` decides on, without costs and with made-up ones of an emulated machine.

use std::process::ExitCode;
use tactus_model::{Costs, System};
use tactus_time::Duration;

fn main() -> ExitCode {
    let Some(path) = std::env::args_os().nth(1) else {
        eprintln!("name a system file");
        return ExitCode::from(2);
    };
    let system = match System::read(path.as_ref()) {
        Ok(system) => system,
        Err(problems) => {
            eprintln!("{problems}");
            return ExitCode::from(2);
        }
    };
    let us = Duration::from_micros;
    let costs = Costs { release: us(10), schedule: us(12), switch: us(4), inter_core: us(12), complete: us(8) };
    for (name, costs) in [("without costs", Costs::default()), ("with costs", costs)] {
        println!("{name}\n{}\n", tactus_analysis::check(&system, &costs));
    }
    ExitCode::SUCCESS
}
