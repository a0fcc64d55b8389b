//! The health table of a partition on the machine: what is done about a fault, a missed deadline, an overrun, and a partition that has
//! been restarted as often as it may. Whatever that is, the other partition keeps its promises.

use tactus_scenarios::{file, Finished, Scratch};

/// Two partitions on one core in frames of 20 ms: one with this table, whose component goes wild in the way of this number; beside it one
/// that only computes, and sends and receives where each job of the first one ends or is ended.
fn run(kind: u32, health: &str) -> Finished {
    let scratch = Scratch::new("health");
    let text = format!(
        "[system]\ncores = 1\nduration = '400 ms'\n[machine]\ninstruction = '1 ns'\n[policy]\nkind = 'partitions'\nmajor-frame = '20 ms'\n\
         [[component]]\nname = 'wild-{kind}'\ncrate = '{}'\n\
         [[partition]]\nname = 'a'\npolicy = 'partitioned-fp'\nwindows = [{{ core = 0, start = '0 ms', length = '5 ms' }}]\nhealth = {{ {health} }}\n\
         [[task]]\nname = 'w'\npartition = 'a'\ncomponent = 'wild-{kind}'\npriority = 1\nperiod = '20 ms'\nexecution = '300 us'\n\
         [[partition]]\nname = 'b'\npolicy = 'partitioned-fp'\nwindows = [{{ core = 0, start = '10 ms', length = '5 ms' }}]\n\
         [[task]]\nname = 'other'\npartition = 'b'\npriority = 1\nperiod = '20 ms'\nexecution = '300 us'\n\
         {}{}",
        file("tests/scenarios/wild").display(),
        channel("c", ["other", "w"], health),
        channel("d", ["w", "other"], health)
    );
    let run = Finished::run(&scratch.write("health.toml", &text), &[]);
    assert_eq!(run.summary.task("other").missed(), 0, "{}", run.said.output);
    run
}

/// A channel from the one task to the other, unless jobs may go on for ever.
fn channel(name: &str, [source, destination]: [&str; 2], health: &str) -> String {
    if health.contains("overrun") {
        return String::new();
    }
    format!(
        "[[channel]]\nname = '{name}'\nkind = 'sampling'\nsource = '{source}'\ndestinations = ['{destination}']\nsize = '8 B'\n\
         refresh-period = '50 ms'\n"
    )
}

/// How often the partition began anew, and whether it was given up at last.
fn restarts(run: &Finished) -> (usize, bool) {
    let all = run.summary.json["restarts"].as_array().cloned().unwrap_or_default();
    (all.iter().filter(|it| it["given_up"] == false).count(), all.iter().any(|it| it["given_up"] == true))
}

/// Jobs of the other partition: 20 if the module ran to its end.
fn others(run: &Finished) -> u64 {
    run.summary.task("other").completed()
}

const FAULTS: u32 = 0;
const NEVER_ENDS: u32 = 12;

#[test]
fn a_partition_that_faults_is_restarted_waits_stays_stopped_or_ends_the_module() {
    let limit = |most: u32, per: &str, more: &str| {
        run(FAULTS, &format!("fault = 'restart', restarts = {{ most = {most}, per = '{per}' }}{more}"))
    };
    let plain = limit(5, "1 s", "");
    assert_eq!((restarts(&plain), others(&plain)), ((5, true), 20), "{}", plain.said.output);
    // Three at once, and one for each 150 ms from then on.
    let waits = limit(3, "150 ms", ", exhausted = 'wait'");
    assert_eq!((restarts(&waits), others(&waits)), ((8, false), 20), "{}", waits.said.output);
    let ends = limit(3, "1 s", ", exhausted = 'end-module'");
    assert_eq!((restarts(&ends), others(&ends)), ((3, true), 6), "{}", ends.said.output);
    let at_once = run(FAULTS, "fault = 'end-module'");
    assert_eq!((restarts(&at_once), others(&at_once)), ((0, false), 3), "{}", at_once.said.output);
}

