//! The same file and seed give the same trace, byte for byte.

use std::fs;
use std::path::Path;
use tactus_scenarios::{file, Finished, Scratch};

/// Runs the system twice with its seed and once with another.
fn repeats(system: &Path, duration: &str) {
    let run = |seed: &str| Finished::run(system, &["--duration", duration, "--seed", seed]);
    let bytes = |run: &Finished, name| fs::read(run.file(name)).expect("a run leaves it");
    let (first, again, other) = (run("7"), run("7"), run("8"));
    let records: usize = first.trace().cores.iter().map(Vec::len).sum();
    assert!(records > 100, "{records} records are no schedule");
    assert!(bytes(&first, "trace.bin") == bytes(&again, "trace.bin"), "two runs with one seed differ");
    assert_eq!(bytes(&first, "summary.json"), bytes(&again, "summary.json"));
    assert_eq!(first.log, again.log);
    assert!(bytes(&first, "trace.bin") != bytes(&other, "trace.bin"), "the seed changes nothing");
    let length = bytes(&first, "trace.bin").len();
    println!("{}: {records} records, {length} bytes, twice the same; seed 8 differs", system.display());
}

#[test]
fn four_cores_under_mc2_repeat_a_run_byte_for_byte() {
    repeats(&file("examples/avionics.toml"), "1 s");
}

fn global(cores: usize, tasks: usize) -> String {
    let mut text = format!("[system]\ncores = {cores}\nduration = \"1 s\"\n[policy]\nkind = \"global-edf\"\n");
    for n in 0..tasks {
        let (period, longest) = (7 + 2 * n, 3 + n);
        text += &format!(
            "[[task]]\nname = \"t{n}\"\nperiod = \"{period} ms\"\nexecution = \"{longest} ms\"\n\
             actual = {{ min = \"1 ms\", max = \"{longest} ms\" }}\n"
        );
    }
    text
}

#[test]
fn two_cores_under_global_edf_repeat_a_run_byte_for_byte() {
    let scratch = Scratch::new("determinism");
    repeats(&scratch.write("two.toml", &global(2, 4)), "400 ms");
}

#[test]
fn eight_cores_under_global_edf_repeat_a_run_byte_for_byte() {
    let scratch = Scratch::new("determinism");
    repeats(&scratch.write("eight.toml", &global(8, 16)), "200 ms");
}
