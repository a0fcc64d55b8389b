//! Partitions that others have written for `a653rs-linux` (MIT or Apache-2.0), out of a checkout of it: the dependency of that name is
//! ours, `main` is an entry of ours, and where there is no standard library two imports are. All else is theirs.
//!
//! ```text
//! A653RS_EXAMPLES=…/a653rs-linux cargo test --release -p tactus-scenarios --test all a653rs_linux -- --ignored --nocapture
//! ```

use std::fs;
use std::path::PathBuf;
use tactus_scenarios::{file, Finished, Scratch};

/// A partition of theirs.
struct Theirs {
    name: &'static str,
    /// Its package's folder below `examples`.
    folder: &'static str,
    /// Its windows as their hypervisor's table has them: offset, period and duration (ms).
    windows: [u64; 3],
    /// The tasks that are its processes, the most urgent first, with the execution time of a job (ms).
    processes: &'static [(&'static str, u64)],
}

fn ms(n: u64) -> String {
    format!("'{n} ms'")
}

/// Writes the partition's component, and what the system file says of it.
fn adapt(scratch: &Scratch, part: &Theirs, frame: u64) -> String {
    let examples =
        PathBuf::from(std::env::var_os("A653RS_EXAMPLES").expect("a checkout of a653rs-linux in A653RS_EXAMPLES"));
    let source = examples.join("examples").join(part.folder).join("src/main.rs");
    let source = fs::read_to_string(&source).unwrap_or_else(|error| panic!("{}: {error}", source.display()));
    let attribute = "#[partition(a653rs_linux::partition::ApexLinuxPartition)]";
    let (_, rest) = source.split_once(attribute).expect("a partition of a653rs-linux");
    let module = rest.split_once("mod ").and_then(|(_, rest)| rest.split_once(' ')).expect("its module").0;
    let rest = rest
        .replace("use std::thread::sleep;", "use a653rs_linux::bare::*;")
        .replace("use humantime::format_duration;", "");
    let program = format!(
        "#![no_std]\n#![no_main]\nuse a653rs::partition;\na653rs_linux::entry!({module}::Partition);\n{attribute}{rest}"
    );
    scratch.write(&format!("{}/src/main.rs", part.name), &program);
    let more = if source.contains("postcard") {
        "a653rs-postcard = { version = \"0.4\", features = [\"alloc\"] }\nserde = { version = \"1\", default-features = false, features = [\"alloc\", \"derive\"] }\n"
    } else {
        ""
    };
    let manifest = format!(
        "[package]\nname = \"{}\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[dependencies]\n\
         a653rs = {{ version = \"0.6.1\", default-features = false, features = [\"bindings\", \"macros\"] }}\nlog = \"0.4\"\n{more}\
         a653rs-linux = {{ path = \"{}\" }}\n[workspace]\n[profile.release]\npanic = \"abort\"\n",
        part.name,
        file("tests/scenarios/a653rs-linux").display()
    );
    scratch.write(&format!("{}/Cargo.toml", part.name), &manifest);
    let [offset, period, duration] = part.windows;
    let starts: Vec<u64> = (0..frame / period).map(|n| n * period + offset).collect();
    let windows: Vec<String> =
        starts.iter().map(|at| format!("{{ core = 0, start = {}, length = {} }}", ms(*at), ms(duration))).collect();
    let mut text = format!(
        "[[component]]\nname = '{0}'\ncrate = '{0}'\nuses = {{ console = 'console.write' }}\nheap = '64 KiB'\n\
         [[partition]]\nname = '{0}'\npolicy = 'partitioned-fp'\nperiod = {1}\nduration = {2}\nwindows = [{3}]\ncomponents = ['{0}']\n",
        part.name,
        ms(period),
        ms(duration),
        windows.join(", ")
    );
    for (n, (process, execution)) in part.processes.iter().enumerate() {
        text += &format!(
            "[[task]]\nname = '{process}'\ncomponent = '{0}'\npriority = {1}\nperiod = {2}\nexecution = {3}\n",
            part.name,
            9 - n,
            ms(period),
            ms(*execution)
        );
    }
    text
}