#[test]
fn a_process_that_never_ends_is_cut_off_suspended_or_stopped_with_its_partition() {
    let killed = run(NEVER_ENDS, "deadline-missed = 'restart-process'");
    assert_eq!((restarts(&killed), others(&killed)), ((0, false), 20), "{}", killed.said.output);
    assert!(killed.summary.task("w").missed() >= 16, "{}", killed.said.output);
    let anew = run(NEVER_ENDS, "fault = 'restart', deadline-missed = 'restart', restarts = { most = 50, per = '1 s' }");
    assert_eq!((restarts(&anew), others(&anew)), ((8, false), 20), "{}", anew.said.output);
    let idle = run(NEVER_ENDS, "overrun = 'idle'");
    assert_eq!((restarts(&idle), others(&idle)), ((0, false), 20), "{}", idle.said.output);
    assert!(idle.said.output.contains("wild-12"), "{}", idle.said.output);
    let ends = run(NEVER_ENDS, "deadline-missed = 'end-module'");
    assert_eq!(others(&ends), 4, "{}", ends.said.output);
}

#[test]
fn a_crash_loop_of_a_thousand_restarts_a_second_has_ten_in_any_200_ms_and_the_other_partition_keeps_its_promise() {
    let scratch = Scratch::new("crash-loop");
    let text = format!(
        "[system]\ncores = 1\nduration = '400 ms'\n[machine]\ninstruction = '1 ns'\n[policy]\nkind = 'partitions'\nmajor-frame = '1 ms'\n\
         [[component]]\nname = 'wild-0'\ncrate = '{}'\n\
         [[partition]]\nname = 'a'\npolicy = 'partitioned-fp'\nwindows = [{{ core = 0, start = '0 ms', length = '400 us' }}]\n\
         health = {{ fault = 'restart', restarts = {{ most = 10, per = '200 ms' }}, exhausted = 'wait' }}\n\
         [[task]]\nname = 'w'\npartition = 'a'\ncomponent = 'wild-0'\npriority = 1\nperiod = '1 ms'\nexecution = '100 us'\n\
         [[partition]]\nname = 'b'\npolicy = 'partitioned-fp'\nwindows = [{{ core = 0, start = '500 us', length = '400 us' }}]\n\
         [[task]]\nname = 'other'\npartition = 'b'\npriority = 1\nperiod = '1 ms'\nexecution = '200 us'\n",
        file("tests/scenarios/wild").display()
    );
    let run = Finished::run(&scratch.write("crash-loop.toml", &text), &[]);
    let (times, given_up) = restarts(&run);
    assert!((15..=20).contains(&times) && !given_up, "{times}: {}", run.said.output);
    let other = run.summary.task("other");
    assert_eq!((other.missed(), other.completed()), (0, 400), "{}", run.said.output);
    assert!(other.worst_over_bound().is_some_and(|share| share <= 1.0), "{}", run.said.output);
}

/// It panics in each of its jobs, 1,000 a second, in the middle of a call that takes a while.
const FRAGILE: &str = r#"#![no_std]
#![no_main]
use tactus_rt::{clock, Caller, Job};
tactus_rt::component! { job: fall, services: [ask] }
fn fall(_: &Job) { panic!("again") }
fn ask(_: Caller, words: [u64; 5]) -> [u64; 2] {
    let end = clock::time_stamp() + 60_000;
    while clock::time_stamp() < end {}
    [words[0] + 1, 0]
}
"#;

