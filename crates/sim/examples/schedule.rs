//! Simulates a plain task set and prints its schedule, for comparison with other simulators.
//!
//! ```text
//! schedule POLICY CORES DURATION REPEAT < tasks.csv
//! ```
//!
//! POLICY: `partitioned-rm`, `partitioned-edf`, `global-rm`, `global-edf`. Each line of the input is a task,
//! `core,offset,period,deadline,execution` in nanoseconds (core empty for global policies). The first line of the output tells
//! the jobs finished and the seconds that a run took with and without keeping its records (best of REPEAT); each
//! further line is a stretch of time in which a core ran a job: `core,start,end,task,job`.

use std::io::Read;
use std::process::ExitCode;
use tactus_policy::{PolicyConfig, PolicySpec, Task};
use tactus_record::{EventKind, NoSink, Record};
use tactus_sim::{simulate, simulate_into, Costs};
use tactus_time::{CoreId, Duration, Instant, Level, TaskId};

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("schedule: {message}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<(), String> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [policy, cores, duration, repeat] = arguments.as_slice() else {
        return Err("usage: schedule POLICY CORES DURATION REPEAT < tasks.csv".into());
    };
    let kind = match policy.as_str() {
        "partitioned-rm" => PolicySpec::PartitionedRm,
        "partitioned-edf" => PolicySpec::PartitionedEdf,
        "global-rm" => PolicySpec::GlobalRm,
        "global-edf" => PolicySpec::GlobalEdf,
        other => return Err(format!("no policy is called {other:?}")),
    };
    let duration = Duration::from_nanos(number(duration)?);
    let mut input = String::new();
    std::io::stdin().read_to_string(&mut input).map_err(|e| e.to_string())?;
    let tasks = input.lines().map(task).collect::<Result<Vec<Task>, String>>()?;
    let setup = PolicyConfig { cores: number(cores)? as usize, kind, tasks };
    let demand = |task: TaskId, _| setup.tasks[task.index()].budget;

    let (mut kept, mut unkept) = (f64::INFINITY, f64::INFINITY);
    let mut jobs = 0;
    for _ in 0..number(repeat)? {
        let start = std::time::Instant::now();
        drop(simulate(&setup, duration, demand, &Costs::default()).map_err(|e| e.to_string())?);
        kept = kept.min(start.elapsed().as_secs_f64());
        let start = std::time::Instant::now();
        let counts = simulate_into(&setup, duration, demand, &Costs::default(), &mut NoSink);
        jobs = counts.map_err(|e| e.to_string())?.jobs;
        unkept = unkept.min(start.elapsed().as_secs_f64());
    }
    println!("{jobs},{kept},{unkept}");
    let trace = simulate(&setup, duration, demand, &Costs::default()).map_err(|e| e.to_string())?;
    trace.cores.iter().for_each(|records| stretches(records));
    Ok(())
}

fn stretches(records: &[Record]) {
    let mut running: Option<(Instant, TaskId, u32)> = None;
    for record in records {
        if !matches!(record.kind, EventKind::Dispatch | EventKind::Preempt | EventKind::Complete | EventKind::End) {
            continue;
        }
        if let Some((start, task, job)) = running.take().filter(|r| r.0 < record.time) {
            println!("{},{},{},{},{job}", record.core, start.as_nanos(), record.time.as_nanos(), task.0);
        }
        running =
            record.task.filter(|_| record.kind == EventKind::Dispatch).map(|task| (record.time, task, record.job));
    }
}

fn task(line: &str) -> Result<Task, String> {
    let fields: Vec<&str> = line.split(',').collect();
    let [core, offset, period, deadline, execution] = fields.as_slice() else {
        return Err(format!("not a task: {line:?}; expected core,offset,period,deadline,execution"));
    };
    let core = match *core {
        "" => None,
        core => Some(CoreId(u8::try_from(number(core)?).map_err(|e| e.to_string())?)),
    };
    let time = |text| number(text).map(Duration::from_nanos);
    let (offset, period, deadline, budget) = (time(offset)?, time(period)?, time(deadline)?, time(execution)?);
    Ok(Task { level: Level::A, core, offset, period, deadline, budget })
}

fn number(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("not a number: {text:?}"))
}
