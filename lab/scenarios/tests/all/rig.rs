//! The rig as a person calls it: a sweep that is killed on its way goes on where it was, with the same rows and none measured
//! twice; what a system did under MC² is done again with every structure, checked and measured; each measurement leaves rows
//! and a picture of them, and a long one tells how far it is.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tactus_lab_scenarios::{command, lab};
use tactus_scenarios::{file, Finished, Scratch};

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
    let said = lab(["rig".as_ref(), "replay".as_ref(), folder.as_os_str()]);
    assert_eq!(said.status, 0, "{}\n{}", said.output, said.errors);
    println!("{}", said.output);
    let head = said.output.lines().find(|line| line.starts_with("replay")).unwrap();
    assert!(head.contains("MC²") && head.contains("4 cores"), "{head}");
    // All that was released, and as much that ended, once with each of the structures.
    let events = head.split("cores: ").nth(1).unwrap().split(", at most").next().unwrap();
    let held: Vec<&str> = said.output.lines().filter(|line| line.contains(events) && line.ends_with("held")).collect();
    assert_eq!(held.len(), 12, "{}", said.output);

    // Measured, it ends soon also where there are fewer cores than four.
    let out = Scratch::new("rig-replay");
    let begin = Instant::now();
    let arguments = ["--mode", "performance", "--oversubscribe", "--stamp", "lfence", "--out"].map(OsStr::new);
    let arguments =
        [&[OsStr::new("rig"), "replay".as_ref(), folder.as_os_str()], &arguments[..], &[out.path().as_ref()]];
    let said = lab(arguments.concat());
    if said.errors.contains("cannot be locked") {
        return println!("left out: {}", said.errors);
    }
    assert_eq!(said.status, 0, "{}\n{}", said.output, said.errors);
    assert!(begin.elapsed() < Duration::from_secs(60), "{:?}", begin.elapsed());
    let whole: Vec<&str> =
        said.output.lines().filter(|line| line.contains(events) && line.contains("measured")).collect();
    assert_eq!(whole.len(), 12, "{}", said.output);
    picture_has_all(out.path(), "replay", 12 * OPERATIONS * 5);

    if std::thread::available_parallelism().is_ok_and(|cores| cores.get() < 4) {
        let refused = lab(["rig".as_ref(), "replay".as_ref(), folder.as_os_str(), "--mode=performance".as_ref()]);
        assert_eq!(refused.status, 2, "{}", refused.errors);
        assert!(refused.errors.contains("--oversubscribe"), "{}", refused.errors);
    }
}

/// The rows are so many, and the picture has a box for each that has durations.
fn picture_has_all(folder: &Path, name: &str, rows: usize) {
    let read = |end: &str| std::fs::read_to_string(folder.join(format!("{name}.{end}"))).unwrap();
    let (lines, picture) = (read("jsonl"), read("svg"));
    assert_eq!(lines.lines().count(), rows);
    let measured = |line: &&str| !serde_json::from_str::<serde_json::Value>(line).unwrap()["durations"].is_null();
    let measured = lines.lines().filter(measured).count();
    assert!(measured > rows / 2, "{measured} of {rows}");
    assert_eq!(picture.matches("<title>").count(), measured);
    for word in ["find", "empty", "cycles", "median", "processor"] {
        assert!(picture.contains(word), "{word}");
    }
}

#[test]
fn a_measured_run_leaves_rows_and_a_picture_and_says_now_and_then_how_far_it_is() {
    let out = Scratch::new("rig-run");
    let arguments =
        ["rig", "run", "--mode", "performance", "--processors", "1", "--structure", "cpupri", "--real-time"];
    // A little longer than it takes until a line is written where there is no terminal.
    let arguments = [&arguments[..], &["--cycles", "1200", "--out"]].concat();
    let said = lab(arguments.into_iter().map(OsStr::new).chain([out.path().as_ref()]));
    if said.errors.contains("cannot be locked") {
        return println!("left out: {}", said.errors);
    }
    assert_eq!(said.status, 0, "{}\n{}", said.output, said.errors);
    let told: Vec<&str> = said.errors.lines().collect();
    assert!(told.len() == 1 && told[0].contains("cpupri · binary-heap · 1 processor: "), "{}", said.errors);
    let part: u32 = told[0].split(": ").nth(1).unwrap().trim_end_matches(" %").parse().unwrap();
    assert!((70..=99).contains(&part), "{}", said.errors);
    assert!(!said.output.contains("processor: "), "{}", said.output);
    picture_has_all(out.path(), "run", OPERATIONS * 2);
}

#[test]
fn a_tested_run_leaves_what_was_counted() {
    let out = Scratch::new("rig-test");
    let arguments = ["rig", "run", "--structure", "scan", "--processors", "3", "--cycles", "300", "--out"];
    let said = lab(arguments.map(OsStr::new).into_iter().chain([out.path().as_ref()]));
    assert_eq!(said.status, 0, "{}\n{}", said.output, said.errors);
    let lines = std::fs::read_to_string(out.path().join("run.jsonl")).unwrap();
    assert_eq!(lines.lines().count(), OPERATIONS * 4);
    let all: Vec<serde_json::Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let count = |operation: &str| {
        let of = all.iter().find(|row| row["operation"] == operation && row["processor"].is_null()).unwrap();
        of["count"].as_u64().unwrap()
    };
    assert!(count("enqueue") > 0 && count("pull") == count("push"), "{lines}");
    assert!(all.iter().all(|row| row["durations"].is_null()) && !out.path().join("run.svg").exists());
}
