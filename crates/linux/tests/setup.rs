//! What runs a system on Linux: what rt-app has words for reads back as it was, and what Linux cannot do is refused.

mod common;

use common::numbers;
use std::fmt::Write;
use std::path::Path;
use tactus_linux::{setup, Class, Setup};
use tactus_model::{policy_key, System};
use tactus_time::CoreSet;

fn system(text: &str) -> System {
    System::parse_toml(text, Path::new("file.toml")).unwrap_or_else(|problems| panic!("{problems}\n{text}"))
}

fn read(json: &str) -> System {
    System::parse_rt_app(json, Path::new("file.json")).unwrap_or_else(|problems| panic!("{problems}\n{json}"))
}

const POLICIES: [&str; 7] =
    ["partitioned-edf", "global-edf", "partitioned-rm", "global-rm", "partitioned-fp", "global-fp", "partitioned-dm"];

/// A system of independent tasks whose times are whole microseconds; each core has one at least.
fn random(seed: u64) -> String {
    let mut random = numbers(seed);
    let policy = POLICIES[random(POLICIES.len())];
    let cores = 1 + random(4);
    let mut text =
        format!("[system]\ncores = {cores}\nduration = \"{} s\"\n[policy]\nkind = \"{policy}\"\n", 1 + random(9));
    let tasks = cores * (1 + random(3));
    for n in 0..tasks {
        let period = 1_000 + random(99_000);
        let execution = 10 + random(period / 4);
        let _ = write!(text, "[[task]]\nname = \"t{n}\"\nperiod = \"{period} us\"\nexecution = \"{execution} us\"\n");
        if policy.starts_with("partitioned") {
            let _ = writeln!(text, "core = {}", n % cores);
        }
        if policy.ends_with("-fp") {
            let _ = writeln!(text, "priority = {}", 1 + random(5));
        }
        if random(3) == 0 {
            let _ = writeln!(text, "offset = \"{} us\"", random(period));
        }
        if policy.ends_with("edf") && random(3) == 0 {
            let _ = writeln!(text, "deadline = \"{} us\"", execution + random(period - execution));
        }
    }
    text
}

/// What is equal on both sides: of each task its times and its core.
fn tasks(systems: &[System]) -> Vec<String> {
    // On one core a queue of all cores is that core's.
    let alone = systems.len() == 1 && systems[0].cores == 1;
    let one = |task: &tactus_model::Task| {
        let core = task.core.or(alone.then_some(tactus_time::CoreId(0)));
        format!("{} {core:?} {} {} {} {:?}", task.name, task.offset, task.period, task.deadline, task.budget())
    };
    let mut all: Vec<String> = systems.iter().flat_map(|system| &system.tasks).map(one).collect();
    all.sort();
    all
}

/// Which task goes before which, where priorities are kept.
fn before(system: &System) -> Vec<(String, String)> {
    let key = |n: usize| {
        let task = &system.tasks[n];
        match policy_key(&system.policy) {
            key if key.ends_with("fp") => (u64::from(u32::MAX - system.scheduling.places[n].priority), 0),
            key if key.ends_with("dm") => (task.deadline.as_nanos(), n),
            _ => (task.period.as_nanos(), n),
        }
    };
    let mut all = Vec::new();
    for (a, one) in system.tasks.iter().enumerate() {
        for (b, other) in system.tasks.iter().enumerate() {
            if one.core == other.core && key(a) < key(b) {
                all.push((one.name.clone(), other.name.clone()));
            }
        }
    }
    all.sort();
    all
}

#[test]
fn what_rt_app_has_words_for_reads_back_as_it_was() {
    let (mut deadline, mut fifo) = (0, 0);
    for seed in 0..300 {
        let text = random(seed);
        let system = system(&text);
        let Ok(Setup { programs, threads, .. }) = setup(&system, "x") else {
            // More than Linux admits.
            assert!(policy_key(&system.policy).ends_with("edf"), "seed {seed}");
            continue;
        };
        let again: Vec<System> = programs.iter().map(|(_, json)| read(json)).collect();
        assert_eq!(tasks(&again), tasks(std::slice::from_ref(&system)), "seed {seed}\n{text}");
        for read in &again {
            assert_eq!(read.duration, system.duration, "seed {seed}");
        }
        match threads[0].class {
            Class::Deadline(_) => {
                deadline += 1;
                let kind = policy_key(&system.policy);
                let one_core = system.cores == 1;
                assert!(again.iter().all(|it| policy_key(&it.policy) == kind || one_core), "seed {seed}");
            }
            Class::Fifo(_) => {
                fifo += 1;
                assert_eq!(again.len(), 1, "seed {seed}");
                assert_eq!(again[0].cores, system.cores, "seed {seed}");
                // Orders of one queue that has several cores are compared as a whole.
                assert_eq!(before(&again[0]), before(&system), "seed {seed}\n{text}");
            }
        }
    }
    println!("{deadline} of SCHED_DEADLINE, {fifo} of SCHED_FIFO");
    assert!(deadline > 60 && fifo > 150, "{deadline} {fifo}");
}

