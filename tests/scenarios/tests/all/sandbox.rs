//! The kernel in guest mode, with the sandbox monitor below it: the run is the one that it has alone.

use std::fs;
use tactus_scenarios::{file, tactus, Finished};

/// What the monitor says at the end of a run in which the kernel asked for nothing but to turn long mode on.
const EXITS: &str = "monitor: exits: end of the run 1, modes turned on 1\n";

/// The trace is the same, byte for byte, and no exit is on the way of scheduling: two in all, whatever the number of decisions.
fn runs_as_alone(name: &str, more: &[&str]) {
    let system = file(name);
    let sandboxed: Vec<&str> = more.iter().copied().chain(["--in-sandbox"]).collect();
    let (alone, below) = (Finished::run(&system, more), Finished::run(&system, &sandboxed));
    let records: usize = alone.trace().cores.iter().map(Vec::len).sum();
    let bytes = |run: &Finished| fs::read(run.file("trace.bin")).expect("a run leaves it");
    assert!(bytes(&alone) == bytes(&below), "{name}: the trace in a sandbox is another one");
    let log = |run: &Finished| fs::read_to_string(run.file("run.log")).expect("a run leaves it");
    assert!(log(&below).ends_with(EXITS), "{name}: {}", log(&below));
    assert!(!log(&alone).contains("monitor:"));
    println!("{name}: {records} records, the same in a sandbox, with two exits in all");
}

#[test]
fn a_kernel_in_a_sandbox_leaves_the_same_trace_with_two_exits_in_all() {
    runs_as_alone("examples/five-jobs.toml", &[]);
    runs_as_alone("examples/server-tree.toml", &["--duration", "600 ms"]);
    runs_as_alone("examples/resources-edf.toml", &[]);
}

#[test]
fn a_system_with_several_cores_is_refused_in_a_sandbox() {
    let avionics = file("examples/avionics.toml");
    let said = tactus(["run", avionics.to_str().expect("a name"), "--in-sandbox"]);
    assert_eq!(said.status, 2, "{}", said.errors);
    assert!(said.errors.contains("it has several cores, and a sandbox has one so far"), "{}", said.errors);
}
