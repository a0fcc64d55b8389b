//! How many jobs of one core the simulator finishes per second: partitioned EDF, without recording, without costs.
//!
//! ```text
//! cargo run --release -p tactus-sim --example throughput [tasks] [virtual seconds]
//! ```
//!
//! For instructions per job, which no busy machine disturbs, run the built example under
//! `valgrind --tool=callgrind --toggle-collect='*simulate_into*'` with few seconds and divide.

use std::process::ExitCode;
use tactus_policy::{PolicyConfig, PolicySpec, Task};
use tactus_record::NoSink;
use tactus_sim::{simulate_into, Costs};
use tactus_time::{CoreId, Duration, Level, TaskId};

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let mut number = |default: u64| arguments.next().map_or(Ok(default), |text| text.parse());
    let (Ok(tasks @ 1..=10_000), Ok(seconds @ 1..=1_000_000)) = (number(100), number(2_000)) else {
        eprintln!("usage: throughput [tasks: 1 to 10000] [virtual seconds: 1 to 1000000]");
        return ExitCode::from(2);
    };
    let setup = PolicyConfig {
        cores: 1,
        kind: PolicySpec::PartitionedEdf,
        tasks: (0..tasks).map(|i| task(i, tasks)).collect(),
    };
    let demands: Vec<Duration> = setup.tasks.iter().map(|task| task.budget).collect();
    let demand = |task: TaskId, _| demands[task.index()];
    let start = std::time::Instant::now();
    let counts = match simulate_into(&setup, Duration::from_secs(seconds), demand, &Costs::default(), &mut NoSink) {
        Ok(counts) => counts,
        Err(e) => {
            eprintln!("{e}");
            return ExitCode::FAILURE;
        }
    };
    let took = start.elapsed().as_secs_f64();
    let rate = counts.jobs as f64 / took;
    println!(
        "partitioned EDF, 1 core, {tasks} tasks, {seconds} s: {} jobs in {} decisions",
        counts.jobs, counts.entries
    );
    println!("{took:.3} s, {rate:.0} jobs per second");
    ExitCode::SUCCESS
}

/// Periods spread over 10 to 200 ms without a common divisor above 1 µs, so that releases rarely coincide; 90 %
/// utilisation in equal parts.
fn task(i: u64, n: u64) -> Task {
    let spread = if n > 1 { 20_f64.powf(i as f64 / (n - 1) as f64) } else { 1.0 };
    let period = Duration::from_micros((10_000.0 * spread) as u64 + i % 7);
    let budget = Duration::from_nanos(period.as_nanos() * 9 / (10 * n));
    Task { level: Level::A, core: Some(CoreId(0)), offset: Duration::ZERO, period, deadline: period, budget }
}
