//! What a system of components needs beside calls, on the machine: memory by colour, buffers of two, channels, time-outs, a
//! console, devices; and components that fault and begin anew, as often as the system file allows.

use serde_json::Value;
use std::fs::Permissions;
use std::io::Write;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::PathBuf;
use std::process::Command;
use tactus_scenarios::{file, tactus, Finished, Scratch, Summary};

/// A system file with one core; `more` follows `[policy]`.
fn system(folder: &Scratch, head: &str, more: &str) -> PathBuf {
    let text = format!(
        "[system]\nname = \"services\"\ncores = 1\nduration = \"200 ms\"\n{head}\n\n[policy]\nkind = \"partitioned-edf\"\n\n{more}"
    );
    folder.write("system.toml", &text)
}

/// A component of the scenarios' own.
pub(crate) fn part(name: &str, more: &str) -> String {
    let folder = file("tests/scenarios/parts");
    format!("[[component]]\nname = \"{name}\"\ncrate = \"{}\"\n{more}\n\n", folder.display())
}

/// A component of `os/components/services`.
fn service(name: &str, more: &str) -> String {
    let folder = file("os/components/services");
    format!("[[component]]\nname = \"{name}\"\ncrate = \"{}\"\n{more}\n\n", folder.display())
}

/// A task every 10 ms, of the component with its name if there is one.
pub(crate) fn task(name: &str, own: bool, offset: u64) -> String {
    let body = if own { format!("component = \"{name}\"\n") } else { String::new() };
    format!(
        "[[task]]\nname = \"{name}\"\ncore = 0\nperiod = \"10 ms\"\noffset = \"{offset} ms\"\nexecution = \"1 ms\"\n{body}\n"
    )
}

/// Names of the components that were stopped, in order of time, and what they did.
pub(crate) fn stopped(run: &Finished) -> Vec<(String, String)> {
    let culprits = run.summary.json["culprits"].as_array().expect("the culprits");
    let text = |value: &Value| value.as_str().expect("a text").to_string();
    culprits.iter().map(|it| (text(&it["component_name"]), text(&it["fault"]))).collect()
}

/// Restarts as the summary tells them: how often until then, and whether it was given up.
pub(crate) fn restarts(run: &Finished) -> Vec<(u64, bool)> {
    let all = run.summary.json["restarts"].as_array().expect("the restarts");
    let all = all.iter().map(|it| (it["count"].as_u64().expect("a count"), it["given_up"].as_bool().expect("a truth")));
    all.collect()
}

#[test]
fn a_component_that_faults_begins_anew_and_its_tasks_next_jobs_run() {
    let folder = Scratch::new("restart");
    let flaky = part("flaky", "restarted-by = \"root\"\nrestarts = { most = 10, per = \"1 s\" }");
    let run = Finished::run(&system(&folder, "", &(flaky + &task("flaky", true, 0) + &task("steady", false, 0))), &[]);
    // Jobs 4, 9, 14 and 19 are the fifth of a life each: memory is what it was.
    assert_eq!(restarts(&run), [(1, false), (2, false), (3, false), (4, false)]);
    assert_eq!(stopped(&run).len(), 4, "{}", run.said.output);
    assert!(stopped(&run).iter().all(|(name, what)| name == "flaky" && what.starts_with("write to an address")));
    let faults = run.summary.json["culprits"].as_array().expect("the culprits");
    for (fault, job) in faults.iter().zip([4, 9, 14, 19]) {
        let (time, release) = (fault["time_ns"].as_u64().expect("a time"), job * 10_000_000);
        assert!((release..release + 1_000_000).contains(&time), "{time}");
    }
    assert_eq!(run.summary.json["total"]["aborted"], 4);
    assert_eq!(run.summary.task("flaky").completed(), 20);
    assert_eq!(run.summary.task("steady").missed(), 0);
    // A job that ended with its component did not do its work.
    assert_eq!((run.said.status, run.summary.outcome()), (1, "void"), "{}", run.said.output);
    assert_eq!(run.summary.task("flaky").missed(), 4);
    assert!(run
        .said
        .output
        .contains("void by flaky (its component was stopped in job 4): 4 jobs not as promised (flaky 4)"));
    assert!(run.said.output.contains("component flaky runs again"), "{}", run.said.output);
    assert!(run.log.contains("flaky was restarted 4 times"), "{}", run.log);
    assert!(run.text("report.html").contains("restart number 4"));
}

