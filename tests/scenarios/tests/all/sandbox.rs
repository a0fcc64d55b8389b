//! The kernel in guest mode, with the sandbox monitor below it: the run is the one that it has alone.

use std::fs;
use std::process::Command;
use tactus_scenarios::{command, file, tactus, Finished, Scratch};

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

/// What the trial's kernel and the monitor say, where this is the kernel's last attempt.
fn trial(last: usize) -> (Option<i32>, String) {
    let scratch = Scratch::new("sandbox");
    let text = format!(
        "[system]\ncores = 1\nduration = \"10 ms\"\nmemory = \"{} MiB\"\n[policy]\nkind = \"partitioned-fp\"\n\
         [[task]]\nname = \"t\"\nperiod = \"10 ms\"\nexecution = \"1 ms\"\npriority = 1\n",
        256 + last
    );
    let system = scratch.write("trial.toml", &text);
    let out = scratch.path().join("out");
    let mut call = Command::new(command());
    call.arg("run")
        .arg(&system)
        .arg("--out")
        .arg(&out)
        .arg("--in-sandbox")
        .env("TACTUS_KERNEL", "tactus-sandbox-trial");
    let said = call.output().expect("the command starts");
    let log = fs::read_to_string(out.join("run.log"));
    let log = log.unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&said.stderr)));
    (said.status.code(), log)
}

/// A kernel that may do nothing of this meets what a machine without it would do: an exception, or a port that answers nothing.
#[test]
fn what_a_kernel_may_not_do_comes_to_nothing() {
    let (_, log) = trial(0);
    let attempts: Vec<&str> = log.lines().filter_map(|line| line.strip_prefix("trial: ")).collect();
    let outcome = |attempt: &str| match attempt {
        _ if attempt.contains("register") => ": general protection",
        _ if attempt.contains("byte of port") => ": goes on, 0xff",
        _ if attempt.starts_with("read port") && !attempt.contains("memory") => ": goes on, 0xffffffff",
        _ if attempt.starts_with("write port") => ": goes on, 0x80000000",
        _ if attempt.contains("memory") || attempt.contains("controller") || attempt.contains("there are not") => {
            ": general protection"
        }
        // The bit stays: the kernel goes on in guest mode.
        _ if attempt.starts_with("virtualisation off") => ": goes on, 0x500",
        _ if attempt.starts_with("interrupt itself") => ": goes on, 0x44400",
        _ => ": invalid opcode",
    };
    let (end, attempts) = attempts.split_last().expect("it tells what it tries");
    assert_eq!(*end, "ends", "{log}");
    assert!(attempts.len() > 80, "{}", attempts.len());
    let wrong: Vec<&&str> = attempts.iter().filter(|attempt| !attempt.ends_with(outcome(attempt))).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
    let counts =
        "monitor: exits: end of the run 1, modes turned on 2, ports 44, registers 30, instructions 8, interrupts 1";
    assert!(log.lines().last().is_some_and(|line| line.starts_with(counts)), "{log}");
}

/// What the monitor is called with makes no difference: each call is refused, in the same short time, and counted.
#[test]
fn every_call_of_the_monitor_is_refused_and_counted() {
    refuses(6, 10_000);
}

#[test]
#[ignore = "a million calls"]
fn every_one_of_a_million_calls_of_the_monitor_is_refused_and_counted() {
    refuses(7, 1_000_000);
}

fn refuses(last: usize, count: u64) {
    let (_, log) = trial(last);
    let line = log.lines().find_map(|line| line.strip_prefix(&format!("trial: {count} calls of the monitor: ")));
    let words: Vec<&str> = line.unwrap_or_else(|| panic!("{log}")).split_whitespace().collect();
    assert_eq!(words[0], count.to_string(), "{log}");
    let longest: u64 = words[7].parse().expect("ticks");
    println!("{count} calls, each in at most {longest} ticks");
    // 2 ns an instruction.
    assert!(longest < 1_000, "{longest}");
    assert!(log.contains(&format!("instructions {}", count + 8)) && log.contains("trial: ends"), "{log}");
}

/// After these no kernel goes on, and the monitor says where it was.
#[test]
fn a_kernel_that_touches_the_monitor_or_fails_twice_is_stopped_with_its_place() {
    for (last, words) in [
        (1, "monitor: the kernel touched 0x40000, which it may not, at 0x"),
        (2, "monitor: the kernel touched 0x45000, which it may not, at 0x"),
        (3, "monitor: the kernel touched 0x40000, which it may not, at 0x40000"),
        (4, "monitor: the kernel touched 0x4a000, which it may not, at 0x"),
        (5, "monitor: the kernel failed while it handled a failure, at 0x"),
    ] {
        let (status, log) = trial(last);
        assert!(log.contains(words) && !log.contains("trial: ends"), "{last}: {log}");
        assert!(status.is_some_and(|status| status > 1), "{status:?}");
    }
}