/// It calls in each of its jobs, and tells at last how long it waited for an answer, for word of a fault, and for word that nobody is
/// there, at most (instructions).
const ASKS: &str = r#"#![no_std]
#![no_main]
use core::fmt::Write;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
use tactus_rt::{clock, grant, Console, Error, Job};
tactus_rt::component! { job: call, services: [] }
static SEEN: [[AtomicU64; 2]; 3] = [const { [const { AtomicU64::new(0) }; 2] }; 3];
fn call(job: &Job) {
    let begun = clock::time_stamp();
    let answer = grant("ask").call([job.number(), 0, 0, 0, 0]);
    let took = clock::time_stamp() - begun;
    let [count, worst] = match answer {
        Ok(_) => &SEEN[0],
        Err(Error::Faulted) => &SEEN[1],
        Err(_) => &SEEN[2],
    };
    count.fetch_add(1, Relaxed);
    worst.fetch_max(took, Relaxed);
    if job.number() == 390 {
        for (what, [count, worst]) in ["answered", "faulted", "absent"].into_iter().zip(&SEEN) {
            let _ = writeln!(Console, "{what} {} {}", count.load(Relaxed), worst.load(Relaxed));
        }
    }
}
"#;

#[test]
fn who_calls_a_partition_in_a_crash_loop_hears_within_its_bound() {
    let scratch = Scratch::new("callers");
    scratch.component("fragile", "main.rs", FRAGILE);
    scratch.component("asks", "main.rs", ASKS);
    let text = format!(
        "[system]\ncores = 1\nduration = '400 ms'\n[machine]\ninstruction = '1 ns'\n[policy]\nkind = 'partitions'\nmajor-frame = '1 ms'\n\
         [[component]]\nname = 'console'\ncrate = '{}'\nconsole = true\nprovides = ['write']\n\
         [[component]]\nname = 'fragile'\ncrate = 'fragile'\nprovides = ['ask']\nrestarted-by = 'root'\nrestarts = {{ most = 100, per = '1 s' }}\n\
         [[component]]\nname = 'asks'\ncrate = 'asks'\nuses = {{ ask = 'fragile.ask', console = 'console.write' }}\n\
         [[partition]]\nname = 'a'\npolicy = 'partitioned-fp'\nwindows = [{{ core = 0, start = '0 ms', length = '600 us' }}]\ncomponents = ['fragile', 'asks']\n\
         [[partition]]\nname = 'b'\npolicy = 'partitioned-fp'\nwindows = [{{ core = 0, start = '600 us', length = '400 us' }}]\n\
         [[task]]\nname = 'falls'\ncomponent = 'fragile'\npriority = 2\nperiod = '1 ms'\noffset = '40 us'\nexecution = '20 us'\n\
         [[task]]\nname = 'asks'\ncomponent = 'asks'\npriority = 1\nperiod = '1 ms'\nexecution = '100 us'\n\
         [[task]]\nname = 'other'\npartition = 'b'\npriority = 1\nperiod = '1 ms'\nexecution = '200 us'\n",
        file("os/components/services").display()
    );
    let run = Finished::run(&scratch.write("callers.toml", &text), &[]);
    for name in ["asks", "other"] {
        let task = run.summary.task(name);
        assert_eq!((task.missed(), task.completed()), (0, 400), "{}", run.said.output);
        assert!(task.worst_over_bound().is_some_and(|share| share <= 1.0), "{name}: {}", run.said.output);
    }
    let told = |what: &str| -> Vec<u64> {
        let line = run.log.lines().find_map(|line| line.strip_prefix(&format!("| asks: {what} ")));
        line.unwrap_or_else(|| panic!("{}", run.log)).split(' ').map(|it| it.parse().expect("a number")).collect()
    };
    let [answered, faulted, absent] = ["answered", "faulted", "absent"].map(told);
    println!("answered, faulted, absent (count and the longest wait): {answered:?} {faulted:?} {absent:?}");
    // In each of its lives one hears of the fault; later ones at once that nobody is there.
    assert_eq!(restarts(&run), (100, true), "{}", run.said.output);
    assert!(faulted[0] >= 90 && absent[0] > 250, "{faulted:?} {absent:?}");
    assert!(faulted[1] < 100_000 && absent[1] < 1_000, "{faulted:?} {absent:?}");
}