#[test]
fn a_component_that_faults_too_often_stays_stopped() {
    let folder = Scratch::new("limit");
    let flaky = part("flaky", "restarted-by = \"root\"\nrestarts = { most = 2, per = \"1 s\" }");
    let run = Finished::run(&system(&folder, "", &(flaky + &task("flaky", true, 0) + &task("steady", false, 0))), &[]);
    assert_eq!(restarts(&run), [(1, false), (2, false), (2, true)], "{}", run.said.output);
    assert_eq!(run.summary.json["total"]["aborted"], 3);
    // Fourteen jobs were begun and finished or aborted; the fifteenth took the task with it.
    assert_eq!(run.summary.task("flaky").completed(), 14);
    assert_eq!(run.summary.task("steady").missed(), 0);
    assert_eq!(run.said.status, 1);
    assert!(run.said.output.contains("component flaky stays stopped"), "{}", run.said.output);
    assert!(run.log.contains("flaky was restarted 2 times, and stays stopped"), "{}", run.log);
}

#[test]
fn faults_that_are_far_enough_apart_are_never_too_many() {
    let folder = Scratch::new("apart");
    // Two in 90 ms: the fifth jobs of two lives are 50 ms apart, those of three 100 ms.
    let flaky = part("flaky", "restarted-by = \"root\"\nrestarts = { most = 2, per = \"90 ms\" }");
    let run = Finished::run(&system(&folder, "", &(flaky + &task("flaky", true, 0))), &[]);
    assert_eq!(restarts(&run), [(1, false), (2, false), (3, false), (4, false)], "{}", run.said.output);
    assert_eq!((run.said.status, run.summary.outcome()), (1, "void"));
}

#[test]
fn a_component_that_begins_anew_fifty_times_makes_its_brand_each_time() {
    let folder = Scratch::new("phoenix");
    let parts = part(
        "phoenix",
        "brands = 1\nticks = \"1 ms\"\nrestarted-by = \"root\"\nrestarts = { most = 32, per = \"1 ms\" }",
    ) + &task("phoenix", true, 0).replace("10 ms", "4 ms").replace("1 ms", "500 us");
    let run = Finished::run(&system(&folder, "", &parts), &[]);
    // More lives than there can be brands. One that may not make its brand gives up.
    assert_eq!(stopped(&run).len(), 50, "{}", run.said.output);
    assert!(stopped(&run).iter().all(|(_, what)| what.starts_with("write to an address")), "{}", run.said.output);
    assert!(restarts(&run).len() >= 49, "{}", run.said.output);
}

#[test]
fn a_component_that_runs_on_two_cores_is_left_by_both_before_it_begins_anew() {
    let folder = Scratch::new("two-cores");
    let of_pair = |name: &str, core: u64, offset: u64, execution: &str| {
        task(name, false, offset)
            .replace("core = 0", &format!("core = {core}\ncomponent = \"pair\""))
            .replace("1 ms", execution)
    };
    let parts = part("pair", "restarted-by = \"root\"\nrestarts = { most = 10, per = \"1 s\" }")
        + &of_pair("first", 0, 2, "500 us")
        + &of_pair("long", 1, 0, "5 ms");
    let path = system(&folder, "", &parts);
    let text = std::fs::read_to_string(&path).expect("just written");
    folder.write("system.toml", &text.replace("cores = 1", "cores = 2"));
    let run = Finished::run(&path, &[]);
    assert_eq!(restarts(&run), [(1, false), (2, false), (3, false), (4, false)], "{}", run.said.output);
    // Each fault ends a job on each core.
    assert_eq!(run.summary.json["total"]["aborted"], 8, "{}", run.said.output);
    assert!(stopped(&run).iter().all(|(name, _)| name == "pair"));
    assert_eq!((run.summary.task("first").completed(), run.summary.task("long").completed()), (20, 20));
    assert_eq!((run.said.status, run.summary.outcome()), (1, "void"));
}

