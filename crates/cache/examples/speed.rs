//! How many accesses the model takes in a second of processor time on one core of the host (Linux).
//!
//! `cargo run --release -p tactus-cache --example speed` for all cases; for one of them, and with another number of accesses (to count
//! instructions), `speed CASE ACCESSES`, cases from 0. The last case is a real program: a stored run of valgrind's lackey, parsed once and
//! then repeated from memory, fetches and data.

use std::time::Duration;
use tactus_cache::lackey::{parse, Access};
use tactus_cache::{Geometry, Hierarchy, Kind, Owner};

const TRACE: &str = include_str!("../tests/data/program.trace");

/// Time that this thread has been on a core.
fn processor_time() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux tells the time on the processor");
    let nanos = text.split(' ').next().and_then(|word| word.parse().ok()).expect("the first word is nanoseconds");
    Duration::from_nanos(nanos)
}

fn main() {
    let mut numbers = std::env::args().skip(1).map(|word| word.parse::<u64>().expect("a number"));
    let (only, many) = (numbers.next(), numbers.next().unwrap_or(20_000_000));
    let geometry = Geometry::of("i7-2600").expect("it comes with Tactus");
    let cases = [
        ("sequential 64 KB, one core", 64 << 10, 1),
        ("random 32 KB, one core", 32 << 10, 1),
        ("random 128 KB, one core", 128u64 << 10, 1),
        ("random 128 KB shared by four cores, one write in four", 128 << 10, 4),
        ("random 32 MB, one core", 32 << 20, 1),
    ];
    for (number, &(name, bytes, cores)) in cases.iter().enumerate() {
        if only.is_some_and(|only| only != number as u64) {
            continue;
        }
        let mut model = Hierarchy::with_owners(geometry.clone(), 4).expect("a hierarchy that can be");
        let (mut random, in_order) = (1u64, name.starts_with('s'));
        let start = processor_time();
        for turn in 0..many {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            // Powers of two: a division would take a good part of the time of an access.
            let address = if in_order { turn * 4 } else { random >> 20 } & (bytes - 1);
            let kind = if turn % 4 == 3 { Kind::Write } else { Kind::Read };
            model.access(((turn as usize / 16) & (cores - 1)) * 2, address, kind, Owner(0));
        }
        report(name, many, processor_time() - start);
    }
    if only.is_none_or(|only| only == cases.len() as u64) {
        let trace = trace();
        let mut model = Hierarchy::with_owners(geometry, 4).expect("a hierarchy that can be");
        let start = processor_time();
        while model.events(0).accesses() < many {
            for (kind, address, size) in &trace {
                model.access_span(0, *address, *size, *kind, Owner(0));
            }
        }
        report("a stored program, fetches and data, one core", model.events(0).accesses(), processor_time() - start);
    }
}

/// The accesses of the stored run; one that reads and writes is two.
fn trace() -> Vec<(Kind, u64, u64)> {
    let accesses = TRACE.lines().filter_map(|line| parse(line.as_bytes()));
    let kinds = accesses.flat_map(|(access, address, size)| {
        let kinds = match access {
            Access::One(kind) => [Some(kind), None],
            Access::Modify => [Some(Kind::Read), Some(Kind::Write)],
        };
        kinds.into_iter().flatten().map(move |kind| (kind, address, size))
    });
    kinds.collect()
}

fn report(name: &str, many: u64, time: Duration) {
    println!("{name}: {:.1} million accesses a second", many as f64 / time.as_secs_f64() / 1e6);
}