#[test]
fn sections_waits_and_what_releases_a_task_have_words() {
    let text = r#"
[system]
cores = 1
duration = "1 s"
[policy]
kind = "partitioned-fp"
[[resource]]
name = "bus"
protocol = "inheritance"
[[resource]]
name = "log"
protocol = "inheritance"
[[task]]
name = "control"
core = 0
priority = 3
period = "10 ms"
execution = "2 ms"
sections = [{ resource = "bus", after = "500 us", length = "1 ms" }, { resource = "log", after = "700 us", length = "100 us" }]
[[task]]
name = "camera"
core = 0
priority = 2
period = "20 ms"
execution = "3 ms"
waits = [{ after = "1 ms", length = "2 ms" }]
[[task]]
name = "filter"
core = 0
priority = 1
after = "camera"
period = "20 ms"
execution = "1 ms"
"#;
    let Setup { programs, notes, .. } = setup(&system(text), "x").expect("words for all");
    let json = &programs[0].1;
    for words in [
        "\"run\" : 500,\n\t\t\t\"lock1\" : \"bus\",\n\t\t\t\"run2\" : 200,\n\t\t\t\"lock3\" : \"log\",\n\t\t\t\"run4\" : 100,\n\t\t\t\
         \"unlock5\" : \"log\",\n\t\t\t\"run6\" : 700,\n\t\t\t\"unlock7\" : \"bus\",\n\t\t\t\"run8\" : 500,\n\t\t\t\"timer\"",
        "\"run\" : 1000,\n\t\t\t\"sleep1\" : 2000,\n\t\t\t\"run2\" : 2000,\n\t\t\t\"resume2\" : \"filter\",\n\t\t\t\"timer\"",
        "\"suspend\" : \"filter\",\n\t\t\t\"run\" : 1000\n",
        "\"pi_enabled\" : true",
    ] {
        assert!(json.contains(words), "{words}\n{json}");
    }
    assert!(notes.iter().any(|note| note.contains("filter is resumed by camera")), "{notes:?}");
    // Threads that wait for each other, as they are read.
    assert_eq!(read(json).tasks.len(), 3);
}

#[test]
fn what_linux_cannot_promise_is_refused_with_what_it_does_instead() {
    let task = |more: &str| format!("[[task]]\nname = \"a\"\nperiod = \"10 ms\"\nexecution = \"2 ms\"\n{more}\n");
    let of = |policy: &str, cores: usize, rest: &str| {
        let text = format!("[system]\ncores = {cores}\nduration = \"10 s\"\n[policy]\nkind = \"{policy}\"\n{rest}");
        match setup(&system(&text), "x") {
            Ok(_) => panic!("{text}"),
            Err(refusals) => refusals.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"),
        }
    };
    let server = "[[server]]\nname = \"s\"\nkind = \"cbs-hard\"\nbudget = \"4 ms\"\nperiod = \"10 ms\"\npolicy = \"partitioned-edf\"\ncores = [0]\n";
    for (policy, cores, rest, words) in [
        ("global-llf", 1, task(""), "Linux orders by priorities (SCHED_FIFO) or by deadlines"),
        ("partitioned-rr", 1, task("core = 0"), "sched_rr_timeslice_ms"),
        (
            "partitioned-edf",
            1,
            format!("{server}{}", task("core = 0\nserver = \"s\"")),
            "server s: Linux has no servers of several threads",
        ),
        ("partitioned-fp", 1, task("core = 0\npriority = 1\noverrun = \"kill\""), "Linux lets it go on (SCHED_FIFO)"),
        (
            "partitioned-edf",
            1,
            task("core = 0").replace("2 ms", "9600 us"),
            "96.0 % of core 0 in SCHED_DEADLINE; Linux admits 95 % of each",
        ),
        ("global-edf", 2, task("").replace("10 ms", "5 s"), "its period of 5 s is not between 100 µs"),
        (
            "partitioned-fp",
            1,
            task("core = 0\npriority = 1").replace("2 ms", "2000500 ns"),
            "task a: its execution of 2000500 ns; rt-app and its timers count whole microseconds; round it",
        ),
        (
            "partitioned-fp",
            1,
            [
                task("core = 0\npriority = 1").replace("\"a\"", "\"controller-of-the-left\""),
                task("core = 0\npriority = 2").replace("\"a\"", "\"controller-of-the-right\""),
            ]
            .concat(),
            "Linux keeps 15 bytes of a thread's name",
        ),
        (
            "partitioned-fp",
            1,
            format!(
                "[[resource]]\nname = \"r\"\nprotocol = \"ceiling\"\n{}",
                task("core = 0\npriority = 1\nsections = [{ resource = \"r\", after = \"0 ms\", length = \"1 ms\" }]")
            ),
            "resource r: rt-app's mutexes inherit priorities",
        ),
    ] {
        let told = of(policy, cores, &rest);
        assert!(told.contains(words), "{words}: {told}");
    }
}

#[test]
fn a_queue_of_each_core_is_a_set_of_processors_of_its_own() {
    let text = "[system]\ncores = 2\nduration = \"1 s\"\n[policy]\nkind = \"partitioned-edf\"\n[[task]]\nname = \"a\"\ncore = 0\nperiod = \
                \"10 ms\"\nexecution = \"9.3 ms\"\n[[task]]\nname = \"b\"\ncore = 1\nperiod = \"10 ms\"\nexecution = \"2 ms\"\n";
    let Setup { programs, script, threads, notes } = setup(&system(text), "pair").expect("a set-up");
    assert_eq!(programs.len(), 2);
    assert_eq!(threads[1].cores, CoreSet::from_bits(2));
    for words in
        ["echo 1 >$group/tactus-1/cpuset.cpus", "exec rt-app pair-1.json", "cpuset.cpus.partition", "record -q -C mono"]
    {
        assert!(script.contains(words), "{script}");
    }
    assert!(notes.iter().any(|note| note.contains("93.0 % of core 0") && note.contains("from 6.12 on")), "{notes:?}");
}
