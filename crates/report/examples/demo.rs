//! Writes a report of a made-up run: `cargo run -p tactus-report --example demo -- 120 out.html`.
//!
//! Arguments: number of tasks, file to write, seconds (default 10), `overrun` for a run that breaks
//! promises, `fault` for one in which a component is stopped.

mod synthetic;

use std::process::ExitCode;
use tactus_report::{html, Details};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |i: usize, otherwise: u64| arguments.get(i).map_or(Ok(otherwise), |a| a.parse::<u64>());
    let (Ok(tasks), Ok(seconds), Some(path)) = (number(0, 0), number(2, 10), arguments.get(1)) else {
        eprintln!("usage: demo TASKS FILE [SECONDS] [overrun] [fault]");
        return ExitCode::from(2);
    };
    let overrun = arguments.iter().any(|a| a == "overrun");
    let fault = arguments.iter().any(|a| a == "fault");
    let wanted = synthetic::Wanted { tasks: tasks as usize, cores: 4, seconds, seed: 7, overrun, fault };
    let (view, trace) = synthetic::run(&wanted);
    let summary = tactus_trace::judge(&view, &trace);
    let extra = Details {
        machine: "made up, no machine".into(),
        seed: wanted.seed,
        components: vec!["workload".into()],
        command: format!("cargo run -p tactus-report --example demo -- {}", arguments.join(" ")),
        ..Details::default()
    };
    let page = html(&view, &trace, &summary, &extra);
    let records: usize = trace.cores.iter().map(Vec::len).sum();
    println!("{records} records, {} jobs, {} KiB", summary.total.released, page.len() / 1024);
    match std::fs::write(path, page) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{path}: {error}");
            ExitCode::from(3)
        }
    }
}
