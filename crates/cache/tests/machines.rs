//! The geometries that come with Tactus, and those that cannot be.

use tactus_cache::machine::{MachineError, MACHINES};
use tactus_cache::{Geometry, Inclusion, Index};

#[test]
fn the_machine_of_the_source_has_the_sources_figures() {
    let machine = Geometry::of("i7-2600").unwrap();
    assert_eq!(machine.processors(), 8);
    assert_eq!(machine.shared.shape.sets(), 8192);
    assert_eq!(machine.shared.inclusion, Inclusion::Inclusive);
    // Statement 21: 128 page colours.
    assert_eq!(machine.page_colours(), 128);
    // Statement 15: every line of 128 KB from memory takes 120.5 µs, of 10 MB 9.64 ms.
    let micros = |bytes: u64| (bytes / 64 * u64::from(machine.costs.memory)) as f64 / machine.clock as f64 * 1e6;
    assert_eq!(format!("{:.1} {:.0}", micros(128 << 10), micros(10 << 20)), "120.5 9638");
}

#[test]
fn every_machine_can_be_and_has_the_colours_that_its_users_know() {
    let colours: Vec<_> = MACHINES.iter().map(|(name, _)| Geometry::of(name).unwrap().page_colours()).collect();
    assert_eq!(colours, [128, 512, 32, 16]);
    assert!(matches!(Geometry::of("pentium"), Err(MachineError::NoSuchMachine(_))));
}

/// Set and slice come from different bits: every set of the sliced index is met equally often.
#[test]
fn the_slice_hash_spreads_lines_over_all_sets() {
    let mut shape = Geometry::of("i7-2600").unwrap().shared.shape;
    shape.index = Index::SandyBridge4;
    let mut met = vec![0u32; shape.sets()];
    for number in 0..shape.sets() as u64 * 64 {
        met[shape.set_of(number)] += 1;
    }
    assert!(met.iter().all(|times| *times == 64));
}

#[test]
fn a_geometry_that_cannot_be_is_refused_with_its_number() {
    let good = MACHINES[0].1;
    let cases = [
        ("ways = 16", "ways = 15", "power of two of sets"),
        ("ways = 16", "ways = 128", "128 ways: give 1 to 64"),
        ("ways = 16", "ways = 0", "0 ways: give 1 to 64"),
        ("cores = 4", "cores = 9", "9 cores: give 1 to 8"),
        ("cores = 4", "cores = 0", "0 cores: give 1 to 8"),
        ("threads = 2", "threads = 0", "0 threads of a core: give 1 to 8"),
        ("line = 64", "line = 48", "the line is 48: give a power of two"),
        ("line = 64", "line = 4", "4 bytes of a line: give 8 to 4096"),
        ("page = 4096", "page = 4000", "the page is 4000: give a power of two"),
        ("clock_hz = 3_400_000_000", "clock_hz = 0", "0 cycles in a second"),
        ("bytes = 8_388_608", "bytes = 262_144", "inclusive and has 262144 bytes"),
        ("inclusion = \"non-inclusive\"", "inclusion = \"victim\"", "cannot be filled by victims"),
        ("bytes = 8_388_608", "bytes = 0", "0 bytes in 16 ways"),
        ("protocol = \"MESIF\"", "protocol = \"MSI\"", "line 10"),
        ("next_line = false", "next_line = 3", "line 11"),
        ("next_line = false", "next_lines = false", "next_lines"),
        ("index = \"modulo\"", "index = \"random\"", "random"),
        ("memory = 200", "", "memory"),
        ("memory_busy = 30", "memory_busy = 201", "give memory_busy at most that"),
    ];
    for (from, to, word) in cases {
        let text = good.replacen(from, to, 1);
        assert_ne!(text, good, "{from} is not in the file");
        let error = Geometry::from_toml(&text).unwrap_err().to_string();
        assert!(error.contains(word), "{to}: {error}");
    }
}