#[test]
fn another_component_restarts_a_service_and_callers_get_an_error() {
    let folder = Scratch::new("guard");
    let parts =
        part("fragile", "provides = [\"ask\"]\nrestarted-by = \"guard\"\nrestarts = { most = 4, per = \"1 s\" }")
            + &part("guard", "uses = { ask = \"fragile.ask\" }")
            + &part("stranger", "")
            + &task("guard", true, 0)
            + &task("stranger", true, 5);
    let run = Finished::run(&system(&folder, "", &parts), &[]);
    // Every third call is the death of a life; the fifth is one too many. Guard and stranger give up if an answer is wrong.
    let fragile = ("fragile".to_string(), "panicked at src/fragile.rs:14: assertion failed: call < 2".to_string());
    assert_eq!(stopped(&run), vec![fragile; 5], "{}", run.said.output);
    // The root restarts nothing here, and is told all the same.
    assert_eq!(restarts(&run), [(1, false), (2, false), (3, false), (4, false)], "{}", run.said.output);
    let by: Vec<_> =
        run.summary.json["restarts"].as_array().expect("the restarts").iter().map(|it| &it["by_name"]).collect();
    assert_eq!(by, ["guard"; 4]);
    assert!(run.log.contains("fragile was restarted 4 times by guard"), "{}", run.log);
    assert!(run.text("report.html").contains("restart number 4, restarted by guard"));
    assert_eq!(run.summary.task("guard").completed(), 20);
    assert_eq!(run.summary.task("stranger").completed(), 20);
}

#[test]
fn nobody_restarts_a_component_more_often_than_the_file_says_within_its_time() {
    let folder = Scratch::new("guard-again");
    let parts =
        part("fragile", "provides = [\"ask\"]\nrestarted-by = \"guard\"\nrestarts = { most = 2, per = \"95 ms\" }")
            + &part("guard", "uses = { ask = \"fragile.ask\" }")
            + &task("guard", true, 0);
    let run = Finished::run(&system(&folder, "", &parts), &[]);
    // Six without a limit. Whenever one is refused, so are 500 more that the kernel is asked for at once.
    let all = run.summary.json["restarts"].as_array().expect("the restarts");
    let times: Vec<u64> = all.iter().map(|it| it["time_ns"].as_u64().expect("a time")).collect();
    assert_eq!(times.len(), 4, "{}", run.said.output);
    // They are told when they are over.
    assert!(times.windows(3).all(|it| it[2] - it[0] >= 94_000_000), "{times:?}");
    assert_eq!(run.summary.task("guard").completed(), 20, "{}", run.said.output);
}

