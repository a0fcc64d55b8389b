//! Partitions of ARINC 653 on the machine: the suite of every service and return code, and the example of the crate `a653rs`.

use std::path::PathBuf;
use tactus_scenarios::{file, Finished, Scratch};

/// A system of two partitions on one core, in frames of 10 ms: one is a program of `tests/scenarios/apex`, beside it tasks of the
/// built-in workload, which write their numbers and take what comes.
fn system(scratch: &Scratch, program: &str, more: &str) -> PathBuf {
    let (apex, services) = (file("tests/scenarios/apex"), file("os/components/services"));
    let text = format!(
        "[system]\ncores = 1\nduration = '2 s'\n[machine]\ninstruction = '1 ns'\n[policy]\nkind = 'partitions'\nmajor-frame = '10 ms'\n\
         [[component]]\nname = 'console'\ncrate = '{}'\nconsole = true\nprovides = ['write']\n\
         [[component]]\nname = '{program}'\ncrate = '{}'\nuses = {{ console = 'console.write' }}\n\
         [[partition]]\nname = 'own'\npolicy = 'partitioned-fp'\nwindows = [{{ core = 0, start = '0 ms', length = '5 ms' }}]\n\
         components = ['{program}']\n\
         [[partition]]\nname = 'other'\npolicy = 'partitioned-fp'\nwindows = [{{ core = 0, start = '6 ms', length = '3 ms' }}]\n\
         [[task]]\nname = 'peer'\npartition = 'other'\npriority = 1\nperiod = '10 ms'\nexecution = '500 us'\n{more}",
        services.display(),
        apex.display()
    );
    scratch.write("apex.toml", &text)
}

fn process(component: &str, name: &str, priority: u32, execution: &str) -> String {
    format!(
        "[[task]]\nname = '{name}'\ncomponent = '{component}'\npriority = {priority}\nperiod = '10 ms'\nexecution = '{execution}'\n"
    )
}

fn channel(name: &str, source: &str, destination: &str, more: &str) -> String {
    format!("[[channel]]\nname = '{name}'\nsource = '{source}'\ndestinations = ['{destination}']\n{more}\n")
}

#[test]
fn every_service_of_apex_answers_as_the_standard_says() {
    let scratch = Scratch::new("apex-suite");
    let sampling = "kind = 'sampling'\nsize = '64 B'\nrefresh-period = '25 ms'";
    let queuing = "kind = 'queuing'\nsize = '64 B'\ndepth = 4";
    let more = [
        process("suite", "worker", 20, "2 ms"),
        process("suite", "helper", 1, "200 us"),
        process("suite", "timed", 10, "300 us"),
        process("suite", "other", 3, "100 us"),
        process("suite", "error-handler", 30, "2 ms"),
        channel("in", "peer", "worker", sampling),
        channel("out", "worker", "peer", sampling),
        channel("send", "worker", "peer", queuing),
        channel("receive", "peer", "worker", queuing),
        // Its first job comes when all is over.
        "[[task]]\nname = 'never'\npartition = 'other'\npriority = 2\nperiod = '10 ms'\noffset = '1990 ms'\nexecution = '100 us'\n"
            .to_string(),
        channel("silent", "never", "worker", sampling),
        channel("quiet", "never", "worker", queuing),
        channel("stuck", "worker", "never", queuing),
    ];
    let run = Finished::run(&system(&scratch, "suite", &more.concat()), &[]);
    let told = run.log.lines().find(|line| line.contains("checks passed")).unwrap_or_else(|| panic!("{}", run.log));
    println!("{told}");
    let count: u32 = told.split(' ').find_map(|word| word.parse().ok()).expect("a number");
    assert!(count >= 1_400 && told.contains(", 0 failed"), "{}", run.log);
    assert_eq!(run.summary.outcome(), "held", "{}", run.said.output);
    // Each service was asked in each mode for each return code that the page says, and gave no other one.
    let given: Vec<String> = run.log.lines().filter_map(|line| line.strip_prefix("| suite: table ")).map(row).collect();
    assert_eq!(given.join("\n"), documented().join("\n"), "{}", run.log);
}

/// A service and its return codes by mode, with one blank between two words.
fn row(line: &str) -> String {
    let words: Vec<String> = line.split_whitespace().map(str::to_lowercase).collect();
    words.join(" ")
}

/// The table of all services in `docs/apex.md`.
fn documented() -> Vec<String> {
    let page = std::fs::read_to_string(file("docs/apex.md")).expect("the page");
    let table = page.split("```text\nservice").nth(1).and_then(|rest| rest.split("```").next()).expect("the table");
    let rows: Vec<String> = table.lines().skip(1).map(row).collect();
    assert_eq!(rows.len(), 61, "{rows:#?}");
    rows
}

#[test]
fn the_example_partition_of_a653rs_runs() {
    let scratch = Scratch::new("apex-hello");
    let more = [
        process("hello", "ap2", 1, "1 ms"),
        process("hello", "periodic3", 1, "1 ms"),
        channel("Ch1", "periodic3", "peer", "kind = 'sampling'\nsize = '1000 B'\nrefresh-period = '1 s'"),
        channel("ChannelTwo", "peer", "periodic3", "kind = 'sampling'\nsize = '2000 B'\nrefresh-period = '500 ms'"),
    ];
    let run = Finished::run(&system(&scratch, "hello", &more.concat()), &[]);
    assert_eq!(run.summary.outcome(), "held", "{}", run.said.output);
    assert_eq!(run.summary.json["culprits"].as_array().map(Vec::len), Some(0), "{}", run.said.output);
    // Its process returns at once, and is dormant then: its jobs have nothing to do.
    let jobs = &run.summary.task("periodic3").json()["jobs"];
    assert_eq!((jobs["completed"].as_u64(), jobs["idle"].as_u64()), (Some(1), Some(199)), "{}", run.said.output);
}

