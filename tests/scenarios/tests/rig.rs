//! The rig as a person calls it: a sweep that is killed on its way goes on where it was, with the same rows and none measured
//! twice; what a system did under MC² is done again with every structure.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tactus_scenarios::{command, file, tactus, Finished, Scratch};

const STRUCTURES: [&str; 4] = ["scan", "cpupri", "cpudl", "tournament"];
/// Operations of a run, for each processor and for all together.
const OPERATIONS: usize = 11;

fn sweep(out: &Path) -> Command {
    let mut command = Command::new(command());
    command.args(["rig", "compare", "--cores", "1,2", "--structures", &STRUCTURES.join(",")]);
    command.args(["--real-time", "--cycle", "1 ms", "--cycles", "120", "--out"]).arg(out);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// What tells one row from another.
fn name(line: &str) -> String {
    let row: serde_json::Value = serde_json::from_str(line).unwrap();
    format!("{} {} {} {}", row["directory"], row["processors"], row["processor"], row["operation"])
}

#[test]
fn a_sweep_that_is_killed_goes_on_where_it_was_and_measures_nothing_twice() {
    let folder = Scratch::new("rig");
    let file = folder.path().join("compare.jsonl");
    let read = || std::fs::read_to_string(&file).unwrap_or_default();
    let here = std::thread::available_parallelism().map_or(1, usize::from);
    let rows_of = |processors: usize| OPERATIONS * (processors + 1);
    let all: usize = [1, 2].iter().filter(|n| **n <= here).map(|n| STRUCTURES.len() * rows_of(*n)).sum();

    // Killed as soon as two runs are in the file.
    let mut first = sweep(folder.path()).spawn().unwrap();
    let begin = Instant::now();
    while read().lines().count() < 2 * rows_of(1) {
        if let Some(status) = first.try_wait().unwrap() {
            let said = first.wait_with_output().unwrap();
            let said = String::from_utf8_lossy(&said.stderr).into_owned();
            assert!(said.contains("cannot be locked"), "{status}: {said}");
            println!("left out: {said}");
            return;
        }
        assert!(begin.elapsed() < Duration::from_secs(60), "nothing was measured: {}", read());
        std::thread::sleep(Duration::from_millis(2));
    }
    first.kill().unwrap();
    first.wait().unwrap();
    let before = read();
    let there = before.lines().count();
    assert!(there < all, "it was through before it could be killed: {there} of {all} rows");

    // As if the second run had been broken off while it was written, in the middle of a row.
    let whole: Vec<&str> = before.lines().take(2 * rows_of(1)).collect();
    let kept = whole[..whole.len() - 4].join("\n");
    std::fs::write(&file, format!("{kept}\n{}", &whole[whole.len() - 4][..30])).unwrap();

    let second = sweep(folder.path()).output().unwrap();
    assert!(second.status.success(), "{}", String::from_utf8_lossy(&second.stderr));
    let after = read();
    let names: BTreeSet<String> = after.lines().map(name).collect();
    assert_eq!((after.lines().count(), names.len()), (all, all), "each row once");
    // The run that was whole has not been measured again.
    let whole = &whole[..rows_of(1)];
    assert_eq!(after.lines().take(rows_of(1)).collect::<Vec<_>>(), whole);

    // All is there: the same command measures nothing, and tells the same.
    let third = sweep(folder.path()).output().unwrap();
    assert!(third.status.success());
    assert_eq!(read(), after);
    assert_eq!(third.stdout, second.stdout);
    for plot in ["preempt", "find", "pull-find", "push"] {
        let plot = std::fs::read_to_string(folder.path().join(format!("{plot}.svg"))).unwrap();
        assert!(plot.matches("<title>").count() >= STRUCTURES.len());
    }
}

#[test]
fn what_a_system_did_under_mc2_is_done_again_in_the_rig_with_every_structure() {
    let run = Finished::run(&file("examples/avionics.toml"), &["--duration", "300 ms"]);
    let folder = run.file("trace.bin").parent().unwrap().to_path_buf();
    let said = tactus(["rig".as_ref(), "replay".as_ref(), folder.as_os_str()]);
    assert_eq!(said.status, 0, "{}\n{}", said.output, said.errors);
    println!("{}", said.output);
    let head = said.output.lines().find(|line| line.starts_with("replay")).unwrap();
    assert!(head.contains("MC²") && head.contains("4 cores"), "{head}");
    // All that was released, and as much that ended, once with each of the structures.
    let events = head.split("cores: ").nth(1).unwrap().split(", at most").next().unwrap();
    let held: Vec<&str> = said.output.lines().filter(|line| line.contains(events) && line.ends_with("held")).collect();
    assert_eq!(held.len(), 12, "{}", said.output);
}
