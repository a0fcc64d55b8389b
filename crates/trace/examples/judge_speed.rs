//! How long it takes to judge and to export a long trace: 120 tasks on four cores.
//!
//!     cargo run --release -p tactus-trace --example judge_speed

#[path = "../tests/all/common/mod.rs"]
mod common;

use std::time::Instant;
use tactus_trace::{jobs, judge, litmus, perfetto, schedule, Trace};

fn timed<T>(what: &str, work: impl FnOnce() -> T) -> T {
    let begin = Instant::now();
    let result = work();
    println!("{what:30} {:8.1} ms", begin.elapsed().as_secs_f64() * 1e3);
    result
}

fn main() {
    // About nine tenths of each core, periods from 36 to 123 units.
    let tasks: Vec<(u8, u64, u64)> = (0..120).map(|i| ((i % 4) as u8, 36 + i / 4 * 3, 1 + i / 4 % 3)).collect();
    let units = 130_000;
    let trace = timed("made in", || common::edf(4, &tasks, units));
    let view = common::edf_view(4, &tasks, units);
    let records: usize = trace.cores.iter().map(Vec::len).sum();
    println!("{records} records, {} jobs, {} tasks, 4 cores", jobs(&trace).len(), tasks.len());
    let bytes = timed("trace.bin to bytes", || trace.to_bytes());
    let trace = timed("trace.bin from bytes", || Trace::from_bytes(&bytes)).expect("what was just written");
    let summary = timed("judged", || judge(&view, &trace));
    println!("{}; {} jobs missed", summary.headline(), summary.total.missed);
    timed("rules (part of judging)", || tactus_trace::check::all(&view, &trace, tactus_time::Duration::ZERO));
    timed("segments", || schedule(&trace).len());
    println!(
        "{:30} {:8.1} MiB",
        "perfetto",
        timed("perfetto in", || perfetto(&view, &trace)).len() as f64 / f64::from(1 << 20)
    );
    timed("litmus", || litmus(&view, &trace));
}