#[test]
fn a_buffer_is_seen_by_its_two_components_and_a_third_one_faults() {
    let folder = Scratch::new("buffer");
    let parts = service("memory", "memory-manager = true\nprovides = [\"attach\"]")
        + &part("camera", "uses = { attach = \"memory.attach\" }")
        + &part("filter", "uses = { attach = \"memory.attach\" }")
        + &part("thief", "uses = { attach = \"memory.attach\" }")
        + "[machine]\ncolours = 4\n\n[[buffer]]\nname = \"frames\"\nsize = \"12 KiB\"\nbetween = [\"camera\", \"filter\"]\n\
           read-only = \"filter\"\ncolours = [1, 2]\n\n[[buffer]]\nname = \"spare\"\nsize = \"4 KiB\"\nbetween = [\"camera\"]\n\n"
        + &task("camera", true, 0)
        + &task("filter", true, 2)
        + &task("thief", true, 4);
    let run = Finished::run(&system(&folder, "", &parts), &[]);
    let what = |name: &str, what: &str| (name.to_string(), what.to_string());
    let expected = [
        what("thief", "read of an address that it does not have"),
        what("filter", "write to an address that it does not have or may only read"),
    ];
    assert_eq!(stopped(&run), expected, "{}", run.said.output);
    assert_eq!(run.summary.task("camera").completed(), 20);
}

#[test]
fn frames_come_in_the_colour_asked_for_and_every_misuse_is_refused() {
    for cores in [1, 2] {
        let folder = Scratch::new("colours");
        let parts = part("painter", "memory-manager = true")
            + "[machine]\ncolours = 4\n\n"
            + &task("painter", true, 0)
            + &task("beside", false, 0).replace("core = 0", &format!("core = {}", cores - 1));
        let path = system(&folder, "pool = \"64 KiB\"", &parts);
        let text = std::fs::read_to_string(&path).expect("just written");
        folder.write("system.toml", &text.replace("cores = 1", &format!("cores = {cores}")));
        let run = Finished::run(&path, &[]);
        // The painter gives up if an answer is wrong.
        assert_eq!(stopped(&run), [], "{}", run.said.output);
        assert_eq!(run.summary.task("painter").completed(), 20);
    }
}

#[test]
fn a_driver_reaches_its_device_and_nothing_else() {
    let folder = Scratch::new("device");
    let device = "[[device]]\nname = \"timer\"\ncomponent = \"driver\"\nkind = \"memory\"\naddress = 0xfed00000\n\
        size = \"4 KiB\"\ndma = \"8 KiB\"\n\n";
    let parts =
        part("driver", "") + &part("stranger", "") + device + &task("driver", true, 0) + &task("stranger", true, 5);
    let run = Finished::run(&system(&folder, "", &parts), &[]);
    assert_eq!(stopped(&run), [], "{}", run.said.output);
    assert_eq!(run.summary.task("driver").completed(), 20);
}

#[test]
fn a_device_that_the_machine_lacks_is_named() {
    let folder = Scratch::new("no-device");
    let device = "[[device]]\nname = \"net\"\ncomponent = \"driver\"\nkind = \"virtio-net\"\n\n";
    let file = system(&folder, "", &(part("driver", "") + device + &task("driver", true, 0)));
    let out = file.with_file_name("out");
    let said = tactus(["run".as_ref(), file.as_os_str(), "--out".as_ref(), out.as_os_str()]);
    let all = format!("{}{}", said.output, said.errors);
    assert!(said.status > 1 && all.contains("the machine has no PCI device 1af4:1041"), "{all}");
}

#[test]
fn orders_go_through_a_channel_that_fills_empties_and_wakes() {
    let example = file("examples/services/services.toml");
    let folder = Scratch::new("channel");
    let out = folder.path().join("out");
    let said = tactus(["run".as_ref(), example.as_os_str(), "--out".as_ref(), out.as_os_str()]);
    assert_eq!(said.status, 0, "{}{}", said.output, said.errors);
    for line in [
        "| receiver: 62 orders waited, then none: Ok(None)",
        "| sender: sent 100 orders, the channel was full 1 times",
        "| receiver: woken for 38 orders",
        "| receiver: 100 orders, their sum is 5050",
    ] {
        assert!(said.output.lines().any(|said| said == line), "{line:?} is missing:\n{}", said.output);
    }
    // What a send takes does not depend on what waits in the channel, nor on what was before.
    let took = said.output.lines().find_map(|line| line.strip_prefix("| sender: a send took ")).expect("it is told");
    let (least, rest) = took.split_once(" ticks, 95 of 100 at most ").expect("both are told");
    let [least, most] = [least, rest].map(|ticks| ticks.parse::<u64>().expect("a number"));
    assert!(least > 0 && most <= least + least / 20, "{took}");
}

