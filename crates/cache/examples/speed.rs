//! How many accesses the model takes in a second of processor time on one core of the host (Linux).
//!
//! `cargo run --release -p tactus-cache --example speed`

use std::time::Duration;
use tactus_cache::{Geometry, Hierarchy, Kind, Owner};

/// Time that this thread has been on a core.
fn processor_time() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux tells the time on the processor");
    let nanos = text.split(' ').next().and_then(|word| word.parse().ok()).expect("the first word is nanoseconds");
    Duration::from_nanos(nanos)
}

fn main() {
    let geometry = Geometry::of("i7-2600").expect("it comes with Tactus");
    for (name, bytes, cores) in [
        ("sequential 64 KB, one core", 64 << 10, 1),
        ("random 32 KB, one core", 32 << 10, 1),
        ("random 128 KB, one core", 128u64 << 10, 1),
        ("random 128 KB shared by four cores, one write in four", 128 << 10, 4),
        ("random 32 MB, one core", 32 << 20, 1),
    ] {
        let mut model = Hierarchy::with_owners(geometry.clone(), 4).expect("a hierarchy that can be");
        let (mut random, many) = (1u64, 20_000_000u64);
        let start = processor_time();
        for turn in 0..many {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let address = if name.starts_with('s') { turn * 4 % bytes } else { (random >> 20) % bytes };
            let kind = if turn % 4 == 3 { Kind::Write } else { Kind::Read };
            model.access((turn as usize / 16) % cores * 2, address, kind, Owner(0));
        }
        let rate = many as f64 / (processor_time() - start).as_secs_f64() / 1e6;
        println!("{name}: {rate:.1} million accesses a second");
    }
}
