//! A hash of the simulated traces of random systems, to show that a change of the code left every schedule as it was.
//!
//! `cargo run --release -p tactus-sim --example trace_hashes [first seed] [how many]` before and after: equal output means
//! equal records, byte for byte. Each line is one family of systems.

use tactus_generate::{any, changing, changing_levels};
use tactus_model::{Costs, System};
use tactus_plan::setup;
use tactus_sim::simulate;

/// FNV-1a, 64 bits (Fowler, Noll and Vo).
struct Hash(u64);

impl Hash {
    fn bytes(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1).filter_map(|word| word.parse::<u64>().ok());
    let first = arguments.next().unwrap_or(0);
    let count = arguments.next().unwrap_or(1_000);
    type Draw = fn(u64) -> Option<System>;
    let families: [(&str, Draw); 3] =
        [("any", |seed| Some(any(seed))), ("changing", changing), ("levels", |seed| Some(changing_levels(seed)))];
    for (name, draw) in families {
        let (mut hash, mut systems, mut records) = (Hash(0xcbf2_9ce4_8422_2325), 0, 0);
        for system in (first..first + count).filter_map(draw) {
            let demand = |task: tactus_time::TaskId, job| system.tasks[task.index()].demand(system.seed, task, job);
            let Ok(trace) = simulate(&setup(&system, Vec::new(), &[]), system.duration, demand, &Costs::default())
            else {
                continue;
            };
            systems += 1;
            for record in trace.cores.iter().flatten() {
                records += 1;
                hash.bytes(&record.to_bytes());
            }
        }
        println!("{name}: {systems} systems, {records} records, {:016x}", hash.0);
    }
}
