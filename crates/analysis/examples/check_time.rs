//! How long a check takes: `cargo run --release -p tactus-analysis --example check_time`.
//!
//! Draws systems of 120 tasks, every policy in turn, up to and over full utilisation, and prints the slowest check of
//! each policy and how many were accepted.

use std::collections::BTreeMap;
use std::time::{Duration as WallTime, Instant as WallClock};
use tactus_model::Costs;
use tactus_sim::generate::Draw;
use tactus_time::Duration;

fn main() {
    let us = Duration::from_micros;
    let costs = Costs { release: us(3), schedule: us(5), switch: us(2), inter_core: us(4), complete: us(1) };
    for (what, costs) in [("without costs", Costs::default()), ("with costs", costs)] {
        let mut slowest: BTreeMap<String, (WallTime, u64, u32, u32)> = BTreeMap::new();
        for seed in 0..210 {
            let mut draw = Draw::from_seed(seed);
            draw.tasks = 120;
            draw.duration = Duration::from_secs(10);
            let system = draw.system();
            let start = WallClock::now();
            let check = tactus_analysis::check(&system, &costs);
            let took = start.elapsed();
            let entry = slowest.entry(format!("{:?}", system.policy)).or_default();
            if took > entry.0 {
                (entry.0, entry.1) = (took, seed);
            }
            entry.2 += 1;
            entry.3 += u32::from(check.accepted);
        }
        println!("{what}");
        for (policy, (took, seed, n, accepted)) in slowest {
            println!("  {:6.1} ms  seed {seed:3}  accepted {accepted} of {n}  {policy}", took.as_secs_f64() * 1e3);
        }
    }
}
