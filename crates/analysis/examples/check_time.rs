//! How long a check takes: `cargo run --release -p tactus-analysis --example check_time`.
//!
//! Draws systems of 120 tasks, every policy in turn, up to and over full utilisation, and prints the slowest check of
//! each policy and how many were accepted; then the same for the sensitivity of every task. With the path of a system
//! file, that file is checked and timed instead. Times are of the processor, so that other load does not count.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration as WallTime;
use tactus_analysis::check::QUICK;
use tactus_analysis::Growth;
use tactus_generate::Draw;
use tactus_model::{Costs, System};
use tactus_time::Duration;

fn main() {
    let us = Duration::from_micros;
    if let Some(path) = std::env::args_os().nth(1) {
        return of_file(path.as_ref());
    }
    let costs = Costs { release: us(3), schedule: us(5), switch: us(2), inter_core: us(4), complete: us(1) };
    for (what, costs) in [("without costs", Costs::default()), ("with costs", costs)] {
        let mut slowest: BTreeMap<String, (WallTime, u64, u32, u32)> = BTreeMap::new();
        let mut searched: BTreeMap<String, (WallTime, usize, usize)> = BTreeMap::new();
        for seed in 0..210 {
            let mut draw = Draw::from_seed(seed);
            draw.tasks = 120;
            draw.duration = Duration::from_secs(10);
            let system = draw.system();
            let start = spent();
            let check = tactus_analysis::check(&system, &costs);
            let took = spent() - start;
            let entry = slowest.entry(format!("{:?}", system.policy)).or_default();
            if took > entry.0 {
                (entry.0, entry.1) = (took, seed);
            }
            entry.2 += 1;
            entry.3 += u32::from(check.accepted);
            let start = spent();
            let growth = tactus_analysis::sensitivity(&system, &costs, QUICK);
            let entry = searched.entry(format!("{:?}", system.policy)).or_default();
            entry.0 = entry.0.max(spent() - start);
            entry.1 += growth.iter().filter(|g| **g != Growth::Unknown).count();
            entry.2 += growth.len();
        }
        println!("{what}");
        for (policy, (took, seed, n, accepted)) in slowest {
            println!("  {:6.1} ms  seed {seed:3}  accepted {accepted} of {n}  {policy}", took.as_secs_f64() * 1e3);
        }
        for (policy, (took, known, all)) in searched {
            println!("  {:6.1} ms  sensitivity of {known} of {all} tasks  {policy}", took.as_secs_f64() * 1e3);
        }
    }
}

/// What this thread has had of a processor so far.
fn spent() -> WallTime {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux tells it");
    let nanos = text.split(' ').next().and_then(|n| n.parse().ok()).expect("the first number");
    WallTime::from_nanos(nanos)
}

/// Ten checks of one file; the slowest of each counts.
fn of_file(path: &Path) {
    let system = match System::read(path) {
        Ok(system) => system,
        Err(problems) => return eprintln!("{problems}"),
    };
    let us = Duration::from_micros;
    let costs = Costs { release: us(3), schedule: us(5), switch: us(2), inter_core: us(4), complete: us(1) };
    for (what, costs) in [("without costs", Costs::default()), ("with costs", costs)] {
        let (mut check, mut growth) = (WallTime::ZERO, WallTime::ZERO);
        let mut known = 0;
        for _ in 0..10 {
            let start = spent();
            std::hint::black_box(tactus_analysis::check(&system, &costs));
            check = check.max(spent() - start);
            let start = spent();
            let all = tactus_analysis::sensitivity(&system, &costs, QUICK);
            growth = growth.max(spent() - start);
            known = all.iter().filter(|g| **g != Growth::Unknown).count();
        }
        let n = system.tasks.len();
        println!("{what}: check {check:.1?}, sensitivity {growth:.1?} ({known} of {n} tasks)");
    }
}