/// An instruction is a nanosecond. The readings of the clock around it are in the figures.
#[test]
fn a_sampling_port_is_written_and_read_within_400_instructions() {
    let scratch = Scratch::new("apex-cost");
    let apex = file("tests/scenarios/apex");
    let more = format!(
        "[[component]]\nname = 'reading'\ncrate = '{}'\nuses = {{ console = 'console.write' }}\n[[partition]]\nname = 'beside'\n\
         policy = 'partitioned-fp'\nwindows = [{{ core = 0, start = '9 ms', length = '1 ms' }}]\ncomponents = ['reading']\n{}{}{}",
        apex.display(),
        process("writing", "writer", 1, "300 us"),
        process("reading", "reader", 1, "300 us"),
        channel("state", "writer", "reader", "kind = 'sampling'\nsize = '64 B'\nrefresh-period = '10 ms'"),
    );
    let run = Finished::run(&system(&scratch, "writing", &more), &[]);
    let longest = |what: &str| -> u32 {
        let line = run
            .log
            .lines()
            .find(|line| line.contains(what))
            .unwrap_or_else(|| panic!("{}{}", run.log, run.said.output));
        println!("{line}");
        line.trim_end_matches(" ns").rsplit(' ').next().and_then(|it| it.parse().ok()).expect("a number")
    };
    let (write, read) = (longest("40 times written, at most"), longest("times read, at most"));
    assert!(write > 0 && read > 0 && write + read <= 400, "{write} + {read}");
}

/// `examples/c-partition`: compiled by the C compiler of this computer against the header, with all warnings as errors, and linked
/// with the runtime. Its own checks of return codes and of what is given pass, and everything is in time.
#[test]
fn a_partition_in_c_is_compiled_linked_and_runs() {
    let run = Finished::run(&file("examples/c-partition/c-partition.toml"), &[]);
    let said: Vec<&str> = run.log.lines().filter_map(|line| line.strip_prefix("| autopilot: ")).collect();
    assert!(said.starts_with(&["messages 40"]) && said.ends_with(&["wrong 0"]), "{}{}", run.log, run.said.output);
    // Each message is written on, sent and received, and 36 answers are others.
    let answers: u32 = said[1].strip_prefix("answers ").and_then(|count| count.parse().ok()).expect("a count");
    assert!(answers >= 3 * 40 + 36, "{said:?}");
    assert_eq!(run.summary.outcome(), "held", "{}", run.said.output);
    assert_eq!(run.summary.task("control").completed(), 200, "{}", run.said.output);
}

/// The health table says how it begins anew; it is told by mode and start condition, and the other partition misses nothing.
#[test]
fn a_partition_that_faults_begins_anew_by_a_cold_or_a_warm_start_as_its_health_table_says() {
    let scratch = Scratch::new("apex-anew");
    for (start, expected) in [
        ("cold", ["cold start, mode cold, condition normal", "cold start, mode cold, condition health"]),
        ("warm", ["cold start, mode cold, condition normal", "warm start, mode warm, condition health"]),
    ] {
        let path = system(&scratch, "anew", &process("anew", "worker", 1, "1 ms"));
        let text = std::fs::read_to_string(&path).expect("it was written");
        let health =
            format!("health = {{ fault = 'restart', start = '{start}', restarts = {{ most = 2, per = '10 s' }} }}");
        let path = scratch
            .write(&format!("{start}.toml"), &text.replacen("components =", &format!("{health}\ncomponents ="), 1));
        let run = Finished::run(&path, &[]);
        let begun: Vec<&str> = run.log.lines().filter_map(|line| line.strip_prefix("| anew: ")).take(2).collect();
        assert_eq!(begun, expected, "{}", run.log);
        assert_eq!(run.log.contains("| anew: steady"), start == "warm", "{}", run.log);
        assert_eq!(run.summary.task("peer").missed(), 0, "{}", run.said.output);
    }
}

/// The second of two errors is raised between the handler's last look and its end, and the handler begins again for it.
#[test]
fn buffers_blackboards_semaphores_events_and_errors_join_processes_on_two_cores() {
    let scratch = Scratch::new("apex-across");
    let on = |name: &str, core: usize| process("across", name, 1, "300 us") + &format!("core = {core}\n");
    let handler = process("across", "error-handler", 30, "4200 us") + "core = 0\n";
    let path = system(&scratch, "across", &[on("worker", 0), on("helper", 1), handler].concat());
    let text = std::fs::read_to_string(&path).expect("it was written");
    let text = text.replacen("cores = 1", "cores = 2", 1).replacen(
        "windows = [{ core = 0, start = '0 ms', length = '5 ms' }]",
        "windows = [{ core = 0, start = '0 ms', length = '5 ms' }, { core = 1, start = '2 ms', length = '5 ms' }]",
        1,
    );
    let run = Finished::run(&scratch.write("across.toml", &text), &[]);
    assert!(
        run.log.contains("| across: 40 rounds, cores 0 and 1, 2 errors, 0 wrong"),
        "{}{}",
        run.log,
        run.said.output
    );
    assert_eq!(run.summary.outcome(), "held", "{}", run.said.output);
}