/// Runs the partitions for ten seconds, as their own tests do. What each has logged.
fn run(name: &str, frame: u64, parts: [&Theirs; 2], channels: &str) -> [Vec<String>; 2] {
    let scratch = Scratch::new(name);
    let mut text = format!(
        "[system]\ncores = 1\nduration = '10 s'\n[machine]\ninstruction = '2 ns'\n[policy]\nkind = 'partitions'\nmajor-frame = {}\n\
         [[component]]\nname = 'console'\ncrate = '{}'\nconsole = true\nprovides = ['write']\n",
        ms(frame),
        file("os/components/services").display()
    );
    parts.iter().for_each(|part| text += &adapt(&scratch, part, frame));
    text += channels;
    let run = Finished::run(&scratch.write("theirs.toml", &text), &[]);
    assert_eq!(run.summary.outcome(), "held", "{}", run.said.output);
    assert!(!run.log.contains("ERROR") && !run.log.contains("panic"), "{}", run.log);
    parts.map(|part| {
        let prefix = format!("| {}: ", part.name);
        run.log
            .lines()
            .filter_map(|line| line.trim().strip_prefix(&prefix))
            .map(|line| line.trim().to_string())
            .collect()
    })
}

fn channel(name: &str, keys: &str, [from, to]: [(&str, &str); 2]) -> String {
    format!(
        "[[channel]]\nname = '{name}'\nsource = {{ task = '{}', port = '{}' }}\ndestinations = [{{ task = '{}', port = '{}' }}]\n{keys}\n",
        from.0, from.1, to.0, to.1
    )
}

/// The beginnings of all lines, in this order.
#[track_caller]
fn begin(lines: &[String], expected: &[&str]) {
    let same = lines.len() == expected.len() && lines.iter().zip(expected).all(|(line, begin)| line.starts_with(begin));
    assert!(same, "{lines:#?}\n{expected:#?}");
}

#[test]
#[ignore = "needs a checkout of a653rs-linux in A653RS_EXAMPLES"]
fn ping_of_a653rs_linux_logs_what_it_logs_there() {
    let part = |name, folder, offset, processes| Theirs { name, folder, windows: [offset, 1_000, 30], processes };
    let client = part("client", "ping/client", 0, &[("periodic_ping_client", 10)]);
    let server = part("server", "ping/server", 450, &[("periodic_ping_server", 10)]);
    let ends = [("periodic_ping_client", "PingReq"), ("periodic_ping_server", "ping_request")];
    let back = [("periodic_ping_server", "ping_response"), ("periodic_ping_client", "PingRes")];
    let sampling = |size: u64| format!("kind = 'sampling'\nsize = '{size} B'\nrefresh-period = '10 s'");
    let channels = channel("request", &sampling(16), ends) + &channel("response", &sampling(32), back);
    let [client, server] = run("a653rs-ping", 1_000, [&client, &server], &channels);
    let mut expected =
        vec!["INFO started periodic_ping_client", "INFO sending a request", "WARN Failed to receive ping response"];
    (0..9).for_each(|_| {
        expected.extend([
            "INFO sending a request",
            "INFO received valid response:",
            "?round-trip ",
            "?req-to-server ",
            "?resp-to-client",
        ])
    });
    println!("{}", client.join("\n"));
    begin(&client, &expected);
    let mut expected = vec!["INFO started ping_server"];
    expected.extend(["INFO forwarding request as response"; 10]);
    begin(&server, &expected);
}