/// What a component prints is shown while it runs and in the report; where and why it panicked, in verdict, summary and report.
#[test]
fn printed_lines_and_a_panics_text_and_place_are_told() {
    let folder = Scratch::new("talker");
    let parts = service("console", "console = true\nprovides = [\"write\"]")
        + &part("talker", "uses = { console = \"console.write\" }")
        + &task("talker", true, 0);
    let path = system(&folder, "", &parts);
    let run = Finished::run(&path, &[]);
    let shown: Vec<_> = run.said.output.lines().filter(|line| line.starts_with("console")).collect();
    assert_eq!(shown, [0, 1, 2].map(|n| format!("console  talker: job {n} says {}", n + 7)), "{}", run.said.output);
    let why = "panicked at src/talker.rs:15: index out of bounds: the len is 3 but the index is 3";
    assert_eq!(stopped(&run), [("talker".to_string(), why.to_string())]);
    let line = format!("component talker was stopped in task talker: {why}, in talker::talk, job 3, core 0, at 30.");
    assert!(run.said.output.contains(&line), "{}", run.said.output);
    let report = run.text("report.html");
    assert!(report.contains("talker: job 2 says 9\n") && report.contains(&format!("{why}, in talker::talk, job 3")));
    let silent = Finished::run(&path, &["--no-console"]);
    assert!(!silent.said.output.contains("says") && silent.text("report.html").contains("talker: job 2 says 9\n"));
}

#[test]
fn a_partition_that_is_displaced_in_the_middle_of_a_line_costs_another_none_of_its_lines() {
    let folder = Scratch::new("prattler");
    let text = ["prattler", "talker"].map(|name| {
        task(name, true, 0).replace("core = 0\n", "").replace("10 ms", if name == "talker" { "10 ms" } else { "40 ms" })
            + &part(name, "uses = { console = \"console.write\" }")
    });
    // The other one's first three jobs are all in its first window.
    let partition = |n: u8, start: u8, length: u8| {
        let name = ["prattler", "talker"][usize::from(n)];
        format!(
            "[[partition]]\nname = \"p{n}\"\npolicy = \"partitioned-edf\"\ncomponents = [\"{name}\"]\n\
             windows = [{{ core = 0, start = \"{start} ms\", length = \"{length} ms\" }}]\n\n"
        )
    };
    let parts = service("console", "console = true\nprovides = [\"write\"]") + &text.concat();
    let path = system(&folder, "", &(parts + &partition(0, 0, 2) + &partition(1, 2, 38)));
    let text = std::fs::read_to_string(&path).expect("just written");
    let policy = "kind = \"partitions\"\nmajor-frame = \"40 ms\"";
    folder.write("system.toml", &text.replacen("kind = \"partitioned-edf\"", policy, 1));
    let run = Finished::run(&path, &[]);
    let of = |name: &str| run.log.lines().filter(|line| line.starts_with(&format!("| {name}: "))).collect::<Vec<_>>();
    assert_eq!(of("talker"), [0, 1, 2].map(|n| format!("| talker: job {n} says {}", n + 7)), "{}", run.log);
    // The run's end cuts off the last line.
    let mut prattled = of("prattler");
    prattled.pop();
    assert!(prattled.len() > 100 && prattled.iter().all(|line| line.ends_with("it can be displaced")), "{}", run.log);
}

