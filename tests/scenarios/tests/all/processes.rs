//! What a command leaves of itself: nothing that runs, nothing half-made, and its true status, however it ends and whoever reads.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tactus_scenarios::{command, Scratch};

const LONG: &str = "[system]\nname = \"long\"\ncores = 1\nduration = \"100 s\"\n[policy]\nkind = \"partitioned-edf\"\n\
    [[task]]\nname = \"half\"\ncore = 0\nperiod = \"10 ms\"\nexecution = \"5 ms\"\n";

fn short() -> String {
    LONG.replace("100 s", "50 ms")
}

fn call(folder: &Path, words: &[&str]) -> Command {
    let mut call = Command::new(command());
    call.args(words).current_dir(folder).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    call
}

fn ended(mut call: Command) -> (i32, String) {
    let output = call.output().expect("the command starts");
    let words = [output.stdout, output.stderr].concat();
    (output.status.code().expect("no signal ended it"), String::from_utf8_lossy(&words).into_owned())
}

/// Whether it comes true before it has had ample time to.
fn soon(mut condition: impl FnMut() -> bool) -> bool {
    let begin = Instant::now();
    while !condition() {
        if begin.elapsed() > Duration::from_secs(60) {
            return false;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    true
}

/// Processes that work in this folder, by number: their names.
fn at_work(folder: &Path) -> Vec<(String, String)> {
    let folder = fs::canonicalize(folder).expect("it is there");
    let all = fs::read_dir("/proc").expect("Linux has it").flatten();
    let here = all.filter(|it| fs::read_link(it.path().join("cwd")).is_ok_and(|at| at.starts_with(&folder)));
    here.map(|it| {
        let name = fs::read_to_string(it.path().join("comm")).unwrap_or_default();
        (it.file_name().to_string_lossy().into_owned(), name.trim().to_string())
    })
    .collect()
}

fn has_emulator(folder: &Path) -> bool {
    // It works in the folder of the results; beside it one is asked for its version. The kernel keeps 15 characters of a name.
    let results = folder.join("out/long");
    results.is_dir() && at_work(&results).iter().any(|(_, name)| name == "qemu-system-x86")
}

/// A run that lasts, begun in a folder of its own, with the emulator at work.
fn begun(scratch: &Scratch) -> Child {
    scratch.write("long.toml", LONG);
    let child = call(scratch.path(), &["run", "long.toml"]).spawn().expect("the command starts");
    assert!(soon(|| has_emulator(scratch.path())), "the emulator was not started");
    child
}

/// Waits until the signal has ended it. Who starts tests with a signal ignored starts everything so.
fn ends(run: &mut Child, signal: &str) {
    let ended = soon(|| run.try_wait().expect("it can be asked").is_some());
    if !ended {
        run.kill().expect("it runs");
        run.wait().expect("it ended");
    }
    assert!(ended, "{signal} did not end it: is it ignored where the tests were started?");
}

#[test]
fn whatever_signal_ends_a_run_nothing_runs_on_and_no_memory_file_is_left() {
    for signal in ["TERM", "INT", "HUP", "KILL"] {
        let scratch = Scratch::new("signal");
        let mut run = begun(&scratch);
        let sent = Command::new("kill").args(["-s", signal, &run.id().to_string()]).status();
        assert!(sent.is_ok_and(|it| it.success()), "kill -s {signal}");
        ends(&mut run, signal);
        assert!(soon(|| !has_emulator(scratch.path())), "{signal} left {:?}", at_work(scratch.path()));
        let left = fs::read_dir(scratch.path().join("out/long")).expect("the folder of results").flatten();
        let large: Vec<_> = left.filter(|it| it.metadata().is_ok_and(|it| it.len() > 4 << 20)).collect();
        assert!(large.is_empty(), "{signal} left {large:?}");
        assert!(!scratch.path().join("out/long/memory.img").exists());
    }
}

#[test]
fn whatever_signal_ends_a_build_neither_cargo_nor_what_a_build_script_began_runs_on() {
    const SCRIPT: &str = "fn main() { std::process::Command::new(\"sleep\").arg(\"900\").status().unwrap(); }";
    for signal in ["TERM", "INT", "KILL"] {
        let scratch = Scratch::new("building");
        for folder in ["slow/src", "here"] {
            fs::create_dir_all(scratch.path().join(folder)).expect("below the temporary folder");
        }
        scratch.write("slow/Cargo.toml", "[package]\nname = \"slow\"\nedition = \"2021\"\n[workspace]\n");
        scratch.write("slow/build.rs", SCRIPT);
        scratch.write("slow/src/main.rs", "fn main() {}");
        scratch.write(
            "long.toml",
            &(LONG.to_string() + "component = \"slow\"\n[[component]]\nname = \"slow\"\ncrate = \"slow\"\n"),
        );
        let mut run = call(scratch.path(), &["run", "long.toml"]).spawn().expect("the command starts");
        let sleeps = || at_work(scratch.path()).iter().any(|(_, name)| name == "sleep");
        assert!(soon(sleeps), "the build script was not started");
        let sent = Command::new("kill").args(["-s", signal, &run.id().to_string()]).status();
        assert!(sent.is_ok_and(|it| it.success()), "kill -s {signal}");
        ends(&mut run, signal);
        let ended = soon(|| at_work(scratch.path()).is_empty());
        assert!(ended, "{signal} left {:?}", at_work(scratch.path()));
    }
}

#[test]
fn a_second_run_of_a_system_is_refused_and_does_not_disturb_the_first() {
    let scratch = Scratch::new("twice");
    let mut first = begun(&scratch);
    let (status, words) = ended(call(scratch.path(), &["run", "long.toml"]));
    assert_eq!(status, 3, "{words}");
    assert!(words.contains("another run writes its results there"), "{words}");
    assert!(first.try_wait().expect("it can be asked").is_none(), "the first run was ended");
    assert!(has_emulator(scratch.path()));
    first.kill().expect("it runs");
    first.wait().expect("it ended");
}

#[test]
fn files_of_distinct_names_have_distinct_folders_of_results() {
    let scratch = Scratch::new("names");
    let files = ["a b.toml", "a-b.toml", "a+b.toml", "システム.toml", "система.toml", "system.toml"];
    for file in files {
        scratch.write(file, &short().replace("name = \"long\"\n", ""));
        let (status, words) = ended(call(scratch.path(), &["simulate", file]));
        assert_eq!(status, 0, "{file}: {words}");
    }
    let folders: Vec<_> = fs::read_dir(scratch.path().join("out")).expect("the results").flatten().collect();
    assert_eq!(folders.len(), files.len(), "{folders:?}");
    // A plain name is what it was.
    assert!(scratch.path().join("out/a-b/simulated").is_dir());
}

#[test]
fn no_file_of_a_run_is_written_to_where_a_link_leads() {
    let scratch = Scratch::new("links");
    scratch.write("long.toml", &short());
    let precious = scratch.write("precious", "what nobody may overwrite");
    let out = scratch.path().join("out/long");
    fs::create_dir_all(&out).expect("below the temporary folder");
    for name in ["memory.img", "system.img", "run.log", "run.emulator", "trace.bin", "summary.json", "report.html"] {
        symlink(&precious, out.join(name)).expect("a link");
    }
    let (status, words) = ended(call(scratch.path(), &["run", "long.toml"]));
    assert_eq!(status, 0, "{words}");
    assert_eq!(fs::read_to_string(&precious).expect("it is there"), "what nobody may overwrite");
}

#[test]
fn a_reader_that_goes_away_changes_neither_the_run_nor_its_status() {
    let scratch = Scratch::new("reader");
    scratch.write("long.toml", &short());
    scratch.write("bad.toml", &short().replace("5 ms", "50 ms").replace("10 ms", "60 ms"));
    let mut run = call(scratch.path(), &["run", "long.toml"]).spawn().expect("the command starts");
    drop(run.stdout.take());
    assert_eq!(run.wait().expect("it ended").code(), Some(0));
    assert!(scratch.path().join("out/long/report.html").exists(), "it did not come to its end");
    let overload = tactus_scenarios::file("examples/overload.toml");
    let overload = overload.to_str().expect("a plain path");
    let mut check = call(scratch.path(), &["check", overload]).spawn().expect("the command starts");
    drop(check.stdout.take());
    assert_eq!(check.wait().expect("it ended").code(), Some(1), "it is refused, whoever reads");
}

#[test]
fn a_folder_with_a_comma_in_its_name_is_a_folder() {
    let scratch = Scratch::new("comma");
    scratch.write("long.toml", &short());
    let (status, words) = ended(call(scratch.path(), &["run", "long.toml", "--out", "x,y=z"]));
    assert_eq!(status, 0, "{words}");
    assert!(scratch.path().join("x,y=z/report.html").exists());
}

#[test]
fn a_simulation_that_fits_no_memory_is_refused_with_its_size_and_a_remedy() {
    let scratch = Scratch::new("size");
    scratch.write("day.toml", &short().replace("50 ms", "86400 s").replace("10 ms", "100 us").replace("5 ms", "10 us"));
    let (status, words) = ended(call(scratch.path(), &["simulate", "day.toml"]));
    assert_eq!(status, 2, "{words}");
    assert!(
        words.contains("6,912,000,000 records") && words.contains("MiB") && words.contains("--duration"),
        "{words}"
    );
}

#[test]
fn devices_pipes_and_files_of_the_system_are_refused_at_once_wherever_a_file_is_read() {
    let scratch = Scratch::new("devices");
    let system = scratch.write("long.toml", &short());
    let fifo = scratch.path().join("fifo.toml");
    assert!(Command::new("mkfifo").arg(&fifo).status().is_ok_and(|it| it.success()));
    for (name, target) in [("zero", "/dev/zero"), ("kmsg", "/proc/kmsg")] {
        for ending in ["toml", "json", "csv", "xml"] {
            symlink(target, scratch.path().join(format!("{name}.{ending}"))).expect("a link");
        }
    }
    let files = ["zero.toml", "zero.json", "kmsg.toml", "kmsg.json", "fifo.toml"];
    let mut calls: Vec<Vec<&str>> = files.iter().map(|file| vec!["check", *file]).collect();
    for costs in ["/dev/zero", "/proc/kmsg", "fifo.toml"] {
        calls.push(vec!["check", "long.toml", "--costs", costs]);
    }
    for file in ["zero.csv", "zero.xml", "kmsg.csv", "fifo.toml"] {
        calls.push(vec!["convert", file, "made.toml"]);
    }
    calls.extend(["zero.toml", "kmsg.toml", "fifo.toml"].map(|file| vec!["check", file, "--assign", "made.toml"]));
    for words in calls {
        let mut child = call(scratch.path(), &words).spawn().expect("the command starts");
        let in_time = soon(|| child.try_wait().is_ok_and(|it| it.is_some()));
        let _ = child.kill();
        let output = child.wait_with_output().expect("it ended");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(in_time, "{words:?} hangs");
        assert_eq!(output.status.code(), Some(2), "{words:?}: {errors}");
        assert!(errors.contains("not an ordinary file"), "{words:?}: {errors}");
    }
    assert!(system.exists() && !scratch.path().join("made.toml").exists());
}

/// Calls a shell with a file system of its own, so small that a run's results do not fit, in `full`. None where that is not allowed.
fn on_a_small_disk(folder: &Path, kib: u32, line: &str) -> Option<(i32, String)> {
    let mount = format!("mount -t tmpfs -o size={kib}k small full");
    let shell = |line: &str| {
        let mut shell = Command::new("unshare");
        shell.args(["-rm", "sh", "-c", line]).current_dir(folder).env("TACTUS", command());
        ended(shell)
    };
    fs::create_dir_all(folder.join("full")).expect("below the temporary folder");
    (shell(&mount).0 == 0).then(|| shell(&format!("{mount} && {line}")))
}

#[test]
fn a_full_disk_is_told_and_leaves_nothing_half_made() {
    let scratch = Scratch::new("full");
    scratch.write("long.toml", &short());
    // What is full: the image, then the trace, then what is made of it.
    for kib in [80, 156, 176] {
        let line = "\"$TACTUS\" run long.toml --out full/out; status=$?; echo left: $(ls full/out); exit $status";
        let Some((status, words)) = on_a_small_disk(scratch.path(), kib, line) else {
            println!("left out: this computer lets nobody mount a file system of his own");
            return;
        };
        assert_eq!(status, 3, "{kib} KiB: {words}");
        assert!(words.contains("No space left on device"), "{kib} KiB: {words}");
        let left = words.lines().find_map(|line| line.strip_prefix("left:")).expect("the folder was listed");
        assert!(left.trim().is_empty(), "{kib} KiB: {words}");
    }
}

#[test]
fn a_build_without_a_network_has_none_or_is_refused() {
    let scratch = Scratch::new("network");
    scratch.write("long.toml", &short());
    let allowed = Command::new("unshare").args(["-rn", "true"]).output().is_ok_and(|it| it.status.success());
    let (status, words) = ended(call(scratch.path(), &["run", "long.toml", "--no-network"]));
    if allowed {
        assert_eq!(status, 0, "{words}");
    } else {
        assert_eq!(status, 3, "{words}");
        assert!(words.contains("unshare -rn is not possible here"), "{words}");
    }
    // Where there is no such program it is refused, and nothing is built instead.
    let mut without = call(scratch.path(), &["run", "long.toml", "--no-network"]);
    let path = scratch.path().join("bin");
    fs::create_dir_all(&path).expect("below the temporary folder");
    for folder in std::env::split_paths(&std::env::var_os("PATH").expect("PATH is set")) {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten().filter(|it| it.file_name() != "unshare") {
            let _ = symlink(entry.path(), path.join(entry.file_name()));
        }
    }
    without.env("PATH", &path);
    let (status, words) = ended(without);
    assert_eq!(status, 3, "{words}");
    assert!(words.contains("--no-network: unshare -rn is not possible here"), "{words}");
}