#[test]
#[ignore = "needs a checkout of a653rs-linux in A653RS_EXAMPLES"]
fn ping_queue_of_a653rs_linux_logs_what_it_logs_there() {
    let part = |name, folder, offset, processes| Theirs { name, folder, windows: [offset, 1_000, 30], processes };
    let client = part("client", "ping_queue/client", 0, &[("periodic_ping_queue_client", 10)]);
    let server = part("server", "ping_queue/server", 450, &[("periodic_ping_queue_server", 10)]);
    let ends = [("periodic_ping_queue_client", "req_source"), ("periodic_ping_queue_server", "req_dest")];
    let back = [("periodic_ping_queue_server", "res_source"), ("periodic_ping_queue_client", "res_dest")];
    let queuing = |size: u64| format!("kind = 'queuing'\nsize = '{size} B'\ndepth = 10");
    let channels = channel("request", &queuing(16), ends) + &channel("response", &queuing(32), back);
    let [client, server] = run("a653rs-ping-queue", 1_000, [&client, &server], &channels);
    println!("{}", client.join("\n"));
    let mut expected = vec![
        "INFO started periodic_ping_queue_client",
        "INFO Sending request took",
        "WARN Failed to receive ping response",
    ];
    (0..9).for_each(|_| expected.extend(["INFO Sending request took", "INFO Received valid response: RTT="]));
    begin(&client, &expected);
    let mut expected = vec!["INFO started ping_queue_server"];
    expected.extend(["INFO Forwarding request with timestamp as response"; 10]);
    begin(&server, &expected);
}

#[test]
#[ignore = "needs a checkout of a653rs-linux in A653RS_EXAMPLES"]
fn fuel_tank_of_a653rs_linux_logs_what_it_logs_there() {
    let part = |name, folder, offset, processes| Theirs { name, folder, windows: [offset, 20, 10], processes };
    let tank = part("simulation", "fuel_tank/simulation", 0, &[("simulation.periodic", 1)]);
    let controller = part("controller", "fuel_tank/controller", 10, &[("controller.periodic", 1)]);
    let sampling = "kind = 'sampling'\nsize = '8192 B'\nrefresh-period = '10 s'";
    let (one, other) = ("simulation.periodic", "controller.periodic");
    let channels = channel("sensors", sampling, [(one, "fuel_sensors"), (other, "fuel_sensors")])
        + &channel("actuators", sampling, [(other, "fuel_actuators"), (one, "fuel_actuators")]);
    let [tank, controller] = run("a653rs-fuel-tank", 20, [&tank, &controller], &channels);
    begin(&tank, &["INFO Start Aperiodic"]);
    begin(&controller, &[]);
}

#[test]
#[ignore = "needs a checkout of a653rs-linux in A653RS_EXAMPLES"]
fn hello_of_a653rs_linux_logs_what_it_logs_there() {
    let part = |name, offset, period, processes| Theirs {
        name,
        folder: "hello_part",
        windows: [offset, period, 10],
        processes,
    };
    let (foo, bar) = (
        part("foo", 0, 500, &[("foo.periodic", 7), ("foo.aperiodic", 1)]),
        part("bar", 100, 1_000, &[("bar.periodic", 7), ("bar.aperiodic", 1)]),
    );
    let sampling = "kind = 'sampling'\nsize = '8192 B'\nrefresh-period = '1 s'";
    let channels = channel("Hello", sampling, [("foo.periodic", "Hello"), ("bar.periodic", "Hello")]);
    let [foo, bar] = run("a653rs-hello", 1_000, [&foo, &bar], &channels);
    println!("{}", bar.join("\n"));
    // One process's lines are in their order; how many of the other one's lie between them is a matter of time.
    let of = |lines: &[String], words: &str| -> Vec<String> {
        let told = lines.iter().filter_map(|line| line.split_once(words));
        told.map(|(_, rest)| rest.to_string()).collect()
    };
    for (lines, rounds) in [(&foo, 20), (&bar, 10)] {
        let counted = |from: u64, count: u64| (from..from + count).map(|n| n.to_string()).collect::<Vec<_>>();
        assert_eq!(of(lines, ": P MSG "), counted(1, 5 * rounds), "{lines:#?}");
        let aperiodic = of(lines, ": AP MSG ");
        assert!(aperiodic.len() as u64 >= rounds - 1, "{lines:#?}");
        assert_eq!(aperiodic, counted(0, aperiodic.len() as u64));
        assert_eq!(of(lines, "Start Aperiodic").len(), 1);
    }
    // Each second one sends twice and the other one reads once.
    let received = of(&bar, "Received via Sampling Port: CustomMessage { msg: \"Sampling MSG ");
    assert_eq!(received.len(), 10, "{bar:#?}");
    for (n, line) in received.iter().enumerate() {
        assert!(line.starts_with(&format!("{}\"", 2 * n + 1)) && line.contains("valid: "), "{line}");
    }
}
