//! Bad input of every kind: each is refused with words that say what is wrong, and what to do about it.

mod common;

use common::dat::{events, file, file_7, small, switch, Page};
use common::perfetto::{bundle, bytes, number};
use common::{perfetto, records, View};
use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;
use tactus_linux::{read, read_file, setup, translate};
use tactus_model::System;
use tactus_task::{EarlyArrival, Release};
use tactus_time::{Duration, Level};

/// What is refused, and words of the refusal.
type Case = (Result<(), String>, &'static str);

fn file_of(bytes: &[u8], words: &'static str) -> Case {
    (read(bytes).map(|_| ()), words)
}

fn dat() -> Vec<Case> {
    let whole = small();
    let with = |from: &[u8], to: &[u8]| {
        let at = whole.windows(from.len()).position(|window| window == from).expect("in the file");
        let mut file = whole.clone();
        file[at..at + to.len()].copy_from_slice(to);
        file
    };
    let mut early = Page::new(1_000);
    early.event(1_100, &switch(0, ("swapper/0", 0), 0, ("control", 7)), false);
    let [one, other] = events();
    let back = file([[one, early.end(false)].concat(), other]);
    vec![
        file_of(
            &with(b"tracing6", b"tracing8"),
            "of version 8, and 6 and 7 are read; print it with `trace-cmd report`",
        ),
        file_of(&file_7(events(), "lz4"), "compressed by \"lz4\", and zlib and zstd are read; write it anew"),
        file_of(b"PERFILE2 and more", "print it with `perf script -i FILE`"),
        file_of(&with(b"6\0\0\x08", b"6\0\x01\x08"), "the other byte order"),
        file_of(
            &with(b"[mono] x86-tsc", b"mono [x86-tsc]"),
            "its clock, x86-tsc, counts no nanoseconds; record with `trace-cmd record -C mono`",
        ),
        file_of(&with(b"flyrecord", b"latency  "), "no events of the ring buffers"),
        file_of(&with(b"header_event", b"header_elent"), "no header_event at"),
        file_of(&with(b"sched_switch", b"sched_swatch"), "no sched_switch among its events"),
        file_of(&whole[..whole.len() - 1000], "the events of core 1 lie beyond its end"),
        file_of(&whole[..300], "it is damaged"),
        file_of(&back, "goes back by 2 s on core 0, so that nobody knows how long anything took; record with"),
    ]
}

fn text() -> Vec<Case> {
    let line = |time: &str, to: &str| {
        format!(" a-1 [000] d..2. {time}: sched_switch: prev_comm=a prev_pid=1 prev_prio=9 prev_state=S ==> next_comm={to} next_pid=2 next_prio=9\n")
    };
    vec![
        file_of(b"", "no sched_switch among its 0 events; record with"),
        file_of(b" a-1 [000] d..2. 1.000000: irq_handler_entry: irq=1\n", "no sched_switch among its 1 events"),
        file_of([line("2.000000", "b"), line("1.500000", "b")].concat().as_bytes(), "goes back by 500 ms on core 0"),
        (read_file(Path::new("/nowhere/trace.dat")).map(|_| ()), "No such file"),
    ]
}

fn of_perfetto() -> Vec<Case> {
    let small = perfetto::small();
    let zlib = |content: &[u8]| {
        let mut out = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
        out.write_all(content).expect("memory");
        out.finish().expect("memory")
    };
    let switch = perfetto::switch;
    let late = [
        bundle(0, &[switch(60_000_000_000, (0, ""), 0, (7, "a")), switch(61_000_000_000, (7, "a"), 1, (0, ""))]),
        bundle(1, &[switch(10_000_000_000, (0, ""), 0, (8, "b")), switch(95_000_000_000, (8, "b"), 1, (0, ""))]),
        bundle(0, &[switch(60_000_000_000, (0, ""), 0, (7, "a"))]),
    ];
    vec![
        file_of(&small[..60], "it is damaged: the packet at 29 is cut, or none"),
        file_of(&[small.clone(), vec![0x12, 3, 1, 2, 3]].concat(), "it is damaged: the packet at"),
        file_of(&[small, bytes(1, bytes(1, [2 << 3 | 3]))].concat(), "is cut, or none"),
        file_of(&bytes(1, bytes(45, [1, 2, 3])), "no sched_switch in its 1 packets; record with the data source"),
        file_of(&bytes(1, bytes(50, [1, 2, 3])), "compressed packets cannot be unpacked"),
        file_of(&bytes(1, bytes(50, zlib(&[0x12, 0]))), "is cut, or none"),
        file_of(&bytes(1, bytes(1, number(1, 1 << 20))), "is cut, or none"),
        file_of(
            &late.concat(),
            "events of core 0 stand 35 s behind others in the file, more than the 20 s that are put in order",
        ),
    ]
}

fn sched_trace() -> Vec<Case> {
    let whole = records(&[(3, 7, 1, 10), (5, 7, 1, 20), (7, 7, 1, 30), (6, 7, 1, 30)]);
    let folder = std::env::temp_dir().join(format!("tactus-no-sched-trace-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let empty = read_file(&folder).map(|_| ());
    std::fs::write(folder.join("st-a-0.bin"), &whole[..30]).expect("a file");
    let cut = read_file(&folder).map(|_| ());
    std::fs::remove_dir_all(folder).expect("the folder");
    vec![
        file_of(
            &whole[..whole.len() - 5],
            "it is cut: 19 bytes are left after the last record of 24; copy the file again",
        ),
        file_of(
            &records(&[(3, 7, 1, 10)]),
            "no record gives a processor to a process; record with `st-trace-schedule`",
        ),
        (empty, "a folder without st-*.bin, the files of LITMUS^RT's sched_trace; name a file"),
        (cut, "st-a-0.bin: it is cut: no whole number of records; copy the file again"),
    ]
}

/// A good trace, and a view that asks for what Linux's events do not tell.
fn views() -> Vec<Case> {
    let jobs: Vec<(u8, u16, u32, u64)> = (1..9)
        .flat_map(|job| {
            let at = u64::from(job) * 10_000_000;
            [(3, 7, job, at), (5, 7, job, at + 1_000), (7, 7, job, at + 2_000_000), (6, 7, job, at + 2_000_000)]
        })
        .collect();
    let mut name = records(&[(1, 7, 0, 0)]);
    name[8..15].copy_from_slice(b"control");
    let recording = read(&[name, records(&jobs)].concat()).expect("records");
    let of = |change: &dyn Fn(&mut tactus_trace::View)| {
        let mut view = View::of(vec![("control".into(), 10_000_000)]).0;
        change(&mut view);
        translate(&recording, &view, &[]).map(|_| ()).map_err(|error| error.to_string())
    };
    assert!(of(&|_| {}).is_ok());
    vec![
        (
            of(&|view| view.tasks[0].level = Some(Level::B)),
            "control has a level of criticality, and Linux schedules by none",
        ),
        (
            of(&|view| view.tasks[0].releases = Release::Sporadic(EarlyArrival::Delay)),
            "control is not released by time, and what releases a thread is not among Linux's events; leave it out",
        ),
        (of(&|view| view.tasks[0].period = Duration::ZERO), "task control has no period"),
        (of(&|view| view.tasks[0].period = Duration::from_nanos(1)), "would have more than 10000000 jobs in"),
        (
            of(&|view| view.tasks[0].name = "brake".into()),
            "no thread is called \"brake\"; say which one task brake is with",
        ),
    ]
}

fn files() -> Vec<Case> {
    const TASKS: &str = "[[task]]\nname = \"control\"\npriority = 2\ncore = 0\nperiod = \"5 ms\"\nexecution = \"1 ms\"\n[[task]]\nname = \
                         \"steer\"\npriority = 1\ncore = 0\nperiod = \"10 ms\"\nexecution = \"1 ms\"\n";
    let system = |linux: &str| {
        let text = format!("[system]\nname = \"x\"\ncores = 1\nduration = \"1 s\"\n[policy]\nkind = \"partitioned-fp\"\n{TASKS}{linux}\n");
        System::parse_toml(&text, Path::new("x.toml")).map_err(|problems| problems.to_string())
    };
    let of = |linux: &str| system(linux).map(|_| ());
    let run = |linux: &str| {
        let system = system(linux).expect(linux);
        setup(&system, "x")
            .map(|_| ())
            .map_err(|all| all.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
    };
    vec![
        (of("[[linux]]"), "write a table [linux], in single brackets, with names of tasks as keys"),
        (
            of("[linux]\ncontrol = 812"),
            "x.toml:20: [linux] control is 812; write the thread's name in quotes, or a table like",
        ),
        (of("[linux]\ncontro = \"a\""), "x.toml:20: [linux]: there is no task \"contro\"; did you mean \"control\"?"),
        (of("[linux]\nzebra = \"a\""), "there is no task \"zebra\"; name a task of this file"),
        (of("[linux]\ncontrol = {}"), "\"name\" is missing; add a line like name = \"worker\""),
        (of("[linux]\ncontrol = { thread = \"a\" }"), "key \"thread\" is not known here; known are name, group"),
        (of("[linux]\ncontrol = { group = 7 }"), "group is 7; write the name or number of its process in quotes"),
        (of("[linux]\ncontrol = \"\""), "name is \"\"; write what Linux calls it: some letters"),
        (
            of("[linux]\ncontrol = \"a\"\nsteer = \"a\""),
            "x.toml:21: [linux] steer: it is the thread of task control already",
        ),
        (of("[linux]\ncontrol = \"a\"\ncontrol = \"b\""), "this is not TOML"),
        (
            run("[linux]\ncontrol = \"812\""),
            "[linux] control: it is known by a number or by its process, which Linux gives when they start",
        ),
        (
            run("[linux]\ncontrol = 'a\"b'"),
            "[linux] control: rt-app takes no such name; leave out quotes and backslashes",
        ),
        (run("[linux]\ncontrol = \"steer\""), "tasks control and steer: Linux keeps 15 bytes of a thread's name, and these are alike in them; give one another name"),
    ]
}

#[test]
fn thirty_kinds_of_bad_input_are_refused_with_words_that_help() {
    let all = [dat(), text(), of_perfetto(), sched_trace(), views(), files()].concat();
    let mut kinds = BTreeSet::new();
    for (result, words) in &all {
        let why = result.as_ref().expect_err(words);
        assert!(why.contains(words), "{words}: {why}");
        // What differs in names and numbers alone is of one kind.
        let plain: String = why.split('"').step_by(2).collect();
        kinds.insert(plain.chars().filter(|c| !c.is_ascii_digit()).collect::<String>());
    }
    println!("{} files and systems, {} kinds", all.len(), kinds.len());
    assert!(kinds.len() >= 30, "{} kinds: {kinds:#?}", kinds.len());
}