#[test]
fn what_components_write_themselves_on_two_cores_is_text_in_marked_lines() {
    let folder = Scratch::new("babblers");
    let of_it = |name: &str, core: u64| {
        task(name, false, 0).replace("core = 0", &format!("core = {core}\ncomponent = \"babbler\""))
    };
    let parts = part("babbler", "console = true") + &of_it("left", 0) + &of_it("right", 1);
    let path = system(&folder, "", &parts);
    let text = std::fs::read_to_string(&path).expect("just written");
    folder.write("system.toml", &text.replace("cores = 1", "cores = 2"));
    let run = Finished::run(&path, &[]);
    let forged: Vec<&str> = run.log.lines().filter(|line| line.contains("forged")).collect();
    assert!(forged.len() > 700, "{} lines: {}", forged.len(), run.log);
    assert!(forged.iter().all(|line| line.starts_with("| ")), "{}", run.log);
    assert!(forged.iter().all(|line| line.chars().all(|it| (' '..='~').contains(&it))), "{forged:?}");
}

/// A pipe that takes nothing more and that nobody reads, as what an emulated port writes to.
fn full_pipe(folder: &Scratch) -> (std::fs::File, PathBuf) {
    let path = folder.path().join("full");
    for way in ["in", "out"] {
        let made = Command::new("mkfifo").arg(path.with_extension(way)).status();
        assert!(made.is_ok_and(|made| made.success()), "no pipe");
    }
    let nonblocking = 0o4000;
    let open =
        std::fs::File::options().read(true).write(true).custom_flags(nonblocking).open(path.with_extension("out"));
    let mut pipe = open.expect("just made");
    while pipe.write(&[b'x'; 4096]).is_ok() {}
    while pipe.write(b"x").is_ok() {}
    (pipe, path)
}

#[test]
#[ignore = "takes half a minute: at the start and at the end of the run the port is waited for"]
fn a_serial_port_that_takes_nothing_keeps_nobody_but_who_writes() {
    let folder = Scratch::new("full-port");
    let (_pipe, pipe) = full_pipe(&folder);
    // The emulator, with the pipe in place of the log.
    let script = format!(
        "#!/bin/sh\nfor word; do shift; [ \"$word\" = file:run.log ] && word=pipe:{}; set -- \"$@\" \"$word\"; done\n\
         PATH=${{PATH#*:}} exec qemu-system-x86_64 \"$@\"\n",
        pipe.display()
    );
    let emulator = folder.write("qemu-system-x86_64", &script);
    std::fs::set_permissions(&emulator, Permissions::from_mode(0o755)).expect("just written");
    // Without a bound of its own the writer keeps nothing; the other one has 0.1 ms in each millisecond.
    let writer = task("babbler", true, 0).replace("core = 0", "core = 0\npriority = 1");
    let quick = "[[task]]\nname = 'quick'\ncore = 0\npriority = 2\nperiod = '1 ms'\nexecution = '0.1 ms'\ndeadline = '0.2 ms'\n";
    let path = system(&folder, "", &(part("babbler", "console = true") + &writer + quick));
    let text = std::fs::read_to_string(&path).expect("just written").replace("partitioned-edf", "partitioned-fp");
    folder.write("system.toml", &text);
    let out = folder.path().join("out");
    let paths = std::env::var("PATH").expect("a path");
    let run = Command::new(tactus_scenarios::command())
        .args(["run".as_ref(), path.as_os_str(), "--out".as_ref(), out.as_os_str()])
        .env("PATH", format!("{}:{paths}", folder.path().display()))
        .output()
        .expect("the command starts");
    let said = String::from_utf8_lossy(&run.stdout);
    assert_eq!(std::fs::metadata(out.join("run.log")).map_or(0, |it| it.len()), 0, "the port took something");
    let summary = std::fs::read_to_string(out.join("summary.json")).unwrap_or_else(|error| panic!("{error}: {said}"));
    let summary = Summary::read(&summary);
    let quick = summary.task("quick").json().clone();
    println!("{quick}\n{said}");
    assert_eq!((&quick["jobs"]["missed"], quick["void"].is_null()), (&Value::from(0), true), "{quick}");
}
